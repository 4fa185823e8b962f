//! Numbers as decimal text: what Perl writes in network order, and what this crate does.
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::arithmetic_side_effects
)]

use std::io::Write;

/// A number that text stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Number {
    Int(i128),
    /// Beyond `i128`.
    Uint(u128),
    Float(f64),
}

/// The longest text of a number: `i128::MIN` has 40 bytes, a float at most 24.
pub(crate) const MAX_BYTES: usize = 40;

/// Digits from which Perl writes an exponent.
const MAX_DIGITS: i32 = 15;

/// Space for the text of a number.
#[derive(Debug)]
pub(crate) struct Text {
    space: [u8; MAX_BYTES],
    used: usize,
}

impl Text {
    fn new() -> Self {
        Self { space: [0; MAX_BYTES], used: 0 }
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.space.get(..self.used).unwrap_or_default()
    }

    fn push(&mut self, bytes: &[u8]) {
        let end = self.used.saturating_add(bytes.len());
        if let Some(place) = self.space.get_mut(self.used..end) {
            place.copy_from_slice(bytes);
            self.used = end;
        }
    }

    /// What is displayed as ASCII and fits.
    fn display(value: impl std::fmt::Display) -> Self {
        let mut text = Self::new();
        let mut rest = &mut text.space[..];
        let _ = write!(rest, "{value}");
        let left = rest.len();
        text.used = MAX_BYTES.saturating_sub(left);
        text
    }
}

/// An unsigned integer as text.
pub(crate) fn unsigned(mut value: u64) -> Text {
    // Filled from its end, which is where digits come from.
    let mut space = [0; 20];
    let mut used: usize = 0;
    for place in space.iter_mut().rev() {
        *place = b'0' | (value % 10).to_le_bytes()[0];
        used = used.wrapping_add(1);
        value /= 10;
        if value == 0 {
            break;
        }
    }
    let mut text = Text::new();
    text.push(space.get(20_usize.saturating_sub(used)..).unwrap_or_default());
    text
}

/// A signed integer as text.
pub(crate) fn signed(value: i64) -> Text {
    if value >= 0 {
        return unsigned(value.unsigned_abs());
    }
    let mut text = Text::new();
    text.push(b"-");
    text.push(unsigned(value.unsigned_abs()).as_bytes());
    text
}

/// An integer of 128 bits as text.
pub(crate) fn wide(value: impl std::fmt::Display) -> Text {
    Text::display(value)
}

/// The shortest text that is read as this float: `5.018`, `0.3333333333333333`, `1e+300`.
///
/// A whole number from 2³¹ on has an exponent, so that no text of a float is that of an integer
/// which would be written as text.
pub(crate) fn float(value: f64) -> Text {
    decimals(value).unwrap_or_else(|| {
        let digits = format!("{value:e}");
        arrange(value, &digits)
    })
}

/// The text that Perl prints: 15 digits, `%.15g`.
pub(crate) fn perl_float(value: f64) -> Text {
    if !value.is_finite() {
        return arrange(value, "");
    }
    arrange_digits(&format!("{value:.14e}"), MAX_DIGITS)
}

/// A float of few decimals, without the general algorithm.
///
/// If `m / 10^k` is the float, and `m` and `10^k` are exact, then the text `m` with `k` decimals
/// is read as it; and with at most 15 digits no shorter text is.
#[inline]
fn decimals(value: f64) -> Option<Text> {
    const POWERS: [f64; 7] = [1.0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6];
    let size = value.abs();
    // From 1e-3 on, all of them are without an exponent; below 2^31 also whole ones are.
    if !(1e-3..2_147_483_648.0).contains(&size) {
        return None;
    }
    for (count, power) in POWERS.into_iter().enumerate() {
        let scaled = size * power;
        if scaled >= 1e15 {
            return None;
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 0 and 10^15"
        )]
        let whole = (scaled + 0.5) as u64;
        // Divided only where the product is whole but for its rounding: that is rarely in vain.
        let is_near = (scaled - whole as f64).abs() <= scaled * f64::EPSILON;
        #[expect(clippy::float_cmp, reason = "it is the float or it is not")]
        if is_near && whole as f64 / power == size {
            return Some(with_point(value < 0.0, whole, count));
        }
    }
    None
}

/// `whole` with a point before its last `count` digits.
fn with_point(is_negative: bool, whole: u64, count: usize) -> Text {
    let mut text = Text::new();
    if is_negative {
        text.push(b"-");
    }
    let digits = unsigned(whole);
    let digits = digits.as_bytes();
    match digits.len().checked_sub(count) {
        _ if count == 0 => text.push(digits),
        None | Some(0) => {
            text.push(b"0.");
            for _ in digits.len()..count {
                text.push(b"0");
            }
            text.push(digits);
        }
        Some(point) => {
            let (before, behind) = digits.split_at_checked(point).unwrap_or_default();
            text.push(before);
            text.push(b".");
            text.push(behind);
        }
    }
    text
}

fn arrange(value: f64, scientific: &str) -> Text {
    let special: &[u8] = if value.is_nan() {
        b"NaN"
    } else if value == f64::INFINITY {
        b"Inf"
    } else if value == f64::NEG_INFINITY {
        b"-Inf"
    } else {
        let is_whole = value % 1.0 == 0.0;
        // Nine digits fit an i32, and ten may not.
        let digits =
            if is_whole && value.abs() >= 2_147_483_648.0 { 9 } else { MAX_DIGITS };
        return arrange_digits(scientific, digits);
    };
    let mut text = Text::new();
    text.push(special);
    text
}

/// `d.ddde-x` as C's `%g` has it: without an exponent from 1e-4 on and below `10^max_digits`.
fn arrange_digits(scientific: &str, max_digits: i32) -> Text {
    let mut text = Text::new();
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let mantissa = match mantissa.strip_prefix('-') {
        Some(rest) => {
            text.push(b"-");
            rest
        }
        None => mantissa,
    };
    let (first, rest) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let rest = rest.trim_end_matches('0');
    if exponent < -4 || exponent >= max_digits {
        text.push(first.as_bytes());
        if !rest.is_empty() {
            text.push(b".");
            text.push(rest.as_bytes());
        }
        text.push(if exponent < 0 { b"e-" } else { b"e+" });
        let size = unsigned(u64::from(exponent.unsigned_abs()));
        if size.as_bytes().len() < 2 {
            text.push(b"0");
        }
        text.push(size.as_bytes());
    } else if exponent < 0 {
        text.push(b"0.");
        for _ in 1..exponent.unsigned_abs() {
            text.push(b"0");
        }
        text.push(first.as_bytes());
        text.push(rest.as_bytes());
    } else {
        let before = usize::try_from(exponent).unwrap_or(0);
        text.push(first.as_bytes());
        if let Some((whole, fraction)) = rest.split_at_checked(before) {
            text.push(whole.as_bytes());
            if !fraction.is_empty() {
                text.push(b".");
                text.push(fraction.as_bytes());
            }
        } else {
            text.push(rest.as_bytes());
            for _ in rest.len()..before {
                text.push(b"0");
            }
        }
    }
    text
}

/// The integer that text is, if it is one.
pub(crate) fn parse_int(text: &[u8]) -> Option<i128> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// The integer beyond `i128` that text is, if it is one.
pub(crate) fn parse_uint(text: &[u8]) -> Option<u128> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// The float that text is, if it is one: `5.018`, `1e+300`, `Inf`, `-Inf`, `NaN`.
#[inline]
pub(crate) fn parse_float(text: &[u8]) -> Option<f64> {
    match parse_decimals(text) {
        Some(value) => Some(value),
        None => std::str::from_utf8(text).ok()?.parse().ok(),
    }
}

/// A float of few digits, without an exponent and without the general algorithm.
///
/// At most 15 digits and at most `10^14` are exact as floats, so their quotient, which is
/// rounded once, is the float nearest to the text.
fn parse_decimals(text: &[u8]) -> Option<f64> {
    const POWERS: [f64; 15] =
        [1.0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14];
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    // With the point.
    if digits.len() > 16 {
        return None;
    }
    let mut whole: u64 = 0;
    let mut point = None;
    for (index, &byte) in digits.iter().enumerate() {
        match byte {
            b'0'..=b'9' => {
                let digit = u64::from(byte.wrapping_sub(b'0'));
                whole = whole.wrapping_mul(10).wrapping_add(digit);
            }
            // A digit stands before it and behind it.
            b'.' if point.is_none() && index > 0 => point = Some(index),
            _ => return None,
        }
    }
    let behind = match point {
        Some(point) => {
            digits.len().checked_sub(point.wrapping_add(1)).filter(|&n| n > 0)?
        }
        None if digits.is_empty() || digits.len() > 15 => return None,
        None => 0,
    };
    let size = whole as f64 / POWERS.get(behind)?;
    Some(if digits.len() < text.len() { -size } else { size })
}

/// The number that text stands for, if it is exactly what is written for a number that becomes
/// text: in network order all floats and what is beyond `i32`, in native order what is beyond
/// `i64`.
pub(crate) fn of_text(text: &[u8], is_network: bool) -> Option<Number> {
    let first = match text {
        [b'-', first, ..] | [first, ..] => *first,
        [] => return None,
    };
    if text.len() > MAX_BYTES || !(first.is_ascii_digit() || matches!(first, b'I' | b'N'))
    {
        return None;
    }
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    if digits.iter().all(u8::is_ascii_digit) {
        let has_zeros = first == b'0' && digits.len() > 1;
        if has_zeros {
            return None;
        }
        let Some(value) = parse_int(text) else {
            return parse_uint(text).map(Number::Uint);
        };
        return if is_network && i32::try_from(value).is_ok() {
            // Integers of this size are not text.
            parse_float(text).map(Number::Float)
        } else if !is_network && (i64::try_from(value).is_ok() || text == b"-0") {
            None
        } else {
            Some(Number::Int(value))
        };
    }
    if !is_network {
        return None;
    }
    let value = parse_float(text)?;
    (float(value).as_bytes() == text).then_some(Number::Float(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_the_shortest_text_as_perl_would_arrange_it() {
        // Texts by Perl's `%.17g` and `%.15g`, whichever is the shorter that reads back.
        let table: &[(f64, &str)] = &[
            (5.018, "5.018"),
            (0.5, "0.5"),
            (-0.1, "-0.1"),
            (0.25, "0.25"),
            (1.0 / 3.0, "0.3333333333333333"),
            (1e300, "1e+300"),
            (1e-300, "1e-300"),
            (5e-324, "5e-324"),
            (123_456_789.125, "123456789.125"),
            (0.001, "0.001"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (3.0, "3"),
            (0.0, "0"),
            (-0.0, "-0"),
            (-2.5e-7, "-2.5e-07"),
            (2_147_483_647.0, "2147483647"),
            (2_147_483_648.0, "2.147483648e+09"),
            (9_007_199_254_740_992.0, "9.007199254740992e+15"),
            (1e15, "1e+15"),
            (f64::INFINITY, "Inf"),
            (f64::NEG_INFINITY, "-Inf"),
            (f64::NAN, "NaN"),
        ];
        let bad: Vec<_> = table
            .iter()
            .map(|(value, text)| {
                (String::from_utf8_lossy(float(*value).as_bytes()).into_owned(), text)
            })
            .filter(|(found, text)| found != *text)
            .collect();
        assert!(bad.is_empty(), "{bad:?}");
    }

    #[test]
    fn floats_of_few_digits_are_read_as_the_general_algorithm_reads_them() {
        let mut texts: Vec<String> =
            ["", "-", ".", "-.", "5.", ".5", "1..2", "+5", "-0", "0.0", "00.10", "1e5"]
                .map(str::to_owned)
                .into();
        // All places of the point in numbers of all lengths.
        for digits in 1..=18 {
            for number in
                ["9007199254740993123", "1234567890123456789", "999999999999999999"]
            {
                let number = &number[..digits];
                texts.push(number.to_owned());
                for point in 0..=digits {
                    let (whole, behind) = number.split_at(point);
                    texts.push(format!("{whole}.{behind}"));
                    texts.push(format!("-{whole}.{behind}"));
                }
            }
        }
        let read = |text: &String| parse_float(text.as_bytes()).map(f64::to_bits);
        let bad: Vec<_> = texts
            .iter()
            .filter(|text| read(text) != text.parse().ok().map(f64::to_bits))
            .collect();
        assert!(bad.is_empty(), "{bad:?}");
    }

    #[test]
    fn perl_floats_have_fifteen_digits() {
        let table: &[(f64, &str)] = &[
            (1.0 / 3.0, "0.333333333333333"),
            (5.018, "5.018"),
            (9_007_199_254_740_992.0, "9.00719925474099e+15"),
            (18_446_744_073_709_551_616.0, "1.84467440737096e+19"),
            (1e300, "1e+300"),
            (0.1 + 0.2, "0.3"),
            (1e10, "10000000000"),
            (-1.5e14, "-150000000000000"),
            (123_456_789.125, "123456789.125"),
            (-1e-5, "-1e-05"),
            (f64::NAN, "NaN"),
        ];
        for (value, text) in table {
            assert_eq!(String::from_utf8_lossy(perl_float(*value).as_bytes()), *text);
        }
    }

    #[test]
    fn text_of_a_number_is_told_from_other_text() {
        let float = |value| Some(Number::Float(value));
        let table: &[(&str, Option<Number>, Option<Number>)] = &[
            ("5.018", float(5.018), None),
            ("5.0180", None, None),
            ("+5", None, None),
            ("05", None, None),
            ("", None, None),
            ("-", None, None),
            ("3", float(3.0), None),
            ("-0", float(-0.0), None),
            ("1e+300", float(1e300), None),
            ("1e300", None, None),
            ("Inf", float(f64::INFINITY), None),
            ("inf", None, None),
            ("2147483648", Some(Number::Int(2_147_483_648)), None),
            (
                "18446744073709551615",
                Some(Number::Int(18_446_744_073_709_551_615)),
                Some(Number::Int(18_446_744_073_709_551_615)),
            ),
            (
                "340282366920938463463374607431768211455",
                Some(Number::Uint(u128::MAX)),
                Some(Number::Uint(u128::MAX)),
            ),
            ("2026-11-30", None, None),
            ("1.2.3", None, None),
        ];
        for (text, network, native) in table {
            assert_eq!(of_text(text.as_bytes(), true), *network, "{text}");
            assert_eq!(of_text(text.as_bytes(), false), *native, "{text}");
        }
    }
}
