//! The vectors and the notation of their values (see `tests/data/README.md`).
#![allow(dead_code, reason = "each test target uses its own part of it")]
#![allow(clippy::unwrap_used, reason = "a broken vector fails the test")]

use std::fmt::Write;
use std::path::Path;

use serde_json::{Value as Json, json};
use wiremark_gob::{OpaqueKind, Value};

pub(crate) const GROUPS: &[&str] = &[
    "scalars",
    "slices",
    "maps_arrays",
    "structs",
    "pointers",
    "interfaces",
    "time_and_custom",
    "streams",
    "seeds",
    "compat",
    "foreign",
];

pub(crate) fn load(name: &str) -> Json {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// All vectors of all groups.
pub(crate) fn vectors() -> Vec<Json> {
    let load = |group: &&str| load(&format!("{group}.json"))["vectors"].take();
    let take = |json: Json| json.as_array().unwrap().clone();
    GROUPS.iter().map(load).flat_map(take).collect()
}

pub(crate) fn text<'a>(json: &'a Json, key: &str) -> &'a str {
    json[key].as_str().unwrap_or("")
}

pub(crate) fn list<'a>(json: &'a Json, key: &str) -> &'a [Json] {
    json[key].as_array().map_or(&[], Vec::as_slice)
}

pub(crate) fn unhex(hex: &str) -> Vec<u8> {
    let digit = |at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
    (0..hex.len()).step_by(2).map(digit).collect()
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut hex, byte| {
        write!(hex, "{byte:02x}").unwrap();
        hex
    })
}

/// The streams of a vector, by both Go versions: one, or one for each value.
pub(crate) fn streams(vector: &Json) -> Vec<(&'static str, Vec<Vec<u8>>)> {
    let mut streams = Vec::new();
    for (go, hex, ends) in [("1.27", "hex", "ends"), ("1.19", "hex_go119", "ends_go119")]
    {
        let Some(hex) = vector[hex].as_str() else { continue };
        let bytes = unhex(hex);
        if text(vector, "encoders") == "fresh_each" {
            let ends = if vector[ends].is_array() { ends } else { "ends" };
            let mut start = 0;
            let mut parts = Vec::new();
            for end in list(vector, ends) {
                let end = usize::try_from(end.as_u64().unwrap()).unwrap();
                parts.push(bytes[start..end].to_vec());
                start = end;
            }
            streams.push((go, parts));
        } else {
            streams.push((go, vec![bytes]));
        }
    }
    streams
}

fn bits(value: f64) -> String {
    format!("{:#018x}", value.to_bits())
}

/// A decoded value in the notation of the vectors.
pub(crate) fn notation(value: &Value) -> Json {
    let all = |values: &[Value]| values.iter().map(notation).collect::<Vec<_>>();
    match value {
        Value::Bool(value) => json!({"t": "bool", "v": value}),
        Value::Int(value) => json!({"t": "int", "v": value.to_string()}),
        Value::Uint(value) => json!({"t": "uint", "v": value.to_string()}),
        Value::Float(value) => json!({"t": "float", "v": bits(*value)}),
        Value::Complex(value) => {
            json!({"t": "complex", "v": [bits(value.re), bits(value.im)]})
        }
        Value::String(text) => json!({"t": "string", "v": text}),
        Value::RawString(bytes) => json!({"t": "string_raw", "v": hex(bytes)}),
        Value::Bytes(bytes) => json!({"t": "bytes", "v": hex(bytes)}),
        Value::Slice(values) => json!({"t": "slice", "v": all(values)}),
        Value::Array(values) => json!({"t": "array", "v": all(values)}),
        Value::Map(entries) => {
            let entries = entries
                .iter()
                .map(|(key, value)| json!([notation(key), notation(value)]));
            json!({"t": "map", "v": entries.collect::<Vec<_>>()})
        }
        Value::Struct(value) => {
            let fields =
                value.fields().map(|(name, value)| json!([name, notation(value)]));
            let fields = fields.collect::<Vec<_>>();
            json!({"t": "struct", "v": {"name": value.name(), "fields": fields}})
        }
        Value::Interface(inner) => {
            json!({"t": "interface", "v": {"name": inner.name, "value": notation(&inner.value)}})
        }
        Value::Nil => json!({"t": "nil"}),
        Value::Opaque(opaque) => {
            let kind = if opaque.kind == OpaqueKind::Gob { "gob" } else { "binary" };
            let hex = hex(&opaque.payload);
            json!({"t": "opaque", "v": {"kind": kind, "name": opaque.name, "hex": hex}})
        }
    }
}

/// The same without remarks, and with the entries of maps in an order of their own.
pub(crate) fn plain(json: &Json) -> Json {
    let inner = &json["v"];
    let all = |json: &Json| -> Vec<Json> {
        json.as_array().unwrap().iter().map(plain).collect()
    };
    match text(json, "t") {
        kind @ ("slice" | "array") => json!({"t": kind, "v": all(inner)}),
        "map" => {
            let mut entries: Vec<Json> = inner
                .as_array()
                .unwrap()
                .iter()
                .map(|entry| Json::Array(all(entry)))
                .collect();
            entries.sort_by_key(Json::to_string);
            json!({"t": "map", "v": entries})
        }
        "struct" => {
            let fields = list(inner, "fields").iter();
            let fields: Vec<_> =
                fields.map(|field| json!([field[0], plain(&field[1])])).collect();
            json!({"t": "struct", "v": {"name": text(inner, "name"), "fields": fields}})
        }
        "interface" => {
            let value = plain(&inner["value"]);
            json!({"t": "interface", "v": {"name": inner["name"], "value": value}})
        }
        "opaque" => json!({"t": "opaque", "v": {
            "kind": inner["kind"], "name": inner["name"], "hex": inner["hex"]}}),
        "nil" => json!({"t": "nil"}),
        kind => json!({"t": kind, "v": inner}),
    }
}

/// Reports all bad rows of a table, not the first.
#[track_caller]
pub(crate) fn none_bad(rows: usize, bad: &[String]) {
    assert!(rows > 0, "the table is empty");
    assert!(bad.is_empty(), "{} of {rows} rows:\n{}", bad.len(), bad.join("\n"));
}
