//! What a codec makes of a flipped bit: an error, the same value, or silently another one.

use serde::Serialize;
use serde::de::DeserializeOwned;
use wiremark_core::{Codec, Result};

/// What became of a document's bits, each flipped alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Damage {
    /// Bits flipped.
    pub flips: u64,
    /// Those that were read as another value, without an error.
    pub silent: u64,
    /// Those that changed nothing: white space, say.
    pub harmless: u64,
}

/// Flips bits of a value's document, one at a time and `most` at most, spread evenly, and decodes
/// each. A document of fewer bits has all of them flipped.
///
/// ```
/// use wiremark_json::Json;
/// use wiremark_persist::damage;
///
/// // `7` is 0x37: of the bytes one bit away three are digits (6, 5, 3), five are none.
/// let found = damage::flip(&mut Json::compact(), &7_u32, 1000)?;
/// assert_eq!((found.flips, found.silent), (8, 3));
/// # Ok::<(), wiremark_core::Error>(())
/// ```
///
/// # Errors
/// The codec's own, if it cannot encode the value.
pub fn flip<C, T>(codec: &mut C, value: &T, most: u64) -> Result<Damage>
where
    C: Codec,
    T: Serialize + DeserializeOwned + PartialEq,
{
    let mut bytes = Vec::new();
    codec.encode_into(value, &mut bytes)?;
    let bits = bytes.len() as u64 * 8;
    let flips = bits.min(most);
    let mut damage = Damage { flips, ..Damage::default() };
    for nth in 0..flips {
        // Each of a byte's eight bits in its turn: they differ in what they spoil.
        let bit = ((nth * bits / flips) & !7) | (nth % 8);
        let (Ok(at), mask) = (usize::try_from(bit / 8), 1_u8 << (bit % 8)) else {
            continue;
        };
        bytes[at] ^= mask;
        match codec.decode::<T>(&bytes) {
            Ok(back) if back == *value => damage.harmless += 1,
            Ok(_) => damage.silent += 1,
            Err(_) => {}
        }
        bytes[at] ^= mask;
    }
    Ok(damage)
}
