//! The one engine behind reads and writes: cell by cell fetch, work, store, with two short feeders that differ only in
//! who polls the store.
//!
//! Futures of *inline* stores do their work while they are polled, so strands on the pool poll them: each fetches and
//! works on one cell after the other. Futures of *remote* stores wait, so they are polled on the caller's task, many at
//! once, and only the work goes to the pool.

use std::future::{Future, poll_fn};
use std::hash::{BuildHasher, RandomState};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Poll, Waker};
use std::thread;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use zarr_traits::lock::Gate;
use zarr_traits::{Drive, MaybeSend, Scratch, Storage, block_on};

use crate::cpu::{Cpu, Spawn};
use crate::error::{ArrayError, ArrayErrorKind, ArrayResult};

/// What became of the last step of a cell.
pub(crate) enum Stored {
    /// The cell is done.
    Done,
    /// Someone else was faster: begin again with the fetch.
    Again,
}

/// How often a cell begins again before that is an error.
const ATTEMPTS: u32 = 20;

/// A read or a write, as three steps per cell. Whoever holds the last clone of a task gets its result out of it.
pub(crate) trait Task: Send + Sync + 'static {
    /// What the store gave.
    type Found: Send + 'static;
    /// What the store shall get.
    type Made: Send + 'static;
    /// Whether [`store`](Self::store) asks anything of the store.
    const STORES: bool;

    /// What is held from before the fetch until the cell is stored: a lock, or nothing.
    type Held: MaybeSend;

    fn cells(&self) -> u64;

    /// Whether handing cells to other threads would cost more than it gains.
    fn is_small(&self) -> bool;

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

    /// Decodes, encodes, copies. Never waits.
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
        (Drive::Remote { .. }, _) => pump(task, place, place.storage.gate().width()).await,
        (Drive::Inline, Some(pool)) if !(place.may_block && (cells == 1 || task.is_small())) => {
            strands(task, place, pool).await
        }
        (Drive::Inline, _) => {
            let scratches = place.storage.shared::<Scratches>();
            let mut scratch = scratches.take();
            for cell in 0..cells {
                inline(&**task, cell, &mut scratch).await?;
            }
            scratches.give(scratch);
            Ok(())
        }
    }
}

/// One cell, all steps where we are.
async fn inline<T: Task>(task: &T, cell: u64, scratch: &mut Scratch) -> ArrayResult<()> {
    let steps = async {
        for attempt in 0..ATTEMPTS {
            let mut held = task.hold(cell).await?;
            let found = task.fetch(cell, &mut held, Some(scratch)).await?;
            let made = caught(|| task.work(cell, found, scratch))?;
            if let Stored::Done = task.store(cell, made, Some(scratch)).await? {
                return Ok(());
            }
            drop(held);
            thread::sleep(back_off(LOCAL, attempt));
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

/// A wait of random length, so that those who raced do not race again.
fn back_off(first: Duration, attempt: u32) -> Duration {
    let most = first * (1 << attempt.min(7)).min(100);
    // A fresh hasher is keyed at random.
    let random = RandomState::new().hash_one(attempt) % 1000;
    most * u32::try_from(random).unwrap_or(0) / 1000
}

pub(crate) fn caught<R>(work: impl FnOnce() -> ArrayResult<R>) -> ArrayResult<R> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let why = panic.downcast_ref::<&str>().copied().map(str::to_owned);
        let why = why.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
        Err(ArrayError::new(ArrayErrorKind::Panic, format!("a codec panicked: {why}")))
    })
}

// --- local stores -----------------------------------------------------------------------------------------------------

/// What the strands of one task share.
struct Strands<T> {
    task: Arc<T>,
    next: AtomicU64,
    end: Arc<End>,
    scratches: Arc<Scratches>,
    pool: Arc<dyn Spawn>,
}

/// How strands end: apart from the task, so that the last strand lets go of the task before it says so.
struct End {
    stop: AtomicBool,
    state: Mutex<EndState>,
}

struct EndState {
    running: usize,
    error: Option<ArrayError>,
    waker: Option<Waker>,
}

async fn strands<T: Task>(task: &Arc<T>, place: &Place, pool: &Arc<dyn Spawn>) -> ArrayResult<()> {
    let width = u64::try_from(pool.width().max(1)).unwrap_or(1);
    let count = usize::try_from(width.min(task.cells())).unwrap_or(1);
    let state = Mutex::new(EndState { running: count, error: None, waker: None });
    let end = Arc::new(End { stop: AtomicBool::new(false), state });
    let strands = Arc::new(Strands {
        task: task.clone(),
        next: AtomicU64::new(0),
        end: end.clone(),
        scratches: place.storage.shared::<Scratches>(),
        pool: pool.clone(),
    });
    let ended = StopOnDrop(end);
    for _ in usize::from(place.may_block)..count {
        let strands = strands.clone();
        let turn = Turn(Some(strands));
        pool.spawn(Box::new(move || turn.take()));
    }
    if place.may_block {
        strand(strands, true);
    } else {
        drop(strands);
    }
    poll_fn(|context| {
        let mut state = ended.0.lock();
        if state.running > 0 {
            state.waker = Some(context.waker().clone());
            return Poll::Pending;
        }
        Poll::Ready(state.error.take().map_or(Ok(()), Err))
    })
    .await
}

/// A strand that waits in the queue of a pool. A pool that drops it instead of running it ends the task with an error.
struct Turn<T: Task>(Option<Arc<Strands<T>>>);

impl<T: Task> Turn<T> {
    fn take(mut self) {
        if let Some(strands) = self.0.take() {
            strand(strands, false);
        }
    }
}

impl<T: Task> Drop for Turn<T> {
    fn drop(&mut self) {
        if let Some(strands) = self.0.take() {
            let end = strands.end.clone();
            drop(strands);
            end.fail(gone());
            end.leave();
        }
    }
}

pub(crate) fn gone() -> ArrayError {
    ArrayError::new(ArrayErrorKind::Panic, "the pool of threads has dropped a job: it is shut down")
}

/// Takes cell after cell. On a worker it steps back to the tail of the queue while others wait, so that a small read
/// beside a large one waits for one chunk and not for all.
fn strand<T: Task>(strands: Arc<Strands<T>>, on_caller: bool) {
    let mut scratch = strands.scratches.take();
    let end = strands.end.clone();
    let cells = strands.task.cells();
    loop {
        if end.stop.load(Ordering::Relaxed) {
            break;
        }
        let cell = strands.next.fetch_add(1, Ordering::Relaxed);
        if cell >= cells {
            break;
        }
        let done = catch_unwind(AssertUnwindSafe(|| block_on(inline(&*strands.task, cell, &mut scratch))));
        match done.unwrap_or_else(|_| Err(ArrayError::new(ArrayErrorKind::Panic, "a store panicked"))) {
            Ok(()) if !on_caller && strands.pool.is_busy() => {
                strands.scratches.give(scratch);
                let pool = strands.pool.clone();
                let turn = Turn(Some(strands));
                return pool.spawn(Box::new(move || turn.take()));
            }
            Ok(()) => {}
            Err(e) => end.fail(e),
        }
    }
    strands.scratches.give(scratch);
    drop(strands);
    end.leave();
}

impl End {
    fn lock(&self) -> std::sync::MutexGuard<'_, EndState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The first error is the one that is reported; nobody begins another cell.
    fn fail(&self, error: ArrayError) {
        self.stop.store(true, Ordering::Relaxed);
        self.lock().error.get_or_insert(error);
    }

    fn leave(&self) {
        let mut state = self.lock();
        state.running -= 1;
        let waker = if state.running == 0 { state.waker.take() } else { None };
        drop(state);
        waker.into_iter().for_each(Waker::wake);
    }
}

/// A read that is dropped half-way ends with the cells that its strands are at.
struct StopOnDrop(Arc<End>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.stop.store(true, Ordering::Relaxed);
    }
}

// --- remote stores ----------------------------------------------------------------------------------------------------

async fn pump<T: Task>(task: &Arc<T>, place: &Place, in_flight: usize) -> ArrayResult<()> {
    let width = place.cpu.pool().map_or(1, |pool| pool.width().max(1));
    // Of what has arrived, no more than this waits in the queue of the pool: others want to be served as well.
    let queued = Gate::new(2 * width, u64::MAX);
    let most = in_flight.saturating_add(2 * width);
    let mut flying = FuturesUnordered::new();
    let mut next = 0;
    loop {
        while next < task.cells() && flying.len() < most {
            flying.push(remote(task.clone(), next, place.clone(), queued.clone()));
            next += 1;
        }
        match flying.next().await {
            None => return Ok(()),
            Some(done) => done?,
        }
    }
}

/// One cell: the store is polled here, the work is done on the pool.
async fn remote<T: Task>(task: Arc<T>, cell: u64, place: Place, queued: Gate) -> ArrayResult<()> {
    let steps = async {
        let gate = place.storage.gate();
        for attempt in 0..ATTEMPTS {
            // Locks come before the gate: whoever is inside must not wait for someone who is not.
            let mut held = task.hold(cell).await?;
            let mut permit = gate.enter(task.expected_bytes()).await;
            let found = task.fetch(cell, &mut held, None).await?;
            permit.landed(T::bytes(&found));
            let turn = queued.enter(0).await;
            let (worker, scratches) = (task.clone(), place.storage.shared::<Scratches>());
            let work = move || {
                let mut scratch = scratches.take();
                let made = caught(|| worker.work(cell, found, &mut scratch));
                scratches.give(scratch);
                // before anybody is told: the task must be let go of by then
                drop(worker);
                made
            };
            let made = place.cpu.run(work).await??;
            drop((turn, permit));
            let permit = if T::STORES { Some(gate.enter(task.expected_bytes()).await) } else { None };
            if let Stored::Done = task.store(cell, made, None).await? {
                return Ok(());
            }
            drop((permit, held));
            let wait = back_off(REMOTE, attempt);
            place.cpu.run(move || thread::sleep(wait)).await?;
        }
        Err(conflict())
    };
    steps.await.map_err(|e| task.locate(cell, e))
}

// --- scratch ----------------------------------------------------------------------------------------------------------

/// The scratch memory that nobody uses at the moment.
#[derive(Default)]
pub(crate) struct Scratches(Mutex<Vec<Scratch>>);

/// How many are kept.
const KEPT: usize = 64;

impl Scratches {
    pub(crate) fn take(&self) -> Scratch {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    pub(crate) fn give(&self, scratch: Scratch) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < KEPT {
            kept.push(scratch);
        }
    }
}
