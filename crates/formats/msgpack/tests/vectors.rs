//! Golden bytes of both variants and, where it is at hand, the MessagePack test suite.
#![expect(
    clippy::unwrap_used,
    reason = "a suite of another form fails the test where it is read"
)]

use std::fs;

use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;
use wiremark_conform::corpora::{self, Differences};
use wiremark_conform::wire;
use wiremark_core::Codec;
use wiremark_datasets::Value;
use wiremark_msgpack::MsgPack;

/// What the golden bytes are not read as, and why.
const GOLDEN_DIFFERENCES: &[(&str, &str)] = &[
    ("Option<()> Some(())", "MessagePack has one nil, for unit and for nothing"),
    (
        "Option<Option<u8>> Some(None)",
        "MessagePack has one nil, whatever it is inside of",
    ),
];

#[test]
fn values_have_the_golden_bytes() {
    for (codec, golden) in [
        (MsgPack::compact(), include_str!("data/wire-vectors-compact.tsv")),
        (MsgPack::named(), include_str!("data/wire-vectors-named.tsv")),
    ] {
        let mut differences = Differences::known(GOLDEN_DIFFERENCES);
        wire::check(&codec, golden, &mut differences);
        differences.assert_as_known();
    }
}

/// Where `rmp-serde` differs from the suite: an encoding, or `write` and the first encoding.
const SUITE_DIFFERENCES: &[(&str, &str)] = &[
    ("write ca-3f-00-00-00", FLOAT),
    ("write ca-bf-00-00-00", FLOAT),
    (
        "write d3-7f-ff-ff-ff-ff-ff-ff-ff",
        "rmp-serde writes what is not negative as unsigned",
    ),
];

const FLOAT: &str = "rmp-serde writes an f64 in full, also where an f32 holds the same";

/// How `rmp-serde` shows an extension: its type and its bytes, in a newtype of this name.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename = "_ExtStruct")]
struct Extension((i8, ByteBuf));

#[test]
fn the_msgpack_test_suite_is_read_and_written_as_it_says() {
    let folder = match corpora::find(env!("CARGO_MANIFEST_DIR"), "msgpack-test-suite") {
        Ok(folder) => folder,
        Err(reason) => return println!("{reason}"),
    };
    let text = fs::read(folder.join("msgpack-test-suite.json")).unwrap();
    let suite: Value = serde_json::from_slice(&text).unwrap();
    let Value::Map(groups) = suite else { panic!("expected groups") };
    let mut differences = Differences::known(SUITE_DIFFERENCES);
    let (mut values, mut encodings) = (0, 0);
    for (_, rows) in groups {
        let Value::Array(rows) = rows else { panic!("expected rows") };
        for row in rows {
            let Some(Value::Array(hexes)) = row.get("msgpack") else {
                panic!("expected encodings in {row:?}")
            };
            let all = hexes.iter().map(|hex| hex.as_str().unwrap()).collect::<Vec<_>>();
            values += 1;
            encodings += all.len();
            for hex in &all {
                let bytes = corpora::hex(hex).unwrap();
                differences.case(hex, read(&row, &bytes));
            }
            // The first is the one that the suite prefers.
            let preferred = all.first().unwrap();
            let bytes = corpora::hex(preferred).unwrap();
            differences.case(&format!("write {preferred}"), write(&row, &bytes));
        }
    }
    assert_eq!((values, encodings), (85, 233));
    differences.assert_as_known();
}

/// What a row of the suite means.
#[derive(Debug)]
enum Meaning {
    Value(Value),
    Extension(Extension),
}

fn meaning(row: &Value) -> Meaning {
    let Value::Map(fields) = row else { panic!("expected a row, found {row:?}") };
    let (kind, value) =
        fields.iter().find(|(kind, _)| kind.as_str() != Some("msgpack")).unwrap();
    let pair = |value: &Value| {
        let Value::Array(pair) = value else {
            panic!("expected a pair, found {value:?}")
        };
        let [first, second] = &pair[..] else {
            panic!("expected a pair, found {pair:?}")
        };
        (first.clone(), second.clone())
    };
    let kind = kind.as_str().unwrap();
    // Numbers beyond 2^53 are also there as text, which JSON parsers do not round.
    if let Some(number) = row.get("bignum").and_then(Value::as_str) {
        let number = number.parse::<i128>().map(Value::from);
        return Meaning::Value(number.unwrap());
    }
    match kind {
        "binary" => {
            Meaning::Value(Value::Bytes(corpora::hex(value.as_str().unwrap()).unwrap()))
        }
        "ext" => {
            let (kind, data) = pair(value);
            let kind = i8::try_from(kind.as_i64().unwrap()).unwrap();
            let data = corpora::hex(data.as_str().unwrap()).unwrap();
            Meaning::Extension(Extension((kind, ByteBuf::from(data))))
        }
        "timestamp" => {
            let (seconds, nanos) = pair(value);
            let (seconds, nanos) = (seconds.as_i64().unwrap(), nanos.as_u64().unwrap());
            Meaning::Extension(Extension((-1, ByteBuf::from(timestamp(seconds, nanos)))))
        }
        _ => Meaning::Value(value.clone()),
    }
}

/// The bytes of a timestamp by the specification: the shortest of its three forms.
fn timestamp(seconds: i64, nanos: u64) -> Vec<u8> {
    match u64::try_from(seconds) {
        Ok(seconds) if seconds >> 34 == 0 => match u32::try_from(seconds) {
            Ok(seconds) if nanos == 0 => seconds.to_be_bytes().to_vec(),
            _ => (nanos << 34 | seconds).to_be_bytes().to_vec(),
        },
        _ => {
            let nanos = u32::try_from(nanos).unwrap().to_be_bytes();
            [&nanos[..], &seconds.to_be_bytes()].concat()
        }
    }
}

fn read(row: &Value, bytes: &[u8]) -> Result<(), String> {
    let mut msgpack = MsgPack::compact();
    match meaning(row) {
        Meaning::Value(expected) => {
            let found =
                msgpack.decode::<Value>(bytes).map_err(|error| error.to_string())?;
            // The suite writes whole numbers as floats, too.
            let is_same = match (found.as_f64(), expected.as_i128()) {
                (Some(found), Some(expected)) => {
                    found.to_bits() == (expected as f64).to_bits()
                }
                _ => found == expected,
            };
            if is_same {
                Ok(())
            } else {
                Err(format!("expected {expected:?}, found {found:?}"))
            }
        }
        Meaning::Extension(expected) => {
            let found =
                msgpack.decode::<Extension>(bytes).map_err(|error| error.to_string())?;
            if found == expected {
                Ok(())
            } else {
                Err(format!("expected {expected:?}, found {found:?}"))
            }
        }
    }
}

fn write(row: &Value, preferred: &[u8]) -> Result<(), String> {
    let mut out = Vec::new();
    match meaning(row) {
        Meaning::Value(value) => MsgPack::named().encode_into(&value, &mut out),
        Meaning::Extension(extension) => {
            MsgPack::named().encode_into(&extension, &mut out)
        }
    }
    .map_err(|error| error.to_string())?;
    if out == preferred { Ok(()) } else { Err(format!("found {out:02x?}")) }
}
