//! Local stores: strands on the pool, each of which takes one cell after the other, and helps with what others have open.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use zarr_engine::Gate;
use zarr_traits::{Scratch, block_on};

use super::batch::Batch;
use super::scratches::{LargeScratches, Scratches};
use super::{Place, Task, gone, inline};
use crate::cpu::Spawn;
use crate::error::{ArrayError, ArrayErrorKind, ArrayResult};

/// What the strands of one task share.
pub(super) struct Strands<T: Task> {
    task: Arc<T>,
    next: AtomicU64,
    end: Arc<End>,
    scratches: Arc<Scratches>,
    pool: Arc<dyn Spawn>,
    /// Work that is open to all.
    batches: Mutex<Vec<Arc<Batch<T>>>>,
    /// Bounds the cells that are open at once, where all strands together might hold too much and can help each other.
    room: Option<Room>,
}

struct Room {
    gate: Gate,
    scratches: Arc<LargeScratches>,
}

impl<T: Task> Strands<T> {
    fn batches(&self) -> MutexGuard<'_, Vec<Arc<Batch<T>>>> {
        self.batches.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens a batch to all strands, and to idle workers that have none.
    pub(super) fn invite(self: &Arc<Self>, batch: &Arc<Batch<T>>) {
        self.batches().push(batch.clone());
        let most = self.pool.width().min(batch.parts);
        let more = {
            let mut end = self.end.lock();
            let more = most.saturating_sub(end.running);
            end.running += more;
            more
        };
        for _ in 0..more {
            let turn = Turn(Some(self.clone()));
            self.pool.spawn(Box::new(move || turn.run(false)));
        }
    }

    /// Does a part of an open batch, or else a cell; `false`: there is none to be had.
    fn step(self: &Arc<Self>, scratch: &mut Scratch) -> bool {
        if let Some(batch) = self.open_batch() {
            // An error is told to who has opened the batch.
            batch.help(&*self.task, scratch);
            return true;
        }
        let Some(room) = &self.room else { return self.next_cell(scratch) };
        let Some(_inside) = room.gate.try_enter(self.task.expected_bytes()) else {
            // Whoever has the room goes on, and asks for help where that is of use.
            return false;
        };
        let mut large = room.scratches.0.take();
        let more = self.next_cell(&mut large);
        room.scratches.0.give(large);
        more
    }

    /// Does the next cell that nobody has begun; `false`: there is none.
    fn next_cell(self: &Arc<Self>, scratch: &mut Scratch) -> bool {
        let cell = self.next.fetch_add(1, Ordering::Relaxed);
        if cell >= self.task.cells() {
            return false;
        }
        let done =
            catch_unwind(AssertUnwindSafe(|| block_on(inline(&*self.task, cell, scratch, Some(self)))));
        let panicked = || ArrayError::new(ArrayErrorKind::Panic, "a store panicked");
        if let Err(e) = done.unwrap_or_else(|_| Err(panicked())) {
            self.end.fail(e);
        }
        true
    }

    /// A batch with parts that nobody has begun.
    fn open_batch(&self) -> Option<Arc<Batch<T>>> {
        let mut batches = self.batches();
        batches.retain(|batch| batch.is_open());
        batches.first().cloned()
    }
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

pub(super) async fn strands<T: Task>(task: &Arc<T>, place: &Place, pool: &Arc<dyn Spawn>) -> ArrayResult<()> {
    let gate = &place.gate;
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
        batches: Mutex::default(),
        room: (task.shares() && task.expected_bytes().saturating_mul(width) > gate.most_bytes()).then(|| {
            Room {
                gate: Gate::new(usize::MAX, gate.most_bytes()),
                scratches: place.storage.shared::<LargeScratches>(),
            }
        }),
    });
    let ended = StopOnDrop(end);
    for _ in usize::from(place.may_block)..count {
        let turn = Turn(Some(strands.clone()));
        pool.spawn(Box::new(move || turn.run(false)));
    }
    if place.may_block {
        Turn(Some(strands)).run(true);
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

/// A strand, in the queue of a pool or at work. One that is dropped on the way, by a pool that shuts down or by a panic, ends
/// the task with an error.
struct Turn<T: Task>(Option<Arc<Strands<T>>>);

impl<T: Task> Turn<T> {
    /// Helps with what others have open, then takes cell after cell. On a worker it steps back to the tail of the queue
    /// while others wait, so that a small read beside a large one waits for one chunk and not for all.
    fn run(mut self, on_caller: bool) {
        let Some(strands) = &self.0 else { return };
        let mut scratch = strands.scratches.take();
        while !strands.end.stop.load(Ordering::Relaxed) && strands.step(&mut scratch) {
            if !on_caller && strands.pool.is_busy() {
                strands.scratches.give(scratch);
                let pool = strands.pool.clone();
                return pool.spawn(Box::new(move || self.run(false)));
            }
        }
        strands.scratches.give(scratch);
        if let Some(strands) = self.0.take() {
            let end = strands.end.clone();
            drop(strands);
            end.leave();
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

impl End {
    fn lock(&self) -> MutexGuard<'_, EndState> {
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
