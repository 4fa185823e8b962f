//! Golden bytes, made by the crate without the adapter.

use wiremark_bitcode::Bitcode;
use wiremark_conform::corpora::Differences;
use wiremark_conform::wire;

#[test]
fn values_have_the_golden_bytes() {
    let mut differences = Differences::known(&[]);
    let golden = include_str!("data/wire-vectors.tsv");
    wire::check(&Bitcode::new(), golden, &mut differences);
    differences.assert_as_known();
}
