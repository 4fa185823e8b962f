//! What is known of a type, laid out for writing values that hold nothing new.
//!
//! [`Shapes`] can change with each value; a [`Plan`] is made from it once it has come to rest. Its
//! steps lie side by side, a struct's in the order of its fields, and each says all that the
//! writer (`planned`) asks. Whatever a plan does not hold is [`Kind::Unknown`] in it: no value
//! fits there, and the one that comes is written by `ser`, which learns.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::shape::{DefId, Kind, Node, NodeId, OPTIONAL, SENT, SKIPPABLE, Shapes};

/// A position: a field, the elements of a slice, a root.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    /// A field's name; in the step before the first field, the struct's.
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) flags: u8,
    /// Elements, keys (the elements follow), what an option holds: their step. Structs and their
    /// like: the step with their name and the number of their fields, which follow.
    pub(crate) at: u32,
}

/// The position is a field.
pub(crate) const IS_FIELD: u8 = 1;
/// A zero is left out here.
pub(crate) const OMITS: u8 = 2;
/// The field is an option.
pub(crate) const IS_OPTION: u8 = 4;
/// The field may be missing.
pub(crate) const MAY_MISS: u8 = 8;
/// Nothing has been written of what is inside; see [`Plan::watch`].
pub(crate) const UNTOUCHED: u8 = 16;

/// The elements of bytes that come one by one.
pub(crate) const BYTE_STEP: u32 = 0;

const NOWHERE: Step = Step { name: "", kind: Kind::Unknown, flags: 0, at: 0 };

/// The steps for one state of [`Shapes`].
#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub(crate) steps: Vec<Step>,
    /// The state of the shapes that the steps say.
    version: u32,
    /// Where structs begin.
    defs: Vec<(DefId, u32)>,
    roots: Vec<(NodeId, Option<u32>)>,
    /// Whether something in it may be missing.
    may_miss: bool,
    /// The steps below which a value need not go, for one root.
    watched: Vec<u32>,
    watched_root: Option<u32>,
    can_watch: bool,
    /// Into how many of them the present value did not go.
    pub(crate) untouched: usize,
}

impl Plan {
    /// Whether the steps still say what is known.
    #[inline]
    pub(crate) fn is_current(&self, shapes: &Shapes) -> bool {
        self.version == shapes.version && !self.steps.is_empty()
    }

    /// The step of a position; none if values of it cannot be planned.
    pub(crate) fn root(&mut self, shapes: &mut Shapes, node: NodeId) -> Option<u32> {
        if !self.is_current(shapes) {
            self.version = shapes.version;
            self.steps.clear();
            self.steps.push(Step { kind: Kind::Byte, ..NOWHERE });
            self.defs.clear();
            self.roots.clear();
            self.may_miss = false;
            self.watched_root = None;
        }
        if let Some((_, root)) = self.roots.iter().find(|(root, _)| *root == node) {
            return *root;
        }
        let root = self.add(shapes, node);
        self.roots.push((node, root));
        root
    }

    fn push(&mut self, step: Step) -> u32 {
        self.steps.push(step);
        u32::try_from(self.steps.len() - 1).unwrap_or(BYTE_STEP)
    }

    fn add(&mut self, shapes: &mut Shapes, root: NodeId) -> Option<u32> {
        let first = self.push(NOWHERE);
        let mut open = vec![(root, first)];
        let mut is_plannable = true;
        while let Some((node, index)) = open.pop() {
            let Node { kind, mut at, .. } = shapes.node(node);
            let mut is_known = true;
            match kind {
                Kind::Interface | Kind::Complex | Kind::Opaque => is_plannable = false,
                Kind::Slice | Kind::Option => {
                    let inner = self.push(NOWHERE);
                    open.push((at, inner));
                    at = inner;
                }
                Kind::Map => {
                    let key = self.push(NOWHERE);
                    let elem = self.push(NOWHERE);
                    open.extend([(at, key), (at + 1, elem)]);
                    at = key;
                }
                Kind::Struct | Kind::Enum | Kind::Tuple | Kind::Array => {
                    match self.block(shapes, at, kind, &mut open) {
                        Some(block) => at = block,
                        None => is_known = false,
                    }
                }
                _ => {}
            }
            // Where `SENT` counts, the slow way must set it.
            let is_field = self
                .steps
                .get(index as usize)
                .is_some_and(|step| step.flags & IS_FIELD != 0);
            if is_field && shapes.node(node).flags & SENT == 0 && shapes.is_open(node) {
                is_known = false;
            }
            if let Some(step) = self.steps.get_mut(index as usize) {
                step.kind = if is_known { kind } else { Kind::Unknown };
                step.at = at;
            }
        }
        is_plannable.then_some(first)
    }

    /// The steps of a definition; none if it is not known in whole.
    fn block(
        &mut self,
        shapes: &mut Shapes,
        def: DefId,
        kind: Kind,
        open: &mut Vec<(NodeId, u32)>,
    ) -> Option<u32> {
        // An array's elements are no fields, whatever its definition is elsewhere.
        let key = if kind == Kind::Array { def | 1 << 31 } else { def };
        if let Some((_, block)) = self.defs.iter().find(|(known, _)| *known == key) {
            return Some(*block);
        }
        let known = shapes.defs.get(def as usize)?;
        if kind != Kind::Enum && !known.is_complete || known.is_being_made {
            return None;
        }
        // The names of a tuple's elements are ours, and nobody asks for them.
        let is_named = matches!(kind, Kind::Struct | Kind::Enum);
        let mut has_names = true;
        let mut name = |name: &Cow<'static, str>| {
            if let Cow::Borrowed(name) = name {
                return *name;
            }
            has_names &= !is_named;
            ""
        };
        let is_record = matches!(kind, Kind::Struct | Kind::Tuple);
        let count = u32::try_from(known.fields.len()).ok()?;
        let block = self.push(Step { name: name(&known.name), at: count, ..NOWHERE });
        self.defs.push((key, block));
        let mut nodes = Vec::new();
        for field in &known.fields {
            let mut flags = 0;
            if let Some(node) = field.node
                && is_record
            {
                let known = shapes.node(node).flags;
                flags = IS_FIELD;
                if known & SKIPPABLE == 0 {
                    flags |= OMITS;
                } else {
                    flags |= MAY_MISS;
                    self.may_miss = true;
                }
                if known & OPTIONAL != 0 {
                    flags |= IS_OPTION;
                }
            }
            let step = self.push(Step { name: name(&field.name), flags, ..NOWHERE });
            if let Some(node) = field.node {
                nodes.push((node, is_record));
                open.push((node, step));
            }
            if kind == Kind::Array {
                break;
            }
        }
        // One more than there are fields finds no place.
        self.push(NOWHERE);
        for (node, is_record) in nodes {
            if is_record {
                shapes.may_omit(node);
            }
        }
        has_names.then_some(block)
    }

    /// Makes ready to note what the next value touches below `root`; false if that cannot be
    /// told. It has touched all of it when nothing is [`untouched`](Self::untouched).
    pub(crate) fn watch(&mut self, root: u32) -> bool {
        if self.watched_root != Some(root) {
            self.watched_root = Some(root);
            self.can_watch = self.find_watched(root);
        }
        for &index in &self.watched {
            if let Some(step) = self.steps.get_mut(index as usize) {
                step.flags |= UNTOUCHED;
            }
        }
        self.untouched = self.watched.len();
        self.can_watch
    }

    /// Finds the steps below which a value need not go: elements, options, variants. All others
    /// are touched with what holds them.
    fn find_watched(&mut self, root: u32) -> bool {
        self.watched.clear();
        let kind = |at: u32| match self.steps.get(at as usize) {
            Some(step) => step.kind,
            None => Kind::Unknown,
        };
        let mut seen = BTreeSet::new();
        // The step, and whether something stands there in each value that gets so far.
        let mut open = vec![(root, true)];
        while let Some((index, is_sure)) = open.pop() {
            let Some(&Step { kind: known, flags, at, .. }) =
                self.steps.get(index as usize)
            else {
                return false;
            };
            match known {
                Kind::Unknown => continue,
                Kind::Slice | Kind::Map => {
                    let parts =
                        if known == Kind::Slice { at..at + 1 } else { at..at + 2 };
                    // The flag says that elements were seen, and not that there was a value.
                    if parts.clone().any(|at| kind(at) != Kind::Unknown) {
                        self.watched.push(index);
                    } else if !is_sure {
                        return false;
                    }
                    open.extend(parts.map(|part| (part, true)));
                    continue;
                }
                Kind::Option if flags & IS_FIELD != 0 || !is_sure => return false,
                Kind::Option => {
                    if kind(at) != Kind::Unknown {
                        self.watched.push(index);
                    }
                    open.push((at, true));
                    continue;
                }
                Kind::Struct | Kind::Tuple | Kind::Array | Kind::Enum
                    if seen.insert(at) =>
                {
                    let Some(&Step { at: count, .. }) = self.steps.get(at as usize)
                    else {
                        return false;
                    };
                    let count = if known == Kind::Array { count.min(1) } else { count };
                    for field in at + 1..=at + count {
                        let Some(step) = self.steps.get(field as usize) else {
                            return false;
                        };
                        let is_sure = known != Kind::Enum && step.flags & IS_OPTION == 0;
                        open.push((field, is_sure));
                    }
                }
                _ => {}
            }
            if !is_sure {
                self.watched.push(index);
            }
        }
        !self.may_miss
    }

    /// Notes that a value has something below the step.
    #[cold]
    #[inline(never)]
    pub(crate) fn touch(&mut self, index: u32) {
        if let Some(step) = self.steps.get_mut(index as usize)
            && step.flags & UNTOUCHED != 0
        {
            step.flags &= !UNTOUCHED;
            self.untouched = self.untouched.saturating_sub(1);
        }
    }
}
