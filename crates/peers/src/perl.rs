//! Perl: a script that loads the modules it finds.

use std::path::{Path, PathBuf};

use crate::known::Language;
use crate::program::{Found, Program};

/// All files in a folder and the folders in it.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else {
            files.push(path);
        }
    }
}

/// The order of a hash's keys is another in each process, and with it the size of what shares them:
/// as our values are those of a seed, so is the order.
const ORDER: &[(&str, &str)] = &[("PERL_HASH_SEED", "0"), ("PERL_PERTURB_KEYS", "0")];

pub(crate) fn find(sources: &Path) -> Found {
    let folder = sources.join("perl/peer");
    let script = folder.join("peer.pl");
    let mut files = Vec::new();
    collect(&folder, &mut files);
    files.sort();
    let command = ("perl".into(), vec![script.into()]);
    match Program::ask(command, ORDER, files, |known| known.language == Language::Perl) {
        Ok(program) => Found { programs: vec![program], reasons: Vec::new() },
        Err(said) => Found::nothing(
            Language::Perl,
            &format!("cannot run Perl ({said}): {}", Language::Perl.cure()),
        ),
    }
}
