//! A file of records that notices every flipped bit and every cut.
//!
//! Formats read damaged bytes as other values: of the flipped bits of sixteen records of people 15 % (gob)
//! to 75 % (postcard) give another value and no error (see [`damage`](crate::damage), and
//! `cargo xtask bench --suite persist` for your own data). Here each record lies in a frame with its
//! checksum, and the file tells its own end.
//!
//! | part | bytes | what |
//! | --- | --- | --- |
//! | magic | 8 | `89 57 4d 4b 0d 0a 1a 0a`: no text, and spoilt by whatever changes line ends |
//! | version | 1 | 1 |
//! | length of the format id | 1 | |
//! | format id | 0 to 255 | which codec wrote the records, in UTF-8 |
//! | checksum | 4 | CRC-32C of all before it |
//! | *for each record:* length | 4 | of the record, at most 2³² − 2 |
//! | checksum of the head | 4 | CRC-32C of the record's number (8 bytes, from 0) and the length |
//! | record | as said | |
//! | checksum | 4 | CRC-32C of the record's number (8 bytes) and the record |
//! | *at the end:* length | 4 | `ff ff ff ff` |
//! | checksum of the head | 4 | as for a record, its number being how many there are |
//!
//! Numbers are little-endian. CRC-32C is that of RFC 3720. The number of a record is part of its
//! checksums, so that a record that is missing, doubled or out of place is noticed as well.

use std::io::{BufRead, ErrorKind as ErrorKindOfIo, Read, Write};
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;
use wiremark_core::{Codec, Error, ErrorKind, Result};

use crate::{Disk, doing, write};

/// What a framed file begins with.
pub const MAGIC: [u8; 8] = *b"\x89WMK\r\n\x1a\n";

/// The version that is written; another is refused.
pub const VERSION: u8 = 1;

/// The length that stands where no record follows.
const END: u32 = u32::MAX;

/// Writes records into frames.
///
/// ```
/// use wiremark_persist::framed::{Reader, Writer};
///
/// let mut writer = Writer::new(Vec::new(), "text")?;
/// writer.put(b"to be")?;
/// writer.put(b"or not to be")?;
/// let file = writer.finish()?;
///
/// let mut reader = Reader::new(file.as_slice())?;
/// assert_eq!(reader.format(), "text");
/// assert_eq!(reader.next_record()?, Some(&b"to be"[..]));
/// assert_eq!(reader.next_record()?, Some(&b"or not to be"[..]));
/// assert_eq!(reader.next_record()?, None);
/// # Ok::<(), wiremark_core::Error>(())
/// ```
#[derive(Debug)]
pub struct Writer<W> {
    writer: W,
    /// Records written.
    count: u64,
}

impl<W: Write> Writer<W> {
    /// Writes the head of a file. `format` is any text that tells readers what the records are,
    /// a codec's id say.
    ///
    /// # Errors
    /// `Unsupported` if `format` is longer than 255 bytes, and `Io`.
    pub fn new(mut writer: W, format: &str) -> Result<Self> {
        let length = u8::try_from(format.len()).map_err(|_| {
            Error::unsupported(format!(
                "expected a format id of at most 255 bytes, found {}",
                format.len()
            ))
        })?;
        let mut head = MAGIC.to_vec();
        head.extend([VERSION, length]);
        head.extend_from_slice(format.as_bytes());
        let checksum = crc32c::crc32c(&head);
        head.extend(checksum.to_le_bytes());
        writer.write_all(&head)?;
        Ok(Self { writer, count: 0 })
    }

    /// Writes one record.
    ///
    /// # Errors
    /// `Limit` if it is too long, and `Io`.
    pub fn put(&mut self, record: &[u8]) -> Result<()> {
        let length = u32::try_from(record.len()).ok().filter(|&length| length != END);
        let length = length.ok_or_else(|| {
            let text = format!(
                "expected a record of at most {} bytes, found {}",
                END - 1,
                record.len()
            );
            Error::limit(text)
        })?;
        self.writer.write_all(&head(self.count, length))?;
        self.writer.write_all(record)?;
        self.writer.write_all(&body(self.count, record).to_le_bytes())?;
        self.count += 1;
        Ok(())
    }

    /// Writes the end, without which a reader takes the file for cut, and flushes.
    ///
    /// # Errors
    /// `Io`.
    pub fn finish(mut self) -> Result<W> {
        self.writer.write_all(&head(self.count, END))?;
        self.writer.flush()?;
        Ok(self.writer)
    }
}

/// A length and its checksum.
fn head(number: u64, length: u32) -> [u8; 8] {
    let length = length.to_le_bytes();
    let checksum = crc32c::crc32c_append(crc32c::crc32c(&number.to_le_bytes()), &length);
    let mut head = [0; 8];
    head[..4].copy_from_slice(&length);
    head[4..].copy_from_slice(&checksum.to_le_bytes());
    head
}

/// The checksum of a record.
fn body(number: u64, record: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(&number.to_le_bytes()), record)
}

/// Reads records out of frames.
///
/// Every record that is whole comes before the error that says what is wrong behind it. After an
/// error the reader says the same again.
#[derive(Debug)]
pub struct Reader<R> {
    input: R,
    format: String,
    /// Records read.
    count: u64,
    offset: usize,
    record: Vec<u8>,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Reading,
    Ended,
    /// With what was wrong, and where.
    Broken(ErrorKind, usize),
}

impl<R: BufRead> Reader<R> {
    /// Reads the head of a file.
    ///
    /// # Errors
    /// `Syntax` if this is no such file, or its head is damaged, `Unsupported` for another
    /// version, `Eof` if it ends within the head, and `Io`.
    pub fn new(mut reader: R) -> Result<Self> {
        let mut head = Vec::new();
        take(&mut reader, MAGIC.len() + 2, &mut head)?;
        if !head.starts_with(&MAGIC) {
            let is_prefix = MAGIC.starts_with(&head);
            return Err(if is_prefix {
                Error::eof("the file ends within its head").at(head.len())
            } else {
                Error::syntax("this is no framed file: it begins with other bytes").at(0)
            });
        }
        let (version, length) = match head[..] {
            [.., version, length] if head.len() == MAGIC.len() + 2 => (version, length),
            _ => return Err(Error::eof("the file ends within its head").at(head.len())),
        };
        let mut rest = Vec::new();
        let wanted = usize::from(length) + 4;
        take(&mut reader, wanted, &mut rest)?;
        let Some((format, checksum)) =
            rest.split_last_chunk().filter(|_| rest.len() == wanted)
        else {
            let offset = head.len() + rest.len();
            return Err(Error::eof("the file ends within its head").at(offset));
        };
        head.extend_from_slice(format);
        if crc32c::crc32c(&head) != u32::from_le_bytes(*checksum) {
            return Err(Error::syntax("the file's head is damaged").at(0));
        }
        // Told after the checksum: a flipped bit is no other version.
        if version != VERSION {
            return Err(Error::unsupported(format!(
                "expected version {VERSION} of framed files, found {version}"
            ))
            .at(MAGIC.len()));
        }
        let format = String::from_utf8(format.to_vec()).map_err(|_| {
            Error::syntax("the format id is no UTF-8").at(MAGIC.len() + 2)
        })?;
        Ok(Self {
            input: reader,
            format,
            count: 0,
            offset: head.len() + 4,
            record: Vec::new(),
            state: State::Reading,
        })
    }

    /// What its writer said the records are.
    pub fn format(&self) -> &str {
        &self.format
    }

    /// Whole records read so far.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The next record; `None` at the end of a whole file.
    ///
    /// # Errors
    /// `Eof` if the file was cut, `Syntax` if it is damaged, both with the offset of the frame;
    /// and `Io`.
    pub fn next_record(&mut self) -> Result<Option<&[u8]>> {
        match self.state {
            State::Ended => return Ok(None),
            State::Broken(kind, offset) => {
                let text = "the file is broken here, as was said before";
                return Err(Error::new(kind, text).at(offset));
            }
            State::Reading => {}
        }
        match self.frame() {
            Ok(true) => Ok(Some(&self.record)),
            Ok(false) => {
                self.state = State::Ended;
                Ok(None)
            }
            Err(error) => {
                let offset =
                    error.offset().and_then(|offset| usize::try_from(offset).ok());
                self.state = State::Broken(error.kind(), offset.unwrap_or(self.offset));
                Err(error)
            }
        }
    }

    /// Reads a frame into `record`; false at the end.
    fn frame(&mut self) -> Result<bool> {
        let Self { input, count, offset, record, .. } = self;
        let cut = |what: &str| {
            let text = format!("the file was cut: it ends {what} record {count}");
            Error::eof(text).at(*offset)
        };
        let damaged = |what: &str| {
            let text = format!(
                "the file is damaged: {what} record {count} does not fit its checksum"
            );
            Error::syntax(text).at(*offset)
        };
        record.clear();
        take(input, 8, record)?;
        let Ok(found) = <[u8; 8]>::try_from(record.as_slice()) else {
            return Err(cut("before"));
        };
        let [a, b, c, d, ..] = found;
        let length = u32::from_le_bytes([a, b, c, d]);
        if found != head(*count, length) {
            return Err(damaged("the length of"));
        }
        if length == END {
            if is_at_end(input)? {
                return Ok(false);
            }
            let text = "expected the end of the file, found more bytes";
            return Err(Error::syntax(text).at(*offset + 8));
        }
        // The length is right, but the bytes may be missing: they are taken as they come.
        let length = usize::try_from(length)
            .map_err(|_| Error::limit("a record beyond this machine's memory"))?;
        record.clear();
        take(input, length, record)?;
        if record.len() < length {
            return Err(cut("within"));
        }
        let mut checksum = Vec::with_capacity(4);
        take(input, 4, &mut checksum)?;
        let Ok(checksum) = <[u8; 4]>::try_from(checksum.as_slice()) else {
            return Err(cut("within"));
        };
        if u32::from_le_bytes(checksum) != body(*count, record) {
            return Err(damaged("the content of"));
        }
        *count += 1;
        *offset += 8 + length + 4;
        Ok(true)
    }
}

/// Whether nothing comes any more; a signal is no answer.
fn is_at_end(input: &mut impl BufRead) -> Result<bool> {
    loop {
        match input.fill_buf() {
            Ok(rest) => return Ok(rest.is_empty()),
            Err(error) if error.kind() == ErrorKindOfIo::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Appends up to `count` bytes; fewer at the end of the input.
fn take(reader: &mut impl Read, count: usize, out: &mut Vec<u8>) -> Result<()> {
    reader.by_ref().take(count as u64).read_to_end(out)?;
    Ok(())
}

/// Writes records through a codec to a framed file, which replaces what is at `path` whole or not
/// at all.
///
/// ```
/// use wiremark_cbor::Cbor;
/// use wiremark_persist::{Scratch, System, framed};
///
/// let folder = Scratch::new()?;
/// let path = folder.path().join("words");
/// framed::write_file(&System, &path, &mut Cbor::new(), ["to", "be"])?;
/// let mut back: Vec<String> = Vec::new();
/// let whole = framed::read_file(&System, &path, &mut Cbor::new(), |word| back.push(word));
/// assert_eq!((whole?, back), (2, vec!["to".to_owned(), "be".to_owned()]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The codec's, and `Io` with the path and what was being done.
pub fn write_file<D: Disk, C: Codec, T: Serialize>(
    disk: &D,
    path: &Path,
    codec: &mut C,
    records: impl IntoIterator<Item = T>,
) -> Result<()> {
    write::replace(disk, path, |file| {
        let format = codec.profile().id;
        let mut writer = Writer::new(std::io::BufWriter::new(file), format)?;
        let mut bytes = Vec::new();
        for record in records {
            bytes.clear();
            codec.encode_into(&record, &mut bytes)?;
            writer.put(&bytes)?;
        }
        let writer = writer.finish()?;
        Ok(writer.into_inner().map_err(std::io::IntoInnerError::into_error)?)
    })
}

/// Reads a framed file through a codec and hands each record to `each`; tells how many there were.
///
/// # Errors
/// Those of [`Reader`] and the codec, with the path. `Unsupported` if another codec wrote the
/// file. What is whole before the damage was handed to `each`.
pub fn read_file<D: Disk, C: Codec, T: DeserializeOwned>(
    disk: &D,
    path: &Path,
    codec: &mut C,
    mut each: impl FnMut(T),
) -> Result<u64> {
    let reading = |error: Error| doing("read", path, error);
    let file = disk.open(path).map_err(|error| doing("open", path, error))?;
    let mut reader = Reader::new(std::io::BufReader::new(file)).map_err(reading)?;
    let id = codec.profile().id;
    if reader.format() != id {
        let text = format!("expected records of {id}, found {}", reader.format());
        return Err(reading(Error::unsupported(text)));
    }
    while let Some(record) = reader.next_record().map_err(reading)? {
        each(codec.decode(record).map_err(reading)?);
    }
    Ok(reader.count())
}
