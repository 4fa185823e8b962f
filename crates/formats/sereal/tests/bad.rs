//! Documents that somebody broke: each ends as the table says.
#![allow(clippy::unwrap_used, reason = "what is not there fails the test")]

mod support;

use serde::de::IgnoredAny;
use support::{document, load, none_bad, read_options, text};
use wiremark_sereal::{Decoder, Document, ErrorKind};

/// Refused, or rightly not: each with its reason.
const SHARED_IS_NO_BOMB: &[&str] = &[
    // Thirty arrays, each of which holds the one before twice: `Value` keeps them as thirty.
    "refp-doubling-30",
];

#[test]
fn every_bad_document_ends_as_it_should() {
    let (mut rows, mut bad) = (0, Vec::new());
    for vector in load("bad") {
        rows += 1;
        let (name, bytes) = (text(&vector, "name"), document(&vector));
        let options = read_options(&vector);
        let mut decoder = Decoder::with_options(options);
        let with_header = !vector["decoder"]["header"].is_null();
        let dynamic = decoder.decode_value(&bytes).and_then(|_| {
            if with_header {
                Document::open_with(&bytes, options)?.user_data_value()?;
            }
            Ok(())
        });
        let typed = decoder.decode::<wiremark_datasets::Value>(&bytes).and_then(|_| {
            if with_header {
                decoder.decode_header::<IgnoredAny>(&bytes)?;
            }
            Ok(())
        });
        let skipped = decoder.decode::<IgnoredAny>(&bytes).map(drop);
        for (how, outcome) in [("dynamic", &dynamic), ("typed", &typed)] {
            let fits = match text(&vector, "want") {
                "error" => outcome.is_err(),
                "limit" => {
                    let is_shared = SHARED_IS_NO_BOMB.contains(&name);
                    matches!(outcome, Err(error) if error.kind() == ErrorKind::Limit)
                        || (is_shared && how == "dynamic" && outcome.is_ok())
                }
                "accept" => outcome.is_ok(),
                "either" => true,
                other => panic!("{other}"),
            };
            if !fits {
                let want = text(&vector, "want");
                bad.push(format!("{name}, {how}: want {want}, found {outcome:?}"));
            }
        }
        for error in
            [&dynamic, &typed, &skipped].into_iter().filter_map(|it| it.as_ref().err())
        {
            let is_inside = error.offset().is_none_or(|at| at <= bytes.len() as u64);
            if !is_inside && document_is_raw(&bytes) {
                bad.push(format!("{name}: {error:?}"));
            }
        }
    }
    none_bad(rows, &bad);
}

fn document_is_raw(bytes: &[u8]) -> bool {
    bytes.get(4).is_none_or(|byte| byte >> 4 == 0)
}
