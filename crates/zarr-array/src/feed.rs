//! The one engine behind reads and writes: cell by cell fetch, work, store, with two short feeders that differ only in
//! who polls the store.
//!
//! Futures of *inline* stores do their work while they are polled, so threads of the pool poll them: each fetches and
//! works on one cell after the other. Futures of *remote* stores wait, so they are polled on the caller's task, many at
//! once, and only the work goes to the pool. A caller that may block takes part in all work.

mod batch;
mod crew;
mod local;
mod remote;
mod scratches;

use std::future::Future;
use std::hash::{BuildHasher, RandomState};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_timer::Delay;
use futures_util::{StreamExt, TryStreamExt, stream};
use zarr_engine::Permit;
use zarr_traits::{MaybeSend, Scratch, Storage, store::Drive};

use crate::cpu::Cpu;
use crate::error::{ArrayError, ArrayErrorKind, ArrayResult};
use crate::plan::{Cell, Plan};

use crew::Crew;
use local::local;
use remote::remote;
use scratches::Scratches;

/// What became of the last step of a cell.
pub(crate) enum Stored {
    /// The cell is done.
    Done,
    /// Someone else was faster: begin again with the fetch, after a while.
    Again,
    /// It turns out that more has to be fetched: begin again.
    AtOnce,
}

/// Decoded bytes below which other threads are not worth waking.
pub(crate) const SMALL: u64 = 256 << 10;

/// Decoded bytes of inner chunks that one thread works on at once, at least.
pub(crate) const PART: u64 = 64 << 10;

/// Bytes of a cell of a local store up to which nobody waits for room for them: each thread may hold as many.
const UNCOUNTED: u64 = 1 << 20;

/// How often a cell begins again before that is an error.
pub(crate) const ATTEMPTS: u32 = 20;

/// A read or a write, as three steps per cell: fetch, work, store. Work may have parts, which run at once. Whoever
/// holds the last clone of a task gets its result out of it.
///
/// A cell may be taken apart into blocks, which are fetched and worked on like cells, in any order and at once. Such a
/// cell is opened first, and nothing is stored of it.
pub(crate) trait Task: Send + Sync + 'static {
    /// What the store gave.
    type Found: Send + Sync + 'static;
    /// What the store shall get.
    type Made: Send + 'static;
    /// Whether [`store`](Self::store) asks anything of the store.
    const STORES: bool;

    /// What is held from before the fetch until the cell is stored: a lock, or nothing.
    type Held: Send + Sync + 'static;

    /// What the blocks of a cell share: the index of a shard.
    type Opened: Send + Sync + 'static;

    fn plan(&self) -> &Plan;

    /// Whether handing cells to other threads would cost more than it gains.
    fn is_small(&self) -> bool;

    /// Whether the work of a cell may have parts.
    fn shares(&self) -> bool;

    /// How many bytes a fetch is expected to bring.
    fn expected_bytes(&self) -> u64;

    /// The error with the cell that it is about.
    fn locate(&self, cell: &Cell, error: ArrayError) -> ArrayError;

    /// Waits for what the cell must hold from before the fetch until it is stored.
    fn hold(&self, cell: &Cell) -> impl Future<Output = ArrayResult<Self::Held>> + MaybeSend;

    /// The number of blocks that a cell is taken apart into; 1: it is not.
    fn blocks(&self, cell: &Cell) -> u64;

    /// Reads what the blocks of a cell share.
    fn open(&self, cell: &Cell) -> impl Future<Output = ArrayResult<Self::Opened>> + MaybeSend;

    /// Reads what the cell needs: into `scratch` where the store is local, into memory of its own otherwise.
    fn fetch(
        &self,
        cell: &Cell,
        held: &Self::Held,
        opened: Option<&Self::Opened>,
        scratch: Option<&mut Scratch>,
    ) -> impl Future<Output = ArrayResult<Self::Found>> + MaybeSend;

    /// How many bytes were brought.
    fn bytes(found: &Self::Found) -> u64;

    /// How many bytes are to be stored.
    fn made_bytes(made: &Self::Made) -> u64;

    /// How many parts of the work can be done by themselves, on any thread.
    fn parts(found: &Self::Found) -> u64;

    /// Does one of these parts. Never waits.
    fn part(&self, cell: &Cell, found: &Self::Found, part: u64, scratch: &mut Scratch) -> ArrayResult<()>;

    /// Does what is left once all parts are done: decodes, encodes, copies. Never waits.
    fn work(&self, cell: &Cell, found: Self::Found, scratch: &mut Scratch) -> ArrayResult<Self::Made>;

    /// Writes what was made.
    fn store(
        &self,
        cell: &Cell,
        made: Self::Made,
        scratch: Option<&mut Scratch>,
    ) -> impl Future<Output = ArrayResult<Stored>> + MaybeSend;
}

/// Where a task runs.
#[derive(Clone)]
pub(crate) struct Place {
    pub(crate) storage: Storage,
    pub(crate) gate: zarr_engine::Gate,
    pub(crate) cpu: Cpu,
    /// Whether the calling thread may do the work itself: true for blocking callers.
    pub(crate) may_block: bool,
}

/// Runs every cell of `task`. When this is done, and not before, no other clone of `task` is left, unless an error or a
/// drop ended it early.
pub(crate) async fn run<T: Task>(task: &Arc<T>, place: &Place) -> ArrayResult<()> {
    match (place.storage.capabilities().drive, place.cpu.pool()) {
        _ if task.plan().cells() == 0 => Ok(()),
        (Drive::Remote { .. }, _) => remote(task, place).await,
        (Drive::Inline, Some(_)) if !(place.may_block && task.is_small()) => local(task, place).await,
        (Drive::Inline, _) => alone(task, place).await,
    }
}

/// One cell after the other, all on the task of the caller.
async fn alone<T: Task>(task: &Arc<T>, place: &Place) -> ArrayResult<()> {
    let scratches = &place.storage.shared::<Scratches>();
    for number in 0..task.plan().cells() {
        let cell = &task.plan().cell(number);
        let once = || async move {
            let _permit = if is_large(&**task, place) { Some(enter(&**task, place).await) } else { None };
            let mut scratch = scratches.take();
            let stored = attempt(task, cell, &mut scratch, None).await;
            scratches.give(scratch);
            stored
        };
        persist(LOCAL, once).await.map_err(|e| task.locate(cell, e))?;
    }
    Ok(())
}

/// Whether the cells of a local store are so large that only as many are open at once as there is room for. Only cells
/// that threads can share are: else threads would be idle.
fn is_large<T: Task>(task: &T, place: &Place) -> bool {
    let threads = place.cpu.pool().map_or(1, |pool| pool.width() as u64 + 1);
    let share = place.gate.most_bytes() / threads;
    task.shares() && task.expected_bytes() > share.min(UNCOUNTED)
}

/// Waits until there is room for the bytes of a cell.
async fn enter<T: Task>(task: &T, place: &Place) -> Permit {
    place.gate.enter(task.expected_bytes()).await
}

/// Cells that are open at once while they are read in blocks, at most: each holds the index of a shard.
const OPEN: usize = 4;

/// One attempt at a cell of a local store, all steps where we are; parts of the work with the help of a crew, if there
/// is one.
async fn attempt<T: Task>(
    task: &Arc<T>,
    cell: &Cell,
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
        let cell = task.plan().block(cell, number);
        block(task, &cell, &held, Some(&opened), scratch, crew).await?;
    }
    Ok(Stored::Done)
}

/// Fetches a cell, or a block of one, and works on it.
async fn block<T: Task>(
    task: &Arc<T>,
    cell: &Cell,
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
            // The parts are over, and let go of what was found.
            found = Arc::into_inner(shared).ok_or_else(gone)?;
        }
        None => (0..parts).try_for_each(|part| caught(|| task.part(cell, &found, part, scratch)))?,
    }
    caught(|| task.work(cell, found, scratch))
}

/// Runs a future for each of some things, `most` at once. The first error ends it.
pub(crate) async fn each<T, F: Future<Output = ArrayResult<()>>>(
    things: impl IntoIterator<Item = T>,
    most: usize,
    one: impl FnMut(T) -> F,
) -> ArrayResult<()> {
    stream::iter(things).map(Ok).try_for_each_concurrent(most, one).await
}

/// Makes attempts at a cell until it is done, and waits after a lost race: on a timer, which takes no thread.
async fn persist<F: Future<Output = ArrayResult<Stored>>>(
    first: Duration,
    mut once: impl FnMut() -> F,
) -> ArrayResult<()> {
    let mut begun = None;
    for attempt in 0..ATTEMPTS {
        match once().await? {
            Stored::Done => return Ok(()),
            Stored::AtOnce => continue,
            Stored::Again => {}
        }
        Delay::new(back_off(first, attempt, begun)).await;
        begun = Some(Instant::now());
    }
    Err(ArrayError::new(
        ArrayErrorKind::Conflict,
        format!("it was changed by others during {ATTEMPTS} attempts"),
    ))
}

/// How long the first wait after a lost race is at most, in a store on this machine and in one behind a network; each
/// further one may be twice as long, up to a hundred times.
const LOCAL: Duration = Duration::from_micros(100);
const REMOTE: Duration = Duration::from_millis(10);

/// How long any wait is at most.
const LONGEST: Duration = Duration::from_secs(5);

/// A wait of random length after an attempt that lost a race, so that those who raced do not race again: up to the time
/// that the attempt took, or more. `begun` is when it began, of a second attempt or a later one: the clock is read only
/// once somebody else was faster.
fn back_off(first: Duration, attempt: u32, begun: Option<Instant>) -> Duration {
    let took = begun.map_or(Duration::ZERO, |begun| begun.elapsed());
    let most = (first * (1 << attempt.min(7)).min(100)).max(took).min(LONGEST);
    // A fresh hasher is keyed at random.
    let random = RandomState::new().hash_one(attempt) % 1000;
    most * u32::try_from(random).unwrap_or(0) / 1000
}

/// Waits after a lost race about an object of this store.
pub(crate) async fn wait(storage: &Storage, attempt: u32, begun: Option<Instant>) {
    let first = match storage.capabilities().drive {
        Drive::Inline => LOCAL,
        Drive::Remote { .. } => REMOTE,
    };
    Delay::new(back_off(first, attempt, begun)).await;
}

/// Runs the work of codecs, and turns a panic into an error.
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
    ArrayError::new(ArrayErrorKind::Panic, "the pool of threads has dropped a job: it is shut down")
}
