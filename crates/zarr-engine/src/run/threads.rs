//! Calls that the threads of a storage share.

use std::sync::{Arc, OnceLock};

use zarr_traits::Storage;

use super::crew::Crew;
use super::spawn::Spawn;
use super::stop::Stop;

/// Returns the results of `work` for the numbers below `count`, in their order. The threads of the pool share the
/// calls, and the caller does those that no thread has started. For local stores, whose futures do their work while they
/// are polled: `work` may run them with `block_on`, and must not wait for another thread.
///
/// # Errors
/// [`Stop::Panicked`] if a call panics, [`Stop::Dropped`] if the pool is shut down.
pub async fn on_threads<R: Send + Sync + 'static>(
    storage: &Storage,
    pool: Option<Arc<dyn Spawn>>,
    count: usize,
    work: impl Fn(usize) -> R + Send + Sync + 'static,
) -> Result<Vec<R>, Stop> {
    let crew = Crew::<Stop>::with_caller(storage, pool);
    let results: Arc<Vec<OnceLock<R>>> = Arc::new((0..count).map(|_| OnceLock::new()).collect());
    let inside = results.clone();
    let shared = crew.open(count as u64, move |number, _| {
        let number = usize::try_from(number).map_err(|_| Stop::Dropped)?;
        // Each part is done once.
        let _ = inside.get(number).ok_or(Stop::Dropped)?.set(work(number));
        Ok(())
    });
    crew.drive(shared.over()).await?;
    // All parts are done and have dropped their clones.
    let results = Arc::into_inner(results).ok_or(Stop::Dropped)?;
    results.into_iter().map(|result| result.into_inner().ok_or(Stop::Dropped)).collect()
}
