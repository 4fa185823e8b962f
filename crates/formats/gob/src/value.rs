//! [`Value`]: any value of a stream, with the names that the stream gives.
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::arithmetic_side_effects
)]

use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};

use crate::read::{State, array_count, next_field};
use crate::types::{Kind, OpaqueKind, Role, Slot, StructType};
use crate::wire::Wire;
use crate::{Complex, Opaque, Result};

/// Any value of a stream, with the names that the stream gives.
///
/// It holds what the bytes say and no more: a struct has the fields that were sent, since a
/// sender leaves out those that are zero; integers have no width. Names and field lists are
/// shared between values of one type.
///
/// From other formats it takes what they have: text, numbers, sequences, maps.
///
/// ```
/// use wiremark_gob::{Value, from_slice, to_vec};
///
/// #[derive(serde::Serialize)]
/// #[serde(rename_all = "PascalCase")]
/// struct Point { x: i32, y: i32 }
///
/// let value: Value = from_slice(&to_vec(&Point { x: 22, y: 0 })?)?;
/// let Value::Struct(point) = &value else { panic!("{value:?}") };
/// assert_eq!(point.name(), "Point");
/// assert_eq!(point.get("X"), Some(&Value::Int(22)));
/// // A zero that stands in a field is not written.
/// assert_eq!(point.get("Y"), None);
/// # Ok::<(), wiremark_gob::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// True or false.
    Bool(bool),
    /// A signed integer of any width.
    Int(i64),
    /// An unsigned integer of any width.
    Uint(u64),
    /// A float of either width.
    Float(f64),
    /// A complex number of either width.
    Complex(Complex),
    /// Text.
    String(String),
    /// A Go string that is not UTF-8.
    RawString(Vec<u8>),
    /// Bytes.
    Bytes(Vec<u8>),
    /// A slice's elements.
    Slice(Vec<Value>),
    /// An array's elements.
    Array(Vec<Value>),
    /// A map's entries in the order of the stream.
    Map(Vec<(Value, Value)>),
    /// A struct's fields.
    Struct(Struct),
    /// A value in a place of any type, with its registered name.
    Interface(Box<Interfaced>),
    /// Nil in a place of any type.
    Nil,
    /// A value that encodes itself.
    Opaque(Box<Opaque>),
}

/// The value of an interface in a [`Value`], with its registered name and type.
#[derive(Clone, Debug, PartialEq)]
pub struct Interfaced {
    /// `int`, `main.Point`, `[]interface {}`.
    pub name: String,
    /// The id of its type in the stream, for [`Schema`](crate::Schema).
    pub type_id: i32,
    /// The value.
    pub value: Value,
}

/// A struct in a [`Value`].
#[derive(Clone)]
pub struct Struct {
    shape: Arc<StructType>,
    fields: Vec<(u32, Value)>,
}

impl Struct {
    /// The name of the type in the stream, which may be empty.
    pub fn name(&self) -> &str {
        &self.shape.name
    }

    /// The field's value, if it was sent.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.fields().find_map(|(field, value)| (field == name).then_some(value))
    }

    /// The fields that were sent, in order.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.numbered().map(|(number, value)| {
            let name = self.shape.fields.get(number as usize);
            (name.map_or("", AsRef::as_ref), value)
        })
    }

    /// The names of all fields that the type has, in order.
    pub fn all_names(&self) -> impl Iterator<Item = &str> {
        self.shape.fields.iter().map(AsRef::as_ref)
    }

    pub(crate) fn numbered(&self) -> impl Iterator<Item = (u32, &Value)> {
        self.fields.iter().map(|(number, value)| (*number, value))
    }
}

impl PartialEq for Struct {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name() && self.fields().eq(other.fields())
    }
}

impl fmt::Debug for Struct {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = f.debug_struct(self.name());
        for (name, value) in self.fields() {
            fields.field(name, value);
        }
        fields.finish()
    }
}

impl Value {
    /// What an interface holds, or the value itself.
    pub fn content(&self) -> &Self {
        match self {
            Self::Interface(inner) => inner.value.content(),
            other => other,
        }
    }

    /// The text, if it is some.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// The integer, if it is one that fits.
    pub fn as_i64(&self) -> Option<i64> {
        match self {
            Self::Int(value) => Some(*value),
            Self::Uint(value) => i64::try_from(*value).ok(),
            _ => None,
        }
    }

    /// The float, if it is one.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Self::Float(value) => Some(*value),
            _ => None,
        }
    }
}

/// The most elements of which room is made at once for what is only announced.
const MAX_STEP: usize = 256;

/// A vector that grows by what is announced, but in steps.
struct Growing<T> {
    vec: Vec<T>,
    count: usize,
}

impl<T> Growing<T> {
    fn new(count: u64) -> Self {
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        Self { vec: Vec::with_capacity(count.min(MAX_STEP)), count }
    }

    fn push(&mut self, value: T) {
        let len = self.vec.len();
        if len == self.vec.capacity() {
            // Never beyond the count, so that a long slice does not take twice its room.
            let missing = self.count.saturating_sub(len).max(1);
            self.vec.reserve_exact(len.max(4).min(missing));
        }
        self.vec.push(value);
    }
}

/// Reads a value of the type `slot`.
pub(crate) fn read(state: &mut State<'_, '_>, slot: Slot) -> Result<Value> {
    let kind = state.types.kind(slot);
    Ok(match kind {
        Kind::Undefined => {
            return Err(state.cursor.wrong("expected a type that is defined"));
        }
        Kind::Bool => Value::Bool(state.cursor.uint()? != 0),
        Kind::Int => Value::Int(state.cursor.int()?),
        Kind::Uint => Value::Uint(state.cursor.uint()?),
        Kind::Float => Value::Float(state.cursor.float()?),
        Kind::Complex => {
            let re = state.cursor.float()?;
            Value::Complex(Complex { re, im: state.cursor.float()? })
        }
        Kind::String => {
            let bytes = state.cursor.lend_bytes()?;
            match std::str::from_utf8(bytes) {
                Ok(text) => Value::String(text.to_owned()),
                Err(_) => Value::RawString(bytes.to_owned()),
            }
        }
        Kind::Bytes => Value::Bytes(state.cursor.lend_bytes()?.to_owned()),
        Kind::Opaque(kind) => Value::Opaque(Box::new(opaque(state, slot, kind)?)),
        Kind::Interface => match state.interface()? {
            None => Value::Nil,
            Some((name, slot)) => {
                state.levels.wrap().map_err(|error| error.at(state.cursor.offset()))?;
                let value = read(state, slot)?;
                state.levels.unwrap();
                let type_id = state.types.id(slot);
                Value::Interface(Box::new(Interfaced {
                    name: name.into(),
                    type_id,
                    value,
                }))
            }
        },
        Kind::Slice { elem } => {
            let count = state.count(&[elem])?;
            Value::Slice(elements(state, elem, count)?)
        }
        Kind::Array { elem, len } => {
            let count = array_count(&mut state.cursor, state.types, elem, len)?;
            Value::Array(elements(state, elem, count)?)
        }
        Kind::Map { key, elem } => {
            let count = state.count(&[key, elem])?;
            enter(state)?;
            let mut entries = Growing::new(count);
            for index in 0..entries.count {
                let key = read(state, key).map_err(|error| error.in_element(index))?;
                let value = read(state, elem).map_err(|error| error.in_element(index))?;
                entries.push((key, value));
            }
            state.levels.leave();
            Value::Map(entries.vec)
        }
        Kind::Struct { start, len, role } => {
            let has_level = len > 0 && role != Role::Enum;
            if has_level {
                enter(state)?;
            }
            let shape = state.types.shared(slot, start, len);
            let mut fields = Vec::new();
            let mut next = 0;
            loop {
                let number = next_field(&mut state.cursor, next, len)?;
                let Some(field) =
                    state.types.field(start, number).filter(|_| number < len)
                else {
                    break;
                };
                let slot = field.slot;
                let is_content = role == Role::Enum && !state.types.is_unit(slot);
                if is_content {
                    enter(state)?;
                }
                let value = read(state, slot).map_err(|error| {
                    let name = shape.fields.get(number as usize);
                    error.in_field(name.map_or("", AsRef::as_ref))
                })?;
                if fields.len() == fields.capacity() {
                    let left = len.saturating_sub(number) as usize;
                    fields.reserve_exact(left.min(fields.len().max(1)));
                }
                if is_content {
                    state.levels.leave();
                }
                fields.push((number, value));
                next = number.saturating_add(1);
            }
            if has_level {
                state.levels.leave();
            }
            Value::Struct(Struct { shape, fields })
        }
    })
}

/// Reads a self-encoded value with the name of its type.
pub(crate) fn opaque(
    state: &mut State<'_, '_>,
    slot: Slot,
    kind: OpaqueKind,
) -> Result<Opaque> {
    let payload = state.cursor.lend_bytes()?.to_owned();
    Ok(Opaque { kind, name: state.types.name(slot).into(), payload })
}

fn enter(state: &mut State<'_, '_>) -> Result<()> {
    state.levels.enter().map_err(|error| error.at(state.cursor.offset()))
}

fn elements(state: &mut State<'_, '_>, elem: Slot, count: u64) -> Result<Vec<Value>> {
    enter(state)?;
    let mut elements = Growing::new(count);
    for index in 0..elements.count {
        elements.push(read(state, elem).map_err(|error| error.in_element(index))?);
    }
    state.levels.leave();
    Ok(elements.vec)
}

/// The newtype's name by which our own reader knows that a [`Value`] is wanted.
pub(crate) const VALUE_TOKEN: &str = "$wiremark_gob::Value";

thread_local! {
    /// A value on its way from our reader through serde to [`AnyVisitor`]: serde's data model
    /// has no place for names and types, and the way is one call long.
    static HANDED_OVER: RefCell<Option<Value>> = const { RefCell::new(None) };
}

/// Leaves `value` for the visitor that is called next.
pub(crate) fn hand_over(value: Value) {
    HANDED_OVER.with(|place| *place.borrow_mut() = Some(value));
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(VALUE_TOKEN, AnyVisitor)
    }
}

struct AnyVisitor;

/// What other formats hand to the same visitor.
struct Foreign(Value);

impl<'de> Deserialize<'de> for Foreign {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyVisitor).map(Self)
    }
}

impl<'de> Visitor<'de> for AnyVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_some<D: Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        let value = HANDED_OVER.with(|place| place.borrow_mut().take());
        Ok(value.unwrap_or(Value::Nil))
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Nil)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Int(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Uint(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Float(value))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::String(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Value, E> {
        Ok(Value::String(text))
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Value, E> {
        Ok(Value::Bytes(bytes.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut elements = Vec::new();
        while let Some(Foreign(element)) = seq.next_element()? {
            elements.push(element);
        }
        Ok(Value::Slice(elements))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut entries = Vec::new();
        while let Some((Foreign(key), Foreign(value))) = map.next_entry()? {
            entries.push((key, value));
        }
        Ok(Value::Map(entries))
    }
}

/// Writes what the value holds: a struct as a map from names to values. The exact bytes of a
/// stream come from [`Encoder::encode_value`](crate::Encoder::encode_value).
impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Int(value) => serializer.serialize_i64(*value),
            Self::Uint(value) => serializer.serialize_u64(*value),
            Self::Float(value) => serializer.serialize_f64(*value),
            Self::Complex(value) => value.serialize(serializer),
            Self::String(text) => serializer.serialize_str(text),
            Self::RawString(bytes) | Self::Bytes(bytes) => {
                serializer.serialize_bytes(bytes)
            }
            Self::Slice(elements) | Self::Array(elements) => {
                let mut seq = serializer.serialize_seq(Some(elements.len()))?;
                for element in elements {
                    seq.serialize_element(element)?;
                }
                seq.end()
            }
            Self::Map(entries) => {
                let mut map = serializer.serialize_map(Some(entries.len()))?;
                for (key, value) in entries {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
            Self::Struct(fields) => {
                let mut map = serializer.serialize_map(Some(fields.fields.len()))?;
                for (name, value) in fields.fields() {
                    map.serialize_entry(name, value)?;
                }
                map.end()
            }
            Self::Interface(inner) => inner.value.serialize(serializer),
            Self::Nil => serializer.serialize_unit(),
            Self::Opaque(opaque) => opaque.serialize(serializer),
        }
    }
}
