//! Writing what holds nothing new: from any `Serialize` to bytes by a [`Plan`], in one go.
//!
//! The writer knows no cases. Where a value is not as planned it gives up, without a reason, and
//! [`Core`] takes back what was written and writes the value as `ser` does, which learns, resolves
//! conflicts and finds the words for errors. A `Serialize` is thus called twice where it surprises;
//! after two surprises in a row nothing is planned for a while. 10,000 people take 0.6 of the time
//! that `ser` needs.

#![expect(
    clippy::inline_always,
    reason = "left to itself, the compiler passes half-written structs through memory"
)]

use std::fmt;

use serde::ser::{self, Serialize};

use crate::Enums;
use crate::plan::{
    BYTE_STEP, IS_FIELD, IS_OPTION, MAY_MISS, OMITS, Plan, Step, UNTOUCHED,
};
use crate::ser::{Core, FORCE, Place, put_count};
use crate::shape::{Kind, NodeId};
use crate::wire::{put_bytes, put_delta_bytes, put_delta_uint, put_uint, zigzag};

/// The value is not as planned.
#[derive(Debug)]
pub(crate) struct Unplanned;

impl fmt::Display for Unplanned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value is not as planned")
    }
}

impl std::error::Error for Unplanned {}

impl ser::Error for Unplanned {
    /// The value is written again, and then says it again.
    #[cold]
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }
}

type Result<T> = std::result::Result<T, Unplanned>;

impl Core {
    /// Writes a value for which nothing needs to be learned behind what is in `out`; its root.
    /// None, and nothing written, if it is not such a value. If it `is_alone`, only if it has all
    /// that is known.
    pub(crate) fn planned<T: Serialize + ?Sized>(
        &mut self,
        value: &T,
        is_alone: bool,
    ) -> Option<NodeId> {
        if self.shapes.is_dirty {
            return None;
        }
        if self.unplanned >= MAX_UNPLANNED {
            self.unplanned = (self.unplanned + 1) % UNPLANNED_ROUND;
            return None;
        }
        let root = self.shapes.root(std::any::type_name::<T>());
        let step = self.plan.root(&mut self.shapes, root)?;
        if is_alone && !(self.shapes.is_simple() && self.plan.watch(step)) {
            return None;
        }
        self.levels = self.options.max_depth;
        self.wraps = self.options.max_depth.saturating_mul(2);
        let start = self.out.len();
        if self.try_planned(step, value) {
            if !is_alone || self.plan.untouched == 0 {
                self.unplanned = 0;
                return Some(root);
            }
            self.out.truncate(start);
        }
        self.unplanned += 1;
        None
    }

    /// Writes a value at this step; false, and nothing written, if it does not fit.
    #[inline(always)]
    pub(crate) fn try_planned<T: Serialize + ?Sized>(
        &mut self,
        step: u32,
        value: &T,
    ) -> bool {
        let (start, levels, wraps) = (self.out.len(), self.levels, self.wraps);
        if value.serialize(Planned::new(self, step)).is_ok() {
            return true;
        }
        self.out.truncate(start);
        (self.levels, self.wraps) = (levels, wraps);
        false
    }

    #[inline(always)]
    fn go_in(&mut self) -> Result<()> {
        self.levels = self.levels.checked_sub(1).ok_or(Unplanned)?;
        Ok(())
    }

    #[inline(always)]
    fn go_out(&mut self) {
        self.levels += 1;
    }
}

/// After so many values in a row that were not as planned, none is tried until there were as many
/// as in a round.
const MAX_UNPLANNED: u32 = 2;
const UNPLANNED_ROUND: u32 = 32;

/// One position of the value. Two words, so that it is passed in registers.
pub(crate) struct Planned<'a> {
    core: &'a mut Core,
    /// Its step, in place of a node.
    place: Place,
}

impl<'a> Planned<'a> {
    #[inline(always)]
    fn new(core: &'a mut Core, step: u32) -> Self {
        Self { core, place: Place::new(step, 0, 0) }
    }

    #[inline(always)]
    fn step(&self) -> Result<Step> {
        self.core.plan.steps.get(self.place.node() as usize).copied().ok_or(Unplanned)
    }

    /// The step, which must be of this kind.
    #[inline(always)]
    fn expect(&self, kind: Kind) -> Result<Step> {
        let step = self.step()?;
        if step.kind == kind { Ok(step) } else { Err(Unplanned) }
    }

    /// Whether a zero is left out here.
    #[inline(always)]
    fn omits(&self, step: Step) -> bool {
        step.flags & OMITS != 0 && self.place.flags() & FORCE == 0
    }

    #[inline(always)]
    fn word(self, kind: Kind, word: u64) -> Result<()> {
        let step = self.expect(kind)?;
        if word != 0 || !self.omits(step) {
            put_delta_uint(&mut self.core.out, self.place.delta(), word);
        }
        Ok(())
    }

    #[inline(always)]
    fn start(&mut self) {
        match self.place.delta() {
            0 => {}
            delta => put_uint(&mut self.core.out, delta.into()),
        }
    }

    #[inline(always)]
    fn elements(self, step: Step, elem: u32, len: Option<usize>) -> Result<Elements<'a>> {
        let Self { core, place } = self;
        core.go_in()?;
        let announced = len.unwrap_or(0) as u64;
        let start = core.out.len();
        put_delta_uint(&mut core.out, place.delta(), announced);
        if step.flags & UNTOUCHED != 0 && announced > 0 {
            core.plan.touch(place.node());
        }
        Ok(Elements {
            core,
            place,
            elem: Place::new(elem, 0, 0),
            count: 0,
            announced,
            start,
        })
    }

    fn unit(mut self) -> Result<()> {
        self.expect(Kind::Unit)?;
        self.start();
        self.core.out.push(0);
        Ok(())
    }

    #[inline(always)]
    fn record(mut self, name: Option<&'static str>) -> Result<Record<'a>> {
        let block = self.expect(Kind::Struct)?.at;
        let head = *self.core.plan.steps.get(block as usize).ok_or(Unplanned)?;
        if let Some(name) = name
            && !std::ptr::eq(head.name, name)
        {
            self.core.plan.same(block, name)?;
        }
        self.core.go_in()?;
        self.start();
        let next = block + 1;
        Ok(Record { core: self.core, next, last: block, end: next + head.at })
    }

    /// Goes to a variant: its position, with what stands before it written.
    fn variant(mut self, name: &'static str, index: u32, is_unit: bool) -> Result<Self> {
        if self.core.options.enums != Enums::Structs {
            return Err(Unplanned);
        }
        let block = self.expect(Kind::Enum)?.at;
        let head = *self.core.plan.steps.get(block as usize).ok_or(Unplanned)?;
        if !std::ptr::eq(head.name, name) {
            self.core.plan.same(block, name)?;
        }
        if index >= head.at {
            return Err(Unplanned);
        }
        if !is_unit {
            self.core.go_in()?;
        }
        self.start();
        let place = Place::new(block + 1 + index, index + 1, 0);
        let next = Self { core: self.core, place };
        let step = next.step()?;
        if step.flags & UNTOUCHED != 0 && !matches!(step.kind, Kind::Slice | Kind::Map) {
            next.core.plan.touch(place.node());
        }
        Ok(next)
    }

    fn tuple(mut self, len: usize, closes: bool) -> Result<Parts<'a>> {
        let Step { kind, at: block, .. } = self.step()?;
        let is_array = match kind {
            Kind::Tuple => false,
            Kind::Array => true,
            _ => return Err(Unplanned),
        };
        let head = *self.core.plan.steps.get(block as usize).ok_or(Unplanned)?;
        if head.at as usize != len {
            return Err(Unplanned);
        }
        self.core.go_in()?;
        if is_array {
            put_delta_uint(&mut self.core.out, self.place.delta(), len as u64);
        } else {
            self.start();
        }
        Ok(Parts {
            core: self.core,
            first: block + 1,
            next: 0,
            last: 0,
            len,
            is_array,
            closes,
        })
    }
}

impl Plan {
    /// Whether a step has this name, which stands elsewhere in memory.
    #[cold]
    #[inline(never)]
    fn same(&mut self, index: u32, name: &'static str) -> Result<()> {
        match self.steps.get_mut(index as usize) {
            Some(step) if step.name == name => {
                step.name = name;
                Ok(())
            }
            _ => Err(Unplanned),
        }
    }
}

macro_rules! words {
    ($($method:ident($type:ty) $kind:ident |$value:ident| $word:expr;)*) => {
        $(#[inline(always)]
        fn $method(self, $value: $type) -> Result<()> {
            self.word(Kind::$kind, $word)
        })*
    };
}

impl<'a> ser::Serializer for Planned<'a> {
    type Ok = ();
    type Error = Unplanned;
    type SerializeSeq = Elements<'a>;
    type SerializeTuple = Parts<'a>;
    type SerializeTupleStruct = Parts<'a>;
    type SerializeTupleVariant = Parts<'a>;
    type SerializeMap = Entries<'a>;
    type SerializeStruct = Record<'a>;
    type SerializeStructVariant = VariantRecord<'a>;

    words! {
        serialize_bool(bool) Bool |value| u64::from(value);
        serialize_i8(i8) Int |value| zigzag(value.into());
        serialize_i16(i16) Int |value| zigzag(value.into());
        serialize_i32(i32) Int |value| zigzag(value.into());
        serialize_i64(i64) Int |value| zigzag(value);
        serialize_u16(u16) Uint |value| value.into();
        serialize_u32(u32) Uint |value| value.into();
        serialize_u64(u64) Uint |value| value;
    }

    fn serialize_i128(self, _: i128) -> Result<()> {
        Err(Unplanned)
    }

    fn serialize_u128(self, _: u128) -> Result<()> {
        Err(Unplanned)
    }

    #[inline(always)]
    fn serialize_u8(self, value: u8) -> Result<()> {
        if self.step()?.kind == Kind::Byte {
            self.core.out.push(value);
            return Ok(());
        }
        self.word(Kind::Uint, value.into())
    }

    #[inline]
    fn serialize_f32(self, value: f32) -> Result<()> {
        self.serialize_f64(value.into())
    }

    #[inline(always)]
    fn serialize_f64(self, value: f64) -> Result<()> {
        let step = self.expect(Kind::Float)?;
        let bits = value.to_bits();
        // Zero or minus zero.
        if bits << 1 == 0 && self.omits(step) && (bits == 0 || self.core.options.go_exact)
        {
            return Ok(());
        }
        put_delta_uint(&mut self.core.out, self.place.delta(), bits.swap_bytes());
        Ok(())
    }

    fn serialize_char(self, value: char) -> Result<()> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    #[inline(always)]
    fn serialize_str(self, text: &str) -> Result<()> {
        let step = self.expect(Kind::String)?;
        if text.is_empty() && self.omits(step) {
            return Ok(());
        }
        put_delta_bytes(&mut self.core.out, self.place.delta(), text.as_bytes());
        Ok(())
    }

    fn serialize_bytes(mut self, bytes: &[u8]) -> Result<()> {
        let step = self.expect(Kind::Bytes)?;
        if bytes.is_empty() && self.omits(step) {
            return Ok(());
        }
        self.start();
        put_bytes(&mut self.core.out, bytes);
        Ok(())
    }

    #[inline]
    fn serialize_none(mut self) -> Result<()> {
        let Step { kind, flags, .. } = self.step()?;
        if flags & IS_FIELD != 0 {
            return if flags & IS_OPTION != 0 { Ok(()) } else { Err(Unplanned) };
        }
        if kind != Kind::Option {
            return Err(Unplanned);
        }
        self.start();
        self.core.out.push(0);
        Ok(())
    }

    #[inline]
    fn serialize_some<T: Serialize + ?Sized>(mut self, value: &T) -> Result<()> {
        let Step { kind, flags, at, .. } = self.step()?;
        let is_untouched = flags & UNTOUCHED != 0;
        if flags & IS_FIELD != 0 {
            if flags & IS_OPTION == 0 {
                return Err(Unplanned);
            }
            if is_untouched && !matches!(kind, Kind::Slice | Kind::Map) {
                self.core.plan.touch(self.place.node());
            }
            if !self.core.options.go_exact {
                self.place = self.place.with(FORCE);
            }
            return self.wrapped(value);
        }
        if kind != Kind::Option {
            return Err(Unplanned);
        }
        if is_untouched {
            self.core.plan.touch(self.place.node());
        }
        self.core.go_in()?;
        self.start();
        value
            .serialize(Planned { core: &mut *self.core, place: Place::new(at, 1, 0) })?;
        self.core.out.push(0);
        self.core.go_out();
        Ok(())
    }

    fn serialize_unit(self) -> Result<()> {
        self.unit()
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<()> {
        self.unit()
    }

    fn serialize_unit_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
    ) -> Result<()> {
        if self.core.options.enums == Enums::Names {
            return self.serialize_str(variant);
        }
        let Self { core, place } = self.variant(name, index, true)?;
        Planned { core: &mut *core, place }.unit()?;
        core.out.push(0);
        Ok(())
    }

    #[inline]
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<()> {
        // Mostly those of this crate.
        if name.as_bytes().first() == Some(&b'$') {
            return Err(Unplanned);
        }
        self.wrapped(value)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        index: u32,
        _: &'static str,
        value: &T,
    ) -> Result<()> {
        let Self { core, place } = self.variant(name, index, false)?;
        value.serialize(Planned { core: &mut *core, place })?;
        core.out.push(0);
        core.go_out();
        Ok(())
    }

    #[inline(always)]
    fn serialize_seq(self, len: Option<usize>) -> Result<Elements<'a>> {
        let step = self.step()?;
        match step.kind {
            Kind::Slice => self.elements(step, step.at, len),
            Kind::Bytes => self.elements(step, BYTE_STEP, len),
            _ => Err(Unplanned),
        }
    }

    fn serialize_tuple(self, len: usize) -> Result<Parts<'a>> {
        self.tuple(len, false)
    }

    fn serialize_tuple_struct(self, _: &'static str, len: usize) -> Result<Parts<'a>> {
        self.tuple(len, false)
    }

    fn serialize_tuple_variant(
        self,
        name: &'static str,
        index: u32,
        _: &'static str,
        len: usize,
    ) -> Result<Parts<'a>> {
        self.variant(name, index, false)?.tuple(len, true)
    }

    fn serialize_map(self, len: Option<usize>) -> Result<Entries<'a>> {
        let step = self.expect(Kind::Map)?;
        let values = self.elements(step, step.at + 1, len)?;
        Ok(Entries { key: Place::new(step.at, 0, 0), values })
    }

    #[inline(always)]
    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Record<'a>> {
        self.record(Some(name))
    }

    fn serialize_struct_variant(
        self,
        name: &'static str,
        index: u32,
        _: &'static str,
        _: usize,
    ) -> Result<VariantRecord<'a>> {
        self.variant(name, index, false)?.record(None).map(VariantRecord)
    }

    fn is_human_readable(&self) -> bool {
        false
    }
}

impl Planned<'_> {
    /// Writes what stands in a newtype or a field's option.
    #[inline(always)]
    fn wrapped<T: Serialize + ?Sized>(self, value: &T) -> Result<()> {
        let Self { core, place } = self;
        core.wraps = core.wraps.checked_sub(1).ok_or(Unplanned)?;
        value.serialize(Planned { core: &mut *core, place })?;
        core.wraps += 1;
        Ok(())
    }
}

/// The elements of a sequence.
#[derive(Debug)]
pub(crate) struct Elements<'a> {
    core: &'a mut Core,
    place: Place,
    elem: Place,
    count: u64,
    announced: u64,
    /// Where the position began, with its delta.
    start: usize,
}

impl Elements<'_> {
    #[inline(always)]
    fn finish(self) -> Result<()> {
        let Self { core, place, elem, count, announced, start } = self;
        core.go_out();
        if count == announced && count > 0 {
            return Ok(());
        }
        Self::unusual_finish(core, place, elem, count, announced, start)
    }

    // In registers: what goes through memory is written there in the usual case too.
    #[cold]
    #[inline(never)]
    fn unusual_finish(
        core: &mut Core,
        place: Place,
        elem: Place,
        count: u64,
        announced: u64,
        start: usize,
    ) -> Result<()> {
        let step = *core.plan.steps.get(place.node() as usize).ok_or(Unplanned)?;
        if count != announced {
            put_count(&mut core.out, start, place.delta(), announced, count);
            if count == 0 {
                // It was not touched after all, which nobody has noted.
                return Err(Unplanned);
            }
            core.plan.touch(place.node());
        }
        if count == 0 && step.flags & IS_FIELD != 0 {
            if step.flags & OMITS != 0 && place.flags() & FORCE == 0 {
                core.out.truncate(start);
                return Ok(());
            }
            // Whether it is written depends on what is known of its elements.
            let may_be_open = |at: u32| {
                let kind = core.plan.steps.get(at as usize).map(|step| step.kind);
                matches!(
                    kind,
                    None | Some(Kind::Unknown | Kind::Slice | Kind::Map | Kind::Array)
                )
            };
            if may_be_open(elem.node())
                || step.kind == Kind::Map && may_be_open(elem.node() - 1)
            {
                return Err(Unplanned);
            }
        }
        Ok(())
    }
}

impl ser::SerializeSeq for Elements<'_> {
    type Ok = ();
    type Error = Unplanned;

    #[inline(always)]
    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        self.count += 1;
        value.serialize(Planned { core: &mut *self.core, place: self.elem })
    }

    #[inline(always)]
    fn end(self) -> Result<()> {
        self.finish()
    }
}

/// The entries of a map.
#[derive(Debug)]
pub(crate) struct Entries<'a> {
    key: Place,
    values: Elements<'a>,
}

impl ser::SerializeMap for Entries<'_> {
    type Ok = ();
    type Error = Unplanned;

    #[inline]
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<()> {
        key.serialize(Planned { core: &mut *self.values.core, place: self.key })
    }

    #[inline]
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        ser::SerializeSeq::serialize_element(&mut self.values, value)
    }

    #[inline]
    fn end(self) -> Result<()> {
        self.values.finish()
    }
}

/// The fields of a struct.
#[derive(Debug)]
pub(crate) struct Record<'a> {
    core: &'a mut Core,
    /// The step of the next field.
    next: u32,
    /// The step of the last field that was sent.
    last: u32,
    /// The step behind the last field.
    end: u32,
}

impl Record<'_> {
    /// Goes to the next field, which must have this name.
    #[inline(always)]
    fn go_to(&mut self, name: &'static str) -> Result<u32> {
        let index = self.next;
        let step = self.core.plan.steps.get(index as usize).ok_or(Unplanned)?;
        if !std::ptr::eq(step.name, name) {
            self.core.plan.same(index, name)?;
        }
        self.next += 1;
        Ok(index)
    }

    #[inline(always)]
    fn put<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<()> {
        // Behind the last field stands a step where nothing fits.
        let index = self.go_to(name)?;
        let before = self.core.out.len();
        let place = Place::new(index, index - self.last, 0);
        value.serialize(Planned { core: &mut *self.core, place })?;
        if self.core.out.len() != before {
            self.last = index;
        }
        Ok(())
    }

    fn skip(&mut self, name: &'static str) -> Result<()> {
        let index = self.go_to(name)?;
        match self.core.plan.steps.get(index as usize) {
            Some(step) if step.flags & MAY_MISS != 0 => Ok(()),
            _ => Err(Unplanned),
        }
    }

    #[inline(always)]
    fn finish(self) -> Result<()> {
        if self.next != self.end {
            return Err(Unplanned);
        }
        self.core.out.push(0);
        self.core.go_out();
        Ok(())
    }
}

impl ser::SerializeStruct for Record<'_> {
    type Ok = ();
    type Error = Unplanned;

    #[inline(always)]
    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<()> {
        self.put(name, value)
    }

    fn skip_field(&mut self, name: &'static str) -> Result<()> {
        self.skip(name)
    }

    #[inline(always)]
    fn end(self) -> Result<()> {
        self.finish()
    }
}

/// The fields of a variant.
#[derive(Debug)]
pub(crate) struct VariantRecord<'a>(Record<'a>);

impl ser::SerializeStructVariant for VariantRecord<'_> {
    type Ok = ();
    type Error = Unplanned;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<()> {
        self.0.put(name, value)
    }

    fn skip_field(&mut self, name: &'static str) -> Result<()> {
        self.0.skip(name)
    }

    fn end(self) -> Result<()> {
        let Record { core, next, end, .. } = self.0;
        if next != end {
            return Err(Unplanned);
        }
        core.out.extend_from_slice(&[0, 0]);
        core.levels += 2;
        Ok(())
    }
}

/// The elements of a tuple.
#[derive(Debug)]
pub(crate) struct Parts<'a> {
    core: &'a mut Core,
    first: u32,
    next: u32,
    /// One more than the number of the last that was sent.
    last: u32,
    len: usize,
    is_array: bool,
    /// Whether it is the content of a variant.
    closes: bool,
}

impl Parts<'_> {
    #[inline]
    fn put<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        let index = self.next;
        if index as usize >= self.len {
            return Err(Unplanned);
        }
        self.next += 1;
        if self.is_array {
            return value.serialize(Planned::new(&mut *self.core, self.first));
        }
        let before = self.core.out.len();
        let place = Place::new(self.first + index, self.next - self.last, 0);
        value.serialize(Planned { core: &mut *self.core, place })?;
        if self.core.out.len() != before {
            self.last = self.next;
        }
        Ok(())
    }

    fn finish(self) -> Result<()> {
        if self.next as usize != self.len {
            return Err(Unplanned);
        }
        self.core.go_out();
        if !self.is_array {
            self.core.out.push(0);
        }
        if self.closes {
            self.core.out.push(0);
            self.core.go_out();
        }
        Ok(())
    }
}

macro_rules! elements {
    ($($trait:ident $method:ident)*) => {
        $(impl ser::$trait for Parts<'_> {
            type Ok = ();
            type Error = Unplanned;

            #[inline]
            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
                self.put(value)
            }

            fn end(self) -> Result<()> {
                self.finish()
            }
        })*
    };
}

elements! {
    SerializeTuple serialize_element
    SerializeTupleStruct serialize_field
    SerializeTupleVariant serialize_field
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Serialize;

    use super::MAX_UNPLANNED;
    use crate::encoder::Messages;
    use crate::{Enums, WriteOptions};

    #[derive(Clone, Debug, Default, Serialize)]
    struct All {
        flag: bool,
        small: i8,
        wide: i64,
        byte: u8,
        long: u64,
        single: f32,
        double: f64,
        letter: char,
        text: String,
        #[serde(with = "serde_bytes")]
        bytes: Vec<u8>,
        numbers: Vec<u8>,
        list: Vec<Vec<i32>>,
        map: BTreeMap<String, Vec<u16>>,
        option: Option<i32>,
        deep: Option<Vec<Option<String>>>,
        pair: (i32, String),
        array: [i16; 3],
        newtype: Wrapped,
        unit: Unit,
        variants: Vec<Variant>,
        inner: Option<Box<All>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        skipped: Option<u32>,
    }

    #[derive(Clone, Debug, Default, Serialize)]
    struct Wrapped(Option<u32>);

    #[derive(Clone, Debug, Default, Serialize)]
    struct Unit;

    #[derive(Clone, Debug, Serialize)]
    enum Variant {
        Bare,
        One(f64),
        Many(Vec<i32>),
        Two(i32, String),
        Named { a: i32, b: Vec<String> },
    }

    /// Announces another number of elements than it has, or none.
    #[derive(Clone, Debug)]
    struct Counted(Option<usize>, Vec<i32>);

    impl Serialize for Counted {
        fn serialize<S: serde::Serializer>(
            &self,
            serializer: S,
        ) -> Result<S::Ok, S::Error> {
            use serde::ser::SerializeSeq;
            let mut seq = serializer.serialize_seq(self.0)?;
            for element in &self.1 {
                seq.serialize_element(element)?;
            }
            seq.end()
        }
    }

    fn full(seed: i32) -> All {
        All {
            flag: seed % 2 == 0,
            small: 5,
            wide: i64::from(seed) << 33,
            byte: 200,
            long: u64::MAX,
            single: 0.5,
            double: -0.0,
            letter: 'ß',
            text: "x".repeat(seed.unsigned_abs() as usize % 20),
            bytes: vec![1, 2, 255],
            numbers: vec![0, 255],
            list: vec![vec![], vec![seed, -1]],
            map: BTreeMap::from([("k".to_owned(), vec![u16::MAX, 3])]),
            option: Some(0),
            deep: Some(vec![None, Some("deep".to_owned())]),
            pair: (seed, "p".to_owned()),
            array: [0, -300, 300],
            newtype: Wrapped(Some(3)),
            unit: Unit,
            variants: vec![
                Variant::Bare,
                Variant::One(1.5),
                Variant::Many(vec![seed]),
                Variant::Two(0, "two".to_owned()),
                Variant::Named { a: 0, b: vec!["b".to_owned()] },
            ],
            inner: None,
            skipped: None,
        }
    }

    /// Writes the values to one stream, by the plan and without, and each alone by a codec that
    /// has seen the ones before and by one that has not. If it `rests`, the last value is written
    /// by the plan when it comes again.
    fn check<T: Serialize>(options: WriteOptions, values: &[T], rests: bool) {
        let [mut planned, mut learned, mut warm] =
            [(); 3].map(|()| Messages::new(options));
        for (index, value) in values.iter().enumerate() {
            let write = |messages: &mut Messages, is_alone| {
                let mut out = vec![7];
                let done = messages.append(value, &mut out, is_alone);
                done.map(|()| out).map_err(|error| error.to_string())
            };
            learned.core.unplanned = MAX_UNPLANNED;
            learned.core.is_watched = true;
            let expected = write(&mut learned, false);
            assert_eq!(write(&mut planned, false), expected, "value {index}");
            let fresh = write(&mut Messages::new(options), true);
            assert_eq!(write(&mut warm, true), fresh, "value {index} alone");
        }
        if let Some(last) = values.last() {
            planned.core.unplanned = 0;
            assert_eq!(planned.core.planned(last, false).is_some(), rests);
        }
    }

    #[test]
    fn a_plan_writes_what_learning_writes() {
        let plain = WriteOptions::new();
        let more = All {
            inner: Some(Box::new(full(3))),
            skipped: Some(0),
            double: 0.0,
            ..full(300)
        };
        let series =
            [full(1), full(2), All::default(), full(-7), more.clone(), full(9), more];
        for options in [
            plain,
            plain.with_lossless(true),
            plain.with_go_exact(true),
            plain.with_go_names(true),
        ] {
            check(options, &series, true);
            check(options, &[&series[..], &series[..]], true);
            let long: Vec<_> = (0..60).map(|seed| series[seed % 7].clone()).collect();
            check(options, &[&long[..], &long[..5], &long[..]], true);
        }
        check(plain, &[Wrapped(None), Wrapped(Some(0)), Wrapped(Some(7))], true);
        check(plain, &[vec![-0.0, 0.0], vec![], vec![1.0]], true);
    }

    #[test]
    fn enums_are_written_as_the_options_say() {
        let names = WriteOptions::new().with_enums(Enums::Names);
        check(names, &[vec![Variant::Bare], vec![Variant::Bare; 40]], true);
        check(names, &[vec![Variant::Bare; 20], vec![Variant::One(1.0)]], false);
        let interfaces = WriteOptions::new().with_enums(Enums::Interfaces);
        check(interfaces, &[full(1), full(2), full(3)], false);
    }

    #[test]
    fn the_number_of_elements_is_the_one_there_was() {
        let elements = |count| (0..count).collect::<Vec<i32>>();
        let series = [
            Counted(Some(3), elements(3)),
            Counted(None, elements(200)),
            Counted(Some(200), elements(2)),
            Counted(Some(2), elements(0)),
            Counted(Some(0), elements(1)),
        ];
        check(WriteOptions::new(), &series, true);
        let fields: Vec<_> = series.iter().map(|counted| Some((counted, 1))).collect();
        check(WriteOptions::new(), &fields, true);
    }

    #[test]
    fn what_nests_too_deep_is_refused_as_before() {
        let nested = |levels| {
            (0..levels)
                .fold(full(1), |inner, _| All { inner: Some(Box::new(inner)), ..full(2) })
        };
        let options = WriteOptions::new().with_max_depth(8);
        check(options, &[nested(1), nested(3), nested(9), nested(2)], true);
    }
}
