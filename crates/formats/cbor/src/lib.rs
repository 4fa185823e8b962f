#![doc = include_str!("../README.md")]
//!
//! This crate knows `wiremark-core`, serde and `ciborium`; it never opens a file or reads a
//! clock.
#![forbid(unsafe_code)]

use std::io::{self, Read, Write};
use std::marker::PhantomData;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};

use wiremark_core::depth::{Guard, MAX_DEPTH};
use wiremark_core::stream::Counted;
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
/// wiremark_cbor::visit(&mut ids);
/// assert_eq!(ids.0, ["cbor/ciborium"]);
/// ```
pub fn visit(visitor: &mut impl CodecVisitor) {
    visitor.visit(Cbor::new());
}

/// CBOR through `ciborium`.
#[derive(Clone)]
pub struct Cbor {
    /// Where the library puts text and bytes on their way from the input to the value. Longer
    /// ones go through a buffer of their own, so the size is the library's own default.
    scratch: Box<[u8]>,
}

/// Scratch space of the library's plain `from_reader`.
const SCRATCH_BYTES: usize = 4096;

impl Cbor {
    /// The library's defaults: structs as maps, shortest integers and floats.
    pub fn new() -> Self {
        Self { scratch: vec![0; SCRATCH_BYTES].into() }
    }
}

impl Default for Cbor {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for Cbor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cbor").finish_non_exhaustive()
    }
}

impl Codec for Cbor {
    fn profile(&self) -> Profile {
        Profile {
            id: "cbor/ciborium",
            format: "CBOR",
            library: "ciborium",
            version: "0.2.2",
            spec: "RFC 8949, https://www.rfc-editor.org/rfc/rfc8949",
            license: "Apache-2.0",
            upkeep: Upkeep::Maintained,
            role: Role::Codec,
            framing: Framing::BackToBack,
            trailing: Trailing::RefusedByAdapter,
            can: Capabilities {
                self_describing: true,
                human_readable: false,
                field_names: true,
                borrow_str: false,
                borrow_bytes: false,
                bytes: true,
                int_128: true,
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
            caveat: "",
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
            ciborium::into_writer(&value, out)
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
        let mut rest = bytes;
        // The library's own limit of 256 stays behind the guard's.
        let document: Document<'de, T> =
            ciborium::de::from_reader_with_buffer(&mut rest, &mut self.scratch)
                .map_err(|error| decode_error(error, bytes.len() - rest.len()))?;
        let taken = bytes.len() - rest.len();
        match document.value {
            Ok(value) => Ok((value, taken)),
            Err(limit) => Err(limit.at(taken)),
        }
    }

    fn encode_to<T: Serialize + ?Sized, W: Write>(
        &mut self,
        value: &T,
        writer: W,
    ) -> Result<()> {
        let guard = Guard::new();
        ciborium::into_writer(&guard.value(value), writer)
            .map_err(|error| guard.error().unwrap_or_else(|| encode_error(error)))
    }

    fn decode_from<T: DeserializeOwned, R: Read>(&mut self, reader: R) -> Result<T> {
        let mut reader = Counted::new(reader);
        let document: Document<'_, T> =
            ciborium::de::from_reader_with_buffer(&mut reader, &mut self.scratch)
                .map_err(|error| decode_error(error, reader.count()))?;
        let value = document.value.map_err(|limit| limit.at(reader.count()))?;
        reader.end()?;
        Ok(value)
    }
}

/// A `T` under a guard, or the guard's objection: the library gives its deserializer to nobody
/// but the type, so the type carries the answer out.
///
/// It is [`serde::de::DeserializeOwned`], which the library wants, for a `T` of any lifetime.
struct Document<'de, T> {
    value: Result<T>,
    lifetime: PhantomData<&'de ()>,
}

impl<'src, 'de, T: Deserialize<'de>> Deserialize<'src> for Document<'de, T> {
    #[inline]
    fn deserialize<D: Deserializer<'src>>(library: D) -> Result<Self, D::Error> {
        let guard = Guard::new();
        let value = match T::deserialize(guard.copying(library)) {
            Ok(value) => Ok(value),
            Err(error) => Err(guard.error().ok_or(error)?),
        };
        Ok(Self { value, lifetime: PhantomData })
    }
}

#[cold]
fn encode_error(error: ciborium::ser::Error<io::Error>) -> Error {
    match error {
        ciborium::ser::Error::Io(error) => error.into(),
        ciborium::ser::Error::Value(message) => Error::data(message),
    }
}

#[cold]
fn decode_error(error: ciborium::de::Error<io::Error>, taken: usize) -> Error {
    match error {
        ciborium::de::Error::Io(error) => Error::from(error).at(taken),
        ciborium::de::Error::Syntax(offset) => {
            Error::syntax("the bytes are no CBOR").at(offset)
        }
        ciborium::de::Error::Semantic(offset, message) => {
            Error::data(message).at(offset.unwrap_or(taken))
        }
        ciborium::de::Error::RecursionLimitExceeded => {
            Error::limit("expected less nesting").at(taken)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    wiremark_conform::suite! { ciborium: Cbor::new() }
}
