//! From any `Serialize` to the bytes of one item.
//!
//! A hash has each value before its key. Where serde gives both at once, the key is written
//! when the value is; where it gives the key first, the key waits beside the image.

use std::collections::HashMap;

use serde::ser::{
    self, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant,
    SerializeTuple, SerializeTupleStruct, SerializeTupleVariant, Serializer,
};

use crate::blessed::TOKEN;
use crate::number::{self, Text};
use crate::scan::{Left, Scan};
use crate::wire::{Cursor, Header, ImageKind, LONG, Order, SIGNED_MAX, code, key_flag};
use crate::{Booleans, Error, ReadOptions, Result, WriteOptions};

/// What is shared by all positions of one value.
#[derive(Debug, Default)]
pub(crate) struct Core {
    /// The image so far.
    pub(crate) out: Vec<u8>,
    pub(crate) options: WriteOptions,
    /// Keys that wait for their values, one behind the other.
    keys: String,
    /// The classes told so far, and their indexes.
    classes: HashMap<Vec<u8>, usize>,
}

/// Writes the root.
#[inline]
pub(crate) fn write<T: Serialize + ?Sized>(core: &mut Core, value: &T) -> Result<()> {
    let left = core.left();
    value.serialize(Put { core, place: Place::Root, left })
}

impl Core {
    #[inline]
    pub(crate) fn begin(&mut self, out: Vec<u8>, options: WriteOptions) {
        self.out = out;
        self.options = options;
        self.keys.clear();
        if !self.classes.is_empty() {
            self.classes.clear();
        }
    }

    #[inline]
    pub(crate) fn end(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.out)
    }

    #[inline]
    pub(crate) fn left(&self) -> Left {
        Left::new(self.options.max_depth)
    }

    #[inline]
    pub(crate) fn put_size(&mut self, size: u32) {
        self.out.extend_from_slice(&self.options.order.size(size));
    }

    /// A size that Perl reads as a signed number.
    pub(crate) fn signed_size(size: usize) -> Result<u32> {
        match u32::try_from(size) {
            Ok(narrow) if size <= SIGNED_MAX => Ok(narrow),
            _ => Err(Error::unsupported(format!("{size} elements, pairs or bytes"))),
        }
    }

    /// A code and a number, with one look at the room that is left.
    #[inline]
    fn put_native(&mut self, code: u8, number: [u8; 8]) {
        let mut item = [code; 9];
        item[1..].copy_from_slice(&number);
        self.out.extend_from_slice(&item);
    }

    #[inline]
    pub(crate) fn put_int(&mut self, value: i64) {
        if let Ok(small) = i8::try_from(value) {
            // Plus 128.
            let byte = small.to_le_bytes()[0] ^ 0x80;
            self.out.extend_from_slice(&[code::BYTE, byte]);
        } else if self.options.order == Order::Network {
            if let Ok(value) = i32::try_from(value) {
                let [a, b, c, d] = value.to_be_bytes();
                self.out.extend_from_slice(&[code::NETINT, a, b, c, d]);
            } else {
                self.put_int_text(value);
            }
        } else {
            self.put_native(code::INTEGER, value.to_le_bytes());
        }
    }

    /// Apart, so that the usual forms need no room for text.
    #[inline(never)]
    fn put_int_text(&mut self, value: i64) {
        self.put_number(&number::signed(value));
    }

    #[inline(never)]
    fn put_uint_text(&mut self, value: u64) {
        self.put_number(&number::unsigned(value));
    }

    #[inline]
    fn put_uint(&mut self, value: u64) {
        match i64::try_from(value) {
            Ok(value) => self.put_int(value),
            Err(_) => self.put_uint_text(value),
        }
    }

    #[inline]
    pub(crate) fn put_float(&mut self, value: f64) {
        if self.options.has_perl_numbers {
            // 2^63 as a float is one beyond the largest.
            let is_whole =
                value % 1.0 == 0.0 && value.abs() < 9_223_372_036_854_775_808.0;
            if is_whole {
                #[expect(
                    clippy::cast_possible_truncation,
                    reason = "whole, and it fits"
                )]
                return self.put_int(value as i64);
            }
        }
        self.put_double(value);
    }

    /// A float that stays one.
    #[inline]
    pub(crate) fn put_double(&mut self, value: f64) {
        if self.options.order == Order::Native {
            self.put_native(code::DOUBLE, value.to_le_bytes());
        } else {
            self.put_float_text(value);
        }
    }

    #[inline(never)]
    fn put_float_text(&mut self, value: f64) {
        if self.options.has_perl_numbers {
            self.put_number(&number::perl_float(value));
        } else {
            self.put_number(&number::float(value));
        }
    }

    /// A number as text.
    fn put_number(&mut self, text: &Text) {
        self.put_string(text.as_bytes(), false);
    }

    fn put_bool(&mut self, value: bool) {
        let byte = match (self.options.booleans, value) {
            (Booleans::Immortal, true) => code::SV_YES,
            (Booleans::Immortal, false) => code::SV_NO,
            (Booleans::Tagged, true) => code::BOOLEAN_TRUE,
            (Booleans::Tagged, false) => code::BOOLEAN_FALSE,
            (Booleans::Text, true) => return self.put_string(b"1", false),
            (Booleans::Text, false) => return self.put_string(b"", false),
        };
        self.out.push(byte);
    }

    #[inline]
    fn put_str(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let mut is_flagged = !bytes.is_ascii();
        if self.options.is_lossless && !is_flagged {
            let is_network = self.options.order == Order::Network;
            is_flagged = number::of_text(bytes, is_network).is_some();
        }
        self.put_string(bytes, is_flagged);
    }

    #[inline]
    pub(crate) fn put_string(&mut self, bytes: &[u8], is_flagged: bool) {
        if let Ok(length) = u8::try_from(bytes.len()) {
            let code = if is_flagged { code::UTF8STR } else { code::SCALAR };
            self.out.reserve(bytes.len() + 2);
            self.out.extend_from_slice(&[code, length]);
            self.out.extend_from_slice(bytes);
        } else {
            self.put_long_string(bytes, is_flagged);
        }
    }

    fn put_long_string(&mut self, bytes: &[u8], is_flagged: bool) {
        let code = if is_flagged { code::LUTF8STR } else { code::LSCALAR };
        self.put_long_head(code, bytes.len());
        self.out.extend_from_slice(bytes);
    }

    /// What stands before the bytes of a long string; beyond 2 GiB it is a large item.
    fn put_long_head(&mut self, code: u8, length: usize) {
        if let Ok(length) = Self::signed_size(length) {
            self.out.push(code);
            self.put_size(length);
        } else {
            let length = length as u64;
            self.out.extend_from_slice(&[code::LOBJECT, code]);
            self.out.extend_from_slice(&match self.options.order {
                Order::Network => length.to_be_bytes(),
                Order::Native => length.to_le_bytes(),
            });
        }
    }

    /// A class before its object.
    pub(crate) fn put_class(&mut self, name: &[u8]) -> Result<()> {
        if let Some(&index) = self.classes.get(name) {
            self.out.push(code::IX_BLESS);
            return self.put_class_number(index);
        }
        self.out.push(code::BLESS);
        self.put_class_number(name.len())?;
        self.out.extend_from_slice(name);
        self.add_class(name);
        Ok(())
    }

    /// A class's length or index: a byte, or a size.
    fn put_class_number(&mut self, number: usize) -> Result<()> {
        match u8::try_from(number) {
            Ok(byte) if byte & LONG == 0 => self.out.push(byte),
            _ => {
                let number = Self::signed_size(number)?;
                self.out.push(LONG);
                self.put_size(number);
            }
        }
        Ok(())
    }

    /// The index of a class that was told.
    pub(crate) fn class_index(&self, name: &[u8]) -> Option<usize> {
        self.classes.get(name).copied()
    }

    /// Notes a class that is told.
    pub(crate) fn add_class(&mut self, name: &[u8]) {
        let index = self.classes.len();
        self.classes.insert(name.to_vec(), index);
    }

    /// A hash begins: what is needed to put its pairs.
    #[inline]
    pub(crate) fn begin_hash(&mut self, count: usize) -> HashAt {
        let at = self.out.len();
        // A count that is too large, or wrong, is found out at the end.
        let announced = u32::try_from(count).unwrap_or(u32::MAX);
        self.out.reserve(5);
        self.out.push(code::HASH);
        self.put_size(announced);
        HashAt { at, announced, count: 0, is_flagged: false }
    }

    /// A key behind its value.
    #[inline]
    pub(crate) fn put_key(&mut self, hash: &mut HashAt, key: &str) -> Result<()> {
        hash.count += 1;
        if !hash.is_flagged && key.is_ascii() {
            let length = Self::signed_size(key.len())?;
            self.put_size(length);
            self.out.extend_from_slice(key.as_bytes());
            return Ok(());
        }
        self.put_flagged_key(hash, key.as_bytes(), true, 0)
    }

    /// A key that may not be ASCII, behind its value. Text is written as Perl writes it: as
    /// Latin-1 where that has all its characters.
    pub(crate) fn put_flagged_key(
        &mut self,
        hash: &mut HashAt,
        key: &[u8],
        is_text: bool,
        flags: u8,
    ) -> Result<()> {
        let text = std::str::from_utf8(key).ok().filter(|_| is_text && !key.is_ascii());
        let latin1: Option<Vec<u8>> = text.and_then(|text| {
            text.chars().map(|letter| u8::try_from(u32::from(letter)).ok()).collect()
        });
        let (flags, key) = match &latin1 {
            Some(latin1) => (flags | key_flag::WAS_UTF8, &latin1[..]),
            None if is_text && !key.is_ascii() => (flags | key_flag::UTF8, key),
            None => (flags, key),
        };
        if flags != 0 && !hash.is_flagged {
            self.flag(hash)?;
        }
        if hash.is_flagged {
            self.out.push(flags);
        }
        let length = Self::signed_size(key.len())?;
        self.put_size(length);
        self.out.extend_from_slice(key);
        Ok(())
    }

    /// Makes the hash one with flags, in which each key has some: those written so far get
    /// theirs, which are none. The value of the pair that is being written stays behind them.
    #[cold]
    fn flag(&mut self, hash: &mut HashAt) -> Result<()> {
        hash.is_flagged = true;
        let header = match self.options.order {
            Order::Network => &b"\x05\x0b"[..],
            Order::Native => &b"\x04\x0b\x0812345678\x04\x08\x08\x08"[..],
        };
        let form = Header::take(header, 0, ImageKind::Memory)?.form();
        let options =
            ReadOptions::new().with_max_depth(self.options.max_depth).with_code(true);
        let mut flagged = Vec::with_capacity(self.out.len() - hash.at + 16);
        flagged.extend_from_slice(&[code::FLAG_HASH, 0]);
        // Code and size.
        let mut cursor = Cursor { input: &self.out, pos: hash.at + 5 };
        flagged.extend_from_slice(&self.out[hash.at + 1..cursor.pos]);
        for _ in 1..hash.count {
            let start = cursor.pos;
            let mut scan = Scan::new(cursor, form, &options, None);
            scan.pass(Left::new(self.options.max_depth))?;
            cursor = scan.cursor;
            flagged.extend_from_slice(&self.out[start..cursor.pos]);
            flagged.push(0);
            let start = cursor.pos;
            let length = cursor.size(form)?;
            cursor.bytes(length)?;
            flagged.extend_from_slice(&self.out[start..cursor.pos]);
        }
        flagged.extend_from_slice(&self.out[cursor.pos..]);
        self.out.truncate(hash.at);
        self.out.append(&mut flagged);
        Ok(())
    }

    /// The flags of a restricted hash.
    pub(crate) fn restrict(&mut self, hash: &mut HashAt, flags: u8) -> Result<()> {
        // No pair is written yet, but one is counted as begun when a key is put.
        hash.count += 1;
        self.flag(hash)?;
        hash.count -= 1;
        self.out[hash.at + 1] = flags;
        Ok(())
    }

    /// A hash ends.
    #[inline]
    pub(crate) fn end_hash(&mut self, hash: &HashAt) -> Result<()> {
        if hash.count == hash.announced && hash.announced <= i32::MAX.unsigned_abs() {
            return Ok(());
        }
        let at = hash.at + if hash.is_flagged { 2 } else { 1 };
        self.patch_size(at, hash.count)
    }

    /// Writes a size that was not known before.
    fn patch_size(&mut self, at: usize, count: u32) -> Result<()> {
        let size = self.options.order.size(Self::signed_size(count as usize)?);
        self.out[at..at + 4].copy_from_slice(&size);
        Ok(())
    }
}

/// A hash that is being written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HashAt {
    /// Where its code is.
    at: usize,
    announced: u32,
    count: u32,
    is_flagged: bool,
}

impl HashAt {
    /// A pair whose key is put next.
    pub(crate) fn begin_pair(&mut self) {
        self.count = self.count.saturating_add(1);
    }
}

/// Where an item stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// The functions of Storable take a reference, which is not written.
    Root,
    /// Behind a class.
    Object,
    /// In an array or a hash: a reference goes before arrays, hashes and objects.
    Inside,
}

/// Writes one item.
#[derive(Debug)]
struct Put<'a> {
    core: &'a mut Core,
    place: Place,
    left: Left,
}

impl<'a> Put<'a> {
    #[inline]
    fn put_ref(&mut self) -> Result<()> {
        if self.place == Place::Inside {
            // Counted as they are when they are read.
            self.left = self.left.wrap()?;
            self.core.out.push(code::REF);
        }
        Ok(())
    }

    #[inline]
    fn array(mut self, len: Option<usize>) -> Result<Array<'a>> {
        self.put_ref()?;
        let left = self.left.enter()?;
        let at = self.core.out.len();
        let announced = u32::try_from(len.unwrap_or(0)).unwrap_or(u32::MAX);
        self.core.out.reserve(5);
        self.core.out.push(code::ARRAY);
        self.core.put_size(announced);
        Ok(Array { core: self.core, left, at, announced, count: 0 })
    }

    #[inline]
    fn hash(mut self, len: Option<usize>) -> Result<Pairs<'a>> {
        self.put_ref()?;
        let left = self.left.enter()?;
        let hash = self.core.begin_hash(len.unwrap_or(0));
        Ok(Pairs { core: self.core, left, hash, waiting: None })
    }

    /// The hash of one pair that a variant with content is.
    fn variant(mut self) -> Result<(&'a mut Core, Left, HashAt)> {
        self.put_ref()?;
        let left = self.left.enter()?;
        let hash = self.core.begin_hash(1);
        Ok((self.core, left, hash))
    }
}

macro_rules! integers {
    ($($method:ident($type:ty) $put:ident;)*) => {
        $(
            #[inline]
            fn $method(self, value: $type) -> Result<()> {
                self.core.$put(value.into());
                Ok(())
            }
        )*
    };
}

impl<'a> Serializer for Put<'a> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Array<'a>;
    type SerializeTuple = Array<'a>;
    type SerializeTupleStruct = Array<'a>;
    type SerializeTupleVariant = VariantArray<'a>;
    type SerializeMap = Pairs<'a>;
    type SerializeStruct = Pairs<'a>;
    type SerializeStructVariant = VariantPairs<'a>;

    integers! {
        serialize_i8(i8) put_int;
        serialize_i16(i16) put_int;
        serialize_i32(i32) put_int;
        serialize_i64(i64) put_int;
        serialize_u8(u8) put_int;
        serialize_u16(u16) put_int;
        serialize_u32(u32) put_int;
        serialize_u64(u64) put_uint;
        serialize_f32(f32) put_float;
        serialize_f64(f64) put_float;
    }

    fn serialize_bool(self, value: bool) -> Result<()> {
        if self.place == Place::Object && self.core.options.booleans == Booleans::Immortal
        {
            // What is immortal is no object.
            self.core.put_string(if value { b"1" } else { b"" }, false);
        } else {
            self.core.put_bool(value);
        }
        Ok(())
    }

    fn serialize_i128(self, value: i128) -> Result<()> {
        match i64::try_from(value) {
            Ok(value) => self.core.put_int(value),
            Err(_) => self.core.put_number(&number::wide(value)),
        }
        Ok(())
    }

    fn serialize_u128(self, value: u128) -> Result<()> {
        match i64::try_from(value) {
            Ok(value) => self.core.put_int(value),
            Err(_) => self.core.put_number(&number::wide(value)),
        }
        Ok(())
    }

    fn serialize_char(self, value: char) -> Result<()> {
        self.core.put_str(value.encode_utf8(&mut [0; 4]));
        Ok(())
    }

    #[inline]
    fn serialize_str(self, value: &str) -> Result<()> {
        self.core.put_str(value);
        Ok(())
    }

    #[inline]
    fn serialize_bytes(self, value: &[u8]) -> Result<()> {
        self.core.put_string(value, false);
        Ok(())
    }

    fn serialize_none(self) -> Result<()> {
        self.core.out.push(code::UNDEF);
        Ok(())
    }

    #[inline]
    fn serialize_some<T: Serialize + ?Sized>(mut self, value: &T) -> Result<()> {
        self.left = self.left.enter_type()?;
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<()> {
        self.core.out.push(code::UNDEF);
        Ok(())
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Result<()> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
    ) -> Result<()> {
        self.core.put_str(variant);
        Ok(())
    }

    #[inline]
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        mut self,
        name: &'static str,
        value: &T,
    ) -> Result<()> {
        self.left = self.left.enter_type()?;
        if name == TOKEN {
            return value.serialize(PutObject(self));
        }
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<()> {
        let (core, left, mut hash) = self.variant()?;
        value
            .serialize(Put { core: &mut *core, place: Place::Inside, left })
            .map_err(|error| error.in_field(variant))?;
        core.put_key(&mut hash, variant)
    }

    #[inline]
    fn serialize_seq(self, len: Option<usize>) -> Result<Array<'a>> {
        self.array(len)
    }

    #[inline]
    fn serialize_tuple(self, len: usize) -> Result<Array<'a>> {
        self.array(Some(len))
    }

    #[inline]
    fn serialize_tuple_struct(
        self,
        _name: &'static str,
        len: usize,
    ) -> Result<Array<'a>> {
        self.array(Some(len))
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<VariantArray<'a>> {
        let (core, left, hash) = self.variant()?;
        let content = Put { core, place: Place::Inside, left }.array(Some(len))?;
        Ok(VariantArray { content, hash, variant })
    }

    #[inline]
    fn serialize_map(self, len: Option<usize>) -> Result<Pairs<'a>> {
        self.hash(len)
    }

    #[inline]
    fn serialize_struct(self, _name: &'static str, len: usize) -> Result<Pairs<'a>> {
        self.hash(Some(len))
    }

    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<VariantPairs<'a>> {
        let (core, left, hash) = self.variant()?;
        let content = Put { core, place: Place::Inside, left }.hash(Some(len))?;
        Ok(VariantPairs { content, hash, variant })
    }

    fn is_human_readable(&self) -> bool {
        false
    }
}

/// An array that is being written.
#[derive(Debug)]
struct Array<'a> {
    core: &'a mut Core,
    left: Left,
    /// Where its code is.
    at: usize,
    announced: u32,
    count: u32,
}

impl Array<'_> {
    #[inline]
    fn element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        let index = self.count;
        self.count = index.saturating_add(1);
        let put = Put { core: &mut *self.core, place: Place::Inside, left: self.left };
        match value.serialize(put) {
            Ok(()) => Ok(()),
            Err(error) => Err(error.in_element(index as usize)),
        }
    }

    #[inline]
    fn finish(self) -> Result<()> {
        if self.count == self.announced && self.count <= i32::MAX.unsigned_abs() {
            return Ok(());
        }
        self.core.patch_size(self.at + 1, self.count)
    }
}

macro_rules! elements {
    ($trait:ident::$method:ident) => {
        impl $trait for Array<'_> {
            type Ok = ();
            type Error = Error;

            #[inline]
            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
                self.element(value)
            }

            #[inline]
            fn end(self) -> Result<()> {
                self.finish()
            }
        }
    };
}

elements! { SerializeSeq::serialize_element }
elements! { SerializeTuple::serialize_element }
elements! { SerializeTupleStruct::serialize_field }

/// A hash that is being written.
#[derive(Debug)]
struct Pairs<'a> {
    core: &'a mut Core,
    left: Left,
    hash: HashAt,
    /// Where the key begins that waits for its value.
    waiting: Option<usize>,
}

impl Pairs<'_> {
    #[inline]
    fn value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        value.serialize(Put {
            core: &mut *self.core,
            place: Place::Inside,
            left: self.left,
        })
    }

    #[inline]
    fn field<T: Serialize + ?Sized>(&mut self, key: &str, value: &T) -> Result<()> {
        match self.value(value) {
            Ok(()) => self.core.put_key(&mut self.hash, key),
            Err(error) => Err(error.in_field(key)),
        }
    }

    #[inline]
    fn finish(self) -> Result<()> {
        if self.waiting.is_some() {
            return Err(Error::data("a key without a value"));
        }
        self.core.end_hash(&self.hash)
    }
}

impl SerializeMap for Pairs<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<()> {
        if self.waiting.is_some() {
            return Err(Error::data("a key without a value"));
        }
        let keys = &mut self.core.keys;
        self.waiting = Some(keys.len());
        key.serialize(PutKey(|text: &str| {
            keys.push_str(text);
            Ok(())
        }))
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        let Some(start) = self.waiting.take() else {
            return Err(Error::data("a value without a key"));
        };
        let done = self.value(value);
        // Those of hashes inside are gone again.
        let mut keys = std::mem::take(&mut self.core.keys);
        let key = keys.get(start..).unwrap_or_default();
        let done = match done {
            Ok(()) => self.core.put_key(&mut self.hash, key),
            Err(error) => Err(error.in_field(key)),
        };
        keys.truncate(start);
        self.core.keys = keys;
        done
    }

    #[inline]
    fn serialize_entry<K: Serialize + ?Sized, V: Serialize + ?Sized>(
        &mut self,
        key: &K,
        value: &V,
    ) -> Result<()> {
        if let Err(error) = self.value(value) {
            let mut name = String::new();
            let put = PutKey(|text: &str| {
                name.push_str(text);
                Ok(())
            });
            return Err(if key.serialize(put).is_ok() {
                error.in_field(&name)
            } else {
                error
            });
        }
        let (core, hash) = (&mut *self.core, &mut self.hash);
        key.serialize(PutKey(|text: &str| core.put_key(hash, text)))
    }

    fn end(self) -> Result<()> {
        self.finish()
    }
}

impl SerializeStruct for Pairs<'_> {
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

/// The array of a variant, in the hash that names the variant.
#[derive(Debug)]
struct VariantArray<'a> {
    content: Array<'a>,
    hash: HashAt,
    variant: &'static str,
}

impl SerializeTupleVariant for VariantArray<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        self.content.element(value).map_err(|error| error.in_field(self.variant))
    }

    fn end(mut self) -> Result<()> {
        let Array { core, left, at, announced, count } = self.content;
        Array { core: &mut *core, left, at, announced, count }.finish()?;
        core.put_key(&mut self.hash, self.variant)
    }
}

/// The hash of a variant, in the hash that names the variant.
#[derive(Debug)]
struct VariantPairs<'a> {
    content: Pairs<'a>,
    hash: HashAt,
    variant: &'static str,
}

impl SerializeStructVariant for VariantPairs<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<()> {
        self.content.field(key, value).map_err(|error| error.in_field(self.variant))
    }

    fn end(mut self) -> Result<()> {
        let core = self.content.core;
        core.end_hash(&self.content.hash)?;
        core.put_key(&mut self.hash, self.variant)
    }
}

/// Writes a key: calls what it has with the key as text.
struct PutKey<F>(F);

/// What is no key.
#[cold]
fn no_key() -> Error {
    Error::unsupported(
        "keys of hashes are text: expected text, a number, a bool or a char",
    )
}

macro_rules! key_numbers {
    ($($method:ident($type:ty) $text:ident;)*) => {
        $(
            fn $method(self, value: $type) -> Result<()> {
                let text = number::$text(value.into());
                // Digits and a sign.
                (self.0)(std::str::from_utf8(text.as_bytes()).unwrap_or_default())
            }
        )*
    };
}

impl<F: FnOnce(&str) -> Result<()>> Serializer for PutKey<F> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = ser::Impossible<(), Error>;
    type SerializeTuple = ser::Impossible<(), Error>;
    type SerializeTupleStruct = ser::Impossible<(), Error>;
    type SerializeTupleVariant = ser::Impossible<(), Error>;
    type SerializeMap = ser::Impossible<(), Error>;
    type SerializeStruct = ser::Impossible<(), Error>;
    type SerializeStructVariant = ser::Impossible<(), Error>;

    key_numbers! {
        serialize_i8(i8) signed;
        serialize_i16(i16) signed;
        serialize_i32(i32) signed;
        serialize_i64(i64) signed;
        serialize_u8(u8) unsigned;
        serialize_u16(u16) unsigned;
        serialize_u32(u32) unsigned;
        serialize_u64(u64) unsigned;
    }

    fn serialize_i128(self, value: i128) -> Result<()> {
        (self.0)(&value.to_string())
    }

    fn serialize_u128(self, value: u128) -> Result<()> {
        (self.0)(&value.to_string())
    }

    fn serialize_bool(self, value: bool) -> Result<()> {
        (self.0)(if value { "1" } else { "0" })
    }

    fn serialize_char(self, value: char) -> Result<()> {
        (self.0)(value.encode_utf8(&mut [0; 4]))
    }

    #[inline]
    fn serialize_str(self, value: &str) -> Result<()> {
        (self.0)(value)
    }

    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
    ) -> Result<()> {
        (self.0)(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        value: &T,
    ) -> Result<()> {
        value.serialize(self)
    }

    fn serialize_f32(self, _value: f32) -> Result<()> {
        Err(no_key())
    }

    fn serialize_f64(self, _value: f64) -> Result<()> {
        Err(no_key())
    }

    fn serialize_bytes(self, _value: &[u8]) -> Result<()> {
        Err(no_key())
    }

    fn serialize_none(self) -> Result<()> {
        Err(no_key())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, _value: &T) -> Result<()> {
        Err(no_key())
    }

    fn serialize_unit(self) -> Result<()> {
        Err(no_key())
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Result<()> {
        Err(no_key())
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        _variant: &'static str,
        _value: &T,
    ) -> Result<()> {
        Err(no_key())
    }

    fn serialize_seq(self, _len: Option<usize>) -> Result<Self::SerializeSeq> {
        Err(no_key())
    }

    fn serialize_tuple(self, _len: usize) -> Result<Self::SerializeTuple> {
        Err(no_key())
    }

    fn serialize_tuple_struct(
        self,
        _name: &'static str,
        _len: usize,
    ) -> Result<Self::SerializeTupleStruct> {
        Err(no_key())
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        _variant: &'static str,
        _len: usize,
    ) -> Result<Self::SerializeTupleVariant> {
        Err(no_key())
    }

    fn serialize_map(self, _len: Option<usize>) -> Result<Self::SerializeMap> {
        Err(no_key())
    }

    fn serialize_struct(
        self,
        _name: &'static str,
        _len: usize,
    ) -> Result<Self::SerializeStruct> {
        Err(no_key())
    }

    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        _variant: &'static str,
        _len: usize,
    ) -> Result<Self::SerializeStructVariant> {
        Err(no_key())
    }

    fn is_human_readable(&self) -> bool {
        false
    }
}

/// Writes an object, given as the tuple of its class and its value.
struct PutObject<'a>(Put<'a>);

/// What is no object.
#[cold]
fn no_object() -> Error {
    Error::data("expected a class and a value, as `Blessed` gives them")
}

macro_rules! refuse {
    ($error:ident: $($method:ident($($type:ty),*) -> $ok:ty;)*) => {
        $(fn $method(self, $(_: $type),*) -> Result<$ok> { Err($error()) })*
    };
}

impl<'a> Serializer for PutObject<'a> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = ser::Impossible<(), Error>;
    type SerializeTuple = ObjectParts<'a>;
    type SerializeTupleStruct = ser::Impossible<(), Error>;
    type SerializeTupleVariant = ser::Impossible<(), Error>;
    type SerializeMap = ser::Impossible<(), Error>;
    type SerializeStruct = ser::Impossible<(), Error>;
    type SerializeStructVariant = ser::Impossible<(), Error>;

    fn serialize_tuple(self, _len: usize) -> Result<ObjectParts<'a>> {
        Ok(ObjectParts { put: Some(self.0), is_begun: false })
    }

    fn serialize_some<T: Serialize + ?Sized>(self, _value: &T) -> Result<()> {
        Err(no_object())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _value: &T,
    ) -> Result<()> {
        Err(no_object())
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        _variant: &'static str,
        _value: &T,
    ) -> Result<()> {
        Err(no_object())
    }

    refuse! { no_object:
        serialize_bool(bool) -> ();
        serialize_i8(i8) -> ();
        serialize_i16(i16) -> ();
        serialize_i32(i32) -> ();
        serialize_i64(i64) -> ();
        serialize_u8(u8) -> ();
        serialize_u16(u16) -> ();
        serialize_u32(u32) -> ();
        serialize_u64(u64) -> ();
        serialize_f32(f32) -> ();
        serialize_f64(f64) -> ();
        serialize_char(char) -> ();
        serialize_str(&str) -> ();
        serialize_bytes(&[u8]) -> ();
        serialize_none() -> ();
        serialize_unit() -> ();
        serialize_unit_struct(&'static str) -> ();
        serialize_unit_variant(&'static str, u32, &'static str) -> ();
        serialize_seq(Option<usize>) -> Self::SerializeSeq;
        serialize_tuple_struct(&'static str, usize) -> Self::SerializeTupleStruct;
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> Self::SerializeTupleVariant;
        serialize_map(Option<usize>) -> Self::SerializeMap;
        serialize_struct(&'static str, usize) -> Self::SerializeStruct;
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> Self::SerializeStructVariant;
    }
}

/// The class, then the value.
#[derive(Debug)]
struct ObjectParts<'a> {
    put: Option<Put<'a>>,
    /// Whether the class was given, and the value follows.
    is_begun: bool,
}

impl SerializeTuple for ObjectParts<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        if self.is_begun {
            return value.serialize(self.put.take().ok_or_else(no_object)?);
        }
        self.is_begun = true;
        let put = self.put.as_mut().ok_or_else(no_object)?;
        if value.serialize(PutClass(&mut *put))? {
            put.place = Place::Object;
        }
        Ok(())
    }

    fn end(self) -> Result<()> {
        if self.put.is_none() { Ok(()) } else { Err(no_object()) }
    }
}

/// Writes the reference to an object, and its class. Tells whether there is one.
struct PutClass<'p, 'a>(&'p mut Put<'a>);

#[cold]
fn no_class() -> Error {
    Error::data("expected the name of a class, which is text")
}

impl Serializer for PutClass<'_, '_> {
    type Ok = bool;
    type Error = Error;
    type SerializeSeq = ser::Impossible<bool, Error>;
    type SerializeTuple = ser::Impossible<bool, Error>;
    type SerializeTupleStruct = ser::Impossible<bool, Error>;
    type SerializeTupleVariant = ser::Impossible<bool, Error>;
    type SerializeMap = ser::Impossible<bool, Error>;
    type SerializeStruct = ser::Impossible<bool, Error>;
    type SerializeStructVariant = ser::Impossible<bool, Error>;

    fn serialize_str(self, name: &str) -> Result<bool> {
        self.serialize_bytes(name.as_bytes())
    }

    fn serialize_bytes(self, name: &[u8]) -> Result<bool> {
        self.0.put_ref()?;
        self.0.left = self.0.left.wrap()?;
        self.0.core.put_class(name)?;
        Ok(true)
    }

    /// Data without a class.
    fn serialize_none(self) -> Result<bool> {
        Ok(false)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<bool> {
        value.serialize(self)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        value: &T,
    ) -> Result<bool> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        _variant: &'static str,
        _value: &T,
    ) -> Result<bool> {
        Err(no_class())
    }

    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
    ) -> Result<bool> {
        self.serialize_str(variant)
    }

    refuse! { no_class:
        serialize_bool(bool) -> bool;
        serialize_i8(i8) -> bool;
        serialize_i16(i16) -> bool;
        serialize_i32(i32) -> bool;
        serialize_i64(i64) -> bool;
        serialize_u8(u8) -> bool;
        serialize_u16(u16) -> bool;
        serialize_u32(u32) -> bool;
        serialize_u64(u64) -> bool;
        serialize_f32(f32) -> bool;
        serialize_f64(f64) -> bool;
        serialize_char(char) -> bool;
        serialize_unit() -> bool;
        serialize_unit_struct(&'static str) -> bool;
        serialize_seq(Option<usize>) -> Self::SerializeSeq;
        serialize_tuple(usize) -> Self::SerializeTuple;
        serialize_tuple_struct(&'static str, usize) -> Self::SerializeTupleStruct;
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> Self::SerializeTupleVariant;
        serialize_map(Option<usize>) -> Self::SerializeMap;
        serialize_struct(&'static str, usize) -> Self::SerializeStruct;
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> Self::SerializeStructVariant;
    }
}

#[cfg(test)]
mod tests {
    use crate::ErrorKind;

    use super::*;

    #[test]
    fn sizes_beyond_31_bits_are_refused_but_for_strings_which_are_large_items() {
        type Head = (Order, u8, usize, &'static [u8]);
        let table: &[Head] = &[
            (Order::Network, code::LSCALAR, 256, b"\x01\0\0\x01\0"),
            (Order::Network, code::LUTF8STR, 0x7fff_ffff, b"\x18\x7f\xff\xff\xff"),
            (Order::Network, code::LSCALAR, 1 << 31, b"\x21\x01\0\0\0\0\x80\0\0\0"),
            (
                Order::Network,
                code::LUTF8STR,
                0xffff_ffff,
                b"\x21\x18\0\0\0\0\xff\xff\xff\xff",
            ),
            (Order::Native, code::LSCALAR, 0x7fff_ffff, b"\x01\xff\xff\xff\x7f"),
            (Order::Native, code::LUTF8STR, 1 << 31, b"\x21\x18\0\0\0\x80\0\0\0\0"),
        ];
        for &(order, code, length, head) in table {
            let mut core = Core::default();
            core.begin(Vec::new(), WriteOptions::new().with_order(order));
            core.put_long_head(code, length);
            assert_eq!(core.end(), head, "{order:?} {code} {length}");
        }
        assert_eq!(Core::signed_size(0x7fff_ffff).ok(), Some(0x7fff_ffff));
        let error = Core::signed_size(1 << 31).err();
        assert_eq!(error.map(|error| error.kind()), Some(ErrorKind::Unsupported));
    }
}
