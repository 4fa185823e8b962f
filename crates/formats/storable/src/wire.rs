//! Headers, codes and the forms of numbers, without serde: what the bytes are.
//!
//! | SPEC.md | put | take |
//! | --- | --- | --- |
//! | header | [`put_header`] | [`Header::take`] |
//! | codes | [`code`] | [`code`] |
//! | size | [`Order::size`] | [`Form::size`] |
//! | integer, float in machine order | [`Order`] is little-endian | [`Form::int`], [`Form::float`] |
//!
//! ```text
//! image  memory  header item
//!        file    "pst0" header item
//! header network 05 minor
//!        native  04 minor n byte-order(n) int long pointer [float, from minor 2 on]
//! ```
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::arithmetic_side_effects
)]

use crate::{Error, Result};

/// The codes that begin an item, as the format's authors name them.
pub(crate) mod code {
    /// An item met before: tag number.
    pub(crate) const OBJECT: u8 = 0;
    /// A string: size, bytes.
    pub(crate) const LSCALAR: u8 = 1;
    /// Size, items.
    pub(crate) const ARRAY: u8 = 2;
    /// Size, pairs of an item and a key.
    pub(crate) const HASH: u8 = 3;
    /// A reference to the item that follows.
    pub(crate) const REF: u8 = 4;
    /// An ordinary undef.
    pub(crate) const UNDEF: u8 = 5;
    /// An integer in machine order.
    pub(crate) const INTEGER: u8 = 6;
    /// A float in machine order.
    pub(crate) const DOUBLE: u8 = 7;
    /// An integer from −128 to 127, plus 128.
    pub(crate) const BYTE: u8 = 8;
    /// An integer of 4 bytes, big-endian.
    pub(crate) const NETINT: u8 = 9;
    /// A string: a byte of length, bytes.
    pub(crate) const SCALAR: u8 = 10;
    pub(crate) const TIED_ARRAY: u8 = 11;
    pub(crate) const TIED_HASH: u8 = 12;
    pub(crate) const TIED_SCALAR: u8 = 13;
    /// The immortal undef; as an element, a hole.
    pub(crate) const SV_UNDEF: u8 = 14;
    pub(crate) const SV_YES: u8 = 15;
    pub(crate) const SV_NO: u8 = 16;
    /// A class by name, then the item that is of it.
    pub(crate) const BLESS: u8 = 17;
    /// A class by index, then the item that is of it.
    pub(crate) const IX_BLESS: u8 = 18;
    /// An object that its class wrote.
    pub(crate) const HOOK: u8 = 19;
    /// A reference to an object whose class overloads operators.
    pub(crate) const OVERLOAD: u8 = 20;
    pub(crate) const TIED_KEY: u8 = 21;
    pub(crate) const TIED_IDX: u8 = 22;
    /// A string with the UTF-8 flag: a byte of length, bytes.
    pub(crate) const UTF8STR: u8 = 23;
    /// A string with the UTF-8 flag: size, bytes.
    pub(crate) const LUTF8STR: u8 = 24;
    /// Flags, size, pairs of an item, flags and a key.
    pub(crate) const FLAG_HASH: u8 = 25;
    /// A string item: Perl source.
    pub(crate) const CODE: u8 = 26;
    pub(crate) const WEAKREF: u8 = 27;
    pub(crate) const WEAKOVERLOAD: u8 = 28;
    /// A byte of length, source text, then the string it stands for.
    pub(crate) const VSTRING: u8 = 29;
    pub(crate) const LVSTRING: u8 = 30;
    /// An element that is the immortal undef.
    pub(crate) const SVUNDEF_ELEM: u8 = 31;
    pub(crate) const REGEXP: u8 = 32;
    /// Another code with a size of 8 bytes.
    pub(crate) const LOBJECT: u8 = 33;
    pub(crate) const BOOLEAN_TRUE: u8 = 34;
    pub(crate) const BOOLEAN_FALSE: u8 = 35;
}

/// Flags of keys in a `FLAG_HASH`.
pub(crate) mod key_flag {
    pub(crate) const UTF8: u8 = 0x01;
    /// Latin-1 that was given as text.
    pub(crate) const WAS_UTF8: u8 = 0x02;
    pub(crate) const LOCKED: u8 = 0x04;
    /// The key is an item.
    pub(crate) const IS_ITEM: u8 = 0x08;
    /// The key is allowed, and absent.
    pub(crate) const PLACEHOLDER: u8 = 0x10;
}

/// The hash's flag that it is restricted.
pub(crate) const RESTRICTED: u8 = 0x01;

/// Flags of a `HOOK`.
pub(crate) mod hook_flag {
    pub(crate) const KIND: u8 = 0x03;
    pub(crate) const LONG_CLASS: u8 = 0x04;
    pub(crate) const LONG_STRING: u8 = 0x08;
    pub(crate) const LONG_LIST: u8 = 0x10;
    pub(crate) const CLASS_BY_INDEX: u8 = 0x20;
    pub(crate) const ITEM_FOLLOWS: u8 = 0x40;
    pub(crate) const HAS_LIST: u8 = 0x80;
    /// The kind that says that a byte with the kind of a tied thing follows.
    pub(crate) const KIND_TIED: u8 = 3;
}

/// What says that a length or an index of a class has 4 bytes and not one.
pub(crate) const LONG: u8 = 0x80;

/// What a file image begins with.
pub(crate) const FILE_MAGIC: &[u8] = b"pst0";

/// What files before Storable 0.6 begin with.
const OLD_FILE_MAGIC: &[u8] = b"perl-store";

const MAJOR: u8 = 2;

/// The minor version that all writers since 3.00 name, whatever codes they use.
const MINOR: u8 = 11;

/// The first minor version whose native header has the size of a float.
const MINOR_WITH_FLOAT_SIZE: u8 = 2;

/// The header of native images by Perl on 64-bit little-endian machines.
const NATIVE_HEADER: &[u8] = b"\x04\x0b\x0812345678\x04\x08\x08\x08";

/// The header of network images.
const NETWORK_HEADER: &[u8] = &[MAJOR << 1 | 1, MINOR];

/// Sizes that Perl reads as signed numbers end here.
pub(crate) const SIGNED_MAX: usize = i32::MAX as usize;

/// What an image is written as: `nfreeze` and `nstore`, or `freeze` and `store`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Order {
    /// Network order: any Perl reads it. Floats, and integers beyond 32 bits, are decimal text.
    #[default]
    Network,
    /// What Perl on a 64-bit little-endian machine writes for itself. Perl on any other machine
    /// refuses it; this crate reads it anywhere.
    Native,
}

impl Order {
    #[inline]
    pub(crate) fn size(self, size: u32) -> [u8; 4] {
        match self {
            Self::Network => size.to_be_bytes(),
            Self::Native => size.to_le_bytes(),
        }
    }
}

/// Whether an image must begin as one in a file or as one in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ImageKind {
    /// Either: they are told apart by their first byte.
    #[default]
    Any,
    /// As `freeze` and `nfreeze` write it.
    Memory,
    /// As `store` and `nstore` write it: `pst0` stands before it.
    File,
}

/// The order of bytes in an image's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ByteOrder {
    /// The most significant byte first.
    Big,
    /// The least significant byte first.
    Little,
}

/// What stands before an image's item.
///
/// ```
/// use wiremark_storable::{ByteOrder, Header};
///
/// let header = Header::of(b"pst0\x04\x0b\x0887654321\x04\x08\x08\x08\x05")?;
/// assert!(header.is_file() && !header.is_network());
/// assert_eq!(header.minor(), 11);
/// assert_eq!(header.byte_order(), ByteOrder::Big);
/// assert_eq!(header.size_bytes(), 19);
/// # Ok::<(), wiremark_storable::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    is_file: bool,
    is_network: bool,
    minor: u8,
    form: Form,
    size_bytes: usize,
}

impl Header {
    /// The header at the start of `image`, whatever follows it.
    ///
    /// # Errors
    /// `Eof` where it is cut, `Unsupported` for Storable before 0.6, `Syntax` where it is no
    /// header.
    pub fn of(image: &[u8]) -> Result<Self> {
        Self::take(image, 0, ImageKind::Any)
    }

    /// Whether `pst0` stands before it.
    pub fn is_file(&self) -> bool {
        self.is_file
    }

    /// Whether the image is in network order.
    pub fn is_network(&self) -> bool {
        self.is_network
    }

    /// The minor version; the major one is 2.
    pub fn minor(&self) -> u8 {
        self.minor
    }

    /// The order of bytes in sizes.
    pub fn byte_order(&self) -> ByteOrder {
        if self.form.big_sizes { ByteOrder::Big } else { ByteOrder::Little }
    }

    /// Bytes of an integer (Perl's IV): 4 or 8.
    pub fn int_bytes(&self) -> usize {
        self.form.int_bytes
    }

    /// Bytes of a float (Perl's NV): 8, or 12 or 16 where Perl was built with long doubles.
    pub fn float_bytes(&self) -> usize {
        self.form.float_bytes
    }

    /// Bytes that it takes: the image's item begins behind them.
    pub fn size_bytes(&self) -> usize {
        self.size_bytes
    }

    pub(crate) fn form(&self) -> Form {
        self.form
    }

    /// The header of the image that begins at `start` of `input`.
    #[inline]
    pub(crate) fn take(input: &[u8], start: usize, kind: ImageKind) -> Result<Self> {
        let rest = input.get(start..).unwrap_or_default();
        if kind != ImageKind::File {
            // What nearly all images begin with.
            if rest.starts_with(NETWORK_HEADER) {
                return Ok(Self::usual(Form::NETWORK, NETWORK_HEADER));
            }
            if rest.starts_with(NATIVE_HEADER) {
                return Ok(Self::usual(Form::NATIVE, NATIVE_HEADER));
            }
        }
        Self::take_any(input, start, kind)
    }

    /// A header in memory as this crate writes it.
    #[inline]
    fn usual(form: Form, header: &[u8]) -> Self {
        Self {
            is_file: false,
            is_network: form.is_network,
            minor: MINOR,
            form,
            size_bytes: header.len(),
        }
    }

    fn take_any(input: &[u8], start: usize, kind: ImageKind) -> Result<Self> {
        let mut cursor = Cursor { input, pos: start };
        let rest = input.get(start..).unwrap_or_default();
        let is_file = rest.starts_with(FILE_MAGIC);
        if rest.starts_with(OLD_FILE_MAGIC) {
            let text = "files of Storable before 0.6 are not supported";
            return Err(Error::unsupported(text).at(start));
        }
        if !rest.is_empty()
            && rest.len() < FILE_MAGIC.len()
            && FILE_MAGIC.starts_with(rest)
        {
            return Err(cursor.cut());
        }
        match kind {
            ImageKind::Memory if is_file => {
                let text = "expected an image in memory, found one in a file";
                return Err(Error::syntax(text).at(start));
            }
            ImageKind::File if !is_file && !rest.is_empty() => {
                let text = "expected `pst0`, which begins an image in a file";
                return Err(Error::syntax(text).at(start));
            }
            _ => {}
        }
        if is_file {
            cursor.bytes(FILE_MAGIC.len())?;
        }
        let at = cursor.pos;
        let version = cursor.byte()?;
        let is_network = version & 1 == 1;
        match version >> 1 {
            MAJOR => {}
            major @ 0..MAJOR => {
                let text = format!("expected version 2 of the format, found {major}");
                return Err(Error::unsupported(text).at(at));
            }
            major => {
                let text =
                    format!("expected an image of version 2, found version {major}");
                return Err(Error::syntax(text).at(at));
            }
        }
        let minor = cursor.byte()?;
        let form = if is_network {
            Form::NETWORK
        } else {
            Form::take_native(&mut cursor, minor)?
        };
        let size_bytes = cursor.pos.saturating_sub(start);
        Ok(Self { is_file, is_network, minor, form, size_bytes })
    }
}

/// Appends the header of an image.
#[inline]
pub(crate) fn put_header(out: &mut Vec<u8>, order: Order, is_file: bool) {
    if is_file {
        out.extend_from_slice(FILE_MAGIC);
    }
    out.extend_from_slice(match order {
        Order::Network => NETWORK_HEADER,
        Order::Native => NATIVE_HEADER,
    });
}

/// How an image writes its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Form {
    /// Whether sizes are big-endian.
    pub(crate) big_sizes: bool,
    /// Whether integers and floats in machine order are.
    big_numbers: bool,
    pub(crate) int_bytes: usize,
    pub(crate) float_bytes: usize,
    pub(crate) is_network: bool,
}

impl Form {
    /// Numbers in machine order do not stand in network images; where they do, Perl takes its
    /// own, which is nearly always this.
    const NETWORK: Self = Self {
        big_sizes: true,
        big_numbers: false,
        int_bytes: 8,
        float_bytes: 8,
        is_network: true,
    };

    /// The form of images by Perl on 64-bit little-endian machines.
    const NATIVE: Self = Self { big_sizes: false, is_network: false, ..Self::NETWORK };

    fn take_native(cursor: &mut Cursor<'_>, minor: u8) -> Result<Self> {
        let at = cursor.pos;
        let length = usize::from(cursor.byte()?);
        // Longer texts are refused before they are all there.
        let text = match length {
            4 | 8 => cursor.bytes(length)?,
            _ => &[],
        };
        let big = match text {
            b"1234" | b"12345678" => false,
            b"4321" | b"87654321" => true,
            _ => return Err(Error::syntax("expected a known order of bytes").at(at)),
        };
        let mut size_of = |what: &str, allowed: &[u8]| {
            let at = cursor.pos;
            let size = cursor.byte()?;
            if allowed.contains(&size) {
                return Ok(usize::from(size));
            }
            let text =
                format!("expected {allowed:?} as the size of {what}, found {size}");
            Err(Error::syntax(text).at(at))
        };
        size_of("int", &[4])?;
        size_of("long", &[4, 8])?;
        size_of("a pointer", &[4, 8])?;
        let float_bytes = if minor < MINOR_WITH_FLOAT_SIZE {
            8
        } else {
            size_of("a float", &[8, 12, 16])?
        };
        Ok(Self {
            big_sizes: big,
            big_numbers: big,
            int_bytes: length,
            float_bytes,
            is_network: false,
        })
    }

    #[inline]
    pub(crate) fn size(self, bytes: [u8; 4]) -> u32 {
        if self.big_sizes { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
    }

    #[inline]
    pub(crate) fn long_size(self, bytes: [u8; 8]) -> u64 {
        if self.big_sizes { u64::from_be_bytes(bytes) } else { u64::from_le_bytes(bytes) }
    }

    /// An integer of 8 bytes in machine order.
    #[inline]
    pub(crate) fn int(self, bytes: [u8; 8]) -> i64 {
        if self.big_numbers {
            i64::from_be_bytes(bytes)
        } else {
            i64::from_le_bytes(bytes)
        }
    }

    /// An integer of 4 bytes in machine order.
    #[inline]
    pub(crate) fn short_int(self, bytes: [u8; 4]) -> i64 {
        i64::from(if self.big_numbers {
            i32::from_be_bytes(bytes)
        } else {
            i32::from_le_bytes(bytes)
        })
    }

    /// A float of 8 bytes in machine order.
    #[inline]
    pub(crate) fn float(self, bytes: [u8; 8]) -> f64 {
        if self.big_numbers {
            f64::from_be_bytes(bytes)
        } else {
            f64::from_le_bytes(bytes)
        }
    }
}

/// A place in the input.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'de> {
    pub(crate) input: &'de [u8],
    pub(crate) pos: usize,
}

impl<'de> Cursor<'de> {
    /// The input ends too early.
    #[cold]
    pub(crate) fn cut(&self) -> Error {
        Error::eof("the input ends inside an image").at(self.input.len())
    }

    #[inline]
    pub(crate) fn left(&self) -> usize {
        self.input.len().saturating_sub(self.pos)
    }

    /// What is still there.
    #[inline]
    pub(crate) fn rest(&self) -> &'de [u8] {
        self.input.get(self.pos..).unwrap_or_default()
    }

    /// Goes on behind bytes that are there.
    #[inline]
    pub(crate) fn pass(&mut self, count: usize) {
        self.pos = self.pos.saturating_add(count);
    }

    #[inline]
    pub(crate) fn peek(&self) -> Option<u8> {
        self.input.get(self.pos).copied()
    }

    #[inline]
    pub(crate) fn byte(&mut self) -> Result<u8> {
        match self.input.get(self.pos) {
            Some(&byte) => {
                self.pos = self.pos.wrapping_add(1);
                Ok(byte)
            }
            None => Err(self.cut()),
        }
    }

    #[inline]
    pub(crate) fn bytes(&mut self, count: usize) -> Result<&'de [u8]> {
        let end = self.pos.saturating_add(count);
        match self.input.get(self.pos..end) {
            Some(bytes) => {
                self.pos = end;
                Ok(bytes)
            }
            None => Err(self.cut()),
        }
    }

    #[inline]
    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        match self.rest().first_chunk::<N>() {
            Some(bytes) => {
                self.pos = self.pos.wrapping_add(N);
                Ok(*bytes)
            }
            None => Err(self.cut()),
        }
    }

    /// A size that is unsigned for Perl too.
    #[inline]
    pub(crate) fn size(&mut self, form: Form) -> Result<usize> {
        // Fits everywhere that an input of this length does.
        Ok(usize::try_from(form.size(self.array()?)).unwrap_or(usize::MAX))
    }

    /// A size that Perl reads as a signed number.
    #[inline]
    pub(crate) fn signed_size(&mut self, form: Form) -> Result<usize> {
        let at = self.pos;
        let size = self.size(form)?;
        if size > SIGNED_MAX {
            return Err(Error::syntax("expected a size, found a negative number").at(at));
        }
        Ok(size)
    }

    /// A size of 8 bytes.
    pub(crate) fn long_size(&mut self, form: Form) -> Result<usize> {
        Ok(usize::try_from(form.long_size(self.array()?)).unwrap_or(usize::MAX))
    }

    /// A number of things that take at least `least` bytes each: as many may still be there.
    #[inline]
    pub(crate) fn check_count(&self, count: usize, least: usize) -> Result<usize> {
        if count.saturating_mul(least) > self.left() {
            return Err(self.cut());
        }
        Ok(count)
    }

    /// The number of a tag, 4 bytes, big-endian in all images.
    #[inline]
    pub(crate) fn tag(&mut self) -> Result<usize> {
        Ok(usize::try_from(u32::from_be_bytes(self.array()?)).unwrap_or(usize::MAX))
    }

    /// The length of a class's name: a byte, or a size.
    pub(crate) fn class_length(&mut self, form: Form) -> Result<usize> {
        let first = self.byte()?;
        if first & LONG == 0 { Ok(usize::from(first)) } else { self.signed_size(form) }
    }
}
