#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

#[cfg(feature = "files")]
pub mod files;
mod fingerprint;
mod random;
pub mod seeded;
mod value;

pub use fingerprint::{fingerprint, weight};
pub use seeded::{IDS, SEED, about, visit};
pub use value::{Value, ValueError, from_value, to_value};

use std::fmt;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// What a dataset's values can do. Implemented for everything that can.
pub trait Data:
    Serialize + DeserializeOwned + PartialEq + fmt::Debug + Send + 'static
{
}

impl<T> Data for T where
    T: Serialize + DeserializeOwned + PartialEq + fmt::Debug + Send + 'static
{
}

/// A value of one type with its description, and what a benchmark needs beside it.
pub trait Dataset: Send + 'static {
    /// The type of the whole value, one document.
    type Value: Data;
    /// The type of a record, where the value is a sequence of records; else [`Self::Value`].
    type Item: Data;
    /// A twin of the value that borrows its text and bytes from the input.
    type Borrowed<'de>: Deserialize<'de>;

    /// Whether [`Self::Borrowed`] really borrows. Where it is false, `Borrowed` stands for
    /// nothing and is not measured.
    const BORROWS: bool;

    /// Name, size and origin.
    fn about(&self) -> About;

    /// The value that is measured.
    fn value(&self) -> &Self::Value;

    /// Another value of the same type and shape that differs from [`value`](Self::value) in
    /// some part. A codec that answers from a cache is found out by encoding both.
    fn sibling(&self) -> Self::Value;

    /// The documents of a stream: the records of the value where it is a sequence, else a
    /// hundred values like it; for a user's file that is one document, this one. Never empty,
    /// except for a set that was made with no records.
    fn items(&self) -> &[Self::Item];

    /// Whether a borrowed twin holds the same as a value.
    fn is_same(borrowed: &Self::Borrowed<'_>, value: &Self::Value) -> bool;
}

/// Name, size and origin of a dataset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About {
    /// One word: `people`, or the stem of the user's file.
    pub id: String,
    /// One line for a heading: `10,000 people {name, age, sex, hobbies}`.
    pub title: String,
    /// `seed 42`, or the file's name without its folder.
    pub source: String,
    /// Number of records.
    pub records: u64,
    /// What it grew from, and what was done otherwise there; empty for a user's file.
    pub origin: String,
    /// Whether only a self-describing format can carry it, since no schema is known.
    pub needs_self_describing: bool,
}

/// Walks datasets with their static types.
pub trait DatasetVisitor {
    /// Called once for each dataset.
    fn visit<D: Dataset>(&mut self, dataset: &D);
}
