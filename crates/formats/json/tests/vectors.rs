//! Golden bytes and, where it is at hand, the JSON test suite.

use wiremark_conform::corpora::Differences;
use wiremark_conform::{json, wire};
use wiremark_json::Json;

/// What the golden bytes are not read as, and why.
const GOLDEN_DIFFERENCES: &[(&str, &str)] = &[
    ("Option<()> Some(())", "JSON has one null, for unit and for nothing"),
    ("Option<Option<u8>> Some(None)", "JSON has one null, whatever it is inside of"),
    ("f64 INFINITY", "JSON has no infinities; serde_json writes null"),
    ("f64 NAN", "JSON has no NaN; serde_json writes null"),
    ("f64 NEG_INFINITY", "JSON has no infinities; serde_json writes null"),
];

#[test]
fn values_have_the_golden_bytes() {
    let mut differences = Differences::known(GOLDEN_DIFFERENCES);
    wire::check(
        &Json::compact(),
        include_str!("data/wire-vectors.tsv"),
        &mut differences,
    );
    differences.assert_as_known();
}

/// Where `serde_json` does other than a file's name asks for; for `i_`, where the grammar leaves
/// it open, the files that it accepts.
const SUITE_DIFFERENCES: &[(&str, &str)] = &[
    ("i_number_double_huge_neg_exp.json", TOO_SMALL),
    ("i_number_real_underflow.json", TOO_SMALL),
    ("i_number_too_big_neg_int.json", TOO_BIG),
    ("i_number_too_big_pos_int.json", TOO_BIG),
    ("i_number_very_big_negative_int.json", TOO_BIG),
];

const TOO_SMALL: &str = "serde_json rounds what is smaller than any f64 to 0";
const TOO_BIG: &str =
    "serde_json reads whole numbers beyond 64 bits as f64 where no type asks for more";

#[test]
fn the_json_test_suite_is_read_as_its_names_say() {
    let mut differences = Differences::known(SUITE_DIFFERENCES);
    match json::parsing(
        &[Json::compact(), Json::pretty()],
        env!("CARGO_MANIFEST_DIR"),
        &mut differences,
    ) {
        Ok(()) => differences.assert_as_known(),
        Err(reason) => println!("{reason}"),
    }
}

#[test]
fn what_parsers_make_other_things_of_survives_a_round_trip() {
    let mut differences = Differences::known(&[]);
    match json::transform(
        &[Json::compact(), Json::pretty()],
        env!("CARGO_MANIFEST_DIR"),
        &mut differences,
    ) {
        Ok(()) => differences.assert_as_known(),
        Err(reason) => println!("{reason}"),
    }
}
