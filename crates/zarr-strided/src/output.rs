//! One result that many threads fill.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use crate::cuts::Grid;
use crate::layout::Layout;
use crate::{Cuts, Destination, Plain, StridedError, bytes_of_mut};

/// A handle to memory cut into disjoint cells, each of which is handed out once, to any thread.
///
/// Unlike [`Tiles`](crate::Tiles) it is `'static`, so that jobs of a thread pool can hold clones of it.
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

/// What keeps the memory of the grid alive.
enum Memory {
    /// A `Vec<T>`, not touched until it is given back.
    Owned(Box<dyn Any + Send + Sync>),
    /// A borrow that ends when this is dropped, and not before.
    Lent { _release: Release },
}

impl Output {
    /// Takes `values`, in C order, to be filled cell by cell.
    ///
    /// # Errors
    ///
    /// If `values` or the pieces of `cuts` are not as many as the shape asks for.
    pub fn new<T: Plain>(values: Vec<T>, shape: &[u64], cuts: Cuts) -> Result<Output, StridedError> {
        Output::sized(values, size_of::<T>(), shape, cuts)
    }

    /// Takes `values`, which hold elements of `size` bytes in C order: for elements that have no Rust type.
    ///
    /// # Errors
    ///
    /// If the bytes of `values` or the pieces of `cuts` are not as many as the shape asks for.
    pub fn sized<T: Plain>(
        mut values: Vec<T>,
        size: usize,
        shape: &[u64],
        cuts: Cuts,
    ) -> Result<Output, StridedError> {
        // SAFETY: the vector is not used, nor its memory freed, before the grid is gone: see `into_vec`.
        let grid = unsafe { grid(&mut values, size, shape, cuts)? };
        Ok(Output(Arc::new(Shared { grid, memory: Memory::Owned(Box::new(values)) })))
    }

    /// The cell of this number, counted in C order of the grid; `None` if there is none, or it was taken before.
    pub fn take(&self, cell: u64) -> Option<Destination<'_>> {
        self.0.grid.take(cell)
    }

    /// Cells of the grid.
    pub fn cells(&self) -> u64 {
        self.0.grid.cells()
    }

    /// Elements per dimension.
    pub fn shape(&self) -> &[u64] {
        self.0.grid.shape()
    }

    /// The memory, with what was written to it. Cells nobody took hold what was there before.
    ///
    /// # Errors
    ///
    /// Gives the handle back if it is not the last one, if the memory was made of another type, or was lent.
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

    /// Lends `values` to other threads for the length of a call: `f` is given a handle that it may clone and send.
    ///
    /// Returns only when every clone is dropped, also when `f` panics. So a handle that is leaked, or returned by `f`,
    /// makes it wait for ever.
    ///
    /// ```
    /// use std::thread;
    /// use zarr_strided::{Cut, Cuts, Output};
    ///
    /// let mut values = [0u8; 4];
    /// let halves = Cuts::new(vec![Cut::even(0, 1, 4, 2)?]);
    /// Output::lend(&mut values, &[4], halves, |output| {
    ///     thread::spawn(move || output.take(1).unwrap().fill(&[7]));
    /// })?;
    /// assert_eq!(values, [0, 0, 7, 7]);
    /// # Ok::<(), zarr_strided::StridedError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`Output::new`]; then `f` is not called.
    pub fn lend<T: Plain, R>(
        values: &mut [T],
        shape: &[u64],
        cuts: Cuts,
        f: impl FnOnce(Output) -> R,
    ) -> Result<R, StridedError> {
        // SAFETY: `values` stay borrowed until the wait below is over, and with it the last handle and its cells.
        let grid = unsafe { grid(values, size_of::<T>(), shape, cuts)? };
        let gate = Arc::new(Gate::default());
        // Dropped last, on return as on unwind: until then the borrow of `values` goes on.
        let _wait = Wait(&gate);
        let memory = Memory::Lent { _release: Release(Arc::clone(&gate)) };
        Ok(f(Output(Arc::new(Shared { grid, memory }))))
    }
}

/// The grid of `values`.
///
/// # Safety
///
/// They stay where they are, and nobody uses them, as long as the grid or a cell of it lives.
unsafe fn grid<T: Plain>(
    values: &mut [T],
    size: usize,
    shape: &[u64],
    cuts: Cuts,
) -> Result<Grid, StridedError> {
    let bytes = bytes_of_mut(values);
    let layout = Layout::dense(shape, size)?;
    layout.check_len(bytes.len())?;
    // SAFETY: the layout is as long as the bytes, one element after the other; the rest is the caller's word.
    unsafe { Grid::new(bytes.as_mut_ptr(), layout, cuts) }
}

impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Output").field(&self.0.grid).finish()
    }
}

/// Opens once, when the last handle is gone.
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
