//! Waits after a lost race, so that the writers do not race again.

use std::time::Duration;

use zarr_traits::{Storage, store::Drive};

use super::clock::{self, Clock};

/// The number of attempts before an error.
pub const ATTEMPTS: u32 = 50;

/// The first wait and the longest one in a store on this machine. A writer loses each race in which the system runs another
/// thread between its read and its put. So on a busy machine, waits grow beyond the turns of many threads.
const LOCAL: (Duration, Duration) = (Duration::from_micros(100), Duration::from_millis(100));

/// The same behind a network.
const REMOTE: (Duration, Duration) = (Duration::from_millis(10), Duration::from_secs(1));

/// The longest wait after an attempt that took long itself.
const LONGEST: Duration = Duration::from_secs(5);

/// The waits of one writer, which grow from race to race. They are timers, which take no thread.
#[derive(Debug)]
pub struct BackOff<'a> {
    storage: &'a Storage,
    lost: u32,
    /// The start of the current attempt. The clock is not read before a race is lost.
    begun: Option<Duration>,
}

impl<'a> BackOff<'a> {
    /// Returns the waits of a writer of `storage`.
    pub fn new(storage: &'a Storage) -> Self {
        Self { storage, lost: 0, begun: None }
    }

    /// Waits after a lost race. Where there is no clock, the requests of the next attempt are a wait, too.
    pub async fn wait(&mut self) {
        let clock = clock::of(self.storage);
        let wait = self.next(&*clock);
        self.lost += 1;
        clock.wait(wait).await;
        self.begun = Some(clock.now());
    }

    /// Returns a wait of random length, which can be twice as long as the wait before, or as long as the attempt took.
    fn next(&self, clock: &dyn Clock) -> Duration {
        let (first, longest) = match self.storage.capabilities().drive {
            Drive::Inline => LOCAL,
            _ => REMOTE,
        };
        let took = self.begun.map_or(Duration::ZERO, |begun| clock.now().saturating_sub(begun));
        let most = (first * (1 << self.lost.min(10))).min(longest).max(took).min(LONGEST);
        let random = clock.random() % 1000;
        most * u32::try_from(random).unwrap_or(0) / 1000
    }
}
