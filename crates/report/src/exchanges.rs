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
    let mut pairs: Vec<(&[String], Vec<&Exchange>)> = Vec::new();
    for exchange in &run.exchanges {
        match pairs.iter_mut().find(|(path, _)| *path == exchange.path.as_slice()) {
            Some((_, exchanges)) => exchanges.push(exchange),
            None => pairs.push((&exchange.path, vec![exchange])),
        }
    }
    if pairs.is_empty() {
        return Vec::new();
    }
    let named = |exchanges: &[&Exchange], outcome: Outcome| {
        let names: Vec<_> = exchanges
            .iter()
            .filter(|exchange| exchange.outcome == outcome)
            .map(|exchange| plain(&exchange.dataset))
            .collect();
        if names.is_empty() {
            NONE.to_owned()
        } else if names.len() == exchanges.len() && names.len() > 1 {
            format!("all {}", names.len())
        } else {
            names.join(" ")
        }
    };
    let lines = pairs.iter().map(|(path, exchanges)| {
        let mut line = vec![who(path, 0), who(path, 1)];
        line.extend(
            [Outcome::Equal, Outcome::Mapped, Outcome::Changed, Outcome::Refused]
                .map(|outcome| named(exchanges, outcome)),
        );
        line
    });
    let mut sections = vec![Section {
        title: "Bytes exchanged between the implementations of a wire format".to_owned(),
        head: vec![
            "encodes, and reads again",
            "decodes, and encodes again",
            "equal",
            "mapped",
            "changed",
            "refused",
        ],
        lines: lines.collect(),
        words: 6,
        note: "each dataset out and back before any clock; equal: both had the value; mapped: by a \
               mapping that is said below; changed: read without an error as another value",
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
        let is_peer =
            |id: &&String| codec(run, id).is_some_and(|codec| codec.peer.is_some());
        let peer = path.iter().find(is_peer).or(path.last());
        let (who, reason) =
            named.unwrap_or((peer.map_or("", String::as_str), reason.as_str()));
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

fn who(path: &[String], at: usize) -> String {
    path.get(at).map_or_else(|| NONE.to_owned(), |id| plain(id).into_owned())
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
