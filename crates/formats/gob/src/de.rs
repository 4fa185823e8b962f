//! From the bytes of one value to any `Deserialize`.
//!
//! A type asks for what it wants and gets what the stream has, by the table of the README. Typed
//! requests are answered at once where the stream agrees; everything else goes through
//! `deserialize_any`, where serde's own visitors refuse what does not fit.
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::arithmetic_side_effects
)]
#![expect(
    clippy::inline_always,
    reason = "left to itself, the compiler calls what reads one field"
)]

use serde::de::value::{BorrowedStrDeserializer, StrDeserializer};
use serde::de::{
    self, Deserialize, DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer,
    MapAccess, SeqAccess, VariantAccess, Visitor,
};

use crate::read::{State, array_count, next_field, rust_name};
use crate::shape::go_name;
use crate::special::{COMPLEX_TOKEN, INTERFACE_TOKEN, OPAQUE_TOKEN};
use crate::time::TIME_TOKEN;
use crate::types::{
    BOOL, FLOAT, Field, FieldRole, INT, INT128_NAMES, Kind, OpaqueKind, Role, STRING,
    Slot, UINT,
};
use crate::value::{self, VALUE_TOKEN};
use crate::wire::Wire;
use crate::{Error, Result};

/// Where a value stands, which decides how an option is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Top level, or the content of an interface.
    Top,
    /// A field of a struct: an option is the value itself.
    Field,
    /// An element of a slice, an array or a map, or what a variant holds.
    Element,
}

/// One value of the stream.
///
/// Two words, so that it is passed in registers: through memory it costs more than what it says.
pub(crate) struct De<'s, 'a, 'de> {
    state: &'s mut State<'a, 'de>,
    /// The type, and above it the place.
    spot: u64,
}

/// Reads the value that `state` has begun, to its end.
pub(crate) fn read<'de, T: DeserializeSeed<'de>>(
    state: &mut State<'_, 'de>,
    slot: Slot,
    seed: T,
) -> Result<T::Value> {
    let value = seed
        .deserialize(De::new(state, slot, Place::Top))
        .map_err(|error| error.at(state.cursor.offset()))?;
    state.end()?;
    Ok(value)
}

impl<'s, 'a, 'de> De<'s, 'a, 'de> {
    #[inline(always)]
    fn new(state: &'s mut State<'a, 'de>, slot: Slot, place: Place) -> Self {
        Self { state, spot: u64::from(slot) | (place as u64) << 32 }
    }

    #[inline(always)]
    fn slot(&self) -> Slot {
        (self.spot & 0xffff_ffff) as Slot
    }

    #[inline(always)]
    fn place(&self) -> Place {
        match self.spot >> 32 {
            0 => Place::Top,
            1 => Place::Field,
            _ => Place::Element,
        }
    }

    #[inline]
    fn kind(&self) -> Kind {
        self.state.types.kind(self.slot())
    }

    #[cold]
    fn mismatch(&self, wanted: &'static str) -> Error {
        let found = describe(self.state.types.kind(self.slot()));
        Error::data(format!("expected {wanted}, found {found}"))
    }

    /// In Go's own table only the same kind will do.
    #[inline]
    fn strict(&self, wanted: &'static str, fits: impl Fn(Kind) -> bool) -> Result<()> {
        if self.state.strict { self.strictly(wanted, fits) } else { Ok(()) }
    }

    #[cold]
    fn strictly(&self, wanted: &'static str, fits: impl Fn(Kind) -> bool) -> Result<()> {
        if fits(self.kind()) { Ok(()) } else { Err(self.mismatch(wanted)) }
    }

    /// Hands the content of an interface to `with`; none is nil.
    fn through<T>(
        self,
        with: impl FnOnce(Option<(De<'_, 'a, 'de>, &'de str)>) -> Result<T>,
    ) -> Result<T> {
        let state = self.state;
        match state.interface()? {
            None => with(None),
            Some((name, slot)) => {
                state.levels.wrap()?;
                let value = with(Some((De::new(&mut *state, slot, Place::Top), name)))?;
                state.levels.unwrap();
                Ok(value)
            }
        }
    }

    fn visit_elements<V: Visitor<'de>>(
        state: &mut State<'a, 'de>,
        elem: Slot,
        count: u64,
        visitor: V,
    ) -> Result<V::Value> {
        // One result from beginning to end: what is made in parts and moved as a whole must wait.
        let mut result;
        if let Err(error) = state.levels.enter() {
            result = Err(error);
        } else {
            let hint = state.hint(count);
            let mut elements = Elements { state, elem, left: count, count, hint };
            result = visitor.visit_seq(&mut elements);
            let left = elements.left;
            state.levels.leave();
            if left > 0 && result.is_ok() {
                result = Err(left_over(left));
            }
        }
        result
    }

    fn visit_map<V: Visitor<'de>>(
        self,
        key: Slot,
        elem: Slot,
        visitor: V,
    ) -> Result<V::Value> {
        let state = self.state;
        let count = state.count(&[key, elem])?;
        state.levels.enter()?;
        let hint = state.hint(count);
        let mut entries = Entries { state, key, elem, left: count, index: 0, hint };
        let value = visitor.visit_map(&mut entries)?;
        for _ in 0..entries.left {
            state.skip(key)?;
            state.skip(elem)?;
        }
        state.levels.leave();
        Ok(value)
    }

    #[inline]
    fn fields(
        state: &'s mut State<'a, 'de>,
        start: u32,
        len: u32,
        any: bool,
    ) -> Fields<'s, 'a, 'de> {
        let zeros = state.zeros;
        Fields {
            state,
            start,
            len,
            next: 0,
            present: UNREAD,
            slot: 0,
            role: FieldRole::Plain,
            is_present: false,
            any,
            zeros,
        }
    }

    #[inline(always)]
    fn visit_fields<V: Visitor<'de>>(
        self,
        start: u32,
        len: u32,
        any: bool,
        visitor: V,
    ) -> Result<V::Value> {
        let state = self.state;
        let has_level = len > 0;
        let mut result;
        if has_level && let Err(error) = state.levels.enter() {
            result = Err(error);
        } else {
            let mut fields = De::fields(&mut *state, start, len, any);
            result = visitor.visit_map(&mut fields);
            // Mostly the target has taken all, and what it made is not looked at here.
            if !fields.is_at_end()
                && result.is_ok()
                && let Err(error) = fields.finish()
            {
                result = Err(error);
            }
            if has_level {
                state.levels.leave();
            }
        }
        result
    }

    /// A struct with the fields F0, F1, … as a sequence.
    fn visit_tuple_fields<V: Visitor<'de>>(
        self,
        start: u32,
        len: u32,
        any: bool,
        visitor: V,
    ) -> Result<V::Value> {
        let state = self.state;
        if len > 0 {
            state.levels.enter()?;
        }
        let mut fields = De::fields(&mut *state, start, len, any);
        fields.zeros = true;
        let value = visitor.visit_seq(&mut fields)?;
        no_more_fields(fields.state, start, fields.next, len)?;
        fields.finish()?;
        if len > 0 {
            state.levels.leave();
        }
        Ok(value)
    }

    /// `struct Option { Some T }`: an option that is no field.
    fn visit_option_struct<V: Visitor<'de>>(
        self,
        start: u32,
        visitor: V,
    ) -> Result<V::Value> {
        let state = self.state;
        if next_field(&mut state.cursor, 0, 1)? == 1 {
            return visitor.visit_none();
        }
        let slot = state.types.field(start, 0).map_or(0, |field| field.slot);
        state.levels.enter()?;
        let value = visitor.visit_some(De::new(&mut *state, slot, Place::Element))?;
        state.levels.leave();
        // Behind the only field there is the end, or the error that there is another.
        next_field(&mut state.cursor, 1, 1)?;
        Ok(value)
    }

    /// One field a variant, of which one is present.
    fn visit_enum_struct<V: Visitor<'de>>(
        self,
        start: u32,
        len: u32,
        variants: &[&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        let state = self.state;
        let number = next_field(&mut state.cursor, 0, len)?;
        let Some(field) = state.types.field(start, number).filter(|_| number < len)
        else {
            return Err(Error::data("expected a variant, found an enum without one"));
        };
        let slot = field.slot;
        let renamed = if state.go_names {
            let name = state.types.field_name(field);
            let is_it =
                |variant: &&&'static str| **variant == name || go_name(variant) == name;
            variants.iter().find(is_it).copied()
        } else {
            None
        };
        // A unit variant takes no level, as in other formats.
        let has_level = !state.types.is_unit(slot);
        if has_level {
            state.levels.enter()?;
        }
        let value = visitor
            .visit_enum(Variant {
                state: &mut *state,
                name: number,
                start,
                slot,
                renamed,
            })
            .map_err(|error| {
                let name = state.types.name_of(start, number);
                error.at(state.cursor.offset()).in_field(name)
            })?;
        if next_field(&mut state.cursor, number.saturating_add(1), len)? != len {
            return Err(Error::data("expected one variant, found two"));
        }
        if has_level {
            state.levels.leave();
        }
        Ok(value)
    }

    /// The enum in a shape that serde's buffer understands: the name of a variant without
    /// content, else a map of one entry.
    fn visit_enum_any<V: Visitor<'de>>(
        self,
        start: u32,
        len: u32,
        visitor: V,
    ) -> Result<V::Value> {
        // A copy of the head looks ahead.
        let mut cursor = self.state.cursor;
        let number = next_field(&mut cursor, 0, len)?;
        let field = self.state.types.field(start, number).filter(|_| number < len);
        let slot = field.map(|field| field.slot);
        let bare = slot.is_some_and(|slot| {
            self.state.types.is_unit(slot) && self.state.types.name(slot).is_empty()
        });
        match (field, slot) {
            (Some(field), Some(slot)) if bare => {
                let value: V::Value =
                    visitor.visit_str::<Error>(self.state.types.field_name(field))?;
                self.state.cursor = cursor;
                self.state.skip(slot)?;
                if next_field(&mut self.state.cursor, number.saturating_add(1), len)?
                    != len
                {
                    return Err(Error::data("expected one variant, found two"));
                }
                Ok(value)
            }
            _ => {
                let state = self.state;
                if len > 0 {
                    state.levels.enter()?;
                }
                let mut fields = De::fields(&mut *state, start, len, true);
                fields.zeros = false;
                let value = visitor.visit_map(&mut fields)?;
                fields.finish()?;
                if len > 0 {
                    state.levels.leave();
                }
                Ok(value)
            }
        }
    }

    /// What is asked for as a sequence and is no slice.
    #[inline(never)]
    fn unusual_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.kind() {
            Kind::Bytes => {
                let bytes = self.state.cursor.lend_bytes()?;
                visitor.visit_seq(ByteElements { bytes })
            }
            Kind::Array { .. } | Kind::Interface if self.state.strict => {
                Err(self.mismatch("a slice"))
            }
            Kind::Struct { start, len, .. } => {
                self.strict("a slice", |_| false)?;
                self.visit_tuple_fields(start, len, false, visitor)
            }
            Kind::Interface => self.through(|content| match content {
                Some((content, _)) => content.deserialize_seq(visitor),
                None => visitor.visit_unit(),
            }),
            _ => self.deserialize_any(visitor),
        }
    }

    /// What is asked for as a struct and is none, or a struct in Go's own table.
    #[inline(never)]
    fn unusual_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        wanted: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        match self.kind() {
            Kind::Struct { start, len, .. } => {
                if self.place() == Place::Top
                    && nothing_in_common(self.state, start, len, wanted)
                {
                    return Err(Error::data("expected a struct with a field in common"));
                }
                self.visit_fields(start, len, false, visitor)
            }
            Kind::Map { .. } | Kind::Interface if self.state.strict => {
                Err(self.mismatch("a struct"))
            }
            Kind::Interface => self.through(|content| match content {
                Some((content, _)) => content.deserialize_struct(name, wanted, visitor),
                None => visitor.visit_unit(),
            }),
            _ => self.deserialize_any(visitor),
        }
    }

    #[inline(always)]
    fn visit_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let bytes = self.state.cursor.lend_bytes()?;
        match self.state.text(bytes) {
            Some(text) => visitor.visit_borrowed_str(text),
            // Text that Go does not hold to be UTF-8 either.
            None => visitor.visit_borrowed_bytes(bytes),
        }
    }

    fn visit_complex<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let re = self.state.cursor.float()?;
        let im = self.state.cursor.float()?;
        let parts = [re, im].into_iter();
        visitor.visit_seq(de::value::SeqDeserializer::new(parts))
    }

    fn opaque_bytes(self, kind: OpaqueKind) -> Result<Vec<u8>> {
        Ok(value::opaque(self.state, self.slot(), kind)?.to_bytes())
    }

    /// An integer of 128 bits as `big.Int` writes it.
    fn big_int(self) -> Result<(bool, u128)> {
        let payload = self.state.cursor.lend_bytes()?;
        parse_big_int(payload)
            .ok_or_else(|| Error::data("expected an integer of at most 128 bits"))
    }

    fn visit_int128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let (negative, magnitude) = self.big_int()?;
        if !negative {
            return visitor.visit_u128(magnitude);
        }
        match 0_i128.checked_sub_unsigned(magnitude) {
            Some(value) => visitor.visit_i128(value),
            None => Err(Error::data("expected an integer of at most 128 bits")),
        }
    }

    /// Our own newtypes, by name.
    #[cold]
    #[inline(never)]
    fn special<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        match (name, self.kind()) {
            (VALUE_TOKEN, _) => {
                let value = value::read(self.state, self.slot())?;
                value::hand_over(value);
                visitor.visit_unit()
            }
            (COMPLEX_TOKEN, Kind::Complex) => self.visit_complex(visitor),
            (INTERFACE_TOKEN, Kind::Interface) => self.through(|content| match content {
                Some((content, name)) => {
                    visitor.visit_seq(Named { name: Some(name), content: Some(content) })
                }
                None => visitor.visit_seq(Named::<De<'_, '_, 'de>> {
                    name: Some(""),
                    content: None,
                }),
            }),
            (INTERFACE_TOKEN, _) => {
                self.strict("an interface", |_| false)?;
                visitor.visit_seq(Named { name: Some(""), content: Some(self) })
            }
            (COMPLEX_TOKEN | OPAQUE_TOKEN | TIME_TOKEN, Kind::Interface)
                if !self.state.strict =>
            {
                self.through(|content| match content {
                    Some((content, _)) => content.special(name, visitor),
                    None => visitor.visit_unit(),
                })
            }
            (OPAQUE_TOKEN, Kind::Opaque(kind)) => {
                let bytes = self.opaque_bytes(kind)?;
                visitor.visit_bytes(&bytes)
            }
            (TIME_TOKEN, Kind::Opaque(kind)) => {
                self.strict("a time", |_| kind == OpaqueKind::Gob)?;
                visitor.visit_borrowed_bytes(self.state.cursor.lend_bytes()?)
            }
            (COMPLEX_TOKEN, _) => Err(self.mismatch("a complex number")),
            (OPAQUE_TOKEN, _) => Err(self.mismatch("a value that encodes itself")),
            (TIME_TOKEN, _) => Err(self.mismatch("a time")),
            _ => self.newtype(visitor),
        }
    }

    #[inline]
    fn newtype<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let state = self.state;
        state.levels.wrap()?;
        let value = visitor.visit_newtype_struct(De { state: &mut *state, ..self })?;
        state.levels.unwrap();
        Ok(value)
    }
}

fn parse_big_int(payload: &[u8]) -> Option<(bool, u128)> {
    let (&head, magnitude) = payload.split_first()?;
    let negative = match head {
        2 => false,
        3 => true,
        _ => return None,
    };
    let zeros = magnitude.iter().take_while(|&&byte| byte == 0).count();
    let magnitude = magnitude.get(zeros..)?;
    let mut bytes = [0; 16];
    let start = bytes.len().checked_sub(magnitude.len())?;
    bytes.get_mut(start..)?.copy_from_slice(magnitude);
    Some((negative, u128::from_be_bytes(bytes)))
}

/// What a kind is called in messages.
fn describe(kind: Kind) -> &'static str {
    match kind {
        Kind::Undefined => "an undefined type",
        Kind::Bool => "a bool",
        Kind::Int => "an int",
        Kind::Uint => "a uint",
        Kind::Float => "a float",
        Kind::Bytes => "bytes",
        Kind::String => "a string",
        Kind::Complex => "a complex number",
        Kind::Interface => "an interface",
        Kind::Array { .. } => "an array",
        Kind::Slice { .. } => "a slice",
        Kind::Map { .. } => "a map",
        Kind::Struct { .. } => "a struct",
        Kind::Opaque(_) => "a value that encodes itself",
    }
}

#[cold]
fn left_over(count: u64) -> Error {
    Error::data(format!("expected fewer elements, found {count} more"))
}

/// Checks that a tuple took all fields of its struct, but for remarks.
fn no_more_fields(state: &State<'_, '_>, start: u32, next: u32, len: u32) -> Result<()> {
    let left = (next..len)
        .filter_map(|index| state.types.field(start, index))
        .filter(|field| field.role != FieldRole::Hidden)
        .count();
    match left {
        0 => Ok(()),
        _ => Err(Error::data(format!("expected fewer elements, found {left} more"))),
    }
}

/// Whether Go refuses to send one struct into the other: both have fields, and none in common.
fn nothing_in_common(
    state: &State<'_, '_>,
    start: u32,
    len: u32,
    wanted: &[&str],
) -> bool {
    let has = |index| {
        state
            .types
            .field(start, index)
            .is_some_and(|field| wanted.contains(&state.types.field_name(field)))
    };
    len > 0 && !wanted.is_empty() && !(0..len).any(has)
}

macro_rules! typed {
    ($($method:ident $visit:ident($value:ty) if $slot:ident $pattern:pat => $take:ident, $wanted:literal;)*) => {
        $(#[inline]
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
            if self.slot() == $slot {
                let value = self.state.cursor.$take()?;
                return visitor.$visit(value);
            }
            self.strict($wanted, |kind| matches!(kind, $pattern))?;
            self.deserialize_any(visitor)
        })*
    };
}

impl<'de> Deserializer<'de> for De<'_, '_, 'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.kind() {
            Kind::Undefined => {
                Err(self.state.cursor.wrong("expected a type that is defined"))
            }
            Kind::Bool => visitor.visit_bool(self.state.cursor.uint()? != 0),
            Kind::Int => visitor.visit_i64(self.state.cursor.int()?),
            Kind::Uint => visitor.visit_u64(self.state.cursor.uint()?),
            Kind::Float => visitor.visit_f64(self.state.cursor.float()?),
            Kind::String => self.visit_str(visitor),
            Kind::Bytes => visitor.visit_borrowed_bytes(self.state.cursor.lend_bytes()?),
            Kind::Complex => self.visit_complex(visitor),
            Kind::Opaque(_)
                if INT128_NAMES.contains(&self.state.types.name(self.slot())) =>
            {
                self.visit_int128(visitor)
            }
            Kind::Opaque(_) => {
                visitor.visit_borrowed_bytes(self.state.cursor.lend_bytes()?)
            }
            Kind::Interface => self.through(|content| match content {
                Some((content, _)) => content.deserialize_any(visitor),
                None => visitor.visit_unit(),
            }),
            Kind::Slice { elem } => {
                let count = self.state.count(&[elem])?;
                De::visit_elements(self.state, elem, count, visitor)
            }
            Kind::Array { elem, len } => {
                let count =
                    array_count(&mut self.state.cursor, self.state.types, elem, len)?;
                De::visit_elements(self.state, elem, count, visitor)
            }
            Kind::Map { key, elem } => self.visit_map(key, elem, visitor),
            Kind::Struct { start, role: Role::Option, .. }
                if self.place() != Place::Field =>
            {
                self.visit_option_struct(start, visitor)
            }
            Kind::Struct { start, len, role: Role::Enum } => {
                self.visit_enum_any(start, len, visitor)
            }
            Kind::Struct { start, len, .. } if is_tuple(self.state, start, len) => {
                self.visit_tuple_fields(start, len, true, visitor)
            }
            Kind::Struct { start, len, .. } => {
                self.visit_fields(start, len, true, visitor)
            }
        }
    }

    typed! {
        deserialize_i8 visit_i64(i64) if INT Kind::Int => int, "a signed integer";
        deserialize_i16 visit_i64(i64) if INT Kind::Int => int, "a signed integer";
        deserialize_i32 visit_i64(i64) if INT Kind::Int => int, "a signed integer";
        deserialize_i64 visit_i64(i64) if INT Kind::Int => int, "a signed integer";
        deserialize_u8 visit_u64(u64) if UINT Kind::Uint => uint, "an unsigned integer";
        deserialize_u16 visit_u64(u64) if UINT Kind::Uint => uint, "an unsigned integer";
        deserialize_u32 visit_u64(u64) if UINT Kind::Uint => uint, "an unsigned integer";
        deserialize_u64 visit_u64(u64) if UINT Kind::Uint => uint, "an unsigned integer";
        deserialize_f64 visit_f64(f64) if FLOAT Kind::Float => float, "a float";
    }

    #[inline]
    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        if self.slot() == BOOL {
            return visitor.visit_bool(self.state.cursor.uint()? != 0);
        }
        self.strict("a bool", |_| false)?;
        self.deserialize_any(visitor)
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        if self.kind() != Kind::Float {
            self.strict("a float", |kind| kind == Kind::Float)?;
            return self.deserialize_any(visitor);
        }
        let value = self.state.cursor.float()?;
        if value.is_finite() && value.abs() > f64::from(f32::MAX) {
            return Err(Error::data(format!(
                "expected a float of 32 bits, found {value}"
            )));
        }
        visitor.visit_f64(value)
    }

    fn deserialize_i128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.kind() {
            Kind::Opaque(_) => self.visit_int128(visitor),
            Kind::Interface if self.state.strict => {
                Err(self.mismatch("an integer of 128 bits"))
            }
            Kind::Interface => self.through(|content| match content {
                Some((content, _)) => content.deserialize_i128(visitor),
                None => visitor.visit_unit(),
            }),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_u128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.deserialize_i128(visitor)
    }

    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.kind() {
            // Go's rune is an int.
            Kind::Int => {
                let value = self.state.cursor.int()?;
                match u32::try_from(value).ok().and_then(char::from_u32) {
                    Some(value) => visitor.visit_char(value),
                    None => {
                        Err(Error::data(format!("expected a character, found {value}")))
                    }
                }
            }
            _ => self.deserialize_any(visitor),
        }
    }

    #[inline]
    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        if self.slot() == STRING {
            return self.visit_str(visitor);
        }
        self.strict("a string", |_| false)?;
        self.deserialize_any(visitor)
    }

    #[inline]
    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.deserialize_str(visitor)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.strict("bytes", |kind| kind == Kind::Bytes)?;
        match self.kind() {
            Kind::Bytes | Kind::String | Kind::Opaque(_) => {
                visitor.visit_borrowed_bytes(self.state.cursor.lend_bytes()?)
            }
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.deserialize_bytes(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.kind() {
            Kind::Struct { start, role: Role::Option | Role::MaybeOption, .. }
                if self.place() != Place::Field =>
            {
                self.visit_option_struct(start, visitor)
            }
            kind => {
                let Self { state, spot } = self;
                if kind == Kind::Interface {
                    let mut ahead = state.cursor;
                    if ahead.uint()? == 0 {
                        state.cursor = ahead;
                        return visitor.visit_none();
                    }
                }
                state.levels.wrap()?;
                let value = visitor.visit_some(De { state: &mut *state, spot })?;
                state.levels.unwrap();
                Ok(value)
            }
        }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.kind() {
            Kind::Struct { .. } => {
                self.state.skip(self.slot())?;
                visitor.visit_unit()
            }
            Kind::Interface if self.state.strict => {
                Err(self.mismatch("a struct without fields"))
            }
            Kind::Interface => self.through(|content| match content {
                Some((content, _)) => content.deserialize_unit(visitor),
                None => visitor.visit_unit(),
            }),
            _ => Err(self.mismatch("a struct without fields")),
        }
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        self.deserialize_unit(visitor)
    }

    #[inline]
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        if name.as_bytes().first() == Some(&b'$') {
            return self.special(name, visitor);
        }
        self.newtype(visitor)
    }

    #[inline]
    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.kind() {
            Kind::Slice { elem } => {
                let count = self.state.count(&[elem])?;
                De::visit_elements(self.state, elem, count, visitor)
            }
            _ => self.unusual_seq(visitor),
        }
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        wanted: usize,
        visitor: V,
    ) -> Result<V::Value> {
        if let Kind::Slice { .. } | Kind::Bytes = self.kind() {
            self.strict("an array", |_| false)?;
            // Looked at before, since the type may not notice what is left over.
            let count = { self.state.cursor }.uint()?;
            if count != wanted as u64 {
                let text = format!("expected {wanted} elements, found {count}");
                return Err(Error::data(text));
            }
        }
        match self.kind() {
            Kind::Array { elem, len } => {
                let count =
                    array_count(&mut self.state.cursor, self.state.types, elem, len)?;
                if count != wanted as u64 {
                    let text = format!("expected {wanted} elements, found {count}");
                    return Err(Error::data(text));
                }
                De::visit_elements(self.state, elem, count, visitor)
            }
            Kind::Interface if self.state.strict => Err(self.mismatch("an array")),
            Kind::Interface => self.through(|content| match content {
                Some((content, _)) => content.deserialize_tuple(wanted, visitor),
                None => visitor.visit_unit(),
            }),
            _ => self.deserialize_seq(visitor),
        }
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        len: usize,
        visitor: V,
    ) -> Result<V::Value> {
        self.deserialize_tuple(len, visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.kind() {
            Kind::Map { key, elem } => self.visit_map(key, elem, visitor),
            Kind::Struct { .. } | Kind::Interface if self.state.strict => {
                Err(self.mismatch("a map"))
            }
            Kind::Struct { start, len, role } if role != Role::Enum => {
                self.visit_fields(start, len, true, visitor)
            }
            Kind::Interface => self.through(|content| match content {
                Some((content, _)) => content.deserialize_map(visitor),
                None => visitor.visit_unit(),
            }),
            _ => self.deserialize_any(visitor),
        }
    }

    #[inline]
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        wanted: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        match self.kind() {
            Kind::Struct { start, len, .. } if !self.state.strict => {
                self.visit_fields(start, len, false, visitor)
            }
            _ => self.unusual_struct(name, wanted, visitor),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        match self.kind() {
            Kind::Struct { start, len, .. } => {
                self.visit_enum_struct(start, len, variants, visitor)
            }
            Kind::String => {
                let bytes = self.state.cursor.lend_bytes()?;
                let name = std::str::from_utf8(bytes).map_err(|_| {
                    Error::data("expected the name of a variant in UTF-8")
                })?;
                visitor.visit_enum(BorrowedStrDeserializer::new(name))
            }
            Kind::Uint => {
                let index = self.state.cursor.uint()?;
                let index = u32::try_from(index)
                    .map_err(|_| Error::data("expected the number of a variant"))?;
                visitor.visit_enum(index.into_deserializer())
            }
            Kind::Interface if self.state.strict => Err(self.mismatch("an enum")),
            Kind::Interface => self.through(|content| match content {
                // Go's way: the name of the type in the interface picks the variant, unless
                // what is inside is an enum of ours or a bare name.
                Some((content, name)) => {
                    let last = name.rsplit_once('.').map_or(name, |(_, last)| last);
                    if variants.contains(&last) || variants.contains(&name) {
                        let last = if variants.contains(&name) { name } else { last };
                        visitor.visit_enum(NamedVariant { name: last, content })
                    } else {
                        content.deserialize_enum("", variants, visitor)
                    }
                }
                None => visitor.visit_unit(),
            }),
            Kind::Map { key, elem } => {
                let _ = name;
                let state = self.state;
                let count = state.count(&[key, elem])?;
                if count != 1 {
                    return Err(Error::data("expected a map of one entry for an enum"));
                }
                state.levels.enter()?;
                let mut entries =
                    Entries { state, key, elem, left: count, index: 0, hint: 1 };
                let access = de::value::MapAccessDeserializer::new(&mut entries);
                let value = visitor.visit_enum(access)?;
                state.levels.leave();
                Ok(value)
            }
            _ => Err(self.mismatch("an enum")),
        }
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.deserialize_str(visitor)
    }

    #[inline]
    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.state.skip(self.slot())?;
        visitor.visit_unit()
    }

    fn is_human_readable(&self) -> bool {
        false
    }
}

/// Whether the fields are F0, F1, … as a tuple's are. Only the first three are looked at: this
/// is asked for each struct of unknown type.
fn is_tuple(state: &State<'_, '_>, start: u32, len: u32) -> bool {
    len > 0
        && (0..len).zip(["F0", "F1", "F2"]).all(|(index, name)| {
            state.types.field(start, index).is_some_and(|field| {
                field.role == FieldRole::Hidden || state.types.field_name(field) == name
            })
        })
}

/// The elements of a slice or an array.
struct Elements<'s, 'a, 'de> {
    state: &'s mut State<'a, 'de>,
    elem: Slot,
    left: u64,
    count: u64,
    hint: usize,
}

impl Elements<'_, '_, '_> {
    #[cold]
    #[inline(never)]
    fn failed(&self, error: Error) -> Error {
        let index = self.count.wrapping_sub(self.left).wrapping_sub(1);
        error
            .at(self.state.cursor.offset())
            .in_element(usize::try_from(index).unwrap_or(usize::MAX))
    }
}

impl<'de> SeqAccess<'de> for &mut Elements<'_, '_, 'de> {
    type Error = Error;

    #[inline(always)]
    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>> {
        let Some(left) = self.left.checked_sub(1) else { return Ok(None) };
        self.left = left;
        match seed.deserialize(De::new(&mut *self.state, self.elem, Place::Element)) {
            Ok(value) => Ok(Some(value)),
            Err(error) => Err(self.failed(error)),
        }
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.hint)
    }
}

/// Bytes as a sequence of numbers.
struct ByteElements<'de> {
    bytes: &'de [u8],
}

impl<'de> SeqAccess<'de> for ByteElements<'de> {
    type Error = Error;

    #[inline(always)]
    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>> {
        let Some((&byte, bytes)) = self.bytes.split_first() else { return Ok(None) };
        self.bytes = bytes;
        seed.deserialize(byte.into_deserializer()).map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.bytes.len())
    }
}

/// The entries of a map.
struct Entries<'s, 'a, 'de> {
    state: &'s mut State<'a, 'de>,
    key: Slot,
    elem: Slot,
    left: u64,
    index: usize,
    hint: usize,
}

impl<'de> Entries<'_, '_, 'de> {
    fn part<T: DeserializeSeed<'de>>(&mut self, slot: Slot, seed: T) -> Result<T::Value> {
        seed.deserialize(De::new(&mut *self.state, slot, Place::Element))
            .map_err(|error| error.at(self.state.cursor.offset()).in_element(self.index))
    }
}

impl<'de> MapAccess<'de> for &mut Entries<'_, '_, 'de> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>> {
        let Some(left) = self.left.checked_sub(1) else { return Ok(None) };
        let key = self.part(self.key, seed)?;
        self.left = left;
        Ok(Some(key))
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value> {
        let value = self.part(self.elem, seed)?;
        self.index = self.index.wrapping_add(1);
        Ok(value)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.hint)
    }
}

/// The fields of a struct, those that the value leaves out among them.
struct Fields<'s, 'a, 'de> {
    state: &'s mut State<'a, 'de>,
    start: u32,
    len: u32,
    /// The number of the next field to hand out.
    next: u32,
    /// The number of the next field that is present, `len` at the end; [`UNREAD`] before it is
    /// known.
    present: u32,
    /// The field that was handed out last, the one before `next`: its type, its role, and
    /// whether it is present.
    slot: Slot,
    role: FieldRole,
    is_present: bool,
    /// Whether the target takes fields of any name and type.
    any: bool,
    /// Whether left-out fields are handed out as zero.
    zeros: bool,
}

/// No field has this number.
const UNREAD: u32 = u32::MAX;

impl<'de> Fields<'_, '_, 'de> {
    /// Goes to the next field to hand out; false if there is none.
    #[inline(never)]
    fn advance(&mut self) -> Result<bool> {
        if self.present == UNREAD {
            self.present = next_field(&mut self.state.cursor, self.next, self.len)?;
        }
        while self.zeros && self.next < self.present {
            let Some(field) = self.state.types.field(self.start, self.next) else {
                break;
            };
            (self.slot, self.role) = (field.slot, field.role);
            self.is_present = false;
            self.next = self.next.wrapping_add(1);
            charge_zero(self.state, self.any)?;
            if !matches!(self.role, FieldRole::Hidden | FieldRole::Skippable) {
                return Ok(true);
            }
        }
        let number = self.present;
        let field = self.state.types.field(self.start, number);
        let Some(field) = field.filter(|_| number < self.len) else {
            self.next = self.len;
            return Ok(false);
        };
        (self.slot, self.role) = (field.slot, field.role);
        self.is_present = true;
        self.next = number.wrapping_add(1);
        self.present = UNREAD;
        Ok(true)
    }

    /// Goes to the next field that has a name for the target; false if there is none.
    #[inline(never)]
    fn advance_to_named(&mut self) -> Result<bool> {
        while self.advance()? {
            if !self.is_present || self.role != FieldRole::Hidden {
                return Ok(true);
            }
            self.state.skip(self.slot)?;
        }
        Ok(false)
    }

    #[inline(always)]
    fn value<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value> {
        let state = &mut *self.state;
        let (slot, role) = (self.slot, self.role);
        let value = if self.is_present {
            seed.deserialize(De::new(state, slot, Place::Field))
        } else {
            seed.deserialize(Zero { state, slot, role, any: self.any })
        };
        match value {
            Ok(value) => Ok(value),
            Err(error) => Err(self.failed(error)),
        }
    }

    #[cold]
    #[inline(never)]
    fn failed(&self, error: Error) -> Error {
        let name = self.state.types.name_of(self.start, self.next.wrapping_sub(1));
        error.at(self.state.cursor.offset()).in_field(name)
    }

    /// Whether the end of the struct was read.
    #[inline(always)]
    fn is_at_end(&self) -> bool {
        self.next == self.len && self.present == self.len
    }

    /// Passes over what the target left.
    #[inline(never)]
    fn finish(mut self) -> Result<()> {
        if self.is_at_end() {
            return Ok(());
        }
        self.zeros = false;
        while self.advance()? {
            self.state.skip(self.slot)?;
        }
        Ok(())
    }
}

#[inline(always)]
fn charge_zero(state: &mut State<'_, '_>, any: bool) -> Result<()> {
    let left = if any { &mut state.any_zeros } else { &mut state.typed_zeros };
    match left.checked_sub(1) {
        Some(less) => {
            *left = less;
            Ok(())
        }
        None => Err(Error::limit("expected fewer fields that are left out of a value")),
    }
}

impl<'de> MapAccess<'de> for &mut Fields<'_, '_, 'de> {
    type Error = Error;

    #[inline(always)]
    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>> {
        // Mostly it is the next field, and present, or the end behind the last.
        let name = if self.next < self.len
            && let Some(field) = self.state.types.field(self.start, self.next)
            && let Some(name) = field.known_name()
            && (self.present == self.next
                || self.present == UNREAD && self.state.cursor.take_if(1))
        {
            (self.slot, self.role) = (field.slot, field.role);
            self.is_present = true;
            self.next = self.next.wrapping_add(1);
            self.present = UNREAD;
            name
        } else if self.next == self.len
            && self.present == UNREAD
            && self.state.cursor.take_if(0)
        {
            self.present = self.len;
            return Ok(None);
        } else if !self.advance_to_named()? {
            return Ok(None);
        } else if self.state.go_names {
            let number = self.next.wrapping_sub(1);
            self.state.types.learn_renamed(self.start, number, rust_name)
        } else {
            self.state.types.learn_name(self.start, self.next.wrapping_sub(1))
        };
        seed.deserialize(StrDeserializer::new(name)).map(Some)
    }

    #[inline(always)]
    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value> {
        self.value(seed)
    }

    fn size_hint(&self) -> Option<usize> {
        None
    }
}

impl<'de> SeqAccess<'de> for &mut Fields<'_, '_, 'de> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>> {
        if self.advance_to_named()? { self.value(seed).map(Some) } else { Ok(None) }
    }
}

/// A field that the value leaves out because it is zero.
struct Zero<'s, 'a, 'de> {
    state: &'s mut State<'a, 'de>,
    slot: Slot,
    role: FieldRole,
    any: bool,
}

impl<'a, 'de> Zero<'_, 'a, 'de> {
    fn kind(&self) -> Kind {
        self.state.types.kind(self.slot)
    }

    fn fields<T>(
        self,
        start: u32,
        len: u32,
        with: impl FnOnce(ZeroFields<'_, 'a, 'de>) -> Result<T>,
    ) -> Result<T> {
        let state = self.state;
        state.levels.enter()?;
        let fields =
            ZeroFields { state: &mut *state, start, len, next: 0, any: self.any };
        let value = with(fields)?;
        state.levels.leave();
        Ok(value)
    }

    fn is_hole(&self) -> bool {
        matches!(
            self.role,
            FieldRole::Unknown | FieldRole::EmptySeq | FieldRole::EmptyMap
        )
    }

    #[cold]
    fn mismatch(&self, wanted: &'static str) -> Error {
        let found = describe(self.kind());
        Error::data(format!("expected {wanted}, found {found} that is left out"))
    }
}

macro_rules! zero_strict {
    ($($method:ident $pattern:pat, $wanted:literal;)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
            if self.state.strict && !self.is_hole() && !matches!(self.kind(), $pattern) {
                return Err(self.mismatch($wanted));
            }
            self.deserialize_any(visitor)
        })*
    };
}

impl<'de> Deserializer<'de> for Zero<'_, '_, '_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.role {
            FieldRole::Optional if self.any => return visitor.visit_none(),
            FieldRole::Unknown => return visitor.visit_unit(),
            FieldRole::EmptySeq => {
                let none: [(); 0] = [];
                return visitor
                    .visit_seq(de::value::SeqDeserializer::new(none.into_iter()));
            }
            FieldRole::EmptyMap => {
                let none: [((), ()); 0] = [];
                return visitor
                    .visit_map(de::value::MapDeserializer::new(none.into_iter()));
            }
            _ => {}
        }
        match self.kind() {
            Kind::Bool => visitor.visit_bool(false),
            Kind::Int => visitor.visit_i64(0),
            Kind::Uint => visitor.visit_u64(0),
            Kind::Float => visitor.visit_f64(0.0),
            Kind::String => visitor.visit_borrowed_str(""),
            Kind::Bytes => visitor.visit_borrowed_bytes(&[]),
            Kind::Complex => {
                let parts = [0.0, 0.0].into_iter();
                visitor.visit_seq(de::value::SeqDeserializer::new(parts))
            }
            Kind::Slice { .. } => {
                let none: [(); 0] = [];
                visitor.visit_seq(de::value::SeqDeserializer::new(none.into_iter()))
            }
            Kind::Map { .. } => {
                let none: [((), ()); 0] = [];
                visitor.visit_map(de::value::MapDeserializer::new(none.into_iter()))
            }
            Kind::Opaque(_)
                if INT128_NAMES.contains(&self.state.types.name(self.slot)) =>
            {
                visitor.visit_u64(0)
            }
            Kind::Struct { start, len, role: Role::Plain | Role::MaybeOption }
                if !self.any =>
            {
                self.fields(start, len, |mut fields| visitor.visit_map(&mut fields))
            }
            Kind::Struct { start, len, role: Role::Plain | Role::MaybeOption }
                if is_shallow(self.state, start, len) =>
            {
                self.fields(start, len, |mut fields| visitor.visit_map(&mut fields))
            }
            Kind::Array { elem, len } if !self.any => {
                visitor.visit_seq(ZeroElements { state: self.state, elem, left: len })
            }
            // Nil, or what cannot be said without an end.
            _ => visitor.visit_unit(),
        }
    }

    zero_strict! {
        deserialize_bool Kind::Bool, "a bool";
        deserialize_i8 Kind::Int, "a signed integer";
        deserialize_i16 Kind::Int, "a signed integer";
        deserialize_i32 Kind::Int, "a signed integer";
        deserialize_i64 Kind::Int, "a signed integer";
        deserialize_u8 Kind::Uint, "an unsigned integer";
        deserialize_u16 Kind::Uint, "an unsigned integer";
        deserialize_u32 Kind::Uint, "an unsigned integer";
        deserialize_u64 Kind::Uint, "an unsigned integer";
        deserialize_f32 Kind::Float, "a float";
        deserialize_f64 Kind::Float, "a float";
        deserialize_str Kind::String, "a string";
        deserialize_string Kind::String, "a string";
        deserialize_map Kind::Map { .. }, "a map";
        deserialize_identifier Kind::String, "a string";
    }

    fn deserialize_i128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.kind() {
            Kind::Opaque(_) => visitor.visit_u64(0),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_u128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.deserialize_i128(visitor)
    }

    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.kind() {
            Kind::Int => visitor.visit_char('\0'),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.kind() {
            _ if self.is_hole() => visitor.visit_borrowed_bytes(&[]),
            Kind::Bytes | Kind::Opaque(_) => visitor.visit_borrowed_bytes(&[]),
            Kind::String if !self.state.strict => visitor.visit_borrowed_bytes(&[]),
            _ => Err(self.mismatch("bytes")),
        }
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.deserialize_bytes(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_none()
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_unit()
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        visitor.visit_unit()
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        match name {
            TIME_TOKEN if matches!(self.kind(), Kind::Opaque(_)) => {
                let (payload, used) = crate::Time::ZERO.payload();
                visitor.visit_bytes(payload.get(..used).unwrap_or_default())
            }
            OPAQUE_TOKEN if let Kind::Opaque(kind) = self.kind() => {
                let name = self.state.types.name(self.slot).into();
                let zero = crate::Opaque { kind, name, payload: Vec::new() };
                visitor.visit_bytes(&zero.to_bytes())
            }
            INTERFACE_TOKEN if self.state.strict && self.kind() != Kind::Interface => {
                Err(self.mismatch("an interface"))
            }
            INTERFACE_TOKEN => {
                visitor.visit_seq(Named::<Self> { name: Some(""), content: Some(self) })
            }
            VALUE_TOKEN => visitor.visit_unit(),
            COMPLEX_TOKEN => self.deserialize_any(visitor),
            _ => {
                let state = self.state;
                state.levels.wrap()?;
                let value =
                    visitor.visit_newtype_struct(Zero { state: &mut *state, ..self })?;
                state.levels.unwrap();
                Ok(value)
            }
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        if self.is_hole() {
            return self.deserialize_any(visitor);
        }
        match self.kind() {
            Kind::Bytes => {
                let none: [u8; 0] = [];
                visitor.visit_seq(de::value::SeqDeserializer::new(none.into_iter()))
            }
            Kind::Array { .. } | Kind::Struct { .. } if self.state.strict => {
                Err(self.mismatch("a slice"))
            }
            Kind::Array { elem, len } => {
                visitor.visit_seq(ZeroElements { state: self.state, elem, left: len })
            }
            Kind::Struct { start, len, .. } => self.fields(start, len, |mut fields| {
                let value = visitor.visit_seq(&mut fields)?;
                no_more_fields(fields.state, start, fields.next, len)?;
                Ok(value)
            }),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        wanted: usize,
        visitor: V,
    ) -> Result<V::Value> {
        match self.kind() {
            _ if self.is_hole() => self.deserialize_any(visitor),
            Kind::Array { elem, len } if len as usize == wanted => {
                visitor.visit_seq(ZeroElements { state: self.state, elem, left: len })
            }
            Kind::Array { .. } => Err(self.mismatch("another number of elements")),
            Kind::Slice { .. } | Kind::Bytes if self.state.strict => {
                Err(self.mismatch("an array"))
            }
            _ => self.deserialize_seq(visitor),
        }
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        len: usize,
        visitor: V,
    ) -> Result<V::Value> {
        self.deserialize_tuple(len, visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _wanted: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        match self.kind() {
            _ if self.is_hole() => self.deserialize_any(visitor),
            Kind::Struct { start, len, .. } => {
                self.fields(start, len, |mut fields| visitor.visit_map(&mut fields))
            }
            Kind::Map { .. } if self.state.strict => Err(self.mismatch("a struct")),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        _visitor: V,
    ) -> Result<V::Value> {
        Err(self.mismatch("a variant"))
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_unit()
    }

    fn is_human_readable(&self) -> bool {
        false
    }
}

/// Whether a struct holds no struct: then its zero can be spelled out for a target that takes
/// anything, and neither recursion nor a tree of types can make it long.
fn is_shallow(state: &State<'_, '_>, start: u32, len: u32) -> bool {
    len <= 64
        && (0..len).all(|index| {
            state.types.field(start, index).is_some_and(|field| {
                !matches!(state.types.kind(field.slot), Kind::Struct { .. })
            })
        })
}

/// The fields of a struct that is left out.
struct ZeroFields<'s, 'a, 'de> {
    state: &'s mut State<'a, 'de>,
    start: u32,
    len: u32,
    next: u32,
    any: bool,
}

impl ZeroFields<'_, '_, '_> {
    fn field(&self) -> Option<&Field> {
        self.state.types.field(self.start, self.next).filter(|_| self.next < self.len)
    }

    fn value<'de, T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value> {
        let (slot, role) =
            self.field().map_or((0, FieldRole::Plain), |field| (field.slot, field.role));
        let zero = Zero { state: &mut *self.state, slot, role, any: self.any };
        let value = seed.deserialize(zero).map_err(|error| {
            error.in_field(self.state.types.name_of(self.start, self.next))
        })?;
        self.next = self.next.wrapping_add(1);
        Ok(value)
    }
}

impl<'de> MapAccess<'de> for &mut ZeroFields<'_, '_, '_> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>> {
        loop {
            let Some(field) = self.field() else { return Ok(None) };
            if matches!(field.role, FieldRole::Hidden | FieldRole::Skippable) {
                self.next = self.next.wrapping_add(1);
                continue;
            }
            charge_zero(self.state, self.any)?;
            let name = self.state.types.name_of(self.start, self.next);
            if self.state.go_names {
                return seed.deserialize(rust_name(name).into_deserializer()).map(Some);
            }
            return seed.deserialize(StrDeserializer::new(name)).map(Some);
        }
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value> {
        self.value(seed)
    }
}

impl<'de> SeqAccess<'de> for &mut ZeroFields<'_, '_, '_> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>> {
        while self.field().is_some_and(|field| field.role == FieldRole::Hidden) {
            self.next = self.next.wrapping_add(1);
        }
        if self.field().is_none() {
            return Ok(None);
        }
        charge_zero(self.state, self.any)?;
        self.value(seed).map(Some)
    }
}

/// The elements of an array that is left out.
struct ZeroElements<'s, 'a, 'de> {
    state: &'s mut State<'a, 'de>,
    elem: Slot,
    left: u32,
}

impl<'de> SeqAccess<'de> for ZeroElements<'_, '_, '_> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>> {
        let Some(left) = self.left.checked_sub(1) else { return Ok(None) };
        self.left = left;
        charge_zero(self.state, false)?;
        self.state.levels.enter()?;
        let zero = Zero {
            state: &mut *self.state,
            slot: self.elem,
            role: FieldRole::Plain,
            any: false,
        };
        let value = seed.deserialize(zero)?;
        self.state.levels.leave();
        Ok(Some(value))
    }
}

/// An interface with its name, as a sequence of two.
struct Named<'n, D> {
    name: Option<&'n str>,
    content: Option<D>,
}

impl<'de, D: Deserializer<'de, Error = Error>> SeqAccess<'de> for Named<'_, D> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>> {
        if let Some(name) = self.name.take() {
            return seed.deserialize(StrDeserializer::new(name)).map(Some);
        }
        match self.content.take() {
            Some(content) => seed.deserialize(content).map(Some),
            None => seed.deserialize(().into_deserializer()).map(Some),
        }
    }
}

/// The variant of an enum that is a struct of its variants.
struct Variant<'s, 'a, 'de> {
    state: &'s mut State<'a, 'de>,
    start: u32,
    name: u32,
    slot: Slot,
    /// The name in Rust, where it is another.
    renamed: Option<&'static str>,
}

impl<'s, 'a, 'de> EnumAccess<'de> for Variant<'s, 'a, 'de> {
    type Error = Error;
    type Variant = De<'s, 'a, 'de>;

    fn variant_seed<T: DeserializeSeed<'de>>(
        self,
        seed: T,
    ) -> Result<(T::Value, De<'s, 'a, 'de>)> {
        let name = match self.renamed {
            Some(name) => name,
            None => self.state.types.name_of(self.start, self.name),
        };
        let value = seed.deserialize(StrDeserializer::<Error>::new(name))?;
        Ok((value, De::new(self.state, self.slot, Place::Element)))
    }
}

/// The variant of an enum that is picked by the name of an interface's type.
struct NamedVariant<'n, 's, 'a, 'de> {
    name: &'n str,
    content: De<'s, 'a, 'de>,
}

impl<'s, 'a, 'de> EnumAccess<'de> for NamedVariant<'_, 's, 'a, 'de> {
    type Error = Error;
    type Variant = De<'s, 'a, 'de>;

    fn variant_seed<T: DeserializeSeed<'de>>(
        self,
        seed: T,
    ) -> Result<(T::Value, De<'s, 'a, 'de>)> {
        let value = seed.deserialize(StrDeserializer::<Error>::new(self.name))?;
        Ok((value, self.content))
    }
}

impl<'de> VariantAccess<'de> for De<'_, '_, 'de> {
    type Error = Error;

    fn unit_variant(self) -> Result<()> {
        <()>::deserialize(self)
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value> {
        self.deserialize_tuple(len, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        self.deserialize_struct("", fields, visitor)
    }
}
