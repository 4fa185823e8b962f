//! The user's own data: JSON, NDJSON and CSV files as a [`Dataset`] of [`Value`]s.
//!
//! A file says what it says: whole numbers are exact up to 128 bits, keys keep their order and
//! their duplicates, and what cannot be kept is either an error with file, line and column, or
//! told by [`OwnData::notes`]. Reading takes time and memory in proportion to the file.
//!
//! # JSON
//! Strictly RFC 8259. A top-level array is a sequence of records, anything else one document.
//!
//! | in the file | treatment |
//! | --- | --- |
//! | a whole number up to 128 bits | exact; a note if it needs more than 64 |
//! | a whole number beyond | error |
//! | `-0` | the float `-0.0`, since no integer keeps the sign |
//! | a fraction or an exponent | the nearest `f64`; a note if digits are lost by that |
//! | a number beyond `f64`, like `1e400` | error |
//! | a key more than once in one object | all are kept, with a note |
//! | a surrogate without its pair: `"\ud800"` | error, since no Unicode text holds it |
//! | a byte order mark | skipped, with a note |
//! | UTF-16, invalid UTF-8, compressed files | error |
//! | nesting deeper than [`Options::max_depth`] | error |
//! | anything behind the document | error |
//! | nothing at all | error |
//!
//! # NDJSON
//! One JSON document a line, LF or CRLF; lines of white space are skipped. The array of the
//! records is one level of nesting. A file without a record is an error.
//!
//! # CSV
//! RFC 4180 with a header line, LF or CRLF; empty lines are skipped. A quote inside a field that
//! does not begin with one is a character like any other. Fields are separated by commas; in
//! files named `.tsv` by tabs; where the header line has no comma but tabs or semicolons, by
//! those, with a note.
//!
//! A *column* is whole numbers, fractions, or true and false, if each of its fields is one and
//! prints back to the very same text: whole numbers up to 128 bits, and fractions as the
//! shortest decimal without an exponent, among which whole numbers of up to 15 digits may
//! stand. Else it is text: `007`, `1.50` and `+1` stay what they are. An empty field is null. A
//! field in quotes is text, even if it is empty, and so its column is. With
//! [`Options::csv_strings`] every field is text.
//!
//! Rows with more or fewer fields than the header line, names in it that are empty or stand
//! twice, quotes that are not closed or that are followed by something, and a file without
//! a row are errors.

#![deny(
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic
)]

mod csv;
mod json;
mod number;
mod text;

use std::fmt;
use std::str::FromStr;

use crate::seeded::grouped;
use crate::{About, Dataset, Value};

pub use text::FileError;
use text::Text;

/// How a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// One JSON document.
    Json,
    /// One JSON document a line.
    Ndjson,
    /// A header line, then rows.
    Csv,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Json, Self::Ndjson, Self::Csv];

    /// The format as a user names it: `json`, `ndjson`, `csv`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Ndjson => "ndjson",
            Self::Csv => "csv",
        }
    }

    /// The format that a file's name stands for, if its extension is known.
    ///
    /// ```
    /// use wiremark_datasets::files::Format;
    ///
    /// assert_eq!(Format::of_name("data/orders.JSONL"), Some(Format::Ndjson));
    /// assert_eq!(Format::of_name("orders"), None);
    /// ```
    pub fn of_name(name: &str) -> Option<Self> {
        match extension(name)?.to_ascii_lowercase().as_str() {
            "json" | "geojson" => Some(Self::Json),
            "ndjson" | "jsonl" => Some(Self::Ndjson),
            "csv" | "tsv" => Some(Self::Csv),
            _ => None,
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Json => "JSON",
            Self::Ndjson => "NDJSON",
            Self::Csv => "CSV",
        })
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "json" => Ok(Self::Json),
            "ndjson" | "jsonl" => Ok(Self::Ndjson),
            "csv" | "tsv" => Ok(Self::Csv),
            other => Err(format!("expected json, ndjson or csv, found `{other}`")),
        }
    }
}

/// How a file is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// How the file is written; where it is `None`, its name tells, else its content.
    pub format: Option<Format>,
    /// Whether every field of a CSV file is text.
    pub csv_strings: bool,
    /// How deep arrays and objects may nest: 1 is an array of numbers. At most 1,000.
    pub max_depth: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self { format: None, csv_strings: false, max_depth: 128 }
    }
}

/// The deepest nesting that [`Options::max_depth`] can allow: values are dropped, cloned and
/// compared on the stack.
const MAX_DEPTH: u32 = 1_000;

/// Reads a file's bytes. `name` is what errors call it, and tells the format where
/// [`Options::format`] does not; `-` stands for standard input.
///
/// # Errors
/// See the tables of [this module](self). The error names file, line and column.
///
/// ```
/// use wiremark_datasets::{Dataset, Value, files};
///
/// let options = files::Options::default();
/// let file = b"{\"id\": 7, \"item\": \"lamp\"}\n{\"id\": 8, \"item\": \"desk\"}\n";
/// let orders = files::read("data/orders.ndjson", file, &options)?;
/// assert_eq!(orders.items().len(), 2);
/// assert_eq!(orders.items()[1].get("id"), Some(&Value::from(8)));
/// assert_eq!(orders.about().id, "orders");
///
/// let error = files::read("orders.ndjson", b"{\"id\": 7}\n{\"id\": }\n", &options).unwrap_err();
/// assert_eq!(error.to_string(), "orders.ndjson:2:8: expected a value, found `}`");
/// # Ok::<(), files::FileError>(())
/// ```
pub fn read(name: &str, bytes: &[u8], options: &Options) -> Result<OwnData, FileError> {
    let text = Text::new(name, bytes)?;
    let max_depth = options.max_depth.min(MAX_DEPTH);
    let format = options
        .format
        .or_else(|| Format::of_name(name))
        .unwrap_or_else(|| of_content(text.body));
    let mut notes = Vec::new();
    if text.skipped > 0 {
        notes.push(format!("{name}: the byte order mark at the start is skipped"));
    }
    let parsed = match format {
        Format::Json => json::document(&text, max_depth, &mut notes),
        Format::Ndjson => json::lines(&text, max_depth, &mut notes),
        Format::Csv => csv::rows(&text, delimiter(name), options.csv_strings, &mut notes),
    };
    let value = parsed.map_err(|fail| text.error(fail))?;
    Ok(OwnData { about: about(name, bytes.len(), format, &value), format, notes, value })
}

/// A user's file as a dataset: its [`Value`] is the document, or the array of its records.
///
/// The records are the elements of a top-level JSON array, the lines of an NDJSON file, or the
/// rows of a CSV file; where there are none, the document itself is the only record. So there
/// is always one.
#[derive(Clone, Debug)]
pub struct OwnData {
    about: About,
    format: Format,
    notes: Vec<String>,
    value: Value,
}

impl OwnData {
    /// The same data under another id, for a caller who reads several files of one name.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<String>) -> Self {
        self.about.id = id.into();
        self
    }

    /// How the file was written.
    pub const fn format(&self) -> Format {
        self.format
    }

    /// What the user should know of how the file was read, a sentence each with the place:
    /// digits that a float cannot keep, duplicate keys, a guessed separator. Empty for most
    /// files.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }
}

impl Dataset for OwnData {
    type Value = Value;
    type Item = Value;
    type Borrowed<'de> = Value;
    const BORROWS: bool = false;

    fn about(&self) -> About {
        self.about.clone()
    }

    fn value(&self) -> &Value {
        &self.value
    }

    fn sibling(&self) -> Value {
        let mut value = self.value.clone();
        if !change_scalar(&mut value) {
            change_nothing(&mut value);
        }
        value
    }

    fn items(&self) -> &[Value] {
        items(&self.value)
    }

    fn is_same(borrowed: &Value, value: &Value) -> bool {
        borrowed == value
    }
}

fn items(value: &Value) -> &[Value] {
    match value {
        Value::Array(array) if !array.is_empty() => array,
        other => std::slice::from_ref(other),
    }
}

fn about(name: &str, bytes: usize, format: Format, value: &Value) -> About {
    let name = if name == "-" { "stdin" } else { file_name(name) };
    let records = items(value).len() as u64;
    let counted = |number: u64, noun: &str| {
        let plural = if number == 1 { "" } else { "s" };
        format!("{} {noun}{plural}", grouped(number))
    };
    let bytes = counted(bytes as u64, "byte");
    About {
        // One word, as filters and tables want it.
        id: stem(name).split_whitespace().collect::<Vec<_>>().join("-"),
        title: format!("{}, {bytes} of {format}", counted(records, "record")),
        source: name.to_owned(),
        records,
        origin: String::new(),
        needs_self_describing: true,
    }
}

/// Changes the first number, truth value or text; false if there is none.
fn change_scalar(value: &mut Value) -> bool {
    match value {
        Value::Null => return false,
        Value::Bool(value) => *value = !*value,
        // The lowest bit: the number stays of the same size in every format, and a float finite.
        Value::U64(number) => *number ^= 1,
        Value::I64(number) => *number ^= 1,
        Value::U128(number) => *number ^= 1,
        Value::I128(number) => *number ^= 1,
        Value::F64(number) => *number = f64::from_bits(number.to_bits() ^ 1),
        Value::Str(text) => text.push('x'),
        Value::Bytes(bytes) => bytes.push(b'x'),
        Value::Array(array) => return array.iter_mut().any(change_scalar),
        Value::Map(map) => return map.iter_mut().any(|(_, value)| change_scalar(value)),
    }
    true
}

/// Puts something into the first null, empty array or empty map.
fn change_nothing(value: &mut Value) -> bool {
    match value {
        Value::Null => *value = Value::Bool(true),
        Value::Array(array) if array.is_empty() => array.push(Value::Null),
        Value::Map(map) if map.is_empty() => map.push(("x".into(), Value::Null)),
        Value::Array(array) => return array.iter_mut().any(change_nothing),
        Value::Map(map) => return map.iter_mut().any(|(_, value)| change_nothing(value)),
        _ => return false,
    }
    true
}

/// The format of a file whose name says nothing: NDJSON if its first line is a document and
/// another line follows, JSON if its first line begins like a document, else CSV.
fn of_content(text: &str) -> Format {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let Some(first) = lines.next() else { return Format::Json };
    if lines.next().is_none() {
        // One line can be any of the three, but a CSV file has two.
        return Format::Json;
    }
    if json::is_document(first) {
        Format::Ndjson
    } else if first.trim_start().starts_with(['{', '[']) {
        Format::Json
    } else {
        Format::Csv
    }
}

/// The separator that a name stands for.
fn delimiter(name: &str) -> Option<u8> {
    extension(name)?.eq_ignore_ascii_case("tsv").then_some(b'\t')
}

fn file_name(name: &str) -> &str {
    name.rsplit(['/', '\\']).next().unwrap_or(name)
}

/// The name and its extension, where it has both.
fn split(name: &str) -> Option<(&str, &str)> {
    file_name(name).rsplit_once('.').filter(|(stem, _)| !stem.is_empty())
}

fn extension(name: &str) -> Option<&str> {
    split(name).map(|(_, extension)| extension)
}

fn stem(name: &str) -> &str {
    split(name).map_or(name, |(stem, _)| stem)
}
