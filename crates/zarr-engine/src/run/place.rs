//! Where cells run.

use std::sync::Arc;

use zarr_traits::Storage;

use super::progress::{Amount, Progress};
use super::spawn::Spawn;
use super::stop::Stop;
use crate::lock::Gate;

/// The place where cells run.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Place {
    /// The storage of the chunks.
    pub storage: Storage,
    /// The limit of requests and bytes.
    pub gate: Gate,
    /// The threads; `None` for the calling thread or the awaiting task alone.
    pub pool: Option<Arc<dyn Spawn>>,
    /// Counts what is done, and can cancel.
    pub progress: Option<Progress>,
    /// Whether the calling thread may do work: true for blocking callers.
    pub may_block: bool,
}

impl Place {
    /// Returns the calling thread or the awaiting task alone, which must not block. Nothing is counted.
    pub fn new(storage: Storage, gate: Gate) -> Self {
        Self { storage, gate, pool: None, progress: None, may_block: false }
    }

    /// Sets the threads, if there are any.
    #[must_use]
    pub fn pool(self, pool: Option<Arc<dyn Spawn>>) -> Self {
        Self { pool, ..self }
    }

    /// Sets what counts the work and can cancel it.
    #[must_use]
    pub fn progress(self, progress: Option<Progress>) -> Self {
        Self { progress, ..self }
    }

    /// Sets whether the calling thread may do work.
    #[must_use]
    pub fn may_block(self, may_block: bool) -> Self {
        Self { may_block, ..self }
    }

    /// Fails if the call is cancelled.
    pub(super) fn check(&self) -> Result<(), Stop> {
        self.progress.as_ref().map_or(Ok(()), Progress::check)
    }

    /// Counts a cell of some bytes that is done.
    pub(super) fn count(&self, bytes: u64) {
        if let Some(progress) = &self.progress {
            progress.add(Amount { chunks: 1, bytes });
        }
    }
}
