//! The report on a terminal.

use wiremark_record::Run;
use wiremark_report::{Style, terminal};

use crate::common::{CBOR, FLOOR, JSON, POSTCARD, empty, quick, sample};

fn at_width(run: &Run, width: usize) -> String {
    terminal(run, &Style { width: Some(width), ..Style::default() })
}

/// The lines from the one that begins with `start` to the next empty one.
fn part<'a>(text: &'a str, start: &str) -> &'a str {
    let from = text.find(&format!("\n{start}")).map(|at| at + 1).unwrap_or_default();
    let part = &text[from..];
    &part[..part.find("\n\n").map_or(part.len(), |at| at + 1)]
}

/// Compares line by line and shows both texts whole.
fn check(found: &str, expected: &str) {
    assert!(found == expected, "found:\n{found}\nexpected:\n{expected}");
}

#[test]
fn the_whole_report_at_full_width() {
    check(
        &terminal(&sample(), &Style::default()),
        "\
wiremark 0.1.0, run 20261130-141503-7f3a, profile default
machine  Some CPU @ 3.0 GHz, 2 cores, 8.00 GB, Linux 6.1.0
build    rustc 1.95.0, x86_64-unknown-linux-gnu, bench (thin LTO, one codegen unit)
commit   6d04fa8e6d04, with changes that are not committed
heap     steady, allocator system
profile  default, 5 rounds, 30 samples of about 1.00 ms each
noise    floor 1.77 % (95th percentile of 5 A/A ratios): differences within 3.54 % are ties
load     0.50 before, 1.25 after
cells    16 cells: 10 ok, 3 unsupported, 1 failed, 1 timeout, 1 skipped

Fastest and smallest, mode reused
dataset         fastest encode                       fastest decode              smallest
people          postcard/postcard           690 µs   postcard/postcard  1.90 ms  postcard/postcard           310,211 B
                = bincode/bincode/standard  700 µs                               = bincode/bincode/standard  310,211 B
                ~ cbor/ciborium             720 µs                               = cbor/ciborium             310,211 B
event (stream)  postcard/postcard           10.0 µs  –                           postcard/postcard           310,211 B
= ties with the first; ~ cannot be told apart from it

people: 10,000 people {name, age} (seed 42)

encode people reused, ratio to the fastest
codec                       ratio  95 % interval  verdict     time   ops/s    MB/s     size B   zstd B  × copy  allocs  peak B
──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
postcard/postcard            1.00                 fastest   690 µs  1.45 k     450    310,211   77,552    34.5  20,001   4,096
bincode/bincode/standard †   1.02   [0.99, 1.04]  tie       700 µs  1.43 k     443    310,211   77,552    35.1  20,001   4,096
cbor/ciborium                1.18   [0.83, 1.68]  unsure    720 µs  1.39 k     431    310,211   77,552    40.7  20,001   4,096
json/serde_json/compact      3.64   [3.57, 3.71]  slower   2.50 ms     400     494  1,234,567  308,641     125  20,001   4,096
╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌
floor/memcpy                                      floor    20.0 µs  50.0 k  15,511    310,211   77,552    1.00  20,001   4,096
  failed: the value came back without `age` (msgpack/rmp-serde/named)

decode people reused, ratio to the fastest
codec                       ratio  95 % interval  verdict     time   ops/s    MB/s     size B   zstd B  × copy  allocs  peak B
──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
postcard/postcard            1.00                 fastest  1.90 ms     526     163    310,211   77,552    95.0  20,001   4,096
json/serde_json/compact      1.69   [1.67, 1.71]  slower   3.20 ms     312     386  1,234,567  308,641     161  20,001   4,096
  unsupported: needs a schema (bincode/bincode/standard, cbor/ciborium)
  timeout: no answer within 60 s (msgpack/rmp-serde/named)

borrow people reused
  unsupported: text cannot be borrowed (cbor/ciborium)
  skipped: filtered out (postcard/postcard)

drop people reused, ratio to the fastest
codec                       ratio  95 % interval  verdict     time   ops/s    MB/s     size B   zstd B  × copy  allocs  peak B
──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
json/serde_json/compact      1.00                 only      400 µs  2.50 k       –  1,234,567  308,641       –  20,001   4,096

event: an event of 7 entries (seed 42)

encode event stream, 100 documents an operation, ratio to the fastest
codec                       ratio  95 % interval  verdict     time   ops/s    MB/s     size B   zstd B  × copy  allocs  peak B
──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
postcard/postcard            1.00                 fastest  10.0 µs  10.0 M  31,034    310,211   77,552    0.50  20,001   4,096
json/serde_json/compact      4.82   [4.75, 4.89]  slower   48.0 µs  2.08 M  25,720  1,234,567  308,641    2.41  20,001   4,096

† no longer maintained: bincode/bincode/standard (RUSTSEC-2025-0141)
How to read
  ratio          time divided by the time of the table's fastest codec or reference, round by round; above 1 is slower
  95 % interval  of the ratio: [low, high] with 95 % confidence, or lowest..highest round where there are under five
  verdict        tie: no difference beyond twice the noise floor; unsure: too noisy to tell; a first look calls no difference under 5 %
  time           CPU time of one operation: median over rounds of each round's lower quartile
  ops/s          documents per second of CPU time
  MB/s           10⁶ encoded bytes per second of CPU time; at equal speed a compact format shows fewer
  size B         encoded bytes of one operation
  zstd B         the same bytes compressed by zstd at level 3
  × copy         time divided by that of copying the encoded bytes once, the floor of any codec
  allocs         calls of the allocator in one operation, from a counting pass of its own
  peak B         most bytes alive at one time beyond those alive when the operation began
  drop           dropping the decoded value, which no decode time holds; it moves no bytes and asks for none, so it has no MB/s, no × copy and no allocs
",
    );
}

#[test]
fn a_first_look_with_a_reference() {
    let style =
        Style { width: Some(100), reference: Some(JSON.to_owned()), ..Style::default() };
    let text = terminal(&quick(), &style);
    check(
        &text[..text.find("\n\ndrop").unwrap()],
        "\
wiremark 0.1.0, run 20261130-141503-7f3a, profile quick: a first look
machine  Some CPU @ 3.0 GHz, 2 cores, 8.00 GB, Linux 6.1.0
build    rustc 1.95.0, x86_64-unknown-linux-gnu, bench (thin LTO, one codegen unit)
commit   6d04fa8e6d04, with changes that are not committed
heap     steady, allocator system
profile  quick, 1 round (first look: no intervals), 10 samples of about 1.00 ms each
noise    floor 1.00 % (95th percentile of 1 A/A ratio): differences within 2.00 % are ties
load     0.50 before, 1.25 after
cells    16 cells: 10 ok, 3 unsupported, 1 failed, 1 timeout, 1 skipped

Fastest and smallest, mode reused (first look: 1 round)
dataset         fastest encode     fastest decode     smallest
people          cbor/ciborium      postcard/postcard  cbor/ciborium
                                                      = postcard/postcard
                                                      = bincode/bincode/standard
event (stream)  postcard/postcard  –                  postcard/postcard
= ties with the first

people: 10,000 people {name, age} (seed 42)

encode people reused, first look: 1 round, ratio to json/serde_json/compact
codec                       ratio  verdict       time   ops/s    MB/s     size B  × copy  allocs
────────────────────────────────────────────────────────────────────────────────────────────────
cbor/ciborium                0.26  faster      640 µs  1.56 k     485    310,211    32.0  20,001
postcard/postcard            0.28  faster      690 µs  1.45 k     450    310,211    34.5  20,001
bincode/bincode/standard †   0.28  faster      700 µs  1.43 k     443    310,211    35.0  20,001
json/serde_json/compact      1.00  reference  2.50 ms     400     494  1,234,567     125  20,001
╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌
floor/memcpy                       floor      20.0 µs  50.0 k  15,511    310,211    1.00  20,001
  failed: the value came back without `age` (msgpack/rmp-serde/named)

decode people reused, first look: 1 round, ratio to json/serde_json/compact
codec                       ratio  verdict       time   ops/s    MB/s     size B  × copy  allocs
────────────────────────────────────────────────────────────────────────────────────────────────
postcard/postcard            0.59  faster     1.90 ms     526     163    310,211    95.0  20,001
json/serde_json/compact      1.00  reference  3.20 ms     312     386  1,234,567     160  20,001
  unsupported: needs a schema (bincode/bincode/standard, cbor/ciborium)
  timeout: no answer within 60 s (msgpack/rmp-serde/named)

borrow people reused
  unsupported: text cannot be borrowed (cbor/ciborium)
  skipped: filtered out (postcard/postcard)",
    );
}

#[test]
fn a_narrow_terminal_gets_fewer_columns_and_is_told_so() {
    check(
        part(&at_width(&sample(), 100), "encode people"),
        "\
encode people reused, ratio to the fastest
codec                       ratio  95 % interval  verdict     time   ops/s    MB/s     size B
─────────────────────────────────────────────────────────────────────────────────────────────
postcard/postcard            1.00                 fastest   690 µs  1.45 k     450    310,211
bincode/bincode/standard †   1.02   [0.99, 1.04]  tie       700 µs  1.43 k     443    310,211
cbor/ciborium                1.18   [0.83, 1.68]  unsure    720 µs  1.39 k     431    310,211
json/serde_json/compact      3.64   [3.57, 3.71]  slower   2.50 ms     400     494  1,234,567
╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌
floor/memcpy                                      floor    20.0 µs  50.0 k  15,511    310,211
  failed: the value came back without `age` (msgpack/rmp-serde/named)
",
    );
    check(
        part(&at_width(&sample(), 80), "encode people"),
        "\
encode people reused, ratio to the fastest
codec                       ratio  95 % interval  verdict     time     size B
─────────────────────────────────────────────────────────────────────────────
postcard/postcard            1.00                 fastest   690 µs    310,211
bincode/bincode/standard †   1.02   [0.99, 1.04]  tie       700 µs    310,211
cbor/ciborium                1.18   [0.83, 1.68]  unsure    720 µs    310,211
json/serde_json/compact      3.64   [3.57, 3.71]  slower   2.50 ms  1,234,567
╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌
floor/memcpy                                      floor    20.0 µs    310,211
  failed: the value came back without `age` (msgpack/rmp-serde/named)
",
    );
    check(
        part(&at_width(&sample(), 60), "encode people"),
        "\
encode people reused, ratio to the fastest
codec                       ratio  verdict     time   ops/s
───────────────────────────────────────────────────────────
postcard/postcard            1.00  fastest   690 µs  1.45 k
bincode/bincode/standard †   1.02  tie       700 µs  1.43 k
cbor/ciborium                1.18  unsure    720 µs  1.39 k
json/serde_json/compact      3.64  slower   2.50 ms     400
╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌
floor/memcpy                       floor    20.0 µs  50.0 k
  failed: the value came back without `age`
  (msgpack/rmp-serde/named)
",
    );
    check(
        part(&at_width(&sample(), 30), "encode people"),
        "\
encode people reused, ratio to
the fastest
codec           ratio     time
──────────────────────────────
…card/postcard   1.00   690 µs
…de/standard †   1.02   700 µs
cbor/ciborium    1.18   720 µs
…_json/compact   3.64  2.50 ms
╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌
floor/memcpy           20.0 µs
  failed: the value came back
  without `age`
  (msgpack/rmp-serde/named)
",
    );
    let text = at_width(&sample(), 60);
    check(
        part(&text, "Fastest and smallest"),
        "\
Fastest and smallest, mode reused
people
  fastest encode  postcard/postcard 690 µs
                  = bincode/bincode/standard 700 µs
                  ~ cbor/ciborium 720 µs
  fastest decode  postcard/postcard 1.90 ms
  smallest        postcard/postcard 310,211 B
                  = bincode/bincode/standard 310,211 B
                  = cbor/ciborium 310,211 B
event (stream)
  fastest encode  postcard/postcard 10.0 µs
  fastest decode  –
  smallest        postcard/postcard 310,211 B
= ties with the first; ~ cannot be told apart from it
",
    );
    check(
        part(&text, "† no longer"),
        "\
† no longer maintained: bincode/bincode/standard
  (RUSTSEC-2025-0141)
left out for a width of 60: 95 % interval, MB/s, size B,
zstd B, × copy, allocs, peak B; report.md has all columns
How to read
  ratio    time divided by the time of the table's fastest
           codec or reference, round by round; above 1 is
           slower
  verdict  tie: no difference beyond twice the noise floor;
           unsure: too noisy to tell; a first look calls no
           difference under 5 %
  time     CPU time of one operation: median over rounds of
           each round's lower quartile
  ops/s    documents per second of CPU time
  drop     dropping the decoded value, which no decode time
           holds; it moves no bytes and asks for none, so it
           has no MB/s, no × copy and no allocs
",
    );
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let mut bad = Vec::new();
    for width in 40..200 {
        for run in [sample(), quick()] {
            for line in at_width(&run, width).lines() {
                let is_wide = unicode_width::UnicodeWidthStr::width(line) > width;
                if is_wide || line.ends_with(' ') {
                    bad.push(format!("{width}: {line:?}"));
                }
            }
        }
    }
    assert!(bad.is_empty(), "{bad:#?}");
}

#[test]
fn every_width_works() {
    for width in 0..40 {
        assert!(at_width(&sample(), width).contains("…"), "{width}");
    }
}

#[test]
fn what_is_missing_is_said_once() {
    let mut run = sample();
    for cell in &mut run.cells {
        cell.zstd_bytes = None;
    }
    // The first cell has no round in common with the others, the second was not counted, the
    // third not timed.
    for round in &mut run.cells[0].rounds {
        round.round += 100;
    }
    run.cells[1].counts = None;
    run.cells[1].missing.insert("counts".to_owned(), "the counter crashed".to_owned());
    run.cells[2].rounds.clear();
    run.cells.retain(|cell| !cell.id.again);
    run.commit = None;
    run.summarise();
    let text = terminal(&run, &Style::default());
    check(
        part(&text, "encode people"),
        "\
encode people reused, ratio to the fastest
codec                       ratio  95 % interval  verdict     time   ops/s    MB/s     size B  × copy  allocs  peak B
─────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
bincode/bincode/standard †   1.00                 fastest   700 µs  1.43 k     443    310,211    35.1       –       –
cbor/ciborium                1.16   [0.82, 1.64]  unsure    720 µs  1.39 k     431    310,211    40.7  20,001   4,096
json/serde_json/compact         –                 –        2.50 ms     400     494  1,234,567     125  20,001   4,096
postcard/postcard               –                 –              –       –       –    310,211       –  20,001   4,096
╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌
floor/memcpy                                      floor    20.0 µs  50.0 k  15,511    310,211    1.00  20,001   4,096
  failed: the value came back without `age` (msgpack/rmp-serde/named)
  no allocations: the counter crashed (bincode/bincode/standard)
  no × copy: no round was finished (postcard/postcard)
  no time: no round was finished (postcard/postcard)
  no ratio: no round in common with what ratios are to (json/serde_json/compact)
",
    );
    assert_eq!(
        text.matches("no zstd size: not counted in this run").count(),
        1,
        "{text}"
    );
    assert!(!text.contains("zstd B"), "{text}");
    for line in [
        "commit   unknown: not recorded\n",
        "noise    floor unknown: no cell was measured under a second name\n",
    ] {
        assert!(text.contains(line), "{line}{text}");
    }
}

#[test]
fn a_reference_without_a_figure_is_replaced_and_one_unknown_is_named() {
    let with = |reference: &str| {
        let reference = Some(reference.to_owned());
        terminal(&sample(), &Style { reference, ..Style::default() })
    };
    let text = with(CBOR);
    assert!(text.contains("encode people reused, ratio to cbor/ciborium\n"), "{text}");
    let fallback = "ratio to the fastest, as cbor/ciborium has no figure here\n";
    assert!(text.contains(&format!("decode people reused, {fallback}")), "{text}");
    assert!(!text.contains("is named"), "{text}");
    let text = with("cbor");
    assert!(text.contains("reference no codec of this run is named cbor\n"), "{text}");
    // A floor is not ranked, and so is no reference.
    let text = with(FLOOR);
    assert!(text.contains("as floor/memcpy has no figure here"), "{text}");
}

#[test]
fn many_ties_are_counted() {
    let mut run = sample();
    let first = run.cells[2].clone();
    for number in 0..8 {
        let mut cell = first.clone();
        cell.id.codec = format!("twin/{number}");
        run.cells.push(cell);
    }
    run.summarise();
    for width in [None, Some(80)] {
        let text = terminal(&run, &Style { width, ..Style::default() });
        let answer = part(&text, "Fastest and smallest");
        // Nine alike and two that tie or cannot be told apart; nine alike and two as small.
        assert_eq!(answer.matches("and 5 more").count(), 2, "{answer}");
    }
}

#[test]
fn one_row_alone_is_not_the_fastest() {
    let mut run = sample();
    run.cells.retain(|cell| cell.id.codec == POSTCARD);
    run.summarise();
    let text = terminal(&run, &Style::default());
    assert!(!text.contains(" fastest  "), "{text}");
    assert!(text.contains("postcard/postcard   1.00  only "), "{text}");
}

#[test]
fn an_interrupted_run_and_one_without_cells_say_so() {
    let mut run = sample();
    run.complete = false;
    let text = terminal(&run, &Style::default());
    let cells = "cells    16 cells: 10 ok, 3 unsupported, 1 failed, 1 timeout, 1 skipped; NOT \
                 COMPLETE: the run was interrupted or still goes on\n";
    assert!(text.contains(cells), "{text}");
    let text = terminal(&empty(), &Style::default());
    assert!(text.ends_with("cells    0 cells\n\nNo cells.\n"), "{text}");
}

#[test]
fn colour_adds_nothing_but_escape_sequences() {
    for width in [None, Some(60)] {
        let plain = Style { width, ..Style::default() };
        let coloured = terminal(&sample(), &Style { colour: true, ..plain.clone() });
        assert!(coloured.contains("\u{1b}[31mslower\u{1b}[0m"), "{coloured}");
        let mut stripped = String::new();
        for (at, piece) in coloured.split('\u{1b}').enumerate() {
            let text = if at == 0 { piece } else { piece.split_once('m').unwrap().1 };
            stripped.push_str(text);
        }
        check(&stripped, &terminal(&sample(), &plain));
        assert!(!terminal(&sample(), &plain).contains('\u{1b}'));
    }
}
