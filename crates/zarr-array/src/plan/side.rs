//! One dimension of the result: its elements, cut into chunks and tiles.

use std::ops::Range;
use std::slice;

use zarr_strided::Cut;
use zarr_traits::ChunkGrid;

use crate::error::ArrayResult;
use crate::plan::list::List;
use crate::plan::order::Order;
use crate::plan::{Layout, grid_ends};
use crate::select::{Along, Picked};

/// The selected elements along one dimension of the result, in the order of the plan: none twice, those of a chunk and
/// of a tile one after the other.
#[derive(Debug)]
pub(super) enum Side {
    Steps(Steps),
    List(List),
}

/// Elements at equal steps in one dimension of the array, in ascending order. Pure arithmetic, without a list.
#[derive(Debug)]
pub(super) struct Steps {
    pub(super) dim: usize,
    start: u64,
    pub(super) step: u64,
    chunks: Cut,
    /// The cut at the borders of inner chunks, if there are any.
    inner: Option<Cut>,
}

/// Elements of a side in a box.
pub(super) enum Inside {
    /// The first of them, their number, the place of the first in the box, and the distance of their places.
    Steps { first: u64, count: u64, place: u64, step: u64 },
    /// Runs of elements: the first one, and the place of each in the box.
    Runs(Vec<(u64, Vec<u64>)>),
}

impl Side {
    /// Cuts the elements of a selection along one dimension of its result, and returns their order.
    pub(super) fn new(along: &Along, layout: &Layout<'_>) -> ArrayResult<(Self, Order)> {
        match along {
            Along::Steps { dim, picked, reversed } => {
                let order = if *reversed { Order::Reversed } else { Order::Same };
                Ok((Self::Steps(Steps::new(*dim, picked, layout)?), order))
            }
            Along::List { dims, positions } => {
                let (list, order) = List::new(dims, positions, layout)?;
                Ok((Self::List(list), order))
            }
        }
    }

    /// The dimensions of the array that vary along it.
    pub(super) fn dims(&self) -> &[usize] {
        match self {
            Self::Steps(steps) => slice::from_ref(&steps.dim),
            Self::List(list) => list.dims(),
        }
    }

    /// The number of elements.
    pub(super) fn count(&self) -> u64 {
        match self {
            Self::Steps(steps) => steps.chunks.count(),
            Self::List(list) => list.count(),
        }
    }

    /// The number of chunks with elements.
    pub(super) fn chunks(&self) -> u64 {
        match self {
            Self::Steps(steps) => steps.chunks.len(),
            Self::List(list) => list.chunks(),
        }
    }

    /// Returns the elements in a chunk, and calls `set` with each dimension of the side and the index, start and length
    /// of the chunk in it.
    pub(super) fn chunk(&self, number: u64, mut set: impl FnMut(usize, u64, u64, u64)) -> Range<u64> {
        match self {
            Self::Steps(steps) => {
                let piece = steps.chunks.piece(number).unwrap_or_default();
                set(steps.dim, piece.interval, piece.start, piece.length);
                piece.elements
            }
            Self::List(list) => list.chunk(number, set),
        }
    }

    /// The number of elements of the array along the longest chunk.
    pub(super) fn longest_chunk(&self) -> u64 {
        match self {
            Self::Steps(steps) => steps.chunks.longest(),
            Self::List(list) => list.longest_chunk(),
        }
    }

    /// The number of tiles.
    pub(super) fn tiles(&self) -> u64 {
        match self {
            Self::Steps(steps) => steps.tiles().len(),
            Self::List(list) => list.tiles(),
        }
    }

    /// Returns the elements of a tile.
    pub(super) fn tile(&self, number: u64) -> Range<u64> {
        match self {
            Self::Steps(steps) => steps.tiles().piece(number).unwrap_or_default().elements,
            Self::List(list) => list.tile(number),
        }
    }

    /// Returns the number of the tile that holds an element.
    pub(super) fn tile_of(&self, element: u64) -> u64 {
        match self {
            Self::Steps(steps) => steps.tiles().find(element).unwrap_or_default(),
            Self::List(list) => list.tile_of(element),
        }
    }

    /// Returns the cut of the side into tiles.
    pub(super) fn cut(&self) -> ArrayResult<Cut> {
        match self {
            Self::Steps(steps) => Ok(steps.tiles().clone()),
            Self::List(list) => list.cut(),
        }
    }

    /// Calls `set` with each dimension of the side and the lowest and the highest position of some elements in it.
    pub(super) fn bounds(&self, elements: &Range<u64>, mut set: impl FnMut(usize, u64, u64)) {
        match self {
            Self::Steps(steps) => {
                let last = elements.end.saturating_sub(1).max(elements.start);
                set(steps.dim, steps.position(elements.start), steps.position(last));
            }
            Self::List(list) => list.bounds(elements, set),
        }
    }

    /// Whether elements are all those between the first and the last of them.
    pub(super) fn is_dense(&self, elements: &Range<u64>) -> bool {
        match self {
            Self::Steps(steps) => steps.step == 1 || elements.end - elements.start <= 1,
            Self::List(list) => list.is_dense(elements),
        }
    }

    /// Returns those of some elements that lie in a box. `corner` gives its first position, its length and the distance
    /// of its elements in a dimension of the array.
    pub(super) fn inside(&self, elements: &Range<u64>, corner: impl Fn(usize) -> (u64, u64, u64)) -> Inside {
        match self {
            Self::Steps(steps) => {
                let (low, length, _) = corner(steps.dim);
                let first = steps.before(low).max(elements.start);
                let end = steps.before(low.saturating_add(length)).min(elements.end);
                let place = steps.position(first).saturating_sub(low);
                Inside::Steps { first, count: end.saturating_sub(first), place, step: steps.step }
            }
            Self::List(list) => Inside::Runs(list.inside(elements, corner)),
        }
    }
}

impl Steps {
    fn new(dim: usize, picked: &Picked, layout: &Layout<'_>) -> ArrayResult<Self> {
        let Picked { start, count, step, .. } = *picked;
        let inner = layout.inner.as_ref().map(|inner| Cut::even(start, step, count, inner.shape[dim]));
        Ok(Self { dim, start, step, chunks: at_chunks(picked, dim, layout.grid)?, inner: inner.transpose()? })
    }

    fn tiles(&self) -> &Cut {
        self.inner.as_ref().unwrap_or(&self.chunks)
    }

    fn position(&self, element: u64) -> u64 {
        self.start + element * self.step
    }

    /// The number of elements before a position, if the side goes on without an end.
    fn before(&self, position: u64) -> u64 {
        position.saturating_sub(self.start).div_ceil(self.step)
    }
}

/// Cuts one dimension of a selection at the borders of chunks.
fn at_chunks(picked: &Picked, dim: usize, grid: &dyn ChunkGrid) -> ArrayResult<Cut> {
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
    Cut::new(start, step, count, runs).map_err(|_| grid_ends(dim))
}
