//! The elements of a scene as numbers.

use zarr_array::DataType;
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
        let known = self.number_type().and_then(|of| Some((picture::number(&of)?, of)));
        let Some((number, data_type)) = known else {
            let message = format!("elements of data type {} have no colour", self.array.data_type());
            return Err(Failure::unsupported(message));
        };
        let slab = whole(picks);
        let elements = match &self.variable {
            Some(variable) => Elements::Fixed(column::numbers(read(variable, picks, &slab)?.read_any()?)?),
            None => Elements::read(&self.array, slab.selection(picks))?,
        };
        let mut numbers = Vec::new();
        elements.each(data_type.memory_size(), |element| {
            numbers.push(number(element));
            Ok(())
        })?;
        Ok(numbers)
    }
}

/// Returns all that is picked as one slab.
pub(super) fn whole(picks: &[Pick]) -> Slab {
    Slab { start: vec![0; picks.len()], count: picks.iter().map(|pick| pick.count).collect() }
}
