//! Values that are kept for the next reads, within a number of bytes.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::hash::Hash;
use std::sync::Mutex;

use futures_util::future::{FutureExt as _, Shared};
use zarr_traits::lock::unpoisoned;
use zarr_traits::{BoxFuture, StoreResult};

/// Values by their names, such as the files of references. A value that several reads need is read once. Those that were
/// not used for the longest time are dropped first.
///
/// ```
/// # use zarr_store::references::Kept;
/// # use zarr_traits::block_on;
/// let kept: Kept<u32, String> = Kept::new(1 << 20, 1);
/// let read = || Box::pin(async { Ok("the content".to_owned()) }) as _;
/// let value = block_on(kept.get(7, read, |value| value.len() as u64))?;
/// # assert_eq!(value, "the content");
/// # Ok::<(), zarr_traits::StoreError>(())
/// ```
pub struct Kept<K, V> {
    most: u64,
    least: usize,
    state: Mutex<State<K, V>>,
}

struct State<K, V> {
    slots: HashMap<K, Slot<V>>,
    /// The names by the time of the last use.
    order: BTreeMap<u64, K>,
    clock: u64,
    bytes: u64,
}

struct Slot<V> {
    value: Reading<V>,
    used: u64,
    /// 0 as long as it is read.
    bytes: u64,
}

type Reading<V> = Shared<BoxFuture<'static, StoreResult<V>>>;

impl<K: Copy + Eq + Hash, V: Clone> Kept<K, V> {
    /// Returns an empty one for `most` bytes. The last `least` values are kept in any case.
    pub fn new(most: u64, least: usize) -> Self {
        let state = State { slots: HashMap::new(), order: BTreeMap::new(), clock: 0, bytes: 0 };
        Self { most, least, state: Mutex::new(state) }
    }

    /// Returns the value with a name, which `read` reads if it is not here. `bytes` returns the memory of a value, in bytes.
    ///
    /// # Errors
    /// Those of `read`, which are not kept: the next call reads again.
    pub async fn get(
        &self,
        name: K,
        read: impl FnOnce() -> BoxFuture<'static, StoreResult<V>>,
        bytes: impl FnOnce(&V) -> u64,
    ) -> StoreResult<V> {
        let reading = unpoisoned(self.state.lock()).reading(name, read);
        let value = reading.clone().await;
        let bytes = value.as_ref().ok().map(bytes);
        unpoisoned(self.state.lock()).settle(name, &reading, bytes, (self.most, self.least));
        value
    }
}

impl<K: Copy + Eq + Hash, V: Clone> State<K, V> {
    fn reading(&mut self, name: K, read: impl FnOnce() -> BoxFuture<'static, StoreResult<V>>) -> Reading<V> {
        self.clock += 1;
        let clock = self.clock;
        let slot =
            self.slots.entry(name).or_insert_with(|| Slot { value: read().shared(), used: clock, bytes: 0 });
        self.order.remove(&slot.used);
        slot.used = clock;
        self.order.insert(clock, name);
        slot.value.clone()
    }

    /// Counts the bytes of a value that was read; `None` stands for an error, which is dropped.
    fn settle(&mut self, name: K, reading: &Reading<V>, bytes: Option<u64>, (most, least): (u64, usize)) {
        // Another read may have begun after an error.
        let Some(slot) = self.slots.get_mut(&name).filter(|slot| slot.value.ptr_eq(reading)) else { return };
        match bytes {
            None => self.remove(&name),
            Some(bytes) if slot.bytes == 0 => {
                slot.bytes = bytes;
                self.bytes += bytes;
            }
            Some(_) => return,
        }
        while self.bytes > most
            && self.order.len() > least
            && let Some(oldest) = self.order.first_key_value().map(|(_, oldest)| *oldest)
        {
            self.remove(&oldest);
        }
    }

    fn remove(&mut self, name: &K) {
        if let Some(slot) = self.slots.remove(name) {
            self.order.remove(&slot.used);
            self.bytes -= slot.bytes;
        }
    }
}

impl<K, V> fmt::Debug for Kept<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = unpoisoned(self.state.lock());
        write!(f, "Kept({} values, {} of {} bytes)", state.slots.len(), state.bytes, self.most)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures_util::future::join;
    use zarr_traits::{StoreError, StoreErrorKind, block_on};

    use super::*;

    #[test]
    fn a_value_is_read_once_and_the_oldest_are_dropped() {
        let reads = Arc::new(AtomicUsize::new(0));
        let kept: Kept<u64, u64> = Kept::new(10, 1);
        let get = |name: u64| {
            let reads = reads.clone();
            let read = async move {
                reads.fetch_add(1, Ordering::Relaxed);
                match name {
                    99 => Err(StoreError::new(StoreErrorKind::Io, "no value")),
                    _ => Ok(name),
                }
            };
            kept.get(name, || Box::pin(read), |value| *value)
        };
        for (name, expected) in
            [(4, 1), (5, 2), (4, 2), (6, 3), (4, 3), (5, 4), (20, 5), (20, 5), (99, 6), (99, 7)]
        {
            let found = block_on(get(name));
            assert_eq!(found.is_ok(), name != 99);
            assert_eq!(reads.load(Ordering::Relaxed), expected, "{name}, {kept:?}");
        }
        let both = block_on(join(get(1), get(1)));
        assert!(matches!(both, (Ok(1), Ok(1))) && reads.load(Ordering::Relaxed) == 8);
    }
}
