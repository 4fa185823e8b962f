//! Writing a [`Value`], and making one out of any `Serialize`.

use std::fmt;

use serde::ser::{self, Serialize, SerializeMap, SerializeSeq, Serializer};

use super::Value;

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            // Not `serialize_unit`: some CBOR libraries write that as an empty array.
            Self::Null => serializer.serialize_none(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::U64(value) => serializer.serialize_u64(*value),
            Self::I64(value) => serializer.serialize_i64(*value),
            Self::U128(value) => serializer.serialize_u128(*value),
            Self::I128(value) => serializer.serialize_i128(*value),
            Self::F64(value) => serializer.serialize_f64(*value),
            Self::Str(text) => serializer.serialize_str(text),
            Self::Bytes(bytes) => serializer.serialize_bytes(bytes),
            Self::Array(array) => serialize_array(array, serializer),
            Self::Map(entries) => serialize_map(entries, serializer),
        }
    }
}

// Not inlined: most values are scalars, and what loops need of the stack and of registers would
// be made ready for each of them.

#[inline(never)]
fn serialize_array<S: Serializer>(
    array: &[Value],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut seq = serializer.serialize_seq(Some(array.len()))?;
    for element in array {
        seq.serialize_element(element)?;
    }
    seq.end()
}

#[inline(never)]
fn serialize_map<S: Serializer>(
    entries: &[(Value, Value)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(entries.len()))?;
    for (key, value) in entries {
        map.serialize_entry(key, value)?;
    }
    map.end()
}

/// Why a value could not be turned into a [`Value`], or a [`Value`] into another type.
#[derive(Debug)]
pub struct ValueError(Box<str>);

impl fmt::Display for ValueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ValueError {}

impl ser::Error for ValueError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(message.to_string().into())
    }
}

impl serde::de::Error for ValueError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(message.to_string().into())
    }
}

/// What a self-describing format would hold of `value`, with names where it has names.
///
/// Structs become maps with text keys, tuples become arrays, `None` and `()` become null, a
/// newtype struct becomes what it holds, a `char` becomes text, an `f32` the `f64` of the same
/// number. Enums are externally tagged: a variant without fields is its name, any other
/// a map of one entry.
///
/// # Errors
/// What `value`'s own `Serialize` refuses; nothing else can fail.
///
/// ```
/// use wiremark_datasets::{Dataset, Value, from_value, seeded::small::{Small, Smalls}, to_value};
///
/// let small = Smalls::new();
/// let value = to_value(small.value())?;
/// assert_eq!(value.get("e"), Some(&Value::from(5.018)));
/// assert_eq!(from_value::<Small>(&value)?, *small.value());
/// # Ok::<(), wiremark_datasets::ValueError>(())
/// ```
pub fn to_value<T: Serialize + ?Sized>(value: &T) -> Result<Value, ValueError> {
    value.serialize(ToValue)
}

struct ToValue;

/// An array or a map in the making, and the variant around it, if any.
struct Building<T> {
    variant: Option<&'static str>,
    parts: Vec<T>,
    key: Option<Value>,
}

impl<T> Building<T>
where
    Value: From<Vec<T>>,
{
    fn new(variant: Option<&'static str>, len: usize) -> Self {
        // The length comes from the program's own value, yet it is only a hint.
        Self { variant, parts: Vec::with_capacity(len.min(1024)), key: None }
    }

    fn finish(self) -> Value {
        let value = Value::from(self.parts);
        match self.variant {
            Some(variant) => tagged(variant, value),
            None => value,
        }
    }
}

fn tagged(variant: &'static str, value: Value) -> Value {
    Value::Map(vec![(variant.into(), value)])
}

type Array = Building<Value>;
type Map = Building<(Value, Value)>;

impl Serializer for ToValue {
    type Ok = Value;
    type Error = ValueError;
    type SerializeSeq = Array;
    type SerializeTuple = Array;
    type SerializeTupleStruct = Array;
    type SerializeTupleVariant = Array;
    type SerializeMap = Map;
    type SerializeStruct = Map;
    type SerializeStructVariant = Map;

    fn is_human_readable(&self) -> bool {
        false
    }

    fn serialize_bool(self, value: bool) -> Result<Value, ValueError> {
        Ok(value.into())
    }

    fn serialize_i8(self, value: i8) -> Result<Value, ValueError> {
        Ok(value.into())
    }

    fn serialize_i16(self, value: i16) -> Result<Value, ValueError> {
        Ok(value.into())
    }

    fn serialize_i32(self, value: i32) -> Result<Value, ValueError> {
        Ok(value.into())
    }

    fn serialize_i64(self, value: i64) -> Result<Value, ValueError> {
        Ok(value.into())
    }

    fn serialize_i128(self, value: i128) -> Result<Value, ValueError> {
        Ok(value.into())
    }

    fn serialize_u8(self, value: u8) -> Result<Value, ValueError> {
        Ok(value.into())
    }

    fn serialize_u16(self, value: u16) -> Result<Value, ValueError> {
        Ok(value.into())
    }

    fn serialize_u32(self, value: u32) -> Result<Value, ValueError> {
        Ok(value.into())
    }

    fn serialize_u64(self, value: u64) -> Result<Value, ValueError> {
        Ok(value.into())
    }

    fn serialize_u128(self, value: u128) -> Result<Value, ValueError> {
        Ok(value.into())
    }

    fn serialize_f32(self, value: f32) -> Result<Value, ValueError> {
        Ok(f64::from(value).into())
    }

    fn serialize_f64(self, value: f64) -> Result<Value, ValueError> {
        Ok(value.into())
    }

    fn serialize_char(self, value: char) -> Result<Value, ValueError> {
        Ok(Value::Str(value.into()))
    }

    fn serialize_str(self, value: &str) -> Result<Value, ValueError> {
        Ok(value.into())
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<Value, ValueError> {
        Ok(value.into())
    }

    fn serialize_none(self) -> Result<Value, ValueError> {
        Ok(Value::Null)
    }

    fn serialize_some<T: Serialize + ?Sized>(
        self,
        value: &T,
    ) -> Result<Value, ValueError> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<Value, ValueError> {
        Ok(Value::Null)
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Result<Value, ValueError> {
        Ok(Value::Null)
    }

    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
    ) -> Result<Value, ValueError> {
        Ok(variant.into())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        value: &T,
    ) -> Result<Value, ValueError> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<Value, ValueError> {
        Ok(tagged(variant, value.serialize(self)?))
    }

    fn serialize_seq(self, len: Option<usize>) -> Result<Array, ValueError> {
        Ok(Building::new(None, len.unwrap_or(0)))
    }

    fn serialize_tuple(self, len: usize) -> Result<Array, ValueError> {
        Ok(Building::new(None, len))
    }

    fn serialize_tuple_struct(
        self,
        _name: &'static str,
        len: usize,
    ) -> Result<Array, ValueError> {
        Ok(Building::new(None, len))
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Array, ValueError> {
        Ok(Building::new(Some(variant), len))
    }

    fn serialize_map(self, len: Option<usize>) -> Result<Map, ValueError> {
        Ok(Building::new(None, len.unwrap_or(0)))
    }

    fn serialize_struct(
        self,
        _name: &'static str,
        len: usize,
    ) -> Result<Map, ValueError> {
        Ok(Building::new(None, len))
    }

    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Map, ValueError> {
        Ok(Building::new(Some(variant), len))
    }
}

/// The four traits that add one element.
macro_rules! elements {
    ($($trait:ident $method:ident)*) => {
        $(impl ser::$trait for Array {
            type Ok = Value;
            type Error = ValueError;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), ValueError> {
                self.parts.push(value.serialize(ToValue)?);
                Ok(())
            }

            fn end(self) -> Result<Value, ValueError> {
                Ok(self.finish())
            }
        })*
    };
}

elements! {
    SerializeSeq serialize_element
    SerializeTuple serialize_element
    SerializeTupleStruct serialize_field
    SerializeTupleVariant serialize_field
}

/// The two traits that add a named field.
macro_rules! fields {
    ($($trait:ident)*) => {
        $(impl ser::$trait for Map {
            type Ok = Value;
            type Error = ValueError;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                name: &'static str,
                value: &T,
            ) -> Result<(), ValueError> {
                self.parts.push((name.into(), value.serialize(ToValue)?));
                Ok(())
            }

            fn end(self) -> Result<Value, ValueError> {
                Ok(self.finish())
            }
        })*
    };
}

fields! { SerializeStruct SerializeStructVariant }

impl SerializeMap for Map {
    type Ok = Value;
    type Error = ValueError;

    fn serialize_key<T: Serialize + ?Sized>(
        &mut self,
        key: &T,
    ) -> Result<(), ValueError> {
        self.key = Some(key.serialize(ToValue)?);
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(
        &mut self,
        value: &T,
    ) -> Result<(), ValueError> {
        let key = self.key.take();
        let key =
            key.ok_or_else(|| ser::Error::custom("a map's value before its key"))?;
        self.parts.push((key, value.serialize(ToValue)?));
        Ok(())
    }

    fn end(self) -> Result<Value, ValueError> {
        Ok(self.finish())
    }
}
