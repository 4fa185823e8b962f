//! What is borrowed from the input: text and bytes, through copies too, and not from what was
//! compressed.
#![allow(clippy::unwrap_used, reason = "what is not there fails the test")]

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use wiremark_sereal::{
    Compression, Decoder, Dedupe, Document, Encoder, ErrorKind, Object, Str, Value,
    WriteOptions, from_slice, to_vec,
};

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
    #[serde(borrow)]
    cow: Cow<'a, str>,
    #[serde(borrow)]
    class: Object<Vec<u8>, &'a str>,
}

fn lent<'a>() -> Lent<'a> {
    Lent {
        name: "Änn",
        bytes: b"\xff\x00",
        list: vec!["a", "", "a longer text", "a longer text"],
        map: BTreeMap::from([("k", Some("v")), ("name", None)]),
        cow: "cow".into(),
        class: Object { class: "A::B", value: vec![1] },
    }
}

#[test]
fn text_and_bytes_are_borrowed_through_copies_too() {
    for dedupe in [Dedupe::Off, Dedupe::Copy, Dedupe::Alias] {
        let options = WriteOptions::new().with_dedupe(dedupe);
        let bytes = Encoder::with_options(options).encode_to_vec(&lent()).unwrap();
        let back: Lent<'_> = from_slice(&bytes).unwrap();
        assert_eq!(back, lent());
        let texts = back.list.iter().chain(back.map.keys()).copied();
        for text in texts.chain([back.name, back.map["k"].unwrap(), back.class.class]) {
            assert!(lies_inside(text.as_bytes(), &bytes), "{text}");
        }
        assert!(lies_inside(back.bytes, &bytes));
    }
}

#[test]
fn a_dynamic_value_borrows_what_it_can() {
    let bytes = to_vec(&["some text"]).unwrap();
    let Value::Array(values) = Decoder::new().decode_value(&bytes).unwrap() else {
        panic!()
    };
    let Value::Str(text) = &values[0] else { panic!("{values:?}") };
    assert!(lies_inside(text.as_bytes(), &bytes));
    let text: Vec<Str<'_>> = from_slice(&bytes).unwrap();
    assert!(lies_inside(text[0].as_bytes(), &bytes));
    // And can be kept longer than the bytes.
    let owned: Value<'static> = values[0].clone().into_owned();
    assert_eq!(owned, values[0]);
}

#[test]
fn a_compressed_document_lends_what_it_holds_itself() {
    for compression in [Compression::Snappy, Compression::Zlib(6), Compression::Zstd(3)] {
        let options =
            WriteOptions::new().with_compression(compression).with_compress_threshold(0);
        let texts = vec!["again and again"; 10];
        let bytes = Encoder::with_options(options).encode_to_vec(&texts).unwrap();
        let error = from_slice::<Vec<&str>>(&bytes).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Data);
        assert_eq!(from_slice::<Vec<String>>(&bytes).unwrap(), texts);
        let document = Document::open(&bytes).unwrap();
        let lent: Vec<&str> = document.read().unwrap();
        assert_eq!(lent, texts);
        assert!(lies_inside(lent[3].as_bytes(), document.body()));
        // A value of its own is there without the document.
        let value = Decoder::new().decode_value(&bytes).unwrap();
        assert_eq!(value, document.read_value().unwrap());
    }
}

#[test]
fn a_string_is_text_only_if_it_is_utf_8() {
    let latin1 = b"=\xf3rl\x05\x00\x64caf\xe9";
    assert_eq!(from_slice::<&str>(latin1).unwrap_err().kind(), ErrorKind::Data);
    assert_eq!(from_slice::<&[u8]>(latin1).unwrap(), b"caf\xe9");
    let wide = b"=\xf3rl\x05\x00\x27\x03\xed\xa0\x80";
    assert_eq!(from_slice::<String>(wide).unwrap_err().kind(), ErrorKind::Data);
    assert_eq!(from_slice::<&[u8]>(wide).unwrap(), b"\xed\xa0\x80");
}
