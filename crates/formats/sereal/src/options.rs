//! How documents are read and written: [`ReadOptions`], [`WriteOptions`], and their choices.

use wiremark_core::depth::MAX_DEPTH;

use crate::{Error, Result};

/// A version of the protocol. Perl's encoder writes version 5 unless told otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    /// Offsets from the start of the document; an opaque header.
    V1 = 1,
    /// Offsets from the body; user data in the header; FREEZE.
    V2 = 2,
    /// The magic that shows an accidental UTF-8 encode; zlib.
    V3 = 3,
    /// zstd.
    V4 = 4,
    /// Booleans of their own.
    #[default]
    V5 = 5,
}

impl Version {
    /// The version of that number, if there is one.
    pub const fn from_number(number: u8) -> Option<Self> {
        match number {
            1 => Some(Self::V1),
            2 => Some(Self::V2),
            3 => Some(Self::V3),
            4 => Some(Self::V4),
            5 => Some(Self::V5),
            _ => None,
        }
    }

    /// Its number.
    pub const fn number(self) -> u8 {
        self as u8
    }
}

/// How a body is written: as it is, or compressed where that makes it smaller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Compression {
    /// As it is.
    #[default]
    None,
    /// Snappy; in version 1 the old form, which nothing can follow.
    Snappy,
    /// Snappy with a length before it, in version 1 too.
    SnappyIncremental,
    /// zlib at a level from 1 to 9; Perl's default is 6. From version 3 on.
    Zlib(u8),
    /// zstd at a level from 1 to 22; Perl's default is 3. From version 4 on, though Perl reads
    /// it in version 3 too.
    Zstd(u8),
}

/// In which order the pairs of hashes are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeyOrder {
    /// As the value hands them out.
    #[default]
    Kept,
    /// By length in bytes, then flagged before unflagged, then by bytes: Perl's `sort_keys` 1.
    Length,
    /// By characters: `sort_keys` 2. Keys are then never shared, as Perl has it.
    Characters,
    /// By characters, backwards: `sort_keys` 3. Keys are then never shared.
    CharactersReversed,
}

/// Whether equal strings are written once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dedupe {
    /// Each is written.
    #[default]
    Off,
    /// A later one is a copy of the first: Perl's `dedupe_strings`.
    Copy,
    /// A later one is an alias of the first: Perl's `aliased_dedupe_strings`. Only in elements
    /// of arrays and hashes; Perl then has one scalar in several places.
    Alias,
}

/// What becomes of objects when they are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Objects {
    /// They are written with their class.
    #[default]
    Kept,
    /// They are written as what they are made of: Perl's `no_bless_objects`.
    Plain,
    /// They are an error: Perl's `croak_on_bless`.
    Refused,
}

/// How values are written.
///
/// ```
/// use std::collections::BTreeMap;
/// use wiremark_sereal::{Encoder, Version, WriteOptions};
///
/// let rows = [BTreeMap::from([("name", 1)]), BTreeMap::from([("name", 2)])];
/// let options = WriteOptions::new().with_shared_keys(false).with_version(Version::V2);
/// let bytes = Encoder::with_options(options).encode_to_vec(&rows)?;
/// assert_eq!(bytes, b"=srl\x02\x00\x42\x51dname\x01\x51dname\x02");
/// # Ok::<(), wiremark_sereal::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct WriteOptions {
    pub(crate) version: Version,
    pub(crate) compression: Compression,
    pub(crate) threshold: usize,
    pub(crate) shared_keys: bool,
    pub(crate) dedupe: Dedupe,
    pub(crate) order: KeyOrder,
    pub(crate) canonical_refs: bool,
    pub(crate) always_text: bool,
    pub(crate) objects: Objects,
    pub(crate) max_depth: u32,
}

impl Default for WriteOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl WriteOptions {
    /// Perl's defaults: version 5, no compression, shared keys; and at most 128 levels.
    pub const fn new() -> Self {
        Self {
            version: Version::V5,
            compression: Compression::None,
            threshold: 1024,
            shared_keys: true,
            dedupe: Dedupe::Off,
            order: KeyOrder::Kept,
            canonical_refs: false,
            always_text: false,
            objects: Objects::Kept,
            max_depth: MAX_DEPTH,
        }
    }

    /// The version of the protocol, for old readers.
    #[must_use]
    pub const fn with_version(mut self, version: Version) -> Self {
        self.version = version;
        self
    }

    /// How the body is compressed. A body that does not get smaller is written as it is.
    #[must_use]
    pub const fn with_compression(mut self, compression: Compression) -> Self {
        self.compression = compression;
        self
    }

    /// As many bytes must a body have to be compressed: 1,024.
    #[must_use]
    pub const fn with_compress_threshold(mut self, bytes: usize) -> Self {
        self.threshold = bytes;
        self
    }

    /// Whether a key that was written before is written as a copy of it: on. Off is faster for
    /// documents of one small hash, and larger for lists of records.
    #[must_use]
    pub const fn with_shared_keys(mut self, shared: bool) -> Self {
        self.shared_keys = shared;
        self
    }

    /// Whether equal strings of four bytes and more are written once: off.
    #[must_use]
    pub const fn with_dedupe(mut self, dedupe: Dedupe) -> Self {
        self.dedupe = dedupe;
        self
    }

    /// In which order pairs are written: as they come. Another order costs a second pass.
    #[must_use]
    pub const fn with_key_order(mut self, order: KeyOrder) -> Self {
        self.order = order;
        self
    }

    /// Whether every array and hash is written as a reference and a container, even where a tag
    /// for both would do: off.
    #[must_use]
    pub const fn with_canonical_refs(mut self, canonical: bool) -> Self {
        self.canonical_refs = canonical;
        self
    }

    /// Equal values, equal bytes, as Perl's `canonical` has it: keys by length, and canonical
    /// references.
    #[must_use]
    pub const fn with_canonical(mut self) -> Self {
        self.order = KeyOrder::Length;
        self.canonical_refs = true;
        self
    }

    /// Whether text is flagged as text even where it is ASCII: off. It tells text and bytes
    /// apart for a reader without types, and takes up to one byte more a string.
    #[must_use]
    pub const fn with_always_text(mut self, always: bool) -> Self {
        self.always_text = always;
        self
    }

    /// What becomes of objects: they are kept.
    #[must_use]
    pub const fn with_objects(mut self, objects: Objects) -> Self {
        self.objects = objects;
        self
    }

    /// How deep values may nest: 128 levels. Each takes a few hundred bytes of stack.
    #[must_use]
    pub const fn with_max_depth(mut self, levels: u32) -> Self {
        self.max_depth = levels;
        self
    }

    /// Whether the options fit one another.
    pub(crate) fn check(&self) -> Result<()> {
        let unsupported = |what| Err(Error::unsupported(what));
        match self.compression {
            Compression::Zlib(level) if !(1..=10).contains(&level) => {
                unsupported("expected a zlib level from 1 to 10")
            }
            Compression::Zstd(level) if !(1..=22).contains(&level) => {
                unsupported("expected a zstd level from 1 to 22")
            }
            Compression::Zlib(_) if self.version < Version::V3 => {
                unsupported("zlib needs version 3 of the protocol")
            }
            Compression::Zstd(_) if self.version < Version::V3 => {
                unsupported("zstd needs version 4 of the protocol")
            }
            _ => Ok(()),
        }
    }
}

/// How documents are read: limits, and what is taken for what.
///
/// ```
/// use wiremark_sereal::{Decoder, ErrorKind, ReadOptions};
///
/// let bytes = wiremark_sereal::to_vec(&vec![vec![1]])?;
/// let flat = ReadOptions::new().with_max_depth(1);
/// let error = Decoder::with_options(flat).decode::<Vec<Vec<u8>>>(&bytes).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Limit);
/// # Ok::<(), wiremark_sereal::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent switches")]
pub struct ReadOptions {
    pub(crate) max_depth: u32,
    pub(crate) max_body: Option<usize>,
    pub(crate) max_items: Option<usize>,
    pub(crate) max_copied: Option<usize>,
    pub(crate) max_array: usize,
    pub(crate) max_hash: usize,
    pub(crate) max_string: usize,
    pub(crate) refuse_objects: bool,
    pub(crate) refuse_snappy: bool,
    pub(crate) refuse_zlib: bool,
    pub(crate) refuse_zstd: bool,
    pub(crate) lenient_numbers: bool,
    pub(crate) latin1: bool,
    pub(crate) duplicate_keys: bool,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl ReadOptions {
    /// The defaults: 128 levels; what is decompressed, and what is read a second time through
    /// references, in proportion to the input; numbers may be written as decimal text.
    pub const fn new() -> Self {
        Self {
            max_depth: MAX_DEPTH,
            max_body: None,
            max_items: None,
            max_copied: None,
            max_array: usize::MAX,
            max_hash: usize::MAX,
            max_string: usize::MAX,
            refuse_objects: false,
            refuse_snappy: false,
            refuse_zlib: false,
            refuse_zstd: false,
            lenient_numbers: true,
            latin1: false,
            duplicate_keys: false,
        }
    }

    /// How deep references may nest: 128. Each level takes a few hundred bytes of stack.
    #[must_use]
    pub const fn with_max_depth(mut self, levels: u32) -> Self {
        self.max_depth = levels;
        self
    }

    /// How many bytes a compressed body may become: 1 MiB and 24 times the document's length.
    #[must_use]
    pub const fn with_max_decompressed_bytes(mut self, bytes: usize) -> Self {
        self.max_body = Some(bytes);
        self
    }

    /// How many elements may be read that the document does not hold byte by byte: those of a
    /// compressed body, and those that are read once more through references and copies. 65,536
    /// and as many as the document has bytes.
    #[must_use]
    pub const fn with_max_expanded_items(mut self, items: usize) -> Self {
        self.max_items = Some(items);
        self
    }

    /// How many bytes of long strings may be read once more through references and copies:
    /// 1 MiB and 16 times the document's length.
    #[must_use]
    pub const fn with_max_copied_bytes(mut self, bytes: usize) -> Self {
        self.max_copied = Some(bytes);
        self
    }

    /// How many elements an array may have: as many as there are bytes for.
    #[must_use]
    pub const fn with_max_array_entries(mut self, entries: usize) -> Self {
        self.max_array = entries;
        self
    }

    /// How many pairs a hash may have: as many as there are bytes for.
    #[must_use]
    pub const fn with_max_hash_entries(mut self, entries: usize) -> Self {
        self.max_hash = entries;
        self
    }

    /// How many bytes a string, a key or a name of a class may have: as many as are there.
    #[must_use]
    pub const fn with_max_string_bytes(mut self, bytes: usize) -> Self {
        self.max_string = bytes;
        self
    }

    /// Whether objects are refused: off. They are data here, and no code of theirs ever runs.
    #[must_use]
    pub const fn with_objects_refused(mut self, refused: bool) -> Self {
        self.refuse_objects = refused;
        self
    }

    /// Whether Snappy, zlib and zstd are refused, in this order: none is.
    #[must_use]
    pub const fn with_compressions_refused(
        mut self,
        snappy: bool,
        zlib: bool,
        zstd: bool,
    ) -> Self {
        self.refuse_snappy = snappy;
        self.refuse_zlib = zlib;
        self.refuse_zstd = zstd;
        self
    }

    /// Whether a number or a boolean that a type asks for may be a string of decimal digits, as
    /// Perl's scalars are by turns: on.
    #[must_use]
    pub const fn with_lenient_numbers(mut self, lenient: bool) -> Self {
        self.lenient_numbers = lenient;
        self
    }

    /// Whether an unflagged string that is no UTF-8 is Latin-1 where a type asks for text: off.
    #[must_use]
    pub const fn with_latin1(mut self, latin1: bool) -> Self {
        self.latin1 = latin1;
        self
    }

    /// Whether a hash may have one key twice: off.
    #[must_use]
    pub const fn with_duplicate_keys(mut self, allowed: bool) -> Self {
        self.duplicate_keys = allowed;
        self
    }
}
