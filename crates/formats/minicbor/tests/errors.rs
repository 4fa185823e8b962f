//! Kinds and offsets of errors.

use serde::de::{DeserializeOwned, IgnoredAny};
use wiremark_core::{Codec, ErrorKind};
use wiremark_datasets::Value;
use wiremark_minicbor::MiniCbor;

fn check<T: DeserializeOwned>(
    input: &[u8],
    kind: ErrorKind,
    offset: Option<u64>,
    bad: &mut Vec<String>,
) {
    match MiniCbor::new().decode::<T>(input) {
        Ok(_) => bad.push(format!("{input:02x?}: expected an error")),
        Err(error) if (error.kind(), error.offset()) == (kind, offset) => {}
        Err(error) => {
            bad.push(format!("{input:02x?}: expected {kind} at {offset:?}, {error:?}"));
        }
    }
}

#[test]
fn an_error_tells_its_kind_and_how_far_the_library_came() {
    let mut bad = Vec::new();
    let bad_ref = &mut bad;
    check::<Vec<u8>>(&[], ErrorKind::Eof, Some(0), bad_ref);
    check::<Vec<u8>>(&[0x82, 1], ErrorKind::Eof, Some(2), bad_ref);
    check::<String>(&[0x65, b'c', b'u', b't'], ErrorKind::Eof, Some(4), bad_ref);
    // An input that is cut is that first, whatever else is wrong with it.
    check::<Vec<u8>>(&[0x82, 0xf5], ErrorKind::Eof, Some(2), bad_ref);
    // A length of 2^64 - 1, in each kind of item that has one.
    for major in [0x40, 0x60, 0x80, 0xa0] {
        let mut bytes = vec![major | 0x1b];
        bytes.extend([0xff; 8]);
        check::<IgnoredAny>(&bytes, ErrorKind::Eof, Some(9), bad_ref);
        check::<Value>(&bytes, ErrorKind::Eof, Some(9), bad_ref);
    }
    // A reserved head, alone and inside.
    check::<u8>(&[0x1c], ErrorKind::Syntax, Some(0), bad_ref);
    check::<Vec<u8>>(&[0x82, 1, 0x1c], ErrorKind::Syntax, Some(2), bad_ref);
    check::<Vec<u8>>(&[0x82, 1, 2, 3, 4], ErrorKind::Syntax, Some(3), bad_ref);
    check::<String>(&[0x61, 0xff], ErrorKind::Syntax, Some(0), bad_ref);
    check::<Value>(&[0x7f, 0x61, 0xff, 0xff], ErrorKind::Syntax, Some(1), bad_ref);
    check::<Vec<u8>>(&[0x81, 0xf5], ErrorKind::Data, Some(2), bad_ref);
    check::<u8>(&[0x19, 1, 0], ErrorKind::Data, Some(3), bad_ref);
    check::<(u8, u8)>(&[0x81, 1], ErrorKind::Data, Some(1), bad_ref);
    assert!(bad.is_empty(), "{bad:#?}");
}

#[test]
fn what_is_passed_over_may_nest_as_deep_as_it_likes() {
    let mut bytes = vec![0x81; 1_000_000];
    bytes.push(0);
    MiniCbor::new().decode::<IgnoredAny>(&bytes).unwrap();
    // Of unknown length, in arrays of known length: the library remembers each.
    let mut bytes = [0x82, 0x9f].repeat(100_000);
    bytes.extend([0xff, 0].repeat(100_000));
    MiniCbor::new().decode::<IgnoredAny>(&bytes).unwrap();
    let error = MiniCbor::new().decode::<Value>(&bytes).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
}
