//! Each form that serde knows, as a key, as a class, and in the place of an object: what is
//! written, or the error.
#![allow(clippy::unwrap_used, reason = "what is not there fails the test")]

use std::collections::BTreeMap;
use std::fmt;
use std::net::Ipv4Addr;

use serde::de::value::{Error as SerdeError, SeqDeserializer};
use serde::de::{self, Deserializer, IgnoredAny, SeqAccess, Visitor};
use serde::ser::{SerializeMap, SerializeTuple, Serializer};
use serde::{Deserialize, Serialize};
use wiremark_storable::{
    Blessed, Encoder, ErrorKind, Result, Value, from_slice, to_file_vec, to_vec,
};

/// One call of a serializer.
#[derive(Clone, Copy, Debug)]
enum Form {
    Bool,
    I8,
    I16,
    I32,
    I64,
    I128,
    U8,
    U16,
    U32,
    U64,
    U128,
    F32,
    F64,
    Char,
    Str,
    Bytes,
    None,
    Some,
    Unit,
    UnitStruct,
    UnitVariant,
    NewtypeStruct,
    NewtypeVariant,
    Seq,
    Tuple(usize),
    TupleStruct,
    TupleVariant,
    Map,
    Struct,
    StructVariant,
}

impl Serialize for Form {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Unit;
        #[derive(Serialize)]
        struct Newtype(&'static str);
        #[derive(Serialize)]
        struct Pair(&'static str, u8);
        #[derive(Serialize)]
        struct Point {
            x: u8,
        }
        #[derive(Serialize)]
        enum Variant {
            Second,
            Newtype(&'static str),
            Pair(&'static str, u8),
            Point { x: u8 },
        }
        match *self {
            Self::Bool => serializer.serialize_bool(true),
            Self::I8 => serializer.serialize_i8(-7),
            Self::I16 => serializer.serialize_i16(-300),
            Self::I32 => serializer.serialize_i32(-70_000),
            Self::I64 => serializer.serialize_i64(i64::MIN),
            Self::I128 => serializer.serialize_i128(i128::MIN),
            Self::U8 => serializer.serialize_u8(7),
            Self::U16 => serializer.serialize_u16(300),
            Self::U32 => serializer.serialize_u32(70_000),
            Self::U64 => serializer.serialize_u64(u64::MAX),
            Self::U128 => serializer.serialize_u128(u128::MAX),
            Self::F32 => serializer.serialize_f32(0.5),
            Self::F64 => serializer.serialize_f64(0.5),
            Self::Char => serializer.serialize_char('x'),
            Self::Str => serializer.serialize_str("text"),
            Self::Bytes => serializer.serialize_bytes(b"text"),
            Self::None => serializer.serialize_none(),
            Self::Some => serializer.serialize_some("text"),
            Self::Unit => serializer.serialize_unit(),
            Self::UnitStruct => Unit.serialize(serializer),
            Self::UnitVariant => Variant::Second.serialize(serializer),
            Self::NewtypeStruct => Newtype("text").serialize(serializer),
            Self::NewtypeVariant => Variant::Newtype("text").serialize(serializer),
            Self::Seq => vec!["text"].serialize(serializer),
            Self::Tuple(length) => {
                let mut tuple = serializer.serialize_tuple(length)?;
                for index in 0..length {
                    if index == 0 {
                        tuple.serialize_element("text")?;
                    } else {
                        tuple.serialize_element(&1)?;
                    }
                }
                tuple.end()
            }
            Self::TupleStruct => Pair("text", 1).serialize(serializer),
            Self::TupleVariant => Variant::Pair("text", 1).serialize(serializer),
            Self::Map => BTreeMap::from([("x", 1)]).serialize(serializer),
            Self::Struct => Point { x: 1 }.serialize(serializer),
            Self::StructVariant => Variant::Point { x: 1 }.serialize(serializer),
        }
    }
}

/// What a form is as the name of a class.
#[derive(Clone, Copy, Debug)]
enum Class {
    Named(&'static str),
    /// Data without a class.
    Without,
    Refused,
}

/// Each form, the key that it is if it is one, and the class.
const FORMS: &[(Form, Option<&str>, Class)] = &[
    (Form::Bool, Some("1"), Class::Refused),
    (Form::I8, Some("-7"), Class::Refused),
    (Form::I16, Some("-300"), Class::Refused),
    (Form::I32, Some("-70000"), Class::Refused),
    (Form::I64, Some("-9223372036854775808"), Class::Refused),
    (Form::I128, Some("-170141183460469231731687303715884105728"), Class::Refused),
    (Form::U8, Some("7"), Class::Refused),
    (Form::U16, Some("300"), Class::Refused),
    (Form::U32, Some("70000"), Class::Refused),
    (Form::U64, Some("18446744073709551615"), Class::Refused),
    (Form::U128, Some("340282366920938463463374607431768211455"), Class::Refused),
    (Form::F32, None, Class::Refused),
    (Form::F64, None, Class::Refused),
    (Form::Char, Some("x"), Class::Refused),
    (Form::Str, Some("text"), Class::Named("text")),
    (Form::Bytes, None, Class::Named("text")),
    (Form::None, None, Class::Without),
    (Form::Some, None, Class::Named("text")),
    (Form::Unit, None, Class::Refused),
    (Form::UnitStruct, None, Class::Refused),
    (Form::UnitVariant, Some("Second"), Class::Named("Second")),
    (Form::NewtypeStruct, Some("text"), Class::Named("text")),
    (Form::NewtypeVariant, None, Class::Refused),
    (Form::Seq, None, Class::Refused),
    (Form::Tuple(2), None, Class::Refused),
    (Form::TupleStruct, None, Class::Refused),
    (Form::TupleVariant, None, Class::Refused),
    (Form::Map, None, Class::Refused),
    (Form::Struct, None, Class::Refused),
    (Form::StructVariant, None, Class::Refused),
];

const NO_KEY: &str = "keys of hashes are text: expected text, a number, a bool or a char";

/// A map of one pair, whose key is given with its value or before it.
struct One {
    key: Form,
    is_entry: bool,
}

impl Serialize for One {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        if self.is_entry {
            map.serialize_entry(&self.key, &1)?;
        } else {
            map.serialize_key(&self.key)?;
            map.serialize_value(&1)?;
        }
        map.end()
    }
}

/// One item behind a byte that tells how long its text is.
fn counted(before: &[u8], text: &str, after: &[u8]) -> Vec<u8> {
    let length = u8::try_from(text.len()).unwrap();
    [b"\x05\x0b", before, &[length], text.as_bytes(), after].concat()
}

#[test]
fn a_key_is_text_or_what_text_stands_for() {
    for &(key, text, _) in FORMS {
        for is_entry in [true, false] {
            let written = to_vec(&One { key, is_entry });
            if let Some(text) = text {
                let image = counted(b"\x03\0\0\0\x01\x08\x81\0\0\0", text, b"");
                assert_eq!(written.unwrap(), image, "{key:?}");
            } else {
                let error = written.unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Unsupported, "{key:?}");
                assert_eq!(error.to_string(), NO_KEY);
            }
        }
    }
}

#[test]
fn a_class_is_text_or_none() {
    for &(form, _, class) in FORMS {
        let written = to_vec(&Blessed::new(form, 1));
        match class {
            Class::Named(name) => {
                assert_eq!(written.unwrap(), counted(b"\x11", name, b"\x08\x81"));
            }
            Class::Without => assert_eq!(written.unwrap(), b"\x05\x0b\x08\x81"),
            Class::Refused => {
                assert_eq!(written.unwrap_err().kind(), ErrorKind::Data, "{form:?}");
            }
        }
    }
}

/// The name under which [`Blessed`] is known, for types of others that use it.
const NAME: &str = "$wiremark_storable::Blessed";

/// Something that says that it is an object.
struct Posing(Form);

impl Serialize for Posing {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_newtype_struct(NAME, &self.0)
    }
}

#[test]
fn an_object_is_a_class_and_a_value() {
    let whole = b"\x05\x0b\x11\x04text\x08\x81";
    let lengths = [0, 1, 3].map(Form::Tuple);
    for form in FORMS.iter().map(|&(form, ..)| form).chain(lengths) {
        match (form, to_vec(&Posing(form))) {
            (Form::Tuple(2), written) => assert_eq!(written.unwrap(), whole),
            (_, written) => {
                let error = written.unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Data, "{form:?}");
            }
        }
    }
}

#[derive(Debug, PartialEq)]
struct Parts(String, u8);

impl<'de> Deserialize<'de> for Parts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct All;
        impl<'de> Visitor<'de> for All {
            type Value = Parts;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("two parts")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Parts, A::Error> {
                let class = seq.next_element()?;
                let value = seq.next_element()?;
                assert!(seq.next_element::<IgnoredAny>()?.is_none());
                let missing = || de::Error::invalid_length(0, &self);
                Ok(Parts(class.ok_or_else(missing)?, value.ok_or_else(missing)?))
            }
        }
        deserializer.deserialize_newtype_struct(NAME, All)
    }
}

#[test]
fn an_object_is_read_as_two_parts_and_no_more() {
    let image = to_vec(&Blessed::new("A", 1)).unwrap();
    assert_eq!(from_slice::<Parts>(&image).unwrap(), Parts("A".into(), 1));
    // From what gives elements, too few are told.
    let of = |parts: &[u8]| {
        let parts = SeqDeserializer::<_, SerdeError>::new(parts.iter().copied());
        Blessed::<u8, u8>::deserialize(parts).map_err(|error| error.to_string())
    };
    assert_eq!(of(&[7, 1]), Ok(Blessed::new(7, 1)));
    let wanted = "expected an object of a class";
    assert_eq!(of(&[]), Err(format!("invalid length 0, {wanted}")));
    assert_eq!(of(&[7]), Err(format!("invalid length 1, {wanted}")));
}

#[test]
fn an_encoder_that_is_kept_forgets_the_last_classes() {
    let object = Blessed::new("A", 1);
    let twice = [object, object];
    let image = b"\x05\x0b\x02\0\0\0\x02\x04\x11\x01A\x08\x81\x04\x12\x00\x08\x81";
    let mut encoder = Encoder::new();
    for _ in 0..3 {
        let mut out = Vec::new();
        encoder.encode(&twice, &mut out).unwrap();
        assert_eq!(out, image);
        let mut out = Vec::new();
        encoder.encode_value(&Value::from_slice(image).unwrap(), &mut out).unwrap();
        assert_eq!(out, image);
    }
    let file = to_file_vec(&twice).unwrap();
    assert_eq!(file, [b"pst0", &image[..]].concat());
}

#[test]
fn types_of_two_forms_give_and_want_the_one_for_machines() {
    let address = Ipv4Addr::LOCALHOST;
    let image = to_vec(&address).unwrap();
    assert_eq!(image, b"\x05\x0b\x02\0\0\0\x04\x08\xff\x08\x80\x08\x80\x08\x81");
    assert_eq!(from_slice::<Ipv4Addr>(&image).unwrap(), address);
    // Which is no key, neither way.
    let error = to_vec(&BTreeMap::from([(address, 1)])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    let image = to_vec(&BTreeMap::from([("127.0.0.1", 1)])).unwrap();
    let error = from_slice::<BTreeMap<Ipv4Addr, u8>>(&image).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Data);
}

/// Keys and values in any order, as a faulty `Serialize` may give them.
struct Steps(&'static [Step]);

#[derive(Clone, Copy, Debug)]
enum Step {
    Key,
    Value,
    /// A value that cannot be written.
    NoValue,
    /// The same with its key.
    NoEntry(Form),
}

impl Serialize for Steps {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // A hash of a hash whose key is none.
        let nothing = BTreeMap::from([("in", One { key: Form::Unit, is_entry: true })]);
        let mut map = serializer.serialize_map(None)?;
        for step in self.0 {
            match *step {
                Step::Key => map.serialize_key("k")?,
                Step::Value => map.serialize_value(&1)?,
                Step::NoValue => map.serialize_value(&nothing)?,
                Step::NoEntry(key) => map.serialize_entry(&key, &nothing)?,
            }
        }
        map.end()
    }
}

#[test]
fn keys_and_values_that_do_not_pair_are_errors() {
    use Step::{Key, NoEntry, NoValue, Value};
    let table: &[(&[Step], ErrorKind, &str, &str)] = &[
        (&[Key], ErrorKind::Data, "", "a key without a value"),
        (&[Key, Value, Key], ErrorKind::Data, "", "a key without a value"),
        (&[Key, Key], ErrorKind::Data, "", "a key without a value"),
        (&[Value], ErrorKind::Data, "", "a value without a key"),
        (&[Key, Value, Value], ErrorKind::Data, "", "a value without a key"),
        (&[Key, NoValue], ErrorKind::Unsupported, "k.in", NO_KEY),
        (&[NoEntry(Form::Char)], ErrorKind::Unsupported, "x.in", NO_KEY),
        // What comes first is told.
        (&[NoEntry(Form::Seq)], ErrorKind::Unsupported, "in", NO_KEY),
    ];
    for &(steps, kind, path, message) in table {
        let error = to_vec(&Steps(steps)).unwrap_err();
        assert_eq!((error.kind(), error.offset()), (kind, None), "{steps:?}");
        assert_eq!(error.path(), path, "{steps:?}");
        assert!(error.to_string().ends_with(message), "{steps:?}: {error}");
    }
    let image = to_vec(&Steps(&[Key, Value])).unwrap();
    assert_eq!(image, b"\x05\x0b\x03\0\0\0\x01\x08\x81\0\0\0\x01k");
}
