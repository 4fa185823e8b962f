//! The body of a document, read without serde: varints, strings, offsets, what is tracked, and
//! the budgets.
//!
//! | tag | what happens here |
//! | --- | --- |
//! | PAD, REFN, WEAKEN, OBJECT | passed over by [`State::resolve`], which checks what follows |
//! | COPY, REFP, ALIAS | [`State::resolve`] goes where the offset says, and comes back |
//! | all others | left to the caller |
//!
//! Going somewhere cannot loop: a copy may not meet a copy, a reference to what is still being
//! read is an error, each further reference is a level of depth, and whatever is read a second
//! time is counted.
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::arithmetic_side_effects
)]

use std::collections::BTreeSet;

use crate::header::Header;
use crate::tag::{self, TRACK};
use crate::{DocumentType, Error, ReadOptions, Result, Version};

/// Elements that may be read beyond those that stand in the input byte by byte, unless the
/// options say otherwise; and as many as the input has bytes.
const DEFAULT_ITEMS: usize = 65_536;

/// Bytes of long strings that may be read a second time from a document of so many bytes, unless
/// the options say otherwise. The writer keeps to it too.
#[inline]
pub(crate) fn copied_bytes(document_len: usize) -> usize {
    document_len.saturating_mul(16).saturating_add(1 << 20)
}

/// Strings up to this length need no budget: the copy that names one takes two bytes itself.
pub(crate) const SHORT: usize = 31;

/// A varint at a place, and the place behind it.
#[inline]
pub(crate) fn varint(bytes: &[u8], at: usize) -> Result<(u64, usize)> {
    match bytes.get(at) {
        Some(&byte) if byte < 0x80 => Ok((u64::from(byte), at.saturating_add(1))),
        _ => long_varint(bytes, at),
    }
}

fn long_varint(bytes: &[u8], at: usize) -> Result<(u64, usize)> {
    let mut value = 0;
    let rest = bytes.get(at..).unwrap_or_default();
    for (index, &byte) in rest.iter().take(10).enumerate() {
        let shift = u32::try_from(index).unwrap_or(0).saturating_mul(7);
        value |= u64::from(byte & 0x7f).wrapping_shl(shift);
        if index == 9 && byte > 1 {
            return Err(
                Error::syntax("expected a varint of at most 64 bits").at(at as u64)
            );
        }
        if byte < 0x80 {
            return Ok((value, at.saturating_add(index).saturating_add(1)));
        }
    }
    Err(Error::eof("expected the end of a varint").at(bytes.len() as u64))
}

/// The integer at the start of `bytes` if it has at most 14 bits, as most do, and its length: one
/// check for its bytes, and no call.
#[inline]
pub(crate) fn short_integer(bytes: &[u8]) -> Option<(u64, usize)> {
    Some(match *bytes {
        [tag @ 0..tag::NEG, ..] => (u64::from(tag), 1),
        [tag::VARINT, low @ 0..0x80, ..] => (u64::from(low), 2),
        [tag::VARINT, low, high @ 0..0x80, ..] => {
            (u64::from(low & 0x7f) | (u64::from(high) << 7), 3)
        }
        _ => return None,
    })
}

#[inline]
pub(crate) fn unzigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ (value & 1).cast_signed().wrapping_neg()
}

/// A string's place in the body, and its flag.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) start: usize,
    pub(crate) end: usize,
    flag: Flag,
}

/// As wide as the other parts: a place without padding is copied word by word, as it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
enum Flag {
    Bytes = 0,
    Text = 1,
}

impl Place {
    #[inline]
    pub(crate) fn new(start: usize, end: usize, is_text: bool) -> Self {
        Self { start, end, flag: if is_text { Flag::Text } else { Flag::Bytes } }
    }

    #[inline]
    pub(crate) fn is_text(self) -> bool {
        self.flag == Flag::Text
    }
}

/// What an expansion comes back to.
#[derive(Clone, Copy)]
struct Return<'b> {
    body: &'b [u8],
    pos: usize,
    is_copying: bool,
    is_replaying: bool,
}

/// The places that a document goes back to.
#[derive(Default)]
struct Rare {
    /// Where the track bit is set, in order.
    tracked: Vec<usize>,
    /// Those that are being read, the innermost last.
    open: Vec<usize>,
    /// What references and aliases point at, where somebody wants to know.
    targets: Option<Vec<usize>>,
    /// Where names of classes stand.
    classes: BTreeSet<usize>,
}

/// [`Rare`] from when there is some, which is freed apart: nothing is called for nothing.
struct Kept(Option<Box<Rare>>);

impl Drop for Kept {
    #[inline]
    fn drop(&mut self) {
        if let Some(rare) = self.0.take() {
            free(rare);
        }
    }
}

#[cold]
#[inline(never)]
fn free(rare: Box<Rare>) {
    drop(rare);
}

/// A body that is being read.
pub(crate) struct State<'b, 'de> {
    /// The body as far as it may be read: a copy's target ends before the copy.
    pub(crate) body: &'b [u8],
    whole: &'b [u8],
    /// The same bytes, if they live as long as values do.
    pub(crate) lent: Option<&'de [u8]>,
    pub(crate) pos: usize,
    /// Where the body begins in the document; 0 for one that was decompressed.
    base: usize,
    /// What an offset counts before the first byte of the body.
    shift: u64,
    /// Levels that may still be entered.
    levels: u32,
    /// Options and newtypes that may still be entered, which take no bytes.
    wraps: u32,
    /// Whether each element counts, as in a body that was decompressed.
    is_counted: bool,
    is_copying: bool,
    /// Whether what is read was read before.
    is_replaying: bool,
    /// The length up to which a string is short, and may be.
    short: usize,
    /// The length of the input, compressed or not.
    document_len: usize,
    /// Elements that were read beyond those that stand in the input byte by byte.
    items: usize,
    /// Bytes of long strings that were read a second time.
    copied: usize,
    /// Elements for which a caller may reserve memory: never more than there are bytes, over all
    /// containers.
    hints: usize,
    /// What few documents need, from when they do.
    rare: Kept,
    /// The class of the last object that was met.
    pub(crate) class: Option<Place>,
    pub(crate) options: &'b ReadOptions,
}

impl<'b, 'de> State<'b, 'de> {
    /// `document_len` is the length of the input, compressed or not.
    #[inline]
    pub(crate) fn new(
        body: &'b [u8],
        lent: Option<&'de [u8]>,
        header: &Header,
        document_len: usize,
        options: &'b ReadOptions,
    ) -> Self {
        let is_raw = header.kind == DocumentType::Raw;
        Self {
            body,
            whole: body,
            lent,
            pos: 0,
            base: if is_raw { header.len } else { 0 },
            shift: if header.version == Version::V1 { header.len as u64 } else { 1 },
            levels: options.max_depth,
            wraps: options.max_depth.saturating_mul(2),
            is_counted: !is_raw,
            is_copying: false,
            is_replaying: false,
            short: options.max_string.min(SHORT),
            document_len,
            items: 0,
            copied: 0,
            hints: body.len(),
            rare: Kept(None),
            class: None,
            options,
        }
    }

    #[cold]
    fn rare(&mut self) -> &mut Rare {
        self.rare.0.get_or_insert_default()
    }

    /// The place of what is read next, in the document.
    pub(crate) fn offset(&self) -> u64 {
        self.end() as u64
    }

    /// The same as a length of what was read.
    #[inline]
    pub(crate) fn end(&self) -> usize {
        self.base.saturating_add(self.pos)
    }

    fn place(&self, pos: usize) -> u64 {
        self.base.saturating_add(pos) as u64
    }

    #[cold]
    pub(crate) fn syntax(
        &self,
        message: impl Into<std::borrow::Cow<'static, str>>,
    ) -> Error {
        Error::syntax(message).at(self.offset())
    }

    #[cold]
    pub(crate) fn eof(&self, message: &'static str) -> Error {
        let error =
            if self.is_copying { Error::syntax(message) } else { Error::eof(message) };
        error.at(self.place(self.body.len()))
    }

    #[cold]
    pub(crate) fn unexpected(&self, wanted: &str, tag: u8) -> Error {
        let found = tag::describe(tag);
        Error::syntax(format!("expected {wanted}, found {found} ({tag:#04x})"))
            .at(self.place(self.pos.saturating_sub(1)))
    }

    /// The next byte, without moving on.
    #[inline]
    pub(crate) fn peek(&self) -> Option<u8> {
        self.body.get(self.pos).copied()
    }

    /// Moves past a byte that was peeked at.
    #[inline]
    pub(crate) fn advance(&mut self) {
        self.pos = self.pos.wrapping_add(1);
    }

    /// Back to a tag that was read.
    #[inline]
    pub(crate) fn unread(&mut self) {
        self.pos = self.pos.saturating_sub(1);
    }

    /// The integer that is next, if it is short.
    #[inline]
    pub(crate) fn short_integer(&mut self) -> Option<u64> {
        let (value, len) = short_integer(self.body.get(self.pos..)?)?;
        self.pos = self.pos.wrapping_add(len);
        Some(value)
    }

    #[inline]
    fn byte(&mut self) -> Result<u8> {
        match self.peek() {
            Some(byte) => {
                self.advance();
                Ok(byte)
            }
            None => Err(self.eof("expected a value")),
        }
    }

    #[inline]
    pub(crate) fn varint(&mut self) -> Result<u64> {
        if let Some(&byte) = self.body.get(self.pos)
            && byte < 0x80
        {
            self.advance();
            return Ok(u64::from(byte));
        }
        self.long_varint()
    }

    fn long_varint(&mut self) -> Result<u64> {
        // Two bytes are by far the most frequent.
        if let Some(&[low, high, ..]) = self.body.get(self.pos..)
            && high < 0x80
        {
            self.pos = self.pos.wrapping_add(2);
            return Ok(u64::from(low & 0x7f) | (u64::from(high) << 7));
        }
        match varint(self.body, self.pos) {
            Ok((value, pos)) => {
                self.pos = pos;
                Ok(value)
            }
            Err(error) if error.kind() == crate::ErrorKind::Eof => {
                Err(self.eof("expected the end of a varint"))
            }
            Err(_) => Err(self.syntax("expected a varint of at most 64 bits")),
        }
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let found = self.body.get(self.pos..).and_then(|rest| rest.first_chunk::<N>());
        match found {
            Some(bytes) => {
                self.pos = self.pos.wrapping_add(N);
                Ok(*bytes)
            }
            None => Err(self.eof("expected the bytes of a float")),
        }
    }

    pub(crate) fn float(&mut self) -> Result<f32> {
        Ok(f32::from_le_bytes(self.array()?))
    }

    #[inline]
    pub(crate) fn double(&mut self) -> Result<f64> {
        Ok(f64::from_le_bytes(self.array()?))
    }

    /// `LONG_DOUBLE` and `FLOAT_128`, rounded to what Rust has.
    pub(crate) fn wide_float(&mut self, tag: u8) -> Result<f64> {
        let bits = u128::from_le_bytes(self.array()?);
        Ok(if tag == tag::LONG_DOUBLE && bits >> 80 == 0 {
            from_extended(bits)
        } else {
            from_quadruple(bits)
        })
    }

    /// The bytes of the float of this tag that is next.
    #[inline]
    pub(crate) fn plain_float<const N: usize>(&mut self, tag: u8) -> Option<[u8; N]> {
        let (&found, rest) = self.body.get(self.pos..)?.split_first()?;
        if found != tag {
            return None;
        }
        let bytes = *rest.first_chunk()?;
        self.pos = self.pos.wrapping_add(N).wrapping_add(1);
        Some(bytes)
    }

    /// The short string that is next, if it is UTF-8 and can be lent.
    #[inline]
    pub(crate) fn short_text(&mut self) -> Option<&'de str> {
        let lent = self.lent?;
        let tag = *self.body.get(self.pos)?;
        let len = usize::from(tag & 0x1f);
        let start = self.pos.wrapping_add(1);
        let end = start.wrapping_add(len);
        let is_short = matches!(tag, tag::SHORT_BINARY..TRACK)
            && end <= self.body.len()
            && len <= self.short;
        if !is_short {
            return None;
        }
        let text = std::str::from_utf8(lent.get(start..end)?).ok()?;
        self.pos = end;
        Some(text)
    }

    /// The place of the string of a tag that was read.
    #[inline]
    pub(crate) fn string(&mut self, tag: u8) -> Result<Place> {
        let tag = tag & !TRACK;
        if tag >= tag::SHORT_BINARY
            && let Some(place) = self.short_string(tag)
        {
            return Ok(place);
        }
        self.any_string(tag)
    }

    /// A short string whose tag was read: in registers, if it is there and as long as it may be.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a call returns its three words in memory")]
    fn short_string(&mut self, tag: u8) -> Option<Place> {
        let len = usize::from(tag & 0x1f);
        let (start, end) = (self.pos, self.pos.wrapping_add(len));
        if end > self.body.len() || len > self.short {
            return None;
        }
        self.pos = end;
        Some(Place::new(start, end, false))
    }

    #[inline(never)]
    fn any_string(&mut self, tag: u8) -> Result<Place> {
        let (len, is_text) = match tag {
            tag::SHORT_BINARY.. => (usize::from(tag & 0x1f), false),
            tag::BINARY | tag::STR_UTF8 => {
                let len = self.varint()?;
                // What does not fit is longer than what is left.
                (usize::try_from(len).unwrap_or(usize::MAX), tag == tag::STR_UTF8)
            }
            _ => return Err(self.unexpected("a string", tag)),
        };
        let start = self.pos;
        let end = start.saturating_add(len);
        if end > self.body.len() {
            return Err(self.eof("expected the bytes of a string"));
        }
        if len > SHORT {
            self.long_string(len)?;
        } else if len > self.options.max_string {
            return Err(self.long_string(len).err().unwrap_or_else(|| self.eof("")));
        }
        self.pos = end;
        Ok(Place::new(start, end, is_text))
    }

    #[inline]
    fn long_string(&mut self, len: usize) -> Result<()> {
        if len > self.options.max_string {
            let limit = self.options.max_string;
            return Err(Error::limit(format!(
                "expected a string of at most {limit} bytes, found {len}"
            ))
            .at(self.offset()));
        }
        if self.is_replaying {
            let max = self.options.max_copied;
            let max = max.unwrap_or_else(|| copied_bytes(self.document_len));
            self.copied = self.copied.saturating_add(len);
            if self.copied > max {
                return Err(Error::limit(
                    "expected fewer bytes in strings that are copied",
                )
                .at(self.offset()));
            }
        }
        Ok(())
    }

    /// The bytes of a string.
    #[inline]
    pub(crate) fn bytes(&self, place: Place) -> &'b [u8] {
        self.whole.get(place.start..place.end).unwrap_or_default()
    }

    /// A string, or a copy of one: what a key, a class or a pattern may be. Also the place of
    /// its tag.
    #[inline]
    pub(crate) fn key(&mut self) -> Result<Place> {
        let at = self.pos;
        if let Some(tag @ tag::SHORT_BINARY..TRACK) = self.peek() {
            self.advance();
            if let Some(place) = self.short_string(tag) {
                return Ok(place);
            }
            self.unread();
        }
        self.any_key(at)
    }

    /// Takes the next key if it is this one. That it is as long needs no load that waits for the
    /// place to be known.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a call returns its three words in memory")]
    pub(crate) fn this_key(&mut self, key: &[u8]) -> Option<Place> {
        let (&tag, rest) = self.body.get(self.pos..)?.split_first()?;
        let is_it = key.len() <= self.short
            && usize::from(tag) == usize::from(tag::SHORT_BINARY) | key.len()
            && is_same_text(key, rest.get(..key.len())?);
        if !is_it {
            return None;
        }
        let start = self.pos.wrapping_add(1);
        self.pos = start.wrapping_add(key.len());
        Some(Place::new(start, self.pos, false))
    }

    #[inline(never)]
    fn any_key(&mut self, at: usize) -> Result<Place> {
        match self.byte()? & !TRACK {
            tag::COPY => self.copied_key(at),
            tag => self.string(tag),
        }
    }

    fn copied_key(&mut self, at: usize) -> Result<Place> {
        let target = self.earlier(at)?;
        Ok(self.string_at(target, at)?.0)
    }

    /// The string whose tag stands at `target`, and which ends before `at`.
    fn string_at(&mut self, target: usize, at: usize) -> Result<(Place, usize)> {
        let back = self.here();
        self.pos = target;
        self.body = self.whole.get(..at).unwrap_or_default();
        self.is_copying = true;
        self.is_replaying = true;
        let tag = self.byte()?;
        let place = self.string(tag)?;
        self.come_back(back);
        Ok((place, target))
    }

    fn class(&mut self) -> Result<Place> {
        let at = self.pos;
        let (place, at) = match self.byte()? & !TRACK {
            tag::COPY => {
                let target = self.earlier(at)?;
                self.string_at(target, at)?
            }
            tag => (self.string(tag)?, at),
        };
        self.rare().classes.insert(at);
        Ok(place)
    }

    /// The class of an object of one of the four tags for it, whose tag was read.
    pub(crate) fn class_of(&mut self, tag: u8) -> Result<Place> {
        if self.options.refuse_objects {
            return Err(Error::unsupported("objects are refused by the options")
                .at(self.offset()));
        }
        if matches!(tag, tag::OBJECT | tag::OBJECT_FREEZE) {
            return self.class();
        }
        let at = self.pos;
        let target = self.earlier(at)?;
        if !self.rare.0.as_ref().is_some_and(|rare| rare.classes.contains(&target)) {
            return Err(self
                .syntax("expected the place of a class, found that of something else"));
        }
        Ok(self.string_at(target, at)?.0)
    }

    /// Reads an offset: a place in the body before `at`.
    fn earlier(&mut self, at: usize) -> Result<usize> {
        let offset = self.varint()?;
        offset
            .checked_sub(self.shift)
            .and_then(|target| usize::try_from(target).ok())
            .filter(|&target| target < at)
            .ok_or_else(|| {
                Error::syntax(format!(
                    "expected the offset of something before it, found {offset}"
                ))
                .at(self.place(at))
            })
    }

    /// Notes that something with the track bit begins at `at`.
    pub(crate) fn note(&mut self, at: usize) {
        if self.is_replaying {
            return;
        }
        let tracked = &mut self.rare().tracked;
        if tracked.last().is_none_or(|&last| last < at) {
            tracked.push(at);
        }
    }

    /// Something with the track bit begins at `at`: until it is closed, references to it are
    /// cycles. There are never more of them than a few for each level.
    fn begin(&mut self, at: usize) {
        self.note(at);
        // One that is open is read once more from its own tag.
        let open = &mut self.rare().open;
        if open.last() != Some(&at) {
            open.push(at);
        }
    }

    /// The places that references and aliases in a value point at, in order.
    pub(crate) fn targets(mut self) -> Result<Vec<usize>> {
        self.rare().targets = Some(Vec::new());
        self.skip()?;
        let mut targets = self.rare().targets.take().unwrap_or_default();
        targets.sort_unstable();
        targets.dedup();
        Ok(targets)
    }

    /// Reads the offset of REFP or ALIAS, whose tag stands at `at`: the place of something that
    /// is tracked.
    pub(crate) fn target(&mut self, at: usize) -> Result<usize> {
        // A reference may point at its own tag.
        let target = self.earlier(at.saturating_add(1))?;
        if let Some(rare) = &mut self.rare.0
            && rare.tracked.binary_search(&target).is_ok()
        {
            if let Some(targets) = &mut rare.targets {
                targets.push(target);
            }
            return Ok(target);
        }
        Err(self.syntax("expected the offset of something tracked, found another"))
    }

    /// Reads the offset of COPY, whose tag stands at `at`.
    pub(crate) fn copy_target(&mut self, at: usize) -> Result<usize> {
        if self.is_copying {
            return Err(self.syntax("expected no copy inside of what is copied"));
        }
        self.earlier(at)
    }

    fn here(&self) -> Return<'b> {
        Return {
            body: self.body,
            pos: self.pos,
            is_copying: self.is_copying,
            is_replaying: self.is_replaying,
        }
    }

    fn come_back(&mut self, back: Return<'b>) {
        self.body = back.body;
        self.pos = back.pos;
        self.is_copying = back.is_copying;
        self.is_replaying = back.is_replaying;
    }

    /// Reads `target` with `read`, and comes back: what a copy at `at` does.
    pub(crate) fn copy<R>(
        &mut self,
        target: usize,
        at: usize,
        read: impl FnOnce(&mut Self) -> Result<R>,
    ) -> Result<R> {
        let back = self.here();
        self.go(target, Some(at));
        let value = read(self)?;
        self.come_back(back);
        Ok(value)
    }

    fn go(&mut self, target: usize, copy: Option<usize>) {
        self.pos = target;
        self.body = match copy {
            Some(at) => self.whole.get(..at).unwrap_or_default(),
            None => self.whole,
        };
        self.is_copying = copy.is_some();
        self.is_replaying = true;
    }

    pub(crate) fn is_replaying(&self) -> bool {
        self.is_replaying
    }

    /// Counts something that costs time but no bytes.
    #[inline(never)]
    pub(crate) fn spend(&mut self, items: usize) -> Result<()> {
        let max = self.options.max_items;
        let max = max.unwrap_or_else(|| self.document_len.saturating_add(DEFAULT_ITEMS));
        self.items = self.items.saturating_add(items);
        if self.items <= max {
            return Ok(());
        }
        Err(Error::limit(
            "expected fewer elements that the input does not hold one by one",
        )
        .at(self.offset()))
    }

    /// Enters a level of nesting.
    #[inline]
    pub(crate) fn enter(&mut self) -> Result<()> {
        match self.levels.checked_sub(1) {
            Some(levels) => {
                self.levels = levels;
                Ok(())
            }
            None => Err(self.too_deep()),
        }
    }

    #[cold]
    fn too_many(&self, max: usize, count: usize) -> Error {
        Error::limit(format!("expected at most {max} elements, found {count}"))
            .at(self.offset())
    }

    #[cold]
    fn too_deep(&self) -> Error {
        let levels = self.options.max_depth;
        Error::limit(format!("expected at most {levels} levels of nesting"))
            .at(self.offset())
    }

    #[inline]
    pub(crate) fn leave(&mut self) {
        self.levels = self.levels.wrapping_add(1);
    }

    /// Enters an option or a newtype, which take no bytes.
    #[inline]
    pub(crate) fn wrap(&mut self) -> Result<()> {
        match self.wraps.checked_sub(1) {
            Some(wraps) => {
                self.wraps = wraps;
                Ok(())
            }
            None => Err(self.too_deep()),
        }
    }

    #[inline]
    pub(crate) fn unwrap(&mut self) {
        self.wraps = self.wraps.wrapping_add(1);
    }

    /// Enters a container of `count` elements or pairs, of `width` values each; tells for how
    /// many memory may be reserved.
    #[inline]
    pub(crate) fn begin_container(
        &mut self,
        count: usize,
        width: usize,
        max: usize,
    ) -> Result<usize> {
        let values = count.saturating_mul(width);
        if values > self.body.len().wrapping_sub(self.pos) {
            return Err(self.eof("expected as many elements as announced"));
        }
        if count > max {
            return Err(self.too_many(max, count));
        }
        if self.is_counted || self.is_replaying {
            self.spend(values)?;
        }
        let hint = count.min(self.hints);
        self.hints = self.hints.wrapping_sub(hint);
        self.enter()?;
        Ok(hint)
    }

    /// The count behind an ARRAY or HASH tag.
    #[inline]
    pub(crate) fn count(&mut self) -> Result<usize> {
        Ok(usize::try_from(self.varint()?).unwrap_or(usize::MAX))
    }

    /// Reads the tags that only say how the value is reached, hands the tag of the value itself
    /// to `read`, without its track bit, and comes back from where it had to go.
    pub(crate) fn resolve<R>(
        &mut self,
        read: impl FnOnce(&mut Self, u8) -> Result<R>,
    ) -> Result<R> {
        self.resolve_to(false, read)
    }

    /// As [`resolve`](Self::resolve), but an object is handed out too, with its class in
    /// `class`.
    pub(crate) fn resolve_to<R>(
        &mut self,
        object: bool,
        read: impl FnOnce(&mut Self, u8) -> Result<R>,
    ) -> Result<R> {
        let open = self.rare.0.as_ref().map_or(0, |rare| rare.open.len());
        let levels = self.levels;
        let mut back = None;
        // Whether a reference leads to what is read next.
        let mut is_referred = false;
        let mut wants = Wants::default();
        let tag = loop {
            let at = self.pos;
            let byte = self.byte()?;
            let tag = byte & !TRACK;
            match tag {
                _ if byte == tag || tag == tag::ALIAS => {}
                tag::PAD => self.note(at),
                _ => self.begin(at),
            }
            match tag {
                tag::PAD => {
                    if self.is_replaying {
                        self.spend(1)?;
                    }
                }
                tag::REFN => {
                    wants.reference(self, tag)?;
                    if is_referred {
                        self.enter()?;
                    }
                    is_referred = true;
                }
                tag::REFP => {
                    wants.reference(self, tag)?;
                    if is_referred {
                        self.enter()?;
                    }
                    is_referred = true;
                    self.follow(at, &mut back)?;
                }
                tag::ALIAS => {
                    if is_referred || wants.any() {
                        return Err(self.unexpected("a value", tag));
                    }
                    self.follow(at, &mut back)?;
                    // An alias is one of a scalar, never of an array or a hash itself.
                    if let Some(tag @ (tag::ARRAY | tag::HASH | tag::REGEXP)) =
                        self.peek().map(|byte| byte & !TRACK)
                    {
                        return Err(self.unexpected("an alias of a scalar", tag));
                    }
                }
                tag::COPY => {
                    let target = self.copy_target(at)?;
                    back.get_or_insert(self.here());
                    self.go(target, Some(at));
                }
                tag::WEAKEN => wants.weak(self)?,
                tag::OBJECT | tag::OBJECTV | tag::OBJECT_FREEZE | tag::OBJECTV_FREEZE => {
                    wants.object(self, tag)?;
                    self.class = Some(self.class_of(tag)?);
                    if object {
                        self.expect_reference()?;
                        break tag;
                    }
                }
                _ => break tag,
            }
        };
        if !matches!(tag, tag::OBJECT..=tag::OBJECTV | tag::OBJECT_FREEZE..=tag::OBJECTV_FREEZE)
        {
            wants.value(self, tag)?;
        }
        let is_thing = matches!(tag, tag::ARRAY | tag::HASH | tag::REGEXP);
        if is_referred && !is_thing {
            self.enter()?;
        }
        let value = read(self, tag)?;
        if let Some(back) = back {
            self.come_back(back);
        }
        self.levels = levels;
        if let Some(rare) = &mut self.rare.0 {
            rare.open.truncate(open);
        }
        Ok(value)
    }

    /// What an object is made of must be a reference.
    fn expect_reference(&self) -> Result<()> {
        match self.peek().map(|byte| byte & !TRACK) {
            Some(
                tag::REFN
                | tag::REFP
                | tag::COPY
                | tag::PAD
                | tag::WEAKEN
                | tag::ARRAYREF..tag::SHORT_BINARY,
            )
            | None => Ok(()),
            Some(tag) => Err(self.unexpected("a reference", tag)),
        }
    }

    /// Goes to what is tracked.
    fn follow(&mut self, at: usize, back: &mut Option<Return<'b>>) -> Result<()> {
        let target = self.target(at)?;
        if self.rare.0.as_ref().is_some_and(|rare| rare.open.contains(&target)) {
            return Err(Error::unsupported(
                "expected a value without cycles, found a reference to what it is part of",
            )
            .at(self.place(at)));
        }
        back.get_or_insert(self.here());
        self.go(target, None);
        Ok(())
    }

    /// Passes over a value. References and copies in it are not followed.
    pub(crate) fn skip(&mut self) -> Result<()> {
        let levels = self.levels;
        let mut is_referred = false;
        let mut wants = Wants::default();
        loop {
            let at = self.pos;
            let byte = self.byte()?;
            let tag = byte & !TRACK;
            if byte != tag && tag != tag::ALIAS {
                self.note(at);
            }
            match tag {
                tag::PAD => {
                    if self.is_replaying {
                        self.spend(1)?;
                    }
                    continue;
                }
                tag::REFN | tag::REFP => {
                    wants.reference(self, tag)?;
                    if is_referred {
                        self.enter()?;
                    }
                    is_referred = true;
                    if tag == tag::REFN {
                        continue;
                    }
                    self.target(at)?;
                }
                tag::ALIAS => {
                    if is_referred || wants.any() {
                        return Err(self.unexpected("a value", tag));
                    }
                    self.target(at)?;
                }
                tag::COPY => {
                    let target = self.copy_target(at)?;
                    if let Some(tag @ (tag::COPY | tag::ALIAS)) =
                        self.whole.get(target).map(|byte| byte & !TRACK)
                    {
                        return Err(self.unexpected("a copy of a value", tag));
                    }
                }
                tag::WEAKEN => {
                    wants.weak(self)?;
                    continue;
                }
                tag::OBJECT | tag::OBJECTV | tag::OBJECT_FREEZE | tag::OBJECTV_FREEZE => {
                    wants.object(self, tag)?;
                    self.class_of(tag)?;
                    continue;
                }
                _ => {
                    wants.value(self, tag)?;
                    let is_thing = matches!(tag, tag::ARRAY | tag::HASH | tag::REGEXP);
                    if is_referred && !is_thing {
                        self.enter()?;
                    }
                    self.skip_plain(tag)?;
                }
            }
            break;
        }
        self.levels = levels;
        Ok(())
    }

    fn skip_plain(&mut self, tag: u8) -> Result<()> {
        match tag {
            0..tag::VARINT
            | tag::UNDEF
            | tag::CANONICAL_UNDEF
            | tag::NO
            | tag::YES
            | tag::FALSE
            | tag::TRUE => {}
            tag::VARINT | tag::ZIGZAG => _ = self.varint()?,
            tag::FLOAT => _ = self.array::<4>()?,
            tag::DOUBLE => _ = self.array::<8>()?,
            tag::LONG_DOUBLE | tag::FLOAT_128 => _ = self.array::<16>()?,
            tag::BINARY | tag::STR_UTF8 | tag::SHORT_BINARY.. => _ = self.string(tag)?,
            tag::REGEXP => _ = self.regexp()?,
            tag::ARRAY | tag::ARRAYREF..tag::HASHREF => {
                let count = self.array_count(tag)?;
                self.begin_container(count, 1, self.options.max_array)?;
                for _ in 0..count {
                    self.skip()?;
                }
                self.leave();
            }
            tag::HASH | tag::HASHREF..tag::SHORT_BINARY => {
                let count = self.hash_count(tag)?;
                self.begin_container(count, 2, self.options.max_hash)?;
                for _ in 0..count {
                    self.key()?;
                    self.skip()?;
                }
                self.leave();
            }
            _ => return Err(self.unexpected("a value", tag)),
        }
        Ok(())
    }

    /// The count of ARRAY or ARRAYREF.
    #[inline]
    pub(crate) fn array_count(&mut self, tag: u8) -> Result<usize> {
        if tag == tag::ARRAY { self.count() } else { Ok(usize::from(tag & 0x0f)) }
    }

    /// The count of HASH or HASHREF.
    #[inline]
    pub(crate) fn hash_count(&mut self, tag: u8) -> Result<usize> {
        if tag == tag::HASH { self.count() } else { Ok(usize::from(tag & 0x0f)) }
    }

    /// The pattern and the modifiers of a regular expression whose tag was read.
    pub(crate) fn regexp(&mut self) -> Result<(Place, Place)> {
        let pattern = self.key()?;
        let flags = match self.byte()? & !TRACK {
            tag @ tag::SHORT_BINARY.. => self.string(tag)?,
            tag => return Err(self.unexpected("modifiers", tag)),
        };
        if !self.bytes(flags).iter().all(|flag| b"msixpn".contains(flag)) {
            return Err(self.syntax("expected the modifiers m, s, i, x, p or n"));
        }
        Ok((pattern, flags))
    }

    /// For the offset in a body whose document was decompressed there is no place in the input.
    pub(crate) fn annotate(&self, error: Error) -> Error {
        if self.is_counted { error } else { error.at(self.offset()) }
    }
}

/// Whether two strings of one length are equal. Without a call or a loop for the short ones,
/// which most keys are.
#[inline]
fn is_same_text(one: &[u8], other: &[u8]) -> bool {
    let len = one.len();
    match len {
        0..4 => [0, len >> 1, len.wrapping_sub(1)]
            .iter()
            .all(|&index| one.get(index) == other.get(index)),
        4..=8 => {
            one.first_chunk::<4>() == other.first_chunk::<4>()
                && one.last_chunk::<4>() == other.last_chunk::<4>()
        }
        _ => one == other,
    }
}

/// What must come after WEAKEN and OBJECT.
#[derive(Default)]
pub(crate) struct Wants {
    is_weak: bool,
    is_object: bool,
    /// Whether an array must follow, of what FREEZE returned.
    array: bool,
}

impl Wants {
    fn any(&self) -> bool {
        self.is_weak || self.is_object
    }

    pub(crate) fn weak(&mut self, state: &State<'_, '_>) -> Result<()> {
        if self.any() {
            return Err(state.unexpected("a reference", tag::WEAKEN));
        }
        self.is_weak = true;
        Ok(())
    }

    pub(crate) fn object(&mut self, state: &State<'_, '_>, tag: u8) -> Result<()> {
        if self.is_object || self.array {
            return Err(state.unexpected("a reference", tag));
        }
        self.is_object = true;
        self.array = matches!(tag, tag::OBJECT_FREEZE | tag::OBJECTV_FREEZE);
        Ok(())
    }

    /// A reference is met.
    pub(crate) fn reference(&mut self, state: &State<'_, '_>, tag: u8) -> Result<()> {
        if self.array && !self.any() {
            return Err(state.unexpected("an array", tag));
        }
        self.is_weak = false;
        self.is_object = false;
        Ok(())
    }

    /// The value itself is met.
    pub(crate) fn value(&self, state: &State<'_, '_>, tag: u8) -> Result<()> {
        let is_both = matches!(tag, tag::ARRAYREF..tag::SHORT_BINARY);
        if self.any() && !is_both {
            return Err(state.unexpected("a reference", tag));
        }
        let is_array = matches!(tag, tag::ARRAYREF..tag::HASHREF) == self.any()
            && matches!(tag, tag::ARRAY | tag::ARRAYREF..tag::HASHREF);
        if self.array && !is_array {
            return Err(state.unexpected("an array of what FREEZE returned", tag));
        }
        Ok(())
    }
}

/// The x87 format: sign, 15 bits of exponent, 64 bits of mantissa with the leading one.
fn from_extended(bits: u128) -> f64 {
    let mantissa = bits & u128::from(u64::MAX);
    let exponent = i32::try_from((bits >> 64) & 0x7fff).unwrap_or(0);
    let is_negative = (bits >> 79) & 1 == 1;
    if exponent == 0x7fff {
        return special(mantissa << 65 == 0, is_negative);
    }
    let exponent = exponent.max(1).saturating_sub(16_383 + 63);
    rounded(mantissa, exponent, is_negative)
}

/// IEEE binary128.
fn from_quadruple(bits: u128) -> f64 {
    let fraction = bits & ((1 << 112) - 1);
    let exponent = i32::try_from((bits >> 112) & 0x7fff).unwrap_or(0);
    let is_negative = bits >> 127 == 1;
    if exponent == 0x7fff {
        return special(fraction == 0, is_negative);
    }
    let mantissa = if exponent == 0 { fraction } else { fraction | (1 << 112) };
    rounded(mantissa, exponent.max(1).saturating_sub(16_383 + 112), is_negative)
}

fn special(is_infinite: bool, is_negative: bool) -> f64 {
    match (is_infinite, is_negative) {
        (false, _) => f64::NAN,
        (true, false) => f64::INFINITY,
        (true, true) => f64::NEG_INFINITY,
    }
}

/// `mantissa × 2^exponent`, to the nearest, ties to even.
fn rounded(mantissa: u128, exponent: i32, is_negative: bool) -> f64 {
    let bits =
        128_i32.saturating_sub(i32::try_from(mantissa.leading_zeros()).unwrap_or(0));
    // The place of the lowest bit that a double of this size has: 53 bits, fewer below 2^-1022.
    let lowest = exponent.saturating_add(bits).saturating_sub(53).max(-1074);
    let dropped = u32::try_from(lowest.saturating_sub(exponent)).unwrap_or(0);
    let kept = mantissa.checked_shr(dropped).unwrap_or(0);
    let rest = mantissa.wrapping_sub(kept.checked_shl(dropped).unwrap_or(0));
    let half = if dropped == 0 {
        0
    } else {
        1_u128.checked_shl(dropped.wrapping_sub(1)).unwrap_or(0)
    };
    let up = dropped > 0 && half > 0 && (rest > half || (rest == half && kept & 1 == 1));
    let kept = kept.saturating_add(u128::from(up));
    // Exact: at most 54 bits, the last of them zero where there are 54.
    let exact = kept as f64;
    let place = exponent.saturating_add(i32::try_from(dropped).unwrap_or(0));
    let value = if place >= -1022 {
        exact * 2_f64.powi(place)
    } else {
        // In two exact steps: the result has no bits below 2^-1074.
        exact * 2_f64.powi(-1022) * 2_f64.powi(place.saturating_add(1022))
    };
    if is_negative { -value } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_floats_are_rounded_to_the_nearest() {
        let extended = |exponent: u128, mantissa: u64| {
            from_extended((exponent << 64) | u128::from(mantissa))
        };
        // 2^-1074 is the smallest double; half of it rounds to even, a bit more rounds up.
        let one = 1_u64 << 63;
        let rows = [
            (extended(16_383, one), 1.0),
            (extended(16_383, one | 1), 1.0),
            (extended(16_383, one | (1 << 10)), 1.0),
            (extended(16_383, one | (1 << 10) | 1), 1.0 + f64::EPSILON),
            (extended(16_383 - 1074, one), f64::from_bits(1)),
            (extended(16_383 - 1075, one), 0.0),
            (extended(16_383 - 1075, one | 1), f64::from_bits(1)),
            (extended(16_383 - 2000, one), 0.0),
            (extended(0, 0), 0.0),
            (extended(16_383 + 1023, u64::MAX), f64::INFINITY),
            (extended(16_383 + 5000, one), f64::INFINITY),
            (extended(0x7fff, one), f64::INFINITY),
            (from_quadruple(0x3fff << 112), 1.0),
            (from_quadruple((0x3fff << 112) | (1 << 111)), 1.5),
            (from_quadruple(0xc000 << 112), -2.0),
            (from_quadruple(1), 0.0),
            (from_quadruple(0x7fff << 112), f64::INFINITY),
        ];
        for (index, (found, wanted)) in rows.into_iter().enumerate() {
            assert_eq!(
                found.to_bits(),
                wanted.to_bits(),
                "row {index}: {found} {wanted}"
            );
        }
        assert!(extended(0x7fff, one | 1).is_nan());
        assert!(from_quadruple((0x7fff << 112) | 1).is_nan());
    }

    #[test]
    fn varints_may_be_padded_but_not_wider_than_64_bits() {
        let max = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1];
        let rows: [(&[u8], Option<u64>); 6] = [
            (&[5], Some(5)),
            (&[0x85, 0x80, 0], Some(5)),
            (&max, Some(u64::MAX)),
            (&[0xff; 10], None),
            (&[0x80; 11], None),
            (&[0x80, 0x80], None),
        ];
        for (bytes, wanted) in rows {
            assert_eq!(
                varint(bytes, 0).ok().map(|(value, _)| value),
                wanted,
                "{bytes:?}"
            );
        }
    }
}
