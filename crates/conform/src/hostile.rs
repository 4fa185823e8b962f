//! Bytes that somebody else made: nothing panics, nothing runs on, and memory is asked for only
//! when the bytes are there.

use std::collections::{BTreeSet, HashMap};
use std::panic::{self, AssertUnwindSafe};

use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;
use wiremark_core::{Codec, ErrorKind};
use wiremark_datasets::Value;

use crate::Findings;
use crate::contract::{encoded, hex, outcome};
use crate::random::{Random, SEED};
use crate::samples::{Record, Sample, SampleVisitor, Shape};

/// What a decode may hold at most: 4 MiB, and 64 times its input.
pub const PEAK_BYTES: u64 = 4 << 20;

/// See [`PEAK_BYTES`].
pub const PEAK_PER_INPUT_BYTE: u64 = 64;

/// One of so many inputs is decoded into types whose elements may take no bytes. Odd, so that
/// it meets each bomb at some position.
const EMPTY_EACH: usize = 47;

/// An enum that holds itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Tree {
    Leaf(i64),
    Node(Vec<Tree>),
    Named { left: Box<Tree>, right: Option<Box<Tree>> },
}

/// Elements that take memory and no bytes, where structs have no field names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Skipped {
    #[serde(skip)]
    memory: u64,
}

/// Seeded mutations of documents, length bombs at each of their bytes, and random bytes,
/// decoded into seventeen types and ways: no panic, no error of kind `Io`, no offset outside the input.
pub fn hostile_bytes_are_refused<C: Codec>(codec: &C) -> Findings {
    let mut codec = codec.clone();
    let mut findings = Findings::new(codec.profile().id);
    // One panic a type will do: each prints a trace.
    let mut panicked = BTreeSet::new();
    each_input(&mut codec.clone(), SEED, &mut |count, input| {
        each_type(&mut codec, count, &mut |codec, target, decode| {
            if panicked.contains(target) {
                return;
            }
            let result = panic::catch_unwind(AssertUnwindSafe(|| decode(codec, input)));
            let Ok(result) = result else {
                panicked.insert(target);
                return findings.add(format!(
                    "{target} from {}: expected an error, found a panic",
                    hex(input)
                ));
            };
            let Err(error) = result else { return };
            let offset_is_inside =
                error.offset().is_none_or(|offset| offset <= input.len() as u64);
            findings.expect(error.kind() != ErrorKind::Io && offset_is_inside, || {
                format!(
                    "{target} from {}: expected an error about the input, found kind `{}` \
                     ({error})",
                    hex(input),
                    error.kind()
                )
            });
        });
    });
    findings.mended_by(
        "a length on the wire is a hint until the bytes are seen: \
         `guard.untagged` checks them for libraries that do not; errors from a \
         byte slice are never `ErrorKind::Io`",
    )
}

/// Sequences whose elements may take no bytes come back, however long, or are `Limit` when they
/// are written: nothing is written that cannot be read.
pub fn what_is_written_can_be_read<C: Codec>(codec: &C) -> Findings {
    fn check<T: Sample>(
        codec: &mut impl Codec,
        what: &str,
        value: &T,
        findings: &mut Findings,
    ) {
        match encoded(codec, value) {
            Ok(Some(bytes)) => {
                let result = codec.decode::<T>(&bytes);
                findings.expect(result.as_ref().is_ok_and(|back| back == value), || {
                    format!("{what}: written, but not read: {}", outcome(&result))
                });
            }
            Ok(None) => {}
            Err(error) => findings.expect(error.kind() == ErrorKind::Limit, || {
                format!("{what}: expected bytes or kind `limit`, found {error}")
            }),
        }
    }
    let mut codec = codec.clone();
    let mut findings = Findings::new(codec.profile().id);
    for count in [1, 1_000, 65_536, 65_537, 70_000, 200_000] {
        let codec = &mut codec;
        check(codec, &format!("{count} units"), &vec![(); count], &mut findings);
        let empty = vec![Skipped { memory: 0 }; count];
        check(codec, &format!("{count} structs without fields"), &empty, &mut findings);
        let units = vec![vec![(); count / 300]; 300];
        check(codec, &format!("{count} units in 300 sequences"), &units, &mut findings);
        let numbers = vec![0_u8; count];
        check(codec, &format!("{count} zeros"), &numbers, &mut findings);
    }
    findings.mended_by(
        "both ways have the same limits: where `guard.untagged` reads, `guard.check_elements` \
         looks at what was written",
    )
}

/// The same inputs and types under a meter: `peak` runs what it is given and tells the most
/// bytes that were alive at a time beyond those before. The kit cannot count allocations
/// itself; a test with a counting allocator can.
pub fn memory_is_bounded<C: Codec>(
    codec: &C,
    mut peak: impl FnMut(&mut dyn FnMut()) -> u64,
) -> Findings {
    let mut codec = codec.clone();
    let mut findings = Findings::new(codec.profile().id);
    each_input(&mut codec.clone(), SEED, &mut |count, input| {
        let bound = PEAK_BYTES + PEAK_PER_INPUT_BYTE * input.len() as u64;
        each_type(&mut codec, count, &mut |codec, target, decode| {
            let bytes = peak(&mut || {
                // Whether it panics is another check's question.
                let _ = panic::catch_unwind(AssertUnwindSafe(|| decode(codec, input)));
            });
            findings.expect(bytes <= bound, || {
                format!(
                    "{target} from {}: expected at most {bound} bytes of memory, found {bytes}",
                    hex(input)
                )
            });
        });
    });
    findings.mended_by(
        "a length on the wire is a hint until the bytes are seen: `guard.untagged` checks them \
         for libraries that do not",
    )
}

type Decode<'a, C> = &'a dyn Fn(&mut C, &[u8]) -> wiremark_core::Result<()>;

fn each_type<C: Codec>(
    codec: &mut C,
    count: usize,
    each: &mut dyn FnMut(&mut C, &'static str, Decode<'_, C>),
) {
    fn decode<C: Codec, T: DeserializeOwned>(
        codec: &mut C,
        input: &[u8],
    ) -> wiremark_core::Result<()> {
        codec.decode::<T>(input).map(drop)
    }
    each(codec, "Vec<String>", &decode::<C, Vec<String>>);
    each(codec, "Vec<u64>", &decode::<C, Vec<u64>>);
    each(codec, "Tree", &decode::<C, Tree>);
    each(codec, "String", &decode::<C, String>);
    each(codec, "ByteBuf", &decode::<C, ByteBuf>);
    each(codec, "Vec<Record>", &decode::<C, Vec<Record>>);
    each(codec, "IgnoredAny", &decode::<C, IgnoredAny>);
    each(codec, "Value", &decode::<C, Value>);
    each(codec, "&str", &|codec, input| codec.decode::<&str>(input).map(drop));
    each(codec, "a prefix", &|codec, input| codec.decode_prefix::<Tree>(input).map(drop));
    each(codec, "Tree from a reader", &|codec, input| {
        codec.decode_from::<Tree, _>(input).map(drop)
    });
    each(codec, "Vec<Record> from a reader", &|codec, input| {
        codec.decode_from::<Vec<Record>, _>(input).map(drop)
    });
    each(codec, "a stream of Tree from a reader", &|codec, input| {
        codec.decode_each_from(input, |_: Tree| Ok(()))
    });
    // A length that lies costs as many elements as are allowed, so these see fewer inputs.
    if count.is_multiple_of(EMPTY_EACH) {
        each(codec, "Vec<()>", &decode::<C, Vec<()>>);
        each(codec, "Vec<Vec<Skipped>>", &decode::<C, Vec<Vec<Skipped>>>);
        each(codec, "HashMap<(), Skipped>", &decode::<C, HashMap<(), Skipped>>);
    }
}

/// Integers and heads of lengths that lie, in the ways that formats write them.
const BOMBS: &[&[u8]] = &[
    // 2^32 - 1, and a container of so many in MessagePack and CBOR.
    &[0xff; 4],
    &[0xdd, 0xff, 0xff, 0xff, 0xff],
    &[0xdf, 0xff, 0xff, 0xff, 0xff],
    &[0xc6, 0xff, 0xff, 0xff, 0xff],
    &[0xdb, 0xff, 0xff, 0xff, 0xff],
    // 2^62, both orders, with CBOR's and bincode's heads.
    &[0, 0, 0, 0, 0, 0, 0, 0x40],
    &[0x40, 0, 0, 0, 0, 0, 0, 0],
    &[0x5b, 0x40, 0, 0, 0, 0, 0, 0, 0],
    &[0x7b, 0x40, 0, 0, 0, 0, 0, 0, 0],
    &[0x9b, 0x40, 0, 0, 0, 0, 0, 0, 0],
    &[0xbb, 0x40, 0, 0, 0, 0, 0, 0, 0],
    &[0xfd, 0, 0, 0, 0, 0, 0, 0, 0x40],
    // 2^63 and 2^64 - 1.
    &[0, 0, 0, 0, 0, 0, 0, 0x80],
    &[0xff; 8],
    &[0x9b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
    &[0xbb, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
    &[0x7b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
    &[0xfd, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
    // The same four as LEB128.
    &[0xff, 0xff, 0xff, 0xff, 0x0f],
    &[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x40],
    &[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01],
    &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
    // Sequences of sequences that may each have 200 elements of no bytes.
    &[0xc8, 0x01, 0xc8, 0x01, 0xc8, 0x01, 0xc8, 0x01, 0xc8, 0x01],
];

/// Calls `each` with every input and its number, from the documents of a few values.
fn each_input<C: Codec>(codec: &mut C, seed: u64, each: &mut dyn FnMut(usize, &[u8])) {
    struct Documents<'a, C>(&'a mut C, Vec<Vec<u8>>);
    impl<C: Codec> SampleVisitor for Documents<'_, C> {
        fn visit<T: Sample>(&mut self, _: bool, value: T) {
            if let Ok(Some(bytes)) = encoded(self.0, &value) {
                self.1.push(bytes);
            }
        }
    }
    let mut documents = Documents(codec, Vec::new());
    let visitor = &mut documents;
    visitor.visit(true, vec!["a".to_owned(), "bb".to_owned(), String::new()]);
    visitor.visit(true, vec![1_u64, 300, u64::MAX]);
    visitor.visit(true, vec![(); 3]);
    visitor.visit(true, std::collections::BTreeMap::from([("a".to_owned(), 7_u32)]));
    visitor.visit(true, tree());
    visitor.visit(true, "some text".to_owned());
    visitor.visit(true, ByteBuf::from(b"\x00\xff\x80".to_vec()));
    visitor.visit(true, vec![Record::full()]);
    visitor.visit(true, Shape::Rectangle { width: 1, height: None });
    let documents = documents.1;

    let mut count = 0;
    let mut each = |input: &[u8]| {
        each(count, input);
        count += 1;
    };
    let mut random = Random(seed);
    for document in &documents {
        // As another type.
        each(document);
        for at in 0..document.len() {
            each(&document[..at]);
            for bomb in BOMBS {
                each(&[&document[..at], bomb, &document[at..]].concat());
                let behind = document.get(at + bomb.len()..).unwrap_or_default();
                each(&[&document[..at], bomb, behind].concat());
            }
        }
        for _ in 0..200 {
            let mut flipped = document.clone();
            for _ in 0..=random.below(7) {
                let at = random.below(flipped.len());
                if let Some(byte) = flipped.get_mut(at) {
                    *byte ^= 1 << random.below(8);
                }
            }
            each(&flipped);
        }
        let other = &documents[random.below(documents.len())];
        each(&[&**document, &**other].concat());
    }
    for bomb in BOMBS {
        each(bomb);
        each(&bomb.repeat(4));
    }
    for _ in 0..2_000 {
        let length = random.below(64);
        let bytes =
            (0..length).map(|_| random.next().to_le_bytes()[0]).collect::<Vec<_>>();
        each(&bytes);
    }
}

fn tree() -> Tree {
    Tree::Node(vec![
        Tree::Leaf(-1),
        Tree::Named {
            left: Box::new(Tree::Node(vec![])),
            right: Some(Box::new(Tree::Leaf(i64::MAX))),
        },
    ])
}
