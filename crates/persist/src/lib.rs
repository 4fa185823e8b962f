#![doc = include_str!("../README.md")]
//!
//! This room opens, writes, reads and syncs files, and counts each call. It never reads a clock,
//! chooses what is measured, or knows a format.
#![deny(unsafe_code)]

mod counted;
pub mod damage;
mod disk;
pub mod framed;
mod map;
mod read;
pub mod rows;
mod scratch;
mod source;
mod subject;
mod write;

pub use crate::counted::{Calls, Counted};
pub use crate::disk::{Disk, File, System};
pub use crate::map::Mapped;
pub use crate::read::{
    Read, ReadFrom, evict, is_memory, is_resident, read, read_bytes, read_each,
};
pub use crate::scratch::Scratch;
pub use crate::source::{Memory, Source};
pub use crate::subject::{Document, Subject};
pub use crate::write::{Durability, Write, write};

use std::path::Path;

use wiremark_core::Error;

/// What was being done, to which file, before what went wrong.
#[cold]
fn doing(what: &'static str, path: &Path, error: impl Into<Error>) -> Error {
    let error = error.into();
    let message = format!("cannot {what} {}: {}", path.display(), error.message());
    error.saying(message)
}
