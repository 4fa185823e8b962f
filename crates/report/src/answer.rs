//! The answer in a few lines: per dataset, who is fastest and whose bytes are fewest.

use wiremark_record::stats::Verdict;
use wiremark_record::{Mode, Operation, Run};

use crate::number;
use crate::table::{Row, Standing, Table, datasets};
use crate::text::plain;

/// The answers for all datasets.
#[derive(Debug)]
pub(crate) struct Answers {
    /// The mode that they are about, but where a dataset names another.
    pub mode: Mode,
    pub datasets: Vec<Answer>,
    /// The fewest rounds on which an answer stands, if that is a first look.
    pub first_look: Option<u32>,
}

/// The answers for one dataset; empty lists where nothing was measured.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The dataset's id, and its mode if that is another than the others'.
    pub dataset: String,
    /// To encode, to decode, smallest: as [`QUESTIONS`].
    pub winners: [Vec<Winner>; 3],
}

/// What the lists of an [`Answer`] are about.
pub(crate) const QUESTIONS: [&str; 3] = ["fastest encode", "fastest decode", "smallest"];

/// One who wins, alone or with others.
#[derive(Debug)]
pub(crate) struct Winner {
    /// Nothing, `= ` for a tie with the first, `~ ` for one that cannot be told apart from it.
    pub mark: &'static str,
    pub codec: String,
    /// A time or a size; empty where `codec` says how many more there are.
    pub figure: String,
}

/// So many winners are named; of more, it is said how many.
const MOST: usize = 6;

fn at_most(mut winners: Vec<Winner>) -> Vec<Winner> {
    let more = winners.len().saturating_sub(MOST);
    // One more takes no more room than its count.
    if more > 1 {
        winners.truncate(MOST);
        let codec = format!("and {more} more");
        winners.push(Winner { mark: "", codec, figure: String::new() });
    }
    winners
}

impl Answers {
    /// `Fastest and smallest, mode reused`, and how sure that is.
    pub(crate) fn title(&self) -> String {
        let mut title = format!("Fastest and smallest, mode {}", self.mode);
        if let Some(rounds) = self.first_look {
            title = format!(
                "{title} (first look: {})",
                number::plural(rounds.into(), "round")
            );
        }
        title
    }

    /// The answers in the first mode, in the order of tables, in which a codec was measured.
    pub(crate) fn new(run: &Run, tables: &[Table<'_>]) -> Option<Self> {
        let is_answer = |table: &Table<'_>| {
            let operation = table.operation;
            matches!(operation, Operation::Encode | Operation::Decode)
                && !table.ranked.is_empty()
        };
        let first_mode = |dataset: Option<&str>| {
            Mode::ALL.into_iter().find(|mode| {
                tables.iter().any(|table| {
                    table.mode == *mode
                        && is_answer(table)
                        && dataset.is_none_or(|dataset| table.dataset == dataset)
                })
            })
        };
        let mode = first_mode(None)?;
        let answer = |dataset: &str| {
            let own = first_mode(Some(dataset)).unwrap_or(mode);
            let table = |operation| {
                tables.iter().find(|table| {
                    table.dataset == dataset
                        && table.operation == operation
                        && table.mode == own
                })
            };
            let (encode, decode) = (table(Operation::Encode), table(Operation::Decode));
            let id = plain(dataset);
            Answer {
                dataset: if own == mode {
                    id.into_owned()
                } else {
                    format!("{id} ({own})")
                },
                winners: [
                    encode.map(|table| fastest(run, table)).unwrap_or_default(),
                    decode.map(|table| fastest(run, table)).unwrap_or_default(),
                    encode.or(decode).map(smallest).unwrap_or_default(),
                ],
            }
        };
        Some(Self {
            mode,
            datasets: datasets(run).into_iter().map(answer).collect(),
            first_look: tables
                .iter()
                .filter(|table| is_answer(table))
                .filter_map(Table::first_look)
                .min(),
        })
    }
}

fn winner(mark: &'static str, row: &Row<'_>, figure: String) -> Winner {
    Winner { mark, codec: plain(&row.cell.id.codec).into_owned(), figure }
}

fn fastest(run: &Run, table: &Table<'_>) -> Vec<Winner> {
    let Some(best) = table.fastest.and_then(|best| table.ranked.get(best)) else {
        return Vec::new();
    };
    let time = |row: &Row<'_>| {
        row.cell.time.map_or_else(String::new, |t| number::time(t.median_ns))
    };
    let mut winners = vec![winner("", best, time(best))];
    for row in table.ranked.iter().filter(|row| row.cell.id != best.cell.id) {
        // The rows' standings are to the reference, if there is one.
        let verdict = match row.standing {
            Standing::Compared(comparison) if table.base == table.fastest => {
                Some(comparison.verdict)
            }
            _ => run.compare(row.cell, best.cell).map(|comparison| comparison.verdict),
        };
        match verdict {
            Some(Verdict::Tie) => winners.push(winner("= ", row, time(row))),
            Some(Verdict::Unsure) => winners.push(winner("~ ", row, time(row))),
            _ => {}
        }
    }
    at_most(winners)
}

fn smallest(table: &Table<'_>) -> Vec<Winner> {
    let sizes = table.ranked.iter().filter_map(|row| row.cell.size_bytes);
    let Some(least) = sizes.min() else { return Vec::new() };
    let size = format!("{} B", number::grouped(least));
    let smallest = table.ranked.iter().filter(|row| row.cell.size_bytes == Some(least));
    let winners = smallest
        .enumerate()
        .map(|(at, row)| winner(if at == 0 { "" } else { "= " }, row, size.clone()))
        .collect();
    at_most(winners)
}
