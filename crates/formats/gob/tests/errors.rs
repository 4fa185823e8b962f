//! Kinds, offsets and paths of errors, and what comes after one.
#![allow(clippy::unwrap_used, reason = "what is not there fails the test")]

use std::io::{self, Read, Write};

use serde::{Deserialize, Serialize};
use wiremark_gob::{Decoder, Deserializer, Encoder, ErrorKind, from_slice, to_vec};

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Order {
    id: u32,
    lines: Vec<Line>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Line {
    name: String,
    price: i64,
}

fn order(price: i64) -> Order {
    let line = |price| Line { name: "pen".into(), price };
    Order { id: 7, lines: vec![line(1), line(price)] }
}

#[test]
fn an_error_tells_kind_offset_and_path() {
    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "never made")]
    struct Small {
        lines: Vec<SmallLine>,
    }
    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "never made")]
    struct SmallLine {
        price: i8,
    }
    let bytes = to_vec(&order(300)).unwrap();
    let error = from_slice::<Small>(&bytes).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Data);
    assert_eq!(error.path(), "lines[1].price");
    // Behind the price, before the ends of both structs.
    assert_eq!(error.offset(), Some(bytes.len() as u64 - 2));
    assert_eq!(
        error.to_string(),
        format!(
            "lines[1].price: invalid value: integer `300`, expected i8 at byte {}",
            bytes.len() - 2
        )
    );
}

#[test]
fn kinds_tell_what_is_wrong() {
    let table: &[(&[u8], ErrorKind, u64)] = &[
        // Nothing; a length alone; a message that is cut.
        (&[], ErrorKind::Eof, 0),
        (&[3], ErrorKind::Eof, 1),
        (&[3, 4, 0], ErrorKind::Eof, 3),
        // A message of no bytes; an integer of nine; an unknown id; no zero byte.
        (&[0], ErrorKind::Syntax, 0),
        (&[3, 0x80, 0, 6], ErrorKind::Syntax, 2),
        (&[4, 0xff, 0x80, 0, 6], ErrorKind::Syntax, 1),
        (&[3, 4, 1, 6], ErrorKind::Syntax, 3),
        // Bytes behind the value in its message, and behind the message.
        (&[4, 4, 0, 6, 0], ErrorKind::Syntax, 4),
        (&[3, 4, 0, 6, 0], ErrorKind::Syntax, 4),
        // Text where an integer is wanted.
        (&[4, 12, 0, 1, b'x'], ErrorKind::Data, 5),
    ];
    let mut bad = Vec::new();
    for &(bytes, kind, offset) in table {
        let error = from_slice::<i32>(bytes).unwrap_err();
        if (error.kind(), error.offset()) != (kind, Some(offset)) {
            bad.push(format!("{bytes:x?}: wanted {kind} at {offset}, found {error:?}"));
        }
    }
    assert!(bad.is_empty(), "{bad:#?}");
}

#[test]
fn after_a_mismatch_the_stream_goes_on() {
    let mut encoder = Encoder::new(Vec::new());
    encoder.encode(&order(1)).unwrap();
    encoder.encode("text").unwrap();
    encoder.encode(&order(2)).unwrap();
    let stream = encoder.into_inner();

    let mut deserializer = Deserializer::from_slice(&stream);
    assert_eq!(deserializer.read::<u8>().unwrap_err().kind(), ErrorKind::Data);
    assert_eq!(deserializer.read::<Order>().unwrap_err().kind(), ErrorKind::Data);
    assert_eq!(deserializer.read::<Order>().unwrap(), order(2));

    let mut decoder = Decoder::new(&stream[..]);
    assert_eq!(decoder.read::<u8>().unwrap_err().kind(), ErrorKind::Data);
    assert_eq!(decoder.read::<Order>().unwrap_err().kind(), ErrorKind::Data);
    assert_eq!(decoder.read::<Order>().unwrap(), order(2));
}

#[test]
fn after_broken_bytes_nothing_more_is_read() {
    let stream = [3, 4, 1, 6, 3, 4, 0, 6];
    let mut deserializer = Deserializer::from_slice(&stream);
    assert!(deserializer.read::<i32>().is_err());
    assert_eq!(deserializer.read::<i32>().unwrap_err().kind(), ErrorKind::Syntax);
    let mut decoder = Decoder::new(&stream[..]);
    assert!(decoder.read::<i32>().is_err());
    assert_eq!(decoder.read::<i32>().unwrap_err().kind(), ErrorKind::Syntax);
}

/// Gives so many bytes, then an error.
struct Failing<'a>(&'a [u8]);

impl Read for Failing<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        match self.0.read(to)? {
            0 if !to.is_empty() => Err(io::ErrorKind::TimedOut.into()),
            count => Ok(count),
        }
    }
}

impl Write for Failing<'_> {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        let count = from.len().min(self.0.len());
        self.0 = &self.0[count..];
        if count == 0 { Err(io::ErrorKind::TimedOut.into()) } else { Ok(count) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn readers_and_writers_may_fail_at_any_byte() {
    let stream = to_vec(&order(1)).unwrap();
    for cut in 0..stream.len() {
        let error = Decoder::new(Failing(&stream[..cut])).read::<Order>().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Io, "after {cut} bytes");
        let mut encoder = Encoder::new(Failing(&stream[..cut]));
        assert_eq!(encoder.encode(&order(1)).unwrap_err().kind(), ErrorKind::Io);
        // What was written of it is unknown, so the stream is at its end.
        assert_eq!(encoder.encode(&1).unwrap_err().kind(), ErrorKind::Unsupported);
    }
}

#[test]
fn a_value_that_refuses_leaves_no_trace() {
    struct Refusing;
    impl Serialize for Refusing {
        fn serialize<S: serde::Serializer>(
            &self,
            serializer: S,
        ) -> Result<S::Ok, S::Error> {
            use serde::ser::{Error, SerializeStruct};
            let mut fields = serializer.serialize_struct("Order", 2)?;
            fields.serialize_field("id", &7_u32)?;
            fields.serialize_field("lines", "not what it was")?;
            Err(S::Error::custom("no"))
        }
    }
    let mut encoder = Encoder::new(Vec::new());
    assert_eq!(encoder.encode(&Refusing).unwrap_err().kind(), ErrorKind::Data);
    assert!(encoder.get_ref().is_empty());
    encoder.encode(&order(1)).unwrap();
    assert_eq!(encoder.encode(&Refusing).unwrap_err().kind(), ErrorKind::Data);
    encoder.encode(&order(2)).unwrap();
    let stream = encoder.into_inner();
    let mut deserializer = Deserializer::from_slice(&stream);
    assert_eq!(deserializer.read::<Order>().unwrap(), order(1));
    assert_eq!(deserializer.read::<Order>().unwrap(), order(2));
    deserializer.end().unwrap();
}

#[test]
fn an_error_becomes_one_of_the_contract() {
    let error = from_slice::<i32>(&[3, 4, 1, 6]).unwrap_err();
    let text = error.to_string();
    let core = wiremark_core::Error::from(error);
    assert_eq!((core.kind(), core.offset()), (ErrorKind::Syntax, Some(3)));
    assert_eq!(core.to_string(), text);
}

/// Takes one field of a struct and leaves the others to the reader.
#[derive(Debug, PartialEq)]
struct First(i64);

impl<'de> Deserialize<'de> for First {
    fn deserialize<D: serde::Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Self, D::Error> {
        struct OneField;
        impl<'de> serde::de::Visitor<'de> for OneField {
            type Value = First;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a struct")
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(
                self,
                mut map: A,
            ) -> Result<First, A::Error> {
                let (_, value) = map.next_entry::<String, i64>()?.unwrap();
                Ok(First(value))
            }
        }
        deserializer.deserialize_struct("First", &["a", "b"], OneField)
    }
}

#[test]
fn fields_that_a_type_leaves_are_passed_over_and_still_looked_at() {
    #[derive(Serialize)]
    struct Pair {
        a: i64,
        b: i64,
    }
    let mut bytes = to_vec(&Pair { a: 5, b: 9 }).unwrap();
    assert_eq!(from_slice::<First>(&bytes).unwrap(), First(5));
    // The message ends with delta and value of both fields, and the struct's end; the second
    // delta now leads beyond the last field.
    assert!(bytes.ends_with(&[1, 10, 1, 18, 0]));
    let delta = bytes.len() - 3;
    bytes[delta] = 7;
    let error = from_slice::<First>(&bytes).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Syntax, "{error}");
    assert_eq!(error.offset(), Some(delta as u64 + 1), "{error}");
}
