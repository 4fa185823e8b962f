//! The commands of the house. `cargo xtask --help` lists them.
//!
//! This room orchestrates: it builds workers with cargo, runs them, keeps what they answer and
//! hands it to `report`. It depends on no codec and no database, so that it is built within
//! seconds, and it never measures anything itself.
#![forbid(unsafe_code)]

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;

mod bench;
mod build;
mod cleanup;
mod cli;
mod doctor;
mod exchange;
mod files;
mod list;
mod measure;
mod new_format;
mod plan;
mod problem;
mod progress;
mod report;
mod test;
mod tidy;
mod worker;
mod workspace;

use crate::cli::{Cli, Verb};
use crate::problem::Problem;

fn main() -> ExitCode {
    let verb = match Cli::try_parse() {
        Ok(cli) => cli.verb,
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    cleanup::install();
    let done = match verb {
        Verb::Bench(options) => bench::run(&options),
        Verb::Report(options) => report::run(&options),
        Verb::List(options) => list::run(&options),
        Verb::Doctor => doctor::run(),
        Verb::NewFormat(options) => new_format::run(&options),
        Verb::Tidy(options) => tidy::run(&options),
        Verb::Test(options) => test::run(&options),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            problem.print();
            problem.code()
        }
    }
}

/// Prints a result: standard output belongs to results, standard error to progress. A closed
/// pipe (`| head`) is no failure.
fn print(text: &str) -> Result<(), Problem> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Problem::new(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Prints a remark for the person who waits.
fn remark(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}
