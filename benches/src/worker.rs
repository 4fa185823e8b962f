//! What all workers share: they list the cells of the codecs they were built with, check each, and
//! count what one operation asks of the allocator. No worker reads a clock for a figure.
//!
//! ```text
//! worker list      codecs, datasets and cells as JSON lines
//! worker check     reads cell ids as JSON lines, answers `begin` and `checked` for each
//! worker exchange  reads relays as JSON lines, answers `exchanged` for each
//! ```
//!
//! What to encode is in the environment, see `wiremark_record::protocol`. A worker counts by the
//! allocator that it declares: [`counting_allocator!`](crate::counting_allocator).

use std::collections::{BTreeMap, HashSet};
use std::io::{self, BufRead, Write};
use std::process::ExitCode;

use serde::de::DeserializeOwned;
use wiremark_core::{Codec, CodecVisitor, Profile, Upkeep};
use wiremark_datasets::{self as datasets, About, Dataset, DatasetVisitor};
use wiremark_record::protocol::{Answer, Planned, Relay, Request};
use wiremark_record::{self as record, Cell, CellId, Status};

use crate::check::Refusal;
use crate::operation::Prepared;
use crate::{cells, exchange, files, request};

/// Makes the counting allocator that of the program: the system's, or mimalloc with that feature.
#[macro_export]
macro_rules! counting_allocator {
    () => {
        #[cfg(feature = "mimalloc")]
        #[global_allocator]
        static ALLOCATOR: wiremark_meter::Counting<mimalloc::MiMalloc> =
            wiremark_meter::Counting::new(mimalloc::MiMalloc);

        #[cfg(not(feature = "mimalloc"))]
        #[global_allocator]
        static ALLOCATOR: wiremark_meter::Counting = wiremark_meter::Counting::system();
    };
}

/// Runs a worker: `list` says what there is, `check` looks at the cells that are wanted.
pub fn run(
    list: impl FnOnce(&Request) -> Result<(), String>,
    check: impl FnOnce(&Request, &HashSet<CellId>) -> Result<(), String>,
) -> ExitCode {
    let verb = std::env::args().nth(1);
    let done = match verb.as_deref() {
        Some("list") => request::from_environment().and_then(|request| list(&request)),
        Some("check") => request::from_environment()
            .and_then(|request| check(&request, &read_lines("cell id")?)),
        Some("exchange") => request::from_environment().and_then(|request| {
            let relays: Vec<Relay> = read_lines("relay")?;
            for answer in exchange::run(&request, &relays)? {
                say(&Answer::Exchanged(answer));
            }
            Ok(())
        }),
        _ => Err("usage: worker list | check | exchange".to_owned()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            let _ = writeln!(io::stderr(), "error: {message}");
            ExitCode::FAILURE
        }
    }
}

/// What stands on standard input, one a line.
fn read_lines<T: DeserializeOwned, C: FromIterator<T>>(what: &str) -> Result<C, String> {
    let parsed = |line: io::Result<String>| {
        let line =
            line.map_err(|error| format!("cannot read standard input: {error}"))?;
        serde_json::from_str(&line)
            .map_err(|error| format!("`{line}` is no {what}: {error}"))
    };
    io::stdin().lock().lines().map(parsed).collect()
}

/// Answers with one line.
pub fn say(answer: &Answer) {
    let mut out = io::stdout().lock();
    let said = serde_json::to_writer(&mut out, answer).map_err(io::Error::from);
    if said.and_then(|()| out.write_all(b"\n")).and_then(|()| out.flush()).is_err() {
        // Nobody listens any more, so nothing that could be done is of use.
        std::process::exit(1);
    }
}

/// Tells of the codecs in the binary.
pub fn list_codecs() {
    struct Codecs;
    impl CodecVisitor for Codecs {
        fn visit<C: Codec>(&mut self, codec: C) {
            say(&Answer::Codec(codec_record(&codec.profile())));
        }
    }
    cells::visit_codecs(&mut Codecs);
}

/// Tells of the datasets of a request.
///
/// # Errors
/// A sentence for a person, if a file cannot be read or a dataset is not known.
pub fn list_datasets(request: &Request) -> Result<(), String> {
    struct Hashes;
    impl DatasetVisitor for Hashes {
        fn visit<D: Dataset>(&mut self, dataset: &D) {
            say(&Answer::Dataset(dataset_record(dataset)));
        }
    }
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
    Ok(())
}

fn dataset_record<D: Dataset>(dataset: &D) -> record::Dataset {
    let About { id, title, source, records, origin, .. } = dataset.about();
    let hash = datasets::fingerprint(dataset.value());
    record::Dataset { id, title, source, origin, records, hash }
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
        peer: None,
    }
}

/// A cell that is being checked: nothing is known of it.
pub fn waiting(id: CellId, documents: u64) -> Cell {
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
        missing: BTreeMap::new(),
    }
}

/// Says why a cell has no figure.
pub fn refuse(cell: &mut Cell, status: Status, reason: String) {
    cell.status = status;
    cell.reason = Some(reason);
}

/// A cell with what its check counted, or why it must not be measured.
pub fn checked_file(planned: Planned, checked: Result<files::Counts, Refusal>) -> Cell {
    let mut cell = waiting(planned.id, planned.documents);
    match checked {
        Err(refusal) => {
            if refusal.status == Status::Failed {
                cell.round_trip = Some(false);
            }
            refuse(&mut cell, refusal.status, refusal.reason);
        }
        Ok(files::Counts { calls, size_bytes }) => {
            cell.round_trip = Some(true);
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
    cell
}

/// Counts what one operation asks of the allocator, if the cell passed its check.
pub fn count_file<'a>(
    cell: &mut Cell,
    prepare: impl FnOnce() -> wiremark_core::Result<Prepared<'a>>,
) {
    if cell.reason.is_some() {
        return;
    }
    let reason = "the codecs suite compresses";
    cell.missing.insert("zstd_bytes".to_owned(), reason.to_owned());
    match prepare() {
        Ok(prepared) => {
            let mut batch = prepared.batch;
            let (_, allocated) = wiremark_meter::alloc::measure(|| batch(1));
            cell.counts = Some(record::Counts {
                allocations: allocated.calls,
                allocated_bytes: allocated.bytes,
                peak_bytes: Some(allocated.peak_bytes),
            });
            let (_, rose) = wiremark_meter::memory::peak_rss(|| batch(1));
            cell.peak_rss_bytes = rose;
        }
        Err(error) => {
            let reason = format!("failed to get ready: {error}");
            refuse(cell, Status::Failed, reason);
        }
    }
}
