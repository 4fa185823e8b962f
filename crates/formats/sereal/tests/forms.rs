//! Each form that serde knows, as a key and as a class: what is written, or the error.
#![allow(clippy::unwrap_used, reason = "what is not there fails the test")]

use std::collections::BTreeMap;

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use wiremark_sereal::{ErrorKind, Object, to_vec};

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
    Tuple,
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
            Self::Tuple => ("text", 1).serialize(serializer),
            Self::TupleStruct => Pair("text", 1).serialize(serializer),
            Self::TupleVariant => Variant::Pair("text", 1).serialize(serializer),
            Self::Map => BTreeMap::from([("x", 1)]).serialize(serializer),
            Self::Struct => Point { x: 1 }.serialize(serializer),
            Self::StructVariant => Variant::Point { x: 1 }.serialize(serializer),
        }
    }
}

/// What a form becomes where a string must stand.
type Outcome = Result<&'static [u8], ErrorKind>;

const NO: Outcome = Err(ErrorKind::Unsupported);
/// What serde's own default says.
const NO_128: Outcome = Err(ErrorKind::Data);

/// Each form, the key that it is if it is one, and the class.
const FORMS: &[(Form, Outcome, Outcome)] = &[
    (Form::Bool, Ok(b"\x64true"), NO),
    (Form::I8, Ok(b"\x62-7"), NO),
    (Form::I16, Ok(b"\x64-300"), NO),
    (Form::I32, Ok(b"\x66-70000"), NO),
    (Form::I64, Ok(b"\x74-9223372036854775808"), NO),
    (Form::I128, Ok(b"\x26\x28-170141183460469231731687303715884105728"), NO_128),
    (Form::U8, Ok(b"\x617"), NO),
    (Form::U16, Ok(b"\x63300"), NO),
    (Form::U32, Ok(b"\x6570000"), NO),
    (Form::U64, Ok(b"\x7418446744073709551615"), NO),
    (Form::U128, Ok(b"\x26\x27340282366920938463463374607431768211455"), NO_128),
    (Form::F32, NO, NO),
    (Form::F64, NO, NO),
    (Form::Char, Ok(b"\x61x"), Ok(b"\x61x")),
    (Form::Str, Ok(b"\x64text"), Ok(b"\x64text")),
    (Form::Bytes, Ok(b"\x64text"), Ok(b"\x64text")),
    (Form::None, NO, NO),
    (Form::Some, Ok(b"\x64text"), Ok(b"\x64text")),
    (Form::Unit, NO, NO),
    (Form::UnitStruct, NO, NO),
    (Form::UnitVariant, Ok(b"\x66Second"), Ok(b"\x66Second")),
    (Form::NewtypeStruct, Ok(b"\x64text"), Ok(b"\x64text")),
    (Form::NewtypeVariant, NO, NO),
    (Form::Seq, NO, NO),
    (Form::Tuple, NO, NO),
    (Form::TupleStruct, NO, NO),
    (Form::TupleVariant, NO, NO),
    (Form::Map, NO, NO),
    (Form::Struct, NO, NO),
    (Form::StructVariant, NO, NO),
];

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

/// The rows in which what is written differs from what is wanted.
fn check(row: impl Fn(Form, Outcome, Outcome) -> [Result<Vec<u8>, ErrorKind>; 2]) {
    let rows = FORMS.iter().map(|&(form, key, class)| (form, row(form, key, class)));
    let bad: Vec<_> = rows.filter(|(_, [found, wanted])| found != wanted).collect();
    assert!(bad.is_empty(), "{bad:02x?}");
}

fn written<T: Serialize>(value: &T) -> Result<Vec<u8>, ErrorKind> {
    to_vec(value).map_err(|error| error.kind())
}

#[test]
fn a_key_is_text_or_what_text_stands_for() {
    for is_entry in [true, false] {
        check(|key, outcome, _| {
            let document = |key: &[u8]| [b"=\xf3rl\x05\x00\x51", key, b"\x01"].concat();
            [written(&One { key, is_entry }), outcome.map(document)]
        });
    }
}

#[test]
fn a_class_is_a_string() {
    check(|class, _, outcome| {
        let document =
            |class: &[u8]| [b"=\xf3rl\x05\x00\x2c", class, b"\x28\x01"].concat();
        [written(&Object { class, value: 1 }), outcome.map(document)]
    });
}
