#![doc = include_str!("../README.md")]
//!
//! This room holds data and what is computed from data: it never measures and never prints.
#![forbid(unsafe_code)]

mod file;
pub mod protocol;
mod run;
pub mod stats;
mod summary;

pub use crate::file::{Error, ErrorKind, write_atomic};
pub use crate::run::{
    Build, Calls, Cell, CellId, Clock, Codec, Commit, Counts, Damage, Dataset, Exchange,
    Load, Machine, Mode, Noise, Operation, Outcome, Profile, Round, Run, SCHEMA, Status,
    Suite, Time, Tool,
};
pub use crate::summary::{Beside, Comparison};

/// The JSON Schema (draft 2020-12) of [`SCHEMA`], as text.
///
/// It says more than the types do: that numbers are not negative, that a cell without a figure
/// has a reason, that what an `ok` cell lacks is explained.
pub const SCHEMA_JSON: &str = include_str!("../schema/results-1.json");
