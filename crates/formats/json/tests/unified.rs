//! What other crates in a build switch on in `serde_json` changes nothing here.
//!
//! Cargo builds a library once with all features that anybody asks for: a rival that asks for
//! `arbitrary_precision` or another float parser would change this codec's bytes and floats without a
//! word. `cargo xtask test` runs this test with all rivals in the build and again without them.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

use wiremark_core::Codec;
use wiremark_datasets::{Dataset, DatasetVisitor, IDS, visit};
use wiremark_json::Json;

/// FNV-1a, 64 bits.
struct Hash(u64);

impl Hash {
    fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}

struct Documents(Hash);

impl DatasetVisitor for Documents {
    fn visit<D: Dataset>(&mut self, dataset: &D) {
        for mut json in [Json::compact(), Json::pretty()] {
            let mut out = Vec::new();
            json.encode_into(dataset.value(), &mut out).unwrap();
            self.0.add(&out);
        }
    }
}

#[test]
fn bytes_and_floats_are_the_same_whoever_else_is_in_the_build() {
    let mut documents = Documents(Hash(0xcbf2_9ce4_8422_2325));
    for id in IDS {
        assert!(visit(id, true, &mut documents), "{id}");
    }
    let mut floats = Hash(0xcbf2_9ce4_8422_2325);
    let mut bits = 1_u64;
    for _ in 0..20_000 {
        bits =
            bits.wrapping_mul(0xbf58_476d_1ce4_e5b9).wrapping_add(0x9e37_79b9_7f4a_7c15);
        // Nineteen digits and more: where parsers that are not exact begin to differ.
        let text =
            format!("{}.{}e{}", bits >> 20, bits, i64::from((bits % 600) as u16) - 300);
        if let Ok(float) = Json::compact().decode::<f64>(text.as_bytes()) {
            floats.add(&float.to_bits().to_le_bytes());
            // The standard library reads exactly.
            assert_eq!(
                Ok(float.to_bits()),
                text.parse::<f64>().map(f64::to_bits),
                "{text}"
            );
        }
    }
    // As a build with serde_json alone has them.
    assert_eq!(documents.0.0, 0x8576_3053_793a_d1c5);
    assert_eq!(floats.0, 0xb870_2798_c884_8c8d);
}
