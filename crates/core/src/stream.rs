//! Several documents in one byte string, as [`Framing`] says, and the varint of the lengths.
//!
//! These are the default bodies of [`Codec::encode_each`], [`Codec::decode_each`] and their twins
//! over writers and readers.

use std::io::{Read, Write};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::{Codec, Error, ErrorKind, Framing, Result, append};

/// Why documents that follow one another without a length need a byte each.
const NO_BYTES: &str = "a document of no bytes cannot be found in a stream";

/// The most bytes a varint takes: 64 bits in groups of 7.
pub const VARINT_MAX_BYTES: usize = 10;

/// How much [`Codec::decode_each_from`] asks a reader for at a time.
pub const CHUNK_BYTES: usize = 64 * 1024;

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
        values.into_iter().try_for_each(|value| encode_one(codec, framing, value, out))
    })
}

pub(crate) fn encode_each_to<C, T, I, W>(
    codec: &mut C,
    values: I,
    mut writer: W,
) -> Result<()>
where
    C: Codec,
    T: Serialize,
    I: IntoIterator<Item = Result<T>>,
    W: Write,
{
    let framing = codec.profile().framing;
    let mut document = Vec::new();
    for value in values {
        document.clear();
        encode_one(codec, framing, &value?, &mut document)?;
        writer.write_all(&document)?;
    }
    Ok(())
}

#[inline]
fn encode_one<C: Codec, T: Serialize + ?Sized>(
    codec: &mut C,
    framing: Framing,
    value: &T,
    out: &mut Vec<u8>,
) -> Result<()> {
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
    Ok(())
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
        start += decode_one(codec, framing, rest, start, &mut each)?;
    }
    Ok(())
}

/// Reads the document at the start of `rest`, which is not empty and begins at `start`, and hands
/// it to `each`; a blank line holds none. Returns the bytes taken, never 0.
#[inline]
fn decode_one<'de, C, T, F>(
    codec: &mut C,
    framing: Framing,
    rest: &'de [u8],
    start: usize,
    each: F,
) -> Result<usize>
where
    C: Codec,
    T: Deserialize<'de>,
    F: FnOnce(T) -> Result<()>,
{
    match framing {
        Framing::Lines => {
            let end = rest.iter().position(|&byte| byte == b'\n');
            let line = rest.get(..end.unwrap_or(rest.len())).unwrap_or(rest);
            // A blank line holds no document: editors and `cat` leave them.
            if !line.trim_ascii().is_empty() {
                each(codec.decode(line).map_err(|error| error.shifted_by(start))?)?;
            }
            Ok(line.len() + usize::from(end.is_some()))
        }
        Framing::BackToBack => {
            let (value, taken) =
                codec.decode_prefix(rest).map_err(|error| error.shifted_by(start))?;
            if taken == 0 {
                // A document of no bytes would be found here for ever.
                return Err(Error::syntax("a document of no bytes").at(start));
            }
            each(value)?;
            Ok(taken)
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
            Ok(prefix + document.len())
        }
        Framing::Stream => Err(no_default()),
    }
}

pub(crate) fn decode_each_from<C, T, R, F>(
    codec: &mut C,
    reader: R,
    mut each: F,
) -> Result<()>
where
    C: Codec,
    T: DeserializeOwned,
    R: Read,
    F: FnMut(T) -> Result<()>,
{
    let framing = codec.profile().framing;
    let mut window = Window::new(reader);
    loop {
        // A document is only tried when it may be whole, so that one of many chunks is not
        // tried at each of them.
        if !window.is_at_end && !may_be_whole(framing, &window) {
            window.fill()?;
            continue;
        }
        if window.rest().is_empty() {
            return Ok(());
        }
        let mut is_decoded = false;
        let decoded = |value| {
            is_decoded = true;
            each(value)
        };
        let start = window.offset();
        match decode_one(codec, framing, window.rest(), start, decoded) {
            Ok(taken) => window.take(taken),
            // More may come; an end that `each` speaks of is its own.
            Err(error)
                if error.kind() == ErrorKind::Eof && !is_decoded && !window.is_at_end =>
            {
                window.fill()?;
            }
            Err(error) => return Err(error),
        }
    }
}

/// Whether the window could hold all of a document.
fn may_be_whole<R>(framing: Framing, window: &Window<R>) -> bool {
    let rest = window.rest();
    match framing {
        Framing::Lines => rest.contains(&b'\n'),
        Framing::LengthPrefixed => match take_varint(rest) {
            Ok((length, prefix)) => length <= (rest.len() - prefix) as u64,
            Err(error) => error.kind() != ErrorKind::Eof,
        },
        // It tells its own end: trying is the way to find out.
        Framing::BackToBack | Framing::Stream => !rest.is_empty(),
    }
}

/// What was read and not yet taken.
struct Window<R> {
    reader: R,
    bytes: Vec<u8>,
    start: usize,
    /// Bytes taken that `bytes` does not hold any more.
    dropped: usize,
    is_at_end: bool,
}

impl<R> Window<R> {
    fn new(reader: R) -> Self {
        Self { reader, bytes: Vec::new(), start: 0, dropped: 0, is_at_end: false }
    }

    fn rest(&self) -> &[u8] {
        self.bytes.get(self.start..).unwrap_or_default()
    }

    fn take(&mut self, count: usize) {
        self.start += count;
    }

    /// Where the rest begins, counted from where the reader began.
    fn offset(&self) -> usize {
        self.dropped + self.start
    }
}

impl<R: Read> Window<R> {
    /// Reads on: as much again as the rest holds, since the document in it is longer than that,
    /// and at least a chunk. Fewer bytes mean that the reader has ended.
    fn fill(&mut self) -> Result<()> {
        self.bytes.drain(..self.start);
        self.dropped += self.start;
        self.start = 0;
        let wanted = self.bytes.len().max(CHUNK_BYTES) as u64;
        let read = self.reader.by_ref().take(wanted).read_to_end(&mut self.bytes)?;
        self.is_at_end = (read as u64) < wanted;
        Ok(())
    }
}

fn no_default() -> Error {
    Error::unsupported("a codec with a stream of its own encodes and decodes it itself")
}

/// A reader that knows how many bytes it gave: the offset for errors of libraries that tell none.
///
/// ```
/// use std::io::Read;
///
/// let mut reader = wiremark_core::stream::Counted::new(&b"abc"[..]);
/// reader.read_exact(&mut [0; 2])?;
/// assert_eq!(reader.count(), 2);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Counted<R> {
    reader: R,
    count: usize,
}

impl<R> Counted<R> {
    /// Begins to count.
    pub fn new(reader: R) -> Self {
        Self { reader, count: 0 }
    }

    /// Bytes given so far.
    pub fn count(&self) -> usize {
        self.count
    }
}

impl<R: Read> Counted<R> {
    /// Checks that nothing comes any more.
    ///
    /// # Errors
    /// [`Syntax`](ErrorKind::Syntax) at the offset of a byte that does, and
    /// [`Io`](ErrorKind::Io).
    pub fn end(mut self) -> Result<()> {
        let mut next = Vec::new();
        // Two, so that a single byte is told from more.
        match self.reader.by_ref().take(2).read_to_end(&mut next)? {
            0 => Ok(()),
            1 => Err(Error::trailing(self.count, 1)),
            _ => {
                let text = "expected the end of the input, found more bytes";
                Err(Error::syntax(text).at(self.count))
            }
        }
    }
}

impl<R: Read> Read for Counted<R> {
    #[inline]
    fn read(&mut self, space: &mut [u8]) -> std::io::Result<usize> {
        let read = self.reader.read(space)?;
        self.count += read;
        Ok(read)
    }
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
