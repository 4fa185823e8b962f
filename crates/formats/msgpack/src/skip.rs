//! Where a document ends: the library decodes from a slice without telling how far it came.
//!
//! Headers only, one pass, no recursion. Offsets of errors are counted from the start.

use wiremark_core::{Error, Result};

/// The document at the start of `bytes`.
///
/// # Errors
/// `Eof` if the document does not end in `bytes`, `Syntax` at the byte `c1`, which no document
/// holds.
pub(crate) fn document(bytes: &[u8]) -> Result<&[u8]> {
    let mut at = 0_usize;
    // Values still to come. Each takes a byte, so counts that lie end at the input's end.
    let mut values = 1_u64;
    while values > 0 {
        let &first = bytes.get(at).ok_or_else(|| cut(bytes))?;
        // Bytes of the count behind the first byte, bytes behind them if the count is no
        // number of bytes or values, and what the count counts.
        let (header, fixed, counts) = match first {
            0x00..=0x7f | 0xe0..=0xff | 0xc0 | 0xc2 | 0xc3 => (0, 0, Counts::Nothing),
            0x80..=0x8f => (0, u64::from(first & 0x0f), Counts::Pairs),
            0x90..=0x9f => (0, u64::from(first & 0x0f), Counts::Values),
            0xa0..=0xbf => (0, u64::from(first & 0x1f), Counts::Bytes),
            0xc1 => return Err(Error::syntax("the byte c1 is never used").at(at)),
            // bin 8, 16, 32
            0xc4..=0xc6 => (1 << (first - 0xc4), 0, Counts::Bytes),
            // ext 8, 16, 32: the type's byte is not counted
            0xc7..=0xc9 => (1 << (first - 0xc7), 1, Counts::Bytes),
            // float 32, 64
            0xca | 0xcb => (0, 4 << (first - 0xca), Counts::Bytes),
            // uint and int 8, 16, 32, 64
            0xcc..=0xcf => (0, 1 << (first - 0xcc), Counts::Bytes),
            0xd0..=0xd3 => (0, 1 << (first - 0xd0), Counts::Bytes),
            // fixext 1, 2, 4, 8, 16, each with its type's byte
            0xd4..=0xd8 => (0, (1 << (first - 0xd4)) + 1, Counts::Bytes),
            // str 8, 16, 32
            0xd9..=0xdb => (1 << (first - 0xd9), 0, Counts::Bytes),
            // array 16, 32
            0xdc | 0xdd => (2 << (first - 0xdc), 0, Counts::Values),
            // map 16, 32
            0xde | 0xdf => (2 << (first - 0xde), 0, Counts::Pairs),
        };
        let header: usize = header;
        let count = bytes
            .get(at + 1..at + 1 + header)
            .ok_or_else(|| cut(bytes))?
            .iter()
            .fold(0, |count, &byte| count << 8 | u64::from(byte));
        at += 1 + header;
        values -= 1;
        match counts {
            Counts::Nothing => {}
            Counts::Values => values += count + fixed,
            Counts::Pairs => values += 2 * (count + fixed),
            Counts::Bytes => {
                let left = (bytes.len() - at) as u64;
                if count + fixed > left {
                    return Err(cut(bytes));
                }
                // In range: it is at most the length of a slice.
                at += usize::try_from(count + fixed).map_err(|_| cut(bytes))?;
            }
        }
    }
    bytes.get(..at).ok_or_else(|| cut(bytes))
}

#[derive(Clone, Copy)]
enum Counts {
    Nothing,
    Bytes,
    Values,
    Pairs,
}

#[cold]
fn cut(bytes: &[u8]) -> Error {
    Error::eof("the input ends inside a document").at(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use wiremark_core::ErrorKind;

    /// A document of each kind of first byte, by the table of the specification.
    const DOCUMENTS: &[&[u8]] = &[
        &[0x00],
        &[0x7f],
        &[0xe0],
        &[0xff],
        &[0xc0],
        &[0xc2],
        &[0xc3],
        &[0x80],
        &[0x81, 0x01, 0x02],
        &[0x90],
        &[0x92, 0x01, 0x91, 0x02],
        &[0xa0],
        &[0xa2, b'o', b'k'],
        &[0xc4, 1, 9],
        &[0xc5, 0, 1, 9],
        &[0xc6, 0, 0, 0, 1, 9],
        &[0xc7, 1, 5, 9],
        &[0xc8, 0, 1, 5, 9],
        &[0xc9, 0, 0, 0, 1, 5, 9],
        &[0xca, 0, 0, 0, 0],
        &[0xcb, 0, 0, 0, 0, 0, 0, 0, 0],
        &[0xcc, 0],
        &[0xcd, 0, 0],
        &[0xce, 0, 0, 0, 0],
        &[0xcf, 0, 0, 0, 0, 0, 0, 0, 0],
        &[0xd0, 0],
        &[0xd1, 0, 0],
        &[0xd2, 0, 0, 0, 0],
        &[0xd3, 0, 0, 0, 0, 0, 0, 0, 0],
        &[0xd4, 5, 9],
        &[0xd5, 5, 9, 9],
        &[0xd6, 5, 9, 9, 9, 9],
        &[0xd7, 5, 9, 9, 9, 9, 9, 9, 9, 9],
        &[0xd8, 5, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9],
        &[0xd9, 1, b'x'],
        &[0xda, 0, 1, b'x'],
        &[0xdb, 0, 0, 0, 1, b'x'],
        &[0xdc, 0, 1, 7],
        &[0xdd, 0, 0, 0, 1, 7],
        &[0xde, 0, 1, 7, 8],
        &[0xdf, 0, 0, 0, 1, 7, 8],
    ];

    #[test]
    fn a_document_ends_where_the_specification_says() {
        for &bytes in DOCUMENTS {
            assert_eq!(document(bytes).unwrap(), bytes, "{bytes:x?}");
            let more = [bytes, &[0xc1]].concat();
            assert_eq!(document(&more).unwrap(), bytes, "{bytes:x?} and another byte");
            for cut in 0..bytes.len() {
                let kind = document(&bytes[..cut]).unwrap_err().kind();
                assert_eq!(kind, ErrorKind::Eof, "{bytes:x?} cut at {cut}");
            }
        }
    }

    #[test]
    fn a_count_that_lies_ends_with_the_input() {
        for bytes in [
            &[0xdd, 0xff, 0xff, 0xff, 0xff][..],
            &[0xdf, 0xff, 0xff, 0xff, 0xff, 0x01],
            &[0xc6, 0xff, 0xff, 0xff, 0xff, 0x01],
        ] {
            assert_eq!(document(bytes).unwrap_err().kind(), ErrorKind::Eof, "{bytes:x?}");
        }
        let nested = vec![0x91; 1_000_000];
        assert_eq!(document(&nested).unwrap_err().kind(), ErrorKind::Eof);
    }
}
