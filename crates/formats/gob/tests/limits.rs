//! Limits: depth both ways and exactly, counts that lie, types without end, memory.
#![allow(clippy::unwrap_used, reason = "what is not there fails the test")]

use std::collections::BTreeMap;
use std::fmt::Debug;

use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use wiremark_gob::{
    Decoder, Deserializer, Encoder, Error, ErrorKind, ReadOptions, Value, WriteOptions,
};

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct List(Vec<List>);

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Link {
    next: Option<Box<Link>>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
enum Chain {
    End,
    More(Box<Chain>),
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Map(BTreeMap<String, Map>);

/// A value of `levels` levels around a core, written without a limit.
fn deep<T: Serialize>(core: T, around: impl Fn(T) -> T, levels: u32) -> Vec<u8> {
    let value = (0..levels).fold(core, |inner, _| around(inner));
    let options = WriteOptions::new().with_max_depth(10_000).with_lossless(true);
    let mut encoder = Encoder::with_options(Vec::new(), options);
    encoder.encode(&value).unwrap();
    encoder.into_inner()
}

fn write<T: Serialize>(value: &T) -> Result<Vec<u8>, Error> {
    let mut encoder =
        Encoder::with_options(Vec::new(), WriteOptions::new().with_lossless(true));
    encoder.encode(value)?;
    Ok(encoder.into_inner())
}

#[track_caller]
fn check<T>(core: impl Fn() -> T, around: impl Fn(T) -> T, fitting: u32)
where
    T: Serialize + DeserializeOwned + PartialEq + Debug,
{
    let value = (0..fitting).fold(core(), |inner, _| around(inner));
    let bytes = write(&value).unwrap();
    assert_eq!(bytes, deep(core(), &around, fitting));
    assert_eq!(wiremark_gob::from_slice::<T>(&bytes).unwrap(), value);
    wiremark_gob::from_slice::<Value>(&bytes).unwrap();
    wiremark_gob::from_slice::<IgnoredAny>(&bytes).unwrap();

    let value = around(value);
    assert_eq!(write(&value).unwrap_err().kind(), ErrorKind::Limit);
    let bytes = deep(core(), &around, fitting + 1);
    let outcomes = [
        wiremark_gob::from_slice::<T>(&bytes).map(drop),
        wiremark_gob::from_slice::<Value>(&bytes).map(drop),
        wiremark_gob::from_slice::<IgnoredAny>(&bytes).map(drop),
        wiremark_gob::from_slice::<wiremark_datasets::Value>(&bytes).map(drop),
        Decoder::new(&bytes[..]).read::<T>().map(drop),
        Decoder::new(&bytes[..]).skip_value().map(drop),
    ];
    for outcome in outcomes {
        assert_eq!(outcome.unwrap_err().kind(), ErrorKind::Limit);
    }
    // Who wants more gets more.
    let more = ReadOptions::new().with_max_depth(fitting + 2);
    let read = Deserializer::from_slice(&bytes).with_options(more).read::<T>();
    assert_eq!(read.unwrap(), value);
}

#[test]
fn a_value_of_128_levels_goes_both_ways_and_the_next_neither() {
    check(|| List(vec![]), |inner| List(vec![inner]), 127);
    check(|| Link { next: None }, |inner| Link { next: Some(Box::new(inner)) }, 127);
    check(|| Chain::End, |inner| Chain::More(Box::new(inner)), 128);
    let map = |inner| Map(BTreeMap::from([("k".to_owned(), inner)]));
    check(|| Map(BTreeMap::new()), map, 127);
}

#[test]
fn a_newtype_around_itself_does_not_run_for_ever() {
    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "it is never made")]
    struct Loop(Option<Box<Loop>>);
    let error = wiremark_gob::from_slice::<Loop>(&[3, 4, 0, 6]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
}

/// A stream of `count` struct types, each with two fields of the next, and an empty value.
fn doubling(count: u8) -> Vec<u8> {
    let mut stream = Vec::new();
    for index in 0..count {
        // Ids 64 to 127 are `ff 80` to `ff fe`; a definition's is one less.
        let id = 128 + 2 * index;
        let next = if index + 1 == count { vec![4] } else { vec![0xff, id + 2] };
        let define = if index == 0 { vec![0x7f] } else { vec![0xff, id - 1] };
        let mut body = define;
        body.extend([3, 1, 2, 0xff, id, 0, 1, 2]);
        for name in [b'A', b'B'] {
            body.extend([1, 1, name, 1]);
            body.extend_from_slice(&next);
            body.push(0);
        }
        body.extend([0, 0]);
        stream.push(u8::try_from(body.len()).unwrap());
        stream.extend(body);
    }
    stream.extend([3, 0xff, 0x80, 0]);
    stream
}

#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "read and dropped")]
struct Pair {
    #[serde(rename = "A", default)]
    a: Option<Box<Pair>>,
    #[serde(rename = "B", default)]
    b: Option<Box<Pair>>,
}

#[test]
fn left_out_fields_cannot_multiply() {
    /// Asks for the zero of a struct of structs, and so on.
    #[derive(Debug)]
    struct Greedy;
    impl<'de> Deserialize<'de> for Greedy {
        fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
            struct Visitor;
            impl<'de> serde::de::Visitor<'de> for Visitor {
                type Value = Greedy;
                fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    f.write_str("a struct")
                }
                fn visit_map<A: serde::de::MapAccess<'de>>(
                    self,
                    mut map: A,
                ) -> Result<Greedy, A::Error> {
                    while map.next_entry::<String, Greedy>()?.is_some() {}
                    Ok(Greedy)
                }
                fn visit_i64<E>(self, _: i64) -> Result<Greedy, E> {
                    Ok(Greedy)
                }
            }
            d.deserialize_struct("", &["A", "B"], Visitor)
        }
    }
    // 2^50 zeros, were they all handed out.
    let stream = doubling(50);
    let error = wiremark_gob::from_slice::<Greedy>(&stream).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
    wiremark_gob::from_slice::<Pair>(&stream).unwrap();
    wiremark_gob::from_slice::<Value>(&stream).unwrap();
    wiremark_gob::from_slice::<wiremark_datasets::Value>(&stream).unwrap();
    let few = ReadOptions::new().with_max_zeros(1);
    let error = Deserializer::from_slice(&stream).with_options(few).read::<Pair>();
    assert_eq!(error.unwrap_err().kind(), ErrorKind::Limit);
}

#[test]
fn types_and_fields_are_counted() {
    let stream = doubling(20);
    let few = ReadOptions::new().with_max_types(19, 1_000);
    let error = Deserializer::from_slice(&stream).with_options(few).skip_value();
    assert_eq!(error.unwrap_err().kind(), ErrorKind::Limit);
    let few = ReadOptions::new().with_max_types(100, 39);
    let error = Deserializer::from_slice(&stream).with_options(few).skip_value();
    assert_eq!(error.unwrap_err().kind(), ErrorKind::Limit);
    let enough = ReadOptions::new().with_max_types(20, 40);
    assert!(Deserializer::from_slice(&stream).with_options(enough).skip_value().unwrap());
}

#[test]
fn a_reader_refuses_long_messages_before_it_reads_them() {
    let stream = wiremark_gob::to_vec(&"x".repeat(1_000)).unwrap();
    let short = ReadOptions::new().with_max_message_bytes(999);
    let error = Decoder::new(&stream[..]).with_options(short).read::<String>();
    assert_eq!(error.unwrap_err().kind(), ErrorKind::Limit);
    let short = ReadOptions::new().with_max_value_bytes(999);
    let error = Decoder::new(&stream[..]).with_options(short).read::<String>();
    assert_eq!(error.unwrap_err().kind(), ErrorKind::Limit);
    // 2^32 bytes announced, none there.
    let error = Decoder::new(&[0xfb, 1, 0, 0, 0, 0][..]).skip_value().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
}

#[test]
fn a_writer_refuses_long_values() {
    let options = WriteOptions::new().with_max_bytes(10);
    let mut encoder = Encoder::with_options(Vec::new(), options);
    encoder.encode("1234567").unwrap();
    assert_eq!(encoder.encode("12345678").unwrap_err().kind(), ErrorKind::Limit);
    encoder.encode("1234567").unwrap();
    assert_eq!(encoder.into_inner().len(), 22);
}
