//! `cargo xtask tidy`: is the house in order?
//!
//! | check | why |
//! | --- | --- |
//! | arrows | a room depends only on the rooms that DESIGN allows it |
//! | reach | clocks, files, programs and `unsafe` only where they belong |
//! | openings | each file opens with what it is |
//! | manifests | versions and lints stand in the workspace's manifest alone |
//! | registry | every codec crate is on the list, in order |
//! | words | no path of a machine in what is committed |
//! | tables | generated tables are what would be generated now |
//!
//! Every message names a file and what to do.

use std::fs;
use std::path::{Path, PathBuf};

use crate::cli::TidyOptions;
use crate::problem::{Context, Problem};
use crate::workspace::{Package, Workspace, cargo};

/// For each kind of room the kinds that it may depend on, in normal and build dependencies.
const ARROWS: &[(&str, &[&str])] = &[
    ("core", &[]),
    ("datasets", &[]),
    ("record", &[]),
    ("meter", &[]),
    ("peers", &["datasets", "record"]),
    ("persist", &["core", "datasets"]),
    ("report", &["record"]),
    // Neither the benches nor xtask may need one: nobody compiles a database for a codec.
    ("source", &["core", "datasets", "persist"]),
    ("format", &["core"]),
    ("registry", &["core", "format"]),
    ("conform", &["core", "datasets", "meter"]),
    ("controls", &["core", "datasets", "format"]),
    (
        "benches",
        &[
            "core", "datasets", "record", "registry", "meter", "persist", "source",
            "controls", "format",
        ],
    ),
    ("xtask", &["datasets", "record", "report", "meter", "peers"]),
];

/// What a room may need beside rooms, where that is limited: these three are depended on by
/// everybody.
const LIBRARIES: &[(&str, &[&str])] = &[
    ("core", &["serde"]),
    ("datasets", &["serde"]),
    ("record", &["serde", "serde_json"]),
];

/// Words in code (outside of tests) and the kinds of rooms that may use them. Some are in
/// pieces, so that this file does not hold what it looks for.
const REACH: &[(&str, &[&str])] = &[
    (concat!("un", "safe {"), &["meter", "persist"]),
    (concat!("un", "safe impl"), &["meter", "persist"]),
    (concat!("un", "safe fn"), &["meter", "persist"]),
    ("Command::new", &["xtask", "peers"]),
    ("process::Command", &["xtask", "peers"]),
    ("time::Instant", &["meter", "xtask"]),
    ("Instant::now", &["meter", "xtask", "benches"]),
    ("SystemTime::now", &["xtask"]),
    (concat!("clock_", "gettime"), &["meter"]),
    ("fs::", &["meter", "record", "conform", "benches", "xtask", "persist", "peers"]),
    ("File::", &["meter", "record", "conform", "benches", "xtask", "persist", "peers"]),
    ("env::var", &["conform", "benches", "xtask", "peers"]),
];

pub(crate) fn run(options: &TidyOptions) -> Result<(), Problem> {
    let workspace = Workspace::find()?;
    let problems = check(&workspace)?;
    for problem in &problems {
        crate::remark(problem);
    }
    tables(&workspace, options.bless)?;
    if problems.is_empty() {
        return crate::print("tidy\n");
    }
    Err(Problem::new(format!("{} things are not in order", problems.len())))
}

/// All problems of a workspace, each with a file and what to do.
pub(crate) fn check(workspace: &Workspace) -> Result<Vec<String>, Problem> {
    let mut problems = Vec::new();
    for package in &workspace.packages {
        arrows(workspace, package, &mut problems);
        let manifest = read(&package.manifest_path)?;
        check_manifest(
            &name_of(workspace, &package.manifest_path),
            &manifest,
            &mut problems,
        );
        for path in sources(package.folder())? {
            let text = read(&path)?;
            let name = name_of(workspace, &path);
            opening(&name, &text, &mut problems);
            if let Some(kind) = package.kind() {
                reach(kind, &name, &text, &mut problems);
            }
        }
    }
    registry(workspace, &mut problems)?;
    for path in committed(workspace)? {
        // What is not text has no words.
        if let Ok(text) = fs::read_to_string(&path) {
            words(&name_of(workspace, &path), &text, &mut problems);
        }
    }
    Ok(problems)
}

fn read(path: &Path) -> Result<String, Problem> {
    fs::read_to_string(path).context(|| format!("cannot read {}", path.display()))
}

fn name_of(workspace: &Workspace, path: &Path) -> String {
    path.strip_prefix(&workspace.root).unwrap_or(path).display().to_string()
}

fn arrows(workspace: &Workspace, package: &Package, problems: &mut Vec<String>) {
    let manifest = name_of(workspace, &package.manifest_path);
    let Some(kind) = package.kind() else {
        problems.push(format!(
            "{manifest}: says no kind of room; add `[package.metadata.room]` with `kind`"
        ));
        return;
    };
    let Some((_, allowed)) = ARROWS.iter().find(|(of, _)| *of == kind) else {
        problems.push(format!("{manifest}: `{kind}` is no kind of room that tidy knows"));
        return;
    };
    let libraries = LIBRARIES.iter().find(|(of, _)| *of == kind).map(|(_, known)| *known);
    for dependency in &package.dependencies {
        if dependency.kind.as_deref() == Some("dev") {
            continue;
        }
        let room = workspace.packages.iter().find(|other| other.name == dependency.name);
        match room {
            Some(room) => {
                let other = room.kind().unwrap_or("unknown");
                if !allowed.contains(&other) {
                    problems.push(format!(
                        "{manifest}: a room of kind `{kind}` may not need `{}` of kind \
                         `{other}`; it may need {allowed:?}",
                        dependency.name
                    ));
                }
            }
            None => {
                if libraries
                    .is_some_and(|known| !known.contains(&dependency.name.as_str()))
                {
                    problems.push(format!(
                        "{manifest}: everybody depends on the `{kind}` room, so it may not \
                         need `{}`",
                        dependency.name
                    ));
                }
            }
        }
    }
}

fn check_manifest(name: &str, text: &str, problems: &mut Vec<String>) {
    if !text.contains("[lints]\nworkspace = true") {
        problems.push(format!("{name}: add `[lints]` with `workspace = true`"));
    }
    let mut section = "";
    for (number, line) in text.lines().enumerate() {
        if line.starts_with('[') {
            section = line;
        } else if section.contains("dependencies") && line.contains("version = ") {
            problems.push(format!(
                "{name}:{}: versions stand in the workspace's manifest; write \
                 `workspace = true`",
                number + 1
            ));
        }
    }
}

fn opening(name: &str, text: &str, problems: &mut Vec<String>) {
    let opens = ["//! ", "#![doc = include_str!", "#![cfg"];
    if !opens.iter().any(|opening| text.starts_with(opening)) {
        problems.push(format!("{name}: does not open with `//!` and what the file is"));
    }
}

fn reach(kind: &str, name: &str, text: &str, problems: &mut Vec<String>) {
    // Tests may do what they need: those in folders of their own, and those at a file's foot.
    if name.contains("/tests/")
        || (name.ends_with("/build.rs") && !name.contains("/src/"))
    {
        return;
    }
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    for (number, line) in code.lines().enumerate() {
        let line = line.split("//").next().unwrap_or_default();
        for (word, allowed) in REACH {
            if line.contains(word) && !allowed.contains(&kind) {
                problems.push(format!(
                    "{name}:{}: `{}` belongs to rooms of kind {allowed:?}, and this one is \
                     `{kind}`",
                    number + 1,
                    word.trim_end_matches(" {")
                ));
            }
        }
    }
}

fn registry(workspace: &Workspace, problems: &mut Vec<String>) -> Result<(), Problem> {
    let list = read(&workspace.root.join("crates/registry/src/lib.rs"))?;
    let listed = workspace.codec_crates()?;
    for package in &workspace.packages {
        if package.kind() != Some("format") {
            continue;
        }
        let folder = package.folder().file_name().unwrap_or_default().to_string_lossy();
        if package.name != format!("wiremark-{folder}") {
            problems.push(format!(
                "{}: the package in the folder `{folder}` is called `wiremark-{folder}`",
                name_of(workspace, &package.manifest_path)
            ));
        }
        let is_listed = listed.iter().any(|name| *name == folder);
        let ident = folder.replace('-', "_");
        if !is_listed || !list.contains(&ident) {
            problems.push(format!(
                "crates/registry: `{folder}` is not on the list; add its line to Cargo.toml \
                 and to src/lib.rs"
            ));
        }
    }
    Ok(())
}

/// Paths of a machine, in pieces, so that this file does not hold what it looks for.
fn words(name: &str, text: &str, problems: &mut Vec<String>) {
    let folders = ["home", "root", "work", "Users"];
    for (number, line) in text.lines().enumerate() {
        for folder in folders {
            let path = format!("/{folder}/");
            let is_absolute = line.match_indices(&path).any(|(at, _)| {
                let before = line.get(..at).and_then(|before| before.chars().next_back());
                before.is_none_or(|c| c.is_whitespace() || "\"'`(=:".contains(c))
            });
            if is_absolute {
                problems.push(format!(
                    "{name}:{}: a path of one machine (`{path}…`)",
                    number + 1
                ));
            }
        }
    }
}

/// All Rust files below a package's folder.
fn sources(folder: &Path) -> Result<Vec<PathBuf>, Problem> {
    let mut found = Vec::new();
    let mut folders: Vec<PathBuf> = ["src", "tests", "benches", "examples"]
        .iter()
        .map(|name| folder.join(name))
        .collect();
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries {
            let path =
                entry.context(|| format!("cannot list {}", folder.display()))?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The files that git tracks; none, where there is no git.
fn committed(workspace: &Workspace) -> Result<Vec<PathBuf>, Problem> {
    let output = std::process::Command::new("git")
        .args(["ls-files", "-z"])
        .current_dir(&workspace.root)
        .output()
        .context(|| "cannot run git".to_owned())?;
    Ok(String::from_utf8_lossy(&output.stdout)
        .split('\0')
        .filter(|name| !name.is_empty())
        .map(|name| workspace.root.join(name))
        .collect())
}

/// The variable that makes the test of the generated tables write them.
const BLESS: &str = "WIREMARK_BLESS";

/// Generated tables need the codecs' own profiles, which only a test of the registry has.
fn tables(workspace: &Workspace, bless: bool) -> Result<(), Problem> {
    let mut command = cargo();
    command
        .args(["test", "--quiet", "--locked", "--package", "wiremark-registry"])
        .args(["--all-features", "--test", "readme"])
        .current_dir(&workspace.root);
    if bless {
        command.env(BLESS, "1");
    }
    let output = command.output().context(|| "cannot run cargo".to_owned())?;
    if output.status.success() {
        return Ok(());
    }
    Err(Problem::new(format!(
        "a generated table is not up to date, or could not be checked:\n{}{}\n\
         `cargo xtask tidy --bless` writes it",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::{Dependency, Metadata, Room};

    #[test]
    fn this_workspace_is_in_order() {
        let problems = check(&Workspace::find().unwrap()).unwrap();
        assert!(problems.is_empty(), "{}", problems.join("\n"));
    }

    fn package(name: &str, kind: &str, needs: &[&str]) -> Package {
        let dependency = |name: &&str| Dependency {
            name: (*name).to_owned(),
            rename: None,
            kind: None,
            optional: false,
        };
        Package {
            name: name.to_owned(),
            manifest_path: PathBuf::from(format!("{name}/Cargo.toml")),
            dependencies: needs.iter().map(dependency).collect(),
            metadata: Some(Metadata {
                room: Some(Room { kind: kind.to_owned(), first_look: None }),
            }),
        }
    }

    fn arrows_of(package: &Package) -> Vec<String> {
        let workspace = Workspace {
            root: PathBuf::new(),
            target: PathBuf::new(),
            packages: vec![
                package.clone(),
                self::package("wiremark-core", "core", &[]),
                self::package("wiremark-datasets", "datasets", &[]),
                self::package("wiremark-json", "format", &[]),
                self::package("wiremark-sqlite", "source", &[]),
            ],
        };
        let mut problems = Vec::new();
        arrows(&workspace, package, &mut problems);
        problems
    }

    #[test]
    fn an_arrow_that_design_forbids_is_found() {
        let rows: &[(&str, &[&str], usize)] = &[
            ("format", &["wiremark-core", "serde", "rmp-serde"], 0),
            ("format", &["wiremark-core", "wiremark-json"], 1),
            ("format", &["wiremark-datasets"], 1),
            ("xtask", &["wiremark-json", "clap"], 1),
            ("core", &["serde"], 0),
            ("core", &["serde_json"], 1),
            ("source", &["wiremark-core", "wiremark-datasets", "rusqlite"], 0),
            ("benches", &["wiremark-sqlite"], 0),
            ("xtask", &["wiremark-sqlite"], 1),
            ("kitchen", &[], 1),
        ];
        for (kind, needs, wanted) in rows {
            let problems = arrows_of(&package("wiremark-x", kind, needs));
            assert_eq!(problems.len(), *wanted, "{kind} {needs:?}: {problems:?}");
        }
    }

    #[test]
    fn a_reach_beyond_a_room_is_found_outside_of_tests_and_comments() {
        let rows: &[(&str, &str, usize)] = &[
            ("format", "let now = Instant::now();", 1),
            ("meter", "let now = std::time::Instant::now();", 0),
            ("format", "// Instant::now() would be a clock", 0),
            ("format", "#[cfg(test)]\nmod tests { fn f() { Instant::now(); } }", 0),
            ("format", "#[cfg(test)]\nuse x;\nlet now = Instant::now();", 1),
            ("format", "use std::process::Command as C;", 1),
            ("format", "std::fs::read(path)", 1),
            ("core", "unsafe { zeroed() }", 1),
            ("report", "Command::new(\"less\")", 1),
            ("xtask", "Command::new(\"cargo\")", 0),
        ];
        for (kind, code, wanted) in rows {
            let mut problems = Vec::new();
            reach(kind, "crates/x/src/lib.rs", code, &mut problems);
            assert_eq!(problems.len(), *wanted, "{kind}: {code}: {problems:?}");
        }
    }

    #[test]
    fn a_path_of_a_machine_is_found_and_an_address_is_not() {
        let rows = [
            (format!("see /{}/me/file", "home"), 1),
            (format!("`/{}/x`", "root"), 1),
            (format!("https://example.org/{}/x", "work"), 0),
            (format!("a/{}/b", "work"), 0),
        ];
        for (text, wanted) in rows {
            let mut problems = Vec::new();
            words("x", &text, &mut problems);
            assert_eq!(problems.len(), wanted, "{text}");
        }
    }

    #[test]
    fn a_version_outside_of_the_workspaces_manifest_is_found() {
        let good = "[package]\nversion.workspace = true\n\n[dependencies]\nserde.workspace = \
                    true\n\n[lints]\nworkspace = true\n";
        let mut problems = Vec::new();
        check_manifest("x", good, &mut problems);
        assert!(problems.is_empty(), "{problems:?}");
        let bad = good.replace("serde.workspace = true", "serde = { version = \"1\" }");
        check_manifest("x", &bad.replace("[lints]", "[other]"), &mut problems);
        assert_eq!(problems.len(), 2, "{problems:?}");
    }
}
