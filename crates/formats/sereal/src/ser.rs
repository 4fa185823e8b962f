//! From any `Serialize` to a body.

use std::fmt;

use serde::ser::{
    Impossible, Serialize, SerializeMap, SerializeSeq, SerializeStruct,
    SerializeStructVariant, SerializeTuple, SerializeTupleStruct, SerializeTupleVariant,
    Serializer,
};

use crate::special::{FROZEN_TOKEN, OBJECT_TOKEN, REF_TOKEN, REGEXP_TOKEN};
use crate::tag::{self};
use crate::value::Str;
use crate::write::{Special, Writer};
use crate::{Error, Result, Version};

/// A container that is being written.
pub(crate) struct Compound<'w> {
    writer: &'w mut Writer,
    /// Elements or pairs that are still to come.
    left: usize,
    /// Where the count is to be filled in, if it was not known.
    count_at: Option<usize>,
    kind: Kind,
}

/// A length that a value says it has is no more than that.
const MAX_RESERVED: usize = 65_536;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A plain one.
    Plain,
    /// One inside of the hash that says which variant it is.
    Variant,
    /// The two parts of one of our own newtypes.
    Special(Special),
}

impl<'w> Compound<'w> {
    #[inline]
    fn array(writer: &'w mut Writer, len: usize, kind: Kind) -> Result<Self> {
        writer.put_container(len, tag::ARRAYREF, tag::ARRAY);
        // Each element takes a byte at least.
        writer.out.reserve(len.min(MAX_RESERVED));
        writer.enter()?;
        Ok(Self { writer, left: len, count_at: None, kind })
    }

    #[inline]
    fn hash(writer: &'w mut Writer, len: usize, kind: Kind) -> Result<Self> {
        writer.is_bare = false;
        writer.put_container(len, tag::HASHREF, tag::HASH);
        writer.enter()?;
        Ok(Self { writer, left: len, count_at: None, kind })
    }

    /// One whose length is known at its end.
    fn endless(writer: &'w mut Writer, tag: u8) -> Result<Self> {
        let at = writer.put_endless(tag);
        writer.enter()?;
        Ok(Self { writer, left: 0, count_at: Some(at), kind: Kind::Plain })
    }

    #[inline]
    fn count(&mut self) -> Result<()> {
        if self.count_at.is_some() {
            self.left += 1;
            return Ok(());
        }
        match self.left.checked_sub(1) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(too_many()),
        }
    }

    #[inline]
    fn element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        self.count()?;
        value.serialize(&mut *self.writer)
    }

    #[inline]
    fn field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<()> {
        self.count()?;
        self.writer.put_static_key(key);
        match value.serialize(&mut *self.writer) {
            Ok(()) => Ok(()),
            Err(error) => Err(error.in_field(key)),
        }
    }

    #[inline]
    fn finish(self) -> Result<()> {
        if let Some(at) = self.count_at {
            self.writer.fix_count(at, self.left)?;
        } else if self.left > 0 {
            return Err(too_few(self.left));
        }
        self.writer.leave();
        if self.kind == Kind::Variant {
            self.writer.leave();
        }
        Ok(())
    }

    /// One of the two parts of our own newtypes.
    #[cold]
    fn part<T: Serialize + ?Sized>(&mut self, special: Special, value: &T) -> Result<()> {
        let is_first = self.left == 2;
        self.left = self.left.checked_sub(1).ok_or_else(too_many)?;
        if is_first {
            let text = value.serialize(StrSerializer)?;
            match special {
                Special::Frozen => self.writer.put_class(&text, true)?,
                Special::Regexp => self.writer.pattern = Some(text),
                _ => self.writer.put_class(&text, false)?,
            }
            return Ok(());
        }
        let at = self.writer.out.len();
        match special {
            Special::Regexp => {
                let flags = value.serialize(StrSerializer)?;
                let pattern = self.writer.pattern.take().unwrap_or_else(|| "".into());
                self.writer.put_class(&Str::bytes(&b"Regexp"[..]), false)?;
                self.writer.put_refn();
                self.writer.put_regexp(&pattern, &flags)
            }
            Special::Frozen => {
                self.writer.is_bare = true;
                value.serialize(&mut *self.writer)?;
                if !self.writer.out[at..].starts_with(&[tag::REFN, tag::ARRAY]) {
                    return Err(Error::data(
                        "expected a sequence of what FREEZE returned",
                    ));
                }
                Ok(())
            }
            _ => {
                self.writer.is_behind = true;
                value.serialize(&mut *self.writer)?;
                self.writer.make_reference(at)
            }
        }
    }
}

#[cold]
fn too_many() -> Error {
    Error::data("expected as many elements as announced, found more")
}

#[cold]
fn too_few(left: usize) -> Error {
    Error::data(format!("expected {left} elements more, as announced"))
}

/// What all serializers of this format have in common but for the types.
macro_rules! common {
    ($ok:ty, $compound:ty) => {
        type Ok = $ok;
        type Error = Error;
        type SerializeSeq = $compound;
        type SerializeTuple = $compound;
        type SerializeTupleStruct = $compound;
        type SerializeTupleVariant = $compound;
        type SerializeMap = $compound;
        type SerializeStruct = $compound;
        type SerializeStructVariant = $compound;

        #[inline]
        fn is_human_readable(&self) -> bool {
            false
        }
    };
}

/// Values that the writer puts as they are, or as what it puts for all of their kind.
macro_rules! put {
    ($($name:ident($($value:ident: $type:ty)?) => $put:ident($($given:expr)?);)*) => {$(
        #[inline]
        fn $name(self, $($value: $type)?) -> Result<()> {
            self.$put($($given)?);
            Ok(())
        }
    )*};
}

impl<'w> Serializer for &'w mut Writer {
    common!((), Compound<'w>);

    put! {
        serialize_bool(value: bool) => put_bool(value);
        serialize_i8(value: i8) => put_i64(value.into());
        serialize_i16(value: i16) => put_i64(value.into());
        serialize_i32(value: i32) => put_i64(value.into());
        serialize_i64(value: i64) => put_i64(value);
        serialize_u8(value: u8) => put_u64(value.into());
        serialize_u16(value: u16) => put_u64(value.into());
        serialize_u32(value: u32) => put_u64(value.into());
        serialize_u64(value: u64) => put_u64(value);
        serialize_f32(value: f32) => put_f32(value);
        serialize_f64(value: f64) => put_f64(value);
        serialize_char(value: char) => put_text(value.encode_utf8(&mut [0; 4]));
        serialize_str(value: &str) => put_text(value);
        serialize_bytes(value: &[u8]) => put_bytes(value);
        serialize_none() => put_undef();
        serialize_unit() => put_undef();
        serialize_unit_struct(_name: &'static str) => put_undef();
    }

    fn serialize_i128(self, value: i128) -> Result<()> {
        if let Ok(value) = i64::try_from(value) {
            return self.serialize_i64(value);
        }
        match u64::try_from(value) {
            Ok(value) => self.serialize_u64(value),
            Err(_) => Err(too_wide()),
        }
    }

    fn serialize_u128(self, value: u128) -> Result<()> {
        match u64::try_from(value) {
            Ok(value) => self.serialize_u64(value),
            Err(_) => Err(too_wide()),
        }
    }

    #[inline]
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<()> {
        self.wrap()?;
        value.serialize(&mut *self)?;
        self.unwrap();
        Ok(())
    }

    #[inline]
    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<()> {
        self.put_text(variant);
        Ok(())
    }

    #[inline]
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<()> {
        self.wrap()?;
        match name {
            OBJECT_TOKEN => self.special = Special::Object,
            FROZEN_TOKEN if self.options().version < Version::V2 => {
                return Err(Error::unsupported(
                    "frozen objects need version 2 of the protocol",
                ));
            }
            FROZEN_TOKEN => self.special = Special::Frozen,
            REGEXP_TOKEN => self.special = Special::Regexp,
            REF_TOKEN => {
                self.put_refn();
                self.is_behind = true;
                self.enter()?;
                value.serialize(&mut *self)?;
                self.leave();
                self.unwrap();
                return Ok(());
            }
            _ => {}
        }
        value.serialize(&mut *self)?;
        self.unwrap();
        Ok(())
    }

    #[inline]
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<()> {
        let mut compound = Compound::hash(self, 1, Kind::Plain)?;
        compound.field(variant, value)?;
        compound.finish()
    }

    #[inline]
    fn serialize_seq(self, len: Option<usize>) -> Result<Compound<'w>> {
        match len {
            Some(len) => Compound::array(self, len, Kind::Plain),
            None => Compound::endless(self, tag::ARRAY),
        }
    }

    /// What vectors and slices call.
    #[inline]
    fn collect_seq<I>(self, elements: I) -> Result<()>
    where
        I: IntoIterator,
        I::Item: Serialize,
    {
        let elements = elements.into_iter();
        let len = match elements.size_hint() {
            (least, Some(most)) if least == most => Some(least),
            _ => None,
        };
        let mut compound = self.serialize_seq(len)?;
        let (mut bytes, mut len) = ([0; SHORT_LEN], 0);
        for element in elements {
            compound.count()?;
            let short = Short { bytes: &mut bytes, len: &mut len };
            element.serialize(Element { writer: compound.writer, short })?;
        }
        Short { bytes: &mut bytes, len: &mut len }.move_to(compound.writer);
        compound.finish()
    }

    #[inline]
    fn serialize_tuple(self, len: usize) -> Result<Compound<'w>> {
        if self.special != Special::None {
            let special = std::mem::take(&mut self.special);
            return Ok(Compound {
                writer: self,
                left: 2,
                count_at: None,
                kind: Kind::Special(special),
            });
        }
        Compound::array(self, len, Kind::Plain)
    }

    #[inline]
    fn serialize_tuple_struct(self, _: &'static str, len: usize) -> Result<Compound<'w>> {
        Compound::array(self, len, Kind::Plain)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Compound<'w>> {
        Compound::hash(&mut *self, 1, Kind::Plain)?;
        self.put_static_key(variant);
        Compound::array(self, len, Kind::Variant)
    }

    #[inline]
    fn serialize_map(self, len: Option<usize>) -> Result<Compound<'w>> {
        match len {
            Some(len) => Compound::hash(self, len, Kind::Plain),
            None => Compound::endless(self, tag::HASH),
        }
    }

    #[inline]
    fn serialize_struct(self, _: &'static str, len: usize) -> Result<Compound<'w>> {
        Compound::hash(self, len, Kind::Plain)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Compound<'w>> {
        Compound::hash(&mut *self, 1, Kind::Plain)?;
        self.put_static_key(variant);
        Compound::hash(self, len, Kind::Variant)
    }
}

/// Bytes that are moved to the output together.
const SHORT_LEN: usize = 128;

/// Short integers that follow one another in an array. Between two of them nothing of the output
/// is loaded or stored: it is filled from here, a part at a time. The length is a variable of its
/// own, which thus stays in a register.
struct Short<'s> {
    bytes: &'s mut [u8; SHORT_LEN],
    len: &'s mut usize,
}

impl Short<'_> {
    /// Whether the integer is a short one, and there is room.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "three bytes at most")]
    fn take(&mut self, value: u64) -> bool {
        let Some(to) = self.bytes.get_mut(*self.len..).and_then(<[u8]>::first_chunk_mut)
        else {
            return false;
        };
        // The first byte is the lowest.
        let tag = u64::from(tag::VARINT);
        let (word, len) = match value {
            0..0x10 => (value, 1),
            0x10..0x80 => (tag | value << 8, 2),
            0x80..0x4000 => (tag | (value & 0x7f | 0x80) << 8 | (value >> 7) << 16, 3),
            _ => return false,
        };
        *to = (word as u32).to_le_bytes();
        *self.len += len;
        true
    }

    #[inline]
    fn move_to(self, writer: &mut Writer) {
        if *self.len > 0 {
            writer.out.extend_from_slice(&self.bytes[..*self.len]);
            *self.len = 0;
        }
    }
}

/// Where an element of an array is written: a short integer into `short`, anything else behind
/// what stands there.
struct Element<'w, 's> {
    writer: &'w mut Writer,
    short: Short<'s>,
}

impl<'w> Element<'w, '_> {
    #[inline]
    fn writer(self) -> &'w mut Writer {
        self.short.move_to(self.writer);
        self.writer
    }
}

/// Integers go into the short ones if they can.
macro_rules! element_integers {
    ($($name:ident($type:ty))*) => {$(
        #[inline]
        fn $name(mut self, value: $type) -> Result<()> {
            if let Ok(value) = u64::try_from(value)
                && self.short.take(value)
            {
                return Ok(());
            }
            self.writer().$name(value)
        }
    )*};
}

/// Everything else is the writer's.
macro_rules! element_values {
    ($($name:ident($($value:ident: $type:ty),*) -> $ok:ty;)*) => {$(
        #[inline]
        fn $name(self, $($value: $type),*) -> Result<$ok> {
            self.writer().$name($($value),*)
        }
    )*};
}

impl<'w> Serializer for Element<'w, '_> {
    common!((), Compound<'w>);

    element_integers! {
        serialize_i8(i8) serialize_i16(i16) serialize_i32(i32) serialize_i64(i64)
        serialize_u8(u8) serialize_u16(u16) serialize_u32(u32) serialize_u64(u64)
    }

    element_values! {
        serialize_bool(value: bool) -> ();
        serialize_i128(value: i128) -> ();
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
        serialize_seq(len: Option<usize>) -> Compound<'w>;
        serialize_tuple(len: usize) -> Compound<'w>;
        serialize_tuple_struct(name: &'static str, len: usize) -> Compound<'w>;
        serialize_tuple_variant(
            name: &'static str, index: u32, variant: &'static str, len: usize
        ) -> Compound<'w>;
        serialize_map(len: Option<usize>) -> Compound<'w>;
        serialize_struct(name: &'static str, len: usize) -> Compound<'w>;
        serialize_struct_variant(
            name: &'static str, index: u32, variant: &'static str, len: usize
        ) -> Compound<'w>;
    }

    #[inline]
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<()> {
        self.writer().serialize_some(value)
    }

    #[inline]
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<()> {
        self.writer().serialize_newtype_struct(name, value)
    }

    #[inline]
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<()> {
        self.writer().serialize_newtype_variant(name, index, variant, value)
    }

    #[inline]
    fn collect_seq<I>(self, elements: I) -> Result<()>
    where
        I: IntoIterator,
        I::Item: Serialize,
    {
        self.writer().collect_seq(elements)
    }
}

#[cold]
fn too_wide() -> Error {
    Error::unsupported("expected an integer of 64 bits, as Sereal has no wider one")
}

/// Containers of elements without names.
macro_rules! elements {
    ($($of:ident::$element:ident)*) => {$(
        impl $of for Compound<'_> {
            type Ok = ();
            type Error = Error;

            #[inline]
            fn $element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
                self.element(value)
            }

            #[inline]
            fn end(self) -> Result<()> {
                self.finish()
            }
        }
    )*};
}

elements! {
    SerializeSeq::serialize_element
    SerializeTupleStruct::serialize_field
    SerializeTupleVariant::serialize_field
}

/// Containers of fields with names.
macro_rules! fields {
    ($($of:ident)*) => {$(
        impl $of for Compound<'_> {
            type Ok = ();
            type Error = Error;

            #[inline]
            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                key: &'static str,
                value: &T,
            ) -> Result<()> {
                self.field(key, value)
            }

            #[inline]
            fn end(self) -> Result<()> {
                self.finish()
            }
        }
    )*};
}

fields! { SerializeStruct SerializeStructVariant }

impl SerializeTuple for Compound<'_> {
    type Ok = ();
    type Error = Error;

    #[inline]
    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        if let Kind::Special(special) = self.kind {
            return self.part(special, value);
        }
        self.element(value)
    }

    #[inline]
    fn end(self) -> Result<()> {
        if let Kind::Special(_) = self.kind {
            return if self.left == 0 { Ok(()) } else { Err(too_few(self.left)) };
        }
        self.finish()
    }
}

impl SerializeMap for Compound<'_> {
    type Ok = ();
    type Error = Error;

    #[inline]
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<()> {
        self.count()?;
        key.serialize(KeySerializer(self.writer))
    }

    #[inline]
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        value.serialize(&mut *self.writer)
    }

    #[inline]
    fn end(self) -> Result<()> {
        self.finish()
    }
}

/// Says of a type that it cannot be what a key, a class or a pattern is.
macro_rules! refuse {
    ($ok:ty, $refusal:ident: $($name:ident($($type:ty),*))*) => {$(
        fn $name(self, $(_: $type),*) -> Result<$ok> {
            Err($refusal())
        }
    )*};
}

/// What is common to serializers that take text alone: a wrapped value is the value, and what no
/// text can be made of is refused.
macro_rules! text_alone {
    ($ok:ty, $refusal:ident) => {
        common!($ok, Impossible<$ok, Error>);

        fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<$ok> {
            value.serialize(self)
        }

        fn serialize_newtype_struct<T: Serialize + ?Sized>(
            self,
            _: &'static str,
            value: &T,
        ) -> Result<$ok> {
            value.serialize(self)
        }

        fn serialize_newtype_variant<T: Serialize + ?Sized>(
            self,
            _: &'static str,
            _: u32,
            _: &'static str,
            _: &T,
        ) -> Result<$ok> {
            Err($refusal())
        }

        refuse! { $ok, $refusal:
            serialize_f32(f32) serialize_f64(f64) serialize_none() serialize_unit()
            serialize_unit_struct(&'static str)
        }

        refuse! { Impossible<$ok, Error>, $refusal:
            serialize_seq(Option<usize>) serialize_tuple(usize)
            serialize_tuple_struct(&'static str, usize)
            serialize_tuple_variant(&'static str, u32, &'static str, usize)
            serialize_map(Option<usize>) serialize_struct(&'static str, usize)
            serialize_struct_variant(&'static str, u32, &'static str, usize)
        }
    };
}

/// A key of a map: text, or what is written as text.
struct KeySerializer<'w>(&'w mut Writer);

/// The digits of a number, on the stack: the longest has 40.
struct Digits {
    text: [u8; 40],
    len: usize,
}

impl fmt::Write for Digits {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.len + text.len();
        let to = self.text.get_mut(self.len..end).ok_or(fmt::Error)?;
        to.copy_from_slice(text.as_bytes());
        self.len = end;
        Ok(())
    }
}

impl KeySerializer<'_> {
    fn number(self, value: impl fmt::Display) -> Result<()> {
        let mut digits = Digits { text: [0; 40], len: 0 };
        fmt::write(&mut digits, format_args!("{value}")).map_err(|_| no_key())?;
        self.0.put_key(&digits.text[..digits.len], self.0.options().always_text);
        Ok(())
    }
}

#[cold]
fn no_key() -> Error {
    Error::unsupported("expected a key of text or a number, as hashes have no others")
}

macro_rules! number_keys {
    ($($name:ident($type:ty))*) => {$(
        fn $name(self, value: $type) -> Result<()> {
            self.number(value)
        }
    )*};
}

impl Serializer for KeySerializer<'_> {
    text_alone!((), no_key);

    number_keys! {
        serialize_i8(i8) serialize_i16(i16) serialize_i32(i32) serialize_i64(i64)
        serialize_i128(i128) serialize_u8(u8) serialize_u16(u16) serialize_u32(u32)
        serialize_u64(u64) serialize_u128(u128) serialize_bool(bool)
    }

    #[inline]
    fn serialize_str(self, value: &str) -> Result<()> {
        self.0.put_text_key(value);
        Ok(())
    }

    fn serialize_char(self, value: char) -> Result<()> {
        self.0.put_text_key(value.encode_utf8(&mut [0; 4]));
        Ok(())
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<()> {
        self.0.put_key(value, false);
        Ok(())
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<()> {
        self.0.put_static_key(variant);
        Ok(())
    }
}

/// A class, a pattern or modifiers: a string that is kept aside.
struct StrSerializer;

#[cold]
fn no_string() -> Error {
    Error::unsupported("expected a string as class, pattern or modifiers")
}

impl Serializer for StrSerializer {
    text_alone!(Str<'static>, no_string);

    refuse! { Str<'static>, no_string:
        serialize_bool(bool) serialize_i8(i8) serialize_i16(i16) serialize_i32(i32)
        serialize_i64(i64) serialize_u8(u8) serialize_u16(u16) serialize_u32(u32)
        serialize_u64(u64)
    }

    fn serialize_str(self, value: &str) -> Result<Str<'static>> {
        Ok(value.to_owned().into())
    }

    fn serialize_char(self, value: char) -> Result<Str<'static>> {
        Ok(value.to_string().into())
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<Str<'static>> {
        Ok(Str::bytes(value.to_vec()))
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<Str<'static>> {
        Ok(variant.to_owned().into())
    }
}
