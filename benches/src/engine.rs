//! criterion as the engine: a measurement on the thread's CPU clock, and one cell as a bench.
//!
//! criterion warms up, decides how many operations make a sample, and takes the samples. Its
//! figures are read from a log that the timed closure keeps, not from the files it writes,
//! which are no stable interface: the last `samples` calls of the closure are the samples.

use std::cell::RefCell;
use std::hint::black_box;
use std::io::{self, Write};
use std::time::Duration;

use criterion::measurement::{Measurement, ValueFormatter, WallTime};
use criterion::{Criterion, SamplingMode};
use wiremark_meter::{Instant, Span};
use wiremark_record::protocol::{Sample, Sampling};
use wiremark_record::{CellId, Clock, Operation, Round, stats};

use crate::operation::{Batch, Prepared, copy};
use crate::turns::Turns;

/// criterion's measurement: a [`Span`] of the thread, of which one clock is what counts.
#[derive(Clone, Copy, Debug)]
pub struct Spans {
    clock: Clock,
}

impl Spans {
    fn of(self, span: Span) -> u64 {
        match self.clock {
            Clock::Cpu => span.cpu_ns,
            Clock::Wall => span.wall_ns,
        }
    }
}

impl Measurement for Spans {
    type Intermediate = Instant;
    type Value = Span;

    fn start(&self) -> Instant {
        Instant::now()
    }

    fn end(&self, start: Instant) -> Span {
        start.elapsed()
    }

    fn add(&self, one: &Span, two: &Span) -> Span {
        *one + *two
    }

    fn zero(&self) -> Span {
        Span::default()
    }

    #[expect(clippy::cast_precision_loss, reason = "2^53 ns are 104 days")]
    fn to_f64(&self, span: &Span) -> f64 {
        // criterion divides by the time it saw, and a clock may stand still.
        self.of(*span).max(1) as f64
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        // criterion's own formatter of nanoseconds is private, but reachable through this.
        const WALL: &WallTime = &WallTime;
        WALL.formatter()
    }
}

/// criterion with the settings of `sampling` and of the command line, by the clock that counts.
pub fn criterion(sampling: Sampling, clock: Clock) -> Criterion<Spans> {
    settings(sampling, clock).configure_from_args()
}

fn settings(sampling: Sampling, clock: Clock) -> Criterion<Spans> {
    let samples = sampling.samples.max(10);
    Criterion::default()
        .with_measurement(Spans { clock })
        .without_plots()
        // 100,000, the default, cost 0.2 s a cell, for intervals that nobody reads here.
        .nresamples(1000)
        .sample_size(usize::try_from(samples).unwrap_or(10))
        .warm_up_time(Duration::from_nanos(sampling.warm_up_ns.max(1)))
        .measurement_time(Duration::from_nanos(
            sampling.sample_ns.saturating_mul(samples.into()).max(1),
        ))
}

/// Runs one cell under criterion. `None` if the command line's filter leaves it out, or if
/// criterion was asked to test or to list rather than to measure.
pub fn measure(
    criterion: &mut Criterion<Spans>,
    id: &CellId,
    prepared: Prepared<'_>,
    sampling: Sampling,
) -> Option<Round> {
    let log = RefCell::new(Vec::new());
    let Prepared { mut batch, bytes } = prepared;
    run(criterion, id, &mut batch, sampling, &log);
    let log = log.into_inner();
    let samples = usize::try_from(sampling.samples.max(10)).unwrap_or(10);
    let samples = log.len().checked_sub(samples).and_then(|first| log.get(first..))?;
    let clock = id.operation.clock();
    let mut round = Round::of_samples(&sampled(samples), clock)?;
    // Dropping neither makes nor reads bytes.
    if clock == Clock::Cpu && !bytes.is_empty() && id.operation != Operation::Drop {
        round.copy_ns = copy_ns(&bytes);
    }
    Some(round)
}

fn run(
    criterion: &mut Criterion<Spans>,
    id: &CellId,
    batch: &mut Batch<'_>,
    sampling: Sampling,
    log: &RefCell<Vec<(u64, Span)>>,
) {
    let time_ns = sampling.sample_ns.saturating_mul(sampling.samples.max(10).into());
    let clock = id.operation.clock();
    let time = Duration::from_nanos(time_ns.max(1)).mul_f64(around(batch, clock));
    let CellId { operation, dataset, codec, mode, way, .. } = id;
    let way = way.as_ref().map_or_else(String::new, |way| format!("/{way}"));
    let mut group = criterion.benchmark_group(format!("{operation}/{dataset}"));
    group.sampling_mode(SamplingMode::Flat);
    group.measurement_time(time);
    let mut turns = Turns::from_environment();
    group.bench_function(format!("{codec}/{mode}{way}"), |bencher| {
        bencher.iter_custom(|times| {
            if let Some(turns) = &mut turns
                && my_turn(turns, times)
            {
                warm(batch, times, log.borrow().last());
            }
            let nth = log.borrow().len();
            let span = elsewhere(nth, &mut || batch(times));
            log.borrow_mut().push((times, span));
            span
        });
    });
    group.finish();
}

/// Waits for this process's turn; whether a sample is next.
fn my_turn(turns: &mut Turns, times: u64) -> bool {
    turns.wait(times).unwrap_or_else(|error| {
        // criterion's closure cannot fail, and a figure without the others is none.
        let _ = writeln!(io::stderr(), "error: {error}");
        std::process::exit(1)
    })
}

/// Runs a part of a sample outside the clock: another process had the caches meanwhile.
fn warm(batch: &mut Batch<'_>, times: u64, last: Option<&(u64, Span)>) {
    // Filling a second-level cache again takes a tenth of a millisecond.
    const LONG_NS: u64 = 10_000_000;
    let is_long = |&(times, span): &(u64, Span)| span.cpu_ns / times.max(1) > LONG_NS;
    if !last.is_some_and(is_long) {
        batch(times.div_ceil(4));
    }
}

/// Runs the `nth` sample with the stack in another place, 16 bytes further each time.
///
/// Where the stack lies within a cache line is left to chance when a process starts, and was
/// worth 6 % of encoding `small`. A process that tries all places has the same figure as the
/// next one.
fn elsewhere(nth: usize, work: &mut dyn FnMut() -> Span) -> Span {
    match nth % 4 {
        0 => beyond::<16>(work),
        1 => beyond::<32>(work),
        2 => beyond::<48>(work),
        _ => beyond::<64>(work),
    }
}

#[inline(never)]
fn beyond<const BYTES: usize>(work: &mut dyn FnMut() -> Span) -> Span {
    let mut pad = [0_u8; BYTES];
    black_box(&mut pad);
    let span = work();
    black_box(&mut pad);
    span
}

/// How much longer operations take on the wall, with what is outside the clock, than inside it.
///
/// criterion asks for as many operations as fill a sample's time on the wall; dropping takes a
/// hundredth of the decoding before it, and its samples would be of a few microseconds.
#[expect(clippy::cast_precision_loss, reason = "2^53 ns are 104 days")]
fn around(batch: &mut Batch<'_>, clock: Clock) -> f64 {
    const PROBE_NS: u64 = 1_000_000;
    // Beyond this a cell takes too long; its samples are shorter than wanted.
    const MOST: f64 = 10.0;
    let mut times = 1;
    loop {
        let start = Instant::now();
        let inside = batch(times);
        let all = start.elapsed();
        if all.wall_ns >= PROBE_NS || times >= 1 << 20 {
            let ratio = all.wall_ns as f64 / Spans { clock }.of(inside).max(1) as f64;
            return ratio.clamp(1.0, MOST);
        }
        times *= 2;
    }
}

/// The samples as a record has them.
fn sampled(samples: &[(u64, Span)]) -> Vec<Sample> {
    let sample = |(times, span): &(u64, Span)| {
        let Span { cpu_ns, wall_ns, user_ns, system_ns, preemptions, .. } = *span;
        Sample(*times, cpu_ns, wall_ns, user_ns, system_ns, preemptions)
    };
    samples.iter().map(sample).collect()
}

/// The lower quartile of a few copies of `bytes`, each a batch of a quarter of a millisecond.
#[expect(clippy::cast_precision_loss, reason = "2^53 ns are 104 days")]
fn copy_ns(bytes: &[u8]) -> Option<f64> {
    const SAMPLES: usize = 8;
    const BATCH_NS: u64 = 250_000;
    copy(bytes, 1);
    let mut times = 1;
    while times < 1 << 20 && copy(bytes, times).cpu_ns < BATCH_NS {
        times *= 2;
    }
    let samples: Vec<f64> =
        (0..SAMPLES).map(|_| copy(bytes, times).cpu_ns as f64 / times as f64).collect();
    stats::lower_quartile(&samples)
}

#[cfg(test)]
mod tests {
    use wiremark_record::Mode;

    use super::*;

    /// What criterion writes of its samples.
    #[derive(serde::Deserialize)]
    struct Written {
        iters: Vec<f64>,
        times: Vec<f64>,
    }

    #[test]
    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    fn the_last_calls_are_the_samples_that_criterion_has() {
        let folder = tempfile::tempdir().unwrap();
        let sampling =
            Sampling { samples: 12, sample_ns: 100_000, warm_up_ns: 1_000_000 };
        let mut criterion =
            settings(sampling, Clock::Cpu).output_directory(folder.path());
        let id = CellId {
            operation: Operation::Encode,
            dataset: "small".to_owned(),
            codec: "a/b".to_owned(),
            mode: Mode::Reused,
            way: None,
            again: false,
        };
        // A clock by which each call takes a little longer than the one before, so that no two
        // samples are alike.
        let mut calls = 0;
        let mut batch: Batch<'_> = Box::new(move |times| {
            calls += 1;
            // criterion's warm-up looks at the wall.
            for _ in 0..100 * times {
                black_box(());
            }
            let cpu_ns = 1_000 * times + calls;
            Span { cpu_ns, wall_ns: cpu_ns, ..Span::default() }
        });
        let log = RefCell::new(Vec::new());
        run(&mut criterion, &id, &mut batch, sampling, &log);

        let file = folder.path().join("encode_small/a_b_reused/new/sample.json");
        let text = std::fs::read(&file).unwrap();
        let written: Written = serde_json::from_slice(&text).unwrap();
        let log = log.into_inner();
        let (iters, times): (Vec<f64>, Vec<f64>) = log[log.len() - 12..]
            .iter()
            .map(|(times, span)| (*times as f64, span.cpu_ns as f64))
            .unzip();
        assert!(log.len() > 12, "the warm-up calls too");
        assert_eq!(iters, written.iters);
        assert_eq!(times, written.times);
    }

    #[test]
    fn samples_keep_their_places() {
        let span =
            Span { cpu_ns: 2, wall_ns: 3, user_ns: 4, system_ns: 5, preemptions: 6 };
        assert_eq!(sampled(&[(1, span)]), [Sample(1, 2, 3, 4, 5, 6)]);
    }
}
