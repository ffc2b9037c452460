//! Arrays in stores that fail at every call and in every way: chunks stay old or become new, the call returns an error,
//! and a second try succeeds. Also reads and writes through layers.

use std::error::Error;
use std::future::Future;
use std::iter;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Waker};
use std::time::Duration;

use crate::common::{chains, meta, numbers, sharded};
use zarr_array::meta::v3::Extension;
use zarr_array::traits::StoreErrorKind::{Io, Unavailable, Uncertain};
use zarr_array::traits::{
    BoxFuture, Bytes, Key, Prefix, StoreError, StoreResult,
    store::{Answer, Capabilities, Listed, Op, Store},
};
use zarr_array::{Array, ArrayError, ArrayErrorKind, ArrayResult, Cpu, NdVec, Storage, block_on, standard};
use zarr_conformance::instruments::{Counting, Fault, Faulty, Network, Simulated};
use zarr_store::{CacheOptions, Cached, MemoryStore};

const SHAPE: [u64; 2] = [8, 8];
const CHUNK: [u64; 2] = [4, 4];

/// An operation on an array while its store fails.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Work {
    /// Writes whole chunks, without a read.
    Write,
    /// Writes part of each chunk.
    Update,
    /// Writes fill values to the whole array, which deletes the chunks.
    Erase,
    Read,
    ReadPart,
    EditAttributes,
}

const WORKS: [Work; 6] =
    [Work::Write, Work::Update, Work::Erase, Work::Read, Work::ReadPart, Work::EditAttributes];

/// Returns elements that differ between all chunks and all versions.
fn version(number: u16) -> Vec<u16> {
    numbers(&SHAPE).iter().map(|value| value + 100 * number).collect()
}

fn part(values: &[u16], rows: std::ops::Range<usize>, columns: std::ops::Range<usize>) -> Vec<u16> {
    let row = |row: usize| values[row * 8..][columns.clone()].to_vec();
    rows.flat_map(row).collect()
}

impl Work {
    /// The elements of the array afterwards.
    fn new_values(self) -> Vec<u16> {
        match self {
            Self::Write => version(3),
            Self::Erase => vec![7; 64],
            Self::Update => {
                let mut values = version(2);
                for row in 1..7 {
                    values[row * 8 + 2..row * 8 + 6].fill(999);
                }
                values
            }
            Self::Read | Self::ReadPart | Self::EditAttributes => version(2),
        }
    }

    /// Opens the array and runs the operation. Returns the elements that it read, if any.
    async fn run(self, storage: Storage, cpu: Cpu) -> ArrayResult<Option<Vec<u16>>> {
        let mut array = Array::open(storage, "/", &standard()).await?.with_cpu(cpu);
        match self {
            Self::Write | Self::Erase => {
                array.write(.., NdVec::new(SHAPE, self.new_values())?).await?;
            }
            Self::Update => {
                array.write([1..7, 2..6], NdVec::new([6, 4], vec![999_u16; 24])?).await?;
            }
            Self::Read => return Ok(Some(array.read::<u16>(..).await?.into_vec())),
            Self::ReadPart => return Ok(Some(array.read::<u16>([1..7, 3..5]).await?.into_vec())),
            Self::EditAttributes => {
                array.edit_attributes(|attributes| attributes.set("edited", true)).await?;
            }
        }
        Ok(None)
    }

    /// The elements that a read returns if nothing fails.
    fn result(self, values: &[u16]) -> Option<Vec<u16>> {
        match self {
            Self::Read => Some(values.to_vec()),
            Self::ReadPart => Some(part(values, 1..7, 3..5)),
            _ => None,
        }
    }
}

/// An array with its second version stored, in a store whose n-th call after that has a fault.
struct Setup {
    memory: Storage,
    storage: Storage,
    faulty: Faulty,
}

impl Setup {
    fn new(objects: &[(Key, Bytes)], remote: bool, n: u64, fault: Fault) -> Self {
        let memory = Storage::from(MemoryStore::new());
        let network = Network::default().round_trip(Duration::ZERO);
        let below = if remote { Simulated::over(&memory, network).0 } else { memory.clone() };
        let before = Arc::new(AtomicU64::new(u64::MAX));
        let begin = before.clone();
        let (storage, faulty) = Faulty::over(&below, move |number, _| {
            (number.checked_sub(before.load(Ordering::SeqCst)) == Some(n)).then_some(fault)
        });
        for (key, value) in objects {
            block_on(storage.put(key, value.clone())).unwrap();
        }
        begin.store(faulty.calls(), Ordering::SeqCst);
        Self { memory, storage, faulty }
    }

    fn stored(&self) -> Vec<u16> {
        block_on(Work::Read.run(self.memory.clone(), Cpu::inline())).unwrap().unwrap()
    }

    /// Asserts that each chunk is old or new, and that the store holds nothing else.
    fn is_old_or_new(&self, work: Work, what: &str) {
        let (old, new, now) = (version(2), work.new_values(), self.stored());
        for (row, column) in [(0, 0), (0, 4), (4, 0), (4, 4)] {
            let chunk = |values: &[u16]| part(values, row..row + 4, column..column + 4);
            let now = chunk(&now);
            assert!(now == chunk(&old) || now == chunk(&new), "{what}: chunk at {row}, {column} is {now:?}");
        }
        for Listed { key, .. } in block_on(self.memory.list_all(&Prefix::root())).unwrap() {
            assert!(key.name() == "zarr.json" || key.as_str().starts_with("c/"), "{what}: {key} is left");
        }
    }

    /// Asserts that the same work succeeds now, with the same handle on the store.
    fn succeeds_now(&self, work: Work, what: &str) {
        if self.faulty.faults() == 0 {
            return; // the fault would happen now
        }
        let result = block_on(work.run(self.storage.clone(), Cpu::inline()));
        let result = result.unwrap_or_else(|e| panic!("{what}: the second try fails: {e:#}"));
        assert_eq!(result, work.result(&version(2)), "{what}");
        assert_eq!(self.stored(), work.new_values(), "{what}");
    }
}

fn codecs() -> [(&'static str, Vec<Extension>); 3] {
    [("plain", chains()[0].clone()), ("zstd", chains()[4].clone()), ("sharded", sharded(&[2, 2], "end"))]
}

/// Returns the objects of the first and of the second version of an array, in the order of their puts.
fn objects(codecs: &[Extension]) -> Vec<(Key, Bytes)> {
    let storage = Storage::from(MemoryStore::new());
    let mut objects = Vec::new();
    block_on(async {
        let meta = meta(&SHAPE, &CHUNK, codecs);
        let array = Array::create(storage.clone(), "/", meta, &standard()).await.unwrap();
        for number in [1, 2] {
            array.write(.., NdVec::new(SHAPE, version(number)).unwrap()).await.unwrap();
            for Listed { key, .. } in storage.list_all(&Prefix::root()).await.unwrap() {
                let value = storage.get(&key, u64::MAX).await.unwrap().unwrap();
                objects.push((key, value));
            }
        }
    });
    objects
}

/// Runs `check` for each kind of work, array and store, with a fault at the first call, at the second and so on, until
/// a run has no fault.
fn at_every_call(faults: &[Fault], check: impl Fn(&Setup, Work, &str)) {
    let mut struck = 0;
    for (name, codecs) in codecs() {
        let objects = objects(&codecs);
        for (work, fault) in WORKS.iter().flat_map(|work| faults.iter().map(move |fault| (*work, *fault))) {
            for remote in [false, true] {
                for n in 1.. {
                    let setup = Setup::new(&objects, remote, n, fault);
                    let what = format!("{work:?}, {name}, remote: {remote}, {fault:?} at call {n}");
                    check(&setup, work, &what);
                    if setup.faulty.faults() == 0 {
                        break;
                    }
                    struck += 1;
                }
            }
        }
    }
    assert!(struck > 100 * faults.len(), "only {struck} faults");
}

/// The number of a full disk in Linux.
const FULL: i32 = 28;

/// Returns the number of the operating system in the sources of an error.
fn number(e: &ArrayError) -> Option<i32> {
    let mut causes = iter::successors(e.source(), |e| (*e).source());
    causes.find_map(|e| e.downcast_ref::<StoreError>()?.raw_os_error())
}

#[test]
fn an_error_at_any_call_is_reported_and_leaves_old_or_new_chunks() {
    let faults = [
        Fault::System(FULL),
        Fault::ErrorAfter(Io),
        Fault::ErrorBefore(Unavailable),
        Fault::ErrorAfter(Uncertain),
    ];
    for (cpu, faults) in [(Cpu::inline(), &faults[..]), (Cpu::threads(2), &faults[..2])] {
        at_every_call(faults, |setup, work, what| {
            let result = block_on(work.run(setup.storage.clone(), cpu.clone()));
            assert_eq!(result.is_err(), setup.faulty.faults() == 1, "{what}: {result:?}");
            if let (Err(e), true) = (&result, what.contains("System")) {
                assert_eq!((e.kind(), number(e)), (ArrayErrorKind::Io, Some(FULL)), "{what}: {e:#}");
            }
            setup.is_old_or_new(work, what);
            setup.succeeds_now(work, what);
        });
    }
}

#[test]
fn answers_that_are_too_short_are_detected() {
    at_every_call(&[Fault::Short], |setup, work, what| {
        if let Ok(result) = block_on(work.run(setup.storage.clone(), Cpu::inline())) {
            assert_eq!(result, work.result(&version(2)), "{what}");
            assert_eq!(setup.stored(), work.new_values(), "{what}");
        }
        setup.is_old_or_new(work, what);
        setup.succeeds_now(work, what);
    });
}

#[test]
fn stale_answers_break_no_write_and_are_never_mixed_into_a_chunk() {
    at_every_call(&[Fault::Stale], |setup, work, what| {
        match block_on(work.run(setup.storage.clone(), Cpu::inline())) {
            Ok(Some(read)) if work == Work::Read => {
                for (row, column) in [(0, 0), (0, 4), (4, 0), (4, 4)] {
                    let chunk = |values: &[u16]| part(values, row..row + 4, column..column + 4);
                    let read = chunk(&read);
                    assert!([1, 2].iter().any(|number| read == chunk(&version(*number))), "{what}: {read:?}");
                }
            }
            Ok(_) => assert_eq!(setup.stored(), work.new_values(), "{what}"),
            Err(_) => setup.is_old_or_new(work, what),
        }
        setup.succeeds_now(work, what);
    });
}

#[test]
fn a_drop_at_any_await_leaves_old_or_new_chunks_and_no_lock() {
    at_every_call(&[Fault::HangBefore, Fault::HangAfter], |setup, work, what| {
        {
            let mut running = Box::pin(work.run(setup.storage.clone(), Cpu::inline()));
            let mut polls = 0;
            while running.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending() {
                polls += 1;
                if setup.faulty.faults() == 1 && polls > 1000 {
                    break; // only the hanging call is left
                }
            }
        }
        setup.is_old_or_new(work, what);
        setup.succeeds_now(work, what);
    });
}

#[test]
fn delayed_calls_give_the_same_result() {
    at_every_call(&[Fault::Delay(Duration::from_micros(50))], |setup, work, what| {
        let result = block_on(work.run(setup.storage.clone(), Cpu::threads(2))).unwrap();
        assert_eq!(result, work.result(&version(2)), "{what}");
        assert_eq!(setup.stored(), work.new_values(), "{what}");
    });
}

/// A layer that repeats an operation until the store is available.
#[derive(Debug)]
struct Retrying(Storage);

impl Store for Retrying {
    fn capabilities(&self) -> Capabilities {
        self.0.capabilities()
    }

    fn call<'a>(&'a self, mut op: Op<'a>) -> BoxFuture<'a, StoreResult<Answer>> {
        Box::pin(async move {
            loop {
                match self.0.call(op.reborrow()).await {
                    Err(e) if e.kind() == Unavailable => {}
                    answer => return answer,
                }
                if let Op::Read(read) = &mut op {
                    read.into.clear();
                }
            }
        })
    }
}

#[test]
fn retries_hide_a_store_that_is_sometimes_unavailable() {
    for (seed, (name, codecs)) in (0..).zip(codecs()) {
        let memory = Storage::from(MemoryStore::new());
        let (faulty, layer) = Faulty::random(&memory, seed, 0.3, &[Fault::ErrorBefore(Unavailable)]);
        let storage = faulty.overlay(Retrying(faulty.clone()));
        block_on(async {
            let meta = meta(&SHAPE, &CHUNK, &codecs);
            let array = Array::create(storage.clone(), "/", meta, &standard()).await.unwrap();
            array.write(.., NdVec::new(SHAPE, version(2)).unwrap()).await.unwrap();
            for work in [Work::Read, Work::ReadPart, Work::Update] {
                let result = work.run(storage.clone(), Cpu::threads(2)).await.unwrap();
                assert_eq!(result, work.result(&version(2)), "{name}");
            }
        });
        assert!(layer.faults() > 0);
        let stored = block_on(Work::Read.run(memory, Cpu::inline())).unwrap().unwrap();
        assert_eq!(stored, Work::Update.new_values(), "{name}");
    }
}

#[test]
fn a_cache_answers_repeated_reads_and_shows_updates() {
    for (name, codecs) in codecs() {
        let (counted, counting) = Counting::over(&Storage::from(MemoryStore::new()));
        let (storage, _) = Cached::over(&counted, CacheOptions::default());
        let run = |work: Work| block_on(work.run(storage.clone(), Cpu::inline())).unwrap();
        block_on(async {
            let meta = meta(&SHAPE, &CHUNK, &codecs);
            let array = Array::create(storage.clone(), "/", meta, &standard()).await.unwrap();
            array.write(.., NdVec::new(SHAPE, version(2)).unwrap()).await.unwrap();
        });
        for work in [Work::ReadPart, Work::Read] {
            assert_eq!(run(work), work.result(&version(2)));
            let before = counting.counts();
            assert_eq!(run(work), work.result(&version(2)));
            assert_eq!((counting.counts() - before).requests(), 0, "{work:?}, {name}");
        }
        run(Work::Update);
        assert_eq!(run(Work::Read), Some(Work::Update.new_values()), "{name}");
        // Another writer writes past the cache: an update gets a conflict, and keeps both changes.
        block_on(Work::Write.run(counted.clone(), Cpu::inline())).unwrap();
        run(Work::Update);
        let mut both = version(3);
        for row in 1..7 {
            both[row * 8 + 2..row * 8 + 6].fill(999);
        }
        assert_eq!(block_on(Work::Read.run(counted, Cpu::inline())).unwrap().unwrap(), both, "{name}");
    }
}

/// Counts how often a read waits for the network, which does not depend on the machine.
#[test]
fn reads_take_as_few_round_trips_as_can_be() {
    let shards = sharded(&[2, 2], "end");
    for (codecs, in_flight, opening, reading) in
        [(&chains()[0], 64, 1, 1), (&chains()[0], 16, 1, 4), (&shards, 64, 1, 2)]
    {
        let memory = Storage::from(MemoryStore::new());
        block_on(async {
            let meta = meta(&[32, 32], &CHUNK, codecs);
            let array = Array::create(memory.clone(), "/", meta, &standard()).await.unwrap();
            array.write(.., NdVec::new([32, 32], numbers(&[32, 32])).unwrap()).await.unwrap();
        });
        let network = Network::default().in_flight(in_flight).merge_gap(0);
        let (storage, simulated) = Simulated::virtually(&memory, network);
        let array = simulated.run(Array::open(storage, "/", &standard())).unwrap().with_cpu(Cpu::inline());
        assert_eq!(simulated.round_trips(), opening);
        // All columns but one: parts of chunks, many in each shard.
        let read = simulated.run(array.read::<u16>([(0..32), (0..31)])).unwrap();
        assert_eq!(read.shape(), [32, 31]);
        assert_eq!(simulated.round_trips() - opening, reading, "{in_flight} in flight");
    }
}
