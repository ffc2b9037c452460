//! Runs of copies between stores in memory.
#![allow(clippy::unwrap_used, reason = "these are tests")]

use std::sync::Mutex;

use zarr_copy::zarr_hierarchy::zarr_array::blocking::Array;
use zarr_copy::zarr_hierarchy::zarr_array::traits::{Key, Prefix};
use zarr_copy::zarr_hierarchy::zarr_array::{ArrayMeta, DataType, Storage, block_on};
use zarr_copy::zarr_hierarchy::{blocking::Group, standard};
use zarr_copy::{Copy, CopyErrorKind, Event, Lengths, RunOptions, blocking, marker};
use zarr_store::MemoryStore;

fn memory() -> Storage {
    MemoryStore::new().into()
}

/// Makes a group with two arrays.
fn source() -> Storage {
    let storage = memory();
    Group::create(storage.clone(), "/", &standard()).unwrap();
    for path in ["/g/a", "/g/b"] {
        let meta = ArrayMeta::builder([6, 4], DataType::UInt16).chunks([2, 4]).build().unwrap();
        let array = Array::create(storage.clone(), path, meta, &standard()).unwrap();
        array.write(.., &(1..25).collect::<Vec<u16>>()[..]).unwrap();
    }
    storage
}

fn keys(storage: &Storage) -> Vec<String> {
    let listed = block_on(storage.list_all(&Prefix::root())).unwrap();
    listed.into_iter().map(|object| object.key.to_string()).collect()
}

#[test]
fn a_copy_below_a_group_becomes_a_node_when_it_is_complete() {
    let to = memory();
    Group::create(to.clone(), "/", &standard()).unwrap();
    let copy = Copy::new(source(), "/g", &standard()).chunks(Lengths::Shape(vec![3, 2])).exclude(["b"]);
    let plan = blocking::plan(&copy).unwrap();
    assert_eq!(plan.nodes().iter().map(|node| node.path()).collect::<Vec<_>>(), ["/g", "/g/a"]);
    let seen = Mutex::new((Vec::new(), 0));
    let told = |event: Event<'_>| {
        let mut seen = seen.lock().unwrap();
        match event {
            Event::Array(path) => seen.0.push(path.to_owned()),
            Event::Bytes(bytes) => seen.1 += bytes,
            other => panic!("{other:?}"),
        }
    };
    let done = blocking::run(&plan, to.clone(), "/x/y", RunOptions::new().verify(true), &told).unwrap();
    assert_eq!((done.elements, done.was_complete), (48, false));
    assert_eq!(seen.into_inner().unwrap(), (vec!["/g/a".to_owned()], 2 * plan.bytes()));
    let copied = Array::open(to.clone(), "/x/y/a", &standard()).unwrap();
    assert_eq!(copied.read::<u16>(..).unwrap().into_vec(), (1..25).collect::<Vec<_>>());
    assert_eq!(copied.chunk_shape(&[0, 0]), Some(vec![3, 2]));
    assert!(!keys(&to).iter().any(|key| key.ends_with(marker::NAME)));

    // The same copy again is complete; another one has no place.
    let e = blocking::run(&plan, to.clone(), "/x/y", RunOptions::new(), &|_| {}).unwrap_err();
    assert_eq!(e.kind(), CopyErrorKind::Taken);
    let again = blocking::run(&plan, to, "/x/y", RunOptions::new().resume(true), &|_| {}).unwrap();
    assert!(again.was_complete);
}

#[test]
fn a_dropped_run_is_no_node_and_is_resumed() {
    let to = memory();
    let plan = blocking::plan(&Copy::new(source(), "/", &standard()).source_name("here")).unwrap();
    {
        let run = plan.run(to.clone(), "/", RunOptions::new(), &|event| {
            assert!(!matches!(event, Event::Array("/g/b")), "the run goes on");
        });
        let stopped = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| block_on(run)));
        assert!(stopped.is_err());
    }
    let is_document = |key: &String| key.ends_with("zarr.json") && !key.ends_with(marker::NAME);
    assert!(!keys(&to).iter().any(is_document) && keys(&to).contains(&"g/a/c/0/0".to_owned()));
    let unfinished = block_on(marker::unfinished(&to, &Prefix::root())).unwrap();
    assert_eq!(unfinished.as_deref(), Some("here"));

    let e = block_on(plan.run(to.clone(), "/", RunOptions::new(), &|_| {})).unwrap_err();
    assert!(e.to_string().contains("an unfinished copy of \"here\" exists already"), "{e}");
    let other = blocking::plan(&Copy::new(source(), "/g", &standard())).unwrap();
    let e = blocking::run(&other, to.clone(), "/", RunOptions::new().resume(true), &|_| {}).unwrap_err();
    assert_eq!(e.kind(), CopyErrorKind::Taken);
    blocking::run(&plan, to.clone(), "/", RunOptions::new().resume(true), &|_| {}).unwrap();
    assert!(keys(&to).iter().any(is_document) && !keys(&to).contains(&marker::NAME.to_owned()));
}

#[test]
fn all_nodes_that_cannot_be_copied_are_named() {
    let storage = source();
    for key in ["g/a/zarr.json", "g/b/zarr.json"] {
        block_on(storage.put(&Key::new(key).unwrap(), "{}")).unwrap();
    }
    let e = blocking::plan(&Copy::new(storage, "/", &standard())).unwrap_err();
    assert!(e.is_of_source() && e.to_string().contains("1 more node"), "{e}");
    let e = blocking::plan(&Copy::new(memory(), "/a", &standard())).unwrap_err();
    assert!(e.to_string().contains("there is no node at \"/a\""), "{e}");
}

/// Futures of plans and runs may move between threads.
#[test]
fn futures_are_send() {
    fn check<T: Send>(value: T) -> T {
        value
    }
    let plan = block_on(check(Copy::new(source(), "/", &standard()).plan())).unwrap();
    block_on(check(plan.run(memory(), "/", RunOptions::new(), &|_| {}))).unwrap();
}

#[test]
fn without_a_setting_the_memory_grows_to_what_one_shard_needs() {
    let storage = memory();
    // One element of a shard of 512 MiB is stored; a plan reads none.
    let meta = ArrayMeta::builder([1 << 30], DataType::UInt8).chunks([1 << 20]).shards([1 << 29]).build();
    let array = Array::create(storage.clone(), "/", meta.unwrap(), &standard()).unwrap();
    array.write(0..1, &[1_u8]).unwrap();
    let copy = Copy::new(storage, "/", &standard())
        .shards(zarr_copy::Shards::Of(Lengths::Shape(vec![1 << 28])))
        .threads(1);
    let needs = |copy: &Copy| blocking::plan(copy).map(|plan| plan.nodes()[0].estimate().map(|e| e.memory));
    assert!(needs(&copy.clone().max_memory(512 << 20)).is_err());
    assert!(needs(&copy).unwrap().is_some_and(|bytes| bytes > 1 << 30));
}
