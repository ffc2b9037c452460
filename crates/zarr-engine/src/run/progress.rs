//! The progress of reads and writes, and their cancellation.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

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

    /// Returns a progress that calls `report` with what is done and what is expected, at the start of a call and after
    /// each chunk. `report` is called on the threads that do the work, several at a time, and should return at once.
    pub fn reporting(report: impl Fn(Amount, Amount) + Send + Sync + 'static) -> Self {
        Self(Arc::new(State { report: Some(Box::new(report)), ..State::default() }))
    }

    /// What is done.
    pub fn done(&self) -> Amount {
        self.0.done.get()
    }

    /// The work of all calls so far, done or not.
    pub fn expected(&self) -> Amount {
        self.0.expected.get()
    }

    /// Cancels all calls of handles with this progress, and all later ones. Chunks at work are finished. A cancelled
    /// call fails with [`Stop::Cancelled`]; a write may have written some of its chunks.
    pub fn cancel(&self) {
        self.0.is_cancelled.store(true, Relaxed);
    }

    /// Whether [`cancel`](Self::cancel) was called.
    pub fn is_cancelled(&self) -> bool {
        self.0.is_cancelled.load(Relaxed)
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
