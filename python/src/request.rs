//! Requests to a store, which Python waits for: in a thread, or on an event loop.

use std::cell::Cell;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

use numpy::PyArray1;
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use zarr_traits::lock::unpoisoned;
use zarr_traits::{BoxFuture, Bytes, Storage, StoreResult};

use crate::error::raised;
use crate::interrupt::wait;

/// A request to a store. It begins when it is waited for or polled, and ends early if it is dropped.
#[pyclass(frozen, module = "zarr_rs._native")]
pub(crate) struct Request {
    storage: Storage,
    work: Mutex<Option<Work>>,
}

thread_local! {
    static IS_AWAITED: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread polls a request, so that it is not blocked until the request is done.
pub(crate) fn is_awaited() -> bool {
    IS_AWAITED.get()
}

type Work = BoxFuture<'static, StoreResult<Found>>;

/// The result of a request.
pub(crate) enum Found {
    Nothing,
    /// The size of objects in bytes. `None` if there is no such object.
    Size(Option<u64>),
    /// The bytes of each range. `None` if there is no such object.
    Values(Option<Vec<Bytes>>),
    Names(Vec<String>),
    /// Keys, and whether more follow.
    Page(Vec<String>, bool),
}

#[pymethods]
impl Request {
    /// Does the request and returns its result. The thread is blocked.
    fn wait<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let future = unpoisoned(self.work.lock()).take().ok_or_else(ended)?;
        let found = wait(py, future)?;
        self.done(py, found)
    }

    /// Goes on with the request. Returns a tuple with its result, or `None` if it is not done: then `wake` is called,
    /// on any thread, when it is worth to poll again.
    fn poll<'py>(&self, py: Python<'py>, wake: Py<PyAny>) -> PyResult<Option<(Bound<'py, PyAny>,)>> {
        let waker = Waker::from(Arc::new(Call(wake)));
        let mut future = unpoisoned(self.work.lock()).take().ok_or_else(ended)?;
        let polled = py.detach(|| {
            IS_AWAITED.set(true);
            let polled = future.as_mut().poll(&mut Context::from_waker(&waker));
            IS_AWAITED.set(false);
            polled
        });
        match polled {
            Poll::Ready(found) => Ok(Some((self.done(py, found)?,))),
            Poll::Pending => {
                *unpoisoned(self.work.lock()) = Some(future);
                Ok(None)
            }
        }
    }
}

impl Request {
    pub(crate) fn new(
        storage: Storage,
        work: impl Future<Output = StoreResult<Found>> + Send + 'static,
    ) -> Self {
        Self { storage, work: Mutex::new(Some(Box::pin(work))) }
    }

    fn done<'py>(&self, py: Python<'py>, found: StoreResult<Found>) -> PyResult<Bound<'py, PyAny>> {
        found.map_err(|e| raised(py, &self.storage, &e.into()))?.into_python(py)
    }
}

fn ended() -> PyErr {
    PyRuntimeError::new_err("the request has ended, or another thread waits for it")
}

impl Found {
    fn into_python(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        match self {
            Self::Nothing => Ok(py.None().into_bound(py)),
            Self::Size(size) => size.into_bound_py_any(py),
            Self::Values(None) => Ok(py.None().into_bound(py)),
            // A value that nobody else holds is not copied.
            Self::Values(Some(values)) => {
                let arrays = values.into_iter().map(|value| PyArray1::from_vec(py, value.into()));
                arrays.collect::<Vec<_>>().into_bound_py_any(py)
            }
            Self::Names(names) => names.into_bound_py_any(py),
            Self::Page(keys, more) => (keys, more).into_bound_py_any(py),
        }
    }
}

/// Calls a Python function to wake a request.
struct Call(Py<PyAny>);

impl Wake for Call {
    fn wake(self: Arc<Self>) {
        // An interpreter that ends, or a closed event loop, waits for nothing.
        let _ = Python::try_attach(|py| self.0.call0(py).map(drop));
    }
}
