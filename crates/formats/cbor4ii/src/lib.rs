#![doc = include_str!("../README.md")]
//!
//! This crate knows `wiremark-core`, serde and `cbor4ii`; it never opens a file or reads a
//! clock.
#![forbid(unsafe_code)]

mod io;

use std::convert::Infallible;
use std::io::{BufReader, Read, Write};

use cbor4ii::core::dec;
use cbor4ii::core::utils::IoWriter;
use cbor4ii::serde::{DecodeError, Deserializer, EncodeError, Serializer};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use wiremark_core::depth::{Guard, MAX_DEPTH};
use wiremark_core::{
    Capabilities, Codec, CodecVisitor, Error, Framing, Profile, Result, Role, Trailing,
    Upkeep, append,
};

use crate::io::{Appended, Buffered, Cut, Slice};

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
/// wiremark_cbor4ii::visit(&mut ids);
/// assert_eq!(ids.0, ["cbor/cbor4ii"]);
/// ```
pub fn visit(visitor: &mut impl CodecVisitor) {
    visitor.visit(Cbor4ii::new());
}

/// CBOR through `cbor4ii`.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Cbor4ii {}

impl Cbor4ii {
    /// The library's only way: structs as maps, shortest integers, floats as wide as they are.
    pub fn new() -> Self {
        Self {}
    }
}

impl Codec for Cbor4ii {
    fn profile(&self) -> Profile {
        Profile {
            id: "cbor/cbor4ii",
            format: "CBOR",
            library: "cbor4ii",
            version: "1.2.4",
            spec: "RFC 8949, https://www.rfc-editor.org/rfc/rfc8949",
            license: "MIT",
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
                int_128: true,
                non_finite_floats: true,
                nested_option: false,
                unit_is_some: true,
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
            caveat: "`()` is an empty array, and a float of another width than the field's \
                     is refused",
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
            value
                .serialize(&mut Serializer::new(Appended(out)))
                .map_err(|error| guard.error().unwrap_or_else(|| encode_error(error)))
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
        let guard = Guard::new();
        let mut library = Deserializer::new(Slice::new(bytes));
        let value = T::deserialize(guard.lending(&mut library));
        let taken = bytes.len() - library.into_inner().left();
        match value {
            Ok(value) => Ok((value, taken)),
            Err(error) => {
                let end = bytes.len();
                Err(guard
                    .error()
                    .unwrap_or_else(|| slice_error(error))
                    .at_either(taken, end))
            }
        }
    }

    fn encode_to<T: Serialize + ?Sized, W: Write>(
        &mut self,
        value: &T,
        writer: W,
    ) -> Result<()> {
        let guard = Guard::new();
        guard
            .value(value)
            .serialize(&mut Serializer::new(IoWriter::new(writer)))
            .map_err(|error| guard.error().unwrap_or_else(|| write_error(error)))
    }

    fn decode_from<T: DeserializeOwned, R: Read>(&mut self, reader: R) -> Result<T> {
        let guard = Guard::new();
        let mut library = Deserializer::new(Buffered::new(BufReader::new(reader)));
        let value = T::deserialize(guard.lending(&mut library));
        let reader = library.into_inner();
        match value {
            Ok(value) => reader.end().map(|()| value),
            Err(error) => {
                let error = guard.error().unwrap_or_else(|| read_error(error));
                Err(error.at(reader.count()))
            }
        }
    }
}

/// Where an error that knows no offset of its own was noticed.
trait AtEither {
    /// At the end of the input if it ended too early, else as far as the library came.
    fn at_either(self, taken: usize, end: usize) -> Self;
}

impl AtEither for Error {
    #[cold]
    fn at_either(self, taken: usize, end: usize) -> Self {
        let is_eof = self.kind() == wiremark_core::ErrorKind::Eof;
        self.at(if is_eof { end } else { taken })
    }
}

#[cold]
fn encode_error(error: EncodeError<Infallible>) -> Error {
    match error {
        EncodeError::Custom(message) => Error::data(message.into_string()),
        EncodeError::Core(error) => Error::data(error.to_string()),
    }
}

#[cold]
fn write_error(error: EncodeError<std::io::Error>) -> Error {
    match error {
        EncodeError::Core(cbor4ii::core::enc::Error::Write(error)) => error.into(),
        EncodeError::Core(error) => Error::data(error.to_string()),
        EncodeError::Custom(message) => Error::data(message.into_string()),
    }
}

#[cold]
fn slice_error(error: DecodeError<Cut>) -> Error {
    match error {
        DecodeError::Core(dec::Error::Read(cut)) => Error::eof(cut.to_string()),
        DecodeError::Core(error) => core_error(&error),
        DecodeError::Custom(message) => Error::data(message.into_string()),
    }
}

#[cold]
fn read_error(error: DecodeError<std::io::Error>) -> Error {
    match error {
        DecodeError::Core(dec::Error::Read(error)) => error.into(),
        DecodeError::Core(error) => core_error(&error),
        DecodeError::Custom(message) => Error::data(message.into_string()),
    }
}

/// What the library says of the bytes, in words: its own are those of `Debug`.
#[cold]
fn core_error<E>(error: &dec::Error<E>) -> Error {
    match error {
        dec::Error::Eof { name, .. } => {
            Error::eof(format!("expected `{name}`, found the end of the input"))
        }
        dec::Error::Mismatch { name, found }
        | dec::Error::Unsupported { name, found } => {
            // Of the bytes that can begin an item these are reserved, so that no document has
            // them; what the library found behind a tag's head is no such byte.
            let is_reserved =
                matches!(found & 0x1f, 0x1c..=0x1e) && !name.ends_with("::tag");
            // A break where an item should begin.
            let text = format!("expected `{name}`, found the byte {found:02x}");
            if is_reserved || *found == 0xff {
                Error::syntax(text)
            } else {
                Error::data(text)
            }
        }
        // A chunk of text or bytes that is itself in chunks.
        dec::Error::RequireLength { name, .. } if matches!(**name, "str" | "bytes") => {
            Error::syntax(format!("expected a chunk of `{name}` with a length"))
        }
        dec::Error::RequireUtf8 { name } => {
            Error::syntax(format!("expected `{name}`, found bytes that are no UTF-8"))
        }
        dec::Error::DepthOverflow { .. } => Error::limit("expected less nesting"),
        dec::Error::RequireLength { name, .. }
        | dec::Error::LengthOverflow { name, .. } => {
            Error::data(format!("expected another length for `{name}`"))
        }
        dec::Error::CastOverflow { name }
        | dec::Error::ArithmeticOverflow { name, .. } => {
            Error::data(format!("the number does not fit in `{name}`"))
        }
        _ => Error::data("the bytes are not of the type that was asked for"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    wiremark_conform::suite! { cbor4ii: Cbor4ii::new() }
}
