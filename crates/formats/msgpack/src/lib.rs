#![doc = include_str!("../README.md")]
//!
//! This crate knows `wiremark-core`, serde and `rmp-serde`; it never opens a file or reads a
//! clock.
#![forbid(unsafe_code)]

mod skip;

use std::cell::Cell;
use std::fmt;
use std::io::{self, Read, Write};
use std::marker::PhantomData;

use rmp_serde::{decode, encode};
use serde::de::{self, Deserialize, DeserializeOwned, Deserializer as _};
use serde::ser::Serialize;

use wiremark_core::depth::{Guard, MAX_DEPTH};
use wiremark_core::stream::Counted;
use wiremark_core::{
    Capabilities, Codec, CodecVisitor, Error, ErrorKind, Framing, Profile, Result, Role,
    Trailing, Upkeep, append,
};

/// Shows `visitor` each measured variant once.
///
/// ```
/// struct Ids(Vec<&'static str>);
/// impl wiremark_core::CodecVisitor for Ids {
///     fn visit<C: wiremark_core::Codec>(&mut self, codec: C) {
///         self.0.push(codec.profile().id);
///     }
/// }
///
/// let mut ids = Ids(Vec::new());
/// wiremark_msgpack::visit(&mut ids);
/// assert_eq!(ids.0, ["msgpack/rmp-serde/compact", "msgpack/rmp-serde/named"]);
/// ```
pub fn visit(visitor: &mut impl CodecVisitor) {
    visitor.visit(MsgPack::compact());
    visitor.visit(MsgPack::named());
}

/// MessagePack through `rmp-serde`.
#[derive(Clone, Debug)]
pub struct MsgPack {
    structs: Structs,
}

#[derive(Clone, Copy, Debug)]
enum Structs {
    Arrays,
    Maps,
}

impl MsgPack {
    /// Structs as arrays of their fields, the library's own choice.
    pub fn compact() -> Self {
        Self { structs: Structs::Arrays }
    }

    /// Structs as maps from names to fields, as other languages expect them.
    pub fn named() -> Self {
        Self { structs: Structs::Maps }
    }
}

impl Codec for MsgPack {
    fn profile(&self) -> Profile {
        let (id, named, caveat) = match self.structs {
            Structs::Arrays => (
                "msgpack/rmp-serde/compact",
                false,
                "structs are arrays: fields are told apart by position alone",
            ),
            Structs::Maps => ("msgpack/rmp-serde/named", true, ""),
        };
        Profile {
            id,
            format: "MessagePack",
            library: "rmp-serde",
            version: "1.3.1",
            spec: "MessagePack, https://github.com/msgpack/msgpack/blob/master/spec.md",
            license: "MIT",
            upkeep: Upkeep::Maintained,
            role: Role::Codec,
            framing: Framing::BackToBack,
            trailing: Trailing::RefusedByAdapter,
            can: Capabilities {
                self_describing: true,
                human_readable: false,
                field_names: named,
                borrow_str: true,
                borrow_bytes: true,
                bytes: true,
                int_128: true,
                non_finite_floats: true,
                nested_option: false,
                unit_is_some: false,
                integer_keys: true,
                compound_keys: true,
                unknown_length: true,
                omitted_fields: named,
                internally_tagged: true,
                adjacently_tagged: named,
                untagged: named,
                flatten: true,
                skip: true,
                deterministic: true,
                max_depth: MAX_DEPTH,
            },
            caveat,
        }
    }

    #[inline]
    fn encode_into<T: Serialize + ?Sized>(
        &mut self,
        value: &T,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        match self.structs {
            Structs::Arrays => write::<false, T>(value, out),
            Structs::Maps => write::<true, T>(value, out),
        }
    }

    #[inline]
    fn decode<'de, T: Deserialize<'de>>(&mut self, bytes: &'de [u8]) -> Result<T> {
        let guard = Guard::new();
        let mut library = rmp_serde::Deserializer::from_read_ref(bytes);
        // The library's own limit of 1024 stays: it does not count enums, so the guard must.
        match T::deserialize(guard.lending(&mut library)) {
            // The library does not tell how far it came, but whether another byte can be had.
            Ok(value) => match library.deserialize_bool(Nothing) {
                Err(decode::Error::InvalidMarkerRead(_)) => Ok(value),
                _ => Err(trailing(bytes)),
            },
            Err(error) => {
                Err(guard.error().unwrap_or_else(|| decode_error(error, bytes)))
            }
        }
    }

    fn decode_prefix<'de, T: Deserialize<'de>>(
        &mut self,
        bytes: &'de [u8],
    ) -> Result<(T, usize)> {
        let document = skip::document(bytes)?;
        Ok((self.decode(document)?, document.len()))
    }

    fn decode_each<'de, T, F>(&mut self, bytes: &'de [u8], mut each: F) -> Result<()>
    where
        T: Deserialize<'de>,
        F: FnMut(T) -> Result<()>,
    {
        // One deserializer for all documents: it knows where it is, though it does not tell.
        let mut library = rmp_serde::Deserializer::from_read_ref(bytes);
        // Each takes a byte, unless a type takes none of its document.
        for done in 0..=bytes.len() {
            let guard = Guard::new();
            let has_begun = Cell::new(false);
            let next = Next { guard: &guard, has_begun: &has_begun, value: PhantomData };
            match library.deserialize_option(next) {
                Ok(value) => each(value)?,
                Err(_) if !has_begun.get() => return Ok(()),
                Err(error) => return Err(stream_error(error, &guard, bytes, done)),
            }
        }
        Err(Error::data("a type that takes nothing of its document"))
    }

    fn encode_to<T: Serialize + ?Sized, W: Write>(
        &mut self,
        value: &T,
        mut writer: W,
    ) -> Result<()> {
        let guard = Guard::new();
        let value = guard.value(value);
        let done = match self.structs {
            Structs::Arrays => encode::write(&mut writer, &value),
            Structs::Maps => encode::write_named(&mut writer, &value),
        };
        done.map_err(|error| guard.error().unwrap_or_else(|| encode_error(error)))
    }

    fn decode_from<T: DeserializeOwned, R: Read>(&mut self, reader: R) -> Result<T> {
        let guard = Guard::new();
        let mut reader = Counted::new(reader);
        let mut library = rmp_serde::Deserializer::new(&mut reader);
        let value = match T::deserialize(guard.copying(&mut library)) {
            Ok(value) => value,
            Err(error) => {
                return Err(guard
                    .error()
                    .unwrap_or_else(|| read_error(error, reader.count())));
            }
        };
        reader.end()?;
        Ok(value)
    }
}

/// Not inlined, so that each choice is compiled by itself; for that they are two types of
/// serializer too, while the library's `write_named` shares that of `write`.
#[inline(never)]
fn write<const NAMED: bool, T: Serialize + ?Sized>(
    value: &T,
    out: &mut Vec<u8>,
) -> Result<()> {
    let guard = Guard::new();
    let value = guard.value(value);
    append(out, |out| {
        let done = if NAMED {
            value.serialize(&mut encode::Serializer::new(out).with_struct_map())
        } else {
            encode::write(out, &value)
        };
        done.map_err(|error| guard.error().unwrap_or_else(|| encode_error(error)))
    })
}

/// The next document of a stream, asked for as an option: the library then looks at its first
/// byte and keeps it, and if there is none the stream has ended.
struct Next<'a, T> {
    guard: &'a Guard,
    has_begun: &'a Cell<bool>,
    value: PhantomData<T>,
}

impl<'de, T: Deserialize<'de>> de::Visitor<'de> for Next<'_, T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a document")
    }

    #[inline]
    fn visit_some<D: de::Deserializer<'de>>(self, library: D) -> Result<T, D::Error> {
        self.has_begun.set(true);
        T::deserialize(self.guard.lending(library))
    }

    /// A nil, which the library has taken.
    fn visit_none<E: de::Error>(self) -> Result<T, E> {
        self.has_begun.set(true);
        let mut nil = rmp_serde::Deserializer::from_read_ref(&[0xc0]);
        T::deserialize(self.guard.lending(&mut nil)).map_err(E::custom)
    }
}

/// Wants no value at all.
struct Nothing;

impl de::Visitor<'_> for Nothing {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the end of the input")
    }
}

#[cold]
fn trailing(bytes: &[u8]) -> Error {
    match skip::document(bytes) {
        Ok(document) => Error::trailing(document.len(), bytes.len() - document.len()),
        Err(error) => error,
    }
}

/// The error of a document that follows `done` others, which are passed over to find it.
#[cold]
fn stream_error(error: decode::Error, guard: &Guard, bytes: &[u8], done: usize) -> Error {
    let mut start = 0;
    for _ in 0..done {
        let rest = bytes.get(start..).unwrap_or_default();
        start += skip::document(rest).map_or(0, <[u8]>::len);
    }
    let rest = bytes.get(start..).unwrap_or_default();
    guard.error().unwrap_or_else(|| decode_error(error, rest)).shifted_by(start)
}

#[cold]
fn encode_error(error: encode::Error) -> Error {
    let kind = match error {
        encode::Error::InvalidValueWrite(_) => ErrorKind::Io,
        encode::Error::UnknownLength | encode::Error::InvalidDataModel(_) => {
            ErrorKind::Unsupported
        }
        encode::Error::DepthLimitExceeded => ErrorKind::Limit,
        encode::Error::Syntax(_) => ErrorKind::Data,
    };
    Error::wrap(kind, error)
}

/// An error of a reader that gave `count` bytes.
#[cold]
fn read_error(error: decode::Error, count: usize) -> Error {
    match error {
        // The library takes the one byte that is no marker for a type that was not asked for.
        decode::Error::TypeMismatch(marker) if marker.to_u8() == 0xc1 => {
            Error::wrap(ErrorKind::Syntax, error).at(count)
        }
        error => decode_error(error, &[]).at(count),
    }
}

#[cold]
fn decode_error(error: decode::Error, bytes: &[u8]) -> Error {
    let kind = match &error {
        decode::Error::InvalidMarkerRead(cause)
        | decode::Error::InvalidDataRead(cause) => {
            if cause.kind() == io::ErrorKind::UnexpectedEof {
                return Error::wrap(ErrorKind::Eof, error).at(bytes.len());
            }
            ErrorKind::Io
        }
        // The byte c1, which is in no document; the library's word for it is private.
        decode::Error::TypeMismatch(_)
            if let Err(skipped) = skip::document(bytes)
                && skipped.kind() == ErrorKind::Syntax =>
        {
            return skipped;
        }
        decode::Error::Utf8Error(_) => ErrorKind::Syntax,
        decode::Error::DepthLimitExceeded => ErrorKind::Limit,
        // `Syntax` is what the type's own `Deserialize` said.
        decode::Error::TypeMismatch(_)
        | decode::Error::OutOfRange
        | decode::Error::LengthMismatch(_)
        | decode::Error::Uncategorized(_)
        | decode::Error::Syntax(_) => ErrorKind::Data,
    };
    Error::wrap(kind, error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_what_each_type_makes_of_its_documents() {
        #[derive(Debug, PartialEq, serde::Deserialize)]
        struct Newtype(Option<u8>);

        fn all<T: for<'de> Deserialize<'de>>(bytes: &[u8]) -> Result<Vec<T>> {
            let mut values = Vec::new();
            MsgPack::compact().decode_each(bytes, |value| {
                values.push(value);
                Ok(())
            })?;
            Ok(values)
        }

        #[derive(Debug)]
        struct Nothing;
        impl<'de> Deserialize<'de> for Nothing {
            fn deserialize<D: de::Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
                Ok(Self)
            }
        }

        assert_eq!(all::<Nothing>(&[7]).unwrap_err().kind(), ErrorKind::Data);
        assert_eq!(all::<Option<u8>>(&[0xc0, 7, 0xc0]).unwrap(), [None, Some(7), None]);
        assert_eq!(all::<()>(&[0xc0, 0xc0]).unwrap(), [(), ()]);
        assert_eq!(
            all::<Newtype>(&[0xc0, 7]).unwrap(),
            [Newtype(None), Newtype(Some(7))]
        );
        assert_eq!(all::<u8>(&[7, 0xc0]).unwrap_err().kind(), ErrorKind::Data);
        assert_eq!(all::<u8>(&[7, 0xcd, 1]).unwrap_err().kind(), ErrorKind::Eof);
        let error = all::<u8>(&[7, 7, 0xc1]).unwrap_err();
        assert_eq!((error.kind(), error.offset()), (ErrorKind::Syntax, Some(2)));
    }

    wiremark_conform::suite! { compact: MsgPack::compact(), named: MsgPack::named() }
}
