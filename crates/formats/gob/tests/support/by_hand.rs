//! Streams put together from their parts, as SPEC.md describes them.
#![allow(dead_code, reason = "each test target uses its own part of it")]

/// The ids of basic types.
pub(crate) const BOOL: i64 = 1;
pub(crate) const INT: i64 = 2;
pub(crate) const UINT: i64 = 3;
pub(crate) const FLOAT: i64 = 4;
pub(crate) const BYTES: i64 = 5;
pub(crate) const STRING: i64 = 6;
pub(crate) const COMPLEX: i64 = 7;
pub(crate) const INTERFACE: i64 = 8;

/// How a self-encoded type is described: the number of its field in the wire type.
pub(crate) const GOB: u8 = 4;
pub(crate) const BINARY: u8 = 5;
pub(crate) const TEXT: u8 = 6;

pub(crate) fn uint(value: u64) -> Vec<u8> {
    if value < 128 {
        return vec![value.to_be_bytes()[7]];
    }
    let bytes = value.to_be_bytes();
    let zeros = bytes.iter().take_while(|&&byte| byte == 0).count();
    let used = &bytes[zeros..];
    let head = 0_u8.wrapping_sub(u8::try_from(used.len()).unwrap_or(8));
    [&[head], used].concat()
}

pub(crate) fn int(value: i64) -> Vec<u8> {
    uint(((value << 1) ^ (value >> 63)).cast_unsigned())
}

pub(crate) fn string(text: &str) -> Vec<u8> {
    [&uint(text.len() as u64), text.as_bytes()].concat()
}

/// An interface's value: its registered name, the id of its type, the length that its bytes with
/// the zero before them have, and these.
pub(crate) fn interface(name: &str, id: i64, value: &[u8]) -> Vec<u8> {
    let content = [&[0], value].concat();
    [string(name), int(id), uint(content.len() as u64), content].concat()
}

/// A stream that is written message by message.
#[derive(Clone, Default)]
pub(crate) struct Stream(Vec<u8>);

impl Stream {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn bytes(self) -> Vec<u8> {
        self.0
    }

    pub(crate) fn message(mut self, body: &[u8]) -> Self {
        self.0.extend(uint(body.len() as u64));
        self.0.extend(body);
        self
    }

    /// The value of a type that is no struct: a zero byte stands before it.
    pub(crate) fn value(self, id: i64, value: &[u8]) -> Self {
        self.message(&[&int(id)[..], &[0], value].concat())
    }

    /// The value of a struct: deltas and fields without the end.
    pub(crate) fn fields(self, id: i64, fields: &[u8]) -> Self {
        self.message(&[&int(id)[..], fields, &[0]].concat())
    }

    fn define(self, id: i64, number: u8, name: &str, rest: &[u8]) -> Self {
        self.message(&descriptor(id, number, name, rest))
    }

    pub(crate) fn array(self, id: i64, elem: i64, len: i64) -> Self {
        self.define(id, 0, "", &[vec![1], int(elem), vec![1], int(len)].concat())
    }

    pub(crate) fn slice(self, id: i64, elem: i64) -> Self {
        self.define(id, 1, "", &[vec![1], int(elem)].concat())
    }

    pub(crate) fn map(self, id: i64, key: i64, elem: i64) -> Self {
        self.define(id, 3, "", &[vec![1], int(key), vec![1], int(elem)].concat())
    }

    pub(crate) fn structure(self, id: i64, name: &str, fields: &[(&str, i64)]) -> Self {
        let mut rest = Vec::new();
        if !fields.is_empty() {
            rest.push(1);
            rest.extend(uint(fields.len() as u64));
            for &(name, id) in fields {
                rest.extend([vec![1], string(name), vec![1], int(id), vec![0]].concat());
            }
        }
        self.define(id, 2, name, &rest)
    }

    pub(crate) fn opaque(self, id: i64, kind: u8, name: &str) -> Self {
        self.define(id, kind, name, &[])
    }
}

/// The body of the message that defines a type.
pub(crate) fn descriptor(id: i64, number: u8, name: &str, rest: &[u8]) -> Vec<u8> {
    let common = if name.is_empty() {
        [vec![2], int(id), vec![0]].concat()
    } else {
        [vec![1], string(name), vec![1], int(id), vec![0]].concat()
    };
    [&int(-id)[..], &[number + 1, 1], &common, rest, &[0, 0]].concat()
}
