//! The elements of a scene as numbers.

use zarr_array::blocking::Array;
use zarr_array::{DataType, Selection};
use zarr_xarray::DecodedType;

use super::Scene;
use crate::decoded::read;
use crate::elements::Elements;
use crate::exit::Failure;
use crate::out::column;
use crate::out::picture;
use crate::pick::Pick;
use crate::slabs::Slab;

impl Scene {
    /// The type of the numbers, or `None` if the elements are no numbers.
    pub(crate) fn number_type(&self) -> Option<DataType> {
        let data_type = match self.variable.as_ref().map(|variable| variable.data_type()) {
            Some(DecodedType::Numbers(of)) => of.into(),
            Some(DecodedType::Booleans) => DataType::Float32,
            Some(_) => return None,
            None => self.array.data_type().clone(),
        };
        picture::number(&data_type).map(|_| data_type)
    }

    /// Reads elements as numbers. Missing ones are NaN.
    pub(crate) fn numbers(&self, picks: &[Pick]) -> Result<Vec<f64>, Failure> {
        let slab = whole(picks);
        let Some(variable) = &self.variable else { return numbers(&self.array, slab.selection(picks)) };
        let known = self.number_type().and_then(|of| Some((picture::number(&of)?, of)));
        let Some((number, data_type)) = known else { return Err(colourless(self.array.data_type())) };
        let elements = Elements::Fixed(column::numbers(read(variable, picks, &slab)?.read_any()?)?);
        each(&elements, number, &data_type)
    }
}

/// Reads stored elements as numbers.
pub(crate) fn numbers(array: &Array, selection: Selection) -> Result<Vec<f64>, Failure> {
    let data_type = array.data_type();
    let number = picture::number(data_type).ok_or_else(|| colourless(data_type))?;
    each(&Elements::read(array, selection)?, number, data_type)
}

fn each(elements: &Elements, number: picture::Number, data_type: &DataType) -> Result<Vec<f64>, Failure> {
    let mut numbers = Vec::new();
    elements.each(data_type.memory_size(), |element| {
        numbers.push(number(element));
        Ok(())
    })?;
    Ok(numbers)
}

fn colourless(data_type: &DataType) -> Failure {
    Failure::unsupported(format!("elements of data type {data_type} have no colour"))
}

/// Returns all that is picked as one slab.
pub(super) fn whole(picks: &[Pick]) -> Slab {
    Slab { start: vec![0; picks.len()], count: picks.iter().map(|pick| pick.count).collect() }
}
