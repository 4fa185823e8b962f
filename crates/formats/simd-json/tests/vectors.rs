//! Golden bytes and, where it is at hand, the JSON test suite.

use std::fs;

use serde::de::IgnoredAny;
use wiremark_conform::corpora::{self, Differences};
use wiremark_conform::wire;
use wiremark_core::{Codec, ErrorKind};
use wiremark_datasets::Value;
use wiremark_simd_json::SimdJson;

/// What the golden bytes are not read as, and why.
const GOLDEN_DIFFERENCES: &[(&str, &str)] = &[
    ("Option<()> Some(())", "JSON has one null, for unit and for nothing"),
    ("Option<Option<u8>> Some(None)", "JSON has one null, whatever it is inside of"),
    ("f32 0.1", "simd-json writes an f32 as the f64 that it is"),
    ("f64 1e300", "simd-json writes exponents without a plus"),
    ("i128 -170141183460469231731687303715884105728", INT_128),
    ("i128 -18446744073709551617", INT_128),
    ("u128 18446744073709551616", INT_128),
    ("u128 340282366920938463463374607431768211455", INT_128),
    ("f64 INFINITY", "JSON has no infinities; simd-json writes null"),
    ("f64 NAN", "JSON has no NaN; simd-json writes null"),
    ("f64 NEG_INFINITY", "JSON has no infinities; simd-json writes null"),
];

const INT_128: &str = "simd-json writes integers beyond 64 bits and reads them as f64";

#[test]
fn values_have_the_golden_bytes() {
    let mut differences = Differences::known(GOLDEN_DIFFERENCES);
    wire::check(
        &SimdJson::new(),
        include_str!("data/wire-vectors.tsv"),
        &mut differences,
    );
    differences.assert_as_known();
}

/// Where `simd-json` does other than a file's name asks for; for `i_`, where the grammar leaves
/// it open, the files that it accepts.
const SUITE_DIFFERENCES: &[(&str, &str)] = &[
    ("i_number_double_huge_neg_exp.json", TOO_SMALL),
    ("i_number_real_underflow.json", TOO_SMALL),
    ("i_number_too_big_neg_int.json", TOO_BIG),
    ("i_number_too_big_pos_int.json", TOO_BIG),
    ("i_number_very_big_negative_int.json", TOO_BIG),
];

const TOO_SMALL: &str = "simd-json rounds what is smaller than any f64 to 0";
const TOO_BIG: &str =
    "simd-json reads whole numbers beyond 64 bits as f64 where no type asks for more";

#[test]
fn the_json_test_suite_is_read_as_its_names_say() {
    let folder = match corpora::find(env!("CARGO_MANIFEST_DIR"), "json-test-suite") {
        Ok(folder) => folder,
        Err(reason) => return println!("{reason}"),
    };
    let mut differences = Differences::known(SUITE_DIFFERENCES);
    for entry in fs::read_dir(folder.join("test_parsing")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        differences.case(&name, parse(&name, &fs::read(&path).unwrap()));
    }
    assert_eq!(differences.cases(), 318);
    differences.assert_as_known();
}

fn parse(name: &str, bytes: &[u8]) -> Result<(), String> {
    let read = SimdJson::new().decode::<Value>(bytes);
    let skipped = SimdJson::new().decode::<IgnoredAny>(bytes);
    match (name.as_bytes().first(), read) {
        (Some(b'y'), Ok(value)) => {
            skipped.map_err(|error| format!("not skipped: {error}"))?;
            for mut json in [SimdJson::new(), SimdJson::new()] {
                let mut again = Vec::new();
                json.encode_into(&value, &mut again)
                    .map_err(|error| error.to_string())?;
                let back =
                    json.decode::<Value>(&again).map_err(|error| error.to_string())?;
                if back != value {
                    return Err(format!("{value:?} comes back as {back:?}"));
                }
            }
            Ok(())
        }
        (Some(b'y'), Err(error)) => Err(format!("refused: {error}")),
        (Some(b'n' | b'i'), Ok(value)) => Err(format!("accepted as {value:?}")),
        (Some(b'n' | b'i'), Err(error)) => match error.kind() {
            ErrorKind::Syntax | ErrorKind::Eof | ErrorKind::Limit => Ok(()),
            kind => Err(format!("refused with kind `{kind}`: {error}")),
        },
        _ => Err("a name that begins with no y, n or i".to_owned()),
    }
}

#[test]
fn what_parsers_make_other_things_of_survives_a_round_trip() {
    let folder = match corpora::find(env!("CARGO_MANIFEST_DIR"), "json-test-suite") {
        Ok(folder) => folder,
        Err(reason) => return println!("{reason}"),
    };
    let mut differences = Differences::known(&[]);
    for entry in fs::read_dir(folder.join("test_transform")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let bytes = fs::read(&path).unwrap();
        // Some are refused, by their names: lone surrogates. What is read is not changed.
        let name_as_accepted = format!("y_{name}");
        if SimdJson::new().decode::<Value>(&bytes).is_ok() {
            differences.case(&name, parse(&name_as_accepted, &bytes));
        } else {
            differences.case(&name, parse(&format!("n_{name}"), &bytes));
        }
    }
    assert_eq!(differences.cases(), 22);
    differences.assert_as_known();
}
