//! The retry policy: the number of attempts, the pauses, and the time limit.

use std::time::{Duration, Instant};

use zarr_store::pause;

/// The policy for requests, and for conditional puts that are sent again after inspecting the object.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Retries {
    /// Attempts after the first one.
    pub(crate) again: u32,
    /// The longest first [`pause`].
    pub(crate) pause: Duration,
    /// The longest pause, unless the service asks for a longer one.
    pub(crate) longest_pause: Duration,
    /// The time limit of an operation with all its attempts, without the time to move its bytes.
    pub(crate) timeout: Duration,
    /// The time limit for opening a connection, and for silence on an open one while another attempt can follow.
    pub(crate) silence: Duration,
    /// Bytes per second below which a connection counts as stuck. The time to move the bytes at this rate is added to
    /// `timeout`.
    pub(crate) slowest: u64,
}

impl Default for Retries {
    fn default() -> Self {
        Self {
            again: 4,
            pause: Duration::from_millis(100),
            longest_pause: Duration::from_secs(5),
            timeout: Duration::from_secs(60),
            silence: Duration::from_secs(20),
            slowest: 100_000,
        }
    }
}

/// The attempts of one operation.
#[derive(Debug)]
pub(crate) struct Tries<'a> {
    pub(crate) retries: &'a Retries,
    began: Instant,
    /// The number of the current attempt, from 1.
    pub(crate) attempt: u32,
}

impl<'a> Tries<'a> {
    pub(crate) fn new(retries: &'a Retries) -> Self {
        Self { retries, began: Instant::now(), attempt: 1 }
    }

    /// Returns the time that is left for the operation if it moves `bytes` in all.
    pub(crate) fn left(&self, bytes: u64) -> Duration {
        self.retries.timeout.saturating_add(self.moving(bytes)).saturating_sub(self.began.elapsed())
    }

    /// Returns the time allowed for moving `bytes`.
    pub(crate) fn moving(&self, bytes: u64) -> Duration {
        Duration::from_secs(bytes / self.retries.slowest.max(1))
    }

    /// Waits for the next attempt, at least as long as the service has `asked` for. Returns `false` if there are no
    /// more attempts or the time is up.
    pub(crate) async fn next(&mut self, asked: Option<Duration>) -> bool {
        if self.attempt > self.retries.again {
            return false;
        }
        let own = pause(self.retries.pause, self.retries.longest_pause, self.attempt);
        let wait = own.max(asked.unwrap_or_default());
        if wait >= self.left(0) {
            return false;
        }
        self.attempt += 1;
        tokio::time::sleep(wait).await;
        true
    }
}
