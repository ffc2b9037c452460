//! Runs that end early, and what they cost.

use std::collections::BTreeMap;

use futures_util::FutureExt;
use zarr_array::blocking::Array;
use zarr_array::traits::store::Op;
use zarr_array::traits::{Key, Prefix, StoreErrorKind};
use zarr_array::{ArrayErrorKind, ArrayMeta, DataType, NdVec, Storage, block_on};
use zarr_conformance::instruments::{Counting, Fault, Faulty};
use zarr_copy::pyramid::{LevelCount, Pyramid, marker};
use zarr_copy::zarr_hierarchy::blocking::Group;
use zarr_copy::zarr_hierarchy::{standard, zarr_array};
use zarr_copy::{CopyErrorKind, Event, RunOptions};
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

fn pyramid(storage: &Storage, threads: usize) -> Pyramid {
    let pyramid = Pyramid::new(storage.clone(), "/", &standard()).levels(LevelCount::Further(4));
    pyramid.threads(threads).record_bytes(500)
}

fn run(storage: &Storage, threads: usize, resume: bool) -> Result<(), CopyErrorKind> {
    let plan = block_on(pyramid(storage, threads).plan()).map_err(|e| e.kind())?;
    block_on(plan.run(RunOptions::new().resume(resume), &|_| {})).map(drop).map_err(|e| e.kind())
}

fn objects(storage: &Storage) -> BTreeMap<String, Vec<u8>> {
    let get = |key: &Key| block_on(storage.get(key, 1 << 20)).unwrap().unwrap().to_vec();
    let listed = block_on(storage.list_all(&Prefix::root())).unwrap();
    listed.into_iter().map(|object| (object.key.to_string(), get(&object.key))).collect()
}

#[track_caller]
fn same(one: &BTreeMap<String, Vec<u8>>, other: &BTreeMap<String, Vec<u8>>, case: &str) {
    let differ: Vec<_> =
        one.keys().chain(other.keys()).filter(|key| one.get(*key) != other.get(*key)).collect();
    assert!(differ.is_empty(), "{case}: {differ:?}");
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
fn a_killed_run_is_resumed_to_the_same_bytes() {
    let (mut interrupted, mut completed) = (0, 0);
    for shards in [false, true] {
        let whole = group(shards);
        run(&whole, 2, false).unwrap();
        let wanted = objects(&whole);
        let mut random = 7_u64;
        for round in 0..50 {
            let storage = group(shards);
            let mut resume = false;
            // One run after another is killed, and in the end one is not.
            for threads in [2, 0, 1] {
                random =
                    random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let last = 8 + (random >> 33) % 160;
                match run(&dying(&storage, last), threads, resume) {
                    Ok(()) => completed += 1,
                    Err(_) => interrupted += 1,
                }
                let named = Group::open(storage.clone(), "/", &standard()).unwrap().attributes();
                let is_named = named.to_value().to_compact().contains("\"path\":\"4\"");
                let is_whole =
                    |level: usize| Array::open(storage.clone(), &level.to_string(), &standard()).is_ok();
                assert!(!is_named || (1..=4).all(is_whole), "round {round}");
                resume =
                    block_on(storage.exists(&marker::key(&Prefix::root()).unwrap())).unwrap() || is_named;
            }
            run(&storage, 2, resume).unwrap();
            same(&objects(&storage), &wanted, &format!("round {round}"));
        }
    }
    assert!(interrupted > 100 && completed > 0, "{interrupted} {completed}");
}

#[test]
fn a_resumed_run_does_not_repeat_what_is_recorded() {
    let storage = group(false);
    let mut puts = 0;
    let (failing, _) = Faulty::over(&storage, move |_, call| {
        puts += u64::from(matches!(call, Op::Put(put) if put.key.as_str().contains("/c/")));
        (puts > 12).then_some(Fault::ErrorBefore(StoreErrorKind::Unavailable))
    });
    run(&failing, 0, false).unwrap_err();
    // The layer of faults changes how many jobs are under way, so it is always there.
    let counted = |storage: &Storage| Counting::over(&Faulty::over(storage, |_, _| None).0);
    let (again, counting) = counted(&storage);
    assert_eq!(run(&again, 0, false), Err(CopyErrorKind::Taken));
    let before = counting.counts();
    run(&again, 0, true).unwrap();
    let reads = (counting.counts() - before).reads;
    let (whole, counting) = counted(&group(false));
    run(&whole, 0, false).unwrap();
    assert!(reads + 20 < counting.counts().reads, "{reads} of {}", counting.counts().reads);
    // Other settings are another pyramid.
    let storage = group(false);
    run(&dying(&storage, 40), 1, false).unwrap_err();
    let other = pyramid(&storage, 1).levels(LevelCount::Further(2));
    let e =
        block_on(block_on(other.plan()).unwrap().run(RunOptions::new().resume(true), &|_| {})).unwrap_err();
    assert_eq!(e.kind(), CopyErrorKind::Taken);
}

#[test]
fn each_chunk_of_level_0_is_read_once() {
    // Level 1 has 16 units and level 2 has 4: with two threads both are read again, with one only level 2;
    // with shards level 1 has 4 units.
    for (shards, threads, wanted) in [(false, 0, 64 + 4), (false, 2, 64 + 16 + 4), (true, 1, 16 + 4)] {
        let storage = group(shards);
        let (counted, counting) = Counting::over(&storage);
        let plan = block_on(pyramid(&counted, threads).record_bytes(1 << 30).plan()).unwrap();
        let (before, estimate) = (counting.counts(), plan.estimate());
        block_on(plan.run(RunOptions::new(), &|_| {})).unwrap();
        let used = counting.counts() - before;
        assert_eq!(estimate.reads, wanted, "{estimate:?}");
        // Marker, two documents of each level and of the group, and records.
        let documents = 24;
        let reads = u128::from(used.reads);
        assert!((estimate.reads..estimate.reads + documents).contains(&reads), "{used:?}, {estimate:?}");
        let stored =
            objects(&storage).keys().filter(|key| key.contains("/c/") && !key.starts_with("0/")).count();
        let puts = u128::from(used.puts) - stored as u128;
        assert!(
            (4..16).contains(&puts) && stored as u128 <= estimate.writes,
            "{used:?}, {stored}, {estimate:?}"
        );
    }
}

#[test]
fn a_chunk_that_cannot_be_read_is_named_and_the_group_stays() {
    let storage = group(false);
    block_on(storage.put(&Key::new("0/c/3/2").unwrap(), "no chunk")).unwrap();
    let before = Group::open(storage.clone(), "/", &standard()).unwrap().attributes().to_value().to_compact();
    let plan = block_on(pyramid(&storage, 2).plan()).unwrap();
    let e = block_on(plan.run(RunOptions::new(), &|_| {})).unwrap_err();
    assert!(matches!(e.kind(), CopyErrorKind::Node(ArrayErrorKind::Corrupt)), "{e:?}");
    let text = format!("{e:#}");
    assert!(text.contains("array \"/0\"") && text.contains("0/c/3/2"), "{text}");
    let after = Group::open(storage.clone(), "/", &standard()).unwrap().attributes().to_value().to_compact();
    assert_eq!(before, after);
    assert!(Array::open(storage, "/1", &standard()).is_err());
}

#[test]
fn levels_are_replaced_and_those_that_are_left_are_removed() {
    let storage = group(false);
    run(&storage, 1, false).unwrap();
    assert_eq!(run(&storage, 1, false), Err(CopyErrorKind::Taken));
    let two = pyramid(&storage, 1).levels(LevelCount::Further(2)).replace(true);
    block_on(block_on(two.plan()).unwrap().run(RunOptions::new(), &|_| {})).unwrap();
    let fresh = group(false);
    let two = pyramid(&fresh, 1).levels(LevelCount::Further(2));
    block_on(block_on(two.plan()).unwrap().run(RunOptions::new(), &|_| {})).unwrap();
    same(&objects(&storage), &objects(&fresh), "replaced");
    // What is no level is never removed.
    let storage = group(false);
    Group::create(storage.clone(), "/2", &standard()).unwrap();
    let plan = block_on(pyramid(&storage, 1).replace(true).plan()).unwrap();
    let e = block_on(plan.run(RunOptions::new(), &|_| {})).unwrap_err();
    assert_eq!(e.kind(), CopyErrorKind::Taken);
}

#[test]
fn a_level_that_differs_is_found() {
    let storage = group(false);
    // Somebody deletes a chunk of level 1 when level 2 is under way.
    let shared = storage.clone();
    let (lying, _) = Faulty::over(&storage, move |_, call| {
        if matches!(call, Op::Put(put) if put.key.as_str().starts_with("4/")) {
            block_on(shared.delete(&Key::new("1/c/0/0").unwrap())).unwrap();
        }
        None
    });
    let plan = block_on(pyramid(&lying, 1).plan()).unwrap();
    let e = block_on(plan.run(RunOptions::new().verify(true), &|_| {})).unwrap_err();
    assert_eq!(e.kind(), CopyErrorKind::Differs);
}

#[test]
fn progress_has_all_bytes_of_level_0() {
    let storage = group(true);
    let plan = block_on(pyramid(&storage, 2).plan()).unwrap();
    let seen = std::sync::Mutex::new((0, Vec::new()));
    let told = |event: Event<'_>| match event {
        Event::Bytes(bytes) => seen.lock().unwrap().0 += bytes,
        Event::Array(path) => seen.lock().unwrap().1.push(path.to_owned()),
        other => panic!("{other:?}"),
    };
    let done = block_on(plan.run(RunOptions::new().verify(true), &told)).unwrap();
    let (bytes, paths) = seen.into_inner().unwrap();
    assert_eq!((bytes, plan.bytes()), (2 * 63 * 61 * 2, 63 * 61 * 2));
    assert_eq!(paths[0], "/1");
    assert!(done.is_verified && u128::from(done.bytes) == plan.estimate().bytes_written, "{done:?}");
}

#[test]
fn records_of_a_finished_run_are_not_believed() {
    let storage = group(false);
    run(&storage, 0, false).unwrap();
    let wanted = objects(&storage);
    for level in 1..=4 {
        block_on(storage.delete_prefix(&Prefix::new(format!("{level}/")).unwrap())).unwrap();
    }
    let jobs = Key::new(".zarr-pyramid.jobs/0.0-2.0").unwrap();
    block_on(storage.put(&jobs, "0 1 2 3")).unwrap();
    let mut group = Group::open(storage.clone(), "/", &standard()).unwrap();
    group.set_attributes(zarr_array::meta::json!({})).unwrap();
    // The run dies after its marker.
    let (dying, _) = Faulty::over(&storage, |_, call| {
        matches!(call, Op::Put(put) if put.key.as_str().contains("/c/"))
            .then_some(Fault::ErrorBefore(StoreErrorKind::Unavailable))
    });
    run(&dying, 0, false).unwrap_err();
    run(&storage, 0, true).unwrap();
    same(&objects(&storage), &wanted, "after records of a finished run");
}

#[test]
fn consolidated_metadata_have_the_levels() {
    let storage = group(false);
    let mut root = Group::open(storage.clone(), "/", &standard()).unwrap();
    root.consolidate().unwrap();
    run(&storage, 1, false).unwrap();
    let root = Group::open(storage, "/", &standard()).unwrap();
    assert!(root.is_consolidated());
    assert_eq!(root.children().unwrap().len(), 5);
    assert_eq!(root.check_consolidated().unwrap().map(|differences| differences.len()), Some(0));
}

#[test]
fn a_dropped_run_writes_nothing_more_and_is_resumed() {
    let whole = group(false);
    run(&whole, 1, false).unwrap();
    for (threads, polls) in [(0, 1), (0, 5), (0, 30), (2, 1), (2, 4)] {
        let storage = group(false);
        let plan = block_on(pyramid(&storage, threads).plan()).unwrap();
        let mut running = Box::pin(plan.run(RunOptions::new(), &|_| {}));
        let mut is_done = false;
        for _ in 0..polls {
            is_done = is_done || running.as_mut().now_or_never().is_some();
        }
        drop(running);
        let left = objects(&storage);
        std::thread::sleep(std::time::Duration::from_millis(20));
        same(&left, &objects(&storage), "after the run was dropped");
        assert_eq!(left.keys().any(|key| key == marker::NAME), !is_done, "{threads}, {polls}");
        run(&storage, threads, true).unwrap();
        same(&objects(&storage), &objects(&whole), &format!("{threads} threads, {polls} polls"));
    }
}

/// Chunks of other lengths than their boxes, a codec that rounds, and chunks of several lengths.
#[test]
fn threads_and_memory_do_not_change_the_levels() {
    let list = |json: &str| {
        zarr_copy::Codecs::List(match json.parse().unwrap() {
            zarr_copy::Codecs::List(codecs) => codecs,
            other => panic!("{other:?}"),
        })
    };
    let rounds = list(
        r#"[{"name": "scale_offset", "configuration": {"offset": 0, "scale": 0.25}}, {"name": "cast_value",
            "configuration": {"data_type": "int16", "rounding": "nearest-even", "out_of_range": "clamp"}},
            {"name": "bytes", "configuration": {"endian": "little"}}]"#,
    );
    for (case, chunks, codecs) in
        [("odd", "[7, 5]", None), ("rounded", "[8, 8]", Some(rounds)), ("uneven", "[[[9, 5], 18], 16]", None)]
    {
        let storage = Storage::from(MemoryStore::new());
        Group::create(storage.clone(), "/", &standard()).unwrap();
        let meta = ArrayMeta::builder([63, 61], DataType::Float64).dimension_names(["y", "x"]);
        let meta = chunks.parse::<zarr_copy::Lengths>().unwrap().cut(meta, None).unwrap();
        let meta = match codecs {
            Some(zarr_copy::Codecs::List(codecs)) => meta.codecs(codecs),
            _ => meta,
        };
        let array = Array::create(storage.clone(), "/0", meta.build().unwrap(), &standard()).unwrap();
        let number = |i: u32| f64::from(i * 7919 % 1009);
        array.write(.., &NdVec::new([63, 61], (0..63 * 61).map(number).collect()).unwrap()).unwrap();
        let before = objects(&storage);
        let mut first: Option<BTreeMap<_, _>> = None;
        for (threads, memory) in [(0, 512 << 20), (1, 512 << 20), (3, 64 << 10), (1, 16 << 10)] {
            let storage = Storage::from(MemoryStore::new());
            for (key, value) in &before {
                block_on(storage.put(&Key::new(key.clone()).unwrap(), value.clone())).unwrap();
            }
            let plan = block_on(pyramid(&storage, threads).max_memory(memory).plan()).unwrap();
            block_on(plan.run(RunOptions::new().verify(true), &|_| {})).unwrap();
            let made = objects(&storage);
            match &first {
                Some(first) => same(&made, first, &format!("{case}, {threads} threads, {memory} bytes")),
                None => first = Some(made),
            }
        }
    }
}
