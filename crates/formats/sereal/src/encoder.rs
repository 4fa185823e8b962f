//! [`Encoder`]: documents out of values.

use std::io::Write;

use serde::Serialize;

use crate::header::Header;
use crate::read::State;
use crate::value::{self, Value};
use crate::write::{Writer, put_document, put_header};
use crate::{
    Compression, Dedupe, DocumentType, Error, KeyOrder, ReadOptions, Result, Version,
    WriteOptions,
};

/// Writes documents. Kept between them, it uses its buffers again, as an encoder object of Perl
/// does; documents do not depend on one another.
///
/// ```
/// use wiremark_sereal::Encoder;
///
/// let mut encoder = Encoder::new();
/// let mut out = Vec::new();
/// encoder.encode_into(&(1, "a"), &mut out)?;
/// encoder.encode_into(&(2, "b"), &mut out)?;
/// assert_eq!(out, b"=\xf3rl\x05\x00\x42\x01aa=\xf3rl\x05\x00\x42\x02ab");
/// # Ok::<(), wiremark_sereal::Error>(())
/// ```
#[derive(Debug)]
pub struct Encoder {
    options: WriteOptions,
    writer: Writer,
}

impl Default for Encoder {
    fn default() -> Self {
        Self::new()
    }
}

impl Clone for Encoder {
    /// The same options, with buffers of its own.
    fn clone(&self) -> Self {
        Self::with_options(self.options)
    }
}

impl Encoder {
    /// An encoder with Perl's defaults.
    pub fn new() -> Self {
        Self::with_options(WriteOptions::new())
    }

    /// An encoder with these options.
    pub fn with_options(options: WriteOptions) -> Self {
        Self { options, writer: Writer::new(options) }
    }

    /// Appends a document of `value` to `out`.
    ///
    /// ```
    /// let mut out = Vec::new();
    /// wiremark_sereal::Encoder::new().encode_into("a", &mut out)?;
    /// assert_eq!(out, b"=\xf3rl\x05\x00aa");
    /// # Ok::<(), wiremark_sereal::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Unsupported`] for what Sereal has not: integers wider than 64 bits, keys that are
    /// neither text nor numbers, and options that do not fit the version; [`Limit`] for what
    /// nests too deep; [`Data`] if the value's own `Serialize` fails or says a wrong length.
    /// `out` is then as long as before.
    ///
    /// [`Unsupported`]: crate::ErrorKind::Unsupported
    /// [`Limit`]: crate::ErrorKind::Limit
    /// [`Data`]: crate::ErrorKind::Data
    #[inline]
    pub fn encode_into<T: Serialize + ?Sized>(
        &mut self,
        value: &T,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        self.write(out, None, |writer| value.serialize(writer))
    }

    /// A document of `value`.
    ///
    /// # Errors
    /// Those of [`encode_into`](Self::encode_into).
    pub fn encode_to_vec<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        self.encode_into(value, &mut out)?;
        Ok(out)
    }

    /// Writes a document of `value` with one call.
    ///
    /// # Errors
    /// Those of [`encode_into`](Self::encode_into), and [`Io`](crate::ErrorKind::Io).
    pub fn encode_to_writer<T: Serialize + ?Sized, W: Write>(
        &mut self,
        value: &T,
        mut writer: W,
    ) -> Result<()> {
        writer.write_all(&self.encode_to_vec(value)?)?;
        Ok(())
    }

    /// Appends a document of `value` with user data in its header, which can be
    /// [read](crate::Document::user_data) without the body.
    ///
    /// ```
    /// use wiremark_sereal::{Document, Encoder};
    ///
    /// let mut out = Vec::new();
    /// Encoder::new().encode_with_header("db1", &[1, 2], &mut out)?;
    /// assert_eq!(out, b"=\xf3rl\x05\x05\x01cdb1\x42\x01\x02");
    /// let document = Document::open(&out)?;
    /// assert_eq!(document.user_data::<&str>()?, Some("db1"));
    /// assert_eq!(document.read::<[u8; 2]>()?, [1, 2]);
    /// # Ok::<(), wiremark_sereal::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`encode_into`](Self::encode_into), and [`Unsupported`] in version 1, which has
    /// no user data.
    ///
    /// [`Unsupported`]: crate::ErrorKind::Unsupported
    pub fn encode_with_header<H, T>(
        &mut self,
        user_data: &H,
        value: &T,
        out: &mut Vec<u8>,
    ) -> Result<()>
    where
        H: Serialize + ?Sized,
        T: Serialize + ?Sized,
    {
        let user_data = self.user_data(|writer| user_data.serialize(writer))?;
        self.write(out, Some(&user_data), |writer| value.serialize(writer))
    }

    /// Appends a document of a dynamic value, with its references, classes, and all that is
    /// shared; `user_data` goes into the header.
    ///
    /// ```
    /// use wiremark_sereal::{Encoder, Value};
    ///
    /// let value = Value::Ref(Box::new(Value::Int(1)));
    /// let mut out = Vec::new();
    /// Encoder::new().encode_value(&value, None, &mut out)?;
    /// assert_eq!(out, b"=\xf3rl\x05\x00\x28\x01");
    /// # Ok::<(), wiremark_sereal::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`encode_with_header`](Self::encode_with_header), and
    /// [`Data`](crate::ErrorKind::Data) if the value is none that Perl could have: an object that
    /// is no reference, a number that nothing before it has.
    pub fn encode_value(
        &mut self,
        value: &Value<'_>,
        user_data: Option<&Value<'_>>,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let user_data = user_data
            .map(|value| self.user_data(|writer| writer.put_value(value)))
            .transpose()?;
        self.write_ordered(out, user_data.as_deref(), |writer| writer.put_value(value))
    }

    /// A document of a dynamic value.
    ///
    /// # Errors
    /// Those of [`encode_value`](Self::encode_value).
    pub fn encode_value_to_vec(&mut self, value: &Value<'_>) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        self.encode_value(value, None, &mut out)?;
        Ok(out)
    }

    /// The body of user data.
    fn user_data(
        &mut self,
        put: impl FnOnce(&mut Writer) -> Result<()>,
    ) -> Result<Vec<u8>> {
        if self.options.version < Version::V2 {
            return Err(Error::unsupported("user data needs version 2 of the protocol"));
        }
        let raw = self.options.with_compression(Compression::None);
        let mut encoder = Self::with_options(raw);
        let mut out = Vec::new();
        encoder.write(&mut out, None, put)?;
        let header = Header::read(&out)?;
        Ok(out.split_off(header.len))
    }

    #[inline]
    fn write(
        &mut self,
        out: &mut Vec<u8>,
        user_data: Option<&[u8]>,
        put: impl FnOnce(&mut Writer) -> Result<()>,
    ) -> Result<()> {
        if self.options.order == KeyOrder::Kept {
            self.write_ordered(out, user_data, put)
        } else {
            self.reorder(out, user_data, put)
        }
    }

    /// A body whose keys are not yet in order is read again: what was written has no labels, and
    /// nothing in it refers to a place but what the second pass writes anew.
    #[cold]
    fn reorder(
        &mut self,
        out: &mut Vec<u8>,
        user_data: Option<&[u8]>,
        put: impl FnOnce(&mut Writer) -> Result<()>,
    ) -> Result<()> {
        let first = WriteOptions {
            order: KeyOrder::Kept,
            dedupe: Dedupe::Off,
            compression: Compression::None,
            ..self.options
        };
        let mut body = Vec::new();
        Self::with_options(first).write_ordered(&mut body, None, put)?;
        let header = Header::read(&body)?;
        let options = ReadOptions::new()
            .with_max_depth(self.options.max_depth)
            .with_max_copied_bytes(usize::MAX)
            .with_duplicate_keys(true);
        let written = &body[header.len..];
        let state =
            || State::new(written, Some(written), &header, written.len(), &options);
        let value = value::read(&mut state(), state)?;
        self.write_ordered(out, user_data, |writer| writer.put_value(&value))
    }

    #[inline]
    fn write_ordered(
        &mut self,
        out: &mut Vec<u8>,
        user_data: Option<&[u8]>,
        put: impl FnOnce(&mut Writer) -> Result<()>,
    ) -> Result<()> {
        let writer = &mut self.writer;
        if self.options.compression != Compression::None {
            return Self::write_packed(writer, out, user_data, put);
        }
        // The writer has the caller's buffer for as long as it writes.
        let start = out.len();
        writer.out = std::mem::take(out);
        put_header(&mut writer.out, self.options.version, DocumentType::Raw, user_data);
        let shift = shift(self.options.version, writer.out.len() - start);
        writer.begin_body(shift);
        let done = put(writer);
        *out = std::mem::take(&mut writer.out);
        if done.is_err() {
            out.truncate(start);
        }
        done
    }

    #[cold]
    fn write_packed(
        writer: &mut Writer,
        out: &mut Vec<u8>,
        user_data: Option<&[u8]>,
        put: impl FnOnce(&mut Writer) -> Result<()>,
    ) -> Result<()> {
        let options = *writer.options();
        options.check()?;
        writer.out.clear();
        // A header without user data has six bytes; in version 1 there are no others.
        writer.begin_body(shift(options.version, 6));
        put(writer)?;
        let start = out.len();
        let done = put_document(out, &options, user_data, &writer.out);
        writer.out.clear();
        if done.is_err() {
            out.truncate(start);
        }
        done
    }
}

/// The offset of a body's first byte.
#[inline]
fn shift(version: Version, header_len: usize) -> usize {
    if version == Version::V1 { header_len } else { 1 }
}

/// A document of `value`.
///
/// ```
/// assert_eq!(wiremark_sereal::to_vec(&[1, 300])?, b"=\xf3rl\x05\x00\x42\x01\x20\xac\x02");
/// # Ok::<(), wiremark_sereal::Error>(())
/// ```
///
/// # Errors
/// Those of [`Encoder::encode_into`].
pub fn to_vec<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>> {
    Encoder::new().encode_to_vec(value)
}

/// Writes a document of `value` with one call.
///
/// # Errors
/// Those of [`Encoder::encode_to_writer`].
pub fn to_writer<T: Serialize + ?Sized, W: Write>(writer: W, value: &T) -> Result<()> {
    Encoder::new().encode_to_writer(value, writer)
}
