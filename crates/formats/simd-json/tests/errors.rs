//! Kinds and offsets of errors.

use std::collections::BTreeMap;

use serde::de::{DeserializeOwned, IgnoredAny};
use wiremark_core::{Codec, ErrorKind};
use wiremark_simd_json::SimdJson;

fn check<T: DeserializeOwned>(
    input: &str,
    kind: ErrorKind,
    offset: Option<u64>,
    bad: &mut Vec<String>,
) {
    match SimdJson::new().decode::<T>(input.as_bytes()) {
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
    // Where a value of the wrong type is the library does not tell, nor what nests too deep.
    check::<Vec<u8>>("[1,true]", ErrorKind::Data, None, bad_ref);
    check::<Vec<u8>>("[1,\n300]", ErrorKind::Data, None, bad_ref);
    check::<BTreeMap<u8, u8>>(r#"{"x":1}"#, ErrorKind::Data, None, bad_ref);
    check::<Vec<f64>>("[1.", ErrorKind::Eof, Some(3), bad_ref);
    check::<Vec<f64>>("[-", ErrorKind::Eof, Some(2), bad_ref);
    check::<Vec<f64>>("[1e+", ErrorKind::Eof, Some(4), bad_ref);
    check::<Vec<f64>>("[1.,2]", ErrorKind::Syntax, Some(3), bad_ref);
    assert!(bad.is_empty(), "{bad:#?}");
}

#[test]
fn what_json_has_no_place_for_is_unsupported() {
    let map = BTreeMap::from([((1, 2), 3)]);
    let error = SimdJson::new().encode_into(&map, &mut Vec::new()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert_eq!(error.to_string(), "key must be a string");
}

#[test]
fn what_nests_too_deep_is_a_limit_whatever_it_is_asked_as() {
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    let mut bad = Vec::new();
    let bad_ref = &mut bad;
    check::<String>(&deep, ErrorKind::Limit, None, bad_ref);
    check::<IgnoredAny>(&deep, ErrorKind::Limit, None, bad_ref);
    assert!(bad.is_empty(), "{bad:#?}");
}
