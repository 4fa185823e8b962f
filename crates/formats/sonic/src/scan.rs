//! What must be known of a document before the library sees it: how deep it nests, and whether
//! it holds a negative zero.
//!
//! What the library skips, and what is not of the type that was asked for, it passes over by
//! calling itself, at any depth. And it reads `-0.0` as `0.0`.
//!
//! One pass, 64 bytes at a time, and no branch on a byte but for the minus signs of numbers.

/// Bytes looked at together; each has a bit.
const BLOCK: usize = 64;

/// What a negative zero is written as for the library, which reads it as one: it rounds to zero,
/// and keeps its sign.
const NEGATIVE_ZERO: &[u8] = b"-1e-999";

/// What was found in a document.
#[derive(Debug, PartialEq)]
pub(crate) enum Scan {
    /// Nothing that the library is not to see.
    Plain,
    /// A number that is a negative zero.
    NegativeZero,
    /// More levels than are allowed, with the offset of the bracket that opens the first of them.
    TooDeep(usize),
}

/// Looks for more than `max` levels, and for negative zeros.
///
/// What the library takes for strings are strings here, up to the first byte that is no JSON;
/// the library stops there, so that what is found behind it is of no matter.
pub(crate) fn scan(max: u32, bytes: &[u8]) -> Scan {
    if is_plain(max, bytes) { Scan::Plain } else { scan_blocks(max, bytes) }
}

/// Whether a document is plain wherever its strings are: it has no more brackets than levels are
/// allowed, and `-0` nowhere. Most small ones are, and to see it takes a tenth of the time.
fn is_plain(max: u32, bytes: &[u8]) -> bool {
    // Counts in a byte, so that many are counted at once.
    const PIECE: usize = 128;
    let mut opens = 0_u32;
    for (index, piece) in bytes.chunks(PIECE).enumerate() {
        let count = |piece: &[u8]| {
            piece.iter().fold(0_u8, |count, &byte| {
                count.wrapping_add(u8::from(byte | 0x20 == b'{'))
            })
        };
        opens += u32::from(count(piece));
        // The pair that begins with the last byte of the piece too.
        let next = bytes.get(index * PIECE + 1..).unwrap_or_default();
        let zeros = piece.iter().zip(next).fold(0_u8, |any, (&sign, &digit)| {
            any | u8::from(sign == b'-') & u8::from(digit == b'0')
        });
        if opens > max || zeros != 0 {
            return false;
        }
    }
    true
}

fn scan_blocks(max: u32, bytes: &[u8]) -> Scan {
    let mut strings = Strings::default();
    let mut depth = 0_u32;
    let mut start = 0;
    let mut found_zero = false;
    let (blocks, rest) = bytes.as_chunks::<BLOCK>();
    let mut last = [b' '; BLOCK];
    if let Some(space) = last.get_mut(..rest.len()) {
        space.copy_from_slice(rest);
    }
    for block in blocks.iter().chain([&last]) {
        let found = Found::of(block);
        let outside = !strings.inside(found.quotes, found.backslashes);
        let (opens, closes) = (found.opens & outside, found.closes & outside);
        if depth + opens.count_ones() > max
            && let Some(at) = walk(depth, max, opens, closes)
        {
            return Scan::TooDeep(start + at as usize);
        }
        // Never below 0 in what the library reads.
        depth = (depth + opens.count_ones()).saturating_sub(closes.count_ones());
        let mut minuses = found.minuses & outside;
        while minuses != 0 && !found_zero {
            let at = start + minuses.trailing_zeros() as usize;
            found_zero = negative_zero(bytes.get(at..).unwrap_or_default()).is_some();
            minuses &= minuses - 1;
        }
        start += BLOCK;
    }
    if found_zero { Scan::NegativeZero } else { Scan::Plain }
}

/// The length of the negative zero at the start of `bytes`, if that is what stands there: the
/// sign and the zeros, while an exponent may follow.
fn negative_zero(bytes: &[u8]) -> Option<usize> {
    let digits = bytes.strip_prefix(b"-0")?;
    let zeros = match digits.strip_prefix(b".") {
        // Without a digit behind the point it is no number, and the library shall say so.
        Some([b'0', ..]) => {
            1 + digits.iter().skip(1).take_while(|&&byte| byte == b'0').count()
        }
        Some(_) => return None,
        None => 0,
    };
    match digits.get(zeros) {
        Some(b'0'..=b'9') => None,
        _ => Some(2 + zeros),
    }
}

/// The document with its negative zeros written so that the library reads them as such.
pub(crate) fn with_negative_zeros(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len() + 64);
    let (mut is_open, mut is_escaped) = (false, false);
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        if is_escaped {
            is_escaped = false;
        } else if byte == b'\\' {
            is_escaped = true;
        } else if byte == b'"' {
            is_open = !is_open;
        } else if byte == b'-'
            && !is_open
            // The one in an exponent has no number of its own.
            && !matches!(out.last(), Some(b'e' | b'E'))
            && let Some(length) = negative_zero(bytes.get(at..).unwrap_or_default())
        {
            out.extend_from_slice(NEGATIVE_ZERO);
            at += length;
            at += exponent(bytes.get(at..).unwrap_or_default());
            continue;
        }
        out.push(byte);
        at += 1;
    }
    out
}

/// The length of the exponent at the start of `bytes`, 0 if there is none.
fn exponent(bytes: &[u8]) -> usize {
    let [b'e' | b'E', rest @ ..] = bytes else { return 0 };
    let sign = usize::from(matches!(rest.first(), Some(b'+' | b'-')));
    match rest.iter().skip(sign).take_while(|byte| byte.is_ascii_digit()).count() {
        0 => 0,
        digits => 1 + sign + digits,
    }
}

/// The bit of the bracket that opens more than `max` levels.
#[cold]
fn walk(mut depth: u32, max: u32, opens: u64, closes: u64) -> Option<u32> {
    let mut left = opens | closes;
    while left != 0 {
        let at = left.trailing_zeros();
        left &= left - 1;
        if opens >> at & 1 == 0 {
            depth = depth.saturating_sub(1);
        } else if depth == max {
            return Some(at);
        } else {
            depth += 1;
        }
    }
    None
}

/// Where in a block the bytes are that matter, a bit for each.
struct Found {
    quotes: u64,
    backslashes: u64,
    opens: u64,
    closes: u64,
    minuses: u64,
}

impl Found {
    #[inline]
    fn of(block: &[u8; BLOCK]) -> Self {
        let mut found =
            Self { quotes: 0, backslashes: 0, opens: 0, closes: 0, minuses: 0 };
        let (words, _) = block.as_chunks::<8>();
        for (index, word) in words.iter().enumerate() {
            let word = u64::from_le_bytes(*word);
            // `[` and `{` differ in this bit alone, and so do `]` and `}`.
            let folded = word | splat(0x20);
            let shift = 8 * index;
            found.quotes |= equal(word, b'"') << shift;
            found.backslashes |= equal(word, b'\\') << shift;
            found.opens |= equal(folded, b'{') << shift;
            found.closes |= equal(folded, b'}') << shift;
            found.minuses |= equal(word, b'-') << shift;
        }
        found
    }
}

#[inline]
const fn splat(byte: u8) -> u64 {
    byte as u64 * 0x0101_0101_0101_0101
}

/// A bit for each byte of `word` that is `byte`, the lowest for the first.
#[inline]
const fn equal(word: u64, byte: u8) -> u64 {
    let zero_where_equal = word ^ splat(byte);
    let low = splat(0x7f);
    // The high bit of each byte that is zero; no byte reaches into the next.
    let high = !(((zero_where_equal & low) + low) | zero_where_equal | low);
    // Bit 8 i goes to bit 56 + i.
    (high >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

/// What a block leaves to the next.
#[derive(Default)]
struct Strings {
    /// Whether its first byte is escaped: 1 or 0.
    is_escaped: u64,
    /// Whether a string is open: all bits or none.
    is_open: u64,
}

impl Strings {
    /// A bit for each byte inside of a string, with the quote that opens it.
    #[inline]
    fn inside(&mut self, quotes: u64, backslashes: u64) -> u64 {
        let quotes = quotes & !self.escaped(backslashes);
        // Each bit becomes the parity of the quotes up to it.
        let mut inside = quotes;
        for shift in [1, 2, 4, 8, 16, 32] {
            inside ^= inside << shift;
        }
        inside ^= self.is_open;
        self.is_open = 0_u64.wrapping_sub(inside >> 63);
        inside
    }

    /// A bit for each byte behind an odd number of backslashes.
    #[inline]
    fn escaped(&mut self, backslashes: u64) -> u64 {
        const EVEN: u64 = 0x5555_5555_5555_5555;
        if backslashes == 0 {
            return std::mem::take(&mut self.is_escaped);
        }
        let backslashes = backslashes & !self.is_escaped;
        let follows = backslashes << 1 | self.is_escaped;
        // A run that begins at an odd bit: adding carries to its end, and turns what is even.
        let odd_starts = backslashes & !EVEN & !follows;
        let (ends, carries) = odd_starts.overflowing_add(backslashes);
        self.is_escaped = u64::from(carries);
        (EVEN ^ (ends << 1)) & follows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same, a byte at a time; nothing of what is closed too often, which is no document.
    fn plainly(max: u32, bytes: &[u8]) -> Option<Scan> {
        let (mut depth, mut is_open, mut is_escaped) = (0_u32, false, false);
        let mut found = Scan::Plain;
        for (at, byte) in bytes.iter().enumerate() {
            let escapes = std::mem::take(&mut is_escaped);
            match byte {
                b'\\' => is_escaped = !escapes,
                b'"' if !escapes => is_open = !is_open,
                _ if is_open => {}
                b'[' | b'{' if depth == max => return Some(Scan::TooDeep(at)),
                b'[' | b'{' => depth += 1,
                b']' | b'}' => depth = depth.checked_sub(1)?,
                b'-' if negative_zero(&bytes[at..]).is_some() => {
                    found = Scan::NegativeZero;
                }
                _ => {}
            }
        }
        Some(found)
    }

    #[test]
    fn blocks_find_what_a_byte_at_a_time_finds() {
        let alphabet = b"\"\\[[[{{]}a0-1 \x80\xff,:";
        let mut state = 1_u64;
        let (mut plain, mut zeros, mut deep) = (0, 0, 0);
        for round in 0..40_000_usize {
            let bytes = (0..round % 300)
                .map(|_| {
                    state = state
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1_442_695_040_888_963_407);
                    let at = usize::try_from(state >> 33).unwrap();
                    // A third of the rounds is mostly backslashes and quotes.
                    alphabet[if round % 3 == 0 { at % 3 } else { at % alphabet.len() }]
                })
                .collect::<Vec<_>>();
            for max in [1, 3, 128] {
                let Some(expected) = plainly(max, &bytes) else { continue };
                assert_eq!(
                    scan(max, &bytes),
                    expected,
                    "{max}: {}",
                    bytes.escape_ascii()
                );
                *match expected {
                    Scan::Plain => &mut plain,
                    Scan::NegativeZero => &mut zeros,
                    Scan::TooDeep(_) => &mut deep,
                } += 1;
            }
        }
        assert!(plain > 1_000 && zeros > 1_000 && deep > 1_000, "{plain} {zeros} {deep}");
    }

    #[test]
    fn brackets_in_strings_open_and_close_nothing() {
        let text = format!("\"{}\\\"{}\"", "[".repeat(200), "{".repeat(200));
        assert_eq!(scan(1, text.as_bytes()), Scan::Plain);
        let text = r#"["]\"]","#.repeat(129);
        assert_eq!(scan(128, text.as_bytes()), Scan::TooDeep(128 * 8));
    }

    #[test]
    fn negative_zeros_are_told_from_other_numbers() {
        for (text, expected) in [
            ("-0", "-1e-999"),
            ("[-0.0,-0.00e7,-0E+3 ]", "[-1e-999,-1e-999,-1e-999 ]"),
            ("[-0.01,-01,-0.,-1e-0,0.0,\"-0\\\"-0\"]", ""),
        ] {
            let is_changed = !expected.is_empty();
            let found = scan(128, text.as_bytes());
            // An exponent that is -0 is taken for a zero first: the copy is then as it was.
            assert!(is_changed == (found == Scan::NegativeZero) || text.contains("e-0"));
            let expected = if is_changed { expected } else { text };
            assert_eq!(with_negative_zeros(text.as_bytes()), expected.as_bytes());
        }
    }
}
