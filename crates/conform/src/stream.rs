//! Several documents in one byte string.

use wiremark_core::{Codec, Error, ErrorKind, Framing, Result};

use crate::Findings;
use crate::contract::{encoded, outcome};
use crate::samples::Record;

fn records(count: u32) -> Vec<Record> {
    (0..count)
        .map(|id| Record {
            id,
            note: (id % 2 == 0).then(|| "x".repeat(id as usize * 40)),
            ..Record::full()
        })
        .collect()
}

/// The documents that a stream gives before it ends or fails.
fn collect<C: Codec>(codec: &mut C, bytes: &[u8]) -> (Vec<Record>, Result<()>) {
    let mut back = Vec::new();
    let result = codec.decode_each(bytes, |record| {
        back.push(record);
        Ok(())
    });
    (back, result)
}

/// Streams of none, one and many documents come back, behind what was in `out` before; a
/// reader may stop with an error of its own.
pub fn streams_come_back<C: Codec>(codec: &C) -> Findings {
    let mut codec = codec.clone();
    let profile = codec.profile();
    let mut findings = Findings::new(profile.id);
    let Ok(Some(_)) = encoded(&mut codec.clone(), &Record::full()) else {
        return findings;
    };
    for count in [0, 1, 2, 7] {
        let records = records(count);
        let mut out = b"kept".to_vec();
        if let Err(error) = codec.encode_each(&records, &mut out) {
            findings.add(format!("a stream of {count}: {error}"));
            continue;
        }
        let Some(stream) = out.strip_prefix(b"kept") else {
            findings.add(format!("a stream of {count}: expected it behind `kept`"));
            continue;
        };
        findings.expect(
            count > 0 || stream.is_empty() || profile.framing == Framing::Stream,
            || "a stream of no documents: expected no bytes".to_owned(),
        );
        let (back, result) = collect(&mut codec, stream);
        findings.expect(result.is_ok() && back == records, || {
            format!(
                "a stream of {count}: expected all back, found {}, then {}",
                back.len(),
                outcome(&result)
            )
        });
        let mut seen = 0;
        let stopped = codec.decode_each(stream, |_: Record| {
            seen += 1;
            if seen == 2 { Err(Error::data("that will do")) } else { Ok(()) }
        });
        let expected = count.min(2);
        findings.expect(seen == expected && stopped.is_err() == (count >= 2), || {
            format!("a reader that stops at the second of {count}: found {seen} read")
        });
    }
    findings.mended_by(
        "`framing` in the profile says how documents follow one another: \
         `BackToBack` needs `decode_prefix`, `Lines` needs documents without \
         line feeds, `LengthPrefixed` always works",
    )
}

/// A stream cut anywhere gives the documents that are whole, and then ends, or is `Eof`, with an
/// offset inside the cut stream.
pub fn a_cut_stream_is_refused<C: Codec>(codec: &C) -> Findings {
    let mut codec = codec.clone();
    let mut findings = Findings::new(codec.profile().id);
    let records = records(3);
    // Where each document ends: the length of the stream of it and those before.
    let mut ends = Vec::new();
    let mut stream = Vec::new();
    for count in 1..=records.len() {
        stream.clear();
        let Ok(()) = codec.encode_each(&records[..count], &mut stream) else {
            return findings;
        };
        ends.push(stream.len());
    }
    let lines = codec.profile().framing == Framing::Lines;
    let mut bad = Vec::new();
    for cut in 0..stream.len() {
        let (back, result) = collect(&mut codec, &stream[..cut]);
        // A line without its line feed is whole.
        let whole = ends.iter().filter(|&&end| end <= cut + usize::from(lines)).count();
        let at_end =
            cut == 0 || ends.iter().any(|&end| end == cut || (lines && end == cut + 1));
        let fits = match &result {
            Ok(()) => at_end,
            Err(error) => {
                !at_end
                    && error.kind() == ErrorKind::Eof
                    && error.offset().is_none_or(|offset| offset <= cut as u64)
            }
        };
        if !fits || back != records[..whole] {
            bad.push(format!(
                "a stream cut to {cut} of {} bytes: expected {whole} documents, then {}, found \
                 {}, then {}",
                stream.len(),
                if at_end { "its end" } else { "kind `eof`" },
                back.len(),
                outcome(&result)
            ));
        }
    }
    findings.add_alike(bad);
    findings.mended_by(
        "`decode_prefix` answers as `decode` does for an input that ends too \
         early: `ErrorKind::Eof`",
    )
}
