//! How long does it take to bring the rows of a database into a file? One process measures one
//! cell, named by `--exact`; by hand, any filter of criterion's works.
//!
//! What is inside the clock stands in `wiremark_benches::export`.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use wiremark_benches::export::{SWEEP, Stage};
use wiremark_benches::files;
use wiremark_benches::target::Target;
use wiremark_record::Clock;

#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    if std::env::args().any(|argument| argument == SWEEP) {
        return wiremark_benches::export::sweep();
    }
    Target::run(Clock::Wall, |request, target| {
        let folder = files::scratch(request)?;
        Stage::new(&folder).visit(&mut |planned, work| {
            target.cell(planned, || work.check().map(drop), || work.prepare());
        });
        Ok(())
    })
}
