//! Do the implementations of a wire format understand each other?

use wiremark_record::{Exchange, Outcome, Run};

use crate::number::NONE;
use crate::section::Section;
use crate::table::codec;
use crate::text::{plain, shortened};

/// What a reason may take; the whole of it stands in the results.
const REASON: usize = 120;

/// Who understood whom, and what was not simply equal; none for a run that did not ask.
pub(crate) fn sections(run: &Run) -> Vec<Section> {
    let mut pairs: Vec<Pair<'_>> = Vec::new();
    for exchange in &run.exchanges {
        let found = Pair::of(run, exchange);
        match pairs.iter_mut().find(|pair| pair.codecs == found.codecs) {
            Some(pair) => pair.join(&found),
            None => pairs.push(found),
        }
    }
    if pairs.is_empty() {
        return Vec::new();
    }
    let lines = pairs.iter().map(|pair| {
        let mut line: Vec<String> =
            pair.codecs.iter().map(|id| plain(id).into_owned()).collect();
        line.extend(
            [Outcome::Equal, Outcome::Mapped, Outcome::Changed, Outcome::Refused]
                .map(|outcome| pair.named(outcome)),
        );
        line
    });
    let mut sections = vec![Section {
        title: "Bytes exchanged between the implementations of a wire format".to_owned(),
        head: vec!["codec", "with", "equal", "mapped", "changed", "refused"],
        lines: lines.collect(),
        words: 6,
        note: "each dataset from either to the other and back, before any clock, and the worse of the \
               two outcomes; equal: both had the value; mapped: by a mapping that is said below; \
               changed: read without an error as another value",
    }];

    let mut told: Vec<Told<'_>> = Vec::new();
    for exchange in run.exchanges.iter().filter(|one| one.outcome != Outcome::Equal) {
        let found = Told::of(run, exchange);
        match told.iter_mut().find(|told| told.is_like(&found)) {
            Some(told) => told.join(found),
            None => told.push(found),
        }
    }
    let lines: Vec<Vec<String>> = told
        .into_iter()
        .map(|told| {
            let plain = |words: &[&str]| plain(&words.join(" ")).into_owned();
            vec![
                plain(&[told.who]),
                plain(&told.with),
                plain(&told.datasets),
                word(told.outcome).to_owned(),
                shortened(&crate::text::plain(told.reason), REASON).into_owned(),
            ]
        })
        .collect();
    if !lines.is_empty() {
        sections.push(Section {
            title: "What was not simply equal".to_owned(),
            head: vec!["codec", "with", "datasets", "outcome", "reason"],
            lines,
            words: 5,
            note: "",
        });
    }
    sections
}

/// Why something was not simply equal, with all to whom it happened.
struct Told<'a> {
    /// Who said so.
    who: &'a str,
    with: Vec<&'a str>,
    datasets: Vec<&'a str>,
    outcome: Outcome,
    reason: &'a str,
}

impl<'a> Told<'a> {
    fn of(run: &'a Run, exchange: &'a Exchange) -> Self {
        let Exchange { dataset, path, outcome, reason } = exchange;
        // Who refused stands before the reason; a mapping is that of the other language.
        let named = path.iter().find_map(|id| {
            let reason = reason.strip_prefix(id.as_str())?.strip_prefix(": ")?;
            Some((id.as_str(), reason))
        });
        let peer = path.iter().find(|id| is_peer(run, id)).or(path.last());
        let (who, reason) =
            named.unwrap_or((peer.map_or("", String::as_str), reason.as_str()));
        // Where in the bytes it was differs from dataset to dataset, and stands in the results.
        let place = [" at byte ", " at position "].map(|place| reason.find(place));
        let end = place.into_iter().flatten().min().unwrap_or(reason.len());
        let reason = reason.get(..end).unwrap_or(reason);
        let mut with: Vec<&str> =
            path.iter().map(String::as_str).filter(|id| *id != who).collect();
        with.dedup();
        Self { who, with, datasets: vec![dataset], outcome: *outcome, reason }
    }

    fn is_like(&self, other: &Self) -> bool {
        (self.who, self.outcome, self.reason) == (other.who, other.outcome, other.reason)
    }

    fn join(&mut self, other: Self) {
        for (mine, others) in
            [(&mut self.with, other.with), (&mut self.datasets, other.datasets)]
        {
            for one in others {
                if !mine.contains(&one) {
                    mine.push(one);
                }
            }
        }
    }
}

/// Two codecs, and the worst that happened to each dataset between them.
struct Pair<'a> {
    codecs: [&'a str; 2],
    datasets: Vec<(&'a str, Outcome)>,
}

impl<'a> Pair<'a> {
    fn of(run: &Run, exchange: &'a Exchange) -> Self {
        let id = |at: usize| exchange.path.get(at).map_or("", String::as_str);
        let mut codecs = [id(0), id(1)];
        // Ours stand first.
        codecs.sort_unstable_by_key(|id| (is_peer(run, id), *id));
        Self { codecs, datasets: vec![(&exchange.dataset, exchange.outcome)] }
    }

    fn join(&mut self, other: &Self) {
        for &(dataset, outcome) in &other.datasets {
            match self.datasets.iter_mut().find(|(known, _)| *known == dataset) {
                Some((_, known)) => *known = (*known).max(outcome),
                None => self.datasets.push((dataset, outcome)),
            }
        }
    }

    /// The datasets with an outcome, in words.
    fn named(&self, outcome: Outcome) -> String {
        let of_it = self.datasets.iter().filter(|(_, found)| *found == outcome);
        let names: Vec<_> = of_it.map(|(dataset, _)| plain(dataset)).collect();
        if names.is_empty() {
            NONE.to_owned()
        } else if names.len() == self.datasets.len() && names.len() > 1 {
            format!("all {}", names.len())
        } else {
            names.join(" ")
        }
    }
}

/// Whether a codec is part of a program in another language.
fn is_peer(run: &Run, id: &str) -> bool {
    codec(run, id).is_some_and(|codec| codec.peer.is_some())
}

/// The outcome as the schema writes it.
fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Equal => "equal",
        Outcome::Mapped => "mapped",
        Outcome::Changed => "changed",
        Outcome::Refused => "refused",
    }
}
