//! Which cells there are: every codec in the binary × dataset × operation × mode.

use wiremark_core::{Capabilities, Codec, CodecVisitor, Profile, Role};
use wiremark_datasets::files::OwnData;
use wiremark_datasets::{self as datasets, About, Dataset, DatasetVisitor};
use wiremark_record::protocol::{Planned, Request, Skip};
use wiremark_record::{CellId, Mode, Operation, Status};

use crate::request;

/// Walks pairs of a codec and a dataset with their static types.
pub trait PairVisitor {
    /// Whether a pair is wanted; a dataset is only made if it is.
    fn wants(&self, profile: &Profile, dataset: &str) -> bool;

    /// Called once for each pair that is wanted.
    fn visit<C: Codec, D: Dataset>(&mut self, codec: &C, dataset: &D);

    /// Called instead where a codec cannot take a dataset at all.
    fn refuse(&mut self, profile: &Profile, about: &About, skip: &Skip);
}

/// Walks the codecs that this binary holds: the registry's, or the controls in their place.
pub fn visit_codecs(visitor: &mut impl CodecVisitor) {
    #[cfg(feature = "controls")]
    wiremark_controls::visit(visitor);
    #[cfg(not(feature = "controls"))]
    wiremark_registry::visit(visitor);
}

/// Walks all wanted pairs, codecs outside, datasets inside.
///
/// # Errors
/// A sentence for a person, if a file cannot be read or a dataset is not known.
pub fn visit_pairs(
    request: &Request,
    visitor: &mut impl PairVisitor,
) -> Result<(), String> {
    struct Codecs<'a, V> {
        request: &'a Request,
        files: Vec<Option<OwnData>>,
        visitor: &'a mut V,
        failed: Option<String>,
    }

    impl<V: PairVisitor> Codecs<'_, V> {
        fn pairs<C: Codec>(&mut self, codec: &C) -> Result<(), String> {
            let profile = codec.profile();
            for id in &self.request.datasets {
                if self.visitor.wants(&profile, id) {
                    let mut pair = Pair { codec, visitor: self.visitor };
                    if !datasets::visit(id, profile.can.self_describing, &mut pair) {
                        return Err(format!("no dataset is called `{id}`"));
                    }
                }
            }
            for (file, data) in self.request.files.iter().zip(&mut self.files) {
                if !self.visitor.wants(&profile, &file.id) {
                    continue;
                }
                // Read on first use, since most processes measure one seeded dataset.
                if data.is_none() {
                    *data = Some(request::read(file)?);
                }
                if let Some(data) = data {
                    match needs(&data.about(), &profile.can) {
                        Some(skip) => self.visitor.refuse(&profile, &data.about(), &skip),
                        None => self.visitor.visit(codec, data),
                    }
                }
            }
            Ok(())
        }
    }

    impl<V: PairVisitor> CodecVisitor for Codecs<'_, V> {
        fn visit<C: Codec>(&mut self, codec: C) {
            if self.failed.is_none() {
                self.failed = self.pairs(&codec).err();
            }
        }
    }

    struct Pair<'a, C, V> {
        codec: &'a C,
        visitor: &'a mut V,
    }

    impl<C: Codec, V: PairVisitor> DatasetVisitor for Pair<'_, C, V> {
        fn visit<D: Dataset>(&mut self, dataset: &D) {
            self.visitor.visit(self.codec, dataset);
        }
    }

    let files = request.files.iter().map(|_| None).collect();
    let mut codecs = Codecs { request, files, visitor, failed: None };
    visit_codecs(&mut codecs);
    codecs.failed.map_or(Ok(()), Err)
}

/// Why a codec cannot take a dataset, from what both say of themselves.
fn needs(about: &About, can: &Capabilities) -> Option<Skip> {
    (about.needs_self_describing && !can.self_describing).then(|| Skip {
        status: Status::Unsupported,
        reason: "needs a schema".to_owned(),
    })
}

/// The operations in their modes, each with what it means.
pub const OPERATIONS: [(Operation, Mode); 8] = [
    (Operation::Encode, Mode::Reused),
    (Operation::Encode, Mode::Fresh),
    (Operation::Encode, Mode::Stream),
    (Operation::Decode, Mode::Reused),
    (Operation::Decode, Mode::Fresh),
    (Operation::Decode, Mode::Stream),
    (Operation::Borrow, Mode::Reused),
    (Operation::Drop, Mode::Reused),
];

/// The cells of one pair, each to be run or with the reason why not.
pub fn of_pair<D: Dataset>(profile: &Profile, dataset: &D) -> Vec<Planned> {
    let about = dataset.about();
    OPERATIONS
        .into_iter()
        .map(|(operation, mode)| Planned {
            id: cell_id(operation, mode, &about.id, profile),
            documents: if mode == Mode::Stream {
                dataset.items().len() as u64
            } else {
                1
            },
            skip: skip::<D>(operation, profile),
        })
        .collect()
}

/// The cells of a pair that cannot be run at all.
pub fn refused(profile: &Profile, about: &About, skip: &Skip) -> Vec<Planned> {
    OPERATIONS
        .into_iter()
        .map(|(operation, mode)| Planned {
            id: cell_id(operation, mode, &about.id, profile),
            documents: 1,
            skip: Some(skip.clone()),
        })
        .collect()
}

fn cell_id(operation: Operation, mode: Mode, dataset: &str, profile: &Profile) -> CellId {
    CellId {
        operation,
        dataset: dataset.to_owned(),
        codec: profile.id.to_owned(),
        mode,
        way: None,
        again: false,
    }
}

fn skip<D: Dataset>(operation: Operation, profile: &Profile) -> Option<Skip> {
    let because = |reason: &str| {
        Some(Skip { status: Status::Unsupported, reason: reason.to_owned() })
    };
    match operation {
        Operation::Decode | Operation::Borrow | Operation::Drop
            if profile.role == Role::Floor =>
        {
            because("a floor gives no value back")
        }
        Operation::Borrow if !D::BORROWS => because("the dataset has no borrowed twin"),
        Operation::Borrow if !profile.can.borrow_str => {
            because("the library cannot lend text from the input")
        }
        _ => None,
    }
}
