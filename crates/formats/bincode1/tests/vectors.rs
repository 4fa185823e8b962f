//! Golden bytes, which are those of bincode 2 in its `legacy` configuration.

use wiremark_bincode::Bincode;
use wiremark_bincode1::Bincode1;
use wiremark_conform::corpora::Differences;
use wiremark_conform::wire;
use wiremark_core::Codec;
use wiremark_datasets::{Dataset, DatasetVisitor, IDS};

#[test]
fn values_have_the_golden_bytes_of_bincode_2() {
    let mut differences = Differences::known(&[]);
    // Made with bincode 2: what is read and written here is what that crate wrote.
    let golden = include_str!("data/wire-vectors.tsv");
    wire::check(&Bincode1::new(), golden, &mut differences);
    wire::check(&Bincode::legacy(), golden, &mut differences);
    differences.assert_as_known();
}

/// Each dataset's bytes by both crates, read by the other.
struct Both(Vec<String>);

impl DatasetVisitor for Both {
    fn visit<D: Dataset>(&mut self, dataset: &D) {
        let (mut one, mut two) = (Vec::new(), Vec::new());
        let is_written = Bincode1::new().encode_into(dataset.value(), &mut one).is_ok()
            && Bincode::legacy().encode_into(dataset.value(), &mut two).is_ok();
        let by_one = Bincode1::new().decode::<D::Value>(&two);
        let by_two = Bincode::legacy().decode::<D::Value>(&one);
        let is_same = |back: wiremark_core::Result<D::Value>| {
            back.is_ok_and(|back| back == *dataset.value())
        };
        if !is_written || one != two || !is_same(by_one) || !is_same(by_two) {
            self.0.push(dataset.about().id.clone());
        }
    }
}

#[test]
fn datasets_have_the_bytes_of_bincode_2_and_go_both_ways() {
    let mut both = Both(Vec::new());
    for id in IDS {
        assert!(wiremark_datasets::visit(id, false, &mut both), "{id}");
    }
    assert!(both.0.is_empty(), "{:?}", both.0);
}
