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
const FEW: usize = 16;

/// The keys of a hash so far.
pub(crate) struct Seen<'b> {
    len: usize,
    prints: [u64; FEW],
    keys: [Place; FEW],
    /// Bytes, and whether they are characters above ASCII.
    many: HashSet<(&'b [u8], bool)>,
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
        Self {
            len: 0,
            prints: [0; FEW],
            keys: [Place { start: 0, end: 0, is_text: false }; FEW],
            many: HashSet::new(),
        }
    }

    /// Notes a key.
    #[inline]
    pub(crate) fn add(&mut self, state: &State<'b, '_>, key: Place) -> Result<()> {
        let bytes = state.bytes(key);
        if self.len >= FEW {
            return self.add_to_many(state, key);
        }
        let print = fingerprint(bytes);
        for (known, place) in self.prints.iter().zip(&self.keys).take(self.len) {
            if *known == print
                && state.bytes(*place) == bytes
                && (place.is_text == key.is_text || bytes.is_ascii())
            {
                return Err(twice(state, bytes));
            }
        }
        if let (Some(to), Some(place)) =
            (self.prints.get_mut(self.len), self.keys.get_mut(self.len))
        {
            *to = print;
            *place = key;
        }
        self.len = self.len.saturating_add(1);
        Ok(())
    }

    fn add_to_many(&mut self, state: &State<'b, '_>, key: Place) -> Result<()> {
        let entry = |place: Place| {
            let bytes = state.bytes(place);
            (bytes, place.is_text && !bytes.is_ascii())
        };
        if self.many.is_empty() {
            self.many.extend(self.keys.iter().copied().map(entry));
        }
        let (bytes, is_wide) = entry(key);
        if self.many.insert((bytes, is_wide)) { Ok(()) } else { Err(twice(state, bytes)) }
    }
}

#[cold]
fn twice(state: &State<'_, '_>, key: &[u8]) -> Error {
    let key = String::from_utf8_lossy(key.get(..key.len().min(64)).unwrap_or_default());
    Error::data(format!("expected each key once, found `{key}` again")).at(state.offset())
}
