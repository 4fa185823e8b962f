//! `cargo xtask doctor`: what this machine can measure, what is missing, and the cure.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use wiremark_meter::machine;
use wiremark_peers::Peers;
use wiremark_throwaway::Programs;

use crate::bench::rustc;
use crate::problem::Problem;
use crate::worker::find_peers;
use crate::workspace::Workspace;

/// How something stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    Good,
    /// Figures are to be had, with a caution.
    Caution,
    Missing,
}

/// One thing that was looked at.
#[derive(Debug)]
struct Finding {
    what: &'static str,
    standing: Standing,
    found: String,
    /// What to do about it; empty where nothing has to be done.
    cure: Cow<'static, str>,
}

pub(crate) fn run() -> Result<(), Problem> {
    let workspace = Workspace::find()?;
    crate::print(&render(&examine(&workspace)))
}

fn examine(workspace: &Workspace) -> Vec<Finding> {
    let mut findings =
        vec![toolchain(), c_compiler(), cpu(), memory(), governor(), load()];
    findings.push(steady_heap());
    findings.push(shared(&workspace.root));
    findings.push(program_found(
        "git",
        "git",
        &["--version"],
        "apt-get install git: a record then names its commit",
    ));
    findings.extend(peers(&find_peers(workspace)));
    findings.push(sqlite(&findings));
    findings.push(postgresql(Programs::find()));
    findings.push(database_url(std::env::var_os("DATABASE_URL").is_some()));
    findings
}

/// The original systems, which `bench --peers` measures and the tests exchange bytes with.
fn peers(peers: &Peers) -> Vec<Finding> {
    let mut findings: Vec<Finding> = peers
        .programs
        .iter()
        .map(|program| {
            let mut libraries: Vec<String> = program
                .codecs()
                .into_iter()
                .map(|codec| match codec.version.as_str() {
                    // What comes with the language has its version.
                    own if program.version.program.contains(own) => codec.library,
                    "not here" => codec.library,
                    other => format!("{} {other}", codec.library),
                })
                .collect();
            let mut seen = BTreeSet::new();
            libraries.retain(|library| seen.insert(library.clone()));
            let found = format!("{}: {}", program.version.program, libraries.join(", "));
            good("peer", found)
        })
        .collect();
    let mut reasons: Vec<&str> = Vec::new();
    for missing in &peers.missing {
        if !reasons.contains(&missing.reason.as_str()) {
            reasons.push(&missing.reason);
            findings.push(Finding {
                what: "peer",
                standing: Standing::Missing,
                found: missing.codec.library.to_owned(),
                cure: missing.reason.clone().into(),
            });
        }
    }
    findings
}

fn sqlite(findings: &[Finding]) -> Finding {
    let has_compiler = findings
        .iter()
        .any(|finding| finding.what == C_COMPILER && finding.standing == Standing::Good);
    if has_compiler {
        good("SQLite", "bundled, compiled by the C compiler".to_owned())
    } else {
        missing("SQLite", "it is bundled, and needs the C compiler")
    }
}

fn postgresql(programs: std::io::Result<Programs>) -> Finding {
    match programs {
        Ok(programs) => {
            let (version, folder) = (programs.version(), programs.folder().display());
            good("PostgreSQL", format!("server {version} in {folder}"))
        }
        Err(_) => missing(
            "PostgreSQL",
            "apt-get install postgresql: the tests then ask a private server for rows",
        ),
    }
}

/// Whether it is set, never what it says: it may hold a password.
fn database_url(is_set: bool) -> Finding {
    let found =
        if is_set { "set" } else { "not set: no server of yours is asked for rows" };
    good("DATABASE_URL", found.to_owned())
}

fn toolchain() -> Finding {
    match rustc(&["--version"]) {
        Some(found) => good("rustc", found),
        None => missing(
            "rustc",
            "install Rust by rustup; rust-toolchain.toml names the version",
        ),
    }
}

const C_COMPILER: &str = "C compiler";

fn c_compiler() -> Finding {
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    match first_line(&compiler, &["--version"]) {
        Some(found) => good(C_COMPILER, found),
        None => missing(
            C_COMPILER,
            "apt-get install gcc: the counting worker compresses with zstd, which is C",
        ),
    }
}

fn cpu() -> Finding {
    let cores = machine::cores();
    let name = machine::cpu().unwrap_or_else(|| "unknown".to_owned());
    let found = format!("{name}, {cores} logical cores");
    if cores > 1 {
        good("processor", found)
    } else {
        let cure =
            "with one core everything else on the machine takes turns with the bench";
        Finding {
            what: "processor",
            standing: Standing::Caution,
            found,
            cure: cure.into(),
        }
    }
}

fn memory() -> Finding {
    match machine::memory_bytes() {
        Some(bytes) if bytes >= 2 << 30 => {
            good("memory", format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30)))
        }
        Some(bytes) => Finding {
            what: "memory",
            standing: Standing::Caution,
            found: format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30)),
            cure: "large files of your own may not fit: a dynamic value takes about ten times \
                   the file"
                .into(),
        },
        None => missing("memory", "the system does not tell; the record leaves it out"),
    }
}

fn governor() -> Finding {
    match machine::governor() {
        Some(found) if found == "performance" => good("frequency governor", found),
        Some(found) => Finding {
            what: "frequency governor",
            standing: Standing::Caution,
            found,
            cure: "cpupower frequency-set -g performance keeps the clock rate steady"
                .into(),
        },
        None => {
            good("frequency governor", "none (a virtual machine, or fixed)".to_owned())
        }
    }
}

fn load() -> Finding {
    match machine::load() {
        Some(load) if load < f64::from(machine::cores()) => {
            good("load", format!("{load:.2} over the last minute"))
        }
        Some(load) => Finding {
            what: "load",
            standing: Standing::Caution,
            found: format!("{load:.2} over the last minute"),
            cure: "CPU time stands it; the noise floor of the run will tell how well"
                .into(),
        },
        None => missing("load", "the system does not tell; the record leaves it out"),
    }
}

fn steady_heap() -> Finding {
    if cfg!(all(target_os = "linux", target_env = "gnu")) {
        good("steady heap", "glibc takes its settings from the environment".to_owned())
    } else {
        Finding {
            what: "steady heap",
            standing: Standing::Caution,
            found: "not glibc".to_owned(),
            cure: "--allocator mimalloc is the steadier choice here".into(),
        }
    }
}

fn shared(root: &Path) -> Finding {
    let folder = std::env::var_os("WIREMARK_SHARED")
        .map_or_else(|| root.join("../shared"), std::path::PathBuf::from)
        .join("corpora");
    if folder.is_dir() {
        good("test corpora", "found; the tests run through them".to_owned())
    } else {
        missing(
            "test corpora",
            "not needed for figures; WIREMARK_SHARED names the folder that holds `corpora`",
        )
    }
}

fn program_found(
    what: &'static str,
    program: &str,
    arguments: &[&str],
    cure: &'static str,
) -> Finding {
    match first_line(program, arguments) {
        Some(found) => good(what, found),
        None => missing(what, cure),
    }
}

fn first_line(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().find(|line| !line.trim().is_empty())?;
    output.status.success().then(|| line.trim().to_owned())
}

fn good(what: &'static str, found: String) -> Finding {
    Finding { what, standing: Standing::Good, found, cure: "".into() }
}

fn missing(what: &'static str, cure: &'static str) -> Finding {
    Finding {
        what,
        standing: Standing::Missing,
        found: "not found".to_owned(),
        cure: cure.into(),
    }
}

fn render(findings: &[Finding]) -> String {
    let width = findings.iter().map(|finding| finding.what.len()).max().unwrap_or(0);
    let mut lines = Vec::new();
    for Finding { what, standing, found, cure } in findings {
        let sign = match standing {
            Standing::Good => "ok     ",
            Standing::Caution => "caution",
            Standing::Missing => "missing",
        };
        lines.push(format!("{sign}  {what:width$}  {found}"));
        if !cure.is_empty() {
            lines.push(format!("{:9}{:width$}  -> {cure}", "", ""));
        }
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_stands_with_its_cure() {
        let findings = [
            good("git", "git version 2".to_owned()),
            missing("go", "apt-get install golang-go"),
        ];
        assert_eq!(
            render(&findings),
            "ok       git  git version 2\n\
             missing  go   not found\n              -> apt-get install golang-go\n"
        );
    }

    #[test]
    fn a_database_that_is_not_there_is_missing_with_its_cure() {
        let none = postgresql(Err(std::io::ErrorKind::NotFound.into()));
        let no_compiler = missing(C_COMPILER, "install it");
        for finding in [none, sqlite(&[no_compiler])] {
            assert_eq!(finding.standing, Standing::Missing);
            assert!(!finding.cure.is_empty());
        }
        let compiler = good(C_COMPILER, "cc 1".to_owned());
        assert_eq!(sqlite(&[compiler]).standing, Standing::Good);
    }

    #[test]
    fn a_program_that_is_not_there_is_missing_and_nothing_fails() {
        let finding =
            program_found("x", "no-such-program-anywhere", &["--version"], "install it");
        assert_eq!(finding.standing, Standing::Missing);
    }
}
