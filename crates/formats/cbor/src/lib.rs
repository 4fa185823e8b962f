//! wiremark codec: ciborium.
#![forbid(unsafe_code)]
