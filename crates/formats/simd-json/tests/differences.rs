//! Where `simd-json` does other than `serde_json`, and where one might think that it does.

use std::collections::BTreeMap;
use std::fmt::Debug;

use serde::de::{DeserializeOwned, IgnoredAny};
use wiremark_core::{Codec, ErrorKind};
use wiremark_datasets::Value;
use wiremark_json::Json;
use wiremark_simd_json::SimdJson;

/// What a codec makes of an input: the value, or the kind of its error.
fn read<T: DeserializeOwned + Debug>(codec: &mut impl Codec, input: &[u8]) -> String {
    match codec.decode::<T>(input) {
        Ok(value) => format!("{value:?}"),
        Err(error) => format!("refused: {}", error.kind()),
    }
}

/// Both as they are expected.
fn check<T: DeserializeOwned + Debug>(
    input: impl AsRef<[u8]>,
    serde_json: &str,
    simd_json: &str,
    bad: &mut Vec<String>,
) {
    let input = input.as_ref();
    let found = read::<T>(&mut Json::compact(), input);
    if found != serde_json {
        bad.push(format!("{}: serde_json {found}", input.escape_ascii()));
    }
    let found = read::<T>(&mut SimdJson::new(), input);
    if found != simd_json {
        bad.push(format!("{}: simd-json {found}", input.escape_ascii()));
    }
}

#[test]
fn differences_from_serde_json_are_these() {
    let mut bad = Vec::new();
    let bad_ref = &mut bad;
    // Whole numbers that are written as a negative zero.
    check::<f64>("-0", "-0.0", "0.0", bad_ref);
    check::<i64>("-0", "refused: data", "0", bad_ref);
    // Integers beyond 64 bits.
    let large = "18446744073709551616";
    check::<u128>(large, large, "refused: data", bad_ref);
    check::<i128>(
        "-9223372036854775809",
        "-9223372036854775809",
        "refused: data",
        bad_ref,
    );
    // An f32 is rounded twice: to an f64 first.
    check::<f32>("17005001.00000000000013", "17005002.0", "17005000.0", bad_ref);
    // What is no number is no fault of syntax where one is asked for.
    check::<u128>("1e2", "refused: syntax", "refused: data", bad_ref);
    check::<BTreeMap<u8, bool>>(
        r#"{"x":true}"#,
        "refused: syntax",
        "refused: data",
        bad_ref,
    );
    // All text must be UTF-8, also where it is skipped.
    check::<IgnoredAny>(b"\"\xff\"", "IgnoredAny", "refused: syntax", bad_ref);
    // Skipped parts nest as deep as the others may.
    let deep = format!("{}{}", "[".repeat(129), "]".repeat(129));
    check::<IgnoredAny>(&deep, "IgnoredAny", "refused: limit", bad_ref);
    check::<String>(&deep, "refused: data", "refused: limit", bad_ref);
    // What is no UTF-8 is looked for first.
    check::<String>(b"\"\xff", "refused: eof", "refused: syntax", bad_ref);
    check::<String>(b"\"\xc3", "refused: eof", "refused: eof", bad_ref);
    assert!(bad.is_empty(), "{bad:#?}");
}

#[test]
fn all_else_is_read_as_by_serde_json() {
    let mut bad = Vec::new();
    let bad_ref = &mut bad;
    let same = |input: &[u8], bad: &mut Vec<String>| {
        let expected = read::<Value>(&mut Json::compact(), input);
        check::<Value>(input, &expected, &expected, bad);
    };
    for input in [
        // Lone and swapped surrogates, and a pair.
        r#""\ud800""#,
        r#""\ud800x""#,
        r#""\udc00""#,
        r#""\udc00\ud800""#,
        r#""\ud83d\ude00""#,
        r#""\u12g4""#,
        // Integers at and beyond 64 bits.
        "9223372036854775807",
        "18446744073709551615",
        "18446744073709551616",
        "-9223372036854775808",
        "-9223372036854775809",
        "123456789012345678901234567890",
        // Too large and too small for a float, zeros and their signs.
        "1e400",
        "-1e400",
        "1e-400",
        "-1e-400",
        "-0.0",
        "[-0.00e5,0.0,-0.5]",
        // Keys that stand twice.
        r#"{"a":1,"a":2}"#,
        "[1,]",
        "01",
        "+1",
        ".5",
        "1.",
        "NaN",
        "\u{feff}1",
        " 1 ",
        "",
        "\"\t\"",
    ] {
        same(input.as_bytes(), bad_ref);
    }
    same(b"\"\xff\"", bad_ref);
    same(b"[1,\"\xc3\x28\"]", bad_ref);
    assert!(bad.is_empty(), "{bad:#?}");
}

#[test]
fn a_float_is_the_nearest_to_its_text() {
    // Ties between two floats and their neighbours, and texts of all lengths and exponents.
    let mut texts = vec![
        "9007199254740993".to_owned(),
        "9007199254740993.0".to_owned(),
        "9007199254740992.9999999999999999999".to_owned(),
        "9007199254740993.00000000000000000000000000000001".to_owned(),
        "2.2250738585072011e-308".to_owned(),
        "4.9406564584124654e-324".to_owned(),
        "2.4703282292062327e-324".to_owned(),
        "2.4703282292062328e-324".to_owned(),
        "1.7976931348623157e308".to_owned(),
        "1.7976931348623158e308".to_owned(),
        "0.1000000000000000055511151231257827021181583404541015625".to_owned(),
        "2.638344616030823e-256".to_owned(),
        "-0.0".to_owned(),
    ];
    let mut state = 1_u64;
    for round in 0..20_000_u64 {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let digits = state.to_string() + &(state ^ 0x5555_5555_5555_5555).to_string();
        let length = usize::try_from(round % 30).unwrap() + 2;
        let (whole, part) = digits[..length].split_at(
            1 + usize::try_from(round % 7).unwrap() % length.max(2).min(length - 1),
        );
        let exponent = i64::try_from(state >> 54).unwrap() % 330 - 340
            + i64::try_from(round % 600).unwrap();
        texts.push(format!("{whole}.{part}e{exponent}"));
        texts.push(format!("{whole}.{part}"));
    }
    let mut bad = Vec::new();
    let mut checked = 0;
    for text in &texts {
        let expected: f64 = text.parse().unwrap();
        let found = SimdJson::new().decode::<f64>(text.as_bytes());
        if expected.is_infinite() {
            assert_eq!(found.unwrap_err().kind(), ErrorKind::Syntax, "{text}");
            continue;
        }
        checked += 1;
        let found = found.map(f64::to_bits).map_err(|error| error.to_string());
        if found != Ok(expected.to_bits()) {
            bad.push(format!("{text}: expected {expected:e}, found {found:?}"));
        }
    }
    assert!(checked > 30_000);
    assert!(bad.is_empty(), "{} of {checked}: {:#?}", bad.len(), bad.first());
}
