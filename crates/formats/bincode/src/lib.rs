#![doc = include_str!("../README.md")]
//!
//! This crate knows `wiremark-core`, serde and `bincode`; it never opens a file or reads a
//! clock.
#![forbid(unsafe_code)]

use std::io;
use std::marker::PhantomData;

use bincode::config::{Config, legacy, standard};
use bincode::enc::write::Writer;
use bincode::error::{DecodeError, EncodeError};
use serde::de::{Deserialize, DeserializeSeed, Deserializer};
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
/// wiremark_bincode::visit(&mut ids);
/// assert_eq!(ids.0, ["bincode/bincode/standard", "bincode/bincode/legacy"]);
/// ```
pub fn visit(visitor: &mut impl CodecVisitor) {
    visitor.visit(Bincode::standard());
    visitor.visit(Bincode::legacy());
}

/// Bincode through the crate of that name.
#[derive(Clone, Debug)]
pub struct Bincode {
    integers: Integers,
}

#[derive(Clone, Copy, Debug)]
enum Integers {
    Variable,
    Fixed,
}

impl Bincode {
    /// Integers as short as their value allows, the crate's own choice since 2.0.
    pub fn standard() -> Self {
        Self { integers: Integers::Variable }
    }

    /// Integers at full width, lengths in eight bytes: what bincode 1 wrote.
    pub fn legacy() -> Self {
        Self { integers: Integers::Fixed }
    }
}

impl Codec for Bincode {
    fn profile(&self) -> Profile {
        Profile {
            id: match self.integers {
                Integers::Variable => "bincode/bincode/standard",
                Integers::Fixed => "bincode/bincode/legacy",
            },
            format: "bincode",
            library: "bincode",
            version: "2.0.1",
            spec: "bincode 2, docs/spec.md in the crate",
            license: "MIT",
            upkeep: Upkeep::Unmaintained("RUSTSEC-2025-0141"),
            role: Role::Codec,
            framing: Framing::BackToBack,
            trailing: Trailing::RefusedByAdapter,
            can: Capabilities {
                self_describing: false,
                human_readable: false,
                field_names: false,
                borrow_str: true,
                borrow_bytes: true,
                bytes: false,
                int_128: true,
                non_finite_floats: true,
                nested_option: true,
                unit_is_some: true,
                integer_keys: true,
                compound_keys: true,
                unknown_length: false,
                omitted_fields: false,
                internally_tagged: false,
                adjacently_tagged: false,
                untagged: false,
                flatten: false,
                skip: false,
                deterministic: true,
                max_depth: MAX_DEPTH,
            },
            caveat: "development has ceased; reader and writer must share the exact types",
        }
    }

    #[inline]
    fn encode_into<T: Serialize + ?Sized>(
        &mut self,
        value: &T,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        match self.integers {
            Integers::Variable => encode(value, out, standard()),
            Integers::Fixed => encode(value, out, legacy()),
        }
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
        match self.integers {
            Integers::Variable => decode(bytes, standard()),
            Integers::Fixed => decode(bytes, legacy()),
        }
    }

    // Reading keeps to the default: from a reader the crate allocates what a length says.
    fn encode_to<T: Serialize + ?Sized, W: io::Write>(
        &mut self,
        value: &T,
        writer: W,
    ) -> Result<()> {
        match self.integers {
            Integers::Variable => write(value, writer, standard()),
            Integers::Fixed => write(value, writer, legacy()),
        }
    }
}

/// The library's own way: a call of the writer for each number and text.
fn write<T: Serialize + ?Sized>(
    value: &T,
    mut writer: impl io::Write,
    config: impl Config,
) -> Result<()> {
    let guard = Guard::new();
    let value = guard.untagged_value(value);
    let count = bincode::serde::encode_into_std_write(&value, &mut writer, config)
        .map_err(|error| guard.error().unwrap_or_else(|| encode_error(error)))?;
    guard.check_elements(count)
}

#[inline]
fn encode<T: Serialize + ?Sized>(
    value: &T,
    out: &mut Vec<u8>,
    config: impl Config,
) -> Result<()> {
    let guard = Guard::new();
    let value = guard.untagged_value(value);
    append(out, |out| {
        let start = out.len();
        bincode::serde::encode_into_writer(&value, Tail(out), config)
            .map_err(|error| guard.error().unwrap_or_else(|| encode_error(error)))?;
        guard.check_elements(out.len() - start)
    })
}

#[inline]
fn decode<'de, T: Deserialize<'de>>(
    bytes: &'de [u8],
    config: impl Config,
) -> Result<(T, usize)> {
    // The crate's `with_limit` bounds the bytes of a whole document by a constant. Asked for
    // owned text, the crate allocates what a length says, so the guard asks for borrowed text.
    let guard = Guard::new();
    let seed = Seed { guard: &guard, bytes, value: PhantomData };
    bincode::serde::seed_decode_from_slice(seed, bytes, config)
        .map_err(|error| guard.error().unwrap_or_else(|| decode_error(error, bytes)))
}

/// Asks for a `T` under a guard.
struct Seed<'a, 'de, T> {
    guard: &'a Guard,
    bytes: &'de [u8],
    value: PhantomData<T>,
}

impl<'de, T: Deserialize<'de>> DeserializeSeed<'de> for Seed<'_, 'de, T> {
    type Value = T;

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, library: D) -> Result<T, D::Error> {
        T::deserialize(self.guard.untagged(library, self.bytes))
    }
}

/// Appends to a vector, without the error paths of `std::io::Write`.
struct Tail<'a>(&'a mut Vec<u8>);

impl Writer for Tail<'_> {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> Result<(), EncodeError> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }
}

#[cold]
fn encode_error(error: EncodeError) -> Error {
    let kind = match error {
        EncodeError::Io { inner, .. } => return inner.into(),
        // What the type's own `Serialize` said; the crate would show it as `OtherString("…")`.
        EncodeError::Other(said) => return Error::data(said),
        EncodeError::OtherString(said) => return Error::data(said),
        EncodeError::Serde(_) => ErrorKind::Unsupported,
        _ => ErrorKind::Data,
    };
    Error::wrap(kind, error)
}

#[cold]
fn decode_error(error: DecodeError, bytes: &[u8]) -> Error {
    let kind = match error {
        DecodeError::UnexpectedEnd { .. } => {
            return Error::wrap(ErrorKind::Eof, error).at(bytes.len());
        }
        DecodeError::LimitExceeded | DecodeError::OutsideUsizeRange(_) => {
            ErrorKind::Limit
        }
        DecodeError::Serde(_) => ErrorKind::Unsupported,
        // What the type's own `Deserialize` said; the crate would show it as `OtherString("…")`.
        DecodeError::Other(said) => return Error::data(said),
        DecodeError::OtherString(said) => return Error::data(said),
        _ => ErrorKind::Syntax,
    };
    Error::wrap(kind, error)
}

#[cfg(test)]
mod tests {
    use super::*;

    wiremark_conform::suite! { standard: Bincode::standard(), legacy: Bincode::legacy() }
}
