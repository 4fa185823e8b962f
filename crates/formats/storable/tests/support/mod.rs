//! The vectors and the notation of their values (see `tests/data/README.md`).
#![allow(dead_code, reason = "each test target uses its own part of it")]
#![allow(clippy::unwrap_used, reason = "a broken vector fails the test")]

use std::borrow::Cow;
use std::fmt::Write;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Value as Json, json};
use wiremark_storable::{
    Hook, HookKind, Key, Order, Pair, RefKind, Regexp, TieKind, VString, Value,
    WriteOptions,
};

pub(crate) const GROUPS: &[&str] = &[
    "assembled",
    "boolean",
    "code",
    "container",
    "float",
    "int",
    "native-be64",
    "native-le32",
    "object",
    "ref",
    "regexp",
    "root",
    "seed",
    "special",
    "str",
    "tied",
];

pub(crate) fn load(name: &str) -> Vec<Json> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
    let bytes = std::fs::read(path).unwrap();
    let mut deserializer = serde_json::Deserializer::from_slice(&bytes);
    deserializer.disable_recursion_limit();
    let mut json = Json::deserialize(&mut deserializer).unwrap();
    json["vectors"].as_array_mut().unwrap().drain(..).collect()
}

/// All golden images but the files of several.
pub(crate) fn vectors() -> Vec<Json> {
    GROUPS.iter().flat_map(|group| load(&format!("{group}.json"))).collect()
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

pub(crate) fn image(vector: &Json) -> Vec<u8> {
    let Some(runs) = vector["hex_runs"].as_array() else {
        return unhex(text(vector, "hex"));
    };
    let run = |run: &Json| {
        let times = usize::try_from(run[1].as_u64().unwrap()).unwrap();
        unhex(run[0].as_str().unwrap()).repeat(times)
    };
    runs.iter().flat_map(run).collect()
}

/// The options that write what Perl writes in a mode.
pub(crate) fn options(mode: &str) -> WriteOptions {
    let order = if mode.starts_with('n') { Order::Network } else { Order::Native };
    WriteOptions::new().with_order(order).with_file_magic(mode.ends_with("store"))
}

fn string(bytes: &[u8], is_flagged: bool) -> Json {
    let printable = |byte: &u8| (0x20..0x7f).contains(byte);
    match std::str::from_utf8(bytes) {
        Ok(text) if is_flagged => json!({"text": text}),
        _ if is_flagged => json!({"utf8x": hex(bytes)}),
        Ok(text) if bytes.iter().all(printable) => json!({"ascii": text}),
        _ => json!({"bytes": hex(bytes)}),
    }
}

fn class(name: &[u8]) -> Json {
    match string(name, false) {
        Json::Object(mut node) if node.contains_key("ascii") => {
            node.remove("ascii").unwrap()
        }
        node => node,
    }
}

fn tie(kind: TieKind) -> &'static str {
    match kind {
        TieKind::Array => "array",
        TieKind::Hash => "hash",
        TieKind::Scalar => "scalar",
    }
}

fn hash(pairs: &[Pair<'_>]) -> Json {
    let pairs = pairs.iter().filter(|pair| !pair.key.is_placeholder);
    pairs
        .map(|Pair { key, value }| {
            json!([string(&key.bytes, key.is_text), notation(value)])
        })
        .collect()
}

/// A value in the notation of the vectors.
pub(crate) fn notation(value: &Value<'_>) -> Json {
    match value {
        Value::Undef => json!({"undef": true}),
        Value::ImmortalUndef => json!({"undef": "immortal"}),
        Value::Hole => json!({"undef": "nonexistent"}),
        Value::Bool(value) => json!({"bool": value}),
        Value::Immortal(value) => json!({"bool": value, "immortal": true}),
        Value::Int(value) => json!({"int": value.to_string()}),
        Value::Double(value) => json!({"f64": format!("{:016x}", value.to_bits())}),
        Value::Bytes(bytes) => string(bytes, false),
        Value::Text(bytes) => string(bytes, true),
        Value::Array(elements) => {
            json!({"array": elements.iter().map(notation).collect::<Vec<_>>()})
        }
        Value::Hash(pairs) => json!({"hash": hash(pairs)}),
        Value::RestrictedHash(pairs) => {
            let keys = |is: fn(&Key<'_>) -> bool| {
                let pairs = pairs.iter().filter(|pair| is(&pair.key));
                pairs
                    .map(|pair| string(&pair.key.bytes, pair.key.is_text))
                    .collect::<Vec<_>>()
            };
            json!({
                "hash": hash(pairs),
                "restricted": true,
                "placeholders": keys(|key| key.is_placeholder),
                "locked": keys(|key| key.is_locked && !key.is_placeholder),
            })
        }
        Value::Ref(RefKind::Strong | RefKind::Overloaded, inner) => {
            json!({"ref": notation(inner)})
        }
        Value::Ref(_, inner) => json!({"weakref": notation(inner)}),
        Value::Blessed(name, inner) => match &**inner {
            Value::Regexp(_) if **name == *b"Regexp" => {
                let mut node = notation(inner);
                node.as_object_mut().unwrap().remove("unblessed");
                node
            }
            Value::Regexp(_) => {
                let mut node = notation(inner);
                node.as_object_mut().unwrap().remove("unblessed");
                json!({"blessed": class(name), "value": node})
            }
            _ => json!({"blessed": class(name), "value": notation(inner)}),
        },
        Value::Tied(kind, inner) => {
            json!({"tied": tie(*kind), "object": notation(inner)})
        }
        Value::TiedKey(both) => {
            json!({"tied_key": notation(&both.1), "object": notation(&both.0)})
        }
        Value::TiedIndex(inner, index) => {
            json!({"tied_index": index, "object": notation(inner)})
        }
        Value::Regexp(regexp) => json!({"regexp": {
            "pattern": string(&regexp.pattern, false),
            "flags": String::from_utf8_lossy(&regexp.modifiers),
        }, "unblessed": true}),
        Value::VString(vstring) => {
            json!({"vstring": hex(&vstring.source), "value": notation(&vstring.value)})
        }
        Value::Hook(hook) => {
            let of = match hook.kind {
                HookKind::Scalar => "scalar",
                HookKind::Array => "array",
                HookKind::Hash => "hash",
                HookKind::Tied(kind) => tie(kind),
            };
            json!({
                "hook": class(&hook.class),
                "of": of,
                "frozen": string(&hook.frozen, false),
                "refs": hook.refs.iter().map(notation).collect::<Vec<_>>(),
            })
        }
        Value::Code(inner) => match &**inner {
            Value::Bytes(bytes) => json!({"code": {"bytes": hex(bytes)}}),
            inner => json!({"code": notation(inner)}),
        },
        Value::Shared(id, inner) => {
            let mut node = notation(inner);
            node["id"] = json!(id);
            node
        }
        Value::Same(id) => json!({"same": id}),
        other => panic!("{other:?}"),
    }
}

/// The same with one way to write each thing: ids in the order of their places, no approximate
/// numbers, all NaN alike, the last of equal keys, pairs in the order of their keys.
pub(crate) fn plain(json: &Json) -> Json {
    let mut json = simple(json);
    let mut ids = Vec::new();
    renumber(&mut json, &mut ids);
    json
}

fn renumber(json: &mut Json, ids: &mut Vec<u64>) {
    match json {
        Json::Array(all) => all.iter_mut().for_each(|node| renumber(node, ids)),
        Json::Object(node) => {
            for key in ["id", "same"] {
                if let Some(id) = node.get_mut(key) {
                    let number = id.as_u64().unwrap();
                    let index = ids.iter().position(|id| *id == number);
                    *id = json!(index.unwrap_or_else(|| {
                        ids.push(number);
                        ids.len() - 1
                    }));
                }
            }
            for (key, node) in node.iter_mut() {
                if !matches!(key.as_str(), "id" | "same") {
                    renumber(node, ids);
                }
            }
        }
        _ => {}
    }
}

fn simple(json: &Json) -> Json {
    match json {
        Json::Array(all) => all.iter().map(simple).collect(),
        Json::Object(node) => {
            let mut node = node.clone();
            node.remove("approx");
            if let (Some(unit), Some(times)) = (node.get("repeat"), node.get("times")) {
                let times = usize::try_from(times.as_u64().unwrap()).unwrap();
                return json!({"ascii": unit.as_str().unwrap().repeat(times)});
            }
            if let Some(bits) = node.get_mut("f64") {
                let number = u64::from_str_radix(bits.as_str().unwrap(), 16).unwrap();
                if f64::from_bits(number).is_nan() {
                    *bits = json!("NaN");
                }
            }
            for (key, inner) in &mut node {
                *inner = simple(inner);
                if key == "hash" && inner.is_array() {
                    let mut last = Vec::<Json>::new();
                    for pair in inner.as_array().unwrap() {
                        last.retain(|other| other[0] != pair[0]);
                        last.push(pair.clone());
                    }
                    last.sort_by_key(|pair| pair[0].to_string());
                    *inner = last.into();
                }
                if matches!(key.as_str(), "placeholders" | "locked") {
                    inner.as_array_mut().unwrap().sort_by_key(Json::to_string);
                }
            }
            Json::Object(node)
        }
        other => other.clone(),
    }
}

fn bytes_of(node: &Json) -> Option<(Vec<u8>, bool)> {
    let get = |key| node[key].as_str();
    if let Some(text) = get("ascii") {
        Some((text.as_bytes().to_vec(), false))
    } else if let Some(hex) = get("bytes") {
        Some((unhex(hex), false))
    } else if let Some(unit) = get("repeat") {
        let times = usize::try_from(node["times"].as_u64().unwrap()).unwrap();
        Some((unit.repeat(times).into_bytes(), false))
    } else if let Some(text) = get("text") {
        Some((text.as_bytes().to_vec(), true))
    } else {
        get("utf8x").map(|hex| (unhex(hex), true))
    }
}

fn class_of(node: &Json) -> Cow<'static, [u8]> {
    match node.as_str() {
        Some(name) => Cow::Owned(name.as_bytes().to_vec()),
        None => Cow::Owned(bytes_of(node).unwrap().0),
    }
}

fn regexp_of(node: &Json) -> Value<'static> {
    Value::Regexp(Box::new(Regexp {
        pattern: Cow::Owned(bytes_of(&node["regexp"]["pattern"]).unwrap().0),
        modifiers: Cow::Owned(text(&node["regexp"], "flags").as_bytes().to_vec()),
    }))
}

fn tie_of(kind: &str) -> TieKind {
    match kind {
        "array" => TieKind::Array,
        "hash" => TieKind::Hash,
        _ => TieKind::Scalar,
    }
}

/// The value that a node of the notation stands for.
pub(crate) fn value_of(node: &Json) -> Value<'static> {
    if let Some(id) = node["same"].as_u64() {
        return Value::Same(id);
    }
    let value = bare_value_of(node);
    match node["id"].as_u64() {
        Some(id) => Value::Shared(id, Box::new(value)),
        None => value,
    }
}

fn bare_value_of(node: &Json) -> Value<'static> {
    let has = |key: &str| !node[key].is_null();
    let boxed = |key: &str| Box::new(value_of(&node[key]));
    if let Some((bytes, is_flagged)) = bytes_of(node).filter(|_| !has("tied")) {
        let bytes = Cow::Owned(bytes);
        return if is_flagged { Value::Text(bytes) } else { Value::Bytes(bytes) };
    }
    if has("undef") {
        match node["undef"].as_str() {
            Some("immortal") => Value::ImmortalUndef,
            Some(_) => Value::Hole,
            None => Value::Undef,
        }
    } else if let Some(value) = node["bool"].as_bool() {
        if has("immortal") { Value::Immortal(value) } else { Value::Bool(value) }
    } else if has("int") {
        Value::Int(text(node, "int").parse().unwrap())
    } else if has("f64") {
        let bits = u64::from_str_radix(text(node, "f64"), 16).unwrap();
        Value::Double(f64::from_bits(bits))
    } else if has("array") {
        Value::Array(list(node, "array").iter().map(value_of).collect())
    } else if has("tied") {
        Value::Tied(tie_of(text(node, "tied")), boxed("object"))
    } else if has("hash") {
        let pair = |pair: &Json| {
            let (bytes, is_text) = bytes_of(&pair[0]).unwrap();
            let is_locked = list(node, "locked").contains(&pair[0]);
            let bytes = Cow::Owned(bytes);
            let key = Key { bytes, is_text, is_locked, is_placeholder: false };
            Pair { key, value: value_of(&pair[1]) }
        };
        let mut pairs: Vec<_> = list(node, "hash").iter().map(pair).collect();
        if !has("restricted") {
            return Value::Hash(pairs);
        }
        for key in list(node, "placeholders") {
            let (bytes, is_text) = bytes_of(key).unwrap();
            let bytes = Cow::Owned(bytes);
            let key = Key { bytes, is_text, is_locked: true, is_placeholder: true };
            pairs.push(Pair { key, value: Value::ImmortalUndef });
        }
        Value::RestrictedHash(pairs)
    } else if has("ref") {
        Value::Ref(RefKind::Strong, boxed("ref"))
    } else if has("weakref") {
        Value::Ref(RefKind::Weak, boxed("weakref"))
    } else if has("blessed") {
        let inner = &node["value"];
        let inner = if inner["regexp"].is_null() {
            boxed("value")
        } else {
            // Its class stands around it.
            Box::new(regexp_of(inner))
        };
        Value::Blessed(class_of(&node["blessed"]), inner)
    } else if has("regexp") {
        let regexp = regexp_of(node);
        if has("unblessed") {
            return regexp;
        }
        Value::Blessed(Cow::Borrowed(b"Regexp"), Box::new(regexp))
    } else if has("vstring") {
        let source = Cow::Owned(unhex(text(node, "vstring")));
        Value::VString(Box::new(VString { source, value: value_of(&node["value"]) }))
    } else if has("hook") {
        let kind = match text(node, "of") {
            "scalar" => HookKind::Scalar,
            "array" => HookKind::Array,
            _ => HookKind::Hash,
        };
        Value::Hook(Box::new(Hook {
            class: class_of(&node["hook"]),
            kind,
            frozen: Cow::Owned(bytes_of(&node["frozen"]).unwrap().0),
            refs: list(node, "refs").iter().map(value_of).collect(),
            others: Vec::new(),
            tie: None,
        }))
    } else if has("code") {
        Value::Code(boxed("code"))
    } else {
        panic!("{node}")
    }
}

/// The value of a vector's image: the notation has a reference to the root around it.
pub(crate) fn root(vector: &Json) -> &Json {
    let value = if vector["wire"].is_null() { &vector["value"] } else { &vector["wire"] };
    &value["ref"]
}

/// Reports all bad rows of a table, not the first.
#[track_caller]
pub(crate) fn none_bad(rows: usize, bad: &[String]) {
    assert!(rows > 0, "the table is empty");
    assert!(bad.is_empty(), "{} of {rows} rows:\n{}", bad.len(), bad.join("\n"));
}
