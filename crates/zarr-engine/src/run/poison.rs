//! Locks whose holder may have panicked.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex, also if a thread has panicked while it held it: the next one finds valid state.
pub fn unpoisoned<R>(mutex: &Mutex<R>) -> MutexGuard<'_, R> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
