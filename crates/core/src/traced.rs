//! An error that knows the way from a value's root to where it was noticed.

use std::borrow::Cow;
use std::fmt;

use crate::{Error, ErrorKind};

/// Why a value could not be written or read: kind, byte offset, and the path to the field. For
/// formats that are written in this workspace; a library that tells no path has [`Error`].
///
/// One pointer wide. It turns into an [`Error`] whose message begins with the path.
///
/// ```
/// use wiremark_core::{Error, ErrorKind, TracedError};
///
/// let error = TracedError::data("expected i8, found 300").in_field("price").in_element(3);
/// assert_eq!(error.path(), "[3].price");
/// let error = Error::from(error.at(17));
/// assert_eq!(error.kind(), ErrorKind::Data);
/// assert_eq!(error.to_string(), "[3].price: expected i8, found 300 at byte 17");
/// ```
pub struct TracedError(Box<Inner>);

struct Inner {
    kind: ErrorKind,
    offset: Option<u64>,
    /// Innermost segment first: the path is built on the way up.
    path: Vec<Segment>,
    message: Cow<'static, str>,
    source: Option<std::io::Error>,
}

enum Segment {
    Field(Box<str>),
    Index(usize),
}

/// As many segments as an error remembers; the outer ones of a deeper path are left out.
const MAX_SEGMENTS: usize = 32;

impl TracedError {
    /// An error of a kind, with a message in lower case that says what was expected and found.
    #[cold]
    pub fn new(kind: ErrorKind, message: impl Into<Cow<'static, str>>) -> Self {
        Self(Box::new(Inner {
            kind,
            offset: None,
            path: Vec::new(),
            message: message.into(),
            source: None,
        }))
    }

    /// The bytes are not of the format: [`ErrorKind::Syntax`].
    #[cold]
    pub fn syntax(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Syntax, message)
    }

    /// The input ends too early: [`ErrorKind::Eof`].
    #[cold]
    pub fn eof(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Eof, message)
    }

    /// The bytes are right, the type does not fit them: [`ErrorKind::Data`].
    #[cold]
    pub fn data(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Data, message)
    }

    /// A limit was reached: [`ErrorKind::Limit`].
    #[cold]
    pub fn limit(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Limit, message)
    }

    /// The format or the library cannot do it: [`ErrorKind::Unsupported`].
    #[cold]
    pub fn unsupported(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Unsupported, message)
    }

    /// Notes the offset, if none is noted yet.
    #[cold]
    #[must_use]
    pub fn at(mut self, offset: impl TryInto<u64>) -> Self {
        self.locate(offset);
        self
    }

    /// The same in its place.
    #[cold]
    pub fn locate(&mut self, offset: impl TryInto<u64>) {
        self.0.offset.get_or_insert(offset.try_into().unwrap_or(u64::MAX));
    }

    /// Counts the offset from a place before that from which it was counted.
    #[cold]
    #[must_use]
    pub fn behind(mut self, bytes: u64) -> Self {
        self.0.offset = self.0.offset.map(|offset| offset.saturating_add(bytes));
        self
    }

    /// Notes that it was within the field `name`; the innermost is noted first.
    #[cold]
    #[must_use]
    pub fn in_field(self, name: &str) -> Self {
        self.under(|| Segment::Field(name.into()))
    }

    /// Notes that it was within the element `index`.
    #[cold]
    #[must_use]
    pub fn in_element(self, index: usize) -> Self {
        self.under(|| Segment::Index(index))
    }

    fn under(mut self, segment: impl FnOnce() -> Segment) -> Self {
        if self.0.path.len() < MAX_SEGMENTS {
            self.0.path.push(segment());
        }
        self
    }

    /// Which of the six kinds it is.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The byte of the input at which it was noticed, counted from its start; for a compressed
    /// document from that of its decompressed body. None when writing.
    pub fn offset(&self) -> Option<u64> {
        self.0.offset
    }

    /// The way from the root of the value to where it was noticed: `Lines[3].Price`. Empty at
    /// the root, and where no value was begun.
    ///
    /// Names of fields are the input's; an entry of a map is its key, or an index where keys may be
    /// anything. At most the 32 innermost segments are kept.
    pub fn path(&self) -> String {
        let mut path = String::new();
        for segment in self.0.path.iter().rev() {
            match segment {
                Segment::Field(name) => {
                    if !path.is_empty() {
                        path.push('.');
                    }
                    path.push_str(name);
                }
                Segment::Index(index) => {
                    path.push('[');
                    path.push_str(&index.to_string());
                    path.push(']');
                }
            }
        }
        path
    }
}

impl fmt::Display for TracedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.0.path.is_empty() {
            write!(f, "{}: ", self.path())?;
        }
        f.write_str(&self.0.message)?;
        match self.0.offset {
            Some(offset) => write!(f, " at byte {offset}"),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for TracedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("kind", &self.0.kind)
            .field("offset", &self.0.offset)
            .field("path", &self.path())
            .field("message", &self.0.message)
            .finish_non_exhaustive()
    }
}

impl std::error::Error for TracedError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_ref().map(|source| source as _)
    }
}

impl From<std::io::Error> for TracedError {
    #[cold]
    fn from(source: std::io::Error) -> Self {
        let kind = match source.kind() {
            std::io::ErrorKind::UnexpectedEof => ErrorKind::Eof,
            _ => ErrorKind::Io,
        };
        let mut error = Self::new(kind, source.to_string());
        error.0.source = Some(source);
        error
    }
}

impl From<TracedError> for std::io::Error {
    #[cold]
    fn from(error: TracedError) -> Self {
        Error::from(error).into()
    }
}

impl From<TracedError> for Error {
    #[cold]
    fn from(error: TracedError) -> Self {
        let (kind, offset) = (error.kind(), error.offset());
        // The offset is said once: the outer error prints it.
        let message = match error.path() {
            path if path.is_empty() => error.0.message.to_string(),
            path => format!("{path}: {}", error.0.message),
        };
        let outer = match error.0.source {
            Some(source) => Self::from(source),
            None => Self::new(kind, message),
        };
        match offset.and_then(|offset| usize::try_from(offset).ok()) {
            Some(offset) => outer.at(offset),
            None => outer,
        }
    }
}

impl serde::de::Error for TracedError {
    #[cold]
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::data(message.to_string())
    }
}

impl serde::ser::Error for TracedError {
    #[cold]
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::data(message.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_one_pointer_wide() {
        assert_eq!(size_of::<TracedError>(), size_of::<usize>());
    }

    #[test]
    fn a_path_reads_from_the_root() {
        let error = TracedError::data("no")
            .in_field("Price")
            .in_element(3)
            .in_field("Lines")
            .at(9)
            .at(1);
        assert_eq!(error.path(), "Lines[3].Price");
        assert_eq!(error.to_string(), "Lines[3].Price: no at byte 9");
        let core = Error::from(error);
        assert_eq!(core.to_string(), "Lines[3].Price: no at byte 9");
        assert_eq!(core.offset(), Some(9));
    }
}
