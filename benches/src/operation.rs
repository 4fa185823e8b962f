//! The loops inside the clock.
//!
//! | operation | mode | inside the clock | outside |
//! | --- | --- | --- | --- |
//! | encode | reused | clearing a buffer of the right size, encoding into it | the codec and the buffer |
//! | encode | fresh | cloning the codec, encoding into an empty buffer, dropping both | the value |
//! | encode | stream | cloning the codec, clearing a buffer, encoding every record into it as a document of its own | the buffer |
//! | decode | reused | decoding into a value that owns what it holds | dropping the value |
//! | decode | fresh | cloning the codec, decoding | dropping the value and the codec |
//! | decode | stream | cloning the codec, decoding every document into a vector with room | dropping the records |
//! | borrow | reused | decoding into a value that borrows from the bytes | dropping the value |
//! | drop | reused | dropping the decoded value | decoding it |
//!
//! Values that are dropped outside are kept in a vector with room and dropped when some have
//! come together, after the clock was stopped: in the fastest formats dropping is up to 29 % of
//! what is else called decoding.

use std::hint::black_box;
use std::marker::PhantomData;

use wiremark_core::{Codec, Error, Result};
use wiremark_datasets::{Dataset, weight};
use wiremark_meter::{Instant, Span};
use wiremark_record::{Mode, Operation};

/// How much kept values weigh together before they are dropped: some tens of microseconds of
/// work, long against a reading of the clock, and few enough that they stay in the caches.
const CHUNK_WEIGHT: u64 = 192 << 10;

/// The most values that are kept at a time.
const CHUNK_MAX: u64 = 1024;

/// How many values like this one are kept before they are dropped together.
///
/// The number depends on the value alone. What the heap looks like after it moves the next
/// calls by up to a fifth: with a number that was timed, two processes that measured the same
/// decode had two figures, 346 ns and 407 ns, and none in between.
pub fn chunk<T: serde::Serialize + ?Sized>(value: &T) -> u64 {
    (CHUNK_WEIGHT / weight(value)).clamp(1, CHUNK_MAX)
}

/// Runs an operation a number of times and tells what passed.
pub type Batch<'a> = Box<dyn FnMut(u64) -> Span + 'a>;

/// An operation that is ready to run.
#[expect(missing_debug_implementations, reason = "a closure says nothing")]
pub struct Prepared<'a> {
    /// Runs it.
    pub batch: Batch<'a>,
    /// The bytes that one operation makes or reads.
    pub bytes: Vec<u8>,
}

/// Makes an operation ready: encodes what is needed, warms buffers to their size, sees that it
/// works.
///
/// # Errors
/// Those of the codec.
pub fn prepare<'a, C: Codec, D: Dataset>(
    codec: &C,
    dataset: &'a D,
    operation: Operation,
    mode: Mode,
) -> Result<Prepared<'a>> {
    let mut codec = codec.clone();
    let mut bytes = Vec::new();
    if mode == Mode::Stream {
        encode_items(&mut codec.clone(), dataset.items(), &mut bytes)?;
    } else {
        encode(&mut codec, dataset.value(), &mut bytes)?;
    }
    // The loops that read own a copy, so that nothing ties the closure to what is returned.
    let input = bytes.clone();
    let batch: Batch<'a> = match (operation, mode) {
        (Operation::Encode, Mode::Reused) => {
            let value = dataset.value();
            let mut out = Vec::with_capacity(bytes.len());
            encode(&mut codec, value, &mut out)?;
            Box::new(move |times| {
                repeat(times, || {
                    out.clear();
                    done(encode(&mut codec, black_box(value), &mut out));
                    black_box(&out);
                })
            })
        }
        (Operation::Encode, Mode::Fresh) => {
            let value = dataset.value();
            Box::new(move |times| {
                repeat(times, || {
                    let mut out = Vec::new();
                    done(encode(&mut codec.clone(), black_box(value), &mut out));
                    black_box(&out);
                })
            })
        }
        (Operation::Encode, Mode::Stream) => {
            let items = dataset.items();
            let mut out = Vec::with_capacity(bytes.len());
            Box::new(move |times| {
                repeat(times, || {
                    out.clear();
                    done(encode_items(&mut codec.clone(), black_box(items), &mut out));
                    black_box(&out);
                })
            })
        }
        (Operation::Decode, Mode::Reused) => {
            let mut keep = Keep::new(chunk(dataset.value()));
            Box::new(move |times| {
                keep.repeat(times, || {
                    done(decode::<C, D::Value>(&mut codec, black_box(&input)))
                })
            })
        }
        (Operation::Decode, Mode::Fresh) => {
            let mut keep = Keep::new(chunk(dataset.value()));
            Box::new(move |times| {
                keep.repeat(times, || {
                    let mut codec = codec.clone();
                    let value =
                        done(decode::<C, D::Value>(&mut codec, black_box(&input)));
                    (value, codec)
                })
            })
        }
        (Operation::Decode, Mode::Stream) => {
            let mut keep = Keep::new(chunk(dataset.items()));
            let count = dataset.items().len();
            Box::new(move |times| {
                keep.repeat(times, || {
                    let mut items = Vec::with_capacity(count);
                    let mut codec = codec.clone();
                    done(decode_items::<C, D::Item>(
                        &mut codec,
                        black_box(&input),
                        &mut items,
                    ));
                    items
                })
            })
        }
        (Operation::Borrow, _) => {
            // Kept values borrow from the input, and a closure cannot lend its own; so these
            // bytes are never freed. What is kept then stays from call to call, and a count of
            // allocations holds nothing of ours.
            let input: &'static [u8] = input.leak();
            let mut keep = Keep::new(chunk(dataset.value()));
            Box::new(move |times| {
                keep.repeat(times, || {
                    done(borrow::<C, D>(&mut codec, black_box(input), PhantomData))
                })
            })
        }
        (Operation::Drop, _) => {
            let chunk = chunk(dataset.value());
            let mut values: Vec<D::Value> = Vec::new();
            let mut drop_some = move |count: u64| {
                for _ in 0..count {
                    values.push(done(decode(&mut codec, &input)));
                }
                let start = Instant::now();
                for value in values.drain(..) {
                    drop(black_box(value));
                }
                start.elapsed()
            };
            Box::new(move |times| {
                let mut span = Span::default();
                let mut left = times;
                while left > 0 {
                    let count = chunk.min(left);
                    span = span + drop_some(count);
                    left -= count;
                }
                span
            })
        }
        _ => return Err(Error::unsupported("files are measured elsewhere")),
    };
    Ok(Prepared { batch, bytes })
}

/// CPU time of copying `bytes` into a buffer of the right size: what no codec can beat.
pub fn copy(bytes: &[u8], times: u64) -> Span {
    // Filled once outside of the clock: the first touch of its pages is no part of copying.
    let mut out = bytes.to_vec();
    repeat(times, || {
        out.clear();
        out.extend_from_slice(black_box(bytes));
        black_box(&out);
    })
}

/// Times `times` calls of `work`.
#[inline]
pub fn repeat(times: u64, mut work: impl FnMut()) -> Span {
    let start = Instant::now();
    for _ in 0..times {
        work();
    }
    start.elapsed()
}

/// Times calls and drops what they return outside the clock.
#[derive(Debug)]
pub struct Keep<T> {
    kept: Vec<T>,
    chunk: u64,
}

impl<T> Keep<T> {
    /// Nothing kept yet, and room for `chunk` values.
    pub fn new(chunk: u64) -> Self {
        let chunk = chunk.clamp(1, CHUNK_MAX);
        let mut kept = Vec::new();
        kept.reserve_exact(usize::try_from(chunk).unwrap_or(1));
        Self { kept, chunk }
    }

    /// Times `times` calls of `work`; what they return is dropped after the clock stopped.
    #[inline]
    pub fn repeat(&mut self, times: u64, mut work: impl FnMut() -> T) -> Span {
        let mut span = Span::default();
        let mut left = times;
        while left > 0 {
            let count = self.chunk.min(left);
            let start = Instant::now();
            for _ in 0..count {
                self.kept.push(work());
            }
            span = span + start.elapsed();
            self.kept.clear();
            left -= count;
        }
        span
    }
}

/// The value of a call that worked when the operation was made ready.
#[inline]
fn done<T>(result: Result<T>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => failed(&error),
    }
}

#[cold]
fn failed(error: &Error) -> ! {
    // A clock that runs over failing calls would show a splendid figure.
    panic!("a call failed that worked before the clock was started: {error}")
}

// One entry point for each codec and type, never inlined: what surrounds a call may not change
// what is compiled for it.

#[inline(never)]
fn encode<C: Codec, T: serde::Serialize>(
    codec: &mut C,
    value: &T,
    out: &mut Vec<u8>,
) -> Result<()> {
    codec.encode_into(value, out)
}

#[inline(never)]
fn encode_items<C: Codec, T: serde::Serialize>(
    codec: &mut C,
    items: &[T],
    out: &mut Vec<u8>,
) -> Result<()> {
    codec.encode_each(items, out)
}

#[inline(never)]
fn decode<C: Codec, T: serde::de::DeserializeOwned>(
    codec: &mut C,
    bytes: &[u8],
) -> Result<T> {
    codec.decode(bytes)
}

#[inline(never)]
fn decode_items<C: Codec, T: serde::de::DeserializeOwned>(
    codec: &mut C,
    bytes: &[u8],
    items: &mut Vec<T>,
) -> Result<()> {
    codec.decode_each(bytes, |item| {
        items.push(item);
        Ok(())
    })
}

#[inline(never)]
fn borrow<'de, C: Codec, D: Dataset>(
    codec: &mut C,
    bytes: &'de [u8],
    _: PhantomData<D>,
) -> Result<D::Borrowed<'de>> {
    codec.decode(bytes)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn kept_values_are_all_dropped_and_none_is_dropped_twice() {
        struct Counted<'a>(&'a Cell<u64>);
        impl Drop for Counted<'_> {
            fn drop(&mut self) {
                self.0.set(self.0.get() + 1);
            }
        }
        let dropped = Cell::new(0);
        let made = Cell::new(0);
        let mut keep = Keep::new(100);
        for times in [1, 7, 5000] {
            keep.repeat(times, || {
                made.set(made.get() + 1);
                Counted(&dropped)
            });
        }
        drop(keep);
        assert_eq!(made.get(), dropped.get());
        assert_eq!(made.get(), 1 + 7 + 5000);
    }
}
