//! The dynamic type keeps what a document says, and takes any hint with caution.

use std::collections::BTreeMap;

use serde::de::value::{Error, MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{DeserializeSeed, IntoDeserializer, MapAccess, SeqAccess};
use serde::{Deserialize, Serialize};
use wiremark_datasets::{Value, fingerprint, from_value, to_value};

fn map(entries: &[(&str, Value)]) -> Value {
    let entries = entries.iter().map(|(key, value)| (Value::from(*key), value.clone()));
    Value::Map(entries.collect())
}

#[test]
fn a_value_has_four_words() {
    assert!(size_of::<Value>() <= 32, "{}", size_of::<Value>());
}

#[test]
fn integers_have_one_representation() {
    let rows = [
        (Value::from(0_i8), Value::U64(0)),
        (Value::from(-1_i8), Value::I64(-1)),
        (Value::from(i64::MAX), Value::U64(u64::MAX / 2)),
        (Value::from(i64::MIN), Value::I64(i64::MIN)),
        (Value::from(u64::MAX), Value::U64(u64::MAX)),
        (Value::from(5_i128), Value::U64(5)),
        (Value::from(-5_i128), Value::I64(-5)),
        (Value::from(u128::from(u64::MAX)), Value::U64(u64::MAX)),
        (Value::from(1_i128 << 64), Value::U128(1 << 64)),
        (Value::from(u128::MAX), Value::U128(u128::MAX)),
        (Value::from(i128::from(i64::MIN) - 1), Value::I128(i128::from(i64::MIN) - 1)),
        (Value::from(i128::MIN), Value::I128(i128::MIN)),
    ];
    for (made, expected) in rows {
        assert_eq!(
            std::mem::discriminant(&made),
            std::mem::discriminant(&expected),
            "{made:?}"
        );
        assert_eq!(made, expected);
        // And through serde, as data of either sign and any width.
        assert_eq!(to_value(&made).unwrap(), expected);
        assert_eq!(from_value::<Value>(&made).unwrap(), expected);
    }
}

#[test]
fn equality_is_by_number_among_integers_and_by_bits_among_floats() {
    let same = [
        (Value::U64(5), Value::I64(5)),
        (Value::U64(5), Value::U128(5)),
        (Value::I64(-5), Value::I128(-5)),
        (Value::I128(5), Value::U64(5)),
        (Value::from(f64::NAN), Value::from(-f64::NAN)),
        (Value::from(f64::NAN), Value::from(f64::from_bits(0x7ff0_0000_0000_0001))),
    ];
    let different = [
        (Value::U64(5), Value::I64(-5)),
        (Value::U64(u64::MAX), Value::I64(-1)),
        (Value::U128(u128::MAX), Value::I128(-1)),
        (Value::U64(1), Value::from(1.0)),
        (Value::U64(1), Value::from("1")),
        (Value::U64(1), Value::Bool(true)),
        (Value::from(0.0), Value::from(-0.0)),
        (Value::from(""), Value::from(&b""[..])),
        (Value::Null, Value::from("")),
        (Value::Null, Value::Bool(false)),
        (Value::Array(vec![]), Value::Map(vec![])),
        (
            map(&[("a", 1.into()), ("b", 2.into())]),
            map(&[("b", 2.into()), ("a", 1.into())]),
        ),
        (map(&[("a", 1.into()), ("a", 1.into())]), map(&[("a", 1.into())])),
    ];
    for (a, b) in same {
        assert_eq!(a, b);
        assert_eq!(b, a);
        assert_eq!(fingerprint(&a), fingerprint(&b), "{a:?} {b:?}");
    }
    for (a, b) in different {
        assert_ne!(a, b);
        assert_ne!(b, a);
        assert_ne!(fingerprint(&a), fingerprint(&b), "{a:?} {b:?}");
    }
}

#[test]
fn json_comes_back_as_it_was_written() {
    let documents = [
        "null",
        "true",
        "0",
        "-9223372036854775808",
        "18446744073709551615",
        "-0.0",
        "5.018",
        "1e+300",
        r#""""#,
        "\"a\\u0000\u{1f600}\"",
        "[]",
        "{}",
        "[[],[[]],{}]",
        r#"{"b":1,"a":2,"b":3}"#,
        "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17]",
        r#"{"":{"":{"":null}}}"#,
    ];
    for document in documents {
        let value: Value = serde_json::from_str(document).unwrap();
        assert_eq!(serde_json::to_string(&value).unwrap(), document);
    }
}

#[test]
fn decoding_in_place_gives_what_decoding_gives() {
    let documents = [
        "[1,2,3]",
        "[]",
        r#"["x",[1],{"a":[2]},"longer text"]"#,
        r#"["longer text here","y",[[]]]"#,
        r#"{"a":1,"b":[1,2]}"#,
        r#"{"b":{"a":null}}"#,
        "{}",
        r#""text""#,
        "null",
        "1.5",
    ];
    for before in documents {
        for document in documents {
            let mut value: Value = serde_json::from_str(before).unwrap();
            let mut deserializer = serde_json::Deserializer::from_str(document);
            Value::deserialize_in_place(&mut deserializer, &mut value).unwrap();
            assert_eq!(
                value,
                serde_json::from_str::<Value>(document).unwrap(),
                "{before}"
            );
        }
    }
}

#[test]
fn a_place_keeps_its_memory() {
    let mut value = Value::Array(Vec::with_capacity(100));
    let mut deserializer = serde_json::Deserializer::from_str("[1,2]");
    Value::deserialize_in_place(&mut deserializer, &mut value).unwrap();
    match value {
        Value::Array(array) => assert!(array.capacity() >= 100 && array.len() == 2),
        other => panic!("{other:?}"),
    }
}

/// A sequence or map of `left` parts that announces `hint` of them.
struct Claims {
    hint: Option<usize>,
    left: usize,
}

impl<'de> SeqAccess<'de> for Claims {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Error> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        seed.deserialize(7_u8.into_deserializer()).map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        self.hint
    }
}

impl<'de> MapAccess<'de> for Claims {
    type Error = Error;

    fn next_key_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Error> {
        self.next_element_seed(seed)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<T::Value, Error> {
        seed.deserialize("value".into_deserializer())
    }

    fn size_hint(&self) -> Option<usize> {
        self.hint
    }
}

#[test]
fn hints_are_hints() {
    let rows = [
        (None, 0),
        (None, 1_000),
        (Some(0), 5),
        (Some(4), 4),
        (Some(5), 4),
        (Some(4), 5),
        (Some(usize::MAX), 3),
        (Some(usize::MAX), 100_000),
    ];
    for (hint, left) in rows {
        let seq = SeqAccessDeserializer::new(Claims { hint, left });
        let Value::Array(array) = Value::deserialize(seq).unwrap() else {
            panic!("a sequence is an array");
        };
        assert_eq!(array.len(), left);
        let map = MapAccessDeserializer::new(Claims { hint, left });
        let Value::Map(map) = Value::deserialize(map).unwrap() else {
            panic!("a map is a map");
        };
        assert_eq!(map.len(), left);
        if left < 10 {
            let bytes = array.capacity() * size_of::<Value>();
            assert!(
                bytes <= 64 * 1024,
                "{hint:?} made {bytes} bytes for {left} elements"
            );
            let bytes = map.capacity() * size_of::<(Value, Value)>();
            assert!(bytes <= 64 * 1024, "{hint:?} made {bytes} bytes for {left} entries");
        }
        if hint == Some(left) {
            assert_eq!(array.capacity(), left, "an honest hint is kept to");
        }
    }
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
enum Shape {
    Point,
    Circle(f64),
    Line(i8, i8),
    Box { width: u8, name: Option<String> },
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Metres(f32);

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Nothing;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Everything {
    shapes: Vec<Shape>,
    length: Metres,
    nothing: Nothing,
    unit: (),
    letter: char,
    pair: (bool, i128),
    some: Option<u8>,
    none: Option<u8>,
    by_number: BTreeMap<i16, String>,
}

#[test]
fn typed_values_become_dynamic_and_typed_again() {
    let everything = Everything {
        shapes: vec![
            Shape::Point,
            Shape::Circle(1.5),
            Shape::Line(-1, 1),
            Shape::Box { width: 3, name: Some("b".to_owned()) },
        ],
        length: Metres(0.5),
        nothing: Nothing,
        unit: (),
        letter: 'ß',
        pair: (true, i128::MIN),
        some: Some(0),
        none: None,
        by_number: BTreeMap::from([(-3, "c".to_owned())]),
    };
    let value = to_value(&everything).unwrap();
    let shapes = vec![
        "Point".into(),
        map(&[("Circle", 1.5.into())]),
        map(&[("Line", Value::Array(vec![Value::from(-1), Value::from(1)]))]),
        map(&[("Box", map(&[("width", 3.into()), ("name", "b".into())]))]),
    ];
    let expected = map(&[
        ("shapes", Value::Array(shapes)),
        ("length", 0.5.into()),
        ("nothing", Value::Null),
        ("unit", Value::Null),
        ("letter", "ß".into()),
        ("pair", Value::Array(vec![true.into(), i128::MIN.into()])),
        ("some", 0.into()),
        ("none", Value::Null),
        ("by_number", Value::Map(vec![((-3).into(), "c".into())])),
    ]);
    assert_eq!(value, expected);
    assert_eq!(from_value::<Everything>(&value).unwrap(), everything);
    assert_eq!(fingerprint(&value), fingerprint(&everything));
}

#[test]
fn what_does_not_fit_is_refused_with_a_reason() {
    let bad = |value: &Value| from_value::<Shape>(value).unwrap_err().to_string();
    let rows = [
        (Value::Null, "invalid type: null, expected an enum: text or a map of one entry"),
        (Value::from("Cube"), "unknown variant `Cube`"),
        (
            Value::from("Circle"),
            "invalid type: unit variant, expected a variant with content",
        ),
        (map(&[]), "invalid length 0, expected a map of one entry"),
        (
            map(&[("Point", 1.into())]),
            "invalid type: integer, expected a variant without",
        ),
        (map(&[("Line", Value::Array(vec![1.into(); 3]))]), "invalid length 3"),
        (map(&[("Circle", "r".into())]), "invalid type: string \"r\", expected f64"),
    ];
    for (value, expected) in rows {
        assert!(bad(&value).starts_with(expected), "{value:?}: {}", bad(&value));
    }
}

#[test]
fn accessors_answer_only_for_their_own_kind() {
    let value = map(&[
        ("n", Value::from(-3)),
        ("t", "text".into()),
        ("b", Value::Bytes(vec![1])),
        ("l", vec![Value::Null].into()),
        ("t", "second".into()),
    ]);
    assert_eq!(value.get("n").and_then(Value::as_i64), Some(-3));
    assert_eq!(value.get("n").and_then(Value::as_u64), None);
    assert_eq!(value.get("n").and_then(Value::as_i128), Some(-3));
    assert_eq!(value.get("n").and_then(Value::as_f64), None);
    assert_eq!(value.get("t").and_then(Value::as_str), Some("text"));
    assert_eq!(value.get("t").and_then(Value::as_bytes), None);
    assert_eq!(value.get("b").and_then(Value::as_bytes), Some(&[1][..]));
    assert_eq!(value.get("l").and_then(Value::as_array), Some(&[Value::Null][..]));
    assert_eq!(value.get("missing"), None);
    assert_eq!(Value::Null.get("n"), None);
    assert_eq!(Value::from(u128::MAX).as_u128(), Some(u128::MAX));
    assert_eq!(Value::from(u128::MAX).as_i128(), None);
    assert_eq!(Value::from(None::<bool>).as_bool(), None);
    assert_eq!(
        format!("{value:?}"),
        r#"{"n": -3, "t": "text", "b": b"\x01", "l": [null], "t": "second"}"#
    );
}

#[test]
fn a_very_deep_value_can_be_taken_apart() {
    let array = (0..100_000).fold(Value::Null, |inner, _| vec![inner].into());
    array.dismantle();
    let map =
        (0..100_000).fold(Value::Null, |inner, _| vec![(inner, Value::Null)].into());
    map.dismantle();
}
