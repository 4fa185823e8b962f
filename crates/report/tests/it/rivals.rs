//! Several libraries of one wire format.

use wiremark_record::{Mode, Operation};
use wiremark_report::{Style, terminal};

use crate::common::{CBOR, JSON, PEOPLE, POSTCARD, cell, empty};

#[test]
fn the_libraries_of_a_format_stand_together_and_the_fastest_is_marked() {
    const RIVAL: &str = "cbor/minicbor";
    let mut run = empty();
    let mut rival = run.codecs.iter().find(|codec| codec.id == CBOR).unwrap().clone();
    rival.id = RIVAL.to_owned();
    rival.library = "minicbor".to_owned();
    run.codecs.push(rival);
    let encode = |codec: &str, ns| {
        cell(Operation::Encode, PEOPLE, codec, Mode::Reused, ns, [1.0; 5])
    };
    run.cells = vec![
        encode(JSON, 300e3),
        encode(CBOR, 400e3),
        encode(POSTCARD, 100e3),
        encode(RIVAL, 200e3),
    ];
    run.summarise();
    let text = terminal(&run, &Style::default());
    let table = text.find("encode people reused").unwrap();
    let rows: Vec<Vec<&str>> = text[table..]
        .lines()
        .skip(3)
        .take(4)
        .map(|line| line.split_whitespace().take(3).collect())
        .collect();
    // CBOR is told from its best: before JSON, which lies between its two.
    assert_eq!(
        rows,
        [
            vec![POSTCARD, "1.00", "fastest"],
            vec![RIVAL, "★", "2.00"],
            vec![CBOR, "4.00", "[4.00,"],
            vec![JSON, "3.00", "[3.00,"],
        ]
    );
    assert!(text.contains("the fastest library of its wire format"), "{text}");
    // One library in two variants is no rival of itself.
    let text = terminal(&crate::common::sample(), &Style::default());
    assert!(!text.contains('★'), "{text}");
}
