#![doc = include_str!("../README.md")]
//!
//! This room holds the contract and nothing that fulfils it: it never names a format, opens a
//! file or reads a clock.
#![forbid(unsafe_code)]

mod codec;
pub mod depth;
mod error;
mod profile;
pub mod stream;
mod traced;

pub use crate::codec::{Codec, CodecVisitor, DynCodec, append};
pub use crate::error::{Error, ErrorKind, Result};
pub use crate::profile::{Capabilities, Framing, Profile, Role, Trailing, Upkeep};
pub use crate::traced::TracedError;
