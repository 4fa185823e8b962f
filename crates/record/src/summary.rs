//! What is computed from the rounds of a run: times, noise, comparisons, reasons.

use std::collections::{BTreeMap, HashMap};

use crate::protocol::Sample;
use crate::stats::{self, Ratio, Verdict};
use crate::{
    Cell, CellId, Clock, Mode, Noise, Operation, Round, Run, Status, Suite, Time,
};

/// One cell against another: how much, and what that says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// Time of the first to time of the second.
    pub ratio: Ratio,
    /// The first against the second.
    pub verdict: Verdict,
}

/// A cell of a peer against one of ours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Beside {
    /// The peer's time to ours.
    pub comparison: Comparison,
    /// Our time: that of the cell, and of dropping what it decoded; the median of rounds.
    pub ours_ns: f64,
}

impl Comparison {
    /// `first look` where there were too few rounds for an interval.
    pub fn label(&self) -> Option<&'static str> {
        self.ratio.is_first_look().then_some("first look")
    }
}

impl Time {
    /// Median, lowest and highest of the rounds' times; those that are not positive and finite
    /// are left out. `None` if none is left.
    ///
    /// ```
    /// use wiremark_record::Time;
    ///
    /// let time = Time::over([30.0, 10.0, 20.0]).expect("three rounds");
    /// assert_eq!((time.low_ns, time.median_ns, time.high_ns), (10.0, 20.0, 30.0));
    /// ```
    pub fn over(rounds_ns: impl IntoIterator<Item = f64>) -> Option<Self> {
        let times: Vec<f64> = rounds_ns
            .into_iter()
            .filter(|time| time.is_finite() && *time > 0.0)
            .collect();
        let at = |percent| stats::percentile(&times, percent).map(rounded);
        Some(Self { median_ns: at(50.0)?, low_ns: at(0.0)?, high_ns: at(100.0)? })
    }
}

impl Round {
    /// The figures of one process from its samples: the lower quartile of what an operation took.
    /// `None` without a sample, or if one is of no operation.
    ///
    /// ```
    /// use wiremark_record::protocol::Sample;
    /// use wiremark_record::{Clock, Round};
    ///
    /// let samples = [100, 400, 200, 300, 900].map(|ns| Sample(10, ns, 2 * ns, 0, 0, 0));
    /// let round = Round::of_samples(&samples, Clock::Cpu).expect("five samples");
    /// assert_eq!((round.cpu_min_ns, round.cpu_ns, round.cpu_median_ns), (10.0, 20.0, 30.0));
    /// assert_eq!((round.wall_ns, round.operations), (40.0, 50));
    /// ```
    pub fn of_samples(samples: &[Sample], clock: Clock) -> Option<Self> {
        if samples.iter().any(|sample| sample.0 == 0) {
            return None;
        }
        let each = |time: fn(&Sample) -> u64| -> Vec<f64> {
            samples.iter().map(|sample| time(sample) as f64 / sample.0 as f64).collect()
        };
        let sum = |part: fn(&Sample) -> u64| samples.iter().map(part).sum::<u64>();
        let cpu = each(|sample| sample.1);
        let operations = sum(|sample| sample.0);
        let mean = |part: fn(&Sample) -> u64| {
            (clock == Clock::Wall).then(|| sum(part) as f64 / operations as f64)
        };
        Some(Self {
            round: 0,
            cpu_ns: stats::lower_quartile(&cpu)?,
            cpu_min_ns: cpu.iter().copied().min_by(f64::total_cmp)?,
            cpu_median_ns: stats::median(&cpu)?,
            wall_ns: stats::lower_quartile(&each(|sample| sample.2))?,
            copy_ns: None,
            user_ns: mean(|sample| sample.3),
            system_ns: mean(|sample| sample.4),
            samples: u32::try_from(samples.len()).ok()?,
            operations,
            preemptions: sum(|sample| sample.5),
        })
    }
}

impl Noise {
    /// The noise of the ratios of A/A controls, second name to first. `None` without one.
    ///
    /// ```
    /// use wiremark_record::Noise;
    ///
    /// let noise = Noise::over(vec![1.02]).expect("one ratio");
    /// assert!((noise.floor - 0.02).abs() < 1e-12);
    /// ```
    pub fn over(ratios: Vec<f64>) -> Option<Self> {
        let ratios: Vec<f64> = ratios.into_iter().map(rounded).collect();
        Some(Self { floor: rounded(stats::noise_floor(&ratios)?), ratios })
    }
}

impl Cell {
    /// Whether the cell has a time that can be compared: it went well, and a round gave one.
    pub fn is_measured(&self) -> bool {
        self.status == Status::Ok && self.time.is_some()
    }

    /// Fills [`time`](Self::time), [`wall`](Self::wall) and [`copy`](Self::copy) from the
    /// rounds, and [`missing`](Self::missing) with a reason for each measure that an `ok` cell
    /// lacks. Reasons that are there already stay; those of measures that are there go.
    ///
    /// Numbers are rounded to twelve significant digits: no clock gives more, and
    /// `serde_json` reads so many back to the last bit, which it does not with seventeen. So a
    /// table made from the run and one made from its file are the same.
    ///
    /// Idempotent, and cheap enough to call after every round.
    pub fn summarise(&mut self) {
        for round in &mut self.rounds {
            let Round { cpu_ns, cpu_min_ns, cpu_median_ns, wall_ns, .. } = round;
            for time in [cpu_ns, cpu_min_ns, cpu_median_ns, wall_ns] {
                *time = rounded(*time);
            }
            for time in [&mut round.copy_ns, &mut round.user_ns, &mut round.system_ns] {
                *time = time.map(rounded);
            }
        }
        self.time = Time::over(self.rounds.iter().map(|round| round.cpu_ns));
        self.wall = Time::over(self.rounds.iter().map(|round| round.wall_ns));
        self.copy = Time::over(self.rounds.iter().filter_map(|round| round.copy_ns));

        let no_round = "no round was finished";
        let is_file = self.id.way.is_some();
        let no_copy = if self.id.operation == Operation::Drop {
            "dropping neither makes nor reads bytes"
        } else if is_file {
            "a file is not compared with a copy in memory"
        } else if self.rounds.is_empty() {
            no_round
        } else {
            "not measured in this run"
        };
        let not_counted = "not counted in this run";
        for (key, is_there, reason) in [
            ("size_bytes", self.size_bytes.is_some(), not_counted),
            ("zstd_bytes", self.zstd_bytes.is_some(), not_counted),
            ("counts", self.counts.is_some(), not_counted),
            ("time", self.time.is_some(), no_round),
            ("wall", self.wall.is_some(), no_round),
            ("copy", self.copy.is_some(), no_copy),
            ("round_trip", self.round_trip.is_some(), "not checked in this run"),
        ] {
            explain(&mut self.missing, self.status == Status::Ok, key, is_there, reason);
        }
        explain(
            &mut self.missing,
            self.counts.is_some(),
            "peak_bytes",
            self.counts.is_none_or(|counts| counts.peak_bytes.is_some()),
            "a runtime with a collector does not tell",
        );
        for (key, is_there, reason) in [
            ("calls", self.calls.is_some(), not_counted),
            ("peak_rss_bytes", self.peak_rss_bytes.is_some(), "the system does not tell"),
        ] {
            let wanted = is_file && self.status == Status::Ok;
            explain(&mut self.missing, wanted, key, is_there, reason);
        }
    }

    /// The time that is compared: on the wall for files, else of the CPU.
    pub fn compared_time(&self) -> Option<Time> {
        match self.id.operation.clock() {
            Clock::Cpu => self.time,
            Clock::Wall => self.wall,
        }
    }

    /// CPU time in user mode over rounds, where it was told apart.
    pub fn user_time(&self) -> Option<Time> {
        Time::over(self.rounds.iter().filter_map(|round| round.user_ns))
    }

    /// CPU time in the kernel over rounds, where it was told apart.
    pub fn system_time(&self) -> Option<Time> {
        Time::over(self.rounds.iter().filter_map(|round| round.system_ns))
    }

    /// Each round's time that is compared.
    fn compared_rounds(&self) -> BTreeMap<u32, f64> {
        let time = |round: &Round| match self.id.operation.clock() {
            Clock::Cpu => round.cpu_ns,
            Clock::Wall => round.wall_ns,
        };
        self.rounds.iter().map(|round| (round.round, time(round))).collect()
    }

    /// How much longer this cell takes than `other`, over the rounds that both have. Where a
    /// cell holds a round twice, its last entry counts. `None` without a common round.
    pub fn ratio_to(&self, other: &Self) -> Option<Ratio> {
        let others = other.compared_rounds();
        Ratio::of_pairs(
            self.compared_rounds()
                .into_iter()
                .filter_map(|(round, time)| Some((time, *others.get(&round)?))),
        )
    }

    /// How much longer the operation takes than copying the encoded bytes once. Both are
    /// measured in the same process, so the ratio is one of rounds too.
    pub fn ratio_to_copy(&self) -> Option<Ratio> {
        let pair = |round: &Round| Some((round.cpu_ns, round.copy_ns?));
        Ratio::of_pairs(self.rounds.iter().filter_map(pair))
    }

    /// Documents per second of the time that is compared. `None` without a time or without documents.
    pub fn documents_per_s(&self) -> Option<f64> {
        let time = self.compared_time()?.median_ns;
        finite(self.documents as f64 / time * 1e9)
    }

    /// Encoded bytes per second of the time that is compared. `None` where one of the two is missing, and for
    /// an operation that neither makes nor reads bytes.
    pub fn bytes_per_s(&self) -> Option<f64> {
        if self.id.operation == Operation::Drop {
            return None;
        }
        finite(self.size_bytes? as f64 / self.compared_time()?.median_ns * 1e9)
    }
}

/// The number with twelve significant digits.
fn rounded(number: f64) -> f64 {
    format!("{number:.11e}").parse().unwrap_or(number)
}

fn finite(number: f64) -> Option<f64> {
    (number.is_finite() && number > 0.0).then_some(number)
}

impl Run {
    /// The cells of an operation on a dataset in the order of the plan, without the second
    /// names of controls. They are of several modes, which no table mixes.
    pub fn cells_of<'a>(
        &'a self,
        operation: Operation,
        dataset: &'a str,
    ) -> impl Iterator<Item = &'a Cell> {
        self.cells.iter().filter(move |cell| {
            let id = &cell.id;
            id.operation == operation && id.dataset == dataset && !id.again
        })
    }

    /// The A/A controls that both went well: a cell, and the same under its second name.
    pub fn controls(&self) -> impl Iterator<Item = (&Cell, &Cell)> {
        let first: HashMap<&CellId, &Cell> = self
            .cells
            .iter()
            .filter(|cell| !cell.id.again && cell.status == Status::Ok)
            .map(|cell| (&cell.id, cell))
            .collect();
        self.cells
            .iter()
            .filter(|cell| cell.id.again && cell.status == Status::Ok)
            .filter_map(move |again| {
                let id = CellId { again: false, ..again.id.clone() };
                Some((*first.get(&id)?, again))
            })
    }

    /// Compares a cell of this run with another by this run's noise. `None` if one of them is
    /// not [measured](Cell::is_measured) or they have no round in common.
    pub fn compare(&self, first: &Cell, second: &Cell) -> Option<Comparison> {
        if !first.is_measured() || !second.is_measured() {
            return None;
        }
        let ratio = first.ratio_to(second)?;
        let floor = self.noise.as_ref().map(|noise| noise.floor);
        Some(Comparison { ratio, verdict: ratio.verdict(floor) })
    }

    /// Compares a peer's cell with one of ours. What a peer decoded is freed inside its clock, now
    /// or by its collector; so to our decoding the dropping is added, round by round, where it was
    /// measured. `None` as for [`compare`](Self::compare).
    pub fn beside(&self, peer: &Cell, ours: &Cell) -> Option<Beside> {
        if !peer.is_measured() || !ours.is_measured() {
            return None;
        }
        let mut times = ours.compared_rounds();
        if ours.id.operation == Operation::Decode {
            let id = CellId {
                operation: Operation::Drop,
                mode: Mode::Reused,
                ..ours.id.clone()
            };
            let drop = self.cells.iter().find(|cell| cell.id == id && cell.is_measured());
            let drops = drop.map(Cell::compared_rounds).unwrap_or_default();
            for (round, time) in &mut times {
                *time += drops.get(round).copied().unwrap_or(0.0);
            }
        }
        let peers = peer.compared_rounds();
        let pairs =
            times.iter().filter_map(|(round, &time)| Some((*peers.get(round)?, time)));
        let ratio = Ratio::of_pairs(pairs)?;
        let floor = self.noise.as_ref().map(|noise| noise.floor);
        let comparison = Comparison { ratio, verdict: ratio.verdict(floor) };
        Some(Beside { comparison, ours_ns: Time::over(times.into_values())?.median_ns })
    }

    /// [Summarises](Cell::summarise) every cell, fills [`noise`](Self::noise) from the A/A
    /// controls and [`missing`](Self::missing) with a reason for each key that the run lacks.
    ///
    /// Afterwards the run is as the JSON Schema wants it, if those who filled the rest kept
    /// to it.
    pub fn summarise(&mut self) {
        let floors: Vec<&str> = self
            .codecs
            .iter()
            .filter(|codec| codec.role == "floor")
            .map(|codec| codec.id.as_str())
            .collect();
        for cell in &mut self.cells {
            if cell.round_trip.is_none() && floors.contains(&cell.id.codec.as_str()) {
                let reason = "a floor is not asked for a round trip";
                cell.missing.entry("round_trip".to_owned()).or_insert(reason.to_owned());
            }
            cell.summarise();
        }

        let mut ratios = Vec::new();
        for (first, again) in self.controls() {
            let firsts = first.compared_rounds();
            for (round, time) in again.compared_rounds() {
                let pair = firsts.get(&round).map(|&first| (time, first));
                ratios.extend(Ratio::of_pairs(pair).map(|ratio| ratio.ratio));
            }
        }
        self.noise = Noise::over(ratios);
        self.load.before = self.load.before.map(rounded);
        self.load.after = self.load.after.map(rounded);

        let not_recorded = "not recorded";
        for (key, is_there, reason) in [
            ("commit", self.commit.is_some(), not_recorded),
            ("lock_hash", self.lock_hash.is_some(), not_recorded),
            ("noise", self.noise.is_some(), "no cell was measured under a second name"),
            ("load.before", self.load.before.is_some(), not_recorded),
            ("load.after", self.load.after.is_some(), not_recorded),
        ] {
            explain(&mut self.missing, true, key, is_there, reason);
        }
        let wanted = self.suite != Suite::Codecs;
        let is_there = self.file_system.is_some();
        explain(&mut self.missing, wanted, "file_system", is_there, not_recorded);
        let memory = self.machine.memory_bytes.is_some();
        explain(&mut self.machine.missing, true, "memory_bytes", memory, not_recorded);
    }
}

/// Keeps one key of a `missing` table true: no reason for what is there, one for what is not
/// where there has to be one.
fn explain(
    missing: &mut BTreeMap<String, String>,
    wanted: bool,
    key: &str,
    is_there: bool,
    reason: &str,
) {
    if is_there {
        missing.remove(key);
    } else if wanted {
        missing.entry(key.to_owned()).or_insert_with(|| reason.to_owned());
    }
}
