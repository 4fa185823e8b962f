//! The adapter: [`Sereal`], this crate as a wiremark `Codec`.

use serde::de::Deserialize;
use serde::ser::Serialize;

use wiremark_core::depth::MAX_DEPTH;
use wiremark_core::{
    Capabilities, Codec, CodecVisitor, Framing, Profile, Result, Role, Trailing, Upkeep,
};

use crate::{Decoder, Encoder, ReadOptions, WriteOptions};

/// Shows `visitor` the measured variants.
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
/// wiremark_sereal::visit(&mut ids);
/// assert_eq!(ids.0, ["sereal/wiremark-sereal/shared", "sereal/wiremark-sereal/unshared"]);
/// ```
pub fn visit(visitor: &mut impl CodecVisitor) {
    visitor.visit(Sereal::shared());
    visitor.visit(Sereal::unshared());
}

/// Sereal as a wiremark codec.
///
/// *Reused* it is what an encoder object is in Perl, *fresh* what the function is.
///
/// ```
/// use wiremark_core::Codec;
/// use wiremark_sereal::Sereal;
///
/// let mut sereal = Sereal::shared();
/// let mut out = Vec::new();
/// sereal.encode_into(&("a", 1), &mut out)?;
/// assert_eq!(out, b"=\xf3rl\x05\x00\x42aa\x01");
/// assert_eq!(sereal.decode::<(String, u8)>(&out)?, ("a".to_owned(), 1));
/// # Ok::<(), wiremark_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Sereal {
    id: &'static str,
    encoder: Encoder,
    decoder: Decoder,
}

impl Sereal {
    /// A key that comes again is written as a copy: Perl's default.
    pub fn shared() -> Self {
        Self {
            id: "sereal/wiremark-sereal/shared",
            encoder: Encoder::new(),
            decoder: Decoder::new(),
        }
    }

    /// Each key is written: Perl's `no_shared_hashkeys`.
    pub fn unshared() -> Self {
        Self {
            id: "sereal/wiremark-sereal/unshared",
            encoder: Encoder::with_options(WriteOptions::new().with_shared_keys(false)),
            decoder: Decoder::new(),
        }
    }

    /// The same with other options for reading.
    #[must_use]
    pub fn with_read_options(mut self, options: ReadOptions) -> Self {
        self.decoder = Decoder::with_options(options);
        self
    }
}

impl Codec for Sereal {
    fn profile(&self) -> Profile {
        Profile {
            id: self.id,
            format: "Sereal",
            library: "wiremark-sereal",
            version: env!("CARGO_PKG_VERSION"),
            spec: "Sereal protocol specification, \
                   https://github.com/Sereal/Sereal/blob/master/sereal_spec.pod",
            license: "MIT OR Apache-2.0",
            upkeep: Upkeep::Maintained,
            role: Role::Codec,
            framing: Framing::BackToBack,
            trailing: Trailing::RefusedByLibrary,
            can: Capabilities {
                self_describing: true,
                human_readable: false,
                field_names: true,
                borrow_str: true,
                borrow_bytes: true,
                bytes: false,
                int_128: false,
                non_finite_floats: true,
                nested_option: false,
                unit_is_some: false,
                integer_keys: true,
                compound_keys: false,
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
            caveat: "ASCII text and bytes are one thing, as in Perl; hashes that have one key \
                     twice are written but not read",
        }
    }

    #[inline]
    fn encode_into<T: Serialize + ?Sized>(
        &mut self,
        value: &T,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        Ok(self.encoder.encode_into(value, out)?)
    }

    #[inline]
    fn decode<'de, T: Deserialize<'de>>(&mut self, bytes: &'de [u8]) -> Result<T> {
        Ok(self.decoder.decode(bytes)?)
    }

    #[inline]
    fn decode_prefix<'de, T: Deserialize<'de>>(
        &mut self,
        bytes: &'de [u8],
    ) -> Result<(T, usize)> {
        Ok(self.decoder.decode_prefix(bytes)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    wiremark_conform::suite! { shared: Sereal::shared(), unshared: Sereal::unshared() }
}
