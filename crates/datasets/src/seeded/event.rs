//! `event`: one event {tag, time, record}, whose record is a map of seven dynamic entries.
//!
//! It grew from a comparison of two `MessagePack` libraries on what a log collector sends. A
//! self-describing codec carries the entries as they are ([`Event<Value>`]: `"pid": 4711`); a
//! schema-bound codec needs their types spelled out ([`Event<Entry>`]: an enum).

use std::collections::BTreeMap;
use std::fmt;

use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize};

use super::{DOCUMENTS, SEED, describe};
use crate::random::{Rng, WORDS};
use crate::{About, Data, Dataset, Value};

/// Something that happened at one time, with details. `E` is the type of a detail: [`Value`]
/// or [`Entry`].
///
/// All text is ASCII without escapes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event<E> {
    /// Where it comes from: `app.web`, say.
    pub tag: String,
    /// Nanoseconds since 1970-01-01 UTC; all in 2026, so 61 bits.
    pub time: u64,
    /// Seven entries, by name: `host` and `message` (text), `pid` and `status` (positive
    /// integers), `drift_us` (a negative integer), `took_ms` (a fraction with three decimal
    /// places), `cached` (true or false).
    pub record: BTreeMap<String, E>,
}

/// [`Event`] with text that borrows from the input.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct EventRef<'a, E> {
    /// As in [`Event`].
    pub tag: &'a str,
    /// As in [`Event`].
    pub time: u64,
    /// As in [`Event`].
    #[serde(borrow)]
    pub record: BTreeMap<&'a str, E>,
}

/// A detail of an [`Event`] for codecs that need a schema: an externally tagged enum.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Entry {
    /// True or false.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A fraction.
    Float(f64),
    /// Text.
    Text(String),
}

impl From<Entry> for Value {
    fn from(entry: Entry) -> Self {
        match entry {
            Entry::Bool(value) => value.into(),
            Entry::Int(value) => value.into(),
            Entry::Float(value) => value.into(),
            Entry::Text(value) => value.into(),
        }
    }
}

/// [`Entry`] with text that borrows from the input.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub enum EntryRef<'a> {
    /// True or false.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A fraction.
    Float(f64),
    /// Text.
    Text(&'a str),
}

impl PartialEq<Entry> for EntryRef<'_> {
    fn eq(&self, other: &Entry) -> bool {
        match (self, other) {
            (Self::Bool(a), Entry::Bool(b)) => a == b,
            (Self::Int(a), Entry::Int(b)) => a == b,
            (Self::Float(a), Entry::Float(b)) => a.to_bits() == b.to_bits(),
            (Self::Text(a), Entry::Text(b)) => a == b,
            _ => false,
        }
    }
}

/// What [`Value`] is for [`Entry`], with text that borrows from the input: true, false, a
/// number or text, told apart by the document itself.
#[derive(Clone, Debug, PartialEq)]
pub enum ScalarRef<'a> {
    /// True or false.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A fraction.
    Float(f64),
    /// Text.
    Text(&'a str),
}

impl PartialEq<Value> for ScalarRef<'_> {
    fn eq(&self, other: &Value) -> bool {
        match *self {
            Self::Bool(value) => *other == Value::from(value),
            Self::Int(value) => *other == Value::from(value),
            Self::Float(value) => *other == Value::from(value),
            Self::Text(value) => other.as_str() == Some(value),
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for ScalarRef<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Scalar;

        impl<'de> Visitor<'de> for Scalar {
            type Value = ScalarRef<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("true, false, a number, or text that can be borrowed")
            }

            fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
                Ok(ScalarRef::Bool(value))
            }

            fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
                Ok(ScalarRef::Int(value))
            }

            fn visit_u64<E: serde::de::Error>(
                self,
                value: u64,
            ) -> Result<Self::Value, E> {
                i64::try_from(value)
                    .map(ScalarRef::Int)
                    .map_err(|_| E::custom("integer beyond i64"))
            }

            fn visit_f64<E>(self, value: f64) -> Result<Self::Value, E> {
                Ok(ScalarRef::Float(value))
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(ScalarRef::Text(text))
            }
        }

        deserializer.deserialize_any(Scalar)
    }
}

/// The two ways of carrying a detail: [`Value`] and [`Entry`].
pub trait EventEntry: Data + Clone + From<Entry> {
    /// Its twin that borrows text from the input.
    type Ref<'de>: Deserialize<'de> + PartialEq<Self>;
}

impl EventEntry for Value {
    type Ref<'de> = ScalarRef<'de>;
}

impl EventEntry for Entry {
    type Ref<'de> = EntryRef<'de>;
}

/// The dataset `event`; the documents of its stream are a hundred events.
///
/// ```
/// use wiremark_datasets::{Dataset, Value, seeded::event::{Entry, Events}};
///
/// let dynamic = Events::<Value>::new();
/// let typed = Events::<Entry>::new();
/// assert_eq!(dynamic.value().record.len(), 7);
/// assert_eq!(dynamic.value().time, typed.value().time);
/// assert_eq!(dynamic.items().len(), 100);
/// ```
#[derive(Clone, Debug)]
pub struct Events<E> {
    seed: u64,
    events: Vec<Event<E>>,
}

impl<E: EventEntry> Events<E> {
    /// The set that is measured, from [`SEED`].
    pub fn new() -> Self {
        Self::with_seed(SEED)
    }

    /// Another hundred events.
    pub fn with_seed(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        Self { seed, events: (0..DOCUMENTS).map(|_| event(&mut rng)).collect() }
    }
}

impl<E: EventEntry> Default for Events<E> {
    fn default() -> Self {
        Self::new()
    }
}

impl<E: EventEntry> Dataset for Events<E> {
    type Value = Event<E>;
    type Item = Event<E>;
    type Borrowed<'de> = EventRef<'de, E::Ref<'de>>;
    const BORROWS: bool = true;

    fn about(&self) -> About {
        about(self.seed)
    }

    fn value(&self) -> &Self::Value {
        &self.events[0]
    }

    fn sibling(&self) -> Self::Value {
        event(&mut Rng::new(self.seed.wrapping_add(1)))
    }

    fn items(&self) -> &[Self::Item] {
        &self.events
    }

    fn is_same(borrowed: &Self::Borrowed<'_>, value: &Self::Value) -> bool {
        borrowed.tag == value.tag
            && borrowed.time == value.time
            && borrowed.record.len() == value.record.len()
            && borrowed
                .record
                .iter()
                .zip(&value.record)
                .all(|((a, one), (b, other))| a == b && one == other)
    }
}

pub(super) fn about(seed: u64) -> About {
    let title = "an event {tag, time, record: map of 7 dynamic entries}".to_owned();
    describe("event", title, seed, 1)
}

fn event<E: From<Entry>>(rng: &mut Rng) -> Event<E> {
    /// 2026-01-01 00:00:00 UTC in nanoseconds since the epoch, and the length of that year.
    const START_NS: u64 = 1_767_225_600_000_000_000;
    const YEAR_NS: u64 = 365 * 86_400 * 1_000_000_000;

    let tag = format!("app.{}", rng.pick(&["web", "mail", "search", "billing", "batch"]));
    let time = START_NS + rng.below(YEAR_NS);
    let host = format!("node-{:02}.example.net", rng.between(1_u8, 40));
    let message = rng.words(WORDS, 4, 9);
    let status = i64::from(rng.between(100_u16, 599));
    let pid = i64::from(rng.between(300_u32, 4_194_303));
    let drift_us = -1 - i64::from(rng.between(0_u16, 40_000));
    let took_ms = f64::from(rng.between(1_u32, 4_999_999)) / 1_000.0;
    let cached = rng.chance(2);
    let record = [
        ("host", Entry::Text(host)),
        ("message", Entry::Text(message)),
        ("status", Entry::Int(status)),
        ("pid", Entry::Int(pid)),
        ("drift_us", Entry::Int(drift_us)),
        ("took_ms", Entry::Float(took_ms)),
        ("cached", Entry::Bool(cached)),
    ];
    let record = record.into_iter().map(|(name, entry)| (name.to_owned(), entry.into()));
    Event { tag, time, record: record.collect() }
}
