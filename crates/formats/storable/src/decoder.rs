//! Where reading begins: functions, [`Decoder`], and its options.

use std::io::Read;
use std::marker::PhantomData;

use serde::de::{Deserialize, DeserializeOwned, DeserializeSeed};
use wiremark_core::depth::MAX_DEPTH;

use crate::reader::{Reader, Scratch};
use crate::wire::ImageKind;
use crate::{Error, Result, Value, de, value};

/// Inputs longer than this are refused unless the options say otherwise: 1 GiB.
const MAX_BYTES: u32 = 1 << 30;

/// Limits and rules for reading.
///
/// ```
/// use wiremark_storable::{Decoder, ReadOptions};
///
/// // The elements of `[1, "2"]`, in network order.
/// let image = b"\x05\x0b\x02\0\0\0\x02\x08\x81\x0a\x012";
/// let options = ReadOptions::new().with_max_depth(1).with_max_bytes(1000);
/// let numbers: Vec<u8> = Decoder::with_options(options).decode(image)?;
/// assert_eq!(numbers, [1, 2]);
/// # Ok::<(), wiremark_storable::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent switches")]
pub struct ReadOptions {
    max_depth: u32,
    max_bytes: u32,
    image: ImageKind,
    has_blessed: bool,
    has_tied: bool,
    has_code: bool,
    has_numeric_text: bool,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl ReadOptions {
    /// 128 levels, 1 GiB, memory and file images, objects and tied things, no code.
    pub fn new() -> Self {
        Self {
            max_depth: MAX_DEPTH,
            max_bytes: MAX_BYTES,
            image: ImageKind::Any,
            has_blessed: true,
            has_tied: true,
            has_code: false,
            has_numeric_text: false,
        }
    }

    /// How many arrays and hashes may stand in one another. Of references, classes and ties
    /// there may be twice as many on the way to an item. Each level takes some hundred bytes of
    /// stack.
    #[must_use]
    pub fn with_max_depth(mut self, levels: u32) -> Self {
        self.max_depth = levels;
        self
    }

    /// How many bytes an input may have; at most 4 GiB − 1.
    #[must_use]
    pub fn with_max_bytes(mut self, bytes: u32) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// Which kind of image is expected.
    #[must_use]
    pub fn with_image(mut self, image: ImageKind) -> Self {
        self.image = image;
        self
    }

    /// Whether objects are read; if not, they are an error of the kind `Unsupported`.
    #[must_use]
    pub fn with_blessed(mut self, is_allowed: bool) -> Self {
        self.has_blessed = is_allowed;
        self
    }

    /// Whether tied things are read, as the object behind them; if not, they are an error of
    /// the kind `Unsupported`.
    #[must_use]
    pub fn with_tied(mut self, is_allowed: bool) -> Self {
        self.has_tied = is_allowed;
        self
    }

    /// Whether Perl source is read, as text: nothing ever runs it. By default it is an error of
    /// the kind `Unsupported`.
    #[must_use]
    pub fn with_code(mut self, is_allowed: bool) -> Self {
        self.has_code = is_allowed;
        self
    }

    /// Whether text without the UTF-8 flag that is exactly what is written for a number is that
    /// number, where no type asks for text: floats and integers beyond 32 bits of network
    /// images, integers beyond 64 bits of native ones. Perl does not tell `5.018` from
    /// `"5.018"` in network order; what [`with_lossless`](crate::WriteOptions::with_lossless)
    /// writes is told apart. Types that ask for numbers take text either way.
    #[must_use]
    pub fn with_numeric_text(mut self, is_number: bool) -> Self {
        self.has_numeric_text = is_number;
        self
    }

    pub(crate) fn max_depth(&self) -> u32 {
        self.max_depth
    }

    pub(crate) fn max_bytes(&self) -> usize {
        usize::try_from(self.max_bytes).unwrap_or(usize::MAX)
    }

    pub(crate) fn image(&self) -> ImageKind {
        self.image
    }

    pub(crate) fn has_numeric_text(&self) -> bool {
        self.has_numeric_text
    }

    #[inline]
    pub(crate) fn check_blessed(&self, at: usize) -> Result<()> {
        if self.has_blessed { Ok(()) } else { Err(refused("an object", at)) }
    }

    #[inline]
    pub(crate) fn check_tied(&self, at: usize) -> Result<()> {
        if self.has_tied { Ok(()) } else { Err(refused("a tied thing", at)) }
    }

    #[inline]
    pub(crate) fn check_code(&self, at: usize) -> Result<()> {
        if self.has_code { Ok(()) } else { Err(refused("code", at)) }
    }
}

#[cold]
fn refused(what: &str, at: usize) -> Error {
    Error::unsupported(format!("{what}, which the reader's options refuse")).at(at)
}

/// Reads an image, of any order and kind, that fills `bytes`. Text and bytes can be borrowed.
///
/// ```
/// // `nfreeze([1, "a"])`
/// let image = b"\x05\x0b\x02\0\0\0\x02\x08\x81\x0a\x01a";
/// let (number, text): (i32, &str) = wiremark_storable::from_slice(image)?;
/// assert_eq!((number, text), (1, "a"));
/// # Ok::<(), wiremark_storable::Error>(())
/// ```
///
/// # Errors
/// Any kind but `Io`, with the offset.
pub fn from_slice<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> Result<T> {
    Decoder::new().decode(bytes)
}

/// Reads `reader` to its end, as one image.
///
/// # Errors
/// Any kind; `Limit` where it gives more bytes than [`ReadOptions::with_max_bytes`] allows.
pub fn from_reader<T: DeserializeOwned, R: Read>(reader: R) -> Result<T> {
    Decoder::new().decode_from(reader)
}

/// Reads images, and keeps its tables for the next.
///
/// ```
/// use wiremark_storable::{Decoder, Value};
///
/// let mut decoder = Decoder::new();
/// // Two images in one file, as `store_fd` writes them: 7 and 8.
/// let file = b"pst0\x05\x0b\x08\x87pst0\x05\x0b\x08\x88";
/// let (seven, used): (u8, usize) = decoder.decode_prefix(file)?;
/// let eight: u8 = decoder.decode(&file[used..])?;
/// assert_eq!((seven, eight), (7, 8));
/// # Ok::<(), wiremark_storable::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Decoder {
    options: ReadOptions,
    scratch: Scratch,
}

impl Clone for Decoder {
    /// The same options, and tables of its own.
    fn clone(&self) -> Self {
        Self::with_options(self.options)
    }
}

impl Decoder {
    /// A decoder with the options of [`ReadOptions::new`].
    pub fn new() -> Self {
        Self::default()
    }

    /// A decoder with other options.
    pub fn with_options(options: ReadOptions) -> Self {
        Self { options, scratch: Scratch::default() }
    }

    /// Reads an image that fills `bytes`.
    ///
    /// # Errors
    /// Any kind but `Io`, with the offset.
    #[inline]
    pub fn decode<'de, T: Deserialize<'de>>(&mut self, bytes: &'de [u8]) -> Result<T> {
        let mut reader = Reader::new(bytes, 0, self.options, &mut self.scratch)?;
        let value = de::read(&mut reader, PhantomData);
        // Neither by `decode_prefix` nor taken out: a value is moved each time.
        if value.is_ok() {
            end(bytes, reader.pos())?;
        }
        value
    }

    /// Reads an image at the start of `bytes`, and tells how many bytes it takes.
    ///
    /// # Errors
    /// Any kind but `Io`, with the offset.
    #[inline]
    pub fn decode_prefix<'de, T: Deserialize<'de>>(
        &mut self,
        bytes: &'de [u8],
    ) -> Result<(T, usize)> {
        self.decode_seed(bytes, PhantomData)
    }

    /// Reads an image at the start of `bytes` by a seed, and tells how many bytes it takes.
    ///
    /// # Errors
    /// Any kind but `Io`, with the offset.
    #[inline]
    pub fn decode_seed<'de, T: DeserializeSeed<'de>>(
        &mut self,
        bytes: &'de [u8],
        seed: T,
    ) -> Result<(T::Value, usize)> {
        let mut reader = Reader::new(bytes, 0, self.options, &mut self.scratch)?;
        let value = de::read(&mut reader, seed)?;
        Ok((value, reader.pos()))
    }

    /// Reads `reader` to its end, as one image.
    ///
    /// # Errors
    /// Any kind; `Limit` where it gives more bytes than the options allow.
    pub fn decode_from<T: DeserializeOwned, R: Read>(&mut self, reader: R) -> Result<T> {
        let mut bytes = Vec::new();
        let most = u64::from(self.options.max_bytes).saturating_add(1);
        reader.take(most).read_to_end(&mut bytes)?;
        self.decode(&bytes)
    }

    /// Reads an image that fills `bytes`, with all that Perl tells apart.
    ///
    /// # Errors
    /// Any kind but `Io`, with the offset.
    pub fn value<'de>(&mut self, bytes: &'de [u8]) -> Result<Value<'de>> {
        let (value, used) = self.value_prefix(bytes)?;
        end(bytes, used)?;
        Ok(value)
    }

    /// Reads an image at the start of `bytes`, with all that Perl tells apart, and tells how
    /// many bytes it takes.
    ///
    /// # Errors
    /// Any kind but `Io`, with the offset.
    pub fn value_prefix<'de>(&mut self, bytes: &'de [u8]) -> Result<(Value<'de>, usize)> {
        let mut reader = Reader::new(bytes, 0, self.options, &mut self.scratch)?;
        let value = value::read(&mut reader)?;
        Ok((value, reader.pos()))
    }
}

#[inline]
fn end(bytes: &[u8], used: usize) -> Result<()> {
    match bytes.len().saturating_sub(used) {
        0 => Ok(()),
        left => Err(too_long(left, used)),
    }
}

#[cold]
fn too_long(left: usize, used: usize) -> Error {
    let text = format!("expected the end of the input, found {left} more bytes");
    Error::syntax(text).at(used)
}
