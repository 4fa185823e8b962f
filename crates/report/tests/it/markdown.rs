//! The report as Markdown.

use wiremark_report::markdown;

use crate::common::{JSON, empty, quick, sample};

/// Compares line by line and shows both texts whole.
fn check(found: &str, expected: &str) {
    assert!(found == expected, "found:\n{found}\nexpected:\n{expected}");
}

#[test]
fn the_whole_report() {
    check(
        &markdown(&sample(), None),
        "\
# wiremark run 20261130-141503-7f3a

- machine: Some CPU @ 3.0 GHz, 2 cores, 8.00 GB, Linux 6.1.0
- build: rustc 1.95.0, x86_64-unknown-linux-gnu, bench (thin LTO, one codegen unit)
- commit: 6d04fa8e6d04, with changes that are not committed
- heap: steady, allocator system
- profile: default, 5 rounds, 30 samples of about 1.00 ms each
- noise: floor 1.77 % (95th percentile of 5 A/A ratios): differences within 3.54 % are ties
- load: 0.50 before, 1.25 after
- cells: 16 cells: 10 ok, 3 unsupported, 1 failed, 1 timeout, 1 skipped
- crates: postcard 1.2.0, serde_json 1.0.154

## Fastest and smallest, mode reused

| dataset        | fastest encode                                                                             | fastest decode              | smallest                                                                                           |
| -------------- | ------------------------------------------------------------------------------------------ | --------------------------- | -------------------------------------------------------------------------------------------------- |
| people         | `postcard/postcard` 690 µs, = `bincode/bincode/standard` 700 µs, \\~ `cbor/ciborium` 720 µs | `postcard/postcard` 1.90 ms | `postcard/postcard` 310,211 B, = `bincode/bincode/standard` 310,211 B, = `cbor/ciborium` 310,211 B |
| event (stream) | `postcard/postcard` 10.0 µs                                                                | –                           | `postcard/postcard` 310,211 B                                                                      |

`=` ties with the first, `~` cannot be told apart from it.

## people

10,000 people {name, age} (seed 42)

### encode people reused

Ratio to the fastest.

| codec                        | ratio | 95 % interval | verdict |    time |  ops/s |   MB/s |    size B |  zstd B | × copy | allocs | peak B |
| ---------------------------- | ----: | ------------: | ------- | ------: | -----: | -----: | --------: | ------: | -----: | -----: | -----: |
| `postcard/postcard`          |  1.00 |               | fastest |  690 µs | 1.45 k |    450 |   310,211 |  77,552 |   34.5 | 20,001 |  4,096 |
| `bincode/bincode/standard` † |  1.02 |  [0.99, 1.04] | tie     |  700 µs | 1.43 k |    443 |   310,211 |  77,552 |   35.1 | 20,001 |  4,096 |
| `cbor/ciborium`              |  1.18 |  [0.83, 1.68] | unsure  |  720 µs | 1.39 k |    431 |   310,211 |  77,552 |   40.7 | 20,001 |  4,096 |
| `json/serde_json/compact`    |  3.64 |  [3.57, 3.71] | slower  | 2.50 ms |    400 |    494 | 1,234,567 | 308,641 |    125 | 20,001 |  4,096 |
| `floor/memcpy`               |       |               | floor   | 20.0 µs | 50.0 k | 15,511 |   310,211 |  77,552 |   1.00 | 20,001 |  4,096 |

- failed: the value came back without \\`age\\` (`msgpack/rmp-serde/named`)

### decode people reused

Ratio to the fastest.

| codec                     | ratio | 95 % interval | verdict |    time | ops/s | MB/s |    size B |  zstd B | × copy | allocs | peak B |
| ------------------------- | ----: | ------------: | ------- | ------: | ----: | ---: | --------: | ------: | -----: | -----: | -----: |
| `postcard/postcard`       |  1.00 |               | fastest | 1.90 ms |   526 |  163 |   310,211 |  77,552 |   95.0 | 20,001 |  4,096 |
| `json/serde_json/compact` |  1.69 |  [1.67, 1.71] | slower  | 3.20 ms |   312 |  386 | 1,234,567 | 308,641 |    161 | 20,001 |  4,096 |

- unsupported: needs a schema (`bincode/bincode/standard`, `cbor/ciborium`)
- timeout: no answer within 60 s (`msgpack/rmp-serde/named`)

### borrow people reused

- unsupported: text cannot be borrowed (`cbor/ciborium`)
- skipped: filtered out (`postcard/postcard`)

### drop people reused

Ratio to the fastest.

| codec                     | ratio | 95 % interval | verdict |   time |  ops/s | MB/s |    size B |  zstd B | × copy | allocs | peak B |
| ------------------------- | ----: | ------------: | ------- | -----: | -----: | ---: | --------: | ------: | -----: | -----: | -----: |
| `json/serde_json/compact` |  1.00 |               | only    | 400 µs | 2.50 k |    – | 1,234,567 | 308,641 |      – | 20,001 |  4,096 |

## event

an event of 7 entries (seed 42)

### encode event stream

Ratio to the fastest, 100 documents an operation.

| codec                     | ratio | 95 % interval | verdict |    time |  ops/s |   MB/s |    size B |  zstd B | × copy | allocs | peak B |
| ------------------------- | ----: | ------------: | ------- | ------: | -----: | -----: | --------: | ------: | -----: | -----: | -----: |
| `postcard/postcard`       |  1.00 |               | fastest | 10.0 µs | 10.0 M | 31,034 |   310,211 |  77,552 |   0.50 | 20,001 |  4,096 |
| `json/serde_json/compact` |  4.82 |  [4.75, 4.89] | slower  | 48.0 µs | 2.08 M | 25,720 | 1,234,567 | 308,641 |   2.41 | 20,001 |  4,096 |

## Codecs

| codec                        | format   | library          | upkeep                          | licence | stream       | trailing bytes     | spec  |
| ---------------------------- | -------- | ---------------- | ------------------------------- | ------- | ------------ | ------------------ | ----- |
| `json/serde_json/compact`    | json     | serde_json 1.2.3 | maintained                      | MIT     | lines        | refused-by-library | RFC 0 |
| `bincode/bincode/standard` † | bincode  | bincode 1.2.3    | unmaintained, RUSTSEC-2025-0141 | MIT     | back-to-back | refused-by-library | RFC 0 |
| `postcard/postcard`          | postcard | postcard 1.2.3   | maintained                      | MIT     | back-to-back | refused-by-library | RFC 0 |
| `cbor/ciborium`              | cbor     | ciborium 1.2.3   | maintained                      | MIT     | back-to-back | refused-by-library | RFC 0 |
| `msgpack/rmp-serde/named`    | msgpack  | rmp-serde 1.2.3  | maintained                      | MIT     | back-to-back | refused-by-library | RFC 0 |
| `floor/memcpy` (not ranked)  | floor    | memcpy 1.2.3     | maintained                      | MIT     | back-to-back | refused-by-library | RFC 0 |

- `postcard/postcard`: needs a schema

†: no longer maintained.

## How to read

- **ratio**: time divided by the time of the table's fastest codec or reference, round by round; above 1 is slower
- **95 % interval**: of the ratio: \\[low, high\\] with 95 % confidence, or lowest..highest round where there are under five
- **verdict**: tie: no difference beyond twice the noise floor; unsure: too noisy to tell; a first look calls no difference under 5 %
- **time**: CPU time of one operation: median over rounds of each round's lower quartile
- **ops/s**: documents per second of CPU time
- **MB/s**: 10⁶ encoded bytes per second of CPU time; at equal speed a compact format shows fewer
- **size B**: encoded bytes of one operation
- **zstd B**: the same bytes compressed by zstd at level 3
- **× copy**: time divided by that of copying the encoded bytes once, the floor of any codec
- **allocs**: calls of the allocator in one operation, from a counting pass of its own
- **peak B**: most bytes alive at one time beyond those alive when the operation began
- **drop**: dropping the decoded value, which no decode time holds; it moves no bytes and asks for none, so it has no MB/s, no × copy and no allocs
",
    );
}

#[test]
fn a_first_look_and_a_reference_are_named() {
    let text = markdown(&quick(), Some(JSON));
    for part in [
        "# wiremark run 20261130-141503-7f3a (first look)\n",
        "\n## Fastest and smallest, mode reused (first look: 1 round)\n",
        "\nFirst look: 1 round, ratio to json/serde_json/compact.\n",
        "| reference |",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let text = markdown(&sample(), Some("a|b"));
    assert!(
        text.contains("\n- reference: no codec of this run is named `a\\|b`\n"),
        "{text}"
    );
}

#[test]
fn bars_in_names_do_not_end_a_cell() {
    let mut run = sample();
    for cell in &mut run.cells {
        cell.id.codec = cell.id.codec.replace("serde_json", "a|b");
    }
    let text = markdown(&run, None);
    assert!(text.contains("| `json/a\\|b/compact` "), "{text}");
}

#[test]
fn a_run_without_cells_says_so() {
    let text = markdown(&empty(), None);
    assert!(text.contains("\nNo cells.\n"), "{text}");
    assert!(!text.contains("Fastest"), "{text}");
}
