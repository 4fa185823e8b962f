//! What does a codec crate cost over calling its library directly?
//!
//! Each row below is the same loop, the same clock and the same value; one side goes through
//! `wiremark_core::Codec`, the other calls the library as its own documentation shows. The two
//! alternate sample by sample in one process, and the ratio is taken per sample, so that what
//! disturbs one disturbs the other. A third side is the direct call once more: its ratio is what
//! the target cannot tell from nothing.
//!
//! Where a value, a buffer and the stack happen to lie is worth up to 5 % of a short call, and
//! stays as it is while a process lives. So each row is measured in [`PLACES`] places: with
//! another copy of the value, another buffer and another depth of the stack. Prints the median
//! of the places' medians, the least and the greatest of them, and the difference in nanoseconds.
//! Where the code lies stays the same, as it does in the codec's own benches; it moves a row by
//! up to 4 % from one process to the next and by up to 10 % from one build to the next, so look
//! at the median of some processes, and at `valgrind --tool=callgrind` for what is really done.
//!
//! `cargo bench -q -p wiremark-benches --bench overhead --features overhead [-- FILTER]`
#![forbid(unsafe_code)]

use std::cell::RefCell;
use std::hint::black_box;
use std::io::{self, Write};
use std::process::ExitCode;

use serde::Serialize;
use serde::de::DeserializeOwned;
use wiremark_benches::operation::{Keep, chunk, repeat};
use wiremark_core::Codec;
use wiremark_datasets::seeded::event::{Entry, Events};
use wiremark_datasets::seeded::people::People;
use wiremark_datasets::{Dataset, Value};
use wiremark_json::Json;
use wiremark_meter::Span;
use wiremark_msgpack::MsgPack;
use wiremark_postcard::Postcard;
use wiremark_record::stats;

/// In how many places the value, the buffer and the stack are tried.
const PLACES: usize = 15;

/// Samples of each side in a place.
const SAMPLES: usize = 12;

/// CPU time of one sample.
const SAMPLE_NS: u64 = 2_000_000;

/// One side of a row: runs a number of times and tells what passed.
type Side<'a> = &'a mut dyn FnMut(u64) -> Span;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    // `cargo test --benches` and `-- --test` want to know whether it runs, not how fast.
    let is_measured = has("--bench") && !has("--test");
    let filter = arguments.iter().find(|argument| !argument.starts_with('-'));
    let filter = filter.cloned().unwrap_or_default();
    steady_heap();
    let mut overhead = Overhead { is_measured, filter, failed: false };
    overhead.self_describing(&People::new());
    overhead.self_describing(&Events::<Value>::new());
    overhead.schema_bound(&People::new());
    overhead.schema_bound(&Events::<Entry>::new());
    if overhead.failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Sees to it that the heap does not give back between two calls what it will need again.
///
/// glibc keeps up to twice as much as the largest block that it mapped by itself and got back,
/// up to 32 MiB. Other allocators do not mind.
fn steady_heap() {
    drop(black_box(Vec::<u8>::with_capacity(31 << 20)));
}

struct Overhead {
    is_measured: bool,
    filter: String,
    failed: bool,
}

impl Overhead {
    fn self_describing<D: Dataset>(&mut self, dataset: &D) {
        let id = dataset.about().id;
        self.pair(
            &format!("{id} serde_json"),
            dataset.value(),
            &Json::compact(),
            |value, out| serde_json::to_writer(out, value),
            |bytes| serde_json::from_slice(bytes),
        );
        self.pair(
            &format!("{id} rmp-serde"),
            dataset.value(),
            &MsgPack::named(),
            |value, out| rmp_serde::encode::write_named(out, value),
            |bytes| rmp_serde::from_slice(bytes),
        );
    }

    fn schema_bound<D: Dataset>(&mut self, dataset: &D) {
        let id = dataset.about().id;
        self.pair(
            &format!("{id} postcard"),
            dataset.value(),
            &Postcard::new(),
            // The crate's own way of filling a vector again: it takes it and gives it back.
            |value, out| {
                *out = postcard::to_extend(value, std::mem::take(out))?;
                Ok::<(), postcard::Error>(())
            },
            |bytes| postcard::from_bytes(bytes),
        );
    }

    fn pair<C: Codec, T: Serialize + DeserializeOwned + PartialEq, E, F>(
        &mut self,
        name: &str,
        value: &T,
        codec: &C,
        direct_encode: impl Fn(&T, &mut Vec<u8>) -> Result<(), E>,
        direct_decode: impl Fn(&[u8]) -> Result<T, F>,
    ) {
        let mut codec = codec.clone();
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        let encoded = codec.encode_into(value, &mut ours).is_ok();
        if !encoded || direct_encode(value, &mut theirs).is_err() || ours != theirs {
            return self.fail(name, "the two sides do not encode to the same bytes");
        }
        let back: Option<T> = codec.decode(&ours).ok();
        if back.as_ref() != Some(value)
            || direct_decode(&ours).ok().as_ref() != Some(value)
        {
            return self.fail(name, "the two sides do not decode to the value");
        }

        self.row(&format!("encode {name}"), |row| {
            // All sides fill the same buffer with the same value.
            let Ok(value) = direct_decode(&ours) else { return };
            let out = RefCell::new(Vec::with_capacity(ours.len()));
            let mut direct_too = |times| {
                let out = &mut *out.borrow_mut();
                repeat(times, || {
                    out.clear();
                    done(direct(&direct_encode, black_box(&value), out));
                    black_box(&*out);
                })
            };
            let mut codec = codec.clone();
            row.place(
                &mut |times| {
                    let out = &mut *out.borrow_mut();
                    repeat(times, || {
                        out.clear();
                        done(encode(&mut codec, black_box(&value), out));
                        black_box(&*out);
                    })
                },
                &mut direct_too,
            );
        });

        self.row(&format!("decode {name}"), |row| {
            let bytes = ours.clone();
            let mut codec = codec.clone();
            let (mut keep, mut keep_too) =
                (Keep::new(chunk(value)), Keep::new(chunk(value)));
            row.place(
                &mut |times| {
                    keep.repeat(times, || {
                        done(decode::<C, T>(&mut codec, black_box(&bytes)))
                    })
                },
                &mut |times| {
                    keep_too.repeat(times, || {
                        done(direct_back(&direct_decode, black_box(&bytes)))
                    })
                },
            );
        });
    }

    /// Measures `in_place` in one place after the other and prints what came of it.
    fn row(&self, name: &str, in_place: impl Fn(&mut Row)) {
        if !name.contains(&self.filter) {
            return;
        }
        let mut row = Row { is_measured: self.is_measured, places: Vec::new() };
        let places = if self.is_measured { PLACES } else { 1 };
        let mut kept = Vec::new();
        for place in 0..places {
            // An odd number of half cache lines further, in the heap and on the stack.
            kept.push(black_box(vec![0_u8; 32 + 1_056 * place]));
            deeper(5 * place, &mut || in_place(&mut row));
        }
        let column = |of: fn(&Place) -> f64| {
            let values: Vec<f64> = row.places.iter().map(of).collect();
            [50.0, 0.0, 100.0]
                .map(|percent| stats::percentile(&values, percent).unwrap_or(f64::NAN))
        };
        let [ratio, least, greatest] = column(|place| place.ratio);
        let [difference, ..] = column(|place| place.difference_ns);
        let [same, same_least, same_greatest] = column(|place| place.same);
        let line = format!(
            "{name:24} codec / direct {ratio:.3} ({least:.3} to {greatest:.3}), \
             {difference:+.1} ns a call; direct / direct {same:.3} \
             ({same_least:.3} to {same_greatest:.3})\n"
        );
        let _ = io::stdout().write_all(line.as_bytes());
    }

    fn fail(&mut self, name: &str, what: &str) {
        self.failed = true;
        let _ = writeln!(io::stderr(), "error: {name}: {what}");
    }
}

/// What was found in the places so far.
struct Row {
    is_measured: bool,
    places: Vec<Place>,
}

/// Medians over the samples in one place.
struct Place {
    /// Codec over direct call.
    ratio: f64,
    /// Codec less direct call, a call.
    difference_ns: f64,
    /// Direct call over direct call.
    same: f64,
}

impl Row {
    fn place(&mut self, ours: Side<'_>, theirs: Side<'_>) {
        let samples = if self.is_measured { SAMPLES } else { 1 };
        let sample_ns = if self.is_measured { SAMPLE_NS } else { 0 };
        let calls = |per_call: u64| (sample_ns / per_call.max(1)).max(1);
        // The first calls are cold, so how many make a sample is found a second time.
        let times = calls(ours(1).cpu_ns.max(theirs(1).cpu_ns)) / 4 + 1;
        let times = calls(ours(times).cpu_ns.max(theirs(times).cpu_ns) / times);
        let [mut ratios, mut differences, mut sames] = [const { Vec::new() }; 3];
        for sample in 0..samples {
            // Who goes first alternates too; the codec lies between the two direct calls or
            // they lie next to each other, each as often.
            let (one, two, three) = match sample % 4 {
                0 => {
                    let one = ours(times);
                    (one, theirs(times), theirs(times))
                }
                1 => {
                    let three = theirs(times);
                    let two = theirs(times);
                    (ours(times), two, three)
                }
                2 => {
                    let two = theirs(times);
                    let one = ours(times);
                    (one, two, theirs(times))
                }
                _ => {
                    let three = theirs(times);
                    let one = ours(times);
                    (one, theirs(times), three)
                }
            };
            let [one, two, three] = [one, two, three].map(|span| per(span, times));
            ratios.push(one / two);
            differences.push(one - two);
            sames.push(three / two);
        }
        let median = |values: &[f64]| stats::percentile(values, 50.0).unwrap_or(f64::NAN);
        self.places.push(Place {
            ratio: median(&ratios),
            difference_ns: median(&differences),
            same: median(&sames),
        });
    }
}

/// Calls `work` further down the stack, by some more bytes for each of `frames`.
#[inline(never)]
fn deeper(frames: usize, work: &mut dyn FnMut()) {
    let pad = black_box([0_u8; 48]);
    match frames.checked_sub(1) {
        Some(frames) => deeper(frames, work),
        None => work(),
    }
    black_box(&pad);
}

fn per(span: Span, times: u64) -> f64 {
    span.cpu_ns.max(1) as f64 / times as f64
}

/// The value of a call that worked before the clock was started.
#[inline]
fn done<T, E>(result: Result<T, E>) -> T {
    match result {
        Ok(value) => value,
        Err(_) => failed(),
    }
}

#[cold]
#[inline(never)]
fn failed() -> ! {
    panic!("a call failed that worked before the clock was started")
}

// The same entry points on both sides: not inlined, one for each codec and type.

#[inline(never)]
fn encode<C: Codec, T: Serialize>(
    codec: &mut C,
    value: &T,
    out: &mut Vec<u8>,
) -> wiremark_core::Result<()> {
    codec.encode_into(value, out)
}

#[inline(never)]
fn direct<T, E>(
    encode: &impl Fn(&T, &mut Vec<u8>) -> Result<(), E>,
    value: &T,
    out: &mut Vec<u8>,
) -> Result<(), E> {
    encode(value, out)
}

#[inline(never)]
fn decode<C: Codec, T: DeserializeOwned>(
    codec: &mut C,
    bytes: &[u8],
) -> wiremark_core::Result<T> {
    codec.decode(bytes)
}

#[inline(never)]
fn direct_back<T, E>(
    decode: &impl Fn(&[u8]) -> Result<T, E>,
    bytes: &[u8],
) -> Result<T, E> {
    decode(bytes)
}
