//! Malformed streams: each ends as wanted, and within bounds.
#![allow(clippy::unwrap_used, reason = "what is not there fails the test")]

mod support;

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value as Json;
use support::{list, load, none_bad, text, unhex};
use wiremark_gob::{Complex, Decoder, Deserializer, Opaque, ReadOptions, Time, Value};

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
#[expect(dead_code, reason = "read and dropped")]
struct Point {
    x: i64,
    y: i64,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
#[expect(dead_code, reason = "read and dropped")]
struct Person {
    name: String,
    age: i64,
    sex: bool,
    hobbies: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "read and dropped")]
struct One {
    #[serde(rename = "V")]
    v: Value,
}

#[derive(Debug, Deserialize)]
struct Empty {}

#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "read and dropped")]
struct RecSlice(Vec<RecSlice>);

#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "read and dropped")]
struct RecMap(BTreeMap<String, RecMap>);

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
#[expect(dead_code, reason = "read and dropped")]
struct Node {
    v: i64,
    next: Option<Box<Node>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
#[expect(dead_code, reason = "read and dropped")]
struct Tree {
    name: String,
    kids: Vec<Option<Box<Tree>>>,
}

/// A type whose own decoding refuses what is empty, as in the vectors.
#[derive(Debug)]
struct Rev;

impl<'de> Deserialize<'de> for Rev {
    fn deserialize<D: serde::Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Self, D::Error> {
        let opaque = Opaque::deserialize(deserializer)?;
        if opaque.payload.starts_with(b"!") || opaque.payload.is_empty() {
            return Err(serde::de::Error::custom("the payload is refused"));
        }
        Ok(Self)
    }
}

/// Reads all values of the stream: how many, or the error.
fn read<T: for<'de> Deserialize<'de>>(stream: &[u8]) -> Result<usize, String> {
    let options = ReadOptions::new().with_strict(true);
    let mut deserializer = Deserializer::from_slice(stream).with_options(options);
    let mut count = 0;
    let from_slice = loop {
        match deserializer.next_value::<T>() {
            Ok(Some(_)) => count += 1,
            Ok(None) => break Ok(count),
            Err(error) => break Err(error.to_string()),
        }
    };
    let mut decoder = Decoder::new(stream).with_options(options);
    let from_reader = loop {
        match decoder.next_value::<T>() {
            Ok(Some(_)) => {}
            Ok(None) => break true,
            Err(_) => break false,
        }
    };
    assert_eq!(from_slice.is_ok(), from_reader, "{from_slice:?}");
    from_slice
}

fn skip(stream: &[u8]) -> Result<usize, String> {
    let mut deserializer = Deserializer::from_slice(stream);
    let mut count = 0;
    let skipped = loop {
        match deserializer.skip_value() {
            Ok(true) => count += 1,
            Ok(false) => break Ok(count),
            Err(error) => break Err(error.to_string()),
        }
    };
    assert_eq!(read::<IgnoredAny>(stream).is_ok(), skipped.is_ok());
    // What holds all names reads the same streams as what holds nothing.
    assert_eq!(read::<Value>(stream).is_ok(), skipped.is_ok(), "{skipped:?}");
    skipped
}

fn read_as(target: &str, stream: &[u8]) -> Option<Result<usize, String>> {
    Some(match target {
        "skip" => skip(stream),
        "Point" => read::<Point>(stream),
        "[]PersonInfoAge" => read::<Vec<Person>>(stream),
        "int" => read::<i64>(stream),
        "int8" => read::<i8>(stream),
        "uint" => read::<u64>(stream),
        "bool" => read::<bool>(stream),
        "string" => read::<String>(stream),
        "float32" => read::<f32>(stream),
        "float64" => read::<f64>(stream),
        "complex128" => read::<Complex>(stream),
        "[]byte" => read::<serde_bytes::ByteBuf>(stream),
        "[]int" => read::<Vec<i64>>(stream),
        "[]string" => read::<Vec<String>>(stream),
        "[3]int" => read::<[i64; 3]>(stream),
        "[]Empty" => read::<Vec<Empty>>(stream),
        "map[string]int" => read::<BTreeMap<String, i64>>(stream),
        "One" => read::<One>(stream),
        "Rev" => read::<Rev>(stream),
        "time.Time" => read::<Time>(stream),
        "Empty" => read::<Empty>(stream),
        "RecSlice" => read::<RecSlice>(stream),
        "RecMap" => read::<RecMap>(stream),
        "Node" => read::<Node>(stream),
        "Tree" => read::<Tree>(stream),
        _ => return None,
    })
}

fn put_uint(out: &mut Vec<u8>, value: u64) {
    if value < 128 {
        out.push(u8::try_from(value).unwrap());
    } else {
        let bytes = value.to_be_bytes();
        let zeros = usize::try_from(value.leading_zeros() / 8).unwrap();
        out.push(u8::try_from(256 - (8 - zeros)).unwrap());
        out.extend_from_slice(&bytes[zeros..]);
    }
}

fn put_int(out: &mut Vec<u8>, value: i64) {
    put_uint(out, ((value << 1) ^ (value >> 63)).cast_unsigned());
}

/// As many descriptors, each of the next, and an empty value of the first.
fn chain(kind: &str, count: i64) -> Vec<u8> {
    let mut stream = Vec::new();
    for index in 0..count {
        let id = 65 + index;
        let next = if index + 1 == count { 2 } else { id + 1 };
        let mut body = Vec::new();
        put_int(&mut body, -id);
        let name: &[u8] = if kind == "struct" { b"\x01\x01S\x01" } else { b"\x02" };
        body.push(match kind {
            "slice" => 2,
            "struct" => 3,
            _ => 4,
        });
        body.push(1);
        body.extend_from_slice(name);
        put_int(&mut body, id);
        body.extend_from_slice(&[0, 1]);
        match kind {
            "slice" => put_int(&mut body, next),
            "struct" => {
                body.extend_from_slice(b"\x01\x01\x01A\x01");
                put_int(&mut body, next);
                body.push(0);
            }
            _ => {
                put_int(&mut body, 6);
                body.push(1);
                put_int(&mut body, next);
            }
        }
        body.extend_from_slice(&[0, 0]);
        put_uint(&mut stream, body.len() as u64);
        stream.extend_from_slice(&body);
    }
    let mut body = Vec::new();
    put_int(&mut body, 65);
    body.extend_from_slice(if kind == "struct" { &[0] } else { &[0, 0] });
    put_uint(&mut stream, body.len() as u64);
    stream.extend_from_slice(&body);
    stream
}

fn stream(case: &Json) -> Vec<u8> {
    if let Some(hex) = case["hex"].as_str() {
        return unhex(hex);
    }
    let recipe = &case["recipe"];
    let count = recipe["count"].as_i64().unwrap();
    if let Some(kind) = recipe["chain"].as_str() {
        return chain(kind, count);
    }
    let repeat =
        |unit: &str, count: i64| unhex(unit).repeat(usize::try_from(count).unwrap());
    let tail_count = recipe["tail_count"].as_i64().unwrap_or(0);
    [
        unhex(text(recipe, "prefix")),
        repeat(text(recipe, "unit"), count),
        repeat(text(recipe, "tail_unit"), tail_count),
    ]
    .concat()
}

#[test]
fn every_malformed_stream_ends_as_wanted() {
    // Test threads have a stack of 2 MiB, which the deepest cases must not overflow.
    let (mut rows, mut bad) = (0, Vec::new());
    for case in list(&load("bad.json"), "cases") {
        let (name, want) = (text(case, "name"), text(case, "want"));
        let stream = stream(case);
        for target in list(case, "targets") {
            let target = target.as_str().unwrap();
            rows += 1;
            let Some(outcome) = read_as(target, &stream) else {
                bad.push(format!("{name}: no type for {target}"));
                continue;
            };
            // A stream that is fine in itself may still be too much for the type.
            let is_wanted = match want {
                "reject" => outcome.is_err(),
                "accept" => outcome.is_ok(),
                _ => true,
            };
            if !is_wanted {
                bad.push(format!("{name} as {target}: wanted {want}, found {outcome:?}"));
            }
        }
    }
    none_bad(rows, &bad);
}

#[test]
fn every_prefix_of_a_good_stream_is_refused_as_cut_off() {
    let (mut rows, mut bad) = (0, Vec::new());
    for vector in support::vectors() {
        let encoders = text(&vector, "encoders");
        if list(&vector, "values").len() != 1 || encoders == "by_hand" {
            continue;
        }
        let stream = unhex(text(&vector, "hex"));
        // Long streams are cut at each of their first bytes, then here and there.
        for cut in (1..stream.len()).filter(|cut| *cut < 300 || cut % 97 == 0) {
            rows += 1;
            let name = text(&vector, "name");
            let outcomes = [
                wiremark_gob::from_slice::<Value>(&stream[..cut]).err().map(|e| e.kind()),
                wiremark_gob::from_slice::<IgnoredAny>(&stream[..cut])
                    .err()
                    .map(|e| e.kind()),
                Decoder::new(&stream[..cut]).read::<Value>().err().map(|e| e.kind()),
                Decoder::new(&stream[..cut]).skip_value().err().map(|e| e.kind()),
            ];
            if outcomes != [Some(wiremark_gob::ErrorKind::Eof); 4] {
                bad.push(format!("{name} cut at {cut}: {outcomes:?}"));
            }
        }
    }
    none_bad(rows, &bad);
}
