//! Bytes that go from codec to codec of one wire format: the legs of their way that lead through
//! the codecs of this binary.
//!
//! Whether two implementations of a format understand each other is found out, not assumed: one
//! encodes the value, the other decodes it, compares it with its own, and encodes again what it
//! has got.

use std::collections::BTreeSet;
use std::fs;

use serde::Serialize;
use wiremark_core::{Codec, Profile};
use wiremark_datasets::{About, Dataset, Value, to_value};
use wiremark_record::Outcome;
use wiremark_record::protocol::{Exchanged, Relay, Request, Skip};

use crate::cells::{self, PairVisitor};
use crate::check::difference;

/// Runs the legs, each after those before it; answers in their order.
///
/// # Errors
/// A sentence for a person, if a file of the user cannot be read or a dataset is not known.
pub fn run(request: &Request, relays: &[Relay]) -> Result<Vec<Exchanged>, String> {
    let mut legs = Legs { relays, answers: vec![None; relays.len()] };
    cells::visit_pairs(request, &mut legs)?;
    let unknown = || refused("this program has no such codec or dataset".to_owned());
    Ok(legs.answers.into_iter().map(|answer| answer.unwrap_or_else(unknown)).collect())
}

struct Legs<'a> {
    relays: &'a [Relay],
    answers: Vec<Option<Exchanged>>,
}

impl PairVisitor for Legs<'_> {
    fn wants(&self, profile: &Profile, dataset: &str) -> bool {
        self.relays
            .iter()
            .any(|relay| relay.codec == profile.id && relay.dataset == dataset)
    }

    fn visit<C: Codec, D: Dataset>(&mut self, codec: &C, dataset: &D) {
        let (id, set) = (codec.profile().id, dataset.about().id);
        for (relay, answer) in self.relays.iter().zip(&mut self.answers) {
            if relay.codec == id && relay.dataset == set {
                *answer = Some(leg(&mut codec.clone(), dataset, relay));
            }
        }
    }

    fn refuse(&mut self, profile: &Profile, about: &About, skip: &Skip) {
        for (relay, answer) in self.relays.iter().zip(&mut self.answers) {
            if relay.codec == profile.id && relay.dataset == about.id {
                *answer = Some(refused(skip.reason.clone()));
            }
        }
    }
}

fn refused(reason: String) -> Exchanged {
    Exchanged { verdict: Outcome::Refused, mapping: None, reason: Some(reason) }
}

/// Decodes and compares, if there is something to read; encodes, if there is something to write.
///
/// What another language cannot tell apart may come back as something that is equal by one of the
/// mappings of [`Mappings`].
fn leg<C: Codec, D: Dataset>(codec: &mut C, dataset: &D, relay: &Relay) -> Exchanged {
    let mut mapping = None;
    let decoded = match &relay.read {
        None => None,
        Some(path) => {
            let bytes = match fs::read(path) {
                Ok(bytes) => bytes,
                Err(error) => return refused(format!("cannot read the bytes: {error}")),
            };
            match codec.decode::<D::Value>(&bytes) {
                Ok(value) if value == *dataset.value() => Some(value),
                Ok(value) => {
                    mapping = Mappings::between(dataset.value(), &value);
                    if mapping.is_none() {
                        let reason = difference(dataset.value(), &value);
                        return Exchanged {
                            verdict: Outcome::Changed,
                            mapping: None,
                            reason: Some(reason),
                        };
                    }
                    Some(value)
                }
                Err(error) => return refused(format!("failed to decode: {error}")),
            }
        }
    };
    if let Some(path) = &relay.write {
        let mut bytes = Vec::new();
        let value = decoded.as_ref().unwrap_or_else(|| dataset.value());
        if let Err(error) = codec.encode_into(value, &mut bytes) {
            return refused(format!("failed to encode: {error}"));
        }
        if let Err(error) = fs::write(path, bytes) {
            return refused(format!("cannot write the bytes: {error}"));
        }
    }
    let verdict = if mapping.is_none() { Outcome::Equal } else { Outcome::Mapped };
    Exchanged { verdict, mapping, reason: None }
}

/// What had to be allowed for two values to be equal.
#[derive(Clone, Debug, Default)]
struct Mappings(BTreeSet<Mapping>);

/// What another language, or a format's text, does not tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Mapping {
    NumbersAsText,
    TruthAsTextOrNumber,
    WholeAsFraction,
    OtherOrder,
}

impl Mapping {
    fn as_str(self) -> &'static str {
        match self {
            Self::NumbersAsText => "numbers come back as text",
            Self::TruthAsTextOrNumber => "truth values come back as text or numbers",
            Self::WholeAsFraction => "whole numbers and fractions are one kind",
            Self::OtherOrder => "maps come back in another order",
        }
    }
}

impl Mappings {
    /// In words; `None` if the values differ in more than that.
    fn between<T: Serialize>(sent: &T, got: &T) -> Option<String> {
        let (sent, got) = (to_value(sent).ok()?, to_value(got).ok()?);
        let mut mappings = Self::default();
        let are_equal = mappings.are_equal(&sent, &got);
        let used: Vec<&str> = mappings.0.into_iter().map(Mapping::as_str).collect();
        are_equal.then(|| used.join("; "))
    }

    fn are_equal(&mut self, sent: &Value, got: &Value) -> bool {
        match (sent, got) {
            (Value::Array(sent), Value::Array(got)) => {
                sent.len() == got.len()
                    && sent.iter().zip(got).all(|(sent, got)| self.are_equal(sent, got))
            }
            (Value::Map(sent), Value::Map(got)) => {
                if sent.iter().zip(got).any(|(one, other)| one.0 != other.0) {
                    self.0.insert(Mapping::OtherOrder);
                }
                // Keys that stand twice cannot be told apart here, and do not occur in data that
                // is sent to and fro.
                let of = |key: &Value| got.iter().find(|(other, _)| other == key);
                sent.len() == got.len()
                    && sent.iter().all(|(key, value)| {
                        of(key).is_some_and(|(_, other)| self.are_equal(value, other))
                    })
            }
            (Value::Bool(truth), got) if !matches!(got, Value::Bool(_)) => {
                self.0.insert(Mapping::TruthAsTextOrNumber);
                let texts: &[&str] = if *truth { &["1"] } else { &["", "0"] };
                match got {
                    Value::Str(text) => texts.contains(&text.as_str()),
                    Value::U64(number) => *number == u64::from(*truth),
                    _ => false,
                }
            }
            (Value::U64(_) | Value::I64(_) | Value::F64(_), Value::Str(text)) => {
                self.0.insert(Mapping::NumbersAsText);
                number(text).is_some_and(|number| self.are_equal(sent, &number))
            }
            (Value::F64(fraction), Value::U64(_) | Value::I64(_)) => {
                self.0.insert(Mapping::WholeAsFraction);
                number(&fraction.to_string()).is_some_and(|number| number == *got)
            }
            (Value::U64(_) | Value::I64(_), Value::F64(_)) => self.are_equal(got, sent),
            _ => sent == got,
        }
    }
}

/// The number that a text is.
fn number(text: &str) -> Option<Value> {
    text.parse::<u64>()
        .map(Value::from)
        .or_else(|_| text.parse::<i64>().map(Value::from))
        .or_else(|_| text.parse::<f64>().map(Value::from))
        .ok()
}

#[cfg(test)]
mod tests {
    use wiremark_datasets::seeded::small::Smalls;

    use super::*;

    /// Encodes as JSON what is asked of it.
    #[derive(Clone, Debug)]
    struct Text;

    impl Codec for Text {
        fn profile(&self) -> Profile {
            unreachable!("a leg asks no profile")
        }

        fn encode_into<T: Serialize + ?Sized>(
            &mut self,
            value: &T,
            out: &mut Vec<u8>,
        ) -> wiremark_core::Result<()> {
            serde_json::to_writer(out, value).map_err(|error| {
                wiremark_core::Error::new(
                    wiremark_core::ErrorKind::Data,
                    error.to_string(),
                )
            })
        }

        fn decode<'de, T: serde::Deserialize<'de>>(
            &mut self,
            bytes: &'de [u8],
        ) -> wiremark_core::Result<T> {
            serde_json::from_slice(bytes).map_err(|error| {
                wiremark_core::Error::new(
                    wiremark_core::ErrorKind::Syntax,
                    error.to_string(),
                )
            })
        }
    }

    #[test]
    fn what_another_language_cannot_tell_apart_is_told_in_words() {
        let value = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        for (sent, got, wanted) in [
            ("[1, 2.5]", r#"["1", "2.5"]"#, Some("numbers come back as text")),
            (
                "[true, false]",
                r#"[1, ""]"#,
                Some("truth values come back as text or numbers"),
            ),
            ("[2.0]", "[2]", Some("whole numbers and fractions are one kind")),
            (
                r#"{"a":1,"b":2}"#,
                r#"{"b":2,"a":1}"#,
                Some("maps come back in another order"),
            ),
            (
                r#"{"a":1,"b":true}"#,
                r#"{"b":"1","a":"1"}"#,
                Some(
                    "numbers come back as text; truth values come back as text or numbers; maps \
                     come back in another order",
                ),
            ),
            ("[1]", r#"["2"]"#, None),
            ("[2.5]", "[2]", None),
            ("[true]", "[0]", None),
            ("[true]", r#"["true"]"#, None),
            (r#"["1"]"#, "[1]", None),
            ("[1, 2]", "[1]", None),
            (r#"{"a":1}"#, r#"{"b":1}"#, None),
        ] {
            let found = Mappings::between(&value(sent), &value(got));
            assert_eq!(found.as_deref(), wanted, "{sent} {got}");
        }
    }

    #[test]
    fn a_leg_reads_compares_and_hands_on() {
        let folder = tempfile::tempdir().unwrap();
        let (first, second) = (folder.path().join("1"), folder.path().join("2"));
        let relay =
            |read: Option<&std::path::Path>, write: Option<&std::path::Path>| Relay {
                codec: String::new(),
                dataset: String::new(),
                read: read.map(Into::into),
                write: write.map(Into::into),
            };
        let leg = |relay: &Relay| leg(&mut Text, &Smalls::new(), relay);
        assert_eq!(leg(&relay(None, Some(&first))).verdict, Outcome::Equal);
        assert_eq!(leg(&relay(Some(&first), Some(&second))).verdict, Outcome::Equal);
        assert_eq!(fs::read(&first).unwrap(), fs::read(&second).unwrap());

        let text = fs::read_to_string(&first).unwrap();
        for (bytes, outcome, part) in [
            (text.replace("four", "five"), Outcome::Changed, "five"),
            (text.replace('}', ""), Outcome::Refused, "failed to decode: "),
        ] {
            fs::write(&first, bytes).unwrap();
            let answer = leg(&relay(Some(&first), None));
            assert_eq!(answer.verdict, outcome);
            assert!(answer.reason.as_deref().unwrap_or("").contains(part), "{answer:?}");
        }
        let gone = leg(&relay(Some(&folder.path().join("3")), None));
        assert_eq!(gone.verdict, Outcome::Refused);
    }
}
