//! Any bytes, read without types, with types, and passed over: no panic, what is read without
//! types is passed over too, and can be written, compressed or not, and read again.
//! `cargo +nightly fuzz run read`, from the crate's folder.
#![no_main]

use std::collections::BTreeMap;

use libfuzzer_sys::fuzz_target;
use serde::Deserialize;
use serde::de::IgnoredAny;
use wiremark_sereal::{
    Compression, Decoder, Document, Encoder, Frozen, Object, ReadOptions, Regexp, Value,
    WriteOptions,
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
    object: Option<Object<Vec<Frozen<Vec<i64>>>>>,
    #[serde(flatten)]
    rest: BTreeMap<String, Option<Regexp>>,
}

#[derive(Debug, Deserialize)]
#[allow(dead_code, reason = "read and dropped")]
enum Tree {
    Leaf(i64),
    Node(Vec<Tree>),
    Named { left: Box<Tree>, right: Option<Box<Tree>> },
}

fuzz_target!(|bytes: &[u8]| {
    let mut decoder = Decoder::new();
    let skipped = decoder.decode_prefix::<IgnoredAny>(bytes);
    if let Ok((value, len)) = decoder.decode_value_prefix(bytes) {
        assert_eq!(skipped.unwrap().1, len);
        let written = Encoder::new().encode_value_to_vec(&value).unwrap();
        let back = decoder.decode_value(&written).unwrap();
        assert_eq!(format!("{back:?}"), format!("{value:?}"));
        // Compressed it is the same, too; how depends on nothing that matters otherwise.
        let compression = match bytes.len() % 3 {
            0 => Compression::SnappyIncremental,
            1 => Compression::Zlib(1),
            _ => Compression::Zstd(1),
        };
        let options =
            WriteOptions::new().with_compression(compression).with_compress_threshold(0);
        let packed = Encoder::with_options(options).encode_value_to_vec(&value).unwrap();
        let ample = ReadOptions::new()
            .with_max_decompressed_bytes(usize::MAX)
            .with_max_expanded_items(usize::MAX);
        let back = Decoder::with_options(ample).decode_value(&packed).unwrap();
        assert_eq!(format!("{back:?}"), format!("{value:?}"));
    }
    if let Ok(document) = Document::open(bytes) {
        let _ = document.user_data_value();
        let _ = document.read::<Vec<&str>>();
    }
    let _ = decoder.decode::<Wide>(bytes);
    let _ = decoder.decode::<Vec<Wide>>(bytes);
    let _ = decoder.decode::<Tree>(bytes);
    let _ = decoder.decode::<BTreeMap<String, Vec<u64>>>(bytes);
    let _ = decoder.decode::<Value<'_>>(bytes);
});
