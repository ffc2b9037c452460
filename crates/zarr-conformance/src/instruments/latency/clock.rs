//! A virtual clock, which advances when all futures wait for it.

use std::collections::BTreeMap;
use std::fmt;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

use zarr_traits::lock::unpoisoned;

/// A handle on the clock. Clones share the clock.
#[derive(Clone, Default)]
pub(super) struct Clock(Arc<Mutex<Time>>);

#[derive(Default)]
struct Time {
    now: Duration,
    /// The waiting futures by time, and in the order in which they began to wait.
    waiting: BTreeMap<(Duration, u64), Waker>,
    tickets: u64,
}

/// The place of a waiting future, until dropped.
struct Place<'a> {
    clock: &'a Clock,
    at: (Duration, u64),
}

impl Clock {
    pub(super) fn now(&self) -> Duration {
        unpoisoned(self.0.lock()).now
    }

    pub(super) async fn wait(&self, time: Duration) {
        let place = self.place(time);
        poll_fn(|context| {
            let mut time = unpoisoned(self.0.lock());
            if time.now >= place.at.0 {
                return Poll::Ready(());
            }
            time.waiting.insert(place.at, context.waker().clone());
            Poll::Pending
        })
        .await;
    }

    fn place(&self, after: Duration) -> Place<'_> {
        let mut time = unpoisoned(self.0.lock());
        time.tickets += 1;
        Place { clock: self, at: (time.now.saturating_add(after), time.tickets) }
    }

    /// Advances to the first waiting future and wakes it. Returns `false` if no future waits.
    fn go_on(&self) -> bool {
        let mut time = unpoisoned(self.0.lock());
        let Some(((now, _), waker)) = time.waiting.pop_first() else { return false };
        time.now = now;
        drop(time);
        waker.wake();
        true
    }

    pub(super) fn run<F: Future>(&self, future: F) -> F::Output {
        let mut future = pin!(future);
        let woken = Arc::new(Woken { flag: AtomicBool::new(false), thread: thread::current() });
        let waker = Waker::from(woken.clone());
        loop {
            if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
                return output;
            }
            // The waker may belong to a future that is gone, so repeat until this future is woken.
            while !woken.flag.swap(false, Ordering::Acquire) {
                if !self.go_on() {
                    thread::park();
                }
            }
        }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        unpoisoned(self.clock.0.lock()).waiting.remove(&self.at);
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.now().fmt(f)
    }
}

/// Whether the future has been woken, and the thread that runs it.
struct Woken {
    flag: AtomicBool,
    thread: Thread,
}

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.flag.store(true, Ordering::Release);
        self.thread.unpark();
    }
}
