//! How long does it take to write a value to a file and to read it back, in each way? One process
//! measures one cell, named by `--exact`; by hand, any filter of criterion's works.
//!
//! What is inside the clock stands in `wiremark_benches::files`.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use wiremark_benches::target::Target;
use wiremark_benches::{cells, files};
use wiremark_core::{Codec, Profile};
use wiremark_datasets::{About, Dataset};
use wiremark_persist::Scratch;
use wiremark_record::Clock;
use wiremark_record::protocol::Skip;

#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

struct Files<'a> {
    target: &'a mut Target,
    folder: Scratch,
}

impl cells::PairVisitor for Files<'_> {
    fn wants(&self, profile: &Profile, dataset: &str) -> bool {
        self.target.wants(profile.id, dataset)
    }

    fn visit<C: Codec, D: Dataset>(&mut self, codec: &C, dataset: &D) {
        let Self { target, folder } = self;
        for (way, planned) in files::of_pair(&codec.profile(), dataset, folder.path()) {
            target.cell(
                planned,
                || files::check(codec, dataset, way, folder).map(drop),
                || files::prepare(codec, dataset, way, folder),
            );
        }
    }

    fn refuse(&mut self, _: &Profile, _: &About, _: &Skip) {}
}

fn main() -> ExitCode {
    Target::run(Clock::Wall, |request, target| {
        let folder = files::scratch(request)?;
        cells::visit_pairs(request, &mut Files { target, folder })
    })
}
