//! A cache of values that are made of objects: shard indexes and decoded chunks. Each is kept with the version of the
//! object that it was read from.

use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt;
use std::hash::Hash;
use std::sync::{Arc, Mutex};

use zarr_strided::Dims;
use zarr_traits::Version;
use zarr_traits::lock::unpoisoned;
use zarr_traits::partial::Known;

/// The default size of the cache of shard indexes in bytes.
pub(crate) const BYTES: usize = 32 << 20;

/// The approximate size of an entry without its value, in bytes.
const OVERHEAD: usize = 256;

/// A cache of values `V` by keys `K`, shared by handles.
pub(crate) struct Versioned<K, V> {
    most: usize,
    kept: Mutex<Kept<K, V>>,
}

/// The cache of shard indexes, by the index of the chunk.
pub(crate) type Indexes = Versioned<Dims, Known>;

/// The key of a cached value.
pub(crate) trait CacheKey: Clone + Eq + Hash {}

impl<K: Clone + Eq + Hash> CacheKey for K {}

/// A value to be cached.
pub(crate) trait Weigh: Clone {
    /// Its size in memory.
    fn bytes(&self) -> usize;
}

impl Weigh for Known {
    fn bytes(&self) -> usize {
        self.bytes()
    }
}

impl Weigh for Arc<Vec<u8>> {
    fn bytes(&self) -> usize {
        self.len()
    }
}

struct Kept<K, V> {
    entries: HashMap<K, Slot<V>>,
    /// The order in which entries are evicted. An entry that was used since gets a second chance.
    queue: VecDeque<K>,
    bytes: usize,
}

struct Slot<V> {
    entry: Entry<V>,
    used: bool,
}

/// A cached value.
#[derive(Clone)]
pub(crate) struct Entry<V> {
    pub(crate) value: V,
    /// The version of the object; `None` if it does not matter.
    pub(crate) version: Option<Version>,
    pub(crate) size: Option<u64>,
}

impl<K: CacheKey, V: Weigh> Versioned<K, V> {
    /// Returns a cache of up to `most` bytes. 0 disables it.
    pub(crate) fn new(most: usize) -> Self {
        Self { most, kept: Mutex::new(Kept::new()) }
    }

    /// Returns the entry at `index`.
    pub(crate) fn get(&self, index: &K) -> Option<Entry<V>> {
        if self.most == 0 {
            return None;
        }
        let mut kept = unpoisoned(self.kept.lock());
        let slot = kept.entries.get_mut(index)?;
        slot.used = true;
        Some(slot.entry.clone())
    }

    /// Caches a value of this version of an object. Evicts others to make room.
    pub(crate) fn keep(&self, index: &K, value: V, version: &Version, size: Option<u64>) {
        // The pin would keep a file open and show its old content forever.
        let Some(version) = version.unpinned() else { return };
        self.keep_entry(index, Entry { value, version: Some(version), size });
    }

    /// Caches a value whatever the version of its object.
    pub(crate) fn keep_forever(&self, index: &K, value: V) {
        self.keep_entry(index, Entry { value, version: None, size: None });
    }

    fn keep_entry(&self, index: &K, entry: Entry<V>) {
        let bytes = entry.value.bytes().saturating_add(OVERHEAD);
        if bytes > self.most {
            return;
        }
        let mut kept = unpoisoned(self.kept.lock());
        kept.remove(index);
        while kept.bytes + bytes > self.most {
            let Some(oldest) = kept.queue.pop_front() else { break };
            match kept.entries.get_mut(&oldest) {
                Some(slot) if slot.used => {
                    slot.used = false;
                    kept.queue.push_back(oldest);
                }
                _ => kept.remove(&oldest),
            }
        }
        kept.bytes += bytes;
        kept.queue.push_back(index.clone());
        kept.entries.insert(index.clone(), Slot { entry, used: false });
    }

    /// Removes all entries.
    pub(crate) fn clear(&self) {
        *unpoisoned(self.kept.lock()) = Kept::new();
    }

    /// The bytes of all entries, and the most that they may have.
    pub(crate) fn bytes(&self) -> (usize, usize) {
        (unpoisoned(self.kept.lock()).bytes, self.most)
    }

    /// Returns a part of the key of each entry.
    pub(crate) fn parts_of_keys<P: Eq + Hash>(&self, part: impl Fn(&K) -> P) -> HashSet<P> {
        unpoisoned(self.kept.lock()).entries.keys().map(part).collect()
    }

    /// Removes the entry at `index`, whose object was changed.
    pub(crate) fn forget(&self, index: &K) {
        if self.most > 0 {
            unpoisoned(self.kept.lock()).remove(index);
        }
    }
}

impl<K: CacheKey, V: Weigh> Kept<K, V> {
    fn new() -> Self {
        Self { entries: HashMap::new(), queue: VecDeque::new(), bytes: 0 }
    }

    /// Removes an entry. Its place in the queue stays until its turn, unless there are too many stale places.
    fn remove(&mut self, index: &K) {
        if let Some(slot) = self.entries.remove(index) {
            self.bytes -= slot.entry.value.bytes().saturating_add(OVERHEAD);
            if self.queue.len() > 2 * self.entries.len() + 16 {
                let entries = &self.entries;
                self.queue.retain(|index| entries.contains_key(index));
            }
        }
    }
}

impl<K: CacheKey, V: Weigh> fmt::Debug for Versioned<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kept = unpoisoned(self.kept.lock());
        write!(f, "Versioned({} of {} bytes, {} entries)", kept.bytes, self.most, kept.entries.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unused_indexes_are_evicted_first_and_versions_are_kept_without_their_pins() {
        let indexes = Indexes::new(3 * (OVERHEAD + 100));
        let version = Version::new(&b"v"[..]).with_pin(Arc::new(7_u8));
        let keep = |i: u64| indexes.keep(&[i][..].into(), Known::new(Arc::new(i), 100), &version, None);
        let has = |i: u64| indexes.get(&[i][..].into()).is_some();
        (0..3).for_each(keep);
        assert!(has(0));
        keep(3);
        assert_eq!([0, 1, 2, 3].map(has), [true, false, true, true], "0 was used, so it stays");
        assert!(indexes.get(&[3][..].into()).unwrap().version.unwrap().pin::<u8>().is_none());
        for i in 0..1000 {
            keep(i);
            indexes.forget(&[i][..].into());
        }
        assert!(
            unpoisoned(indexes.kept.lock()).queue.len() < 40,
            "removed entries leave no places in the queue"
        );
        indexes.keep(&[9][..].into(), Known::new(Arc::new(0), 10_000), &version, None);
        assert!(!has(9), "an index that is too large is not cached");
        indexes.keep(&[9][..].into(), Known::new(Arc::new(0), 100), &version.young(), None);
        assert!(!has(9), "a young version may equal the next one, so its index is not cached");
        assert!(Indexes::new(0).get(&[0][..].into()).is_none());
    }
}
