//! Ways of writing a file.

use std::fs;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use wiremark_core::Result;

use crate::{Disk, File, Subject, doing};

/// How the bytes come into the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Write {
    /// The library writes to the file itself, a call for each token.
    Direct,
    /// Each record is encoded and written by one call.
    DirectRecords,
    /// The library writes to a buffer of so many bytes before the file.
    Buffered(usize),
    /// Records are encoded one by one into a buffer of so many bytes before the file.
    BufferedRecords(usize),
    /// All is encoded into a new vector, which is written by one call.
    WholeFresh,
    /// All is encoded into a vector that is kept, which is written by one call.
    WholeReused,
}

impl Write {
    /// All that are measured.
    pub const ALL: [Self; 10] = [
        Self::Direct,
        Self::DirectRecords,
        Self::Buffered(4 << 10),
        Self::Buffered(8 << 10),
        Self::Buffered(64 << 10),
        Self::Buffered(1 << 20),
        Self::BufferedRecords(8 << 10),
        Self::BufferedRecords(64 << 10),
        Self::WholeFresh,
        Self::WholeReused,
    ];
}

/// What is known to be on the medium when writing has returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Durability {
    /// Nothing: the system writes later, and a loss of power may lose or cut the file.
    None,
    /// The contents (`fdatasync`), but not the name of a file that is new. A failure on the way
    /// leaves a cut file.
    Data,
    /// All or nothing: a temporary file is written, synced and renamed, then the folder is
    /// synced. Whatever happens on the way, the name stands for the old file or for the new one,
    /// which has the old one's mode.
    Atomic,
}

impl Durability {
    /// All.
    pub const ALL: [Self; 3] = [Self::None, Self::Data, Self::Atomic];
}

/// Writes `subject` to a file at `path`, which is created or replaced.
///
/// `buffer` is used by [`Write::WholeReused`] alone. No error is lost: a buffer is flushed before
/// the file is closed, and what the flush says is returned. What the system says to `close` is
/// not seen; on file systems that keep errors until then, only a sync tells.
///
/// ```
/// use wiremark_json::Json;
/// use wiremark_persist::{Document, Durability, Scratch, System, Write, write};
///
/// let folder = Scratch::new()?;
/// let path = folder.path().join("numbers.json");
/// let numbers = [1, 2, 3];
/// let codec = &mut Json::compact();
/// let mut subject = Document { codec, value: &numbers, records: &numbers };
/// let how = Write::Buffered(8192);
/// write(&System, &path, how, Durability::Atomic, &mut Vec::new(), &mut subject)?;
/// assert_eq!(std::fs::read(&path)?, b"[1,2,3]");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// `Io` with what was being done, the path and what the system said; the codec's own. The file is
/// then cut, unless it is written with [`Durability::Atomic`].
pub fn write<D: Disk, S: Subject>(
    disk: &D,
    path: &Path,
    how: Write,
    durability: Durability,
    buffer: &mut Vec<u8>,
    subject: &mut S,
) -> Result<()> {
    if durability == Durability::Atomic {
        return replace(disk, path, |file| fill(file, how, buffer, subject));
    }
    let file = disk.create(path).map_err(|error| doing("create", path, error))?;
    let file =
        fill(file, how, buffer, subject).map_err(|error| doing("write", path, error))?;
    if durability == Durability::Data {
        file.sync_data().map_err(|error| doing("sync", path, error))?;
    }
    Ok(())
}

/// Puts all of `subject` into the file.
fn fill<F: File, S: Subject>(
    mut file: F,
    how: Write,
    buffer: &mut Vec<u8>,
    subject: &mut S,
) -> Result<F> {
    match how {
        // A buffer of no bytes hands on every call: the codec is compiled for one writer.
        Write::Direct => return buffered(file, 0, |writer| subject.write_to(writer)),
        Write::DirectRecords => {
            return buffered(file, 0, |writer| subject.write_each_to(writer));
        }
        Write::Buffered(bytes) => {
            return buffered(file, bytes, |writer| subject.write_to(writer));
        }
        Write::BufferedRecords(bytes) => {
            return buffered(file, bytes, |writer| subject.write_each_to(writer));
        }
        Write::WholeFresh => {
            let mut whole = Vec::new();
            subject.append_to(&mut whole)?;
            file.write_all(&whole)?;
        }
        Write::WholeReused => {
            buffer.clear();
            subject.append_to(buffer)?;
            file.write_all(buffer)?;
        }
    }
    Ok(file)
}

/// Lets `work` write into a buffer before the file, and flushes it.
fn buffered<F: io::Write>(
    file: F,
    bytes: usize,
    work: impl FnOnce(&mut BufWriter<F>) -> Result<()>,
) -> Result<F> {
    let mut writer = BufWriter::with_capacity(bytes, file);
    match work(&mut writer) {
        Ok(()) => Ok(writer.into_inner().map_err(io::IntoInnerError::into_error)?),
        Err(error) => {
            // Dropped, it would write what it holds behind the error's back.
            let _unwritten = writer.into_parts();
            Err(error)
        }
    }
}

/// Writes a file beside `path` and puts it in its place.
pub(crate) fn replace<D: Disk>(
    disk: &D,
    path: &Path,
    fill: impl FnOnce(D::File) -> Result<D::File>,
) -> Result<()> {
    // A link keeps leading to what it leads to, and a file its mode: what was for one's own eyes
    // must not become everybody's.
    let old = fs::symlink_metadata(path).ok();
    let target = match &old {
        Some(old) if old.is_symlink() => fs::canonicalize(path).ok(),
        _ => None,
    };
    let path = target.as_deref().unwrap_or(path);
    let mode = match target {
        Some(_) => fs::metadata(path).ok(),
        None => old,
    };
    let (temporary, file) = create_beside(disk, path)?;
    // Dropped before the rename, by an error or a panic, it goes; the old file is as it was.
    let mut temporary = Temporary { disk, path: Some(temporary) };
    if let Some(old) = mode.filter(fs::Metadata::is_file) {
        let set = file.system().set_permissions(old.permissions());
        set.map_err(|error| doing("set the mode of", path, error))?;
    }
    let file = fill(file).map_err(|error| doing("write", path, error))?;
    file.sync_all().map_err(|error| doing("sync", path, error))?;
    if let Some(name) = &temporary.path {
        disk.rename(name, path).map_err(|error| doing("replace", path, error))?;
    }
    temporary.path = None;
    let folder = folder(path);
    disk.sync_folder(folder).map_err(|error| doing("sync the folder of", path, error))
}

/// A file that is removed when dropped, unless it has got its name.
struct Temporary<'a, D: Disk> {
    disk: &'a D,
    path: Option<PathBuf>,
}

impl<D: Disk> Drop for Temporary<'_, D> {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            // The first error is the one to tell.
            let _ = self.disk.remove(path);
        }
    }
}

/// The folder that a file's name stands in.
fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// A new file in the same folder, so that renaming stays within one file system.
fn create_beside<D: Disk>(disk: &D, path: &Path) -> Result<(PathBuf, D::File)> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    // Left over by a process of the same number that was killed.
    const TRIES: u32 = 100;
    let Some(name) = path.file_name() else {
        let error = io::Error::from(io::ErrorKind::IsADirectory);
        return Err(doing("write", path, error));
    };
    let mut last = io::ErrorKind::AlreadyExists.into();
    for _ in 0..TRIES {
        let number = NUMBER.fetch_add(1, Relaxed);
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{}-{number}.tmp", std::process::id()));
        let temporary = path.with_file_name(hidden);
        match disk.create_new(&temporary) {
            Ok(file) => return Ok((temporary, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = error,
            Err(error) => {
                return Err(doing("create a temporary file beside", path, error));
            }
        }
    }
    Err(doing("create a temporary file beside", path, last))
}
