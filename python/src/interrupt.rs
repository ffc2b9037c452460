//! Calls that Ctrl-C ends, or the cancellation of the task of an event loop.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::task::{Context, Poll, Wake};
use std::thread::{self, Thread};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::intern;
use pyo3::prelude::*;
use zarr_array::{Progress, blocking::Array, traits::store::Drive};

use crate::call;

/// The time between two looks for a signal.
const LOOK: Duration = Duration::from_millis(50);

/// Calls on local stores with no more bytes than this are over before anybody can interrupt them.
const SHORT_BYTES: usize = 1 << 20;

/// Does the work of a call without the interpreter's lock. `bytes` is the size of its elements.
///
/// Python handles signals only in the main thread. There the work is done in another thread, and a signal handler that
/// raises, as that of Ctrl-C does, cancels the work: requests are dropped, chunks that are decoded or encoded are finished, and
/// the exception is returned. The work of a [call](call) of an event loop is cancelled with it in the same way.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    array: &Array,
    bytes: usize,
    work: impl FnOnce(&Array) -> T + Send,
) -> PyResult<T> {
    let is_short = bytes <= SHORT_BYTES && array.storage().capabilities().drive == Drive::Inline;
    if let Some(progress) = call::current() {
        if progress.is_cancelled() {
            return Err(call::cancelled(py));
        }
        let array = if is_short { array.clone() } else { array.clone().with_progress(progress) };
        return Ok(py.detach(|| work(&array)));
    }
    if is_short || !is_main_thread(py)? {
        return Ok(py.detach(|| work(array)));
    }
    let progress = Progress::new();
    let array = array.clone().with_progress(progress.clone());
    watched(py, move || work(&array), |py| py.check_signals(), || progress.cancel())
}

/// Waits for a future without the interpreter's lock. In the main thread a signal handler that raises, as that of Ctrl-C
/// does, drops the future with its requests, and the exception is returned. So does the cancellation of a [call](call).
pub(crate) fn wait<T: Send>(py: Python<'_>, work: impl Future<Output = T> + Send) -> PyResult<T> {
    if let Some(progress) = call::current() {
        let (mut work, mut cancelled) = (pin!(work), pin!(progress.cancelled()));
        let either = poll_fn(|context| match work.as_mut().poll(context) {
            Poll::Ready(done) => Poll::Ready(Some(done)),
            Poll::Pending => cancelled.as_mut().poll(context).map(|()| None),
        });
        return parked(py, either, |_| Ok(false))?.ok_or_else(|| call::cancelled(py));
    }
    parked(py, work, is_main_thread)
}

/// Waits for a future without the interpreter's lock. A signal drops it if `looks` says so.
fn parked<T: Send>(
    py: Python<'_>,
    work: impl Future<Output = T> + Send,
    looks: impl FnOnce(Python<'_>) -> PyResult<bool>,
) -> PyResult<T> {
    let caller = Arc::new(Caller { thread: thread::current(), is_woken: AtomicBool::new(false) });
    let (waker, mut work) = (caller.clone().into(), pin!(work));
    // A local store answers at once.
    if let Poll::Ready(done) = py.detach(|| work.as_mut().poll(&mut Context::from_waker(&waker))) {
        return Ok(done);
    }
    let looks = looks(py)?;
    py.detach(|| {
        loop {
            while !caller.is_woken.swap(false, Ordering::Acquire) {
                if looks {
                    thread::park_timeout(LOOK);
                    Python::attach(|py| py.check_signals())?;
                } else {
                    thread::park();
                }
            }
            if let Poll::Ready(done) = work.as_mut().poll(&mut Context::from_waker(&waker)) {
                return Ok(done);
            }
        }
    })
}

/// The thread that waits for a future.
struct Caller {
    thread: Thread,
    is_woken: AtomicBool,
}

impl Wake for Caller {
    fn wake(self: Arc<Self>) {
        self.is_woken.store(true, Ordering::Release);
        self.thread.unpark();
    }
}

/// Does work in another thread, without the interpreter's lock, and calls `look` every now and then. If that raises an
/// exception, or the [call](call) of this thread is cancelled, `cancel` is called, and the exception is returned when the work
/// has ended.
pub(crate) fn watched<T: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send,
    mut look: impl FnMut(Python<'_>) -> PyResult<()> + Send,
    cancel: impl FnOnce() + Send,
) -> PyResult<T> {
    let call = call::current();
    py.detach(|| {
        let (sender, receiver) = channel();
        thread::scope(|scope| {
            scope.spawn(move || sender.send(work()).is_ok());
            loop {
                match receiver.recv_timeout(LOOK) {
                    Ok(done) => return Ok(done),
                    Err(RecvTimeoutError::Disconnected) => {
                        return Err(PyRuntimeError::new_err("the thread of the call panicked"));
                    }
                    Err(RecvTimeoutError::Timeout) => {
                        let looked = Python::attach(|py| match &call {
                            Some(call) if call.is_cancelled() => Err(call::cancelled(py)),
                            _ => look(py),
                        });
                        if let Err(raised) = looked {
                            cancel();
                            return Err(raised);
                        }
                    }
                }
            }
        })
    })
}

fn is_main_thread(py: Python<'_>) -> PyResult<bool> {
    let threading = py.import(intern!(py, "threading"))?;
    let current = threading.call_method0(intern!(py, "current_thread"))?;
    Ok(current.is(&threading.call_method0(intern!(py, "main_thread"))?))
}
