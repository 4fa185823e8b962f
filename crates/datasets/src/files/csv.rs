//! CSV after RFC 4180, with the place of every field.
//!
//! Written here rather than taken from a library, since the usual one does not tell where in
//! the file a field stands, whether it was in quotes, or that a quote was never closed.

use std::borrow::Cow;

use super::text::{Fail, Text, part, shown, tail};
use crate::Value;

/// Reads a header line and rows.
pub(super) fn rows(
    text: &Text<'_>,
    delimiter: Option<u8>,
    strings: bool,
    notes: &mut Vec<String>,
) -> Result<Value, Fail> {
    let delimiter = delimiter.unwrap_or_else(|| guess_delimiter(text, notes));
    let mut reader = Reader::new(text.body, delimiter);
    let mut row = Vec::new();
    if !reader.next(&mut row)? {
        return Err(Fail::new(0, "expected a header line, found the end of the file"));
    }
    let names = header(&row)?;
    let columns = if strings {
        vec![Kind::Text; names.len()]
    } else {
        kinds(reader.clone(), &names, text, notes)?
    };
    let mut records = Vec::new();
    while reader.next(&mut row)? {
        check_length(&row, &names, reader.end)?;
        let entries =
            names.iter().zip(&columns).zip(&row).map(|((name, kind), field)| {
                let value = if strings { text_of(field) } else { kind.read(field) };
                (Value::from(name.as_str()), value)
            });
        records.push(Value::Map(entries.collect()));
    }
    if records.is_empty() {
        let message = "expected a row behind the header line, found the end of the file";
        return Err(Fail::new(text.body.len(), message));
    }
    Ok(Value::Array(records))
}

/// The comma, unless the header line has none and something else instead.
fn guess_delimiter(text: &Text<'_>, notes: &mut Vec<String>) -> u8 {
    let header = text.body.lines().find(|line| !line.is_empty()).unwrap_or_default();
    for (byte, name) in [(b',', None), (b'\t', Some("tabs")), (b';', Some("semicolons"))]
    {
        if header.as_bytes().contains(&byte) {
            if let Some(name) = name {
                let note =
                    format!("the header line has no comma; {name} separate the fields");
                notes.push(text.note(0, &note));
            }
            return byte;
        }
    }
    b','
}

/// The names of the columns.
fn header(row: &[Field<'_>]) -> Result<Vec<String>, Fail> {
    let mut names: Vec<String> = Vec::with_capacity(row.len());
    let mut seen = std::collections::HashMap::with_capacity(row.len());
    for (index, field) in row.iter().enumerate() {
        let number = index + 1;
        if field.text.is_empty() {
            let message =
                format!("expected a name for column {number}, found an empty field");
            return Err(Fail::new(field.offset, message));
        }
        if let Some(earlier) = seen.insert(field.text.as_ref(), number) {
            let message = format!(
                "expected a name of its own for column {number}, found `{}` as for column {earlier}",
                field.text
            );
            return Err(Fail::new(field.offset, message));
        }
        names.push(field.text.clone().into_owned());
    }
    Ok(names)
}

fn check_length(row: &[Field<'_>], names: &[String], end: usize) -> Result<(), Fail> {
    let (wanted, found) = (names.len(), row.len());
    let what = |advice: String| {
        let plural = if wanted == 1 { "" } else { "s" };
        format!(
            "expected {wanted} field{plural} as in the header line, found {found}; {advice}"
        )
    };
    match (names.get(found), row.get(wanted)) {
        (None, None) => Ok(()),
        (Some(missing), _) => {
            Err(Fail::new(end, what(format!("`{missing}` is missing"))))
        }
        (None, Some(surplus)) => Err(Fail::new(
            surplus.offset,
            what("the first one too many begins here".into()),
        )),
    }
}

/// What all fields of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Empty, all of them so far.
    Empty,
    Bool,
    Integer,
    Float,
    Text,
}

impl Kind {
    /// What one field is by itself.
    fn of(field: &Field<'_>) -> Self {
        let text = field.text.as_ref();
        if field.quoted {
            Self::Text
        } else if text.is_empty() {
            Self::Empty
        } else if matches!(text, "true" | "false") {
            Self::Bool
        } else if integer(text).is_some() {
            Self::Integer
        } else if float(text).is_some() {
            Self::Float
        } else {
            Self::Text
        }
    }

    /// Reads a field of a column of this kind.
    fn read(self, field: &Field<'_>) -> Value {
        let text = field.text.as_ref();
        if text.is_empty() && !field.quoted {
            return Value::Null;
        }
        let value = match self {
            Self::Bool => Some(Value::Bool(text == "true")),
            Self::Integer => integer(text),
            Self::Float => text.parse().ok().map(Value::F64),
            Self::Empty | Self::Text => None,
        };
        value.unwrap_or_else(|| text_of(field))
    }
}

/// What is known of a column while its fields pass by.
struct Column {
    kind: Kind,
    /// Whether its whole numbers would print back as floats, too.
    floats: bool,
    /// Whether all its fields look like numbers, and the first that does not print back.
    numeric: bool,
    first: Option<(usize, String)>,
}

impl Column {
    const fn new() -> Self {
        Self { kind: Kind::Empty, floats: true, numeric: true, first: None }
    }

    fn add(&mut self, field: &Field<'_>) {
        if self.kind == Kind::Text && !self.numeric {
            return;
        }
        let kind = Kind::of(field);
        if kind == Kind::Integer {
            self.floats = self.floats && float(&field.text).is_some();
        }
        self.kind = match (self.kind, kind) {
            (one, other) if one == other => one,
            (Kind::Empty, kind) | (kind, Kind::Empty) => kind,
            (Kind::Integer, Kind::Float) | (Kind::Float, Kind::Integer)
                if self.floats =>
            {
                Kind::Float
            }
            _ => Kind::Text,
        };
        match kind {
            Kind::Text if !field.quoted && looks_numeric(&field.text) => {
                let place = || (field.offset, field.text.clone().into_owned());
                self.first.get_or_insert_with(place);
            }
            Kind::Text | Kind::Bool => self.numeric = false,
            Kind::Empty | Kind::Integer | Kind::Float => {}
        }
    }
}

fn text_of(field: &Field<'_>) -> Value {
    Value::from(field.text.as_ref())
}

/// A whole number that prints back to `text`.
fn integer(text: &str) -> Option<Value> {
    let digits = text.strip_prefix('-').unwrap_or(text).as_bytes();
    let plain = match digits {
        [b'0'] => digits.len() == text.len(),
        [b'1'..=b'9', rest @ ..] => rest.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    if !plain {
        return None;
    }
    let narrow = text.parse::<i64>().ok().map(Value::from);
    narrow
        .or_else(|| text.parse::<i128>().ok().map(Value::from))
        .or_else(|| text.parse::<u128>().ok().map(Value::from))
}

/// A fraction, or a whole number that a 64-bit float holds exactly, that prints back to `text`.
fn float(text: &str) -> Option<f64> {
    // No float is longer when it is written without an exponent; so a long field costs nothing.
    const LONGEST: usize = 400;
    // Floats hold all whole numbers of so many digits. Larger ones print back as well, if their
    // last digits are zeros, yet are not always exact.
    const WHOLE: usize = 15;

    let digits = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'-' | b'.'));
    if !digits || text.len() > if text.contains('.') { LONGEST } else { WHOLE } {
        return None;
    }
    let float: f64 = text.parse().ok()?;
    (integer(text).is_some() || float.to_string() == text).then_some(float)
}

/// Looks at all rows, to know what each column is.
fn kinds(
    mut reader: Reader<'_>,
    names: &[String],
    text: &Text<'_>,
    notes: &mut Vec<String>,
) -> Result<Vec<Kind>, Fail> {
    let mut columns: Vec<Column> = names.iter().map(|_| Column::new()).collect();
    let mut row = Vec::new();
    while reader.next(&mut row)? {
        check_length(&row, names, reader.end)?;
        for (column, field) in columns.iter_mut().zip(&row) {
            column.add(field);
        }
    }
    for (name, column) in names.iter().zip(&columns) {
        if let (Kind::Text, true, Some((offset, field))) =
            (column.kind, column.numeric, &column.first)
        {
            let sentence = format!(
                "the column `{name}` is text, since a number would not print back as `{field}`"
            );
            notes.push(text.note(*offset, &sentence));
        }
    }
    Ok(columns.iter().map(|column| column.kind).collect())
}

/// Whether somebody who sees the field would call it a number.
fn looks_numeric(text: &str) -> bool {
    text.starts_with(|first: char| {
        first.is_ascii_digit() || matches!(first, '+' | '-' | '.')
    }) && text.parse::<f64>().is_ok_and(f64::is_finite)
}

/// A field and its place.
struct Field<'a> {
    text: Cow<'a, str>,
    quoted: bool,
    offset: usize,
}

/// Reads row after row.
#[derive(Clone)]
struct Reader<'a> {
    text: &'a str,
    delimiter: u8,
    at: usize,
    /// Where the last row's last field ended.
    end: usize,
}

impl<'a> Reader<'a> {
    const fn new(text: &'a str, delimiter: u8) -> Self {
        Self { text, delimiter, at: 0, end: 0 }
    }

    fn rest(&self) -> &'a [u8] {
        tail(self.text.as_bytes(), self.at)
    }

    /// Passes the end of a line, if it is here.
    fn take_line_end(&mut self) -> bool {
        let length = match self.rest() {
            [b'\n', ..] => 1,
            [b'\r', b'\n', ..] => 2,
            _ => return false,
        };
        self.at += length;
        true
    }

    /// Reads the next row that is not empty; false at the end of the file.
    fn next(&mut self, row: &mut Vec<Field<'a>>) -> Result<bool, Fail> {
        row.clear();
        while self.take_line_end() {}
        if self.rest().is_empty() {
            return Ok(false);
        }
        loop {
            row.push(self.field()?);
            self.end = self.at;
            match self.rest() {
                [] => return Ok(true),
                [byte, ..] if *byte == self.delimiter => self.at += 1,
                _ if self.take_line_end() => return Ok(true),
                _ => {
                    let next = part(self.text, self.at..)
                        .chars()
                        .next()
                        .map_or_else(String::new, shown);
                    let message = format!(
                        "expected {} or the end of the line, found {next}; quotes inside a \
                         field in quotes are doubled, and lines end with LF or CRLF",
                        shown(char::from(self.delimiter))
                    );
                    return Err(Fail::new(self.at, message));
                }
            }
        }
    }

    fn field(&mut self) -> Result<Field<'a>, Fail> {
        let offset = self.at;
        if self.rest().first() == Some(&b'"') {
            return self.quoted(offset);
        }
        let delimiter = self.delimiter;
        let ends = |&byte: &u8| byte == delimiter || matches!(byte, b'\n' | b'\r');
        let length = self.rest().iter().position(ends).unwrap_or(self.rest().len());
        self.at += length;
        let text = Cow::Borrowed(part(self.text, offset..self.at));
        Ok(Field { text, quoted: false, offset })
    }

    fn quoted(&mut self, offset: usize) -> Result<Field<'a>, Fail> {
        self.at += 1;
        let mut text = Cow::Borrowed("");
        loop {
            let Some(length) = self.rest().iter().position(|&byte| byte == b'"') else {
                return Err(Fail::new(
                    offset,
                    "expected a closing quote for this one, found none",
                ));
            };
            let part = part(self.text, self.at..self.at + length);
            self.at += length + 1;
            if text.is_empty() {
                text = Cow::Borrowed(part);
            } else {
                text.to_mut().push_str(part);
            }
            if self.rest().first() != Some(&b'"') {
                return Ok(Field { text, quoted: true, offset });
            }
            self.at += 1;
            text.to_mut().push('"');
        }
    }
}
