//! The elements of a scene as numbers, and as texts.

use zarr_array::DataType;
use zarr_xarray::DecodedType;

use super::Scene;
use crate::decoded::read;
use crate::elements::Elements;
use crate::exit::Failure;
use crate::out::column::{self, Column, Style};
use crate::out::picture;
use crate::out::render::Render;
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

    /// Whether the elements are true or false.
    pub(crate) fn is_boolean(&self) -> bool {
        match &self.variable {
            Some(variable) => variable.data_type() == DecodedType::Booleans,
            None => *self.array.data_type() == DataType::Bool,
        }
    }

    /// Whether the elements are integers.
    pub(crate) fn is_integer(&self) -> bool {
        use DataType::{Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64};
        let integers = [Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64];
        self.number_type().is_some_and(|data_type| integers.contains(&data_type))
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

    /// Reads elements as texts for people.
    pub(crate) fn texts(&self, picks: &[Pick]) -> Result<Vec<String>, Failure> {
        let slab = whole(picks);
        let mut texts = Vec::new();
        let lossy = |text: Vec<u8>| String::from_utf8_lossy(&text).into_owned();
        if let Some(variable) = &self.variable {
            let column = Column::new(read(variable, picks, &slab)?.read_any()?, Style::Text)?;
            let count = slab.count.iter().product::<u64>();
            for at in 0..usize::try_from(count).unwrap_or(0) {
                let mut text = Vec::new();
                column.element(at, &mut text)?;
                texts.push(lossy(text));
            }
            return Ok(texts);
        }
        let data_type = self.array.data_type();
        let render = Render::text(data_type).ok_or_else(|| {
            Failure::unsupported(format!("elements of data type {data_type} cannot be printed"))
        })?;
        Elements::read(&self.array, slab.selection(picks))?.each(data_type.memory_size(), |element| {
            let mut text = Vec::new();
            render.element(element, &mut text)?;
            texts.push(lossy(text));
            Ok(())
        })?;
        Ok(texts)
    }
}

/// Returns all that is picked as one slab.
fn whole(picks: &[Pick]) -> Slab {
    Slab { start: vec![0; picks.len()], count: picks.iter().map(|pick| pick.count).collect() }
}
