//! Where rows come from, as a trait; behind it stand the databases, each in a crate of its own.

use wiremark_core::Result;
use wiremark_datasets::seeded::todos::Todo;

/// Where rows come from.
///
/// ```
/// use wiremark_datasets::seeded::todos::Todo;
/// use wiremark_persist::{Memory, Source, rows};
///
/// let todo = |id, title: &str| Todo { id, title: title.to_owned(), note: String::new() };
/// let mut source = Memory(vec![todo(1, "milk"), todo(2, "tea")]);
/// let mut out = Vec::new();
/// source.stream(|rows| rows::write_each(rows, &mut out))?;
/// assert_eq!(out, b"{ID: 1, Title: milk, Note: },\n{ID: 2, Title: tea, Note: },\n");
/// # Ok::<(), wiremark_core::Error>(())
/// ```
pub trait Source {
    /// What it is, with its version: `SQLite 3.50.4 (bundled)`, `PostgreSQL 15.14`.
    fn name(&self) -> String;

    /// All rows, in memory, in the order of their ids.
    ///
    /// # Errors
    /// `Io` for what the database says; `Data` for a row that is no [`Todo`].
    fn collect(&mut self) -> Result<Vec<Todo>>;

    /// Hands `rows` an iterator of rows as the database gives them, in the order of their ids,
    /// never more held than the client library holds by itself.
    ///
    /// `rows` may stop before the end, and the source can be asked again afterwards.
    ///
    /// # Errors
    /// What `rows` returns, and as for [`Source::collect`] if the query itself fails.
    fn stream<R>(
        &mut self,
        rows: impl FnOnce(&mut dyn Iterator<Item = Result<Todo>>) -> Result<R>,
    ) -> Result<R>;
}

/// Rows that are in memory already, given as they stand: what a database is held against.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Memory(pub Vec<Todo>);

impl Source for Memory {
    fn name(&self) -> String {
        "memory".to_owned()
    }

    fn collect(&mut self) -> Result<Vec<Todo>> {
        Ok(self.0.clone())
    }

    fn stream<R>(
        &mut self,
        rows: impl FnOnce(&mut dyn Iterator<Item = Result<Todo>>) -> Result<R>,
    ) -> Result<R> {
        rows(&mut self.0.iter().cloned().map(Ok))
    }
}

#[cfg(test)]
mod tests {
    use wiremark_datasets::Dataset;
    use wiremark_datasets::seeded::todos::Todos;

    use super::*;

    #[test]
    fn memory_gives_its_rows_both_ways_and_as_often_as_asked() {
        let todos = Todos::with(7, 20);
        let mut source = Memory(todos.value().clone());
        let first = source.stream(|rows| rows.next().transpose()).unwrap();
        assert_eq!(first.as_ref(), todos.value().first());
        for _ in 0..2 {
            assert_eq!(&source.collect().unwrap(), todos.value());
            let streamed: Result<Vec<_>> = source.stream(|rows| rows.collect());
            assert_eq!(&streamed.unwrap(), todos.value());
        }
    }
}
