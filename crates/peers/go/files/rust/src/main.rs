//! How long people and todos take into a file and back: wall and processor time from open to
//! close, lower quartile of batches. `../main.go` does the same in Go; `../compare` runs both
//! in turn.
//!
//! ```text
//! make INPUT          writes the values that both programs read into the folder INPUT
//! run INPUT FOLDER    measures with files in FOLDER; ONLY=… picks rows by a part of their name
//! ```
//!
//! A line is the row's name, wall and processor time in nanoseconds, calls of `write` (where
//! it reads: of `read`), and the file's size in bytes. Inside the clock are opening or creating,
//! encoding or decoding, the calls, closing, and dropping what was decoded, since Go's collector
//! works inside its clock too. Outside are the names of files and their removal.

use std::env;
use std::error::Error;
use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use wiremark_core::Codec;
use wiremark_datasets::Dataset;
use wiremark_datasets::seeded::people::{People, Person, Sex};
use wiremark_datasets::seeded::todos::{Todo, Todos};
use wiremark_gob::Gob;
use wiremark_json::Json;
use wiremark_meter::clock::Instant;
use wiremark_persist::rows::Lines;
use wiremark_persist::{
    Counted, Document, Durability, Read, ReadFrom, Scratch, Subject, System, Write, read,
    write,
};

#[cfg(feature = "postgres")]
mod database;

#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Somebody, as the Go program has it: its sex is told by a bool there.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct PersonInfo {
    name: String,
    age: i32,
    sex: bool,
    hobbies: Vec<String>,
}

impl From<&Person> for PersonInfo {
    fn from(person: &Person) -> Self {
        Self {
            name: person.name.clone(),
            age: person.age.into(),
            sex: person.sex == Sex::Male,
            hobbies: person.hobbies.clone(),
        }
    }
}

/// The ways that Go has a counterpart of, and their names.
const WRITES: [(&str, Write); 4] = [
    ("direct", Write::Direct),
    ("buffer-4k", Write::Buffered(4 << 10)),
    ("buffer-64k", Write::Buffered(64 << 10)),
    ("whole", Write::WholeFresh),
];

const READS: [(&str, Read); 4] = [
    ("direct", Read::Direct),
    ("buffer-4k", Read::Buffered(4 << 10)),
    ("buffer-64k", Read::Buffered(64 << 10)),
    ("whole", Read::WholeFresh),
];

const EXPORTS: [(&str, Write); 7] = [
    ("direct", Write::Direct),
    ("line-by-line", Write::DirectRecords),
    ("buffer-4k", Write::Buffered(4 << 10)),
    ("buffer-64k", Write::Buffered(64 << 10)),
    ("append+buffer-64k", Write::BufferedRecords(64 << 10)),
    ("append+whole", Write::WholeFresh),
    ("append+whole-reused", Write::WholeReused),
];

fn main() -> Result<()> {
    let mut arguments = env::args_os().skip(1);
    let what = arguments.next().ok_or("expected make or run")?;
    let input = PathBuf::from(arguments.next().ok_or("expected a folder of values")?);
    let people: Vec<PersonInfo> =
        People::new().value().iter().map(PersonInfo::from).collect();
    let todos = Todos::new();
    let todos = todos.value();
    if what == "make" {
        return make(&input, &people, todos);
    }
    let folder = PathBuf::from(arguments.next().ok_or("expected a folder for files")?);
    let bench = Bench {
        scratch: Scratch::new_in(&folder)?,
        input,
        only: env::var("ONLY").unwrap_or_default(),
    };
    bench.codec("gob", &Gob::new(), &people)?;
    bench.codec("json", &Json::compact(), &people)?;
    bench.codec("json-indented", &Json::pretty(), &people)?;
    for (way, how) in EXPORTS {
        bench.write(&format!("todos/export/{way}"), how, &mut Lines(todos), |bytes| {
            Ok(bytes == lines(todos).as_bytes())
        })?;
    }
    #[cfg(feature = "postgres")]
    database::measure(&bench, todos)?;
    Ok(())
}

/// Writes what both programs read.
fn make(input: &Path, people: &[PersonInfo], todos: &[Todo]) -> Result<()> {
    fn put<C: Codec>(path: &Path, codec: &mut C, value: &impl Serialize) -> Result<()> {
        let mut out = Vec::new();
        codec.encode_into(value, &mut out)?;
        Ok(fs::write(path, out)?)
    }
    put(&input.join("people.gob"), &mut Gob::new(), &people)?;
    put(&input.join("people.json"), &mut Json::compact(), &people)?;
    put(&input.join("people.json-indented"), &mut Json::pretty(), &people)?;
    put(&input.join("todos.json"), &mut Json::compact(), &todos)
}

/// The export as `format!` makes it.
fn lines(todos: &[Todo]) -> String {
    todos
        .iter()
        .map(|Todo { id, title, note }| {
            format!("{{ID: {id}, Title: {title}, Note: {note}}},\n")
        })
        .collect()
}

/// Where to measure what.
struct Bench {
    scratch: Scratch,
    input: PathBuf,
    only: String,
}

impl Bench {
    fn is_wanted(&self, name: &str) -> bool {
        name.contains(&self.only)
    }

    /// All rows of a codec.
    fn codec<C: Codec, T>(&self, id: &str, codec: &C, people: &T) -> Result<()>
    where
        T: Serialize + DeserializeOwned + PartialEq,
    {
        for (way, how) in WRITES {
            let none: &[()] = &[];
            let mut reader = codec.clone();
            let codec = &mut codec.clone();
            let mut subject = Document { codec, value: people, records: none };
            self.write(
                &format!("people/write/{id}/{way}"),
                how,
                &mut subject,
                |bytes| Ok(reader.decode::<T>(bytes)? == *people),
            )?;
        }
        let name = format!("people.{id}");
        fs::copy(self.input.join(&name), self.scratch.path().join(&name))?;
        for (way, how) in READS {
            let row = format!("people/read/{id}/{way}");
            if !self.is_wanted(&row) {
                continue;
            }
            let mut codec = codec.clone();
            let disk = Counted::new(System);
            let from = ReadFrom { disk: &disk, folder: &self.scratch, name: &name };
            let back: T = read(&from, how, &mut Vec::new(), &mut codec)?;
            if back != *people {
                return Err(
                    format!("{row}: expected the people that were written").into()
                );
            }
            let calls = disk.calls();
            let from = ReadFrom { disk: &System, folder: &self.scratch, name: &name };
            let (wall, cpu) = self.time(|_| {
                let people: T = read(&from, how, &mut Vec::new(), &mut codec)?;
                black_box(&people);
                Ok(())
            })?;
            println!("{row} {wall:.0} {cpu:.0} {} {}", calls.read, calls.read_bytes);
        }
        Ok(())
    }

    /// One row that writes a file.
    fn write<S: Subject>(
        &self,
        row: &str,
        how: Write,
        subject: &mut S,
        is_right: impl FnOnce(&[u8]) -> Result<bool>,
    ) -> Result<()> {
        if !self.is_wanted(row) {
            return Ok(());
        }
        let disk = Counted::new(System);
        let path = self.scratch.path().join("checked");
        let mut buffer = Vec::new();
        write(&disk, &path, how, Durability::None, &mut buffer, subject)?;
        if !is_right(&fs::read(&path)?)? {
            return Err(format!("{row}: the file holds something else").into());
        }
        fs::remove_file(&path)?;
        let (wall, cpu) = self.time(|path| {
            write(&System, path, how, Durability::None, &mut buffer, subject)?;
            Ok(())
        })?;
        let calls = disk.calls();
        println!("{row} {wall:.0} {cpu:.0} {} {}", calls.write, calls.written_bytes);
        Ok(())
    }

    /// Wall and processor time of `work` in nanoseconds. It is given a name that no file has.
    ///
    /// The processor time is this thread's; there is no other.
    fn time(&self, mut work: impl FnMut(&Path) -> Result<()>) -> Result<(f64, f64)> {
        const BATCH_NS: u64 = 20_000_000;
        let (mut walls, mut cpus) = (Vec::new(), Vec::new());
        let mut count = 1_u32;
        // Fifteen batches; of the slowest, five.
        while walls.len() < 15 && (walls.len() < 5 || walls.iter().sum::<f64>() < 1e9) {
            let paths: Vec<_> = (0..count)
                .map(|nth| self.scratch.path().join(format!("{nth}")))
                .collect();
            let start = Instant::now();
            for path in &paths {
                work(path)?;
            }
            let span = start.elapsed();
            for path in paths.iter().filter(|path| path.exists()) {
                fs::remove_file(path)?;
            }
            if span.wall_ns < BATCH_NS {
                count *= 2;
                (walls, cpus) = (Vec::new(), Vec::new());
                continue;
            }
            walls.push(span.wall_ns as f64 / f64::from(count));
            cpus.push(span.cpu_ns as f64 / f64::from(count));
        }
        walls.sort_by(f64::total_cmp);
        cpus.sort_by(f64::total_cmp);
        Ok((walls[walls.len() / 4], cpus[cpus.len() / 4]))
    }
}
