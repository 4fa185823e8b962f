//! Statistics over rounds: quantiles, ratios with intervals, the noise floor, verdicts.
//!
//! Nothing here returns NaN or an infinity: what cannot be computed is `None`. The README of
//! this crate says in prose what each rule is and why.

use std::f64::consts::FRAC_2_PI;
use std::fmt;

/// Fewer rounds than this give a range instead of an interval, and are called a first look.
pub const INTERVAL_ROUNDS: u32 = 5;

/// The confidence of an interval.
pub const CONFIDENCE: f64 = 0.95;

/// An interval that reaches further than this from its ratio is wide: 0.10 is ±10 %.
pub const WIDE: f64 = 0.10;

/// In a first look no difference smaller than this is called: 0.05 is 5 %.
pub const FIRST_LOOK_BAND: f64 = 0.05;

/// The quantile of `values` at `percent`, 0 to 100, by linear interpolation between the two
/// nearest values: position `(n − 1) · percent / 100` counted from 0, Hyndman and Fan's type 7,
/// which R and `numpy` use by default.
///
/// `values` need no order. `None` if there are none, or if one of them or `percent` is not
/// finite.
///
/// ```
/// use wiremark_record::stats::percentile;
///
/// assert_eq!(percentile(&[4.0, 1.0, 3.0, 2.0], 25.0), Some(1.75));
/// assert_eq!(percentile(&[], 25.0), None);
/// ```
pub fn percentile(values: &[f64], percent: f64) -> Option<f64> {
    if !percent.is_finite() || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let last = sorted.len().checked_sub(1)?;
    let position = last as f64 * (percent / 100.0).clamp(0.0, 1.0);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 0 and the last index by the clamp"
    )]
    let below = (position.floor() as usize).min(last);
    let (low, high) = (sorted[below], sorted[last.min(below + 1)]);
    let part = position - below as f64;
    // Weighted so that two huge values of opposite sign do not overflow; the clamp takes back
    // what rounding may add.
    Some((low * (1.0 - part) + high * part).clamp(low, high))
}

/// The 25th [`percentile`]: the figure that a round gives. Interruptions and cache misses
/// only ever add time, so the lower quartile moves less from run to run than the median, and
/// hangs on no single sample as the minimum does.
///
/// ```
/// use wiremark_record::stats::lower_quartile;
///
/// assert_eq!(lower_quartile(&[10.0, 11.0, 12.0, 13.0, 900.0]), Some(11.0));
/// ```
pub fn lower_quartile(values: &[f64]) -> Option<f64> {
    percentile(values, 25.0)
}

/// The 50th [`percentile`].
///
/// ```
/// use wiremark_record::stats::median;
///
/// assert_eq!(median(&[3.0, 1.0, 2.0, 10.0]), Some(2.5));
/// ```
pub fn median(values: &[f64]) -> Option<f64> {
    percentile(values, 50.0)
}

/// The probability that a Student t variable lies between `-t` and `t`.
///
/// For whole degrees of freedom the distribution is a finite sum of powers of a cosine
/// (Abramowitz and Stegun, 26.7.3 and 26.7.4), so neither gamma nor beta functions are needed.
fn student_t_within(t: f64, degrees: u32) -> f64 {
    let theta = (t / f64::from(degrees).sqrt()).atan();
    let (sine, cosine) = theta.sin_cos();
    let squared = cosine * cosine;
    // Odd: cos + 2/3 cos³ + (2·4)/(3·5) cos⁵ + …; even: 1 + 1/2 cos² + (1·3)/(2·4) cos⁴ + …
    let odd = degrees % 2 == 1;
    let mut term = if odd { cosine } else { 1.0 };
    let mut sum = 0.0;
    let mut power = u32::from(odd);
    while power + 2 <= degrees {
        sum += term;
        power += 2;
        term *= squared * f64::from(power - 1) / f64::from(power);
    }
    if odd { FRAC_2_PI * (theta + sine * sum) } else { sine * sum }
}

/// The two-sided 95 % point of Student's t distribution: how many standard errors an interval
/// reaches from its mean. `None` for zero degrees of freedom.
///
/// ```
/// use wiremark_record::stats::student_t;
///
/// let t = student_t(9).expect("nine degrees of freedom");
/// assert!((t - 2.262).abs() < 0.0005, "as in every table");
/// ```
pub fn student_t(degrees: u32) -> Option<f64> {
    /// Beyond this many degrees of freedom the point changes by less than 0.0003 from one
    /// thousand to the next and nobody runs that many rounds; the sum stays short.
    const MOST: u32 = 10_000;
    if degrees == 0 {
        return None;
    }
    let degrees = degrees.min(MOST);
    // The point falls from 12.71 at one degree of freedom to 1.96.
    let (mut low, mut high) = (1.9, 13.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if student_t_within(middle, degrees) < CONFIDENCE {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(f64::midpoint(low, high))
}

/// What the two bounds of a [`Ratio`] are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bounds {
    /// The 95 % confidence interval of the ratio.
    Interval,
    /// The lowest and the highest round: too few rounds for an interval.
    Range,
}

/// How much longer one thing takes than another, over rounds in which both were measured.
///
/// The ratio is the geometric mean of the rounds' ratios, so that the ratio of A to B is one
/// over that of B to A. Numbers are finite and positive, and `low ≤ ratio ≤ high`.
///
/// ```
/// use wiremark_record::stats::{Bounds, Ratio};
///
/// let ratio = Ratio::of_pairs([(2.0, 1.0), (8.0, 2.0)]).expect("two rounds");
/// assert!((ratio.ratio - 8.0_f64.sqrt()).abs() < 1e-12);
/// assert_eq!((ratio.rounds, ratio.bounds), (2, Bounds::Range));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// Time of the first to time of the second: above 1 the first is slower.
    pub ratio: f64,
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
    /// Rounds in which both were measured, at least one.
    pub rounds: u32,
    /// What the bounds are.
    pub bounds: Bounds,
}

impl Ratio {
    /// The ratio over `pairs`, one pair for each round: the first one's time and the second's.
    ///
    /// From [`INTERVAL_ROUNDS`] on the bounds are mean ± t·s/√R of the ratios' logarithms,
    /// below that the extremes. Pairs in which a time is not positive and finite are left out;
    /// `None` if none is left.
    pub fn of_pairs(pairs: impl IntoIterator<Item = (f64, f64)>) -> Option<Self> {
        let usable = |time: f64| time.is_finite() && time > 0.0;
        // A difference of logarithms is its own negative when the two change places, and
        // cannot overflow; the logarithm of a quotient is and does neither.
        let logs: Vec<f64> = pairs
            .into_iter()
            .filter(|&(first, second)| usable(first) && usable(second))
            .map(|(first, second)| first.ln() - second.ln())
            .collect();
        let rounds = u32::try_from(logs.len()).ok().filter(|&rounds| rounds > 0)?;
        let count = f64::from(rounds);
        let mean = logs.iter().sum::<f64>() / count;
        let (low, high, bounds) = if rounds < INTERVAL_ROUNDS {
            let low = logs.iter().copied().fold(mean, f64::min);
            let high = logs.iter().copied().fold(mean, f64::max);
            (low, high, Bounds::Range)
        } else {
            let squares: f64 = logs.iter().map(|log| (log - mean).powi(2)).sum();
            let deviation = (squares / (count - 1.0)).sqrt();
            let reach = student_t(rounds - 1)? * deviation / count.sqrt();
            (mean - reach, mean + reach, Bounds::Interval)
        };
        Some(Self { ratio: exp(mean), low: exp(low), high: exp(high), rounds, bounds })
    }

    /// The ratio of the second to the first.
    #[must_use]
    pub fn inverse(self) -> Self {
        let Self { ratio, low, high, rounds, bounds } = self;
        Self {
            ratio: ratio.recip(),
            low: high.recip(),
            high: low.recip(),
            rounds,
            bounds,
        }
    }

    /// Whether the bounds hold 1, no difference.
    pub fn holds_one(&self) -> bool {
        self.low <= 1.0 && 1.0 <= self.high
    }

    /// Whether the bounds reach further than ±10 % ([`WIDE`]) from the ratio.
    pub fn is_wide(&self) -> bool {
        let most = 1.0 + WIDE;
        self.high > self.ratio * most || self.low * most < self.ratio
    }

    /// Whether there were too few rounds for an interval.
    pub fn is_first_look(&self) -> bool {
        self.rounds < INTERVAL_ROUNDS
    }

    /// What the ratio says of the first against the second, on a machine with this noise
    /// floor (0.03 is 3 %, `None` where it is not known).
    ///
    /// The *tie band* is twice the floor, the same factor up and down: `1 + 2·floor` and one
    /// over it. In this order:
    ///
    /// 1. [`Faster`](Verdict::Faster) or [`Slower`](Verdict::Slower) if the bounds do not hold
    ///    1 and the ratio is beyond the tie band; if the bounds are wide, the whole of them
    ///    must be beyond it; in a first look, the ratio must also be beyond 5 %
    ///    ([`FIRST_LOOK_BAND`]).
    /// 2. [`Unsure`](Verdict::Unsure) if the bounds are wide: what was not seen for the noise
    ///    is no tie.
    /// 3. [`Tie`](Verdict::Tie) if the bounds hold 1 or the ratio is in the tie band, but not
    ///    in a first look without a known floor: one round says nothing about its own noise.
    /// 4. Else `Unsure`: a small difference in a first look.
    ///
    /// Wide bounds far from 1 do not make a verdict unsure: between 2.5 and 3.6 times the time
    /// is slower, and the bounds stand beside it.
    pub fn verdict(&self, floor: Option<f64>) -> Verdict {
        let floor = floor.filter(|floor| floor.is_finite() && *floor >= 0.0);
        let band = 1.0 + 2.0 * floor.unwrap_or(0.0);
        let first_look = self.is_first_look();
        let is_beyond = |ratio: f64, band: f64| ratio > band || ratio * band < 1.0;
        let all_beyond = self.low > band || self.high * band < 1.0;

        let called = !self.holds_one()
            && is_beyond(self.ratio, band)
            && (!self.is_wide() || all_beyond)
            && (!first_look || is_beyond(self.ratio, 1.0 + FIRST_LOOK_BAND));
        if called {
            return if self.ratio < 1.0 { Verdict::Faster } else { Verdict::Slower };
        }
        let close = self.holds_one() || !is_beyond(self.ratio, band);
        let tie = close && !self.is_wide() && (floor.is_some() || !first_look);
        if tie { Verdict::Tie } else { Verdict::Unsure }
    }
}

/// `e` to the power of `log`, kept in the range of positive finite numbers.
fn exp(log: f64) -> f64 {
    // e^700 is 1e304, e^-700 is 1e-304: both, and their reciprocals, are normal numbers.
    log.clamp(-700.0, 700.0).exp()
}

/// What a ratio says of the first thing against the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// No difference beyond the noise.
    Tie,
    /// The first takes less time.
    Faster,
    /// The first takes more time.
    Slower,
    /// The measurement is too rough to tell.
    Unsure,
}

impl Verdict {
    /// All, in the order of their declaration.
    pub const ALL: [Self; 4] = [Self::Tie, Self::Faster, Self::Slower, Self::Unsure];

    /// The verdict as one word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Tie => "tie",
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::Unsure => "unsure",
        }
    }

    /// The same verdict seen from the second thing.
    #[must_use]
    pub const fn reversed(self) -> Self {
        match self {
            Self::Faster => Self::Slower,
            Self::Slower => Self::Faster,
            same @ (Self::Tie | Self::Unsure) => same,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The noise floor: the 95th [`percentile`] of `|ratio − 1|` over the ratios of A/A controls,
/// one for each pair and round. `None` without a ratio, or if one is not finite.
///
/// ```
/// use wiremark_record::stats::noise_floor;
///
/// assert_eq!(noise_floor(&[1.0, 1.0, 1.0]), Some(0.0));
/// assert_eq!(noise_floor(&[]), None);
/// ```
pub fn noise_floor(ratios: &[f64]) -> Option<f64> {
    let distances: Vec<f64> = ratios.iter().map(|ratio| (ratio - 1.0).abs()).collect();
    percentile(&distances, 95.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether two numbers agree to twelve digits.
    fn close(left: f64, right: f64) -> bool {
        (left - right).abs() <= 1e-12 * left.abs().max(right.abs()).max(1e-300)
    }

    /// Numbers for property tests: xorshift64*, between 0 and 1.
    struct Draw(u64);

    impl Draw {
        fn next(&mut self) -> f64 {
            self.0 ^= self.0 >> 12;
            self.0 ^= self.0 << 25;
            self.0 ^= self.0 >> 27;
            (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11) as f64
                / (1u64 << 53) as f64
        }

        /// Rounds of two series, up to `most`, times over `decades` powers of ten.
        fn pairs(&mut self, most: f64, decades: f64) -> Vec<(f64, f64)> {
            let time = |draw: &mut Self| 10f64.powf(decades * (draw.next() - 0.5));
            let rounds = 1.0 + self.next() * most;
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "small"
            )]
            (0..rounds as usize).map(|_| (time(self), time(self))).collect()
        }
    }

    #[test]
    fn percentiles_are_those_of_r() {
        // R: quantile(x, p, type = 7).
        let mut bad = Vec::new();
        let rows: [(&[f64], f64, Option<f64>); 14] = [
            (&[], 50.0, None),
            (&[7.0], 0.0, Some(7.0)),
            (&[7.0], 25.0, Some(7.0)),
            (&[2.0, 1.0], 25.0, Some(1.25)),
            (&[1.0, 2.0, 3.0, 4.0], 25.0, Some(1.75)),
            (&[1.0, 2.0, 3.0, 4.0], 75.0, Some(3.25)),
            (&[5.0, 1.0, 4.0, 2.0, 3.0], 25.0, Some(2.0)),
            (&[15.0, 20.0, 35.0, 40.0, 50.0], 40.0, Some(29.0)),
            (&[1.0, 2.0, 3.0], -5.0, Some(1.0)),
            (&[1.0, 2.0, 3.0], 400.0, Some(3.0)),
            (&[1.0, f64::NAN], 50.0, None),
            (&[1.0, f64::INFINITY], 0.0, None),
            (&[1.0], f64::NAN, None),
            (&[f64::MIN, f64::MAX], 50.0, Some(0.0)),
        ];
        for (values, percent, expected) in rows {
            let found = percentile(values, percent);
            if found != expected {
                bad.push(format!("{values:?} {percent}: {found:?}, not {expected:?}"));
            }
        }
        assert!(bad.is_empty(), "{bad:#?}");
        assert_eq!(lower_quartile(&[1.0, 2.0, 3.0, 4.0]), Some(1.75));
        assert_eq!(median(&[1.0, 2.0, 3.0, 4.0]), Some(2.5));
    }

    #[test]
    fn student_t_is_that_of_the_tables() {
        let mut bad = Vec::new();
        // Any statistics table: two-sided 5 %, that is one-sided 2.5 %.
        for (degrees, expected) in [
            (1, 12.706),
            (2, 4.303),
            (3, 3.182),
            (4, 2.776),
            (5, 2.571),
            (6, 2.447),
            (7, 2.365),
            (8, 2.306),
            (9, 2.262),
            (10, 2.228),
            (11, 2.201),
            (12, 2.179),
            (13, 2.160),
            (14, 2.145),
            (15, 2.131),
            (19, 2.093),
            (20, 2.086),
            (24, 2.064),
            (29, 2.045),
            (30, 2.042),
            (40, 2.021),
            (60, 2.000),
            (120, 1.980),
            (10_000, 1.960),
            (u32::MAX, 1.960),
        ] {
            let found = student_t(degrees).unwrap_or(f64::NAN);
            if (found - expected).abs() > 0.0005 {
                bad.push(format!("{degrees}: {found}, not {expected}"));
            }
        }
        assert!(bad.is_empty(), "{bad:#?}");
        assert_eq!(student_t(0), None);
    }

    #[test]
    fn student_t_has_all_its_digits() {
        // Closed forms: tan(π·0.475) for one degree of freedom, and for two
        // p·√(2 / (1 − p²)) with p = 0.95.
        let one = (std::f64::consts::PI * 0.475).tan();
        let two = 0.95 * (2.0_f64 / (1.0 - 0.95 * 0.95)).sqrt();
        assert!(close(student_t(1).unwrap(), one));
        assert!(close(student_t(2).unwrap(), two));
        // Ten digits as R's qt(0.975, df) prints them.
        for (degrees, expected) in
            [(4, 2.776_445_105), (9, 2.262_157_163), (30, 2.042_272_456)]
        {
            let found = student_t(degrees).unwrap();
            assert!((found - expected).abs() < 1e-9, "{degrees}: {found}");
        }
    }

    #[test]
    fn an_interval_is_the_one_computed_by_hand() {
        // Logarithms 0.1, 0.2, 0.3, 0.4, 0.5: mean 0.3, s = √0.025, s/√5 = 0.070711,
        // t(4) = 2.776445, so 0.3 ± 0.196324.
        let pairs = [0.1, 0.2, 0.3, 0.4, 0.5].map(|log: f64| (log.exp(), 1.0));
        let ratio = Ratio::of_pairs(pairs).unwrap();
        assert_eq!((ratio.rounds, ratio.bounds), (5, Bounds::Interval));
        for (found, expected) in [
            (ratio.ratio, 0.3_f64.exp()),
            (ratio.low, (0.3_f64 - 0.196_324_3).exp()),
            (ratio.high, (0.3_f64 + 0.196_324_3).exp()),
        ] {
            assert!((found - expected).abs() < 1e-6, "{found}, not {expected}");
        }
    }

    #[test]
    fn under_five_rounds_the_bounds_are_the_extremes() {
        let ratio =
            Ratio::of_pairs([(2.0, 1.0), (3.0, 1.0), (5.0, 1.0), (4.0, 1.0)]).unwrap();
        assert_eq!(ratio.bounds, Bounds::Range);
        assert!(ratio.is_first_look());
        assert!(close(ratio.low, 2.0) && close(ratio.high, 5.0));
        assert!(close(ratio.ratio, 120.0_f64.powf(0.25)));
        let one = Ratio::of_pairs([(3.0, 2.0)]).unwrap();
        assert!(close(one.low, 1.5) && close(one.ratio, 1.5) && close(one.high, 1.5));
    }

    #[test]
    fn a_round_without_two_times_is_left_out() {
        let nothing = [0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
        for bad in nothing {
            assert_eq!(Ratio::of_pairs([(bad, 1.0)]), None, "{bad}");
            assert_eq!(Ratio::of_pairs([(1.0, bad)]), None, "{bad}");
            let rest = Ratio::of_pairs([(2.0, 1.0), (bad, 1.0)]).unwrap();
            assert_eq!((rest.rounds, rest.high), (1, rest.low), "{bad}");
        }
        assert_eq!(Ratio::of_pairs([]), None);
    }

    #[test]
    fn a_ratio_turned_round_is_its_inverse() {
        let seed = 0x5eed_0001;
        let mut draw = Draw(seed);
        for case in 0..2_000 {
            let pairs = draw.pairs(12.0, 3.0);
            let floor = Some(draw.next() * 0.1);
            let there = Ratio::of_pairs(pairs.iter().copied()).unwrap();
            let back = Ratio::of_pairs(pairs.iter().map(|&(a, b)| (b, a))).unwrap();
            let inverse = there.inverse();
            let at = format!("seed {seed:#x}, case {case}: {there:?} {back:?}");
            assert!(close(inverse.ratio, back.ratio), "{at}");
            assert!(
                close(inverse.low, back.low) && close(inverse.high, back.high),
                "{at}"
            );
            assert_eq!(there.verdict(floor), back.verdict(floor).reversed(), "{at}");
        }
    }

    #[test]
    fn bounds_hold_their_ratio_and_everything_is_finite() {
        let seed = 0x5eed_0002;
        let mut draw = Draw(seed);
        for case in 0..2_000 {
            // Up to 600 powers of ten: what no machine measures and a file may claim.
            let pairs = draw.pairs(8.0, 600.0);
            let ratio = Ratio::of_pairs(pairs).unwrap();
            let at = format!("seed {seed:#x}, case {case}: {ratio:?}");
            assert!(ratio.low <= ratio.ratio && ratio.ratio <= ratio.high, "{at}");
            assert!(ratio.low > 0.0 && ratio.high.is_finite(), "{at}");
            let inverse = ratio.inverse();
            assert!(inverse.low > 0.0 && inverse.high.is_finite(), "{at}");
        }
    }

    #[test]
    fn identical_series_tie() {
        let seed = 0x5eed_0003;
        let mut draw = Draw(seed);
        for case in 0..500 {
            let pairs: Vec<_> =
                draw.pairs(12.0, 6.0).into_iter().map(|(a, _)| (a, a)).collect();
            let ratio = Ratio::of_pairs(pairs).unwrap();
            assert!(close(ratio.low, 1.0) && close(ratio.high, 1.0));
            assert_eq!(ratio.verdict(Some(0.0)), Verdict::Tie, "seed {seed:#x}, {case}");
        }
    }

    #[test]
    fn nineteen_of_twenty_intervals_hold_the_true_ratio() {
        let seed = 0x5eed_0005;
        let mut draw = Draw(seed);
        // Box and Muller's normal numbers; rounds share a disturbance of up to ten times,
        // each series has 5 % of its own, and the first takes 1.2 times as long.
        let mut normal = move || {
            let (a, b) = (1.0 - draw.next(), draw.next());
            (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
        };
        for rounds in [5, 12] {
            let (mut held, cases) = (0, 4_000);
            for _ in 0..cases {
                let pairs: Vec<_> = (0..rounds)
                    .map(|_| {
                        let shared = (2.3 * normal()).exp();
                        let mut own = || shared * (0.05 * normal()).exp();
                        (1.2 * own(), own())
                    })
                    .collect();
                let ratio = Ratio::of_pairs(pairs).unwrap();
                held += i32::from(ratio.low <= 1.2 && 1.2 <= ratio.high);
            }
            // Three standard errors of 95 % over so many cases are one point.
            let part = f64::from(held) / f64::from(cases);
            assert!((0.94..0.96).contains(&part), "seed {seed:#x}, {rounds}: {part}");
        }
    }

    #[test]
    fn scaling_both_series_changes_nothing() {
        let seed = 0x5eed_0004;
        let mut draw = Draw(seed);
        for case in 0..500 {
            let pairs = draw.pairs(12.0, 3.0);
            let factor = 1.0 + draw.next() * 1e6;
            let plain = Ratio::of_pairs(pairs.iter().copied()).unwrap();
            let scaled =
                Ratio::of_pairs(pairs.iter().map(|&(a, b)| (a * factor, b * factor)))
                    .unwrap();
            assert!(
                (plain.ratio / scaled.ratio - 1.0).abs() < 1e-9,
                "seed {seed:#x}, case {case}"
            );
        }
    }

    #[test]
    fn verdicts_follow_their_order() {
        use Verdict::{Faster, Slower, Tie, Unsure};
        let mut bad = Vec::new();
        // (ratio, low, high), rounds, floor, verdict, why
        let rows = [
            ((1.00, 1.00, 1.00), 9, Some(0.00), Tie, "no difference at all"),
            ((1.01, 0.99, 1.03), 9, Some(0.00), Tie, "holds 1"),
            ((1.04, 1.03, 1.05), 9, Some(0.02), Tie, "twice the floor"),
            ((1.041, 1.03, 1.05), 9, Some(0.02), Slower, "just over twice the floor"),
            ((0.97, 0.96, 0.98), 9, Some(0.02), Tie, "in the band below 1"),
            ((0.95, 0.94, 0.96), 9, Some(0.02), Faster, "beyond the band below 1"),
            ((1.10, 1.08, 1.12), 9, Some(0.03), Slower, "a known 10 %"),
            ((1.02, 1.01, 1.03), 9, None, Slower, "an interval needs no floor"),
            ((1.02, 0.90, 1.16), 9, Some(0.02), Unsure, "wide and holds 1"),
            ((1.20, 1.03, 1.40), 9, Some(0.02), Unsure, "wide and touches the band"),
            ((3.00, 2.50, 3.60), 9, Some(0.02), Slower, "wide, but far from 1"),
            ((0.33, 0.28, 0.40), 9, Some(0.02), Faster, "wide, but far below 1"),
            ((1.20, 1.15, 1.25), 9, Some(0.20), Tie, "a very noisy run"),
            ((1.50, 1.50, 1.50), 1, Some(0.02), Slower, "one round, far"),
            ((0.60, 0.60, 0.60), 1, None, Faster, "one round, far, no floor"),
            ((1.03, 1.03, 1.03), 1, Some(0.02), Tie, "one round, in the band"),
            ((1.045, 1.045, 1.045), 1, Some(0.02), Unsure, "one round, too small"),
            ((1.02, 1.02, 1.02), 1, None, Unsure, "one round, no floor"),
            ((1.02, 0.99, 1.05), 3, Some(0.00), Tie, "a range that holds 1"),
            ((1.30, 0.90, 1.90), 3, Some(0.02), Unsure, "a wide range"),
            ((1.02, 0.99, 1.05), 9, Some(f64::NAN), Tie, "no floor in fact"),
            ((1.50, 1.49, 1.51), 9, Some(-1.0), Slower, "no floor in fact"),
        ];
        for ((ratio, low, high), rounds, floor, expected, why) in rows {
            let bounds =
                if rounds < INTERVAL_ROUNDS { Bounds::Range } else { Bounds::Interval };
            let found = Ratio { ratio, low, high, rounds, bounds }.verdict(floor);
            if found != expected {
                bad.push(format!("{why}: {found}, not {expected}"));
            }
        }
        assert!(bad.is_empty(), "{bad:#?}");
    }

    #[test]
    fn the_noise_floor_is_the_one_computed_by_hand() {
        // Distances 0.00, 0.01, 0.02, 0.03; position 3 · 0.95 = 2.85.
        let floor = noise_floor(&[1.01, 0.98, 1.03, 1.00]).unwrap();
        assert!((floor - 0.0285).abs() < 1e-12, "{floor}");
        assert_eq!(noise_floor(&[f64::NAN]), None);
    }
}
