//! Golden bytes, and vectors of RFC 8949.

use wiremark_conform::corpora::Differences;
use wiremark_conform::vectors::Vectors;
use wiremark_conform::{cbor, wire};
use wiremark_core::{Codec, ErrorKind};
use wiremark_datasets::Value;
use wiremark_minicbor::MiniCbor;

/// What the golden bytes are not read as, and why.
const GOLDEN_DIFFERENCES: &[(&str, &str)] = &[(
    "Option<Option<u8>> Some(None)",
    "minicbor-serde writes one null, whatever it is inside of",
)];

#[test]
fn values_have_the_golden_bytes() {
    let mut differences = Differences::known(GOLDEN_DIFFERENCES);
    let golden = include_str!("data/wire-vectors.tsv");
    wire::check(&MiniCbor::new(), golden, &mut differences);
    differences.assert_as_known();
}

/// Where the library reads RFC 8949 in another way, by the bytes.
const RFC_DIFFERENCES: &[(&str, &str)] = &[
    ("81ff", BREAK),
    ("a100ff", BREAK),
    ("a1ff00", BREAK),
    ("bf01ff", BREAK),
    ("c1ff", BREAK),
    ("ff", BREAK),
    ("c074323031332d30332d32315432303a30343a30305a", TAG),
    ("c0c06161", TAG),
    ("c11a514b67b0", TAG),
    ("c1fb41d452d9ec200000", TAG),
    ("c2581a0100000000000000000000000000000000000000000000000000", "128 bits at most"),
    ("d74401020304", TAG),
    ("d818456449455446", TAG),
    ("d82070687474703a2f2f782e6578616d706c65", TAG),
    ("d9d9f701", TAG),
    ("f0", SIMPLE),
    ("f7", SIMPLE),
    ("f800", TWO_BYTES),
    ("f801", TWO_BYTES),
    ("f813", TWO_BYTES),
    ("f814", TWO_BYTES),
    ("f818", TWO_BYTES),
    ("f81f", TWO_BYTES),
    ("f820", SIMPLE),
    ("f8ff", SIMPLE),
];

const BREAK: &str = "minicbor passes over a break wherever it stands";
const TAG: &str =
    "minicbor shows the tags of big integers, and others to its own type alone";
const SIMPLE: &str = "minicbor-serde knows no simple values but the booleans and null";
const TWO_BYTES: &str =
    "minicbor passes over simple values in two bytes that should be in one";

#[test]
fn vectors_of_the_rfc_are_read_as_it_says() {
    let mut differences = Differences::known(RFC_DIFFERENCES);
    cbor::check(&MiniCbor::new(), &mut differences);
    differences.assert_as_known();
}

#[test]
fn floats_of_each_width_that_fits_are_read() {
    let mut vectors = Vectors::of(&MiniCbor::new());
    for bytes in ["f93e00", "fa3fc00000", "fb3ff8000000000000"] {
        vectors.is_read("RFC 8949, appendix A", bytes, &Value::from(1.5));
        vectors.is_read("RFC 8949, appendix A", bytes, &1.5_f64);
    }
    vectors.is_read("RFC 8949, appendix A", "f93e00", &1.5_f32);
    vectors.assert_all();
    let double = [0xfb, 0x3f, 0xf8, 0, 0, 0, 0, 0, 0];
    let error = MiniCbor::new().decode::<f32>(&double).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Data);
}

#[test]
fn unit_is_an_empty_array_and_null_is_null() {
    let mut vectors = Vectors::of(&MiniCbor::new());
    vectors.both_ways("the library's way", "80", &());
    vectors.both_ways("the library's way", "80", &Some(()));
    vectors.both_ways("RFC 8949, appendix A", "f6", &None::<()>);
    vectors.both_ways("RFC 8949, appendix A", "f6", &Value::Null);
    vectors.assert_all();
    let error = MiniCbor::new().decode::<()>(&[0xf6]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Data);
}

#[test]
fn chunks_are_joined_without_a_type_and_refused_with_one() {
    let mut vectors = Vectors::of(&MiniCbor::new());
    let (text, bytes) = (Value::from("streaming"), Value::Bytes(vec![1, 2, 3, 4, 5]));
    vectors.is_read("RFC 8949, appendix A", "7f657374726561646d696e67ff", &text);
    vectors.is_read("RFC 8949, appendix A", "5f42010243030405ff", &bytes);
    vectors.assert_all();
    let error = MiniCbor::new().decode::<String>(&[0x7f, 0x61, b'a', 0xff]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Data);
}
