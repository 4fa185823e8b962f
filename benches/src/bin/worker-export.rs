//! The worker of the suite on rows of databases, see `wiremark_benches::worker`.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use wiremark_benches::export::{self, SWEEP, Stage, Work};
use wiremark_benches::files;
use wiremark_benches::worker::{self, checked_file, count_file, say};
use wiremark_record::protocol::{Answer, Planned, Request};
use wiremark_record::{Cell, Operation};

wiremark_benches::counting_allocator!();

fn main() -> ExitCode {
    if std::env::args().any(|argument| argument == SWEEP) {
        return export::sweep();
    }
    worker::run(list, |request, wanted| {
        let folder = files::scratch(request)?;
        Stage::new(&folder).visit(&mut |planned, work| {
            if wanted.contains(&planned.id) {
                say(&Answer::Begin(planned.id.clone()));
                say(&Answer::Checked(Box::new(check(planned, work))));
            }
        });
        Ok(())
    })
}

fn list(request: &Request) -> Result<(), String> {
    let folder = files::scratch(request)?;
    let stage = Stage::new(&folder);
    worker::list_codecs();
    stage.clients().into_iter().for_each(|client| say(&Answer::Codec(client)));
    stage.datasets()?.into_iter().for_each(|dataset| say(&Answer::Dataset(dataset)));
    stage.visit(&mut |planned, _| say(&Answer::Cell(planned)));
    Ok(())
}

fn check(planned: Planned, work: &dyn Work) -> Cell {
    let is_query = planned.id.operation == Operation::Query;
    let mut cell = checked_file(planned, work.check());
    if is_query {
        // No file is touched; what goes over the wire is the client's own.
        (cell.size_bytes, cell.calls) = (None, None);
        for key in ["size_bytes", "calls"] {
            let reason = "a query touches no file";
            cell.missing.insert(key.to_owned(), reason.to_owned());
        }
    }
    count_file(&mut cell, || work.prepare());
    cell
}
