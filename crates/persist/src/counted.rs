//! Every call counted, below all buffers.

use std::cell::Cell;
use std::path::Path;
use std::rc::Rc;
use std::{fs, io};

use crate::{Disk, File};

/// How often each call was made, and how many bytes went through.
///
/// The numbers of writes, reads, opens, renames and syncs are those that `strace -c` shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    /// Calls of `write`, interrupted and failed ones too.
    pub write: u64,
    /// Bytes that they took.
    pub written_bytes: u64,
    /// Calls of `read`, the one at the end of the file too.
    pub read: u64,
    /// Bytes that they gave.
    pub read_bytes: u64,
    /// Calls of `flush` on the file itself, none of which reaches the system.
    pub flush: u64,
    /// `fsync` and `fdatasync` of files and folders.
    pub sync: u64,
    /// Files opened or created, folders too.
    pub open: u64,
    /// Files renamed.
    pub rename: u64,
    /// Files removed.
    pub remove: u64,
    /// Questions for a file's length.
    pub size: u64,
}

/// A disk that hands every call on to `D` and counts it.
///
/// ```
/// use std::io::Write;
/// use wiremark_persist::{Counted, Disk, Scratch, System};
///
/// let folder = Scratch::new()?;
/// let disk = Counted::new(System);
/// let mut file = disk.create(&folder.path().join("note"))?;
/// file.write_all(b"to")?;
/// file.write_all(b" be")?;
/// assert_eq!((disk.calls().write, disk.calls().written_bytes), (2, 5));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Counted<D> {
    disk: D,
    calls: Tally,
}

/// Where calls are counted, if they are.
type Tally = Option<Rc<Cell<Calls>>>;

impl<D> Counted<D> {
    /// Nothing counted yet.
    pub fn new(disk: D) -> Self {
        Self { disk, calls: Some(Rc::default()) }
    }

    /// Counts nothing, for a clock: what is timed is then the code that was counted, compiled
    /// once for both.
    pub fn silent(disk: D) -> Self {
        Self { disk, calls: None }
    }

    /// What was called so far; nothing, if nothing is counted.
    pub fn calls(&self) -> Calls {
        self.calls.as_ref().map(|calls| calls.get()).unwrap_or_default()
    }
}

#[inline]
fn count(calls: &Tally, add: impl FnOnce(&mut Calls)) {
    if let Some(calls) = calls {
        let mut now = calls.get();
        add(&mut now);
        calls.set(now);
    }
}

impl<D: Disk> Counted<D> {
    fn open_with(
        &self,
        open: impl FnOnce(&D) -> io::Result<D::File>,
    ) -> io::Result<CountedFile<D::File>> {
        count(&self.calls, |calls| calls.open += 1);
        Ok(CountedFile { file: open(&self.disk)?, calls: self.calls.clone(), at: 0 })
    }
}

impl<D: Disk> Disk for Counted<D> {
    type File = CountedFile<D::File>;

    fn create(&self, path: &Path) -> io::Result<Self::File> {
        self.open_with(|disk| disk.create(path))
    }

    fn create_new(&self, path: &Path) -> io::Result<Self::File> {
        self.open_with(|disk| disk.create_new(path))
    }

    fn open(&self, path: &Path) -> io::Result<Self::File> {
        self.open_with(|disk| disk.open(path))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        count(&self.calls, |calls| calls.rename += 1);
        self.disk.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        count(&self.calls, |calls| calls.remove += 1);
        self.disk.remove(path)
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        count(&self.calls, |calls| {
            calls.open += 1;
            calls.sync += 1;
        });
        self.disk.sync_folder(path)
    }
}

/// An open file whose calls are counted.
#[derive(Debug)]
pub struct CountedFile<F> {
    file: F,
    calls: Tally,
    /// Bytes read or written so far.
    at: u64,
}

impl<F: File> CountedFile<F> {
    fn advance(&mut self, moved: &io::Result<usize>) -> u64 {
        let bytes = moved.as_ref().map_or(0, |&count| count as u64);
        self.at += bytes;
        bytes
    }
}

impl<F: File> io::Write for CountedFile<F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes);
        let bytes = self.advance(&written);
        count(&self.calls, |calls| {
            calls.write += 1;
            calls.written_bytes += bytes;
        });
        written
    }

    fn flush(&mut self) -> io::Result<()> {
        count(&self.calls, |calls| calls.flush += 1);
        self.file.flush()
    }
}

impl<F: File> io::Read for CountedFile<F> {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(space);
        let bytes = self.advance(&read);
        count(&self.calls, |calls| {
            calls.read += 1;
            calls.read_bytes += bytes;
        });
        read
    }

    /// With as many calls as the system's file makes, which asks for its length and reads all at
    /// once; the trait's own way begins with little and takes more each time.
    fn read_to_end(&mut self, out: &mut Vec<u8>) -> io::Result<usize> {
        if self.calls.is_none() {
            return self.file.read_to_end(out);
        }
        let before = out.len();
        let left = self.file.size().unwrap_or(0).saturating_sub(self.at);
        let left = usize::try_from(left).unwrap_or(usize::MAX);
        out.try_reserve(left)?;
        out.resize(before + left, 0);
        let mut end = before;
        // Beyond its length is the end at least; and it may have grown meanwhile, or be one
        // whose length the system does not know.
        let mut beyond = [0; 8 << 10];
        let done = loop {
            let is_full = end == out.len();
            let space = if is_full { &mut beyond[..] } else { &mut out[end..] };
            match self.read(space) {
                Ok(0) => break Ok(()),
                Ok(count) => {
                    end += count;
                    if is_full {
                        out.extend_from_slice(&beyond[..count]);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => break Err(error),
            }
        };
        out.truncate(end);
        done.map(|()| end - before)
    }
}

impl<F: File> File for CountedFile<F> {
    fn size(&self) -> io::Result<u64> {
        count(&self.calls, |calls| calls.size += 1);
        self.file.size()
    }

    fn sync_data(&self) -> io::Result<()> {
        count(&self.calls, |calls| calls.sync += 1);
        self.file.sync_data()
    }

    fn sync_all(&self) -> io::Result<()> {
        count(&self.calls, |calls| calls.sync += 1);
        self.file.sync_all()
    }

    fn system(&self) -> &fs::File {
        self.file.system()
    }
}
