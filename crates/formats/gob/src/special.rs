//! Go's types that serde has no word for: [`Complex`], [`Opaque`], [`Interface`].
//!
//! Each is a newtype whose name our serializer and deserializer know. Through any other format
//! they go as what they hold.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{self, Deserialize, Deserializer, SeqAccess, Visitor};
use serde::ser::{Serialize, Serializer};

use crate::types::OpaqueKind;

pub(crate) const COMPLEX_TOKEN: &str = "$wiremark_gob::Complex";
pub(crate) const OPAQUE_TOKEN: &str = "$wiremark_gob::Opaque";
pub(crate) const INTERFACE_TOKEN: &str = "$wiremark_gob::Interface";

/// Go's `complex64` and `complex128`.
///
/// ```
/// use wiremark_gob::{Complex, from_slice, to_vec};
///
/// let bytes = to_vec(&Complex { re: 1.0, im: 2.0 })?;
/// assert_eq!(bytes, [0x06, 0x0e, 0x00, 0xfe, 0xf0, 0x3f, 0x40]);
/// assert_eq!(from_slice::<Complex>(&bytes)?, Complex { re: 1.0, im: 2.0 });
/// # Ok::<(), wiremark_gob::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Complex {
    /// The real part.
    pub re: f64,
    /// The imaginary part.
    pub im: f64,
}

impl Serialize for Complex {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_newtype_struct(COMPLEX_TOKEN, &(self.re, self.im))
    }
}

impl<'de> Deserialize<'de> for Complex {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Parts;

        impl<'de> Visitor<'de> for Parts {
            type Value = Complex;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a complex number")
            }

            fn visit_newtype_struct<D: Deserializer<'de>>(
                self,
                deserializer: D,
            ) -> Result<Complex, D::Error> {
                let (re, im) = Deserialize::deserialize(deserializer)?;
                Ok(Complex { re, im })
            }

            fn visit_seq<A: SeqAccess<'de>>(
                self,
                mut seq: A,
            ) -> Result<Complex, A::Error> {
                let missing = |len| move || de::Error::invalid_length(len, &"two floats");
                let re = seq.next_element()?.ok_or_else(missing(0))?;
                let im = seq.next_element()?.ok_or_else(missing(1))?;
                Ok(Complex { re, im })
            }
        }

        deserializer.deserialize_newtype_struct(COMPLEX_TOKEN, Parts)
    }
}

/// A value that encodes itself: `time.Time`, `big.Int`, any `GobEncoder`.
///
/// Its bytes are between the Go type's two methods; this crate reads those of [`Time`] and of
/// integers of 128 bits.
///
/// [`Time`]: crate::Time
///
/// ```
/// use wiremark_gob::{Opaque, OpaqueKind, from_slice, to_vec};
///
/// let level = Opaque { kind: OpaqueKind::Binary, name: "Level".into(), payload: vec![7] };
/// assert_eq!(from_slice::<Opaque>(&to_vec(&level)?)?, level);
/// # Ok::<(), wiremark_gob::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Opaque {
    /// Which of Go's methods made it. A Go reader needs the same one.
    pub kind: OpaqueKind,
    /// The name of the type, a remark only.
    pub name: Box<str>,
    /// What the method returned.
    pub payload: Vec<u8>,
}

impl Opaque {
    /// Kind, length of the name as two bytes, name, payload.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let kind = match self.kind {
            OpaqueKind::Gob => 4,
            OpaqueKind::Binary => 5,
            OpaqueKind::Text => 6,
        };
        // A longer name is cut: it is a remark.
        let mut len = self.name.len().min(usize::from(u16::MAX));
        while !self.name.is_char_boundary(len) {
            len -= 1;
        }
        let name = &self.name.as_bytes()[..len];
        let len = u16::try_from(len).unwrap_or(0).to_be_bytes();
        [&[kind], &len[..], name, &self.payload].concat()
    }

    /// The reverse of [`to_bytes`](Self::to_bytes).
    pub(crate) fn split(bytes: &[u8]) -> Option<(OpaqueKind, &str, &[u8])> {
        let (kind, rest) = bytes.split_first()?;
        let kind = match kind {
            4 => OpaqueKind::Gob,
            5 => OpaqueKind::Binary,
            6 => OpaqueKind::Text,
            _ => return None,
        };
        let (len, rest) = rest.split_first_chunk::<2>()?;
        let (name, payload) =
            rest.split_at_checked(usize::from(u16::from_be_bytes(*len)))?;
        Some((kind, std::str::from_utf8(name).ok()?, payload))
    }
}

/// Bytes that are written with `serialize_bytes`.
pub(crate) struct Bytes<'a>(pub(crate) &'a [u8]);

impl Serialize for Bytes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.0)
    }
}

impl Serialize for Opaque {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_newtype_struct(OPAQUE_TOKEN, &Bytes(&self.to_bytes()))
    }
}

impl<'de> Deserialize<'de> for Opaque {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let of = |bytes: &[u8]| {
            let (kind, name, payload) = Opaque::split(bytes)?;
            Some(Self { kind, name: name.into(), payload: payload.to_owned() })
        };
        deserializer.deserialize_newtype_struct(
            OPAQUE_TOKEN,
            BytesVisitor { of, expecting: "a value that encodes itself" },
        )
    }
}

/// Takes bytes, inside a newtype or bare.
pub(crate) struct BytesVisitor<F> {
    pub(crate) of: F,
    pub(crate) expecting: &'static str,
}

impl<'de, T, F: Fn(&[u8]) -> Option<T>> Visitor<'de> for BytesVisitor<F> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expecting)
    }

    fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<T, E> {
        (self.of)(bytes).ok_or_else(|| {
            E::invalid_value(de::Unexpected::Bytes(bytes), &self.expecting)
        })
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> Result<T, D::Error> {
        deserializer.deserialize_bytes(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<T, A::Error> {
        let mut bytes = Vec::new();
        while let Some(byte) = seq.next_element()? {
            bytes.push(byte);
        }
        self.visit_bytes(&bytes)
    }
}

/// A value in a place of any type: Go's `any` and other interfaces.
///
/// Go needs to know the concrete type, so its *registered name* goes along. Without one the
/// usual is written: `int`, `uint`, `float64`, `string`, `bool`, `[]uint8`,
/// `map[string]interface {}`, `[]interface {}`, the name of a struct. Go programs know the names
/// of basic types and of slices of them; others they must register.
///
/// ```
/// use wiremark_gob::{Interface, from_slice, to_vec};
///
/// #[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
/// struct One { #[serde(rename = "V")] v: Interface<i32> }
///
/// let one = One { v: Interface::named("main.Celsius", 21) };
/// assert_eq!(from_slice::<One>(&to_vec(&one)?)?, one);
/// # Ok::<(), wiremark_gob::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Interface<T> {
    /// The registered name; empty for the usual one.
    pub name: String,
    /// The value.
    pub value: T,
}

impl<T> Interface<T> {
    /// A value under the usual name of its type.
    pub fn new(value: T) -> Self {
        Self { name: String::new(), value }
    }

    /// A value under a name that the reader has registered.
    pub fn named(name: impl Into<String>, value: T) -> Self {
        Self { name: name.into(), value }
    }
}

impl<T: Serialize> Serialize for Interface<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_newtype_struct(INTERFACE_TOKEN, &(&self.name, &self.value))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Interface<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Named<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Named<T> {
            type Value = Interface<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value of any type with its name")
            }

            fn visit_newtype_struct<D: Deserializer<'de>>(
                self,
                deserializer: D,
            ) -> Result<Interface<T>, D::Error> {
                let (name, value) = Deserialize::deserialize(deserializer)?;
                Ok(Interface { name, value })
            }

            fn visit_seq<A: SeqAccess<'de>>(
                self,
                mut seq: A,
            ) -> Result<Interface<T>, A::Error> {
                let missing =
                    |len| move || de::Error::invalid_length(len, &"name and value");
                let name = seq.next_element()?.ok_or_else(missing(0))?;
                let value = seq.next_element()?.ok_or_else(missing(1))?;
                Ok(Interface { name, value })
            }
        }

        deserializer.deserialize_newtype_struct(INTERFACE_TOKEN, Named(PhantomData))
    }
}

/// For `#[serde(with = "wiremark_gob::interface")]`: a field of any type that stands in a Go
/// field of type `any`.
///
/// ```
/// #[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
/// struct One { #[serde(rename = "V", with = "wiremark_gob::interface")] v: i32 }
///
/// let bytes = wiremark_gob::to_vec(&One { v: 5 })?;
/// // "V" has the id 8, and the value its name "int".
/// assert!(bytes.windows(6).any(|part| part == [1, b'V', 1, 0x10, 0, 0]));
/// assert!(bytes.windows(4).any(|part| part == *b"\x03int"));
/// assert_eq!(wiremark_gob::from_slice::<One>(&bytes)?, One { v: 5 });
/// # Ok::<(), wiremark_gob::Error>(())
/// ```
pub mod interface {
    use super::{
        Deserialize, Deserializer, INTERFACE_TOKEN, Interface, Serialize, Serializer,
    };

    /// Writes `value` as an interface under the usual name of its type.
    ///
    /// # Errors
    /// Those of `value`.
    pub fn serialize<T: Serialize + ?Sized, S: Serializer>(
        value: &T,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_newtype_struct(INTERFACE_TOKEN, &("", value))
    }

    /// Reads a value that is an interface, or is not.
    ///
    /// # Errors
    /// Those of `T`.
    pub fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<T, D::Error> {
        Interface::deserialize(deserializer)
            .map(|interface: Interface<T>| interface.value)
    }
}
