//! How long does each operation of each codec take? One process measures one cell, named by
//! `--exact`; by hand, any filter of criterion's works.
//!
//! What is inside the clock stands in `wiremark_benches::operation`.
#![forbid(unsafe_code)]

use std::env;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::process::ExitCode;

use criterion::Criterion;
use wiremark_benches::engine::{self, ThreadCpu};
use wiremark_benches::{cells, check, operation, request};
use wiremark_core::{Codec, Profile};
use wiremark_datasets::{About, Dataset};
use wiremark_record::protocol::{ANSWERS, Answer, Sampling, Skip};

#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

struct Bench {
    criterion: Criterion<ThreadCpu>,
    sampling: Sampling,
    /// The one cell to run, if criterion got `--exact`: the others are not even made ready.
    only: Option<String>,
    failed: Vec<String>,
}

impl cells::PairVisitor for Bench {
    fn wants(&self, profile: &Profile, dataset: &str) -> bool {
        self.only
            .as_ref()
            .is_none_or(|only| only.contains(&format!("/{dataset}/{}/", profile.id)))
    }

    fn visit<C: Codec, D: Dataset>(&mut self, codec: &C, dataset: &D) {
        for planned in cells::of_pair(&codec.profile(), dataset) {
            let id = planned.id;
            let is_wanted = self.only.as_ref().is_none_or(|only| *only == id.to_string());
            if planned.skip.is_some() || !is_wanted {
                continue;
            }
            // By hand every cell is checked here; in a run the worker did it once already, and
            // the second copy of a large value would be memory that the measured code meets.
            if self.only.is_none()
                && let Err(refusal) = check::check(codec, dataset, id.operation, id.mode)
            {
                if refusal.status == wiremark_record::Status::Failed {
                    self.failed.push(format!("{id}: {}", refusal.reason));
                }
                continue;
            }
            match operation::prepare(codec, dataset, id.operation, id.mode) {
                Err(error) => self.failed.push(format!("{id}: {error}")),
                Ok(prepared) => {
                    let round = engine::measure(
                        &mut self.criterion,
                        &id,
                        prepared,
                        self.sampling,
                    );
                    if let Some(round) = round
                        && let Err(error) = answer(&Answer::Measured(id, round))
                    {
                        self.failed.push(format!("cannot write the answer: {error}"));
                    }
                }
            }
        }
    }

    fn refuse(&mut self, _: &Profile, _: &About, _: &Skip) {}
}

/// Appends one line to the file that the orchestrator reads, if there is one.
fn answer(answer: &Answer) -> io::Result<()> {
    let Some(path) = env::var_os(ANSWERS) else { return Ok(()) };
    let mut line = serde_json::to_vec(answer)?;
    line.push(b'\n');
    OpenOptions::new().create(true).append(true).open(path)?.write_all(&line)
}

fn main() -> ExitCode {
    let request = match request::from_environment() {
        Ok(request) => request,
        Err(message) => return fail(&[message]),
    };
    let arguments: Vec<String> = env::args().skip(1).collect();
    let only = arguments
        .iter()
        .any(|argument| argument == "--exact")
        .then(|| arguments.iter().find(|argument| !argument.starts_with("--")).cloned())
        .flatten();
    let mut bench = Bench {
        criterion: engine::criterion(request.sampling),
        sampling: request.sampling,
        only,
        failed: Vec::new(),
    };
    if let Err(message) = cells::visit_pairs(&request, &mut bench) {
        bench.failed.push(message);
    }
    if bench.failed.is_empty() { ExitCode::SUCCESS } else { fail(&bench.failed) }
}

fn fail(messages: &[String]) -> ExitCode {
    for message in messages {
        let _ = writeln!(io::stderr(), "error: {message}");
    }
    ExitCode::FAILURE
}
