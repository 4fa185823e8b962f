//! Golden bytes, and vectors of RFC 8949.

use serde::de::IgnoredAny;
use wiremark_cbor::Cbor;
use wiremark_conform::corpora::{self, Differences};
use wiremark_conform::wire;
use wiremark_core::{Codec, ErrorKind};
use wiremark_datasets::Value;

/// What the golden bytes are not read as, and why.
const GOLDEN_DIFFERENCES: &[(&str, &str)] = &[
    ("Option<()> Some(())", "ciborium writes null, for unit and for nothing"),
    (
        "Option<Option<u8>> Some(None)",
        "ciborium writes one null, whatever it is inside of",
    ),
];

#[test]
fn values_have_the_golden_bytes() {
    let mut differences = Differences::known(GOLDEN_DIFFERENCES);
    wire::check(&Cbor::new(), include_str!("data/wire-vectors.tsv"), &mut differences);
    differences.assert_as_known();
}

/// Where the library reads RFC 8949 in another way, by the bytes.
const RFC_DIFFERENCES: &[(&str, &str)] = &[
    ("7f7f6161ffff", "ciborium takes indefinite chunks inside one another"),
    ("c074323031332d30332d32315432303a30343a30305a", TAG),
    ("c0c06161", TAG),
    ("c11a514b67b0", TAG),
    ("c1fb41d452d9ec200000", TAG),
    ("c2581a0100000000000000000000000000000000000000000000000000", TAG),
    ("d74401020304", TAG),
    ("d818456449455446", TAG),
    ("d82070687474703a2f2f782e6578616d706c65", TAG),
    ("d9d9f701", TAG),
    ("f0", SIMPLE),
    ("f7", "serde has no undefined; ciborium shows it as null"),
    ("f814", "ciborium takes `false` in two bytes"),
    ("f820", SIMPLE),
    ("f8ff", SIMPLE),
];

const TAG: &str = "ciborium shows a tag as an enum, which `Value` has no place for";
const SIMPLE: &str = "ciborium knows no simple values but the four named ones";

#[test]
fn vectors_of_the_rfc_are_read_as_it_says() {
    let mut differences = Differences::known(RFC_DIFFERENCES);
    for line in include_str!("data/cbor-vectors.tsv").lines() {
        if line.starts_with('#') {
            continue;
        }
        let mut columns = line.split('\t');
        let mut column = || columns.next().expect("three columns");
        let (hex, kind, meaning) = (column(), column(), column());
        let bytes = corpora::hex(hex).expect("hexadecimal");
        differences.case(hex, look_at(&bytes, kind, meaning));
    }
    assert_eq!(differences.cases(), 217);
    differences.assert_as_known();
}

fn look_at(bytes: &[u8], kind: &str, meaning: &str) -> Result<(), String> {
    let mut cbor = Cbor::new();
    let read = cbor.decode::<Value>(bytes);
    let skipped = cbor.decode::<IgnoredAny>(bytes);
    if let "good" | "preferred" = kind {
        let value = read.map_err(|error| format!("expected {meaning}, found {error}"))?;
        skipped.map_err(|error| {
            format!("expected {meaning} to be skipped, found {error}")
        })?;
        if !is(&value, meaning) {
            return Err(format!("expected {meaning}, found {}", diagnostic(&value)));
        }
        let mut again = Vec::new();
        cbor.encode_into(&value, &mut again).map_err(|error| error.to_string())?;
        if kind == "preferred" && again != bytes {
            return Err(format!("expected to be written so, found {again:02x?}"));
        }
        let back = cbor.decode::<Value>(&again).map_err(|error| error.to_string())?;
        return if back == value { Ok(()) } else { Err(format!("written as {back:?}")) };
    }
    // A passer-by need not look into the text.
    if kind != "invalid" && skipped.is_ok() {
        return Err(format!("expected an error ({meaning}), found it skipped"));
    }
    match read {
        Ok(value) => Err(format!("expected an error ({meaning}), found {value:?}")),
        Err(error) if kind == "eof" && error.kind() != ErrorKind::Eof => {
            Err(format!("expected kind `eof` ({meaning}), found kind `{}`", error.kind()))
        }
        Err(error) if error.kind() == ErrorKind::Io => Err(error.to_string()),
        Err(_) => Ok(()),
    }
}

fn is(value: &Value, meaning: &str) -> bool {
    match value {
        // Floats are written in more than one way; the value and its sign count.
        Value::F64(float) => meaning.parse().is_ok_and(|meant: f64| {
            meaning.contains(['.', 'e', 'N', 'I'])
                && (meant.to_bits() == float.to_bits()
                    || (meant.is_nan() && float.is_nan()))
        }),
        value => diagnostic(value) == meaning,
    }
}

/// CBOR's diagnostic notation.
fn diagnostic(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::U64(value) => value.to_string(),
        Value::I64(value) => value.to_string(),
        Value::U128(value) => value.to_string(),
        Value::I128(value) => value.to_string(),
        Value::F64(value) => format!("{value:?}"),
        Value::Str(text) => {
            let escape = |letter| match letter {
                '"' | '\\' => format!("\\{letter}"),
                '\0' => "\\u0000".to_owned(),
                letter => String::from(letter),
            };
            format!("\"{}\"", text.chars().map(escape).collect::<String>())
        }
        Value::Bytes(bytes) => {
            let digits = bytes.iter().map(|byte| format!("{byte:02x}"));
            format!("h'{}'", digits.collect::<String>())
        }
        Value::Array(values) => {
            let values = values.iter().map(diagnostic).collect::<Vec<_>>();
            format!("[{}]", values.join(", "))
        }
        Value::Map(entries) => {
            let entry = |(key, value): &(Value, Value)| {
                format!("{}: {}", diagnostic(key), diagnostic(value))
            };
            format!("{{{}}}", entries.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
    }
}
