//! Small tables beside the large ones: the answers to questions of their own.

use wiremark_record::Run;

use crate::table::Table;
use crate::{exchanges, peers, ways};

/// A small table.
#[derive(Debug)]
pub(crate) struct Section {
    pub title: String,
    pub head: Vec<&'static str>,
    pub lines: Vec<Vec<String>>,
    /// How many columns from the left hold words.
    pub words: usize,
    /// What has to be said below it.
    pub note: &'static str,
}

/// The sections of a run, in their order.
pub(crate) fn sections(run: &Run, tables: &[Table<'_>]) -> Vec<Section> {
    let mut sections = ways::sections(run, tables);
    sections.extend(peers::section(run));
    sections.extend(exchanges::sections(run));
    sections
}
