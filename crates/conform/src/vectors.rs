//! Bytes that others made: from the specification, or from another program.
//!
//! A round trip shows that a codec agrees with itself; vectors show that it agrees with others.

use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;
use wiremark_core::Codec;

use crate::Findings;
use crate::contract::{hex, outcome};
use crate::corpora;

/// A table of vectors, row by row.
///
/// ```
/// use wiremark_conform::vectors::Vectors;
/// use wiremark_postcard::Postcard;
///
/// let mut vectors = Vectors::of(&Postcard::new());
/// vectors.both_ways("the specification, varint", "ac02", &300_u16);
/// vectors.is_read("the specification, varint, not the shortest", "8100", &1_u16);
/// vectors.assert_all();
/// ```
#[derive(Debug)]
pub struct Vectors<C> {
    codec: C,
    rows: usize,
    findings: Findings,
}

impl<C: Codec> Vectors<C> {
    /// An empty table for `codec`.
    pub fn of(codec: &C) -> Self {
        let findings = Findings::new(codec.profile().id);
        Self { codec: codec.clone(), rows: 0, findings }
    }

    /// A row that goes both ways: `value` is written as these bytes, and they are read as
    /// `value`. `source` says where the bytes are from: a paragraph of the specification, or
    /// the command that made them. The bytes are in hexadecimal.
    pub fn both_ways<T>(&mut self, source: &str, bytes: &str, value: &T) -> &mut Self
    where
        T: Serialize + DeserializeOwned + PartialEq + Debug,
    {
        let mut out = Vec::new();
        let result = self.codec.encode_into(value, &mut out);
        let is_written = result.is_ok() && corpora::hex(bytes).is_ok_and(|it| it == out);
        self.findings.expect(is_written, || {
            let found = if result.is_ok() { hex(&out) } else { outcome(&result) };
            format!("{source}: {value:?}, encoded: expected {bytes}, found {found}")
        });
        self.is_read(source, bytes, value)
    }

    /// A row that goes one way: other bytes than those this codec writes, and read all the
    /// same.
    pub fn is_read<T>(&mut self, source: &str, bytes: &str, value: &T) -> &mut Self
    where
        T: DeserializeOwned + PartialEq + Debug,
    {
        self.rows += 1;
        let input = match corpora::hex(bytes) {
            Ok(input) => input,
            Err(error) => {
                self.findings.add(format!("{source}: {error}"));
                return self;
            }
        };
        let result = self.codec.decode::<T>(&input);
        self.findings.expect(result.as_ref().is_ok_and(|found| found == value), || {
            let found = match &result {
                Ok(found) => format!("{found:?}"),
                Err(_) => outcome(&result),
            };
            format!("{source}: {bytes}, decoded: expected {value:?}, found {found}")
        });
        self
    }

    /// Each row that does not hold; a table without rows is a fault as well.
    pub fn findings(&self) -> Findings {
        let mut findings = self.findings.clone();
        findings.expect(self.rows > 0, || {
            "no vectors yet: add rows `vectors.both_ways(SOURCE, HEX, VALUE);` with bytes from \
             the specification or from another program, as this codec's own bytes prove nothing"
                .to_owned()
        });
        findings
    }

    /// Passes the test, or fails it with all rows that do not hold.
    ///
    /// # Panics
    /// If a row does not hold, or if there is none.
    #[track_caller]
    pub fn assert_all(&self) {
        self.findings().assert_none();
    }
}
