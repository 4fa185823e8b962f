//! The adapter: [`Storable`], this crate as a wiremark `Codec`.

use serde::de::Deserialize;
use serde::ser::Serialize;

use wiremark_core::depth::MAX_DEPTH;
use wiremark_core::{
    Capabilities, Codec, CodecVisitor, Framing, Profile, Result, Role, Trailing, Upkeep,
};

use crate::{Decoder, Encoder, Order, ReadOptions, WriteOptions};

/// Shows `visitor` the measured codecs: network order and native order.
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
/// wiremark_storable::visit(&mut ids);
/// assert_eq!(
///     ids.0,
///     ["storable/wiremark-storable/network", "storable/wiremark-storable/native"]
/// );
/// ```
pub fn visit(visitor: &mut impl CodecVisitor) {
    visitor.visit(Storable::network());
    visitor.visit(Storable::native());
}

/// Storable as a wiremark codec: memory images, in which nothing that Rust tells apart is lost but
/// text from bytes.
///
/// ```
/// use wiremark_core::Codec;
/// use wiremark_storable::Storable;
///
/// let mut out = Vec::new();
/// Storable::network().encode_into(&300, &mut out)?;
/// assert_eq!(out, b"\x05\x0b\x09\0\0\x01\x2c");
/// // Each of them reads both.
/// assert_eq!(Storable::native().decode::<u16>(&out)?, 300);
/// # Ok::<(), wiremark_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Storable {
    order: Order,
    encoder: Encoder,
    decoder: Decoder,
}

impl Storable {
    /// What `nfreeze` writes: every Perl reads it.
    pub fn network() -> Self {
        Self::of(Order::Network)
    }

    /// What `freeze` writes on a 64-bit little-endian machine.
    pub fn native() -> Self {
        Self::of(Order::Native)
    }

    fn of(order: Order) -> Self {
        let write = WriteOptions::new().with_order(order).with_lossless(true);
        let read = ReadOptions::new().with_numeric_text(true);
        Self {
            order,
            encoder: Encoder::with_options(write),
            decoder: Decoder::with_options(read),
        }
    }
}

impl Codec for Storable {
    fn profile(&self) -> Profile {
        let (id, caveat) = match self.order {
            Order::Network => (
                "storable/wiremark-storable/network",
                "floats, and integers beyond 32 bits, are written as decimal text",
            ),
            Order::Native => (
                "storable/wiremark-storable/native",
                "Perl reads it only on machines of the same kind",
            ),
        };
        Profile {
            id,
            format: "Storable",
            library: "wiremark-storable",
            version: env!("CARGO_PKG_VERSION"),
            spec: "Perl's module Storable, https://metacpan.org/pod/Storable",
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
                int_128: true,
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
            caveat,
        }
    }

    #[inline]
    fn encode_into<T: Serialize + ?Sized>(
        &mut self,
        value: &T,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        Ok(self.encoder.encode(value, out)?)
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

    wiremark_conform::suite! {
        network: Storable::network(),
        native: Storable::native(),
    }
}
