//! A hash of a value that is the same in every format and on every machine.

use std::fmt;

use serde::ser::{self, Serialize, Serializer};

/// A 64-bit hash of what `value` says, as 16 hexadecimal digits.
///
/// It is FNV-1a (offset basis `cbf29ce484222325`, prime `100000001b3`) over this byte string:
///
/// | what | bytes |
/// | --- | --- |
/// | null: none, unit, a struct without fields | `n` |
/// | false, true | `f`, `t` |
/// | a whole number | `+` (or `-` below zero), its magnitude as 16 bytes, lowest first |
/// | a float, an `f32` widened | `d`, its bits as 8 bytes, lowest first; every NaN as `d` and `7ff8000000000000` |
/// | text, a `char`, the name of a variant without fields | `s`, the length in bytes as 8 bytes, lowest first, and UTF-8 |
/// | bytes | `b`, the length as for text, the bytes |
/// | sequence, tuple | `[`, the elements, `]` |
/// | map, struct | `{`, key and value in turns, field names as text, `}` |
/// | a variant with content | a map of one entry, the variant's name and the content |
/// | some, newtype struct | as what it holds |
///
/// So a typed value and the [`Value`](crate::Value) that [`to_value`](crate::to_value) makes of
/// it have one fingerprint, `1` and `1.0` and `"1"` have three, and order counts.
/// It is for telling whether two runs used the same data, not safe against somebody who looks for
/// collisions.
///
/// A value whose own `Serialize` refuses is hashed as far as it went, then `!` and the refusal's
/// text.
///
/// ```
/// use wiremark_datasets::fingerprint;
///
/// assert_eq!(fingerprint(&()), "af63e34c8601f871");
/// assert_ne!(fingerprint(&1), fingerprint("1"));
/// assert_eq!(fingerprint(&1_u8), fingerprint(&1_i64));
/// ```
pub fn fingerprint<T: Serialize + ?Sized>(value: &T) -> String {
    format!("{:016x}", Fnv::of(value).hash)
}

/// How many bytes long the string is that [`fingerprint`] is taken over: a measure of how much
/// a value holds that is the same in every format and on every machine. At least 1.
///
/// ```
/// use wiremark_datasets::weight;
///
/// assert_eq!(weight(&true), 1);
/// assert_eq!(weight("abc"), 1 + 8 + 3);
/// ```
pub fn weight<T: Serialize + ?Sized>(value: &T) -> u64 {
    Fnv::of(value).bytes
}

struct Fnv {
    hash: u64,
    bytes: u64,
}

impl Fnv {
    fn of<T: Serialize + ?Sized>(value: &T) -> Self {
        let mut hash = Self { hash: 0xcbf2_9ce4_8422_2325, bytes: 0 };
        if let Err(refusal) = value.serialize(&mut hash) {
            hash.tag(b'!');
            hash.add(refusal.0.as_bytes());
        }
        hash
    }

    const fn tag(&mut self, byte: u8) {
        self.hash = (self.hash ^ byte as u64).wrapping_mul(0x0100_0000_01b3);
        self.bytes += 1;
    }

    fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.tag(byte);
        }
    }

    fn counted(&mut self, tag: u8, bytes: &[u8]) {
        self.tag(tag);
        self.add(&(bytes.len() as u64).to_le_bytes());
        self.add(bytes);
    }

    fn unsigned(&mut self, value: u128) {
        self.tag(b'+');
        self.add(&value.to_le_bytes());
    }

    fn signed(&mut self, value: i128) {
        self.tag(if value < 0 { b'-' } else { b'+' });
        self.add(&value.unsigned_abs().to_le_bytes());
    }
}

/// What a value's own `Serialize` refuses; hashing refuses nothing.
#[derive(Debug)]
struct Refusal(String);

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refusal {}

impl ser::Error for Refusal {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

/// Parts of a compound, and the bytes that close it.
struct Parts<'a> {
    hash: &'a mut Fnv,
    close: &'static [u8],
}

impl Fnv {
    #[expect(clippy::unnecessary_wraps, reason = "what the serializer's methods return")]
    fn open(&mut self, bytes: &[u8], close: &'static [u8]) -> Result<Parts<'_>, Refusal> {
        self.add(bytes);
        Ok(Parts { hash: self, close })
    }

    fn variant(
        &mut self,
        variant: &str,
        open: &[u8],
        close: &'static [u8],
    ) -> Result<Parts<'_>, Refusal> {
        self.tag(b'{');
        self.counted(b's', variant.as_bytes());
        self.open(open, close)
    }
}

impl<'a> Serializer for &'a mut Fnv {
    type Ok = ();
    type Error = Refusal;
    type SerializeSeq = Parts<'a>;
    type SerializeTuple = Parts<'a>;
    type SerializeTupleStruct = Parts<'a>;
    type SerializeTupleVariant = Parts<'a>;
    type SerializeMap = Parts<'a>;
    type SerializeStruct = Parts<'a>;
    type SerializeStructVariant = Parts<'a>;

    // As with `to_value`, so that both see the same value.
    fn is_human_readable(&self) -> bool {
        false
    }

    fn serialize_bool(self, value: bool) -> Result<(), Refusal> {
        self.tag(if value { b't' } else { b'f' });
        Ok(())
    }

    fn serialize_i8(self, value: i8) -> Result<(), Refusal> {
        self.signed(value.into());
        Ok(())
    }

    fn serialize_i16(self, value: i16) -> Result<(), Refusal> {
        self.signed(value.into());
        Ok(())
    }

    fn serialize_i32(self, value: i32) -> Result<(), Refusal> {
        self.signed(value.into());
        Ok(())
    }

    fn serialize_i64(self, value: i64) -> Result<(), Refusal> {
        self.signed(value.into());
        Ok(())
    }

    fn serialize_i128(self, value: i128) -> Result<(), Refusal> {
        self.signed(value);
        Ok(())
    }

    fn serialize_u8(self, value: u8) -> Result<(), Refusal> {
        self.unsigned(value.into());
        Ok(())
    }

    fn serialize_u16(self, value: u16) -> Result<(), Refusal> {
        self.unsigned(value.into());
        Ok(())
    }

    fn serialize_u32(self, value: u32) -> Result<(), Refusal> {
        self.unsigned(value.into());
        Ok(())
    }

    fn serialize_u64(self, value: u64) -> Result<(), Refusal> {
        self.unsigned(value.into());
        Ok(())
    }

    fn serialize_u128(self, value: u128) -> Result<(), Refusal> {
        self.unsigned(value);
        Ok(())
    }

    fn serialize_f32(self, value: f32) -> Result<(), Refusal> {
        self.serialize_f64(value.into())
    }

    fn serialize_f64(self, value: f64) -> Result<(), Refusal> {
        let bits = if value.is_nan() { 0x7ff8_0000_0000_0000 } else { value.to_bits() };
        self.tag(b'd');
        self.add(&bits.to_le_bytes());
        Ok(())
    }

    fn serialize_char(self, value: char) -> Result<(), Refusal> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Result<(), Refusal> {
        self.counted(b's', value.as_bytes());
        Ok(())
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), Refusal> {
        self.counted(b'b', value);
        Ok(())
    }

    fn serialize_none(self) -> Result<(), Refusal> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Refusal> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Refusal> {
        self.tag(b'n');
        Ok(())
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Result<(), Refusal> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
    ) -> Result<(), Refusal> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        value: &T,
    ) -> Result<(), Refusal> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Refusal> {
        let parts = self.variant(variant, b"", b"}")?;
        value.serialize(&mut *parts.hash)?;
        parts.end()
    }

    fn serialize_seq(self, _len: Option<usize>) -> Result<Parts<'a>, Refusal> {
        self.open(b"[", b"]")
    }

    fn serialize_tuple(self, _len: usize) -> Result<Parts<'a>, Refusal> {
        self.open(b"[", b"]")
    }

    fn serialize_tuple_struct(
        self,
        _name: &'static str,
        _len: usize,
    ) -> Result<Parts<'a>, Refusal> {
        self.open(b"[", b"]")
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _len: usize,
    ) -> Result<Parts<'a>, Refusal> {
        self.variant(variant, b"[", b"]}")
    }

    fn serialize_map(self, _len: Option<usize>) -> Result<Parts<'a>, Refusal> {
        self.open(b"{", b"}")
    }

    fn serialize_struct(
        self,
        _name: &'static str,
        _len: usize,
    ) -> Result<Parts<'a>, Refusal> {
        self.open(b"{", b"}")
    }

    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _len: usize,
    ) -> Result<Parts<'a>, Refusal> {
        self.variant(variant, b"{", b"}}")
    }
}

impl Parts<'_> {
    #[expect(clippy::unnecessary_wraps, reason = "what the serializer's methods return")]
    fn end(self) -> Result<(), Refusal> {
        self.hash.add(self.close);
        Ok(())
    }
}

/// The traits that add parts without a name.
macro_rules! elements {
    ($($trait:ident: $($method:ident),+;)*) => {
        $(impl ser::$trait for Parts<'_> {
            type Ok = ();
            type Error = Refusal;

            $(fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Refusal> {
                value.serialize(&mut *self.hash)
            })+

            fn end(self) -> Result<(), Refusal> {
                self.end()
            }
        })*
    };
}

elements! {
    SerializeSeq: serialize_element;
    SerializeTuple: serialize_element;
    SerializeTupleStruct: serialize_field;
    SerializeTupleVariant: serialize_field;
    SerializeMap: serialize_key, serialize_value;
}

/// The traits that add named fields.
macro_rules! fields {
    ($($trait:ident)*) => {
        $(impl ser::$trait for Parts<'_> {
            type Ok = ();
            type Error = Refusal;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                name: &'static str,
                value: &T,
            ) -> Result<(), Refusal> {
                self.hash.counted(b's', name.as_bytes());
                value.serialize(&mut *self.hash)
            }

            fn end(self) -> Result<(), Refusal> {
                self.end()
            }
        })*
    };
}

fields! { SerializeStruct SerializeStructVariant }
