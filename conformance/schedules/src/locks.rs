//! The locks of keys and the gate of requests, with waits that are given up, and others who act between the end of a hold
//! and the call of those who wait.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

use shuttle::current::try_get_current_task;
use shuttle::future::{block_on, spawn};
use shuttle::sync::atomic::{AtomicBool, Ordering};
use zarr_engine::Gate;
use zarr_store::MemoryStore;
use zarr_traits::{Key, Storage};

use crate::explore::{Exploration, any};
use crate::world::switch;

pub(crate) const KEYS: Exploration = Exploration {
    name: "keys",
    about: "a key has one holder at a time, and nobody waits for ever",
    prepare: || Box::new(keys),
};

pub(crate) const GATE: Exploration = Exploration {
    name: "gate",
    about: "no more requests and bytes are in flight than the gate admits, and nobody waits for ever",
    prepare: || Box::new(gate),
};

/// The number of users.
const USERS: usize = 4;

/// A waker that lets others act before it wakes.
struct Slow(Waker);

impl Wake for Slow {
    fn wake(self: Arc<Self>) {
        if try_get_current_task().is_some() {
            AtomicBool::new(false).load(Ordering::SeqCst);
        }
        self.0.wake_by_ref();
    }
}

/// Waits for a future, and gives up when it would be polled once more than `polls` times. Then it was woken in vain.
async fn patiently<F: Future>(future: F, mut polls: u64) -> Option<F::Output> {
    let mut future = pin!(future);
    poll_fn(|context| {
        let Some(fewer) = polls.checked_sub(1) else { return Poll::Ready(None) };
        polls = fewer;
        let waker = Arc::new(Slow(context.waker().clone())).into();
        future.as_mut().poll(&mut Context::from_waker(&waker)).map(Some)
    })
    .await
}

/// How often a user polls before it gives up.
fn patience() -> u64 {
    if any(3) == 0 { 1 + any(3) } else { u64::MAX }
}

/// What users of a gate hold now.
#[derive(Debug, Default)]
struct Held {
    /// Those who hold bytes.
    holders: u64,
    requests: i64,
    bytes: u64,
}

fn keys() {
    let storage = Storage::from(MemoryStore::new());
    let held = Arc::new([false; 2].map(Mutex::new));
    let users = [(); USERS].map(|()| {
        let (storage, held) = (storage.clone(), held.clone());
        async move {
            for _ in 0..2 {
                let number = any(2) as usize;
                let key = Key::new(format!("k{number}")).unwrap();
                let Some(guard) = patiently(zarr_engine::lock(&storage, &key), patience()).await else {
                    continue;
                };
                assert!(!std::mem::replace(&mut held[number].lock().unwrap(), true), "two users hold {key}");
                switch().await;
                *held[number].lock().unwrap() = false;
                drop(guard);
            }
        }
    });
    all(users);
}

fn gate() {
    const REQUESTS: i64 = 2;
    const BYTES: u64 = 10;
    let gate = Gate::new(REQUESTS as usize, BYTES);
    let held = Arc::new(Mutex::new(Held::default()));
    let users = [(); USERS].map(|()| {
        let (gate, held) = (gate.clone(), held.clone());
        let change = move |requests: i64, from: u64, to: u64| {
            let mut held = held.lock().unwrap();
            held.requests += requests;
            held.bytes = held.bytes - from + to;
            held.holders = held.holders - u64::from(from > 0) + u64::from(to > 0);
            assert!(held.requests <= REQUESTS, "{held:?}");
            assert!(held.bytes <= BYTES || held.holders == 1, "{held:?}");
        };
        async move {
            for _ in 0..2 {
                // Some are larger than all that the gate admits.
                let bytes = any(14);
                let Some(mut permit) = patiently(gate.enter(bytes), patience()).await else { continue };
                change(1, 0, bytes);
                switch().await;
                let landed = any(bytes + 1);
                change(-1, bytes, landed);
                permit.landed(landed);
                switch().await;
                if let Some(again) = patiently(gate.enter_again(), patience()).await {
                    change(1, 0, 0);
                    switch().await;
                    change(-1, 0, 0);
                    drop(again);
                }
                change(0, landed, 0);
                drop(permit);
            }
        }
    });
    all(users);
    let left = patiently(gate.enter(BYTES + 1), 1);
    assert!(block_on(left).is_some(), "something is still in flight");
}

/// Runs users until all of them have ended.
fn all(users: [impl Future<Output = ()> + Send + 'static; USERS]) {
    block_on(async {
        for user in users.map(spawn) {
            user.await.unwrap();
        }
    });
}
