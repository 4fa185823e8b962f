//! The seeded datasets are what their documentation says, and stay so.

#![expect(clippy::unwrap_used, reason = "a test stops where it cannot go on")]

use std::collections::HashSet;

use serde::Serialize;
use wiremark_datasets::seeded::event::{Entry, Events};
use wiremark_datasets::seeded::log::{Address, Body, Level, Log, Outcome};
use wiremark_datasets::seeded::people::People;
use wiremark_datasets::{
    About, Dataset, DatasetVisitor, IDS, Value, about, fingerprint, from_value, to_value,
    visit,
};

/// Hands each dataset to a closure's twin: a function over what all have in common.
struct Each<F>(F);

/// What tests look at.
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
struct Seen {
    about: About,
    value: String,
    sibling: String,
    items: Vec<String>,
    json: String,
    round_trips: bool,
    through_value: bool,
    borrows: bool,
    borrowed_is_same: bool,
    borrowed_is_sibling: bool,
}

impl<F: FnMut(Seen)> DatasetVisitor for Each<F> {
    fn visit<D: Dataset>(&mut self, dataset: &D) {
        let value = dataset.value();
        let json = serde_json::to_string(value).unwrap();
        let back: D::Value = serde_json::from_str(&json).unwrap();
        let dynamic = to_value(value).unwrap();
        let borrowed: D::Borrowed<'_> = serde_json::from_str(&json).unwrap();
        let sibling = dataset.sibling();
        (self.0)(Seen {
            about: dataset.about(),
            value: fingerprint(value),
            sibling: fingerprint(&sibling),
            items: dataset.items().iter().map(fingerprint).collect(),
            round_trips: back == *value,
            through_value: from_value::<D::Value>(&dynamic).unwrap() == *value
                && fingerprint(&dynamic) == fingerprint(value),
            borrows: D::BORROWS,
            borrowed_is_same: D::is_same(&borrowed, value),
            borrowed_is_sibling: D::is_same(&borrowed, &sibling),
            json: json.clone(),
        });
    }
}

fn each(mut look: impl FnMut(&str, Seen)) {
    for id in IDS {
        for self_describing in [true, false] {
            let mut seen = 0;
            let found = visit(
                id,
                self_describing,
                &mut Each(|what| {
                    seen += 1;
                    look(id, what);
                }),
            );
            assert!(found && seen == 1, "{id}");
        }
    }
}

#[test]
fn values_stay_the_same() {
    // The value's fingerprint, and that of its documents' fingerprints in a row.
    let golden = [
        ("people", "f11014bc97c7bdce", "8c07545ccdb10e1e"),
        // With entries as they are, then as an enum.
        ("event", "7173dadbfaca2281", "5f4b24ef79231845"),
        ("event", "1878013a2d82f271", "c45f19960ba32bae"),
        // The first of these was made in another language from the documented byte string.
        ("small", "c9effa7303527d30", "0a76d14aa44479e5"),
        ("large", "cf877a4108c72547", "0ff5dd15af488674"),
        ("todos", "85547b566a8eef72", "d83f8b215de4217f"),
        ("log", "1e2e7445016a8bc6", "536034240284d65e"),
    ];
    let mut wrong = Vec::new();
    each(|id, seen| {
        let made = (id, seen.value.as_str(), &*fingerprint(&seen.items.concat()));
        if !golden.contains(&made) {
            wrong.push(format!("{made:?}"));
        }
    });
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn what_is_said_before_building_holds_afterwards() {
    each(|id, seen| {
        assert_eq!(Some(&seen.about), about(id).as_ref());
        assert_eq!(seen.about.id, id);
        assert_eq!(seen.about.source, "seed 42");
        assert!(!seen.about.needs_self_describing);
    });
}

#[test]
fn an_unknown_id_is_not_found() {
    let mut visitor = Each(|_: Seen| panic!("there is no such dataset"));
    for id in ["", "People", "peoples", "event "] {
        assert!(!visit(id, true, &mut visitor));
        assert_eq!(about(id), None);
    }
}

#[test]
fn values_go_through_json_and_through_the_dynamic_type() {
    each(|id, seen| {
        assert!(seen.round_trips, "{id} through JSON");
        assert!(seen.through_value, "{id} through Value");
    });
}

#[test]
fn a_borrowed_twin_is_the_value_and_not_its_sibling() {
    each(|id, seen| {
        assert_eq!(seen.borrows, id != "log", "{id}");
        assert!(seen.borrowed_is_same, "{id}");
        assert!(!seen.borrowed_is_sibling, "{id}");
    });
}

#[test]
fn a_sibling_differs_and_documents_of_a_stream_differ_from_each_other() {
    each(|id, seen| {
        assert_ne!(seen.value, seen.sibling, "{id}");
        let expected = match id {
            "people" | "todos" => 10_000,
            "log" => 1_200,
            _ => 100,
        };
        assert_eq!(seen.items.len(), expected, "{id}");
        let different: HashSet<_> = seen.items.iter().collect();
        // Two people may have the same name, age and no hobbies.
        assert!(different.len() * 100 >= expected * 99, "{id}: {}", different.len());
    });
}

#[test]
fn sizes_as_json_are_what_the_documentation_says() {
    each(|id, seen| {
        let range = match id {
            "people" => 600_000..1_200_000,
            "event" => 150..400,
            "small" => 40..41,
            "large" => 3_900..4_000,
            "todos" => 800_000..1_600_000,
            _ => 950_000..1_100_000,
        };
        assert!(range.contains(&seen.json.len()), "{id}: {}", seen.json.len());
        assert_eq!(seen.json.contains('\\'), id == "log", "{id} and escapes");
        assert_eq!(!seen.json.is_ascii(), id == "log", "{id} and other scripts");
    });
}

#[test]
fn both_forms_of_the_event_say_the_same() {
    let dynamic = Events::<Value>::new();
    let typed = Events::<Entry>::new();
    for (one, other) in dynamic.items().iter().zip(typed.items()) {
        assert_eq!((&one.tag, one.time), (&other.tag, other.time));
        assert_eq!(one.record.len(), 7);
        for ((name, value), (same, entry)) in one.record.iter().zip(&other.record) {
            assert_eq!((name, value), (same, &Value::from(entry.clone())));
        }
    }
}

#[test]
fn the_log_has_every_variant() {
    let log = Log::new();
    let mut seen = HashSet::new();
    for record in log.value() {
        seen.insert(match record.client.address {
            Address::Local => "local",
            Address::V4(..) => "v4",
            Address::V6(_) => "v6",
        });
        seen.insert(match record.request.body {
            Body::Empty => "empty",
            Body::Text(_) => "text",
            Body::Form(_) => "form",
            Body::File { .. } => "file",
        });
        seen.insert(match record.outcome {
            Outcome::Done { .. } => "done",
            Outcome::Moved(_) => "moved",
            Outcome::Failed(..) => "failed",
            Outcome::Gone => "gone",
        });
        seen.insert(match record.level {
            Level::Debug => "debug",
            Level::Info => "info",
            Level::Warn => "warn",
            Level::Error => "error",
        });
    }
    assert_eq!(seen.len(), 3 + 4 + 4 + 4, "{seen:?}");
}

#[test]
fn an_empty_set_has_a_sibling_that_differs() {
    let nobody = People::with(1, 0);
    assert!(nobody.items().is_empty());
    assert_ne!(nobody.sibling(), *nobody.value());
}

#[test]
fn records_are_the_same_whatever_their_number() {
    fn check<T: Serialize>(few: &[T], many: &[T]) {
        assert_eq!(fingerprint(few), fingerprint(&many[..few.len()]));
    }
    check(People::with(5, 10).value(), People::with(5, 20).value());
    check(Log::with(5, 10).value(), Log::with(5, 20).value());
}
