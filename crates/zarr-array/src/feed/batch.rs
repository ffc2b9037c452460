//! Work that several threads share: the inner chunks of one chunk.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError, RwLock};

use zarr_traits::Scratch;

use super::{Task, caught};
use crate::error::{ArrayError, ArrayErrorKind, ArrayResult};

/// The parts of the work of one cell, which any thread may take.
pub(super) struct Batch<T: Task> {
    cell: u64,
    pub(super) parts: usize,
    next: AtomicUsize,
    /// Taken when all parts are done; whoever does one holds it for reading.
    found: RwLock<Option<T::Found>>,
    error: Mutex<Option<ArrayError>>,
}

impl<T: Task> Batch<T> {
    pub(super) fn new(cell: u64, found: T::Found, parts: usize) -> Self {
        let found = RwLock::new(Some(found));
        Self { cell, parts, next: AtomicUsize::new(0), found, error: Mutex::default() }
    }

    pub(super) fn is_open(&self) -> bool {
        self.next.load(Ordering::Relaxed) < self.parts
    }

    /// Does a part, unless all have been begun; whether there was one.
    pub(super) fn help(&self, task: &T, scratch: &mut Scratch) -> bool {
        // The lock comes first: a part that has been begun is one that the lock waits for.
        let found = self.found.read().unwrap_or_else(PoisonError::into_inner);
        let Some(found) = &*found else { return false };
        let part = self.next.fetch_add(1, Ordering::Relaxed);
        if part >= self.parts {
            return false;
        }
        if let Err(e) = caught(|| task.part(self.cell, found, part, scratch)) {
            self.next.fetch_max(self.parts, Ordering::Relaxed);
            self.error.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(e);
        }
        true
    }

    /// Does what parts are left, waits for those that others are at, and does the rest of the work.
    pub(super) fn finish(&self, task: &T, scratch: &mut Scratch) -> ArrayResult<T::Made> {
        while self.help(task, scratch) {}
        let found = self.found.write().unwrap_or_else(PoisonError::into_inner).take();
        let error = self.error.lock().unwrap_or_else(PoisonError::into_inner).take();
        match (found, error) {
            (_, Some(e)) => Err(e),
            (Some(found), None) => caught(|| task.work(self.cell, found, scratch)),
            (None, None) => Err(ArrayError::new(ArrayErrorKind::Panic, "the work of a cell was done twice")),
        }
    }
}
