//! Reads the request and the data it names.

use std::env;

use wiremark_datasets::files::{self, OwnData};
use wiremark_record::protocol::{DataFile, REQUEST, Request};

/// The request in the environment; without one, all seeded datasets and the default sampling,
/// so that `cargo bench` works by hand.
///
/// # Errors
/// A sentence for a person, if the variable does not hold a request.
pub fn from_environment() -> Result<Request, String> {
    match env::var(REQUEST) {
        Ok(text) => serde_json::from_str(&text)
            .map_err(|error| format!("{REQUEST} does not hold a request: {error}")),
        Err(_) => Ok(Request {
            datasets: wiremark_datasets::IDS.iter().map(|&id| id.to_owned()).collect(),
            ..Request::default()
        }),
    }
}

/// Reads one of the user's files.
///
/// # Errors
/// A sentence that names file, line and column.
pub fn read(file: &DataFile) -> Result<OwnData, String> {
    let bytes = std::fs::read(&file.path)
        .map_err(|error| format!("cannot read {}: {error}", file.name))?;
    let format = match file.format.as_deref() {
        None => None,
        Some(word) => {
            Some(word.parse().map_err(|error| format!("{}: {error}", file.name))?)
        }
    };
    let options =
        files::Options { format, csv_strings: file.csv_strings, ..Default::default() };
    files::read(&file.name, &bytes, &options)
        .map(|data| data.with_id(file.id.as_str()))
        .map_err(|error| error.to_string())
}
