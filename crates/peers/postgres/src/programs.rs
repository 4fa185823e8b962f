//! Where PostgreSQL's programs are, and who may run them.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

/// PostgreSQL's programs for a server: `initdb` and `postgres`, from one folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Programs {
    folder: PathBuf,
    version: String,
}

impl Programs {
    /// Those on the path, else the newest that a package has put on the machine.
    ///
    /// # Errors
    /// `NotFound`, with what to install.
    pub fn find() -> io::Result<Self> {
        let path = env::var_os("PATH").unwrap_or_default();
        let packages = ["/usr/lib/postgresql", "/usr"].map(Path::new);
        Self::find_in(env::split_paths(&path), &packages)
    }

    fn find_in(
        path: impl Iterator<Item = PathBuf>,
        packages: &[&Path],
    ) -> io::Result<Self> {
        candidates(path, packages).find_map(|folder| Self::in_folder(&folder).ok()).ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::NotFound,
                "PostgreSQL's server (`initdb`, `postgres`) is neither on the path nor in \
                 /usr/lib/postgresql: apt-get install postgresql",
            )
        })
    }

    /// Those in a folder.
    ///
    /// # Errors
    /// If one of the two is not there, or does not tell its version.
    pub fn in_folder(folder: &Path) -> io::Result<Self> {
        fs::metadata(folder.join("initdb"))?;
        let output = Command::new(folder.join("postgres")).arg("--version").output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let version = version(&text).filter(|_| output.status.success());
        match version {
            Some(version) => {
                Ok(Self { folder: folder.to_owned(), version: version.to_owned() })
            }
            None => Err(io::Error::other(format!(
                "`{} --version` does not tell a version: {}",
                folder.join("postgres").display(),
                text.trim()
            ))),
        }
    }

    /// The folder that they are in.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Their version: `15.14`.
    pub fn version(&self) -> &str {
        &self.version
    }
}

/// Folders to look into, the best first: those of the path, then `*/bin` of the packages by
/// falling number.
fn candidates(
    path: impl Iterator<Item = PathBuf>,
    packages: &[&Path],
) -> impl Iterator<Item = PathBuf> {
    let mut numbered: Vec<(u32, PathBuf)> = packages
        .iter()
        .filter_map(|folder| fs::read_dir(folder).ok())
        .flatten()
        .filter_map(|entry| {
            let name = entry.ok()?;
            let number =
                name.file_name().to_str()?.trim_start_matches("pgsql-").parse().ok()?;
            Some((number, name.path().join("bin")))
        })
        .collect();
    numbered.sort();
    // A program on the path may be a link, and looks for its files beside the place where it is.
    path.filter_map(|folder| {
        fs::canonicalize(folder.join("postgres")).ok()?.parent().map(Path::to_owned)
    })
    .chain(numbered.into_iter().rev().map(|(_, folder)| folder))
}

/// `15.14` of `postgres (PostgreSQL) 15.14 (Debian 15.14-0+deb12u1)`.
fn version(text: &str) -> Option<&str> {
    let after = text.split_once("(PostgreSQL) ")?.1;
    after.split_whitespace().next()
}

/// A user of the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct User {
    pub(crate) uid: u32,
    pub(crate) gid: u32,
}

/// Whom to run it as, if not as ourselves.
pub(crate) fn user() -> io::Result<Option<User>> {
    if !is_root()? {
        return Ok(None);
    }
    let users = fs::read_to_string("/etc/passwd")?;
    ["postgres", "nobody"]
        .iter()
        .find_map(|name| look_up(&users, name))
        .map(Some)
        .ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::NotFound,
                "PostgreSQL refuses to run as root, and /etc/passwd has neither a user \
                 `postgres` nor `nobody`: useradd --system postgres",
            )
        })
}

/// Whether files that we make are root's. The standard library has no `geteuid`; on Linux the
/// system shows a process's files as owned by who it acts for.
fn is_root() -> io::Result<bool> {
    if let Ok(about) = fs::metadata("/proc/self") {
        return Ok(about.uid() == 0);
    }
    let output = Command::new("id").arg("-u").output()?;
    Ok(output.stdout.trim_ascii() == b"0")
}

/// `name:password:uid:gid:…`, one user a line.
fn look_up(users: &str, name: &str) -> Option<User> {
    users.lines().find_map(|line| {
        let mut fields = line.split(':');
        if fields.next()? != name {
            return None;
        }
        let uid = fields.nth(1)?.parse().ok()?;
        let gid = fields.next()?.parse().ok()?;
        Some(User { uid, gid })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_that_are_nowhere_are_an_error_with_its_cure() {
        let error = Programs::find_in(std::iter::empty(), &[]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert!(error.to_string().ends_with(": apt-get install postgresql"), "{error}");
    }

    #[test]
    fn the_path_goes_before_the_packages_and_those_by_their_numbers() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["p/9/bin", "p/15/bin", "p/common", "q/pgsql-16", "q/lib", "linked"] {
            fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        fs::write(folder.path().join("p/9/bin/postgres"), "").unwrap();
        let link = folder.path().join("linked/postgres");
        std::os::unix::fs::symlink(folder.path().join("p/9/bin/postgres"), link).unwrap();
        let path = ["linked", "none"].map(|name| folder.path().join(name));
        let packages = ["p", "q", "none"].map(|name| folder.path().join(name));
        let packages: Vec<&Path> = packages.iter().map(PathBuf::as_path).collect();
        let found: Vec<_> = candidates(path.into_iter(), &packages).collect();
        let root = fs::canonicalize(folder.path()).unwrap();
        assert_eq!(
            found
                .iter()
                .map(|path| path.strip_prefix(&root).unwrap())
                .collect::<Vec<_>>(),
            ["p/9/bin", "q/pgsql-16/bin", "p/15/bin", "p/9/bin"].map(Path::new)
        );
    }

    #[test]
    fn a_version_is_the_word_after_the_name() {
        for (text, wanted) in [
            ("postgres (PostgreSQL) 15.14 (Debian 15.14-0+deb12u1)\n", Some("15.14")),
            ("postgres (PostgreSQL) 18beta1\n", Some("18beta1")),
            ("postgres (PostgreSQL) \n", None),
            ("git version 2", None),
            ("", None),
        ] {
            assert_eq!(version(text), wanted, "{text}");
        }
    }

    #[test]
    fn a_user_is_found_by_the_whole_name() {
        let users = "root:x:0:0::/:/bin/sh\npostgresql:x:7:8::/:\npostgres:x:101:104:a,,,:/var:/bin/sh\nshort:x\n";
        for (name, wanted) in [
            ("postgres", Some(User { uid: 101, gid: 104 })),
            ("root", Some(User { uid: 0, gid: 0 })),
            ("short", None),
            ("nobody", None),
        ] {
            assert_eq!(look_up(users, name), wanted, "{name}");
        }
    }
}
