#![doc = include_str!("../README.md")]
//!
//! This crate knows `wiremark-core`, serde and `bitcode`; it never opens a file or reads a
//! clock.
#![forbid(unsafe_code)]

mod shape;

use std::cell::{Cell, RefCell};

use serde::{Deserialize, Deserializer, Serialize};

use crate::shape::{Shape, Shaped};

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
/// wiremark_bitcode::visit(&mut ids);
/// assert_eq!(ids.0, ["bitcode/bitcode"]);
/// ```
pub fn visit(visitor: &mut impl CodecVisitor) {
    visitor.visit(Bitcode::new());
}

/// bitcode through the crate `bitcode`.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Bitcode {}

impl Bitcode {
    /// The plain format.
    pub fn new() -> Self {
        Self {}
    }
}

impl Codec for Bitcode {
    fn profile(&self) -> Profile {
        Profile {
            id: "bitcode/bitcode",
            format: "bitcode",
            library: "bitcode",
            version: "0.6.9",
            spec: "none but the crate, https://docs.rs/bitcode/0.6.9",
            license: "MIT OR Apache-2.0",
            upkeep: Upkeep::Maintained,
            role: Role::Codec,
            framing: Framing::LengthPrefixed,
            trailing: Trailing::RefusedByLibrary,
            can: Capabilities {
                self_describing: false,
                human_readable: false,
                field_names: false,
                borrow_str: true,
                borrow_bytes: false,
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
            caveat: "not a stable wire between major versions; all elements of a sequence must have one shape",
        }
    }

    #[inline]
    fn encode_into<T: Serialize + ?Sized>(
        &mut self,
        value: &T,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let guard = Guard::new();
        let value = guard.untagged_value(value);
        let (mut shape, refusal) = (Shape::default(), Cell::new(None));
        append(out, |out| {
            // The library has no way to write behind what is there.
            let bytes = bitcode::serialize(&Shaped::new(&value, &mut shape, &refusal))
                .map_err(|error| encode_error(error, &guard, refusal.get()))?;
            out.extend_from_slice(&bytes);
            // Elements take a bit at least, or nothing at all.
            guard.check_elements(bytes.len().saturating_mul(8))
        })
    }

    #[inline]
    fn decode<'de, T: Deserialize<'de>>(&mut self, bytes: &'de [u8]) -> Result<T> {
        INPUT_BYTES.set(bytes.len());
        REFUSED.take();
        match bitcode::deserialize::<Guarded<T>>(bytes) {
            Ok(Guarded(value)) => Ok(value),
            Err(error) => {
                Err(REFUSED.take().unwrap_or_else(|| decode_error(error, bytes)))
            }
        }
    }
}

thread_local! {
    /// How many bytes are being decoded, for the guard of the value.
    static INPUT_BYTES: Cell<usize> = const { Cell::new(0) };
    /// What that guard said.
    static REFUSED: RefCell<Option<Error>> = const { RefCell::new(None) };
}

/// A value read under a guard. The library has no deserializer to put it around, and asks the
/// type alone, which can be told nothing.
struct Guarded<T>(T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Guarded<T> {
    #[inline]
    fn deserialize<D: Deserializer<'de>>(library: D) -> Result<Self, D::Error> {
        let guard = Guard::new();
        let decoded = T::deserialize(guard.packed(library, INPUT_BYTES.get()));
        if decoded.is_err() {
            REFUSED.set(guard.error());
        }
        decoded.map(Self)
    }
}

#[cold]
fn encode_error(
    error: bitcode::Error,
    guard: &Guard,
    refusal: Option<(ErrorKind, &'static str)>,
) -> Error {
    guard.error().unwrap_or_else(|| match refusal {
        Some((kind, reason)) => Error::new(kind, reason),
        // Nothing else fails but the value's own `Serialize`.
        None => Error::wrap(ErrorKind::Data, error),
    })
}

#[cold]
fn decode_error(error: bitcode::Error, bytes: &[u8]) -> Error {
    // Compiled without debug assertions the library gives no reason at all.
    match &*error.to_string() {
        "EOF" => Error::wrap(ErrorKind::Eof, error).at(bytes.len()),
        "deserialize_any is not supported"
        | "deserialize_identifier is not supported"
        | "deserialize_ignored_any is not supported" => {
            Error::wrap(ErrorKind::Unsupported, error)
        }
        "too many zero sized types" | "huge length" => {
            Error::wrap(ErrorKind::Limit, error)
        }
        "bitcode error"
        | "Expected EOF"
        | "invalid bit pattern"
        | "invalid char"
        | "invalid option"
        | "invalid packing"
        | "invalid utf8"
        | "length > usize::MAX"
        | "length overflow" => Error::wrap(ErrorKind::Syntax, error),
        // What the type's own `Deserialize` said.
        _ => Error::wrap(ErrorKind::Data, error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    wiremark_conform::suite! { bitcode: Bitcode::new() }
}
