//! The plan of a read or a write: which chunks, which part of each, and its place in the result. Pure arithmetic,
//! without a list of chunks.

pub(crate) mod chunks;
pub(crate) mod lists;
pub(crate) mod order;
mod side;

use zarr_strided::{Cut, Cuts};
use zarr_traits::{ChunkGrid, Dims, Region, partial::Piece};

use crate::error::{ArrayError, ArrayErrorKind, ArrayResult};
use crate::select::Picked;

/// A selection cut into cells at the borders of chunks, and into leaves at the borders of inner chunks. Cells and
/// leaves are numbered in C order. A chunk without inner chunks is itself a leaf.
#[derive(Debug)]
pub(crate) struct Plan {
    picked: Vec<Picked>,
    /// The shape of the array.
    shape: Dims,
    steps: Dims,
    chunks: Vec<Cut>,
    leaves: Option<Vec<Cut>>,
    inner: Option<Inner>,
    cells: u64,
}

/// What a plan must know of an array.
pub(crate) struct Layout<'a> {
    /// The shape of the array.
    pub(crate) shape: &'a [u64],
    pub(crate) grid: &'a dyn ChunkGrid,
    pub(crate) inner: Option<Inner>,
    /// Whether a part of a chunk can be read without the rest.
    pub(crate) reads_parts: bool,
    /// The largest number of elements between two elements that are read together, along the last dimension.
    pub(crate) gap: u64,
}

/// The inner chunks of the chunks.
#[derive(Debug, Clone)]
pub(crate) struct Inner {
    /// The shape of an inner chunk.
    pub(crate) shape: Dims,
    /// The largest number of inner chunks that a block may touch.
    pub(crate) together: u64,
}

/// The elements of a cell in one inner chunk: the smallest unit that is decoded independently.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Leaf {
    pub(crate) number: u64,
    /// The position of its first element in the result, and the end of its elements.
    pub(crate) at: Dims,
    pub(crate) end: Dims,
}

impl Leaf {
    /// Whether an element of the result lies in the leaf.
    pub(crate) fn holds(&self, element: &[u64]) -> bool {
        element.iter().zip(self.at.iter().zip(&self.end)).all(|(e, (at, end))| at <= e && e < end)
    }
}

/// The selected elements of one chunk, or a block of them.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    /// The grid index of the chunk.
    pub(crate) chunk: Dims,
    /// The full shape of the chunk.
    pub(crate) shape: Dims,
    /// The box from the first to the last selected element, relative to the chunk.
    pub(crate) part: Region,
    /// In dimension `d` every `steps[d]`-th element of the box is selected.
    pub(crate) steps: Dims,
    /// Whether all elements of the chunk inside the array are selected.
    pub(crate) complete: bool,
    /// The position of the first selected element in the result, and the number of selected elements in each dimension.
    pub(crate) at: Dims,
    pub(crate) count: Dims,
}

impl Cell {
    /// Whether every element of the part is selected.
    pub(crate) fn is_dense(&self) -> bool {
        self.steps.iter().all(|s| *s == 1)
    }

    /// Returns the place of a piece's selected elements among those of the cell, and their number in each dimension.
    pub(crate) fn place_of(&self, piece: &Piece) -> (Dims, Dims) {
        let dims = || piece.at.iter().zip(&piece.shape).zip(&self.steps);
        if self.is_dense() {
            return (piece.at.clone(), piece.shape.clone());
        }
        let first = dims().map(|((at, _), step)| at.div_ceil(*step)).collect();
        let count = dims().map(|((at, len), step)| (at + len).div_ceil(*step) - at.div_ceil(*step)).collect();
        (first, count)
    }

    /// Returns the smallest box around the selected elements in a box of `shape` at offset `at` from the start of the
    /// part, relative to that box.
    pub(crate) fn hits(&self, at: &[u64], shape: &[u64]) -> Hits {
        let mut hits = Hits::default();
        for (dim, step) in self.steps.iter().enumerate() {
            let first = at[dim].div_ceil(*step);
            let count = (at[dim] + shape[dim]).div_ceil(*step) - first;
            hits.start.push(first * step - at[dim]);
            hits.extent.push(count.saturating_sub(1) * step + 1);
        }
        hits
    }
}

/// The box from the first to the last selected element in another box.
#[derive(Debug, Default)]
pub(crate) struct Hits {
    pub(crate) start: Dims,
    pub(crate) extent: Dims,
}

impl Plan {
    /// Cuts a selection of an array at the borders of its chunks and inner chunks.
    ///
    /// # Errors
    /// When the grid ends inside the selection, or the plan has 2^64 cells or more.
    pub(crate) fn new(picked: Vec<Picked>, layout: &Layout<'_>) -> ArrayResult<Self> {
        let dims = || picked.iter().enumerate();
        let chunks =
            dims().map(|(dim, p)| at_chunks(p, dim, layout.grid)).collect::<ArrayResult<Vec<_>>>()?;
        let leaves = layout.inner.as_ref().map(|inner| {
            dims().map(|(dim, p)| Ok(Cut::even(p.start, p.step, p.count, inner.shape[dim])?)).collect()
        });
        let cells = chunks.iter().map(Cut::len).collect::<Dims>().product();
        let leaves = leaves.transpose().map_err(|e: ArrayError| e)?;
        Ok(Self {
            shape: layout.shape.into(),
            steps: picked.iter().map(|p| p.step).collect(),
            picked,
            chunks,
            leaves,
            inner: layout.inner.clone(),
            cells: cells.ok_or_else(|| {
                ArrayError::new(ArrayErrorKind::LimitExceeded, "the selection touches 2^64 chunks or more")
            })?,
        })
    }

    /// The number of cells, which is the number of chunks.
    pub(crate) fn cells(&self) -> u64 {
        self.cells
    }

    /// The number of leaves.
    pub(crate) fn leaves(&self) -> u64 {
        self.leaf_cuts().iter().map(Cut::len).fold(1, u64::saturating_mul)
    }

    /// The cuts of the result, with all its dimensions, into leaves.
    pub(crate) fn cuts(&self) -> Cuts {
        Cuts::new(self.leaf_cuts().to_vec())
    }

    fn leaf_cuts(&self) -> &[Cut] {
        self.leaves.as_deref().unwrap_or(&self.chunks)
    }

    /// The number of elements of the largest chunk, counting those beyond the edge of the array.
    pub(crate) fn largest_chunk(&self) -> u64 {
        self.chunks.iter().map(Cut::longest).fold(1, u64::saturating_mul)
    }

    /// The inner chunks of the chunks, if they have any.
    pub(crate) fn inner(&self) -> Option<&Inner> {
        self.inner.as_ref()
    }

    /// The number of elements along each dimension.
    pub(crate) fn result_shape(&self) -> Dims {
        self.picked.iter().map(|picked| picked.count).collect()
    }

    /// Returns the cell with this number.
    pub(crate) fn cell(&self, number: u64) -> Cell {
        let zeros = || Dims::filled(0, self.chunks.len());
        let (mut chunk, mut shape, mut start) = (zeros(), zeros(), zeros());
        let (mut at, mut count) = (zeros(), zeros());
        let (mut complete, mut rest) = (true, number);
        for (dim, cut) in self.chunks.iter().enumerate().rev() {
            let piece = cut.piece(rest % cut.len()).unwrap_or_default();
            rest /= cut.len();
            (chunk[dim], shape[dim]) = (piece.interval, piece.length);
            (at[dim], count[dim]) = (piece.elements.start, piece.elements.end - piece.elements.start);
            start[dim] = self.position(dim, at[dim]) - piece.start;
            let end = piece.start.saturating_add(piece.length).min(self.shape[dim]);
            complete &= count[dim] == end - piece.start;
        }
        let part = self.part(start, &count);
        Cell { chunk, shape, part, steps: self.steps.clone(), complete, at, count }
    }

    /// Returns the position in the array of an element of the result.
    fn position(&self, dim: usize, element: u64) -> u64 {
        self.picked[dim].start + element * self.picked[dim].step
    }

    /// Returns the box of a chunk that starts at `start` and holds `count` selected elements. It lies inside the chunk,
    /// so its end fits `u64`.
    fn part(&self, start: Dims, count: &[u64]) -> Region {
        let extent: Dims =
            count.iter().zip(&self.steps).map(|(count, step)| count.saturating_sub(1) * step + 1).collect();
        Region::new(start, extent).unwrap_or_default()
    }

    /// Returns the leaves of a cell: the first one and their number in each dimension.
    fn leaf_box(&self, cell: &Cell) -> (Dims, Dims) {
        let (mut first, mut count) = (Dims::new(), Dims::new());
        for (dim, cut) in self.leaf_cuts().iter().enumerate() {
            let ends = [cell.at[dim], cell.at[dim] + cell.count[dim] - 1];
            let [begin, last] = ends.map(|element| cut.find(element).unwrap_or_default());
            first.push(begin);
            count.push(last + 1 - begin);
        }
        (first, count)
    }

    /// The numbers of the leaves of a cell.
    pub(crate) fn leaves_of(&self, cell: &Cell) -> impl Iterator<Item = u64> {
        let (first, count) = self.leaf_box(cell);
        let all = count.product().unwrap_or(u64::MAX);
        (0..all).map(move |number| {
            let within = unravel(number, &count);
            let leaf: Dims = first.iter().zip(&within).map(|(first, n)| first + n).collect();
            self.leaf_number(&leaf)
        })
    }

    /// Returns the elements of a leaf of a cell: the position of the first in the result, and their number in each
    /// dimension.
    pub(crate) fn leaf_part(&self, cell: &Cell, leaf: u64) -> (Dims, Dims) {
        let counts: Dims = self.leaf_cuts().iter().map(Cut::len).collect();
        let index = unravel(leaf, &counts);
        let (mut at, mut count) = (Dims::new(), Dims::new());
        for (dim, cut) in self.leaf_cuts().iter().enumerate() {
            let elements = cut.piece(index[dim]).unwrap_or_default().elements;
            let start = elements.start.max(cell.at[dim]);
            at.push(start);
            count.push(elements.end.min(cell.at[dim] + cell.count[dim]).saturating_sub(start));
        }
        (at, count)
    }

    fn leaf_number(&self, leaf: &[u64]) -> u64 {
        self.leaf_cuts().iter().zip(leaf).fold(0, |number, (cut, n)| number * cut.len() + n)
    }

    /// Returns the leaf that holds an element of the result.
    pub(crate) fn leaf(&self, element: &[u64]) -> Leaf {
        let mut leaf = Leaf { number: 0, at: Dims::new(), end: Dims::new() };
        for (cut, element) in self.leaf_cuts().iter().zip(element) {
            let number = cut.find(*element).unwrap_or_default();
            leaf.number = leaf.number * cut.len() + number;
            let elements = cut.piece(number).unwrap_or_default().elements;
            leaf.at.push(elements.start);
            leaf.end.push(elements.end);
        }
        leaf
    }

    /// Returns the shape of blocks, in leaves, for a cell of `count` leaves: whole rows of leaves as far as they fit.
    fn block_shape(&self, count: &[u64]) -> Dims {
        let mut shape: Dims = count.into();
        let Some(inner) = &self.inner else { return shape };
        let mut room = inner.together.max(1);
        for dim in (0..shape.len()).rev() {
            // Inner chunks from one leaf to the next: more than one if steps skip some.
            let apart = self.steps[dim].div_ceil(inner.shape[dim]);
            let most = count[dim].min(1 + (room - 1) / apart);
            let blocks = count[dim].div_ceil(most);
            shape[dim] = count[dim].div_ceil(blocks);
            room = (room / ((shape[dim] - 1) * apart + 1)).max(1);
        }
        shape
    }

    /// Whether each cell is read in one block.
    pub(crate) fn is_one_block(&self) -> bool {
        let Some(inner) = &self.inner else { return true };
        let skips = self.steps.iter().zip(&inner.shape).any(|(step, inner)| step > inner);
        self.leaves() <= if skips { 1 } else { inner.together.max(1) }
    }

    /// Returns the number of blocks in which a cell is read.
    pub(crate) fn blocks(&self, cell: &Cell) -> u64 {
        if self.inner.is_none() {
            return 1;
        }
        let (_, count) = self.leaf_box(cell);
        let shape = self.block_shape(&count);
        count.iter().zip(&shape).map(|(count, block)| count.div_ceil(*block)).product()
    }

    /// Returns a block of a cell. Blocks are numbered in C order.
    pub(crate) fn block(&self, cell: &Cell, number: u64) -> Cell {
        let (first, count) = self.leaf_box(cell);
        let shape = self.block_shape(&count);
        let blocks: Dims = count.iter().zip(&shape).map(|(count, block)| count.div_ceil(*block)).collect();
        let index = unravel(number, &blocks);
        let [mut start, mut at, mut elements] = std::array::from_fn(|_| Dims::filled(0, count.len()));
        for (dim, cut) in self.leaf_cuts().iter().enumerate() {
            let begin = index[dim] * shape[dim];
            let end = count[dim].min(begin + shape[dim]);
            let piece = |leaf: u64| cut.piece(first[dim] + leaf).unwrap_or_default().elements;
            at[dim] = piece(begin).start.max(cell.at[dim]);
            elements[dim] = piece(end - 1).end.min(cell.at[dim] + cell.count[dim]) - at[dim];
            start[dim] = cell.part.start()[dim] + (at[dim] - cell.at[dim]) * self.steps[dim];
        }
        let part = self.part(start, &elements);
        let complete = cell.complete && blocks.product() == Some(1);
        Cell { part, at, count: elements, complete, ..cell.clone() }
    }
}

/// Cuts one dimension of a selection at the borders of chunks.
pub(crate) fn at_chunks(picked: &Picked, dim: usize, grid: &dyn ChunkGrid) -> ArrayResult<Cut> {
    let Picked { start, count, step, .. } = *picked;
    if count == 0 {
        return Ok(Cut::whole(0));
    }
    let chunk = grid.find(dim, start);
    let span = chunk.and_then(|chunk| grid.span(dim, chunk));
    if let Some((chunk, span)) = chunk.zip(span)
        && let Ok(cut) = Cut::one(start, step, count, chunk, span)
    {
        return Ok(cut);
    }
    let runs = grid.runs(dim).into_iter().map(|run| (run.length, run.count.unwrap_or(u64::MAX)));
    Cut::new(start, step, count, runs).map_err(|_| {
        ArrayError::new(ArrayErrorKind::Metadata, format!("the chunk grid ends inside dimension {dim}"))
    })
}

/// Returns the index with this number, in C order, in a grid of `shape`.
pub(crate) fn unravel(number: u64, shape: &[u64]) -> Dims {
    let mut index = Dims::filled(0, shape.len());
    let mut rest = number;
    for dim in (0..shape.len()).rev() {
        index[dim] = rest % shape[dim].max(1);
        rest /= shape[dim].max(1);
    }
    index
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use zarr_traits::RegularGrid;

    use super::*;
    use crate::select::{Along, Axis, Selection};

    fn resolve(selection: Selection, shape: &[u64]) -> Vec<Picked> {
        let along = selection.resolve(shape).unwrap();
        along.iter().map(|along| Along::ascending(along).unwrap()).collect()
    }

    fn plan(
        picked: Vec<Picked>,
        shape: &[u64],
        grid: &dyn ChunkGrid,
        inner: Option<Inner>,
    ) -> ArrayResult<Plan> {
        Plan::new(picked, &Layout { shape, grid, inner, reads_parts: true, gap: 0 })
    }

    proptest! {
        /// Every selected element is in exactly one cell, in order.
        #[test]
        fn cells_cover_the_selection(
            length in 1_u64..40, chunk in 1_u64..12, start in 0_u64..40, count in 0_u64..40, step in 1_u64..6,
        ) {
            let start = start.min(length);
            let end = (start + count).min(length);
            let grid = RegularGrid::new([chunk]).unwrap();
            let picked = resolve(Selection::new(vec![Axis::step(start..end, step)]), &[length]);
            let plan = plan(picked.clone(), &[length], &grid, None).unwrap();
            let mut got = Vec::new();
            for number in 0..plan.cells() {
                let cell = plan.cell(number);
                prop_assert_eq!(cell.at[0], got.len() as u64);
                let first = cell.chunk[0] * chunk + cell.part.start()[0];
                got.extend((0..cell.count[0]).map(|i| first + i * step));
                prop_assert!(cell.part.is_inside(&cell.shape));
                let inside = (length - cell.chunk[0] * chunk).min(chunk);
                prop_assert_eq!(cell.complete, cell.is_dense() && cell.part.shape()[0] == inside || inside == 1);
            }
            prop_assert_eq!(got, (start..end).step_by(usize::try_from(step).unwrap()).collect::<Vec<_>>());
        }
    }

    proptest! {
        /// The leaves of all blocks of all cells cover the result exactly once. A block touches no more inner chunks
        /// than allowed, and starts with a leaf.
        #[test]
        fn leaves_cover_the_cells(
            dims in prop::array::uniform2((1_u64..14, 1_u64..4, 1_u64..4, 0_u64..14, 0_u64..14, 1_u64..5)),
            together in 1_u64..9,
        ) {
            let [shape, inner, times, from, to, step] = [0, 1, 2, 3, 4, 5].map(|field| dims.map(|dim| {
                let (shape, inner, times, from, to, step) = dim;
                [shape, inner, times, from.min(to).min(shape), from.max(to).min(shape), step][field]
            }));
            let grid = RegularGrid::new([inner[0] * times[0], inner[1] * times[1]]).unwrap();
            let axes = [0, 1].map(|dim| Axis::step(from[dim]..to[dim], step[dim]));
            let picked = resolve(Selection::from(axes), &shape);
            let inner = Inner { shape: inner[..].into(), together };
            let plan = plan(picked.clone(), &shape, &grid, Some(inner.clone())).unwrap();
            let full: Vec<u64> = picked.iter().map(|p| p.count).collect();
            let mut result = vec![0_u16; usize::try_from(full[0] * full[1]).unwrap()];
            let tiles = zarr_strided::Destination::of(&mut result, &full).unwrap().split(plan.cuts()).unwrap();
            let mut count = 0;
            for number in 0..plan.cells() {
                let cell = plan.cell(number);
                for block in (0..plan.blocks(&cell)).map(|number| plan.block(&cell, number)) {
                    prop_assert!(block.part.is_inside(&cell.shape));
                    let touched = (0..2).map(|dim| {
                        let (start, len) = (block.part.start()[dim], block.part.shape()[dim]);
                        (start + len - 1) / inner.shape[dim] - start / inner.shape[dim] + 1
                    });
                    prop_assert!(touched.product::<u64>() <= together);
                    for number in plan.leaves_of(&block) {
                        let leaf = tiles.take(number).unwrap();
                        count += leaf.len();
                    }
                    let first = plan.leaf(&block.at);
                    prop_assert_eq!(Some(first.number), plan.leaves_of(&block).next());
                    prop_assert_eq!(first.at, block.at);
                }
            }
            prop_assert_eq!(count, full[0] * full[1]);
        }
    }

    #[test]
    fn an_empty_selection_has_no_cell_and_a_scalar_has_one() {
        let grid = RegularGrid::new([4, 4]).unwrap();
        let picked = resolve(Selection::from([0..0, 0..9]), &[0, 9]);
        assert_eq!(plan(picked, &[0, 9], &grid, None).unwrap().cells(), 0);
        let scalar = plan(Vec::new(), &[], &RegularGrid::new([]).unwrap(), None).unwrap();
        assert_eq!(scalar.cells(), 1);
        assert!(scalar.cell(0).complete);
    }
}
