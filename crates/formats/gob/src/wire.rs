//! Numbers and messages, without serde and without types: what the bytes are.
//!
//! | SPEC.md | put | take |
//! | --- | --- | --- |
//! | uint | [`put_uint`] | [`Wire::uint`] |
//! | int (zig-zag) | [`put_int`] | [`Wire::int`] |
//! | float (bytes reversed) | [`put_float`] | [`Wire::float`] |
//! | string, bytes | [`put_bytes`] | [`Wire::bytes`] |
//! | message | [`put_uint`] of the length | [`Wire::next_message`] |
//!
//! ```text
//! uint   < 128        one byte
//!        else         FF..F8 = minus the number of bytes, then 1..8 bytes, big-endian
//! stream = message*   message = uint(length) body
//! ```
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::arithmetic_side_effects
)]
#![expect(
    clippy::inline_always,
    reason = "left to itself, the compiler calls what writes three bytes: 1.3 times the time for \
              10,000 people"
)]

use std::io::Read;

use crate::{Error, ReadOptions, Result};

/// The longest form of an integer: one byte that says 8, and 8 bytes.
const UINT_MAX_BYTES: usize = 9;

/// A message of this length or more is refused, as Go does.
const MESSAGE_END: u64 = 1 << 33;

#[inline]
pub(crate) fn put_uint(out: &mut Vec<u8>, value: u64) {
    if value < 0x80 {
        out.push(value.to_le_bytes()[0]);
    } else {
        put_uint_long(out, value);
    }
}

fn put_uint_long(out: &mut Vec<u8>, value: u64) {
    let (space, used) = uint_bytes(value);
    out.extend_from_slice(
        space.get(UINT_MAX_BYTES.saturating_sub(used)..).unwrap_or_default(),
    );
}

/// The bytes of a uint at the end of the space, and how many they are.
pub(crate) fn uint_bytes(value: u64) -> ([u8; UINT_MAX_BYTES], usize) {
    let mut space = [0; UINT_MAX_BYTES];
    let bytes = value.to_be_bytes();
    for (to, from) in space.iter_mut().skip(1).zip(bytes) {
        *to = from;
    }
    if value < 0x80 {
        return (space, 1);
    }
    let zeros = (value.leading_zeros() / 8) as usize;
    let count = 8_usize.saturating_sub(zeros);
    if let Some(first) = space.get_mut(zeros) {
        // 0xFF says one byte, 0xF8 eight.
        *first = u8::MAX.wrapping_sub(count.to_le_bytes()[0]).wrapping_add(1);
    }
    (space, count.saturating_add(1))
}

#[inline]
pub(crate) const fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)).cast_unsigned()
}

#[inline]
pub(crate) const fn unzigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ (value & 1).cast_signed().wrapping_neg()
}

#[inline]
pub(crate) fn put_int(out: &mut Vec<u8>, value: i64) {
    put_uint(out, zigzag(value));
}

#[inline]
pub(crate) fn put_float(out: &mut Vec<u8>, value: f64) {
    put_uint(out, value.to_bits().swap_bytes());
}

#[inline]
pub(crate) fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_uint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// The bytes of a uint in a word, the first lowest, and how many they are.
#[inline(always)]
pub(crate) fn uint_word(value: u64) -> (u128, usize) {
    if value < 0x80 {
        return (u128::from(value), 1);
    }
    let zeros = value.leading_zeros() & 0x38;
    let bytes = u128::from((value << zeros).swap_bytes());
    // 0xFF says one byte, 0xF8 eight.
    let marker = 0xf8 | u128::from(zeros >> 3);
    let len = 9_usize.saturating_sub((zeros >> 3) as usize);
    (marker | bytes << 8, len)
}

/// A delta, unless it is 0, and a uint behind it, as one piece: several pushes in a row wait for
/// one another, each for the length that the one before has stored.
#[inline(always)]
pub(crate) fn put_delta_uint(out: &mut Vec<u8>, delta: u32, value: u64) {
    if (value | u64::from(delta)) >= 0x80 || out.capacity().wrapping_sub(out.len()) < ROOM
    {
        return put_delta_uint_long(out, delta, value);
    }
    let (delta, value) = (delta.to_le_bytes()[0], value.to_le_bytes()[0]);
    let end = out.len().wrapping_add(1).wrapping_add(usize::from(delta > 0));
    // Where there is no delta, the second byte does not count.
    out.extend_from_slice(&[if delta > 0 { delta } else { value }, value]);
    out.truncate(end);
}

#[inline(never)]
fn put_delta_uint_long(out: &mut Vec<u8>, delta: u32, value: u64) {
    if delta >= 0x80 {
        put_uint(out, u64::from(delta));
    }
    let delta = if delta < 0x80 { delta.to_le_bytes()[0] } else { 0 };
    let start = out.len();
    out.extend_from_slice(&[0; ROOM]);
    let Some(space) = out.get_mut(start..).and_then(|out| out.first_chunk_mut()) else {
        return;
    };
    space[0] = delta;
    let at = usize::from(delta > 0);
    let len = if value < 0x80 {
        put_at(space, at, [value.to_le_bytes()[0]]);
        1
    } else {
        let zeros = value.leading_zeros() & 0x38;
        // 0xFF says one byte, 0xF8 eight.
        put_at(space, at, [0xf8 | (zeros >> 3).to_le_bytes()[0]]);
        put_at(space, at.wrapping_add(1), (value << zeros).to_be_bytes());
        9_usize.wrapping_sub((zeros >> 3) as usize)
    };
    out.truncate(start.wrapping_add(at).wrapping_add(len));
}

/// A short piece is made in as much room, and what was too much is cut off.
const ROOM: usize = 32;

/// The longest text that is copied as two words.
const SHORT: usize = 16;

/// A delta, unless it is 0, and behind it a length and as many bytes.
#[inline(always)]
pub(crate) fn put_delta_bytes(out: &mut Vec<u8>, delta: u32, bytes: &[u8]) {
    let len = bytes.len();
    #[expect(clippy::needless_bitwise_bool, reason = "one jump for all that is unusual")]
    let is_unusual =
        (len > SHORT) | (delta >= 0x80) | (out.capacity().wrapping_sub(out.len()) < ROOM);
    if is_unusual {
        return put_delta_bytes_long(out, delta, bytes);
    }
    let start = out.len();
    out.extend_from_slice(&[0; ROOM]);
    let Some(space) = out.get_mut(start..).and_then(|out| out.first_chunk_mut()) else {
        return;
    };
    space[0] = delta.to_le_bytes()[0];
    let delta_len = usize::from(delta > 0);
    put_at(space, delta_len, [len.to_le_bytes()[0]]);
    let at = delta_len.wrapping_add(1);
    let end = at.wrapping_add(len);
    // Two pieces that overlap, in place of a copy whose length is not known beforehand.
    if let (Some(first), Some(last)) = (bytes.first_chunk::<8>(), bytes.last_chunk::<8>())
    {
        put_at(space, at, *first);
        put_at(space, end.wrapping_sub(8), *last);
    } else if let (Some(first), Some(last)) =
        (bytes.first_chunk::<4>(), bytes.last_chunk::<4>())
    {
        put_at(space, at, *first);
        put_at(space, end.wrapping_sub(4), *last);
    } else if let (Some(first), Some(middle), Some(last)) =
        (bytes.first(), bytes.get(len / 2), bytes.last())
    {
        put_at(space, at, [*first]);
        put_at(space, at.wrapping_add(len / 2), [*middle]);
        put_at(space, end.wrapping_sub(1), [*last]);
    }
    out.truncate(start.wrapping_add(end));
}

#[inline(never)]
fn put_delta_bytes_long(out: &mut Vec<u8>, delta: u32, bytes: &[u8]) {
    out.reserve(bytes.len().saturating_add(ROOM));
    put_delta_uint(out, delta, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

#[inline(always)]
fn put_at<const N: usize>(space: &mut [u8; ROOM], at: usize, bytes: [u8; N]) {
    if let Some(space) = space.get_mut(at..).and_then(|space| space.first_chunk_mut()) {
        *space = bytes;
    }
}

/// Reads the parts of a message, and goes from one message to the next.
pub(crate) trait Wire {
    /// The next byte of the message.
    fn byte(&mut self) -> Result<u8>;
    /// The next `count` bytes of the message.
    fn take(&mut self, count: u64) -> Result<&[u8]>;
    /// Bytes left in the message.
    fn left(&self) -> usize;
    /// An upper bound of the bytes that may still come; a count above it is a lie.
    fn bound(&self) -> u64;
    /// Where the next byte stands in the stream.
    fn offset(&self) -> u64;
    /// Whether a struct may end with its message, as Go allows.
    fn is_lenient(&self) -> bool;
    /// An error that more messages could cure.
    fn starved(&mut self, message: &'static str) -> Error;
    /// Goes on with the next message; an error if there is none.
    fn next_message(&mut self) -> Result<()>;

    #[inline(always)]
    fn uint(&mut self) -> Result<u64> {
        let byte = self.byte()?;
        if byte < 0x80 { Ok(u64::from(byte)) } else { self.uint_rest(byte) }
    }

    /// What a uint's first byte of 0x80 or more announces.
    fn uint_rest(&mut self, first: u8) -> Result<u64> {
        let count = first.wrapping_neg();
        if count > 8 {
            let text =
                format!("an integer of more than 8 bytes, found the byte {first:#04x}");
            return Err(Error::syntax(text).at(self.offset()));
        }
        let mut value = 0_u64;
        for &byte in self.take(u64::from(count))? {
            value = value << 8 | u64::from(byte);
        }
        Ok(value)
    }

    #[inline]
    fn int(&mut self) -> Result<i64> {
        self.uint().map(unzigzag)
    }

    #[inline]
    fn float(&mut self) -> Result<f64> {
        self.uint().map(|bits| f64::from_bits(bits.swap_bytes()))
    }

    #[inline]
    fn bytes(&mut self) -> Result<&[u8]> {
        let count = self.uint()?;
        self.take(count)
    }

    /// An error at the present place.
    #[cold]
    fn wrong(&self, message: &'static str) -> Error {
        Error::syntax(message).at(self.offset())
    }
}

/// The reading head over a stream that lies in memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'de> {
    /// What is left of the present message.
    rest: &'de [u8],
    /// The present message.
    message: &'de [u8],
    /// What follows it.
    after: &'de [u8],
    /// Where the input ends in the stream.
    end: u64,
    /// Whether a message was asked for and none was there.
    pub(crate) hungry: bool,
    /// Whether a struct may end with its message.
    pub(crate) lenient: bool,
}

impl<'de> Cursor<'de> {
    /// A head before the first message of `input`, which begins at `base` of its stream.
    pub(crate) fn new(input: &'de [u8], base: u64) -> Self {
        let end = base.wrapping_add(input.len() as u64);
        Self { rest: &[], message: &[], after: input, end, hungry: false, lenient: false }
    }

    /// Bytes after the present message.
    pub(crate) fn after(&self) -> &'de [u8] {
        self.after
    }

    /// Passes over a byte if it is this one.
    #[inline(always)]
    pub(crate) fn take_if(&mut self, wanted: u8) -> bool {
        match self.rest.split_first() {
            Some((&byte, rest)) if byte == wanted => {
                self.rest = rest;
                true
            }
            _ => false,
        }
    }

    /// What was lent last, with all behind it in the message.
    pub(crate) fn last_and_rest(&self, lent: &'de [u8]) -> &'de [u8] {
        let start =
            self.message.len().saturating_sub(self.rest.len()).saturating_sub(lent.len());
        self.message.get(start..).unwrap_or_default()
    }

    /// Like [`Wire::take`], for as long as the input lives.
    #[inline(always)]
    pub(crate) fn lend(&mut self, count: u64) -> Result<&'de [u8]> {
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        match self.rest.split_at_checked(count) {
            Some((taken, rest)) => {
                self.rest = rest;
                Ok(taken)
            }
            None => Err(self.short(count)),
        }
    }

    /// Like [`Wire::bytes`], for as long as the input lives.
    #[inline(always)]
    pub(crate) fn lend_bytes(&mut self) -> Result<&'de [u8]> {
        let count = self.uint()?;
        self.lend(count)
    }

    #[cold]
    #[inline(never)]
    fn short(&self, count: usize) -> Error {
        let left = self.rest.len();
        let text =
            format!("expected {count} bytes, found {left} before the message ends");
        Error::syntax(text).at(self.offset())
    }

    #[cold]
    #[inline(never)]
    fn cut(&mut self) -> Error {
        self.starved("expected another message, found the end of the stream")
    }
}

impl Wire for Cursor<'_> {
    #[inline(always)]
    fn byte(&mut self) -> Result<u8> {
        match self.rest.split_first() {
            Some((&byte, rest)) => {
                self.rest = rest;
                Ok(byte)
            }
            None => Err(self.short(1)),
        }
    }

    #[inline]
    fn take(&mut self, count: u64) -> Result<&[u8]> {
        self.lend(count)
    }

    #[inline(never)]
    fn uint_rest(&mut self, first: u8) -> Result<u64> {
        let bytes = first.wrapping_neg();
        let count = usize::from(bytes);
        if count > 8 {
            let text =
                format!("an integer of more than 8 bytes, found the byte {first:#04x}");
            return Err(Error::syntax(text).at(self.offset()));
        }
        // One load where 8 bytes are left in the message, whatever of them is meant.
        if let Some((word, _)) = self.rest.split_first_chunk::<8>() {
            let unused = 64_u32.saturating_sub(u32::from(bytes).saturating_mul(8));
            self.rest = self.rest.get(count..).unwrap_or_default();
            return Ok(u64::from_be_bytes(*word) >> unused);
        }
        let mut value = 0_u64;
        for &byte in self.lend(count as u64)? {
            value = value << 8 | u64::from(byte);
        }
        Ok(value)
    }

    #[inline]
    fn left(&self) -> usize {
        self.rest.len()
    }

    #[inline]
    fn bound(&self) -> u64 {
        (self.rest.len() as u64).saturating_add(self.after.len() as u64)
    }

    fn offset(&self) -> u64 {
        self.end.wrapping_sub(self.bound())
    }

    fn is_lenient(&self) -> bool {
        self.lenient
    }

    #[cold]
    fn starved(&mut self, message: &'static str) -> Error {
        self.hungry = true;
        Error::eof(message).at(self.end)
    }

    fn next_message(&mut self) -> Result<()> {
        if self.after.is_empty() {
            return Err(self.cut());
        }
        // The length is read as if the rest of the stream were one message.
        let mut head = Cursor { rest: self.after, after: &[], ..*self };
        let Ok(count) = head.uint() else {
            // Nine bytes or more were there, or the length itself is cut.
            let first = self.after.first().copied().unwrap_or_default();
            let broken = first.wrapping_neg() > 8;
            return Err(if broken { bad_length(self.offset()) } else { self.cut() });
        };
        check_length(count, self.offset())?;
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        if let Some((rest, after)) = head.rest.split_at_checked(count) {
            self.rest = rest;
            self.message = rest;
            self.after = after;
            return Ok(());
        }
        let left = head.rest.len();
        let text = format!("expected a message of {count} bytes, found {left}");
        self.hungry = true;
        Err(Error::eof(text).at(self.end))
    }
}

#[cold]
fn bad_length(offset: u64) -> Error {
    Error::syntax(
        "expected the length of a message, found an integer of more than 8 bytes",
    )
    .at(offset)
}

fn check_length(count: u64, offset: u64) -> Result<()> {
    match count {
        0 => Err(Error::syntax("expected a message, found one of no bytes").at(offset)),
        1..MESSAGE_END => Ok(()),
        _ => {
            let text =
                format!("expected a message below 8 GiB, found one of {count} bytes");
            Err(Error::syntax(text).at(offset))
        }
    }
}

/// Reads messages from an `io::Read` into one buffer, never a byte more than they have.
#[derive(Debug)]
pub(crate) struct Feed<R> {
    pub(crate) reader: R,
    /// The messages of the present value, one after the other, with their lengths.
    pub(crate) buffer: Vec<u8>,
    /// Where `buffer` begins in the stream.
    pub(crate) base: u64,
    /// Where in the buffer the next byte of the present message stands.
    position: usize,
    max_message: u64,
    max_value: u64,
    lenient: bool,
}

/// How much is reserved at once for bytes that were only announced.
const STEP: u64 = 64 * 1024;

impl<R: Read> Feed<R> {
    pub(crate) fn new(reader: R, options: &ReadOptions) -> Self {
        Self {
            reader,
            buffer: Vec::new(),
            base: 0,
            position: 0,
            max_message: options.max_message_bytes,
            max_value: options.max_value_bytes,
            lenient: options.lenient,
        }
    }

    /// Forgets what was read: the next message begins a new value.
    pub(crate) fn begin(&mut self) {
        self.base = self.base.wrapping_add(self.buffer.len() as u64);
        self.buffer.clear();
        self.position = 0;
        // One large value shall not hold its memory for ever.
        self.buffer.shrink_to(1 << 20);
    }

    /// Goes to the first byte of the first message in the buffer.
    pub(crate) fn rewind(&mut self) {
        let mut cursor = Cursor::new(&self.buffer, self.base);
        let left = if cursor.next_message().is_ok() { cursor.bound() } else { 0 };
        self.position =
            self.buffer.len().saturating_sub(usize::try_from(left).unwrap_or(0));
    }

    /// Reads the next message; false at the clean end of the stream.
    pub(crate) fn read_message(&mut self) -> Result<bool> {
        let start = self.base.wrapping_add(self.buffer.len() as u64);
        let Some(first) = self.read_byte()? else { return Ok(false) };
        let count = if first < 0x80 {
            u64::from(first)
        } else {
            let count = first.wrapping_neg();
            if count > 8 {
                return Err(bad_length(start));
            }
            let mut value = 0_u64;
            for _ in 0..count {
                let byte = self.read_byte()?.ok_or_else(|| self.ended())?;
                value = value << 8 | u64::from(byte);
            }
            value
        };
        if count == 0 && self.lenient {
            return Ok(false);
        }
        check_length(count, start)?;
        let used = self.buffer.len() as u64;
        if count > self.max_message || used.saturating_add(count) > self.max_value {
            let text =
                format!("a message of {count} bytes is beyond the limit of this reader");
            return Err(Error::limit(text).at(start));
        }
        self.position = self.buffer.len();
        let mut missing = count;
        while missing > 0 {
            let step = missing.min(STEP);
            let got = (&mut self.reader).take(step).read_to_end(&mut self.buffer)? as u64;
            if got == 0 {
                return Err(self.ended());
            }
            missing = missing.saturating_sub(got);
        }
        Ok(true)
    }

    fn read_byte(&mut self) -> Result<Option<u8>> {
        let got = (&mut self.reader).take(1).read_to_end(&mut self.buffer)?;
        Ok(if got == 0 { None } else { self.buffer.last().copied() })
    }

    #[cold]
    fn ended(&self) -> Error {
        let end = self.base.wrapping_add(self.buffer.len() as u64);
        Error::eof("the stream ends inside a message").at(end)
    }
}

impl<R: Read> Wire for Feed<R> {
    fn byte(&mut self) -> Result<u8> {
        // It took one or failed.
        Ok(self.take(1)?.first().copied().unwrap_or_default())
    }

    fn take(&mut self, count: u64) -> Result<&[u8]> {
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        let start = self.position;
        let end = start.checked_add(count).filter(|&end| end <= self.buffer.len());
        match end {
            Some(end) => {
                self.position = end;
                Ok(self.buffer.get(start..end).unwrap_or_default())
            }
            None => Err(self.wrong("expected more bytes, found the end of the message")),
        }
    }

    fn left(&self) -> usize {
        self.buffer.len().saturating_sub(self.position)
    }

    fn bound(&self) -> u64 {
        // More may come, so only the limit is sure.
        self.max_value
    }

    fn offset(&self) -> u64 {
        self.base.wrapping_add(self.position as u64)
    }

    fn is_lenient(&self) -> bool {
        self.lenient
    }

    #[cold]
    fn starved(&mut self, message: &'static str) -> Error {
        Error::eof(message).at(self.offset())
    }

    fn next_message(&mut self) -> Result<()> {
        if self.read_message()? {
            Ok(())
        } else {
            Err(self.starved("expected another message, found the end of the stream"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes as Go writes them: the edges of each length.
    const UINTS: &[(u64, &[u8])] = &[
        (0, &[0x00]),
        (127, &[0x7f]),
        (128, &[0xff, 0x80]),
        (255, &[0xff, 0xff]),
        (256, &[0xfe, 0x01, 0x00]),
        (65_535, &[0xfe, 0xff, 0xff]),
        (65_536, &[0xfd, 0x01, 0x00, 0x00]),
        (1 << 32, &[0xfb, 1, 0, 0, 0, 0]),
        (1 << 63, &[0xf8, 0x80, 0, 0, 0, 0, 0, 0, 0]),
        (u64::MAX, &[0xf8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]),
    ];

    fn message(body: &[u8]) -> Cursor<'_> {
        Cursor {
            rest: body,
            message: body,
            after: &[],
            end: body.len() as u64,
            hungry: false,
            lenient: false,
        }
    }

    #[test]
    fn a_uint_has_the_shortest_bytes() {
        for &(value, bytes) in UINTS {
            let mut out = Vec::new();
            put_uint(&mut out, value);
            assert_eq!(out, bytes, "{value}");
            assert_eq!(message(bytes).uint().unwrap(), value);
            // With bytes behind it, the one-load path is taken.
            let padded = [bytes, &[0xaa; 9]].concat();
            let mut cursor = message(&padded);
            assert_eq!(cursor.uint().unwrap(), value);
            assert_eq!(cursor.left(), 9);
        }
    }

    #[test]
    fn a_delta_and_what_follows_are_one_piece() {
        for delta in [0, 1, 127, 128, 300] {
            let mut head = Vec::new();
            if delta > 0 {
                put_uint(&mut head, u64::from(delta));
            }
            // With room for a short piece and without.
            for room in [0, 100] {
                for &(value, bytes) in UINTS {
                    let mut out = Vec::with_capacity(room);
                    out.push(7);
                    put_delta_uint(&mut out, delta, value);
                    assert_eq!(out, [&[7], &head[..], bytes].concat(), "{delta} {value}");
                }
                for len in 0..40_u8 {
                    let text: Vec<u8> = (100..100 + len).collect();
                    let mut out = Vec::with_capacity(room);
                    out.push(7);
                    put_delta_bytes(&mut out, delta, &text);
                    let expected = [&[7], &head[..], &[len], &text].concat();
                    assert_eq!(out, expected, "{delta} {len}");
                }
            }
        }
    }

    #[test]
    fn an_int_alternates_its_sign() {
        let table: &[(i64, &[u8])] = &[
            (0, &[0x00]),
            (-1, &[0x01]),
            (1, &[0x02]),
            (63, &[0x7e]),
            (-64, &[0x7f]),
            (64, &[0xff, 0x80]),
            (-65, &[0xff, 0x81]),
            (127, &[0xff, 0xfe]),
            (-129, &[0xfe, 0x01, 0x01]),
            (i64::MIN, &[0xf8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]),
        ];
        for &(value, bytes) in table {
            let mut out = Vec::new();
            put_int(&mut out, value);
            assert_eq!(out, bytes, "{value}");
            assert_eq!(message(bytes).int().unwrap(), value);
        }
    }

    #[test]
    fn a_float_begins_with_its_exponent() {
        let table: &[(f64, &[u8])] = &[
            (0.0, &[0x00]),
            (1.0, &[0xfe, 0xf0, 0x3f]),
            (17.0, &[0xfe, 0x31, 0x40]),
            (-0.0, &[0xff, 0x80]),
            (0.1, &[0xf8, 0x9a, 0x99, 0x99, 0x99, 0x99, 0x99, 0xb9, 0x3f]),
            (f64::INFINITY, &[0xfe, 0xf0, 0x7f]),
            (f64::from(0.1_f32), &[0xfb, 0xa0, 0x99, 0x99, 0xb9, 0x3f]),
        ];
        for &(value, bytes) in table {
            let mut out = Vec::new();
            put_float(&mut out, value);
            assert_eq!(out, bytes, "{value}");
            assert_eq!(message(bytes).float().unwrap().to_bits(), value.to_bits());
        }
    }

    #[test]
    fn long_forms_are_read_and_longer_ones_refused() {
        assert_eq!(message(&[0xfe, 0x00, 0x05]).uint().unwrap(), 5);
        for first in 0x80..=0xf7 {
            let bytes = [first, 0, 0, 0, 0, 0, 0, 0, 0, 0];
            assert!(message(&bytes).uint().is_err(), "{first:#x}");
        }
    }

    #[test]
    fn both_wires_read_the_same() {
        let stream = [3, 4, 0, 6, 2, 0xff, 0x80];
        let mut cursor = Cursor::new(&stream, 0);
        let mut feed = Feed::new(&stream[..], &ReadOptions::new());
        for wire in [&mut cursor as &mut dyn Wire, &mut feed] {
            wire.next_message().unwrap();
            assert_eq!(wire.left(), 3);
            assert_eq!(wire.uint().unwrap(), 4);
            assert_eq!(wire.offset(), 2);
            assert_eq!(wire.take(2).unwrap(), [0, 6]);
            assert!(wire.byte().is_err());
            wire.next_message().unwrap();
            assert_eq!(wire.uint().unwrap(), 128);
            assert!(wire.next_message().is_err());
        }
    }
}
