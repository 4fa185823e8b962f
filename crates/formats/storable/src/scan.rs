//! Passing over items: where they end, which tags and classes they have, and whether they are
//! well formed.
//!
//! A hash has each value before its key, so a reader that wants the key must first pass over
//! the value. Each byte is passed over once at most: on the way the ends of all values of
//! hashes inside are noted, and looked up when the reader comes to them.
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::arithmetic_side_effects
)]

use crate::wire::{Cursor, Form, SIGNED_MAX, code, hook_flag, key_flag};
use crate::{Error, ReadOptions, Result};

/// What may still be entered from a place in an image.
///
/// It goes down with the calls, by value, and no call gives anything back.
///
/// Two numbers, since a pair stays in registers where three go through memory, written one by
/// one and read as a whole, for which the processor waits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Left {
    /// Arrays and hashes.
    levels: u32,
    /// In the lower half references, classes and what else stands before an item, in the upper
    /// half options and newtypes, which take no bytes.
    wraps_and_types: u64,
}

/// One option or newtype.
const ONE_TYPE: u64 = 1 << 32;

impl Left {
    #[inline]
    pub(crate) fn new(max_depth: u32) -> Self {
        let wraps = u64::from(max_depth.saturating_mul(2));
        Self { levels: max_depth, wraps_and_types: wraps << 32 | wraps }
    }

    /// Inside an array or a hash.
    #[inline]
    pub(crate) fn enter(self) -> Result<Self> {
        match self.levels.checked_sub(1) {
            Some(levels) => Ok(Self { levels, ..self }),
            None => Err(too_deep()),
        }
    }

    /// Behind a reference or a class.
    #[inline]
    pub(crate) fn wrap(self) -> Result<Self> {
        if self.wraps_and_types.is_multiple_of(ONE_TYPE) {
            return Err(too_deep());
        }
        Ok(Self { wraps_and_types: self.wraps_and_types.wrapping_sub(1), ..self })
    }

    /// Inside an option or a newtype.
    #[inline]
    pub(crate) fn enter_type(self) -> Result<Self> {
        match self.wraps_and_types.checked_sub(ONE_TYPE) {
            Some(wraps_and_types) => Ok(Self { wraps_and_types, ..self }),
            None => Err(too_deep()),
        }
    }
}

#[cold]
fn too_deep() -> Error {
    Error::limit("the value nests deeper than the limit")
}

/// A class of an image.
#[derive(Clone, Copy, Debug)]
struct Class {
    /// Where it is told: only what comes later may name it.
    at: u32,
    name_start: u32,
    name_bytes: u32,
}

/// The tags and classes of an image, for those that have references back.
#[derive(Debug, Default)]
pub(crate) struct Table {
    /// Start and end of the items; the end of one that is not finished is 0.
    items: Vec<(u32, u32)>,
    classes: Vec<Class>,
    /// A bit for each item that is met again.
    shared: Vec<u64>,
}

/// Where a tag leads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    pub(crate) start: usize,
    /// How many items it has in it, itself included.
    pub(crate) items: usize,
}

impl Table {
    pub(crate) fn clear(&mut self) {
        self.items.clear();
        self.classes.clear();
        self.shared.clear();
    }

    /// The item with this tag, as seen from `at`; none if it is not finished there.
    pub(crate) fn target(&self, tag: usize, at: usize) -> Option<Target> {
        let &(start, end) = self.items.get(tag)?;
        if to_usize(end) > at {
            return None;
        }
        let rest = self.items.get(tag..)?;
        let items = rest.partition_point(|&(other, _)| other < end);
        Some(Target { start: to_usize(start), items })
    }

    /// The name of a class that was told before `at`.
    pub(crate) fn class<'de>(
        &self,
        input: &'de [u8],
        index: usize,
        at: usize,
    ) -> Option<&'de [u8]> {
        let class = self.classes.get(index).filter(|class| to_usize(class.at) < at)?;
        let start = to_usize(class.name_start);
        input.get(start..start.saturating_add(to_usize(class.name_bytes)))
    }

    /// Whether the item with this tag is met again.
    pub(crate) fn is_shared(&self, tag: usize) -> bool {
        let word = self.shared.get(tag >> 6).copied().unwrap_or(0);
        word >> (tag & 63) & 1 == 1
    }

    /// Which of the two immortal booleans the item with this tag is, if it is one. It is the
    /// same wherever it stands.
    pub(crate) fn immortal(&self, input: &[u8], tag: usize) -> Option<bool> {
        let &(start, _) = self.items.get(tag)?;
        match input.get(to_usize(start)) {
            Some(&code::SV_YES) => Some(true),
            Some(&code::SV_NO) => Some(false),
            _ => None,
        }
    }

    fn share(&mut self, tag: usize) {
        let index = tag >> 6;
        if self.shared.len() <= index {
            self.shared.resize(index.saturating_add(1), 0);
        }
        if let Some(word) = self.shared.get_mut(index) {
            *word |= 1 << (tag & 63);
        }
    }
}

/// Where values of hashes end, in the order of their starts.
#[derive(Debug, Default)]
pub(crate) struct Ends {
    all: Vec<(u32, u32)>,
    /// The one that is most likely asked for next.
    next: usize,
}

impl Ends {
    pub(crate) fn clear(&mut self) {
        self.all.clear();
        self.next = 0;
    }

    /// Where the value ends that starts here, if that is known.
    #[inline]
    pub(crate) fn of(&mut self, start: usize) -> Option<usize> {
        match self.all.get(self.next) {
            Some(&(at, end)) if to_usize(at) == start => {
                self.next = self.next.wrapping_add(1);
                Some(to_usize(end))
            }
            _ => self.search(start),
        }
    }

    /// How many are noted.
    #[cfg(test)]
    pub(crate) fn count(&self) -> usize {
        self.all.len()
    }

    fn search(&mut self, start: usize) -> Option<usize> {
        let index = self.all.partition_point(|&(at, _)| to_usize(at) < start);
        let &(at, end) = self.all.get(index)?;
        self.next = index.saturating_add(1);
        (to_usize(at) == start).then(|| to_usize(end))
    }
}

/// Offsets fit since inputs are shorter than 4 GiB.
#[inline]
fn to_u32(offset: usize) -> u32 {
    u32::try_from(offset).unwrap_or(u32::MAX)
}

#[inline]
fn to_usize(offset: u32) -> usize {
    usize::try_from(offset).unwrap_or(usize::MAX)
}

/// Passes over one item.
#[derive(Debug)]
pub(crate) struct Scan<'s, 'de> {
    pub(crate) cursor: Cursor<'de>,
    form: Form,
    options: &'s ReadOptions,
    ends: Option<&'s mut Ends>,
    table: Option<&'s mut Table>,
    /// Whether a reference back was passed that can be checked only with a table.
    pub(crate) needs_table: bool,
}

impl<'s, 'de> Scan<'s, 'de> {
    /// Notes the ends in `ends`, if it is there.
    pub(crate) fn new(
        cursor: Cursor<'de>,
        form: Form,
        options: &'s ReadOptions,
        ends: Option<&'s mut Ends>,
    ) -> Self {
        Self { cursor, form, options, ends, table: None, needs_table: false }
    }

    /// Passes over the item.
    #[inline]
    pub(crate) fn pass(&mut self, left: Left) -> Result<()> {
        self.item::<false>(left)
    }

    /// Passes over the root, and makes the table of its tags and classes.
    pub(crate) fn pass_root(&mut self, left: Left, table: &'s mut Table) -> Result<()> {
        self.table = Some(table);
        self.item::<true>(left)
    }

    #[cold]
    fn wrong(&self, at: usize, what: &'static str) -> Error {
        let _ = self;
        Error::syntax(what).at(at)
    }

    /// An item begins that takes a tag.
    #[inline]
    fn begin<const TABLE: bool>(&mut self, at: usize) {
        if TABLE && let Some(table) = &mut self.table {
            table.items.push((to_u32(at), 0));
        }
    }

    #[inline]
    fn begun(&self) -> usize {
        self.table.as_ref().map_or(0, |table| table.items.len())
    }

    /// An item that was met before.
    fn object<const TABLE: bool>(&mut self, at: usize, tag: usize) -> Result<()> {
        if !TABLE {
            self.needs_table = true;
        } else if tag >= self.begun() {
            return Err(self.wrong(at, "expected the tag of an item met before"));
        } else if let Some(table) = &mut self.table
            && table.immortal(self.cursor.input, tag).is_none()
        {
            table.share(tag);
        }
        Ok(())
    }

    /// Whether the item with this tag has a class.
    fn is_object(&self, tag: usize) -> bool {
        let place = self.table.as_ref().and_then(|table| table.items.get(tag));
        let start = place.map_or(usize::MAX, |&(start, _)| to_usize(start));
        match self.cursor.input.get(start..).unwrap_or_default() {
            [code::BLESS | code::IX_BLESS | code::HOOK, ..] => true,
            // Other large items are no objects by themselves.
            [code::LOBJECT, next, ..] => *next == code::HOOK,
            _ => false,
        }
    }

    /// A class that is told here.
    fn class<const TABLE: bool>(&mut self, at: usize, length: usize) -> Result<()> {
        let start = self.cursor.pos;
        self.cursor.bytes(length)?;
        if TABLE && let Some(table) = &mut self.table {
            table.classes.push(Class {
                at: to_u32(at),
                name_start: to_u32(start),
                name_bytes: to_u32(length),
            });
        }
        Ok(())
    }

    /// A class that was told before.
    fn class_index<const TABLE: bool>(&mut self, at: usize, index: usize) -> Result<()> {
        if !TABLE {
            self.needs_table = true;
        } else if self.table.as_ref().is_none_or(|table| index >= table.classes.len()) {
            return Err(self.wrong(at, "expected the index of a class met before"));
        }
        Ok(())
    }

    fn item<const TABLE: bool>(&mut self, left: Left) -> Result<()> {
        let first = if TABLE { self.begun() } else { 0 };
        let opened = self.item_at::<TABLE>(left)?;
        if TABLE && let Some(table) = &mut self.table {
            let end = to_u32(self.cursor.pos);
            let last = first.saturating_add(opened).min(table.items.len());
            for (_, place) in table.items.get_mut(first..last).unwrap_or_default() {
                *place = end;
            }
        }
        Ok(())
    }

    /// Passes over an item and tells how many tags it took, without those of what is in it.
    fn item_at<const TABLE: bool>(&mut self, mut left: Left) -> Result<usize> {
        let mut opened: usize = 0;
        let mut is_blessed = false;
        let mut must_be_object = false;
        // An object begins with its class.
        let mut start = None;
        loop {
            let at = self.cursor.pos;
            let code = self.cursor.byte()?;
            if must_be_object && !is_blessed && !may_be_object(code, self.cursor.peek()) {
                return Err(self.wrong(at, NO_OBJECT));
            }
            match code {
                code::OBJECT => {
                    let tag = self.cursor.tag()?;
                    self.object::<TABLE>(at, tag)?;
                    if TABLE && must_be_object && !self.is_object(tag) {
                        return Err(self.wrong(at, NO_OBJECT));
                    }
                    return Ok(opened);
                }
                code::REF | code::WEAKREF | code::OVERLOAD | code::WEAKOVERLOAD => {
                    self.begin::<TABLE>(start.take().unwrap_or(at));
                    opened = opened.wrapping_add(1);
                    left = left.wrap()?;
                    must_be_object = matches!(code, code::OVERLOAD | code::WEAKOVERLOAD);
                    is_blessed = false;
                    continue;
                }
                code::TIED_ARRAY | code::TIED_HASH | code::TIED_SCALAR => {
                    self.options.check_tied(at)?;
                    self.begin::<TABLE>(start.take().unwrap_or(at));
                    opened = opened.wrapping_add(1);
                    left = left.wrap()?;
                    must_be_object = false;
                    is_blessed = false;
                    continue;
                }
                code::BLESS => {
                    self.options.check_blessed(at)?;
                    let length = self.cursor.class_length(self.form)?;
                    self.class::<TABLE>(at, length)?;
                    left = left.wrap()?;
                    start.get_or_insert(at);
                    is_blessed = true;
                    continue;
                }
                code::IX_BLESS => {
                    self.options.check_blessed(at)?;
                    let index = self.cursor.class_length(self.form)?;
                    self.class_index::<TABLE>(at, index)?;
                    left = left.wrap()?;
                    start.get_or_insert(at);
                    is_blessed = true;
                    continue;
                }
                code::LOBJECT
                    if must_be_object && self.cursor.peek() == Some(code::OBJECT) =>
                {
                    return Err(self.wrong(at, NO_OBJECT));
                }
                _ if is_blessed && is_immortal(code) => {
                    return Err(self.wrong(at, "expected an object behind the class"));
                }
                _ => {}
            }
            opened = opened.wrapping_add(1);
            self.begin::<TABLE>(start.unwrap_or(at));
            self.rest::<TABLE>(at, code, left)?;
            return Ok(opened);
        }
    }

    /// Passes over what is behind the code of an item, whose tag is taken.
    fn rest<const TABLE: bool>(&mut self, at: usize, code: u8, left: Left) -> Result<()> {
        match code {
            code::UNDEF
            | code::SV_UNDEF
            | code::SV_YES
            | code::SV_NO
            | code::SVUNDEF_ELEM
            | code::BOOLEAN_TRUE
            | code::BOOLEAN_FALSE => Ok(()),
            code::BYTE => self.cursor.byte().map(drop),
            code::NETINT => self.cursor.bytes(4).map(drop),
            code::INTEGER => self.cursor.bytes(self.form.int_bytes).map(drop),
            code::DOUBLE => self.cursor.bytes(self.form.float_bytes).map(drop),
            code::SCALAR | code::UTF8STR => {
                let length = usize::from(self.cursor.byte()?);
                self.cursor.bytes(length).map(drop)
            }
            code::LSCALAR | code::LUTF8STR => {
                let length = self.cursor.size(self.form)?;
                self.cursor.bytes(length).map(drop)
            }
            code::ARRAY => {
                let count = self.cursor.signed_size(self.form)?;
                self.array::<TABLE>(count, left)
            }
            code::HASH => {
                let count = self.cursor.signed_size(self.form)?;
                self.hash::<TABLE>(count, false, left)
            }
            code::FLAG_HASH => {
                self.cursor.byte()?;
                let count = self.cursor.signed_size(self.form)?;
                self.hash::<TABLE>(count, true, left)
            }
            code::VSTRING | code::LVSTRING => {
                let length = if code == code::VSTRING {
                    usize::from(self.cursor.byte()?)
                } else {
                    self.cursor.size(self.form)?
                };
                self.cursor.bytes(length)?;
                let at = self.cursor.pos;
                // The tag is the string's: it begins here.
                match self.cursor.byte()? {
                    code if is_string(code) => self.rest::<TABLE>(at, code, left),
                    _ => Err(self.wrong(at, "expected a string behind a v-string")),
                }
            }
            code::REGEXP => self.regexp(),
            code::CODE => {
                self.options.check_code(at)?;
                let at = self.cursor.pos;
                match self.cursor.peek() {
                    Some(code) if is_string(code) => self.item::<TABLE>(left),
                    Some(_) => Err(self.wrong(at, "expected the text of code")),
                    None => Err(self.cursor.cut()),
                }
            }
            code::HOOK => self.hook::<TABLE>(left, false),
            code::TIED_KEY => {
                self.options.check_tied(at)?;
                let left = left.wrap()?;
                self.item::<TABLE>(left)?;
                self.item::<TABLE>(left)
            }
            code::TIED_IDX => {
                self.options.check_tied(at)?;
                self.item::<TABLE>(left.wrap()?)?;
                self.cursor.size(self.form).map(drop)
            }
            code::LOBJECT => self.large::<TABLE>(left),
            _ => Err(unknown(at, code)),
        }
    }

    fn large<const TABLE: bool>(&mut self, left: Left) -> Result<()> {
        let at = self.cursor.pos;
        match self.cursor.byte()? {
            code::OBJECT => {
                // It took a tag as an item, and is none.
                if TABLE && let Some(table) = &mut self.table {
                    table.items.pop();
                }
                let tag = self.cursor.long_size(self.form)?;
                self.object::<TABLE>(at, tag)
            }
            code::LSCALAR | code::LUTF8STR => {
                let length = self.cursor.long_size(self.form)?;
                self.cursor.bytes(length).map(drop)
            }
            code::ARRAY => {
                let count = self.cursor.long_size(self.form)?;
                self.array::<TABLE>(count, left)
            }
            code::HASH => {
                let count = self.cursor.long_size(self.form)?;
                self.hash::<TABLE>(count, false, left)
            }
            code::FLAG_HASH => {
                self.cursor.byte()?;
                let count = self.cursor.long_size(self.form)?;
                self.hash::<TABLE>(count, true, left)
            }
            code::HOOK => self.hook::<TABLE>(left, true),
            code => Err(unknown_large(at, code)),
        }
    }

    fn array<const TABLE: bool>(&mut self, count: usize, left: Left) -> Result<()> {
        let left = left.enter()?;
        let mut count = self.cursor.check_count(count, 1)?;
        while count > 0 {
            if !TABLE {
                // Arrays are mostly of one kind of element, and those of a fixed size need no
                // look at each.
                let passed = match self.cursor.peek() {
                    Some(code @ code::BYTE) => self.run::<2, 16>(code, count),
                    Some(code @ code::NETINT) => self.run::<5, 40>(code, count),
                    Some(code @ code::INTEGER) if self.form.int_bytes == 8 => {
                        self.run::<9, 72>(code, count)
                    }
                    Some(code @ code::DOUBLE) if self.form.float_bytes == 8 => {
                        self.run::<9, 72>(code, count)
                    }
                    _ => 0,
                };
                if passed > 0 {
                    count = count.saturating_sub(passed);
                    continue;
                }
            }
            self.item::<TABLE>(left)?;
            count = count.saturating_sub(1);
        }
        Ok(())
    }

    /// Passes over elements of `STRIDE` bytes that begin with `code`, eight at a time, and
    /// tells how many there were.
    #[inline]
    fn run<const STRIDE: usize, const EIGHT: usize>(
        &mut self,
        code: u8,
        count: usize,
    ) -> usize {
        let rest = self.cursor.input.get(self.cursor.pos..).unwrap_or_default();
        let mut chunks: usize = 0;
        for chunk in rest.chunks_exact(EIGHT).take(count >> 3) {
            if !chunk.iter().step_by(STRIDE).all(|&byte| byte == code) {
                break;
            }
            chunks = chunks.wrapping_add(1);
        }
        self.cursor.pos = self.cursor.pos.saturating_add(chunks.saturating_mul(EIGHT));
        chunks.saturating_mul(8)
    }

    fn hash<const TABLE: bool>(
        &mut self,
        count: usize,
        is_flagged: bool,
        left: Left,
    ) -> Result<()> {
        let left = left.enter()?;
        let least = if is_flagged { LEAST_FLAGGED_PAIR } else { LEAST_PAIR };
        for _ in 0..self.cursor.check_count(count, least)? {
            match scalar_end(&self.cursor, self.form) {
                Some(end) if !TABLE && end <= self.cursor.input.len() => {
                    self.cursor.pos = end;
                }
                Some(_) => self.item::<TABLE>(left)?,
                None => self.hash_value::<TABLE>(left)?,
            }
            if is_flagged {
                let flags = self.cursor.byte()?;
                if flags & key_flag::IS_ITEM != 0 {
                    let at = self.cursor.pos;
                    match self.cursor.peek() {
                        Some(code) if is_string(code) => self.item::<TABLE>(left)?,
                        Some(_) => {
                            return Err(self.wrong(at, "expected a string as a key"));
                        }
                        None => return Err(self.cursor.cut()),
                    }
                    continue;
                }
            }
            let length = self.cursor.signed_size(self.form)?;
            self.cursor.bytes(length)?;
        }
        Ok(())
    }

    /// Passes over a value whose end is noted.
    fn hash_value<const TABLE: bool>(&mut self, left: Left) -> Result<()> {
        let start = to_u32(self.cursor.pos);
        let mut index = None;
        if let Some(ends) = &mut self.ends {
            index = Some(ends.all.len());
            ends.all.push((start, 0));
        }
        self.item::<TABLE>(left)?;
        let end = to_u32(self.cursor.pos);
        if let (Some(index), Some(ends)) = (index, &mut self.ends)
            && let Some((_, place)) = ends.all.get_mut(index)
        {
            *place = end;
        }
        Ok(())
    }

    fn regexp(&mut self) -> Result<()> {
        regexp(&mut self.cursor, self.form).map(drop)
    }

    fn hook<const TABLE: bool>(&mut self, left: Left, is_large: bool) -> Result<()> {
        let at = self.cursor.pos;
        self.options.check_blessed(at)?;
        let left = left.wrap()?;
        let mut flags = self.cursor.byte()?;
        let is_tied = flags & hook_flag::KIND == hook_flag::KIND_TIED;
        if is_tied {
            hook_kind_tied(&mut self.cursor)?;
        }
        let mut own = Vec::new();
        while flags & hook_flag::ITEM_FOLLOWS != 0 {
            let tag = self.begun();
            self.item::<TABLE>(left)?;
            if TABLE {
                own.push((self.begun() > tag).then_some(tag));
            }
            flags = self.cursor.byte()?;
        }
        let at = self.cursor.pos;
        if flags & hook_flag::CLASS_BY_INDEX != 0 {
            let index =
                hook_number(&mut self.cursor, self.form, flags, hook_flag::LONG_CLASS)?;
            self.class_index::<TABLE>(at, index)?;
        } else {
            let length =
                hook_number(&mut self.cursor, self.form, flags, hook_flag::LONG_CLASS)?;
            if length > SIGNED_MAX {
                return Err(self.wrong(at, "expected a length, found a negative number"));
            }
            self.class::<TABLE>(at, length)?;
        }
        let length = hook_string_length(&mut self.cursor, self.form, flags, is_large)?;
        self.cursor.bytes(length)?;
        let at = self.cursor.pos;
        let list = HookList::take(&mut self.cursor, self.form, flags, &own)?;
        // The first mention of an item of its own does not share it.
        let mut met: usize = 0;
        for &tag in &list.tags {
            if list.is_next(&own, met, tag) {
                met = met.saturating_add(1);
            } else {
                self.object::<TABLE>(at, tag)?;
            }
        }
        if !TABLE {
            self.needs_table |= !list.tags.is_empty();
        }
        if is_tied { self.item::<TABLE>(left) } else { Ok(()) }
    }
}

/// What a hook's list of tags says of the items that stand in the hook.
#[derive(Debug)]
pub(crate) struct HookList {
    pub(crate) tags: Vec<usize>,
    /// Whether it has each of those items, in their order, as Perl writes it.
    pub(crate) is_in_order: bool,
}

impl HookList {
    /// Reads the list. `own` are the tags of the hook's own items, in order; none of what was
    /// met before.
    pub(crate) fn take(
        cursor: &mut Cursor<'_>,
        form: Form,
        flags: u8,
        own: &[Option<usize>],
    ) -> Result<Self> {
        let mut tags = Vec::new();
        // How many of its own items it has so far.
        let mut met: usize = 0;
        let mut is_in_order = own.iter().all(Option::is_some);
        if flags & hook_flag::HAS_LIST != 0 {
            let count = hook_number(cursor, form, flags, hook_flag::LONG_LIST)?;
            // A negative number says that tags have 8 bytes.
            let (count, is_long) = if count <= SIGNED_MAX {
                (count, false)
            } else {
                let count = u32::try_from(count).unwrap_or(u32::MAX).wrapping_neg();
                (to_usize(count), true)
            };
            let count = cursor.check_count(count, if is_long { 8 } else { 4 })?;
            for _ in 0..count {
                let tag = if is_long { cursor.long_size(form)? } else { cursor.tag()? };
                tags.push(tag);
                if is_in_order && let Ok(index) = own.binary_search(&Some(tag)) {
                    is_in_order = index <= met;
                    met = met.max(index.saturating_add(1));
                }
            }
        }
        is_in_order &= met == own.len();
        Ok(Self { tags, is_in_order })
    }

    /// Whether this is the first mention of the next of the own items.
    pub(crate) fn is_next(&self, own: &[Option<usize>], met: usize, tag: usize) -> bool {
        self.is_in_order && own.get(met).copied().flatten() == Some(tag)
    }
}

/// What stands behind an overloading reference must be of a class.
pub(crate) const NO_OBJECT: &str = "expected an object behind the reference";

/// A value of a byte, a size of four and a key of none.
pub(crate) const LEAST_PAIR: usize = 5;

/// A value of a byte, flags, and a key that is an item of two.
pub(crate) const LEAST_FLAGGED_PAIR: usize = 4;

/// Whether it begins a string.
pub(crate) fn is_string(code: u8) -> bool {
    matches!(code, code::SCALAR | code::LSCALAR | code::UTF8STR | code::LUTF8STR)
}

/// Whether it may begin an object, or something that was met before.
pub(crate) fn may_be_object(code: u8, next: Option<u8>) -> bool {
    match code {
        code::BLESS | code::IX_BLESS | code::HOOK | code::OBJECT => true,
        // One that is cut is found out later.
        code::LOBJECT => matches!(next, None | Some(code::HOOK)),
        _ => false,
    }
}

/// Whether it is one of Perl's own scalars, which are never objects.
pub(crate) fn is_immortal(code: u8) -> bool {
    matches!(code, code::SV_UNDEF | code::SV_YES | code::SV_NO | code::SVUNDEF_ELEM)
}

/// Where an item ends whose end its first bytes tell; perhaps behind the input's end. What is
/// none of these, and what is not there, has none.
#[inline]
pub(crate) fn scalar_end(cursor: &Cursor<'_>, form: Form) -> Option<usize> {
    let mut rest = *cursor;
    let length = match rest.byte().ok()? {
        code::BYTE => 1,
        code::NETINT => 4,
        code::INTEGER => form.int_bytes,
        code::DOUBLE => form.float_bytes,
        code::SCALAR | code::UTF8STR => usize::from(rest.byte().ok()?),
        code::LSCALAR | code::LUTF8STR => rest.size(form).ok()?,
        code::UNDEF
        | code::SV_UNDEF
        | code::SV_YES
        | code::SV_NO
        | code::SVUNDEF_ELEM
        | code::BOOLEAN_TRUE
        | code::BOOLEAN_FALSE => 0,
        _ => return None,
    };
    Some(rest.pos.saturating_add(length))
}

/// Whether they are modifiers of a pattern, without `e`, which would run code.
pub(crate) fn are_modifiers(letters: &[u8]) -> bool {
    letters.iter().all(|letter| b"msixpdualn".contains(letter))
}

/// The pattern and the modifiers behind the code.
pub(crate) fn regexp<'de>(
    cursor: &mut Cursor<'de>,
    form: Form,
) -> Result<(&'de [u8], &'de [u8])> {
    let is_long = cursor.byte()? & 1 != 0;
    let length = if is_long { cursor.size(form)? } else { usize::from(cursor.byte()?) };
    let pattern = cursor.bytes(length)?;
    let at = cursor.pos;
    let length = usize::from(cursor.byte()?);
    let modifiers = cursor.bytes(length)?;
    if !are_modifiers(modifiers) {
        return Err(Error::syntax("expected modifiers of a pattern").at(at));
    }
    Ok((pattern, modifiers))
}

/// The kind of the tied thing that a hook's object is: 4, 5 or 6.
pub(crate) fn hook_kind_tied(cursor: &mut Cursor<'_>) -> Result<u8> {
    let at = cursor.pos;
    match cursor.byte()? {
        kind @ 4..=6 => Ok(kind),
        kind => {
            let text = format!("expected a kind of tied thing, found {kind}");
            Err(Error::syntax(text).at(at))
        }
    }
}

/// A length or an index of a hook: a size if the flag is set, else a byte.
pub(crate) fn hook_number(
    cursor: &mut Cursor<'_>,
    form: Form,
    flags: u8,
    long: u8,
) -> Result<usize> {
    if flags & long != 0 { cursor.size(form) } else { Ok(usize::from(cursor.byte()?)) }
}

/// The length of a hook's string.
pub(crate) fn hook_string_length(
    cursor: &mut Cursor<'_>,
    form: Form,
    flags: u8,
    is_large: bool,
) -> Result<usize> {
    if is_large {
        cursor.long_size(form)
    } else {
        hook_number(cursor, form, flags, hook_flag::LONG_STRING)
    }
}

#[cold]
pub(crate) fn unknown(at: usize, code: u8) -> Error {
    Error::syntax(format!("expected an item, found the unknown code {code}")).at(at)
}

#[cold]
pub(crate) fn unknown_large(at: usize, code: u8) -> Error {
    Error::syntax(format!("expected a large item, found the code {code}")).at(at)
}
