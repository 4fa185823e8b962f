//! `large`: [`small`] with a sixth field, an array of the numbers 1 to 1,000.

use serde::{Deserialize, Serialize};

use super::{DOCUMENTS, SEED, describe, small};
use crate::random::Rng;
use crate::{About, Dataset};

/// The fields of [`Small`](small::Small), and a thousand whole numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Large {
    /// As in [`Small`](small::Small).
    pub a: i64,
    /// As in [`Small`](small::Small).
    pub b: i64,
    /// As in [`Small`](small::Small).
    pub c: i64,
    /// As in [`Small`](small::Small).
    pub d: String,
    /// As in [`Small`](small::Small).
    pub e: f64,
    /// 1 to 1,000: in that order in the measured value, shuffled in the others, so that all
    /// are of one size in every format that writes each number by itself.
    pub f: Vec<i64>,
}

/// [`Large`] with text that borrows from the input.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LargeRef<'a> {
    /// As in [`Large`].
    pub a: i64,
    /// As in [`Large`].
    pub b: i64,
    /// As in [`Large`].
    pub c: i64,
    /// As in [`Large`].
    pub d: &'a str,
    /// As in [`Large`].
    pub e: f64,
    /// As in [`Large`].
    pub f: Vec<i64>,
}

impl PartialEq<Large> for LargeRef<'_> {
    fn eq(&self, other: &Large) -> bool {
        (self.a, self.b, self.c, self.d) == (other.a, other.b, other.c, other.d.as_str())
            && self.e.to_bits() == other.e.to_bits()
            && self.f == other.f
    }
}

/// The dataset `large`; the documents of its stream are a hundred others like it.
///
/// ```
/// use wiremark_datasets::{Dataset, seeded::large::Larges};
///
/// let large = Larges::new();
/// assert!(large.value().f.iter().copied().eq(1..=1_000));
/// ```
#[derive(Clone, Debug)]
pub struct Larges {
    seed: u64,
    value: Large,
    items: Vec<Large>,
}

impl Larges {
    /// The set that is measured; its stream comes from [`SEED`].
    pub fn new() -> Self {
        Self::with_seed(SEED)
    }

    /// The same value with another stream.
    pub fn with_seed(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let f = (1..=1_000).collect();
        let value = Large { a: 1, b: 2, c: 3, d: "four".to_owned(), e: 5.018, f };
        Self { seed, value, items: (0..DOCUMENTS).map(|_| large(&mut rng)).collect() }
    }
}

impl Default for Larges {
    fn default() -> Self {
        Self::new()
    }
}

impl Dataset for Larges {
    type Value = Large;
    type Item = Large;
    type Borrowed<'de> = LargeRef<'de>;
    const BORROWS: bool = true;

    fn about(&self) -> About {
        about(self.seed)
    }

    fn value(&self) -> &Self::Value {
        &self.value
    }

    fn sibling(&self) -> Self::Value {
        large(&mut Rng::new(self.seed.wrapping_add(1)))
    }

    fn items(&self) -> &[Self::Item] {
        &self.items
    }

    fn is_same(borrowed: &Self::Borrowed<'_>, value: &Self::Value) -> bool {
        borrowed == value
    }
}

pub(super) fn about(seed: u64) -> About {
    let title = "{a, b, c: integers, d: text, e: 5.018, f: [1..=1000]}".to_owned();
    describe("large", title, seed, 1)
}

fn large(rng: &mut Rng) -> Large {
    let small::Small { a, b, c, d, e } = small::small(rng);
    let mut f: Vec<i64> = (1..=1_000).collect();
    rng.shuffle(&mut f);
    Large { a, b, c, d, e, f }
}
