//! Bytes that go from codec to codec of one wire format, before any clock: out and back between
//! every two libraries, ours and those of peers.

use std::collections::HashMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::mpsc::RecvTimeoutError;
use std::thread;
use std::time::Duration;

use wiremark_record::protocol::{Answer, Exchanged, Relay, Request};
use wiremark_record::{CellId, Codec, Exchange, Operation, Outcome};

use crate::cleanup;
use crate::measure;
use crate::plan::{Listed, to_json};
use crate::problem::{Context, Problem};
use crate::worker::Worker;

/// Who takes part: a codec with the worker that has it, and the datasets that it can encode.
struct Party<'a> {
    codec: &'a Codec,
    worker: usize,
    datasets: Vec<&'a str>,
}

/// A way to try: `there` encodes, `back` decodes and encodes again, `there` decodes.
struct Way<'a> {
    dataset: &'a str,
    there: &'a Party<'a>,
    back: &'a Party<'a>,
    /// The bytes of the first and of the second.
    files: [PathBuf; 2],
}

/// Sends the value of every dataset out and back between every two libraries of one wire format
/// of which at least one is ours. Those cells take part that `selected` holds.
pub(crate) fn run(
    workers: &[Worker],
    request: &Request,
    listed: &Listed,
    selected: &[&CellId],
    folder: &Path,
    timeout: Duration,
) -> Result<Vec<Exchange>, Problem> {
    let parties = parties(listed, selected);
    let ways = ways(&parties, folder);
    if ways.is_empty() {
        return Ok(Vec::new());
    }
    fs::create_dir_all(folder).context(|| format!("cannot make {}", folder.display()))?;
    let exchanges = send(workers, request, &ways, timeout);
    let _ = fs::remove_dir_all(folder);
    exchanges
}

fn parties<'a>(listed: &'a Listed, selected: &[&CellId]) -> Vec<Party<'a>> {
    let codecs = listed.codecs.iter().filter(|codec| codec.role == "codec");
    codecs
        .filter_map(|codec| {
            let mut worker = None;
            let mut datasets = Vec::new();
            for (cell, of) in &listed.cells {
                let id = &cell.id;
                let is_of_it = id.codec == codec.id && id.operation == Operation::Encode;
                if is_of_it && cell.skip.is_none() && selected.contains(&id) {
                    worker = Some(*of);
                    if !datasets.contains(&id.dataset.as_str()) {
                        datasets.push(id.dataset.as_str());
                    }
                }
            }
            Some(Party { codec, worker: worker?, datasets })
        })
        .collect()
}

fn ways<'a>(parties: &'a [Party<'a>], folder: &Path) -> Vec<Way<'a>> {
    let mut ways = Vec::new();
    for (nth, there) in parties.iter().enumerate() {
        for (other, back) in parties.iter().enumerate() {
            let (a, b) = (there.codec, back.codec);
            let is_pair = a.format == b.format
                && a.library != b.library
                && (a.peer.is_none() || b.peer.is_none());
            if !is_pair {
                continue;
            }
            for dataset in there.datasets.iter().filter(|id| back.datasets.contains(id)) {
                let place =
                    there.datasets.iter().position(|id| id == dataset).unwrap_or(0);
                ways.push(Way {
                    dataset,
                    there,
                    back,
                    files: [
                        folder.join(format!("{nth}-{place}")),
                        folder.join(format!("{nth}-{place}-{other}")),
                    ],
                });
            }
        }
    }
    ways
}

/// Three legs: all encode; all decode what the others encoded, and encode it again; all decode
/// what came back.
fn send(
    workers: &[Worker],
    request: &Request,
    ways: &[Way<'_>],
    timeout: Duration,
) -> Result<Vec<Exchange>, Problem> {
    let relay =
        |party: &Party<'_>, dataset: &str, read: Option<&Path>, write: Option<&Path>| {
            let relay = Relay {
                codec: party.codec.id.clone(),
                dataset: dataset.to_owned(),
                read: read.map(Path::to_owned),
                write: write.map(Path::to_owned),
            };
            (party.worker, relay)
        };
    let mut first: Vec<(usize, Relay)> = Vec::new();
    for way in ways {
        let leg = relay(way.there, way.dataset, None, Some(&way.files[0]));
        if !first.contains(&leg) {
            first.push(leg);
        }
    }
    let encoded = legs(workers, request, &first, timeout)?;
    let of_first = |way: &Way<'_>| {
        let leg = relay(way.there, way.dataset, None, Some(&way.files[0]));
        first.iter().position(|other| *other == leg).and_then(|at| encoded.get(at))
    };
    let went = |answer: Option<&Exchanged>| {
        answer.is_some_and(|answer| {
            matches!(answer.verdict, Outcome::Equal | Outcome::Mapped)
        })
    };
    let mut answers: Vec<Vec<Exchanged>> =
        ways.iter().map(|way| of_first(way).into_iter().cloned().collect()).collect();
    for leg in 1..3 {
        let on: Vec<usize> =
            (0..ways.len()).filter(|&nth| went(answers[nth].last())).collect();
        let relays: Vec<(usize, Relay)> = on
            .iter()
            .map(|&nth| {
                let Way { dataset, there, back, files: [out, home] } = &ways[nth];
                if leg == 1 {
                    relay(back, dataset, Some(out), Some(home))
                } else {
                    relay(there, dataset, Some(home), None)
                }
            })
            .collect();
        let found = legs(workers, request, &relays, timeout)?;
        for (nth, answer) in on.into_iter().zip(found) {
            answers[nth].push(answer);
        }
    }
    Ok(ways.iter().zip(answers).map(|(way, answers)| told(way, &answers)).collect())
}

/// What the answers of a way's legs say together.
fn told(way: &Way<'_>, answers: &[Exchanged]) -> Exchange {
    let path = [way.there, way.back, way.there].map(|party| party.codec.id.clone());
    let who = |nth: usize| path.get(nth).map_or("", String::as_str);
    let mut mappings: Vec<&str> = Vec::new();
    for answer in answers {
        if let Some(mapping) = answer.mapping.as_deref()
            && !mappings.contains(&mapping)
        {
            mappings.push(mapping);
        }
    }
    let (outcome, reason) = match answers.last() {
        Some(last) if matches!(last.verdict, Outcome::Changed | Outcome::Refused) => {
            let said = last.reason.as_deref().unwrap_or("it did not say why");
            (last.verdict, format!("{}: {said}", who(answers.len() - 1)))
        }
        Some(_) if mappings.is_empty() => (Outcome::Equal, String::new()),
        Some(_) => (Outcome::Mapped, mappings.join("; ")),
        None => (Outcome::Refused, "it was not tried".to_owned()),
    };
    Exchange { dataset: way.dataset.to_owned(), path: path.to_vec(), outcome, reason }
}

/// Runs legs, those of one worker in one process; answers in the order of the legs.
fn legs(
    workers: &[Worker],
    request: &Request,
    relays: &[(usize, Relay)],
    timeout: Duration,
) -> Result<Vec<Exchanged>, Problem> {
    let mut of_worker: HashMap<usize, Vec<usize>> = HashMap::new();
    for (nth, (worker, _)) in relays.iter().enumerate() {
        of_worker.entry(*worker).or_default().push(nth);
    }
    let not_told = || Exchanged {
        verdict: Outcome::Refused,
        mapping: None,
        reason: Some("the program ended before it answered".to_owned()),
    };
    let mut answers: Vec<Exchanged> = relays.iter().map(|_| not_told()).collect();
    for (worker, places) in of_worker {
        let Some(worker) = workers.get(worker) else { continue };
        let mut lines = String::new();
        for &nth in &places {
            lines.push_str(&to_json(&relays[nth].1)?);
            lines.push('\n');
        }
        let found = ask(worker, request, lines, timeout)?;
        for (nth, answer) in places.into_iter().zip(found) {
            answers[nth] = answer;
        }
    }
    Ok(answers)
}

/// One process with its legs. What it did not answer, because it died or took too long, is left
/// out.
fn ask(
    worker: &Worker,
    request: &Request,
    lines: String,
    timeout: Duration,
) -> Result<Vec<Exchanged>, Problem> {
    let mut child = worker
        .command("exchange", request)?
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .context(|| format!("cannot run {worker}"))?;
    let _ends = cleanup::ends_with_us(&child);
    let stdin = child.stdin.take();
    // On a thread of its own: answers are read while it still reads questions.
    let writer = thread::spawn(move || {
        let written = stdin.map(|mut stdin| stdin.write_all(lines.as_bytes()));
        drop(written);
    });
    let out = measure::lines_of(child.stdout.take());
    let mut answers = Vec::new();
    loop {
        match out.recv_timeout(timeout) {
            Ok(line) => {
                if let Ok(Answer::Exchanged(answer)) = serde_json::from_str(&line) {
                    answers.push(by_mapping(answer));
                }
            }
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                let _ = child.kill();
                break;
            }
        }
    }
    child.wait().context(|| "cannot wait".to_owned())?;
    let _ = writer.join();
    cleanup::halt_if_interrupted();
    Ok(answers)
}

/// Equal with a mapping is equal by that mapping.
fn by_mapping(mut answer: Exchanged) -> Exchanged {
    if answer.verdict == Outcome::Equal && answer.mapping.is_some() {
        answer.verdict = Outcome::Mapped;
    }
    answer
}
