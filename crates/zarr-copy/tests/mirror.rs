//! A mirror writes what differs, and nothing else.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use zarr_array::blocking::Array;
use zarr_array::traits::store::Op;
use zarr_array::traits::{Key, Prefix, StoreErrorKind};
use zarr_array::{ArrayErrorKind, ArrayMeta, DataType, Format, Storage, block_on};
use zarr_conformance::instruments::{Fault, Faulty};
use zarr_copy::zarr_hierarchy::zarr_array;
use zarr_copy::zarr_hierarchy::{blocking::Group, standard};
use zarr_copy::{Copy, CopyErrorKind, CopyResult, Mirror, Mirrored, RunOptions, blocking};
use zarr_store::MemoryStore;
use zarr_store_fs::FsStore;

fn memory() -> Storage {
    MemoryStore::new().into()
}

/// Makes a consolidated hierarchy: `/a` and `/g/b`.
fn source(format: Format) -> Storage {
    let storage = memory();
    let mut group = Group::create(storage.clone(), "/", &standard()).unwrap();
    for path in ["/a", "/g/b"] {
        let meta = ArrayMeta::builder([6, 4], DataType::UInt16).chunks([2, 4]).build().unwrap();
        let array = Array::create(storage.clone(), path, meta, &standard()).unwrap();
        array.write(.., &(1..25).collect::<Vec<u16>>()[..]).unwrap();
    }
    group.consolidate().unwrap();
    if format == Format::V3 {
        return storage;
    }
    let older = memory();
    let plan = blocking::plan(&Copy::new(storage, "/", &standard()).to_format(format)).unwrap();
    blocking::run(&plan, older.clone(), "/", RunOptions::new(), &|_| {}).unwrap();
    older
}

fn objects(storage: &Storage) -> BTreeMap<String, Vec<u8>> {
    let listed = block_on(storage.list_all(&Prefix::root())).unwrap();
    let get = |key: &Key| block_on(storage.get(key, 1 << 20)).unwrap().unwrap().to_vec();
    listed.into_iter().map(|object| (object.key.to_string(), get(&object.key))).collect()
}

fn put(storage: &Storage, key: &str, text: &str) {
    block_on(storage.put(&Key::new(key).unwrap(), text.to_owned())).unwrap();
}

fn mirror(from: &Storage, to: &Storage) -> Mirror {
    Mirror::new(from.clone(), "/", to.clone(), "/").unwrap()
}

fn run(mirror: &Mirror) -> CopyResult<Mirrored> {
    block_on(mirror.run(&|_, _| {}))
}

/// Returns the numbers of objects: new, changed, unchanged, deleted, left.
fn numbers(done: Mirrored) -> [u64; 5] {
    [done.new, done.changed, done.unchanged, done.deleted, done.left].map(|moved| moved.objects)
}

#[test]
fn an_object_is_kept_until_the_one_that_replaces_it_is_durable() {
    let dir = tempfile::tempdir().unwrap();
    let elsewhere = Storage::from(FsStore::open(dir.path()).unwrap());
    let (from, to) = (source(Format::V3), memory());
    run(&mirror(&from, &to)).unwrap();
    run(&mirror(&from, &elsewhere)).unwrap();
    let puts = Arc::new(Mutex::new(Vec::new()));
    let log = puts.clone();
    let (watched, _) = Faulty::over(&to, move |_, call| {
        if let Op::Put(put) = call {
            log.lock().unwrap().push((put.key.to_string(), put.keeps_old));
        }
        None
    });
    put(&elsewhere, "a/c/0/0", "changed");
    assert_eq!(numbers(run(&mirror(&elsewhere, &watched)).unwrap())[1], 1);
    assert_eq!(*puts.lock().unwrap(), [("a/c/0/0".to_owned(), true)]);
}

#[test]
fn only_what_differs_is_written() {
    for (format, documents) in [(Format::V3, 4), (Format::V2, 5)] {
        let (from, to) = (source(format), memory());
        assert_eq!(numbers(run(&mirror(&from, &to)).unwrap()), [documents + 6, 0, 0, 0, 0], "{format}");
        assert_eq!(objects(&from), objects(&to));
        assert_eq!(numbers(run(&mirror(&from, &to)).unwrap()), [0, 0, documents + 6, 0, 0], "{format}");

        // A chunk changes, another one is no longer stored, an array is deleted and another one made.
        let a = Array::open(from.clone(), "/a", &standard()).unwrap();
        a.write(0..1, &[9_u16; 4]).unwrap();
        a.write(2..4, &[0_u16; 8]).unwrap();
        Group::open(from.clone(), "/", &standard()).unwrap().erase("g").unwrap();
        let meta = a.metadata().clone();
        Array::create(from.clone(), "/c", meta, &standard()).unwrap();
        put(&to, "notes.txt", "mine");
        let before = objects(&to);
        let dry = numbers(run(&mirror(&from, &to).delete(true).dry_run(true)).unwrap());
        assert_eq!(objects(&to), before);
        let kept = numbers(run(&mirror(&from, &to)).unwrap());
        assert_eq!(kept[3], 1, "{format}: the chunk {kept:?}");
        assert!(kept[4] > 4 && objects(&to).contains_key("notes.txt"), "{kept:?}");
        let done = numbers(run(&mirror(&from, &to).delete(true)).unwrap());
        assert_eq!((done[0], done[1], done[4], dry[3]), (0, 0, 0, kept[3] + done[3]), "{format}");
        assert_eq!(objects(&from), objects(&to), "{format}");
    }
}

#[test]
fn chunks_come_before_documents_and_deletions_last() {
    let (from, to) = (source(Format::V3), memory());
    put(&to, "zarr.json", r#"{"zarr_format": 3, "node_type": "group"}"#);
    put(&to, "old/zarr.json", r#"{"zarr_format": 3, "node_type": "group"}"#);
    put(&to, "a/c/9/9", "stray");
    let order = Arc::new(Mutex::new(Vec::new()));
    let seen = order.clone();
    let (watched, _) = Faulty::over(&to, move |_, call| {
        let what = match call {
            Op::Put(_) | Op::Copy(_) => "put",
            Op::Delete(_) => "delete",
            Op::Sync => "sync",
            _ => return None,
        };
        seen.lock().unwrap().push(format!("{what} {}", call.target()));
        None
    });
    run(&mirror(&from, &watched).delete(true)).unwrap();
    let order = order.lock().unwrap();
    let steps: Vec<&str> = order
        .iter()
        .map(|step| if step.contains("/c/") { &step[..step.find(' ').unwrap()] } else { step })
        .collect();
    let (chunks, rest) = steps.split_at(6);
    assert_eq!(chunks, ["put"; 6]);
    let wanted = [
        "sync ",
        "put g/b/zarr.json",
        "put a/zarr.json",
        "put g/zarr.json",
        "put zarr.json",
        "sync ",
        "delete old/zarr.json",
        "delete",
    ];
    assert_eq!(rest, wanted);
}

#[test]
fn a_mirror_that_failed_anywhere_is_completed_by_the_next() {
    let from = source(Format::V2);
    for last in 1.. {
        let to = memory();
        let mut number = 0;
        let (fails, _) = Faulty::over(&to, move |_, _| {
            number += 1;
            (number >= last).then_some(Fault::ErrorBefore(StoreErrorKind::Unavailable))
        });
        let failed = run(&mirror(&from, &fails)).is_err();
        run(&mirror(&from, &to)).unwrap();
        assert_eq!(objects(&from), objects(&to));
        if !failed {
            assert!(last > 10);
            break;
        }
    }
}

#[test]
fn nothing_is_deleted_where_no_node_is() {
    let (from, to) = (source(Format::V3), memory());
    put(&to, "a/photo.jpg", "mine");
    put(&to, "letter.txt", "mine");
    let e = run(&mirror(&from, &to)).unwrap_err();
    assert_eq!(e.kind(), CopyErrorKind::Taken);
    assert!(format!("{e:#}").contains("a/photo.jpg"), "{e:#}");
    let e = run(&mirror(&from, &to).delete(true)).unwrap_err();
    assert_eq!(e.kind(), CopyErrorKind::Taken);
    assert_eq!(objects(&to)["a/photo.jpg"], b"mine");
}

/// Makes a directory with two arrays, and a backup of it.
fn backed_up() -> (tempfile::TempDir, Storage, Storage) {
    let dir = tempfile::TempDir::new().unwrap();
    let [from, to] = ["from", "to"].map(|name| {
        let path = dir.path().join(name);
        std::fs::create_dir(&path).unwrap();
        Storage::from(zarr_store_fs::FsStore::open(path).unwrap())
    });
    run(&mirror(&source(Format::V3), &from)).unwrap();
    run(&mirror(&from, &to)).unwrap();
    (dir, from, to)
}

#[test]
fn what_cannot_be_seen_is_not_deleted() {
    let (dir, from, to) = backed_up();
    let (at, before) = (dir.path().join("from"), objects(&to));
    let disk = dir.path().join("disk");
    // A chunk whose content is not there, an array on a disk that is not mounted, and all chunks of an array.
    for name in ["a/c/1/0", "g/b", "a/c"] {
        std::fs::rename(at.join(name), &disk).unwrap();
        std::os::unix::fs::symlink("no/where", at.join(name)).unwrap();
        for delete in [false, true] {
            let e = run(&mirror(&from, &to).delete(delete)).unwrap_err();
            assert!(e.is_of_source() && format!("{e:#}").contains("leads nowhere"), "{name}: {e:#}");
            assert_eq!(objects(&to), before, "{name}");
        }
        std::fs::remove_file(at.join(name)).unwrap();
        std::fs::rename(&disk, at.join(name)).unwrap();
    }
    assert_eq!(numbers(run(&mirror(&from, &to).delete(true)).unwrap()), [0, 0, 10, 0, 0]);
}

#[test]
fn nothing_behind_a_link_of_the_destination_is_written_or_deleted() {
    let (dir, from, to) = backed_up();
    let there = dir.path().join("to");
    let precious = dir.path().join("precious");
    std::fs::create_dir_all(precious.join("c")).unwrap();
    std::fs::write(precious.join("thesis.tex"), "mine").unwrap();
    // A folder that the source lacks, an array, and the place of a chunk.
    for name in ["mine", "a", "g/b/c/0"] {
        let _ = std::fs::remove_dir_all(there.join(name));
        std::os::unix::fs::symlink(&precious, there.join(name)).unwrap();
        for delete in [false, true] {
            let e = run(&mirror(&from, &to).delete(delete)).unwrap_err();
            assert!(format!("{e:#}").contains("link") && !e.is_of_source(), "{name}: {e:#}");
            let left: Vec<_> =
                std::fs::read_dir(&precious).unwrap().map(|e| e.unwrap().file_name()).collect();
            assert_eq!(left.len(), 2, "{name}: {left:?}");
        }
        std::fs::remove_file(there.join(name)).unwrap();
        run(&mirror(&from, &to).delete(true)).unwrap();
        assert_eq!(objects(&from), objects(&to), "{name}");
    }
}

#[test]
fn only_what_the_compared_listing_held_is_deleted() {
    let (from, to) = (source(Format::V3), memory());
    run(&mirror(&from, &to)).unwrap();
    // The listings of the source after the first one are empty.
    let mut listings = 0;
    let (once, _) = Faulty::over(&from, move |_, call| {
        listings += u64::from(matches!(call, Op::List(_)));
        (listings > 1).then_some(Fault::ErrorBefore(StoreErrorKind::Unavailable))
    });
    put(&to, "old/zarr.json", "{}");
    assert_eq!(numbers(run(&mirror(&once, &to).delete(true)).unwrap()), [0, 0, 10, 1, 0]);
    assert_eq!(objects(&from), objects(&to));
}

#[test]
fn a_document_that_can_be_read_is_not_replaced_by_one_that_cannot() {
    for (format, name) in [(Format::V3, "a/zarr.json"), (Format::V2, "a/.zarray"), (Format::V2, ".zattrs")] {
        for text in ["", "{\"zarr_format\": 3, \"node"] {
            let (from, to) = (source(format), memory());
            put(&from, ".zattrs", "{}");
            run(&mirror(&from, &to)).unwrap();
            put(&from, name, text);
            let before = objects(&to);
            let e = run(&mirror(&from, &to).delete(true)).unwrap_err();
            assert_eq!(
                (e.kind(), e.is_of_source()),
                (CopyErrorKind::Node(ArrayErrorKind::Metadata), true),
                "{name}"
            );
            assert!(format!("{e:#}").contains(name), "{e:#}");
            assert_eq!(objects(&to), before, "{name}");
            run(&mirror(&from, &to).force(true)).unwrap();
            assert_eq!(objects(&to)[name], text.as_bytes());
        }
    }
}

#[test]
fn sizes_are_enough_on_demand() {
    let (from, to) = (memory(), memory());
    let meta = ArrayMeta::builder([4], DataType::UInt8).chunks([4]).codecs(vec![]).build().unwrap();
    let array = Array::create(from.clone(), "/", meta, &standard()).unwrap();
    array.write(.., &[1_u8, 2, 3, 4]).unwrap();
    run(&mirror(&from, &to)).unwrap();
    array.write(.., &[4_u8, 3, 2, 1]).unwrap();
    assert_eq!(numbers(run(&mirror(&from, &to).by_size(true)).unwrap()), [0, 0, 2, 0, 0]);
    assert_eq!(numbers(run(&mirror(&from, &to)).unwrap()), [0, 1, 1, 0, 0]);
}

#[test]
fn consolidated_metadata_around_the_mirror_is_kept_in_step() {
    let (from, to) = (source(Format::V3), source(Format::V3));
    let mirror = Mirror::new(from, "/g", to.clone(), "/x/y").unwrap();
    run(&mirror).unwrap();
    let group = Group::open(to, "/", &standard()).unwrap();
    assert!(group.is_consolidated());
    assert_eq!(
        group.array("x/y/b").unwrap().read::<u16>(..).unwrap().into_vec(),
        (1..25).collect::<Vec<_>>()
    );
}

#[test]
fn unfinished_copies_missing_nodes_and_other_formats_are_refused() {
    let (from, to) = (source(Format::V3), memory());
    let e = run(&Mirror::new(from.clone(), "/x", to.clone(), "/").unwrap()).unwrap_err();
    assert_eq!((e.kind(), e.is_of_source()), (CopyErrorKind::Node(ArrayErrorKind::NotFound), true));
    let plan = blocking::plan(&Copy::new(from.clone(), "/", &standard())).unwrap();
    let (fails, _) = Faulty::over(&to, |number, _| {
        (number > 6).then_some(Fault::ErrorBefore(StoreErrorKind::Unavailable))
    });
    blocking::run(&plan, fails, "/", RunOptions::new(), &|_| {}).unwrap_err();
    assert_eq!(run(&mirror(&from, &to)).unwrap_err().kind(), CopyErrorKind::Taken);
    let to = source(Format::V2);
    assert!(run(&Mirror::new(from.clone(), "/", to, "/x").unwrap()).is_err());
    let e = Mirror::new(from.clone(), "/", memory().read_only(), "/").unwrap_err();
    assert_eq!(e.kind(), CopyErrorKind::Node(ArrayErrorKind::Unsupported), "{e:#}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(60) })]

    /// Whatever both sides have, the mirror with deletions is the source.
    #[test]
    fn the_mirror_equals_the_source(
        one in prop::collection::btree_map("(a/|g/b/|x/)(c/)?[0-3](/[0-3])?", "[pq]{0,2}", 0..12),
        other in prop::collection::btree_map("(a/|g/b/|x/)(c/)?[0-3](/[0-3])?", "[pq]{0,2}", 0..12),
    ) {
        let (from, to) = (source(Format::V3), source(Format::V3));
        for (storage, objects) in [(&from, one), (&to, other)] {
            objects.iter().for_each(|(key, text)| put(storage, key, text));
        }
        run(&mirror(&from, &to).delete(true)).unwrap();
        prop_assert_eq!(objects(&from), objects(&to));
        let again = numbers(run(&mirror(&from, &to).delete(true)).unwrap());
        prop_assert_eq!((again[0], again[1], again[3], again[4]), (0, 0, 0, 0));
    }
}
