//! Rows as lines of text: the export that a Go program wrote with `fmt.Fprintf`.
//!
//! ```text
//! {ID: 1, Title: buy milk, Note: two litres},
//! ```

use std::io;

use wiremark_core::Result;
use wiremark_datasets::seeded::todos::{Todo, TodoRef};

use crate::Subject;

/// A row.
pub trait Row {
    /// Its number.
    fn id(&self) -> u64;
    /// What is to be done.
    fn title(&self) -> &str;
    /// More about it.
    fn note(&self) -> &str;
}

impl<R: Row + ?Sized> Row for &R {
    fn id(&self) -> u64 {
        (**self).id()
    }

    fn title(&self) -> &str {
        (**self).title()
    }

    fn note(&self) -> &str {
        (**self).note()
    }
}

impl Row for Todo {
    fn id(&self) -> u64 {
        self.id
    }

    fn title(&self) -> &str {
        &self.title
    }

    fn note(&self) -> &str {
        &self.note
    }
}

impl Row for TodoRef<'_> {
    fn id(&self) -> u64 {
        self.id
    }

    fn title(&self) -> &str {
        self.title
    }

    fn note(&self) -> &str {
        self.note
    }
}

/// Writes one row, as `write!` does it: seven calls of the writer.
///
/// ```
/// use wiremark_datasets::seeded::todos::TodoRef;
/// use wiremark_persist::rows::put;
///
/// let mut out = Vec::new();
/// put(&TodoRef { id: 7, title: "milk", note: "two litres" }, &mut out)?;
/// assert_eq!(out, b"{ID: 7, Title: milk, Note: two litres},\n");
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// What the writer says.
#[inline]
pub fn put(row: &impl Row, mut writer: impl io::Write) -> io::Result<()> {
    let (id, title, note) = (row.id(), row.title(), row.note());
    writeln!(writer, "{{ID: {id}, Title: {title}, Note: {note}}},")
}

/// Appends one row without the machinery of formatting.
#[inline]
pub fn append(row: &impl Row, out: &mut Vec<u8>) {
    let (title, note) = (row.title().as_bytes(), row.note().as_bytes());
    let mut room = [0; HEAD_BYTES];
    let head = head(row.id(), &mut room);
    out.extend_from_slice(head);
    out.extend_from_slice(title);
    out.extend_from_slice(b", Note: ");
    out.extend_from_slice(note);
    out.extend_from_slice(b"},\n");
}

const BEFORE: [u8; 5] = *b"{ID: ";
const AFTER: [u8; 9] = *b", Title: ";

/// 2^64 has twenty digits.
const HEAD_BYTES: usize = BEFORE.len() + 20 + AFTER.len();

/// All that stands before the title, put together from its end: one copy in place of three.
#[inline]
fn head(mut number: u64, room: &mut [u8; HEAD_BYTES]) -> &[u8] {
    let mut start = HEAD_BYTES - AFTER.len();
    room[start..].copy_from_slice(&AFTER);
    loop {
        start -= 1;
        room[start] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    let end = start;
    start -= BEFORE.len();
    room[start..end].copy_from_slice(&BEFORE);
    &room[start..]
}

/// Rows that are at hand. Written to a writer, they are formatted by `write!`, as most programs do
/// it; record by record and into a vector they are put together by [`append`], without formatting.
#[derive(Debug)]
pub struct Lines<'a, R>(pub &'a [R]);

impl<R: Row> Subject for Lines<'_, R> {
    fn write_to<W: io::Write>(&mut self, mut writer: W) -> Result<()> {
        self.0.iter().try_for_each(|row| put(row, &mut writer))?;
        Ok(())
    }

    fn write_each_to<W: io::Write>(&mut self, writer: W) -> Result<()> {
        write_each(self.0.iter().map(Ok), writer)
    }

    fn append_to(&mut self, out: &mut Vec<u8>) -> Result<()> {
        self.0.iter().for_each(|row| append(row, out));
        Ok(())
    }
}

/// Writes rows as they come, one call for each.
///
/// # Errors
/// What the writer says, and the first error among the rows.
pub fn write_each<R: Row, W: io::Write>(
    rows: impl IntoIterator<Item = Result<R>>,
    mut writer: W,
) -> Result<()> {
    let mut line = Vec::new();
    for row in rows {
        line.clear();
        append(&row?, &mut line);
        writer.write_all(&line)?;
    }
    Ok(())
}
