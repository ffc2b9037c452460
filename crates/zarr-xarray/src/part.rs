//! The new elements of a variable that exists: checked, encoded, and written.

use std::ops::Range;

use zarr_array::{Array, ArrayResult, ConsolidatedPolicy};
use zarr_meta::json::Object;

use crate::dataset::Dataset;
use crate::encode::Elements;
use crate::error::{XarrayError, XarrayResult};
use crate::new_variable::NewVariable;
use crate::variable::Variable;

/// The new elements of a variable, as it stores them.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) name: String,
    pub(crate) array: Array,
    /// The dimension that grows. Without one, the elements replace all others.
    pub(crate) axis: Option<usize>,
    pub(crate) elements: Elements,
}

impl Part {
    /// Checks and encodes new elements, along `dimension` if the variable has it. Also returns by how much it grows.
    /// Returns `None` for an index of another dimension, whose elements must be those that are stored.
    pub(crate) async fn encode(
        dataset: &Dataset,
        name: &str,
        new: NewVariable,
        dimension: Option<&str>,
    ) -> XarrayResult<Option<(Self, u64)>> {
        let encoded = async {
            let variable = dataset.variable(name)?;
            let axis = variable.plan.dimensions.iter().position(|own| Some(own.as_str()) == dimension);
            let added = check(&variable, &new, axis)?;
            let array = variable.reader()?.array.clone().with_consolidated(ConsolidatedPolicy::Keep);
            let elements = variable.encode_part(new.values)?;
            let part = Self { name: name.to_owned(), array, axis, elements };
            if axis.is_none() && dataset.shared.is_index(name) {
                part.check_equal().await?;
                return Ok(None);
            }
            Ok(Some((part, added)))
        };
        encoded.await.map_err(|error: XarrayError| error.with_variable(name))
    }

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
    pub(crate) fn take(&mut self) -> Self {
        let elements = std::mem::replace(&mut self.elements, Elements::Bytes(Vec::new()));
        Self { name: self.name.clone(), array: self.array.clone(), axis: self.axis, elements }
    }

    /// Returns the shape of the array with this length along the dimension that grows.
    pub(crate) fn shape(&self, length: u64) -> Vec<u64> {
        let mut shape = self.array.shape().to_vec();
        if let Some(of) = self.axis.and_then(|axis| shape.get_mut(axis)) {
            *of = length;
        }
        shape
    }

    /// Returns a handle with this length along the dimension that grows.
    pub(crate) fn at(&self, length: u64) -> ArrayResult<Array> {
        self.array.with_shape(self.shape(length))
    }

    /// Writes the elements to a range of the dimension that grows, or to the whole array. Returns the handle with the
    /// shape that includes them.
    pub(crate) async fn write(self, range: Option<&Range<u64>>) -> XarrayResult<Array> {
        let array = range.map_or(Ok(self.array.clone()), |range| self.at(range.end));
        let Self { name, axis, elements, .. } = self;
        let written = async {
            let array = array?;
            let ends = array.shape().iter().enumerate();
            let selection = ends.map(|(at, end)| match range {
                Some(range) if Some(at) == axis => range.clone(),
                _ => 0..*end,
            });
            elements.write(&array, selection.collect::<Vec<_>>().into()).await?;
            Ok(array)
        };
        written.await.map_err(|error: XarrayError| error.with_variable(&name))
    }
}

/// Checks that new elements have no units, or the stored ones.
pub(crate) fn check_units(given: &Object, stored: &Object) -> XarrayResult<()> {
    let units = |attributes: &Object| attributes.get("units").map(|units| units.to_compact());
    let (given, stored) = (units(given), units(stored));
    match given {
        Some(given) if stored.as_ref() != Some(&given) => {
            let stored = stored.unwrap_or_else(|| "none".to_owned());
            Err(XarrayError::invalid(format!("the units are {given}, expected {stored}")))
        }
        _ => Ok(()),
    }
}

/// Checks the form of new elements. Returns their length along the axis that grows.
fn check(variable: &Variable, new: &NewVariable, axis: Option<usize>) -> XarrayResult<u64> {
    let plan = &variable.plan;
    variable.check_encoding(&new.encoding)?;
    if new.dimensions != plan.dimensions {
        let (given, stored) = (&new.dimensions, &plan.dimensions);
        return Err(XarrayError::invalid(format!(
            "the elements have dimensions {given:?}, expected {stored:?}"
        )));
    }
    check_units(&new.attributes, &plan.attributes)?;
    let shape = new.values.shape();
    let mut lengths = (0..).zip(shape.iter().zip(&plan.shape));
    let fits = shape.len() == plan.shape.len()
        && lengths.all(|(at, (given, stored))| Some(at) == axis || given == stored);
    match fits {
        true => Ok(axis.and_then(|axis| shape.get(axis)).copied().unwrap_or(0)),
        false => {
            let stored = &plan.shape;
            Err(XarrayError::invalid(format!(
                "the elements have shape {shape:?}, the variable has {stored:?}"
            )))
        }
    }
}
