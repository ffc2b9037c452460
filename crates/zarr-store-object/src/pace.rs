//! How many requests are in flight: as many as the service answers without a queue, found by the times of its answers.
//!
//! The number grows by one for each answer that comes in time while all slots are taken, so it doubles in a round trip. An
//! answer that takes longer than others has waited in a queue, of the service or of the network: then the number stays. If
//! the service refuses requests because it is busy, the number is halved.

use std::sync::Mutex;
use std::time::Duration;

use tokio::sync::Semaphore;
use zarr_traits::lock::unpoisoned;

/// The number of requests in flight at first.
pub(crate) const START: usize = 64;

/// The most requests in flight. Each takes an open file, of which a process may have 1,024 on many systems, and 256 on some.
pub(crate) const MOST: usize = 192;

/// The number of requests that a busy service is asked to take in any case.
const LEAST: usize = 4;

/// An answer that takes longer than this many times the quickest one has waited: in a queue, or for a new connection.
const LATE: u32 = 2;

#[derive(Debug)]
pub(crate) struct Pace {
    slots: Semaphore,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// The number of slots, free and taken, without those in `surplus`.
    now: usize,
    most: usize,
    /// The number of taken slots that are not given back, because `now` was lowered.
    surplus: usize,
    /// The time of the quickest answer.
    quickest: Duration,
    /// The number of requests that were in flight when `now` was lowered, and may still be.
    outdated: usize,
}

/// A slot of a request; dropping it gives it back.
pub(crate) struct Turn<'a>(&'a Pace);

impl Pace {
    /// Begins with `start` requests in flight.
    pub(crate) fn new(start: usize) -> Self {
        let now = start.clamp(1, Semaphore::MAX_PERMITS);
        let state = State { now, most: now.max(MOST), surplus: 0, quickest: Duration::MAX, outdated: 0 };
        Self { slots: Semaphore::new(now), state: Mutex::new(state) }
    }

    /// Waits for a slot.
    pub(crate) async fn turn(&self) -> Turn<'_> {
        if let Ok(permit) = self.slots.acquire().await {
            // The turn gives it back. (The semaphore is never closed.)
            permit.forget();
        }
        Turn(self)
    }

    /// Records that an answer began to arrive `after` its request was sent.
    pub(crate) fn answered(&self, after: Duration) {
        let mut state = unpoisoned(self.state.lock());
        let is_full = self.slots.available_permits() == 0;
        if is_full && state.now < state.most && after <= state.quickest.saturating_mul(LATE) {
            state.now += 1;
            match state.surplus {
                0 => self.slots.add_permits(1),
                _ => state.surplus -= 1,
            }
        }
        state.quickest = state.quickest.min(after);
    }

    /// Records that the service had no time for a request.
    pub(crate) fn refused(&self) {
        let mut state = unpoisoned(self.state.lock());
        // A request that was sent before the number was lowered says nothing about it.
        if state.outdated > 0 {
            return;
        }
        let lower = (state.now / 2).max(LEAST.min(state.now));
        let fewer = state.now - lower;
        state.surplus += fewer - self.slots.forget_permits(fewer);
        (state.now, state.outdated) = (lower, state.now);
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut state = unpoisoned(self.0.state.lock());
        state.outdated = state.outdated.saturating_sub(1);
        match state.surplus {
            0 => self.0.slots.add_permits(1),
            _ => state.surplus -= 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use zarr_traits::block_on;

    use super::*;

    const QUICK: Duration = Duration::from_millis(20);

    /// Sends `requests` requests to a service that ends `capacity` of them in each tick, in their order. `end` is given the
    /// ticks that a request took. Returns the most requests in flight.
    fn send(pace: &Pace, requests: usize, capacity: usize, end: impl Fn(u32)) -> usize {
        let (mut left, mut most, mut tick) = (requests, 0, 0);
        let mut in_flight = VecDeque::new();
        while left > 0 || !in_flight.is_empty() {
            tick += 1;
            for _ in 0..=capacity {
                while left > 0 && pace.slots.available_permits() > 0 {
                    in_flight.push_back((tick, block_on(pace.turn())));
                    left -= 1;
                }
                most = most.max(in_flight.len());
                // Those of this tick are answered in the next one.
                if in_flight.front().is_some_and(|(sent, _)| *sent < tick)
                    && let Some((sent, turn)) = in_flight.pop_front()
                {
                    end(tick - sent);
                    drop(turn);
                }
            }
        }
        most
    }

    #[test]
    fn the_number_grows_until_answers_are_late() {
        for (capacity, least, most) in [(10, START, 100), (30, START, 200), (1000, MOST, MOST)] {
            let pace = Pace::new(START);
            let found = send(&pace, 5000, capacity, |ticks| pace.answered(QUICK * ticks));
            assert!((least..=most).contains(&found), "{found} of {capacity}");
        }
    }

    #[test]
    fn few_requests_leave_the_number_as_it_is() {
        let pace = Pace::new(START);
        send(&pace, START / 2, 1000, |_| pace.answered(QUICK));
        assert_eq!(unpoisoned(pace.state.lock()).now, START);
    }

    #[test]
    fn a_busy_service_halves_the_number_once_for_all_in_flight() {
        let pace = Pace::new(START);
        send(&pace, START, 1000, |_| pace.refused());
        assert_eq!(unpoisoned(pace.state.lock()).now, START / 2);
        send(&pace, 1000, 1000, |_| pace.refused());
        assert_eq!(unpoisoned(pace.state.lock()).now, LEAST);
        assert_eq!(send(&pace, 100, 1000, |_| ()), LEAST, "all slots are given back");
        assert_eq!(send(&pace, 5000, 1000, |_| pace.answered(QUICK)), MOST);
        let one = Pace::new(1);
        send(&one, 10, 1000, |_| one.refused());
        assert_eq!(unpoisoned(one.state.lock()).now, 1);
    }
}
