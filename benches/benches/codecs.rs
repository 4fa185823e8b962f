//! How long does each operation of each codec take, in memory? One process measures one cell,
//! named by `--exact`; by hand, any filter of criterion's works.
//!
//! What is inside the clock stands in `wiremark_benches::operation`.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use wiremark_benches::target::Target;
use wiremark_benches::{cells, check, operation};
use wiremark_core::{Codec, Profile};
use wiremark_datasets::{About, Dataset};
use wiremark_record::Clock;
use wiremark_record::protocol::Skip;

#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

struct Codecs<'a>(&'a mut Target);

impl cells::PairVisitor for Codecs<'_> {
    fn wants(&self, profile: &Profile, dataset: &str) -> bool {
        self.0.wants(profile.id, dataset)
    }

    fn visit<C: Codec, D: Dataset>(&mut self, codec: &C, dataset: &D) {
        for planned in cells::of_pair(&codec.profile(), dataset) {
            let (operation, mode) = (planned.id.operation, planned.id.mode);
            self.0.cell(
                planned,
                || check::check(codec, dataset, operation, mode),
                || operation::prepare(codec, dataset, operation, mode),
            );
        }
    }

    fn refuse(&mut self, _: &Profile, _: &About, _: &Skip) {}
}

fn main() -> ExitCode {
    Target::run(Clock::Cpu, |request, target| {
        cells::visit_pairs(request, &mut Codecs(target))
    })
}
