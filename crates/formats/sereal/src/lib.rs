#![doc = include_str!("../README.md")]
//!
//! This crate knows `wiremark-core` and serde, and a library for each compression; it never opens
//! a file or reads a clock, and it runs no code that a document names.
#![forbid(unsafe_code)]

mod codec;
mod compress;
mod de;
mod decoder;
mod encoder;
mod error;
mod header;
mod keys;
mod options;
mod read;
mod ser;
mod special;
mod tag;
mod value;
mod write;

pub use crate::codec::{Sereal, visit};
pub use crate::decoder::{Decoder, Document, Documents, from_reader, from_slice};
pub use crate::encoder::{Encoder, to_vec, to_writer};
pub use crate::error::{Error, Result};
pub use crate::header::DocumentType;
pub use crate::options::{
    Compression, Dedupe, KeyOrder, Objects, ReadOptions, Version, WriteOptions,
};
pub use crate::special::{Frozen, Object, Ref, Regexp};
pub use crate::value::{Id, Immortal, Item, Shared, Str, Value};
pub use wiremark_core::ErrorKind;
