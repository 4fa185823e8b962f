//! Items one after the other: what they are, and the way back from references.
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::arithmetic_side_effects
)]

use std::borrow::Cow;

use crate::scan::{
    Ends, LEAST_FLAGGED_PAIR, LEAST_PAIR, Left, NO_OBJECT, Scan, Table, is_immortal,
    is_string, may_be_object, regexp, scalar_end, unknown, unknown_large,
};
use crate::wire::{Cursor, Form, Header, code, key_flag};
use crate::{Error, ReadOptions, Result};

/// As many items more than it has bytes may an image have when all its references are followed.
const ITEMS_PER_BYTE: usize = 64;

/// The least that [`ITEMS_PER_BYTE`] comes to.
const MIN_ITEMS: usize = 1_000;

/// What a reader can use again.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    ends: Ends,
    table: Table,
}

/// An item, without what stands before it: references, classes, v-strings, ties.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Token<'de> {
    Undef,
    Bool(bool),
    Int(i64),
    Double(f64),
    Bytes(&'de [u8]),
    /// A string with the UTF-8 flag.
    Text(&'de [u8]),
    Array(usize),
    Hash {
        count: usize,
        is_flagged: bool,
    },
    /// The pattern.
    Regexp(&'de [u8]),
    /// An item met before: it begins here.
    Elsewhere(usize),
}

/// A key of a hash.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Key<'de> {
    Bytes(&'de [u8]),
    Text(&'de [u8]),
    /// Text whose characters are its bytes, some of them beyond ASCII.
    Latin1(&'de [u8]),
}

impl<'de> Key<'de> {
    /// The key as UTF-8, if it is.
    #[inline]
    pub(crate) fn text(self) -> Result<Cow<'de, str>, &'de [u8]> {
        match self {
            Self::Bytes(bytes) | Self::Text(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => Ok(Cow::Borrowed(text)),
                Err(_) => Err(bytes),
            },
            Self::Latin1(bytes) => {
                Ok(Cow::Owned(bytes.iter().copied().map(char::from).collect()))
            }
        }
    }

    /// The key for a message.
    #[cold]
    pub(crate) fn name(self) -> String {
        match self.text() {
            Ok(text) => text.into_owned(),
            Err(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        }
    }
}

/// Reads the items of one image.
#[derive(Debug)]
pub(crate) struct Reader<'s, 'de> {
    pub(crate) cursor: Cursor<'de>,
    pub(crate) form: Form,
    pub(crate) options: ReadOptions,
    scratch: &'s mut Scratch,
    /// Where the root begins.
    root: usize,
    /// Up to here, ends are noted.
    scanned: usize,
    has_table: bool,
    /// Start and end of the value that was passed over last.
    known: (usize, usize),
    /// How many items may still be read by following references.
    items: usize,
}

impl<'s, 'de> Reader<'s, 'de> {
    /// A reader behind the header of the image that begins at `start`.
    pub(crate) fn new(
        input: &'de [u8],
        start: usize,
        options: ReadOptions,
        scratch: &'s mut Scratch,
    ) -> Result<Self> {
        if input.len() > options.max_bytes() {
            let text = format!("expected at most {} bytes", options.max_bytes());
            return Err(Error::limit(text));
        }
        let header = Header::take(input, start, options.image())?;
        let root = start.saturating_add(header.size_bytes());
        scratch.ends.clear();
        let size = input.len().saturating_sub(start);
        Ok(Self {
            cursor: Cursor { input, pos: root },
            form: header.form(),
            options,
            scratch,
            root,
            scanned: root,
            has_table: false,
            known: (0, 0),
            items: size.saturating_mul(ITEMS_PER_BYTE).max(MIN_ITEMS),
        })
    }

    /// What may be entered from the root.
    pub(crate) fn left(&self) -> Left {
        Left::new(self.options.max_depth())
    }

    #[inline]
    pub(crate) fn pos(&self) -> usize {
        self.cursor.pos
    }

    /// The code of the item that begins here, if the input goes on.
    #[inline]
    pub(crate) fn peek(&self) -> Option<u8> {
        self.cursor.peek()
    }

    /// Tags and classes, found by passing over the whole image, once.
    pub(crate) fn table(&mut self) -> Result<&Table> {
        if !self.has_table {
            self.scratch.table.clear();
            self.scratch.ends.clear();
            let cursor = Cursor { input: self.cursor.input, pos: self.root };
            let left = self.left();
            let ends = Some(&mut self.scratch.ends);
            let mut scan = Scan::new(cursor, self.form, &self.options, ends);
            scan.pass_root(left, &mut self.scratch.table)?;
            self.has_table = true;
            self.scanned = usize::MAX;
        }
        Ok(&self.scratch.table)
    }

    /// Passes over the item that begins here.
    pub(crate) fn skip(&mut self, left: Left) -> Result<()> {
        if self.known.0 == self.cursor.pos && self.known.1 != 0 {
            self.cursor.pos = self.known.1;
            return Ok(());
        }
        if let Some(end) = scalar_end(&self.cursor, self.form)
            && end <= self.cursor.input.len()
        {
            self.cursor.pos = end;
            return Ok(());
        }
        let mut scan = Scan::new(self.cursor, self.form, &self.options, None);
        scan.pass(left)?;
        let (cursor, needs_table) = (scan.cursor, scan.needs_table);
        if needs_table {
            self.table()?;
        }
        self.cursor = cursor;
        Ok(())
    }

    /// Passes over the value that begins here, which stands before its key. Each byte of an
    /// image is passed over at most once in this way.
    #[inline]
    fn pass_value(&mut self, left: Left) -> Result<()> {
        let start = self.cursor.pos;
        let end = match scalar_end(&self.cursor, self.form) {
            Some(end) => end,
            None => self.pass_compound(left)?,
        };
        self.known = (start, end);
        self.cursor.pos = end;
        Ok(())
    }

    fn pass_compound(&mut self, left: Left) -> Result<usize> {
        let start = self.cursor.pos;
        if start < self.scanned
            && let Some(end) = self.scratch.ends.of(start)
        {
            return Ok(end);
        }
        let is_new = start >= self.scanned;
        let ends = is_new.then_some(&mut self.scratch.ends);
        let mut scan = Scan::new(self.cursor, self.form, &self.options, ends);
        scan.pass(left)?;
        let (end, needs_table) = (scan.cursor.pos, scan.needs_table);
        if needs_table {
            self.table()?;
        } else if is_new {
            self.scanned = end;
        }
        Ok(end)
    }

    /// Passes over a value, reads its key, and goes back to the value. Gives the key, if the
    /// pair is more than a placeholder, and where the next pair begins.
    #[inline]
    pub(crate) fn pair(
        &mut self,
        is_flagged: bool,
        left: Left,
    ) -> Result<(Option<Key<'de>>, usize)> {
        let start = self.cursor.pos;
        self.pass_value(left)?;
        let key = if is_flagged {
            let (key, flags) = self.flagged_key()?;
            (flags & key_flag::PLACEHOLDER == 0).then_some(key)
        } else {
            let length = self.cursor.signed_size(self.form)?;
            Some(Key::Bytes(self.cursor.bytes(length)?))
        };
        let end = self.cursor.pos;
        if key.is_some() {
            self.cursor.pos = start;
        }
        Ok((key, end))
    }

    /// A key with its flags.
    pub(crate) fn flagged_key(&mut self) -> Result<(Key<'de>, u8)> {
        let flags = self.cursor.byte()?;
        if flags & key_flag::IS_ITEM != 0 {
            let at = self.cursor.pos;
            let code = self.cursor.byte()?;
            if !is_string(code) {
                return Err(Error::syntax("expected a string as a key").at(at));
            }
            let bytes = self.string(code)?;
            let is_text = matches!(code, code::UTF8STR | code::LUTF8STR);
            let key = if is_text { Key::Text(bytes) } else { Key::Bytes(bytes) };
            return Ok((key, flags));
        }
        let length = self.cursor.signed_size(self.form)?;
        let bytes = self.cursor.bytes(length)?;
        let key = if flags & key_flag::UTF8 != 0 {
            Key::Text(bytes)
        } else if flags & key_flag::WAS_UTF8 != 0 {
            if bytes.is_ascii() { Key::Text(bytes) } else { Key::Latin1(bytes) }
        } else {
            Key::Bytes(bytes)
        };
        Ok((key, flags))
    }

    /// The bytes of a string whose code was read.
    #[inline]
    pub(crate) fn string(&mut self, code: u8) -> Result<&'de [u8]> {
        let length = match code {
            code::SCALAR | code::UTF8STR => usize::from(self.cursor.byte()?),
            _ => self.cursor.size(self.form)?,
        };
        self.cursor.bytes(length)
    }

    /// The number of a `BYTE`.
    #[inline]
    pub(crate) fn byte_int(&mut self) -> Result<i64> {
        Ok(i64::from(self.cursor.byte()?).wrapping_sub(128))
    }

    /// The number of a `NETINT`.
    #[inline]
    pub(crate) fn net_int(&mut self) -> Result<i64> {
        Ok(i64::from(i32::from_be_bytes(self.cursor.array()?)))
    }

    /// The number of an `INTEGER`.
    #[inline]
    pub(crate) fn machine_int(&mut self) -> Result<i64> {
        if self.form.int_bytes == 8 {
            Ok(self.form.int(self.cursor.array()?))
        } else {
            Ok(self.form.short_int(self.cursor.array()?))
        }
    }

    /// The number of a `DOUBLE`.
    #[inline]
    pub(crate) fn double(&mut self) -> Result<f64> {
        if self.form.float_bytes == 8 {
            return Ok(self.form.float(self.cursor.array()?));
        }
        let at = self.cursor.pos;
        self.cursor.bytes(self.form.float_bytes)?;
        let text = "floats by a Perl with long doubles are not supported";
        Err(Error::unsupported(text).at(at))
    }

    /// How many elements an array has.
    #[inline]
    pub(crate) fn array_count(&mut self) -> Result<usize> {
        let count = self.cursor.signed_size(self.form)?;
        self.cursor.check_count(count, 1)
    }

    /// How many pairs a hash has.
    #[inline]
    pub(crate) fn hash_count(&mut self) -> Result<usize> {
        let count = self.cursor.signed_size(self.form)?;
        self.cursor.check_count(count, LEAST_PAIR)
    }

    /// How many pairs a hash with flags has.
    pub(crate) fn flag_hash_count(&mut self) -> Result<usize> {
        let count = self.cursor.signed_size(self.form)?;
        self.cursor.check_count(count, LEAST_FLAGGED_PAIR)
    }

    /// Where the item with this tag begins, which is asked for at `at`.
    fn follow(&mut self, at: usize, tag: usize) -> Result<usize> {
        let target = self.table()?.target(tag, at).ok_or_else(|| {
            Error::data("a reference to something that it is in: cycles have no type")
                .at(at)
        })?;
        self.items = self.items.checked_sub(target.items).ok_or_else(|| {
            let text = "too many items when all references are followed";
            Error::limit(text).at(at)
        })?;
        // What is known of places ends here.
        self.known = (0, 0);
        Ok(target.start)
    }

    /// The class of the object that begins here, and what stands before it. The object begins
    /// where this ends.
    pub(crate) fn open_class(&mut self, left: &mut Left) -> Result<Opened<'de>> {
        let mut class = None;
        loop {
            let at = self.cursor.pos;
            match self.peek() {
                Some(code::REF | code::WEAKREF | code::OVERLOAD | code::WEAKOVERLOAD) => {
                    if class.is_some() {
                        // The class is of the reference.
                        return Ok(Opened::Here(class));
                    }
                    *left = left.wrap()?;
                    self.cursor.byte()?;
                }
                Some(code::BLESS | code::IX_BLESS) => {
                    *left = left.wrap()?;
                    class = Some(self.class()?);
                }
                Some(code::OBJECT) if class.is_none() => {
                    self.cursor.byte()?;
                    let tag = self.cursor.tag()?;
                    let start = self.follow(at, tag)?;
                    return Ok(Opened::Elsewhere(start));
                }
                _ => return Ok(Opened::Here(class)),
            }
        }
    }

    /// The name of a class, which begins here with its code.
    pub(crate) fn class(&mut self) -> Result<&'de [u8]> {
        let at = self.cursor.pos;
        self.options.check_blessed(at)?;
        let code = self.cursor.byte()?;
        let number = self.cursor.class_length(self.form)?;
        if code == code::BLESS {
            return self.cursor.bytes(number);
        }
        self.class_by_index(number, at)
    }

    /// The name of a class that was told before `at`.
    pub(crate) fn class_by_index(
        &mut self,
        index: usize,
        at: usize,
    ) -> Result<&'de [u8]> {
        let input = self.cursor.input;
        self.table()?.class(input, index, at).ok_or_else(|| {
            Error::syntax("expected the index of a class met before").at(at)
        })
    }

    /// The item that begins here: its first bytes are read.
    pub(crate) fn open(&mut self, left: &mut Left) -> Result<Token<'de>> {
        let mut is_blessed = false;
        loop {
            let at = self.cursor.pos;
            let code = self.cursor.byte()?;
            return Ok(match code {
                code::BYTE => Token::Int(self.byte_int()?),
                code::NETINT => Token::Int(self.net_int()?),
                code::INTEGER => Token::Int(self.machine_int()?),
                code::DOUBLE => Token::Double(self.double()?),
                code::SCALAR | code::LSCALAR => Token::Bytes(self.string(code)?),
                code::UTF8STR | code::LUTF8STR => Token::Text(self.string(code)?),
                code::REF | code::WEAKREF => {
                    *left = left.wrap()?;
                    is_blessed = false;
                    continue;
                }
                code::ARRAY => Token::Array(self.array_count()?),
                code::HASH => {
                    Token::Hash { count: self.hash_count()?, is_flagged: false }
                }
                code::FLAG_HASH => {
                    self.cursor.byte()?;
                    Token::Hash { count: self.flag_hash_count()?, is_flagged: true }
                }
                _ if is_blessed && is_immortal(code) => {
                    return Err(
                        Error::syntax("expected an object behind the class").at(at)
                    );
                }
                code::UNDEF | code::SV_UNDEF | code::SVUNDEF_ELEM => Token::Undef,
                code::SV_YES | code::BOOLEAN_TRUE => Token::Bool(true),
                code::SV_NO | code::BOOLEAN_FALSE => Token::Bool(false),
                code::BLESS | code::IX_BLESS => {
                    self.cursor.pos = at;
                    self.class()?;
                    *left = left.wrap()?;
                    is_blessed = true;
                    continue;
                }
                code::OBJECT => {
                    let tag = self.cursor.tag()?;
                    Token::Elsewhere(self.follow(at, tag)?)
                }
                _ => return self.open_rare(at, code, left),
            });
        }
    }

    /// An object must begin here, or something that was met before.
    pub(crate) fn expect_object(&self) -> Result<()> {
        let next = self.cursor.input.get(self.cursor.pos.saturating_add(1)).copied();
        match self.peek() {
            Some(code) if may_be_object(code, next) => Ok(()),
            Some(_) => Err(Error::syntax(NO_OBJECT).at(self.cursor.pos)),
            None => Err(self.cursor.cut()),
        }
    }

    /// What hardly any image has.
    #[cold]
    fn open_rare(&mut self, at: usize, code: u8, left: &mut Left) -> Result<Token<'de>> {
        match code {
            code::OVERLOAD | code::WEAKOVERLOAD => {
                *left = left.wrap()?;
                self.expect_object()?;
                self.open(left)
            }
            code::TIED_ARRAY | code::TIED_HASH | code::TIED_SCALAR => {
                self.options.check_tied(at)?;
                *left = left.wrap()?;
                self.open(left)
            }
            code::TIED_KEY | code::TIED_IDX => {
                self.options.check_tied(at)?;
                let text =
                    "an element of a tied container has no type: read it as a `Value`";
                Err(Error::unsupported(text).at(at))
            }
            code::VSTRING | code::LVSTRING => {
                let length = if code == code::VSTRING {
                    usize::from(self.cursor.byte()?)
                } else {
                    self.cursor.size(self.form)?
                };
                self.cursor.bytes(length)?;
                match self.peek() {
                    Some(code) if is_string(code) => self.open(left),
                    Some(_) => Err(Error::syntax("expected a string behind a v-string")
                        .at(self.cursor.pos)),
                    None => Err(self.cursor.cut()),
                }
            }
            code::REGEXP => {
                let (pattern, _) = regexp(&mut self.cursor, self.form)?;
                Ok(Token::Regexp(pattern))
            }
            code::CODE => {
                self.options.check_code(at)?;
                match self.peek() {
                    Some(code) if is_string(code) => self.open(left),
                    Some(_) => {
                        Err(Error::syntax("expected the text of code")
                            .at(self.cursor.pos))
                    }
                    None => Err(self.cursor.cut()),
                }
            }
            code::HOOK => {
                // Broken ones are told from whole ones.
                self.cursor.pos = at;
                self.known = (0, 0);
                self.skip(*left)?;
                let text = "an object written by its class's own hook has no type: read it as a \
                            `Value`";
                Err(Error::unsupported(text).at(at))
            }
            code::LOBJECT => self.open_large(at, left),
            _ => Err(unknown(at, code)),
        }
    }

    fn open_large(&mut self, start: usize, left: &mut Left) -> Result<Token<'de>> {
        let at = self.cursor.pos;
        Ok(match self.cursor.byte()? {
            code::OBJECT => {
                let tag = self.cursor.long_size(self.form)?;
                Token::Elsewhere(self.follow(start, tag)?)
            }
            code @ (code::LSCALAR | code::LUTF8STR) => {
                let length = self.cursor.long_size(self.form)?;
                let bytes = self.cursor.bytes(length)?;
                if code == code::LSCALAR {
                    Token::Bytes(bytes)
                } else {
                    Token::Text(bytes)
                }
            }
            code::ARRAY => {
                let count = self.cursor.long_size(self.form)?;
                Token::Array(self.cursor.check_count(count, 1)?)
            }
            code::HASH => {
                let count = self.cursor.long_size(self.form)?;
                let count = self.cursor.check_count(count, LEAST_PAIR)?;
                Token::Hash { count, is_flagged: false }
            }
            code::FLAG_HASH => {
                self.cursor.byte()?;
                let count = self.cursor.long_size(self.form)?;
                let count = self.cursor.check_count(count, LEAST_FLAGGED_PAIR)?;
                Token::Hash { count, is_flagged: true }
            }
            code::HOOK => {
                self.cursor.pos = start;
                return self.open_rare(start, code::HOOK, left);
            }
            code => return Err(unknown_large(at, code)),
        })
    }
}

/// An object's beginning.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Opened<'de> {
    /// It goes on here, with this class.
    Here(Option<&'de [u8]>),
    /// It was met before, and begins here.
    Elsewhere(usize),
}

#[cfg(test)]
mod tests {
    use std::marker::PhantomData;

    use serde::de::{DeserializeOwned, IgnoredAny};

    use super::*;
    use crate::de;

    /// `levels` hashes in one another, each with a hash of its own beside the next.
    fn nested(levels: usize) -> Vec<u8> {
        let mut image = b"\x05\x0b".to_vec();
        for level in 0..levels {
            if level > 0 {
                image.push(code::REF);
            }
            image.extend_from_slice(b"\x03\0\0\0\x02\x04\x03\0\0\0\0\0\0\0\x01a");
        }
        image.push(code::UNDEF);
        image.extend(b"\0\0\0\x01b".repeat(levels));
        image
    }

    fn noted<T: DeserializeOwned>(image: &[u8]) -> usize {
        let mut scratch = Scratch::default();
        let options = ReadOptions::new();
        let mut reader = Reader::new(image, 0, options, &mut scratch).unwrap();
        de::read(&mut reader, PhantomData::<T>).unwrap();
        assert_eq!(reader.pos(), image.len());
        scratch.ends.count()
    }

    #[test]
    fn the_end_of_each_value_is_found_once_however_deep_hashes_nest() {
        for levels in [1, 2, 3, 100] {
            let image = nested(levels);
            // The root's two values are passed over for themselves; in the second are all
            // others, two in each hash but one in the last, whose second is a scalar.
            let others = (2 * levels).saturating_sub(3);
            assert_eq!(noted::<wiremark_datasets::Value>(&image), others, "{levels}");
            assert_eq!(noted::<IgnoredAny>(&image), 0);
        }
    }
}
