//! A library's serializer under a guard.
#![expect(
    clippy::inline_always,
    reason = "left to itself, the compiler calls what is small once per value: 17 % more \
              instructions for 1,000 people through postcard, 4 % with it"
)]

use std::fmt;

use serde::ser::{self, Serialize};

use super::Place;

/// A value under a guard. `COUNTED` if the elements of its sequences and maps are.
pub(super) struct Guarded<'a, T: ?Sized, const COUNTED: bool> {
    pub(super) value: &'a T,
    place: &'a Place<'a>,
}

/// The outermost value under a guard.
pub(super) struct Outermost<'a, T: ?Sized, const COUNTED: bool> {
    pub(super) value: &'a T,
    pub(super) place: Place<'a>,
}

impl<T: Serialize + ?Sized, const COUNTED: bool> Serialize for Outermost<'_, T, COUNTED> {
    #[inline(always)]
    fn serialize<S: ser::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.place.value::<_, COUNTED>(self.value).serialize(serializer)
    }
}

impl<T: Serialize + ?Sized, const COUNTED: bool> Serialize for Guarded<'_, T, COUNTED> {
    #[inline(always)]
    fn serialize<S: ser::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value
            .serialize(Serializer::<S, COUNTED> { inner: serializer, place: self.place })
    }
}

impl Place<'_> {
    #[inline(always)]
    fn value<'a, T: ?Sized, const COUNTED: bool>(
        &'a self,
        value: &'a T,
    ) -> Guarded<'a, T, COUNTED> {
        Guarded { value, place: self }
    }
}

/// A library's serializer under a guard.
struct Serializer<'s, S, const COUNTED: bool> {
    inner: S,
    place: &'s Place<'s>,
}

/// A library's compound under a guard, inside the levels that were entered for it.
struct Compound<'s, S, const COUNTED: bool> {
    inner: S,
    place: Place<'s>,
}

macro_rules! forward_scalars {
    ($($method:ident: $type:ty),* $(,)?) => {
        $(
            #[inline(always)]
            fn $method(self, v: $type) -> Result<S::Ok, S::Error> {
                self.inner.$method(v)
            }
        )*
    };
}

impl<'s, S: ser::Serializer, const COUNTED: bool> ser::Serializer
    for Serializer<'s, S, COUNTED>
{
    type Ok = S::Ok;
    type Error = S::Error;
    type SerializeSeq = Compound<'s, S::SerializeSeq, COUNTED>;
    type SerializeTuple = Compound<'s, S::SerializeTuple, COUNTED>;
    type SerializeTupleStruct = Compound<'s, S::SerializeTupleStruct, COUNTED>;
    type SerializeTupleVariant = Compound<'s, S::SerializeTupleVariant, COUNTED>;
    type SerializeMap = Compound<'s, S::SerializeMap, COUNTED>;
    type SerializeStruct = Compound<'s, S::SerializeStruct, COUNTED>;
    type SerializeStructVariant = Compound<'s, S::SerializeStructVariant, COUNTED>;

    forward_scalars! {
        serialize_bool: bool,
        serialize_i8: i8,
        serialize_i16: i16,
        serialize_i32: i32,
        serialize_i64: i64,
        serialize_i128: i128,
        serialize_u8: u8,
        serialize_u16: u16,
        serialize_u32: u32,
        serialize_u64: u64,
        serialize_u128: u128,
        serialize_f32: f32,
        serialize_f64: f64,
        serialize_char: char,
        serialize_str: &str,
        serialize_bytes: &[u8],
        serialize_unit_struct: &'static str,
    }

    #[inline(always)]
    fn serialize_none(self) -> Result<S::Ok, S::Error> {
        self.inner.serialize_none()
    }

    #[inline(always)]
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        let place = self.place.wrap(ser::Error::custom)?;
        self.inner.serialize_some(&place.value::<_, COUNTED>(value))
    }

    #[inline(always)]
    fn serialize_unit(self) -> Result<S::Ok, S::Error> {
        self.inner.serialize_unit()
    }

    #[inline(always)]
    fn serialize_unit_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
    ) -> Result<S::Ok, S::Error> {
        self.inner.serialize_unit_variant(name, index, variant)
    }

    #[inline(always)]
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        let place = self.place.wrap(ser::Error::custom)?;
        self.inner.serialize_newtype_struct(name, &place.value::<_, COUNTED>(value))
    }

    #[inline(always)]
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        let place = self.place.enter::<1, _>(ser::Error::custom)?;
        let value = place.value::<_, COUNTED>(value);
        self.inner.serialize_newtype_variant(name, index, variant, &value)
    }

    #[inline(always)]
    fn serialize_seq(self, len: Option<usize>) -> Result<Self::SerializeSeq, S::Error> {
        if COUNTED {
            self.place.guard.announce(len);
        }
        let place = self.place.enter::<1, _>(ser::Error::custom)?;
        let inner = self.inner.serialize_seq(len)?;
        Ok(Compound { inner, place })
    }

    #[inline(always)]
    fn serialize_tuple(self, len: usize) -> Result<Self::SerializeTuple, S::Error> {
        let place = self.place.enter::<1, _>(ser::Error::custom)?;
        let inner = self.inner.serialize_tuple(len)?;
        Ok(Compound { inner, place })
    }

    #[inline(always)]
    fn serialize_tuple_struct(
        self,
        name: &'static str,
        len: usize,
    ) -> Result<Self::SerializeTupleStruct, S::Error> {
        let place = self.place.enter::<1, _>(ser::Error::custom)?;
        let inner = self.inner.serialize_tuple_struct(name, len)?;
        Ok(Compound { inner, place })
    }

    #[inline(always)]
    fn serialize_tuple_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Self::SerializeTupleVariant, S::Error> {
        let place = self.place.enter::<2, _>(ser::Error::custom)?;
        let inner = self.inner.serialize_tuple_variant(name, index, variant, len)?;
        Ok(Compound { inner, place })
    }

    #[inline(always)]
    fn serialize_map(self, len: Option<usize>) -> Result<Self::SerializeMap, S::Error> {
        if COUNTED {
            self.place.guard.announce(len);
        }
        let place = self.place.enter::<1, _>(ser::Error::custom)?;
        let inner = self.inner.serialize_map(len)?;
        Ok(Compound { inner, place })
    }

    #[inline(always)]
    fn serialize_struct(
        self,
        name: &'static str,
        len: usize,
    ) -> Result<Self::SerializeStruct, S::Error> {
        let place = self.place.enter::<1, _>(ser::Error::custom)?;
        let inner = self.inner.serialize_struct(name, len)?;
        Ok(Compound { inner, place })
    }

    #[inline(always)]
    fn serialize_struct_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Self::SerializeStructVariant, S::Error> {
        let place = self.place.enter::<2, _>(ser::Error::custom)?;
        let inner = self.inner.serialize_struct_variant(name, index, variant, len)?;
        Ok(Compound { inner, place })
    }

    #[inline(always)]
    fn collect_str<T: fmt::Display + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        self.inner.collect_str(value)
    }

    #[inline(always)]
    fn is_human_readable(&self) -> bool {
        self.inner.is_human_readable()
    }
}

macro_rules! forward_elements {
    ($($trait:ident::$method:ident),* $(,)?) => {
        $(
            impl<S: ser::$trait, const COUNTED: bool> ser::$trait for Compound<'_, S, COUNTED> {
                type Ok = S::Ok;
                type Error = S::Error;

                #[inline(always)]
                fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), S::Error> {
                    self.inner.$method(&self.place.value::<_, COUNTED>(value))
                }

                #[inline(always)]
                fn end(self) -> Result<S::Ok, S::Error> {
                    self.inner.end()
                }
            }
        )*
    };
}

forward_elements! {
    SerializeSeq::serialize_element,
    SerializeTuple::serialize_element,
    SerializeTupleStruct::serialize_field,
    SerializeTupleVariant::serialize_field,
}

macro_rules! forward_fields {
    ($($trait:ident),*) => {
        $(
            impl<S: ser::$trait, const COUNTED: bool> ser::$trait for Compound<'_, S, COUNTED> {
                type Ok = S::Ok;
                type Error = S::Error;

                #[inline(always)]
                fn serialize_field<T: Serialize + ?Sized>(
                    &mut self,
                    key: &'static str,
                    value: &T,
                ) -> Result<(), S::Error> {
                    self.inner.serialize_field(key, &self.place.value::<_, COUNTED>(value))
                }

                #[inline(always)]
                fn skip_field(&mut self, key: &'static str) -> Result<(), S::Error> {
                    self.inner.skip_field(key)
                }

                #[inline(always)]
                fn end(self) -> Result<S::Ok, S::Error> {
                    self.inner.end()
                }
            }
        )*
    };
}

forward_fields!(SerializeStruct, SerializeStructVariant);

impl<S: ser::SerializeMap, const COUNTED: bool> ser::SerializeMap
    for Compound<'_, S, COUNTED>
{
    type Ok = S::Ok;
    type Error = S::Error;

    #[inline(always)]
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), S::Error> {
        self.inner.serialize_key(&self.place.value::<_, COUNTED>(key))
    }

    #[inline(always)]
    fn serialize_value<T: Serialize + ?Sized>(
        &mut self,
        value: &T,
    ) -> Result<(), S::Error> {
        self.inner.serialize_value(&self.place.value::<_, COUNTED>(value))
    }

    #[inline(always)]
    fn serialize_entry<K: Serialize + ?Sized, V: Serialize + ?Sized>(
        &mut self,
        key: &K,
        value: &V,
    ) -> Result<(), S::Error> {
        self.inner.serialize_entry(
            &self.place.value::<_, COUNTED>(key),
            &self.place.value::<_, COUNTED>(value),
        )
    }

    #[inline(always)]
    fn end(self) -> Result<S::Ok, S::Error> {
        self.inner.end()
    }
}
