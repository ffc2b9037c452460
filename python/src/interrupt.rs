//! Calls that Ctrl-C ends.

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

/// The time between two looks for a signal.
const LOOK: Duration = Duration::from_millis(50);

/// Calls on local stores with no more bytes than this are over before anybody can interrupt them.
const SHORT_BYTES: usize = 1 << 20;

/// Does the work of a call without the interpreter's lock. `bytes` is the size of its elements.
///
/// Python handles signals only in the main thread. There the work is done in another thread, and a signal handler that
/// raises, as that of Ctrl-C does, cancels the work: requests are dropped, chunks that are decoded or encoded are finished, and
/// the exception is returned.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    array: &Array,
    bytes: usize,
    work: impl FnOnce(&Array) -> T + Send,
) -> PyResult<T> {
    let is_short = bytes <= SHORT_BYTES && array.storage().capabilities().drive == Drive::Inline;
    if is_short || !is_main_thread(py)? {
        return Ok(py.detach(|| work(array)));
    }
    let progress = Progress::new();
    let array = array.clone().with_progress(progress.clone());
    watched(py, move || work(&array), |py| py.check_signals(), || progress.cancel())
}

/// Waits for a future without the interpreter's lock. In the main thread a signal handler that raises, as that of Ctrl-C
/// does, drops the future with its requests, and the exception is returned.
pub(crate) fn wait<T: Send>(py: Python<'_>, work: impl Future<Output = T> + Send) -> PyResult<T> {
    let caller = Arc::new(Caller { thread: thread::current(), is_woken: AtomicBool::new(false) });
    let (waker, mut work) = (caller.clone().into(), pin!(work));
    // A local store answers at once.
    if let Poll::Ready(done) = py.detach(|| work.as_mut().poll(&mut Context::from_waker(&waker))) {
        return Ok(done);
    }
    let looks = is_main_thread(py)?;
    py.detach(|| {
        loop {
            while !caller.is_woken.swap(false, Ordering::Acquire) {
                thread::park_timeout(LOOK);
                if looks {
                    Python::attach(|py| py.check_signals())?;
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
/// exception, `cancel` is called, and the exception is returned when the work has ended.
pub(crate) fn watched<T: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send,
    mut look: impl FnMut(Python<'_>) -> PyResult<()> + Send,
    cancel: impl FnOnce() + Send,
) -> PyResult<T> {
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
                        if let Err(raised) = Python::attach(&mut look) {
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
