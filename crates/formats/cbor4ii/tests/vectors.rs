//! Golden bytes, and vectors of RFC 8949.

use wiremark_cbor4ii::Cbor4ii;
use wiremark_conform::corpora::Differences;
use wiremark_conform::vectors::Vectors;
use wiremark_conform::{cbor, wire};
use wiremark_core::{Codec, ErrorKind};
use wiremark_datasets::Value;

/// What the golden bytes are not read as, and why.
const GOLDEN_DIFFERENCES: &[(&str, &str)] = &[(
    "Option<Option<u8>> Some(None)",
    "cbor4ii writes one null, whatever it is inside of",
)];

#[test]
fn values_have_the_golden_bytes() {
    let mut differences = Differences::known(GOLDEN_DIFFERENCES);
    let golden = include_str!("data/wire-vectors.tsv");
    wire::check(&Cbor4ii::new(), golden, &mut differences);
    differences.assert_as_known();
}

/// Where the library reads RFC 8949 in another way, by the bytes.
const RFC_DIFFERENCES: &[(&str, &str)] = &[
    ("5f00ff", CHUNK),
    ("5f6161ff", CHUNK),
    ("7f4161ff", CHUNK),
    ("7f7f6161ffff", CHUNK),
    ("7f61c361a9ff", "cbor4ii looks at a text when its chunks are joined"),
    ("c074323031332d30332d32315432303a30343a30305a", TAG),
    ("c0c06161", TAG),
    ("c1", TAG),
    ("c11a514b67b0", TAG),
    ("c1fb41d452d9ec200000", TAG),
    ("c2581a0100000000000000000000000000000000000000000000000000", "128 bits at most"),
    ("d74401020304", TAG),
    ("d8", TAG),
    ("d818456449455446", TAG),
    ("d82070687474703a2f2f782e6578616d706c65", TAG),
    ("d900", TAG),
    ("d9d9f701", TAG),
    ("da000000", TAG),
    ("db00000000000000", TAG),
    ("f0", SIMPLE),
    ("f7", "serde has no undefined; cbor4ii shows it as null"),
    ("f820", SIMPLE),
    ("f8ff", SIMPLE),
];

const CHUNK: &str = "cbor4ii passes over chunks of any type";
const TAG: &str =
    "cbor4ii knows the tags of big integers, and refuses the others at once";
const SIMPLE: &str = "cbor4ii knows no simple values but the four named ones";

#[test]
fn vectors_of_the_rfc_are_read_as_it_says() {
    let mut differences = Differences::known(RFC_DIFFERENCES);
    cbor::check(&Cbor4ii::new(), &mut differences);
    differences.assert_as_known();
}

#[test]
fn floats_of_each_width_are_read_without_a_type() {
    let mut vectors = Vectors::of(&Cbor4ii::new());
    for bytes in ["f93e00", "fa3fc00000", "fb3ff8000000000000"] {
        vectors.is_read("RFC 8949, appendix A", bytes, &Value::from(1.5));
    }
    vectors.assert_all();
}

#[test]
fn a_float_of_another_width_than_the_type_is_refused() {
    fn check<T: serde::de::DeserializeOwned>(bytes: &[u8]) {
        let error = Cbor4ii::new().decode::<T>(bytes).err();
        assert_eq!(
            error.map(|error| error.kind()),
            Some(ErrorKind::Data),
            "{bytes:02x?}"
        );
    }
    let (half, single) = (&[0xf9, 0x3e, 0x00], &[0xfa, 0x3f, 0xc0, 0x00, 0x00]);
    check::<f64>(half);
    check::<f64>(single);
    check::<f32>(half);
    check::<f32>(&[0xfb, 0x3f, 0xf8, 0, 0, 0, 0, 0, 0]);
}

#[test]
fn unit_is_an_empty_array_and_null_is_null() {
    let mut vectors = Vectors::of(&Cbor4ii::new());
    vectors.both_ways("the library's way", "80", &());
    vectors.both_ways("the library's way", "80", &Some(()));
    vectors.both_ways("RFC 8949, appendix A", "f6", &None::<()>);
    vectors.both_ways("RFC 8949, appendix A", "f6", &Value::Null);
    vectors.assert_all();
    let error = Cbor4ii::new().decode::<()>(&[0xf6]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Data);
}
