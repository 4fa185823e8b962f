#![doc = include_str!("../README.md")]
//!
//! This crate knows `wiremark-core`, serde and `simd-json`; it never opens a file or reads a
//! clock.
#![forbid(unsafe_code)]

mod fault;

use std::io::{self, Write};
use std::{fmt, mem};

use serde::{Deserialize, Serialize};
use simd_json::{Buffers, Deserializer, ErrorType, INPUT_PADDING, Tape};

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
/// wiremark_simd_json::visit(&mut ids);
/// assert_eq!(ids.0, ["json/simd-json"]);
/// ```
pub fn visit(visitor: &mut impl CodecVisitor) {
    visitor.visit(SimdJson::new());
}

/// JSON through `simd-json`.
///
/// Kept between calls are the copy of the input that the library destroys, and what it finds
/// in it. A clone begins without.
pub struct SimdJson {
    copy: Vec<u8>,
    buffers: Buffers,
    tape: Tape<'static>,
}

impl SimdJson {
    /// Without white space: `{"a":1}`. A stream has one document a line.
    pub fn new() -> Self {
        Self {
            copy: Vec::new(),
            // The library reads no deeper than the guard allows.
            buffers: Buffers::with_max_depth(0, MAX_DEPTH as usize),
            tape: Tape::null(),
        }
    }
}

impl Default for SimdJson {
    fn default() -> Self {
        Self::new()
    }
}

impl Clone for SimdJson {
    fn clone(&self) -> Self {
        Self::new()
    }
}

impl fmt::Debug for SimdJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SimdJson").finish_non_exhaustive()
    }
}

impl Codec for SimdJson {
    fn profile(&self) -> Profile {
        Profile {
            id: "json/simd-json",
            format: "JSON",
            library: "simd-json",
            version: "0.19.0",
            spec: "RFC 8259, https://www.rfc-editor.org/rfc/rfc8259",
            license: "MIT OR Apache-2.0",
            upkeep: Upkeep::Maintained,
            role: Role::Codec,
            framing: Framing::Lines,
            trailing: Trailing::RefusedByLibrary,
            can: Capabilities {
                self_describing: true,
                human_readable: true,
                field_names: true,
                // Out of the copy, which does not outlive the call.
                borrow_str: false,
                borrow_bytes: false,
                bytes: false,
                int_128: false,
                non_finite_floats: false,
                nested_option: false,
                unit_is_some: false,
                integer_keys: true,
                compound_keys: false,
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
            caveat: "decoding destroys its input: copying that first is part of each decode",
        }
    }

    #[inline]
    fn encode_into<T: Serialize + ?Sized>(
        &mut self,
        value: &T,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        append(out, |out| self.encode_to(value, out))
    }

    #[inline]
    fn decode<'de, T: Deserialize<'de>>(&mut self, bytes: &'de [u8]) -> Result<T> {
        let Self { copy, buffers, tape } = self;
        copy.clear();
        copy.reserve(bytes.len() + INPUT_PADDING);
        copy.extend_from_slice(bytes);
        copy.resize(bytes.len() + INPUT_PADDING, b' ');

        let mut filled = mem::replace(tape, Tape(Vec::new())).reset();
        let done = simd_json::fill_tape_padded(copy, bytes.len(), buffers, &mut filled);
        let guard = Guard::new();
        let mut library = Deserializer::from_tape(filled);
        // What is returned lies in one place from the start: moving it is a copy that waits.
        let decoded = match done {
            Ok(()) => T::deserialize(guard.copying(&mut library))
                .map_err(|error| type_error(error, &guard)),
            Err(error) => Err(document_error(error, bytes)),
        };
        *tape = library.into_tape().reset();
        decoded
    }

    // Reading keeps to the default: the library too reads all of it first.
    #[inline]
    fn encode_to<T: Serialize + ?Sized, W: Write>(
        &mut self,
        value: &T,
        writer: W,
    ) -> Result<()> {
        let guard = Guard::new();
        let done = simd_json::to_writer(writer, &guard.value(value));
        done.map_err(|error| encode_error(error, &guard))
    }
}

#[cold]
fn encode_error(error: simd_json::Error, guard: &Guard) -> Error {
    guard.error().unwrap_or_else(|| match error.error() {
        ErrorType::Io(_) => Error::from(io::Error::from(error)),
        ErrorType::Serde(said) => Error::data(said.clone()),
        _ => wrapped(ErrorKind::Unsupported, error),
    })
}

/// The document is none, or one that is too deep.
#[cold]
fn document_error(error: simd_json::Error, bytes: &[u8]) -> Error {
    match (error.error(), fault::of(bytes)) {
        (ErrorType::DepthLimitExceeded, _) => {
            let text = format!("expected at most {MAX_DEPTH} levels of nesting");
            Error::limit(text)
        }
        (ErrorType::InputTooLarge, _) => wrapped(ErrorKind::Limit, error),
        (_, Some((ErrorKind::Eof, offset))) => {
            Error::eof("the input ends inside a document").at(offset)
        }
        (_, Some((kind, offset))) => wrapped(kind, error).at(offset),
        (_, None) => wrapped(ErrorKind::Syntax, error),
    }
}

/// The document is one, but not of the type. Where, the library does not tell.
#[cold]
fn type_error(error: simd_json::Error, guard: &Guard) -> Error {
    guard.error().unwrap_or_else(|| match error.error() {
        ErrorType::Serde(said) => Error::data(said.clone()),
        _ => wrapped(ErrorKind::Data, error),
    })
}

/// The library's own text is `ExpectedUnsigned at character 0`, wherever it is: the words of the
/// name say as much.
fn wrapped(kind: ErrorKind, error: simd_json::Error) -> Error {
    let mut message = String::new();
    for letter in format!("{:?}", error.error()).chars() {
        if letter.is_ascii_uppercase() && !message.is_empty() {
            message.push(' ');
        }
        message.push(letter.to_ascii_lowercase());
    }
    Error::wrap(kind, error).saying(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    wiremark_conform::suite! { simd_json: SimdJson::new() }
}
