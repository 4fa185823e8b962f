//! Reading and writing the results file.

use std::fs;

use serde_json::{Value, json};
use wiremark_record::{ErrorKind, Operation, Run};

use crate::common::{full, interrupted, measured};

#[test]
fn a_run_comes_back_as_it_was_written() {
    for run in [full(), interrupted()] {
        let bytes = run.to_vec().unwrap();
        assert_eq!(Run::from_slice(&bytes).unwrap(), run);
    }
}

#[test]
fn numbers_of_a_summarised_run_come_back_to_the_last_bit() {
    // Thirds and their kin have no short decimal form.
    let times: Vec<f64> = (1..200).map(|n| f64::from(n * n * n) / 3.0).collect();
    let mut run = full();
    run.cells = vec![measured(Operation::Encode, "a/a", &times)];
    run.load.before = Some(1.0 / 3.0);
    run.summarise();
    assert_eq!(Run::from_slice(&run.to_vec().unwrap()).unwrap(), run);
}

#[test]
fn a_run_goes_through_a_file() {
    let name = format!("wiremark-record-file-{}.json", std::process::id());
    let path = std::env::temp_dir().join(name);
    let run = full();
    run.write_atomic(&path).unwrap();
    let back = Run::read(&path);
    fs::remove_file(&path).unwrap();
    assert_eq!(back.unwrap(), run);
}

#[test]
fn each_cell_has_a_line_of_its_own() {
    let run = full();
    let text = String::from_utf8(run.to_vec().unwrap()).unwrap();
    assert!(text.starts_with("{\n \"schema\": \"wiremark.results/1\",\n \"id\": "));
    assert!(text.ends_with("\n}\n"));
    let cells = text.lines().filter(|line| line.starts_with("  {\"operation\":")).count();
    assert_eq!(cells, run.cells.len());
}

#[test]
fn keys_of_a_newer_minor_version_are_passed_over() {
    let mut newer: Value = serde_json::from_slice(&full().to_vec().unwrap()).unwrap();
    newer["schema"] = json!("wiremark.results/1.7");
    newer["colour"] = json!({"new": [null]});
    newer["cells"][0]["watts"] = json!(3.5);
    newer["cells"][0]["rounds"][0]["kelvin"] = json!(300);
    let mut run = Run::from_slice(newer.to_string().as_bytes()).unwrap();
    assert_eq!(run.schema, "wiremark.results/1.7");
    run.schema = wiremark_record::SCHEMA.to_owned();
    assert_eq!(run, full());
}

#[test]
fn an_error_says_what_is_wrong_with_the_file() {
    let good = String::from_utf8(full().to_vec().unwrap()).unwrap();
    let changed = |from: &str, to: &str| {
        assert!(good.contains(from), "{from}");
        good.replacen(from, to, 1)
    };
    let deep = "[".repeat(100_000);
    let mut bad = Vec::new();
    for (text, kind, part) in [
        (String::new(), ErrorKind::Syntax, "cut off: "),
        (good[..good.len() / 2].to_owned(), ErrorKind::Syntax, "cut off: "),
        ("{ schema".to_owned(), ErrorKind::Syntax, "not JSON: "),
        (format!("{good}x"), ErrorKind::Syntax, "trailing characters at line"),
        (deep.clone(), ErrorKind::Schema, "expected a results file"),
        (format!("{{\"x\":{deep}"), ErrorKind::Syntax, "cut off: "),
        ("[]".to_owned(), ErrorKind::Schema, "expected a results file"),
        ("{}".to_owned(), ErrorKind::Schema, "without the key `schema`"),
        ("{\"schema\":null}".to_owned(), ErrorKind::Schema, "without the key"),
        (
            changed("results/1", "results/2"),
            ErrorKind::Schema,
            "a newer wiremark wrote it",
        ),
        (
            changed("results/1", "results/0"),
            ErrorKind::Schema,
            "never was such a version",
        ),
        (changed("results/1", "results/1.+2"), ErrorKind::Schema, "not a version"),
        (changed("results/1", "results/"), ErrorKind::Schema, "not a version"),
        (changed("wiremark.r", "other.r"), ErrorKind::Schema, "not a results file of"),
        (changed("\"id\"", "\"di\""), ErrorKind::Data, "missing field `id`"),
        (changed("\"ok\"", "\"fine\""), ErrorKind::Data, "unknown variant `fine`"),
        (
            changed("\"memory_bytes\": 8000000000", "\"memory_bytes\": null"),
            ErrorKind::Data,
            "null",
        ),
        (changed("\"size_bytes\":1000", "\"size_bytes\":-1"), ErrorKind::Data, "-1"),
        (changed("\"median_ns\":102.0", "\"median_ns\":null"), ErrorKind::Data, "null"),
        (changed("\"time\":{", "\"time\":null,\"x\":{"), ErrorKind::Data, "null"),
    ] {
        match Run::from_slice(text.as_bytes()) {
            Err(error) if error.kind() == kind && error.to_string().contains(part) => {}
            other => bad.push(format!("{kind:?} {part}: {:?}", other.map(|run| run.id))),
        }
    }
    assert!(bad.is_empty(), "{bad:#?}");
}

#[test]
fn the_version_found_and_the_one_wanted_are_both_named() {
    let error =
        Run::from_slice(b"{\"schema\":\"wiremark.results/2.1\",\"new\":[]}").unwrap_err();
    assert_eq!(
        error.to_string(),
        "expected schema wiremark.results/1, found \"wiremark.results/2.1\": a newer wiremark \
         wrote it, and it takes that to read it"
    );
}

#[test]
fn no_prefix_and_no_flipped_byte_panics() {
    let good = full().to_vec().unwrap();
    for length in (0..good.len() - 1).step_by(7) {
        assert!(Run::from_slice(&good[..length]).is_err(), "prefix of {length} bytes");
    }
    for at in (0..good.len()).step_by(5) {
        let mut bytes = good.clone();
        bytes[at] ^= 1 << (at % 8);
        if let Ok(mut run) = Run::from_slice(&bytes) {
            run.summarise();
        }
    }
}

#[test]
fn what_json_cannot_hold_is_refused_before_writing() {
    let mut nan = full();
    nan.cells[1].rounds[2].cpu_ns = f64::NAN;
    let mut infinite = full();
    infinite.load.after = Some(f64::INFINITY);
    let mut twice = full();
    twice.cells.push(measured(Operation::Encode, "a/a", &[1.0]));
    let mut newer = full();
    newer.schema = "wiremark.results/2".to_owned();
    for (run, kind, part) in [
        (nan, ErrorKind::Data, "a time of encode/people/b/b/reused is NaN"),
        (infinite, ErrorKind::Data, "is inf"),
        (twice, ErrorKind::Data, "two cells are named encode/people/a/a/reused"),
        (newer, ErrorKind::Schema, "wiremark.results/2"),
    ] {
        let error = run.to_vec().unwrap_err();
        assert_eq!(error.kind(), kind);
        assert!(error.to_string().contains(part), "{error}");
    }
}
