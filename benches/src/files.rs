//! Values to files and back: which cells there are, whether each does what it says, and the
//! loops inside the clock.
//!
//! | operation | inside the clock | outside |
//! | --- | --- | --- |
//! | write | creating the file, encoding, writing, syncing where that is part of the way, closing | removing it; the codec and kept buffers |
//! | read | opening the file, reading, decoding, closing | writing it, making the system forget it; dropping the value |
//! | read, `map-borrowed` | the same, and dropping the value, which cannot outlive the map | |
//!
//! Every write goes to a name that is not there: what a file system makes of an old file is
//! another question.
//!
//! A cell's `mode` says how the codec works: `reused` with what is kept from call to call,
//! `fresh` with a new vector, `stream` record by record. Its `way` says how bytes come to the file.

use std::hint::black_box;
use std::path::Path;

use wiremark_core::{Codec, Error, Profile, Result, Role};
use wiremark_datasets::{About, Dataset};
use wiremark_meter::Instant;
use wiremark_persist::{
    Calls, Counted, Document, Durability, Read, ReadFrom, Scratch, Subject, System,
    Write, damage, evict, framed, is_memory, is_resident, read, read_each, write,
};
use wiremark_record::protocol::{Planned, Request, Skip};
use wiremark_record::{CellId, Damage, Mode, Operation, Status};

use crate::check::Refusal;
use crate::operation::{Keep, Prepared, chunk};

/// A folder of this process alone in the one that the request names, else among the system's
/// temporary files.
///
/// # Errors
/// A sentence for a person.
pub fn scratch(request: &Request) -> std::result::Result<Scratch, String> {
    let made = match &request.folder {
        Some(folder) => Scratch::new_in(folder),
        None => Scratch::new(),
    };
    made.map_err(|error| format!("cannot make a folder for files: {error}"))
}

/// Whether a file that is read was read just before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cache {
    /// It was: the system has it in memory.
    Warm,
    /// The system was made to forget it.
    Evicted,
}

/// A way of one of the two operations, with all that its name says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Way {
    /// Value to file.
    Write(Write, Durability),
    /// File to value.
    Read(Read, Cache),
}

impl Way {
    /// All ways, in the order of tables.
    pub fn all() -> Vec<Self> {
        let writes = Write::ALL.into_iter().flat_map(|how| {
            Durability::ALL
                .into_iter()
                .map(move |durability| Self::Write(how, durability))
        });
        let reads = Read::ALL.into_iter().flat_map(|how| {
            [Cache::Warm, Cache::Evicted]
                .into_iter()
                .map(move |cache| Self::Read(how, cache))
        });
        writes.chain(reads).collect()
    }

    /// What is done.
    pub fn operation(self) -> Operation {
        match self {
            Self::Write(..) => Operation::Write,
            Self::Read(..) => Operation::Read,
        }
    }

    /// How the codec works.
    pub fn mode(self) -> Mode {
        match self {
            Self::Write(Write::DirectRecords | Write::BufferedRecords(_), _)
            | Self::Read(Read::Records, _) => Mode::Stream,
            Self::Write(Write::WholeFresh, _) | Self::Read(Read::WholeFresh, _) => {
                Mode::Fresh
            }
            Self::Write(..) | Self::Read(..) => Mode::Reused,
        }
    }

    /// How bytes come to the file, in words.
    pub fn word(self) -> String {
        let size = |bytes: usize| match bytes >> 10 {
            1024 => "1m".to_owned(),
            kib => format!("{kib}k"),
        };
        match self {
            Self::Write(how, durability) => {
                let how = match how {
                    Write::Direct | Write::DirectRecords => "direct".to_owned(),
                    Write::Buffered(bytes) | Write::BufferedRecords(bytes) => {
                        format!("buffer-{}", size(bytes))
                    }
                    Write::WholeFresh | Write::WholeReused => "whole".to_owned(),
                };
                match durability {
                    Durability::None => how,
                    Durability::Data => how + "+data",
                    Durability::Atomic => how + "+atomic",
                }
            }
            Self::Read(how, cache) => {
                let how = match how {
                    Read::Direct => "direct".to_owned(),
                    Read::Buffered(bytes) => format!("buffer-{}", size(bytes)),
                    Read::Records => "chunk-64k".to_owned(),
                    Read::WholeFresh | Read::WholeReused => "whole".to_owned(),
                    Read::Map => "map".to_owned(),
                    Read::MapBorrowed => "map-borrowed".to_owned(),
                };
                match cache {
                    Cache::Warm => how,
                    Cache::Evicted => how + "+evicted",
                }
            }
        }
    }

    /// The cell of this way.
    pub fn cell(self, dataset: &str, codec: &str) -> CellId {
        CellId {
            operation: self.operation(),
            dataset: dataset.to_owned(),
            codec: codec.to_owned(),
            mode: self.mode(),
            way: Some(self.word()),
            again: false,
        }
    }
}

/// The cells of one pair with their ways, each to be run or with the reason why not.
pub fn of_pair<D: Dataset>(
    profile: &Profile,
    dataset: &D,
    folder: &Path,
) -> Vec<(Way, Planned)> {
    let about = dataset.about();
    let no_medium = is_memory(folder) == Some(true);
    Way::all()
        .into_iter()
        .map(|way| {
            let skip = skip::<D>(way, profile, no_medium);
            let id = way.cell(&about.id, profile.id);
            let is_stream = way.mode() == Mode::Stream;
            let documents = if is_stream { dataset.items().len() as u64 } else { 1 };
            (way, Planned { id, documents, skip })
        })
        .collect()
}

/// The cells of a pair that cannot be run at all.
pub fn refused(profile: &Profile, about: &About, skip: &Skip) -> Vec<Planned> {
    Way::all()
        .into_iter()
        .map(|way| Planned {
            id: way.cell(&about.id, profile.id),
            documents: 1,
            skip: Some(skip.clone()),
        })
        .collect()
}

fn skip<D: Dataset>(way: Way, profile: &Profile, no_medium: bool) -> Option<Skip> {
    let because = |reason: &str| {
        Some(Skip { status: Status::Unsupported, reason: reason.to_owned() })
    };
    match way {
        Way::Read(..) if profile.role == Role::Floor => {
            because("a floor gives no value back")
        }
        Way::Read(Read::MapBorrowed, _) if !D::BORROWS => {
            because("the dataset has no borrowed twin")
        }
        Way::Read(Read::MapBorrowed, _) if !profile.can.borrow_str => {
            because("the library cannot lend text from the input")
        }
        Way::Write(_, Durability::Data | Durability::Atomic) if no_medium => {
            because("a file system in memory keeps nothing")
        }
        Way::Read(_, Cache::Evicted) if no_medium => {
            because("a file system in memory cannot be made to forget")
        }
        Way::Write(..) | Way::Read(..) => None,
    }
}

/// What one operation asked of the system.
#[derive(Clone, Copy, Debug)]
pub struct Counts {
    /// The calls.
    pub calls: Calls,
    /// Bytes of the file.
    pub size_bytes: u64,
}

/// The name of the file that is written: not there before, since each is removed.
const OUTPUT: &str = "output";

/// The name of the file that is read.
const INPUT: &str = "input";

/// Checks one cell: two values of the dataset go to files and come back equal.
///
/// # Errors
/// [`Refusal`] with the first thing that is wrong.
pub fn check<C: Codec, D: Dataset>(
    codec: &C,
    dataset: &D,
    way: Way,
    folder: &Scratch,
) -> std::result::Result<Counts, Refusal> {
    let mut counted = None;
    let sibling = dataset.sibling();
    for value in [dataset.value(), &sibling] {
        let disk = Counted::new(System);
        let size_bytes = attempt(codec, dataset, value, way, folder, &disk)?;
        counted.get_or_insert(Counts { calls: disk.calls(), size_bytes });
    }
    counted.ok_or_else(|| Refusal::failed("there was nothing to check"))
}

/// Takes one value through one way; the size of its file.
fn attempt<C: Codec, D: Dataset>(
    codec: &C,
    dataset: &D,
    value: &D::Value,
    way: Way,
    folder: &Scratch,
    disk: &Counted<System>,
) -> std::result::Result<u64, Refusal> {
    let mut codec = codec.clone();
    let is_floor = codec.profile().role == Role::Floor;
    let mut buffer = Vec::new();
    let path = folder.path().join(INPUT);
    let writing = |error: Error| Refusal::while_doing("write", &error);
    let reading = |error: Error| Refusal::while_doing("read", &error);
    match way {
        Way::Write(how, durability) => {
            let mut subject =
                Document { codec: &mut codec, value, records: dataset.items() };
            write(disk, &path, how, durability, &mut buffer, &mut subject)
                .map_err(writing)?;
        }
        Way::Read(how, cache) => {
            put_input(&mut codec, dataset, value, how, folder).map_err(writing)?;
            if cache == Cache::Evicted {
                evict(&path).map_err(reading)?;
                if is_resident(&path) == Some(true) {
                    let reason = "the system keeps the file in memory all the same";
                    return Err(Refusal {
                        status: Status::Unsupported,
                        reason: reason.to_owned(),
                    });
                }
            }
        }
    }
    // What was written is read by other means than what is looked at.
    let bytes = std::fs::read(&path).map_err(|error| writing(error.into()))?;
    let changed = |what: &str| Err(Refusal::failed(format!("{what} came back changed")));
    if way.mode() == Mode::Stream {
        let mut back: Vec<D::Item> = Vec::new();
        let each = |item| {
            back.push(item);
            Ok(())
        };
        match way {
            Way::Read(..) => read_each(disk, &path, &mut codec, each),
            Way::Write(..) if is_floor => Ok(()),
            Way::Write(..) => codec.decode_each(&bytes, each),
        }
        .map_err(reading)?;
        if !is_floor && back != dataset.items() {
            return changed("the stream");
        }
    } else if let Way::Read(Read::MapBorrowed, _) = way {
        let mapped = ReadFrom { disk, folder, name: INPUT }.map().map_err(reading)?;
        let back: D::Borrowed<'_> = codec.decode(&mapped).map_err(reading)?;
        if !D::is_same(&back, value) {
            return changed("the borrowed value");
        }
    } else if !is_floor {
        let back: D::Value = match way {
            Way::Read(how, _) => {
                let from = ReadFrom { disk, folder, name: INPUT };
                read(&from, how, &mut buffer, &mut codec)
            }
            Way::Write(..) => codec.decode(&bytes),
        }
        .map_err(reading)?;
        if back != *value {
            return changed("the value");
        }
    }
    std::fs::remove_file(&path).map_err(|error| writing(error.into()))?;
    Ok(bytes.len() as u64)
}

/// Writes the file that is to be read.
fn put_input<C: Codec, D: Dataset>(
    codec: &mut C,
    dataset: &D,
    value: &D::Value,
    how: Read,
    folder: &Scratch,
) -> Result<()> {
    let path = folder.path().join(INPUT);
    let with = if how == Read::Records {
        Write::BufferedRecords(1 << 16)
    } else {
        Write::WholeFresh
    };
    let mut subject = Document { codec, value, records: dataset.items() };
    let disk = Counted::silent(System);
    write(&disk, &path, with, Durability::None, &mut Vec::new(), &mut subject)
}

/// Makes an operation ready: writes what is to be read, and sees that it works.
///
/// # Errors
/// Those of the codec and of the system.
pub fn prepare<'a, C: Codec, D: Dataset>(
    codec: &C,
    dataset: &'a D,
    way: Way,
    folder: &'a Scratch,
) -> Result<Prepared<'a>> {
    match way {
        Way::Write(how, durability) => {
            let subject = Owned { codec: codec.clone(), dataset };
            prepare_write(subject, how, durability, folder)
        }
        Way::Read(how, cache) => prepare_read(codec, dataset, how, cache, folder),
    }
}

/// A codec with a dataset, whole or by its records.
struct Owned<'a, C, D> {
    codec: C,
    dataset: &'a D,
}

impl<C: Codec, D: Dataset> Subject for Owned<'_, C, D> {
    fn write_to<W: std::io::Write>(&mut self, writer: W) -> Result<()> {
        self.codec.encode_to(black_box(self.dataset.value()), writer)
    }

    fn write_each_to<W: std::io::Write>(&mut self, writer: W) -> Result<()> {
        self.codec.encode_each_to(black_box(self.dataset.items()).iter().map(Ok), writer)
    }

    fn append_to(&mut self, out: &mut Vec<u8>) -> Result<()> {
        self.codec.encode_into(black_box(self.dataset.value()), out)
    }
}

/// The loop of writing anything.
///
/// # Errors
/// Those of the subject and of the system.
pub fn prepare_write<'a, S: Subject + 'a>(
    mut subject: S,
    how: Write,
    durability: Durability,
    folder: &'a Scratch,
) -> Result<Prepared<'a>> {
    let path = folder.path().join(OUTPUT);
    let mut buffer = Vec::new();
    let disk = Counted::silent(System);
    let mut once = move || {
        let start = Instant::now();
        let written = write(&disk, &path, how, durability, &mut buffer, &mut subject);
        let span = start.elapsed();
        // A name that was not there before is had by removing the file.
        written.and_then(|()| Ok(std::fs::remove_file(&path)?))?;
        Ok(span)
    };
    once()?;
    let batch = Box::new(move |times| {
        let mut sum = wiremark_meter::Span::default();
        for _ in 0..times {
            sum = sum + done(once());
        }
        sum
    });
    Ok(Prepared { batch, bytes: Vec::new() })
}

fn prepare_read<'a, C: Codec, D: Dataset>(
    codec: &C,
    dataset: &'a D,
    how: Read,
    cache: Cache,
    folder: &'a Scratch,
) -> Result<Prepared<'a>> {
    let mut codec = codec.clone();
    put_input(&mut codec, dataset, dataset.value(), how, folder)?;
    let disk = Counted::silent(System);
    let path = folder.path().join(INPUT);
    let forget = {
        let path = path.clone();
        move || {
            if cache == Cache::Evicted {
                done(evict(&path));
            }
        }
    };
    match how {
        Read::Records => {
            let count = dataset.items().len();
            timed_reads(dataset, forget, move || {
                let mut items: Vec<D::Item> = Vec::with_capacity(count);
                read_each(&disk, &path, &mut codec, |item| {
                    items.push(item);
                    Ok(())
                })?;
                Ok(items)
            })
        }
        Read::MapBorrowed => timed_reads(dataset, forget, move || {
            let mapped = ReadFrom { disk: &disk, folder, name: INPUT }.map()?;
            let value: D::Borrowed<'_> = codec.decode(&mapped)?;
            black_box(&value);
            Ok(())
        }),
        _ => {
            let mut buffer = Vec::new();
            timed_reads(dataset, forget, move || {
                let from = ReadFrom { disk: &disk, folder, name: INPUT };
                read::<_, _, D::Value>(&from, how, &mut buffer, &mut codec)
            })
        }
    }
}

/// The loop of reading; what is read is dropped outside of the clock.
fn timed_reads<'a, D: Dataset, T: 'a>(
    dataset: &D,
    mut forget: impl FnMut() + 'a,
    mut once: impl FnMut() -> Result<T> + 'a,
) -> Result<Prepared<'a>> {
    once()?;
    let mut keep = Keep::new(chunk(dataset.value()));
    let batch = Box::new(move |times| {
        let mut sum = wiremark_meter::Span::default();
        for _ in 0..times {
            forget();
            sum = sum + keep.repeat(1, || done(once()));
        }
        sum
    });
    Ok(Prepared { batch, bytes: Vec::new() })
}

/// The value of a call that worked when the operation was made ready.
pub(crate) fn done<T>(result: Result<T>) -> T {
    match result {
        Ok(value) => value,
        // A clock that runs over failing calls would show a splendid figure.
        Err(error) => {
            panic!("a call failed that worked before the clock started: {error}")
        }
    }
}

/// What a codec makes of flipped bits in the first records of a dataset, each a document of its
/// own, and what a framed file of them makes of as many. `None` if it cannot write them.
pub fn damage<C: Codec, D: Dataset>(codec: &C, dataset: &D) -> Option<Damage> {
    const RECORDS: usize = 16;
    const FLIPS: u64 = 4096;
    let profile = codec.profile();
    if profile.role == Role::Floor {
        return None;
    }
    let mut codec = codec.clone();
    let mut found = Damage {
        codec: profile.id.to_owned(),
        dataset: dataset.about().id,
        flips: 0,
        silent: 0,
        harmless: 0,
        framed_silent: 0,
    };
    let mut file = framed::Writer::new(Vec::new(), profile.id).ok()?;
    let mut document = Vec::new();
    for record in dataset.items().iter().take(RECORDS) {
        let one = damage::flip(&mut codec, record, FLIPS / RECORDS as u64).ok()?;
        found.flips += one.flips;
        found.silent += one.silent;
        found.harmless += one.harmless;
        document.clear();
        codec.encode_into(record, &mut document).ok()?;
        file.put(&document).ok()?;
    }
    let mut file = file.finish().ok()?;
    let bits = file.len() as u64 * 8;
    for nth in 0..found.flips {
        let bit = ((nth * bits / found.flips) & !7) | (nth % 8);
        let (at, mask) = (usize::try_from(bit / 8).ok()?, 1_u8 << (bit % 8));
        *file.get_mut(at)? ^= mask;
        if is_whole(&file) {
            found.framed_silent += 1;
        }
        *file.get_mut(at)? ^= mask;
    }
    Some(found)
}

/// Whether a framed file is read to its end without an error.
fn is_whole(file: &[u8]) -> bool {
    let Ok(mut reader) = framed::Reader::new(file) else { return false };
    loop {
        match reader.next_record() {
            Ok(Some(_)) => {}
            Ok(None) => return true,
            Err(_) => return false,
        }
    }
}
