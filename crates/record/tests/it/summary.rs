//! What is computed from the rounds of a run.

use wiremark_record::stats::{Bounds, Verdict};
use wiremark_record::{Operation, Status, Time};

use crate::common::{full, measured};

#[test]
fn a_cell_is_summarised_from_its_rounds() {
    let mut cell = measured(Operation::Encode, "a/a", &[30.0, 10.0, 20.0]);
    cell.missing.insert("time".to_owned(), "no longer true".to_owned());
    cell.summarise();
    let time = |median_ns, low_ns, high_ns| Some(Time { median_ns, low_ns, high_ns });
    assert_eq!(cell.time, time(20.0, 10.0, 30.0));
    assert_eq!(cell.wall, time(30.0, 15.0, 45.0));
    assert_eq!(cell.copy, time(5.0, 5.0, 5.0));
    assert!(cell.missing.is_empty());
    let once = cell.clone();
    cell.summarise();
    assert_eq!(cell, once);
}

#[test]
fn what_an_ok_cell_lacks_has_a_reason_and_ones_own_reason_stays() {
    let mut cell = measured(Operation::Drop, "a/a", &[]);
    cell.zstd_bytes = None;
    cell.missing.insert("zstd_bytes".to_owned(), "larger than 1 GiB".to_owned());
    cell.summarise();
    let reasons: Vec<_> =
        cell.missing.iter().map(|(k, r)| (k.as_str(), r.as_str())).collect();
    assert_eq!(
        reasons,
        [
            ("copy", "dropping neither makes nor reads bytes"),
            ("time", "no round was finished"),
            ("wall", "no round was finished"),
            ("zstd_bytes", "larger than 1 GiB"),
        ]
    );
    assert!(!cell.is_measured());
}

#[test]
fn ratios_use_the_rounds_that_both_have() {
    let mut first = measured(Operation::Encode, "a/a", &[10.0, 20.0, 30.0, 40.0]);
    let mut second = measured(Operation::Encode, "b/b", &[5.0, 10.0, 15.0, 20.0]);
    // Rounds 0 1 2 3 against 0 2 7 3, and round 0 measured again.
    second.rounds[1].round = 2;
    second.rounds[1].cpu_ns = 15.0;
    second.rounds[2].round = 7;
    let mut repeated = first.rounds[0].clone();
    repeated.cpu_ns = 20.0;
    first.rounds.push(repeated);
    let ratio = first.ratio_to(&second).unwrap();
    assert_eq!((ratio.rounds, ratio.bounds), (3, Bounds::Range));
    assert!((ratio.high - 4.0).abs() < 1e-12 && (ratio.low - 2.0).abs() < 1e-12);

    second.rounds.retain(|round| round.round == 7);
    assert_eq!(first.ratio_to(&second), None);
}

#[test]
fn a_run_gets_its_noise_from_its_controls() {
    let run = full();
    assert_eq!(run.controls().count(), 1);
    let noise = run.noise.as_ref().unwrap();
    // 101/100, 102/101, … 105/104: distances 1/104 … 1/100, position 4 · 0.95 = 3.8.
    assert_eq!(noise.ratios.len(), 5);
    let expected = 1.0 / 101.0 + 0.8 * (1.0 / 100.0 - 1.0 / 101.0);
    assert!((noise.floor - expected).abs() < 1e-9, "{}", noise.floor);
    assert!(!run.missing.contains_key("noise"));

    let mut failed = full();
    failed.cells[2].status = Status::Failed;
    failed.summarise();
    assert_eq!(failed.noise, None);
    assert_eq!(failed.missing["noise"], "no cell was measured under a second name");
}

#[test]
fn cells_are_found_without_second_names() {
    let run = full();
    let codecs = |operation, dataset| -> Vec<_> {
        run.cells_of(operation, dataset).map(|cell| cell.id.codec.as_str()).collect()
    };
    assert_eq!(codecs(Operation::Encode, "people"), ["a/a", "b/b", "floor/memcpy"]);
    assert_eq!(codecs(Operation::Borrow, "people"), [""; 0]);
    assert_eq!(codecs(Operation::Encode, "animals"), [""; 0]);
}

#[test]
fn cells_of_a_run_are_compared_by_its_noise() {
    let run = full();
    let cells: Vec<_> = run.cells_of(Operation::Encode, "people").collect();
    let comparison = run.compare(cells[1], cells[0]).unwrap();
    assert!((comparison.ratio.ratio - 2.0).abs() < 1e-12);
    assert_eq!((comparison.verdict, comparison.label()), (Verdict::Slower, None));
    assert_eq!(run.compare(cells[0], cells[1]).unwrap().verdict, Verdict::Faster);
    assert_eq!(run.compare(cells[0], &run.cells[2]).unwrap().verdict, Verdict::Tie);
    assert_eq!(run.compare(cells[0], &run.cells[5]), None);

    let mut short = full();
    for cell in &mut short.cells {
        cell.rounds.truncate(3);
    }
    short.summarise();
    let comparison = short.compare(&short.cells[1], &short.cells[0]).unwrap();
    assert_eq!(comparison.label(), Some("first look"));
}

#[test]
fn rates_are_those_of_one_operation() {
    let mut cell = measured(Operation::Encode, "a/a", &[1_000.0]);
    cell.documents = 10;
    cell.summarise();
    assert_eq!(cell.documents_per_s(), Some(1e7));
    assert_eq!(cell.bytes_per_s(), Some(1e9));
    assert_eq!(cell.ratio_to_copy().map(|ratio| ratio.rounds), Some(1));
    cell.documents = 0;
    assert_eq!(cell.documents_per_s(), None);
    cell.id.operation = Operation::Drop;
    assert_eq!(cell.bytes_per_s(), None);
}

#[test]
fn rounds_that_no_clock_could_give_are_left_out() {
    let bad = [0.0, -5.0, f64::NAN, f64::INFINITY];
    assert_eq!(Time::over(bad), None);
    let mut run = full();
    for cell in &mut run.cells {
        for (round, time) in cell.rounds.iter_mut().zip(bad) {
            round.cpu_ns = time;
            round.wall_ns = time;
            round.copy_ns = Some(time);
        }
    }
    run.summarise();
    let cells: Vec<_> = run.cells_of(Operation::Encode, "people").collect();
    assert_eq!(run.compare(cells[1], cells[0]).unwrap().ratio.rounds, 1);
    assert!(run.noise.as_ref().is_some_and(|noise| noise.floor.is_finite()));
}
