//! What a type asks for and what the stream has: the pairs that Go's vectors do not have.
#![allow(clippy::unwrap_used, reason = "what is not there fails the test")]
#![allow(clippy::items_after_statements, reason = "a type stands beside its values")]

#[path = "support/by_hand.rs"]
mod by_hand;

use std::collections::BTreeMap;
use std::fmt::{self, Debug};

use by_hand::{BOOL, INT, INTERFACE, STRING, Stream, TEXT, int, interface, string};
use serde::de::{DeserializeOwned, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::json;
use wiremark_gob::{
    Complex, Decoder, Deserializer, Encoder, ErrorKind, Interface, Opaque, OpaqueKind,
    ReadOptions, Result, Schema, Value, from_slice, to_vec,
};

#[derive(Debug, PartialEq, Serialize, Deserialize)]
enum Choice {
    A,
    B(i32),
}

#[track_caller]
fn refuse<T: Debug>(result: Result<T>, kind: ErrorKind, text: &str) {
    let error = result.unwrap_err();
    assert_eq!(error.kind(), kind, "{error}");
    assert!(error.offset().is_some(), "{error:?}");
    assert!(error.to_string().contains(text), "{error}");
}

#[test]
fn a_bool_is_no_number() {
    let three = Stream::new().value(INT, &int(3)).bytes();
    refuse(from_slice::<bool>(&three), ErrorKind::Data, "invalid type: integer `3`");
    let strict = ReadOptions::new().with_strict(true);
    let read = Deserializer::from_slice(&three).with_options(strict).read::<bool>();
    refuse(read, ErrorKind::Data, "expected a bool, found an int");
    let any = Stream::new().value(INTERFACE, &interface("bool", BOOL, &[1])).bytes();
    assert!(from_slice::<bool>(&any).unwrap());
}

#[test]
fn a_rune_is_a_character() {
    for (value, wanted) in [(65, Some('A')), (0x1f600, Some('😀')), (0, Some('\0'))] {
        let bytes = Stream::new().value(INT, &int(value)).bytes();
        assert_eq!(from_slice::<char>(&bytes).ok(), wanted);
    }
    // A surrogate, a number beyond all characters, and one below.
    for value in [0xd800, 0x11_0000, -1] {
        let bytes = Stream::new().value(INT, &int(value)).bytes();
        let text = format!("expected a character, found {value}");
        refuse(from_slice::<char>(&bytes), ErrorKind::Data, &text);
    }
}

#[test]
fn by_gos_table_an_interface_is_read_into_an_interface_only() {
    let bytes = Stream::new().value(INTERFACE, &interface("int", INT, &int(5))).bytes();
    fn strict<T: DeserializeOwned + Debug>(bytes: &[u8], wanted: &str) {
        let options = ReadOptions::new().with_strict(true);
        let read = Deserializer::from_slice(bytes).with_options(options).read::<T>();
        refuse(read, ErrorKind::Data, &format!("expected {wanted}, found an interface"));
    }
    strict::<i128>(&bytes, "an integer of 128 bits");
    strict::<()>(&bytes, "a struct without fields");
    strict::<Vec<i32>>(&bytes, "a slice");
    strict::<[i32; 1]>(&bytes, "an array");
    strict::<BTreeMap<String, i32>>(&bytes, "a map");
    strict::<Choice>(&bytes, "an enum");
    let options = ReadOptions::new().with_strict(true);
    let read =
        Deserializer::from_slice(&bytes).with_options(options).read::<Interface<i64>>();
    assert_eq!(read.unwrap(), Interface::named("int", 5_i64));
}

#[test]
fn a_map_of_one_entry_is_an_enum() {
    let map =
        |entries: &[u8]| Stream::new().map(65, STRING, INT).value(65, entries).bytes();
    let one = map(&[vec![1], string("B"), int(7)].concat());
    assert_eq!(from_slice::<Choice>(&one).unwrap(), Choice::B(7));
    let two = map(&[vec![2], string("B"), int(7), string("A"), int(0)].concat());
    let text = "expected a map of one entry for an enum";
    refuse(from_slice::<Choice>(&two), ErrorKind::Data, text);
    refuse(from_slice::<Choice>(&map(&[0])), ErrorKind::Data, text);
}

#[test]
fn an_enum_is_a_name_or_an_entry_for_who_takes_anything() {
    let types = || {
        Stream::new().structure(66, "", &[]).structure(
            65,
            "enum Choice",
            &[("A", 66), ("B", INT)],
        )
    };
    let a = types().fields(65, &[1, 0]).bytes();
    assert_eq!(from_slice::<serde_json::Value>(&a).unwrap(), json!("A"));
    assert_eq!(from_slice::<Choice>(&a).unwrap(), Choice::A);
    let b = types().fields(65, &[2, 14]).bytes();
    assert_eq!(from_slice::<serde_json::Value>(&b).unwrap(), json!({"B": 7}));
    assert_eq!(from_slice::<Choice>(&b).unwrap(), Choice::B(7));
    let both = types().fields(65, &[1, 0, 1, 14]).bytes();
    let text = "expected one variant, found two";
    refuse(from_slice::<serde_json::Value>(&both), ErrorKind::Data, text);
    refuse(from_slice::<Choice>(&both), ErrorKind::Data, text);

    let none = Stream::new().structure(65, "enum None", &[]).fields(65, &[]).bytes();
    assert_eq!(from_slice::<serde_json::Value>(&none).unwrap(), json!({}));
    let text = "expected a variant, found an enum without one";
    refuse(from_slice::<Choice>(&none), ErrorKind::Data, text);
}

#[test]
fn an_option_has_one_content() {
    let option = |fields: &[u8]| {
        let types = Stream::new().structure(65, "Option", &[("Some", INT)]);
        types.fields(65, fields).bytes()
    };
    assert_eq!(from_slice::<Option<i32>>(&option(&[1, 14])).unwrap(), Some(7));
    assert_eq!(from_slice::<Option<i32>>(&option(&[])).unwrap(), None);
    refuse(
        from_slice::<Option<i32>>(&option(&[1, 14, 1, 14])),
        ErrorKind::Syntax,
        "expected the number of a field that the struct has",
    );
}

/// Takes the first entry of a map and leaves the others.
#[derive(Debug, PartialEq)]
struct First(String, i64);

impl<'de> Deserialize<'de> for First {
    fn deserialize<D: serde::Deserializer<'de>>(
        deserializer: D,
    ) -> std::result::Result<Self, D::Error> {
        struct Entry;
        impl<'de> Visitor<'de> for Entry {
            type Value = First;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an entry")
            }
            fn visit_map<A: MapAccess<'de>>(
                self,
                mut map: A,
            ) -> std::result::Result<First, A::Error> {
                let (name, value) = map.next_entry()?.unwrap();
                Ok(First(name, value))
            }
        }
        deserializer.deserialize_map(Entry)
    }
}

#[test]
fn entries_and_fields_that_the_target_leaves_are_passed_over() {
    let entries = [vec![2], string("a"), int(1), string("b"), int(2)].concat();
    let bytes = Stream::new()
        .map(65, STRING, INT)
        .value(65, &entries)
        .structure(66, "Pair", &[("a", INT), ("b", INT)])
        .fields(66, &[1, 2, 1, 4])
        .value(INT, &int(3))
        .bytes();
    let mut deserializer = Deserializer::from_slice(&bytes);
    assert_eq!(deserializer.read::<First>().unwrap(), First("a".into(), 1));
    assert_eq!(deserializer.read::<First>().unwrap(), First("a".into(), 1));
    assert_eq!(deserializer.read::<i32>().unwrap(), 3);
}

#[test]
fn a_newtype_whose_name_looks_like_ours_is_one_like_others() {
    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(rename = "$other")]
    struct Other(i32);
    #[derive(Debug, Deserialize)]
    #[serde(rename = "$endless")]
    #[expect(dead_code, reason = "never made")]
    struct Endless(Box<Endless>);

    let three = Stream::new().value(INT, &int(3)).bytes();
    assert_eq!(from_slice::<Other>(&three).unwrap(), Other(3));
    refuse(
        from_slice::<Endless>(&three),
        ErrorKind::Limit,
        "expected at most 256 interfaces, options and newtypes nested",
    );
}

#[test]
fn a_deserializer_by_reference_reads_the_next_value() {
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Unit;
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct New(u8);
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Two(u8, u8);
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Named {
        a: u8,
    }
    #[track_caller]
    fn check<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T) {
        let mut encoder = Encoder::new(Vec::new());
        encoder.encode(value).unwrap();
        encoder.encode(value).unwrap();
        let bytes = encoder.into_inner();
        let mut deserializer = Deserializer::from_slice(&bytes);
        for _ in 0..2 {
            assert_eq!(&T::deserialize(&mut deserializer).unwrap(), value);
        }
        deserializer.end().unwrap();
        let error = T::deserialize(&mut deserializer).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Eof);
        assert_eq!(error.offset(), Some(bytes.len() as u64));
    }
    check(&true);
    check(&-3_i64);
    check(&3_u8);
    check(&-3_i128);
    check(&3_u128);
    check(&1.5_f32);
    check(&1.5_f64);
    check(&'x');
    check(&"text".to_owned());
    check(&serde_bytes::ByteBuf::from([1, 2]));
    check(&Some(3));
    check(&());
    check(&Unit);
    check(&New(3));
    check(&Two(1, 2));
    check(&(1, "a".to_owned()));
    check(&vec![1, 2]);
    check(&BTreeMap::from([(1, 2)]));
    check(&Named { a: 1 });
    check(&Choice::B(1));
    check(&Complex { re: 1.0, im: -1.0 });

    let bytes = to_vec(&[1, 2]).unwrap();
    let mut deserializer = Deserializer::from_slice(&bytes);
    assert!(!serde::Deserializer::is_human_readable(&&mut deserializer));
    let json = serde_json::Value::deserialize(&mut deserializer).unwrap();
    assert_eq!(json, json!([1, 2]));
    let mut deserializer = Deserializer::from_slice(&bytes);
    IgnoredAny::deserialize(&mut deserializer).unwrap();
    deserializer.end().unwrap();
    let mut deserializer = Deserializer::from_slice(&bytes);
    let bytes: &serde_bytes::Bytes =
        Deserialize::deserialize(&mut Deserializer::from_slice(&[5, 10, 0, 2, 1, 2]))
            .unwrap();
    assert_eq!(**bytes, [1, 2]);
    assert_eq!(<[i32; 2]>::deserialize(&mut deserializer).unwrap(), [1, 2]);
}

#[test]
fn a_reader_gives_itself_back_behind_the_value() {
    let stream = [3, 4, 0, 6, 3, 4, 0, 8];
    assert_eq!(wiremark_gob::from_reader::<_, i32>(&stream[..4]).unwrap(), 3);
    refuse(
        wiremark_gob::from_reader::<_, i32>(&stream[..]),
        ErrorKind::Syntax,
        "expected the end of the input, found more bytes at byte 4",
    );
    let mut decoder = Decoder::new(&stream[..]);
    assert_eq!(decoder.read::<i32>().unwrap(), 3);
    assert_eq!(decoder.into_inner(), &stream[4..]);
    refuse(
        wiremark_gob::from_reader::<_, i32>(&stream[..0]),
        ErrorKind::Eof,
        "expected a value, found the end of the stream",
    );
}

#[test]
fn streams_one_after_the_other_are_read_on_demand() {
    // The same id for another type, once near and once far from the first free one.
    for id in [65, 5000] {
        let bytes = Stream::new()
            .slice(id, INT)
            .value(id, &[1, 2])
            .structure(id, "", &[("a", INT)])
            .fields(id, &[1, 4])
            .bytes();
        let mut deserializer = Deserializer::from_slice(&bytes);
        assert_eq!(deserializer.read::<Vec<i32>>().unwrap(), [1]);
        let text = format!("expected a new type, found {id} defined again");
        refuse(deserializer.read::<First>(), ErrorKind::Syntax, &text);

        let options = ReadOptions::new().with_concatenated(true);
        let mut deserializer = Deserializer::from_slice(&bytes).with_options(options);
        assert_eq!(deserializer.read::<Vec<i32>>().unwrap(), [1]);
        assert_eq!(deserializer.read::<First>().unwrap(), First("a".into(), 2));
        assert_eq!(deserializer.schema().types().count(), 1);
        let mut decoder = Decoder::new(&bytes[..]).with_options(options);
        assert_eq!(decoder.read::<Vec<i32>>().unwrap(), [1]);
        assert_eq!(decoder.read::<First>().unwrap(), First("a".into(), 2));
    }
}

#[test]
fn types_defined_inside_a_refused_value_are_defined_once() {
    // The type of an interface's value is defined within it; the value is refused and then
    // passed over, which meets the definition again.
    for id in [65, 5000] {
        let descriptor = by_hand::descriptor(id, 1, "", &[vec![1], int(INT)].concat());
        let value = [vec![0, 1], int(1)].concat();
        let inner = [
            int(INTERFACE),
            vec![0],
            string("[]int"),
            descriptor,
            by_hand::uint(int(id).len() as u64 + 4),
            int(id),
            by_hand::uint(value.len() as u64),
            value,
        ];
        let bytes = Stream::new().message(&inner.concat()).value(INT, &int(3)).bytes();
        let mut deserializer = Deserializer::from_slice(&bytes);
        assert_eq!(
            deserializer.read::<Vec<String>>().unwrap_err().kind(),
            ErrorKind::Data
        );
        assert_eq!(deserializer.read::<i32>().unwrap(), 3);
        let mut decoder = Decoder::new(&bytes[..]);
        assert_eq!(decoder.read::<Vec<String>>().unwrap_err().kind(), ErrorKind::Data);
        assert_eq!(decoder.read::<i32>().unwrap(), 3);
    }
}

#[test]
fn a_type_of_text_is_read_and_written_again() {
    let bytes = Stream::new().opaque(65, TEXT, "Level").value(65, b"\x02hi").bytes();
    let level =
        Opaque { kind: OpaqueKind::Text, name: "Level".into(), payload: b"hi".to_vec() };
    assert_eq!(from_slice::<Opaque>(&bytes).unwrap(), level);
    assert_eq!(from_slice::<Opaque>(&to_vec(&level).unwrap()).unwrap(), level);
    let mut deserializer = Deserializer::from_slice(&bytes);
    let dynamic = deserializer.next_dynamic().unwrap().unwrap();
    let mut encoder = Encoder::new(Vec::new());
    encoder.encode_value(&deserializer.schema(), &dynamic).unwrap();
    assert_eq!(encoder.into_inner(), bytes);
}

#[test]
fn a_value_is_written_by_its_own_type_only() {
    let read = |bytes: &[u8]| {
        let mut deserializer = Deserializer::from_slice(bytes);
        let dynamic = deserializer.next_dynamic().unwrap().unwrap();
        (deserializer.schema(), dynamic)
    };
    let write = |schema: &Schema, dynamic: &wiremark_gob::Dynamic| {
        Encoder::new(Vec::new()).encode_value(schema, dynamic)
    };
    let wide = Stream::new().structure(65, "", &[("a", INT), ("b", INT)]);
    let (_, value) = read(&wide.fields(65, &[2, 2]).bytes());
    let narrow = Stream::new().structure(65, "", &[("a", INT)]);
    let (schema, mut other) = read(&narrow.fields(65, &[1, 2]).bytes());
    write(&schema, &other).unwrap();
    let error = write(&schema, &value).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Data);
    assert_eq!(error.to_string(), "expected a field of the struct's type");
    other.value = Value::Int(1);
    let error = write(&schema, &other).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Data);
    assert_eq!(error.to_string(), "expected a value of the type 65, found another");

    // Three levels for one, since an interface in a list is two.
    let flat = wiremark_gob::WriteOptions::new().with_max_depth(1);
    for (value, fits) in [(&[1, 1, 0][..], true), (&[1, 1, 1, 0], false)] {
        let (schema, value) = read(&Stream::new().slice(65, 65).value(65, value).bytes());
        let written =
            Encoder::with_options(Vec::new(), flat).encode_value(&schema, &value);
        assert_eq!(written.is_ok(), fits);
        let kind = written.err().map(|error| error.kind());
        assert_eq!(kind, (!fits).then_some(ErrorKind::Limit));
    }
}
