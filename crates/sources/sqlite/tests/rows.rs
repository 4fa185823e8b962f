//! What goes into a table comes out of it, and nothing stays.
#![expect(clippy::unwrap_used, reason = "a test stops where it cannot go on")]

use std::fs;
use std::path::{Path, PathBuf};

use wiremark_core::{ErrorKind, Result};
use wiremark_datasets::Dataset;
use wiremark_datasets::seeded::todos::{Todo, Todos};
use wiremark_persist::{Scratch, Source};
use wiremark_sqlite::Sqlite;

fn todo(id: u64, title: &str, note: &str) -> Todo {
    Todo { id, title: title.to_owned(), note: note.to_owned() }
}

fn places(todos: &[Todo]) -> [Sqlite; 2] {
    [Sqlite::new(todos).unwrap(), Sqlite::in_memory(todos).unwrap()]
}

#[test]
fn rows_come_out_both_ways_as_often_as_asked_and_in_the_order_of_their_ids() {
    let odd = vec![
        todo(9, "tab\tand \\n", "line\nfeed\r\n"),
        todo(2, "'quotes' \"and\" `more`", "\\N"),
        todo(1, "", ""),
        todo((1 << 63) - 1, "größer 漢字 🦀", "nul\0inside"),
        todo(0, "); drop table todos; --", "%_?1"),
    ];
    for todos in [Vec::new(), odd, Todos::with(3, 2000).value().clone()] {
        let mut wanted = todos.clone();
        wanted.sort_by_key(|todo| todo.id);
        for mut sqlite in places(&todos) {
            for _ in 0..2 {
                assert_eq!(sqlite.collect().unwrap(), wanted, "{sqlite:?}");
                let streamed: Result<Vec<_>> = sqlite.stream(|rows| rows.collect());
                assert_eq!(streamed.unwrap(), wanted, "{sqlite:?}");
            }
        }
    }
}

#[test]
fn a_stream_may_end_early_and_an_error_of_its_reader_is_returned() {
    for mut sqlite in places(Todos::with(3, 50).value()) {
        let first = sqlite.stream(|rows| rows.next().transpose()).unwrap();
        assert_eq!(first.map(|todo| todo.id), Some(1));
        let failed: Result<()> =
            sqlite.stream(|_| Err(wiremark_core::Error::data("enough")));
        assert_eq!(failed.unwrap_err().to_string(), "enough");
        assert_eq!(sqlite.collect().unwrap().len(), 50);
    }
}

#[test]
fn what_the_table_cannot_hold_is_refused() {
    let rows = [
        (vec![todo(1 << 63, "", "")], "2^63 - 1, found 9223372036854775808"),
        (vec![todo(1, "", ""), todo(1, "", "")], "UNIQUE constraint failed: todos.id"),
    ];
    for (todos, wanted) in rows {
        let error = Sqlite::in_memory(&todos).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Data);
        assert!(error.to_string().contains(wanted), "{error}");
    }
}

#[test]
fn the_name_tells_the_version() {
    let name = Sqlite::in_memory(&[]).unwrap().name();
    assert!(name.starts_with("SQLite 3.") && name.ends_with(" (bundled)"), "{name}");
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn no_file_has_a_name_while_it_is_used_or_after_an_error() {
    let folder = Scratch::new().unwrap();
    let todos = Todos::with(3, 100);
    let mut sqlite = Sqlite::new_in(folder.path(), todos.value()).unwrap();
    assert_eq!(entries(folder.path()), [] as [PathBuf; 0]);
    assert_eq!(&sqlite.collect().unwrap(), todos.value());
    Sqlite::new_in(folder.path(), &[todo(u64::MAX, "", "")]).unwrap_err();
    assert_eq!(entries(folder.path()), [] as [PathBuf; 0]);
}

#[test]
fn a_folder_that_is_not_there_is_an_error_that_says_what_was_tried() {
    let folder = Scratch::new().unwrap();
    let error = Sqlite::new_in(&folder.path().join("none"), &[]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    let message = error.to_string();
    assert!(message.starts_with("cannot make a folder for SQLite's file: "), "{message}");
}
