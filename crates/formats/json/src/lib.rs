//! wiremark codec: serde_json.
#![forbid(unsafe_code)]
