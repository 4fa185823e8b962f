#![doc = include_str!("../README.md")]
//!
//! This room turns data into text and does nothing else: it opens no file, asks no terminal
//! and measures nothing.
#![forbid(unsafe_code)]

mod about;
mod answer;
mod csv;
mod exchanges;
mod markdown;
mod number;
mod peers;
mod section;
mod table;
mod terminal;
mod text;
mod ways;

use wiremark_record::Run;

/// How [`terminal`] lays out its text. The default is full width without colour, as for a file
/// or a pipe.
///
/// ```
/// use wiremark_report::Style;
///
/// let style = Style { width: Some(80), colour: true, ..Style::default() };
/// assert_eq!(style.reference, None);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// Columns of the terminal. What has no room is left out, the least important first, and
    /// named at the foot. `None`: all columns.
    pub width: Option<usize>,
    /// Whether to write escape sequences for colour and weight. Callers turn it off where
    /// `NO_COLOR` is set or the output is no terminal.
    pub colour: bool,
    /// The id of the codec that ratios are to, instead of each table's fastest. A table where
    /// it has no figure falls back to the fastest and says so.
    pub reference: Option<String>,
}

/// The report as text for a terminal: circumstances, the answer in a few lines, a table for each
/// dataset, operation and mode, and how to read them.
///
/// ```
/// use wiremark_record::Run;
/// use wiremark_report::{Style, terminal};
///
/// let run = Run::from_slice(include_bytes!("../tests/it/data/run.json"))?;
/// let text = terminal(&run, &Style { width: Some(80), ..Style::default() });
/// assert!(text.starts_with("wiremark 0.1.0, run 20261130-141503-7f3a, profile default\n"));
/// # Ok::<(), wiremark_record::Error>(())
/// ```
pub fn terminal(run: &Run, style: &Style) -> String {
    terminal::render(run, style)
}

/// The report as Markdown: what [`terminal`] shows at full width, and what the codecs' profiles
/// say of them. `reference` is [`Style::reference`].
///
/// ```
/// use wiremark_record::Run;
///
/// let run = Run::from_slice(include_bytes!("../tests/it/data/run.json"))?;
/// let text = wiremark_report::markdown(&run, None);
/// assert!(text.starts_with("# wiremark run 20261130-141503-7f3a\n"));
/// # Ok::<(), wiremark_record::Error>(())
/// ```
pub fn markdown(run: &Run, reference: Option<&str>) -> String {
    markdown::render(run, reference)
}

/// The report as CSV (RFC 4180, UTF-8): a row for each cell and measure, full precision, units
/// in a column of their own. `reference` is [`Style::reference`].
///
/// The crate's README says what the columns hold.
///
/// ```
/// use wiremark_record::Run;
///
/// let run = Run::from_slice(include_bytes!("../tests/it/data/run.json"))?;
/// let text = wiremark_report::csv(&run, None);
/// assert!(text.starts_with("run,operation,dataset,codec,mode,way,again,status,measure,unit,value,"));
/// # Ok::<(), wiremark_record::Error>(())
/// ```
pub fn csv(run: &Run, reference: Option<&str>) -> String {
    csv::render(run, reference)
}
