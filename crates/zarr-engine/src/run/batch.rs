//! Work that threads share: numbered parts, each done once by any thread.

use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Poll, Waker};

use zarr_traits::Scratch;
use zarr_traits::lock::unpoisoned;

use super::spans::{Span, Spans};
use super::stop::{Stop, caught_in};

/// Does the part with a number.
pub(super) type Work<E> = dyn Fn(u64, &mut Scratch) -> Result<(), E> + Send + Sync;

/// Parts to do. A batch is over when no thread works on a part and all parts have started or one has failed.
pub(super) struct Batch<E> {
    state: Mutex<State<E>>,
}

struct State<E> {
    /// The parts that have not started.
    open: Spans,
    /// The work. It is dropped before the batch is over, so that later references to the batch keep nothing alive.
    work: Option<Arc<Work<E>>>,
    /// The number of threads that work on a part.
    helpers: usize,
    is_over: bool,
    /// The first error.
    error: Option<E>,
    waker: Option<Waker>,
}

impl<E: From<Stop>> Batch<E> {
    pub(super) fn new(parts: u64, work: Arc<Work<E>>) -> Self {
        let work = Some(work).filter(|_| parts > 0);
        let open = Spans::new(parts);
        let state = State { open, is_over: work.is_none(), work, helpers: 0, error: None, waker: None };
        Self { state: Mutex::new(state) }
    }

    /// The number of parts that have not started.
    pub(super) fn open_parts(&self) -> u64 {
        unpoisoned(self.state.lock()).open.len()
    }

    /// Does one part after the other until all have started or `leaves` returns true.
    pub(super) fn help(&self, scratch: &mut Scratch, leaves: impl Fn() -> bool) {
        let helper = self.enter();
        while let (Some(work), Some(part)) = (&helper.work, helper.next()) {
            if let Err(e) = caught_in("a store", || work(part, scratch)) {
                self.fail(e);
            }
            if leaves() {
                break;
            }
        }
    }

    fn enter(&self) -> Helper<'_, E> {
        let mut state = unpoisoned(self.state.lock());
        state.helpers += 1;
        Helper { batch: self, work: state.work.clone(), span: state.open.enter() }
    }

    /// Starts no further part, and reports the error.
    pub(super) fn fail(&self, error: E) {
        let mut state = unpoisoned(self.state.lock());
        state.error.get_or_insert(error);
        self.close(state);
    }

    /// Starts no further part.
    fn close(&self, mut state: MutexGuard<'_, State<E>>) {
        state.open.clear();
        self.end(state);
    }

    /// Ends the batch if nothing is left to do.
    fn end(&self, mut state: MutexGuard<'_, State<E>>) {
        if state.helpers > 0 || state.open.len() > 0 {
            return;
        }
        let Some(work) = state.work.take() else { return };
        drop(state);
        drop(work);
        let mut state = unpoisoned(self.state.lock());
        state.is_over = true;
        let waker = state.waker.take();
        drop(state);
        waker.into_iter().for_each(Waker::wake);
    }
}

/// A thread that works on a batch. It leaves when dropped, also in a panic.
struct Helper<'a, E: From<Stop>> {
    batch: &'a Batch<E>,
    work: Option<Arc<Work<E>>>,
    span: Arc<Span>,
}

impl<E: From<Stop>> Helper<'_, E> {
    /// Returns the next part to do.
    fn next(&self) -> Option<u64> {
        let own = unpoisoned(self.span.lock()).next();
        own.or_else(|| unpoisoned(self.batch.state.lock()).open.refill(&self.span))
    }
}

impl<E: From<Stop>> Drop for Helper<'_, E> {
    fn drop(&mut self) {
        self.work = None;
        let mut state = unpoisoned(self.batch.state.lock());
        state.helpers -= 1;
        state.open.leave(&self.span);
        self.batch.end(state);
    }
}

/// A batch with a waiting owner. If the owner drops it, no further part starts.
pub(super) struct Shared<E: From<Stop>>(pub(super) Arc<Batch<E>>);

impl<E: From<Stop>> Shared<E> {
    /// Waits until the batch is over. Nothing refers to its work then.
    pub(super) async fn over(&self) -> Result<(), E> {
        poll_fn(|context| {
            let mut state = unpoisoned(self.0.state.lock());
            if state.is_over {
                return Poll::Ready(state.error.take().map_or(Ok(()), Err));
            }
            state.waker = Some(context.waker().clone());
            Poll::Pending
        })
        .await
    }
}

impl<E: From<Stop>> Drop for Shared<E> {
    fn drop(&mut self) {
        self.0.close(unpoisoned(self.0.state.lock()));
    }
}
