//! The kit against codecs that are wrong on purpose: each must be found out by the check that is
//! there for it, with words that name the fault.

use std::io::{Read, Write};

use serde::de::{Deserialize, DeserializeOwned};
use serde::ser::Serialize;
use wiremark_conform::stage::{self, Check};
use wiremark_conform::vectors::Vectors;
use wiremark_conform::{claims, contract, datasets, depth, hostile, stream};
use wiremark_core::{Capabilities, Codec, Error, ErrorKind, Profile, Result};
use wiremark_datasets::{Value, to_value};
use wiremark_json::Json;
use wiremark_postcard::Postcard;

/// What is wrong with a [`Wrong`] codec.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    None,
    ClearsOut,
    LeavesHalf,
    LosesAField,
    RoundsFloats,
    RefusesWhatIsLong,
    AnswersFromACache,
    AcceptsTrailing,
    CallsEofData,
    TellsOffsetsBehindTheEnd,
    BreaksAfterAnError,
    LosesTheLastOfAStream,
    IgnoresFailingWriters,
    IgnoresFailingReaders,
    PanicsOnFf,
    HasNoLimit,
    EncodeIsToDo,
    DecodeIsToDo,
}

/// A codec that holds, but for one fault and what its profile says.
#[derive(Clone, Debug)]
struct Wrong<C> {
    inner: C,
    fault: Fault,
    profile: Profile,
    first: Option<Vec<u8>>,
    is_broken: bool,
}

impl<C: Codec> Wrong<C> {
    fn new(inner: C, fault: Fault) -> Self {
        let profile = inner.profile();
        Self { inner, fault, profile, first: None, is_broken: false }
    }
}

impl<C: Codec> Codec for Wrong<C> {
    fn profile(&self) -> Profile {
        self.profile.clone()
    }

    fn encode_into<T: Serialize + ?Sized>(
        &mut self,
        value: &T,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let start = out.len();
        match self.fault {
            Fault::ClearsOut => out.clear(),
            Fault::LosesAField => {
                if let Ok(Value::Map(mut fields)) = to_value(value) {
                    fields.pop();
                    return self.inner.encode_into(&Value::Map(fields), out);
                }
            }
            Fault::RoundsFloats => {
                if let Ok(Value::Array(mut elements)) = to_value(value) {
                    for element in &mut elements {
                        if let Value::F64(float) = element {
                            *float = (*float * 3.0) / 3.0;
                        }
                    }
                    return self.inner.encode_into(&elements, out);
                }
            }
            Fault::AnswersFromACache => {
                if let Some(first) =
                    self.first.as_ref().filter(|first| first.len() > 1_000)
                {
                    out.extend_from_slice(first);
                    return Ok(());
                }
            }
            Fault::HasNoLimit => {
                return write_without_limit(value, out);
            }
            #[expect(clippy::todo, reason = "the fault")]
            Fault::EncodeIsToDo => todo!("let the library write"),
            _ => {}
        }
        let result = self.inner.encode_into(value, out);
        if result.is_err() && self.fault == Fault::LeavesHalf {
            out.extend_from_slice(b"half");
        }
        if self.fault == Fault::AnswersFromACache {
            self.first = Some(out[start.min(out.len())..].to_vec());
        }
        result
    }

    fn decode<'de, T: Deserialize<'de>>(&mut self, bytes: &'de [u8]) -> Result<T> {
        match self.fault {
            Fault::AcceptsTrailing => {
                return self.inner.decode_prefix(bytes).map(|(v, _)| v);
            }
            #[expect(clippy::todo, reason = "the fault")]
            Fault::DecodeIsToDo => todo!("let the library read"),
            // Without the hook that prints.
            Fault::PanicsOnFf if bytes.contains(&0xff) => {
                std::panic::resume_unwind(Box::new("ff"));
            }
            Fault::RefusesWhatIsLong if bytes.len() > 200_000 => {
                return Err(Error::limit("too long"));
            }
            Fault::BreaksAfterAnError if self.is_broken => {
                return Err(Error::data("broken"));
            }
            _ => {}
        }
        self.inner.decode(bytes).map_err(|error| {
            self.is_broken = true;
            match self.fault {
                Fault::CallsEofData if error.kind() == ErrorKind::Eof => {
                    Error::data("eof")
                }
                Fault::TellsOffsetsBehindTheEnd => error.at(bytes.len() + 1),
                _ => error,
            }
        })
    }

    fn decode_prefix<'de, T: Deserialize<'de>>(
        &mut self,
        bytes: &'de [u8],
    ) -> Result<(T, usize)> {
        self.inner.decode_prefix(bytes)
    }

    fn encode_to<T: Serialize + ?Sized, W: Write>(
        &mut self,
        value: &T,
        mut writer: W,
    ) -> Result<()> {
        let result = self.inner.encode_to(value, &mut writer);
        if self.fault == Fault::IgnoresFailingWriters { Ok(()) } else { result }
    }

    fn decode_from<T: DeserializeOwned, R: Read>(&mut self, mut reader: R) -> Result<T> {
        let mut bytes = Vec::new();
        let result = reader.read_to_end(&mut bytes);
        if self.fault != Fault::IgnoresFailingReaders {
            result?;
        }
        self.decode(&bytes)
    }

    fn encode_each<'a, T, I>(&mut self, values: I, out: &mut Vec<u8>) -> Result<()>
    where
        T: Serialize + ?Sized + 'a,
        I: IntoIterator<Item = &'a T>,
    {
        let mut values = values.into_iter().collect::<Vec<_>>();
        if self.fault == Fault::LosesTheLastOfAStream && values.len() > 1 {
            values.pop();
        }
        self.inner.encode_each(values, out)
    }
}

/// Writes anything of any depth.
fn write_without_limit<T: Serialize + ?Sized>(
    value: &T,
    out: &mut Vec<u8>,
) -> Result<()> {
    let value = to_value(value).map_err(|error| Error::data(error.to_string()))?;
    out.extend_from_slice(format!("{value:?}").as_bytes());
    value.dismantle();
    Ok(())
}

/// A codec with `fault` is found out by `check`, in words that hold `word`.
fn assert_found<C: Codec>(
    inner: C,
    fault: Fault,
    check: Check<Wrong<C>>,
    word: &str,
) -> String {
    let findings = check(&Wrong::new(inner.clone(), fault));
    if !findings.lines().iter().any(|line| line.contains(word)) {
        return format!(
            "{fault:?}: expected a finding with {word:?}, found {findings}\n"
        );
    }
    let findings = check(&Wrong::new(inner, Fault::None));
    if !findings.is_empty() {
        return format!("without {fault:?}: expected nothing, found {findings}\n");
    }
    String::new()
}

#[test]
fn each_fault_is_found_by_the_check_that_is_there_for_it() {
    // As many lines as there are faults; a bad one says which.
    let rows: &[(Fault, Check<Wrong<Json>>, &str)] = &[
        (Fault::ClearsOut, contract::encoding_appends, "behind `kept`"),
        (
            Fault::LeavesHalf,
            contract::a_failed_encode_leaves_out_as_it_was,
            "`out` as it was",
        ),
        (Fault::RoundsFloats, contract::floats_come_back, "the first changed one is"),
        (
            Fault::RefusesWhatIsLong,
            hostile::what_is_written_can_be_read,
            "written, but not read",
        ),
        (Fault::LosesAField, contract::samples_come_back, "missing field"),
        (
            Fault::LosesAField,
            datasets::datasets_come_back,
            "dataset small: does not come back",
        ),
        (Fault::AnswersFromACache, datasets::datasets_come_back, "has the same bytes"),
        (
            Fault::CallsEofData,
            contract::a_prefix_is_refused,
            "expected kind `eof`, found kind `data`",
        ),
        (
            Fault::TellsOffsetsBehindTheEnd,
            contract::a_prefix_is_refused,
            "behind the end",
        ),
        (
            Fault::TellsOffsetsBehindTheEnd,
            hostile::hostile_bytes_are_refused,
            "about the input",
        ),
        (
            Fault::BreaksAfterAnError,
            contract::a_codec_works_on_after_an_error,
            "after a failure",
        ),
        (
            Fault::LosesTheLastOfAStream,
            stream::streams_come_back,
            "a stream of 7: expected all back",
        ),
        (
            Fault::LosesTheLastOfAStream,
            datasets::datasets_come_back,
            "records back as a stream",
        ),
        (
            Fault::IgnoresFailingWriters,
            contract::writers_and_readers_may_fail,
            "a writer that fails at byte 0",
        ),
        (
            Fault::IgnoresFailingReaders,
            contract::writers_and_readers_may_fail,
            "expected kind `io`",
        ),
        (Fault::PanicsOnFf, hostile::hostile_bytes_are_refused, "found a panic"),
        (
            Fault::EncodeIsToDo,
            stage::both_functions_are_written,
            "`encode_into` is still to be written",
        ),
        (
            Fault::DecodeIsToDo,
            stage::both_functions_are_written,
            "`decode` is still to be written, in crates/conform/tests/faults.rs:",
        ),
    ];
    let mut bad = String::new();
    for &(fault, check, word) in rows {
        bad += &assert_found(Json::compact(), fault, check, word);
    }
    let rows: &[(Fault, Check<Wrong<Postcard>>, &str)] = &[
        (
            Fault::AcceptsTrailing,
            contract::trailing_bytes_are_refused,
            "expected kind `syntax`, found a value",
        ),
        (Fault::CallsEofData, contract::a_prefix_is_refused, "expected kind `eof`"),
    ];
    for &(fault, check, word) in rows {
        bad += &assert_found(Postcard::new(), fault, check, word);
    }
    assert!(bad.is_empty(), "{bad}");
}

#[test]
fn a_codec_without_a_limit_is_found() {
    let findings =
        depth::the_boundary_is_exact(&Wrong::new(Json::compact(), Fault::HasNoLimit));
    let expected = "sequences of depth 129, encoded: expected kind `limit`";
    assert!(findings.lines().iter().any(|line| line.contains(expected)), "{findings}");
}

#[test]
fn a_wrong_depth_is_found_both_ways() {
    for (claimed, expected) in [
        (127, "sequences of depth 128, encoded: expected kind `limit`"),
        (127, "sequences of depth 128, decoded: expected kind `limit`"),
        (129, "sequences of depth 129, encoded: expected bytes"),
    ] {
        let mut codec = Wrong::new(Json::compact(), Fault::None);
        codec.profile.can.max_depth = claimed;
        let findings = depth::the_boundary_is_exact(&codec);
        assert!(
            findings.lines().iter().any(|line| line.contains(expected)),
            "{claimed}: {findings}"
        );
    }
}

type Field = fn(&mut Capabilities) -> &mut bool;

const FIELDS: &[(&str, Field)] = &[
    ("self_describing", |can| &mut can.self_describing),
    ("human_readable", |can| &mut can.human_readable),
    ("field_names", |can| &mut can.field_names),
    ("borrow_str", |can| &mut can.borrow_str),
    ("borrow_bytes", |can| &mut can.borrow_bytes),
    ("bytes", |can| &mut can.bytes),
    ("int_128", |can| &mut can.int_128),
    ("non_finite_floats", |can| &mut can.non_finite_floats),
    ("nested_option", |can| &mut can.nested_option),
    ("unit_is_some", |can| &mut can.unit_is_some),
    ("integer_keys", |can| &mut can.integer_keys),
    ("compound_keys", |can| &mut can.compound_keys),
    ("unknown_length", |can| &mut can.unknown_length),
    ("omitted_fields", |can| &mut can.omitted_fields),
    ("internally_tagged", |can| &mut can.internally_tagged),
    ("adjacently_tagged", |can| &mut can.adjacently_tagged),
    ("untagged", |can| &mut can.untagged),
    ("flatten", |can| &mut can.flatten),
    ("skip", |can| &mut can.skip),
    ("deterministic", |can| &mut can.deterministic),
];

#[test]
fn a_false_claim_is_found_whichever_way_it_is_false() {
    fn check<C: Codec>(inner: &C, bad: &mut Vec<String>) {
        for &(name, field) in FIELDS {
            let mut codec = Wrong::new(inner.clone(), Fault::None);
            let claim = field(&mut codec.profile.can);
            *claim = !*claim;
            let expected = format!("claims `{name}: {claim}`");
            let findings =
                claims::what_is_claimed_holds_and_what_holds_is_claimed(&codec);
            if !matches!(findings.lines(), [line] if line.contains(&expected)) {
                bad.push(format!("{expected}: {findings}"));
            }
        }
    }
    let mut bad = Vec::new();
    check(&Json::compact(), &mut bad);
    check(&Postcard::new(), &mut bad);
    assert!(bad.is_empty(), "{bad:#?}");
}

#[test]
fn a_profile_with_a_gap_is_found() {
    for (gap, expected) in [
        ((|profile| profile.id = "json") as fn(&mut Profile), "as id"),
        (|profile| profile.spec = "", "`spec`"),
        (|profile| profile.version = "", "`version`"),
    ] {
        let mut codec = Wrong::new(Json::compact(), Fault::None);
        gap(&mut codec.profile);
        let findings = contract::a_profile_is_filled_in(&codec);
        assert!(
            findings.lines().iter().any(|line| line.contains(expected)),
            "{findings}"
        );
    }
}

#[test]
fn a_check_waits_for_its_stage_and_names_what_comes_first() {
    type Runs = fn(&Wrong<Json>, Check<Wrong<Json>>) -> wiremark_conform::Findings;
    let true_claims: fn(&mut Capabilities) = |_| {};
    let false_claims: fn(&mut Capabilities) = |can| can.flatten = false;
    let wrong_depth: fn(&mut Capabilities) = |can| can.max_depth = 127;
    let written = "`both_functions_are_written` comes first: `decode` is still";
    let claims = "holds_is_claimed` comes first: claims `flatten: false`";
    let depth = "`the_boundary_is_exact` comes first: sequences of depth 128, encoded";
    let tried = "expected kind `eof`";
    let rows: &[(Fault, _, Runs, &str)] = &[
        (Fault::DecodeIsToDo, true_claims, stage::second, written),
        (Fault::DecodeIsToDo, true_claims, stage::third, written),
        (Fault::CallsEofData, false_claims, stage::first, tried),
        (Fault::CallsEofData, false_claims, stage::second, tried),
        (Fault::CallsEofData, false_claims, stage::third, claims),
        (Fault::CallsEofData, wrong_depth, stage::third, tried),
        (Fault::CallsEofData, wrong_depth, stage::fourth, depth),
        (Fault::CallsEofData, true_claims, stage::fourth, tried),
    ];
    let mut bad = Vec::new();
    for &(fault, claim, run, expected) in rows {
        let mut codec = Wrong::new(Json::compact(), fault);
        claim(&mut codec.profile.can);
        let findings = run(&codec, contract::a_prefix_is_refused);
        if !findings.lines().first().is_some_and(|line| line.contains(expected)) {
            bad.push(format!("{fault:?}: expected {expected:?}, found {findings}"));
        }
    }
    assert!(bad.is_empty(), "{bad:#?}");
}

#[test]
fn what_was_found_ends_with_what_to_write() {
    let codec = Wrong::new(Json::compact(), Fault::CallsEofData);
    let text = contract::a_prefix_is_refused(&codec).to_string();
    let last = text.lines().last().unwrap();
    assert!(last.starts_with("to mend it: in `decode_error`"), "{text}");
}

#[test]
fn vectors_that_do_not_hold_are_found_and_so_is_a_table_without_any() {
    let mut vectors = Vectors::of(&Postcard::new());
    assert!(vectors.findings().to_string().contains("no vectors yet"));
    vectors.both_ways("varint", "ac02", &300_u16).is_read("longer", "8100", &1_u16);
    assert!(vectors.findings().is_empty(), "{}", vectors.findings());
    // Bytes of another value, another form of the same, and no bytes at all.
    vectors.both_ways("other", "ac02", &301_u16).both_ways("form", "8100", &1_u16);
    vectors.is_read("text", "0g", &1_u16);
    let expected = [
        "other: 301, encoded: expected ac02, found ad02",
        "other: ac02, decoded: expected 301, found 300",
        "form: 1, encoded: expected 8100, found 01",
        "text: expected bytes in hexadecimal, found \"0g\"",
    ];
    assert_eq!(vectors.findings().lines(), expected);
}
