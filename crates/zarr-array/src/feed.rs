//! The one engine behind reads and writes: cell by cell fetch, work, store, with two short feeders that differ only in
//! who polls the store.
//!
//! Futures of *inline* stores do their work while they are polled, so strands on the pool poll them: each fetches and
//! works on one cell after the other. Futures of *remote* stores wait, so they are polled on the caller's task, many at
//! once, and only the work goes to the pool.

mod batch;
mod pump;
mod scratches;
mod strands;

use std::future::Future;
use std::hash::{BuildHasher, RandomState};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use zarr_traits::{MaybeSend, Scratch, Storage, store::Drive};

use crate::cpu::Cpu;
use crate::error::{ArrayError, ArrayErrorKind, ArrayResult};

use batch::Batch;
use pump::pump;
use scratches::Scratches;
use strands::{Strands, strands};

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

/// How often a cell begins again before that is an error.
pub(crate) const ATTEMPTS: u32 = 20;

/// A read or a write, as three steps per cell: fetch, work, store. Work may have parts, which run at once. Whoever holds
/// the last clone of a task gets its result out of it.
pub(crate) trait Task: Send + Sync + 'static {
    /// What the store gave.
    type Found: Send + Sync + 'static;
    /// What the store shall get.
    type Made: Send + 'static;
    /// Whether [`store`](Self::store) asks anything of the store.
    const STORES: bool;

    /// What is held from before the fetch until the cell is stored: a lock, or nothing.
    type Held: MaybeSend;

    fn cells(&self) -> u64;

    /// Whether handing cells to other threads would cost more than it gains.
    fn is_small(&self) -> bool;

    /// Whether the work of a cell may have parts.
    fn shares(&self) -> bool;

    /// How many bytes a fetch is expected to bring.
    fn expected_bytes(&self) -> u64;

    /// The error with the cell that it is about.
    fn locate(&self, cell: u64, error: ArrayError) -> ArrayError;

    /// Waits for what the cell must hold from before the fetch until it is stored.
    fn hold(&self, cell: u64) -> impl Future<Output = ArrayResult<Self::Held>> + MaybeSend;

    /// Reads what the cell needs: into `scratch` where the store is local, into memory of its own otherwise.
    fn fetch(
        &self,
        cell: u64,
        held: &mut Self::Held,
        scratch: Option<&mut Scratch>,
    ) -> impl Future<Output = ArrayResult<Self::Found>> + MaybeSend;

    /// How many bytes were brought.
    fn bytes(found: &Self::Found) -> u64;

    /// How many bytes are to be stored.
    fn made_bytes(made: &Self::Made) -> u64;

    /// How many parts of the work can be done by themselves, on any thread.
    fn parts(found: &Self::Found) -> usize;

    /// Does one of these parts. Never waits.
    fn part(&self, cell: u64, found: &Self::Found, part: usize, scratch: &mut Scratch) -> ArrayResult<()>;

    /// Does what is left once all parts are done: decodes, encodes, copies. Never waits.
    fn work(&self, cell: u64, found: Self::Found, scratch: &mut Scratch) -> ArrayResult<Self::Made>;

    /// Writes what was made.
    fn store(
        &self,
        cell: u64,
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
    let cells = task.cells();
    match (place.storage.capabilities().drive, place.cpu.pool()) {
        _ if cells == 0 => Ok(()),
        (Drive::Remote { .. }, _) => pump(task, place, place.gate.width()).await,
        (Drive::Inline, Some(pool)) if !(place.may_block && task.is_small()) => {
            strands(task, place, pool).await
        }
        (Drive::Inline, _) => {
            let scratches = place.storage.shared::<Scratches>();
            let mut scratch = scratches.take();
            for cell in 0..cells {
                inline(&**task, cell, &mut scratch, None).await?;
            }
            scratches.give(scratch);
            Ok(())
        }
    }
}

/// One cell, all steps where we are; parts of the work with the help of a team, if there is one.
async fn inline<T: Task>(
    task: &T,
    cell: u64,
    scratch: &mut Scratch,
    team: Option<&Arc<Strands<T>>>,
) -> ArrayResult<()> {
    let steps = async {
        for attempt in 0..ATTEMPTS {
            let begun = Instant::now();
            let mut held = task.hold(cell).await?;
            let found = task.fetch(cell, &mut held, Some(scratch)).await?;
            let made = match (T::parts(&found), team) {
                (parts @ 2.., Some(team)) => {
                    let batch = Arc::new(Batch::new(cell, found, parts));
                    team.invite(&batch);
                    batch.finish(task, scratch)?
                }
                (parts, _) => {
                    for part in 0..parts {
                        caught(|| task.part(cell, &found, part, scratch))?;
                    }
                    caught(|| task.work(cell, found, scratch))?
                }
            };
            let stored = task.store(cell, made, Some(scratch)).await?;
            drop(held);
            match stored {
                Stored::Done => return Ok(()),
                Stored::AtOnce => continue,
                Stored::Again => {}
            }
            thread::sleep(back_off(LOCAL, attempt, begun));
        }
        Err(conflict())
    };
    steps.await.map_err(|e| task.locate(cell, e))
}

fn conflict() -> ArrayError {
    ArrayError::new(ArrayErrorKind::Conflict, format!("it was changed by others during {ATTEMPTS} attempts"))
}

/// How long the first wait after a lost race is at most, in a store on this machine and in one behind a network; each
/// further one may be twice as long, up to a hundred times.
const LOCAL: Duration = Duration::from_micros(100);
const REMOTE: Duration = Duration::from_millis(10);

/// A wait of random length after an attempt that began then, so that those who raced do not race again: up to the time that
/// an attempt takes, or more.
fn back_off(first: Duration, attempt: u32, begun: Instant) -> Duration {
    let most = (first * (1 << attempt.min(7)).min(100)).max(begun.elapsed());
    // A fresh hasher is keyed at random.
    let random = RandomState::new().hash_one(attempt) % 1000;
    most * u32::try_from(random).unwrap_or(0) / 1000
}

/// The wait after a lost race about an object of this store.
pub(crate) fn back_off_at(storage: &Storage, attempt: u32, begun: Instant) -> Duration {
    match storage.capabilities().drive {
        Drive::Inline => back_off(LOCAL, attempt, begun),
        Drive::Remote { .. } => back_off(REMOTE, attempt, begun),
    }
}

pub(crate) fn caught<R>(work: impl FnOnce() -> ArrayResult<R>) -> ArrayResult<R> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let why = panic.downcast_ref::<&str>().copied().map(str::to_owned);
        let why = why.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
        Err(ArrayError::new(ArrayErrorKind::Panic, format!("a codec panicked: {why}")))
    })
}

pub(crate) fn gone() -> ArrayError {
    ArrayError::new(ArrayErrorKind::Panic, "the pool of threads has dropped a job: it is shut down")
}
