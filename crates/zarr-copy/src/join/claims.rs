//! The records of a job: claims of units, units that are done, and signs of life of the workers.
//!
//! They are small objects beside the marker, of a copy as of a pyramid, which has a folder of its own:
//!
//! * `.zarr-copy.jobs/JOB/STAGE/UNIT` is a claim. It is created on condition that it does not exist, and holds the name of
//!   the worker. Only on condition that it has not changed does another worker replace it.
//! * `.zarr-copy.jobs/JOB/STAGE/UNIT.OBJECTS.WORKER.done` says that the unit is copied, in how many objects and by which
//!   worker. All of that is in the key, so that one listing shows it.
//! * `.zarr-copy.jobs/JOB/workers/NAME` changes as long as the worker lives. No two clocks are compared: a worker counts as
//!   dead if its object has not changed for as long as the looking worker has waited.

use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use zarr_array::clock::{self, Clock};
use zarr_array::traits::lock::unpoisoned;
use zarr_array::traits::store::{Listed, Outcome, PutMode, ReadVersion};
use zarr_array::traits::{ByteRange, Bytes, Key, Prefix};
use zarr_array::{Storage, block_on};

use super::{PATIENCE, SharedCopy};
use crate::error::{CopyError, CopyResult};

/// The folder of the signs of life.
const WORKERS: &str = "workers";

/// The end of the name of a unit that is done.
const DONE: &str = ".done";

/// The largest record, in bytes.
const LARGEST: u64 = 1 << 10;

/// The longest time between two signs of life.
const BEAT: Duration = Duration::from_secs(15);

/// The records of a job, for one worker.
pub(crate) struct Claims {
    storage: Storage,
    clock: Arc<dyn Clock>,
    root: String,
    /// The name of this worker.
    worker: String,
    /// A random number of this worker.
    number: u64,
    lease: Duration,
    seen: Mutex<HashMap<String, Seen>>,
    pulse: Pulse,
}

/// The last sign of life of another worker, and when it was first seen.
#[derive(Debug)]
struct Seen {
    sign: Bytes,
    since: Duration,
}

/// The units of a stage.
#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) claimed: HashSet<String>,
    pub(crate) done: HashMap<String, Record>,
}

/// The record of a finished unit.
#[derive(Debug)]
pub(crate) struct Record {
    /// The number of objects that hold the unit. Chunks of which all elements are the fill value are not stored.
    pub(crate) objects: u64,
    /// The worker that copied it.
    pub(crate) worker: String,
}

impl Record {
    /// Reads the name of a record without its ending. Returns the unit as well.
    fn parse(name: &str) -> Option<(String, Self)> {
        let mut parts = name.rsplitn(3, '.');
        let (worker, objects, unit) = (parts.next()?, parts.next()?, parts.next()?);
        Some((unit.to_owned(), Self { objects: objects.parse().ok()?, worker: worker.to_owned() }))
    }
}

impl Claims {
    /// Gives the first sign of life, and goes on with that. The records are in a folder, whose name ends with a slash.
    pub(crate) async fn begin(storage: Storage, folder: &str, job: &SharedCopy) -> CopyResult<Self> {
        let clock = clock::of(&storage);
        let number = clock.random();
        let worker = format!("{}-{number:016x}", std::process::id());
        let root = format!("{folder}{}/", job.name);
        let key = Key::new(format!("{root}{WORKERS}/{worker}"))?;
        storage.put(&key, sign(0)).await?;
        let pulse = Pulse::begin(storage.clone(), key, (job.lease / 4).min(BEAT));
        let pulse = pulse.map_err(|e| CopyError::unsupported(format!("a worker needs a thread: {e}")))?;
        Ok(Self { storage, clock, root, worker, number, lease: job.lease, seen: Mutex::default(), pulse })
    }

    /// Looks at the records of a stage.
    pub(crate) async fn state(&self, stage: &str) -> CopyResult<State> {
        let folder = Prefix::new(format!("{}{stage}/", self.root))?;
        let mut state = State::default();
        let add = |object: Listed| match object.key.name().strip_suffix(DONE) {
            // A record that cannot be read does not count: the unit is copied once more.
            Some(name) => state.done.extend(Record::parse(name)),
            None => _ = state.claimed.insert(object.key.name().to_owned()),
        };
        self.storage.list_each(&folder, add).await?;
        Ok(state)
    }

    /// Claims a unit. If it `is_claimed` already, takes it over from a dead worker. Returns whether this worker has it.
    pub(crate) async fn take(&self, stage: &str, unit: &str, is_claimed: bool) -> CopyResult<bool> {
        let key = Key::new(format!("{}{stage}/{unit}", self.root))?;
        if !is_claimed {
            return self.put(&key, PutMode::Create).await;
        }
        let ranges = [ByteRange::All];
        let reply = self.storage.get_ranges(&key, &ranges, ReadVersion::Report, LARGEST).await?;
        let Some(reply) = reply else { return Ok(false) };
        let holder = String::from_utf8_lossy(&reply.bytes.concat()).into_owned();
        // A claim of this worker is there if the answer to it was lost.
        if holder != self.worker && self.is_alive(&holder).await? {
            return Ok(false);
        }
        match &reply.version {
            Some(version) => self.put(&key, PutMode::IfUnchanged(version)).await,
            None => Err(CopyError::unsupported("workers cannot share a copy to a store without versions")),
        }
    }

    /// Records that a unit is done, in so many objects.
    pub(crate) async fn finish(&self, stage: &str, unit: &str, objects: u64) -> CopyResult<()> {
        let key = Key::new(format!("{}{stage}/{unit}.{objects}.{}{DONE}", self.root, self.worker))?;
        Ok(self.storage.put(&key, self.worker.clone()).await?)
    }

    /// Returns the worker that has claimed a unit.
    pub(crate) async fn holder(&self, stage: &str, unit: &str) -> CopyResult<Option<String>> {
        let claim = self.storage.get(&Key::new(format!("{}{stage}/{unit}", self.root))?, LARGEST).await?;
        Ok(claim.map(|worker| String::from_utf8_lossy(&worker).into_owned()))
    }

    /// Puts units into an order of this worker, so that workers seldom want the same one.
    pub(crate) fn order<U>(&self, mut units: Vec<U>) -> Vec<U> {
        let first = self.number % (units.len() as u64).max(1);
        units.rotate_left(usize::try_from(first).unwrap_or(0));
        units
    }

    /// Gives no further sign of life: the claims of this worker are free.
    pub(crate) async fn end(self) -> CopyResult<()> {
        let key = self.pulse.key.clone();
        drop(self.pulse);
        Ok(self.storage.delete(&key).await?)
    }

    async fn put(&self, key: &Key, mode: PutMode<'_>) -> CopyResult<bool> {
        let outcome = self.storage.put_if(key, &[self.worker.clone().into()], mode).await?;
        Ok(matches!(outcome, Outcome::Done(_)))
    }

    /// Whether another worker is at work now: its sign of life changes while this worker looks, which may take a lease.
    pub(crate) async fn is_at_work(&self, worker: &str) -> CopyResult<bool> {
        let (first, since) = (self.sign_of(worker).await?, self.clock.now());
        let mut now = first.clone();
        while now.is_some() && now == first && self.clock.now().saturating_sub(since) < self.lease {
            self.wait().await;
            now = self.sign_of(worker).await?;
        }
        Ok(now.is_some() && now != first)
    }

    /// Waits before the next look at the records.
    pub(crate) async fn wait(&self) {
        self.clock.wait((self.lease / 8).min(PATIENCE)).await;
    }

    /// Returns the last sign of life of a worker.
    async fn sign_of(&self, worker: &str) -> CopyResult<Option<Bytes>> {
        let Ok(key) = Key::new(format!("{}{WORKERS}/{worker}", self.root)) else { return Ok(None) };
        Ok(self.storage.get(&key, LARGEST).await?)
    }

    /// Whether another worker has given a sign of life within the lease.
    async fn is_alive(&self, worker: &str) -> CopyResult<bool> {
        let Some(sign) = self.sign_of(worker).await? else { return Ok(false) };
        let mut seen = unpoisoned(self.seen.lock());
        let now = self.clock.now();
        let last = seen.entry(worker.to_owned()).or_insert_with(|| Seen { sign: sign.clone(), since: now });
        if last.sign != sign {
            *last = Seen { sign, since: now };
        }
        Ok(now.saturating_sub(last.since) < self.lease)
    }
}

/// The content of the `number`-th sign of life.
fn sign(number: u64) -> String {
    number.to_string()
}

/// A thread that gives signs of life until it is dropped: encoding a block may keep the tasks of a worker busy for long.
#[derive(Debug)]
struct Pulse {
    key: Key,
    stop: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Pulse {
    fn begin(storage: Storage, key: Key, pause: Duration) -> io::Result<Self> {
        let (stop, stopped) = mpsc::channel();
        let place = key.clone();
        let beat = move || {
            let mut number = 0;
            while stopped.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                number += 1;
                // A sign that is lost is followed by others. Without any, the units are taken over.
                let _ = block_on(storage.put(&place, sign(number)));
            }
        };
        let thread = thread::Builder::new().name("zarr-copy-pulse".to_owned()).spawn(beat)?;
        Ok(Self { key, stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Pulse {
    fn drop(&mut self) {
        drop(self.stop.take());
        // No sign of life may come after the records are deleted.
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
