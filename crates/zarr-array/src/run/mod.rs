//! The engine of reads and writes. Each cell is fetched, worked on and stored. Two feeders differ only in where the
//! store is polled.
//!
//! Futures of *inline* stores do their work while they are polled, so threads of the pool poll them: each fetches and
//! works on one cell after the other. Futures of *remote* stores wait, so the caller's task polls many at once, and
//! only the work goes to the pool. A caller that may block takes part in all work.

pub(crate) mod back_off;
mod batch;
pub(crate) mod cpu;
mod crew;
mod local;
mod poison;
pub(crate) mod progress;
mod remote;
mod scratches;
mod spans;

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};

use futures_util::{StreamExt, TryStreamExt, stream};
use zarr_engine::Permit;
use zarr_traits::{Scratch, Storage, store::Drive};

use crate::error::{ArrayError, ArrayErrorKind, ArrayResult};
use crate::run::back_off::{ATTEMPTS, BackOff};
use crate::run::cpu::Cpu;
use crate::run::progress::{Amount, Progress};

use crew::Crew;
use local::local;
pub(crate) use poison::unpoisoned;
use remote::remote;
pub(crate) use scratches::Scratches;

/// The result of the last step of a cell.
pub(crate) enum Stored {
    /// The cell is done.
    Done,
    /// Another writer was faster: start again with the fetch, after a wait.
    Again,
    /// More must be fetched: start again without a wait.
    AtOnce,
}

/// Work on fewer decoded bytes than this is not worth waking other threads.
pub(crate) const SMALL: u64 = 256 << 10;

/// The least number of decoded bytes of inner chunks in a part, which one thread works on.
pub(crate) const PART: u64 = 64 << 10;

/// Cells of a local store up to this size in bytes do not wait for room. Each thread may hold one.
pub(crate) const UNCOUNTED: u64 = 1 << 20;

/// A read or a write, as three steps per cell: fetch, work, store. Work may have parts, which run in parallel. The
/// holder of the last clone of a task takes the result out of it.
///
/// A cell may be split into blocks, which are fetched and worked on like cells, in any order and in parallel. Such a
/// cell is opened first, and is never stored.
pub(crate) trait Task: Send + Sync + 'static {
    /// A cell, or a block of one.
    type Cell: Clone + Send + Sync + 'static;
    /// The fetched data of a cell.
    type Found: Send + Sync + 'static;
    /// The data of a cell to store.
    type Made: Send + 'static;
    /// Whether [`store`](Self::store) makes requests.
    const STORES: bool;

    /// A lock or nothing, held from before the fetch until the cell is stored.
    type Held: Send + Sync + 'static;

    /// The shared state of the blocks of a cell: the index of a shard.
    type Opened: Send + Sync + 'static;

    /// The number of cells.
    fn cells(&self) -> u64;

    /// Returns the cell with this number.
    fn cell(&self, number: u64) -> Self::Cell;

    /// The size of the selected elements of a cell, or of all cells, in bytes.
    fn bytes_of(&self, cell: Option<&Self::Cell>) -> u64;

    /// Whether handing cells to other threads would cost more than it gains.
    fn is_small(&self) -> bool;

    /// Whether the work of a cell may have parts.
    fn shares(&self) -> bool;

    /// The expected size of a fetch in bytes.
    fn expected_bytes(&self) -> u64;

    /// Adds the cell to an error.
    fn locate(&self, cell: &Self::Cell, error: ArrayError) -> ArrayError;

    /// Takes the lock of the cell, if it needs one.
    fn hold(&self, cell: &Self::Cell) -> impl Future<Output = ArrayResult<Self::Held>> + Send;

    /// The number of blocks of a cell; 1 if it is not split.
    fn blocks(&self, cell: &Self::Cell) -> u64;

    /// Returns a block of a cell.
    fn block(&self, cell: &Self::Cell, number: u64) -> Self::Cell;

    /// Reads the shared state of the blocks of a cell.
    fn open(&self, cell: &Self::Cell) -> impl Future<Output = ArrayResult<Self::Opened>> + Send;

    /// Reads the data of the cell, into `scratch` if given (for local stores), otherwise into its own memory.
    fn fetch(
        &self,
        cell: &Self::Cell,
        held: &Self::Held,
        opened: Option<&Self::Opened>,
        scratch: Option<&mut Scratch>,
    ) -> impl Future<Output = ArrayResult<Self::Found>> + Send;

    /// The size of the fetched data in bytes.
    fn bytes(found: &Self::Found) -> u64;

    /// The size of the data to store in bytes.
    fn made_bytes(made: &Self::Made) -> u64;

    /// The number of independent parts of the work, which any thread can do.
    fn parts(found: &Self::Found) -> u64;

    /// Does one part. Never waits.
    fn part(
        &self,
        cell: &Self::Cell,
        found: &Self::Found,
        part: u64,
        scratch: &mut Scratch,
    ) -> ArrayResult<()>;

    /// Does the rest of the work after all parts: decodes, encodes, copies. Never waits.
    fn work(&self, cell: &Self::Cell, found: Self::Found, scratch: &mut Scratch) -> ArrayResult<Self::Made>;

    /// Stores the cell.
    fn store(
        &self,
        cell: &Self::Cell,
        made: Self::Made,
        scratch: Option<&mut Scratch>,
    ) -> impl Future<Output = ArrayResult<Stored>> + Send;
}

/// The place where a task runs.
#[derive(Clone)]
pub(crate) struct Place {
    pub(crate) storage: Storage,
    pub(crate) gate: zarr_engine::Gate,
    pub(crate) cpu: Cpu,
    /// Counts what is done, and can cancel.
    pub(crate) progress: Option<Progress>,
    /// Whether the calling thread may do work: true for blocking callers.
    pub(crate) may_block: bool,
}

impl Place {
    /// Fails if the call is cancelled.
    fn check(&self) -> ArrayResult<()> {
        self.progress.as_ref().map_or(Ok(()), Progress::check)
    }

    /// Counts a cell that is done.
    fn count<T: Task>(&self, task: &T, cell: &T::Cell) {
        if let Some(progress) = &self.progress {
            progress.add(Amount { chunks: 1, bytes: task.bytes_of(Some(cell)) });
        }
    }
}

/// Runs every cell of `task`. At the end no other clone of `task` is left, unless an error or a drop ended it early.
pub(crate) async fn run<T: Task>(task: &Arc<T>, place: &Place) -> ArrayResult<()> {
    if let Some(progress) = &place.progress {
        progress.expect(Amount { chunks: task.cells(), bytes: task.bytes_of(None) });
    }
    match (place.storage.capabilities().drive, place.cpu.pool()) {
        _ if task.cells() == 0 => Ok(()),
        (Drive::Remote { .. }, _) => remote(task, place).await,
        (Drive::Inline, Some(_)) if !(place.may_block && task.is_small()) => local(task, place).await,
        (Drive::Inline, _) => alone(task, place).await,
    }
}

/// Returns the results of `work` for the numbers below `count`, in their order. The threads of the storage share the
/// calls, and the caller does those that no thread has started. For local stores, whose futures do their work while they
/// are polled: `work` may run them with [`block_on`](crate::block_on), and must not wait for another thread.
///
/// # Errors
/// Of kind [`Panic`](ArrayErrorKind::Panic) if a call panics.
pub async fn on_threads<R: Send + Sync + 'static>(
    storage: &Storage,
    count: usize,
    work: impl Fn(usize) -> R + Send + Sync + 'static,
) -> ArrayResult<Vec<R>> {
    let crew = Crew::with_caller(storage);
    let results: Arc<Vec<OnceLock<R>>> = Arc::new((0..count).map(|_| OnceLock::new()).collect());
    let inside = results.clone();
    let shared = crew.open(count as u64, move |number, _| {
        let number = usize::try_from(number).map_err(|_| gone())?;
        // Each part is done once.
        let _ = inside.get(number).ok_or_else(gone)?.set(work(number));
        Ok(())
    });
    crew.drive(shared.over()).await?;
    // All parts are done and have dropped their clones.
    let results = Arc::into_inner(results).ok_or_else(gone)?;
    results.into_iter().map(|result| result.into_inner().ok_or_else(gone)).collect()
}

/// Runs one cell after the other on the task of the caller.
async fn alone<T: Task>(task: &Arc<T>, place: &Place) -> ArrayResult<()> {
    let scratches = &place.storage.shared::<Scratches>();
    for number in 0..task.cells() {
        place.check()?;
        let cell = &task.cell(number);
        let once = || async move {
            let _permit = if is_large(&**task, place) { Some(enter(&**task, place).await) } else { None };
            let mut scratch = scratches.take();
            let stored = attempt(task, cell, &mut scratch, None).await;
            scratches.give(scratch);
            stored
        };
        persist(&place.storage, once).await.map_err(|e| task.locate(cell, e))?;
        place.count(&**task, cell);
    }
    Ok(())
}

/// Whether the cells of a local store are so large that they must wait for room in memory. Only cells that several
/// threads can share are large; with others, waiting would leave threads idle.
fn is_large<T: Task>(task: &T, place: &Place) -> bool {
    let threads = place.cpu.pool().map_or(1, |pool| pool.width() as u64 + 1);
    let share = place.gate.most_bytes() / threads;
    task.shares() && task.expected_bytes() > share.min(UNCOUNTED)
}

/// Waits for room for the bytes of a cell.
async fn enter<T: Task>(task: &T, place: &Place) -> Permit {
    place.gate.enter(task.expected_bytes()).await
}

/// The largest number of cells that are read in blocks at once. Each holds the index of a shard.
const OPEN: usize = 4;

/// Makes one attempt at a cell of a local store, all steps on this thread. If there is a crew, it helps with parts of
/// the work.
async fn attempt<T: Task>(
    task: &Arc<T>,
    cell: &T::Cell,
    scratch: &mut Scratch,
    crew: Option<&Arc<Crew>>,
) -> ArrayResult<Stored> {
    let held = task.hold(cell).await?;
    let blocks = task.blocks(cell);
    if blocks == 1 {
        let made = block(task, cell, &held, None, scratch, crew).await?;
        return task.store(cell, made, Some(scratch)).await;
    }
    let opened = task.open(cell).await?;
    for number in 0..blocks {
        let cell = task.block(cell, number);
        block(task, &cell, &held, Some(&opened), scratch, crew).await?;
    }
    Ok(Stored::Done)
}

/// Fetches a cell or a block, and works on it.
async fn block<T: Task>(
    task: &Arc<T>,
    cell: &T::Cell,
    held: &T::Held,
    opened: Option<&T::Opened>,
    scratch: &mut Scratch,
    crew: Option<&Arc<Crew>>,
) -> ArrayResult<T::Made> {
    let mut found = task.fetch(cell, held, opened, Some(scratch)).await?;
    let parts = T::parts(&found);
    match crew.filter(|_| parts > 1) {
        Some(crew) => {
            let shared = Arc::new(found);
            let (task, cell, inside) = (task.clone(), cell.clone(), shared.clone());
            let work = move |part, scratch: &mut _| task.part(&cell, &inside, part, scratch);
            crew.share(parts, scratch, work)?;
            // All parts are done and have dropped their clones.
            found = Arc::into_inner(shared).ok_or_else(gone)?;
        }
        None => (0..parts).try_for_each(|part| caught(|| task.part(cell, &found, part, scratch)))?,
    }
    caught(|| task.work(cell, found, scratch))
}

/// Runs a future for each of `things`, at most `most` at once. The first error ends it.
pub(crate) async fn each<T, F: Future<Output = ArrayResult<()>>>(
    things: impl IntoIterator<Item = T>,
    most: usize,
    one: impl FnMut(T) -> F,
) -> ArrayResult<()> {
    stream::iter(things).map(Ok).try_for_each_concurrent(most, one).await
}

/// Repeats attempts at a cell until it is done.
async fn persist<F: Future<Output = ArrayResult<Stored>>>(
    storage: &Storage,
    mut once: impl FnMut() -> F,
) -> ArrayResult<()> {
    let mut back_off = BackOff::new(storage);
    for _ in 0..ATTEMPTS {
        match once().await? {
            Stored::Done => return Ok(()),
            Stored::AtOnce => continue,
            Stored::Again => {}
        }
        back_off.wait().await;
    }
    Err(ArrayError::new(
        ArrayErrorKind::Conflict,
        format!("other writers changed it during each of {ATTEMPTS} attempts"),
    ))
}

/// Runs the work of codecs and turns a panic into an error.
pub(crate) fn caught<R>(work: impl FnOnce() -> ArrayResult<R>) -> ArrayResult<R> {
    caught_in("a codec", work)
}

fn caught_in<R>(who: &str, work: impl FnOnce() -> ArrayResult<R>) -> ArrayResult<R> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let why = panic.downcast_ref::<&str>().copied().map(str::to_owned);
        let why = why.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
        Err(ArrayError::new(ArrayErrorKind::Panic, format!("{who} panicked: {why}")))
    })
}

pub(crate) fn gone() -> ArrayError {
    ArrayError::new(ArrayErrorKind::Panic, "the thread pool dropped a job because it is shut down")
}
