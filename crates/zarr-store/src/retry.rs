//! Trying again what may succeed later.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;
use std::time::{Duration, Instant};

use futures_timer::Delay;
use zarr_traits::{BoxFuture, Capabilities, Storage, StoreError, StoreErrorKind, StoreResult, pause};

use crate::call::{Call, Operation, lists_around, reads_around, writes_around};

/// How often, and after what time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retry {
    /// How often a call is made at most, the first time included; 10.
    pub tries: u32,
    /// What is waited before the second try, and twice as long before each further one; 100 ms. Of each such time a part
    /// between half and all is waited, so that those who failed together do not return together.
    pub wait: Duration,
    /// The longest that is waited between two tries; 10 s.
    pub longest_wait: Duration,
    /// No try begins later than this after the first one; 60 s. `None`: however late.
    pub deadline: Option<Duration>,
    /// How long a single try may take; `None`, which is the default: however long. A read that takes longer is given up and
    /// tried again. A write that takes longer fails as [`Uncertain`](StoreErrorKind::Uncertain): perhaps it was applied.
    pub timeout: Option<Duration>,
}

impl Default for Retry {
    fn default() -> Self {
        Self {
            tries: 10,
            wait: Duration::from_millis(100),
            longest_wait: Duration::from_secs(10),
            deadline: Some(Duration::from_secs(60)),
            timeout: None,
        }
    }
}

/// The layer that makes calls again that failed with [`StoreErrorKind::Unavailable`], of which nothing was applied. All else
/// is passed on: a conflict, a version that has changed, and above all [`StoreErrorKind::Uncertain`], after which another
/// try could meet its own first one.
///
/// Waiting needs no runtime: a thread of the process keeps the time.
///
/// ```
/// # use zarr_store::{MemoryStore, Retry, Retrying};
/// # use zarr_traits::Storage;
/// # use std::time::Duration;
/// # let below = Storage::from(MemoryStore::new());
/// let patient = Retry { deadline: Some(Duration::from_secs(600)), ..Retry::default() };
/// let storage = Retrying::over(&below, patient);
/// ```
#[derive(Debug, Clone)]
pub struct Retrying {
    storage: Storage,
    retry: Retry,
}

impl Retrying {
    /// `storage` with calls made again as `retry` says.
    pub fn over(storage: &Storage, retry: Retry) -> Storage {
        storage.overlay(Self { storage: storage.clone(), retry })
    }

    fn can(&self) -> Capabilities {
        self.storage.capabilities()
    }
}

/// The tries of one call.
struct Tries<'a> {
    retry: &'a Retry,
    call: Call<'a>,
    began: Instant,
    /// How many have been made.
    made: u32,
}

impl<'a> Tries<'a> {
    fn new(retry: &'a Retry, call: Call<'a>) -> Self {
        Self { retry, call, began: Instant::now(), made: 0 }
    }

    /// One try.
    async fn once<T>(&mut self, mut future: BoxFuture<'_, StoreResult<T>>) -> StoreResult<T> {
        self.made += 1;
        let Some(timeout) = self.retry.timeout else { return future.await };
        let mut timer = Delay::new(timeout);
        poll_fn(|context| match future.as_mut().poll(context) {
            Poll::Pending => Pin::new(&mut timer).poll(context).map(|()| Err(self.late(timeout))),
            ready => ready,
        })
        .await
    }

    fn late(&self, timeout: Duration) -> StoreError {
        let kind = match self.call.operation.writes() {
            true => StoreErrorKind::Uncertain,
            false => StoreErrorKind::Unavailable,
        };
        self.call.blamed(StoreError::new(kind, format!("no answer within {timeout:?}")))
    }

    /// Waits until it is time for another try; an error when there is none.
    async fn after(&mut self, error: StoreError) -> StoreResult<()> {
        if error.kind() != StoreErrorKind::Unavailable {
            return Err(error);
        }
        let wait = pause(self.retry.wait, self.retry.longest_wait, self.made);
        let late = self.retry.deadline.is_some_and(|most| self.began.elapsed().saturating_add(wait) > most);
        if late || self.made >= self.retry.tries {
            return Err(self.told(error));
        }
        Delay::new(wait).await;
        Ok(())
    }

    /// The error of the last try, which says how many there were.
    fn told(&self, mut last: StoreError) -> StoreError {
        if self.made == 1 {
            return last;
        }
        let key = last.take_key();
        let error = StoreError::new(last.kind(), format!("failed {} times", self.made)).with_source(last);
        match key {
            Some(key) => error.with_key(key),
            None => error,
        }
    }
}

macro_rules! again {
    ($layer:expr, $call:expr, $future:expr) => {{
        let mut tries = Tries::new(&$layer.retry, $call);
        loop {
            match tries.once($future).await {
                Err(e) => tries.after(e).await?,
                answer => break answer,
            }
        }
    }};
}

reads_around!(Retrying, again);
lists_around!(Retrying, again);
writes_around!(Retrying, again);

#[cfg(test)]
mod tests {
    use StoreErrorKind::{Changed, Io, Unavailable, Uncertain};
    use zarr_traits::{Key, block_on};

    use super::*;
    use crate::{Counting, Fault, Faulty, MemoryStore};

    /// Four tries, quickly.
    fn quick() -> Retry {
        let (wait, longest_wait) = (Duration::from_micros(100), Duration::from_micros(200));
        Retry { tries: 4, wait, longest_wait, ..Retry::default() }
    }

    /// A store whose first calls fail, behind a retry; and its counters.
    fn failing(times: u64, fault: Fault, retry: Retry) -> (Storage, Counting) {
        let memory = Storage::from(MemoryStore::new());
        let (faulty, _) = Faulty::over(&memory, move |number, _| (number <= times).then_some(fault));
        let (counted, counting) = Counting::over(&faulty);
        (Retrying::over(&counted, retry), counting)
    }

    #[test]
    fn what_was_unavailable_is_tried_again_and_nothing_else() {
        let key = Key::new("k").unwrap();
        let table = [
            (0, Unavailable, 1, Ok(())),
            (1, Unavailable, 2, Ok(())),
            (3, Unavailable, 4, Ok(())),
            (4, Unavailable, 4, Err("key \"k\": failed 4 times: this fault was asked for")),
            (1, Uncertain, 1, Err("key \"k\": this fault was asked for")),
            (1, Changed, 1, Err("key \"k\": this fault was asked for")),
            (1, Io, 1, Err("key \"k\": this fault was asked for")),
        ];
        for (times, kind, requests, expected) in table {
            let (storage, counting) = failing(times, Fault::ErrorBefore(kind), quick());
            let result = block_on(storage.put(&key, "v")).map_err(|e| e.to_string());
            assert_eq!(result, expected.map_err(str::to_owned), "{times} times {kind:?}");
            assert_eq!(counting.counts().put, requests, "{times} times {kind:?}");
            let (storage, counting) = failing(times, Fault::ErrorBefore(kind), quick());
            assert_eq!(block_on(storage.get(&key)).is_ok(), expected.is_ok());
            assert_eq!(counting.counts().requests(), requests);
        }
    }

    #[test]
    fn no_try_begins_after_the_deadline() {
        let retry = Retry { deadline: Some(Duration::ZERO), ..quick() };
        let (storage, counting) = failing(9, Fault::ErrorBefore(Unavailable), retry);
        assert_eq!(block_on(storage.get(&Key::new("k").unwrap())).unwrap_err().kind(), Unavailable);
        assert_eq!(counting.counts().requests(), 1);
    }

    #[test]
    fn a_read_that_hangs_is_tried_again_and_a_write_is_uncertain() {
        let retry = || Retry { timeout: Some(Duration::from_millis(5)), ..quick() };
        let key = Key::new("k").unwrap();
        let (storage, counting) = failing(2, Fault::HangBefore, retry());
        assert_eq!(block_on(storage.get(&key)).unwrap(), None);
        assert_eq!(counting.counts().requests(), 3);
        let (storage, counting) = failing(2, Fault::HangBefore, retry());
        let error = block_on(storage.put(&key, "v")).unwrap_err();
        assert_eq!((error.kind(), error.key()), (Uncertain, Some("k")));
        assert_eq!(counting.counts().requests(), 1);
    }
}
