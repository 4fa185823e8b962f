#![doc = include_str!("../README.md")]
//!
//! This crate knows `wiremark-core`, serde and `bincode` 1; it never opens a file or reads a
//! clock.
#![forbid(unsafe_code)]

use std::io::{self, Read, Write};

use bincode1::de::read::BincodeRead;
use bincode1::{DefaultOptions, Options};
use serde::de::{Deserialize, Visitor};
use serde::ser::Serialize;

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
/// wiremark_bincode1::visit(&mut ids);
/// assert_eq!(ids.0, ["bincode/bincode/v1"]);
/// ```
pub fn visit(visitor: &mut impl CodecVisitor) {
    visitor.visit(Bincode1::new());
}

/// Bincode through version 1 of the crate of that name.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Bincode1 {}

impl Bincode1 {
    /// What `bincode::serialize` writes: integers at full width, lengths in eight bytes.
    pub fn new() -> Self {
        Self {}
    }
}

/// Those of the crate's own `serialize`. Its limits count bytes, and are none.
fn options() -> impl Options {
    DefaultOptions::new().with_fixint_encoding()
}

impl Codec for Bincode1 {
    fn profile(&self) -> Profile {
        Profile {
            id: "bincode/bincode/v1",
            format: "bincode 1",
            library: "bincode",
            version: "1.3.3",
            spec: "none but the crate; as `legacy` of bincode 2, docs/spec.md in that crate",
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
        let guard = Guard::new();
        let value = guard.untagged_value(value);
        append(out, |out| {
            let start = out.len();
            options()
                .serialize_into(&mut *out, &value)
                .map_err(|error| guard.error().unwrap_or_else(|| encode_error(error)))?;
            guard.check_elements(out.len() - start)
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
        let mut input = Input { rest: bytes, is_short: false };
        let mut library =
            bincode1::Deserializer::with_bincode_read(&mut input, options());
        let decoded = T::deserialize(guard.untagged(&mut library, bytes));
        let taken = bytes.len() - input.rest.len();
        match decoded {
            Ok(value) => Ok((value, taken)),
            Err(error) => Err(decode_error(error, &guard, &input, taken)),
        }
    }

    // Reading keeps to the default: from a reader the crate allocates what a length says.
    fn encode_to<T: Serialize + ?Sized, W: Write>(
        &mut self,
        value: &T,
        writer: W,
    ) -> Result<()> {
        let guard = Guard::new();
        let value = guard.untagged_value(value);
        let mut writer = Counted { writer, count: 0 };
        options()
            .serialize_into(&mut writer, &value)
            .map_err(|error| guard.error().unwrap_or_else(|| encode_error(error)))?;
        guard.check_elements(writer.count)
    }
}

/// Counts what the library writes, a call for each number and text.
struct Counted<W> {
    writer: W,
    count: usize,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = self.writer.write(bytes)?;
        self.count += taken;
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

/// The library reads from this, and not from a reader of its own, since that does not tell how
/// far it came.
struct Input<'de> {
    rest: &'de [u8],
    /// Whether more was asked for than there is.
    is_short: bool,
}

impl<'de> Input<'de> {
    #[inline]
    fn lend(&mut self, length: usize) -> io::Result<&'de [u8]> {
        let Some((taken, rest)) = self.rest.split_at_checked(length) else {
            return Err(self.short());
        };
        self.rest = rest;
        Ok(taken)
    }

    #[cold]
    #[inline(never)]
    fn short(&mut self) -> io::Error {
        self.is_short = true;
        io::ErrorKind::UnexpectedEof.into()
    }
}

impl Read for &mut Input<'_> {
    #[inline]
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        self.rest.read(space)
    }

    #[inline]
    fn read_exact(&mut self, space: &mut [u8]) -> io::Result<()> {
        let bytes = self.lend(space.len())?;
        space.copy_from_slice(bytes);
        Ok(())
    }
}

impl<'de> BincodeRead<'de> for &mut Input<'de> {
    #[inline]
    fn forward_read_str<V: Visitor<'de>>(
        &mut self,
        length: usize,
        visitor: V,
    ) -> bincode1::Result<V::Value> {
        match std::str::from_utf8(self.lend(length)?) {
            Ok(text) => visitor.visit_borrowed_str(text),
            Err(error) => Err(bincode1::ErrorKind::InvalidUtf8Encoding(error).into()),
        }
    }

    #[inline]
    fn get_byte_buffer(&mut self, length: usize) -> bincode1::Result<Vec<u8>> {
        Ok(self.lend(length)?.to_vec())
    }

    #[inline]
    fn forward_read_bytes<V: Visitor<'de>>(
        &mut self,
        length: usize,
        visitor: V,
    ) -> bincode1::Result<V::Value> {
        visitor.visit_borrowed_bytes(self.lend(length)?)
    }
}

#[cold]
fn encode_error(error: bincode1::Error) -> Error {
    let kind = match *error {
        bincode1::ErrorKind::Io(error) => return error.into(),
        bincode1::ErrorKind::SequenceMustHaveLength => ErrorKind::Unsupported,
        // What the type's own `Serialize` said.
        bincode1::ErrorKind::Custom(said) => return Error::data(said),
        _ => ErrorKind::Data,
    };
    Error::wrap(kind, error)
}

/// An error after `taken` bytes.
#[cold]
fn decode_error(
    error: bincode1::Error,
    guard: &Guard,
    input: &Input<'_>,
    taken: usize,
) -> Error {
    // Beside `Io` the crate calls half a character that ends the input an invalid one.
    if input.is_short {
        return Error::wrap(ErrorKind::Eof, error).at(taken + input.rest.len());
    }
    let error = guard.error().unwrap_or_else(|| match *error {
        bincode1::ErrorKind::DeserializeAnyNotSupported => {
            Error::wrap(ErrorKind::Unsupported, error)
        }
        // The crate has this one text for what it cannot, and none of its kinds.
        bincode1::ErrorKind::Custom(said)
            if said.starts_with("Bincode does not support") =>
        {
            Error::unsupported(said)
        }
        // What the type's own `Deserialize` said.
        bincode1::ErrorKind::Custom(said) => Error::data(said),
        bincode1::ErrorKind::SizeLimit => Error::wrap(ErrorKind::Limit, error),
        _ => Error::wrap(ErrorKind::Syntax, error),
    });
    error.at(taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    wiremark_conform::suite! { bincode1: Bincode1::new() }
}
