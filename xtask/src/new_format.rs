//! `cargo xtask new-format`: a crate that compiles, is on the list, and whose tests say what is
//! missing.
//!
//! All of it happens or none: what a failed step leaves behind is put back as it was.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::cli::NewFormatOptions;
use crate::files::write_whole;
use crate::problem::{Context, Problem};
use crate::workspace::{Workspace, cargo};

/// The files of a format crate and their templates.
const TEMPLATES: &[(&str, &str)] = &[
    ("Cargo.toml", include_str!("../templates/format/Cargo.toml.in")),
    ("README.md", include_str!("../templates/format/README.md.in")),
    ("src/lib.rs", include_str!("../templates/format/lib.rs.in")),
    ("tests/limits.rs", include_str!("../templates/format/limits.rs.in")),
    ("tests/vectors.rs", include_str!("../templates/format/vectors.rs.in")),
];

/// Where codec crates stand.
const FORMATS: &str = "crates/formats";

/// Where the list stands: the features, and the calls.
const LIST_MANIFEST: &str = "crates/registry/Cargo.toml";
const LIST: &str = "crates/registry/src/lib.rs";

/// Names that would hide something of Rust's, of cargo's or of the crate's own.
const TAKEN: &[&str] = &[
    // Keywords, also those kept for later.
    "abstract",
    "as",
    "async",
    "await",
    "become",
    "box",
    "break",
    "const",
    "continue",
    "crate",
    "do",
    "dyn",
    "else",
    "enum",
    "extern",
    "false",
    "final",
    "fn",
    "for",
    "gen",
    "if",
    "impl",
    "in",
    "let",
    "loop",
    "macro",
    "match",
    "mod",
    "move",
    "mut",
    "override",
    "priv",
    "pub",
    "ref",
    "return",
    "self",
    "static",
    "struct",
    "super",
    "trait",
    "true",
    "try",
    "type",
    "typeof",
    "unsafe",
    "unsized",
    "use",
    "virtual",
    "where",
    "while",
    "yield",
    // Crates and modules that the registry sees, and the feature that cargo gives a meaning.
    "alloc",
    "core",
    "default",
    "proc-macro",
    "std",
    "test",
    "tests",
    // Types that a codec crate sees.
    "capabilities",
    "codec",
    "codec-visitor",
    "deserialize",
    "err",
    "error",
    "error-kind",
    "framing",
    "guard",
    "none",
    "ok",
    "option",
    "profile",
    "result",
    "role",
    "serialize",
    "some",
    "string",
    "trailing",
    "upkeep",
    "vec",
];

/// The longest name: with it the lines of the templates stay within the width that rustfmt keeps.
const LONGEST: usize = 24;

pub(crate) fn run(options: &NewFormatOptions) -> Result<(), Problem> {
    let NewFormatOptions { name, library } = options;
    make(&Workspace::find()?, name, library)?;
    crate::print(&next_steps(name))
}

fn next_steps(name: &str) -> String {
    let package = format!("wiremark-{name}");
    format!(
        "\
made {FORMATS}/{name} and put it on the list in crates/registry; what comes next:

1. cargo test -p {package}
   says what is missing, until it is green: `encode_into` and `decode` in src/lib.rs, then the
   profile, then the kinds of errors, then the memory that hostile bytes ask for, then
   tests/vectors.rs and the example in README.md
2. cargo clippy -p {package} --all-targets
   names what is left of the scaffold; README.md has a table of what the codec can and cannot
3. cargo xtask tidy --bless
   checks the house, and writes the table of formats anew
4. cargo xtask bench --quick {name}
   measures it
"
    )
}

/// Makes the crate `name` for `library` and puts it on the list.
pub(crate) fn make(
    workspace: &Workspace,
    name: &str,
    library: &str,
) -> Result<(), Problem> {
    let root = &workspace.root;
    check_name(workspace, name)?;
    let manifest = read(&root.join("Cargo.toml"))?;
    check_library(workspace, &manifest, library)?;

    let mut change = Change::default();
    let lock = root.join("Cargo.lock");
    if lock.exists() {
        change.remember(&lock)?;
    }
    let folder = root.join(FORMATS).join(name);
    change.make_folder(&folder)?;
    // What is known of the library is what cargo tells once a crate needs it.
    let mut facts = Facts::of(name, library);
    for (file, template) in TEMPLATES {
        change.write(&folder.join(file), &facts.fill(template))?;
    }
    for (file, list) in
        [(LIST_MANIFEST, add_to_manifest as fn(&str, &str) -> _), (LIST, add_to_list)]
    {
        let path = root.join(file);
        let text = list(&read(&path)?, name).ok_or_else(|| {
            Problem::new(format!(
                "{file}: found no list of codecs where it should be; look at its last commit"
            ))
        })?;
        change.write(&path, &text)?;
    }
    facts.ask_cargo(root)?;
    for (file, template) in TEMPLATES {
        change.write(&folder.join(file), &facts.fill(template))?;
    }
    change.keep();
    Ok(())
}

fn read(path: &Path) -> Result<String, Problem> {
    fs::read_to_string(path).context(|| format!("cannot read {}", path.display()))
}

fn check_name(workspace: &Workspace, name: &str) -> Result<(), Problem> {
    let is_word = |word: &str| {
        !word.is_empty()
            && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    let starts_with_letter = name.starts_with(|first: char| first.is_ascii_lowercase());
    if !starts_with_letter || !name.split('-').all(is_word) {
        return Err(Problem::usage(format!(
            "`{name}` is no name for a format: it is a folder, a feature and a part of a \
             package's name, so write lower-case letters, digits and single `-` between \
             them, a letter first, such as `cbor` or `rmp-named`"
        )));
    }
    if name.len() > LONGEST {
        return Err(Problem::usage(format!(
            "`{name}` has {} letters; take a name of at most {LONGEST}",
            name.len()
        )));
    }
    if name == "wiremark" || name.starts_with("wiremark-") {
        return Err(Problem::usage(format!(
            "`{name}`: leave `wiremark-` out, the package gets it by itself"
        )));
    }
    if TAKEN.contains(&name) {
        return Err(Problem::usage(format!(
            "`{name}` means something else in Rust, in cargo or in a codec crate; take \
             another name, such as `{name}-format`"
        )));
    }
    let package = format!("wiremark-{name}");
    let folder = Path::new(FORMATS).join(name);
    let is_taken = workspace.packages.iter().any(|other| other.name == package)
        || workspace.root.join(&folder).exists()
        || workspace.codec_crates()?.iter().any(|other| other == name);
    if is_taken {
        return Err(Problem::usage(format!(
            "`{name}` is taken: there is a package `{package}`, a folder {} or a line in \
             {LIST_MANIFEST}; take the library's name for another library of the same format",
            folder.display()
        )));
    }
    Ok(())
}

fn check_library(
    workspace: &Workspace,
    manifest: &str,
    library: &str,
) -> Result<(), Problem> {
    let is_ours = workspace.packages.iter().any(|package| package.name == library);
    if is_ours || library == "serde" {
        return Err(Problem::usage(format!(
            "`{library}` is no library that could be measured: name the one that writes and \
             reads the format"
        )));
    }
    if !is_dependency(manifest, library) {
        return Err(Problem::usage(format!(
            "`{library}` does not stand under [workspace.dependencies]; add it to Cargo.toml \
             under `# Systems under test`, with the newest version (`cargo info {library}` \
             tells) and the features that it needs:\n\n    \
             {library} = {{ version = \"1.2.3\", default-features = false }}\n"
        )));
    }
    Ok(())
}

/// Whether the workspace's manifest names `library` among its dependencies.
fn is_dependency(manifest: &str, library: &str) -> bool {
    let mut section = "";
    manifest.lines().map(str::trim).any(|line| {
        if line.starts_with('[') {
            section = line;
            return line == format!("[workspace.dependencies.{library}]");
        }
        let key = line.split(['=', '.']).next().unwrap_or_default().trim();
        section == "[workspace.dependencies]"
            && !line.starts_with('#')
            && line.contains('=')
            && key == library
    })
}

/// What the templates are filled with.
#[derive(Debug)]
struct Facts {
    name: String,
    /// As the workspace's manifest calls the library.
    library: String,
    /// As the package registry does.
    package: String,
    version: String,
    license: String,
}

impl Facts {
    fn of(name: &str, library: &str) -> Self {
        Self {
            name: name.to_owned(),
            library: library.to_owned(),
            package: library.to_owned(),
            version: String::new(),
            license: String::new(),
        }
    }

    /// Lets cargo resolve the new crate, which writes the lock file, and reads what it says of
    /// the library.
    fn ask_cargo(&mut self, root: &Path) -> Result<(), Problem> {
        let crate_name = format!("wiremark-{}", self.name);
        let output = cargo()
            .args(["tree", "--quiet", "--package", &crate_name, "--depth", "1"])
            .args(["--edges", "normal", "--prefix", "none", "--format", "{p}|{l}"])
            .current_dir(root)
            .output()
            .context(|| "cannot run cargo".to_owned())?;
        if !output.status.success() {
            return Err(Problem::new(format!(
                "cargo cannot resolve `{}`, so nothing was made; mend its line in Cargo.toml, \
                 and try again:\n{}",
                self.library,
                String::from_utf8_lossy(&output.stderr).trim()
            )));
        }
        let tree = String::from_utf8_lossy(&output.stdout);
        let Some((package, version, license)) = library_in_tree(&tree) else {
            return Err(Problem::new(format!(
                "`cargo tree` shows no library below {crate_name}, so nothing was made: does \
                 the line in Cargo.toml say `optional`, or name another target?"
            )));
        };
        package.clone_into(&mut self.package);
        version.clone_into(&mut self.version);
        license.clone_into(&mut self.license);
        Ok(())
    }

    fn fill(&self, template: &str) -> String {
        let ident = self.name.replace('-', "_");
        let of_type: String = self.name.split('-').map(capitalized).collect();
        [
            ("{{name}}", self.name.as_str()),
            ("{{ident}}", &ident),
            ("{{type}}", &of_type),
            ("{{library}}", &self.library),
            ("{{package}}", &self.package),
            ("{{version}}", &self.version),
            ("{{license}}", &self.license),
        ]
        .iter()
        .fold(template.to_owned(), |text, (hole, fact)| text.replace(hole, fact))
    }
}

/// The package, version and licence that is not ours and not serde, in lines such as
/// `rmp-serde v1.3.1|MIT`.
fn library_in_tree(tree: &str) -> Option<(&str, &str, &str)> {
    tree.lines().skip(1).find_map(|line| {
        let (package, license) = line.split_once('|')?;
        let (name, version) = package.split_once(" v")?;
        let version = version.split(' ').next()?;
        // What cargo has shown before has a mark.
        let license = license.trim_end_matches(" (*)");
        (name != "serde" && name != "wiremark-core").then_some((name, version, license))
    })
}

fn capitalized(word: &str) -> String {
    let mut letters = word.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// The registry's manifest with the line that makes the feature.
fn add_to_manifest(manifest: &str, name: &str) -> Option<String> {
    let line = format!(
        "{name} = {{ package = \"wiremark-{name}\", path = \"../formats/{name}\", \
         optional = true }}"
    );
    insert_sorted(manifest, "[dependencies]", name, &line, |line| {
        line.contains("optional = true").then(|| line.split(' ').next())?
    })
}

/// The registry's source with the line that calls the crate.
fn add_to_list(source: &str, name: &str) -> Option<String> {
    let line = format!("    {} = \"{name}\"", name.replace('-', "_"));
    insert_sorted(source, "codecs! {", name, &line, |line| {
        line.split_once(" = \"")?.1.strip_suffix('"')
    })
}

/// `text` with `line` put in, before the first line that belongs behind it.
///
/// The list begins below the line `head`; `name_of` tells the name that a line of it lists, and
/// nothing for other lines.
fn insert_sorted(
    text: &str,
    head: &str,
    name: &str,
    line: &str,
    name_of: impl Fn(&str) -> Option<&str>,
) -> Option<String> {
    let mut lines: Vec<&str> = text.lines().collect();
    let start = lines.iter().position(|line| *line == head)? + 1;
    let mut at = start;
    for (index, listed) in lines.iter().enumerate().skip(start) {
        // A list ends at an empty line or a brace.
        if listed.is_empty() || *listed == "}" {
            break;
        }
        match name_of(listed) {
            Some(other) if other > name => break,
            _ => at = index + 1,
        }
    }
    lines.insert(at, line);
    Some(lines.join("\n") + "\n")
}

/// Files that are written, and what was there before: dropped without [`keep`](Self::keep), all
/// is as it was.
#[derive(Debug, Default)]
struct Change {
    made: Vec<PathBuf>,
    before: Vec<(PathBuf, Vec<u8>)>,
}

impl Change {
    /// Keeps what a file holds, to put it back.
    fn remember(&mut self, path: &Path) -> Result<(), Problem> {
        let bytes =
            fs::read(path).context(|| format!("cannot read {}", path.display()))?;
        self.before.push((path.to_owned(), bytes));
        Ok(())
    }

    fn make_folder(&mut self, folder: &Path) -> Result<(), Problem> {
        // Not `create_dir_all`: what is there already is not ours to remove.
        fs::create_dir(folder).context(|| format!("cannot make {}", folder.display()))?;
        self.made.push(folder.to_owned());
        Ok(())
    }

    /// Writes a file: one in a folder that was made, or one that is there.
    fn write(&mut self, path: &Path, text: &str) -> Result<(), Problem> {
        if !self.made.iter().any(|folder| path.starts_with(folder)) {
            self.remember(path)?;
        }
        path.parent()
            .map_or(Ok(()), fs::create_dir_all)
            .context(|| format!("cannot make the folder of {}", path.display()))?;
        write_whole(path, text.as_bytes())
    }

    fn keep(mut self) {
        self.made.clear();
        self.before.clear();
    }
}

impl Drop for Change {
    fn drop(&mut self) {
        let mut failed: Vec<(PathBuf, io::Error)> = Vec::new();
        for folder in self.made.drain(..) {
            if let Err(error) = fs::remove_dir_all(&folder) {
                failed.push((folder, error));
            }
        }
        // The last first, in case one was written twice.
        for (path, bytes) in self.before.drain(..).rev() {
            if let Err(error) = fs::write(&path, bytes) {
                failed.push((path, error));
            }
        }
        for (path, error) in failed {
            let path = path.display();
            crate::remark(&format!("cannot put {path} back as it was: {error}"));
        }
    }
}

#[cfg(test)]
mod tests;
