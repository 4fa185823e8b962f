//! `cargo xtask test`: everything that CI runs, in an order that tells mistakes early.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use wiremark_record::protocol::DATABASE;
use wiremark_record::stats::Verdict;
use wiremark_record::{Cell, Exchange, Mode, Operation, Outcome, Run, Status, Suite};

use crate::build::{self, Kind, What};
use crate::cli::{TestOptions, TidyOptions};
use crate::files;
use crate::problem::{Context, Problem};
use crate::tidy;
use crate::worker;
use crate::workspace::{Workspace, cargo};

/// A step: its name and what it does.
type Step = (&'static str, fn(&Workspace) -> Result<(), Problem>);

const STEPS: &[Step] = &[
    ("fmt", fmt),
    ("clippy", clippy),
    ("tidy", |_| tidy::run(&TidyOptions { bless: false })),
    ("tests", tests),
    ("alone", alone),
    ("doc", doc),
    ("benches", benches),
    ("controls", controls),
    ("suites", suites),
    ("peers", peers),
];

pub(crate) fn run(options: &TestOptions) -> Result<(), Problem> {
    let workspace = Workspace::find()?;
    let is_wanted =
        |name: &str| options.step.as_deref().is_none_or(|step| name.contains(step));
    let steps: Vec<&Step> = STEPS.iter().filter(|(name, _)| is_wanted(name)).collect();
    if steps.is_empty() {
        let known: Vec<&str> = STEPS.iter().map(|(name, _)| *name).collect();
        return Err(Problem::usage(format!(
            "no such step: there are {}",
            known.join(", ")
        )));
    }
    for (name, step) in steps {
        crate::remark(&format!("== {name}"));
        let start = Instant::now();
        step(&workspace).map_err(|problem| Problem::new(format!("{name}: {problem}")))?;
        crate::remark(&format!("== {name}: passed in {} s", start.elapsed().as_secs()));
    }
    Ok(())
}

/// Runs a command whose output goes to the person; it has to succeed.
fn must(mut command: Command, cure: &str) -> Result<(), Problem> {
    let status = command.status().context(|| "cannot run cargo".to_owned())?;
    if status.success() {
        return Ok(());
    }
    let arguments: Vec<_> =
        command.get_args().map(|argument| argument.to_string_lossy()).collect();
    let cure = if cure.is_empty() { String::new() } else { format!("; {cure}") };
    Err(Problem::new(format!("`cargo {}` failed{cure}", arguments.join(" "))))
}

fn cargo_in(workspace: &Workspace, arguments: &[&str]) -> Command {
    let mut command = cargo();
    command.args(arguments).current_dir(&workspace.root);
    command
}

fn fmt(workspace: &Workspace) -> Result<(), Problem> {
    must(cargo_in(workspace, &["fmt", "--all", "--check"]), "`cargo fmt --all` mends it")
}

fn clippy(workspace: &Workspace) -> Result<(), Problem> {
    // All features take in every codec and the controls; without any the list is empty, which
    // is code of its own.
    for features in [&["--all-features"][..], &[]] {
        let mut command =
            cargo_in(workspace, &["clippy", "--workspace", "--all-targets", "--locked"]);
        command.args(features).args(["--quiet", "--", "-D", "warnings"]);
        must(command, "")?;
    }
    Ok(())
}

fn tests(workspace: &Workspace) -> Result<(), Problem> {
    must(cargo_in(workspace, &["test", "--workspace", "--all-features", "--locked"]), "")
}

/// The tests before had all codecs in one build, with all features that any of them asks of a
/// library. Alone, the codec that others have a library in common with does the same.
fn alone(workspace: &Workspace) -> Result<(), Problem> {
    let arguments = [
        "test",
        "--package",
        "wiremark-json",
        "--test",
        "unified",
        "--locked",
        "--quiet",
    ];
    must(cargo_in(workspace, &arguments), "")
}

fn doc(workspace: &Workspace) -> Result<(), Problem> {
    let mut command =
        cargo_in(workspace, &["doc", "--workspace", "--no-deps", "--locked"]);
    command.args(["--all-features", "--quiet"]).env("RUSTDOCFLAGS", "-D warnings");
    must(command, "")
}

/// Each bench target once, in test mode: it checks what it makes and measures nothing.
fn benches(workspace: &Workspace) -> Result<(), Problem> {
    for name in workspace.codec_crates()? {
        let binary = build::build(
            workspace,
            &name,
            What::plain(Suite::Codecs),
            Kind::Timed(build::Profile::Quick),
        )?;
        let output = Command::new(&binary)
            .args(["--bench", "--test"])
            .current_dir(workspace.wiremark())
            .output()
            .context(|| format!("cannot run {}", binary.display()))?;
        if !output.status.success() {
            return Err(Problem::new(format!(
                "the benches of `{name}` fail:\n{}",
                String::from_utf8_lossy(&output.stderr).trim_end()
            )));
        }
        let out = String::from_utf8_lossy(&output.stdout);
        let count = out.lines().filter(|line| line.starts_with("Testing ")).count();
        crate::remark(&format!("{name}: {count} cells run once"));
        if count == 0 {
            return Err(Problem::new(format!("the benches of `{name}` ran no cell")));
        }
    }
    let mut command = cargo_in(workspace, &["bench", "--package", "wiremark-benches"]);
    command
        .args(["--bench", "overhead", "--features", "overhead", "--profile", "quick"])
        .args(["--locked", "--quiet", "--", "--test"]);
    must(command, "")
}

/// A real run of the controls: the bench has to refuse those that lose data and to rank the
/// others, and its results have to fit the schema.
fn controls(workspace: &Workspace) -> Result<(), Problem> {
    let exe = std::env::current_exe().context(|| "cannot find xtask".to_owned())?;
    let results = workspace.wiremark().join("controls.json");
    let status = Command::new(exe)
        .args([
            "bench",
            "--controls",
            "--quick",
            "--rounds",
            "5",
            "--datasets",
            "event,large",
        ])
        .args(["encode", "decode", "!stream", "!fresh"])
        .args(["--export-json".as_ref(), results.as_os_str()])
        .current_dir(&workspace.root)
        .stdout(std::process::Stdio::null())
        .status()
        .context(|| "cannot run xtask".to_owned())?;
    // Two controls are there to fail.
    if status.code() != Some(100) {
        return Err(Problem::new(format!(
            "a run with controls that lose data has to end with exit code 100, not {status}"
        )));
    }
    let run = files::read_run(workspace, &results.display().to_string())?;
    let problems = judge(&run);
    if !problems.is_empty() {
        return Err(Problem::new(problems.join("\n")));
    }
    fits_the_schema(workspace, &results)
}

fn fits_the_schema(workspace: &Workspace, results: &Path) -> Result<(), Problem> {
    let mut schema =
        cargo_in(workspace, &["test", "--package", "wiremark-record", "--locked"]);
    schema.args(["--quiet", "--test", "it", "real_run"]).env("WIREMARK_RESULTS", results);
    must(schema, "")
}

/// Real runs of the suites on files and rows: all cells have to go well, with the calls that are
/// known beforehand, and nothing may stay behind.
fn suites(workspace: &Workspace) -> Result<(), Problem> {
    let persist = ["--suite", "persist", "--crates", "json,postcard", "!pretty"];
    let run = real_run(workspace, "persist", &persist)?;
    let mut problems = stayed_behind(workspace);
    // Numbers of calls: those of the test in `persist` that puts them together from the texts.
    for (way, calls) in [("direct", 400_592), ("whole", 1), ("whole+atomic", 1)] {
        expect_writes(
            &run,
            "json/serde_json/compact",
            way,
            Mode::Reused,
            calls,
            &mut problems,
        );
    }

    // PostgreSQL as well, where its server is installed.
    let throwaway = wiremark_throwaway::Programs::find().is_ok();
    let mut export = vec!["--suite", "export", "--crates", "text,postcard"];
    if throwaway {
        export.extend(["--postgres", "throwaway"]);
    } else {
        crate::remark(
            "skipped: PostgreSQL's server is not installed (apt-get install postgresql)",
        );
    }
    let run = real_run(workspace, "export", &export)?;
    problems.extend(stayed_behind(workspace));
    expect_writes(&run, "text/lines", "direct", Mode::Stream, 10_000, &mut problems);
    let queries = run.cells.iter().filter(|cell| cell.id.operation == Operation::Query);
    let wanted = if throwaway { 4 } else { 2 };
    if queries.filter(|cell| cell.status == Status::Ok && !cell.id.again).count()
        != wanted
    {
        problems.push(format!("expected {wanted} queries that went well"));
    }
    if problems.is_empty() { Ok(()) } else { Err(Problem::new(problems.join("\n"))) }
}

/// What is not simply equal between two implementations of a wire format: a codec's id, that of
/// the other (empty for all), datasets (none for all), and the worst that is right. Everything
/// else has to be equal, and where both codecs are here the worst has to be found.
const KNOWN_EXCHANGES: &[(&str, &str, &[&str], Outcome)] = &[
    // Go sees a field only under a capital letter.
    ("gob/wiremark-gob", "gob/go:encoding-gob", &[], Outcome::Refused),
    // A number for which Go knows no type is a float64.
    ("json/go:encoding-json/compact", "", &["event", "log"], Outcome::Mapped),
    ("json/go:encoding-json/pretty", "", &["event", "log"], Outcome::Mapped),
    // Structs as arrays have no names that a hash could be made of.
    (
        "msgpack/perl:Data::MessagePack",
        "msgpack/rmp-serde/compact",
        &[],
        Outcome::Changed,
    ),
    // Its text is bytes.
    ("cbor/perl:CBOR::XS/bytes", "", &[], Outcome::Refused),
    // Storable 3.26 has no truth values, and text for numbers in network order.
    ("storable/perl:Storable/network", "", &[], Outcome::Mapped),
    ("storable/perl:Storable/native", "", &[], Outcome::Mapped),
];

/// A real run beside the original systems: their cells have to go well, and their bytes have to be
/// ours and ours theirs, but for what is known. What is not on this machine is skipped and named.
fn peers(workspace: &Workspace) -> Result<(), Problem> {
    let found = worker::find_peers(workspace);
    for missing in &found.missing {
        crate::remark(&format!("skipped: {}: {}", missing.codec.id, missing.reason));
    }
    let arguments = [
        "--peers",
        "--crates",
        "json,gob,cbor4ii,msgpack,sereal,storable",
        "--datasets",
        "event,small,people",
        // Bytes are exchanged for what is encoded; the other operations are taken once.
        "encode/",
        "decode/small",
        "!fresh",
    ];
    let run = real_run(workspace, "peers", &arguments)?;
    let mut problems = Vec::new();
    let shown =
        |id: &str| run.cells.iter().any(|cell| cell.id.codec == id && cell.is_measured());
    let here = found.programs.iter().flat_map(wiremark_peers::Program::codecs);
    for codec in here.filter(|codec| !["text", "sql"].contains(&codec.format.as_str())) {
        if !shown(&codec.id) {
            problems.push(format!("{} has no figure", codec.id));
        }
    }
    problems.extend(unknown_exchanges(&run.exchanges));
    if problems.is_empty() { Ok(()) } else { Err(Problem::new(problems.join("\n"))) }
}

/// Exchanges that went otherwise than is known.
fn unknown_exchanges(exchanges: &[Exchange]) -> Vec<String> {
    let mut problems = Vec::new();
    let mut found = vec![Outcome::Equal; KNOWN_EXCHANGES.len()];
    let mut is_here = vec![false; KNOWN_EXCHANGES.len()];
    for Exchange { dataset, path, outcome, reason } in exchanges {
        let has = |id: &str| id.is_empty() || path.iter().any(|one| one == id);
        let known = KNOWN_EXCHANGES.iter().position(|(one, other, datasets, _)| {
            has(one)
                && has(other)
                && (datasets.is_empty() || datasets.contains(&dataset.as_str()))
        });
        let mut worst = Outcome::Equal;
        if let Some(at) = known {
            worst = KNOWN_EXCHANGES[at].3;
            is_here[at] = true;
            found[at] = found[at].max(*outcome);
        }
        if *outcome > worst {
            let way = path.join(" -> ");
            problems.push(format!("{dataset}: {way}: {outcome:?}: {reason}"));
        }
    }
    for ((row, found), is_here) in KNOWN_EXCHANGES.iter().zip(found).zip(is_here) {
        if is_here && found != row.3 {
            problems.push(format!(
                "{} with {:?}: known as {:?}, and found {found:?}",
                row.0, row.1, row.3
            ));
        }
    }
    problems
}

/// Runs `cargo xtask bench` once, quickly, and reads what came of it.
fn real_run(
    workspace: &Workspace,
    name: &str,
    arguments: &[&str],
) -> Result<Run, Problem> {
    let exe = std::env::current_exe().context(|| "cannot find xtask".to_owned())?;
    std::fs::create_dir_all(workspace.wiremark())
        .context(|| format!("cannot make {}", workspace.wiremark().display()))?;
    let results = workspace.wiremark().join(format!("{name}.json"));
    let status = Command::new(exe)
        .args(["bench", "--quick", "--rounds", "1"])
        .args(arguments)
        .args(["--export-json".as_ref(), results.as_os_str()])
        .current_dir(&workspace.root)
        .env_remove(DATABASE)
        .stdout(std::process::Stdio::null())
        .status()
        .context(|| "cannot run xtask".to_owned())?;
    if !status.success() {
        return Err(Problem::new(format!("the {name} suite ended with {status}")));
    }
    fits_the_schema(workspace, &results)?;
    files::read_run(workspace, &results.display().to_string())
}

/// Folders of files that a run left.
fn stayed_behind(workspace: &Workspace) -> Vec<String> {
    let runs = std::fs::read_dir(workspace.runs()).into_iter().flatten().flatten();
    runs.filter_map(|run| std::fs::read_dir(run.path()).ok())
        .flatten()
        .flatten()
        .map(|entry| entry.path().display().to_string())
        .filter(|path| path.contains("wiremark-files-"))
        .map(|path| format!("{path} stayed behind"))
        .collect()
}

fn expect_writes(
    run: &Run,
    codec: &str,
    way: &str,
    mode: Mode,
    calls: u64,
    problems: &mut Vec<String>,
) {
    let cell = run.cells.iter().find(|cell| {
        let id = &cell.id;
        matches!(id.operation, Operation::Write | Operation::Export)
            && id.codec == codec
            && id.mode == mode
            && id.way.as_deref() == Some(way)
    });
    let found = cell.and_then(|cell| cell.calls).map(|calls| calls.write);
    if found != Some(calls) {
        problems.push(format!(
            "{codec} {mode} {way}: expected {calls} calls of write, found {found:?}"
        ));
    }
}

/// A noise floor below which a tenth more work has to be seen: twice it is the band of ties, and
/// the same again is room for the ratio's own spread.
const QUIET: f64 = 0.025;

/// What is wrong with the verdicts on the controls.
fn judge(run: &Run) -> Vec<String> {
    let mut problems = Vec::new();
    let floor = run.noise.as_ref().map_or(0.0, |noise| noise.floor);
    for dataset in &run.datasets {
        for operation in [Operation::Encode, Operation::Decode] {
            let find = |codec: &str| {
                run.cells_of(operation, &dataset.id)
                    .find(|cell| cell.id.codec == codec && cell.id.mode == Mode::Reused)
            };
            for faulty in ["control/faulty/drops-a-field", "control/faulty/cached"] {
                match find(faulty) {
                    Some(cell) if is_refused(cell) => {}
                    _ => problems.push(format!(
                        "{operation}/{}: {faulty} was not refused before the clock",
                        dataset.id
                    )),
                }
            }
            let mut order = vec!["control/repeat/ten", "control/repeat/eleven"];
            if operation == Operation::Encode {
                order.splice(0..0, ["control/noop", "control/memcpy"]);
            }
            for pair in order.windows(2) {
                let [quick, slow] = pair else { continue };
                let compared = find(quick)
                    .zip(find(slow))
                    .and_then(|(quick, slow)| run.compare(slow, quick));
                let place = format!("{operation}/{}: {slow} to {quick}", dataset.id);
                match compared {
                    None => problems.push(format!("{place}: no figures to compare")),
                    Some(compared) => {
                        // A tenth more work is no tie for a bench whose noise floor is low. On a
                        // machine that is disturbed the honest verdict is that it cannot tell.
                        let is_right = match compared.verdict {
                            Verdict::Slower => true,
                            Verdict::Tie | Verdict::Unsure => floor > QUIET,
                            Verdict::Faster => false,
                        };
                        if !is_right {
                            problems.push(format!(
                                "{place}: {:?} at a ratio of {:.3} and a noise floor of \
                                 {floor:.3}",
                                compared.verdict, compared.ratio.ratio
                            ));
                        }
                    }
                }
            }
        }
    }
    problems
}

fn is_refused(cell: &Cell) -> bool {
    cell.status == Status::Failed
        && cell.rounds.is_empty()
        && cell.round_trip == Some(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exchange_that_is_not_known_is_told() {
        let exchange = |one: &str, other: &str, outcome| Exchange {
            dataset: "event".to_owned(),
            path: vec![one.to_owned(), other.to_owned(), one.to_owned()],
            outcome,
            reason: "because".to_owned(),
        };
        let (ours, go) = ("json/serde_json/compact", "json/go:encoding-json/compact");
        for (outcome, wanted) in [
            (Outcome::Mapped, None),
            (Outcome::Changed, Some("event: json/serde_json/compact -> json/go:")),
            // What does not happen any more is not known any more.
            (Outcome::Equal, Some("known as Mapped, and found Equal")),
        ] {
            let problems = unknown_exchanges(&[exchange(ours, go, outcome)]);
            let is_told = |part: &str| problems.iter().any(|one| one.contains(part));
            assert_eq!(problems.is_empty(), wanted.is_none(), "{problems:?}");
            assert!(wanted.is_none_or(is_told), "{problems:?}");
        }
        assert!(
            !unknown_exchanges(&[exchange(ours, "json/other", Outcome::Mapped)])
                .is_empty()
        );
    }
}
