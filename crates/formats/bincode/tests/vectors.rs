//! Golden bytes of both variants.

use wiremark_bincode::Bincode;
use wiremark_conform::corpora::Differences;
use wiremark_conform::wire;

#[test]
fn values_have_the_golden_bytes() {
    for (codec, golden) in [
        (Bincode::standard(), include_str!("data/wire-vectors-standard.tsv")),
        (Bincode::legacy(), include_str!("data/wire-vectors-legacy.tsv")),
    ] {
        let mut differences = Differences::known(&[]);
        wire::check(&codec, golden, &mut differences);
        differences.assert_as_known();
    }
}
