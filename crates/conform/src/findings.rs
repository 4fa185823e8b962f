//! What a check found.

use std::fmt;

/// What a check found wrong with a codec: nothing, or a line for each fault.
///
/// ```
/// use wiremark_conform::{Findings, contract};
/// use wiremark_json::Json;
///
/// let findings: Findings = contract::encoding_appends(&Json::compact());
/// assert!(findings.is_empty());
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Findings {
    codec: &'static str,
    lines: Vec<String>,
    cure: &'static str,
}

impl Findings {
    /// Nothing found so far with the codec of this id.
    pub fn new(codec: &'static str) -> Self {
        Self { codec, lines: Vec::new(), cure: "" }
    }

    /// The same with a sentence for whoever has to mend the codec: where to look and what to
    /// write. It stands below the faults, if there are any.
    pub fn mended_by(self, cure: &'static str) -> Self {
        Self { cure, ..self }
    }

    /// Adds a fault: what was expected, what was found.
    pub fn add(&mut self, line: impl Into<String>) {
        self.lines.push(line.into());
    }

    /// Adds a fault unless `holds`.
    pub fn expect(&mut self, holds: bool, line: impl FnOnce() -> String) {
        if !holds {
            self.add(line());
        }
    }

    /// Whether nothing is wrong.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// The faults.
    pub fn lines(&self) -> &[String] {
        &self.lines
    }

    /// Passes the test, or fails it with all that was found.
    ///
    /// # Panics
    /// If there is a fault.
    #[track_caller]
    pub fn assert_none(&self) {
        assert!(self.is_empty(), "{self}");
    }
}

impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A codec that is wrong in one way is often wrong on each sample.
        const SHOWN: usize = 40;
        let count = self.lines.len();
        let noun = if count == 1 { "finding" } else { "findings" };
        write!(f, "{}: {count} {noun}", self.codec)?;
        for line in self.lines.iter().take(SHOWN) {
            write!(f, "\n- {line}")?;
        }
        match self.lines.len().checked_sub(SHOWN) {
            Some(more) if more > 0 => write!(f, "\n… and {more} more")?,
            _ => {}
        }
        if self.cure.is_empty() || self.is_empty() {
            return Ok(());
        }
        write!(f, "\nto mend it: {}", self.cure)
    }
}
