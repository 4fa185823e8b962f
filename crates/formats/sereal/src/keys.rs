//! Whether a hash has one key twice.
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::arithmetic_side_effects
)]

use std::collections::HashSet;

use crate::read::{Place, State};
use crate::{Error, Result};

/// As many keys are compared with one another; of more a table is made.
pub(crate) const FEW: usize = 16;

/// The keys of a hash so far.
pub(crate) struct Seen<'b> {
    len: usize,
    few: [Few; FEW],
    many: Option<Many<'b>>,
}

/// Bytes, and whether they are characters above ASCII.
type Many<'b> = HashSet<(&'b [u8], bool)>;

/// A key in 16 bytes, so that a new list is made quickly.
#[derive(Clone, Copy, Default)]
struct Few {
    print: u64,
    start: u32,
    /// The length, and the flag in the highest bit.
    len: u32,
}

/// The flag of [`Few::len`].
const IS_TEXT: u32 = 1 << 31;

impl Few {
    /// None for a key that lies behind the first 4 GiB, or is 2 GiB long.
    #[inline]
    fn new(print: u64, place: Place) -> Option<Self> {
        let start = u32::try_from(place.start).ok()?;
        let len = u32::try_from(place.end.wrapping_sub(place.start)).ok()?;
        let flag = if place.is_text() { IS_TEXT } else { 0 };
        (len < IS_TEXT).then_some(Self { print, start, len: len | flag })
    }

    fn place(self) -> Place {
        let (start, len) = (self.start as usize, (self.len & !IS_TEXT) as usize);
        let is_text = self.len & IS_TEXT != 0;
        Place::new(start, start.saturating_add(len), is_text)
    }
}

/// What two equal keys have in common, and few others do: all of a short key.
#[inline]
pub(crate) fn fingerprint(bytes: &[u8]) -> u64 {
    let len = bytes.len() as u64;
    let number = if let (Some(first), Some(last)) =
        (bytes.first_chunk::<8>(), bytes.last_chunk::<8>())
    {
        u64::from_le_bytes(*first) ^ u64::from_le_bytes(*last).rotate_left(25)
    } else if let (Some(first), Some(last)) =
        (bytes.first_chunk::<4>(), bytes.last_chunk::<4>())
    {
        u64::from(u32::from_le_bytes(*first))
            | (u64::from(u32::from_le_bytes(*last)) << 32)
    } else if let (Some(&first), Some(&last)) = (bytes.first(), bytes.last()) {
        let middle = bytes.get(bytes.len() >> 1).copied().unwrap_or(0);
        u64::from_le_bytes([first, middle, last, 0, 0, 0, 0, 0])
    } else {
        0
    };
    number.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23) ^ len
}

impl<'b> Seen<'b> {
    #[inline]
    pub(crate) fn new() -> Self {
        Self { len: 0, few: [Few::default(); FEW], many: None }
    }

    /// Notes a key.
    #[inline]
    pub(crate) fn add(&mut self, state: &State<'b, '_>, key: Place) -> Result<()> {
        let bytes = state.bytes(key);
        let print = fingerprint(bytes);
        let few = Few::new(print, key).filter(|_| self.len < FEW && self.many.is_none());
        let Some(few) = few else { return self.add_to_many(state, key) };
        for known in self.few.iter().take(self.len) {
            if known.print == print && is_same(state, known.place(), key) {
                return Err(twice(state, bytes));
            }
        }
        if let Some(to) = self.few.get_mut(self.len) {
            *to = few;
        }
        self.len = self.len.saturating_add(1);
        Ok(())
    }

    #[cold]
    fn add_to_many(&mut self, state: &State<'b, '_>, key: Place) -> Result<()> {
        let entry = |place: Place| {
            let bytes = state.bytes(place);
            (bytes, place.is_text() && !bytes.is_ascii())
        };
        let few = self.few.iter().take(self.len);
        let many =
            self.many.get_or_insert_with(|| few.map(|few| entry(few.place())).collect());
        let entry = entry(key);
        if many.insert(entry) { Ok(()) } else { Err(twice(state, entry.0)) }
    }
}

/// The bytes are the same, and so are the characters.
fn is_same(state: &State<'_, '_>, one: Place, other: Place) -> bool {
    let bytes = state.bytes(one);
    bytes == state.bytes(other) && (one.is_text() == other.is_text() || bytes.is_ascii())
}

#[cold]
pub(crate) fn twice(state: &State<'_, '_>, key: &[u8]) -> Error {
    let key = String::from_utf8_lossy(key.get(..key.len().min(64)).unwrap_or_default());
    Error::data(format!("expected each key once, found `{key}` again")).at(state.offset())
}
