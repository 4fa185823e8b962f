//! What is wrong with a document that the library refused: it tells neither whether the input
//! ends too early nor, for most faults, where it is.
//!
//! The grammar of RFC 8259, one pass, no recursion. It is asked only after a failure.

use wiremark_core::ErrorKind;

/// The kind and the offset of the first fault; none if the grammar finds no fault, as with a
/// number that is too large.
pub(crate) fn of(bytes: &[u8]) -> Option<(ErrorKind, usize)> {
    let text = match std::str::from_utf8(bytes) {
        Ok(_) => None,
        Err(error) if error.error_len().is_none() => Some(bytes.len()),
        Err(error) => Some(error.valid_up_to()),
    };
    let offset = match (document(bytes).err(), text) {
        (Some(grammar), Some(text)) => grammar.min(text),
        (grammar, text) => grammar.or(text)?,
    };
    let kind = if offset < bytes.len() { ErrorKind::Syntax } else { ErrorKind::Eof };
    Some((kind, offset))
}

/// Where a part ends, or the offset of the byte at fault: the input's length if one is missing.
type Next = Result<usize, usize>;

/// What may come next.
#[derive(Clone, Copy)]
enum Wanted {
    Value,
    /// A value, or the end of an array that has just begun.
    ValueOrEnd,
    Key,
    /// A key, or the end of an object that has just begun.
    KeyOrEnd,
    /// A comma or the end of what is open; the end of the input if nothing is.
    Separator,
}

fn document(bytes: &[u8]) -> Result<(), usize> {
    // The bytes that close what is open.
    let mut open: Vec<u8> = Vec::new();
    let mut wanted = Wanted::Value;
    let mut at = 0;
    loop {
        at = blanks(bytes, at);
        let Some(&byte) = bytes.get(at) else {
            return match (wanted, open.last()) {
                (Wanted::Separator, None) => Ok(()),
                _ => Err(bytes.len()),
            };
        };
        (wanted, at) = match (wanted, byte) {
            (Wanted::ValueOrEnd | Wanted::KeyOrEnd | Wanted::Separator, b']' | b'}')
                if open.last() == Some(&byte) =>
            {
                open.pop();
                (Wanted::Separator, at + 1)
            }
            (Wanted::Separator, b',') => match open.last() {
                Some(b']') => (Wanted::Value, at + 1),
                Some(_) => (Wanted::Key, at + 1),
                None => return Err(at),
            },
            (Wanted::Key | Wanted::KeyOrEnd, b'"') => {
                let colon = blanks(bytes, string(bytes, at)?);
                (Wanted::Value, literal(bytes, colon, b":")?)
            }
            (Wanted::Value | Wanted::ValueOrEnd, _) => match byte {
                b'[' => {
                    open.push(b']');
                    (Wanted::ValueOrEnd, at + 1)
                }
                b'{' => {
                    open.push(b'}');
                    (Wanted::KeyOrEnd, at + 1)
                }
                b'"' => (Wanted::Separator, string(bytes, at)?),
                b't' => (Wanted::Separator, literal(bytes, at, b"true")?),
                b'f' => (Wanted::Separator, literal(bytes, at, b"false")?),
                b'n' => (Wanted::Separator, literal(bytes, at, b"null")?),
                _ => (Wanted::Separator, number(bytes, at)?),
            },
            _ => return Err(at),
        };
    }
}

fn blanks(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    let is_blank = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
    at + rest.iter().take_while(is_blank).count()
}

fn literal(bytes: &[u8], at: usize, literal: &[u8]) -> Next {
    literal.iter().zip(at..).try_for_each(|(byte, at)| match bytes.get(at) {
        Some(found) if found == byte => Ok(()),
        _ => Err(at),
    })?;
    Ok(at + literal.len())
}

/// A string whose first quote is at `at`.
fn string(bytes: &[u8], at: usize) -> Next {
    let mut at = at + 1;
    loop {
        match bytes.get(at) {
            Some(b'"') => return Ok(at + 1),
            Some(b'\\') => {
                at += match bytes.get(at + 1) {
                    Some(b'u') => {
                        for digit in at + 2..at + 6 {
                            if !bytes.get(digit).is_some_and(u8::is_ascii_hexdigit) {
                                return Err(digit);
                            }
                        }
                        6
                    }
                    Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => 2,
                    _ => return Err(at + 1),
                }
            }
            Some(0x20..) => at += 1,
            _ => return Err(at),
        }
    }
}

fn number(bytes: &[u8], at: usize) -> Next {
    let mut at = at + usize::from(bytes.get(at) == Some(&b'-'));
    at = match bytes.get(at) {
        Some(b'0') => at + 1,
        _ => digits(bytes, at)?,
    };
    if bytes.get(at) == Some(&b'.') {
        at = digits(bytes, at + 1)?;
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        let is_signed = matches!(bytes.get(at + 1), Some(b'+' | b'-'));
        at = digits(bytes, at + 1 + usize::from(is_signed))?;
    }
    Ok(at)
}

/// At least one digit.
fn digits(bytes: &[u8], at: usize) -> Next {
    let rest = bytes.get(at..).unwrap_or_default();
    match rest.iter().take_while(|byte| byte.is_ascii_digit()).count() {
        0 => Err(at),
        count => Ok(at + count),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_has_no_fault_and_each_prefix_of_it_is_cut() {
        let document = r#" {"a\u12fe\n":[-0.5e+7,1E-2,0,10,[],{}],"b":{"c":[true,false,null]}, "":"caf\u00e9 é"} "#.as_bytes();
        assert_eq!(of(document), None);
        for cut in 0..document.len() - 1 {
            assert_eq!(of(&document[..cut]), Some((ErrorKind::Eof, cut)), "{cut}");
        }
    }

    #[test]
    fn the_first_byte_at_fault_is_found() {
        for (text, offset) in [
            (&b"[1;2]"[..], 2),
            (b"[1,]", 3),
            (b"[,", 1),
            (b"{\"a\":1,}", 7),
            (b"{1", 1),
            (b"{\"a\" 1", 5),
            (b"[}", 1),
            (b"1 2", 2),
            (b"1,", 1),
            (b"]", 0),
            (b"01", 1),
            (b"+1", 0),
            (b"-x", 1),
            (b"1.x", 2),
            (b"1ex", 2),
            (b"trux", 3),
            (b"\"\x1f", 1),
            (b"\"\\x", 2),
            (b"\"\\u12g", 5),
            (b"\"\xff\"", 1),
            (b"[;\"\xff\"", 1),
        ] {
            let expected = Some((ErrorKind::Syntax, offset));
            assert_eq!(of(text), expected, "{}", text.escape_ascii());
        }
    }
}
