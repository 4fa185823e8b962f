//! Do the implementations of a wire format understand each other?

use wiremark_record::{Exchange, Outcome, Run};

use crate::number::NONE;
use crate::section::Section;
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

    let mut told: Vec<(&[String], Outcome, &str, Vec<&str>)> = Vec::new();
    for exchange in run.exchanges.iter().filter(|one| one.outcome != Outcome::Equal) {
        let Exchange { dataset, path, outcome, reason } = exchange;
        match told.iter_mut().find(|(p, o, r, _)| {
            *p == path.as_slice() && o == outcome && *r == reason.as_str()
        }) {
            Some((.., datasets)) => datasets.push(dataset),
            None => told.push((path, *outcome, reason, vec![dataset])),
        }
    }
    let lines: Vec<Vec<String>> = told
        .into_iter()
        .map(|(path, outcome, reason, datasets)| {
            vec![
                who(path, 0),
                who(path, 1),
                plain(&datasets.join(" ")).into_owned(),
                word(outcome).to_owned(),
                shortened(&plain(reason), REASON).into_owned(),
            ]
        })
        .collect();
    if !lines.is_empty() {
        sections.push(Section {
            title: "What was not simply equal".to_owned(),
            head: vec!["encodes", "decodes", "datasets", "outcome", "reason"],
            lines,
            words: 5,
            note: "",
        });
    }
    sections
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
