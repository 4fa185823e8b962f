#![doc = include_str!("../README.md")]
//!
//! This crate knows `wiremark-core`, serde and `rmp-serde`; it never opens a file or reads a
//! clock.
#![forbid(unsafe_code)]

mod skip;

use std::fmt;
use std::io;

use rmp_serde::{decode, encode};
use serde::de::{self, Deserialize, Deserializer as _};
use serde::ser::Serialize;

use wiremark_core::depth::{Guard, MAX_DEPTH};
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
        let guard = Guard::new();
        let value = guard.value(value);
        append(out, |out| {
            match self.structs {
                Structs::Arrays => encode::write(out, &value),
                Structs::Maps => encode::write_named(out, &value),
            }
            .map_err(|error| guard.error().unwrap_or_else(|| encode_error(error)))
        })
    }

    #[inline]
    fn decode<'de, T: Deserialize<'de>>(&mut self, bytes: &'de [u8]) -> Result<T> {
        let guard = Guard::new();
        let mut library = rmp_serde::Deserializer::from_read_ref(bytes);
        // The library's own limit of 1024 stays: it does not count enums, so the guard must.
        let value = T::deserialize(guard.lending(&mut library)).map_err(|error| {
            guard.error().unwrap_or_else(|| decode_error(error, bytes))
        })?;
        // The library does not tell how far it came, but whether another byte can be had.
        match library.deserialize_bool(Nothing) {
            Err(decode::Error::InvalidMarkerRead(_)) => Ok(value),
            _ => Err(trailing(bytes)),
        }
    }

    fn decode_prefix<'de, T: Deserialize<'de>>(
        &mut self,
        bytes: &'de [u8],
    ) -> Result<(T, usize)> {
        let document = skip::document(bytes)?;
        Ok((self.decode(document)?, document.len()))
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

    wiremark_conform::suite! { compact: MsgPack::compact(), named: MsgPack::named() }
}
