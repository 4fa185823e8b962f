//! Streams without Rust types: [`Schema`], [`Dynamic`], and writing both byte for byte as Go
//! does.
//!
//! Go sends the definitions that an interface's value needs in the middle of the outer value,
//! in messages and chunks that SPEC.md describes. [`Exact`] writes that form, so that a stream
//! of Go's that was read can be written again with the same bytes.

use std::collections::{BTreeMap, BTreeSet};

use crate::types::{Kind, OpaqueKind, Types};
use crate::wire::{put_bytes, put_float, put_int, put_uint};
use crate::{Error, Result, Value};

/// A value with the id of its type.
#[derive(Clone, Debug, PartialEq)]
pub struct Dynamic {
    /// The id of the type: 1 to 8 for basic types, else one of the [`Schema`].
    pub type_id: i32,
    /// The value.
    pub value: Value,
}

/// The types that a stream defines, in its order.
///
/// See [`Deserializer::schema`](crate::Deserializer::schema).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schema {
    types: Vec<Type>,
    by_id: BTreeMap<i32, usize>,
    /// Where definitions begin that are sent together.
    groups: Vec<usize>,
}

/// A type that a stream defines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Type {
    id: i32,
    inner_id: i64,
    name: Box<str>,
    kind: TypeKind,
}

/// What a [`Type`] is, with the ids of its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypeKind {
    /// `[len]elem`
    Array {
        /// The elements' type.
        elem: i32,
        /// How many there are.
        len: u32,
    },
    /// `[]elem`
    Slice {
        /// The elements' type.
        elem: i32,
    },
    /// `map[key]elem`
    Map {
        /// The keys' type.
        key: i32,
        /// The elements' type.
        elem: i32,
    },
    /// A struct: the names of its fields with their types.
    Struct(Vec<(Box<str>, i32)>),
    /// A type that encodes itself.
    Opaque(OpaqueKind),
}

impl Type {
    /// The number that the stream gives it.
    pub fn id(&self) -> i32 {
        self.id
    }

    /// The number inside its descriptor, which Go writes otherwise for some pointers.
    pub fn inner_id(&self) -> i64 {
        self.inner_id
    }

    /// Its name, a remark only; empty for many types.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it is.
    pub fn kind(&self) -> &TypeKind {
        &self.kind
    }
}

impl Schema {
    /// The types in the order of the stream.
    pub fn types(&self) -> impl Iterator<Item = &Type> {
        self.types.iter()
    }

    /// The type with this number.
    pub fn get(&self, id: i32) -> Option<&Type> {
        self.types.get(*self.by_id.get(&id)?)
    }

    pub(crate) fn of(types: &Types) -> Self {
        let mut schema = Self { groups: types.groups().to_vec(), ..Self::default() };
        for &slot in types.order() {
            let kind = match types.kind(slot) {
                Kind::Array { elem, len } => {
                    TypeKind::Array { elem: types.id(elem), len }
                }
                Kind::Slice { elem } => TypeKind::Slice { elem: types.id(elem) },
                Kind::Map { key, elem } => {
                    TypeKind::Map { key: types.id(key), elem: types.id(elem) }
                }
                Kind::Struct { start, len, .. } => {
                    let fields = (0..len).filter_map(|index| types.field(start, index));
                    let fields = fields.map(|field| {
                        (types.raw_name(field).into(), types.id(field.slot))
                    });
                    TypeKind::Struct(fields.collect())
                }
                Kind::Opaque(kind) => TypeKind::Opaque(kind),
                _ => continue,
            };
            let id = types.id(slot);
            schema.by_id.insert(id, schema.types.len());
            schema.types.push(Type {
                id,
                inner_id: types.inner_id(slot),
                name: types.name(slot).into(),
                kind,
            });
        }
        schema
    }

    /// The types that are sent with the type at `index`, itself among them.
    fn group(&self, index: usize) -> &[Type] {
        let after = self.groups.partition_point(|&start| start <= index);
        let start = after.checked_sub(1).and_then(|at| self.groups.get(at));
        let end = self.groups.get(after).copied().unwrap_or(self.types.len());
        self.types.get(start.copied().unwrap_or(0)..end).unwrap_or_default()
    }
}

/// Writes the descriptor of a type (SPEC.md), with its negative id before it.
pub(crate) fn put_type(out: &mut Vec<u8>, ty: &Type) {
    put_int(out, -i64::from(ty.id));
    let number = match ty.kind {
        TypeKind::Array { .. } => 0,
        TypeKind::Slice { .. } => 1,
        TypeKind::Struct(_) => 2,
        TypeKind::Map { .. } => 3,
        TypeKind::Opaque(OpaqueKind::Gob) => 4,
        TypeKind::Opaque(OpaqueKind::Binary) => 5,
        TypeKind::Opaque(OpaqueKind::Text) => 6,
    };
    out.extend_from_slice(&[number + 1, 1]);
    put_named(out, &ty.name, ty.inner_id);
    match &ty.kind {
        TypeKind::Array { elem, len } => {
            out.push(1);
            put_int(out, i64::from(*elem));
            if *len > 0 {
                out.push(1);
                put_int(out, i64::from(*len));
            }
        }
        TypeKind::Slice { elem } => {
            out.push(1);
            put_int(out, i64::from(*elem));
        }
        TypeKind::Map { key, elem } => {
            out.push(1);
            put_int(out, i64::from(*key));
            out.push(1);
            put_int(out, i64::from(*elem));
        }
        TypeKind::Struct(fields) if !fields.is_empty() => {
            out.push(1);
            put_uint(out, fields.len() as u64);
            for (name, id) in fields {
                put_named(out, name, i64::from(*id));
            }
        }
        TypeKind::Struct(_) | TypeKind::Opaque(_) => {}
    }
    out.extend_from_slice(&[0, 0]);
}

/// A struct of a name and an id; an empty name is left out.
pub(crate) fn put_named(out: &mut Vec<u8>, name: &str, id: i64) {
    if name.is_empty() {
        out.push(2);
    } else {
        out.push(1);
        put_bytes(out, name.as_bytes());
        out.push(1);
    }
    put_int(out, id);
    out.push(0);
}

/// Moves a message from where it was made to where it is sent.
fn flush(to: &mut Vec<u8>, message: &mut Vec<u8>) {
    put_bytes(to, message);
    message.clear();
}

/// Puts `head` before what stands in `out` from `at` on.
pub(crate) fn flush_into(out: &mut Vec<u8>, at: usize, head: &[u8]) {
    let len = out.len();
    out.extend_from_slice(head);
    out.copy_within(at..len, at + head.len());
    out[at..at + head.len()].copy_from_slice(head);
}

/// Writes values with the types of a schema, in the very order of Go's Encoder.
pub(crate) struct Exact<'a> {
    pub(crate) schema: &'a Schema,
    /// Ids that were sent on this stream; those of this value are added.
    pub(crate) sent: &'a mut BTreeSet<i32>,
    pub(crate) levels: u32,
}

impl Exact<'_> {
    pub(crate) fn message(&mut self, out: &mut Vec<u8>, dynamic: &Dynamic) -> Result<()> {
        let mut buffer = Vec::new();
        self.send(&mut buffer, out, dynamic.type_id);
        self.typed(&mut buffer, out, dynamic.type_id, &dynamic.value, true)?;
        flush(out, &mut buffer);
        Ok(())
    }

    /// Sends the type's definition, and those that stand with it, unless it was sent.
    fn send(&mut self, buffer: &mut Vec<u8>, writer: &mut Vec<u8>, id: i32) {
        let Some(&index) = self.schema.by_id.get(&id) else { return };
        if self.sent.contains(&id) {
            return;
        }
        for ty in self.schema.group(index) {
            if self.sent.insert(ty.id) {
                put_type(buffer, ty);
                flush(writer, buffer);
            }
        }
    }

    /// A value with what stands before it: its id if wanted, and the zero byte.
    fn typed(
        &mut self,
        buffer: &mut Vec<u8>,
        writer: &mut Vec<u8>,
        id: i32,
        value: &Value,
        with_id: bool,
    ) -> Result<()> {
        if with_id {
            put_int(buffer, i64::from(id));
        }
        let kind = self.schema.get(id).map(Type::kind);
        if !matches!(kind, Some(TypeKind::Struct(_))) {
            buffer.push(0);
        }
        self.value(buffer, writer, id, value)
    }

    fn value(
        &mut self,
        buffer: &mut Vec<u8>,
        writer: &mut Vec<u8>,
        id: i32,
        value: &Value,
    ) -> Result<()> {
        let Some(left) = self.levels.checked_sub(1) else {
            return Err(Error::limit("expected fewer levels of nesting"));
        };
        self.levels = left;
        let kind = self.schema.get(id).map(Type::kind);
        match (id, kind, value) {
            (1, _, Value::Bool(value)) => buffer.push(u8::from(*value)),
            (2, _, Value::Int(value)) => put_int(buffer, *value),
            (3, _, Value::Uint(value)) => put_uint(buffer, *value),
            (4, _, Value::Float(value)) => put_float(buffer, *value),
            (5, _, Value::Bytes(bytes)) | (6, _, Value::RawString(bytes)) => {
                put_bytes(buffer, bytes);
            }
            (6, _, Value::String(text)) => put_bytes(buffer, text.as_bytes()),
            (7, _, Value::Complex(value)) => {
                put_float(buffer, value.re);
                put_float(buffer, value.im);
            }
            (8, _, Value::Nil) => buffer.push(0),
            (8, _, Value::Interface(inner)) => {
                put_bytes(buffer, inner.name.as_bytes());
                self.send(buffer, writer, inner.type_id);
                put_int(buffer, i64::from(inner.type_id));
                let mut content = Vec::new();
                self.typed(&mut content, buffer, inner.type_id, &inner.value, false)?;
                flush(buffer, &mut content);
            }
            (_, Some(TypeKind::Array { elem, len }), Value::Array(elements))
                if elements.len() as u64 == u64::from(*len) =>
            {
                self.elements(buffer, writer, *elem, elements)?;
            }
            (_, Some(TypeKind::Slice { elem }), Value::Slice(elements)) => {
                self.elements(buffer, writer, *elem, elements)?;
            }
            (_, Some(TypeKind::Map { key, elem }), Value::Map(entries)) => {
                put_uint(buffer, entries.len() as u64);
                for (name, value) in entries {
                    self.value(buffer, writer, *key, name)?;
                    self.value(buffer, writer, *elem, value)?;
                }
            }
            (_, Some(TypeKind::Struct(fields)), Value::Struct(found)) => {
                let mut next = 0;
                for (number, value) in found.numbered() {
                    let Some((_, id)) = fields.get(number as usize) else {
                        return Err(Error::data("expected a field of the struct's type"));
                    };
                    put_uint(buffer, u64::from(number + 1 - next));
                    self.value(buffer, writer, *id, value)?;
                    next = number + 1;
                }
                buffer.push(0);
            }
            (_, Some(TypeKind::Opaque(_)), Value::Opaque(opaque)) => {
                put_bytes(buffer, &opaque.payload);
            }
            _ => {
                let text = format!("expected a value of the type {id}, found another");
                return Err(Error::data(text));
            }
        }
        self.levels += 1;
        Ok(())
    }

    fn elements(
        &mut self,
        buffer: &mut Vec<u8>,
        writer: &mut Vec<u8>,
        elem: i32,
        elements: &[Value],
    ) -> Result<()> {
        put_uint(buffer, elements.len() as u64);
        for element in elements {
            self.value(buffer, writer, elem, element)?;
        }
        Ok(())
    }
}
