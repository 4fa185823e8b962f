#![doc = include_str!("../README.md")]
//!
//! This room finds and builds programs in other languages and writes the values that they read. It
//! measures nothing, and what they answer is for others to judge.
#![forbid(unsafe_code)]

mod go;
mod known;
mod perl;
mod program;
pub mod values;

pub use crate::known::{KNOWN, Known, Language};
pub use crate::program::{Missing, Peers, Program, find};
