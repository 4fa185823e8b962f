//! The comparisons: what a cell is, how it is checked before any clock, and the loops inside
//! the clock.
//!
//! The code is generic over codec and dataset and knows none of either: a new format is
//! measured by being on the registry's list. This room never starts a program and never
//! decides what a figure means.
#![forbid(unsafe_code)]

pub mod cells;
pub mod check;
pub mod engine;
pub mod exchange;
#[cfg(feature = "sqlite")]
pub mod export;
pub mod files;
pub mod operation;
pub mod request;
pub mod target;
pub mod turns;
pub mod worker;
