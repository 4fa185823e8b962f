//! From any `Serialize` to the bytes of one value, learning its type on the way.
//!
//! Every position has a node in [`Shapes`]. Where the node agrees with the value, which is
//! nearly always, the value is written and nothing else happens; where it is unknown, it is
//! filled in; where it disagrees, the value is given up, the node becomes an interface, and the
//! value is written again from its start.
//!
//! Values that hold nothing new, and elements like those before them, do not come here at all:
//! see `planned`.

#![expect(
    clippy::inline_always,
    reason = "left to itself, the compiler returns half-written structs through memory, where \
              each waits for the stores of the one before: 1.6 times the time for 10,000 people"
)]

use std::borrow::Cow;

use serde::ser::{self, Serialize};

use crate::dynamic::flush_into;
use crate::plan::{BYTE_STEP, Plan};
use crate::shape::{
    ANY, BYTE, CONFLICT, Concrete, DefId, FieldDef, Kind, Node, NodeId, OMITTED,
    OPTIONAL, SENT, SKIPPABLE, Shapes, TEXT,
};
use crate::special::{COMPLEX_TOKEN, INTERFACE_TOKEN, OPAQUE_TOKEN};
use crate::time::TIME_TOKEN;
use crate::types::{INT128_NAMES, OpaqueKind};
use crate::wire::{
    put_bytes, put_delta_bytes, put_delta_uint, put_float, put_uint, uint_bytes,
    uint_word, zigzag,
};
use crate::{Enums, Error, Opaque, Result, WriteOptions};

/// What is shared by all positions of one value.
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) shapes: Shapes,
    /// The message so far.
    pub(crate) out: Vec<u8>,
    pub(crate) options: WriteOptions,
    pub(crate) levels: u32,
    pub(crate) wraps: u32,
    /// How to write what holds nothing new.
    pub(crate) plan: Plan,
    /// How many values in a row were not as planned.
    pub(crate) unplanned: u32,
    /// Whether all that the value touches must be noted in the nodes.
    pub(crate) is_watched: bool,
    /// The position whose node disagrees with the value.
    conflict: Option<NodeId>,
    /// Whether the value must be written again, since its types were changed.
    again: bool,
    /// Whether the value cannot be written again.
    pub(crate) one_pass: bool,
    /// The registered name for the next interface.
    interface_name: Option<String>,
    /// Whether an id of a type that is defined stands in the value.
    had_interface: bool,
    /// What is unusual about structs and sequences that are being written.
    extras: Vec<Extra>,
}

/// What is unusual about a struct or a sequence that is being written. It is kept apart from
/// what each has, so that the usual ones stay in registers.
#[derive(Clone, Copy, Debug, Default)]
struct Extra {
    /// Whether the position got its definition from this value.
    is_bound_now: bool,
    /// Whether fields may be added to the definition.
    is_creator: bool,
    /// Whether it is the content of a variant.
    is_variant: bool,
    /// Where it begins behind the name of an interface's type.
    mark: Option<usize>,
    /// What it is in an interface.
    concrete: Option<Concrete>,
}

/// More rewrites than this for one value are a mistake of ours, or of a `Serialize` that says
/// something else each time.
const MAX_PASSES: u32 = 10_000;

/// Variants beyond this have numbers that no enum has.
const MAX_VARIANTS: u32 = 65_536;

impl Core {
    pub(crate) fn new(options: WriteOptions) -> Self {
        Self {
            shapes: Shapes::new(options.first_id, options.go_names),
            out: Vec::new(),
            options,
            levels: 0,
            wraps: 0,
            plan: Plan::default(),
            unplanned: 0,
            is_watched: false,
            conflict: None,
            again: false,
            one_pass: false,
            interface_name: None,
            had_interface: false,
            extras: Vec::new(),
        }
    }

    /// Writes `value` behind what is in `out`: its bytes only, without id and length. Returns
    /// the node of its type.
    pub(crate) fn value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<NodeId> {
        let start = self.out.len();
        for _ in 0..MAX_PASSES {
            self.begin();
            let root = self.shapes.root(std::any::type_name::<T>());
            let done = value.serialize(Sub::new(self, root, 0, 0));
            if let Some(node) = self.conflict.take() {
                self.shapes.calm();
                self.out.truncate(start);
                // A type may write itself otherwise than it reads itself.
                if self.shapes.forget_traced() {
                    continue;
                }
                self.resolve(node);
                continue;
            }
            if std::mem::take(&mut self.again) {
                self.shapes.calm();
                self.out.truncate(start);
                continue;
            }
            return match done {
                Ok(()) => Ok(root),
                Err(error) => {
                    self.shapes.calm();
                    self.out.truncate(start);
                    Err(error)
                }
            };
        }
        Err(Error::unsupported("expected a value that serializes the same each time"))
    }

    /// The position of a value that is written once, and its node.
    pub(crate) fn begin_one_pass(&mut self) -> (NodeId, Sub<'_>) {
        self.begin();
        // Each value is a root of its own; structs have their names in common.
        let root = self.shapes.add(Kind::Unknown);
        self.shapes.change();
        (root, Sub::new(self, root, 0, 0))
    }

    /// Whether the value that was written once can stand.
    pub(crate) fn check_one_pass(&mut self) -> Result<()> {
        self.shapes.calm();
        let is_again = std::mem::take(&mut self.again);
        match self.conflict.take() {
            Some(node) => {
                self.resolve(node);
                Err(only_once())
            }
            None if is_again => Err(only_once()),
            None => Ok(()),
        }
    }

    fn begin(&mut self) {
        self.levels = self.options.max_depth;
        self.wraps = self.options.max_depth.saturating_mul(2);
        self.interface_name = None;
        self.had_interface = false;
        self.extras.clear();
        self.shapes.begin();
    }

    fn resolve(&mut self, node: NodeId) {
        match node {
            TEXT => self.shapes.any_keys = true,
            node => {
                self.shapes.set(node, Kind::Interface, 0);
                self.shapes.flag(node, CONFLICT);
            }
        }
    }

    #[inline]
    fn enter(&mut self) -> Result<()> {
        match self.levels.checked_sub(1) {
            Some(levels) => {
                self.levels = levels;
                Ok(())
            }
            None => Err(self.too_deep()),
        }
    }

    #[inline]
    fn leave(&mut self) {
        self.levels += 1;
    }

    #[inline]
    fn wrap(&mut self) -> Result<()> {
        match self.wraps.checked_sub(1) {
            Some(wraps) => {
                self.wraps = wraps;
                Ok(())
            }
            None => Err(self.too_deep()),
        }
    }

    #[inline]
    fn unwrap(&mut self) {
        self.wraps += 1;
    }

    #[cold]
    fn too_deep(&self) -> Error {
        let max = self.options.max_depth;
        Error::limit(format!("expected at most {max} levels of nesting"))
    }
}

#[cold]
fn only_once() -> Error {
    Error::unsupported(
        "expected a value of the type seen before; the next time it is an interface",
    )
}

/// A zero is left out: the position is a field.
const FIELD: u8 = 1;
/// A zero is written all the same: it stands in a `Some`.
pub(crate) const FORCE: u8 = 2;
/// The position is an element of a sequence, where `u8` makes bytes.
const ELEMENT: u8 = 4;
/// What follows is the name of an interface's type.
const NAME: u8 = 8;
/// What follows is the payload of a time.
const TIME: u8 = 16;
/// What follows is a self-encoded value.
const OPAQUE: u8 = 32;
/// What follows is a pair: a complex number, or a part of one.
const COMPLEX: u8 = 64;
/// What follows is a pair: an interface's name and its value.
const INTERFACE: u8 = 128;

/// One position of the value.
///
/// Two words, so that it is passed in registers: through memory it costs more than what it says.
pub(crate) struct Sub<'a> {
    core: &'a mut Core,
    place: Place,
}

/// The node of a position, what is written before its value (in a struct, the way from the last
/// field) and flags.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place(u64);

impl Place {
    #[inline(always)]
    pub(crate) fn new(node: NodeId, delta: u32, flags: u8) -> Self {
        Self(u64::from(node) | u64::from(delta) << 32 | u64::from(flags) << 56)
    }

    #[inline]
    pub(crate) fn node(self) -> NodeId {
        (self.0 & 0xffff_ffff) as NodeId
    }

    #[inline]
    pub(crate) fn delta(self) -> u32 {
        (self.0 >> 32) as u32 & MAX_DELTA
    }

    #[inline]
    pub(crate) fn flags(self) -> u8 {
        (self.0 >> 56) as u8
    }

    #[inline]
    pub(crate) fn with(self, flags: u8) -> Self {
        Self(self.0 | u64::from(flags) << 56)
    }
}

/// Structs with more fields are not written.
const MAX_DELTA: u32 = 0xff_ffff;

impl<'a> Sub<'a> {
    #[inline(always)]
    fn new(core: &'a mut Core, node: NodeId, delta: u32, flags: u8) -> Self {
        Self { core, place: Place::new(node, delta, flags) }
    }

    #[inline(always)]
    fn kind(&mut self) -> Kind {
        self.core.shapes.look(self.place.node()).kind
    }

    /// Whether a zero is left out here.
    #[inline(always)]
    fn omits(&self) -> bool {
        self.place.flags() & (FIELD | FORCE) == FIELD
    }

    /// Leaves a zero out; false if it must be written.
    #[inline]
    fn omit(&mut self) -> bool {
        if !self.omits() {
            return false;
        }
        let flags = self.core.shapes.node(self.place.node()).flags;
        if flags & SKIPPABLE != 0 {
            return false;
        }
        if flags & OMITTED == 0 {
            self.core.shapes.flag(self.place.node(), OMITTED);
        }
        true
    }

    #[inline]
    fn start(&mut self) {
        if self.place.delta() > 0 {
            put_uint(&mut self.core.out, u64::from(self.place.delta()));
        }
    }

    /// Says that the position's node and the value disagree.
    #[cold]
    #[inline(never)]
    fn conflict<T>(self) -> Result<T> {
        self.core.conflict.get_or_insert(self.place.node());
        Err(Error::data("the types of values disagree"))
    }

    /// Takes `kind` for the position if nothing is known of it; whether it has it now.
    #[cold]
    #[inline(never)]
    fn learn(&mut self, kind: Kind) -> bool {
        match self.kind() {
            Kind::Unknown => {
                self.core.shapes.set(self.place.node(), kind, 0);
                true
            }
            known => known == kind,
        }
    }

    #[cold]
    fn misused<T>() -> Result<T> {
        Err(Error::data("a newtype of this crate holds what it must not hold"))
    }

    /// Writes the value of an interface that is of a basic type.
    #[cold]
    #[inline(never)]
    fn interface_scalar(
        mut self,
        name: &str,
        id: u8,
        put: impl FnOnce(&mut Vec<u8>),
    ) -> Result<()> {
        let mark = self.begin_interface(name)?;
        self.core.out.push(0);
        put(&mut self.core.out);
        self.core.end_interface(mark, i32::from(id));
        Ok(())
    }

    /// Writes the head of an interface's value up to its name; where the rest begins.
    fn begin_interface(&mut self, name: &str) -> Result<usize> {
        self.core.shapes.note(self.place.node(), name);
        self.start();
        let named = self.core.interface_name.take();
        let name = named.as_deref().filter(|name| !name.is_empty()).unwrap_or(name);
        if name.is_empty() || name.len() > crate::read::MAX_INTERFACE_NAME {
            return Err(Error::unsupported("expected a type's name of 1 to 1,024 bytes"));
        }
        put_bytes(&mut self.core.out, name.as_bytes());
        Ok(self.core.out.len())
    }

    #[inline(always)]
    fn sequence(self, len: Option<usize>) -> Result<Seq<'a>> {
        let Node { kind, at, .. } = self.core.shapes.look(self.place.node());
        if kind != Kind::Slice {
            return self.unusual_sequence(len);
        }
        self.core.enter()?;
        let start = self.core.out.len();
        Ok(Seq::new(self, at, len, start, 0))
    }

    #[inline(never)]
    fn unusual_sequence(mut self, len: Option<usize>) -> Result<Seq<'a>> {
        let node = self.place.node();
        let start = self.core.out.len();
        let elem = match self.core.shapes.look(node).kind {
            Kind::Bytes => BYTE,
            Kind::Unknown => {
                let elem = self.core.shapes.add(Kind::Unknown);
                self.core.shapes.set(node, Kind::Slice, elem);
                elem
            }
            Kind::Interface => {
                let mark = self.begin_interface("[]interface {}")?;
                let extra = self.core.begin_concrete(mark, Concrete::AnySlice)?;
                return Ok(Seq::new(self, ANY, len, start, extra));
            }
            _ => return self.conflict(),
        };
        self.core.enter()?;
        Ok(Seq::new(self, elem, len, start, 0))
    }

    /// Writes a struct without fields.
    fn unit(mut self, name: &'static str) -> Result<()> {
        match self.kind() {
            Kind::Unit => {}
            Kind::Unknown => {
                let def = self.core.shapes.unit(name);
                self.core.shapes.set(self.place.node(), Kind::Unit, def);
            }
            Kind::Interface => {
                // Nil; in a field it is what is left out.
                self.core.shapes.note(self.place.node(), "nil");
                if self.omits() {
                    return Ok(());
                }
            }
            _ => return self.conflict(),
        }
        self.start();
        self.core.out.push(0);
        Ok(())
    }

    fn opaque(
        mut self,
        kind: OpaqueKind,
        name: &str,
        payload: &[u8],
        is_zero: bool,
    ) -> Result<()> {
        let Node { kind: known, at, .. } = self.core.shapes.look(self.place.node());
        match known {
            Kind::Opaque => {
                let (a, b) = &self.core.shapes.opaques[at as usize];
                if *a != kind || b != name {
                    return self.conflict();
                }
            }
            Kind::Unknown => {
                let at = self.core.shapes.opaque(kind, name);
                self.core.shapes.set(self.place.node(), Kind::Opaque, at);
            }
            Kind::Interface => {
                let go_name = match name {
                    "Time" => "time.Time",
                    name if INT128_NAMES.contains(&name) => "*big.Int",
                    "" => "opaque",
                    name => name,
                };
                let at = self.core.shapes.opaque(kind, name);
                let mark = self.begin_interface(go_name)?;
                self.core.out.push(0);
                put_bytes(&mut self.core.out, payload);
                let id = self.core.shapes.concrete(Concrete::Opaque(at));
                self.core.end_interface(mark, id);
                return Ok(());
            }
            _ => return self.conflict(),
        }
        if is_zero && self.omit() {
            return Ok(());
        }
        self.start();
        put_bytes(&mut self.core.out, payload);
        Ok(())
    }

    /// An integer of 128 bits, as `big.Int` encodes itself.
    fn int128(self, negative: bool, magnitude: u128, name: &str) -> Result<()> {
        let bytes = magnitude.to_be_bytes();
        let zeros = (magnitude.leading_zeros() / 8) as usize;
        let mut payload = vec![if negative { 3 } else { 2 }];
        payload.extend_from_slice(&bytes[zeros..]);
        self.opaque(OpaqueKind::Gob, name, &payload, magnitude == 0)
    }

    /// Goes to the variant of an enum: its position, with what stands before it written.
    fn variant(
        mut self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        is_unit: bool,
    ) -> Result<(Sub<'a>, Option<Mark>)> {
        let Node { kind, at, .. } = self.core.shapes.look(self.place.node());
        let mut mark = None;
        let def = match kind {
            Kind::Enum if self.core.shapes.defs[at as usize].name == name => at,
            Kind::Unknown => {
                let def = self.core.shapes.bind(name, true, self.place.node());
                self.core.shapes.set(self.place.node(), Kind::Enum, def);
                def
            }
            Kind::Interface => {
                let at =
                    self.begin_interface(if name.is_empty() { variant } else { name })?;
                let def = self.core.shapes.bind(name, true, self.place.node());
                mark = Some(Mark { at, def });
                def
            }
            _ => return self.conflict(),
        };
        // A unit variant takes no level, as in other formats.
        if !is_unit {
            self.core.enter()?;
        }
        if mark.is_none() {
            self.start();
        }
        let fields = &mut self.core.shapes.defs[def as usize].fields;
        let known = fields.get(index as usize).and_then(|field| field.node);
        let node = if let Some(node) = known {
            node
        } else {
            if index >= MAX_VARIANTS {
                return Err(Error::unsupported("expected fewer variants"));
            }
            let index = index as usize;
            while fields.len() <= index {
                fields.push(FieldDef { name: "_".into(), node: None });
            }
            let node = self.core.shapes.add(Kind::Unknown);
            self.core.shapes.flag(node, SENT);
            self.core.shapes.change();
            let fields = &mut self.core.shapes.defs[def as usize].fields;
            fields[index] = FieldDef { name: variant.into(), node: Some(node) };
            node
        };
        let sub = Sub::new(self.core, node, index.saturating_add(1), 0);
        Ok((sub, mark))
    }

    /// In the option `Names` and `Interfaces`, what an enum is instead of a struct.
    fn renamed_variant(
        self,
        variant: &'static str,
        is_unit: bool,
    ) -> Result<Result<Sub<'a>, Sub<'a>>> {
        match self.core.options.enums {
            Enums::Structs => Ok(Err(self)),
            Enums::Names if is_unit => Ok(Err(self)),
            Enums::Names => Err(Error::unsupported(
                "a variant with content cannot be written as its name",
            )),
            Enums::Interfaces => {
                let mut sub = self;
                if sub.learn(Kind::Interface) {
                    sub.core.interface_name = Some(variant.to_owned());
                    Ok(Ok(sub))
                } else {
                    sub.conflict()
                }
            }
        }
    }

    #[inline(always)]
    fn structure(mut self, name: &'static str) -> Result<Struct<'a>> {
        let Node { kind, at, .. } = self.core.shapes.look(self.place.node());
        if kind == Kind::Struct {
            let def = &self.core.shapes.defs[at as usize];
            if def.is_complete
                && let Cow::Borrowed(known) = def.name
                && std::ptr::eq(known, name)
            {
                self.core.enter()?;
                self.start();
                let node = self.place.node();
                return Ok(Struct {
                    core: self.core,
                    node: node.into(),
                    def: at as usize,
                    next: 0,
                    last: 0,
                    extra: 0,
                });
            }
        }
        self.unusual_structure(name, false)
    }

    #[inline(never)]
    fn unusual_structure(
        mut self,
        name: &'static str,
        is_variant: bool,
    ) -> Result<Struct<'a>> {
        let node = self.place.node();
        let Node { kind, at, .. } = self.core.shapes.look(node);
        let mut extra = Extra { is_variant, ..Extra::default() };
        let def = match kind {
            Kind::Struct
                if self.core.shapes.defs[at as usize].name == name || is_variant =>
            {
                at
            }
            Kind::Unknown => {
                extra.is_bound_now = true;
                let shapes = &mut self.core.shapes;
                let def = if is_variant {
                    // A variant's fields belong to it alone.
                    let def = shapes.def(name.into(), false);
                    shapes.defs[def as usize].uses = 0;
                    def
                } else {
                    shapes.bind(name, false, node)
                };
                shapes.set(node, Kind::Struct, def);
                def
            }
            Kind::Interface => {
                let name = if name.is_empty() { "struct" } else { name };
                extra.mark = Some(self.begin_interface(name)?);
                extra.is_bound_now = true;
                self.core.shapes.bind(name, false, node)
            }
            _ => return self.conflict(),
        };
        self.core.enter()?;
        if extra.mark.is_none() {
            self.start();
        }
        let entry = &mut self.core.shapes.defs[def as usize];
        if !entry.is_complete && !entry.is_being_made {
            entry.is_being_made = true;
            extra.is_creator = true;
        }
        self.core.extras.push(extra);
        let extra = self.core.extras.len();
        Ok(Struct {
            core: self.core,
            node: node.into(),
            def: def as usize,
            next: 0,
            last: 0,
            extra,
        })
    }

    fn tuple(mut self, name: &'static str, len: usize, closes: u8) -> Result<Form<'a>> {
        if self.place.flags() & COMPLEX != 0 {
            return self.complex();
        }
        if self.place.flags() & INTERFACE != 0 {
            if !self.learn(Kind::Interface) {
                return self.conflict();
            }
            let Self { core, place } = self;
            let (node, delta) = (place.node(), place.delta());
            let flags = place.flags() & !INTERFACE;
            return Ok(Form::Interface { core, node, delta, flags, is_named: false });
        }
        let Node { kind, at, .. } = self.core.shapes.look(self.place.node());
        let def = match kind {
            Kind::Tuple | Kind::Array => {
                if self.core.shapes.defs[at as usize].fields.len() != len {
                    return self.conflict();
                }
                at
            }
            Kind::Interface if closes == 0 => {
                return self.sequence(Some(len)).map(Form::Seq);
            }
            Kind::Unknown if len >= MAX_DELTA as usize => {
                return Err(Error::unsupported("expected a tuple of fewer elements"));
            }
            Kind::Unknown => {
                let shapes = &mut self.core.shapes;
                let def = shapes.def(name.into(), false);
                shapes.defs[def as usize].uses = 0;
                // The length comes from the value, yet a node is made for each.
                let fields: Vec<_> = (0..len)
                    .map(|index| FieldDef {
                        name: Cow::Owned(format!("F{index}")),
                        node: Some(shapes.add(Kind::Unknown)),
                    })
                    .collect();
                shapes.defs[def as usize].fields = fields;
                shapes.set(self.place.node(), Kind::Tuple, def);
                def
            }
            _ => return self.conflict(),
        };
        self.core.enter()?;
        self.start();
        let is_complete = self.core.shapes.defs[def as usize].is_complete;
        let is_new = !is_complete && name.is_empty() && !self.core.one_pass;
        let parts = Parts {
            core: self.core,
            node: self.place.node(),
            def,
            len,
            next: 0,
            last: 0,
            closes,
            is_new,
        };
        Ok(if kind == Kind::Array {
            put_uint(&mut parts.core.out, len as u64);
            Form::Array(parts)
        } else {
            Form::Struct(parts)
        })
    }

    fn complex(mut self) -> Result<Form<'a>> {
        if !self.learn(Kind::Complex) && self.kind() != Kind::Interface {
            return self.conflict();
        }
        let start = self.core.out.len();
        let omits = self.omits();
        let mark = if self.kind() == Kind::Interface {
            let mark = self.begin_interface("complex128")?;
            self.core.out.push(0);
            Some(mark)
        } else {
            self.start();
            None
        };
        let Self { core, place } = self;
        let node = place.node();
        Ok(Form::Complex { core, node, start, is_zero: true, omits, mark })
    }
}

/// Where an interface's value begins, behind its name, and what it is.
#[derive(Clone, Copy, Debug)]
struct Mark {
    at: usize,
    def: DefId,
}

impl Core {
    /// Begins the value of an interface that is a container; where it is noted.
    fn begin_concrete(&mut self, mark: usize, concrete: Concrete) -> Result<usize> {
        self.enter()?;
        self.out.push(0);
        let (mark, concrete) = (Some(mark), Some(concrete));
        self.extras.push(Extra { mark, concrete, ..Extra::default() });
        Ok(self.extras.len())
    }

    /// Puts the id and the length of an interface's value before it.
    fn end_interface(&mut self, at: usize, id: i32) {
        let len = self.out.len() - at;
        self.had_interface |= id >= 64;
        let (id_word, id_len) = uint_word(zigzag(i64::from(id)));
        let (len_word, len_len) = uint_word(len as u64);
        let head = (id_word | len_word << (8 * id_len)).to_le_bytes();
        let used = id_len + len_len;
        flush_into(&mut self.out, at, &head[..used]);
    }
}

macro_rules! scalar {
    ($($method:ident($type:ty) $kind:ident, $name:literal $id:literal, |$value:ident| $word:expr;)*) => {
        $(#[inline(always)]
        fn $method(mut self, $value: $type) -> Result<()> {
            if self.kind() != Kind::$kind && !self.learn(Kind::$kind) {
                return match self.kind() {
                    Kind::Interface => {
                        self.interface_scalar($name, $id, |out| put_uint(out, $word))
                    }
                    _ => self.conflict(),
                };
            }
            let word = $word;
            if word == 0 && self.omit() {
                return Ok(());
            }
            put_delta_uint(&mut self.core.out, self.place.delta(), word);
            Ok(())
        })*
    };
}

impl<'a> ser::Serializer for Sub<'a> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Seq<'a>;
    type SerializeTuple = Tuple<'a>;
    type SerializeTupleStruct = Tuple<'a>;
    type SerializeTupleVariant = Tuple<'a>;
    type SerializeMap = Map<'a>;
    type SerializeStruct = Struct<'a>;
    type SerializeStructVariant = Struct<'a>;

    scalar! {
        serialize_bool(bool) Bool, "bool" 1, |value| u64::from(value);
        serialize_i64(i64) Int, "int" 2, |value| zigzag(value);
        serialize_u64(u64) Uint, "uint" 3, |value| value;
    }

    #[inline]
    fn serialize_i8(self, value: i8) -> Result<()> {
        self.serialize_i64(value.into())
    }

    #[inline]
    fn serialize_i16(self, value: i16) -> Result<()> {
        self.serialize_i64(value.into())
    }

    #[inline]
    fn serialize_i32(self, value: i32) -> Result<()> {
        self.serialize_i64(value.into())
    }

    fn serialize_i128(self, value: i128) -> Result<()> {
        self.int128(value < 0, value.unsigned_abs(), INT128_NAMES[0])
    }

    fn serialize_u8(mut self, value: u8) -> Result<()> {
        match self.kind() {
            Kind::Byte => {
                self.core.out.push(value);
                Ok(())
            }
            Kind::Unknown
                if self.place.flags() & ELEMENT != 0 && !self.core.options.lossless =>
            {
                self.learn(Kind::Byte);
                self.core.out.push(value);
                Ok(())
            }
            _ => self.serialize_u64(value.into()),
        }
    }

    #[inline]
    fn serialize_u16(self, value: u16) -> Result<()> {
        self.serialize_u64(value.into())
    }

    #[inline]
    fn serialize_u32(self, value: u32) -> Result<()> {
        self.serialize_u64(value.into())
    }

    fn serialize_u128(self, value: u128) -> Result<()> {
        self.int128(false, value, INT128_NAMES[1])
    }

    #[inline]
    fn serialize_f32(self, value: f32) -> Result<()> {
        self.serialize_f64(value.into())
    }

    fn serialize_f64(mut self, value: f64) -> Result<()> {
        if self.place.flags() & COMPLEX != 0 {
            put_float(&mut self.core.out, value);
            return Ok(());
        }
        if self.kind() != Kind::Float && !self.learn(Kind::Float) {
            return match self.kind() {
                Kind::Interface => {
                    self.interface_scalar("float64", 4, |out| put_float(out, value))
                }
                _ => self.conflict(),
            };
        }
        // Go leaves out minus zero too, and so loses its sign.
        let is_zero = value.to_bits() == 0 || self.core.options.go_exact && value == 0.0;
        if is_zero && self.omit() {
            return Ok(());
        }
        let word = value.to_bits().swap_bytes();
        put_delta_uint(&mut self.core.out, self.place.delta(), word);
        Ok(())
    }

    fn serialize_char(self, value: char) -> Result<()> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    #[inline(always)]
    fn serialize_str(mut self, text: &str) -> Result<()> {
        if self.kind() != Kind::String && !self.learn(Kind::String) {
            if self.place.flags() & NAME != 0 {
                self.core.interface_name = Some(text.to_owned());
                return Ok(());
            }
            return match self.kind() {
                Kind::Interface => self
                    .interface_scalar("string", 6, |out| put_bytes(out, text.as_bytes())),
                _ => self.conflict(),
            };
        }
        if text.is_empty() && self.omit() {
            return Ok(());
        }
        put_delta_bytes(&mut self.core.out, self.place.delta(), text.as_bytes());
        Ok(())
    }

    fn serialize_bytes(mut self, bytes: &[u8]) -> Result<()> {
        if self.place.flags() & TIME != 0 {
            let (zero, used) = crate::Time::ZERO.payload();
            let is_zero = bytes == &zero[..used];
            return self.opaque(OpaqueKind::Gob, "Time", bytes, is_zero);
        }
        if self.place.flags() & OPAQUE != 0 {
            return match Opaque::split(bytes) {
                Some((kind, name, payload)) => {
                    self.opaque(kind, name, payload, payload.is_empty())
                }
                None => Self::misused(),
            };
        }
        if self.kind() != Kind::Bytes && !self.learn(Kind::Bytes) {
            let Node { kind, at, .. } = self.core.shapes.node(self.place.node());
            match kind {
                Kind::Slice
                    if matches!(
                        self.core.shapes.node(at).kind,
                        Kind::Byte | Kind::Unknown
                    ) =>
                {
                    self.core.shapes.set(at, Kind::Byte, 0);
                }
                Kind::Interface => {
                    return self
                        .interface_scalar("[]uint8", 5, |out| put_bytes(out, bytes));
                }
                _ => return self.conflict(),
            }
        }
        if bytes.is_empty() && self.omit() {
            return Ok(());
        }
        self.start();
        put_bytes(&mut self.core.out, bytes);
        Ok(())
    }

    fn serialize_none(mut self) -> Result<()> {
        let Node { kind, flags, .. } = self.core.shapes.node(self.place.node());
        if self.place.flags() & FIELD != 0 && (kind != Kind::Interface || self.omits()) {
            if flags & OPTIONAL == 0 {
                self.core.shapes.flag(self.place.node(), OPTIONAL);
                self.core.shapes.change();
            }
            return Ok(());
        }
        self.kind();
        match kind {
            Kind::Option | Kind::Interface => {}
            Kind::Unknown => {
                let held = self.core.shapes.add(Kind::Unknown);
                self.core.shapes.set(self.place.node(), Kind::Option, held);
            }
            _ => return self.conflict(),
        }
        self.start();
        self.core.out.push(0);
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(mut self, value: &T) -> Result<()> {
        let Node { kind, at, flags, .. } = self.core.shapes.node(self.place.node());
        if self.place.flags() & FIELD == 0 {
            self.kind();
        }
        if kind == Kind::Interface || self.place.flags() & FIELD != 0 {
            if self.place.flags() & FIELD != 0 {
                if flags & OPTIONAL == 0 {
                    self.core.shapes.flag(self.place.node(), OPTIONAL);
                    self.core.shapes.change();
                }
                if !self.core.options.go_exact {
                    self.place = self.place.with(FORCE);
                }
            }
            self.core.wrap()?;
            value.serialize(Sub { core: &mut *self.core, place: self.place })?;
            self.core.unwrap();
            return Ok(());
        }
        let held = match kind {
            Kind::Option => at,
            Kind::Unknown => {
                let held = self.core.shapes.add(Kind::Unknown);
                self.core.shapes.set(self.place.node(), Kind::Option, held);
                held
            }
            _ => return self.conflict(),
        };
        self.core.enter()?;
        self.start();
        value.serialize(Sub::new(&mut *self.core, held, 1, 0))?;
        self.core.out.push(0);
        self.core.leave();
        Ok(())
    }

    fn serialize_unit(self) -> Result<()> {
        self.unit("()")
    }

    fn serialize_unit_struct(self, name: &'static str) -> Result<()> {
        self.unit(name)
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
        let sub = match self.renamed_variant(variant, true)? {
            // In an interface, a struct without fields.
            Ok(sub) => return sub.structure("").and_then(ser::SerializeStruct::end),
            Err(sub) => sub,
        };
        let (mut sub, mark) = sub.variant(name, index, variant, true)?;
        let core = if sub.kind() == Kind::Unit {
            sub.start();
            sub.core.out.push(0);
            sub.core
        } else {
            let Sub { core, place } = sub;
            Sub { core: &mut *core, place }.unit("")?;
            core
        };
        core.out.push(0);
        core.end_enum(mark);
        Ok(())
    }

    #[inline]
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        mut self,
        name: &'static str,
        value: &T,
    ) -> Result<()> {
        if name.as_bytes().first() == Some(&b'$') {
            let more = match name {
                TIME_TOKEN => TIME,
                OPAQUE_TOKEN => OPAQUE,
                COMPLEX_TOKEN => COMPLEX,
                INTERFACE_TOKEN => INTERFACE,
                _ => 0,
            };
            self.place = self.place.with(more);
        }
        self.core.wrap()?;
        value.serialize(Sub { core: &mut *self.core, place: self.place })?;
        self.core.unwrap();
        Ok(())
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<()> {
        let sub = match self.renamed_variant(variant, false)? {
            Ok(sub) => return value.serialize(sub),
            Err(sub) => sub,
        };
        let (Sub { core, place }, mark) = sub.variant(name, index, variant, false)?;
        value
            .serialize(Sub { core: &mut *core, place })
            .map_err(|error| error.in_field(variant))?;
        core.end_variant(mark);
        Ok(())
    }

    #[inline(always)]
    fn serialize_seq(self, len: Option<usize>) -> Result<Seq<'a>> {
        self.sequence(len)
    }

    fn serialize_tuple(self, len: usize) -> Result<Tuple<'a>> {
        self.tuple("", len, 0).map(Tuple)
    }

    fn serialize_tuple_struct(self, name: &'static str, len: usize) -> Result<Tuple<'a>> {
        self.tuple(name, len, 0).map(Tuple)
    }

    fn serialize_tuple_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Tuple<'a>> {
        let sub = match self.renamed_variant(variant, false)? {
            Ok(sub) => return sub.tuple(variant, len, 0).map(Tuple),
            Err(sub) => sub,
        };
        let (sub, mark) = sub.variant(name, index, variant, false)?;
        let tuple = sub.tuple(variant, len, 1)?;
        Ok(Tuple(match (tuple, mark) {
            (tuple, None) => tuple,
            (Form::Struct(parts), Some(mark)) => Form::Marked(parts, mark),
            (other, Some(_)) => other,
        }))
    }

    fn serialize_map(mut self, len: Option<usize>) -> Result<Map<'a>> {
        let start = self.core.out.len();
        let Node { kind, at, .. } = self.core.shapes.look(self.place.node());
        let key = match kind {
            Kind::Map => at,
            Kind::Unknown => {
                let key = self.core.shapes.add(Kind::Unknown);
                self.core.shapes.add(Kind::Unknown);
                self.core.shapes.set(self.place.node(), Kind::Map, key);
                key
            }
            Kind::Interface => {
                let (name, key, concrete) = if self.core.shapes.any_keys {
                    ("map[interface {}]interface {}", ANY, Concrete::AnyKeyMap)
                } else {
                    ("map[string]interface {}", TEXT, Concrete::AnyMap)
                };
                let mark = self.begin_interface(name)?;
                let extra = self.core.begin_concrete(mark, concrete)?;
                return Ok(Map { key, seq: Seq::new(self, ANY, len, start, extra) });
            }
            _ => return self.conflict(),
        };
        self.core.enter()?;
        Ok(Map { key, seq: Seq::new(self, key + 1, len, start, 0) })
    }

    #[inline(always)]
    fn serialize_struct(self, name: &'static str, _len: usize) -> Result<Struct<'a>> {
        self.structure(name)
    }

    fn serialize_struct_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        _len: usize,
    ) -> Result<Struct<'a>> {
        let sub = match self.renamed_variant(variant, false)? {
            Ok(sub) => return sub.structure(variant),
            Err(sub) => sub,
        };
        let (sub, mark) = sub.variant(name, index, variant, false)?;
        let fields = sub.unusual_structure(variant, true)?;
        if let (Some(Mark { at, def }), Some(extra)) =
            (mark, fields.core.extras.last_mut())
        {
            // The whole enum is the interface's value.
            extra.mark = Some(at);
            extra.concrete = Some(Concrete::Def(def));
        }
        Ok(fields)
    }

    fn is_human_readable(&self) -> bool {
        false
    }
}

impl Core {
    /// Ends an enum's struct.
    fn end_variant(&mut self, mark: Option<Mark>) {
        self.out.push(0);
        self.leave();
        self.end_enum(mark);
    }

    fn end_enum(&mut self, mark: Option<Mark>) {
        if let Some(Mark { at, def }) = mark {
            let id = self.shapes.concrete(Concrete::Def(def));
            self.end_interface(at, id);
        }
    }
}

/// The elements of a sequence.
#[derive(Debug)]
pub struct Seq<'a> {
    core: &'a mut Core,
    /// The sequence's position; its flags are needed at the end.
    place: Place,
    /// The elements' position, as wide as the other fields: what is written in four bytes and
    /// copied in eight has to wait.
    elem: Place,
    /// One more than the place of what is unusual about it; 0 where nothing is.
    extra: usize,
    count: u64,
    announced: u64,
    /// Where the position began, with its delta.
    start: usize,
    /// The step of the elements in the plan; 0 while there is none.
    planned: u64,
}

/// After so many elements, a plan is made for those to come.
const PLAN_AFTER: u64 = 16;

impl<'a> Seq<'a> {
    #[inline(always)]
    fn new(
        sub: Sub<'a>,
        elem: NodeId,
        len: Option<usize>,
        start: usize,
        extra: usize,
    ) -> Self {
        let Sub { core, place } = sub;
        let announced = len.unwrap_or(0) as u64;
        // In an interface the name stands between the delta and the count.
        let delta = if extra == 0 { place.delta() } else { 0 };
        put_delta_uint(&mut core.out, delta, announced);
        let elem = Place::new(elem, 0, ELEMENT);
        Self { core, place, elem, extra, count: 0, announced, start, planned: 0 }
    }

    #[cold]
    fn failed(&mut self, error: Error) -> Error {
        if self.elem.node() == BYTE && self.core.conflict == Some(BYTE) {
            // Bytes once, and numbers now.
            let elem = self.core.shapes.add(Kind::Interface);
            self.core.shapes.set(self.place.node(), Kind::Slice, elem);
            self.core.conflict = None;
            self.core.again = true;
        }
        error.in_element(usize::try_from(self.count).unwrap_or(usize::MAX))
    }

    #[inline(always)]
    fn put<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        if self.planned != 0 && self.put_planned(value) {
            return Ok(());
        }
        let sub = Sub { core: &mut *self.core, place: self.elem };
        match value.serialize(sub) {
            Ok(()) => {
                self.count += 1;
                if self.count.is_multiple_of(PLAN_AFTER) {
                    self.plan();
                }
                Ok(())
            }
            Err(error) => Err(self.failed(error)),
        }
    }

    /// Writes an element if it is like those before.
    #[inline(always)]
    fn put_planned<T: Serialize + ?Sized>(&mut self, value: &T) -> bool {
        let step = u32::try_from(self.planned).unwrap_or(BYTE_STEP);
        if self.core.plan.is_current(&self.core.shapes)
            && self.core.try_planned(step, value)
        {
            self.count += 1;
            return true;
        }
        self.planned = 0;
        false
    }

    #[cold]
    #[inline(never)]
    fn plan(&mut self) {
        let Core { plan, shapes, is_watched, .. } = &mut *self.core;
        if !*is_watched && self.elem.node() != BYTE {
            self.planned = plan.root(shapes, self.elem.node()).unwrap_or(0).into();
        }
    }

    #[inline(always)]
    fn finish(self, is_open: bool) {
        self.core.leave();
        if self.count != self.announced || self.count == 0 || self.extra > 0 {
            self.unusual_finish(is_open);
        }
    }

    #[inline(never)]
    fn unusual_finish(self, is_open: bool) {
        let Self { core, place, count, announced, start, extra, .. } = self;
        let extra = extra.checked_sub(1).and_then(|at| {
            let extra = core.extras.get(at).copied();
            core.extras.truncate(at);
            extra
        });
        if count != announced {
            let count_at = match extra {
                // Behind the name, and a zero byte.
                Some(Extra { mark: Some(mark), .. }) => mark + 1,
                _ => start,
            };
            let delta = if extra.is_some() { 0 } else { place.delta() };
            put_count(&mut core.out, count_at, delta, announced, count);
        }
        if let Some(Extra { mark: Some(mark), concrete: Some(concrete), .. }) = extra {
            let id = core.shapes.concrete(concrete);
            return core.end_interface(mark, id);
        }
        if count == 0 && place.flags() & FIELD != 0 {
            let mut sub = Sub { core, place };
            // Go cannot read what is declared with a wrong type, so `Some` of an empty
            // container of unknown type is left out too, unless nothing may be lost.
            let unreadable =
                place.flags() & FORCE != 0 && is_open && !sub.core.options.lossless;
            if unreadable || sub.omit() {
                sub.core.out.truncate(start);
            }
        }
    }
}

/// Puts the number of elements there were in place of the one that was announced, which stands
/// behind the delta at `start`.
pub(crate) fn put_count(
    out: &mut Vec<u8>,
    start: usize,
    delta: u32,
    announced: u64,
    count: u64,
) {
    let count_at = if delta > 0 { start + uint_bytes(delta.into()).1 } else { start };
    let (_, used) = uint_bytes(announced);
    let (bytes, needed) = uint_bytes(count);
    let bytes = bytes[bytes.len() - needed..].iter().copied();
    out.splice(count_at..count_at + used, bytes);
}

impl ser::SerializeSeq for Seq<'_> {
    type Ok = ();
    type Error = Error;

    #[inline]
    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        self.put(value)
    }

    #[inline]
    fn end(self) -> Result<()> {
        let is_open = self.count == 0 && self.core.shapes.is_open(self.elem.node());
        self.finish(is_open);
        Ok(())
    }
}

/// The entries of a map.
#[derive(Debug)]
pub struct Map<'a> {
    key: NodeId,
    seq: Seq<'a>,
}

impl ser::SerializeMap for Map<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<()> {
        let sub = Sub::new(&mut *self.seq.core, self.key, 0, 0);
        key.serialize(sub).map_err(|error| self.seq.failed(error))
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        // No element of a sequence: a map of u8 is no map of bytes.
        let sub = Sub::new(&mut *self.seq.core, self.seq.elem.node(), 0, 0);
        match value.serialize(sub) {
            Ok(()) => {
                self.seq.count += 1;
                Ok(())
            }
            Err(error) => Err(self.seq.failed(error)),
        }
    }

    fn end(self) -> Result<()> {
        let is_open = self.seq.count == 0
            && (self.seq.core.shapes.is_open(self.key)
                || self.seq.core.shapes.is_open(self.seq.elem.node()));
        self.seq.finish(is_open);
        Ok(())
    }
}

/// The fields of a struct.
#[derive(Debug)]
pub struct Struct<'a> {
    core: &'a mut Core,
    /// The position's node; all fields are as wide as the widest, see [`Seq`].
    node: u64,
    def: usize,
    /// The number of the next field.
    next: usize,
    /// One more than the number of the last field that was sent.
    last: usize,
    /// One more than the place of what is unusual about it; 0 where nothing is.
    extra: usize,
}

impl Struct<'_> {
    /// The way from the last field that was sent. No definition has more fields than fit.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "a definition has fewer fields")]
    fn delta(&self) -> u32 {
        (self.next - self.last) as u32
    }

    fn node_id(&self) -> NodeId {
        NodeId::try_from(self.node).unwrap_or(NodeId::MAX)
    }

    fn def_id(&self) -> DefId {
        DefId::try_from(self.def).unwrap_or(DefId::MAX)
    }

    fn extra(&self) -> Extra {
        let extra = self.extra.checked_sub(1).and_then(|at| self.core.extras.get(at));
        extra.copied().unwrap_or_default()
    }

    /// The node of the next field, which must have this name.
    #[inline(always)]
    fn field(&mut self, name: &'static str) -> Result<NodeId> {
        let fields = &self.core.shapes.defs[self.def].fields;
        if let Some(FieldDef { name: Cow::Borrowed(known), node: Some(node) }) =
            fields.get(self.next)
            && std::ptr::eq(*known, name)
        {
            self.next += 1;
            return Ok(*node);
        }
        self.find_field(name)
    }

    #[cold]
    #[inline(never)]
    fn find_field(&mut self, name: &'static str) -> Result<NodeId> {
        let shapes = &mut self.core.shapes;
        let def = &mut shapes.defs[self.def];
        let next = self.next;
        match def.fields.get(next) {
            Some(FieldDef { name: known, node: Some(node) }) if *known == name => {
                self.next += 1;
                return Ok(*node);
            }
            None if next >= MAX_DELTA as usize => {
                return Err(Error::unsupported("expected a struct of fewer fields"));
            }
            None if !def.is_complete => {
                let node = shapes.add(Kind::Unknown);
                let field = FieldDef { name: name.into(), node: Some(node) };
                shapes.defs[self.def].fields.push(field);
                shapes.change();
                self.next += 1;
                return Ok(node);
            }
            _ => {}
        }
        // Another struct of the same name, or the same with other fields.
        if !self.extra().is_bound_now {
            self.core.conflict.get_or_insert(self.node_id());
            return Err(Error::data("the fields of structs of one name disagree"));
        }
        let branch = self.core.shapes.branch(self.def_id(), next, Some(name));
        self.rebind(branch);
        let shapes = &mut self.core.shapes;
        let known = shapes.defs[branch as usize].fields.get(next);
        let node = if let Some(node) = known.and_then(|field| field.node) {
            node
        } else {
            let node = shapes.add(Kind::Unknown);
            let field = FieldDef { name: name.into(), node: Some(node) };
            shapes.defs[branch as usize].fields.push(field);
            node
        };
        self.next += 1;
        Ok(node)
    }

    fn rebind(&mut self, def: DefId) {
        let extra = self.extra();
        if extra.is_creator {
            self.core.shapes.defs[self.def].is_being_made = false;
            if let Some(extra) = self.core.extras.get_mut(self.extra.wrapping_sub(1)) {
                extra.is_creator = false;
            }
        }
        self.def = def as usize;
        if extra.mark.is_none() || extra.is_variant {
            self.core.shapes.set(self.node_id(), Kind::Struct, def);
        }
    }

    #[cold]
    #[inline(never)]
    fn failed(&mut self, name: &'static str, error: Error) -> Error {
        // Structs of one name in several places that disagree inside are several types.
        if self.core.conflict.is_some() {
            let def = &self.core.shapes.defs[self.def];
            let (name, is_shared) = (def.name.clone(), def.uses > 1);
            if !self.core.one_pass
                && self.core.shapes.unshare(&name, is_shared, def.is_recursive)
            {
                self.core.conflict = None;
                self.core.again = true;
                // Nothing that was written so far counts.
                return Error::data("the types of values disagree");
            }
        }
        if self.core.again { error } else { error.in_field(name) }
    }

    #[inline(always)]
    fn finish(self) -> Result<()> {
        let fields = &self.core.shapes.defs[self.def].fields;
        if self.extra == 0 && fields.len() == self.next {
            self.core.out.push(0);
            self.core.leave();
            return Ok(());
        }
        self.unusual_finish()
    }

    #[inline(never)]
    fn unusual_finish(mut self) -> Result<()> {
        let count = self.next;
        let Extra { is_bound_now, is_creator, is_variant, mark, concrete } = self.extra();
        let def = &mut self.core.shapes.defs[self.def];
        if is_creator {
            def.is_complete = true;
            def.is_being_made = false;
        } else if def.fields.len() > count && def.is_complete {
            if !is_bound_now {
                self.core.conflict.get_or_insert(self.node_id());
                return Err(Error::data("the fields of structs of one name disagree"));
            }
            let branch = self.core.shapes.branch(self.def_id(), count, None);
            self.rebind(branch);
            self.core.shapes.defs[branch as usize].is_complete = true;
        } else if def.fields.len() == count && !def.is_being_made {
            def.is_complete = true;
        }
        if self.extra > 0 {
            self.core.extras.truncate(self.extra - 1);
        }
        self.core.out.push(0);
        self.core.leave();
        if is_variant {
            self.core.end_variant(None);
        }
        if let Some(at) = mark {
            let concrete = concrete.unwrap_or(Concrete::Def(self.def_id()));
            let id = self.core.shapes.concrete(concrete);
            self.core.end_interface(at, id);
        }
        Ok(())
    }

    #[inline(always)]
    fn put<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<()> {
        let node = self.field(name)?;
        let before = self.core.out.len();
        let delta = self.delta();
        let sub = Sub::new(&mut *self.core, node, delta, FIELD);
        if let Err(error) = value.serialize(sub) {
            return Err(self.failed(name, error));
        }
        if self.core.out.len() > before {
            self.last = self.next;
            if self.core.shapes.node(node).flags & SENT == 0 {
                self.core.shapes.flag(node, SENT);
            }
        }
        Ok(())
    }

    fn skip(&mut self, name: &'static str) -> Result<()> {
        let node = self.field(name)?;
        let flags = self.core.shapes.node(node).flags;
        self.core.shapes.skip(node);
        if flags & SKIPPABLE == 0 {
            self.core.shapes.flag(node, SKIPPABLE);
            self.core.shapes.change();
            // Zeros that were left out until now would be taken for missing fields.
            if flags & OMITTED != 0 && !self.core.one_pass {
                self.core.again = true;
                return Err(Error::data("a field that was zero is missing"));
            }
        }
        Ok(())
    }
}

macro_rules! fields {
    ($($trait:ident)*) => {
        $(impl ser::$trait for Struct<'_> {
            type Ok = ();
            type Error = Error;

            #[inline]
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

            #[inline]
            fn end(self) -> Result<()> {
                self.finish()
            }
        })*
    };
}

fields! { SerializeStruct SerializeStructVariant }

/// What a tuple is written as.
#[derive(Debug)]
pub struct Tuple<'a>(Form<'a>);

/// The ways of writing a tuple.
#[derive(Debug)]
enum Form<'a> {
    /// A struct of F0, F1, …
    Struct(Parts<'a>),
    /// The same as the content of a variant in an interface.
    Marked(Parts<'a>, Mark),
    /// An array.
    Array(Parts<'a>),
    /// A dynamic slice.
    Seq(Seq<'a>),
    /// A complex number.
    Complex {
        core: &'a mut Core,
        node: NodeId,
        start: usize,
        is_zero: bool,
        omits: bool,
        mark: Option<usize>,
    },
    /// The name of an interface's type and its value.
    Interface { core: &'a mut Core, node: NodeId, delta: u32, flags: u8, is_named: bool },
}

/// The elements of a tuple.
#[derive(Debug)]
struct Parts<'a> {
    core: &'a mut Core,
    node: NodeId,
    def: DefId,
    len: usize,
    next: u32,
    last: u32,
    closes: u8,
    /// Whether all that is known of it comes from this value.
    is_new: bool,
}

impl Parts<'_> {
    fn node(&self, index: u32) -> Result<NodeId> {
        let fields = &self.core.shapes.defs[self.def as usize].fields;
        fields.get(index as usize).and_then(|field| field.node).ok_or_else(|| {
            Error::data("expected as many elements as the tuple announced")
        })
    }

    fn put_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        let node = self.node(self.next)?;
        self.next += 1;
        let before = self.core.out.len();
        let delta = self.next - self.last;
        let sub = Sub::new(&mut *self.core, node, delta, FIELD);
        value.serialize(sub).map_err(|error| error.in_element(self.next as usize - 1))?;
        if self.core.out.len() > before {
            self.last = self.next;
            if self.core.shapes.node(node).flags & SENT == 0 {
                self.core.shapes.flag(node, SENT);
            }
        }
        Ok(())
    }

    fn put_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        if self.next as usize >= self.len {
            self.next = u32::MAX;
        }
        self.node(self.next)?;
        let node = self.node(0)?;
        let sub = Sub::new(&mut *self.core, node, 0, 0);
        value.serialize(sub).map_err(|error| error.in_element(self.next as usize))?;
        self.next += 1;
        Ok(())
    }

    fn end(self, is_struct: bool, mark: Option<Mark>) -> Result<()> {
        if self.next as usize != self.len {
            return Err(Error::data("expected as many elements as the tuple announced"));
        }
        if is_struct {
            self.core.out.push(0);
        }
        self.core.leave();
        self.core.shapes.defs[self.def as usize].is_complete = true;
        if self.is_new && self.core.shapes.is_uniform(self.def) {
            self.core.shapes.set(self.node, Kind::Array, self.def);
            self.core.again = true;
            return Err(Error::data("a tuple turns out to be an array"));
        }
        if self.closes > 0 {
            self.core.end_variant(mark);
        }
        Ok(())
    }
}

impl Form<'_> {
    fn put<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        match self {
            Self::Struct(parts) | Self::Marked(parts, _) => parts.put_field(value),
            Self::Array(parts) => parts.put_element(value),
            Self::Seq(seq) => seq.put(value),
            Self::Complex { core, node, is_zero, .. } => {
                let before = core.out.len();
                let sub = Sub::new(core, *node, 0, COMPLEX);
                value.serialize(sub)?;
                // A zero is one byte, and minus zero two.
                *is_zero &= core.out[before..] == [0];
                Ok(())
            }
            Self::Interface { core, node, delta, flags, is_named } => {
                let core = &mut **core;
                if !*is_named {
                    *is_named = true;
                    return value.serialize(Sub::new(core, *node, 0, NAME));
                }
                // The name holds for this value only, not for those inside.
                value.serialize(Sub::new(core, *node, *delta, *flags))
            }
        }
    }

    fn finish(self) -> Result<()> {
        match self {
            Self::Struct(parts) => parts.end(true, None),
            Self::Marked(parts, mark) => parts.end(true, Some(mark)),
            Self::Array(parts) => parts.end(false, None),
            Self::Seq(seq) => {
                seq.finish(false);
                Ok(())
            }
            Self::Complex { core, node, start, is_zero, omits, mark } => {
                if let Some(mark) = mark {
                    core.end_interface(mark, 7);
                    return Ok(());
                }
                let flags = if omits { FIELD } else { 0 };
                let mut sub = Sub::new(core, node, 0, flags);
                if is_zero && sub.omit() {
                    sub.core.out.truncate(start);
                }
                Ok(())
            }
            Self::Interface { core, .. } => {
                core.interface_name = None;
                Ok(())
            }
        }
    }
}

macro_rules! elements {
    ($($trait:ident $method:ident)*) => {
        $(impl ser::$trait for Tuple<'_> {
            type Ok = ();
            type Error = Error;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
                self.0.put(value)
            }

            fn end(self) -> Result<()> {
                self.0.finish()
            }
        })*
    };
}

elements! {
    SerializeTuple serialize_element
    SerializeTupleStruct serialize_field
    SerializeTupleVariant serialize_field
}
