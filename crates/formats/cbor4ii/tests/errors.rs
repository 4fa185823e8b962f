//! Kinds and offsets of errors.

use serde::de::{DeserializeOwned, IgnoredAny};
use wiremark_cbor4ii::Cbor4ii;
use wiremark_core::{Codec, ErrorKind};

fn check<T: DeserializeOwned>(
    input: &[u8],
    kind: ErrorKind,
    offset: Option<u64>,
    bad: &mut Vec<String>,
) {
    let found = Cbor4ii::new().decode::<T>(input);
    match &found {
        Ok(_) => bad.push(format!("{input:02x?}: expected an error")),
        Err(error) if (error.kind(), error.offset()) == (kind, offset) => {}
        Err(error) => {
            bad.push(format!("{input:02x?}: expected {kind} at {offset:?}, {error:?}"));
        }
    }
    // The same bytes from a reader: the offset may differ, the kind not.
    if let (Err(from_reader), Err(error)) =
        (Cbor4ii::new().decode_from::<T, _>(input), &found)
        && from_reader.kind() != error.kind()
    {
        bad.push(format!("{input:02x?}: from a reader {from_reader:?}"));
    }
}

#[test]
fn an_error_tells_its_kind_and_how_far_the_library_came() {
    let mut bad = Vec::new();
    let bad_ref = &mut bad;
    check::<Vec<u8>>(&[], ErrorKind::Eof, Some(0), bad_ref);
    check::<Vec<u8>>(&[0x82, 1], ErrorKind::Eof, Some(2), bad_ref);
    check::<String>(&[0x65, b'c', b'u', b't'], ErrorKind::Eof, Some(4), bad_ref);
    // A length of 2^64 - 1, in each kind of item that has one.
    for major in [0x40, 0x60, 0x80, 0xa0] {
        let mut bytes = vec![major | 0x1b];
        bytes.extend([0xff; 8]);
        check::<IgnoredAny>(&bytes, ErrorKind::Eof, Some(9), bad_ref);
    }
    check::<String>(
        &[0x7f, 0x7a, 0xff, 0xff, 0xff, 0xff, 1],
        ErrorKind::Eof,
        Some(7),
        bad_ref,
    );
    // A reserved head, alone and inside; a break without a beginning.
    check::<u8>(&[0x1c], ErrorKind::Syntax, Some(1), bad_ref);
    check::<Vec<u8>>(&[0x82, 1, 0x1c], ErrorKind::Syntax, Some(3), bad_ref);
    check::<u8>(&[0xff], ErrorKind::Syntax, Some(1), bad_ref);
    check::<Vec<u8>>(&[0x82, 1, 2, 3, 4], ErrorKind::Syntax, Some(3), bad_ref);
    check::<String>(&[0x61, 0xff], ErrorKind::Syntax, Some(2), bad_ref);
    check::<String>(&[0x7f, 0x7f, 0xff, 0xff], ErrorKind::Syntax, Some(2), bad_ref);
    check::<Vec<u8>>(&[0x81, 0xf5], ErrorKind::Data, Some(2), bad_ref);
    check::<u8>(&[0x19, 1, 0], ErrorKind::Data, Some(1), bad_ref);
    check::<(u8, u8)>(&[0x81, 1], ErrorKind::Data, Some(1), bad_ref);
    // The tag 28 begins no big integer, though 1c as a first byte is reserved.
    check::<u128>(&[0xd8, 0x1c, 1], ErrorKind::Data, Some(2), bad_ref);
    check::<u128>(&[0xc2, 0x51], ErrorKind::Data, Some(2), bad_ref);
    assert!(bad.is_empty(), "{bad:#?}");
}

#[test]
fn what_is_passed_over_nests_within_bounds_too() {
    let nested = |levels: usize| {
        let mut bytes = vec![0x81; levels];
        bytes.push(0);
        Cbor4ii::new().decode::<IgnoredAny>(&bytes).map(drop)
    };
    nested(128).unwrap();
    assert_eq!(nested(1_000_000).unwrap_err().kind(), ErrorKind::Limit);
}
