//! How deep values may nest.
//!
//! A value of the claimed depth goes both ways, the next is `Limit` both ways, and one of a
//! hundred thousand levels is `Limit` on a stack of 2 MiB, as threads have. Bytes of values that
//! the codec refuses to write are made from those of two it writes: what a level adds before
//! and behind is the same for each.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::marker::PhantomData;
use std::thread;

use serde::de::{DeserializeOwned, IgnoredAny};
use serde::ser::{Serialize, SerializeMap, SerializeSeq};
use serde::{Deserialize, Serializer};
use wiremark_core::{Codec, ErrorKind, Framing};
use wiremark_datasets::Value;

use crate::Findings;
use crate::contract::{encoded, outcome};

/// As many levels as must overflow any stack without a limit.
const DEEP: u32 = 100_000;

/// The stack on which nothing may overflow: the default of Rust's threads.
const STACK_BYTES: usize = 2 << 20;

/// A way of nesting.
trait Nest: Serialize + DeserializeOwned + PartialEq + Debug + 'static {
    /// For messages.
    const NAME: &'static str;
    /// How much deeper a value is for each level.
    const DEPTH: u32;
    /// The innermost value: depth 0, or 1 where it is a compound.
    fn core() -> Self;
    /// A value around another.
    fn around(inner: Self) -> Self;
    /// What serde is told of a value around `inner`.
    fn write<S: Serializer>(serializer: S, inner: &Lazy<Self>)
    -> Result<S::Ok, S::Error>;
    /// The depth of [`core`](Self::core).
    const CORE: u32;
}

/// A value of many levels that are made as they are written, so that nothing deep is ever held
/// or dropped.
struct Lazy<N: ?Sized>(u32, PhantomData<N>);

impl<N: Nest> Serialize for Lazy<N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.checked_sub(1) {
            None => N::core().serialize(serializer),
            Some(levels) => N::write(serializer, &Lazy(levels, PhantomData)),
        }
    }
}

/// Sequences: `[[[]]]`.
#[derive(Debug, PartialEq, serde::Serialize, Deserialize)]
struct Seq(Vec<Seq>);

impl Nest for Seq {
    const NAME: &'static str = "sequences";
    const DEPTH: u32 = 1;
    const CORE: u32 = 1;
    fn core() -> Self {
        Self(vec![])
    }
    fn around(inner: Self) -> Self {
        Self(vec![inner])
    }
    fn write<S: Serializer>(
        serializer: S,
        inner: &Lazy<Self>,
    ) -> Result<S::Ok, S::Error> {
        let mut seq = serializer.serialize_seq(Some(1))?;
        seq.serialize_element(inner)?;
        seq.end()
    }
}

/// Maps: `{"k": {"k": {}}}`.
#[derive(Debug, PartialEq, serde::Serialize, Deserialize)]
struct Map(BTreeMap<String, Map>);

impl Nest for Map {
    const NAME: &'static str = "maps";
    const DEPTH: u32 = 1;
    const CORE: u32 = 1;
    fn core() -> Self {
        Self(BTreeMap::new())
    }
    fn around(inner: Self) -> Self {
        Self(BTreeMap::from([("k".to_owned(), inner)]))
    }
    fn write<S: Serializer>(
        serializer: S,
        inner: &Lazy<Self>,
    ) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry("k", inner)?;
        map.end()
    }
}

/// Structs, each with an option of the next.
#[derive(Debug, PartialEq, serde::Serialize, Deserialize)]
struct Link {
    next: Option<Box<Link>>,
}

impl Nest for Link {
    const NAME: &'static str = "structs";
    const DEPTH: u32 = 1;
    const CORE: u32 = 1;
    fn core() -> Self {
        Self { next: None }
    }
    fn around(inner: Self) -> Self {
        Self { next: Some(Box::new(inner)) }
    }
    fn write<S: Serializer>(
        serializer: S,
        inner: &Lazy<Self>,
    ) -> Result<S::Ok, S::Error> {
        #[derive(serde::Serialize)]
        #[serde(rename = "Link")]
        struct Written<'a> {
            next: Option<&'a Lazy<Link>>,
        }
        Written { next: Some(inner) }.serialize(serializer)
    }
}

/// Variants of one value.
#[derive(Debug, PartialEq, serde::Serialize, Deserialize)]
enum Chain {
    End,
    More(Box<Chain>),
}

impl Nest for Chain {
    const NAME: &'static str = "newtype variants";
    const DEPTH: u32 = 1;
    const CORE: u32 = 0;
    fn core() -> Self {
        Self::End
    }
    fn around(inner: Self) -> Self {
        Self::More(Box::new(inner))
    }
    fn write<S: Serializer>(
        serializer: S,
        inner: &Lazy<Self>,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_newtype_variant("Chain", 1, "More", inner)
    }
}

/// Variants of several values: the variant and its sequence.
#[derive(Debug, PartialEq, serde::Serialize, Deserialize)]
enum Tuples {
    End,
    More(u8, Box<Tuples>),
}

impl Nest for Tuples {
    const NAME: &'static str = "tuple variants";
    const DEPTH: u32 = 2;
    const CORE: u32 = 0;
    fn core() -> Self {
        Self::End
    }
    fn around(inner: Self) -> Self {
        Self::More(7, Box::new(inner))
    }
    fn write<S: Serializer>(
        serializer: S,
        inner: &Lazy<Self>,
    ) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeTupleVariant;
        let mut tuple = serializer.serialize_tuple_variant("Tuples", 1, "More", 2)?;
        tuple.serialize_field(&7_u8)?;
        tuple.serialize_field(inner)?;
        tuple.end()
    }
}

/// Variants of named values: the variant and its map.
#[derive(Debug, PartialEq, serde::Serialize, Deserialize)]
enum Structs {
    End,
    More { next: Box<Structs> },
}

impl Nest for Structs {
    const NAME: &'static str = "struct variants";
    const DEPTH: u32 = 2;
    const CORE: u32 = 0;
    fn core() -> Self {
        Self::End
    }
    fn around(inner: Self) -> Self {
        Self::More { next: Box::new(inner) }
    }
    fn write<S: Serializer>(
        serializer: S,
        inner: &Lazy<Self>,
    ) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStructVariant;
        let mut fields = serializer.serialize_struct_variant("Structs", 1, "More", 1)?;
        fields.serialize_field("next", inner)?;
        fields.end()
    }
}

/// Options and newtypes alone, which most wires do not show.
#[derive(Debug, PartialEq, serde::Serialize, Deserialize)]
struct Onion(Option<Box<Onion>>);

impl Nest for Onion {
    const NAME: &'static str = "options and newtypes";
    const DEPTH: u32 = 0;
    const CORE: u32 = 0;
    fn core() -> Self {
        Self(None)
    }
    fn around(inner: Self) -> Self {
        Self(Some(Box::new(inner)))
    }
    fn write<S: Serializer>(
        serializer: S,
        inner: &Lazy<Self>,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_newtype_struct("Onion", &Some(inner))
    }
}

/// Runs `check` for each way of nesting.
macro_rules! each_way {
    ($check:ident($codec:expr, $findings:expr)) => {
        $check::<_, Seq>($codec, $findings);
        $check::<_, Map>($codec, $findings);
        $check::<_, Link>($codec, $findings);
        $check::<_, Chain>($codec, $findings);
        $check::<_, Tuples>($codec, $findings);
        $check::<_, Structs>($codec, $findings);
    };
}

/// A value of the claimed depth goes both ways; the next is `Limit` both ways.
pub fn the_boundary_is_exact<C: Codec>(codec: &C) -> Findings {
    on_a_small_stack(codec, |codec, findings| {
        each_way!(boundary(codec, findings));
    })
    .mended_by(
        "put `wiremark_core::depth::Guard` around the value and around the \
         library's deserializer, and when the library fails ask `guard.error()` \
         first; if the library has a lower limit of its own, turn it off or \
         claim its depth as `max_depth`",
    )
}

/// A hundred thousand levels are `Limit` both ways, through the type, without a type and when
/// skipped, on a stack of 2 MiB.
pub fn nothing_overflows_the_stack<C: Codec>(codec: &C) -> Findings {
    on_a_small_stack(codec, |codec, findings| {
        each_way!(deep(codec, findings));
        onion(codec, findings);
    })
    .mended_by(
        "put `wiremark_core::depth::Guard` around the value and around the \
         library's deserializer, and when the library fails ask `guard.error()` \
         first",
    )
}

fn on_a_small_stack<C: Codec>(
    codec: &C,
    check: impl FnOnce(&mut C, &mut Findings) + Send + 'static,
) -> Findings {
    let mut codec = codec.clone();
    let id = codec.profile().id;
    let mut findings = Findings::new(id);
    // An overflow ends the process, and its last words are the thread's name.
    let thread =
        thread::Builder::new().name(format!("the values that nest deep, in {id}"));
    let thread = thread.stack_size(STACK_BYTES).spawn(move || {
        check(&mut codec, &mut findings);
        findings
    });
    match thread.map(thread::JoinHandle::join) {
        Ok(Ok(findings)) => findings,
        Ok(Err(panic)) => std::panic::resume_unwind(panic),
        Err(error) => {
            let mut findings = Findings::new(id);
            findings.add(format!("no thread could be started: {error}"));
            findings
        }
    }
}

fn nested<N: Nest>(levels: u32) -> N {
    (0..levels).fold(N::core(), |inner, _| N::around(inner))
}

/// Bytes of a value of any number of levels.
struct Pattern {
    /// What stands before all levels: a header of the format.
    head: Vec<u8>,
    before: Vec<u8>,
    core: Vec<u8>,
    behind: Vec<u8>,
}

impl Pattern {
    /// The pattern of the codec's bytes for `N`, or `None` if it cannot represent it or if its
    /// levels have none.
    fn find<C: Codec, N: Nest>(codec: &mut C) -> Option<Self> {
        let is_text = codec.profile().can.human_readable;
        // A few levels in, since the innermost may be written in another way.
        let mut bytes_of = |levels| {
            let mut bytes = encoded(codec, &nested::<N>(levels)).ok()??;
            if is_text {
                // Indentation grows with the depth, and is no part of a document.
                bytes.retain(|byte| !byte.is_ascii_whitespace());
            }
            Some(bytes)
        };
        let [core, next, last] = [bytes_of(3)?, bytes_of(4)?, bytes_of(5)?];
        let added = next.len().checked_sub(core.len())?;
        let heads = core.iter().zip(&next).take_while(|(a, b)| a == b).count();
        (0..=heads)
            .flat_map(|head| (0..=added).map(move |before| (head, before)))
            .map(|(head, before)| Self {
                head: next[..head].to_vec(),
                before: next[head..head + before].to_vec(),
                core: core[head..].to_vec(),
                behind: next[next.len() - (added - before)..].to_vec(),
            })
            .find(|pattern| pattern.bytes(4) == next && pattern.bytes(5) == last)
    }

    /// The bytes of a value of `levels` levels, which are at least 3.
    fn bytes(&self, levels: u32) -> Vec<u8> {
        let more = levels.saturating_sub(3) as usize;
        let (before, behind) = (self.before.repeat(more), self.behind.repeat(more));
        [&*self.head, &*before, &*self.core, &*behind].concat()
    }
}

fn boundary<C: Codec, N: Nest>(codec: &mut C, findings: &mut Findings) {
    let Ok(Some(_)) = encoded(codec, &nested::<N>(1)) else { return };
    let max_depth = codec.profile().can.max_depth;
    let levels = (max_depth - N::CORE) / N::DEPTH;
    let depth = |levels| N::CORE + levels * N::DEPTH;
    let name = N::NAME;

    let fits = nested::<N>(levels);
    let bytes = encoded(codec, &Lazy::<N>(levels, PhantomData));
    findings.expect(matches!(bytes, Ok(Some(_))), || {
        format!(
            "{name} of depth {}, encoded: expected bytes, as max_depth is {max_depth}; {}",
            depth(levels),
            outcome(&bytes)
        )
    });
    if let Ok(Some(bytes)) = bytes {
        let result = codec.decode::<N>(&bytes);
        findings.expect(result.as_ref().is_ok_and(|back| *back == fits), || {
            format!(
                "{name} of depth {}, decoded: expected the value, as max_depth is {max_depth}; \
                 found {}",
                depth(levels),
                outcome(&result)
            )
        });
    }

    let result = encoded(codec, &Lazy::<N>(levels + 1, PhantomData)).map(drop);
    findings.expect(is_limit(&result), || {
        format!(
            "{name} of depth {}, encoded: expected kind `limit`, as max_depth is {max_depth}; \
             found {}",
            depth(levels + 1),
            outcome(&result)
        )
    });
    let Some(pattern) = Pattern::find::<C, N>(codec) else {
        // A format with a stream of its own declares types and lengths beside the levels, so
        // that deeper bytes cannot be made from shallower ones; its crate tests this itself.
        if codec.profile().framing != Framing::Stream {
            findings.add(format!("{name}: the bytes of a level are not alike"));
        }
        return;
    };
    let result = codec.decode::<N>(&pattern.bytes(levels + 1)).map(drop);
    findings.expect(is_limit(&result), || {
        format!(
            "{name} of depth {}, decoded: expected kind `limit`, as max_depth is {max_depth}; \
             found {}",
            depth(levels + 1),
            outcome(&result)
        )
    });
}

fn is_limit(result: &wiremark_core::Result<()>) -> bool {
    matches!(result, Err(error) if error.kind() == ErrorKind::Limit)
}

fn deep<C: Codec, N: Nest>(codec: &mut C, findings: &mut Findings) {
    let Ok(Some(_)) = encoded(codec, &nested::<N>(1)) else { return };
    let name = N::NAME;
    let result = encoded(codec, &Lazy::<N>(DEEP, PhantomData)).map(drop);
    findings.expect(is_limit(&result), || {
        format!(
            "{DEEP} {name}, encoded: expected kind `limit`, found {}",
            outcome(&result)
        )
    });
    let Some(pattern) = Pattern::find::<C, N>(codec) else { return };
    let bytes = pattern.bytes(DEEP);
    let result = codec.decode::<N>(&bytes).map(drop);
    findings.expect(is_limit(&result), || {
        format!(
            "{DEEP} {name}, decoded: expected kind `limit`, found {}",
            outcome(&result)
        )
    });
    let can = codec.profile().can;
    if can.self_describing {
        let result = codec.decode::<Value>(&bytes).map(drop);
        findings.expect(is_limit(&result), || {
            format!(
                "{DEEP} {name}, decoded without a type: expected kind `limit`, found {}",
                outcome(&result)
            )
        });
    }
    if can.skip {
        let result = codec.decode::<IgnoredAny>(&bytes).map(drop);
        findings.expect(result.is_ok() || is_limit(&result), || {
            format!(
                "{DEEP} {name}, skipped: expected the end or kind `limit`, found {}",
                outcome(&result)
            )
        });
    }
}

/// Options and newtypes take no bytes in many formats, where a type of nothing else would recur
/// on any document that is not null.
fn onion<C: Codec>(codec: &mut C, findings: &mut Findings) {
    let result = encoded(codec, &Lazy::<Onion>(DEEP, PhantomData)).map(drop);
    findings.expect(
        matches!(&result, Err(error) if matches!(error.kind(), ErrorKind::Limit | ErrorKind::Unsupported)),
        || {
            format!(
                "{DEEP} {}, encoded: expected kind `limit`, found {}",
                Onion::NAME,
                outcome(&result)
            )
        },
    );
    let mut inputs = vec![vec![1; DEEP as usize]];
    inputs.extend(encoded(codec, &true).ok().flatten());
    inputs.extend(encoded(codec, "text").ok().flatten());
    if let Some(pattern) = Pattern::find::<C, Onion>(codec)
        // In many formats the innermost value is all there is.
        && !pattern.before.is_empty()
    {
        inputs.push(pattern.bytes(DEEP));
    }
    for input in inputs {
        let result = codec.decode::<Onion>(&input);
        findings.expect(result.is_err(), || {
            format!("a type of {}: expected an error, found a value", Onion::NAME)
        });
    }
}
