//! What `wiremark_core::Codec` promises of each call.

use std::io::{self, Read, Write};

use serde::ser::{Error as _, SerializeSeq};
use serde::{Serialize, Serializer};
use wiremark_core::{Codec, Error, ErrorKind, Framing, Result};

use crate::Findings;
use crate::random::{Random, SEED};
use crate::samples::{self, Record, Sample, SampleVisitor};

/// The bytes of `value`, or `None` if the codec says that it cannot represent it.
pub(crate) fn encoded<C: Codec, T: Serialize + ?Sized>(
    codec: &mut C,
    value: &T,
) -> Result<Option<Vec<u8>>> {
    let mut out = Vec::new();
    match codec.encode_into(value, &mut out) {
        Ok(()) => Ok(Some(out)),
        Err(error) if error.kind() == ErrorKind::Unsupported => Ok(None),
        Err(error) => Err(error),
    }
}

/// Bytes for a message: the first few in hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    const SHOWN: usize = 24;
    let shown = bytes.iter().take(SHOWN).map(|byte| format!("{byte:02x}"));
    let text = shown.collect::<String>();
    if bytes.len() > SHOWN { format!("{text}… ({} bytes)", bytes.len()) } else { text }
}

/// A result for a message.
pub(crate) fn outcome<T>(result: &Result<T>) -> String {
    match result {
        Ok(_) => "a value".to_owned(),
        Err(error) => format!("kind `{}` ({error})", error.kind()),
    }
}

/// The profile names what it must, in the form it must have.
pub fn a_profile_is_filled_in<C: Codec>(codec: &C) -> Findings {
    let profile = codec.profile();
    let mut findings = Findings::new(profile.id);
    let parts = profile.id.split('/').collect::<Vec<_>>();
    findings.expect(
        (2..=3).contains(&parts.len()) && parts.get(1) == Some(&profile.library),
        || format!("expected `format/{}` or one part more as id", profile.library),
    );
    findings.expect(!profile.id.contains(char::is_whitespace), || {
        "expected an id without white space".to_owned()
    });
    for (field, text, what) in [
        ("format", profile.format, "the wire format as its authors write it"),
        ("library", profile.library, "the library as the package registry names it"),
        ("version", profile.version, "the library's version in Cargo.lock"),
        ("spec", profile.spec, "the document that defines the format, name and address"),
        ("license", profile.license, "the library's licence as an SPDX expression"),
    ] {
        findings.expect(!text.is_empty(), || {
            format!("expected `{field}` to be filled in: {what}")
        });
    }
    findings.mended_by("write it in `profile`")
}

/// Encoding adds to `out`, and adds the same whatever was there before; to itself again, to a
/// clone, to nothing.
pub fn encoding_appends<C: Codec>(codec: &C) -> Findings {
    struct Appends<C>(C, Findings);
    impl<C: Codec> SampleVisitor for Appends<C> {
        fn visit<T: Sample>(&mut self, _: bool, value: T) {
            let Self(codec, findings) = self;
            let Ok(Some(alone)) = encoded(&mut codec.clone(), &value) else { return };
            let mut out = b"kept".to_vec();
            for _ in 0..2 {
                if let Err(error) = codec.encode_into(&value, &mut out) {
                    return findings.add(format!("{value:?}, encoded again: {error}"));
                }
            }
            let expected = [b"kept", &*alone, &*alone].concat();
            findings.expect(out == expected, || {
                format!(
                    "{value:?}, encoded twice behind `kept`: expected {}, found {}",
                    hex(&expected),
                    hex(&out)
                )
            });
        }
    }
    let mut check = Appends(codec.clone(), Findings::new(codec.profile().id));
    samples::visit(&mut check);
    check.1.mended_by(
        "write behind what is in `out`, and keep nothing of a value in the \
         codec from one call to the next",
    )
}

/// Each sample is equal to what its bytes decode to, or is `Unsupported`.
pub fn samples_come_back<C: Codec>(codec: &C) -> Findings {
    struct Back<C>(C, Findings);
    impl<C: Codec> SampleVisitor for Back<C> {
        fn visit<T: Sample>(&mut self, _: bool, value: T) {
            let Self(codec, findings) = self;
            let bytes = match encoded(codec, &value) {
                Ok(Some(bytes)) => bytes,
                Ok(None) => return,
                Err(error) => {
                    return findings.add(format!(
                        "{value:?}: expected bytes or kind `unsupported`, found kind `{}` ({error})",
                        error.kind()
                    ));
                }
            };
            match codec.decode::<T>(&bytes) {
                Ok(back) => findings.expect(back == value, || {
                    format!(
                        "expected {value:?} back, found {back:?}, bytes {}",
                        hex(&bytes)
                    )
                }),
                Err(error) => findings.add(format!(
                    "expected {value:?} back, found {error}, bytes {}",
                    hex(&bytes)
                )),
            }
        }
    }
    let mut check = Back(codec.clone(), Findings::new(codec.profile().id));
    samples::visit(&mut check);
    check.1.mended_by(
        "a value that the format cannot carry is `ErrorKind::Unsupported`, see \
         `encode_error`; any other must come back equal",
    )
}

/// Every finite float comes back to the last bit: the edges, and some thousand seeded patterns of
/// all exponents, as `f64` and as `f32`.
pub fn floats_come_back<C: Codec>(codec: &C) -> Findings {
    let mut codec = codec.clone();
    let mut findings = Findings::new(codec.profile().id);
    let mut wide =
        vec![0.0, -0.0, 0.1, 5.018, f64::MIN, f64::MAX, f64::MIN_POSITIVE, 5e-324];
    let mut narrow = vec![0.0, -0.0, 0.1, f32::MIN, f32::MAX, f32::MIN_POSITIVE, 1e-45];
    let mut random = Random(SEED);
    for _ in 0..5_000 {
        let bits = random.next();
        wide.push(f64::from_bits(bits));
        let [a, b, c, d, ..] = bits.to_le_bytes();
        narrow.push(f32::from_le_bytes([a, b, c, d]));
    }
    wide.retain(|float| float.is_finite());
    narrow.retain(|float| float.is_finite());
    if let Ok(Some(bytes)) = encoded(&mut codec, &wide) {
        let back = codec.decode::<Vec<f64>>(&bytes).unwrap_or_default();
        let changed = wide.iter().zip(&back).find(|(a, b)| a.to_bits() != b.to_bits());
        findings.expect(changed.is_none() && back.len() == wide.len(), || {
            format!(
                "of {} f64, {} come back, the first changed one is {changed:?}",
                wide.len(),
                back.len()
            )
        });
    }
    if let Ok(Some(bytes)) = encoded(&mut codec, &narrow) {
        let back = codec.decode::<Vec<f32>>(&bytes).unwrap_or_default();
        let changed = narrow.iter().zip(&back).find(|(a, b)| a.to_bits() != b.to_bits());
        findings.expect(changed.is_none() && back.len() == narrow.len(), || {
            format!(
                "of {} f32, {} come back, the first changed one is {changed:?}",
                narrow.len(),
                back.len()
            )
        });
    }
    findings.mended_by(
        "look for a setting of the library that reads and writes floats exactly, or write them \
         in another way; a float that changes silently is worse than one that is refused",
    )
}

/// A value whose own `Serialize` fails after a part of it is written.
struct Refuses;

impl Serialize for Refuses {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut seq = serializer.serialize_seq(Some(2))?;
        seq.serialize_element("written before the value fails")?;
        Err(S::Error::custom("refused by the value"))
    }
}

/// A value that fails halfway is `Data`, and leaves `out` as long as before.
pub fn a_failed_encode_leaves_out_as_it_was<C: Codec>(codec: &C) -> Findings {
    let mut codec = codec.clone();
    let mut findings = Findings::new(codec.profile().id);
    let mut out = b"kept".to_vec();
    let result = codec.encode_into(&Refuses, &mut out);
    findings.expect(
        matches!(&result, Err(error) if error.kind() == ErrorKind::Data),
        || {
            format!(
                "a value whose `Serialize` fails: expected kind `data`, found {}",
                outcome(&result)
            )
        },
    );
    findings.expect(out == b"kept", || {
        format!(
            "a failed encode: expected `out` as it was, found {} behind it",
            hex(&out)
        )
    });

    let mut out = b"kept".to_vec();
    // The first is fine, so that a stream is begun when the second fails.
    let documents = [Perhaps(false), Perhaps(true)];
    let result = codec.encode_each(&documents, &mut out);
    findings.expect(result.is_err(), || {
        "a stream with a value that fails: expected an error, found none".to_owned()
    });
    findings.expect(out == b"kept", || {
        format!("a failed stream: expected `out` as it was, found {}", hex(&out))
    });
    findings.mended_by(
        "in `encode_error`, what a value's own `Serialize` says is \
         `ErrorKind::Data`; in `encode_into`, `wiremark_core::append` cuts \
         `out` back",
    )
}

struct Perhaps(bool);

impl Serialize for Perhaps {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0 {
            Refuses.serialize(serializer)
        } else {
            serializer.serialize_str("fine")
        }
    }
}

/// Whether each prefix of each document can be told from a document. Not so where documents do
/// not tell their own end: `1` is a prefix of `12`.
fn is_decidable<C: Codec>(codec: &C, closed: bool) -> bool {
    closed || codec.profile().framing == Framing::BackToBack
}

/// Each proper prefix of a document is `Eof`.
pub fn a_prefix_is_refused<C: Codec>(codec: &C) -> Findings {
    struct Prefixes<C>(C, Findings);
    impl<C: Codec> SampleVisitor for Prefixes<C> {
        fn visit<T: Sample>(&mut self, closed: bool, value: T) {
            let Self(codec, findings) = self;
            let Ok(Some(bytes)) = encoded(codec, &value) else { return };
            if !is_decidable(codec, closed) {
                return;
            }
            let (mut kinds, mut offsets) = (Vec::new(), Vec::new());
            for cut in 0..bytes.len() {
                let result = codec.decode::<T>(&bytes[..cut]);
                if !matches!(&result, Err(error) if error.kind() == ErrorKind::Eof) {
                    kinds.push(format!(
                        "{value:?}, cut to {cut} of {} bytes: expected kind `eof`, found {}",
                        bytes.len(),
                        outcome(&result)
                    ));
                }
                if matches!(&result, Err(error) if error.offset() > Some(cut as u64)) {
                    offsets.push(format!(
                        "{value:?}, cut to {cut} bytes: an offset behind the end"
                    ));
                }
            }
            findings.add_alike(kinds);
            findings.add_alike(offsets);
        }
    }
    let mut check = Prefixes(codec.clone(), Findings::new(codec.profile().id));
    samples::visit(&mut check);
    check.1.mended_by(
        "in `decode_error`, the library's error for an input that ends too \
         early is `ErrorKind::Eof`, with an offset of at most the input's \
         length",
    )
}

/// Bytes after a document are `Syntax`: another document, a zero, an `ff`.
pub fn trailing_bytes_are_refused<C: Codec>(codec: &C) -> Findings {
    struct Trails<C>(C, Findings);
    impl<C: Codec> SampleVisitor for Trails<C> {
        fn visit<T: Sample>(&mut self, closed: bool, value: T) {
            let Self(codec, findings) = self;
            let Ok(Some(bytes)) = encoded(codec, &value) else { return };
            if !is_decidable(codec, closed) {
                return;
            }
            let mut bad = Vec::new();
            for more in [&*bytes, &[0], &[0xff]] {
                if more.is_empty() {
                    continue;
                }
                let input = [&bytes, more].concat();
                let result = codec.decode::<T>(&input);
                if !matches!(&result, Err(error) if error.kind() == ErrorKind::Syntax) {
                    bad.push(format!(
                        "{value:?} and {} behind it: expected kind `syntax`, found {}",
                        hex(more),
                        outcome(&result)
                    ));
                }
            }
            findings.add_alike(bad);
        }
    }
    let mut check = Trails(codec.clone(), Findings::new(codec.profile().id));
    samples::visit(&mut check);
    check.1.mended_by(
        "in `decode`, hold how far the library came against `bytes.len()`, and \
         answer `Error::trailing(taken, left)` where bytes are left; if the \
         library refuses them itself, its error is `ErrorKind::Syntax` in \
         `decode_error`",
    )
}

/// After a failed encode and each kind of failed decode the next call gives what a fresh codec
/// gives.
pub fn a_codec_works_on_after_an_error<C: Codec>(codec: &C) -> Findings {
    let mut codec = codec.clone();
    let mut findings = Findings::new(codec.profile().id);
    let value = Record::full();
    let Ok(Some(bytes)) = encoded(&mut codec.clone(), &value) else { return findings };
    let inputs: [&[u8]; 4] = [
        &bytes[..bytes.len() / 2],
        &[0xff; 40],
        &[0xc1],
        &[bytes.as_slice(), b"\0"].concat(),
    ];
    for input in inputs {
        let _: Result<Record> = codec.decode(input);
        let result = codec.decode::<Record>(&bytes);
        findings.expect(result.as_ref().is_ok_and(|back| *back == value), || {
            format!(
                "decoding a record after a failure on {}: expected it back, found {}",
                hex(input),
                outcome(&result)
            )
        });
        let _ = codec.encode_into(&Refuses, &mut Vec::new());
        let again = encoded(&mut codec, &value);
        findings.expect(matches!(&again, Ok(Some(again)) if *again == bytes), || {
            "encoding after a failure: expected the bytes of a fresh codec".to_owned()
        });
    }
    findings.mended_by(
        "begin each call with what a fresh codec has: clear scratch space at \
         the start, not at the end",
    )
}

/// Takes `left` bytes, one at a time, and then fails.
pub(crate) struct FailingWriter {
    pub(crate) taken: Vec<u8>,
    pub(crate) left: usize,
}

impl Write for FailingWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(&byte) = bytes.first() else { return Ok(0) };
        self.left = self.left.checked_sub(1).ok_or(io::ErrorKind::StorageFull)?;
        self.taken.push(byte);
        Ok(1)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Gives one byte at a time, interrupted before each, and then ends with `end`.
pub(crate) struct SlowReader<'a> {
    left: &'a [u8],
    end: Option<io::ErrorKind>,
    is_interrupted: bool,
}

impl<'a> SlowReader<'a> {
    pub(crate) fn new(left: &'a [u8], end: Option<io::ErrorKind>) -> Self {
        Self { left, end, is_interrupted: false }
    }
}

impl Read for SlowReader<'_> {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        self.is_interrupted = !self.is_interrupted;
        if self.is_interrupted {
            return Err(io::ErrorKind::Interrupted.into());
        }
        match (self.left.split_first(), space.first_mut()) {
            (Some((&byte, left)), Some(place)) => {
                *place = byte;
                self.left = left;
                Ok(1)
            }
            (None, Some(_)) => self.end.map_or(Ok(0), |kind| Err(kind.into())),
            (_, None) => Ok(0),
        }
    }
}

/// A writer that takes a byte at a time gets all of them; one that fails is `Io`, wherever it
/// does. A reader that gives a byte at a time is read to its end; one that fails is `Io`; one
/// that ends early is `Eof`.
pub fn writers_and_readers_may_fail<C: Codec>(codec: &C) -> Findings {
    let mut codec = codec.clone();
    let mut findings = Findings::new(codec.profile().id);
    let value = Record::full();
    let Ok(Some(bytes)) = encoded(&mut codec, &value) else { return findings };
    let is = |result: &Result<(), Error>, kind| matches!(result, Err(error) if error.kind() == kind);
    let (mut writers, mut ends, mut breaks) = (Vec::new(), Vec::new(), Vec::new());
    for left in 0..=bytes.len() {
        let mut writer = FailingWriter { taken: Vec::new(), left };
        let result = codec.encode_to(&value, &mut writer);
        if left < bytes.len() {
            if !is(&result, ErrorKind::Io) {
                writers.push(format!(
                    "a writer that fails at byte {left}: expected kind `io`, found {}",
                    outcome(&result)
                ));
            }
        } else {
            findings.expect(result.is_ok() && writer.taken == bytes, || {
                format!(
                    "a writer that takes a byte at a time: expected {}, found {}, {}",
                    hex(&bytes),
                    hex(&writer.taken),
                    outcome(&result)
                )
            });
        }
    }
    for cut in 0..=bytes.len() {
        let reader = |end| SlowReader::new(&bytes[..cut], end);
        let result = codec.decode_from::<Record, _>(reader(None));
        if cut == bytes.len() {
            findings.expect(result.as_ref().is_ok_and(|back| *back == value), || {
                format!(
                    "a reader that gives a byte at a time: expected the record, found {}",
                    outcome(&result)
                )
            });
        } else {
            let result = result.map(drop);
            if !is(&result, ErrorKind::Eof) {
                ends.push(format!(
                    "a reader that ends at byte {cut}: expected kind `eof`, found {}",
                    outcome(&result)
                ));
            }
            let broken = reader(Some(io::ErrorKind::ConnectionReset));
            let result = codec.decode_from::<Record, _>(broken).map(drop);
            if !is(&result, ErrorKind::Io) {
                breaks.push(format!(
                    "a reader that fails at byte {cut}: expected kind `io`, found {}",
                    outcome(&result)
                ));
            }
        }
    }
    for alike in [writers, ends, breaks] {
        findings.add_alike(alike);
    }
    findings.mended_by(
        "turn an `io::Error` into ours with `Error::from`, also where it is \
         inside the library's error; a reader that ends early is \
         `ErrorKind::Eof`",
    )
}
