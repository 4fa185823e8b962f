//! Tables for a terminal, or for a file that is read as one.

use std::fmt::Write;

use wiremark_record::Run;
use wiremark_record::stats::Verdict;

use crate::Style;
use crate::about;
use crate::answer::{Answer, Answers, QUESTIONS, Winner};
use crate::number::NONE;
use crate::section::{self, Section};
use crate::table::{
    Column, Note, Row, Standing, Table, UNMAINTAINED, bounds_header, columns, tables,
};
use crate::text::{end_of, pad, plain, shortened, width, wrap, wrap_items};

/// Between two columns.
const GAP: usize = 2;

/// What a reason may take; the whole of it stands in the results.
const REASON: usize = 200;

/// The report as plain text.
pub(crate) fn render(run: &Run, style: &Style) -> String {
    let tables = tables(run, style.reference.as_deref());
    let mut out = Out { text: String::new(), style };
    out.head(run);
    if let Some(answers) = Answers::new(run, &tables) {
        out.answers(&answers);
    }
    for section in section::sections(run, &tables) {
        out.section(&section);
    }
    let layout = Layout::new(&tables, style.width);
    let mut dataset = None;
    for table in &tables {
        if dataset != Some(table.dataset) {
            dataset = Some(table.dataset);
            out.dataset(run, table.dataset);
        }
        out.table(table, &layout);
    }
    out.foot(run, &tables, &layout);
    out.text
}

/// Which columns there are, and how wide: the same in all tables, so that eyes can go down.
struct Layout {
    columns: Vec<(Column, usize)>,
    /// Columns with figures for which there is no room.
    left_out: Vec<Column>,
    bounds: &'static str,
}

impl Layout {
    fn new(tables: &[Table<'_>], most: Option<usize>) -> Self {
        let bounds = bounds_header(tables);
        let available = columns(tables);
        let widest = |column: Column| {
            let texts =
                tables.iter().flat_map(Table::rows).filter_map(|r| column.text(r));
            texts.map(|t| width(&t)).max().unwrap_or(0).max(width(column.header(bounds)))
        };
        let most = most.unwrap_or(usize::MAX);
        let mut chosen: Vec<(Column, usize)> = Vec::new();
        let mut total = 0usize;
        for column in Column::BY_IMPORTANCE {
            if !available.contains(&column) {
                continue;
            }
            let mut wide = widest(column);
            let gap = if chosen.is_empty() { 0 } else { GAP };
            if chosen.len() >= Column::NEEDED && total.saturating_add(gap + wide) > most {
                continue;
            }
            if matches!(column, Column::Codec | Column::Way) {
                // Leave room for the two that a table is about.
                let others: usize = [Column::Time, Column::Wall, Column::Ratio]
                    .into_iter()
                    .filter(|column| available.contains(column))
                    .map(|column| GAP + widest(column))
                    .sum();
                wide = wide.min(most.saturating_sub(others).max(8));
            }
            total = total.saturating_add(gap + wide);
            chosen.push((column, wide));
        }
        let columns: Vec<_> = available
            .iter()
            .filter_map(|column| {
                chosen.iter().find(|(chosen, _)| chosen == column).copied()
            })
            .collect();
        let left_out = available
            .into_iter()
            .filter(|column| !chosen.iter().any(|(chosen, _)| chosen == column))
            .collect();
        Self { columns, left_out, bounds }
    }

    /// All columns that have a figure somewhere, shown or not.
    fn available(&self) -> Vec<Column> {
        self.columns
            .iter()
            .map(|(column, _)| *column)
            .chain(self.left_out.clone())
            .collect()
    }

    fn width(&self) -> usize {
        let gaps = GAP * self.columns.len().saturating_sub(1);
        self.columns.iter().map(|(_, wide)| wide).sum::<usize>() + gaps
    }
}

/// A colour or weight, as the number that a terminal knows it by.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Paint {
    None,
    Bold,
    Dim,
    Red,
    Green,
    Yellow,
}

impl Paint {
    fn code(self) -> &'static str {
        match self {
            Self::None => "0",
            Self::Bold => "1",
            Self::Dim => "2",
            Self::Red => "31",
            Self::Green => "32",
            Self::Yellow => "33",
        }
    }
}

struct Out<'a> {
    text: String,
    style: &'a Style,
}

impl Out<'_> {
    fn line(&mut self, paint: Paint, line: &str) {
        self.painted(paint, line);
        self.text.push('\n');
    }

    fn painted(&mut self, paint: Paint, text: &str) {
        if self.style.colour && paint != Paint::None && !text.is_empty() {
            let _ = write!(self.text, "\u{1b}[{}m{text}\u{1b}[0m", paint.code());
        } else {
            self.text.push_str(text);
        }
    }

    fn wrapped(&mut self, paint: Paint, first: &str, text: &str) {
        let mut lines = String::new();
        wrap(&mut lines, first, text, self.style.width);
        for line in lines.lines() {
            self.line(paint, line);
        }
    }

    fn head(&mut self, run: &Run) {
        let look = if about::is_first_look(run) { ": a first look" } else { "" };
        let title = format!(
            "{} {}, run {}, profile {}{look}",
            plain(&run.tool.name),
            plain(&run.tool.version),
            plain(&run.id),
            plain(&run.profile.name),
        );
        self.wrapped(Paint::Bold, "", &title);
        for (word, line) in about::circumstances(run) {
            self.wrapped(Paint::None, &format!("{word:<9}"), &line);
        }
        if let Some(reference) = self.style.reference.as_deref()
            && !about::is_known(run, reference)
        {
            let note = format!("no codec of this run is named {}", plain(reference));
            self.wrapped(Paint::Yellow, "reference ", &note);
        }
    }

    fn answers(&mut self, answers: &Answers) {
        self.text.push('\n');
        self.wrapped(Paint::Bold, "", &answers.title());
        let most = self.style.width.unwrap_or(usize::MAX);
        let full = grid(&answers.datasets, true);
        let fits = |lines: &[String]| lines.iter().all(|line| width(line) <= most);
        let short = || Some(grid(&answers.datasets, false)).filter(|grid| fits(grid));
        if let Some(lines) = Some(full).filter(|grid| fits(grid)).or_else(short) {
            for (at, line) in lines.iter().enumerate() {
                self.line(if at == 0 { Paint::Dim } else { Paint::None }, line);
            }
        } else {
            self.stacked(&answers.datasets);
        }
        let has = |mark: &str| {
            let mut lists = answers.datasets.iter().flat_map(|answer| &answer.winners);
            lists.any(|winners| winners.iter().any(|winner| winner.mark == mark))
        };
        let ties = has("= ").then_some("= ties with the first");
        let unsure = has("~ ").then_some("~ cannot be told apart from it");
        let legend: Vec<_> = ties.into_iter().chain(unsure).collect();
        if !legend.is_empty() {
            self.wrapped(Paint::Dim, "", &legend.join("; "));
        }
    }

    /// A small table; where it is too wide, a line for each figure.
    fn section(&mut self, section: &Section) {
        self.text.push('\n');
        self.wrapped(Paint::Bold, "", &section.title);
        let head: Vec<String> =
            section.head.iter().map(|&text| text.to_owned()).collect();
        let rows: Vec<&Vec<String>> =
            std::iter::once(&head).chain(&section.lines).collect();
        let wide = |column: usize| {
            let texts = rows.iter().filter_map(|row| row.get(column));
            texts.map(|text| width(text)).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..head.len()).map(wide).collect();
        let total = widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1);
        if self.style.width.is_some_and(|most| total > most) {
            for line in &section.lines {
                for (at, (name, text)) in head.iter().zip(line).enumerate() {
                    let first =
                        if at == 0 { String::new() } else { format!("  {name}: ") };
                    self.wrapped(Paint::None, &first, text);
                }
            }
        } else {
            for (at, row) in rows.into_iter().enumerate() {
                let mut line = String::new();
                for (column, (text, wide)) in row.iter().zip(&widths).enumerate() {
                    let gap = if column == 0 { 0 } else { GAP };
                    let _ = write!(line, "{:gap$}", "");
                    pad(&mut line, text, *wide, column >= section.words);
                }
                let paint = if at == 0 { Paint::Dim } else { Paint::None };
                self.line(paint, line.trim_end());
            }
        }
        if !section.note.is_empty() {
            self.wrapped(Paint::Dim, "", section.note);
        }
    }

    /// The answers one below the other, for narrow terminals.
    fn stacked(&mut self, answers: &[Answer]) {
        /// What a file's name may take of a line.
        const ID: usize = 16;
        let ids = || answers.iter().map(|answer| end_of(&answer.dataset, ID));
        let id_width = ids().map(|id| width(&id)).max().unwrap_or(0) + GAP;
        let questions = QUESTIONS.iter().map(|question| width(question)).max();
        let question_width = questions.unwrap_or(0) + GAP;
        let item = |winner: &Winner| {
            let Winner { mark, codec, figure } = winner;
            format!("{mark}{codec} {figure}").trim_end().to_owned()
        };
        let winners = answers.iter().flat_map(|answer| &answer.winners).flatten();
        let widest = winners.map(|winner| width(&item(winner))).max().unwrap_or(0);
        let most = self.style.width.unwrap_or(usize::MAX);
        let beside_question = GAP + question_width + widest <= most;
        let beside_id = id_width + question_width + widest <= most;

        for (answer, id) in answers.iter().zip(ids()) {
            if !beside_id {
                self.line(Paint::None, &id);
            }
            for (at, (question, winners)) in
                QUESTIONS.iter().zip(&answer.winners).enumerate()
            {
                let mut first = String::new();
                if beside_id {
                    pad(&mut first, if at == 0 { &id } else { "" }, id_width, false);
                } else {
                    pad(&mut first, "", GAP, false);
                }
                if beside_question {
                    pad(&mut first, question, question_width, false);
                } else {
                    self.line(Paint::None, &format!("{first}{question}"));
                    pad(&mut first, "", GAP, false);
                }
                let none = winners.is_empty().then(|| NONE.to_owned());
                let items: Vec<_> = winners.iter().map(item).chain(none).collect();
                let mut lines = String::new();
                let items = items.iter().map(String::as_str);
                wrap_items(&mut lines, &first, GAP, items, self.style.width);
                for line in lines.lines() {
                    self.line(Paint::None, line);
                }
            }
        }
    }

    fn dataset(&mut self, run: &Run, id: &str) {
        self.text.push('\n');
        let mut title = plain(id).into_owned();
        if let Some(about) = about::dataset_title(run, id) {
            title = format!("{title}: {about}");
        }
        self.wrapped(Paint::Bold, "", &title);
        if let Some(origin) = about::origin(run, id) {
            self.wrapped(Paint::Dim, "", &origin);
        }
    }

    fn table(&mut self, table: &Table<'_>, layout: &Layout) {
        self.text.push('\n');
        let name = table.title();
        let mut notes = about::documents(table);
        let reference = self.style.reference.as_deref();
        for note in
            about::first_look(table).into_iter().chain(about::ratio_to(table, reference))
        {
            let _ = write!(notes, ", {note}");
        }
        let mut title = String::new();
        wrap(&mut title, "", &format!("{name}{notes}"), self.style.width);
        for line in title.lines() {
            self.line(Paint::Bold, line);
        }

        if !table.ranked.is_empty() || !table.floors.is_empty() {
            self.header(layout);
            for row in &table.ranked {
                self.row(row, layout);
            }
            if !table.floors.is_empty() {
                self.line(Paint::Dim, &"╌".repeat(layout.width()));
                for row in &table.floors {
                    self.row(row, layout);
                }
            }
        }
        for reason in &table.unmeasured {
            self.reason(reason.what, reason);
        }
        let available = layout.available();
        for missing in &table.missing {
            if about::is_worth_a_note(table, missing.what, &available) {
                self.reason(&format!("no {}", about::measure(missing.what)), missing);
            }
        }
    }

    fn header(&mut self, layout: &Layout) {
        let mut line = String::new();
        for (at, (column, wide)) in layout.columns.iter().enumerate() {
            let gap = if at == 0 { 0 } else { GAP };
            let _ = write!(line, "{:gap$}", "");
            pad(&mut line, column.header(layout.bounds), *wide, column.is_right());
        }
        self.line(Paint::Dim, line.trim_end());
        self.line(Paint::Dim, &"─".repeat(layout.width()));
    }

    fn row(&mut self, row: &Row<'_>, layout: &Layout) {
        let mut spaces = 0;
        for (at, (column, wide)) in layout.columns.iter().enumerate() {
            let text = column.text(row).unwrap_or_else(|| NONE.to_owned());
            let text = end_of(&text, *wide);
            let rest = wide.saturating_sub(width(&text));
            let gap = if at == 0 { 0 } else { GAP };
            let (before, after) = if column.is_right() { (rest, 0) } else { (0, rest) };
            spaces += gap + before;
            if !text.is_empty() {
                // Spaces are written before the next text only, so that no line ends in them.
                let _ = write!(self.text, "{:spaces$}", "");
                spaces = 0;
                self.painted(paint(*column, row), &text);
            }
            spaces += after;
        }
        self.text.push('\n');
    }

    fn reason(&mut self, what: &str, reason: &Note<'_>) {
        let why = plain(reason.reason);
        let codecs: Vec<_> = reason.codecs.iter().map(|codec| plain(codec)).collect();
        let line = format!("{what}: {} ({})", shortened(&why, REASON), codecs.join(", "));
        self.wrapped(Paint::Dim, "  ", &line);
    }

    fn foot(&mut self, run: &Run, tables: &[Table<'_>], layout: &Layout) {
        self.text.push('\n');
        if tables.is_empty() {
            self.line(Paint::None, "No cells.");
            return;
        }
        let unmaintained = about::unmaintained(run);
        if !unmaintained.is_empty() {
            let line = format!("no longer maintained: {}", unmaintained.join(", "));
            self.wrapped(Paint::Yellow, &format!("{} ", UNMAINTAINED.trim()), &line);
        }
        for note in about::empty_columns(tables, &layout.available()) {
            self.wrapped(Paint::Dim, "", &note);
        }
        if let (Some(most), false) = (self.style.width, layout.left_out.is_empty()) {
            let headers: Vec<_> = layout
                .left_out
                .iter()
                .map(|column| column.header(layout.bounds))
                .collect();
            let line = format!(
                "left out for a width of {most}: {}; report.md has all columns",
                headers.join(", ")
            );
            self.wrapped(Paint::Yellow, "", &line);
        }
        self.line(Paint::Bold, "How to read");
        let shown: Vec<_> = layout.columns.iter().map(|(column, _)| *column).collect();
        let terms = about::explanations(tables, &shown);
        let wide = terms.iter().map(|(term, _)| width(term)).max().unwrap_or(0);
        for (term, text) in terms {
            let mut first = String::from("  ");
            pad(&mut first, term, wide + GAP, false);
            self.wrapped(Paint::Dim, &first, text);
        }
    }
}

fn paint(column: Column, row: &Row<'_>) -> Paint {
    match (column, row.standing) {
        (_, Standing::Floor) => Paint::Dim,
        (
            Column::Codec | Column::Way | Column::Verdict,
            Standing::Fastest | Standing::Only,
        ) => Paint::Green,
        (Column::Codec | Column::Verdict, Standing::Reference) => Paint::Bold,
        (Column::Verdict, Standing::Compared(comparison)) => match comparison.verdict {
            Verdict::Faster | Verdict::Tie => Paint::Green,
            Verdict::Slower => Paint::Red,
            Verdict::Unsure => Paint::Yellow,
        },
        _ => Paint::None,
    }
}

/// The answers as a table, a column for each question, ties below one another.
fn grid(answers: &[Answer], with_figures: bool) -> Vec<String> {
    let text = |winner: &Winner, wide: usize| {
        let id = format!("{}{}", winner.mark, winner.codec);
        if !with_figures {
            return id;
        }
        let mut text = String::new();
        pad(&mut text, &id, wide + GAP, false);
        text.push_str(&winner.figure);
        text
    };
    let ids = QUESTIONS.iter().enumerate().map(|(question, _)| {
        let winners = answers.iter().filter_map(|answer| answer.winners.get(question));
        winners
            .flatten()
            .map(|winner| width(winner.mark) + width(&winner.codec))
            .max()
            .unwrap_or(0)
    });
    let ids: Vec<usize> = ids.collect();

    let mut rows: Vec<Vec<String>> =
        vec![["dataset"].iter().chain(&QUESTIONS).map(|&head| head.to_owned()).collect()];
    for answer in answers {
        let height = answer.winners.iter().map(Vec::len).max().unwrap_or(0).max(1);
        for at in 0..height {
            let mut row =
                vec![if at == 0 { answer.dataset.clone() } else { String::new() }];
            for (winners, wide) in answer.winners.iter().zip(&ids) {
                row.push(match winners.get(at) {
                    Some(winner) => text(winner, *wide),
                    None if at == 0 => NONE.to_owned(),
                    None => String::new(),
                });
            }
            rows.push(row);
        }
    }
    let wide = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|t| width(t)).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..=QUESTIONS.len()).map(wide).collect();
    rows.iter()
        .map(|row| {
            let mut line = String::new();
            for (text, wide) in row.iter().zip(&widths) {
                pad(&mut line, text, wide + GAP, false);
            }
            line.trim_end().to_owned()
        })
        .collect()
}
