//! What Perl has and Rust has not: objects, frozen objects, regular expressions, references.

use serde::de::{self, Deserialize, Deserializer, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeTuple, Serializer};
use std::fmt;
use std::marker::PhantomData;

/// Names of newtypes that this crate's serializer and deserializer know.
pub(crate) const OBJECT_TOKEN: &str = "$wiremark_sereal::Object";
pub(crate) const FROZEN_TOKEN: &str = "$wiremark_sereal::Frozen";
pub(crate) const REGEXP_TOKEN: &str = "$wiremark_sereal::Regexp";
pub(crate) const REF_TOKEN: &str = "$wiremark_sereal::Ref";

/// An object: something that is blessed into a class.
///
/// Without it, objects are read as what they are made of. In other formats it is a pair.
///
/// ```
/// use serde::{Deserialize, Serialize};
/// use wiremark_sereal::{Object, from_slice, to_vec};
///
/// #[derive(Debug, PartialEq, Serialize, Deserialize)]
/// struct Point { x: i32 }
///
/// let point = Object { class: "Point".to_owned(), value: Point { x: 1 } };
/// let bytes = to_vec(&point)?;
/// // OBJECT, "Point", a hash of one pair.
/// assert_eq!(bytes[6..], *b"\x2c\x65Point\x51\x61x\x01");
/// assert_eq!(from_slice::<Object<Point>>(&bytes)?, point);
/// assert_eq!(from_slice::<Point>(&bytes)?, point.value);
/// # Ok::<(), wiremark_sereal::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Object<T, C = String> {
    /// The class, as `Foo::Bar`.
    pub class: C,
    /// What is blessed.
    pub value: T,
}

/// An object that its class froze: what its `FREEZE` returned, for its `THAW`.
///
/// ```
/// use wiremark_sereal::{Frozen, from_slice, to_vec};
///
/// let time = Frozen { class: "DateTime".to_owned(), arguments: ("Sereal".to_owned(), 5) };
/// let bytes = to_vec(&time)?;
/// assert_eq!(bytes[6..], *b"\x32\x68DateTime\x28\x2b\x02\x66Sereal\x05");
/// assert_eq!(from_slice::<Frozen<(String, u64)>>(&bytes)?, time);
/// # Ok::<(), wiremark_sereal::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Frozen<T, C = String> {
    /// The class.
    pub class: C,
    /// A sequence: first `Sereal`, then what `FREEZE` returned.
    pub arguments: T,
}

/// A regular expression of Perl. It is never compiled here.
///
/// ```
/// use wiremark_sereal::{Regexp, from_slice, to_vec};
///
/// let regexp = Regexp { pattern: "^a".to_owned(), flags: "i".to_owned() };
/// let bytes = to_vec(&regexp)?;
/// assert_eq!(bytes[6..], *b"\x2c\x66Regexp\x28\x31\x62^a\x61i");
/// assert_eq!(from_slice::<Regexp>(&bytes)?, regexp);
/// assert_eq!(from_slice::<String>(&bytes)?, "^a");
/// # Ok::<(), wiremark_sereal::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Regexp<S = String> {
    /// The pattern.
    pub pattern: S,
    /// The modifiers, of the letters m, s, i, x, p and n.
    pub flags: S,
}

/// A reference more than the value has of itself: `\"text"` in Perl. Read, references are passed
/// over, so it is only of use for a Perl program that wants one.
///
/// ```
/// let bytes = wiremark_sereal::to_vec(&wiremark_sereal::Ref(1))?;
/// assert_eq!(bytes[6..], [0x28, 1]);
/// # Ok::<(), wiremark_sereal::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ref<T>(pub T);

/// Two things that are written as a tuple of them.
struct Pair<'a, A, B>(&'a A, &'a B);

impl<A: Serialize, B: Serialize> Serialize for Pair<'_, A, B> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut tuple = serializer.serialize_tuple(2)?;
        tuple.serialize_element(self.0)?;
        tuple.serialize_element(self.1)?;
        tuple.end()
    }
}

/// A newtype around a pair.
struct PairVisitor<A, B>(PhantomData<(A, B)>);

impl<'de, A: Deserialize<'de>, B: Deserialize<'de>> Visitor<'de> for PairVisitor<A, B> {
    type Value = (A, B);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a pair")
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> Result<(A, B), D::Error> {
        deserializer.deserialize_tuple(2, self)
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut seq: S) -> Result<(A, B), S::Error> {
        let too_few = |found| de::Error::invalid_length(found, &"a pair");
        let first = seq.next_element()?.ok_or_else(|| too_few(0))?;
        let second = seq.next_element()?.ok_or_else(|| too_few(1))?;
        Ok((first, second))
    }
}

macro_rules! pairs {
    ($($name:ident<$($param:ident),+> { $first:ident: $a:ident, $second:ident: $b:ident } = $token:ident;)*) => {$(
        impl<$($param: Serialize),+> Serialize for $name<$($param),+> {
            fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
                let pair = Pair(&self.$first, &self.$second);
                serializer.serialize_newtype_struct($token, &pair)
            }
        }

        impl<'de, $($param: Deserialize<'de>),+> Deserialize<'de> for $name<$($param),+> {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let visitor = PairVisitor::<$a, $b>(PhantomData);
                let ($first, $second) =
                    deserializer.deserialize_newtype_struct($token, visitor)?;
                Ok(Self { $first, $second })
            }
        }
    )*};
}

pairs! {
    Object<T, C> { class: C, value: T } = OBJECT_TOKEN;
    Frozen<T, C> { class: C, arguments: T } = FROZEN_TOKEN;
    Regexp<S> { pattern: S, flags: S } = REGEXP_TOKEN;
}

impl<T: Serialize> Serialize for Ref<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_newtype_struct(REF_TOKEN, &self.0)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Ref<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Inner<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Inner<T> {
            type Value = T;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a reference")
            }

            fn visit_newtype_struct<D: Deserializer<'de>>(
                self,
                deserializer: D,
            ) -> Result<T, D::Error> {
                T::deserialize(deserializer)
            }
        }
        deserializer.deserialize_newtype_struct(REF_TOKEN, Inner(PhantomData)).map(Self)
    }
}
