//! A value under a check of its shape, for a library that panics where a value has another one
//! than the values before it at the same place, or is of unknown length.
//!
//! The library writes columns: a sequence's elements must be alike to the last field.

use std::cell::Cell;
use std::fmt::Display;
use std::slice;

use serde::ser::{self, Error as _, Serialize, Serializer};
use wiremark_core::ErrorKind;
use wiremark_core::depth::MAX_EMPTY_ELEMENTS;

/// What was met at a place so far.
#[derive(Debug, Default)]
pub(crate) enum Shape {
    #[default]
    Unknown,
    Scalar(Scalar),
    Seq(Box<Shape>),
    Map(Box<[Shape; 2]>),
    Tuple(Box<[Shape]>),
    /// By the number of the variant; `None` is 0 and `Some` is 1.
    Enum(Vec<Shape>),
}

impl Shape {
    /// Whether what was met here takes no bytes.
    fn is_empty(&self) -> bool {
        match self {
            Self::Unknown => true,
            Self::Tuple(fields) => fields.iter().all(Self::is_empty),
            Self::Scalar(_) | Self::Seq(_) | Self::Map(_) | Self::Enum(_) => false,
        }
    }
}

/// One for each kind of column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Scalar {
    Bool,
    I8,
    I16,
    I32,
    I64,
    I128,
    U8,
    U16,
    /// And characters.
    U32,
    /// And `f64`.
    U64,
    U128,
    F32,
    Text,
}

/// Why a value was refused; the library's error cannot carry it.
pub(crate) type Refusal = Cell<Option<(ErrorKind, &'static str)>>;

const CHANGED: &str = "a value of another shape than those before it in its sequence";
const NO_LENGTH: &str = "a sequence or map of unknown length";
const WRONG_LENGTH: &str = "a sequence or map that is not as long as it said";
const SKIPPED: &str = "a field that is left out";
const VARIANTS: &str = "an enum of more than 256 variants";
const TOO_MANY: &str = "more than 65536 elements that take no bytes";

/// A value, or a part of one, with the place of its shape.
pub(crate) struct Shaped<'a, T: ?Sized> {
    value: &'a T,
    shape: Cell<Option<&'a mut Shape>>,
    refusal: &'a Refusal,
}

impl<'a, T: ?Sized> Shaped<'a, T> {
    #[inline]
    pub(crate) fn new(value: &'a T, shape: &'a mut Shape, refusal: &'a Refusal) -> Self {
        Self { value, shape: Cell::new(Some(shape)), refusal }
    }
}

impl<T: Serialize + ?Sized> Serialize for Shaped<'_, T> {
    #[inline]
    fn serialize<S: Serializer>(&self, library: S) -> Result<S::Ok, S::Error> {
        match self.shape.take() {
            Some(shape) => {
                self.value.serialize(Checked { library, shape, refusal: self.refusal })
            }
            None => Err(S::Error::custom("a part is written once")),
        }
    }
}

struct Checked<'a, S> {
    library: S,
    shape: &'a mut Shape,
    refusal: &'a Refusal,
}

#[cold]
fn refuse<E: ser::Error>(refusal: &Refusal, reason: &'static str) -> E {
    let kind = match reason {
        TOO_MANY => ErrorKind::Limit,
        WRONG_LENGTH => ErrorKind::Data,
        _ => ErrorKind::Unsupported,
    };
    refusal.set(Some((kind, reason)));
    E::custom(reason)
}

impl<'a, S: Serializer> Checked<'a, S> {
    #[inline]
    fn scalar(self, scalar: Scalar) -> Result<S, S::Error> {
        match self.shape {
            Shape::Scalar(before) if *before == scalar => Ok(self.library),
            Shape::Unknown => {
                *self.shape = Shape::Scalar(scalar);
                Ok(self.library)
            }
            _ => Err(refuse(self.refusal, CHANGED)),
        }
    }

    /// The places of `len` fields. One alone is written as if it were no tuple.
    #[inline]
    fn fields(
        shape: &'a mut Shape,
        len: usize,
        refusal: &Refusal,
    ) -> Result<&'a mut [Shape], S::Error> {
        if len == 1 {
            return Ok(slice::from_mut(shape));
        }
        if matches!(shape, Shape::Unknown) {
            *shape = Shape::Tuple((0..len).map(|_| Shape::Unknown).collect());
        }
        match shape {
            Shape::Tuple(fields) if fields.len() == len => Ok(fields),
            _ => Err(refuse(refusal, CHANGED)),
        }
    }

    /// The place of what is in a variant.
    #[inline]
    fn variant(
        shape: &'a mut Shape,
        index: u32,
        refusal: &Refusal,
    ) -> Result<&'a mut Shape, S::Error> {
        let index = usize::try_from(index).unwrap_or(usize::MAX);
        if index > usize::from(u8::MAX) {
            return Err(refuse(refusal, VARIANTS));
        }
        if matches!(shape, Shape::Unknown) {
            *shape = Shape::Enum(Vec::new());
        }
        let Shape::Enum(variants) = shape else { return Err(refuse(refusal, CHANGED)) };
        if variants.len() <= index {
            variants.resize_with(index + 1, Shape::default);
        }
        variants.get_mut(index).ok_or_else(|| refuse(refusal, VARIANTS))
    }
}

macro_rules! scalars {
    ($($method:ident($type:ty) = $scalar:ident;)*) => {
        $(
            #[inline]
            fn $method(self, value: $type) -> Result<S::Ok, S::Error> {
                self.scalar(Scalar::$scalar)?.$method(value)
            }
        )*
    };
}

impl<'a, S: Serializer> Serializer for Checked<'a, S> {
    type Ok = S::Ok;
    type Error = S::Error;
    type SerializeSeq = Seq<'a, S::SerializeSeq>;
    type SerializeTuple = Fields<'a, S::SerializeTuple>;
    type SerializeTupleStruct = Fields<'a, S::SerializeTupleStruct>;
    type SerializeTupleVariant = Fields<'a, S::SerializeTupleVariant>;
    type SerializeMap = Map<'a, S::SerializeMap>;
    type SerializeStruct = Fields<'a, S::SerializeStruct>;
    type SerializeStructVariant = Fields<'a, S::SerializeStructVariant>;

    scalars! {
        serialize_bool(bool) = Bool;
        serialize_i8(i8) = I8;
        serialize_i16(i16) = I16;
        serialize_i32(i32) = I32;
        serialize_i64(i64) = I64;
        serialize_i128(i128) = I128;
        serialize_u8(u8) = U8;
        serialize_u16(u16) = U16;
        serialize_u32(u32) = U32;
        serialize_u64(u64) = U64;
        serialize_u128(u128) = U128;
        serialize_f32(f32) = F32;
        serialize_f64(f64) = U64;
        serialize_char(char) = U32;
        serialize_str(&str) = Text;
    }

    #[inline]
    fn serialize_bytes(self, bytes: &[u8]) -> Result<S::Ok, S::Error> {
        // A sequence of numbers for the library.
        bytes.serialize(self)
    }

    #[inline]
    fn serialize_none(self) -> Result<S::Ok, S::Error> {
        Self::variant(self.shape, 0, self.refusal)?;
        self.library.serialize_none()
    }

    #[inline]
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        let shape = Self::variant(self.shape, 1, self.refusal)?;
        self.library.serialize_some(&Shaped::new(value, shape, self.refusal))
    }

    #[inline]
    fn serialize_unit(self) -> Result<S::Ok, S::Error> {
        self.library.serialize_unit()
    }

    #[inline]
    fn serialize_unit_struct(self, name: &'static str) -> Result<S::Ok, S::Error> {
        self.library.serialize_unit_struct(name)
    }

    #[inline]
    fn serialize_unit_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
    ) -> Result<S::Ok, S::Error> {
        Self::variant(self.shape, index, self.refusal)?;
        self.library.serialize_unit_variant(name, index, variant)
    }

    #[inline]
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        let value = Shaped::new(value, self.shape, self.refusal);
        self.library.serialize_newtype_struct(name, &value)
    }

    #[inline]
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        let shape = Self::variant(self.shape, index, self.refusal)?;
        let value = Shaped::new(value, shape, self.refusal);
        self.library.serialize_newtype_variant(name, index, variant, &value)
    }

    #[inline]
    fn serialize_seq(self, len: Option<usize>) -> Result<Self::SerializeSeq, S::Error> {
        let Some(left) = len else { return Err(refuse(self.refusal, NO_LENGTH)) };
        if matches!(self.shape, Shape::Unknown) {
            *self.shape = Shape::Seq(Box::default());
        }
        let Shape::Seq(shape) = self.shape else {
            return Err(refuse(self.refusal, CHANGED));
        };
        let library = self.library.serialize_seq(len)?;
        Ok(Seq { library, shape, len: left, left, refusal: self.refusal })
    }

    #[inline]
    fn serialize_map(self, len: Option<usize>) -> Result<Self::SerializeMap, S::Error> {
        let Some(left) = len else { return Err(refuse(self.refusal, NO_LENGTH)) };
        if matches!(self.shape, Shape::Unknown) {
            *self.shape = Shape::Map(Box::default());
        }
        let Shape::Map(shapes) = self.shape else {
            return Err(refuse(self.refusal, CHANGED));
        };
        let library = self.library.serialize_map(len)?;
        Ok(Map { library, shapes, left, has_key: false, refusal: self.refusal })
    }

    #[inline]
    fn serialize_tuple(self, len: usize) -> Result<Self::SerializeTuple, S::Error> {
        let shapes = Self::fields(self.shape, len, self.refusal)?;
        let library = self.library.serialize_tuple(len)?;
        Ok(Fields { library, shapes: shapes.iter_mut(), refusal: self.refusal })
    }

    #[inline]
    fn serialize_tuple_struct(
        self,
        name: &'static str,
        len: usize,
    ) -> Result<Self::SerializeTupleStruct, S::Error> {
        let shapes = Self::fields(self.shape, len, self.refusal)?;
        let library = self.library.serialize_tuple_struct(name, len)?;
        Ok(Fields { library, shapes: shapes.iter_mut(), refusal: self.refusal })
    }

    #[inline]
    fn serialize_tuple_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Self::SerializeTupleVariant, S::Error> {
        let shape = Self::variant(self.shape, index, self.refusal)?;
        let shapes = Self::fields(shape, len, self.refusal)?;
        let library = self.library.serialize_tuple_variant(name, index, variant, len)?;
        Ok(Fields { library, shapes: shapes.iter_mut(), refusal: self.refusal })
    }

    #[inline]
    fn serialize_struct(
        self,
        name: &'static str,
        len: usize,
    ) -> Result<Self::SerializeStruct, S::Error> {
        let shapes = Self::fields(self.shape, len, self.refusal)?;
        let library = self.library.serialize_struct(name, len)?;
        Ok(Fields { library, shapes: shapes.iter_mut(), refusal: self.refusal })
    }

    #[inline]
    fn serialize_struct_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Self::SerializeStructVariant, S::Error> {
        let shape = Self::variant(self.shape, index, self.refusal)?;
        let shapes = Self::fields(shape, len, self.refusal)?;
        let library = self.library.serialize_struct_variant(name, index, variant, len)?;
        Ok(Fields { library, shapes: shapes.iter_mut(), refusal: self.refusal })
    }

    #[inline]
    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        self.scalar(Scalar::Text)?.collect_str(value)
    }

    #[inline]
    fn is_human_readable(&self) -> bool {
        self.library.is_human_readable()
    }
}

struct Seq<'a, S> {
    library: S,
    shape: &'a mut Shape,
    len: usize,
    left: usize,
    refusal: &'a Refusal,
}

impl<S: ser::SerializeSeq> ser::SerializeSeq for Seq<'_, S> {
    type Ok = S::Ok;
    type Error = S::Error;

    #[inline]
    fn serialize_element<T: Serialize + ?Sized>(
        &mut self,
        value: &T,
    ) -> Result<(), S::Error> {
        let left = self.left.checked_sub(1);
        self.left = left.ok_or_else(|| refuse(self.refusal, WRONG_LENGTH))?;
        self.library.serialize_element(&Shaped::new(value, self.shape, self.refusal))
    }

    #[inline]
    fn end(self) -> Result<S::Ok, S::Error> {
        if self.left > 0 {
            return Err(refuse(self.refusal, WRONG_LENGTH));
        }
        // The library does not read more of them.
        if self.len > MAX_EMPTY_ELEMENTS && self.shape.is_empty() {
            return Err(refuse(self.refusal, TOO_MANY));
        }
        self.library.end()
    }
}

struct Map<'a, S> {
    library: S,
    shapes: &'a mut [Shape; 2],
    left: usize,
    has_key: bool,
    refusal: &'a Refusal,
}

impl<S: ser::SerializeMap> ser::SerializeMap for Map<'_, S> {
    type Ok = S::Ok;
    type Error = S::Error;

    #[inline]
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), S::Error> {
        let left = self.left.checked_sub(1).filter(|_| !self.has_key);
        self.left = left.ok_or_else(|| refuse(self.refusal, WRONG_LENGTH))?;
        self.has_key = true;
        let [shape, _] = &mut *self.shapes;
        self.library.serialize_key(&Shaped::new(key, shape, self.refusal))
    }

    #[inline]
    fn serialize_value<T: Serialize + ?Sized>(
        &mut self,
        value: &T,
    ) -> Result<(), S::Error> {
        if !std::mem::take(&mut self.has_key) {
            return Err(refuse(self.refusal, WRONG_LENGTH));
        }
        let [_, shape] = &mut *self.shapes;
        self.library.serialize_value(&Shaped::new(value, shape, self.refusal))
    }

    #[inline]
    fn end(self) -> Result<S::Ok, S::Error> {
        if self.left > 0 || self.has_key {
            return Err(refuse(self.refusal, WRONG_LENGTH));
        }
        self.library.end()
    }
}

struct Fields<'a, S> {
    library: S,
    shapes: slice::IterMut<'a, Shape>,
    refusal: &'a Refusal,
}

impl<'a, S> Fields<'a, S> {
    #[inline]
    fn next<E: ser::Error>(&mut self) -> Result<&'a mut Shape, E> {
        self.shapes.next().ok_or_else(|| refuse(self.refusal, WRONG_LENGTH))
    }

    #[inline]
    fn all_written<E: ser::Error>(&self) -> Result<(), E> {
        match self.shapes.len() {
            0 => Ok(()),
            _ => Err(refuse(self.refusal, WRONG_LENGTH)),
        }
    }
}

macro_rules! fields {
    ($trait:ident, $method:ident $(, $key:ident)?) => {
        impl<S: ser::$trait> ser::$trait for Fields<'_, S> {
            type Ok = S::Ok;
            type Error = S::Error;

            #[inline]
            fn $method<T: Serialize + ?Sized>(
                &mut self,
                $($key: &'static str,)?
                value: &T,
            ) -> Result<(), S::Error> {
                let shape = self.next()?;
                let value = Shaped::new(value, shape, self.refusal);
                self.library.$method($($key,)? &value)
            }

            $(
                // A reader would take the next field for it.
                fn skip_field(&mut self, $key: &'static str) -> Result<(), S::Error> {
                    let _ = $key;
                    Err(refuse(self.refusal, SKIPPED))
                }
            )?

            #[inline]
            fn end(self) -> Result<S::Ok, S::Error> {
                self.all_written()?;
                self.library.end()
            }
        }
    };
}

fields!(SerializeTuple, serialize_element);
fields!(SerializeTupleStruct, serialize_field);
fields!(SerializeTupleVariant, serialize_field);
fields!(SerializeStruct, serialize_field, key);
fields!(SerializeStructVariant, serialize_field, key);
