//! `cargo xtask bench`: from the command line to tables.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use wiremark_meter::machine;
use wiremark_peers::Peers;
use wiremark_record::protocol::{DATABASE, Request, Sampling};
use wiremark_record::{
    Build, Cell, CellId, Codec, Commit, Dataset, Load, Machine, Mode, Profile, Round,
    Run, SCHEMA, Status, Suite, Tool,
};
use wiremark_throwaway::Server;

use crate::build::{self, Kind, What};
use crate::cleanup::{self, Owned, Registered};
use crate::cli::{Allocator, BenchOptions, Heap, ProfileName, SuiteName};
use crate::exchange;
use crate::files::{self, RESULTS};
use crate::measure::{self, Circumstances, Ended, Entrant};
use crate::plan::{self, Listed, Plan, to_json};
use crate::problem::{Code, Context, Problem};
use crate::progress::Progress;
use crate::report;
use crate::worker::{self, Worker};
use crate::workspace::Workspace;

/// The file that tells `--resume` how to go on.
const PLAN: &str = "plan.json";

/// The folder of a run for the values that peers read.
const VALUES_FOLDER: &str = "values";

/// Why a cell has no figure yet.
const OUTSTANDING: &str = "not yet measured";

/// How long the results on disk may lag behind what was measured.
const SAVE_EVERY: Duration = Duration::from_millis(250);

pub(crate) fn run(options: &BenchOptions) -> Result<(), Problem> {
    report::probe(&options.exports)?;
    let workspace = Workspace::find()?;
    let database = Database::find(options)?;
    let database = database.as_ref().map(|database| database.url.as_str());
    let (run, folder) = match &options.resume {
        Some(id) => {
            if !options.filters.is_empty() || !options.data.files.is_empty() {
                crate::remark(
                    "the run goes on as it was planned: filters and data are not used",
                );
            }
            let folder = files::run_folder(&workspace, id)?;
            (resume(&workspace, &folder, database)?, folder)
        }
        None => start(&workspace, options, database)?,
    };
    finish(&run, &folder, options)
}

/// Plans a new run and measures it.
fn start(
    workspace: &Workspace,
    options: &BenchOptions,
    database: Option<&str>,
) -> Result<(Run, PathBuf), Problem> {
    let name = if options.quick { ProfileName::Quick } else { options.profile };
    let suite = options.suite.suite();
    let profile = plan::profile(name, suite, options.rounds);
    let id = new_id();
    let folder = workspace.runs().join(&id);
    fs::create_dir_all(&folder)
        .context(|| format!("cannot make the run's folder {}", folder.display()))?;
    let place = Place::make(options, suite, &folder, &id).inspect_err(|_| {
        let _ = fs::remove_dir_all(&folder);
    })?;
    let place_of_files = place.as_ref().map(Place::path);
    let planned =
        prepare(workspace, options, name, &profile, &folder, place_of_files, database);
    let (plan, listed, cells, timed) = match planned {
        Ok(planned) => planned,
        Err(problem) => {
            // Nothing was measured, so nothing is kept.
            let _ = fs::remove_dir_all(&folder);
            return Err(problem);
        }
    };
    let mut run = new_run(workspace, id, profile, &plan, &listed, cells);
    run.file_system = place.as_ref().and_then(|place| machine::file_system(place.path()));
    files::write_whole(&folder.join(PLAN), to_json(&plan)?.as_bytes())?;
    save(&mut run, &folder)?;
    files::point_latest(workspace, &run.id)?;
    measure_all(&mut run, &plan, &timed, &folder)?;
    Ok((run, folder))
}

/// The crates whose binaries a suite is made of.
pub(crate) fn crates(
    workspace: &Workspace,
    suite: Suite,
) -> Result<Vec<String>, Problem> {
    let mut crates = workspace.codec_crates()?;
    if suite == Suite::Export {
        crates.insert(0, build::TEXT.to_owned());
    }
    Ok(crates)
}

/// The crates that a first look takes; says which it leaves out.
fn for_first_look(workspace: &Workspace, crates: Vec<String>) -> Vec<String> {
    let (taken, left): (Vec<String>, Vec<String>) =
        crates.into_iter().partition(|name| workspace.is_for_first_look(name));
    if !left.is_empty() {
        crate::remark(&format!(
            "note: a first look leaves out {}; --all takes them in",
            left.join(", ")
        ));
    }
    taken
}

/// Those of the crates that the user named; all, if none.
fn chosen(crates: Vec<String>, names: &[String]) -> Result<Vec<String>, Problem> {
    if let Some(unknown) = names.iter().find(|name| !crates.contains(name)) {
        return Err(Problem::usage(format!(
            "no crate is called `{unknown}`: there are {}",
            crates.join(", ")
        )));
    }
    if names.is_empty() {
        return Ok(crates);
    }
    Ok(crates.into_iter().filter(|name| names.contains(name)).collect())
}

/// The PostgreSQL database of a run.
struct Database {
    url: String,
    /// One of our own, which goes with this value; also when this process ends in any other way.
    _server: Option<Server>,
}

impl Database {
    /// The one that the command line or the environment names; none for suites without rows.
    fn find(options: &BenchOptions) -> Result<Option<Self>, Problem> {
        let is_export = options.suite == SuiteName::Export;
        if !is_export && options.resume.is_none() {
            return match options.postgres {
                Some(_) => Err(Problem::usage("--postgres is for --suite export")),
                None => Ok(None),
            };
        }
        if options.postgres.is_some() {
            let server = Server::start()
                .context(|| "cannot start a private PostgreSQL server".to_owned())?;
            return Ok(Some(Self { url: server.url(), _server: Some(server) }));
        }
        let url = std::env::var(DATABASE).ok();
        if url.is_none() && is_export {
            crate::remark(
                "note: PostgreSQL is not measured: set DATABASE_URL, or let `--postgres \
                 throwaway` start a private server",
            );
        }
        Ok(url.map(|url| Self { url, _server: None }))
    }
}

/// Should the run be interrupted: a process that is killed cannot remove its tables, so one of the
/// same kind does it.
fn sweeps(programs: &[Worker], request: &Request) -> Option<Sweeper> {
    request.database.as_ref()?;
    let command = || programs.first()?.command("--sweep", request).ok();
    let (at_end, mut interrupted) = (command()?, command()?);
    let registered = cleanup::on_interrupt(move || {
        // The server may not have noticed yet that those who were killed are gone.
        for _ in 0..4 {
            let _ = interrupted.status();
            std::thread::sleep(Duration::from_millis(300));
        }
    });
    Some(Sweeper { command: at_end, _registered: registered })
}

/// Sweeps when dropped too: a process that took too long was killed as well.
struct Sweeper {
    command: Command,
    _registered: Registered,
}

impl Drop for Sweeper {
    fn drop(&mut self) {
        let _ = self.command.status();
    }
}

/// The folder in which a run's processes write files, removed at its end however that comes.
#[derive(Debug)]
struct Place(Owned);

impl Place {
    /// None for a suite that writes no files.
    fn make(
        options: &BenchOptions,
        suite: Suite,
        folder: &Path,
        id: &str,
    ) -> Result<Option<Self>, Problem> {
        if suite == Suite::Codecs {
            return Ok(None);
        }
        let outside = options.folder.as_deref().unwrap_or(folder);
        let path = std::path::absolute(outside.join(format!("wiremark-files-{id}")))
            .context(|| format!("cannot find {}", outside.display()))?;
        fs::create_dir(&path)
            .context(|| format!("cannot make a folder for files, {}", path.display()))?;
        Ok(Some(Self(cleanup::own(path))))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

type Prepared = (Plan, Listed, Vec<Cell>, Vec<Worker>);

/// Reads the data, builds the workers, selects and checks cells.
fn prepare(
    workspace: &Workspace,
    options: &BenchOptions,
    name: ProfileName,
    profile: &Profile,
    folder: &Path,
    place: Option<&Path>,
    database: Option<&str>,
) -> Result<Prepared, Problem> {
    let sampling = Sampling {
        samples: profile.samples,
        sample_ns: profile.sample_ns,
        warm_up_ns: profile.warm_up_ns,
    };
    let suite = options.suite.suite();
    let stdin_to = folder.join("stdin");
    let mut request =
        plan::request(suite, &options.data, sampling, &stdin_to, Some(name))?;
    request.folder = place.map(Path::to_owned);
    request.database = database.map(str::to_owned);
    let crates = if options.controls {
        vec![build::CONTROLS.to_owned()]
    } else {
        let all = chosen(crates(workspace, suite)?, &options.crates)?;
        // Who names something wants it, whatever a first look would leave out.
        let names_none = options.crates.is_empty()
            && options.filters.is_empty()
            && options.reference.is_none();
        if name == ProfileName::Quick && !options.all && names_none {
            for_first_look(workspace, all)
        } else {
            all
        }
    };
    let what =
        What { suite, allocator: options.allocator, has_postgres: database.is_some() };
    // Without filters every crate will be timed.
    let is_all = name == ProfileName::Quick && options.filters.is_empty();
    let kind = if is_all { Kind::WorkerAndMore } else { Kind::Worker };
    let mut workers = build_all(workspace, &crates, what, kind)?;
    let peers = if options.peers { find_peers(workspace) } else { Peers::default() };
    let values = folder.join(VALUES_FOLDER);
    if !peers.programs.is_empty() {
        workers.extend(worker::peers_as_workers(peers.programs, &request, &values)?);
    }
    let _swept = sweeps(&workers, &request);
    let mut listed = plan::list(&workers, &request)?;
    if suite == Suite::Codecs {
        listed.add_missing(&peers.missing);
    }
    for note in &listed.notes {
        crate::remark(&format!("note: {note}"));
    }

    let selected: Vec<_> = listed
        .cells
        .iter()
        .filter(|(cell, _)| plan::is_selected(&options.filters, &cell.id.to_string()))
        .filter(|(cell, _)| !plan::is_left_out(name, &cell.id))
        .collect();
    if selected.iter().all(|(cell, _)| cell.skip.is_some()) {
        return Err(plan::nothing_selected(&options.filters));
    }
    if let Some(part) = &options.reference {
        let ids: Vec<&str> =
            listed.codecs.iter().map(|codec| codec.id.as_str()).collect();
        report::resolve_among(&ids, part)?;
    }

    // Only the crates that have a cell to run are built a second time.
    let used: Vec<usize> = (0..workers.len())
        .filter(|index| {
            selected.iter().any(|(cell, of)| of == index && cell.skip.is_none())
        })
        .collect();
    let names: Vec<String> =
        used.iter().filter_map(|&index| crates.get(index).cloned()).collect();
    let build_profile = plan::build_profile(name);
    let mut timed = build_all(workspace, &names, what, Kind::Timed(build_profile))?;
    // A peer is one program for everything.
    let used_peers = used.iter().filter(|index| **index >= crates.len());
    timed.extend(used_peers.map(|&index| workers[index].clone()));

    let to_check = selected.iter().filter(|(cell, _)| cell.skip.is_none()).count();
    let timeout = Duration::from_secs(options.timeout);
    let mut progress = Progress::new("checking", to_check);
    let mut checked: HashMap<CellId, Cell> = HashMap::new();
    let mut damage = Vec::new();
    for &index in &used {
        let ids: Vec<CellId> = selected
            .iter()
            .filter(|(cell, of)| *of == index && cell.skip.is_none())
            .map(|(cell, _)| cell.id.clone())
            .collect();
        let (cells, found) =
            measure::check(&workers[index], &request, &ids, timeout, &mut progress)?;
        damage.extend(found);
        checked.extend(cells.into_iter().map(|cell| (cell.id.clone(), cell)));
    }
    progress.finish();
    if suite == Suite::Codecs {
        let ids: Vec<&CellId> = selected.iter().map(|(cell, _)| &cell.id).collect();
        let folder = folder.join("exchange");
        listed.exchanges =
            exchange::run(&workers, &request, &listed, &ids, &folder, timeout)?;
    }

    let mut cells = Vec::new();
    let mut to_run = Vec::new();
    for (planned, of) in selected {
        let cell = match &planned.skip {
            Some(skip) => {
                let id = planned.id.clone();
                let mut cell =
                    measure::without_figure(id, skip.status, skip.reason.clone());
                cell.documents = planned.documents;
                cell
            }
            None => checked.remove(&planned.id).ok_or_else(|| {
                Problem::new(format!("the worker did not answer for {}", planned.id))
            })?,
        };
        // What passed the check waits for its figures.
        let mut cell = cell;
        if cell.status == Status::Skipped && cell.reason.is_none() {
            cell.reason = Some(OUTSTANDING.to_owned());
            let at = used.iter().position(|index| index == of).unwrap_or(0);
            to_run.push((cell.id.clone(), at));
        }
        cells.push(cell);
    }
    add_controls(&mut to_run, &mut cells);
    let binaries = timed.iter().map(Worker::hash).collect::<Result<_, _>>()?;
    let plan = Plan {
        request,
        mimalloc: options.allocator == Allocator::Mimalloc,
        steady: options.heap == Heap::Steady,
        quick_build: build_profile == build::Profile::Quick,
        has_postgres: database.is_some(),
        timeout_s: options.timeout,
        crates: names,
        peers: peer_names(&timed),
        cells: to_run,
        binaries,
    };
    listed.damage = damage;
    Ok((plan, listed, cells, timed))
}

fn build_all(
    workspace: &Workspace,
    crates: &[String],
    what: What,
    kind: Kind,
) -> Result<Vec<Worker>, Problem> {
    let mut progress = Progress::new("building", crates.len());
    let mut built = Vec::new();
    for name in crates {
        progress.now(&match kind {
            Kind::Worker | Kind::WorkerAndMore => {
                format!("{name}: the worker that checks and counts")
            }
            Kind::Timed(_) => format!("{name}: the binary that is timed"),
        });
        built.push(build::build(workspace, name, what, kind)?.into());
        progress.advance();
    }
    progress.finish();
    Ok(built)
}

/// Finds the peers of this machine.
fn find_peers(workspace: &Workspace) -> Peers {
    let mut progress = Progress::new("finding peers", 1);
    progress.now("and building Go's");
    let peers = worker::find_peers(workspace);
    progress.advance();
    progress.finish();
    peers
}

/// The programs of the peers among workers, by name.
fn peer_names(workers: &[Worker]) -> Vec<String> {
    let name = |worker: &Worker| match worker {
        Worker::Ours(_) => None,
        Worker::Peer { program, .. } => Some(program.version.program.clone()),
    };
    workers.iter().filter_map(name).collect()
}

/// The most A/A controls of a run: one disturbed round among fifty ratios is no noise floor,
/// among the few of one or two pairs it is.
const CONTROLS_MAX: usize = 6;

/// Adds the A/A controls: cells that run under a second name as well, at the end of their group,
/// as far from their first name as codecs that are compared are from each other.
fn add_controls(to_run: &mut Vec<(CellId, usize)>, cells: &mut Vec<Cell>) {
    let reused: Vec<usize> =
        (0..to_run.len()).filter(|&index| to_run[index].0.mode == Mode::Reused).collect();
    let candidates: Vec<usize> =
        if reused.is_empty() { (0..to_run.len()).collect() } else { reused };
    // Each operation in its turn, and spread over the plan: they shall differ in what they do.
    let mut operations: Vec<_> =
        candidates.iter().map(|&index| to_run[index].0.operation).collect();
    operations.sort_unstable();
    operations.dedup();
    let count = (candidates.len() / 8).clamp(2, CONTROLS_MAX);
    let mut chosen: Vec<usize> = (0..count)
        .filter_map(|nth| {
            let operation = *operations.get(nth % operations.len().max(1))?;
            let of_it: Vec<usize> = candidates
                .iter()
                .copied()
                .filter(|&index| to_run[index].0.operation == operation)
                .collect();
            of_it.get(of_it.len() * (2 * nth + 1) / (2 * count)).copied()
        })
        .collect();
    chosen.sort_unstable();
    chosen.dedup();
    for index in chosen.into_iter().rev() {
        let (id, of) = to_run[index].clone();
        let again = CellId { again: true, ..id.clone() };
        let end = (index..to_run.len())
            .find(|&at| !to_run[at].0.is_beside(&id))
            .unwrap_or(to_run.len());
        to_run.insert(end, (again.clone(), of));
        if let Some(first) = cells.iter().position(|cell| cell.id == id) {
            let cell = Cell { id: again, ..cells[first].clone() };
            cells.insert(first + 1, cell);
        }
    }
}

fn new_run(
    workspace: &Workspace,
    id: String,
    profile: Profile,
    plan: &Plan,
    listed: &Listed,
    cells: Vec<Cell>,
) -> Run {
    let mut missing = BTreeMap::new();
    let commit = commit(workspace);
    if commit.is_none() {
        missing.insert("commit".to_owned(), "git did not tell".to_owned());
    }
    let lock_hash =
        fs::read(workspace.root.join("Cargo.lock")).ok().map(|lock| plan::hash(&lock));
    if lock_hash.is_none() {
        missing.insert("lock_hash".to_owned(), "there is no lock file".to_owned());
    }
    // Only what takes part: a footnote on another codec would be about nothing.
    let mut codecs = listed.codecs.clone();
    codecs.retain(|codec| cells.iter().any(|cell| cell.id.codec == codec.id));
    let mut datasets = listed.datasets.clone();
    datasets.retain(|dataset| cells.iter().any(|cell| cell.id.dataset == dataset.id));
    let versions = codecs.iter().map(|codec: &Codec| {
        let version = workspace.locked_version(&codec.library);
        (codec.library.clone(), version.unwrap_or_else(|| codec.version.clone()))
    });
    let versions = versions.collect();
    Run {
        schema: SCHEMA.to_owned(),
        id,
        tool: Tool {
            name: "wiremark".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        },
        command: command_line(std::env::args().skip(1)),
        started_unix_s: now_s(),
        complete: false,
        suite: plan.request.suite,
        file_system: None,
        profile,
        plan: fingerprint(plan, &datasets),
        commit,
        lock_hash,
        machine: this_machine(),
        build: Build {
            rustc: rustc(&["--version"]).unwrap_or_else(|| "unknown".to_owned()),
            target: target().unwrap_or_else(|| "unknown".to_owned()),
            profile: build_settings(workspace, plan.build_profile()),
            crates: versions,
        },
        allocator: if plan.mimalloc { "mimalloc" } else { "system" }.to_owned(),
        heap: if plan.steady { "steady" } else { "default" }.to_owned(),
        heap_settings: measure::heap_settings(plan.steady),
        load: Load { before: machine::load(), after: None },
        noise: None,
        datasets,
        codecs,
        damage: listed.damage.clone(),
        exchanges: listed.exchanges.clone(),
        cells,
        missing,
    }
}

/// Hash of all that makes two runs comparable to the last figure: what is measured, how, on
/// which data, by which binaries.
fn fingerprint(plan: &Plan, datasets: &[Dataset]) -> String {
    let Request { sampling, .. } = &plan.request;
    let text = format!(
        "{:?} {:?} {:?} {:?} {} {}",
        plan.cells, sampling, datasets, plan.binaries, plan.mimalloc, plan.steady
    );
    plan::hash(text.as_bytes())
}

/// Goes on with an interrupted run.
fn resume(
    workspace: &Workspace,
    folder: &Path,
    database: Option<&str>,
) -> Result<Run, Problem> {
    let mut run = Run::read(folder.join(RESULTS))
        .map_err(|error| Problem::new(error.to_string()))?;
    if run.complete {
        crate::remark(&format!("run {} is complete; nothing is left to measure", run.id));
        return Ok(run);
    }
    let path = folder.join(PLAN);
    let text = fs::read(&path).context(|| {
        format!("run {} cannot be resumed, its plan cannot be read", run.id)
    })?;
    let mut plan: Plan = serde_json::from_slice(&text)
        .context(|| format!("cannot read {}", path.display()))?;
    plan::same_data(&plan.request, &run.datasets)?;
    let allocator = if plan.mimalloc { Allocator::Mimalloc } else { Allocator::System };
    let kind = Kind::Timed(plan.build_profile());
    let suite = plan.request.suite;
    plan.request.database = database.map(str::to_owned);
    if plan.has_postgres && database.is_none() {
        return Err(Problem::usage(format!(
            "run {} asked PostgreSQL; set DATABASE_URL again, or --postgres throwaway",
            run.id
        )));
    }
    let what = What { suite, allocator, has_postgres: plan.has_postgres };
    let mut timed = build_all(workspace, &plan.crates, what, kind)?;
    if !plan.peers.is_empty() {
        let mut programs = find_peers(workspace).programs;
        programs.retain(|program| plan.peers.contains(&program.version.program));
        let values = folder.join(VALUES_FOLDER);
        timed.extend(worker::peers_as_workers(programs, &plan.request, &values)?);
    }
    plan.binaries = timed.iter().map(Worker::hash).collect::<Result<_, _>>()?;
    if fingerprint(&plan, &run.datasets) != run.plan {
        return Err(Problem::usage(format!(
            "run {} was made with other code than this; its remaining cells would not be \
             comparable. Start a new run, or go back to commit {}",
            run.id,
            run.commit.as_ref().map_or("it was made with", |commit| commit.hash.as_str())
        )));
    }
    // The folder went when the run was interrupted.
    let place = plan.request.folder.clone();
    if let Some(path) = &place {
        fs::create_dir_all(path)
            .context(|| format!("cannot make a folder for files, {}", path.display()))?;
    }
    let _place = place.map(cleanup::own);
    crate::remark(&format!("going on with run {}", run.id));
    measure_all(&mut run, &plan, &timed, folder)?;
    Ok(run)
}

/// The timed rounds: the cells of every table in turns, in an order that turns round, until all
/// are done.
fn measure_all(
    run: &mut Run,
    plan: &Plan,
    timed: &[Worker],
    folder: &Path,
) -> Result<(), Problem> {
    let _swept = sweeps(timed, &plan.request);
    let scratch = folder.join("scratch");
    fs::create_dir_all(&scratch)
        .context(|| format!("cannot make {}", scratch.display()))?;
    let how = Circumstances {
        request: &plan.request,
        steady: plan.steady,
        timeout: Duration::from_secs(plan.timeout_s),
        scratch: &scratch,
    };
    let places: HashMap<CellId, usize> = run
        .cells
        .iter()
        .enumerate()
        .map(|(place, cell)| (cell.id.clone(), place))
        .collect();
    // The cells of a table, by their places in the run, each with its binary.
    let mut tables: Vec<Vec<(usize, &Worker)>> = Vec::new();
    let mut last: Option<&CellId> = None;
    for (id, of) in &plan.cells {
        let (Some(&place), Some(worker)) = (places.get(id), timed.get(*of)) else {
            continue;
        };
        match tables.last_mut() {
            Some(cells) if last.is_some_and(|last| last.is_beside(id)) => {
                cells.push((place, worker));
            }
            _ => tables.push(vec![(place, worker)]),
        }
        last = Some(id);
    }
    let has_round = |cell: &Cell, number| cell.rounds.iter().any(|r| r.round == number);
    // A cell that failed once is not asked again.
    let has_failed =
        |cell: &Cell| matches!(cell.status, Status::Failed | Status::Timeout);

    let rounds = run.profile.rounds;
    let done: usize = run.cells.iter().map(|cell| cell.rounds.len()).sum();
    let all = plan.cells.len() * usize::try_from(rounds).unwrap_or(0);
    let mut progress = Progress::new("measuring", all.saturating_sub(done));
    let mut saved = Instant::now();
    for number in 0..rounds {
        for table in &tables {
            let mut cells: Vec<(usize, &Worker)> = table
                .iter()
                .copied()
                .filter(|&(place, _)| !has_round(&run.cells[place], number))
                .collect();
            if number % 2 == 1 {
                cells.reverse();
            }
            for cells in side_by_side(run, &cells) {
                let (failed, entrants): (Vec<_>, Vec<_>) =
                    cells.iter().partition(|(place, _)| has_failed(&run.cells[*place]));
                progress.advance_by(failed.len());
                let Some((first, _)) = entrants.first() else { continue };
                progress.now(&run.cells[*first].id.to_string());
                let processes: Vec<Entrant> = entrants
                    .iter()
                    .map(|&(place, worker)| Entrant {
                        id: run.cells[place].id.clone(),
                        worker,
                    })
                    .collect();
                let ended = measure::in_turns(&processes, how)?;
                for (&(place, _), ended) in entrants.iter().zip(ended) {
                    let cell = &mut run.cells[place];
                    if let Some(reason) = take(cell, number, ended, plan.timeout_s) {
                        progress.remark(&format!("{}: {reason}", cell.id));
                    }
                }
                progress.advance_by(entrants.len());
                if saved.elapsed() >= SAVE_EVERY {
                    save(run, folder)?;
                    saved = Instant::now();
                }
            }
        }
    }
    progress.finish();

    run.load.after = machine::load();
    run.complete = true;
    save(run, folder)?;
    let _ = fs::remove_dir_all(&scratch);
    // A copy of standard input was only kept for going on, and so were the values for peers.
    let _ = fs::remove_file(folder.join("stdin"));
    let _ = fs::remove_dir_all(folder.join(VALUES_FOLDER));
    Ok(())
}

/// Enters into a cell how its process ended; the reason, if there is no figure.
fn take(
    cell: &mut Cell,
    number: u32,
    ended: Result<Round, Ended>,
    timeout_s: u64,
) -> Option<String> {
    let (status, reason) = match ended {
        Ok(mut round) => {
            round.round = number;
            cell.rounds.push(round);
            // One round is a figure already, should the run be cut off here.
            cell.status = Status::Ok;
            cell.reason = None;
            return None;
        }
        Err(Ended::Timeout) => {
            (Status::Timeout, format!("took longer than {timeout_s} s"))
        }
        Err(Ended::Failed(reason)) => (Status::Failed, reason),
    };
    cell.status = status;
    cell.reason = Some(reason.clone());
    Some(reason)
}

/// Cuts a table's cells into such parts as the machine has memory for: the processes of one part
/// live at the same time, each with a copy of the data.
fn side_by_side<'a, T>(
    run: &Run,
    cells: &'a [(usize, T)],
) -> std::slice::Chunks<'a, (usize, T)> {
    // The heap that a process keeps, and how much more than its encoded bytes a value is, with
    // the text that it was read from.
    const EACH: u64 = 64 << 20;
    const TIMES: u64 = 48;
    let memory = run.machine.memory_bytes.unwrap_or(2 << 30) / 2;
    let largest =
        cells.iter().filter_map(|&(place, _)| run.cells[place].size_bytes).max();
    let each = largest.unwrap_or(0).saturating_mul(TIMES).saturating_add(EACH);
    let most = usize::try_from(memory / each).unwrap_or(usize::MAX).max(1);
    // Parts of about the same size: one process alone would be compared with none.
    let parts = cells.len().div_ceil(most).max(1);
    cells.chunks(cells.len().div_ceil(parts).max(1))
}

fn save(run: &mut Run, folder: &Path) -> Result<(), Problem> {
    run.summarise();
    run.write_atomic(folder.join(RESULTS))
        .map_err(|error| Problem::new(error.to_string()))
}

/// Renders, exports, and turns failed cells into an exit code.
fn finish(run: &Run, folder: &Path, options: &BenchOptions) -> Result<(), Problem> {
    let reference = report::resolve(run, options.reference.as_deref())?;
    report::write_beside(run, folder, reference.as_deref())?;
    report::export(run, &options.exports, reference.as_deref())?;
    report::print(run, reference.as_deref())?;
    crate::remark(&format!("results, report.md and report.csv: {}", folder.display()));
    let failed = run
        .cells
        .iter()
        .filter(|cell| matches!(cell.status, Status::Failed | Status::Timeout))
        .count();
    if failed > 0 {
        let message = format!("{failed} of {} cells failed", run.cells.len());
        return Err(Problem::new(message).with(Code::CellsFailed));
    }
    Ok(())
}

/// The command line with file arguments cut to their names: a record holds no paths.
fn command_line(arguments: impl Iterator<Item = String>) -> Vec<String> {
    arguments
        .map(|argument| {
            let (flag, value) = match argument.split_once('=') {
                Some((flag, value)) if flag.starts_with("--") => (Some(flag), value),
                _ => (None, argument.as_str()),
            };
            // A filter holds slashes too, but names no file. A folder that is not there can be
            // that of a file to be written.
            let is_path = value.starts_with(['/', '~', '.'])
                || value.contains('/')
                    && Path::new(value).parent().is_some_and(Path::is_dir);
            let value = match Path::new(value).file_name() {
                Some(name) if is_path => name.to_string_lossy().into_owned(),
                _ => value.to_owned(),
            };
            flag.map_or(value.clone(), |flag| format!("{flag}={value}"))
        })
        .collect()
}

fn now_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// An id that sorts by time: `20261130-141503-3f2a`.
fn new_id() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let (year, month, day) = civil(now.as_secs() / 86_400);
    let second = now.as_secs() % 86_400;
    let mixed =
        plan::hash(format!("{} {}", now.as_nanos(), std::process::id()).as_bytes());
    format!(
        "{year:04}{month:02}{day:02}-{:02}{:02}{:02}-{}",
        second / 3600,
        second / 60 % 60,
        second % 60,
        mixed.get(..4).unwrap_or_default()
    )
}

/// Year, month and day of a number of days since 1970-01-01, by Howard Hinnant's
/// `civil_from_days`.
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let era = days / 146_097;
    let day_of_era = days % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524
        - day_of_era / 146_096)
        / 365;
    let day_of_year =
        day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_index = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_index + 2) / 5 + 1;
    let month = if month_index < 10 { month_index + 3 } else { month_index - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    (year, month, day)
}

fn commit(workspace: &Workspace) -> Option<Commit> {
    let git = |arguments: &[&str]| {
        let output = Command::new("git")
            .args(arguments)
            .current_dir(&workspace.root)
            .output()
            .ok()?;
        output
            .status
            .success()
            .then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let hash = git(&["rev-parse", "HEAD"])?.trim().to_owned();
    let dirty = git(&["status", "--porcelain", "--untracked-files=no"])?;
    Some(Commit { hash, dirty: !dirty.trim().is_empty() })
}

fn this_machine() -> Machine {
    let mut missing = BTreeMap::new();
    let memory_bytes = machine::memory_bytes();
    if memory_bytes.is_none() {
        missing.insert("memory_bytes".to_owned(), "the system does not tell".to_owned());
    }
    Machine {
        cpu: machine::cpu().unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
        cores: machine::cores(),
        memory_bytes,
        kernel: machine::kernel(),
        missing,
    }
}

pub(crate) fn rustc(arguments: &[&str]) -> Option<String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).args(arguments).output().ok()?;
    output
        .status
        .success()
        .then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn target() -> Option<String> {
    let about = rustc(&["-vV"])?;
    about.lines().find_map(|line| line.strip_prefix("host: ")).map(str::to_owned)
}

/// `bench: opt-level = 3, …`, as the workspace's manifest pins it.
fn build_settings(workspace: &Workspace, profile: build::Profile) -> String {
    let manifest =
        fs::read_to_string(workspace.root.join("Cargo.toml")).unwrap_or_default();
    let settings = |profile: build::Profile| {
        let header = format!("[profile.{}]", profile.as_str());
        let lines = manifest
            .lines()
            .skip_while(move |line| *line != header)
            .skip(1)
            .take_while(|line| !line.starts_with('['))
            .map(str::trim)
            .filter(|line| !line.is_empty() && !line.starts_with('#'));
        lines.collect::<Vec<_>>().join(", ")
    };
    match profile {
        build::Profile::Bench => format!("bench: {}", settings(profile)),
        // What it inherits is part of it.
        build::Profile::Quick => {
            format!(
                "quick: {}; bench: {}",
                settings(profile),
                settings(build::Profile::Bench)
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use wiremark_record::Operation;

    use super::*;

    #[test]
    fn days_have_their_dates() {
        for (days, date) in [
            (0, (1970, 1, 1)),
            (59, (1970, 3, 1)),
            (11_016, (2000, 2, 29)),
            (20_787, (2026, 11, 30)),
        ] {
            assert_eq!(civil(days), date, "day {days}");
        }
    }

    #[test]
    fn a_record_of_the_command_line_holds_no_folder() {
        let here = env!("CARGO_MANIFEST_DIR");
        let given = ["bench", "encode/people", &format!("{here}/a.json"), "--quick"];
        let kept = command_line(given.iter().map(|&text| text.to_owned()));
        assert_eq!(kept, ["bench", "encode/people", "a.json", "--quick"]);
        let kept = command_line([format!("--data={here}/a.json")].into_iter());
        assert_eq!(kept, ["--data=a.json"]);
        let given = ["--export-csv", "/no/such/folder/a.csv", "../none/b.csv", "./c.csv"];
        let kept = command_line(given.iter().map(|&text| text.to_owned()));
        assert_eq!(kept, ["--export-csv", "a.csv", "b.csv", "c.csv"]);
    }

    #[test]
    fn as_many_processes_live_at_once_as_the_memory_holds() {
        let mut run =
            Run::from_slice(include_bytes!("../../crates/report/tests/it/data/run.json"))
                .unwrap();
        let mib = 1 << 20;
        for (memory, size, wanted) in [
            // Small values: what each process keeps of the heap counts.
            (4096 * mib, Some(1000), vec![7]),
            (512 * mib, Some(1000), vec![3, 3, 1]),
            // 48 times 16 MiB and 64 MiB more, of 2 GiB.
            (4096 * mib, Some(16 * mib), vec![2, 2, 2, 1]),
            (1024 * mib, Some(200 * mib), vec![1; 7]),
            (4096 * mib, None, vec![7]),
        ] {
            run.machine.memory_bytes = Some(memory);
            for cell in &mut run.cells {
                cell.size_bytes = size;
            }
            let cells: Vec<(usize, ())> = (0..7).map(|place| (place, ())).collect();
            let parts: Vec<usize> = side_by_side(&run, &cells).map(<[_]>::len).collect();
            assert_eq!(parts, wanted, "{memory} bytes of memory, {size:?}");
        }
        assert_eq!(side_by_side::<()>(&run, &[]).count(), 0);
    }

    #[test]
    fn controls_stand_at_the_end_of_their_group_and_repeat_a_cell() {
        let id = |operation, codec: &str| CellId {
            operation,
            dataset: "people".to_owned(),
            codec: codec.to_owned(),
            mode: Mode::Reused,
            way: None,
            again: false,
        };
        let mut to_run: Vec<(CellId, usize)> = [Operation::Encode, Operation::Decode]
            .into_iter()
            .flat_map(|operation| ["a", "b", "c"].map(|codec| (id(operation, codec), 0)))
            .collect();
        let mut cells: Vec<Cell> = to_run
            .iter()
            .map(|(id, _)| {
                measure::without_figure(id.clone(), Status::Skipped, String::new())
            })
            .collect();
        add_controls(&mut to_run, &mut cells);
        let names: Vec<String> = to_run.iter().map(|(id, _)| id.to_string()).collect();
        assert_eq!(
            names,
            [
                "encode/people/a/reused",
                "encode/people/b/reused",
                "encode/people/c/reused",
                "encode/people/a/reused (again)",
                "decode/people/a/reused",
                "decode/people/b/reused",
                "decode/people/c/reused",
                "decode/people/c/reused (again)",
            ]
        );
        assert_eq!(cells.len(), 8);
    }
}
