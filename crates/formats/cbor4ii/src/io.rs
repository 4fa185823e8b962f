//! Readers and a writer for the library, which come nearer to the contract than its own.
//!
//! The library's `SliceReader` cannot tell how far it came, asks for memory before it looks
//! whether the bytes are there, and ends at 256 steps; a dynamic value takes two of them for
//! each level, so that it would nest less deep than the guard allows.

use std::convert::Infallible;
use std::fmt;
use std::io::{self, BufRead};

use cbor4ii::core::{dec, enc};
use wiremark_core::depth::MAX_DEPTH;
use wiremark_core::{Error, Result};

/// Steps of the library: two for each level of depth and one for each option, of which
/// the guard allows twice as many, and one for what is inside. Where the guard does not look,
/// since the library passes over a value by itself, they alone bound its recursion.
const MAX_STEPS: u32 = 4 * MAX_DEPTH + 1;

/// Appends to a vector, which cannot fail.
pub(crate) struct Appended<'a>(pub(crate) &'a mut Vec<u8>);

impl enc::Write for Appended<'_> {
    type Error = Infallible;

    #[inline]
    fn push(&mut self, input: &[u8]) -> std::result::Result<(), Infallible> {
        self.0.extend_from_slice(input);
        Ok(())
    }
}

/// The input ends before the bytes that are wanted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cut {
    missing: usize,
}

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the input ends {} bytes too early", self.missing)
    }
}

impl std::error::Error for Cut {}

/// Bytes in memory, which the values may borrow.
pub(crate) struct Slice<'de> {
    rest: &'de [u8],
    steps: u32,
}

impl<'de> Slice<'de> {
    #[inline]
    pub(crate) fn new(bytes: &'de [u8]) -> Self {
        Self { rest: bytes, steps: MAX_STEPS }
    }

    /// Bytes that were not read.
    #[inline]
    pub(crate) fn left(&self) -> usize {
        self.rest.len()
    }
}

impl<'de> dec::Read<'de> for Slice<'de> {
    type Error = Cut;

    /// The library wants what it is going to take, never more: so it is refused before it asks
    /// for memory.
    #[inline]
    fn fill<'short>(
        &'short mut self,
        want: usize,
    ) -> std::result::Result<dec::Reference<'de, 'short>, Cut> {
        match self.rest.get(..want) {
            Some(bytes) => Ok(dec::Reference::Long(bytes)),
            None => Err(Cut { missing: want - self.rest.len() }),
        }
    }

    #[inline]
    fn advance(&mut self, count: usize) {
        self.rest = self.rest.get(count..).unwrap_or_default();
    }

    #[inline]
    fn step_in(&mut self) -> bool {
        step_in(&mut self.steps)
    }

    #[inline]
    fn step_out(&mut self) {
        self.steps += 1;
    }
}

/// Bytes as a reader has them at hand.
pub(crate) struct Buffered<R> {
    reader: R,
    count: usize,
    steps: u32,
}

impl<R: BufRead> Buffered<R> {
    pub(crate) fn new(reader: R) -> Self {
        Self { reader, count: 0, steps: MAX_STEPS }
    }

    /// Bytes taken so far.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Checks that nothing comes any more.
    pub(crate) fn end(mut self) -> Result<()> {
        let more = fill(&mut self.reader)?.len();
        if more == 0 {
            return Ok(());
        }
        let text = "expected the end of the input, found more bytes";
        Err(Error::syntax(text).at(self.count))
    }
}

impl<'de, R: BufRead> dec::Read<'de> for Buffered<R> {
    type Error = io::Error;

    #[inline]
    fn fill<'short>(
        &'short mut self,
        _want: usize,
    ) -> io::Result<dec::Reference<'de, 'short>> {
        Ok(dec::Reference::Short(fill(&mut self.reader)?))
    }

    #[inline]
    fn advance(&mut self, count: usize) {
        self.reader.consume(count);
        self.count += count;
    }

    #[inline]
    fn step_in(&mut self) -> bool {
        step_in(&mut self.steps)
    }

    #[inline]
    fn step_out(&mut self) {
        self.steps += 1;
    }
}

#[inline]
fn step_in(steps: &mut u32) -> bool {
    let left = steps.checked_sub(1);
    *steps = left.unwrap_or(0);
    left.is_some()
}

/// An interrupted call is made again, as `read_exact` does.
fn fill<R: BufRead>(reader: &mut R) -> io::Result<&[u8]> {
    loop {
        match reader.fill_buf() {
            Ok([]) => return Ok(&[]),
            Ok(_) => break,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    // What is in the buffer by now, without another read: the borrow checker does not let the
    // loop return it.
    reader.fill_buf()
}
