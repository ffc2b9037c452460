//! Faults on purpose, for tests of code that uses stores.

use std::collections::HashMap;
use std::fmt;
use std::future::pending;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_timer::Delay;
use zarr_traits::lock::unpoisoned;
use zarr_traits::{
    BoxFuture, Bytes, Key, Storage, StoreError, StoreErrorKind, StoreResult, Version,
    store::{Answer, Capabilities, ObjectMeta, Op, Outcome, Store},
};

/// A fault of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The call fails without an effect.
    ErrorBefore(StoreErrorKind),
    /// The call fails without an effect, by the error of the operating system that has this number.
    System(i32),
    /// The call takes effect, but reports an error.
    ErrorAfter(StoreErrorKind),
    /// The call begins later.
    Delay(Duration),
    /// The call never ends and has no effect.
    HangBefore,
    /// The call takes effect, but never ends.
    HangAfter,
    /// A read returns one byte less than wanted, as a wrong adapter does.
    Short,
    /// A read returns the value before the last write through this layer, if that value is known.
    Stale,
}

/// A layer whose calls fail as a script says. Its clones share the script.
///
/// ```
/// # mod plain { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/plain/mod.rs")); }
/// # use plain::Plain;
/// # use zarr_conformance::instruments::{Fault, Faulty};
/// # use zarr_traits::{Key, Storage, StoreErrorKind, block_on, store::Op};
/// let memory = Storage::from(Plain::default());
/// // The second put takes effect, but reports that this is uncertain.
/// let mut puts = 0;
/// let (storage, faulty) = Faulty::over(&memory, move |_, op| {
///     puts += u32::from(matches!(op, Op::Put(_)));
///     (puts == 2).then_some(Fault::ErrorAfter(StoreErrorKind::Uncertain))
/// });
/// let key = Key::new("k")?;
/// block_on(storage.put(&key, "first"))?;
/// assert!(block_on(storage.put(&key, "second")).is_err());
/// assert_eq!(block_on(memory.get(&key, 100))?.unwrap(), "second");
/// assert_eq!((faulty.calls(), faulty.faults()), (2, 1));
/// # Ok::<(), zarr_traits::StoreError>(())
/// ```
#[derive(Clone)]
pub struct Faulty {
    storage: Storage,
    state: Arc<State>,
}

struct State {
    script: Mutex<Script>,
    calls: AtomicU64,
    faults: AtomicU64,
    past: Mutex<HashMap<Key, Past>>,
}

type Script = Box<dyn FnMut(u64, &Op<'_>) -> Option<Fault> + Send>;

/// The history of a key in this layer.
#[derive(Default)]
struct Past {
    /// The value before the last write, if known.
    before: Option<Value>,
    last: Option<Value>,
}

/// A value and its version, or `None` for an absent key.
type Value = Option<(Bytes, Option<Version>)>;

impl Faulty {
    /// Returns `storage` with this layer, and the layer itself. `script` returns the fault of each call; it gets the
    /// number of the call, from 1, and the operation.
    pub fn over(
        storage: &Storage,
        script: impl FnMut(u64, &Op<'_>) -> Option<Fault> + Send + 'static,
    ) -> (Storage, Self) {
        let state = State {
            script: Mutex::new(Box::new(script)),
            calls: AtomicU64::new(0),
            faults: AtomicU64::new(0),
            past: Mutex::default(),
        };
        let layer = Self { storage: storage.clone(), state: Arc::new(state) };
        (storage.overlay(layer.clone()), layer)
    }

    /// Returns `storage` where only the call with this number, from 1, fails.
    pub fn nth(storage: &Storage, number: u64, fault: Fault) -> (Storage, Self) {
        Self::over(storage, move |now, _| (now == number).then_some(fault))
    }

    /// Returns `storage` where a random share of calls, between 0 and 1, has one of these faults. Runs with the same
    /// `seed` and the same order of calls have the same faults.
    pub fn random(storage: &Storage, seed: u64, share: f64, faults: &[Fault]) -> (Storage, Self) {
        let (mut random, faults) = (fastrand::Rng::with_seed(seed), faults.to_vec());
        Self::over(storage, move |_, _| {
            let strikes = random.f64() < share;
            random.choice(&faults).copied().filter(|_| strikes)
        })
    }

    /// The number of calls.
    pub fn calls(&self) -> u64 {
        self.state.calls.load(Ordering::SeqCst)
    }

    /// The number of calls with a fault.
    pub fn faults(&self) -> u64 {
        self.state.faults.load(Ordering::SeqCst)
    }

    fn fault(&self, op: &Op<'_>) -> Option<Fault> {
        let mut script = unpoisoned(self.state.script.lock());
        let number = self.state.calls.fetch_add(1, Ordering::SeqCst) + 1;
        let fault = script(number, op)?;
        self.state.faults.fetch_add(1, Ordering::SeqCst);
        Some(fault)
    }

    /// Performs the operation with its fault.
    async fn perform(&self, fault: Option<Fault>, op: &mut Op<'_>) -> StoreResult<Answer> {
        let before = if fault == Some(Fault::Stale) { self.before(op) } else { None };
        let answer = match (before, op.reborrow()) {
            (Some(Some((bytes, version))), Op::Read(read)) => read.answer(&bytes, version)?,
            (Some(Some((bytes, version))), Op::Head(_)) => {
                Answer::Head(Some(ObjectMeta::new(bytes.len() as u64, version)))
            }
            (Some(None), Op::Read(_)) => Answer::Read(None),
            (Some(None), Op::Head(_)) => Answer::Head(None),
            (_, op) => self.storage.call(op).await?,
        };
        self.remember(op, &answer);
        Ok(answer)
    }

    /// Returns the value of the key before the last write, if known.
    fn before(&self, op: &Op<'_>) -> Option<Value> {
        let past = unpoisoned(self.state.past.lock());
        past.iter().find(|(key, _)| key.as_str() == op.target())?.1.before.clone()
    }

    fn remember(&self, op: &Op<'_>, answer: &Answer) {
        match (op, answer) {
            (Op::Put(put), Answer::Write(Outcome::Done(version))) => {
                self.changed(put.key, Some(Some((Bytes::from(put.parts.concat()), version.clone()))));
            }
            (Op::PutRanges(put), Answer::Write(Outcome::Done(_))) => self.changed(put.key, None),
            (Op::Delete(delete), Answer::Write(Outcome::Done(_))) => self.changed(delete.key, Some(None)),
            _ => {}
        }
    }

    /// Remembers the new value of a key, if it is known.
    fn changed(&self, key: &Key, value: Option<Value>) {
        let mut past = unpoisoned(self.state.past.lock());
        let past = past.entry(key.clone()).or_default();
        past.before = std::mem::replace(&mut past.last, value);
    }
}

fn error(kind: StoreErrorKind, op: &Op<'_>) -> StoreError {
    StoreError::new(kind, "a fault for tests").with_key(op.target())
}

impl fmt::Debug for Faulty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Faulty")
            .field("storage", &self.storage)
            .field("calls", &self.calls())
            .field("faults", &self.faults())
            .finish_non_exhaustive()
    }
}

impl Store for Faulty {
    fn capabilities(&self) -> Capabilities {
        self.storage.capabilities()
    }

    fn call<'a>(&'a self, mut op: Op<'a>) -> BoxFuture<'a, StoreResult<Answer>> {
        Box::pin(async move {
            let fault = self.fault(&op);
            match fault {
                Some(Fault::ErrorBefore(kind)) => return Err(error(kind, &op)),
                Some(Fault::System(number)) => {
                    let e = StoreError::from(io::Error::from_raw_os_error(number));
                    return Err(e.with_key(op.target()));
                }
                Some(Fault::HangBefore) => return pending().await,
                Some(Fault::Delay(time)) => Delay::new(time).await,
                _ => {}
            }
            let answer = self.perform(fault, &mut op).await?;
            match (fault, op) {
                (Some(Fault::ErrorAfter(kind)), op) => return Err(error(kind, &op)),
                (Some(Fault::HangAfter), _) => return pending().await,
                (Some(Fault::Short), Op::Read(read)) => read.into.truncate(read.into.len().saturating_sub(1)),
                _ => {}
            }
            Ok(answer)
        })
    }
}
