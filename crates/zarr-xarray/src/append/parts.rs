//! The parts of an append, one for each variable: checked and encoded.

use std::ops::Range;

use zarr_array::{Array, Consolidated};
use zarr_meta::json::Object;

use crate::dataset::{Dataset, repeated};
use crate::dimensions::dimensions;
use crate::encode::Elements;
use crate::error::{XarrayError, XarrayResult};
use crate::new_dataset::NewDataset;
use crate::new_variable::{Encoding, NewVariable};
use crate::variable::Variable;

/// An append, ready to be written.
#[derive(Debug)]
pub(super) struct Parts {
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

/// The new elements of one variable.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) name: String,
    pub(super) array: Array,
    /// The dimension that grows.
    pub(super) axis: usize,
    pub(super) elements: Elements,
}

impl Parts {
    /// Checks and encodes `more`. Reads the indexes of other dimensions if `more` has them, and writes nothing.
    pub(super) async fn encode(dataset: &Dataset, dimension: &str, more: NewDataset) -> XarrayResult<Self> {
        let start = check_whole(dataset, dimension)?;
        check_complete(dataset, dimension, &more)?;
        let mut attributes = more.attributes;
        let named = dataset.shared.group.attributes().get("coordinates").filter(|_| !attributes.is_empty());
        if let Some(named) = named {
            attributes.set("coordinates", named);
        }
        let (mut length, mut leader, mut grown, mut whole) = (None, None, Vec::new(), Vec::new());
        for (name, new) in more.variables {
            let encoded = async {
                let variable = dataset.variable(&name)?;
                let (axis, added) = check_variable(&variable, &new, dimension)?;
                let array = variable.reader()?.array.clone().with_consolidated(Consolidated::Keep);
                let elements = variable.encode_part(new.values)?;
                let part = Part { name: name.clone(), array, axis: axis.unwrap_or(0), elements };
                if axis.is_none() && dataset.shared.is_index(&name) {
                    part.check_equal().await?;
                }
                Ok((axis.map(|_| added), part))
            };
            let (added, part) = encoded.await.map_err(|error: XarrayError| error.with_variable(&name))?;
            match added {
                None if dataset.shared.is_index(&name) => {}
                None => whole.push(part),
                Some(added) if added != *length.get_or_insert(added) => {
                    let message =
                        format!("{added} positions along {dimension:?}, but other variables have others");
                    return Err(XarrayError::invalid(message).with_variable(&name));
                }
                Some(_) if leader.is_none() || name == dimension => grown.extend(leader.replace(part)),
                Some(_) => grown.push(part),
            }
        }
        let none = || XarrayError::invalid(format!("no variable has the dimension {dimension:?}"));
        let (leader, length) = leader.zip(length).ok_or_else(none)?;
        start
            .checked_add(length)
            .ok_or_else(|| XarrayError::out_of_range("the dimension would be too long"))?;
        let attributes = Some(attributes).filter(|attributes| !attributes.is_empty());
        Ok(Self { start, length, leader, grown, whole, attributes })
    }
}

/// Returns the length of the dimension. Checks that nothing is selected, and that all variables with the dimension can
/// grow.
fn check_whole(dataset: &Dataset, dimension: &str) -> XarrayResult<u64> {
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
    if dataset.dimensions() != shared.dimensions {
        return Err(XarrayError::invalid("a selection cannot be appended to: append to the whole dataset"));
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
        let message = "it is not in the dataset: an append adds no variable";
        return Err(XarrayError::invalid(message).with_variable(name));
    }
    let has = |name: &str| {
        let plan = plans.get(name).and_then(|plan| plan.as_ref().ok());
        plan.is_some_and(|plan| plan.dimensions.iter().any(|own| own == dimension))
    };
    let missing = plans.keys().find(|name| has(name) && !more.variables.contains_key(*name));
    missing.map_or(Ok(()), |name| {
        let message = format!("it has the dimension {dimension:?}, so it must be appended to as well");
        Err(XarrayError::invalid(message).with_variable(name))
    })
}

/// Checks the form of new elements. Returns the axis that grows, if there is one, and by how much.
fn check_variable(
    variable: &Variable,
    new: &NewVariable,
    dimension: &str,
) -> XarrayResult<(Option<usize>, u64)> {
    let plan = &variable.plan;
    if new.encoding != Encoding::default() {
        return Err(XarrayError::invalid("its stored encoding is kept, so no other can be given"));
    }
    if new.dimensions != plan.dimensions {
        let (given, stored) = (&new.dimensions, &plan.dimensions);
        return Err(XarrayError::invalid(format!(
            "the elements have dimensions {given:?}, expected {stored:?}"
        )));
    }
    let units = |attributes: &Object| attributes.get("units").map(|units| units.to_compact());
    let (given, stored) = (units(&new.attributes), units(&plan.attributes));
    if given.is_some() && given != stored {
        let (given, stored) = (given.unwrap_or_default(), stored.unwrap_or_else(|| "none".to_owned()));
        return Err(XarrayError::invalid(format!("the units are {given}, expected {stored}")));
    }
    let axis = plan.dimensions.iter().position(|own| own == dimension);
    let shape = new.values.shape();
    let fits = shape.len() == plan.shape.len()
        && (0..)
            .zip(shape.iter().zip(&plan.shape))
            .all(|(at, (given, stored))| Some(at) == axis || given == stored);
    match fits {
        true => Ok((axis, axis.and_then(|axis| shape.get(axis)).copied().unwrap_or(0))),
        false => {
            let stored = &plan.shape;
            Err(XarrayError::invalid(format!(
                "the elements have shape {shape:?}, the variable has {stored:?}"
            )))
        }
    }
}

impl Part {
    /// Checks that the stored elements are those of the part.
    async fn check_equal(&self) -> XarrayResult<()> {
        let is_equal = match &self.elements {
            Elements::Bytes(bytes) => self.array.read_bytes(..).await?.1 == *bytes,
            Elements::Texts(texts) => self.array.read::<String>(..).await? == *texts,
        };
        match is_equal {
            true => Ok(()),
            false => Err(XarrayError::invalid("it is an index, and differs from the stored one")),
        }
    }

    /// Takes the elements out of the part.
    pub(super) fn take(&mut self) -> Self {
        let elements = std::mem::replace(&mut self.elements, Elements::Bytes(Vec::new()));
        Self { name: self.name.clone(), array: self.array.clone(), axis: self.axis, elements }
    }

    /// Writes the elements to a range of the dimension that grows, or to the whole array. Returns the handle with the
    /// shape that includes them.
    pub(super) async fn write(self, range: Option<&Range<u64>>) -> XarrayResult<Array> {
        let Self { name, array, axis, elements } = self;
        let written = async {
            let mut shape = array.shape().to_vec();
            let array = match range.zip(shape.get_mut(axis)) {
                None => array,
                Some((range, length)) => {
                    *length = range.end;
                    array.with_shape(shape)?
                }
            };
            let ends = array.shape().iter().enumerate();
            let selection = ends.map(|(at, end)| match range {
                Some(range) if at == axis => range.clone(),
                _ => 0..*end,
            });
            elements.write(&array, selection.collect::<Vec<_>>().into()).await?;
            Ok(array)
        };
        written.await.map_err(|error: XarrayError| error.with_variable(&name))
    }
}
