//! Our types through other formats, and the small things that they can tell.
#![allow(clippy::unwrap_used, reason = "what is not there fails the test")]

#[path = "support/by_hand.rs"]
mod by_hand;

use std::error::Error as _;
use std::io;

use by_hand::{INT, INTERFACE, STRING, Stream, int, interface};
use serde::Deserialize;
use serde::de::value::{
    BoolDeserializer, BytesDeserializer, SeqDeserializer, StringDeserializer,
};
use serde_json::json;
use wiremark_gob::{
    Complex, Decoder, Error, ErrorKind, Interface, Opaque, OpaqueKind, Time,
    TimeRangeError, Value, from_slice, to_vec,
};

#[test]
fn a_value_takes_and_gives_what_other_formats_have() {
    let json = json!({"a": [true, -1, 18_446_744_073_709_551_615_u64, 1.5, "x", null]});
    let value: Value = serde_json::from_value(json.clone()).unwrap();
    let list = vec![
        Value::Bool(true),
        Value::Int(-1),
        Value::Uint(u64::MAX),
        Value::Float(1.5),
        Value::String("x".into()),
        Value::Nil,
    ];
    let wanted = Value::Map(vec![(Value::String("a".into()), Value::Slice(list))]);
    assert_eq!(value, wanted);
    assert_eq!(serde_json::to_value(&value).unwrap(), json);
    // From text instead of a tree: strings that are lent.
    assert_eq!(serde_json::from_str::<Value>(&json.to_string()).unwrap(), wanted);

    let bytes = BytesDeserializer::<Error>::new(&[1, 2]);
    assert_eq!(Value::deserialize(bytes).unwrap(), Value::Bytes(vec![1, 2]));
    let text = StringDeserializer::<Error>::new("x".into());
    assert_eq!(Value::deserialize(text).unwrap(), Value::String("x".into()));
}

/// Hands on an option or a character, which few deserializers do unasked.
struct Odd(Option<i64>);

impl<'de> serde::Deserializer<'de> for Odd {
    type Error = Error;

    fn deserialize_any<V: serde::de::Visitor<'de>>(
        self,
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.0 {
            Some(value) => {
                let inner: serde::de::value::I64Deserializer<Error> =
                    serde::de::IntoDeserializer::into_deserializer(value);
                visitor.visit_some(inner)
            }
            None => visitor.visit_none(),
        }
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
        option unit unit_struct newtype_struct seq tuple tuple_struct map struct enum
        identifier ignored_any
    }
}

struct Character;

impl<'de> serde::Deserializer<'de> for Character {
    type Error = Error;

    fn deserialize_any<V: serde::de::Visitor<'de>>(
        self,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_i128(1)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
        option unit unit_struct newtype_struct seq tuple tuple_struct map struct enum
        identifier ignored_any
    }
}

#[test]
fn an_option_of_another_format_is_its_content() {
    assert_eq!(Value::deserialize(Odd(Some(3))).unwrap(), Value::Int(3));
    assert_eq!(Value::deserialize(Odd(None)).unwrap(), Value::Nil);
    let error = Value::deserialize(Character).unwrap_err();
    assert!(error.to_string().contains("expected any value"), "{error}");
}

#[test]
fn every_value_of_a_stream_can_be_written_by_other_formats() {
    let point = Stream::new().structure(65, "Point", &[("X", INT), ("Y", STRING)]);
    let point: Value = from_slice(&point.fields(65, &[1, 44]).bytes()).unwrap();
    let five = Stream::new().value(INTERFACE, &interface("int", INT, &int(5)));
    let five: Value = from_slice(&five.bytes()).unwrap();
    let opaque = Opaque { kind: OpaqueKind::Gob, name: "T".into(), payload: vec![9] };
    let table = [
        (point, json!({"X": 22})),
        (five, json!(5)),
        (Value::Complex(Complex { re: 1.0, im: 2.0 }), json!([1.0, 2.0])),
        (Value::RawString(vec![255]), json!([255])),
        (Value::Bytes(vec![1]), json!([1])),
        (Value::Array(vec![Value::Uint(1), Value::Bool(true)]), json!([1, true])),
        // Kind, length of the name, name, payload.
        (Value::Opaque(Box::new(opaque)), json!([4, 0, 1, 84, 9])),
    ];
    for (value, wanted) in table {
        assert_eq!(serde_json::to_value(&value).unwrap(), wanted, "{value:?}");
    }
}

#[test]
fn a_value_tells_what_it_is() {
    let point = |x: u8| {
        let types = Stream::new().structure(65, "Point", &[("X", INT), ("Y", STRING)]);
        from_slice::<Value>(&types.fields(65, &[1, x]).bytes()).unwrap()
    };
    let value = point(44);
    assert_eq!(value, point(44));
    assert_ne!(value, point(46));
    assert_eq!(format!("{value:?}"), "Struct(Point { X: Int(22) })");
    let Value::Struct(fields) = &value else { panic!("{value:?}") };
    assert_eq!(fields.all_names().collect::<Vec<_>>(), ["X", "Y"]);
    assert_eq!(fields.fields().count(), 1);

    let any = Stream::new().value(INTERFACE, &interface("int", INT, &int(5))).bytes();
    let any: Value = from_slice(&any).unwrap();
    assert_eq!(any.as_i64(), None);
    assert_eq!(any.content().as_i64(), Some(5));
    assert_eq!(Value::Uint(5).as_i64(), Some(5));
    assert_eq!(Value::Uint(u64::MAX).as_i64(), None);
    assert_eq!(Value::Float(1.5).as_f64(), Some(1.5));
    assert_eq!(Value::Int(1).as_f64(), None);
    assert_eq!(Value::String("x".into()).as_str(), Some("x"));
    assert_eq!(Value::Nil.as_str(), None);
}

#[test]
fn our_types_go_through_json_as_what_they_hold() {
    let complex = Complex { re: 1.0, im: 2.0 };
    let json = serde_json::to_string(&complex).unwrap();
    assert_eq!(json, "[1.0,2.0]");
    assert_eq!(serde_json::from_str::<Complex>(&json).unwrap(), complex);
    let named = Interface::named("int", 5);
    let json = serde_json::to_string(&named).unwrap();
    assert_eq!(json, r#"["int",5]"#);
    assert_eq!(serde_json::from_str::<Interface<i32>>(&json).unwrap(), named);
    assert_eq!(Interface::new(5).name, "");
    let time = Time::new(0, 1).unwrap().with_offset(3_600).unwrap();
    assert_eq!(time.offset_seconds(), Some(3_600));
    let json = serde_json::to_string(&time).unwrap();
    assert_eq!(serde_json::from_str::<Time>(&json).unwrap(), time);
    for kind in [OpaqueKind::Gob, OpaqueKind::Binary, OpaqueKind::Text] {
        let opaque = Opaque { kind, name: "T".into(), payload: vec![9] };
        let json = serde_json::to_string(&opaque).unwrap();
        assert_eq!(serde_json::from_str::<Opaque>(&json).unwrap(), opaque);
    }
    // An unknown kind; a name that is longer than the bytes; a name that is not UTF-8.
    for json in ["[3,0,0]", "[4,0,9,65]", "[4,0,1,255]", "[]"] {
        let error = serde_json::from_str::<Opaque>(json).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("expected a value that encodes itself"), "{text}");
    }
}

#[test]
fn our_types_say_what_they_want() {
    let two = |texts: &[&str]| -> Result<Interface<String>, Error> {
        Interface::deserialize(SeqDeserializer::new(texts.iter().copied()))
    };
    assert_eq!(two(&["a", "b"]).unwrap(), Interface::named("a", "b".to_owned()));
    for (texts, len) in [(&[][..], 0), (&["a"], 1)] {
        assert_eq!(
            two(texts).unwrap_err().to_string(),
            format!("invalid length {len}, expected name and value")
        );
    }
    let bool = || BoolDeserializer::<Error>::new(true);
    let table = [
        (Complex::deserialize(bool()).map(drop), "a complex number"),
        (
            Interface::<u8>::deserialize(bool()).map(drop),
            "a value of any type with its name",
        ),
        (Time::deserialize(bool()).map(drop), "a time"),
        (Opaque::deserialize(bool()).map(drop), "a value that encodes itself"),
    ];
    for (result, wanted) in table {
        assert_eq!(
            result.unwrap_err().to_string(),
            format!("invalid type: boolean `true`, expected {wanted}")
        );
    }
}

#[test]
fn a_name_that_is_too_long_is_cut_between_characters() {
    // 65,535 bytes fit, each of these letters has two.
    let name = "é".repeat(40_000).into();
    let long = Opaque { kind: OpaqueKind::Gob, name, payload: vec![1] };
    let back: Opaque = from_slice(&to_vec(&long).unwrap()).unwrap();
    assert_eq!(*back.name, *"é".repeat(32_767));
    assert_eq!(back.payload, [1]);
}

#[test]
fn times_have_a_zero_and_a_word_for_what_is_beyond() {
    assert_eq!(Time::default(), Time::ZERO);
    assert_eq!(Time::ZERO.unix_seconds(), -62_135_596_800);
    assert_eq!(Time::ZERO.offset_seconds(), None);
    assert_eq!(TimeRangeError.to_string(), "the time is beyond what the type holds");
}

#[test]
fn an_error_keeps_its_cause_through_other_errors() {
    struct Failing(io::ErrorKind);
    impl io::Read for Failing {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(self.0.into())
        }
    }
    for (kind, ours, theirs) in [
        (io::ErrorKind::TimedOut, ErrorKind::Io, io::ErrorKind::Other),
        (io::ErrorKind::UnexpectedEof, ErrorKind::Eof, io::ErrorKind::UnexpectedEof),
    ] {
        let read = || Decoder::new(Failing(kind)).read::<i32>().unwrap_err();
        let error = read();
        assert_eq!(error.kind(), ours);
        let source = error.source().unwrap().downcast_ref::<io::Error>().unwrap();
        assert_eq!(source.kind(), kind);
        assert_eq!(wiremark_core::Error::from(read()).kind(), ours);
        assert_eq!(io::Error::from(read()).kind(), theirs);
    }
    let error = from_slice::<i32>(&[3, 4, 1, 6]).unwrap_err();
    assert!(error.source().is_none());
    let text = format!("{error:?}");
    assert!(
        text.starts_with(r#"Error { kind: Syntax, offset: Some(3), path: "", message"#)
    );
    assert_eq!(io::Error::from(error).kind(), io::ErrorKind::InvalidData);
    // Without an offset nothing is said of one.
    let error: Error = serde::de::Error::custom("no");
    assert_eq!((error.offset(), error.to_string()), (None, "no".to_owned()));
}
