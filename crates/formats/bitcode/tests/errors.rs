//! Kinds and offsets of errors, and values that end the library's own calls.

use std::collections::BTreeMap;

use serde::Serialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::ser::{SerializeMap, SerializeSeq, Serializer};
use wiremark_bitcode::Bitcode;
use wiremark_core::{Codec, ErrorKind};
use wiremark_datasets::Value;

fn written(value: &(impl Serialize + ?Sized)) -> Vec<u8> {
    let mut out = Vec::new();
    Bitcode::new().encode_into(value, &mut out).expect("a value that can be written");
    out
}

fn check<T: DeserializeOwned>(
    input: &[u8],
    kind: ErrorKind,
    offset: Option<u64>,
    bad: &mut Vec<String>,
) {
    match Bitcode::new().decode::<T>(input) {
        Ok(_) => bad.push(format!("{input:02x?}: expected an error")),
        Err(error) if (error.kind(), error.offset()) == (kind, offset) => {}
        Err(error) => {
            bad.push(format!("{input:02x?}: expected {kind} at {offset:?}, {error:?}"));
        }
    }
}

#[test]
#[cfg_attr(not(debug_assertions), ignore = "the library gives no reasons then")]
fn an_error_tells_its_kind_where_the_library_gives_a_reason() {
    let mut bad = Vec::new();
    let bad_ref = &mut bad;
    check::<Vec<u8>>(&[], ErrorKind::Eof, Some(0), bad_ref);
    let text = written("cut");
    check::<String>(&text[..2], ErrorKind::Eof, Some(2), bad_ref);
    check::<String>(&[&*text, &[0]].concat(), ErrorKind::Syntax, None, bad_ref);
    check::<IgnoredAny>(&text, ErrorKind::Unsupported, None, bad_ref);
    check::<Value>(&text, ErrorKind::Unsupported, None, bad_ref);
    check::<String>(&[1, 0xff], ErrorKind::Syntax, None, bad_ref);
    check::<char>(&[0xff; 4], ErrorKind::Syntax, None, bad_ref);
    check::<std::num::NonZeroU8>(&[0], ErrorKind::Data, None, bad_ref);
    assert!(bad.is_empty(), "{bad:#?}");
}

/// Each as another column.
struct Changing(u8);

impl Serialize for Changing {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            0 => serializer.serialize_bool(true),
            1 => serializer.serialize_u8(1),
            2 => serializer.serialize_str("text"),
            3 => serializer.collect_seq([1_u8]),
            4 => (1_u8, 2_u8).serialize(serializer),
            5 => (1_u8, 2_u8, 3_u8).serialize(serializer),
            6 => serializer.collect_map([(1, 2)]),
            7 => serializer.serialize_some(&1_u8),
            8 => serializer.serialize_newtype_variant("E", 3, "V", &"text"),
            _ => serializer.serialize_unit_variant("E", 300, "V"),
        }
    }
}

/// A sequence, or a map, that says that it has so many elements and has two.
struct Says(Option<usize>, bool);

impl Serialize for Says {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.1 {
            let mut map = serializer.serialize_map(self.0)?;
            map.serialize_entry(&1, &2)?;
            map.serialize_entry(&3, &4)?;
            return map.end();
        }
        let mut seq = serializer.serialize_seq(self.0)?;
        seq.serialize_element(&1)?;
        seq.serialize_element(&2)?;
        seq.end()
    }
}

#[derive(Serialize)]
struct Sparse {
    #[serde(skip_serializing_if = "Option::is_none")]
    first: Option<u8>,
    second: u8,
}

#[test]
fn what_the_library_panics_at_is_refused() {
    fn refused(value: &(impl Serialize + ?Sized), kind: ErrorKind, what: &str) {
        let mut out = b"kept".to_vec();
        match Bitcode::new().encode_into(value, &mut out) {
            Ok(()) => panic!("{what}: expected an error"),
            Err(error) => assert_eq!(error.kind(), kind, "{what}: {error}"),
        }
        assert_eq!(out, b"kept", "{what}");
    }
    for first in 0..10 {
        for second in 0..10 {
            // `Some` and a variant of one enum are alike to the library, as long as they hold
            // the same.
            if first != second && (first, second) != (7, 8) && (first, second) != (8, 7) {
                let what = format!("{first} and {second}");
                let values = [Changing(first), Changing(second)];
                refused(&values[..], ErrorKind::Unsupported, &what);
            }
        }
    }
    for is_map in [false, true] {
        refused(&Says(None, is_map), ErrorKind::Unsupported, "no length");
        refused(&Says(Some(1), is_map), ErrorKind::Data, "too many");
        refused(&Says(Some(3), is_map), ErrorKind::Data, "too few");
        assert!(Bitcode::new().encode_into(&Says(Some(2), is_map), &mut vec![]).is_ok());
    }
    let sparse =
        [Sparse { first: Some(1), second: 2 }, Sparse { first: None, second: 2 }];
    refused(&sparse[..], ErrorKind::Unsupported, "a field that is left out");
    let dynamic = Value::Array(vec![Value::U64(1), Value::from("text")]);
    refused(&dynamic, ErrorKind::Unsupported, "a dynamic value");
}

#[test]
fn columns_that_stay_alike_are_written() {
    type Row = (Option<BTreeMap<String, u8>>, Result<u8, String>, char);
    let value: Vec<Row> = vec![
        (Some(BTreeMap::from([("a".to_owned(), 1_u8)])), Ok(1), 'a'),
        (None, Err("text".to_owned()), 'b'),
        (Some(BTreeMap::new()), Ok(2), 'c'),
    ];
    let back: Vec<Row> = Bitcode::new().decode(&written(&value)).unwrap();
    assert_eq!(back, value);
    // A million booleans fit in an eighth of a million bytes, and are read.
    let many = vec![true; 1_000_000];
    let bytes = written(&many);
    assert!(bytes.len() < 126_000, "{}", bytes.len());
    assert_eq!(Bitcode::new().decode::<Vec<bool>>(&bytes).unwrap(), many);
}
