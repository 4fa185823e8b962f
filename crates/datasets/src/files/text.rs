//! A file as text, places in it, and what is wrong there.

use std::fmt;
use std::slice::SliceIndex;

/// What is wrong with a file, and where.
///
/// It prints as compilers do, so that editors find the place:
/// `orders.ndjson:17:5: expected a value, found the end of the line`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileError {
    file: String,
    line: u64,
    column: u64,
    offset: u64,
    message: String,
}

impl FileError {
    /// The file's name as it was given.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The line, counted from 1; lines end with a line feed.
    pub const fn line(&self) -> u64 {
        self.line
    }

    /// The character in the line, counted from 1.
    pub const fn column(&self) -> u64 {
        self.column
    }

    /// The byte in the file, counted from 0.
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// What is wrong: expected and found, and what to do where that is not plain.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, column, offset: _, message } = self;
        write!(f, "{file}:{line}:{column}: {message}")
    }
}

impl std::error::Error for FileError {}

/// A part of a text. Ranges come from bytes that were looked at, so it is there; a mistake in
/// them is an empty part and not the end of the program.
pub(super) fn part<R: SliceIndex<str, Output = str>>(text: &str, range: R) -> &str {
    text.get(range).unwrap_or_default()
}

/// The bytes from a place on; see [`part`].
pub(super) fn tail(bytes: &[u8], from: usize) -> &[u8] {
    bytes.get(from..).unwrap_or_default()
}

/// What is wrong at a byte of a text.
#[derive(Debug)]
pub(super) struct Fail {
    pub(super) offset: usize,
    pub(super) message: String,
}

impl Fail {
    pub(super) fn new(offset: usize, message: impl Into<String>) -> Self {
        Self { offset, message: message.into() }
    }
}

/// A file's text behind its byte order mark.
pub(super) struct Text<'a> {
    name: &'a str,
    pub(super) body: &'a str,
    /// Bytes of the byte order mark: 3 or 0.
    pub(super) skipped: usize,
}

impl<'a> Text<'a> {
    /// Refuses what is no UTF-8, with the reason where it is a common one.
    pub(super) fn new(name: &'a str, bytes: &'a [u8]) -> Result<Self, FileError> {
        const MARK: &[u8] = b"\xef\xbb\xbf";

        let skipped = if bytes.starts_with(MARK) { MARK.len() } else { 0 };
        let rest = tail(bytes, skipped);
        let known = match bytes {
            [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Some("UTF-16; convert it to UTF-8"),
            [0x1f, 0x8b, ..] => Some("a gzip file; unpack it first"),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some("a zstd file; unpack it first"),
            [b'P', b'K', 3, 4, ..] => Some("a zip file; unpack it first"),
            _ => None,
        };
        let (body, message) = match (known, std::str::from_utf8(rest)) {
            (None, Ok(body)) => return Ok(Self { name, body, skipped }),
            (Some(known), _) => ("", format!("expected UTF-8 text, found {known}")),
            (None, Err(error)) => {
                let (valid, rest) = rest.split_at(error.valid_up_to());
                let byte = rest.first().copied().unwrap_or_default();
                (
                    std::str::from_utf8(valid).unwrap_or_default(),
                    format!(
                        "expected UTF-8 text, found the byte {byte:02x}; convert the file to UTF-8"
                    ),
                )
            }
        };
        let place = Self { name, body, skipped };
        Err(place.error(Fail::new(body.len(), message)))
    }

    /// Line and column of a byte of the text, both counted from 1.
    fn place(&self, offset: usize) -> (u64, u64) {
        // An offset inside a character would be a mistake of ours; it still gets an answer.
        let before = self.body.get(..offset).unwrap_or(self.body);
        let line_start = before.rfind('\n').map_or(0, |end| end + 1);
        let lines = before.bytes().filter(|&byte| byte == b'\n').count();
        let column = part(before, line_start..).chars().count();
        (lines as u64 + 1, column as u64 + 1)
    }

    pub(super) fn error(&self, fail: Fail) -> FileError {
        let (line, column) = self.place(fail.offset);
        FileError {
            file: self.name.to_owned(),
            line,
            column,
            offset: (fail.offset + self.skipped) as u64,
            message: fail.message,
        }
    }

    /// `orders.json:17:5: ` and a sentence.
    pub(super) fn note(&self, offset: usize, sentence: &str) -> String {
        let (line, column) = self.place(offset);
        format!("{}:{line}:{column}: {sentence}", self.name)
    }
}

/// A character as error messages show it: `` `x` ``, or its number where it does not show.
pub(super) fn shown(character: char) -> String {
    if character == '`' {
        "a backquote".to_owned()
    } else if character.is_control() || (character.is_whitespace() && character != ' ') {
        format!("U+{:04X}", u32::from(character))
    } else {
        format!("`{character}`")
    }
}
