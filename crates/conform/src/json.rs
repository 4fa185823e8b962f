//! The JSON test suite: what JSON's libraries are held against.
//!
//! A file's name says what is to be made of it: `y_` is to be read, `n_` refused, and `i_` is left
//! open, so that a library which reads one has it among its known differences.

use std::fs;
use std::path::Path;

use serde::de::IgnoredAny;
use wiremark_core::{Codec, ErrorKind};
use wiremark_datasets::Value;

use crate::corpora::{self, Differences};

/// Holds the variants of one library against the suite's 318 parsing cases: the first reads, the
/// last passes over, and what is read is written and read again by each. What differs is noted in
/// `differences` under the file's name.
///
/// `manifest_dir` is where to look for the suite from: `env!("CARGO_MANIFEST_DIR")`.
///
/// # Errors
/// The sentence that says why there is no suite, for a test to print.
///
/// # Panics
/// If the suite cannot be read or has another number of cases.
pub fn parsing<C: Codec>(
    codecs: &[C],
    manifest_dir: &str,
    differences: &mut Differences,
) -> Result<(), String> {
    let folder = corpora::find(manifest_dir, "json-test-suite")?;
    each_file(&folder.join("test_parsing"), |name, bytes| {
        differences.case(name, look_at(codecs, name, bytes));
    });
    assert_eq!(differences.cases(), 318);
    Ok(())
}

/// The same for the suite's 22 documents that parsers make different things of: some are refused,
/// by their names for lone surrogates; what is read comes back unchanged.
///
/// # Errors
/// As for [`parsing`].
///
/// # Panics
/// As for [`parsing`].
pub fn transform<C: Codec>(
    codecs: &[C],
    manifest_dir: &str,
    differences: &mut Differences,
) -> Result<(), String> {
    let folder = corpora::find(manifest_dir, "json-test-suite")?;
    each_file(&folder.join("test_transform"), |name, bytes| {
        let is_read = codecs
            .first()
            .is_some_and(|codec| codec.clone().decode::<Value>(bytes).is_ok());
        let as_named = format!("{}_{name}", if is_read { "y" } else { "n" });
        differences.case(name, look_at(codecs, &as_named, bytes));
    });
    assert_eq!(differences.cases(), 22);
    Ok(())
}

fn each_file(folder: &Path, mut each: impl FnMut(&str, &[u8])) {
    for entry in fs::read_dir(folder).expect("the suite's folder") {
        let path = entry.expect("a file of the suite").path();
        let name =
            path.file_name().and_then(|name| name.to_str()).expect("a name in UTF-8");
        each(name, &fs::read(&path).expect("the file's bytes"));
    }
}

fn look_at<C: Codec>(codecs: &[C], name: &str, bytes: &[u8]) -> Result<(), String> {
    let (Some(first), Some(last)) = (codecs.first(), codecs.last()) else {
        return Err("no codec to look with".to_owned());
    };
    let read = first.clone().decode::<Value>(bytes);
    let skipped = last.clone().decode::<IgnoredAny>(bytes);
    match (name.as_bytes().first(), read) {
        (Some(b'y'), Ok(value)) => {
            skipped.map_err(|error| format!("not skipped: {error}"))?;
            for codec in codecs {
                let mut codec = codec.clone();
                let mut again = Vec::new();
                codec
                    .encode_into(&value, &mut again)
                    .map_err(|error| error.to_string())?;
                let back =
                    codec.decode::<Value>(&again).map_err(|error| error.to_string())?;
                if back != value {
                    return Err(format!("{value:?} comes back as {back:?}"));
                }
            }
            Ok(())
        }
        (Some(b'y'), Err(error)) => Err(format!("refused: {error}")),
        (Some(b'n' | b'i'), Ok(value)) => Err(format!("accepted as {value:?}")),
        (Some(b'n' | b'i'), Err(error)) => match error.kind() {
            ErrorKind::Syntax | ErrorKind::Eof | ErrorKind::Limit => Ok(()),
            kind => Err(format!("refused with kind `{kind}`: {error}")),
        },
        _ => Err("a name that begins with no y, n or i".to_owned()),
    }
}
