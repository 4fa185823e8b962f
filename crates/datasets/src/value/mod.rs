//! [`Value`]: any document, without a schema.

mod de;
mod from;
mod ser;

use std::fmt;

pub use from::from_value;
pub use ser::{ValueError, to_value};

/// Any document: what a self-describing format can hold, without a schema.
///
/// # Numbers
/// A whole number has one representation, the first of [`U64`](Self::U64), [`I64`](Self::I64),
/// [`U128`](Self::U128) and [`I128`](Self::I128) that holds it. The conversions from Rust's
/// integers and `Deserialize` keep to that; a variant written by hand may not, so two integers
/// are equal when they are the same *number*, whatever their variants. Whole numbers and
/// fractions are different things: `1` is not `1.0`, since a format that turned one into the
/// other would have changed the document.
///
/// # Equality
/// Two floats are equal when their bits are, or when both are NaN: `-0.0` is not `0.0`, as a
/// sign was lost; every NaN is as good as another, as formats keep no more than *that* it is
/// one. Maps are equal when their entries are and stand in the same order. So `Value` is `Eq`.
///
/// # Maps
/// A map's keys may be any value, its entries keep their order, and a key may stand more than
/// once: what a document says is what the value holds.
///
/// # Depth
/// Reading is as deep as the format's reader allows; formats in this workspace stop at a
/// limit. Writing, comparing, cloning, printing and dropping go as deep as the value is, on the
/// stack. Whoever builds values deeper than some ten thousand levels takes them apart with
/// [`dismantle`](Self::dismantle).
///
/// ```
/// use wiremark_datasets::Value;
///
/// let value: Value = serde_json::from_str(r#"{"id": 7, "tags": ["a", null], "x": -0.5}"#)?;
/// assert_eq!(value.get("id").and_then(Value::as_u64), Some(7));
/// assert_eq!(value.get("tags"), Some(&Value::from(vec![Value::from("a"), Value::Null])));
/// assert_eq!(serde_json::to_string(&value)?, r#"{"id":7,"tags":["a",null],"x":-0.5}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Default)]
pub enum Value {
    /// Nothing: JSON's `null`, and what serde calls none and unit.
    #[default]
    Null,
    /// True or false.
    Bool(bool),
    /// A whole number from 0 to 2^64 − 1.
    U64(u64),
    /// A whole number from −2^63 to −1.
    I64(i64),
    /// A whole number from 2^64 to 2^128 − 1.
    U128(u128),
    /// A whole number from −2^127 to −2^63 − 1.
    I128(i128),
    /// A fraction, or a number that the document wrote as one.
    F64(f64),
    /// Text.
    Str(String),
    /// Bytes that are not text, in formats that tell them apart.
    Bytes(Vec<u8>),
    /// Values one after the other.
    Array(Vec<Value>),
    /// Keys with their values, in the document's order.
    Map(Vec<(Value, Value)>),
}

impl Value {
    /// Whether it is [`Null`](Self::Null).
    pub const fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// The truth value, if it is one.
    pub const fn as_bool(&self) -> Option<bool> {
        match *self {
            Self::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// The whole number, if it is one from 0 to 2^64 − 1.
    pub fn as_u64(&self) -> Option<u64> {
        self.integer().and_then(Integer::narrow)
    }

    /// The whole number, if it is one from −2^63 to 2^63 − 1.
    pub fn as_i64(&self) -> Option<i64> {
        self.integer().and_then(Integer::narrow)
    }

    /// The whole number, if it is one from 0 to 2^128 − 1.
    pub fn as_u128(&self) -> Option<u128> {
        self.integer().and_then(Integer::narrow)
    }

    /// The whole number, if it is one from −2^127 to 2^127 − 1.
    pub fn as_i128(&self) -> Option<i128> {
        self.integer().and_then(Integer::narrow)
    }

    /// The fraction, if it is one. A whole number is none.
    pub const fn as_f64(&self) -> Option<f64> {
        match *self {
            Self::F64(value) => Some(value),
            _ => None,
        }
    }

    /// The text, if it is text.
    pub const fn as_str(&self) -> Option<&str> {
        match self {
            Self::Str(text) => Some(text.as_str()),
            _ => None,
        }
    }

    /// The bytes, if it is bytes. Text is none.
    pub const fn as_bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Bytes(bytes) => Some(bytes.as_slice()),
            _ => None,
        }
    }

    /// The elements, if it is an array.
    pub const fn as_array(&self) -> Option<&[Self]> {
        match self {
            Self::Array(array) => Some(array.as_slice()),
            _ => None,
        }
    }

    /// The entries, if it is a map.
    pub const fn as_map(&self) -> Option<&[(Self, Self)]> {
        match self {
            Self::Map(map) => Some(map.as_slice()),
            _ => None,
        }
    }

    /// The value of the first entry whose key is the text `key`, if it is a map that has one.
    /// It looks at one entry after the other.
    pub fn get(&self, key: &str) -> Option<&Self> {
        let map = self.as_map()?;
        map.iter().find(|(name, _)| name.as_str() == Some(key)).map(|(_, value)| value)
    }

    /// One word for what it is, as error messages use it: `null`, `text`, `array`, …
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "boolean",
            Self::U64(_) | Self::I64(_) | Self::U128(_) | Self::I128(_) => "integer",
            Self::F64(_) => "float",
            Self::Str(_) => "text",
            Self::Bytes(_) => "bytes",
            Self::Array(_) => "array",
            Self::Map(_) => "map",
        }
    }

    /// Drops a value of any depth without using the stack for it.
    ///
    /// An ordinary drop uses some stack for each level, which suffices for whatever came
    /// through a reader with a depth limit. It is no `Drop` of `Value` itself since that would
    /// forbid taking a value apart by pattern, and cost every shallow drop a look.
    ///
    /// ```
    /// use wiremark_datasets::Value;
    ///
    /// let deep = (0..100_000).fold(Value::Null, |inner, _| vec![inner].into());
    /// deep.dismantle();
    /// ```
    pub fn dismantle(self) {
        let mut outstanding = vec![self];
        while let Some(value) = outstanding.pop() {
            match value {
                Self::Array(array) => outstanding.extend(array),
                Self::Map(map) => {
                    outstanding
                        .extend(map.into_iter().flat_map(|(key, value)| [key, value]));
                }
                _ => {}
            }
        }
    }

    const fn integer(&self) -> Option<Integer> {
        match *self {
            Self::U64(number) => Some(Integer::Positive(number as u128)),
            Self::I64(number) => Some(Integer::from_i128(number as i128)),
            Self::U128(number) => Some(Integer::Positive(number)),
            Self::I128(number) => Some(Integer::from_i128(number)),
            _ => None,
        }
    }
}

/// A whole number apart from how it is stored.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Integer {
    Positive(u128),
    Negative(i128),
}

impl Integer {
    const fn from_i128(number: i128) -> Self {
        if number < 0 {
            Self::Negative(number)
        } else {
            Self::Positive(number.unsigned_abs())
        }
    }

    fn narrow<T: TryFrom<u128> + TryFrom<i128>>(self) -> Option<T> {
        match self {
            Self::Positive(number) => T::try_from(number).ok(),
            Self::Negative(number) => T::try_from(number).ok(),
        }
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::U64(a), Self::U64(b)) => a == b,
            (Self::I64(a), Self::I64(b)) => a == b,
            (Self::F64(a), Self::F64(b)) => {
                a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
            }
            (Self::Str(a), Self::Str(b)) => a == b,
            (Self::Bytes(a), Self::Bytes(b)) => a == b,
            (Self::Array(a), Self::Array(b)) => a == b,
            (Self::Map(a), Self::Map(b)) => a == b,
            (a, b) => a.integer().is_some() && a.integer() == b.integer(),
        }
    }
}

impl Eq for Value {}

/// As a document would write it: `{"id": 7, "tags": ["a", null]}`, bytes as `b"…"`; with `{:#?}` on
/// several lines.
impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => value.fmt(f),
            Self::U64(value) => value.fmt(f),
            Self::I64(value) => value.fmt(f),
            Self::U128(value) => value.fmt(f),
            Self::I128(value) => value.fmt(f),
            Self::F64(value) => value.fmt(f),
            Self::Str(text) => text.fmt(f),
            Self::Bytes(bytes) => write!(f, "b\"{}\"", bytes.escape_ascii()),
            Self::Array(array) => f.debug_list().entries(array).finish(),
            Self::Map(map) => f
                .debug_map()
                .entries(map.iter().map(|(key, value)| (key, value)))
                .finish(),
        }
    }
}

impl From<()> for Value {
    fn from((): ()) -> Self {
        Self::Null
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

/// Integers that fit in 64 bits; whole numbers that are not negative are always `U64`.
macro_rules! from_integers {
    (unsigned $($unsigned:ty)*; signed $($signed:ty)*) => {
        $(impl From<$unsigned> for Value {
            fn from(value: $unsigned) -> Self {
                Self::U64(u64::from(value))
            }
        })*
        $(impl From<$signed> for Value {
            fn from(value: $signed) -> Self {
                u64::try_from(value).map_or(Self::I64(i64::from(value)), Self::U64)
            }
        })*
    };
}

from_integers!(unsigned u8 u16 u32 u64; signed i8 i16 i32 i64);

impl From<u128> for Value {
    fn from(value: u128) -> Self {
        u64::try_from(value).map_or(Self::U128(value), Self::U64)
    }
}

impl From<i128> for Value {
    fn from(value: i128) -> Self {
        match (u128::try_from(value), i64::try_from(value)) {
            (Ok(positive), _) => Self::from(positive),
            (_, Ok(small)) => Self::I64(small),
            _ => Self::I128(value),
        }
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Self::F64(value)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Str(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Str(text)
    }
}

impl From<&[u8]> for Value {
    fn from(bytes: &[u8]) -> Self {
        Self::Bytes(bytes.to_owned())
    }
}

impl From<Vec<Self>> for Value {
    fn from(array: Vec<Self>) -> Self {
        Self::Array(array)
    }
}

impl From<Vec<(Self, Self)>> for Value {
    fn from(map: Vec<(Self, Self)>) -> Self {
        Self::Map(map)
    }
}

impl<T: Into<Self>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}
