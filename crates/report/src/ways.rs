//! The answer of a run about files, in a few lines: each codec's fastest way, what the slowest
//! costs, and what a flipped bit does.

use wiremark_record::{Cell, Operation, Run};

use crate::number;
use crate::section::Section;
use crate::table::{Row, Table};
use crate::text::plain;

/// The sections of a run; none for one that is not about files.
pub(crate) fn sections(run: &Run, tables: &[Table<'_>]) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    for table in tables.iter().filter(|table| table.codec.is_some()) {
        let title = format!("{} {}", table.operation, plain(table.dataset));
        let Some(line) = fastest_and_slowest(table) else { continue };
        match sections.last_mut() {
            Some(section) if section.title == title => section.lines.push(line),
            _ => sections.push(Section {
                title,
                head: vec![
                    "codec",
                    "fastest way",
                    "slowest way",
                    "time",
                    "calls",
                    "time",
                    "calls",
                    "slower",
                ],
                lines: vec![line],
                words: 3,
                note: "",
            }),
        }
    }
    for section in &mut sections {
        section.title.push_str(": the fastest way of each, and the slowest");
        section.note = "ways without a promise (+data, +atomic) or a cold file (+evicted); calls \
                        of write or read; time and calls of the fastest, then of the slowest";
    }
    sections.extend(damage(run));
    sections
}

/// A codec's line: its fastest and slowest way of those that promise nothing.
fn fastest_and_slowest(table: &Table<'_>) -> Option<Vec<String>> {
    let is_plain = |row: &&Row<'_>| {
        let way = row.cell.id.way.as_deref().unwrap_or_default();
        row.cell.is_measured() && !way.contains('+')
    };
    // They are sorted by time.
    let mut rows = table.ranked.iter().filter(is_plain);
    let first = rows.next()?;
    let last = rows.next_back();
    let time = |cell: &Cell| {
        cell.compared_time()
            .map_or_else(|| number::NONE.to_owned(), |time| number::time(time.median_ns))
    };
    let calls = |cell: &Cell| match (cell.calls, cell.id.operation) {
        (Some(calls), Operation::Read) => number::grouped(calls.read),
        (Some(calls), _) => number::grouped(calls.write),
        (None, _) => number::NONE.to_owned(),
    };
    let none = || number::NONE.to_owned();
    let ratio = last.and_then(|last| last.cell.ratio_to(first.cell));
    Some(vec![
        plain(table.codec?).into_owned(),
        first.name(),
        last.map_or_else(none, Row::name),
        time(first.cell),
        calls(first.cell),
        last.map_or_else(none, |row| time(row.cell)),
        last.map_or_else(none, |row| calls(row.cell)),
        ratio.map_or_else(none, |ratio| format!("{}×", number::ratio(ratio.ratio))),
    ])
}

/// What flipped bits do, codec by codec, over all datasets of the run.
fn damage(run: &Run) -> Option<Section> {
    let mut codecs: Vec<&str> = Vec::new();
    for found in &run.damage {
        if !codecs.contains(&found.codec.as_str()) {
            codecs.push(&found.codec);
        }
    }
    let lines: Vec<Vec<String>> = codecs
        .into_iter()
        .map(|codec| {
            let of = || run.damage.iter().filter(|found| found.codec == codec);
            let flips: u64 = of().map(|found| found.flips).sum();
            let part = |count: u64| {
                if flips == 0 {
                    number::NONE.to_owned()
                } else {
                    number::percent(count as f64 / flips as f64)
                }
            };
            vec![
                plain(codec).into_owned(),
                number::grouped(flips),
                part(of().map(|found| found.silent).sum()),
                part(of().map(|found| found.harmless).sum()),
                part(of().map(|found| found.framed_silent).sum()),
            ]
        })
        .collect();
    (!lines.is_empty()).then(|| Section {
        title: "Flipped bits of documents".to_owned(),
        head: vec!["codec", "bits flipped", "another value", "the same value", "framed"],
        lines,
        words: 1,
        note: "another value: read without an error and wrong; framed: the same records in a \
               framed file, where a checksum stands beside each",
    })
}
