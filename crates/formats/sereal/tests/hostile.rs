//! Documents that somebody broke, read with types, without, and passed over: no panic, no
//! runaway memory, and what is read without types is passed over too, and can be written.
//!
//! One test alone, since the allocator's counters belong to the process. `SEREAL_HOSTILE_INPUTS`
//! sets another number, `SEREAL_HOSTILE_SEED` another seed.
#![allow(clippy::unwrap_used, reason = "what is not there fails the test")]

mod support;

use std::collections::{BTreeMap, HashMap};
use std::panic::{AssertUnwindSafe, catch_unwind};

use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use support::{document, hex, vectors};
use wiremark_meter::alloc::{Counting, measure};
use wiremark_sereal::{
    Compression, Decoder, Document, Encoder, ErrorKind, Frozen, Object, Regexp, Value,
    WriteOptions, to_vec,
};

#[global_allocator]
static ALLOCATOR: Counting = Counting::system();

/// What is held beyond the bytes themselves.
const PEAK_BYTES: u64 = 4 << 20;
const PEAK_PER_INPUT_BYTE: u64 = 64;

#[derive(Debug, Serialize, Deserialize)]
enum Tree {
    Leaf(i64),
    Node(Vec<Tree>),
    Named { left: Box<Tree>, right: Option<Box<Tree>> },
}

#[derive(Debug, Serialize, Deserialize)]
struct Wide {
    name: String,
    age: Option<u8>,
    sex: bool,
    hobbies: Vec<String>,
    #[serde(flatten)]
    rest: BTreeMap<String, wiremark_datasets::Value>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Node {
    v: Option<i64>,
    next: Option<Object<Box<Node>>>,
}

/// xorshift64*
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() >> 33).unwrap() % end.max(1)
    }

    fn byte(&mut self) -> u8 {
        self.next().to_le_bytes()[7]
    }
}

/// Good documents, none longer than a few hundred bytes.
fn good() -> Vec<Vec<u8>> {
    let mut good: Vec<_> =
        vectors().iter().map(document).filter(|bytes| bytes.len() < 300).collect();
    let leaf = Tree::Named { left: Box::new(Tree::Leaf(1)), right: None };
    good.push(to_vec(&Tree::Node(vec![Tree::Leaf(-1), leaf])).unwrap());
    good.push(to_vec(&HashMap::from([("a", 1_u32), ("b", 300)])).unwrap());
    good.push(to_vec(&vec![(), ()]).unwrap());
    good.push(to_vec(&(1, "a", vec![Some(1.5), None])).unwrap());
    let node = || Node { v: Some(1), next: None };
    let next = Object { class: "Node".to_owned(), value: Box::new(node()) };
    good.push(to_vec(&Node { v: None, next: Some(next) }).unwrap());
    let text = "all work and no play makes Jack a dull boy ".repeat(8);
    for compression in [Compression::Snappy, Compression::Zlib(6), Compression::Zstd(3)] {
        let options =
            WriteOptions::new().with_compression(compression).with_compress_threshold(0);
        let mut encoder = Encoder::with_options(options);
        good.push(encoder.encode_to_vec(&vec![text.as_str(); 4]).unwrap());
        good.push(encoder.encode_to_vec(&vec![(1, "a"); 60]).unwrap());
    }
    good
}

/// Lengths, counts and offsets that lie, as varints.
const LIES: [&[u8]; 8] = [
    &[0xff, 0xff, 0xff, 0xff, 0x0f],
    &[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x40],
    &[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01],
    &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
    &[0xff, 0xff, 0x03],
    &[0xff, 0x7f],
    &[0x7f],
    &[0],
];

/// Tags that lead somewhere else, or only say how.
const WAYS: [u8; 12] =
    [0x28, 0x29, 0x2c, 0x2d, 0x2e, 0x2f, 0x30, 0x31, 0x32, 0x33, 0x3f, 0x2b];

fn damage(bytes: &mut Vec<u8>, all: &[Vec<u8>], random: &mut Random) {
    // Mostly behind the header.
    let from = if random.below(16) == 0 { 0 } else { 6 };
    let at = (from + random.below(bytes.len().saturating_sub(from))).min(bytes.len());
    match random.below(16) {
        0 => bytes.truncate(at),
        1..4 => {
            for _ in 0..=random.below(7) {
                let at = random.below(bytes.len());
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << random.below(8);
                }
            }
        }
        4..6 if at < bytes.len() => {
            let lie = LIES[random.below(LIES.len())];
            bytes.splice(at..=at, lie.iter().copied());
        }
        6..10 => {
            // A way to somewhere, mostly to what is there.
            let tag = WAYS[random.below(WAYS.len())] | (random.byte() & 0x80);
            let offset = u8::try_from(random.below(at.clamp(2, 128))).unwrap();
            bytes.splice(at..at, [tag, offset]);
        }
        10 if at < bytes.len() => bytes[at] |= 0x80,
        11 => bytes.insert(at, random.byte()),
        12 if at < bytes.len() => _ = bytes.remove(at),
        13 => {
            // A piece of another document.
            let other = &all[random.below(all.len())];
            let from = random.below(other.len());
            let piece = &other[from..(from + random.below(24)).min(other.len())];
            bytes.splice(at..at, piece.iter().copied());
        }
        14 => {
            // One level more, or a run of something.
            let run = [0x41, 0x2b, 0x28, 0x30, 0x3f, 0x2c, 0x80, 0x51][random.below(8)];
            bytes.splice(at..at, std::iter::repeat_n(run, random.below(300)));
        }
        _ => {
            let count = random.below(12);
            bytes.extend((0..count).map(|_| random.byte()));
        }
    }
}

fn broken(all: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let mut bytes = all[random.below(all.len())].clone();
    if random.below(64) == 0 {
        bytes.truncate(6);
        bytes.extend((0..random.below(80)).map(|_| random.byte()));
    }
    for _ in 0..=random.below(3) {
        damage(&mut bytes, all, random);
    }
    bytes
}

fn read<T: DeserializeOwned>(bytes: &[u8]) {
    if let Err(error) = Decoder::new().decode_prefix::<T>(bytes) {
        assert_ne!(error.kind(), ErrorKind::Io, "{error}");
        let is_raw = bytes.get(4).is_none_or(|byte| byte >> 4 == 0);
        let is_inside = error.offset().is_none_or(|at| at <= bytes.len() as u64);
        assert!(is_inside || !is_raw, "{error}");
    }
}

/// What is read without types can be passed over, written, and read again.
fn agree(bytes: &[u8]) {
    let read = Decoder::new().decode_value_prefix(bytes);
    let skipped = Decoder::new().decode_prefix::<IgnoredAny>(bytes);
    let Ok((value, len)) = read else { return };
    assert_eq!(skipped.unwrap().1, len);
    match Encoder::new().encode_value_to_vec(&value) {
        Ok(written) => {
            let back = Decoder::new().decode_value(&written).unwrap();
            // NaN is not equal to itself, so as text.
            assert_eq!(format!("{back:?}"), format!("{value:?}"));
        }
        Err(error) => panic!("{error}: {value:?}"),
    }
}

fn open(bytes: &[u8]) {
    if let Ok(document) = Document::open(bytes) {
        let _ = document.user_data_value();
        let _ = document.user_data::<wiremark_datasets::Value>();
        let _ = document.read::<Vec<&str>>();
        let _ = document.read_value();
    }
}

type Target = (&'static str, fn(&[u8]));

const TARGETS: &[Target] = &[
    ("dynamic, written and skipped", agree),
    ("Vec<String>", read::<Vec<String>>),
    ("dynamic value of another crate", read::<wiremark_datasets::Value>),
    ("skipped", read::<IgnoredAny>),
    ("Vec<u64>", read::<Vec<u64>>),
    ("dynamic, written and skipped", agree),
    ("Vec<()>", read::<Vec<()>>),
    ("HashMap<String, u32>", read::<HashMap<String, u32>>),
    ("Tree", read::<Tree>),
    ("opened", open),
    ("String", read::<String>),
    ("bytes", read::<serde_bytes::ByteBuf>),
    ("Wide", read::<Wide>),
    ("Node", read::<Node>),
    ("objects", read::<Vec<Option<Object<Option<i32>>>>>),
    ("frozen", read::<Vec<Frozen<Vec<wiremark_datasets::Value>>>>),
    ("regexps", read::<Vec<Regexp>>),
    ("tuple", read::<(i32, Option<String>, [f32; 2])>),
    ("value through serde", |bytes| {
        let _ = wiremark_sereal::from_slice::<Vec<Value<'_>>>(bytes);
    }),
];

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn broken_documents_do_no_harm() {
    let all = good();
    let inputs = number("SEREAL_HOSTILE_INPUTS", 2_000_000);
    let seed = number("SEREAL_HOSTILE_SEED", 0x9e37_79b9_7f4a_7c15);
    let mut random = Random(seed);
    let mut bad = Vec::new();
    for index in 0..inputs {
        let bytes = broken(&all, &mut random);
        let (target, read) = TARGETS[usize::try_from(index).unwrap() % TARGETS.len()];
        let (outcome, allocated) =
            measure(|| catch_unwind(AssertUnwindSafe(|| read(&bytes))));
        let bound = PEAK_BYTES + PEAK_PER_INPUT_BYTE * bytes.len() as u64;
        if outcome.is_err()
            || allocated.peak_bytes > bound
            || allocated.largest_bytes > PEAK_BYTES
        {
            bad.push(format!("{target}: {allocated:?} from {}", hex(&bytes)));
        }
        if bad.len() > 8 {
            break;
        }
    }
    bad.extend(bombs());
    // The kit's own attacks, on the codec.
    let codec = wiremark_sereal::Sereal::shared();
    wiremark_conform::hostile::memory_is_bounded(&codec, |work| {
        measure(work).1.peak_bytes
    })
    .assert_none();
    println!("{inputs} inputs, seed {seed}");
    assert!(bad.is_empty(), "seed {seed}:\n{}", bad.join("\n"));
}

/// Documents of a hundred thousand bytes, and of what becomes many more, made for a purpose.
fn bombs() -> Vec<String> {
    let raw = |body: &[u8]| [b"=\xf3rl\x05\x00", body].concat();
    let counted = |tag: u8, count: usize, element: &[u8]| {
        let mut body = vec![0x28, tag];
        let mut left = count;
        while left >= 0x80 {
            body.push(left.to_le_bytes()[0] | 0x80);
            left >>= 7;
        }
        body.push(left.to_le_bytes()[0]);
        body.extend(element.repeat(count));
        body
    };
    let packed = |body: &[u8], compression| {
        let value = Decoder::new().decode_value(&raw(body)).unwrap().into_owned();
        let options = WriteOptions::new().with_compression(compression);
        Encoder::with_options(options).encode_value_to_vec(&value).unwrap()
    };
    let mut bombs = vec![
        ("integers", raw(&counted(0x2b, 100_000, &[5]))),
        ("tracked integers", raw(&counted(0x2b, 100_000, &[0x85]))),
        ("empty hashes", raw(&counted(0x2b, 100_000, &[0x50]))),
        ("lists of one", raw(&counted(0x2b, 50_000, &[0x41, 5]))),
        ("classes", raw(&counted(0x2b, 30_000, &[0x2c, 0x60, 0x40]))),
        ("padding", raw(&[&[0x3f; 100_000][..], &[5]].concat())),
        ("tracked padding", raw(&[&[0xbf; 100_000][..], &[5]].concat())),
        ("names without end", raw(&[0x31; 100_000])),
    ];
    // A long list that later elements copy, refer to, or are aliases of. The outer REFN has the
    // offset 1, the list's 6 and its ARRAY 7.
    for (name, way, offset, tags) in [
        ("copies", 0x2f, 6, [0x28, 0x2b]),
        ("references", 0x29, 7, [0x28, 0xab]),
        ("aliases", 0x2e, 6, [0xa8, 0x2b]),
    ] {
        let mut body = counted(0x2b, 20_000, &[way, offset]);
        body.truncate(body.len() - 2);
        let mut inner = counted(0x2b, 5_000, &[5]);
        inner[..2].copy_from_slice(&tags);
        body.splice(5..5, inner);
        let bytes = raw(&body);
        Decoder::new().decode::<IgnoredAny>(&bytes).unwrap();
        let error = Decoder::new().decode::<Vec<Vec<u8>>>(&bytes).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Limit, "{name}");
        bombs.push((name, bytes));
    }
    // Copies of a run of padding.
    let mut body = vec![0x28, 0x2b, 0x90, 0x4e];
    body.extend([0x3f; 10_000]);
    body.push(5);
    body.extend([0x2f, 0x05].repeat(9_999));
    bombs.push(("copies of padding", raw(&body)));
    // Strings that are copied.
    let mut body = vec![0x28, 0x2b, 0x90, 0x4e, 0x26, 0x90, 0x4e];
    body.extend([b'x'; 10_000]);
    body.extend([0x2f, 0x05].repeat(9_999));
    bombs.push(("copies of a string", raw(&body)));
    for compression in [Compression::Snappy, Compression::Zlib(9), Compression::Zstd(19)]
    {
        bombs.push((
            "compressed zeros",
            packed(&counted(0x2b, 60_000, &[0]), compression),
        ));
        let many = counted(0x2b, 1_000_000, &[0]);
        bombs.push(("many compressed zeros", packed(&many, compression)));
        let lists = counted(0x2b, 500_000, &[0x50]);
        bombs.push(("compressed hashes", packed(&lists, compression)));
        let long = [&[0x26, 0x80, 0x80, 0x80, 0x08][..], &vec![b'x'; 1 << 24]].concat();
        bombs.push(("a long compressed string", packed(&long, compression)));
    }
    let mut bad = Vec::new();
    for (name, bytes) in bombs {
        for (target, read) in TARGETS {
            let (outcome, allocated) =
                measure(|| catch_unwind(AssertUnwindSafe(|| read(&bytes))));
            let bound = PEAK_BYTES + PEAK_PER_INPUT_BYTE * bytes.len() as u64;
            // Writing what was read has memory of its own.
            let is_held = allocated.peak_bytes <= bound || target.contains("written");
            if outcome.is_err() || !is_held {
                let len = bytes.len();
                bad.push(format!("{name}, {target}: {allocated:?} from {len} bytes"));
            }
        }
    }
    bad
}
