//! Why a value could not be written or read: kind, byte offset, and the path to the field.

/// What this crate's functions return.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a value could not be written or read.
///
/// One pointer wide. It carries a [kind](wiremark_core::ErrorKind) that a program can act on, the
/// [offset](Error::offset) in the stream where it is known, and the [path](Error::path) from the
/// root of the value to the field where it was noticed.
///
/// ```
/// use wiremark_gob::{ErrorKind, from_slice};
///
/// #[derive(Debug, serde::Deserialize)]
/// struct Point { #[serde(rename = "X")] x: i8 }
/// #[derive(serde::Serialize)]
/// struct Wide { #[serde(rename = "X")] x: i64 }
///
/// let bytes = wiremark_gob::to_vec(&vec![Wide { x: 1 }, Wide { x: 300 }])?;
/// let error = from_slice::<Vec<Point>>(&bytes).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Data);
/// assert_eq!(error.path(), "[1].X");
/// assert!(error.offset().is_some());
/// # Ok::<(), wiremark_gob::Error>(())
/// ```
pub type Error = wiremark_core::TracedError;
