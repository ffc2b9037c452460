//! The plan of a read or a write: which chunks, which part of each, and where it goes. Pure arithmetic.

use zarr_strided::Cuts;
use zarr_traits::{ChunkGrid, Dims, Key, Region};

use crate::error::{ArrayError, ArrayErrorKind, ArrayResult};
use crate::fetch::ChunkPart;
use crate::select::Picked;

/// A selection cut at the borders of chunks: a grid of cells, each of which lies in one chunk. Every dimension is cut by
/// itself, so that a plan is as large as the sum of its sides.
#[derive(Debug)]
pub(crate) struct Plan {
    dims: Vec<Vec<Piece>>,
    steps: Dims,
    keep: Vec<bool>,
    cells: u64,
    /// Elements of the largest chunk.
    largest: u64,
    /// The shape of inner chunks, where cells are cut once more at their borders.
    inner: Option<Dims>,
}

/// Chunks along one dimension that a plan may have: it holds a few numbers for each.
const MAX_PIECES: u64 = 1 << 26;

/// Leaves that are told apart: before the last chunk along a dimension, in all, and in a cell.
const MAX_LEAVES: (u64, u64, u64) = (1 << 20, 1 << 26, 1 << 16);

/// What one chunk holds of one dimension.
#[derive(Debug, Clone, Copy)]
struct Piece {
    /// The chunk, and its full length.
    chunk: u64,
    length: u64,
    /// How much of it lies inside the array.
    inside: u64,
    /// The first selected element, relative to the chunk, and how many.
    offset: u64,
    count: u64,
    /// Where they begin in the result.
    at: u64,
    /// The leaves before those of this piece, and how many it has.
    leaf: u64,
    leaves: u64,
}

impl Piece {
    /// The leaf of inner chunks of length `inner` that the element `at` of this piece is in: its number here, its first
    /// element, and its end.
    fn leaf_at(&self, at: u64, inner: u64) -> (u64, u64, u64) {
        let number = (self.offset + at) / inner;
        let begin = (number * inner).max(self.offset) - self.offset;
        let end = (number + 1).saturating_mul(inner).min(self.offset + self.count) - self.offset;
        (number - self.offset / inner, begin, end)
    }
}

/// What a cell has of one inner chunk: the smallest unit that is decoded by itself.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Leaf {
    /// Its number in the result, in C order.
    pub(crate) number: u64,
    /// The box of it, relative to the part of its chunk that is wanted.
    pub(crate) within: Region,
}

/// One cell of a plan: what is wanted of one chunk.
#[derive(Debug)]
pub(crate) struct Cell {
    /// The grid index of the chunk.
    pub(crate) chunk: Dims,
    /// The full shape of the chunk.
    pub(crate) shape: Dims,
    /// The box around what is wanted, relative to the chunk.
    pub(crate) part: Region,
    /// What is wanted of that box: every so manyth element.
    pub(crate) steps: Dims,
    /// Whether it is all of the chunk that lies inside the array.
    pub(crate) complete: bool,
}

impl Cell {
    /// What is wanted of the chunk, whose object has this key.
    pub(crate) fn at<'a>(&'a self, key: &'a Key) -> ChunkPart<'a> {
        ChunkPart { index: &self.chunk, shape: &self.shape, part: &self.part, steps: &self.steps, key }
    }

    /// Whether every element of the part is wanted.
    pub(crate) fn is_dense(&self) -> bool {
        self.steps.iter().all(|s| *s == 1)
    }
}

impl Plan {
    /// Cuts a selection of an array of `shape` at the borders of `grid`, whose chunks may be made of chunks of shape
    /// `inner`.
    pub(crate) fn new(
        picked: &[Picked],
        shape: &[u64],
        grid: &dyn ChunkGrid,
        inner: Option<Dims>,
    ) -> ArrayResult<Self> {
        let plan = Self::cut(picked, shape, grid, inner)?;
        // Leaves so small that their number is a burden are not worth being told apart.
        let many = plan.dims.iter().flatten().any(|piece| piece.leaf >= MAX_LEAVES.0)
            || plan.leaves() > MAX_LEAVES.1
            || plan.cell_leaves() > MAX_LEAVES.2;
        if many && plan.inner.is_some() { Self::cut(picked, shape, grid, None) } else { Ok(plan) }
    }

    fn cut(picked: &[Picked], shape: &[u64], grid: &dyn ChunkGrid, inner: Option<Dims>) -> ArrayResult<Self> {
        let empty = picked.iter().any(|p| p.count == 0);
        let inner = inner.filter(|_| picked.iter().all(|p| p.step == 1));
        let mut dims = Vec::with_capacity(picked.len());
        for (dim, p) in picked.iter().enumerate() {
            let inner = inner.as_ref().map(|inner| inner[dim]);
            dims.push(if empty { Vec::new() } else { pieces(p, dim, shape[dim], grid, inner)? });
        }
        let cells =
            if empty { Some(0) } else { dims.iter().try_fold(1_u64, |n, d| n.checked_mul(d.len() as u64)) };
        let longest = |pieces: &Vec<Piece>| pieces.iter().map(|piece| piece.length).max().unwrap_or(0);
        let largest = dims.iter().map(longest).fold(1, u64::saturating_mul);
        Ok(Self {
            dims,
            steps: picked.iter().map(|p| p.step).collect(),
            keep: picked.iter().map(|p| p.keep).collect(),
            cells: cells.ok_or_else(|| {
                ArrayError::new(ArrayErrorKind::LimitExceeded, "the selection has 2^64 chunks or more")
            })?,
            largest,
            inner,
        })
    }

    /// How many cells, and so chunks, there are.
    pub(crate) fn cells(&self) -> u64 {
        self.cells
    }

    /// Where the result, with all its dimensions, is cut: into leaves.
    pub(crate) fn cuts(&self, shape: &[u64]) -> Cuts {
        if self.cells == 0 {
            return Cuts::whole(shape);
        }
        let Some(inner) = &self.inner else {
            return Cuts::new(
                self.dims.iter().map(|pieces| pieces.iter().map(|p| p.count).collect()).collect(),
            );
        };
        let cut = |(pieces, inner): (&Vec<Piece>, &u64)| {
            let mut lengths = Vec::new();
            for piece in pieces {
                let mut at = 0;
                while at < piece.count {
                    let (_, begin, end) = piece.leaf_at(at, *inner);
                    lengths.push(end - begin);
                    at = end;
                }
            }
            lengths
        };
        Cuts::new(self.dims.iter().zip(inner).map(cut).collect())
    }

    /// Elements of the largest chunk, also beyond the edge of the array; none where nothing is selected.
    pub(crate) fn largest_chunk(&self) -> u64 {
        self.largest
    }

    /// How many leaves a cell may have.
    fn cell_leaves(&self) -> u64 {
        let most = |pieces: &Vec<Piece>| pieces.iter().map(|piece| piece.leaves).max().unwrap_or(0);
        self.dims.iter().map(most).fold(1, u64::saturating_mul)
    }

    /// How many leaves there are.
    pub(crate) fn leaves(&self) -> u64 {
        let last = |pieces: &Vec<Piece>| pieces.last().map_or(0, |piece| piece.leaf + piece.leaves);
        self.dims.iter().map(last).fold(1, u64::saturating_mul)
    }

    /// The shape of a leaf that is not at a border of the selection.
    pub(crate) fn leaf_shape(&self) -> Option<&Dims> {
        self.inner.as_ref()
    }

    /// The pieces that the cell of this number is made of, with their dimensions, the last one first.
    fn pieces_of(&self, cell: u64) -> impl Iterator<Item = (usize, &Piece)> {
        let mut rest = cell;
        self.dims.iter().enumerate().rev().map(move |(dim, pieces)| {
            let len = pieces.len() as u64;
            let piece = &pieces[usize::try_from(rest % len).unwrap_or(0)];
            rest /= len;
            (dim, piece)
        })
    }

    /// The leaf in which the element `at` of a cell lies, relative to the part of the chunk that is wanted.
    pub(crate) fn leaf(&self, cell: u64, at: &[u64]) -> Leaf {
        let rank = self.dims.len();
        let (mut start, mut shape) = (Dims::filled(0, rank), Dims::filled(0, rank));
        let (mut number, mut scale) = (0, 1);
        for (dim, piece) in self.pieces_of(cell) {
            let (leaf, begin, end) = match &self.inner {
                Some(inner) => piece.leaf_at(at[dim], inner[dim]),
                None => (0, 0, (piece.count - 1) * self.steps[dim] + 1),
            };
            (start[dim], shape[dim]) = (begin, end - begin);
            number += (piece.leaf + leaf) * scale;
            scale *= self.dims[dim].last().map_or(1, |last| last.leaf + last.leaves);
        }
        Leaf { number, within: Region::new(start, shape).unwrap_or_default() }
    }

    /// All leaves of a cell, the wanted part of which has the shape `part`.
    pub(crate) fn leaves_of(&self, cell: u64, part: &[u64]) -> Vec<Leaf> {
        let mut leaves = Vec::new();
        let mut at = Dims::filled(0, part.len());
        loop {
            let leaf = self.leaf(cell, &at);
            let ends: Dims =
                leaf.within.start().iter().zip(leaf.within.shape()).map(|(start, len)| start + len).collect();
            leaves.push(leaf);
            let Some(dim) = (0..part.len()).rev().find(|dim| ends[*dim] < part[*dim]) else {
                return leaves;
            };
            at[dim] = ends[dim];
            at[dim + 1..].fill(0);
        }
    }

    /// Which dimensions the result keeps.
    pub(crate) fn keep(&self) -> &[bool] {
        &self.keep
    }

    /// The cell of this number, in C order.
    pub(crate) fn cell(&self, number: u64) -> Cell {
        let rank = self.dims.len();
        let [mut chunk, mut shape, mut start, mut extent] = std::array::from_fn(|_| Dims::filled(0, rank));
        let mut complete = true;
        for (dim, piece) in self.pieces_of(number) {
            chunk[dim] = piece.chunk;
            shape[dim] = piece.length;
            start[dim] = piece.offset;
            extent[dim] = (piece.count - 1) * self.steps[dim] + 1;
            complete &= piece.count == piece.inside;
        }
        // The offsets lie inside chunks, so that no end can exceed u64.
        let part = Region::new(start, extent).unwrap_or_default();
        Cell { chunk, shape, part, steps: self.steps.clone(), complete }
    }

    /// Where a cell begins in the result, and its shape there.
    pub(crate) fn place(&self, number: u64) -> (Dims, Dims) {
        let rank = self.dims.len();
        let (mut at, mut shape) = (Dims::filled(0, rank), Dims::filled(0, rank));
        for (dim, piece) in self.pieces_of(number) {
            (at[dim], shape[dim]) = (piece.at, piece.count);
        }
        (at, shape)
    }
}

fn pieces(
    picked: &Picked,
    dim: usize,
    length: u64,
    grid: &dyn ChunkGrid,
    inner: Option<u64>,
) -> ArrayResult<Vec<Piece>> {
    let beyond =
        || ArrayError::new(ArrayErrorKind::Metadata, format!("the chunk grid ends inside dimension {dim}"));
    let last = picked.start + (picked.count - 1) * picked.step;
    let (Some(from), Some(to)) = (grid.find(dim, picked.start), grid.find(dim, last)) else {
        return Err(beyond());
    };
    if (to - from).min(picked.count - 1) >= MAX_PIECES {
        let message = format!(
            "the selection has {} chunks along dimension {dim}, {MAX_PIECES} are too many",
            to - from + 1
        );
        return Err(ArrayError::new(ArrayErrorKind::LimitExceeded, message));
    }
    let mut pieces = Vec::new();
    let (mut done, mut leaf) = (0, 0);
    while done < picked.count {
        let position = picked.start + done * picked.step;
        let chunk = grid.find(dim, position).ok_or_else(beyond)?;
        let span = grid.span(dim, chunk).filter(|span| span.contains(&position)).ok_or_else(beyond)?;
        let count = (span.end - position).div_ceil(picked.step).min(picked.count - done);
        let offset = position - span.start;
        let leaves = inner.map_or(1, |inner| (offset + count - 1) / inner - offset / inner + 1);
        pieces.push(Piece {
            chunk,
            length: span.end - span.start,
            inside: span.end.min(length) - span.start,
            offset,
            count,
            at: done,
            leaf,
            leaves,
        });
        (done, leaf) = (done + count, leaf + leaves);
    }
    Ok(pieces)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use zarr_traits::RegularGrid;

    use super::*;
    use crate::select::{Axis, Selection};

    proptest! {
        /// Every selected element is in exactly one cell, at its place.
        #[test]
        fn cells_cover_the_selection(
            length in 1_u64..40, chunk in 1_u64..12, start in 0_u64..40, count in 0_u64..40, step in 1_u64..6,
        ) {
            let start = start.min(length);
            let end = (start + count).min(length);
            let grid = RegularGrid::new([chunk]).unwrap();
            let picked = Selection::new(vec![Axis::step(start..end, step)]).resolve(&[length]).unwrap();
            let plan = Plan::new(&picked, &[length], &grid, None).unwrap();
            let mut got = Vec::new();
            for number in 0..plan.cells() {
                let cell = plan.cell(number);
                let (at, shape) = plan.place(number);
                prop_assert_eq!(at[0], got.len() as u64);
                let first = cell.chunk[0] * chunk + cell.part.start()[0];
                got.extend((0..shape[0]).map(|i| first + i * step));
                prop_assert!(cell.part.is_inside(&cell.shape));
                let inside = (length - cell.chunk[0] * chunk).min(chunk);
                prop_assert_eq!(cell.complete, cell.is_dense() && cell.part.shape()[0] == inside || inside == 1);
            }
            prop_assert_eq!(got, (start..end).step_by(usize::try_from(step).unwrap()).collect::<Vec<_>>());
        }
    }

    proptest! {
        /// The leaves of all cells are the cells of the result's cuts, each once, and hold what they are asked for.
        #[test]
        fn leaves_cover_the_cells(
            shape in (1_u64..14, 1_u64..14), inner in (1_u64..4, 1_u64..4), times in (1_u64..4, 1_u64..4),
            from in (0_u64..14, 0_u64..14), to in (0_u64..14, 0_u64..14),
        ) {
            let shape = [shape.0, shape.1];
            let inner = [inner.0, inner.1];
            let grid = RegularGrid::new([inner[0] * times.0, inner[1] * times.1]).unwrap();
            let ranges = [from.0.min(to.0)..from.0.max(to.0), from.1.min(to.1)..from.1.max(to.1)];
            let ranges = [0, 1].map(|dim| ranges[dim].start.min(shape[dim])..ranges[dim].end.min(shape[dim]));
            let picked = Selection::from(ranges.clone()).resolve(&shape).unwrap();
            let plan = Plan::new(&picked, &shape, &grid, Some(inner[..].into())).unwrap();
            let full: Vec<u64> = ranges.iter().map(|range| range.end - range.start).collect();
            let mut result = vec![0_u16; usize::try_from(full[0] * full[1]).unwrap()];
            let tiles =
                zarr_strided::Destination::of(&mut result, &full).unwrap().split(plan.cuts(&full)).unwrap();
            let mut count = 0;
            for cell in 0..plan.cells() {
                let part = plan.cell(cell).part;
                for leaf in plan.leaves_of(cell, part.shape()) {
                    let taken = tiles.take(leaf.number);
                    prop_assert!(taken.is_some_and(|dst| dst.shape() == leaf.within.shape()));
                    prop_assert!(leaf.within.is_inside(part.shape()));
                    for (dim, inner) in inner.iter().enumerate() {
                        let first = part.start()[dim] + leaf.within.start()[dim];
                        let last = first + leaf.within.shape()[dim] - 1;
                        prop_assert_eq!(first / inner, last / inner, "within one inner chunk");
                    }
                    count += 1;
                }
            }
            prop_assert_eq!(count, plan.leaves());
        }
    }

    #[test]
    fn nothing_selected_is_no_cell_and_a_scalar_is_one() {
        let grid = RegularGrid::new([4, 4]).unwrap();
        let picked = Selection::from([0..0, 0..9]).resolve(&[0, 9]).unwrap();
        assert_eq!(Plan::new(&picked, &[0, 9], &grid, None).unwrap().cells(), 0);
        let scalar = Plan::new(&[], &[], &RegularGrid::new([]).unwrap(), None).unwrap();
        assert_eq!(scalar.cells(), 1);
        assert!(scalar.cell(0).complete);
    }
}
