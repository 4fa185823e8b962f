#![doc = include_str!("../README.md")]
//!
//! This room holds codecs that are of no use to anybody; no program should depend on it.
#![forbid(unsafe_code)]

use serde::{Deserialize, Serialize};
use wiremark_core::{Codec, CodecVisitor, Error, Profile, Result, Role, append};
use wiremark_datasets::{Value, to_value};
use wiremark_msgpack::MsgPack;

/// Shows `visitor` each control once.
pub fn visit(visitor: &mut impl CodecVisitor) {
    visitor.visit(Noop);
    visitor.visit(Memcpy::default());
    visitor.visit(Work::ten());
    visitor.visit(Work::eleven());
    visitor.visit(DropsField);
    visitor.visit(Cached::default());
}

/// The profile of the codec that the controls are made of, under another name.
fn profile(id: &'static str, role: Role, caveat: &'static str) -> Profile {
    Profile { id, role, caveat, ..MsgPack::named().profile() }
}

fn gives_nothing_back<T>() -> Result<T> {
    Err(Error::unsupported("a floor gives no value back"))
}

/// Encodes nothing: what a figure holds beside a codec's own work.
#[derive(Clone, Debug)]
pub struct Noop;

impl Codec for Noop {
    fn profile(&self) -> Profile {
        profile("control/noop", Role::Floor, "encodes nothing")
    }

    fn encode_into<T: Serialize + ?Sized>(
        &mut self,
        value: &T,
        _: &mut Vec<u8>,
    ) -> Result<()> {
        std::hint::black_box(value);
        Ok(())
    }

    fn decode<'de, T: Deserialize<'de>>(&mut self, _: &'de [u8]) -> Result<T> {
        gives_nothing_back()
    }
}

/// Copies bytes that were made by the first encode: no codec that writes as many is faster.
#[derive(Clone, Debug, Default)]
pub struct Memcpy {
    bytes: Option<Vec<u8>>,
}

impl Codec for Memcpy {
    fn profile(&self) -> Profile {
        profile("control/memcpy", Role::Floor, "copies bytes that it made once")
    }

    fn encode_into<T: Serialize + ?Sized>(
        &mut self,
        value: &T,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        if let Some(bytes) = &self.bytes {
            out.extend_from_slice(bytes);
            return Ok(());
        }
        let mut bytes = Vec::new();
        MsgPack::named().encode_into(value, &mut bytes)?;
        out.extend_from_slice(&bytes);
        self.bytes = Some(bytes);
        Ok(())
    }

    fn decode<'de, T: Deserialize<'de>>(&mut self, _: &'de [u8]) -> Result<T> {
        gives_nothing_back()
    }
}

/// Does the work of a real codec a number of times: two of these differ by a known ratio.
#[derive(Clone, Debug)]
pub struct Work {
    id: &'static str,
    times: u32,
    scratch: Vec<u8>,
}

impl Work {
    /// Ten times.
    pub fn ten() -> Self {
        Self { id: "control/repeat/ten", times: 10, scratch: Vec::new() }
    }

    /// Eleven times: a tenth more.
    pub fn eleven() -> Self {
        Self { id: "control/repeat/eleven", times: 11, scratch: Vec::new() }
    }
}

impl Codec for Work {
    fn profile(&self) -> Profile {
        profile(self.id, Role::Codec, "does its work several times")
    }

    // Not inlined, and the count is read where the compiler cannot see through: otherwise ten
    // rounds could be unrolled in another way than eleven.
    #[inline(never)]
    fn encode_into<T: Serialize + ?Sized>(
        &mut self,
        value: &T,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        for _ in 1..std::hint::black_box(self.times) {
            self.scratch.clear();
            MsgPack::named().encode_into(value, &mut self.scratch)?;
        }
        MsgPack::named().encode_into(value, out)
    }

    #[inline(never)]
    fn decode<'de, T: Deserialize<'de>>(&mut self, bytes: &'de [u8]) -> Result<T> {
        for _ in 1..std::hint::black_box(self.times) {
            drop(std::hint::black_box(MsgPack::named().decode::<T>(bytes)?));
        }
        MsgPack::named().decode(bytes)
    }

    fn decode_prefix<'de, T: Deserialize<'de>>(
        &mut self,
        bytes: &'de [u8],
    ) -> Result<(T, usize)> {
        for _ in 1..std::hint::black_box(self.times) {
            drop(std::hint::black_box(MsgPack::named().decode_prefix::<T>(bytes)?));
        }
        MsgPack::named().decode_prefix(bytes)
    }
}

/// Leaves out the last entry of every map and struct that has more than one, and says nothing.
#[derive(Clone, Debug)]
pub struct DropsField;

impl Codec for DropsField {
    fn profile(&self) -> Profile {
        profile("control/faulty/drops-a-field", Role::Codec, "loses data")
    }

    fn encode_into<T: Serialize + ?Sized>(
        &mut self,
        value: &T,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let mut value =
            to_value(value).map_err(|error| Error::data(error.to_string()))?;
        drop_last(&mut value);
        append(out, |out| MsgPack::named().encode_into(&value, out))
    }

    fn decode<'de, T: Deserialize<'de>>(&mut self, bytes: &'de [u8]) -> Result<T> {
        MsgPack::named().decode(bytes)
    }

    fn decode_prefix<'de, T: Deserialize<'de>>(
        &mut self,
        bytes: &'de [u8],
    ) -> Result<(T, usize)> {
        MsgPack::named().decode_prefix(bytes)
    }
}

fn drop_last(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(drop_last),
        Value::Map(entries) => {
            if entries.len() > 1 {
                entries.pop();
            }
            for (_, value) in entries {
                drop_last(value);
            }
        }
        _ => {}
    }
}

/// Answers each value with the bytes of the first that it saw.
#[derive(Clone, Debug, Default)]
pub struct Cached {
    answer: Option<Vec<u8>>,
}

impl Codec for Cached {
    fn profile(&self) -> Profile {
        profile("control/faulty/cached", Role::Codec, "answers from a cache")
    }

    fn encode_into<T: Serialize + ?Sized>(
        &mut self,
        value: &T,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        if let Some(answer) = &self.answer {
            out.extend_from_slice(answer);
            return Ok(());
        }
        let mut bytes = Vec::new();
        MsgPack::named().encode_into(value, &mut bytes)?;
        out.extend_from_slice(self.answer.insert(bytes));
        Ok(())
    }

    fn decode<'de, T: Deserialize<'de>>(&mut self, bytes: &'de [u8]) -> Result<T> {
        MsgPack::named().decode(bytes)
    }

    fn decode_prefix<'de, T: Deserialize<'de>>(
        &mut self,
        bytes: &'de [u8],
    ) -> Result<(T, usize)> {
        MsgPack::named().decode_prefix(bytes)
    }
}
