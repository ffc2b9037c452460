//! Shapes that are reserved, or not stored yet.

use std::ops::Range;

use zarr_traits::block_on;

use super::Array;
use crate::error::ArrayResult;

impl Array {
    /// Lengthens dimension `axis` by `length`, and returns the range that is reserved for this writer.
    ///
    /// # Errors
    /// As [`zarr_array::Array::extend`](crate::Array::extend).
    pub fn extend(&mut self, axis: usize, length: u64) -> ArrayResult<Range<u64>> {
        block_on(self.0.extend(axis, length))
    }

    /// Reads the stored shape again, after the caller has written `range` along dimension `axis`, the result of
    /// [`extend`](Self::extend). If another writer has made the array shorter, erases the chunks of the range that are now
    /// outside of it.
    ///
    /// # Errors
    /// As [`zarr_array::Array::check_extended`](crate::Array::check_extended).
    pub fn check_extended(&self, axis: usize, range: &Range<u64>) -> ArrayResult<()> {
        block_on(self.0.check_extended(axis, range))
    }

    /// Returns a handle on the same array with another shape, which is not stored. Makes no request.
    ///
    /// # Errors
    /// As [`zarr_array::Array::with_shape`](crate::Array::with_shape).
    pub fn with_shape(&self, shape: impl Into<Vec<u64>>) -> ArrayResult<Self> {
        self.0.with_shape(shape).map(Self)
    }

    /// Stores the shape of this handle, if the stored shape is `old`.
    ///
    /// # Errors
    /// As [`zarr_array::Array::store_shape`](crate::Array::store_shape).
    pub fn store_shape(&mut self, old: &[u64]) -> ArrayResult<()> {
        block_on(self.0.store_shape(old))
    }
}
