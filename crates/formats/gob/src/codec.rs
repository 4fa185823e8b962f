//! The adapter: [`Gob`], this crate as a wiremark `Codec`.

use std::any::type_name;
use std::io::{BufReader, Read, Write};

use serde::de::{Deserialize, DeserializeOwned};
use serde::ser::Serialize;

use wiremark_core::depth::MAX_DEPTH;
use wiremark_core::stream::CHUNK_BYTES;
use wiremark_core::{
    Capabilities, Codec, CodecVisitor, Framing, Profile, Result, Role, Trailing, Upkeep,
};

use crate::encoder::Messages;
use crate::{Decoder, Deserializer, ReadOptions, WriteOptions};

/// Shows `visitor` the measured codecs.
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
/// wiremark_gob::visit(&mut ids);
/// assert_eq!(ids.0, ["gob/wiremark-gob", "gob/wiremark-gob/go-names"]);
/// ```
pub fn visit(visitor: &mut impl CodecVisitor) {
    visitor.visit(Gob::new());
    visitor.visit(Gob::go_names());
}

/// Gob as a wiremark codec.
///
/// Each document is a stream of its own, definitions first. A codec that is kept remembers
/// what it has learned of each type it wrote, so it learns once; a clone remembers nothing.
/// [`encode_each`](Codec::encode_each) writes one stream, in which each type is defined once.
///
/// ```
/// use wiremark_core::Codec;
/// use wiremark_gob::Gob;
///
/// let mut gob = Gob::new();
/// let mut alone = Vec::new();
/// gob.encode_into(&("a", 1), &mut alone)?;
/// let mut stream = Vec::new();
/// gob.encode_each(&[("a", 1), ("b", 2)], &mut stream)?;
/// // The second document takes 9 bytes, since its type is known.
/// assert_eq!(stream.len(), alone.len() + 9);
/// # Ok::<(), wiremark_core::Error>(())
/// ```
#[derive(Debug)]
pub struct Gob {
    id: &'static str,
    write: WriteOptions,
    read: ReadOptions,
    /// What is known of the types of documents, and of those of streams.
    documents: Vec<(&'static str, Messages)>,
    streams: Vec<(&'static str, Messages)>,
}

/// As many types does a codec remember.
const MAX_TYPES: usize = 64;

impl Default for Gob {
    fn default() -> Self {
        Self::new()
    }
}

impl Clone for Gob {
    /// The same options and nothing learned: what is called *fresh*.
    fn clone(&self) -> Self {
        Self {
            id: self.id,
            write: self.write,
            read: self.read,
            documents: Vec::new(),
            streams: Vec::new(),
        }
    }
}

impl Gob {
    /// The codec that is measured: nothing that Rust can tell apart is lost.
    pub fn new() -> Self {
        Self {
            id: "gob/wiremark-gob",
            write: WriteOptions::new().with_lossless(true),
            read: ReadOptions::new(),
            documents: Vec::new(),
            streams: Vec::new(),
        }
    }

    /// The same with field names as Go's programs have them: `first_name` is `FirstName`, and so a
    /// Go program finds its fields, which it sees only under a capital letter.
    pub fn go_names() -> Self {
        Self {
            id: "gob/wiremark-gob/go-names",
            write: WriteOptions::new().with_lossless(true).with_go_names(true),
            read: ReadOptions::new().with_go_names(true),
            documents: Vec::new(),
            streams: Vec::new(),
        }
    }

    /// The same with other options for writing.
    #[must_use]
    pub fn with_write_options(mut self, options: WriteOptions) -> Self {
        self.write = options;
        self.clone()
    }

    /// The same with other options for reading.
    #[must_use]
    pub fn with_read_options(mut self, options: ReadOptions) -> Self {
        self.read = options;
        self.clone()
    }
}

/// What is known of the type `T`.
fn messages<'a, T: ?Sized>(
    all: &'a mut Vec<(&'static str, Messages)>,
    options: WriteOptions,
) -> &'a mut Messages {
    let name = type_name::<T>();
    // By address first: a name is long, and mostly the same as last time.
    let known = all
        .iter()
        .position(|(known, _)| std::ptr::eq(*known, name))
        .or_else(|| all.iter().position(|(known, _)| *known == name));
    let index = known.unwrap_or_else(|| {
        if all.len() >= MAX_TYPES {
            all.clear();
        }
        all.push((name, Messages::new(options)));
        all.len() - 1
    });
    &mut all[index].1
}

impl Codec for Gob {
    fn profile(&self) -> Profile {
        Profile {
            id: self.id,
            format: "gob",
            library: "wiremark-gob",
            version: env!("CARGO_PKG_VERSION"),
            spec: "Go's package encoding/gob, https://pkg.go.dev/encoding/gob",
            license: "MIT OR Apache-2.0",
            upkeep: Upkeep::Maintained,
            role: Role::Codec,
            framing: Framing::Stream,
            trailing: Trailing::RefusedByLibrary,
            can: Capabilities {
                self_describing: true,
                human_readable: false,
                field_names: true,
                borrow_str: true,
                borrow_bytes: true,
                bytes: true,
                int_128: true,
                non_finite_floats: true,
                nested_option: true,
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
            caveat: "each document begins with its types: a short one is mostly that, and in a \
                     stream they are sent once",
        }
    }

    #[inline]
    fn encode_into<T: Serialize + ?Sized>(
        &mut self,
        value: &T,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let messages = messages::<T>(&mut self.documents, self.write);
        Ok(messages.append(value, out, true)?)
    }

    #[inline]
    fn decode<'de, T: Deserialize<'de>>(&mut self, bytes: &'de [u8]) -> Result<T> {
        let mut deserializer = Deserializer::from_slice(bytes).with_options(self.read);
        let value = deserializer.read()?;
        deserializer.end()?;
        Ok(value)
    }

    fn encode_each<'a, T, I>(&mut self, values: I, out: &mut Vec<u8>) -> Result<()>
    where
        T: Serialize + ?Sized + 'a,
        I: IntoIterator<Item = &'a T>,
    {
        let messages = messages::<T>(&mut self.streams, self.write);
        messages.begin_stream();
        wiremark_core::append(out, |out| {
            for value in values {
                messages.append(value, out, false)?;
            }
            Ok(())
        })
    }

    fn decode_each<'de, T, F>(&mut self, bytes: &'de [u8], mut each: F) -> Result<()>
    where
        T: Deserialize<'de>,
        F: FnMut(T) -> Result<()>,
    {
        let mut deserializer = Deserializer::from_slice(bytes).with_options(self.read);
        while let Some(value) = deserializer.next_value()? {
            each(value)?;
        }
        Ok(())
    }

    fn encode_each_to<T, I, W>(&mut self, values: I, mut writer: W) -> Result<()>
    where
        T: Serialize,
        I: IntoIterator<Item = Result<T>>,
        W: Write,
    {
        let messages = messages::<T>(&mut self.streams, self.write);
        messages.begin_stream();
        let mut document = Vec::new();
        for value in values {
            document.clear();
            messages.append(&value?, &mut document, false)?;
            writer.write_all(&document)?;
        }
        Ok(())
    }

    fn decode_each_from<T, R, F>(&mut self, reader: R, mut each: F) -> Result<()>
    where
        T: DeserializeOwned,
        R: Read,
        F: FnMut(T) -> Result<()>,
    {
        // The decoder reads not a byte more than a message, in several calls.
        let reader = BufReader::with_capacity(CHUNK_BYTES, reader);
        let mut decoder = Decoder::new(reader).with_options(self.read);
        while let Some(value) = decoder.next_value()? {
            each(value)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    wiremark_conform::suite! { gob: Gob::new(), go_names: Gob::go_names() }
}
