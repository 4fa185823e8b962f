//! What the orchestrator asks a worker and what the worker answers.
//!
//! A worker is a program that knows some codecs. It gets a [`Request`] as JSON in the
//! environment variable [`REQUEST`], and answers with one JSON object a line: the variants of
//! [`Answer`]. A program in another language can be a worker as well: a *peer*, whose side of the
//! protocol stands in `crates/peers/README.md`.

use serde::{Deserialize, Serialize};

use crate::{Cell, CellId, Codec, Damage, Dataset, Outcome, Round, Status, Suite};

/// The environment variable that holds the [`Request`].
pub const REQUEST: &str = "WIREMARK_REQUEST";

/// The environment variable that names a PostgreSQL database.
pub const DATABASE: &str = "DATABASE_URL";

/// The environment variable that names the file to which a timed process appends its
/// [`Answer::Measured`] lines, since criterion speaks on standard output.
pub const ANSWERS: &str = "WIREMARK_ANSWERS";

/// The environment variable under which a timed process takes turns with others: before each
/// sample it writes the line [`MY_TURN`] to standard output and waits for a line on standard
/// input. When that ends, it ends.
pub const TURNS: &str = "WIREMARK_TURNS";

/// The environment variable that names the folder in which a peer finds the values of the
/// datasets, since it cannot make them from a seed.
pub const VALUES: &str = "WIREMARK_VALUES";

/// The line by which a timed process asks for its turn: the sample before is finished.
pub const MY_TURN: &str = "wiremark: my turn";

/// What to encode, and how long to measure.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// What is to be measured.
    #[serde(default)]
    pub suite: Suite,
    /// The folder in which files are written, for suites that do. Each process makes one of its
    /// own in it and removes it. Never part of a record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<std::path::PathBuf>,
    /// The address of a PostgreSQL database, which may hold a password: workers get it in an
    /// environment variable of its own, and it is never written anywhere.
    #[serde(skip)]
    pub database: Option<String>,
    /// Ids of the seeded datasets.
    pub datasets: Vec<String>,
    /// The user's files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<DataFile>,
    /// How long to measure.
    pub sampling: Sampling,
}

/// One of the user's files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataFile {
    /// The dataset's id.
    pub id: String,
    /// The name without its folder, for messages.
    pub name: String,
    /// Where it is. Never part of a record.
    pub path: std::path::PathBuf,
    /// `json`, `ndjson` or `csv`, if it was told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// Whether all fields of a CSV file are text.
    #[serde(default)]
    pub csv_strings: bool,
}

/// How long one process measures one cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sampling {
    /// Samples, at least 10.
    pub samples: u32,
    /// CPU time that one sample should take.
    pub sample_ns: u64,
    /// Warm-up.
    pub warm_up_ns: u64,
}

impl Default for Sampling {
    fn default() -> Self {
        Self { samples: 30, sample_ns: 2_000_000, warm_up_ns: 50_000_000 }
    }
}

/// One line of a worker's answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// A codec that the worker knows.
    Codec(Codec),
    /// A dataset of the request.
    Dataset(Dataset),
    /// A remark about a dataset that a person should read.
    Note(String),
    /// A cell that the worker could run, or cannot, with the reason.
    Cell(Planned),
    /// The worker starts with a cell: if it dies now, this one killed it.
    Begin(CellId),
    /// A cell was checked and counted.
    Checked(Box<Cell>),
    /// What a codec makes of flipped bits.
    Damage(Damage),
    /// A cell was measured in this process.
    Measured(CellId, Round),
    /// A cell was measured in this process, which leaves it to others to sum the samples up.
    Sampled(CellId, Sampled),
    /// What became of the bytes of a [`Relay`].
    Exchanged(Exchanged),
    /// A peer's program and what it found of its libraries.
    Version(Version),
}

/// The samples of one process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sampled {
    /// In the order in which they were taken.
    pub samples: Vec<Sample>,
}

/// One sample: a batch of operations, and what it took as a whole. As JSON an array, whose end may
/// be left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample(
    /// Operations.
    pub u64,
    /// CPU time in nanoseconds: of the thread, or of the process where a collector works for it.
    pub u64,
    /// Wall time in nanoseconds.
    pub u64,
    /// The part of the CPU time in user mode, in nanoseconds.
    #[serde(default)]
    pub u64,
    /// The part of the CPU time in the kernel, in nanoseconds.
    #[serde(default)]
    pub u64,
    /// How often the kernel took the processor away.
    #[serde(default)]
    pub u64,
);

/// A leg of an exchange of bytes between codecs, for the verb `exchange`: one a line.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Relay {
    /// The codec's id.
    pub codec: String,
    /// The dataset's id.
    pub dataset: String,
    /// The file whose bytes are decoded and compared with the value. None: it begins with the
    /// value itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<std::path::PathBuf>,
    /// The file into which the value, or what was decoded, is encoded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write: Option<std::path::PathBuf>,
}

/// What became of the bytes of a [`Relay`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exchanged {
    /// How it went.
    pub verdict: Outcome,
    /// The documented mapping without which the values would not be equal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mapping: Option<String>,
    /// Why it did not go well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What a peer's program says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Version {
    /// The language and its version: `go1.19.8`.
    pub program: String,
    /// Version of the library of each codec that can be used, by the codec's id.
    pub libraries: std::collections::BTreeMap<String, String>,
}

/// A cell of the plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Planned {
    /// Which.
    pub id: CellId,
    /// Documents that one operation handles.
    pub documents: u64,
    /// Why it is not run, where it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skip: Option<Skip>,
}

/// Why a cell is not run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skip {
    /// The status that the record gets.
    pub status: Status,
    /// In words.
    pub reason: String,
}
