//! Two million images that somebody broke, read with types, without, and passed over: no panic, no
//! runaway memory, and the three agree.
//!
//! One test alone, since the allocator's counters belong to the process. `STORABLE_HOSTILE_INPUTS`
//! sets another number, `STORABLE_HOSTILE_SEED` another seed.
#![allow(clippy::unwrap_used, reason = "what is not there fails the test")]

mod support;

use std::collections::{BTreeMap, HashMap};
use std::panic::{AssertUnwindSafe, catch_unwind};

use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use support::{hex, image, options, vectors};
use wiremark_meter::alloc::{Counting, measure};
use wiremark_storable::{
    Blessed, Decoder, Encoder, ErrorKind, Order, ReadOptions, WriteOptions, to_vec,
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

#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "read and dropped")]
struct Node {
    #[serde(default)]
    a: Option<f64>,
    #[serde(default)]
    k: Option<Box<Node>>,
    #[serde(default, rename = "self")]
    again: Option<Box<Node>>,
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
        self.next().to_le_bytes()[3]
    }
}

/// Good images, none longer than a few hundred bytes.
fn good() -> Vec<Vec<u8>> {
    let mut good: Vec<_> =
        vectors().iter().map(image).filter(|image| image.len() < 300).collect();
    let leaf = Tree::Named { left: Box::new(Tree::Leaf(1)), right: None };
    let tree = Tree::Node(vec![Tree::Leaf(-1), leaf]);
    let mut rest = BTreeMap::new();
    rest.insert("größe".to_owned(), wiremark_datasets::Value::from(1.5));
    let hobbies = vec!["go".to_owned(), "水".to_owned()];
    let wide = Wide { name: "Ann".to_owned(), age: None, sex: true, hobbies, rest };
    for mode in ["freeze", "nfreeze", "store", "nstore"] {
        let mut encoder = Encoder::with_options(options(mode));
        let mut put = |value: &dyn Fn(&mut Encoder, &mut Vec<u8>)| {
            let mut out = Vec::new();
            value(&mut encoder, &mut out);
            good.push(out);
        };
        put(&|encoder, out| encoder.encode(&tree, out).unwrap());
        put(&|encoder, out| encoder.encode(&wide, out).unwrap());
        put(&|encoder, out| encoder.encode(&vec![(), ()], out).unwrap());
        put(&|encoder, out| encoder.encode(&(1, "a", i128::MIN, 0.5), out).unwrap());
        let map = HashMap::from([("a", 1_u32), ("b", 300)]);
        put(&|encoder, out| encoder.encode(&map, out).unwrap());
        let points = vec![Blessed::new("Point", 1), Blessed::new("Point", 2)];
        put(&|encoder, out| encoder.encode(&points, out).unwrap());
    }
    good
}

/// Sizes that lie.
const LIES: [&[u8]; 9] = [
    &[0xff, 0xff, 0xff, 0xff],
    &[0x7f, 0xff, 0xff, 0xff],
    &[0xff, 0xff, 0xff, 0x7f],
    &[0x80, 0, 0, 0],
    &[0, 0, 1, 0],
    &[0, 0, 0, 3],
    &[0x40, 0, 0, 0, 0, 0, 0, 0],
    &[0x80, 0, 0, 0, 0, 0, 0, 0],
    &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
];

/// As many codes there are, and one more.
const CODES: usize = 37;

fn damage(bytes: &mut Vec<u8>, all: &[Vec<u8>], random: &mut Random) {
    let at = random.below(bytes.len());
    match random.below(14) {
        0 => bytes.truncate(at),
        1..4 => {
            for _ in 0..=random.below(7) {
                let at = random.below(bytes.len());
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << random.below(8);
                }
            }
        }
        4..7 => {
            let lie = LIES[random.below(LIES.len())];
            let end = (at + lie.len()).min(bytes.len());
            bytes.splice(at..end, lie.iter().copied());
        }
        7..9 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte = u8::try_from(random.below(CODES)).unwrap();
            }
        }
        9 => bytes.insert(at, u8::try_from(random.below(CODES)).unwrap()),
        10 => {
            // A reference back.
            let tag = u8::try_from(random.below(12)).unwrap();
            let back = [4, 0, 0, 0, 0, tag];
            let from = random.below(2);
            bytes.splice(at..at, back[from..].iter().copied());
        }
        11 if !bytes.is_empty() => _ = bytes.remove(at),
        12 => {
            // A piece of another image.
            let other = &all[random.below(all.len())];
            let from = random.below(other.len());
            let piece = &other[from..(from + random.below(32)).min(other.len())];
            bytes.splice(at..at, piece.iter().copied());
        }
        _ => bytes.extend((0..random.below(12)).map(|_| random.byte())),
    }
}

fn broken(all: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    if random.below(64) == 0 {
        let mut bytes = b"\x05\x0b".to_vec();
        bytes.extend((0..random.below(80)).map(|_| {
            let byte = random.byte();
            if byte.is_multiple_of(4) { byte } else { byte % 37 }
        }));
        return bytes;
    }
    let mut image = all[random.below(all.len())].clone();
    for _ in 0..=random.below(3) {
        damage(&mut image, all, random);
    }
    image
}

fn check<T>(result: &wiremark_storable::Result<T>, image: &[u8]) {
    if let Err(error) = result {
        assert!(error.kind() != ErrorKind::Io, "{error}");
        assert!(error.offset().is_none_or(|at| at <= image.len() as u64), "{error}");
    }
}

fn read<T: DeserializeOwned>(decoder: &mut Decoder, image: &[u8]) {
    check(&decoder.decode::<T>(image), image);
}

/// Read without types, passed over, and written again: the three agree.
fn agree(decoder: &mut Decoder, image: &[u8]) {
    let value = decoder.value_prefix(image);
    let passed = decoder.decode_prefix::<IgnoredAny>(image);
    check(&value, image);
    check(&passed, image);
    match (&value, &passed) {
        (Ok((value, used)), Ok((_, passed))) => {
            assert_eq!(used, passed);
            for order in [Order::Network, Order::Native] {
                let mut out = Vec::new();
                let options = WriteOptions::new().with_order(order);
                let written =
                    Encoder::with_options(options).encode_value(value, &mut out);
                match written {
                    // Sharing is one thing more to nest in.
                    Err(error) => assert_eq!(error.kind(), ErrorKind::Limit, "{error}"),
                    Ok(()) => drop(decoder.value(&out).unwrap()),
                }
            }
        }
        // Of several faults one meets this first and the other that.
        (Err(_), Err(_)) => {}
        // Floats of long doubles can be passed over.
        (Err(error), Ok(_)) if error.kind() == ErrorKind::Unsupported => {}
        _ => panic!("read {value:?}, passed over {passed:?}"),
    }
}

/// What is read with a type is written and read again.
fn twice<T: Serialize + DeserializeOwned>(decoder: &mut Decoder, image: &[u8]) {
    let value = decoder.decode::<T>(image);
    check(&value, image);
    if let Ok(value) = value {
        decoder.decode::<T>(&to_vec(&value).unwrap()).unwrap();
    }
}

type Target = (&'static str, fn(&mut Decoder, &[u8]));

const TARGETS: &[Target] = &[
    ("without types and passed over", agree),
    ("Vec<String>", read::<Vec<String>>),
    ("dynamic value of another crate", read::<wiremark_datasets::Value>),
    ("Vec<u64>", twice::<Vec<u64>>),
    ("Vec<()>", read::<Vec<()>>),
    ("without types and passed over", agree),
    ("HashMap<String, u32>", twice::<HashMap<String, u32>>),
    ("Tree", read::<Tree>),
    ("String", twice::<String>),
    ("bytes", read::<serde_bytes::ByteBuf>),
    ("Wide", read::<Wide>),
    ("Node", read::<Node>),
    ("JSON", read::<serde_json::Value>),
    ("objects", read::<Vec<Blessed<IgnoredAny, Option<String>>>>),
    ("map of sequences", read::<BTreeMap<String, Vec<Option<bool>>>>),
    ("i128", read::<i128>),
    ("tuple", read::<(i32, Option<String>, [f32; 2])>),
    ("from a reader", |decoder, image| _ = decoder.decode_from::<Node, _>(image)),
    ("code and no objects", |_, image| {
        let options = ReadOptions::new().with_code(true).with_blessed(false);
        agree(&mut Decoder::with_options(options), image);
    }),
];

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Well-formed images in which much stands in few bytes.
fn dense() -> Vec<Vec<u8>> {
    const COUNT: u32 = 400_000;
    let array = |count: u32, unit: &[u8], last: &[u8]| {
        let mut image = b"\x05\x0b\x02".to_vec();
        let total = count + u32::from(!last.is_empty());
        image.extend_from_slice(&total.to_be_bytes());
        image.extend(unit.repeat(usize::try_from(count).unwrap()));
        image.extend_from_slice(last);
        image
    };
    let mut hash = b"\x05\x0b\x03".to_vec();
    hash.extend_from_slice(&COUNT.to_be_bytes());
    hash.extend(b"\x05\0\0\0\0".repeat(usize::try_from(COUNT).unwrap()));
    // A value whose end is noted, in each pair.
    let mut noted = b"\x05\x0b\x02\0\0\0\x01\x04\x03".to_vec();
    noted.extend_from_slice(&COUNT.to_be_bytes());
    noted.extend(b"\x04\x05\0\0\0\0".repeat(usize::try_from(COUNT).unwrap()));
    vec![
        array(COUNT, b"\x05", b""),
        array(COUNT, b"\x05", b"\0\0\0\0\x01"),
        array(COUNT, b"\x04\x05", b"\0\0\0\0\x01"),
        array(COUNT, b"\x04\x02\0\0\0\0", b""),
        array(COUNT, b"\x11\0\x05", b""),
        array(COUNT, b"\x0a\0", b""),
        hash,
        noted,
    ]
}

#[test]
fn broken_images_do_no_harm() {
    let all = good();
    let inputs = number("STORABLE_HOSTILE_INPUTS", 2_000_000);
    let seed = number("STORABLE_HOSTILE_SEED", 0x9e37_79b9_7f4a_7c15);
    let mut random = Random(seed);
    let mut accepted = 0_u64;
    let mut bad = Vec::new();
    for index in 0..inputs {
        let image = broken(&all, &mut random);
        let (target, read) = TARGETS[usize::try_from(index).unwrap() % TARGETS.len()];
        let mut decoder = Decoder::new();
        let (outcome, allocated) =
            measure(|| catch_unwind(AssertUnwindSafe(|| read(&mut decoder, &image))));
        let bound = PEAK_BYTES + PEAK_PER_INPUT_BYTE * image.len() as u64;
        if outcome.is_err()
            || allocated.peak_bytes > bound
            || allocated.largest_bytes > PEAK_BYTES
        {
            bad.push(format!("{target}: {allocated:?} from {}", hex(&image)));
        }
        accepted += u64::from(outcome.is_ok());
        if bad.len() > 8 {
            break;
        }
    }
    for image in dense() {
        let bound = PEAK_BYTES + PEAK_PER_INPUT_BYTE * image.len() as u64;
        let targets: [Target; 4] = [
            ("without types", |decoder, image| drop(decoder.value(image).unwrap())),
            ("passed over", |decoder, image| {
                let IgnoredAny = decoder.decode(image).unwrap();
            }),
            ("dynamic value of another crate", read::<wiremark_datasets::Value>),
            ("map", read::<BTreeMap<String, Option<bool>>>),
        ];
        for (target, read) in targets {
            let ((), allocated) = measure(|| read(&mut Decoder::new(), &image));
            if allocated.peak_bytes > bound {
                bad.push(format!("{target}: {allocated:?} from {}", hex(&image[..40])));
            }
        }
    }
    // The kit's own attacks, on the codecs.
    for codec in
        [wiremark_storable::Storable::network(), wiremark_storable::Storable::native()]
    {
        wiremark_conform::hostile::memory_is_bounded(&codec, |work| {
            measure(work).1.peak_bytes
        })
        .assert_none();
    }
    println!("{inputs} inputs, seed {seed}, {accepted} without a panic");
    assert!(bad.is_empty(), "seed {seed}:\n{}", bad.join("\n"));
}
