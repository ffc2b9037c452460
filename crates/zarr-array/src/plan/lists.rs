//! The plan of a selection with lists: which chunks, which boxes of each, and which elements of a box.
//!
//! The elements along a dimension of the result form a *side*. A side is sorted by chunk, inner chunk and position, so
//! the elements of a chunk follow each other, whatever the order of the list. They are divided into *clusters*:
//! elements so close together that they are read together with all elements between them. A *box* is a product of one
//! cluster of each side.

use std::ops::Range;

use zarr_strided::{Cut, Cuts};
use zarr_traits::{Dims, Region};

use super::side::{Nearness, Side};
use crate::error::{ArrayError, ArrayErrorKind, ArrayResult};
use crate::plan::order::Order;
use crate::plan::{Layout, unravel};
use crate::select::Along;

/// A selection cut into cells, one for each chunk that it touches, and cells into boxes.
#[derive(Debug)]
pub(crate) struct PickPlan {
    sides: Vec<Side>,
    /// The shape of the array.
    array: Dims,
    /// The number of dimensions of the array.
    rank: usize,
    cells: u64,
    /// The largest number of boxes that are read together.
    together: u64,
}

/// The selected elements of one chunk, or some boxes of them.
#[derive(Debug, Clone)]
pub(crate) struct PickCell {
    /// The grid index of the chunk.
    pub(crate) chunk: Dims,
    /// The full shape of the chunk.
    pub(crate) shape: Dims,
    /// The position of its first element in the array.
    start: Dims,
    /// The clusters of each side in this chunk.
    clusters: Vec<Range<usize>>,
    /// The numbers of the boxes, from those clusters in C order.
    pub(crate) boxes: Range<u64>,
}

impl PickCell {
    /// Returns the position in the array of a position in the chunk.
    pub(crate) fn corner(&self, at: &[u64]) -> Dims {
        self.start.iter().zip(at).map(|(start, at)| start + at).collect()
    }
}

/// A cluster of each side, in one chunk.
#[derive(Debug)]
pub(crate) struct PickBox {
    /// The number of the cell of the result that it fills.
    pub(crate) tile: u64,
    /// The box around the elements, relative to the chunk.
    pub(crate) part: Region,
    /// The elements of each side.
    elements: Vec<Range<u64>>,
    /// Whether all elements of the box are selected, in the order of the result.
    pub(crate) is_dense: bool,
}

impl PickBox {
    /// The position of its first element in the result.
    pub(crate) fn first(&self) -> impl Iterator<Item = u64> {
        self.elements.iter().map(|elements| elements.start)
    }
}

/// Selected elements in a piece of a box.
#[derive(Debug)]
pub(crate) struct Hits {
    /// The first of them in the box of the result, and their number in each dimension.
    pub(crate) at: Dims,
    pub(crate) count: Dims,
    /// For each dimension of the result, the offsets of its elements. The place of an element in the piece, counted in
    /// elements in C order, is the sum of its offsets over all dimensions.
    pub(crate) places: Vec<Vec<u64>>,
}

impl PickPlan {
    /// Cuts a selection, and returns the order of each of its dimensions.
    ///
    /// # Errors
    /// When the grid ends inside the selection, or the plan has 2^64 cells or more.
    pub(crate) fn new(along: &[Along], layout: &Layout<'_>) -> ArrayResult<(Self, Vec<Order>)> {
        let rank = layout.shape.len();
        let inner = layout.inner.as_ref();
        let near = Nearness {
            inner: inner.map(|inner| &inner.shape[..]),
            parts: layout.reads_parts,
            gap: layout.gap,
            last: rank.saturating_sub(1),
        };
        let mut sides = Vec::with_capacity(along.len());
        let mut orders = Vec::with_capacity(along.len());
        for along in along {
            let (side, order) = Side::new(along, layout.grid, &near)?;
            sides.push(side);
            orders.push(order);
        }
        let cells = sides.iter().map(|side| side.chunks.len() as u64).collect::<Dims>().product();
        let cells = cells.ok_or_else(|| {
            ArrayError::new(ArrayErrorKind::LimitExceeded, "the selection touches 2^64 chunks or more")
        })?;
        let together = match inner {
            None => MOST_BOXES,
            Some(inner) => {
                let touched = sides.iter().map(|side| side.most_inner(&inner.shape));
                (inner.together / touched.fold(1, u64::saturating_mul).max(1)).max(1)
            }
        };
        Ok((Self { sides, array: layout.shape.into(), rank, cells, together }, orders))
    }

    /// The number of elements along each dimension.
    pub(crate) fn shape(&self) -> Dims {
        self.sides.iter().map(|side| side.count).collect()
    }

    /// The number of cells, which is the number of chunks.
    pub(crate) fn cells(&self) -> u64 {
        self.cells
    }

    /// The number of boxes of all cells.
    pub(crate) fn boxes(&self) -> u64 {
        self.sides.iter().map(|side| side.clusters.len() as u64).fold(1, u64::saturating_mul)
    }

    /// The largest number of boxes of a chunk that are read together.
    pub(crate) fn together(&self) -> u64 {
        self.together
    }

    /// The number of elements of the largest chunk.
    pub(crate) fn largest_chunk(&self) -> u64 {
        let longest = |side: &Side| side.chunks.iter().filter_map(|chunk| chunk.length.product()).max();
        self.sides.iter().map(|side| longest(side).unwrap_or(0)).fold(1, u64::saturating_mul)
    }

    /// The cuts of the result into boxes.
    pub(crate) fn cuts(&self) -> ArrayResult<Cuts> {
        let cut = |side: &Side| -> ArrayResult<Cut> {
            let mut runs: Vec<(u64, u64)> = Vec::new();
            for cluster in &side.clusters {
                let length = cluster.end - cluster.start;
                match runs.last_mut() {
                    Some((last, times)) if *last == length => *times += 1,
                    _ => runs.push((length, 1)),
                }
            }
            Ok(if side.count == 0 { Cut::whole(0) } else { Cut::new(0, 1, side.count, runs)? })
        };
        Ok(Cuts::new(self.sides.iter().map(cut).collect::<ArrayResult<_>>()?))
    }

    /// Returns the cell with this number.
    pub(crate) fn cell(&self, number: u64) -> PickCell {
        let counts: Dims = self.sides.iter().map(|side| side.chunks.len() as u64).collect();
        let [mut chunk, mut shape, mut start] = std::array::from_fn(|_| Dims::filled(0, self.rank));
        let (mut clusters, mut boxes) = (Vec::with_capacity(self.sides.len()), 1_u64);
        for (side, nth) in self.sides.iter().zip(&unravel(number, &counts)) {
            let Some(inside) = usize::try_from(*nth).ok().and_then(|nth| side.chunks.get(nth)) else {
                continue;
            };
            for (at, dim) in side.dims.iter().enumerate() {
                (chunk[*dim], start[*dim]) = (inside.index[at], inside.start[at]);
                shape[*dim] = inside.length[at];
            }
            boxes = boxes.saturating_mul(inside.clusters.len() as u64);
            clusters.push(inside.clusters.clone());
        }
        PickCell { chunk, shape, start, clusters, boxes: 0..boxes }
    }

    /// Whether all elements of the chunk of a cell that are inside the array are selected.
    pub(crate) fn is_complete(&self, cell: &PickCell) -> bool {
        let dims = cell.start.iter().zip(&cell.shape).zip(&self.array);
        let inside = dims.map(|((start, length), end)| end.saturating_sub(*start).min(*length));
        self.chosen(cell) == inside.collect::<Dims>().product()
    }

    /// Whether all elements of the chunk of a cell are selected. The whole chunk is then inside the array.
    pub(crate) fn is_whole(&self, cell: &PickCell) -> bool {
        self.chosen(cell) == cell.shape.product()
    }

    /// Returns the number of selected elements of a cell.
    pub(crate) fn chosen(&self, cell: &PickCell) -> Option<u64> {
        let count = |(side, clusters): (&Side, &Range<usize>)| {
            side.clusters[clusters.clone()].iter().map(|elements| elements.end - elements.start).sum()
        };
        self.sides.iter().zip(&cell.clusters).map(count).collect::<Dims>().product()
    }

    /// Returns the number of blocks in which a cell is read.
    pub(crate) fn blocks(&self, cell: &PickCell) -> u64 {
        (cell.boxes.end - cell.boxes.start).div_ceil(self.together)
    }

    /// Returns a block of a cell.
    pub(crate) fn block(&self, cell: &PickCell, number: u64) -> PickCell {
        let start = cell.boxes.start + number * self.together;
        let end = cell.boxes.end.min(start.saturating_add(self.together));
        PickCell { boxes: start..end, ..cell.clone() }
    }

    /// Returns a box of a cell.
    pub(crate) fn at(&self, cell: &PickCell, number: u64) -> PickBox {
        let counts: Dims = cell.clusters.iter().map(|clusters| clusters.len() as u64).collect();
        let [mut start, mut shape] = std::array::from_fn(|_| Dims::filled(0, self.rank));
        let (mut tile, mut elements, mut is_dense) = (0_u64, Vec::with_capacity(counts.len()), true);
        for ((side, clusters), nth) in self.sides.iter().zip(&cell.clusters).zip(&unravel(number, &counts)) {
            let cluster = clusters.start + usize::try_from(*nth).unwrap_or(usize::MAX);
            let range = side.clusters.get(cluster).cloned().unwrap_or_default();
            for (at, dim) in side.dims.iter().enumerate() {
                let (low, high) = side.bounds(&range, at);
                (start[*dim], shape[*dim]) = (low - cell.start[*dim], high - low + 1);
            }
            is_dense &= side.dims.len() == 1 && shape[side.dims[0]] == range.end - range.start;
            tile = tile * side.clusters.len() as u64 + cluster as u64;
            elements.push(range);
        }
        let part = Region::new(start, shape).unwrap_or_default();
        PickBox { tile, part, elements, is_dense }
    }

    /// Returns the box around all boxes of a cell, relative to its chunk.
    pub(crate) fn around(&self, cell: &PickCell) -> Region {
        let [mut start, mut shape] = std::array::from_fn(|_| Dims::filled(0, self.rank));
        for (side, clusters) in self.sides.iter().zip(&cell.clusters) {
            let ranges = &side.clusters[clusters.clone()];
            let whole = ranges.first().map_or(0, |r| r.start)..ranges.last().map_or(0, |r| r.end);
            for (at, dim) in side.dims.iter().enumerate() {
                let (low, high) = side.bounds(&whole, at);
                (start[*dim], shape[*dim]) = (low - cell.start[*dim], high - low + 1);
            }
        }
        Region::new(start, shape).unwrap_or_default()
    }

    /// Returns the selected elements of a box that lie in a piece of `shape`, which begins at `corner` of the array.
    pub(crate) fn hits(&self, inside: &PickBox, corner: &[u64], shape: &[u64]) -> Vec<Hits> {
        let mut strides = Dims::filled(1, self.rank);
        for dim in (1..self.rank).rev() {
            strides[dim - 1] = strides[dim].saturating_mul(shape[dim]);
        }
        let mut all = vec![Hits { at: Dims::new(), count: Dims::new(), places: Vec::new() }];
        for (side, elements) in self.sides.iter().zip(&inside.elements) {
            let dims = side.dims.iter().map(|dim| (corner[*dim], shape[*dim], strides[*dim]));
            let runs = side.runs(elements, &dims.collect::<Vec<_>>());
            let longer = |hits: &Hits, (first, places): &(u64, Vec<u64>)| {
                let with = |dims: &Dims, last| dims.iter().copied().chain([last]).collect();
                let places_of_all = hits.places.iter().chain([places]).cloned().collect();
                Hits {
                    at: with(&hits.at, first - elements.start),
                    count: with(&hits.count, places.len() as u64),
                    places: places_of_all,
                }
            };
            all = all.iter().flat_map(|hits| runs.iter().map(|run| longer(hits, run))).collect();
        }
        all
    }
}

/// The largest number of boxes of a chunk without inner chunks that are read together. A box takes some hundred bytes.
const MOST_BOXES: u64 = 1 << 16;
