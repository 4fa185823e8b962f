#![doc = include_str!("../README.md")]
//!
//! This crate knows `wiremark-core` and serde; it never opens a file, reads a clock, or runs
//! what an image says.
#![forbid(unsafe_code)]

mod blessed;
mod codec;
mod de;
mod decoder;
mod encoder;
mod error;
mod number;
mod reader;
mod scan;
mod ser;
mod value;
mod wire;

pub use crate::blessed::Blessed;
pub use crate::codec::{Storable, visit};
pub use crate::decoder::{Decoder, ReadOptions, from_reader, from_slice};
pub use crate::encoder::{
    Booleans, Encoder, WriteOptions, to_file_vec, to_vec, to_writer,
};
pub use crate::error::{Error, Result};
pub use crate::value::{
    Hook, HookKind, Key, Pair, RefKind, Regexp, TieKind, VString, Value,
};
pub use crate::wire::{ByteOrder, Header, ImageKind, Order};
pub use wiremark_core::ErrorKind;
