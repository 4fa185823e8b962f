//! Test vectors that others made, and the list of known differences from them.
//!
//! Corpora lie in the folder `corpora` of the folder that the environment variable
//! `WIREMARK_SHARED` names, or else of a folder `shared` beside the workspace. Where they are
//! absent a test says so and ends.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The folder of the corpus `name`, or a sentence that says why there is none. A test prints
/// it: a skipped corpus must be seen.
///
/// `manifest_dir` is where to look from: `env!("CARGO_MANIFEST_DIR")`.
///
/// # Errors
/// The sentence, if no such folder is found.
///
/// ```
/// let reason = wiremark_conform::corpora::find(env!("CARGO_MANIFEST_DIR"), "no-such-corpus");
/// assert!(reason.unwrap_err().contains("no-such-corpus"));
/// ```
pub fn find(manifest_dir: &str, name: &str) -> Result<PathBuf, String> {
    let shared = if let Some(shared) = std::env::var_os("WIREMARK_SHARED") {
        vec![PathBuf::from(shared)]
    } else {
        let around = Path::new(manifest_dir).ancestors();
        around.map(|folder| folder.join("shared")).collect()
    };
    shared
        .into_iter()
        .map(|shared| shared.join("corpora").join(name))
        .find(|corpus| corpus.is_dir())
        .ok_or_else(|| {
            format!(
                "skipped: no folder corpora/{name} in WIREMARK_SHARED, or in a folder `shared` \
                 beside the workspace"
            )
        })
}

/// The bytes that `text` writes in hexadecimal, with or without dashes between.
///
/// # Errors
/// A sentence with the text, if it is none.
///
/// ```
/// assert_eq!(wiremark_conform::corpora::hex("c0-FF")?, [0xc0, 0xff]);
/// # Ok::<(), String>(())
/// ```
pub fn hex(text: &str) -> Result<Vec<u8>, String> {
    let digits = text.bytes().filter(|&byte| byte != b'-').collect::<Vec<_>>();
    digits
        .chunks(2)
        .map(|pair| {
            let pair = std::str::from_utf8(pair).ok().filter(|pair| pair.len() == 2);
            pair.and_then(|pair| u8::from_str_radix(pair, 16).ok())
        })
        .collect::<Option<_>>()
        .ok_or_else(|| format!("expected bytes in hexadecimal, found {text:?}"))
}

/// Holds what a run over a corpus found against the list of differences that are known.
///
/// ```
/// use wiremark_conform::corpora::Differences;
///
/// // A case of the corpus, and why we differ.
/// let mut differences = Differences::known(&[("bigint", "the format has no big integers")]);
/// differences.found("bigint", "expected a number, found an error");
/// differences.assert_as_known();
/// ```
#[derive(Debug)]
#[must_use]
pub struct Differences {
    known: &'static [(&'static str, &'static str)],
    found: BTreeMap<String, String>,
    cases: usize,
}

impl Differences {
    /// With the committed list: each case and the reason why we differ there.
    pub fn known(known: &'static [(&'static str, &'static str)]) -> Self {
        Self { known, found: BTreeMap::new(), cases: 0 }
    }

    /// Notes that `case` was looked at; `Err` is a difference.
    pub fn case(&mut self, case: &str, result: Result<(), String>) {
        self.cases += 1;
        if let Err(difference) = result {
            self.found(case, difference);
        }
    }

    /// Notes a difference.
    pub fn found(&mut self, case: &str, difference: impl Into<String>) {
        self.found.insert(case.to_owned(), difference.into());
    }

    /// How many cases were looked at.
    pub fn cases(&self) -> usize {
        self.cases
    }

    /// Passes the test if exactly the known differences were found.
    ///
    /// # Panics
    /// With the new differences, and with the known ones that are gone and must be struck from
    /// the list.
    #[track_caller]
    pub fn assert_as_known(&self) {
        let known: BTreeSet<_> = self.known.iter().map(|(case, _)| *case).collect();
        let mut lines = Vec::new();
        for (case, difference) in &self.found {
            if !known.contains(&**case) {
                lines.push(format!("new: {case}: {difference}"));
            }
        }
        for (case, reason) in self.known {
            if !self.found.contains_key(*case) {
                lines.push(format!("gone, strike it from the list: {case}: {reason}"));
            }
        }
        assert!(lines.is_empty(), "{} differences\n{}", lines.len(), lines.join("\n"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::catch_unwind;

    #[test]
    fn new_and_vanished_differences_fail() {
        fn outcome(found: &[&str]) -> Result<(), String> {
            let mut differences = Differences::known(&[("a", "reason")]);
            for case in found {
                differences.case(case, Err("differs".to_owned()));
            }
            catch_unwind(|| differences.assert_as_known())
                .map_err(|panic| *panic.downcast::<String>().unwrap())
        }
        outcome(&["a"]).unwrap();
        assert!(outcome(&["a", "b"]).unwrap_err().contains("new: b: differs"));
        assert!(outcome(&[]).unwrap_err().contains("strike it from the list: a: reason"));
    }

    #[test]
    fn text_that_is_no_hexadecimal_is_refused() {
        assert_eq!(hex("").unwrap(), []);
        assert_eq!(hex("00ff").unwrap(), [0x00, 0xff]);
        for text in ["0", "0g", "é"] {
            assert!(hex(text).is_err(), "{text}");
        }
    }
}
