//! Kinds and offsets of errors.

use serde::de::DeserializeOwned;
use wiremark_cbor::Cbor;
use wiremark_core::{Codec, ErrorKind};

fn check<T: DeserializeOwned>(
    input: &[u8],
    kind: ErrorKind,
    offset: Option<u64>,
    bad: &mut Vec<String>,
) {
    match Cbor::new().decode::<T>(input) {
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
    // A reserved head, alone and inside.
    check::<u8>(&[0x1c], ErrorKind::Syntax, Some(0), bad_ref);
    check::<Vec<u8>>(&[0x82, 1, 0x1c], ErrorKind::Syntax, Some(2), bad_ref);
    check::<Vec<u8>>(&[0x82, 1, 2, 3, 4], ErrorKind::Syntax, Some(3), bad_ref);
    check::<String>(&[0x61, 0xff], ErrorKind::Syntax, Some(0), bad_ref);
    check::<Vec<u8>>(&[0x81, 0xf5], ErrorKind::Data, Some(2), bad_ref);
    check::<u8>(&[0x19, 1, 0], ErrorKind::Data, Some(3), bad_ref);
    assert!(bad.is_empty(), "{bad:#?}");
}
