//! A store over any `object_store`: the handle, its options, and its operations.

use std::fmt;
use std::sync::Arc;

use object_store::ObjectStore;
use object_store::path::Path;
use zarr_traits::{
    BoxFuture, Key, Prefix, StoreError, StoreErrorKind, StoreResult,
    store::{
        Answer, Capabilities, Copied, CopyFrom, Delete, Dir, Drive, List, ListDir, ObjectMeta, Op, Origin,
        Outcome, Page, Put, PutMode, Read, ReadBuffer, ReadVersion, Store,
    },
};

use crate::bucket::{Bucket, Service};
use crate::copy::Source;
use crate::error::without_secrets;
use crate::get::Found;
use crate::put::Condition;
use crate::runtime::{Running, Runtime};

/// The default number of requests in flight.
const IN_FLIGHT: usize = 64;

/// The largest gap between two ranges that are read as one: these bytes take as long as a request.
const MERGE_GAP: u64 = 256 << 10;

/// A store over anything that implements [`object_store::ObjectStore`].
///
/// Futures complete on any executor, also in a bare `block_on`: requests run on a [`Runtime`] of the store.
///
/// ```
/// # use std::sync::Arc;
/// # use zarr_store_object::{ObjectStorage, object_store::memory::InMemory};
/// # use zarr_traits::{Key, Storage, block_on};
/// let storage = Storage::from(ObjectStorage::new(Arc::new(InMemory::new()))?);
/// let key = Key::new("a/zarr.json")?;
/// block_on(storage.put(&key, "{}"))?;
/// assert_eq!(block_on(storage.get(&key, 100))?.as_deref(), Some(&b"{}"[..]));
/// # Ok::<(), zarr_traits::StoreError>(())
/// ```
#[derive(Clone)]
pub struct ObjectStorage {
    bucket: Bucket,
    runtime: Runtime,
}

/// Prints no client, because clients hold credentials.
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
    /// Builds a store over `store`.
    ///
    /// The service is assumed to have suffix ranges and conditional puts (see [`with_capabilities`](Self::with_capabilities)),
    /// to send each request once (see [`with_own_retries`](Self::with_own_retries)), and to list in any order, so a listing
    /// is one page (see [`with_listing_limit`](Self::with_listing_limit)).
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

    /// Returns the same store with its root at `prefix`, for example `a/b`.
    ///
    /// # Errors
    /// [`StoreErrorKind::InvalidArgument`] if no key can begin with this prefix.
    pub fn below(mut self, prefix: &str) -> StoreResult<Self> {
        let prefix = prefix.trim_matches('/');
        let path = Path::parse(prefix).map_err(|e| {
            // A text, because this error prints its source itself.
            StoreError::new(StoreErrorKind::InvalidArgument, "no key begins with this prefix")
                .with_source(e.to_string())
        })?;
        let text = if prefix.is_empty() { String::new() } else { format!("{path}/") };
        self.bucket.prefix = text.into();
        Ok(self)
    }

    /// Sets the abilities of the service: suffix ranges, [`PutMode::Create`], [`PutMode::IfUnchanged`], copies, requests in
    /// flight. Conditional deletes are not supported.
    #[must_use]
    pub fn with_capabilities(mut self, mut capabilities: Capabilities) -> Self {
        capabilities.delete_if = false;
        self.bucket.set_capabilities(capabilities);
        self
    }

    /// Sets the number of requests in flight, summed over this handle and its clones. The default is 64.
    #[must_use]
    pub fn with_in_flight(self, requests: usize) -> Self {
        let mut capabilities = self.bucket.capabilities;
        capabilities.drive = Drive::remote(requests.max(1), MERGE_GAP);
        self.with_capabilities(capabilities)
    }

    /// Sets the size in bytes above which values without a condition are sent in parts. The default is 64 MiB.
    #[must_use]
    pub fn with_multipart_above(self, bytes: usize) -> Self {
        self.with_service(|service| service.multipart = bytes)
    }

    /// Sets the largest memory of a listing in bytes, for services that list in any order and for listings of what is
    /// directly below a prefix. The default is 1 GiB, enough for about ten million keys.
    #[must_use]
    pub fn with_listing_limit(self, bytes: u64) -> Self {
        self.with_service(|service| service.listing = bytes)
    }

    /// Declares that the store retries by itself, as the clients of `object_store` do unless their `max_retries` is 0.
    ///
    /// A condition may then fail because of an earlier attempt of the same put. So a refused conditional put is an error of
    /// kind [`Uncertain`](StoreErrorKind::Uncertain), unless the stored object tells whether the put was applied. Prefer a
    /// client without retries.
    #[must_use]
    pub fn with_own_retries(self) -> Self {
        self.with_service(|service| service.definite = false)
    }

    pub(crate) fn with_service(mut self, change: impl FnOnce(&mut Service)) -> Self {
        change(&mut self.bucket.service);
        self
    }

    /// Lets the service make copies. `container` must be equal for two handles on one bucket.
    #[cfg(any(feature = "aws", feature = "gcp"))]
    pub(crate) fn with_copies(mut self, container: String) -> Self {
        self.bucket.service.container = Some(container.into());
        self.bucket.capabilities.copy = true;
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

/// A function per operation. Each runs on the runtime.
impl ObjectStorage {
    async fn read(&self, read: Read<'_>) -> StoreResult<Option<ObjectMeta>> {
        let (path, ranges, most) =
            (self.bucket.path(read.key.as_str())?, read.ranges.to_vec(), read.into.limit());
        let pinned =
            if let ReadVersion::Pinned(version) = read.version { Some(version.clone()) } else { None };
        let running =
            self.run(|bucket| async move { bucket.read(&path, &ranges, pinned.as_ref(), most).await });
        match running.await? {
            None => Ok(None),
            Some(Found::Larger { size, most }) => Err(ReadBuffer::new(most).too_large(Some(size))),
            Some(Found::Parts { parts, mut meta }) => {
                parts.into_iter().try_for_each(|part| read.into.share(part))?;
                meta.version = meta.version.filter(|_| !matches!(read.version, ReadVersion::Any));
                Ok(Some(meta))
            }
        }
    }

    async fn head(&self, key: &Key) -> StoreResult<Option<ObjectMeta>> {
        let path = self.bucket.path(key.as_str())?;
        self.run(|bucket| async move { bucket.head(&path).await }).await
    }

    async fn page(&self, List { prefix, after, .. }: List<'_>) -> StoreResult<Page> {
        let (below, after) = (prefix.clone(), after.cloned());
        self.run(|bucket| async move { bucket.page(&below, after.as_ref()).await }).await
    }

    async fn dir(&self, ListDir { prefix, .. }: ListDir<'_>) -> StoreResult<Dir> {
        let below = prefix.clone();
        self.run(|bucket| async move { bucket.dir(&below).await }).await
    }

    async fn put(&self, put: Put<'_>) -> StoreResult<Outcome> {
        let path = self.bucket.path(put.key.as_str())?;
        let payload = put.parts.iter().filter(|part| !part.is_empty()).cloned().collect();
        let condition = match put.mode {
            PutMode::Replace => None,
            PutMode::Create => Some(Condition::Absent),
            PutMode::IfUnchanged(version) => Some(Condition::Is(version.clone())),
            _ => return put.unsupported_mode(),
        };
        let running = self.run(|bucket| async move {
            match condition {
                None => bucket.replace(&path, payload).await,
                Some(condition) => bucket.put_if(&path, payload, &condition).await,
            }
        });
        running.await
    }

    async fn delete(&self, Delete { key, version, .. }: Delete<'_>) -> StoreResult<Outcome> {
        if version.is_some() {
            let message = "object stores have no conditional delete";
            return Err(StoreError::new(StoreErrorKind::Unsupported, message));
        }
        let path = self.bucket.path(key.as_str())?;
        self.run(|bucket| async move { bucket.delete(vec![path]).await }).await?;
        Ok(Outcome::Done(None))
    }

    async fn delete_below(&self, prefix: &Prefix) -> StoreResult<()> {
        let below = prefix.clone();
        self.run(|bucket| async move { bucket.delete_below(&below).await }).await
    }

    async fn copy(&self, CopyFrom { origin, key, .. }: CopyFrom<'_>) -> StoreResult<Copied> {
        let path = self.bucket.path(key.as_str())?;
        let source = origin.get::<Source>().and_then(|source| source.within(&self.bucket)).cloned();
        let Some(source) = source else { return Ok(Copied::Unable) };
        self.run(|bucket| async move { bucket.copy(&source, &path).await }).await
    }

    async fn perform(&self, op: Op<'_>) -> StoreResult<Answer> {
        match op {
            Op::Read(read) => self.read(read).await.map(Answer::Read),
            Op::Head(head) => self.head(head.key).await.map(Answer::Head),
            Op::List(list) => self.page(list).await.map(Answer::List),
            Op::ListDir(list) => self.dir(list).await.map(Answer::ListDir),
            Op::Put(put) => self.put(put).await.map(Answer::Write),
            Op::Delete(delete) => self.delete(delete).await.map(Answer::Write),
            Op::DeletePrefix(prefix) => self.delete_below(prefix).await.map(|()| Answer::Done),
            // A write that a service has acknowledged is durable.
            Op::Sync => Ok(Answer::Done),
            Op::Origin(key) => {
                let source = Source::new(&self.bucket, self.bucket.path(key.as_str())?);
                Ok(Answer::Origin(Some(Origin::new(source))))
            }
            Op::Copy(copy) => self.copy(copy).await.map(Answer::Copied),
            op => op.unsupported(),
        }
    }
}

impl Store for ObjectStorage {
    fn capabilities(&self) -> Capabilities {
        self.bucket.capabilities
    }

    fn call<'a>(&'a self, op: Op<'a>) -> BoxFuture<'a, StoreResult<Answer>> {
        let target = op.target();
        Box::pin(async move { self.perform(op).await.map_err(|e| e.with_key(target)) })
    }
}
