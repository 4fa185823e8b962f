//! Kinds and offsets of errors.

use serde::de::DeserializeOwned;
use wiremark_core::{Codec, ErrorKind};
use wiremark_msgpack::MsgPack;

fn check<T: DeserializeOwned>(
    input: &[u8],
    kind: ErrorKind,
    offset: Option<u64>,
    bad: &mut Vec<String>,
) {
    match MsgPack::compact().decode::<T>(input) {
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
    check::<Vec<u8>>(&[0x92, 1], ErrorKind::Eof, Some(2), bad_ref);
    check::<String>(&[0xa5, b'c', b'u', b't'], ErrorKind::Eof, Some(4), bad_ref);
    // The byte that no document holds, alone and inside.
    check::<u8>(&[0xc1], ErrorKind::Syntax, Some(0), bad_ref);
    check::<Vec<u8>>(&[0x92, 1, 0xc1], ErrorKind::Syntax, Some(2), bad_ref);
    // Trailing bytes are counted from where the document ends.
    check::<Vec<u8>>(&[0x92, 1, 2, 3, 4], ErrorKind::Syntax, Some(3), bad_ref);
    check::<String>(&[0xa1, 0xff], ErrorKind::Syntax, None, bad_ref);
    check::<Vec<u8>>(&[0x91, 0xc3], ErrorKind::Data, None, bad_ref);
    check::<u8>(&[0xcd, 1, 0], ErrorKind::Data, None, bad_ref);
    check::<(u8, u8)>(&[0x93, 1, 2, 3], ErrorKind::Data, None, bad_ref);
    assert!(bad.is_empty(), "{bad:#?}");
}
