#![doc = include_str!("../README.md")]
//!
//! This crate knows `wiremark-core`, serde and `messagepack-serde`; it never opens a file or reads
//! a clock.
#![forbid(unsafe_code)]

use std::convert::Infallible;
use std::fmt;
use std::io::{self, Write};

use messagepack_serde::messagepack_core::io::{IoRead, Reference, VecRefWriter};
use messagepack_serde::messagepack_core::{decode, encode};
use messagepack_serde::{de, ser};
use serde::{Deserialize, Deserializer, Serialize};

use wiremark_core::depth::{Guard, MAX_DEPTH};
use wiremark_core::{
    Capabilities, Codec, CodecVisitor, Error, Framing, Profile, Result, Role, Trailing,
    Upkeep, append,
};

/// Shows `visitor` each measured variant once; here it is one.
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
/// wiremark_messagepack_serde::visit(&mut ids);
/// assert_eq!(ids.0, ["msgpack/messagepack-serde"]);
/// ```
pub fn visit(visitor: &mut impl CodecVisitor) {
    visitor.visit(MessagepackSerde::new());
}

/// MessagePack through `messagepack-serde`.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct MessagepackSerde {}

impl MessagepackSerde {
    /// The library's own choice: structs as maps, the shortest integers and floats that lose
    /// nothing.
    pub fn new() -> Self {
        Self {}
    }
}

impl Codec for MessagepackSerde {
    fn profile(&self) -> Profile {
        Profile {
            id: "msgpack/messagepack-serde",
            format: "MessagePack",
            library: "messagepack-serde",
            version: "0.2.4",
            spec: "MessagePack, https://github.com/msgpack/msgpack/blob/master/spec.md",
            license: "Apache-2.0 OR MIT",
            upkeep: Upkeep::Maintained,
            role: Role::Codec,
            framing: Framing::BackToBack,
            trailing: Trailing::RefusedByAdapter,
            can: Capabilities {
                self_describing: true,
                human_readable: false,
                field_names: true,
                borrow_str: true,
                borrow_bytes: true,
                bytes: true,
                int_128: false,
                non_finite_floats: true,
                nested_option: false,
                unit_is_some: false,
                integer_keys: true,
                compound_keys: true,
                unknown_length: true,
                omitted_fields: true,
                internally_tagged: true,
                adjacently_tagged: true,
                untagged: true,
                flatten: true,
                skip: true,
                deterministic: true,
                max_depth: MAX_DEPTH,
            },
            caveat: "integers of 64 bits at most",
        }
    }

    #[inline]
    fn encode_into<T: Serialize + ?Sized>(
        &mut self,
        value: &T,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let guard = Guard::new();
        let value = guard.value(value);
        append(out, |out| {
            match ser::to_core_writer(&value, &mut VecRefWriter::new(out)) {
                Ok(_) => Ok(()),
                Err(error) => Err(guard.error().unwrap_or_else(|| encode_error(error))),
            }
        })
    }

    #[inline]
    fn decode<'de, T: Deserialize<'de>>(&mut self, bytes: &'de [u8]) -> Result<T> {
        let (value, taken) = self.decode_prefix(bytes)?;
        match bytes.len() - taken {
            0 => Ok(value),
            left => Err(Error::trailing(taken, left)),
        }
    }

    #[inline]
    fn decode_prefix<'de, T: Deserialize<'de>>(
        &mut self,
        bytes: &'de [u8],
    ) -> Result<(T, usize)> {
        let mut rest = bytes;
        let document: Result<Document<T>, _> = de::from_core_reader(Slice(&mut rest));
        let taken = bytes.len() - rest.len();
        match document {
            Ok(Document(Ok(value))) => Ok((value, taken)),
            Ok(Document(Err(limit))) => Err(limit.at(taken)),
            Err(error) => Err(decode_error(error, bytes, taken)),
        }
    }

    fn encode_to<T: Serialize + ?Sized, W: Write>(
        &mut self,
        value: &T,
        mut writer: W,
    ) -> Result<()> {
        let guard = Guard::new();
        match ser::to_writer(&guard.value(value), &mut writer) {
            Ok(_) => Ok(()),
            Err(error) => Err(guard.error().unwrap_or_else(|| write_error(error))),
        }
    }
}

/// A `T` under a guard, or the guard's objection: the library gives its deserializer to nobody
/// but the type, so the type carries the answer out.
struct Document<T>(Result<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Document<T> {
    #[inline]
    fn deserialize<D: Deserializer<'de>>(library: D) -> Result<Self, D::Error> {
        let guard = Guard::new();
        // The library's own limit of 256 stays: it does not count enums, so the guard must.
        match T::deserialize(guard.lending_bare(library)) {
            Ok(value) => Ok(Self(Ok(value))),
            Err(error) => Ok(Self(Err(guard.error().ok_or(error)?))),
        }
    }
}

/// Bytes in memory: the library's own reader keeps how far it came to itself.
struct Slice<'a, 'de>(&'a mut &'de [u8]);

/// The input ends before the bytes that are wanted.
#[derive(Debug)]
struct Cut;

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the input ends inside a document")
    }
}

impl std::error::Error for Cut {}

impl<'de> IoRead<'de> for Slice<'_, 'de> {
    type Error = Cut;

    #[inline]
    fn read_slice<'a>(&'a mut self, len: usize) -> Result<Reference<'de, 'a>, Cut> {
        let (read, rest) = self.0.split_at_checked(len).ok_or(Cut)?;
        *self.0 = rest;
        Ok(Reference::Borrowed(read))
    }
}

#[cold]
fn encode_error(error: ser::Error<Infallible>) -> Error {
    match error {
        ser::Error::Custom(message) => Error::data(message),
        // An integer beyond 64 bits, or a length beyond 32.
        error => Error::unsupported(error.to_string()),
    }
}

#[cold]
fn write_error(error: ser::Error<io::Error>) -> Error {
    match error {
        ser::Error::Encode(encode::Error::Io(error)) => error.into(),
        ser::Error::Custom(message) => Error::data(message),
        error => Error::unsupported(error.to_string()),
    }
}

#[cold]
fn decode_error(error: de::Error<Cut>, bytes: &[u8], taken: usize) -> Error {
    match error {
        de::Error::Decode(decode::Error::Io(Cut) | decode::Error::UnexpectedEof) => {
            Error::eof(Cut.to_string()).at(bytes.len())
        }
        // The byte that no document holds: the library has taken it and nothing since.
        de::Error::Decode(decode::Error::UnexpectedFormat)
            if bytes.get(..taken).is_some_and(|taken| taken.ends_with(&[0xc1])) =>
        {
            Error::syntax("the byte c1 is never used").at(taken - 1)
        }
        de::Error::Decode(decode::Error::UnexpectedFormat) => {
            Error::data("the bytes are not of the type that was asked for").at(taken)
        }
        // Text is all that the library looks into.
        de::Error::Decode(decode::Error::InvalidData) => {
            Error::syntax("expected text, found bytes that are no UTF-8").at(taken)
        }
        de::Error::RecursionLimitExceeded => {
            Error::limit("expected less nesting").at(taken)
        }
        de::Error::Message(message) => Error::data(message).at(taken),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    wiremark_conform::suite! { messagepack_serde: MessagepackSerde::new() }
}
