//! What a number's text keeps when it becomes a 64-bit float.

use super::text::part;

/// The digits that matter, most significant first: no sign, no point, no exponent, no zeros
/// before or behind.
fn digits(text: &str) -> impl DoubleEndedIterator<Item = u8> + Clone {
    let mantissa = text.split(['e', 'E']).next().unwrap_or_default();
    let from = mantissa.find(|c: char| matches!(c, '1'..='9')).unwrap_or(mantissa.len());
    let to =
        mantissa.rfind(|c: char| matches!(c, '1'..='9')).map_or(from, |last| last + 1);
    part(mantissa, from..to).bytes().filter(u8::is_ascii_digit)
}

/// Whether `float`, the one nearest to the decimal `text`, keeps all that was written: whether
/// it has the same digits when it is printed with as many.
pub(super) fn keeps(text: &str, float: f64) -> bool {
    /// Every decimal of so many digits survives the way to a normal `f64` and back.
    const SAFE_DIGITS: usize = 15;
    /// No `f64` has more when it is written out to the last.
    const MOST_DIGITS: usize = 767;

    let count = digits(text).count();
    if count == 0 {
        return true;
    }
    if float == 0.0 || count > MOST_DIGITS {
        return false;
    }
    if count <= SAFE_DIGITS && float.abs() > 1e-290 {
        return true;
    }
    let printed = format!("{float:.*e}", count - 1);
    // Without the trailing zeros on both sides; there are none in the text.
    digits(text).eq(digits(&printed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_that_a_float_keeps_are_told_from_those_it_loses() {
        let rows = [
            ("0.0", true),
            ("-0.000e17", true),
            ("5.018", true),
            ("1e23", true),
            ("123456789012345.0", true),
            ("0.1234567890123456", true),
            // 17 digits, as `%.17g` prints the float.
            ("-65.613616999999977", true),
            ("0.30000000000000004", true),
            // 17 digits that no float has.
            ("0.12345678901234567", false),
            ("9007199254740993.0", false),
            ("9007199254740992.0", true),
            // Written out to the last digit.
            ("0.1000000000000000055511151231257827021181583404541015625", true),
            ("0.10000000000000000555111512312578270211815834045410156250000", true),
            ("0.1000000000000000055511151231257827021181583404541015624", false),
            ("3.14159265358979323846264338327950288", false),
            ("1.00000000000000000001", false),
            // The smallest float, and less.
            ("5e-324", true),
            ("4.9e-324", true),
            ("4.8e-324", false),
            ("7e-324", false),
            ("1e-400", false),
            ("1.7976931348623157e308", true),
        ];
        for (text, expected) in rows {
            let float: f64 = text.parse().unwrap();
            assert_eq!(keeps(text, float), expected, "{text} is {float:e}");
        }
        let long = format!("0.{}", "3".repeat(1_000_000));
        assert!(!keeps(&long, long.parse().unwrap()));
    }
}
