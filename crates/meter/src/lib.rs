//! Clocks, counters of allocations, and what machine this is.
#![forbid(unsafe_code)]
