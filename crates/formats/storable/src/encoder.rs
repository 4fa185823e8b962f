//! Where writing begins: functions, [`Encoder`], and its options.

use std::io::Write;

use serde::ser::Serialize;
use wiremark_core::depth::MAX_DEPTH;

use crate::ser::{self, Core};
use crate::wire::{Order, put_header};
use crate::{Result, Value, value};

/// Room for a small image, so that it does not grow by doubling from nothing.
const FIRST_BYTES: usize = 128;

/// What a bool is written as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Booleans {
    /// Perl's own true and false, which every Storable reads; the elements are read-only for
    /// Perl.
    #[default]
    Immortal,
    /// The codes that Storable has from 3.27 on (perl 5.38); older ones refuse them.
    Tagged,
    /// The strings `1` and the empty one, which is what older ones write.
    Text,
}

/// Limits and rules for writing.
///
/// ```
/// use wiremark_storable::{Encoder, Order, WriteOptions};
///
/// let options = WriteOptions::new().with_order(Order::Native).with_file_magic(true);
/// let mut image = Vec::new();
/// Encoder::with_options(options).encode(&0.5, &mut image)?;
/// assert!(image.starts_with(b"pst0\x04\x0b\x0812345678"));
/// assert!(image.ends_with(b"\x07\0\0\0\0\0\0\xe0\x3f"));
/// # Ok::<(), wiremark_storable::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteOptions {
    pub(crate) order: Order,
    pub(crate) is_file: bool,
    pub(crate) booleans: Booleans,
    pub(crate) has_perl_numbers: bool,
    pub(crate) is_lossless: bool,
    pub(crate) max_depth: u32,
}

impl Default for WriteOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl WriteOptions {
    /// A memory image in network order, 128 levels.
    pub fn new() -> Self {
        Self {
            order: Order::Network,
            is_file: false,
            booleans: Booleans::Immortal,
            has_perl_numbers: false,
            is_lossless: false,
            max_depth: MAX_DEPTH,
        }
    }

    /// Network order or a machine's own.
    #[must_use]
    pub fn with_order(mut self, order: Order) -> Self {
        self.order = order;
        self
    }

    /// Whether `pst0` goes before the image, as in files.
    #[must_use]
    pub fn with_file_magic(mut self, is_file: bool) -> Self {
        self.is_file = is_file;
        self
    }

    /// What a bool becomes.
    #[must_use]
    pub fn with_booleans(mut self, booleans: Booleans) -> Self {
        self.booleans = booleans;
        self
    }

    /// Whether floats are written as Perl writes them: whole ones as integers, and in network
    /// order with 15 digits, which loses up to two.
    #[must_use]
    pub fn with_perl_numbers(mut self, is_perl: bool) -> Self {
        self.has_perl_numbers = is_perl;
        self
    }

    /// Whether text that looks like a number written as text gets the UTF-8 flag, which numbers
    /// never have. Perl sees the same string;
    /// [`with_numeric_text`](crate::ReadOptions::with_numeric_text) tells them apart.
    #[must_use]
    pub fn with_lossless(mut self, is_lossless: bool) -> Self {
        self.is_lossless = is_lossless;
        self
    }

    /// How many arrays and hashes may stand in one another.
    #[must_use]
    pub fn with_max_depth(mut self, levels: u32) -> Self {
        self.max_depth = levels;
        self
    }
}

/// The image of a value in network order, as Perl's `nfreeze` makes it; `thaw` reads it.
///
/// ```
/// assert_eq!(wiremark_storable::to_vec(&(1, "a"))?, b"\x05\x0b\x02\0\0\0\x02\x08\x81\x0a\x01a");
/// # Ok::<(), wiremark_storable::Error>(())
/// ```
///
/// # Errors
/// `Unsupported` for what Storable has no form for, `Limit` for what nests too deep, `Data` if
/// the value's own `Serialize` refuses.
pub fn to_vec<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>> {
    let mut out = Vec::with_capacity(FIRST_BYTES);
    Encoder::new().encode(value, &mut out)?;
    Ok(out)
}

/// The same for a file, as Perl's `nstore` makes it; `retrieve` reads it.
///
/// # Errors
/// Those of [`to_vec`].
pub fn to_file_vec<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>> {
    let options = WriteOptions::new().with_file_magic(true);
    let mut out = Vec::with_capacity(FIRST_BYTES);
    Encoder::with_options(options).encode(value, &mut out)?;
    Ok(out)
}

/// Writes the image of [`to_file_vec`] with one call.
///
/// # Errors
/// Those of [`to_vec`], and `Io`.
pub fn to_writer<W: Write, T: Serialize + ?Sized>(
    mut writer: W,
    value: &T,
) -> Result<()> {
    writer.write_all(&to_file_vec(value)?)?;
    Ok(())
}

/// Writes images, and keeps its memory for the next.
///
/// ```
/// use wiremark_storable::Encoder;
///
/// let mut encoder = Encoder::new();
/// let mut images = Vec::new();
/// encoder.encode("a", &mut images)?;
/// encoder.encode(&1, &mut images)?;
/// assert_eq!(images, b"\x05\x0b\x0a\x01a\x05\x0b\x08\x81");
/// # Ok::<(), wiremark_storable::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Encoder {
    options: WriteOptions,
    core: Core,
}

impl Clone for Encoder {
    /// The same options, and memory of its own.
    fn clone(&self) -> Self {
        Self::with_options(self.options)
    }
}

impl Encoder {
    /// An encoder with the options of [`WriteOptions::new`].
    pub fn new() -> Self {
        Self::default()
    }

    /// An encoder with other options.
    pub fn with_options(options: WriteOptions) -> Self {
        Self { options, core: Core::default() }
    }

    /// Appends the image of a value. After an error `out` is as long as before.
    ///
    /// # Errors
    /// Those of [`to_vec`].
    #[inline]
    pub fn encode<T: Serialize + ?Sized>(
        &mut self,
        value: &T,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        self.append(out, |core| ser::write(core, value))
    }

    /// Appends the image of what was read as a [`Value`], or made as one.
    ///
    /// # Errors
    /// `Limit` for what nests too deep or is too long, `Data` for a [`Value::Same`] without its
    /// [`Value::Shared`].
    pub fn encode_value(&mut self, value: &Value<'_>, out: &mut Vec<u8>) -> Result<()> {
        self.append(out, |core| value::write(core, value))
    }

    #[inline]
    fn append(
        &mut self,
        out: &mut Vec<u8>,
        write: impl FnOnce(&mut Core) -> Result<()>,
    ) -> Result<()> {
        let start = out.len();
        put_header(out, self.options.order, self.options.is_file);
        self.core.begin(std::mem::take(out), self.options);
        let done = write(&mut self.core);
        *out = self.core.end();
        if done.is_err() {
            out.truncate(start);
        }
        done
    }
}
