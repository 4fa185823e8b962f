//! The contract: [`Codec`], its object-safe twin [`DynCodec`], and [`CodecVisitor`].

use std::fmt;
use std::io::{Read, Write};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::{Error, Framing, Profile, Result, stream};

/// A way of turning values into bytes and back: one wire format through one library with one
/// set of options.
///
/// Two methods and a description are required; the rest has defaults that a library replaces
/// where it does better.
///
/// The codec value holds its options and whatever scratch space the library can use again.
/// *Reused* means keeping the value between calls, *fresh* means cloning it before each: both
/// are the same code, so they can be compared.
///
/// # Contract
/// - Encoding appends to `out` and never clears it. After an error `out` is as long as before.
/// - Decoding wants the whole input: bytes after the document are [`ErrorKind::Syntax`].
/// - A proper prefix of a document is [`ErrorKind::Eof`] where the format can know it.
/// - No input panics, overflows the stack or allocates for bytes that are not there; nesting
///   deeper than [`max_depth`](crate::Capabilities::max_depth) is [`ErrorKind::Limit`], both
///   ways.
/// - After an error the codec works on.
///
/// `wiremark-conform` checks all of it with one macro.
///
/// [`ErrorKind::Syntax`]: crate::ErrorKind::Syntax
/// [`ErrorKind::Eof`]: crate::ErrorKind::Eof
/// [`ErrorKind::Limit`]: crate::ErrorKind::Limit
///
/// ```
/// # mod wiremark_demo { include!("../doc/demo.rs"); }
/// # use wiremark_demo::Demo;
/// use wiremark_core::Codec;
///
/// # fn main() -> wiremark_core::Result<()> {
/// // `Demo` stands for any codec: `wiremark_json::Json::compact()`, say.
/// let mut codec = Demo;
/// let mut out = Vec::new();
/// codec.encode_into("to be", &mut out)?;
/// let back: String = codec.decode(&out)?;
/// assert_eq!(back, "to be");
/// # Ok(()) }
/// ```
pub trait Codec: Clone + fmt::Debug + Send + 'static {
    /// Who this codec is and what it can do.
    fn profile(&self) -> Profile;

    /// Appends the bytes of `value` to `out`.
    ///
    /// # Errors
    /// [`Unsupported`] if the format cannot represent the value, [`Limit`] if it nests too
    /// deep, [`Data`] if the value's own `Serialize` refuses. `out` is then as long as before.
    ///
    /// [`Unsupported`]: crate::ErrorKind::Unsupported
    /// [`Limit`]: crate::ErrorKind::Limit
    /// [`Data`]: crate::ErrorKind::Data
    fn encode_into<T: Serialize + ?Sized>(
        &mut self,
        value: &T,
        out: &mut Vec<u8>,
    ) -> Result<()>;

    /// Reads one document that fills `bytes`; the value may borrow from it.
    ///
    /// # Errors
    /// Each [`ErrorKind`](crate::ErrorKind) but `Io`, with the offset where the library tells.
    fn decode<'de, T: Deserialize<'de>>(&mut self, bytes: &'de [u8]) -> Result<T>;

    /// Reads one document at the start of `bytes` and tells how many bytes it took.
    ///
    /// Codecs whose documents tell their own end ([`Framing::BackToBack`]) implement it; for
    /// the others the default answers [`Unsupported`](crate::ErrorKind::Unsupported).
    ///
    /// # Errors
    /// Those of [`decode`](Self::decode), but for trailing bytes.
    fn decode_prefix<'de, T: Deserialize<'de>>(
        &mut self,
        bytes: &'de [u8],
    ) -> Result<(T, usize)> {
        let _ = bytes;
        Err(Error::unsupported("a document of this format does not tell its own end"))
    }

    /// Writes the bytes of `value` to `writer`, as the library does it: by default they are
    /// collected first and written with one call, but a library with a way of its own makes a
    /// call for each token. A file therefore wants an [`io::BufWriter`](std::io::BufWriter)
    /// around it, and a flush that is looked at.
    ///
    /// # Errors
    /// Those of [`encode_into`](Self::encode_into), and [`Io`](crate::ErrorKind::Io). What was
    /// written before the error stays written.
    fn encode_to<T: Serialize + ?Sized, W: Write>(
        &mut self,
        value: &T,
        mut writer: W,
    ) -> Result<()> {
        let mut out = Vec::new();
        self.encode_into(value, &mut out)?;
        writer.write_all(&out)?;
        Ok(())
    }

    /// Reads `reader` to its end and decodes what it gave as one document. By default all of
    /// it is read first; a library with a way of its own asks for a token at a time, so that a
    /// file wants an [`io::BufReader`](std::io::BufReader) around it.
    ///
    /// # Errors
    /// Those of [`decode`](Self::decode), and [`Io`](crate::ErrorKind::Io).
    fn decode_from<T: DeserializeOwned, R: Read>(&mut self, mut reader: R) -> Result<T> {
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes)?;
        self.decode(&bytes)
    }

    /// Appends several documents, framed as [`Profile::framing`] says.
    ///
    /// # Errors
    /// Those of [`encode_into`](Self::encode_into), at the first value that fails, and
    /// [`Unsupported`](crate::ErrorKind::Unsupported) for a document of no bytes that no length
    /// stands before. `out` is then as long as before the call.
    fn encode_each<'a, T, I>(&mut self, values: I, out: &mut Vec<u8>) -> Result<()>
    where
        T: Serialize + ?Sized + 'a,
        I: IntoIterator<Item = &'a T>,
    {
        stream::encode_each(self, values, out)
    }

    /// Reads documents that follow one another until `bytes` is used up and hands each to
    /// `each`, which may stop the reading with an error of its own.
    ///
    /// # Errors
    /// Those of [`decode`](Self::decode), with offsets counted from the start of `bytes`, and
    /// what `each` returns.
    fn decode_each<'de, T, F>(&mut self, bytes: &'de [u8], each: F) -> Result<()>
    where
        T: Deserialize<'de>,
        F: FnMut(T) -> Result<()>,
    {
        stream::decode_each(self, bytes, each)
    }

    /// Writes documents to `writer` as `values` gives them, framed as by
    /// [`encode_each`](Self::encode_each), with one call of `write_all` for each: never more
    /// than one document is held.
    ///
    /// ```
    /// # mod wiremark_demo { include!("../doc/demo.rs"); }
    /// # use wiremark_demo::Demo;
    /// use wiremark_core::Codec;
    ///
    /// # fn main() -> wiremark_core::Result<()> {
    /// let mut stream = Vec::new();
    /// Demo.encode_each_to(["to", "be"].into_iter().map(Ok), &mut stream)?;
    /// let mut back: Vec<String> = Vec::new();
    /// Demo.decode_each_from(stream.as_slice(), |word| Ok(back.push(word)))?;
    /// assert_eq!(back, ["to", "be"]);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// Those of [`encode_each`](Self::encode_each), [`Io`](crate::ErrorKind::Io), and the first
    /// error that `values` gives. The documents before it stay written.
    fn encode_each_to<T, I, W>(&mut self, values: I, writer: W) -> Result<()>
    where
        T: Serialize,
        I: IntoIterator<Item = Result<T>>,
        W: Write,
    {
        stream::encode_each_to(self, values, writer)
    }

    /// Reads documents from `reader` until it ends and hands each to `each`, which may stop the
    /// reading with an error of its own. Held are one document and what was read beyond it, at
    /// most [`CHUNK_BYTES`](stream::CHUNK_BYTES) or as much as the document is long.
    ///
    /// # Errors
    /// Those of [`decode_each`](Self::decode_each), with offsets counted from where `reader`
    /// began, and [`Io`](crate::ErrorKind::Io).
    fn decode_each_from<T, R, F>(&mut self, reader: R, each: F) -> Result<()>
    where
        T: DeserializeOwned,
        R: Read,
        F: FnMut(T) -> Result<()>,
    {
        stream::decode_each_from(self, reader, each)
    }
}

/// The object-safe twin of [`Codec`] for one value type `V`, for code that learns the format
/// at run time.
///
/// One virtual call buys a whole encode; inside it everything is static. Every `Codec` is a
/// `DynCodec<V>` for every `V` that serde can write and read. A library with a derive of its
/// own and no serde can implement `DynCodec<V>` for the types it knows.
///
/// ```
/// # mod wiremark_demo { include!("../doc/demo.rs"); }
/// # use wiremark_demo::Demo;
/// use wiremark_core::DynCodec;
///
/// # fn main() -> wiremark_core::Result<()> {
/// let mut codecs: Vec<Box<dyn DynCodec<String>>> = vec![Box::new(Demo)];
/// for codec in &mut codecs {
///     let mut out = Vec::new();
///     codec.encode_into(&"to be".to_owned(), &mut out)?;
///     assert_eq!(codec.decode(&out)?, "to be");
/// }
/// # Ok(()) }
/// ```
pub trait DynCodec<V>: fmt::Debug + Send {
    /// See [`Codec::profile`].
    fn profile(&self) -> Profile;

    /// See [`Codec::encode_into`].
    ///
    /// # Errors
    /// As there.
    fn encode_into(&mut self, value: &V, out: &mut Vec<u8>) -> Result<()>;

    /// See [`Codec::decode`].
    ///
    /// # Errors
    /// As there.
    fn decode(&mut self, bytes: &[u8]) -> Result<V>;

    /// See [`Codec::encode_each`].
    ///
    /// # Errors
    /// As there.
    fn encode_each(&mut self, values: &[V], out: &mut Vec<u8>) -> Result<()>;

    /// See [`Codec::decode_each`].
    ///
    /// # Errors
    /// As there.
    fn decode_each(
        &mut self,
        bytes: &[u8],
        each: &mut dyn FnMut(V) -> Result<()>,
    ) -> Result<()>;

    /// A fresh copy with the same options.
    fn boxed_clone(&self) -> Box<dyn DynCodec<V>>;
}

impl<C, V> DynCodec<V> for C
where
    C: Codec,
    V: Serialize + DeserializeOwned,
{
    fn profile(&self) -> Profile {
        Codec::profile(self)
    }

    fn encode_into(&mut self, value: &V, out: &mut Vec<u8>) -> Result<()> {
        Codec::encode_into(self, value, out)
    }

    fn decode(&mut self, bytes: &[u8]) -> Result<V> {
        Codec::decode(self, bytes)
    }

    fn encode_each(&mut self, values: &[V], out: &mut Vec<u8>) -> Result<()> {
        Codec::encode_each(self, values, out)
    }

    fn decode_each(
        &mut self,
        bytes: &[u8],
        each: &mut dyn FnMut(V) -> Result<()>,
    ) -> Result<()> {
        Codec::decode_each(self, bytes, each)
    }

    fn boxed_clone(&self) -> Box<dyn DynCodec<V>> {
        Box::new(self.clone())
    }
}

/// Walks a list of codecs with their static types.
///
/// A closure cannot be generic, so a visitor is what `for codec in registry` would be if the
/// codecs had one type.
///
/// ```
/// # mod wiremark_demo { include!("../doc/demo.rs"); }
/// # use wiremark_demo::Demo;
/// use wiremark_core::{Codec, CodecVisitor};
///
/// struct Ids(Vec<&'static str>);
///
/// impl CodecVisitor for Ids {
///     fn visit<C: Codec>(&mut self, codec: C) {
///         self.0.push(codec.profile().id);
///     }
/// }
///
/// let mut ids = Ids(Vec::new());
/// ids.visit(Demo);
/// assert_eq!(ids.0, ["demo/core/plain"]);
/// ```
pub trait CodecVisitor {
    /// Called once for each codec.
    fn visit<C: Codec>(&mut self, codec: C);
}

/// Runs `encode`, which appends to `out`, and on an error cuts `out` back to the length it had.
///
/// Libraries leave half a value behind when they fail; the contract does not allow it.
///
/// ```
/// let mut out = b"kept".to_vec();
/// let failed = wiremark_core::append(&mut out, |out| {
///     out.extend_from_slice(b"half a value");
///     Err(wiremark_core::Error::data("no"))
/// });
/// assert!(failed.is_err());
/// assert_eq!(out, b"kept");
/// ```
///
/// # Errors
/// What `encode` returns.
#[inline]
pub fn append(
    out: &mut Vec<u8>,
    encode: impl FnOnce(&mut Vec<u8>) -> Result<()>,
) -> Result<()> {
    let start = out.len();
    let done = encode(out);
    if done.is_err() {
        out.truncate(start);
    }
    done
}

// Named here so that the documentation of `Codec` can link to it without a path.
const _: Framing = Framing::BackToBack;
