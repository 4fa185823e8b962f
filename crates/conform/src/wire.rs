//! Golden bytes: small values, and what a codec writes for them.
//!
//! The values are here, the bytes in the codec crates, a line for each value: its name, a tab,
//! and the bytes in hexadecimal, or `refused` where the library refuses it. An update of a library that changes
//! a byte is a change of the wire, and fails a test.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;
use wiremark_core::Codec;

use crate::contract::hex;
use crate::corpora::{self, Differences};
use crate::samples::Sample;

/// Walks the values with their static types.
pub trait WireVisitor {
    /// Called once for each value with its name.
    fn visit<T: Sample>(&mut self, name: &str, value: T);
}

/// Holds `codec` against golden bytes: each value is written as these bytes, and these bytes
/// are read as the value. What differs is noted in `differences` under the value's name.
///
/// # Panics
/// If `golden` is not in the form that the [module](self) describes, lacks a value, or has one
/// that is not here.
pub fn check<C: Codec>(codec: &C, golden: &str, differences: &mut Differences) {
    let rows = golden.lines().filter(|line| !line.starts_with('#'));
    let rows = rows
        .map(|line| line.split_once('\t').expect("expected a name, a tab, and bytes"));
    let mut check = Check { codec: codec.clone(), golden: rows.collect(), differences };
    visit(&mut check);
    let left = &check.golden;
    assert!(left.is_empty(), "bytes without a value: {left:?}");
}

struct Check<'a, C> {
    codec: C,
    golden: BTreeMap<&'a str, &'a str>,
    differences: &'a mut Differences,
}

impl<C: Codec> WireVisitor for Check<'_, C> {
    fn visit<T: Sample>(&mut self, name: &str, value: T) {
        let Self { codec, golden, differences } = self;
        let golden = golden.remove(name).unwrap_or_else(|| panic!("{name}: no bytes"));
        differences.case(name, compare(codec, golden, &value));
    }
}

fn compare<C: Codec, T: Sample>(
    codec: &mut C,
    golden: &str,
    value: &T,
) -> Result<(), String> {
    let mut bytes = Vec::new();
    let encoded = codec.encode_into(value, &mut bytes);
    if golden == "refused" {
        return match encoded {
            Ok(()) => Err(format!("expected no bytes, found {}", hex(&bytes))),
            Err(_) => Ok(()),
        };
    }
    let golden = corpora::hex(golden)?;
    encoded.map_err(|error| format!("not written: {error}"))?;
    if bytes != golden {
        return Err(format!("expected bytes {}, found {}", hex(&golden), hex(&bytes)));
    }
    let back =
        codec.decode::<T>(&golden).map_err(|error| format!("not read: {error}"))?;
    // As text, in which NaN is NaN and the sign of zero is seen.
    let (expected, found) = (format!("{value:?}"), format!("{back:?}"));
    if expected == found { Ok(()) } else { Err(format!("read as {found}")) }
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Unit;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Empty {}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct New(u32);

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Tup(u8, i16, String);

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Point {
    x: i32,
    y: i32,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Person {
    name: String,
    age: i32,
    sex: bool,
    hobbies: Vec<String>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
enum Enum {
    Unit,
    New(u16),
    Tuple(u8, u8),
    Struct { a: u8, b: Option<bool> },
}

/// Shows `visitor` each value.
pub fn visit(visitor: &mut impl WireVisitor) {
    visitor.visit("bool false", false);
    visitor.visit("bool true", true);
    visitor.visit("u8 0", 0_u8);
    visitor.visit("u8 127", 127_u8);
    visitor.visit("u8 128", 128_u8);
    visitor.visit("u8 255", 255_u8);
    visitor.visit("i8 -1", -1_i8);
    visitor.visit("i8 -128", i8::MIN);
    visitor.visit("i8 127", 127_i8);
    visitor.visit("u16 0", 0_u16);
    visitor.visit("u16 250", 250_u16);
    visitor.visit("u16 251", 251_u16);
    visitor.visit("u16 65535", 65_535_u16);
    visitor.visit("i16 -1", -1_i16);
    visitor.visit("i16 300", 300_i16);
    visitor.visit("i16 -32768", i16::MIN);
    visitor.visit("u32 0", 0_u32);
    visitor.visit("u32 127", 127_u32);
    visitor.visit("u32 128", 128_u32);
    visitor.visit("u32 16383", 16_383_u32);
    visitor.visit("u32 16384", 16_384_u32);
    visitor.visit("u32 65536", 65_536_u32);
    visitor.visit("u32 4294967295", u32::MAX);
    visitor.visit("i32 0", 0_i32);
    visitor.visit("i32 -1", -1_i32);
    visitor.visit("i32 63", 63_i32);
    visitor.visit("i32 64", 64_i32);
    visitor.visit("i32 -64", -64_i32);
    visitor.visit("i32 -65", -65_i32);
    visitor.visit("i32 2147483647", i32::MAX);
    visitor.visit("i32 -2147483648", i32::MIN);
    visitor.visit("u64 23", 23_u64);
    visitor.visit("u64 24", 24_u64);
    visitor.visit("u64 255", 255_u64);
    visitor.visit("u64 256", 256_u64);
    visitor.visit("u64 4294967296", 4_294_967_296_u64);
    visitor.visit("u64 9007199254740993", 9_007_199_254_740_993_u64);
    visitor.visit("u64 18446744073709551615", u64::MAX);
    visitor.visit("i64 -24", -24_i64);
    visitor.visit("i64 -25", -25_i64);
    visitor.visit("i64 -9223372036854775808", i64::MIN);
    visitor.visit("i64 9223372036854775807", i64::MAX);
    visitor.visit("u128 0", 0_u128);
    visitor.visit("u128 18446744073709551616", 18_446_744_073_709_551_616_u128);
    visitor.visit("u128 340282366920938463463374607431768211455", u128::MAX);
    visitor.visit("i128 -1", -1_i128);
    visitor.visit("i128 -18446744073709551617", -18_446_744_073_709_551_617_i128);
    visitor.visit("i128 -170141183460469231731687303715884105728", i128::MIN);
    visitor.visit("f32 0.0", 0.0_f32);
    visitor.visit("f32 -0.0", -0.0_f32);
    visitor.visit("f32 1.5", 1.5_f32);
    visitor.visit("f32 0.1", 0.1_f32);
    visitor.visit("f64 0.0", 0.0_f64);
    visitor.visit("f64 -0.0", -0.0_f64);
    visitor.visit("f64 1.5", 1.5_f64);
    visitor.visit("f64 0.1", 0.1_f64);
    visitor.visit("f64 1e300", 1e300_f64);
    visitor.visit("f64 5e-324", 5e-324_f64);
    visitor.visit("f64 INFINITY", f64::INFINITY);
    visitor.visit("f64 NEG_INFINITY", f64::NEG_INFINITY);
    visitor.visit("f64 NAN", f64::NAN);
    visitor.visit("char 'a'", 'a');
    visitor.visit("char 'é'", 'é');
    visitor.visit("char '水'", '水');
    visitor.visit("char '😀'", '😀');
    visitor.visit("str \"\"", String::new());
    visitor.visit("str \"a\"", "a".to_owned());
    visitor.visit("str \"größe 水 😀\"", "größe 水 😀".to_owned());
    visitor.visit(
        "str \"quote\\\" back\\\\ tab\\t nul\\0\"",
        "quote\" back\\ tab\t nul\0".to_owned(),
    );
    visitor.visit("str 31 x 'a'", "a".repeat(31));
    visitor.visit("str 32 x 'a'", "a".repeat(32));
    visitor.visit("str 128 x 'a'", "a".repeat(128));
    visitor.visit("str 256 x 'a'", "a".repeat(256));
    visitor.visit("() ()", ());
    visitor.visit("Unit Unit", Unit);
    visitor.visit("Empty Empty {}", Empty {});
    visitor.visit("New New(300)", New(300));
    visitor.visit("Tup Tup(1, -2, \"x\")", Tup(1, -2, "x".to_owned()));
    visitor.visit("Point Point { x: 1, y: -1 }", Point { x: 1, y: -1 });
    visitor.visit("Person Person { name: \"David\", age: 30, sex: true, hobbies: [\"跑步\", \"读书\", \"看电影\"] }", Person { name: "David".to_owned(), age: 30, sex: true, hobbies: ["跑步", "读书", "看电影"].map(str::to_owned).to_vec() });
    visitor.visit("Option<u8> None", None::<u8>);
    visitor.visit("Option<u8> Some(0)", Some(0_u8));
    visitor.visit("Option<u8> Some(5)", Some(5_u8));
    visitor.visit("Option<Option<u8>> None", None::<Option<u8>>);
    visitor.visit("Option<Option<u8>> Some(None)", Some(None::<u8>));
    visitor.visit("Option<Option<u8>> Some(Some(1))", Some(Some(1_u8)));
    visitor.visit("Option<()> None", None::<()>);
    visitor.visit("Option<()> Some(())", Some(()));
    visitor.visit("E E::Unit", Enum::Unit);
    visitor.visit("E E::New(500)", Enum::New(500));
    visitor.visit("E E::Tuple(1, 2)", Enum::Tuple(1, 2));
    visitor.visit(
        "E E::Struct { a: 1, b: Some(true) }",
        Enum::Struct { a: 1, b: Some(true) },
    );
    visitor.visit("E E::Struct { a: 1, b: None }", Enum::Struct { a: 1, b: None });
    visitor.visit("Vec<u8> vec![]", Vec::<u8>::new());
    visitor.visit("Vec<u8> vec![1, 200, 255]", vec![1_u8, 200, 255]);
    visitor.visit("bytes [1, 200, 255]", ByteBuf::from(vec![1, 200, 255]));
    visitor.visit("bytes []", ByteBuf::new());
    visitor.visit("Vec<u32> vec![]", Vec::<u32>::new());
    visitor.visit("Vec<u32> vec![1, 300, 70000]", vec![1_u32, 300, 70_000]);
    visitor.visit("Vec<u16> 0..16", (0_u16..16).collect::<Vec<_>>());
    visitor.visit("Vec<()> [(), ()]", vec![(), ()]);
    visitor.visit("[u16; 3] [1, 300, 65535]", [1_u16, 300, 65_535]);
    visitor.visit("(u8, &str, bool) (1, \"a\", true)", (1_u8, "a".to_owned(), true));
    visitor.visit("BTreeMap<String, u8> BTreeMap::new()", BTreeMap::<String, u8>::new());
    visitor.visit("BTreeMap<String, u8> BTreeMap::from([(\"a\".to_string(), 1), (\"b\".to_string(), 2)])", BTreeMap::from([("a".to_owned(), 1_u8), ("b".to_owned(), 2)]));
    visitor.visit(
        "BTreeMap<u16, bool> BTreeMap::from([(1, true), (300, false)])",
        BTreeMap::from([(1_u16, true), (300, false)]),
    );
    visitor.visit(
        "BTreeMap<i8, u8> BTreeMap::from([(-1, 2)])",
        BTreeMap::from([(-1_i8, 2_u8)]),
    );
    visitor.visit("Result<u8, String> Ok(1)", Ok::<u8, String>(1));
    visitor.visit(
        "Result<u8, String> Err(\"e\".to_string())",
        Err::<u8, String>("e".to_owned()),
    );
    visitor.visit(
        "Vec<Vec<Option<bool>>> [[], [None, Some(true)]]",
        vec![vec![], vec![None, Some(true)]],
    );
}
