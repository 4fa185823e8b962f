//! `small`: {a, b, c: whole numbers, d: text, e: 5.018}, one document of a few dozen bytes.
//!
//! It grew from a comparison of Perl's serializers, where a small structure shows what a call
//! costs by itself, and [`large`](super::large) what an element costs.

use serde::{Deserialize, Serialize};

use super::{DOCUMENTS, SEED, describe};
use crate::random::{Rng, WORDS};
use crate::{About, Dataset};

/// Five fields of three types.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Small {
    /// 1 in the measured value; -1,000 to 1,000,000 in the others.
    pub a: i64,
    /// 2 in the measured value; as `a`.
    pub b: i64,
    /// 3 in the measured value; as `a`.
    pub c: i64,
    /// `four` in the measured value; one to three words in the others, ASCII, no escapes.
    pub d: String,
    /// 5.018 in the measured value; 0.001 to 9.999 in the others, three decimal places.
    pub e: f64,
}

/// [`Small`] with text that borrows from the input.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SmallRef<'a> {
    /// As in [`Small`].
    pub a: i64,
    /// As in [`Small`].
    pub b: i64,
    /// As in [`Small`].
    pub c: i64,
    /// As in [`Small`].
    pub d: &'a str,
    /// As in [`Small`].
    pub e: f64,
}

impl PartialEq<Small> for SmallRef<'_> {
    fn eq(&self, other: &Small) -> bool {
        (self.a, self.b, self.c, self.d) == (other.a, other.b, other.c, other.d.as_str())
            && self.e.to_bits() == other.e.to_bits()
    }
}

/// The dataset `small`; the documents of its stream are a hundred others like it.
///
/// ```
/// use wiremark_datasets::{Dataset, seeded::small::{Small, Smalls}};
///
/// let four = Small { a: 1, b: 2, c: 3, d: "four".to_owned(), e: 5.018 };
/// assert_eq!(*Smalls::new().value(), four);
/// ```
#[derive(Clone, Debug)]
pub struct Smalls {
    seed: u64,
    value: Small,
    items: Vec<Small>,
}

impl Smalls {
    /// The set that is measured; its stream comes from [`SEED`].
    pub fn new() -> Self {
        Self::with_seed(SEED)
    }

    /// The same value with another stream.
    pub fn with_seed(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let value = Small { a: 1, b: 2, c: 3, d: "four".to_owned(), e: 5.018 };
        Self { seed, value, items: (0..DOCUMENTS).map(|_| small(&mut rng)).collect() }
    }
}

impl Default for Smalls {
    fn default() -> Self {
        Self::new()
    }
}

impl Dataset for Smalls {
    type Value = Small;
    type Item = Small;
    type Borrowed<'de> = SmallRef<'de>;
    const BORROWS: bool = true;

    fn about(&self) -> About {
        about(self.seed)
    }

    fn value(&self) -> &Self::Value {
        &self.value
    }

    fn sibling(&self) -> Self::Value {
        small(&mut Rng::new(self.seed.wrapping_add(1)))
    }

    fn items(&self) -> &[Self::Item] {
        &self.items
    }

    fn is_same(borrowed: &Self::Borrowed<'_>, value: &Self::Value) -> bool {
        borrowed == value
    }
}

pub(super) fn about(seed: u64) -> About {
    describe("small", "{a, b, c: integers, d: text, e: 5.018}".to_owned(), seed, 1)
}

pub(super) fn small(rng: &mut Rng) -> Small {
    let mut whole = || i64::from(rng.between(0_u32, 1_001_000)) - 1_000;
    // The fields are made in the order in which they are written here.
    Small {
        a: whole(),
        b: whole(),
        c: whole(),
        d: rng.words(WORDS, 1, 3),
        e: f64::from(rng.between(1_u16, 9_999)) / 1_000.0,
    }
}
