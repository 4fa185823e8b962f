//! The test kit that every codec passes, as functions and one macro.
#![forbid(unsafe_code)]
