//! Fields that a value leaves out: each kind of zero, by what the target asks for, leniently and
//! by Go's own table.
#![allow(clippy::unwrap_used, reason = "what is not there fails the test")]

#[path = "support/by_hand.rs"]
mod by_hand;

use std::collections::BTreeMap;
use std::fmt::Debug;

use by_hand::{
    BINARY, BOOL, BYTES, COMPLEX, FLOAT, GOB, INT, INTERFACE, STRING, Stream, UINT,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use wiremark_gob::{
    Complex, Deserializer, Interface, Opaque, OpaqueKind, ReadOptions, Result, Time,
    Value,
};

/// What the one field of the target is called.
#[derive(Debug, PartialEq, Deserialize)]
struct One<T> {
    v: T,
}

/// A struct that has a field `v` of the type `id` and leaves it out, and a `w` that is sent, so
/// that it has a field in common with each target.
fn without(id: i64) -> Vec<u8> {
    Stream::new()
        .array(70, INT, 2)
        .slice(71, INT)
        .map(72, STRING, INT)
        .structure(73, "Pair", &[("F0", INT), ("_", INT), ("F1", STRING)])
        .opaque(74, GOB, "Time")
        .opaque(75, BINARY, "Level")
        .opaque(76, GOB, "int128")
        .structure(77, "Inner", &[("a", INT), ("b", 70)])
        .structure(78, "Deep", &[("inner", 77)])
        .structure(65, "One", &[("v", id), ("w", INT)])
        .fields(65, &[2, 2])
        .bytes()
}

fn read<T: DeserializeOwned>(id: i64, strict: bool) -> Result<T> {
    let options = ReadOptions::new().with_strict(strict);
    let bytes = without(id);
    let mut deserializer = Deserializer::from_slice(&bytes).with_options(options);
    deserializer.read::<One<T>>().map(|one| one.v)
}

#[track_caller]
fn check<T: DeserializeOwned + PartialEq + Debug>(id: i64, lenient: &T, strict: bool) {
    assert_eq!(&read::<T>(id, false).unwrap(), lenient);
    if strict {
        assert_eq!(&read::<T>(id, true).unwrap(), lenient);
    } else {
        refuse::<T>(id, true, "expected ");
    }
}

#[track_caller]
fn refuse<T: DeserializeOwned + Debug>(id: i64, strict: bool, text: &str) {
    let error = read::<T>(id, strict).unwrap_err();
    assert_eq!(error.kind(), wiremark_gob::ErrorKind::Data);
    assert_eq!(error.path(), "v");
    assert!(error.to_string().contains(text), "{error}");
}

#[derive(Debug, PartialEq, Deserialize)]
struct Nothing;

#[derive(Debug, PartialEq, Deserialize)]
struct Wrapped(i32);

#[derive(Debug, PartialEq, Deserialize)]
struct Two(i32, i32);

#[derive(Debug, PartialEq, Deserialize)]
struct Inner {
    a: i32,
    b: [i32; 2],
}

#[derive(Debug, PartialEq, Deserialize)]
struct Deep {
    inner: Inner,
}

#[derive(Debug, PartialEq, Deserialize)]
enum Choice {
    A,
}

#[test]
fn numbers_text_and_bytes_are_zero_in_each_type_that_takes_them() {
    check(BOOL, &false, true);
    check(INT, &0_i8, true);
    check(INT, &0_u64, false);
    check(UINT, &0_i64, false);
    check(FLOAT, &0.0_f32, true);
    check(INT, &0.0_f64, false);
    check(INT, &'\0', true);
    check(STRING, &String::new(), true);
    check(COMPLEX, &Complex::default(), true);
    check(BYTES, &serde_bytes::ByteBuf::new(), true);
    check(STRING, &serde_bytes::ByteBuf::new(), false);
    check(BYTES, &Vec::<u8>::new(), true);
    // An integer of 128 bits is sent as a type of its own, or was a smaller one.
    check(76, &0_i128, true);
    check(76, &0_u128, true);
    check(INT, &0_i128, true);
    refuse::<char>(STRING, false, "a character");
    refuse::<bool>(INT, true, "expected a bool, found an int that is left out");
    refuse::<serde_bytes::ByteBuf>(
        INT,
        false,
        "expected bytes, found an int that is left out",
    );
    refuse::<Choice>(INT, false, "expected a variant, found an int that is left out");
}

#[test]
fn containers_are_empty_and_arrays_full_of_zeros() {
    check(70, &[0_i32; 2], true);
    check(70, &vec![0_i32; 2], false);
    check(70, &Two(0, 0), true);
    check(71, &Vec::<i32>::new(), true);
    check(72, &BTreeMap::<String, i32>::new(), true);
    check(77, &Inner { a: 0, b: [0, 0] }, true);
    check(78, &Deep { inner: Inner { a: 0, b: [0, 0] } }, true);
    refuse::<[i32; 3]>(70, false, "expected another number of elements, found an array");
    refuse::<[i32; 2]>(71, true, "expected an array, found a slice that is left out");
    refuse::<[i32; 2]>(71, false, "invalid length 0");
    refuse::<[u8; 2]>(BYTES, true, "expected an array, found bytes that is left out");
    refuse::<Inner>(72, true, "expected a struct, found a map that is left out");
    refuse::<Inner>(72, false, "missing field `a`");
    refuse::<Inner>(INT, false, "expected struct Inner");
}

#[test]
fn a_tuple_that_is_left_out_has_as_many_elements_as_its_type() {
    check(73, &(0_i32, String::new()), false);
    refuse::<(i32, String, i32)>(73, false, "invalid length 2");
    refuse::<(i32,)>(73, false, "expected fewer elements, found 1 more");
    let error = read::<Vec<i32>>(73, false).unwrap_err();
    assert_eq!(error.path(), "v.F1");
    assert!(error.to_string().contains("expected i32"), "{error}");
}

#[test]
fn an_error_inside_a_left_out_struct_has_the_path_to_it() {
    let bytes = without(78);
    let error = wiremark_gob::from_slice::<One<BTreeMap<String, One<bool>>>>(&bytes);
    assert_eq!(error.unwrap_err().path(), "v.inner");
}

#[test]
fn what_serde_names_is_zero_too() {
    check(INT, &None::<i32>, true);
    check(INT, &Wrapped(0), true);
    check(77, &Nothing, true);
    check(77, &(), true);
    check(INT, &Value::Nil, true);
    check(74, &Time::ZERO, true);
    let level =
        Opaque { kind: OpaqueKind::Binary, name: "Level".into(), payload: vec![] };
    check(75, &level, true);
    check(INT, &Interface::new(0_i32), false);
    check(INTERFACE, &Interface::new(()), true);
    refuse::<Interface<i32>>(
        INT,
        true,
        "expected an interface, found an int that is left out",
    );
}

/// Whether the deserializer says that it reads text for people.
#[derive(Debug, PartialEq)]
struct IsText(bool);

impl<'de> Deserialize<'de> for IsText {
    fn deserialize<D: serde::Deserializer<'de>>(
        deserializer: D,
    ) -> std::result::Result<Self, D::Error> {
        let is_text = deserializer.is_human_readable();
        serde::de::IgnoredAny::deserialize(deserializer)?;
        Ok(Self(is_text))
    }
}

#[test]
fn types_with_a_short_form_get_it_whether_the_field_is_there_or_not() {
    check(INT, &IsText(false), true);
    assert_eq!(wiremark_gob::from_slice::<IsText>(&[3, 4, 0, 6]).unwrap(), IsText(false));
}

#[test]
fn who_takes_anything_gets_a_zero_unless_it_could_be_endless() {
    let table = [
        (BOOL, json!(false)),
        (UINT, json!(0)),
        (STRING, json!("")),
        (71, json!([])),
        (72, json!({})),
        (76, json!(0)),
        (70, json!(null)),
        (73, json!({"F0": 0, "F1": ""})),
        (77, json!({"a": 0, "b": null})),
        (78, json!(null)),
        (74, json!(null)),
        (INTERFACE, json!(null)),
    ];
    let mut bad = Vec::new();
    for (id, wanted) in table {
        let found = wiremark_gob::from_slice::<serde_json::Value>(&without(id)).unwrap();
        if found["v"] != wanted {
            bad.push(format!("{id}: wanted {wanted}, found {}", found["v"]));
        }
    }
    assert!(bad.is_empty(), "{bad:#?}");
}

#[test]
fn gos_names_become_rusts_in_what_is_left_out_as_well() {
    #[derive(Debug, PartialEq, Deserialize)]
    struct Outer {
        http_server: Server,
        id: u8,
    }
    #[derive(Debug, PartialEq, Deserialize)]
    struct Server {
        user_id: i32,
        from_db: i32,
        first_name: String,
    }
    let server = [("UserID", INT), ("FromDB", INT), ("FirstName", STRING)];
    let bytes = Stream::new()
        .structure(66, "Server", &server)
        .structure(65, "Outer", &[("HTTPServer", 66), ("ID", UINT)])
        .fields(65, &[2, 7])
        .bytes();
    let options = ReadOptions::new().with_go_names(true);
    let outer = Deserializer::from_slice(&bytes).with_options(options).read::<Outer>();
    let http_server = Server { user_id: 0, from_db: 0, first_name: String::new() };
    assert_eq!(outer.unwrap(), Outer { http_server, id: 7 });
}

#[test]
fn the_default_options_are_those_of_new() {
    let (default, new) = (ReadOptions::default(), ReadOptions::new());
    assert_eq!(format!("{default:?}"), format!("{new:?}"));
}
