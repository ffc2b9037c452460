//! Any `object_store` as a store: the handle, its options, and the traits of a store.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use object_store::ObjectStore;
use object_store::path::Path;
use zarr_traits::store::{copy_into, too_small};
use zarr_traits::{
    BoxFuture, ByteRange, Capabilities, Dir, Drive, Filled, If, Key, ListStore, Outcome, Page, Prefix, Put,
    ReadStore, Reply, Stat, StoreError, StoreErrorKind, StoreResult, Version, WriteStore, ready,
};

use crate::bucket::{Bucket, Service};
use crate::error::without_secrets;
use crate::get::{Read, known_len};
use crate::put::Condition;
use crate::runtime::{Running, Runtime};

/// Requests under way at once, unless said otherwise.
const IN_FLIGHT: usize = 64;

/// Ranges at most this many bytes apart are cheaper read as one: so many bytes come in the time of a request.
const MERGE_GAP: u64 = 256 << 10;

/// A store over anything that implements [`object_store::ObjectStore`].
///
/// Futures complete on any executor, also under a bare `block_on`: requests run on a [`Runtime`] of the store's own.
///
/// ```
/// # use std::sync::Arc;
/// # use zarr_store_object::{ObjectStorage, object_store::memory::InMemory};
/// # use zarr_traits::{Key, Storage, block_on};
/// let storage = Storage::from(ObjectStorage::new(Arc::new(InMemory::new()))?);
/// let key = Key::new("a/zarr.json")?;
/// block_on(storage.put(&key, "{}"))?;
/// assert_eq!(block_on(storage.get(&key))?.as_deref(), Some(&b"{}"[..]));
/// # Ok::<(), zarr_traits::StoreError>(())
/// ```
#[derive(Clone)]
pub struct ObjectStorage {
    bucket: Bucket,
    runtime: Runtime,
}

/// Without what a client of a service holds, which are credentials.
impl fmt::Debug for ObjectStorage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let store = without_secrets(&self.bucket.store.to_string());
        f.debug_struct("ObjectStorage")
            .field("store", &store)
            .field("prefix", &self.bucket.prefix)
            .finish_non_exhaustive()
    }
}

impl ObjectStorage {
    /// A store over `store`.
    ///
    /// The store is taken to have suffix ranges and conditional puts (see [`with_capabilities`](Self::with_capabilities)), to
    /// send each request once (see [`with_own_retries`](Self::with_own_retries)), and to list in any order: a listing is one
    /// page (see [`with_listing_limit`](Self::with_listing_limit)).
    ///
    /// # Errors
    /// As [`Runtime::new`].
    pub fn new(store: Arc<dyn ObjectStore>) -> StoreResult<Self> {
        Ok(Self::on(Runtime::new()?, store))
    }

    /// As [`new`](Self::new), on an existing runtime.
    pub fn on(runtime: Runtime, store: Arc<dyn ObjectStore>) -> Self {
        let mut capabilities = Capabilities::remote(IN_FLIGHT, MERGE_GAP);
        (capabilities.suffix, capabilities.put_create, capabilities.put_if) = (true, true, true);
        Self { bucket: Bucket::new(store, capabilities), runtime }
    }

    /// The same store with its root at `prefix`, such as `a/b`.
    ///
    /// # Errors
    /// [`StoreErrorKind::InvalidArgument`] for a prefix that no key can begin with.
    pub fn below(mut self, prefix: &str) -> StoreResult<Self> {
        let prefix = prefix.trim_matches('/');
        let path = Path::parse(prefix).map_err(|e| {
            StoreError::new(StoreErrorKind::InvalidArgument, "no key begins with this prefix").with_source(e)
        })?;
        let text = if prefix.is_empty() { String::new() } else { format!("{path}/") };
        self.bucket.prefix = text.into();
        Ok(self)
    }

    /// Sets what the service can do: suffix ranges, [`Put::Create`], [`Put::IfUnchanged`], requests in flight. There is no
    /// conditional delete.
    #[must_use]
    pub fn with_capabilities(mut self, mut capabilities: Capabilities) -> Self {
        capabilities.delete_if = false;
        self.bucket.set_capabilities(capabilities);
        self
    }

    /// Sets how many requests may be under way at once, over everything that is done with this handle and its clones: 64 by
    /// default.
    #[must_use]
    pub fn with_in_flight(self, requests: usize) -> Self {
        let mut capabilities = self.bucket.capabilities;
        capabilities.drive = Drive::Remote { in_flight: requests.max(1), merge_gap: MERGE_GAP };
        self.with_capabilities(capabilities)
    }

    /// Sets the size in bytes above which values are sent in parts, unless on a condition: 64 MiB by default.
    #[must_use]
    pub fn with_multipart_above(self, bytes: usize) -> Self {
        self.with_service(|service| service.multipart = bytes)
    }

    /// Sets the most bytes of memory that one listing may take, where a service lists in any order, and for what lies directly
    /// below a prefix: 1 GiB by default, which is enough for some ten million keys.
    #[must_use]
    pub fn with_listing_limit(self, bytes: u64) -> Self {
        self.with_service(|service| service.listing = bytes)
    }

    /// Says that the store repeats requests by itself, as the clients of `object_store` do unless their `max_retries` is 0.
    ///
    /// A condition that failed may then have failed because of this very put, sent before. So a conditional put that is
    /// refused is an error of kind [`Uncertain`](StoreErrorKind::Uncertain), never a conflict, unless what is there now is
    /// known to be this put. Prefer a client without retries.
    #[must_use]
    pub fn with_own_retries(self) -> Self {
        self.with_service(|service| service.definite = false)
    }

    pub(crate) fn with_service(mut self, change: impl FnOnce(&mut Service)) -> Self {
        change(&mut self.bucket.service);
        self
    }

    /// Runs `work` on the runtime.
    fn run<T, F>(&self, work: impl FnOnce(Bucket) -> F) -> Running<T>
    where
        T: Send + 'static,
        F: Future<Output = StoreResult<T>> + Send + 'static,
    {
        self.runtime.run(work(self.bucket.clone()))
    }
}

/// What a store does, each as one function.
impl ObjectStorage {
    /// The bytes of `ranges` of the object at `key`, `most` bytes in all; `None` when there is no such object. No more than
    /// `most` bytes are held at any time, whatever the service sends.
    ///
    /// # Errors
    /// [`StoreErrorKind::LimitExceeded`] when the ranges, or the object, have more than `most` bytes; and those of
    /// [`ReadStore::get_ranges`].
    pub async fn get(
        &self,
        key: &Key,
        ranges: &[ByteRange],
        condition: If<'_>,
        most: u64,
    ) -> StoreResult<Option<Reply>> {
        match self.read(key, ranges, condition, most).await? {
            None => Ok(None),
            Some(Read::Reply(reply)) => Ok(Some(reply)),
            Some(Read::Larger { stat, most }) => {
                let message =
                    format!("the object has {} bytes, and at most {most} are to be read", stat.size);
                Err(StoreError::new(StoreErrorKind::LimitExceeded, message).with_key(key))
            }
        }
    }

    async fn read(
        &self,
        key: &Key,
        ranges: &[ByteRange],
        condition: If<'_>,
        most: u64,
    ) -> StoreResult<Option<Read>> {
        let path = self.bucket.path(key.as_str())?;
        let ranges = ranges.to_vec();
        let pinned = if let If::Pinned(version) = condition { Some(version.clone()) } else { None };
        let running =
            self.run(|bucket| async move { bucket.read(&path, &ranges, pinned.as_ref(), most).await });
        let mut read = running.await.map_err(|e| e.with_key(key))?;
        if let (Some(Read::Reply(reply)), If::Any) = (&mut read, condition) {
            reply.version = None;
        }
        Ok(read)
    }

    /// As [`get`](Self::get), into memory of the caller.
    async fn fill(
        &self,
        key: &Key,
        ranges: &[ByteRange],
        condition: If<'_>,
        into: &mut [u8],
    ) -> StoreResult<Option<Filled>> {
        let (known, most) = (known_len(ranges), into.len() as u64);
        if known > most {
            return Err(too_small(known, into.len()).with_key(key));
        }
        match self.read(key, ranges, condition, most).await? {
            None => Ok(None),
            Some(Read::Reply(reply)) => copy_into(reply, ranges, into).map(Some).map_err(|e| e.with_key(key)),
            Some(Read::Larger { stat, .. }) => {
                Ok(Some(Filled { len: 0, size: Some(stat.size), version: stat.version }))
            }
        }
    }

    async fn stat(&self, key: &Key) -> StoreResult<Option<Stat>> {
        let path = self.bucket.path(key.as_str())?;
        let running = self.run(|bucket| async move { bucket.stat(&path).await });
        running.await.map_err(|e| e.with_key(key))
    }

    async fn page(&self, prefix: &Prefix, after: Option<&Key>) -> StoreResult<Page> {
        let (below, after) = (prefix.clone(), after.cloned());
        let running = self.run(|bucket| async move { bucket.page(&below, after.as_ref()).await });
        running.await.map_err(|e| e.with_key(prefix))
    }

    async fn dir(&self, prefix: &Prefix) -> StoreResult<Dir> {
        let below = prefix.clone();
        let running = self.run(|bucket| async move { bucket.dir(&below).await });
        running.await.map_err(|e| e.with_key(prefix))
    }

    async fn put_value(&self, key: &Key, parts: &[Bytes], how: Put<'_>) -> StoreResult<Outcome> {
        let path = self.bucket.path(key.as_str())?;
        let payload = parts.iter().filter(|part| !part.is_empty()).cloned().collect();
        let condition = match how {
            Put::Replace => None,
            Put::Create => Some(Condition::Absent),
            Put::IfUnchanged(version) => Some(Condition::Is(version.clone())),
            _ => {
                let e = StoreError::new(StoreErrorKind::Unsupported, "this way to put is not known here");
                return Err(e.with_key(key));
            }
        };
        let running = self.run(|bucket| async move {
            match condition {
                None => bucket.replace(&path, payload).await,
                Some(condition) => bucket.put_if(&path, payload, &condition).await,
            }
        });
        running.await.map_err(|e| e.with_key(key))
    }

    async fn remove(&self, key: &Key, version: Option<&Version>) -> StoreResult<Outcome> {
        if version.is_some() {
            let message = "object stores have no conditional delete";
            return Err(StoreError::new(StoreErrorKind::Unsupported, message).with_key(key));
        }
        let path = self.bucket.path(key.as_str())?;
        let running = self.run(|bucket| async move { bucket.delete(vec![path]).await });
        running.await.map_err(|e| e.with_key(key))?;
        Ok(Outcome::Done(None))
    }

    async fn remove_below(&self, prefix: &Prefix) -> StoreResult<()> {
        let below = prefix.clone();
        let running = self.run(|bucket| async move { bucket.delete_below(&below).await });
        running.await.map_err(|e| e.with_key(prefix))
    }
}

impl ReadStore for ObjectStorage {
    fn capabilities(&self) -> Capabilities {
        self.bucket.capabilities
    }

    fn get_ranges<'a>(
        &'a self,
        key: &'a Key,
        ranges: &'a [ByteRange],
        condition: If<'a>,
    ) -> BoxFuture<'a, StoreResult<Option<Reply>>> {
        Box::pin(self.get(key, ranges, condition, u64::MAX))
    }

    fn read_into<'a>(
        &'a self,
        key: &'a Key,
        ranges: &'a [ByteRange],
        condition: If<'a>,
        into: &'a mut [u8],
    ) -> BoxFuture<'a, StoreResult<Option<Filled>>> {
        Box::pin(self.fill(key, ranges, condition, into))
    }

    fn size<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, StoreResult<Option<Stat>>> {
        Box::pin(self.stat(key))
    }
}

impl ListStore for ObjectStorage {
    fn list<'a>(&'a self, prefix: &'a Prefix, after: Option<&'a Key>) -> BoxFuture<'a, StoreResult<Page>> {
        Box::pin(self.page(prefix, after))
    }

    fn list_dir<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, StoreResult<Dir>> {
        Box::pin(self.dir(prefix))
    }
}

impl WriteStore for ObjectStorage {
    fn put<'a>(
        &'a self,
        key: &'a Key,
        parts: &'a [Bytes],
        how: Put<'a>,
    ) -> BoxFuture<'a, StoreResult<Outcome>> {
        Box::pin(self.put_value(key, parts, how))
    }

    fn delete<'a>(
        &'a self,
        key: &'a Key,
        version: Option<&'a Version>,
    ) -> BoxFuture<'a, StoreResult<Outcome>> {
        Box::pin(self.remove(key, version))
    }

    fn delete_prefix<'a>(&'a self, prefix: &'a Prefix) -> BoxFuture<'a, StoreResult<()>> {
        Box::pin(self.remove_below(prefix))
    }

    /// A service acknowledges only what is durable.
    fn sync(&self) -> BoxFuture<'_, StoreResult<()>> {
        ready(Ok(()))
    }
}
