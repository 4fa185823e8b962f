//! The crate as its users see it.
#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

mod common;
mod file;
mod real_run;
mod schema;
mod summary;
