//! A cache of decoded chunks, which arrays share.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use zarr_strided::Dims;
use zarr_traits::lock::unpoisoned;
use zarr_traits::{Key, Prefix, Storage, StoreId, Version};

use crate::error::ArrayResult;
use crate::io::versioned::Versioned;

/// A cache of decoded chunks, or of inner chunks where an array has shards. Clones share its memory, so any number of
/// arrays has one budget. See [`with_chunk_cache`](crate::Array::with_chunk_cache).
///
/// A cached chunk is used only if its object is still the version that was read, which costs a request without bytes per
/// object. Nothing is cached in stores without versions. [`unchecked`](Self::unchecked) is without these requests.
///
/// Handles on one array share its chunks if they were opened with clones of one [`Storage`], and the data type, grid,
/// codecs and fill value are the same. Elements of variable length and uncompressed chunks are read without the cache.
///
/// ```
/// # use zarr_array::{ArrayMeta, ArrayResult, ChunkCache, DataType, Storage, blocking::Array, standard};
/// # let storage = Storage::from(zarr_store::MemoryStore::new());
/// # for path in ["/u10", "/v10"] {
/// #     let meta = ArrayMeta::builder([400, 600], DataType::Float32).chunks([100, 100]).build()?;
/// #     Array::create(storage.clone(), path, meta, &standard())?.write((0, ..), &[1.0_f32; 600])?;
/// # }
/// let cache = ChunkCache::new(256 << 20);
/// let u = Array::open(storage.clone(), "/u10", &standard())?.with_chunk_cache(cache.clone());
/// let v = Array::open(storage, "/v10", &standard())?.with_chunk_cache(cache.clone());
/// for x in 0..100 {
///     let wind = (u.read::<f32>((0, x))?, v.read::<f32>((0, x))?);
/// }
/// assert_eq!((cache.counts().misses, cache.counts().hits), (2, 198));
/// # ArrayResult::Ok(())
/// ```
#[derive(Clone, Debug)]
#[doc(alias = "cache_pool")]
pub struct ChunkCache {
    shared: Arc<Shared>,
    is_checked: bool,
}

/// The statistics of a [`ChunkCache`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ChunkCacheCounts {
    /// How often a chunk or an inner chunk was in the cache.
    pub hits: u64,
    /// How often it was not there, or its object had changed.
    pub misses: u64,
    /// The bytes of memory in use now.
    pub bytes: u64,
    /// The most bytes that the cache may use.
    pub budget: u64,
}

/// The state that the clones of a cache share.
struct Shared {
    chunks: Versioned<Unit, Arc<Vec<u8>>>,
    owners: Mutex<Owners>,
    hits: AtomicU64,
    misses: AtomicU64,
}

/// A chunk of an owner, by its number in the grid of the smallest chunks.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Unit {
    owner: u64,
    unit: Dims,
}

/// The number of each array whose chunks are cached. The handles on the array share it.
#[derive(Default)]
struct Owners {
    numbers: HashMap<Decoding, Arc<u64>>,
    next: u64,
    /// How many numbers there may be before those without entries and handles are forgotten.
    most: usize,
}

/// Where the chunks of an array are, and what they are decoded to.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Decoding {
    pub(crate) store: StoreId,
    pub(crate) prefix: Prefix,
    /// The text of all metadata that changes the elements of a chunk.
    pub(crate) text: String,
}

impl ChunkCache {
    /// Returns an empty cache of up to `bytes` bytes. Chunks that were not used for the longest time are dropped first.
    pub fn new(bytes: usize) -> Self {
        let shared = Shared {
            chunks: Versioned::new(bytes),
            owners: Mutex::default(),
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
        };
        Self { shared: Arc::new(shared), is_checked: true }
    }

    /// Returns this cache for arrays that use cached chunks without asking the store. For data that does not change: writes
    /// are not seen, not even those of this program, until [`clear`](Self::clear).
    #[must_use]
    pub fn unchecked(self) -> Self {
        Self { is_checked: false, ..self }
    }

    /// Drops all chunks of all arrays. A read that runs meanwhile may cache its chunks afterwards.
    pub fn clear(&self) {
        self.shared.chunks.clear();
    }

    /// Returns the statistics so far, of all arrays that use the cache.
    pub fn counts(&self) -> ChunkCacheCounts {
        let Shared { chunks, hits, misses, .. } = &*self.shared;
        let (bytes, budget) = chunks.bytes();
        ChunkCacheCounts {
            hits: hits.load(Ordering::Relaxed),
            misses: misses.load(Ordering::Relaxed),
            bytes: bytes as u64,
            budget: budget as u64,
        }
    }

    /// Returns the chunks of the array with this decoding, or of a new array that no other handle shares.
    pub(crate) fn of(&self, decoding: Option<Decoding>) -> Decoded {
        let mut owners = unpoisoned(self.shared.owners.lock());
        let owner = match decoding {
            Some(decoding) => {
                owners.forget_unused(&self.shared.chunks);
                let Owners { numbers, next, .. } = &mut *owners;
                numbers.entry(decoding).or_insert_with(|| new_number(next)).clone()
            }
            None => new_number(&mut owners.next),
        };
        Decoded { cache: self.clone(), owner }
    }
}

fn new_number(next: &mut u64) -> Arc<u64> {
    *next += 1;
    Arc::new(*next)
}

impl Owners {
    /// Forgets arrays without handles and without cached chunks, from time to time.
    fn forget_unused(&mut self, chunks: &Versioned<Unit, Arc<Vec<u8>>>) {
        if self.numbers.len() <= self.most {
            return;
        }
        let used = chunks.parts_of_keys(|key| key.owner);
        self.numbers.retain(|_, number| Arc::strong_count(number) > 1 || used.contains(&**number));
        self.most = 2 * self.numbers.len() + 16;
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.chunks.fmt(f)
    }
}

/// The cached chunks of an array.
#[derive(Debug, Clone)]
pub(crate) struct Decoded {
    cache: ChunkCache,
    /// The number of the array. It is forgotten only if no handle has it.
    owner: Arc<u64>,
}

impl Decoded {
    fn key(&self, unit: &Dims) -> Unit {
        Unit { owner: *self.owner, unit: unit.clone() }
    }

    /// Returns the part of the cache for other elements of the same chunks, which no other handle shares.
    pub(crate) fn recoded(&self) -> Self {
        self.cache.of(None)
    }

    /// Returns the elements of each chunk that is cached. All are parts of the object at `key`.
    pub(crate) async fn find(
        &self,
        storage: &Storage,
        key: &Key,
        chunks: impl Iterator<Item = &Dims>,
    ) -> ArrayResult<Vec<Option<Arc<Vec<u8>>>>> {
        let shared = &*self.cache.shared;
        let mut found: Vec<_> = chunks.map(|chunk| shared.chunks.get(&self.key(chunk))).collect();
        if self.cache.is_checked && found.iter().any(Option::is_some) {
            let now = storage.head(key).await?.and_then(|meta| meta.version);
            let is_now = |version: &Option<Version>| now.is_some() && *version == now;
            found.iter_mut().for_each(|entry| drop(entry.take_if(|entry| !is_now(&entry.version))));
        }
        let hits = found.iter().flatten().count();
        shared.hits.fetch_add(hits as u64, Ordering::Relaxed);
        shared.misses.fetch_add((found.len() - hits) as u64, Ordering::Relaxed);
        Ok(found.into_iter().map(|entry| entry.map(|entry| entry.value)).collect())
    }

    /// Caches the elements of a chunk that were read from this version of its object.
    pub(crate) fn keep(&self, chunk: &Dims, elements: Arc<Vec<u8>>, version: Option<&Version>) {
        let chunks = &self.cache.shared.chunks;
        match version {
            _ if !self.cache.is_checked => chunks.keep_forever(&self.key(chunk), elements),
            Some(version) => chunks.keep(&self.key(chunk), elements, version, None),
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_without_handles_and_cached_chunks_are_forgotten() {
        let cache = ChunkCache::new(1 << 20);
        let store = StoreId::default();
        let of = |i: u64| {
            let prefix = Prefix::new(format!("a{i}/")).unwrap();
            cache.of(Some(Decoding { store: store.clone(), prefix, text: String::new() }))
        };
        let (held, kept) = (of(1000), of(1001));
        let version = Version::new(&b"v"[..]);
        kept.keep(&[0][..].into(), Arc::new(vec![1]), Some(&version));
        let number = *kept.owner;
        drop(kept);
        (0..1000).for_each(|i| drop(of(i)));
        assert!(cache.shared.owners.lock().unwrap().numbers.len() < 100);
        assert_eq!((*of(1000).owner, *of(1001).owner), (*held.owner, number));
        assert_ne!(cache.of(None).owner, cache.of(None).owner);
    }
}
