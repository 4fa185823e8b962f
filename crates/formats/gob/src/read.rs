//! Reading values without serde: what all readers share, and passing over a value.
//!
//! Messages, values and interfaces of SPEC.md are read here; what becomes of them is in `de`.
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::arithmetic_side_effects
)]

use crate::types::{Kind, Role, Slot, TypeLimits, Types};
use crate::wire::{Cursor, Wire};
use crate::{Error, Result};

/// The longest name of an interface's type, as in Go.
pub(crate) const MAX_INTERFACE_NAME: usize = 1024;

/// How streams are read: limits, and how far the target may differ from what was sent.
///
/// ```
/// use wiremark_gob::{Deserializer, ReadOptions};
///
/// let bytes = wiremark_gob::to_vec(&vec![vec![1_u16]])?;
/// let flat = ReadOptions::new().with_max_depth(1);
/// let error = Deserializer::from_slice(&bytes).with_options(flat).read::<Vec<Vec<u16>>>();
/// assert_eq!(error.unwrap_err().kind(), wiremark_gob::ErrorKind::Limit);
/// # Ok::<(), wiremark_gob::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent switches")]
pub struct ReadOptions {
    pub(crate) max_depth: u32,
    pub(crate) max_message_bytes: u64,
    pub(crate) max_value_bytes: u64,
    pub(crate) max_zeros: Option<u64>,
    pub(crate) types: TypeLimits,
    pub(crate) strict: bool,
    pub(crate) zeros: bool,
    pub(crate) restarts: bool,
    pub(crate) lenient: bool,
    pub(crate) go_names: bool,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl ReadOptions {
    /// The defaults: 128 levels, messages and values of at most 1 GiB, 65,536 types, 1,048,576
    /// fields; lenient between integers and floats, text and bytes, arrays and slices.
    pub const fn new() -> Self {
        Self {
            max_depth: wiremark_core::depth::MAX_DEPTH,
            max_message_bytes: 1 << 30,
            max_value_bytes: 1 << 30,
            max_zeros: None,
            types: TypeLimits { types: 65_536, fields: 1 << 20 },
            strict: false,
            zeros: true,
            restarts: false,
            lenient: false,
            go_names: false,
        }
    }

    /// How many structs, slices, arrays and maps may stand inside one another; twice as many
    /// interfaces, options and newtypes.
    #[must_use]
    pub const fn with_max_depth(mut self, levels: u32) -> Self {
        self.max_depth = levels;
        self
    }

    /// The longest message that is read from an `io::Read`.
    #[must_use]
    pub const fn with_max_message_bytes(mut self, bytes: u64) -> Self {
        self.max_message_bytes = bytes;
        self
    }

    /// The most bytes that all messages of one value may have, read from an `io::Read`.
    #[must_use]
    pub const fn with_max_value_bytes(mut self, bytes: u64) -> Self {
        self.max_value_bytes = bytes;
        self
    }

    /// How many types a stream may define, and how many fields they may have together.
    #[must_use]
    pub const fn with_max_types(mut self, types: usize, fields: usize) -> Self {
        self.types = TypeLimits { types, fields };
        self
    }

    /// How many fields that a value leaves out are filled in, in one value. A short value of a
    /// type with many fields can have very many, so there is a limit: by default 65,536 and
    /// 64 for each byte of the value, and where the target takes values of any kind 16,384
    /// and one for each byte.
    #[must_use]
    pub const fn with_max_zeros(mut self, fields: u64) -> Self {
        self.max_zeros = Some(fields);
        self
    }

    /// Go's own table of what may be read into what: no integer into a float, no text into
    /// bytes, no slice into an array, and a struct must have a field in common with its target.
    #[must_use]
    pub const fn with_strict(mut self, strict: bool) -> Self {
        self.strict = strict;
        self
    }

    /// Whether a field that the sender's type has and the value leaves out is handed to the
    /// target as zero (the default, since Go leaves out what is zero), or not at all: then
    /// `#[serde(default)]` fills it, and `deserialize_in_place` keeps what was there.
    #[must_use]
    pub const fn with_zeros(mut self, zeros: bool) -> Self {
        self.zeros = zeros;
        self
    }

    /// Takes a type that is defined twice for the beginning of another stream, so that a file
    /// to which several encoders appended can be read. Without it that is an error, as in Go.
    #[must_use]
    pub const fn with_concatenated(mut self, concatenated: bool) -> Self {
        self.restarts = concatenated;
        self
    }

    /// Whether Go's names of fields become Rust's: `FirstName` and `UserID` are read as
    /// `first_name` and `user_id`; an enum's variant is found by either name. The counterpart of
    /// [`WriteOptions::with_go_names`](crate::WriteOptions::with_go_names).
    #[must_use]
    pub const fn with_go_names(mut self, go_names: bool) -> Self {
        self.go_names = go_names;
        self
    }

    /// Takes what Go takes and no encoder writes: a struct that ends with its message instead
    /// of its mark, bytes behind a value in its message, and a message of no bytes as the end
    /// of the stream.
    #[must_use]
    pub const fn with_lenient_ends(mut self, lenient: bool) -> Self {
        self.lenient = lenient;
        self
    }
}

/// How many levels may still be entered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Levels {
    max: u32,
    depth: u32,
    wraps: u32,
}

impl Levels {
    pub(crate) fn new(max: u32) -> Self {
        Self { max, depth: max, wraps: max.saturating_mul(2) }
    }

    /// Enters a struct, slice, array or map.
    #[inline]
    pub(crate) fn enter(&mut self) -> Result<()> {
        match self.depth.checked_sub(1) {
            Some(depth) => {
                self.depth = depth;
                Ok(())
            }
            None => Err(self.too_deep()),
        }
    }

    #[inline]
    pub(crate) fn leave(&mut self) {
        self.depth = self.depth.wrapping_add(1);
    }

    /// Enters an interface, an option or a newtype: what takes no level of its own.
    #[inline]
    pub(crate) fn wrap(&mut self) -> Result<()> {
        match self.wraps.checked_sub(1) {
            Some(wraps) => {
                self.wraps = wraps;
                Ok(())
            }
            None => Err(self.too_wrapped()),
        }
    }

    #[inline]
    pub(crate) fn unwrap(&mut self) {
        self.wraps = self.wraps.wrapping_add(1);
    }

    #[cold]
    fn too_deep(&self) -> Error {
        Error::limit(format!("expected at most {} levels of nesting", self.max))
    }

    #[cold]
    fn too_wrapped(&self) -> Error {
        let max = self.max.saturating_mul(2);
        let text =
            format!("expected at most {max} interfaces, options and newtypes nested");
        Error::limit(text)
    }
}

/// As many bytes are checked for UTF-8 at once.
const PIECE: usize = 512;

/// After so many pieces in a row that held one text only, texts are checked one by one until
/// there were as many as in a round.
const MAX_LONE: u32 = 4;
const LONE_ROUND: u32 = 64;

/// Everything that reading one value needs.
#[derive(Debug)]
pub(crate) struct State<'a, 'de> {
    pub(crate) cursor: Cursor<'de>,
    pub(crate) types: &'a mut Types,
    pub(crate) levels: Levels,
    pub(crate) strict: bool,
    pub(crate) zeros: bool,
    pub(crate) go_names: bool,
    /// Elements for which room may still be made before they are seen.
    hints: u64,
    /// A piece of the message that is UTF-8 as a whole, whatever in it is text.
    checked: &'de str,
    /// How many times in a row such a piece held no more than the text it was made for.
    lone_texts: u32,
    /// Left-out fields that may still be filled in, where the target says what it wants.
    pub(crate) typed_zeros: u64,
    /// The same where it takes anything.
    pub(crate) any_zeros: u64,
}

impl<'a, 'de> State<'a, 'de> {
    pub(crate) fn new(
        mut cursor: Cursor<'de>,
        types: &'a mut Types,
        options: &ReadOptions,
    ) -> Self {
        cursor.lenient = options.lenient;
        let bytes = cursor.bound();
        let zeros = |least: u64, each: u64| {
            options.max_zeros.unwrap_or(least.saturating_add(bytes.saturating_mul(each)))
        };
        Self {
            cursor,
            types,
            levels: Levels::new(options.max_depth),
            strict: options.strict,
            zeros: options.zeros,
            go_names: options.go_names,
            hints: (bytes / 8).saturating_add(1024),
            checked: "",
            lone_texts: 0,
            typed_zeros: zeros(65_536, 64),
            any_zeros: zeros(16_384, 1),
        }
    }

    /// Reads up to the next value and its type; none at the clean end of the stream.
    pub(crate) fn begin(&mut self) -> Result<Option<Slot>> {
        let after = self.cursor.after();
        if after.is_empty() || self.cursor.lenient && after.first() == Some(&0) {
            return Ok(None);
        }
        loop {
            self.cursor.next_message()?;
            if let Some(slot) = begin_message(&mut self.cursor, self.types)? {
                return Ok(Some(slot));
            }
        }
    }

    /// Checks that a value has used up its message.
    pub(crate) fn end(&self) -> Result<()> {
        match self.cursor.left() {
            0 => Ok(()),
            left => {
                let text =
                    format!("expected the end of the message, found {left} more bytes");
                Err(Error::syntax(text).at(self.cursor.offset()))
            }
        }
    }

    /// Reads the number of elements; each takes a byte at least.
    #[inline]
    pub(crate) fn count(&mut self, elems: &[Slot]) -> Result<u64> {
        count(&mut self.cursor, self.types, elems)
    }

    /// `bytes`, which were read last, as text; none if they are no UTF-8.
    ///
    /// A check takes long to begin, so one is made for all the texts of a piece of the message:
    /// numbers and lengths among them are mostly below 128, which makes no difference to it.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "asked for each text; see `de`")]
    pub(crate) fn text(&mut self, bytes: &'de [u8]) -> Option<&'de str> {
        if let Some(text) = self.checked_text(bytes) {
            self.lone_texts = 0;
            return Some(text);
        }
        self.check_text(bytes)
    }

    /// `bytes` as a part of the piece that is checked. Both are parts of the input, so it is
    /// found by its address, or not at all.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "asked for each text; see `de`")]
    fn checked_text(&self, bytes: &'de [u8]) -> Option<&'de str> {
        let start = bytes.as_ptr().addr().wrapping_sub(self.checked.as_ptr().addr());
        self.checked.get(start..start.checked_add(bytes.len())?)
    }

    #[inline(never)]
    fn check_text(&mut self, bytes: &'de [u8]) -> Option<&'de str> {
        self.lone_texts = self.lone_texts.wrapping_add(1) % LONE_ROUND;
        if bytes.len() > PIECE / 4 || self.lone_texts > MAX_LONE {
            return std::str::from_utf8(bytes).ok();
        }
        let ahead = self.cursor.last_and_rest(bytes);
        let piece = ahead.get(..PIECE).unwrap_or(ahead);
        self.checked = match std::str::from_utf8(piece) {
            Ok(text) => text,
            Err(error) => {
                let valid = piece.get(..error.valid_up_to()).unwrap_or_default();
                std::str::from_utf8(valid).unwrap_or_default()
            }
        };
        self.checked_text(bytes).or_else(|| std::str::from_utf8(bytes).ok())
    }

    /// For how many of `count` elements room may be made in advance.
    #[inline]
    pub(crate) fn hint(&mut self, count: u64) -> usize {
        let granted = count.min(self.hints);
        self.hints = self.hints.saturating_sub(granted);
        usize::try_from(granted).unwrap_or(0)
    }

    pub(crate) fn skip(&mut self, slot: Slot) -> Result<()> {
        skip(&mut self.cursor, self.types, slot, &mut self.levels)
    }

    /// Reads an interface's name and the type of its value; none for nil.
    pub(crate) fn interface(&mut self) -> Result<Option<(&'de str, Slot)>> {
        let offset = self.cursor.offset();
        let name = self.cursor.lend_bytes()?;
        if name.is_empty() {
            return Ok(None);
        }
        let name = check_interface_name(name, offset)?;
        let slot = interface_type(&mut self.cursor, self.types)?;
        Ok(Some((name, slot)))
    }
}

/// `FirstName` as Rust writes it: `first_name`. A run of capitals is one word.
pub(crate) fn rust_name(name: &str) -> String {
    let mut rust = String::with_capacity(name.len().saturating_add(4));
    let mut before = None;
    let mut chars = name.chars().peekable();
    while let Some(c) = chars.next() {
        if c.is_uppercase() {
            let begins = match before {
                Some(before) if char::is_uppercase(before) => {
                    chars.peek().is_some_and(|next| next.is_lowercase())
                }
                Some(before) => before != '_',
                None => false,
            };
            if begins {
                rust.push('_');
            }
            rust.extend(c.to_lowercase());
        } else {
            rust.push(c);
        }
        before = Some(c);
    }
    rust
}

/// Reads the head of a message: a definition, or the type of a value.
pub(crate) fn begin_message<W: Wire>(
    wire: &mut W,
    types: &mut Types,
) -> Result<Option<Slot>> {
    let offset = wire.offset();
    let id = wire.int()?;
    if id >= 0 {
        let slot = types.of_value(id, offset)?;
        begin_value(wire, types, slot)?;
        return Ok(Some(slot));
    }
    types.define(wire, id, offset)?;
    if wire.left() > 0 {
        return Err(wire.wrong("expected the end of a message after a definition"));
    }
    Ok(None)
}

/// Reads the zero byte before a value that is no struct.
fn begin_value<W: Wire>(wire: &mut W, types: &Types, slot: Slot) -> Result<()> {
    if !matches!(types.kind(slot), Kind::Struct { .. }) && wire.uint()? != 0 {
        return Err(wire.wrong("expected a zero byte before a value that is no struct"));
    }
    Ok(())
}

fn check_interface_name(name: &[u8], offset: u64) -> Result<&str> {
    if name.len() > MAX_INTERFACE_NAME {
        let text =
            format!("expected a type's name of at most {MAX_INTERFACE_NAME} bytes");
        return Err(Error::limit(text).at(offset));
    }
    std::str::from_utf8(name)
        .map_err(|_| Error::syntax("expected a type's name in UTF-8").at(offset))
}

fn interface_type<W: Wire>(wire: &mut W, types: &mut Types) -> Result<Slot> {
    let slot = types.concrete(wire)?;
    begin_value(wire, types, slot)?;
    Ok(slot)
}

#[inline]
fn count<W: Wire>(wire: &mut W, types: &Types, elems: &[Slot]) -> Result<u64> {
    let count = wire.uint()?;
    if count > wire.bound() { Err(too_many(wire, types, elems)) } else { Ok(count) }
}

/// More elements are announced than bytes are there. Where an element can hold an interface,
/// they may come in later messages, and those may be missing yet.
#[cold]
fn too_many<W: Wire>(wire: &mut W, types: &Types, elems: &[Slot]) -> Error {
    if types.reaches_interface(elems) {
        wire.starved("expected more elements, found the end of the stream")
    } else {
        wire.wrong("expected fewer elements, found more announced than bytes")
    }
}

/// The number of an array's elements stands in the value too, and must be the type's.
#[inline]
pub(crate) fn array_count<W: Wire>(
    wire: &mut W,
    types: &Types,
    elem: Slot,
    len: u32,
) -> Result<u64> {
    let found = wire.uint()?;
    if found != u64::from(len) {
        return Err(wire.wrong("expected as many elements as the array's type says"));
    }
    if found > wire.bound() {
        return Err(too_many(wire, types, &[elem]));
    }
    Ok(found)
}

/// The number of the next field that is present; `len` at the end of the struct.
#[inline(always)]
#[expect(clippy::inline_always, reason = "asked for each field; see `de`")]
pub(crate) fn next_field<W: Wire>(wire: &mut W, next: u32, len: u32) -> Result<u32> {
    let delta = match wire.uint() {
        Ok(0) => return Ok(len),
        Ok(delta) => delta,
        Err(_) if wire.is_lenient() && wire.left() == 0 => return Ok(len),
        Err(error) => return Err(error),
    };
    // `next` is one more than the last number, which a delta of 1 leads to.
    match u32::try_from(delta) {
        Ok(delta) if delta <= len.saturating_sub(next) => {
            Ok(next.wrapping_add(delta).wrapping_sub(1))
        }
        _ => Err(wire.wrong("expected the number of a field that the struct has")),
    }
}

/// Passes over a value of the type `slot`.
pub(crate) fn skip<W: Wire>(
    wire: &mut W,
    types: &mut Types,
    slot: Slot,
    levels: &mut Levels,
) -> Result<()> {
    match types.kind(slot) {
        Kind::Undefined => return Err(wire.wrong("expected a type that is defined")),
        Kind::Bool | Kind::Int | Kind::Uint | Kind::Float => _ = wire.uint()?,
        Kind::Bytes | Kind::String | Kind::Opaque(_) => _ = wire.bytes()?,
        Kind::Complex => {
            wire.uint()?;
            wire.uint()?;
        }
        Kind::Interface => {
            let offset = wire.offset();
            let name = wire.bytes()?;
            if name.is_empty() {
                return Ok(());
            }
            check_interface_name(name, offset)?;
            levels.wrap().map_err(|error| error.at(offset))?;
            let slot = interface_type(wire, types)?;
            skip(wire, types, slot, levels)?;
            levels.unwrap();
        }
        Kind::Array { elem, len } => {
            let count = array_count(wire, types, elem, len)?;
            skip_each(wire, types, elem, count, levels)?;
        }
        Kind::Slice { elem } => {
            let count = count(wire, types, &[elem])?;
            skip_each(wire, types, elem, count, levels)?;
        }
        Kind::Map { key, elem } => {
            levels.enter().map_err(|error| error.at(wire.offset()))?;
            for _ in 0..count(wire, types, &[key, elem])? {
                skip(wire, types, key, levels)?;
                skip(wire, types, elem, levels)?;
            }
            levels.leave();
        }
        Kind::Struct { start, len, role } => {
            // A unit variant takes no level, as in other formats.
            let has_level = len > 0 && role != Role::Enum;
            if has_level {
                levels.enter().map_err(|error| error.at(wire.offset()))?;
            }
            let mut next = 0;
            loop {
                let number = next_field(wire, next, len)?;
                let Some(field) = types.field(start, number).filter(|_| number < len)
                else {
                    break;
                };
                let slot = field.slot;
                if role == Role::Enum && !types.is_unit(slot) {
                    levels.enter().map_err(|error| error.at(wire.offset()))?;
                    skip(wire, types, slot, levels)?;
                    levels.leave();
                } else {
                    skip(wire, types, slot, levels)?;
                }
                next = number.saturating_add(1);
            }
            if has_level {
                levels.leave();
            }
        }
    }
    Ok(())
}

fn skip_each<W: Wire>(
    wire: &mut W,
    types: &mut Types,
    elem: Slot,
    count: u64,
    levels: &mut Levels,
) -> Result<()> {
    levels.enter().map_err(|error| error.at(wire.offset()))?;
    match types.kind(elem) {
        Kind::Bool | Kind::Int | Kind::Uint | Kind::Float => {
            for _ in 0..count {
                wire.uint()?;
            }
        }
        Kind::Bytes | Kind::String | Kind::Opaque(_) => {
            for _ in 0..count {
                wire.bytes()?;
            }
        }
        _ => {
            for _ in 0..count {
                skip(wire, types, elem, levels)?;
            }
        }
    }
    levels.leave();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{put_bytes, put_uint};

    #[test]
    fn a_text_is_what_is_utf8_by_itself() {
        // A character may be cut by the end of a text, also where what follows completes it.
        let parts: [&[u8]; 8] = [
            b"a",
            b"name",
            b"\xc3",
            b"\xa9",
            "\u{e9}".as_bytes(),
            b"\xe2\x82",
            b"\xff",
            b"",
        ];
        let long = "\u{20ac}".repeat(100);
        let mut texts: Vec<Vec<u8>> = Vec::new();
        for (index, a) in parts.iter().enumerate() {
            for b in parts {
                for c in parts {
                    texts.push([*a, b, c].concat());
                }
            }
            texts.extend(std::iter::repeat_n(b"short".to_vec(), 40 * index));
            texts.push(long.clone().into_bytes());
            texts.push(long.as_bytes()[1..].to_vec());
        }
        for number in [0, 5, 300] {
            let mut body = Vec::new();
            for text in &texts {
                put_bytes(&mut body, text);
                // A number of several bytes is no UTF-8.
                put_uint(&mut body, number);
            }
            let mut stream = Vec::new();
            put_bytes(&mut stream, &body);
            let mut types = Types::default();
            let cursor = Cursor::new(&stream, 0);
            let mut state = State::new(cursor, &mut types, &ReadOptions::new());
            state.cursor.next_message().unwrap();
            for text in &texts {
                let bytes = state.cursor.lend_bytes().unwrap();
                assert_eq!(bytes, text);
                assert_eq!(state.text(bytes), std::str::from_utf8(text).ok(), "{text:?}");
                assert_eq!(state.cursor.uint().unwrap(), number);
            }
            state.end().unwrap();
        }
    }
}
