//! The worker of the suite in memory, see `wiremark_benches::worker`.
#![forbid(unsafe_code)]

use std::collections::HashSet;
use std::process::ExitCode;

use wiremark_benches::worker::{self, refuse, say, waiting};
use wiremark_benches::{cells, check, operation};
use wiremark_core::{Codec, Profile, Role};
use wiremark_datasets::{About, Dataset};
use wiremark_record::protocol::{Answer, Request, Skip};
use wiremark_record::{self as record, Cell, CellId, Operation, Status};

wiremark_benches::counting_allocator!();

fn main() -> ExitCode {
    worker::run(list, |request, wanted| {
        cells::visit_pairs(request, &mut Check { wanted })
    })
}

fn list(request: &Request) -> Result<(), String> {
    struct Cells;
    impl cells::PairVisitor for Cells {
        fn wants(&self, _: &Profile, _: &str) -> bool {
            true
        }

        fn visit<C: Codec, D: Dataset>(&mut self, codec: &C, dataset: &D) {
            for planned in cells::of_pair(&codec.profile(), dataset) {
                say(&Answer::Cell(planned));
            }
        }

        fn refuse(&mut self, profile: &Profile, about: &About, skip: &Skip) {
            for planned in cells::refused(profile, about, skip) {
                say(&Answer::Cell(planned));
            }
        }
    }

    worker::list_codecs();
    worker::list_datasets(request)?;
    cells::visit_pairs(request, &mut Cells)
}

struct Check<'a> {
    wanted: &'a HashSet<CellId>,
}

impl cells::PairVisitor for Check<'_> {
    fn wants(&self, profile: &Profile, dataset: &str) -> bool {
        self.wanted.iter().any(|id| id.codec == profile.id && id.dataset == dataset)
    }

    fn visit<C: Codec, D: Dataset>(&mut self, codec: &C, dataset: &D) {
        for planned in cells::of_pair(&codec.profile(), dataset) {
            if planned.skip.is_none() && self.wanted.contains(&planned.id) {
                say(&Answer::Begin(planned.id.clone()));
                let cell = check_one(codec, dataset, planned.id, planned.documents);
                say(&Answer::Checked(Box::new(cell)));
            }
        }
    }

    fn refuse(&mut self, _: &Profile, _: &About, _: &Skip) {}
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
            peak_bytes: Some(allocated.peak_bytes),
        });
    }
    match zstd::bulk::compress(&bytes, 3) {
        Ok(compressed) => cell.zstd_bytes = Some(compressed.len() as u64),
        Err(error) => {
            cell.missing.insert("zstd_bytes".to_owned(), error.to_string());
        }
    }
}
