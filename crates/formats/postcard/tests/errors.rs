//! Kinds and offsets of errors.

use serde::de::{DeserializeOwned, IgnoredAny};
use wiremark_core::{Codec, ErrorKind};
use wiremark_postcard::Postcard;

fn check<T: DeserializeOwned>(
    input: &[u8],
    kind: ErrorKind,
    offset: u64,
    bad: &mut Vec<String>,
) {
    match Postcard::new().decode::<T>(input) {
        Ok(_) => bad.push(format!("{input:02x?}: expected an error")),
        Err(error) if (error.kind(), error.offset()) == (kind, Some(offset)) => {}
        Err(error) => {
            bad.push(format!("{input:02x?}: expected {kind} at {offset}, {error:?}"));
        }
    }
}

#[test]
fn an_error_tells_its_kind_and_how_far_the_library_came() {
    let mut bad = Vec::new();
    let bad_ref = &mut bad;
    check::<Vec<u8>>(&[], ErrorKind::Eof, 0, bad_ref);
    check::<Vec<u8>>(&[2, 1], ErrorKind::Eof, 2, bad_ref);
    // Text that is not there is not taken in part.
    check::<String>(&[5, b'c', b'u', b't'], ErrorKind::Eof, 1, bad_ref);
    check::<bool>(&[2], ErrorKind::Syntax, 1, bad_ref);
    check::<Option<u8>>(&[2], ErrorKind::Syntax, 1, bad_ref);
    check::<String>(&[1, 0xff], ErrorKind::Syntax, 2, bad_ref);
    check::<u32>(&[0xff; 6], ErrorKind::Syntax, 5, bad_ref);
    check::<Vec<u8>>(&[2, 1, 2, 3, 4], ErrorKind::Syntax, 3, bad_ref);
    // The variant 2 of two.
    check::<Result<u8, u8>>(&[2, 0], ErrorKind::Data, 1, bad_ref);
    check::<IgnoredAny>(&[0], ErrorKind::Unsupported, 0, bad_ref);
    // 2^63 elements of no bytes.
    let count = [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01];
    check::<Vec<()>>(&count, ErrorKind::Limit, 10, bad_ref);
    assert!(bad.is_empty(), "{bad:#?}");
}
