//! One error for all formats: what kind of thing went wrong, where, and the cause.

use std::borrow::Cow;
use std::error::Error as StdError;
use std::fmt;
use std::io;

/// What [`Codec`](crate::Codec) methods return.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a value could not be encoded or bytes could not be decoded.
///
/// An error is one pointer wide, so a `Result<u64>` stays small. It carries a [kind](ErrorKind)
/// that a program can act on, the byte [offset](Error::offset) where it is known, and the
/// library's own error as [`source`](StdError::source) where there is one.
///
/// Messages are lower case without a full stop, so that they read after "failed to decode: ".
///
/// ```
/// use wiremark_core::{Error, ErrorKind};
///
/// let error = Error::syntax("expected a comma, found `}`").at(17);
/// assert_eq!(error.kind(), ErrorKind::Syntax);
/// assert_eq!(error.offset(), Some(17));
/// assert_eq!(error.to_string(), "expected a comma, found `}` at byte 17");
/// ```
pub struct Error(Box<Inner>);

struct Inner {
    kind: ErrorKind,
    offset: Option<u64>,
    message: Cow<'static, str>,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

/// The six things that can go wrong, as a program that handles the error tells them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Reading or writing failed below the codec; the bytes seen so far may be fine.
    Io,
    /// The input ends inside a document: more bytes could complete it.
    Eof,
    /// The bytes are no document of this format, whatever type is asked for.
    Syntax,
    /// A well-formed document that does not hold the type asked for, or a value whose own
    /// `Serialize` refused.
    Data,
    /// A limit was reached that protects the program: depth, length, memory.
    Limit,
    /// The format or the library cannot represent this value or type.
    Unsupported,
}

impl ErrorKind {
    /// All kinds, in the order of their declaration.
    pub const ALL: [Self; 6] =
        [Self::Io, Self::Eof, Self::Syntax, Self::Data, Self::Limit, Self::Unsupported];

    /// The kind as one lower-case word, as tables print it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Io => "io",
            Self::Eof => "eof",
            Self::Syntax => "syntax",
            Self::Data => "data",
            Self::Limit => "limit",
            Self::Unsupported => "unsupported",
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Error {
    /// An error of `kind` with a message of our own.
    #[cold]
    pub fn new(kind: ErrorKind, message: impl Into<Cow<'static, str>>) -> Self {
        Self(Box::new(Inner {
            kind,
            offset: None,
            message: message.into(),
            source: None,
        }))
    }

    /// An error of `kind` that another library raised; its text becomes the message.
    ///
    /// ```
    /// use std::error::Error as _;
    /// use wiremark_core::{Error, ErrorKind};
    ///
    /// let cause = "x".parse::<u8>().unwrap_err();
    /// let error = Error::wrap(ErrorKind::Data, cause);
    /// assert_eq!(error.to_string(), "invalid digit found in string");
    /// assert!(error.source().is_some());
    /// ```
    #[cold]
    pub fn wrap(
        kind: ErrorKind,
        source: impl Into<Box<dyn StdError + Send + Sync>>,
    ) -> Self {
        let source = source.into();
        let message = source.to_string().into();
        Self(Box::new(Inner { kind, offset: None, message, source: Some(source) }))
    }

    /// [`ErrorKind::Eof`]: the input ends inside a document.
    #[cold]
    pub fn eof(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Eof, message)
    }

    /// [`ErrorKind::Syntax`]: the bytes are no document of this format.
    #[cold]
    pub fn syntax(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Syntax, message)
    }

    /// [`ErrorKind::Data`]: well formed, but not the type asked for.
    #[cold]
    pub fn data(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Data, message)
    }

    /// [`ErrorKind::Limit`]: a limit that protects the program was reached.
    #[cold]
    pub fn limit(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Limit, message)
    }

    /// [`ErrorKind::Unsupported`]: the format cannot represent this.
    #[cold]
    pub fn unsupported(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Unsupported, message)
    }

    /// [`ErrorKind::Syntax`]: `count` bytes follow a document that should end at `offset`.
    #[cold]
    pub fn trailing(offset: usize, count: usize) -> Self {
        let plural = if count == 1 { "" } else { "s" };
        let message =
            format!("expected the end of the input, found {count} more byte{plural}");
        Self::syntax(message).at(offset)
    }

    /// The same error with the byte offset at which it was noticed, counted from the start of
    /// the input that the caller handed over.
    #[must_use]
    pub fn at(mut self, offset: usize) -> Self {
        self.0.offset = Some(offset as u64);
        self
    }

    /// The same error seen from an enclosing input in which this one starts at `base`.
    #[must_use]
    pub fn shifted_by(mut self, base: usize) -> Self {
        self.0.offset = self.0.offset.map(|offset| offset.saturating_add(base as u64));
        self
    }

    /// The same error in other words; the library's own stay with the [`source`].
    ///
    /// [`source`]: StdError::source
    #[must_use]
    pub fn saying(mut self, message: impl Into<Cow<'static, str>>) -> Self {
        self.0.message = message.into();
        self
    }

    /// What kind of thing went wrong.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The byte offset in the input where the error was noticed, if the library told.
    pub fn offset(&self) -> Option<u64> {
        self.0.offset
    }

    /// The message alone, without the offset.
    pub fn message(&self) -> &str {
        &self.0.message
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
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
            .field("message", &self.0.message)
            .field("source", &self.0.source)
            .finish()
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source.as_ref().map(|source| &**source as &(dyn StdError + 'static))
    }
}

impl From<io::Error> for Error {
    /// [`ErrorKind::Eof`] for [`io::ErrorKind::UnexpectedEof`], else [`ErrorKind::Io`].
    #[cold]
    fn from(error: io::Error) -> Self {
        let kind = match error.kind() {
            io::ErrorKind::UnexpectedEof => ErrorKind::Eof,
            _ => ErrorKind::Io,
        };
        Self::wrap(kind, error)
    }
}

impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        let kind = match error.kind() {
            ErrorKind::Eof => io::ErrorKind::UnexpectedEof,
            ErrorKind::Syntax | ErrorKind::Data => io::ErrorKind::InvalidData,
            ErrorKind::Unsupported => io::ErrorKind::Unsupported,
            ErrorKind::Io | ErrorKind::Limit => io::ErrorKind::Other,
        };
        Self::new(kind, error)
    }
}

impl serde::ser::Error for Error {
    #[cold]
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::data(message.to_string())
    }
}

impl serde::de::Error for Error {
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
        assert_eq!(size_of::<Result<()>>(), size_of::<usize>());
    }

    #[test]
    fn an_offset_moves_with_its_input() {
        let error = Error::eof("expected 4 bytes, found 1").at(3).shifted_by(40);
        assert_eq!(error.offset(), Some(43));
        assert_eq!(error.to_string(), "expected 4 bytes, found 1 at byte 43");
        assert_eq!(Error::eof("x").shifted_by(40).offset(), None);
    }

    #[test]
    fn an_io_error_keeps_its_meaning_both_ways() {
        for (kind, ours) in [
            (io::ErrorKind::UnexpectedEof, ErrorKind::Eof),
            (io::ErrorKind::PermissionDenied, ErrorKind::Io),
        ] {
            let error = Error::from(io::Error::from(kind));
            assert_eq!(error.kind(), ours);
            assert!(error.source().is_some());
        }
        let back = io::Error::from(Error::syntax("no"));
        assert_eq!(back.kind(), io::ErrorKind::InvalidData);
    }

    #[test]
    fn every_kind_has_a_word_of_its_own() {
        let words: std::collections::BTreeSet<_> =
            ErrorKind::ALL.iter().map(|kind| kind.as_str()).collect();
        assert_eq!(words.len(), ErrorKind::ALL.len());
    }
}
