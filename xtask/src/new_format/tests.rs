//! The scaffolder, in copies of the workspace: from a name to a codec that passes its tests, by
//! doing what the tests say.

use std::collections::BTreeSet;
use std::fs::File;
use std::process::{Command, Output};

use super::*;
use crate::tidy;

/// A copy of the workspace's files as a clone would have them, removed when dropped.
struct Replica {
    workspace: Workspace,
    target: PathBuf,
    /// Keeps another run of this test out of the folder: its path is always the same, so that
    /// what is built of other people's crates can be used again.
    _lock: File,
}

impl Replica {
    fn new(name: &str) -> Self {
        let workspace = Workspace::find().unwrap();
        let folder = workspace.target.join("scaffold").join(name);
        fs::create_dir_all(&folder).unwrap();
        let lock = File::create(folder.join("lock")).unwrap();
        lock.lock().unwrap();
        let root = folder.join("copy");
        let _ = fs::remove_dir_all(&root);
        let files =
            git(&workspace.root, &["ls-files", "-z", "-co", "--exclude-standard"]);
        for file in files.split('\0').filter(|file| !file.is_empty()) {
            let to = root.join(file);
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            // A file that is deleted and not yet committed so is listed and not there.
            if workspace.root.join(file).exists() {
                fs::copy(workspace.root.join(file), to).unwrap();
            }
        }
        let config = root.join(".cargo/config.toml");
        let offline = read(&config).unwrap() + "\n[net]\noffline = true\n";
        fs::write(config, offline).unwrap();
        // Of its own, or git would ask the one around it.
        git(&root, &["init", "--quiet"]);
        let workspace = Workspace::find_in(&root).unwrap();
        Self { workspace, target: folder.join("target"), _lock: lock }
    }

    fn path(&self, file: &str) -> PathBuf {
        self.workspace.root.join(file)
    }

    fn cargo(&self, arguments: &[&str]) -> Ran {
        let output = cargo()
            .args(arguments)
            .current_dir(&self.workspace.root)
            .env("CARGO_TARGET_DIR", &self.target)
            .env("CARGO_INCREMENTAL", "0")
            .env("CARGO_PROFILE_DEV_DEBUG", "0")
            .env("CARGO_TERM_COLOR", "never")
            .env("RUST_BACKTRACE", "0")
            .output()
            .unwrap();
        Ran::from(&output)
    }

    /// Replaces what must be there.
    fn edit(&self, file: &str, edits: &[(&str, &str)]) {
        let path = self.path(file);
        let mut text = read(&path).unwrap();
        for (from, to) in edits {
            assert!(text.contains(from), "{file}: expected {from:?} in\n{text}");
            text = text.replace(from, to);
        }
        fs::write(path, text).unwrap();
    }

    /// All files with what they hold, but for git's own.
    fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut files = Vec::new();
        let mut folders = vec![self.workspace.root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_file() {
                    let bytes = fs::read(&path).unwrap();
                    files.push((path, bytes));
                } else if !path.ends_with(".git") {
                    folders.push(path);
                }
            }
        }
        files.sort();
        files
    }
}

impl Drop for Replica {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.workspace.root);
    }
}

fn git(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git").args(arguments).current_dir(folder).output();
    let output = output.unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", Ran::from(&output).text);
    String::from_utf8(output.stdout).unwrap()
}

/// What a command said, and whether it succeeded.
struct Ran {
    succeeded: bool,
    text: String,
}

impl Ran {
    fn from(output: &Output) -> Self {
        let out = String::from_utf8_lossy(&output.stdout);
        let err = String::from_utf8_lossy(&output.stderr);
        Self { succeeded: output.status.success(), text: format!("{out}{err}") }
    }

    #[track_caller]
    fn assert_succeeded(&self) {
        assert!(self.succeeded, "expected success, found\n{}", self.text);
    }

    /// What the kit found: each line once.
    #[track_caller]
    fn findings(&self) -> BTreeSet<&str> {
        assert!(!self.succeeded, "expected tests that fail, found\n{}", self.text);
        self.text.lines().filter_map(|line| line.strip_prefix("- ")).collect()
    }

    /// The names of the tests that failed, without the modules'.
    fn failed(&self) -> BTreeSet<&str> {
        let failed =
            self.text.lines().filter_map(|line| line.strip_suffix(" ... FAILED"));
        failed.filter_map(|line| line.rsplit("::").next()).collect()
    }
}

const LIB: &str = "crates/formats/my-json/src/lib.rs";

/// What a newcomer writes first: it works, and calls every failure `syntax`.
const WRITTEN: &[(&str, &str)] = &[
    (
        "            let _ = (value, out);
            todo!(\"let the library write `value` behind what is in `out`\")
",
        "            serde_json::to_writer(out, &value)
                .map_err(|error| guard.error().unwrap_or_else(|| encode_error(error)))
",
    ),
    (
        "        let _ = (guard, bytes);
        todo!(\"let the library read a `T` from `bytes`, and refuse what is left of them\")
",
        "        let mut library = serde_json::Deserializer::from_slice(bytes);
        library.disable_recursion_limit();
        T::deserialize(guard.lending(&mut library))
            .and_then(|value| library.end().map(|()| value))
            .map_err(|error| guard.error().unwrap_or_else(|| decode_error(error)))
",
    ),
    (
        "#[expect(dead_code, reason = \"the scaffold; strike this line when it is called\")]\n",
        "",
    ),
];

/// What JSON can, in alphabetical order.
const CLAIMED: [&str; 14] = [
    "adjacently_tagged",
    "borrow_str",
    "deterministic",
    "field_names",
    "flatten",
    "human_readable",
    "int_128",
    "integer_keys",
    "internally_tagged",
    "omitted_fields",
    "self_describing",
    "skip",
    "unknown_length",
    "untagged",
];

/// The errors, sorted.
const SORTED: &[(&str, &str)] = &[
    ("use std::error;\n\n", ""),
    ("error: impl error::Error + Send + Sync + 'static", "error: serde_json::Error"),
    (
        "    Error::wrap(ErrorKind::Data, error)",
        "    let kind = if error.is_data() { ErrorKind::Data } else { ErrorKind::Unsupported };
    Error::wrap(kind, error)",
    ),
    (
        "    Error::wrap(ErrorKind::Syntax, error)",
        "    let kind = match error.classify() {
        Category::Io => ErrorKind::Io,
        Category::Syntax => ErrorKind::Syntax,
        Category::Data => ErrorKind::Data,
        Category::Eof => ErrorKind::Eof,
    };
    Error::wrap(kind, error)",
    ),
    (
        "use serde::{Deserialize, Serialize};\n",
        "use serde::{Deserialize, Serialize};\nuse serde_json::error::Category;\n",
    ),
];

#[test]
fn the_tests_of_a_new_crate_lead_to_a_codec() {
    let copy = Replica::new("new");
    let package = "wiremark-my-json";
    let before = tidy::check(&copy.workspace).unwrap();
    make(&copy.workspace, "my-json", "serde_json").unwrap();

    // It is on the list, in order, and the house is in order.
    git(&copy.workspace.root, &["add", "--all"]);
    let workspace = Workspace::find_in(&copy.workspace.root).unwrap();
    assert!(workspace.codec_crates().unwrap().iter().any(|name| name == "my-json"));
    // Whether it was before is a test of its own.
    assert_eq!(tidy::check(&workspace).unwrap(), before);
    let registry = ["test", "--package", "wiremark-registry", "--lib"];
    copy.cargo(&[&registry[..], &["--locked", "--features", "my-json"]].concat())
        .assert_succeeded();
    copy.cargo(&["fmt", "--package", package, "--check"]).assert_succeeded();
    let clippy: &[&str] = &[
        "clippy",
        "--locked",
        "--package",
        package,
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ];
    copy.cargo(clippy).assert_succeeded();

    // First what is to be written, and nothing else.
    let test: &[&str] = &["test", "--locked", "--package", package, "--no-fail-fast"];
    let lib = [test, &["--lib"]].concat();
    let source = read(&copy.path(LIB)).unwrap();
    let lines: Vec<_> =
        source.lines().zip(1..).filter(|it| it.0.contains("todo!(")).collect();
    let [(_, encode), (_, decode)] = lines[..] else { panic!("{source}") };
    let encode = format!(
        "`encode_into` is still to be written, in {LIB}:{encode}: let the library write \
         `value` behind what is in `out`"
    );
    let decode = format!(
        "`decode` is still to be written, in {LIB}:{decode}: let the library read a `T` from \
         `bytes`, and refuse what is left of them"
    );
    let waiting = format!(
        "not tried yet: the test `both_functions_are_written` comes first: {encode}"
    );
    let ran = copy.cargo(&lib);
    assert_eq!(ran.findings(), BTreeSet::from([&*encode, &*decode, &*waiting]));

    // Then the profile. Each sentence says what to write, so it is written.
    copy.edit(LIB, WRITTEN);
    let ran = copy.cargo(&lib);
    let format =
        "expected `format` to be filled in: the wire format as its authors write it";
    let spec = "expected `spec` to be filled in: the document that defines the format, name and \
                address";
    let waiting =
        format!("not tried yet: the test `a_profile_is_filled_in` comes first: {format}");
    let findings = ran.findings();
    let claims: Vec<&str> = findings
        .iter()
        .filter_map(|line| line.rsplit_once("but it holds; claim `")?.1.strip_suffix('`'))
        .collect();
    let others: Vec<&str> =
        findings.iter().filter(|line| !line.starts_with("claims")).copied().collect();
    let expected = CLAIMED.map(|name| format!("{name}: true"));
    assert_eq!(claims, expected, "{}", ran.text);
    assert_eq!(others, [format, spec, &waiting]);
    let profile =
        [("format: \"\"", "format: \"JSON\""), ("spec: \"\"", "spec: \"RFC 8259\"")];
    copy.edit(LIB, &profile);
    for claim in claims {
        copy.edit(LIB, &[(&*claim.replace("true", "false"), claim)]);
    }

    // Then what a call promises: this library needs a setting for floats, and errors a kind.
    let ran = copy.cargo(&lib);
    assert!(ran.findings().iter().any(|line| line.contains("expected kind `eof`")));
    assert!(ran.text.contains("to mend it: in `decode_error`, "), "{}", ran.text);
    let expected =
        ["a_prefix_is_refused", "floats_come_back", "writers_and_readers_may_fail"];
    assert_eq!(ran.failed(), BTreeSet::from(expected), "{}", ran.text);
    copy.edit(LIB, SORTED);
    let exact = "serde_json = { workspace = true, features = [\"float_roundtrip\"] }";
    copy.edit(
        "crates/formats/my-json/Cargo.toml",
        &[("serde_json.workspace = true", exact)],
    );

    // Then bytes of others, in the table and in the example.
    let ran = copy.cargo(test);
    let findings = ran.findings();
    assert!(
        findings.iter().all(|line| line.starts_with("no vectors yet: ")),
        "{findings:?}"
    );
    assert_eq!(findings.len(), 1, "{}", ran.text);
    assert!(ran.text.contains("write here the bytes that the specification gives"));
    copy.edit(
        "crates/formats/my-json/tests/vectors.rs",
        &[
            ("let vectors = ", "let mut vectors = "),
            ("    // vectors.both_ways(", "    vectors.both_ways("),
            ("\"RFC 8949, appendix A\", \"f5\"", "\"RFC 8259\", \"74727565\""),
        ],
    );
    copy.edit(
        "crates/formats/my-json/README.md",
        &[(
            "b\"\", \"write here the bytes that the specification gives\"",
            "br#\"[\"pi\",300]\"#",
        )],
    );
    copy.cargo(test).assert_succeeded();

    // What is left of the scaffold asks to be struck.
    let ran = copy.cargo(clippy);
    assert!(!ran.succeeded && ran.text.contains("the scaffold; strike this line"));
    let todo = "    #[expect(clippy::todo, reason = \"the scaffold; strike this line with the \
                `todo!`\")]\n";
    copy.edit(LIB, &[(todo, "")]);
    copy.cargo(clippy).assert_succeeded();
}

#[test]
fn a_step_that_fails_leaves_nothing_behind() {
    let copy = Replica::new("undone");
    // Each row breaks one thing more.
    let rows = [
        (
            "Cargo.toml",
            "boon = ",
            "no-such-library-anywhere = \"9\"\nboon = ",
            "cargo cannot resolve `no-such-library-anywhere`",
        ),
        (LIST, "\ncodecs! {", "\nothers! {", "crates/registry/src/lib.rs: found no list"),
        (
            LIST_MANIFEST,
            "[dependencies]",
            "[needs]",
            "crates/registry/Cargo.toml: found no list",
        ),
    ];
    let mut bad = Vec::new();
    for (file, from, to, expected) in rows {
        copy.edit(file, &[(from, to)]);
        let before = copy.files();
        let problem =
            make(&copy.workspace, "new", "no-such-library-anywhere").unwrap_err();
        if !problem.to_string().contains(expected) {
            bad.push(format!("expected {expected:?}, found {problem}"));
        }
        if copy.files() != before {
            bad.push(format!("{file}: expected all files as they were"));
        }
    }
    assert!(bad.is_empty(), "{bad:#?}");
}

#[test]
fn a_name_or_library_that_will_not_do_is_refused_with_what_to_do() {
    let workspace = Workspace::find().unwrap();
    let rows = [
        ("Json", "serde_json", "lower-case"),
        ("my_json", "serde_json", "single `-`"),
        ("my--json", "serde_json", "single `-`"),
        ("json-", "serde_json", "single `-`"),
        ("-json", "serde_json", "a letter first"),
        ("2json", "serde_json", "a letter first"),
        ("", "serde_json", "lower-case"),
        ("../json", "serde_json", "lower-case"),
        ("größe", "serde_json", "lower-case"),
        ("a-format-of-a-very-long-name", "serde_json", "at most 24"),
        ("wiremark-json", "serde_json", "leave `wiremark-` out"),
        ("gen", "serde_json", "such as `gen-format`"),
        ("core", "serde_json", "such as `core-format`"),
        ("default", "serde_json", "such as `default-format`"),
        ("codec", "serde_json", "such as `codec-format`"),
        ("json", "serde_json", "`json` is taken"),
        ("datasets", "serde_json", "`datasets` is taken"),
        ("new", "serde", "no library that could be measured"),
        ("new", "wiremark-json", "no library that could be measured"),
        ("new", "json", "    json = { version = \"1.2.3\", default-features = false }"),
        ("new", "serde_jso", "`cargo info serde_jso`"),
    ];
    let mut bad = Vec::new();
    for (name, library, expected) in rows {
        let Err(problem) = make(&workspace, name, library) else {
            panic!("{name:?} for {library:?} was made");
        };
        let is_usage = format!("{:?}", problem.code()) == format!("{:?}", usage());
        if !is_usage || !problem.to_string().contains(expected) {
            bad.push(format!(
                "{name:?} {library:?}: expected {expected:?}, found {problem}"
            ));
        }
    }
    assert!(bad.is_empty(), "{bad:#?}");
}

fn usage() -> std::process::ExitCode {
    Problem::usage("").code()
}

#[test]
fn a_library_is_looked_for_among_the_workspaces_dependencies_alone() {
    let manifest = "\
[workspace.dependencies]
# old = \"1\"
plain = \"1\"
table = { version = \"1\" }
dotted.version = \"1\"
[workspace.dependencies.own]
version = \"1\"
[other]
elsewhere = \"1\"
";
    let rows = [
        ("plain", true),
        ("table", true),
        ("dotted", true),
        ("own", true),
        ("old", false),
        ("version", false),
        ("elsewhere", false),
        ("tab", false),
    ];
    for (library, expected) in rows {
        assert_eq!(is_dependency(manifest, library), expected, "{library}");
    }
}

#[test]
fn a_line_is_put_where_the_alphabet_wants_it() {
    let list = |names: &[&str]| {
        let lines: Vec<_> =
            names.iter().map(|name| format!("    {name} = \"{name}\"\n")).collect();
        format!("before\ncodecs! {{\n{}}}\n\n    z = \"z\"\n", lines.concat())
    };
    let rows: [(&[&str], &[&str]); 4] = [
        (&["a", "c"], &["a", "b", "c"]),
        (&["c"], &["b", "c"]),
        (&["a"], &["a", "b"]),
        (&[], &["b"]),
    ];
    for (before, after) in rows {
        assert_eq!(add_to_list(&list(before), "b").as_deref(), Some(&*list(after)));
    }
    assert_eq!(add_to_list("nothing", "b"), None);
    let manifest = "[dependencies]\nwiremark-core.workspace = true\n\n[features]\n";
    assert_eq!(
        add_to_manifest(manifest, "b-c").as_deref(),
        Some(
            "[dependencies]\nwiremark-core.workspace = true\nb-c = { package = \
             \"wiremark-b-c\", path = \"../formats/b-c\", optional = true }\n\n[features]\n"
        )
    );
    assert_eq!(
        add_to_list(&list(&[]), "b-c").as_deref().and_then(|text| text.lines().nth(2)),
        Some("    b_c = \"b-c\"")
    );
}

#[test]
fn the_library_is_found_in_what_cargo_tells() {
    let tree = "wiremark-x v0.1.0 (a/path)|MIT OR Apache-2.0\nserde v1.0.229|MIT OR \
                Apache-2.0 (*)\nrmp-serde v1.3.1 (proc-macro)|MIT (*)\nwiremark-core v0.1.0 \
                (b)|MIT\n";
    assert_eq!(library_in_tree(tree), Some(("rmp-serde", "1.3.1", "MIT")));
    assert_eq!(library_in_tree("wiremark-x v0.1.0|MIT\nserde v1.0.0|MIT\n"), None);
}

#[test]
fn a_crate_of_any_name_is_formatted() {
    let root = Workspace::find().unwrap().root;
    let folder = tempfile::tempdir().unwrap();
    let longest = "x".repeat(LONGEST);
    let mut bad = Vec::new();
    for (name, library) in
        [("x", "y"), (&longest, "a-library-of-a-very-long-name-indeed")]
    {
        let facts = Facts::of(name, library);
        for (file, template) in TEMPLATES.iter().filter(|(file, _)| file.contains('/')) {
            let path = folder.path().join("file.rs");
            fs::write(&path, facts.fill(template)).unwrap();
            let mut rustfmt = Command::new("rustfmt");
            rustfmt.args(["--check", "--edition", "2024", "--config-path"]).arg(&root);
            let ran = Ran::from(&rustfmt.arg(&path).output().unwrap());
            if !ran.succeeded {
                bad.push(format!("{file} of {name}:\n{}", ran.text));
            }
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

#[test]
fn a_template_has_no_hole_that_is_not_filled() {
    let facts = Facts::of("x-y", "z");
    for (file, template) in TEMPLATES {
        let text = facts.fill(template);
        assert!(!text.contains("{{"), "{file}: {text}");
    }
}
