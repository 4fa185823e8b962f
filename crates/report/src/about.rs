//! What stands around the tables: the run's circumstances and how to read its figures.

use std::collections::BTreeMap;
use std::fmt::Write;

use wiremark_record::{Operation, Run, Status, Suite};

use crate::number::{grouped, memory, percent, plural, time};
use crate::table::{BEST, Column, Table, bounds_header, codec, status};
use crate::text::plain;

/// Fewer rounds than the profile's are a first look for the whole run.
pub(crate) fn is_first_look(run: &Run) -> bool {
    run.profile.rounds < wiremark_record::stats::INTERVAL_ROUNDS
}

/// The circumstances as pairs of a word and a line.
pub(crate) fn circumstances(run: &Run) -> Vec<(&'static str, String)> {
    let reason = |key: &str| {
        let reason =
            run.missing.get(key).map_or("no reason was recorded", String::as_str);
        format!("unknown: {reason}")
    };

    let machine = &run.machine;
    let mut about = plural(machine.cores.into(), "core");
    match machine.memory_bytes {
        Some(bytes) => about = format!("{about}, {}", memory(bytes)),
        None => about = format!("{about}, memory unknown"),
    }
    let machine = format!("{}, {about}, {}", machine.cpu, machine.kernel);

    let commit = match &run.commit {
        Some(commit) => {
            let short: String = commit.hash.chars().take(12).collect();
            let dirty =
                if commit.dirty { ", with changes that are not committed" } else { "" };
            format!("{short}{dirty}")
        }
        None => reason("commit"),
    };
    let build = &run.build;
    let build = format!("{}, {}, {}", build.rustc, build.target, build.profile);

    let load = |load: Option<f64>| {
        load.map_or_else(|| "unknown".to_owned(), |load| format!("{load:.2}"))
    };
    let (before, after) = (load(run.load.before), load(run.load.after));

    let profile = &run.profile;
    let first_look = if is_first_look(run) { " (first look: no intervals)" } else { "" };
    let profile = format!(
        "{}, {}{first_look}, {} of about {} each",
        profile.name,
        plural(profile.rounds.into(), "round"),
        plural(profile.samples.into(), "sample"),
        time(profile.sample_ns as f64),
    );

    let noise = match &run.noise {
        Some(noise) => format!(
            "floor {} (95th percentile of {}): differences within {} are ties",
            percent(noise.floor),
            plural(noise.ratios.len() as u64, "A/A ratio"),
            percent(noise.floor * 2.0),
        ),
        None => format!("floor {}", reason("noise")),
    };

    let files = match (&run.file_system, run.suite) {
        (_, Suite::Codecs) => String::new(),
        (Some(kind), _) => format!("on {kind}, each under a new name"),
        (None, _) => format!("on a file system {}", reason("file_system")),
    };

    let mut lines = vec![
        ("machine", machine),
        ("build", build),
        ("commit", commit),
        ("heap", format!("{}, allocator {}", run.heap, run.allocator)),
        ("files", files),
        ("profile", profile),
        ("noise", noise),
        ("load", format!("{before} before, {after} after")),
        ("cells", cells(run)),
    ];
    lines.retain(|(_, line)| !line.is_empty());
    for (_, line) in &mut lines {
        *line = plain(line).into_owned();
    }
    lines
}

/// How many cells went how.
fn cells(run: &Run) -> String {
    const ORDER: [Status; 5] = [
        Status::Ok,
        Status::Unsupported,
        Status::Failed,
        Status::Timeout,
        Status::Skipped,
    ];
    let cells = || run.cells.iter().filter(|cell| !cell.id.again);
    let mut line = plural(cells().count() as u64, "cell");
    for (at, wanted) in ORDER
        .into_iter()
        .filter(|wanted| cells().any(|cell| cell.status == *wanted))
        .enumerate()
    {
        let count = cells().filter(|cell| cell.status == wanted).count() as u64;
        let before = if at == 0 { ": " } else { ", " };
        let _ = write!(line, "{before}{} {}", grouped(count), status(wanted));
    }
    if !run.complete {
        line.push_str("; NOT COMPLETE: the run was interrupted or still goes on");
    }
    line
}

/// Codecs in the tables that nobody mends, each with the notice that says so.
pub(crate) fn unmaintained(run: &Run) -> Vec<String> {
    run.codecs
        .iter()
        .filter(|codec| !codec.maintained)
        .filter(|codec| run.cells.iter().any(|cell| cell.id.codec == codec.id))
        .map(|codec| match &codec.advisory {
            Some(advisory) => format!("{} ({})", plain(&codec.id), plain(advisory)),
            None => plain(&codec.id).into_owned(),
        })
        .collect()
}

/// Columns that are empty in every table, each with the reasons.
pub(crate) fn empty_columns(tables: &[Table<'_>], shown: &[Column]) -> Vec<String> {
    let mut notes = Vec::new();
    for column in Column::ALL.into_iter().filter(|column| !shown.contains(column)) {
        let Some(key) = column.key() else { continue };
        // What a file has no figure of is no news where there are only files.
        if tables.iter().all(|table| table.codec.is_some()) {
            continue;
        }
        let mut reasons: Vec<&str> = tables
            .iter()
            .flat_map(|table| &table.missing)
            .filter(|missing| missing.what == key)
            .map(|missing| missing.reason)
            .collect();
        reasons.sort_unstable();
        reasons.dedup();
        if !reasons.is_empty() {
            let what = measure(key);
            notes.push(plain(&format!("no {what}: {}", reasons.join("; "))).into_owned());
        }
    }
    notes
}

/// What a key of `missing` is called in prose; the key itself where no table shows it.
pub(crate) fn measure(key: &str) -> &str {
    match key {
        "time" => "time",
        "size_bytes" => "size",
        "zstd_bytes" => "zstd size",
        "copy" => "× copy",
        "counts" => "allocations",
        "peak_rss_bytes" => "RSS",
        other => other,
    }
}

/// Whether a table should say that its cells lack a measure: not where no table shows it, and
/// not that dropping copies and allocates nothing, which the explanations say once.
pub(crate) fn is_worth_a_note(table: &Table<'_>, key: &str, shown: &[Column]) -> bool {
    let is_shown = shown.iter().any(|column| column.key() == Some(key));
    is_shown && !(table.operation == Operation::Drop && matches!(key, "copy" | "counts"))
}

/// How to read the figures: the columns shown, each with an explanation.
pub(crate) fn explanations(
    tables: &[Table<'_>],
    shown: &[Column],
) -> Vec<(&'static str, &'static str)> {
    let bounds = bounds_header(tables);
    let is_files = tables.iter().any(|table| table.codec.is_some());
    let columns =
        shown.iter().map(|column| (column.header(bounds), explain(*column, is_files)));
    let has_drop = tables.iter().any(|table| table.operation == Operation::Drop);
    let drop = has_drop.then_some((
        "drop",
        "dropping the decoded value, which no decode time holds; it moves no bytes and asks for \
         none, so it has no MB/s, no × copy and no allocs",
    ));
    let has_best = tables.iter().flat_map(Table::rows).any(|row| row.is_best_of_format);
    let best = has_best.then_some((
        BEST.trim(),
        "the fastest library of its wire format, whose codecs stand together",
    ));
    let has_peer = tables.iter().flat_map(Table::rows).any(|row| row.is_peer);
    let peer = has_peer.then_some((
        "go:, perl:",
        "programs in those languages: the time is the whole process's CPU time, with the collector \
         and with freeing what was decoded before; compressed size, copying and most of memory are \
         not asked of them",
    ));
    columns
        .filter(|(_, text)| !text.is_empty())
        .chain(best)
        .chain(peer)
        .chain(drop)
        .collect()
}

fn explain(column: Column, is_files: bool) -> &'static str {
    match column {
        Column::Rate if is_files => "documents per second of that time",
        Column::Throughput if is_files => "10⁶ bytes of the file per second of that time",
        Column::Size if is_files => "bytes of the file",
        Column::Ratio if is_files => {
            "time divided by the time of the codec's fastest way, round by round; above 1 is \
             slower"
        }
        Column::Codec => "",
        Column::Way => {
            "how bytes come to the file: direct (no buffer), buffer-N (N bytes), whole (one call), \
             map (as memory); +data and +atomic: how durable it is then; +evicted: the system had \
             to forget the file first; stream: record by record; fresh: into a new vector"
        }
        Column::Wall => {
            "wall time of one operation, its file from opening to closing: median over rounds of each \
             round's lower quartile"
        }
        Column::User => {
            "CPU time in user mode: the mean of all samples, by the kernel's ticks, so that it may be \
             more than the time of a good sample"
        }
        Column::System => "CPU time in the kernel, the same way",
        Column::Writes => "calls of write that reach the system",
        Column::Reads => "calls of read that reach the system",
        Column::Syncs => "fsync and fdatasync, of files and folders",
        Column::Rss => "by how much the process's resident memory rose at most",
        Column::Ratio => {
            "time divided by the time of the table's fastest codec or reference, round by \
             round; above 1 is slower"
        }
        Column::Bounds => {
            "of the ratio: [low, high] with 95 % confidence, or lowest..highest round where \
             there are under five"
        }
        Column::Verdict => {
            "tie: no difference beyond twice the noise floor; unsure: too noisy to tell; a \
             first look calls no difference under 5 %"
        }
        Column::Time => {
            "CPU time of one operation: median over rounds of each round's lower quartile"
        }
        Column::Rate => "documents per second of CPU time",
        Column::Throughput => {
            "10⁶ encoded bytes per second of CPU time; at equal speed a compact format shows \
             fewer"
        }
        Column::Size => "encoded bytes of one operation",
        Column::Zstd => "the same bytes compressed by zstd at level 3",
        Column::Copy => {
            "time divided by that of copying the encoded bytes once, the floor of any codec"
        }
        Column::Allocations => {
            "calls of the allocator in one operation, from a counting pass of its own"
        }
        Column::Peak => {
            "most bytes alive at one time beyond those alive when the operation began"
        }
    }
}

/// What is known of a dataset beside its id: `10,000 people {name, age} (seed 42)`.
pub(crate) fn dataset_title(run: &Run, id: &str) -> Option<String> {
    let dataset = run.datasets.iter().find(|dataset| dataset.id == id)?;
    let source = plain(&dataset.source);
    Some(format!("{} ({source})", plain(&dataset.title)))
}

/// What a dataset grew from, where there is something to say.
pub(crate) fn origin(run: &Run, id: &str) -> Option<String> {
    let dataset = run.datasets.iter().find(|dataset| dataset.id == id)?;
    (!dataset.origin.is_empty()).then(|| plain(&dataset.origin).into_owned())
}

/// Documents of one operation where that is not one: ` (100 documents an operation)`.
pub(crate) fn documents(table: &Table<'_>) -> String {
    // Whole values and streams of records are ways of the same.
    match table.documents.filter(|_| table.codec.is_none()) {
        None if table.codec.is_some() => String::new(),
        Some(1) => String::new(),
        Some(count) => format!(", {} an operation", plural(count, "document")),
        None => ", documents an operation vary".to_owned(),
    }
}

/// What ratios of a table are to.
pub(crate) fn ratio_to(table: &Table<'_>, reference: Option<&str>) -> Option<String> {
    let base = table.base_name()?;
    let reference = reference.filter(|_| table.codec.is_none());
    Some(match reference {
        Some(reference) if reference == base => format!("ratio to {base}"),
        Some(reference) => {
            format!("ratio to the fastest, as {} has no figure here", plain(reference))
        }
        None => "ratio to the fastest".to_owned(),
    })
}

/// `first look: 3 rounds`, where a comparison of the table is one.
pub(crate) fn first_look(table: &Table<'_>) -> Option<String> {
    Some(format!("first look: {}", plural(table.first_look()?.into(), "round")))
}

/// Whether the run knows a codec of this id at all.
pub(crate) fn is_known(run: &Run, id: &str) -> bool {
    codec(run, id).is_some() || run.cells.iter().any(|cell| cell.id.codec == id)
}

/// Versions of the crates under test, one line.
pub(crate) fn versions(crates: &BTreeMap<String, String>) -> String {
    let crates = crates.iter().map(|(name, version)| format!("{name} {version}"));
    plain(&crates.collect::<Vec<_>>().join(", ")).into_owned()
}
