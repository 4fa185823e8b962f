//! Builds worker binaries: one for each codec crate, so that no codec's features or code leak
//! into another's figures.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde::Deserialize;

use wiremark_record::Suite;

use crate::cli::Allocator;
use crate::problem::{Code, Context, Problem};
use crate::workspace::{Workspace, cargo};

/// The feature of the benches that puts the controls in the registry's place; as a codec
/// crate's name it stands for them.
pub(crate) const CONTROLS: &str = "controls";

/// The feature of the benches that puts lines of text in the registry's place, for exports.
pub(crate) const TEXT: &str = "text";

/// What all binaries of a run have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct What {
    pub(crate) suite: Suite,
    pub(crate) allocator: Allocator,
    /// Whether exports ask PostgreSQL as well.
    pub(crate) has_postgres: bool,
}

impl What {
    /// A suite with the system's allocator and without PostgreSQL.
    pub(crate) fn plain(suite: Suite) -> Self {
        Self { suite, allocator: Allocator::System, has_postgres: false }
    }
}

/// What a binary is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Lists, checks and counts; never timed.
    Worker,
    /// The same; builds the quick binary that is timed at its side, on another core. It is a
    /// [`Timed`](Self::Timed) that is asked for later and then there already.
    WorkerAndMore,
    /// Is timed; never counts.
    Timed(Profile),
}

/// A cargo profile of the workspace's manifest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Profile {
    /// Without link-time optimisation: built in a quarter of the time.
    Quick,
    /// What figures are made with.
    Bench,
}

impl Profile {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Bench => "bench",
        }
    }
}

/// Builds the binary of one codec crate and copies it out of cargo's folder, where the next
/// build would overwrite it.
pub(crate) fn build(
    workspace: &Workspace,
    codec_crate: &str,
    what: What,
    kind: Kind,
) -> Result<PathBuf, Problem> {
    let What { suite, allocator, has_postgres } = what;
    let mut features = vec![if [CONTROLS, TEXT].contains(&codec_crate) {
        codec_crate.to_owned()
    } else {
        format!("wiremark-registry/{codec_crate}")
    }];
    if allocator == Allocator::Mimalloc {
        features.push("mimalloc".to_owned());
    }
    if suite == Suite::Export {
        features.push("sqlite".to_owned());
        if has_postgres {
            features.push("postgres".to_owned());
        }
    }
    // Targets have their suite's name.
    let timed = suite.as_str();
    let worker = format!("worker-{suite}");
    let (profile, targets): (_, &[&str]) = match kind {
        Kind::Worker => (Profile::Quick, &["--bin", &worker]),
        Kind::WorkerAndMore => (Profile::Quick, &["--bin", &worker, "--bench", timed]),
        Kind::Timed(profile) => (profile, &["--bench", timed]),
    };
    // The feature is the worker's alone and changes nothing in the binary that is timed; with
    // the same features both share what they are made of.
    if profile == Profile::Quick {
        features.push("counting".to_owned());
    }
    let mut command = cargo();
    command
        .current_dir(&workspace.root)
        .args(["build", "--profile", profile.as_str()])
        .args(targets);
    let output = command
        .args(["--package", "wiremark-benches", "--quiet", "--locked"])
        .args(["--features", &features.join(",")])
        .arg("--message-format=json-render-diagnostics")
        .stderr(Stdio::piped())
        .output()
        .context(|| "cannot run cargo".to_owned())?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(Problem::new(format!(
            "cannot build the {} of `{codec_crate}`:\n{}",
            match kind {
                Kind::Worker | Kind::WorkerAndMore => "worker",
                Kind::Timed(_) => "bench",
            },
            said.trim_end()
        ))
        .with(Code::BuildFailed));
    }
    let name = match kind {
        Kind::Worker | Kind::WorkerAndMore => &worker,
        Kind::Timed(_) => timed,
    };
    let built = executable(&output.stdout, name).ok_or_else(|| {
        Problem::new("cargo named no executable").with(Code::BuildFailed)
    })?;
    let what = match kind {
        Kind::Worker | Kind::WorkerAndMore => "worker",
        Kind::Timed(profile) => profile.as_str(),
    };
    let mut suffix = format!("{suite}-{what}");
    if allocator == Allocator::Mimalloc {
        suffix.push_str("-mimalloc");
    }
    if has_postgres {
        suffix.push_str("-postgres");
    }
    let folder = workspace.wiremark().join("bin");
    fs::create_dir_all(&folder)
        .context(|| "cannot make a folder for binaries".to_owned())?;
    let copy = folder.join(format!("{codec_crate}-{suffix}"));
    copy_out(&built, &copy)?;
    Ok(copy)
}

/// Copies by way of a new file, since a running binary cannot be written to.
fn copy_out(from: &Path, to: &Path) -> Result<(), Problem> {
    let new = to.with_extension("new");
    fs::copy(from, &new)
        .and_then(|_| fs::rename(&new, to))
        .context(|| format!("cannot copy the binary to {}", to.display()))
}

/// The executable of the target `name` in cargo's JSON messages.
fn executable(messages: &[u8], name: &str) -> Option<PathBuf> {
    #[derive(Deserialize)]
    struct Message {
        executable: Option<PathBuf>,
        target: Target,
    }
    #[derive(Deserialize)]
    struct Target {
        name: String,
    }
    String::from_utf8_lossy(messages)
        .lines()
        .filter_map(|line| serde_json::from_str::<Message>(line).ok())
        .filter(|message| message.target.name == name)
        .find_map(|message| message.executable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_executable_is_found_by_its_targets_name() {
        let messages = br#"{"reason":"compiler-artifact","target":{"name":"serde"},"executable":null}
{"reason":"compiler-artifact","target":{"name":"codecs"},"executable":"target/release/codecs"}
{"reason":"compiler-artifact","target":{"name":"worker"},"executable":"target/release/worker"}
{"reason":"build-finished","success":true}
"#;
        let found = |name| executable(messages, name);
        assert_eq!(found("codecs").as_deref(), Some(Path::new("target/release/codecs")));
        assert_eq!(found("worker").as_deref(), Some(Path::new("target/release/worker")));
        assert_eq!(found("serde"), None);
        assert_eq!(executable(b"no json", "worker"), None);
    }
}
