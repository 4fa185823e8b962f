//! Reading any `Deserialize` out of a [`Value`].

use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error as _, IntoDeserializer, Unexpected,
    VariantAccess, Visitor,
};
use serde::{Deserialize, forward_to_deserialize_any};

use super::Value;
use super::ser::ValueError;

/// Reads a `T` out of what [`to_value`](super::to_value) makes of one. Text and bytes can be
/// borrowed from `value`.
///
/// # Errors
/// If `value` is not what `T` expects.
///
/// ```
/// use wiremark_datasets::{Value, from_value};
///
/// let value = Value::from(vec![Value::from("a"), Value::from("b")]);
/// assert_eq!(from_value::<Vec<&str>>(&value)?, ["a", "b"]);
/// assert!(from_value::<Vec<u8>>(&value).is_err());
/// # Ok::<(), wiremark_datasets::ValueError>(())
/// ```
pub fn from_value<'de, T: Deserialize<'de>>(value: &'de Value) -> Result<T, ValueError> {
    T::deserialize(value)
}

impl<'de> IntoDeserializer<'de, ValueError> for &'de Value {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for &'de Value {
    type Error = ValueError;

    fn is_human_readable(&self) -> bool {
        false
    }

    fn deserialize_any<V: Visitor<'de>>(
        self,
        visitor: V,
    ) -> Result<V::Value, ValueError> {
        match self {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::U64(value) => visitor.visit_u64(*value),
            Value::I64(value) => visitor.visit_i64(*value),
            Value::U128(value) => visitor.visit_u128(*value),
            Value::I128(value) => visitor.visit_i128(*value),
            Value::F64(value) => visitor.visit_f64(*value),
            Value::Str(text) => visitor.visit_borrowed_str(text),
            Value::Bytes(bytes) => visitor.visit_borrowed_bytes(bytes),
            Value::Array(array) => {
                let mut seq = SeqDeserializer::new(array.iter());
                let value = visitor.visit_seq(&mut seq)?;
                seq.end()?;
                Ok(value)
            }
            Value::Map(entries) => {
                let mut map =
                    MapDeserializer::new(entries.iter().map(|(key, value)| (key, value)));
                let value = visitor.visit_map(&mut map)?;
                map.end()?;
                Ok(value)
            }
        }
    }

    fn deserialize_option<V: Visitor<'de>>(
        self,
        visitor: V,
    ) -> Result<V::Value, ValueError> {
        match self {
            Value::Null => visitor.visit_none(),
            some => visitor.visit_some(some),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, ValueError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ValueError> {
        match self {
            Value::Str(_) => visitor.visit_enum(Tagged { name: self, content: None }),
            Value::Map(entries) => match entries.as_slice() {
                [(name, content)] => {
                    visitor.visit_enum(Tagged { name, content: Some(content) })
                }
                _ => {
                    Err(ValueError::invalid_length(entries.len(), &"a map of one entry"))
                }
            },
            other => Err(ValueError::invalid_type(
                Unexpected::Other(other.kind()),
                &"an enum: text or a map of one entry",
            )),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
        unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

/// An externally tagged enum.
struct Tagged<'de> {
    name: &'de Value,
    content: Option<&'de Value>,
}

impl<'de> EnumAccess<'de> for Tagged<'de> {
    type Error = ValueError;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(
        self,
        seed: V,
    ) -> Result<(V::Value, Self), ValueError> {
        Ok((seed.deserialize(self.name)?, self))
    }
}

impl<'de> Tagged<'de> {
    fn content(&self) -> Result<&'de Value, ValueError> {
        self.content.ok_or_else(|| {
            ValueError::invalid_type(Unexpected::UnitVariant, &"a variant with content")
        })
    }
}

impl<'de> VariantAccess<'de> for Tagged<'de> {
    type Error = ValueError;

    fn unit_variant(self) -> Result<(), ValueError> {
        match self.content {
            None | Some(Value::Null) => Ok(()),
            Some(content) => Err(ValueError::invalid_type(
                Unexpected::Other(content.kind()),
                &"a variant without content",
            )),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(
        self,
        seed: T,
    ) -> Result<T::Value, ValueError> {
        seed.deserialize(self.content()?)
    }

    fn tuple_variant<V: Visitor<'de>>(
        self,
        _len: usize,
        visitor: V,
    ) -> Result<V::Value, ValueError> {
        self.content()?.deserialize_any(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ValueError> {
        self.content()?.deserialize_any(visitor)
    }
}
