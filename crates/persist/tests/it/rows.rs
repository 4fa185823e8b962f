//! Rows as lines of text.

use wiremark_datasets::Dataset;
use wiremark_datasets::seeded::todos::Todos;
use wiremark_persist::rows::{Lines, Row, append, put};
use wiremark_persist::{Durability, System, Write, write};

use crate::scratch;

struct Line(u64, &'static str, &'static str);

impl Row for Line {
    fn id(&self) -> u64 {
        self.0
    }

    fn title(&self) -> &str {
        self.1
    }

    fn note(&self) -> &str {
        self.2
    }
}

#[test]
fn a_row_is_the_line_that_go_prints() {
    // `fmt.Fprintf(w, "{ID: %d, Title: %s, Note: %s},\n", …)` of Go 1.19.
    let lines = [
        (Line(1, "a", "b"), "{ID: 1, Title: a, Note: b},\n"),
        (Line(0, "", ""), "{ID: 0, Title: , Note: },\n"),
        (Line(10_000, "é {}", "%"), "{ID: 10000, Title: é {}, Note: %},\n"),
        (Line(u64::MAX, "x", "y"), "{ID: 18446744073709551615, Title: x, Note: y},\n"),
    ];
    for (row, line) in lines {
        let (mut printed, mut appended) = (Vec::new(), Vec::new());
        put(&row, &mut printed).unwrap();
        append(&row, &mut appended);
        assert_eq!(String::from_utf8(printed).unwrap(), line);
        assert_eq!(String::from_utf8(appended).unwrap(), line);
    }
}

#[test]
fn every_way_writes_the_same_file() {
    let todos = Todos::with(1, 200);
    let folder = scratch();
    let path = folder.path().join("todos.txt");
    let mut wanted = Vec::new();
    todos.value().iter().for_each(|todo| append(todo, &mut wanted));
    for how in Write::ALL {
        for durability in Durability::ALL {
            let mut lines = Lines(todos.value());
            write(&System, &path, how, durability, &mut Vec::new(), &mut lines).unwrap();
            let is_same = std::fs::read(&path).unwrap() == wanted;
            assert!(is_same, "{how:?} {durability:?}");
        }
    }
}
