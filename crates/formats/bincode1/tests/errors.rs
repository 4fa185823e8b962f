//! Kinds and offsets of errors.

use serde::de::{DeserializeOwned, IgnoredAny};
use wiremark_bincode1::Bincode1;
use wiremark_core::{Codec, ErrorKind};

fn check<T: DeserializeOwned>(
    input: &[u8],
    kind: ErrorKind,
    offset: Option<u64>,
    bad: &mut Vec<String>,
) {
    match Bincode1::new().decode::<T>(input) {
        Ok(_) => bad.push(format!("{input:02x?}: expected an error")),
        Err(error) if (error.kind(), error.offset()) == (kind, offset) => {}
        Err(error) => {
            bad.push(format!("{input:02x?}: expected {kind} at {offset:?}, {error:?}"));
        }
    }
}

#[test]
fn an_error_tells_its_kind_and_where_it_can_the_byte_at_fault() {
    let mut bad = Vec::new();
    let bad_ref = &mut bad;
    let counted = |count: u64, rest: &[u8]| [&count.to_le_bytes(), rest].concat();
    check::<Vec<u8>>(&[], ErrorKind::Eof, Some(0), bad_ref);
    check::<Vec<u8>>(&counted(2, &[1]), ErrorKind::Eof, Some(9), bad_ref);
    check::<String>(&counted(5, b"cut"), ErrorKind::Eof, Some(11), bad_ref);
    // Half a character, which the crate calls an invalid one.
    check::<char>(&[0xe2, 0x82], ErrorKind::Eof, Some(2), bad_ref);
    check::<char>(&[0xff], ErrorKind::Syntax, Some(1), bad_ref);
    // 2^64 - 1 bytes of text and of bytes.
    let length = counted(u64::MAX, b"x");
    check::<String>(&length, ErrorKind::Eof, Some(9), bad_ref);
    check::<serde_bytes::ByteBuf>(&length, ErrorKind::Eof, Some(9), bad_ref);
    check::<bool>(&[2], ErrorKind::Syntax, Some(1), bad_ref);
    check::<Option<u8>>(&[2], ErrorKind::Syntax, Some(1), bad_ref);
    check::<String>(&counted(1, &[0xff]), ErrorKind::Syntax, Some(9), bad_ref);
    check::<Vec<u8>>(&counted(2, &[1, 2, 3, 4]), ErrorKind::Syntax, Some(10), bad_ref);
    check::<Result<u8, u8>>(&[2, 0, 0, 0, 0], ErrorKind::Data, Some(4), bad_ref);
    check::<IgnoredAny>(&[0], ErrorKind::Unsupported, Some(0), bad_ref);
    check::<Vec<()>>(&length[..8], ErrorKind::Limit, Some(8), bad_ref);
    assert!(bad.is_empty(), "{bad:#?}");
}

#[test]
fn what_a_type_says_of_itself_is_the_message() {
    let error = Bincode1::new().decode::<std::num::NonZeroU8>(&[0]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Data);
    assert!(error.message().starts_with("invalid value: "), "{error}");
}

#[test]
fn a_stream_of_documents_without_bytes_is_refused() {
    let mut out = b"kept".to_vec();
    let error = Bincode1::new().encode_each([&(), &()], &mut out).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert_eq!(out, b"kept");
}
