//! Where runs are kept, and writing files whole or not at all.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use wiremark_record::{Run, write_atomic};

use crate::problem::{Context, Problem};
use crate::workspace::Workspace;

/// The file that holds a run's results.
pub(crate) const RESULTS: &str = "results.json";

/// The folder of a run: by its id, or `latest`.
pub(crate) fn run_folder(workspace: &Workspace, run: &str) -> Result<PathBuf, Problem> {
    let folder = if run == "latest" {
        workspace.wiremark().join("latest")
    } else {
        workspace.runs().join(run)
    };
    if folder.join(RESULTS).is_file() {
        // The link is followed now: a new run may move it.
        return Ok(fs::canonicalize(&folder).unwrap_or(folder));
    }
    let mut known: Vec<String> = fs::read_dir(workspace.runs())
        .into_iter()
        .flatten()
        .flatten()
        // One that was stopped before it measured has a folder and nothing in it.
        .filter(|entry| entry.path().join(RESULTS).is_file())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    known.sort();
    let known = match known.as_slice() {
        [] => "there is no run yet; `cargo xtask bench --quick` makes one".to_owned(),
        [.., last] => format!("the newest of {} runs is {last}", known.len()),
    };
    Err(Problem::usage(format!("there is no run `{run}`: {known}")))
}

/// Reads the results of a run: its id, `latest`, or a path to a results file.
pub(crate) fn read_run(workspace: &Workspace, run: &str) -> Result<Run, Problem> {
    let path = Path::new(run);
    let path = if path.is_file() {
        path.to_owned()
    } else {
        run_folder(workspace, run)?.join(RESULTS)
    };
    Run::read(&path).map_err(|error| Problem::new(error.to_string()))
}

/// Points `target/wiremark/latest` to a run.
pub(crate) fn point_latest(workspace: &Workspace, id: &str) -> Result<(), Problem> {
    let link = workspace.wiremark().join("latest");
    let new = workspace.wiremark().join("latest.new");
    let what = || format!("cannot point {} to the run", link.display());
    let _ = fs::remove_file(&new);
    std::os::unix::fs::symlink(Path::new("runs").join(id), &new).context(what)?;
    fs::rename(&new, &link).context(what)
}

/// Writes a file whole or not at all. What is no plain file (a pipe, a terminal) cannot be
/// replaced and is written to directly.
pub(crate) fn write_whole(path: &Path, contents: &[u8]) -> Result<(), Problem> {
    if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        let what = || format!("cannot write {}", path.display());
        let mut file = fs::OpenOptions::new().write(true).open(path).context(what)?;
        return file.write_all(contents).and_then(|()| file.flush()).context(what);
    }
    write_atomic(path, contents).map_err(|error| Problem::new(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_whole_and_nothing_stays_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.md");
        for contents in ["first", "second, longer", ""] {
            write_whole(&path, contents.as_bytes()).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), contents);
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        }
        let missing = folder.path().join("no/such/folder/report.md");
        let problem = write_whole(&missing, b"x").unwrap_err().to_string();
        assert!(problem.contains("no/such/folder"), "{problem}");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_full_device_is_an_error_and_stays_a_device() {
        let full = Path::new("/dev/full");
        let problem = write_whole(full, b"x").unwrap_err().to_string();
        assert!(problem.contains("/dev/full"), "{problem}");
        assert!(!fs::metadata(full).unwrap().is_file());
    }
}
