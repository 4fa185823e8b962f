//! What is written: something that can put itself into a writer or a vector, whole or record by
//! record.

use std::io;

use serde::Serialize;
use wiremark_core::{Codec, Result};

/// Something that can be written in all the [ways](crate::Write).
pub trait Subject {
    /// Writes the whole as its library does it, with as many calls as that makes.
    ///
    /// # Errors
    /// What the library or the writer says.
    fn write_to<W: io::Write>(&mut self, writer: W) -> Result<()>;

    /// Writes record by record, one call of the writer for each.
    ///
    /// # Errors
    /// What the library or the writer says.
    fn write_each_to<W: io::Write>(&mut self, writer: W) -> Result<()>;

    /// Appends the whole to a vector.
    ///
    /// # Errors
    /// What the library says; `out` is then as long as before.
    fn append_to(&mut self, out: &mut Vec<u8>) -> Result<()>;
}

/// A value through a codec: whole as one document, or its records as a stream of documents.
#[derive(Debug)]
pub struct Document<'a, C, V: ?Sized, T> {
    /// Writes it.
    pub codec: &'a mut C,
    /// The whole.
    pub value: &'a V,
    /// Its records.
    pub records: &'a [T],
}

impl<C: Codec, V: Serialize + ?Sized, T: Serialize> Subject for Document<'_, C, V, T> {
    fn write_to<W: io::Write>(&mut self, writer: W) -> Result<()> {
        self.codec.encode_to(self.value, writer)
    }

    fn write_each_to<W: io::Write>(&mut self, writer: W) -> Result<()> {
        self.codec.encode_each_to(self.records.iter().map(Ok), writer)
    }

    fn append_to(&mut self, out: &mut Vec<u8>) -> Result<()> {
        self.codec.encode_into(self.value, out)
    }
}
