//! What is asked of the allocator: nothing by a kept encoder, and by a read only what the type
//! itself holds.
//!
//! One test alone, since the counters belong to the process.
#![allow(clippy::unwrap_used, reason = "what is not there fails the test")]

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use wiremark_meter::alloc::{Counting, measure};
use wiremark_sereal::{Decoder, Encoder, WriteOptions};

#[global_allocator]
static ALLOCATOR: Counting = Counting::system();

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Row<'a> {
    id: u32,
    name: &'a str,
    ratio: f64,
    note: Option<&'a str>,
    pair: (u8, bool),
}

#[test]
fn memory_is_asked_for_once() {
    let row =
        |id| Row { id, name: "größe", ratio: 0.1, note: Some("x"), pair: (1, true) };
    let rows = (0..1_000).map(row).collect::<Vec<_>>();
    for shared in [true, false] {
        let options = WriteOptions::new().with_shared_keys(shared);
        let mut encoder = Encoder::with_options(options);
        let mut bytes = Vec::new();
        encoder.encode_into(&rows, &mut bytes).unwrap();
        let kept = bytes.clone();
        bytes.clear();
        let (written, asked) = measure(|| encoder.encode_into(&rows, &mut bytes));
        written.unwrap();
        assert_eq!((asked.calls, &bytes), (0, &kept), "a kept encoder, shared: {shared}");

        let mut decoder = Decoder::new();
        let (read, asked) = measure(|| decoder.decode::<Vec<Row<'_>>>(&bytes));
        assert_eq!(read.unwrap(), rows);
        assert_eq!(asked.calls, 1, "the list");
        let (read, asked) = measure(|| decoder.decode::<[Row<'_>; 1]>(&bytes));
        assert!(read.is_err());
        assert!(asked.bytes < 1_000, "an error: {asked:?}");
        let (skipped, asked) = measure(|| decoder.decode::<IgnoredAny>(&bytes));
        skipped.unwrap();
        assert_eq!(asked.calls, 0, "passing over");
        let (read, asked) = measure(|| decoder.decode_value(&bytes));
        drop(read.unwrap());
        // The list, a hash for each row, and the pair in it.
        assert_eq!(asked.calls, 1 + 2 * 1_000, "a dynamic value");
    }
    // A row alone.
    let mut encoder = Encoder::new();
    let mut bytes = Vec::with_capacity(1_000);
    encoder.encode_into(&row(1), &mut bytes).unwrap();
    let (read, asked) = measure(|| Decoder::new().decode::<Row<'_>>(&bytes));
    assert_eq!(read.unwrap(), row(1));
    assert_eq!(asked.calls, 0, "a borrowed row");
}
