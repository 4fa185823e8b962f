//! The worker: lists the cells of the codecs it was built with, checks each, and counts what one
//! operation asks of the allocator. It never reads a clock for a figure.
//!
//! ```text
//! worker list    codecs, datasets and cells as JSON lines
//! worker check   reads cell ids as JSON lines, answers `begin` and `checked` for each
//! ```
//!
//! What to encode is in the environment, see `wiremark_record::protocol`.
#![forbid(unsafe_code)]

use std::collections::HashSet;
use std::io::{self, BufRead, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use wiremark_benches::{cells, check, files, operation, request};
use wiremark_core::{Codec, Profile, Role, Upkeep};
use wiremark_datasets::{self as datasets, About, Dataset, DatasetVisitor};
use wiremark_persist::Scratch;
use wiremark_record::protocol::{Answer, Planned, Request, Skip};
use wiremark_record::{self as record, Cell, CellId, Operation, Status, Suite};

#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: wiremark_meter::Counting<mimalloc::MiMalloc> =
    wiremark_meter::Counting::new(mimalloc::MiMalloc);

#[cfg(not(feature = "mimalloc"))]
#[global_allocator]
static ALLOCATOR: wiremark_meter::Counting = wiremark_meter::Counting::system();

fn main() -> ExitCode {
    let verb = std::env::args().nth(1);
    let done = match verb.as_deref() {
        Some("list") => request::from_environment().and_then(|request| list(&request)),
        Some("check") => {
            request::from_environment().and_then(|request| check_all(&request))
        }
        _ => Err("usage: worker list | check".to_owned()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            let _ = writeln!(io::stderr(), "error: {message}");
            ExitCode::FAILURE
        }
    }
}

fn say(answer: &Answer) {
    let mut out = io::stdout().lock();
    let said = serde_json::to_writer(&mut out, answer).map_err(io::Error::from);
    if said.and_then(|()| out.write_all(b"\n")).and_then(|()| out.flush()).is_err() {
        // Nobody listens any more, so nothing that could be done is of use.
        std::process::exit(1);
    }
}

fn list(request: &Request) -> Result<(), String> {
    struct Codecs;
    impl wiremark_core::CodecVisitor for Codecs {
        fn visit<C: Codec>(&mut self, codec: C) {
            say(&Answer::Codec(codec_record(&codec.profile())));
        }
    }

    struct Hashes;
    impl DatasetVisitor for Hashes {
        fn visit<D: Dataset>(&mut self, dataset: &D) {
            say(&Answer::Dataset(dataset_record(dataset)));
        }
    }

    struct Cells {
        /// Where files would be written, if the request is about them.
        files: Option<PathBuf>,
    }
    impl cells::PairVisitor for Cells {
        fn wants(&self, _: &Profile, _: &str) -> bool {
            true
        }

        fn visit<C: Codec, D: Dataset>(&mut self, codec: &C, dataset: &D) {
            let profile = codec.profile();
            match &self.files {
                None => {
                    for planned in cells::of_pair(&profile, dataset) {
                        say(&Answer::Cell(planned));
                    }
                }
                Some(folder) => {
                    for (_, planned) in files::of_pair(&profile, dataset, folder) {
                        say(&Answer::Cell(planned));
                    }
                }
            }
        }

        fn refuse(&mut self, profile: &Profile, about: &About, skip: &Skip) {
            let planned = match self.files {
                None => cells::refused(profile, about, skip),
                Some(_) => files::refused(profile, about, skip),
            };
            for planned in planned {
                say(&Answer::Cell(planned));
            }
        }
    }

    cells::visit_codecs(&mut Codecs);
    for id in &request.datasets {
        // The hash is that of the dynamic form, whatever the codecs at hand can take, so that
        // all workers name a dataset by the same hash.
        if !datasets::visit(id, true, &mut Hashes) {
            return Err(format!("no dataset is called `{id}`"));
        }
    }
    for file in &request.files {
        let data = request::read(file)?;
        for note in data.notes() {
            say(&Answer::Note(note.clone()));
        }
        say(&Answer::Dataset(dataset_record(&data)));
    }
    let files = match request.suite {
        Suite::Codecs => None,
        Suite::Persist | Suite::Export => {
            Some(request.folder.clone().unwrap_or_else(std::env::temp_dir))
        }
    };
    cells::visit_pairs(request, &mut Cells { files })
}

/// A folder for files, if the request is about them.
fn folder(request: &Request) -> Result<Option<Scratch>, String> {
    match request.suite {
        Suite::Codecs => Ok(None),
        Suite::Persist | Suite::Export => files::scratch(request).map(Some),
    }
}

fn dataset_record<D: Dataset>(dataset: &D) -> record::Dataset {
    let About { id, title, source, records, .. } = dataset.about();
    let hash = datasets::fingerprint(dataset.value());
    record::Dataset { id, title, source, records, hash }
}

fn codec_record(profile: &Profile) -> record::Codec {
    // Kebab-case words of plain enums; the record holds words, so that it stays readable when
    // an enum grows.
    let word = |value: serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let (maintained, advisory) = match profile.upkeep {
        Upkeep::Maintained => (true, None),
        Upkeep::Unmaintained("") => (false, None),
        Upkeep::Unmaintained(advisory) => (false, Some(advisory.to_owned())),
    };
    record::Codec {
        id: profile.id.to_owned(),
        format: profile.format.to_owned(),
        library: profile.library.to_owned(),
        version: profile.version.to_owned(),
        spec: profile.spec.to_owned(),
        license: profile.license.to_owned(),
        maintained,
        advisory,
        role: word(serde_json::json!(profile.role)),
        framing: word(serde_json::json!(profile.framing)),
        trailing: word(serde_json::json!(profile.trailing)),
        caveat: profile.caveat.to_owned(),
    }
}

fn check_all(request: &Request) -> Result<(), String> {
    struct Check {
        wanted: HashSet<CellId>,
        files: Option<Scratch>,
    }

    impl cells::PairVisitor for Check {
        fn wants(&self, profile: &Profile, dataset: &str) -> bool {
            self.wanted.iter().any(|id| id.codec == profile.id && id.dataset == dataset)
        }

        fn visit<C: Codec, D: Dataset>(&mut self, codec: &C, dataset: &D) {
            let profile = codec.profile();
            let is_wanted = |planned: &Planned| {
                planned.skip.is_none() && self.wanted.contains(&planned.id)
            };
            let Some(folder) = &self.files else {
                for planned in cells::of_pair(&profile, dataset) {
                    if is_wanted(&planned) {
                        say(&Answer::Begin(planned.id.clone()));
                        let cell =
                            check_one(codec, dataset, planned.id, planned.documents);
                        say(&Answer::Checked(Box::new(cell)));
                    }
                }
                return;
            };
            for (way, planned) in files::of_pair(&profile, dataset, folder.path()) {
                if is_wanted(&planned) {
                    say(&Answer::Begin(planned.id.clone()));
                    let cell = check_file(codec, dataset, way, planned, folder);
                    say(&Answer::Checked(Box::new(cell)));
                }
            }
            if let Some(damage) = files::damage(codec, dataset) {
                say(&Answer::Damage(damage));
            }
        }

        fn refuse(&mut self, _: &Profile, _: &About, _: &Skip) {}
    }

    let mut wanted = HashSet::new();
    for line in io::stdin().lock().lines() {
        let line =
            line.map_err(|error| format!("cannot read standard input: {error}"))?;
        let id = serde_json::from_str(&line)
            .map_err(|error| format!("`{line}` is no cell id: {error}"))?;
        wanted.insert(id);
    }
    cells::visit_pairs(request, &mut Check { wanted, files: folder(request)? })
}

fn check_one<C: Codec, D: Dataset>(
    codec: &C,
    dataset: &D,
    id: CellId,
    documents: u64,
) -> Cell {
    let (operation, mode) = (id.operation, id.mode);
    let mut cell = waiting(id, documents);
    let is_floor = codec.profile().role == Role::Floor;
    if let Err(refusal) = check::check(codec, dataset, operation, mode) {
        if refusal.status == Status::Failed && !is_floor {
            cell.round_trip = Some(false);
        }
        refuse(&mut cell, refusal.status, refusal.reason);
        return cell;
    }
    cell.round_trip = (!is_floor).then_some(true);
    match operation::prepare(codec, dataset, operation, mode) {
        Ok(prepared) => {
            cell.size_bytes = Some(prepared.bytes.len() as u64);
            count(&mut cell, prepared);
        }
        Err(error) => {
            let reason = format!("failed to get ready: {error}");
            refuse(&mut cell, Status::Failed, reason);
        }
    }
    cell
}

/// A cell that is being checked: nothing is known of it.
fn waiting(id: CellId, documents: u64) -> Cell {
    Cell {
        id,
        status: Status::Skipped,
        reason: None,
        round_trip: None,
        documents,
        size_bytes: None,
        zstd_bytes: None,
        counts: None,
        calls: None,
        peak_rss_bytes: None,
        time: None,
        wall: None,
        copy: None,
        rounds: Vec::new(),
        missing: std::collections::BTreeMap::new(),
    }
}

fn refuse(cell: &mut Cell, status: Status, reason: String) {
    cell.status = status;
    cell.reason = Some(reason);
}

fn check_file<C: Codec, D: Dataset>(
    codec: &C,
    dataset: &D,
    way: files::Way,
    planned: Planned,
    folder: &Scratch,
) -> Cell {
    let mut cell = waiting(planned.id, planned.documents);
    let is_floor = codec.profile().role == Role::Floor;
    match files::check(codec, dataset, way, folder) {
        Err(refusal) => {
            if refusal.status == Status::Failed && !is_floor {
                cell.round_trip = Some(false);
            }
            refuse(&mut cell, refusal.status, refusal.reason);
            return cell;
        }
        Ok(files::Counts { calls, size_bytes }) => {
            cell.round_trip = (!is_floor).then_some(true);
            cell.size_bytes = Some(size_bytes);
            cell.calls = Some(record::Calls {
                write: calls.write,
                written_bytes: calls.written_bytes,
                read: calls.read,
                read_bytes: calls.read_bytes,
                flush: calls.flush,
                sync: calls.sync,
                open: calls.open,
                rename: calls.rename,
            });
        }
    }
    let reason = "the codecs suite compresses";
    cell.missing.insert("zstd_bytes".to_owned(), reason.to_owned());
    match files::prepare(codec, dataset, way, folder) {
        Ok(prepared) => {
            let mut batch = prepared.batch;
            let (_, allocated) = wiremark_meter::alloc::measure(|| batch(1));
            cell.counts = Some(record::Counts {
                allocations: allocated.calls,
                allocated_bytes: allocated.bytes,
                peak_bytes: allocated.peak_bytes,
            });
            let (_, rose) = wiremark_meter::memory::peak_rss(|| batch(1));
            cell.peak_rss_bytes = rose;
        }
        Err(error) => {
            let reason = format!("failed to get ready: {error}");
            refuse(&mut cell, Status::Failed, reason);
        }
    }
    cell
}

fn count(cell: &mut Cell, prepared: operation::Prepared<'_>) {
    let operation::Prepared { mut batch, bytes } = prepared;
    // The first operation warms the buffers, as it does before the clock.
    batch(1);
    if cell.id.operation == Operation::Drop {
        // Its batch decodes first what it drops; what decoding asks for is decode's own figure.
        let reason = "dropping asks the allocator for nothing";
        cell.missing.insert("counts".to_owned(), reason.to_owned());
    } else {
        let (_, allocated) = wiremark_meter::alloc::measure(|| batch(1));
        cell.counts = Some(record::Counts {
            allocations: allocated.calls,
            allocated_bytes: allocated.bytes,
            peak_bytes: allocated.peak_bytes,
        });
    }
    match zstd::bulk::compress(&bytes, 3) {
        Ok(compressed) => cell.zstd_bytes = Some(compressed.len() as u64),
        Err(error) => {
            cell.missing.insert("zstd_bytes".to_owned(), error.to_string());
        }
    }
}
