//! What can be lent out of the input is: text, bytes, keys, classes, and in a `Value` all of them.
#![allow(clippy::unwrap_used, reason = "what is not there fails the test")]

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use wiremark_storable::{
    Blessed, Encoder, Order, Value, WriteOptions, from_slice, to_vec,
};

fn is_inside(part: &[u8], whole: &[u8]) -> bool {
    let (part, whole) = (part.as_ptr_range(), whole.as_ptr_range());
    whole.start <= part.start && part.end <= whole.end
}

#[derive(Serialize)]
struct Written {
    name: &'static str,
    long: String,
    tags: Vec<&'static str>,
    blob: &'static serde_bytes::Bytes,
    by_key: BTreeMap<&'static str, u8>,
    object: Blessed<&'static str>,
    none: Option<&'static str>,
}

#[derive(Deserialize)]
struct Read<'a> {
    name: &'a str,
    long: &'a str,
    #[serde(borrow)]
    tags: Vec<&'a str>,
    blob: &'a [u8],
    by_key: BTreeMap<&'a str, u8>,
    object: Blessed<&'a str, &'a str>,
    none: Option<&'a str>,
}

#[test]
fn text_bytes_keys_and_classes_are_lent() {
    for order in [Order::Network, Order::Native] {
        let written = Written {
            name: "größe",
            long: "x".repeat(300),
            tags: vec!["a", "b", "水"],
            blob: serde_bytes::Bytes::new(b"\xff\x00"),
            by_key: BTreeMap::from([("ascii", 1), ("水", 2)]),
            object: Blessed::new("Class".to_owned(), "value"),
            none: None,
        };
        let mut image = Vec::new();
        let options = WriteOptions::new().with_order(order);
        Encoder::with_options(options).encode(&written, &mut image).unwrap();
        let read: Read<'_> = from_slice(&image).unwrap();
        let mut parts = vec![
            read.name.as_bytes(),
            read.long.as_bytes(),
            read.blob,
            read.object.class.as_bytes(),
            read.object.value.as_bytes(),
        ];
        parts.extend(read.tags.iter().map(|tag| tag.as_bytes()));
        parts.extend(read.by_key.keys().map(|key| key.as_bytes()));
        assert!(parts.into_iter().all(|part| is_inside(part, &image)));
        assert_eq!(read.tags, written.tags);
        assert_eq!(read.by_key, written.by_key);
        assert_eq!((read.name, read.none), (written.name, None));
    }
}

#[test]
fn a_latin_1_key_becomes_text_of_its_own() {
    let image = to_vec(&BTreeMap::from([("café", 1)])).unwrap();
    // The key is one byte shorter than its UTF-8.
    assert!(image.ends_with(b"\x02\0\0\0\x04caf\xe9"));
    let read: BTreeMap<Cow<'_, str>, u8> = from_slice(&image).unwrap();
    assert_eq!(read["café"], 1);
    from_slice::<BTreeMap<&str, u8>>(&image).unwrap_err();
}

#[test]
fn a_value_lends_its_strings() {
    let image = to_vec(&("text", "größe", BTreeMap::from([("key", "value")]))).unwrap();
    let value = Value::from_slice(&image).unwrap();
    let elements = value.as_array().unwrap();
    for element in &elements[..2] {
        assert!(is_inside(element.as_bytes().unwrap(), &image));
    }
    let Value::Hash(pairs) = elements[2].target() else { panic!("{value:?}") };
    assert!(is_inside(&pairs[0].key.bytes, &image));
    assert_eq!(elements[2].get("key").and_then(Value::as_str), Some("value"));
    // And is independent where that is wanted.
    let owned: Value<'static> = value.clone().into_owned();
    drop(value);
    assert_eq!(owned.as_array().unwrap()[0].as_str(), Some("text"));
}
