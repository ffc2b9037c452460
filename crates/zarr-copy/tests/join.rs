//! Several workers share a copy, and some of them die.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use zarr_array::traits::store::Op;
use zarr_array::traits::{Key, Prefix, StoreErrorKind};
use zarr_array::{ArrayErrorKind, ArrayMeta, DataType, NdVec, Storage, block_on};
use zarr_conformance::instruments::{Fault, Faulty};
use zarr_copy::zarr_hierarchy::zarr_array;
use zarr_copy::zarr_hierarchy::{blocking::Group, standard};
use zarr_copy::{Copy, CopyErrorKind, CopyPlan, Event, Lengths, RunOptions, Share, SharedCopy, blocking};
use zarr_store::MemoryStore;

/// The bytes of elements in an array.
const BYTES: u64 = 64 * 48 * 2;

/// Makes a group of two arrays, some chunks of which are not stored.
fn source() -> Storage {
    let storage = Storage::from(MemoryStore::new());
    Group::create(storage.clone(), "/", &standard()).unwrap();
    for (path, factor) in [("/a", 40_503_u64), ("/b", 7919)] {
        let meta = ArrayMeta::builder([64, 48], DataType::UInt16).chunks([2, 48]).build().unwrap();
        let array = zarr_array::blocking::Array::create(storage.clone(), path, meta, &standard()).unwrap();
        let number =
            |i: u64| if (i / 96).is_multiple_of(5) { 0 } else { u16::try_from(i * factor % 65_521).unwrap() };
        array.write(.., &NdVec::new([64, 48], (0..64 * 48).map(number).collect()).unwrap()).unwrap();
    }
    storage
}

/// The ways to copy: as stored, encoded again, and in two passes.
fn copies(source: &Storage) -> [(&'static str, CopyPlan); 3] {
    let copy = Copy::new(source.clone(), "/", &standard()).threads(1);
    let series = Lengths::Shape(vec![64, 2]);
    let plan = |copy: Copy| blocking::plan(&copy).unwrap();
    let plans = [
        ("objects", plan(copy.clone())),
        ("blocks", plan(copy.clone().chunks(series.clone()).max_memory(64 << 10))),
        ("twice", plan(copy.chunks(series).max_memory(3 << 10))),
    ];
    let passes = plans.each_ref().map(|(_, plan)| plan.nodes()[1].estimate().unwrap().passes);
    assert_eq!(passes, [0, 1, 2]);
    plans
}

fn job() -> SharedCopy {
    SharedCopy::new("night-17").unwrap().unit_bytes(700).lease(Duration::from_millis(80))
}

/// Returns all objects.
fn objects(storage: &Storage) -> BTreeMap<String, Vec<u8>> {
    let listed = block_on(storage.list_all(&Prefix::root())).unwrap();
    let get = |key: &Key| block_on(storage.get(key, 1 << 20)).unwrap().unwrap().to_vec();
    listed.into_iter().map(|object| (object.key.to_string(), get(&object.key))).collect()
}

/// Asserts that two stores have the same objects.
#[track_caller]
fn same(one: &BTreeMap<String, Vec<u8>>, other: &BTreeMap<String, Vec<u8>>, case: &str) {
    let keys = one.keys().chain(other.keys());
    let differ: Vec<_> = keys.filter(|key| one.get(*key) != other.get(*key)).collect();
    assert!(differ.is_empty(), "{case}: {differ:?}");
}

/// Returns what one worker makes of a plan.
fn alone(plan: &CopyPlan) -> BTreeMap<String, Vec<u8>> {
    let to = Storage::from(MemoryStore::new());
    blocking::run(plan, to.clone(), "/", RunOptions::new(), &|_| {}).unwrap();
    objects(&to)
}

/// Returns a storage that counts the puts of each key, and fails at the `last` operation and all after it.
fn dying(storage: &Storage, last: Option<u64>) -> (Storage, Arc<Mutex<BTreeMap<String, u64>>>) {
    let counts = Arc::new(Mutex::new(BTreeMap::new()));
    let (in_counts, mut number) = (counts.clone(), 0);
    let (storage, _) = Faulty::over(storage, move |_, call| {
        number += 1;
        if last.is_some_and(|last| number >= last) {
            return Some(Fault::ErrorBefore(StoreErrorKind::Unavailable));
        }
        if let Op::Put(_) | Op::Copy(_) = call {
            *in_counts.lock().unwrap().entry(call.target().to_owned()).or_default() += 1;
        }
        None
    });
    (storage, counts)
}

#[test]
fn workers_copy_each_unit_once_and_make_what_one_makes() {
    for (way, plan) in copies(&source()) {
        let to = Storage::from(MemoryStore::new());
        let (counted, puts) = dying(&to, None);
        // A worker waits an eighth of it for the others at a time, and a slow machine must not end it.
        let lease = Duration::from_secs(16);
        let shares: Vec<(Share, u64)> = thread::scope(|scope| {
            let worker = || {
                let told = Mutex::new(0);
                let progress = |event: Event<'_>| {
                    if let Event::Bytes(bytes) = event {
                        *told.lock().unwrap() += bytes;
                    }
                };
                let share =
                    blocking::join(&plan, counted.clone(), "/", &job().lease(lease).verify(true), &progress);
                (share.unwrap(), told.into_inner().unwrap())
            };
            let workers: Vec<_> = (0..4).map(|_| scope.spawn(worker)).collect();
            workers.into_iter().map(|worker| worker.join().unwrap()).collect()
        });
        same(&objects(&to), &alone(&plan), way);
        // 25 of the 32 chunks of an array are stored.
        let bytes = match way {
            "objects" => 25 * 2 * 48 * 2,
            "blocks" => BYTES,
            _ => 2 * BYTES,
        };
        assert_eq!(shares.iter().map(|(share, _)| share.bytes).sum::<u128>(), u128::from(2 * bytes), "{way}");
        let told = 2 * plan.bytes();
        let is_told = |(share, seen): &(Share, u64)| share.done.was_complete || *seen == told;
        assert!(shares.iter().all(is_told), "{way}: {told}, {shares:?}");
        let puts = puts.lock().unwrap();
        let chunks: Vec<_> = puts.iter().filter(|(key, _)| key.contains("/c/")).collect();
        assert!(chunks.len() >= 48 && chunks.iter().all(|(_, puts)| **puts == 1), "{way}: {chunks:?}");
    }
}

#[test]
fn the_marker_is_durable_before_the_records() {
    let [(_, plan), ..] = copies(&source());
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = seen.clone();
    let (to, _) = Faulty::over(&Storage::from(MemoryStore::new()), move |_, call| {
        if let Op::Put(_) | Op::Sync = call {
            log.lock().unwrap().push(call.target().to_owned());
        }
        None
    });
    blocking::join(&plan, to, "/", &job(), &|_| {}).unwrap();
    let seen = seen.lock().unwrap();
    let [marker, sync, record] = &seen[..3] else { panic!("{seen:?}") };
    assert!(marker.starts_with(".zarr-copy") && sync.is_empty(), "{seen:?}");
    assert!(record.starts_with(".zarr-copy.jobs/"), "{seen:?}");
}

#[test]
fn a_chunk_is_kept_until_the_one_of_a_late_worker_is_durable() {
    // Objects that are copied as they are stored are not put: the store makes the copies.
    let [_, blocks, twice] = copies(&source());
    for (way, plan) in [blocks, twice] {
        let puts = Arc::new(Mutex::new(Vec::new()));
        let log = puts.clone();
        let (to, _) = Faulty::over(&Storage::from(MemoryStore::new()), move |_, call| {
            match call {
                Op::Put(put) if put.key.as_str().contains("/c/") => log.lock().unwrap().push(put.keeps_old),
                _ => {}
            }
            None
        });
        blocking::join(&plan, to, "/", &job(), &|_| {}).unwrap();
        let puts = puts.lock().unwrap();
        assert!(puts.len() >= 48 && puts.iter().all(|keeps_old| *keeps_old), "{way}: {puts:?}");
    }
}

#[test]
fn a_slow_worker_that_writes_the_same_document_is_no_conflict() {
    let [(_, plan), ..] = copies(&source());
    let (to, wanted) = (Storage::from(MemoryStore::new()), alone(&plan));
    let (shared, mut document) = (to.clone(), Some(wanted["zarr.json"].clone()));
    let (between, _) = Faulty::over(&to, move |_, call| {
        if matches!(call, Op::Put(put) if put.key.as_str() == "zarr.json")
            && let Some(document) = document.take()
        {
            block_on(shared.put(&Key::new("zarr.json").unwrap(), document)).unwrap();
        }
        None
    });
    blocking::join(&plan, between, "/", &job(), &|_| {}).unwrap();
    same(&objects(&to), &wanted, "beside a slow worker");
}

#[test]
fn an_empty_marker_is_no_other_copy() {
    let marker = Key::new(".zarr-copy.json").unwrap();
    let [(_, plan), ..] = copies(&source());
    let to = Storage::from(MemoryStore::new());
    // As a power cut leaves it: at the beginning, and beside a complete copy.
    for is_complete in [false, true] {
        block_on(to.put(&marker, "")).unwrap();
        let share = blocking::join(&plan, to.clone(), "/", &job(), &|_| {}).unwrap();
        assert_eq!(share.done.was_complete, is_complete);
        same(&objects(&to), &alone(&plan), "after an empty marker");
    }
}

#[test]
fn what_the_dead_left_is_taken_over() {
    takes_over(61);
}

#[test]
#[ignore = "large: cargo xtask full"]
fn large_what_the_dead_left_is_taken_over_at_more_operations() {
    takes_over(7);
}

/// A worker dies at each `step`-th operation of its own, and another one takes over.
fn takes_over(step: usize) {
    for (way, plan) in copies(&source()) {
        let wanted = alone(&plan);
        for last in (1..).step_by(step) {
            let to = Storage::from(MemoryStore::new());
            let (dies, _) = dying(&to, Some(last));
            let dead = blocking::join(&plan, dies, "/", &job(), &|_| {});
            let share = blocking::join(&plan, to.clone(), "/", &job(), &|_| {}).unwrap();
            same(&objects(&to), &wanted, &format!("{way}, {last} operations"));
            if dead.is_ok() {
                assert!(share.done.was_complete && last > 50);
                break;
            }
        }
    }
}

/// Kills a worker after so many operations. Returns `None` if it completed the copy before.
fn killed(plan: &CopyPlan, last: u64) -> Option<Storage> {
    let to = Storage::from(MemoryStore::new());
    let died = blocking::join(plan, dying(&to, Some(last)).0, "/", &job(), &|_| {}).is_err();
    // The marker is deleted when the copy is complete, and then the records.
    let found = objects(&to);
    let is_complete = found.contains_key("zarr.json") && !found.contains_key(".zarr-copy.json");
    (died && !is_complete).then_some(to)
}

#[test]
fn what_was_deleted_between_two_runs_is_copied_again() {
    copies_again(67);
}

#[test]
#[ignore = "large: cargo xtask full"]
fn large_what_was_deleted_between_two_runs_is_copied_again_at_more_operations() {
    copies_again(17);
}

/// A worker dies at each `step`-th operation, and what it has copied is deleted.
fn copies_again(step: usize) {
    for (way, plan) in copies(&source()) {
        let wanted = alone(&plan);
        for last in (1..).step_by(step) {
            let Some(to) = killed(&plan, last) else { break };
            // As `rm -rf copy/*` does, which leaves hidden names.
            for key in objects(&to).into_keys().filter(|key| !key.starts_with('.')) {
                block_on(to.delete(&Key::new(key).unwrap())).unwrap();
            }
            blocking::join(&plan, to.clone(), "/", &job().verify(last % 2 == 0), &|_| {}).unwrap();
            same(&objects(&to), &wanted, &format!("{way}, {last} operations"));
        }
    }
}

#[test]
fn verify_compares_what_an_earlier_run_copied() {
    compares(41);
}

#[test]
#[ignore = "large: cargo xtask full"]
fn large_verify_compares_what_an_earlier_run_copied_at_more_operations() {
    compares(17);
}

/// A worker dies at each `step`-th operation, and one of its chunks is damaged.
fn compares(step: usize) {
    for (way, plan) in copies(&source()) {
        let wanted = alone(&plan);
        let mut damaged = 0;
        for last in (1..).step_by(step) {
            let Some(to) = killed(&plan, last) else { break };
            let chunk = objects(&to).into_iter().find(|(key, _)| key.contains("/c/"));
            if let Some((key, mut bytes)) = chunk {
                bytes[0] ^= 1;
                block_on(to.put(&Key::new(key).unwrap(), bytes)).unwrap();
                damaged += 1;
            }
            blocking::join(&plan, to.clone(), "/", &job().verify(true), &|_| {}).unwrap();
            same(&objects(&to), &wanted, &format!("{way}, {last} operations"));
        }
        assert!(damaged > 60 / step, "{way}: {damaged}");
    }
}

#[test]
fn a_plain_run_completes_a_job_and_a_job_completes_a_plain_run() {
    for (way, plan) in copies(&source()) {
        let wanted = alone(&plan);
        for last in [20, 45] {
            let to = Storage::from(MemoryStore::new());
            blocking::join(&plan, dying(&to, Some(last)).0, "/", &job(), &|_| {}).unwrap_err();
            blocking::run(&plan, to.clone(), "/", RunOptions::new().resume(true), &|_| {}).unwrap();
            same(&objects(&to), &wanted, way);

            let to = Storage::from(MemoryStore::new());
            blocking::run(&plan, dying(&to, Some(last)).0, "/", RunOptions::new(), &|_| {}).unwrap_err();
            blocking::join(&plan, to.clone(), "/", &job(), &|_| {}).unwrap();
            same(&objects(&to), &wanted, way);
        }
    }
}

#[test]
fn other_memory_makes_other_units_and_the_same_copy() {
    let storage = source();
    let copy = Copy::new(storage.clone(), "/", &standard()).chunks(Lengths::Shape(vec![64, 2])).threads(1);
    let plans =
        [3 << 10, 4 << 10, 64 << 10].map(|memory| blocking::plan(&copy.clone().max_memory(memory)).unwrap());
    let to = Storage::from(MemoryStore::new());
    thread::scope(|scope| {
        for plan in &plans {
            let to = to.clone();
            scope.spawn(move || blocking::join(plan, to, "/", &job(), &|_| {}).unwrap());
        }
    });
    same(&objects(&to), &alone(&plans[0]), "three plans");
}

#[test]
fn who_reads_while_another_worker_completes_the_copy_completes_it_too() {
    let copy = Copy::new(source(), "/", &standard()).chunks(Lengths::Shape(vec![64, 2])).threads(1);
    let plan = |memory| blocking::plan(&copy.clone().max_memory(memory)).unwrap();
    let (twice, once) = (plan(3 << 10), Arc::new(plan(64 << 10)));
    let wanted = alone(&once);
    // The other worker deletes the intermediate array at the first read from it, and then completes the copy while its
    // signs of life are looked at, or dies.
    for dies in [false, true] {
        let to = Storage::from(MemoryStore::new());
        let (deleted, is_deleted) = mpsc::channel();
        let (go, goes) = mpsc::channel::<()>();
        let mut is_dead = false;
        let (of_other, _) = Faulty::over(&to, move |_, call| {
            if matches!(call, Op::Delete(delete) if delete.key.as_str() == ".zarr-copy.json") {
                deleted.send(()).unwrap();
                is_dead = dies;
                let _ = if dies { Ok(()) } else { goes.recv() };
            }
            is_dead.then_some(Fault::ErrorBefore(StoreErrorKind::Unavailable))
        });
        let (mut start, mut go) = (Some((once.clone(), of_other)), Some(go));
        let mut other = None;
        let (between, _) = Faulty::over(&to, move |_, call| {
            let Op::Read(read) = call else { return None };
            let key = read.key.as_str();
            if key.contains(".zarr-copy.intermediate/")
                && let Some((plan, to)) = start.take()
            {
                other = Some(thread::spawn(move || blocking::join(&plan, to, "/", &job(), &|_| {}).is_err()));
                is_deleted.recv().unwrap();
            }
            if key.contains("/workers/")
                && let Some(other) = other.take()
            {
                drop(go.take());
                assert_eq!(other.join().unwrap(), dies);
            }
            None
        });
        blocking::join(&twice, between, "/", &job(), &|_| {}).unwrap();
        same(&objects(&to), &wanted, if dies { "beside a dead worker" } else { "beside another worker" });
    }
}

/// Whether an operation deletes an intermediate array.
fn clears(call: &Op<'_>) -> bool {
    matches!(call, Op::DeletePrefix(prefix) if prefix.as_str().contains(".zarr-copy.intermediate/"))
}

/// Whether an operation reads from an intermediate array.
fn reads_between(call: &Op<'_>) -> bool {
    matches!(call, Op::Read(read) if read.key.as_str().contains(".zarr-copy.intermediate/"))
}

#[test]
fn who_comes_before_a_worker_deletes_the_intermediate_arrays_and_dies_completes_the_copy() {
    let copy = Copy::new(source(), "/", &standard()).chunks(Lengths::Shape(vec![64, 2])).threads(1);
    let plan = |memory| blocking::plan(&copy.clone().max_memory(memory)).unwrap();
    let (twice, once) = (plan(3 << 10), Arc::new(plan(64 << 10)));
    let wanted = alone(&once);
    // With `verify`, the intermediate array is first read after its first unit is written.
    for verify in [false, true] {
        let to = Storage::from(MemoryStore::new());
        // The other worker has claimed the documents. It deletes all intermediate arrays, and dies before its first document.
        let (claimed, is_claimed) = mpsc::channel();
        let (go, goes) = mpsc::channel::<()>();
        let mut is_dead = false;
        let (of_other, _) = Faulty::over(&to, move |_, call| {
            if clears(call) {
                let _ = (claimed.send(()), goes.recv());
            }
            is_dead |= matches!(call, Op::Put(put) if put.key.name() == "zarr.json");
            is_dead.then_some(Fault::ErrorBefore(StoreErrorKind::Unavailable))
        });
        let of_once = once.clone();
        let other = thread::spawn(move || blocking::join(&of_once, of_other, "/", &job(), &|_| {}).is_err());
        is_claimed.recv().unwrap();
        let mut waiting = Some((go, other));
        let (between, _) = Faulty::over(&to, move |_, call| {
            if reads_between(call)
                && let Some((go, other)) = waiting.take()
            {
                drop(go);
                assert!(other.join().unwrap());
            }
            None
        });
        blocking::join(&twice, between, "/", &job().verify(verify), &|_| {}).unwrap();
        same(&objects(&to), &wanted, "beside a dead worker");
    }
}

#[test]
fn who_works_when_a_late_worker_finds_the_copy_complete_completes_it_too() {
    let [.., (_, plan)] = copies(&source());
    let wanted = alone(&plan);
    let plan = Arc::new(plan);
    let to = Storage::from(MemoryStore::new());
    // The late worker finds nothing. Before it puts its marker, the copy is made. Then it deletes what helped to copy.
    let (marked, is_marked) = mpsc::channel();
    let (go, goes) = mpsc::channel::<()>();
    let (cleared, is_cleared) = mpsc::channel();
    let (end, ends) = mpsc::channel::<()>();
    thread::scope(|scope| {
        let (all, first) = (to.clone(), plan.clone());
        let (of_late, _) = Faulty::over(&to, move |_, call| {
            let is_marker = |key: &Key| key.as_str() == ".zarr-copy.json";
            match call {
                Op::Put(put) if is_marker(put.key) => {
                    blocking::join(&first, all.clone(), "/", &job(), &|_| {}).unwrap();
                }
                Op::Delete(delete) if is_marker(delete.key) => _ = (cleared.send(()), ends.recv()),
                call if clears(call) => _ = (marked.send(()), goes.recv()),
                _ => {}
            }
            None
        });
        let late = scope.spawn(|| blocking::join(&plan, of_late, "/", &job(), &|_| {}));
        is_marked.recv().unwrap();
        let mut go = Some(go);
        let (between, _) = Faulty::over(&to, move |_, call| {
            if reads_between(call)
                && let Some(go) = go.take()
            {
                drop(go);
                is_cleared.recv().unwrap();
            }
            None
        });
        let worked = blocking::join(&plan, between, "/", &job(), &|_| {});
        drop(end);
        assert!(late.join().unwrap().unwrap().done.was_complete);
        worked.unwrap();
    });
    same(&objects(&to), &wanted, "beside a late worker");
}

#[test]
fn who_has_other_units_completes_what_a_dead_worker_had_all_but_published() {
    completes(83);
}

#[test]
#[ignore = "large: cargo xtask full"]
fn large_who_has_other_units_completes_what_a_dead_worker_had_at_more_operations() {
    completes(23);
}

/// A worker dies at each `step`-th operation, another one before it deletes the marker, and a third one completes the copy.
fn completes(step: usize) {
    let storage = source();
    let copy = Copy::new(storage, "/", &standard()).chunks(Lengths::Shape(vec![64, 2])).threads(1);
    let plan = |memory| blocking::plan(&copy.clone().max_memory(memory)).unwrap();
    let (twice, once) = (plan(3 << 10), plan(64 << 10));
    let wanted = alone(&once);
    for last in (1..).step_by(step) {
        let to = Storage::from(MemoryStore::new());
        let dead = blocking::join(&twice, dying(&to, Some(last)).0, "/", &job(), &|_| {});
        if dead.is_ok() {
            assert!(last > 50);
            break;
        }
        // This worker deletes the intermediate array of the first, and dies before it deletes the marker.
        let mut is_dead = false;
        let (dies, _) = Faulty::over(&to, move |_, call| {
            is_dead |= matches!(call, Op::Delete(delete) if delete.key.as_str() == ".zarr-copy.json");
            is_dead.then_some(Fault::ErrorBefore(StoreErrorKind::Unavailable))
        });
        blocking::join(&once, dies, "/", &job(), &|_| {}).unwrap_err();
        blocking::join(&twice, to.clone(), "/", &job(), &|_| {}).unwrap();
        same(&objects(&to), &wanted, &format!("{last} operations"));
    }
}

#[test]
fn a_job_of_another_copy_and_a_store_without_conditions_are_refused() {
    let storage = source();
    let plan = |path: &str| blocking::plan(&Copy::new(storage.clone(), path, &standard())).unwrap();
    let to = Storage::from(MemoryStore::new());
    blocking::join(&plan("/a"), dying(&to, Some(12)).0, "/", &job(), &|_| {}).unwrap_err();
    let e = blocking::join(&plan("/b"), to, "/", &job(), &|_| {}).unwrap_err();
    assert_eq!(e.kind(), CopyErrorKind::Taken);
    let e = blocking::join(&plan("/a"), Storage::from(MemoryStore::new()).read_only(), "/", &job(), &|_| {});
    assert_eq!(e.unwrap_err().kind(), CopyErrorKind::Node(ArrayErrorKind::Unsupported));
    for name in ["", ".a", "a/b", "a b", &"a".repeat(65)] {
        assert_eq!(SharedCopy::new(name).unwrap_err().kind(), CopyErrorKind::Settings, "{name:?}");
    }
}

#[test]
fn a_worker_that_comes_late_finds_the_copy_complete() {
    let (storage, to) = (source(), Storage::from(MemoryStore::new()));
    let [.., (_, plan)] = copies(&storage);
    blocking::join(&plan, to.clone(), "/x/y", &job(), &|_| {}).unwrap();
    let before = objects(&to);
    // Of a worker that went on, and died, when the copy was complete.
    for left in ["a/.zarr-copy.intermediate/0/c/0/0", ".zarr-copy.jobs/night-17/0.0/0"] {
        block_on(to.put(&Key::new(format!("x/y/{left}")).unwrap(), "left")).unwrap();
    }
    let late = blocking::join(&plan, to.clone(), "/x/y", &job(), &|_| {}).unwrap();
    assert!(late.done.was_complete && late.units == 0);
    same(&objects(&to), &before, "late");
    // The groups above are there.
    assert!(before.contains_key("x/zarr.json") && before.contains_key("x/y/a/zarr.json"));
}
