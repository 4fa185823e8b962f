//! Each field of `Capabilities`, tried out: what is claimed holds, and what holds is claimed.

use std::collections::BTreeMap;
use std::fmt::Debug;

use serde::de::{Deserialize, DeserializeOwned, IgnoredAny};
use serde::ser::{Serialize, SerializeMap, SerializeSeq};
use serde::{Deserializer, Serializer};
use serde_bytes::ByteBuf;
use wiremark_core::{Capabilities, Codec};
use wiremark_datasets::Value;

use crate::Findings;
use crate::samples::Record;

/// Whether something holds, and if not, what shows it.
type Probe = Result<(), String>;

/// Each claim is tried; so is each thing that is not claimed.
pub fn what_is_claimed_holds_and_what_holds_is_claimed<C: Codec>(codec: &C) -> Findings {
    let profile = codec.profile();
    let mut findings = Findings::new(profile.id);
    let mut codec = codec.clone();
    let Capabilities {
        self_describing,
        human_readable,
        field_names,
        borrow_str,
        borrow_bytes,
        bytes,
        int_128,
        non_finite_floats,
        nested_option,
        unit_is_some,
        integer_keys,
        compound_keys,
        unknown_length,
        omitted_fields,
        internally_tagged,
        adjacently_tagged,
        untagged,
        flatten,
        skip,
        deterministic,
        // Tried in the room `depth`.
        max_depth: _,
    } = profile.can;
    let c = &mut codec;
    for (field, claimed, probe) in [
        ("self_describing", self_describing, is_self_describing(c)),
        ("human_readable", human_readable, is_human_readable(c)),
        ("field_names", field_names, has_field_names(c)),
        ("borrow_str", borrow_str, borrows_str(c)),
        ("borrow_bytes", borrow_bytes, borrows_bytes(c)),
        ("bytes", bytes, tells_bytes_apart(c)),
        ("int_128", int_128, has_int_128(c)),
        ("non_finite_floats", non_finite_floats, has_non_finite_floats(c)),
        ("nested_option", nested_option, back(c, &Some(None::<u8>))),
        ("unit_is_some", unit_is_some, back(c, &Some(()))),
        ("integer_keys", integer_keys, has_integer_keys(c)),
        ("compound_keys", compound_keys, has_compound_keys(c)),
        ("unknown_length", unknown_length, takes_unknown_length(c)),
        ("omitted_fields", omitted_fields, fills_omitted_fields(c)),
        ("internally_tagged", internally_tagged, has_internal_tags(c)),
        ("adjacently_tagged", adjacently_tagged, has_adjacent_tags(c)),
        ("untagged", untagged, has_untagged(c)),
        ("flatten", flatten, flattens(c)),
        ("skip", skip, skips(c)),
        ("deterministic", deterministic, is_deterministic(c)),
    ] {
        match (claimed, probe) {
            (true, Err(why)) => findings.add(format!(
                "claims `{field}: true`, but {why}; claim false, or mend the codec"
            )),
            (false, Ok(())) => findings.add(format!(
                "claims `{field}: false`, but it holds; claim `{field}: true`"
            )),
            (true, Ok(())) | (false, Err(_)) => {}
        }
    }
    findings.mended_by("the claims stand in `profile`, under `can`")
}

fn bytes_of<T: Serialize + ?Sized>(
    codec: &mut impl Codec,
    value: &T,
) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    codec
        .encode_into(value, &mut out)
        .map_err(|error| format!("encoding fails: {error}"))?;
    Ok(out)
}

/// `read` is what decoding `value`'s bytes gives.
fn reads<T, U>(codec: &mut impl Codec, value: &T, read: &U) -> Probe
where
    T: Serialize + Debug + ?Sized,
    U: DeserializeOwned + PartialEq + Debug,
{
    let bytes = bytes_of(codec, value)?;
    match codec.decode::<U>(&bytes) {
        Ok(found) if found == *read => Ok(()),
        Ok(found) => Err(format!("{value:?} comes back as {found:?}")),
        Err(error) => Err(format!("{value:?} does not come back: {error}")),
    }
}

fn back<T: Serialize + DeserializeOwned + PartialEq + Debug>(
    codec: &mut impl Codec,
    value: &T,
) -> Probe {
    reads(codec, value, value)
}

fn is_self_describing(codec: &mut impl Codec) -> Probe {
    let bytes = bytes_of(codec, &(true, "text", vec![1, 2]))?;
    let read = codec.decode::<Value>(&bytes).map_err(|error| error.to_string())?;
    let expected = Value::Array(vec![
        Value::Bool(true),
        Value::from("text"),
        Value::Array(vec![Value::U64(1), Value::U64(2)]),
    ]);
    if read == expected {
        Ok(())
    } else {
        Err(format!("without a type it reads {read:?}"))
    }
}

/// What the other side says of itself.
struct Asks(bool);

impl Serialize for Asks {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let answer = serializer.is_human_readable();
        serializer.serialize_bool(answer)
    }
}

impl<'de> Deserialize<'de> for Asks {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let answer = deserializer.is_human_readable();
        bool::deserialize(deserializer).map(|_| Self(answer))
    }
}

fn is_human_readable(codec: &mut impl Codec) -> Probe {
    let bytes = bytes_of(codec, &Asks(false))?;
    let writes = codec.decode::<bool>(&bytes).map_err(|error| error.to_string())?;
    let Asks(reads) = codec.decode(&bytes).map_err(|error| error.to_string())?;
    if writes && reads {
        Ok(())
    } else {
        Err(format!("writing it says {writes}, reading {reads}"))
    }
}

fn has_field_names(codec: &mut impl Codec) -> Probe {
    #[derive(Debug, serde::Serialize)]
    struct Written {
        first: u8,
        gone: Vec<u16>,
        second: &'static str,
    }
    #[derive(Debug, PartialEq, serde::Deserialize)]
    struct Read {
        second: String,
        first: u8,
        #[serde(default)]
        new: u32,
    }
    let written = Written { first: 1, gone: vec![300], second: "two" };
    reads(codec, &written, &Read { second: "two".to_owned(), first: 1, new: 0 })
}

/// Whether `part` lies inside `whole`, by address.
fn lies_inside(part: &[u8], whole: &[u8]) -> bool {
    let whole = whole.as_ptr_range();
    let part = part.as_ptr_range();
    whole.start <= part.start && part.end <= whole.end
}

fn borrows_str(codec: &mut impl Codec) -> Probe {
    let bytes = bytes_of(codec, "borrow me")?;
    let read = codec.decode::<&str>(&bytes).map_err(|error| error.to_string())?;
    if read == "borrow me" && lies_inside(read.as_bytes(), &bytes) {
        Ok(())
    } else {
        Err(format!("`&str` reads {read:?}, which is not inside the input"))
    }
}

fn borrows_bytes(codec: &mut impl Codec) -> Probe {
    let written = serde_bytes::Bytes::new(b"\xff\x00 borrow me");
    let bytes = bytes_of(codec, written)?;
    let read = codec.decode::<&[u8]>(&bytes).map_err(|error| error.to_string())?;
    if read == &**written && lies_inside(read, &bytes) {
        Ok(())
    } else {
        Err(format!("`&[u8]` reads {read:?}, which is not inside the input"))
    }
}

fn tells_bytes_apart(codec: &mut impl Codec) -> Probe {
    for content in [&b"\xff\x00\x01"[..], b"text", b""] {
        let written = ByteBuf::from(content);
        reads(codec, &written, &Value::Bytes(content.to_vec()))?;
        back(codec, &written)?;
    }
    let numbers = Value::Array(vec![Value::U64(1), Value::U64(2)]);
    reads(codec, &[1_u8, 2], &numbers)
}

fn has_int_128(codec: &mut impl Codec) -> Probe {
    for number in [0, 1, -1, i128::MIN, i128::MAX, i128::from(u64::MAX) + 1] {
        back(codec, &number)?;
    }
    for number in [0, 1, u128::from(u64::MAX) + 1, u128::MAX] {
        back(codec, &number)?;
    }
    Ok(())
}

fn has_non_finite_floats(codec: &mut impl Codec) -> Probe {
    back(codec, &[f64::INFINITY, f64::NEG_INFINITY])?;
    let bytes = bytes_of(codec, &f64::NAN)?;
    match codec.decode::<f64>(&bytes) {
        Ok(read) if read.is_nan() => Ok(()),
        Ok(read) => Err(format!("NaN comes back as {read}")),
        Err(error) => Err(format!("NaN does not come back: {error}")),
    }
}

fn has_integer_keys(codec: &mut impl Codec) -> Probe {
    back(codec, &BTreeMap::from([(1_u64, true), (u64::MAX, false)]))?;
    back(codec, &BTreeMap::from([(-1_i8, 'a'), (7, 'b')]))
}

fn has_compound_keys(codec: &mut impl Codec) -> Probe {
    #[derive(
        Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
    )]
    struct Key {
        x: u8,
        y: String,
    }
    back(codec, &BTreeMap::from([((1_u8, true), "tuple".to_owned())]))?;
    back(codec, &BTreeMap::from([(vec![1_u16, 2], "sequence".to_owned())]))?;
    back(codec, &BTreeMap::from([(Key { x: 1, y: "y".to_owned() }, 3)]))
}

/// Says nothing of its length.
#[derive(Debug)]
struct Endless<'a, T>(&'a [T]);

impl<T: Serialize> Serialize for Endless<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut seq = serializer.serialize_seq(None)?;
        for element in self.0 {
            seq.serialize_element(element)?;
        }
        seq.end()
    }
}

#[derive(Debug)]
struct EndlessMap<'a>(&'a BTreeMap<String, u16>);

impl Serialize for EndlessMap<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (key, value) in self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

fn takes_unknown_length(codec: &mut impl Codec) -> Probe {
    for length in [0, 1, 300] {
        let numbers = (0..length).collect::<Vec<u32>>();
        reads(codec, &Endless(&numbers), &numbers)?;
    }
    let map = BTreeMap::from([("a".to_owned(), 1), ("b".to_owned(), 300)]);
    reads(codec, &EndlessMap(&map), &map)?;
    let nested = [Endless(&[1, 2]), Endless(&[])];
    reads(codec, &Endless(&nested), &vec![vec![1, 2], vec![]])
}

fn fills_omitted_fields(codec: &mut impl Codec) -> Probe {
    #[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
    struct Sparse {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        first: Option<u8>,
        second: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        third: Vec<u32>,
    }
    for first in [None, Some(1)] {
        for third in [vec![], vec![2]] {
            back(codec, &Sparse { first, second: "always".to_owned(), third })?;
        }
    }
    Ok(())
}

fn has_internal_tags(codec: &mut impl Codec) -> Probe {
    #[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
    #[serde(tag = "kind")]
    enum Tagged {
        Unit,
        Fields { a: u8, b: String },
        Record(Record),
    }
    back(codec, &Tagged::Unit)?;
    back(codec, &Tagged::Fields { a: 1, b: "b".to_owned() })?;
    back(codec, &Tagged::Record(Record::full()))
}

fn has_adjacent_tags(codec: &mut impl Codec) -> Probe {
    #[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
    #[serde(tag = "kind", content = "with")]
    enum Tagged {
        Unit,
        One(u32),
        Two(u8, String),
        Fields { a: u8, b: Option<bool> },
    }
    back(codec, &Tagged::Unit)?;
    back(codec, &Tagged::One(300))?;
    back(codec, &Tagged::Two(1, "b".to_owned()))?;
    back(codec, &Tagged::Fields { a: 1, b: Some(true) })
}

fn has_untagged(codec: &mut impl Codec) -> Probe {
    #[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
    #[serde(untagged)]
    enum Untagged {
        Number(u32),
        Text(String),
        // Before the struct: where structs are written as sequences, the struct is lost.
        Sequence(Vec<u8>),
        Fields { a: u8 },
    }
    back(codec, &Untagged::Number(300))?;
    back(codec, &Untagged::Text("text".to_owned()))?;
    back(codec, &Untagged::Sequence(vec![1, 2]))?;
    back(codec, &Untagged::Fields { a: 1 })
}

fn flattens(codec: &mut impl Codec) -> Probe {
    #[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
    struct Outer {
        before: u8,
        #[serde(flatten)]
        record: Record,
        #[serde(flatten)]
        rest: BTreeMap<String, u16>,
    }
    let rest = BTreeMap::from([("more".to_owned(), 300)]);
    back(codec, &Outer { before: 1, record: Record::full(), rest })
}

fn skips(codec: &mut impl Codec) -> Probe {
    #[derive(serde::Serialize)]
    struct Everything<'a> {
        record: &'a Record,
        shape: crate::samples::Shape,
        unit: (),
        map: BTreeMap<&'a str, i64>,
    }
    let value = Everything {
        record: &Record::full(),
        shape: crate::samples::Shape::Line(1, -1),
        unit: (),
        map: BTreeMap::from([("a", i64::MIN)]),
    };
    let bytes = bytes_of(codec, &value)?;
    codec.decode::<IgnoredAny>(&bytes).map(drop).map_err(|error| error.to_string())
}

fn is_deterministic(codec: &mut impl Codec) -> Probe {
    let value = || {
        let map = BTreeMap::from([("b", 1), ("a", 2), ("c", 3)]);
        (Record::full(), map, [0.1, -0.0])
    };
    let first = bytes_of(codec, &value())?;
    for bytes in [bytes_of(codec, &value())?, bytes_of(&mut codec.clone(), &value())?] {
        if bytes != first {
            return Err("equal values have other bytes the second time".to_owned());
        }
    }
    Ok(())
}
