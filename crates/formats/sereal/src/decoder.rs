//! [`Decoder`] and [`Document`]: values out of documents.
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::arithmetic_side_effects
)]

use std::borrow::Cow;
use std::io::Read;
use std::marker::PhantomData;
use std::ops::Range;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::compress::unpack;
use crate::de;
use crate::header::{DocumentType, Header};
use crate::read::State;
use crate::value::{self, Value};
use crate::{Error, ReadOptions, Result, Version};

/// A document whose header is read and whose body, if it was compressed, is unpacked.
///
/// What is read from it borrows from the input, or from the document if that was compressed.
///
/// ```
/// use wiremark_sereal::{Compression, Document, DocumentType, Encoder, WriteOptions};
///
/// let options = WriteOptions::new().with_compression(Compression::Zstd(3));
/// let bytes = Encoder::with_options(options).encode_to_vec(&"ab".repeat(1_000))?;
/// let document = Document::open(&bytes)?;
/// assert_eq!(document.document_type(), DocumentType::Zstd);
/// assert_eq!(document.read::<&str>()?.len(), 2_000);
/// # Ok::<(), wiremark_sereal::Error>(())
/// ```
#[derive(Debug)]
pub struct Document<'a> {
    header: Header,
    input: &'a [u8],
    body: Cow<'a, [u8]>,
    /// Where the document ends, if its header says it.
    end: Option<usize>,
    options: ReadOptions,
}

impl<'a> Document<'a> {
    /// Opens the document at the start of `bytes`.
    ///
    /// # Errors
    /// [`Syntax`] for what is no document, [`Eof`] for one that ends too early, [`Unsupported`]
    /// for versions and compressions that are not known or not built in, [`Limit`] for a body
    /// that becomes too long.
    ///
    /// [`Syntax`]: crate::ErrorKind::Syntax
    /// [`Eof`]: crate::ErrorKind::Eof
    /// [`Unsupported`]: crate::ErrorKind::Unsupported
    /// [`Limit`]: crate::ErrorKind::Limit
    pub fn open(bytes: &'a [u8]) -> Result<Self> {
        Self::open_with(bytes, ReadOptions::new())
    }

    /// The same with options, which hold for all that is read from it.
    ///
    /// # Errors
    /// As above.
    pub fn open_with(bytes: &'a [u8], options: ReadOptions) -> Result<Self> {
        let header = Header::read(bytes)?;
        let (body, end) = if header.kind == DocumentType::Raw {
            (Cow::Borrowed(bytes.get(header.len..).unwrap_or_default()), None)
        } else {
            let (body, end) = unpack(bytes, &header, &options)?;
            (Cow::Owned(body), Some(end))
        };
        Ok(Self { header, input: bytes, body, end, options })
    }

    /// The version of the protocol.
    pub fn version(&self) -> Version {
        self.header.version
    }

    /// How the body is kept.
    pub fn document_type(&self) -> DocumentType {
        self.header.kind
    }

    /// The body, unpacked. Where it was not compressed, what follows the document is behind it.
    pub fn body(&self) -> &[u8] {
        &self.body
    }

    fn state(&self) -> State<'_, '_> {
        let len = self.end.unwrap_or(self.input.len());
        State::new(&self.body, Some(&self.body), &self.header, len, &self.options)
    }

    /// Reads the body's value.
    ///
    /// # Errors
    /// Those of [`Decoder::decode`].
    pub fn read<'s, T: Deserialize<'s>>(&'s self) -> Result<T> {
        let mut state = self.state();
        let value = de::read(&mut state, PhantomData)?;
        self.check_end(&state)?;
        Ok(value)
    }

    /// Reads the body's value with all that Perl keeps.
    ///
    /// # Errors
    /// Those of [`Decoder::decode_value`].
    pub fn read_value(&self) -> Result<Value<'_>> {
        let mut state = self.state();
        let value = value::read(&mut state, || self.state())?;
        self.check_end(&state)?;
        Ok(value)
    }

    fn check_end(&self, state: &State<'_, '_>) -> Result<()> {
        end(self.consumed(state), self.input.len())
    }

    /// Where the document ends, after its value was read.
    fn consumed(&self, state: &State<'_, '_>) -> usize {
        self.end.unwrap_or_else(|| self.header.len.saturating_add(state.pos))
    }

    /// Whether the header has user data.
    pub fn has_user_data(&self) -> bool {
        self.header.user_data.is_some()
    }

    /// Reads the user data of the header, if there is some.
    ///
    /// # Errors
    /// Those of [`Decoder::decode`]; user data that does not fill its place is [`Syntax`].
    ///
    /// [`Syntax`]: crate::ErrorKind::Syntax
    pub fn user_data<T: Deserialize<'a>>(&self) -> Result<Option<T>> {
        user_data(self.input, &self.header, &self.options)
    }

    /// Reads the user data with all that Perl keeps.
    ///
    /// # Errors
    /// As above.
    pub fn user_data_value(&self) -> Result<Option<Value<'a>>> {
        let Some(range) = self.header.user_data.clone() else { return Ok(None) };
        let (bytes, header) = user_data_body(self.input, &self.header, &range);
        let state =
            || State::new(bytes, Some(bytes), &header, bytes.len(), &self.options);
        let mut main = state();
        let value = value::read(&mut main, state)?;
        end_of_user_data(&main)?;
        Ok(Some(value))
    }
}

/// User data is a raw body of its own.
fn user_data_body<'a>(
    input: &'a [u8],
    header: &Header,
    range: &Range<usize>,
) -> (&'a [u8], Header) {
    let bytes = input.get(range.clone()).unwrap_or_default();
    let header = Header {
        version: header.version,
        kind: DocumentType::Raw,
        user_data: None,
        len: range.start,
    };
    (bytes, header)
}

fn end_of_user_data(state: &State<'_, '_>) -> Result<()> {
    if state.pos == state.body.len() {
        return Ok(());
    }
    Err(state.syntax("expected the end of the user data"))
}

fn user_data<'de, T: Deserialize<'de>>(
    input: &'de [u8],
    header: &Header,
    options: &ReadOptions,
) -> Result<Option<T>> {
    let Some(range) = header.user_data.clone() else { return Ok(None) };
    let (bytes, header) = user_data_body(input, header, &range);
    let mut state = State::new(bytes, Some(bytes), &header, bytes.len(), options);
    let value = de::read(&mut state, PhantomData)?;
    end_of_user_data(&state)?;
    Ok(Some(value))
}

fn end(consumed: usize, len: usize) -> Result<()> {
    if consumed == len {
        return Ok(());
    }
    Err(left_over(consumed, len))
}

#[cold]
fn left_over(consumed: usize, len: usize) -> Error {
    let left = len.saturating_sub(consumed);
    Error::syntax(format!("expected the end, found {left} bytes more"))
        .at(consumed as u64)
}

/// A state that tells at its end how far it came.
struct Reading<'c, 'b, 'de> {
    state: State<'b, 'de>,
    consumed: &'c mut usize,
}

impl Drop for Reading<'_, '_, '_> {
    #[inline]
    fn drop(&mut self) {
        *self.consumed = self.state.end();
    }
}

/// Reads documents.
///
/// ```
/// use wiremark_sereal::Decoder;
///
/// let mut decoder = Decoder::new();
/// let bytes = b"=\xf3rl\x05\x00\x42\x01aa=\xf3rl\x05\x00\x42\x02ab";
/// let (first, len) = decoder.decode_prefix::<(u8, &str)>(bytes)?;
/// assert_eq!((first, len), ((1, "a"), 10));
/// let second = decoder.decode::<(u8, &str)>(&bytes[len..])?;
/// assert_eq!(second, (2, "b"));
/// # Ok::<(), wiremark_sereal::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Decoder {
    options: ReadOptions,
}

impl Decoder {
    /// A decoder with the default limits.
    pub fn new() -> Self {
        Self::with_options(ReadOptions::new())
    }

    /// A decoder with these options.
    pub fn with_options(options: ReadOptions) -> Self {
        Self { options }
    }

    /// Reads the one document that `bytes` are. What is lent is lent from them, unless they are
    /// compressed.
    ///
    /// # Errors
    /// Those of [`Document::open`]; [`Syntax`] for a body that is none and for bytes behind it,
    /// [`Eof`] for one that ends too early, [`Data`] for a value that the type does not take and
    /// for a key that stands twice in a map, [`Limit`] for what nests too deep or grows too
    /// large, [`Unsupported`] for cycles, which types cannot hold.
    ///
    /// [`Syntax`]: crate::ErrorKind::Syntax
    /// [`Eof`]: crate::ErrorKind::Eof
    /// [`Data`]: crate::ErrorKind::Data
    /// [`Limit`]: crate::ErrorKind::Limit
    /// [`Unsupported`]: crate::ErrorKind::Unsupported
    #[inline]
    pub fn decode<'de, T: Deserialize<'de>>(&mut self, bytes: &'de [u8]) -> Result<T> {
        self.decode_first(bytes, true, &mut 0)
    }

    /// Reads the document at the start of `bytes`, and tells how many bytes it has.
    ///
    /// # Errors
    /// Those of [`decode`](Self::decode), but for bytes behind it.
    pub fn decode_prefix<'de, T: Deserialize<'de>>(
        &mut self,
        bytes: &'de [u8],
    ) -> Result<(T, usize)> {
        let mut consumed = 0;
        let value = self.decode_first(bytes, false, &mut consumed)?;
        Ok((value, consumed))
    }

    /// The same with the number of bytes beside the value, which is thus not copied; bytes behind
    /// the document are an error if it must be all.
    #[inline]
    fn decode_first<'de, T: Deserialize<'de>>(
        &mut self,
        bytes: &'de [u8],
        is_all: bool,
        consumed: &mut usize,
    ) -> Result<T> {
        match Header::usual(bytes) {
            Some(header) => self.decode_raw(bytes, is_all, header, consumed),
            None => self.decode_rare(bytes, is_all, consumed),
        }
    }

    #[inline(never)]
    fn decode_rare<'de, T: Deserialize<'de>>(
        &mut self,
        bytes: &'de [u8],
        is_all: bool,
        consumed: &mut usize,
    ) -> Result<T> {
        let header = Header::read(bytes)?;
        if header.kind == DocumentType::Raw {
            return self.decode_raw(bytes, is_all, &header, consumed);
        }
        let (body, document_end) = unpack(bytes, &header, &self.options)?;
        let mut state = State::new(&body, None, &header, document_end, &self.options);
        *consumed = document_end;
        let value = de::read(&mut state, PhantomData)?;
        if is_all {
            end(document_end, bytes.len())?;
        }
        Ok(value)
    }

    #[inline]
    fn decode_raw<'de, T: Deserialize<'de>>(
        &mut self,
        bytes: &'de [u8],
        is_all: bool,
        header: &Header,
        consumed: &mut usize,
    ) -> Result<T> {
        let mut result = self.decode_body(bytes, header, consumed);
        match &mut result {
            Ok(_) if is_all && *consumed != bytes.len() => {
                result = Err(left_over(*consumed, bytes.len()));
            }
            Ok(_) => {}
            Err(error) => error.locate(*consumed as u64),
        }
        result
    }

    /// Reads a raw body. Nothing looks at the result here, so that it is made in the place that the
    /// caller gave for it: made elsewhere, it would be copied just after its parts were written,
    /// for which the processor waits.
    #[inline(never)]
    fn decode_body<'de, T: Deserialize<'de>>(
        &self,
        bytes: &'de [u8],
        header: &Header,
        consumed: &mut usize,
    ) -> Result<T> {
        let body = bytes.get(header.len..).unwrap_or_default();
        let state = State::new(body, Some(body), header, bytes.len(), &self.options);
        T::deserialize(&mut Reading { state, consumed }.state)
    }

    /// Reads one document with all that Perl keeps: references, classes, what is shared.
    ///
    /// # Errors
    /// Those of [`decode`](Self::decode); cycles are none.
    pub fn decode_value<'de>(&mut self, bytes: &'de [u8]) -> Result<Value<'de>> {
        let mut consumed = 0;
        let mut result = self.decode_first_value(bytes, &mut consumed);
        if result.is_ok() && consumed != bytes.len() {
            result = Err(left_over(consumed, bytes.len()));
        }
        result
    }

    /// The same for the document at the start of `bytes`, and how many bytes it has.
    ///
    /// # Errors
    /// Those of [`decode_value`](Self::decode_value), but for bytes behind it.
    pub fn decode_value_prefix<'de>(
        &mut self,
        bytes: &'de [u8],
    ) -> Result<(Value<'de>, usize)> {
        let mut consumed = 0;
        let value = self.decode_first_value(bytes, &mut consumed)?;
        Ok((value, consumed))
    }

    #[inline]
    fn decode_first_value<'de>(
        &mut self,
        bytes: &'de [u8],
        consumed: &mut usize,
    ) -> Result<Value<'de>> {
        let read;
        let header = if let Some(header) = Header::usual(bytes) {
            header
        } else {
            read = Header::read(bytes)?;
            &read
        };
        if header.kind != DocumentType::Raw {
            let (body, end) = unpack(bytes, header, &self.options)?;
            let state = || State::new(&body, None, header, end, &self.options);
            *consumed = end;
            return value::read(&mut state(), state);
        }
        let body = bytes.get(header.len..).unwrap_or_default();
        let state = || State::new(body, Some(body), header, bytes.len(), &self.options);
        let mut main = state();
        let result = value::read(&mut main, state);
        *consumed = header.len.saturating_add(main.pos);
        result
    }

    /// Reads the user data of a document's header, and nothing of its body. None if it has none.
    ///
    /// ```
    /// use wiremark_sereal::Decoder;
    ///
    /// // The body is missing.
    /// let bytes = b"=\xf3rl\x05\x05\x01cdb1";
    /// assert_eq!(Decoder::new().decode_header::<&str>(bytes)?, Some("db1"));
    /// # Ok::<(), wiremark_sereal::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`decode`](Self::decode).
    pub fn decode_header<'de, T: Deserialize<'de>>(
        &mut self,
        bytes: &'de [u8],
    ) -> Result<Option<T>> {
        user_data(bytes, &Header::read(bytes)?, &self.options)
    }

    /// Reads `reader` to its end, as one document.
    ///
    /// # Errors
    /// Those of [`decode`](Self::decode), and [`Io`](crate::ErrorKind::Io).
    pub fn decode_from_reader<T: DeserializeOwned, R: Read>(
        &mut self,
        mut reader: R,
    ) -> Result<T> {
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes)?;
        self.decode(&bytes)
    }

    /// Documents that follow one another until `bytes` end, each with the place where it begins.
    /// After an error there is no further one, as the place of the next is not known.
    ///
    /// ```
    /// use wiremark_sereal::Decoder;
    ///
    /// let bytes = b"=\xf3rl\x05\x00\x01=srl\x01\x00\x02";
    /// let values = Decoder::new().documents::<u8>(bytes).collect::<Result<Vec<_>, _>>()?;
    /// assert_eq!(values, [(0, 1), (7, 2)]);
    /// # Ok::<(), wiremark_sereal::Error>(())
    /// ```
    pub fn documents<'de, T: Deserialize<'de>>(
        &mut self,
        bytes: &'de [u8],
    ) -> Documents<'de, T> {
        Documents { decoder: self.clone(), bytes, at: 0, values: PhantomData }
    }
}

/// Documents one after the other, of [`Decoder::documents`].
#[derive(Debug)]
pub struct Documents<'de, T> {
    decoder: Decoder,
    bytes: &'de [u8],
    at: usize,
    values: PhantomData<fn() -> T>,
}

impl<'de, T: Deserialize<'de>> Iterator for Documents<'de, T> {
    type Item = Result<(usize, T)>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.bytes.get(self.at..).filter(|rest| !rest.is_empty())?;
        let at = self.at;
        match self.decoder.decode_prefix(rest) {
            Ok((value, len)) => {
                self.at = at.saturating_add(len);
                Some(Ok((at, value)))
            }
            Err(error) => {
                self.at = self.bytes.len();
                Some(Err(error.behind(at as u64)))
            }
        }
    }
}

/// Reads the one document that `bytes` are.
///
/// ```
/// #[derive(serde::Deserialize)]
/// struct Point<'a> { name: &'a str, x: f64 }
///
/// let point: Point = wiremark_sereal::from_slice(b"=\xf3rl\x05\x00\x52dnamecAnnax\x02")?;
/// assert_eq!((point.name, point.x), ("Ann", 2.0));
/// # Ok::<(), wiremark_sereal::Error>(())
/// ```
///
/// # Errors
/// Those of [`Decoder::decode`].
#[inline]
pub fn from_slice<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> Result<T> {
    Decoder::new().decode(bytes)
}

/// Reads `reader` to its end, as one document.
///
/// # Errors
/// Those of [`Decoder::decode_from_reader`].
pub fn from_reader<T: DeserializeOwned, R: Read>(reader: R) -> Result<T> {
    Decoder::new().decode_from_reader(reader)
}
