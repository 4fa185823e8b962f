//! Two million streams that somebody broke, read with types, without, and passed over: no
//! panic, no runaway memory, and reading and passing over agree.
//!
//! One test alone, since the allocator's counters belong to the process. `GOB_HOSTILE_INPUTS`
//! sets another number, `GOB_HOSTILE_SEED` another seed.
#![allow(clippy::unwrap_used, reason = "what is not there fails the test")]

mod support;

use std::collections::{BTreeMap, HashMap};
use std::panic::{AssertUnwindSafe, catch_unwind};

use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use support::{hex, streams, vectors};
use wiremark_gob::{Decoder, Deserializer, Interface, Time, Value, to_vec};
use wiremark_meter::alloc::{Counting, measure};

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
#[serde(rename_all = "PascalCase")]
struct Node {
    v: i64,
    next: Option<Box<Node>>,
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
}

/// Good streams, none longer than a few hundred bytes.
fn good() -> Vec<Vec<u8>> {
    let mut good: Vec<_> = vectors()
        .iter()
        .flat_map(streams)
        .flat_map(|(_, parts)| parts)
        .filter(|part| part.len() < 300)
        .collect();
    let leaf = Tree::Named { left: Box::new(Tree::Leaf(1)), right: None };
    good.push(to_vec(&Tree::Node(vec![Tree::Leaf(-1), leaf])).unwrap());
    good.push(to_vec(&HashMap::from([("a", 1_u32), ("b", 300)])).unwrap());
    good.push(to_vec(&vec![(), ()]).unwrap());
    good.push(to_vec(&vec![Interface::named("int", 1)]).unwrap());
    good.push(to_vec(&(1, "a", vec![Some(1.5), None])).unwrap());
    good.push(to_vec(&i128::MIN).unwrap());
    good
}

/// Lengths and counts that lie, as uints.
const LIES: [&[u8]; 7] = [
    &[0xfc, 0xff, 0xff, 0xff, 0xff],
    &[0xf8, 0x40, 0, 0, 0, 0, 0, 0, 0],
    &[0xf8, 0x80, 0, 0, 0, 0, 0, 0, 0],
    &[0xf8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
    &[0xfe, 0xff, 0xff],
    &[0x7f],
    &[0],
];

/// The bodies of a stream's messages, as far as they are there.
fn bodies(stream: &[u8]) -> Vec<Vec<u8>> {
    let mut bodies = Vec::new();
    let mut rest = stream;
    while let Some((&first, after)) = rest.split_first() {
        let (len, after) = if first < 0x80 {
            (usize::from(first), after)
        } else {
            let count = usize::from(first.wrapping_neg());
            let Some((len, after)) = after.split_at_checked(count) else { break };
            (len.iter().fold(0, |len, &byte| len << 8 | usize::from(byte)), after)
        };
        let Some((body, after)) = after.split_at_checked(len) else { break };
        bodies.push(body.to_vec());
        rest = after;
    }
    bodies
}

fn framed(bodies: &[Vec<u8>]) -> Vec<u8> {
    let mut stream = Vec::new();
    for body in bodies {
        match body.len() {
            len @ 0..128 => stream.push(u8::try_from(len).unwrap()),
            len @ 128..256 => stream.extend([0xff, u8::try_from(len).unwrap()]),
            len => {
                stream.push(0xfe);
                stream.extend(u16::try_from(len).unwrap().to_be_bytes());
            }
        }
        stream.extend_from_slice(body);
    }
    stream
}

fn damage(bytes: &mut Vec<u8>, all: &[Vec<u8>], random: &mut Random) {
    let at = random.below(bytes.len());
    match random.below(12) {
        0 => bytes.truncate(at),
        1..5 => {
            for _ in 0..=random.below(7) {
                let at = random.below(bytes.len());
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << random.below(8);
                }
            }
        }
        5..8 if !bytes.is_empty() => {
            let lie = LIES[random.below(LIES.len())];
            bytes.splice(at..=at, lie.iter().copied());
        }
        8 => {
            let byte = random.next().to_le_bytes()[0];
            bytes.insert(at, byte);
        }
        9 if !bytes.is_empty() => _ = bytes.remove(at),
        10 => {
            // A piece of another stream.
            let other = &all[random.below(all.len())];
            let from = random.below(other.len());
            let piece = &other[from..(from + random.below(24)).min(other.len())];
            bytes.splice(at..at, piece.iter().copied());
        }
        _ => {
            let count = random.below(12);
            bytes.extend((0..count).map(|_| random.next().to_le_bytes()[0]));
        }
    }
}

fn broken(all: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let mut stream = all[random.below(all.len())].clone();
    if random.below(64) == 0 {
        stream = (0..random.below(80)).map(|_| random.next().to_le_bytes()[0]).collect();
    }
    // Half of them keep the lengths of their messages right, so that the damage lies deeper.
    if random.below(2) == 0 {
        let mut bodies = bodies(&stream);
        if !bodies.is_empty() {
            let at = random.below(bodies.len());
            damage(&mut bodies[at], all, random);
            return framed(&bodies);
        }
    }
    damage(&mut stream, all, random);
    stream
}

fn read<T: DeserializeOwned>(stream: &[u8]) -> bool {
    let mut deserializer = Deserializer::from_slice(stream);
    let mut is_good = false;
    // After an error that allows it, the next value is read.
    for _ in 0..4 {
        match deserializer.next_value::<T>() {
            Ok(Some(_)) => is_good = true,
            Ok(None) => break,
            Err(error) => {
                is_good = false;
                assert!(
                    error.offset().is_none_or(|at| at <= stream.len() as u64),
                    "{error}"
                );
            }
        }
    }
    is_good
}

fn read_from_reader<T: DeserializeOwned>(stream: &[u8]) {
    let mut decoder = Decoder::new(stream);
    for _ in 0..4 {
        if let Ok(None) = decoder.next_value::<T>() {
            break;
        }
    }
}

/// Reading without types and passing over go the same way.
fn agree(stream: &[u8]) {
    let mut reader = Deserializer::from_slice(stream);
    let mut skipper = Deserializer::from_slice(stream);
    loop {
        let (read, skipped) = (reader.next_value::<Value>(), skipper.skip_value());
        match (&read, &skipped) {
            (Ok(Some(_)), Ok(true)) => assert_eq!(reader.offset(), skipper.offset()),
            (Ok(None), Ok(false)) => break,
            (Err(a), Err(b)) => {
                assert_eq!(a.kind(), b.kind(), "{a} / {b}");
                break;
            }
            _ => panic!("read {read:?}, skipped {skipped:?}"),
        }
    }
}

type Target = (&'static str, fn(&[u8]));

const TARGETS: &[Target] = &[
    ("dynamic and skipped", agree),
    ("Vec<String>", |stream| _ = read::<Vec<String>>(stream)),
    ("skipped", |stream| _ = read::<IgnoredAny>(stream)),
    ("dynamic value of another crate", |stream| {
        read::<wiremark_datasets::Value>(stream);
    }),
    ("Vec<u64>", |stream| _ = read::<Vec<u64>>(stream)),
    ("dynamic and skipped", agree),
    ("Vec<()>", |stream| _ = read::<Vec<()>>(stream)),
    ("HashMap<String, u32>", |stream| _ = read::<HashMap<String, u32>>(stream)),
    ("Tree", |stream| _ = read::<Tree>(stream)),
    ("String", |stream| _ = read::<String>(stream)),
    ("bytes", |stream| _ = read::<serde_bytes::ByteBuf>(stream)),
    ("Wide", |stream| _ = read::<Wide>(stream)),
    ("Node", |stream| _ = read::<Node>(stream)),
    ("dynamic from a reader", read_from_reader::<Value>),
    ("Time", |stream| _ = read::<Time>(stream)),
    ("interfaces", |stream| _ = read::<Vec<Interface<Option<i32>>>>(stream)),
    ("i128", |stream| _ = read::<i128>(stream)),
    ("typed from a reader", read_from_reader::<Wide>),
    ("tuple", |stream| _ = read::<(i32, Option<String>, [f32; 2])>(stream)),
];

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn broken_streams_do_no_harm() {
    let all = good();
    let inputs = number("GOB_HOSTILE_INPUTS", 2_000_000);
    let seed = number("GOB_HOSTILE_SEED", 0x9e37_79b9_7f4a_7c15);
    let mut random = Random(seed);
    let mut accepted = 0_u64;
    let mut bad = Vec::new();
    for index in 0..inputs {
        let stream = broken(&all, &mut random);
        let (target, read) = TARGETS[usize::try_from(index).unwrap() % TARGETS.len()];
        let (outcome, allocated) =
            measure(|| catch_unwind(AssertUnwindSafe(|| read(&stream))));
        let bound = PEAK_BYTES + PEAK_PER_INPUT_BYTE * stream.len() as u64;
        if outcome.is_err()
            || allocated.peak_bytes > bound
            || allocated.largest_bytes > PEAK_BYTES
        {
            bad.push(format!("{target}: {allocated:?} from {}", hex(&stream)));
        }
        accepted += u64::from(outcome.is_ok());
        if bad.len() > 8 {
            break;
        }
    }
    // The kit's own attacks, on the codec.
    let codec = wiremark_gob::Gob::new();
    wiremark_conform::hostile::memory_is_bounded(&codec, |work| {
        measure(work).1.peak_bytes
    })
    .assert_none();
    println!("{inputs} inputs, seed {seed}, {accepted} without a panic");
    assert!(bad.is_empty(), "seed {seed}:\n{}", bad.join("\n"));
}
