#![doc = include_str!("../README.md")]
//!
//! This room holds the list and nothing else: it never calls a codec.
#![forbid(unsafe_code)]

use wiremark_core::CodecVisitor;

/// Writes [`visit`], [`CRATES`] and [`IS_COMPLETE`] from the list below.
macro_rules! codecs {
    ($($name:ident = $feature:literal)*) => {
        /// The codec crates of the list, built in or not, by the names of their features.
        pub const CRATES: &[&str] = &[$($feature),*];

        /// Whether all of [`CRATES`] are built in.
        pub const IS_COMPLETE: bool = true $(&& cfg!(feature = $feature))*;

        /// Shows `visitor` each codec that is built in, in the order of the list.
        pub fn visit(visitor: &mut impl CodecVisitor) {
            // Without any feature the list is empty.
            let _ = &visitor;
            $(
                #[cfg(feature = $feature)]
                $name::visit(visitor);
            )*
        }
    };
}

codecs! {
    bincode = "bincode"
    bincode1 = "bincode1"
    bitcode = "bitcode"
    cbor = "cbor"
    cbor4ii = "cbor4ii"
    gob = "gob"
    json = "json"
    messagepack_serde = "messagepack-serde"
    minicbor = "minicbor"
    msgpack = "msgpack"
    postcard = "postcard"
    sereal = "sereal"
    simd_json = "simd-json"
    sonic = "sonic"
    storable = "storable"
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{BTreeMap, BTreeSet};
    use wiremark_core::{Codec, Profile};

    #[derive(Default)]
    struct Profiles(Vec<Profile>);

    impl CodecVisitor for Profiles {
        fn visit<C: Codec>(&mut self, codec: C) {
            self.0.push(codec.profile());
        }
    }

    fn profiles() -> Vec<Profile> {
        let mut profiles = Profiles::default();
        visit(&mut profiles);
        profiles.0
    }

    /// Versions in the workspace's lock file by package; a package may have several.
    fn locked() -> BTreeMap<&'static str, BTreeSet<&'static str>> {
        let mut locked = BTreeMap::<_, BTreeSet<_>>::new();
        let mut name = "";
        for line in include_str!("../../../Cargo.lock").lines() {
            let value = |key| line.strip_prefix(key)?.strip_suffix('"');
            if let Some(value) = value("name = \"") {
                name = value;
            } else if let Some(value) = value("version = \"") {
                locked.entry(name).or_default().insert(value);
            }
        }
        locked
    }

    #[test]
    fn the_list_is_in_alphabetical_order() {
        assert!(CRATES.is_sorted(), "{CRATES:?}");
    }

    #[test]
    #[cfg(feature = "json")]
    fn a_codec_that_is_built_in_is_seen() {
        let ids: Vec<_> = profiles().iter().map(|profile| profile.id).collect();
        assert!(ids.contains(&"json/serde_json/compact"), "{ids:?}");
        assert!(ids.contains(&"json/serde_json/pretty"), "{ids:?}");
    }

    #[test]
    fn each_id_is_unique_and_begins_with_format_and_library() {
        let mut bad = Vec::new();
        let mut seen = BTreeSet::new();
        for Profile { id, library, .. } in profiles() {
            let parts: Vec<_> = id.split('/').collect();
            let known = CRATES.contains(parts.first().unwrap());
            if !seen.insert(id)
                || !known
                || parts.get(1) != Some(&library)
                || parts.len() > 3
            {
                bad.push(id);
            }
        }
        assert!(bad.is_empty(), "{bad:?}");
    }

    #[test]
    fn each_profile_names_the_version_of_the_lock_file() {
        let locked = locked();
        let mut bad = Vec::new();
        for Profile { id, library, version, .. } in profiles() {
            let found = locked.get(library);
            if !found.is_some_and(|versions| versions.contains(version)) {
                bad.push(format!(
                    "{id}: claims {library} {version}, locked is {found:?}"
                ));
            }
        }
        assert!(bad.is_empty(), "{bad:#?}");
    }
}
