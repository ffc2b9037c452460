//! One view cut into a grid of disjoint cells.

use std::fmt;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::layout::{Layout, index};
use crate::{Destination, Dims, StridedError};

/// Where a view is cut: per dimension the lengths of its pieces, one after the other. Pieces may be empty.
///
/// ```
/// use zarr_strided::Cuts;
///
/// // Rows 0 to 3 and 4 to 5, columns 0 to 3 and 4 to 9.
/// let cuts = Cuts::new(vec![vec![4, 2], vec![4, 6]]);
/// assert_eq!(cuts.shape()?, [6, 10]);
/// assert_eq!(cuts.cells()?, 4);
/// # Ok::<(), zarr_strided::StridedError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cuts {
    pieces: Vec<Vec<u64>>,
}

impl Cuts {
    /// The lengths of the pieces, per dimension.
    pub fn new(pieces: Vec<Vec<u64>>) -> Self {
        Cuts { pieces }
    }

    /// One cell: all of `shape`.
    pub fn whole(shape: &[u64]) -> Self {
        Cuts { pieces: shape.iter().map(|&n| vec![n]).collect() }
    }

    /// Cells of the grid.
    ///
    /// # Errors
    ///
    /// [`StridedError::TooLarge`] if they are 2^64 or more.
    pub fn cells(&self) -> Result<u64, StridedError> {
        let counts: Dims = self.pieces.iter().map(|pieces| pieces.len() as u64).collect();
        counts.product().ok_or_else(|| StridedError::TooLarge { shape: (*counts).into(), size: 0 })
    }

    /// The shape of what is cut: the sums of the pieces.
    ///
    /// # Errors
    ///
    /// [`StridedError::TooLarge`] if a sum is 2^64 or more.
    pub fn shape(&self) -> Result<Dims, StridedError> {
        let sum = |pieces: &Vec<u64>| pieces.iter().try_fold(0u64, |sum, &n| sum.checked_add(n));
        let too_large =
            |pieces: &Vec<u64>| StridedError::TooLarge { shape: pieces.as_slice().into(), size: 0 };
        self.pieces.iter().map(|pieces| sum(pieces).ok_or_else(|| too_large(pieces))).collect()
    }
}

/// A view cut into disjoint cells, each of which is handed out once, to any thread.
///
/// ```
/// use zarr_strided::{Cuts, Destination};
///
/// let mut values = [0u8; 6];
/// let tiles = Destination::of(&mut values, &[2, 3])?.split(Cuts::new(vec![vec![2], vec![1, 2]]))?;
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

impl<'a> Tiles<'a> {
    pub(crate) fn new(all: Destination<'a>, cuts: Cuts) -> Result<Self, StridedError> {
        let (first, layout) = all.into_parts();
        // SAFETY: the elements were a destination's, given up for this; cells borrow us, and we the memory.
        let grid = unsafe { Grid::new(first, layout, cuts)? };
        Ok(Tiles { grid, memory: PhantomData })
    }

    /// The cell of this number, counted in C order of the grid; `None` if there is none, or it was taken before.
    pub fn take(&self, cell: u64) -> Option<Destination<'_>> {
        self.grid.take(cell)
    }
}

/// The cells and who has been given one. Below `Tiles` and `Output`, which say how long the memory lives.
pub(crate) struct Grid {
    first: *mut u8,
    whole: Layout,
    /// Per dimension the pieces: where each begins, and its length.
    pieces: Vec<Vec<(u64, u64)>>,
    cells: u64,
    /// A bit for each cell: taken.
    taken: Vec<AtomicU64>,
}

// SAFETY: the pointer stands for a mutable borrow of bytes, or for owned ones.
unsafe impl Send for Grid {}
// SAFETY: shared, it hands out disjoint cells, each to one caller only: the bits of `taken` are atomic.
unsafe impl Sync for Grid {}

impl Grid {
    /// Cuts the elements of `whole`, the first of which is `first`.
    ///
    /// # Safety
    ///
    /// The layout's elements lie apart, in memory that nobody else uses as long as the grid or a cell of it lives.
    pub(crate) unsafe fn new(first: *mut u8, whole: Layout, cuts: Cuts) -> Result<Self, StridedError> {
        let shape = cuts.shape()?;
        if shape != whole.shape {
            return Err(StridedError::Shape { expected: (*whole.shape).into(), got: (*shape).into() });
        }
        let cells = cuts.cells()?;
        let words = usize::try_from(cells.div_ceil(64)).unwrap_or(usize::MAX);
        let mut taken = Vec::new();
        taken
            .try_reserve_exact(words)
            .map_err(|_| StridedError::Memory { bytes: words.saturating_mul(8) })?;
        taken.resize_with(words, AtomicU64::default);
        let begins = |pieces: Vec<u64>| {
            let mut end = 0;
            pieces
                .into_iter()
                .map(|n| {
                    end += n;
                    (end - n, n)
                })
                .collect()
        };
        let pieces = cuts.pieces.into_iter().map(begins).collect();
        Ok(Grid { first, whole, pieces, cells, taken })
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
        // Relaxed: no cell's bytes depend on another's, and who takes one is settled by the bit alone.
        if self.taken[index(cell / 64)].fetch_or(bit, Ordering::Relaxed) & bit != 0 {
            return None;
        }
        let mut layout = self.whole.clone();
        let mut at = Dims::filled(0, self.pieces.len());
        let mut rest = cell;
        for (dim, pieces) in self.pieces.iter().enumerate().rev() {
            let count = pieces.len() as u64;
            (at[dim], layout.shape[dim]) = pieces[index(rest % count)];
            rest /= count;
        }
        let first = self.first.wrapping_offset(layout.offset(&at));
        // SAFETY: the pieces add up to the whole, so this is a box inside of it, disjoint from all other cells; the bit
        // says that it was not taken before, and it lives no longer than the borrow of the grid.
        Some(unsafe { Destination::new(first, layout) })
    }
}

impl fmt::Debug for Grid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Grid").field("shape", &self.whole.shape).field("cells", &self.cells).finish()
    }
}
