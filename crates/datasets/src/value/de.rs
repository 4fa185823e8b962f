//! Reading a [`Value`] from any self-describing format, built in place.
//!
//! serde hands a decoded value back through a `Result`, which for a 32-byte enum inside an array
//! means two moves an element; that costs a quarter to a half of the decoding of an array of
//! numbers. Here the visitor's result is `()`: it holds the place where the value belongs,
//! in the vector, and writes it there.

use std::{fmt, mem};

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::Value;

/// The most that is reserved for a length that a document only claims.
const HINT_MAX_BYTES: usize = 64 * 1024;

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut value = Self::Null;
        Slot(&mut value).deserialize(deserializer)?;
        Ok(value)
    }

    /// Uses again what memory `place` has. After an error `place` holds some value or other.
    fn deserialize_in_place<D: Deserializer<'de>>(
        deserializer: D,
        place: &mut Self,
    ) -> Result<(), D::Error> {
        Slot(place).deserialize(deserializer)
    }
}

/// The place where a value belongs.
struct Slot<'a>(&'a mut Value);

impl<'de> DeserializeSeed<'de> for Slot<'_> {
    type Value = ();

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Slot<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    #[inline]
    fn visit_unit<E: Error>(self) -> Result<(), E> {
        *self.0 = Value::Null;
        Ok(())
    }

    #[inline]
    fn visit_none<E: Error>(self) -> Result<(), E> {
        *self.0 = Value::Null;
        Ok(())
    }

    #[inline]
    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        *self.0 = Value::Bool(value);
        Ok(())
    }

    #[inline]
    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        *self.0 = Value::U64(value);
        Ok(())
    }

    #[inline]
    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        *self.0 = Value::from(value);
        Ok(())
    }

    #[inline]
    fn visit_u128<E: Error>(self, value: u128) -> Result<(), E> {
        *self.0 = Value::from(value);
        Ok(())
    }

    #[inline]
    fn visit_i128<E: Error>(self, value: i128) -> Result<(), E> {
        *self.0 = Value::from(value);
        Ok(())
    }

    #[inline]
    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        *self.0 = Value::F64(value);
        Ok(())
    }

    #[inline]
    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        if let Value::Str(old) = self.0 {
            old.clear();
            old.push_str(text);
        } else {
            *self.0 = Value::Str(text.to_owned());
        }
        Ok(())
    }

    #[inline]
    fn visit_string<E: Error>(self, text: String) -> Result<(), E> {
        *self.0 = Value::Str(text);
        Ok(())
    }

    #[inline]
    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<(), E> {
        if let Value::Bytes(old) = self.0 {
            old.clear();
            old.extend_from_slice(bytes);
        } else {
            *self.0 = Value::Bytes(bytes.to_owned());
        }
        Ok(())
    }

    #[inline]
    fn visit_byte_buf<E: Error>(self, bytes: Vec<u8>) -> Result<(), E> {
        *self.0 = Value::Bytes(bytes);
        Ok(())
    }

    #[inline]
    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }

    #[inline]
    fn visit_newtype_struct<D: Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let array = match mem::take(self.0) {
            Value::Array(old) => old,
            _ => Vec::new(),
        };
        let mut array = Filling::new(array, seq.size_hint());
        while seq.next_element_seed(Slot(array.slot()))?.is_some() {
            array.keep();
        }
        *self.0 = Value::Array(array.finish());
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let entries = match mem::take(self.0) {
            Value::Map(old) => old,
            _ => Vec::new(),
        };
        let mut entries = Filling::new(entries, map.size_hint());
        loop {
            let (key, value) = entries.slot();
            if map.next_key_seed(Slot(key))?.is_none() {
                break;
            }
            map.next_value_seed(Slot(value))?;
            entries.keep();
        }
        *self.0 = Value::Map(entries.finish());
        Ok(())
    }
}

/// A vector whose next element is written where it will stay.
///
/// The end of a sequence shows only when an element is asked for, so a place must be there for
/// one that may never come. It is the next free one of the vector, or one beside it where the
/// vector is full: else an array of exactly as many elements as announced would grow for
/// nothing.
struct Filling<T> {
    vec: Vec<T>,
    /// Elements read; those behind are left from what the vector held before.
    len: usize,
    beside: T,
}

impl<T: Default> Filling<T> {
    fn new(mut vec: Vec<T>, hint: Option<usize>) -> Self {
        let hint = hint.unwrap_or(0).min(HINT_MAX_BYTES / size_of::<T>());
        vec.reserve(hint.saturating_sub(vec.len()));
        Self { vec, len: 0, beside: T::default() }
    }

    #[inline]
    fn slot(&mut self) -> &mut T {
        if self.len == self.vec.len() {
            if self.len == self.vec.capacity() {
                return &mut self.beside;
            }
            self.vec.push(T::default());
        }
        // The length was just seen to be greater than `len`.
        &mut self.vec[self.len]
    }

    #[inline]
    fn keep(&mut self) {
        if self.len == self.vec.len() {
            self.vec.push(mem::take(&mut self.beside));
        }
        self.len += 1;
    }

    fn finish(mut self) -> Vec<T> {
        self.vec.truncate(self.len);
        self.vec
    }
}
