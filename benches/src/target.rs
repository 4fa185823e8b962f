//! What all timed targets share: which cell is wanted, checking it when run by hand, measuring it,
//! answering.

use std::env;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::process::ExitCode;

use criterion::Criterion;
use wiremark_core::Result;
use wiremark_record::protocol::{ANSWERS, Answer, Planned, Request, Sampling};
use wiremark_record::{Clock, Status};

use crate::check::Refusal;
use crate::engine::{self, Spans};
use crate::operation::Prepared;
use crate::request;

/// A timed target: one process measures one cell, named by `--exact`; by hand, any filter of
/// criterion's works.
#[expect(missing_debug_implementations, reason = "criterion has none")]
pub struct Target {
    criterion: Criterion<Spans>,
    sampling: Sampling,
    /// The one cell to run, if criterion got `--exact`: the others are not even made ready.
    only: Option<String>,
    failed: Vec<String>,
}

impl Target {
    /// Runs a target: `visit` shows it the cells that the request is about.
    pub fn run(
        clock: Clock,
        visit: impl FnOnce(&Request, &mut Self) -> std::result::Result<(), String>,
    ) -> ExitCode {
        let request = match request::from_environment() {
            Ok(request) => request,
            Err(message) => return fail(&[message]),
        };
        let arguments: Vec<String> = env::args().skip(1).collect();
        let only = arguments
            .iter()
            .any(|argument| argument == "--exact")
            .then(|| {
                arguments.iter().find(|argument| !argument.starts_with("--")).cloned()
            })
            .flatten();
        let mut target = Self {
            criterion: engine::criterion(request.sampling, clock),
            sampling: request.sampling,
            only,
            failed: Vec::new(),
        };
        if let Err(message) = visit(&request, &mut target) {
            target.failed.push(message);
        }
        if target.failed.is_empty() { ExitCode::SUCCESS } else { fail(&target.failed) }
    }

    /// Whether a cell of this codec and dataset may be wanted.
    pub fn wants(&self, codec: &str, dataset: &str) -> bool {
        self.only
            .as_ref()
            .is_none_or(|only| only.contains(&format!("/{dataset}/{codec}/")))
    }

    /// Measures a cell, if it is wanted and can be run.
    pub fn cell<'a>(
        &mut self,
        planned: Planned,
        check: impl FnOnce() -> std::result::Result<(), Refusal>,
        prepare: impl FnOnce() -> Result<Prepared<'a>>,
    ) {
        let id = planned.id;
        let is_wanted = self.only.as_ref().is_none_or(|only| *only == id.to_string());
        if planned.skip.is_some() || !is_wanted {
            return;
        }
        // By hand every cell is checked here; in a run the worker did it once already, and the
        // second copy of a large value would be memory that the measured code meets.
        if self.only.is_none()
            && let Err(refusal) = check()
        {
            if refusal.status == Status::Failed {
                self.failed.push(format!("{id}: {}", refusal.reason));
            }
            return;
        }
        match prepare() {
            Err(error) => self.failed.push(format!("{id}: {error}")),
            Ok(prepared) => {
                let round =
                    engine::measure(&mut self.criterion, &id, prepared, self.sampling);
                if let Some(round) = round
                    && let Err(error) = answer(&Answer::Measured(id, round))
                {
                    self.failed.push(format!("cannot write the answer: {error}"));
                }
            }
        }
    }
}

/// Appends one line to the file that the orchestrator reads, if there is one.
fn answer(answer: &Answer) -> io::Result<()> {
    let Some(path) = env::var_os(ANSWERS) else { return Ok(()) };
    let mut line = serde_json::to_vec(answer)?;
    line.push(b'\n');
    OpenOptions::new().create(true).append(true).open(path)?.write_all(&line)
}

fn fail(messages: &[String]) -> ExitCode {
    for message in messages {
        let _ = writeln!(io::stderr(), "error: {message}");
    }
    ExitCode::FAILURE
}
