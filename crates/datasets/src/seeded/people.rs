//! `people`: 10,000 records {name, age, sex, hobbies}.
//!
//! It grew from a Go program that compared `encoding/gob` with `encoding/json` on a struct
//! `{Name, age, Sex, Hobbies}`. Since Go's encoders see exported fields only, that program
//! never wrote `age`; this set carries it.

use serde::{Deserialize, Serialize};

use super::{SEED, describe, grouped};
use crate::random::Rng;
use crate::{About, Dataset};

/// Records in the set that is measured.
pub const RECORDS: u64 = 10_000;

/// Somebody with a name, an age and hobbies.
///
/// Names and hobbies are ASCII letters, spaces and hyphens: no text needs an escape, so that a
/// codec which borrows text from its input can borrow all of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Person {
    /// Given name, a space, family name: 7 to 20 bytes.
    pub name: String,
    /// Years, 18 to 97.
    pub age: u8,
    /// One of three, 48 : 48 : 4.
    pub sex: Sex,
    /// None to five, all different.
    pub hobbies: Vec<String>,
}

/// [`Person`] with text that borrows from the input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PersonRef<'a> {
    /// As in [`Person`].
    pub name: &'a str,
    /// As in [`Person`].
    pub age: u8,
    /// As in [`Person`].
    pub sex: Sex,
    /// As in [`Person`].
    #[serde(borrow)]
    pub hobbies: Vec<&'a str>,
}

impl PartialEq<Person> for PersonRef<'_> {
    fn eq(&self, other: &Person) -> bool {
        self.name == other.name
            && self.age == other.age
            && self.sex == other.sex
            && self.hobbies == other.hobbies
    }
}

/// An enum without fields: a word in formats that write names, a number in others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sex {
    /// `female`
    Female,
    /// `male`
    Male,
    /// `other`
    Other,
}

/// The dataset `people`.
///
/// ```
/// use wiremark_datasets::{Dataset, seeded::people::People};
///
/// let people = People::new();
/// assert_eq!(people.value().len(), 10_000);
/// assert!(people.value().iter().all(|person| person.hobbies.len() <= 5));
/// ```
#[derive(Clone, Debug)]
pub struct People {
    seed: u64,
    people: Vec<Person>,
}

impl People {
    /// The set that is measured: [`RECORDS`] people from [`SEED`].
    pub fn new() -> Self {
        Self::with(SEED, RECORDS)
    }

    /// As many people as wanted, from any seed.
    pub fn with(seed: u64, records: u64) -> Self {
        Self { seed, people: make(seed, records) }
    }
}

impl Default for People {
    fn default() -> Self {
        Self::new()
    }
}

impl Dataset for People {
    type Value = Vec<Person>;
    type Item = Person;
    type Borrowed<'de> = Vec<PersonRef<'de>>;
    const BORROWS: bool = true;

    fn about(&self) -> About {
        about(self.seed, self.people.len() as u64)
    }

    fn value(&self) -> &Self::Value {
        &self.people
    }

    fn sibling(&self) -> Self::Value {
        make(self.seed.wrapping_add(1), (self.people.len() as u64).max(1))
    }

    fn items(&self) -> &[Self::Item] {
        &self.people
    }

    fn is_same(borrowed: &Self::Borrowed<'_>, value: &Self::Value) -> bool {
        borrowed == value
    }
}

pub(super) fn about(seed: u64, records: u64) -> About {
    let title = format!("{} people {{name, age, sex, hobbies}}", grouped(records));
    describe("people", title, seed, records)
}

fn make(seed: u64, records: u64) -> Vec<Person> {
    let mut rng = Rng::new(seed);
    (0..records).map(|_| person(&mut rng)).collect()
}

fn person(rng: &mut Rng) -> Person {
    let name = format!("{} {}", rng.pick(GIVEN), rng.pick(FAMILY));
    let age = rng.between(18, 97);
    let sex = match rng.below(100) {
        0..48 => Sex::Female,
        48..96 => Sex::Male,
        _ => Sex::Other,
    };
    let mut hobbies: Vec<&str> = HOBBIES.to_vec();
    rng.shuffle(&mut hobbies);
    hobbies.truncate(rng.index(6));
    Person { name, age, sex, hobbies: hobbies.into_iter().map(str::to_owned).collect() }
}

const GIVEN: &[&str] = &[
    "Ada",
    "Aiko",
    "Amir",
    "Anna",
    "Ben",
    "Carlos",
    "Chen",
    "Clara",
    "David",
    "Elena",
    "Emil",
    "Fatima",
    "Felix",
    "Grace",
    "Hannah",
    "Hiro",
    "Ines",
    "Ivan",
    "Jakob",
    "Jean-Paul",
    "Karim",
    "Lena",
    "Liam",
    "Lucia",
    "Maria",
    "Mateo",
    "Mia",
    "Nadia",
    "Noah",
    "Olga",
    "Omar",
    "Paula",
    "Priya",
    "Rosa",
    "Samuel",
    "Sofia",
    "Tariq",
    "Theodora",
    "Victor",
    "Yara",
];

const FAMILY: &[&str] = &[
    "Abe",
    "Andersson",
    "Bauer",
    "Brown",
    "Costa",
    "Diaz",
    "Dubois",
    "Evans",
    "Fischer",
    "Garcia",
    "Haddad",
    "Hansen",
    "Ivanova",
    "Jones",
    "Kaya",
    "Khan",
    "Kim",
    "Kowalski",
    "Li",
    "Lopez",
    "Meyer",
    "Moreau",
    "Nguyen",
    "Novak",
    "Okafor",
    "Park",
    "Patel",
    "Petrov",
    "Rossi",
    "Santos",
    "Sato",
    "Silva",
    "Singh",
    "Smith",
    "Suzuki",
    "Tanaka",
    "Wagner",
    "Wang",
    "Weber",
    "Yilmaz",
];

const HOBBIES: &[&str] = &[
    "archery",
    "astronomy",
    "baking",
    "bird watching",
    "board games",
    "calligraphy",
    "chess",
    "climbing",
    "cycling",
    "dancing",
    "drawing",
    "fishing",
    "gardening",
    "hiking",
    "judo",
    "knitting",
    "origami",
    "photography",
    "poetry",
    "pottery",
    "reading",
    "rowing",
    "running",
    "sailing",
    "singing",
    "skiing",
    "swimming",
    "table tennis",
    "travel",
    "woodwork",
];
