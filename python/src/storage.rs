//! Handles on stores, and their requests.

use std::collections::BTreeMap;
use std::time::Duration;

use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use zarr_array::ArrayError;
use zarr_store::{Access, MemoryStore, Redirects, Schemes, Targets};
use zarr_traits::store::{Drive, Outcome, PutMode, ReadVersion};
use zarr_traits::{
    ByteRange, Bytes, Key, Prefix, Storage as Handle, StoreError, StoreErrorKind, StoreResult,
};

use crate::directory;
use crate::error::raised_at;
use crate::foreign::{Asked, Foreign};
use crate::interrupt::wait;
use crate::known::limits;
use crate::redacted;
use crate::request::{Found, Request};
use crate::threads::Threads;

/// A store. Arrays of one handle share its threads and its locks.
#[pyclass(frozen, weakref, module = "zarr_rs._native")]
#[derive(Debug)]
pub(crate) struct Storage(
    pub(crate) Handle,
    /// The same store, whose writes fail where those of the first wait for another writer, if they may have to.
    pub(crate) Option<Handle>,
);

#[pymethods]
impl Storage {
    /// Opens a directory, which is created if `create` is set.
    #[staticmethod]
    #[pyo3(signature = (
        path, create, *, single_writer=false, updates_in_place=false, open_files=0, durability=None,
    ))]
    fn directory(
        py: Python<'_>,
        path: &str,
        create: bool,
        single_writer: bool,
        updates_in_place: bool,
        open_files: usize,
        durability: Option<&str>,
    ) -> PyResult<Self> {
        let options = directory::Options { single_writer, updates_in_place, open_files, durability };
        let opened = py.detach(|| directory::open(path, create, options));
        let (storage, hasty) = opened.map_err(|e| failed(py, Some(path), e))?;
        Ok(Self(storage, Some(hasty)))
    }

    /// Returns a new, empty store in memory, which errors name by its location.
    #[staticmethod]
    fn memory(location: &str) -> Self {
        Self(Handle::from(MemoryStore::new()).with_location(Some(location)), None)
    }

    /// Uses a store that is written in Python, through the methods of `helper`. At most `in_flight` requests run at a
    /// time; `None` says that the methods answer at once. `location` is shown in messages.
    #[staticmethod]
    #[pyo3(signature = (helper, location, *, in_flight, can_list, can_write))]
    fn foreign(
        helper: Py<PyAny>,
        location: String,
        in_flight: Option<usize>,
        can_list: bool,
        can_write: bool,
    ) -> Self {
        Self(Foreign::new(helper, location, in_flight, can_list, can_write).into(), None)
    }

    /// Opens the store at a URL, perhaps with an adapter behind it. `timeout` is in seconds.
    #[staticmethod]
    #[pyo3(signature = (
        location, *, environment, anonymous=false, endpoint=None, region=None, profile=None, in_flight=None,
        retries=None, timeout=None, forbidden_is_absent=false, redirects=None, references=Vec::new(),
    ))]
    #[expect(clippy::too_many_arguments, reason = "Python names them")]
    fn at(
        py: Python<'_>,
        location: &str,
        environment: BTreeMap<String, String>,
        anonymous: bool,
        endpoint: Option<String>,
        region: Option<String>,
        profile: Option<String>,
        in_flight: Option<usize>,
        retries: Option<u32>,
        timeout: Option<f64>,
        forbidden_is_absent: bool,
        redirects: Option<&str>,
        references: Vec<(String, Option<String>)>,
    ) -> PyResult<Self> {
        let mut access = Access::new().environment(environment).anonymous(anonymous);
        (access.endpoint, access.region, access.profile) = (endpoint, region, profile);
        (access.in_flight, access.retries) = (in_flight, retries);
        access.timeout = timeout.map(seconds).transpose()?;
        access.forbidden_is_absent = forbidden_is_absent;
        if let Some(redirects) = redirects {
            access.redirects =
                redirects.parse::<Redirects>().map_err(|e| PyValueError::new_err(format!("{e:#}")))?;
        }
        let targets = references.into_iter().try_fold(Targets::none(), |targets, (place, to)| match to {
            Some(to) => targets.moved(&place, to),
            None => targets.allow(place),
        });
        access.targets = targets.map_err(|e| PyValueError::new_err(format!("references: {e:#}")))?;
        let schemes = Schemes::new(&[
            directory::SCHEMES,
            &[zarr_store::zip::SCHEME],
            zarr_store_object::SCHEMES,
            zarr_store_icechunk::SCHEMES,
            zarr_store_refs::SCHEMES,
        ]);
        let opened = wait(py, schemes.open(location, &access))?;
        let place = redacted(location);
        opened.map(|located| Self(located.storage, None)).map_err(|e| failed(py, Some(&place), e))
    }

    /// Returns a handle on the same store that cannot write.
    fn read_only(&self) -> Self {
        Self(self.0.read_only(), None)
    }

    /// Makes the arrays that are opened from now on use these threads. Returns `False`, and changes nothing, if the storage has
    /// threads.
    fn use_threads(&self, threads: &Threads) -> bool {
        threads.cpu.clone().use_for(&self.0)
    }

    /// Whether requests do their work in the thread that waits for them.
    #[getter]
    fn is_inline(&self) -> bool {
        self.0.capabilities().drive == Drive::Inline
    }

    /// Whether objects can be written and deleted.
    #[getter]
    fn can_write(&self) -> bool {
        self.0.capabilities().write
    }

    /// Whether keys can be listed.
    #[getter]
    fn can_list(&self) -> bool {
        self.0.capabilities().list
    }

    /// Reads ranges of an object: a list of their bytes, or `None` if there is no such object. A range is cut at the end
    /// of the object.
    fn get(&self, py: Python<'_>, key: &str, ranges: Vec<Asked>) -> PyResult<Request> {
        self.request(py, Key::new(key), move |storage, key| async move {
            read(&storage, &key, &ranges).await.map(Found::Values)
        })
    }

    /// Returns the size of an object in bytes, or `None` if there is no such object.
    fn size(&self, py: Python<'_>, key: &str) -> PyResult<Request> {
        self.request(py, Key::new(key), async |storage, key| Ok(Found::Size(storage.size(&key).await?)))
    }

    /// Writes an object. If `create` is set, an existing object stays as it is.
    fn put(
        &self,
        py: Python<'_>,
        key: &str,
        value: &Bound<'_, PyArray1<u8>>,
        create: bool,
    ) -> PyResult<Request> {
        let value = Bytes::copy_from_slice(value.try_readonly()?.as_slice()?);
        let mode = if create { PutMode::Create } else { PutMode::Replace };
        self.request(py, Key::new(key), move |storage, key| async move {
            match storage.put_if(&key, &[value], mode).await? {
                Outcome::Conflict if !create => {
                    Err(StoreError::new(StoreErrorKind::Io, "the store reports a conflict").with_key(key))
                }
                _ => Ok(Found::Nothing),
            }
        })
    }

    /// Makes everything durable that was written.
    fn sync(&self, py: Python<'_>) -> PyResult<Request> {
        self.request(py, Ok(()), async |storage, ()| storage.sync().await.map(|()| Found::Nothing))
    }

    /// Deletes an object, if there is one.
    fn delete(&self, py: Python<'_>, key: &str) -> PyResult<Request> {
        self.request(py, Key::new(key), async |storage, key| {
            storage.delete(&key).await.map(|()| Found::Nothing)
        })
    }

    /// Deletes all objects below a path.
    fn delete_below(&self, py: Python<'_>, path: &str) -> PyResult<Request> {
        self.request(py, Prefix::of_node(path), async |storage, prefix| {
            storage.delete_prefix(&prefix).await.map(|()| Found::Nothing)
        })
    }

    /// Lists keys below a path: one page of those behind the key `after`, and whether more follow.
    #[pyo3(signature = (path, after=None))]
    fn list(&self, py: Python<'_>, path: &str, after: Option<&str>) -> PyResult<Request> {
        let after = after.map(Key::new).transpose().map_err(|e| failed(py, None, e))?;
        self.request(py, Prefix::of_node(path), move |storage, prefix| async move {
            let page = storage.list(&prefix, after.as_ref()).await?;
            let more = page.more;
            Ok(Found::Page(page.into_keys().map(String::from).collect(), more))
        })
    }

    /// Lists the names of the objects and folders directly below a path.
    fn list_dir(&self, py: Python<'_>, path: &str) -> PyResult<Request> {
        self.request(py, Prefix::of_node(path), async |storage, prefix| {
            let dir = storage.list_dir(&prefix).await?;
            let objects = dir.objects.iter().filter_map(|listed| prefix.strip(&listed.key));
            let folders = dir.prefixes.iter().filter_map(|folder| {
                folder.as_str().strip_prefix(prefix.as_str()).map(|name| name.trim_end_matches('/'))
            });
            Ok(Found::Names(objects.chain(folders).map(str::to_owned).collect()))
        })
    }

    /// Returns the sum of the sizes of all objects below a path, in bytes.
    fn size_below(&self, py: Python<'_>, path: &str) -> PyResult<Request> {
        self.request(py, Prefix::of_node(path), async |storage, prefix| {
            let (mut total, mut unknown) = (0_u64, Vec::new());
            let each = |size: u64, total: &mut u64| *total = total.saturating_add(size);
            let listing = storage.list_each(&prefix, |listed| match listed.meta.size {
                Some(size) => each(size, &mut total),
                None => unknown.push(listed.key),
            });
            listing.await?;
            for key in unknown {
                each(storage.size(&key).await?.unwrap_or(0), &mut total);
            }
            Ok(Found::Size(Some(total)))
        })
    }
}

impl Storage {
    /// Returns the request that `work` is, on a key or prefix.
    fn request<P, F>(
        &self,
        py: Python<'_>,
        place: StoreResult<P>,
        work: impl FnOnce(Handle, P) -> F,
    ) -> PyResult<Request>
    where
        F: Future<Output = StoreResult<Found>> + Send + 'static,
    {
        let place = place.map_err(|e| failed(py, None, e))?;
        Ok(Request::new(self.0.clone(), work(self.0.clone(), place)))
    }
}

/// Returns the exception of an error of a store that is not open.
pub(crate) fn failed(py: Python<'_>, place: Option<&str>, e: StoreError) -> PyErr {
    raised_at(py, place, &ArrayError::from(e))
}

fn seconds(seconds: f64) -> PyResult<Duration> {
    Duration::try_from_secs_f64(seconds)
        .map_err(|e| PyValueError::new_err(format!("timeout of {seconds} seconds: {e}")))
}

/// Reads ranges of an object as zarr-python means them: they are cut at the end of the object, so its size is needed for
/// some of them.
async fn read(storage: &Handle, key: &Key, asked: &[Asked]) -> StoreResult<Option<Vec<Bytes>>> {
    let mut size = None;
    if asked.iter().any(|asked| matches!(asked, Some((0.., None)))) {
        size = storage.size(key).await?;
        if size.is_none() {
            return Ok(None);
        }
    }
    loop {
        let ranges: Vec<ByteRange> = asked.iter().map(|asked| range(*asked, size)).collect();
        let read = storage.get_ranges(key, &ranges, ReadVersion::Any, limits().encoded_bytes).await;
        match read {
            Ok(read) => return Ok(read.map(|read| read.bytes)),
            Err(e) => match e.kind() {
                StoreErrorKind::RangeNotSatisfiable { size: found } if size.is_none() => size = Some(found),
                _ => return Err(e),
            },
        }
    }
}

/// Returns a range of an object, cut at its size if that is known.
fn range(asked: Asked, size: Option<u64>) -> ByteRange {
    let Some((start, end)) = asked else { return ByteRange::All };
    let Ok(offset) = u64::try_from(start) else {
        return ByteRange::Suffix(u64::try_from(start.unsigned_abs()).unwrap_or(u64::MAX));
    };
    let size = size.unwrap_or(u64::MAX);
    let (offset, end) = (offset.min(size), end.unwrap_or(u64::MAX).min(size));
    ByteRange::Span { offset, len: end.saturating_sub(offset) }
}
