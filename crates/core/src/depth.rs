//! A bound on nesting, and on elements that take no bytes, for libraries without one.
//!
//! Serialising and deserialising recurse: a value or a document that nests a hundred thousand
//! deep overflows the stack, and with it the program ends. A [`Guard`] stands between a value
//! and a library and refuses what nests deeper than [`MAX_DEPTH`], both ways and with the same
//! count, whatever the library does by itself. It forwards everything else, passes the depth
//! that is left by value, and is inlined away where the types are known.
//!
//! # What counts
//! | level | depth |
//! | --- | --- |
//! | scalar, text, bytes, unit, unit struct, unit variant, `None` | 0 |
//! | sequence, map, struct, tuple, tuple struct | 1 |
//! | newtype variant: formats with names write a map of one entry | 1 |
//! | tuple variant, struct variant: that map, and a sequence or map in it | 2 |
//! | `Some`, newtype struct: nothing on most wires | 0, see below |
//!
//! A type can recur through options and newtypes alone (`struct N(Option<Box<N>>)`), so these
//! are bounded too: on the way to any value there may be twice as many of them as levels of
//! depth. That is one option and one newtype for each level, which real types stay within.
//!
//! # What is not seen
//! Serde reads `untagged`, internally tagged and flattened types into a buffer first. The guard
//! bounds how deep that buffer nests, but not what a type makes of it afterwards. A codec that
//! skips a document without recursion (`IgnoredAny` in `serde_json`) skips one of any depth.
//!
//! # Example
//! An adapter hands the library a guarded value, and looks at the guard if the library fails:
//!
//! ```
//! use wiremark_core::depth::Guard;
//! use wiremark_core::{Error, ErrorKind};
//!
//! /// `fmt::Formatter` stands for a library's serializer here.
//! fn encode<T: serde::Serialize>(value: &T) -> Result<String, Error> {
//!     struct Text<T>(T);
//!     impl<T: serde::Serialize> std::fmt::Display for Text<T> {
//!         fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
//!             self.0.serialize(f)
//!         }
//!     }
//!     use std::fmt::Write;
//!     let guard = Guard::new();
//!     let mut out = String::new();
//!     write!(out, "{}", Text(guard.value(value)))
//!         .map_err(|_| guard.error().unwrap_or_else(|| Error::unsupported("no text")))?;
//!     Ok(out)
//! }
//!
//! /// As many newtypes inside one another as the number says.
//! struct Onion(u32);
//! impl serde::Serialize for Onion {
//!     fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
//!         match self.0 {
//!             0 => serializer.serialize_str("heart"),
//!             n => serializer.serialize_newtype_struct("Onion", &Onion(n - 1)),
//!         }
//!     }
//! }
//!
//! assert_eq!(encode(&Onion(256)).unwrap(), "heart");
//! assert_eq!(encode(&Onion(257)).unwrap_err().kind(), ErrorKind::Limit);
//! ```

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{self, DeserializeSeed, Visitor};
use serde::ser::{self, Serialize};

use crate::Error;

/// How deep values may nest: a value of this depth passes, the next is
/// [`ErrorKind::Limit`](crate::ErrorKind::Limit).
pub const MAX_DEPTH: u32 = 128;

/// How many elements that take no bytes a document may hold, whatever its length.
///
/// `Vec<()>` costs nothing on a wire without tags but its count, and the count may be 2⁶⁴ − 1.
pub const MAX_EMPTY_ELEMENTS: usize = 65_536;

/// Bounds one encode or one decode. See the [module](self).
#[derive(Debug)]
pub struct Guard {
    max_depth: u32,
    /// Elements that may still come, where they are counted.
    elements: Cell<usize>,
    tripped: Cell<Option<Tripped>>,
}

#[derive(Clone, Copy, Debug)]
enum Tripped {
    Depth,
    Wraps,
    Elements,
}

impl Default for Guard {
    fn default() -> Self {
        Self::new()
    }
}

impl Guard {
    /// A guard with the limit [`MAX_DEPTH`].
    #[inline]
    pub fn new() -> Self {
        Self::with_max_depth(MAX_DEPTH)
    }

    /// A guard with another limit. Each level takes a few hundred bytes of stack.
    #[inline]
    pub fn with_max_depth(max_depth: u32) -> Self {
        Self {
            max_depth,
            elements: Cell::new(MAX_EMPTY_ELEMENTS),
            tripped: Cell::new(None),
        }
    }

    /// A value that serialises as `value` does, within the limit.
    #[inline]
    pub fn value<'a, T: ?Sized>(&'a self, value: &'a T) -> Guarded<'a, T> {
        Guarded { value, state: self.state() }
    }

    /// A deserializer that lends text and bytes out of its input where `inner` does.
    #[inline]
    pub fn lending<'de, D: de::Deserializer<'de>>(
        &self,
        inner: D,
    ) -> Deserializer<'de, '_, Lends, D> {
        Deserializer { inner, state: self.state(), source: PhantomData }
    }

    /// A deserializer for any lifetime over an `inner` that lends nothing, as libraries have
    /// that ask for [`DeserializeOwned`](de::DeserializeOwned).
    #[inline]
    pub fn copying<'src, D: de::Deserializer<'src>>(
        &self,
        inner: D,
    ) -> Deserializer<'src, '_, Copies, D> {
        Deserializer { inner, state: self.state(), source: PhantomData }
    }

    /// A lending deserializer for a wire without tags, on which an element may take no bytes.
    ///
    /// The elements of all sequences and maps are counted: there may be as many as `input` has
    /// bytes, and [`MAX_EMPTY_ELEMENTS`] more. Owned text is asked for as borrowed text, so
    /// that its length is checked against the input before anything is allocated.
    #[inline]
    pub fn untagged<'de, D: de::Deserializer<'de>>(
        &self,
        inner: D,
        input: &'de [u8],
    ) -> Deserializer<'de, '_, Untagged, D> {
        self.elements.set(input.len().saturating_add(MAX_EMPTY_ELEMENTS));
        Deserializer { inner, state: self.state(), source: PhantomData }
    }

    /// Why the guard refused, if it did. Ask when the library has failed: it cannot carry the
    /// reason itself.
    #[cold]
    pub fn error(&self) -> Option<Error> {
        let reason = self.reason(self.tripped.get()?);
        Some(Error::limit(reason.to_string()))
    }

    #[inline]
    fn state(&self) -> State<'_> {
        let levels = self.max_depth;
        State { levels, wraps: levels.saturating_mul(2), guard: self }
    }

    fn reason(&self, tripped: Tripped) -> Reason {
        Reason { tripped, max_depth: self.max_depth }
    }

    #[cold]
    #[inline(never)]
    fn trip(&self, tripped: Tripped) -> Reason {
        self.tripped.set(Some(tripped));
        self.reason(tripped)
    }
}

#[derive(Clone, Copy)]
struct Reason {
    tripped: Tripped,
    max_depth: u32,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let depth = self.max_depth;
        match self.tripped {
            Tripped::Depth => write!(f, "expected at most {depth} levels of nesting"),
            Tripped::Wraps => write!(
                f,
                "expected at most {} options and newtypes inside one another",
                depth.saturating_mul(2)
            ),
            Tripped::Elements => write!(
                f,
                "expected at most {MAX_EMPTY_ELEMENTS} elements that take no bytes"
            ),
        }
    }
}

/// What is left of the limits. Passed by value, so that leaving a level costs nothing.
#[derive(Clone, Copy)]
struct State<'s> {
    levels: u32,
    wraps: u32,
    guard: &'s Guard,
}

impl fmt::Debug for State<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("State")
            .field("levels", &self.levels)
            .field("wraps", &self.wraps)
            .finish_non_exhaustive()
    }
}

impl State<'_> {
    #[inline]
    fn enter(self, levels: u32) -> Result<Self, Reason> {
        match self.levels.checked_sub(levels) {
            Some(levels) => Ok(Self { levels, ..self }),
            None => Err(self.guard.trip(Tripped::Depth)),
        }
    }

    #[inline]
    fn wrap(self) -> Result<Self, Reason> {
        match self.wraps.checked_sub(1) {
            Some(wraps) => Ok(Self { wraps, ..self }),
            None => Err(self.guard.trip(Tripped::Wraps)),
        }
    }

    #[inline]
    fn count(self) -> Result<(), Reason> {
        match self.guard.elements.get().checked_sub(1) {
            Some(left) => {
                self.guard.elements.set(left);
                Ok(())
            }
            None => Err(self.guard.trip(Tripped::Elements)),
        }
    }
}

// ---------------------------------------------------------------- serialising

/// A value under a [`Guard`]; made by [`Guard::value`].
#[derive(Debug)]
pub struct Guarded<'a, T: ?Sized> {
    value: &'a T,
    state: State<'a>,
}

impl<T: Serialize + ?Sized> Serialize for Guarded<'_, T> {
    #[inline]
    fn serialize<S: ser::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value.serialize(Serializer { inner: serializer, state: self.state })
    }
}

/// A library's serializer, or one of its compounds, under a guard.
struct Serializer<'s, S> {
    inner: S,
    state: State<'s>,
}

macro_rules! forward_scalars {
    ($($method:ident: $type:ty),* $(,)?) => {
        $(
            #[inline]
            fn $method(self, v: $type) -> Result<S::Ok, S::Error> {
                self.inner.$method(v)
            }
        )*
    };
}

impl<'s, S: ser::Serializer> ser::Serializer for Serializer<'s, S> {
    type Ok = S::Ok;
    type Error = S::Error;
    type SerializeSeq = Serializer<'s, S::SerializeSeq>;
    type SerializeTuple = Serializer<'s, S::SerializeTuple>;
    type SerializeTupleStruct = Serializer<'s, S::SerializeTupleStruct>;
    type SerializeTupleVariant = Serializer<'s, S::SerializeTupleVariant>;
    type SerializeMap = Serializer<'s, S::SerializeMap>;
    type SerializeStruct = Serializer<'s, S::SerializeStruct>;
    type SerializeStructVariant = Serializer<'s, S::SerializeStructVariant>;

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

    #[inline]
    fn serialize_none(self) -> Result<S::Ok, S::Error> {
        self.inner.serialize_none()
    }

    #[inline]
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        let state = self.state.wrap().map_err(ser::Error::custom)?;
        self.inner.serialize_some(&Guarded { value, state })
    }

    #[inline]
    fn serialize_unit(self) -> Result<S::Ok, S::Error> {
        self.inner.serialize_unit()
    }

    #[inline]
    fn serialize_unit_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
    ) -> Result<S::Ok, S::Error> {
        self.inner.serialize_unit_variant(name, index, variant)
    }

    #[inline]
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        let state = self.state.wrap().map_err(ser::Error::custom)?;
        self.inner.serialize_newtype_struct(name, &Guarded { value, state })
    }

    #[inline]
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        let state = self.state.enter(1).map_err(ser::Error::custom)?;
        self.inner.serialize_newtype_variant(
            name,
            index,
            variant,
            &Guarded { value, state },
        )
    }

    #[inline]
    fn serialize_seq(self, len: Option<usize>) -> Result<Self::SerializeSeq, S::Error> {
        let state = self.state.enter(1).map_err(ser::Error::custom)?;
        Ok(Serializer { inner: self.inner.serialize_seq(len)?, state })
    }

    #[inline]
    fn serialize_tuple(self, len: usize) -> Result<Self::SerializeTuple, S::Error> {
        let state = self.state.enter(1).map_err(ser::Error::custom)?;
        Ok(Serializer { inner: self.inner.serialize_tuple(len)?, state })
    }

    #[inline]
    fn serialize_tuple_struct(
        self,
        name: &'static str,
        len: usize,
    ) -> Result<Self::SerializeTupleStruct, S::Error> {
        let state = self.state.enter(1).map_err(ser::Error::custom)?;
        Ok(Serializer { inner: self.inner.serialize_tuple_struct(name, len)?, state })
    }

    #[inline]
    fn serialize_tuple_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Self::SerializeTupleVariant, S::Error> {
        let state = self.state.enter(2).map_err(ser::Error::custom)?;
        let inner = self.inner.serialize_tuple_variant(name, index, variant, len)?;
        Ok(Serializer { inner, state })
    }

    #[inline]
    fn serialize_map(self, len: Option<usize>) -> Result<Self::SerializeMap, S::Error> {
        let state = self.state.enter(1).map_err(ser::Error::custom)?;
        Ok(Serializer { inner: self.inner.serialize_map(len)?, state })
    }

    #[inline]
    fn serialize_struct(
        self,
        name: &'static str,
        len: usize,
    ) -> Result<Self::SerializeStruct, S::Error> {
        let state = self.state.enter(1).map_err(ser::Error::custom)?;
        Ok(Serializer { inner: self.inner.serialize_struct(name, len)?, state })
    }

    #[inline]
    fn serialize_struct_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Self::SerializeStructVariant, S::Error> {
        let state = self.state.enter(2).map_err(ser::Error::custom)?;
        let inner = self.inner.serialize_struct_variant(name, index, variant, len)?;
        Ok(Serializer { inner, state })
    }

    #[inline]
    fn collect_str<T: fmt::Display + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        self.inner.collect_str(value)
    }

    #[inline]
    fn is_human_readable(&self) -> bool {
        self.inner.is_human_readable()
    }
}

macro_rules! forward_elements {
    ($($trait:ident::$method:ident),* $(,)?) => {
        $(
            impl<S: ser::$trait> ser::$trait for Serializer<'_, S> {
                type Ok = S::Ok;
                type Error = S::Error;

                #[inline]
                fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), S::Error> {
                    self.inner.$method(&Guarded { value, state: self.state })
                }

                #[inline]
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
            impl<S: ser::$trait> ser::$trait for Serializer<'_, S> {
                type Ok = S::Ok;
                type Error = S::Error;

                #[inline]
                fn serialize_field<T: Serialize + ?Sized>(
                    &mut self,
                    key: &'static str,
                    value: &T,
                ) -> Result<(), S::Error> {
                    self.inner.serialize_field(key, &Guarded { value, state: self.state })
                }

                #[inline]
                fn skip_field(&mut self, key: &'static str) -> Result<(), S::Error> {
                    self.inner.skip_field(key)
                }

                #[inline]
                fn end(self) -> Result<S::Ok, S::Error> {
                    self.inner.end()
                }
            }
        )*
    };
}

forward_fields!(SerializeStruct, SerializeStructVariant);

impl<S: ser::SerializeMap> ser::SerializeMap for Serializer<'_, S> {
    type Ok = S::Ok;
    type Error = S::Error;

    #[inline]
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), S::Error> {
        self.inner.serialize_key(&Guarded { value: key, state: self.state })
    }

    #[inline]
    fn serialize_value<T: Serialize + ?Sized>(
        &mut self,
        value: &T,
    ) -> Result<(), S::Error> {
        self.inner.serialize_value(&Guarded { value, state: self.state })
    }

    #[inline]
    fn serialize_entry<K: Serialize + ?Sized, V: Serialize + ?Sized>(
        &mut self,
        key: &K,
        value: &V,
    ) -> Result<(), S::Error> {
        let state = self.state;
        self.inner
            .serialize_entry(&Guarded { value: key, state }, &Guarded { value, state })
    }

    #[inline]
    fn end(self) -> Result<S::Ok, S::Error> {
        self.inner.end()
    }
}

// ---------------------------------------------------------------- deserialising

/// How a library's deserializer treats its input `'src`, as far as values for `'de` must know.
///
/// Implemented by [`Lends`], [`Copies`] and [`Untagged`]; [`Guard`]'s methods choose one.
pub trait Source<'src, 'de> {
    /// Whether an element can take no bytes, so that elements must be counted.
    const UNTAGGED: bool;

    /// Hands on text that the library lends.
    ///
    /// # Errors
    /// Those of the visitor.
    fn visit_str<V: Visitor<'de>, E: de::Error>(
        visitor: V,
        text: &'src str,
    ) -> Result<V::Value, E>;

    /// Hands on bytes that the library lends.
    ///
    /// # Errors
    /// Those of the visitor.
    fn visit_bytes<V: Visitor<'de>, E: de::Error>(
        visitor: V,
        bytes: &'src [u8],
    ) -> Result<V::Value, E>;
}

/// The library lends text and bytes out of the input.
#[derive(Clone, Copy, Debug)]
pub enum Lends {}

/// The library lends nothing that outlives the call.
#[derive(Clone, Copy, Debug)]
pub enum Copies {}

/// The library lends, and its wire has no tags: an element may take no bytes.
#[derive(Clone, Copy, Debug)]
pub enum Untagged {}

macro_rules! lending_source {
    ($type:ty, $untagged:literal) => {
        impl<'de> Source<'de, 'de> for $type {
            const UNTAGGED: bool = $untagged;

            #[inline]
            fn visit_str<V: Visitor<'de>, E: de::Error>(
                visitor: V,
                text: &'de str,
            ) -> Result<V::Value, E> {
                visitor.visit_borrowed_str(text)
            }

            #[inline]
            fn visit_bytes<V: Visitor<'de>, E: de::Error>(
                visitor: V,
                bytes: &'de [u8],
            ) -> Result<V::Value, E> {
                visitor.visit_borrowed_bytes(bytes)
            }
        }
    };
}

lending_source!(Lends, false);
lending_source!(Untagged, true);

impl<'src, 'de> Source<'src, 'de> for Copies {
    const UNTAGGED: bool = false;

    #[inline]
    fn visit_str<V: Visitor<'de>, E: de::Error>(
        visitor: V,
        text: &'src str,
    ) -> Result<V::Value, E> {
        visitor.visit_str(text)
    }

    #[inline]
    fn visit_bytes<V: Visitor<'de>, E: de::Error>(
        visitor: V,
        bytes: &'src [u8],
    ) -> Result<V::Value, E> {
        visitor.visit_bytes(bytes)
    }
}

/// A library's deserializer under a [`Guard`]; made by [`Guard::lending`], [`Guard::copying`]
/// and [`Guard::untagged`].
#[derive(Debug)]
pub struct Deserializer<'src, 's, P, D> {
    inner: D,
    state: State<'s>,
    source: PhantomData<(&'src (), P)>,
}

struct Within<'de, 's, P, V> {
    inner: V,
    state: State<'s>,
    /// Whether the elements of a sequence are data and not the fields of a type.
    counted: bool,
    source: PhantomData<(&'de (), P)>,
}

struct Access<'src, 's, P, A> {
    inner: A,
    state: State<'s>,
    counted: bool,
    source: PhantomData<(&'src (), P)>,
}

impl<'s, P, D> Deserializer<'_, 's, P, D> {
    #[inline]
    fn within<'de, V>(&self, inner: V, counted: bool) -> Within<'de, 's, P, V> {
        Within { inner, state: self.state, counted, source: PhantomData }
    }
}

macro_rules! forward_questions {
    ($counted:literal: $($method:ident)*) => {
        $(
            #[inline]
            fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
                let visitor = self.within(visitor, $counted);
                self.inner.$method(visitor)
            }
        )*
    };
}

impl<'src, 'de, P, D> de::Deserializer<'de> for Deserializer<'src, '_, P, D>
where
    P: Source<'src, 'de>,
    D: de::Deserializer<'src>,
{
    type Error = D::Error;

    forward_questions! {
        false:
        deserialize_bool
        deserialize_i8
        deserialize_i16
        deserialize_i32
        deserialize_i64
        deserialize_i128
        deserialize_u8
        deserialize_u16
        deserialize_u32
        deserialize_u64
        deserialize_u128
        deserialize_f32
        deserialize_f64
        deserialize_char
        deserialize_str
        deserialize_unit
        deserialize_identifier
        deserialize_ignored_any
        deserialize_option
    }

    forward_questions! {
        true:
        deserialize_any
        deserialize_bytes
        deserialize_seq
        deserialize_map
    }

    #[inline]
    fn deserialize_string<V: Visitor<'de>>(
        self,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        let visitor = self.within(visitor, false);
        if P::UNTAGGED {
            self.inner.deserialize_str(visitor)
        } else {
            self.inner.deserialize_string(visitor)
        }
    }

    #[inline]
    fn deserialize_byte_buf<V: Visitor<'de>>(
        self,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        let visitor = self.within(visitor, true);
        if P::UNTAGGED {
            self.inner.deserialize_bytes(visitor)
        } else {
            self.inner.deserialize_byte_buf(visitor)
        }
    }

    #[inline]
    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        let visitor = self.within(visitor, false);
        self.inner.deserialize_unit_struct(name, visitor)
    }

    #[inline]
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        let visitor = self.within(visitor, false);
        self.inner.deserialize_newtype_struct(name, visitor)
    }

    #[inline]
    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        let visitor = self.within(visitor, false);
        self.inner.deserialize_tuple(len, visitor)
    }

    #[inline]
    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        let visitor = self.within(visitor, false);
        self.inner.deserialize_tuple_struct(name, len, visitor)
    }

    #[inline]
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        let visitor = self.within(visitor, false);
        self.inner.deserialize_struct(name, fields, visitor)
    }

    #[inline]
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        let visitor = self.within(visitor, false);
        self.inner.deserialize_enum(name, variants, visitor)
    }

    #[inline]
    fn is_human_readable(&self) -> bool {
        self.inner.is_human_readable()
    }
}

macro_rules! forward_visits {
    ($($method:ident: $type:ty),* $(,)?) => {
        $(
            #[inline]
            fn $method<E: de::Error>(self, v: $type) -> Result<V::Value, E> {
                self.inner.$method(v)
            }
        )*
    };
}

impl<'src, 'de, P, V> Visitor<'src> for Within<'de, '_, P, V>
where
    P: Source<'src, 'de>,
    V: Visitor<'de>,
{
    type Value = V::Value;

    #[inline]
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.expecting(f)
    }

    forward_visits! {
        visit_bool: bool,
        visit_i8: i8,
        visit_i16: i16,
        visit_i32: i32,
        visit_i64: i64,
        visit_i128: i128,
        visit_u8: u8,
        visit_u16: u16,
        visit_u32: u32,
        visit_u64: u64,
        visit_u128: u128,
        visit_f32: f32,
        visit_f64: f64,
        visit_char: char,
        visit_str: &str,
        visit_string: String,
        visit_bytes: &[u8],
        visit_byte_buf: Vec<u8>,
    }

    #[inline]
    fn visit_borrowed_str<E: de::Error>(self, v: &'src str) -> Result<V::Value, E> {
        P::visit_str(self.inner, v)
    }

    #[inline]
    fn visit_borrowed_bytes<E: de::Error>(self, v: &'src [u8]) -> Result<V::Value, E> {
        P::visit_bytes(self.inner, v)
    }

    #[inline]
    fn visit_none<E: de::Error>(self) -> Result<V::Value, E> {
        self.inner.visit_none()
    }

    #[inline]
    fn visit_unit<E: de::Error>(self) -> Result<V::Value, E> {
        self.inner.visit_unit()
    }

    #[inline]
    fn visit_some<D: de::Deserializer<'src>>(
        self,
        inner: D,
    ) -> Result<V::Value, D::Error> {
        let state = self.state.wrap().map_err(de::Error::custom)?;
        let source = PhantomData::<(&'src (), P)>;
        self.inner.visit_some(Deserializer { inner, state, source })
    }

    #[inline]
    fn visit_newtype_struct<D: de::Deserializer<'src>>(
        self,
        inner: D,
    ) -> Result<V::Value, D::Error> {
        let state = self.state.wrap().map_err(de::Error::custom)?;
        let source = PhantomData::<(&'src (), P)>;
        self.inner.visit_newtype_struct(Deserializer { inner, state, source })
    }

    #[inline]
    fn visit_seq<A: de::SeqAccess<'src>>(self, inner: A) -> Result<V::Value, A::Error> {
        let state = self.state.enter(1).map_err(de::Error::custom)?;
        let (counted, source) = (self.counted, PhantomData::<(&'src (), P)>);
        self.inner.visit_seq(Access { inner, state, counted, source })
    }

    #[inline]
    fn visit_map<A: de::MapAccess<'src>>(self, inner: A) -> Result<V::Value, A::Error> {
        let state = self.state.enter(1).map_err(de::Error::custom)?;
        let (counted, source) = (self.counted, PhantomData::<(&'src (), P)>);
        self.inner.visit_map(Access { inner, state, counted, source })
    }

    #[inline]
    fn visit_enum<A: de::EnumAccess<'src>>(self, inner: A) -> Result<V::Value, A::Error> {
        let (state, source) = (self.state, PhantomData::<(&'src (), P)>);
        self.inner.visit_enum(Access { inner, state, counted: false, source })
    }
}

impl<'src, 'de, P, S> DeserializeSeed<'src> for Within<'de, '_, P, S>
where
    P: Source<'src, 'de>,
    S: DeserializeSeed<'de>,
{
    type Value = S::Value;

    #[inline]
    fn deserialize<D: de::Deserializer<'src>>(
        self,
        inner: D,
    ) -> Result<S::Value, D::Error> {
        let source = PhantomData::<(&'src (), P)>;
        self.inner.deserialize(Deserializer { inner, state: self.state, source })
    }
}

impl<'s, P, A> Access<'_, 's, P, A> {
    #[inline]
    fn within<'de, S>(&self, inner: S) -> Within<'de, 's, P, S> {
        Within { inner, state: self.state, counted: false, source: PhantomData }
    }
}

impl<'src, 'de, P, A> de::SeqAccess<'de> for Access<'src, '_, P, A>
where
    P: Source<'src, 'de>,
    A: de::SeqAccess<'src>,
{
    type Error = A::Error;

    #[inline]
    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        let seed = self.within(seed);
        let element = self.inner.next_element_seed(seed)?;
        if P::UNTAGGED && self.counted && element.is_some() {
            self.state.count().map_err(de::Error::custom)?;
        }
        Ok(element)
    }

    #[inline]
    fn size_hint(&self) -> Option<usize> {
        self.inner.size_hint()
    }
}

impl<'src, 'de, P, A> de::MapAccess<'de> for Access<'src, '_, P, A>
where
    P: Source<'src, 'de>,
    A: de::MapAccess<'src>,
{
    type Error = A::Error;

    #[inline]
    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        let seed = self.within(seed);
        let key = self.inner.next_key_seed(seed)?;
        if P::UNTAGGED && self.counted && key.is_some() {
            self.state.count().map_err(de::Error::custom)?;
        }
        Ok(key)
    }

    #[inline]
    fn next_value_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<S::Value, A::Error> {
        let seed = self.within(seed);
        self.inner.next_value_seed(seed)
    }

    #[inline]
    fn size_hint(&self) -> Option<usize> {
        self.inner.size_hint()
    }
}

impl<'src, 'de, 's, P, A> de::EnumAccess<'de> for Access<'src, 's, P, A>
where
    P: Source<'src, 'de>,
    A: de::EnumAccess<'src>,
{
    type Error = A::Error;
    type Variant = Access<'src, 's, P, A::Variant>;

    #[inline]
    fn variant_seed<S: DeserializeSeed<'de>>(
        self,
        seed: S,
    ) -> Result<(S::Value, Self::Variant), A::Error> {
        let seed = self.within(seed);
        let Self { state, counted, source, .. } = self;
        let (value, inner) = self.inner.variant_seed(seed)?;
        Ok((value, Access { inner, state, counted, source }))
    }
}

impl<'src, 'de, P, A> de::VariantAccess<'de> for Access<'src, '_, P, A>
where
    P: Source<'src, 'de>,
    A: de::VariantAccess<'src>,
{
    type Error = A::Error;

    #[inline]
    fn unit_variant(self) -> Result<(), A::Error> {
        self.inner.unit_variant()
    }

    #[inline]
    fn newtype_variant_seed<S: DeserializeSeed<'de>>(
        mut self,
        seed: S,
    ) -> Result<S::Value, A::Error> {
        self.state = self.state.enter(1).map_err(de::Error::custom)?;
        let seed = self.within(seed);
        self.inner.newtype_variant_seed(seed)
    }

    #[inline]
    fn tuple_variant<V: Visitor<'de>>(
        mut self,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        // The visitor enters the second level when it meets the sequence.
        self.state = self.state.enter(1).map_err(de::Error::custom)?;
        let visitor = self.within(visitor);
        self.inner.tuple_variant(len, visitor)
    }

    #[inline]
    fn struct_variant<V: Visitor<'de>>(
        mut self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        self.state = self.state.enter(1).map_err(de::Error::custom)?;
        let visitor = self.within(visitor);
        self.inner.struct_variant(fields, visitor)
    }
}
