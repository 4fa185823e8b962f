//! The report as CSV.

use std::collections::BTreeSet;

use wiremark_report::csv;

use crate::common::{JSON, quick, sample};

fn rows(text: &str) -> Vec<csv::StringRecord> {
    csv::Reader::from_reader(text.as_bytes()).records().map(Result::unwrap).collect()
}

#[test]
fn a_row_for_each_cell_and_measure() {
    let mut run = sample();
    // One cell, its control, and one without a figure.
    run.cells.retain(|cell| {
        cell.id.to_string().starts_with("encode/people/json") || cell.reason.is_some()
    });
    run.cells.truncate(2);
    let text = csv(&run, None);
    let expected = "\
run,operation,dataset,codec,mode,way,again,status,measure,unit,value,low,high,bounds,rounds,base,verdict,reason
,encode,people,json/serde_json/compact,reused,,false,ok,cpu_time,ns,2500000,2227500,3282500,range,5,,,
,encode,people,json/serde_json/compact,reused,,false,ok,wall_time,ns,2500000,2227500,3282500,range,5,,,
,encode,people,json/serde_json/compact,reused,,false,ok,copy_time,ns,20000,18000,26000,range,5,,,
,encode,people,json/serde_json/compact,reused,,false,ok,ratio_to_base,ratio,1,,,,,json/serde_json/compact,base,
,encode,people,json/serde_json/compact,reused,,false,ok,ratio_to_copy,ratio,125.49353731670408,123.7386720133237,127.27329016884269,interval,5,,,
,encode,people,json/serde_json/compact,reused,,false,ok,documents,documents,1,,,,,,,
,encode,people,json/serde_json/compact,reused,,false,ok,documents_per_s,1/s,400,,,,,,,
,encode,people,json/serde_json/compact,reused,,false,ok,bytes_per_s,B/s,493826800,,,,,,,
,encode,people,json/serde_json/compact,reused,,false,ok,size,B,1234567,,,,,,,
,encode,people,json/serde_json/compact,reused,,false,ok,zstd_size,B,308641,,,,,,,
,encode,people,json/serde_json/compact,reused,,false,ok,allocations,calls,20001,,,,,,,
,encode,people,json/serde_json/compact,reused,,false,ok,allocated,B,99,,,,,,,
,encode,people,json/serde_json/compact,reused,,false,ok,peak,B,4096,,,,,,,
,encode,people,msgpack/rmp-serde/named,reused,,false,failed,,,,,,,,,,the value came back without `age`
";
    let expected =
        expected.replace("\n,", &format!("\n{},", run.id)).replace('\n', "\r\n");
    assert!(text == expected, "found:\n{text}\nexpected:\n{expected}");
}

#[test]
fn every_cell_has_its_rows_and_every_row_its_width() {
    for (run, reference) in [(sample(), None), (quick(), Some(JSON))] {
        let rows = rows(&csv(&run, reference));
        let cells: BTreeSet<_> = rows
            .iter()
            .map(|row| (1..7).map(|at| row[at].to_owned()).collect::<Vec<_>>())
            .collect();
        assert_eq!(cells.len(), run.cells.len());
        let without: Vec<_> = rows
            .iter()
            .filter(|row| row[10].is_empty() && row[17].is_empty())
            .map(|row| row.iter().collect::<Vec<_>>().join(","))
            .filter(|row| !row.contains(",bytes_per_s,"))
            .collect();
        assert!(without.is_empty(), "neither value nor reason: {without:#?}");
    }
}

#[test]
fn ratios_name_their_base_and_their_verdict() {
    let rows = rows(&csv(&quick(), Some(JSON)));
    let ratios: Vec<_> = rows
        .iter()
        .filter(|row| {
            &row[8] == "ratio_to_base" && &row[1] == "encode" && &row[2] == "people"
        })
        .map(|row| [&row[3], &row[13], &row[14], &row[15], &row[16]].join(" "))
        .collect();
    assert_eq!(
        ratios,
        [
            "json/serde_json/compact   json/serde_json/compact base",
            "bincode/bincode/standard range 1 json/serde_json/compact faster",
            "postcard/postcard range 1 json/serde_json/compact faster",
            "cbor/ciborium range 1 json/serde_json/compact faster",
        ]
    );
}
