//! Golden bytes.

use wiremark_conform::corpora::Differences;
use wiremark_conform::wire;
use wiremark_postcard::Postcard;

#[test]
fn values_have_the_golden_bytes() {
    let mut differences = Differences::known(&[]);
    wire::check(
        &Postcard::new(),
        include_str!("data/wire-vectors.tsv"),
        &mut differences,
    );
    differences.assert_as_known();
}
