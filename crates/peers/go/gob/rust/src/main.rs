//! How long gob takes for 10,000 people and for one: processor time, lower quartile of batches,
//! as lines of name and nanoseconds. `../main.go` does the same in Go; `../compare` runs both in
//! turn.
//!
//! Inside the clock is the call alone: not the making of values, nor the drop of what was
//! decoded. `cargo run --release -- FILE [PART OF NAME]` also writes the stream that Go reads.

use std::hint::black_box;
use std::io;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use wiremark_core::Codec;
use wiremark_gob::{Deserializer, Encoder, Gob, WriteOptions, from_slice, to_vec};
use wiremark_meter::clock::Instant;

/// One for all formats of a run; the benches offer the system's and this.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct PersonInfo {
    name: String,
    age: i32,
    sex: bool,
    hobbies: Vec<String>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct PersonRef<'a> {
    name: &'a str,
    age: i32,
    sex: bool,
    #[serde(borrow)]
    hobbies: Vec<&'a str>,
}

const HOBBIES: [&str; 8] =
    ["chess", "swimming", "go", "football", "reading", "hiking", "ping-pong", "cooking"];
const NAMES: [&str; 8] =
    ["David", "Anna", "Mehmet", "Li", "Gabriela", "Olu", "Priya", "Jean-Luc"];

fn people() -> Vec<PersonInfo> {
    (0..10_000_usize)
        .map(|index| PersonInfo {
            name: NAMES[index % 8].to_owned(),
            age: i32::try_from(18 + index * 7 % 80).unwrap_or(0),
            sex: index % 2 == 0,
            hobbies: (0..3)
                .map(|more| HOBBIES[(index / 3 + more * 5) % 8].to_owned())
                .collect(),
        })
        .collect()
}

/// Times `work` in batches of 2 ms at least; its results are dropped outside the clock.
fn time<T>(name: &str, mut work: impl FnMut() -> T) {
    if std::env::args().nth(2).is_some_and(|only| !name.contains(&only)) {
        return;
    }
    let mut each = Vec::new();
    let mut results = Vec::new();
    let mut count = 1_u32;
    while each.len() < 60 {
        results.reserve(count as usize);
        let start = Instant::now();
        for _ in 0..count {
            results.push(black_box(work()));
        }
        let took = start.elapsed().cpu_ns;
        results.clear();
        if took < 2_000_000 {
            count *= 2;
            each.clear();
            continue;
        }
        each.push(took as f64 / f64::from(count));
    }
    each.sort_by(f64::total_cmp);
    println!("{name} {:.1}", each[each.len() / 4]);
}

fn main() -> io::Result<()> {
    let people = people();
    let stream = to_vec(&people)?;
    if let Some(path) = std::env::args().nth(1) {
        std::fs::write(path, &stream)?;
    }
    assert_eq!(from_slice::<Vec<PersonInfo>>(&stream)?, people);

    let mut encoder = Encoder::new(Reused(Vec::new()));
    time("people/encode/reused", || {
        encoder.encode(&people).map(|()| encoder.get_ref().0.len())
    });
    time("people/encode/fresh", || {
        let mut encoder = Encoder::new(Vec::new());
        encoder.encode(&people).map(|()| encoder.into_inner().len())
    });
    let mut codec = Gob::new().with_write_options(WriteOptions::new());
    let mut out = Vec::new();
    time("people/encode/codec-reused", || {
        out.clear();
        codec.encode_into(&people, &mut out)
    });
    time("people/decode/owned", || from_slice::<Vec<PersonInfo>>(&stream));
    time("people/decode/borrowed", || from_slice::<Vec<PersonRef<'_>>>(&stream));
    time("people/skip", || from_slice::<IgnoredAny>(&stream));
    time("people/skip/native", || Deserializer::from_slice(&stream).skip_value());

    let one = &people[0];
    let alone = to_vec(one)?;
    let mut encoder = Encoder::new(Reused(Vec::new()));
    time("one/encode/reused", || encoder.encode(one).map(|()| encoder.get_ref().0.len()));
    time("one/encode/fresh", || {
        let mut encoder = Encoder::new(Vec::new());
        encoder.encode(one).map(|()| encoder.into_inner().len())
    });
    time("one/encode/codec-reused", || {
        out.clear();
        codec.encode_into(one, &mut out)
    });
    time("one/decode/fresh", || from_slice::<PersonInfo>(&alone));
    time("one/decode/fresh-borrowed", || from_slice::<PersonRef<'_>>(&alone));
    Ok(())
}

/// A buffer that holds the last value only, as Go's program resets its buffer.
#[derive(Debug)]
struct Reused(Vec<u8>);

impl io::Write for Reused {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.clear();
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
