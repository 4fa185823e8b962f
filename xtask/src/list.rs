//! `cargo xtask list`: formats, datasets, cells.

use wiremark_record::protocol::Sampling;

use crate::build::{self, Kind, What};
use crate::cli::{ListOptions, ListWhat};
use crate::plan::{self, Listed};
use crate::problem::{Context, Problem};
use crate::progress::Progress;
use crate::workspace::Workspace;

pub(crate) fn run(options: &ListOptions) -> Result<(), Problem> {
    let workspace = Workspace::find()?;
    std::fs::create_dir_all(workspace.wiremark())
        .context(|| format!("cannot make {}", workspace.wiremark().display()))?;
    let stdin_to = workspace.wiremark().join("stdin");
    let suite = options.suite.suite();
    let request =
        plan::request(suite, &options.data, Sampling::default(), &stdin_to, None)?;
    let crates = crate::bench::crates(&workspace, suite)?;
    let mut progress = Progress::new("building", crates.len());
    let mut workers = Vec::new();
    for name in &crates {
        progress.now(name);
        workers.push(
            build::build(&workspace, name, What::plain(suite), Kind::Worker)?.into(),
        );
        progress.advance();
    }
    progress.finish();
    let listed = plan::list(&workers, &request);
    let _ = std::fs::remove_file(&stdin_to);
    let listed = listed?;
    let lines = match options.what {
        ListWhat::Formats => formats(&listed),
        ListWhat::Datasets => datasets(&listed),
        ListWhat::Cells => cells(&listed),
    };
    let selected: Vec<String> = lines
        .into_iter()
        .filter(|line| plan::is_selected(&options.filters, line))
        .collect();
    if selected.is_empty() {
        return Err(plan::nothing_selected(&options.filters));
    }
    crate::print(&(selected.join("\n") + "\n"))
}

fn formats(listed: &Listed) -> Vec<String> {
    columns(listed.codecs.iter().map(|codec| {
        let upkeep = match (codec.maintained, &codec.advisory) {
            (true, _) => "maintained".to_owned(),
            (false, Some(advisory)) => format!("unmaintained ({advisory})"),
            (false, None) => "unmaintained".to_owned(),
        };
        [
            codec.id.clone(),
            codec.format.clone(),
            format!("{} {}", codec.library, codec.version),
            upkeep,
        ]
    }))
}

fn datasets(listed: &Listed) -> Vec<String> {
    columns(listed.datasets.iter().map(|dataset| {
        [
            dataset.id.clone(),
            dataset.title.clone(),
            dataset.source.clone(),
            format!("hash {}", dataset.hash),
        ]
    }))
}

fn cells(listed: &Listed) -> Vec<String> {
    let line = |cell: &wiremark_record::protocol::Planned| match &cell.skip {
        None => cell.id.to_string(),
        Some(skip) => format!("{}  (not run: {})", cell.id, skip.reason),
    };
    listed.cells.iter().map(|(cell, _)| line(cell)).collect()
}

/// Lines with their columns one under the other.
fn columns<const N: usize>(rows: impl Iterator<Item = [String; N]>) -> Vec<String> {
    let rows: Vec<[String; N]> = rows.collect();
    let width = |column: usize| {
        rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..N).map(width).collect();
    rows.iter()
        .map(|row| {
            let cells = row.iter().zip(&widths);
            let line: Vec<String> =
                cells.map(|(cell, width)| format!("{cell:width$}")).collect();
            line.join("  ").trim_end().to_owned()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_under_one_another() {
        let rows = [["a", "one"], ["bcd", "été"], ["é", ""]];
        let lines = columns(rows.iter().map(|row| row.map(str::to_owned)));
        assert_eq!(lines, ["a    one", "bcd  été", "é"]);
    }
}
