//! Limits: depth both ways and exactly, decompression, what is read twice, containers, strings.
#![allow(clippy::unwrap_used, reason = "what is not there fails the test")]
#![allow(clippy::items_after_statements, reason = "a type stands beside its values")]

use std::collections::BTreeMap;
use std::fmt::Debug;

use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use wiremark_sereal::{
    Compression, Decoder, Encoder, Error, ErrorKind, Object, ReadOptions, Value,
    WriteOptions,
};

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct List(Vec<List>);

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Link {
    next: Option<Object<Box<Link>>>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
enum Chain {
    End,
    More(Box<Chain>),
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Map(BTreeMap<String, Map>);

fn kind<T>(result: Result<T, Error>) -> Option<ErrorKind> {
    result.err().map(|error| error.kind())
}

const LIMIT: Option<ErrorKind> = Some(ErrorKind::Limit);

#[track_caller]
fn check<T>(core: impl Fn() -> T, around: impl Fn(T) -> T, fitting: u32)
where
    T: Serialize + DeserializeOwned + PartialEq + Debug,
{
    let more = WriteOptions::new().with_max_depth(1_000);
    let value = (0..fitting).fold(core(), |inner, _| around(inner));
    let bytes = wiremark_sereal::to_vec(&value).unwrap();
    assert_eq!(wiremark_sereal::from_slice::<T>(&bytes).unwrap(), value);
    let dynamic = Decoder::new().decode_value(&bytes).unwrap();
    assert_eq!(Encoder::new().encode_value_to_vec(&dynamic).unwrap(), bytes);
    wiremark_sereal::from_slice::<IgnoredAny>(&bytes).unwrap();

    let value = around(value);
    assert_eq!(kind(wiremark_sereal::to_vec(&value)), LIMIT);
    let bytes = Encoder::with_options(more).encode_to_vec(&value).unwrap();
    assert_eq!(kind(wiremark_sereal::from_slice::<T>(&bytes)), LIMIT);
    assert_eq!(kind(wiremark_sereal::from_slice::<IgnoredAny>(&bytes)), LIMIT);
    assert_eq!(kind(wiremark_sereal::from_slice::<Value<'_>>(&bytes)), LIMIT);
    assert_eq!(
        kind(wiremark_sereal::from_slice::<wiremark_datasets::Value>(&bytes)),
        LIMIT
    );
    assert_eq!(kind(Decoder::new().decode_value(&bytes)), LIMIT);
    // Who wants more gets more.
    let options = ReadOptions::new().with_max_depth(fitting + 2);
    let mut decoder = Decoder::with_options(options);
    assert_eq!(decoder.decode::<T>(&bytes).unwrap(), value);
    let dynamic = decoder.decode_value(&bytes).unwrap();
    assert_eq!(kind(Encoder::new().encode_value_to_vec(&dynamic)), LIMIT);
}

#[test]
fn a_value_of_128_levels_goes_both_ways_and_the_next_neither() {
    check(|| List(vec![]), |inner| List(vec![inner]), 127);
    check(|| Chain::End, |inner| Chain::More(Box::new(inner)), 128);
    let map = |inner| Map(BTreeMap::from([("k".to_owned(), inner)]));
    check(|| Map(BTreeMap::new()), map, 127);
    let object = |inner| {
        let value = Box::new(inner);
        Link { next: Some(Object { class: "Link".to_owned(), value }) }
    };
    check(|| Link { next: None }, object, 127);
}

#[test]
fn references_to_references_are_levels() {
    let nested = |levels: usize, core| {
        [&b"=\xf3rl\x05\x00"[..], &vec![0x28; levels], &[core]].concat()
    };
    // An integer, and one of Perl's own values.
    for core in [0x01, 0x3b] {
        for (levels, wanted) in [(128, None), (129, LIMIT), (200_000, LIMIT)] {
            let bytes = nested(levels, core);
            assert_eq!(kind(wiremark_sereal::from_slice::<bool>(&bytes)), wanted);
            assert_eq!(kind(wiremark_sereal::from_slice::<Option<bool>>(&bytes)), wanted);
            assert_eq!(kind(wiremark_sereal::from_slice::<IgnoredAny>(&bytes)), wanted);
            assert_eq!(kind(Decoder::new().decode_value(&bytes)), wanted, "{levels}");
        }
    }
    // A chain of scalars, each of which refers to the one before.
    let mut body = vec![0x28, 0x2b, 0xc8, 1, 0x85];
    let mut at = 5_u64;
    for _ in 1..200 {
        let here = body.len() as u64 + 1;
        body.push(0xa9);
        let mut offset = at;
        while offset >= 0x80 {
            body.push(offset.to_le_bytes()[0] | 0x80);
            offset >>= 7;
        }
        body.push(offset.to_le_bytes()[0]);
        at = here;
    }
    let bytes = [b"=\xf3rl\x05\x00", &body[..]].concat();
    Decoder::new().decode_value(&bytes).unwrap();
    assert_eq!(kind(wiremark_sereal::from_slice::<Vec<u8>>(&bytes)), LIMIT);
}

#[test]
fn the_deepest_value_fits_on_a_small_stack() {
    // Each level a weak reference to an object, which is a hash of one more.
    let level = b"\x30\x2c\x61A\x51\x61k";
    let bytes =
        [&b"=\xf3rl\x05\x00"[..], &level.repeat(127), b"\x30\x2c\x61A\x50"].concat();
    let value = Decoder::new().decode_value(&bytes).unwrap();
    let again = Encoder::new().encode_value_to_vec(&value).unwrap();
    assert!(again.len() < bytes.len());
    assert_eq!(Decoder::new().decode_value(&again).unwrap(), value);
    wiremark_sereal::from_slice::<wiremark_datasets::Value>(&bytes).unwrap();
    wiremark_sereal::from_slice::<IgnoredAny>(&bytes).unwrap();
    wiremark_sereal::from_slice::<Map>(&bytes).unwrap();
}

#[test]
fn a_newtype_around_itself_does_not_run_for_ever() {
    #[derive(Debug, Serialize, Deserialize)]
    struct Loop(Option<Box<Loop>>);
    let error = wiremark_sereal::from_slice::<Loop>(b"=\xf3rl\x05\x00\x05");
    assert_eq!(kind(error), LIMIT);
    let value = (0..200).fold(Loop(None), |inner, _| Loop(Some(Box::new(inner))));
    assert_eq!(kind(wiremark_sereal::to_vec(&value)), LIMIT);
}

#[test]
fn a_body_is_refused_by_what_it_announces_and_by_what_it_is() {
    let text = "a".repeat(1 << 24);
    for compression in [Compression::Snappy, Compression::Zlib(6), Compression::Zstd(3)] {
        let options = WriteOptions::new().with_compression(compression);
        let bytes = Encoder::with_options(options).encode_to_vec(&text).unwrap();
        assert!(bytes.len() < 1 << 20, "{compression:?}: {} bytes", bytes.len());
        let read = wiremark_sereal::from_slice::<String>(&bytes);
        // Snappy packs to a twentieth at best.
        let wanted = if compression == Compression::Snappy { None } else { LIMIT };
        assert_eq!(kind(read), wanted, "{compression:?}");
        let few = ReadOptions::new().with_max_decompressed_bytes(text.len());
        assert_eq!(kind(Decoder::with_options(few).decode::<String>(&bytes)), LIMIT);
        let enough = ReadOptions::new().with_max_decompressed_bytes(text.len() + 6);
        let read = Decoder::with_options(enough).decode::<String>(&bytes).unwrap();
        assert_eq!(read, text);
    }
}

#[test]
fn elements_of_a_compressed_body_are_counted() {
    let value = vec![0_u8; 200_000];
    let options = WriteOptions::new().with_compression(Compression::Zstd(3));
    let bytes = Encoder::with_options(options).encode_to_vec(&value).unwrap();
    assert_eq!(kind(wiremark_sereal::from_slice::<Vec<u8>>(&bytes)), LIMIT);
    assert_eq!(kind(wiremark_sereal::from_slice::<IgnoredAny>(&bytes)), LIMIT);
    assert_eq!(kind(Decoder::new().decode_value(&bytes)), LIMIT);
    let more = ReadOptions::new().with_max_expanded_items(200_000);
    assert_eq!(Decoder::with_options(more).decode::<Vec<u8>>(&bytes).unwrap(), value);
}

#[test]
fn what_is_read_again_is_counted() {
    // `[[1, 2, 3], COPY, COPY]`, and the same with references.
    let copies = b"=\xf3rl\x05\x00\x43\x43\x01\x02\x03\x2f\x02\x2f\x02";
    let references = b"=\xf3rl\x05\x00\x43\x28\xab\x03\x01\x02\x03\x29\x03\x29\x03";
    for bytes in [&copies[..], &references[..]] {
        let read = |items| {
            let options = ReadOptions::new().with_max_expanded_items(items);
            Decoder::with_options(options).decode::<Vec<Vec<u8>>>(bytes)
        };
        assert_eq!(read(6).unwrap(), [[1, 2, 3], [1, 2, 3], [1, 2, 3]]);
        assert_eq!(kind(read(5)), LIMIT);
    }
    let text = "x".repeat(100);
    let options = WriteOptions::new().with_dedupe(wiremark_sereal::Dedupe::Copy);
    let bytes = Encoder::with_options(options).encode_to_vec(&[&text; 3]).unwrap();
    let read = |copied| {
        let options = ReadOptions::new().with_max_copied_bytes(copied);
        kind(Decoder::with_options(options).decode::<Vec<String>>(&bytes))
    };
    assert_eq!((read(200), read(199)), (None, LIMIT));
}

#[test]
fn what_is_written_can_be_read_however_long_its_keys_and_strings() {
    // A key of 4,000 bytes, and a text, in each of 2,000 records: 8 MB from 20 KB.
    let (key, text) = ("k".repeat(4_000), "t".repeat(4_000));
    let records = vec![BTreeMap::from([(key, text)]); 2_000];
    let options = WriteOptions::new().with_dedupe(wiremark_sereal::Dedupe::Copy);
    for options in [WriteOptions::new(), options] {
        let bytes = Encoder::with_options(options).encode_to_vec(&records).unwrap();
        let back = wiremark_sereal::from_slice::<Vec<BTreeMap<String, String>>>(&bytes);
        assert_eq!(back.unwrap(), records);
        Decoder::new().decode_value(&bytes).unwrap();
    }
    // Blessed scalars are references, which are levels.
    let object = |inner: i8| Object { class: "A".to_owned(), value: inner };
    let lists = vec![vec![object(1)]];
    for (levels, is_fine) in [(3, true), (2, false)] {
        let write = WriteOptions::new().with_max_depth(levels);
        let written = Encoder::with_options(write).encode_to_vec(&lists);
        assert_eq!(kind(written), if is_fine { None } else { LIMIT });
        let read = ReadOptions::new().with_max_depth(levels);
        let bytes = wiremark_sereal::to_vec(&lists).unwrap();
        let back = Decoder::with_options(read).decode::<Vec<Vec<Object<i8>>>>(&bytes);
        assert_eq!(kind(back), if is_fine { None } else { LIMIT });
    }
}

#[test]
fn containers_and_strings_have_limits_of_their_own() {
    let bytes =
        wiremark_sereal::to_vec(&(vec![1; 20], BTreeMap::from([("key", "value")])));
    let bytes = bytes.unwrap();
    let new = ReadOptions::new;
    for (options, wanted) in [
        (new().with_max_array_entries(20), None),
        (new().with_max_array_entries(19), LIMIT),
        (new().with_max_hash_entries(1), None),
        (new().with_max_hash_entries(0), LIMIT),
        (new().with_max_string_bytes(5), None),
        (new().with_max_string_bytes(4), LIMIT),
        (new().with_max_string_bytes(2), LIMIT),
    ] {
        let mut decoder = Decoder::with_options(options);
        type Both = (Vec<u8>, BTreeMap<String, String>);
        assert_eq!(kind(decoder.decode::<Both>(&bytes)), wanted, "{options:?}");
        assert_eq!(kind(decoder.decode_value(&bytes)), wanted, "{options:?}");
        assert_eq!(kind(decoder.decode::<IgnoredAny>(&bytes)), wanted, "{options:?}");
    }
}
