//! A run made by hand, with every kind of cell.

use std::collections::BTreeMap;

use wiremark_record::{
    Build, Cell, CellId, Codec, Commit, Counts, Dataset, Load, Machine, Mode, Operation,
    Profile, Round, Run, SCHEMA, Status, Suite, Tool,
};

pub(crate) const PEOPLE: &str = "people";
pub(crate) const JSON: &str = "json/serde_json/compact";
pub(crate) const BINCODE: &str = "bincode/bincode/standard";
pub(crate) const POSTCARD: &str = "postcard/postcard";
pub(crate) const CBOR: &str = "cbor/ciborium";
pub(crate) const MSGPACK: &str = "msgpack/rmp-serde/named";
pub(crate) const FLOOR: &str = "floor/memcpy";

/// What disturbs the rounds: the same for all cells of a round.
const SHARED: [f64; 5] = [1.0, 1.3, 0.9, 1.1, 1.0];

/// Five rounds, complete, with noise of a few per cent.
pub(crate) fn sample() -> Run {
    use Mode::{Reused, Stream};
    use Operation::{Borrow, Decode, Drop, Encode};
    let mut run = empty();
    run.cells = vec![
        cell(Encode, PEOPLE, JSON, Reused, 2.5e6, [1.00, 1.01, 0.99, 1.02, 1.00]),
        cell(Encode, PEOPLE, BINCODE, Reused, 0.70e6, [1.00, 1.02, 0.98, 1.01, 1.00]),
        cell(Encode, PEOPLE, POSTCARD, Reused, 0.69e6, [1.00, 1.00, 1.01, 1.00, 0.99]),
        cell(Encode, PEOPLE, CBOR, Reused, 0.80e6, [0.80, 1.40, 1.00, 0.75, 1.30]),
        without(Encode, MSGPACK, Status::Failed, "the value came back without `age`"),
        cell(Encode, PEOPLE, FLOOR, Reused, 20e3, [1.0; 5]),
        cell(Decode, PEOPLE, JSON, Reused, 3.2e6, [1.00, 1.01, 0.99, 1.02, 1.00]),
        cell(Decode, PEOPLE, POSTCARD, Reused, 1.9e6, [1.0; 5]),
        without(Decode, BINCODE, Status::Unsupported, "needs a schema"),
        without(Decode, MSGPACK, Status::Timeout, "no answer within 60 s"),
        without(Decode, CBOR, Status::Unsupported, "needs a schema"),
        without(Borrow, CBOR, Status::Unsupported, "text cannot be borrowed"),
        without(Borrow, POSTCARD, Status::Skipped, "filtered out"),
        cell(Drop, PEOPLE, JSON, Reused, 0.4e6, [1.0; 5]),
        cell(Encode, "event", JSON, Stream, 48e3, [1.00, 1.01, 0.99, 1.02, 1.00]),
        cell(Encode, "event", POSTCARD, Stream, 9_996.0, [1.0; 5]),
    ];
    let mut again =
        cell(Encode, PEOPLE, JSON, Reused, 2.5e6, [1.01, 1.00, 1.00, 1.00, 1.01]);
    again.id.again = true;
    run.cells.push(again);
    run.summarise();
    run
}

/// The same run after one round of a quick profile.
pub(crate) fn quick() -> Run {
    let mut run = sample();
    run.profile =
        Profile { name: "quick".to_owned(), rounds: 1, samples: 10, ..run.profile };
    for cell in &mut run.cells {
        cell.rounds.truncate(1);
    }
    run.summarise();
    run
}

/// A run without cells.
pub(crate) fn empty() -> Run {
    let mut run = Run {
        schema: SCHEMA.to_owned(),
        id: "20261130-141503-7f3a".to_owned(),
        tool: Tool { name: "wiremark".to_owned(), version: "0.1.0".to_owned() },
        command: vec!["bench".to_owned()],
        started_unix_s: 1_796_048_103,
        complete: true,
        suite: Suite::Codecs,
        file_system: None,
        profile: Profile {
            name: "default".to_owned(),
            rounds: 5,
            samples: 30,
            sample_ns: 1_000_000,
            warm_up_ns: 100_000_000,
        },
        plan: "0f343b0931126a20".to_owned(),
        commit: Some(Commit { hash: "6d04fa8e".repeat(5), dirty: true }),
        lock_hash: Some("b10a8db164e07541".to_owned()),
        machine: Machine {
            cpu: "Some CPU @ 3.0 GHz".to_owned(),
            cores: 2,
            memory_bytes: Some(8_000_000_000),
            kernel: "Linux 6.1.0".to_owned(),
            missing: BTreeMap::new(),
        },
        build: Build {
            rustc: "rustc 1.95.0".to_owned(),
            target: "x86_64-unknown-linux-gnu".to_owned(),
            profile: "bench (thin LTO, one codegen unit)".to_owned(),
            crates: BTreeMap::from([
                ("postcard".to_owned(), "1.2.0".to_owned()),
                ("serde_json".to_owned(), "1.0.154".to_owned()),
            ]),
        },
        allocator: "system".to_owned(),
        heap: "steady".to_owned(),
        heap_settings: BTreeMap::new(),
        load: Load { before: Some(0.5), after: Some(1.25) },
        noise: None,
        datasets: [
            (PEOPLE, "10,000 people {name, age}"),
            ("event", "an event of 7 entries"),
        ]
        .map(|(id, title)| Dataset {
            id: id.to_owned(),
            title: title.to_owned(),
            source: "seed 42".to_owned(),
            origin: String::new(),
            records: 100,
            hash: "c0ffee".to_owned(),
        })
        .to_vec(),
        codecs: [JSON, BINCODE, POSTCARD, CBOR, MSGPACK, FLOOR].map(codec).to_vec(),
        damage: Vec::new(),
        exchanges: Vec::new(),
        cells: Vec::new(),
        missing: BTreeMap::new(),
    };
    run.summarise();
    run
}

fn codec(id: &str) -> Codec {
    let mut parts = id.split('/').map(str::to_owned);
    let maintained = id != BINCODE;
    Codec {
        id: id.to_owned(),
        format: parts.next().unwrap_or_default(),
        library: parts.next().unwrap_or_default(),
        version: "1.2.3".to_owned(),
        spec: "RFC 0".to_owned(),
        license: "MIT".to_owned(),
        maintained,
        advisory: (!maintained).then(|| "RUSTSEC-2025-0141".to_owned()),
        role: if id == FLOOR { "floor" } else { "codec" }.to_owned(),
        framing: if id == JSON { "lines" } else { "back-to-back" }.to_owned(),
        trailing: "refused-by-library".to_owned(),
        caveat: if id == POSTCARD { "needs a schema" } else { "" }.to_owned(),
        peer: None,
    }
}

/// A cell that took `ns`, times what disturbed each round, times what was its own.
pub(crate) fn cell(
    operation: Operation,
    dataset: &str,
    codec: &str,
    mode: Mode,
    ns: f64,
    own: [f64; 5],
) -> Cell {
    let round = |(round, (shared, own)): (u32, (f64, f64))| {
        let cpu_ns = ns * shared * own;
        Round {
            round,
            cpu_ns,
            cpu_min_ns: cpu_ns,
            cpu_median_ns: cpu_ns,
            wall_ns: cpu_ns,
            copy_ns: (operation != Operation::Drop).then_some(20e3 * shared),
            user_ns: None,
            system_ns: None,
            samples: 30,
            operations: 3_000,
            preemptions: 1,
        }
    };
    let size = if codec == JSON { 1_234_567 } else { 310_211 };
    Cell {
        id: CellId {
            operation,
            dataset: dataset.to_owned(),
            codec: codec.to_owned(),
            mode,
            way: None,
            again: false,
        },
        status: Status::Ok,
        reason: None,
        round_trip: Some(true),
        documents: if mode == Mode::Stream { 100 } else { 1 },
        size_bytes: Some(size),
        zstd_bytes: Some(size / 4),
        calls: None,
        peak_rss_bytes: None,
        counts: Some(Counts {
            allocations: 20_001,
            allocated_bytes: 99,
            peak_bytes: Some(4_096),
        }),
        time: None,
        wall: None,
        copy: None,
        rounds: (0..).zip(SHARED.into_iter().zip(own)).map(round).collect(),
        missing: BTreeMap::new(),
    }
}

/// A cell of `people`, reused, without a figure.
pub(crate) fn without(
    operation: Operation,
    codec: &str,
    status: Status,
    why: &str,
) -> Cell {
    Cell {
        status,
        reason: Some(why.to_owned()),
        round_trip: None,
        size_bytes: None,
        zstd_bytes: None,
        counts: None,
        rounds: Vec::new(),
        ..cell(operation, PEOPLE, codec, Mode::Reused, 1.0, [1.0; 5])
    }
}
