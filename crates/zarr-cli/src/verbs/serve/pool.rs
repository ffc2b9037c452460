//! Work that takes long: a few pieces at a time and few that wait, so that reads of objects keep their threads.

use std::sync::Arc;

use tokio::sync::Semaphore;
use zarr_array::traits::StoreResult;

use super::object::waiting;

/// A bounded pool of work and its queue.
#[derive(Debug)]
pub(super) struct Pool {
    /// Permits to run.
    running: Arc<Semaphore>,
    /// Permits to run or to wait.
    places: Arc<Semaphore>,
}

impl Pool {
    /// Makes a pool that runs so many pieces at a time and lets so many others wait.
    pub(super) fn new(at_a_time: usize, queue: usize) -> Self {
        Self {
            running: Arc::new(Semaphore::new(at_a_time)),
            places: Arc::new(Semaphore::new(at_a_time + queue)),
        }
    }

    /// Runs the work on a thread that may wait. Returns `None` if too much work waits already. Work that waits takes no
    /// thread, and it is dropped with the future, when the client is gone.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> StoreResult<T> + Send + 'static,
    ) -> StoreResult<Option<T>> {
        let Ok(place) = self.places.clone().try_acquire_owned() else { return Ok(None) };
        // The pool closes no semaphore.
        let Ok(running) = self.running.clone().acquire_owned().await else { return Ok(None) };
        let done = waiting(move || {
            // Work that has begun keeps its place to the end.
            let _kept = (place, running);
            work()
        });
        done.await.map(Some)
    }
}

#[cfg(test)]
impl Pool {
    /// Returns a permit that keeps work waiting.
    pub(super) async fn hold(&self) -> tokio::sync::OwnedSemaphorePermit {
        self.running.clone().acquire_owned().await.unwrap()
    }

    /// The number of pieces that can be added.
    pub(super) fn free(&self) -> usize {
        self.places.available_permits()
    }
}
