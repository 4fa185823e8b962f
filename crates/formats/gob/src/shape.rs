//! The types of what is written: a graph that starts unknown and is filled in as values pass.
//!
//! A [`Node`] stands for a position: a field, the elements of a slice, a root. Structs and enums
//! are shared by name, so that a type that holds itself becomes a descriptor that does. Where two
//! values disagree, the position becomes an interface and the value is written again.
//! SPEC.md has the names by which holes are known.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use crate::dynamic::put_named;
use crate::types::{ENUM_PREFIX, FIRST_FREE_ID, OPTION_NAME, OpaqueKind, SOME_NAME};
use crate::wire::{put_bytes, put_int, put_uint};

pub(crate) type NodeId = u32;
pub(crate) type DefId = u32;

/// What is known of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Unknown,
    Bool,
    Int,
    Uint,
    /// The elements of a sequence of `u8`, which is written as bytes.
    Byte,
    Float,
    Complex,
    Bytes,
    String,
    Interface,
    /// `at`: the elements.
    Slice,
    /// `at`: the keys; the next node: the elements.
    Map,
    /// An option that is no field; `at`: what it holds.
    Option,
    /// `at`: the definition. So for the next four.
    Struct,
    Enum,
    /// A tuple, or a tuple struct, as a struct of F0, F1, …
    Tuple,
    /// A tuple whose elements have one type.
    Array,
    /// A struct without fields.
    Unit,
    /// `at`: which self-encoded type.
    Opaque,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    pub(crate) kind: Kind,
    pub(crate) flags: u8,
    pub(crate) at: u32,
    /// The last value that had something here.
    seen: u32,
}

/// A field's node: the field was sent in some value.
pub(crate) const SENT: u8 = 1;
/// A field's node: the field is an option.
pub(crate) const OPTIONAL: u8 = 2;
/// A field's node: the field may be missing, so its zero must be written.
pub(crate) const SKIPPABLE: u8 = 4;
/// A field's node: its zero was left out.
pub(crate) const OMITTED: u8 = 8;
/// An interface because values disagree.
pub(crate) const CONFLICT: u8 = 16;
/// A field's node: the field is missing in the present value.
const SKIPPED_NOW: u8 = 32;

/// The element of what is bytes already.
pub(crate) const BYTE: NodeId = 0;
/// An element of a dynamic container.
pub(crate) const ANY: NodeId = 1;
/// A key of a dynamic map.
pub(crate) const TEXT: NodeId = 2;

#[derive(Clone, Debug)]
pub(crate) struct FieldDef {
    pub(crate) name: Cow<'static, str>,
    /// None: a variant that was not seen yet.
    pub(crate) node: Option<NodeId>,
}

/// A struct, an enum or a tuple.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub(crate) struct Def {
    pub(crate) name: Cow<'static, str>,
    pub(crate) fields: Vec<FieldDef>,
    /// Whether all fields are known.
    pub(crate) is_complete: bool,
    pub(crate) is_enum: bool,
    /// How many positions have it.
    pub(crate) uses: u32,
    /// Whether its fields were learned from `Deserialize`, which may say something else.
    pub(crate) is_traced: bool,
    /// Whether the first value of it is being written, whose fields become the definition's.
    pub(crate) is_being_made: bool,
    pub(crate) is_recursive: bool,
    id: Option<i32>,
    /// What was sent under the id.
    sent: Option<Vec<(String, i32)>>,
}

/// Composite types without a name, by the ids of their parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Slice(i32),
    Map(i32, i32),
    Array(i32, u32),
    /// 0: what it holds is open.
    Option(i32),
    Opaque(u32),
}

/// Dynamic containers and what may stand in an interface; their ids are needed at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Concrete {
    AnySlice,
    AnyMap,
    AnyKeyMap,
    Def(DefId),
    Opaque(u32),
}

/// How open element types are declared.
pub(crate) const INT_ID: i32 = 2;
const BYTES_ID: i32 = 5;
const STRING_ID: i32 = 6;
const INTERFACE_ID: i32 = 8;

/// All that an encoder knows of the types it writes, and what it has sent of them.
#[derive(Debug)]
pub(crate) struct Shapes {
    pub(crate) nodes: Vec<Node>,
    pub(crate) defs: Vec<Def>,
    pub(crate) opaques: Vec<(OpaqueKind, String)>,
    /// Names that stand for several types.
    unshared: BTreeMap<Cow<'static, str>, Sharing>,
    /// Whether dynamic maps have keys that are no text.
    pub(crate) any_keys: bool,
    /// Whether something was learned that has not been described.
    pub(crate) is_dirty: bool,
    /// Another number whenever something was learned or forgotten.
    pub(crate) version: u32,
    roots: Vec<(&'static str, NodeId)>,
    ids: BTreeMap<Key, i32>,
    pub(crate) concretes: Vec<(Concrete, i32)>,
    sent: BTreeSet<i32>,
    next_id: i32,
    first_id: i32,
    go_names: bool,
    /// What the present value has touched, and what there is to touch.
    touched: Touched,
    whole: Touched,
    epoch: u32,
    /// Fields that the present value leaves out altogether.
    skipped: Vec<NodeId>,
    /// What the present value has in interfaces, in order.
    used: Vec<Concrete>,
    /// Interfaces because of a conflict: the name of the first thing that the present value has
    /// there, by its hash; none once there was another.
    noted: Vec<(NodeId, Option<u32>)>,
}

/// What became of a name in whose definition values disagreed.
#[derive(Clone, Copy, Debug)]
enum Sharing {
    /// Each position has a definition of its own.
    None { was_recursive: bool },
    /// All share one again.
    Final,
}

/// How much of what is known a value has touched. If it is all, the value by itself would have
/// taught the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Touched {
    nodes: u32,
    /// Interfaces in which it has things of two kinds.
    conflicts: u32,
    skipped: u32,
}

impl Shapes {
    pub(crate) fn new(first_id: i32, go_names: bool) -> Self {
        let mut shapes = Self {
            nodes: Vec::new(),
            defs: Vec::new(),
            opaques: Vec::new(),
            unshared: BTreeMap::new(),
            any_keys: false,
            is_dirty: false,
            version: 0,
            roots: Vec::new(),
            ids: BTreeMap::new(),
            concretes: Vec::new(),
            sent: BTreeSet::new(),
            next_id: first_id,
            first_id,
            go_names,
            touched: Touched::default(),
            whole: Touched::default(),
            epoch: 0,
            skipped: Vec::new(),
            used: Vec::new(),
            noted: Vec::new(),
        };
        shapes.forget_shapes();
        shapes
    }

    /// Forgets everything but the memory it takes.
    pub(crate) fn forget_all(&mut self) {
        self.forget_sent();
        self.unshared.clear();
        self.any_keys = false;
        self.opaques.clear();
        self.forget_shapes();
    }

    /// Whether nothing is known yet.
    pub(crate) fn is_blank(&self) -> bool {
        self.roots.is_empty() && self.unshared.is_empty() && !self.any_keys
    }

    /// Begins to look at what a value touches.
    pub(crate) fn begin(&mut self) {
        self.epoch = self.epoch.wrapping_add(1);
        self.touched = Touched::default();
        for node in std::mem::take(&mut self.skipped) {
            if let Some(node) = self.nodes.get_mut(node as usize) {
                node.flags &= !SKIPPED_NOW;
            }
        }
        self.used.clear();
        self.noted.clear();
    }

    /// Whether the value has touched all that is known, so that by itself it would have taught
    /// the same.
    pub(crate) fn is_all_touched(&self) -> bool {
        self.touched == self.whole
            && !self.any_keys
            && self.unshared.is_empty()
            && self.used.len() == self.concretes.len()
            && self
                .used
                .iter()
                .zip(&self.concretes)
                .all(|(used, (known, _))| used == known)
    }

    /// Whether all that is known are types without interfaces.
    pub(crate) fn is_simple(&self) -> bool {
        !self.any_keys && self.unshared.is_empty() && self.concretes.is_empty()
    }

    /// The node of a position that has a value.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "asked for each value; see `ser`")]
    pub(crate) fn look(&mut self, node: NodeId) -> Node {
        let Some(node) = self.nodes.get_mut(node as usize) else {
            return Node { kind: Kind::Unknown, flags: 0, at: 0, seen: 0 };
        };
        if node.seen != self.epoch {
            node.seen = self.epoch;
            self.touched.nodes += u32::from(node.kind != Kind::Unknown);
        }
        *node
    }

    /// Notes what an interface holds, where it is one because values disagree.
    pub(crate) fn note(&mut self, node: NodeId, name: &str) {
        if self.node(node).flags & CONFLICT == 0 {
            return;
        }
        let hash = name.bytes().fold(0x811c_9dc5_u32, |hash, byte| {
            (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
        });
        match self.noted.iter_mut().find(|(noted, _)| *noted == node) {
            None => self.noted.push((node, Some(hash))),
            Some((_, first)) if first.is_some_and(|first| first != hash) => {
                *first = None;
                self.touched.conflicts += 1;
            }
            Some(_) => {}
        }
    }

    /// Notes that a field is left out altogether.
    pub(crate) fn skip(&mut self, node: NodeId) {
        if self.flag(node, SKIPPED_NOW) {
            self.skipped.push(node);
            self.touched.skipped += 1;
        }
    }

    /// Counts what is known below the position.
    fn count(&mut self, node: NodeId, epoch: u32) {
        let Some(entry) = self.nodes.get_mut(node as usize) else { return };
        if entry.seen == epoch {
            return;
        }
        entry.seen = epoch;
        let Node { kind, flags, at, .. } = *entry;
        self.whole.nodes += u32::from(kind != Kind::Unknown);
        self.whole.conflicts += u32::from(flags & CONFLICT != 0);
        self.whole.skipped += u32::from(flags & SKIPPABLE != 0);
        match kind {
            Kind::Slice | Kind::Option => self.count(at, epoch),
            Kind::Map => {
                self.count(at, epoch);
                self.count(at + 1, epoch);
            }
            Kind::Array => {
                if let Some((elem, _)) = self.array(at) {
                    self.count(elem, epoch);
                }
            }
            Kind::Struct | Kind::Enum | Kind::Tuple => self.count_def(at, epoch),
            _ => {}
        }
    }

    fn count_def(&mut self, def: DefId, epoch: u32) {
        for index in 0..self.defs[def as usize].fields.len() {
            if let Some(field) = self.defs[def as usize].fields[index].node {
                self.count(field, epoch);
            }
        }
    }

    /// Counts what is known: as much must a value touch to be like the one that taught it.
    pub(crate) fn count_all(&mut self, root: NodeId) {
        self.whole = Touched::default();
        self.begin();
        let epoch = self.epoch;
        self.count(root, epoch);
        for (concrete, _) in self.concretes.clone() {
            match concrete {
                Concrete::Def(def) => self.count_def(def, epoch),
                // The elements of dynamic containers are nodes too.
                Concrete::AnySlice | Concrete::AnyMap | Concrete::AnyKeyMap => {
                    self.count(ANY, epoch);
                    if concrete == Concrete::AnyMap {
                        self.count(TEXT, epoch);
                    }
                }
                Concrete::Opaque(_) => {}
            }
        }
        // Bytes are looked at as elements of their own where they come as a sequence; that is
        // no knowledge.
        self.begin();
    }

    /// Forgets what is known of types, but not what was sent.
    fn forget_shapes(&mut self) {
        self.nodes.clear();
        for kind in [Kind::Byte, Kind::Interface, Kind::String] {
            self.nodes.push(Node { kind, flags: 0, at: 0, seen: 0 });
        }
        self.defs.clear();
        self.roots.clear();
        self.concretes.retain(|(concrete, _)| !matches!(concrete, Concrete::Def(_)));
        self.change();
    }

    /// Forgets what was sent: the next value begins a stream of its own.
    pub(crate) fn forget_sent(&mut self) {
        for def in &mut self.defs {
            def.id = None;
            def.sent = None;
        }
        self.ids.clear();
        self.concretes.clear();
        self.sent.clear();
        self.next_id = self.first_id;
    }

    /// Tries another sharing of the definitions of this name, in which values disagree; false
    /// if there is none. Then all shapes are forgotten.
    pub(crate) fn unshare(
        &mut self,
        name: &str,
        is_shared: bool,
        is_recursive: bool,
    ) -> bool {
        let sharing = match self.unshared.get(name) {
            None if is_shared => Sharing::None { was_recursive: is_recursive },
            // A type that holds itself, and values of any type: without sharing, each level of
            // the value would be a type of its own.
            Some(Sharing::None { was_recursive: true }) => Sharing::Final,
            _ => return false,
        };
        self.unshared.insert(name.to_owned().into(), sharing);
        self.forget_shapes();
        true
    }

    #[inline]
    pub(crate) fn node(&self, node: NodeId) -> Node {
        match self.nodes.get(node as usize) {
            Some(node) => *node,
            None => Node { kind: Kind::Unknown, flags: 0, at: 0, seen: 0 },
        }
    }

    /// Notes that something was learned or forgotten.
    pub(crate) fn change(&mut self) {
        self.is_dirty = true;
        self.version = self.version.wrapping_add(1);
    }

    /// Notes that a zero may have been left out in the field of this node.
    pub(crate) fn may_omit(&mut self, node: NodeId) {
        self.flag(node, OMITTED);
    }

    pub(crate) fn add(&mut self, kind: Kind) -> NodeId {
        let id = NodeId::try_from(self.nodes.len()).unwrap_or(NodeId::MAX);
        self.nodes.push(Node { kind, flags: 0, at: 0, seen: 0 });
        id
    }

    pub(crate) fn set(&mut self, node: NodeId, kind: Kind, at: u32) {
        if let Some(node) = self.nodes.get_mut(node as usize) {
            *node = Node { kind, at, ..*node };
            self.change();
        }
    }

    /// Sets a flag; whether it is new.
    pub(crate) fn flag(&mut self, node: NodeId, flag: u8) -> bool {
        match self.nodes.get_mut(node as usize) {
            Some(node) if node.flags & flag == 0 => {
                node.flags |= flag;
                true
            }
            _ => false,
        }
    }

    pub(crate) fn root(&mut self, name: &'static str) -> NodeId {
        let known = self.roots.iter().find(|(root, _)| std::ptr::eq(*root, name));
        let known = known.or_else(|| self.roots.iter().find(|(root, _)| *root == name));
        if let Some(&(_, node)) = known {
            return node;
        }
        let node = self.add(Kind::Unknown);
        self.roots.push((name, node));
        self.change();
        node
    }

    pub(crate) fn def(&mut self, name: Cow<'static, str>, is_enum: bool) -> DefId {
        let id = DefId::try_from(self.defs.len()).unwrap_or(DefId::MAX);
        self.defs.push(Def {
            name,
            fields: Vec::new(),
            is_complete: false,
            is_enum,
            uses: 1,
            is_traced: false,
            is_being_made: false,
            is_recursive: false,
            id: None,
            sent: None,
        });
        self.change();
        id
    }

    /// The definition that a position takes for structs or enums of this name: one that others
    /// have, or a new one.
    pub(crate) fn bind(
        &mut self,
        name: &'static str,
        is_enum: bool,
        node: NodeId,
    ) -> DefId {
        if !matches!(self.unshared.get(name), Some(Sharing::None { .. })) {
            let known = self.defs.iter().position(|def| {
                def.name == name && def.is_enum == is_enum && def.uses > 0
            });
            if let Some(known) = known {
                let def = DefId::try_from(known).unwrap_or(DefId::MAX);
                self.defs[known].uses += 1;
                if self.holds(def, node) {
                    self.defs[known].is_recursive = true;
                }
                return def;
            }
        }
        self.def(name.into(), is_enum)
    }

    /// Whether the position is somewhere inside the definition.
    fn holds(&self, def: DefId, node: NodeId) -> bool {
        let fields = |def: DefId| {
            let def = self.defs.get(def as usize);
            def.into_iter().flat_map(|def| &def.fields).filter_map(|field| field.node)
        };
        let mut open: Vec<_> = fields(def).collect();
        let mut seen = BTreeSet::from([def]);
        while let Some(inner) = open.pop() {
            if inner == node {
                return true;
            }
            let Node { kind, at, .. } = self.node(inner);
            match kind {
                Kind::Slice | Kind::Option => open.push(at),
                Kind::Map => open.extend([at, at + 1]),
                Kind::Struct | Kind::Enum | Kind::Tuple | Kind::Array
                    if seen.insert(at) =>
                {
                    open.extend(fields(at));
                }
                _ => {}
            }
        }
        false
    }

    /// The definition with the name and the first `count` fields of `def` and, if there is one,
    /// `next` after them. Without `next` these must be all.
    pub(crate) fn branch(
        &mut self,
        def: DefId,
        count: usize,
        next: Option<&'static str>,
    ) -> DefId {
        let like = self.defs[def as usize].clone();
        let prefix = &like.fields[..count];
        let same = |other: &Def| {
            other.name == like.name
                && other.is_enum == like.is_enum
                && other.fields.len() >= count
                && other.fields[..count].iter().zip(prefix).all(|(a, b)| a.node == b.node)
                && match next {
                    Some(next) => {
                        other.fields.get(count).is_some_and(|field| field.name == next)
                    }
                    None => other.fields.len() == count,
                }
        };
        if let Some(known) = self.defs.iter().position(same) {
            return DefId::try_from(known).unwrap_or(DefId::MAX);
        }
        let fields = prefix.to_vec();
        let new = self.def(like.name, like.is_enum);
        self.defs[new as usize].fields = fields;
        // It is found by its fields only, not by its name.
        self.defs[new as usize].uses = 0;
        new
    }

    /// The definition of a struct without fields.
    pub(crate) fn unit(&mut self, name: &'static str) -> DefId {
        let known = (0..).zip(&self.defs).find(|(_, def)| {
            def.name == name && def.fields.is_empty() && def.is_complete && !def.is_enum
        });
        if let Some((known, _)) = known {
            return known;
        }
        let def = self.def(name.into(), false);
        self.defs[def as usize].is_complete = true;
        self.defs[def as usize].uses = 0;
        def
    }

    /// Turns tuples of one type that were learned from `Deserialize` into arrays, and arrays of
    /// them.
    pub(crate) fn finish_trace(&mut self) {
        loop {
            let mut is_changed = false;
            for node in 0..self.nodes.len() {
                let Node { kind, at, .. } = self.nodes[node];
                if kind == Kind::Tuple && self.defs[at as usize].is_traced {
                    let def = &self.defs[at as usize];
                    if def.name.is_empty() && self.is_uniform(at) {
                        self.nodes[node].kind = Kind::Array;
                        is_changed = true;
                    }
                }
            }
            if !is_changed {
                break;
            }
        }
        for def in &mut self.defs {
            def.is_complete |= def.is_traced;
        }
    }

    /// Whether all elements of a tuple have one type, so that they are an array.
    pub(crate) fn is_uniform(&self, def: DefId) -> bool {
        let mut nodes = self.defs[def as usize].fields.iter().map(|field| field.node);
        let Some(Some(first)) = nodes.next() else { return false };
        let is_option = |node| self.node(node).flags & OPTIONAL != 0;
        !is_option(first)
            && self.is_same(first, first)
            && nodes.all(|node| {
                node.is_some_and(|node| !is_option(node) && self.is_same(first, node))
            })
    }

    /// Forgets the types if some were learned from `Deserialize`; false if none were.
    pub(crate) fn forget_traced(&mut self) -> bool {
        let has_traced = self.defs.iter().any(|def| def.is_traced);
        if has_traced {
            self.forget_shapes();
        }
        has_traced
    }

    pub(crate) fn opaque(&mut self, kind: OpaqueKind, name: &str) -> u32 {
        let known = self.opaques.iter().position(|(a, b)| *a == kind && b == name);
        let index = known.unwrap_or_else(|| {
            self.opaques.push((kind, name.to_owned()));
            self.opaques.len() - 1
        });
        u32::try_from(index).unwrap_or(u32::MAX)
    }

    /// Whether something inside the position's type is unknown, so that it cannot be declared.
    pub(crate) fn is_open(&self, node: NodeId) -> bool {
        let Node { kind, at, .. } = self.node(node);
        match kind {
            Kind::Unknown => true,
            Kind::Slice => self.is_open(at),
            Kind::Map => self.is_open(at) || self.is_open(at + 1),
            Kind::Array => self.array(at).is_some_and(|(elem, _)| self.is_open(elem)),
            _ => false,
        }
    }

    /// The elements of an array and their number.
    pub(crate) fn array(&self, def: DefId) -> Option<(NodeId, u32)> {
        let def = self.defs.get(def as usize)?;
        let len = u32::try_from(def.fields.len()).ok()?;
        Some((def.fields.first()?.node?, len))
    }

    /// Whether two positions have the same type, of which all is known.
    pub(crate) fn is_same(&self, a: NodeId, b: NodeId) -> bool {
        let (a, b) = (self.node(a), self.node(b));
        a.kind == b.kind
            && match a.kind {
                Kind::Unknown => false,
                Kind::Slice | Kind::Option => self.is_same(a.at, b.at),
                Kind::Map => self.is_same(a.at, b.at) && self.is_same(a.at + 1, b.at + 1),
                Kind::Struct | Kind::Enum | Kind::Unit | Kind::Opaque => a.at == b.at,
                Kind::Tuple | Kind::Array => {
                    let (a, b) = (&self.defs[a.at as usize], &self.defs[b.at as usize]);
                    a.name == b.name
                        && a.fields.len() == b.fields.len()
                        && a.fields.iter().zip(&b.fields).all(|pair| match pair {
                            (
                                FieldDef { node: Some(a), .. },
                                FieldDef { node: Some(b), .. },
                            ) => self.is_same(*a, *b),
                            _ => false,
                        })
                }
                _ => true,
            }
    }

    /// Whether a value of this position is a struct on the wire.
    pub(crate) fn is_struct(&self, node: NodeId) -> bool {
        matches!(
            self.node(node).kind,
            Kind::Struct | Kind::Enum | Kind::Tuple | Kind::Unit | Kind::Option
        )
    }

    fn new_id(&mut self) -> i32 {
        let id = self.next_id;
        self.next_id = self.next_id.saturating_add(1);
        id
    }

    /// The id of what may stand in an interface, which is given before all is known.
    pub(crate) fn concrete(&mut self, concrete: Concrete) -> i32 {
        if !self.used.contains(&concrete) {
            self.used.push(concrete);
        }
        if let Some((_, id)) = self.concretes.iter().find(|(known, _)| *known == concrete)
        {
            return *id;
        }
        let id = match concrete {
            Concrete::AnySlice => self.key_id(Key::Slice(INTERFACE_ID)),
            Concrete::AnyMap => self.key_id(Key::Map(STRING_ID, INTERFACE_ID)),
            Concrete::AnyKeyMap => self.key_id(Key::Map(INTERFACE_ID, INTERFACE_ID)),
            Concrete::Opaque(opaque) => self.key_id(Key::Opaque(opaque)),
            Concrete::Def(def) => self.def_id(def),
        };
        self.concretes.push((concrete, id));
        self.change();
        id
    }

    fn def_id(&mut self, def: DefId) -> i32 {
        if let Some(id) = self.defs[def as usize].id {
            return id;
        }
        let id = self.new_id();
        self.defs[def as usize].id = Some(id);
        id
    }

    fn key_id(&mut self, key: Key) -> i32 {
        if let Some(&id) = self.ids.get(&key) {
            return id;
        }
        let id = self.new_id();
        self.ids.insert(key, id);
        id
    }

    /// The id of the position's type, once all types are described.
    pub(crate) fn id(&mut self, node: NodeId) -> i32 {
        self.number(node, &mut BTreeSet::new())
    }

    /// The id of a position's type; gives ids to it and to its parts in Go's order: a struct
    /// before its fields, all else after its parts.
    fn number(&mut self, node: NodeId, seen: &mut BTreeSet<DefId>) -> i32 {
        let Node { kind, at, .. } = self.node(node);
        match kind {
            Kind::Unknown | Kind::Int => INT_ID,
            Kind::Bool => 1,
            Kind::Uint | Kind::Byte => 3,
            Kind::Float => 4,
            Kind::Bytes => BYTES_ID,
            Kind::String => STRING_ID,
            Kind::Complex => 7,
            Kind::Interface => INTERFACE_ID,
            Kind::Slice if self.node(at).kind == Kind::Byte => BYTES_ID,
            Kind::Slice => {
                let elem = self.number(at, seen);
                self.key_id(Key::Slice(elem))
            }
            Kind::Map => {
                let key = self.number(at, seen);
                let elem = self.number(at + 1, seen);
                self.key_id(Key::Map(key, elem))
            }
            Kind::Option => {
                let open = self.is_open(at);
                let held = if open { 0 } else { self.number(at, seen) };
                self.key_id(Key::Option(held))
            }
            Kind::Array => match self.array(at) {
                Some((elem, len)) => {
                    let elem = self.number(elem, seen);
                    self.key_id(Key::Array(elem, len))
                }
                None => INT_ID,
            },
            Kind::Opaque => self.key_id(Key::Opaque(at)),
            Kind::Struct | Kind::Enum | Kind::Tuple | Kind::Unit => {
                let id = self.def_id(at);
                if seen.insert(at) {
                    for index in 0..self.defs[at as usize].fields.len() {
                        if let Some(field) = self.defs[at as usize].fields[index].node
                            && !self.is_hole(field)
                        {
                            self.number(field, seen);
                        }
                    }
                }
                id
            }
        }
    }

    /// Whether a field's place is kept for a type that is not known yet.
    fn is_hole(&self, field: NodeId) -> bool {
        self.node(field).flags & SENT == 0 && self.is_open(field)
    }

    /// The fields of a definition as its descriptor has them.
    fn fields(&mut self, def: DefId, seen: &mut BTreeSet<DefId>) -> Vec<(String, i32)> {
        let fields = self.defs[def as usize].fields.clone();
        let mut described = Vec::with_capacity(fields.len());
        let mut remarks = Vec::new();
        for field in fields {
            let name = self.name(&field.name);
            let Some(node) = field.node else {
                described.push(("_".to_owned(), INT_ID));
                continue;
            };
            let Node { kind, flags, .. } = self.node(node);
            if self.is_hole(node) {
                let mark = match kind {
                    Kind::Slice | Kind::Array => '[',
                    Kind::Map => '{',
                    _ if flags & SKIPPABLE != 0 => '-',
                    _ => '?',
                };
                described.push((format!("_{mark}{name}"), INT_ID));
                continue;
            }
            let id = self.number(node, seen);
            if flags & SKIPPABLE != 0 {
                remarks.push((format!("_-{name}"), INT_ID));
            } else if flags & OPTIONAL != 0 {
                remarks.push((format!("_?{name}"), INT_ID));
            }
            described.push((name, id));
        }
        described.append(&mut remarks);
        described
    }

    fn name(&self, name: &str) -> String {
        if self.go_names { go_name(name) } else { name.to_owned() }
    }

    /// Gives ids to all that has none, describes what was not sent, and returns whether an id
    /// that stands in the value already was given up.
    pub(crate) fn describe(&mut self, root: NodeId, out: &mut Vec<u8>) -> bool {
        // A definition that changed since it was sent gets a new id, and then so does all that
        // holds it.
        loop {
            let mut seen = BTreeSet::new();
            self.number(root, &mut seen);
            for (concrete, _) in self.concretes.clone() {
                self.number_concrete(concrete, &mut seen);
            }
            let mut is_changed = false;
            for def in seen.clone() {
                if self.defs[def as usize].sent.is_none() {
                    continue;
                }
                let fields = self.fields(def, &mut seen);
                let def = &mut self.defs[def as usize];
                if def.sent.as_ref().is_some_and(|sent| *sent != fields) {
                    def.sent = None;
                    def.id = None;
                    is_changed = true;
                }
            }
            if !is_changed {
                break;
            }
        }
        // What stands in an interface was written with its id.
        let ids = self.concretes.clone();
        let stale = ids.iter().any(|(concrete, id)| match concrete {
            Concrete::Def(def) => self.defs[*def as usize].id != Some(*id),
            _ => false,
        });
        if stale {
            self.concretes.retain(|(concrete, _)| !matches!(concrete, Concrete::Def(_)));
            return true;
        }
        self.send(root, out);
        for (concrete, _) in ids {
            match concrete {
                Concrete::AnySlice => {
                    self.send_key(Key::Slice(INTERFACE_ID), "", None, out);
                }
                Concrete::AnyMap => {
                    self.send_key(Key::Map(STRING_ID, INTERFACE_ID), "", None, out);
                }
                Concrete::AnyKeyMap => {
                    self.send_key(Key::Map(INTERFACE_ID, INTERFACE_ID), "", None, out);
                }
                Concrete::Def(def) => self.send_def(def, out),
                Concrete::Opaque(opaque) => self.send_opaque(opaque, out),
            }
        }
        self.is_dirty = false;
        self.version = self.version.wrapping_add(1);
        false
    }

    fn number_concrete(&mut self, concrete: Concrete, seen: &mut BTreeSet<DefId>) {
        if let Concrete::Def(def) = concrete
            && seen.insert(def)
        {
            if self.defs[def as usize].id.is_none() {
                let id = self.new_id();
                self.defs[def as usize].id = Some(id);
            }
            for index in 0..self.defs[def as usize].fields.len() {
                if let Some(field) = self.defs[def as usize].fields[index].node
                    && !self.is_hole(field)
                {
                    self.number(field, seen);
                }
            }
        }
    }

    /// Sends the definition of the position's type, then those of its parts.
    fn send(&mut self, node: NodeId, out: &mut Vec<u8>) {
        let Node { kind, at, .. } = self.node(node);
        match kind {
            Kind::Slice if self.node(at).kind == Kind::Byte => {}
            Kind::Slice => {
                let elem = self.id(at);
                self.send_key(Key::Slice(elem), "", Some(&[at]), out);
            }
            Kind::Map => {
                let (key, elem) = (self.id(at), self.id(at + 1));
                self.send_key(Key::Map(key, elem), "", Some(&[at, at + 1]), out);
            }
            Kind::Option if self.is_open(at) => {
                self.send_key(Key::Option(0), OPTION_NAME, None, out);
            }
            Kind::Option => {
                let held = self.id(at);
                self.send_key(Key::Option(held), OPTION_NAME, Some(&[at]), out);
            }
            Kind::Array => {
                if let Some((elem, len)) = self.array(at) {
                    let id = self.id(elem);
                    self.send_key(Key::Array(id, len), "", Some(&[elem]), out);
                }
            }
            Kind::Opaque => self.send_opaque(at, out),
            Kind::Struct | Kind::Enum | Kind::Tuple | Kind::Unit => {
                self.send_def(at, out);
            }
            _ => {}
        }
    }

    fn send_key(
        &mut self,
        key: Key,
        name: &str,
        parts: Option<&[NodeId]>,
        out: &mut Vec<u8>,
    ) {
        let id = self.key_id(key);
        if !self.sent.insert(id) {
            return;
        }
        put_message(out, id, |body| {
            let number = match key {
                Key::Array(..) => 1,
                Key::Slice(_) => 2,
                Key::Option(_) => 3,
                Key::Map(..) => 4,
                Key::Opaque(_) => 5,
            };
            body.extend_from_slice(&[number, 1]);
            put_named(body, name, i64::from(id));
            match key {
                Key::Slice(elem) => {
                    body.push(1);
                    put_int(body, i64::from(elem));
                }
                Key::Map(key, elem) => {
                    body.push(1);
                    put_int(body, i64::from(key));
                    body.push(1);
                    put_int(body, i64::from(elem));
                }
                Key::Array(elem, len) => {
                    body.push(1);
                    put_int(body, i64::from(elem));
                    body.push(1);
                    put_int(body, i64::from(len));
                }
                Key::Option(held) => {
                    body.extend_from_slice(&[1, 1]);
                    let (name, held) =
                        if held == 0 { ("_?Some", INT_ID) } else { (SOME_NAME, held) };
                    put_named(body, name, i64::from(held));
                }
                Key::Opaque(_) => {}
            }
            body.extend_from_slice(&[0, 0]);
        });
        for &part in parts.unwrap_or_default() {
            self.send(part, out);
        }
    }

    fn send_opaque(&mut self, opaque: u32, out: &mut Vec<u8>) {
        let id = self.key_id(Key::Opaque(opaque));
        if !self.sent.insert(id) {
            return;
        }
        let (kind, name) = self.opaques[opaque as usize].clone();
        put_message(out, id, |body| {
            let number = match kind {
                OpaqueKind::Gob => 5,
                OpaqueKind::Binary => 6,
                OpaqueKind::Text => 7,
            };
            body.extend_from_slice(&[number, 1]);
            put_named(body, &name, i64::from(id));
            body.extend_from_slice(&[0, 0]);
        });
    }

    fn send_def(&mut self, def: DefId, out: &mut Vec<u8>) {
        let Some(id) = self.defs[def as usize].id else { return };
        if !self.sent.insert(id) {
            return;
        }
        let fields = self.fields(def, &mut BTreeSet::new());
        let Def { name, is_enum, .. } = &self.defs[def as usize];
        let name =
            if *is_enum { format!("{ENUM_PREFIX}{name}") } else { name.to_string() };
        put_message(out, id, |body| {
            body.extend_from_slice(&[3, 1]);
            put_named(body, &name, i64::from(id));
            if !fields.is_empty() {
                body.push(1);
                put_uint(body, fields.len() as u64);
                for (name, id) in &fields {
                    put_named(body, name, i64::from(*id));
                }
            }
            body.extend_from_slice(&[0, 0]);
        });
        self.defs[def as usize].sent = Some(fields);
        for index in 0..self.defs[def as usize].fields.len() {
            if let Some(field) = self.defs[def as usize].fields[index].node
                && !self.is_hole(field)
            {
                self.send(field, out);
            }
        }
    }

    /// Ends all values that an error has left unfinished.
    pub(crate) fn calm(&mut self) {
        for def in &mut self.defs {
            def.is_being_made = false;
        }
    }
}

/// One message that defines `id`.
fn put_message(out: &mut Vec<u8>, id: i32, put: impl FnOnce(&mut Vec<u8>)) {
    let mut body = Vec::new();
    put_int(&mut body, -i64::from(id));
    put(&mut body);
    put_bytes(out, &body);
}

/// `first_name` as Go writes it: `FirstName`.
pub(crate) fn go_name(name: &str) -> String {
    let mut go = String::with_capacity(name.len());
    for part in name.split('_') {
        let mut chars = part.chars();
        go.extend(chars.next().into_iter().flat_map(char::to_uppercase));
        go.push_str(chars.as_str());
    }
    if go.is_empty() { name.to_owned() } else { go }
}

const _: () = assert!(FIRST_FREE_ID == 64);
