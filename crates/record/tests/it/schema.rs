//! The JSON Schema accepts what this crate writes and refuses what nobody should.

use boon::{Compiler, SchemaIndex, Schemas};
use serde_json::{Value, json};
use wiremark_record::{Run, SCHEMA_JSON};

use crate::common::{full, interrupted};

pub(crate) struct Schema(Schemas, SchemaIndex);

impl Schema {
    pub(crate) fn new() -> Self {
        let schema: Value = serde_json::from_str(SCHEMA_JSON).unwrap();
        let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
        compiler.add_resource("results-1.json", schema).unwrap();
        let index = compiler.compile("results-1.json", &mut schemas).unwrap();
        Self(schemas, index)
    }

    pub(crate) fn check(&self, run: &Value) -> Result<(), String> {
        self.0.validate(run, self.1).map_err(|error| error.to_string())
    }
}

fn as_json(run: &Run) -> Value {
    serde_json::from_slice(&run.to_vec().unwrap()).unwrap()
}

#[test]
fn what_this_crate_writes_is_accepted() {
    let schema = Schema::new();
    let minimal = include_bytes!("data/minimal.json");
    let mut bad = Vec::new();
    for (name, run) in [
        ("full", full()),
        ("interrupted", interrupted()),
        ("minimal", Run::from_slice(minimal).unwrap()),
    ] {
        if let Err(error) = schema.check(&as_json(&run)) {
            bad.push(format!("{name}: {error}"));
        }
    }
    if let Err(error) = schema.check(&serde_json::from_slice(minimal).unwrap()) {
        bad.push(format!("minimal as it stands: {error}"));
    }
    assert!(bad.is_empty(), "{bad:#?}");
}

#[test]
fn summarising_explains_all_that_is_missing() {
    let schema = Schema::new();
    let mut run = full();
    run.commit = None;
    run.lock_hash = None;
    run.load.before = None;
    run.machine.memory_bytes = None;
    for cell in &mut run.cells {
        cell.size_bytes = None;
        cell.zstd_bytes = None;
        cell.counts = None;
        cell.round_trip = None;
        cell.rounds.clear();
    }
    run.summarise();
    schema.check(&as_json(&run)).unwrap();
    assert_eq!(run.noise, None);
}

#[test]
fn keys_of_a_newer_minor_version_are_accepted() {
    let mut run = as_json(&full());
    run["schema"] = json!("wiremark.results/1.7");
    run["colour"] = json!(["new"]);
    run["cells"][0]["watts"] = json!(3.5);
    run["cells"][0]["rounds"][0]["kelvin"] = json!(300);
    Schema::new().check(&run).unwrap();
}

#[test]
fn bad_runs_are_refused() {
    let schema = Schema::new();
    let good = as_json(&full());
    let cell = "/cells/0";
    let mut bad = Vec::new();
    let rows = [
        ("", "schema", Some(json!("wiremark.results/2"))),
        ("", "schema", Some(json!("wiremark.results/1.x"))),
        ("", "schema", None),
        ("", "id", Some(json!(""))),
        ("", "commit", Some(Value::Null)),
        ("", "commit", None),
        ("", "noise", None),
        ("", "lock_hash", Some(Value::Null)),
        ("", "missing", Some(json!({"commit": ""}))),
        ("", "missing", Some(json!({"commit": null}))),
        ("", "cells", Some(json!({}))),
        ("", "complete", Some(json!(1))),
        ("/machine", "memory_bytes", Some(Value::Null)),
        ("/machine", "memory_bytes", Some(json!(0))),
        ("/machine", "memory_bytes", None),
        ("/machine", "cores", Some(json!(0))),
        ("/load", "before", None),
        ("/load", "after", Some(Value::Null)),
        ("/noise", "floor", Some(json!(-0.01))),
        ("/noise", "ratios", Some(json!([]))),
        ("/codecs/0", "advisory", Some(Value::Null)),
        ("/codecs/0", "role", Some(json!("king"))),
        ("/datasets/0", "records", Some(json!(1.5))),
        (cell, "status", Some(json!("fine"))),
        (cell, "status", None),
        (cell, "status", Some(json!("failed"))),
        (cell, "operation", Some(json!("compress"))),
        (cell, "mode", Some(json!("cold"))),
        (cell, "again", Some(json!(false))),
        (cell, "size_bytes", Some(json!(-1))),
        (cell, "size_bytes", Some(json!(1.5))),
        (cell, "size_bytes", Some(json!("1000"))),
        (cell, "size_bytes", Some(Value::Null)),
        (cell, "size_bytes", None),
        (cell, "zstd_bytes", None),
        (cell, "counts", None),
        (cell, "time", None),
        (cell, "time", Some(Value::Null)),
        (cell, "copy", None),
        (cell, "rounds", Some(json!([]))),
        (cell, "round_trip", None),
        ("/cells/0/time", "median_ns", Some(Value::Null)),
        ("/cells/0/time", "median_ns", Some(json!(-1))),
        ("/cells/0/rounds/0", "round", Some(json!(-1))),
        ("/cells/0/rounds/0", "cpu_ns", None),
        ("/cells/0/rounds/0", "copy_ns", Some(Value::Null)),
        ("/cells/0/counts", "allocations", Some(json!(0.5))),
        ("/cells/5", "reason", None),
        ("/cells/5", "reason", Some(json!(""))),
    ];
    for (at, key, value) in rows {
        let mut run = good.clone();
        let object = run.pointer_mut(at).unwrap().as_object_mut().unwrap();
        let change = format!("{at}/{key} = {value:?}");
        let before = object.get(key).cloned();
        match value.clone() {
            Some(value) => object.insert(key.to_owned(), value),
            None => object.remove(key),
        };
        assert_ne!(before, value, "{change} changes nothing");
        if schema.check(&run).is_ok() {
            bad.push(change);
        }
    }
    assert!(bad.is_empty(), "accepted: {bad:#?}");
}

/// Collects the keys of `value` that `schema` does not describe.
fn undescribed(
    root: &Value,
    schema: &Value,
    value: &Value,
    at: &str,
    bad: &mut Vec<String>,
) {
    let schema = match schema.get("$ref").and_then(Value::as_str) {
        Some(to) => root.pointer(to.trim_start_matches('#')).unwrap(),
        None => schema,
    };
    match value {
        Value::Array(items) => {
            for (number, item) in items.iter().enumerate() {
                let at = format!("{at}/{number}");
                undescribed(root, &schema["items"], item, &at, bad);
            }
        }
        // Tables from names to texts have no keys of their own.
        Value::Object(_) if schema.get("additionalProperties").is_some() => {}
        Value::Object(object) => {
            for (key, value) in object {
                let at = format!("{at}/{key}");
                match schema["properties"].get(key) {
                    Some(schema) => undescribed(root, schema, value, &at, bad),
                    None => bad.push(at),
                }
            }
        }
        _ => {}
    }
}

#[test]
fn every_key_that_is_written_is_in_the_schema() {
    let schema: Value = serde_json::from_str(SCHEMA_JSON).unwrap();
    let mut bad = Vec::new();
    for run in [full(), interrupted()] {
        undescribed(&schema, &schema, &as_json(&run), "", &mut bad);
    }
    assert!(bad.is_empty(), "not in the schema: {bad:#?}");
}

#[test]
fn every_key_is_described() {
    let schema: Value = serde_json::from_str(SCHEMA_JSON).unwrap();
    let mut bad = Vec::new();
    let mut todo = vec![(String::new(), &schema)];
    while let Some((at, value)) = todo.pop() {
        let Some(object) = value.as_object() else { continue };
        for (key, value) in object {
            todo.push((format!("{at}/{key}"), value));
        }
        // Below `allOf` and the like, `properties` only select.
        let selects = ["/allOf", "/anyOf", "/if", "/then"].iter().any(|s| at.contains(s));
        let Some(Value::Object(properties)) = object.get("properties") else { continue };
        for (key, value) in properties {
            if !selects && value.get("description").is_none() {
                bad.push(format!("{at}/{key}"));
            }
        }
    }
    assert!(bad.is_empty(), "without a description: {bad:#?}");
}
