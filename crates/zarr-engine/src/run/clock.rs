//! The clock that all users of one storage wait by: that of the machine, unless another one is set. For hosts that have their
//! own, and for tests that decide what happens next.

use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use futures_timer::Delay;
use zarr_traits::{BoxFuture, Storage};

/// Time, timers and random numbers.
pub trait Clock: Send + Sync {
    /// Returns the time since a moment that stays the same.
    fn now(&self) -> Duration;

    /// Returns a future that is ready after this time.
    fn wait(&self, time: Duration) -> BoxFuture<'static, ()>;

    /// Returns a random number. Users that disturb each other choose by it, so that they do not meet again.
    fn random(&self) -> u64;
}

/// Returns the clock of all users of `storage`.
pub fn of(storage: &Storage) -> Arc<dyn Clock> {
    storage.shared::<Chosen>().0.get_or_init(|| Arc::new(Machine::default())).clone()
}

/// Sets the clock of a storage, of its clones and of the layers over it. Returns `false`, and changes nothing, if the storage
/// already has a clock because one was needed.
///
/// A worker that shares a copy gives its signs of life by the clock of the machine in any case.
pub fn set(storage: &Storage, clock: Arc<dyn Clock>) -> bool {
    storage.shared::<Chosen>().0.set(clock).is_ok()
}

/// The clock of a storage, once one is set or needed.
#[derive(Default)]
struct Chosen(OnceLock<Arc<dyn Clock>>);

/// The clock of this machine. In a browser there is none, so time stands still and nothing waits.
#[derive(Default)]
struct Machine(OnceLock<Instant>);

impl Clock for Machine {
    fn now(&self) -> Duration {
        if cfg!(target_family = "wasm") {
            return Duration::ZERO;
        }
        self.0.get_or_init(Instant::now).elapsed()
    }

    fn wait(&self, time: Duration) -> BoxFuture<'static, ()> {
        if cfg!(target_family = "wasm") { zarr_traits::store::ready(()) } else { Box::pin(Delay::new(time)) }
    }

    fn random(&self) -> u64 {
        // A new hasher has a random key.
        RandomState::new().hash_one(())
    }
}
