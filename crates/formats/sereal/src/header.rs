//! What stands before the body: magic, version, kind of document, user data.
//!
//! ```text
//! 3d f3 72 6c | type << 4 | version | varint length of the suffix | suffix | body
//! ```
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::arithmetic_side_effects
)]

use std::ops::Range;

use crate::read::varint;
use crate::{Error, Result, Version};

/// Versions 1 and 2.
const OLD_MAGIC: [u8; 4] = *b"=srl";
/// Version 3 and up: an accidental UTF-8 encode makes five bytes of it.
const MAGIC: [u8; 4] = *b"=\xf3rl";
const ENCODED_MAGIC: [u8; 5] = *b"=\xc3\xb3rl";

/// How a body is kept, the upper half of the byte behind the magic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DocumentType {
    /// As it is.
    Raw = 0,
    /// Snappy to the end of the input, of version 1.
    Snappy = 1,
    /// Snappy with a length.
    SnappyIncremental = 2,
    /// zlib.
    Zlib = 3,
    /// zstd.
    Zstd = 4,
}

/// What stands before a document's body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) version: Version,
    pub(crate) kind: DocumentType,
    /// Where the header's own body lies, if it has one.
    pub(crate) user_data: Option<Range<usize>>,
    /// Where the body, or its compressed form, begins.
    pub(crate) len: usize,
}

impl Header {
    /// The header at the start of `bytes`, if it is what nearly all documents begin with: one that
    /// is not made, and not moved to where it is needed.
    #[inline]
    pub(crate) fn usual(bytes: &[u8]) -> Option<&'static Self> {
        const USUAL: &Header = &Header {
            version: Version::V5,
            kind: DocumentType::Raw,
            user_data: None,
            len: 6,
        };
        (bytes.first_chunk() == Some(b"=\xf3rl\x05\x00")).then_some(USUAL)
    }

    /// Reads the header at the start of `bytes`.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self> {
        let Some((magic, rest)) = bytes.split_first_chunk::<4>() else {
            let begun = |magic: &[u8]| magic.starts_with(bytes);
            return Err(if begun(&OLD_MAGIC) || begun(&MAGIC) || begun(&ENCODED_MAGIC) {
                Error::eof("expected a header").at(bytes.len() as u64)
            } else {
                wrong_magic()
            });
        };
        let is_old = match *magic {
            OLD_MAGIC => true,
            MAGIC => false,
            _ if bytes.starts_with(&ENCODED_MAGIC)
                || ENCODED_MAGIC.starts_with(bytes) =>
            {
                return Err(Error::syntax(
                    "expected a document, found one that was encoded as UTF-8",
                )
                .at(0));
            }
            _ => return Err(wrong_magic()),
        };
        let Some(&byte) = rest.first() else {
            return Err(Error::eof("expected a version").at(4));
        };
        let version = Version::from_number(byte & 0x0f)
            .filter(|&version| is_old == (version < Version::V3))
            .ok_or_else(|| {
                let number = byte & 0x0f;
                let magic = if is_old { "old" } else { "new" };
                Error::unsupported(format!(
                    "expected a version that goes with the {magic} magic, found {number}"
                ))
                .at(4)
            })?;
        let kind = match byte >> 4 {
            0 => DocumentType::Raw,
            1 => DocumentType::Snappy,
            2 => DocumentType::SnappyIncremental,
            3 => DocumentType::Zlib,
            4 => DocumentType::Zstd,
            other => {
                return Err(Error::unsupported(format!(
                    "expected a document type from 0 to 4, found {other}"
                ))
                .at(4));
            }
        };
        let (len, start) = varint(bytes, 5)?;
        let end = usize::try_from(len)
            .ok()
            .and_then(|len| start.checked_add(len))
            .filter(|&end| end <= bytes.len())
            .ok_or_else(|| Error::eof("expected a longer header").at(start as u64))?;
        let has_user_data = version >= Version::V2
            && start < end
            && bytes.get(start).is_some_and(|flags| flags & 1 == 1);
        let user_data = has_user_data.then_some(start.saturating_add(1)..end);
        Ok(Self { version, kind, user_data, len: end })
    }
}

#[cold]
fn wrong_magic() -> Error {
    Error::syntax("expected a Sereal document, found other bytes").at(0)
}

/// The magic, the byte behind it, and the length of no user data.
#[inline]
pub(crate) fn start(version: Version, kind: DocumentType) -> [u8; 6] {
    let [a, b, c, d] = if version < Version::V3 { OLD_MAGIC } else { MAGIC };
    [a, b, c, d, ((kind as u8) << 4) | version.number(), 0]
}
