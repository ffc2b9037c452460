//! Writes of values that arrive in order, whole rows of chunks at a time.

use crate::element::WriteElement;
use crate::error::{ArrayError, ArrayResult};
use crate::handles::array::Array;
use crate::select::{Axis, Selection};
use crate::values::NdVec;

/// Writes values that arrive in order along the first dimension, in pieces of any length. See
/// [`block_writer`](Array::block_writer).
#[derive(Debug)]
#[must_use = "the last row of chunks is written by `finish`"]
pub struct BlockWriter<T> {
    array: Array,
    /// Whether the array grows with the values.
    appends: bool,
    /// The first position that is not written, where `row` belongs.
    next: u64,
    /// The number of positions of an incomplete row of chunks, and their values.
    rows: u64,
    row: Vec<T>,
}

impl Array {
    /// Returns a writer of values that arrive in order along the first dimension, beginning at position `from`. It
    /// writes whole rows of chunks, so each chunk is encoded and stored once, however short the pieces are. It keeps at
    /// most one row of chunks in memory.
    ///
    /// ```
    /// # use zarr_array::{Array, ArrayResult, NdVec};
    /// # async fn example(array: Array, frames: Vec<NdVec<f32>>) -> ArrayResult<()> {
    /// let mut writer = array.block_writer(0);
    /// for frame in frames {
    ///     writer.push(frame).await?; // of shape [n, 180, 360]
    /// }
    /// writer.finish().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn block_writer<T: WriteElement>(&self, from: u64) -> BlockWriter<T> {
        BlockWriter { array: self.clone(), appends: false, next: from, rows: 0, row: Vec::new() }
    }

    /// As [`block_writer`](Self::block_writer), but the array grows with the values. Another writer may append at the
    /// same time: each row of chunks gets its own range, and the rows of each writer keep their order.
    pub fn appender<T: WriteElement>(&self) -> BlockWriter<T> {
        let next = self.shape().first().copied().unwrap_or(0);
        BlockWriter { array: self.clone(), appends: true, next, rows: 0, row: Vec::new() }
    }
}

impl<T: WriteElement> BlockWriter<T> {
    /// Takes the next values. Their first dimension may have any length; the others have those of the array. Writes the
    /// rows of chunks that are complete.
    ///
    /// # Errors
    /// When the shape is wrong, and as [`write`](Array::write) or [`append`](Array::append). After an error, the values
    /// of the row that failed are lost.
    pub async fn push(&mut self, values: NdVec<T>) -> ArrayResult<()> {
        let (shape, values) = values.into_parts();
        let whole = self.array.shape();
        let Some(rows) = shape.first().filter(|_| shape.len() == whole.len() && shape[1..] == whole[1..])
        else {
            let message = format!("values of shape {shape:?} do not follow each other in shape {whole:?}");
            return Err(self.array.core.in_array(ArrayError::invalid(message)));
        };
        self.rows += rows;
        if self.row.is_empty() {
            self.row = values
        } else {
            self.row.extend(values)
        }
        self.write(self.complete()).await
    }

    /// Writes the values of the last row of chunks, which may be incomplete. Returns the position behind them.
    ///
    /// # Errors
    /// As [`push`](Self::push).
    pub async fn finish(mut self) -> ArrayResult<u64> {
        self.write(self.rows).await?;
        Ok(self.next)
    }

    /// Returns the number of positions up to the last border of chunks.
    fn complete(&self) -> u64 {
        let (grid, end) = (&self.array.core.grid, self.next + self.rows);
        let next = grid.find(0, end).and_then(|chunk| grid.span(0, chunk));
        // At its end, the grid has no further chunk.
        next.map_or(end, |span| span.start).saturating_sub(self.next)
    }

    /// Writes the first `rows` positions that are kept.
    async fn write(&mut self, rows: u64) -> ArrayResult<()> {
        if rows == 0 {
            return Ok(());
        }
        let mut shape = self.array.shape().to_vec();
        shape[0] = rows;
        let width = usize::try_from(self.rows).map_or(0, |rows| self.row.len() / rows);
        let rest = self.row.split_off(usize::try_from(rows).map_or(0, |rows| rows * width));
        let values = NdVec::new(shape, std::mem::replace(&mut self.row, rest))?;
        let from = self.next;
        (self.rows, self.next) = (self.rows - rows, from + rows);
        if self.appends {
            self.array.append(0, values).await?;
            // Another writer may have appended before.
            self.next = self.array.shape()[0];
            return Ok(());
        }
        let others = self.array.shape()[1..].iter().map(|_| Axis::from(..));
        let selection = Selection::new([Axis::from(from..self.next)].into_iter().chain(others).collect());
        self.array.write(selection, values).await
    }
}
