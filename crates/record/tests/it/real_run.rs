//! The results of a real run, if `WIREMARK_RESULTS` names their file, against the JSON Schema.
//! `cargo xtask test` makes such a run and comes here with it.

use wiremark_record::Run;

use crate::schema::Schema;

#[test]
fn a_real_run_fits_the_schema() {
    let Some(path) = std::env::var_os("WIREMARK_RESULTS") else {
        println!("skipped: WIREMARK_RESULTS names no results file");
        return;
    };
    let bytes = std::fs::read(&path).unwrap();
    Schema::new().check(&serde_json::from_slice(&bytes).unwrap()).unwrap();
    let run = Run::from_slice(&bytes).unwrap();
    assert!(run.complete, "the run was interrupted");
    assert!(run.cells.iter().any(|cell| !cell.rounds.is_empty()), "nothing was measured");
    // What is read back is what was written.
    assert_eq!(run.to_vec().unwrap(), bytes);
}
