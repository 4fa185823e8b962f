//! Runs workers: the check before any clock, and one fresh process for each cell and round.

use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};
use std::{fs, io, thread};

use wiremark_record::protocol::{ANSWERS, Answer, REQUEST, Request};
use wiremark_record::{Cell, CellId, Round, Status};

use crate::plan::to_json;
use crate::problem::{Context, Problem};
use crate::progress::Progress;

/// The settings of glibc's allocator under which a process keeps what it freed. Without them a
/// decoder alone in its process gives the heap back after each value (10,503 `brk` calls against
/// 61, decode 1.2 to 1.6 times slower), and identical code differs by up to 24 %.
const STEADY_HEAP: [(&str, &str); 3] = [
    ("MALLOC_TOP_PAD_", "67108864"),
    ("MALLOC_TRIM_THRESHOLD_", "1073741824"),
    ("MALLOC_MMAP_THRESHOLD_", "1073741824"),
];

/// The heap's settings, as the record has them.
pub(crate) fn heap_settings(steady: bool) -> BTreeMap<String, String> {
    let settings = STEADY_HEAP.iter().filter(|_| steady);
    settings.map(|&(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// Lets one worker check and count its cells. A cell that kills the worker has failed, one that
/// keeps it for longer than `timeout` is ended; a new worker goes on with the rest.
pub(crate) fn check(
    worker: &Path,
    request: &Request,
    cells: &[CellId],
    timeout: Duration,
    progress: &mut Progress,
) -> Result<Vec<Cell>, Problem> {
    let mut waiting: VecDeque<CellId> = cells.iter().cloned().collect();
    let mut checked = Vec::new();
    while !waiting.is_empty() {
        let before = waiting.len();
        let mut child = Command::new(worker)
            .arg("check")
            .env(REQUEST, to_json(request)?)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .context(|| format!("cannot run {}", worker.display()))?;
        feed(&mut child, &waiting)?;
        // Both pipes are read on threads of their own: a full one would stop the worker, and
        // one that says nothing for too long has to be noticed.
        let lines = lines_of(child.stdout.take());
        let said = child.stderr.take().map(|mut pipe| {
            thread::spawn(move || {
                let mut said = Vec::new();
                let _ = pipe.read_to_end(&mut said);
                said
            })
        });
        let mut current = None;
        let mut is_over = false;
        loop {
            match lines.recv_timeout(timeout) {
                // A worker that dies may leave half a line.
                Ok(line) => match serde_json::from_str(&line) {
                    Ok(Answer::Begin(id)) => {
                        progress.now(&id.to_string());
                        current = Some(id);
                    }
                    Ok(Answer::Checked(cell)) => {
                        waiting.retain(|id| *id != cell.id);
                        current = None;
                        checked.push(*cell);
                        progress.advance();
                    }
                    _ => {}
                },
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    is_over = true;
                    let _ = child.kill();
                    break;
                }
            }
        }
        let status = child.wait().context(|| "cannot wait".to_owned())?;
        let said = said.and_then(|thread| thread.join().ok()).unwrap_or_default();
        let said = last_line(&said);
        if let Some(id) = current {
            let (status, reason) = if is_over {
                (
                    Status::Timeout,
                    format!("the check took longer than {} s", timeout.as_secs()),
                )
            } else {
                (Status::Failed, format!("the check died: {}{said}", how(status)))
            };
            waiting.retain(|other| *other != id);
            checked.push(without_figure(id, status, reason));
            progress.advance();
        } else if !status.success() || waiting.len() == before {
            return Err(Problem::new(format!("a worker failed: {}{said}", how(status))));
        }
    }
    Ok(checked)
}

/// The lines of a pipe, as they come.
fn lines_of(pipe: Option<impl Read + Send + 'static>) -> Receiver<String> {
    let (sender, lines) = mpsc::channel();
    thread::spawn(move || {
        let Some(pipe) = pipe else { return };
        for line in BufReader::new(pipe).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    lines
}

fn feed(child: &mut Child, cells: &VecDeque<CellId>) -> Result<(), Problem> {
    let mut lines = String::new();
    for id in cells {
        lines.push_str(&to_json(id)?);
        lines.push('\n');
    }
    match child.stdin.take().map(|mut stdin| stdin.write_all(lines.as_bytes())) {
        // A worker that died before it read tells why by how it ended.
        Some(Err(error)) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Problem::new(format!("cannot talk to a worker: {error}")))
        }
        _ => Ok(()),
    }
}

/// A cell that has no figure, with the reason.
pub(crate) fn without_figure(id: CellId, status: Status, reason: String) -> Cell {
    Cell {
        id,
        status,
        reason: Some(reason),
        round_trip: None,
        documents: 1,
        size_bytes: None,
        zstd_bytes: None,
        counts: None,
        time: None,
        wall: None,
        copy: None,
        rounds: Vec::new(),
        missing: BTreeMap::new(),
    }
}

/// How one timed process ended, if not with a figure.
#[derive(Debug)]
pub(crate) enum Ended {
    /// It took longer than it may.
    Timeout,
    /// It died, or said nothing.
    Failed(String),
}

/// Measures one cell once, in a fresh process.
pub(crate) fn round(
    binary: &Path,
    request: &str,
    id: &CellId,
    steady: bool,
    timeout: Duration,
    scratch: &Path,
) -> Result<Result<Round, Ended>, Problem> {
    let answers = scratch.join("answers");
    let said = scratch.join("said");
    let _ = fs::remove_file(&answers);
    let log =
        fs::File::create(&said).context(|| format!("cannot write {}", said.display()))?;
    let log_too = log.try_clone().context(|| "cannot share a file".to_owned())?;
    // The second name of a control is ours alone; the process runs the same cell.
    let name = CellId { again: false, ..id.clone() }.to_string();
    let mut command = Command::new(binary);
    command
        .args(["--bench", "--exact", &name, "--discard-baseline", "--quiet"])
        .env(REQUEST, request)
        .env(ANSWERS, &answers)
        .env("CRITERION_HOME", scratch.join("criterion"))
        .current_dir(scratch)
        .stdin(Stdio::null())
        .stdout(log)
        .stderr(log_too);
    for (name, value) in STEADY_HEAP {
        if steady {
            command.env(name, value);
        } else {
            command.env_remove(name);
        }
    }
    let mut child =
        command.spawn().context(|| format!("cannot run {}", binary.display()))?;
    let Some(status) = wait(&mut child, timeout)? else {
        return Ok(Err(Ended::Timeout));
    };
    if !status.success() {
        let said = last_line(&fs::read(&said).unwrap_or_default());
        return Ok(Err(Ended::Failed(format!("{}{said}", how(status)))));
    }
    let text = fs::read_to_string(&answers).unwrap_or_default();
    let round = text.lines().find_map(|line| match serde_json::from_str(line) {
        Ok(Answer::Measured(_, round)) => Some(round),
        _ => None,
    });
    Ok(round.ok_or_else(|| Ended::Failed("the process measured nothing".to_owned())))
}

/// Waits for a process, and ends it when its time is over.
fn wait(child: &mut Child, timeout: Duration) -> Result<Option<ExitStatus>, Problem> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().context(|| "cannot wait".to_owned())? {
            return Ok(Some(status));
        }
        if start.elapsed() > timeout {
            let _ = child.kill();
            let _ = child.wait();
            return Ok(None);
        }
        // Long against what looking costs, short against the shortest process.
        thread::sleep(Duration::from_millis(3));
    }
}

/// How a process ended, in words.
fn how(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (_, Some(6)) => "aborted (signal 6)".to_owned(),
        (_, Some(9)) => "killed (signal 9; perhaps out of memory)".to_owned(),
        (_, Some(11)) => "crashed (signal 11; perhaps a stack overflow)".to_owned(),
        (_, Some(signal)) => format!("ended by signal {signal}"),
        (Some(code), None) => format!("exit code {code}"),
        (None, None) => "ended in an unknown way".to_owned(),
    }
}

/// The last line that is not empty, led by `: `, or nothing.
fn last_line(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let is_remark = |line: &&str| !line.trim().is_empty() && !line.starts_with("note:");
    text.lines().rev().find(is_remark).map_or_else(String::new, |line| {
        format!(": {}", line.trim().trim_start_matches("error: "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_takes_too_long_is_ended() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let status = wait(&mut child, Duration::from_millis(20)).unwrap();
        assert_eq!(status, None);
        assert!(child.try_wait().unwrap().is_some(), "it is gone");
    }

    /// A worker that begins a cell and then does what `then` says, in the shell's words.
    fn check_with(then: &str) -> Vec<Cell> {
        let id = CellId {
            operation: wiremark_record::Operation::Encode,
            dataset: "small".to_owned(),
            codec: "json/x".to_owned(),
            mode: wiremark_record::Mode::Reused,
            again: false,
        };
        let begin = to_json(&Answer::Begin(id.clone())).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let worker = folder.path().join("worker");
        fs::write(&worker, format!("#!/bin/sh\necho '{begin}'\n{then}\n")).unwrap();
        let mut mode = fs::metadata(&worker).unwrap().permissions();
        std::os::unix::fs::PermissionsExt::set_mode(&mut mode, 0o755);
        fs::set_permissions(&worker, mode).unwrap();
        let request = Request {
            datasets: Vec::new(),
            files: Vec::new(),
            sampling: wiremark_record::protocol::Sampling::default(),
        };
        let mut progress = Progress::new("checking", 0);
        check(&worker, &request, &[id], Duration::from_millis(300), &mut progress)
            .unwrap()
    }

    #[test]
    fn a_cell_that_hangs_or_kills_its_worker_has_no_figure() {
        let rows = [
            ("exec sleep 60", Status::Timeout, "the check took longer than 0 s"),
            ("kill -6 $$", Status::Failed, "the check died: aborted (signal 6)"),
            (
                "echo oh no >&2; exit 3",
                Status::Failed,
                "the check died: exit code 3: oh no",
            ),
        ];
        for (then, status, reason) in rows {
            let cells = check_with(then);
            assert_eq!(cells.len(), 1, "{then}");
            assert_eq!(cells[0].status, status, "{then}");
            assert_eq!(cells[0].reason.as_deref(), Some(reason), "{then}");
        }
    }

    #[test]
    fn what_a_process_said_last_is_told() {
        let said = b"warming up\nerror: no figure\n\nnote: run with backtrace\n";
        assert_eq!(last_line(said), ": no figure");
        assert_eq!(last_line(b""), "");
    }

    #[test]
    fn a_heap_is_steady_by_three_settings_or_left_alone() {
        assert_eq!(heap_settings(true).len(), 3);
        assert!(heap_settings(false).is_empty());
    }
}
