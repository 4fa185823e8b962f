//! The table of formats in the workspace's README is what the codecs say of themselves.
#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::fmt::Write;
use std::path::Path;

use wiremark_core::{Capabilities, Codec, CodecVisitor, Profile, Role, Upkeep};

const BEGIN: &str = "<!-- formats: written by `cargo xtask tidy --bless` -->\n";
const END: &str = "<!-- end of formats -->\n";

#[derive(Default)]
struct Profiles(Vec<Profile>);

impl CodecVisitor for Profiles {
    fn visit<C: Codec>(&mut self, codec: C) {
        self.0.push(codec.profile());
    }
}

/// The columns of the second table: what it is called, and whether a codec can.
type Ability = (&'static str, fn(&Capabilities) -> bool);

const ABILITIES: &[Ability] = &[
    ("read without a schema", |can| can.self_describing),
    ("fields by name", |can| can.field_names),
    ("borrow text", |can| can.borrow_str),
    ("borrow bytes", |can| can.borrow_bytes),
    ("bytes stay bytes", |can| can.bytes),
    ("128-bit integers", |can| can.int_128),
    ("NaN and infinities", |can| can.non_finite_floats),
    ("`Some(None)` ≠ `None`", |can| can.nested_option),
    ("`Some(())` ≠ `None`", |can| can.unit_is_some),
    ("integer keys", |can| can.integer_keys),
    ("compound keys", |can| can.compound_keys),
    ("sequences of unknown length", |can| can.unknown_length),
    ("omitted fields", |can| can.omitted_fields),
    ("enums: internal tag", |can| can.internally_tagged),
    ("enums: adjacent tag", |can| can.adjacently_tagged),
    ("enums: untagged", |can| can.untagged),
    ("`flatten`", |can| can.flatten),
    ("skip a document", |can| can.skip),
];

fn table() -> String {
    let mut profiles = Profiles::default();
    wiremark_registry::visit(&mut profiles);
    let codecs: Vec<Profile> =
        profiles.0.into_iter().filter(|profile| profile.role == Role::Codec).collect();
    let mut text = String::from("| codec | format | library | upkeep | to know |\n");
    text += "| --- | --- | --- | --- | --- |\n";
    for Profile { id, format, library, version, upkeep, caveat, .. } in &codecs {
        let upkeep = match upkeep {
            Upkeep::Maintained => "maintained".to_owned(),
            Upkeep::Unmaintained("") => "**unmaintained**".to_owned(),
            Upkeep::Unmaintained(advisory) => format!("**unmaintained**, {advisory}"),
        };
        writeln!(
            text,
            "| `{id}` | {format} | {library} {version} | {upkeep} | {caveat} |"
        )
        .unwrap();
    }
    text += "\nWhat they can, as the test kit has seen it. Variants of one library that can the \
             same share a column.\n\n";
    let mut columns: Vec<(String, Capabilities)> = Vec::new();
    for profile in &codecs {
        let mut parts = profile.id.split('/');
        let library = parts.nth(1).unwrap_or(profile.id);
        match columns.last_mut() {
            Some((name, can)) if name.starts_with(library) && *can == profile.can => {
                // A second variant that can the same: the library's name stands for both.
                library.clone_into(name);
            }
            _ => {
                let variant =
                    parts.next().map_or(String::new(), |name| format!(" {name}"));
                columns.push((format!("{library}{variant}"), profile.can));
            }
        }
    }
    let names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
    writeln!(text, "| | {} |", names.join(" | ")).unwrap();
    writeln!(text, "| --- |{}", " --- |".repeat(names.len())).unwrap();
    for (name, ability) in ABILITIES {
        let cells = columns.iter().map(|(_, can)| if ability(can) { "yes" } else { "–" });
        writeln!(text, "| {name} | {} |", cells.collect::<Vec<_>>().join(" | ")).unwrap();
    }
    let depths = columns.iter().map(|(_, can)| can.max_depth.to_string());
    writeln!(text, "| nesting | {} |", depths.collect::<Vec<_>>().join(" | ")).unwrap();
    text
}

#[test]
fn the_table_of_formats_is_up_to_date() {
    if !wiremark_registry::IS_COMPLETE {
        println!("skipped: not all codecs are built in; run it with --all-features");
        return;
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let readme = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = readme.split_once(BEGIN).expect("README.md has the first mark");
    let (now, after) = rest.split_once(END).expect("README.md has the second mark");
    let wanted = table();
    if std::env::var_os("WIREMARK_BLESS").is_some() {
        std::fs::write(&path, format!("{before}{BEGIN}{wanted}{END}{after}")).unwrap();
        return;
    }
    assert_eq!(
        now, wanted,
        "README.md has another table of formats; `cargo xtask tidy --bless` writes it"
    );
}
