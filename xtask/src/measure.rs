//! Runs workers: the check before any clock, and one fresh process for each cell and round, those
//! of one table in turns.

use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};
use std::{fs, io, thread};

use wiremark_record::protocol::{ANSWERS, Answer, MY_TURN, Request, Sampled, TURNS};
use wiremark_record::{Cell, CellId, Damage, Round, Status};

use crate::cleanup::{self, Registered};
use crate::plan::to_json;
use crate::problem::{Context, Problem};
use crate::progress::Progress;
use crate::worker::Worker;

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
    worker: &Worker,
    request: &Request,
    cells: &[CellId],
    timeout: Duration,
    progress: &mut Progress,
) -> Result<(Vec<Cell>, Vec<Damage>), Problem> {
    let mut waiting: VecDeque<CellId> = cells.iter().cloned().collect();
    let mut checked = Vec::new();
    let mut damage = Vec::new();
    while !waiting.is_empty() {
        let before = waiting.len();
        let mut child = worker
            .command("check", request)?
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .context(|| format!("cannot run {worker}"))?;
        let _ends = cleanup::ends_with_us(&child);
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
                    Ok(Answer::Damage(one)) => damage.push(one),
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
        cleanup::halt_if_interrupted();
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
        } else if !status.success() && waiting.is_empty() {
            // All cells are checked; what comes behind them is the look at flipped bits.
            progress.remark(&format!(
                "note: a worker died of a flipped bit: {}{said}",
                how(status)
            ));
        } else if !status.success() || waiting.len() == before {
            return Err(Problem::new(format!("a worker failed: {}{said}", how(status))));
        }
    }
    Ok((checked, damage))
}

/// The lines of a pipe, as they come.
pub(crate) fn lines_of(pipe: Option<impl Read + Send + 'static>) -> Receiver<String> {
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
        calls: None,
        peak_rss_bytes: None,
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

/// One of the cells that are measured in turns.
#[derive(Debug, Clone)]
pub(crate) struct Entrant<'a> {
    pub(crate) id: CellId,
    pub(crate) worker: &'a Worker,
}

/// How timed processes are run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Circumstances<'a> {
    pub(crate) request: &'a Request,
    pub(crate) steady: bool,
    /// How long a process may be silent.
    pub(crate) timeout: Duration,
    /// A folder for what the processes write.
    pub(crate) scratch: &'a Path,
}

/// Measures each of some cells once, each in a fresh process, side by side: they take turns, a
/// sample each, so that whatever slows the machine for a while slows all of them. Only one
/// process works at a time.
///
/// The results come in the order of `entrants`.
pub(crate) fn in_turns(
    entrants: &[Entrant<'_>],
    how: Circumstances<'_>,
) -> Result<Vec<Result<Round, Ended>>, Problem> {
    let mut racing = Vec::new();
    for (lane, entrant) in entrants.iter().enumerate() {
        racing.push(Racing::start(lane, entrant, how)?);
    }
    // Every second time in the other order, as with rounds.
    let mut is_backwards = false;
    while racing.iter().any(|one| one.ended.is_none()) {
        let give = |one: &mut Racing| one.take_turn(how.timeout);
        if is_backwards {
            racing.iter_mut().rev().try_for_each(give)?;
        } else {
            racing.iter_mut().try_for_each(give)?;
        }
        is_backwards = !is_backwards;
    }
    let unknown = || Err(Ended::Failed("the process measured nothing".to_owned()));
    Ok(racing
        .into_iter()
        .map(|mut one| one.ended.take().unwrap_or_else(unknown))
        .collect())
}

/// A timed process that waits for its turn, or has ended.
struct Racing {
    child: Child,
    lines: Receiver<String>,
    answers: PathBuf,
    said: PathBuf,
    /// What a peer measured.
    sampled: Option<Round>,
    ended: Option<Result<Round, Ended>>,
    _ends: Registered,
}

impl Drop for Racing {
    fn drop(&mut self) {
        // After an error elsewhere it still waits for a turn that will not come.
        if self.ended.is_none() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

impl Racing {
    /// Starts the process and lets it come to its first sample.
    fn start(
        lane: usize,
        entrant: &Entrant<'_>,
        how: Circumstances<'_>,
    ) -> Result<Self, Problem> {
        let Entrant { id, worker } = entrant;
        let scratch = how.scratch;
        let answers = scratch.join(format!("answers-{lane}"));
        let said = scratch.join(format!("said-{lane}"));
        let _ = fs::remove_file(&answers);
        let log = fs::File::create(&said)
            .context(|| format!("cannot write {}", said.display()))?;
        // The second name of a control is ours alone; the process runs the same cell.
        let own = CellId { again: false, ..id.clone() };
        let mut command = worker.measuring(&own, how.request)?;
        command
            .env(ANSWERS, &answers)
            .env(TURNS, "1")
            .env("CRITERION_HOME", scratch.join("criterion"))
            .current_dir(scratch)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log);
        for (name, value) in STEADY_HEAP {
            if how.steady {
                command.env(name, value);
            } else {
                command.env_remove(name);
            }
        }
        let mut child = command.spawn().context(|| format!("cannot run {worker}"))?;
        let lines = lines_of(child.stdout.take());
        let ends = cleanup::ends_with_us(&child);
        let mut racing =
            Self { child, lines, answers, said, sampled: None, ended: None, _ends: ends };
        racing.until_it_waits(how.timeout)?;
        Ok(racing)
    }

    /// Lets the process take one sample, or end.
    fn take_turn(&mut self, timeout: Duration) -> Result<(), Problem> {
        if self.ended.is_some() {
            return Ok(());
        }
        if let Some(stdin) = &mut self.child.stdin {
            // One that died meanwhile tells why by how it ended.
            let _ = stdin.write_all(b"\n");
        }
        self.until_it_waits(timeout)
    }

    /// Waits until the process asks for a turn or ends.
    fn until_it_waits(&mut self, timeout: Duration) -> Result<(), Problem> {
        let start = Instant::now();
        loop {
            let left = timeout.saturating_sub(start.elapsed());
            match self.lines.recv_timeout(left) {
                // criterion may have left half a line before it.
                Ok(line) if line.ends_with(MY_TURN) => return Ok(()),
                // A peer tells its samples here, and they are summed up as ours are.
                Ok(line) => {
                    if let Ok(Answer::Sampled(id, Sampled { samples })) =
                        serde_json::from_str(&line)
                    {
                        let clock = id.operation.clock();
                        self.sampled = Round::of_samples(&samples, clock);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    let _ = self.child.kill();
                    let _ = self.child.wait();
                    self.ended = Some(Err(Ended::Timeout));
                    return Ok(());
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        cleanup::halt_if_interrupted();
        self.ended = Some(match wait(&mut self.child, timeout)? {
            None => Err(Ended::Timeout),
            Some(status) => self.result(status),
        });
        Ok(())
    }

    /// What the process measured, if it ended well.
    fn result(&self, status: ExitStatus) -> Result<Round, Ended> {
        if !status.success() {
            let said = last_line(&fs::read(&self.said).unwrap_or_default());
            return Err(Ended::Failed(format!("{}{said}", how(status))));
        }
        if let Some(round) = &self.sampled {
            return Ok(round.clone());
        }
        let text = fs::read_to_string(&self.answers).unwrap_or_default();
        let round = text.lines().find_map(|line| match serde_json::from_str(line) {
            Ok(Answer::Measured(_, round)) => Some(round),
            _ => None,
        });
        round.ok_or_else(|| Ended::Failed("the process measured nothing".to_owned()))
    }
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
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
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
            way: None,
            again: false,
        };
        let begin = to_json(&Answer::Begin(id.clone())).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let worker = folder.path().join("worker");
        fs::write(&worker, format!("#!/bin/sh\necho '{begin}'\n{then}\n")).unwrap();
        let mut mode = fs::metadata(&worker).unwrap().permissions();
        std::os::unix::fs::PermissionsExt::set_mode(&mut mode, 0o755);
        fs::set_permissions(&worker, mode).unwrap();
        let request = Request::default();
        let mut progress = Progress::new("checking", 0);
        let worker = Worker::Ours(worker);
        check(&worker, &request, &[id], Duration::from_millis(300), &mut progress)
            .unwrap()
            .0
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

    /// Processes that play timed ones by a shell script each, in which `$turn` asks for a turn
    /// and `$done` answers with a time; with the lines that they wrote into `$log`.
    fn race(scripts: &[&str]) -> (Vec<Result<f64, String>>, Vec<String>) {
        let folder = tempfile::tempdir().unwrap();
        let id = CellId {
            operation: wiremark_record::Operation::Encode,
            dataset: "small".to_owned(),
            codec: "json/x".to_owned(),
            mode: wiremark_record::Mode::Reused,
            way: None,
            again: false,
        };
        let round = Round {
            round: 0,
            cpu_ns: 5.0,
            cpu_min_ns: 5.0,
            cpu_median_ns: 5.0,
            wall_ns: 5.0,
            copy_ns: None,
            user_ns: None,
            system_ns: None,
            samples: 10,
            operations: 10,
            preemptions: 0,
        };
        let answer = to_json(&Answer::Measured(id.clone(), round)).unwrap();
        let workers: Vec<Worker> = scripts
            .iter()
            .enumerate()
            .map(|(nth, script)| {
                let binary = folder.path().join(format!("binary-{nth}"));
                let turn = format!("echo '{MY_TURN}'; read line || exit 7");
                let done = format!("echo '{answer}' >> ${ANSWERS}");
                let script = script.replace("$turn", &turn).replace("$done", &done);
                fs::write(
                    &binary,
                    format!(
                        "#!/bin/sh\nlog={}\n{script}\n",
                        folder.path().join("log").display()
                    ),
                )
                .unwrap();
                let mut mode = fs::metadata(&binary).unwrap().permissions();
                std::os::unix::fs::PermissionsExt::set_mode(&mut mode, 0o755);
                fs::set_permissions(&binary, mode).unwrap();
                Worker::Ours(binary)
            })
            .collect();
        let entrants: Vec<Entrant> =
            workers.iter().map(|worker| Entrant { id: id.clone(), worker }).collect();
        let how = Circumstances {
            request: &Request::default(),
            steady: true,
            timeout: Duration::from_secs(2),
            scratch: folder.path(),
        };
        let ended =
            in_turns(&entrants, how).unwrap().into_iter().map(|ended| match ended {
                Ok(round) => Ok(round.cpu_ns),
                Err(Ended::Timeout) => Err("timeout".to_owned()),
                Err(Ended::Failed(reason)) => Err(reason),
            });
        let ended = ended.collect();
        let log = fs::read_to_string(folder.path().join("log")).unwrap_or_default();
        (ended, log.lines().map(str::to_owned).collect())
    }

    #[test]
    fn processes_take_turns_and_every_second_time_in_the_other_order() {
        let script = |name: &str| {
            format!(
                "echo {name} warm >> $log; echo half a line; printf begun; \
                 for nth in 1 2 3; do $turn; echo {name} $nth >> $log; done; $done"
            )
        };
        let (ended, log) = race(&[&script("a"), &script("b"), &script("c")]);
        assert_eq!(ended, [Ok(5.0), Ok(5.0), Ok(5.0)]);
        let wanted = [
            "a warm", "b warm", "c warm", "a 1", "b 1", "c 1", "c 2", "b 2", "a 2",
            "a 3", "b 3", "c 3",
        ];
        assert_eq!(log, wanted);
    }

    #[test]
    fn a_process_that_fails_takes_no_other_with_it() {
        let fine = "$turn; $turn; $done";
        let (ended, _) = race(&[
            fine,
            "$turn; exec sleep 60",
            "echo error: it broke >&2; exit 3",
            "$turn; kill -9 $$",
            "$turn",
            fine,
        ]);
        let failed = |reason: &str| Err(reason.to_owned());
        assert_eq!(
            ended,
            [
                Ok(5.0),
                failed("timeout"),
                failed("exit code 3: it broke"),
                failed("killed (signal 9; perhaps out of memory)"),
                failed("the process measured nothing"),
                Ok(5.0),
            ]
        );
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
