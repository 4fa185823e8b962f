//! What hardly any image has: each is read as it should be, and goes both ways as a `Value`.
#![allow(clippy::unwrap_used, reason = "what is not there fails the test")]

mod support;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Debug;

use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use wiremark_storable::{
    Blessed, Booleans, ByteOrder, Decoder, Encoder, ErrorKind, Header, Hook, HookKind,
    Key, Order, Pair, RefKind, TieKind, VString, Value, WriteOptions, from_slice,
    to_file_vec, to_vec,
};

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum Unit {
    First,
    Second,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Id(u32);

#[track_caller]
fn key_is<K>(key: K, text: &str)
where
    K: Serialize + DeserializeOwned + Ord + Debug,
{
    let map = BTreeMap::from([(key, 1)]);
    let image = to_vec(&map).unwrap();
    let end = [&[u8::try_from(text.len()).unwrap()], text.as_bytes()].concat();
    assert!(image.ends_with(&end), "{map:?}: {image:x?}");
    assert_eq!(from_slice::<BTreeMap<K, u8>>(&image).unwrap(), map);
}

#[test]
fn keys_are_text_and_what_can_be_text() {
    key_is("a".to_owned(), "a");
    key_is('x', "x");
    key_is(true, "1");
    key_is(false, "0");
    key_is(-1_i8, "-1");
    key_is(u64::MAX, "18446744073709551615");
    key_is(i128::MIN, "-170141183460469231731687303715884105728");
    key_is(u128::MAX, "340282366920938463463374607431768211455");
    key_is(Unit::Second, "Second");
    key_is(Id(7), "7");
    let bytes: BTreeMap<serde_bytes::ByteBuf, u8> =
        from_slice(&to_vec(&BTreeMap::from([("a", 1)])).unwrap()).unwrap();
    assert_eq!(bytes.keys().next().unwrap().as_slice(), b"a");
    for error in [
        to_vec(&BTreeMap::from([(None::<u8>, 1)])).unwrap_err(),
        to_vec(&BTreeMap::from([((), 1)])).unwrap_err(),
        to_vec(&BTreeMap::from([(serde_bytes::ByteBuf::new(), 1)])).unwrap_err(),
        to_vec(&BTreeMap::from([(vec![1], 1)])).unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::Unsupported);
    }
}

#[track_caller]
fn both_ways(value: &Value<'_>, image: &[u8]) {
    assert_eq!(value.to_vec().unwrap(), image);
    let read = Value::from_slice(image).unwrap();
    assert_eq!(read, *value);
    assert_eq!(read.into_owned(), *value);
    from_slice::<IgnoredAny>(image).unwrap();
    for cut in 0..image.len() {
        let error = Value::from_slice(&image[..cut]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Eof, "cut to {cut}");
    }
}

fn bytes(text: &str) -> Value<'_> {
    Value::text(text)
}

#[test]
fn rare_items_go_both_ways() {
    let object =
        || Value::Blessed(Cow::Borrowed(b"T"), Box::new(Value::Hash(vec![]))).into_ref();
    let key = Box::new((object(), bytes("k")));
    both_ways(&Value::TiedKey(key), b"\x05\x0b\x15\x04\x11\x01T\x03\0\0\0\0\x0a\x01k");
    let index = Value::TiedIndex(Box::new(object()), 7);
    both_ways(&index, b"\x05\x0b\x16\x04\x11\x01T\x03\0\0\0\0\0\0\0\x07");
    let tied = Value::Tied(TieKind::Scalar, Box::new(object()));
    both_ways(&tied, b"\x05\x0b\x0d\x04\x11\x01T\x03\0\0\0\0");

    let source = b"v1".repeat(200);
    let vstring = VString { source: Cow::Borrowed(&source[..]), value: bytes("\u{1}") };
    let image = [&b"\x05\x0b\x1e\0\0\x01\x90"[..], &source, b"\x0a\x01\x01"].concat();
    let vstring = Value::VString(Box::new(vstring));
    both_ways(&vstring, &image);
    assert_eq!(vstring.as_str(), Some("\u{1}"));
    assert_eq!(from_slice::<String>(&image).unwrap(), "\u{1}");

    let weak = Value::Ref(
        RefKind::WeakOverloaded,
        Box::new(Value::Blessed(Cow::Borrowed(b"T"), Box::new(Value::Undef))),
    );
    both_ways(&weak, b"\x05\x0b\x1c\x11\x01T\x05");
    assert_eq!((weak.class(), weak.target()), (Some(&b"T"[..]), &Value::Undef));
    // Elements of tied things have no type, and are passed over.
    let image = b"\x05\x0b\x16\x04\x11\x01T\x03\0\0\0\0\0\0\0\x07";
    assert_eq!(from_slice::<u8>(image).unwrap_err().kind(), ErrorKind::Unsupported);
}

fn hook(class: &'static str, kind: HookKind) -> Hook<'static> {
    Hook {
        class: Cow::Borrowed(class.as_bytes()),
        kind,
        frozen: Cow::Borrowed(b"f"),
        refs: vec![],
        others: vec![],
        tie: None,
    }
}

#[test]
fn hooks_go_both_ways() {
    let plain = Value::Hook(Box::new(hook("Hk", HookKind::Array)));
    both_ways(&plain, b"\x05\x0b\x13\x01\x02Hk\x01f");
    assert_eq!(plain.class(), Some(&b"Hk"[..]));

    // Tied things, with the object behind them last.
    for (kind, code) in [(TieKind::Scalar, 4), (TieKind::Array, 5), (TieKind::Hash, 6)] {
        let tie = Some(bytes("object"));
        let tied = Hook { tie, ..hook("Hk", HookKind::Tied(kind)) };
        let image =
            [b"\x05\x0b\x13\x03", &[code][..], b"\x02Hk\x01f\x0a\x06object"].concat();
        both_ways(&Value::Hook(Box::new(tied)), &image);
    }
    // Two references, of which one is to what was there before.
    let shared = Value::Shared(2, Box::new(Value::Array(vec![])));
    let refs = vec![Value::Array(vec![bytes("new")]), Value::Same(2)];
    let twice = Hook { refs, ..hook("Hk", HookKind::Hash) };
    both_ways(
        &Value::Array(vec![shared.into_ref(), Value::Hook(Box::new(twice)).into_ref()]),
        b"\x05\x0b\x02\0\0\0\x02\x04\x02\0\0\0\0\
          \x04\x13\x42\x02\0\0\0\x01\x0a\x03new\x82\x02Hk\x01f\x02\0\0\0\x05\0\0\0\x02",
    );
    // Long forms: a class of 128 bytes, a string of 256, a list of 256.
    let name: &'static str = "C".repeat(128).leak();
    let long = Hook {
        frozen: Cow::Owned(vec![b'f'; 256]),
        refs: (0..256).map(|_| Value::Undef).collect(),
        ..hook(name, HookKind::Scalar)
    };
    let image = Value::Hook(Box::new(long.clone())).to_vec().unwrap();
    both_ways(&Value::Hook(Box::new(long)), &image);

    // A list of tags of 8 bytes, of which a negative number tells.
    let image = b"\x05\x0b\x02\0\0\0\x02\x05\x13\x92\x02Hk\x01f\xff\xff\xff\xff\
                  \0\0\0\0\0\0\0\x01";
    let Value::Array(elements) = Value::from_slice(image).unwrap() else { panic!() };
    let Value::Hook(read) = &elements[1] else { panic!("{elements:?}") };
    assert_eq!(read.refs, [Value::Same(1)]);
    // A list in another order than the items: they stand beside it.
    let image =
        b"\x05\x0b\x13\x42\x05\x42\x08\x81\x82\x02Hk\x01f\x02\0\0\0\x02\0\0\0\x01";
    let value = Value::from_slice(image).unwrap();
    let Value::Hook(read) = &value else { panic!("{value:?}") };
    assert_eq!(read.refs, [Value::Same(2), Value::Same(1)]);
    assert_eq!(read.others.len(), 2);
    assert_eq!(value.to_vec().unwrap(), image);
}

#[test]
fn images_of_other_machines_are_read() {
    // 32-bit integers, of both orders; without a float's size before minor 2.
    let little = b"\x04\x0b\x041234\x04\x04\x04\x08\x02\x01\0\0\0\x06\xfe\xff\xff\xff";
    let big = b"\x04\x01\x044321\x04\x04\x04\x02\0\0\0\x01\x06\xff\xff\xff\xfe";
    for (image, order) in [(&little[..], ByteOrder::Little), (&big[..], ByteOrder::Big)] {
        assert_eq!(from_slice::<[i32; 1]>(image).unwrap(), [-2]);
        assert_eq!(Value::from_slice(image).unwrap(), Value::Array(vec![Value::Int(-2)]));
        let header = Header::of(image).unwrap();
        assert_eq!((header.byte_order(), header.int_bytes()), (order, 4));
        assert_eq!((header.float_bytes(), header.is_network()), (8, false));
    }
    // Floats of long doubles are passed over, not read.
    let long = b"\x04\x0b\x0812345678\x04\x08\x08\x10\x02\x01\0\0\0\x07\
                 0123456789abcdef";
    assert_eq!(Header::of(long).unwrap().float_bytes(), 16);
    from_slice::<IgnoredAny>(long).unwrap();
    assert_eq!(from_slice::<[f64; 1]>(long).unwrap_err().kind(), ErrorKind::Unsupported);
    assert_eq!(Value::from_slice(long).unwrap_err().kind(), ErrorKind::Unsupported);
    // A later minor version.
    assert_eq!(from_slice::<u8>(b"\x05\x7f\x08\x81").unwrap(), 1);
    assert_eq!(Header::of(b"\x05\x7f").unwrap().minor(), 127);
}

#[test]
fn large_items_of_small_sizes_are_read() {
    let image = b"\x05\x0b\x21\x19\x01\0\0\0\0\0\0\0\x01\x08\x81\x04\0\0\0\x01k";
    assert_eq!(from_slice::<BTreeMap<String, u8>>(image).unwrap()["k"], 1);
    let value = Value::from_slice(image).unwrap();
    let Value::RestrictedHash(pairs) = &value else { panic!("{value:?}") };
    assert!(pairs[0].key.is_locked);
    // A hook whose string has a size of 8 bytes.
    let image = b"\x05\x0b\x21\x13\x02\x02Hk\0\0\0\0\0\0\0\x01f";
    let wanted = Value::Hook(Box::new(hook("Hk", HookKind::Hash)));
    assert_eq!(Value::from_slice(image).unwrap(), wanted);
    from_slice::<IgnoredAny>(image).unwrap();
    // A reference back.
    let image = b"\x05\x0b\x02\0\0\0\x02\x08\x87\x21\0\0\0\0\0\0\0\0\x01";
    assert_eq!(from_slice::<[u8; 2]>(image).unwrap(), [7, 7]);
    let value = Value::from_slice(image).unwrap();
    assert_eq!(value.as_array().unwrap()[1], Value::Same(1));
}

/// Two elements, of which the second is the first again.
#[track_caller]
fn again<T: DeserializeOwned + PartialEq + Debug>(item: &[u8], value: &T) {
    let alias = [b"\x05\x0b\x02\0\0\0\x02", item, b"\0\0\0\0\x01"].concat();
    let reference = [b"\x05\x0b\x02\0\0\0\x02\x04", item, b"\x04\0\0\0\0\x02"].concat();
    for image in [alias, reference] {
        let [first, second] = from_slice::<[T; 2]>(&image).unwrap();
        assert_eq!((&first, &second), (value, value));
    }
}

#[test]
fn what_is_met_again_is_read_again_by_each_type() {
    again(b"\x08\x81", &1_u8);
    again(b"\x08\x81", &Some(1_u8));
    again(b"\x05", &None::<u8>);
    again(b"\x05", &());
    again(b"\x0f", &true);
    again(b"\x0a\x030.5", &0.5_f64);
    again(b"\x0a\x01x", &"x".to_owned());
    again(b"\x0a\x01x", &'x');
    again(b"\x0a\x01x", &serde_bytes::ByteBuf::from(b"x".to_vec()));
    again(b"\x0a\x05First", &Unit::First);
    again(b"\x02\0\0\0\x01\x08\x81", &vec![1_u8]);
    again(b"\x02\0\0\0\x01\x08\x81", &(1_u8,));
    again(
        b"\x03\0\0\0\x01\x08\x81\0\0\0\x01k",
        &BTreeMap::from([("k".to_owned(), 1_u8)]),
    );
    again(b"\x08\x81", &serde_json::json!(1));
    again(b"\x11\x01A\x08\x81", &Blessed::new("A".to_owned(), 1_u8));
    again(b"\x20\x00\x01a\x00", &"a".to_owned());
}

#[test]
fn a_class_goes_with_its_object_alone() {
    type Maybe = Blessed<u8, Option<String>>;
    let image = to_vec(&[Maybe::new(Some("A".into()), 1), Maybe::new(None, 2)]).unwrap();
    assert_eq!(image, b"\x05\x0b\x02\0\0\0\x02\x04\x11\x01A\x08\x81\x08\x82");
    let read: Vec<Maybe> = from_slice(&image).unwrap();
    assert_eq!(read, [Maybe::new(Some("A".into()), 1), Maybe::new(None, 2)]);
    let error = from_slice::<Vec<Blessed<u8>>>(&image).unwrap_err();
    assert_eq!((error.kind(), error.path()), (ErrorKind::Data, "[1]".to_owned()));
    // A class known by its index alone, behind what is not looked at.
    let points = [Blessed::new("P", 1), Blessed::new("P", 2)];
    let image = to_vec(&(points, 3)).unwrap();
    let (_, read): (IgnoredAny, u8) = from_slice(&image).unwrap();
    assert_eq!(read, 3);
    // In other formats it is a tuple.
    let json = serde_json::to_string(&points[0]).unwrap();
    assert_eq!(json, r#"["P",1]"#);
    assert_eq!(
        serde_json::from_str::<Blessed<u8>>(&json).unwrap(),
        Blessed::new("P".into(), 1)
    );
}

#[test]
fn options_choose_what_is_written() {
    let write = |options: WriteOptions, value: &dyn Fn(&mut Encoder, &mut Vec<u8>)| {
        let mut out = Vec::new();
        value(&mut Encoder::with_options(options), &mut out);
        out
    };
    let bools = |booleans| {
        let options = WriteOptions::new().with_booleans(booleans);
        write(options, &|encoder, out| encoder.encode(&[true, false], out).unwrap())
    };
    assert_eq!(bools(Booleans::Immortal), b"\x05\x0b\x02\0\0\0\x02\x0f\x10");
    assert_eq!(bools(Booleans::Tagged), b"\x05\x0b\x02\0\0\0\x02\x22\x23");
    assert_eq!(bools(Booleans::Text), b"\x05\x0b\x02\0\0\0\x02\x0a\x011\x0a\x00");
    let floats = |order, is_perl| {
        let options = WriteOptions::new().with_order(order).with_perl_numbers(is_perl);
        write(options, &|encoder, out| encoder.encode(&(3.0, 1.0 / 3.0), out).unwrap())
    };
    assert!(floats(Order::Network, true).ends_with(b"\x08\x83\x0a\x110.333333333333333"));
    assert!(
        floats(Order::Network, false).ends_with(b"\x0a\x013\x0a\x120.3333333333333333")
    );
    assert!(
        floats(Order::Native, true)
            .ends_with(b"\x08\x83\x07\x55\x55\x55\x55\x55\x55\xd5\x3f")
    );
    let file = to_file_vec("x").unwrap();
    assert_eq!(file, b"pst0\x05\x0b\x0a\x01x");
    let mut written = Vec::new();
    wiremark_storable::to_writer(&mut written, "x").unwrap();
    assert_eq!(written, file);
    assert_eq!(wiremark_storable::from_reader::<String, _>(&file[..]).unwrap(), "x");
}

#[test]
fn a_value_answers_questions() {
    let image = to_vec(&serde_json::json!({"a": [1, 0.5], "t": "text"})).unwrap();
    let value = Value::from_slice(&image).unwrap();
    let elements = value.get("a").and_then(Value::as_array).unwrap();
    assert_eq!((elements[0].as_i64(), elements[1].as_str()), (Some(1), Some("0.5")));
    assert_eq!((elements[0].as_str(), elements[1].as_f64()), (None, None));
    assert_eq!(Value::Double(0.5).as_f64(), Some(0.5));
    assert_eq!(value.get("t").and_then(Value::as_str), Some("text"));
    assert_eq!(
        (value.get("none"), value.class(), elements[0].get("a")),
        (None, None, None)
    );
    assert_eq!((value.as_i64(), value.as_array()), (None, None));
    assert_eq!(Value::text("größe"), Value::Text(Cow::Borrowed("größe".as_bytes())));
    // Behind sharing, too: an object that is an element twice.
    let image = b"\x05\x0b\x02\0\0\0\x02\x04\x11\x01A\x08\x87\x04\0\0\0\0\x02";
    let value = Value::from_slice(image).unwrap();
    let first = &value.as_array().unwrap()[0];
    let Value::Ref(_, inner) = first else { panic!("{value:?}") };
    assert!(matches!(**inner, Value::Shared(2, _)));
    assert_eq!((first.class(), first.as_i64()), (Some(&b"A"[..]), Some(7)));
    // Of equal keys the last one counts.
    let image = b"\x05\x0b\x03\0\0\0\x02\x08\x81\0\0\0\x01k\x08\x82\0\0\0\x01k";
    let value = Value::from_slice(image).unwrap();
    assert_eq!(value.get("k").and_then(Value::as_i64), Some(2));
}

#[test]
fn a_decoder_that_is_kept_forgets_the_last_image() {
    let shared = b"\x05\x0b\x02\0\0\0\x02\x04\x02\0\0\0\x01\x08\x81\x04\0\0\0\0\x02";
    let classes = to_vec(&[Blessed::new("A", 1), Blessed::new("A", 2)]).unwrap();
    let mut decoder = Decoder::new();
    for _ in 0..3 {
        assert_eq!(decoder.decode::<Vec<Vec<u8>>>(shared).unwrap(), [[1], [1]]);
        assert_eq!(decoder.decode::<Vec<u8>>(&classes).unwrap(), [1, 2]);
        // The index and the tag are of nothing here.
        decoder.decode::<u8>(b"\x05\x0b\x12\x00\x08\x81").unwrap_err();
        decoder.decode::<[u8; 1]>(b"\x05\x0b\x02\0\0\0\x01\0\0\0\0\x02").unwrap_err();
        decoder.value(&shared[..15]).unwrap_err();
    }
}

/// Integers of all forms in rows of all lengths, behind them an item that is met again: its
/// number is its tag, which all before it are counted for.
fn rows(lengths: [usize; 3]) -> Vec<Value<'static>> {
    let starts = [-5, 1 << 20, -(1 << 40)];
    let mut items: Vec<Value<'static>> = starts
        .into_iter()
        .zip(lengths)
        .flat_map(|(start, length)| (start..).take(length).map(Value::Int))
        .collect();
    items.push(Value::Double(0.5));
    items.push(Value::Bytes(Cow::Borrowed(b"text")));
    items
}

#[test]
fn scalars_in_rows_are_read_as_they_stand_and_counted() {
    for order in [Order::Network, Order::Native] {
        let mut encoder = Encoder::with_options(WriteOptions::new().with_order(order));
        for lengths in [[0, 0, 0], [1, 0, 1], [3, 20, 1], [17, 1, 40], [0, 100, 100]] {
            let plain = rows(lengths);
            let pairs = |items: &[Value<'static>]| {
                let pair = |(index, value): (usize, &Value<'static>)| Pair {
                    key: Key {
                        bytes: Cow::Owned(index.to_string().into_bytes()),
                        ..Key::default()
                    },
                    value: value.clone(),
                };
                Value::Hash(items.iter().enumerate().map(pair).collect())
            };
            let mut shared = plain.clone();
            // Tag 0 is the root's.
            let tag = shared.len() as u64 + 1;
            shared.push(Value::Shared(tag, Box::new(Value::Undef)));
            shared.push(Value::Int(7));
            shared.push(Value::Same(tag));
            for items in [plain, shared] {
                for value in [pairs(&items), Value::Array(items)] {
                    let mut image = Vec::new();
                    encoder.encode_value(&value, &mut image).unwrap();
                    let read = Value::from_slice(&image).unwrap();
                    let mut again = Vec::new();
                    encoder.encode_value(&read, &mut again).unwrap();
                    assert_eq!(again, image, "{lengths:?}");
                    if order == Order::Native {
                        // In network order some numbers are text.
                        assert_eq!(read, value);
                    }
                    for cut in 0..image.len() {
                        let error = Value::from_slice(&image[..cut]).unwrap_err();
                        assert_eq!(error.kind(), ErrorKind::Eof, "{lengths:?} {cut}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_large_item_is_no_object_for_being_large() {
    // A hash whose value is an overloading reference to itself, with counts of 4 and 8 bytes.
    let images: [&[u8]; 2] = [
        b"\x05\x0b\x03\0\0\0\x01\x1c\0\0\0\0\0\0\0\0\x01k",
        b"\x05\x0b\x21\x03\0\0\0\0\0\0\0\x01\x1c\0\0\0\0\0\0\0\0\x01k",
    ];
    for image in images {
        let kinds = [
            Value::from_slice(image).unwrap_err().kind(),
            from_slice::<IgnoredAny>(image).unwrap_err().kind(),
        ];
        assert_eq!(kinds, [ErrorKind::Syntax; 2], "{image:x?}");
    }
}

#[test]
fn a_key_that_is_an_item_can_be_met_again() {
    // Perl reads `[{ k => 1 }, 'k', 'k']`, in which the last two are one scalar.
    let image = b"\x05\x0b\x02\0\0\0\x03\x04\x19\0\0\0\0\x01\x08\x81\x08\x0a\x01k\
                  \0\0\0\0\x04\0\0\0\0\x04";
    let read: (BTreeMap<String, u8>, String, String) = from_slice(image).unwrap();
    assert_eq!(read, (BTreeMap::from([("k".into(), 1)]), "k".into(), "k".into()));
    let value = Value::from_slice(image).unwrap();
    let shared = Value::Shared(4, Box::new(bytes("k")));
    assert_eq!(value.as_array().unwrap()[1..], [shared, Value::Same(4)]);
    // Written, the key is a usual one.
    let written = b"\x05\x0b\x02\0\0\0\x03\x04\x03\0\0\0\x01\x08\x81\0\0\0\x01k\
                    \x0a\x01k\0\0\0\0\x04";
    assert_eq!(value.to_vec().unwrap(), written);

    // A flagged one behind a class, which has no effect, and in the list of a hook, twice.
    let hash = b"\x05\x0b\x02\0\0\0\x02\x04\x19\0\0\0\0\x01\x08\x81\x08\x17\x02\xc3\xa9";
    let class = [&hash[..], b"\x11\x01A\0\0\0\0\x04"].concat();
    let shared = || Value::Shared(4, Box::new(bytes("é")));
    let value = Value::from_slice(&class).unwrap();
    assert_eq!(value.as_array().unwrap()[1], shared());
    let list = b"\x04\x13\x80\x02Hk\x01f\x02\0\0\0\x04\0\0\0\x04";
    let listed = [&hash[..], list].concat();
    let value = Value::from_slice(&listed).unwrap();
    let refs = vec![shared(), Value::Same(4)];
    let wanted = Hook { refs, ..hook("Hk", HookKind::Scalar) };
    assert_eq!(value.as_array().unwrap()[1], Value::Hook(Box::new(wanted)).into_ref());
    let written = value.to_vec().unwrap();
    let again = Value::from_slice(&written).unwrap();
    assert_eq!(again.to_vec().unwrap(), written);
}
