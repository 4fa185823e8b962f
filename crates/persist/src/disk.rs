//! The calls that reach the system, as a trait: the system itself, and around it what counts
//! them or lets them fail.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::Path;

/// What files are made of.
///
/// Each method is one call of the system (or, for a folder, three: open, sync, close), so that
/// counting methods is counting calls.
pub trait Disk {
    /// An open file.
    type File: File;

    /// Creates a file, or opens and empties the one that is there.
    ///
    /// # Errors
    /// What the system says.
    fn create(&self, path: &Path) -> io::Result<Self::File>;

    /// Creates a file that must not be there yet.
    ///
    /// # Errors
    /// What the system says; `AlreadyExists` if it is there.
    fn create_new(&self, path: &Path) -> io::Result<Self::File>;

    /// Opens a file for reading.
    ///
    /// # Errors
    /// What the system says.
    fn open(&self, path: &Path) -> io::Result<Self::File>;

    /// Gives a file another name in the same file system, in one step; a file of that name goes.
    ///
    /// # Errors
    /// What the system says.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    /// What the system says.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Makes the names in a folder durable.
    ///
    /// # Errors
    /// What the system says.
    fn sync_folder(&self, path: &Path) -> io::Result<()>;
}

/// An open file. `write`, `read` and `flush` are those of [`io`].
pub trait File: io::Read + io::Write {
    /// Its length in bytes, as far as the system knows.
    ///
    /// # Errors
    /// What the system says.
    fn size(&self) -> io::Result<u64>;

    /// Makes its contents durable, and of its metadata what is needed to read them.
    ///
    /// # Errors
    /// What the system says.
    fn sync_data(&self) -> io::Result<()>;

    /// Makes contents and metadata durable.
    ///
    /// # Errors
    /// What the system says.
    fn sync_all(&self) -> io::Result<()>;

    /// The file as the system has it, to be mapped.
    fn system(&self) -> &fs::File;
}

/// The system's own files.
///
/// ```
/// use std::io::Write;
/// use wiremark_persist::{Disk, File, Scratch, System};
///
/// let folder = Scratch::new()?;
/// let path = folder.path().join("note");
/// let mut file = System.create(&path)?;
/// file.write_all(b"to be")?;
/// assert_eq!(file.size()?, 5);
/// assert!(System.create_new(&path).is_err());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct System;

impl Disk for System {
    type File = fs::File;

    #[inline]
    fn create(&self, path: &Path) -> io::Result<fs::File> {
        fs::File::create(path)
    }

    #[inline]
    fn create_new(&self, path: &Path) -> io::Result<fs::File> {
        OpenOptions::new().write(true).create_new(true).open(path)
    }

    #[inline]
    fn open(&self, path: &Path) -> io::Result<fs::File> {
        fs::File::open(path)
    }

    #[inline]
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        fs::File::open(path)?.sync_all()
    }
}

impl File for fs::File {
    fn size(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    #[inline]
    fn sync_data(&self) -> io::Result<()> {
        fs::File::sync_data(self)
    }

    #[inline]
    fn sync_all(&self) -> io::Result<()> {
        fs::File::sync_all(self)
    }

    fn system(&self) -> &fs::File {
        self
    }
}
