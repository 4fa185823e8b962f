//! Any bytes, read without types, with types, and passed over: no panic, and reading and passing
//! over agree. `cargo +nightly fuzz run read`, from the crate's folder.
#![no_main]

use std::collections::BTreeMap;

use libfuzzer_sys::fuzz_target;
use serde::Deserialize;
use wiremark_gob::{Decoder, Deserializer, ErrorKind, Interface, Value, to_vec};

#[derive(Debug, Deserialize)]
#[allow(dead_code, reason = "read and dropped")]
struct Wide {
    #[serde(rename = "Name", default)]
    name: String,
    #[serde(rename = "Next", default)]
    next: Option<Box<Wide>>,
    #[serde(rename = "Hobbies", default)]
    hobbies: Vec<String>,
    #[serde(rename = "V", default)]
    any: Option<Interface<Option<i64>>>,
}

#[derive(Debug, Deserialize)]
#[allow(dead_code, reason = "read and dropped")]
enum Tree {
    Leaf(i64),
    Node(Vec<Tree>),
    Named { left: Box<Tree>, right: Option<Box<Tree>> },
}

fuzz_target!(|stream: &[u8]| {
    let mut reader = Deserializer::from_slice(stream);
    let mut skipper = Deserializer::from_slice(stream);
    loop {
        match (reader.next_value::<Value>(), skipper.skip_value()) {
            (Ok(Some(value)), Ok(true)) => {
                assert_eq!(reader.offset(), skipper.offset());
                // What was read can be written.
                match to_vec(&value) {
                    Ok(bytes) => drop(wiremark_gob::from_slice::<Value>(&bytes).unwrap()),
                    Err(error) => assert!(
                        matches!(error.kind(), ErrorKind::Limit | ErrorKind::Unsupported),
                        "{error}"
                    ),
                }
            }
            (Ok(None), Ok(false)) => break,
            (Err(a), Err(b)) => {
                assert_eq!(a.kind(), b.kind());
                break;
            }
            (read, skipped) => panic!("{read:?} {skipped:?}"),
        }
    }
    let _ = wiremark_gob::from_slice::<Wide>(stream);
    let _ = wiremark_gob::from_slice::<Vec<Wide>>(stream);
    let _ = wiremark_gob::from_slice::<Tree>(stream);
    let _ = wiremark_gob::from_slice::<BTreeMap<String, Vec<u64>>>(stream);
    let _ = Decoder::new(stream).read::<Wide>();
});
