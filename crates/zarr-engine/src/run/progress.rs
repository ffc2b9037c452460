//! The progress of reads and writes, and their cancellation.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::atomic::{
    AtomicBool, AtomicU64,
    Ordering::{Relaxed, SeqCst},
};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use futures_util::future::{Either, select};
use zarr_traits::lock::unpoisoned;

use super::stop::Stop;

/// The progress of the calls of a handle, and a way to cancel them. Clones share the same progress.
///
/// A call adds what it will do when it begins, and each chunk when it is done. Several calls add up.
#[derive(Clone, Debug, Default)]
pub struct Progress(Arc<State>);

/// An amount of work of reads and writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Amount {
    /// The number of chunks. A chunk that is only partly selected counts as one.
    pub chunks: u64,
    /// The size of the selected elements in memory, in bytes. An element that is selected twice
    /// counts once. For elements of variable length it does not include their contents.
    pub bytes: u64,
}

/// A wait for the cancellation.
struct Cancelled {
    state: Arc<State>,
    number: u64,
}

impl Future for Cancelled {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        // The waker is there before the look, so a cancellation between the two is not missed.
        unpoisoned(self.state.waiting.lock()).insert(self.number, context.waker().clone());
        if self.state.is_cancelled.load(SeqCst) { Poll::Ready(()) } else { Poll::Pending }
    }
}

impl Drop for Cancelled {
    fn drop(&mut self) {
        unpoisoned(self.state.waiting.lock()).remove(&self.number);
    }
}

impl Amount {
    /// Returns an amount of chunks, of some bytes together.
    pub const fn new(chunks: u64, bytes: u64) -> Self {
        Self { chunks, bytes }
    }
}

#[derive(Default)]
struct State {
    done: Counters,
    expected: Counters,
    is_cancelled: AtomicBool,
    /// The tasks that wait for the cancellation, by the number of the wait.
    waiting: Mutex<BTreeMap<u64, Waker>>,
    waits: AtomicU64,
    report: Option<Report>,
}

type Report = Box<dyn Fn(Amount, Amount) + Send + Sync>;

#[derive(Default)]
struct Counters {
    chunks: AtomicU64,
    bytes: AtomicU64,
}

impl Progress {
    /// Returns a progress that only counts.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns a progress that calls `report` with the amount of finished work and the expected amount, at the start of a
    /// call and after each chunk. `report` is called on the threads that do the work, several at a time, and should return at once.
    pub fn reporting(report: impl Fn(Amount, Amount) + Send + Sync + 'static) -> Self {
        Self(Arc::new(State { report: Some(Box::new(report)), ..State::default() }))
    }

    /// Returns the amount of finished work.
    pub fn done(&self) -> Amount {
        self.0.done.get()
    }

    /// The work of all calls so far, done or not.
    pub fn expected(&self) -> Amount {
        self.0.expected.get()
    }

    /// Cancels all calls of handles with this progress, and all later ones. They fail with [`Stop::Cancelled`]. Requests
    /// that wait for a network are dropped; chunks that a thread decodes or encodes at the moment are finished. A write may
    /// have written some of its chunks, and whether a request that was sent is carried out is not known.
    pub fn cancel(&self) {
        self.0.is_cancelled.store(true, SeqCst);
        let waiting = std::mem::take(&mut *unpoisoned(self.0.waiting.lock()));
        waiting.into_values().for_each(Waker::wake);
    }

    /// Whether [`cancel`](Self::cancel) was called.
    pub fn is_cancelled(&self) -> bool {
        self.0.is_cancelled.load(Relaxed)
    }

    /// Returns a future that is ready when it is cancelled.
    pub fn cancelled(&self) -> impl Future<Output = ()> + Send + use<> {
        Cancelled { state: self.0.clone(), number: self.0.waits.fetch_add(1, Relaxed) }
    }

    /// Runs a future unless and until it is cancelled, and drops it then.
    ///
    /// # Errors
    /// Those of the future, and [`Stop::Cancelled`].
    pub async fn unless_cancelled<R, E: From<Stop>>(
        &self,
        work: impl Future<Output = Result<R, E>>,
    ) -> Result<R, E> {
        match select(pin!(work), pin!(self.cancelled())).await {
            Either::Left((done, _)) => done,
            Either::Right(_) => Err(Stop::Cancelled.into()),
        }
    }

    /// Fails if it is cancelled.
    ///
    /// # Errors
    /// [`Stop::Cancelled`].
    pub fn check(&self) -> Result<(), Stop> {
        if self.is_cancelled() { Err(Stop::Cancelled) } else { Ok(()) }
    }

    /// Adds expected work.
    pub fn expect(&self, more: Amount) {
        self.0.expected.add(more);
        self.report();
    }

    /// Adds work that is done.
    pub fn add(&self, more: Amount) {
        self.0.done.add(more);
        self.report();
    }

    fn report(&self) {
        if let Some(report) = &self.0.report {
            report(self.done(), self.expected());
        }
    }
}

impl Counters {
    fn add(&self, more: Amount) {
        self.chunks.fetch_add(more.chunks, Relaxed);
        self.bytes.fetch_add(more.bytes, Relaxed);
    }

    fn get(&self) -> Amount {
        Amount { chunks: self.chunks.load(Relaxed), bytes: self.bytes.load(Relaxed) }
    }
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("State")
            .field("done", &self.done.get())
            .field("expected", &self.expected.get())
            .field("is_cancelled", &self.is_cancelled)
            .finish_non_exhaustive()
    }
}
