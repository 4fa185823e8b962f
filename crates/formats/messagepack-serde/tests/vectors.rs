//! Golden bytes, and rows from the specification.

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;
use wiremark_conform::corpora::Differences;
use wiremark_conform::vectors::Vectors;
use wiremark_conform::wire;
use wiremark_core::{Codec, ErrorKind};
use wiremark_datasets::Value;
use wiremark_messagepack_serde::MessagepackSerde;

/// What the golden bytes are not read as, and why.
const GOLDEN_DIFFERENCES: &[(&str, &str)] = &[
    ("Option<()> Some(())", "MessagePack has one nil, for unit and for nothing"),
    (
        "Option<Option<u8>> Some(None)",
        "MessagePack has one nil, whatever it is inside of",
    ),
];

#[test]
fn values_have_the_golden_bytes() {
    let mut differences = Differences::known(GOLDEN_DIFFERENCES);
    let golden = include_str!("data/wire-vectors.tsv");
    wire::check(&MessagepackSerde::new(), golden, &mut differences);
    differences.assert_as_known();
}

#[test]
fn each_form_of_the_specification_goes_both_ways() {
    let mut vectors = Vectors::of(&MessagepackSerde::new());
    let source = "the specification, formats";
    vectors.both_ways(source, "c0", &Value::Null);
    vectors.both_ways(source, "c2", &false);
    vectors.both_ways(source, "c3", &true);
    vectors.both_ways(source, "7f", &127_u64);
    vectors.both_ways(source, "e0", &-32_i64);
    vectors.both_ways(source, "cc80", &128_u64);
    vectors.both_ways(source, "cd0100", &256_u64);
    vectors.both_ways(source, "ce00010000", &65_536_u64);
    vectors.both_ways(source, "cfffffffffffffffff", &u64::MAX);
    vectors.both_ways(source, "d0df", &-33_i64);
    vectors.both_ways(source, "d1ff7f", &-129_i64);
    vectors.both_ways(source, "d2ffff7fff", &-32_769_i64);
    vectors.both_ways(source, "d38000000000000000", &i64::MIN);
    vectors.both_ways(source, "ca3fc00000", &1.5_f32);
    vectors.both_ways(source, "cb3fb999999999999a", &0.1_f64);
    vectors.both_ways(source, "a26f6b", &"ok".to_owned());
    vectors.both_ways(source, "c40109", &ByteBuf::from([9]));
    vectors.both_ways(source, "9201c3", &(1_u8, true));
    vectors.both_ways(source, "81a16101", &Value::Map(vec![("a".into(), 1_u64.into())]));
    // Longer than need be.
    vectors.is_read(source, "cb3ff8000000000000", &1.5_f64);
    vectors.is_read(source, "cf0000000000000001", &1_u8);
    vectors.is_read(source, "d9026f6b", &"ok".to_owned());
    vectors.is_read(source, "dd0000000101", &vec![1_u8]);
    vectors.is_read(
        source,
        "df00000001a16101",
        &Value::Map(vec![("a".into(), 1_u64.into())]),
    );
    vectors.assert_all();
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Point {
    x: u8,
    y: u8,
}

#[test]
fn a_struct_is_written_as_a_map_and_read_from_an_array_too() {
    let mut vectors = Vectors::of(&MessagepackSerde::new());
    vectors.both_ways("the library's way", "82a17801a17902", &Point { x: 1, y: 2 });
    vectors.is_read("rmp-serde's way", "920102", &Point { x: 1, y: 2 });
    vectors.assert_all();
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Texts(Vec<String>);

#[test]
fn a_newtype_struct_is_what_it_holds() {
    let mut vectors = Vectors::of(&MessagepackSerde::new());
    let both = Texts(vec!["a".to_owned(), "b".to_owned()]);
    vectors.both_ways("the specification, arrays", "92a161a162", &both);
    vectors.assert_all();
}

#[test]
fn extensions_are_refused() {
    let mut codec = MessagepackSerde::new();
    for bytes in [&[0xd4, 5, 9][..], &[0xc7, 1, 5, 9], &[0xd6, 0xff, 0, 0, 0, 0]] {
        let error = codec.decode::<Value>(bytes).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Data, "{bytes:02x?}");
        let error = codec.decode::<IgnoredAny>(bytes).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Data, "{bytes:02x?}");
    }
}
