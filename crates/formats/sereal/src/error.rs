//! Why a value could not be written or read: kind, byte offset, and the path to the field.

use std::borrow::Cow;
use std::fmt;

use wiremark_core::ErrorKind;

/// What this crate's functions return.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a value could not be written or read.
///
/// One pointer wide. It carries a [kind](ErrorKind) that a program can act on, the
/// [offset](Error::offset) in the document where it is known, and the [path](Error::path) from the
/// root of the value to the field where it was noticed.
///
/// ```
/// use wiremark_sereal::{ErrorKind, from_slice, to_vec};
///
/// #[derive(Debug, serde::Deserialize)]
/// struct Point { x: i8 }
///
/// let bytes = to_vec(&[std::collections::BTreeMap::from([("x", 300)])])?;
/// let error = from_slice::<Vec<Point>>(&bytes).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Data);
/// assert_eq!(error.path(), "[0].x");
/// assert!(error.offset().is_some());
/// # Ok::<(), wiremark_sereal::Error>(())
/// ```
pub struct Error(Box<Inner>);

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

impl Error {
    #[cold]
    pub(crate) fn new(kind: ErrorKind, message: impl Into<Cow<'static, str>>) -> Self {
        Self(Box::new(Inner {
            kind,
            offset: None,
            path: Vec::new(),
            message: message.into(),
            source: None,
        }))
    }

    #[cold]
    pub(crate) fn syntax(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Syntax, message)
    }

    #[cold]
    pub(crate) fn eof(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Eof, message)
    }

    #[cold]
    pub(crate) fn data(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Data, message)
    }

    #[cold]
    pub(crate) fn limit(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Limit, message)
    }

    #[cold]
    pub(crate) fn unsupported(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Unsupported, message)
    }

    /// Notes the offset, if none is noted yet.
    #[cold]
    #[must_use]
    pub(crate) fn at(mut self, offset: u64) -> Self {
        self.locate(offset);
        self
    }

    /// The same in its place.
    #[cold]
    pub(crate) fn locate(&mut self, offset: u64) {
        self.0.offset.get_or_insert(offset);
    }

    /// Counts the offset from a place before that from which it was counted.
    #[cold]
    #[must_use]
    pub(crate) fn behind(mut self, bytes: u64) -> Self {
        self.0.offset = self.0.offset.map(|offset| offset.saturating_add(bytes));
        self
    }

    #[cold]
    #[must_use]
    pub(crate) fn in_field(self, name: &str) -> Self {
        self.under(|| Segment::Field(name.into()))
    }

    #[cold]
    #[must_use]
    pub(crate) fn in_element(self, index: usize) -> Self {
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

    /// The byte at which it was noticed, counted from the start of the document, or of its
    /// decompressed body; none when writing.
    pub fn offset(&self) -> Option<u64> {
        self.0.offset
    }

    /// The way from the root of the value to where it was noticed: `Lines[3].Price`. Empty at
    /// the root, and where no value was begun.
    ///
    /// Fields and entries of maps are named by their keys. At most the 32 innermost segments are
    /// kept.
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

impl fmt::Display for Error {
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

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("kind", &self.0.kind)
            .field("offset", &self.0.offset)
            .field("path", &self.path())
            .field("message", &self.0.message)
            .finish_non_exhaustive()
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_ref().map(|source| source as _)
    }
}

impl From<std::io::Error> for Error {
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

impl From<Error> for std::io::Error {
    #[cold]
    fn from(error: Error) -> Self {
        wiremark_core::Error::from(error).into()
    }
}

impl From<Error> for wiremark_core::Error {
    #[cold]
    fn from(error: Error) -> Self {
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

impl serde::de::Error for Error {
    #[cold]
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::data(message.to_string())
    }
}

impl serde::ser::Error for Error {
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
        assert_eq!(size_of::<Error>(), size_of::<usize>());
    }

    #[test]
    fn a_path_reads_from_the_root() {
        let error = Error::data("no")
            .in_field("Price")
            .in_element(3)
            .in_field("Lines")
            .at(9)
            .at(1);
        assert_eq!(error.path(), "Lines[3].Price");
        assert_eq!(error.to_string(), "Lines[3].Price: no at byte 9");
        let core = wiremark_core::Error::from(error);
        assert_eq!(core.to_string(), "Lines[3].Price: no at byte 9");
        assert_eq!(core.offset(), Some(9));
    }
}
