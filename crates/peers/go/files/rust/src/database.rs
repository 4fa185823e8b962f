//! Todos from PostgreSQL, by the crate `postgres`.

use std::env;
use std::fs;
use std::hint::black_box;

use postgres::{Client, NoTls};
use wiremark_datasets::seeded::todos::Todo;
use wiremark_persist::rows::Lines;
use wiremark_persist::{Counted, Durability, System, Write, write};

use crate::{Bench, Result, lines};

const QUERY: &str = "select id, title, note from todos order by id";

/// The table is this connection's own and goes with it.
const CREATE: &str = "create temporary table todos (id bigint primary key, title text not null, note text not null)";

const FILL: &str = "insert into todos select id, title, note
    from json_to_recordset($1::text::json) as row (id bigint, title text, note text)";

/// Measures the rows that need a database.
pub(crate) fn measure(bench: &Bench, todos: &[Todo]) -> Result<()> {
    let url = env::var("DATABASE_URL")?;
    let mut client = Client::connect(&url, NoTls)?;
    client.batch_execute(CREATE)?;
    client.execute(FILL, &[&fs::read_to_string(bench.input.join("todos.json"))?])?;
    client.batch_execute("analyze todos")?;

    let row = "todos/query/collect";
    if bench.is_wanted(row) {
        if query(&mut client)? != todos {
            return Err("the database gives other rows".into());
        }
        let (wall, cpu) = bench.time(|_| {
            black_box(query(&mut client)?);
            Ok(())
        })?;
        println!("{row} {wall:.0} {cpu:.0} 0 0");
    }
    let ways = [
        ("direct", Write::Direct),
        ("line-by-line", Write::DirectRecords),
        ("buffer-4k", Write::Buffered(4 << 10)),
        ("append+whole", Write::WholeFresh),
    ];
    for (way, how) in ways {
        let row = format!("todos/query+export/{way}");
        if !bench.is_wanted(&row) {
            continue;
        }
        let disk = Counted::new(System);
        let path = bench.scratch.path().join("checked");
        let mut buffer = Vec::new();
        let rows = query(&mut client)?;
        write(&disk, &path, how, Durability::None, &mut buffer, &mut Lines(&rows))?;
        if fs::read(&path)? != lines(todos).as_bytes() {
            return Err(format!("{row}: the file holds something else").into());
        }
        fs::remove_file(&path)?;
        let (wall, cpu) = bench.time(|path| {
            let rows = query(&mut client)?;
            write(&System, path, how, Durability::None, &mut buffer, &mut Lines(&rows))?;
            Ok(())
        })?;
        let calls = disk.calls();
        println!("{row} {wall:.0} {cpu:.0} {} {}", calls.write, calls.written_bytes);
    }
    Ok(())
}

/// All rows, each with text of its own.
fn query(client: &mut Client) -> Result<Vec<Todo>> {
    let rows = client.query(QUERY, &[])?;
    let todo = |row: &postgres::Row| -> Result<Todo> {
        let id = u64::try_from(row.try_get::<_, i64>(0)?)?;
        Ok(Todo { id, title: row.try_get(1)?, note: row.try_get(2)? })
    };
    rows.iter().map(todo).collect()
}
