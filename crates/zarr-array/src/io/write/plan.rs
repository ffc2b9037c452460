//! What a write asks of its plan, and the plan of ranges.

use zarr_strided::{Destination, Input, Source, Swap};
use zarr_traits::{Bytes, Dims, Region, Scratch, update::SelectedPart};

use crate::error::{ArrayError, ArrayErrorKind, ArrayResult};
use crate::io::core::Core;
use crate::io::encoding::Encode;
use crate::plan::{Cell, Plan};

/// The plan of a write.
pub(crate) trait WritePlan: Send + Sync + 'static {
    /// The elements to write to one chunk.
    type Cell: Clone + Send + Sync + 'static;
    /// What is needed to find the elements to write to an inner chunk.
    type Inner: Send + Sync + 'static;

    /// Whether elements can be put into a chunk whose dimensions are stored in any order.
    const PUTS_INTO_VIEWS: bool;

    /// The number of cells.
    fn cells(&self) -> u64;

    /// Returns the cell with this number.
    fn cell(&self, number: u64) -> Self::Cell;

    /// The number of elements to write to a cell, or to all cells.
    fn elements(&self, cell: Option<&Self::Cell>) -> u64;

    /// The number of parts that are encoded independently.
    fn leaves(&self) -> u64;

    /// The number of elements of the largest chunk.
    fn largest_chunk(&self) -> u64;

    /// The index of the chunk in the grid.
    fn chunk(cell: &Self::Cell) -> &Dims;

    /// The full shape of the chunk.
    fn shape(cell: &Self::Cell) -> &Dims;

    /// Whether all elements of the chunk are written, also those beyond the edge of the array.
    fn is_whole(&self, cell: &Self::Cell) -> bool;

    /// Whether all elements of the chunk inside the array are written.
    fn is_complete(&self, cell: &Self::Cell) -> bool;

    /// Returns the elements of a [whole](Self::is_whole) chunk, if they are in its order.
    fn whole<'a>(&self, cell: &Self::Cell, input: &'a Input) -> ArrayResult<Option<Source<'a>>>;

    /// Puts the elements to write into the chunk, which has elements of `size` bytes in C order.
    fn put(&self, cell: &Self::Cell, chunk: &mut [u8], size: usize, input: &Input) -> ArrayResult<()>;

    /// As [`put`](Self::put), into a view of the chunk. Called if [`PUTS_INTO_VIEWS`](Self::PUTS_INTO_VIEWS).
    fn put_into(
        &self,
        cell: &Self::Cell,
        chunk: Destination<'_>,
        input: &Input,
        swap: Swap,
    ) -> ArrayResult<()>;

    /// Returns the elements to write to a cell. Called if [`PUTS_INTO_VIEWS`](Self::PUTS_INTO_VIEWS).
    fn values<'a>(&self, cell: &Self::Cell, input: &'a Input) -> ArrayResult<Source<'a>>;

    /// Returns the part of the chunk whose inner chunks are affected.
    fn selected(&self, core: &Core, cell: &Self::Cell) -> SelectedPart;

    /// Prepares the writing of inner chunks into the stored `object`.
    fn inner(&self, core: &Core, cell: &Self::Cell, object: Option<Bytes>) -> Self::Inner;

    /// Calls `encode` with the new elements of an inner chunk, given as a box of the [selected](Self::selected) part.
    /// Returns whether it is stored, or `None` if nothing is written to it.
    #[allow(clippy::too_many_arguments, reason = "the state of the write and of the thread")]
    fn encode(
        &self,
        core: &Core,
        cell: &Self::Cell,
        inner: &Self::Inner,
        elements: &Region,
        input: &Input,
        scratch: &mut Scratch,
        encode: &mut Encode<'_>,
    ) -> ArrayResult<Option<bool>>;
}

impl WritePlan for Plan {
    type Cell = Cell;
    type Inner = ();

    const PUTS_INTO_VIEWS: bool = true;

    fn cells(&self) -> u64 {
        self.cells()
    }

    fn cell(&self, number: u64) -> Cell {
        self.cell(number)
    }

    fn elements(&self, cell: Option<&Cell>) -> u64 {
        let count = cell.map_or_else(|| self.result_shape(), |cell| cell.count.clone());
        count.product().unwrap_or(u64::MAX)
    }

    fn leaves(&self) -> u64 {
        self.leaves()
    }

    fn largest_chunk(&self) -> u64 {
        self.largest_chunk()
    }

    fn chunk(cell: &Cell) -> &Dims {
        &cell.chunk
    }

    fn shape(cell: &Cell) -> &Dims {
        &cell.shape
    }

    fn is_whole(&self, cell: &Cell) -> bool {
        cell.is_dense() && cell.part.is_whole(&cell.shape)
    }

    fn is_complete(&self, cell: &Cell) -> bool {
        cell.complete
    }

    fn whole<'a>(&self, cell: &Cell, input: &'a Input) -> ArrayResult<Option<Source<'a>>> {
        self.values(cell, input).map(Some)
    }

    fn put(&self, cell: &Cell, chunk: &mut [u8], size: usize, input: &Input) -> ArrayResult<()> {
        self.put_into(cell, Destination::dense(chunk, &cell.shape, size)?, input, Swap::NONE)
    }

    fn put_into(&self, cell: &Cell, chunk: Destination<'_>, input: &Input, swap: Swap) -> ArrayResult<()> {
        let part = chunk.sub(cell.part.start(), cell.part.shape())?;
        let mut part = if cell.is_dense() { part } else { part.step(&cell.steps)? };
        Ok(part.put(self.values(cell, input)?, swap)?)
    }

    fn values<'a>(&self, cell: &Cell, input: &'a Input) -> ArrayResult<Source<'a>> {
        Ok(input.source().sub(&cell.at, &cell.count)?)
    }

    fn selected(&self, _: &Core, cell: &Cell) -> SelectedPart {
        SelectedPart { part: cell.part.clone(), steps: cell.steps.clone() }
    }

    fn inner(&self, _: &Core, _: &Cell, _: Option<Bytes>) {}

    fn encode(
        &self,
        _: &Core,
        cell: &Cell,
        (): &(),
        elements: &Region,
        input: &Input,
        scratch: &mut Scratch,
        encode: &mut Encode<'_>,
    ) -> ArrayResult<Option<bool>> {
        let values = self.values(cell, input)?.sub(elements.start(), elements.shape())?;
        encode(&values, scratch).map(Some)
    }
}

/// Returns the error for a call that the plan does not announce.
pub(crate) fn not_asked() -> ArrayError {
    ArrayError::new(ArrayErrorKind::Panic, "a write asked its plan for something that it does not have")
}
