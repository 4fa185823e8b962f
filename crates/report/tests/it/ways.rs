//! Runs about files: the ways of a codec in a table of their own, by the clock on the wall.

use wiremark_record::{Calls, Cell, Damage, Mode, Operation, Run, Suite};
use wiremark_report::{Style, csv, markdown, terminal};

use crate::common::{JSON, PEOPLE, POSTCARD, cell, empty};

/// A way of writing that took `wall_ns` on the wall and a tenth of it on the processor.
fn way(codec: &str, mode: Mode, way: &str, wall_ns: f64, writes: u64) -> Cell {
    let mut cell = cell(Operation::Write, PEOPLE, codec, mode, wall_ns, [1.0; 5]);
    for round in &mut cell.rounds {
        round.cpu_ns /= 10.0;
        round.copy_ns = None;
        (round.user_ns, round.system_ns) = (Some(300.0), Some(200.0));
    }
    cell.id.way = Some(way.to_owned());
    cell.calls = Some(Calls { write: writes, ..Calls::default() });
    cell.peak_rss_bytes = Some(8_192);
    cell
}

fn files() -> Run {
    let mut run = empty();
    run.suite = Suite::Persist;
    run.file_system = Some("ext4".to_owned());
    run.cells = vec![
        way(JSON, Mode::Reused, "direct", 90e6, 400_592),
        way(JSON, Mode::Reused, "buffer-8k", 3e6, 104),
        way(JSON, Mode::Stream, "buffer-64k", 4e6, 13),
        way(JSON, Mode::Reused, "whole+atomic", 200e6, 1),
        way(POSTCARD, Mode::Reused, "whole", 1e6, 1),
    ];
    // Less of the processor than any other, and still the slowest.
    for round in &mut run.cells[0].rounds {
        round.cpu_ns = 1.0;
    }
    run.damage = vec![Damage {
        codec: JSON.to_owned(),
        dataset: PEOPLE.to_owned(),
        flips: 1_000,
        silent: 250,
        harmless: 0,
        framed_silent: 0,
    }];
    run.summarise();
    run
}

#[test]
fn ways_are_ranked_by_the_wall_and_each_codecs_extremes_stand_first() {
    let text = terminal(&files(), &Style::default());
    let line = |start: &str| {
        text.lines()
            .find(|line| line.starts_with(start))
            .unwrap_or_else(|| panic!("no line begins with {start:?} in\n{text}"))
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert!(text.contains("files    on ext4, each under a new name"), "{text}");
    // The durable way is slower still, but promises more.
    assert_eq!(
        line(JSON),
        format!("{JSON} buffer-8k direct 3.00 ms 104 90.0 ms 400,592 30.0×")
    );
    assert_eq!(line(POSTCARD), format!("{POSTCARD} whole – 1.00 ms 1 – – –"));
    let at = text.find("Flipped bits").unwrap();
    assert!(text[at..].contains("1,000"), "{text}");
    assert!(text[at..].contains("25.0 %"), "{text}");
    let table = text.find(&format!("write people {JSON}, ratio to the fastest")).unwrap();
    let ways: Vec<&str> = text[table..]
        .lines()
        .skip(3)
        .take(4)
        .map(|line| line.split("  ").next().unwrap_or_default())
        .collect();
    assert_eq!(ways, ["buffer-8k", "buffer-64k stream", "direct", "whole+atomic"]);
    let head = text[table..].lines().nth(1).unwrap();
    let head = head.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(head.starts_with("way ratio"), "{head}");
    for column in ["user", "system", "writes", "reads", "syncs", "RSS B"] {
        assert!(head.contains(column), "{column} in {head}");
    }
    assert!(!head.contains("copy"), "{head}");
}

#[test]
fn the_other_renderings_know_ways_too() {
    let run = files();
    let text = csv(&run, None);
    let rows: Vec<&str> =
        text.lines().filter(|row| row.contains(",write_calls,")).collect();
    assert!(rows.iter().any(|row| {
        row.contains("write,people,json/serde_json/compact,reused,buffer-8k,false,ok")
            && row.contains(",calls,104,")
    }));
    assert_eq!(rows.len(), 5);
    let text = markdown(&run, Some(JSON));
    assert!(
        text.contains("### write people json/serde\\_json/compact")
            || text.contains("### write people json/serde_json/compact"),
        "{text}"
    );
    assert!(text.contains("| `buffer-64k stream` |"), "{text}");
    assert!(text.contains("## Flipped bits of documents"), "{text}");
    // A reference is a codec, and these tables have one each.
    assert!(!text.contains("has no figure here"), "{text}");
}

#[test]
fn a_narrow_terminal_gets_the_extremes_line_by_line() {
    let text = terminal(&files(), &Style { width: Some(40), ..Style::default() });
    assert!(text.contains("  fastest way: buffer-8k\n"), "{text}");
    assert!(text.contains("  slower: 30.0×\n"), "{text}");
}
