//! A library's deserializer under a guard.
//!
//! Two lifetimes run through it: the library reads from `'src`, the value may borrow for `'de`.
//! They are one unless the library lends nothing.
#![expect(
    clippy::inline_always,
    reason = "each step passes on what it was given: left to itself, the compiler calls some of \
              them, and an event through rmp-serde takes 1 to 2 % longer"
)]

use std::borrow::Borrow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{
    self, Deserializer, EnumAccess, Error, MapAccess, SeqAccess, VariantAccess, Visitor,
};

use super::Place;

/// Writes the methods for scalars and text: as declarations of [`Source`], as one of the two
/// implementations, and as what [`Guarded`] does with them.
macro_rules! leaves {
    ($what:ident) => {
        leaves! {
            $what:
            deserialize_bool
            deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
            deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
            deserialize_f32 deserialize_f64
            deserialize_char deserialize_str
            deserialize_unit deserialize_identifier
        }
    };
    (declare: $($method:ident)*) => {
        $(
            fn $method<D: Deserializer<'src>, V: Visitor<'de>>(
                library: D,
                visitor: Within<'de, '_, Self, V>,
            ) -> Result<V::Value, D::Error>;
        )*
    };
    (bare: $($method:ident)*) => {
        $(
            #[inline(always)]
            fn $method<D: Deserializer<'de>, V: Visitor<'de>>(
                library: D,
                visitor: Within<'de, '_, Self, V>,
            ) -> Result<V::Value, D::Error> {
                library.$method(visitor.inner)
            }
        )*
    };
    (guarded_lending: $($method:ident)*) => {
        $(
            #[inline(always)]
            fn $method<D: Deserializer<'de>, V: Visitor<'de>>(
                library: D,
                visitor: Within<'de, '_, Self, V>,
            ) -> Result<V::Value, D::Error> {
                library.$method(visitor)
            }
        )*
    };
    (guarded: $($method:ident)*) => {
        $(
            #[inline(always)]
            fn $method<D: Deserializer<'src>, V: Visitor<'de>>(
                library: D,
                visitor: Within<'de, '_, Self, V>,
            ) -> Result<V::Value, D::Error> {
                library.$method(visitor)
            }
        )*
    };
    (forward: $($method:ident)*) => {
        $(
            #[inline(always)]
            fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
                P::$method(self.inner, Within::new(visitor, self.place.borrow()))
            }
        )*
    };
}

/// How a library's deserializer treats its input.
pub(super) trait Source<'src, 'de>: Sized {
    /// Whether an element may take no bytes, so that elements must be counted and the lengths
    /// of owned text checked.
    const UNTAGGED: bool;

    /// Whether the library answers a question for a newtype struct with `visit_newtype_struct`,
    /// as it should. Where it does not, the guard answers.
    const KNOWS_NEWTYPES: bool = true;

    fn visit_str<V: Visitor<'de>, E: Error>(
        visitor: V,
        text: &'src str,
    ) -> Result<V::Value, E>;

    fn visit_bytes<V: Visitor<'de>, E: Error>(
        visitor: V,
        bytes: &'src [u8],
    ) -> Result<V::Value, E>;

    // Scalars and text. No library answers a question for a number with a sequence, and what
    // wants text refuses one; so where the lifetimes allow it, the library sees the type's own
    // visitor, and reads scalars by the same code as without a guard.
    leaves! { declare }
    leaves! { declare: deserialize_string }
}

/// The library lends text and bytes out of the input.
pub(super) enum Lends {}

/// The library lends, and does not know newtype structs.
pub(super) enum LendsBare {}

/// The library lends nothing that outlives the call.
pub(super) enum Copies {}

/// The library lends, and its wire has no tags.
pub(super) enum Untagged {}

macro_rules! lending_source {
    ($type:ty, $untagged:literal, $knows_newtypes:literal, $leaves:ident) => {
        impl<'de> Source<'de, 'de> for $type {
            const UNTAGGED: bool = $untagged;
            const KNOWS_NEWTYPES: bool = $knows_newtypes;

            #[inline(always)]
            fn visit_str<V: Visitor<'de>, E: Error>(
                visitor: V,
                text: &'de str,
            ) -> Result<V::Value, E> {
                visitor.visit_borrowed_str(text)
            }

            #[inline(always)]
            fn visit_bytes<V: Visitor<'de>, E: Error>(
                visitor: V,
                bytes: &'de [u8],
            ) -> Result<V::Value, E> {
                visitor.visit_borrowed_bytes(bytes)
            }

            leaves! { $leaves }
            leaves! { $leaves: deserialize_string }
        }
    };
}

lending_source!(Lends, false, true, bare);
// A library that does not look at what it is asked for may answer anything.
lending_source!(LendsBare, false, false, guarded_lending);
lending_source!(Untagged, true, true, bare);

impl<'src, 'de> Source<'src, 'de> for Copies {
    const UNTAGGED: bool = false;

    #[inline(always)]
    fn visit_str<V: Visitor<'de>, E: Error>(
        visitor: V,
        text: &'src str,
    ) -> Result<V::Value, E> {
        visitor.visit_str(text)
    }

    #[inline(always)]
    fn visit_bytes<V: Visitor<'de>, E: Error>(
        visitor: V,
        bytes: &'src [u8],
    ) -> Result<V::Value, E> {
        visitor.visit_bytes(bytes)
    }

    leaves! { guarded }
    leaves! { guarded: deserialize_string }
}

/// A library's deserializer under a guard.
///
/// The outermost holds its place, the others borrow that of the compound they are in.
pub(super) struct Guarded<'src, P, D, H> {
    inner: D,
    place: H,
    source: PhantomData<(&'src (), P)>,
}

/// A visitor or a seed under a guard. `COUNTED` if the elements of a sequence are data and not
/// the fields of a type.
pub(super) struct Within<'de, 's, P, V, const COUNTED: bool = false> {
    inner: V,
    place: &'s Place<'s>,
    source: PhantomData<(&'de (), P)>,
}

/// What a library hands to a visitor, under a guard.
struct Access<'src, 's, P, A, const COUNTED: bool = false> {
    inner: A,
    place: &'s Place<'s>,
    source: PhantomData<(&'src (), P)>,
}

impl<P, D, H> Guarded<'_, P, D, H> {
    #[inline(always)]
    pub(super) fn new(inner: D, place: H) -> Self {
        Self { inner, place, source: PhantomData }
    }
}

impl<'s, P, V, const COUNTED: bool> Within<'_, 's, P, V, COUNTED> {
    #[inline(always)]
    fn new(inner: V, place: &'s Place<'s>) -> Self {
        Self { inner, place, source: PhantomData }
    }
}

impl<'s, P, A, const COUNTED: bool> Access<'_, 's, P, A, COUNTED> {
    #[inline(always)]
    fn new(inner: A, place: &'s Place<'s>) -> Self {
        Self { inner, place, source: PhantomData }
    }
}

impl<'src, 'de, 's, P, D, H> Deserializer<'de> for Guarded<'src, P, D, H>
where
    H: Borrow<Place<'s>>,
    P: Source<'src, 'de>,
    D: Deserializer<'src>,
{
    type Error = D::Error;

    leaves! { forward }

    #[inline(always)]
    fn deserialize_string<V: Visitor<'de>>(
        self,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        let visitor = Within::new(visitor, self.place.borrow());
        if P::UNTAGGED {
            P::deserialize_str(self.inner, visitor)
        } else {
            P::deserialize_string(self.inner, visitor)
        }
    }

    #[inline(always)]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.inner
            .deserialize_any(Within::<P, V, true>::new(visitor, self.place.borrow()))
    }

    #[inline(always)]
    fn deserialize_ignored_any<V: Visitor<'de>>(
        self,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.inner
            .deserialize_ignored_any(Within::<P, V>::new(visitor, self.place.borrow()))
    }

    #[inline(always)]
    fn deserialize_bytes<V: Visitor<'de>>(
        self,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.inner.deserialize_bytes(Within::<P, V>::new(visitor, self.place.borrow()))
    }

    #[inline(always)]
    fn deserialize_byte_buf<V: Visitor<'de>>(
        self,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        let visitor = Within::<P, V>::new(visitor, self.place.borrow());
        if P::UNTAGGED {
            self.inner.deserialize_bytes(visitor)
        } else {
            self.inner.deserialize_byte_buf(visitor)
        }
    }

    #[inline(always)]
    fn deserialize_option<V: Visitor<'de>>(
        self,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.inner.deserialize_option(Within::<P, V>::new(visitor, self.place.borrow()))
    }

    #[inline(always)]
    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        let visitor = Within::<P, V>::new(visitor, self.place.borrow());
        self.inner.deserialize_unit_struct(name, visitor)
    }

    #[inline(always)]
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        if !P::KNOWS_NEWTYPES {
            let place = self.place.borrow().wrap(D::Error::custom)?;
            return visitor
                .visit_newtype_struct(Guarded::<P, D, _>::new(self.inner, &place));
        }
        let visitor = Within::<P, V>::new(visitor, self.place.borrow());
        self.inner.deserialize_newtype_struct(name, visitor)
    }

    #[inline(always)]
    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.inner
            .deserialize_seq(Within::<P, V, true>::new(visitor, self.place.borrow()))
    }

    #[inline(always)]
    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.inner
            .deserialize_tuple(len, Within::<P, V>::new(visitor, self.place.borrow()))
    }

    #[inline(always)]
    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        let visitor = Within::<P, V>::new(visitor, self.place.borrow());
        self.inner.deserialize_tuple_struct(name, len, visitor)
    }

    #[inline(always)]
    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.inner
            .deserialize_map(Within::<P, V, true>::new(visitor, self.place.borrow()))
    }

    #[inline(always)]
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        let visitor = Within::<P, V>::new(visitor, self.place.borrow());
        self.inner.deserialize_struct(name, fields, visitor)
    }

    #[inline(always)]
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        let visitor = Within::<P, V>::new(visitor, self.place.borrow());
        self.inner.deserialize_enum(name, variants, visitor)
    }

    #[inline(always)]
    fn is_human_readable(&self) -> bool {
        self.inner.is_human_readable()
    }
}

macro_rules! forward_visits {
    ($($method:ident: $type:ty),* $(,)?) => {
        $(
            #[inline(always)]
            fn $method<E: Error>(self, v: $type) -> Result<V::Value, E> {
                self.inner.$method(v)
            }
        )*
    };
}

impl<'src, 'de, P, V, const COUNTED: bool> Visitor<'src>
    for Within<'de, '_, P, V, COUNTED>
where
    P: Source<'src, 'de>,
    V: Visitor<'de>,
{
    type Value = V::Value;

    #[inline(always)]
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

    #[inline(always)]
    fn visit_borrowed_str<E: Error>(self, v: &'src str) -> Result<V::Value, E> {
        P::visit_str(self.inner, v)
    }

    #[inline(always)]
    fn visit_borrowed_bytes<E: Error>(self, v: &'src [u8]) -> Result<V::Value, E> {
        P::visit_bytes(self.inner, v)
    }

    #[inline(always)]
    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.inner.visit_none()
    }

    #[inline(always)]
    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.inner.visit_unit()
    }

    #[inline(always)]
    fn visit_some<D: Deserializer<'src>>(self, inner: D) -> Result<V::Value, D::Error> {
        let place = self.place.wrap(D::Error::custom)?;
        self.inner.visit_some(Guarded::<P, D, _>::new(inner, &place))
    }

    #[inline(always)]
    fn visit_newtype_struct<D: Deserializer<'src>>(
        self,
        inner: D,
    ) -> Result<V::Value, D::Error> {
        let place = self.place.wrap(D::Error::custom)?;
        self.inner.visit_newtype_struct(Guarded::<P, D, _>::new(inner, &place))
    }

    #[inline(always)]
    fn visit_seq<A: SeqAccess<'src>>(self, inner: A) -> Result<V::Value, A::Error> {
        let place = self.place.enter::<1, _>(A::Error::custom)?;
        self.inner.visit_seq(Access::<P, A, COUNTED>::new(inner, &place))
    }

    #[inline(always)]
    fn visit_map<A: MapAccess<'src>>(self, inner: A) -> Result<V::Value, A::Error> {
        let place = self.place.enter::<1, _>(A::Error::custom)?;
        self.inner.visit_map(Access::<P, A, COUNTED>::new(inner, &place))
    }

    #[inline(always)]
    fn visit_enum<A: EnumAccess<'src>>(self, inner: A) -> Result<V::Value, A::Error> {
        self.inner.visit_enum(Access::<P, A>::new(inner, self.place))
    }
}

impl<'src, 'de, P, S> de::DeserializeSeed<'src> for Within<'de, '_, P, S>
where
    P: Source<'src, 'de>,
    S: de::DeserializeSeed<'de>,
{
    type Value = S::Value;

    #[inline(always)]
    fn deserialize<D: Deserializer<'src>>(self, inner: D) -> Result<S::Value, D::Error> {
        self.inner.deserialize(Guarded::<P, D, _>::new(inner, self.place))
    }
}

impl<'src, 'de, P, A, const COUNTED: bool> SeqAccess<'de>
    for Access<'src, '_, P, A, COUNTED>
where
    P: Source<'src, 'de>,
    A: SeqAccess<'src>,
{
    type Error = A::Error;

    #[inline(always)]
    fn next_element_seed<S: de::DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        let seed = Within::<P, S>::new(seed, self.place);
        let element = self.inner.next_element_seed(seed);
        // Not before the element is read: the end of a sequence is no element. And what was
        // read is not taken out of its result: that is a copy of it for each element.
        if P::UNTAGGED && COUNTED && matches!(element, Ok(Some(_))) {
            self.place.guard.count(A::Error::custom)?;
        }
        element
    }

    #[inline(always)]
    fn size_hint(&self) -> Option<usize> {
        self.inner.size_hint()
    }
}

impl<'src, 'de, P, A, const COUNTED: bool> MapAccess<'de>
    for Access<'src, '_, P, A, COUNTED>
where
    P: Source<'src, 'de>,
    A: MapAccess<'src>,
{
    type Error = A::Error;

    #[inline(always)]
    fn next_key_seed<S: de::DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        let seed = Within::<P, S>::new(seed, self.place);
        let key = self.inner.next_key_seed(seed);
        if P::UNTAGGED && COUNTED && matches!(key, Ok(Some(_))) {
            self.place.guard.count(A::Error::custom)?;
        }
        key
    }

    #[inline(always)]
    fn next_value_seed<S: de::DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<S::Value, A::Error> {
        self.inner.next_value_seed(Within::<P, S>::new(seed, self.place))
    }

    #[inline(always)]
    fn size_hint(&self) -> Option<usize> {
        self.inner.size_hint()
    }
}

impl<'src, 'de, 's, P, A> EnumAccess<'de> for Access<'src, 's, P, A>
where
    P: Source<'src, 'de>,
    A: EnumAccess<'src>,
{
    type Error = A::Error;
    type Variant = Access<'src, 's, P, A::Variant>;

    #[inline(always)]
    fn variant_seed<S: de::DeserializeSeed<'de>>(
        self,
        seed: S,
    ) -> Result<(S::Value, Self::Variant), A::Error> {
        let seed = Within::<P, S>::new(seed, self.place);
        let (value, variant) = self.inner.variant_seed(seed)?;
        Ok((value, Access::new(variant, self.place)))
    }
}

impl<'src, 'de, P, A> VariantAccess<'de> for Access<'src, '_, P, A>
where
    P: Source<'src, 'de>,
    A: VariantAccess<'src>,
{
    type Error = A::Error;

    #[inline(always)]
    fn unit_variant(self) -> Result<(), A::Error> {
        self.inner.unit_variant()
    }

    #[inline(always)]
    fn newtype_variant_seed<S: de::DeserializeSeed<'de>>(
        self,
        seed: S,
    ) -> Result<S::Value, A::Error> {
        let place = self.place.enter::<1, _>(A::Error::custom)?;
        self.inner.newtype_variant_seed(Within::<P, S>::new(seed, &place))
    }

    #[inline(always)]
    fn tuple_variant<V: Visitor<'de>>(
        self,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        // The visitor enters the second level when it meets the sequence.
        let place = self.place.enter::<1, _>(A::Error::custom)?;
        self.inner.tuple_variant(len, Within::<P, V>::new(visitor, &place))
    }

    #[inline(always)]
    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        let place = self.place.enter::<1, _>(A::Error::custom)?;
        self.inner.struct_variant(fields, Within::<P, V>::new(visitor, &place))
    }
}
