//! `log`: the log of a web service, nested records with a bit of everything; about 1 MB as
//! compact JSON.
//!
//! The five other sets are flat and of one kind; this one is what a format meets at work:
//! externally tagged enums with all four kinds of variants, options, nested structs, maps, and
//! text of mixed length and script, some of which needs escapes in JSON.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{SEED, describe, grouped};
use crate::random::{Rng, WORDS};
use crate::{About, Dataset};

/// Records in the set that is measured.
pub const RECORDS: u64 = 1_200;

/// One answered request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LogRecord {
    /// 32 hexadecimal digits.
    pub id: String,
    /// Nanoseconds since 1970-01-01 UTC, growing from record to record.
    pub time: u64,
    /// How bad it is.
    pub level: Level,
    /// Who asked.
    pub client: Client,
    /// What was asked.
    pub request: Request,
    /// What came of it.
    pub outcome: Outcome,
    /// What was done meanwhile: none to six.
    pub steps: Vec<Step>,
    /// Whatever else was noted: none to three entries, keys and values are text.
    pub labels: BTreeMap<String, String>,
    /// Text for people, in one of ten scripts; one in eight needs escapes in JSON.
    pub message: String,
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Level {
    /// For those who look for a fault.
    Debug,
    /// As it should be.
    Info,
    /// Somebody should look at it some day.
    Warn,
    /// Somebody should look at it now.
    Error,
}

/// Who asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Client {
    /// Where from.
    pub address: Address,
    /// Absent in one of three.
    pub user: Option<User>,
    /// The program that asked, in its own words; absent in one of five.
    pub agent: Option<String>,
}

/// Where a request comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Address {
    /// This machine.
    Local,
    /// Four bytes.
    V4(u8, u8, u8, u8),
    /// As text.
    V6(String),
}

/// An account.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct User {
    /// Its number, up to 40 bits.
    pub id: u64,
    /// Its name, in one of ten scripts.
    pub name: String,
    /// Share of its requests that failed, 0 to 1, four decimal places.
    pub error_rate: f64,
    /// Hours from UTC, negative in the west.
    pub zone: i8,
}

/// What was asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// The verb.
    pub method: Method,
    /// The path, with a leading `/`.
    pub path: String,
    /// None to four parameters.
    pub query: BTreeMap<String, String>,
    /// Two to six headers, names in lower case.
    pub headers: BTreeMap<String, String>,
    /// What was sent along.
    pub body: Body,
}

/// The verb of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Method {
    /// `GET`
    Get,
    /// `POST`
    Post,
    /// `PUT`
    Put,
    /// `DELETE`
    Delete,
}

/// What was sent along.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Body {
    /// Nothing.
    Empty,
    /// Text, up to a few hundred bytes.
    Text(String),
    /// A form's fields.
    Form(BTreeMap<String, String>),
    /// A file.
    File {
        /// Its name.
        name: String,
        /// Its size in bytes.
        size_bytes: u64,
        /// What kind it says it is, if it does.
        kind: Option<String>,
    },
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Outcome {
    /// An answer.
    Done {
        /// Its status, 200 to 206.
        status: u16,
        /// Its size in bytes.
        size_bytes: u64,
        /// Whether it came from the cache.
        cached: bool,
        /// How long it took, in milliseconds with three decimal places.
        took_ms: f64,
    },
    /// Another place to look.
    Moved(String),
    /// A refusal: a status from 400 to 599, and why.
    Failed(u16, String),
    /// The client went away.
    Gone,
}

/// Something done while a request was answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// What.
    pub name: String,
    /// When it began, in microseconds from the start of the request.
    pub start_us: u32,
    /// How long it took, in microseconds.
    pub took_us: u32,
    /// What went wrong, if anything did.
    pub error: Option<String>,
}

/// The dataset `log`.
///
/// ```
/// use wiremark_datasets::{Dataset, seeded::log::Log};
///
/// let log = Log::new();
/// assert!(log.value().iter().any(|record| !record.message.is_ascii()));
/// ```
#[derive(Clone, Debug)]
pub struct Log {
    seed: u64,
    records: Vec<LogRecord>,
}

impl Log {
    /// The set that is measured: [`RECORDS`] records from [`SEED`].
    pub fn new() -> Self {
        Self::with(SEED, RECORDS)
    }

    /// As many records as wanted, from any seed.
    pub fn with(seed: u64, records: u64) -> Self {
        Self { seed, records: make(seed, records) }
    }
}

impl Default for Log {
    fn default() -> Self {
        Self::new()
    }
}

impl Dataset for Log {
    type Value = Vec<LogRecord>;
    type Item = LogRecord;
    // Text with escapes cannot be borrowed from JSON, so there is no twin that borrows.
    type Borrowed<'de> = Vec<LogRecord>;
    const BORROWS: bool = false;

    fn about(&self) -> About {
        about(self.seed, self.records.len() as u64)
    }

    fn value(&self) -> &Self::Value {
        &self.records
    }

    fn sibling(&self) -> Self::Value {
        make(self.seed.wrapping_add(1), (self.records.len() as u64).max(1))
    }

    fn items(&self) -> &[Self::Item] {
        &self.records
    }

    fn is_same(borrowed: &Self::Borrowed<'_>, value: &Self::Value) -> bool {
        borrowed == value
    }
}

pub(super) fn about(seed: u64, records: u64) -> About {
    let title = format!("{} nested request-log records", grouped(records));
    describe("log", title, seed, records)
}

fn make(seed: u64, records: u64) -> Vec<LogRecord> {
    let mut rng = Rng::new(seed);
    // 2026-03-01 00:00:00 UTC.
    let mut time = 1_772_323_200_000_000_000;
    (0..records)
        .map(|_| {
            time += rng.between(1_000_u64, 900_000_000);
            record(&mut rng, time)
        })
        .collect()
}

fn record(rng: &mut Rng, time: u64) -> LogRecord {
    let id = format!("{:016x}{:016x}", rng.next(), rng.next());
    let outcome = outcome(rng);
    let level = match (&outcome, rng.below(10)) {
        (Outcome::Failed(500.., _), _) => Level::Error,
        (Outcome::Failed(..), _) | (Outcome::Gone, 0..5) => Level::Warn,
        (_, 0..2) => Level::Debug,
        _ => Level::Info,
    };
    let client = Client {
        address: address(rng),
        user: (!rng.chance(3)).then(|| user(rng)),
        agent: (!rng.chance(5)).then(|| rng.pick(AGENTS).to_owned()),
    };
    let request = request(rng);
    let mut start_us = 0;
    let steps = (0..rng.below(7)).map(|_| step(rng, &mut start_us)).collect();
    let labels = pairs(rng, 0, 3, LABELS, NAMES);
    LogRecord {
        id,
        time,
        level,
        client,
        request,
        outcome,
        steps,
        labels,
        message: message(rng),
    }
}

fn address(rng: &mut Rng) -> Address {
    match rng.below(8) {
        0 => Address::Local,
        // The prefix and the block that are set aside for documentation.
        1..4 => Address::V6(format!(
            "2001:db8::{:x}:{:x}",
            rng.between(0_u16, u16::MAX),
            rng.between(0_u16, u16::MAX)
        )),
        _ => Address::V4(203, 0, 113, rng.between(1, 254)),
    }
}

fn user(rng: &mut Rng) -> User {
    User {
        id: rng.below(1 << 40),
        name: rng.pick(NAMES).to_owned(),
        error_rate: f64::from(rng.between(0_u16, 10_000)) / 10_000.0,
        zone: i8::try_from(rng.below(26)).unwrap_or(0) - 11,
    }
}

fn request(rng: &mut Rng) -> Request {
    let method = match rng.below(10) {
        0..6 => Method::Get,
        6..8 => Method::Post,
        8 => Method::Put,
        _ => Method::Delete,
    };
    let mut path = String::new();
    for _ in 0..rng.between(1_u8, 4) {
        path.push('/');
        path.push_str(rng.pick(PATHS));
    }
    if rng.chance(2) {
        path.push('/');
        path.push_str(&rng.below(1_000_000).to_string());
    }
    let body = match (method, rng.below(4)) {
        (Method::Get | Method::Delete, _) => Body::Empty,
        (_, 0) => Body::Text(message(rng)),
        (_, 1) => Body::File {
            name: format!("{}.{}", rng.pick(PATHS), rng.pick(&["pdf", "png", "csv"])),
            size_bytes: rng.sized(8, 32),
            kind: rng.chance(2).then(|| "application/octet-stream".to_owned()),
        },
        _ => Body::Form(pairs(rng, 1, 4, LABELS, NAMES)),
    };
    let query = pairs(rng, 0, 4, LABELS, NAMES);
    Request { method, path, query, headers: pairs(rng, 2, 6, HEADERS, MEDIA), body }
}

fn outcome(rng: &mut Rng) -> Outcome {
    match rng.below(20) {
        0 => Outcome::Gone,
        1 => Outcome::Moved(format!("/{}/{}", rng.pick(PATHS), rng.pick(PATHS))),
        2..5 => Outcome::Failed(rng.between(400, 599), message(rng)),
        _ => Outcome::Done {
            status: rng.between(200, 206),
            size_bytes: rng.sized(4, 24),
            cached: rng.chance(3),
            took_ms: f64::from(rng.between(10_u32, 3_000_000)) / 1_000.0,
        },
    }
}

fn step(rng: &mut Rng, start_us: &mut u32) -> Step {
    let name = rng.pick(STEPS).to_owned();
    let took_us = rng.between(3_u32, 90_000);
    let begin = *start_us;
    *start_us += took_us;
    Step { name, start_us: begin, took_us, error: rng.chance(12).then(|| message(rng)) }
}

/// Some of the `names`, each with a value: a number, words, or one of the `texts`.
fn pairs(
    rng: &mut Rng,
    low: u32,
    high: u32,
    names: &[&str],
    texts: &[&str],
) -> BTreeMap<String, String> {
    let wanted = rng.between(low, high);
    (0..wanted)
        .map(|_| {
            let value = match rng.below(5) {
                0 => rng.below(100_000).to_string(),
                1 | 2 => rng.pick(WORDS).to_owned(),
                3 => rng.words(WORDS, 2, 5),
                _ => rng.pick(texts).to_owned(),
            };
            (rng.pick(names).to_owned(), value)
        })
        .collect()
}

fn message(rng: &mut Rng) -> String {
    match rng.below(8) {
        0 => rng.pick(ESCAPED).to_owned(),
        1..4 => rng.words(FOREIGN, 1, 12),
        _ => rng.words(WORDS, 3, 20),
    }
}

const AGENTS: &[&str] = &[
    "curl/8.9.1",
    "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko)",
    "health-check",
    "Go-http-client/2.0",
];

const NAMES: &[&str] = &[
    "Zoë",
    "Jürgen",
    "Łukasz",
    "Αθηνά",
    "Наталья",
    "נועה",
    "ليلى",
    "अनिल",
    "さくら",
    "小明",
    "민준",
    "Anna",
    "root",
    "O'Neill",
    "😀",
];

const PATHS: &[&str] = &[
    "api",
    "v2",
    "orders",
    "users",
    "search",
    "images",
    "cart",
    "login",
    "export",
    "caf%C3%A9",
];

const HEADERS: &[&str] = &[
    "accept",
    "accept-language",
    "cache-control",
    "content-type",
    "if-none-match",
    "origin",
    "referer",
    "x-request-id",
];

const MEDIA: &[&str] =
    &["application/json", "text/html; charset=utf-8", "no-cache, max-age=0", "*/*"];

const LABELS: &[&str] =
    &["region", "page", "sort", "lang", "q", "build", "größe", "地域"];

const STEPS: &[&str] = &[
    "authenticate",
    "read cache",
    "query database",
    "render",
    "compress",
    "write audit trail",
];

/// What JSON must escape: quotes, backslashes, line ends, tabs, control characters.
const ESCAPED: &[&str] = &[
    "unexpected token \"}\" in body",
    "cannot open C:\\data\\in\\orders.csv",
    "first line\nsecond line\n\tindented third line\r\n",
    "bell \u{7} and escape \u{1b}[31mred\u{1b}[0m",
    "a \"quoted \\\"quotation\\\"\" in quotes",
    "nul \u{0}, unit separator \u{1f}, delete \u{7f}, next line \u{85}",
];

/// Words of ten scripts, two to four bytes a character where they are not Latin.
const FOREIGN: &[&str] = &[
    "Anfrage",
    "überschritten",
    "Größe",
    "requête",
    "refusée",
    "délai",
    "año",
    "niño",
    "żółw",
    "ошибка",
    "соединение",
    "закрыто",
    "σφάλμα",
    "σύνδεση",
    "שגיאה",
    "חיבור",
    "خطأ",
    "اتصال",
    "त्रुटि",
    "संपर्क",
    "エラー",
    "接続",
    "タイムアウト",
    "错误",
    "连接已关闭",
    "오류",
    "연결",
    "⚠️",
    "🚀",
    "👩‍💻",
];
