//! Images by Perl, read without types and with them, and written again byte for byte.
#![allow(clippy::unwrap_used, reason = "what is not there fails the test")]

mod support;

use serde::de::IgnoredAny;
use serde_json::Value as Json;
use support::{
    hex, image, list, load, none_bad, notation, options, plain, root, text, unhex,
    value_of, vectors,
};
use wiremark_storable::{Booleans, Decoder, Encoder, Header, ReadOptions, Value};

/// What Perl's reader makes of it differs from what the image says: nothing holds the target of
/// the weak reference once it is read.
const WEAK_ALONE: [&str; 2] = ["weak-only-freeze", "weak-only-nfreeze"];

/// Deeper or stranger than the default options allow.
fn decoder(vector: &Json) -> Decoder {
    let is_code = text(vector, "wants") == "refuse";
    Decoder::with_options(ReadOptions::new().with_code(is_code))
}

#[test]
fn every_vector_is_read_without_types() {
    let (mut rows, mut bad) = (0, Vec::new());
    for vector in vectors() {
        let name = text(&vector, "name");
        // Its class index is -1, which Perl takes for the last class.
        if name == "asm-ix-bless-negative" {
            assert!(Value::from_slice(&image(&vector)).is_err());
            continue;
        }
        rows += 1;
        let bytes = image(&vector);
        let value = match decoder(&vector).value(&bytes) {
            Ok(value) => value,
            Err(error) => {
                bad.push(format!("{name}: {error}"));
                continue;
            }
        };
        let (wanted, found) = (plain(root(&vector)), plain(&notation(&value)));
        if wanted != found && !WEAK_ALONE.contains(&name) {
            bad.push(format!("{name}:\n  want {wanted}\n  have {found}"));
        }
        if text(&vector, "wants") == "refuse" && Value::from_slice(&bytes).is_ok() {
            bad.push(format!("{name}: code is not refused"));
        }
    }
    println!("{rows} vectors");
    none_bad(rows, &bad);
}

#[test]
fn every_plain_vector_is_read_with_types() {
    let (mut rows, mut bad) = (0, Vec::new());
    for vector in vectors() {
        let name = text(&vector, "name");
        let bytes = image(&vector);
        let passed = decoder(&vector).decode::<IgnoredAny>(&bytes);
        if passed.is_err() && name != "asm-ix-bless-negative" {
            bad.push(format!("{name}: not passed over: {passed:?}"));
        }
        if vector["json"].is_null() || WEAK_ALONE.contains(&name) {
            continue;
        }
        rows += 1;
        match wiremark_storable::from_slice::<Json>(&bytes) {
            // Perl's JSON module cannot tell a boolean's value: `!!0` is `true` there.
            Ok(found) if same(&found, &vector["json"]) => {}
            Ok(found) => {
                bad.push(format!("{name}:\n  want {}\n  have {found}", vector["json"]));
            }
            Err(error) => bad.push(format!("{name}: {error}")),
        }
    }
    println!("{rows} vectors");
    none_bad(rows, &bad);
}

fn same(found: &Json, wanted: &Json) -> bool {
    match (found, wanted) {
        (Json::Array(found), Json::Array(wanted)) => {
            found.len() == wanted.len()
                && found.iter().zip(wanted).all(|(a, b)| same(a, b))
        }
        (Json::Object(found), Json::Object(wanted)) => {
            found.len() == wanted.len()
                && found
                    .iter()
                    .all(|(key, value)| wanted.get(key).is_some_and(|it| same(value, it)))
        }
        (Json::Bool(_), Json::Bool(_)) => true,
        (Json::Number(a), Json::Number(b)) => a.as_f64() == b.as_f64(),
        _ => found == wanted,
    }
}

#[test]
fn every_exact_vector_is_written_byte_for_byte() {
    let (mut rows, mut bad) = (0, Vec::new());
    for vector in vectors() {
        if vector["exact"] != Json::Bool(true) {
            continue;
        }
        rows += 1;
        let (name, mode) = (text(&vector, "name"), text(&vector, "mode"));
        let value = value_of(root(&vector));
        let mut out = Vec::new();
        let written = Encoder::with_options(options(mode)).encode_value(&value, &mut out);
        if written.is_err() || out != image(&vector) {
            bad.push(format!(
                "{name}: {written:?}\n  want {}\n  have {}",
                text(&vector, "hex"),
                hex(&out)
            ));
        }
    }
    println!("{rows} vectors");
    none_bad(rows, &bad);
}

#[test]
fn what_is_read_is_written_so_that_the_same_is_read() {
    let (mut rows, mut bad) = (0, Vec::new());
    for vector in vectors() {
        let (name, bytes) = (text(&vector, "name"), image(&vector));
        let Ok(value) = decoder(&vector).value(&bytes) else { continue };
        for mode in ["freeze", "nfreeze", "store", "nstore"] {
            rows += 1;
            let mut out = Vec::new();
            let written =
                Encoder::with_options(options(mode)).encode_value(&value, &mut out);
            let back = written.and_then(|()| {
                let back = decoder(&vector).value(&out)?;
                Ok(plain(&notation(&back)))
            });
            let wanted = plain(&notation(&value));
            match back {
                Ok(back) if back == wanted => {}
                // Integers and floats are text in network order.
                Ok(back) if mode.starts_with('n') && back != wanted => {
                    let numbers = wanted.to_string();
                    if !numbers.contains("f64") && !numbers.contains("\"int\"") {
                        bad.push(format!(
                            "{name} as {mode}:\n  want {wanted}\n  have {back}"
                        ));
                    }
                }
                other => bad.push(format!("{name} as {mode}: {other:?}, want {wanted}")),
            }
        }
    }
    none_bad(rows, &bad);
}

#[test]
fn plain_data_is_written_by_serde_byte_for_byte() {
    let (mut rows, mut bad) = (0, Vec::new());
    for vector in vectors() {
        let (name, mode) = (text(&vector, "name"), text(&vector, "mode"));
        let is_plain = !vector["json"].is_null() && vector["exact"] == Json::Bool(true);
        // Whole floats are floats for JSON and integers for Perl; the order of keys is by
        // bytes in `serde_json` as it is in the vectors.
        if !is_plain || text(&vector, "order") != "cmp" || WEAK_ALONE.contains(&name) {
            continue;
        }
        // What JSON does not tell apart: holes, the immortal undef, booleans.
        let node = root(&vector).to_string();
        if ["nonexistent", "immortal", "\"bool\""].iter().any(|what| node.contains(what))
        {
            continue;
        }
        rows += 1;
        let options =
            options(mode).with_booleans(Booleans::Tagged).with_perl_numbers(true);
        let mut out = Vec::new();
        let written = Encoder::with_options(options).encode(&vector["json"], &mut out);
        if written.is_err() || out != image(&vector) {
            bad.push(format!(
                "{name}: {written:?}\n  want {}\n  have {}",
                text(&vector, "hex"),
                hex(&out)
            ));
        }
    }
    println!("{rows} vectors");
    none_bad(rows, &bad);
}

#[test]
fn a_value_of_its_own_is_the_one_that_was_read() {
    let mut rows = 0;
    for vector in vectors() {
        let (name, bytes) = (text(&vector, "name"), image(&vector));
        let Ok(read) = decoder(&vector).value(&bytes) else { continue };
        rows += 1;
        let wanted = notation(&read);
        let own: Value<'static> = read.into_owned();
        drop(bytes);
        assert_eq!(notation(&own), wanted, "{name}");
    }
    assert!(rows > 300, "{rows}");
}

#[test]
fn images_that_follow_one_another_are_read() {
    for vector in load("stream.json") {
        let bytes = unhex(text(&vector, "hex"));
        let mut offset = 0;
        let mut decoder = Decoder::new();
        for document in list(&vector, "documents") {
            assert_eq!(document["offset"], offset);
            let rest = &bytes[offset..];
            assert!(Header::of(rest).unwrap().is_file());
            let (value, used) = decoder.value_prefix(rest).unwrap();
            assert_eq!(plain(&notation(&value)), plain(&document["value"]["ref"]));
            assert_eq!(document["consumed"], used);
            let (_, typed) = decoder.decode_prefix::<Json>(rest).unwrap();
            assert_eq!(typed, used);
            offset += used;
        }
        assert_eq!(offset, bytes.len());
    }
}

#[test]
fn every_prefix_of_an_image_is_cut() {
    let mut bad = Vec::new();
    for vector in vectors() {
        let bytes = image(&vector);
        if bytes.len() > 600 || text(&vector, "wants") == "refuse" {
            continue;
        }
        if Value::from_slice(&bytes).is_err() {
            continue;
        }
        for cut in 0..bytes.len() {
            let kinds = [
                Value::from_slice(&bytes[..cut]).map(drop),
                wiremark_storable::from_slice::<IgnoredAny>(&bytes[..cut]).map(drop),
            ];
            for kind in kinds {
                if !matches!(&kind, Err(error) if error.kind() == wiremark_storable::ErrorKind::Eof)
                {
                    bad.push(format!("{} cut to {cut}: {kind:?}", text(&vector, "name")));
                }
            }
        }
    }
    none_bad(1, &bad);
}
