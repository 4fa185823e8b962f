//! Bytes that go from codec to codec of one wire format: the legs of their way that lead through
//! the codecs of this binary.
//!
//! Whether two implementations of a format understand each other is found out, not assumed: one
//! encodes the value, the other decodes it, compares it with its own, and encodes again what it
//! has got.

use std::fs;

use wiremark_core::{Codec, Profile};
use wiremark_datasets::{About, Dataset};
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
fn leg<C: Codec, D: Dataset>(codec: &mut C, dataset: &D, relay: &Relay) -> Exchanged {
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
                    let reason = difference(dataset.value(), &value);
                    return Exchanged {
                        verdict: Outcome::Changed,
                        mapping: None,
                        reason: Some(reason),
                    };
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
    Exchanged { verdict: Outcome::Equal, mapping: None, reason: None }
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

        fn encode_into<T: serde::Serialize + ?Sized>(
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
