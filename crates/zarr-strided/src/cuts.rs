//! A view cut into a grid of disjoint cells.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::layout::{Layout, to_usize};
use crate::{Destination, Dims, StridedError};

/// One dimension of a view, cut into pieces.
///
/// The elements of the dimension are at fixed steps on a longer axis. The axis is divided into intervals. The elements
/// inside one interval form a piece; intervals without elements have no piece, so no piece is empty. Consecutive
/// intervals of equal length are stored as one run, so the memory of a cut does not depend on the number of pieces.
///
/// ```
/// use zarr_strided::Cut;
///
/// // Every third element of an axis with intervals of length 4, from position 2: 2 | 5 | 8, 11 | 14.
/// let cut = Cut::even(2, 3, 5, 4)?;
/// assert_eq!(cut.len(), 4);
/// let piece = cut.piece(2).unwrap();
/// assert_eq!((piece.interval, piece.start, piece.length), (2, 8, 4));
/// assert_eq!(piece.elements, 2..4);
/// assert_eq!(cut.find(3), Some(2));
/// # Ok::<(), zarr_strided::StridedError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The position of the first element.
    start: u64,
    step: u64,
    count: u64,
    /// The first run of intervals that have elements, and the others. Most cuts have one, and need no allocation.
    first: Option<Run>,
    more: Vec<Run>,
    pieces: u64,
}

/// Consecutive intervals of one length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    /// The first piece of the run, and its first element.
    piece: u64,
    element: u64,
    /// The number and the position of its first interval.
    interval: u64,
    start: u64,
    length: u64,
}

/// The elements of a dimension that are in one interval.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CutPiece {
    /// The number of the interval, counted from position 0.
    pub interval: u64,
    /// The first position of the interval.
    pub start: u64,
    /// The length of the interval.
    pub length: u64,
    /// The elements of the dimension in the interval.
    pub elements: Range<u64>,
}

impl Cut {
    /// Returns a cut with one piece of all `count` elements. If `count` is 0, it has no piece.
    pub fn whole(count: u64) -> Self {
        Self::single(0, 1, count, Run { piece: 0, element: 0, interval: 0, start: 0, length: u64::MAX })
    }

    /// Returns a cut with one piece of `count` elements at distances of `step`, from position `start`. All of them are
    /// in the interval with number `interval` and positions `span`.
    ///
    /// # Errors
    ///
    /// As for [`Cut::new`], with this interval.
    pub fn one(
        start: u64,
        step: u64,
        count: u64,
        interval: u64,
        span: Range<u64>,
    ) -> Result<Self, StridedError> {
        let last = last(start, step, count)?;
        if count > 0 && !(span.contains(&start) && span.contains(&last)) {
            return Err(beyond(start, last, span.end));
        }
        let run = Run { piece: 0, element: 0, interval, start: span.start, length: span.end - span.start };
        Ok(Self::single(start, step, count, run))
    }

    /// Returns a cut with one piece, also if the step is longer than the interval: then it has one element.
    fn single(start: u64, step: u64, count: u64, run: Run) -> Self {
        let first = (count > 0).then_some(run);
        Cut { start, step, count, pieces: first.iter().len() as u64, first, more: Vec::new() }
    }

    /// Cuts `count` elements at distances of `step`, from position `start`, at every multiple of `length`.
    ///
    /// # Errors
    ///
    /// As for [`Cut::new`].
    pub fn even(start: u64, step: u64, count: u64, length: u64) -> Result<Self, StridedError> {
        Self::new(start, step, count, [(length, u64::MAX)])
    }

    /// Cuts `count` elements at distances of `step`, from position `start`, at the borders of `intervals`. Each item is
    /// a length and the number of consecutive intervals with that length, from position 0.
    ///
    /// ```
    /// use zarr_strided::Cut;
    ///
    /// let months = [(31, 1), (28, 1), (31, 1), (30, 1)];
    /// let cut = Cut::new(20, 1, 50, months)?; // 50 days from the 21st day
    /// assert_eq!(cut.piece(1).unwrap().elements, 11..39);
    /// # Ok::<(), zarr_strided::StridedError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the intervals end before the last element, if its position is 2^64 or more, or if the step is 0.
    pub fn new(
        start: u64,
        step: u64,
        count: u64,
        intervals: impl IntoIterator<Item = (u64, u64)>,
    ) -> Result<Self, StridedError> {
        let last = last(start, step, count)?;
        let mut cut = Cut { start, step, count, first: None, more: Vec::new(), pieces: 0 };
        let (mut interval, mut position, mut element) = (0_u64, 0_u64, 0);
        for (length, times) in intervals {
            if element == count {
                break;
            }
            let end = length.saturating_mul(times).saturating_add(position);
            let stop = cut.before(end);
            if stop > element {
                let run = Run { piece: cut.pieces, element, interval, start: position, length };
                cut.pieces = run.piece + cut.piece_in(&run, stop - 1) + 1;
                match cut.first {
                    None => cut.first = Some(run),
                    Some(_) => cut.more.push(run),
                }
                element = stop;
            }
            (interval, position) = (interval.saturating_add(times), end);
        }
        if element == count {
            return Ok(cut);
        }
        Err(beyond(start, last, position))
    }

    /// The number of elements of the dimension.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The number of pieces.
    pub fn len(&self) -> u64 {
        self.pieces
    }

    /// Whether there are no pieces, and so no elements.
    pub fn is_empty(&self) -> bool {
        self.pieces == 0
    }

    /// Returns piece `number`, or `None` if there are fewer pieces.
    pub fn piece(&self, number: u64) -> Option<CutPiece> {
        if number >= self.pieces {
            return None;
        }
        let (run, next) = self.last_run(|run| run.piece <= number)?;
        let nth = number - run.piece;
        let within = match self.step <= run.length {
            true => (self.position(run.element) - run.start) / run.length + nth,
            false => (self.position(run.element + nth) - run.start) / run.length,
        };
        let start = run.start + within * run.length;
        // Clip pieces to the bounds of their run, whatever the intervals are. This makes them disjoint.
        let bound = next.map_or(self.count, |next| next.element);
        let elements = match self.step <= run.length {
            true => {
                let end = self.before(start.saturating_add(run.length)).min(bound);
                self.before(start).clamp(run.element, end)..end
            }
            false => run.element + nth..run.element + nth + 1,
        };
        Some(CutPiece { interval: run.interval + within, start, length: run.length, elements })
    }

    /// Returns the number of the piece that contains an element of the dimension.
    pub fn find(&self, element: u64) -> Option<u64> {
        if element >= self.count {
            return None;
        }
        let (run, _) = self.last_run(|run| run.element <= element)?;
        Some(run.piece + self.piece_in(run, element))
    }

    /// Returns the number of the piece of an interval, or `None` if the interval has no elements.
    pub fn find_interval(&self, interval: u64) -> Option<u64> {
        let (run, next) = self.last_run(|run| run.interval <= interval)?;
        let start = (interval - run.interval).checked_mul(run.length)?.checked_add(run.start)?;
        let element = self.before(start).max(run.element);
        let bound = next.map_or(self.count, |next| next.element);
        let is_hit = element < bound && self.position(element) - start < run.length;
        is_hit.then(|| run.piece + self.piece_in(run, element))
    }

    /// The length of the longest interval with a piece, or 0 without pieces.
    pub fn longest(&self) -> u64 {
        self.first.iter().chain(&self.more).map(|run| run.length).max().unwrap_or(0)
    }

    /// Returns the last run that is `reached`, and the run after it. All runs before a reached one are reached.
    fn last_run(&self, reached: impl Fn(&Run) -> bool) -> Option<(&Run, Option<&Run>)> {
        let first = self.first.as_ref().filter(|run| reached(run))?;
        let next = self.more.partition_point(reached);
        let run = next.checked_sub(1).map_or(first, |last| &self.more[last]);
        Some((run, self.more.get(next)))
    }

    fn position(&self, element: u64) -> u64 {
        self.start + element * self.step
    }

    /// Returns the number of elements before a position.
    fn before(&self, position: u64) -> u64 {
        let distance = position.saturating_sub(self.start);
        if self.step == 1 { distance.min(self.count) } else { distance.div_ceil(self.step).min(self.count) }
    }

    /// Returns the number of pieces of a run before the piece of `element`. A step longer than the intervals hits each
    /// of them at most once; a shorter step misses none.
    fn piece_in(&self, run: &Run, element: u64) -> u64 {
        if self.step > run.length {
            return element - run.element;
        }
        let interval = |element| (self.position(element) - run.start) / run.length;
        interval(element) - interval(run.element)
    }
}

/// Returns the position of the last of `count` elements.
fn last(start: u64, step: u64, count: u64) -> Result<u64, StridedError> {
    if step == 0 {
        return Err(StridedError::Step { dim: 0 });
    }
    let last = count.saturating_sub(1).checked_mul(step).and_then(|n| n.checked_add(start));
    last.ok_or_else(|| StridedError::TooLarge { shape: [count].into(), size: 0 })
}

/// Returns the error for elements from `start` to `last` that exceed intervals ending at `end`.
fn beyond(start: u64, last: u64, end: u64) -> StridedError {
    let (at, shape) = ([start].into(), [(last - start).saturating_add(1)].into());
    StridedError::OutOfShape { at, shape, whole: [end].into() }
}

/// The cuts of a view: one [`Cut`] per dimension.
///
/// ```
/// use zarr_strided::{Cut, Cuts};
///
/// // Rows 0 to 3 and 4 to 5, columns 0 to 3 and 4 to 9.
/// let cuts = Cuts::new(vec![Cut::even(0, 1, 6, 4)?, Cut::new(0, 1, 10, [(4, 1), (6, 1)])?]);
/// assert_eq!(cuts.shape(), [6, 10]);
/// assert_eq!(cuts.cells()?, 4);
/// # Ok::<(), zarr_strided::StridedError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cuts(Vec<Cut>);

impl Cuts {
    /// Builds the cuts of a view from one cut per dimension.
    pub fn new(dims: Vec<Cut>) -> Self {
        Cuts(dims)
    }

    /// Returns cuts with one cell: all of `shape`.
    pub fn whole(shape: &[u64]) -> Self {
        Cuts(shape.iter().map(|&n| Cut::whole(n)).collect())
    }

    /// The number of cells.
    ///
    /// # Errors
    ///
    /// [`StridedError::TooLarge`] if there are 2^64 or more.
    pub fn cells(&self) -> Result<u64, StridedError> {
        let counts: Dims = self.0.iter().map(Cut::len).collect();
        counts.product().ok_or_else(|| StridedError::TooLarge { shape: (*counts).into(), size: 0 })
    }

    /// The shape of the view to cut.
    pub fn shape(&self) -> Dims {
        self.0.iter().map(Cut::count).collect()
    }
}

/// A view cut into disjoint cells. Any thread can take a cell, each cell once.
///
/// ```
/// use zarr_strided::{Cut, Cuts, Destination};
///
/// let mut values = [0u8; 6];
/// let columns = Cut::new(0, 1, 3, [(1, 1), (2, 1)])?;
/// let tiles = Destination::of(&mut values, &[2, 3])?.split(Cuts::new(vec![Cut::whole(2), columns]))?;
/// std::thread::scope(|threads| {
///     for cell in 0..2u8 {
///         let tiles = &tiles;
///         threads.spawn(move || tiles.take(cell.into()).unwrap().fill(&[cell + 1]));
///     }
/// });
/// assert!(tiles.take(0).is_none());
/// drop(tiles);
/// assert_eq!(values, [1, 2, 2, 1, 2, 2]);
/// # Ok::<(), zarr_strided::StridedError>(())
/// ```
#[derive(Debug)]
pub struct Tiles<'a> {
    grid: Grid,
    memory: PhantomData<&'a mut [u8]>,
}

impl<'a> Destination<'a> {
    /// Cuts the view into a grid of cells that threads may fill at the same time.
    ///
    /// # Errors
    ///
    /// If the shape of `cuts` differs from this shape, or the grid has too many cells.
    pub fn split(self, cuts: Cuts) -> Result<Tiles<'a>, StridedError> {
        let (first, layout) = self.into_parts();
        // SAFETY: the elements belonged to a destination that this call consumed. Cells borrow the tiles, and the tiles
        // borrow the memory.
        let grid = unsafe { Grid::new(first, layout, cuts)? };
        Ok(Tiles { grid, memory: PhantomData })
    }
}

impl Tiles<'_> {
    /// Takes cell number `cell`, counted in C order of the grid. Returns `None` if there is no such cell or it is
    /// already taken.
    pub fn take(&self, cell: u64) -> Option<Destination<'_>> {
        self.grid.take(cell)
    }
}

/// The cells, and which of them are taken. `Tiles` and `Output` are built on it and bound the life of the memory.
pub(crate) struct Grid {
    first: *mut u8,
    whole: Layout,
    cuts: Vec<Cut>,
    cells: u64,
    /// One bit per cell: whether it is taken. The first 64 cells need no allocation.
    taken: AtomicU64,
    more_taken: Vec<AtomicU64>,
}

// SAFETY: the pointer represents a mutable borrow of bytes, or owned bytes.
unsafe impl Send for Grid {}
// SAFETY: a shared grid returns disjoint cells, each to one caller only: the bits of `taken` are atomic.
unsafe impl Sync for Grid {}

impl Grid {
    /// Cuts the elements of `whole`, whose first element is at `first`.
    ///
    /// # Safety
    ///
    /// The elements of the layout do not overlap, and nothing else uses their memory while the grid or one of its cells
    /// exists.
    pub(crate) unsafe fn new(first: *mut u8, whole: Layout, cuts: Cuts) -> Result<Self, StridedError> {
        let shape = cuts.shape();
        if shape != whole.shape {
            return Err(StridedError::Shape { expected: (*whole.shape).into(), got: (*shape).into() });
        }
        let cells = cuts.cells()?;
        let words = usize::try_from(cells.div_ceil(64).saturating_sub(1)).unwrap_or(usize::MAX);
        let mut more_taken = Vec::new();
        more_taken
            .try_reserve_exact(words)
            .map_err(|_| StridedError::Memory { bytes: words.saturating_mul(8) })?;
        more_taken.resize_with(words, AtomicU64::default);
        Ok(Grid { first, whole, cuts: cuts.0, cells, taken: AtomicU64::new(0), more_taken })
    }

    pub(crate) fn cells(&self) -> u64 {
        self.cells
    }

    pub(crate) fn shape(&self) -> &[u64] {
        &self.whole.shape
    }

    pub(crate) fn take(&self, cell: u64) -> Option<Destination<'_>> {
        if cell >= self.cells {
            return None;
        }
        let bit = 1 << (cell % 64);
        let word = (cell / 64).checked_sub(1).map_or(&self.taken, |word| &self.more_taken[to_usize(word)]);
        // Relaxed: the bytes of cells are independent, and the bit alone decides who takes a cell.
        if word.fetch_or(bit, Ordering::Relaxed) & bit != 0 {
            return None;
        }
        let mut layout = self.whole.clone();
        let mut at = Dims::filled(0, self.cuts.len());
        let mut rest = cell;
        for (dim, cut) in self.cuts.iter().enumerate().rev() {
            let elements = cut.piece(rest % cut.len())?.elements;
            (at[dim], layout.shape[dim]) = (elements.start, elements.end - elements.start);
            rest /= cut.len();
        }
        let first = self.first.wrapping_offset(layout.offset(&at));
        // SAFETY: the pieces of a cut are disjoint and inside their dimension, so this is a box inside the whole,
        // disjoint from all other cells. The bit shows that the cell was not taken before. The cell lives no longer
        // than the borrow of the grid.
        Some(unsafe { Destination::new(first, layout) })
    }
}

impl fmt::Debug for Grid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Grid").field("shape", &self.whole.shape).field("cells", &self.cells).finish()
    }
}
