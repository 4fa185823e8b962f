//! Any bytes, read without types, with types, and passed over: no panic, and what is read can be
//! passed over, written again, and is then the same. `cargo +nightly fuzz run read`, from the
//! crate's folder.
#![no_main]

use std::collections::BTreeMap;

use libfuzzer_sys::fuzz_target;
use serde::Deserialize;
use serde::de::IgnoredAny;
use wiremark_storable::{
    Blessed, Decoder, Encoder, ErrorKind, Order, ReadOptions, Value, WriteOptions,
    from_slice,
};

#[derive(Debug, Deserialize)]
#[allow(dead_code, reason = "read and dropped")]
struct Wide {
    #[serde(default)]
    name: String,
    #[serde(default)]
    next: Option<Box<Wide>>,
    #[serde(default)]
    hobbies: Vec<String>,
    #[serde(default)]
    class: Option<Blessed<f64, Option<String>>>,
}

#[derive(Debug, Deserialize)]
#[allow(dead_code, reason = "read and dropped")]
enum Tree {
    Leaf(i64),
    Node(Vec<Tree>),
    Named { left: Box<Tree>, right: Option<Box<Tree>> },
}

fuzz_target!(|image: &[u8]| {
    let options = ReadOptions::new().with_code(true).with_numeric_text(true);
    let mut decoder = Decoder::with_options(options);
    match (decoder.value_prefix(image), decoder.decode_prefix::<IgnoredAny>(image)) {
        (Ok((value, used)), Ok((_, passed))) => {
            assert_eq!(used, passed);
            match value.to_vec() {
                Ok(bytes) => drop(decoder.value(&bytes).unwrap()),
                Err(error) => assert_eq!(error.kind(), ErrorKind::Limit, "{error}"),
            }
            // In native order no number becomes text, so the same is read and written again.
            let native = WriteOptions::new().with_order(Order::Native);
            let (mut bytes, mut again) = (Vec::new(), Vec::new());
            let mut encoder = Encoder::with_options(native);
            if encoder.encode_value(&value, &mut bytes).is_ok() {
                let back = decoder.value(&bytes).unwrap();
                encoder.encode_value(&back, &mut again).unwrap();
                assert_eq!(again, bytes);
            }
        }
        (Err(_), Err(_)) => {}
        // Floats of long doubles can be passed over.
        (Err(error), Ok(_)) if error.kind() == ErrorKind::Unsupported => {}
        (read, passed) => panic!("{read:?} {passed:?}"),
    }
    let _ = from_slice::<Wide>(image);
    let _ = from_slice::<Vec<Wide>>(image);
    let _ = from_slice::<Tree>(image);
    let _ = from_slice::<BTreeMap<String, Vec<u64>>>(image);
    let _ = Value::from_slice(image);
});
