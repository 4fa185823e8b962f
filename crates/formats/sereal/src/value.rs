//! [`Value`]: any document, with all that Perl keeps and Rust's types do not ask for.
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::arithmetic_side_effects
)]

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Error as _, Serialize, SerializeMap, Serializer};

use crate::keys::{FEW, Seen, fingerprint, twice};
use crate::read::{Place, State, short_integer, unzigzag};
use crate::tag::{self, TRACK};
use crate::{Error, Result};

/// A string of Perl: bytes, and whether they are flagged as UTF-8.
///
/// Unflagged, each byte is a character of its own (Latin-1), or simply a byte. Flagged, the bytes
/// are Perl's UTF-8, which may be wider than Unicode's.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Str<'a> {
    bytes: Cow<'a, [u8]>,
    is_text: bool,
}

impl<'a> Str<'a> {
    /// A flagged string.
    pub fn text(text: impl Into<Cow<'a, str>>) -> Self {
        let bytes = match text.into() {
            Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
            Cow::Owned(text) => Cow::Owned(text.into_bytes()),
        };
        Self { bytes, is_text: true }
    }

    /// A string without the flag.
    pub fn bytes(bytes: impl Into<Cow<'a, [u8]>>) -> Self {
        Self { bytes: bytes.into(), is_text: false }
    }

    /// A string with the flag whose bytes may be wider than UTF-8.
    pub fn wide(bytes: impl Into<Cow<'a, [u8]>>) -> Self {
        Self { bytes: bytes.into(), is_text: true }
    }

    /// The bytes as they are.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Whether the bytes are flagged as UTF-8.
    pub fn is_text(&self) -> bool {
        self.is_text
    }

    /// The bytes, if they are UTF-8, flagged or not: what a typed read takes for text.
    pub fn as_str(&self) -> Option<&str> {
        std::str::from_utf8(&self.bytes).ok()
    }

    /// The characters as Perl has them: flagged by UTF-8, with replacements for what Unicode
    /// does not have; unflagged by Latin-1.
    pub fn to_text(&self) -> Cow<'_, str> {
        if self.is_text {
            String::from_utf8_lossy(&self.bytes)
        } else if self.bytes.is_ascii() {
            self.as_str().unwrap_or_default().into()
        } else {
            self.bytes.iter().copied().map(char::from).collect::<String>().into()
        }
    }

    /// Whether it is the same key: the same characters in the same bytes.
    fn is_same(&self, other: &Self) -> bool {
        self.bytes == other.bytes
            && (self.is_text == other.is_text || self.bytes.is_ascii())
    }

    /// The same, owned.
    pub fn into_owned(self) -> Str<'static> {
        Str { bytes: Cow::Owned(self.bytes.into_owned()), is_text: self.is_text }
    }
}

impl fmt::Debug for Str<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.is_text, self.as_str()) {
            (true, Some(text)) => write!(f, "t{text:?}"),
            (false, Some(text)) => write!(f, "{text:?}"),
            (true, None) => write!(f, "t\"{}\"", self.bytes.escape_ascii()),
            (false, None) => write!(f, "b\"{}\"", self.bytes.escape_ascii()),
        }
    }
}

/// Text is flagged unless it is ASCII, as Perl programs mostly have it.
impl<'a> From<&'a str> for Str<'a> {
    fn from(text: &'a str) -> Self {
        Self { is_text: !text.is_ascii(), bytes: Cow::Borrowed(text.as_bytes()) }
    }
}

impl From<String> for Str<'_> {
    fn from(text: String) -> Self {
        Self { is_text: !text.is_ascii(), bytes: Cow::Owned(text.into_bytes()) }
    }
}

/// A number by which a value is known that more than one place refers to.
pub type Id = u32;

/// What an [`Id`] names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Item {
    /// The array, hash or regular expression that the value is a reference to.
    Referent,
    /// The value itself: an element, or what a [`Value::Ref`] leads to.
    Scalar,
}

/// One of Perl's three values that exist once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Immortal {
    /// *The* undef.
    Undef,
    /// *The* false.
    False,
    /// *The* true.
    True,
}

/// A value with an [`Id`], at the first place where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Shared<'a> {
    /// The number that other places give.
    pub id: Id,
    /// What it is the number of.
    pub item: Item,
    /// The value.
    pub value: Value<'a>,
}

/// Any document, with what a typed read passes over: references, classes, sharing, aliases.
///
/// Perl reaches arrays and hashes through references only, so [`Array`](Self::Array) and
/// [`Hash`](Self::Hash) are references to one: `[1]`, `{a => 1}`. What stands in several places
/// stands in the first as [`Shared`](Self::Shared), and the others name its [`Id`]; a cycle needs
/// no more. Read by [`Decoder::decode_value`](crate::Decoder::decode_value), which keeps all of
/// it; through serde (as a part of other types) it holds plain data.
///
/// ```
/// use wiremark_sereal::{Decoder, Encoder, Item, Value};
///
/// // `my $list = [7]; [$list, $list]`
/// let bytes = b"=\xf3rl\x05\x00\x42\x28\xab\x01\x07\x29\x03";
/// let value = Decoder::new().decode_value(bytes)?;
/// let Value::Array(lists) = &value else { panic!("{value:?}") };
/// let Value::Shared(first) = &lists[0] else { panic!("{value:?}") };
/// assert_eq!((first.id, first.item), (1, Item::Referent));
/// assert_eq!(first.value, Value::Array(vec![Value::Int(7)]));
/// assert_eq!(lists[1], Value::SameRef(1));
/// assert_eq!(Encoder::new().encode_value_to_vec(&value)?, bytes);
/// // A typed read writes it out.
/// assert_eq!(wiremark_sereal::from_slice::<Vec<Vec<u8>>>(bytes)?, [[7], [7]]);
/// # Ok::<(), wiremark_sereal::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Value<'a> {
    /// undef.
    #[default]
    Undef,
    /// A boolean.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A whole number above 2⁶³ − 1.
    Uint(u64),
    /// A float.
    Float(f64),
    /// A string.
    Str(Str<'a>),
    /// A reference to an array: `[...]`.
    Array(Vec<Value<'a>>),
    /// A reference to a hash, its pairs as they stand there: `{...}`.
    Hash(Vec<(Str<'a>, Value<'a>)>),
    /// A reference to a scalar: `\1`, `\\"x"`.
    Ref(Box<Value<'a>>),
    /// A regular expression without its class: what `qr/^a/i` refers to.
    Regexp(Box<crate::Regexp<Str<'a>>>),
    /// An object: a reference to something blessed. `qr/^a/i` is one of the class `Regexp`.
    Object(Box<crate::Object<Value<'a>, Str<'a>>>),
    /// An object that its class froze. The arguments are an array.
    Frozen(Box<crate::Frozen<Value<'a>, Str<'a>>>),
    /// A weak reference.
    Weak(Box<Value<'a>>),
    /// What a [`Ref`](Self::Ref) leads to if it leads to one of Perl's own values.
    Immortal(Immortal),
    /// The first place of something that others name.
    Shared(Box<Shared<'a>>),
    /// Another reference to what has this number.
    SameRef(Id),
    /// The very scalar that has this number, in another element of an array or a hash.
    Alias(Id),
}

impl<'a> Value<'a> {
    /// The value in the hash under this key; none for what is no hash. Objects and what is
    /// shared are looked into.
    pub fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Hash(pairs) => pairs
                .iter()
                .find(|(known, _)| known.as_bytes() == key.as_bytes())
                .map(|(_, value)| value),
            Self::Object(object) => object.value.get(key),
            Self::Shared(shared) => shared.value.get(key),
            Self::Weak(value) => value.get(key),
            _ => None,
        }
    }

    /// The same, owned.
    pub fn into_owned(self) -> Value<'static> {
        match self {
            Self::Undef => Value::Undef,
            Self::Bool(value) => Value::Bool(value),
            Self::Int(value) => Value::Int(value),
            Self::Uint(value) => Value::Uint(value),
            Self::Float(value) => Value::Float(value),
            Self::Str(text) => Value::Str(text.into_owned()),
            Self::Array(values) => {
                Value::Array(values.into_iter().map(Value::into_owned).collect())
            }
            Self::Hash(pairs) => {
                let owned = |(key, value): (Str<'a>, Self)| {
                    (key.into_owned(), value.into_owned())
                };
                Value::Hash(pairs.into_iter().map(owned).collect())
            }
            Self::Ref(value) => Value::Ref(Box::new(value.into_owned())),
            Self::Regexp(regexp) => Value::Regexp(Box::new(crate::Regexp {
                pattern: regexp.pattern.into_owned(),
                flags: regexp.flags.into_owned(),
            })),
            Self::Object(object) => Value::Object(Box::new(crate::Object {
                class: object.class.into_owned(),
                value: object.value.into_owned(),
            })),
            Self::Frozen(frozen) => Value::Frozen(Box::new(crate::Frozen {
                class: frozen.class.into_owned(),
                arguments: frozen.arguments.into_owned(),
            })),
            Self::Weak(value) => Value::Weak(Box::new(value.into_owned())),
            Self::Immortal(value) => Value::Immortal(value),
            Self::Shared(shared) => Value::Shared(Box::new(Shared {
                id: shared.id,
                item: shared.item,
                value: shared.value.into_owned(),
            })),
            Self::SameRef(id) => Value::SameRef(id),
            Self::Alias(id) => Value::Alias(id),
        }
    }
}

impl From<i64> for Value<'_> {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Self::Str(text.into())
    }
}

/// Reads the body's value. `scan` makes another reader of the same body.
pub(crate) fn read<'b, 'de>(
    state: &mut State<'b, 'de>,
    scan: impl Fn() -> State<'b, 'de>,
) -> Result<Value<'de>> {
    let mut reader = Reader { state, scan: &|| scan().targets(), labels: None };
    let result = reader.value(false);
    match result {
        Ok(_) => result,
        Err(error) => Err(state.annotate(error)),
    }
}

/// A pair of a hash.
type Pair<'a> = (Str<'a>, Value<'a>);

/// Numbers of what is shared.
struct Labels {
    /// What is referred to, in order.
    targets: Vec<usize>,
    /// Those that were met.
    met: HashMap<usize, Id>,
    /// What each number is one of, the first at 0.
    items: Vec<Item>,
}

fn index_of(id: Id) -> usize {
    usize::try_from(id).unwrap_or(usize::MAX).wrapping_sub(1)
}

struct Reader<'r, 'b, 'de> {
    state: &'r mut State<'b, 'de>,
    scan: &'r dyn Fn() -> Result<Vec<usize>>,
    /// Made when the first track bit is met.
    labels: Option<Labels>,
}

/// What a value stands behind. None of them may repeat: they take no level, only stack.
#[derive(Clone, Copy, PartialEq, Eq)]
enum After {
    Anything,
    Weaken,
    Object,
}

impl After {
    fn may_be(self, tag: u8) -> bool {
        let is_reference = matches!(
            tag,
            tag::REFN | tag::REFP | tag::COPY | tag::ARRAYREF..tag::SHORT_BINARY
        );
        let is_object = matches!(
            tag,
            tag::OBJECT..=tag::OBJECTV | tag::OBJECT_FREEZE..=tag::OBJECTV_FREEZE
        );
        match self {
            Self::Anything => true,
            Self::Weaken => is_reference || is_object,
            Self::Object => is_reference,
        }
    }
}

impl<'de> Reader<'_, '_, 'de> {
    fn str(&self, place: Place) -> Str<'de> {
        let bytes = match self.state.lent {
            Some(all) => {
                Cow::Borrowed(all.get(place.start..place.end).unwrap_or_default())
            }
            None => Cow::Owned(self.state.bytes(place).to_vec()),
        };
        Str { bytes, is_text: place.is_text() }
    }

    /// The number of what begins at `at` with the track bit, if anything refers to it.
    fn label(&mut self, at: usize, known: Option<Id>) -> Result<Option<Id>> {
        self.state.note(at);
        // What is copied is another thing than what it is copied from.
        if self.state.is_replaying() {
            return Ok(known);
        }
        if self.labels.is_none() {
            let targets = (self.scan)()?;
            self.labels =
                Some(Labels { targets, met: HashMap::new(), items: Vec::new() });
        }
        let Some(labels) = &mut self.labels else { return Ok(known) };
        if labels.targets.binary_search(&at).is_err() {
            return Ok(known);
        }
        let id = if let Some(id) = known {
            id
        } else {
            labels.items.push(Item::Scalar);
            Id::try_from(labels.items.len())
                .map_err(|_| Error::limit("expected fewer values that are shared"))?
        };
        labels.met.insert(at, id);
        Ok(Some(id))
    }

    fn target(&mut self, at: usize) -> Result<(Id, Item)> {
        let target = self.state.target(at)?;
        let found = self.labels.as_ref().and_then(|labels| {
            let id = *labels.met.get(&target)?;
            Some((id, *labels.items.get(index_of(id))?))
        });
        found.ok_or_else(|| self.state.syntax("expected the offset of something tracked"))
    }

    /// Tracked padding before an alias got the last number, but is a place of what is aliased.
    #[cold]
    fn move_labels(&mut self, padding: std::ops::Range<usize>, id: Id) {
        let Some(labels) = &mut self.labels else { return };
        labels.items.pop();
        for at in padding {
            if let Some(known) = labels.met.get_mut(&at) {
                *known = id;
            }
        }
    }

    /// The number stands for the container, not for a scalar.
    fn is_referent(&mut self, id: Id) {
        if let Some(labels) = &mut self.labels
            && let Some(item) = labels.items.get_mut(index_of(id))
        {
            *item = Item::Referent;
        }
    }

    #[inline]
    fn value(&mut self, in_slot: bool) -> Result<Value<'de>> {
        if let Some(value) = self.state.short_integer() {
            return Ok(Value::Int(value.cast_signed()));
        }
        match self.state.peek() {
            Some(tag @ tag::SHORT_BINARY..TRACK) => {
                self.state.advance();
                let place = self.state.string(tag)?;
                Ok(Value::Str(self.str(place)))
            }
            Some(tag @ tag::ARRAYREF..tag::HASHREF) => {
                self.state.advance();
                self.array(tag)
            }
            Some(tag @ tag::HASHREF..tag::SHORT_BINARY) => {
                self.state.advance();
                self.hash(tag)
            }
            Some(tag::DOUBLE) => {
                self.state.advance();
                Ok(Value::Float(self.state.double()?))
            }
            _ => self.any(in_slot, After::Anything),
        }
    }

    /// A value, by whatever tags it is reached.
    fn any(&mut self, in_slot: bool, after: After) -> Result<Value<'de>> {
        let mut label = None;
        let start = self.state.pos;
        let (at, tag) = loop {
            let at = self.state.pos;
            let Some(byte) = self.state.peek() else {
                return Err(self.state.eof("expected a value"));
            };
            self.state.advance();
            let tag = byte & !TRACK;
            if byte != tag && tag != tag::ALIAS {
                label = self.label(at, label)?;
            }
            if tag != tag::PAD {
                break (at, tag);
            }
            if self.state.is_replaying() {
                self.state.spend(1)?;
            }
        };
        if let (Some(id), tag::ARRAY | tag::HASH | tag::REGEXP) = (label, tag) {
            return self.labelled_referent(id, tag);
        }
        if !after.may_be(tag) {
            return Err(self.state.unexpected("a reference", tag));
        }
        let value = match tag {
            tag::REFN => self.referent()?,
            tag::REFP => Value::SameRef(self.target(at)?.0),
            tag::ALIAS => {
                let (id, item) = self.target(at)?;
                if !in_slot || item != Item::Scalar || label == Some(id) {
                    return Err(self.state.unexpected("a value", tag));
                }
                if label.is_some() {
                    self.move_labels(start..at, id);
                }
                return Ok(Value::Alias(id));
            }
            tag::COPY => {
                let target = self.state.copy_target(at)?;
                self.copy(target, at, |reader| reader.any(false, after))?
            }
            tag::WEAKEN => Value::Weak(Box::new(self.any(false, After::Weaken)?)),
            tag::OBJECT | tag::OBJECTV => {
                let class = self.class(tag)?;
                let value = self.any(false, After::Object)?;
                Value::Object(Box::new(crate::Object { class, value }))
            }
            tag::OBJECT_FREEZE | tag::OBJECTV_FREEZE => {
                let class = self.class(tag)?;
                let arguments = self.any(false, After::Object)?;
                let is_array = match &arguments {
                    Value::Array(_) | Value::SameRef(_) => true,
                    Value::Shared(shared) => {
                        shared.item == Item::Referent
                            && matches!(shared.value, Value::Array(_))
                    }
                    _ => false,
                };
                if !is_array {
                    return Err(self
                        .state
                        .unexpected("an array of what FREEZE returned", tag));
                }
                Value::Frozen(Box::new(crate::Frozen { class, arguments }))
            }
            _ => self.plain(tag)?,
        };
        Ok(match label {
            Some(id) => Value::Shared(Box::new(Shared { id, item: Item::Scalar, value })),
            None => value,
        })
    }

    fn class(&mut self, tag: u8) -> Result<Str<'de>> {
        let place = self.state.class_of(tag)?;
        Ok(self.str(place))
    }

    fn copy<R>(
        &mut self,
        target: usize,
        at: usize,
        read: impl FnOnce(&mut Reader<'_, '_, 'de>) -> Result<R>,
    ) -> Result<R> {
        let (scan, labels) = (self.scan, &mut self.labels);
        self.state.copy(target, at, |state| {
            let mut reader = Reader { state, scan, labels: labels.take() };
            let read = read(&mut reader);
            *labels = reader.labels.take();
            read
        })
    }

    fn labelled_referent(&mut self, id: Id, tag: u8) -> Result<Value<'de>> {
        self.is_referent(id);
        let value = self.plain(tag)?;
        Ok(Value::Shared(Box::new(Shared { id, item: Item::Referent, value })))
    }

    /// What a REFN leads to, as a reference to it.
    fn referent(&mut self) -> Result<Value<'de>> {
        let at = self.state.pos;
        let Some(byte) = self.state.peek() else {
            return Err(self.state.eof("expected what a reference leads to"));
        };
        match byte & !TRACK {
            tag @ (tag::ARRAY | tag::HASH | tag::REGEXP) => {
                self.state.advance();
                if byte != tag
                    && let Some(id) = self.label(at, None)?
                {
                    return self.labelled_referent(id, tag);
                }
                return self.plain(tag);
            }
            tag::PAD if byte == tag::PAD => {
                self.state.advance();
                if self.state.is_replaying() {
                    self.state.spend(1)?;
                }
                return self.padded_referent();
            }
            tag::COPY if byte == tag::COPY => {
                self.state.advance();
                let target = self.state.copy_target(at)?;
                #[expect(
                    clippy::redundant_closure_for_method_calls,
                    reason = "the method alone has one lifetime, the closure any"
                )]
                return self.copy(target, at, |reader| reader.referent());
            }
            _ => {}
        }
        self.state.enter()?;
        let immortal = match byte {
            tag::CANONICAL_UNDEF => Some(Immortal::Undef),
            tag::FALSE => Some(Immortal::False),
            tag::TRUE => Some(Immortal::True),
            _ => None,
        };
        if let Some(immortal) = immortal {
            self.state.advance();
            self.state.leave();
            return Ok(Value::Ref(Box::new(Value::Immortal(immortal))));
        }
        let value = self.value(false)?;
        self.state.leave();
        Ok(match value {
            // Behind padding with the track bit.
            Value::Shared(shared) if shared.item == Item::Referent => {
                Value::Shared(shared)
            }
            value => Value::Ref(Box::new(value)),
        })
    }

    /// The same behind padding, without recursion.
    fn padded_referent(&mut self) -> Result<Value<'de>> {
        while self.state.peek() == Some(tag::PAD) {
            self.state.advance();
            if self.state.is_replaying() {
                self.state.spend(1)?;
            }
        }
        self.referent()
    }

    /// Short integers, as long as they come and there is room for them.
    ///
    /// Those of one length are counted first: then it is known how many are appended, and none is
    /// looked at for room, or goes through the stack.
    #[inline(never)]
    fn integers(&mut self, count: usize, values: &mut Vec<Value<'de>>) {
        let mut rest = self.state.body.get(self.state.pos..).unwrap_or_default();
        loop {
            let room = count.min(values.capacity()).saturating_sub(values.len());
            let len = match *rest {
                [0..tag::NEG, ..] => {
                    append_run(rest, room, values, ([0xf0], [0]), |&[tag]| i64::from(tag))
                }
                [tag::VARINT, 0..TRACK, ..] => append_run(
                    rest,
                    room,
                    values,
                    ([0xff, 0x80], [tag::VARINT, 0]),
                    |&[_, low]| i64::from(low),
                ),
                [tag::VARINT, _, 0..TRACK, ..] => append_run(
                    rest,
                    room,
                    values,
                    ([0xff, 0x80, 0x80], [tag::VARINT, 0x80, 0]),
                    |&[_, low, high]| i64::from(low & 0x7f) | (i64::from(high) << 7),
                ),
                _ => break,
            };
            if len == 0 {
                break;
            }
            rest = rest.get(len..).unwrap_or_default();
        }
        self.state.pos = self.state.body.len().wrapping_sub(rest.len());
    }

    /// The pairs of a small hash.
    fn few_pairs(&mut self, count: usize, pairs: &mut Vec<Pair<'de>>) -> Result<()> {
        let mut prints = 0;
        while pairs.len() < count {
            self.usual_pairs(count, pairs, &mut prints);
            if pairs.len() < count {
                let place = self.state.key()?;
                let key = self.str(place);
                if !self.state.options.duplicate_keys {
                    let bit = print_bit(&key.bytes);
                    let is_known = prints & bit != 0
                        && pairs.iter().any(|(known, _)| key.is_same(known));
                    if is_known {
                        return Err(twice(self.state, &key.bytes));
                    }
                    prints |= bit;
                }
                pairs.push((key, self.value(true)?));
            }
        }
        Ok(())
    }

    /// Pairs of short strings and usual scalars, as long as they come and no key is one that may
    /// have been there before: one whose bit in `prints` is set.
    ///
    /// A pair is made where it is put: one that is carried through results, or taken by `push`
    /// before the look for room, is written in parts and read as a whole, for which the processor
    /// waits.
    #[inline]
    fn usual_pairs(
        &mut self,
        count: usize,
        pairs: &mut Vec<Pair<'de>>,
        prints: &mut u64,
    ) {
        let Some(body) = self.state.lent.and_then(|all| all.get(..self.state.body.len()))
        else {
            return;
        };
        let longest = self.state.options.max_string;
        let is_checked = !self.state.options.duplicate_keys;
        let short = |bytes: &'de [u8]| -> Option<(&'de [u8], &'de [u8])> {
            let (&tag, rest) = bytes.split_first()?;
            let len = usize::from(tag & 0x1f);
            if !matches!(tag, tag::SHORT_BINARY..TRACK) || len > longest {
                return None;
            }
            rest.split_at_checked(len)
        };
        let mut rest = body.get(self.state.pos..).unwrap_or_default();
        while pairs.len() < count
            && let Some((key, value)) = short(rest)
        {
            let bit = if is_checked { print_bit(key) } else { 0 };
            if *prints & bit != 0 {
                break;
            }
            let key = || short_str(key);
            let next = if let Some((int, len)) = short_integer(value) {
                push(pairs, int, |int| (key(), Value::Int(int.cast_signed())));
                value.get(len..).unwrap_or_default()
            } else if let [tag::DOUBLE, float @ ..] = value
                && let Some((float, next)) = float.split_first_chunk()
            {
                let float = f64::from_le_bytes(*float);
                push(pairs, float, |float| (key(), Value::Float(float)));
                next
            } else if let Some((bytes, next)) = short(value) {
                push(pairs, bytes, |bytes| (key(), Value::Str(short_str(bytes))));
                next
            } else {
                break;
            };
            *prints |= bit;
            rest = next;
        }
        self.state.pos = body.len().wrapping_sub(rest.len());
    }

    /// The pairs of a large hash.
    #[inline(never)]
    fn many_pairs(&mut self, count: usize, pairs: &mut Vec<Pair<'de>>) -> Result<()> {
        let mut keys = Seen::new();
        // By reference: an option of the list itself would be a copy of it.
        let mut seen = (!self.state.options.duplicate_keys).then_some(&mut keys);
        for _ in 0..count {
            let key = self.state.key()?;
            if let Some(seen) = &mut seen {
                seen.add(self.state, key)?;
            }
            let key = self.str(key);
            match self.state.short_integer() {
                Some(value) => {
                    pairs.push((key, Value::Int(value.cast_signed())));
                }
                None => pairs.push((key, self.value(true)?)),
            }
        }
        Ok(())
    }

    #[inline(never)]
    fn array(&mut self, tag: u8) -> Result<Value<'de>> {
        let count = self.state.array_count(tag)?;
        let max = self.state.options.max_array;
        let hint = self.state.begin_container(count, 1, max)?;
        let mut values = Vec::with_capacity(hint);
        while values.len() < count {
            self.integers(count, &mut values);
            if values.len() < count {
                values.push(self.value(true)?);
            }
        }
        self.state.leave();
        Ok(Value::Array(values))
    }

    #[inline(never)]
    fn hash(&mut self, tag: u8) -> Result<Value<'de>> {
        let count = self.state.hash_count(tag)?;
        let max = self.state.options.max_hash;
        let hint = self.state.begin_container(count, 2, max)?;
        let mut pairs = Vec::with_capacity(hint);
        if count <= FEW {
            self.few_pairs(count, &mut pairs)?;
        } else {
            self.many_pairs(count, &mut pairs)?;
        }
        self.state.leave();
        Ok(Value::Hash(pairs))
    }

    /// A value whose tag was read, and which is no way to another.
    fn plain(&mut self, tag: u8) -> Result<Value<'de>> {
        Ok(match tag {
            0..tag::NEG => Value::Int(i64::from(tag)),
            tag::NEG..tag::VARINT => {
                Value::Int(i64::from(tag).wrapping_sub(i64::from(tag::VARINT)))
            }
            tag::VARINT => unsigned(self.state.varint()?),
            tag::ZIGZAG => Value::Int(unzigzag(self.state.varint()?)),
            tag::FLOAT => Value::Float(f64::from(self.state.float()?)),
            tag::DOUBLE => Value::Float(self.state.double()?),
            tag::LONG_DOUBLE | tag::FLOAT_128 => {
                Value::Float(self.state.wide_float(tag)?)
            }
            tag::UNDEF | tag::CANONICAL_UNDEF => Value::Undef,
            tag::NO | tag::FALSE => Value::Bool(false),
            tag::YES | tag::TRUE => Value::Bool(true),
            tag::BINARY | tag::STR_UTF8 | tag::SHORT_BINARY.. => {
                let place = self.state.string(tag)?;
                Value::Str(self.str(place))
            }
            tag::REGEXP => {
                let (pattern, flags) = self.state.regexp()?;
                let (pattern, flags) = (self.str(pattern), self.str(flags));
                Value::Regexp(Box::new(crate::Regexp { pattern, flags }))
            }
            // Returned as they are: what is put together here is copied once more.
            tag::ARRAY | tag::ARRAYREF..tag::HASHREF => return self.array(tag),
            tag::HASH | tag::HASHREF..tag::SHORT_BINARY => return self.hash(tag),
            _ => return Err(self.state.unexpected("a value", tag)),
        })
    }
}

/// Appends what is made of `content` in its place: `push` would take it made beside the vector,
/// and copy it.
#[inline]
fn push<T, C>(to: &mut Vec<T>, content: C, make: impl Fn(C) -> T) {
    to.extend(std::iter::once(content).map(make));
}

/// Appends the integers of `LEN` bytes each that `bytes` begin with, at most `room`, and tells how
/// many bytes they have. Each byte has some bits, and of these the ones that are set.
#[inline]
fn append_run<const LEN: usize>(
    bytes: &[u8],
    room: usize,
    values: &mut Vec<Value<'_>>,
    (bits, set): ([u8; LEN], [u8; LEN]),
    read: impl Fn(&[u8; LEN]) -> i64,
) -> usize {
    let (chunks, _) = bytes.as_chunks::<LEN>();
    let chunks = chunks.get(..room).unwrap_or(chunks);
    // Sixteen at a time, as vectors.
    let (blocks, _) = chunks.as_chunks::<16>();
    let blocks =
        blocks.iter().take_while(|block| is_of(block, &[bits; 16], &[set; 16])).count();
    let whole = blocks.saturating_mul(16);
    let rest = chunks.get(whole..).unwrap_or_default();
    let rest = rest.iter().take_while(|&one| is_of(&[*one], &[bits], &[set])).count();
    let chunks = chunks.get(..whole.saturating_add(rest)).unwrap_or_default();
    values.extend(chunks.iter().map(|chunk| Value::Int(read(chunk))));
    chunks.as_flattened().len()
}

/// Whether of all bytes those bits are set, and no others of `bits`.
#[inline]
fn is_of<const LEN: usize, const COUNT: usize>(
    bytes: &[[u8; LEN]; COUNT],
    bits: &[[u8; LEN]; COUNT],
    set: &[[u8; LEN]; COUNT],
) -> bool {
    let form = bits.as_flattened().iter().zip(set.as_flattened());
    let mut other = 0;
    for (byte, (bits, set)) in bytes.as_flattened().iter().zip(form) {
        other |= (byte & bits) ^ set;
    }
    other == 0
}

/// A string of the form that has no flag.
#[inline]
fn short_str(bytes: &[u8]) -> Str<'_> {
    Str { bytes: Cow::Borrowed(bytes), is_text: false }
}

/// One of 64 bits, the same for equal keys.
#[inline]
fn print_bit(key: &[u8]) -> u64 {
    // Of the product in the fingerprint the highest, which all bytes have a part in.
    1_u64.wrapping_shl(u32::try_from((fingerprint(key) >> 17) & 63).unwrap_or(0))
}

fn unsigned<'a>(value: u64) -> Value<'a> {
    match i64::try_from(value) {
        Ok(value) => Value::Int(value),
        Err(_) => Value::Uint(value),
    }
}

/// Plain data: classes, references and modifiers are left out. What is shared or aliased has no
/// meaning in other formats, and is an error.
impl Serialize for Value<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Undef | Self::Immortal(Immortal::Undef) => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Immortal(value) => serializer.serialize_bool(*value == Immortal::True),
            Self::Int(value) => serializer.serialize_i64(*value),
            Self::Uint(value) => serializer.serialize_u64(*value),
            Self::Float(value) => serializer.serialize_f64(*value),
            Self::Str(text) => text.serialize(serializer),
            Self::Array(values) => serializer.collect_seq(values),
            Self::Hash(pairs) => {
                let mut map = serializer.serialize_map(Some(pairs.len()))?;
                for (key, value) in pairs {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
            Self::Ref(value) | Self::Weak(value) => value.serialize(serializer),
            Self::Regexp(regexp) => regexp.pattern.serialize(serializer),
            Self::Object(object) => object.value.serialize(serializer),
            Self::Frozen(frozen) => frozen.arguments.serialize(serializer),
            Self::Shared(shared) => shared.value.serialize(serializer),
            Self::SameRef(_) | Self::Alias(_) => Err(S::Error::custom(
                "expected plain data, found a value that stands in several places; \
                 `Encoder::encode_value` writes it",
            )),
        }
    }
}

impl Serialize for Str<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.as_str() {
            Some(text) => serializer.serialize_str(text),
            None => serializer.serialize_bytes(&self.bytes),
        }
    }
}

impl<'de> Deserialize<'de> for Str<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct StrVisitor;

        impl<'de> Visitor<'de> for StrVisitor {
            type Value = Str<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Str<'de>, E> {
                Ok(text.into())
            }

            fn visit_str<E>(self, text: &str) -> Result<Str<'de>, E> {
                Ok(text.to_owned().into())
            }

            fn visit_borrowed_bytes<E>(self, bytes: &'de [u8]) -> Result<Str<'de>, E> {
                Ok(Str::bytes(bytes))
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Str<'de>, E> {
                Ok(Str::bytes(bytes.to_vec()))
            }
        }

        deserializer.deserialize_str(StrVisitor)
    }
}

/// Plain data, as any format has it.
impl<'de> Deserialize<'de> for Value<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ValueVisitor;

        impl<'de> Visitor<'de> for ValueVisitor {
            type Value = Value<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("any value")
            }

            fn visit_unit<E>(self) -> Result<Value<'de>, E> {
                Ok(Value::Undef)
            }

            fn visit_none<E>(self) -> Result<Value<'de>, E> {
                Ok(Value::Undef)
            }

            fn visit_some<D: Deserializer<'de>>(
                self,
                deserializer: D,
            ) -> Result<Value<'de>, D::Error> {
                Value::deserialize(deserializer)
            }

            fn visit_newtype_struct<D: Deserializer<'de>>(
                self,
                deserializer: D,
            ) -> Result<Value<'de>, D::Error> {
                Value::deserialize(deserializer)
            }

            fn visit_bool<E>(self, value: bool) -> Result<Value<'de>, E> {
                Ok(Value::Bool(value))
            }

            fn visit_i64<E>(self, value: i64) -> Result<Value<'de>, E> {
                Ok(Value::Int(value))
            }

            fn visit_u64<E>(self, value: u64) -> Result<Value<'de>, E> {
                Ok(unsigned(value))
            }

            fn visit_f64<E>(self, value: f64) -> Result<Value<'de>, E> {
                Ok(Value::Float(value))
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Value<'de>, E> {
                Ok(Value::Str(text.into()))
            }

            fn visit_str<E>(self, text: &str) -> Result<Value<'de>, E> {
                Ok(Value::Str(text.to_owned().into()))
            }

            fn visit_borrowed_bytes<E>(self, bytes: &'de [u8]) -> Result<Value<'de>, E> {
                Ok(Value::Str(Str::bytes(bytes)))
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Value<'de>, E> {
                Ok(Value::Str(Str::bytes(bytes.to_vec())))
            }

            fn visit_seq<A: SeqAccess<'de>>(
                self,
                mut seq: A,
            ) -> Result<Value<'de>, A::Error> {
                let hint = seq.size_hint().unwrap_or(0).min(1024);
                let mut values = Vec::with_capacity(hint);
                while let Some(value) = seq.next_element()? {
                    values.push(value);
                }
                Ok(Value::Array(values))
            }

            fn visit_map<A: MapAccess<'de>>(
                self,
                mut map: A,
            ) -> Result<Value<'de>, A::Error> {
                let hint = map.size_hint().unwrap_or(0).min(1024);
                let mut pairs = Vec::with_capacity(hint);
                while let Some((key, value)) = map.next_entry::<Str<'de>, Value<'de>>()? {
                    pairs.push((key, value));
                }
                Ok(Value::Hash(pairs))
            }
        }

        deserializer.deserialize_any(ValueVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_has_four_words() {
        assert_eq!(size_of::<Value<'_>>(), 4 * size_of::<usize>());
    }

    #[test]
    fn characters_are_perls() {
        let rows = [
            (Str::bytes(&b"caf\xe9"[..]), "café"),
            (Str::bytes("é".as_bytes()), "Ã©"),
            (Str::text("é"), "é"),
            (Str::bytes(&b"ascii"[..]), "ascii"),
        ];
        for (text, wanted) in rows {
            assert_eq!(text.to_text(), wanted, "{text:?}");
        }
    }
}
