//! Writing streams: [`Encoder`] over an `io::Write`, [`to_vec`] and [`to_writer`] for one value.

use std::collections::BTreeSet;
use std::io::Write;

use serde::de::Deserialize;
use serde::ser::{self, Serialize};

use crate::dynamic::Exact;
use crate::ser::{Core, Sub};
use crate::shape::NodeId;
use crate::wire::{uint_word, zigzag};
use crate::{Dynamic, Error, Result, Schema};

/// What an enum is written as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Enums {
    /// A struct with one field for each variant, of which one is present. In Go: a struct of
    /// pointers.
    #[default]
    Structs,
    /// The name of the variant, as text; only for enums without content.
    Names,
    /// An interface whose registered name is the variant's.
    Interfaces,
}

/// How values are written.
///
/// ```
/// use wiremark_gob::{Encoder, Enums, WriteOptions, from_slice};
///
/// #[derive(serde::Serialize)]
/// enum Level { Low, High }
///
/// let options = WriteOptions::new().with_enums(Enums::Names);
/// let mut encoder = Encoder::with_options(Vec::new(), options);
/// encoder.encode(&Level::High)?;
/// assert_eq!(from_slice::<&str>(&encoder.into_inner())?, "High");
/// # Ok::<(), wiremark_gob::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct WriteOptions {
    pub(crate) max_depth: u32,
    pub(crate) max_bytes: usize,
    pub(crate) first_id: i32,
    pub(crate) go_names: bool,
    pub(crate) go_exact: bool,
    pub(crate) lossless: bool,
    pub(crate) enums: Enums,
}

impl Default for WriteOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl WriteOptions {
    /// The defaults: 128 levels, 1 GiB a value, ids from 65, names as serde gives them.
    pub const fn new() -> Self {
        Self {
            max_depth: wiremark_core::depth::MAX_DEPTH,
            max_bytes: 1 << 30,
            first_id: 65,
            go_names: false,
            go_exact: false,
            lossless: false,
            enums: Enums::Structs,
        }
    }

    /// How many structs, slices, arrays and maps may stand inside one another; twice as many
    /// options and newtypes. An enum is a struct, and so is an option that is no field.
    #[must_use]
    pub const fn with_max_depth(mut self, levels: u32) -> Self {
        self.max_depth = levels;
        self
    }

    /// The longest value.
    #[must_use]
    pub const fn with_max_bytes(mut self, bytes: usize) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// The number of the first type: 65 as Go gave until lately and for most programs, or 64.
    /// Numbers below 64 are Go's own and become 64.
    #[must_use]
    pub const fn with_first_id(mut self, id: i32) -> Self {
        self.first_id = if id < 64 { 64 } else { id };
        self
    }

    /// Whether fields and variants get Go's names: `first_name` becomes `FirstName`. Go sees only fields
    /// that begin with a capital letter; with this no type needs `rename_all = "PascalCase"`.
    /// Read such streams with [`ReadOptions::with_go_names`](crate::ReadOptions::with_go_names).
    #[must_use]
    pub const fn with_go_names(mut self, go_names: bool) -> Self {
        self.go_names = go_names;
        self
    }

    /// Whether to leave out what Go leaves out though Rust can tell it apart: `Some` of a zero,
    /// and minus zero, in a field.
    #[must_use]
    pub const fn with_go_exact(mut self, go_exact: bool) -> Self {
        self.go_exact = go_exact;
        self
    }

    /// Whether to write what Go may refuse to read so that Rust loses nothing: `Some` of an
    /// empty sequence or map whose elements were never seen; a sequence of `u8` as a slice of
    /// numbers instead of bytes, so that an untagged enum can tell it from text.
    #[must_use]
    pub const fn with_lossless(mut self, lossless: bool) -> Self {
        self.lossless = lossless;
        self
    }

    /// What enums are written as.
    #[must_use]
    pub const fn with_enums(mut self, enums: Enums) -> Self {
        self.enums = enums;
        self
    }
}

/// Writes one value as a stream of its own: the types first, then the value.
///
/// # Errors
/// `Limit` if it nests too deep or is too long, `Unsupported` if the format cannot hold it,
/// `Data` if its own `Serialize` refuses.
///
/// ```
/// assert_eq!(wiremark_gob::to_vec(&3)?, [3, 4, 0, 6]);
/// # Ok::<(), wiremark_gob::Error>(())
/// ```
pub fn to_vec<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    Messages::new(WriteOptions::new()).append(value, &mut out, true)?;
    Ok(out)
}

/// Writes one value as a stream of its own, with one call of `writer`.
///
/// # Errors
/// Those of [`to_vec`], and `Io`.
///
/// ```
/// let mut file = Vec::new();
/// wiremark_gob::to_writer(&mut file, &3)?;
/// assert_eq!(file, [3, 4, 0, 6]);
/// # Ok::<(), wiremark_gob::Error>(())
/// ```
pub fn to_writer<W: Write, T: Serialize + ?Sized>(
    mut writer: W,
    value: &T,
) -> Result<()> {
    writer.write_all(&to_vec(value)?)?;
    Ok(())
}

/// Makes messages: what [`Encoder`] writes, and what the codec appends.
#[derive(Debug)]
pub(crate) struct Messages {
    pub(crate) core: Core,
    /// The definitions of a stream that holds one value.
    prefix: Vec<u8>,
    /// The last value's type, its id and the length of its head.
    last: Option<(NodeId, i32)>,
    head: usize,
    /// How many values in a row were not like those before.
    misses: u32,
}

/// After so many misses nothing is tried, until there were as many as in a round.
const MAX_MISSES: u32 = 2;
const MISSES_ROUND: u32 = 32;

/// The longest head of a value's message: its length, its id and a zero byte.
const MAX_HEAD: usize = 9 + 5 + 1;

impl Messages {
    pub(crate) fn new(options: WriteOptions) -> Self {
        Self {
            core: Core::new(options),
            prefix: Vec::new(),
            last: None,
            head: 4,
            misses: 0,
        }
    }

    /// Nothing is known and nothing counts as sent from here on: the bytes of a stream depend
    /// on its values alone.
    pub(crate) fn begin_stream(&mut self) {
        self.core.shapes.forget_all();
        self.last = None;
    }

    /// Appends the message of a value, and before it the definitions: all of them if it
    /// `is_alone`, else those that were not sent.
    pub(crate) fn append<T: Serialize + ?Sized>(
        &mut self,
        value: &T,
        out: &mut Vec<u8>,
        is_alone: bool,
    ) -> Result<()> {
        let start = out.len();
        std::mem::swap(out, &mut self.core.out);
        let done = self.message(value, start, is_alone);
        std::mem::swap(out, &mut self.core.out);
        if done.is_err() {
            out.truncate(start);
        }
        done
    }

    fn message<T: Serialize + ?Sized>(
        &mut self,
        value: &T,
        start: usize,
        is_alone: bool,
    ) -> Result<()> {
        if is_alone && !self.core.shapes.is_blank() {
            // What was learned from other values holds for this one if it would have taught
            // the same: equal values have equal bytes, whatever was written before.
            if self.misses < MAX_MISSES {
                self.core.out.extend_from_slice(&self.prefix);
                let (head_at, body_at) = self.reserve_head();
                if let Some(root) = self.core.planned(value, true) {
                    self.misses = 0;
                    return self.finish(root, head_at, body_at, false);
                }
                self.core.is_watched = true;
                let root = self.core.value(value);
                self.core.is_watched = false;
                let root = root?;
                if !self.core.shapes.is_dirty && self.core.shapes.is_all_touched() {
                    self.misses = 0;
                    return self.finish(root, head_at, body_at, false);
                }
                self.core.out.truncate(start);
            }
            // Values of which none is like the last are not tried for a while.
            self.misses = (self.misses + 1) % MISSES_ROUND;
            self.core.shapes.forget_all();
            self.last = None;
        }
        // Once more where ids that stand in the value change, and for good then.
        for _ in 0..MAX_ROUNDS {
            let (head_at, body_at) = self.reserve_head();
            if !is_alone && let Some(root) = self.core.planned(value, false) {
                return self.finish(root, head_at, body_at, false);
            }
            let root = self.core.value(value)?;
            self.prefix.clear();
            if !self.core.shapes.is_dirty {
                return self.finish(root, head_at, body_at, false);
            }
            self.last = None;
            if self.core.shapes.describe(root, &mut self.prefix) {
                self.core.out.truncate(start);
                continue;
            }
            if is_alone {
                self.core.shapes.count_all(root);
            }
            return self.finish(root, head_at, body_at, true);
        }
        Err(Error::unsupported("expected a value whose types come to rest"))
    }

    /// Makes room for a head as long as the last one, so that nothing moves in a long run of
    /// similar values.
    fn reserve_head(&mut self) -> (usize, usize) {
        let head_at = self.core.out.len();
        self.core.out.extend_from_slice(&[0; MAX_HEAD][..self.head]);
        (head_at, self.core.out.len())
    }

    /// Writes the head of the value that stands from `body_at` on, into the place from
    /// `head_at` on; before it the prefix, unless that stands there already.
    fn finish(
        &mut self,
        root: NodeId,
        head_at: usize,
        body_at: usize,
        is_new: bool,
    ) -> Result<()> {
        let id = match self.last {
            Some((last, id)) if last == root => id,
            _ => {
                let id = self.core.shapes.id(root);
                self.last = Some((root, id));
                id
            }
        };
        let has_zero = !self.core.shapes.is_struct(root);
        let (id_word, id_len) = uint_word(zigzag(i64::from(id)));
        let body = self.core.out.len() - body_at;
        let len = body + id_len + usize::from(has_zero);
        if len > self.core.options.max_bytes {
            let max = self.core.options.max_bytes;
            return Err(Error::limit(format!("expected a value of at most {max} bytes")));
        }
        let (len_word, len_len) = uint_word(len as u64);
        let head = (len_word | id_word << (8 * len_len)).to_le_bytes();
        let used = len_len + id_len + usize::from(has_zero);
        self.head = used;
        let head = &head[..used];
        if is_new && !self.prefix.is_empty() {
            let parts = self.prefix.iter().chain(head).copied();
            self.core.out.splice(head_at..body_at, parts);
        } else if used == body_at - head_at {
            self.core.out[head_at..body_at].copy_from_slice(head);
        } else {
            self.core.out.splice(head_at..body_at, head.iter().copied());
        }
        Ok(())
    }
}

/// As many times may ids within a value change while it is written.
const MAX_ROUNDS: u32 = 64;

/// Writes the values of a stream to an `io::Write`, one after the other: each type once.
///
/// Nothing is written of a value that fails, and its types do not count as sent. Each value is
/// one call of the writer.
///
/// ```
/// use wiremark_gob::Encoder;
///
/// let mut encoder = Encoder::new(Vec::new());
/// encoder.encode(&vec!["a", "b"])?;
/// let first = encoder.get_ref().len();
/// encoder.encode(&vec!["c"])?;
/// // The second value needs no definition: length, id, zero byte, count, "c".
/// assert_eq!(encoder.into_inner()[first..], [6, 0xff, 0x82, 0, 1, 1, b'c']);
/// # Ok::<(), wiremark_gob::Error>(())
/// ```
#[derive(Debug)]
pub struct Encoder<W> {
    writer: W,
    messages: Messages,
    buffer: Vec<u8>,
    /// Ids that [`encode_value`](Self::encode_value) has sent.
    exact: BTreeSet<i32>,
    is_broken: bool,
}

impl<W: Write> Encoder<W> {
    /// An encoder at the start of a stream.
    pub fn new(writer: W) -> Self {
        Self::with_options(writer, WriteOptions::new())
    }

    /// The same with other options.
    pub fn with_options(writer: W, options: WriteOptions) -> Self {
        Self {
            writer,
            messages: Messages::new(options),
            buffer: Vec::new(),
            exact: BTreeSet::new(),
            is_broken: false,
        }
    }

    /// The writer.
    pub fn get_ref(&self) -> &W {
        &self.writer
    }

    /// The writer; each value that was encoded has been handed to it.
    pub fn into_inner(self) -> W {
        self.writer
    }

    /// Learns the type `T` from its `Deserialize`, before there is a value of it: then an empty
    /// sequence or a `None` has a type too, and no value changes what is sent of types.
    ///
    /// Not every type can be learned so: not those that parse text, nor those that take
    /// anything (untagged and internally tagged enums, `flatten`).
    ///
    /// ```
    /// use wiremark_gob::Encoder;
    ///
    /// let mut encoder = Encoder::new(Vec::new()).traced::<Vec<String>>()?;
    /// // Go could not read this into a `[]string` if the elements' type were a guess.
    /// encoder.encode(&Vec::<String>::new())?;
    /// assert_eq!(encoder.get_ref()[..13], [12, 0xff, 0x81, 2, 1, 2, 0xff, 0x82, 0, 1, 12, 0, 0]);
    /// # Ok::<(), wiremark_gob::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Unsupported` where the type cannot be learned.
    pub fn traced<'de, T: Deserialize<'de> + Serialize>(mut self) -> Result<Self> {
        let lossless = self.messages.core.options.lossless;
        let shapes = &mut self.messages.core.shapes;
        let root = shapes.root(std::any::type_name::<T>());
        match crate::trace::trace::<T>(shapes, root, lossless) {
            Ok(()) => Ok(self),
            Err(error) => {
                shapes.forget_all();
                Err(error)
            }
        }
    }

    /// Writes a value.
    ///
    /// # Errors
    /// Those of [`to_vec`], after which the stream goes on as if the value had not been; and
    /// `Io`, after which nothing more can be written.
    pub fn encode<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        self.buffer.clear();
        self.messages.append(value, &mut self.buffer, false)?;
        self.flush_buffer()
    }

    /// Writes a value that was read from a stream, with that stream's types, byte for byte as
    /// Go does. All values of a stream must come from one, and none from
    /// [`encode`](Self::encode), since both give numbers to types.
    ///
    /// ```
    /// use wiremark_gob::{Deserializer, Encoder};
    ///
    /// let stream = wiremark_gob::to_vec(&vec!["a"])?;
    /// let mut deserializer = Deserializer::from_slice(&stream);
    /// let value = deserializer.next_dynamic()?.unwrap();
    /// let mut encoder = Encoder::new(Vec::new());
    /// encoder.encode_value(&deserializer.schema(), &value)?;
    /// assert_eq!(encoder.into_inner(), stream);
    /// # Ok::<(), wiremark_gob::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Data` where the value is not of its type, `Limit`, and `Io`.
    pub fn encode_value(&mut self, schema: &Schema, value: &Dynamic) -> Result<()> {
        self.buffer.clear();
        let mut sent = self.exact.clone();
        // An interface in a list is two levels for one.
        let levels = self.messages.core.options.max_depth.saturating_mul(3);
        let exact = Exact { schema, sent: &mut sent, levels };
        { exact }.message(&mut self.buffer, value)?;
        self.flush_buffer()?;
        self.exact = sent;
        Ok(())
    }

    fn flush_buffer(&mut self) -> Result<()> {
        if self.is_broken {
            return Err(Error::unsupported(
                "the stream cannot be written on after an I/O error",
            ));
        }
        self.is_broken = true;
        self.writer.write_all(&self.buffer)?;
        self.is_broken = false;
        // One large value shall not hold its memory for ever.
        self.buffer.clear();
        self.buffer.shrink_to(1 << 22);
        Ok(())
    }
}

/// A `serde::Serializer` over a stream in memory, for code that asks for one.
///
/// [`to_vec`] and [`Encoder`] are called with the value, and write it again where its parts
/// disagree about a type; a serializer sees a value once. Such a value is `Unsupported`, and
/// written as an interface when it is serialized the next time; and a tuple of one type stays a
/// struct, where the others write an array.
///
/// ```
/// use serde::Serialize;
///
/// let mut serializer = wiremark_gob::Serializer::new();
/// 3.serialize(&mut serializer)?;
/// assert_eq!(serializer.finish()?, [3, 4, 0, 6]);
/// # Ok::<(), wiremark_gob::Error>(())
/// ```
#[derive(Debug)]
pub struct Serializer {
    messages: Messages,
    /// The value that was begun: its type, and where its head and it begin.
    open: Option<(NodeId, usize, usize)>,
}

impl Default for Serializer {
    fn default() -> Self {
        Self::new()
    }
}

impl Serializer {
    /// A serializer at the start of a stream.
    pub fn new() -> Self {
        Self::with_options(WriteOptions::new())
    }

    /// The same with other options.
    pub fn with_options(options: WriteOptions) -> Self {
        let mut messages = Messages::new(options);
        messages.core.one_pass = true;
        Self { messages, open: None }
    }

    /// The stream of the values that were serialized.
    ///
    /// # Errors
    /// `Unsupported` if the last value was given up, `Limit` if it is too long.
    pub fn finish(mut self) -> Result<Vec<u8>> {
        self.close()?;
        Ok(self.messages.core.out)
    }

    /// Puts definitions and a head before the value that was written last.
    fn close(&mut self) -> Result<()> {
        let Some((root, head_at, body_at)) = self.open.take() else { return Ok(()) };
        let messages = &mut self.messages;
        if let Err(error) = messages.core.check_one_pass() {
            messages.core.out.truncate(head_at);
            return Err(error);
        }
        messages.prefix.clear();
        messages.last = None;
        if messages.core.shapes.describe(root, &mut messages.prefix) {
            messages.core.out.truncate(head_at);
            return Err(Error::unsupported("expected a value of the type seen before"));
        }
        messages.finish(root, head_at, body_at, true)
    }

    fn begin(&mut self) -> Result<Sub<'_>> {
        self.close()?;
        let (head_at, body_at) = self.messages.reserve_head();
        let (root, sub) = self.messages.core.begin_one_pass();
        self.open = Some((root, head_at, body_at));
        Ok(sub)
    }
}

macro_rules! forward {
    ($($method:ident($($name:ident: $type:ty),*) -> $ok:ty;)*) => {
        $(fn $method(self, $($name: $type),*) -> Result<$ok> {
            self.begin()?.$method($($name),*)
        })*
    };
}

impl<'a> ser::Serializer for &'a mut Serializer {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = crate::ser::Seq<'a>;
    type SerializeTuple = crate::ser::Tuple<'a>;
    type SerializeTupleStruct = crate::ser::Tuple<'a>;
    type SerializeTupleVariant = crate::ser::Tuple<'a>;
    type SerializeMap = crate::ser::Map<'a>;
    type SerializeStruct = crate::ser::Struct<'a>;
    type SerializeStructVariant = crate::ser::Struct<'a>;

    forward! {
        serialize_bool(value: bool) -> ();
        serialize_i8(value: i8) -> ();
        serialize_i16(value: i16) -> ();
        serialize_i32(value: i32) -> ();
        serialize_i64(value: i64) -> ();
        serialize_i128(value: i128) -> ();
        serialize_u8(value: u8) -> ();
        serialize_u16(value: u16) -> ();
        serialize_u32(value: u32) -> ();
        serialize_u64(value: u64) -> ();
        serialize_u128(value: u128) -> ();
        serialize_f32(value: f32) -> ();
        serialize_f64(value: f64) -> ();
        serialize_char(value: char) -> ();
        serialize_str(value: &str) -> ();
        serialize_bytes(value: &[u8]) -> ();
        serialize_none() -> ();
        serialize_unit() -> ();
        serialize_unit_struct(name: &'static str) -> ();
        serialize_unit_variant(name: &'static str, index: u32, variant: &'static str) -> ();
        serialize_seq(len: Option<usize>) -> Self::SerializeSeq;
        serialize_tuple(len: usize) -> Self::SerializeTuple;
        serialize_tuple_struct(name: &'static str, len: usize) -> Self::SerializeTupleStruct;
        serialize_tuple_variant(
            name: &'static str,
            index: u32,
            variant: &'static str,
            len: usize
        ) -> Self::SerializeTupleVariant;
        serialize_map(len: Option<usize>) -> Self::SerializeMap;
        serialize_struct(name: &'static str, len: usize) -> Self::SerializeStruct;
        serialize_struct_variant(
            name: &'static str,
            index: u32,
            variant: &'static str,
            len: usize
        ) -> Self::SerializeStructVariant;
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<()> {
        self.begin()?.serialize_some(value)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<()> {
        self.begin()?.serialize_newtype_struct(name, value)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<()> {
        self.begin()?.serialize_newtype_variant(name, index, variant, value)
    }

    fn is_human_readable(&self) -> bool {
        false
    }
}
