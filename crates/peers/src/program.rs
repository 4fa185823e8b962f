//! Peers as programs: what was found, and what is missing with its cure.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use wiremark_record::Codec;
use wiremark_record::protocol::{Answer, Version};

use crate::known::{KNOWN, Known, Language};
use crate::{go, perl};

/// A program of a peer that can be run.
#[derive(Clone, Debug)]
pub struct Program {
    /// The language and its version, as the program says.
    pub version: Version,
    /// What is started, with the arguments before the verb.
    command: (PathBuf, Vec<OsString>),
    /// What its environment has to hold.
    environment: &'static [(&'static str, &'static str)],
    /// The files that it consists of.
    files: Vec<PathBuf>,
    /// The codecs that this program shows.
    codecs: Vec<&'static Known>,
}

impl Program {
    /// Asks a program for its version, and takes those of its codecs that `wanted` wants.
    ///
    /// # Errors
    /// What it said, if it did not answer.
    pub(crate) fn ask(
        command: (PathBuf, Vec<OsString>),
        environment: &'static [(&'static str, &'static str)],
        files: Vec<PathBuf>,
        wanted: impl Fn(&Known) -> bool,
    ) -> Result<Self, String> {
        let mut program = Self {
            version: Version::default(),
            environment,
            command,
            files,
            codecs: vec![],
        };
        let output = program
            .command("version")
            .stdin(Stdio::null())
            .output()
            .map_err(|error| error.to_string())?;
        let said = String::from_utf8_lossy(&output.stderr);
        let answer = String::from_utf8_lossy(&output.stdout);
        let version = answer.lines().find_map(|line| match serde_json::from_str(line) {
            Ok(Answer::Version(version)) => Some(version),
            _ => None,
        });
        match version {
            Some(version) if output.status.success() => {
                // What exports with the means of the language needs no library.
                let has = |known: &&Known| {
                    let needs_none = known.is_for_exports && known.tag.is_empty();
                    wanted(known)
                        && (needs_none || version.libraries.contains_key(known.id))
                };
                program.codecs = KNOWN.iter().filter(has).collect();
                program.version = version;
                Ok(program)
            }
            _ => {
                Err(first_line(&said).unwrap_or("it did not tell its version").to_owned())
            }
        }
    }

    /// The program with a verb of the protocol.
    pub fn command(&self, verb: &str) -> Command {
        let (program, arguments) = &self.command;
        let mut command = Command::new(program);
        command.args(arguments).arg(verb).envs(self.environment.iter().copied());
        command
    }

    /// Whether a codec is this program's to show.
    pub fn has(&self, codec: &str) -> bool {
        self.codecs.iter().any(|known| known.id == codec)
    }

    /// Its codecs as a record has them.
    pub fn codecs(&self) -> Vec<Codec> {
        let record = |known: &&Known| {
            let version = self.version.libraries.get(known.id);
            known.record(&self.version.program, version.map(String::as_str))
        };
        self.codecs.iter().map(record).collect()
    }

    /// All bytes of which the program consists.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn bytes(&self) -> io::Result<Vec<u8>> {
        let mut all = Vec::new();
        for file in &self.files {
            all.extend(std::fs::read(file)?);
        }
        Ok(all)
    }
}

/// A codec that cannot be shown here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// Which.
    pub codec: &'static Known,
    /// What is not there, and what to do about it.
    pub reason: String,
}

/// What was found of all peers.
#[derive(Clone, Debug, Default)]
pub struct Peers {
    /// Those that can be run.
    pub programs: Vec<Program>,
    /// The codecs that none of them has.
    pub missing: Vec<Missing>,
}

/// Finds all peers; builds those that have to be built, into the folder `built`. `sources` is the
/// folder of this crate. What cannot be had is missing, which is no error.
pub fn find(sources: &Path, built: &Path) -> Peers {
    let mut peers = Peers::default();
    let mut reasons: Vec<(&'static str, String)> = Vec::new();
    for found in [go::find(sources, built), perl::find(sources)] {
        peers.programs.extend(found.programs);
        reasons.extend(found.reasons);
    }
    let there: BTreeSet<&str> = peers
        .programs
        .iter()
        .flat_map(|program| program.codecs.iter().map(|known| known.id))
        .collect();
    for codec in KNOWN.iter().filter(|known| !there.contains(known.id)) {
        let told = reasons.iter().find(|(id, _)| *id == codec.id);
        let reason = told.map_or_else(
            || not_here(codec.library, codec.language, codec.cure()),
            |(_, reason)| reason.clone(),
        );
        peers.missing.push(Missing { codec, reason });
    }
    peers
}

fn not_here(library: &str, language: Language, cure: &str) -> String {
    format!("{} has no {library} here: {cure}", language.as_str())
}

/// The programs of one language, and why codecs of it are missing where that is not their
/// library's absence.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) programs: Vec<Program>,
    pub(crate) reasons: Vec<(&'static str, String)>,
}

impl Found {
    /// Nothing of a language is here, for one reason.
    pub(crate) fn nothing(language: Language, reason: &str) -> Self {
        let of = KNOWN.iter().filter(|known| known.language == language);
        Self {
            programs: Vec::new(),
            reasons: of.map(|known| (known.id, reason.to_owned())).collect(),
        }
    }
}

/// The first line that says something.
pub(crate) fn first_line(text: &str) -> Option<&str> {
    text.lines().map(str::trim).find(|line| !line.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_had_is_missing_with_a_reason() {
        let folder = tempfile::tempdir().unwrap();
        // Without sources no peer can be built or run, whatever is installed.
        let peers = find(&folder.path().join("none"), folder.path());
        assert!(peers.programs.is_empty(), "{:?}", peers.programs);
        assert_eq!(peers.missing.len(), KNOWN.len());
        for Missing { codec, reason } in &peers.missing {
            assert!(reason.len() > 10, "{}: {reason}", codec.id);
        }
    }

    #[test]
    fn a_program_that_speaks_otherwise_is_none() {
        let ask = |script: &str| {
            let command = ("sh".into(), vec!["-c".into(), script.into()]);
            Program::ask(command, &[], vec![], |_| true)
        };
        let fine = r#"echo '{"version":{"program":"x1","libraries":{"gob/go:encoding-gob":"x1"}}}'"#;
        let program = ask(fine).unwrap();
        assert!(program.has("gob/go:encoding-gob") && !program.has("cbor/go:ugorji"));
        assert_eq!(program.codecs()[0].peer.as_deref(), Some("x1"));
        for (script, said) in [
            ("echo hello", "it did not tell its version"),
            ("echo 'error: no such verb' >&2; exit 1", "error: no such verb"),
        ] {
            assert_eq!(ask(script).unwrap_err(), said);
        }
    }
}
