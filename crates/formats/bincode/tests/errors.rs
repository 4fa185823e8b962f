//! Kinds and offsets of errors.

use serde::de::{DeserializeOwned, IgnoredAny};
use wiremark_bincode::Bincode;
use wiremark_core::{Codec, ErrorKind};

fn check<T: DeserializeOwned>(
    input: &[u8],
    kind: ErrorKind,
    offset: Option<u64>,
    bad: &mut Vec<String>,
) {
    match Bincode::standard().decode::<T>(input) {
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
    check::<Vec<u8>>(&[], ErrorKind::Eof, Some(0), bad_ref);
    check::<Vec<u8>>(&[2, 1], ErrorKind::Eof, Some(2), bad_ref);
    check::<String>(&[5, b'c', b'u', b't'], ErrorKind::Eof, Some(4), bad_ref);
    // 2^64 - 1 bytes of text and of bytes, at which the crate itself would panic.
    let length = [0xfd, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, b'x'];
    check::<String>(&length, ErrorKind::Eof, Some(10), bad_ref);
    check::<serde_bytes::ByteBuf>(&length, ErrorKind::Eof, Some(10), bad_ref);
    check::<bool>(&[2], ErrorKind::Syntax, None, bad_ref);
    check::<Option<u8>>(&[2], ErrorKind::Syntax, None, bad_ref);
    check::<String>(&[1, 0xff], ErrorKind::Syntax, None, bad_ref);
    check::<Vec<u8>>(&[2, 1, 2, 3, 4], ErrorKind::Syntax, Some(3), bad_ref);
    check::<Result<u8, u8>>(&[2, 0], ErrorKind::Data, None, bad_ref);
    check::<IgnoredAny>(&[0], ErrorKind::Unsupported, None, bad_ref);
    check::<Vec<()>>(&length[..9], ErrorKind::Limit, None, bad_ref);
    assert!(bad.is_empty(), "{bad:#?}");
}

#[test]
fn what_a_type_says_of_itself_is_the_message() {
    let error = Bincode::standard().decode::<std::num::NonZeroU8>(&[0]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Data);
    assert!(error.message().starts_with("invalid value: "), "{error}");
}

#[test]
fn a_stream_of_documents_without_bytes_is_refused() {
    let mut out = b"kept".to_vec();
    let error = Bincode::standard().encode_each([&(), &()], &mut out).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert_eq!(out, b"kept");
}
