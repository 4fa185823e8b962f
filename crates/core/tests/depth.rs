//! The guard by itself, in front of `serde_json` and of serde's own deserializers.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::iter::repeat_n;

use serde::de::value::{Error as ValueError, SeqDeserializer};
use serde::de::{DeserializeOwned, IgnoredAny, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use wiremark_core::ErrorKind;
use wiremark_core::depth::{Guard, MAX_EMPTY_ELEMENTS};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Unit;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Newtype(u8);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Tuple(u8, u8);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Fields {
    a: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    b: Option<u8>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Enum {
    Unit,
    Newtype(u8),
    Tuple(u8, u8),
    Struct { a: u8 },
}

fn write<T: Serialize>(value: &T, guard: &Guard) -> serde_json::Result<String> {
    serde_json::to_string(&guard.value(value))
}

fn read<'de, T: Deserialize<'de>>(
    text: &'de str,
    guard: &Guard,
) -> serde_json::Result<T> {
    let mut library = serde_json::Deserializer::from_str(text);
    library.disable_recursion_limit();
    T::deserialize(guard.lending(&mut library))
}

/// `value` is written and read as without a guard where `depth` levels are allowed, and is
/// refused both ways where there is one less.
fn check<T>(depth: u32, value: &T, bad: &mut Vec<String>)
where
    T: Serialize + DeserializeOwned + PartialEq + Debug,
{
    let text = serde_json::to_string(value).expect("a value that JSON can hold");
    let guard = Guard::with_max_depth(depth);
    let written = write(value, &guard).ok();
    let back = read::<T>(&text, &guard).ok();
    if written.as_ref() != Some(&text) || back.as_ref() != Some(value) {
        bad.push(format!(
            "{text}: depth {depth}: expected it both ways, found {written:?}, {back:?}"
        ));
    }
    let Some(less) = depth.checked_sub(1) else { return };
    let kind = |guard: &Guard| guard.error().map(|error| error.kind());
    let guard = Guard::with_max_depth(less);
    if write(value, &guard).is_ok() || kind(&guard) != Some(ErrorKind::Limit) {
        bad.push(format!("{text}: depth {less}: expected a limit when written"));
    }
    let guard = Guard::with_max_depth(less);
    if read::<T>(&text, &guard).is_ok() || kind(&guard) != Some(ErrorKind::Limit) {
        bad.push(format!("{text}: depth {less}: expected a limit when read"));
    }
}

#[test]
fn each_kind_of_value_is_as_deep_as_the_table_says_and_written_as_without_a_guard() {
    let mut bad = Vec::new();
    let bad_ref = &mut bad;
    check(0, &true, bad_ref);
    check(0, &-1_i8, bad_ref);
    check(0, &u128::MAX, bad_ref);
    check(0, &i128::MIN, bad_ref);
    check(0, &0.5_f32, bad_ref);
    check(0, &'é', bad_ref);
    check(0, &"text".to_owned(), bad_ref);
    check(0, &(), bad_ref);
    check(0, &Unit, bad_ref);
    check(0, &Enum::Unit, bad_ref);
    check(0, &None::<u8>, bad_ref);
    check(1, &vec![1, 2], bad_ref);
    check(1, &(1_u8, "a".to_owned()), bad_ref);
    check(1, &Tuple(1, 2), bad_ref);
    check(1, &Fields { a: 1, b: None }, bad_ref);
    check(1, &Fields { a: 1, b: Some(2) }, bad_ref);
    check(1, &BTreeMap::from([(1_u8, 'a')]), bad_ref);
    check(1, &Enum::Newtype(1), bad_ref);
    check(2, &Enum::Tuple(1, 2), bad_ref);
    check(2, &Enum::Struct { a: 1 }, bad_ref);
    check(2, &vec![Some(vec![1])], bad_ref);
    check(3, &vec![Enum::Tuple(1, 2), Enum::Unit], bad_ref);
    check(3, &BTreeMap::from([("k".to_owned(), vec![Tuple(1, 2)])]), bad_ref);
    assert!(bad.is_empty(), "{bad:#?}");
}

#[test]
fn options_and_newtypes_are_bounded_at_twice_the_depth() {
    // With one level there may be two of them.
    let guard = Guard::with_max_depth(1);
    assert_eq!(write(&Some(Newtype(1)), &guard).unwrap(), "1");
    assert_eq!(read::<Option<Newtype>>("1", &guard).unwrap(), Some(Newtype(1)));
    assert!(write(&Some(Some(Newtype(1))), &guard).is_err());
    assert_eq!(guard.error().unwrap().kind(), ErrorKind::Limit);
    let guard = Guard::with_max_depth(1);
    assert!(read::<Option<Option<Newtype>>>("1", &guard).is_err());
    let expected = "expected at most 2 options and newtypes inside one another";
    assert_eq!(guard.error().unwrap().to_string(), expected);
}

#[test]
fn an_error_of_the_library_is_none_of_the_guard() {
    let guard = Guard::new();
    assert!(read::<Vec<u8>>("[1, true]", &guard).is_err());
    assert!(guard.error().is_none());
}

/// A sequence whose elements may fail without failing it.
#[derive(Debug)]
struct Lenient(usize);

impl<'de> Deserialize<'de> for Lenient {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Elements;
        impl<'de> Visitor<'de> for Elements {
            type Value = Lenient;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a sequence")
            }
            fn visit_seq<A: SeqAccess<'de>>(
                self,
                mut seq: A,
            ) -> Result<Lenient, A::Error> {
                let mut failed = 0;
                loop {
                    match seq.next_element::<Vec<Option<bool>>>() {
                        Ok(None) => return Ok(Lenient(failed)),
                        Ok(Some(_)) => {}
                        Err(_) => failed += 1,
                    }
                }
            }
        }
        deserializer.deserialize_seq(Elements)
    }
}

#[test]
fn levels_are_left_after_a_failure_that_the_type_survives() {
    // `SeqDeserializer` goes on behind an element that fails; each fails one level in.
    let elements = repeat_n(vec![7_u8], 500);
    let guard = Guard::with_max_depth(2);
    let library = SeqDeserializer::<_, ValueError>::new(elements);
    assert_eq!(Lenient::deserialize(guard.lending(library)).unwrap().0, 500);
    assert!(guard.error().is_none());
    // All levels are there again.
    assert_eq!(read::<Vec<Vec<u8>>>("[[1]]", &guard).unwrap(), [[1]]);
}

#[test]
fn text_is_lent_or_copied_as_the_source_does() {
    let text = String::from("\"lent\"");
    let guard = Guard::new();
    let lent = read::<&str>(&text, &guard).unwrap();
    assert_eq!(lent.as_ptr(), text["\"".len()..].as_ptr());

    let mut library = serde_json::Deserializer::from_str(&text);
    let copied = String::deserialize(guard.copying(&mut library)).unwrap();
    assert_eq!(copied, "lent");
    // Of another lifetime than the input, so it cannot be borrowed from it.
    let mut library = serde_json::Deserializer::from_str(&text);
    assert!(<&'static str>::deserialize(guard.copying(&mut library)).is_err());
}

#[test]
fn elements_that_take_no_bytes_are_counted_where_there_are_no_tags() {
    for (count, input, fits) in [
        (MAX_EMPTY_ELEMENTS, 0, true),
        (MAX_EMPTY_ELEMENTS + 1, 0, false),
        (MAX_EMPTY_ELEMENTS + 10, 10, true),
        (MAX_EMPTY_ELEMENTS + 11, 10, false),
    ] {
        let input = vec![0; input];
        let guard = Guard::new();
        let library = SeqDeserializer::<_, ValueError>::new(repeat_n((), count));
        let read = Vec::<()>::deserialize(guard.untagged(library, &input));
        assert_eq!(read.is_ok(), fits, "{count} elements, {} bytes", input.len());
        let kind = guard.error().map(|error| error.kind());
        assert_eq!(kind, (!fits).then_some(ErrorKind::Limit));
    }
    // With tags, each element takes a byte, and nobody counts.
    let guard = Guard::new();
    let library =
        SeqDeserializer::<_, ValueError>::new(repeat_n((), MAX_EMPTY_ELEMENTS + 1));
    assert!(Vec::<IgnoredAny>::deserialize(guard.lending(library)).is_ok());
}

#[test]
fn what_is_written_without_tags_has_no_more_elements_than_can_be_read() {
    for (count, bytes, fits) in [
        (0, 0, true),
        (MAX_EMPTY_ELEMENTS, 0, true),
        (MAX_EMPTY_ELEMENTS + 1, 0, false),
        (MAX_EMPTY_ELEMENTS + 1, 1, true),
    ] {
        let guard = Guard::new();
        serde_json::to_string(&guard.untagged_value(&vec![(); count])).unwrap();
        let result = guard.check_elements(bytes);
        assert_eq!(result.is_ok(), fits, "{count} elements, {bytes} bytes");
    }
}

#[test]
fn both_sides_hear_whether_the_format_is_for_people() {
    struct Asks;
    impl Serialize for Asks {
        fn serialize<S: serde::Serializer>(
            &self,
            serializer: S,
        ) -> Result<S::Ok, S::Error> {
            let answer = serializer.is_human_readable();
            serializer.serialize_bool(answer)
        }
    }
    let guard = Guard::new();
    assert_eq!(write(&Asks, &guard).unwrap(), "true");
    let mut library = serde_json::Deserializer::from_str("1");
    assert!(guard.lending(&mut library).is_human_readable());
}
