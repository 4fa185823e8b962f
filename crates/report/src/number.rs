//! Numbers as people read them: three significant digits, separators, units.

/// What stands where there is no figure.
pub(crate) const NONE: &str = "–";

/// Digits in groups of three: `1,234,567`.
pub(crate) fn grouped(number: u64) -> String {
    group(&number.to_string())
}

fn group(digits: &str) -> String {
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A number that is not negative with at least `digits` significant digits, in plain notation:
/// `0.512`, `1.00`, `12.3`, `1,234`.
pub(crate) fn significant(number: f64, digits: usize) -> String {
    if !number.is_finite() {
        return NONE.to_owned();
    }
    // The exponent after rounding: 9.996 is 10.0, not 10.00.
    let rounded = format!("{number:.*e}", digits.saturating_sub(1));
    let exponent: i32 =
        rounded.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0);
    let first = i32::try_from(digits).unwrap_or(i32::MAX).saturating_sub(1);
    // Below a trillionth nothing is worth the width.
    let decimals = usize::try_from(first.saturating_sub(exponent)).unwrap_or(0).min(12);
    let plain = format!("{number:.decimals$}");
    match plain.split_once('.') {
        Some((whole, part)) => format!("{}.{part}", group(whole)),
        None => group(&plain),
    }
}

/// Scales a number to the largest unit of which it has at least one after rounding to three
/// digits.
fn scaled(number: f64, units: &[(f64, &str)]) -> String {
    let fits = |size: f64| number / size >= 0.9995;
    let unit = units.iter().rev().find(|(size, _)| fits(*size)).or(units.first());
    let (size, name) = unit.copied().unwrap_or((1.0, ""));
    let text = significant(number / size, 3);
    if name.is_empty() { text } else { format!("{text} {name}") }
}

/// A time in the unit that fits: `812 ns`, `1.23 µs`, `45.6 ms`, `1.20 s`.
pub(crate) fn time(ns: f64) -> String {
    scaled(ns, &[(1.0, "ns"), (1e3, "µs"), (1e6, "ms"), (1e9, "s")])
}

/// A rate: `812`, `12.3 k`, `4.56 M`.
pub(crate) fn rate(per_s: f64) -> String {
    scaled(per_s, &[(1.0, ""), (1e3, "k"), (1e6, "M"), (1e9, "G")])
}

/// A memory size: `512 B`, `8.00 GB`. MB is 10⁶ bytes.
pub(crate) fn memory(bytes: u64) -> String {
    scaled(bytes as f64, &[(1.0, "B"), (1e3, "kB"), (1e6, "MB"), (1e9, "GB")])
}

/// Megabytes a second.
pub(crate) fn megabytes(bytes_per_s: f64) -> String {
    significant(bytes_per_s / 1e6, 3)
}

/// A ratio: `0.98`, `1.00`, `12.3`; three digits of what is under a tenth.
pub(crate) fn ratio(ratio: f64) -> String {
    // Two places on both sides of 1, so that the points of a column stand together.
    if (0.0995..1.0).contains(&ratio) {
        format!("{ratio:.2}")
    } else {
        significant(ratio, 3)
    }
}

/// A part of one: `3.00 %`.
pub(crate) fn percent(part: f64) -> String {
    if part == 0.0 {
        "0 %".to_owned()
    } else {
        format!("{} %", significant(part * 100.0, 3))
    }
}

/// `1 round`, `5 rounds`.
pub(crate) fn plural(count: u64, noun: &str) -> String {
    format!("{} {noun}{}", grouped(count), if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<T: Copy + std::fmt::Debug>(
        rows: &[(T, &str)],
        format: impl Fn(T) -> String,
    ) {
        let bad: Vec<_> = rows
            .iter()
            .map(|&(number, expected)| (number, format(number), expected))
            .filter(|(_, found, expected)| found != expected)
            .collect();
        assert!(bad.is_empty(), "(number, found, expected): {bad:#?}");
    }

    #[test]
    fn three_digits_are_kept_and_rounding_moves_the_point() {
        let rows = [
            (0.0, "0.00"),
            (0.001_234, "0.00123"),
            (0.5125, "0.512"),
            (0.9996, "1.00"),
            (1.0, "1.00"),
            (9.994, "9.99"),
            (9.996, "10.0"),
            (99.96, "100"),
            (123.4, "123"),
            (1_234.5, "1,234"),
            (1e15, "1,000,000,000,000,000"),
            (1e-30, "0.000000000000"),
            (f64::NAN, "–"),
            (f64::INFINITY, "–"),
        ];
        check(&rows, |number| significant(number, 3));
    }

    #[test]
    fn times_have_the_unit_that_fits() {
        let rows = [
            (0.25, "0.250 ns"),
            (1.0, "1.00 ns"),
            (999.4, "999 ns"),
            (999.6, "1.00 µs"),
            (1_234.0, "1.23 µs"),
            (45_600_000.0, "45.6 ms"),
            (1.2e9, "1.20 s"),
            (1.2345e12, "1,234 s"),
            (0.0, "0.00 ns"),
        ];
        check(&rows, time);
    }

    #[test]
    fn rates_sizes_and_parts_are_short() {
        check(
            &[(0.5, "0.500"), (812.0, "812"), (12_345.0, "12.3 k"), (4.56e6, "4.56 M")],
            rate,
        );
        check(
            &[(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")],
            grouped,
        );
        check(&[(512, "512 B"), (8_000_000_000, "8.00 GB")], memory);
        check(&[(0.0, "0 %"), (0.03, "3.00 %"), (0.25, "25.0 %")], percent);
        check(
            &[(0.0123, "0.0123"), (0.5, "0.50"), (0.996, "1.00"), (12.34, "12.3")],
            ratio,
        );
        check(&[(1.234e9, "1,234"), (5e5, "0.500")], megabytes);
        check(&[(1, "1 round"), (0, "0 rounds"), (1_000, "1,000 rounds")], |count| {
            plural(count, "round")
        });
    }
}
