//! Framed files: every flipped bit and every cut is noticed, and what is whole before it comes.

use wiremark_core::{Codec, Error, ErrorKind};
use wiremark_datasets::seeded::people::Person;
use wiremark_json::Json;
use wiremark_persist::framed::{MAGIC, Reader, Writer};
use wiremark_persist::{Scratch, System, damage, framed};
use wiremark_postcard::Postcard;

use crate::people;

/// A file of three records, and where each frame begins.
fn file() -> (Vec<u8>, Vec<Vec<u8>>, Vec<usize>) {
    let records = vec![b"first".to_vec(), Vec::new(), (0..200).collect()];
    let mut writer = Writer::new(Vec::new(), "json/x").unwrap();
    let mut starts = vec![8 + 2 + 6 + 4];
    for record in &records {
        writer.put(record).unwrap();
        starts.push(starts.last().unwrap() + 8 + record.len() + 4);
    }
    (writer.finish().unwrap(), records, starts)
}

fn read_all(bytes: &[u8]) -> (Vec<Vec<u8>>, Result<(), Error>) {
    let mut records = Vec::new();
    let mut reader = match Reader::new(bytes) {
        Ok(reader) => reader,
        Err(error) => return (records, Err(error)),
    };
    loop {
        match reader.next_record() {
            Ok(Some(record)) => records.push(record.to_vec()),
            Ok(None) => return (records, Ok(())),
            Err(error) => {
                // It stays so: nobody goes on behind damage by mistake.
                let again = reader.next_record().unwrap_err();
                assert_eq!(
                    (again.kind(), again.offset()),
                    (error.kind(), error.offset())
                );
                return (records, Err(error));
            }
        }
    }
}

/// The frame of three bytes, by hand. The checksums are those of the RFC 3720 polynomial, as
/// Python's `crc32c` package and the `crc32` instruction have them.
#[test]
fn the_bytes_are_those_of_the_table() {
    let mut writer = Writer::new(Vec::new(), "t").unwrap();
    writer.put(b"abc").unwrap();
    let bytes = writer.finish().unwrap();
    // The check value of CRC-32C: `123456789` has e3069283.
    assert_eq!(crc(b"123456789"), 0xe306_9283);
    let mut wanted = b"\x89WMK\r\n\x1a\n\x01\x01t".to_vec();
    wanted.extend(crc(&wanted).to_le_bytes());
    wanted.extend(b"\x03\0\0\0");
    wanted.extend(crc(b"\0\0\0\0\0\0\0\0\x03\0\0\0").to_le_bytes());
    wanted.extend(b"abc");
    wanted.extend(crc(b"\0\0\0\0\0\0\0\0abc").to_le_bytes());
    wanted.extend(b"\xff\xff\xff\xff");
    wanted.extend(crc(b"\x01\0\0\0\0\0\0\0\xff\xff\xff\xff").to_le_bytes());
    assert_eq!(bytes, wanted);
}

/// CRC-32C a bit at a time, from its polynomial.
fn crc(bytes: &[u8]) -> u32 {
    let mut crc = !0_u32;
    for &byte in bytes {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ 0x82f6_3b78 } else { crc >> 1 };
        }
    }
    !crc
}

#[test]
fn every_flipped_bit_is_noticed_and_the_records_before_it_come() {
    let (bytes, records, starts) = file();
    let (back, result) = read_all(&bytes);
    result.unwrap();
    assert_eq!(back, records);
    for bit in 0..bytes.len() * 8 {
        let mut damaged = bytes.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        let (back, result) = read_all(&damaged);
        let error = result.expect_err("a flipped bit went unnoticed");
        // The frame that the bit lies in, if it is not in the head.
        let frame = starts.iter().rposition(|&start| start <= bit / 8);
        let whole = frame.unwrap_or(0);
        assert_eq!(back, records[..whole], "bit {bit}: {error}");
        if let (Some(frame), Some(offset)) = (frame, error.offset()) {
            assert_eq!(offset, starts[frame] as u64, "bit {bit}: {error}");
        }
    }
}

#[test]
fn every_cut_is_noticed_and_the_records_before_it_come() {
    let (bytes, records, starts) = file();
    for cut in 0..bytes.len() {
        let (back, result) = read_all(&bytes[..cut]);
        let error = result.expect_err("a cut went unnoticed");
        assert_eq!(error.kind(), ErrorKind::Eof, "cut at {cut}: {error}");
        let whole = starts.iter().filter(|&&start| start <= cut).count();
        assert_eq!(back, records[..whole.saturating_sub(1)], "cut at {cut}");
    }
}

#[test]
fn frames_that_are_missing_doubled_or_swapped_are_noticed() {
    let (bytes, records, starts) = file();
    let frame = |nth: usize| &bytes[starts[nth]..starts[nth + 1]];
    let (head, end) = (&bytes[..starts[0]], &bytes[starts[3]..]);
    let rows: [(&[&[u8]], usize); 5] = [
        (&[head, frame(0), frame(2), end], 1),
        (&[head, frame(0), frame(0), frame(1), frame(2), end], 1),
        (&[head, frame(1), frame(0), frame(2), end], 0),
        (&[head, frame(0), frame(1), end], 2),
        (&[head, frame(0), frame(1), frame(2), end, b"x"], 3),
    ];
    for (parts, whole) in rows {
        let (back, result) = read_all(&parts.concat());
        assert_eq!(result.unwrap_err().kind(), ErrorKind::Syntax);
        assert_eq!(back, records[..whole]);
    }
}

#[test]
fn what_is_no_framed_file_is_told_so() {
    let other_version = {
        let mut head = MAGIC.to_vec();
        head.extend(b"\x02\0");
        head.extend(crc(&head).to_le_bytes());
        head
    };
    let rows: [(&[u8], ErrorKind, &str); 5] = [
        (b"", ErrorKind::Eof, "ends within its head"),
        (b"[1, 2, 3]", ErrorKind::Syntax, "begins with other bytes"),
        (b"\x89WMK\n\x1a\n and so on", ErrorKind::Syntax, "begins with other bytes"),
        (&MAGIC, ErrorKind::Eof, "ends within its head"),
        (
            &other_version,
            ErrorKind::Unsupported,
            "expected version 1 of framed files, found 2",
        ),
    ];
    for (bytes, kind, text) in rows {
        let error = Reader::new(bytes).unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().contains(text), "{error}");
    }
}

#[test]
fn a_length_without_its_bytes_asks_for_no_memory() {
    // The largest record there may be, with a right checksum and nothing behind it.
    let mut bytes = Writer::new(Vec::new(), "").unwrap().finish().unwrap();
    bytes.truncate(bytes.len() - 8);
    let length = (u32::MAX - 1).to_le_bytes();
    bytes.extend(length);
    bytes.extend(crc(&[&[0; 8], &length[..]].concat()).to_le_bytes());
    let (_, result) = read_all(&bytes);
    assert_eq!(result.unwrap_err().kind(), ErrorKind::Eof);
}

#[test]
fn files_of_records_go_through_a_codec_and_know_it() {
    let folder = Scratch::new().unwrap();
    let path = folder.path().join("people");
    let people = people();
    framed::write_file(&System, &path, &mut Postcard::new(), &people).unwrap();
    let mut back: Vec<Person> = Vec::new();
    let count = framed::read_file(&System, &path, &mut Postcard::new(), |person| {
        back.push(person);
    });
    assert_eq!(count.unwrap(), people.len() as u64);
    assert!(back == people);
    let other = framed::read_file(&System, &path, &mut Json::compact(), |_: Person| ());
    let error = other.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    let text = error.to_string();
    assert!(
        text.contains("expected records of json/serde_json/compact, found postcard"),
        "{text}"
    );
}

#[test]
fn without_frames_flipped_bits_are_read_as_other_people_and_with_them_never() {
    let people = people();
    let found = damage::flip(&mut Postcard::new(), &people, 4_000).unwrap();
    assert_eq!(found.flips, 4_000);
    // Nearly all bytes are text: most flips are another letter.
    assert!(found.silent > found.flips / 2, "{found:?}");
    let found = damage::flip(&mut Json::compact(), &people, 4_000).unwrap();
    assert!(found.silent > found.flips / 5 && found.silent < found.flips, "{found:?}");

    // The same bits with the same bytes in a frame.
    let mut bytes = Vec::new();
    Postcard::new().encode_into(&people, &mut bytes).unwrap();
    let mut writer = Writer::new(Vec::new(), "postcard/postcard").unwrap();
    writer.put(&bytes).unwrap();
    let file = writer.finish().unwrap();
    for bit in (0..file.len() * 8).step_by(97) {
        let mut damaged = file.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        assert!(read_all(&damaged).1.is_err(), "bit {bit}");
    }
}
