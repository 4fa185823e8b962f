//! The worker of the suite on files, see `wiremark_benches::worker`.
#![forbid(unsafe_code)]

use std::collections::HashSet;
use std::path::PathBuf;
use std::process::ExitCode;

use wiremark_benches::worker::{self, checked_file, count_file, say};
use wiremark_benches::{cells, files};
use wiremark_core::{Codec, Profile, Role};
use wiremark_datasets::{About, Dataset};
use wiremark_persist::Scratch;
use wiremark_record::CellId;
use wiremark_record::protocol::{Answer, Request, Skip};

wiremark_benches::counting_allocator!();

fn main() -> ExitCode {
    worker::run(list, |request, wanted| {
        let folder = files::scratch(request)?;
        cells::visit_pairs(request, &mut Check { wanted, folder })
    })
}

fn list(request: &Request) -> Result<(), String> {
    struct Cells {
        /// Where files would be written.
        folder: PathBuf,
    }
    impl cells::PairVisitor for Cells {
        fn wants(&self, _: &Profile, _: &str) -> bool {
            true
        }

        fn visit<C: Codec, D: Dataset>(&mut self, codec: &C, dataset: &D) {
            for (_, planned) in files::of_pair(&codec.profile(), dataset, &self.folder) {
                say(&Answer::Cell(planned));
            }
        }

        fn refuse(&mut self, profile: &Profile, about: &About, skip: &Skip) {
            for planned in files::refused(profile, about, skip) {
                say(&Answer::Cell(planned));
            }
        }
    }

    worker::list_codecs();
    worker::list_datasets(request)?;
    let folder = request.folder.clone().unwrap_or_else(std::env::temp_dir);
    cells::visit_pairs(request, &mut Cells { folder })
}

struct Check<'a> {
    wanted: &'a HashSet<CellId>,
    folder: Scratch,
}

impl cells::PairVisitor for Check<'_> {
    fn wants(&self, profile: &Profile, dataset: &str) -> bool {
        self.wanted.iter().any(|id| id.codec == profile.id && id.dataset == dataset)
    }

    fn visit<C: Codec, D: Dataset>(&mut self, codec: &C, dataset: &D) {
        let profile = codec.profile();
        let folder = &self.folder;
        for (way, planned) in files::of_pair(&profile, dataset, folder.path()) {
            if planned.skip.is_some() || !self.wanted.contains(&planned.id) {
                continue;
            }
            say(&Answer::Begin(planned.id.clone()));
            let checked = files::check(codec, dataset, way, folder);
            let mut cell = checked_file(planned, checked);
            if profile.role == Role::Floor {
                cell.round_trip = None;
            }
            count_file(&mut cell, || files::prepare(codec, dataset, way, folder));
            say(&Answer::Checked(Box::new(cell)));
        }
        if let Some(damage) = files::damage(codec, dataset) {
            say(&Answer::Damage(damage));
        }
    }

    fn refuse(&mut self, _: &Profile, _: &About, _: &Skip) {}
}
