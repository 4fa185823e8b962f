#![doc = include_str!("../README.md")]
//!
//! This room reads clocks and counters and the machine's own description. It never decides what
//! is measured, never writes a file, and is the only one with `unsafe` code.
#![deny(unsafe_op_in_unsafe_fn)]

pub mod alloc;
pub mod clock;
pub mod machine;
pub mod memory;

pub use crate::alloc::{Allocated, Counting};
pub use crate::clock::{Instant, Span};
