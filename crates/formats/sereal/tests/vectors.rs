//! Documents that Perl's own encoder wrote: read without types and with them, written again byte
//! for byte, cut short, and one after the other.
#![allow(clippy::unwrap_used, reason = "what is not there fails the test")]

mod support;

use serde::de::IgnoredAny;
use serde_json::Value as Json;
use support::{
    document, hex, list, load, none_bad, notation, plain, plain_json, read_options,
    shorten, text, unhex, value_of, vectors, wanted, write_options, written_out,
};
use wiremark_sereal::{Decoder, Document, Encoder, ErrorKind, ReadOptions, Value};

/// How a vector's bytes are read: with Perl's options only where they are limits.
fn options(vector: &Json) -> ReadOptions {
    read_options(vector)
}

fn is_ordered(vector: &Json) -> bool {
    text(vector, "order") != "unsorted"
}

#[test]
fn every_vector_is_read_without_types() {
    let (mut rows, mut bad) = (0, Vec::new());
    for vector in vectors() {
        rows += 1;
        let (name, bytes) = (text(&vector, "name"), document(&vector));
        let value = Decoder::with_options(options(&vector)).decode_value(&bytes);
        let value = match value {
            Ok(value) => value,
            Err(error) => {
                bad.push(format!("{name}: {error}"));
                continue;
            }
        };
        let wanted = plain(wanted(&vector), is_ordered(&vector));
        let found = plain(&notation(&value), is_ordered(&vector));
        if wanted != found {
            let (wanted, found) = (shorten(&wanted), shorten(&found));
            bad.push(format!("{name}:\n  want {wanted}\n  have {found}"));
        }
    }
    none_bad(rows, &bad);
}

#[test]
fn every_header_says_what_perl_wrote_into_it() {
    let (mut rows, mut bad) = (0, Vec::new());
    for vector in vectors() {
        rows += 1;
        let (name, bytes) = (text(&vector, "name"), document(&vector));
        let document = Document::open(&bytes).unwrap();
        let version = u64::from(document.version().number());
        let kind = document.document_type() as u64;
        if !vector["version"].is_null()
            && (Some(version), Some(kind))
                != (vector["version"].as_u64(), vector["type"].as_u64())
        {
            bad.push(format!("{name}: version {version}, type {kind}"));
        }
        if let Some(body) = vector["body_hex"].as_str()
            && hex(document.body()) != body
        {
            bad.push(format!("{name}: another body"));
        }
        let user_data = document.user_data_value().unwrap();
        if let Some(wanted) = vector.get("header_value") {
            let found = user_data.as_ref().map(notation);
            if found.as_ref().map(|found| plain(found, true)) != Some(plain(wanted, true))
            {
                bad.push(format!("{name}:\n  want {wanted}\n  have {found:?}"));
            }
            // Read alone it is the same, and the body need not be there.
            let start =
                usize::try_from(vector["header_len"].as_u64().unwrap_or(0)).unwrap();
            if start > 0 {
                let alone = Decoder::new().decode_header::<IgnoredAny>(&bytes[..start]);
                assert!(matches!(alone, Ok(Some(_))), "{name}: {alone:?}");
            }
        }
    }
    none_bad(rows, &bad);
}

#[test]
fn every_vector_with_a_plain_value_is_read_with_types() {
    let (mut rows, mut bad) = (0, Vec::new());
    for vector in vectors() {
        if vector["plain"] != true {
            continue;
        }
        let wanted = plain_json(wanted(&vector));
        rows += 1;
        let (name, bytes) = (text(&vector, "name"), document(&vector));
        let options = options(&vector).with_latin1(true);
        let mut decoder = Decoder::with_options(options);
        match decoder.decode::<Json>(&bytes) {
            Ok(found) if found == wanted => {}
            Ok(found) => {
                let (wanted, found) = (shorten(&wanted), shorten(&found));
                bad.push(format!("{name}:\n  want {wanted}\n  have {found}"));
            }
            Err(error) => bad.push(format!("{name}: {error}")),
        }
        decoder.decode::<IgnoredAny>(&bytes).unwrap();
    }
    none_bad(rows, &bad);
}

#[test]
fn every_vector_is_read_with_types_and_what_is_shared_is_written_out() {
    let (mut rows, mut bad) = (0, Vec::new());
    for vector in vectors() {
        rows += 1;
        let (name, bytes) = (text(&vector, "name"), document(&vector));
        let value = Decoder::new().decode_value(&bytes).unwrap();
        let wanted = written_out(&value);
        let found = Decoder::new().decode::<wiremark_datasets::Value>(&bytes);
        let fits = match (&found, &wanted) {
            (Ok(found), Some(wanted)) => found == wanted,
            // A value that is part of itself.
            (Err(error), None) => error.kind() == ErrorKind::Unsupported,
            _ => false,
        };
        if !fits {
            let found = shorten(&format!("{found:?}"));
            bad.push(format!("{name}:\n  want {wanted:?}\n  have {found}"));
        }
        Decoder::new().decode::<IgnoredAny>(&bytes).unwrap();
    }
    none_bad(rows, &bad);
}

/// Vectors whose bytes our encoder does not write, and why.
const NOT_EXACT: &[(&str, &str)] = &[];

#[test]
fn every_exact_vector_is_written_again_byte_for_byte() {
    let (mut rows, mut bad) = (0, Vec::new());
    for vector in vectors() {
        let name = text(&vector, "name");
        if vector["exact"] != true || NOT_EXACT.iter().any(|(known, _)| *known == name) {
            continue;
        }
        rows += 1;
        let value = value_of(wanted(&vector));
        let user_data = vector.get("header_value").map(value_of);
        let mut out = Vec::new();
        let written = Encoder::with_options(write_options(&vector)).encode_value(
            &value,
            user_data.as_ref(),
            &mut out,
        );
        if let Err(error) = written {
            bad.push(format!("{name}: {error}"));
        } else if hex(&out) != text(&vector, "hex") {
            let (wanted, found) = (shorten(&text(&vector, "hex")), shorten(&hex(&out)));
            bad.push(format!("{name}:\n  want {wanted}\n  have {found}"));
        }
    }
    none_bad(rows, &bad);
}

#[test]
fn every_vector_with_a_plain_value_is_written_from_types_too() {
    let (mut rows, mut bad) = (0, Vec::new());
    for vector in vectors() {
        if vector["exact"] != true || vector["plain"] != true {
            continue;
        }
        let (name, bytes) = (text(&vector, "name"), document(&vector));
        // Through serde, text is flagged where it must be, and floats are floats; so only what
        // has no flags to lose, and no user data, is the same.
        let value = Decoder::new().decode_value(&bytes).unwrap();
        if vector.get("header_value").is_some() || !is_plain(&value) {
            continue;
        }
        rows += 1;
        let found = Encoder::with_options(write_options(&vector)).encode_to_vec(&value);
        match found {
            Ok(found) if found == bytes => {}
            Ok(found) => {
                let (wanted, found) = (shorten(&hex(&bytes)), shorten(&hex(&found)));
                bad.push(format!("{name}:\n  want {wanted}\n  have {found}"));
            }
            Err(error) => bad.push(format!("{name}: {error}")),
        }
    }
    none_bad(rows, &bad);
}

/// Whether nothing is lost between `Value` and serde.
fn is_plain(value: &Value<'_>) -> bool {
    let is_text = |text: &wiremark_sereal::Str<'_>| {
        text.as_str().is_some_and(|found| text.is_text() != found.is_ascii())
    };
    match value {
        Value::Undef
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Uint(_)
        | Value::Float(_) => true,
        Value::Str(text) => is_text(text),
        Value::Array(values) => values.iter().all(is_plain),
        Value::Hash(pairs) => {
            pairs.iter().all(|(key, value)| is_text(key) && is_plain(value))
        }
        _ => false,
    }
}

#[test]
fn what_is_read_and_written_is_read_as_the_same() {
    let (mut rows, mut bad) = (0, Vec::new());
    for vector in vectors() {
        rows += 1;
        let (name, bytes) = (text(&vector, "name"), document(&vector));
        let value = Decoder::new().decode_value(&bytes).unwrap();
        // As text, since NaN is not equal to itself.
        let owned = value.clone().into_owned();
        assert_eq!(format!("{owned:?}"), format!("{value:?}"), "{name}");
        let written = Encoder::with_options(write_options(&vector))
            .encode_value_to_vec(&value)
            .unwrap();
        let back = Decoder::new().decode_value(&written).unwrap();
        if plain(&notation(&back), false) != plain(&notation(&value), false) {
            bad.push(format!("{name}: {} {}", hex(&bytes), hex(&written)));
        }
    }
    none_bad(rows, &bad);
}

#[test]
fn a_document_cut_short_is_refused() {
    let (mut rows, mut bad) = (0, Vec::new());
    for vector in vectors() {
        let (name, bytes) = (text(&vector, "name"), document(&vector));
        if bytes.len() > 4_000 {
            continue;
        }
        for cut in 0..bytes.len() {
            rows += 1;
            let dynamic = Decoder::new().decode_value(&bytes[..cut]);
            let skipped = Decoder::new().decode::<IgnoredAny>(&bytes[..cut]);
            for (how, kind) in [
                ("dynamic", dynamic.map(drop).map_err(|error| error.kind())),
                ("skipped", skipped.map(drop).map_err(|error| error.kind())),
            ] {
                // An old Snappy block has no length, so that a cut one is a broken one; and a
                // body of version 1 may be cut to another one that is not compressed.
                let fits = match kind {
                    Err(ErrorKind::Eof) => true,
                    Err(ErrorKind::Syntax | ErrorKind::Data) => name.contains("v1"),
                    _ => false,
                };
                if !fits {
                    bad.push(format!("{name}, cut to {cut}, {how}: {kind:?}"));
                }
            }
        }
    }
    none_bad(rows, &bad);
}

#[test]
fn documents_follow_one_another() {
    let (mut rows, mut bad) = (0, Vec::new());
    for vector in load("stream") {
        let (name, bytes) = (text(&vector, "name"), document(&vector));
        let mut at = 0;
        for document in list(&vector, "documents") {
            rows += 1;
            let offset = usize::try_from(document["offset"].as_u64().unwrap()).unwrap();
            let read = Decoder::new().decode_value_prefix(&bytes[at..]);
            if document.get("error").is_some() {
                if read.is_ok() {
                    bad.push(format!("{name} at {at}: {read:?}"));
                }
                break;
            }
            let (value, len) = match read {
                Ok(read) => read,
                Err(error) => {
                    bad.push(format!("{name} at {at}: {error}"));
                    break;
                }
            };
            let wanted = plain(&document["value"], false);
            let found = plain(&notation(&value), false);
            if at != offset
                || document["consumed"].as_u64() != Some(len as u64)
                || wanted != found
            {
                bad.push(format!(
                    "{name} at {at}, {len}:\n  want {wanted}\n  have {found}"
                ));
            }
            at += len;
        }
        let documents: Vec<_> = Decoder::new().documents::<IgnoredAny>(&bytes).collect();
        if documents.len() != list(&vector, "documents").len() {
            bad.push(format!("{name}: {} documents", documents.len()));
        }
    }
    none_bad(rows, &bad);
}

#[test]
fn the_hash_of_the_specification_has_36_bytes_and_38_if_references_are_canonical() {
    #[derive(serde::Serialize)]
    struct Small {
        a: u8,
        b: u8,
        c: u8,
        d: &'static str,
        e: f64,
    }
    let small = Small { a: 1, b: 2, c: 3, d: "string", e: 5.018 };
    let bytes = wiremark_sereal::to_vec(&small).unwrap();
    let wanted = "3df3726c05005561610161620261630361646673\
                  7472696e67616523df4f8d976e121440";
    assert_eq!(bytes, unhex(&wanted.replace(' ', "")));
    assert_eq!(bytes.len(), 36);
    let options = wiremark_sereal::WriteOptions::new().with_canonical_refs(true);
    assert_eq!(Encoder::with_options(options).encode_to_vec(&small).unwrap().len(), 38);
}
