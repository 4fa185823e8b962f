//! Writing a body: numbers, strings, keys, references; and [`Value`]s.

use std::collections::HashMap;

use crate::header::start;
use crate::keys::fingerprint;
use crate::read::{SHORT, copied_bytes};
use crate::tag::{self, TRACK};
use crate::value::{Id, Immortal, Item, Str, Value};
use crate::{
    Dedupe, DocumentType, Error, KeyOrder, Objects, Result, Version, WriteOptions,
    compress,
};

/// Appends a varint.
#[inline]
pub(crate) fn put_varint(out: &mut Vec<u8>, value: u64) {
    match value {
        0..0x80 => out.push(low_bits(value)),
        0x80..0x4000 => {
            out.extend_from_slice(&[low_bits(value) | 0x80, low_bits(value >> 7)]);
        }
        _ => put_long_varint(out, value),
    }
}

/// The lowest seven bits.
#[inline]
fn low_bits(value: u64) -> u8 {
    (value & 0x7f) as u8
}

fn put_long_varint(out: &mut Vec<u8>, mut value: u64) {
    let mut bytes = [0; 10];
    let mut len = 0;
    for byte in &mut bytes {
        len += 1;
        *byte = low_bits(value);
        value >>= 7;
        if value == 0 {
            break;
        }
        *byte |= 0x80;
    }
    out.extend_from_slice(&bytes[..len]);
}

/// As many keys are compared one by one; of more a table is made.
const FEW: usize = 16;

/// The keys that were written, and where.
#[derive(Debug, Default)]
struct Keys {
    all: Vec<Key>,
    /// Indexes into `all`, plus one, by fingerprint; empty while there are few.
    table: Vec<u32>,
    /// Where the next key is expected: records have theirs in one order.
    guess: usize,
}

#[derive(Debug)]
struct Key {
    print: u64,
    /// The address of a key that lives for ever, else 0.
    address: usize,
    /// Where its tag stands, and its bytes.
    at: usize,
    start: usize,
    len: usize,
    is_text: bool,
}

impl Keys {
    fn clear(&mut self) {
        self.all.clear();
        self.table.clear();
        self.guess = 0;
    }

    /// The place of the key that is expected, if it is this very one.
    #[inline]
    fn expected(&mut self, key: &'static str) -> Option<usize> {
        let known = self.all.get(self.guess)?;
        if known.address == key.as_ptr().addr() && known.len == key.len() {
            self.guess += 1;
            return Some(known.at);
        }
        None
    }

    #[inline]
    fn find(
        &mut self,
        out: &[u8],
        bytes: &[u8],
        is_text: bool,
        print: u64,
    ) -> Option<usize> {
        let is_it = |known: &Key| {
            known.print == print
                && known.is_text == is_text
                && out[known.start..known.start + known.len] == *bytes
        };
        let index = if self.table.is_empty() {
            self.all.iter().position(is_it)?
        } else {
            let mut slot = self.slot(print);
            loop {
                match self.table[slot] {
                    0 => return None,
                    entry if is_it(&self.all[entry as usize - 1]) => {
                        break entry as usize - 1;
                    }
                    _ => slot = (slot + 1) & (self.table.len() - 1),
                }
            }
        };
        self.guess = index + 1;
        Some(self.all[index].at)
    }

    #[inline]
    fn slot(&self, print: u64) -> usize {
        // The upper bits are the better mixed.
        (print.wrapping_mul(0xff51_afd7_ed55_8ccd) >> 32) as usize
            & (self.table.len() - 1)
    }

    #[inline]
    fn add(&mut self, key: Key) {
        self.all.push(key);
        if self.all.len() > FEW {
            self.add_to_table();
        }
    }

    fn add_to_table(&mut self) {
        // As many as four thousand million keys would be, the rest is written in full.
        if u32::try_from(self.all.len()).is_err() {
            self.all.pop();
            return;
        }
        if self.all.len() * 2 > self.table.len() {
            let slots = (self.all.len() * 4).next_power_of_two();
            self.table.clear();
            self.table.resize(slots, 0);
            for index in 0..self.all.len() {
                self.put(index);
            }
        } else {
            self.put(self.all.len() - 1);
        }
    }

    fn put(&mut self, index: usize) {
        let mut slot = self.slot(self.all[index].print);
        while self.table[slot] != 0 {
            slot = (slot + 1) & (self.table.len() - 1);
        }
        // It fits, see `add_to_table`.
        self.table[slot] = u32::try_from(index + 1).unwrap_or(0);
    }
}

/// What the next value is a part of, where it matters to its first bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Special {
    #[default]
    None,
    Object,
    Frozen,
    Regexp,
}

/// A body that is being written, and what was written in it.
#[derive(Debug)]
pub(crate) struct Writer {
    pub(crate) out: Vec<u8>,
    options: WriteOptions,
    /// Where the body begins in `out`.
    base: usize,
    /// The offset of its first byte.
    shift: usize,
    shares_keys: bool,
    /// Bytes of long strings that a reader will read a second time.
    copied: usize,
    keys: Keys,
    strings: HashMap<Box<[u8]>, usize>,
    classes: Vec<(Str<'static>, usize)>,
    shared: HashMap<Id, (usize, Item)>,
    levels: u32,
    wraps: u32,
    pub(crate) special: Special,
    /// Of a regular expression whose modifiers are still to come.
    pub(crate) pattern: Option<Str<'static>>,
    /// A reference or a class was written, so that the next value is in no element.
    pub(crate) is_behind: bool,
    /// The next container is written as REFN and ARRAY, whatever its length.
    pub(crate) is_bare: bool,
}

impl Writer {
    pub(crate) fn new(options: WriteOptions) -> Self {
        Self {
            out: Vec::new(),
            options,
            base: 0,
            shift: 1,
            shares_keys: true,
            copied: 0,
            keys: Keys::default(),
            strings: HashMap::new(),
            classes: Vec::new(),
            shared: HashMap::new(),
            levels: 0,
            wraps: 0,
            special: Special::None,
            pattern: None,
            is_bare: false,
            is_behind: false,
        }
    }

    pub(crate) fn options(&self) -> &WriteOptions {
        &self.options
    }

    /// Forgets what was written: a new body begins at the end of `out`, and its first byte has
    /// the offset `shift`.
    #[inline]
    pub(crate) fn begin_body(&mut self, shift: usize) {
        self.base = self.out.len();
        self.shift = shift;
        self.shares_keys = self.options.shared_keys
            && matches!(self.options.order, KeyOrder::Kept | KeyOrder::Length);
        self.copied = 0;
        self.keys.clear();
        self.levels = self.options.max_depth;
        self.wraps = self.options.max_depth.saturating_mul(2);
        self.special = Special::None;
        self.is_bare = false;
        self.is_behind = false;
        if !self.strings.is_empty() {
            self.strings.clear();
        }
        self.classes.clear();
        if !self.shared.is_empty() {
            self.shared.clear();
        }
    }

    #[inline]
    fn offset(&self, at: usize) -> u64 {
        (at - self.base + self.shift) as u64
    }

    #[inline]
    fn offset_tag(&mut self, tag: u8, at: usize) {
        let offset = self.offset(at);
        self.out.push(tag);
        put_varint(&mut self.out, offset);
    }

    #[inline]
    pub(crate) fn put_u64(&mut self, value: u64) {
        let low = low_bits(value);
        match value {
            0..0x10 => self.out.push(low),
            0x10..0x80 => self.out.extend_from_slice(&[tag::VARINT, low]),
            0x80..0x4000 => self.out.extend_from_slice(&[
                tag::VARINT,
                low | 0x80,
                low_bits(value >> 7),
            ]),
            _ => {
                self.out.push(tag::VARINT);
                put_long_varint(&mut self.out, value);
            }
        }
    }

    #[inline]
    pub(crate) fn put_i64(&mut self, value: i64) {
        match u64::try_from(value) {
            Ok(value) => self.put_u64(value),
            Err(_) => self.put_negative(value),
        }
    }

    fn put_negative(&mut self, value: i64) {
        if let -16..0 = value {
            self.out.push((value.cast_unsigned() & 0x1f) as u8);
        } else {
            self.out.push(tag::ZIGZAG);
            put_varint(&mut self.out, (value.cast_unsigned() << 1) ^ u64::MAX);
        }
    }

    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "whether it is one is the question"
    )]
    pub(crate) fn put_f64(&mut self, value: f64) {
        let short = value as f32;
        if f64::from(short).to_bits() == value.to_bits() || value.is_nan() {
            return self.put_f32(short);
        }
        let mut bytes = [tag::DOUBLE; 9];
        bytes[1..].copy_from_slice(&value.to_le_bytes());
        self.out.extend_from_slice(&bytes);
    }

    #[inline]
    pub(crate) fn put_f32(&mut self, value: f32) {
        let [a, b, c, d] = value.to_le_bytes();
        self.out.extend_from_slice(&[tag::FLOAT, a, b, c, d]);
    }

    #[inline]
    pub(crate) fn put_bool(&mut self, value: bool) {
        self.out.push(match (self.options.version, value) {
            (Version::V5, true) => tag::YES,
            (Version::V5, false) => tag::NO,
            (_, true) => tag::TRUE,
            (_, false) => tag::FALSE,
        });
    }

    #[inline]
    pub(crate) fn put_undef(&mut self) {
        self.out.push(tag::UNDEF);
    }

    /// Whether a string may be written as a copy: not if a reader would find that too much comes
    /// from too little.
    #[inline]
    fn may_copy(&mut self, len: usize) -> bool {
        len <= SHORT || self.may_copy_long(len)
    }

    fn may_copy_long(&mut self, len: usize) -> bool {
        let copied = self.copied.saturating_add(len);
        if copied > copied_bytes(self.out.len() - self.base) {
            return false;
        }
        self.copied = copied;
        true
    }

    /// A string that is nothing else than that; tells where its bytes begin.
    #[inline]
    fn put_string(&mut self, bytes: &[u8], is_text: bool) -> usize {
        if !is_text && bytes.len() < 32 {
            self.out.push(tag::SHORT_BINARY | low_bits(bytes.len() as u64));
        } else {
            self.out.push(if is_text { tag::STR_UTF8 } else { tag::BINARY });
            put_varint(&mut self.out, bytes.len() as u64);
        }
        let start = self.out.len();
        self.out.extend_from_slice(bytes);
        start
    }

    #[inline]
    fn is_flagged(&self, text: &str) -> bool {
        self.options.always_text || !text.is_ascii()
    }

    /// Text as a value.
    #[inline]
    pub(crate) fn put_text(&mut self, text: &str) {
        let is_text = self.is_flagged(text);
        self.put_value_string(text.as_bytes(), is_text, true);
    }

    /// Bytes as a value.
    #[inline]
    pub(crate) fn put_bytes(&mut self, bytes: &[u8]) {
        self.put_value_string(bytes, false, true);
    }

    #[inline]
    fn put_value_string(&mut self, bytes: &[u8], is_text: bool, in_slot: bool) {
        if self.options.dedupe == Dedupe::Off || bytes.len() < 4 {
            self.put_string(bytes, is_text);
        } else {
            self.put_once(bytes, is_text, in_slot);
        }
    }

    #[cold]
    fn put_once(&mut self, bytes: &[u8], is_text: bool, in_slot: bool) {
        // Equal are those of equal characters.
        let characters: Box<[u8]> = if is_text || bytes.is_ascii() {
            bytes.into()
        } else {
            bytes.iter().copied().map(char::from).collect::<String>().into_bytes().into()
        };
        if let Some(&at) = self.strings.get(&characters)
            && self.may_copy(bytes.len())
        {
            // Only an element can be an alias: not what a reference leads to, nor a whole body.
            let is_behind = std::mem::take(&mut self.is_behind);
            let is_body = self.levels == self.options.max_depth;
            if self.options.dedupe == Dedupe::Alias && in_slot && !is_behind && !is_body {
                self.out[at] |= TRACK;
                self.offset_tag(tag::ALIAS, at);
            } else {
                self.offset_tag(tag::COPY, at);
            }
            return;
        }
        self.strings.insert(characters, self.out.len());
        self.put_string(bytes, is_text);
    }

    /// A key that lives for ever, as names of fields do.
    #[inline]
    pub(crate) fn put_static_key(&mut self, key: &'static str) {
        if self.shares_keys
            && let Some(at) = self.keys.expected(key)
            && self.may_copy(key.len())
        {
            self.offset_tag(tag::COPY, at);
            return;
        }
        let is_text = self.is_flagged(key);
        self.put_new_key(key.as_bytes(), is_text, key.as_ptr().addr());
    }

    /// Any key.
    #[inline]
    pub(crate) fn put_text_key(&mut self, key: &str) {
        let is_text = self.is_flagged(key);
        self.put_new_key(key.as_bytes(), is_text, 0);
    }

    #[inline]
    pub(crate) fn put_key(&mut self, key: &[u8], is_text: bool) {
        self.put_new_key(key, is_text, 0);
    }

    #[inline]
    fn put_new_key(&mut self, bytes: &[u8], is_text: bool, address: usize) {
        if !self.shares_keys {
            self.put_string(bytes, is_text);
            return;
        }
        let print = fingerprint(bytes);
        if let Some(at) = self.keys.find(&self.out, bytes, is_text, print) {
            if self.may_copy(bytes.len()) {
                self.offset_tag(tag::COPY, at);
            } else {
                self.put_string(bytes, is_text);
            }
            return;
        }
        let at = self.out.len();
        let start = self.put_string(bytes, is_text);
        let key = Key { print, address, at, start, len: bytes.len(), is_text };
        self.keys.add(key);
    }

    /// The tag of an object, and its class, unless objects are written without.
    pub(crate) fn put_class(&mut self, class: &Str<'_>, is_frozen: bool) -> Result<()> {
        match self.options.objects {
            Objects::Kept => self.put_kept_class(class, is_frozen),
            Objects::Plain => {}
            Objects::Refused => {
                return Err(Error::unsupported("objects are refused by the options"));
            }
        }
        Ok(())
    }

    fn put_kept_class(&mut self, class: &Str<'_>, is_frozen: bool) {
        let (first, later) = if is_frozen {
            (tag::OBJECT_FREEZE, tag::OBJECTV_FREEZE)
        } else {
            (tag::OBJECT, tag::OBJECTV)
        };
        if let Some((_, at)) = self.classes.iter().find(|(known, _)| known == class) {
            return self.offset_tag(later, *at);
        }
        self.out.push(first);
        let at = self.out.len();
        self.put_string(class.as_bytes(), class.is_text());
        // A program has few classes, and a list of them is searched; of data that makes up
        // thousands the later ones are written in full.
        if self.classes.len() < 256 {
            self.classes.push((class.clone().into_owned(), at));
        }
    }

    pub(crate) fn put_refn(&mut self) {
        self.out.push(tag::REFN);
    }

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

    #[inline]
    pub(crate) fn leave(&mut self) {
        self.levels += 1;
    }

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
        self.wraps += 1;
    }

    #[cold]
    fn too_deep(&self) -> Error {
        let levels = self.options.max_depth;
        Error::limit(format!("expected at most {levels} levels of nesting"))
    }

    /// The tags of a container of `len` elements or pairs; `short` is ARRAYREF or HASHREF, and
    /// `long` ARRAY or HASH.
    #[inline]
    pub(crate) fn put_container(&mut self, len: usize, short: u8, long: u8) {
        if len < 16 && !self.options.canonical_refs && !self.is_bare {
            self.out.push(short | low_bits(len as u64));
        } else {
            self.is_bare = false;
            self.out.extend_from_slice(&[tag::REFN, long]);
            put_varint(&mut self.out, len as u64);
        }
    }

    /// Those of a container whose length is not known: room for the count, and where it is.
    pub(crate) fn put_endless(&mut self, long: u8) -> usize {
        self.is_bare = false;
        self.out.extend_from_slice(&[tag::REFN, long]);
        let at = self.out.len();
        self.out.extend_from_slice(&PADDED_ZERO);
        at
    }

    /// Fills in a count that was not known.
    pub(crate) fn fix_count(&mut self, at: usize, count: usize) -> Result<()> {
        let mut count = u64::try_from(count).unwrap_or(u64::MAX);
        if count >= 1 << (7 * PADDED_ZERO.len()) {
            return Err(Error::limit("expected fewer elements"));
        }
        for byte in &mut self.out[at..at + PADDED_ZERO.len()] {
            *byte = (*byte & 0x80) | low_bits(count);
            count >>= 7;
        }
        Ok(())
    }

    /// What an object is made of was written from `at` on: it must be a reference.
    pub(crate) fn make_reference(&mut self, at: usize) -> Result<()> {
        let is_reference = matches!(
            self.out[at] & !TRACK,
            tag::REFN | tag::REFP | tag::ARRAYREF..tag::SHORT_BINARY
        );
        if !is_reference {
            self.out.insert(at, tag::REFN);
            // What was noted behind it has moved.
            self.strings.retain(|_, place| *place < at);
            self.keys.clear();
            self.classes.retain(|(_, place)| *place < at);
            // The reference is a level, though there is nothing in it.
            self.enter()?;
            self.leave();
        }
        Ok(())
    }

    /// A value with all that it keeps.
    pub(crate) fn put_value(&mut self, value: &Value<'_>) -> Result<()> {
        self.put_item(value, false)
    }

    fn put_item(&mut self, value: &Value<'_>, in_slot: bool) -> Result<()> {
        match value {
            Value::Undef => self.put_undef(),
            Value::Bool(value) => self.put_bool(*value),
            Value::Int(value) => self.put_i64(*value),
            Value::Uint(value) => self.put_u64(*value),
            Value::Float(value) => self.put_f64(*value),
            Value::Str(text) => {
                self.put_value_string(text.as_bytes(), text.is_text(), in_slot);
            }
            Value::Array(values) => {
                self.put_container(values.len(), tag::ARRAYREF, tag::ARRAY);
                self.put_elements(values)?;
            }
            Value::Hash(pairs) => {
                self.put_container(pairs.len(), tag::HASHREF, tag::HASH);
                self.put_pairs(pairs)?;
            }
            Value::Regexp(regexp) => {
                self.put_refn();
                self.put_regexp(&regexp.pattern, &regexp.flags)?;
            }
            Value::Ref(value) => {
                self.put_refn();
                self.enter()?;
                self.put_item(value, false)?;
                self.leave();
            }
            Value::Object(object) => {
                self.put_class(&object.class, false)?;
                self.put_content(&object.value)?;
            }
            Value::Frozen(frozen) => {
                if self.options.version < Version::V2 {
                    return Err(Error::unsupported(
                        "frozen objects need version 2 of the protocol",
                    ));
                }
                self.put_class(&frozen.class, true)?;
                self.is_bare = matches!(frozen.arguments, Value::Array(_));
                self.put_content(&frozen.arguments)?;
            }
            Value::Weak(value) => {
                self.out.push(tag::WEAKEN);
                let at = self.out.len();
                self.put_item(value, false)?;
                if !matches!(
                    self.out[at] & !TRACK,
                    tag::REFN
                        | tag::REFP
                        | tag::ARRAYREF..tag::SHORT_BINARY
                        | tag::OBJECT..=tag::OBJECTV
                        | tag::OBJECT_FREEZE..=tag::OBJECTV_FREEZE
                ) {
                    return Err(not_a_reference());
                }
            }
            Value::Immortal(immortal) => self.out.push(match immortal {
                Immortal::Undef if self.options.version < Version::V3 => tag::UNDEF,
                Immortal::Undef => tag::CANONICAL_UNDEF,
                Immortal::False => tag::FALSE,
                Immortal::True => tag::TRUE,
            }),
            Value::Shared(shared) => self.put_shared(shared)?,
            Value::SameRef(id) => {
                let Some(&(at, _)) = self.shared.get(id) else { return unknown(*id) };
                self.offset_tag(tag::REFP, at);
            }
            Value::Alias(id) => match self.shared.get(id) {
                Some(&(at, Item::Scalar)) if in_slot => self.offset_tag(tag::ALIAS, at),
                Some(_) => {
                    return Err(Error::data(
                        "expected an alias of a scalar, as an element of an array or hash",
                    ));
                }
                None => return unknown(*id),
            },
        }
        Ok(())
    }

    fn put_content(&mut self, value: &Value<'_>) -> Result<()> {
        let at = self.out.len();
        self.put_item(value, false)?;
        if matches!(
            self.out[at] & !TRACK,
            tag::REFN | tag::REFP | tag::ARRAYREF..tag::SHORT_BINARY
        ) {
            Ok(())
        } else {
            Err(not_a_reference())
        }
    }

    pub(crate) fn put_regexp(
        &mut self,
        pattern: &Str<'_>,
        flags: &Str<'_>,
    ) -> Result<()> {
        let is_known = flags.as_bytes().iter().all(|flag| b"msixpn".contains(flag));
        if !is_known || flags.as_bytes().len() > 31 {
            return Err(Error::data("expected the modifiers m, s, i, x, p or n"));
        }
        self.out.push(tag::REGEXP);
        self.put_string(pattern.as_bytes(), pattern.is_text());
        self.put_string(flags.as_bytes(), false);
        Ok(())
    }

    fn put_shared(&mut self, shared: &crate::Shared<'_>) -> Result<()> {
        let at = match (shared.item, &shared.value) {
            (Item::Scalar, _) => self.out.len(),
            (Item::Referent, Value::Array(_) | Value::Hash(_) | Value::Regexp(_)) => {
                self.put_refn();
                self.out.len()
            }
            (Item::Referent, _) => {
                return Err(Error::data(
                    "expected an array, a hash or a regular expression to refer to",
                ));
            }
        };
        if self.shared.insert(shared.id, (at, shared.item)).is_some() {
            return Err(Error::data(format!(
                "expected each shared value once, found number {} again",
                shared.id
            )));
        }
        match (shared.item, &shared.value) {
            (Item::Referent, Value::Array(values)) => {
                self.is_bare = false;
                self.out.push(tag::ARRAY | TRACK);
                put_varint(&mut self.out, values.len() as u64);
                self.put_elements(values)
            }
            (Item::Referent, Value::Hash(pairs)) => {
                self.out.push(tag::HASH | TRACK);
                put_varint(&mut self.out, pairs.len() as u64);
                self.put_pairs(pairs)
            }
            (Item::Referent, Value::Regexp(regexp)) => {
                self.put_regexp(&regexp.pattern, &regexp.flags)?;
                self.out[at] |= TRACK;
                Ok(())
            }
            // A scalar that refers to something shared has a number, and so has the other.
            (_, Value::Shared(inner)) if inner.item == Item::Scalar => two_numbers(),
            (_, Value::Alias(_)) => two_numbers(),
            // The tag is there once the value is, and references to it from inside need no more
            // than its place.
            (_, value) => {
                // Strings that are shared are not deduplicated.
                if let Value::Str(text) = value {
                    self.put_string(text.as_bytes(), text.is_text());
                } else {
                    self.put_item(value, false)?;
                }
                self.out[at] |= TRACK;
                Ok(())
            }
        }
    }

    fn put_elements(&mut self, values: &[Value<'_>]) -> Result<()> {
        self.enter()?;
        for value in values {
            self.put_item(value, true)?;
        }
        self.leave();
        Ok(())
    }

    fn put_pairs(&mut self, pairs: &[(Str<'_>, Value<'_>)]) -> Result<()> {
        self.enter()?;
        if self.options.order == KeyOrder::Kept {
            for (key, value) in pairs {
                self.put_key(key.as_bytes(), key.is_text());
                self.put_item(value, true)?;
            }
        } else {
            let mut pairs: Vec<_> = pairs.iter().collect();
            sort(&mut pairs, self.options.order);
            for (key, value) in pairs {
                self.put_key(key.as_bytes(), key.is_text());
                self.put_item(value, true)?;
            }
        }
        self.leave();
        Ok(())
    }
}

/// Five bytes hold a count of 35 bits.
const PADDED_ZERO: [u8; 5] = [0x80, 0x80, 0x80, 0x80, 0];

#[cold]
fn not_a_reference() -> Error {
    Error::data("expected a reference, found another value")
}

#[cold]
fn two_numbers() -> Result<()> {
    Err(Error::data("expected a value with one number"))
}

#[cold]
fn unknown(id: Id) -> Result<()> {
    Err(Error::data(format!("expected the number of a value before it, found {id}")))
}

fn sort(pairs: &mut [&(Str<'_>, Value<'_>)], order: KeyOrder) {
    match order {
        KeyOrder::Kept => {}
        KeyOrder::Length => pairs.sort_by(|(a, _), (b, _)| {
            let rank = |key: &Str<'_>| (key.as_bytes().len(), !key.is_text());
            rank(a).cmp(&rank(b)).then_with(|| a.as_bytes().cmp(b.as_bytes()))
        }),
        KeyOrder::Characters => pairs.sort_by_cached_key(|(key, _)| characters(key)),
        KeyOrder::CharactersReversed => {
            pairs.sort_by_cached_key(|(key, _)| std::cmp::Reverse(characters(key)));
        }
    }
}

/// UTF-8, Perl's wider one too, sorts as its characters do.
fn characters(key: &Str<'_>) -> Vec<u8> {
    if key.is_text() || key.as_bytes().is_ascii() {
        return key.as_bytes().to_vec();
    }
    key.as_bytes().iter().copied().map(char::from).collect::<String>().into_bytes()
}

/// Appends the header of a document without user data, or with that which is given.
#[inline]
pub(crate) fn put_header(
    out: &mut Vec<u8>,
    version: Version,
    kind: DocumentType,
    user_data: Option<&[u8]>,
) {
    out.extend_from_slice(&start(version, kind));
    if let Some(body) = user_data {
        out.pop();
        put_varint(out, body.len() as u64 + 1);
        out.push(1);
        out.extend_from_slice(body);
    }
}

/// Appends a document whose body is at hand, compressed if the options say so and it helps.
pub(crate) fn put_document(
    out: &mut Vec<u8>,
    options: &WriteOptions,
    user_data: Option<&[u8]>,
    body: &[u8],
) -> Result<()> {
    let packed = if body.len() >= options.threshold {
        compress::pack(body, options.compression, options.version)?
    } else {
        None
    };
    let (kind, body) = match &packed {
        Some((kind, packed)) => (*kind, packed.as_slice()),
        None => (DocumentType::Raw, body),
    };
    put_header(out, options.version, kind, user_data);
    out.extend_from_slice(body);
    Ok(())
}
