//! The parts of an append, one for each variable: checked and encoded.

use zarr_hierarchy::Group;
use zarr_meta::json::Object;

use crate::add::attributes;
use crate::dataset::Dataset;
use crate::dimensions::dimensions;
use crate::error::{XarrayError, XarrayResult};
use crate::new_dataset::NewDataset;
use crate::part::Part;
use crate::shared::repeated;

/// An append, ready to be written.
#[derive(Debug)]
pub(super) struct Parts {
    pub(super) group: Group,
    /// The dimension that grows.
    pub(super) dimension: String,
    /// Whether a marker is there while shapes are stored.
    pub(super) is_marked: bool,
    /// The present length of the dimension.
    pub(super) start: u64,
    /// The number of positions that are appended.
    pub(super) length: u64,
    /// The part of the index of the dimension, or of some variable that has the dimension. Its shape is stored last,
    /// and ranges are reserved on it.
    pub(super) leader: Part,
    /// The parts of the other variables that have the dimension.
    pub(super) grown: Vec<Part>,
    /// Variables without the dimension, which are overwritten.
    pub(super) whole: Vec<Part>,
    /// The new attributes of the group.
    pub(super) attributes: Option<Object>,
}

impl Parts {
    /// Checks and encodes `more`. Reads the indexes of other dimensions if `more` has them, and writes nothing.
    pub(super) async fn encode(dataset: &Dataset, dimension: &str, more: NewDataset) -> XarrayResult<Self> {
        let start = check_whole(dataset, dimension)?;
        check_complete(dataset, dimension, &more)?;
        let attributes = attributes(&dataset.shared.group.attributes(), more.attributes, &Object::new());
        let (mut length, mut leader, mut grown, mut whole) = (None, None, Vec::new(), Vec::new());
        for (name, new) in more.variables {
            let Some((part, added)) = Part::encode(dataset, &name, new, Some(dimension)).await? else {
                continue;
            };
            if part.axis.is_none() {
                whole.push(part);
                continue;
            }
            if added != *length.get_or_insert(added) {
                let message =
                    format!("{added} positions along {dimension:?}, but other variables have others");
                return Err(XarrayError::invalid(message).with_variable(&name));
            }
            match leader.is_none() || name == dimension {
                true => grown.extend(leader.replace(part)),
                false => grown.push(part),
            }
        }
        let none = || XarrayError::invalid(format!("no variable has the dimension {dimension:?}"));
        let (leader, length) = leader.zip(length).ok_or_else(none)?;
        start
            .checked_add(length)
            .ok_or_else(|| XarrayError::out_of_range("the dimension would be too long"))?;
        let (group, dimension) = (dataset.shared.group.clone(), dimension.to_owned());
        Ok(Self { group, dimension, is_marked: false, start, length, leader, grown, whole, attributes })
    }
}

/// Returns the length of the dimension. Checks that nothing is selected, and that all variables with the dimension can
/// grow.
pub(super) fn check_whole(dataset: &Dataset, dimension: &str) -> XarrayResult<u64> {
    dataset.check_unselected()?;
    let shared = &dataset.shared;
    let mut stored = shared.arrays.iter().filter_map(|(name, stored)| {
        let names = dimensions(&stored.meta).ok()?.names;
        names.iter().any(|own| own == dimension).then_some((name, names))
    });
    if let Some((name, _)) = stored.clone().find(|(name, _)| shared.planned(name).is_err()) {
        return Err(XarrayError::invalid("it has the dimension, and is broken").with_variable(name));
    }
    let twice = |names: &[String]| names.iter().filter(|own| *own == dimension).count() > 1;
    if let Some((name, _)) = stored.find(|(_, names)| twice(names)) {
        return Err(repeated(dimension).with_variable(name));
    }
    let own = shared.plans.values().flatten().any(|plan| plan.dimensions.iter().any(|own| own == dimension));
    let length = shared.dimensions.get(dimension).filter(|_| own);
    length.copied().ok_or_else(|| {
        let known: Vec<_> = shared.dimensions.keys().map(String::as_str).collect();
        XarrayError::invalid(format!("no dimension {dimension:?}: there are {}", known.join(", ")))
    })
}

/// Checks that `more` has exactly the variables with the dimension, and no new ones.
fn check_complete(dataset: &Dataset, dimension: &str, more: &NewDataset) -> XarrayResult<()> {
    let plans = &dataset.shared.plans;
    if let Some(name) = more.variables.keys().find(|name| !plans.contains_key(*name)) {
        return Err(is_new(name));
    }
    let has = |name: &str| {
        let plan = plans.get(name).and_then(|plan| plan.as_ref().ok());
        plan.is_some_and(|plan| plan.dimensions.iter().any(|own| own == dimension))
    };
    let missing = plans.keys().find(|name| has(name) && !more.variables.contains_key(*name));
    missing.map_or(Ok(()), |name| Err(is_missing(dimension, name)))
}

/// The error for a variable that the dataset does not have.
pub(super) fn is_new(name: &str) -> XarrayError {
    XarrayError::invalid("it is not in the dataset: an append adds no variable").with_variable(name)
}

/// The error for a variable that has the dimension, and no new part.
pub(super) fn is_missing(dimension: &str, name: &str) -> XarrayError {
    let message = format!("it has the dimension {dimension:?}, so it must be appended to as well");
    XarrayError::invalid(message).with_variable(name)
}
