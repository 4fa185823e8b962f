//! Small values of the kinds that nearly every format can carry.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// What a sample can do.
pub trait Sample: Serialize + DeserializeOwned + PartialEq + fmt::Debug {}

impl<T: Serialize + DeserializeOwned + PartialEq + fmt::Debug> Sample for T {}

/// Walks the samples with their static types.
pub trait SampleVisitor {
    /// Called once for each sample. A `closed` one begins and ends with a mark of its own in
    /// formats of text, as `12` does not: its prefix `1` is a document as well.
    fn visit<T: Sample>(&mut self, closed: bool, value: T);
}

/// A struct of common fields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// A number.
    pub id: u32,
    /// Text.
    pub name: String,
    /// A fraction that binary floats hold exactly.
    pub ratio: f64,
    /// Perhaps something.
    pub note: Option<String>,
    /// Several.
    pub tags: Vec<String>,
}

/// An enum with each kind of variant, externally tagged as serde does by default.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Shape {
    /// No content.
    Empty,
    /// One value.
    Circle(f64),
    /// Several values.
    Line(i16, i16),
    /// Named values.
    Rectangle {
        /// One side.
        width: u32,
        /// The other, if it is not the same.
        height: Option<u32>,
    },
}

/// A struct without fields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Unit;

/// A struct of one nameless field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Meters(pub u64);

/// A struct of nameless fields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pair(pub i32, pub String);

impl Record {
    /// One with all fields used.
    pub fn full() -> Self {
        Self {
            id: 300,
            name: "größe 水".to_owned(),
            ratio: -0.5,
            note: Some("a \"quoted\" note".to_owned()),
            tags: vec!["a".to_owned(), String::new(), "ccc".to_owned()],
        }
    }
}

/// Shows `visitor` each sample.
pub fn visit(visitor: &mut impl SampleVisitor) {
    visitor.visit(false, true);
    visitor.visit(false, false);
    for number in [0, 1, 127, 128, u64::from(u32::MAX), u64::MAX] {
        visitor.visit(false, number);
    }
    for number in [0, -1, -32, -33, i64::MIN, i64::MAX] {
        visitor.visit(false, number);
    }
    visitor.visit(false, 255_u8);
    visitor.visit(false, i8::MIN);
    visitor.visit(false, 65_535_u16);
    visitor.visit(false, i32::MIN);
    visitor.visit(false, 1.5_f32);
    for number in [0.0, -0.5, 1e300, f64::MIN_POSITIVE] {
        visitor.visit(false, number);
    }
    visitor.visit(true, 'é');
    for length in [0, 1, 31, 32, 255, 256] {
        visitor.visit(true, "x".repeat(length));
    }
    visitor.visit(true, "größe 水 😀 \" \\ \n".to_owned());
    visitor.visit(false, ());
    visitor.visit(false, Unit);
    visitor.visit(false, Meters(7));
    visitor.visit(true, Pair(-2, "two".to_owned()));
    visitor.visit(true, (1_u8, "one".to_owned(), true));
    visitor.visit(true, [1_u16, 300, 65_535]);
    visitor.visit(false, None::<u8>);
    visitor.visit(true, Some("some".to_owned()));
    visitor.visit(true, Vec::<u64>::new());
    visitor.visit(true, (0..20).map(|n| 1_u64 << (3 * n)).collect::<Vec<_>>());
    visitor.visit(true, vec!["a".to_owned(), "b".to_owned()]);
    visitor.visit(true, vec![vec![Some(true), None], vec![]]);
    visitor.visit(true, BTreeMap::<String, u32>::new());
    visitor.visit(true, BTreeMap::from([("a".to_owned(), 1), ("b".to_owned(), 300)]));
    visitor.visit(true, Record::full());
    visitor.visit(true, vec![Record::full(), Record { note: None, ..Record::full() }]);
    for shape in shapes() {
        visitor.visit(true, shape);
    }
    visitor.visit(true, shapes().to_vec());
}

fn shapes() -> [Shape; 5] {
    [
        Shape::Empty,
        Shape::Circle(0.25),
        Shape::Line(-1, 1),
        Shape::Rectangle { width: 3, height: Some(4) },
        Shape::Rectangle { width: 3, height: None },
    ]
}
