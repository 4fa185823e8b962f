//! A bound on nesting, and on elements that take no bytes, for libraries without one.
//!
//! Serialising and deserialising recurse: a value or a document that nests a hundred thousand
//! deep overflows the stack, and with it the program ends. A [`Guard`] stands between a value
//! and a library and refuses what nests deeper than [`MAX_DEPTH`], both ways and with the same
//! count, whatever the library does by itself. It forwards everything else, adds one pointer to
//! what is passed, and is inlined away where scalars are read and written.
//!
//! # What counts
//! | level | depth |
//! | --- | --- |
//! | scalar, text, bytes, unit, unit struct, unit variant, `None` | 0 |
//! | sequence, map, struct, tuple, tuple struct | 1 |
//! | newtype variant: formats with names write a map of one entry | 1 |
//! | tuple variant, struct variant: that map, and a sequence or map in it | 2 |
//! | `Some`, newtype struct: nothing on most wires | 0, see below |
//!
//! A type can recur through options and newtypes alone (`struct N(Option<Box<N>>)`), so these
//! are bounded too: on the way to any value there may be twice as many of them as levels of
//! depth. That is one option and one newtype for each level, which real types stay within.
//!
//! # What is not seen
//! Serde reads `untagged`, internally tagged and flattened types into a buffer first. The guard
//! bounds how deep that buffer nests, but not what a type makes of it afterwards. A codec that
//! skips a document without recursion (`IgnoredAny` in `serde_json`) skips one of any depth.
//!
//! # Example
//! An adapter hands the library a guarded value, and looks at the guard if the library fails:
//!
//! ```
//! use wiremark_core::depth::Guard;
//! use wiremark_core::{Error, ErrorKind};
//!
//! /// `fmt::Formatter` stands for a library's serializer here.
//! fn encode<T: serde::Serialize>(value: &T) -> Result<String, Error> {
//!     struct Text<T>(T);
//!     impl<T: serde::Serialize> std::fmt::Display for Text<T> {
//!         fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
//!             self.0.serialize(f)
//!         }
//!     }
//!     use std::fmt::Write;
//!     let guard = Guard::new();
//!     let mut out = String::new();
//!     write!(out, "{}", Text(guard.value(value)))
//!         .map_err(|_| guard.error().unwrap_or_else(|| Error::unsupported("no text")))?;
//!     Ok(out)
//! }
//!
//! /// As many newtypes inside one another as the number says.
//! struct Onion(u32);
//! impl serde::Serialize for Onion {
//!     fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
//!         match self.0 {
//!             0 => serializer.serialize_str("heart"),
//!             n => serializer.serialize_newtype_struct("Onion", &Onion(n - 1)),
//!         }
//!     }
//! }
//!
//! assert_eq!(encode(&Onion(256)).unwrap(), "heart");
//! assert_eq!(encode(&Onion(257)).unwrap_err().kind(), ErrorKind::Limit);
//! ```
#![expect(
    clippy::inline_always,
    reason = "a comparison for each level or element: as a call it costs more than it does"
)]

mod de;
mod ser;

use std::cell::Cell;
use std::fmt;

use serde::{Deserializer, Serialize};

use crate::Error;

/// How deep values may nest: a value of this depth passes, the next is
/// [`ErrorKind::Limit`](crate::ErrorKind::Limit).
pub const MAX_DEPTH: u32 = 128;

/// How many elements that take no bytes a document may hold, whatever its length.
///
/// `Vec<()>` costs nothing on a wire without tags but its count, and the count may be 2⁶⁴ − 1.
pub const MAX_EMPTY_ELEMENTS: usize = 65_536;

/// Bounds one encode or one decode. See the [module](self).
#[derive(Debug)]
pub struct Guard {
    max_depth: u32,
    /// Where elements are counted: those that may still be read, or those that were written.
    elements: Cell<usize>,
    tripped: Cell<Option<Tripped>>,
}

#[derive(Clone, Copy, Debug)]
enum Tripped {
    Depth,
    Wraps,
    Elements,
}

impl Default for Guard {
    fn default() -> Self {
        Self::new()
    }
}

impl Guard {
    /// A guard with the limit [`MAX_DEPTH`].
    #[inline]
    pub fn new() -> Self {
        Self::with_max_depth(MAX_DEPTH)
    }

    /// A guard with another limit. Each level takes a few hundred bytes of stack.
    #[inline]
    pub fn with_max_depth(max_depth: u32) -> Self {
        Self { max_depth, elements: Cell::new(0), tripped: Cell::new(None) }
    }

    /// A value that serialises as `value` does, within the limit.
    #[inline]
    pub fn value<'a, T: Serialize + ?Sized>(
        &'a self,
        value: &'a T,
    ) -> impl Serialize + use<'a, T> {
        ser::Outermost::<_, false> { value, place: self.outermost() }
    }

    /// A value that serialises as `value` does, within the limit, for a wire without tags: the
    /// elements of its sequences and maps are counted, for
    /// [`check_elements`](Self::check_elements).
    #[inline]
    pub fn untagged_value<'a, T: Serialize + ?Sized>(
        &'a self,
        value: &'a T,
    ) -> impl Serialize + use<'a, T> {
        ser::Outermost::<_, true> { value, place: self.outermost() }
    }

    /// A deserializer that lends text and bytes out of its input where `inner` does.
    #[inline]
    pub fn lending<'de, D: Deserializer<'de>>(
        &self,
        inner: D,
    ) -> impl Deserializer<'de, Error = D::Error> {
        de::Guarded::<de::Lends, D, Place<'_>>::new(inner, self.outermost())
    }

    /// A lending deserializer over an `inner` that shows newtype structs no
    /// [`visit_newtype_struct`](serde::de::Visitor::visit_newtype_struct): they are what they
    /// hold, and the guard shows it.
    #[inline]
    pub fn lending_bare<'de, D: Deserializer<'de>>(
        &self,
        inner: D,
    ) -> impl Deserializer<'de, Error = D::Error> {
        de::Guarded::<de::LendsBare, D, Place<'_>>::new(inner, self.outermost())
    }

    /// A deserializer for values of any lifetime over an `inner` that lends nothing: libraries
    /// have such a one that ask for [`DeserializeOwned`](serde::de::DeserializeOwned).
    #[inline]
    pub fn copying<'src, 'de, D: Deserializer<'src>>(
        &self,
        inner: D,
    ) -> impl Deserializer<'de, Error = D::Error> {
        de::Guarded::<de::Copies, D, Place<'_>>::new(inner, self.outermost())
    }

    /// A lending deserializer for a wire without tags, on which an element may take no bytes.
    ///
    /// The elements of all sequences and maps are counted: there may be as many as `input` has
    /// bytes, and [`MAX_EMPTY_ELEMENTS`] more. Owned text is asked for as borrowed text, so
    /// that its length is checked against the input before anything is allocated.
    #[inline]
    pub fn untagged<'de, D: Deserializer<'de>>(
        &self,
        inner: D,
        input: &'de [u8],
    ) -> impl Deserializer<'de, Error = D::Error> {
        self.elements.set(input.len().saturating_add(MAX_EMPTY_ELEMENTS));
        de::Guarded::<de::Untagged, D, Place<'_>>::new(inner, self.outermost())
    }

    /// As [`untagged`](Self::untagged), for a wire that packs elements into bits: there may be
    /// eight for each of the `input_bytes`, and [`MAX_EMPTY_ELEMENTS`] more.
    ///
    /// Its twin is [`check_elements`](Self::check_elements) with eight times the length.
    #[inline]
    pub fn packed<'de, D: Deserializer<'de>>(
        &self,
        inner: D,
        input_bytes: usize,
    ) -> impl Deserializer<'de, Error = D::Error> {
        let elements = input_bytes.saturating_mul(8).saturating_add(MAX_EMPTY_ELEMENTS);
        self.elements.set(elements);
        de::Guarded::<de::Untagged, D, Place<'_>>::new(inner, self.outermost())
    }

    /// Whether the [`untagged_value`](Self::untagged_value) that was written to `len` bytes can
    /// be read by [`untagged`](Self::untagged), as far as its number of elements goes.
    ///
    /// # Errors
    /// [`Limit`](crate::ErrorKind::Limit) if it cannot.
    #[inline]
    pub fn check_elements(&self, len: usize) -> Result<(), Error> {
        if self.elements.get() <= len.saturating_add(MAX_EMPTY_ELEMENTS) {
            return Ok(());
        }
        Err(self.trip(Tripped::Elements, |reason| Error::limit(reason.to_string())))
    }

    /// Why the guard refused, if it did. Ask when the library has failed: it cannot carry the
    /// reason itself.
    #[cold]
    pub fn error(&self) -> Option<Error> {
        let reason = self.reason(self.tripped.get()?);
        Some(Error::limit(reason.to_string()))
    }

    #[inline]
    fn outermost(&self) -> Place<'_> {
        let wraps = u64::from(self.max_depth.saturating_mul(2));
        Place { guard: self, left: (wraps << Place::WRAPS) | u64::from(self.max_depth) }
    }

    #[inline]
    fn announce(&self, elements: Option<usize>) {
        let written = self.elements.get().saturating_add(elements.unwrap_or(0));
        self.elements.set(written);
    }

    #[inline(always)]
    fn count<E>(&self, custom: impl FnOnce(Reason) -> E) -> Result<(), E> {
        let left = self.elements.get().checked_sub(1);
        self.elements.set(left.ok_or_else(|| self.trip(Tripped::Elements, custom))?);
        Ok(())
    }

    #[inline]
    fn reason(&self, tripped: Tripped) -> Reason {
        Reason { tripped, max_depth: self.max_depth }
    }

    /// The reason is stored here and not by the cold function: the guard's address then goes
    /// nowhere, and the compiler may keep its counters in registers.
    #[inline]
    fn trip<E>(&self, tripped: Tripped, custom: impl FnOnce(Reason) -> E) -> E {
        self.tripped.set(Some(tripped));
        fail(self.reason(tripped), custom)
    }
}

/// Apart from the code that does not fail, since that is inlined everywhere.
#[cold]
#[inline(never)]
fn fail<E>(reason: Reason, custom: impl FnOnce(Reason) -> E) -> E {
    custom(reason)
}

/// A place in a value or a document, and what may still be entered from there.
///
/// It goes down with the calls, by value, and no call gives anything back: so there is nothing
/// to undo on the way up, after errors neither, and the compiler sees a constant where a type is
/// not recursive and its parts are inlined.
struct Place<'s> {
    guard: &'s Guard,
    /// Levels in the lower half, options and newtypes in the upper: one register.
    left: u64,
}

impl Place<'_> {
    /// Where options and newtypes begin.
    const WRAPS: u32 = 32;

    /// Enters `N` levels.
    #[inline(always)]
    fn enter<const N: u32, E>(
        &self,
        custom: impl FnOnce(Reason) -> E,
    ) -> Result<Self, E> {
        let levels = self.left & u64::from(u32::MAX);
        if levels < u64::from(N) {
            return Err(self.guard.trip(Tripped::Depth, custom));
        }
        Ok(Self { left: self.left - u64::from(N), ..*self })
    }

    /// Enters an option or a newtype.
    #[inline(always)]
    fn wrap<E>(&self, custom: impl FnOnce(Reason) -> E) -> Result<Self, E> {
        match self.left.checked_sub(1 << Self::WRAPS) {
            Some(left) => Ok(Self { left, ..*self }),
            None => Err(self.guard.trip(Tripped::Wraps, custom)),
        }
    }
}

#[derive(Clone, Copy)]
struct Reason {
    tripped: Tripped,
    max_depth: u32,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let depth = self.max_depth;
        match self.tripped {
            Tripped::Depth => write!(f, "expected at most {depth} levels of nesting"),
            Tripped::Wraps => write!(
                f,
                "expected at most {} options and newtypes inside one another",
                depth.saturating_mul(2)
            ),
            Tripped::Elements => write!(
                f,
                "expected at most {MAX_EMPTY_ELEMENTS} elements that take no bytes"
            ),
        }
    }
}
