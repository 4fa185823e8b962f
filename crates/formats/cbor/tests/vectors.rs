//! Golden bytes, and vectors of RFC 8949.

use wiremark_cbor::Cbor;
use wiremark_conform::corpora::Differences;
use wiremark_conform::{cbor, wire};

/// What the golden bytes are not read as, and why.
const GOLDEN_DIFFERENCES: &[(&str, &str)] = &[
    ("Option<()> Some(())", "ciborium writes null, for unit and for nothing"),
    (
        "Option<Option<u8>> Some(None)",
        "ciborium writes one null, whatever it is inside of",
    ),
];

#[test]
fn values_have_the_golden_bytes() {
    let mut differences = Differences::known(GOLDEN_DIFFERENCES);
    wire::check(&Cbor::new(), include_str!("data/wire-vectors.tsv"), &mut differences);
    differences.assert_as_known();
}

/// Where the library reads RFC 8949 in another way, by the bytes.
const RFC_DIFFERENCES: &[(&str, &str)] = &[
    ("7f7f6161ffff", "ciborium takes indefinite chunks inside one another"),
    ("c074323031332d30332d32315432303a30343a30305a", TAG),
    ("c0c06161", TAG),
    ("c11a514b67b0", TAG),
    ("c1fb41d452d9ec200000", TAG),
    ("c2581a0100000000000000000000000000000000000000000000000000", TAG),
    ("d74401020304", TAG),
    ("d818456449455446", TAG),
    ("d82070687474703a2f2f782e6578616d706c65", TAG),
    ("d9d9f701", TAG),
    ("f0", SIMPLE),
    ("f7", "serde has no undefined; ciborium shows it as null"),
    ("f814", "ciborium takes `false` in two bytes"),
    ("f820", SIMPLE),
    ("f8ff", SIMPLE),
];

const TAG: &str = "ciborium shows a tag as an enum, which `Value` has no place for";
const SIMPLE: &str = "ciborium knows no simple values but the four named ones";

#[test]
fn vectors_of_the_rfc_are_read_as_it_says() {
    let mut differences = Differences::known(RFC_DIFFERENCES);
    cbor::check(&Cbor::new(), &mut differences);
    differences.assert_as_known();
}
