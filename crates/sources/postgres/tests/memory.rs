//! What a stream of rows holds at one time, by the count of the allocator.

use std::io::{self, Write};

use wiremark_datasets::seeded::todos::Todo;
use wiremark_meter::{Counting, alloc};
use wiremark_persist::Source;
use wiremark_postgres::Postgres;
use wiremark_throwaway::{Fsync, Programs, Server};

#[global_allocator]
static ALLOCATOR: Counting = Counting::system();

#[test]
fn a_stream_holds_a_small_part_of_the_rows_and_a_collection_all() {
    let programs = match Programs::find() {
        Ok(programs) => programs,
        Err(error) => {
            // Not `eprintln!`, which the harness hides.
            let mut stderr = io::stderr();
            return writeln!(stderr, "skipped: {error}").unwrap();
        }
    };
    let server = Server::start_with(&programs, Fsync::Off).unwrap();
    let note = "x".repeat(1000);
    let todo = |id| Todo { id, title: String::new(), note: note.clone() };
    let todos: Vec<_> = (0..20_000).map(todo).collect();
    let mut postgres = Postgres::connect(&server.url(), &todos).unwrap();
    drop(todos);
    let (count, streamed) = alloc::measure(|| postgres.stream(|rows| Ok(rows.count())));
    assert_eq!(count.unwrap(), 20_000);
    let (all, collected) = alloc::measure(|| postgres.collect());
    assert_eq!(all.unwrap().len(), 20_000);
    assert!(streamed.peak_bytes < 1 << 20, "{streamed:?}");
    assert!(collected.peak_bytes > 20_000_000, "{collected:?}");
    postgres.close().unwrap();
    server.stop().unwrap();
}
