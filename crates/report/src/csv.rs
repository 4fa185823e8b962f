//! One row for each cell and measure, for a spreadsheet or a data frame.

use std::fmt::Display;

use wiremark_record::stats::{Bounds, Ratio};
use wiremark_record::{Calls, Cell, Run, Status, Time};

use crate::table::{Standing, Table, status, tables};
use crate::text::plain;

/// The columns; README says what each holds.
const HEADER: [&str; 18] = [
    "run",
    "operation",
    "dataset",
    "codec",
    "mode",
    "way",
    "again",
    "status",
    "measure",
    "unit",
    "value",
    "low",
    "high",
    "bounds",
    "rounds",
    "base",
    "verdict",
    "reason",
];

/// A measure of a cell; absent numbers are empty fields.
#[derive(Default)]
struct Measure<'a> {
    name: &'a str,
    unit: &'a str,
    value: Option<String>,
    low: Option<f64>,
    high: Option<f64>,
    bounds: &'a str,
    rounds: Option<u32>,
    base: String,
    verdict: &'a str,
    reason: &'a str,
}

/// The report as RFC 4180 text.
pub(crate) fn render(run: &Run, reference: Option<&str>) -> String {
    let tables = tables(run, reference);
    let mut out = String::new();
    record(&mut out, &HEADER);
    for cell in &run.cells {
        for measure in measures(cell, &tables) {
            let number = |number: Option<f64>| number.map_or_else(String::new, text);
            record(
                &mut out,
                &[
                    safe(&run.id),
                    cell.id.operation.to_string(),
                    safe(&cell.id.dataset),
                    safe(&cell.id.codec),
                    cell.id.mode.to_string(),
                    safe(cell.id.way.as_deref().unwrap_or_default()),
                    cell.id.again.to_string(),
                    status(cell.status).to_owned(),
                    measure.name.to_owned(),
                    measure.unit.to_owned(),
                    measure.value.unwrap_or_default(),
                    number(measure.low),
                    number(measure.high),
                    measure.bounds.to_owned(),
                    measure.rounds.map_or_else(String::new, |rounds| rounds.to_string()),
                    safe(&measure.base),
                    measure.verdict.to_owned(),
                    safe(measure.reason),
                ],
            );
        }
    }
    out
}

fn measures<'a>(cell: &'a Cell, tables: &[Table<'a>]) -> Vec<Measure<'a>> {
    if cell.status != Status::Ok {
        let reason = cell.reason.as_deref().unwrap_or_default();
        return vec![Measure { reason, ..Measure::default() }];
    }
    let why = |key: &str| cell.missing.get(key).map_or("", String::as_str);
    let time = |name, key, time: Option<Time>| Measure {
        name,
        unit: "ns",
        value: time.map(|time| text(time.median_ns)),
        low: time.map(|time| time.low_ns),
        high: time.map(|time| time.high_ns),
        bounds: if time.is_some() { "range" } else { "" },
        rounds: time.and_then(|_| u32::try_from(cell.rounds.len()).ok()),
        reason: if time.is_none() { why(key) } else { "" },
        ..Measure::default()
    };
    let count = |name, unit, key, count: Option<u64>| Measure {
        name,
        unit,
        value: count.map(text),
        reason: if count.is_none() { why(key) } else { "" },
        ..Measure::default()
    };
    let rate = |name, unit, rate: Option<f64>| Measure {
        name,
        unit,
        value: rate.map(text),
        ..Measure::default()
    };
    let ratio = |name, ratio: Option<Ratio>| Measure {
        name,
        unit: "ratio",
        value: ratio.map(|ratio| text(ratio.ratio)),
        low: ratio.map(|ratio| ratio.low),
        high: ratio.map(|ratio| ratio.high),
        bounds: match ratio.map(|ratio| ratio.bounds) {
            Some(Bounds::Interval) => "interval",
            Some(Bounds::Range) => "range",
            None => "",
        },
        rounds: ratio.map(|ratio| ratio.rounds),
        ..Measure::default()
    };

    let mut measures = vec![
        time("cpu_time", "time", cell.time),
        time("wall_time", "wall", cell.wall),
        time("copy_time", "copy", cell.copy),
    ];
    let place = tables.iter().find_map(|table| {
        let row = table.ranked.iter().find(|row| std::ptr::eq(row.cell, cell))?;
        Some((table.base_name()?, row.standing))
    });
    if let Some((base, standing)) = place {
        measures.push(match standing {
            Standing::Compared(comparison) => Measure {
                base,
                verdict: comparison.verdict.as_str(),
                ..ratio("ratio_to_base", Some(comparison.ratio))
            },
            Standing::Fastest | Standing::Only | Standing::Reference => Measure {
                base,
                value: Some(text(1)),
                verdict: "base",
                ..ratio("ratio_to_base", None)
            },
            Standing::Apart | Standing::Floor => Measure {
                base,
                reason: "no round in common with the base",
                ..ratio("ratio_to_base", None)
            },
        });
    }
    let counts =
        |pick: fn(&wiremark_record::Counts) -> u64| cell.counts.as_ref().map(pick);
    measures.extend([
        Measure {
            reason: if cell.copy.is_none() { why("copy") } else { "" },
            ..ratio("ratio_to_copy", cell.ratio_to_copy())
        },
        count("documents", "documents", "", Some(cell.documents)),
        rate("documents_per_s", "1/s", cell.documents_per_s()),
        rate("bytes_per_s", "B/s", cell.bytes_per_s()),
        count("size", "B", "size_bytes", cell.size_bytes),
        count("zstd_size", "B", "zstd_bytes", cell.zstd_bytes),
        count("allocations", "calls", "counts", counts(|counts| counts.allocations)),
        count("allocated", "B", "counts", counts(|counts| counts.allocated_bytes)),
        count(
            "peak",
            "B",
            if cell.counts.is_some() { "peak_bytes" } else { "counts" },
            cell.counts.and_then(|counts| counts.peak_bytes),
        ),
    ]);
    if cell.id.way.is_some() {
        let calls = |pick: fn(&Calls) -> u64| cell.calls.as_ref().map(pick);
        measures.extend([
            time("user_time", "", cell.user_time()),
            time("system_time", "", cell.system_time()),
            count("write_calls", "calls", "calls", calls(|calls| calls.write)),
            count("written", "B", "calls", calls(|calls| calls.written_bytes)),
            count("read_calls", "calls", "calls", calls(|calls| calls.read)),
            count("read", "B", "calls", calls(|calls| calls.read_bytes)),
            count("flush_calls", "calls", "calls", calls(|calls| calls.flush)),
            count("sync_calls", "calls", "calls", calls(|calls| calls.sync)),
            count("peak_rss", "B", "peak_rss_bytes", cell.peak_rss_bytes),
        ]);
    }
    measures
}

fn text(number: impl Display) -> String {
    number.to_string()
}

/// Text in one line that no spreadsheet takes for a formula: an apostrophe goes before what
/// would begin one.
fn safe(text: &str) -> String {
    let text = plain(text);
    match text.trim_start().chars().next() {
        Some('=' | '+' | '-' | '@' | '＝' | '＋' | '－' | '＠') => format!("'{text}"),
        _ => text.into_owned(),
    }
}

/// Appends one record: fields that need it in quotes, a carriage return and a line feed.
fn record<const N: usize>(out: &mut String, fields: &[impl AsRef<str>; N]) {
    for (at, field) in fields.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        let field = field.as_ref();
        if field.contains([',', '"', '\r', '\n']) {
            out.push('"');
            out.push_str(&field.replace('"', "\"\""));
            out.push('"');
        } else {
            out.push_str(field);
        }
    }
    out.push_str("\r\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_field_is_a_formula() {
        for (text, expected) in [
            ("=1+1", "'=1+1"),
            ("  @SUM(A1)", "'  @SUM(A1)"),
            ("\t-1", "' -1"),
            ("json/serde_json", "json/serde_json"),
            ("", ""),
        ] {
            assert_eq!(safe(text), expected);
        }
    }

    #[test]
    fn fields_are_quoted_where_they_must() {
        let mut out = String::new();
        record(&mut out, &["plain", "a,b", "say \"no\"", ""]);
        assert_eq!(out, "plain,\"a,b\",\"say \"\"no\"\"\",\r\n");
    }
}
