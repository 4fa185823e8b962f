//! [`Value`]: an image without a schema, with all that Perl tells apart.
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::arithmetic_side_effects
)]

use std::borrow::Cow;
use std::collections::HashMap;

use crate::reader::{Key as WireKey, Reader};
use crate::scan::{
    HookList, LEAST_FLAGGED_PAIR, LEAST_PAIR, Left, are_modifiers, hook_kind_tied,
    hook_number, hook_string_length, is_immortal, is_string, regexp, unknown,
    unknown_large,
};
use crate::ser::Core;
use crate::wire::{Cursor, Form, LONG, RESTRICTED, code, hook_flag, key_flag};
use crate::{Decoder, Encoder, Error, Result, WriteOptions};

/// Bytes, borrowed from the image where they were read from one.
type Bytes<'a> = Cow<'a, [u8]>;

/// Any item of an image, with all that Perl tells apart: strings with and without the UTF-8 flag,
/// references, sharing and cycles, classes, ties. Nothing of it is ever run or loaded.
///
/// A Perl structure is references all the way: the list `[[1]]` is an array of a reference to an
/// array. The root is what the reference given to `freeze` refers to.
///
/// # Sharing
/// An item that is met again is [`Shared`](Self::Shared) with a number where it stands first,
/// and [`Same`](Self::Same) with that number where it is met again: behind a
/// [`Ref`](Self::Ref) as a second reference, as an element as an alias. A cycle is a `Same`
/// inside its own `Shared`. So a value is a tree of the size of its image, whatever the image
/// says. (A key that is an item, which only images of other origin have, is `Shared` where it
/// is first met as a value.)
///
/// ```
/// use wiremark_storable::{RefKind, Value};
///
/// // `my $s = []; [$s, $s]`
/// let image = b"\x05\x0b\x02\0\0\0\x02\x04\x02\0\0\0\0\x04\0\0\0\0\x02";
/// let value = Value::from_slice(image)?;
/// let Value::Array(elements) = &value else { panic!("{value:?}") };
/// assert_eq!(elements[1], Value::Ref(RefKind::Strong, Box::new(Value::Same(2))));
/// assert_eq!(value.to_vec()?, image);
/// # Ok::<(), wiremark_storable::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Value<'a> {
    /// An ordinary undef.
    Undef,
    /// Perl's one immortal undef.
    ImmortalUndef,
    /// An element of an array that does not exist.
    Hole,
    /// A boolean of perl 5.36 and later.
    Bool(bool),
    /// Perl's one immortal true or false.
    Immortal(bool),
    /// An integer.
    Int(i64),
    /// A float.
    Double(f64),
    /// A string without the UTF-8 flag: bytes, or Latin-1.
    Bytes(Bytes<'a>),
    /// A string with the UTF-8 flag. Perl's UTF-8 is wider than Unicode's, so these are bytes.
    Text(Bytes<'a>),
    /// An array, not a reference to it.
    Array(Vec<Value<'a>>),
    /// A hash, not a reference to it. Pairs are in the order of the image; of equal keys the
    /// last one counts.
    Hash(Vec<Pair<'a>>),
    /// A hash whose keys are restricted.
    RestrictedHash(Vec<Pair<'a>>),
    /// A reference.
    Ref(RefKind, Box<Value<'a>>),
    /// An object: the name of its class, and what is blessed.
    Blessed(Bytes<'a>, Box<Value<'a>>),
    /// A tied thing, as a reference to the object behind it.
    Tied(TieKind, Box<Value<'a>>),
    /// An element of a tied hash: the object, and the key.
    TiedKey(Box<(Value<'a>, Value<'a>)>),
    /// An element of a tied array: the object, and the index.
    TiedIndex(Box<Value<'a>>, u32),
    /// What is in a `qr//`.
    Regexp(Box<Regexp<'a>>),
    /// A version string.
    VString(Box<VString<'a>>),
    /// An object that its class's own hook wrote.
    Hook(Box<Hook<'a>>),
    /// Perl source, as a string; read only where the options allow it, and never run.
    Code(Box<Value<'a>>),
    /// An item that is met again, under this number.
    Shared(u64, Box<Value<'a>>),
    /// The item of this number.
    Same(u64),
}

/// A pair of a hash.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair<'a> {
    /// The key.
    pub key: Key<'a>,
    /// The value.
    pub value: Value<'a>,
}

/// A key of a hash.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Key<'a> {
    /// UTF-8 if it is text, else bytes or Latin-1.
    pub bytes: Cow<'a, [u8]>,
    /// Whether the key was given as text: the UTF-8 flag. Keys that are ASCII mostly lack it.
    pub is_text: bool,
    /// Whether the value is read-only, in a restricted hash.
    pub is_locked: bool,
    /// Whether the key is allowed and absent, in a restricted hash: the pair has no value.
    pub is_placeholder: bool,
}

/// A kind of reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "the format has these four")]
pub enum RefKind {
    /// An ordinary one.
    Strong,
    /// One that does not keep what it refers to.
    Weak,
    /// One to an object whose class overloads operators.
    Overloaded,
    /// Both.
    WeakOverloaded,
}

/// What is tied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TieKind {
    /// An array.
    Array,
    /// A hash.
    Hash,
    /// A scalar.
    Scalar,
}

/// What is in a `qr//`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Regexp<'a> {
    /// The pattern; nothing tells whether it is UTF-8.
    pub pattern: Cow<'a, [u8]>,
    /// Letters of `msixpdualn`.
    pub modifiers: Cow<'a, [u8]>,
}

/// A version string.
#[derive(Clone, Debug, PartialEq)]
pub struct VString<'a> {
    /// Its source: `v1.22.333`.
    pub source: Cow<'a, [u8]>,
    /// The string that it stands for.
    pub value: Value<'a>,
}

/// An object that its class's `STORABLE_freeze` wrote.
#[derive(Clone, Debug, PartialEq)]
pub struct Hook<'a> {
    /// The name of the class.
    pub class: Cow<'a, [u8]>,
    /// What the object is.
    pub kind: HookKind,
    /// The string that the hook returned.
    pub frozen: Cow<'a, [u8]>,
    /// What the references that the hook returned refer to.
    pub refs: Vec<Value<'a>>,
    /// Items that stand in the hook beside `refs`; Perl writes none.
    pub others: Vec<Value<'a>>,
    /// The object behind a tied thing.
    pub tie: Option<Value<'a>>,
}

/// What an object of a hook is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HookKind {
    /// A scalar.
    Scalar,
    /// An array.
    Array,
    /// A hash.
    Hash,
    /// A tied thing.
    Tied(TieKind),
}

impl<'a> Value<'a> {
    /// Reads an image that fills `bytes`; strings and keys are borrowed.
    ///
    /// # Errors
    /// Any kind but `Io`, with the offset.
    pub fn from_slice(bytes: &'a [u8]) -> Result<Self> {
        Decoder::new().value(bytes)
    }

    /// The image of it in network order. [`Encoder::encode_value`] writes others.
    ///
    /// # Errors
    /// `Limit` for what nests too deep, `Data` for a `Same` without its `Shared`.
    pub fn to_vec(&self) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        Encoder::with_options(WriteOptions::new()).encode_value(self, &mut out)?;
        Ok(out)
    }

    /// A string without the UTF-8 flag, or with it where it is not ASCII: as this crate writes
    /// Rust's text.
    pub fn text(text: &'a str) -> Self {
        let bytes = Cow::Borrowed(text.as_bytes());
        if text.is_ascii() { Self::Bytes(bytes) } else { Self::Text(bytes) }
    }

    /// An ordinary reference to it.
    #[must_use]
    pub fn into_ref(self) -> Self {
        Self::Ref(RefKind::Strong, Box::new(self))
    }

    /// What is behind references, classes and the mark of sharing.
    pub fn target(&self) -> &Self {
        let mut value = self;
        while let Self::Ref(_, inner) | Self::Blessed(_, inner) | Self::Shared(_, inner) =
            value
        {
            value = inner;
        }
        value
    }

    /// The value of a key in a hash or behind references to one: the last one, if there are
    /// several.
    pub fn get(&self, key: &str) -> Option<&Self> {
        let (Self::Hash(pairs) | Self::RestrictedHash(pairs)) = self.target() else {
            return None;
        };
        let pair = pairs.iter().rev().find(|pair| {
            !pair.key.is_placeholder && &*pair.key.bytes == key.as_bytes()
        })?;
        Some(&pair.value)
    }

    /// The string, if it is one and is UTF-8.
    pub fn as_str(&self) -> Option<&str> {
        std::str::from_utf8(self.as_bytes()?).ok()
    }

    /// The bytes of the string, if it is one.
    pub fn as_bytes(&self) -> Option<&[u8]> {
        match self.target() {
            Self::Bytes(bytes) | Self::Text(bytes) => Some(bytes),
            Self::VString(vstring) => vstring.value.as_bytes(),
            _ => None,
        }
    }

    /// The elements, if it is an array or refers to one.
    pub fn as_array(&self) -> Option<&[Self]> {
        match self.target() {
            Self::Array(elements) => Some(elements),
            _ => None,
        }
    }

    /// The integer, if it is one.
    pub fn as_i64(&self) -> Option<i64> {
        match self.target() {
            Self::Int(value) => Some(*value),
            _ => None,
        }
    }

    /// The float, if it is one.
    pub fn as_f64(&self) -> Option<f64> {
        match self.target() {
            Self::Double(value) => Some(*value),
            _ => None,
        }
    }

    /// The name of the class, if it is an object or refers to one.
    pub fn class(&self) -> Option<&[u8]> {
        let mut value = self;
        loop {
            match value {
                Self::Ref(_, inner) | Self::Shared(_, inner) => value = inner,
                Self::Blessed(class, _) => return Some(class),
                Self::Hook(hook) => return Some(&hook.class),
                _ => return None,
            }
        }
    }

    /// Whether it may stand behind an overloading reference.
    fn may_be_object(&self) -> bool {
        match self {
            Self::Blessed(..) | Self::Hook(_) | Self::Same(_) => true,
            Self::Shared(_, inner) => inner.may_be_object(),
            _ => false,
        }
    }

    /// The same without borrowing.
    pub fn into_owned(self) -> Value<'static> {
        fn owned(bytes: Bytes<'_>) -> Bytes<'static> {
            Cow::Owned(bytes.into_owned())
        }
        fn boxed(value: Value<'_>) -> Box<Value<'static>> {
            Box::new(value.into_owned())
        }
        fn all(values: Vec<Value<'_>>) -> Vec<Value<'static>> {
            values.into_iter().map(Value::into_owned).collect()
        }
        fn pairs(pairs: Vec<Pair<'_>>) -> Vec<Pair<'static>> {
            let owned_pair = |pair: Pair<'_>| Pair {
                key: Key { bytes: owned(pair.key.bytes), ..pair.key },
                value: pair.value.into_owned(),
            };
            pairs.into_iter().map(owned_pair).collect()
        }
        match self {
            Self::Undef => Value::Undef,
            Self::ImmortalUndef => Value::ImmortalUndef,
            Self::Hole => Value::Hole,
            Self::Bool(value) => Value::Bool(value),
            Self::Immortal(value) => Value::Immortal(value),
            Self::Int(value) => Value::Int(value),
            Self::Double(value) => Value::Double(value),
            Self::Bytes(bytes) => Value::Bytes(owned(bytes)),
            Self::Text(bytes) => Value::Text(owned(bytes)),
            Self::Array(values) => Value::Array(all(values)),
            Self::Hash(inner) => Value::Hash(pairs(inner)),
            Self::RestrictedHash(inner) => Value::RestrictedHash(pairs(inner)),
            Self::Ref(kind, inner) => Value::Ref(kind, boxed(*inner)),
            Self::Blessed(class, inner) => Value::Blessed(owned(class), boxed(*inner)),
            Self::Tied(kind, inner) => Value::Tied(kind, boxed(*inner)),
            Self::TiedKey(both) => {
                Value::TiedKey(Box::new((both.0.into_owned(), both.1.into_owned())))
            }
            Self::TiedIndex(inner, index) => Value::TiedIndex(boxed(*inner), index),
            Self::Regexp(regexp) => Value::Regexp(Box::new(Regexp {
                pattern: owned(regexp.pattern),
                modifiers: owned(regexp.modifiers),
            })),
            Self::VString(vstring) => Value::VString(Box::new(VString {
                source: owned(vstring.source),
                value: vstring.value.into_owned(),
            })),
            Self::Hook(hook) => Value::Hook(Box::new(Hook {
                class: owned(hook.class),
                kind: hook.kind,
                frozen: owned(hook.frozen),
                refs: all(hook.refs),
                others: all(hook.others),
                tie: hook.tie.map(Value::into_owned),
            })),
            Self::Code(inner) => Value::Code(boxed(*inner)),
            Self::Shared(id, inner) => Value::Shared(id, boxed(*inner)),
            Self::Same(id) => Value::Same(id),
        }
    }
}

/// The most elements for which memory is taken before they are there.
const MAX_RESERVED: usize = 1 << 16;

/// Reads the root of the image.
pub(crate) fn read<'de>(reader: &mut Reader<'_, 'de>) -> Result<Value<'de>> {
    let (left, root) = (reader.left(), reader.pos());
    let reservable = reader.cursor.left();
    let mut build = Build {
        reader,
        tag: 0,
        is_first: true,
        needs_table: false,
        reservable,
        keys: vec![],
    };
    let value = build.item(left, false)?;
    if !build.needs_table {
        return Ok(value);
    }
    drop(value);
    // Something is met again: now with a table that tells what.
    reader.table()?;
    reader.cursor.pos = root;
    let mut build = Build {
        reader,
        tag: 0,
        is_first: false,
        needs_table: false,
        reservable,
        keys: vec![],
    };
    build.item(left, false)
}

/// Makes values of items.
struct Build<'r, 's, 'de> {
    reader: &'r mut Reader<'s, 'de>,
    /// The tag of the next item.
    tag: usize,
    /// Whether no table was asked for yet.
    is_first: bool,
    /// Whether a reference back was met without one.
    needs_table: bool,
    /// For as many elements may memory still be taken before they are there. A document has at
    /// least a byte for each element, so those that are in order take no more.
    reservable: usize,
    /// Keys that are items and are met again, by their tags: none once they were.
    keys: Vec<(usize, Option<WireKey<'de>>)>,
}

impl<'de> Build<'_, '_, 'de> {
    fn reserve<T>(&mut self, count: usize) -> Vec<T> {
        let count = count.min(self.reservable);
        self.reservable = self.reservable.saturating_sub(count);
        Vec::with_capacity(count.min(MAX_RESERVED))
    }

    fn begin(&mut self) {
        self.tag = self.tag.wrapping_add(1);
    }

    /// An item; `is_element` of an array.
    #[inline]
    fn item(&mut self, left: Left, is_element: bool) -> Result<Value<'de>> {
        if self.is_first {
            return self.bare(left, is_element);
        }
        let tag = self.tag;
        let value = self.bare(left, is_element)?;
        // What was met before took no tag.
        if self.tag > tag && self.reader.table()?.is_shared(tag) {
            return Ok(Value::Shared(tag as u64, Box::new(value)));
        }
        Ok(value)
    }

    /// An item that was met before.
    fn same(&mut self, tag: usize) -> Result<Value<'de>> {
        if self.is_first {
            // Checked when the table is made.
            self.needs_table = true;
            return Ok(Value::Same(tag as u64));
        }
        let input = self.reader.cursor.input;
        if let Some(value) = self.reader.table()?.immortal(input, tag) {
            return Ok(Value::Immortal(value));
        }
        Ok(match self.key(tag) {
            Some(key) => Value::Shared(tag as u64, Box::new(key)),
            None => Value::Same(tag as u64),
        })
    }

    /// The key with this tag, if there is one and it was not met as a value yet: it has no
    /// place for a number, so its first place as a value is the one that counts.
    fn key(&mut self, tag: usize) -> Option<Value<'de>> {
        let index = self.keys.binary_search_by_key(&tag, |&(known, _)| known).ok()?;
        let (_, key) = self.keys.get_mut(index)?;
        Some(match key.take()? {
            WireKey::Text(bytes) => flagged(bytes),
            WireKey::Bytes(bytes) | WireKey::Latin1(bytes) => {
                Value::Bytes(Cow::Borrowed(bytes))
            }
        })
    }

    fn boxed(&mut self, left: Left) -> Result<Box<Value<'de>>> {
        Ok(Box::new(self.item(left, false)?))
    }

    /// An item without the mark of sharing.
    fn bare(&mut self, left: Left, is_element: bool) -> Result<Value<'de>> {
        let at = self.reader.pos();
        let code = self.reader.cursor.byte()?;
        let value = match code {
            code::BYTE => Value::Int(self.reader.byte_int()?),
            code::NETINT => Value::Int(self.reader.net_int()?),
            code::INTEGER => Value::Int(self.reader.machine_int()?),
            code::DOUBLE => Value::Double(self.reader.double()?),
            code::SCALAR | code::LSCALAR => {
                Value::Bytes(Cow::Borrowed(self.reader.string(code)?))
            }
            code::UTF8STR | code::LUTF8STR => flagged(self.reader.string(code)?),
            code::UNDEF => Value::Undef,
            code::SV_UNDEF if is_element => Value::Hole,
            code::SV_UNDEF | code::SVUNDEF_ELEM => Value::ImmortalUndef,
            code::SV_YES => Value::Immortal(true),
            code::SV_NO => Value::Immortal(false),
            code::BOOLEAN_TRUE => Value::Bool(true),
            code::BOOLEAN_FALSE => Value::Bool(false),
            _ => return self.compound(at, code, left),
        };
        self.begin();
        Ok(value)
    }

    fn reference(&mut self, kind: RefKind, left: Left) -> Result<Value<'de>> {
        self.begin();
        Ok(Value::Ref(kind, self.boxed(left.wrap()?)?))
    }

    fn tied(&mut self, at: usize, kind: TieKind, left: Left) -> Result<Value<'de>> {
        self.reader.options.check_tied(at)?;
        self.begin();
        Ok(Value::Tied(kind, self.boxed(left.wrap()?)?))
    }

    /// A reference to an object whose class overloads operators.
    fn overloaded(&mut self, kind: RefKind, left: Left) -> Result<Value<'de>> {
        self.reader.expect_object()?;
        self.reference(kind, left)
    }

    fn compound(&mut self, at: usize, code: u8, left: Left) -> Result<Value<'de>> {
        match code {
            code::OBJECT => {
                let tag = self.reader.cursor.tag()?;
                self.same(tag)
            }
            code::ARRAY => {
                let count = self.reader.array_count()?;
                self.array(count, left)
            }
            code::HASH => {
                let count = self.reader.hash_count()?;
                self.hash(count, None, left)
            }
            code::FLAG_HASH => {
                let flags = self.reader.cursor.byte()?;
                let count = self.reader.flag_hash_count()?;
                self.hash(count, Some(flags), left)
            }
            code::REF => self.reference(RefKind::Strong, left),
            code::WEAKREF => self.reference(RefKind::Weak, left),
            code::BLESS | code::IX_BLESS => self.blessed(at, code, left),
            _ => self.rare(at, code, left),
        }
    }

    /// What few images have, apart so that the others need less stack.
    fn rare(&mut self, at: usize, code: u8, left: Left) -> Result<Value<'de>> {
        match code {
            code::OVERLOAD => self.overloaded(RefKind::Overloaded, left),
            code::WEAKOVERLOAD => self.overloaded(RefKind::WeakOverloaded, left),
            code::TIED_ARRAY => self.tied(at, TieKind::Array, left),
            code::TIED_HASH => self.tied(at, TieKind::Hash, left),
            code::TIED_SCALAR => self.tied(at, TieKind::Scalar, left),
            code::TIED_KEY => {
                self.reader.options.check_tied(at)?;
                self.begin();
                let left = left.wrap()?;
                let object = self.item(left, false)?;
                let key = self.item(left, false)?;
                Ok(Value::TiedKey(Box::new((object, key))))
            }
            code::TIED_IDX => {
                self.reader.options.check_tied(at)?;
                self.begin();
                let object = self.boxed(left.wrap()?)?;
                let index = self.reader.cursor.size(self.reader.form)?;
                Ok(Value::TiedIndex(object, u32::try_from(index).unwrap_or(u32::MAX)))
            }
            code::VSTRING | code::LVSTRING => {
                let length = if code == code::VSTRING {
                    usize::from(self.reader.cursor.byte()?)
                } else {
                    self.reader.cursor.size(self.reader.form)?
                };
                let source = Cow::Borrowed(self.reader.cursor.bytes(length)?);
                match self.reader.peek() {
                    Some(code) if is_string(code) => {
                        let value = self.bare(left, false)?;
                        Ok(Value::VString(Box::new(VString { source, value })))
                    }
                    Some(_) => {
                        let text = "expected a string behind a v-string";
                        Err(Error::syntax(text).at(self.reader.pos()))
                    }
                    None => Err(self.reader.cursor.cut()),
                }
            }
            code::REGEXP => {
                let (pattern, modifiers) =
                    regexp(&mut self.reader.cursor, self.reader.form)?;
                self.begin();
                Ok(Value::Regexp(Box::new(Regexp {
                    pattern: Cow::Borrowed(pattern),
                    modifiers: Cow::Borrowed(modifiers),
                })))
            }
            code::CODE => {
                self.reader.options.check_code(at)?;
                self.begin();
                match self.reader.peek() {
                    Some(code) if is_string(code) => Ok(Value::Code(self.boxed(left)?)),
                    Some(_) => {
                        let text = "expected the text of code";
                        Err(Error::syntax(text).at(self.reader.pos()))
                    }
                    None => Err(self.reader.cursor.cut()),
                }
            }
            code::HOOK => self.hook(at, left, false),
            code::LOBJECT => self.large(left),
            _ => Err(unknown(at, code)),
        }
    }

    /// An object behind its class, whose code was read.
    fn blessed(&mut self, at: usize, code: u8, left: Left) -> Result<Value<'de>> {
        self.reader.cursor.pos = at;
        // The last one counts.
        let mut class = self.class(code)?;
        let mut left = left.wrap()?;
        let value = loop {
            match self.reader.peek() {
                Some(code @ (code::BLESS | code::IX_BLESS)) => {
                    class = self.class(code)?;
                    left = left.wrap()?;
                }
                Some(code) if is_immortal(code) => {
                    let text = "expected an object behind the class";
                    return Err(Error::syntax(text).at(self.reader.pos()));
                }
                _ => break self.bare(left, false)?,
            }
        };
        // A class has no effect on what was met before, be it as a key.
        if matches!(value, Value::Same(_) | Value::Shared(..) | Value::Immortal(_)) {
            return Ok(value);
        }
        Ok(Value::Blessed(Cow::Borrowed(class), Box::new(value)))
    }

    /// The class whose code is next.
    fn class(&mut self, code: u8) -> Result<&'de [u8]> {
        if code == code::IX_BLESS && self.is_first {
            // Found out when the table is made: no need for two of them.
            let at = self.reader.pos();
            self.reader.options.check_blessed(at)?;
            self.reader.cursor.byte()?;
            let index = self.reader.cursor.class_length(self.reader.form)?;
            return self.reader.class_by_index(index, at);
        }
        self.reader.class()
    }

    /// Appends the integers of one form that are next, as many as there is room for and at most
    /// `most`, and tells how many there were. Long arrays are mostly made of them, and nothing
    /// needs a look at each: they are of one size, and nothing refers to them.
    #[inline]
    fn int_run(&mut self, elements: &mut Vec<Value<'de>>, most: usize) -> usize {
        if !self.is_first {
            return 0;
        }
        let form = self.reader.form;
        let cursor = &mut self.reader.cursor;
        // With room, no memory is taken beyond what the caller allowed.
        let room = elements.capacity().saturating_sub(elements.len()).min(most);
        let count = match cursor.peek() {
            Some(code::BYTE) => {
                append_run(cursor, elements, room, |&[_, byte]: &[u8; 2]| {
                    i64::from(byte).wrapping_sub(128)
                })
            }
            Some(code::NETINT) => {
                append_run(cursor, elements, room, |&[_, a, b, c, d]: &[u8; 5]| {
                    i64::from(i32::from_be_bytes([a, b, c, d]))
                })
            }
            Some(code::INTEGER) if form.int_bytes == 8 => append_run(
                cursor,
                elements,
                room,
                |&[_, a, b, c, d, e, f, g, h]: &[u8; 9]| {
                    form.int([a, b, c, d, e, f, g, h])
                },
            ),
            _ => 0,
        };
        self.tag = self.tag.wrapping_add(count);
        count
    }

    fn array(&mut self, count: usize, left: Left) -> Result<Value<'de>> {
        self.begin();
        let left = left.enter()?;
        let mut elements = self.reserve(count);
        let mut left_over = count;
        while left_over > 0 {
            grow(&mut elements, left_over);
            let passed = self.int_run(&mut elements, left_over);
            if passed == 0 {
                elements.push(self.item(left, true)?);
                left_over = left_over.saturating_sub(1);
            } else {
                left_over = left_over.saturating_sub(passed);
            }
        }
        Ok(Value::Array(elements))
    }

    /// Appends the pair that is next if its value is a usual scalar, to which nothing refers.
    ///
    /// A value is made where its pair is put: one that is carried through results first is
    /// written in parts and read as a whole, for which the processor waits.
    #[inline]
    fn plain_pair(&mut self, pairs: &mut Vec<Pair<'de>>) -> Result<bool> {
        let form = self.reader.form;
        let cursor = &mut self.reader.cursor;
        let int = match *cursor.rest() {
            [code::BYTE, byte, ..] => {
                cursor.pass(2);
                i64::from(byte).wrapping_sub(128)
            }
            [code::SCALAR, length, ref rest @ ..] => {
                let Some(bytes) = rest.get(..usize::from(length)) else {
                    return Ok(false);
                };
                cursor.pass(bytes.len().saturating_add(2));
                let key = plain_key(cursor, form)?;
                push_pair(pairs, key, bytes, |bytes| Value::Bytes(Cow::Borrowed(bytes)));
                self.begin();
                return Ok(true);
            }
            [code::NETINT, a, b, c, d, ..] => {
                cursor.pass(5);
                i64::from(i32::from_be_bytes([a, b, c, d]))
            }
            [code::INTEGER, ref rest @ ..] if form.int_bytes == 8 => {
                let Some(&bytes) = rest.first_chunk() else { return Ok(false) };
                cursor.pass(9);
                form.int(bytes)
            }
            [code::DOUBLE, ref rest @ ..] if form.float_bytes == 8 => {
                let Some(&bytes) = rest.first_chunk() else { return Ok(false) };
                cursor.pass(9);
                let key = plain_key(cursor, form)?;
                push_pair(pairs, key, form.float(bytes), Value::Double);
                self.begin();
                return Ok(true);
            }
            _ => return Ok(false),
        };
        let key = plain_key(cursor, form)?;
        push_pair(pairs, key, int, Value::Int);
        self.begin();
        Ok(true)
    }

    fn hash(
        &mut self,
        count: usize,
        flags: Option<u8>,
        left: Left,
    ) -> Result<Value<'de>> {
        self.begin();
        let left = left.enter()?;
        let mut pairs = self.reserve(count);
        for left_over in (1..=count).rev() {
            grow(&mut pairs, left_over);
            if self.is_first && flags.is_none() && self.plain_pair(&mut pairs)? {
                continue;
            }
            let value = self.item(left, false)?;
            let key = if flags.is_some() {
                let (key, flags) = self.reader.flagged_key()?;
                if flags & key_flag::IS_ITEM != 0 {
                    let tag = self.tag;
                    self.begin();
                    if !self.is_first && self.reader.table()?.is_shared(tag) {
                        self.keys.push((tag, Some(key)));
                    }
                }
                let (bytes, is_text) = match key {
                    WireKey::Bytes(bytes) => (Cow::Borrowed(bytes), false),
                    WireKey::Text(bytes) => (Cow::Borrowed(bytes), true),
                    WireKey::Latin1(_) => (Cow::Owned(key.name().into_bytes()), true),
                };
                Key {
                    bytes,
                    is_text,
                    is_locked: flags & key_flag::LOCKED != 0,
                    is_placeholder: flags & key_flag::PLACEHOLDER != 0,
                }
            } else {
                bytes_key(plain_key(&mut self.reader.cursor, self.reader.form)?)
            };
            pairs.push(Pair { key, value });
        }
        if flags.is_some_and(|flags| flags & RESTRICTED != 0) {
            Ok(Value::RestrictedHash(pairs))
        } else {
            Ok(Value::Hash(pairs))
        }
    }

    fn large(&mut self, left: Left) -> Result<Value<'de>> {
        let at = self.reader.pos();
        let form = self.reader.form;
        let cursor = &mut self.reader.cursor;
        match cursor.byte()? {
            code::OBJECT => {
                let tag = cursor.long_size(form)?;
                self.same(tag)
            }
            code @ (code::LSCALAR | code::LUTF8STR) => {
                let length = cursor.long_size(form)?;
                let bytes = cursor.bytes(length)?;
                self.begin();
                Ok(if code == code::LSCALAR {
                    Value::Bytes(Cow::Borrowed(bytes))
                } else {
                    flagged(bytes)
                })
            }
            code::ARRAY => {
                let count = cursor.long_size(form)?;
                let count = cursor.check_count(count, 1)?;
                self.array(count, left)
            }
            code::HASH => {
                let count = cursor.long_size(form)?;
                let count = cursor.check_count(count, LEAST_PAIR)?;
                self.hash(count, None, left)
            }
            code::FLAG_HASH => {
                let flags = cursor.byte()?;
                let count = cursor.long_size(form)?;
                let count = cursor.check_count(count, LEAST_FLAGGED_PAIR)?;
                self.hash(count, Some(flags), left)
            }
            code::HOOK => self.hook(at, left, true),
            code => Err(unknown_large(at, code)),
        }
    }

    fn hook(&mut self, at: usize, left: Left, is_large: bool) -> Result<Value<'de>> {
        self.reader.options.check_blessed(at)?;
        self.begin();
        let left = left.wrap()?;
        let form = self.reader.form;
        let mut flags = self.reader.cursor.byte()?;
        let kind = match flags & hook_flag::KIND {
            0 => HookKind::Scalar,
            1 => HookKind::Array,
            2 => HookKind::Hash,
            _ => HookKind::Tied(match hook_kind_tied(&mut self.reader.cursor)? {
                4 => TieKind::Scalar,
                5 => TieKind::Array,
                _ => TieKind::Hash,
            }),
        };
        // Items of its own, and their tags.
        let (mut own, mut values) = (Vec::new(), Vec::new());
        while flags & hook_flag::ITEM_FOLLOWS != 0 {
            let tag = self.tag;
            values.push(self.item(left, false)?);
            own.push((self.tag > tag).then_some(tag));
            flags = self.reader.cursor.byte()?;
        }
        let cursor = &mut self.reader.cursor;
        let class_at = cursor.pos;
        let number = hook_number(cursor, form, flags, hook_flag::LONG_CLASS)?;
        let class = if flags & hook_flag::CLASS_BY_INDEX != 0 {
            self.reader.class_by_index(number, class_at)?
        } else {
            self.reader.cursor.bytes(number)?
        };
        let cursor = &mut self.reader.cursor;
        let length = hook_string_length(cursor, form, flags, is_large)?;
        let frozen = Cow::Borrowed(cursor.bytes(length)?);
        let list = HookList::take(cursor, form, flags, &own)?;
        // The list is checked when the table is made.
        self.needs_table |= self.is_first && !list.tags.is_empty();
        let mut refs = self.reserve(list.tags.len());
        let mut met: usize = 0;
        // What is not listed as Perl does it stands beside the list.
        let (mut listed, others) = if list.is_in_order {
            (values.into_iter(), Vec::new())
        } else {
            (Vec::new().into_iter(), values)
        };
        for &tag in &list.tags {
            let value = if list.is_next(&own, met, tag) {
                met = met.saturating_add(1);
                listed.next()
            } else {
                None
            };
            refs.push(match value {
                Some(value) => value,
                None => self.same(tag)?,
            });
        }
        let tie = match kind {
            HookKind::Tied(_) => Some(self.item(left, false)?),
            _ => None,
        };
        let class = Cow::Borrowed(class);
        Ok(Value::Hook(Box::new(Hook { class, kind, frozen, refs, others, tie })))
    }
}

/// Makes room for another element, of which `left` are announced: by doubling, and for no more
/// than those.
#[inline]
fn grow<T>(elements: &mut Vec<T>, left: usize) {
    if elements.len() == elements.capacity() {
        elements.reserve_exact(elements.len().max(16).min(left));
    }
}

/// A key without flags.
#[inline]
fn plain_key<'de>(cursor: &mut Cursor<'de>, form: Form) -> Result<&'de [u8]> {
    let length = cursor.signed_size(form)?;
    cursor.bytes(length)
}

/// The key of these bytes.
#[inline]
fn bytes_key(bytes: &[u8]) -> Key<'_> {
    Key { bytes: Cow::Borrowed(bytes), ..Key::default() }
}

/// Appends a pair that is made in its place: `push` would take one made beside the vector, and
/// copy it.
#[inline]
fn push_pair<'de, T>(
    pairs: &mut Vec<Pair<'de>>,
    key: &'de [u8],
    content: T,
    value: impl Fn(T) -> Value<'de>,
) {
    let pair = |content| Pair { key: bytes_key(key), value: value(content) };
    pairs.extend(std::iter::once(content).map(pair));
}

/// Appends the items that are next and begin with the same code as the first of them, of
/// `STRIDE` bytes each and at most `most`, and tells how many there were.
#[inline]
fn append_run<const STRIDE: usize>(
    cursor: &mut Cursor<'_>,
    elements: &mut Vec<Value<'_>>,
    most: usize,
    int: impl Fn(&[u8; STRIDE]) -> i64,
) -> usize {
    let (items, _) = cursor.rest().as_chunks::<STRIDE>();
    let items = items.get(..most).unwrap_or(items);
    let code = items.first().and_then(|item| item.first()).copied();
    let count = items.iter().take_while(|item| item.first().copied() == code).count();
    // Counted first: of a slice it is known how many there are, and none is looked at for room.
    let items = items.get(..count).unwrap_or_default();
    elements.extend(items.iter().map(|item| Value::Int(int(item))));
    cursor.pass(count.saturating_mul(STRIDE));
    count
}

/// A string with the flag, which an empty one loses.
fn flagged(bytes: &[u8]) -> Value<'_> {
    let bytes = Cow::Borrowed(bytes);
    if bytes.is_empty() { Value::Bytes(bytes) } else { Value::Text(bytes) }
}

/// Writes the root.
pub(crate) fn write(core: &mut Core, value: &Value<'_>) -> Result<()> {
    let left = core.left();
    Put { core, tag: 0, shared: HashMap::new() }.item(value, left, false)
}

/// Writes values.
struct Put<'a> {
    core: &'a mut Core,
    /// The tag of the next item.
    tag: u64,
    /// Tags of shared items by their numbers.
    shared: HashMap<u64, u64>,
}

impl Put<'_> {
    fn begin(&mut self) {
        self.tag = self.tag.wrapping_add(1);
    }

    fn push(&mut self, code: u8) {
        self.core.out.push(code);
    }

    /// The code of an item that takes a tag.
    fn open(&mut self, code: u8) {
        self.push(code);
        self.begin();
    }

    fn target(&self, id: u64) -> Result<u64> {
        let tag = self.shared.get(&id).copied();
        tag.ok_or_else(|| {
            Error::data(format!("the number {id} of an item that was not met before"))
        })
    }

    fn put_tag(&mut self, tag: u64) -> Result<()> {
        let tag = u32::try_from(tag)
            .map_err(|_| Error::unsupported("a reference back over 2^32 items"))?;
        // Big-endian in all images.
        self.core.out.extend_from_slice(&tag.to_be_bytes());
        Ok(())
    }

    fn size(&mut self, size: usize) -> Result<()> {
        let size = Core::signed_size(size)?;
        self.core.put_size(size);
        Ok(())
    }

    fn item(&mut self, value: &Value<'_>, left: Left, is_element: bool) -> Result<()> {
        match value {
            Value::Undef => self.open(code::UNDEF),
            Value::ImmortalUndef if is_element => self.open(code::SVUNDEF_ELEM),
            Value::ImmortalUndef | Value::Hole => self.open(code::SV_UNDEF),
            Value::Bool(true) => self.open(code::BOOLEAN_TRUE),
            Value::Bool(false) => self.open(code::BOOLEAN_FALSE),
            Value::Immortal(true) => self.open(code::SV_YES),
            Value::Immortal(false) => self.open(code::SV_NO),
            Value::Int(value) => {
                self.begin();
                self.core.put_int(*value);
            }
            Value::Double(value) => {
                self.begin();
                self.core.put_double(*value);
            }
            Value::Bytes(bytes) => {
                self.begin();
                self.core.put_string(bytes, false);
            }
            Value::Text(bytes) => {
                self.begin();
                self.core.put_string(bytes, true);
            }
            Value::Array(elements) => {
                self.open(code::ARRAY);
                self.size(elements.len())?;
                let left = left.enter()?;
                for element in elements {
                    self.item(element, left, true)?;
                }
            }
            Value::Hash(pairs) => self.hash(pairs, false, left)?,
            Value::RestrictedHash(pairs) => self.hash(pairs, true, left)?,
            Value::Ref(kind, inner) => {
                let is_plain = matches!(kind, RefKind::Strong | RefKind::Weak);
                if !is_plain && !inner.may_be_object() {
                    return Err(Error::data("an overloading reference is to an object"));
                }
                self.open(match kind {
                    RefKind::Strong => code::REF,
                    RefKind::Weak => code::WEAKREF,
                    RefKind::Overloaded => code::OVERLOAD,
                    RefKind::WeakOverloaded => code::WEAKOVERLOAD,
                });
                self.item(inner, left.wrap()?, false)?;
            }
            Value::Blessed(class, inner) => {
                let is_immortal = matches!(
                    **inner,
                    Value::ImmortalUndef | Value::Hole | Value::Immortal(_)
                );
                // A number stands around the class, not inside.
                if is_immortal || matches!(**inner, Value::Shared(..) | Value::Same(_)) {
                    return Err(Error::data(
                        "an object is a scalar or a container of its own",
                    ));
                }
                self.core.put_class(class)?;
                self.item(inner, left.wrap()?, false)?;
            }
            Value::Tied(kind, inner) => {
                self.open(match kind {
                    TieKind::Array => code::TIED_ARRAY,
                    TieKind::Hash => code::TIED_HASH,
                    TieKind::Scalar => code::TIED_SCALAR,
                });
                self.item(inner, left.wrap()?, false)?;
            }
            Value::TiedKey(both) => {
                self.open(code::TIED_KEY);
                let left = left.wrap()?;
                self.item(&both.0, left, false)?;
                self.item(&both.1, left, false)?;
            }
            Value::TiedIndex(inner, index) => {
                self.open(code::TIED_IDX);
                self.item(inner, left.wrap()?, false)?;
                self.core.put_size(*index);
            }
            Value::Regexp(regexp) => self.regexp(regexp)?,
            Value::VString(vstring) => {
                let source = &vstring.source;
                if let Ok(length) = u8::try_from(source.len()) {
                    self.core.out.extend_from_slice(&[code::VSTRING, length]);
                } else {
                    self.push(code::LVSTRING);
                    self.size(source.len())?;
                }
                self.core.out.extend_from_slice(source);
                if !matches!(vstring.value, Value::Bytes(_) | Value::Text(_)) {
                    return Err(Error::data("a v-string stands for a string"));
                }
                self.item(&vstring.value, left, false)?;
            }
            Value::Hook(hook) => self.hook(hook, left)?,
            Value::Code(inner) => {
                let text = match &**inner {
                    Value::Shared(_, text) => text,
                    text => text,
                };
                if !matches!(text, Value::Bytes(_) | Value::Text(_)) {
                    return Err(Error::data("code is a string"));
                }
                self.open(code::CODE);
                self.item(inner, left, false)?;
            }
            Value::Shared(id, inner) => {
                if self.shared.insert(*id, self.tag).is_some() {
                    return Err(Error::data(format!("two items have the number {id}")));
                }
                if matches!(**inner, Value::Shared(..) | Value::Same(_)) {
                    return Err(Error::data("an item with two numbers"));
                }
                self.item(inner, left.wrap()?, is_element)?;
            }
            Value::Same(id) => {
                let tag = self.target(*id)?;
                self.push(code::OBJECT);
                self.put_tag(tag)?;
            }
        }
        Ok(())
    }

    fn hash(
        &mut self,
        pairs: &[Pair<'_>],
        is_restricted: bool,
        left: Left,
    ) -> Result<()> {
        self.begin();
        let left = left.enter()?;
        let count = Core::signed_size(pairs.len())?;
        let has_flags =
            |key: &Key<'_>| key.is_locked || key.is_placeholder || key.is_text;
        let mut hash = self.core.begin_hash(usize::try_from(count).unwrap_or(usize::MAX));
        if is_restricted || pairs.iter().any(|pair| has_flags(&pair.key)) {
            // Known before the first pair, so that none is moved.
            self.core.restrict(&mut hash, if is_restricted { RESTRICTED } else { 0 })?;
        }
        for Pair { key, value } in pairs {
            self.item(value, left, false)?;
            let mut flags = 0;
            if key.is_locked {
                flags |= key_flag::LOCKED;
            }
            if key.is_placeholder {
                flags |= key_flag::PLACEHOLDER;
            }
            if key.is_text && key.bytes.is_ascii() {
                flags |= key_flag::WAS_UTF8;
            }
            hash.begin_pair();
            self.core.put_flagged_key(&mut hash, &key.bytes, key.is_text, flags)?;
        }
        self.core.end_hash(&hash)
    }

    fn regexp(&mut self, regexp: &Regexp<'_>) -> Result<()> {
        if !are_modifiers(&regexp.modifiers) {
            return Err(Error::data(
                "modifiers of a pattern are letters of `msixpdualn`",
            ));
        }
        self.open(code::REGEXP);
        if let Ok(length) = u8::try_from(regexp.pattern.len()) {
            self.core.out.extend_from_slice(&[0, length]);
        } else {
            self.push(1);
            self.size(regexp.pattern.len())?;
        }
        self.core.out.extend_from_slice(&regexp.pattern);
        let length = u8::try_from(regexp.modifiers.len())
            .map_err(|_| Error::unsupported("more than 255 modifiers"))?;
        self.push(length);
        self.core.out.extend_from_slice(&regexp.modifiers);
        Ok(())
    }

    fn hook(&mut self, hook: &Hook<'_>, left: Left) -> Result<()> {
        self.open(code::HOOK);
        let left = left.wrap()?;
        let (kind, tie) = match hook.kind {
            HookKind::Scalar => (0, None),
            HookKind::Array => (1, None),
            HookKind::Hash => (2, None),
            HookKind::Tied(TieKind::Scalar) => (hook_flag::KIND_TIED, Some(4)),
            HookKind::Tied(TieKind::Array) => (hook_flag::KIND_TIED, Some(5)),
            HookKind::Tied(TieKind::Hash) => (hook_flag::KIND_TIED, Some(6)),
        };
        if tie.is_some() != hook.tie.is_some() {
            return Err(Error::data(
                "a tied thing has an object behind it, others have none",
            ));
        }
        // The byte with the kind stands behind the first flags only.
        let mut tie_kind = tie;
        let mut tags = Vec::with_capacity(hook.refs.len());
        let referred = hook.refs.iter().map(|value| (value, true));
        let others = hook.others.iter().map(|value| (value, false));
        for (value, is_listed) in others.chain(referred) {
            if let (Value::Same(id), true) = (value, is_listed) {
                // Its tag may be that of one of the items that follow.
                tags.push(Err(*id));
                continue;
            }
            self.push(kind | hook_flag::ITEM_FOLLOWS);
            if let Some(byte) = tie_kind.take() {
                self.push(byte);
            }
            if is_listed {
                tags.push(Ok(self.tag));
            }
            self.item(value, left, false)?;
        }
        let mut flags = kind;
        let index = self.core.class_index(&hook.class);
        let number = match index {
            Some(index) => {
                flags |= hook_flag::CLASS_BY_INDEX;
                index
            }
            None => hook.class.len(),
        };
        if number >= usize::from(LONG) {
            flags |= hook_flag::LONG_CLASS;
        }
        if hook.frozen.len() > usize::from(u8::MAX) {
            flags |= hook_flag::LONG_STRING;
        }
        if tags.len() > usize::from(u8::MAX) {
            flags |= hook_flag::LONG_LIST;
        }
        if !tags.is_empty() {
            flags |= hook_flag::HAS_LIST;
        }
        self.push(flags);
        if let Some(byte) = tie_kind.take() {
            self.push(byte);
        }
        self.hook_number(number, flags & hook_flag::LONG_CLASS != 0)?;
        if index.is_none() {
            self.core.out.extend_from_slice(&hook.class);
            self.core.add_class(&hook.class);
        }
        self.hook_number(hook.frozen.len(), flags & hook_flag::LONG_STRING != 0)?;
        self.core.out.extend_from_slice(&hook.frozen);
        if !tags.is_empty() {
            self.hook_number(tags.len(), flags & hook_flag::LONG_LIST != 0)?;
            for tag in tags {
                let tag = match tag {
                    Ok(tag) => tag,
                    Err(id) => self.target(id)?,
                };
                self.put_tag(tag)?;
            }
        }
        match &hook.tie {
            Some(object) => self.item(object, left, false),
            None => Ok(()),
        }
    }

    fn hook_number(&mut self, number: usize, is_long: bool) -> Result<()> {
        if is_long {
            self.size(number)
        } else {
            self.push(u8::try_from(number).unwrap_or(u8::MAX));
            Ok(())
        }
    }
}
