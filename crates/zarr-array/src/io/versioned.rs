//! A cache of values that are made of objects: shard indexes and decoded chunks. Each is kept with the version of the
//! object that it was read from.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex};

use zarr_strided::Dims;
use zarr_traits::Version;
use zarr_traits::lock::unpoisoned;
use zarr_traits::partial::Known;

/// The default size of the cache of shard indexes in bytes.
pub(crate) const BYTES: usize = 32 << 20;

/// The approximate size of an entry without its value, in bytes.
const OVERHEAD: usize = 256;

/// A cache, shared by the clones of a handle.
pub(crate) struct Versioned<V> {
    most: usize,
    kept: Mutex<Kept<V>>,
}

/// The cache of shard indexes, by the index of the chunk.
pub(crate) type Indexes = Versioned<Known>;

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

struct Kept<V> {
    entries: HashMap<Dims, Slot<V>>,
    /// The order in which entries are evicted. An entry that was used since gets a second chance.
    queue: VecDeque<Dims>,
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

impl<V: Weigh> Versioned<V> {
    /// Returns a cache of up to `most` bytes. 0 disables it.
    pub(crate) fn new(most: usize) -> Self {
        let kept = Kept { entries: HashMap::new(), queue: VecDeque::new(), bytes: 0 };
        Self { most, kept: Mutex::new(kept) }
    }

    /// Returns the entry at `index`.
    pub(crate) fn get(&self, index: &Dims) -> Option<Entry<V>> {
        if self.most == 0 {
            return None;
        }
        let mut kept = unpoisoned(self.kept.lock());
        let slot = kept.entries.get_mut(index)?;
        slot.used = true;
        Some(slot.entry.clone())
    }

    /// Caches a value of this version of an object. Evicts others to make room.
    pub(crate) fn keep(&self, index: &Dims, value: V, version: &Version, size: Option<u64>) {
        // The pin would keep a file open and show its old content forever.
        let Some(version) = version.unpinned() else { return };
        self.keep_entry(index, Entry { value, version: Some(version), size });
    }

    /// Caches a value whatever the version of its object.
    pub(crate) fn keep_forever(&self, index: &Dims, value: V) {
        self.keep_entry(index, Entry { value, version: None, size: None });
    }

    fn keep_entry(&self, index: &Dims, entry: Entry<V>) {
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

    /// Removes the entry at `index`, whose object was changed.
    pub(crate) fn forget(&self, index: &Dims) {
        if self.most > 0 {
            unpoisoned(self.kept.lock()).remove(index);
        }
    }
}

impl<V: Weigh> Kept<V> {
    /// Removes an entry. Its place in the queue stays until its turn, unless there are too many stale places.
    fn remove(&mut self, index: &Dims) {
        if let Some(slot) = self.entries.remove(index) {
            self.bytes -= slot.entry.value.bytes().saturating_add(OVERHEAD);
            if self.queue.len() > 2 * self.entries.len() + 16 {
                let entries = &self.entries;
                self.queue.retain(|index| entries.contains_key(index));
            }
        }
    }
}

impl<V: Weigh> fmt::Debug for Versioned<V> {
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
