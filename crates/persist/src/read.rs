//! Ways of reading a file.

use std::fs;
use std::io::{self, BufReader, Read as _};
use std::num::NonZeroU64;
use std::path::{Component, Path};

use rustix::fs::{Advice, fadvise, statfs};
use rustix::io::{Errno, ReadWriteFlags, preadv2};
use serde::de::DeserializeOwned;
use wiremark_core::{Codec, Error, Result};

use crate::{Disk, File, Mapped, Scratch, doing};

/// How the bytes come out of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Read {
    /// The library reads from the file itself, a call for each token.
    Direct,
    /// The library reads from a buffer of so many bytes before the file.
    Buffered(usize),
    /// Records are decoded one by one, read by chunks of 64 KiB.
    Records,
    /// All is read into a new vector and decoded from there.
    WholeFresh,
    /// All is read into a vector that is kept, and decoded from there.
    WholeReused,
    /// The file is mapped into memory and decoded from there.
    Map,
    /// The file is mapped into memory, and the value borrows its text from there.
    MapBorrowed,
}

impl Read {
    /// All that are measured.
    pub const ALL: [Self; 8] = [
        Self::Direct,
        Self::Buffered(8 << 10),
        Self::Buffered(64 << 10),
        Self::Records,
        Self::WholeFresh,
        Self::WholeReused,
        Self::Map,
        Self::MapBorrowed,
    ];
}

/// A file to be read.
#[derive(Debug)]
pub struct ReadFrom<'a, D> {
    /// The disk.
    pub disk: &'a D,
    /// The folder it lies in. It is one's own, so that a file in it can be mapped.
    pub folder: &'a Scratch,
    /// Its name.
    pub name: &'a str,
}

impl<D: Disk> ReadFrom<'_, D> {
    /// Maps the file into memory.
    ///
    /// The folder is entered by this user alone, and whoever has the [`Scratch`] must not write to
    /// a file in it while it is mapped: [`write`](crate::write()) in place would change what is
    /// borrowed. [`Durability::Atomic`](crate::Durability::Atomic) makes a new file and may be
    /// used.
    ///
    /// # Errors
    /// `Io` with the path and what the system said; `Unsupported` for a name that leads out of
    /// the folder, where anybody might write.
    #[expect(unsafe_code, reason = "what it asks for is what the folder is for")]
    pub fn map(&self) -> Result<Mapped> {
        let path = self.folder.path().join(self.name);
        let mut parts = Path::new(self.name).components();
        if !matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None)) {
            let error =
                Error::unsupported("only a file of the folder itself can be mapped");
            return Err(doing("map", &path, error));
        }
        let file = self.disk.open(&path).map_err(|error| doing("open", &path, error))?;
        // SAFETY: the file lies in a folder that others cannot enter and its owner does not
        // write to meanwhile, see above.
        let mapped = unsafe { Mapped::new(file.system()) };
        mapped.map_err(|error| doing("map", &path, error))
    }
}

/// Reads one document from a file into a value that owns what it holds.
///
/// `buffer` is used by [`Read::WholeReused`] alone, which leaves the file's bytes in it.
///
/// ```
/// use wiremark_json::Json;
/// use wiremark_persist::{Read, ReadFrom, Scratch, System, read};
///
/// let folder = Scratch::new()?;
/// std::fs::write(folder.path().join("numbers"), "[1,2,3]")?;
/// let from = ReadFrom { disk: &System, folder: &folder, name: "numbers" };
/// let codec = &mut Json::compact();
/// let numbers: Vec<u32> = read(&from, Read::Buffered(8192), &mut Vec::new(), codec)?;
/// assert_eq!(numbers, [1, 2, 3]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// `Io` with the path and what the system said; the codec's own. `Unsupported` for the two ways
/// that give no such value, [`Read::Records`] and [`Read::MapBorrowed`].
pub fn read<D: Disk, C: Codec, T: DeserializeOwned>(
    from: &ReadFrom<'_, D>,
    how: Read,
    buffer: &mut Vec<u8>,
    codec: &mut C,
) -> Result<T> {
    let path = from.folder.path().join(from.name);
    let reading = |error: Error| doing("read", &path, error);
    let open = || from.disk.open(&path).map_err(|error| doing("open", &path, error));
    match how {
        Read::Direct | Read::Buffered(_) => {
            // A buffer of no bytes hands on every call: the codec is compiled for one reader.
            let bytes = if let Read::Buffered(bytes) = how { bytes } else { 0 };
            let reader = BufReader::with_capacity(bytes, open()?);
            codec.decode_from(reader).map_err(reading)
        }
        Read::WholeFresh => {
            let mut whole = Vec::new();
            read_bytes(from.disk, &path, &mut whole)?;
            codec.decode(&whole).map_err(reading)
        }
        Read::WholeReused => {
            read_bytes(from.disk, &path, buffer)?;
            codec.decode(buffer).map_err(reading)
        }
        Read::Map => codec.decode(&from.map()?).map_err(reading),
        Read::Records | Read::MapBorrowed => {
            Err(Error::unsupported("this way gives no value that owns what it holds"))
        }
    }
}

/// Reads a stream of documents from a file and hands each to `each`.
///
/// # Errors
/// `Io` with the path and what the system said; the codec's own, and what `each` returns.
pub fn read_each<D: Disk, C: Codec, T: DeserializeOwned>(
    disk: &D,
    path: &Path,
    codec: &mut C,
    each: impl FnMut(T) -> Result<()>,
) -> Result<()> {
    let file = disk.open(path).map_err(|error| doing("open", path, error))?;
    codec.decode_each_from(file, each).map_err(|error| doing("read", path, error))
}

/// Reads all bytes of a file into `buffer`, in place of what was there: one question for its
/// length, one call for the bytes, one that finds the end.
///
/// # Errors
/// `Io` with the path and what the system said, `Limit` if there is no memory for so many.
pub fn read_bytes<D: Disk>(disk: &D, path: &Path, buffer: &mut Vec<u8>) -> Result<()> {
    let mut file = disk.open(path).map_err(|error| doing("open", path, error))?;
    let size = file.size().map_err(|error| doing("read", path, error))?;
    let size = usize::try_from(size).unwrap_or(usize::MAX);
    // A length is only what the system says: a sparse file may say more than there is memory.
    if buffer.try_reserve(size.saturating_sub(buffer.len())).is_err() {
        let error = Error::limit(format!("expected {size} bytes of memory for it"));
        return Err(doing("read", path, error));
    }
    // What a kept buffer holds is overwritten, so only a longer file costs filling it.
    buffer.resize(size, 0);
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(doing("read", path, error)),
        }
    }
    buffer.truncate(filled);
    // It may have grown meanwhile, or be one whose length the system does not know.
    file.read_to_end(buffer).map_err(|error| doing("read", path, error))?;
    Ok(())
}

/// Lets the system forget what it holds of a file in memory, so that the next read comes from the
/// medium. What is not yet written is written first. The system may keep pages all the same.
///
/// # Errors
/// `Io` with the path and what the system said.
pub fn evict(path: &Path) -> Result<()> {
    let file = fs::File::open(path).map_err(|error| doing("open", path, error))?;
    file.sync_all().map_err(|error| doing("sync", path, error))?;
    fadvise(&file, 0, None::<NonZeroU64>, Advice::DontNeed)
        .map_err(|error| doing("evict", path, io::Error::from(error)))
}

/// Whether the system has the beginning of a file in memory. `None` if it does not tell.
pub fn is_resident(path: &Path) -> Option<bool> {
    let file = fs::File::open(path).ok()?;
    let mut byte = [0];
    let space = &mut [io::IoSliceMut::new(&mut byte)];
    // Such a read gives what is there and does not wait for the medium.
    match preadv2(&file, space, 0, ReadWriteFlags::NOWAIT) {
        Ok(_) => Some(true),
        Err(Errno::AGAIN) => Some(false),
        Err(_) => None,
    }
}

/// Whether a folder lies in memory, where syncing and evicting do nothing. `None` if the system
/// does not tell.
pub fn is_memory(folder: &Path) -> Option<bool> {
    const TMPFS: i64 = 0x0102_1994;
    const RAMFS: i64 = 0x8584_58f6;
    let kind = statfs(folder).ok()?.f_type;
    #[expect(clippy::useless_conversion, reason = "its width differs between platforms")]
    let kind = i64::from(kind);
    Some(kind == TMPFS || kind == RAMFS)
}
