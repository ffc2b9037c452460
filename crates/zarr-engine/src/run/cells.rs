//! The work that the scheduler runs: cells of a read or a write.

use std::future::Future;
use std::sync::Arc;

use zarr_traits::Scratch;

use super::stop::Stop;

/// Work on fewer decoded bytes than this is not worth waking other threads.
pub const SMALL: u64 = 256 << 10;

/// The least number of decoded bytes of inner chunks in a part, which one thread works on.
pub const PART: u64 = 64 << 10;

/// Cells of a local store up to this size in bytes do not wait for room. Each thread may hold one.
pub const UNCOUNTED: u64 = 1 << 20;

/// A read or a write: one cell for each chunk. The holder of the last clone takes the result out of it.
pub trait Cells: Send + Sync + 'static {
    /// The error of a cell.
    type Error: From<Stop> + Send + 'static;
    /// One cell, or a block of one.
    type Cell: Cell<Error = Self::Error>;

    /// The approximate sizes.
    fn sizes(&self) -> Sizes;

    /// Returns the cell with this number, ready for a first step. A lost race starts with a new one.
    fn cell(self: &Arc<Self>, number: u64) -> Self::Cell;

    /// Adds the place of a cell to its error.
    fn locate(&self, number: u64, error: Self::Error) -> Self::Error;
}

/// The approximate sizes of a read or a write.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Sizes {
    /// The number of cells.
    pub cells: u64,
    /// The size of the selected elements, in bytes.
    pub bytes: u64,
    /// Whether handing cells to other threads would cost more than it gains.
    pub is_small: bool,
    /// Whether the work of a cell may have parts.
    pub shares: bool,
    /// The expected size of a fetch, in bytes.
    pub expected: u64,
    /// Whether [`store`](Cell::store) makes requests.
    pub stores: bool,
}

impl Sizes {
    /// Returns the sizes of this number of cells with selected elements of `bytes` in all. A fetch is expected to read as
    /// much as a cell selects. The work has no parts, and nothing is stored.
    pub fn new(cells: u64, bytes: u64) -> Self {
        let expected = bytes / cells.max(1);
        Self { cells, bytes, is_small: false, shares: false, expected, stores: false }
    }

    /// Sets whether handing cells to other threads would cost more than it gains.
    #[must_use]
    pub fn is_small(self, is_small: bool) -> Self {
        Self { is_small, ..self }
    }

    /// Sets whether the work of a cell may have parts.
    #[must_use]
    pub fn shares(self, shares: bool) -> Self {
        Self { shares, ..self }
    }

    /// Sets the expected size of a fetch, in bytes.
    #[must_use]
    pub fn expected(self, expected: u64) -> Self {
        Self { expected, ..self }
    }

    /// Sets whether [`store`](Cell::store) makes requests.
    #[must_use]
    pub fn stores(self, stores: bool) -> Self {
        Self { stores, ..self }
    }
}

/// A cell on its way: held, fetched, worked on in parts and then as a whole, stored. It keeps what one step leaves for the
/// next; dropping it ends its way at any step.
///
/// A cell may be split into blocks, which are fetched and worked on like cells, in any order and in parallel. Such a
/// cell is opened first, and is never held or stored.
pub trait Cell: Send + Sync + Sized + 'static {
    /// The error of a step.
    type Error;

    /// The size of its selected elements in bytes.
    fn bytes(&self) -> u64;

    /// The number of blocks; 1 if it is not split.
    fn blocks(&self) -> u64;

    /// Reads what its blocks share: the index of a shard.
    fn open(&mut self) -> impl Future<Output = Result<(), Self::Error>> + Send;

    /// Returns a block, which has what [`open`](Self::open) read.
    fn block(&self, number: u64) -> Self;

    /// Takes its lock, if it needs one.
    fn hold(&mut self) -> impl Future<Output = Result<(), Self::Error>> + Send;

    /// Reads its data, into `scratch` if given (for local stores), otherwise into its own memory. Returns the number of
    /// bytes.
    fn fetch(
        &mut self,
        scratch: Option<&mut Scratch>,
    ) -> impl Future<Output = Result<u64, Self::Error>> + Send;

    /// The number of independent parts of the work, which any thread can do.
    fn parts(&self) -> u64;

    /// Does one part. Never waits.
    ///
    /// # Errors
    /// Those of the work; they end the run.
    fn part(&self, part: u64, scratch: &mut Scratch) -> Result<(), Self::Error>;

    /// Does the rest of the work after all parts: decodes, encodes, copies. Never waits. Returns the number of bytes to
    /// store.
    ///
    /// # Errors
    /// Those of the work; they end the run.
    fn work(&mut self, scratch: &mut Scratch) -> Result<u64, Self::Error>;

    /// Stores it.
    fn store(
        &mut self,
        scratch: Option<&mut Scratch>,
    ) -> impl Future<Output = Result<Attempt, Self::Error>> + Send;
}

/// How an attempt at a cell ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Attempt {
    /// The cell is done.
    Done,
    /// Another writer was faster: start again, after a wait.
    Again,
    /// More must be fetched: start again without a wait.
    AtOnce,
}
