//! Streams by Go, read without types and written again byte for byte.
#![allow(clippy::unwrap_used, reason = "what is not there fails the test")]

mod support;

use serde_json::json;
use support::{list, none_bad, notation, plain, streams, text, unhex, vectors};
use wiremark_gob::{
    Decoder, Deserializer, Dynamic, Encoder, OpaqueKind, ReadOptions, Schema, TypeKind,
    Value,
};

struct Read {
    dynamics: Vec<Dynamic>,
    schemas: Vec<Schema>,
}

fn read(stream: &[Vec<u8>]) -> wiremark_gob::Result<Read> {
    let (mut dynamics, mut schemas) = (Vec::new(), Vec::new());
    for part in stream {
        let options = ReadOptions::new().with_lenient_ends(true);
        let mut deserializer = Deserializer::from_slice(part).with_options(options);
        while let Some(dynamic) = deserializer.next_dynamic()? {
            dynamics.push(dynamic);
        }
        schemas.push(deserializer.schema());
    }
    Ok(Read { dynamics, schemas })
}

#[test]
fn every_vector_is_read_without_types() {
    let (mut rows, mut bad) = (0, Vec::new());
    for vector in vectors() {
        let name = text(&vector, "name");
        for (go, stream) in streams(&vector) {
            rows += 1;
            let read = match read(&stream) {
                Ok(read) => read,
                Err(error) => {
                    bad.push(format!("{name} ({go}): {error}"));
                    continue;
                }
            };
            let values = list(&vector, "values");
            // What no Encoder writes is told by the `decode` cases alone.
            if !values.is_empty() && values.len() != read.dynamics.len() {
                bad.push(format!("{name} ({go}): {} values", read.dynamics.len()));
            }
            for (wanted, found) in values.iter().zip(&read.dynamics) {
                let wanted = plain(if wanted["wire"].is_null() {
                    &wanted["value"]
                } else {
                    &wanted["wire"]
                });
                let found = plain(&notation(&found.value));
                if wanted != found {
                    bad.push(format!("{name} ({go}):\n  want {wanted}\n  have {found}"));
                }
            }
        }
    }
    none_bad(rows, &bad);
}

fn type_notation(schema: &Schema) -> serde_json::Value {
    let types = schema.types().map(|ty| {
        let mut json = match ty.kind() {
            TypeKind::Array { elem, len } => {
                json!({"kind": "array", "elem": elem, "len": len})
            }
            TypeKind::Slice { elem } => json!({"kind": "slice", "elem": elem}),
            TypeKind::Map { key, elem } => {
                json!({"kind": "map", "key": key, "elem": elem})
            }
            TypeKind::Struct(fields) => json!({"kind": "struct", "fields": fields}),
            TypeKind::Opaque(OpaqueKind::Gob) => json!({"kind": "gob_encoder"}),
            TypeKind::Opaque(_) => json!({"kind": "binary_marshaler"}),
        };
        json["id"] = ty.id().into();
        json["name"] = ty.name().into();
        if ty.inner_id() != i64::from(ty.id()) {
            json["inner_id"] = ty.inner_id().into();
        }
        json
    });
    types.collect()
}

#[test]
fn every_descriptor_is_what_go_sent() {
    let (mut rows, mut bad) = (0, Vec::new());
    for vector in vectors() {
        let name = text(&vector, "name");
        let Some((_, stream)) =
            streams(&vector).into_iter().find(|(go, _)| *go == "1.27")
        else {
            continue;
        };
        let Ok(read) = read(&stream) else { continue };
        let types: Vec<_> = read.schemas.iter().map(type_notation).collect();
        rows += 1;
        let found = match &types[..] {
            [one] if text(&vector, "encoders") != "fresh_each" => one.clone(),
            _ => types.into(),
        };
        // A type that sends the same descriptor to say that it has no fields says so.
        let mut wanted = vector["types"].clone();
        for ty in wanted.as_array_mut().into_iter().flatten() {
            if text(ty, "kind") == "struct" && ty["fields"].is_null() {
                ty["fields"] = json!([]);
            }
        }
        if wanted != found {
            bad.push(format!("{name}:\n  want {wanted}\n  have {found}"));
        }
    }
    none_bad(rows, &bad);
}

#[test]
fn every_deterministic_vector_is_written_again_byte_for_byte() {
    let (mut rows, mut bad) = (0, Vec::new());
    for vector in vectors() {
        let name = text(&vector, "name");
        // What no Encoder writes, ours does not write either.
        if !vector["strict"].is_null() {
            continue;
        }
        for (go, stream) in streams(&vector) {
            rows += 1;
            for part in &stream {
                let read = read(std::slice::from_ref(part)).unwrap();
                let mut encoder = Encoder::new(Vec::new());
                for dynamic in &read.dynamics {
                    encoder.encode_value(&read.schemas[0], dynamic).unwrap();
                }
                let written = encoder.into_inner();
                if written != *part {
                    bad.push(format!(
                        "{name} ({go}):\n  want {}\n  have {}",
                        support::hex(part),
                        support::hex(&written)
                    ));
                }
            }
        }
    }
    none_bad(rows, &bad);
}

#[test]
fn a_reader_that_gives_one_byte_at_a_time_gives_the_same_values() {
    struct Slow<'a>(&'a [u8]);

    impl std::io::Read for Slow<'_> {
        fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
            let few = to.len().min(1);
            std::io::Read::read(&mut self.0, &mut to[..few])
        }
    }

    let (mut rows, mut bad) = (0, Vec::new());
    for vector in vectors() {
        let name = text(&vector, "name");
        for (go, stream) in streams(&vector) {
            for part in &stream {
                rows += 1;
                let wanted = read(std::slice::from_ref(part)).unwrap().dynamics;
                let options = ReadOptions::new().with_lenient_ends(true);
                let mut decoder = Decoder::new(Slow(part)).with_options(options);
                let mut skipper = Decoder::new(Slow(part)).with_options(options);
                for (index, wanted) in wanted.iter().enumerate() {
                    match decoder.next_value::<Value>() {
                        Ok(Some(found))
                            if plain(&notation(&found))
                                == plain(&notation(&wanted.value)) => {}
                        other => bad.push(format!("{name} ({go}) {index}: {other:?}")),
                    }
                    let skipped = skipper.skip_value();
                    if !matches!(skipped, Ok(true))
                        || skipper.offset() != decoder.offset()
                    {
                        bad.push(format!("{name} ({go}) {index}: {skipped:?}"));
                    }
                }
                if !matches!(decoder.next_value::<Value>(), Ok(None)) {
                    bad.push(format!("{name} ({go}): no clean end"));
                }
            }
        }
    }
    none_bad(rows, &bad);
}

#[test]
fn the_bytes_of_the_description_are_read() {
    // `struct Inner { A int }` and `{A: 1}`.
    let stream = "187f03010105496e6e657201ff800001010101410104000000\
                  05ff80010200"
        .replace(' ', "");
    let value: Value = wiremark_gob::from_slice(&unhex(&stream)).unwrap();
    let Value::Struct(inner) = value else { panic!("{value:?}") };
    assert_eq!((inner.name(), inner.get("A")), ("Inner", Some(&Value::Int(1))));
}
