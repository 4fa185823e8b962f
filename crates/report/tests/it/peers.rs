//! Codecs of other languages beside ours, and bytes that go to and fro.

use wiremark_record::{Codec, Exchange, Mode, Operation, Outcome, Run};
use wiremark_report::{Style, markdown, terminal};

use crate::common::{CBOR, JSON, PEOPLE, cell, empty};

const PEER: &str = "json/go:encoding-json/compact";

fn with_peer() -> Run {
    let mut run = empty();
    let ours = run.codecs.iter().find(|codec| codec.id == JSON);
    let peer = ours.map(|ours| Codec {
        id: PEER.to_owned(),
        library: "encoding/json".to_owned(),
        peer: Some("go1.19.8".to_owned()),
        ..ours.clone()
    });
    run.codecs.extend(peer);
    run
}

/// The words of the lines of a section, from behind its head to the next empty line.
fn lines(text: &str, title: &str) -> Vec<Vec<String>> {
    let at = text.find(title).unwrap_or_else(|| panic!("no `{title}` in {text}"));
    text[at..]
        .lines()
        .skip(2)
        .take_while(|line| !line.is_empty())
        .map(|line| line.split_whitespace().map(str::to_owned).collect())
        .collect()
}

#[test]
fn a_peer_is_held_against_decoding_and_dropping() {
    let mut run = with_peer();
    let one = |operation, codec: &str, ns| {
        cell(operation, PEOPLE, codec, Mode::Reused, ns, [1.0; 5])
    };
    run.cells = vec![
        one(Operation::Encode, JSON, 100e3),
        one(Operation::Encode, CBOR, 50e3),
        one(Operation::Encode, PEER, 250e3),
        one(Operation::Decode, JSON, 300e3),
        one(Operation::Decode, PEER, 350e3),
        one(Operation::Drop, JSON, 200e3),
    ];
    run.summarise();
    let text = terminal(&run, &Style::default());
    let found = lines(&text, "Beside the original systems");
    let words =
        |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    // CBOR has no peer here; decoding takes 300 µs, and 500 with what a peer's time holds too.
    assert_eq!(
        found[..2],
        [
            words(&format!(
                "encode people json {JSON} {PEER} 100 µs 250 µs 2.50 [2.50, 2.50] ahead"
            )),
            words(&format!(
                "decode people json {JSON} {PEER} 500 µs 350 µs 0.70 [0.70, 0.70] behind"
            )),
        ]
    );
    assert!(markdown(&run, None).contains("## Beside the original systems"));
    // Without a peer there is nothing to say.
    let text = terminal(&crate::common::sample(), &Style::default());
    assert!(!text.contains("original systems"), "{text}");
}

#[test]
fn what_was_not_equal_is_told_with_its_reason() {
    let mut run = with_peer();
    let exchange = |dataset: &str, outcome, reason: &str| Exchange {
        dataset: dataset.to_owned(),
        path: vec![JSON.to_owned(), PEER.to_owned(), JSON.to_owned()],
        outcome,
        reason: reason.to_owned(),
    };
    run.exchanges = vec![
        exchange("people", Outcome::Equal, ""),
        exchange("small", Outcome::Mapped, "one kind of number"),
        exchange("large", Outcome::Mapped, "one kind of number"),
        exchange(
            "log",
            Outcome::Refused,
            &format!("{PEER}: it\nbroke {}", "x".repeat(300)),
        ),
    ];
    let text = terminal(&run, &Style::default());
    let found = lines(&text, "Bytes exchanged");
    assert_eq!(found[0], [JSON, PEER, "people", "small", "large", "–", "log"]);
    let found = lines(&text, "What was not simply equal");
    assert_eq!(
        found[0],
        [PEER, JSON, "small", "large", "mapped", "one", "kind", "of", "number"]
    );
    assert_eq!(found[1][..6], [PEER, JSON, "log", "refused", "it", "broke"]);
    assert!(text.lines().all(|line| line.chars().count() < 240), "{text}");
    // A narrow terminal gets a line for each figure.
    let narrow = terminal(&run, &Style { width: Some(60), ..Style::default() });
    assert!(narrow.contains("datasets: small large"), "{narrow}");
    assert!(markdown(&run, None).contains("## What was not simply equal"));
}
