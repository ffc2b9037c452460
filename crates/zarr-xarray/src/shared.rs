//! The state that a dataset shares with its selections and variables.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures_util::lock::Mutex;
use zarr_hierarchy::Group;
use zarr_meta::json::Object;

use crate::conventions::{DecodeOptions, VariablePlan};
use crate::error::{XarrayError, XarrayErrorKind, XarrayResult};
use crate::finding::Finding;
use crate::index::Index;
use crate::stored::StoredArray;

/// A group as a dataset, before any selection.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) group: Group,
    /// The options that the dataset was opened with.
    pub(crate) options: DecodeOptions,
    /// The stored length of each dimension, also of those of groups above.
    pub(crate) dimensions: BTreeMap<String, u64>,
    pub(crate) attributes: Object,
    pub(crate) findings: Vec<(String, Finding)>,
    /// The plan of each variable, or the error that makes it undecodable.
    pub(crate) plans: BTreeMap<String, XarrayResult<Arc<VariablePlan>>>,
    pub(crate) arrays: BTreeMap<String, Arc<StoredArray>>,
    pub(crate) coordinates: BTreeSet<String>,
    /// The coordinates that are the index of a dimension.
    pub(crate) indexes: BTreeSet<String>,
    /// The index of each variable of one dimension, once it is loaded.
    pub(crate) loaded: BTreeMap<String, Mutex<Option<Arc<Index>>>>,
    /// The index coordinates of groups above, and where they are.
    pub(crate) inherited: BTreeMap<String, Arc<Shared>>,
}

impl Shared {
    /// The names of all variables, own and inherited, in order.
    pub(crate) fn names(&self) -> impl Iterator<Item = &String> {
        let names: BTreeSet<_> = self.plans.keys().chain(self.inherited.keys()).collect();
        names.into_iter()
    }

    pub(crate) fn is_coordinate(&self, name: &str) -> bool {
        self.coordinates.contains(name) || self.inherited.contains_key(name)
    }

    pub(crate) fn is_index(&self, name: &str) -> bool {
        self.indexes.contains(name) || self.inherited.contains_key(name)
    }

    /// Returns the group that has a variable: this one, or one above.
    pub(crate) fn owner(self: &Arc<Self>, name: &str) -> Arc<Self> {
        self.inherited.get(name).unwrap_or(self).clone()
    }

    /// Returns the plan of a variable of this group.
    pub(crate) fn planned(&self, name: &str) -> XarrayResult<&Arc<VariablePlan>> {
        let absent = || {
            let message = format!("there is no variable {name:?} in group {:?}", self.group.path());
            XarrayError::new(XarrayErrorKind::NotFound, message)
        };
        self.plans.get(name).ok_or_else(absent)?.as_ref().map_err(Clone::clone)
    }

    /// Checks that no variable has a dimension twice.
    pub(crate) fn check_single(&self, dimension: &str) -> XarrayResult<()> {
        let has_twice =
            |plan: &VariablePlan| plan.dimensions.iter().filter(|of| *of == dimension).count() > 1;
        let twice = self.plans.iter().find(|(_, plan)| plan.as_ref().is_ok_and(|plan| has_twice(plan)));
        twice.map_or(Ok(()), |(name, _)| Err(repeated(dimension).with_variable(name)))
    }
}

/// The error of a selection along a dimension that a variable has twice.
pub(crate) fn repeated(dimension: &str) -> XarrayError {
    let message = format!("dimension {dimension:?} occurs twice, so it cannot be selected along");
    XarrayError::new(XarrayErrorKind::Unsupported, message)
}
