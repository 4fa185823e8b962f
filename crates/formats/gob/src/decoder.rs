//! Reading streams: [`Deserializer`] over bytes in memory, [`Decoder`] over an `io::Read`.

use std::io::Read;
use std::marker::PhantomData;

use serde::de::{self, Deserialize, DeserializeOwned, DeserializeSeed, Visitor};

use crate::dynamic::{Dynamic, Schema};
use crate::read::{Levels, ReadOptions, State, begin_message, skip};
use crate::types::{Slot, Types};
use crate::wire::{Cursor, Feed, Wire};
use crate::{Error, ErrorKind, Result, de as reading};

/// Reads one value that fills `bytes`; it may borrow text and bytes from them.
///
/// # Errors
/// Any kind but `Io`, with the offset; bytes after the value are `Syntax`.
///
/// ```
/// // `int 3` as Go writes it: length, id of int, a zero byte, 3.
/// assert_eq!(wiremark_gob::from_slice::<i32>(&[3, 4, 0, 6])?, 3);
/// # Ok::<(), wiremark_gob::Error>(())
/// ```
pub fn from_slice<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> Result<T> {
    let mut deserializer = Deserializer::from_slice(bytes);
    let value = deserializer.read()?;
    deserializer.end()?;
    Ok(value)
}

/// Reads `reader` to its end, where one value must fill it.
///
/// To read values one after the other, or to go on with something else, see [`Decoder`].
///
/// # Errors
/// Any kind, with the offset.
///
/// ```
/// let file = std::io::Cursor::new([3, 4, 0, 6]);
/// assert_eq!(wiremark_gob::from_reader::<_, i32>(file)?, 3);
/// # Ok::<(), wiremark_gob::Error>(())
/// ```
pub fn from_reader<R: Read, T: DeserializeOwned>(reader: R) -> Result<T> {
    let mut decoder = Decoder::new(reader);
    let value = decoder.read()?;
    decoder.end()?;
    Ok(value)
}

fn no_value(offset: u64) -> Error {
    Error::eof("expected a value, found the end of the stream").at(offset)
}

/// Whether the stream can go on after the error: its bytes were right, the type was not.
fn can_go_on(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Data | ErrorKind::Limit | ErrorKind::Unsupported)
}

#[cold]
fn broken() -> Error {
    Error::syntax("the stream cannot be read on after an earlier error")
}

/// Reads the values of a stream that lies in memory, one after the other; they may borrow from
/// it.
///
/// It knows the types that the stream has defined so far. After an error of the kind `Data` it
/// goes on with the next value; after others it refuses to.
///
/// ```
/// use wiremark_gob::{Deserializer, Encoder};
///
/// let mut encoder = Encoder::new(Vec::new());
/// encoder.encode(&("one", 1))?;
/// encoder.encode(&("two", 2))?;
/// let stream = encoder.into_inner();
///
/// let mut deserializer = Deserializer::from_slice(&stream);
/// let mut values = Vec::new();
/// while let Some(value) = deserializer.next_value::<(&str, i32)>()? {
///     values.push(value);
/// }
/// assert_eq!(values, [("one", 1), ("two", 2)]);
/// # Ok::<(), wiremark_gob::Error>(())
/// ```
///
/// `&mut Deserializer` is a `serde::Deserializer` that reads the next value.
#[derive(Debug)]
pub struct Deserializer<'de> {
    cursor: Cursor<'de>,
    types: Types,
    options: ReadOptions,
    is_broken: bool,
}

impl<'de> Deserializer<'de> {
    /// A reader at the start of a stream.
    pub fn from_slice(bytes: &'de [u8]) -> Self {
        Self {
            cursor: Cursor::new(bytes, 0),
            types: Types::default(),
            options: ReadOptions::new(),
            is_broken: false,
        }
    }

    /// The same with other limits and rules.
    #[must_use]
    pub fn with_options(mut self, options: ReadOptions) -> Self {
        self.options = options;
        self.types.limits = options.types;
        self.types.restarts = options.restarts;
        self
    }

    /// The next value; an error at the end of the stream.
    ///
    /// # Errors
    /// Any kind but `Io`, with the offset.
    pub fn read<T: Deserialize<'de>>(&mut self) -> Result<T> {
        self.read_seed(PhantomData)
    }

    /// The next value by its seed; an error at the end of the stream.
    ///
    /// # Errors
    /// Any kind but `Io`, with the offset.
    pub fn read_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value> {
        match self.with_next(|state, slot| reading::read(state, slot, seed))? {
            Some(value) => Ok(value),
            None => Err(no_value(self.offset())),
        }
    }

    /// The next value; none at the clean end of the stream.
    ///
    /// # Errors
    /// Any kind but `Io`, with the offset.
    pub fn next_value<T: Deserialize<'de>>(&mut self) -> Result<Option<T>> {
        self.with_next(|state, slot| reading::read(state, slot, PhantomData::<T>))
    }

    /// Passes over the next value; false at the clean end of the stream.
    ///
    /// # Errors
    /// Those of the stream.
    pub fn skip_value(&mut self) -> Result<bool> {
        let skipped = self.with_next(|state, slot| {
            state.skip(slot).map_err(|error| error.at(state.cursor.offset()))?;
            state.end()
        })?;
        Ok(skipped.is_some())
    }

    /// Where the next value begins: bytes from the start of the stream.
    pub fn offset(&self) -> u64 {
        self.cursor.offset()
    }

    /// Checks that the stream ends here.
    ///
    /// # Errors
    /// `Syntax` where it goes on.
    pub fn end(&self) -> Result<()> {
        match self.cursor.after().len() {
            0 => Ok(()),
            left => {
                let text =
                    format!("expected the end of the input, found {left} more bytes");
                Err(Error::syntax(text).at(self.offset()))
            }
        }
    }

    /// The types that the stream has defined so far.
    ///
    /// ```
    /// let stream = wiremark_gob::to_vec(&["a", "b"])?;
    /// let mut deserializer = wiremark_gob::Deserializer::from_slice(&stream);
    /// deserializer.skip_value()?;
    /// let schema = deserializer.schema();
    /// let array = schema.types().next().unwrap();
    /// assert_eq!(array.kind(), &wiremark_gob::TypeKind::Array { elem: 6, len: 2 });
    /// # Ok::<(), wiremark_gob::Error>(())
    /// ```
    pub fn schema(&self) -> Schema {
        Schema::of(&self.types)
    }

    /// The next value with the id of its type in [`schema`](Self::schema); none at the clean
    /// end of the stream.
    ///
    /// # Errors
    /// Any kind but `Io`, with the offset.
    pub fn next_dynamic(&mut self) -> Result<Option<Dynamic>> {
        self.with_next(|state, slot| {
            let value = crate::value::read(state, slot)
                .map_err(|error| error.at(state.cursor.offset()))?;
            state.end()?;
            Ok(Dynamic { type_id: state.types.id(slot), value })
        })
    }

    #[inline]
    fn with_next<T>(
        &mut self,
        with: impl FnOnce(&mut State<'_, 'de>, Slot) -> Result<T>,
    ) -> Result<Option<T>> {
        if self.is_broken {
            return Err(broken());
        }
        self.types.begin_group();
        let mut state = State::new(self.cursor, &mut self.types, &self.options);
        let slot = match state.begin() {
            Ok(Some(slot)) => slot,
            Ok(None) => return Ok(None),
            Err(error) => {
                self.is_broken = true;
                return Err(error);
            }
        };
        let (start, mark) = (state.cursor, state.types.mark());
        match with(&mut state, slot) {
            Ok(value) => {
                self.cursor = state.cursor;
                Ok(Some(value))
            }
            Err(error) => {
                self.is_broken = true;
                if can_go_on(&error) {
                    // The value is passed over from its start, whatever of it was read.
                    state.types.rollback(mark);
                    state.cursor = start;
                    state.levels = Levels::new(self.options.max_depth);
                    self.is_broken = state.skip(slot).is_err() || state.end().is_err();
                    self.cursor = state.cursor;
                }
                Err(error)
            }
        }
    }
}

macro_rules! forward {
    ($($method:ident($($name:ident: $type:ty),*);)*) => {
        $(fn $method<V: Visitor<'de>>(self, $($name: $type,)* visitor: V) -> Result<V::Value> {
            self.read_seed(Next { visitor, ask: Ask::$method($($name),*) })
        })*
    };
}

/// What the type at the root asks for.
#[expect(non_camel_case_types, reason = "named like the methods they stand for")]
enum Ask {
    deserialize_any(),
    deserialize_option(),
    deserialize_bytes(),
    deserialize_unit(),
    deserialize_newtype_struct(&'static str),
    deserialize_seq(),
    deserialize_tuple(usize),
    deserialize_map(),
    deserialize_struct(&'static str, &'static [&'static str]),
    deserialize_enum(&'static str, &'static [&'static str]),
    deserialize_i128(),
    deserialize_f32(),
    deserialize_char(),
    deserialize_ignored_any(),
}

/// A visitor that becomes a seed, for the value that follows the definitions.
struct Next<V> {
    visitor: V,
    ask: Ask,
}

impl<'de, V: Visitor<'de>> DeserializeSeed<'de> for Next<V> {
    type Value = V::Value;

    fn deserialize<D: de::Deserializer<'de>>(
        self,
        value: D,
    ) -> Result<V::Value, D::Error> {
        let visitor = self.visitor;
        match self.ask {
            Ask::deserialize_any() => value.deserialize_any(visitor),
            Ask::deserialize_option() => value.deserialize_option(visitor),
            Ask::deserialize_bytes() => value.deserialize_bytes(visitor),
            Ask::deserialize_unit() => value.deserialize_unit(visitor),
            Ask::deserialize_newtype_struct(name) => {
                value.deserialize_newtype_struct(name, visitor)
            }
            Ask::deserialize_seq() => value.deserialize_seq(visitor),
            Ask::deserialize_tuple(len) => value.deserialize_tuple(len, visitor),
            Ask::deserialize_map() => value.deserialize_map(visitor),
            Ask::deserialize_struct(name, fields) => {
                value.deserialize_struct(name, fields, visitor)
            }
            Ask::deserialize_enum(name, variants) => {
                value.deserialize_enum(name, variants, visitor)
            }
            Ask::deserialize_i128() => value.deserialize_i128(visitor),
            Ask::deserialize_f32() => value.deserialize_f32(visitor),
            Ask::deserialize_char() => value.deserialize_char(visitor),
            Ask::deserialize_ignored_any() => value.deserialize_ignored_any(visitor),
        }
    }
}

impl<'de> de::Deserializer<'de> for &mut Deserializer<'de> {
    type Error = Error;

    forward! {
        deserialize_any();
        deserialize_option();
        deserialize_bytes();
        deserialize_unit();
        deserialize_newtype_struct(name: &'static str);
        deserialize_seq();
        deserialize_tuple(len: usize);
        deserialize_map();
        deserialize_struct(name: &'static str, fields: &'static [&'static str]);
        deserialize_enum(name: &'static str, variants: &'static [&'static str]);
        deserialize_i128();
        deserialize_f32();
        deserialize_char();
        deserialize_ignored_any();
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.deserialize_bytes(visitor)
    }

    fn deserialize_u128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.deserialize_i128(visitor)
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        len: usize,
        visitor: V,
    ) -> Result<V::Value> {
        self.deserialize_tuple(len, visitor)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f64 str string identifier
    }

    fn is_human_readable(&self) -> bool {
        false
    }
}

/// Reads the values of a stream from an `io::Read`, one after the other.
///
/// It reads a value's messages and not a byte more, so that what follows can be read by
/// somebody else; give it a `BufReader` where small reads are dear. It holds one value's bytes
/// at a time. After an error of the kind `Data` it goes on with the next value; after others it
/// refuses to.
///
/// ```
/// use wiremark_gob::Decoder;
///
/// // Two ints and a bool, as one Go `Encoder` writes them.
/// let mut decoder = Decoder::new(&[3, 4, 0, 6, 3, 4, 0, 1, 3, 2, 0, 1][..]);
/// assert_eq!(decoder.next_value::<i32>()?, Some(3));
/// assert_eq!(decoder.next_value::<i32>()?, Some(-1));
/// assert!(decoder.next_value::<i32>().is_err());
/// assert_eq!(decoder.next_value::<i32>()?, None);
/// # Ok::<(), wiremark_gob::Error>(())
/// ```
#[derive(Debug)]
pub struct Decoder<R> {
    feed: Feed<R>,
    types: Types,
    options: ReadOptions,
    is_broken: bool,
}

impl<R: Read> Decoder<R> {
    /// A reader of what `reader` gives.
    pub fn new(reader: R) -> Self {
        let options = ReadOptions::new();
        let feed = Feed::new(reader, &options);
        Self { feed, types: Types::default(), options, is_broken: false }
    }

    /// The same with other limits and rules.
    #[must_use]
    pub fn with_options(mut self, options: ReadOptions) -> Self {
        self.feed = Feed::new(self.feed.reader, &options);
        self.options = options;
        self.types.limits = options.types;
        self.types.restarts = options.restarts;
        self
    }

    /// The reader, just behind the last value that was read.
    pub fn into_inner(self) -> R {
        self.feed.reader
    }

    /// Where the next value begins: bytes from the start of the stream.
    pub fn offset(&self) -> u64 {
        self.feed.base.saturating_add(self.feed.buffer.len() as u64)
    }

    /// The next value; an error at the end of the stream.
    ///
    /// # Errors
    /// Any kind, with the offset.
    pub fn read<T: DeserializeOwned>(&mut self) -> Result<T> {
        match self.next_value()? {
            Some(value) => Ok(value),
            None => Err(no_value(self.offset())),
        }
    }

    /// The next value; none at the clean end of the stream.
    ///
    /// # Errors
    /// Any kind, with the offset.
    pub fn next_value<T: DeserializeOwned>(&mut self) -> Result<Option<T>> {
        let Some(slot) = self.begin()? else { return Ok(None) };
        let mark = self.types.mark();
        let error = match self.read_buffered(slot) {
            Ok(value) => {
                self.is_broken = false;
                return Ok(Some(value));
            }
            Err((error, is_hungry)) => {
                if !is_hungry && !can_go_on(&error) {
                    return Err(error);
                }
                error
            }
        };
        // The value goes on in further messages, or its bytes are not what was asked for:
        // either way it is passed over first, so that all of it is in the buffer.
        let was_whole = self.feed.buffer.len();
        self.types.rollback(mark);
        self.skip_begun(slot)?;
        if can_go_on(&error) || self.feed.buffer.len() == was_whole {
            self.is_broken = false;
            return Err(error);
        }
        self.types.rollback(mark);
        let value = self.read_buffered(slot);
        // It was passed over, so the stream is in order whatever the type makes of it.
        self.is_broken = false;
        value.map(Some).map_err(|(error, _)| error)
    }

    /// Passes over the next value; false at the clean end of the stream.
    ///
    /// # Errors
    /// Those of the stream, and `Io`.
    pub fn skip_value(&mut self) -> Result<bool> {
        let Some(slot) = self.begin()? else { return Ok(false) };
        self.skip_begun(slot)?;
        self.is_broken = false;
        Ok(true)
    }

    /// Checks that the stream ends here.
    ///
    /// # Errors
    /// `Syntax` where it goes on, and `Io`.
    pub fn end(&mut self) -> Result<()> {
        let offset = self.offset();
        let mut byte = Vec::new();
        if (&mut self.feed.reader).take(1).read_to_end(&mut byte)? == 0 {
            Ok(())
        } else {
            let text = "expected the end of the input, found more bytes";
            Err(Error::syntax(text).at(offset))
        }
    }

    /// Reads up to the next value: its first message is in the buffer, alone.
    fn begin(&mut self) -> Result<Option<Slot>> {
        if self.is_broken {
            return Err(broken());
        }
        self.is_broken = true;
        let mut is_first = true;
        loop {
            self.feed.begin();
            if !self.feed.read_message()? {
                if is_first {
                    self.is_broken = false;
                    return Ok(None);
                }
                return Err(no_value(self.offset()));
            }
            is_first = false;
            if let Some(slot) = begin_message(&mut self.feed, &mut self.types)? {
                return Ok(Some(slot));
            }
        }
    }

    fn skip_begun(&mut self, slot: Slot) -> Result<()> {
        self.feed.rewind();
        begin_message(&mut self.feed, &mut self.types)?;
        let mut levels = Levels::new(self.options.max_depth);
        let feed = &mut self.feed;
        skip(feed, &mut self.types, slot, &mut levels)
            .map_err(|error| error.at(feed.offset()))?;
        if feed.left() > 0 && !feed.is_lenient() {
            return Err(feed.wrong("expected the end of the message, found more bytes"));
        }
        Ok(())
    }

    /// Reads a value of which the messages so far are in the buffer. The second part of the
    /// error tells whether it needs another message.
    fn read_buffered<T: DeserializeOwned>(
        &mut self,
        slot: Slot,
    ) -> Result<T, (Error, bool)> {
        let cursor = Cursor::new(&self.feed.buffer, self.feed.base);
        let mut state = State::new(cursor, &mut self.types, &self.options);
        let begun = state.begin();
        debug_assert_eq!(begun.as_ref().ok(), Some(&Some(slot)));
        begun.map_err(|error| (error, false))?;
        let value = reading::read(&mut state, slot, PhantomData::<T>);
        value.map_err(|error| (error, state.cursor.hungry))
    }
}
