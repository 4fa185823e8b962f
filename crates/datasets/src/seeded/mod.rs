//! The six seeded datasets, and how they are found by id.

pub mod event;
pub mod large;
pub mod log;
pub mod people;
pub mod small;
pub mod todos;

use crate::{About, DatasetVisitor, Value};

use event::{Entry, Events};
use large::Larges;
use log::Log;
use people::People;
use small::Smalls;
use todos::Todos;

/// The ids of the seeded datasets, in the order in which tables show them.
pub const IDS: [&str; 6] = ["people", "event", "small", "large", "todos", "log"];

/// The seed from which the measured values are made.
pub const SEED: u64 = 42;

/// Documents that a stream has where the value is not a sequence of records.
pub(crate) const DOCUMENTS: u64 = 100;

/// Builds the dataset called `id` and hands it to `visitor`; false if there is none of that
/// name.
///
/// `self_describing` says what the codec can: `event` holds entries of several types, which a
/// self-describing codec carries as [`Value`]s (`"pid": 17`), and a schema-bound one as
/// [`Entry`]s, an enum. The other five are the same either way.
///
/// ```
/// use wiremark_datasets::{Dataset, DatasetVisitor, visit};
///
/// struct Count(usize);
/// impl DatasetVisitor for Count {
///     fn visit<D: Dataset>(&mut self, dataset: &D) {
///         self.0 += dataset.items().len();
///     }
/// }
///
/// let mut count = Count(0);
/// assert!(visit("event", true, &mut count));
/// assert!(!visit("events", true, &mut count));
/// assert_eq!(count.0, 100);
/// ```
pub fn visit(id: &str, self_describing: bool, visitor: &mut impl DatasetVisitor) -> bool {
    match id {
        "people" => visitor.visit(&People::new()),
        "event" if self_describing => visitor.visit(&Events::<Value>::new()),
        "event" => visitor.visit(&Events::<Entry>::new()),
        "small" => visitor.visit(&Smalls::new()),
        "large" => visitor.visit(&Larges::new()),
        "todos" => visitor.visit(&Todos::new()),
        "log" => visitor.visit(&Log::new()),
        _ => return false,
    }
    true
}

/// Name, size and origin of the dataset called `id`, without building it.
///
/// ```
/// assert_eq!(wiremark_datasets::about("todos").unwrap().records, 10_000);
/// assert_eq!(wiremark_datasets::about("nothing"), None);
/// ```
pub fn about(id: &str) -> Option<About> {
    Some(match id {
        "people" => people::about(SEED, people::RECORDS),
        "event" => event::about(SEED),
        "small" => small::about(SEED),
        "large" => large::about(SEED),
        "todos" => todos::about(SEED, todos::RECORDS),
        "log" => log::about(SEED, log::RECORDS),
        _ => return None,
    })
}

/// Describes a seeded set.
fn describe(id: &str, title: String, seed: u64, records: u64) -> About {
    About {
        id: id.to_owned(),
        title,
        source: format!("seed {seed}"),
        records,
        origin: origin(id).to_owned(),
        needs_self_describing: false,
    }
}

/// What a set grew from, for those who compare its figures with older ones.
fn origin(id: &str) -> &'static str {
    match id {
        "people" => {
            "grew from a Go program that wrote gob and indented JSON to files of one name, the \
             second over the first; it never wrote the age, whose field was not exported"
        }
        "event" => {
            "grew from a comparison of two MessagePack libraries of Go, which kept the maps that \
             they decoded into and wrote the time in different ways"
        }
        "small" | "large" => "grew from a comparison of Perl's serializers",
        "todos" => {
            "grew from a Go program that exported a table to a text file, a call for each row; \
             its clock held the query too"
        }
        _ => "",
    }
}

/// A number with a comma between thousands: `10,000`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
