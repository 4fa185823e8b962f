//! What the tables hold, whatever they are rendered as.

use std::collections::BTreeSet;

use wiremark_record::stats::{Bounds, Verdict};
use wiremark_record::{
    Calls, Cell, CellId, Codec, Comparison, Mode, Operation, Run, Status, Time,
};

use crate::number;
use crate::text::plain;

/// The cells of one operation on one dataset: those of all codecs in one mode; or, where files are
/// written and read, those of one codec in all ways. What may be compared.
#[derive(Debug)]
pub(crate) struct Table<'a> {
    pub dataset: &'a str,
    pub operation: Operation,
    pub mode: Mode,
    /// The codec whose ways these are, if they are.
    pub codec: Option<&'a str>,
    /// Documents of one operation, where all cells agree.
    pub documents: Option<u64>,
    /// Codecs with a figure, fastest first; where a format has several libraries, the codecs of
    /// each format stand together.
    pub ranked: Vec<Row<'a>>,
    /// Floors, which are not ranked.
    pub floors: Vec<Row<'a>>,
    /// Index in `ranked` of the one that none is faster than.
    pub fastest: Option<usize>,
    /// Index in `ranked` of what ratios are to: the reference, or the fastest.
    pub base: Option<usize>,
    /// Cells without a figure.
    pub unmeasured: Vec<Note<'a>>,
    /// Measures that cells with a figure lack.
    pub missing: Vec<Note<'a>>,
}

/// A line of a table.
#[derive(Debug)]
pub(crate) struct Row<'a> {
    pub cell: &'a Cell,
    pub is_maintained: bool,
    /// Whether it is a program in another language.
    pub is_peer: bool,
    /// Whether the table holds several libraries of its format and none of them is faster.
    pub is_best_of_format: bool,
    pub standing: Standing,
}

/// How a row stands to the base of its table.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Standing {
    /// It is the base, and the fastest.
    Fastest,
    /// It is the base, and no other has a time.
    Only,
    /// It is the base that the user chose.
    Reference,
    /// It is not the base.
    Compared(Comparison),
    /// It has no time, or no round in common with the base.
    Apart,
    /// It is no codec.
    Floor,
}

/// A reason with those whom it concerns.
#[derive(Debug)]
pub(crate) struct Note<'a> {
    /// The status of the cells, or the measure that they lack.
    pub what: &'a str,
    pub reason: &'a str,
    pub codecs: Vec<&'a str>,
}

/// All tables of a run: datasets in its order, operations and modes in theirs.
pub(crate) fn tables<'a>(run: &'a Run, reference: Option<&str>) -> Vec<Table<'a>> {
    let mut tables = Vec::new();
    for dataset in datasets(run) {
        for operation in Operation::ALL {
            let mut groups: Vec<Vec<&Cell>> = Vec::new();
            for cell in run.cells_of(operation, dataset) {
                let beside = |group: &&mut Vec<&Cell>| {
                    group.first().is_some_and(|first| first.id.is_beside(&cell.id))
                };
                match groups.iter_mut().find(beside) {
                    Some(group) => group.push(cell),
                    None => groups.push(vec![cell]),
                }
            }
            // Modes in their order; the codecs of files in that of the run.
            groups.sort_by_key(|group| {
                let id = group.first().map(|cell| &cell.id).filter(|id| id.way.is_none());
                id.and_then(|id| Mode::ALL.iter().position(|mode| *mode == id.mode))
            });
            tables.extend(groups.iter().map(|cells| Table::new(run, cells, reference)));
        }
    }
    tables
}

/// Ids of datasets: those that the run describes, then those that only cells name.
pub(crate) fn datasets(run: &Run) -> Vec<&str> {
    let described = run.datasets.iter().map(|dataset| dataset.id.as_str());
    let named = run.cells.iter().map(|cell| cell.id.dataset.as_str());
    let mut seen = BTreeSet::new();
    described.chain(named).filter(|id| seen.insert(*id)).collect()
}

/// The run's description of a codec.
pub(crate) fn codec<'a>(run: &'a Run, id: &str) -> Option<&'a Codec> {
    run.codecs.iter().find(|codec| codec.id == id)
}

impl<'a> Table<'a> {
    fn new(run: &'a Run, cells: &[&'a Cell], reference: Option<&str>) -> Self {
        // `cells` is not empty; were it, this would be an empty table of the first kind.
        let id = cells.first().map(|cell| &cell.id);
        let codec_of_ways = id.filter(|id| id.way.is_some()).map(|id| id.codec.as_str());
        // A reference is a codec, and the ways of one are not held against another's.
        let reference = reference.filter(|_| codec_of_ways.is_none());
        let (mut ranked, mut floors) = (Vec::new(), Vec::new());
        let (mut unmeasured, mut missing) = (Vec::new(), Vec::new());
        for &cell in cells {
            let codec = codec(run, &cell.id.codec);
            let is_floor = codec.is_some_and(|codec| codec.role == "floor");
            let row = Row {
                cell,
                is_maintained: codec.is_none_or(|codec| codec.maintained),
                is_peer: codec.is_some_and(|codec| codec.peer.is_some()),
                is_best_of_format: false,
                standing: if is_floor { Standing::Floor } else { Standing::Apart },
            };
            if cell.status != Status::Ok {
                let reason = cell.reason.as_deref().unwrap_or("no reason was recorded");
                note(&mut unmeasured, status(cell.status), reason, name(&cell.id));
                continue;
            }
            // What no peer tells is said once, at the foot.
            let is_peer = codec.is_some_and(|codec| codec.peer.is_some());
            let missing_keys =
                cell.missing.iter().filter(|(key, _)| !is_peer || !of_no_peer(key));
            for (key, reason) in missing_keys {
                note(&mut missing, key, reason, name(&cell.id));
            }
            (if is_floor { &mut floors } else { &mut ranked }).push(row);
        }

        let time = |row: &Row<'_>| {
            row.cell.compared_time().map_or(f64::INFINITY, |t| t.median_ns)
        };
        ranked.sort_by(|a, b| time(a).total_cmp(&time(b)));
        floors.sort_by(|a, b| time(a).total_cmp(&time(b)));
        let fastest = fastest(run, &ranked);
        let fastest = group_by_format(run, &mut ranked, fastest);
        let chosen = ranked.iter().position(|row| {
            row.cell.is_measured() && Some(row.cell.id.codec.as_str()) == reference
        });
        let base = chosen.or(fastest);
        let measured = ranked.iter().filter(|row| row.cell.is_measured()).count();
        if let Some(base) = base {
            let base_cell = ranked.get(base).map(|row| row.cell);
            for (at, row) in ranked.iter_mut().enumerate() {
                row.standing = if at == base && Some(at) == chosen {
                    Standing::Reference
                } else if at == base {
                    if measured == 1 { Standing::Only } else { Standing::Fastest }
                } else {
                    base_cell
                        .and_then(|base| run.compare(row.cell, base))
                        .map_or(Standing::Apart, Standing::Compared)
                };
            }
        }

        let apart = ranked.iter().filter(|row| {
            matches!(row.standing, Standing::Apart) && row.cell.is_measured()
        });
        for row in apart {
            let reason = "no round in common with what ratios are to";
            note(&mut missing, "ratio", reason, name(&row.cell.id));
        }

        let documents = id.and(cells.first()).map(|cell| cell.documents);
        Self {
            dataset: id.map_or("", |id| id.dataset.as_str()),
            operation: id.map_or(Operation::Encode, |id| id.operation),
            mode: id.map_or(Mode::Reused, |id| id.mode),
            codec: codec_of_ways,
            documents: documents
                .filter(|first| cells.iter().all(|cell| cell.documents == *first)),
            ranked,
            floors,
            fastest,
            base,
            unmeasured,
            missing,
        }
    }

    /// Ranked rows, then floors.
    pub(crate) fn rows(&self) -> impl Iterator<Item = &Row<'a>> {
        self.ranked.iter().chain(&self.floors)
    }

    /// The codec that ratios are to, or the way.
    pub(crate) fn base_name(&self) -> Option<String> {
        Some(self.ranked.get(self.base?)?.name())
    }

    /// What the table is about, in words: `encode people reused`, `write people json/serde_json`.
    pub(crate) fn title(&self) -> String {
        let last = self.codec.map_or_else(|| self.mode.as_str().into(), plain);
        format!("{} {} {last}", self.operation, plain(self.dataset))
    }

    /// The fewest rounds on which a comparison stands, if that is a first look.
    pub(crate) fn first_look(&self) -> Option<u32> {
        self.ranked
            .iter()
            .filter_map(|row| match row.standing {
                Standing::Compared(comparison) => Some(comparison.ratio),
                _ => None,
            })
            .filter(wiremark_record::stats::Ratio::is_first_look)
            .map(|ratio| ratio.rounds)
            .min()
    }
}

/// Puts the codecs of each wire format together, formats in the order of their fastest codec, and
/// marks that one; only where some format has several libraries. Returns where the row at
/// `fastest` went.
fn group_by_format(
    run: &Run,
    ranked: &mut [Row<'_>],
    fastest: Option<usize>,
) -> Option<usize> {
    let about = |row: &Row<'_>| {
        let codec = codec(run, &row.cell.id.codec)?;
        Some((codec.format.as_str(), codec.library.as_str()))
    };
    let has_several = |row: &Row<'_>| {
        let Some((format, library)) = about(row) else { return false };
        let is_rival = |other: &Row<'_>| {
            about(other).is_some_and(|o| o.0 == format && o.1 != library)
        };
        ranked.iter().any(is_rival)
    };
    if ranked.iter().any(|row| row.cell.id.way.is_some())
        || !ranked.iter().any(has_several)
    {
        return fastest;
    }
    let best = fastest.and_then(|at| ranked.get(at)).map(|row| row.cell.id.clone());
    let several: Vec<bool> = ranked.iter().map(has_several).collect();
    // They are sorted by time: the first of each format is its fastest.
    let mut formats: Vec<&str> = Vec::new();
    let mut places = Vec::new();
    for row in ranked.iter() {
        let format = about(row).map_or("", |(format, _)| format);
        let place = formats.iter().position(|known| *known == format);
        places.push(place.unwrap_or_else(|| {
            formats.push(format);
            formats.len() - 1
        }));
    }
    let mut seen = vec![false; formats.len()];
    for ((row, &place), several) in ranked.iter_mut().zip(&places).zip(several) {
        if let Some(seen) = seen.get_mut(place)
            && !*seen
        {
            *seen = true;
            row.is_best_of_format = several && row.cell.is_measured();
        }
    }
    let format_of = |row: &Row<'_>| {
        let format = about(row).map_or("", |(format, _)| format);
        formats.iter().position(|known| *known == format)
    };
    ranked.sort_by_key(format_of);
    ranked.iter().position(|row| Some(&row.cell.id) == best.as_ref())
}

/// Stands behind the fastest library of a format that has several in the table.
pub(crate) const BEST: &str = " ★";

impl Row<'_> {
    /// The codec; or the way with its mode, where that is not the usual one.
    pub(crate) fn name(&self) -> String {
        let id = &self.cell.id;
        let name = plain(name(id));
        match (&id.way, id.mode) {
            (None, _) | (Some(_), Mode::Reused) => name.into_owned(),
            (Some(_), mode) => format!("{name} {mode}"),
        }
    }
}

impl Row<'_> {
    /// What stands behind the codec's id.
    pub(crate) fn marks(&self) -> String {
        let best = if self.is_best_of_format { BEST } else { "" };
        let unmaintained = if self.is_maintained { "" } else { UNMAINTAINED };
        format!("{best}{unmaintained}")
    }
}

/// What tells a cell from the others of its table.
fn name(id: &CellId) -> &str {
    id.way.as_deref().unwrap_or(&id.codec)
}

/// The row than which no other is found faster. That is the first, by time, but where medians
/// over rounds and ratios of rounds disagree.
fn fastest(run: &Run, ranked: &[Row<'_>]) -> Option<usize> {
    let mut best = ranked.iter().position(|row| row.cell.is_measured())?;
    for (at, row) in ranked.iter().enumerate().skip(best + 1) {
        let Some(champion) = ranked.get(best) else { break };
        let comparison = run.compare(row.cell, champion.cell);
        if comparison.is_some_and(|c| c.verdict == Verdict::Faster) {
            best = at;
        }
    }
    Some(best)
}

/// The status as the schema writes it.
pub(crate) fn status(status: Status) -> &'static str {
    match status {
        Status::Ok => "ok",
        Status::Unsupported => "unsupported",
        Status::Failed => "failed",
        Status::Timeout => "timeout",
        Status::Skipped => "skipped",
    }
}

fn note<'a>(notes: &mut Vec<Note<'a>>, what: &'a str, reason: &'a str, codec: &'a str) {
    match notes.iter_mut().find(|note| note.what == what && note.reason == reason) {
        Some(note) => note.codecs.push(codec),
        None => notes.push(Note { what, reason, codecs: vec![codec] }),
    }
}

/// A column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    Codec,
    Way,
    Ratio,
    Bounds,
    Verdict,
    Time,
    Wall,
    User,
    System,
    Rate,
    Throughput,
    Writes,
    Reads,
    Syncs,
    Size,
    Zstd,
    Copy,
    Allocations,
    Peak,
    Rss,
}

impl Column {
    /// All, from left to right.
    pub(crate) const ALL: [Self; 20] = [
        Self::Codec,
        Self::Way,
        Self::Ratio,
        Self::Bounds,
        Self::Verdict,
        Self::Time,
        Self::Wall,
        Self::User,
        Self::System,
        Self::Rate,
        Self::Throughput,
        Self::Writes,
        Self::Reads,
        Self::Syncs,
        Self::Size,
        Self::Zstd,
        Self::Copy,
        Self::Allocations,
        Self::Peak,
        Self::Rss,
    ];

    /// All, the one that a narrow table gives up last first.
    pub(crate) const BY_IMPORTANCE: [Self; 20] = [
        Self::Codec,
        Self::Way,
        Self::Time,
        Self::Wall,
        Self::Ratio,
        Self::Verdict,
        Self::Size,
        Self::Writes,
        Self::Reads,
        Self::Bounds,
        Self::User,
        Self::System,
        Self::Rate,
        Self::Throughput,
        Self::Syncs,
        Self::Allocations,
        Self::Copy,
        Self::Zstd,
        Self::Peak,
        Self::Rss,
    ];

    /// What a table without any width still shows.
    pub(crate) const NEEDED: usize = 3;

    pub(crate) fn header(self, bounds: &'static str) -> &'static str {
        match self {
            Self::Codec => "codec",
            Self::Way => "way",
            Self::Ratio => "ratio",
            Self::Bounds => bounds,
            Self::Verdict => "verdict",
            Self::Time | Self::Wall => "time",
            Self::User => "user",
            Self::System => "system",
            Self::Rate => "ops/s",
            Self::Throughput => "MB/s",
            Self::Writes => "writes",
            Self::Reads => "reads",
            Self::Syncs => "syncs",
            Self::Size => "size B",
            Self::Zstd => "zstd B",
            Self::Copy => "× copy",
            Self::Allocations => "allocs",
            Self::Peak => "peak B",
            Self::Rss => "RSS B",
        }
    }

    /// Whether texts end at the same column instead of beginning there.
    pub(crate) fn is_right(self) -> bool {
        !matches!(self, Self::Codec | Self::Way | Self::Verdict)
    }

    /// The key of `missing` that says why the column is empty.
    pub(crate) fn key(self) -> Option<&'static str> {
        match self {
            Self::Ratio => Some("ratio"),
            Self::Time | Self::Wall => Some("time"),
            Self::Writes | Self::Reads | Self::Syncs => Some("calls"),
            Self::Rss => Some("peak_rss_bytes"),
            Self::Size => Some("size_bytes"),
            Self::Zstd => Some("zstd_bytes"),
            Self::Copy => Some("copy"),
            Self::Allocations => Some("counts"),
            _ => None,
        }
    }

    /// The cell's text, `None` where there is no figure.
    pub(crate) fn text(self, row: &Row<'_>) -> Option<String> {
        let cell = row.cell;
        // A time is of one clock, and only what is counted somewhere is a figure.
        let is_file = cell.id.way.is_some();
        let times = |time: Option<Time>| Some(number::time(time?.median_ns));
        let counted = |count: fn(&Calls) -> u64| {
            cell.calls.as_ref().map(count).map(number::grouped)
        };
        match self {
            Self::Codec if is_file => None,
            Self::Way => is_file.then(|| row.name()),
            Self::Codec => Some(format!("{}{}", plain(&cell.id.codec), row.marks())),
            Self::Ratio => match row.standing {
                Standing::Fastest | Standing::Only | Standing::Reference => {
                    Some(number::ratio(1.0))
                }
                Standing::Compared(comparison) => {
                    Some(number::ratio(comparison.ratio.ratio))
                }
                Standing::Apart => None,
                Standing::Floor => Some(String::new()),
            },
            Self::Bounds => match row.standing {
                Standing::Compared(comparison) => Some(bounds(&comparison)),
                _ => Some(String::new()),
            },
            Self::Verdict => Some(match row.standing {
                Standing::Fastest => "fastest".to_owned(),
                Standing::Only => "only".to_owned(),
                Standing::Reference => "reference".to_owned(),
                Standing::Compared(comparison) => comparison.verdict.to_string(),
                Standing::Apart => return None,
                Standing::Floor => "floor".to_owned(),
            }),
            Self::Time => times(cell.time.filter(|_| !is_file)),
            Self::Wall => times(cell.wall.filter(|_| is_file)),
            Self::User => times(cell.user_time()),
            Self::System => times(cell.system_time()),
            Self::Writes => counted(|calls| calls.write),
            Self::Reads => counted(|calls| calls.read),
            Self::Syncs => counted(|calls| calls.sync),
            Self::Rss => Some(number::grouped(cell.peak_rss_bytes?)),
            Self::Rate => Some(number::rate(cell.documents_per_s()?)),
            Self::Throughput => Some(number::megabytes(cell.bytes_per_s()?)),
            Self::Size => Some(number::grouped(cell.size_bytes?)),
            Self::Zstd => Some(number::grouped(cell.zstd_bytes?)),
            Self::Copy => Some(number::ratio(cell.ratio_to_copy()?.ratio)),
            Self::Allocations => Some(number::grouped(cell.counts?.allocations)),
            Self::Peak => Some(number::grouped(cell.counts?.peak_bytes?)),
        }
    }
}

/// Whether a measure is never asked of a program in another language.
fn of_no_peer(key: &str) -> bool {
    matches!(key, "copy" | "zstd_bytes" | "counts" | "peak_bytes" | "peak_rss_bytes")
}

/// Stands behind the id of a codec that nobody mends.
pub(crate) const UNMAINTAINED: &str = " †";

pub(crate) fn bounds(comparison: &Comparison) -> String {
    let ratio = &comparison.ratio;
    let (low, high) = (number::ratio(ratio.low), number::ratio(ratio.high));
    match ratio.bounds {
        Bounds::Interval => format!("[{low}, {high}]"),
        // The range of one round is the ratio itself.
        Bounds::Range if ratio.rounds == 1 => String::new(),
        Bounds::Range => format!("{low}..{high}"),
    }
}

/// The header of [`Column::Bounds`]: what all bounds of all tables are.
pub(crate) fn bounds_header(tables: &[Table<'_>]) -> &'static str {
    let of = |wanted: Bounds| {
        tables.iter().flat_map(|table| &table.ranked).any(
            |row| matches!(row.standing, Standing::Compared(c) if c.ratio.bounds == wanted),
        )
    };
    match (of(Bounds::Interval), of(Bounds::Range)) {
        (true, true) => "bounds",
        (false, true) => "range",
        _ => "95 % interval",
    }
}

/// The columns that have a figure in some table, from left to right.
pub(crate) fn columns(tables: &[Table<'_>]) -> Vec<Column> {
    let has_text = |column: Column| {
        tables
            .iter()
            .flat_map(Table::rows)
            .any(|row| column.text(row).is_some_and(|text| !text.is_empty()))
    };
    Column::ALL.into_iter().filter(|column| has_text(*column)).collect()
}
