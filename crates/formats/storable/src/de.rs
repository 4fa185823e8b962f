//! Items for serde: what a type asks for, answered from the bytes where they stand.
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::arithmetic_side_effects
)]

use serde::de::{
    self, DeserializeSeed, Deserializer, EnumAccess, MapAccess, SeqAccess, Unexpected,
    VariantAccess, Visitor,
};

use crate::blessed::TOKEN;
use crate::number::{self, Number};
use crate::reader::{Key, Opened, Reader, Token};
use crate::scan::{LEAST_PAIR, Left, scalar_end};
use crate::wire::{SIGNED_MAX, code};
use crate::{Error, Result};

/// Reads the root of the image.
#[inline]
pub(crate) fn read<'de, T: DeserializeSeed<'de>>(
    reader: &mut Reader<'_, 'de>,
    seed: T,
) -> Result<T::Value> {
    let (left, at) = (reader.left(), reader.pos());
    let done = seed.deserialize(Item { reader, left });
    // The value stays where it is.
    if done.is_err() { done.map_err(|error| error.at(at)) } else { done }
}

/// The item that begins at the reader's place.
struct Item<'a, 's, 'de> {
    reader: &'a mut Reader<'s, 'de>,
    left: Left,
}

/// An item that was met before is read again from its place.
macro_rules! elsewhere {
    ($item:ident, $start:ident, |$again:ident| $read:expr) => {{
        let back = $item.reader.cursor.pos;
        $item.reader.cursor.pos = $start;
        let $again = Item { reader: &mut *$item.reader, left: $item.left };
        let value = $read?;
        $item.reader.cursor.pos = back;
        Ok(value)
    }};
}

impl<'de> Item<'_, '_, 'de> {
    #[inline]
    fn open(&mut self) -> Result<Token<'de>> {
        self.reader.open(&mut self.left)
    }

    /// The count of the array or hash with this code that begins here or behind a reference:
    /// what most of them are, without the way over a token.
    #[inline]
    fn open_plain(&mut self, code: u8, least: usize) -> Result<Option<usize>> {
        let cursor = &mut self.reader.cursor;
        match cursor.rest() {
            [first, ..] if *first == code => cursor.pass(1),
            [code::REF, second, ..] if *second == code => {
                self.left = self.left.wrap()?;
                cursor.pass(2);
            }
            _ => return Ok(None),
        }
        let count = cursor.signed_size(self.reader.form)?;
        cursor.check_count(count, least).map(Some)
    }

    fn visit_array<V: Visitor<'de>>(self, count: usize, visitor: V) -> Result<V::Value> {
        let left = self.left.enter()?;
        let mut elements = Elements { reader: self.reader, left, index: 0, count };
        let value = visitor.visit_seq(&mut elements)?;
        elements.end()?;
        Ok(value)
    }

    fn visit_hash<V: Visitor<'de>>(
        self,
        count: usize,
        is_flagged: bool,
        visitor: V,
    ) -> Result<V::Value> {
        let left = self.left.enter()?;
        let mut pairs = Pairs::new(self.reader, left, count, is_flagged);
        let value = visitor.visit_map(&mut pairs)?;
        pairs.end()?;
        Ok(value)
    }

    /// Gives the visitor what the item is.
    fn visit<V: Visitor<'de>>(self, token: Token<'de>, visitor: V) -> Result<V::Value> {
        match token {
            Token::Undef => visitor.visit_unit(),
            Token::Bool(value) => visitor.visit_bool(value),
            Token::Int(value) => visitor.visit_i64(value),
            Token::Double(value) => visitor.visit_f64(value),
            Token::Bytes(bytes) | Token::Text(bytes) | Token::Regexp(bytes) => {
                visit_text(bytes, visitor)
            }
            Token::Array(count) => self.visit_array(count, visitor),
            Token::Hash { count, is_flagged } => {
                self.visit_hash(count, is_flagged, visitor)
            }
            Token::Elsewhere(start) => {
                elsewhere!(self, start, |item| item.deserialize_any(visitor))
            }
        }
    }

    /// An integer that is not the plain one.
    #[cold]
    fn visit_rare_int<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value> {
        match self.open()? {
            Token::Bytes(text) | Token::Text(text) => visit_int_text(text, visitor),
            Token::Elsewhere(start) => {
                elsewhere!(self, start, |item| item.deserialize_i64(visitor))
            }
            token => self.visit(token, visitor),
        }
    }

    /// A float that is not a `DOUBLE`: in network order it is text.
    fn visit_other_float<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value> {
        match self.open()? {
            Token::Double(value) => visitor.visit_f64(value),
            Token::Int(value) => visitor.visit_f64(value as f64),
            Token::Bytes(text) | Token::Text(text) => match number::parse_float(text) {
                Some(value) => visitor.visit_f64(value),
                None => visit_text(text, visitor),
            },
            Token::Elsewhere(start) => {
                elsewhere!(self, start, |item| item.deserialize_f64(visitor))
            }
            token => self.visit(token, visitor),
        }
    }
}

/// Text for who can take it, else bytes.
#[inline]
fn visit_text<'de, V: Visitor<'de>>(bytes: &'de [u8], visitor: V) -> Result<V::Value> {
    match std::str::from_utf8(bytes) {
        Ok(text) => visitor.visit_borrowed_str(text),
        Err(_) => visitor.visit_borrowed_bytes(bytes),
    }
}

fn visit_int_text<'de, V: Visitor<'de>>(text: &'de [u8], visitor: V) -> Result<V::Value> {
    match number::parse_int(text) {
        Some(value) => visit_wide(value, visitor),
        None => match number::parse_uint(text) {
            Some(value) => visitor.visit_u128(value),
            None => visit_text(text, visitor),
        },
    }
}

/// An integer in the narrowest form that visitors know.
fn visit_wide<'de, V: Visitor<'de>>(value: i128, visitor: V) -> Result<V::Value> {
    if let Ok(value) = i64::try_from(value) {
        visitor.visit_i64(value)
    } else if let Ok(value) = u64::try_from(value) {
        visitor.visit_u64(value)
    } else if let Ok(value) = u128::try_from(value) {
        visitor.visit_u128(value)
    } else {
        visitor.visit_i128(value)
    }
}

/// The bool that text or a number is for Perl, if it is one of its usual forms.
fn bool_of(token: &Token<'_>) -> Option<bool> {
    match *token {
        Token::Bool(value) => Some(value),
        Token::Int(1) | Token::Bytes(b"1") | Token::Text(b"1") => Some(true),
        Token::Int(0) | Token::Bytes(b"" | b"0") | Token::Text(b"" | b"0") => Some(false),
        _ => None,
    }
}

macro_rules! integers {
    ($($method:ident)*) => {
        $(
            #[inline]
            fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
                match *self.reader.cursor.rest() {
                    [code::BYTE, byte, ..] => {
                        self.reader.cursor.pass(2);
                        visitor.visit_i64(i64::from(byte).wrapping_sub(128))
                    }
                    [code::NETINT, a, b, c, d, ..] => {
                        self.reader.cursor.pass(5);
                        visitor.visit_i64(i64::from(i32::from_be_bytes([a, b, c, d])))
                    }
                    [code::INTEGER, ref rest @ ..]
                        if self.reader.form.int_bytes == 8 =>
                    {
                        match rest.first_chunk() {
                            Some(&bytes) => {
                                self.reader.cursor.pass(9);
                                visitor.visit_i64(self.reader.form.int(bytes))
                            }
                            None => self.visit_rare_int(visitor),
                        }
                    }
                    _ => self.visit_rare_int(visitor),
                }
            }
        )*
    };
}

macro_rules! as_text {
    ($($method:ident)*) => {
        $(
            #[inline]
            fn $method<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value> {
                if let [code::SCALAR | code::UTF8STR, length, rest @ ..] =
                    self.reader.cursor.rest()
                    && let Some(bytes) = rest.get(..usize::from(*length))
                {
                    self.reader.cursor.pass(bytes.len().saturating_add(2));
                    return visit_text(bytes, visitor);
                }
                match self.open()? {
                    Token::Elsewhere(start) => {
                        elsewhere!(self, start, |item| item.$method(visitor))
                    }
                    token => self.visit(token, visitor),
                }
            }
        )*
    };
}

impl<'de> Deserializer<'de> for Item<'_, '_, 'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value> {
        let token = self.open()?;
        if let Token::Bytes(text) = token
            && self.reader.options.has_numeric_text()
            && let Some(number) = number::of_text(text, self.reader.form.is_network)
        {
            return match number {
                Number::Int(value) => visit_wide(value, visitor),
                Number::Uint(value) => visitor.visit_u128(value),
                Number::Float(value) => visitor.visit_f64(value),
            };
        }
        self.visit(token, visitor)
    }

    fn deserialize_bool<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value> {
        let token = self.open()?;
        if let Some(value) = bool_of(&token) {
            return visitor.visit_bool(value);
        }
        match token {
            Token::Elsewhere(start) => {
                elsewhere!(self, start, |item| item.deserialize_bool(visitor))
            }
            token => self.visit(token, visitor),
        }
    }

    integers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
    }

    #[inline]
    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        if let [code::DOUBLE, ..] = self.reader.cursor.rest() {
            self.reader.cursor.pass(1);
            return visitor.visit_f64(self.reader.double()?);
        }
        self.visit_other_float(visitor)
    }

    #[inline]
    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.deserialize_f64(visitor)
    }

    as_text! { deserialize_char deserialize_str deserialize_string deserialize_identifier }

    fn deserialize_bytes<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value> {
        match self.open()? {
            Token::Bytes(bytes) | Token::Text(bytes) | Token::Regexp(bytes) => {
                visitor.visit_borrowed_bytes(bytes)
            }
            Token::Elsewhere(start) => {
                elsewhere!(self, start, |item| item.deserialize_bytes(visitor))
            }
            token => self.visit(token, visitor),
        }
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.deserialize_bytes(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value> {
        match self.reader.peek() {
            Some(
                code::BYTE
                | code::NETINT
                | code::INTEGER
                | code::DOUBLE
                | code::SCALAR
                | code::UTF8STR
                | code::SV_YES
                | code::SV_NO,
            ) => {}
            Some(code::UNDEF | code::SV_UNDEF | code::SVUNDEF_ELEM) => {
                self.reader.cursor.byte()?;
                return visitor.visit_none();
            }
            // Behind references or elsewhere there may be nothing as well.
            Some(_) => {
                let (start, left) = (self.reader.pos(), self.left);
                match self.open()? {
                    Token::Undef => return visitor.visit_none(),
                    Token::Elsewhere(target) => {
                        return elsewhere!(self, target, |item| item
                            .deserialize_option(visitor));
                    }
                    _ => {}
                }
                self.reader.cursor.pos = start;
                self.left = left;
            }
            None => return Err(self.reader.cursor.cut()),
        }
        let left = self.left.enter_type()?;
        visitor.visit_some(Item { left, ..self })
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.deserialize_any(visitor)
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        self.deserialize_any(visitor)
    }

    #[inline]
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        mut self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        self.left = self.left.enter_type()?;
        if name == TOKEN {
            return match self.reader.open_class(&mut self.left)? {
                Opened::Here(class) => visitor.visit_seq(Object {
                    item: Some(self),
                    class: Some(ClassItem(class)),
                }),
                Opened::Elsewhere(start) => {
                    elsewhere!(self, start, |item| item
                        .deserialize_newtype_struct(name, visitor))
                }
            };
        }
        visitor.visit_newtype_struct(self)
    }

    #[inline]
    fn deserialize_seq<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value> {
        if let Some(count) = self.open_plain(code::ARRAY, 1)? {
            return self.visit_array(count, visitor);
        }
        match self.open()? {
            Token::Array(count) => self.visit_array(count, visitor),
            token => self.visit(token, visitor),
        }
    }

    #[inline]
    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        _len: usize,
        visitor: V,
    ) -> Result<V::Value> {
        self.deserialize_seq(visitor)
    }

    #[inline]
    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _len: usize,
        visitor: V,
    ) -> Result<V::Value> {
        self.deserialize_seq(visitor)
    }

    #[inline]
    fn deserialize_map<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value> {
        if let Some(count) = self.open_plain(code::HASH, LEAST_PAIR)? {
            return self.visit_hash(count, false, visitor);
        }
        match self.open()? {
            Token::Hash { count, is_flagged } => {
                self.visit_hash(count, is_flagged, visitor)
            }
            token => self.visit(token, visitor),
        }
    }

    #[inline]
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        mut self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        match self.open()? {
            Token::Bytes(bytes) | Token::Text(bytes) => {
                visitor.visit_enum(UnitVariant(Key::Bytes(bytes)))
            }
            Token::Hash { count, is_flagged } => {
                let left = self.left.enter()?;
                let mut pairs = Pairs::new(self.reader, left, count, is_flagged);
                let Some(key) = pairs.advance()? else {
                    return Err(de::Error::invalid_length(0, &"a variant"));
                };
                let value = visitor
                    .visit_enum(Variant { pairs: &mut pairs, key })
                    .map_err(|error| error.in_field(&key.name()))?;
                pairs.end()?;
                Ok(value)
            }
            Token::Elsewhere(start) => {
                elsewhere!(self, start, |item| item
                    .deserialize_enum(name, variants, visitor))
            }
            token => self.visit(token, visitor),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.reader.skip(self.left)?;
        visitor.visit_unit()
    }

    #[inline]
    fn is_human_readable(&self) -> bool {
        false
    }
}

/// The elements of an array.
struct Elements<'a, 's, 'de> {
    reader: &'a mut Reader<'s, 'de>,
    left: Left,
    index: usize,
    count: usize,
}

impl Elements<'_, '_, '_> {
    #[inline]
    fn end(&self) -> Result<()> {
        if self.index == self.count { Ok(()) } else { Err(self.too_many()) }
    }

    #[cold]
    fn too_many(&self) -> Error {
        let text = format!("expected {} elements, found {}", self.index, self.count);
        Error::data(text).at(self.reader.pos())
    }
}

impl<'de> SeqAccess<'de> for &mut Elements<'_, '_, 'de> {
    type Error = Error;

    #[inline]
    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>> {
        if self.index >= self.count {
            return Ok(None);
        }
        let (index, at) = (self.index, self.reader.pos());
        self.index = index.wrapping_add(1);
        match seed.deserialize(Item { reader: &mut *self.reader, left: self.left }) {
            Ok(value) => Ok(Some(value)),
            Err(error) => Err(error.at(at).in_element(index)),
        }
    }

    #[inline]
    fn size_hint(&self) -> Option<usize> {
        Some(self.count.saturating_sub(self.index))
    }
}

/// The pairs of a hash.
struct Pairs<'a, 's, 'de> {
    reader: &'a mut Reader<'s, 'de>,
    left: Left,
    count: usize,
    is_flagged: bool,
    /// Where the pair after this one begins.
    next: usize,
    key: Key<'de>,
}

impl<'a, 's, 'de> Pairs<'a, 's, 'de> {
    #[inline]
    fn new(
        reader: &'a mut Reader<'s, 'de>,
        left: Left,
        count: usize,
        is_flagged: bool,
    ) -> Self {
        let next = reader.pos();
        Self { reader, left, count, is_flagged, next, key: Key::Bytes(&[]) }
    }

    /// The next key where it has no flags and its value is a usual scalar. If not, or if
    /// something is cut, nothing is done.
    #[inline]
    fn advance_plain(&mut self) -> Option<&'de [u8]> {
        if self.is_flagged {
            return None;
        }
        let count = self.count.checked_sub(1)?;
        let (cursor, form) = (self.reader.cursor, self.reader.form);
        let end = scalar_end(&cursor, form)?;
        let (size, rest) = cursor.input.get(end..)?.split_first_chunk()?;
        let length = usize::try_from(form.size(*size)).ok()?;
        let key = rest.get(..length).filter(|_| length <= SIGNED_MAX)?;
        self.count = count;
        self.next = end.saturating_add(4).saturating_add(length);
        self.key = Key::Bytes(key);
        Some(key)
    }

    /// The next key; the reader is at its value.
    fn advance(&mut self) -> Result<Option<Key<'de>>> {
        while let Some(count) = self.count.checked_sub(1) {
            self.count = count;
            let (key, next) = self.reader.pair(self.is_flagged, self.left)?;
            self.next = next;
            if let Some(key) = key {
                self.key = key;
                return Ok(Some(key));
            }
        }
        Ok(None)
    }

    #[inline]
    fn content<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value> {
        let at = self.reader.pos();
        let item = Item { reader: &mut *self.reader, left: self.left };
        match seed.deserialize(item) {
            Ok(value) => {
                self.reader.cursor.pos = self.next;
                Ok(value)
            }
            Err(error) => Err(error.at(at)),
        }
    }

    fn end(&mut self) -> Result<()> {
        // What is left may be keys that are allowed and absent.
        if self.count > 0 && self.advance()?.is_some() {
            let text =
                format!("expected the end of the hash, found `{}`", self.key.name());
            return Err(Error::data(text).at(self.reader.pos()));
        }
        self.reader.cursor.pos = self.next;
        Ok(())
    }
}

impl<'de> MapAccess<'de> for &mut Pairs<'_, '_, 'de> {
    type Error = Error;

    #[inline]
    fn next_key_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>> {
        let key = match self.advance_plain() {
            Some(key) => seed.deserialize(KeyItem(Key::Bytes(key))),
            None => match self.advance()? {
                Some(key) => seed.deserialize(KeyItem(key)),
                None => return Ok(None),
            },
        };
        match key {
            Ok(key) => Ok(Some(key)),
            Err(error) => Err(error.at(self.reader.pos())),
        }
    }

    #[inline]
    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value> {
        match self.content(seed) {
            Ok(value) => Ok(value),
            Err(error) => Err(error.in_field(&self.key.name())),
        }
    }

    #[inline]
    fn size_hint(&self) -> Option<usize> {
        Some(self.count)
    }
}

/// A key of a hash: text, and what is written as text.
struct KeyItem<'de>(Key<'de>);

impl<'de> KeyItem<'de> {
    fn bytes(&self) -> &'de [u8] {
        match self.0 {
            Key::Bytes(bytes) | Key::Text(bytes) | Key::Latin1(bytes) => bytes,
        }
    }
}

macro_rules! key_integers {
    ($($method:ident)*) => {
        $(
            fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
                visit_int_text(self.bytes(), visitor)
            }
        )*
    };
}

impl<'de> Deserializer<'de> for KeyItem<'de> {
    type Error = Error;

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.0 {
            Key::Bytes(bytes) | Key::Text(bytes) => visit_text(bytes, visitor),
            Key::Latin1(_) => visitor.visit_string(self.0.name()),
        }
    }

    key_integers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match bool_of(&Token::Bytes(self.bytes())) {
            Some(value) => visitor.visit_bool(value),
            None => self.deserialize_any(visitor),
        }
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.0 {
            Key::Bytes(bytes) | Key::Text(bytes) => visitor.visit_borrowed_bytes(bytes),
            Key::Latin1(_) => self.deserialize_any(visitor),
        }
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.deserialize_bytes(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        visitor.visit_enum(UnitVariant(self.0))
    }

    serde::forward_to_deserialize_any! {
        f32 f64 char str string option unit unit_struct seq tuple tuple_struct map struct
        identifier ignored_any
    }

    fn is_human_readable(&self) -> bool {
        false
    }
}

/// A variant that is its name.
struct UnitVariant<'de>(Key<'de>);

impl<'de> EnumAccess<'de> for UnitVariant<'de> {
    type Error = Error;
    type Variant = NoContent;

    fn variant_seed<T: DeserializeSeed<'de>>(
        self,
        seed: T,
    ) -> Result<(T::Value, NoContent)> {
        Ok((seed.deserialize(KeyItem(self.0))?, NoContent))
    }
}

struct NoContent;

impl NoContent {
    fn missing<T>(expected: &str) -> Result<T> {
        Err(de::Error::invalid_type(Unexpected::UnitVariant, &expected))
    }
}

impl<'de> VariantAccess<'de> for NoContent {
    type Error = Error;

    fn unit_variant(self) -> Result<()> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, _seed: T) -> Result<T::Value> {
        Self::missing("newtype variant")
    }

    fn tuple_variant<V: Visitor<'de>>(
        self,
        _len: usize,
        _visitor: V,
    ) -> Result<V::Value> {
        Self::missing("tuple variant")
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _fields: &'static [&'static str],
        _visitor: V,
    ) -> Result<V::Value> {
        Self::missing("struct variant")
    }
}

/// A variant that is a hash of one pair.
struct Variant<'p, 'a, 's, 'de> {
    pairs: &'p mut Pairs<'a, 's, 'de>,
    key: Key<'de>,
}

impl<'de> EnumAccess<'de> for Variant<'_, '_, '_, 'de> {
    type Error = Error;
    type Variant = Self;

    fn variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<(T::Value, Self)> {
        Ok((seed.deserialize(KeyItem(self.key))?, self))
    }
}

impl<'de> VariantAccess<'de> for Variant<'_, '_, '_, 'de> {
    type Error = Error;

    fn unit_variant(self) -> Result<()> {
        self.pairs.content(std::marker::PhantomData::<()>)
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value> {
        self.pairs.content(seed)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _len: usize, visitor: V) -> Result<V::Value> {
        self.pairs.content(Content { visitor, is_tuple: true })
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        self.pairs.content(Content { visitor, is_tuple: false })
    }
}

/// A visitor that becomes a seed, for the content of a variant.
struct Content<V> {
    visitor: V,
    is_tuple: bool,
}

impl<'de, V: Visitor<'de>> DeserializeSeed<'de> for Content<V> {
    type Value = V::Value;

    fn deserialize<D: Deserializer<'de>>(self, item: D) -> Result<V::Value, D::Error> {
        if self.is_tuple {
            item.deserialize_seq(self.visitor)
        } else {
            item.deserialize_map(self.visitor)
        }
    }
}

/// An object as its class and its value.
struct Object<'a, 's, 'de> {
    item: Option<Item<'a, 's, 'de>>,
    class: Option<ClassItem<'de>>,
}

impl<'de> SeqAccess<'de> for Object<'_, '_, 'de> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>> {
        if let Some(class) = self.class.take() {
            return seed.deserialize(class).map(Some);
        }
        match self.item.take() {
            Some(item) => seed.deserialize(item).map(Some),
            None => Ok(None),
        }
    }
}

/// The name of a class, or none.
struct ClassItem<'de>(Option<&'de [u8]>);

impl<'de> Deserializer<'de> for ClassItem<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.0 {
            Some(name) => visit_text(name, visitor),
            None => Err(de::Error::invalid_type(
                Unexpected::Other("data without a class"),
                &visitor,
            )),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        if self.0.is_none() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
        unit unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier
        ignored_any
    }
}
