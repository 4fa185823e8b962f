#![doc = include_str!("../README.md")]
//!
//! This room makes a schema of its own on a server, asks for the rows in it and drops it again. It
//! never starts a server, never touches another schema, and never reads a clock or the
//! environment.
#![forbid(unsafe_code)]

mod error;
mod schema;

use std::fmt;
use std::iter;
use std::time::Duration;

use postgres::binary_copy::BinaryCopyInWriter;
use postgres::fallible_iterator::FallibleIterator;
use postgres::types::Type;
use postgres::{Client, Config, NoTls, Row, Statement, Transaction};

use wiremark_core::{Error, Result};
use wiremark_datasets::seeded::todos::Todo;
use wiremark_persist::Source;

use crate::error::{doing, is_no_url};
use crate::schema::Schema;

/// How long to wait for a server that does not answer, unless the URL says (`connect_timeout`).
const PATIENCE: Duration = Duration::from_secs(10);

/// A table of rows in a schema of its own, dropped with it.
pub struct Postgres {
    client: Client,
    select: Statement,
    schema: Schema,
    version: String,
    is_closed: bool,
}

impl fmt::Debug for Postgres {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Postgres")
            .field("version", &self.version)
            .field("schema", &self.schema.name())
            .finish_non_exhaustive()
    }
}

impl Postgres {
    /// Connects, [sweeps](sweep), and makes and fills the table: all of it or nothing.
    ///
    /// # Errors
    /// `Io` with what the server said and what to do, never with the URL; `Data` for rows that
    /// the table cannot hold: an id of 2^63 or more, or one that is there twice, or a text with a
    /// NUL.
    pub fn connect(url: &str, todos: &[Todo]) -> Result<Self> {
        let mut client = open(url)?;
        schema::sweep(&mut client)?;
        let schema = Schema::new();
        // Before the schema can be seen, so that nobody takes it for one that was left behind.
        schema.lock(&mut client)?;
        // If anything fails from here on, the server forgets all of it.
        let mut transaction =
            client.transaction().map_err(|error| doing("begin a transaction", error))?;
        schema.create(&mut transaction)?;
        fill(&mut transaction, &schema, todos)?;
        let select = format!("select id, title, note from {schema}.todos order by id");
        let select = transaction
            .prepare(&select)
            .map_err(|error| doing("prepare the query", error))?;
        let version = version(&mut transaction)?;
        transaction.commit().map_err(|error| doing("commit the table", error))?;
        Ok(Self { client, select, schema, version, is_closed: false })
    }

    /// The name of the schema, as the server knows it.
    pub fn schema(&self) -> &str {
        self.schema.name()
    }

    /// Drops the schema and says if that failed, which a mere drop cannot.
    ///
    /// # Errors
    /// What the server says. The schema is then left for who connects next.
    pub fn close(mut self) -> Result<()> {
        self.end()
    }

    fn end(&mut self) -> Result<()> {
        if self.is_closed {
            return Ok(());
        }
        self.is_closed = true;
        self.schema.drop(&mut self.client)
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

/// Drops the schemas that killed programs have left behind, and gives their names.
///
/// ```no_run
/// let dropped: Vec<String> = wiremark_postgres::sweep("postgresql://me@localhost/test")?;
/// # Ok::<(), wiremark_core::Error>(())
/// ```
///
/// # Errors
/// As for [`Postgres::connect`].
pub fn sweep(url: &str) -> Result<Vec<String>> {
    schema::sweep(&mut open(url)?)
}

fn open(url: &str) -> Result<Client> {
    // What the library says of a URL may hold pieces of it.
    let mut config: Config = url.parse().map_err(|_| is_no_url())?;
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(PATIENCE);
    }
    if config.get_application_name().is_none() {
        config.application_name("wiremark");
    }
    config.connect(NoTls).map_err(|error| doing("connect", error))
}

/// Makes the table with its rows, and tells the planner about them.
fn fill(
    transaction: &mut Transaction<'_>,
    schema: &Schema,
    todos: &[Todo],
) -> Result<()> {
    transaction
        .batch_execute(&format!(
            "create table {schema}.todos(id int8 primary key, title text not null, note text \
             not null)"
        ))
        .map_err(|error| doing("create the table", error))?;
    let failed = |error| doing("fill the table", error);
    // In the binary form nothing has to be escaped.
    let copy = format!("copy {schema}.todos(id, title, note) from stdin (format binary)");
    let writer = transaction.copy_in(&copy).map_err(failed)?;
    let mut writer =
        BinaryCopyInWriter::new(writer, &[Type::INT8, Type::TEXT, Type::TEXT]);
    for todo in todos {
        let id = i64::try_from(todo.id).map_err(|_| {
            Error::data(format!("PostgreSQL's int8 ends at 2^63 - 1, found {}", todo.id))
        })?;
        writer.write(&[&id, &todo.title, &todo.note]).map_err(failed)?;
    }
    writer.finish().map_err(failed)?;
    transaction
        .batch_execute(&format!("analyze {schema}.todos"))
        .map_err(|error| doing("analyze the table", error))
}

/// `15.14` of `15.14 (Debian 15.14-0+deb12u1)`.
fn version(transaction: &mut Transaction<'_>) -> Result<String> {
    let failed = |error| doing("ask for the server's version", error);
    let row = transaction.query_one("show server_version", &[]).map_err(failed)?;
    let text: &str = row.try_get(0).map_err(failed)?;
    Ok(text.split_whitespace().next().unwrap_or_default().to_owned())
}

impl Source for Postgres {
    fn name(&self) -> String {
        format!("PostgreSQL {}", self.version)
    }

    fn collect(&mut self) -> Result<Vec<Todo>> {
        let rows = self
            .client
            .query(&self.select, &[])
            .map_err(|error| doing("query", error))?;
        rows.iter().map(todo).collect()
    }

    fn stream<R>(
        &mut self,
        rows: impl FnOnce(&mut dyn Iterator<Item = Result<Todo>>) -> Result<R>,
    ) -> Result<R> {
        let mut found = self
            .client
            .query_raw(&self.select, iter::empty::<i64>())
            .map_err(|error| doing("query", error))?;
        // A connection that is lost would say so for ever.
        let mut is_lost = false;
        rows(&mut iter::from_fn(|| {
            if is_lost {
                return None;
            }
            match found.next() {
                Ok(row) => row.as_ref().map(todo),
                Err(error) => {
                    is_lost = true;
                    Some(Err(doing("read a row", error)))
                }
            }
        }))
    }
}

/// A row, each text copied once: from the server's message into its own string.
fn todo(row: &Row) -> Result<Todo> {
    let failed = |error| doing("read a row", error);
    let id: i64 = row.try_get(0).map_err(failed)?;
    Ok(Todo {
        id: u64::try_from(id).map_err(|_| {
            Error::data(format!("expected an id of 0 or more, found {id}"))
        })?,
        title: row.try_get(1).map_err(failed)?,
        note: row.try_get(2).map_err(failed)?,
    })
}
