//! A pool of unused scratch memory.

use std::sync::{Arc, Mutex, OnceLock};

use zarr_traits::lock::unpoisoned;
use zarr_traits::{Scratch, Storage};

/// The unused scratch memory of one or more storages, with its sizes in bytes, the smallest first.
#[derive(Debug, Default)]
pub struct Scratches(Mutex<Vec<(usize, Scratch)>>);

/// The largest number of scratches kept, and their largest total size.
const KEPT: usize = 64;
const KEPT_BYTES: usize = 256 << 20;

/// The scratch memory of a storage, once it is needed or set.
#[derive(Debug, Default)]
struct Chosen(OnceLock<Arc<Scratches>>);

impl Scratches {
    /// Returns the scratch memory of a storage.
    pub fn of(storage: &Storage) -> Arc<Self> {
        storage.shared::<Chosen>().0.get_or_init(Arc::default).clone()
    }

    /// Sets the scratch memory of a storage. Storages that share it also share contexts of codecs, such as those of zstd.
    /// Changes nothing if the storage already has some.
    pub fn use_for(self: &Arc<Self>, storage: &Storage) {
        let _ = storage.shared::<Chosen>().0.set(self.clone());
    }

    /// Takes the smallest, and leaves large memory for work that needs it.
    pub fn take(&self) -> Scratch {
        let mut kept = unpoisoned(self.0.lock());
        if kept.is_empty() { Scratch::new() } else { kept.remove(0).1 }
    }

    /// Takes the largest.
    pub fn take_largest(&self) -> Scratch {
        unpoisoned(self.0.lock()).pop().unwrap_or_default().1
    }

    /// Keeps scratch memory for later. Drops the largest ones if there is too much.
    pub fn give(&self, scratch: Scratch) {
        let bytes = scratch.bytes();
        let mut kept = unpoisoned(self.0.lock());
        let at = kept.partition_point(|(other, _)| *other < bytes);
        kept.insert(at, (bytes, scratch));
        let mut sum: usize = kept.iter().map(|(bytes, _)| bytes).sum();
        let mut dropped = Vec::new();
        while kept.len() > KEPT || sum > KEPT_BYTES {
            let Some(largest) = kept.pop() else { break };
            sum -= largest.0;
            dropped.push(largest);
        }
        drop(kept);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(bytes: usize) -> Scratch {
        let mut scratch = Scratch::new();
        let buffer = scratch.take(bytes).unwrap();
        scratch.give(buffer);
        scratch
    }

    #[test]
    fn the_kept_scratch_memory_is_bounded_in_bytes() {
        let scratches = Scratches::default();
        (0..10).for_each(|_| scratches.give(of(100 << 20)));
        scratches.give(of(1 << 20));
        let sum: usize = unpoisoned(scratches.0.lock()).iter().map(|(bytes, _)| bytes).sum();
        assert!(sum <= KEPT_BYTES, "{sum} bytes");
        assert_eq!((scratches.take().bytes(), scratches.take_largest().bytes()), (1 << 20, 100 << 20));
    }
}
