//! What is written is what is read, each call counted and each failure told.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod calls;
mod damage;
mod faults;
mod faulty;
mod killed;
mod rows;
mod strace;

use wiremark_core::{Codec, Result};
use wiremark_datasets::Dataset;
use wiremark_datasets::seeded::people::{People, Person};
use wiremark_persist::{Disk, Document, Durability, Scratch, Write, write};

/// A folder in memory where there is one: thousands of syncs take their time on a disk.
fn scratch() -> Scratch {
    let memory = Scratch::new_in(std::path::Path::new("/dev/shm"));
    memory.or_else(|_| Scratch::new()).unwrap()
}

/// A few people: enough to fill a small buffer several times.
fn people() -> Vec<Person> {
    People::with(42, 100).value().clone()
}

fn write_people<D: Disk, C: Codec>(
    disk: &D,
    path: &std::path::Path,
    how: Write,
    durability: Durability,
    codec: &mut C,
    people: &[Person],
) -> Result<()> {
    let mut subject = Document { codec, value: people, records: people };
    write(disk, path, how, durability, &mut Vec::new(), &mut subject)
}
