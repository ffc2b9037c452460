//! Writers of one object in a directory, as processes: the sources of zarr-store-fs on the file system of this machine, with
//! a step before each system call.

mod register;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use conformance_stepped_fs::FsStore;
use conformance_stepped_rustix::disk;
use conformance_stepped_rustix::steps::{die_after, is_dead};
use tempfile::TempDir;
use zarr_traits::{
    ByteRange, Bytes, Key, Prefix, Storage, StoreResult, block_on,
    store::{Copied, Op, Outcome, Put, PutMode, ReadVersion},
};

use crate::explore::{Exploration, any};
use register::{Act, Call, is_linear};

pub(crate) const FILES: Exploration = Exploration {
    name: "files",
    about: "an object in a directory is always one value, whatever its writers do and wherever one dies, and is kept until the \
            new one is on the disk",
    prepare: || Box::new(objects),
};

pub(crate) const UPDATES: Exploration = Exploration {
    name: "updates",
    about: "updates of a file by three processes are all kept, also if one dies and another deletes what the dead left",
    prepare: || Box::new(updates),
};

/// The key of the object.
const KEY: &str = "c/0";

/// The steps within which a writer may die: about as many as its calls take.
const STEPS: u64 = 60;

/// The largest value, in bytes.
const LARGEST: u64 = 100;

/// A process that has the store open.
struct Process {
    store: FsStore,
    storage: Storage,
    key: Key,
    /// Whether a put keeps the old object until the new one is on the disk. A copy always does.
    keeps_old: bool,
}

impl Process {
    fn open(dir: &TempDir, keeps_old: bool) -> Self {
        let store = FsStore::open(dir.path()).unwrap();
        Self { storage: store.clone().into(), store, key: Key::new(KEY).unwrap(), keeps_old }
    }

    /// Performs a call. Returns what a reader saw, or whether the call changed the object.
    fn perform(&self, act: &Act) -> StoreResult<Act> {
        let Self { storage, key, .. } = self;
        let put = |value: &u64, mode| {
            let parts = [value.to_string().into()];
            let put = Put::new(key, &parts, mode);
            let put = if self.keeps_old { put.keeping_old() } else { put };
            let outcome = block_on(storage.call(Op::Put(put)))?.into_outcome()?;
            Ok::<_, zarr_traits::StoreError>(matches!(outcome, Outcome::Done(_)))
        };
        Ok(match act {
            Act::Replace(value) if any(2) == 0 => self.copy(*value)?,
            Act::Replace(value) | Act::Again(value) => Act::Replace(*value).of(put(value, PutMode::Replace)?),
            Act::Create(value) => Act::Create(*value).of(put(value, PutMode::Create)?),
            Act::Delete => {
                match any(2) {
                    0 => block_on(storage.delete(key))?,
                    _ => block_on(storage.delete_prefix(&Prefix::new("c/")?))?,
                }
                Act::Delete
            }
            Act::Read(_) => Act::Read(self.read()?.map(|(value, _)| value)),
            Act::Update(_, value) => match self.read()? {
                None => Act::Create(*value).of(put(value, PutMode::Create)?),
                Some((old, version)) => {
                    Act::Update(old, *value).of(put(value, PutMode::IfUnchanged(&version))?)
                }
            },
            Act::Nothing => {
                self.store.sweep(Duration::ZERO)?;
                Act::Nothing
            }
        })
    }

    /// Replaces the object by a copy of another one.
    fn copy(&self, value: u64) -> StoreResult<Act> {
        let other = Key::new(format!("other/{value}"))?;
        block_on(self.storage.put(&other, value.to_string()))?;
        let copied = block_on(self.storage.copy_from(&self.storage, &other, &self.key))?;
        assert_eq!(copied, Copied::Done);
        Ok(Act::Replace(value))
    }

    fn read(&self) -> StoreResult<Option<(u64, zarr_traits::Version)>> {
        let ranges = [ByteRange::All];
        let read = self.storage.get_ranges(&self.key, &ranges, ReadVersion::Report, LARGEST);
        let Some(reply) = block_on(read)? else { return Ok(None) };
        Ok(Some((number(&reply.bytes.concat().into()), reply.version.unwrap())))
    }
}

/// Reads a value, which must be whole.
fn number(value: &Bytes) -> u64 {
    String::from_utf8_lossy(value).parse().unwrap()
}

fn objects() {
    let dir = TempDir::new().unwrap();
    let keeps_old = any(2) == 0;
    let first = Process::open(&dir, keeps_old);
    let begun = any(2) == 0;
    if begun {
        first.perform(&Act::Replace(1)).unwrap();
        block_on(first.storage.sync()).unwrap();
    }
    disk::lost();
    let clock = Arc::new(AtomicU64::new(0));
    let writers = [1, 2, 3].map(|writer| {
        let (process, clock) = (Process::open(&dir, keeps_old), clock.clone());
        let steps = if writer == 1 && any(2) == 0 { 1 + any(STEPS) } else { u64::MAX };
        shuttle::thread::spawn(move || {
            die_after(steps);
            let mut calls = Vec::new();
            for call in 0..2 {
                let value = 10 * writer + call;
                let act = match any(7) {
                    0 => Act::Replace(value),
                    1 => Act::Create(value),
                    2 => Act::Delete,
                    3 => Act::Read(None),
                    4 => Act::Nothing,
                    _ => Act::Update(0, value),
                };
                let start = clock.fetch_add(1, Ordering::Relaxed);
                let done = process.perform(&act);
                let end = clock.fetch_add(1, Ordering::Relaxed);
                match done {
                    Err(_) if is_dead() => {
                        // The old value of an update is not known.
                        let act = if let Act::Update(_, new) = act { Act::Again(new) } else { act };
                        calls.push(Call { start, end: u64::MAX, act, is_sure: false });
                        break;
                    }
                    done => calls.push(Call { start, end, act: done.unwrap(), is_sure: true }),
                }
            }
            calls
        })
    });
    let mut calls: Vec<Call> = writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect();
    let last = first.read().unwrap().map(|(value, _)| value);
    calls.push(Call { start: u64::MAX, end: u64::MAX, act: Act::Read(last), is_sure: true });
    assert!(
        is_linear(begun.then_some(1), &calls),
        "no order of these calls explains their results: {calls:?}"
    );
    let lost = disk::lost();
    assert!(!keeps_old || lost == 0, "an object on the disk is replaced by one that is not: {calls:?}");
    nothing_left(&dir, &first);
}

/// Asserts that a sweep leaves no file but the object.
fn nothing_left(dir: &TempDir, process: &Process) {
    process.store.sweep(Duration::ZERO).unwrap();
    let Ok(entries) = std::fs::read_dir(dir.path().join("c")) else { return };
    let names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).filter(|name| name != "0").collect();
    assert!(names.is_empty(), "{names:?} stays");
}

fn updates() {
    let dir = TempDir::new().unwrap();
    let first = Process::open(&dir, false);
    let writers = [0, 1, 2].map(|writer| {
        let process = Process::open(&dir, false);
        let steps = if writer == 0 && any(2) == 0 { 1 + any(STEPS) } else { u64::MAX };
        shuttle::thread::spawn(move || {
            die_after(steps);
            let mut done = 0;
            while done < 2 {
                match process.count() {
                    Err(_) if is_dead() => return (done, true),
                    is_done => done += u64::from(is_done.unwrap()),
                }
                if writer == 2 && any(3) == 0 {
                    process.perform(&Act::Nothing).unwrap();
                }
            }
            (done, false)
        })
    });
    let done = writers.map(|writer| writer.join().unwrap());
    let acknowledged: u64 = done.iter().map(|(done, _)| done).sum();
    let under_way = done.iter().filter(|(_, is_dead)| *is_dead).count() as u64;
    let found = first.read().unwrap().map_or(0, |(value, _)| value);
    let possible = acknowledged..=acknowledged + under_way;
    assert!(possible.contains(&found), "{found} of {possible:?} updates are there");
    nothing_left(&dir, &first);
}

impl Process {
    /// Adds one to the value. Returns whether no other writer was faster.
    fn count(&self) -> StoreResult<bool> {
        let (value, version) = match self.read()? {
            Some((value, version)) => (value, Some(version)),
            None => (0, None),
        };
        let mode = version.as_ref().map_or(PutMode::Create, PutMode::IfUnchanged);
        let outcome = block_on(self.storage.put_if(&self.key, &[(value + 1).to_string().into()], mode))?;
        Ok(matches!(outcome, Outcome::Done(_)))
    }
}
