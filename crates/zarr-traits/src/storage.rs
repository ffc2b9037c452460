//! The handle on a store that everything above holds. **For engine authors, and for authors of layers.**

use std::any::{Any, TypeId};
use std::fmt;
use std::sync::{Arc, Mutex};

use bytes::Bytes;

use crate::error::{StoreError, StoreErrorKind, StoreResult};
use crate::key::{Key, Prefix};
use crate::lock::{Gate, KeyGuard, KeyLocks, unpoisoned};
use crate::range::ByteRange;
use crate::store::{Capabilities, Drive, If, ListStore, Outcome, Put, ReadStore, WriteStore};

/// Encoded bytes that all reads of one storage may have in flight; see [`Storage::with_in_flight`].
const IN_FLIGHT_BYTES: u64 = 256 << 20;

/// A store, as the three traits that it has, with the locks and the gate that all its users in this process share.
///
/// Cheap to clone. A capability is something that the handle holds: a storage without [`Storage::writer`] cannot be
/// written, whatever anybody claims.
///
/// ```
/// # use zarr_traits::{Storage, ReadStore, ListStore, WriteStore};
/// # fn example<S: ReadStore + ListStore + WriteStore>(store: S, read_only: impl ReadStore) {
/// let storage = Storage::from(store);          // all three
/// let storage = Storage::reading(read_only);   // what a web server offers; one that lists too is `listing`
/// assert!(storage.writer().is_err());
/// # }
/// ```
#[derive(Clone)]
pub struct Storage(Arc<Inner>);

#[derive(Clone)]
struct Inner {
    read: Arc<dyn ReadStore>,
    list: Option<Arc<dyn ListStore>>,
    write: Option<Arc<dyn WriteStore>>,
    locks: KeyLocks,
    gate: Gate,
    shared: Arc<Mutex<Slots>>,
}

/// What is kept with a storage, one value of each type.
type Slots = Vec<(TypeId, Arc<dyn Any + Send + Sync>)>;

impl<S: ReadStore + ListStore + WriteStore> From<S> for Storage {
    fn from(store: S) -> Self {
        let store = Arc::new(store);
        Self::new(store.clone(), Some(store.clone()), Some(store))
    }
}

impl Storage {
    /// From the three traits; what a store has not is `None`.
    pub fn new(
        read: Arc<dyn ReadStore>,
        list: Option<Arc<dyn ListStore>>,
        write: Option<Arc<dyn WriteStore>>,
    ) -> Self {
        let requests = match read.capabilities().drive {
            Drive::Inline => usize::MAX,
            Drive::Remote { in_flight, .. } => in_flight,
        };
        let gate = Gate::new(requests, IN_FLIGHT_BYTES);
        Self(Arc::new(Inner { read, list, write, locks: KeyLocks::default(), gate, shared: Arc::default() }))
    }

    /// A store that can only be read.
    pub fn reading(store: impl ReadStore) -> Self {
        Self::new(Arc::new(store), None, None)
    }

    /// A store that can be read and listed.
    pub fn listing(store: impl ReadStore + ListStore) -> Self {
        let store = Arc::new(store);
        Self::new(store.clone(), Some(store), None)
    }

    /// This storage behind a layer: a store that implements all three traits by means of this storage. The result can
    /// do what this storage can, no more.
    #[must_use]
    pub fn layer<L: ReadStore + ListStore + WriteStore>(&self, layer: L) -> Self {
        let layer = Arc::new(layer);
        let list = self.0.list.is_some().then(|| layer.clone() as Arc<dyn ListStore>);
        let write = self.0.write.is_some().then(|| layer.clone() as Arc<dyn WriteStore>);
        Self::new(layer, list, write)
    }

    /// As [`layer`](Self::layer), for a layer that leaves keys as they are: locks, gate and what is shared remain those of
    /// this storage.
    #[must_use]
    pub fn overlay<L: ReadStore + ListStore + WriteStore>(&self, layer: L) -> Self {
        let layer = Arc::new(layer);
        let list = self.0.list.is_some().then(|| layer.clone() as Arc<dyn ListStore>);
        let write = self.0.write.is_some().then(|| layer.clone() as Arc<dyn WriteStore>);
        Self(Arc::new(Inner { read: layer, list, write, ..(*self.0).clone() }))
    }

    /// This storage, which is one of many that layers make of `below` with other keys: with the gate and what is shared of
    /// `below`, and with locks that all of them share.
    #[must_use]
    pub fn made_of(&self, below: &Storage) -> Self {
        let locks = (*below.shared::<KeyLocks>()).clone();
        let (gate, shared) = (below.0.gate.clone(), below.0.shared.clone());
        Self(Arc::new(Inner { locks, gate, shared, ..(*self.0).clone() }))
    }

    /// The same storage without the means to write.
    #[must_use]
    pub fn read_only(&self) -> Self {
        Self(Arc::new(Inner { write: None, ..(*self.0).clone() }))
    }

    /// The same store, with the same locks, and room for `requests` and `bytes` in flight at once over all reads of this
    /// handle.
    #[must_use]
    pub fn with_in_flight(&self, requests: usize, bytes: u64) -> Self {
        Self(Arc::new(Inner { gate: Gate::new(requests, bytes), ..(*self.0).clone() }))
    }

    /// What the store can do.
    pub fn capabilities(&self) -> Capabilities {
        self.0.read.capabilities()
    }

    /// The reading side.
    pub fn reader(&self) -> &dyn ReadStore {
        &*self.0.read
    }

    /// The listing side.
    ///
    /// # Errors
    /// [`StoreErrorKind::Unsupported`] when the store cannot list.
    pub fn lister(&self) -> StoreResult<&dyn ListStore> {
        self.0
            .list
            .as_deref()
            .ok_or_else(|| StoreError::new(StoreErrorKind::Unsupported, "this store cannot list"))
    }

    /// The writing side.
    ///
    /// # Errors
    /// [`StoreErrorKind::Unsupported`] when the store is read-only.
    pub fn writer(&self) -> StoreResult<&dyn WriteStore> {
        self.0
            .write
            .as_deref()
            .ok_or_else(|| StoreError::new(StoreErrorKind::Unsupported, "this store is read-only"))
    }

    /// The whole object at `key`, or `None`.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn get(&self, key: &Key) -> StoreResult<Option<Bytes>> {
        let reply = self.0.read.get_ranges(key, &[ByteRange::All], If::Any).await?;
        Ok(reply.and_then(|reply| reply.bytes.into_iter().next()))
    }

    /// Puts `value` at `key`, in any case.
    ///
    /// # Errors
    /// Those of the store; [`StoreErrorKind::Unsupported`] when it is read-only.
    pub async fn put(&self, key: &Key, value: impl Into<Bytes>) -> StoreResult<()> {
        match self.writer()?.put(key, &[value.into()], Put::Replace).await? {
            Outcome::Done(_) => Ok(()),
            Outcome::Conflict => {
                Err(StoreError::new(StoreErrorKind::Io, "the store refused an unconditional put")
                    .with_key(key))
            }
        }
    }

    /// All keys below `prefix`, page after page.
    ///
    /// # Errors
    /// Those of the store; [`StoreErrorKind::Unsupported`] when it cannot list.
    pub async fn list_all(&self, prefix: &Prefix) -> StoreResult<Vec<Key>> {
        let lister = self.lister()?;
        let mut keys: Vec<Key> = Vec::new();
        loop {
            let page = lister.list(prefix, keys.last()).await?;
            let more = page.more && !page.keys.is_empty();
            keys.extend(page.keys);
            if !more {
                return Ok(keys);
            }
        }
    }

    /// Waits until nobody else in this process who uses this handle holds `key`: for read-modify-write.
    pub async fn lock(&self, key: &Key) -> KeyGuard {
        self.0.locks.lock(key).await
    }

    /// The gate that bounds what is in flight.
    pub fn gate(&self) -> &Gate {
        &self.0.gate
    }

    /// Something of type `T` that all users of this handle and its clones share, made when it is first asked for: how
    /// an engine keeps its pool of threads with the storage instead of in a global.
    pub fn shared<T: Any + Send + Sync + Default>(&self) -> Arc<T> {
        let mut slots = unpoisoned(&self.0.shared);
        let found = slots.iter().find(|(id, _)| *id == TypeId::of::<T>());
        if let Some(slot) = found.and_then(|(_, slot)| slot.clone().downcast().ok()) {
            return slot;
        }
        let slot = Arc::new(T::default());
        slots.push((TypeId::of::<T>(), slot.clone()));
        slot
    }
}

impl fmt::Debug for Storage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Storage")
            .field("store", &self.0.read)
            .field("lists", &self.0.list.is_some())
            .field("writes", &self.0.write.is_some())
            .finish_non_exhaustive()
    }
}
