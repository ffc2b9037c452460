//! The array of a variable: reads stored elements through the handle of zarr-array.

use zarr_array::{Array, ArrayMeta, ArrayResult, Element, NdVec, Selection, blocking};
use zarr_hierarchy::HierarchyError;

/// An array of the group, with its metadata. The metadata is known even if the array has an unknown codec.
#[derive(Debug)]
pub(crate) struct StoredArray {
    pub(crate) meta: ArrayMeta,
    pub(crate) array: Result<Array, HierarchyError>,
}

/// Reads elements for a caller that may block its thread, or may not.
pub(crate) struct Reader<'a> {
    pub(crate) array: &'a Array,
    pub(crate) may_block: bool,
}

impl Reader<'_> {
    pub(crate) async fn read<T: Element>(&self, selection: Selection) -> ArrayResult<NdVec<T>> {
        match self.may_block {
            true => blocking::Array::from(self.array.clone()).read(selection),
            false => self.array.read(selection).await,
        }
    }

    pub(crate) async fn read_any(&self, selection: Selection) -> ArrayResult<zarr_array::AnyArray> {
        match self.may_block {
            true => blocking::Array::from(self.array.clone()).read_any(selection),
            false => self.array.read_any(selection).await,
        }
    }

    pub(crate) async fn read_bytes(&self, selection: Selection) -> ArrayResult<Vec<u8>> {
        let (_, bytes) = match self.may_block {
            true => blocking::Array::from(self.array.clone()).read_bytes(selection)?,
            false => self.array.read_bytes(selection).await?,
        };
        Ok(bytes)
    }
}
