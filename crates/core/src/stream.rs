//! Several documents in one byte string, as [`Framing`] says, and the varint of the lengths.
//!
//! These are the default bodies of [`Codec::encode_each`] and [`Codec::decode_each`].

use serde::{Deserialize, Serialize};

use crate::{Codec, Error, Framing, Result, append};

/// Why documents that follow one another without a length need a byte each.
const NO_BYTES: &str = "a document of no bytes cannot be found in a stream";

/// The most bytes a varint takes: 64 bits in groups of 7.
pub const VARINT_MAX_BYTES: usize = 10;

pub(crate) fn encode_each<'a, C, T, I>(
    codec: &mut C,
    values: I,
    out: &mut Vec<u8>,
) -> Result<()>
where
    C: Codec,
    T: Serialize + ?Sized + 'a,
    I: IntoIterator<Item = &'a T>,
{
    let framing = codec.profile().framing;
    append(out, |out| {
        for value in values {
            match framing {
                Framing::Lines => {
                    codec.encode_into(value, out)?;
                    out.push(b'\n');
                }
                Framing::BackToBack => {
                    let start = out.len();
                    codec.encode_into(value, out)?;
                    if out.len() == start {
                        // The reader would see none of them, however many there are.
                        return Err(Error::unsupported(NO_BYTES));
                    }
                }
                Framing::LengthPrefixed => encode_prefixed(codec, value, out)?,
                Framing::Stream => return Err(no_default()),
            }
        }
        Ok(())
    })
}

fn encode_prefixed<C: Codec, T: Serialize + ?Sized>(
    codec: &mut C,
    value: &T,
    out: &mut Vec<u8>,
) -> Result<()> {
    // One byte is reserved for the length; the rare longer one moves the document.
    let start = out.len();
    out.push(0);
    codec.encode_into(value, out)?;
    let mut prefix = [0; VARINT_MAX_BYTES];
    let prefix = put_varint((out.len() - start - 1) as u64, &mut prefix);
    out.splice(start..=start, prefix.iter().copied());
    Ok(())
}

pub(crate) fn decode_each<'de, C, T, F>(
    codec: &mut C,
    bytes: &'de [u8],
    mut each: F,
) -> Result<()>
where
    C: Codec,
    T: Deserialize<'de>,
    F: FnMut(T) -> Result<()>,
{
    let framing = codec.profile().framing;
    let mut start = 0;
    while let Some(rest) = bytes.get(start..).filter(|rest| !rest.is_empty()) {
        let taken = match framing {
            Framing::Lines => {
                let end = rest.iter().position(|&byte| byte == b'\n');
                let line = rest.get(..end.unwrap_or(rest.len())).unwrap_or(rest);
                // A blank line holds no document: editors and `cat` leave them.
                if !line.trim_ascii().is_empty() {
                    each(codec.decode(line).map_err(|error| error.shifted_by(start))?)?;
                }
                line.len() + usize::from(end.is_some())
            }
            Framing::BackToBack => {
                let (value, taken) =
                    codec.decode_prefix(rest).map_err(|error| error.shifted_by(start))?;
                if taken == 0 {
                    // A document of no bytes would be found here for ever.
                    return Err(Error::syntax("a document of no bytes").at(start));
                }
                each(value)?;
                taken
            }
            Framing::LengthPrefixed => {
                let (length, prefix) =
                    take_varint(rest).map_err(|error| error.shifted_by(start))?;
                let left = rest.len() - prefix;
                let document = usize::try_from(length)
                    .ok()
                    .and_then(|length| rest.get(prefix..)?.get(..length))
                    .ok_or_else(|| {
                        let text = format!("expected {length} bytes, found {left}");
                        Error::eof(text).at(start + prefix)
                    })?;
                let inside = |error: Error| error.shifted_by(start + prefix);
                each(codec.decode(document).map_err(inside)?)?;
                prefix + document.len()
            }
            Framing::Stream => return Err(no_default()),
        };
        start += taken;
    }
    Ok(())
}

fn no_default() -> Error {
    Error::unsupported("a codec with a stream of its own encodes and decodes it itself")
}

/// Writes `number` as LEB128 into `space` and returns the bytes used.
///
/// ```
/// let mut space = [0; wiremark_core::stream::VARINT_MAX_BYTES];
/// assert_eq!(wiremark_core::stream::put_varint(300, &mut space), [0xac, 0x02]);
/// ```
pub fn put_varint(mut number: u64, space: &mut [u8; VARINT_MAX_BYTES]) -> &[u8] {
    let mut used = 0;
    for byte in space.iter_mut() {
        used += 1;
        let low = (number & 0x7f) as u8;
        number >>= 7;
        if number == 0 {
            *byte = low;
            break;
        }
        *byte = low | 0x80;
    }
    &space[..used]
}

/// Reads a LEB128 number at the start of `bytes`: the number and how many bytes it took.
///
/// ```
/// assert_eq!(wiremark_core::stream::take_varint(&[0xac, 0x02, 0xff])?, (300, 2));
/// # Ok::<(), wiremark_core::Error>(())
/// ```
///
/// # Errors
/// [`Eof`](crate::ErrorKind::Eof) if the bytes end inside it, [`Syntax`](crate::ErrorKind::Syntax)
/// if it does not fit in 64 bits.
pub fn take_varint(bytes: &[u8]) -> Result<(u64, usize)> {
    let mut number = 0_u64;
    let shifts = (0_u32..).step_by(7);
    for ((index, &byte), shift) in
        bytes.iter().take(VARINT_MAX_BYTES).enumerate().zip(shifts)
    {
        let low = u64::from(byte & 0x7f);
        if (low << shift) >> shift != low {
            return Err(Error::syntax("a varint beyond 64 bits").at(index));
        }
        number |= low << shift;
        if byte & 0x80 == 0 {
            return Ok((number, index + 1));
        }
    }
    if bytes.len() < VARINT_MAX_BYTES {
        Err(Error::eof("the input ends inside a varint").at(bytes.len()))
    } else {
        Err(Error::syntax("a varint of more than 10 bytes").at(VARINT_MAX_BYTES))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    // Values and bytes from the LEB128 examples of the DWARF 5 standard, 7.6, and the edges.
    const VARINTS: &[(u64, &[u8])] = &[
        (0, &[0x00]),
        (2, &[0x02]),
        (127, &[0x7f]),
        (128, &[0x80, 0x01]),
        (129, &[0x81, 0x01]),
        (12857, &[0xb9, 0x64]),
        (u64::MAX, &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]),
    ];

    #[test]
    fn varints_have_the_bytes_of_leb128() {
        for &(number, bytes) in VARINTS {
            assert_eq!(put_varint(number, &mut [0; VARINT_MAX_BYTES]), bytes);
            assert_eq!(take_varint(bytes).unwrap(), (number, bytes.len()));
        }
    }

    #[test]
    fn a_cut_varint_is_eof_and_a_long_one_is_syntax() {
        for &(_, bytes) in VARINTS {
            for cut in 0..bytes.len() {
                let error = take_varint(&bytes[..cut]).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Eof, "{bytes:x?} cut at {cut}");
            }
        }
        let too_big = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02];
        assert_eq!(take_varint(&too_big).unwrap_err().kind(), ErrorKind::Syntax);
        let too_long = [0x80; 11];
        assert_eq!(take_varint(&too_long).unwrap_err().kind(), ErrorKind::Syntax);
    }
}
