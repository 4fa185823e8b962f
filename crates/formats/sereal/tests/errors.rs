//! Kinds, offsets and paths of errors, and what comes after one.
#![allow(clippy::unwrap_used, reason = "what is not there fails the test")]
#![allow(clippy::items_after_statements, reason = "a type stands beside its values")]

use std::collections::{BTreeMap, HashMap};
use std::io;

use serde::de::IgnoredAny;
use serde::ser::{Error as _, SerializeMap, SerializeSeq};
use serde::{Deserialize, Serialize, Serializer};
use wiremark_core::Codec;
use wiremark_sereal::{
    Compression, Decoder, Dedupe, Document, Encoder, Error, ErrorKind, Frozen, Item,
    Object, ReadOptions, Regexp, Sereal, Shared, Value, Version, WriteOptions,
    from_slice, to_vec,
};

#[derive(Debug, Serialize, Deserialize)]
struct Line {
    price: i8,
    #[serde(default)]
    more: Vec<Line>,
}

fn raw(body: &[u8]) -> Vec<u8> {
    [b"=\xf3rl\x05\x00", body].concat()
}

#[test]
fn an_error_says_where_and_on_which_way() {
    let lines = [BTreeMap::from([("price", 1)]), BTreeMap::from([("price", 300)])];
    let bytes = to_vec(&lines).unwrap();
    let error = from_slice::<Vec<Line>>(&bytes).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Data);
    assert_eq!(error.path(), "[1].price");
    assert_eq!(error.offset(), Some(bytes.len() as u64));
    assert!(error.to_string().starts_with("[1].price: invalid value: integer `300`"));
    // Within a compressed body there is no place in the input.
    let options = WriteOptions::new()
        .with_compression(Compression::Zlib(6))
        .with_compress_threshold(0);
    let lines = vec![BTreeMap::from([("price", 300)]); 100];
    let bytes = Encoder::with_options(options).encode_to_vec(&lines).unwrap();
    let error = from_slice::<Vec<Line>>(&bytes).unwrap_err();
    assert_eq!((error.path().as_str(), error.offset()), ("[0].price", None));
}

#[test]
fn kinds_of_errors_are_what_a_program_can_act_on() {
    use ErrorKind::{Data, Eof, Syntax, Unsupported};
    type Read = fn(&[u8]) -> Option<ErrorKind>;
    let list: Read = |bytes| from_slice::<Vec<u8>>(bytes).err().map(|error| error.kind());
    let line: Read = |bytes| from_slice::<Line>(bytes).err().map(|error| error.kind());
    let map: Read =
        |bytes| from_slice::<HashMap<String, u8>>(bytes).err().map(|error| error.kind());
    let shape: Read =
        |bytes| from_slice::<Result<u8, ()>>(bytes).err().map(|error| error.kind());
    let object: Read =
        |bytes| from_slice::<Object<u8>>(bytes).err().map(|error| error.kind());
    let rows: &[(&str, Read, Vec<u8>, ErrorKind)] = &[
        ("nothing", list, vec![], Eof),
        ("a part of the magic", list, b"=\xf3".to_vec(), Eof),
        ("another format", list, b"{\"a\": 1}".to_vec(), Syntax),
        ("encoded as UTF-8", list, b"=\xc3\xb3rl\x05\x00\x40".to_vec(), Syntax),
        ("a later version", list, b"=\xf3rl\x06\x00\x40".to_vec(), Unsupported),
        ("the wrong magic", list, b"=srl\x05\x00\x40".to_vec(), Unsupported),
        ("another type of document", list, b"=\xf3rl\x75\x00\x40".to_vec(), Unsupported),
        ("bytes behind it", list, raw(b"\x40\x40"), Syntax),
        ("a short list", list, raw(b"\x42\x01"), Eof),
        ("a hash", list, raw(b"\x50"), Data),
        ("an enum that is a list", shape, raw(b"\x41\x01"), Data),
        ("an enum of two", shape, raw(b"\x52bOk\x01cErr\x25"), Data),
        ("a variant without content", shape, raw(b"bOk"), Data),
        ("a field that is missing", line, raw(b"\x50"), Data),
        ("a field that stands twice", line, raw(b"\x52eprice\x01eprice\x02"), Data),
        ("a key that stands twice", map, raw(b"\x52ak\x01ak\x02"), Data),
        ("a key that is no string", map, raw(b"\x51\x05\x01"), Syntax),
        ("a cycle", list, raw(b"\x28\xab\x01\x29\x02"), Unsupported),
        ("a scalar around itself", list, raw(b"\x28\xa9\x02"), Unsupported),
        ("no object", object, raw(b"\x05"), Data),
        ("a frozen one", object, raw(b"\x32aA\x28\x2b\x00"), Data),
    ];
    let rows: Vec<_> = rows
        .iter()
        .map(|(name, read, bytes, wanted)| (name, read(bytes), wanted))
        .filter(|(_, found, wanted)| found.as_ref() != Some(wanted))
        .collect();
    assert!(rows.is_empty(), "{rows:?}");
}

#[test]
fn a_key_that_stands_twice_among_few_is_found_where_it_stands() {
    let values: [&[u8]; 4] = [b"\x01", b"\x61v", b"\x23\0\0\0\0\0\0\xf8\x3f", b"\x25"];
    let pair = |key: u8| [&[0x61, key], values[usize::from(key % 4)]].concat();
    let hash = |pairs: Vec<Vec<u8>>| {
        let count = u8::try_from(pairs.len()).unwrap();
        [b"=\xf3rl\x05\x00\x28\x2a", &[count][..], &pairs.concat()].concat()
    };
    // On both sides of 16, up to which keys are compared with one another.
    for count in 1..=18_u8 {
        for first in 0..=255 - count {
            let pairs: Vec<_> = (first..first + count).map(pair).collect();
            let bytes = hash(pairs.clone());
            let value = Decoder::new().decode_value(&bytes).unwrap();
            let Value::Hash(found) = value else { panic!("{value:?}") };
            assert!(
                found.iter().map(|(key, _)| key.as_bytes()[0]).eq(first..first + count)
            );

            let again = pair(first + first % count);
            let bytes = hash([&pairs[..], std::slice::from_ref(&again)].concat());
            let error = Decoder::new().decode_value(&bytes).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Data, "{bytes:02x?}");
            let behind_key = bytes.len() - again.len() + 2;
            assert_eq!(error.offset(), Some(behind_key as u64), "{bytes:02x?}");
            let lenient = ReadOptions::new().with_duplicate_keys(true);
            Decoder::with_options(lenient).decode_value(&bytes).unwrap();
        }
    }
}

#[test]
fn a_hundred_keys_are_each_there_once() {
    let mut body = vec![0x28, 0x2a, 100];
    for key in 0..99_u8 {
        body.extend([0x61, key, 1]);
    }
    let once = [&body[..], &[0x61, 200, 1]].concat();
    let twice = [&body[..], &[0x61, 7, 1]].concat();
    type Map = HashMap<serde_bytes::ByteBuf, u8>;
    assert_eq!(from_slice::<Map>(&raw(&once)).unwrap().len(), 100);
    assert_eq!(from_slice::<Map>(&raw(&twice)).unwrap_err().kind(), ErrorKind::Data);
    let error = Decoder::new().decode_value(&raw(&twice)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Data);
    let lenient = ReadOptions::new().with_duplicate_keys(true);
    let mut decoder = Decoder::with_options(lenient);
    assert_eq!(decoder.decode::<Map>(&raw(&twice)).unwrap().len(), 99);
    decoder.decode_value(&raw(&twice)).unwrap();
    // The same bytes with and without the flag are two keys, unless they are ASCII.
    let both = raw(b"\x52\x62\xc3\xa9\x01\x27\x02\xc3\xa9\x02");
    assert!(Decoder::new().decode_value(&both).is_ok());
    let ascii = raw(b"\x52\x61a\x01\x27\x01a\x02");
    assert!(Decoder::new().decode_value(&ascii).is_err());
    // However many there are.
    let behind = |keys: &[u8]| {
        let mut body = vec![0x28, 0x2a, 101];
        for key in 0..99_u8 {
            body.extend([0x62, key, key, 1]);
        }
        Decoder::new().decode_value(&raw(&[&body[..], keys].concat())).is_ok()
    };
    assert!(behind(b"\x62\xc3\xa9\x01\x27\x02\xc3\xa9\x02"));
    assert!(!behind(b"\x27\x02\xc3\xa9\x01\x27\x02\xc3\xa9\x02"));
    assert!(!behind(b"\x61a\x01\x27\x01a\x02"));
}

/// Says that it is longer or shorter than it is, or fails half way.
struct Liar(usize, bool);

impl Serialize for Liar {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut seq = serializer.serialize_seq(Some(self.0))?;
        seq.serialize_element(&1)?;
        seq.serialize_element(&2)?;
        if self.1 {
            return Err(S::Error::custom("no more"));
        }
        seq.end()
    }
}

struct FloatKey;

impl Serialize for FloatKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry(&1.5, &1)?;
        map.end()
    }
}

#[test]
fn what_cannot_be_written_leaves_nothing_behind() {
    use ErrorKind::{Data, Unsupported};
    type Write = fn(&mut Encoder, &mut Vec<u8>) -> Result<(), Error>;
    let rows: &[(&str, ErrorKind, Write)] = &[
        ("too short", Data, |encoder, out| encoder.encode_into(&Liar(3, false), out)),
        ("too long", Data, |encoder, out| encoder.encode_into(&Liar(1, false), out)),
        ("failing", Data, |encoder, out| encoder.encode_into(&Liar(2, true), out)),
        ("128 bits", Unsupported, |encoder, out| encoder.encode_into(&u128::MAX, out)),
        ("-128 bits", Unsupported, |encoder, out| encoder.encode_into(&i128::MIN, out)),
        ("a key that is a float", Unsupported, |encoder, out| {
            encoder.encode_into(&FloatKey, out)
        }),
        ("a key that is a list", Unsupported, |encoder, out| {
            encoder.encode_into(&BTreeMap::from([(vec![1], 1)]), out)
        }),
        ("a frozen scalar", Data, |encoder, out| {
            encoder.encode_into(&Frozen { class: "A", arguments: 1 }, out)
        }),
        ("modifiers that Perl has not", Data, |encoder, out| {
            encoder.encode_into(&Regexp { pattern: "a", flags: "z" }, out)
        }),
        ("a class that is a number", Unsupported, |encoder, out| {
            encoder.encode_into(&Object { class: 1, value: 1 }, out)
        }),
        ("an object that is a number", Data, |encoder, out| {
            let value = Object { class: "A".into(), value: Value::Int(1) };
            encoder.encode_value(&Value::Object(Box::new(value)), None, out)
        }),
        ("a weak number", Data, |encoder, out| {
            encoder.encode_value(&Value::Weak(Box::new(Value::Int(1))), None, out)
        }),
        ("a number that nothing has", Data, |encoder, out| {
            encoder.encode_value(&Value::SameRef(1), None, out)
        }),
        ("an alias of nothing", Data, |encoder, out| {
            encoder.encode_value(&Value::Array(vec![Value::Alias(1)]), None, out)
        }),
        ("a number that two have", Data, |encoder, out| {
            let one = || {
                let value = Value::Int(1);
                Value::Shared(Box::new(Shared { id: 1, item: Item::Scalar, value }))
            };
            encoder.encode_value(&Value::Array(vec![one(), one()]), None, out)
        }),
        ("a value with two numbers", Data, |encoder, out| {
            let one = |id, value| {
                Value::Shared(Box::new(Shared { id, item: Item::Scalar, value }))
            };
            encoder.encode_value(&one(1, one(2, Value::Int(1))), None, out)
        }),
        ("an alias with a number of its own", Data, |encoder, out| {
            let one = |id, value| {
                Value::Shared(Box::new(Shared { id, item: Item::Scalar, value }))
            };
            let both = vec![one(1, Value::Int(1)), one(2, Value::Alias(1))];
            encoder.encode_value(&Value::Array(both), None, out)
        }),
        ("an alias of an array itself", Data, |encoder, out| {
            let (id, item, value) = (1, Item::Referent, Value::Array(vec![]));
            let shared = Value::Shared(Box::new(Shared { id, item, value }));
            encoder.encode_value(&Value::Array(vec![shared, Value::Alias(1)]), None, out)
        }),
        ("an alias behind a reference", Data, |encoder, out| {
            let (id, item, value) = (1, Item::Scalar, Value::Int(1));
            let shared = Value::Shared(Box::new(Shared { id, item, value }));
            let alias = Value::Ref(Box::new(Value::Alias(1)));
            encoder.encode_value(&Value::Array(vec![shared, alias]), None, out)
        }),
        ("a referent that is none", Data, |encoder, out| {
            let value = Value::Int(1);
            let shared = Shared { id: 1, item: Item::Referent, value };
            encoder.encode_value(&Value::Shared(Box::new(shared)), None, out)
        }),
    ];
    let mut bad = Vec::new();
    let mut encoder = Encoder::new();
    for (name, wanted, write) in rows {
        let mut out = b"kept".to_vec();
        let found = write(&mut encoder, &mut out).map_err(|error| error.kind());
        if found != Err(*wanted) || out != b"kept" {
            bad.push(format!("{name}: {found:?} {out:?}"));
        }
        encoder.encode_into(&BTreeMap::from([("k", 1)]), &mut out).unwrap();
        if out != b"kept=\xf3rl\x05\x00\x51\x61k\x01" {
            bad.push(format!("after {name}: {out:?}"));
        }
    }
    assert!(bad.is_empty(), "{bad:#?}");
}

#[test]
fn options_that_do_not_fit_the_version_are_refused() {
    let new = WriteOptions::new;
    for options in [
        new().with_compression(Compression::Zlib(6)).with_version(Version::V2),
        new().with_compression(Compression::Zstd(3)).with_version(Version::V2),
        new().with_compression(Compression::Zlib(0)),
        new().with_compression(Compression::Zstd(23)),
    ] {
        let error = Encoder::with_options(options).encode_to_vec(&1).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{options:?}");
    }
    let old = new().with_version(Version::V1);
    let mut encoder = Encoder::with_options(old);
    let error = encoder.encode_with_header("a", &1, &mut Vec::new()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    let frozen = Frozen { class: "A", arguments: [1] };
    assert_eq!(
        encoder.encode_to_vec(&frozen).unwrap_err().kind(),
        ErrorKind::Unsupported
    );
    let arguments = Value::Array(vec![Value::Int(1)]);
    let frozen = Value::Frozen(Box::new(Frozen { class: "A".into(), arguments }));
    let error = encoder.encode_value_to_vec(&frozen).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    // With compression, too, and what was there before stays.
    let old = old.with_compression(Compression::Snappy).with_compress_threshold(0);
    let mut out = b"kept".to_vec();
    let error =
        Encoder::with_options(old).encode_with_header("a", &1, &mut out).unwrap_err();
    assert_eq!((error.kind(), &out[..]), (ErrorKind::Unsupported, &b"kept"[..]));
}

#[test]
fn an_encoder_that_is_kept_forgets_the_last_document() {
    let options = WriteOptions::new().with_dedupe(Dedupe::Copy);
    let mut encoder = Encoder::with_options(options);
    let class = |value| Object { class: "A", value };
    let twice = [class(["text", "text"]), class(["key", "key"])];
    let wanted = raw(b"\x42\x2c\x61A\x42\x64text\x2f\x06\x2d\x03\x42\x63key\x63key");
    for _ in 0..3 {
        assert_eq!(encoder.encode_to_vec(&twice).unwrap(), wanted);
    }
}

#[test]
fn user_data_is_read_without_the_body() {
    let mut bytes = Vec::new();
    Encoder::default().encode_with_header("db1", &[1, 2], &mut bytes).unwrap();
    assert_eq!(bytes, b"=\xf3rl\x05\x05\x01cdb1\x42\x01\x02");
    let document = Document::open(&bytes).unwrap();
    assert!(document.has_user_data());
    assert_eq!(document.user_data::<&str>().unwrap(), Some("db1"));
    assert_eq!(document.read::<[u8; 2]>().unwrap(), [1, 2]);
    let bytes = to_vec(&[1, 2]).unwrap();
    let document = Document::open(&bytes).unwrap();
    assert!(!document.has_user_data());
    assert_eq!(document.user_data::<&str>().unwrap(), None);
}

#[test]
fn the_defaults_are_what_new_gives() {
    let (read, write) = (ReadOptions::new(), WriteOptions::new());
    assert_eq!(format!("{:?}", ReadOptions::default()), format!("{read:?}"));
    assert_eq!(format!("{:?}", WriteOptions::default()), format!("{write:?}"));
    // As a codec, options for reading can be others.
    let strict = ReadOptions::default().with_lenient_numbers(false);
    let bytes = raw(b"\x6242");
    assert_eq!(Sereal::shared().decode::<u8>(&bytes).unwrap(), 42);
    Sereal::shared().with_read_options(strict).decode::<u8>(&bytes).unwrap_err();
}

#[test]
fn objects_and_compressions_can_be_refused() {
    let object = to_vec(&[Object { class: "A", value: [1] }]).unwrap();
    let mut strict = Decoder::with_options(ReadOptions::new().with_objects_refused(true));
    let error = strict.decode::<Vec<Vec<u8>>>(&object).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(strict.decode_value(&object).is_err());
    assert!(strict.decode::<IgnoredAny>(&object).is_err());
    let text = "a".repeat(5_000);
    let refusals = [
        (Compression::Snappy, (true, false, false)),
        (Compression::Zlib(1), (false, true, false)),
        (Compression::Zstd(1), (false, false, true)),
    ];
    for (compression, (snappy, zlib, zstd)) in refusals {
        let options = WriteOptions::new().with_compression(compression);
        let bytes = Encoder::with_options(options).encode_to_vec(&text).unwrap();
        let options = ReadOptions::new().with_compressions_refused(snappy, zlib, zstd);
        let error = Decoder::with_options(options).decode::<String>(&bytes).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        let options = ReadOptions::new().with_compressions_refused(!snappy, !zlib, !zstd);
        assert_eq!(
            Decoder::with_options(options).decode::<String>(&bytes).unwrap(),
            text
        );
    }
}

/// A reader or writer that gives an error.
struct Broken(io::ErrorKind);

impl io::Read for Broken {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(self.0.into())
    }
}

impl io::Write for Broken {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(self.0.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn an_error_of_a_stream_is_told_as_it_is_and_kept_as_the_source() {
    use io::ErrorKind as IoKind;

    let table = [
        (IoKind::PermissionDenied, ErrorKind::Io, IoKind::Other),
        (IoKind::ConnectionReset, ErrorKind::Io, IoKind::Other),
        (IoKind::UnexpectedEof, ErrorKind::Eof, IoKind::UnexpectedEof),
    ];
    for (from, kind, back) in table {
        let errors = || {
            [
                wiremark_sereal::from_reader::<u8, _>(Broken(from)).unwrap_err(),
                wiremark_sereal::to_writer(Broken(from), &1).unwrap_err(),
            ]
        };
        for error in errors() {
            assert_eq!((error.kind(), error.offset()), (kind, None));
            assert_eq!(error.to_string(), io::Error::from(from).to_string());
            let source = std::error::Error::source(&error).unwrap();
            let source = source.downcast_ref::<io::Error>().unwrap();
            assert_eq!(source.kind(), from);
        }
        for error in errors() {
            assert_eq!(io::Error::from(error).kind(), back);
        }
        for error in errors() {
            assert_eq!(wiremark_core::Error::from(error).kind(), kind);
        }
    }
    // What is no error of a stream becomes one of the nearest kind.
    let error = from_slice::<u8>(&raw(b"\x07\x07")).unwrap_err();
    assert!(std::error::Error::source(&error).is_none());
    assert_eq!(io::Error::from(error).kind(), IoKind::InvalidData);
    // Whole streams are read and written.
    assert_eq!(wiremark_sereal::from_reader::<u8, _>(&raw(b"\x07")[..]).unwrap(), 7);
    let mut out = Vec::new();
    wiremark_sereal::to_writer(&mut out, &7).unwrap();
    assert_eq!(out, raw(b"\x07"));
}

#[test]
fn an_error_shows_what_is_known_of_it() {
    let error =
        from_slice::<[Line; 1]>(&raw(b"\x41\x51\x65price\x20\xac\x02")).unwrap_err();
    assert_eq!(
        format!("{error:?}"),
        "Error { kind: Data, offset: Some(17), path: \"[0].price\", message: \"invalid \
         value: integer `300`, expected i8\", .. }"
    );
    let error = to_vec(&BTreeMap::from([((), 1)])).unwrap_err();
    let message = "expected a key of text or a number, as hashes have no others";
    assert_eq!(error.to_string(), message);
    assert_eq!(
        format!("{error:?}"),
        format!(
            "Error {{ kind: Unsupported, offset: None, path: \"\", message: {message:?}, .. }}"
        )
    );
}

#[test]
fn the_offset_of_a_later_document_counts_from_the_first() {
    let bytes = [raw(b"\x01"), raw(b"\x36")].concat();
    let errors: Vec<_> =
        Decoder::new().documents::<u8>(&bytes).filter_map(Result::err).collect();
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0].offset(), Some(13));
}

#[test]
fn bytes_behind_a_document_are_refused_by_every_reading() {
    let bytes = [raw(b"\x07"), vec![0x01]].concat();
    let typed = Decoder::new().decode::<u8>(&bytes).unwrap_err();
    let dynamic = Decoder::new().decode_value(&bytes).unwrap_err();
    for error in [typed, dynamic] {
        assert_eq!(error.kind(), ErrorKind::Syntax, "{error}");
        assert_eq!(error.offset(), Some(bytes.len() as u64 - 1), "{error}");
    }
}
