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

    /// Adds the first of several faults that are alike, and how many more there are: a kind
    /// that is wrong at each place where a document can be cut is one thing to mend.
    pub fn add_alike(&mut self, lines: Vec<String>) {
        let more = lines.len().saturating_sub(1);
        let first = lines.into_iter().next();
        self.lines.extend(first.map(|first| match more {
            0 => first,
            more => format!("{first}; and {more} more like it"),
        }));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_that_are_alike_are_one_line_with_their_count() {
        let rows: [(&[&str], &[&str]); 3] = [
            (&[], &[]),
            (&["one"], &["one"]),
            (&["one", "two", "three"], &["one; and 2 more like it"]),
        ];
        for (lines, expected) in rows {
            let mut findings = Findings::new("x");
            findings.add_alike(lines.iter().map(|&line| line.to_owned()).collect());
            assert_eq!(findings.lines(), expected);
        }
    }

    #[test]
    fn what_to_write_stands_below_the_faults_and_only_there() {
        let mut findings = Findings::new("a/b").mended_by("write it");
        assert_eq!(findings.to_string(), "a/b: 0 findings");
        findings.add("it is missing");
        assert_eq!(
            findings.to_string(),
            "a/b: 1 finding\n- it is missing\nto mend it: write it"
        );
    }
}
