#![doc = include_str!("../README.md")]
//!
//! This crate knows `wiremark-core`, serde and `serde_json`; it never opens a file or reads a
//! clock.
#![forbid(unsafe_code)]

use std::io::{self, Read, Write};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::error::Category;
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter};

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
/// wiremark_json::visit(&mut ids);
/// assert_eq!(ids.0, ["json/serde_json/compact", "json/serde_json/pretty"]);
/// ```
pub fn visit(visitor: &mut impl CodecVisitor) {
    visitor.visit(Json::compact());
    visitor.visit(Json::pretty());
}

/// JSON through `serde_json`.
#[derive(Clone, Debug)]
pub struct Json {
    layout: Layout,
}

#[derive(Clone, Copy, Debug)]
enum Layout {
    Compact,
    Pretty,
}

impl Json {
    /// Without white space: `{"a":1}`. A stream has one document a line.
    pub fn compact() -> Self {
        Self { layout: Layout::Compact }
    }

    /// For human eyes: a member a line, indented by two spaces.
    ///
    /// Its documents hold line feeds, so a stream of them has a length before each.
    pub fn pretty() -> Self {
        Self { layout: Layout::Pretty }
    }
}

impl Codec for Json {
    fn profile(&self) -> Profile {
        let (id, framing) = match self.layout {
            Layout::Compact => ("json/serde_json/compact", Framing::Lines),
            Layout::Pretty => ("json/serde_json/pretty", Framing::LengthPrefixed),
        };
        Profile {
            id,
            format: "JSON",
            library: "serde_json",
            version: "1.0.154",
            spec: "RFC 8259, https://www.rfc-editor.org/rfc/rfc8259",
            license: "MIT OR Apache-2.0",
            upkeep: Upkeep::Maintained,
            role: Role::Codec,
            framing,
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
        match self.layout {
            Layout::Compact => encode(value, out, CompactFormatter),
            Layout::Pretty => encode(value, out, PrettyFormatter::new()),
        }
    }

    #[inline]
    fn decode<'de, T: Deserialize<'de>>(&mut self, bytes: &'de [u8]) -> Result<T> {
        let guard = Guard::new();
        let mut library = serde_json::Deserializer::from_slice(bytes);
        // The guard's limit is the same for both ways and for each codec.
        library.disable_recursion_limit();
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

    fn encode_to<T: Serialize + ?Sized, W: Write>(
        &mut self,
        value: &T,
        writer: W,
    ) -> Result<()> {
        match self.layout {
            Layout::Compact => write(value, writer, CompactFormatter),
            Layout::Pretty => write(value, writer, PrettyFormatter::new()),
        }
    }

    fn decode_from<T: DeserializeOwned, R: Read>(&mut self, reader: R) -> Result<T> {
        let guard = Guard::new();
        let mut reader = Counted::new(reader);
        let mut library = serde_json::Deserializer::from_reader(&mut reader);
        library.disable_recursion_limit();
        let decoded = T::deserialize(guard.lending(&mut library))
            .and_then(|value| library.end().map(|()| value));
        decoded.map_err(|error| read_error(error, &guard, reader.count()))
    }
}

/// The library's own way: a call of the writer for each token.
fn write<T: Serialize + ?Sized>(
    value: &T,
    writer: impl Write,
    formatter: impl Formatter,
) -> Result<()> {
    let guard = Guard::new();
    let mut library = serde_json::Serializer::with_formatter(writer, formatter);
    let done = guard.value(value).serialize(&mut library);
    done.map_err(|error| encode_error(error, &guard))
}

/// Not inlined, so that each layout is compiled by itself: with both in one function, an event
/// takes 3 % longer.
#[inline(never)]
fn encode<T: Serialize + ?Sized>(
    value: &T,
    out: &mut Vec<u8>,
    formatter: impl Formatter,
) -> Result<()> {
    let guard = Guard::new();
    append(out, |out| {
        let mut library = serde_json::Serializer::with_formatter(out, formatter);
        let done = guard.value(value).serialize(&mut library);
        done.map_err(|error| encode_error(error, &guard))
    })
}

#[cold]
fn encode_error(error: serde_json::Error, guard: &Guard) -> Error {
    let kind = match error.classify() {
        Category::Io => ErrorKind::Io,
        // A key that is no string, in the library's words.
        Category::Syntax | Category::Eof => ErrorKind::Unsupported,
        Category::Data => ErrorKind::Data,
    };
    guard.error().unwrap_or_else(|| Error::wrap(kind, error))
}

/// An error of a reader that gave `count` bytes. Which of them is at fault the library tells by
/// line and column, so these stay in the message.
#[cold]
fn read_error(error: serde_json::Error, guard: &Guard, count: usize) -> Error {
    let is_at_end = error.classify() == Category::Eof;
    let error = guard.error().unwrap_or_else(|| match kind(&error) {
        ErrorKind::Io => Error::from(io::Error::from(error)),
        kind => Error::wrap(kind, error),
    });
    if is_at_end { error.at(count) } else { error }
}

fn kind(error: &serde_json::Error) -> ErrorKind {
    match error.classify() {
        Category::Io => ErrorKind::Io,
        Category::Syntax => ErrorKind::Syntax,
        Category::Data => ErrorKind::Data,
        Category::Eof => ErrorKind::Eof,
    }
}

#[cold]
fn decode_error(error: serde_json::Error, guard: &Guard, bytes: &[u8]) -> Error {
    let offset = offset(&error, bytes);
    let error = guard.error().unwrap_or_else(|| {
        let kind = match kind(&error) {
            ErrorKind::Io => return Error::from(io::Error::from(error)),
            kind => kind,
        };
        // The library ends its text with line and column; the offset says it once for all.
        let text = error.to_string();
        let message =
            text.rsplit_once(" at line ").map_or(&*text, |(message, _)| message);
        Error::wrap(kind, error).saying(message.to_owned())
    });
    match offset {
        Some(offset) => error.at(offset),
        None => error,
    }
}

/// The library tells line and column, both counted from 1; 0 where it does not know. The
/// column is that of the byte at fault, or of the last byte at the end of the input.
fn offset(error: &serde_json::Error, bytes: &[u8]) -> Option<usize> {
    if error.classify() == Category::Eof {
        return Some(bytes.len());
    }
    let lines_before = error.line().checked_sub(1)?;
    let line_feeds = bytes.iter().enumerate().filter(|&(_, &byte)| byte == b'\n');
    let start = match lines_before.checked_sub(1) {
        None => 0,
        Some(last) => line_feeds.map(|(index, _)| index + 1).nth(last)?,
    };
    Some((start + error.column().saturating_sub(1)).min(bytes.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_float_comes_back_as_it_was() {
        // The edges, and twenty thousand bit patterns of all exponents.
        let mut floats = vec![
            0.1,
            1.0 / 3.0,
            5.018,
            f64::MIN_POSITIVE,
            f64::MAX,
            2.638_344_616_030_823e-256,
        ];
        let mut bits = 1_u64;
        for _ in 0..20_000 {
            bits = bits
                .wrapping_mul(0xbf58_476d_1ce4_e5b9)
                .wrapping_add(0x9e37_79b9_7f4a_7c15);
            floats.push(f64::from_bits(bits));
        }
        floats.retain(|float| float.is_finite());
        let mut out = Vec::new();
        let mut json = Json::compact();
        json.encode_into(&floats, &mut out).unwrap();
        let back: Vec<f64> = json.decode(&out).unwrap();
        let bits =
            |floats: &[f64]| floats.iter().map(|f| f.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&back), bits(&floats));
    }

    wiremark_conform::suite! { compact: Json::compact(), pretty: Json::pretty() }
}
