#![doc = include_str!("../README.md")]
//!
//! This crate knows `wiremark-core`, serde and `sonic-rs`; it never opens a file or reads a
//! clock.
#![forbid(unsafe_code)]

mod scan;

use std::io::{self, Write};

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use sonic_rs::error::Category;
use sonic_rs::writer::BufferedWriter;

use crate::scan::Scan;

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
/// wiremark_sonic::visit(&mut ids);
/// assert_eq!(ids.0, ["json/sonic-rs/compact"]);
/// ```
pub fn visit(visitor: &mut impl CodecVisitor) {
    visitor.visit(Sonic::compact());
}

/// JSON through `sonic-rs`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Sonic {}

impl Sonic {
    /// Without white space: `{"a":1}`. A stream has one document a line.
    pub fn compact() -> Self {
        Self {}
    }
}

impl Codec for Sonic {
    fn profile(&self) -> Profile {
        Profile {
            id: "json/sonic-rs/compact",
            format: "JSON",
            library: "sonic-rs",
            version: "0.5.10",
            spec: "RFC 8259, https://www.rfc-editor.org/rfc/rfc8259",
            license: "Apache-2.0",
            upkeep: Upkeep::Maintained,
            role: Role::Codec,
            framing: Framing::Lines,
            trailing: Trailing::RefusedByLibrary,
            can: Capabilities {
                self_describing: true,
                human_readable: true,
                field_names: true,
                borrow_str: true,
                borrow_bytes: false,
                bytes: false,
                int_128: true,
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
            caveat: "NaN and the infinities are written as null, bytes as an array of numbers",
        }
    }

    #[inline]
    fn encode_into<T: Serialize + ?Sized>(
        &mut self,
        value: &T,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let guard = Guard::new();
        append(out, |out| {
            let mut library = sonic_rs::Serializer::new(out);
            let done = guard.value(value).serialize(&mut library);
            done.map_err(|error| encode_error(error, &guard))
        })
    }

    #[inline]
    fn decode<'de, T: Deserialize<'de>>(&mut self, bytes: &'de [u8]) -> Result<T> {
        // The guard sees what the type asks for, and not what the library passes over.
        match scan::scan(MAX_DEPTH, bytes) {
            Scan::Plain => {}
            Scan::NegativeZero => return decode_exactly(bytes),
            Scan::TooDeep(offset) => return Err(too_deep(offset)),
        }
        let guard = Guard::new();
        let mut library = sonic_rs::Deserializer::from_slice(bytes);
        // What is returned lies in one place from the start: moving it is a copy that waits.
        let mut decoded = match T::deserialize(guard.lending(&mut library)) {
            Ok(value) => Ok(value),
            Err(error) => Err(decode_error(error, &guard, bytes)),
        };
        if decoded.is_ok()
            && let Err(error) = library.end()
        {
            decoded = Err(decode_error(error, &guard, bytes));
        }
        decoded
    }

    // Reading keeps to the default: the library too reads all of it first.
    fn encode_to<T: Serialize + ?Sized, W: Write>(
        &mut self,
        value: &T,
        writer: W,
    ) -> Result<()> {
        let guard = Guard::new();
        let mut library = sonic_rs::Serializer::new(BufferedWriter::new(writer));
        let done = guard.value(value).serialize(&mut library);
        done.map_err(|error| encode_error(error, &guard))
    }
}

/// Decodes a document with a negative zero, which the library reads as a positive one, out of a
/// copy in which it is written in another way.
#[cold]
fn decode_exactly<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> Result<T> {
    let guard = Guard::new();
    let copy = scan::with_negative_zeros(bytes);
    let mut library = sonic_rs::Deserializer::from_slice(&copy);
    let error = match T::deserialize(guard.copying(&mut library)) {
        Ok(value) => match library.end() {
            Ok(()) => return Ok(value),
            Err(error) => error,
        },
        Err(error) => error,
    };
    // Offsets in the copy are of no use, so the document itself is asked what is wrong with it.
    let mut library = sonic_rs::Deserializer::from_slice(bytes);
    let again = IgnoredAny::deserialize(&mut library).and_then(|_| library.end());
    match again {
        Err(error) => Err(decode_error(error, &guard, bytes)),
        Ok(()) => Err(guard.error().unwrap_or_else(|| wrapped(kind(&error), error))),
    }
}

#[cold]
fn too_deep(offset: usize) -> Error {
    Error::limit(format!("expected at most {MAX_DEPTH} levels of nesting")).at(offset)
}

#[cold]
fn encode_error(error: sonic_rs::Error, guard: &Guard) -> Error {
    guard.error().unwrap_or_else(|| match error.classify() {
        Category::Io => Error::from(io::Error::from(error)),
        // A key that is no string, in the library's words.
        Category::Syntax | Category::Eof => Error::wrap(ErrorKind::Unsupported, error),
        _ => Error::wrap(ErrorKind::Data, error),
    })
}

#[cold]
fn decode_error(error: sonic_rs::Error, guard: &Guard, bytes: &[u8]) -> Error {
    let offset = error.offset().min(bytes.len());
    let error = guard.error().unwrap_or_else(|| match kind(&error) {
        ErrorKind::Io => Error::from(io::Error::from(error)),
        ErrorKind::Syntax if is_cut(bytes, offset) => wrapped(ErrorKind::Eof, error),
        kind => wrapped(kind, error),
    });
    match error.kind() {
        ErrorKind::Eof => error.at(bytes.len()),
        _ => error.at(offset),
    }
}

fn kind(error: &sonic_rs::Error) -> ErrorKind {
    match error.classify() {
        Category::Io => ErrorKind::Io,
        Category::Syntax => ErrorKind::Syntax,
        Category::Eof => ErrorKind::Eof,
        _ => ErrorKind::Data,
    }
}

/// The library ends its text with line, column and a drawing; the offset says it once for all.
fn wrapped(kind: ErrorKind, error: sonic_rs::Error) -> Error {
    let text = error.to_string();
    let message = text.split_once(" at line ").map_or(&*text, |(message, _)| message);
    Error::wrap(kind, error).saying(message.to_owned())
}

/// Whether the end of the input is what is wrong at `offset`: in the middle of a character or a
/// number, which the library calls faults of syntax.
fn is_cut(bytes: &[u8], offset: usize) -> bool {
    if let Err(error) = std::str::from_utf8(bytes) {
        return error.error_len().is_none() && error.valid_up_to() == offset;
    }
    let is_of_number =
        |byte: &u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
    let number = bytes.get(offset..).is_some_and(|rest| rest.iter().all(is_of_number));
    number && matches!(bytes.last(), Some(b'-' | b'+' | b'.' | b'e' | b'E'))
}

#[cfg(test)]
mod tests {
    use super::*;

    wiremark_conform::suite! { compact: Sonic::compact() }
}
