//! Waits after a lost race, so that the writers do not race again.

use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, Instant};

use futures_timer::Delay;
use zarr_traits::{Storage, store::Drive};

/// The number of attempts before an error.
pub(crate) const ATTEMPTS: u32 = 20;

/// The longest first wait in a store on this machine and behind a network. Each further wait may be twice as long, up
/// to a hundred times.
const LOCAL: Duration = Duration::from_micros(100);
const REMOTE: Duration = Duration::from_millis(10);

/// The longest wait of all.
const LONGEST: Duration = Duration::from_secs(5);

/// The waits of one writer, which grow from race to race. They are timers, which take no thread.
pub(crate) struct BackOff {
    first: Duration,
    lost: u32,
    /// The start of the current attempt. The clock is not read before a race is lost.
    begun: Option<Instant>,
}

impl BackOff {
    pub(crate) fn new(storage: &Storage) -> Self {
        let first = match storage.capabilities().drive {
            Drive::Inline => LOCAL,
            Drive::Remote { .. } => REMOTE,
        };
        Self { first, lost: 0, begun: None }
    }

    /// Waits after a lost race.
    pub(crate) async fn wait(&mut self) {
        let wait = self.next();
        self.lost += 1;
        // There is no clock in a browser. The requests of the next attempt are a wait, too.
        if !cfg!(target_family = "wasm") {
            Delay::new(wait).await;
            self.begun = Some(Instant::now());
        }
    }

    /// Returns a wait of random length. It can be as long as the attempt took.
    fn next(&self) -> Duration {
        let took = self.begun.map_or(Duration::ZERO, |begun| begun.elapsed());
        let most = (self.first * (1 << self.lost.min(7)).min(100)).max(took).min(LONGEST);
        // A new hasher has a random key.
        let random = RandomState::new().hash_one(self.lost) % 1000;
        most * u32::try_from(random).unwrap_or(0) / 1000
    }
}
