//! Streams decoded into other types: what Go accepts and refuses, by its own table.
//!
//! The Go types of the vectors are parsed and become targets of serde, so that new vectors need
//! no new code.
#![allow(clippy::unwrap_used, reason = "what is not there fails the test")]

mod support;

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Value as Json, json};
use support::{list, none_bad, notation, plain, streams, text, vectors};
use wiremark_gob::{
    Complex, Deserializer, Interface, Opaque, OpaqueKind, ReadOptions, Value,
};

/// A Go type.
#[derive(Clone, Debug)]
enum Go {
    Bool,
    Int(u32),
    Uint(u32),
    Float(u32),
    Complex,
    String,
    Bytes,
    Slice(Box<Go>),
    Array(usize, Box<Go>),
    Map(Box<Go>, Box<Go>),
    /// The exported fields, and the names of all.
    Struct(Vec<&'static str>, Vec<Go>, &'static [&'static str]),
    Pointer(Box<Go>),
    Any,
    /// An interface that no value of the vectors implements.
    Shape,
    Opaque(OpaqueKind),
    Named(String),
}

type Names = BTreeMap<String, Go>;

struct Parser<'a>(&'a str);

impl Parser<'_> {
    fn eat(&mut self, token: &str) -> bool {
        self.0 = self.0.trim_start();
        match self.0.strip_prefix(token) {
            Some(rest) => {
                self.0 = rest;
                true
            }
            None => false,
        }
    }

    fn word(&mut self) -> String {
        self.0 = self.0.trim_start();
        let end = self.0.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '.');
        let (word, rest) = self.0.split_at(end.unwrap_or(self.0.len()));
        self.0 = rest;
        word.to_owned()
    }

    fn ty(&mut self) -> Go {
        if self.eat("*") {
            // Pointers to pointers are one on the wire.
            return match self.ty() {
                Go::Pointer(inner) => Go::Pointer(inner),
                inner => Go::Pointer(Box::new(inner)),
            };
        }
        if self.eat("[]") {
            return match self.ty() {
                Go::Uint(8) => Go::Bytes,
                elem => Go::Slice(Box::new(elem)),
            };
        }
        if self.eat("[") {
            let len = self.word().parse().unwrap();
            assert!(self.eat("]"));
            return Go::Array(len, Box::new(self.ty()));
        }
        if self.eat("map[") {
            let key = self.ty();
            assert!(self.eat("]"));
            return Go::Map(Box::new(key), Box::new(self.ty()));
        }
        if self.eat("interface {}") || self.eat("interface{}") {
            return Go::Any;
        }
        if self.eat("struct") {
            assert!(self.eat("{"));
            let (mut names, mut types, mut all) = (Vec::new(), Vec::new(), Vec::new());
            while !self.eat("}") {
                let mut some = Vec::new();
                let embedded = self.eat("*");
                some.push(self.word());
                while self.eat(",") {
                    some.push(self.word());
                }
                self.0 = self.0.trim_start();
                let ty = if self.0.starts_with([';', '}']) {
                    let base = Go::Named(some[0].clone());
                    if embedded { Go::Pointer(Box::new(base)) } else { base }
                } else {
                    self.ty()
                };
                for name in some {
                    let name: &'static str = name.leak();
                    all.push(name);
                    if name.starts_with(char::is_uppercase) {
                        names.push(name);
                        types.push(ty.clone());
                    }
                }
                self.eat(";");
            }
            return Go::Struct(names, types, all.leak());
        }
        let word = self.word();
        match word.strip_prefix("main.").unwrap_or(&word) {
            "bool" => Go::Bool,
            "int" | "int64" => Go::Int(64),
            "int32" | "rune" => Go::Int(32),
            "int16" => Go::Int(16),
            "int8" => Go::Int(8),
            "uint" | "uint64" | "uintptr" => Go::Uint(64),
            "uint32" => Go::Uint(32),
            "uint16" => Go::Uint(16),
            "uint8" | "byte" => Go::Uint(8),
            "float64" => Go::Float(64),
            "float32" => Go::Float(32),
            "complex128" | "complex64" => Go::Complex,
            "string" => Go::String,
            "any" => Go::Any,
            "Shape" => Go::Shape,
            "time.Time" | "big.Int" | "Rev" => Go::Opaque(OpaqueKind::Gob),
            "Blob" => Go::Opaque(OpaqueKind::Binary),
            name => Go::Named(name.to_owned()),
        }
    }
}

/// The types that the vectors declare.
fn declared() -> Names {
    let mut names = Names::from([("MyStr".to_owned(), Go::String)]);
    for vector in vectors() {
        for declaration in text(&vector, "decl").split("type ").skip(1) {
            let mut parser = Parser(declaration);
            let name = parser.word();
            // Types with methods or arguments stand in no case.
            if !parser.0.contains("//") && !parser.0.starts_with('[') {
                names.insert(name, parser.ty());
            }
        }
    }
    names
}

/// A Go variable, as a target of serde that gives its value in the notation of the vectors.
#[derive(Clone, Copy)]
struct Into<'a> {
    ty: &'a Go,
    names: &'a Names,
    /// What the variable holds before.
    old: Option<&'a Json>,
}

impl<'a> Into<'a> {
    fn to(self, ty: &'a Go) -> Self {
        Self { ty, old: None, ..self }
    }
}

/// The zero value of a type.
fn zero(ty: &Go, names: &Names) -> Json {
    let float = "0x0000000000000000";
    match ty {
        Go::Bool => json!({"t": "bool", "v": false}),
        Go::Int(_) => json!({"t": "int", "v": "0"}),
        Go::Uint(_) => json!({"t": "uint", "v": "0"}),
        Go::Float(_) => json!({"t": "float", "v": float}),
        Go::Complex => json!({"t": "complex", "v": [float, float]}),
        Go::String => json!({"t": "string", "v": ""}),
        Go::Bytes => json!({"t": "bytes", "v": ""}),
        Go::Slice(_) => json!({"t": "slice", "v": []}),
        Go::Array(len, elem) => json!({"t": "array", "v": vec![zero(elem, names); *len]}),
        Go::Map(..) => json!({"t": "map", "v": []}),
        Go::Struct(fields, types, _) => {
            structure(fields.iter().zip(types).map(|(name, ty)| (*name, zero(ty, names))))
        }
        Go::Pointer(_) | Go::Any | Go::Shape => json!({"t": "nil"}),
        Go::Opaque(_) => json!({"t": "opaque", "v": {"hex": ""}}),
        Go::Named(name) => zero(&names[name], names),
    }
}

fn structure<'a>(fields: impl Iterator<Item = (&'a str, Json)>) -> Json {
    let fields: Vec<_> = fields.map(|(name, value)| json!([name, value])).collect();
    json!({"t": "struct", "v": {"name": "", "fields": fields}})
}

#[expect(clippy::needless_pass_by_value, reason = "numbers")]
fn number<T: ToString>(kind: &str, value: T) -> Json {
    json!({"t": kind, "v": value.to_string()})
}

impl<'de> DeserializeSeed<'de> for Into<'_> {
    type Value = Json;

    fn deserialize<D: serde::Deserializer<'de>>(self, d: D) -> Result<Json, D::Error> {
        Ok(match self.ty {
            Go::Bool => json!({"t": "bool", "v": bool::deserialize(d)?}),
            Go::Int(8) => number("int", i8::deserialize(d)?),
            Go::Int(16) => number("int", i16::deserialize(d)?),
            Go::Int(32) => number("int", i32::deserialize(d)?),
            Go::Int(_) => number("int", i64::deserialize(d)?),
            Go::Uint(8) => number("uint", u8::deserialize(d)?),
            Go::Uint(16) => number("uint", u16::deserialize(d)?),
            Go::Uint(32) => number("uint", u32::deserialize(d)?),
            Go::Uint(_) => number("uint", u64::deserialize(d)?),
            Go::Float(32) => notation(&Value::Float(f32::deserialize(d)?.into())),
            Go::Float(_) => notation(&Value::Float(f64::deserialize(d)?)),
            Go::Complex => notation(&Value::Complex(Complex::deserialize(d)?)),
            Go::String => json!({"t": "string", "v": String::deserialize(d)?}),
            Go::Bytes => {
                notation(&Value::Bytes(serde_bytes::ByteBuf::deserialize(d)?.into_vec()))
            }
            Go::Slice(elem)
                if matches!(&**elem, Go::Named(name)
                    if matches!(self.names[name], Go::Uint(8))) =>
            {
                self.to(&Go::Bytes).deserialize(d)?
            }
            Go::Slice(_) => d.deserialize_seq(self)?,
            Go::Array(len, _) => d.deserialize_tuple(*len, self)?,
            Go::Map(..) => d.deserialize_map(self)?,
            Go::Struct(.., all) => d.deserialize_struct("", all, self)?,
            Go::Pointer(_) => d.deserialize_option(self)?,
            Go::Any => {
                let Interface { name, value } = Interface::<Value>::deserialize(d)?;
                match value {
                    Value::Nil => json!({"t": "nil"}),
                    value => json!({"t": "interface", "v": {
                        "name": name, "value": notation(&value)}}),
                }
            }
            Go::Shape => {
                return Err(D::Error::custom("the type does not implement Shape"));
            }
            Go::Opaque(kind) => {
                let opaque = Opaque::deserialize(d)?;
                if opaque.kind != *kind {
                    return Err(D::Error::custom("the type encodes itself otherwise"));
                }
                let mut opaque = opaque;
                if opaque.payload.is_empty() && &*opaque.name == "Time" {
                    opaque.payload = support::unhex("01000000000000000000000000ffff");
                }
                notation(&Value::Opaque(Box::new(opaque)))
            }
            Go::Named(name) => Self { ty: &self.names[name], ..self }.deserialize(d)?,
        })
    }
}

impl<'de> Visitor<'de> for Into<'_> {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.ty)
    }

    fn visit_none<E>(self) -> Result<Json, E> {
        Ok(json!({"t": "nil"}))
    }

    fn visit_some<D: serde::Deserializer<'de>>(self, d: D) -> Result<Json, D::Error> {
        let Go::Pointer(inner) = self.ty else { panic!("a pointer") };
        self.to(inner).deserialize(d)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Json, A::Error> {
        let (kind, elem) = match self.ty {
            Go::Slice(elem) => ("slice", elem),
            Go::Array(_, elem) => ("array", elem),
            _ => return Err(A::Error::custom("a sequence")),
        };
        let mut elements = Vec::new();
        while let Some(element) = seq.next_element_seed(self.to(elem))? {
            elements.push(element);
        }
        Ok(json!({"t": kind, "v": elements}))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Json, A::Error> {
        match self.ty {
            Go::Map(key, elem) => {
                let old = self.old.map(|old| list(old, "v").to_vec());
                let mut entries = old.unwrap_or_default();
                while let Some(entry) =
                    map.next_entry_seed(self.to(key), self.to(elem))?
                {
                    entries.push(json!([entry.0, entry.1]));
                }
                Ok(json!({"t": "map", "v": entries}))
            }
            Go::Struct(names, types, _) => {
                let mut value =
                    self.old.cloned().unwrap_or_else(|| zero(self.ty, self.names));
                while let Some(name) = map.next_key::<String>()? {
                    match names.iter().position(|known| *known == name) {
                        Some(index) => {
                            let place = &mut value["v"]["fields"][index][1];
                            let old = place.clone();
                            let into = Into { old: Some(&old), ..self.to(&types[index]) };
                            *place = map.next_value_seed(into)?;
                        }
                        None => _ = map.next_value::<IgnoredAny>()?,
                    }
                }
                Ok(value)
            }
            _ => Err(A::Error::custom("a map")),
        }
    }
}

/// Names of types and remarks say nothing about a decoded value, nor do zeros in a struct that
/// an interface holds, since nobody asked for them.
fn nameless(json: &Json) -> Json {
    if text(json, "t") == "interface" {
        return json!({"t": "interface", "v": nameless(&sparse(&json["v"]["value"]))});
    }
    match json {
        Json::Object(object) => object
            .iter()
            .filter(|(key, _)| *key != "name")
            .map(|(key, value)| (key.clone(), nameless(value)))
            .collect(),
        Json::Array(array) => array.iter().map(nameless).collect(),
        other => other.clone(),
    }
}

/// The same without the fields of structs that are zero.
fn sparse(json: &Json) -> Json {
    let is_zero = |json: &Json| {
        let content = &json["v"];
        match text(json, "t") {
            "bool" => content == false,
            "int" | "uint" => content == "0",
            "float" => content == "0x0000000000000000",
            "string" | "bytes" => content == "",
            "slice" | "map" => list(json, "v").is_empty(),
            "nil" => true,
            _ => false,
        }
    };
    match json {
        Json::Object(object) => object
            .iter()
            .map(|(key, value)| match value {
                Json::Array(fields) if key == "fields" => {
                    let fields = fields.iter().filter(|field| !is_zero(&field[1]));
                    (key.clone(), fields.map(sparse).collect())
                }
                value => (key.clone(), sparse(value)),
            })
            .collect(),
        Json::Array(array) => array.iter().map(sparse).collect(),
        other => other.clone(),
    }
}

/// The type, and what is in the variable before.
fn target(into: &str, vector: &Json) -> (Go, Option<Json>) {
    let int = |value: i64| number("int", value);
    let point = |x, y| structure([("X", int(x)), ("Y", int(y))].into_iter());
    let parse = |ty: &str| Parser(ty).ty();
    match into {
        "Point already {7,8}" => (parse("Point"), Some(point(7, 8))),
        "already {L:[1 2 3] M:{a:1} P:{7 8}}" => {
            let old = structure(
                [
                    ("L", json!({"t": "slice", "v": [int(1), int(2), int(3)]})),
                    (
                        "M",
                        json!({"t": "map", "v": [[{"t": "string", "v": "a"}, int(1)]]}),
                    ),
                    ("P", point(7, 8)),
                ]
                .into_iter(),
            );
            (parse(text(&vector["values"][0], "go_type")), Some(old))
        }
        "narrower numbers" => (parse("struct { A int8; F float32; I uint8 }"), None),
        "the same without pointers" => {
            (parse(&text(vector, "decl").replace('*', "")["type Ptrs ".len()..]), None)
        }
        ty => (parse(ty), None),
    }
}

/// Streams of Go's that Go cannot read into these types.
const GO_FAILS_TO_SKIP: &[(&str, &str)] = &[
    ("iface/def_inside_two_levels", "struct{ N int; T string } (interface field absent)"),
    ("iface/nil_in_skipped_field", "struct{ A int; Z string }"),
];

#[test]
fn every_stream_is_decoded_into_other_types_as_in_go() {
    let names = declared();
    let (mut rows, mut bad) = (0, Vec::new());
    for vector in vectors() {
        let name = text(&vector, "name");
        let by_hand = text(&vector, "encoders") == "by_hand";
        for (go, parts) in streams(&vector) {
            for case in list(&vector, "decode") {
                rows += 1;
                let into = text(case, "into");
                let options = ReadOptions::new()
                    .with_strict(true)
                    .with_lenient_ends(!vector["strict"].is_null());
                let new =
                    |options| Deserializer::from_slice(&parts[0]).with_options(options);
                if into == "(skip)" {
                    // Some of which Go itself fails to skip.
                    let mut skipper = new(options);
                    let skipped = loop {
                        match skipper.skip_value() {
                            Ok(true) => {}
                            other => break other,
                        }
                    };
                    if let Err(error) = skipped {
                        bad.push(format!("{name} ({go}), skipped: {error}"));
                    }
                    continue;
                }
                // Go lifts the fields of an embedded struct; serde does so by `flatten`, below.
                if into == "Derived (embeds Base)" {
                    continue;
                }
                let (ty, old) = target(into, &vector);
                let seed = Into { ty: &ty, names: &names, old: old.as_ref() };
                // A variable that holds something keeps what is left out.
                let mut deserializer = new(options.with_zeros(old.is_none()));
                let count = if by_hand { list(case, "ok").len().max(1) } else { 1 };
                let read: Result<Vec<_>, _> =
                    (0..count).map(|_| deserializer.read_seed(seed)).collect();
                // Fields that Go fails to skip, by two bugs of its own.
                if GO_FAILS_TO_SKIP.contains(&(name, into)) {
                    if let Err(error) = read {
                        bad.push(format!("{name} ({go}) into {into}: {error}"));
                    }
                    continue;
                }
                let wanted = if case["ok"].is_null() {
                    None
                } else if by_hand {
                    Some(list(case, "ok").iter().map(|ok| nameless(&plain(ok))).collect())
                } else {
                    Some(vec![nameless(&plain(&case["ok"]))])
                };
                let found = read.as_ref().ok().map(|read| {
                    read.iter().map(|ok| nameless(&plain(ok))).collect::<Vec<_>>()
                });
                if wanted != found {
                    bad.push(format!(
                        "{name} ({go}) into {into}:\n  want {wanted:?}\n  have {read:?}"
                    ));
                }
            }
        }
    }
    none_bad(rows, &bad);
}

#[test]
fn every_value_is_decoded_into_its_own_go_type() {
    let names = declared();
    let (mut rows, mut bad) = (0, Vec::new());
    for vector in vectors() {
        let name = text(&vector, "name");
        for (go, parts) in streams(&vector) {
            let mut readers: Vec<_> = parts
                .iter()
                .map(|part| {
                    let options = ReadOptions::new().with_strict(true);
                    Deserializer::from_slice(part).with_options(options)
                })
                .collect();
            for (index, value) in list(&vector, "values").iter().enumerate() {
                let go_type = text(value, "go_type");
                let ty = go_type.trim_start_matches('*').split(" (").next().unwrap();
                let wanted = if value["roundtrip"].is_null() {
                    &value["value"]
                } else {
                    &value["roundtrip"]
                };
                let at = if readers.len() > 1 { index } else { 0 };
                // Types whose declaration the vectors do not tell are read without it.
                let ty = Parser(ty).ty();
                if go_type.is_empty()
                    || !is_known(&ty, &names)
                    || text(wanted, "t") == "string_raw"
                {
                    readers[at].skip_value().unwrap();
                    continue;
                }
                rows += 1;
                let seed = Into { ty: &ty, names: &names, old: None };
                let found = readers[at].read_seed(seed);
                let found = found.map(|found| nameless(&plain(&found)));
                if found.as_ref().ok() != Some(&nameless(&plain(wanted))) {
                    let wanted = nameless(&plain(wanted));
                    bad.push(format!(
                        "{name} ({go}) {go_type}:\n  want {wanted}\n  have {found:?}"
                    ));
                }
            }
        }
    }
    none_bad(rows, &bad);
}

#[test]
fn an_embedded_struct_is_flattened() {
    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(rename_all = "PascalCase")]
    struct Derived {
        #[serde(flatten)]
        base: Base,
        extra: String,
    }
    #[derive(Debug, PartialEq, Deserialize)]
    struct Base {
        #[serde(rename = "ID")]
        id: i64,
        #[serde(rename = "Name", default)]
        name: String,
    }
    let vectors = vectors();
    let is_it = |vector: &&Json| text(vector, "name") == "compat/embedded_promotion";
    let vector = vectors.iter().find(is_it).unwrap();
    let stream = support::unhex(text(vector, "hex"));
    let derived: Derived = wiremark_gob::from_slice(&stream).unwrap();
    let base = Base { id: 4, name: String::new() };
    assert_eq!(derived, Derived { base, extra: "x".into() });
}

fn is_known(ty: &Go, names: &Names) -> bool {
    match ty {
        Go::Named(name) => names.contains_key(name),
        Go::Slice(inner) | Go::Array(_, inner) | Go::Pointer(inner) => {
            is_known(inner, names)
        }
        Go::Map(key, elem) => is_known(key, names) && is_known(elem, names),
        Go::Struct(_, types, _) => types.iter().all(|ty| is_known(ty, names)),
        _ => true,
    }
}
