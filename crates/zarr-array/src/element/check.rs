//! Checks of element types and of the memory of results.

use zarr_strided::Plain;
use zarr_traits::DataType;

use crate::element::WriteElement;
use crate::error::{ArrayError, ArrayErrorKind, ArrayResult};

/// Checks that `T` is an element type of `data_type`.
pub(crate) fn check_element<T: WriteElement>(data_type: &DataType) -> ArrayResult<()> {
    if T::fits(data_type)? && data_type.memory_size().is_multiple_of(size_of::<T::Memory>()) {
        return Ok(());
    }
    Err(ArrayError::invalid(format!("the data type is {data_type}, not {}", T::NAME)))
}

/// Checks the size of a result.
pub(crate) fn check_size(bytes: usize, limit: u64) -> ArrayResult<()> {
    if bytes as u64 <= limit {
        return Ok(());
    }
    let message = format!("a result of {bytes} bytes exceeds the limit of {limit}");
    Err(ArrayError::new(ArrayErrorKind::LimitExceeded, message))
}

/// Returns zeroed memory for elements of `size` bytes.
pub(crate) fn fresh<M: Plain>(shape: &[u64], size: usize, limit: u64) -> ArrayResult<Vec<M>> {
    let bytes = zarr_strided::byte_len(shape, size)?;
    check_size(bytes, limit)?;
    Ok(zarr_strided::zeroed(bytes / size_of::<M>().max(1))?)
}
