//! Seeded random numbers that are the same on every machine.

/// `SplitMix64`, as published by Steele, Lea and Flood (OOPSLA 2014): the state grows by the
/// golden ratio's odd 64-bit fraction, and a mixer of two multiplications makes each output.
///
/// Chosen since it is three lines of integer arithmetic, so that a value is the same function
/// of its seed on every machine and in every other language that a peer is written in.
#[derive(Clone, Debug)]
pub(crate) struct Rng {
    state: u64,
}

impl Rng {
    /// A generator whose numbers are a function of `seed`.
    pub(crate) const fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// Any 64-bit number.
    pub(crate) const fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number in `0..bound`, or 0 where `bound` is 0: the upper half of a 128-bit product,
    /// whose bias of `bound / 2^64` is nothing here.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        let product = u128::from(self.next()) * u128::from(bound);
        u64::try_from(product >> 64).unwrap_or(0)
    }

    /// A number in `low..=high` of any unsigned type up to 64 bits.
    pub(crate) fn between<T: Copy + Into<u64> + TryFrom<u64>>(
        &mut self,
        low: T,
        high: T,
    ) -> T {
        let (from, to) = (low.into(), high.into());
        T::try_from(from + self.below(to - from + 1)).unwrap_or(low)
    }

    /// A number of `low` to `high` bits, each as likely: small ones are as common as large.
    pub(crate) fn sized(&mut self, low: u8, high: u8) -> u64 {
        let bits = self.between(low, high);
        self.below(1 << bits)
    }

    /// A place in a slice of `len` elements.
    pub(crate) fn index(&mut self, len: usize) -> usize {
        usize::try_from(self.below(len as u64)).unwrap_or(0)
    }

    /// An element of a slice that is not empty.
    pub(crate) fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.index(from.len())]
    }

    /// True once in `one_in` times.
    pub(crate) fn chance(&mut self, one_in: u64) -> bool {
        self.below(one_in) == 0
    }

    /// Puts the elements into another order (Fisher–Yates).
    pub(crate) fn shuffle<T>(&mut self, slice: &mut [T]) {
        for last in (1..slice.len()).rev() {
            slice.swap(last, self.index(last + 1));
        }
    }

    /// `low` to `high` words with a space between each two.
    pub(crate) fn words(&mut self, from: &[&str], low: u32, high: u32) -> String {
        let mut text = String::new();
        for number in 0..self.between(low, high) {
            if number > 0 {
                text.push(' ');
            }
            text.push_str(self.pick(from));
        }
        text
    }
}

/// Short English words: ASCII, and none needs an escape in JSON.
pub(crate) const WORDS: &[&str] = &[
    "the",
    "order",
    "before",
    "noon",
    "call",
    "back",
    "about",
    "invoice",
    "review",
    "draft",
    "with",
    "team",
    "buy",
    "milk",
    "bread",
    "and",
    "coffee",
    "clean",
    "up",
    "old",
    "branch",
    "write",
    "test",
    "for",
    "parser",
    "send",
    "report",
    "to",
    "office",
    "book",
    "train",
    "ticket",
    "renew",
    "contract",
    "fix",
    "leaking",
    "tap",
    "check",
    "battery",
    "of",
    "smoke",
    "alarm",
    "water",
    "plants",
    "in",
    "kitchen",
    "read",
    "chapter",
    "seven",
    "plan",
    "next",
    "week",
    "move",
    "meeting",
    "Thursday",
    "update",
    "lock",
    "file",
    "measure",
    "again",
    "after",
    "release",
    "thank",
    "neighbour",
    "repair",
    "bicycle",
    "learn",
    "new",
    "song",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_gives_the_published_numbers() {
        // The first outputs for seed 1234567, as the reference implementation in C gives them.
        let mut rng = Rng::new(1_234_567);
        let expected = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
            16_408_922_859_458_223_821,
        ];
        assert_eq!(expected.map(|_| rng.next()), expected);
    }

    #[test]
    fn numbers_stay_within_their_bounds() {
        let mut rng = Rng::new(7);
        let mut seen = [false; 6];
        for _ in 0..1_000 {
            seen[rng.index(6)] = true;
            assert!((3..=5).contains(&rng.between(3_u8, 5)));
        }
        assert_eq!(seen, [true; 6], "each number of a small range comes up");
        assert_eq!(rng.below(0), 0);
        assert_eq!(rng.between(0_u64, 0), 0);
    }

    #[test]
    fn a_shuffle_keeps_every_element() {
        let mut numbers: Vec<u32> = (0..100).collect();
        Rng::new(1).shuffle(&mut numbers);
        assert_ne!(numbers, (0..100).collect::<Vec<_>>());
        numbers.sort_unstable();
        assert_eq!(numbers, (0..100).collect::<Vec<_>>());
    }
}
