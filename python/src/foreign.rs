//! A store that is written in Python.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};

use bytes::Bytes;
use futures_channel::oneshot::{Receiver, Sender, channel};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use zarr_traits::lock::unpoisoned;
use zarr_traits::store::{
    Answer, Capabilities, Delete, Dir, Drive, Head, List, ListDir, Listed, ObjectMeta, Op, Outcome, Page,
    Put, PutMode, Read, ReadVersion, Store,
};
use zarr_traits::{BoxFuture, ByteRange, Key, Prefix, StoreError, StoreErrorKind, StoreResult, Version};

use crate::request::is_awaited;

/// Ranges with a smaller gap between them are read as one.
const MERGE_GAP: u64 = 64 << 10;

/// The largest number of keys whose versions are known.
const MOST_VERSIONS: usize = 1 << 16;

/// A store whose requests are methods of a Python object: `get`, `size`, `put`, `delete`, `list_prefix`, `list_dir` and
/// `delete_prefix`. Each takes a [`Reply`] as its last argument and returns at once; the reply may be given later and on
/// any thread.
///
/// Such a store has no versions. Conditions of writes hold among the calls of this process: each write gives its key a
/// new version.
pub(crate) struct Foreign {
    helper: Py<PyAny>,
    location: String,
    capabilities: Capabilities,
    versions: Mutex<Versions>,
}

type Answered = PyResult<Py<PyAny>>;

/// The place where a request of a Python store leaves its result. A reply that is dropped without a result is an error.
#[pyclass(frozen, module = "zarr_rs._native")]
pub(crate) struct Reply {
    sender: Mutex<Option<Sender<Answered>>>,
    caller: Arc<Mutex<Caller>>,
    /// Whether the caller goes on with other work until the reply is given. Otherwise its thread is blocked.
    #[pyo3(get)]
    is_awaited: bool,
}

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

    /// Sets what is called if the caller gives up. If it has given up, this is called at once.
    fn cancel_with(&self, py: Python<'_>, cancel: Py<PyAny>) -> PyResult<()> {
        let mut caller = unpoisoned(self.caller.lock());
        if let Caller::Waits(place) = &mut *caller {
            *place = Some(cancel);
            return Ok(());
        }
        drop(caller);
        cancel.call0(py).map(drop)
    }
}

impl Reply {
    fn give(&self, answered: Answered) {
        let sender = unpoisoned(self.sender.lock()).take();
        if let Some(sender) = sender {
            // The caller may have given up.
            let _ = sender.send(answered);
        }
    }
}

/// The caller of a request.
enum Caller {
    /// It waits, and this cancels the request.
    Waits(Option<Py<PyAny>>),
    /// It has the reply, or has given up.
    Gone,
}

impl Foreign {
    /// `location` is shown in messages, so it must not have secrets. `in_flight` is the largest number of requests at once,
    /// or `None` for a store that answers while its methods are called.
    pub(crate) fn new(
        helper: Py<PyAny>,
        location: String,
        in_flight: Option<usize>,
        can_list: bool,
        can_write: bool,
    ) -> Self {
        let mut capabilities = Capabilities::inline();
        if let Some(in_flight) = in_flight {
            capabilities.drive = Drive::remote(in_flight, MERGE_GAP);
        }
        if !can_list {
            capabilities = capabilities.without_list();
        }
        if !can_write {
            capabilities = capabilities.read_only();
        }
        Self { helper, location, capabilities, versions: Mutex::default() }
    }

    /// Begins a request; `call` calls the method.
    fn begin(
        &self,
        call: impl for<'py> FnOnce(&Bound<'py, PyAny>, Reply) -> PyResult<Bound<'py, PyAny>>,
    ) -> StoreResult<Begun> {
        let ((sender, receiver), caller) = (channel(), Arc::new(Mutex::new(Caller::Waits(None))));
        let begun = Begun { receiver, caller: caller.clone() };
        let reply = Reply { sender: Mutex::new(Some(sender)), caller, is_awaited: is_awaited() };
        // A signal handler may raise an exception when the request has begun already.
        Python::attach(|py| call(self.helper.bind(py), reply).map(drop)).map_err(failed)?;
        Ok(begun)
    }

    async fn read(&self, read: Read<'_>) -> StoreResult<Answer> {
        let version = self.versions().of(read.key);
        if matches!(read.version, ReadVersion::Pinned(wanted) if *wanted != version) {
            return Err(changed());
        }
        let asked: Vec<Asked> = read.ranges.iter().map(asked).collect();
        let key = read.key.as_str();
        let got = self.begin(|helper, reply| helper.call_method1("get", (key, asked, reply)))?;
        let values: Option<Vec<Bytes>> = got.taken(|values| values.extract()).await?;
        if matches!(read.version, ReadVersion::Pinned(_)) && self.versions().of(read.key) != version {
            return Err(changed());
        }
        let Some(values) = values else { return Ok(Answer::Read(None)) };
        if values.len() != read.ranges.len() {
            return Err(StoreError::new(StoreErrorKind::Io, "the store returned another number of ranges"));
        }
        for (range, value) in read.ranges.iter().zip(values) {
            check_length(*range, &value)?;
            read.into.share(value)?;
        }
        let version = (!matches!(read.version, ReadVersion::Any)).then_some(version);
        Ok(Answer::Read(Some(ObjectMeta::new(None, version))))
    }

    async fn size(&self, head: Head<'_>) -> StoreResult<Answer> {
        let version = self.versions().of(head.key);
        let key = head.key.as_str();
        let got = self.begin(|helper, reply| helper.call_method1("size", (key, reply)))?;
        let size: Option<u64> = got.taken(|size| size.extract()).await?;
        Ok(Answer::Head(size.map(|size| ObjectMeta::new(size, Some(version)))))
    }

    async fn put(&self, put: Put<'_>) -> StoreResult<Answer> {
        let (condition, is_new) = match put.mode {
            PutMode::Replace => (None, false),
            PutMode::Create => (None, true),
            PutMode::IfUnchanged(version) => (Some(version), false),
            _ => return put.unsupported_mode(),
        };
        let Some(writing) = self.writing(put.key, condition, is_new) else {
            return Ok(Answer::Write(Outcome::Conflict));
        };
        let (key, parts) = (put.key.as_str(), put.parts);
        let got = self.begin(|helper, reply| {
            let value = joined(helper.py(), parts)?;
            helper.call_method1("put", (key, value, is_new, reply))
        })?;
        let is_put: bool = got.taken(|is_put| is_put.extract()).await?;
        let version = writing.done();
        Ok(Answer::Write(if is_put { Outcome::Done(Some(version)) } else { Outcome::Conflict }))
    }

    async fn delete(&self, delete: Delete<'_>) -> StoreResult<Answer> {
        let Some(_writing) = self.writing(delete.key, delete.version, false) else {
            return Ok(Answer::Write(Outcome::Conflict));
        };
        let key = delete.key.as_str();
        let got = self.begin(|helper, reply| helper.call_method1("delete", (key, reply)))?;
        got.taken(|_| Ok(())).await?;
        Ok(Answer::Write(Outcome::Done(None)))
    }

    async fn list(&self, list: List<'_>) -> StoreResult<Answer> {
        let prefix = list.prefix.as_str();
        let got = self.begin(|helper, reply| helper.call_method1("list_prefix", (prefix, reply)))?;
        let keys: Vec<String> = got.taken(|keys| keys.extract()).await?;
        // A name that no key can have is not that of a chunk or document.
        let mut keys: Vec<Key> = keys.iter().filter_map(|key| Key::new(key).ok()).collect();
        keys.retain(|key| list.prefix.strip(key).is_some() && list.after.is_none_or(|after| key > after));
        keys.sort();
        keys.dedup();
        Ok(Answer::List(Page::new(keys.into_iter().map(Listed::new).collect(), false)))
    }

    async fn list_dir(&self, list: ListDir<'_>) -> StoreResult<Answer> {
        let prefix = list.prefix.as_str();
        let got = self.begin(|helper, reply| helper.call_method1("list_dir", (prefix, reply)))?;
        let (objects, folders): (Vec<String>, Vec<String>) = got.taken(|names| names.extract()).await?;
        let mut dir = Dir::default();
        dir.objects = objects.iter().filter_map(|name| list.prefix.key(name).ok()).map(Listed::new).collect();
        dir.prefixes = folders.iter().filter_map(|name| list.prefix.child(name).ok()).collect();
        dir.objects.sort_by(|a, b| a.key.cmp(&b.key));
        dir.prefixes.sort();
        Ok(Answer::ListDir(dir))
    }

    async fn delete_prefix(&self, prefix: &Prefix) -> StoreResult<Answer> {
        let prefix = prefix.as_str();
        self.versions().forget();
        let got = self.begin(|helper, reply| helper.call_method1("delete_prefix", (prefix, reply)))?;
        let deleted = got.taken(|_| Ok(())).await;
        self.versions().forget();
        deleted.map(|()| Answer::Done)
    }

    fn versions(&self) -> MutexGuard<'_, Versions> {
        unpoisoned(self.versions.lock())
    }

    /// Begins a write of a key. Returns `None` if the key has another version than `condition`, or another write of it has
    /// begun and this one has a condition.
    fn writing<'a>(&'a self, key: &'a Key, condition: Option<&Version>, is_new: bool) -> Option<Writing<'a>> {
        let mut versions = self.versions();
        let is_written = versions.keys.get(key).is_some_and(|state| state.writers > 0);
        let is_other = condition.is_some_and(|version| *version != versions.of(key));
        if is_other || (is_written && (condition.is_some() || is_new)) {
            return None;
        }
        versions.step(key).writers += 1;
        Some(Writing { versions: &self.versions, key, is_done: false })
    }
}

/// The versions of keys: the number of the last step of a write, of those since the storage was made.
#[derive(Debug, Default)]
struct Versions {
    steps: u64,
    /// The version of all keys that are not in `keys`.
    floor: u64,
    keys: HashMap<Key, State>,
}

#[derive(Debug, Default)]
struct State {
    version: u64,
    /// The number of writes that have begun and not ended.
    writers: usize,
}

impl Versions {
    fn of(&self, key: &Key) -> Version {
        let version = self.keys.get(key).map_or(self.floor, |state| state.version);
        Version::new(&version.to_be_bytes()[..])
    }

    /// Gives a key a new version.
    fn step(&mut self, key: &Key) -> &mut State {
        if self.keys.len() >= MOST_VERSIONS {
            self.forget();
        }
        self.steps += 1;
        let state = self.keys.entry(key.clone()).or_default();
        state.version = self.steps;
        state
    }

    /// Gives all keys a new version.
    fn forget(&mut self) {
        self.steps += 1;
        self.floor = self.steps;
        self.keys.retain(|_, state| state.writers > 0);
        self.keys.values_mut().for_each(|state| state.version = self.steps);
    }
}

/// A write that has begun. When it ends, also because it is dropped, its key gets a new version: what was read in between
/// may be old or new.
struct Writing<'a> {
    versions: &'a Mutex<Versions>,
    key: &'a Key,
    is_done: bool,
}

impl Writing<'_> {
    /// Ends the write and returns the version of what it has written.
    fn done(mut self) -> Version {
        self.end();
        unpoisoned(self.versions.lock()).of(self.key)
    }

    fn end(&mut self) {
        if !self.is_done {
            let mut versions = unpoisoned(self.versions.lock());
            let state = versions.step(self.key);
            state.writers = state.writers.saturating_sub(1);
            self.is_done = true;
        }
    }
}

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        self.end();
    }
}

impl Store for Foreign {
    fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    fn location(&self) -> Option<String> {
        Some(self.location.clone())
    }

    fn call<'a>(&'a self, op: Op<'a>) -> BoxFuture<'a, StoreResult<Answer>> {
        Box::pin(async move {
            let target = op.target();
            let answered = match op {
                Op::Read(read) => self.read(read).await,
                Op::Head(head) => self.size(head).await,
                Op::List(list) => self.list(list).await,
                Op::ListDir(list) => self.list_dir(list).await,
                Op::Put(put) => self.put(put).await,
                Op::Delete(delete) => self.delete(delete).await,
                Op::DeletePrefix(prefix) => self.delete_prefix(prefix).await,
                Op::Sync => Ok(Answer::Done),
                op => op.unsupported(),
            };
            answered.map_err(|e| e.with_key(target))
        })
    }
}

impl fmt::Debug for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Foreign").field("location", &self.location).finish_non_exhaustive()
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

/// A request that has begun. It is cancelled if it is dropped before the reply.
struct Begun {
    receiver: Receiver<Answered>,
    caller: Arc<Mutex<Caller>>,
}

impl Begun {
    /// Waits for the reply and converts it.
    async fn taken<T>(mut self, convert: impl Fn(&Bound<'_, PyAny>) -> PyResult<T>) -> StoreResult<T> {
        let dropped = || Err(PyRuntimeError::new_err("the event loop ended before the store answered"));
        let answered = (&mut self.receiver).await.unwrap_or_else(|_| dropped());
        Python::attach(|py| {
            drop(self.gone());
            answered.and_then(|value| convert(value.bind(py)))
        })
        .map_err(failed)
    }

    /// Notes that nobody waits any more, and returns what cancels the request.
    fn gone(&self) -> Option<Py<PyAny>> {
        match std::mem::replace(&mut *unpoisoned(self.caller.lock()), Caller::Gone) {
            Caller::Waits(cancel) => cancel,
            Caller::Gone => None,
        }
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        if let Some(cancel) = self.gone() {
            // An interpreter that ends, or a closed event loop, has cancelled all requests.
            let _ = Python::try_attach(|py| cancel.call0(py).map(drop));
        }
    }
}

/// Returns parts of a value as one object of Python, which copies them once.
fn joined<'py>(py: Python<'py>, parts: &[Bytes]) -> PyResult<Bound<'py, PyBytes>> {
    PyBytes::new_with(py, parts.iter().map(Bytes::len).sum(), |mut rest| {
        for part in parts {
            let (here, behind) = rest.split_at_mut(part.len());
            here.copy_from_slice(part);
            rest = behind;
        }
        Ok(())
    })
}

fn changed() -> StoreError {
    StoreError::new(StoreErrorKind::Changed, "the object is no longer the requested version")
}

fn failed(raised: PyErr) -> StoreError {
    StoreError::new(StoreErrorKind::Io, "the store raised an exception").with_source(raised)
}
