//! Reading and writing `results.json`.

use std::collections::HashSet;
use std::error::Error as StdError;
use std::ffi::OsStr;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter};

use crate::{Run, SCHEMA};

/// The schema's name before its version.
const FAMILY: &str = "wiremark.results/";

/// The version that this crate reads and writes; minor versions behind a point add keys only.
const MAJOR: u64 = 1;

/// Why a run could not be read or written.
///
/// The message names the file where there is one, and reads after "error: ".
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    message: String,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

/// The things that can go wrong with a results file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The file system refused.
    Io,
    /// Not JSON.
    Syntax,
    /// JSON, but of another schema or of another major version.
    Schema,
    /// Of the right schema, but a key is absent or holds something else than it should.
    Data,
}

impl Error {
    fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), source: None }
    }

    fn caused_by(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    fn in_file(mut self, path: &Path) -> Self {
        self.message = format!("{}: {}", path.display(), self.message);
        self
    }

    /// What kind of thing went wrong.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source.as_ref().map(|source| &**source as &(dyn StdError + 'static))
    }
}

impl Run {
    /// Reads a results file.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] if the file cannot be read, and those of [`from_slice`](Self::from_slice).
    pub fn read(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let bytes = fs::read(path).map_err(|error| {
            Error::new(ErrorKind::Io, format!("cannot be read: {error}"))
                .caused_by(error)
                .in_file(path)
        })?;
        Self::from_slice(&bytes).map_err(|error| error.in_file(path))
    }

    /// Reads a run from the bytes of a results file.
    ///
    /// The schema's name is looked at before anything else. Keys that this version does not
    /// know are passed over, so a file of a newer minor version (`wiremark.results/1.4`) can be
    /// read; writing it again loses them.
    ///
    /// # Errors
    /// [`ErrorKind::Syntax`] if it is not JSON, [`ErrorKind::Schema`] if it is another schema or
    /// major version, [`ErrorKind::Data`] if a key is absent, null or of another type.
    pub fn from_slice(bytes: &[u8]) -> Result<Self, Error> {
        #[derive(Deserialize)]
        struct Head {
            schema: Option<String>,
        }

        let head = serde_json::from_slice::<Head>(bytes).map_err(|error| {
            if error.is_data() {
                let message =
                    format!("expected a results file, found other JSON: {error}");
                Error::new(ErrorKind::Schema, message).caused_by(error)
            } else {
                let what = if error.is_eof() { "cut off" } else { "not JSON" };
                Error::new(ErrorKind::Syntax, format!("{what}: {error}")).caused_by(error)
            }
        })?;
        let name = head.schema.ok_or_else(|| {
            Error::new(
                ErrorKind::Schema,
                format!("expected schema {SCHEMA}, found JSON without the key `schema`"),
            )
        })?;
        check_schema(&name)?;
        serde_json::from_slice(bytes).map_err(|error| {
            Error::new(ErrorKind::Data, format!("not a whole {name}: {error}"))
                .caused_by(error)
        })
    }

    /// The bytes of the results file: JSON with a line for each cell, ended by a line feed.
    ///
    /// # Errors
    /// [`ErrorKind::Schema`] if [`schema`](Self::schema) is not one that
    /// [`from_slice`](Self::from_slice) would read, [`ErrorKind::Data`] if a number is not
    /// finite, which JSON cannot hold, or if two cells have one name.
    pub fn to_vec(&self) -> Result<Vec<u8>, Error> {
        check_schema(&self.schema)?;
        self.check()?;
        let mut out = Vec::new();
        let formatter = Lines::default();
        let mut serializer = serde_json::Serializer::with_formatter(&mut out, formatter);
        self.serialize(&mut serializer).map_err(|error| {
            Error::new(ErrorKind::Data, format!("cannot be written as JSON: {error}"))
                .caused_by(error)
        })?;
        out.push(b'\n');
        Ok(out)
    }

    /// Writes the results file with [`write_atomic`]: after a crash, a power cut or an error
    /// there is the old file or the new one, never a part.
    ///
    /// # Errors
    /// Those of [`to_vec`](Self::to_vec) and of [`write_atomic`].
    pub fn write_atomic(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        let path = path.as_ref();
        let bytes = self.to_vec().map_err(|error| error.in_file(path))?;
        write_atomic(path, &bytes)
    }

    /// Whether the run can be written so that it reads back as the same.
    fn check(&self) -> Result<(), Error> {
        let refuse = |what: String| Err(Error::new(ErrorKind::Data, what));
        let mut names = HashSet::new();
        for cell in &self.cells {
            if !names.insert(&cell.id) {
                return refuse(format!("two cells are named {}", cell.id));
            }
            let times = [cell.time, cell.wall, cell.copy];
            let summaries =
                times.iter().flatten().flat_map(|t| [t.median_ns, t.low_ns, t.high_ns]);
            let rounds = cell.rounds.iter().flat_map(|round| {
                let copy_ns = round.copy_ns.unwrap_or_default();
                [
                    round.cpu_ns,
                    round.cpu_min_ns,
                    round.cpu_median_ns,
                    round.wall_ns,
                    copy_ns,
                ]
            });
            if let Some(time) = summaries.chain(rounds).find(|time| !time.is_finite()) {
                return refuse(format!("a time of {} is {time}", cell.id));
            }
        }
        let noise = self.noise.iter();
        let noise = noise.flat_map(|noise| noise.ratios.iter().chain([&noise.floor]));
        let load = [self.load.before, self.load.after];
        let mut others = noise.chain(load.iter().flatten());
        match others.find(|number| !number.is_finite()) {
            Some(number) => refuse(format!("a number of the noise or load is {number}")),
            None => Ok(()),
        }
    }
}

/// Accepts `wiremark.results/1` and `wiremark.results/1.x`.
fn check_schema(name: &str) -> Result<(), Error> {
    let refuse = |what: &str| {
        let message = format!("expected schema {SCHEMA}, found {name:?}: {what}");
        Err(Error::new(ErrorKind::Schema, message))
    };
    let Some(version) = name.strip_prefix(FAMILY) else {
        return refuse("not a results file of wiremark");
    };
    let (major, minor) = version.split_once('.').unwrap_or((version, "0"));
    let number = |digits: &str| -> Option<u64> {
        // `parse` takes a plus sign as well.
        digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
    };
    match (number(major), number(minor)) {
        (Some(MAJOR), Some(_)) => Ok(()),
        (Some(major), Some(_)) if major > MAJOR => {
            refuse("a newer wiremark wrote it, and it takes that to read it")
        }
        (Some(_), Some(_)) => refuse("there never was such a version"),
        _ => refuse("not a version"),
    }
}

/// Writes a whole file or nothing.
///
/// The bytes go into a temporary file in the same folder, which is synced and renamed over
/// `path`; then the folder is synced. A symbolic link is followed, so what it points to is
/// replaced and the link stays. The folder must exist.
///
/// Use it for every file that a run leaves: results, Markdown, CSV.
///
/// # Errors
/// [`ErrorKind::Io`] if the file system refuses (a full disk, no permission, no such folder) or
/// if `path` is there but no regular file. `path` is then what it was, and the temporary file
/// is gone.
pub fn write_atomic(path: impl AsRef<Path>, bytes: &[u8]) -> Result<(), Error> {
    let path = path.as_ref();
    replace(path, |file| file.write_all(bytes)).map_err(|error| {
        let message =
            format!("cannot be written: {error}; what was there before is unchanged");
        Error::new(ErrorKind::Io, message).caused_by(error).in_file(path)
    })
}

/// Removes a temporary file unless it was renamed.
struct Temporary {
    path: PathBuf,
    is_kept: bool,
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.is_kept {
            // Nothing more can be done than to try.
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn replace(
    path: &Path,
    fill: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<()> {
    let path = match fs::symlink_metadata(path) {
        Ok(about) if about.is_symlink() => fs::canonicalize(path)?,
        _ => path.to_owned(),
    };
    // Renaming over a device would put a plain file in its place.
    if fs::metadata(&path).is_ok_and(|about| !about.is_file()) {
        return Err(io::Error::other("expected a regular file or none"));
    }
    let name =
        path.file_name().ok_or_else(|| io::Error::other("expected a file name"))?;
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };

    let (mut temporary, mut file) = create_temporary(folder, name)?;
    fill(&mut file)?;
    file.sync_all()?;
    drop(file);
    fs::rename(&temporary.path, &path)?;
    temporary.is_kept = true;
    // The new name must reach the disk too. From here on the file is whole and in its place;
    // file systems that cannot sync a folder are no reason to say otherwise.
    #[cfg(unix)]
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
    Ok(())
}

fn create_temporary(folder: &Path, name: &OsStr) -> io::Result<(Temporary, File)> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    loop {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let mut hidden = OsStr::new(".").to_owned();
        hidden.push(name);
        hidden.push(format!(".{}-{count}.tmp", process::id()));
        let path = folder.join(hidden);
        match File::options().write(true).create_new(true).open(&path) {
            Ok(file) => return Ok((Temporary { path, is_kept: false }, file)),
            // Left over by a killed process that had the same number.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

/// Lays out JSON with a line for each entry of the outermost object and of what it holds, and
/// everything deeper in one line: a cell is a line, so files can be compared and searched.
struct Lines {
    depth: usize,
    pretty: PrettyFormatter<'static>,
    compact: CompactFormatter,
}

/// Up to this depth, each entry has its own line.
const DEPTH: usize = 2;

impl Default for Lines {
    fn default() -> Self {
        Self {
            depth: 0,
            pretty: PrettyFormatter::with_indent(b" "),
            compact: CompactFormatter,
        }
    }
}

/// Hands a call to the layout of this depth.
macro_rules! by_depth {
    ($self:ident . $method:ident ($($argument:expr),*)) => {
        if $self.depth <= DEPTH {
            $self.pretty.$method($($argument),*)
        } else {
            $self.compact.$method($($argument),*)
        }
    };
}

impl Formatter for Lines {
    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.depth += 1;
        by_depth!(self.begin_array(writer))
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        let done = by_depth!(self.end_array(writer));
        self.depth -= 1;
        done
    }

    fn begin_array_value<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        by_depth!(self.begin_array_value(writer, first))
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        by_depth!(self.end_array_value(writer))
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.depth += 1;
        by_depth!(self.begin_object(writer))
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        let done = by_depth!(self.end_object(writer));
        self.depth -= 1;
        done
    }

    fn begin_object_key<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        by_depth!(self.begin_object_key(writer, first))
    }

    fn begin_object_value<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
    ) -> io::Result<()> {
        by_depth!(self.begin_object_value(writer))
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        by_depth!(self.end_object_value(writer))
    }
}

/// For `deserialize_with` on optional keys: an absent key is `None`, null is an error.
pub(crate) fn present<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: serde::Deserializer<'de>,
    T: Deserialize<'de>,
{
    T::deserialize(deserializer).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder of this test alone, removed at its end.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path =
                std::env::temp_dir().join(format!("wiremark-{name}-{}", process::id()));
            fs::create_dir_all(&path).unwrap();
            Self(path)
        }

        fn names(&self) -> Vec<String> {
            let mut names: Vec<_> = fs::read_dir(&self.0)
                .unwrap()
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .collect();
            names.sort();
            names
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_file_is_replaced_whole() {
        let folder = Folder::new("whole");
        let path = folder.0.join("results.json");
        write_atomic(&path, b"old").unwrap();
        write_atomic(&path, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(folder.names(), ["results.json"]);
    }

    #[test]
    fn a_failed_write_leaves_the_old_file_and_nothing_else() {
        let folder = Folder::new("failed");
        let path = folder.0.join("results.json");
        for old in [None, Some(b"old")] {
            if let Some(old) = old {
                fs::write(&path, old).unwrap();
            }
            let error = replace(&path, |file| {
                file.write_all(b"half of wha")?;
                Err(io::ErrorKind::StorageFull.into())
            })
            .unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::StorageFull);
            assert_eq!(fs::read(&path).ok().as_deref(), old.map(|old| &old[..]));
            assert_eq!(folder.names().len(), usize::from(old.is_some()));
        }
    }

    #[test]
    fn a_panic_while_writing_leaves_no_temporary_file() {
        let folder = Folder::new("panic");
        let path = folder.0.join("results.json");
        let done = std::panic::catch_unwind(|| replace(&path, |_| panic!("on purpose")));
        assert!(done.is_err());
        assert_eq!(folder.names(), [""; 0]);
    }

    #[test]
    fn an_error_says_what_and_where() {
        let folder = Folder::new("where");
        for path in [folder.0.join("none/results.json"), folder.0.clone()] {
            let error = write_atomic(&path, b"x").unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Io);
            let expected = format!("{}: cannot be written: ", path.display());
            assert!(error.to_string().starts_with(&expected), "{error}");
            assert!(error.source().is_some());
        }
        let path = folder.0.join("none.json");
        let error = Run::read(&path).unwrap_err();
        let expected = format!("{}: cannot be read: ", path.display());
        assert!(error.to_string().starts_with(&expected), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_and_its_file_is_replaced() {
        let folder = Folder::new("link");
        let (file, link) = (folder.0.join("file"), folder.0.join("link"));
        fs::write(&file, b"old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write_atomic(&link, b"new").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    }

    #[cfg(unix)]
    #[test]
    fn a_device_is_not_replaced() {
        let error = write_atomic("/dev/null", b"x").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Io);
        assert!(error.to_string().contains("expected a regular file"), "{error}");
    }
}
