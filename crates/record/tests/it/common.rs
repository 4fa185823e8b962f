//! Runs made by hand.

use std::collections::BTreeMap;

use wiremark_record::{
    Build, Cell, CellId, Codec, Commit, Counts, Dataset, Load, Machine, Mode, Operation,
    Profile, Round, Run, SCHEMA, Status, Suite, Tool,
};

/// A run that has every key, summarised.
pub(crate) fn full() -> Run {
    let codec = |id: &str, role: &str, maintained: bool| Codec {
        id: id.to_owned(),
        format: "Some format".to_owned(),
        library: "some-library".to_owned(),
        version: "1.2.3".to_owned(),
        spec: "RFC 0".to_owned(),
        license: "MIT OR Apache-2.0".to_owned(),
        maintained,
        advisory: (!maintained).then(|| "RUSTSEC-2025-0141".to_owned()),
        role: role.to_owned(),
        framing: "back-to-back".to_owned(),
        trailing: "refused-by-adapter".to_owned(),
        caveat: "needs a schema".to_owned(),
        peer: None,
    };
    let mut run = Run {
        schema: SCHEMA.to_owned(),
        id: "20261130-141503-7f3a".to_owned(),
        tool: Tool { name: "wiremark".to_owned(), version: "0.1.0".to_owned() },
        command: vec!["bench".to_owned(), "--profile".to_owned(), "default".to_owned()],
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
        commit: Some(Commit { hash: "6d04fa8".repeat(5), dirty: false }),
        lock_hash: Some("b10a8db164e07541".to_owned()),
        machine: Machine {
            cpu: "Some CPU".to_owned(),
            cores: 2,
            memory_bytes: Some(8_000_000_000),
            kernel: "Linux 6.1.0".to_owned(),
            missing: BTreeMap::new(),
        },
        build: Build {
            rustc: "rustc 1.95.0".to_owned(),
            target: "x86_64-unknown-linux-gnu".to_owned(),
            profile: "bench: codegen-units 1, thin LTO".to_owned(),
            crates: BTreeMap::from([("postcard".to_owned(), "1.2.0".to_owned())]),
        },
        allocator: "system".to_owned(),
        heap: "steady".to_owned(),
        heap_settings: BTreeMap::from([(
            "MALLOC_TOP_PAD_".to_owned(),
            "67108864".to_owned(),
        )]),
        load: Load { before: Some(0.5), after: Some(1.25) },
        noise: None,
        datasets: vec![Dataset {
            id: "people".to_owned(),
            title: "10,000 people".to_owned(),
            source: "seed 42".to_owned(),
            origin: String::new(),
            records: 10_000,
            hash: "c0ffee".to_owned(),
        }],
        codecs: vec![
            codec("a/a", "codec", true),
            codec("b/b", "codec", false),
            codec("floor/memcpy", "floor", true),
        ],
        damage: Vec::new(),
        exchanges: Vec::new(),
        cells: vec![
            measured(Operation::Encode, "a/a", &[100.0, 101.0, 102.0, 103.0, 104.0]),
            measured(Operation::Encode, "b/b", &[200.0, 202.0, 204.0, 206.0, 208.0]),
            again(measured(
                Operation::Encode,
                "a/a",
                &[101.0, 102.0, 103.0, 104.0, 105.0],
            )),
            measured(Operation::Drop, "a/a", &[10.0, 10.0, 10.0, 10.0, 10.0]),
            floor(measured(
                Operation::Encode,
                "floor/memcpy",
                &[5.0, 5.0, 5.0, 5.0, 5.0],
            )),
            unmeasured("b/b", Status::Unsupported, "needs a schema"),
            unmeasured("c/c", Status::Failed, "the value came back without `age`"),
            unmeasured("d/d", Status::Timeout, "no answer within 60 s"),
            unmeasured("e/e", Status::Skipped, "filtered out"),
        ],
        missing: BTreeMap::new(),
    };
    run.summarise();
    run
}

/// The same run, interrupted after its first cell.
pub(crate) fn interrupted() -> Run {
    let mut run = full();
    run.complete = false;
    run.load.after = None;
    for cell in &mut run.cells[1..] {
        cell.status = Status::Skipped;
        cell.reason = Some("outstanding: the run was interrupted".to_owned());
        cell.rounds.clear();
        cell.missing.clear();
    }
    run.summarise();
    run
}

/// A cell with these times as rounds, not summarised.
pub(crate) fn measured(operation: Operation, codec: &str, times: &[f64]) -> Cell {
    let round = |(round, &cpu_ns): (u32, &f64)| Round {
        round,
        cpu_ns,
        cpu_min_ns: cpu_ns * 0.99,
        cpu_median_ns: cpu_ns * 1.01,
        wall_ns: cpu_ns * 1.5,
        copy_ns: (operation != Operation::Drop).then_some(5.0),
        user_ns: None,
        system_ns: None,
        samples: 30,
        operations: 300_000,
        preemptions: 3,
    };
    Cell {
        id: CellId {
            operation,
            dataset: "people".to_owned(),
            codec: codec.to_owned(),
            mode: Mode::Reused,
            way: None,
            again: false,
        },
        status: Status::Ok,
        reason: None,
        round_trip: Some(true),
        documents: 1,
        size_bytes: Some(1_000),
        zstd_bytes: Some(500),
        calls: None,
        peak_rss_bytes: None,
        counts: Some(Counts {
            allocations: 3,
            allocated_bytes: 4_096,
            peak_bytes: Some(4_096),
        }),
        time: None,
        wall: None,
        copy: None,
        rounds: (0..).zip(times).map(round).collect(),
        missing: BTreeMap::new(),
    }
}

fn again(mut cell: Cell) -> Cell {
    cell.id.again = true;
    cell
}

fn floor(mut cell: Cell) -> Cell {
    cell.round_trip = None;
    cell
}

fn unmeasured(codec: &str, status: Status, reason: &str) -> Cell {
    Cell {
        status,
        reason: Some(reason.to_owned()),
        round_trip: None,
        size_bytes: None,
        zstd_bytes: None,
        counts: None,
        rounds: Vec::new(),
        ..measured(Operation::Decode, codec, &[])
    }
}
