//! A store that is written in Python.

use std::fmt;
use std::sync::Mutex;

use bytes::Bytes;
use futures_channel::oneshot::{Receiver, Sender, channel};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use zarr_traits::lock::unpoisoned;
use zarr_traits::store::{
    Answer, Capabilities, Delete, Head, ObjectMeta, Op, Outcome, Put, PutMode, Read, ReadVersion, Store,
};
use zarr_traits::{BoxFuture, ByteRange, StoreError, StoreErrorKind, StoreResult};

/// Ranges with a smaller gap between them are read as one.
const MERGE_GAP: u64 = 64 << 10;

/// A store whose requests are methods of a Python object: `get`, `size`, `put` and `delete`. Each takes a [`Reply`] as
/// its last argument and returns at once; the reply may be given later and on any thread.
pub(crate) struct Foreign {
    helper: Py<PyAny>,
    in_flight: usize,
}

type Answered = PyResult<Py<PyAny>>;

/// The place where a request of a Python store leaves its result. A reply that is dropped without a result is an error.
#[pyclass(frozen, module = "zarr_rs._native")]
#[derive(Debug)]
pub(crate) struct Reply(Mutex<Option<Sender<Answered>>>);

#[pymethods]
impl Reply {
    /// Gives the result of the request.
    fn done(&self, result: Py<PyAny>) {
        self.give(Ok(result));
    }

    /// Gives the exception that the request raised.
    fn failed(&self, raised: Bound<'_, PyAny>) {
        self.give(Err(PyErr::from_value(raised)));
    }
}

impl Reply {
    fn give(&self, answered: Answered) {
        let sender = unpoisoned(self.0.lock()).take();
        if let Some(sender) = sender {
            // The caller may have given up.
            let _ = sender.send(answered);
        }
    }
}

impl Foreign {
    pub(crate) fn new(helper: Py<PyAny>, in_flight: usize) -> Self {
        Self { helper, in_flight }
    }

    /// Begins a request; `call` calls the method.
    fn begin(
        &self,
        call: impl for<'py> FnOnce(&Bound<'py, PyAny>, Reply) -> PyResult<Bound<'py, PyAny>>,
    ) -> StoreResult<Receiver<Answered>> {
        let (sender, receiver) = channel();
        let reply = Reply(Mutex::new(Some(sender)));
        Python::attach(|py| call(self.helper.bind(py), reply).map(drop)).map_err(failed)?;
        Ok(receiver)
    }

    async fn read(&self, read: Read<'_>) -> StoreResult<Answer> {
        if matches!(read.version, ReadVersion::Pinned(_)) {
            return Err(StoreError::new(StoreErrorKind::Changed, "the store has no versions"));
        }
        let asked: Vec<Asked> = read.ranges.iter().map(asked).collect();
        let key = read.key.as_str();
        let got = self.begin(|helper, reply| helper.call_method1("get", (key, asked, reply)))?;
        let values: Option<Vec<Bytes>> = taken(got, |values| values.extract()).await?;
        let Some(values) = values else { return Ok(Answer::Read(None)) };
        if values.len() != read.ranges.len() {
            return Err(StoreError::new(StoreErrorKind::Io, "the store returned another number of ranges"));
        }
        for (range, value) in read.ranges.iter().zip(values) {
            check_length(*range, &value)?;
            read.into.share(value)?;
        }
        Ok(Answer::Read(Some(ObjectMeta::default())))
    }

    async fn size(&self, head: Head<'_>) -> StoreResult<Answer> {
        let key = head.key.as_str();
        let got = self.begin(|helper, reply| helper.call_method1("size", (key, reply)))?;
        let size: Option<u64> = taken(got, |size| size.extract()).await?;
        Ok(Answer::Head(size.map(|size| ObjectMeta::new(size, None))))
    }

    async fn put(&self, put: Put<'_>) -> StoreResult<Answer> {
        if !matches!(put.mode, PutMode::Replace) {
            return put.unsupported_mode();
        }
        let (key, parts) = (put.key.as_str(), put.parts);
        let got = self.begin(|helper, reply| {
            let value = PyBytes::new(helper.py(), &parts.concat());
            helper.call_method1("put", (key, value, reply))
        })?;
        taken(got, |_| Ok(())).await?;
        Ok(Answer::Write(Outcome::Done(None)))
    }

    async fn delete(&self, delete: Delete<'_>) -> StoreResult<Answer> {
        if delete.version.is_some() {
            return Err(StoreError::new(StoreErrorKind::Unsupported, "the store has no versions"));
        }
        let key = delete.key.as_str();
        let got = self.begin(|helper, reply| helper.call_method1("delete", (key, reply)))?;
        taken(got, |_| Ok(())).await?;
        Ok(Answer::Write(Outcome::Done(None)))
    }
}

impl Store for Foreign {
    fn capabilities(&self) -> Capabilities {
        let mut capabilities = Capabilities::remote(self.in_flight, MERGE_GAP).without_list();
        capabilities.suffix = true;
        capabilities
    }

    fn call<'a>(&'a self, op: Op<'a>) -> BoxFuture<'a, StoreResult<Answer>> {
        Box::pin(async move {
            let target = op.target();
            let answered = match op {
                Op::Read(read) => self.read(read).await,
                Op::Head(head) => self.size(head).await,
                Op::Put(put) => self.put(put).await,
                Op::Delete(delete) => self.delete(delete).await,
                op => op.unsupported(),
            };
            answered.map_err(|e| e.with_key(target))
        })
    }
}

impl fmt::Debug for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Foreign").field("in_flight", &self.in_flight).finish_non_exhaustive()
    }
}

/// A range as Python gets it: `None` for the whole object, `(start, end)`, or `(-n, None)` for the last `n` bytes.
pub(crate) type Asked = Option<(i128, Option<u64>)>;

fn asked(range: &ByteRange) -> Asked {
    match *range {
        ByteRange::All => None,
        ByteRange::Span { offset, len } => Some((offset.into(), Some(offset.saturating_add(len)))),
        ByteRange::Suffix(n) => Some((-i128::from(n), None)),
    }
}

fn check_length(range: ByteRange, value: &Bytes) -> StoreResult<()> {
    let got = value.len() as u64;
    let (fits, size) = match range {
        ByteRange::All => (true, got),
        ByteRange::Span { offset, len } => (got == len, offset.saturating_add(got)),
        ByteRange::Suffix(n) => (got <= n, got),
    };
    if fits {
        return Ok(());
    }
    let kind = StoreErrorKind::RangeNotSatisfiable { size };
    Err(StoreError::new(kind, format!("the store returned {got} bytes for the range {range:?}")))
}

/// Waits for the reply of a request and converts it.
async fn taken<T>(
    got: Receiver<Answered>,
    convert: impl Fn(&Bound<'_, PyAny>) -> PyResult<T>,
) -> StoreResult<T> {
    let dropped = || Err(PyRuntimeError::new_err("the event loop ended before the store answered"));
    let answered = got.await.unwrap_or_else(|_| dropped());
    Python::attach(|py| answered.and_then(|value| convert(value.bind(py)))).map_err(failed)
}

fn failed(raised: PyErr) -> StoreError {
    StoreError::new(StoreErrorKind::Io, "the store raised an exception").with_source(raised)
}
