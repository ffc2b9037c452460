//! Writes of values that arrive in order, for programs without async.

use zarr_traits::block_on;

use super::Array;
use crate::element::WriteElement;
use crate::error::ArrayResult;
use crate::values::NdVec;

impl Array {
    /// Returns a writer of values that arrive in order along the first dimension, beginning at position `from`. It
    /// writes whole rows of chunks, so each chunk is encoded and stored once, however short the pieces are. It keeps at
    /// most one row of chunks in memory.
    ///
    /// ```
    /// # use zarr_array::{ArrayMeta, ArrayResult, DataType, NdVec, blocking::Array, standard};
    /// # let meta = ArrayMeta::builder([4, 6], DataType::Int32).chunks([2, 3]).build()?;
    /// # let array = Array::create(zarr_store::MemoryStore::new(), "/a", meta, &standard())?;
    /// let mut writer = array.block_writer(0);
    /// for row in 0..4 {
    ///     writer.push(NdVec::new([1, 6], vec![row; 6])?)?;
    /// }
    /// assert_eq!(writer.finish()?, 4);
    /// # ArrayResult::Ok(())
    /// ```
    pub fn block_writer<T: WriteElement>(&self, from: u64) -> BlockWriter<T> {
        BlockWriter(self.0.block_writer(from))
    }

    /// As [`block_writer`](Self::block_writer), but the array grows with the values.
    pub fn appender<T: WriteElement>(&self) -> BlockWriter<T> {
        BlockWriter(self.0.appender())
    }
}

/// Writes values that arrive in order along the first dimension, in pieces of any length. See
/// [`block_writer`](Array::block_writer).
#[derive(Debug)]
#[must_use = "the last row of chunks is written by `finish`"]
pub struct BlockWriter<T>(crate::BlockWriter<T>);

impl<T: WriteElement> BlockWriter<T> {
    /// As [`zarr_array::BlockWriter::push`](crate::BlockWriter::push).
    ///
    /// # Errors
    /// As there.
    pub fn push(&mut self, values: NdVec<T>) -> ArrayResult<()> {
        block_on(self.0.push(values))
    }

    /// As [`zarr_array::BlockWriter::finish`](crate::BlockWriter::finish).
    ///
    /// # Errors
    /// As there.
    pub fn finish(self) -> ArrayResult<u64> {
        block_on(self.0.finish())
    }
}
