//! What a codec is and what it can do, as plain data.
//!
//! Nothing here has a `Default`: a new fact stops every format crate until it is answered, and
//! the test kit (`wiremark-conform`) checks that what is claimed holds and that what holds is
//! claimed.

use serde::Serialize;

/// Who a codec is: names, versions, upkeep, and its [`Capabilities`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Profile {
    /// `format/library/variant`, lower case: `json/serde_json/compact`. Unique in the registry.
    pub id: &'static str,
    /// The wire format as its authors write it: `JSON`, `MessagePack`.
    pub format: &'static str,
    /// The library as the package registry names it: `rmp-serde`.
    pub library: &'static str,
    /// The library's version in this workspace's lock file: `1.3.1`.
    pub version: &'static str,
    /// The document that defines the wire format: a name and, where there is one, an address.
    pub spec: &'static str,
    /// The library's licence as an SPDX expression.
    pub license: &'static str,
    /// Whether somebody still mends the library.
    pub upkeep: Upkeep,
    /// Whether this is a codec or a control against which codecs are held.
    pub role: Role,
    /// How several documents follow one another, see [`Codec::encode_each`](crate::Codec::encode_each).
    pub framing: Framing,
    /// What the *library* does with bytes after a document. The adapter refuses them always.
    pub trailing: Trailing,
    /// What the format and the library can represent.
    pub can: Capabilities,
    /// One sentence a user must know before choosing it, or empty.
    pub caveat: &'static str,
}

/// Whether somebody still mends the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Upkeep {
    /// Releases or answered issues within the last year or so.
    Maintained,
    /// No longer, with the notice that says so: an advisory's id, else an empty string.
    Unmaintained(&'static str),
}

/// Whether a subject is a codec or a control.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Encodes a value and gives an equal one back; ranked.
    Codec,
    /// A floor: does less than a codec must (copies bytes, or nothing at all) to show how much
    /// of a figure is the harness. Never ranked, never asked for a round trip.
    Floor,
}

/// How several documents follow one another in one byte string.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Framing {
    /// One document a line, each ended by `\n`, which no document holds.
    Lines,
    /// One right after the other: a document tells its own end.
    BackToBack,
    /// A varint (LEB128, at most 10 bytes) with the document's length before each.
    LengthPrefixed,
    /// The format's own stream, which keeps state from one document to the next.
    Stream,
}

/// What a library does with bytes after a document, before our adapter refuses them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trailing {
    /// The library's plain "decode these bytes" call refuses them.
    RefusedByLibrary,
    /// The library's plain call ignores them silently; the adapter looks and refuses.
    RefusedByAdapter,
}

/// What a format and its library can represent. Every field is executed by the test kit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "a table of independent facts")]
pub struct Capabilities {
    /// A document can be read without knowing its type (`deserialize_any` works).
    pub self_describing: bool,
    /// `is_human_readable` is true on both sides.
    pub human_readable: bool,
    /// Struct fields are written by name: fields may be reordered, added and unknown ones
    /// skipped.
    pub field_names: bool,
    /// `&str` can be borrowed out of the input.
    pub borrow_str: bool,
    /// `&[u8]` can be borrowed out of the input.
    pub borrow_bytes: bool,
    /// Byte strings come back as bytes through a dynamic type, told apart from text and from
    /// a sequence of numbers. False where the format is not self-describing.
    pub bytes: bool,
    /// `i128` and `u128` over their whole range.
    pub int_128: bool,
    /// NaN and the infinities of `f64` come back.
    pub non_finite_floats: bool,
    /// `Some(None)` of an `Option<Option<T>>` is told apart from `None`.
    pub nested_option: bool,
    /// `Some(())` of an `Option<()>` is told apart from `None`.
    pub unit_is_some: bool,
    /// Maps whose keys are integers come back.
    pub integer_keys: bool,
    /// Maps whose keys are structs, sequences or tuples come back.
    pub compound_keys: bool,
    /// Sequences and maps whose length is unknown when they begin.
    pub unknown_length: bool,
    /// A field that `skip_serializing_if` leaves out is filled in by `#[serde(default)]`.
    pub omitted_fields: bool,
    /// `#[serde(tag = "…")]`: internally tagged enums come back.
    pub internally_tagged: bool,
    /// `#[serde(tag = "…", content = "…")]`: adjacently tagged enums come back.
    pub adjacently_tagged: bool,
    /// `#[serde(untagged)]` enums come back.
    pub untagged: bool,
    /// `#[serde(flatten)]` comes back.
    pub flatten: bool,
    /// `IgnoredAny` passes over a whole document.
    pub skip: bool,
    /// Equal values, equal bytes; true for nearly all, as serde's own order is kept.
    pub deterministic: bool,
    /// How deep values may nest: a value of this depth goes both ways, the next is
    /// [`ErrorKind::Limit`](crate::ErrorKind::Limit) both ways. A scalar has depth 0, a
    /// sequence of scalars depth 1.
    pub max_depth: u32,
}
