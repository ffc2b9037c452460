//! The threads that work on one read or write: turns on a pool, and the caller if it may block.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

use zarr_traits::lock::unpoisoned;
use zarr_traits::{Scratch, Storage, block_on, store::Drive};

use super::batch::{Batch, Shared, Work};
use super::look::look;
use super::place::Place;
use super::scratches::Scratches;
use super::spawn::Spawn;
use super::stop::Stop;

/// The shared state of the threads of one read or write.
pub(super) struct Crew<E> {
    pool: Option<Arc<dyn Spawn>>,
    pub(super) scratches: Arc<Scratches>,
    /// Whether the caller works as well: always if it may block or there is no pool.
    is_caller_in: bool,
    may_block: bool,
    /// Whether the future that the caller waits for is work of the other threads alone.
    is_local: bool,
    /// The number of batches opened so far.
    opened: AtomicU64,
    state: Mutex<State<E>>,
}

struct State<E> {
    /// The open batches. The last one is worked on first: it is part of the work of another, or came later.
    batches: Vec<Arc<Batch<E>>>,
    /// The number of turns in the queue of the pool or at work.
    turns: u64,
    /// The caller, if it may work but has nothing to do.
    idle: Option<Waker>,
}

impl<E: From<Stop> + Send + 'static> Crew<E> {
    pub(super) fn new(place: &Place) -> Arc<Self> {
        let is_caller_in = place.may_block || place.pool.is_none();
        Self::of(&place.storage, place.pool.clone(), is_caller_in, place.may_block)
    }

    /// Returns a crew whose caller works as well, one part at a time, so it needs no free worker.
    pub(super) fn with_caller(storage: &Storage, pool: Option<Arc<dyn Spawn>>) -> Arc<Self> {
        Self::of(storage, pool, true, false)
    }

    fn of(storage: &Storage, pool: Option<Arc<dyn Spawn>>, is_caller_in: bool, may_block: bool) -> Arc<Self> {
        Arc::new(Self {
            pool,
            scratches: Scratches::of(storage),
            is_caller_in,
            may_block,
            is_local: matches!(storage.capabilities().drive, Drive::Inline),
            opened: AtomicU64::new(0),
            state: Mutex::new(State { batches: Vec::new(), turns: 0, idle: None }),
        })
    }

    /// The number of workers without the caller.
    pub(super) fn width(&self) -> usize {
        self.pool.as_ref().map_or(1, |pool| pool.width().max(1))
    }

    /// Opens a batch to all threads, and asks the pool for as many turns as the work needs.
    pub(super) fn open(
        self: &Arc<Self>,
        parts: u64,
        work: impl Fn(u64, &mut Scratch) -> Result<(), E> + Send + Sync + 'static,
    ) -> Shared<E> {
        let work: Arc<Work<E>> = Arc::new(work);
        let shared = Shared(Arc::new(Batch::new(parts, work)));
        let mut state = unpoisoned(self.state.lock());
        state.batches.retain(|batch| batch.open_parts() > 0);
        state.batches.push(shared.0.clone());
        let open = state.batches.iter().fold(0, |sum: u64, batch| sum.saturating_add(batch.open_parts()));
        let most = self.pool.as_ref().map_or(0, |pool| pool.width() as u64).min(open);
        let more = most.saturating_sub(state.turns + u64::from(self.is_caller_in));
        state.turns += more;
        let idle = state.idle.take();
        drop(state);
        self.opened.fetch_add(1, Ordering::Relaxed);
        idle.into_iter().for_each(Waker::wake);
        for _ in 0..more {
            Turn(Some(self.clone())).spawn();
        }
        shared
    }

    /// Does all parts of some work with the help of other threads, and waits for them. For a thread of the crew.
    pub(super) fn share(
        self: &Arc<Self>,
        parts: u64,
        scratch: &mut Scratch,
        work: impl Fn(u64, &mut Scratch) -> Result<(), E> + Send + Sync + 'static,
    ) -> Result<(), E> {
        let shared = self.open(parts, work);
        shared.0.help(scratch, || false);
        block_on(shared.over())
    }

    /// Runs `work` on one of the threads.
    pub(super) async fn run<R: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&mut Scratch) -> Result<R, E> + Send + 'static,
    ) -> Result<R, E> {
        let (work, made) = (Mutex::new(Some(work)), Arc::new(Mutex::new(None)));
        let inside = made.clone();
        let shared = self.open(1, move |_, scratch| {
            let work = unpoisoned(work.lock()).take().ok_or(Stop::Dropped)?;
            let result = work(scratch)?;
            *unpoisoned(inside.lock()) = Some(result);
            Ok(())
        });
        shared.over().await?;
        let made = unpoisoned(made.lock()).take();
        made.ok_or_else(|| Stop::Dropped.into())
    }

    /// Waits for `future`. A caller that may work does so while the future is pending.
    pub(super) async fn drive<F: Future>(&self, future: F) -> F::Output {
        let mut future = pin!(future);
        poll_fn(|context| {
            if !self.is_caller_in {
                return future.as_mut().poll(context);
            }
            loop {
                let caller =
                    Arc::new(Caller { waker: context.waker().clone(), is_woken: AtomicBool::new(false) });
                let output = future.as_mut().poll(&mut Context::from_waker(&caller.clone().into()));
                if output.is_ready() {
                    return output;
                }
                self.work(&caller);
                // Work may park this thread to wait for others, and so consume a wake that was meant for this future.
                if !(self.may_block && (caller.is_woken() || self.is_local && look(|| caller.is_woken()))) {
                    return Poll::Pending;
                }
            }
        })
        .await
    }

    /// Lets the caller work on open batches until it is woken. If none is open, the next batch wakes it. A caller that
    /// must not block does one part at a time.
    fn work(&self, caller: &Caller) {
        let Some(mut batch) = self.batch_or_idle(caller) else { return };
        let mut scratch = self.scratches.take();
        loop {
            let opened = self.opened.load(Ordering::Relaxed);
            let has_changed = || caller.is_woken() || self.opened.load(Ordering::Relaxed) != opened;
            batch.help(&mut scratch, || !self.may_block || has_changed());
            if !self.may_block {
                caller.waker.wake_by_ref();
                break;
            }
            match self.batch_or_idle(caller).filter(|_| !caller.is_woken()) {
                Some(next) => batch = next,
                None => break,
            }
        }
        self.scratches.give(scratch);
    }

    fn batch_or_idle(&self, caller: &Caller) -> Option<Arc<Batch<E>>> {
        let mut state = unpoisoned(self.state.lock());
        let batch = state.batch();
        if batch.is_none() {
            state.idle = Some(caller.waker.clone());
        }
        batch
    }
}

/// The waker of a caller that works. It records whether the awaited future can go on.
struct Caller {
    waker: Waker,
    is_woken: AtomicBool,
}

impl Caller {
    fn is_woken(&self) -> bool {
        self.is_woken.load(Ordering::Relaxed)
    }
}

impl Wake for Caller {
    fn wake(self: Arc<Self>) {
        self.is_woken.store(true, Ordering::Relaxed);
        self.waker.wake_by_ref();
    }
}

impl<E: From<Stop>> State<E> {
    /// Returns the batch to work on.
    fn batch(&mut self) -> Option<Arc<Batch<E>>> {
        while self.batches.last().is_some_and(|batch| batch.open_parts() == 0) {
            self.batches.pop();
        }
        self.batches.last().cloned()
    }
}

/// A turn on the pool, in its queue or at work. It refers to work only during a part, so no read or write waits for a
/// turn that has not started.
struct Turn<E: From<Stop> + Send + 'static>(Option<Arc<Crew<E>>>);

impl<E: From<Stop> + Send + 'static> Turn<E> {
    fn spawn(self) {
        let pool = self.0.as_ref().and_then(|crew| crew.pool.clone());
        if let Some(pool) = pool {
            pool.spawn(Box::new(move || self.run()));
        }
    }

    /// Works until no batch is open. While other jobs wait for a worker, it goes to the end of the queue after each
    /// part, so that a small read beside a large one waits for one chunk and not for all.
    fn run(mut self) {
        let Some(crew) = self.0.clone() else { return };
        let is_busy = || crew.pool.as_ref().is_some_and(|pool| pool.is_busy());
        let (mut scratch, mut is_first) = (crew.scratches.take(), true);
        while let Some(batch) = self.next() {
            if !std::mem::take(&mut is_first) && is_busy() {
                crew.scratches.give(scratch);
                return self.spawn();
            }
            let opened = crew.opened.load(Ordering::Relaxed);
            batch.help(&mut scratch, || is_busy() || crew.opened.load(Ordering::Relaxed) != opened);
        }
        crew.scratches.give(scratch);
    }

    /// Returns the batch to work on. Without one the turn ends; a later batch asks for another turn.
    fn next(&mut self) -> Option<Arc<Batch<E>>> {
        let crew = self.0.as_ref()?;
        let mut state = unpoisoned(crew.state.lock());
        let batch = state.batch();
        if batch.is_none() {
            state.turns -= 1;
            drop(state);
            self.0 = None;
        }
        batch
    }
}

impl<E: From<Stop> + Send + 'static> Drop for Turn<E> {
    /// Handles a turn that the pool drops: without another turn or the caller, its work would wait forever, so it
    /// fails.
    fn drop(&mut self) {
        let Some(crew) = self.0.take() else { return };
        let mut state = unpoisoned(crew.state.lock());
        state.turns -= 1;
        let is_left = state.turns == 0 && !crew.is_caller_in;
        let left = if is_left { std::mem::take(&mut state.batches) } else { Vec::new() };
        drop(state);
        left.iter().for_each(|batch| batch.fail(Stop::Dropped.into()));
    }
}
