//! Calls of event loops: work of Python in threads of this module, which a cancellation and the end of the process reach.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use zarr_array::Progress;
use zarr_traits::lock::unpoisoned;

use crate::error::raised_of_kind;

/// The time after which a thread without work ends.
const IDLE: Duration = Duration::from_secs(10);

thread_local! {
    static CURRENT: RefCell<Option<Progress>> = const { RefCell::new(None) };
}

/// Returns the progress of the call that this thread works for. It is cancelled with the call.
pub(crate) fn current() -> Option<Progress> {
    CURRENT.with_borrow(Clone::clone)
}

/// Returns the exception of a call that was cancelled.
pub(crate) fn cancelled(py: Python<'_>) -> PyErr {
    raised_of_kind(py, "Cancelled", "the call was cancelled".to_owned())
}

/// Threads for calls, which start when they are needed. Nothing waits for them when the process ends.
#[pyclass(frozen, module = "zarr_rs._native")]
pub(crate) struct Calls(Arc<Pool>);

/// A call that has been started.
#[pyclass(frozen, module = "zarr_rs._native")]
pub(crate) struct Call(Arc<Job>);

struct Pool {
    /// The largest number of threads.
    width: usize,
    state: Mutex<State>,
    /// A job has come.
    has_work: Condvar,
    /// A job has ended.
    has_ended: Condvar,
}

#[derive(Default)]
struct State {
    threads: usize,
    /// The number of threads that wait for a job.
    idle: usize,
    queue: VecDeque<Arc<Job>>,
    /// The jobs that have not ended, by their number.
    live: BTreeMap<u64, Arc<Job>>,
    started: u64,
}

struct Job {
    number: u64,
    progress: Progress,
    /// The work, and what is called with its result. A thread takes both.
    task: Mutex<Option<(Py<PyAny>, Py<PyAny>)>>,
}

#[pymethods]
impl Calls {
    #[new]
    fn new(width: usize) -> Self {
        Self(Arc::new(Pool {
            width: width.max(1),
            state: Mutex::default(),
            has_work: Condvar::new(),
            has_ended: Condvar::new(),
        }))
    }

    /// Calls `work()` in a thread, and then `done(result, None)` or `done(None, exception)` in the same thread. Exceptions of
    /// `done` are ignored: a closed event loop waits for nothing.
    fn start(&self, work: Py<PyAny>, done: Py<PyAny>) -> PyResult<Call> {
        let mut state = self.0.state();
        state.started += 1;
        let job =
            Job { number: state.started, progress: Progress::new(), task: Mutex::new(Some((work, done))) };
        let job = Arc::new(job);
        if state.idle <= state.queue.len() && state.threads < self.0.width {
            let pool = self.0.clone();
            let started = thread::Builder::new().name("zarr_rs".to_owned()).spawn(move || pool.serve());
            match started {
                Ok(_) => state.threads += 1,
                Err(e) if state.threads == 0 => return Err(e.into()),
                Err(_) => {} // The threads that are there do it.
            }
        }
        state.live.insert(job.number, job.clone());
        state.queue.push_back(job.clone());
        drop(state);
        self.0.has_work.notify_one();
        Ok(Call(job))
    }

    /// Cancels all calls, and waits until they have ended, but no longer than `seconds`. Returns whether they have.
    fn end(&self, py: Python<'_>, seconds: f64) -> bool {
        let end = Instant::now() + Duration::try_from_secs_f64(seconds).unwrap_or_default();
        py.detach(|| {
            let live: Vec<_> = self.0.state().live.values().cloned().collect();
            live.iter().for_each(|job| job.progress.cancel());
            drop(live);
            let mut state = self.0.state();
            while !state.live.is_empty() {
                let rest = end.saturating_duration_since(Instant::now());
                if rest.is_zero() {
                    return false;
                }
                state = unpoisoned(self.0.has_ended.wait_timeout(state, rest)).0;
            }
            true
        })
    }
}

#[pymethods]
impl Call {
    /// Ends the call as soon as possible: requests are dropped, chunks that are decoded or encoded are finished. Does not wait
    /// for that.
    fn cancel(&self, py: Python<'_>) {
        py.detach(|| self.0.progress.cancel());
    }
}

impl Pool {
    fn state(&self) -> MutexGuard<'_, State> {
        unpoisoned(self.state.lock())
    }

    /// Does jobs until there has been none for a while.
    fn serve(&self) {
        // One state of the interpreter for all jobs of the thread. It waits for them detached.
        let served = Python::try_attach(|py| {
            while let Some(job) = py.detach(|| self.next()) {
                CURRENT.set(Some(job.progress.clone()));
                job.run(py);
                CURRENT.set(None);
                let mut state = self.state();
                state.live.remove(&job.number);
                self.has_ended.notify_all();
            }
        });
        if served.is_none() {
            self.state().threads -= 1; // The interpreter ends.
        }
    }

    /// Waits for a job. Returns `None` when there has been none for a while; the thread then ends.
    fn next(&self) -> Option<Arc<Job>> {
        let mut state = self.state();
        let end = Instant::now() + IDLE;
        loop {
            if let Some(job) = state.queue.pop_front() {
                return Some(job);
            }
            let rest = end.saturating_duration_since(Instant::now());
            if rest.is_zero() {
                state.threads -= 1;
                return None;
            }
            state.idle += 1;
            state = unpoisoned(self.has_work.wait_timeout(state, rest)).0;
            state.idle -= 1;
        }
    }
}

impl Job {
    fn run(&self, py: Python<'_>) {
        let Some((work, done)) = unpoisoned(self.task.lock()).take() else { return };
        let result = if self.progress.is_cancelled() { Err(cancelled(py)) } else { work.call0(py) };
        drop(work);
        let (result, raised) = match result {
            Ok(result) => (result, py.None()),
            Err(raised) => (py.None(), raised.into_value(py).into_any()),
        };
        let _ = done.call1(py, (result, raised));
    }
}
