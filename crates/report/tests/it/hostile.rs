//! Text from outside does no harm, and no run makes a report panic.

use wiremark_record::{Mode, Operation, Run, Status};
use wiremark_report::{Style, csv, markdown, terminal};

use crate::common::{PEOPLE, cell, quick, sample, without};

/// A run whose every name and reason is an attack.
fn hostile() -> Run {
    let mut run = sample();
    let evil = || {
        "=cmd|' /C calc'!A0\u{1b}]0;owned\u{7}\r\n| a | `b` <script>\u{202e}".to_owned()
    };
    run.id = evil();
    run.machine.cpu = evil();
    run.datasets[0].id = evil();
    run.datasets[0].title = evil();
    run.codecs[0].id = evil();
    run.codecs[0].caveat = evil();
    run.codecs[1].advisory = Some(evil());
    for cell in &mut run.cells {
        if cell.id.dataset == PEOPLE {
            cell.id.dataset = evil();
        }
        if cell.id.codec == crate::common::JSON {
            cell.id.codec = evil();
        }
        if cell.reason.is_some() {
            cell.reason = Some(evil().repeat(100));
        }
    }
    run.summarise();
    run
}

#[test]
fn names_and_reasons_cannot_steer() {
    let run = hostile();
    for (name, text) in [
        ("terminal", terminal(&run, &Style::default())),
        ("narrow", terminal(&run, &Style { width: Some(60), ..Style::default() })),
        ("markdown", markdown(&run, None)),
        ("csv", csv(&run, None)),
    ] {
        let bad = text.find(|c: char| {
            (c.is_control() && c != '\n' && !(name == "csv" && c == '\r'))
                || c == '\u{202e}'
        });
        assert_eq!(bad, None, "{name}: {text:?}");
    }
    let longest = terminal(&run, &Style::default()).lines().map(str::len).max();
    assert!(longest < Some(1_000), "{longest:?}");
}

#[test]
fn names_cannot_break_a_markdown_table() {
    let text = markdown(&hostile(), None);
    let mut columns = None;
    for line in text.lines() {
        if line.starts_with('|') {
            let bars = line.replace("\\|", "").matches('|').count();
            assert_eq!(*columns.get_or_insert(bars), bars, "{line}");
        } else {
            columns = None;
        }
        assert!(
            !line.replace("\\<", "").contains("<script") || line.contains("``"),
            "{line}"
        );
    }
}

#[test]
fn no_csv_field_is_a_formula_or_breaks_a_row() {
    let text = csv(&hostile(), None);
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let mut rows = 0;
    for row in reader.records() {
        let row = row.unwrap();
        rows += 1;
        for field in &row {
            assert!(!field.starts_with(['=', '+', '-', '@', '\t', '\r']), "{field:?}");
        }
    }
    assert!(rows > 100, "{rows}");
}

#[test]
fn numbers_from_nowhere_make_no_report_panic_or_print_nan() {
    let numbers =
        [0.0, -1.0, f64::NAN, f64::INFINITY, f64::MIN_POSITIVE, f64::MAX, 1e-320];
    for (first, second) in
        numbers.iter().flat_map(|a| numbers.iter().map(move |b| (*a, *b)))
    {
        for mut run in [sample(), quick()] {
            for (at, cell) in run.cells.iter_mut().enumerate() {
                let time = if at % 2 == 0 { first } else { second };
                for round in &mut cell.rounds {
                    round.cpu_ns = time;
                    round.copy_ns = Some(second);
                }
                cell.size_bytes = Some(u64::MAX);
                cell.documents = if at % 3 == 0 { 0 } else { u64::MAX };
            }
            run.summarise();
            run.load.after = Some(second);
            if let Some(noise) = &mut run.noise {
                noise.floor = first;
            }
            for text in [
                terminal(&run, &Style { width: Some(80), ..Style::default() }),
                markdown(&run, None),
                csv(&run, None),
            ] {
                let tables = text.split_once("Fastest").map_or("", |(_, tables)| tables);
                assert!(!tables.contains("NaN"), "{first} {second}: {text}");
                assert!(!tables.contains("inf"), "{first} {second}: {text}");
            }
        }
    }
}

#[test]
fn a_run_that_contradicts_itself_is_still_reported() {
    let mut run = sample();
    // Codecs and datasets that nobody describes, cells twice, a failure with rounds.
    run.codecs.clear();
    run.datasets.clear();
    run.cells.extend(run.cells.clone());
    run.cells[0].status = Status::Failed;
    run.cells.push(cell(Operation::Encode, "", "", Mode::Fresh, 1.0, [1.0; 5]));
    run.cells.push(without(Operation::Borrow, "", Status::Ok, ""));
    for cell in &mut run.cells {
        cell.missing.clear();
    }
    for reference in [None, Some("")] {
        assert!(terminal(&run, &Style::default()).contains("no reason was recorded"));
        assert!(markdown(&run, reference).contains("no reason was recorded"));
        assert!(csv(&run, reference).contains(",failed,"));
    }
}
