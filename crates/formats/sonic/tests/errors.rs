//! Kinds and offsets of errors.

use std::collections::BTreeMap;

use serde::de::{DeserializeOwned, IgnoredAny};
use wiremark_core::{Codec, ErrorKind};
use wiremark_sonic::Sonic;

fn check<T: DeserializeOwned>(
    input: &str,
    kind: ErrorKind,
    offset: Option<u64>,
    bad: &mut Vec<String>,
) {
    match Sonic::compact().decode::<T>(input.as_bytes()) {
        Ok(_) => bad.push(format!("{input:?}: expected an error")),
        Err(error) if (error.kind(), error.offset()) == (kind, offset) => {}
        Err(error) => {
            bad.push(format!("{input:?}: expected {kind} at {offset:?}, {error:?}"));
        }
    }
}

#[test]
fn an_error_tells_its_kind_and_the_byte_at_fault() {
    let mut bad = Vec::new();
    let bad_ref = &mut bad;
    check::<Vec<u8>>("", ErrorKind::Eof, Some(0), bad_ref);
    check::<Vec<u8>>("[1,2", ErrorKind::Eof, Some(4), bad_ref);
    check::<String>("\"caf", ErrorKind::Eof, Some(4), bad_ref);
    check::<Vec<u8>>("[1;2]", ErrorKind::Syntax, Some(2), bad_ref);
    check::<Vec<u8>>("[\n1,\n  x]", ErrorKind::Syntax, Some(7), bad_ref);
    check::<u8>("1 2", ErrorKind::Syntax, Some(2), bad_ref);
    check::<u8>("1\n\n2", ErrorKind::Syntax, Some(3), bad_ref);
    // A value of the wrong type is noticed at its last byte.
    check::<Vec<u8>>("[1,true]", ErrorKind::Data, Some(6), bad_ref);
    check::<Vec<u8>>("[1,\n300]", ErrorKind::Data, Some(6), bad_ref);
    // The library calls a key that is no number a fault of syntax, and so do we.
    check::<BTreeMap<u8, u8>>(r#"{"x":1}"#, ErrorKind::Syntax, Some(2), bad_ref);
    // Inside of a character and of a number the library speaks of syntax.
    check::<Vec<f64>>("[1.", ErrorKind::Eof, Some(3), bad_ref);
    check::<Vec<f64>>("[-", ErrorKind::Eof, Some(2), bad_ref);
    check::<Vec<f64>>("[1e+", ErrorKind::Eof, Some(4), bad_ref);
    check::<Vec<f64>>("[1.,2]", ErrorKind::Syntax, Some(2), bad_ref);
    assert!(bad.is_empty(), "{bad:#?}");
}

#[test]
fn what_json_has_no_place_for_is_unsupported() {
    let map = BTreeMap::from([((1, 2), 3)]);
    let error = Sonic::compact().encode_into(&map, &mut Vec::new()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert_eq!(
        error.to_string(),
        "Expected the key to be string/bool/number when serializing map, now is tuple"
    );
}

#[test]
fn what_the_library_would_pass_over_by_recursion_is_refused() {
    let deep = "[".repeat(100_000);
    let mut bad = Vec::new();
    let bad_ref = &mut bad;
    // Of another type, skipped, and skipped as an unknown field.
    check::<String>(&deep, ErrorKind::Limit, Some(128), bad_ref);
    check::<u64>(&deep, ErrorKind::Limit, Some(128), bad_ref);
    check::<IgnoredAny>(&deep, ErrorKind::Limit, Some(128), bad_ref);
    check::<NoFields>(&format!(r#"{{"a":{deep}"#), ErrorKind::Limit, Some(132), bad_ref);
    assert!(bad.is_empty(), "{bad:#?}");
}

#[derive(serde::Deserialize)]
struct NoFields {}
