//! Records in, text out: terminal, Markdown and CSV.
#![forbid(unsafe_code)]
