//! Several documents in one byte string.

use std::io;

use wiremark_core::stream::CHUNK_BYTES;
use wiremark_core::{Codec, Error, ErrorKind, Framing, Result};

use crate::Findings;
use crate::contract::{FailingWriter, SlowReader, encoded, outcome};
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

/// A stream written to a writer is that of `encode_each`, a call of `write` for each document, and
/// comes back from a reader that gives a byte at a time. Writers, readers and values may fail; a
/// cut stream is refused as by `decode_each`.
pub fn streams_go_through_writers_and_readers<C: Codec>(codec: &C) -> Findings {
    let mut codec = codec.clone();
    let mut findings = Findings::new(codec.profile().id);
    // One document is longer than what a reader is asked for at a time.
    let mut records = records(3);
    records.push(Record { note: Some("y".repeat(CHUNK_BYTES + 1)), ..Record::full() });
    let records = &records;
    let mut stream = Vec::new();
    let Ok(()) = codec.encode_each(records, &mut stream) else { return findings };

    let mut calls = Calls::default();
    let result = codec.encode_each_to(records.iter().map(Ok), &mut calls);
    findings.expect(result.is_ok() && calls.bytes == stream, || {
        format!(
            "a stream to a writer: expected the bytes of `encode_each`, found others, {}",
            outcome(&result)
        )
    });
    // The format's own stream may say something before its first document.
    let most = records.len() + usize::from(codec.profile().framing == Framing::Stream);
    findings.expect(calls.count <= most, || {
        format!("{} documents to a writer: found {} calls", records.len(), calls.count)
    });
    let values = records.iter().map(Ok).chain([Err(Error::data("the source failed"))]);
    let mut written = Vec::new();
    let result = codec.encode_each_to(values, &mut written);
    findings.expect(
        matches!(&result, Err(error) if error.message() == "the source failed")
            && written == stream,
        || format!("a source of values that fails: expected its error behind the documents before it, found {}", outcome(&result)),
    );
    let mut writer = FailingWriter { taken: Vec::new(), left: stream.len() / 2 };
    let result = codec.encode_each_to(records.iter().map(Ok), &mut writer);
    findings.expect(
        matches!(&result, Err(error) if error.kind() == ErrorKind::Io),
        || {
            format!(
                "a writer that fails in a stream: expected kind `io`, found {}",
                outcome(&result)
            )
        },
    );

    let from = |codec: &mut C, cut: usize, end| {
        let mut back = Vec::new();
        let result = codec.decode_each_from(
            SlowReader::new(&stream[..cut], end),
            |record: Record| {
                back.push(record);
                Ok(())
            },
        );
        (back, result)
    };
    let (back, result) = from(&mut codec, stream.len(), None);
    findings.expect(result.is_ok() && back == *records, || {
        format!(
            "a reader that gives a byte at a time: expected {} documents, found {}, then {}",
            records.len(),
            back.len(),
            outcome(&result)
        )
    });
    let (_, result) =
        from(&mut codec, stream.len() / 2, Some(io::ErrorKind::ConnectionReset));
    findings.expect(
        matches!(&result, Err(error) if error.kind() == ErrorKind::Io),
        || {
            format!(
                "a reader that fails in a stream: expected kind `io`, found {}",
                outcome(&result)
            )
        },
    );
    let mut seen = 0;
    let stopped = codec.decode_each_from(stream.as_slice(), |_: Record| {
        seen += 1;
        // Of the kind that elsewhere means: read on.
        if seen == 2 { Err(Error::eof("that will do")) } else { Ok(()) }
    });
    findings.expect(
        seen == 2 && matches!(&stopped, Err(error) if error.message() == "that will do"),
        || {
            format!(
                "a reader that stops at the second: found {seen} read, then {}",
                outcome(&stopped)
            )
        },
    );
    // Every place in the short documents and some in the long one.
    let mut bad = Vec::new();
    for cut in (0..stream.len()).filter(|cut| *cut < 2_000 || cut.is_multiple_of(9_973)) {
        let (expected, wanted) = collect(&mut codec, &stream[..cut]);
        let (back, result) = from(&mut codec, cut, None);
        let kind = |result: &Result<()>| result.as_ref().err().map(Error::kind);
        if back != expected || kind(&result) != kind(&wanted) {
            bad.push(format!(
                "a reader of {cut} of {} bytes: expected {} documents, then {}, found {}, then {}",
                stream.len(),
                expected.len(),
                outcome(&wanted),
                back.len(),
                outcome(&result)
            ));
        }
    }
    findings.add_alike(bad);
    findings.mended_by(
        "`encode_each_to` and `decode_each_from` are for codecs with a stream of their own; the \
         defaults do it for all others",
    )
}

/// Keeps what is written, and how often.
#[derive(Default)]
struct Calls {
    bytes: Vec<u8>,
    count: usize,
}

impl io::Write for Calls {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.count += 1;
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
