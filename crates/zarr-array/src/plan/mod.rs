//! The plan of a read or a write: which chunks, which parts of each, and their places in the result.
//!
//! A dimension of the result is a *side*. A *cell* is what is selected of one chunk: the same range of elements along
//! each side, whatever else is selected. A *tile* is what is selected of one inner chunk, or of a chunk without inner
//! chunks; with a list, only neighbouring elements of an uncompressed chunk are one tile. A *take* is a box of a chunk
//! that is fetched and decoded together, around some tiles that follow each other. A *block* is the takes that are in
//! memory together. Cells, tiles, takes and blocks are numbered in C order. Ranges and steps are pure arithmetic, without
//! a list of chunks; what a plan keeps of a list is as long as the list.

pub(crate) mod chunks;
pub(crate) mod hits;
pub(crate) mod joint;
mod list;
pub(crate) mod one_or_many;
pub(crate) mod order;
mod side;

use std::ops::Range;
use std::sync::Arc;

use zarr_strided::{Cuts, Dims};
use zarr_traits::{ChunkGrid, Region};

use crate::error::{ArrayError, ArrayErrorKind, ArrayResult};
use crate::plan::one_or_many::OneOrMany;
use crate::plan::order::{Order, Orders};
use crate::plan::side::Side;
use crate::select::Along;

/// The properties of an array that a plan needs.
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

/// One selection, cut at the borders of chunks and inner chunks.
#[derive(Debug)]
pub(crate) struct Plan {
    sides: Vec<Side>,
    has_lists: bool,
    /// The shape of the array.
    array: Dims,
    inner: Option<Inner>,
    reads_parts: bool,
    cells: u64,
    /// Whether each take has one tile, so that it can be decoded for several plans, or kept.
    by_tiles: bool,
}

/// The selected elements of one chunk, or a block of them.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    /// The index of the chunk in the grid.
    pub(crate) chunk: Dims,
    /// The full shape of the chunk.
    pub(crate) shape: Dims,
    /// The position of its first element in the array.
    pub(crate) start: Dims,
    /// The first element of the cell along each side, and their number. A block has those of its cell.
    pub(crate) at: Dims,
    pub(crate) count: Dims,
    /// The takes of the cell or block, and the number of those of the cell.
    takes: Range<u64>,
    all: u64,
    /// All takes, if several plans share the chunk.
    shared: Option<Arc<[Take]>>,
}

/// A box of a chunk that is fetched and decoded together.
#[derive(Debug, Clone)]
pub(crate) struct Take {
    /// The box, relative to the chunk.
    pub(crate) part: Region,
    /// The elements of each plan in the box. One plan has all of them, or each of several has one tile.
    pub(crate) picks: OneOrMany<Pick>,
}

/// Elements of one plan in a take.
#[derive(Debug, Clone)]
pub(crate) struct Pick {
    /// The number of the plan.
    pub(crate) plan: usize,
    /// The first element along each side, and their number.
    pub(crate) at: Dims,
    pub(crate) count: Dims,
    /// Whether it has all elements of the box, in the order of the result.
    pub(crate) is_dense: bool,
}

/// A cell of the grid of the result.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Tile {
    pub(crate) number: u64,
    /// The position of its first element in the result, and the end of its elements.
    pub(crate) at: Dims,
    pub(crate) end: Dims,
}

/// The largest number of inner chunks that a take of a selection with lists may touch.
const INNER: u64 = 256;

/// The largest number of takes in a block of a chunk without inner chunks. A take needs some hundred bytes.
const MOST_TAKES: u64 = 1 << 16;

impl Plan {
    /// Cuts a selection of an array at the borders of its chunks and inner chunks. Returns the order of its elements, too.
    ///
    /// # Errors
    /// When the grid ends inside the selection, or the plan has 2^64 cells or more.
    pub(crate) fn new(along: &[Along], layout: &Layout<'_>) -> ArrayResult<(Self, Orders)> {
        let (mut sides, mut orders) = (Vec::with_capacity(along.len()), Vec::new());
        for (number, along) in along.iter().enumerate() {
            let (side, order) = Side::new(along, layout)?;
            sides.push(side);
            if !matches!(order, Order::Same) {
                orders.resize_with(number, || Order::Same);
                orders.push(order);
            }
        }
        if !orders.is_empty() {
            orders.resize_with(along.len(), || Order::Same);
        }
        let cells = sides.iter().map(Side::chunks).collect::<Dims>().product();
        let plan = Self {
            has_lists: sides.iter().any(|side| matches!(side, Side::List(_))),
            sides,
            array: layout.shape.into(),
            inner: layout.inner.clone(),
            reads_parts: layout.reads_parts,
            cells: cells.ok_or_else(|| {
                ArrayError::new(ArrayErrorKind::LimitExceeded, "the selection touches 2^64 chunks or more")
            })?,
            by_tiles: false,
        };
        Ok((plan, Orders::new(orders)))
    }

    /// The number of elements along each dimension of the result.
    pub(crate) fn shape(&self) -> Dims {
        self.sides.iter().map(Side::count).collect()
    }

    /// The number of cells, which is the number of chunks.
    pub(crate) fn cells(&self) -> u64 {
        self.cells
    }

    /// The number of tiles.
    pub(crate) fn tiles(&self) -> u64 {
        self.sides.iter().map(Side::tiles).fold(1, u64::saturating_mul)
    }

    /// The cuts of the result into tiles.
    pub(crate) fn cuts(&self) -> ArrayResult<Cuts> {
        Ok(Cuts::new(self.sides.iter().map(Side::cut).collect::<ArrayResult<_>>()?))
    }

    /// The number of elements of the largest chunk, counting those beyond the edge of the array.
    pub(crate) fn largest_chunk(&self) -> u64 {
        self.sides.iter().map(Side::longest_chunk).fold(1, u64::saturating_mul)
    }

    /// The inner chunks of the chunks, if they have any.
    pub(crate) fn inner(&self) -> Option<&Inner> {
        self.inner.as_ref()
    }

    /// Whether all elements are at equal steps.
    pub(crate) fn is_steps(&self) -> bool {
        !self.has_lists
    }

    /// The distance of selected elements in each dimension of the array; 1 in those of a list.
    pub(crate) fn steps(&self) -> Dims {
        let mut steps = Dims::filled(1, self.array.len());
        for side in &self.sides {
            if let (Side::Steps(along), [dim]) = (side, side.dims()) {
                steps[*dim] = along.step;
            }
        }
        steps
    }

    /// Returns the cell with this number.
    pub(crate) fn cell(&self, number: u64) -> Cell {
        let [mut chunk, mut shape, mut start] = std::array::from_fn(|_| Dims::filled(0, self.array.len()));
        let [mut at, mut count] = std::array::from_fn(|_| Dims::filled(0, self.sides.len()));
        let mut rest = number;
        for (side, of) in self.sides.iter().enumerate().rev() {
            let chunks = of.chunks().max(1);
            let elements = of.chunk(rest % chunks, |dim, index, first, length| {
                (chunk[dim], start[dim], shape[dim]) = (index, first, length);
            });
            (at[side], count[side]) = (elements.start, elements.end - elements.start);
            rest /= chunks;
        }
        let all = match self.inner.is_none() && self.is_steps() {
            true => 1,
            false => self.grid(&at, &count).takes().product().unwrap_or(u64::MAX),
        };
        Cell { chunk, shape, start, at, count, takes: 0..all, all, shared: None }
    }

    /// Whether all elements of the chunk of a cell that are inside the array are selected.
    pub(crate) fn is_complete(&self, cell: &Cell) -> bool {
        self.fills(cell, |dim| self.array[dim].saturating_sub(cell.start[dim]).min(cell.shape[dim]))
    }

    /// Whether all elements of the chunk of a cell are selected. The whole chunk is then inside the array.
    pub(crate) fn is_whole(&self, cell: &Cell) -> bool {
        self.fills(cell, |dim| cell.shape[dim])
    }

    fn fills(&self, cell: &Cell, length: impl Fn(usize) -> u64) -> bool {
        let lengths = |side: &Side| side.dims().iter().map(|dim| length(*dim)).collect::<Dims>().product();
        self.sides.iter().zip(&cell.count).all(|(side, count)| lengths(side) == Some(*count))
    }

    /// Whether a cell has all elements of the box around it, in the order of the chunk.
    pub(crate) fn is_dense(&self, cell: &Cell) -> bool {
        self.are_dense(&cell.at, &cell.count)
    }

    fn are_dense(&self, at: &[u64], count: &[u64]) -> bool {
        let mut sides = self.sides.iter().zip(at.iter().zip(count));
        sides.all(|(side, (at, count))| side.is_dense(&(*at..at + count)))
    }

    /// Returns the box around the elements of a cell, relative to its chunk.
    pub(crate) fn around(&self, cell: &Cell) -> Region {
        self.region(cell, &cell.at, &cell.count)
    }

    /// Returns the box around some elements of a cell, relative to its chunk. It lies inside the chunk, so its end fits
    /// `u64`.
    fn region(&self, cell: &Cell, at: &[u64], count: &[u64]) -> Region {
        let [mut start, mut shape] = std::array::from_fn(|_| Dims::filled(0, self.array.len()));
        for (side, (at, count)) in self.sides.iter().zip(at.iter().zip(count)) {
            side.bounds(&(*at..at + count), |dim, low, high| {
                (start[dim], shape[dim]) = (low - cell.start[dim], high - low + 1);
            });
        }
        Region::new(start, shape).unwrap_or_default()
    }

    /// Whether each cell is read in one block.
    pub(crate) fn is_one_block(&self) -> bool {
        let skips =
            || self.inner.iter().any(|inner| self.steps().iter().zip(&inner.shape).any(|(n, m)| n > m));
        let most = match &self.inner {
            Some(inner) if !self.has_lists && !self.by_tiles => {
                if skips() {
                    1
                } else {
                    inner.together.max(1)
                }
            }
            // Each take has at least one tile.
            _ => self.together(),
        };
        self.is_steps() && self.inner.is_none() || self.tiles() <= most
    }

    /// The largest number of takes in a block.
    fn together(&self) -> u64 {
        match &self.inner {
            None => MOST_TAKES,
            Some(inner) if self.by_tiles => inner.together.max(1),
            // A take is as large as a block may be.
            Some(_) if !self.has_lists => 1,
            Some(inner) => {
                let sides = self.sides.iter().filter(|side| matches!(side, Side::Steps(_)));
                let tiles =
                    sides.map(|side| side.tiles().saturating_sub(1).saturating_mul(self.apart(side)) + 1);
                (inner.together / tiles.fold(1, u64::saturating_mul).clamp(1, self.room(inner))).max(1)
            }
        }
    }

    /// The largest number of inner chunks that a take may touch.
    fn room(&self, inner: &Inner) -> u64 {
        if self.has_lists { inner.together.clamp(1, INNER) } else { inner.together.max(1) }
    }

    /// The number of inner chunks from one tile of a side to the next: more than one if steps skip some.
    fn apart(&self, side: &Side) -> u64 {
        match (side, &self.inner) {
            (Side::Steps(steps), Some(inner)) => steps.step.div_ceil(inner.shape[steps.dim]),
            _ => 1,
        }
    }

    /// Returns the number of blocks in which a cell is read.
    pub(crate) fn blocks(&self, cell: &Cell) -> u64 {
        (cell.takes.end - cell.takes.start).div_ceil(self.together()).max(1)
    }

    /// Returns a block of a cell.
    pub(crate) fn block(&self, cell: &Cell, number: u64) -> Cell {
        let start = cell.takes.start + number * self.together();
        let end = cell.takes.end.min(start.saturating_add(self.together()));
        Cell { takes: start..end, ..cell.clone() }
    }

    /// Returns the takes of a cell or block.
    pub(crate) fn takes(&self, cell: &Cell) -> Vec<Take> {
        if cell.all == 1 {
            return vec![self.take_of(cell, cell.at.clone(), cell.count.clone())];
        }
        let grid = self.grid(&cell.at, &cell.count);
        cell.takes.clone().map(|number| self.take(cell, &grid, number)).collect()
    }

    fn take(&self, cell: &Cell, grid: &TakeGrid, number: u64) -> Take {
        let index = unravel(number, &grid.takes());
        let (mut at, mut count) = (Dims::new(), Dims::new());
        for (side, of) in self.sides.iter().enumerate() {
            let begin = index[side] * grid.width[side];
            let last = grid.tiles[side].min(begin + grid.width[side]) - 1;
            let start = of.tile(grid.first[side] + begin).start.max(cell.at[side]);
            let end = of.tile(grid.first[side] + last).end.min(cell.at[side] + cell.count[side]);
            at.push(start);
            count.push(end.saturating_sub(start));
        }
        self.take_of(cell, at, count)
    }

    fn take_of(&self, cell: &Cell, at: Dims, count: Dims) -> Take {
        let (part, is_dense) = (self.region(cell, &at, &count), self.are_dense(&at, &count));
        Take { part, picks: OneOrMany::one(Pick { plan: 0, at, count, is_dense }) }
    }

    /// Returns the takes of a cell as a grid of tiles.
    fn grid(&self, at: &[u64], count: &[u64]) -> TakeGrid {
        let (mut first, mut tiles) = (Dims::new(), Dims::new());
        for (side, (at, count)) in self.sides.iter().zip(at.iter().zip(count)) {
            let [begin, last] = [*at, (at + count).saturating_sub(1)].map(|element| side.tile_of(element));
            first.push(begin);
            tiles.push(last + 1 - begin);
        }
        let mut width = Dims::filled(1, self.sides.len());
        let Some(inner) = self.inner.as_ref().filter(|_| !self.by_tiles) else {
            return TakeGrid { first, tiles, width };
        };
        // Whole rows of tiles as far as they fit.
        let mut room = self.room(inner);
        for (side, of) in self.sides.iter().enumerate().rev() {
            if let Side::List(_) = of {
                continue;
            }
            let apart = self.apart(of);
            let most = tiles[side].min(1 + (room - 1) / apart);
            width[side] = tiles[side].div_ceil(tiles[side].div_ceil(most));
            room = (room / ((width[side] - 1) * apart + 1)).max(1);
        }
        TakeGrid { first, tiles, width }
    }

    /// Returns the tile that holds an element of the result.
    pub(crate) fn tile(&self, element: &[u64]) -> Tile {
        let mut tile = Tile { number: 0, at: Dims::new(), end: Dims::new() };
        for (side, element) in self.sides.iter().zip(element) {
            tile.add(side, side.tile_of(*element));
        }
        tile
    }

    /// The tiles of a pick.
    pub(crate) fn tiles_of(&self, pick: &Pick) -> impl Iterator<Item = Tile> {
        let TakeGrid { first, tiles, .. } = self.grid(&pick.at, &pick.count);
        (0..tiles.product().unwrap_or(u64::MAX)).map(move |number| {
            let within = unravel(number, &tiles);
            let mut tile = Tile { number: 0, at: Dims::new(), end: Dims::new() };
            for (side, (first, nth)) in self.sides.iter().zip(first.iter().zip(&within)) {
                tile.add(side, first + nth);
            }
            tile
        })
    }

    /// Returns the smallest box that is decoded alone and holds a part of a chunk: its inner chunk or the whole chunk, and
    /// the number of that box among those of the array.
    pub(crate) fn unit(&self, cell: &Cell, part: &Region) -> (Dims, Region) {
        let Some(inner) = &self.inner else { return (cell.chunk.clone(), Region::whole(&cell.shape)) };
        let within: Dims = part.start().iter().zip(&inner.shape).map(|(at, length)| at / length).collect();
        let start: Dims = within.iter().zip(&inner.shape).map(|(nth, length)| nth * length).collect();
        let region = Region::new(start, inner.shape.clone()).unwrap_or_default();
        (cell.chunk.iter().chain(&within).copied().collect(), region)
    }
}

/// The takes of a cell: its tiles along each side, and the number of them in a take.
struct TakeGrid {
    first: Dims,
    tiles: Dims,
    width: Dims,
}

impl TakeGrid {
    /// The number of takes along each side.
    fn takes(&self) -> Dims {
        self.tiles.iter().zip(&self.width).map(|(tiles, width)| tiles.div_ceil(*width)).collect()
    }
}

impl Take {
    /// Returns the only take of a whole cell whose elements are fetched without a box.
    pub(crate) fn of_elements(cell: &Cell) -> Self {
        let (at, count) = (cell.at.clone(), cell.count.clone());
        let picks = OneOrMany::one(Pick { plan: 0, at, count, is_dense: false });
        Self { part: Region::default(), picks }
    }

    /// Returns the take with a box around its own.
    pub(crate) fn widened(self, part: Region) -> Self {
        let is_same = part == self.part;
        let pick = |pick: Pick| Pick { is_dense: pick.is_dense && is_same, ..pick };
        Self { part, picks: self.picks.into_vec().into_iter().map(pick).collect() }
    }
}

impl Pick {
    /// The number of elements.
    pub(crate) fn len(&self) -> u64 {
        self.count.product().unwrap_or(u64::MAX)
    }
}

impl Tile {
    /// Adds a side, along which it is the tile with this number.
    fn add(&mut self, side: &Side, number: u64) {
        self.number = self.number * side.tiles() + number;
        let elements = side.tile(number);
        self.at.push(elements.start);
        self.end.push(elements.end);
    }

    /// Whether an element of the result lies in the tile.
    pub(crate) fn holds(&self, element: &[u64]) -> bool {
        element.iter().zip(self.at.iter().zip(&self.end)).all(|(e, (at, end))| at <= e && e < end)
    }
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

/// The error for a grid whose chunks do not reach the end of the array.
fn grid_ends(dim: usize) -> ArrayError {
    ArrayError::new(ArrayErrorKind::Metadata, format!("the chunk grid ends inside dimension {dim}"))
}

#[cfg(test)]
mod tests;
