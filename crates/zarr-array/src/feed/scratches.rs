//! Scratch memory between its uses.

use std::sync::{Mutex, PoisonError};

use zarr_traits::Scratch;

/// The scratch memory that nobody uses at the moment.
#[derive(Default)]
pub(crate) struct Scratches(Mutex<Vec<Scratch>>);

/// The same, for cells that are few at once because each is large: memory of that size goes from cell to cell, and not to
/// every thread that has ever opened one.
#[derive(Default)]
pub(crate) struct LargeScratches(pub(crate) Scratches);

/// How many are kept.
const KEPT: usize = 64;

impl Scratches {
    pub(crate) fn take(&self) -> Scratch {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    pub(crate) fn give(&self, scratch: Scratch) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < KEPT {
            kept.push(scratch);
        }
    }
}
