//! Is our fastest codec of a wire format ahead of the original systems' fastest?

use wiremark_record::stats::Verdict;
use wiremark_record::{Beside, Cell, Mode, Operation, Run};

use crate::number;
use crate::section::Section;
use crate::table::{bounds, codec, datasets};
use crate::text::plain;

/// The table of a run with peers; none for one without.
pub(crate) fn section(run: &Run) -> Option<Section> {
    let mut lines = Vec::new();
    for dataset in datasets(run) {
        for operation in [Operation::Encode, Operation::Decode] {
            for format in formats(run) {
                let cells = |is_peer: bool| {
                    run.cells_of(operation, dataset).filter(move |cell| {
                        let about = codec(run, &cell.id.codec);
                        cell.is_measured()
                            && cell.id.mode != Mode::Stream
                            && about.is_some_and(|codec| {
                                codec.format == format && codec.peer.is_some() == is_peer
                            })
                    })
                };
                let time = |cell: &&Cell| cell.compared_time().map(|time| time.median_ns);
                let Some(peer) = cells(true).min_by(|a, b| {
                    time(a).partial_cmp(&time(b)).unwrap_or(std::cmp::Ordering::Equal)
                }) else {
                    continue;
                };
                let ours = cells(false)
                    .filter_map(|ours| Some((ours, run.beside(peer, ours)?)))
                    .min_by(|a, b| a.1.ours_ns.total_cmp(&b.1.ours_ns));
                if let Some((ours, beside)) = ours {
                    lines.push(line(format, ours, peer, &beside));
                }
            }
        }
    }
    (!lines.is_empty()).then(|| Section {
        title: "Beside the original systems: the fastest of ours and of theirs".to_owned(),
        head: vec![
            "operation",
            "format",
            "ours",
            "theirs",
            "time",
            "time",
            "theirs/ours",
            "bounds",
            "ours is",
        ],
        lines,
        words: 4,
        note: "modes reused and fresh; theirs frees what it decoded inside the clock, and so the \
               time of ours is that of decoding and of dropping; theirs is the time of the whole \
               process, the collector's threads included",
    })
}

fn line(format: &str, ours: &Cell, peer: &Cell, beside: &Beside) -> Vec<String> {
    let id = &peer.id;
    let theirs = peer.compared_time().map_or(0.0, |time| time.median_ns);
    let name = |cell: &Cell| {
        let mode = if cell.id.mode == Mode::Reused { "" } else { " fresh" };
        format!("{}{mode}", plain(&cell.id.codec))
    };
    let ratio = &beside.comparison.ratio;
    let standing = match beside.comparison.verdict {
        Verdict::Slower => "ahead",
        Verdict::Faster => "behind",
        Verdict::Tie => "level",
        // How much is not sure; on which side of 1 it lies is.
        Verdict::Unsure if ratio.low > 1.0 => "ahead",
        Verdict::Unsure if ratio.high < 1.0 => "behind",
        Verdict::Unsure => "unsure",
    };
    vec![
        format!("{} {}", id.operation, plain(&id.dataset)),
        plain(format).into_owned(),
        name(ours),
        name(peer),
        number::time(beside.ours_ns),
        number::time(theirs),
        number::ratio(ratio.ratio),
        bounds(&beside.comparison),
        standing.to_owned(),
    ]
}

/// The wire formats of the run, in its order, each once.
fn formats(run: &Run) -> Vec<&str> {
    let mut formats: Vec<&str> = Vec::new();
    for codec in &run.codecs {
        if !formats.contains(&codec.format.as_str()) {
            formats.push(&codec.format);
        }
    }
    formats
}
