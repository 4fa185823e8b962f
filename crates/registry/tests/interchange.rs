//! Bytes that one codec writes, read by the others of its wire format.
//!
//! Every value that a codec carries itself is a case: those of the kit, dynamic ones, and the
//! seeded datasets. A codec that arrives needs no edit here but a row for each difference.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

use wiremark_conform::samples::{self, Sample, SampleVisitor};
use wiremark_conform::wire::{self, WireVisitor};
use wiremark_core::{Codec, CodecVisitor, DynCodec, Profile, Role};
use wiremark_datasets::{Dataset, DatasetVisitor, Value};

/// A pair that differs: who writes, who reads, what, and why.
struct Known {
    writer: &'static str,
    reader: &'static str,
    /// Names of cases; the one name `*` stands for a wire that is another altogether.
    cases: &'static [&'static str],
    reason: &'static str,
}

const KNOWN: &[Known] = &[
    differ("bincode/bincode/standard", "bincode/bincode/legacy", ALL, BINCODE),
    differ("bincode/bincode/legacy", "bincode/bincode/standard", ALL, BINCODE),
    differ("cbor/ciborium", "cbor/cbor4ii", UNITS, NULL),
    differ("cbor/ciborium", "cbor/cbor4ii", FLOATS, WIDTH),
    differ("cbor/ciborium", "cbor/minicbor-serde", UNITS, NULL),
    differ("cbor/ciborium", "cbor/minicbor-serde", CHARS, TEXT),
    differ("cbor/cbor4ii", "cbor/ciborium", UNITS, EMPTY_ARRAY),
    differ("cbor/cbor4ii", "cbor/ciborium", SOME_UNIT, EMPTY_ARRAY),
    differ("cbor/cbor4ii", "cbor/minicbor-serde", CHARS, TEXT),
    differ("cbor/minicbor-serde", "cbor/ciborium", UNITS, EMPTY_ARRAY),
    differ("cbor/minicbor-serde", "cbor/ciborium", SOME_UNIT, EMPTY_ARRAY),
    differ("cbor/minicbor-serde", "cbor/ciborium", CHARS, NUMBER),
    differ("cbor/minicbor-serde", "cbor/cbor4ii", CHARS, NUMBER),
    differ("gob/wiremark-gob/go-names", "gob/wiremark-gob", ALL, GO_NAMES),
    differ("json/serde_json/compact", "json/simd-json", WIDE, NARROW),
    differ("json/serde_json/pretty", "json/simd-json", WIDE, NARROW),
    differ("json/sonic-rs/compact", "json/simd-json", WIDE, NARROW),
    differ("msgpack/rmp-serde/compact", "msgpack/messagepack-serde", UNIT_STRUCTS, ARRAY),
    differ("msgpack/rmp-serde/compact", "msgpack/messagepack-serde", INTEGERS, BIN),
    differ("msgpack/rmp-serde/named", "msgpack/messagepack-serde", UNIT_STRUCTS, ARRAY),
    differ("msgpack/rmp-serde/named", "msgpack/messagepack-serde", INTEGERS, BIN),
];

const fn differ(
    writer: &'static str,
    reader: &'static str,
    cases: &'static [&'static str],
    reason: &'static str,
) -> Known {
    Known { writer, reader, cases, reason }
}

const GO_NAMES: &str = "fields are called as Go's programs have them";
const BINCODE: &str =
    "integers and lengths are varints in one, of fixed width in the other";
const NULL: &str = "ciborium writes units as null, the reader wants an empty array";
const EMPTY_ARRAY: &str =
    "ciborium wants null for units, the writer writes an empty array";
const WIDTH: &str = "ciborium writes the shortest float, cbor4ii wants that of the type";
const TEXT: &str = "minicbor-serde wants a char's number, the writer writes a text";
const NUMBER: &str = "minicbor-serde writes a char's number, the reader wants a text";
const ARRAY: &str =
    "rmp-serde writes a unit struct as an empty array, the reader wants nil";
const BIN: &str =
    "rmp-serde writes 128-bit integers as 16 bytes, the reader wants an integer";
const NARROW: &str = "simd-json reads integers of 64 bits";

const ALL: &[&str] = &["*"];
const UNITS: &[&str] =
    &["() ()", "Unit Unit", "Vec<()> [(), ()]", "sample () ()", "sample Unit Unit"];
const SOME_UNIT: &[&str] = &["Option<()> Some(())"];
const UNIT_STRUCTS: &[&str] = &["Unit Unit", "sample Unit Unit"];
const CHARS: &[&str] =
    &["char 'a'", "char 'é'", "char '水'", "char '😀'", "sample char 'é'"];
const INTEGERS: &[&str] = &[
    "u128 0",
    "u128 18446744073709551616",
    "u128 340282366920938463463374607431768211455",
    "i128 -1",
    "i128 -18446744073709551617",
    "i128 -170141183460469231731687303715884105728",
];
const WIDE: &[&str] = &[
    "u128 18446744073709551616",
    "u128 340282366920938463463374607431768211455",
    "i128 -18446744073709551617",
    "i128 -170141183460469231731687303715884105728",
];
const FLOATS: &[&str] = &[
    "f32 0.0",
    "f32 -0.0",
    "f32 1.5",
    "f64 0.0",
    "f64 -0.0",
    "f64 1.5",
    "f64 INFINITY",
    "f64 NEG_INFINITY",
    "f64 NAN",
    "sample f32 1.5",
    "sample f64 0.0",
    "sample f64 -0.5",
    "sample Record Record { id: 300, name: \"größe 水\", ratio",
    "sample Vec<Record> [Record { id: 300, name: \"größe 水\", rati",
    "sample Shape Circle(0.25)",
    "sample Vec<Shape> [Empty, Circle(0.25), Line(-1, 1), Recta",
    "dataset log",
];

/// What was found: writer and reader, the case, and what it was read as.
type Found = BTreeMap<(&'static str, &'static str), BTreeMap<String, String>>;

struct All<V>(Vec<Box<dyn DynCodec<V>>>);

impl<V: Sample> CodecVisitor for All<V> {
    fn visit<C: Codec>(&mut self, codec: C) {
        if codec.profile().role == Role::Codec {
            self.0.push(Box::new(codec));
        }
    }
}

/// Writes `value` with each codec that `takes` lets pass, and reads the bytes with each other
/// codec of the wire format.
fn exchange<V: Sample>(
    case: &str,
    value: &V,
    takes: impl Fn(&Profile) -> bool,
    same: impl Fn(&V, &V) -> Result<(), String>,
    found: &mut Found,
) {
    let mut codecs = All(Vec::new());
    wiremark_registry::visit(&mut codecs);
    let mut readers = codecs.0;
    readers.retain(|codec| takes(&codec.profile()));
    for index in 0..readers.len() {
        let mut writer = readers[index].boxed_clone();
        let from = writer.profile();
        let mut bytes = Vec::new();
        // What it does not carry itself, as its profile says, it need not give to others.
        let is_carried = writer.encode_into(value, &mut bytes).is_ok()
            && writer.decode(&bytes).is_ok_and(|back| same(&back, value).is_ok());
        if !is_carried {
            continue;
        }
        for reader in &mut readers {
            let to = reader.profile();
            if to.format != from.format || to.id == from.id {
                continue;
            }
            let read = reader
                .decode(&bytes)
                .map_err(|error| error.to_string())
                .and_then(|back| same(&back, value));
            let pair = found.entry((from.id, to.id)).or_default();
            if let Err(difference) = read {
                pair.insert(case.to_owned(), difference);
            }
        }
    }
}

/// As text, in which NaN is NaN and the sign of zero is seen.
fn as_text<V: Debug>(found: &V, wanted: &V) -> Result<(), String> {
    let (found, wanted) = (format!("{found:?}"), format!("{wanted:?}"));
    if found == wanted {
        Ok(())
    } else {
        Err(format!("expected {wanted}, found {found}"))
    }
}

struct Small<'a>(&'a mut Found);

impl WireVisitor for Small<'_> {
    fn visit<T: Sample>(&mut self, name: &str, value: T) {
        exchange(name, &value, |_| true, as_text, self.0);
    }
}

impl SampleVisitor for Small<'_> {
    fn visit<T: Sample>(&mut self, _: bool, value: T) {
        let kind: String = std::any::type_name::<T>()
            .split_inclusive(['<', '(', '[', ' '])
            .filter_map(|part| part.rsplit("::").next())
            .collect();
        let text: String = format!("{value:?}").chars().take(40).collect();
        exchange(&format!("sample {kind} {text}"), &value, |_| true, as_text, self.0);
    }
}

struct Whole<'a> {
    self_describing: bool,
    found: &'a mut Found,
}

impl DatasetVisitor for Whole<'_> {
    fn visit<D: Dataset>(&mut self, dataset: &D) {
        let case = format!("dataset {}", dataset.about().id);
        // Not printed: the value may have ten thousand records.
        let same = |found: &D::Value, wanted: &D::Value| {
            if found == wanted { Ok(()) } else { Err("another value".to_owned()) }
        };
        let self_describing = self.self_describing;
        let takes = |profile: &Profile| profile.can.self_describing == self_describing;
        exchange(&case, dataset.value(), takes, same, self.found);
    }
}

fn dynamic() -> Vec<(&'static str, Value)> {
    vec![
        ("null", Value::Null),
        ("true", true.into()),
        ("0", 0_u64.into()),
        ("2^64 - 1", u64::MAX.into()),
        ("-2^63", i64::MIN.into()),
        ("2^127", Value::U128(1 << 127)),
        ("-2^127", Value::I128(i128::MIN)),
        ("1.5", 1.5.into()),
        ("0.1", 0.1.into()),
        ("text", "größe 水".into()),
        ("bytes", Value::Bytes(vec![0, 255])),
        ("array", Value::Array(vec![Value::Null, 1.5.into(), Value::Array(vec![])])),
        (
            "map",
            Value::Map(vec![("a".into(), Value::Null), ("b".into(), Value::Map(vec![]))]),
        ),
        ("map of integer keys", Value::Map(vec![(300_u64.into(), "x".into())])),
    ]
}

#[test]
fn what_one_codec_of_a_format_writes_the_others_read() {
    let mut found = Found::new();
    wire::visit(&mut Small(&mut found));
    samples::visit(&mut Small(&mut found));
    for (name, value) in dynamic() {
        let takes = |profile: &Profile| profile.can.self_describing;
        exchange(&format!("Value {name}"), &value, takes, as_text, &mut found);
    }
    for self_describing in [true, false] {
        for id in wiremark_datasets::IDS {
            let mut whole = Whole { self_describing, found: &mut found };
            assert!(wiremark_datasets::visit(id, self_describing, &mut whole), "{id}");
        }
    }

    let mut faults = Vec::new();
    let mut known = BTreeMap::<_, BTreeMap<&str, &str>>::new();
    for Known { writer, reader, cases, reason } in KNOWN {
        let pair = known.entry((*writer, *reader)).or_default();
        pair.extend(cases.iter().map(|case| (*case, *reason)));
    }
    for ((writer, reader), cases) in &found {
        let known = known.get(&(*writer, *reader)).cloned().unwrap_or_default();
        if known.contains_key("*") {
            if cases.is_empty() {
                faults.push(format!("gone, strike it: {writer} → {reader}: *"));
            }
            continue;
        }
        for (case, difference) in cases {
            if !known.contains_key(&**case) {
                faults.push(format!("new: {writer} → {reader}: {case}: {difference}"));
            }
        }
        for (case, reason) in known {
            if !cases.contains_key(case) {
                let gone = format!("{writer} → {reader}: {case}: {reason}");
                faults.push(format!("gone, strike it: {gone}"));
            }
        }
    }
    if wiremark_registry::IS_COMPLETE {
        let pairs: BTreeSet<_> = found.keys().copied().collect();
        for pair in known.keys().filter(|pair| !pairs.contains(*pair)) {
            faults.push(format!("no such pair: {} → {}", pair.0, pair.1));
        }
    }
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}
