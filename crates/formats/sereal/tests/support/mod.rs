//! The vectors and the notation of their values (see `tests/data/README.md`).
#![allow(dead_code, reason = "each test target uses its own part of it")]
#![allow(clippy::unwrap_used, reason = "a broken vector fails the test")]

use std::collections::HashMap;
use std::fmt::Write;
use std::path::Path;

use serde_json::{Map, Value as Json, json};
use wiremark_datasets::Value as Plain;
use wiremark_sereal::{
    Compression, Dedupe, Frozen, Immortal, Item, KeyOrder, Object, ReadOptions, Regexp,
    Shared, Str, Value, Version, WriteOptions,
};

pub(crate) const GROUPS: &[&str] = &[
    "assembled",
    "canonical",
    "compress",
    "container",
    "dedupe",
    "float",
    "header",
    "int",
    "numstr",
    "object",
    "ref",
    "regexp",
    "seed",
    "special",
    "str",
    "unknown",
];

pub(crate) fn load(name: &str) -> Vec<Json> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(format!("{name}.json"));
    let bytes = std::fs::read(path).unwrap();
    // The notation has two levels for one of the value.
    let mut reader = serde_json::Deserializer::from_slice(&bytes);
    reader.disable_recursion_limit();
    let mut json = <Json as serde::Deserialize>::deserialize(&mut reader).unwrap();
    json["vectors"].take().as_array().unwrap().clone()
}

/// All golden documents.
pub(crate) fn vectors() -> Vec<Json> {
    GROUPS.iter().flat_map(|group| load(group)).collect()
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

/// The bytes of a record.
pub(crate) fn document(vector: &Json) -> Vec<u8> {
    if let Some(hex) = vector["hex"].as_str() {
        return unhex(hex);
    }
    let runs = list(vector, "hex_runs").iter();
    let run = |run: &Json| {
        unhex(run[0].as_str().unwrap())
            .repeat(usize::try_from(run[1].as_u64().unwrap()).unwrap())
    };
    runs.flat_map(run).collect()
}

fn number(options: &Json, key: &str) -> u64 {
    let value = &options[key];
    value.as_u64().or_else(|| value.as_str()?.parse().ok()).unwrap_or(0)
}

/// The options of Perl's encoder that ours has too.
pub(crate) fn write_options(vector: &Json) -> WriteOptions {
    let perl = &vector["encoder"];
    let version = u8::try_from(number(perl, "protocol_version")).unwrap();
    let mut options = WriteOptions::new();
    if version > 0 {
        options = options.with_version(Version::from_number(version).unwrap());
    }
    if number(perl, "canonical") > 0 {
        options = options.with_canonical();
    }
    options = options.with_key_order(match number(perl, "sort_keys") {
        0 if number(perl, "canonical") == 0 => KeyOrder::Kept,
        2 => KeyOrder::Characters,
        3 => KeyOrder::CharactersReversed,
        _ => KeyOrder::Length,
    });
    if number(perl, "canonical_refs") > 0 {
        options = options.with_canonical_refs(true);
    }
    if number(perl, "no_shared_hashkeys") > 0 {
        options = options.with_shared_keys(false);
    }
    if number(perl, "dedupe_strings") > 0 {
        options = options.with_dedupe(Dedupe::Copy);
    }
    if number(perl, "aliased_dedupe_strings") > 0 {
        options = options.with_dedupe(Dedupe::Alias);
    }
    let level = u8::try_from(number(perl, "compress_level")).unwrap();
    let or = |default| if level == 0 { default } else { level };
    let compression = match number(perl, "compress") {
        _ if number(perl, "snappy") > 0 => Compression::Snappy,
        _ if number(perl, "snappy_incr") > 0 => Compression::SnappyIncremental,
        1 => Compression::Snappy,
        2 => Compression::Zlib(or(6)),
        3 => Compression::Zstd(or(3)),
        _ => Compression::None,
    };
    options = options.with_compression(compression);
    if !perl["compress_threshold"].is_null() {
        let threshold = usize::try_from(number(perl, "compress_threshold")).unwrap();
        options = options.with_compress_threshold(threshold);
    }
    options
}

/// The options of Perl's decoder that ours has too.
pub(crate) fn read_options(vector: &Json) -> ReadOptions {
    let perl = &vector["decoder"];
    let mut options = ReadOptions::new();
    let mut limit = |key: &str, with: fn(ReadOptions, usize) -> ReadOptions| {
        if !perl[key].is_null() {
            options = with(options, usize::try_from(number(perl, key)).unwrap());
        }
    };
    limit("max_num_array_entries", ReadOptions::with_max_array_entries);
    limit("max_num_hash_entries", ReadOptions::with_max_hash_entries);
    limit("max_string_length", ReadOptions::with_max_string_bytes);
    limit("max_uncompressed_size", ReadOptions::with_max_decompressed_bytes);
    limit("max_recursion_depth", |options, levels| {
        options.with_max_depth(u32::try_from(levels).unwrap())
    });
    let is_on = |key| number(perl, key) > 0;
    options.with_objects_refused(is_on("refuse_objects")).with_compressions_refused(
        is_on("refuse_snappy"),
        is_on("refuse_zlib"),
        is_on("refuse_zstd"),
    )
}

fn string_notation(text: &Str<'_>) -> Json {
    let is_printable = |byte: &u8| (0x20..0x7f).contains(byte);
    match (text.is_text(), text.as_str()) {
        (false, Some(ascii)) if ascii.as_bytes().iter().all(is_printable) => {
            json!({"ascii": ascii})
        }
        (false, _) => json!({"bytes": hex(text.as_bytes())}),
        (true, Some(text)) => json!({"text": text}),
        (true, None) => json!({"utf8x": hex(text.as_bytes())}),
    }
}

fn class_notation(class: &Str<'_>) -> Json {
    let mut node = string_notation(class);
    // A flagged class of ASCII is written as one without the flag.
    match class.as_str() {
        Some(class) if class.is_ascii() => class.into(),
        _ => node.take(),
    }
}

fn referent(value: &Value<'_>) -> Json {
    notation(value)["ref"].take()
}

fn with_id(mut node: Json, id: u32) -> Json {
    node["id"] = id.into();
    node
}

/// A value in the notation of the vectors.
pub(crate) fn notation(value: &Value<'_>) -> Json {
    match value {
        Value::Undef => json!({"undef": true}),
        Value::Bool(value) => json!({"bool": value}),
        Value::Int(value) => json!({"int": value.to_string()}),
        Value::Uint(value) => json!({"int": value.to_string()}),
        Value::Float(value) => json!({"f64": format!("{:016x}", value.to_bits())}),
        Value::Str(text) => string_notation(text),
        Value::Array(values) => {
            json!({"ref": {"array": values.iter().map(notation).collect::<Vec<_>>()}})
        }
        Value::Hash(pairs) => {
            let pairs = pairs
                .iter()
                .map(|(key, value)| json!([string_notation(key), notation(value)]));
            json!({"ref": {"hash": pairs.collect::<Vec<_>>()}})
        }
        Value::Ref(value) => json!({"ref": notation(value)}),
        Value::Regexp(regexp) => {
            let (pattern, flags) =
                (string_notation(&regexp.pattern), regexp.flags.to_text());
            json!({"ref": {"regexp": {"pattern": pattern, "flags": flags}, "unblessed": true}})
        }
        Value::Object(object) => {
            let mut inner = referent(&object.value);
            if object.class.as_bytes() == b"Regexp" && !inner["regexp"].is_null() {
                inner.as_object_mut().unwrap().remove("unblessed");
                return json!({"ref": inner});
            }
            let fields = inner.as_object_mut().unwrap();
            fields.remove("unblessed");
            let id = fields.remove("id");
            let mut node =
                json!({"blessed": class_notation(&object.class), "value": inner});
            if let Some(id) = id {
                node["id"] = id;
            }
            json!({"ref": node})
        }
        Value::Frozen(frozen) => {
            let mut inner = referent(&frozen.arguments);
            let mut node = json!({
                "frozen": class_notation(&frozen.class), "args": inner["array"].take()});
            if !inner["id"].is_null() {
                node["id"] = inner["id"].take();
            }
            json!({"ref": node})
        }
        Value::Weak(value) => json!({"weakref": referent(value)}),
        Value::Immortal(Immortal::Undef) => json!({"undef": "immortal"}),
        Value::Immortal(value) => {
            json!({"bool": *value == Immortal::True, "immortal": true})
        }
        Value::Shared(shared) if shared.item == Item::Referent => {
            json!({"ref": with_id(referent(&shared.value), shared.id)})
        }
        Value::Shared(shared) => with_id(notation(&shared.value), shared.id),
        Value::SameRef(id) => json!({"ref": {"same": id}}),
        Value::Alias(id) => json!({"same": id}),
        other => panic!("{other:?}"),
    }
}

fn string_of(node: &Json) -> Option<Str<'static>> {
    if let Some(text) = node["ascii"].as_str() {
        Some(Str::bytes(text.as_bytes().to_vec()))
    } else if let Some(text) = node["bytes"].as_str() {
        Some(Str::bytes(unhex(text)))
    } else if let Some(text) = node["text"].as_str() {
        Some(Str::text(text.to_owned()))
    } else if let Some(text) = node["utf8x"].as_str() {
        Some(Str::wide(unhex(text)))
    } else if let Some(unit) = node["repeat"].as_str() {
        let times = usize::try_from(node["times"].as_u64().unwrap()).unwrap();
        Some(Str::bytes(unit.repeat(times).into_bytes()))
    } else {
        node.as_str().map(|class| Str::bytes(class.as_bytes().to_vec()))
    }
}

fn without_id(node: &Json) -> Json {
    let mut node = node.clone();
    node.as_object_mut().unwrap().remove("id");
    node
}

/// A node of the notation as a value.
pub(crate) fn value_of(node: &Json) -> Value<'static> {
    if let Some(id) = node["same"].as_u64() {
        return Value::Alias(u32::try_from(id).unwrap());
    }
    if let Some(id) = node["id"].as_u64() {
        let id = u32::try_from(id).unwrap();
        let value = value_of(&without_id(node));
        return Value::Shared(Box::new(Shared { id, item: Item::Scalar, value }));
    }
    if let Some(text) = string_of(node) {
        return Value::Str(text);
    }
    if let Some(target) = node.get("weakref") {
        return Value::Weak(Box::new(reference_to(target)));
    }
    if let Some(target) = node.get("ref") {
        return reference_to(target);
    }
    if let Some(int) = node["int"].as_str() {
        return int
            .parse()
            .map_or_else(|_| Value::Uint(int.parse().unwrap()), Value::Int);
    }
    if let Some(bits) = node["f64"].as_str() {
        return Value::Float(f64::from_bits(u64::from_str_radix(bits, 16).unwrap()));
    }
    if let Some(value) = node["bool"].as_bool() {
        return match (node["immortal"].as_bool(), value) {
            (Some(true), true) => Value::Immortal(Immortal::True),
            (Some(true), false) => Value::Immortal(Immortal::False),
            _ => Value::Bool(value),
        };
    }
    match node["undef"].as_str() {
        Some("immortal") => Value::Immortal(Immortal::Undef),
        _ if node["undef"].is_null() => panic!("{node}"),
        _ => Value::Undef,
    }
}

fn reference_to(target: &Json) -> Value<'static> {
    if let Some(id) = target["same"].as_u64() {
        return Value::SameRef(u32::try_from(id).unwrap());
    }
    if let Some(class) = target.get("blessed") {
        let mut inner = target["value"].clone();
        if !target["id"].is_null() {
            inner["id"] = target["id"].clone();
        }
        let class = string_of(class).unwrap();
        return Value::Object(Box::new(Object { class, value: reference_to(&inner) }));
    }
    if let Some(class) = target.get("frozen") {
        let mut inner = json!({"array": target["args"]});
        if !target["id"].is_null() {
            inner["id"] = target["id"].clone();
        }
        let class = string_of(class).unwrap();
        return Value::Frozen(Box::new(Frozen {
            class,
            arguments: reference_to(&inner),
        }));
    }
    let container = if let Some(values) = target["array"].as_array() {
        Value::Array(values.iter().map(value_of).collect())
    } else if let Some(pairs) = target["hash"].as_array() {
        let pair = |pair: &Json| (string_of(&pair[0]).unwrap(), value_of(&pair[1]));
        Value::Hash(pairs.iter().map(pair).collect())
    } else if let Some(regexp) = target.get("regexp") {
        Value::Regexp(Box::new(Regexp {
            pattern: string_of(&regexp["pattern"]).unwrap(),
            flags: Str::bytes(text(regexp, "flags").as_bytes().to_vec()),
        }))
    } else {
        return Value::Ref(Box::new(value_of(target)));
    };
    let value = match target["id"].as_u64() {
        Some(id) => Value::Shared(Box::new(Shared {
            id: u32::try_from(id).unwrap(),
            item: Item::Referent,
            value: container,
        })),
        None => container,
    };
    if target.get("regexp").is_some() && target["unblessed"].is_null() {
        let class = Str::bytes(&b"Regexp"[..]);
        return Value::Object(Box::new(Object { class, value }));
    }
    value
}

/// The same without remarks, and with the pairs of hashes in an order of their own where the
/// order says nothing.
pub(crate) fn plain(node: &Json, is_ordered: bool) -> Json {
    match node {
        Json::Array(nodes) => nodes.iter().map(|node| plain(node, is_ordered)).collect(),
        Json::Object(fields) => {
            if let Some(text) = string_of(node) {
                return string_notation(&text);
            }
            let mut all = Map::new();
            for (key, field) in fields {
                let field = match key.as_str() {
                    "approx" => continue,
                    "f64" if is_nan(field) => "NaN".into(),
                    "undef" if field == "nonexistent" => true.into(),
                    "hash" if !is_ordered => {
                        let mut pairs: Vec<Json> = field
                            .as_array()
                            .unwrap()
                            .iter()
                            .map(|pair| plain(pair, is_ordered))
                            .collect();
                        pairs.sort_by_key(Json::to_string);
                        pairs.into()
                    }
                    _ => plain(field, is_ordered),
                };
                all.insert(key.clone(), field);
            }
            all.into()
        }
        other => other.clone(),
    }
}

fn is_nan(bits: &Json) -> bool {
    u64::from_str_radix(bits.as_str().unwrap(), 16)
        .is_ok_and(|bits| f64::from_bits(bits).is_nan())
}

/// What a vector's value is on the wire.
pub(crate) fn wanted(vector: &Json) -> &Json {
    if vector["wire"].is_null() { &vector["value"] } else { &vector["wire"] }
}

/// Reports all bad rows of a table, not the first.
#[track_caller]
pub(crate) fn none_bad(rows: usize, bad: &[String]) {
    assert!(rows > 0, "the table is empty");
    assert!(bad.is_empty(), "{} of {rows} rows:\n{}", bad.len(), bad.join("\n"));
}

pub(crate) fn shorten(text: &(impl ToString + ?Sized)) -> String {
    text.to_string().chars().take(400).collect()
}

/// A value that loses nothing by it, as JSON.
pub(crate) fn plain_json(node: &Json) -> Json {
    let node = node.get("ref").unwrap_or(node);
    let node = if node.get("blessed").is_some() { &node["value"] } else { node };
    if let Some(values) = node["array"].as_array() {
        return values.iter().map(plain_json).collect();
    }
    if let Some(pairs) = node["hash"].as_array() {
        let pair = |pair: &Json| {
            let key = string_of(&pair[0]).unwrap().to_text().into_owned();
            (key, plain_json(&pair[1]))
        };
        return Json::Object(pairs.iter().map(pair).collect());
    }
    match value_of(node) {
        Value::Undef => Json::Null,
        Value::Bool(value) => value.into(),
        Value::Int(value) => value.into(),
        Value::Uint(value) => value.into(),
        Value::Float(value) => value.into(),
        Value::Str(text) => text.to_text().into_owned().into(),
        other => panic!("{other:?}"),
    }
}

/// What a typed read makes of a value: plain data, with what is shared written out. None if it
/// is part of itself.
pub(crate) fn written_out(value: &Value<'_>) -> Option<Plain> {
    expand(value, &mut HashMap::new())
}

/// What has which number; none while it is being read.
type Known = HashMap<u32, Option<Plain>>;

fn expand(value: &Value<'_>, known: &mut Known) -> Option<Plain> {
    Some(match value {
        Value::Undef | Value::Immortal(Immortal::Undef) => Plain::Null,
        Value::Bool(value) => Plain::Bool(*value),
        Value::Immortal(value) => Plain::Bool(*value == Immortal::True),
        Value::Int(value) => Plain::from(*value),
        Value::Uint(value) => Plain::from(*value),
        Value::Float(value) => Plain::from(*value),
        Value::Str(text) => plain_string(text),
        Value::Array(values) => Plain::Array(
            values.iter().map(|value| expand(value, known)).collect::<Option<_>>()?,
        ),
        Value::Hash(pairs) => {
            let pair = |(key, value): &(Str<'_>, Value<'_>)| {
                Some((plain_string(key), expand(value, known)?))
            };
            Plain::Map(pairs.iter().map(pair).collect::<Option<_>>()?)
        }
        Value::Ref(value) | Value::Weak(value) => expand(value, known)?,
        Value::Regexp(regexp) => plain_string(&regexp.pattern),
        Value::Object(object) => expand(&object.value, known)?,
        Value::Frozen(frozen) => expand(&frozen.arguments, known)?,
        Value::Shared(shared) => {
            known.insert(shared.id, None);
            let value = expand(&shared.value, known)?;
            known.insert(shared.id, Some(value.clone()));
            value
        }
        Value::SameRef(id) | Value::Alias(id) => known.get(id).unwrap().clone()?,
        other => panic!("{other:?}"),
    })
}

fn plain_string(text: &Str<'_>) -> Plain {
    match text.as_str() {
        Some(text) => Plain::from(text),
        None => Plain::Bytes(text.as_bytes().to_vec()),
    }
}
