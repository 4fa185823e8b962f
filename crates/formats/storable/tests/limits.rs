//! Limits: depth both ways and exactly, chains of references, sharing, on a stack of 2 MiB.
#![allow(clippy::unwrap_used, reason = "what is not there fails the test")]

use std::collections::BTreeMap;
use std::fmt::Debug;

use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use wiremark_storable::{
    Decoder, Encoder, ErrorKind, ReadOptions, Value, WriteOptions, from_slice, to_vec,
};

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct List(Vec<List>);

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Map(BTreeMap<String, Map>);

#[derive(Debug, PartialEq, Serialize, Deserialize)]
enum Chain {
    End,
    More(Box<Chain>),
}

#[track_caller]
fn check<T>(core: impl Fn() -> T, around: impl Fn(T) -> T, fitting: u32)
where
    T: Serialize + DeserializeOwned + PartialEq + Debug,
{
    let value = (0..fitting).fold(core(), |inner, _| around(inner));
    let bytes = to_vec(&value).unwrap();
    assert_eq!(from_slice::<T>(&bytes).unwrap(), value);
    let dynamic = Value::from_slice(&bytes).unwrap();
    assert_eq!(dynamic.to_vec().unwrap(), bytes);
    from_slice::<IgnoredAny>(&bytes).unwrap();

    let value = around(value);
    assert_eq!(to_vec(&value).unwrap_err().kind(), ErrorKind::Limit);
    let mut bytes = Vec::new();
    let more = WriteOptions::new().with_max_depth(fitting + 2);
    Encoder::with_options(more).encode(&value, &mut bytes).unwrap();
    let outcomes = [
        from_slice::<T>(&bytes).map(drop),
        from_slice::<IgnoredAny>(&bytes).map(drop),
        from_slice::<wiremark_datasets::Value>(&bytes).map(drop),
        Value::from_slice(&bytes).map(drop),
    ];
    for outcome in outcomes {
        assert_eq!(outcome.unwrap_err().kind(), ErrorKind::Limit);
    }
    // Who wants more gets more.
    let more = ReadOptions::new().with_max_depth(fitting + 2);
    assert_eq!(Decoder::with_options(more).decode::<T>(&bytes).unwrap(), value);
}

#[test]
fn a_value_of_128_levels_goes_both_ways_and_the_next_neither() {
    check(|| List(vec![]), |inner| List(vec![inner]), 127);
    let map = |inner| Map(BTreeMap::from([("k".to_owned(), inner)]));
    check(|| Map(BTreeMap::new()), map, 127);
    check(|| Chain::End, |inner| Chain::More(Box::new(inner)), 128);
}

#[test]
fn the_deepest_images_need_no_more_than_a_small_stack() {
    // Each array in an object behind a reference: 128 levels, and 255 things before them.
    let mut image = b"\x05\x0b".to_vec();
    for level in 0..128 {
        if level > 0 {
            image.extend_from_slice(b"\x04\x11\x01A");
        }
        image.extend_from_slice(&[2, 0, 0, 0, u8::from(level < 127)]);
    }
    // References alone.
    let mut references = b"\x05\x0b".to_vec();
    references.extend_from_slice(&[4; 256]);
    references.push(5);
    let threads = std::thread::Builder::new().stack_size(2 << 20).spawn(move || {
        for image in [&image, &references] {
            let value = Value::from_slice(image).unwrap();
            assert_eq!(
                value.to_vec().unwrap().len(),
                value.clone().to_vec().unwrap().len()
            );
            drop(value.into_owned());
            from_slice::<IgnoredAny>(image).unwrap();
            from_slice::<wiremark_datasets::Value>(image).unwrap();
        }
        references.insert(2, 4);
        let outcomes = [
            Value::from_slice(&references).map(drop),
            from_slice::<IgnoredAny>(&references).map(drop),
            from_slice::<()>(&references).map(drop),
        ];
        for outcome in outcomes {
            assert_eq!(outcome.unwrap_err().kind(), ErrorKind::Limit);
        }
    });
    threads.unwrap().join().unwrap();
}

#[test]
fn a_newtype_around_itself_does_not_run_for_ever() {
    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "it is never made")]
    struct Loop(Option<Box<Loop>>);
    let error = from_slice::<Loop>(b"\x05\x0b\x08\x81").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
}

/// `levels` arrays, each of two references to the next, which is written once.
fn doubling(levels: u32) -> Vec<u8> {
    let mut image = b"\x05\x0b".to_vec();
    // Tags: arrays are even, references odd.
    for _ in 0..levels {
        image.extend_from_slice(b"\x02\0\0\0\x02\x04");
    }
    image.extend_from_slice(b"\x02\0\0\0\0");
    for level in (1..=levels).rev() {
        image.extend_from_slice(b"\x04\0");
        image.extend_from_slice(&(2 * level).to_be_bytes());
    }
    image
}

#[derive(Debug, Deserialize)]
struct Tree(Vec<Tree>);

impl Tree {
    fn count(&self) -> usize {
        1 + self.0.iter().map(Self::count).sum::<usize>()
    }
}

#[test]
fn shared_items_are_read_again_until_there_are_too_many() {
    assert_eq!(from_slice::<Tree>(&doubling(5)).unwrap().count(), (1 << 6) - 1);
    let image = doubling(30);
    assert_eq!(image.len(), 2 + 30 * 12 + 5);
    let error = from_slice::<Tree>(&image).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
    // Passed over, and as a value, they are as many as are written.
    from_slice::<IgnoredAny>(&image).unwrap();
    let value = Value::from_slice(&image).unwrap();
    assert_eq!(value.to_vec().unwrap(), image);
}

#[test]
fn cycles_are_values_and_have_no_type() {
    // `$a = [$a]`, an array that is its own element, a hash that holds itself, two that hold
    // each other, a scalar that refers to itself.
    let images: &[&[u8]] = &[
        b"\x05\x0b\x02\0\0\0\x01\x04\0\0\0\0\0",
        b"\x05\x0b\x02\0\0\0\x01\0\0\0\0\0",
        b"\x05\x0b\x03\0\0\0\x01\x04\0\0\0\0\0\0\0\0\x01k",
        b"\x05\x0b\x02\0\0\0\x01\x04\x02\0\0\0\x01\x04\0\0\0\0\0",
        b"\x05\x0b\x04\0\0\0\0\0",
    ];
    for image in images {
        let value = Value::from_slice(image).unwrap();
        assert_eq!(value.to_vec().unwrap(), *image);
        from_slice::<IgnoredAny>(image).unwrap();
        for outcome in [
            from_slice::<Tree>(image).map(drop),
            from_slice::<wiremark_datasets::Value>(image).map(drop),
        ] {
            assert_eq!(outcome.unwrap_err().kind(), ErrorKind::Data, "{image:x?}");
        }
    }
}

#[test]
fn an_input_beyond_the_limit_is_refused() {
    let image = to_vec(&"x".repeat(100)).unwrap();
    let small = ReadOptions::new().with_max_bytes(50);
    let mut decoder = Decoder::with_options(small);
    for outcome in [
        decoder.decode::<String>(&image).map(drop),
        decoder.value(&image).map(drop),
        decoder.decode_from::<String, _>(&image[..]).map(drop),
    ] {
        assert_eq!(outcome.unwrap_err().kind(), ErrorKind::Limit);
    }
}

/// A hash in a hash, and so on, each with its value before its key: passed over once, read once.
#[test]
fn nested_hashes_are_passed_over_once() {
    let mut image = b"\x05\x0b".to_vec();
    for _ in 0..100 {
        image.extend_from_slice(b"\x03\0\0\0\x01\x04");
    }
    // A long array inside: passed over at each level it would be 100 times 200,000 elements.
    image.extend_from_slice(b"\x02\0\x03\x0d\x40");
    image.extend(std::iter::repeat_n(5, 200_000));
    for _ in 0..100 {
        image.extend_from_slice(b"\0\0\0\x01k");
    }
    let mut value = from_slice::<wiremark_datasets::Value>(&image).unwrap();
    let mut levels = 0;
    while let wiremark_datasets::Value::Map(pairs) = value {
        value = pairs.into_iter().next().unwrap().1;
        levels += 1;
    }
    assert_eq!(levels, 100);
    assert_eq!(value.as_array().map(<[_]>::len), Some(200_000));
}
