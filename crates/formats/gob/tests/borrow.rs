//! What is borrowed from the input: text and bytes, across the pieces of a value too.
#![allow(clippy::unwrap_used, reason = "what is not there fails the test")]

mod support;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use support::{text, unhex, vectors};
use wiremark_gob::{Decoder, Deserializer, ErrorKind, from_slice, to_vec};

fn lies_inside(part: &[u8], whole: &[u8]) -> bool {
    let (part, whole) = (part.as_ptr_range(), whole.as_ptr_range());
    whole.start <= part.start && part.end <= whole.end
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Lent<'a> {
    name: &'a str,
    #[serde(with = "serde_bytes")]
    bytes: &'a [u8],
    #[serde(borrow)]
    list: Vec<&'a str>,
    #[serde(borrow)]
    map: BTreeMap<&'a str, Option<&'a str>>,
    left_out: &'a str,
}

#[test]
fn text_and_bytes_are_borrowed() {
    let lent = Lent {
        name: "Ann",
        bytes: b"\xff\x00",
        list: vec!["a", ""],
        map: BTreeMap::from([("k", Some("v")), ("n", None)]),
        left_out: "",
    };
    let bytes = to_vec(&lent).unwrap();
    let back: Lent<'_> = from_slice(&bytes).unwrap();
    assert_eq!(back, lent);
    for part in [back.name, back.list[0], back.map["k"].unwrap()] {
        assert!(lies_inside(part.as_bytes(), &bytes));
    }
    assert!(lies_inside(back.bytes, &bytes));
}

#[test]
fn text_is_borrowed_from_a_value_in_several_messages() {
    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "PascalCase")]
    struct Outer<'a> {
        n: i64,
        t: &'a str,
    }
    let vectors = vectors();
    for name in ["iface/def_inside_value", "iface/def_inside_two_levels"] {
        let vector = vectors.iter().find(|vector| text(vector, "name") == name).unwrap();
        let stream = unhex(text(vector, "hex"));
        let outer: Outer<'_> = Deserializer::from_slice(&stream).read().unwrap();
        assert_eq!((outer.n, outer.t), (7, "tail"));
        assert!(lies_inside(outer.t.as_bytes(), &stream));
    }
}

#[test]
fn values_of_a_stream_live_as_long_as_the_stream() {
    let stream = [to_vec("one").unwrap(), to_vec("two").unwrap()].concat();
    let mut deserializer = Deserializer::from_slice(&stream);
    let first = deserializer.read::<&str>().unwrap();
    let second = deserializer.read::<&str>().unwrap();
    assert_eq!((first, second), ("one", "two"));
}

#[test]
fn a_string_is_text_only_if_it_is_utf_8() {
    // A Go string of the byte ff.
    let stream = [4, 12, 0, 1, 0xff];
    assert_eq!(from_slice::<&str>(&stream).unwrap_err().kind(), ErrorKind::Data);
    assert_eq!(from_slice::<&[u8]>(&stream).unwrap(), [0xff]);
}

#[test]
fn a_reader_lends_nothing() {
    let stream = to_vec("text").unwrap();
    assert_eq!(Decoder::new(&stream[..]).read::<String>().unwrap(), "text");
    assert_eq!(Decoder::new(&stream[..]).read::<Box<str>>().unwrap(), "text".into());
}
