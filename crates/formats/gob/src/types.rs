//! The types of a stream: descriptors as they are read, and where they are kept.
//!
//! | SPEC.md | here |
//! | --- | --- |
//! | ids | [`Types::slot`]: a dense number for each id, given when the id is first named |
//! | descriptors | [`Types::define`] |
//! | definitions inside a value | [`Types::concrete`] |
//!
//! ```text
//! wire type  = struct of seven fields, exactly one present:
//!              0 array  1 slice  2 struct  3 map  4 gob encoder  5 binary  6 text marshaler
//! each       = struct { 0 common { 0 name, 1 id }, … }
//! ```
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::arithmetic_side_effects
)]

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use crate::wire::Wire;
use crate::{Error, Result};

/// A type within one stream: a basic type's own id, or a place in the table.
pub(crate) type Slot = u32;

/// The first id that a writer may give.
pub(crate) const FIRST_FREE_ID: i64 = 64;

/// Places below this are basic types, by their ids.
pub(crate) const BASIC_SLOTS: Slot = 9;

/// Basic types: no other slot has their kinds.
pub(crate) const BOOL: Slot = 1;
pub(crate) const INT: Slot = 2;
pub(crate) const UINT: Slot = 3;
pub(crate) const FLOAT: Slot = 4;
pub(crate) const STRING: Slot = 6;

/// Remarks about fields are looked for among so many.
const MAX_REMARKED: usize = 512;

/// Ids up to here are looked up in a vector, the others in a tree.
const DENSE_IDS: usize = 1024;

/// What bytes of a type look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Named by a descriptor, not defined yet.
    Undefined,
    Bool,
    Int,
    Uint,
    Float,
    Bytes,
    String,
    Complex,
    Interface,
    Array {
        elem: Slot,
        len: u32,
    },
    Slice {
        elem: Slot,
    },
    Map {
        key: Slot,
        elem: Slot,
    },
    Struct {
        start: u32,
        len: u32,
        role: Role,
    },
    Opaque(OpaqueKind),
}

/// What a struct stands for in streams of ours; every struct of Go's is `Plain`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Plain,
    /// `Option { Some T }`: an option where it is no field.
    Option,
    /// A struct of another name whose only field is `Some`: an option for those who ask for one.
    MaybeOption,
    /// `enum Name { … }`: one field a variant, of which one is present.
    Enum,
}

/// How the descriptor of an enum's struct begins; Go reads over names.
pub(crate) const ENUM_PREFIX: &str = "enum ";
/// The name of the struct around an option that is no field.
pub(crate) const OPTION_NAME: &str = "Option";
/// The only field of that struct.
pub(crate) const SOME_NAME: &str = "Some";
/// Go matches no name that begins with `_`. What the second character of a field's name says where the first is `_`, in streams of ours;
/// the rest is the name proper.
///
/// `?`, `[` and `{` are holes: the type is open, and no value, an empty sequence or an empty map
/// is all that the writer has seen. Where a field of the same name stands before it, `?` says
/// that it is an option and `-` that it may be missing altogether.
pub(crate) const HOLE_MARKS: [(u8, FieldRole); 4] = [
    (b'?', FieldRole::Unknown),
    (b'[', FieldRole::EmptySeq),
    (b'{', FieldRole::EmptyMap),
    (b'-', FieldRole::Hidden),
];

/// What a field's absence means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FieldRole {
    /// Zero.
    Plain,
    /// None.
    Optional,
    /// Nothing: it is not handed out.
    Skippable,
    /// A remark about another field, or a hole without a name.
    Hidden,
    /// A hole: none, or whatever is asked for.
    Unknown,
    /// A hole: an empty sequence.
    EmptySeq,
    /// A hole: an empty map.
    EmptyMap,
}
/// The names of the self-encoded types that hold `i128` and `u128`.
pub(crate) const INT128_NAMES: [&str; 2] = ["int128", "uint128"];

/// How a Go type encodes itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum OpaqueKind {
    /// `GobEncode`: `time.Time`, `big.Int`.
    Gob,
    /// `MarshalBinary`.
    Binary,
    /// `MarshalText`: part of the format, written by no Go version seen.
    Text,
}

#[derive(Clone, Debug)]
struct Def {
    id: i32,
    name: Range<u32>,
    /// The id inside the descriptor, which need not be the defined one.
    inner_id: i64,
    /// The type with its names, for dynamic values; made when first asked for.
    shared: Option<Arc<StructType>>,
}

#[derive(Clone, Debug)]
pub(crate) struct Field {
    name: Range<u32>,
    pub(crate) slot: Slot,
    pub(crate) role: FieldRole,
    /// Whether the name was asked for once.
    is_asked: bool,
    /// The name by itself, from the second time on: to cut it out of all names each time costs
    /// more than what is done with it.
    known: Option<Box<str>>,
}

impl Field {
    /// The field's name, if it is often asked for.
    #[inline]
    pub(crate) fn known_name(&self) -> Option<&str> {
        self.known.as_deref()
    }
}

/// A struct type's name and the names of its fields, in the stream's order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StructType {
    pub(crate) name: Box<str>,
    pub(crate) fields: Box<[Box<str>]>,
}

/// The limits of a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TypeLimits {
    pub(crate) types: usize,
    pub(crate) fields: usize,
}

impl Default for TypeLimits {
    fn default() -> Self {
        Self { types: 65_536, fields: 1 << 20 }
    }
}

/// What a stream has defined so far.
#[derive(Clone, Debug)]
pub(crate) struct Types {
    kinds: Vec<Kind>,
    /// One for each kind from [`BASIC_SLOTS`] up.
    defs: Vec<Def>,
    fields: Vec<Field>,
    /// All names, one after the other.
    names: String,
    /// Slots of the ids from 64 up; 0 where there is none.
    dense: Vec<Slot>,
    sparse: BTreeMap<i32, Slot>,
    /// Slots in the order of their definitions.
    order: Vec<Slot>,
    /// Where in the order the definitions begin that stand together.
    groups: Vec<usize>,
    pub(crate) limits: TypeLimits,
    /// Whether "an id defined twice" begins a new stream.
    pub(crate) restarts: bool,
}

/// A state of the table to which it can be taken back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    kinds: usize,
    fields: usize,
    names: usize,
    order: usize,
}

const BASIC_KINDS: [Kind; BASIC_SLOTS as usize] = [
    Kind::Undefined,
    Kind::Bool,
    Kind::Int,
    Kind::Uint,
    Kind::Float,
    Kind::Bytes,
    Kind::String,
    Kind::Complex,
    Kind::Interface,
];

impl Default for Types {
    fn default() -> Self {
        Self {
            kinds: BASIC_KINDS.to_vec(),
            defs: Vec::new(),
            fields: Vec::new(),
            names: String::new(),
            dense: Vec::new(),
            sparse: BTreeMap::new(),
            order: Vec::new(),
            groups: Vec::new(),
            limits: TypeLimits::default(),
            restarts: false,
        }
    }
}

impl Types {
    /// Forgets all definitions and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.kinds.truncate(BASIC_SLOTS as usize);
        self.defs.clear();
        self.fields.clear();
        self.names.clear();
        self.dense.clear();
        self.sparse.clear();
        self.order.clear();
        self.groups.clear();
    }

    /// Says that the next definition stands apart from the last one.
    pub(crate) fn begin_group(&mut self) {
        let next = self.order.len();
        if self.groups.last() != Some(&next) {
            self.groups.push(next);
        }
    }

    /// Where groups of definitions begin in [`order`](Self::order).
    pub(crate) fn groups(&self) -> &[usize] {
        &self.groups
    }

    pub(crate) fn mark(&self) -> Mark {
        Mark {
            kinds: self.kinds.len(),
            fields: self.fields.len(),
            names: self.names.len(),
            order: self.order.len(),
        }
    }

    /// Takes back what was defined since `mark`.
    pub(crate) fn rollback(&mut self, mark: Mark) {
        // A type that was named before the mark and defined after it is undefined again.
        for &slot in self.order.get(mark.order..).unwrap_or_default() {
            if let Some(kind) = self.kinds.get_mut(slot as usize) {
                *kind = Kind::Undefined;
            }
        }
        self.order.truncate(mark.order);
        while self.groups.last().is_some_and(|&start| start > mark.order) {
            self.groups.pop();
        }
        let kept = mark.kinds.saturating_sub(BASIC_SLOTS as usize);
        for def in self.defs.drain(kept.min(self.defs.len())..) {
            match dense_index(def.id).and_then(|index| self.dense.get_mut(index)) {
                Some(slot) => *slot = 0,
                None => _ = self.sparse.remove(&def.id),
            }
        }
        self.kinds.truncate(mark.kinds);
        self.fields.truncate(mark.fields);
        self.names.truncate(mark.names);
    }

    #[inline]
    pub(crate) fn kind(&self, slot: Slot) -> Kind {
        self.kinds.get(slot as usize).copied().unwrap_or(Kind::Undefined)
    }

    #[inline]
    pub(crate) fn field(&self, start: u32, index: u32) -> Option<&Field> {
        self.fields.get((start as usize).wrapping_add(index as usize))
    }

    /// The field's name, of a hole the name behind its mark.
    #[inline]
    pub(crate) fn field_name(&self, field: &Field) -> &str {
        let name = self.text(&field.name);
        match field.role {
            FieldRole::Unknown | FieldRole::EmptySeq | FieldRole::EmptyMap => {
                name.get(2..).unwrap_or_default()
            }
            _ => name,
        }
    }

    /// The name of a struct's field by its number; empty where there is none.
    #[inline]
    pub(crate) fn name_of(&self, start: u32, index: u32) -> &str {
        self.field(start, index).map_or("", |field| self.field_name(field))
    }

    /// The same, as `rename` writes it, and from then on known as that.
    #[inline(never)]
    pub(crate) fn learn_renamed(
        &mut self,
        start: u32,
        index: u32,
        rename: fn(&str) -> String,
    ) -> &str {
        let at = (start as usize).wrapping_add(index as usize);
        if self.fields.get(at).is_some_and(|field| field.known.is_none()) {
            let renamed = rename(self.name_of(start, index)).into_boxed_str();
            if let Some(field) = self.fields.get_mut(at) {
                field.known = Some(renamed);
            }
        }
        self.fields.get(at).and_then(Field::known_name).unwrap_or_default()
    }

    /// The same, and makes it known if it is asked for again.
    #[inline(never)]
    pub(crate) fn learn_name(&mut self, start: u32, index: u32) -> &str {
        let at = (start as usize).wrapping_add(index as usize);
        if self.fields.get(at).is_some_and(|field| field.known.is_some()) {
            return self.fields.get(at).and_then(Field::known_name).unwrap_or_default();
        }
        let is_asked = self.fields.get(at).is_some_and(|field| field.is_asked);
        let known = is_asked.then(|| self.name_of(start, index).into());
        if let Some(field) = self.fields.get_mut(at) {
            field.is_asked = true;
            field.known = known;
        }
        self.name_of(start, index)
    }

    /// The field's name as it stands in the stream.
    pub(crate) fn raw_name(&self, field: &Field) -> &str {
        self.text(&field.name)
    }

    #[inline]
    fn text(&self, name: &Range<u32>) -> &str {
        self.names.get(name.start as usize..name.end as usize).unwrap_or_default()
    }

    fn def(&self, slot: Slot) -> Option<&Def> {
        self.defs.get((slot as usize).checked_sub(BASIC_SLOTS as usize)?)
    }

    /// The name in the descriptor, a remark only.
    pub(crate) fn name(&self, slot: Slot) -> &str {
        self.def(slot).map_or("", |def| self.text(&def.name))
    }

    /// The id on the wire.
    pub(crate) fn id(&self, slot: Slot) -> i32 {
        self.def(slot).map_or(slot.cast_signed(), |def| def.id)
    }

    pub(crate) fn inner_id(&self, slot: Slot) -> i64 {
        self.def(slot).map_or(0, |def| def.inner_id)
    }

    /// The defined types in the order in which the stream defined them.
    pub(crate) fn order(&self) -> &[Slot] {
        &self.order
    }

    /// The struct type with its names, for values that outlive the table.
    pub(crate) fn shared(&mut self, slot: Slot, start: u32, len: u32) -> Arc<StructType> {
        if let Some(shared) = self.def(slot).and_then(|def| def.shared.as_ref()) {
            return Arc::clone(shared);
        }
        let fields = (0..len)
            .filter_map(|index| Some(self.text(&self.field(start, index)?.name).into()))
            .collect();
        let shared = Arc::new(StructType { name: self.name(slot).into(), fields });
        let index = (slot as usize).saturating_sub(BASIC_SLOTS as usize);
        if let Some(def) = self.defs.get_mut(index) {
            def.shared = Some(Arc::clone(&shared));
        }
        shared
    }

    /// Whether the type is a struct without fields.
    #[inline]
    pub(crate) fn is_unit(&self, slot: Slot) -> bool {
        matches!(self.kind(slot), Kind::Struct { len: 0, .. })
    }

    /// Whether a value of one of the types may hold an interface, so that it may go on in
    /// further messages.
    #[cold]
    pub(crate) fn reaches_interface(&self, slots: &[Slot]) -> bool {
        let mut seen = vec![false; self.kinds.len()];
        let mut open = slots.to_vec();
        while let Some(slot) = open.pop() {
            match seen.get_mut(slot as usize) {
                Some(seen) if !*seen => *seen = true,
                _ => continue,
            }
            match self.kind(slot) {
                Kind::Interface => return true,
                Kind::Array { elem, .. } | Kind::Slice { elem } => open.push(elem),
                Kind::Map { key, elem } => open.extend([key, elem]),
                Kind::Struct { start, len, .. } => {
                    let fields = (0..len).filter_map(|index| self.field(start, index));
                    open.extend(fields.map(|field| field.slot));
                }
                _ => {}
            }
        }
        false
    }

    /// The slot of a type that is named by its id, defined or not.
    fn slot(&mut self, id: i64, offset: u64) -> Result<Slot> {
        if (1..i64::from(BASIC_SLOTS)).contains(&id) {
            return Ok(Slot::try_from(id).unwrap_or(0));
        }
        let Some(id) =
            i32::try_from(id).ok().filter(|&id| i64::from(id) >= FIRST_FREE_ID)
        else {
            let text = format!("expected the id of a type, found {id}");
            return Err(Error::syntax(text).at(offset));
        };
        let dense = dense_index(id);
        let known = match dense {
            Some(index) => self.dense.get(index).copied().filter(|&slot| slot != 0),
            None => self.sparse.get(&id).copied(),
        };
        if let Some(slot) = known {
            return Ok(slot);
        }
        let count = self.kinds.len();
        if self.defs.len() >= self.limits.types {
            let text = format!("expected at most {} types", self.limits.types);
            return Err(Error::limit(text).at(offset));
        }
        let slot = Slot::try_from(count).map_err(|_| Error::limit("too many types"))?;
        match dense {
            Some(index) => {
                if self.dense.len() <= index {
                    self.dense.resize(index.saturating_add(1), 0);
                }
                if let Some(place) = self.dense.get_mut(index) {
                    *place = slot;
                }
            }
            None => _ = self.sparse.insert(id, slot),
        }
        self.kinds.push(Kind::Undefined);
        self.defs.push(Def { id, name: 0..0, inner_id: 0, shared: None });
        Ok(slot)
    }

    /// The slot of a value's type: an error unless it is defined.
    pub(crate) fn of_value(&mut self, id: i64, offset: u64) -> Result<Slot> {
        let slot = self.slot(id, offset)?;
        if self.kind(slot) == Kind::Undefined {
            let text = format!("expected a type that is defined, found {id}");
            return Err(Error::syntax(text).at(offset));
        }
        Ok(slot)
    }

    /// Reads the type of an interface's value, after its name, and the length of the value.
    pub(crate) fn concrete<W: Wire + ?Sized>(&mut self, wire: &mut W) -> Result<Slot> {
        self.begin_group();
        let slot = loop {
            if wire.left() == 0 {
                wire.next_message()?;
            }
            let offset = wire.offset();
            let id = wire.int()?;
            if id >= 0 {
                break self.of_value(id, offset)?;
            }
            self.define(wire, id, offset)?;
            if wire.left() > 0 {
                // The length of the next chunk says nothing that the bytes do not say.
                wire.uint()?;
            }
        };
        // It is the length of the first chunk only, so nothing can be made of it.
        wire.uint()?;
        Ok(slot)
    }

    /// Reads the descriptor that follows the negative `id`.
    pub(crate) fn define<W: Wire + ?Sized>(
        &mut self,
        wire: &mut W,
        id: i64,
        offset: u64,
    ) -> Result<()> {
        let Some(id) = id.checked_neg().filter(|&id| id >= FIRST_FREE_ID) else {
            let text = format!("expected the id of a new type, found {id}");
            return Err(Error::syntax(text).at(offset));
        };
        let mut slot = self.slot(id, offset)?;
        if self.kind(slot) != Kind::Undefined {
            if !self.restarts {
                let text = format!("expected a new type, found {id} defined again");
                return Err(Error::syntax(text).at(offset));
            }
            self.clear();
            slot = self.slot(id, offset)?;
        }
        let mut common = Common::default();
        let mut kind = None;
        each_field(wire, 7, |number, wire| {
            if kind.is_some() {
                return Err(wire.wrong("expected one kind in a descriptor, found two"));
            }
            kind = Some(match number {
                0 => self.array(wire, &mut common)?,
                1 => self.slice(wire, &mut common)?,
                2 => self.structure(wire, &mut common)?,
                3 => self.map(wire, &mut common)?,
                _ => {
                    each_field(wire, 1, |_, wire| self.common(wire, &mut common))?;
                    Kind::Opaque(match number {
                        4 => OpaqueKind::Gob,
                        5 => OpaqueKind::Binary,
                        _ => OpaqueKind::Text,
                    })
                }
            });
            Ok(())
        })?;
        let kind = kind.ok_or_else(|| wire.wrong("expected a kind in a descriptor"))?;
        let kind = self.with_role(kind, &common);
        let index = (slot as usize).saturating_sub(BASIC_SLOTS as usize);
        if let (Some(place), Some(def)) =
            (self.kinds.get_mut(slot as usize), self.defs.get_mut(index))
        {
            *place = kind;
            def.name = common.name;
            def.inner_id = common.id;
            def.shared = None;
        }
        self.order.push(slot);
        Ok(())
    }

    /// Recognises the structs that stand for options and enums in streams of ours.
    fn with_role(&self, kind: Kind, common: &Common) -> Kind {
        let Kind::Struct { start, len, .. } = kind else { return kind };
        let name = self.text(&common.name);
        let role = if name.starts_with(ENUM_PREFIX) {
            Role::Enum
        } else if name == OPTION_NAME
            && len == 1
            && self.field(start, 0).is_some_and(|field| {
                field.role == FieldRole::Unknown || self.field_name(field) == SOME_NAME
            })
        {
            Role::Option
        } else if len == 1
            && self
                .field(start, 0)
                .is_some_and(|field| self.field_name(field) == SOME_NAME)
        {
            Role::MaybeOption
        } else {
            Role::Plain
        };
        Kind::Struct { start, len, role }
    }

    fn common<W: Wire + ?Sized>(&mut self, wire: &mut W, to: &mut Common) -> Result<()> {
        each_field(wire, 2, |number, wire| {
            match number {
                0 => to.name = self.take_name(wire)?,
                _ => to.id = wire.int()?,
            }
            Ok(())
        })
    }

    fn take_name<W: Wire + ?Sized>(&mut self, wire: &mut W) -> Result<Range<u32>> {
        let offset = wire.offset();
        let Ok(name) = std::str::from_utf8(wire.bytes()?) else {
            return Err(Error::syntax("expected a name in UTF-8").at(offset));
        };
        let start = self.names.len();
        self.names.push_str(name);
        match (u32::try_from(start), u32::try_from(self.names.len())) {
            (Ok(start), Ok(end)) => Ok(start..end),
            _ => Err(Error::limit("expected names of at most 4 GiB").at(offset)),
        }
    }

    fn take_slot<W: Wire + ?Sized>(&mut self, wire: &mut W) -> Result<Slot> {
        let offset = wire.offset();
        let id = wire.int()?;
        self.slot(id, offset)
    }

    fn array<W: Wire + ?Sized>(&mut self, wire: &mut W, to: &mut Common) -> Result<Kind> {
        let (mut elem, mut len) = (None, 0);
        each_field(wire, 3, |number, wire| {
            match number {
                0 => self.common(wire, to)?,
                1 => elem = Some(self.take_slot(wire)?),
                _ => {
                    let count = wire.int()?;
                    len = i32::try_from(count)
                        .ok()
                        .and_then(|count| u32::try_from(count).ok())
                        .ok_or_else(|| wire.wrong("expected the length of an array"))?;
                }
            }
            Ok(())
        })?;
        let elem =
            elem.ok_or_else(|| wire.wrong("expected the type of an array's elements"))?;
        Ok(Kind::Array { elem, len })
    }

    fn slice<W: Wire + ?Sized>(&mut self, wire: &mut W, to: &mut Common) -> Result<Kind> {
        let mut elem = None;
        each_field(wire, 2, |number, wire| {
            match number {
                0 => self.common(wire, to)?,
                _ => elem = Some(self.take_slot(wire)?),
            }
            Ok(())
        })?;
        let elem =
            elem.ok_or_else(|| wire.wrong("expected the type of a slice's elements"))?;
        Ok(Kind::Slice { elem })
    }

    fn map<W: Wire + ?Sized>(&mut self, wire: &mut W, to: &mut Common) -> Result<Kind> {
        let (mut key, mut elem) = (None, None);
        each_field(wire, 3, |number, wire| {
            match number {
                0 => self.common(wire, to)?,
                1 => key = Some(self.take_slot(wire)?),
                _ => elem = Some(self.take_slot(wire)?),
            }
            Ok(())
        })?;
        match (key, elem) {
            (Some(key), Some(elem)) => Ok(Kind::Map { key, elem }),
            _ => Err(wire.wrong("expected the types of a map's keys and elements")),
        }
    }

    fn structure<W: Wire + ?Sized>(
        &mut self,
        wire: &mut W,
        to: &mut Common,
    ) -> Result<Kind> {
        let start = self.fields.len();
        each_field(wire, 2, |number, wire| match number {
            0 => self.common(wire, to),
            _ => self.fields(wire),
        })?;
        self.find_roles(start);
        let len = self.fields.len().saturating_sub(start);
        match (u32::try_from(start), u32::try_from(len)) {
            (Ok(start), Ok(len)) => Ok(Kind::Struct { start, len, role: Role::Plain }),
            _ => Err(wire.wrong("expected fewer fields")),
        }
    }

    /// Sees which of the fields from `start` on are holes and remarks.
    fn find_roles(&mut self, start: usize) {
        let count = self.fields.len().saturating_sub(start);
        for number in 0..count {
            let index = start.saturating_add(number);
            let Some(field) = self.fields.get(index) else { return };
            let (role, mark, name) = match self.text(&field.name).as_bytes() {
                b"_" => (FieldRole::Hidden, 0, &b""[..]),
                [b'_', mark, name @ ..] => {
                    let known = HOLE_MARKS.iter().find(|(known, _)| known == mark);
                    let Some(&(_, role)) = known else { continue };
                    (role, *mark, name)
                }
                _ => continue,
            };
            // Remarks stand within the first fields of types of ours; a search among very many
            // would be a way to waste time.
            let named = (number <= MAX_REMARKED)
                .then(|| {
                    let before = self.fields.get(start..index).unwrap_or_default();
                    before
                        .iter()
                        .position(|other| self.text(&other.name).as_bytes() == name)
                })
                .flatten()
                .map(|before| start.saturating_add(before));
            let (role, remark) = match (mark, named) {
                (b'?', Some(_)) => (FieldRole::Hidden, Some(FieldRole::Optional)),
                (b'-', Some(_)) => (FieldRole::Hidden, Some(FieldRole::Skippable)),
                _ => (role, None),
            };
            if let Some(field) = self.fields.get_mut(index) {
                field.role = role;
            }
            if let (Some(other), Some(remark)) = (named, remark)
                && let Some(other) = self.fields.get_mut(other)
                && other.role != FieldRole::Skippable
            {
                other.role = remark;
            }
        }
    }

    fn fields<W: Wire + ?Sized>(&mut self, wire: &mut W) -> Result<()> {
        let count = wire.uint()?;
        // A field takes five bytes at least: its two deltas, name, id and end.
        if count > wire.left() as u64 / 5 {
            return Err(wire.wrong(
                "expected the fields of a struct, found more announced \
                                   than the message holds",
            ));
        }
        for _ in 0..count {
            if self.fields.len() >= self.limits.fields {
                let text = format!("expected at most {} fields", self.limits.fields);
                return Err(Error::limit(text).at(wire.offset()));
            }
            let (mut name, mut slot) = (0..0, None);
            each_field(wire, 2, |number, wire| {
                match number {
                    0 => name = self.take_name(wire)?,
                    _ => slot = Some(self.take_slot(wire)?),
                }
                Ok(())
            })?;
            match slot {
                Some(slot) if !name.is_empty() => {
                    self.fields.push(Field {
                        name,
                        slot,
                        role: FieldRole::Plain,
                        is_asked: false,
                        known: None,
                    });
                }
                _ => return Err(wire.wrong("expected the name and the type of a field")),
            }
        }
        Ok(())
    }
}

/// What all descriptors begin with.
#[derive(Clone, Debug, Default)]
struct Common {
    name: Range<u32>,
    id: i64,
}

fn dense_index(id: i32) -> Option<usize> {
    let index = usize::try_from(i64::from(id).wrapping_sub(FIRST_FREE_ID)).ok()?;
    (index < DENSE_IDS).then_some(index)
}

/// Reads a struct of the format's own: hands the number of each field to `each`.
fn each_field<W: Wire + ?Sized>(
    wire: &mut W,
    count: u64,
    mut each: impl FnMut(u64, &mut W) -> Result<()>,
) -> Result<()> {
    // One more than the number of the last field.
    let mut next = 0_u64;
    loop {
        let delta = wire.uint()?;
        if delta == 0 {
            return Ok(());
        }
        next = next.saturating_add(delta);
        if next > count {
            return Err(wire.wrong("expected a field of a descriptor"));
        }
        each(next.saturating_sub(1), wire)?;
    }
}
