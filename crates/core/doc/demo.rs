// A codec small enough to read in one go: text only, as it is. The examples in this crate's
// documentation use it, since the contract may not depend on any format.
use serde::{Deserialize, Serialize};
use wiremark_core::{
    Capabilities, Codec, Error, Framing, Profile, Result, Role, Trailing, Upkeep,
};

#[derive(Clone, Debug)]
pub struct Demo;

impl Codec for Demo {
    fn profile(&self) -> Profile {
        Profile {
            id: "demo/core/plain",
            format: "text",
            library: "core",
            version: "0",
            spec: "UTF-8",
            license: "MIT OR Apache-2.0",
            upkeep: Upkeep::Maintained,
            role: Role::Codec,
            framing: Framing::LengthPrefixed,
            trailing: Trailing::RefusedByLibrary,
            can: Capabilities {
                self_describing: false,
                human_readable: true,
                field_names: false,
                borrow_str: true,
                borrow_bytes: false,
                bytes: false,
                int_128: false,
                non_finite_floats: false,
                nested_option: false,
                unit_is_some: false,
                integer_keys: false,
                compound_keys: false,
                unknown_length: false,
                omitted_fields: false,
                internally_tagged: false,
                adjacently_tagged: false,
                untagged: false,
                flatten: false,
                skip: false,
                deterministic: true,
                max_depth: 0,
            },
            caveat: "text only",
        }
    }

    fn encode_into<T: Serialize + ?Sized>(
        &mut self,
        value: &T,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        // `fmt::Formatter` is the one serializer that the standard library's world has.
        struct Text<'a, T: ?Sized>(&'a T);
        impl<T: Serialize + ?Sized> std::fmt::Display for Text<'_, T> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.serialize(f)
            }
        }
        use std::io::Write;
        wiremark_core::append(out, |out| {
            write!(out, "{}", Text(value))
                .map_err(|_| Error::unsupported("expected text, found a compound value"))
        })
    }

    fn decode<'de, T: Deserialize<'de>>(&mut self, bytes: &'de [u8]) -> Result<T> {
        let text = std::str::from_utf8(bytes)
            .map_err(|error| Error::wrap(wiremark_core::ErrorKind::Syntax, error))?;
        T::deserialize(serde::de::value::BorrowedStrDeserializer::new(text))
    }
}
