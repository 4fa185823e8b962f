//! What goes wrong is told by kind, offset and path; and what Perl writes is taken where a type's
//! need is clear.
#![allow(clippy::unwrap_used, reason = "what is not there fails the test")]

use std::collections::BTreeMap;
use std::fmt::Debug;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use wiremark_storable::{
    Blessed, Decoder, Encoder, ErrorKind, Hook, HookKind, ReadOptions, RefKind, Regexp,
    TieKind, VString, Value, WriteOptions, from_reader, from_slice, to_vec, to_writer,
};

#[derive(Debug, Serialize, Deserialize)]
struct Line {
    price: i8,
}

#[derive(Debug, Serialize, Deserialize)]
struct Order {
    lines: Vec<Line>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
enum Shape {
    Nothing,
    Circle(f64),
    Line(i16, i16),
    Named { width: u32 },
}

fn failure<T: DeserializeOwned + Debug>(
    image: &[u8],
) -> (ErrorKind, Option<u64>, String) {
    let error = from_slice::<T>(image).unwrap_err();
    (error.kind(), error.offset(), error.to_string())
}

#[test]
fn an_error_tells_kind_offset_and_path() {
    // `nfreeze { lines => [ { price => 1 }, { price => 300 } ] }`
    let image = b"\x05\x0b\x03\0\0\0\x01\x04\x02\0\0\0\x02\
                  \x04\x03\0\0\0\x01\x08\x81\0\0\0\x05price\
                  \x04\x03\0\0\0\x01\x09\0\0\x01\x2c\0\0\0\x05price\0\0\0\x05lines";
    let (kind, offset, text) = failure::<Order>(image);
    assert_eq!((kind, offset), (ErrorKind::Data, Some(36)));
    assert_eq!(
        text,
        "lines[1].price: invalid value: integer `300`, expected i8 at byte 36"
    );
}

#[test]
fn each_kind_of_broken_input_has_its_kind() {
    let table: &[(&[u8], ErrorKind)] = &[
        (b"", ErrorKind::Eof),
        (b"pst", ErrorKind::Eof),
        (b"\x05", ErrorKind::Eof),
        (b"\x05\x0b", ErrorKind::Eof),
        (b"\x05\x0b\x02\xff\xff\xff\xff", ErrorKind::Syntax),
        (b"\x05\x0b\x02\x7f\xff\xff\xff", ErrorKind::Eof),
        (b"\x05\x0b\x24", ErrorKind::Syntax),
        (b"\x05\x0b\x05\x05", ErrorKind::Syntax),
        (b"\x03\x0b\x05", ErrorKind::Unsupported),
        (b"\x00", ErrorKind::Unsupported),
        (b"perl-store\x04", ErrorKind::Unsupported),
        (b"{\"a\":1}", ErrorKind::Syntax),
        (b"\x05\x0b\x1a\x0a\x02{}", ErrorKind::Unsupported),
        (b"\x05\x0b\x00\0\0\0\0", ErrorKind::Syntax),
        (b"\x05\x0b\x12\x00\x05", ErrorKind::Syntax),
    ];
    for (image, kind) in table {
        let found = failure::<serde_json::Value>(image);
        assert_eq!(found.0, *kind, "{image:x?}: {found:?}");
        assert_eq!(Value::from_slice(image).unwrap_err().kind(), *kind, "{image:x?}");
    }
}

#[test]
fn what_has_no_type_is_told_by_name() {
    // A hook, an element of a tied array, code.
    let hook = b"\x05\x0b\x13\x02\x02Hk\x03v=1";
    let (kind, _, text) = failure::<BTreeMap<String, u8>>(hook);
    assert_eq!(kind, ErrorKind::Unsupported);
    assert!(text.contains("hook"), "{text}");
    let Value::Hook(read) = Value::from_slice(hook).unwrap() else { panic!() };
    assert_eq!((&*read.class, &*read.frozen), (&b"Hk"[..], &b"v=1"[..]));

    let code = b"\x05\x0b\x1a\x0a\x05{ 42}";
    let (kind, offset, text) = failure::<String>(code);
    assert_eq!((kind, offset), (ErrorKind::Unsupported, Some(2)));
    assert!(text.contains("code"), "{text}");
    let mut decoder = Decoder::with_options(ReadOptions::new().with_code(true));
    assert_eq!(decoder.decode::<String>(code).unwrap(), "{ 42}");
    assert!(matches!(decoder.value(code).unwrap(), Value::Code(_)));
}

#[test]
fn objects_and_ties_can_be_refused() {
    let object = to_vec(&Blessed::new("A", 1)).unwrap();
    let tied = b"\x05\x0b\x0c\x04\x11\x01T\x03\0\0\0\0";
    let mut strict =
        Decoder::with_options(ReadOptions::new().with_blessed(false).with_tied(false));
    for image in [&object[..], tied] {
        assert_eq!(
            strict.decode::<serde_json::Value>(image).unwrap_err().kind(),
            ErrorKind::Unsupported
        );
        assert_eq!(strict.value(image).unwrap_err().kind(), ErrorKind::Unsupported);
        from_slice::<serde_json::Value>(image).unwrap();
    }
}

#[track_caller]
fn reads<T: DeserializeOwned + PartialEq + Debug>(item: &[u8], value: &T) {
    let image = [b"\x05\x0b", item].concat();
    assert_eq!(from_slice::<T>(&image).unwrap(), *value, "{item:x?}");
}

#[test]
fn numbers_written_as_text_are_numbers_for_who_asks() {
    reads(b"\x0a\x055.018", &5.018_f64);
    reads(b"\x0a\x061e+300", &1e300_f64);
    reads(b"\x0a\x03Inf", &f64::INFINITY);
    reads(b"\x0a\x04-Inf", &f64::NEG_INFINITY);
    reads(b"\x0a\x02-7", &-7_i8);
    reads(b"\x0a\x1418446744073709551615", &u64::MAX);
    reads(b"\x0a\x1418446744073709551615", &u128::from(u64::MAX));
    reads(b"\x0a\x1418446744073709551615", &18_446_744_073_709_551_615_f64);
    reads(b"\x17\x0242", &42_u8);
    // An integer where a float is asked for: Perl makes no difference.
    reads(b"\x08\x83", &3.0_f32);
    reads(b"\x0f", &true);
    reads(b"\x23", &false);
    reads(b"\x0a\x011", &true);
    reads(b"\x0a\x00", &false);
    reads(b"\x08\x81", &true);
    reads(b"\x17\x011", &true);
    reads(b"\x17\x010", &false);
    reads(b"\x17\x00", &false);
    reads(b"\x0a\x00", &String::new());
    reads(b"\x0a\x055.018", &"5.018".to_owned());
    // And text for who does not say.
    reads(b"\x0a\x055.018", &serde_json::json!("5.018"));
    for (item, what) in [(&b"\x0a\x035.x"[..], "5.x"), (b"\x0a\x00", "")] {
        let image = [b"\x05\x0b", item].concat();
        assert_eq!(failure::<f64>(&image).0, ErrorKind::Data, "{what}");
        assert_eq!(failure::<i64>(&image).0, ErrorKind::Data, "{what}");
    }
    assert_eq!(failure::<bool>(b"\x05\x0b\x08\x82").0, ErrorKind::Data);
}

#[test]
fn text_that_is_a_number_is_told_apart_where_both_sides_want_it() {
    let value =
        serde_json::json!(["5.018", 5.018, 3.0, 4_000_000_000_u64, "4000000000", "x"]);
    let mut image = Vec::new();
    let lossless = WriteOptions::new().with_lossless(true);
    Encoder::with_options(lossless).encode(&value, &mut image).unwrap();
    let numeric = ReadOptions::new().with_numeric_text(true);
    let read: serde_json::Value = Decoder::with_options(numeric).decode(&image).unwrap();
    assert_eq!(read, value);
}

#[test]
fn variants_take_the_forms_that_they_are_written_in() {
    for shape in [
        Shape::Nothing,
        Shape::Circle(0.5),
        Shape::Line(1, -1),
        Shape::Named { width: 7 },
    ] {
        assert_eq!(from_slice::<Shape>(&to_vec(&shape).unwrap()).unwrap(), shape);
    }
    // A hash of two, of none; variants without their content, and of another form.
    let images: &[&[u8]] = &[
        b"\x05\x0b\x03\0\0\0\x02\x05\0\0\0\x07Nothing\x05\0\0\0\x07Nothing",
        b"\x05\x0b\x03\0\0\0\0",
        b"\x05\x0b\x0a\x06Circle",
        b"\x05\x0b\x0a\x04Line",
        b"\x05\x0b\x0a\x05Named",
        b"\x05\x0b\x03\0\0\0\x01\x04\x02\0\0\0\0\0\0\0\x06Circle",
        b"\x05\x0b\x0a\x05Other",
        b"\x05\x0b\x08\x81",
    ];
    for image in images {
        assert_eq!(failure::<Shape>(image).0, ErrorKind::Data, "{image:x?}");
    }
}

#[test]
fn too_many_and_too_few_elements_are_errors() {
    let image = to_vec(&(1, 2, 3)).unwrap();
    let (kind, _, text) = failure::<(u8, u8)>(&image);
    assert_eq!(kind, ErrorKind::Data);
    assert!(text.contains("expected 2 elements, found 3"), "{text}");
    assert_eq!(failure::<(u8, u8, u8, u8)>(&image).0, ErrorKind::Data);
}

#[test]
fn keys_of_a_restricted_hash_that_are_absent_are_left_out() {
    // `lock_keys(%h, 'a', 'spare')`
    let image = b"\x05\x0b\x19\x01\0\0\0\x02\x0e\x14\0\0\0\x05spare\x08\x81\0\0\0\0\x01a";
    let read: BTreeMap<String, u8> = from_slice(image).unwrap();
    assert_eq!(read, BTreeMap::from([("a".to_owned(), 1)]));
    // Behind the last one, too.
    let image = b"\x05\x0b\x19\x01\0\0\0\x02\x08\x81\0\0\0\0\x01a\x0e\x14\0\0\0\x05spare";
    assert_eq!(from_slice::<BTreeMap<String, u8>>(image).unwrap(), read);
    let value = Value::from_slice(image).unwrap();
    assert_eq!(
        (value.get("a").and_then(Value::as_i64), value.get("spare")),
        (Some(1), None)
    );
}

#[test]
fn what_cannot_be_written_says_so_and_leaves_nothing() {
    let mut out = b"kept".to_vec();
    let mut encoder = Encoder::new();
    let error = encoder.encode(&BTreeMap::from([((1, 2), 3)]), &mut out).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    let nested = BTreeMap::from([("a", vec![BTreeMap::from([(vec![1], 1)])])]);
    let error = encoder.encode(&nested, &mut out).unwrap_err();
    assert_eq!((error.kind(), error.path()), (ErrorKind::Unsupported, "a[0]".to_owned()));
    let twice = || Value::Shared(1, Box::new(Value::Undef));
    let regexp = |modifiers: &[u8]| {
        let (pattern, modifiers) = (b"x".as_slice().into(), modifiers.to_vec().into());
        Value::Regexp(Box::new(Regexp { pattern, modifiers }))
    };
    let hook = |kind, tie| {
        let (class, frozen) = (b"Hk".as_slice().into(), b"f".as_slice().into());
        let (refs, others) = (vec![], vec![]);
        Value::Hook(Box::new(Hook { class, kind, frozen, refs, others, tie }))
    };
    let vstring = Value::VString(Box::new(VString {
        source: b"v1"[..].into(),
        value: Value::Int(1),
    }));
    let blessed = |value| Value::Blessed(b"A"[..].into(), Box::new(value));
    let no_object = "an object is a scalar or a container of its own";
    let no_tie = "a tied thing has an object behind it, others have none";
    let modifiers = "modifiers of a pattern are letters of `msixpdualn`";
    let table = [
        (Value::Same(7), "the number 7 of an item that was not met before"),
        (blessed(Value::Immortal(true)), no_object),
        (blessed(Value::Hole), no_object),
        (blessed(twice()), no_object),
        (Value::Code(Box::new(Value::Undef)), "code is a string"),
        (
            Value::Ref(RefKind::Overloaded, Box::new(Value::Int(1))),
            "an overloading reference is to an object",
        ),
        (vstring, "a v-string stands for a string"),
        (Value::Array(vec![twice(), twice()]), "two items have the number 1"),
        (Value::Shared(2, Box::new(twice())), "an item with two numbers"),
        (regexp(b"ie"), modifiers),
        (hook(HookKind::Array, Some(Value::Undef)), no_tie),
        (hook(HookKind::Tied(TieKind::Scalar), None), no_tie),
    ];
    for (value, message) in table {
        let error = encoder.encode_value(&value, &mut out).unwrap_err();
        assert_eq!(
            (error.kind(), error.to_string()),
            (ErrorKind::Data, message.to_owned())
        );
    }
    let error = encoder.encode_value(&regexp(&[b'i'; 256]), &mut out).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert_eq!(out, b"kept");
    // And goes on.
    encoder.encode(&1, &mut out).unwrap();
    assert_eq!(out, b"kept\x05\x0b\x08\x81");
}

/// Pairs in an order of their own, of unknown number, with keys given before their values.
struct Pairs<'a, T>(&'a [(String, T)]);
impl<T: Serialize> Serialize for Pairs<'_, T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;
        let mut map = serializer.serialize_map(None)?;
        for (key, value) in self.0 {
            map.serialize_key(key)?;
            map.serialize_value(value)?;
        }
        map.end()
    }
}

type Nested = BTreeMap<String, BTreeMap<String, Vec<u16>>>;

#[test]
fn a_hash_gets_flags_when_a_key_needs_them_wherever_it_stands() {
    for keys in [["é", "a", "b"], ["a", "é", "b"], ["a", "b", "水"]] {
        let inner: BTreeMap<String, Vec<u16>> =
            keys.iter().map(|key| ((*key).to_owned(), vec![1, 300])).collect();
        // Keys in an order of their own, in hashes that get flags after others have.
        let value: Vec<(String, _)> =
            keys.iter().map(|key| ((*key).to_owned(), inner.clone())).collect();
        let image = to_vec(&Pairs(&value)).unwrap();
        let read: Nested = from_slice(&image).unwrap();
        assert_eq!(read, value.into_iter().collect::<Nested>());
        // The writer of values has the flags from the start.
        assert_eq!(Value::from_slice(&image).unwrap().to_vec().unwrap(), image);
    }
}

/// A reader or writer that gives an error.
struct Broken(std::io::ErrorKind);

impl std::io::Read for Broken {
    fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
        Err(self.0.into())
    }
}

impl std::io::Write for Broken {
    fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
        Err(self.0.into())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Err(self.0.into())
    }
}

#[test]
fn an_error_of_a_stream_is_told_as_it_is_and_kept_as_the_source() {
    use std::io::ErrorKind as IoKind;

    let table = [
        (IoKind::PermissionDenied, ErrorKind::Io, IoKind::Other),
        (IoKind::ConnectionReset, ErrorKind::Io, IoKind::Other),
        (IoKind::UnexpectedEof, ErrorKind::Eof, IoKind::UnexpectedEof),
    ];
    for (from, kind, back) in table {
        let errors = || {
            [
                from_reader::<u8, _>(Broken(from)).unwrap_err(),
                to_writer(Broken(from), &1).unwrap_err(),
            ]
        };
        for error in errors() {
            assert_eq!((error.kind(), error.offset()), (kind, None));
            assert_eq!(error.to_string(), std::io::Error::from(from).to_string());
            let source = std::error::Error::source(&error).unwrap();
            let source = source.downcast_ref::<std::io::Error>().unwrap();
            assert_eq!(source.kind(), from);
        }
        for error in errors() {
            assert_eq!(std::io::Error::from(error).kind(), back);
        }
        for error in errors() {
            assert_eq!(wiremark_core::Error::from(error).kind(), kind);
        }
    }
    // What is no error of a stream becomes one of the nearest kind.
    let error = from_slice::<u8>(b"\x05\x0b\x08\x81\x08").unwrap_err();
    assert!(std::error::Error::source(&error).is_none());
    let error = std::io::Error::from(error);
    assert_eq!(error.kind(), IoKind::InvalidData);
    assert_eq!(
        error.to_string(),
        "expected the end of the input, found 1 more bytes at byte 4"
    );
}

#[test]
fn an_error_shows_what_is_known_of_it() {
    let error = from_slice::<(Line,)>(b"\x05\x0b\x02\0\0\0\x01\x05").unwrap_err();
    assert_eq!(
        format!("{error:?}"),
        "Error { kind: Data, offset: Some(7), path: \"[0]\", message: \"invalid type: \
         unit value, expected struct Line\", .. }"
    );
    let error = to_vec(&BTreeMap::from([("a", BTreeMap::from([((), 1)]))])).unwrap_err();
    let message = "keys of hashes are text: expected text, a number, a bool or a char";
    assert_eq!(error.to_string(), format!("a: {message}"));
    assert_eq!(
        format!("{error:?}"),
        format!(
            "Error {{ kind: Unsupported, offset: None, path: \"a\", message: {message:?}, .. }}"
        )
    );
}

#[test]
fn a_key_is_read_as_what_a_type_asks_for() {
    // Keys `x` and, in Latin-1 and UTF-8, `é`.
    let x = b"\x05\x0b\x03\0\0\0\x01\x08\x81\0\0\0\x01x";
    let e = b"\x05\x0b\x19\0\0\0\0\x01\x08\x81\x02\0\0\0\x01\xe9";
    let wide = b"\x05\x0b\x19\0\0\0\0\x01\x08\x81\x01\0\0\0\x02\xc3\xa9";
    let (kind, offset, text) = failure::<BTreeMap<bool, u8>>(x);
    assert_eq!((kind, offset), (ErrorKind::Data, Some(7)));
    assert_eq!(text, "invalid type: string \"x\", expected a boolean at byte 7");
    assert_eq!(
        failure::<BTreeMap<i8, u8>>(x).2,
        "invalid type: string \"x\", expected i8 at byte 7"
    );
    for (image, key) in [(&x[..], "x"), (e, "é"), (wide, "é")] {
        let read: BTreeMap<serde_bytes::ByteBuf, u8> = from_slice(image).unwrap();
        let key = serde_bytes::ByteBuf::from(key.as_bytes());
        assert_eq!(read, BTreeMap::from([(key, 1)]));
    }
    // Digits are a number, however they are flagged.
    for flags in [0, 1, 2] {
        let image = [b"\x05\x0b\x19\0\0\0\0\x01\x08\x81", &[flags][..], b"\0\0\0\x017"];
        let read: BTreeMap<u16, u8> = from_slice(&image.concat()).unwrap();
        assert_eq!(read, BTreeMap::from([(7, 1)]));
    }
}

#[test]
fn a_number_beyond_128_signed_bits_is_one_where_anything_is_asked_for() {
    struct Any(u128);
    impl<'de> Deserialize<'de> for Any {
        fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
            struct Number;
            impl serde::de::Visitor<'_> for Number {
                type Value = Any;

                fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    f.write_str("a number")
                }

                fn visit_u128<E>(self, value: u128) -> Result<Any, E> {
                    Ok(Any(value))
                }
            }
            from.deserialize_any(Number)
        }
    }

    let text = b"\x0a\x27340282366920938463463374607431768211455";
    let numeric = ReadOptions::new().with_numeric_text(true);
    for header in [&b"\x05\x0b"[..], b"\x04\x0b\x0812345678\x04\x08\x08\x08"] {
        let image = [header, text].concat();
        let read = Decoder::with_options(numeric).decode::<Any>(&image).unwrap();
        assert_eq!(read.0, u128::MAX);
        // Text as always without the option.
        assert_eq!(
            from_slice::<Any>(&image).map(|_| ()).unwrap_err().kind(),
            ErrorKind::Data
        );
    }
}

#[test]
fn code_is_a_string_for_types_and_values() {
    let table: &[(&[u8], ErrorKind, u64)] = &[
        (b"\x05\x0b\x1a\x08\x81", ErrorKind::Syntax, 3),
        (b"\x05\x0b\x1a\x04\x0a\x01x", ErrorKind::Syntax, 3),
        (b"\x05\x0b\x1a", ErrorKind::Eof, 3),
        (b"\x05\x0b\x1a\x0a\x02x", ErrorKind::Eof, 6),
    ];
    let mut decoder = Decoder::with_options(ReadOptions::new().with_code(true));
    for &(image, kind, offset) in table {
        let errors = [
            decoder.decode::<String>(image).unwrap_err(),
            decoder.decode::<serde::de::IgnoredAny>(image).unwrap_err(),
            decoder.value(image).unwrap_err(),
        ];
        for error in errors {
            assert_eq!(
                (error.kind(), error.offset()),
                (kind, Some(offset)),
                "{image:x?}"
            );
        }
    }
}
