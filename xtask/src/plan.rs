//! What is to be measured: which cells of which codec crates, on which data, how often.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Stdio;

use serde::{Deserialize, Serialize};
use wiremark_datasets::Dataset as _;
use wiremark_datasets::files::{self, Format, OwnData};
use wiremark_peers::Missing;
use wiremark_record::protocol::{Answer, DataFile, Planned, Request, Sampling, Skip};
use wiremark_record::{self as record, CellId, Mode, Operation, Profile, Status, Suite};

use crate::build;
use crate::cli::{DataOptions, ProfileName};
use crate::problem::{Code, Context, Problem};
use crate::worker::Worker;

/// Everything that is needed to go on with a run. Lies beside the results, and unlike them
/// holds paths.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "options, as the command line has them"
)]
pub(crate) struct Plan {
    pub(crate) request: Request,
    pub(crate) mimalloc: bool,
    pub(crate) steady: bool,
    /// Whether the timed binaries are built without link-time optimisation.
    pub(crate) quick_build: bool,
    /// Whether PostgreSQL is asked; its address is not kept.
    #[serde(default)]
    pub(crate) has_postgres: bool,
    pub(crate) timeout_s: u64,
    /// The codec crates in use.
    pub(crate) crates: Vec<String>,
    /// The cells to run, each with the crate whose binary runs it (an index into `crates`).
    pub(crate) cells: Vec<(CellId, usize)>,
    /// The programs of peers in use; an index beyond `crates` is one of them.
    #[serde(default)]
    pub(crate) peers: Vec<String>,
    /// Hashes of the timed binaries, by crate, then of the peers' programs.
    pub(crate) binaries: Vec<String>,
}

impl Plan {
    pub(crate) fn build_profile(&self) -> build::Profile {
        if self.quick_build { build::Profile::Quick } else { build::Profile::Bench }
    }
}

/// How the timed binaries of a profile are built.
pub(crate) fn build_profile(name: ProfileName) -> build::Profile {
    match name {
        ProfileName::Quick => build::Profile::Quick,
        ProfileName::Default | ProfileName::Full => build::Profile::Bench,
    }
}

/// What the workers know.
#[derive(Debug, Default)]
pub(crate) struct Listed {
    pub(crate) codecs: Vec<record::Codec>,
    pub(crate) datasets: Vec<record::Dataset>,
    pub(crate) notes: Vec<String>,
    /// What the check found of flipped bits.
    pub(crate) damage: Vec<record::Damage>,
    /// What became of bytes that went from codec to codec.
    pub(crate) exchanges: Vec<record::Exchange>,
    /// The cells, each with an index into the workers.
    pub(crate) cells: Vec<(Planned, usize)>,
}

/// Asks workers for what they know; cells come dataset by dataset, operation by operation, so
/// that what is compared is measured close together.
pub(crate) fn list(workers: &[Worker], request: &Request) -> Result<Listed, Problem> {
    let mut listed = Listed::default();
    for (index, worker) in workers.iter().enumerate() {
        for answer in ask(worker, request)? {
            match answer {
                Answer::Codec(codec) => listed.codecs.push(codec),
                // A peer's codecs are on the list that finds it.
                Answer::Dataset(dataset) if index == 0 => listed.datasets.push(dataset),
                Answer::Note(note) if index == 0 => listed.notes.push(note),
                Answer::Cell(cell) if worker.has(&cell.id.codec) => {
                    listed.cells.push((cell, index));
                }
                _ => {}
            }
        }
    }
    for worker in workers {
        if let Worker::Peer { program, .. } = worker {
            listed.codecs.extend(program.codecs());
        }
    }
    listed.sort();
    Ok(listed)
}

impl Listed {
    /// Adds the codecs of peers that are not here, each with the reason in the place of figures.
    pub(crate) fn add_missing(&mut self, missing: &[Missing]) {
        for Missing { codec, reason } in
            missing.iter().filter(|m| !m.codec.is_for_exports)
        {
            self.codecs.push(codec.record(codec.language.as_str(), None));
            let skip = Skip { status: Status::Skipped, reason: reason.clone() };
            for dataset in &self.datasets {
                for operation in [Operation::Encode, Operation::Decode] {
                    let id = CellId {
                        operation,
                        dataset: dataset.id.clone(),
                        codec: codec.id.to_owned(),
                        mode: Mode::Reused,
                        way: None,
                        again: false,
                    };
                    // There is no worker to be asked, and none will be.
                    let planned = Planned { id, documents: 1, skip: Some(skip.clone()) };
                    self.cells.push((planned, usize::MAX));
                }
            }
        }
        self.sort();
    }

    fn sort(&mut self) {
        let order: Vec<&str> =
            self.datasets.iter().map(|dataset| dataset.id.as_str()).collect();
        self.cells.sort_by_key(|(cell, _)| {
            let CellId { operation, dataset, mode, way, .. } = &cell.id;
            let dataset = order.iter().position(|id| id == dataset);
            // The ways of one codec stay together, in the worker's order.
            let mode = Mode::ALL.iter().position(|known| known == mode);
            let mode = mode.filter(|_| way.is_none());
            (dataset, *operation, mode)
        });
    }
}

fn ask(worker: &Worker, request: &Request) -> Result<Vec<Answer>, Problem> {
    let output = worker
        .command("list", request)?
        .stdin(Stdio::null())
        .output()
        .context(|| format!("cannot run {worker}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.trim();
        return Err(Problem::new(said.strip_prefix("error: ").unwrap_or(said)));
    }
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(|line| {
            serde_json::from_str(line)
                .context(|| format!("cannot understand the worker's `{line}`"))
        })
        .collect()
}

pub(crate) fn to_json<T: Serialize>(value: &T) -> Result<String, Problem> {
    serde_json::to_string(value).context(|| "cannot write JSON".to_owned())
}

/// Whether a name is selected: it holds one of the filters (if there are any) and none of
/// those that begin with `!`.
pub(crate) fn is_selected(filters: &[String], name: &str) -> bool {
    let mut wanted = filters.iter().filter(|filter| !filter.starts_with('!')).peekable();
    let is_in =
        wanted.peek().is_none() || wanted.any(|filter| name.contains(filter.as_str()));
    let is_out = filters
        .iter()
        .filter_map(|filter| filter.strip_prefix('!'))
        .any(|filter| !filter.is_empty() && name.contains(filter));
    is_in && !is_out
}

/// How long and how often a profile measures.
pub(crate) fn profile(name: ProfileName, suite: Suite, rounds: Option<u32>) -> Profile {
    let ms = 1_000_000;
    let (name, profile_rounds, samples, sample_ns, warm_up_ns) = match (name, suite) {
        (ProfileName::Quick, Suite::Codecs) => ("quick", 2, 12, ms, 10 * ms),
        (ProfileName::Default, Suite::Codecs) => ("default", 9, 40, ms, 25 * ms),
        (ProfileName::Full, Suite::Codecs) => ("full", 25, 50, 2 * ms, 50 * ms),
        // An operation on a file is a sample or the better part of one, and a trap a hundred:
        // ten are the fewest that criterion takes.
        (ProfileName::Quick, _) => ("quick", 2, 10, ms, ms),
        (ProfileName::Default, _) => ("default", 9, 10, ms, ms),
        (ProfileName::Full, _) => ("full", 15, 20, 2 * ms, 10 * ms),
    };
    let rounds = rounds.unwrap_or(profile_rounds);
    Profile { name: name.to_owned(), rounds, samples, sample_ns, warm_up_ns }
}

/// Whether a profile leaves a cell out of its own accord.
pub(crate) fn is_left_out(name: ProfileName, id: &CellId) -> bool {
    if let Some(way) = &id.way {
        return is_way_left_out(name, id, way);
    }
    // A codec without state decodes fresh as it does reused: not worth a first look's time.
    name == ProfileName::Quick
        && id.operation == Operation::Decode
        && id.mode == Mode::Fresh
}

/// Whether a profile leaves a way of writing or reading files out: all of them are for `full`.
fn is_way_left_out(name: ProfileName, id: &CellId, way: &str) -> bool {
    // What most programs do, the traps among it, and what durability costs.
    const QUICK: &[(Operation, Mode, &str)] = &[
        (Operation::Write, Mode::Reused, "direct"),
        (Operation::Write, Mode::Reused, "buffer-8k"),
        (Operation::Write, Mode::Reused, "whole"),
        (Operation::Write, Mode::Reused, "whole+data"),
        (Operation::Write, Mode::Reused, "whole+atomic"),
        (Operation::Write, Mode::Stream, "buffer-64k"),
        (Operation::Read, Mode::Reused, "direct"),
        (Operation::Read, Mode::Reused, "buffer-8k"),
        (Operation::Read, Mode::Reused, "whole"),
        (Operation::Read, Mode::Reused, "whole+evicted"),
        (Operation::Read, Mode::Reused, "map"),
        (Operation::Read, Mode::Reused, "map-borrowed"),
        (Operation::Read, Mode::Stream, "chunk-64k"),
        // A library's own function for files.
        (Operation::Write, Mode::Reused, "store"),
        (Operation::Read, Mode::Reused, "retrieve"),
        (Operation::Export, Mode::Reused, "direct"),
        (Operation::Export, Mode::Stream, "direct"),
        (Operation::Export, Mode::Reused, "buffer-8k"),
        (Operation::Export, Mode::Stream, "buffer-64k"),
        // The default buffer of Go, and that of Perl.
        (Operation::Export, Mode::Stream, "buffer-4k"),
        (Operation::Export, Mode::Stream, "buffer-8k"),
        (Operation::Export, Mode::Reused, "whole"),
        (Operation::Query, Mode::Reused, "collected"),
        (Operation::Query, Mode::Stream, "rows"),
        (Operation::QueryExport, Mode::Stream, "direct"),
        (Operation::QueryExport, Mode::Reused, "whole"),
        (Operation::StreamExport, Mode::Stream, "buffer-64k"),
    ];
    const DEFAULT: &[(Operation, Mode, &str)] = &[
        (Operation::Write, Mode::Stream, "direct"),
        (Operation::Write, Mode::Reused, "buffer-64k"),
        (Operation::Write, Mode::Fresh, "whole"),
        (Operation::Write, Mode::Stream, "buffer-64k+atomic"),
        (Operation::Read, Mode::Reused, "buffer-64k"),
        (Operation::Read, Mode::Fresh, "whole"),
        (Operation::Read, Mode::Reused, "map+evicted"),
        (Operation::Read, Mode::Stream, "chunk-64k+evicted"),
        (Operation::Export, Mode::Reused, "buffer-4k"),
        (Operation::Export, Mode::Reused, "buffer-64k"),
        (Operation::Export, Mode::Fresh, "whole"),
        (Operation::QueryExport, Mode::Reused, "direct"),
        (Operation::QueryExport, Mode::Reused, "buffer-8k"),
        (Operation::StreamExport, Mode::Stream, "direct"),
        (Operation::StreamExport, Mode::Stream, "buffer-8k"),
    ];
    let is_in =
        |list: &[(Operation, Mode, &str)]| list.contains(&(id.operation, id.mode, way));
    match name {
        ProfileName::Quick => !is_in(QUICK),
        ProfileName::Default => !is_in(QUICK) && !is_in(DEFAULT),
        ProfileName::Full => false,
    }
}

/// The seeded datasets that a suite is about if nobody says which.
fn usual_datasets(suite: Suite, name: Option<ProfileName>) -> Vec<String> {
    let usual: &[&str] = match (suite, name) {
        (Suite::Persist, Some(ProfileName::Quick)) => &["people"],
        (Suite::Export, _) => &["todos"],
        _ => &wiremark_datasets::IDS,
    };
    usual.iter().map(|&id| id.to_owned()).collect()
}

/// What to encode: from the command line, read once to see that it can be.
pub(crate) fn request(
    suite: Suite,
    data: &DataOptions,
    sampling: Sampling,
    stdin_to: &Path,
    name: Option<ProfileName>,
) -> Result<Request, Problem> {
    if suite == Suite::Export && !(data.datasets.is_empty() && data.files.is_empty()) {
        return Err(Problem::usage(
            "the export suite is about the rows of `todos`: it takes no --data and no --datasets",
        ));
    }
    for id in &data.datasets {
        if !wiremark_datasets::IDS.contains(&id.as_str()) {
            let known = wiremark_datasets::IDS.join(", ");
            return Err(Problem::usage(format!(
                "no dataset is called `{id}`: there are {known}"
            )));
        }
    }
    let datasets = match (data.datasets.as_slice(), data.files.as_slice()) {
        ([], []) => usual_datasets(suite, name),
        (given, _) => {
            // A name given twice is meant once: a run has no two cells of one name.
            let mut seen = BTreeSet::new();
            given.iter().filter(|id| seen.insert(id.as_str())).cloned().collect()
        }
    };
    let mut ids: BTreeSet<String> =
        wiremark_datasets::IDS.iter().map(|&id| id.to_owned()).collect();
    let mut files = Vec::new();
    for path in &data.files {
        let (name, path) = if path.as_os_str() == "-" {
            if data.data_format.is_none() {
                return Err(Problem::usage(
                    "data from standard input needs its format: --data-format json, ndjson \
                     or csv",
                ));
            }
            if files.iter().any(|file: &DataFile| file.name == "stdin") {
                return Err(Problem::usage("standard input can be read only once"));
            }
            let mut copy = std::fs::File::create(stdin_to)
                .context(|| format!("cannot write {}", stdin_to.display()))?;
            std::io::copy(&mut std::io::stdin().lock(), &mut copy)
                .context(|| "cannot keep standard input".to_owned())?;
            ("stdin".to_owned(), stdin_to.to_owned())
        } else {
            let name = path.file_name().map_or_else(
                || path.display().to_string(),
                |name| name.to_string_lossy().into_owned(),
            );
            let path = std::path::absolute(path)
                .context(|| format!("cannot find {}", path.display()))?;
            (name, path)
        };
        let file = DataFile {
            id: unique_id(&name, &mut ids),
            name,
            path,
            format: data.data_format.map(|format| format.as_str().to_owned()),
            csv_strings: data.csv_strings,
        };
        // Before anything is built: a mistake in the data is told at once.
        try_to_read(&file)?;
        files.push(file);
    }
    Ok(Request { suite, folder: None, database: None, datasets, files, sampling })
}

pub(crate) fn try_to_read(file: &DataFile) -> Result<OwnData, Problem> {
    let bytes = std::fs::read(&file.path)
        .context(|| format!("cannot read {}", file.path.display()))?;
    let format = match &file.format {
        None => None,
        Some(word) => Some(word.parse::<Format>().context(|| file.name.clone())?),
    };
    let options =
        files::Options { format, csv_strings: file.csv_strings, ..Default::default() };
    files::read(&file.name, &bytes, &options)
        .map_err(|error| Problem::new(error.to_string()))
}

/// Whether the user's files still hold what was measured before.
///
/// # Errors
/// If one cannot be read, or holds something else than its record says.
pub(crate) fn same_data(
    request: &Request,
    datasets: &[record::Dataset],
) -> Result<(), Problem> {
    for file in &request.files {
        let hash = wiremark_datasets::fingerprint(try_to_read(file)?.value());
        if datasets.iter().any(|dataset| dataset.id == file.id && dataset.hash != hash) {
            return Err(Problem::usage(format!(
                "{} has changed since the run began; its remaining rounds would not be \
                 comparable. Start a new run",
                file.name
            )));
        }
    }
    Ok(())
}

/// A dataset's id from a file's name: one word, like no other.
fn unique_id(name: &str, ids: &mut BTreeSet<String>) -> String {
    let stem = Path::new(name).file_stem().unwrap_or_default().to_string_lossy();
    let word: String = stem
        .chars()
        .map(|c| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' })
        .collect();
    let word = if word.is_empty() { "data".to_owned() } else { word };
    let mut id = word.clone();
    let mut number = 2;
    while !ids.insert(id.clone()) {
        id = format!("{word}-{number}");
        number += 1;
    }
    id
}

/// A short hash that is the same everywhere: 64-bit FNV-1a as hex.
pub(crate) fn hash(bytes: &[u8]) -> String {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for &byte in bytes {
        hash ^= u64::from(byte);
        hash = hash.wrapping_mul(0x0000_0100_0000_01b3);
    }
    format!("{hash:016x}")
}

/// Nothing is left to measure.
pub(crate) fn nothing_selected(filters: &[String]) -> Problem {
    let filters = filters.join(" ");
    Problem::new(format!(
        "no cell fits `{filters}`: `cargo xtask list cells` shows their names"
    ))
    .with(Code::NothingSelected)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_parts_of_names_and_exclude_with_a_mark() {
        let id = "encode/people/json/serde_json/compact/reused";
        let rows: &[(&[&str], bool)] = &[
            (&[], true),
            (&["json"], true),
            (&["encode/people"], true),
            (&["cbor"], false),
            (&["cbor", "json"], true),
            (&["!json"], false),
            (&["!cbor"], true),
            (&["people", "!pretty"], true),
            (&["people", "!compact"], false),
        ];
        for (filters, wanted) in rows {
            let filters: Vec<String> =
                filters.iter().map(|&text| text.to_owned()).collect();
            assert_eq!(is_selected(&filters, id), *wanted, "{filters:?}");
        }
    }

    #[test]
    fn a_files_name_makes_an_id_like_no_other() {
        let mut ids = BTreeSet::from(["people".to_owned()]);
        for (name, id) in [
            ("orders.ndjson", "orders"),
            ("orders.csv", "orders-2"),
            ("people.json", "people-2"),
            ("a/b c.json", "b-c"),
            ("été.json", "été"),
            ("", "data"),
        ] {
            assert_eq!(unique_id(name, &mut ids), id, "{name}");
        }
    }

    #[test]
    fn a_file_that_changed_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("orders.json");
        std::fs::write(&path, "[1, 2]").unwrap();
        let file = DataFile {
            id: "orders".to_owned(),
            name: "orders.json".to_owned(),
            path: path.clone(),
            format: None,
            csv_strings: false,
        };
        let hash = wiremark_datasets::fingerprint(try_to_read(&file).unwrap().value());
        let recorded = [record::Dataset {
            id: "orders".to_owned(),
            title: String::new(),
            source: String::new(),
            origin: String::new(),
            records: 2,
            hash,
        }];
        let request = Request { files: vec![file], ..Request::default() };
        same_data(&request, &recorded).unwrap();
        std::fs::write(&path, "[1, 3]").unwrap();
        let problem = same_data(&request, &recorded).unwrap_err().to_string();
        assert!(problem.starts_with("orders.json has changed"), "{problem}");
    }

    #[test]
    fn the_hash_is_fnv_1a() {
        // Values of the algorithm's authors.
        assert_eq!(hash(b""), "cbf29ce484222325");
        assert_eq!(hash(b"a"), "af63dc4c8601ec8c");
        assert_eq!(hash(b"foobar"), "85944171f73967e8");
    }
}
