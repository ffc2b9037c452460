//! Locks whose values are consistent whenever they are unlocked.

use std::sync::{LockResult, PoisonError};

/// Returns what taking a lock or waiting for it returned, also if a thread has panicked while it held the lock.
///
/// ```
/// # use std::sync::Mutex;
/// use zarr_traits::lock::unpoisoned;
///
/// let mutex = Mutex::new(1);
/// *unpoisoned(mutex.lock()) += 1;
/// assert_eq!(unpoisoned(mutex.into_inner()), 2);
/// ```
pub fn unpoisoned<G>(result: LockResult<G>) -> G {
    result.unwrap_or_else(PoisonError::into_inner)
}
