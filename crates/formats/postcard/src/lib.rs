//! wiremark codec: postcard.
#![forbid(unsafe_code)]
