//! Vectors of RFC 8949: what CBOR's libraries are held against.
//!
//! Among them are all of its appendix A, bytes that end too early, and bytes that are no
//! document. They are read as a dynamic value, and passed over.

use serde::de::IgnoredAny;
use wiremark_core::{Codec, ErrorKind};
use wiremark_datasets::Value;

use crate::corpora::{self, Differences};

/// Holds `codec` against the vectors: each is read as the RFC says, one that is well-formed is
/// passed over as well, and a value written in the preferred way has its bytes. What differs is
/// noted in `differences` under the bytes in hexadecimal.
///
/// # Panics
/// If the file of vectors, which lies beside this crate's sources, is broken.
pub fn check<C: Codec>(codec: &C, differences: &mut Differences) {
    let mut codec = codec.clone();
    for line in include_str!("../data/cbor-vectors.tsv").lines() {
        if line.starts_with('#') {
            continue;
        }
        let mut columns = line.split('\t');
        let mut column = || columns.next().expect("three columns");
        let (hex, kind, meaning) = (column(), column(), column());
        let bytes = corpora::hex(hex).expect("hexadecimal");
        differences.case(hex, look_at(&mut codec, &bytes, kind, meaning));
    }
    assert_eq!(differences.cases(), 217);
}

fn look_at<C: Codec>(
    codec: &mut C,
    bytes: &[u8],
    kind: &str,
    meaning: &str,
) -> Result<(), String> {
    let read = codec.decode::<Value>(bytes);
    let skipped = codec.decode::<IgnoredAny>(bytes);
    if let "good" | "preferred" = kind {
        let value = read.map_err(|error| format!("expected {meaning}, found {error}"))?;
        skipped.map_err(|error| {
            format!("expected {meaning} to be skipped, found {error}")
        })?;
        if !is(&value, meaning) {
            return Err(format!("expected {meaning}, found {}", diagnostic(&value)));
        }
        let mut again = Vec::new();
        codec.encode_into(&value, &mut again).map_err(|error| error.to_string())?;
        if kind == "preferred" && again != bytes {
            return Err(format!("expected to be written so, found {again:02x?}"));
        }
        let back = codec.decode::<Value>(&again).map_err(|error| error.to_string())?;
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
