//! A disk on which the call of a given number goes wrong.

use std::cell::Cell;
use std::path::Path;
use std::rc::Rc;
use std::{fs, io};

use wiremark_persist::{Disk, File, System};

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The call fails, and later ones work.
    Fails(io::ErrorKind),
    /// The call and all later ones fail, as if the medium were gone.
    Gone,
    /// A write takes one byte of those it is given, a read gives one. Other calls work.
    Short,
    /// A write or read is interrupted by a signal. Other calls work.
    Interrupted,
    /// The process dies.
    Killed,
}

#[derive(Clone, Debug)]
pub(crate) struct Faulty {
    calls: Rc<Cell<u64>>,
    at: u64,
    fault: Fault,
}

/// What a call does after the count.
enum Then {
    Go,
    Short,
}

impl Faulty {
    /// The call `at`, counted from 0, goes wrong.
    pub(crate) fn new(at: u64, fault: Fault) -> Self {
        Self { calls: Rc::default(), at, fault }
    }

    /// Calls so far.
    pub(crate) fn calls(&self) -> u64 {
        self.calls.get()
    }

    fn call(&self, moves_bytes: bool) -> io::Result<Then> {
        let number = self.calls.get();
        self.calls.set(number + 1);
        if number < self.at || (number > self.at && self.fault != Fault::Gone) {
            return Ok(Then::Go);
        }
        match self.fault {
            Fault::Fails(kind) => Err(kind.into()),
            Fault::Gone => Err(io::ErrorKind::StorageFull.into()),
            Fault::Short if moves_bytes => Ok(Then::Short),
            Fault::Interrupted if moves_bytes => Err(io::ErrorKind::Interrupted.into()),
            Fault::Short | Fault::Interrupted => Ok(Then::Go),
            Fault::Killed => std::process::abort(),
        }
    }
}

impl Disk for Faulty {
    type File = FaultyFile;

    fn create(&self, path: &Path) -> io::Result<FaultyFile> {
        self.call(false)?;
        Ok(FaultyFile { file: System.create(path)?, disk: self.clone() })
    }

    fn create_new(&self, path: &Path) -> io::Result<FaultyFile> {
        self.call(false)?;
        Ok(FaultyFile { file: System.create_new(path)?, disk: self.clone() })
    }

    fn open(&self, path: &Path) -> io::Result<FaultyFile> {
        self.call(false)?;
        Ok(FaultyFile { file: System.open(path)?, disk: self.clone() })
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.call(false)?;
        System.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.call(false)?;
        System.remove(path)
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        self.call(false)?;
        System.sync_folder(path)
    }
}

#[derive(Debug)]
pub(crate) struct FaultyFile {
    file: fs::File,
    disk: Faulty,
}

impl io::Write for FaultyFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.disk.call(true)? {
            Then::Go => self.file.write(bytes),
            Then::Short => self.file.write(bytes.get(..1).unwrap_or_default()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl io::Read for FaultyFile {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        match self.disk.call(true)? {
            Then::Go => self.file.read(space),
            Then::Short => self.file.read(space.get_mut(..1).unwrap_or_default()),
        }
    }
}

impl File for FaultyFile {
    fn size(&self) -> io::Result<u64> {
        self.disk.call(false)?;
        self.file.size()
    }

    fn sync_data(&self) -> io::Result<()> {
        self.disk.call(false)?;
        self.file.sync_data()
    }

    fn sync_all(&self) -> io::Result<()> {
        self.disk.call(false)?;
        self.file.sync_all()
    }

    fn system(&self) -> &fs::File {
        &self.file
    }
}
