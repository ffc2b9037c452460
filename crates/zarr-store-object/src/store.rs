//! Any `object_store` as a store.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::{StreamExt, TryStreamExt, stream};
use object_store::path::Path;
use object_store::{GetOptions, GetRange, ObjectMeta, ObjectStore, ObjectStoreExt as _, UpdateVersion};
use zarr_traits::store::copy_into;
use zarr_traits::{
    BoxFuture, ByteRange, Capabilities, Drive, Filled, If, Key, ReadStore, Reply, Stat, StoreError,
    StoreErrorKind, StoreResult, Version,
};

use crate::error::{is_absent, read_error, without_secrets};
use crate::runtime::{Running, Runtime};

/// The most bytes of a key, those of the prefix included (checklist E41).
const LONGEST_KEY: usize = 1024;

/// How many requests are under way at once, unless said otherwise.
const IN_FLIGHT: usize = 64;

/// Ranges this close together are cheaper read as one: what comes in the time of a request.
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
    pub(crate) bucket: Bucket,
    runtime: Runtime,
}

/// What the work on the runtime needs to know.
#[derive(Clone)]
pub(crate) struct Bucket {
    pub(crate) store: Arc<dyn ObjectStore>,
    /// What stands before every key: nothing, or `a/b/`.
    prefix: Arc<str>,
    capabilities: Capabilities,
    pub(crate) traits: Traits,
}

/// What is known of the service beyond what [`Capabilities`] say.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Traits {
    /// The answer to a conditional put is about this very request: nobody below repeats one that may have been applied.
    pub(crate) definite: bool,
    /// A listing can begin behind a key. Otherwise all keys come in one page.
    pub(crate) list_behind: bool,
    /// Values of more bytes than this are sent in parts.
    pub(crate) multipart: usize,
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
    /// It is taken to have all that object stores have, and to send each request once: see
    /// [`with_capabilities`](Self::with_capabilities) and [`with_own_retries`](Self::with_own_retries).
    ///
    /// # Errors
    /// As [`Runtime::new`].
    pub fn new(store: Arc<dyn ObjectStore>) -> StoreResult<Self> {
        Ok(Self::on(Runtime::new()?, store))
    }

    /// As [`new`](Self::new), on a runtime that is there already.
    pub fn on(runtime: Runtime, store: Arc<dyn ObjectStore>) -> Self {
        let traits = Traits { definite: true, list_behind: true, multipart: 64 << 20 };
        let mut capabilities = Capabilities::remote(IN_FLIGHT, MERGE_GAP);
        (capabilities.suffix, capabilities.put_create, capabilities.put_if) = (true, true, true);
        Self { bucket: Bucket { store, prefix: "".into(), capabilities, traits }, runtime }
    }

    /// The same store with a root at `prefix`, as `a/b`.
    ///
    /// # Errors
    /// [`StoreErrorKind::InvalidArgument`] for what no key can begin with.
    pub fn below(mut self, prefix: &str) -> StoreResult<Self> {
        let prefix = prefix.trim_matches('/');
        let path = Path::parse(prefix).map_err(|e| {
            StoreError::new(StoreErrorKind::InvalidArgument, "no prefix of keys").with_source(e)
        })?;
        let text = if prefix.is_empty() { String::new() } else { format!("{path}/") };
        self.bucket.prefix = text.into();
        Ok(self)
    }

    /// What the service can do, where it differs: suffix ranges, [`Put::Create`](zarr_traits::Put::Create),
    /// [`Put::IfUnchanged`](zarr_traits::Put::IfUnchanged), requests in flight. There is no conditional delete.
    #[must_use]
    pub fn with_capabilities(mut self, capabilities: Capabilities) -> Self {
        self.bucket.capabilities = capabilities;
        self.bucket.capabilities.delete_if = false;
        self
    }

    /// How many requests may be under way at once: 64 if nothing is said.
    #[must_use]
    pub fn with_in_flight(mut self, requests: usize) -> Self {
        self.bucket.capabilities.drive = Drive::Remote { in_flight: requests.max(1), merge_gap: MERGE_GAP };
        self
    }

    /// Values of more than `bytes` are sent in parts, unless on a condition: 64 MiB if nothing is said.
    #[must_use]
    pub fn with_multipart_above(mut self, bytes: usize) -> Self {
        self.bucket.traits.multipart = bytes;
        self
    }

    /// The store repeats requests by itself, as the clients of `object_store` do unless their `max_retries` is 0. Then a
    /// condition that failed may have failed because of this very put, sent a first time; what is there is compared before
    /// that is called a conflict.
    #[must_use]
    pub fn with_own_retries(mut self) -> Self {
        self.bucket.traits.definite = false;
        self
    }

    #[cfg(feature = "azure")]
    pub(crate) fn with_traits(mut self, change: impl FnOnce(&mut Traits)) -> Self {
        change(&mut self.bucket.traits);
        self
    }

    /// Runs `work` on the runtime.
    pub(crate) fn run<T, F>(&self, work: impl FnOnce(Bucket) -> F) -> Running<T>
    where
        T: Send + 'static,
        F: Future<Output = StoreResult<T>> + Send + 'static,
    {
        self.runtime.run(work(self.bucket.clone()))
    }
}

/// One object, or a part of it.
struct Got {
    bytes: Bytes,
    size: u64,
    version: Option<Version>,
}

impl Bucket {
    /// Where the object of a key is. The characters of the key stay what they are (checklist E40).
    pub(crate) fn path(&self, key: &str) -> StoreResult<Path> {
        let wrong = |message: String| StoreError::new(StoreErrorKind::InvalidArgument, message).with_key(key);
        let text = format!("{}{key}", self.prefix);
        if text.len() > LONGEST_KEY {
            let len = text.len();
            return Err(wrong(format!(
                "object stores have keys of at most {LONGEST_KEY} bytes, this one has {len}"
            )));
        }
        Path::parse(&text).map_err(|e| wrong("no key of an object".to_owned()).with_source(e))
    }

    /// Requests of one call that may be under way at once.
    fn in_flight(&self) -> usize {
        match self.capabilities.drive {
            Drive::Remote { in_flight, .. } => in_flight.max(1),
            Drive::Inline => 1,
        }
    }

    /// The key of an object that a listing names; `None` for what is none of ours.
    pub(crate) fn key(&self, path: &Path) -> Option<Key> {
        path.as_ref().strip_prefix(&*self.prefix).and_then(|key| Key::new(key).ok())
    }

    pub(crate) async fn stat(&self, path: &Path) -> StoreResult<Option<Stat>> {
        match self.store.head(path).await {
            Ok(meta) => Ok(Some(Stat { size: meta.size, version: version_of(&meta) })),
            Err(e) if is_absent(&e) => Ok(None),
            Err(e) => Err(read_error(&e)),
        }
    }

    /// All `ranges`, of one version.
    async fn get_ranges(
        &self,
        path: &Path,
        ranges: &[ByteRange],
        pinned: Option<&Version>,
        most: Option<u64>,
    ) -> StoreResult<Option<Reply>> {
        let Some((mut got, mut alike)) = self.all_of(path, ranges, pinned, most).await? else {
            return Ok(None);
        };
        if !alike {
            // Somebody replaced the object meanwhile: once more, of a version that was seen and may still be there.
            let seen = [got.last(), got.first()].map(|got| got.and_then(|got| got.version.clone()));
            for version in seen.iter().flatten() {
                match self.all_of(path, ranges, Some(version), most).await {
                    Ok(Some(again)) => (got, alike) = again,
                    Err(e) if e.kind() == StoreErrorKind::Changed => continue,
                    Ok(None) => break,
                    Err(e) => return Err(e),
                }
                break;
            }
        }
        if !alike {
            return Err(StoreError::new(StoreErrorKind::Changed, "the object changes while it is read"));
        }
        let size = got.first().map(|got| got.size);
        let version = got.first().and_then(|got| got.version.clone());
        Ok(Some(Reply { bytes: got.into_iter().map(|got| got.bytes).collect(), size, version }))
    }

    /// All `ranges`, each by a request, and whether they are of one version.
    async fn all_of(
        &self,
        path: &Path,
        ranges: &[ByteRange],
        pinned: Option<&Version>,
        most: Option<u64>,
    ) -> StoreResult<Option<(Vec<Got>, bool)>> {
        let requests: Vec<_> =
            ranges.iter().map(|range| self.get(path, *range, pinned.cloned(), most)).collect();
        let got: Vec<Option<Got>> = stream::iter(requests).buffered(self.in_flight()).try_collect().await?;
        let absent = got.iter().filter(|got| got.is_none()).count();
        if absent == got.len() {
            // No range at all asks whether the object is there.
            return match ranges.is_empty() {
                true => Ok(self.stat(path).await?.map(|_| (Vec::new(), true))),
                false => Ok(None),
            };
        }
        let got: Vec<Got> = got.into_iter().flatten().collect();
        let alike = got.windows(2).all(|two| two[0].size == two[1].size && two[0].version == two[1].version);
        Ok(Some((got, absent == 0 && alike)))
    }

    /// One range.
    async fn get(
        &self,
        path: &Path,
        range: ByteRange,
        pinned: Option<Version>,
        most: Option<u64>,
    ) -> StoreResult<Option<Got>> {
        let none = matches!(range, ByteRange::Span { len: 0, .. } | ByteRange::Suffix(0));
        if none || (matches!(range, ByteRange::Suffix(_)) && !self.capabilities.suffix) {
            return self.get_knowing(path, range, pinned).await;
        }
        let mut options = GetOptions { if_match: pinned.as_ref().and_then(tag_of), ..GetOptions::default() };
        options.range = match range {
            ByteRange::All => None,
            ByteRange::Suffix(n) => Some(GetRange::Suffix(n)),
            ByteRange::Span { offset, len } => {
                let Some(end) = offset.checked_add(len) else {
                    return self.get_knowing(path, range, pinned).await;
                };
                Some(GetRange::Bounded(offset..end))
            }
        };
        let len = match range {
            ByteRange::Span { len, .. } | ByteRange::Suffix(len) => len,
            ByteRange::All => most.unwrap_or(u64::MAX),
        };
        options.extensions.insert(crate::gathered::AtMost(len));
        let result = match self.store.get_opts(path, options).await {
            Ok(result) => result,
            Err(e) if is_absent(&e) => return Ok(None),
            Err(object_store::Error::Precondition { .. }) => return Err(changed()),
            // What lies behind the end, or in nothing at all, is said in many ways.
            Err(e) if range != ByteRange::All => {
                let e = read_error(&e);
                return match e.kind() {
                    StoreErrorKind::Io
                    | StoreErrorKind::Unsupported
                    | StoreErrorKind::RangeNotSatisfiable { .. } => {
                        self.get_knowing_after(path, range, pinned, e).await
                    }
                    _ => Err(e),
                };
            }
            Err(e) => return Err(read_error(&e)),
        };
        let (size, version, given) = (result.meta.size, version_of(&result.meta), result.range.clone());
        if pinned.is_some() && version != pinned {
            return Err(changed());
        }
        if range != ByteRange::All && range.resolve(size)? != given {
            return Err(StoreError::new(StoreErrorKind::Io, "the service gave another range than asked for"));
        }
        if range == ByteRange::All && most.is_some_and(|most| size > most) {
            return Ok(Some(Got { bytes: Bytes::new(), size, version }));
        }
        let bytes = result.bytes().await.map_err(|e| read_error(&e))?;
        if bytes.len() as u64 != given.end - given.start {
            return Err(StoreError::new(StoreErrorKind::Io, "the service gave fewer bytes than it promised"));
        }
        Ok(Some(Got { bytes, size, version }))
    }

    /// One range of an object whose size is asked for first.
    async fn get_knowing(
        &self,
        path: &Path,
        range: ByteRange,
        pinned: Option<Version>,
    ) -> StoreResult<Option<Got>> {
        let Some(stat) = self.stat(path).await? else { return Ok(None) };
        if pinned.is_some() && stat.version != pinned {
            return Err(changed());
        }
        let range = range.resolve(stat.size)?;
        let (offset, len) = (range.start, range.end - range.start);
        if len == 0 {
            return Ok(Some(Got { bytes: Bytes::new(), size: stat.size, version: stat.version }));
        }
        Box::pin(self.get(path, ByteRange::Span { offset, len }, stat.version, None)).await
    }

    /// As [`get_knowing`](Self::get_knowing), when the direct way gave the error `e`: which stands, if the size has nothing to
    /// do with it.
    async fn get_knowing_after(
        &self,
        path: &Path,
        range: ByteRange,
        pinned: Option<Version>,
        e: StoreError,
    ) -> StoreResult<Option<Got>> {
        let Some(stat) = self.stat(path).await? else { return Ok(None) };
        let resolved = range.resolve(stat.size)?;
        // Some services have no suffixes, and some none longer than the object.
        let suffix = matches!(range, ByteRange::Suffix(_)) && e.kind() != StoreErrorKind::Io;
        if resolved.is_empty() || suffix { self.get_knowing(path, range, pinned).await } else { Err(e) }
    }
}

fn changed() -> StoreError {
    StoreError::new(StoreErrorKind::Changed, "the object is no longer the version asked for")
}

/// The version of an object: its tag, and its number where there is one. A weak tag is none: two values may share it.
fn version_of(meta: &ObjectMeta) -> Option<Version> {
    version(meta.e_tag.as_deref(), meta.version.as_deref())
}

pub(crate) fn version(tag: Option<&str>, number: Option<&str>) -> Option<Version> {
    let tag = tag.filter(|tag| !tag.starts_with("W/"));
    if tag.is_none() && number.is_none() {
        return None;
    }
    Some(Version::new(format!("{}\n{}", tag.unwrap_or_default(), number.unwrap_or_default()).into_bytes()))
}

/// What `object_store` wants to know of a version.
pub(crate) fn update_of(version: &Version) -> UpdateVersion {
    let text = String::from_utf8_lossy(version.token());
    let (tag, number) = text.split_once('\n').unwrap_or((&text, ""));
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    UpdateVersion { e_tag: some(tag), version: some(number) }
}

fn tag_of(version: &Version) -> Option<String> {
    update_of(version).e_tag
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
        self.read(key, ranges, condition, None)
    }

    fn read_into<'a>(
        &'a self,
        key: &'a Key,
        ranges: &'a [ByteRange],
        condition: If<'a>,
        into: &'a mut [u8],
    ) -> BoxFuture<'a, StoreResult<Option<Filled>>> {
        Box::pin(async move {
            let most = into.len() as u64;
            let Some(reply) = self.read(key, ranges, condition, Some(most)).await? else { return Ok(None) };
            match reply.size {
                Some(size) if ranges == [ByteRange::All] && size > most => {
                    Ok(Some(Filled { len: 0, size: Some(size), version: reply.version }))
                }
                _ => copy_into(reply, ranges, into).map(Some).map_err(|e| e.with_key(key)),
            }
        })
    }

    fn size<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, StoreResult<Option<Stat>>> {
        Box::pin(async move {
            let path = self.bucket.path(key.as_str())?;
            let running = self.run(|bucket| async move { bucket.stat(&path).await });
            running.await.map_err(|e| e.with_key(key))
        })
    }
}

impl ObjectStorage {
    fn read<'a>(
        &'a self,
        key: &'a Key,
        ranges: &'a [ByteRange],
        condition: If<'a>,
        most: Option<u64>,
    ) -> BoxFuture<'a, StoreResult<Option<Reply>>> {
        Box::pin(async move {
            let path = self.bucket.path(key.as_str())?;
            let ranges = ranges.to_vec();
            let pinned = if let If::Pinned(version) = condition { Some(version.clone()) } else { None };
            let running = self
                .run(|bucket| async move { bucket.get_ranges(&path, &ranges, pinned.as_ref(), most).await });
            let mut reply = running.await.map_err(|e| e.with_key(key))?;
            if let (Some(reply), If::Any) = (&mut reply, condition) {
                reply.version = None;
            }
            Ok(reply)
        })
    }
}
