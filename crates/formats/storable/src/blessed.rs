//! A value together with its class.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{self, Deserialize, Deserializer, SeqAccess, Visitor};
use serde::ser::{Serialize, Serializer};

/// The name of the newtype that our serializer and deserializer know.
pub(crate) const TOKEN: &str = "$wiremark_storable::Blessed";

/// A value that is an object of a class: what Perl's `bless` makes.
///
/// Written, the class goes before the value. Read, the data must have a class; the type `C` says
/// what is kept of it, and `Option<String>` takes data without one as well. Wherever another
/// type is asked for, classes are passed over.
///
/// In other formats it is a newtype of the tuple of both.
///
/// ```
/// use std::collections::BTreeMap;
/// use wiremark_storable::{Blessed, from_slice, to_vec};
///
/// let point = Blessed::new("Point", BTreeMap::from([("x", 1)]));
/// let bytes = to_vec(&point)?;
/// // As Perl writes `bless { x => 1 }, 'Point'`.
/// assert_eq!(bytes, b"\x05\x0b\x11\x05Point\x03\0\0\0\x01\x08\x81\0\0\0\x01x");
///
/// let back: Blessed<BTreeMap<String, i64>, &str> = from_slice(&bytes)?;
/// assert_eq!((back.class, back.value["x"]), ("Point", 1));
/// let plain: BTreeMap<String, i64> = from_slice(&bytes)?;
/// assert_eq!(plain, back.value);
/// # Ok::<(), wiremark_storable::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Blessed<T, C = String> {
    /// The name of the class.
    pub class: C,
    /// The object's data.
    pub value: T,
}

impl<T, C> Blessed<T, C> {
    /// An object of the class.
    pub fn new(class: C, value: T) -> Self {
        Self { class, value }
    }
}

impl<T: Serialize, C: Serialize> Serialize for Blessed<T, C> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_newtype_struct(TOKEN, &(&self.class, &self.value))
    }
}

impl<'de, T: Deserialize<'de>, C: Deserialize<'de>> Deserialize<'de> for Blessed<T, C> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(TOKEN, Both(PhantomData))
    }
}

struct Both<T, C>(PhantomData<(T, C)>);

impl<'de, T: Deserialize<'de>, C: Deserialize<'de>> Visitor<'de> for Both<T, C> {
    type Value = Blessed<T, C>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of a class")
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> Result<Self::Value, D::Error> {
        let (class, value) = Deserialize::deserialize(deserializer)?;
        Ok(Blessed { class, value })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut both: A) -> Result<Self::Value, A::Error> {
        let class =
            both.next_element()?.ok_or_else(|| de::Error::invalid_length(0, &self))?;
        let value =
            both.next_element()?.ok_or_else(|| de::Error::invalid_length(1, &self))?;
        Ok(Blessed { class, value })
    }
}
