//! A schema of one's own, and those that others have left behind.

use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::{BuildHasher, Hasher};

use postgres::{Client, Transaction};

use wiremark_core::Result;

use crate::error::doing;

/// Every schema of ours has this comment; one without it is not ours, whatever its name.
const COMMENT: &str =
    "made by wiremark, which drops it; free to drop when no program uses it";

/// A name that no other schema has, and the key of its lock.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Schema {
    name: String,
    key: i64,
}

impl Schema {
    pub(crate) fn new() -> Self {
        // The standard library seeds its hasher at random.
        let random = RandomState::new().build_hasher().finish();
        let name = format!("wiremark_{}_{random:016x}", std::process::id());
        Self { name, key: random.cast_signed() }
    }

    /// That of a name which has the right form; needs no quotes in a statement, therefore.
    fn named(name: &str) -> Option<Self> {
        let (process, random) = name.strip_prefix("wiremark_")?.split_once('_')?;
        let is_number = process.bytes().all(|byte| byte.is_ascii_digit());
        let is_random = random.len() == 16
            && random.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if process.is_empty() || !is_number || !is_random {
            return None;
        }
        let key = u64::from_str_radix(random, 16).ok()?.cast_signed();
        Some(Self { name: name.to_owned(), key })
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Says, as long as the session lives, that the schema is in use.
    pub(crate) fn lock(&self, client: &mut Client) -> Result<()> {
        let lock = "select pg_advisory_lock($1::bigint)";
        client
            .execute(lock, &[&self.key])
            .map(|_| ())
            .map_err(|error| doing("take the schema's lock", error))
    }

    pub(crate) fn create(&self, transaction: &mut Transaction<'_>) -> Result<()> {
        transaction
            .batch_execute(&format!(
                "create schema {self}; comment on schema {self} is '{COMMENT}'"
            ))
            .map_err(|error| doing("create a schema", error))
    }

    pub(crate) fn drop(&self, client: &mut Client) -> Result<()> {
        client
            .batch_execute(&format!("drop schema if exists {self} cascade"))
            .map_err(|error| doing(&format!("drop the schema {self}"), error))
    }
}

impl fmt::Display for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// Drops the schemas of ours that no session uses any more, and gives their names.
pub(crate) fn sweep(client: &mut Client) -> Result<Vec<String>> {
    let failed = |error| doing("look for schemas that were left behind", error);
    let rows = client
        .query(
            "select nspname from pg_namespace where nspname like 'wiremark\\_%' \
             and obj_description(oid, 'pg_namespace') = $1 \
             and pg_has_role(nspowner, 'usage') order by nspname",
            &[&COMMENT],
        )
        .map_err(failed)?;
    let mut dropped = Vec::new();
    for row in rows {
        let name: &str = row.try_get(0).map_err(failed)?;
        let Some(schema) = Schema::named(name) else { continue };
        let lock = client
            .query_one("select pg_try_advisory_lock($1::bigint)", &[&schema.key])
            .map_err(failed)?;
        if !lock.try_get(0).map_err(failed)? {
            continue;
        }
        schema.drop(client)?;
        client
            .execute("select pg_advisory_unlock($1::bigint)", &[&schema.key])
            .map_err(failed)?;
        dropped.push(schema.name);
    }
    Ok(dropped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_made_anew_and_read_back() {
        let (one, other) = (Schema::new(), Schema::new());
        assert_ne!(one, other);
        assert_eq!(Schema::named(one.name()), Some(one));
    }

    #[test]
    fn only_names_of_our_form_are_ours() {
        for (name, wanted) in [
            ("wiremark_12_00000000000000ff", Some(255)),
            ("wiremark_12_ffffffffffffffff", Some(-1)),
            ("wiremark__ffffffffffffffff", None),
            ("wiremark_12_fffffffffffffff", None),
            ("wiremark_12_FFFFFFFFFFFFFFFF", None),
            ("wiremark_12_+fffffffffffffff", None),
            ("wiremark_x_ffffffffffffffff", None),
            ("wiremark_12_ffffffffffffffff; drop", None),
            ("wiremark", None),
            ("public", None),
        ] {
            assert_eq!(Schema::named(name).map(|schema| schema.key), wanted, "{name}");
        }
    }
}
