//! The datasets that are measured.

use wiremark_core::{Codec, ErrorKind};
use wiremark_datasets::{Dataset, DatasetVisitor, IDS};

use crate::Findings;
use crate::contract::outcome;

/// Each dataset comes back: its value, another value of the same shape, its records as a
/// stream, and its borrowed twin where the codec borrows. Or the codec says `Unsupported`.
pub fn datasets_come_back<C: Codec>(codec: &C) -> Findings {
    let profile = codec.profile();
    let mut check = Check {
        findings: Findings::new(profile.id),
        borrows: profile.can.borrow_str,
        codec: codec.clone(),
    };
    for id in IDS {
        let found = wiremark_datasets::visit(id, profile.can.self_describing, &mut check);
        check.findings.expect(found, || format!("dataset {id}: not found"));
    }
    check.findings.mended_by(
        "a dataset that the format cannot carry is `ErrorKind::Unsupported` \
         when it is encoded; the samples show smaller values of the same kinds",
    )
}

struct Check<C> {
    codec: C,
    borrows: bool,
    findings: Findings,
}

impl<C: Codec> DatasetVisitor for Check<C> {
    fn visit<D: Dataset>(&mut self, dataset: &D) {
        let Self { codec, borrows, findings } = self;
        let id = dataset.about().id;
        let sibling = dataset.sibling();
        let mut both = Vec::new();
        for value in [dataset.value(), &sibling] {
            let mut bytes = Vec::new();
            match codec.encode_into(value, &mut bytes) {
                Err(error) if error.kind() == ErrorKind::Unsupported => return,
                Err(error) => return findings.add(format!("dataset {id}: {error}")),
                Ok(()) => {}
            }
            // Not printed: the value may have ten thousand records.
            match codec.decode::<D::Value>(&bytes) {
                Ok(back) => findings.expect(back == *value, || {
                    format!("dataset {id}: the value that comes back is another")
                }),
                Err(error) => {
                    findings.add(format!("dataset {id}: does not come back: {error}"));
                }
            }
            if D::BORROWS && *borrows {
                match codec.decode::<D::Borrowed<'_>>(&bytes) {
                    Ok(back) => findings.expect(D::is_same(&back, value), || {
                        format!("dataset {id}: the borrowed value is another")
                    }),
                    Err(error) => {
                        findings
                            .add(format!("dataset {id}: cannot be borrowed: {error}"));
                    }
                }
            }
            both.push(bytes);
        }
        findings.expect(both.first() != both.last(), || {
            format!("dataset {id}: another value has the same bytes")
        });

        let mut bytes = Vec::new();
        let mut back = Vec::new();
        let result = codec.encode_each(dataset.items(), &mut bytes).and_then(|()| {
            codec.decode_each(&bytes, |item: D::Item| {
                back.push(item);
                Ok(())
            })
        });
        findings.expect(result.is_ok() && back == dataset.items(), || {
            format!(
                "dataset {id}: expected its {} records back as a stream, found {}, then {}",
                dataset.items().len(),
                back.len(),
                outcome(&result)
            )
        });
    }
}
