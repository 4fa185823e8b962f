//! Bodies that are compressed: packed and unpacked under limits.
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::arithmetic_side_effects
)]

use std::ops::Range;

use crate::header::{DocumentType, Header};
use crate::read::varint;
use crate::{Compression, Error, ReadOptions, Result, Version};

/// What the body of a compressed document may become unless the options say otherwise.
const DEFAULT_BODY_BYTES: usize = 1 << 20;
const DEFAULT_BODY_PER_BYTE: usize = 24;

/// Where the compressed bytes lie, and what they claim to become, if they say it outside.
fn blob(bytes: &[u8], header: &Header) -> Result<(Range<usize>, Option<u64>)> {
    if header.kind == DocumentType::Snappy {
        return Ok((header.len..bytes.len(), None));
    }
    let (claimed, at) = if header.kind == DocumentType::Zlib {
        let (claimed, at) = varint(bytes, header.len)?;
        (Some(claimed), at)
    } else {
        (None, header.len)
    };
    let (len, start) = varint(bytes, at)?;
    let end = usize::try_from(len)
        .ok()
        .and_then(|len| start.checked_add(len))
        .filter(|&end| end <= bytes.len())
        .ok_or_else(|| {
            Error::eof(format!("expected {len} compressed bytes")).at(start as u64)
        })?;
    if start == end {
        return Err(Error::syntax("expected compressed bytes, found none").at(at as u64));
    }
    Ok((start..end, claimed))
}

/// Unpacks the body; also tells where the document ends.
pub(crate) fn unpack(
    bytes: &[u8],
    header: &Header,
    options: &ReadOptions,
) -> Result<(Vec<u8>, usize)> {
    let (range, claimed) = blob(bytes, header)?;
    let end = range.end;
    let at = range.start as u64;
    let blob = bytes.get(range).unwrap_or_default();
    let limit = options.max_body.unwrap_or_else(|| {
        bytes
            .len()
            .saturating_mul(DEFAULT_BODY_PER_BYTE)
            .saturating_add(DEFAULT_BODY_BYTES)
    });
    let body = match header.kind {
        DocumentType::Raw => Ok(blob.to_vec()),
        DocumentType::Snappy | DocumentType::SnappyIncremental
            if options.refuse_snappy =>
        {
            Err(Error::unsupported("Snappy is refused by the options"))
        }
        DocumentType::Zlib if options.refuse_zlib => {
            Err(Error::unsupported("zlib is refused by the options"))
        }
        DocumentType::Zstd if options.refuse_zstd => {
            Err(Error::unsupported("zstd is refused by the options"))
        }
        DocumentType::Snappy | DocumentType::SnappyIncremental => unsnap(blob, limit),
        DocumentType::Zlib => inflate(blob, claimed.unwrap_or(0), limit),
        DocumentType::Zstd => unzstd(blob, limit),
    };
    Ok((body.map_err(|error| error.at(at))?, end))
}

/// The announced size, if it is within the limit and can be had from the bytes at all.
#[cfg(any(feature = "snappy", feature = "zlib", feature = "zstd"))]
fn admit(claimed: u64, blob: &[u8], limit: usize, best_ratio: usize) -> Result<usize> {
    let size = usize::try_from(claimed).ok().filter(|&size| size <= limit);
    let Some(size) = size else {
        return Err(Error::limit(format!(
            "expected at most {limit} bytes when decompressed, found {claimed}"
        )));
    };
    if size > blob.len().saturating_mul(best_ratio).saturating_add(64) {
        return Err(Error::syntax(format!(
            "expected a size that {} compressed bytes can have, found {size}",
            blob.len()
        )));
    }
    Ok(size)
}

/// What is said when a feature is off.
#[cfg(not(all(feature = "snappy", feature = "zlib", feature = "zstd")))]
fn missing<T>(feature: &str) -> Result<T> {
    Err(Error::unsupported(format!("the feature `{feature}` of this crate is off")))
}

#[cfg(any(feature = "snappy", feature = "zlib", feature = "zstd"))]
fn broken(error: impl std::fmt::Display) -> Error {
    Error::syntax(format!("expected compressed bytes: {error}"))
}

#[cfg(feature = "snappy")]
fn unsnap(blob: &[u8], limit: usize) -> Result<Vec<u8>> {
    // The library refuses lengths above 2^32 by itself.
    let claimed = snap::raw::decompress_len(blob).map_err(broken)?;
    // A copy of three bytes makes at most 64.
    let size = admit(claimed as u64, blob, limit, 32)?;
    let mut body = vec![0; size];
    let made = snap::raw::Decoder::new().decompress(blob, &mut body).map_err(broken)?;
    if made != size {
        return Err(Error::syntax(format!("expected {size} bytes, found {made}")));
    }
    Ok(body)
}

#[cfg(not(feature = "snappy"))]
fn unsnap(_: &[u8], _: usize) -> Result<Vec<u8>> {
    missing("snappy")
}

#[cfg(feature = "zlib")]
fn inflate(blob: &[u8], claimed: u64, limit: usize) -> Result<Vec<u8>> {
    // Deflate makes at most 258 bytes of two bits.
    let size = admit(claimed, blob, limit, 1032)?;
    // A byte more, so that a longer stream shows.
    let mut body = vec![0; size.saturating_add(1)];
    let mut inflater = flate2::Decompress::new(true);
    let status = inflater
        .decompress(blob, &mut body, flate2::FlushDecompress::Finish)
        .map_err(broken)?;
    let made = inflater.total_out();
    if made > size as u64 {
        return Err(Error::syntax(format!("expected {size} bytes, found more")));
    }
    if status != flate2::Status::StreamEnd {
        return Err(Error::eof("expected the end of the compressed bytes"));
    }
    if made != size as u64 {
        return Err(Error::syntax(format!("expected {size} bytes, found {made}")));
    }
    body.truncate(size);
    Ok(body)
}

#[cfg(not(feature = "zlib"))]
fn inflate(_: &[u8], _: u64, _: usize) -> Result<Vec<u8>> {
    missing("zlib")
}

#[cfg(feature = "zstd")]
fn unzstd(blob: &[u8], limit: usize) -> Result<Vec<u8>> {
    let claimed = match zstd::zstd_safe::get_frame_content_size(blob) {
        Ok(Some(size)) => size,
        Ok(None) => {
            return Err(Error::syntax("expected a zstd frame with its content's size"));
        }
        Err(_) => return Err(Error::syntax("expected a zstd frame")),
    };
    // A block of four bytes makes at most 128 KiB.
    let size = admit(claimed, blob, limit, 1 << 16)?;
    let frame = zstd::zstd_safe::find_frame_compressed_size(blob)
        .map_err(|_| Error::syntax("expected a whole zstd frame"))?;
    if frame != blob.len() {
        return Err(Error::syntax("expected one zstd frame, found more bytes"));
    }
    let mut body = vec![0; size];
    let made = zstd::bulk::decompress_to_buffer(blob, &mut body).map_err(broken)?;
    if made != size || size == 0 {
        return Err(Error::syntax(format!("expected {size} bytes, found {made}")));
    }
    Ok(body)
}

#[cfg(not(feature = "zstd"))]
fn unzstd(_: &[u8], _: usize) -> Result<Vec<u8>> {
    missing("zstd")
}

/// A body in its compressed form with the lengths before it, or none if it would not be smaller.
pub(crate) fn pack(
    body: &[u8],
    compression: Compression,
    version: Version,
) -> Result<Option<(DocumentType, Vec<u8>)>> {
    let (kind, blob) = match compression {
        Compression::None => return Ok(None),
        Compression::Snappy if version == Version::V1 => {
            (DocumentType::Snappy, snap(body)?)
        }
        Compression::Snappy | Compression::SnappyIncremental => {
            (DocumentType::SnappyIncremental, snap(body)?)
        }
        Compression::Zlib(level) => (DocumentType::Zlib, deflate(body, level)?),
        Compression::Zstd(level) => (DocumentType::Zstd, zstd_frame(body, level)?),
    };
    let mut packed = Vec::new();
    if kind == DocumentType::Zlib {
        crate::write::put_varint(&mut packed, body.len() as u64);
    }
    if kind != DocumentType::Snappy {
        crate::write::put_varint(&mut packed, blob.len() as u64);
    }
    packed.extend_from_slice(&blob);
    Ok((packed.len() < body.len()).then_some((kind, packed)))
}

#[cfg(feature = "snappy")]
fn snap(body: &[u8]) -> Result<Vec<u8>> {
    snap::raw::Encoder::new()
        .compress_vec(body)
        .map_err(|error| Error::limit(format!("not compressed: {error}")))
}

#[cfg(not(feature = "snappy"))]
fn snap(_: &[u8]) -> Result<Vec<u8>> {
    missing("snappy")
}

#[cfg(feature = "zlib")]
fn deflate(body: &[u8], level: u8) -> Result<Vec<u8>> {
    use std::io::Write;
    let level = flate2::Compression::new(u32::from(level));
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), level);
    encoder.write_all(body)?;
    Ok(encoder.finish()?)
}

#[cfg(not(feature = "zlib"))]
fn deflate(_: &[u8], _: u8) -> Result<Vec<u8>> {
    missing("zlib")
}

#[cfg(feature = "zstd")]
fn zstd_frame(body: &[u8], level: u8) -> Result<Vec<u8>> {
    Ok(zstd::bulk::compress(body, i32::from(level))?)
}

#[cfg(not(feature = "zstd"))]
fn zstd_frame(_: &[u8], _: u8) -> Result<Vec<u8>> {
    missing("zstd")
}
