//! What a document's values are to types: the table of the README, row by row.
#![allow(clippy::unwrap_used, reason = "what is not there fails the test")]
#![allow(clippy::items_after_statements, reason = "a type stands beside its values")]

use std::collections::{BTreeMap, HashMap};
use std::fmt::{self, Debug};
use std::net::Ipv4Addr;

use serde::de::value::{Error as SerdeError, U8Deserializer};
use serde::de::{
    DeserializeOwned, Deserializer, IgnoredAny, IntoDeserializer, MapAccess, Visitor,
};
use serde::{Deserialize, Serialize};
use wiremark_sereal::{
    Compression, Decoder, Dedupe, Encoder, ErrorKind, Frozen, Id, Immortal, Item, Object,
    Objects, ReadOptions, Ref, Regexp, Shared, Str, Value, Version, WriteOptions,
    from_slice, to_vec,
};

fn raw(body: &[u8]) -> Vec<u8> {
    [b"=\xf3rl\x05\x00", body].concat()
}

/// Rows that differ.
#[derive(Default)]
struct Table(Vec<String>);

impl Table {
    /// The body is read as the value, and passed over.
    fn read<T: DeserializeOwned + PartialEq + Debug>(&mut self, body: &[u8], wanted: T) {
        let bytes = raw(body);
        let found = from_slice::<T>(&bytes);
        if !matches!(&found, Ok(found) if *found == wanted) {
            self.0.push(format!("{body:02x?}: want {wanted:?}, have {found:?}"));
        }
        if let Err(error) = from_slice::<IgnoredAny>(&bytes) {
            self.0.push(format!("{body:02x?}: {error}"));
        }
        drop(wanted);
    }

    fn refuse<T: DeserializeOwned + Debug>(&mut self, body: &[u8]) {
        if let Ok(found) = from_slice::<T>(&raw(body)) {
            self.0.push(format!("{body:02x?}: want an error, have {found:?}"));
        }
    }

    #[track_caller]
    fn check(self) {
        assert!(self.0.is_empty(), "{}", self.0.join("\n"));
    }
}

#[test]
fn numbers_are_read_from_what_perl_makes_of_them() {
    let mut table = Table::default();
    table.read(b"\x0f", 15_u8);
    table.read(b"\x10", -16_i8);
    table.read(b"\x20\xac\x02", 300_i64);
    table.read(b"\x20\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", u64::MAX);
    table.read(b"\x21\x0a", 5_u8);
    table.read(b"\x21\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", i64::MIN);
    table.read(b"\x21\x03", i128::from(-2));
    // Strings of digits, and floats that are whole.
    table.read(b"\x6242", 42_u8);
    table.read(b"\x63-42", -42_i16);
    table.read(b"\x631e2", 100_u8);
    table.read(b"\x6342.", 42_u8);
    table.read(b"\x22\x00\x00\x40\x40", 3_u8);
    table.read(b"\x23\x00\x00\x00\x00\x00\x00\x08\xc0", -3_i64);
    table.refuse::<u8>(b"\x22\x00\x00\x60\x40");
    table.refuse::<u8>(b"\x62+1");
    table.refuse::<u8>(b"\x60");
    table.refuse::<u8>(b"\x62 1");
    table.refuse::<u8>(b"\x63abc");
    table.refuse::<u8>(b"\x63300");
    table.refuse::<u64>(b"\x23\x00\x00\x00\x00\x00\x00\xf0\x43");
    // Floats of each width, integers and strings.
    table.read(b"\x22\x00\x00\xc0\x3f", 1.5_f64);
    table.read(b"\x22\x00\x00\xc0\x3f", 1.5_f32);
    table.read(b"\x23\x00\x00\x00\x00\x00\x00\xf8\x3f", 1.5_f32);
    table.read(b"\x03", 3.0_f64);
    table.read(b"\x631.5", 1.5_f64);
    table.read(b"\x63Inf", f64::INFINITY);
    table.read(b"\x24\0\0\0\0\0\0\0\xc0\xff\x3f\0\0\0\0\0\0", 1.5_f64);
    table.read(b"\x38\0\0\0\0\0\0\0\0\0\0\0\0\0\x80\xff\x3f", 1.5_f64);
    table.refuse::<f64>(b"\x63abc");
    table.read(b"\x35", true);
    table.read(b"\x34", false);
    table.read(b"\x3b", true);
    table.read(b"\x3a", false);
    table.read(b"\x01", true);
    table.read(b"\x00", false);
    table.read(b"\x60", false);
    table.read(b"\x610", false);
    table.read(b"\x611", true);
    table.refuse::<bool>(b"\x02");
    table.refuse::<bool>(b"\x612");
    // Text of more than 64 bits, and what is not finite, of both wide floats.
    table.read(b"\x7418446744073709551616", 1_u128 << 64);
    table.read(b"\x74-9223372036854775809", -(1_i128 << 63) - 1);
    table.read(b"\x24\0\0\0\0\0\0\0\x80\xff\x7f\0\0\0\0\0\0", f64::INFINITY);
    table.read(b"\x24\0\0\0\0\0\0\0\x80\xff\xff\0\0\0\0\0\0", f64::NEG_INFINITY);
    table.read(b"\x38\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xff\x7f", f64::INFINITY);
    table.read(b"\x38\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xff\xff", f64::NEG_INFINITY);
    table.check();
}

#[test]
fn numbers_are_strict_where_they_are_asked_to_be() {
    let strict = ReadOptions::new().with_lenient_numbers(false);
    let mut decoder = Decoder::with_options(strict);
    assert!(decoder.decode::<u8>(&raw(b"\x6242")).is_err());
    assert!(decoder.decode::<f64>(&raw(b"\x631.5")).is_err());
    assert!(decoder.decode::<bool>(&raw(b"\x01")).is_err());
    assert!(decoder.decode::<bool>(&raw(b"\x611")).is_err());
    assert_eq!(decoder.decode::<u8>(&raw(b"\x05")).unwrap(), 5);
}

#[test]
fn ways_to_a_value_are_passed_over() {
    let mut table = Table::default();
    // Padding, references, weak ones, tracked ones, objects, copies, aliases.
    table.read(b"\x3f\x3f\x05", 5_u8);
    table.read(b"\x28\x28\x05", 5_u8);
    table.read(b"\x85", 5_u8);
    table.read(b"\x30\x41\x05", vec![5_u8]);
    table.read(b"\x2c\x61A\x41\x05", vec![5_u8]);
    table.read(b"\x30\x2c\x61A\x28\x2b\x01\x05", vec![5_u8]);
    table.read(b"\x42\x2c\x61A\x41\x05\x2d\x03\x41\x06", vec![vec![5_u8], vec![6]]);
    table.read(b"\x32\x61A\x28\x2b\x02\x66Sereal\x05", ("Sereal".to_owned(), 5_u8));
    table.read(b"\x42\x61a\x2f\x02", ["a".to_owned(), "a".to_owned()]);
    table.read(b"\x42\x41\x05\x2f\x02", [vec![5_u8], vec![5]]);
    table.read(b"\x42\x28\xab\x01\x05\x29\x03", [vec![5_u8], vec![5]]);
    table.read(b"\x42\x85\x2e\x02", [5_u8, 5]);
    table.read(b"\x42\xa8\x05\x2e\x02", [5_u8, 5]);
    table.read(b"\x42\x51\x61k\x05\x51\x2f\x03\x06", {
        let map = |value: u8| BTreeMap::from([("k".to_owned(), value)]);
        [map(5), map(6)]
    });
    table.read(b"\x28\x31\x62^a\x61i", "^a".to_owned());
    // A bare container is one all the same.
    table.read(b"\x2b\x01\x05", vec![5_u8]);
    table.read(b"\x2a\x01\x61k\x05", HashMap::from([("k".to_owned(), 5_u8)]));
    // A copy of what holds a reference.
    table.read(b"\x43\x28\xab\x01\x05\x41\x29\x03\x2f\x06", {
        (vec![5_u8], vec![vec![5_u8]], vec![vec![5_u8]])
    });
    // Something tracked that is passed over is known all the same.
    #[derive(Debug, PartialEq, Deserialize)]
    struct Late {
        known: Vec<u8>,
    }
    table.read(b"\x52\x61x\x28\xab\x01\x05\x65known\x29\x05", Late { known: vec![5] });
    // Padding in what is copied and passed over.
    let late = || Late { known: vec![5] };
    let body = b"\x42\x52\x61x\x3f\x3f\x07\x65known\x41\x05\x2f\x02";
    table.read(body, [late(), late()]);
    table.check();
}

#[test]
fn options_are_undef_or_what_the_way_leads_to() {
    let mut table = Table::default();
    table.read(b"\x25", None::<u8>);
    table.read(b"\x39", None::<u8>);
    table.read(b"\xa5", None::<u8>);
    table.read(b"\x28\x25", None::<u8>);
    table.read(b"\x3f\x25", None::<u8>);
    table.read(b"\x28\x85", Some(5_u8));
    table.read(b"\x43\xa5\x2e\x02\x2f\x02", [None::<u8>; 3]);
    table.read(b"\x28\x2b\x01\x05", Some(vec![5_u8]));
    table.read(b"\x2c\x61A\x41\x05", Some(vec![5_u8]));
    table.read(b"\x2c\x61A\x28\x05", Some(5_u8));
    table.read(b"\x2c\x61A\x51\x61k\x05", Some(BTreeMap::from([("k".to_owned(), 5_u8)])));
    let object = |value| Object { class: "A".to_owned(), value };
    table.read(b"\x2c\x61A\x41\x05", Some(object(vec![5_u8])));
    table.read(b"\x2c\x61A\x41\x05", Some(Some(object(vec![5_u8]))));
    table.read(
        b"\x42\x2c\xe1A\x41\x05\x2d\x03\x40",
        [Some(object(vec![5_u8])), Some(object(vec![]))],
    );
    table.read(
        b"\x32\x61A\x28\x2b\x01\x05",
        Some(Frozen { class: "A".to_owned(), arguments: [5_u8] }),
    );
    table.refuse::<Option<Object<Vec<u8>>>>(b"\x32\x61A\x28\x2b\x01\x05");
    table.read(b"\x25", ());
    table.read(b"\x42\x25\x05", ((), Some(5_u8)));
    table.check();
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Shape {
    Empty,
    Circle(f64),
    Line(i16, i16),
    Box { width: u8 },
}

#[test]
fn enums_are_their_names_or_hashes_of_one_pair() {
    let mut table = Table::default();
    table.read(b"\x65Empty", Shape::Empty);
    table.read(b"\x27\x05Empty", Shape::Empty);
    table.read(b"\x51\x65Empty\x25", Shape::Empty);
    table.read(b"\x28\x65Empty", Shape::Empty);
    table.read(b"\x51\x66Circle\x01", Shape::Circle(1.0));
    table.read(b"\x28\x2a\x01\x64Line\x42\x01\x1f", Shape::Line(1, -1));
    table.read(b"\x51\x63Box\x51\x65width\x05", Shape::Box { width: 5 });
    table.read(b"\x51\x63Box\x41\x05", Shape::Box { width: 5 });
    table.read(b"\x2c\x65Shape\x51\x66Circle\x01", Shape::Circle(1.0));
    table.refuse::<Shape>(b"\x65Other");
    table.refuse::<Shape>(b"\x66Circle");
    table.refuse::<Shape>(b"\x64Line");
    table.refuse::<Shape>(b"\x63Box");
    table.refuse::<Shape>(b"\x50");
    table.refuse::<Shape>(b"\x05");
    table.check();
}

#[test]
fn keys_are_what_the_type_wants_of_them() {
    let mut table = Table::default();
    table.read(b"\x52\x611\x05\x62-2\x06", BTreeMap::from([(1_i8, 5_u8), (-2, 6)]));
    table.read(b"\x51\x64true\x05", BTreeMap::from([(true, 5_u8)]));
    table.read(b"\x51\x610\x05", BTreeMap::from([(false, 5_u8)]));
    table.read(b"\x51\x61x\x05", BTreeMap::from([('x', 5_u8)]));
    table.read(b"\x51\x61x\x05", BTreeMap::from([(Some("x".to_owned()), 5_u8)]));
    table.read(
        b"\x51\x61\xff\x05",
        BTreeMap::from([(serde_bytes::ByteBuf::from(vec![0xff]), 5_u8)]),
    );
    let wide = u128::MAX.to_string();
    let body = [b"\x51\x26", &[39][..], wide.as_bytes(), b"\x05"].concat();
    table.read(&body, BTreeMap::from([(u128::MAX, 5_u8)]));
    #[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    enum Side {
        Left,
        Right,
    }
    #[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    struct Name(String);
    table.read(b"\x51\x64Left\x05", BTreeMap::from([(Side::Left, 5_u8)]));
    table.read(b"\x51\x61n\x05", BTreeMap::from([(Name("n".to_owned()), 5_u8)]));
    // A number of 128 bits may be written in other ways.
    table.read(b"\x51\x631e2\x05", BTreeMap::from([(100_u128, 5_u8)]));
    table.refuse::<BTreeMap<u128, u8>>(b"\x51\x61x\x05");
    table.refuse::<BTreeMap<Side, u8>>(b"\x51\x62Up\x05");
    table.refuse::<BTreeMap<u8, u8>>(b"\x51\x61x\x05");
    table.refuse::<BTreeMap<bool, u8>>(b"\x51\x61x\x05");
    table.check();
    // And back.
    let all = (
        BTreeMap::from([(Side::Right, 1)]),
        BTreeMap::from([(-5_i64, 1)]),
        BTreeMap::from([(true, 1)]),
        BTreeMap::from([('é', 1)]),
        BTreeMap::from([(Name("n".to_owned()), 1)]),
        BTreeMap::from([(u128::MAX, 1)]),
        BTreeMap::from([(Some(serde_bytes::ByteBuf::from(vec![0xff])), 1)]),
    );
    let bytes = to_vec(&all).unwrap();
    let read = |bytes| {
        from_slice::<(
            BTreeMap<Side, u8>,
            BTreeMap<i64, u8>,
            BTreeMap<bool, u8>,
            BTreeMap<char, u8>,
            BTreeMap<Name, u8>,
            BTreeMap<u128, u8>,
            BTreeMap<Option<serde_bytes::ByteBuf>, u8>,
        )>(bytes)
    };
    assert_eq!(to_vec(&read(&bytes).unwrap()).unwrap(), bytes);
}

#[test]
fn latin_1_is_text_for_who_asks_for_it() {
    let options = ReadOptions::new().with_latin1(true);
    let mut decoder = Decoder::with_options(options);
    let bytes = raw(b"\x64caf\xe9");
    assert_eq!(decoder.decode::<String>(&bytes).unwrap(), "café");
    assert_eq!(decoder.decode::<serde_bytes::ByteBuf>(&bytes).unwrap(), b"caf\xe9");
    let map = decoder.decode::<BTreeMap<String, u8>>(&raw(b"\x51\x61\xe9\x05")).unwrap();
    assert_eq!(map["é"], 5);
    // Where nothing can be lent, too.
    let compressed = WriteOptions::new()
        .with_compression(Compression::Zlib(6))
        .with_compress_threshold(0);
    let long = b"caf\xe9".repeat(50);
    let bytes = Encoder::with_options(compressed)
        .encode_to_vec(serde_bytes::Bytes::new(&long))
        .unwrap();
    assert!(bytes.len() < 50);
    assert_eq!(decoder.decode::<String>(&bytes).unwrap(), "café".repeat(50));
    assert_eq!(decoder.decode::<serde_bytes::ByteBuf>(&bytes).unwrap(), long);
    assert_eq!(decoder.decode::<Str<'_>>(&bytes).unwrap(), Str::from("café".repeat(50)));
    let found = Decoder::new().decode::<Str<'_>>(&bytes).unwrap();
    assert_eq!(found, Str::bytes(long));
    assert_eq!(Decoder::new().decode::<Value<'_>>(&bytes).unwrap(), Value::Str(found));
    // What is flagged and no UTF-8 is no Latin-1 either.
    assert!(decoder.decode::<String>(&raw(b"\x27\x01\xe9")).is_err());
}

#[test]
fn text_is_flagged_where_it_must_be_or_always() {
    let always = WriteOptions::new().with_always_text(true);
    let rows: [(&str, &[u8], &[u8]); 3] = [
        ("", b"\x60", b"\x27\x00"),
        ("abc", b"\x63abc", b"\x27\x03abc"),
        ("é", b"\x27\x02\xc3\xa9", b"\x27\x02\xc3\xa9"),
    ];
    for (text, plain, flagged) in rows {
        assert_eq!(to_vec(text).unwrap(), raw(plain));
        let bytes = Encoder::with_options(always).encode_to_vec(text).unwrap();
        assert_eq!(bytes, raw(flagged));
        assert_eq!(from_slice::<String>(&bytes).unwrap(), text);
    }
    let bytes = to_vec(serde_bytes::Bytes::new(&[0xff; 32])).unwrap();
    assert_eq!(bytes, raw(&[&[0x26, 32], &[0xff; 32][..]].concat()));
}

#[test]
fn a_string_that_comes_again_is_a_copy_or_an_alias_where_that_is_asked_for() {
    let object = Object { class: "A", value: "text" };
    let value = (["text", "text", "abc", "abc"], Ref("text"), object);
    let rows: [(Dedupe, &[u8]); 3] = [
        (
            Dedupe::Off,
            b"\x43\x44\x64text\x64text\x63abc\x63abc\x28\x64text\x2c\x61A\x28\x64text",
        ),
        (
            Dedupe::Copy,
            b"\x43\x44\x64text\x2f\x03\x63abc\x63abc\x28\x2f\x03\x2c\x61A\x28\x2f\x03",
        ),
        (
            Dedupe::Alias,
            b"\x43\x44\xe4text\x2e\x03\x63abc\x63abc\x28\x2f\x03\x2c\x61A\x28\x2f\x03",
        ),
    ];
    for (dedupe, wanted) in rows {
        let options = WriteOptions::new().with_dedupe(dedupe);
        let bytes = Encoder::with_options(options).encode_to_vec(&value).unwrap();
        assert_eq!(bytes, raw(wanted), "{dedupe:?}");
        let back: ([&str; 4], Ref<&str>, Object<&str, &str>) =
            from_slice(&bytes).unwrap();
        assert_eq!(back, value);
        // A dynamic value is deduplicated as well, by its characters.
        let plain = Value::Array(vec![
            Value::Str(Str::bytes(&b"caf\xe9"[..])),
            Value::Str(Str::text("café")),
        ]);
        let bytes = Encoder::with_options(options).encode_value_to_vec(&plain).unwrap();
        let is_once = bytes.len() == 6 + 1 + 5 + 2;
        assert_eq!(is_once, dedupe != Dedupe::Off, "{bytes:02x?}");
    }
}

#[test]
fn an_object_in_an_option_is_what_the_type_makes_of_it() {
    #[derive(Debug, PartialEq, Deserialize)]
    struct Point {
        x: u8,
    }
    #[derive(Debug, PartialEq, Deserialize)]
    struct Newtype<T>(T);
    let object = |value| Object { class: "A".to_owned(), value };
    let mut table = Table::default();
    let body = b"\x2c\x61A\x51\x61x\x05";
    table.read(body, Some(Point { x: 5 }));
    table.read(body, Some(Newtype(Point { x: 5 })));
    table.read(body, Some(Newtype(object(Point { x: 5 }))));
    table.read(body, Some(Newtype(Some(object(Point { x: 5 })))));
    table.read(b"\x2c\x61A\x28\x65Empty", Some(Shape::Empty));
    table.read(b"\x2c\x61A\x28\x61x", Some(serde_bytes::ByteBuf::from(b"x".to_vec())));
    table.read(b"\x2c\x61A\x28\x615", Some(5_i64));
    table.read(b"\x2c\x61A\x28\x03", Some(3.0_f64));
    table.read(b"\x2c\x61A\x28\x01", Some(true));
    table.read(b"\x2c\x61A\x44\x20\x7f\x00\x00\x01", Some(Ipv4Addr::LOCALHOST));
    table.check();
    // Bytes that are lent, and what is passed over: reading goes on behind it.
    let bytes = raw(b"\x42\x2c\x61A\x28\x61x\x05");
    let read: (Option<&serde_bytes::Bytes>, u8) = from_slice(&bytes).unwrap();
    assert_eq!(read, (Some(serde_bytes::Bytes::new(b"x")), 5));
    let read: (Option<IgnoredAny>, u8) = from_slice(&bytes).unwrap();
    assert_eq!(read, (Some(IgnoredAny), 5));
}

#[test]
fn types_of_two_forms_give_and_want_the_one_for_machines() {
    let bytes = to_vec(&Ipv4Addr::LOCALHOST).unwrap();
    assert_eq!(bytes, raw(b"\x44\x20\x7f\x00\x00\x01"));
    assert_eq!(from_slice::<Ipv4Addr>(&bytes).unwrap(), Ipv4Addr::LOCALHOST);
    let list = vec![Ipv4Addr::LOCALHOST];
    let wanted = raw(b"\x41\x44\x20\x7f\x00\x00\x01");
    assert_eq!(to_vec(&list).unwrap(), wanted);
    assert_eq!(from_slice::<Vec<Ipv4Addr>>(&wanted).unwrap(), list);
    // Which is no key, neither way.
    let error = to_vec(&BTreeMap::from([(Ipv4Addr::LOCALHOST, 1)])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    let bytes = to_vec(&BTreeMap::from([("127.0.0.1", 1)])).unwrap();
    let error = from_slice::<BTreeMap<Ipv4Addr, u8>>(&bytes).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Data);
}

#[test]
fn integers_of_128_bits_are_written_as_narrow_as_others() {
    let largest = raw(b"\x20\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
    assert_eq!(to_vec(&i128::from(u64::MAX)).unwrap(), largest);
    assert_eq!(to_vec(&u128::from(u64::MAX)).unwrap(), largest);
    assert_eq!(to_vec(&(5_u128, 5_i128, -16_i128)).unwrap(), raw(b"\x43\x05\x05\x10"));
    assert_eq!(from_slice::<u128>(&largest).unwrap(), u128::from(u64::MAX));
}

#[test]
fn a_sequence_of_unknown_length_has_a_count_of_five_bytes() {
    struct Odd(u8);
    impl Serialize for Odd {
        fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
            to.collect_seq((0..self.0).filter(|number| number % 2 == 1))
        }
    }
    let bytes = to_vec(&Odd(4)).unwrap();
    assert_eq!(bytes, raw(b"\x28\x2b\x82\x80\x80\x80\x00\x01\x03"));
    assert_eq!(from_slice::<[u8; 2]>(&bytes).unwrap(), [1, 3]);
}

#[test]
fn bytes_that_are_keys_are_lent() {
    let bytes = raw(b"\x51\x61\xff\x05");
    let read: BTreeMap<&serde_bytes::Bytes, u8> = from_slice(&bytes).unwrap();
    assert_eq!(read, BTreeMap::from([(serde_bytes::Bytes::new(b"\xff"), 5)]));
}

#[test]
fn a_variant_with_content_is_no_key() {
    #[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
    enum Wide {
        Newtype(u8),
        Tuple(u8, u8),
        Struct { x: u8 },
    }
    for body in [&b"\x51\x67Newtype\x05"[..], b"\x51\x65Tuple\x05", b"\x51\x66Struct\x05"]
    {
        let error = from_slice::<BTreeMap<Wide, u8>>(&raw(body)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Data, "{body:02x?}");
        let text = "expected a variant with content, found its name alone";
        assert!(error.to_string().starts_with(text), "{error}");
    }
}

/// The first value of a map: behind its key or, by mistake, without it.
#[derive(Debug, PartialEq)]
struct First<const HAS_KEY: bool>(u8);

impl<'de, const HAS_KEY: bool> Deserialize<'de> for First<HAS_KEY> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Pairs<const HAS_KEY: bool>;
        impl<'de, const HAS_KEY: bool> Visitor<'de> for Pairs<HAS_KEY> {
            type Value = First<HAS_KEY>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map")
            }

            fn visit_map<A: MapAccess<'de>>(
                self,
                mut map: A,
            ) -> Result<Self::Value, A::Error> {
                if HAS_KEY {
                    map.next_key::<IgnoredAny>()?;
                }
                map.next_value().map(First)
            }
        }
        deserializer.deserialize_map(Pairs)
    }
}

#[test]
fn pairs_that_a_type_leaves_are_passed_over() {
    let mut table = Table::default();
    table.read(b"\x42\x51\x61a\x05\x09", (First::<true>(5), 9_u8));
    table.read(b"\x42\x53\x61a\x05\x61b\x41\x06\x61c\x07\x09", (First::<true>(5), 9_u8));
    table.check();
    // And looked at.
    let broken: [(&[u8], ErrorKind); 3] = [
        (b"\x42\x52\x61a\x05\x05\x06\x09", ErrorKind::Syntax),
        (b"\x42\x52\x61a\x05\x61b\x36\x09", ErrorKind::Syntax),
        (b"\x42\x52\x61a\x05\x61b\x09", ErrorKind::Eof),
    ];
    for (body, kind) in broken {
        let error = from_slice::<(First<true>, u8)>(&raw(body)).unwrap_err();
        assert_eq!(error.kind(), kind, "{body:02x?}: {error}");
    }
    // A type that forgets the key gets it as the value, which has no place on the way.
    let error = from_slice::<[First<false>; 1]>(&raw(b"\x41\x51\x61k\x05")).unwrap_err();
    assert_eq!((error.kind(), error.path().as_str()), (ErrorKind::Data, "[0]"));
}

#[test]
fn booleans_before_version_5_are_perls_own() {
    for (version, wanted) in
        [(Version::V4, b"\x42\x3b\x3a"), (Version::V5, b"\x42\x35\x34")]
    {
        let options = WriteOptions::new().with_version(version);
        let bytes = Encoder::with_options(options).encode_to_vec(&[true, false]).unwrap();
        assert_eq!(bytes[6..], wanted[..]);
        assert_eq!(from_slice::<[bool; 2]>(&bytes).unwrap(), [true, false]);
    }
}

#[test]
fn keys_are_shared_however_many_there_are() {
    let record =
        |n: usize| (0..n).map(|key| (format!("key {key}"), key)).collect::<Vec<_>>();
    for count in [1, 16, 17, 40, 1_000] {
        let maps: Vec<BTreeMap<_, _>> = vec![record(count).into_iter().collect(); 3];
        let shared = to_vec(&maps).unwrap();
        let options = WriteOptions::new().with_shared_keys(false);
        let full = Encoder::with_options(options).encode_to_vec(&maps).unwrap();
        assert!(shared.len() < full.len(), "{count}");
        for bytes in [&shared, &full] {
            assert_eq!(from_slice::<Vec<BTreeMap<String, usize>>>(bytes).unwrap(), maps);
        }
        // Each key stands there once.
        let key = b"key 0";
        let times = shared.windows(key.len()).filter(|found| found == key).count();
        assert_eq!(times, 1, "{count}");
    }
}

#[test]
fn objects_are_written_as_perl_does() {
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Point {
        x: u8,
    }
    let point = |x| Object { class: "P".to_owned(), value: Point { x } };
    let bytes = to_vec(&[point(1), point(2)]).unwrap();
    assert_eq!(bytes, raw(b"\x42\x2c\x61P\x51\x61x\x01\x2d\x03\x51\x2f\x06\x02"));
    assert_eq!(from_slice::<[Object<Point>; 2]>(&bytes).unwrap(), [point(1), point(2)]);
    // A scalar is blessed by a reference to it, an object too.
    let number = Object { class: "N", value: 5 };
    assert_eq!(to_vec(&number).unwrap(), raw(b"\x2c\x61N\x28\x05"));
    let outer = Object { class: "O".to_owned(), value: point(1) };
    let bytes = to_vec(&outer).unwrap();
    assert_eq!(bytes, raw(b"\x2c\x61O\x28\x2c\x61P\x51\x61x\x01"));
    assert_eq!(from_slice::<Object<Object<Point>>>(&bytes).unwrap(), outer);
    let frozen =
        |n| Frozen { class: "F".to_owned(), arguments: ("Sereal".to_owned(), n) };
    let bytes = to_vec(&[frozen(1), frozen(2)]).unwrap();
    let wanted =
        b"\x42\x32\x61F\x28\x2b\x02\x66Sereal\x01\x33\x03\x28\x2b\x02\x66Sereal\x02";
    assert_eq!(bytes, raw(wanted));
    assert_eq!(
        from_slice::<Vec<Frozen<(String, u8)>>>(&bytes).unwrap(),
        [frozen(1), frozen(2)]
    );
    let regexp = Regexp { pattern: "é".to_owned(), flags: "xx".to_owned() };
    assert_eq!(from_slice::<Regexp>(&to_vec(&regexp).unwrap()).unwrap(), regexp);
    assert_eq!(from_slice::<Ref<u8>>(&to_vec(&Ref(5)).unwrap()).unwrap(), Ref(5));
    // Other formats have pairs.
    assert_eq!(serde_json::to_string(&point(1)).unwrap(), r#"["P",{"x":1}]"#);
    let back: Object<Point> = serde_json::from_str(r#"["P",{"x":1}]"#).unwrap();
    assert_eq!(back, point(1));
    for (json, length) in [("[]", 0), (r#"["P"]"#, 1)] {
        let error = serde_json::from_str::<Object<Point>>(json).unwrap_err().to_string();
        let wanted = format!("invalid length {length}, expected a pair");
        assert!(error.starts_with(&wanted), "{error}");
    }
    assert_eq!(serde_json::from_str::<Ref<u8>>("5").unwrap(), Ref(5));
}

#[test]
fn objects_are_written_plain_or_not_at_all_where_that_is_asked_for() {
    let plain = Encoder::with_options(WriteOptions::new().with_objects(Objects::Plain));
    let refused =
        Encoder::with_options(WriteOptions::new().with_objects(Objects::Refused));
    // The vector `object-no-bless`: `bless { a => [ bless [], 'X' ] }, 'Y'`.
    let inner = Object { class: "X", value: [(); 0] };
    let nested = Object { class: "Y", value: BTreeMap::from([("a", [inner])]) };
    let wanted = raw(b"\x51\x61a\x41\x40");
    assert_eq!(plain.clone().encode_to_vec(&nested).unwrap(), wanted);
    let regexp = Regexp { pattern: "a", flags: "" };
    assert_eq!(plain.clone().encode_to_vec(&regexp).unwrap(), raw(b"\x28\x31\x61a\x60"));
    let kept = to_vec(&nested).unwrap();
    let value = Decoder::new().decode_value(&kept).unwrap();
    assert_eq!(plain.clone().encode_value_to_vec(&value).unwrap(), wanted);
    assert!(refused.clone().encode_to_vec(&nested).is_err());
    assert!(refused.clone().encode_to_vec(&regexp).is_err());
    assert!(refused.clone().encode_value_to_vec(&value).is_err());
    let frozen = Frozen { class: "F", arguments: [1] };
    assert_eq!(plain.clone().encode_to_vec(&frozen).unwrap(), raw(b"\x28\x2b\x01\x01"));
    assert!(refused.clone().encode_to_vec(&frozen).is_err());
}

#[test]
fn a_dynamic_value_is_plain_data_to_other_formats() {
    let bytes = raw(
        b"\x58\x61a\x25\x61b\x35\x61c\x1f\x61d\x22\x00\x00\xc0\x3f\x61e\x2c\x61A\x41\x05\
          \x61f\x28\x31\x61x\x60\x61g\x28\x39\x61h\x28\x3b",
    );
    let value = Decoder::new().decode_value(&bytes).unwrap();
    let json = serde_json::to_string(&value).unwrap();
    assert_eq!(
        json,
        r#"{"a":null,"b":true,"c":-1,"d":1.5,"e":[5],"f":"x","g":null,"h":true}"#
    );
    let back: Value<'_> = serde_json::from_str(&json).unwrap();
    assert_eq!(back.get("e"), Some(&Value::Array(vec![Value::Int(5)])));
    assert_eq!(from_slice::<Value<'_>>(&to_vec(&back).unwrap()).unwrap(), back);
    assert_eq!(value.get("e").unwrap().get("x"), None);
    assert_eq!(
        value.get("h"),
        Some(&Value::Ref(Box::new(Value::Immortal(Immortal::True))))
    );
    // Arguments of a frozen object, bytes that are no UTF-8, what is met first of several.
    let frozen =
        Frozen { class: Str::from("A"), arguments: Value::Array(vec![5.into()]) };
    let first = Shared { id: 1, item: Item::Scalar, value: "text".into() };
    let rows = [
        (Value::Frozen(Box::new(frozen)), "[5]"),
        (Value::Str(Str::bytes(&b"\xff\x00"[..])), "[255,0]"),
        (Value::Shared(Box::new(first)), "\"text\""),
        (Value::Weak(Box::new(Value::Array(vec!["é".into()]))), "[\"é\"]"),
        (Value::Uint(u64::MAX), "18446744073709551615"),
    ];
    for (value, wanted) in rows {
        assert_eq!(serde_json::to_string(&value).unwrap(), wanted, "{value:?}");
    }
    // What stands in several places has no meaning there.
    let shared =
        Decoder::new().decode_value(b"=\xf3rl\x05\x00\x28\xab\x01\x29\x02").unwrap();
    for value in [shared, Value::SameRef(1), Value::Alias(1)] {
        let error = serde_json::to_string(&value).unwrap_err().to_string();
        assert!(error.starts_with("expected plain data"), "{error}");
    }
}

/// A deserializer of an option, or of a newtype, around a number.
enum Around {
    Nothing,
    Option(u8),
    Newtype(u8),
}

impl<'de> Deserializer<'de> for Around {
    type Error = SerdeError;

    fn deserialize_any<V: Visitor<'de>>(
        self,
        visitor: V,
    ) -> Result<V::Value, SerdeError> {
        let inner =
            |value: u8| -> U8Deserializer<SerdeError> { value.into_deserializer() };
        match self {
            Self::Nothing => visitor.visit_none(),
            Self::Option(value) => visitor.visit_some(inner(value)),
            Self::Newtype(value) => visitor.visit_newtype_struct(inner(value)),
        }
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
        option unit unit_struct newtype_struct seq tuple tuple_struct map struct enum
        identifier ignored_any
    }
}

#[test]
fn our_types_are_read_from_other_formats_or_say_what_they_expect() {
    for (from, wanted) in [
        (Around::Nothing, Value::Undef),
        (Around::Option(5), Value::Int(5)),
        (Around::Newtype(5), Value::Int(5)),
    ] {
        assert_eq!(Value::deserialize(from).unwrap(), wanted);
    }
    fn expected<'de, T: Deserialize<'de> + Debug>(
        from: impl Deserializer<'de, Error = SerdeError>,
    ) -> String {
        T::deserialize(from).unwrap_err().to_string()
    }
    let five = || -> U8Deserializer<SerdeError> { 5_u8.into_deserializer() };
    let found = "invalid type: integer `5`, expected";
    assert_eq!(expected::<Object<u8>>(five()), format!("{found} a pair"));
    assert_eq!(expected::<Ref<u8>>(five()), format!("{found} a reference"));
    assert_eq!(expected::<Str<'_>>(five()), format!("{found} a string"));
    let wide: serde::de::value::U128Deserializer<SerdeError> =
        u128::MAX.into_deserializer();
    assert!(expected::<Value<'_>>(wide).ends_with("expected any value"));
}

#[test]
fn a_key_is_found_behind_sharing_classes_and_weakness() {
    let hash = || Value::Hash(vec![(Str::from("k"), Value::Int(5))]);
    let shared = Shared { id: 1, item: Item::Referent, value: hash() };
    let object = Object { class: Str::from("A"), value: Value::Shared(Box::new(shared)) };
    let value = Value::Weak(Box::new(Value::Object(Box::new(object))));
    assert_eq!(value.get("k"), Some(&Value::Int(5)));
    assert_eq!((value.get("other"), Value::from("k").get("k")), (None, None));
}

#[test]
fn what_is_shared_is_known_by_a_number() {
    let shared =
        |id: Id, item, value| Value::Shared(Box::new(Shared { id, item, value }));
    let text = |text: &str| Value::Str(Str::from(text.to_owned()));
    let frozen = |arguments| {
        let class = Str::from("A");
        Value::Frozen(Box::new(Frozen { class, arguments }))
    };
    let list = || shared(2, Item::Referent, Value::Array(vec![Value::Int(5)]));
    let rows: [(&[u8], Value<'_>); 14] = [
        // A scalar that is a reference to itself.
        (
            b"\x28\xa9\x02",
            Value::Ref(Box::new(shared(1, Item::Scalar, Value::SameRef(1)))),
        ),
        (
            b"\x28\xab\x01\x29\x02",
            shared(1, Item::Referent, Value::Array(vec![Value::SameRef(1)])),
        ),
        (
            b"\x42\xe1a\x2e\x02",
            Value::Array(vec![shared(1, Item::Scalar, text("a")), Value::Alias(1)]),
        ),
        // A bit that nothing refers to says nothing.
        (b"\x42\xe1a\x85", Value::Array(vec![text("a"), Value::Int(5)])),
        (
            b"\x42\xa8\x05\x28\x29\x02",
            Value::Array(vec![
                shared(1, Item::Scalar, Value::Ref(Box::new(Value::Int(5)))),
                Value::Ref(Box::new(Value::SameRef(1))),
            ]),
        ),
        (
            b"\x42\x28\xaa\x00\x30\x29\x03",
            Value::Array(vec![
                shared(1, Item::Referent, Value::Hash(vec![])),
                Value::Weak(Box::new(Value::SameRef(1))),
            ]),
        ),
        // Padding before it has the same number: the places of both name it.
        (
            b"\x43\xbf\x85\x2e\x02\x2e\x03",
            Value::Array(vec![
                shared(1, Item::Scalar, Value::Int(5)),
                Value::Alias(1),
                Value::Alias(1),
            ]),
        ),
        (
            b"\x42\x28\xbf\x2b\x01\x05\x29\x03",
            Value::Array(vec![
                shared(1, Item::Referent, Value::Array(vec![Value::Int(5)])),
                Value::SameRef(1),
            ]),
        ),
        // A place of padding before an alias is one of what is aliased.
        (
            b"\x43\x85\xbf\x2e\x02\x2e\x03",
            Value::Array(vec![
                shared(1, Item::Scalar, Value::Int(5)),
                Value::Alias(1),
                Value::Alias(1),
            ]),
        ),
        // A scalar that is met again refers to an array that is: `sub { \@_ }->($r, $r, $s)`
        // after `$s = $r = [5]`, and `[\$r, $r, \$r]`, as Perl writes them.
        (
            b"\x43\xa8\xab\x01\x05\x2e\x02\x29\x03",
            Value::Array(vec![
                shared(1, Item::Scalar, list()),
                Value::Alias(1),
                Value::SameRef(2),
            ]),
        ),
        (
            b"\x43\x28\xa8\xab\x01\x05\x29\x04\x29\x03",
            Value::Array(vec![
                Value::Ref(Box::new(shared(1, Item::Scalar, list()))),
                Value::SameRef(2),
                Value::SameRef(1),
            ]),
        ),
        // A frozen object that is referred to weakly.
        (
            b"\x30\x32\x61A\x28\x2b\x01\x05",
            Value::Weak(Box::new(frozen(Value::Array(vec![Value::Int(5)])))),
        ),
        // The arguments of a frozen object are met again.
        (
            b"\x42\x32\x61A\x28\xab\x01\x05\x29\x06",
            Value::Array(vec![
                frozen(shared(1, Item::Referent, Value::Array(vec![Value::Int(5)]))),
                Value::SameRef(1),
            ]),
        ),
        // What is copied is another thing.
        (
            b"\x43\x28\xab\x01\x05\x2f\x02\x29\x03",
            Value::Array(vec![
                shared(1, Item::Referent, Value::Array(vec![Value::Int(5)])),
                Value::Array(vec![Value::Int(5)]),
                Value::SameRef(1),
            ]),
        ),
    ];
    for (body, wanted) in rows {
        let bytes = raw(body);
        let found = Decoder::new().decode_value(&bytes).unwrap();
        assert_eq!(found, wanted, "{body:02x?}");
        let written = Encoder::new().encode_value_to_vec(&found).unwrap();
        assert_eq!(Decoder::new().decode_value(&written).unwrap(), wanted, "{body:02x?}");
        from_slice::<IgnoredAny>(&raw(body)).unwrap();
        assert_eq!(wanted.clone().into_owned(), wanted);
    }
    // An alias of an array itself is none of a scalar, of itself none at all; arguments are
    // no hash.
    for body in [
        &b"\x28\x2b\x02\x28\xab\x00\x2e\x05"[..],
        b"\x2e\x01",
        b"\x28\x2e\x01",
        b"\x41\xbf\x2e\x02",
        b"\x42\x32\x61A\x28\xaa\x00\x29\x06",
    ] {
        assert!(Decoder::new().decode_value(&raw(body)).is_err(), "{body:02x?}");
        assert!(
            from_slice::<wiremark_datasets::Value>(&raw(body)).is_err(),
            "{body:02x?}"
        );
    }
}

#[test]
fn runs_of_integers_are_read_whatever_is_among_them() {
    // Of each length, the ends of the range, one padded, and what is like one but in a bit.
    let forms: [(&[u8], Value); 12] = [
        (b"\x00", Value::Int(0)),
        (b"\x0f", Value::Int(15)),
        (b"\x10", Value::Int(-16)),
        (b"\x20\x10", Value::Int(16)),
        (b"\x20\x7f", Value::Int(127)),
        (b"\x21\x01", Value::Int(-1)),
        (b"\x20\x80\x01", Value::Int(128)),
        (b"\x20\xff\x7f", Value::Int(16_383)),
        (b"\x20\x85\x00", Value::Int(5)),
        (b"\x20\x80\x80\x01", Value::Int(16_384)),
        (b"\x21\xff\x7f", Value::Int(-8192)),
        (b"\x61\x20", Value::Str(Str::bytes(&b" "[..]))),
    ];
    for (most, most_value) in &forms {
        for (other, other_value) in &forms {
            for count in [1, 15, 16, 17, 33, 50] {
                for at in [0, 1, count / 2, count - 1] {
                    let mut body = vec![0x28, 0x2b, u8::try_from(count).unwrap()];
                    let mut wanted = Vec::new();
                    for index in 0..count {
                        let is_other = index == at;
                        body.extend(if is_other { *other } else { *most });
                        let value = if is_other { other_value } else { most_value };
                        wanted.push(value.clone());
                    }
                    let bytes = raw(&body);
                    let value = Decoder::new().decode_value(&bytes).unwrap();
                    assert_eq!(value, Value::Array(wanted), "{bytes:02x?}");
                }
            }
        }
    }
}
