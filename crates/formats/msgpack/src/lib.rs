//! wiremark codec: rmp-serde.
#![forbid(unsafe_code)]
