#![doc = include_str!("../README.md")]
//!
//! This crate knows `wiremark-core`, serde and `postcard`; it never opens a file or reads a
//! clock.
#![forbid(unsafe_code)]

use std::{io, mem};

use postcard::de_flavors::Slice;
use postcard::ser_flavors::Flavor;
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
/// wiremark_postcard::visit(&mut ids);
/// assert_eq!(ids.0, ["postcard/postcard"]);
/// ```
pub fn visit(visitor: &mut impl CodecVisitor) {
    visitor.visit(Postcard::new());
}

/// Postcard through the crate of that name.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Postcard {}

impl Postcard {
    /// The plain format: no checksum, no byte stuffing.
    pub fn new() -> Self {
        Self {}
    }
}

impl Codec for Postcard {
    fn profile(&self) -> Profile {
        Profile {
            id: "postcard/postcard",
            format: "Postcard",
            library: "postcard",
            version: "1.2.0",
            spec: "Postcard 1, https://postcard.jamesmunns.com/wire-format",
            license: "MIT OR Apache-2.0",
            upkeep: Upkeep::Maintained,
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
            caveat: "reader and writer must share the exact types",
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
            postcard::serialize_with_flavor(&value, Tail::of(out))
                .map_err(|error| guard.error().unwrap_or_else(|| encode_error(error)))?;
            guard.check_elements(out.len() - start)
        })
    }

    // What is returned lies in one place from the start: a value that is taken out of its result
    // and put into another is copied, and the copy waits for what has just been written.
    #[inline]
    fn decode<'de, T: Deserialize<'de>>(&mut self, bytes: &'de [u8]) -> Result<T> {
        let guard = Guard::new();
        let mut library = postcard::Deserializer::from_bytes(bytes);
        let mut decoded = T::deserialize(guard.untagged(&mut library, bytes))
            .map_err(|error| decode_error(error, &guard));
        let left = left(library);
        if left > 0 || decoded.is_err() {
            decoded = Err(refused(decoded.err(), bytes.len() - left, left));
        }
        decoded
    }

    #[inline]
    fn decode_prefix<'de, T: Deserialize<'de>>(
        &mut self,
        bytes: &'de [u8],
    ) -> Result<(T, usize)> {
        let guard = Guard::new();
        let mut library = postcard::Deserializer::from_bytes(bytes);
        match T::deserialize(guard.untagged(&mut library, bytes)) {
            Ok(value) => Ok((value, bytes.len() - left(library))),
            Err(error) => {
                Err(decode_error(error, &guard).at(bytes.len() - left(library)))
            }
        }
    }

    // Reading keeps to the default: from a reader the library wants a buffer for all text.
    fn encode_to<T: Serialize + ?Sized, W: io::Write>(
        &mut self,
        value: &T,
        writer: W,
    ) -> Result<()> {
        let guard = Guard::new();
        let value = guard.untagged_value(value);
        let mut failed = None;
        let through = Through { writer, count: 0, failed: &mut failed };
        let done = postcard::serialize_with_flavor(&value, through);
        match (done, failed) {
            (_, Some(error)) => Err(error.into()),
            (Ok(count), None) => guard.check_elements(count),
            (Err(error), None) => {
                Err(guard.error().unwrap_or_else(|| encode_error(error)))
            }
        }
    }
}

/// The library's own way: a call of the writer for each number and text.
struct Through<'a, W> {
    writer: W,
    count: usize,
    /// The library's error has no room for it.
    failed: &'a mut Option<io::Error>,
}

impl<W: io::Write> Flavor for Through<'_, W> {
    /// Bytes written.
    type Output = usize;

    fn try_extend(&mut self, data: &[u8]) -> postcard::Result<()> {
        self.count += data.len();
        self.writer.write_all(data).map_err(|error| {
            *self.failed = Some(error);
            postcard::Error::SerializeBufferFull
        })
    }

    fn try_push(&mut self, data: u8) -> postcard::Result<()> {
        self.try_extend(&[data])
    }

    fn finalize(self) -> postcard::Result<usize> {
        Ok(self.count)
    }
}

/// How many bytes the library has not taken. It tells after an error too.
#[inline]
fn left<'de>(library: postcard::Deserializer<'de, Slice<'de>>) -> usize {
    library.finalize().map_or(0, <[u8]>::len)
}

/// Appends to a vector that is the caller's again at the end, also after an error or a panic of
/// the value's own. The crate's own flavours take the vector and drop it then, with the bytes
/// that were in it before; a reference to it would be looked through for each byte.
struct Tail<'a> {
    bytes: Vec<u8>,
    home: &'a mut Vec<u8>,
}

impl<'a> Tail<'a> {
    #[inline]
    fn of(home: &'a mut Vec<u8>) -> Self {
        Self { bytes: mem::take(home), home }
    }
}

impl Drop for Tail<'_> {
    #[inline]
    fn drop(&mut self) {
        *self.home = mem::take(&mut self.bytes);
    }
}

impl Flavor for Tail<'_> {
    type Output = ();

    #[inline]
    fn try_extend(&mut self, data: &[u8]) -> postcard::Result<()> {
        self.bytes.extend_from_slice(data);
        Ok(())
    }

    #[inline]
    fn try_push(&mut self, data: u8) -> postcard::Result<()> {
        self.bytes.push(data);
        Ok(())
    }

    #[inline]
    fn finalize(self) -> postcard::Result<()> {
        Ok(())
    }
}

#[cold]
fn encode_error(error: postcard::Error) -> Error {
    let kind = match error {
        postcard::Error::WontImplement
        | postcard::Error::NotYetImplemented
        | postcard::Error::SerializeSeqLengthUnknown => ErrorKind::Unsupported,
        _ => ErrorKind::Data,
    };
    Error::wrap(kind, error)
}

/// Why a document is refused of which the library took so many bytes and left so many.
#[cold]
fn refused(error: Option<Error>, taken: usize, left: usize) -> Error {
    match error {
        Some(error) => error.at(taken),
        None => Error::trailing(taken, left),
    }
}

#[cold]
fn decode_error(error: postcard::Error, guard: &Guard) -> Error {
    let kind = match error {
        postcard::Error::DeserializeUnexpectedEnd => ErrorKind::Eof,
        postcard::Error::WontImplement | postcard::Error::NotYetImplemented => {
            ErrorKind::Unsupported
        }
        // The crate drops the message of the type's own `Deserialize`.
        postcard::Error::SerdeDeCustom => ErrorKind::Data,
        _ => ErrorKind::Syntax,
    };
    guard.error().unwrap_or_else(|| Error::wrap(kind, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives up after some bytes, by a panic.
    struct Panics;

    impl Serialize for Panics {
        fn serialize<S: serde::Serializer>(
            &self,
            _: S,
        ) -> std::result::Result<S::Ok, S::Error> {
            panic!("the value's own")
        }
    }

    #[test]
    fn what_was_in_the_vector_outlives_a_value_that_panics() {
        let mut out = b"kept".to_vec();
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            Postcard::new().encode_into(&(1_u8, Panics), &mut out)
        }));
        assert!(caught.is_err());
        assert_eq!(out[..4], *b"kept");
    }

    wiremark_conform::suite! { postcard: Postcard::new() }
}
