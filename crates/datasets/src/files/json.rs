//! JSON, strictly RFC 8259, without a stack frame for each level of nesting.

use std::collections::HashSet;
use std::mem;

use super::number::keeps;
use super::text::{Fail, Text, part, shown, tail};
use crate::Value;
use crate::seeded::grouped;

/// Reads a file that is one document.
pub(super) fn document(
    text: &Text<'_>,
    max_depth: u32,
    notes: &mut Vec<String>,
) -> Result<Value, Fail> {
    let mut parser = Parser::new(text.body, max_depth, "the end of the file");
    parser.white_space();
    if parser.peek().is_none() {
        return Err(parser.expected("a JSON document", "; the file is empty"));
    }
    let value = parser.value()?;
    parser.white_space();
    match parser.peek() {
        None => {}
        Some(b'{' | b'[') => {
            let advice = "; if the file has one document a line, read it as NDJSON";
            return Err(parser.expected("the end of the file", advice));
        }
        Some(_) => return Err(parser.expected("the end of the file", "")),
    }
    parser.seen.tell(text, notes);
    Ok(value)
}

/// Reads a file that has one document a line.
pub(super) fn lines(
    text: &Text<'_>,
    max_depth: u32,
    notes: &mut Vec<String>,
) -> Result<Value, Fail> {
    let mut records = Vec::new();
    // The array around the records is a level, too.
    let mut parser = Parser::new("", max_depth.saturating_sub(1), "the end of the line");
    let whole = text.body;
    let mut start = 0;
    while start < whole.len() {
        let end =
            part(whole, start..).find('\n').map_or(whole.len(), |length| start + length);
        parser.text = part(whole, ..end);
        parser.at = start;
        parser.white_space();
        if parser.peek().is_some() {
            records.push(parser.value().map_err(|fail| advise(fail, end))?);
            parser.white_space();
            if parser.peek().is_some() {
                let advice = "; NDJSON has one document a line";
                return Err(parser.expected("the end of the line", advice));
            }
        }
        start = end + 1;
    }
    if records.is_empty() {
        return Err(Fail::new(
            0,
            "expected a JSON document in a line, found no document",
        ));
    }
    parser.seen.tell(text, notes);
    Ok(Value::Array(records))
}

/// A line that ends too early is most often a document over several lines.
fn advise(mut fail: Fail, end: usize) -> Fail {
    if fail.offset == end {
        fail.message.push_str("; if the file is one document over several lines, ");
        fail.message.push_str("read it as JSON");
    }
    fail
}

/// Whether a text is one document of any depth that is allowed.
pub(super) fn is_document(text: &str) -> bool {
    let mut parser = Parser::new(text, super::MAX_DEPTH, "the end");
    parser.white_space();
    parser.value().is_ok() && {
        parser.white_space();
        parser.peek().is_none()
    }
}

/// How often something was seen, and where first.
#[derive(Default)]
struct Tally {
    count: u64,
    first: usize,
}

impl Tally {
    fn add(&mut self, offset: usize) {
        if self.count == 0 {
            self.first = offset;
        }
        self.count += 1;
    }
}

/// What the user should know.
#[derive(Default)]
struct Seen {
    rounded: Tally,
    duplicates: Tally,
    wide: Tally,
}

impl Seen {
    fn tell(&self, text: &Text<'_>, notes: &mut Vec<String>) {
        let rows = [
            (
                &self.rounded,
                "this fraction has digits that a 64-bit float does not keep; the nearest float is \
                 read",
            ),
            (
                &self.duplicates,
                "this object has a key more than once; all its entries are kept, and formats that \
                 keep only one will be found to lose data",
            ),
            (
                &self.wide,
                "this integer needs more than 64 bits; it is kept, and formats without such \
                 integers will refuse it",
            ),
        ];
        for (tally, sentence) in rows {
            let others = match tally.count {
                0 => continue,
                1 => String::new(),
                count => format!(" (the first of {})", grouped(count)),
            };
            notes.push(text.note(tally.first, &format!("{sentence}{others}")));
        }
    }
}

/// An array or object that is not closed yet.
enum Open {
    Array {
        /// Its first element's place among the parser's `elements`.
        first: usize,
    },
    Map {
        /// Its first entry's place among the parser's `entries`.
        first: usize,
        /// The key whose value comes next.
        key: String,
        /// Where in the text it begins.
        start: usize,
    },
}

/// Takes what an array or object holds off the pile, in a vector of just that size: pushing to one
/// vector for each would leave a third of the memory unused.
fn take_from<T>(pile: &mut Vec<T>, first: usize) -> Vec<T> {
    const MANY: usize = 4096;

    if first == 0 && pile.len() > MANY {
        // A copy would need twice the memory for a moment.
        let mut all = mem::take(pile);
        all.shrink_to_fit();
        all
    } else {
        pile.drain(first..).collect()
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    max_depth: u32,
    end_name: &'static str,
    /// What all open arrays hold, outermost first.
    elements: Vec<Value>,
    /// What all open objects hold, outermost first.
    entries: Vec<(Value, Value)>,
    seen: Seen,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, max_depth: u32, end_name: &'static str) -> Self {
        Self {
            text,
            at: 0,
            max_depth,
            end_name,
            elements: Vec::new(),
            entries: Vec::new(),
            seen: Seen::default(),
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &'a [u8] {
        tail(self.text.as_bytes(), self.at)
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn white_space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    /// What stands here is not what should.
    fn expected(&self, what: &str, advice: &str) -> Fail {
        let next = self.text.get(self.at..).and_then(|rest| rest.chars().next());
        let found = next.map_or_else(|| self.end_name.to_owned(), shown);
        Fail::new(self.at, format!("expected {what}, found {found}{advice}"))
    }

    fn value(&mut self) -> Result<Value, Fail> {
        let mut open: Vec<Open> = Vec::new();
        loop {
            let mut value = match self.peek() {
                Some(b'[') => {
                    self.enter(open.len())?;
                    if !self.take(b']') {
                        open.push(Open::Array { first: self.elements.len() });
                        continue;
                    }
                    Value::Array(Vec::new())
                }
                Some(b'{') => {
                    let start = self.at;
                    self.enter(open.len())?;
                    if !self.take(b'}') {
                        let key = self.key("a key in double quotes or `}`", "")?;
                        open.push(Open::Map { first: self.entries.len(), key, start });
                        continue;
                    }
                    Value::Map(Vec::new())
                }
                _ => self.scalar(&open)?,
            };
            // A value is whole: it goes where it belongs, and may be the last there.
            loop {
                self.white_space_after(&open);
                match open.last_mut() {
                    None => return Ok(value),
                    Some(Open::Array { first }) => {
                        self.elements.push(value);
                        if self.take(b',') {
                            self.white_space();
                            break;
                        }
                        if !self.take(b']') {
                            return Err(self.expected("`,` or `]`", ""));
                        }
                        value = Value::Array(take_from(&mut self.elements, *first));
                    }
                    Some(Open::Map { first, key, start }) => {
                        self.entries.push((Value::Str(mem::take(key)), value));
                        if self.take(b',') {
                            *key = self.next_key()?;
                            break;
                        }
                        if !self.take(b'}') {
                            return Err(self.expected("`,` or `}`", ""));
                        }
                        let entries = take_from(&mut self.entries, *first);
                        if has_duplicates(&entries) {
                            self.seen.duplicates.add(*start);
                        }
                        value = Value::Map(entries);
                    }
                }
                open.pop();
            }
        }
    }

    /// A key behind a comma.
    fn next_key(&mut self) -> Result<String, Fail> {
        self.white_space();
        let advice = match self.peek() {
            Some(b'}') => "; JSON has no comma behind the last entry",
            _ => "",
        };
        self.key("a key in double quotes", advice)
    }

    /// White space behind a value belongs to the array or object around it.
    fn white_space_after(&mut self, open: &[Open]) {
        if !open.is_empty() {
            self.white_space();
        }
    }

    /// Passes an opening bracket.
    fn enter(&mut self, depth: usize) -> Result<(), Fail> {
        if depth >= self.max_depth as usize {
            let message = format!("nesting deeper than the limit of {}", self.max_depth);
            return Err(Fail::new(self.at, message));
        }
        self.at += 1;
        self.white_space();
        Ok(())
    }

    /// A key, its colon, and the white space around.
    fn key(&mut self, what: &str, advice: &str) -> Result<String, Fail> {
        if self.peek() != Some(b'"') {
            return Err(self.expected(what, advice));
        }
        let key = self.string()?;
        self.white_space();
        if !self.take(b':') {
            return Err(self.expected("`:`", ""));
        }
        self.white_space();
        Ok(key)
    }

    /// Anything but an array or an object.
    fn scalar(&mut self, open: &[Open]) -> Result<Value, Fail> {
        match self.peek() {
            Some(b'"') => self.string().map(Value::Str),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(byte) => {
                let literals = [
                    ("null", Value::Null),
                    ("true", Value::Bool(true)),
                    ("false", Value::Bool(false)),
                ];
                for (word, value) in literals {
                    if self.rest().starts_with(word.as_bytes()) {
                        self.at += word.len();
                        return Ok(value);
                    }
                }
                let advice = match (byte, open.last()) {
                    (b']', Some(Open::Array { first }))
                        if self.elements.len() > *first =>
                    {
                        "; JSON has no comma behind the last element"
                    }
                    (b'\'', _) => "; JSON has text in double quotes",
                    (b'/' | b'#', _) => "; JSON has no comments",
                    (b'N' | b'I', _) => "; JSON has neither NaN nor Infinity",
                    (b'+' | b'.', _) => "; numbers in JSON begin with a digit or `-`",
                    _ => "",
                };
                Err(self.expected("a value", advice))
            }
            None => Err(self.expected("a value", "")),
        }
    }

    fn string(&mut self) -> Result<String, Fail> {
        self.at += 1;
        let mut string = String::new();
        loop {
            let rest = self.rest();
            let plain =
                rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1f));
            let plain = plain.unwrap_or(rest.len());
            // All three stand for themselves in UTF-8, so this cuts between characters.
            string.push_str(part(self.text, self.at..self.at + plain));
            self.at += plain;
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(string);
                }
                Some(b'\\') => string.push(self.escape()?),
                Some(_) => {
                    let advice = "; control characters in text are written with `\\`";
                    return Err(self.expected("text or a double quote", advice));
                }
                None => {
                    return Err(self.expected("a double quote that closes the text", ""));
                }
            }
        }
    }

    fn escape(&mut self) -> Result<char, Fail> {
        let start = self.at;
        self.at += 1;
        let character = match self.peek() {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode(start),
            _ => return Err(self.expected("one of `\"\\/bfnrtu` behind `\\`", "")),
        };
        self.at += 1;
        Ok(character)
    }

    /// `\u` and four digits, twice for what does not fit in 16 bits.
    fn unicode(&mut self, start: usize) -> Result<char, Fail> {
        let first = self.hex()?;
        let mut code = first;
        if (0xd800..0xdc00).contains(&first) && self.rest().starts_with(b"\\u") {
            self.at += 1;
            let second = self.hex()?;
            if (0xdc00..0xe000).contains(&second) {
                code = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
            }
        }
        char::from_u32(code).ok_or_else(|| {
            let message = format!(
                "expected a pair of surrogates, found \\u{first:04x} alone; no Unicode text \
                 holds it"
            );
            Fail::new(start, message)
        })
    }

    /// `u` and four digits.
    fn hex(&mut self) -> Result<u32, Fail> {
        let mut code = 0;
        for _ in 0..4 {
            self.at += 1;
            let digit = self.peek().and_then(|byte| char::from(byte).to_digit(16));
            let digit = digit.ok_or_else(|| {
                self.expected("four hexadecimal digits behind `\\u`", "")
            })?;
            code = code * 16 + digit;
        }
        self.at += 1;
        Ok(code)
    }

    fn digits(&mut self) -> Result<(), Fail> {
        if !matches!(self.peek(), Some(b'0'..=b'9')) {
            return Err(self.expected("a digit", ""));
        }
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        Ok(())
    }

    fn number(&mut self) -> Result<Value, Fail> {
        let start = self.at;
        let negative = self.take(b'-');
        if self.take(b'0') {
            if let Some(b'0'..=b'9') = self.peek() {
                return Err(Fail::new(start, "numbers in JSON have no zeros in front"));
            }
        } else {
            self.digits()?;
        }
        let mut whole = true;
        if self.take(b'.') {
            whole = false;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            whole = false;
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.digits()?;
        }
        let text = part(self.text, start..self.at);
        if whole && text != "-0" {
            self.integer(start, text, negative)
        } else {
            self.float(start, text)
        }
    }

    fn integer(
        &mut self,
        start: usize,
        text: &str,
        negative: bool,
    ) -> Result<Value, Fail> {
        let value = if negative {
            text.parse::<i128>().ok().map(Value::from)
        } else {
            // By far most numbers fit, and the narrow type is read several times as fast.
            let narrow = text.parse::<u64>().ok().map(Value::from);
            narrow.or_else(|| text.parse::<u128>().ok().map(Value::from))
        };
        let value = value.ok_or_else(|| {
            let digits = text.len() - usize::from(negative);
            let message = format!(
                "expected an integer of at most 128 bits, found one of {digits} digits; as text in \
                 double quotes it would stay exact"
            );
            Fail::new(start, message)
        })?;
        if let Value::U128(_) | Value::I128(_) = value {
            self.seen.wide.add(start);
        }
        Ok(value)
    }

    fn float(&mut self, start: usize, text: &str) -> Result<Value, Fail> {
        // What passed the grammar above is a number for `f64`, too.
        let float: f64 = text.parse().unwrap_or(f64::NAN);
        if !float.is_finite() {
            let message = "expected a number within the range of a 64-bit float, found one beyond; \
                           as text in double quotes it would stay exact";
            return Err(Fail::new(start, message));
        }
        if !keeps(text, float) {
            self.seen.rounded.add(start);
        }
        Ok(Value::F64(float))
    }
}

/// Whether a key stands more than once, in linear time for large objects.
fn has_duplicates(entries: &[(Value, Value)]) -> bool {
    const FEW: usize = 16;

    if entries.len() <= FEW {
        let repeats = |(index, (key, _)): (usize, &(Value, Value))| {
            entries.iter().take(index).any(|(earlier, _)| earlier == key)
        };
        entries.iter().enumerate().any(repeats)
    } else {
        let mut seen = HashSet::with_capacity(entries.len());
        !entries.iter().filter_map(|(key, _)| key.as_str()).all(|key| seen.insert(key))
    }
}
