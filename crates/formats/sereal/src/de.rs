//! From a body to any `Deserialize`.
//!
//! A type asks for what it wants and gets what the document has, by the table of the README.
//! What is asked for and stands there plainly is handed out at once; everything else goes through
//! [`State::resolve`] first.
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::arithmetic_side_effects
)]

use std::ops::Range;

use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error as _, MapAccess, SeqAccess,
    Unexpected, VariantAccess, Visitor,
};

use crate::keys::Seen;
use crate::read::{Place, State, unzigzag};
use crate::special::{FROZEN_TOKEN, OBJECT_TOKEN, REF_TOKEN, REGEXP_TOKEN};
use crate::tag;
use crate::{Error, Result};

/// Reads the body's value.
///
/// Here and where containers are read, a result stays in the variable that is returned, and what
/// is wrong is put into it: `?` and `Ok` around a large value copy it, and each copy waits for
/// the fields that were just written.
#[inline]
pub(crate) fn read<'de, T: DeserializeSeed<'de>>(
    state: &mut State<'_, 'de>,
    seed: T,
) -> Result<T::Value> {
    let mut result = seed.deserialize(&mut *state);
    if result.is_err() {
        result = result.map_err(|error| state.annotate(error));
    }
    result
}

#[cold]
fn custom(message: String) -> Error {
    Error::data(message)
}

impl<'b, 'de> State<'b, 'de> {
    /// A string as text if it is UTF-8, else as bytes.
    #[inline]
    fn visit_string<V: Visitor<'de>>(
        &self,
        place: Place,
        visitor: V,
    ) -> Result<V::Value> {
        if let Some(all) = self.lent {
            let bytes = all.get(place.start..place.end).unwrap_or_default();
            match std::str::from_utf8(bytes) {
                Ok(text) => visitor.visit_borrowed_str(text),
                Err(_) if self.options.latin1 && !place.is_text() => {
                    visitor.visit_string(latin1(bytes))
                }
                Err(_) => visitor.visit_borrowed_bytes(bytes),
            }
        } else {
            let bytes = self.bytes(place);
            match std::str::from_utf8(bytes) {
                Ok(text) => visitor.visit_str(text),
                Err(_) if self.options.latin1 && !place.is_text() => {
                    visitor.visit_string(latin1(bytes))
                }
                Err(_) => visitor.visit_bytes(bytes),
            }
        }
    }

    fn visit_bytes<V: Visitor<'de>>(&self, place: Place, visitor: V) -> Result<V::Value> {
        match self.lent {
            Some(all) => visitor.visit_borrowed_bytes(
                all.get(place.start..place.end).unwrap_or_default(),
            ),
            None => visitor.visit_bytes(self.bytes(place)),
        }
    }

    fn visit_array<V: Visitor<'de>>(&mut self, tag: u8, visitor: V) -> Result<V::Value> {
        let count = self.array_count(tag)?;
        let hint = self.begin_container(count, 1, self.options.max_array)?;
        let mut elements = Elements { state: self, count, left: count, hint };
        let mut result = visitor.visit_seq(&mut elements);
        let left = elements.left;
        if left > 0 && result.is_ok() {
            let taken = count.saturating_sub(left);
            let message = format!("expected {taken} elements, found {count}");
            result = Err(custom(message));
        }
        self.leave();
        result
    }

    fn visit_hash<V: Visitor<'de>, K: Keys<'b>>(
        &mut self,
        tag: u8,
        keys: K,
        visitor: V,
    ) -> Result<V::Value> {
        let count = self.hash_count(tag)?;
        let hint = self.begin_container(count, 2, self.options.max_hash)?;
        let mut pairs = Pairs { state: self, left: count, hint, key: 0..0, keys };
        let mut result = visitor.visit_map(&mut pairs);
        let left = pairs.left;
        if left > 0
            && result.is_ok()
            && let Err(error) = self.skip_pairs(left)
        {
            result = Err(error);
        }
        self.leave();
        result
    }

    /// Pairs that a type does not ask for.
    #[cold]
    fn skip_pairs(&mut self, count: usize) -> Result<()> {
        for _ in 0..count {
            self.key()?;
            self.skip()?;
        }
        Ok(())
    }

    /// The fields of a type. What it is given in their place lives for ever, so it is not given
    /// where nothing can be lent.
    #[inline]
    fn visit_fields<V: Visitor<'de>>(
        &mut self,
        tag: u8,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        let fields = if self.lent.is_some() { fields } else { &[] };
        self.visit_hash(tag, Expected(fields), visitor)
    }

    /// A map of any keys, in which each must be different.
    fn visit_any_hash<V: Visitor<'de>>(
        &mut self,
        tag: u8,
        visitor: V,
    ) -> Result<V::Value> {
        if self.options.duplicate_keys {
            return self.visit_hash(tag, Expected(&[]), visitor);
        }
        self.visit_hash(tag, &mut Seen::new(), visitor)
    }

    /// A value whose tag was read, and which is no way to another.
    fn visit_plain<V: Visitor<'de>>(&mut self, tag: u8, visitor: V) -> Result<V::Value> {
        match tag {
            0..tag::NEG => visitor.visit_u64(u64::from(tag)),
            tag::NEG..tag::VARINT => {
                visitor.visit_i64(i64::from(tag).wrapping_sub(i64::from(tag::VARINT)))
            }
            tag::VARINT => visitor.visit_u64(self.varint()?),
            tag::ZIGZAG => match unzigzag(self.varint()?) {
                value @ 0.. => visitor.visit_u64(value.unsigned_abs()),
                value => visitor.visit_i64(value),
            },
            tag::FLOAT => visitor.visit_f64(f64::from(self.float()?)),
            tag::DOUBLE => visitor.visit_f64(self.double()?),
            tag::LONG_DOUBLE | tag::FLOAT_128 => visitor.visit_f64(self.wide_float(tag)?),
            tag::UNDEF | tag::CANONICAL_UNDEF => visitor.visit_unit(),
            tag::NO | tag::FALSE => visitor.visit_bool(false),
            tag::YES | tag::TRUE => visitor.visit_bool(true),
            tag::BINARY | tag::STR_UTF8 | tag::SHORT_BINARY.. => {
                let place = self.string(tag)?;
                self.visit_string(place, visitor)
            }
            tag::REGEXP => {
                let (pattern, _) = self.regexp()?;
                self.visit_string(pattern, visitor)
            }
            tag::ARRAY | tag::ARRAYREF..tag::HASHREF => self.visit_array(tag, visitor),
            tag::HASH | tag::HASHREF..tag::SHORT_BINARY => {
                self.visit_any_hash(tag, visitor)
            }
            _ => Err(self.unexpected("a value", tag)),
        }
    }

    /// An integer that is not short, or no integer. Apart, as what comes next, so that what is
    /// short and stands there is read without a call.
    #[inline(never)]
    fn visit_rare_integer<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value> {
        if self.peek() == Some(tag::VARINT) {
            self.advance();
            let value = self.varint()?;
            return visitor.visit_u64(value);
        }
        self.resolve(|state, tag| state.visit_integer(tag, visitor))
    }

    #[cold]
    #[inline(never)]
    fn visit_rare_float<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value> {
        self.resolve(|state, tag| state.visit_float(tag, visitor))
    }

    #[inline(never)]
    fn visit_rare_string<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value> {
        match self.peek() {
            Some(tag @ (tag::SHORT_BINARY..tag::TRACK | tag::BINARY | tag::STR_UTF8)) => {
                self.advance();
                let place = self.string(tag)?;
                self.visit_string(place, visitor)
            }
            _ => self.resolve(|state, tag| state.visit_plain(tag, visitor)),
        }
    }

    #[inline(never)]
    fn visit_rare_fields<V: Visitor<'de>>(
        &mut self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        self.resolve(|state, tag| match tag {
            tag::HASH | tag::HASHREF..tag::SHORT_BINARY => {
                state.visit_fields(tag, fields, visitor)
            }
            _ => state.visit_plain(tag, visitor),
        })
    }

    /// A number whose tag was read, as the type asks for an integer.
    #[cold]
    fn visit_integer<V: Visitor<'de>>(
        &mut self,
        tag: u8,
        visitor: V,
    ) -> Result<V::Value> {
        match tag {
            tag::BINARY | tag::STR_UTF8 | tag::SHORT_BINARY..
                if self.options.lenient_numbers =>
            {
                let place = self.string(tag)?;
                let text = std::str::from_utf8(self.bytes(place)).unwrap_or("");
                visit_decimal(text, visitor)
            }
            tag::FLOAT => visit_whole(f64::from(self.float()?), visitor),
            tag::DOUBLE => visit_whole(self.double()?, visitor),
            tag::LONG_DOUBLE | tag::FLOAT_128 => {
                visit_whole(self.wide_float(tag)?, visitor)
            }
            _ => self.visit_plain(tag, visitor),
        }
    }

    /// The same for a type that asks for a float.
    #[cold]
    fn visit_float<V: Visitor<'de>>(&mut self, tag: u8, visitor: V) -> Result<V::Value> {
        match tag {
            tag::BINARY | tag::STR_UTF8 | tag::SHORT_BINARY..
                if self.options.lenient_numbers =>
            {
                let place = self.string(tag)?;
                let text = std::str::from_utf8(self.bytes(place)).unwrap_or("");
                match parse_float(text) {
                    Some(value) => visitor.visit_f64(value),
                    None => Err(Error::invalid_type(Unexpected::Str(text), &visitor)),
                }
            }
            _ => self.visit_plain(tag, visitor),
        }
    }

    #[cold]
    fn visit_truth<V: Visitor<'de>>(&mut self, tag: u8, visitor: V) -> Result<V::Value> {
        match tag {
            0 if self.options.lenient_numbers => visitor.visit_bool(false),
            1 if self.options.lenient_numbers => visitor.visit_bool(true),
            tag::BINARY | tag::STR_UTF8 | tag::SHORT_BINARY..
                if self.options.lenient_numbers =>
            {
                let place = self.string(tag)?;
                match self.bytes(place) {
                    b"" | b"0" => visitor.visit_bool(false),
                    b"1" => visitor.visit_bool(true),
                    _ => self.visit_string(place, visitor),
                }
            }
            _ => self.visit_plain(tag, visitor),
        }
    }

    fn visit_variant<V: Visitor<'de>>(
        &mut self,
        tag: u8,
        visitor: V,
    ) -> Result<V::Value> {
        match tag {
            tag::BINARY | tag::STR_UTF8 | tag::SHORT_BINARY.. => {
                let name = self.string(tag)?;
                visitor.visit_enum(Variant { state: self, name, has_content: false })
            }
            tag::HASH | tag::HASHREF..tag::SHORT_BINARY => {
                let count = self.hash_count(tag)?;
                self.begin_container(count, 2, self.options.max_hash)?;
                if count != 1 {
                    return Err(custom(format!(
                        "expected one variant, found a hash of {count}"
                    )));
                }
                let name = self.key()?;
                let value = visitor
                    .visit_enum(Variant { state: self, name, has_content: true })
                    .map_err(|error| self.under(error, name.start..name.end))?;
                self.leave();
                Ok(value)
            }
            _ => {
                let found = tag::describe(tag);
                Err(custom(format!("expected a variant of an enum, found {found}"))
                    .at(self.offset()))
            }
        }
    }

    #[cold]
    fn under(&self, error: Error, key: Range<usize>) -> Error {
        let place = Place::new(key.start, key.end, false);
        self.annotate(error).in_field(&String::from_utf8_lossy(self.bytes(place)))
    }

    /// Our own newtypes, by name.
    #[cold]
    #[inline(never)]
    fn special<V: Visitor<'de>>(
        &mut self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        match name {
            OBJECT_TOKEN => self.resolve_to(true, |state, tag| {
                if !matches!(tag, tag::OBJECT | tag::OBJECTV) {
                    return Err(state.mismatch("an object", tag));
                }
                state.visit_object(visitor)
            }),
            FROZEN_TOKEN => self.resolve_to(true, |state, tag| {
                if !matches!(tag, tag::OBJECT_FREEZE | tag::OBJECTV_FREEZE) {
                    return Err(state.mismatch("a frozen object", tag));
                }
                state.visit_object(visitor)
            }),
            REGEXP_TOKEN => self.resolve(|state, tag| {
                if tag != tag::REGEXP {
                    return Err(state.mismatch("a regular expression", tag));
                }
                let (pattern, flags) = state.regexp()?;
                visitor.visit_seq(Parts { state, parts: [Some(pattern), Some(flags)] })
            }),
            _ => {
                self.wrap()?;
                let value = visitor.visit_newtype_struct(&mut *self)?;
                self.unwrap();
                Ok(value)
            }
        }
    }

    fn visit_object<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value> {
        let class = self.class.take();
        visitor.visit_seq(Parts { state: &mut *self, parts: [class, None] })
    }

    #[cold]
    fn mismatch(&self, wanted: &str, tag: u8) -> Error {
        let found = tag::describe(tag);
        Error::data(format!("expected {wanted}, found {found}")).at(self.offset())
    }
}

fn latin1(bytes: &[u8]) -> String {
    bytes.iter().copied().map(char::from).collect()
}

/// A float that a type wants as an integer: whole ones are.
fn visit_whole<'de, V: Visitor<'de>>(value: f64, visitor: V) -> Result<V::Value> {
    const TWO_TO_63: f64 = 9_223_372_036_854_775_808.0;
    #[expect(clippy::cast_possible_truncation, reason = "in the range, and whole")]
    #[expect(clippy::cast_sign_loss, reason = "not negative")]
    if value.fract() == 0.0 && (-TWO_TO_63..2.0 * TWO_TO_63).contains(&value) {
        return if value < 0.0 {
            visitor.visit_i64(value as i64)
        } else {
            visitor.visit_u64(value as u64)
        };
    }
    visitor.visit_f64(value)
}

/// Decimal text that a type wants as an integer.
fn visit_decimal<'de, V: Visitor<'de>>(text: &str, visitor: V) -> Result<V::Value> {
    if text.starts_with('+') {
        return Err(Error::invalid_type(Unexpected::Str(text), &visitor));
    }
    if let Ok(value) = text.parse::<u64>() {
        visitor.visit_u64(value)
    } else if let Ok(value) = text.parse::<i64>() {
        visitor.visit_i64(value)
    } else if let Ok(value) = text.parse::<i128>() {
        visitor.visit_i128(value)
    } else if let Some(value) = parse_float(text) {
        visit_whole(value, visitor)
    } else {
        Err(Error::invalid_type(Unexpected::Str(text), &visitor))
    }
}

/// Perl's own spellings of what is not finite are taken too.
fn parse_float(text: &str) -> Option<f64> {
    text.bytes().next().filter(|&byte| byte != b'+').and_then(|_| text.parse().ok())
}

/// An integer that a type asks for: at once where it stands there.
macro_rules! integers {
    ($($name:ident)*) => {$(
        #[inline]
        fn $name<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
            match self.short_integer() {
                Some(value) => visitor.visit_u64(value),
                None => self.visit_rare_integer(visitor),
            }
        }
    )*};
}

impl<'de> Deserializer<'de> for &mut State<'_, 'de> {
    type Error = Error;

    #[inline]
    fn is_human_readable(&self) -> bool {
        false
    }

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        if let Some(value) = self.short_integer() {
            return visitor.visit_u64(value);
        }
        match self.peek() {
            Some(tag @ tag::SHORT_BINARY..tag::TRACK) => {
                self.advance();
                let place = self.string(tag)?;
                self.visit_string(place, visitor)
            }
            _ => self.resolve(|state, tag| state.visit_plain(tag, visitor)),
        }
    }

    integers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
    }

    #[inline]
    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.plain_float(tag::FLOAT) {
            Some(bytes) => visitor.visit_f32(f32::from_le_bytes(bytes)),
            None => self.visit_rare_float(visitor),
        }
    }

    #[inline]
    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.plain_float(tag::DOUBLE) {
            Some(bytes) => visitor.visit_f64(f64::from_le_bytes(bytes)),
            None => self.visit_rare_float(visitor),
        }
    }

    #[inline]
    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.peek() {
            Some(tag::YES) => {
                self.advance();
                visitor.visit_bool(true)
            }
            Some(tag::NO) => {
                self.advance();
                visitor.visit_bool(false)
            }
            _ => self.resolve(|state, tag| state.visit_truth(tag, visitor)),
        }
    }

    #[inline]
    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.short_text() {
            Some(text) => visitor.visit_borrowed_str(text),
            None => self.visit_rare_string(visitor),
        }
    }

    #[inline]
    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.deserialize_str(visitor)
    }

    #[inline]
    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.deserialize_str(visitor)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.resolve(|state, tag| match tag {
            tag::BINARY | tag::STR_UTF8 | tag::SHORT_BINARY.. => {
                let place = state.string(tag)?;
                state.visit_bytes(place, visitor)
            }
            _ => state.visit_plain(tag, visitor),
        })
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.deserialize_bytes(visitor)
    }

    #[inline]
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.peek() {
            Some(tag::UNDEF | tag::CANONICAL_UNDEF) => {
                self.advance();
                visitor.visit_none()
            }
            // Ways to a value that may be undef.
            Some(tag::TRACK.. | tag::REFN..=tag::OBJECT_FREEZE | tag::PAD)
                if !matches!(self.peek(), Some(tag::HASH | tag::ARRAY)) =>
            {
                self.resolve_to(true, |state, tag| {
                    if matches!(tag, tag::UNDEF | tag::CANONICAL_UNDEF) {
                        return visitor.visit_none();
                    }
                    state.visit_reached(tag, visitor)
                })
            }
            _ => {
                self.wrap()?;
                let value = visitor.visit_some(&mut *self)?;
                self.unwrap();
                Ok(value)
            }
        }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.deserialize_any(visitor)
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        self.deserialize_any(visitor)
    }

    #[inline]
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        if matches!(name, OBJECT_TOKEN | FROZEN_TOKEN | REGEXP_TOKEN | REF_TOKEN) {
            return self.special(name, visitor);
        }
        self.wrap()?;
        let value = visitor.visit_newtype_struct(&mut *self)?;
        self.unwrap();
        Ok(value)
    }

    #[inline]
    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.peek() {
            Some(tag @ tag::ARRAYREF..tag::HASHREF) => {
                self.advance();
                self.visit_array(tag, visitor)
            }
            _ => self.resolve(|state, tag| state.visit_plain(tag, visitor)),
        }
    }

    #[inline]
    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        _: usize,
        visitor: V,
    ) -> Result<V::Value> {
        self.deserialize_seq(visitor)
    }

    #[inline]
    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value> {
        self.deserialize_seq(visitor)
    }

    #[inline]
    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.resolve(|state, tag| state.visit_plain(tag, visitor))
    }

    #[inline]
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        match self.peek() {
            Some(tag @ tag::HASHREF..tag::SHORT_BINARY) => {
                self.advance();
                self.visit_fields(tag, fields, visitor)
            }
            _ => self.visit_rare_fields(fields, visitor),
        }
    }

    #[inline]
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        match self.peek() {
            Some(
                tag @ (tag::SHORT_BINARY..tag::TRACK | tag::HASHREF..tag::SHORT_BINARY),
            ) => {
                self.advance();
                self.visit_variant(tag, visitor)
            }
            _ => self.resolve(|state, tag| state.visit_variant(tag, visitor)),
        }
    }

    #[inline]
    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.deserialize_str(visitor)
    }

    #[inline]
    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.skip()?;
        visitor.visit_unit()
    }
}

impl<'de> State<'_, 'de> {
    /// The content of an option, at whose tag reading has arrived.
    fn visit_reached<V: Visitor<'de>>(
        &mut self,
        tag: u8,
        visitor: V,
    ) -> Result<V::Value> {
        self.wrap()?;
        let value = if matches!(tag, tag::OBJECT..=tag::OBJECTV | tag::OBJECT_FREEZE..=tag::OBJECTV_FREEZE)
        {
            let class = self.class.take();
            visitor.visit_some(Reached { state: &mut *self, class, tag })?
        } else {
            self.unread();
            visitor.visit_some(&mut *self)?
        };
        self.unwrap();
        Ok(value)
    }
}

/// An object whose class was read already.
struct Reached<'s, 'b, 'de> {
    state: &'s mut State<'b, 'de>,
    class: Option<Place>,
    tag: u8,
}

impl<'de> Deserializer<'de> for Reached<'_, '_, 'de> {
    type Error = Error;

    fn is_human_readable(&self) -> bool {
        false
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.state.deserialize_any(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.state.wrap()?;
        let state = &mut *self.state;
        let reached = Reached { state, class: self.class, tag: self.tag };
        let value = visitor.visit_some(reached)?;
        self.state.unwrap();
        Ok(value)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        let is_frozen = matches!(self.tag, tag::OBJECT_FREEZE | tag::OBJECTV_FREEZE);
        match name {
            OBJECT_TOKEN if !is_frozen => {
                self.state.class = self.class;
                self.state.visit_object(visitor)
            }
            FROZEN_TOKEN if is_frozen => {
                self.state.class = self.class;
                self.state.visit_object(visitor)
            }
            OBJECT_TOKEN | FROZEN_TOKEN => {
                Err(self.state.mismatch("another kind of object", self.tag))
            }
            _ => {
                self.state.wrap()?;
                let state = &mut *self.state;
                let reached = Reached { state, class: self.class, tag: self.tag };
                let value = visitor.visit_newtype_struct(reached)?;
                self.state.unwrap();
                Ok(value)
            }
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        self.state.deserialize_struct(name, fields, visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        self.state.deserialize_enum(name, variants, visitor)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.state.deserialize_bytes(visitor)
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.state.deserialize_bytes(visitor)
    }

    fn deserialize_i64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.state.deserialize_i64(visitor)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.state.deserialize_f64(visitor)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.state.deserialize_bool(visitor)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.state.deserialize_ignored_any(visitor)
    }

    serde::forward_to_deserialize_any! {
        i8 i16 i32 i128 u8 u16 u32 u64 u128 f32 char str string unit unit_struct seq tuple
        tuple_struct map identifier
    }
}

/// The elements of an array.
struct Elements<'s, 'b, 'de> {
    state: &'s mut State<'b, 'de>,
    count: usize,
    left: usize,
    hint: usize,
}

impl<'de> SeqAccess<'de> for &mut Elements<'_, '_, 'de> {
    type Error = Error;

    #[inline]
    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>> {
        let Some(left) = self.left.checked_sub(1) else { return Ok(None) };
        self.left = left;
        match seed.deserialize(&mut *self.state) {
            Ok(value) => Ok(Some(value)),
            Err(error) => Err(self.under(error)),
        }
    }

    #[inline]
    fn size_hint(&self) -> Option<usize> {
        Some(self.hint.min(self.left))
    }
}

impl Elements<'_, '_, '_> {
    #[cold]
    fn under(&self, error: Error) -> Error {
        let index = self.count.saturating_sub(self.left).saturating_sub(1);
        self.state.annotate(error).in_element(index)
    }
}

/// The pairs of a hash.
struct Pairs<'s, 'b, 'de, K> {
    state: &'s mut State<'b, 'de>,
    left: usize,
    hint: usize,
    /// Where the last key stands, for errors. Two words, as a place with its flag is slow to copy.
    key: Range<usize>,
    keys: K,
}

/// What is known about the keys of a hash.
trait Keys<'b> {
    /// Takes the next key if it is the one that was expected; its place and its text.
    #[inline]
    fn expected(&mut self, _: &mut State<'b, '_>) -> Option<(Place, &'static str)> {
        None
    }

    /// Notes a key that was not.
    fn note(&mut self, _: &State<'b, '_>, _: Place) -> Result<()> {
        Ok(())
    }
}

/// The fields of a type that are still to come, if they come in its order. Those that are known
/// may not come twice: the type sees to it.
struct Expected(&'static [&'static str]);

impl<'b> Keys<'b> for Expected {
    #[inline]
    fn expected(&mut self, state: &mut State<'b, '_>) -> Option<(Place, &'static str)> {
        let (&field, rest) = self.0.split_first()?;
        let place = state.this_key(field.as_bytes())?;
        self.0 = rest;
        Some((place, field))
    }
}

impl<'b> Keys<'b> for &mut Seen<'b> {
    #[inline]
    fn note(&mut self, state: &State<'b, '_>, key: Place) -> Result<()> {
        self.add(state, key)
    }
}

impl<'b, 'de, K: Keys<'b>> MapAccess<'de> for &mut Pairs<'_, 'b, 'de, K> {
    type Error = Error;

    #[inline]
    fn next_key_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>> {
        let Some(left) = self.left.checked_sub(1) else { return Ok(None) };
        let read = if let Some((place, text)) = self.keys.expected(self.state) {
            self.left = left;
            self.key = place.start..place.end;
            seed.deserialize(Key { state: &*self.state, place, text: Some(text) })
        } else {
            let place = self.state.key()?;
            self.left = left;
            self.key = place.start..place.end;
            self.keys.note(self.state, place)?;
            seed.deserialize(Key { state: &*self.state, place, text: None })
        };
        match read {
            Ok(value) => Ok(Some(value)),
            Err(error) => Err(self.state.annotate(error)),
        }
    }

    #[inline]
    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value> {
        match seed.deserialize(&mut *self.state) {
            Ok(value) => Ok(value),
            // Only behind a key, and no key stands at the beginning.
            Err(error) if self.key.end > 0 => {
                Err(self.state.under(error, self.key.clone()))
            }
            Err(error) => Err(error),
        }
    }

    #[inline]
    fn size_hint(&self) -> Option<usize> {
        Some(self.hint.min(self.left))
    }
}

/// A key, which is always a string: numbers and booleans are read from their text.
#[derive(Clone, Copy)]
struct Key<'s, 'b, 'de> {
    state: &'s State<'b, 'de>,
    place: Place,
    /// The same, if it is known to be text.
    text: Option<&'static str>,
}

impl<'s, 'b, 'de> Key<'s, 'b, 'de> {
    fn new(state: &'s State<'b, 'de>, place: Place) -> Self {
        Self { state, place, text: None }
    }

    /// Apart, so that what is expected is read without a call.
    #[inline(never)]
    fn visit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.state.visit_string(self.place, visitor)
    }

    fn text(&self) -> &str {
        std::str::from_utf8(self.state.bytes(self.place)).unwrap_or("")
    }
}

macro_rules! integer_keys {
    ($($name:ident)*) => {$(
        fn $name<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
            visit_decimal(self.text(), visitor)
        }
    )*};
}

impl<'de> Deserializer<'de> for Key<'_, '_, 'de> {
    type Error = Error;

    #[inline]
    fn is_human_readable(&self) -> bool {
        false
    }

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.text {
            Some(text) => visitor.visit_borrowed_str(text),
            None => self.visit(visitor),
        }
    }

    integer_keys! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
    }

    fn deserialize_u128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.text().parse() {
            Ok(value) => visitor.visit_u128(value),
            Err(_) => visit_decimal(self.text(), visitor),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.text() {
            "true" | "1" => visitor.visit_bool(true),
            "false" | "0" => visitor.visit_bool(false),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.state.visit_bytes(self.place, visitor)
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.state.visit_bytes(self.place, visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        visitor.visit_enum(self)
    }

    serde::forward_to_deserialize_any! {
        f32 f64 char str string unit unit_struct seq tuple tuple_struct map struct identifier
        ignored_any
    }
}

impl<'de> EnumAccess<'de> for Key<'_, '_, 'de> {
    type Error = Error;
    type Variant = Self;

    fn variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<(T::Value, Self)> {
        Ok((seed.deserialize(self)?, self))
    }
}

#[cold]
fn no_content<T>() -> Result<T> {
    Err(Error::data("expected a variant with content, found its name alone"))
}

impl<'de> VariantAccess<'de> for Key<'_, '_, 'de> {
    type Error = Error;

    fn unit_variant(self) -> Result<()> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, _: T) -> Result<T::Value> {
        no_content()
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value> {
        no_content()
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        _: V,
    ) -> Result<V::Value> {
        no_content()
    }
}

/// A variant: its name, and what stands behind it in the hash.
struct Variant<'s, 'b, 'de> {
    state: &'s mut State<'b, 'de>,
    name: Place,
    has_content: bool,
}

impl<'de> EnumAccess<'de> for Variant<'_, '_, 'de> {
    type Error = Error;
    type Variant = Self;

    #[inline]
    fn variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<(T::Value, Self)> {
        let name = seed.deserialize(Key::new(&*self.state, self.name))?;
        Ok((name, self))
    }
}

impl<'de> VariantAccess<'de> for Variant<'_, '_, 'de> {
    type Error = Error;

    #[inline]
    fn unit_variant(self) -> Result<()> {
        if self.has_content {
            return serde::Deserialize::deserialize(self.state);
        }
        Ok(())
    }

    #[inline]
    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value> {
        if self.has_content { seed.deserialize(self.state) } else { no_content() }
    }

    #[inline]
    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value> {
        if self.has_content { self.state.deserialize_seq(visitor) } else { no_content() }
    }

    #[inline]
    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        if self.has_content {
            self.state.deserialize_struct("", fields, visitor)
        } else {
            no_content()
        }
    }
}

/// A class and what is of it, or two strings.
struct Parts<'s, 'b, 'de> {
    state: &'s mut State<'b, 'de>,
    parts: [Option<Place>; 2],
}

impl<'de> Parts<'_, '_, 'de> {
    fn next<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>> {
        let [first, second] = &mut self.parts;
        if let Some(place) = first.take().or_else(|| second.take()) {
            return seed.deserialize(Key::new(&*self.state, place)).map(Some);
        }
        seed.deserialize(&mut *self.state).map(Some)
    }
}

impl<'de> SeqAccess<'de> for Parts<'_, '_, 'de> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>> {
        self.next(seed)
    }
}
