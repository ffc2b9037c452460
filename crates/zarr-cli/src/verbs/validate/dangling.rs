//! References of chunks to objects that are missing, changed or not allowed: one finding for each object.

use std::collections::BTreeMap;

use zarr_array::ArrayError;
use zarr_store::references::{Dangling, Why};

use super::finding::{Finding, Place, Target};
use crate::exit::Exit;

/// Returns the finding for a chunk whose reference dangles; `None` for another error.
pub(super) fn finding(place: &Place, e: &ArrayError) -> Option<Finding> {
    let dangling = Dangling::of(e)?;
    let target = Target { location: dangling.location().to_owned(), why: dangling.why(), chunks: 1 };
    let place = Place { key: place.key.clone(), chunk: place.chunk.clone(), inner_start: None };
    let exit = if target.why == Why::NotAllowed { Exit::PermissionDenied } else { Exit::Corrupt };
    let finding = Finding::of("dangling-reference", String::new(), target.to_text());
    Some(Finding { target: Some(target), ..finding.exits(exit).at(place) })
}

/// The findings with a target, each target once.
#[derive(Debug, Default)]
pub(super) struct Targets(BTreeMap<(String, Why), Finding>);

impl Targets {
    /// Adds a finding: the first chunk of a target is the place. Gives a finding without a target back.
    pub(super) fn add(&mut self, mut finding: Finding) -> Option<Finding> {
        let Some(target) = &finding.target else { return Some(finding) };
        let key = (target.location.clone(), target.why);
        if let Some(known) = self.0.remove(&key) {
            let chunks = [&known, &finding].map(|of| of.target.as_ref().map_or(0, |target| target.chunks));
            if known.order() < finding.order() {
                finding = known;
            }
            if let Some(target) = &mut finding.target {
                target.chunks = chunks.iter().sum();
                finding.message = target.to_text();
            }
        }
        self.0.insert(key, finding);
        None
    }

    pub(super) fn findings(self) -> impl Iterator<Item = Finding> {
        self.0.into_values()
    }
}
