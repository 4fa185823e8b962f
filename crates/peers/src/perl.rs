//! Perl: a script that loads the modules it finds.

use std::path::Path;

use crate::known::Language;
use crate::program::{Found, Program};

pub(crate) fn find(sources: &Path) -> Found {
    let folder = sources.join("perl/peer");
    let script = folder.join("peer.pl");
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
        .unwrap_or_default();
    files.sort();
    let command = ("perl".into(), vec![script.into()]);
    match Program::ask(command, files, |known| known.language == Language::Perl) {
        Ok(program) => Found { programs: vec![program], reasons: Vec::new() },
        Err(said) => Found::nothing(
            Language::Perl,
            &format!("cannot run Perl ({said}): {}", Language::Perl.cure()),
        ),
    }
}
