//! What does a codec crate cost over calling its library directly?
//!
//! Each pair below is the same loop, the same clock and the same value; one side goes through
//! `wiremark_core::Codec`, the other calls the library as its own documentation shows. The two
//! alternate sample by sample in one process, and the ratio is taken per sample, so that what
//! disturbs one disturbs the other. Prints one line a pair: the median ratio with the quartiles
//! of the ratios, and what the difference is in nanoseconds.
//!
//! `cargo bench -p wiremark-benches --bench overhead --features overhead`
#![forbid(unsafe_code)]

use std::cell::RefCell;
use std::hint::black_box;
use std::io::{self, Write};
use std::process::ExitCode;

use serde::Serialize;
use serde::de::DeserializeOwned;
use wiremark_benches::operation::{Keep, repeat};
use wiremark_core::Codec;
use wiremark_datasets::{self as datasets, Dataset, DatasetVisitor};
use wiremark_json::Json;
use wiremark_meter::Span;
use wiremark_msgpack::MsgPack;
use wiremark_postcard::Postcard;
use wiremark_record::stats;

/// Samples of each side; the first of each is a warm-up.
const SAMPLES: usize = 60;

/// CPU time of one sample.
const SAMPLE_NS: u64 = 4_000_000;

/// One side of a pair: runs a number of times and tells what passed.
type Side<'a> = Box<dyn FnMut(u64) -> Span + 'a>;

fn main() -> ExitCode {
    // `cargo test --benches` and `-- --test` want to know whether it runs, not how fast.
    let is_bench = std::env::args().any(|argument| argument == "--bench");
    let is_test = std::env::args().any(|argument| argument == "--test");
    let samples = if is_bench && !is_test { SAMPLES } else { 1 };
    let mut visitor = Overhead { samples, failed: false };
    for id in ["people", "event"] {
        datasets::visit(id, true, &mut SelfDescribing(&mut visitor));
        datasets::visit(id, false, &mut SchemaBound(&mut visitor));
    }
    if visitor.failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

struct Overhead {
    samples: usize,
    failed: bool,
}

struct SelfDescribing<'a>(&'a mut Overhead);

impl DatasetVisitor for SelfDescribing<'_> {
    fn visit<D: Dataset>(&mut self, dataset: &D) {
        let id = dataset.about().id;
        self.0.pair(
            &format!("{id} serde_json"),
            dataset.value(),
            &mut Json::compact(),
            |value, out| serde_json::to_writer(out, value).is_ok(),
            |bytes| serde_json::from_slice(bytes).ok(),
        );
        self.0.pair(
            &format!("{id} rmp-serde"),
            dataset.value(),
            &mut MsgPack::named(),
            |value, out| rmp_serde::encode::write_named(out, value).is_ok(),
            |bytes| rmp_serde::from_slice(bytes).ok(),
        );
    }
}

struct SchemaBound<'a>(&'a mut Overhead);

impl DatasetVisitor for SchemaBound<'_> {
    fn visit<D: Dataset>(&mut self, dataset: &D) {
        let id = dataset.about().id;
        self.0.pair(
            &format!("{id} postcard"),
            dataset.value(),
            &mut Postcard::new(),
            // The crate's own way of filling a vector again: it takes it and gives it back.
            |value, out| match postcard::to_extend(value, std::mem::take(out)) {
                Ok(filled) => {
                    *out = filled;
                    true
                }
                Err(_) => false,
            },
            |bytes| postcard::from_bytes(bytes).ok(),
        );
    }
}

impl Overhead {
    fn pair<C: Codec, T: Serialize + DeserializeOwned + PartialEq>(
        &mut self,
        name: &str,
        value: &T,
        codec: &mut C,
        direct_encode: impl Fn(&T, &mut Vec<u8>) -> bool,
        direct_decode: impl Fn(&[u8]) -> Option<T>,
    ) {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        let encoded = codec.encode_into(value, &mut ours).is_ok();
        if !encoded || !direct_encode(value, &mut theirs) || ours != theirs {
            return self.fail(name, "the two sides do not encode to the same bytes");
        }
        let back: Option<T> = codec.decode(&ours).ok();
        if back.as_ref() != Some(value) || direct_decode(&ours).as_ref() != Some(value) {
            return self.fail(name, "the two sides do not decode to the value");
        }

        // Both sides fill the same buffer: where a buffer lies is worth up to 5 %.
        let out = RefCell::new(ours.clone());
        let mut codec_too = codec.clone();
        self.compare(
            &format!("encode {name}"),
            Box::new(|times| {
                let out = &mut *out.borrow_mut();
                repeat(times, || {
                    out.clear();
                    let done = encode(&mut codec_too, black_box(value), out);
                    assert!(done, "it encoded before");
                    black_box(&*out);
                })
            }),
            Box::new(|times| {
                let out = &mut *out.borrow_mut();
                repeat(times, || {
                    out.clear();
                    let done = direct(&direct_encode, black_box(value), out);
                    assert!(done, "it encoded before");
                    black_box(&*out);
                })
            }),
        );

        let (mut keep, mut keep_too) = (Keep::new(), Keep::new());
        self.compare(
            &format!("decode {name}"),
            Box::new(|times| {
                keep.repeat(times, || decode::<C, T>(codec, black_box(&ours)))
            }),
            Box::new(|times| {
                keep_too.repeat(times, || direct_back(&direct_decode, black_box(&ours)))
            }),
        );
    }

    fn compare(&mut self, name: &str, mut ours: Side<'_>, mut theirs: Side<'_>) {
        let once = ours(1).cpu_ns.max(theirs(1).cpu_ns).max(1);
        let times = if self.samples == 1 { 1 } else { (SAMPLE_NS / once).max(1) };
        // The first call was cold, so the number of calls is found a second time.
        let per_call = (ours(times).cpu_ns / times).max(1);
        let times = if self.samples == 1 { 1 } else { (SAMPLE_NS / per_call).max(1) };
        theirs(times);
        let (mut ratios, mut differences) = (Vec::new(), Vec::new());
        for sample in 0..self.samples {
            // Who goes first alternates too.
            let (one, two) = if sample % 2 == 0 {
                let one = ours(times);
                (one, theirs(times))
            } else {
                let two = theirs(times);
                (ours(times), two)
            };
            let (one, two) = (per(one, times), per(two, times));
            ratios.push(one / two);
            differences.push(one - two);
        }
        let at =
            |values: &[f64], percent| stats::percentile(values, percent).unwrap_or(1.0);
        let line = format!(
            "{name:24} codec / direct {:.3} (quartiles {:.3} to {:.3}), {:+.1} ns a call\n",
            at(&ratios, 50.0),
            at(&ratios, 25.0),
            at(&ratios, 75.0),
            at(&differences, 50.0),
        );
        let _ = io::stdout().write_all(line.as_bytes());
    }

    fn fail(&mut self, name: &str, what: &str) {
        self.failed = true;
        let _ = writeln!(io::stderr(), "error: {name}: {what}");
    }
}

fn per(span: Span, times: u64) -> f64 {
    span.cpu_ns.max(1) as f64 / times as f64
}

// The same entry points on both sides: not inlined, one for each codec and type.

#[inline(never)]
fn encode<C: Codec, T: Serialize>(codec: &mut C, value: &T, out: &mut Vec<u8>) -> bool {
    codec.encode_into(value, out).is_ok()
}

#[inline(never)]
fn direct<T>(
    encode: &impl Fn(&T, &mut Vec<u8>) -> bool,
    value: &T,
    out: &mut Vec<u8>,
) -> bool {
    encode(value, out)
}

#[inline(never)]
fn decode<C: Codec, T: DeserializeOwned>(codec: &mut C, bytes: &[u8]) -> Option<T> {
    codec.decode(bytes).ok()
}

#[inline(never)]
fn direct_back<T>(decode: &impl Fn(&[u8]) -> Option<T>, bytes: &[u8]) -> Option<T> {
    decode(bytes)
}
