//! What the writers of a schedule share: a storage in memory whose operations are steps, and a clock without time.

use std::future::{Future, pending, poll_fn};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use shuttle::rand::{RngCore, thread_rng};
use zarr_array::Cpu;
use zarr_array::clock::{self, Clock};
use zarr_store::MemoryStore;
use zarr_traits::{
    BoxFuture, Bytes, Storage, StoreResult,
    store::{Answer, Capabilities, Drive, Op, Outcome, Store},
};

use crate::explore::any;

/// A storage, and the writers of it.
pub(crate) struct World {
    /// The storage without steps, for the time before and after.
    pub(crate) below: Storage,
    capabilities: Capabilities,
    clock: Arc<Ticks>,
    documents: Documents,
}

/// The documents in the order in which they were stored, each with the number of its writer.
type Documents = Arc<Mutex<Vec<(usize, Bytes)>>>;

impl World {
    /// Returns a world with nothing stored, which is like a directory or like a bucket.
    pub(crate) fn new() -> Self {
        Self::over(MemoryStore::new().into())
    }

    /// Returns a world over a storage.
    pub(crate) fn over(below: Storage) -> Self {
        let mut capabilities = below.capabilities();
        if any(2) == 1 {
            capabilities.drive = Drive::remote(4, 16);
            (capabilities.delete_if, capabilities.put_ranges, capabilities.copy) = (false, false, false);
        }
        Cpu::inline().use_for(&below);
        Self { below, capabilities, clock: Arc::default(), documents: Arc::default() }
    }

    /// Returns the same world, in which only one version of an object can be deleted.
    pub(crate) fn with_conditional_deletes(mut self) -> Self {
        self.capabilities.delete_if = true;
        self
    }

    /// Returns the storage as another process sees it.
    pub(crate) fn process(&self, writer: usize, fate: &Fate) -> Storage {
        let storage = Storage::from(self.steps(writer, fate));
        Cpu::inline().use_for(&storage);
        clock::set(&storage, self.clock.clone());
        storage
    }

    /// Returns the storage of a process for another thread of it.
    pub(crate) fn thread(&self, process: &Storage, writer: usize, fate: &Fate) -> Storage {
        process.overlay(self.steps(writer, fate))
    }

    fn steps(&self, writer: usize, fate: &Fate) -> Steps {
        let (below, documents) = (self.below.clone(), self.documents.clone());
        Steps { below, capabilities: self.capabilities, fate: fate.clone(), writer, documents }
    }

    /// Returns the documents that were stored, and their writers, in their order.
    pub(crate) fn documents(&self) -> Vec<(usize, Bytes)> {
        self.documents.lock().unwrap().clone()
    }
}

/// The number of steps that a writer takes before it dies. Clones share it.
#[derive(Debug, Clone)]
pub(crate) struct Fate(Arc<AtomicU64>);

impl Fate {
    /// The writer does not die.
    pub(crate) fn lives() -> Self {
        Self::dies_after(u64::MAX)
    }

    /// The writer dies after so many steps.
    pub(crate) fn dies_after(steps: u64) -> Self {
        Self(Arc::new(AtomicU64::new(steps)))
    }

    /// The writer dies with a chance of one half, within so many steps.
    pub(crate) fn may_die_within(steps: u64) -> Self {
        if any(2) == 0 { Self::lives() } else { Self::dies_after(1 + any(steps)) }
    }

    fn is_dead(&self) -> bool {
        self.0.load(Ordering::Relaxed) == 0
    }

    /// Lets others go first, and takes a step. Never ends if the writer is dead.
    async fn step(&self) {
        switch().await;
        if self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_err() {
            pending::<()>().await;
        }
    }

    /// Runs the work of a writer. Returns `None` if it dies; then everything that only it had is dropped.
    pub(crate) async fn befall<F: Future>(self, work: F) -> Option<F::Output> {
        let mut work = Box::pin(work);
        poll_fn(|context| match work.as_mut().poll(context) {
            Poll::Ready(done) => Poll::Ready(Some(done)),
            Poll::Pending if self.is_dead() => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        })
        .await
    }
}

/// Lets the scheduler choose who goes on. Unlike a yield it does not ask it to choose somebody else.
pub(crate) async fn switch() {
    let mut was_here = false;
    poll_fn(|context| {
        if std::mem::replace(&mut was_here, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// The layer whose operations are steps: others may go first before one is done, and before its answer arrives.
#[derive(Debug)]
struct Steps {
    below: Storage,
    capabilities: Capabilities,
    fate: Fate,
    writer: usize,
    documents: Documents,
}

impl Store for Steps {
    fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    fn call<'a>(&'a self, op: Op<'a>) -> BoxFuture<'a, StoreResult<Answer>> {
        Box::pin(async move {
            self.fate.step().await;
            let document = match &op {
                Op::Put(put) if put.key.name() == "zarr.json" => Some(put.parts.concat()),
                _ => None,
            };
            let answer = self.below.call(op).await;
            if let (Some(document), Ok(Answer::Write(Outcome::Done(_)))) = (document, &answer) {
                self.documents.lock().unwrap().push((self.writer, document.into()));
            }
            self.fate.step().await;
            answer
        })
    }
}

/// A clock that goes on when somebody has waited.
#[derive(Default)]
struct Ticks(Arc<Mutex<Duration>>);

/// A wait for a [`Ticks`].
async fn wait(ticks: Arc<Mutex<Duration>>, time: Duration) {
    let until = *ticks.lock().unwrap() + time;
    shuttle::future::yield_now().await;
    let mut now = ticks.lock().unwrap();
    *now = until.max(*now);
}

impl Clock for Ticks {
    fn now(&self) -> Duration {
        *self.0.lock().unwrap()
    }

    fn wait(&self, time: Duration) -> BoxFuture<'static, ()> {
        Box::pin(wait(self.0.clone(), time))
    }

    fn random(&self) -> u64 {
        thread_rng().next_u64()
    }
}
