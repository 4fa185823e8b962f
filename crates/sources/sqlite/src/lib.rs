#![doc = include_str!("../README.md")]
//!
//! This room fills a table, asks for its rows and takes it away again. It never opens a database
//! that it did not make, and never reads a clock.
#![forbid(unsafe_code)]

use std::fmt;
use std::path::Path;

use rusqlite::{CachedStatement, Connection, Row};

use wiremark_core::{Error, ErrorKind, Result};
use wiremark_datasets::seeded::todos::Todo;
use wiremark_persist::{Scratch, Source};

/// Numbers are 64 bits wide and rows in the order of their ids: `integer primary key` is the key
/// of the table's own tree, which is walked from end to end.
const CREATE: &str =
    "create table todos(id integer primary key, title text not null, note text not null)";
const INSERT: &str = "insert into todos(id, title, note) values (?1, ?2, ?3)";
const SELECT: &str = "select id, title, note from todos order by id";

/// A private database with one table of rows, gone when dropped.
pub struct Sqlite {
    connection: Connection,
    place: &'static str,
}

impl fmt::Debug for Sqlite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sqlite").field("place", &self.place).finish_non_exhaustive()
    }
}

impl Sqlite {
    /// In a file in the system's folder for temporary files.
    ///
    /// # Errors
    /// As for [`Sqlite::new_in`].
    pub fn new(todos: &[Todo]) -> Result<Self> {
        Self::filled(Scratch::new(), todos)
    }

    /// In a file in `folder`.
    ///
    /// # Errors
    /// `Io` if the file cannot be made or filled; `Data` for an id of 2^63 or more, or one that
    /// is there twice.
    pub fn new_in(folder: &Path, todos: &[Todo]) -> Result<Self> {
        Self::filled(Scratch::new_in(folder), todos)
    }

    /// In memory alone.
    ///
    /// # Errors
    /// As for [`Sqlite::new_in`].
    pub fn in_memory(todos: &[Todo]) -> Result<Self> {
        let connection = Connection::open_in_memory()
            .map_err(|error| doing("open a database in memory", error))?;
        fill(&connection, todos)?;
        Ok(Self { connection, place: "memory" })
    }

    fn filled(folder: std::io::Result<Scratch>, todos: &[Todo]) -> Result<Self> {
        let folder = folder.map_err(|error| {
            let message = format!("cannot make a folder for SQLite's file: {error}");
            Error::from(error).saying(message)
        })?;
        let connection = Connection::open(folder.path().join("todos.db"))
            .map_err(|error| doing("create a file", error))?;
        fill(&connection, todos)?;
        // From here on the file has no name; it lives as long as the connection.
        drop(folder);
        Ok(Self { connection, place: "file" })
    }

    /// The statement, prepared by the first call and kept by the connection.
    fn select(&self) -> Result<CachedStatement<'_>> {
        self.connection
            .prepare_cached(SELECT)
            .map_err(|error| doing("prepare the query", error))
    }
}

impl Source for Sqlite {
    fn name(&self) -> String {
        format!("SQLite {} (bundled)", rusqlite::version())
    }

    fn collect(&mut self) -> Result<Vec<Todo>> {
        self.stream(|rows| rows.collect())
    }

    fn stream<R>(
        &mut self,
        rows: impl FnOnce(&mut dyn Iterator<Item = Result<Todo>>) -> Result<R>,
    ) -> Result<R> {
        let mut statement = self.select()?;
        let found =
            statement.query_map((), todo).map_err(|error| doing("query", error))?;
        rows(&mut found.map(|row| row.map_err(|error| doing("read a row", error))))
    }
}

/// Makes the table, and all rows in one transaction: none or all are there afterwards.
fn fill(connection: &Connection, todos: &[Todo]) -> Result<()> {
    connection.execute(CREATE, ()).map_err(|error| doing("create the table", error))?;
    let failed = |error| doing("fill the table", error);
    let transaction = connection.unchecked_transaction().map_err(failed)?;
    let mut insert = transaction.prepare(INSERT).map_err(failed)?;
    for todo in todos {
        let id = i64::try_from(todo.id).map_err(|_| {
            Error::data(format!("SQLite's numbers end at 2^63 - 1, found {}", todo.id))
        })?;
        insert.execute((id, &todo.title, &todo.note)).map_err(failed)?;
    }
    drop(insert);
    transaction.commit().map_err(failed)?;
    connection
        .pragma_update(None, "query_only", true)
        .map_err(|error| doing("close the table for writing", error))
}

/// A row, each text copied once: from SQLite's page into its own string.
fn todo(row: &Row<'_>) -> rusqlite::Result<Todo> {
    let id = row.get_ref(0)?.as_i64()?;
    Ok(Todo {
        id: u64::try_from(id)
            .map_err(|_| rusqlite::Error::IntegralValueOutOfRange(0, id))?,
        title: row.get_ref(1)?.as_str()?.to_owned(),
        note: row.get_ref(2)?.as_str()?.to_owned(),
    })
}

/// What was being done before what went wrong.
#[cold]
fn doing(what: &str, error: rusqlite::Error) -> Error {
    use rusqlite::Error as Cause;
    let kind = match &error {
        Cause::FromSqlConversionFailure(..)
        | Cause::IntegralValueOutOfRange(..)
        | Cause::InvalidColumnType(..) => ErrorKind::Data,
        Cause::SqliteFailure(failure, _)
            if failure.code == rusqlite::ErrorCode::ConstraintViolation =>
        {
            ErrorKind::Data
        }
        _ => ErrorKind::Io,
    };
    let message = format!("SQLite cannot {what}: {error}");
    Error::wrap(kind, error).saying(message)
}
