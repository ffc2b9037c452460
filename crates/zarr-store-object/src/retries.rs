//! What is tried again, how often, and for how long.

use std::time::{Duration, Instant, SystemTime};

use http::HeaderMap;
use http::header::RETRY_AFTER;
use zarr_traits::pause;

/// What is tried again, and how long anything may take.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Retries {
    /// How often a request is tried again: 4 unless said otherwise.
    pub again: u32,
    /// How long the first [`pause`] is at most.
    pub pause: Duration,
    /// How long a pause becomes at most, unless the service asks for a longer one.
    pub longest_pause: Duration,
    /// How long an operation may take with all that is tried again, apart from moving its bytes: 60 seconds.
    pub timeout: Duration,
    /// How long a connection may take to open, and how long a service may be silent on an open one: 20 seconds.
    pub silence: Duration,
    /// The bytes of a second below which a connection counts as stuck; every such number of bytes that are moved
    /// gives an operation another second.
    pub slowest: u64,
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

impl Retries {
    /// How long moving `bytes` may take.
    pub(crate) fn moving(&self, bytes: u64) -> Duration {
        Duration::from_secs(bytes / self.slowest.max(1))
    }
}

/// The tries of one operation.
#[derive(Debug)]
pub(crate) struct Tries<'a> {
    pub(crate) retries: &'a Retries,
    began: Instant,
    /// How many were begun.
    pub(crate) attempt: u32,
}

impl<'a> Tries<'a> {
    pub(crate) fn new(retries: &'a Retries) -> Self {
        Self { retries, began: Instant::now(), attempt: 1 }
    }

    /// How long the operation may go on, if it moves `bytes`.
    pub(crate) fn left(&self, bytes: u64) -> Duration {
        (self.retries.timeout + self.retries.moving(bytes)).saturating_sub(self.began.elapsed())
    }

    /// Waits for the next try. `false`: there is none, because there were enough, or because there is no time left for it.
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

/// How long a service asks to be left alone.
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let until = httpdate::parse_http_date(text).ok()?;
    Some(until.duration_since(SystemTime::now()).unwrap_or_default())
}

/// Whether a status says that the same request may succeed later. 501 and 505 say that it never will.
pub(crate) fn may_pass(status: u16) -> bool {
    matches!(status, 408 | 429 | 500 | 502 | 503 | 504)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn services_say_how_long_in_two_ways() {
        let after = |text: &str| {
            retry_after(&HeaderMap::from_iter([(RETRY_AFTER, text.parse().unwrap())])).map(|d| d.as_secs())
        };
        assert_eq!(after("3"), Some(3));
        assert_eq!(after("Thu, 01 Jan 1970 00:00:00 GMT"), Some(0));
        assert!(after("Fri, 31 Dec 2100 23:59:59 GMT").is_some_and(|seconds| seconds > 1_000_000));
        assert_eq!(after("soon"), None);
        assert_eq!(retry_after(&HeaderMap::new()), None);
    }
}
