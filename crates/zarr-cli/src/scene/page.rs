//! What only the page shows of a scene: kinds of elements, texts, and names.

use zarr_array::DataType;
use zarr_array::meta::json::Value;
use zarr_xarray::{DecodedType, MultiscaleFormat};

use super::numbers::whole;
use super::{Around, Scene, axis};
use crate::decoded::read;
use crate::elements::Elements;
use crate::exit::Failure;
use crate::out::column::{Column, Style};
use crate::out::json;
use crate::out::render::Render;
use crate::pick::Pick;

impl Around {
    /// Returns the dimensions of the dataset, with the first and the last label of each.
    pub(crate) fn dimensions(&self) -> Value {
        let Some(dataset) = &self.dataset else { return Value::null() };
        let indexes: Vec<&str> = dataset.indexes().collect();
        let dimension = |(name, length): (&String, &u64)| {
            let known = indexes.contains(&name.as_str()) && *length <= axis::LONGEST;
            let index = known.then(|| dataset.index(name).ok()).flatten();
            let units = dataset.variable(name).ok().and_then(|of| of.attributes().get("units")?.as_text());
            let last = index.as_ref().and_then(|index| index.text(index.len().checked_sub(1)?));
            json::object([
                ("name", name.as_str().into()),
                ("length", (*length).into()),
                ("first", index.as_ref().and_then(|index| index.text(0)).into()),
                ("second", index.as_ref().and_then(|index| index.text(1)).into()),
                ("last", last.into()),
                ("units", units.into()),
            ])
        };
        dataset.dimensions().iter().map(dimension).collect()
    }
}

impl Scene {
    /// Returns an attribute of the array that is a text.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        let value = match &self.variable {
            Some(variable) => variable.attributes().get(name),
            None => self.array.attributes().get(name),
        };
        value?.as_text()
    }

    /// Whether the array is a level of an image of OME-Zarr.
    pub(crate) fn is_picture(&self) -> bool {
        self.image().is_some_and(|image| image.format != MultiscaleFormat::Convention)
    }

    /// Whether numbers name objects and have no order.
    pub(crate) fn is_label(&self) -> bool {
        self.image().is_some_and(|image| image.is_label)
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

    /// Returns the names of the first `count` channels.
    pub(crate) fn channel_names(&self, count: usize) -> Vec<String> {
        let image = self.image();
        let said = |at: usize| image.and_then(|image| image.channels.get(at)?.label.clone());
        let own = |at: usize| match image {
            None => ["red", "green", "blue"][at.min(2)].to_owned(),
            Some(_) => format!("channel {at}"),
        };
        (0..count).map(|at| said(at).unwrap_or_else(|| own(at))).collect()
    }

    /// Reads elements as texts for people.
    pub(crate) fn texts(&self, picks: &[Pick]) -> Result<Vec<String>, Failure> {
        let slab = whole(picks);
        let mut texts = Vec::new();
        let lossy = |text: Vec<u8>| String::from_utf8_lossy(&text).into_owned();
        if let Some(variable) = &self.variable {
            let column = Column::read(&read(variable, picks, &slab)?, Style::Text)?;
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
