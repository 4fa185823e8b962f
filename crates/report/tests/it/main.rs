//! The reports of runs made by hand, as their readers see them.

mod common;
mod csv;
mod hostile;
mod markdown;
mod peers;
mod rivals;
mod terminal;
mod ways;

use wiremark_record::Run;

/// The run in the documentation's examples.
#[test]
fn the_example_is_the_sample() {
    let example = include_bytes!("data/run.json");
    let sample = common::sample();
    assert_eq!(Run::from_slice(example).unwrap(), sample);
    assert_eq!(sample.to_vec().unwrap(), example);
}
