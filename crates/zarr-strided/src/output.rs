//! A result that many threads fill.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use crate::cuts::Grid;
use crate::layout::Layout;
use crate::{Cuts, Destination, Plain, StridedError, bytes_of_mut};

/// A handle on memory that is cut into disjoint cells. Any thread can take a cell, each cell once.
///
/// Unlike [`Tiles`](crate::Tiles) it is `'static`, so jobs of a thread pool can hold clones of it.
///
/// ```
/// use std::thread;
/// use zarr_strided::{Cut, Cuts, Output, zeroed};
///
/// let rows = Cuts::new(vec![Cut::even(0, 1, 2, 1)?, Cut::whole(3)]);
/// let output = Output::new(zeroed::<u16>(6)?, &[2, 3], rows)?;
/// let jobs: Vec<_> = (0..2u16)
///     .map(|cell| {
///         let output = output.clone();
///         thread::spawn(move || output.take(cell.into()).unwrap().fill(&cell.to_ne_bytes()))
///     })
///     .collect();
/// for job in jobs {
///     job.join().unwrap()?;
/// }
/// assert_eq!(output.into_vec::<u16>().unwrap(), [0, 0, 0, 1, 1, 1]);
/// # Ok::<(), zarr_strided::StridedError>(())
/// ```
#[derive(Clone)]
pub struct Output(Arc<Shared>);

struct Shared {
    grid: Grid,
    memory: Memory,
}

/// The owner of the grid's memory.
enum Memory {
    /// A `Vec<T>`. Nothing accesses it until it is returned.
    Owned(Box<dyn Any + Send + Sync>),
    /// A borrow. It ends when this is dropped, not earlier.
    Lent { _release: Release },
}

impl Output {
    /// Takes `values`, in C order, to be filled cell by cell.
    ///
    /// # Errors
    ///
    /// If the length of `values` or the pieces of `cuts` do not match the shape.
    pub fn new<T: Plain>(values: Vec<T>, shape: &[u64], cuts: Cuts) -> Result<Output, StridedError> {
        Output::sized(values, size_of::<T>(), shape, cuts)
    }

    /// Takes `values`, which hold elements of `size` bytes in C order. Use it for elements without a Rust type.
    ///
    /// # Errors
    ///
    /// If the bytes of `values` or the pieces of `cuts` do not match the shape.
    pub fn sized<T: Plain>(
        mut values: Vec<T>,
        size: usize,
        shape: &[u64],
        cuts: Cuts,
    ) -> Result<Output, StridedError> {
        // SAFETY: the vector is neither used nor freed before the grid is dropped: see `into_vec`.
        let grid = unsafe { grid(&mut values, size, shape, cuts)? };
        Ok(Output(Arc::new(Shared { grid, memory: Memory::Owned(Box::new(values)) })))
    }

    /// Takes cell number `cell`, counted in C order of the grid. Returns `None` if there is no such cell or it is
    /// already taken.
    pub fn take(&self, cell: u64) -> Option<Destination<'_>> {
        self.0.grid.take(cell)
    }

    /// The number of cells.
    pub fn cells(&self) -> u64 {
        self.0.grid.cells()
    }

    /// The number of elements per dimension.
    pub fn shape(&self) -> &[u64] {
        self.0.grid.shape()
    }

    /// Returns the filled memory. Cells that were not taken keep their old content.
    ///
    /// # Errors
    ///
    /// Returns the handle if it is not the last one, or if the memory has another type or was lent.
    pub fn into_vec<T: Plain>(self) -> Result<Vec<T>, Output> {
        let shared = Arc::try_unwrap(self.0).map_err(Output)?;
        match shared.memory {
            Memory::Owned(values) => match values.downcast::<Vec<T>>() {
                Ok(values) => Ok(*values),
                Err(values) => {
                    Err(Output(Arc::new(Shared { grid: shared.grid, memory: Memory::Owned(values) })))
                }
            },
            lent => Err(Output(Arc::new(Shared { grid: shared.grid, memory: lent }))),
        }
    }

    /// Lends memory to other threads during this call: `f` gets a handle that it may clone and send. The memory may have
    /// any strides.
    ///
    /// Returns only after every clone is dropped, also if `f` panics. If a handle is leaked or returned by `f`, the
    /// call waits forever.
    ///
    /// ```
    /// use std::thread;
    /// use zarr_strided::{Cut, Cuts, Destination, Output};
    ///
    /// let mut values = [0u8; 4];
    /// let halves = Cuts::new(vec![Cut::even(0, 1, 4, 2)?]);
    /// Output::lend(Destination::of(&mut values, &[4])?, halves, |output| {
    ///     thread::spawn(move || output.take(1).unwrap().fill(&[7]));
    /// })?;
    /// assert_eq!(values, [0, 0, 7, 7]);
    /// # Ok::<(), zarr_strided::StridedError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the pieces of `cuts` do not match the shape. In that case `f` is not called.
    pub fn lend<R>(
        memory: Destination<'_>,
        cuts: Cuts,
        f: impl FnOnce(Output) -> R,
    ) -> Result<R, StridedError> {
        let (first, layout) = memory.into_parts();
        // SAFETY: the memory stays borrowed until the wait below is over, and with it the last handle and its cells.
        let grid = unsafe { Grid::new(first, layout, cuts)? };
        let gate = Arc::new(Gate::default());
        // Dropped last, on return and on unwind. The borrow of the memory lasts until then.
        let _wait = Wait(&gate);
        let memory = Memory::Lent { _release: Release(Arc::clone(&gate)) };
        Ok(f(Output(Arc::new(Shared { grid, memory }))))
    }
}

/// Cuts `values` into a grid.
///
/// # Safety
///
/// `values` must not move and nothing else may use them while the grid or one of its cells exists.
unsafe fn grid<T: Plain>(
    values: &mut [T],
    size: usize,
    shape: &[u64],
    cuts: Cuts,
) -> Result<Grid, StridedError> {
    let bytes = bytes_of_mut(values);
    let layout = Layout::dense(shape, size)?;
    layout.check_len(bytes.len())?;
    // SAFETY: the layout has the length of the bytes, one element after the other. The caller promises the rest.
    unsafe { Grid::new(bytes.as_mut_ptr(), layout, cuts) }
}

impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Output").field(&self.0.grid).finish()
    }
}

/// Opens once, when the last handle is dropped.
#[derive(Default)]
pub(crate) struct Gate {
    open: Mutex<bool>,
    opened: Condvar,
}

pub(crate) struct Release(pub(crate) Arc<Gate>);

impl Drop for Release {
    fn drop(&mut self) {
        *self.0.open.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.0.opened.notify_all();
    }
}

pub(crate) struct Wait<'a>(pub(crate) &'a Gate);

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        let mut open = self.0.open.lock().unwrap_or_else(PoisonError::into_inner);
        while !*open {
            open = self.0.opened.wait(open).unwrap_or_else(PoisonError::into_inner);
        }
    }
}
