//! wiremark codec: bincode.
#![forbid(unsafe_code)]
