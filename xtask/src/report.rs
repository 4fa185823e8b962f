//! `cargo xtask report`, and what `bench` shows and writes at its end.

use std::io::{self, IsTerminal};
use std::path::Path;

use wiremark_record::Run;
use wiremark_report::{Style, csv, markdown, terminal};

use crate::cli::{Exports, ReportOptions};
use crate::files::{read_run, write_whole};
use crate::problem::{Context, Problem};
use crate::workspace::Workspace;

pub(crate) fn run(options: &ReportOptions) -> Result<(), Problem> {
    let workspace = Workspace::find()?;
    let mut run = read_run(&workspace, &options.run)?;
    // An interrupted run was saved without its summary.
    run.summarise();
    let reference = resolve(&run, options.reference.as_deref())?;
    export(&run, &options.exports, reference.as_deref())?;
    print(&run, reference.as_deref())
}

/// The whole id of a codec from a part of it.
pub(crate) fn resolve(run: &Run, part: Option<&str>) -> Result<Option<String>, Problem> {
    let Some(part) = part else { return Ok(None) };
    let ids: Vec<&str> = run.codecs.iter().map(|codec| codec.id.as_str()).collect();
    resolve_among(&ids, part).map(Some)
}

/// The one of `ids` that is `part`, or else holds it.
pub(crate) fn resolve_among(ids: &[&str], part: &str) -> Result<String, Problem> {
    let holding: Vec<&str> = ids.iter().copied().filter(|id| id.contains(part)).collect();
    let exact = ids.iter().copied().find(|id| *id == part);
    match (exact, holding.as_slice()) {
        (Some(id), _) | (None, &[id]) => Ok(id.to_owned()),
        (None, []) => Err(Problem::usage(format!(
            "no codec's id holds `{part}`: there are {}",
            ids.join(", ")
        ))),
        (None, several) => Err(Problem::usage(format!(
            "`{part}` could be any of {}: write more of it",
            several.join(", ")
        ))),
    }
}

/// Prints the tables: as wide as the terminal, whole where there is none.
pub(crate) fn print(run: &Run, reference: Option<&str>) -> Result<(), Problem> {
    let is_terminal = io::stdout().is_terminal();
    let width = terminal_size::terminal_size()
        .filter(|_| is_terminal)
        .map(|(width, _)| usize::from(width.0));
    let no_colour = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let style = Style {
        width,
        colour: is_terminal && !no_colour,
        reference: reference.map(str::to_owned),
    };
    crate::print(&terminal(run, &style))
}

/// Writes `report.md` and `report.csv` into the run's folder.
pub(crate) fn write_beside(
    run: &Run,
    folder: &Path,
    reference: Option<&str>,
) -> Result<(), Problem> {
    write_whole(&folder.join("report.md"), markdown(run, reference).as_bytes())?;
    write_whole(&folder.join("report.csv"), csv(run, reference).as_bytes())
}

/// Sees whether the exports can be written, before minutes have gone into what they will hold.
pub(crate) fn probe(exports: &Exports) -> Result<(), Problem> {
    for path in [&exports.json, &exports.csv, &exports.markdown].into_iter().flatten() {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        if path.is_dir() {
            return Err(Problem::usage(format!("{} is a folder", path.display())));
        }
        if folder.is_some_and(|folder| !folder.is_dir()) {
            return Err(Problem::usage(format!(
                "cannot write {}: there is no such folder",
                path.display()
            )));
        }
    }
    Ok(())
}

/// Writes the files that the command line asked for.
pub(crate) fn export(
    run: &Run,
    exports: &Exports,
    reference: Option<&str>,
) -> Result<(), Problem> {
    if let Some(path) = &exports.json {
        let json = run.to_vec().context(|| "cannot write the results".to_owned())?;
        write_whole(path, &json)?;
    }
    if let Some(path) = &exports.csv {
        write_whole(path, csv(run, reference).as_bytes())?;
    }
    if let Some(path) = &exports.markdown {
        write_whole(path, markdown(run, reference).as_bytes())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_an_id_is_enough_if_it_is_the_only_one() {
        let ids = ["json/serde_json/compact", "json/serde_json/pretty", "cbor/ciborium"];
        assert_eq!(resolve_among(&ids, "cbor").unwrap(), "cbor/ciborium");
        assert_eq!(resolve_among(&ids, "pretty").unwrap(), "json/serde_json/pretty");
        let several = resolve_among(&ids, "json").unwrap_err().to_string();
        assert!(several.starts_with("`json` could be any of "), "{several}");
        let none = resolve_among(&ids, "xml").unwrap_err().to_string();
        assert!(none.starts_with("no codec's id holds `xml`: there are "), "{none}");
    }
}
