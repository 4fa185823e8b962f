//! A folder of one's own.

use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::{env, fs, io};

/// A new folder that only this user may enter, removed with all that is in it when dropped.
///
/// ```
/// let folder = wiremark_persist::Scratch::new()?;
/// let path = folder.path().to_owned();
/// std::fs::write(path.join("a file"), "in it")?;
/// drop(folder);
/// assert!(!path.exists());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
}

impl Scratch {
    /// In the system's folder for temporary files.
    ///
    /// # Errors
    /// What the system says.
    pub fn new() -> io::Result<Self> {
        Self::new_in(&env::temp_dir())
    }

    /// In another folder.
    ///
    /// # Errors
    /// What the system says.
    pub fn new_in(folder: &Path) -> io::Result<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        loop {
            let number = NUMBER.fetch_add(1, Relaxed);
            let path = folder.join(format!("wiremark-{}-{number}", std::process::id()));
            match fs::DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Self { path }),
                // Left over by a killed process of the same number.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}
