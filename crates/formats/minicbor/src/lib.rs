#![doc = include_str!("../README.md")]
//!
//! This crate knows `wiremark-core`, serde and `minicbor-serde`; it never opens a file or reads a
//! clock.
#![forbid(unsafe_code)]

use std::convert::Infallible;

use minicbor_serde::error::{DecodeError, EncodeError};
use minicbor_serde::{Deserializer, Serializer};
use serde::{Deserialize, Serialize};

use wiremark_core::depth::{Guard, MAX_DEPTH};
use wiremark_core::{
    Capabilities, Codec, CodecVisitor, Error, ErrorKind, Framing, Profile, Result, Role,
    Trailing, Upkeep, append,
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
/// wiremark_minicbor::visit(&mut ids);
/// assert_eq!(ids.0, ["cbor/minicbor-serde"]);
/// ```
pub fn visit(visitor: &mut impl CodecVisitor) {
    visitor.visit(MiniCbor::new());
}

/// CBOR through `minicbor-serde`.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct MiniCbor {}

impl MiniCbor {
    /// The library's only way: structs as maps, shortest integers, floats as wide as they are.
    pub fn new() -> Self {
        Self {}
    }
}

impl Codec for MiniCbor {
    fn profile(&self) -> Profile {
        Profile {
            id: "cbor/minicbor-serde",
            format: "CBOR",
            library: "minicbor-serde",
            version: "0.7.2",
            spec: "RFC 8949, https://www.rfc-editor.org/rfc/rfc8949",
            license: "BlueOak-1.0.0",
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
            caveat: "`()` is an empty array, a `char` a number",
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
                .serialize(&mut Serializer::new(out))
                .map_err(|error| guard.error().unwrap_or_else(|| encode_error(&error)))
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
        let mut library = Deserializer::new(bytes);
        let value = T::deserialize(guard.lending(&mut library));
        let taken = library.decoder().position();
        match value {
            Ok(value) => Ok((value, taken)),
            Err(error) => Err(match guard.error() {
                Some(limit) => limit.at(taken),
                None => decode_error(error, bytes, taken),
            }),
        }
    }
}

#[cold]
fn encode_error(error: &EncodeError<Infallible>) -> Error {
    // A vector takes all bytes, so it is what the value's own `Serialize` said.
    Error::data(error.to_string())
}

/// The library's error has its kind inside and shows it to nobody. Passing over the document
/// tells it: the decoder's own error can be asked.
#[cold]
fn decode_error(error: DecodeError, bytes: &[u8], taken: usize) -> Error {
    let mut library = Deserializer::new(bytes);
    let decoder = library.decoder_mut();
    match decoder.skip() {
        Err(skipped) if skipped.is_end_of_input() => {
            Error::eof("the input ends inside a document").at(bytes.len())
        }
        Err(skipped) => {
            let at = skipped.position().unwrap_or_else(|| decoder.position());
            Error::wrap(ErrorKind::Syntax, skipped).at(at)
        }
        Ok(()) => Error::wrap(ErrorKind::Data, error).at(taken),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    wiremark_conform::suite! { minicbor: MiniCbor::new() }
}
