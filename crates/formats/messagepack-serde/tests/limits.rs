//! Memory is asked for only for bytes that are there.

use wiremark_conform::hostile;
use wiremark_messagepack_serde::MessagepackSerde;
use wiremark_meter::alloc::{Counting, measure};

#[global_allocator]
static ALLOCATOR: Counting = Counting::system();

// One test in this file: the counters belong to the process.
#[test]
fn hostile_lengths_ask_for_no_memory() {
    let codec = MessagepackSerde::new();
    hostile::memory_is_bounded(&codec, |run| measure(run).1.peak_bytes).assert_none();
}
