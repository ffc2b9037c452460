//! Works on the parts of an array in several threads, within a bound of memory.

use std::sync::Mutex;
use std::thread;

use zarr_array::traits::lock::unpoisoned;
use zarr_array::{Storage, block_on, node};
use zarr_engine::Gate;

use crate::exit::Failure;

/// The memory that all parts under way may take together, in bytes. A larger part is worked on alone.
const MEMORY: u64 = 256 << 20;

/// The largest number of threads. Most of them wait for a store.
const MOST: usize = 16;

/// Returns the number of parts to work on at once: a thread for each core, and more for stores that answer slowly.
pub(crate) fn width(storage: &Storage) -> usize {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    cores.max(node::at_once(storage)).min(MOST)
}

/// Calls `job` with each item, on `width` threads. `size` is the memory of an item in bytes. Items begin in their order
/// and may end in any order. Stops after the first error and returns it.
pub(crate) fn each<T: Send>(
    width: usize,
    items: impl Iterator<Item = Result<T, Failure>> + Send,
    size: impl Fn(&T) -> u64 + Sync,
    job: impl Fn(T) -> Result<(), Failure> + Sync,
) -> Result<(), Failure> {
    let (items, room, failed) = (Mutex::new(items.fuse()), Gate::new(usize::MAX, MEMORY), Mutex::new(None));
    let work = || {
        while unpoisoned(failed.lock()).is_none() {
            let next = unpoisoned(items.lock()).next();
            let done = match next {
                None => break,
                Some(Err(e)) => Err(e),
                Some(Ok(item)) => {
                    let _taken = block_on(room.enter(size(&item)));
                    job(item)
                }
            };
            if let Err(e) = done {
                unpoisoned(failed.lock()).get_or_insert(e);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 1..width {
            // Without another thread the work is done by those that exist.
            let _ = thread::Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
    unpoisoned(failed.into_inner()).map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

    use super::*;

    #[test]
    fn each_item_is_done_once_within_the_memory() {
        let (sum, now) = (AtomicU64::new(0), AtomicU64::new(0));
        let job = |n: u64| {
            assert!(now.fetch_add(n * (MEMORY / 8), Relaxed) <= MEMORY);
            sum.fetch_add(n, Relaxed);
            now.fetch_sub(n * (MEMORY / 8), Relaxed);
            Ok(())
        };
        let items = || (0..100_u64).map(|i| i % 9);
        each(4, items().map(Ok), |n| n * (MEMORY / 8), job).unwrap();
        assert_eq!(sum.into_inner(), items().sum::<u64>());
    }

    #[test]
    fn the_first_error_ends_the_work() {
        let done = AtomicU64::new(0);
        let job = |n: u64| {
            done.fetch_add(1, Relaxed);
            if n == 3 { Err(Failure::usage("no")) } else { Ok(()) }
        };
        assert_eq!(each(1, (0_u64..).map(Ok), |_| 1, job).unwrap_err().message(), "no");
        assert_eq!(done.into_inner(), 4);
    }
}
