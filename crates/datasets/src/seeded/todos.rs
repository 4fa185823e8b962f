//! `todos`: 10,000 rows {id, title, note}, as a database's table of things to do gives them.
//!
//! It grew from a program that exported such a table to a text file, line by line.

use serde::{Deserialize, Serialize};

use super::{SEED, describe, grouped};
use crate::random::{Rng, WORDS};
use crate::{About, Dataset};

/// Rows in the set that is measured.
pub const RECORDS: u64 = 10_000;

/// A row. All text is ASCII without escapes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Todo {
    /// The row's number, counted from 1 without gaps.
    pub id: u64,
    /// Two to six words.
    pub title: String,
    /// Up to 24 words; empty in one row of four.
    pub note: String,
}

/// [`Todo`] with text that borrows from the input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TodoRef<'a> {
    /// As in [`Todo`].
    pub id: u64,
    /// As in [`Todo`].
    pub title: &'a str,
    /// As in [`Todo`].
    pub note: &'a str,
}

impl PartialEq<Todo> for TodoRef<'_> {
    fn eq(&self, other: &Todo) -> bool {
        self.id == other.id && self.title == other.title && self.note == other.note
    }
}

/// The dataset `todos`.
///
/// ```
/// use wiremark_datasets::{Dataset, seeded::todos::Todos};
///
/// let todos = Todos::new();
/// assert_eq!(todos.value().len(), 10_000);
/// assert_eq!(todos.value()[0].id, 1);
/// ```
#[derive(Clone, Debug)]
pub struct Todos {
    seed: u64,
    todos: Vec<Todo>,
}

impl Todos {
    /// The set that is measured: [`RECORDS`] rows from [`SEED`].
    pub fn new() -> Self {
        Self::with(SEED, RECORDS)
    }

    /// As many rows as wanted, from any seed.
    pub fn with(seed: u64, records: u64) -> Self {
        Self { seed, todos: make(seed, records) }
    }
}

impl Default for Todos {
    fn default() -> Self {
        Self::new()
    }
}

impl Dataset for Todos {
    type Value = Vec<Todo>;
    type Item = Todo;
    type Borrowed<'de> = Vec<TodoRef<'de>>;
    const BORROWS: bool = true;

    fn about(&self) -> About {
        about(self.seed, self.todos.len() as u64)
    }

    fn value(&self) -> &Self::Value {
        &self.todos
    }

    fn sibling(&self) -> Self::Value {
        make(self.seed.wrapping_add(1), (self.todos.len() as u64).max(1))
    }

    fn items(&self) -> &[Self::Item] {
        &self.todos
    }

    fn is_same(borrowed: &Self::Borrowed<'_>, value: &Self::Value) -> bool {
        borrowed == value
    }
}

pub(super) fn about(seed: u64, records: u64) -> About {
    let title = format!("{} todos {{id, title, note}}", grouped(records));
    describe("todos", title, seed, records)
}

fn make(seed: u64, records: u64) -> Vec<Todo> {
    let mut rng = Rng::new(seed);
    (1..=records).map(|id| todo(&mut rng, id)).collect()
}

fn todo(rng: &mut Rng, id: u64) -> Todo {
    let title = rng.words(WORDS, 2, 6);
    let note = if rng.chance(4) { String::new() } else { rng.words(WORDS, 1, 24) };
    Todo { id, title, note }
}
