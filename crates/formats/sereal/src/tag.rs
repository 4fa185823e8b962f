//! The tags: the byte before each value, without its highest bit.

/// The track bit: something refers to what begins here.
pub(crate) const TRACK: u8 = 0x80;

pub(crate) const NEG: u8 = 0x10;
pub(crate) const VARINT: u8 = 0x20;
pub(crate) const ZIGZAG: u8 = 0x21;
pub(crate) const FLOAT: u8 = 0x22;
pub(crate) const DOUBLE: u8 = 0x23;
pub(crate) const LONG_DOUBLE: u8 = 0x24;
pub(crate) const UNDEF: u8 = 0x25;
pub(crate) const BINARY: u8 = 0x26;
pub(crate) const STR_UTF8: u8 = 0x27;
pub(crate) const REFN: u8 = 0x28;
pub(crate) const REFP: u8 = 0x29;
pub(crate) const HASH: u8 = 0x2a;
pub(crate) const ARRAY: u8 = 0x2b;
pub(crate) const OBJECT: u8 = 0x2c;
pub(crate) const OBJECTV: u8 = 0x2d;
pub(crate) const ALIAS: u8 = 0x2e;
pub(crate) const COPY: u8 = 0x2f;
pub(crate) const WEAKEN: u8 = 0x30;
pub(crate) const REGEXP: u8 = 0x31;
pub(crate) const OBJECT_FREEZE: u8 = 0x32;
pub(crate) const OBJECTV_FREEZE: u8 = 0x33;
pub(crate) const NO: u8 = 0x34;
pub(crate) const YES: u8 = 0x35;
pub(crate) const FLOAT_128: u8 = 0x38;
pub(crate) const CANONICAL_UNDEF: u8 = 0x39;
pub(crate) const FALSE: u8 = 0x3a;
pub(crate) const TRUE: u8 = 0x3b;
pub(crate) const PAD: u8 = 0x3f;
pub(crate) const ARRAYREF: u8 = 0x40;
pub(crate) const HASHREF: u8 = 0x50;
pub(crate) const SHORT_BINARY: u8 = 0x60;

/// For messages.
pub(crate) const fn describe(tag: u8) -> &'static str {
    match tag & !TRACK {
        0..NEG => "an integer",
        NEG..VARINT => "a negative integer",
        VARINT | ZIGZAG => "an integer",
        FLOAT | DOUBLE | LONG_DOUBLE | FLOAT_128 => "a float",
        UNDEF | CANONICAL_UNDEF => "undef",
        BINARY | SHORT_BINARY..TRACK => "a string",
        STR_UTF8 => "text",
        REFN | REFP => "a reference",
        HASH | HASHREF..SHORT_BINARY => "a hash",
        ARRAY | ARRAYREF..HASHREF => "an array",
        OBJECT | OBJECTV => "an object",
        OBJECT_FREEZE | OBJECTV_FREEZE => "a frozen object",
        ALIAS => "an alias",
        COPY => "a copy",
        WEAKEN => "a weak reference",
        REGEXP => "a regular expression",
        NO | YES | FALSE | TRUE => "a boolean",
        PAD => "padding",
        _ => "a tag without a meaning",
    }
}
