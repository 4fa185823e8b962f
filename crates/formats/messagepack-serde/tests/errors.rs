//! Kinds and offsets of errors.

use serde::de::{DeserializeOwned, IgnoredAny};
use wiremark_core::{Codec, ErrorKind};
use wiremark_datasets::Value;
use wiremark_messagepack_serde::MessagepackSerde;

fn check<T: DeserializeOwned>(
    input: &[u8],
    kind: ErrorKind,
    offset: Option<u64>,
    bad: &mut Vec<String>,
) {
    match MessagepackSerde::new().decode::<T>(input) {
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
    check::<Vec<u8>>(&[0x92, 1], ErrorKind::Eof, Some(2), bad_ref);
    check::<String>(&[0xa5, b'c', b'u', b't'], ErrorKind::Eof, Some(4), bad_ref);
    // A length of 2^32 - 1, in each form that has one.
    for first in [0xc6, 0xdb, 0xdd, 0xdf] {
        let bytes = [first, 0xff, 0xff, 0xff, 0xff];
        check::<IgnoredAny>(&bytes, ErrorKind::Eof, Some(5), bad_ref);
        check::<Value>(&bytes, ErrorKind::Eof, Some(5), bad_ref);
    }
    // The byte that no document holds, alone and inside.
    check::<u8>(&[0xc1], ErrorKind::Syntax, Some(0), bad_ref);
    check::<Vec<u8>>(&[0x92, 1, 0xc1], ErrorKind::Syntax, Some(2), bad_ref);
    check::<Vec<u8>>(&[0x92, 1, 2, 3, 4], ErrorKind::Syntax, Some(3), bad_ref);
    check::<String>(&[0xa1, 0xff], ErrorKind::Syntax, Some(2), bad_ref);
    check::<Vec<u8>>(&[0x91, 0xc3], ErrorKind::Data, Some(2), bad_ref);
    check::<u8>(&[0xcd, 1, 0], ErrorKind::Data, Some(3), bad_ref);
    assert!(bad.is_empty(), "{bad:#?}");
}

#[test]
fn an_integer_beyond_64_bits_is_refused_when_it_is_written() {
    let mut out = vec![7];
    for number in [i128::MIN, i128::MAX] {
        let error = MessagepackSerde::new().encode_into(&number, &mut out).unwrap_err();
        assert_eq!((error.kind(), &*out), (ErrorKind::Unsupported, &[7][..]), "{number}");
        let error = MessagepackSerde::new().encode_to(&number, &mut out).unwrap_err();
        assert_eq!((error.kind(), &*out), (ErrorKind::Unsupported, &[7][..]), "{number}");
    }
}
