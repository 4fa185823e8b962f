//! Learning a type from its `Deserialize`, before there is a value.
//!
//! The type is handed a deserializer that answers each request with a dummy and notes it; it is
//! asked again until each variant of each enum has been seen. What parses its text, or takes
//! anything, cannot be learned so.

use std::collections::BTreeSet;

use serde::de::value::{BorrowedStrDeserializer, U32Deserializer};
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, MapAccess,
    SeqAccess, VariantAccess, Visitor,
};

use crate::shape::{DefId, FieldDef, Kind, NodeId, OPTIONAL, SENT, Shapes};
use crate::special::{COMPLEX_TOKEN, INTERFACE_TOKEN, OPAQUE_TOKEN};
use crate::time::TIME_TOKEN;
use crate::types::{INT128_NAMES, OpaqueKind};
use crate::value::VALUE_TOKEN;
use crate::{Error, Result};

/// A type is asked at most so often.
const MAX_PASSES: usize = 1_000;
/// A dummy nests at most so deep.
const MAX_LEVELS: u32 = 64;

/// Learns `T` below `root`.
pub(crate) fn trace<'de, T: Deserialize<'de>>(
    shapes: &mut Shapes,
    root: NodeId,
    is_lossless: bool,
) -> Result<()> {
    let mut state = State {
        shapes,
        entered: BTreeSet::new(),
        tried: BTreeSet::new(),
        levels: 0,
        is_new: true,
        is_lossless,
    };
    let mut last = Ok(());
    for _ in 0..MAX_PASSES {
        if !std::mem::take(&mut state.is_new) {
            // Nothing was learned, so nothing will be.
            state.shapes.finish_trace();
            return last;
        }
        state.entered.clear();
        state.levels = MAX_LEVELS;
        let tracer = Tracer { state: &mut state, node: root, place: Place::Element };
        last = T::deserialize(tracer).map(drop);
    }
    Err(untraceable())
}

fn untraceable() -> Error {
    Error::unsupported("the type cannot be learned without a value")
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Field,
    Element,
    OfSequence,
}

struct State<'s> {
    shapes: &'s mut Shapes,
    /// Options and containers that hold something in this pass already.
    entered: BTreeSet<NodeId>,
    /// Variants that were tried in some pass.
    tried: BTreeSet<(DefId, usize)>,
    levels: u32,
    /// Whether this pass learns something.
    is_new: bool,
    is_lossless: bool,
}

struct Tracer<'t, 's> {
    state: &'t mut State<'s>,
    node: NodeId,
    place: Place,
}

impl<'t, 's> Tracer<'t, 's> {
    fn learn(&mut self, kind: Kind, at: u32) -> Result<()> {
        let known = self.state.shapes.node(self.node);
        match known.kind {
            Kind::Unknown => {
                self.state.is_new = true;
                self.state.shapes.set(self.node, kind, at);
                Ok(())
            }
            same if same == kind && known.at == at => Ok(()),
            _ => Err(untraceable()),
        }
    }

    /// The node below, made when first asked for; `count` of them side by side.
    fn below(&mut self, kind: Kind, count: u32) -> Result<NodeId> {
        let known = self.state.shapes.node(self.node);
        if known.kind == kind {
            return Ok(known.at);
        }
        let first = self.state.shapes.add(Kind::Unknown);
        for _ in 1..count {
            self.state.shapes.add(Kind::Unknown);
        }
        self.learn(kind, first)?;
        Ok(first)
    }

    fn descend(self, node: NodeId, place: Place) -> Result<Tracer<'t, 's>> {
        self.state.levels = self.state.levels.checked_sub(1).ok_or_else(untraceable)?;
        Ok(Tracer { state: self.state, node, place })
    }

    /// The definition of a struct or a tuple with these fields.
    fn fields(
        &mut self,
        kind: Kind,
        name: &'static str,
        names: impl ExactSizeIterator<Item = std::borrow::Cow<'static, str>>,
    ) -> Result<DefId> {
        let known = self.state.shapes.node(self.node);
        if matches!(known.kind, Kind::Struct | Kind::Tuple) {
            return Ok(known.at);
        }
        let shapes = &mut *self.state.shapes;
        let def = if kind == Kind::Struct {
            shapes.bind(name, false, self.node)
        } else {
            let def = shapes.def(name.into(), false);
            shapes.defs[def as usize].uses = 0;
            def
        };
        if !shapes.defs[def as usize].is_complete {
            let fields = names
                .map(|name| FieldDef { name, node: Some(shapes.add(Kind::Unknown)) })
                .collect();
            shapes.defs[def as usize].fields = fields;
            // Not of tuples, which may turn out to be arrays.
            shapes.defs[def as usize].is_complete = kind == Kind::Struct;
            shapes.defs[def as usize].is_traced = true;
        }
        self.learn(kind, def)?;
        Ok(def)
    }

    fn opaque(&mut self, name: &str) -> Result<()> {
        let at = self.state.shapes.opaque(OpaqueKind::Gob, name);
        self.learn(Kind::Opaque, at)
    }

    fn unit(&mut self, name: &'static str) -> Result<()> {
        let def = self.state.shapes.unit(name);
        self.learn(Kind::Unit, def)
    }

    fn tuple<'de, V: Visitor<'de>>(
        mut self,
        name: &'static str,
        len: usize,
        visitor: V,
    ) -> Result<V::Value> {
        let names = (0..len).map(|index| format!("F{index}").into());
        let def = self.fields(Kind::Tuple, name, names)?;
        let node = self.node;
        let tracer = self.descend(node, Place::Element)?;
        visitor.visit_seq(Fields { state: tracer.state, def, next: 0, names: &[] })
    }
}

macro_rules! scalars {
    ($($method:ident $kind:ident $visit:ident($value:expr);)*) => {
        $(fn $method<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value> {
            self.learn(Kind::$kind, 0)?;
            visitor.$visit($value)
        })*
    };
}

impl<'de> Deserializer<'de> for Tracer<'_, '_> {
    type Error = Error;

    scalars! {
        deserialize_bool Bool visit_bool(false);
        deserialize_i8 Int visit_i8(0);
        deserialize_i16 Int visit_i16(0);
        deserialize_i32 Int visit_i32(0);
        deserialize_i64 Int visit_i64(0);
        deserialize_u16 Uint visit_u16(0);
        deserialize_u32 Uint visit_u32(0);
        deserialize_u64 Uint visit_u64(0);
        deserialize_f32 Float visit_f32(0.0);
        deserialize_f64 Float visit_f64(0.0);
        deserialize_char String visit_char('a');
        deserialize_str String visit_borrowed_str("");
        deserialize_string String visit_borrowed_str("");
        deserialize_bytes Bytes visit_borrowed_bytes(&[]);
        deserialize_byte_buf Bytes visit_borrowed_bytes(&[]);
    }

    fn deserialize_any<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value> {
        Err(untraceable())
    }

    fn deserialize_u8<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value> {
        let is_byte = self.place == Place::OfSequence && !self.state.is_lossless;
        self.learn(if is_byte { Kind::Byte } else { Kind::Uint }, 0)?;
        visitor.visit_u8(0)
    }

    fn deserialize_i128<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value> {
        self.opaque(INT128_NAMES[0])?;
        visitor.visit_i128(0)
    }

    fn deserialize_u128<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value> {
        self.opaque(INT128_NAMES[1])?;
        visitor.visit_u128(0)
    }

    fn deserialize_option<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value> {
        let node = self.node;
        if self.place == Place::Field {
            self.state.shapes.flag(node, OPTIONAL);
            if !self.state.entered.insert(node) {
                return visitor.visit_none();
            }
            return visitor.visit_some(self.descend(node, Place::Field)?);
        }
        let held = self.below(Kind::Option, 1)?;
        if !self.state.entered.insert(node) {
            return visitor.visit_none();
        }
        visitor.visit_some(self.descend(held, Place::Element)?)
    }

    fn deserialize_unit<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value> {
        self.unit("()")?;
        visitor.visit_unit()
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        mut self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        self.unit(name)?;
        visitor.visit_unit()
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        mut self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        match name {
            TIME_TOKEN => {
                self.opaque("Time")?;
                let (payload, used) = crate::Time::ZERO.payload();
                visitor.visit_bytes(&payload[..used])
            }
            COMPLEX_TOKEN => {
                self.learn(Kind::Complex, 0)?;
                let parts = [0.0, 0.0].into_iter();
                visitor.visit_seq(serde::de::value::SeqDeserializer::new(parts))
            }
            // What it holds cannot be known.
            VALUE_TOKEN | OPAQUE_TOKEN => Err(untraceable()),
            INTERFACE_TOKEN => {
                self.learn(Kind::Interface, 0)?;
                let inner = self.state.shapes.add(Kind::Unknown);
                visitor.visit_seq(Named { state: self.state, inner, next: 0 })
            }
            _ => {
                let (node, place) = (self.node, self.place);
                visitor.visit_newtype_struct(self.descend(node, place)?)
            }
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value> {
        let node = self.node;
        let elem = self.below(Kind::Slice, 1)?;
        let left = usize::from(self.state.entered.insert(node));
        let tracer = self.descend(elem, Place::OfSequence)?;
        visitor.visit_seq(One { state: tracer.state, node: elem, left })
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        len: usize,
        visitor: V,
    ) -> Result<V::Value> {
        self.tuple("", len, visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        len: usize,
        visitor: V,
    ) -> Result<V::Value> {
        self.tuple(name, len, visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value> {
        let node = self.node;
        let key = self.below(Kind::Map, 2)?;
        let left = usize::from(self.state.entered.insert(node));
        let tracer = self.descend(key, Place::Element)?;
        visitor.visit_map(One { state: tracer.state, node: key, left })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        mut self,
        name: &'static str,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        let fields = names.iter().map(|&name| name.into());
        let def = self.fields(Kind::Struct, name, fields)?;
        let node = self.node;
        let tracer = self.descend(node, Place::Element)?;
        visitor.visit_map(Fields { state: tracer.state, def, next: 0, names })
    }

    fn deserialize_enum<V: Visitor<'de>>(
        mut self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        let node = self.node;
        let shapes = &mut *self.state.shapes;
        let def = match shapes.node(node) {
            known if known.kind == Kind::Enum => known.at,
            _ => shapes.bind(name, true, node),
        };
        if shapes.defs[def as usize].fields.is_empty() {
            let fields = variants
                .iter()
                .map(|&variant| {
                    let node = shapes.add(Kind::Unknown);
                    shapes.flag(node, SENT);
                    FieldDef { name: variant.into(), node: Some(node) }
                })
                .collect();
            shapes.defs[def as usize].fields = fields;
            shapes.defs[def as usize].is_traced = true;
        }
        self.learn(Kind::Enum, def)?;
        // The first that was not tried; else one that ends.
        let index = match (0..variants.len())
            .find(|&index| self.state.tried.insert((def, index)))
        {
            Some(index) => {
                self.state.is_new = true;
                index
            }
            None => (0..variants.len())
                .find(|&index| {
                    let field = self.state.shapes.defs[def as usize].fields[index].node;
                    field.is_some_and(|field| {
                        !matches!(
                            self.state.shapes.node(field).kind,
                            Kind::Unknown | Kind::Enum | Kind::Struct | Kind::Tuple
                        )
                    })
                })
                .unwrap_or(variants.len().saturating_sub(1)),
        };
        let field = self.state.shapes.defs[def as usize].fields.get(index);
        let field = field.and_then(|field| field.node).ok_or_else(untraceable)?;
        let index = u32::try_from(index).map_err(|_| untraceable())?;
        visitor.visit_enum(Variant {
            tracer: self.descend(field, Place::Element)?,
            index,
            variants,
        })
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.deserialize_str(visitor)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_unit()
    }

    fn is_human_readable(&self) -> bool {
        false
    }
}

/// The fields of a struct or a tuple.
struct Fields<'t, 's> {
    state: &'t mut State<'s>,
    def: DefId,
    next: usize,
    names: &'static [&'static str],
}

impl Fields<'_, '_> {
    fn value<'de, T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value> {
        let fields = &self.state.shapes.defs[self.def as usize].fields;
        let field = fields.get(self.next).and_then(|field| field.node);
        let node = field.ok_or_else(untraceable)?;
        self.next += 1;
        let levels = self.state.levels;
        let tracer = Tracer { state: &mut *self.state, node, place: Place::Field };
        let value = seed.deserialize(tracer);
        self.state.levels = levels;
        value
    }
}

impl<'de> MapAccess<'de> for Fields<'_, '_> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>> {
        let Some(&name) = self.names.get(self.next) else { return Ok(None) };
        seed.deserialize(BorrowedStrDeserializer::new(name)).map(Some)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value> {
        self.value(seed)
    }
}

impl<'de> SeqAccess<'de> for Fields<'_, '_> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>> {
        if self.next >= self.state.shapes.defs[self.def as usize].fields.len() {
            return Ok(None);
        }
        self.value(seed).map(Some)
    }
}

/// One element of a container, or none.
struct One<'t, 's> {
    state: &'t mut State<'s>,
    node: NodeId,
    left: usize,
}

impl One<'_, '_> {
    fn part<'de, T: DeserializeSeed<'de>>(
        &mut self,
        node: NodeId,
        place: Place,
        seed: T,
    ) -> Result<T::Value> {
        let levels = self.state.levels;
        let value = seed.deserialize(Tracer { state: &mut *self.state, node, place });
        self.state.levels = levels;
        value
    }
}

impl<'de> SeqAccess<'de> for One<'_, '_> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        self.part(self.node, Place::OfSequence, seed).map(Some)
    }
}

impl<'de> MapAccess<'de> for One<'_, '_> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        self.part(self.node, Place::Element, seed).map(Some)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value> {
        self.part(self.node + 1, Place::Element, seed)
    }
}

/// The name of an interface and its value.
struct Named<'t, 's> {
    state: &'t mut State<'s>,
    inner: NodeId,
    next: u32,
}

impl<'de> SeqAccess<'de> for Named<'_, '_> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>> {
        self.next += 1;
        if self.next == 1 {
            return seed.deserialize("".into_deserializer()).map(Some);
        }
        let (node, place) = (self.inner, Place::Element);
        let tracer = Tracer { state: &mut *self.state, node, place };
        seed.deserialize(tracer).map(Some)
    }
}

/// A variant that is tried.
struct Variant<'t, 's> {
    tracer: Tracer<'t, 's>,
    index: u32,
    variants: &'static [&'static str],
}

impl<'de> EnumAccess<'de> for Variant<'_, '_> {
    type Error = Error;
    type Variant = Self;

    fn variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<(T::Value, Self)> {
        let index: U32Deserializer<Error> = self.index.into_deserializer();
        Ok((seed.deserialize(index)?, self))
    }
}

impl<'de> VariantAccess<'de> for Variant<'_, '_> {
    type Error = Error;

    fn unit_variant(mut self) -> Result<()> {
        self.tracer.unit("")
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value> {
        seed.deserialize(self.tracer)
    }

    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value> {
        let name = self.variants.get(self.index as usize).copied().unwrap_or("");
        self.tracer.tuple(name, len, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        mut self,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        let name = self.variants.get(self.index as usize).copied().unwrap_or("");
        let node = self.tracer.node;
        // A variant's fields belong to it alone.
        if self.tracer.state.shapes.node(node).kind == Kind::Unknown {
            let def = self.tracer.state.shapes.def(name.into(), false);
            self.tracer.state.shapes.defs[def as usize].uses = 0;
            self.tracer.learn(Kind::Struct, def)?;
            let shapes = &mut *self.tracer.state.shapes;
            let fields = names
                .iter()
                .map(|&name| FieldDef {
                    name: name.into(),
                    node: Some(shapes.add(Kind::Unknown)),
                })
                .collect();
            shapes.defs[def as usize].fields = fields;
            shapes.defs[def as usize].is_complete = true;
            shapes.defs[def as usize].is_traced = true;
        }
        let def = self.tracer.state.shapes.node(node).at;
        visitor.visit_map(Fields { state: self.tracer.state, def, next: 0, names })
    }
}
