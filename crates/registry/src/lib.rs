//! The list of codecs: one line and one feature for each codec crate.
#![forbid(unsafe_code)]
