//! `--like`: an array whose metadata a new one gets.

use std::path::Path;

use zarr_array::blocking::Array;
use zarr_array::meta::json::Value;
use zarr_array::meta::v3::sharding::inner_chunk_shapes;
use zarr_array::meta::{ArrayBuilder, Format, xarray};
use zarr_array::{ArrayMeta, DataType};

use crate::args::stores::Stores;
use crate::args::target::Target;
use crate::exit::Failure;
use crate::out::lengths::only_shape;

/// The array that a new one is like.
#[derive(Debug)]
pub(super) struct Like(Array);

impl Like {
    /// Opens the array.
    pub(super) fn find(given: &Path, stores: &Stores) -> Result<Self, Failure> {
        Target::find(given, stores)?.array().map(Self)
    }

    fn meta(&self) -> &ArrayMeta {
        self.0.metadata()
    }

    pub(super) fn shape(&self) -> Vec<u64> {
        self.0.shape().to_vec()
    }

    pub(super) fn data_type(&self) -> DataType {
        self.0.data_type().clone()
    }

    /// Returns the shape of chunks, or of inner chunks, if all have the same.
    pub(super) fn chunk_shape(&self) -> Option<Vec<u64>> {
        let inner = inner_chunk_shapes(self.meta().document().codecs()).and_then(|mut shapes| shapes.pop());
        inner.or_else(|| only_shape(self.0.chunk_grid(), self.0.shape()))
    }

    /// Returns the names of the dimensions; a dimension without a name has an empty one.
    pub(super) fn names(&self) -> Option<Vec<String>> {
        let names = self.meta().dimension_names()?;
        Some(names.iter().map(|name| name.clone().unwrap_or_default()).collect())
    }

    /// Returns the settings of the array for a new one of this format, and the fill value that the document of format 2 gets
    /// instead: xarray stores the missing value elsewhere there.
    pub(super) fn builder(&self, data_type: &DataType, format: Format) -> (ArrayBuilder, Option<Value>) {
        let meta = self.meta();
        let builder = meta.to_builder(data_type.clone());
        match (meta.format(), format) {
            (Format::V3, Format::V3) => (builder, None),
            (Format::V3, _) => {
                let (attributes, fill) = xarray::attributes_of_format_2(meta);
                (builder.attributes(&attributes), fill)
            }
            (_, Format::V3) => (builder.attributes(xarray::attributes_of_format_3(meta)), None),
            _ => (builder, meta.fill_is_undefined().then(Value::null)),
        }
    }
}
