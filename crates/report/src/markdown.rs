//! The report as Markdown (GitHub's tables), with what the codecs' profiles say.

use std::fmt::Write;

use wiremark_record::{Codec, Run};

use crate::about;
use crate::answer::{Answers, QUESTIONS};
use crate::number::NONE;
use crate::section;
use crate::table::{Column, Row, Table, UNMAINTAINED, bounds_header, columns, tables};
use crate::text::{pad, plain, width};

/// The report as Markdown.
pub(crate) fn render(run: &Run, reference: Option<&str>) -> String {
    let tables = tables(run, reference);
    let bounds = bounds_header(&tables);
    let shown = columns(&tables);
    let mut out = String::new();

    let look = if about::is_first_look(run) { " (first look)" } else { "" };
    let _ = writeln!(out, "# wiremark run {}{look}\n", escaped(&run.id));
    for (word, line) in about::circumstances(run) {
        let _ = writeln!(out, "- {word}: {}", escaped(&line));
    }
    if let Some(reference) = reference
        && !about::is_known(run, reference)
    {
        let _ = writeln!(
            out,
            "- reference: no codec of this run is named {}",
            code(reference)
        );
    }
    if !run.build.crates.is_empty() {
        let _ =
            writeln!(out, "- crates: {}", escaped(&about::versions(&run.build.crates)));
    }

    if let Some(answers) = Answers::new(run, &tables) {
        answer(&mut out, &answers);
    }
    for section in section::sections(run, &tables) {
        let _ = writeln!(out, "\n## {}\n", escaped(&section.title));
        let head = section.head.iter().map(|&text| text.to_owned()).collect();
        let lines: Vec<Vec<String>> = std::iter::once(head)
            .chain(section.lines.iter().map(|line| {
                let first = line.first().map(|codec| code(codec));
                first
                    .into_iter()
                    .chain(line.iter().skip(1).map(|text| escaped(text)))
                    .collect()
            }))
            .collect();
        grid(&mut out, &lines, |at| at >= section.words);
        if !section.note.is_empty() {
            let _ = writeln!(out, "\n{}.", escaped(section.note));
        }
    }
    let mut dataset = None;
    for table in &tables {
        if dataset != Some(table.dataset) {
            dataset = Some(table.dataset);
            let _ = writeln!(out, "\n## {}", escaped(table.dataset));
            if let Some(title) = about::dataset_title(run, table.dataset) {
                let _ = writeln!(out, "\n{}", escaped(&title));
            }
            if let Some(origin) = about::origin(run, table.dataset) {
                let _ = writeln!(out, "\nIt {}.", escaped(&origin));
            }
        }
        section(&mut out, table, &shown, bounds, reference);
    }
    if tables.is_empty() {
        out.push_str("\nNo cells.\n");
    }

    codecs(&mut out, &run.codecs);
    let notes = about::empty_columns(&tables, &shown);
    let terms = about::explanations(&tables, &shown);
    if !notes.is_empty() || !terms.is_empty() {
        out.push_str("\n## How to read\n\n");
    }
    for (term, text) in terms {
        let _ = writeln!(out, "- **{}**: {}", escaped(term), escaped(text));
    }
    for note in notes {
        let _ = writeln!(out, "- {}", escaped(&note));
    }
    out
}

fn answer(out: &mut String, answers: &Answers) {
    let _ = writeln!(out, "\n## {}\n", answers.title());
    let mut lines = vec![
        ["dataset"]
            .iter()
            .chain(&QUESTIONS)
            .map(|&head| head.to_owned())
            .collect::<Vec<_>>(),
    ];
    for answer in &answers.datasets {
        let mut line = vec![escaped(&answer.dataset)];
        for winners in &answer.winners {
            let texts: Vec<_> = winners
                .iter()
                .map(|winner| {
                    if winner.figure.is_empty() {
                        return winner.codec.clone();
                    }
                    let mark = escaped(winner.mark);
                    format!("{mark}{} {}", code(&winner.codec), winner.figure)
                })
                .collect();
            line.push(if texts.is_empty() { NONE.to_owned() } else { texts.join(", ") });
        }
        lines.push(line);
    }
    grid(out, &lines, |_| false);
    out.push_str("\n`=` ties with the first, `~` cannot be told apart from it.\n");
}

fn section(
    out: &mut String,
    table: &Table<'_>,
    shown: &[Column],
    bounds: &'static str,
    reference: Option<&str>,
) {
    let _ = writeln!(out, "\n### {}", escaped(&table.title()));
    let documents = about::documents(table);
    let facts: Vec<_> = about::first_look(table)
        .into_iter()
        .chain(about::ratio_to(table, reference))
        .chain(
            (!documents.is_empty())
                .then(|| documents.trim_start_matches(", ").to_owned()),
        )
        .collect();
    if !facts.is_empty() {
        let facts = facts.join(", ");
        let mut rest = facts.chars();
        let first = rest.next().map(|first| first.to_ascii_uppercase());
        let facts: String = first.into_iter().chain(rest).collect();
        let _ = writeln!(out, "\n{}.", escaped(&facts));
    }
    if table.rows().next().is_some() {
        out.push('\n');
        let head = shown.iter().map(|column| column.header(bounds).to_owned()).collect();
        let lines: Vec<Vec<String>> = std::iter::once(head)
            .chain(
                table
                    .rows()
                    .map(|row| shown.iter().map(|column| text(*column, row)).collect()),
            )
            .collect();
        grid(out, &lines, |at| shown.get(at).is_some_and(|column| column.is_right()));
    }
    let missing = table
        .missing
        .iter()
        .filter(|missing| about::is_worth_a_note(table, missing.what, shown))
        .map(|missing| (format!("no {}", about::measure(missing.what)), missing));
    let unmeasured =
        table.unmeasured.iter().map(|reason| (reason.what.to_owned(), reason));
    for (at, (what, reason)) in unmeasured.chain(missing).enumerate() {
        let codecs: Vec<_> = reason.codecs.iter().map(|codec| code(codec)).collect();
        let before = if at == 0 { "\n" } else { "" };
        let why = escaped(reason.reason);
        let _ =
            writeln!(out, "{before}- {}: {why} ({})", escaped(&what), codecs.join(", "));
    }
}

fn text(column: Column, row: &Row<'_>) -> String {
    if column == Column::Codec {
        return format!("{}{}", code(&row.cell.id.codec), row.marks());
    }
    if column == Column::Way {
        return code(&row.name());
    }
    // Figures and our own words: nothing that Markdown would take for its own.
    column.text(row).unwrap_or_else(|| NONE.to_owned())
}

fn codecs(out: &mut String, codecs: &[Codec]) {
    if codecs.is_empty() {
        return;
    }
    out.push_str("\n## Codecs\n\n");
    let head = [
        "codec",
        "format",
        "library",
        "upkeep",
        "licence",
        "stream",
        "trailing bytes",
        "spec",
    ];
    let mut lines = vec![head.map(str::to_owned).to_vec()];
    for codec in codecs {
        let mark = if codec.maintained { "" } else { UNMAINTAINED };
        let upkeep = match (&codec.advisory, codec.maintained) {
            (Some(advisory), false) => format!("unmaintained, {advisory}"),
            (None, false) => "unmaintained".to_owned(),
            (_, true) => "maintained".to_owned(),
        };
        let role = if codec.role == "codec" { "" } else { " (not ranked)" };
        lines.push(vec![
            format!("{}{mark}{role}", code(&codec.id)),
            escaped(&codec.format),
            escaped(&format!("{} {}", codec.library, codec.version)),
            escaped(&upkeep),
            escaped(&codec.license),
            escaped(&codec.framing),
            escaped(&codec.trailing),
            escaped(&codec.spec),
        ]);
    }
    grid(out, &lines, |_| false);
    let caveats = codecs.iter().filter(|codec| !codec.caveat.is_empty());
    for (at, codec) in caveats.enumerate() {
        let before = if at == 0 { "\n" } else { "" };
        let caveat = escaped(&codec.caveat);
        let _ = writeln!(out, "{before}- {}: {caveat}", code(&codec.id));
    }
    if codecs.iter().any(|codec| !codec.maintained) {
        let _ = writeln!(out, "\n{}: no longer maintained.", UNMAINTAINED.trim());
    }
}

/// A table; the first line is its head. Cells are padded so that the source can be read too.
fn grid(out: &mut String, lines: &[Vec<String>], is_right: impl Fn(usize) -> bool) {
    let count = lines.first().map_or(0, Vec::len);
    let widths: Vec<usize> = (0..count)
        .map(|at| {
            let texts = lines.iter().filter_map(|line| line.get(at));
            texts.map(|text| width(text)).max().unwrap_or(0).max(3)
        })
        .collect();
    for (number, line) in lines.iter().enumerate() {
        for (at, (text, wide)) in line.iter().zip(&widths).enumerate() {
            out.push_str(if at == 0 { "| " } else { " | " });
            pad(out, text, *wide, is_right(at));
        }
        out.push_str(" |\n");
        if number == 0 {
            for (at, wide) in widths.iter().enumerate() {
                let end = if is_right(at) { ":" } else { "-" };
                let _ = write!(out, "| {}{end} ", "-".repeat(wide - 1));
            }
            out.push_str("|\n");
        }
    }
}

/// Text from anywhere, in one line that Markdown shows as it is.
fn escaped(text: &str) -> String {
    let text = plain(text);
    let mut out = String::with_capacity(text.len());
    let mut last = ' ';
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        let next = characters.peek().copied().unwrap_or(' ');
        let steers = match c {
            '\\' | '`' | '*' | '[' | ']' | '<' | '>' | '|' | '~' | '#' | '&' => true,
            // Inside a word an underscore is itself.
            '_' => !(last.is_alphanumeric() && next.is_alphanumeric()),
            _ => false,
        };
        if steers {
            out.push('\\');
        }
        out.push(c);
        last = c;
    }
    out
}

/// A code span. Within a table even a span must escape the bar.
fn code(text: &str) -> String {
    let text = plain(text).replace('|', "\\|");
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    if text.starts_with('`') || text.ends_with('`') || text.is_empty() {
        format!("{fence} {text} {fence}")
    } else {
        format!("{fence}{text}{fence}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_shown_as_it_is() {
        for (text, expected) in [
            ("serde_json 1.0", "serde_json 1.0"),
            ("a|b", "a\\|b"),
            (
                "_all_ *of* `it` <b> [x](y)",
                "\\_all\\_ \\*of\\* \\`it\\` \\<b\\> \\[x\\](y)",
            ),
            ("[1.50, 1.56]", "\\[1.50, 1.56\\]"),
        ] {
            assert_eq!(escaped(text), expected);
        }
        for (text, expected) in [
            ("json/serde_json", "`json/serde_json`"),
            ("a|b", "`a\\|b`"),
            ("a`b", "``a`b``"),
            ("`", "`` ` ``"),
            ("", "`  `"),
        ] {
            assert_eq!(code(text), expected);
        }
    }
}
