//! Does a cell do what it says? Asked before any clock.
//!
//! Two values of a dataset are encoded by one codec, one after the other, and both must come
//! back: a codec that answers from a cache gives the first one twice. The bytes are copied to
//! another place before they are decoded, so that none can be remembered by its address.

use std::fmt::Debug;

use wiremark_core::{Codec, Error, ErrorKind, Role};
use wiremark_datasets::Dataset;
use wiremark_record::{Mode, Operation, Status};

/// Why a cell must not be measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// [`Status::Unsupported`] or [`Status::Failed`].
    pub status: Status,
    /// In words.
    pub reason: String,
}

impl Refusal {
    pub(crate) fn failed(reason: impl Into<String>) -> Self {
        Self { status: Status::Failed, reason: reason.into() }
    }

    pub(crate) fn while_doing(what: &str, error: &Error) -> Self {
        let status = match error.kind() {
            ErrorKind::Unsupported => Status::Unsupported,
            _ => Status::Failed,
        };
        Self { status, reason: format!("failed to {what}: {error}") }
    }
}

/// Checks one cell.
///
/// # Errors
/// [`Refusal`] with the first thing that is wrong.
pub fn check<C: Codec, D: Dataset>(
    codec: &C,
    dataset: &D,
    operation: Operation,
    mode: Mode,
) -> Result<(), Refusal> {
    if codec.profile().role == Role::Floor {
        // A floor gives nothing back; it must still not fail.
        let encoded = codec.clone().encode_into(dataset.value(), &mut Vec::new());
        return encoded.map_err(|error| Refusal::while_doing("encode", &error));
    }
    match (operation, mode) {
        (Operation::Borrow, _) => borrowed::<C, D>(codec, dataset),
        (_, Mode::Stream) => stream(codec, dataset),
        _ => documents(codec, dataset),
    }
}

/// Encodes `value` with a codec that may have encoded others before, into a place of its own.
fn encoded<C: Codec, T: serde::Serialize>(
    codec: &mut C,
    value: &T,
) -> Result<Vec<u8>, Refusal> {
    let mut bytes = b"before".to_vec();
    codec
        .encode_into(value, &mut bytes)
        .map_err(|error| Refusal::while_doing("encode", &error))?;
    match bytes.strip_prefix(b"before") {
        Some(document) => Ok(document.to_vec()),
        None => Err(Refusal::failed("encoding touched bytes that were there before")),
    }
}

fn documents<C: Codec, D: Dataset>(codec: &C, dataset: &D) -> Result<(), Refusal> {
    let mut codec = codec.clone();
    let sibling = dataset.sibling();
    let pair = [dataset.value(), &sibling, dataset.value()];
    for (index, value) in pair.into_iter().enumerate() {
        let bytes = encoded(&mut codec, value)?;
        let back: D::Value = codec
            .decode(&bytes)
            .map_err(|error| Refusal::while_doing("decode", &error))?;
        if back != *value {
            let which =
                if index == 1 { "another value of the dataset" } else { "the value" };
            return Err(Refusal::failed(format!(
                "{which} came back changed: {}",
                difference(value, &back)
            )));
        }
    }
    Ok(())
}

fn borrowed<C: Codec, D: Dataset>(codec: &C, dataset: &D) -> Result<(), Refusal> {
    let mut codec = codec.clone();
    let sibling = dataset.sibling();
    for value in [dataset.value(), &sibling] {
        let bytes = encoded(&mut codec, value)?;
        let back: D::Borrowed<'_> = codec
            .decode(&bytes)
            .map_err(|error| Refusal::while_doing("decode borrowed", &error))?;
        if !D::is_same(&back, value) {
            return Err(Refusal::failed(
                "the borrowed value is not the one that was encoded",
            ));
        }
    }
    Ok(())
}

fn stream<C: Codec, D: Dataset>(codec: &C, dataset: &D) -> Result<(), Refusal> {
    let items = dataset.items();
    let mut bytes = Vec::new();
    codec
        .clone()
        .encode_each(items, &mut bytes)
        .map_err(|error| Refusal::while_doing("encode a stream", &error))?;
    let bytes = bytes.clone();
    let mut back: Vec<D::Item> = Vec::new();
    codec
        .clone()
        .decode_each(&bytes, |item| {
            back.push(item);
            Ok(())
        })
        .map_err(|error| Refusal::while_doing("decode a stream", &error))?;
    if back.len() != items.len() {
        return Err(Refusal::failed(format!(
            "{} documents went into the stream and {} came out",
            items.len(),
            back.len()
        )));
    }
    match items.iter().zip(&back).position(|(item, back)| item != back) {
        None => Ok(()),
        Some(index) => Err(Refusal::failed(format!(
            "document {index} of the stream came back changed: {}",
            difference(&items[index], &back[index])
        ))),
    }
}

/// The place where two values begin to differ, as their `Debug` shows it.
pub(crate) fn difference(sent: &impl Debug, back: &impl Debug) -> String {
    const SHOWN: usize = 40;
    let (sent, back) = (format!("{sent:?}"), format!("{back:?}"));
    let same = sent.chars().zip(back.chars()).take_while(|(one, two)| one == two).count();
    // A few characters before the difference tell which field it is in.
    let start = same.saturating_sub(SHOWN / 2);
    let part = |text: &str| text.chars().skip(start).take(SHOWN).collect::<String>();
    format!("sent `…{}…`, got `…{}…`", part(&sent), part(&back))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_shown_with_what_stands_before_it() {
        let sent = "a".repeat(100) + "age: 41, name";
        let back = "a".repeat(100) + "age: 0, name";
        assert_eq!(
            difference(&sent, &back),
            "sent `…aaaaaaaaaaaaaaaage: 41, name\"…`, got `…aaaaaaaaaaaaaaaage: 0, name\"…`"
        );
    }
}
