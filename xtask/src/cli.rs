//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use wiremark_record::Suite;

const EXIT_CODES: &str = "\
Exit codes:
  0    fine
  1    something else went wrong; the message says what
  2    the command line does not make sense
  4    no cell fits the filters
  100  some cells failed; the others have figures
  101  a worker could not be built
  130  interrupted; `bench --resume` goes on";

/// wiremark: which wire format, which library, on your data and machine.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", version)]
#[command(after_help = EXIT_CODES, subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Measure codecs on the four tasks' data, or on your own files.
    Bench(BenchOptions),
    /// Render the tables of a run again.
    Report(ReportOptions),
    /// List formats, datasets, or the cells that a bench would run.
    List(ListOptions),
    /// Tell what this machine can measure, and how to get what is missing.
    Doctor,
    /// Make a new format crate and put it on the list.
    NewFormat(NewFormatOptions),
    /// Check that the house is in order: rooms, manifests, generated tables, words.
    Tidy(TidyOptions),
    /// Everything that CI runs: formatting, lints, tests, documentation, benches once, tidy.
    Test(TestOptions),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo xtask bench --quick                        a first look at everything, in minutes
  cargo xtask bench --quick --data orders.ndjson   the same for your own data
  cargo xtask bench decode/people '!pretty'        some cells, with the default care
  cargo xtask bench --suite persist --quick        the same through files, every call counted
  cargo xtask bench --quick --peers                beside Go's and Perl's own libraries
  cargo xtask bench --resume                       go on with the newest interrupted run

A cell is called operation/dataset/codec/mode, such as
encode/people/json/serde_json/compact/reused. `cargo xtask list cells` shows them all.")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct BenchOptions {
    /// Measure only cells whose name holds one of these; `!TEXT` leaves cells out.
    #[arg(value_name = "FILTER")]
    pub(crate) filters: Vec<String>,

    /// What is measured.
    #[arg(long, value_enum, default_value_t = SuiteName::Codecs)]
    pub(crate) suite: SuiteName,

    /// Take all codecs, also into a first look: it leaves those out that are neither the usual
    /// library of a format nor its best.
    #[arg(long)]
    pub(crate) all: bool,

    /// Build and measure only these crates: names of folders in crates/formats, separated by
    /// commas (and `text`, for the lines that the export suite writes).
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) crates: Vec<String>,

    /// The same as `--profile quick`: a first look.
    #[arg(long, conflicts_with = "profile")]
    pub(crate) quick: bool,

    /// How much care to take.
    #[arg(long, value_enum, default_value_t = ProfileName::Default)]
    pub(crate) profile: ProfileName,

    #[command(flatten)]
    pub(crate) data: DataOptions,

    /// Show ratios to this codec instead of to the fastest (a part of its id is enough).
    #[arg(long, value_name = "ID")]
    pub(crate) reference: Option<String>,

    /// The allocator of all measured processes.
    #[arg(long, value_enum, default_value_t = Allocator::System)]
    pub(crate) allocator: Allocator,

    /// Whether the measured processes keep freed memory (steady) or give it back (default).
    #[arg(long, value_enum, default_value_t = Heap::Steady)]
    pub(crate) heap: Heap,

    /// The folder in which the suites on files write theirs [default: in target/wiremark].
    #[arg(long, value_name = "FOLDER")]
    pub(crate) folder: Option<PathBuf>,

    /// Start a private PostgreSQL server for the export suite and stop it afterwards, instead of
    /// asking the one that `DATABASE_URL` names.
    #[arg(long, value_enum)]
    pub(crate) postgres: Option<PostgresName>,

    /// Also measure the original systems, in Go and Perl, where they are here; what is missing is
    /// named with what brings it.
    #[arg(long)]
    pub(crate) peers: bool,

    /// Number of fresh processes for each cell, instead of the profile's.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) rounds: Option<u32>,

    /// Seconds after which a measured process is ended.
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    pub(crate) timeout: u64,

    /// Go on with an interrupted run: the newest, or the one of this id.
    #[arg(long, value_name = "RUN", num_args = 0..=1, default_missing_value = "latest")]
    pub(crate) resume: Option<String>,

    /// Measure the negative controls in the codecs' place: they show that the bench tells
    /// right from wrong.
    #[arg(long)]
    pub(crate) controls: bool,

    #[command(flatten)]
    pub(crate) exports: Exports,
}

#[derive(Debug, Args)]
pub(crate) struct DataOptions {
    /// Your own data: a JSON, NDJSON or CSV file, or `-` for standard input. Repeatable.
    #[arg(long = "data", value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// The format of all data files, instead of what their names and contents say.
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) data_format: Option<DataFormat>,

    /// Take every field of a CSV file as text instead of guessing numbers and truth values.
    #[arg(long)]
    pub(crate) csv_strings: bool,

    /// The seeded datasets to use, separated by commas [default: all, or none beside --data].
    #[arg(short, long, value_name = "IDS", value_delimiter = ',')]
    pub(crate) datasets: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Exports {
    /// Write the results to this file as well.
    #[arg(long = "export-json", value_name = "PATH")]
    pub(crate) json: Option<PathBuf>,

    /// Write the table as CSV to this file as well.
    #[arg(long = "export-csv", value_name = "PATH")]
    pub(crate) csv: Option<PathBuf>,

    /// Write the report as Markdown to this file as well.
    #[arg(long = "export-markdown", value_name = "PATH")]
    pub(crate) markdown: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SuiteName {
    /// Values to bytes and back, in memory.
    Codecs,
    /// Values to files and back, in every usual way, each call counted.
    Persist,
    /// Rows of a database to files: SQLite's, and PostgreSQL's where one is named.
    Export,
}

impl SuiteName {
    pub(crate) fn suite(self) -> Suite {
        match self {
            Self::Codecs => Suite::Codecs,
            Self::Persist => Suite::Persist,
            Self::Export => Suite::Export,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PostgresName {
    /// On a socket in a temporary folder, removed with all it holds.
    Throwaway,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProfileName {
    /// A first look: about two minutes of measuring for everything.
    Quick,
    /// Figures to decide by: nine rounds, with intervals.
    Default,
    /// Figures to publish.
    Full,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Allocator {
    /// The system's.
    System,
    /// mimalloc.
    Mimalloc,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Heap {
    /// Freed memory stays with the process, so that a figure does not depend on what was freed
    /// before.
    Steady,
    /// The C library's defaults.
    Default,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DataFormat {
    /// One JSON document.
    Json,
    /// A JSON document on each line.
    Ndjson,
    /// Comma-separated values with a header.
    Csv,
}

impl DataFormat {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Ndjson => "ndjson",
            Self::Csv => "csv",
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct ReportOptions {
    /// A run's id, a results file, or `latest`.
    #[arg(value_name = "RUN", default_value = "latest")]
    pub(crate) run: String,

    /// Show ratios to this codec instead of to the fastest (a part of its id is enough).
    #[arg(long, value_name = "ID")]
    pub(crate) reference: Option<String>,

    #[command(flatten)]
    pub(crate) exports: Exports,
}

#[derive(Debug, Args)]
pub(crate) struct ListOptions {
    /// What to list.
    #[arg(value_enum)]
    pub(crate) what: ListWhat,

    /// Only names that hold one of these; `!TEXT` leaves names out.
    #[arg(value_name = "FILTER")]
    pub(crate) filters: Vec<String>,

    /// The suite whose cells are listed.
    #[arg(long, value_enum, default_value_t = SuiteName::Codecs)]
    pub(crate) suite: SuiteName,

    #[command(flatten)]
    pub(crate) data: DataOptions,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ListWhat {
    /// The codecs with library, version and upkeep.
    Formats,
    /// The datasets with origin and hash.
    Datasets,
    /// What a bench would run, and what not and why.
    Cells,
}

#[derive(Debug, Args)]
pub(crate) struct NewFormatOptions {
    /// The crate's folder and feature: the format where the library is the usual one, else the
    /// library.
    pub(crate) name: String,

    /// The library as the package registry names it; it must stand under
    /// `[workspace.dependencies]` already.
    pub(crate) library: String,
}

#[derive(Debug, Args)]
pub(crate) struct TidyOptions {
    /// Write generated tables instead of comparing them.
    #[arg(long)]
    pub(crate) bless: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TestOptions {
    /// Only the steps whose name holds this.
    pub(crate) step: Option<String>,
}
