//! A measurement as data: the results schema `wiremark.results/1`, reading and writing it, and
//! statistics over it.
//!
//! Everything that wiremark prints is a pure function of a [`Run`]. This room never measures
//! and never prints.
//!
//! Sizes and counts are integers, times are nanoseconds. A value that could not be had is an
//! absent key with its reason under `missing`, never null and never 0.
#![forbid(unsafe_code)]

mod run;
pub mod stats;

pub use crate::run::{
    Build, Cell, CellId, Codec, Commit, Counts, Dataset, Load, Machine, Mode, Noise,
    Operation, Profile, Round, Run, SCHEMA, Status, Time, Tool,
};
