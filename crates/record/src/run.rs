//! The types of `results.json`.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::file::present;

/// The name and version of the schema, the first key of every file.
pub const SCHEMA: &str = "wiremark.results/1";

/// One run of the benchmarks: everything that is needed to read its figures and to make them
/// again. Holds no user name, no path and no environment variable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// [`SCHEMA`].
    pub schema: String,
    /// Unique and sortable: the start as `20261130-141503` and a few random digits.
    pub id: String,
    /// The program that wrote the file.
    pub tool: Tool,
    /// The command line, file arguments cut to their names.
    pub command: Vec<String>,
    /// Start of the run, seconds since 1970-01-01 UTC.
    pub started_unix_s: u64,
    /// False while cells are outstanding: the run was interrupted, or still goes on.
    pub complete: bool,
    /// What the run is about.
    #[serde(default, skip_serializing_if = "Suite::is_codecs")]
    pub suite: Suite,
    /// The kind of file system that files were written to (`ext4`, `tmpfs`), for suites that do.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub file_system: Option<String>,
    /// How long and how often each cell is measured.
    pub profile: Profile,
    /// Hash of the plan (cells, profile, data): `--resume` goes on only with the same one.
    pub plan: String,
    /// The commit of the workspace.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub commit: Option<Commit>,
    /// Hash of `Cargo.lock`.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub lock_hash: Option<String>,
    /// The machine.
    pub machine: Machine,
    /// How the workers were built.
    pub build: Build,
    /// `system` or `mimalloc`, one for all cells.
    pub allocator: String,
    /// `steady` or `default`, and the settings that make it so.
    pub heap: String,
    /// The allocator's settings in the measured processes.
    pub heap_settings: BTreeMap<String, String>,
    /// Runnable processes around the run.
    pub load: Load,
    /// What the A/A controls say of this run's noise.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub noise: Option<Noise>,
    /// What was encoded.
    pub datasets: Vec<Dataset>,
    /// Who encoded it.
    pub codecs: Vec<Codec>,
    /// What codecs make of flipped bits, for suites that ask.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub damage: Vec<Damage>,
    /// What became of bytes that went from codec to codec.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exchanges: Vec<Exchange>,
    /// The cells, in the order of the plan.
    pub cells: Vec<Cell>,
    /// Keys of this object that are absent, each with its reason.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub missing: BTreeMap<String, String>,
}

/// What a run is about.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Suite {
    /// Values to bytes and back, in memory.
    #[default]
    Codecs,
    /// Values to files and back.
    Persist,
    /// Rows of a database to files.
    Export,
}

impl Suite {
    /// The suite as one word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Codecs => "codecs",
            Self::Persist => "persist",
            Self::Export => "export",
        }
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde asks for")]
    fn is_codecs(&self) -> bool {
        *self == Self::Codecs
    }
}

impl fmt::Display for Suite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// What a codec makes of a document with one flipped bit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Damage {
    /// The codec's id.
    pub codec: String,
    /// The dataset's id.
    pub dataset: String,
    /// Bits flipped, each alone.
    pub flips: u64,
    /// Those that were read as another value, without an error.
    pub silent: u64,
    /// Those that were read as the same value.
    pub harmless: u64,
    /// Of as many bits of the same documents in a framed file, those that went unnoticed.
    pub framed_silent: u64,
}

/// What became of a value that went from codec to codec of one wire format.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exchange {
    /// The dataset's id.
    pub dataset: String,
    /// Ids of the codecs: the first encoded the value, the others decoded it, and each but the
    /// last encoded again what it had decoded.
    pub path: Vec<String>,
    /// How it went.
    pub outcome: Outcome,
    /// Which documented mapping made values equal; or where and why it went wrong.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

/// How an exchange went, the best first.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// All had the value.
    Equal,
    /// All had the value, by a documented mapping.
    Mapped,
    /// One read another value, without an error.
    Changed,
    /// One refused the bytes, or could not encode what it had decoded.
    Refused,
}

/// The program that wrote the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tool {
    /// `wiremark`.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// How long and how often each cell is measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Profile {
    /// `quick`, `default` or `full`.
    pub name: String,
    /// Fresh processes per cell, interleaved with those of the other cells.
    pub rounds: u32,
    /// Samples per process.
    pub samples: u32,
    /// The least CPU time that one sample's batch of operations takes.
    pub sample_ns: u64,
    /// Warm-up per process.
    pub warm_up_ns: u64,
}

/// A commit of the workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Commit {
    /// The full hash.
    pub hash: String,
    /// Whether tracked files differed from it.
    pub dirty: bool,
}

/// The machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// The processor's own name.
    pub cpu: String,
    /// Logical processors that the run could use.
    pub cores: u32,
    /// Memory.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub memory_bytes: Option<u64>,
    /// Operating system and kernel release.
    pub kernel: String,
    /// Absent keys and why.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub missing: BTreeMap<String, String>,
}

/// How the workers were built.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Build {
    /// `rustc --version`.
    pub rustc: String,
    /// The target triple.
    pub target: String,
    /// The cargo profile and what it pins.
    pub profile: String,
    /// Versions of the crates under test, from the lock file.
    pub crates: BTreeMap<String, String>,
}

/// Load averages of one minute.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Load {
    /// Before the first measured process.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub before: Option<f64>,
    /// After the last.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub after: Option<f64>,
}

/// What the A/A controls say: cells that ran under a second name as well.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Noise {
    /// The 95th percentile of `|ratio − 1|` over all pairs and rounds: 0.03 is 3 %.
    pub floor: f64,
    /// The ratios, second name to first, one for each pair and round.
    pub ratios: Vec<f64>,
}

/// A dataset that the run used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dataset {
    /// `people`, or the stem of the user's file.
    pub id: String,
    /// One line for a heading.
    pub title: String,
    /// `seed 42`, or the file's name without its folder.
    pub source: String,
    /// What it grew from, and what was done otherwise there.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub origin: String,
    /// Number of records (documents of a stream).
    pub records: u64,
    /// Hash of the value, the same on every machine.
    pub hash: String,
}

/// A codec that the run used: its profile as data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Codec {
    /// `json/serde_json/compact`.
    pub id: String,
    /// `JSON`.
    pub format: String,
    /// `serde_json`.
    pub library: String,
    /// The library's version.
    pub version: String,
    /// The document that defines the format.
    pub spec: String,
    /// SPDX expression.
    pub license: String,
    /// Whether somebody still mends it.
    pub maintained: bool,
    /// An advisory's id, if one says that nobody does.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub advisory: Option<String>,
    /// `codec` or `floor`.
    pub role: String,
    /// How documents of a stream follow one another.
    pub framing: String,
    /// Who refuses bytes after a document.
    pub trailing: String,
    /// One sentence to know before choosing it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub caveat: String,
    /// The program in another language that it is part of: `go1.19.8`, `perl 5.36.0`.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub peer: Option<String>,
}

/// One measured thing: an operation on a dataset by a codec in a mode.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// Which.
    #[serde(flatten)]
    pub id: CellId,
    /// How it went.
    pub status: Status,
    /// Why it has no figure, where it has none.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub reason: Option<String>,
    /// Whether the codec gave back an equal value before any clock ran.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub round_trip: Option<bool>,
    /// Documents that one operation encodes or decodes.
    pub documents: u64,
    /// Encoded size of what one operation handles.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub size_bytes: Option<u64>,
    /// The same bytes compressed by zstd at level 3.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub zstd_bytes: Option<u64>,
    /// What the counting pass saw in one operation.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub counts: Option<Counts>,
    /// Calls that one operation makes of the system, for operations on files.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub calls: Option<Calls>,
    /// By how much the process's resident memory rose at most during one operation, for
    /// operations on files.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub peak_rss_bytes: Option<u64>,
    /// CPU time of one operation, over rounds.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub time: Option<Time>,
    /// Wall time of one operation, over rounds.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub wall: Option<Time>,
    /// CPU time of copying the encoded bytes once (the floor), over rounds.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub copy: Option<Time>,
    /// The rounds themselves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<Round>,
    /// Absent keys and why.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub missing: BTreeMap<String, String>,
}

/// Names a cell. As text: `operation/dataset/codec/mode`, for files `/way` behind it, and
/// ` (again)` behind a control.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CellId {
    /// What is done.
    pub operation: Operation,
    /// The dataset's id.
    pub dataset: String,
    /// The codec's id.
    pub codec: String,
    /// How the codec and its buffer are kept.
    pub mode: Mode,
    /// How bytes come into a file or out of it: `buffer-8k`, `whole+atomic`. None in memory.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub way: Option<String>,
    /// True for the second name of an A/A control.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub again: bool,
}

impl fmt::Display for CellId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { operation, dataset, codec, mode, way, again } = self;
        write!(f, "{operation}/{dataset}/{codec}/{mode}")?;
        if let Some(way) = way {
            write!(f, "/{way}")?;
        }
        f.write_str(if *again { " (again)" } else { "" })
    }
}

impl CellId {
    /// Whether both stand in one table and are measured in turns: the codecs of an operation on a
    /// dataset in one mode; where files are written or read, the ways of one codec.
    pub fn is_beside(&self, other: &Self) -> bool {
        self.operation == other.operation
            && self.dataset == other.dataset
            && match (&self.way, &other.way) {
                (None, None) => self.mode == other.mode,
                (Some(_), Some(_)) => self.codec == other.codec,
                _ => false,
            }
    }
}

/// What is done.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// Value to bytes.
    Encode,
    /// Bytes to a value that owns what it holds.
    Decode,
    /// Bytes to a value that borrows its text from them.
    Borrow,
    /// Dropping the decoded value, which no other operation's time holds.
    Drop,
    /// Value to file, from opening to closing it.
    Write,
    /// File to value, from opening to closing it.
    Read,
    /// Rows at hand to file.
    Export,
    /// Rows from a database into memory.
    Query,
    /// Rows from a database into memory, then to a file.
    QueryExport,
    /// Rows from a database to a file one by one.
    StreamExport,
}

impl Operation {
    /// All, in the order in which tables show them.
    pub const ALL: [Self; 10] = [
        Self::Encode,
        Self::Decode,
        Self::Borrow,
        Self::Drop,
        Self::Write,
        Self::Read,
        Self::Export,
        Self::Query,
        Self::QueryExport,
        Self::StreamExport,
    ];

    /// The operation as one word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Encode => "encode",
            Self::Decode => "decode",
            Self::Borrow => "borrow",
            Self::Drop => "drop",
            Self::Write => "write",
            Self::Read => "read",
            Self::Export => "export",
            Self::Query => "query",
            Self::QueryExport => "query-export",
            Self::StreamExport => "stream-export",
        }
    }

    /// The clock whose time is compared.
    pub const fn clock(self) -> Clock {
        match self {
            Self::Encode | Self::Decode | Self::Borrow | Self::Drop => Clock::Cpu,
            Self::Write
            | Self::Read
            | Self::Export
            | Self::Query
            | Self::QueryExport
            | Self::StreamExport => Clock::Wall,
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Clock {
    /// CPU time of the thread, user and system: other programs hardly move it. Of the whole
    /// process where a runtime's collector works on threads of its own.
    Cpu,
    /// Time on the wall: a thread that waits for a disk or a database uses no CPU.
    Wall,
}

/// How the codec and its buffer are kept from one operation to the next.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// A new codec and a new buffer for each operation.
    Fresh,
    /// The same codec and the same buffer again.
    Reused,
    /// The dataset's records as documents of one stream.
    Stream,
}

impl Mode {
    /// All, in the order in which tables show them.
    pub const ALL: [Self; 3] = [Self::Reused, Self::Fresh, Self::Stream];

    /// The mode as one word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Fresh => "fresh",
            Self::Reused => "reused",
            Self::Stream => "stream",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// How a cell went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Measured.
    Ok,
    /// The codec says that it cannot, and does not.
    Unsupported,
    /// The codec lost or changed a part of the value, or an error came where none should.
    Failed,
    /// The measuring process did not end in time.
    Timeout,
    /// Left out, or outstanding.
    Skipped,
}

/// What the counting pass saw in one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Calls of `alloc`, `alloc_zeroed` and `realloc`.
    pub allocations: u64,
    /// Bytes asked for by them (a `realloc` counts what it grows by).
    pub allocated_bytes: u64,
    /// The most bytes alive at one time beyond those alive at the start. A runtime with a
    /// collector does not tell.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub peak_bytes: Option<u64>,
}

/// Calls that one operation makes of the system, counted below all buffers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Calls {
    /// `write`.
    pub write: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// `read`, the one that finds the end too.
    pub read: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Flushes of the file itself, which reach no system call.
    pub flush: u64,
    /// `fsync` and `fdatasync`.
    pub sync: u64,
    /// Files and folders opened.
    pub open: u64,
    /// Files renamed.
    pub rename: u64,
}

/// A time over rounds: each round gives the lower quartile of its samples, this is their median
/// and their spread.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Time {
    /// Median over rounds.
    pub median_ns: f64,
    /// Lowest round.
    pub low_ns: f64,
    /// Highest round.
    pub high_ns: f64,
}

/// One fresh process that measured a cell: [`Round::of_samples`]. Times are per operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Round {
    /// Counted from 0.
    pub round: u32,
    /// Lower quartile of the samples' CPU time: the figure that is compared.
    pub cpu_ns: f64,
    /// The fastest sample.
    pub cpu_min_ns: f64,
    /// The median sample.
    pub cpu_median_ns: f64,
    /// Lower quartile of the samples' wall time.
    pub wall_ns: f64,
    /// CPU time of copying the encoded bytes once, where the operation makes or reads bytes.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub copy_ns: Option<f64>,
    /// Mean of the samples' CPU time in user mode, for operations on files: the kernel tells the
    /// two apart by its ticks, which are long against a sample.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub user_ns: Option<f64>,
    /// The same in the kernel.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub system_ns: Option<f64>,
    /// Samples taken.
    pub samples: u32,
    /// Operations measured in all samples together.
    pub operations: u64,
    /// How often the kernel took the processor away while samples ran.
    pub preemptions: u64,
}
