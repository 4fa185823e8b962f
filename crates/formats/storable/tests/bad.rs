//! Malformed images: each ends as wanted.
#![allow(clippy::unwrap_used, reason = "what is not there fails the test")]

mod support;

use std::collections::BTreeMap;

use serde::de::IgnoredAny;
use serde_json::Value as Json;
use support::{image, load, none_bad, text};
use wiremark_storable::{Decoder, ImageKind, ReadOptions};

/// Well formed, and deeper than our limit of 128 levels, which all crates of this workspace
/// share; who raises the limit reads it.
const DEEP: &str = "deep-arrays-400";

fn options(case: &Json) -> ReadOptions {
    let decoder = &case["decoder"];
    let mut options = ReadOptions::new();
    if !decoder["store"].is_null() {
        options = options.with_image(ImageKind::File);
    }
    if !decoder["freeze"].is_null() {
        options = options.with_image(ImageKind::Memory);
    }
    if let Some(flags) = decoder["flags"].as_str().and_then(|it| it.parse::<u8>().ok()) {
        options = options.with_blessed(flags & 2 != 0).with_tied(flags & 4 != 0);
    }
    if text(case, "name") == DEEP {
        options = options.with_max_depth(400);
    }
    options
}

#[test]
fn every_malformed_image_ends_as_wanted() {
    // Without optimisation 400 levels take more than the 2 MiB that suffice for 128.
    let thread = std::thread::Builder::new().stack_size(8 << 20).spawn(each_case);
    println!("{} cases", thread.unwrap().join().unwrap());
}

fn each_case() -> usize {
    let (mut rows, mut bad) = (0, Vec::new());
    for case in load("bad.json") {
        let (name, want, bytes) =
            (text(&case, "name"), text(&case, "want"), image(&case));
        let mut decoder = Decoder::with_options(options(&case));
        let dynamic = decoder.value(&bytes).map(|value| drop(value.into_owned()));
        let passed = decoder.decode::<IgnoredAny>(&bytes).map(drop);
        let typed = decoder.decode::<Json>(&bytes).map(drop);
        let listed = decoder.decode::<Vec<u64>>(&bytes).map(drop);
        let mapped = decoder.decode::<BTreeMap<String, String>>(&bytes).map(drop);
        rows += 1;
        // Ours hand out hooks as data to who asks for a `Value` alone.
        let fits = match want {
            "error" | "limit" => [&dynamic, &passed, &typed, &listed, &mapped]
                .into_iter()
                .all(Result::is_err),
            "accept" => dynamic.is_ok() && passed.is_ok(),
            "either" => dynamic.is_ok() == passed.is_ok(),
            other => panic!("{other}"),
        };
        if !fits {
            bad.push(format!(
                "{name}: want {want}: {dynamic:?}, passed over {passed:?}, typed {typed:?}"
            ));
        }
        // Where it is no error for one it is none for the others, but for what has no type.
        if dynamic.is_ok() && passed.is_err() {
            bad.push(format!("{name}: {passed:?}"));
        }
    }
    none_bad(rows, &bad);
    rows
}

#[test]
fn what_is_too_deep_is_a_limit_by_default() {
    let cases = load("bad.json");
    let case = cases.iter().find(|case| text(case, "name") == DEEP).unwrap();
    let error = Decoder::new().value(&image(case)).unwrap_err();
    assert_eq!(error.kind(), wiremark_storable::ErrorKind::Limit);
}
