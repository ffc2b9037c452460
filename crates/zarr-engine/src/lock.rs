//! State shared by all users of one storage in this process: a lock per key, held during a read-modify-write, and a
//! gate that limits requests and bytes in flight. Neither needs a runtime. Dropping the guard, or the future that waits
//! for it, releases them.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};

use zarr_traits::lock::unpoisoned;
use zarr_traits::{Key, Storage};

/// The most encoded bytes that all reads of one storage may have in flight.
const IN_FLIGHT_BYTES: u64 = 256 << 20;

/// Waits until no other user of `storage` in this process holds `key`, and locks it.
pub async fn lock(storage: &Storage, key: &Key) -> KeyGuard {
    storage.shared_by_key::<KeyLocks>().lock(key).await
}

/// Returns the gate that all users of `storage` share. It admits as many requests as the store supports at once.
pub fn gate(storage: &Storage) -> Gate {
    let width = storage.capabilities().drive.most_in_flight();
    let gates = storage.shared::<Gates>();
    let mut gates = unpoisoned(gates.0.lock());
    if let Some(gate) = gates.iter().find(|gate| gate.width() == width) {
        return gate.clone();
    }
    gates.push(Gate::new(width, IN_FLIGHT_BYTES));
    gates[gates.len() - 1].clone()
}

/// A gate for each width. A layer may be as slow as a network while the store below it is not.
#[derive(Default)]
struct Gates(Mutex<Vec<Gate>>);

/// A mutex per key. Clones share it.
#[derive(Clone, Default)]
struct KeyLocks(Arc<Mutex<HashMap<Key, Waiters>>>);

/// The waiting futures. All of them are woken and the first to poll wins, so a dropped future cannot lose a wake-up.
#[derive(Default)]
struct Waiters(Vec<Waker>);

impl Waiters {
    fn add(&mut self, waker: &Waker) {
        if !self.0.iter().any(|w| w.will_wake(waker)) {
            self.0.push(waker.clone());
        }
    }

    fn wake(&mut self) {
        self.0.drain(..).for_each(Waker::wake);
    }
}

impl KeyLocks {
    /// Waits until no other user holds `key`, and locks it.
    async fn lock(&self, key: &Key) -> KeyGuard {
        poll_fn(|context| {
            let mut held = unpoisoned(self.0.lock());
            match held.get_mut(key) {
                Some(waiters) => {
                    waiters.add(context.waker());
                    Poll::Pending
                }
                None => {
                    held.insert(key.clone(), Waiters::default());
                    Poll::Ready(KeyGuard { locks: self.clone(), key: key.clone() })
                }
            }
        })
        .await
    }
}

impl fmt::Debug for KeyLocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(unpoisoned(self.0.lock()).keys()).finish()
    }
}

/// A lock on one key; dropping it releases the key.
#[derive(Debug)]
pub struct KeyGuard {
    locks: KeyLocks,
    key: Key,
}

impl Drop for KeyGuard {
    fn drop(&mut self) {
        let waiters = unpoisoned(self.locks.0.lock()).remove(&self.key);
        if let Some(mut waiters) = waiters {
            waiters.wake();
        }
    }
}

/// Limits the requests and bytes in flight, over all reads of a storage.
#[derive(Debug, Clone)]
pub struct Gate(Arc<Mutex<GateState>>);

struct GateState {
    requests: usize,
    bytes: u64,
    max_requests: usize,
    max_bytes: u64,
    /// The waiting callers in order of arrival, with callers of `enter_again` at the front.
    queue: VecDeque<(u64, Option<Waker>)>,
    tickets: u64,
}

impl GateState {
    fn fits(&self, bytes: u64) -> bool {
        let idle = self.requests == 0 && self.bytes == 0;
        idle || (self.requests < self.max_requests && self.bytes.saturating_add(bytes) <= self.max_bytes)
    }

    fn wake_first(&mut self) -> Option<Waker> {
        self.queue.front_mut().and_then(|(_, waker)| waker.take())
    }
}

impl fmt::Debug for GateState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} of {} requests, {} of {} bytes",
            self.requests, self.max_requests, self.bytes, self.max_bytes
        )
    }
}

impl Gate {
    /// Returns a gate for at most `requests` and `bytes` at once. When nothing is in flight, a request of any size is
    /// admitted.
    pub fn new(requests: usize, bytes: u64) -> Self {
        Self(Arc::new(Mutex::new(GateState {
            requests: 0,
            bytes: 0,
            max_requests: requests.max(1),
            max_bytes: bytes,
            queue: VecDeque::new(),
            tickets: 0,
        })))
    }

    /// The number of requests that may be in flight at once.
    pub fn width(&self) -> usize {
        unpoisoned(self.0.lock()).max_requests
    }

    /// The number of bytes that may be in flight at once.
    pub fn most_bytes(&self) -> u64 {
        unpoisoned(self.0.lock()).max_bytes
    }

    fn admit(&self, state: &mut GateState, bytes: u64) -> Permit {
        state.requests += 1;
        state.bytes = state.bytes.saturating_add(bytes);
        Permit { gate: self.clone(), flying: true, bytes }
    }

    /// Waits for a slot for one request that is expected to return `bytes`.
    pub async fn enter(&self, bytes: u64) -> Permit {
        self.pass(bytes, false).await
    }

    /// Waits for a request slot without reserving bytes, as the caller already holds them. Served before callers of
    /// `enter`.
    pub async fn enter_again(&self) -> Permit {
        self.pass(0, true).await
    }

    async fn pass(&self, bytes: u64, again: bool) -> Permit {
        let mut place = Place { gate: self, ticket: None };
        poll_fn(|context| {
            let mut state = unpoisoned(self.0.lock());
            let first = state.queue.front().is_none_or(|(ticket, _)| Some(*ticket) == place.ticket);
            let flies = again && state.requests < state.max_requests;
            if flies || (first && state.fits(bytes)) {
                return Poll::Ready(self.admit(&mut state, bytes));
            }
            let ticket = *place.ticket.get_or_insert_with(|| {
                state.tickets += 1;
                let ticket = state.tickets;
                match again {
                    true => state.queue.push_front((ticket, None)),
                    false => state.queue.push_back((ticket, None)),
                }
                ticket
            });
            if let Some((_, waker)) = state.queue.iter_mut().find(|(t, _)| *t == ticket) {
                *waker = Some(context.waker().clone());
            }
            Poll::Pending
        })
        .await
    }
}

/// A place in the queue of a gate. Dropping it leaves the queue.
struct Place<'a> {
    gate: &'a Gate,
    ticket: Option<u64>,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket {
            let mut state = unpoisoned(self.gate.0.lock());
            state.queue.retain(|(t, _)| *t != ticket);
            let next = state.wake_first();
            drop(state);
            next.into_iter().for_each(Waker::wake);
        }
    }
}

/// A slot for one request and its bytes; dropping it releases them.
#[derive(Debug)]
pub struct Permit {
    gate: Gate,
    flying: bool,
    bytes: u64,
}

impl Permit {
    /// Records that the request returned `bytes`. Its slot is free for another request; the bytes stay reserved until
    /// they are decoded.
    pub fn landed(&mut self, bytes: u64) {
        self.update(bytes);
    }

    fn update(&mut self, bytes: u64) {
        let mut state = unpoisoned(self.gate.0.lock());
        state.requests -= usize::from(std::mem::take(&mut self.flying));
        state.bytes =
            state.bytes.saturating_sub(std::mem::replace(&mut self.bytes, bytes)).saturating_add(bytes);
        let next = state.wake_first();
        drop(state);
        next.into_iter().for_each(Waker::wake);
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.update(0);
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Context;
    use std::thread;

    use super::*;
    use zarr_traits::block_on;

    #[test]
    fn a_key_is_held_by_one_user_at_a_time() {
        let locks = KeyLocks::default();
        let inside = Arc::new(AtomicUsize::new(0));
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let (locks, inside) = (locks.clone(), inside.clone());
                thread::spawn(move || {
                    for _ in 0..200 {
                        let guard = block_on(locks.lock(&Key::new("k").unwrap()));
                        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                        inside.fetch_sub(1, Ordering::SeqCst);
                        drop(guard);
                    }
                })
            })
            .collect();
        threads.into_iter().for_each(|t| t.join().unwrap());
        assert!(unpoisoned(locks.0.lock()).is_empty(), "a free key leaves no entry");
    }

    #[test]
    fn a_dropped_waiter_does_not_block_others() {
        let locks = KeyLocks::default();
        let key = Key::new("k").unwrap();
        let first = block_on(locks.lock(&key));
        {
            let mut waiting = pin!(locks.lock(&key));
            assert!(waiting.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        }
        drop(first);
        drop(block_on(locks.lock(&key)));
    }

    #[test]
    fn the_gate_counts_requests_and_bytes_and_admits_one_giant() {
        let gate = Gate::new(2, 100);
        let pending =
            |bytes| pin!(gate.enter(bytes)).poll(&mut Context::from_waker(Waker::noop())).is_pending();
        let giant = block_on(gate.enter(1000));
        assert!(pending(1));
        drop(giant);
        let one = block_on(gate.enter(60));
        assert!(pending(60));
        let two = block_on(gate.enter(40));
        assert!(pending(0));
        drop((one, two));
        let mut landed = block_on(gate.enter(100));
        landed.landed(10);
        assert!(!pending(90), "a finished request counts only its bytes");
        {
            // A caller that holds all bytes and needs a slot overtakes callers that need bytes.
            let full = block_on(gate.enter(90));
            assert!(pending(1));
            drop(block_on(gate.enter_again()));
            drop(full);
        }
        assert!(pending(91));
        let third = block_on(gate.enter(90));
        assert!(pending(1), "all bytes are reserved");
        drop(third);
    }
}
