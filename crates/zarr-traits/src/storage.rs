//! The handle on a store that all code above the stores uses.

use std::any::{Any, TypeId};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex};

use bytes::Bytes;

use crate::error::{StoreError, StoreErrorKind, StoreResult};
use crate::future::BoxFuture;
use crate::key::{Key, Prefix};
use crate::lock::unpoisoned;
use crate::range::ByteRange;
use crate::range::Span;
use crate::store::{
    Answer, Capabilities, Copied, CopyFrom, Delete, Dir, Head, List, ListDir, Listed, ObjectMeta, Op,
    Outcome, Page, Put, PutMode, PutRanges, Read, ReadBuffer, ReadVersion, Store, ready,
};
use crate::version::Version;

/// A handle on a store. Clones share the values of [`shared`](Self::shared) and [`shared_by_key`](Self::shared_by_key).
///
/// ```
/// # use zarr_traits::{Storage, store::Store};
/// # fn example(store: impl Store) {
/// let storage = Storage::from(store);
/// let reader = storage.read_only();
/// assert!(!reader.capabilities().write);
/// # }
/// ```
#[derive(Clone)]
#[doc(alias = "kvstore")]
pub struct Storage(Arc<Inner>);

#[derive(Clone)]
struct Inner {
    store: Arc<dyn Store>,
    id: StoreId,
    read_only: bool,
    location: Option<Arc<str>>,
    /// Values for the store.
    shared: Slots,
    /// Values for its keys.
    by_key: Slots,
}

/// A store and a node in it: what the URL of a node names.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Located {
    /// The store. Its root is the place that the URL names.
    pub storage: Storage,
    /// The path of the node in the store: `/`, unless the URL ends in a format with a path (`|zarr3:a/b`).
    pub node: String,
    /// The number of the format that the URL asks for, if any.
    pub format: Option<u8>,
}

impl Located {
    /// Returns the node at a path of a store, in this format or in any.
    pub fn new(storage: impl Into<Storage>, node: impl Into<String>, format: Option<u8>) -> Self {
        Self { storage: storage.into(), node: node.into(), format }
    }
}

/// The identity of the store of a [`Storage`]. It does not keep the store alive, and no other store gets it later. Each
/// default value is a new identity.
#[derive(Clone, Default)]
pub struct StoreId(Arc<u8>);

impl PartialEq for StoreId {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for StoreId {}

impl Hash for StoreId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.0).hash(state);
    }
}

impl fmt::Debug for StoreId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StoreId({:p})", self.0)
    }
}

/// One value of each type, created at the first use.
#[derive(Clone, Default)]
struct Slots(Arc<Mutex<Vec<Slot>>>);

type Slot = (TypeId, Arc<dyn Any + Send + Sync>);

impl Slots {
    fn get<T: Any + Send + Sync + Default>(&self) -> Arc<T> {
        // A thread that panicked with the lock held left the list valid.
        let mut slots = unpoisoned(self.0.lock());
        let found = slots.iter().find(|(id, _)| *id == TypeId::of::<T>());
        if let Some(slot) = found.and_then(|(_, slot)| slot.clone().downcast().ok()) {
            return slot;
        }
        let slot = Arc::new(T::default());
        slots.push((TypeId::of::<T>(), slot.clone()));
        slot
    }
}

/// The values for keys shared by all storages [made of](Storage::made_of) one store.
#[derive(Default)]
struct OfLayers(Slots);

/// The result of [`Storage::get_ranges`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Reply {
    /// The bytes of each range, in the order of the request.
    pub bytes: Vec<Bytes>,
    /// The size of the whole object in bytes, if the store reports it.
    pub size: Option<u64>,
    /// The version, if it was requested and the store has versions.
    pub version: Option<Version>,
}

impl<S: Store> From<S> for Storage {
    fn from(store: S) -> Self {
        Self(Arc::new(Inner {
            location: store.location().map(Arc::from),
            store: Arc::new(store),
            id: StoreId::default(),
            read_only: false,
            shared: Slots::default(),
            by_key: Slots::default(),
        }))
    }
}

impl Storage {
    /// Returns a handle on `layer`, a store over this storage that does not change keys. It shares the values of this
    /// storage. For a layer that changes keys use `Storage::from(layer)`.
    #[must_use]
    pub fn overlay(&self, layer: impl Store) -> Self {
        let (store, id) = (Arc::new(layer), StoreId::default());
        Self(Arc::new(Inner { store, id, read_only: false, ..(*self.0).clone() }))
    }

    /// Returns this storage as a layer over `below` that changes keys. It shares the values of `below`. All layers over
    /// `below` have one common [`shared_by_key`](Self::shared_by_key).
    #[must_use]
    pub fn made_of(&self, below: &Storage) -> Self {
        let (shared, by_key) = (below.0.shared.clone(), below.shared::<OfLayers>().0.clone());
        let location = self.0.location.clone().or_else(|| below.0.location.clone());
        Self(Arc::new(Inner { shared, by_key, location, ..(*self.0).clone() }))
    }

    /// Returns a read-only handle on the same store.
    #[must_use]
    pub fn read_only(&self) -> Self {
        Self(Arc::new(Inner { read_only: true, ..(*self.0).clone() }))
    }

    /// Returns a handle on the same store with another location for messages, or with none. It must not contain
    /// credentials.
    #[must_use]
    pub fn with_location(&self, location: Option<&str>) -> Self {
        Self(Arc::new(Inner { location: location.map(Arc::from), ..(*self.0).clone() }))
    }

    /// Where the store is, for messages: a path, or a URL without credentials.
    pub fn location(&self) -> Option<&str> {
        self.0.location.as_deref()
    }

    /// The identity of the store. Clones and read-only handles have the same one, a layer over the storage has another.
    pub fn store_id(&self) -> StoreId {
        self.0.id.clone()
    }

    /// The operations that this handle supports.
    pub fn capabilities(&self) -> Capabilities {
        let capabilities = self.0.store.capabilities();
        if self.0.read_only { capabilities.read_only() } else { capabilities }
    }

    /// Performs one operation, as [`Store::call`]. Each method below does this for one operation.
    ///
    /// # Errors
    /// Errors of the store; [`StoreErrorKind::Unsupported`] for a write or a listing that the handle does not support.
    pub fn call<'a>(&'a self, op: Op<'a>) -> BoxFuture<'a, StoreResult<Answer>> {
        if (op.writes() && !self.capabilities().write) || (op.lists() && !self.capabilities().list) {
            return ready(op.unsupported());
        }
        self.0.store.call(op)
    }

    /// Checks that the store can be written through this handle.
    ///
    /// # Errors
    /// [`StoreErrorKind::Unsupported`] if it is read-only.
    pub fn check_writable(&self) -> StoreResult<()> {
        if self.capabilities().write { Ok(()) } else { Op::Sync.unsupported().map(|_| ()) }
    }

    /// Checks that the store can be listed.
    ///
    /// # Errors
    /// [`StoreErrorKind::Unsupported`] if it cannot.
    pub fn check_listable(&self) -> StoreResult<()> {
        let root = Prefix::root();
        if self.capabilities().list { Ok(()) } else { Op::List(List::new(&root)).unsupported().map(|_| ()) }
    }

    /// Performs a read. Returns `None` if no object has the key.
    ///
    /// # Errors
    /// Errors of the store.
    pub async fn read(&self, read: Read<'_>) -> StoreResult<Option<ObjectMeta>> {
        self.call(Op::Read(read)).await?.into_read()
    }

    /// Returns the bytes of `ranges` of the object at `key`, at most `limit` bytes in total, or `None` if there is no
    /// such object.
    ///
    /// # Errors
    /// Errors of the store; [`StoreErrorKind::TooLarge`] above the limit.
    pub async fn get_ranges(
        &self,
        key: &Key,
        ranges: &[ByteRange],
        version: ReadVersion<'_>,
        limit: u64,
    ) -> StoreResult<Option<Reply>> {
        let mut buffer = ReadBuffer::new(limit);
        let Some(meta) = self.read(Read::new(key, ranges, &mut buffer).version(version)).await? else {
            return Ok(None);
        };
        let bytes = buffer.into_parts(ranges, meta.size).ok_or_else(|| {
            let message = "the store returned other lengths than requested";
            StoreError::new(StoreErrorKind::Io, message).with_key(key)
        })?;
        Ok(Some(Reply { bytes, size: meta.size, version: meta.version }))
    }

    /// Returns the whole object at `key`, at most `limit` bytes, or `None` if there is no such object.
    ///
    /// # Errors
    /// Errors of the store; [`StoreErrorKind::TooLarge`] above the limit.
    pub async fn get(&self, key: &Key, limit: u64) -> StoreResult<Option<Bytes>> {
        let mut buffer = ReadBuffer::new(limit);
        let meta = self.read(Read::new(key, &[ByteRange::All], &mut buffer)).await?;
        Ok(meta.map(|_| buffer.into_bytes()))
    }

    /// Returns the size and version of the object at `key`, or `None` if there is no such object.
    ///
    /// # Errors
    /// Errors of the store.
    pub async fn head(&self, key: &Key) -> StoreResult<Option<ObjectMeta>> {
        self.call(Op::Head(Head::new(key))).await?.into_head()
    }

    /// Returns the size in bytes of the object at `key`, or `None` if there is no such object.
    ///
    /// # Errors
    /// Errors of the store; [`StoreErrorKind::Io`] if the store does not report the size.
    pub async fn size(&self, key: &Key) -> StoreResult<Option<u64>> {
        let Some(meta) = self.head(key).await? else { return Ok(None) };
        let unknown =
            || StoreError::new(StoreErrorKind::Io, "the store does not report the size").with_key(key);
        meta.size.ok_or_else(unknown).map(Some)
    }

    /// Whether an object exists at `key`.
    ///
    /// # Errors
    /// Errors of the store.
    pub async fn exists(&self, key: &Key) -> StoreResult<bool> {
        Ok(self.head(key).await?.is_some())
    }

    /// Stores a document at `key` under a condition, as [`put_if`](Self::put_if). A power cut leaves a document that is
    /// replaced, or the new one.
    ///
    /// # Errors
    /// As [`put_if`](Self::put_if).
    pub async fn put_document(
        &self,
        key: &Key,
        value: impl Into<Bytes>,
        mode: PutMode<'_>,
    ) -> StoreResult<Outcome> {
        let parts = [value.into()];
        self.call(Op::Put(Put::new(key, &parts, mode).keeping_old())).await?.into_outcome()
    }

    /// Stores `value` at `key` and replaces an existing object.
    ///
    /// # Errors
    /// Errors of the store; [`StoreErrorKind::Unsupported`] if it is read-only.
    pub async fn put(&self, key: &Key, value: impl Into<Bytes>) -> StoreResult<()> {
        match self.put_if(key, &[value.into()], PutMode::Replace).await? {
            Outcome::Done(_) => Ok(()),
            Outcome::Conflict => {
                let message = "the store reports a conflict for a put without a condition";
                Err(StoreError::new(StoreErrorKind::Io, message).with_key(key))
            }
        }
    }

    /// Stores the concatenation of `parts` at `key` if the condition `mode` holds.
    ///
    /// # Errors
    /// Errors of the store; [`StoreErrorKind::Unsupported`] if it is read-only or does not support the condition.
    pub async fn put_if(&self, key: &Key, parts: &[Bytes], mode: PutMode<'_>) -> StoreResult<Outcome> {
        self.call(Op::Put(Put::new(key, parts, mode))).await?.into_outcome()
    }

    /// Replaces `spans` of the object at `key` by `bytes`, which has the new bytes of all of them, one after the other. The
    /// outcome is a conflict if there is no object of `size` bytes at the key, or if the store does not support this.
    ///
    /// # Errors
    /// Errors of the store; [`StoreErrorKind::Unsupported`] if it is read-only.
    pub async fn put_ranges(
        &self,
        key: &Key,
        size: u64,
        spans: &[Span],
        bytes: &Bytes,
    ) -> StoreResult<Outcome> {
        self.check_writable()?;
        if !self.capabilities().put_ranges {
            return Ok(Outcome::Conflict);
        }
        match self.call(Op::PutRanges(PutRanges::new(key, size, spans, bytes))).await {
            // A layer that changes keys may show the capability of the store below it.
            Err(e) if e.kind() == StoreErrorKind::Unsupported => Ok(Outcome::Conflict),
            answer => answer?.into_outcome(),
        }
    }

    /// Copies the object at `from` of another storage to `key`, in place of what is there, if the service of both can do so
    /// itself: the bytes do not pass through this process.
    ///
    /// # Errors
    /// Those of the stores; [`StoreErrorKind::Unsupported`] when this one is read-only.
    pub async fn copy_from(&self, source: &Storage, from: &Key, key: &Key) -> StoreResult<Copied> {
        self.check_writable()?;
        if !self.capabilities().copy || !source.capabilities().copy {
            return Ok(Copied::Unable);
        }
        let copy = async {
            match source.call(Op::Origin(from)).await?.into_origin()? {
                Some(origin) => self.call(Op::Copy(CopyFrom::new(&origin, key))).await?.into_copied(),
                None => Ok(Copied::Absent),
            }
        };
        match copy.await {
            // A layer that changes keys may show the capability of the store below it.
            Err(e) if e.kind() == StoreErrorKind::Unsupported => Ok(Copied::Unable),
            copied => copied,
        }
    }

    /// Deletes the object at `key`, if there is one.
    ///
    /// # Errors
    /// Errors of the store; [`StoreErrorKind::Unsupported`] if it is read-only.
    pub async fn delete(&self, key: &Key) -> StoreResult<()> {
        self.delete_if(key, None).await.map(|_| ())
    }

    /// Deletes the object at `key`, or only a given `version` of it.
    ///
    /// # Errors
    /// Errors of the store; [`StoreErrorKind::Unsupported`] if it is read-only or does not support the condition.
    pub async fn delete_if(&self, key: &Key, version: Option<&Version>) -> StoreResult<Outcome> {
        self.call(Op::Delete(Delete::new(key).version(version))).await?.into_outcome()
    }

    /// Deletes everything below `prefix`.
    ///
    /// # Errors
    /// Errors of the store; [`StoreErrorKind::Unsupported`] if it is read-only.
    pub async fn delete_prefix(&self, prefix: &Prefix) -> StoreResult<()> {
        self.call(Op::DeletePrefix(prefix)).await?.into_done()
    }

    /// Makes everything written so far durable.
    ///
    /// # Errors
    /// Errors of the store; [`StoreErrorKind::Unsupported`] if it is read-only.
    pub async fn sync(&self) -> StoreResult<()> {
        self.call(Op::Sync).await?.into_done()
    }

    /// Lists one page of the objects below `prefix` that come after the key `after`.
    ///
    /// # Errors
    /// Errors of the store; [`StoreErrorKind::Unsupported`] if it cannot list.
    pub async fn list(&self, prefix: &Prefix, after: Option<&Key>) -> StoreResult<Page> {
        self.call(Op::List(List::new(prefix).after(after))).await?.into_page()
    }

    /// Lists the objects and prefixes directly below `prefix`.
    ///
    /// # Errors
    /// Errors of the store; [`StoreErrorKind::Unsupported`] if it cannot list.
    pub async fn list_dir(&self, prefix: &Prefix) -> StoreResult<Dir> {
        self.call(Op::ListDir(ListDir::new(prefix))).await?.into_dir()
    }

    /// Lists all objects below `prefix`, page after page.
    ///
    /// # Errors
    /// As [`list_each`](Self::list_each).
    pub async fn list_all(&self, prefix: &Prefix) -> StoreResult<Vec<Listed>> {
        let mut entries = Vec::new();
        self.list_each(prefix, |entry| entries.push(entry)).await?;
        Ok(entries)
    }

    /// Calls `each` for every object below `prefix`, in ascending order of their keys. Holds one page in memory.
    ///
    /// # Errors
    /// Errors of the store; [`StoreErrorKind::Unsupported`] if it cannot list; [`StoreErrorKind::Io`] if pages do not
    /// advance.
    pub async fn list_each(&self, prefix: &Prefix, mut each: impl FnMut(Listed)) -> StoreResult<()> {
        let mut last: Option<Key> = None;
        loop {
            let page = self.list(prefix, last.as_ref()).await?;
            if page.entries.first().zip(last.as_ref()).is_some_and(|(first, last)| first.key <= *last) {
                let message =
                    "the listing does not advance: a page begins before the end of the previous page";
                return Err(StoreError::new(StoreErrorKind::Io, message).with_key(prefix));
            }
            last = page.entries.last().map(|entry| entry.key.clone());
            page.entries.into_iter().for_each(&mut each);
            if !page.more || last.is_none() {
                return Ok(());
            }
        }
    }

    /// Returns the value of type `T` that all clones of this handle share; it is created at the first use. An engine
    /// keeps its thread pool here instead of in a global variable.
    pub fn shared<T: Any + Send + Sync + Default>(&self) -> Arc<T> {
        self.0.shared.get()
    }

    /// Returns the value of type `T` for the keys of this handle; it is created at the first use. Clones share it, and
    /// so do layers that do not change keys. An engine keeps locks of keys here.
    pub fn shared_by_key<T: Any + Send + Sync + Default>(&self) -> Arc<T> {
        self.0.by_key.get()
    }
}

impl fmt::Debug for Storage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Storage")
            .field("store", &self.0.store)
            .field("read_only", &self.0.read_only)
            .finish_non_exhaustive()
    }
}
