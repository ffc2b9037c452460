//! Several workers make the levels together, and some of them die.

use std::collections::BTreeMap;
use std::thread;
use std::time::Duration;

use zarr_array::blocking::Array;
use zarr_array::traits::store::Op;
use zarr_array::traits::{Key, Prefix, StoreErrorKind};
use zarr_array::{ArrayMeta, DataType, NdVec, Storage, block_on};
use zarr_conformance::instruments::{Fault, Faulty};
use zarr_copy::pyramid::{LevelCount, Pyramid, PyramidShare};
use zarr_copy::zarr_hierarchy::blocking::Group;
use zarr_copy::zarr_hierarchy::{standard, zarr_array};
use zarr_copy::{CopyErrorKind, CopyResult, RunOptions, SharedCopy};
use zarr_store::MemoryStore;

/// Makes a group with a level 0 of 64 chunks or 16 shards; some hold only the fill value.
fn group(shards: bool) -> Storage {
    let storage = Storage::from(MemoryStore::new());
    Group::create(storage.clone(), "/", &standard()).unwrap();
    let meta = ArrayMeta::builder([63, 61], DataType::UInt16).chunks([8, 8]).dimension_names(["y", "x"]);
    let meta = if shards { meta.shards([16, 16]) } else { meta };
    let array = Array::create(storage.clone(), "/0", meta.build().unwrap(), &standard()).unwrap();
    let number = |i: u64| if i % 61 > 40 { 0 } else { u16::try_from(i * 40_503 % 65_521).unwrap() };
    array.write(.., &NdVec::new([63, 61], (0..63 * 61).map(number).collect()).unwrap()).unwrap();
    storage
}

fn pyramid(storage: &Storage) -> Pyramid {
    let pyramid = Pyramid::new(storage.clone(), "/", &standard()).levels(LevelCount::Further(4));
    pyramid.threads(1).record_bytes(500)
}

fn run(storage: &Storage, resume: bool) -> CopyResult<bool> {
    let plan = block_on(pyramid(storage).plan())?;
    Ok(block_on(plan.run(RunOptions::new().resume(resume), &|_| {}))?.was_complete)
}

fn job() -> SharedCopy {
    SharedCopy::new("night-17").unwrap().unit_bytes(300).lease(Duration::from_millis(80))
}

fn join(storage: &Storage, job: &SharedCopy) -> CopyResult<PyramidShare> {
    let plan = block_on(pyramid(storage).plan())?;
    block_on(plan.join(job, &|_| {}))
}

fn objects(storage: &Storage) -> BTreeMap<String, Vec<u8>> {
    let get = |key: &Key| block_on(storage.get(key, 1 << 20)).unwrap().unwrap().to_vec();
    let listed = block_on(storage.list_all(&Prefix::root())).unwrap();
    listed.into_iter().map(|object| (object.key.to_string(), get(&object.key))).collect()
}

/// Asserts that the levels are those that one worker makes, and that nothing else is left.
#[track_caller]
fn same(storage: &Storage, wanted: &BTreeMap<String, Vec<u8>>, case: &str) {
    let made = objects(storage);
    let differ: Vec<_> =
        made.keys().chain(wanted.keys()).filter(|key| made.get(*key) != wanted.get(*key)).collect();
    assert!(differ.is_empty(), "{case}: {differ:?}");
}

fn alone(shards: bool) -> BTreeMap<String, Vec<u8>> {
    let storage = group(shards);
    run(&storage, false).unwrap();
    objects(&storage)
}

/// Fails at the `last` operation and all after it.
fn dying(storage: &Storage, last: u64) -> Storage {
    let mut number = 0;
    let (storage, _) = Faulty::over(storage, move |_, _| {
        number += 1;
        (number >= last).then_some(Fault::ErrorBefore(StoreErrorKind::Unavailable))
    });
    storage
}

#[test]
fn workers_make_each_unit_once_and_what_one_makes() {
    for shards in [false, true] {
        let storage = group(shards);
        let mut puts = BTreeMap::<String, u64>::new();
        let (told, counted) = std::sync::mpsc::channel();
        let (counting, _) = Faulty::over(&storage, move |_, call| {
            if matches!(call, Op::Put(put) if put.key.as_str().contains("/c/")) {
                told.send(call.target().to_owned()).unwrap();
            }
            None
        });
        // A worker waits an eighth of it for the others at a time, and a slow machine must not end it.
        let job = job().lease(Duration::from_secs(16)).verify(true);
        let shares: Vec<PyramidShare> = thread::scope(|scope| {
            let worker = || join(&counting, &job).unwrap();
            let workers: Vec<_> = (0..3).map(|_| scope.spawn(worker)).collect();
            workers.into_iter().map(|worker| worker.join().unwrap()).collect()
        });
        same(&storage, &alone(shards), "three workers");
        drop(counting);
        counted.into_iter().for_each(|key| *puts.entry(key).or_default() += 1);
        assert!(puts.values().all(|puts| *puts == 1), "{puts:?}");
        let made: u64 = shares.iter().map(|share| share.done.chunks).sum();
        assert_eq!(made, if shards { 4 + 1 + 1 + 1 } else { 16 + 4 + 1 + 1 }, "{shares:?}");
        assert!(shares.iter().map(|share| share.units).sum::<u64>() >= 3, "{shares:?}");
        assert_eq!(shares.iter().filter(|share| share.done.is_verified).count(), 1);
        assert!(join(&storage, &job).unwrap().done.was_complete);
    }
}

#[test]
fn three_workers_one_of_which_dies_make_what_one_makes() {
    let mut died = 0;
    for shards in [false, true] {
        let wanted = alone(shards);
        for last in (6..90).step_by(7) {
            let storage = group(shards);
            let failing = dying(&storage, last);
            thread::scope(|scope| {
                let dead = scope.spawn(|| join(&failing, &job()));
                let workers: Vec<_> = (0..2).map(|_| scope.spawn(|| join(&storage, &job()))).collect();
                workers.into_iter().for_each(|worker| assert!(worker.join().unwrap().is_ok()));
                died += u64::from(dead.join().unwrap().is_err());
            });
            // What the dead worker recorded last may be left, and the next worker removes it.
            assert!(join(&storage, &job()).unwrap().done.was_complete);
            same(&storage, &wanted, &format!("{shards}, {last}"));
        }
    }
    assert!(died > 8, "{died}");
}

#[test]
fn a_plain_run_completes_a_job_and_a_job_completes_a_plain_run() {
    let wanted = alone(false);
    for last in (10..90).step_by(10) {
        let storage = group(false);
        let _ = join(&dying(&storage, last), &job());
        run(&storage, true).unwrap();
        same(&storage, &wanted, &format!("job, then run: {last}"));
        let storage = group(false);
        let _ = run(&dying(&storage, last), false);
        join(&storage, &job()).unwrap();
        same(&storage, &wanted, &format!("run, then job: {last}"));
    }
}

#[test]
fn what_workers_cannot_do_together_is_refused() {
    let storage = group(false);
    let plan = block_on(pyramid(&storage).replace(true).plan()).unwrap();
    let e = block_on(plan.join(&job(), &|_| {})).unwrap_err();
    assert_eq!(e.kind(), CopyErrorKind::Settings);
    // Another pyramid is unfinished.
    join(&dying(&storage, 30), &job()).unwrap_err();
    let other = block_on(pyramid(&storage).levels(LevelCount::Further(2)).plan()).unwrap();
    assert_eq!(block_on(other.join(&job(), &|_| {})).unwrap_err().kind(), CopyErrorKind::Taken);
    join(&storage, &job()).unwrap();
    // Other levels exist.
    assert_eq!(block_on(other.join(&job(), &|_| {})).unwrap_err().kind(), CopyErrorKind::Taken);
}
