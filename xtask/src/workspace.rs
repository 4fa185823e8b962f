//! Where the workspace is and what is in it, as cargo tells.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

use crate::problem::{Context, Problem};

/// The workspace: its folders and packages.
#[derive(Debug, Clone)]
pub(crate) struct Workspace {
    pub(crate) root: PathBuf,
    /// Cargo's target folder.
    pub(crate) target: PathBuf,
    pub(crate) packages: Vec<Package>,
}

/// A package of the workspace.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) manifest_path: PathBuf,
    pub(crate) dependencies: Vec<Dependency>,
    #[serde(default)]
    pub(crate) metadata: Option<Metadata>,
}

/// What a manifest says under `[package.metadata]`.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct Metadata {
    pub(crate) room: Option<Room>,
}

/// The kind of room that a package is.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Room {
    pub(crate) kind: String,
    /// Whether a first look takes a codec crate; it does if nothing is said.
    #[serde(default)]
    pub(crate) first_look: Option<bool>,
}

/// A dependency as the manifest writes it.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) rename: Option<String>,
    /// `None` for a normal one, else `dev` or `build`.
    pub(crate) kind: Option<String>,
    pub(crate) optional: bool,
}

impl Package {
    pub(crate) fn kind(&self) -> Option<&str> {
        self.metadata.as_ref()?.room.as_ref().map(|room| room.kind.as_str())
    }

    pub(crate) fn folder(&self) -> &Path {
        self.manifest_path.parent().unwrap_or(Path::new("."))
    }
}

impl Workspace {
    /// Asks cargo.
    pub(crate) fn find() -> Result<Self, Problem> {
        Self::find_in(Path::new(env!("CARGO_MANIFEST_DIR")))
    }

    /// Asks cargo from a folder of the workspace.
    pub(crate) fn find_in(folder: &Path) -> Result<Self, Problem> {
        #[derive(Deserialize)]
        struct Answer {
            packages: Vec<Package>,
            workspace_root: PathBuf,
            target_directory: PathBuf,
        }
        let output = cargo()
            .args(["metadata", "--no-deps", "--format-version", "1", "--quiet"])
            .current_dir(folder)
            .output()
            .context(|| "cannot run cargo".to_owned())?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(Problem::new(format!(
                "`cargo metadata` failed: {}",
                said.trim()
            )));
        }
        let answer: Answer = serde_json::from_slice(&output.stdout)
            .context(|| "cannot read the answer of `cargo metadata`".to_owned())?;
        Ok(Self {
            root: answer.workspace_root,
            target: answer.target_directory,
            packages: answer.packages,
        })
    }

    /// The folder that holds everything wiremark writes.
    pub(crate) fn wiremark(&self) -> PathBuf {
        self.target.join("wiremark")
    }

    /// The folder of all runs.
    pub(crate) fn runs(&self) -> PathBuf {
        self.wiremark().join("runs")
    }

    /// The codec crates: the registry's features, each the folder's name of a crate.
    pub(crate) fn codec_crates(&self) -> Result<Vec<String>, Problem> {
        let registry = self
            .packages
            .iter()
            .find(|package| package.name == "wiremark-registry")
            .ok_or_else(|| Problem::new("the workspace has no `wiremark-registry`"))?;
        let mut names: Vec<String> = registry
            .dependencies
            .iter()
            .filter(|dependency| dependency.optional)
            .map(|dependency| {
                dependency.rename.clone().unwrap_or_else(|| dependency.name.clone())
            })
            .collect();
        names.sort();
        Ok(names)
    }

    /// Whether a first look takes this codec crate: what is named in most programs and the best of
    /// each format do, a second best need not.
    pub(crate) fn is_for_first_look(&self, codec_crate: &str) -> bool {
        let folder = Path::new("crates/formats").join(codec_crate);
        let package =
            self.packages.iter().find(|package| package.folder().ends_with(&folder));
        let room = package.and_then(|package| package.metadata.as_ref()?.room.as_ref());
        room.and_then(|room| room.first_look).unwrap_or(true)
    }

    /// The version of a package in the lock file (the newest, if there are several).
    pub(crate) fn locked_version(&self, package: &str) -> Option<String> {
        let lock = std::fs::read_to_string(self.root.join("Cargo.lock")).ok()?;
        version_in_lock(&lock, package)
    }
}

fn version_in_lock(lock: &str, package: &str) -> Option<String> {
    let name = format!("name = \"{package}\"");
    let mut lines = lock.lines();
    let mut found = None;
    while let Some(line) = lines.next() {
        if line == name {
            let version =
                lines.next()?.strip_prefix("version = \"")?.strip_suffix('"')?;
            found = Some(version.to_owned());
        }
    }
    found
}

/// The cargo that runs us.
pub(crate) fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_the_lock_file() {
        let lock = "[[package]]\nname = \"serde\"\nversion = \"1.0.2\"\n\n\
                    [[package]]\nname = \"serde_json\"\nversion = \"1.0.3\"\n";
        assert_eq!(version_in_lock(lock, "serde").as_deref(), Some("1.0.2"));
        assert_eq!(version_in_lock(lock, "serde_json").as_deref(), Some("1.0.3"));
        assert_eq!(version_in_lock(lock, "json"), None);
    }

    #[test]
    fn the_codec_crates_are_the_registrys_features() {
        let names = Workspace::find().unwrap().codec_crates().unwrap();
        assert!(names.iter().any(|name| name == "json"), "{names:?}");
        assert!(names.is_sorted());
    }
}
