#![doc = include_str!("../README.md")]
//!
//! This crate knows `wiremark-core` and serde; it never opens a file or reads a clock.
#![forbid(unsafe_code)]

mod codec;
mod de;
mod decoder;
mod dynamic;
mod encoder;
mod error;
mod plan;
mod planned;
mod read;
mod ser;
mod shape;
mod special;
mod time;
mod trace;
mod types;
mod value;
mod wire;

pub use crate::codec::{Gob, visit};
pub use crate::decoder::{Decoder, Deserializer, from_reader, from_slice};
pub use crate::dynamic::{Dynamic, Schema, Type, TypeKind};
pub use crate::encoder::{Encoder, Enums, Serializer, WriteOptions, to_vec, to_writer};
pub use crate::error::{Error, Result};
pub use crate::read::ReadOptions;
pub use crate::special::{Complex, Interface, Opaque, interface};
pub use crate::time::{Time, TimeRangeError};
pub use crate::types::OpaqueKind;
pub use crate::value::{Interfaced, Struct, Value};
pub use wiremark_core::ErrorKind;
