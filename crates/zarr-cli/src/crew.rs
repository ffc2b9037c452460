//! Works on the parts of an array in several threads, within a bound of memory.

use std::sync::Mutex;
use std::thread;

use futures_util::future::join_all;
use zarr_array::traits::lock::unpoisoned;
use zarr_array::traits::store::Drive;
use zarr_array::{Storage, block_on, node};
use zarr_engine::Gate;

use crate::exit::Failure;

/// The memory that all parts under way may take together, in bytes. A larger part is worked on alone.
const MEMORY: u64 = 256 << 20;

/// The largest number of threads. Most of them wait for a store.
const MOST: usize = 16;

/// The items that a thread reads at the same time from a store that answers slowly, and their memory in bytes.
const TOGETHER: usize = 128;
const TOGETHER_MEMORY: u64 = 8 << 20;

/// Returns the number of parts to work on at once: a thread for each core, and more for stores that answer slowly.
pub(crate) fn width(storage: &Storage) -> usize {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    cores.max(node::at_once(storage)).min(MOST)
}

/// Returns the number of items that a thread reads at the same time. A store that takes few requests at once gets fewer, so that
/// none waits long for its turn.
fn together(storage: &Storage) -> usize {
    match storage.capabilities().drive {
        Drive::Inline => 1,
        drive => drive.in_flight().saturating_mul(8).min(TOGETHER),
    }
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

/// As [`each`], with what `read` reads of each item from `stores`. A store that answers slowly gets the reads of several items
/// that follow each other at the same time, so that a store of references can join them.
pub(crate) fn each_read<T: Send, R>(
    stores: &[&Storage],
    items: impl Iterator<Item = Result<T, Failure>> + Send,
    size: impl Fn(&T) -> u64 + Sync,
    read: impl AsyncFn(&T) -> R + Sync,
    job: impl Fn(T, R) -> Result<(), Failure> + Sync,
) -> Result<(), Failure> {
    let most = |of: fn(&Storage) -> usize| stores.iter().map(|storage| of(storage)).max().unwrap_or(1);
    let groups = Groups { items: items.fuse(), failed: None, size: &size, most: most(together) };
    let of_group = |group: &Vec<T>| group.iter().map(&size).fold(0, u64::saturating_add);
    each(most(width), groups, of_group, |group| {
        let found = block_on(join_all(group.iter().map(|item| read(item))));
        group.into_iter().zip(found).try_for_each(|(item, found)| job(item, found))
    })
}

/// Items in groups, each of them within the memory.
struct Groups<I, S> {
    items: std::iter::Fuse<I>,
    /// The error behind the items of the last group.
    failed: Option<Failure>,
    size: S,
    most: usize,
}

impl<T, I: Iterator<Item = Result<T, Failure>>, S: Fn(&T) -> u64> Iterator for Groups<I, S> {
    type Item = Result<Vec<T>, Failure>;

    fn next(&mut self) -> Option<Self::Item> {
        let (mut group, mut bytes) = (Vec::new(), 0_u64);
        while self.failed.is_none() && group.len() < self.most && bytes < TOGETHER_MEMORY {
            match self.items.next() {
                Some(Ok(item)) => {
                    bytes = bytes.saturating_add((self.size)(&item));
                    group.push(item);
                }
                Some(Err(e)) => self.failed = Some(e),
                None => break,
            }
        }
        if group.is_empty() { self.failed.take().map(Err) } else { Some(Ok(group)) }
    }
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

    #[test]
    fn items_are_read_in_groups_up_to_a_number_and_a_size() {
        let groups = |items: Vec<Result<u64, Failure>>, most| {
            let groups = Groups { items: items.into_iter().fuse(), failed: None, size: |n: &u64| *n, most };
            groups.map(|group| group.map_err(|e| e.message().to_owned())).collect::<Vec<_>>()
        };
        let no = || Err(Failure::usage("no"));
        let large = TOGETHER_MEMORY;
        assert_eq!(groups(vec![Ok(1), Ok(2), Ok(3)], 2), [Ok(vec![1, 2]), Ok(vec![3])]);
        assert_eq!(groups(vec![Ok(1), Ok(large), Ok(3)], 9), [Ok(vec![1, large]), Ok(vec![3])]);
        assert_eq!(groups(vec![Ok(1), no(), Ok(3)], 9), [Ok(vec![1]), Err("no".to_owned()), Ok(vec![3])]);
        assert_eq!(groups(vec![Ok(u64::MAX), Ok(u64::MAX)], 9), [Ok(vec![u64::MAX]), Ok(vec![u64::MAX])]);
    }
}
