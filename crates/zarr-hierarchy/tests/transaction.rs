//! A transaction shows nothing before its commit, and everything after it.

use std::sync::{Arc, Mutex};

use zarr_conformance::instruments::{Fault, Faulty};
use zarr_conformance::store::check;
use zarr_hierarchy::blocking::Group;
use zarr_hierarchy::zarr_array::traits::store::Op;
use zarr_hierarchy::zarr_array::traits::{Prefix, StoreErrorKind, block_on};
use zarr_hierarchy::zarr_array::{DataType, Storage, blocking::Array, standard};
use zarr_hierarchy::{ArrayMeta, Transaction};
use zarr_store::{MemoryStore, Trace, Traced};
use zarr_store_fs::FsStore;

use crate::common::{key, text};

fn memory() -> Storage {
    Storage::from(MemoryStore::new())
}

fn array(length: u64) -> ArrayMeta {
    ArrayMeta::builder([length], DataType::Int32).chunks([4]).build().unwrap()
}

/// A group with consolidated metadata, and an array of 0 to 7 in chunks of four.
fn hierarchy(storage: &Storage) -> Array {
    let mut root = Group::create(storage.clone(), "/", &standard()).unwrap();
    let a = root.create_array("a", array(8)).unwrap();
    a.write(.., &(0..8).collect::<Vec<i32>>()).unwrap();
    root.consolidate().unwrap();
    a
}

fn values(storage: &Storage, path: &str) -> Vec<i32> {
    Array::open(storage.clone(), path, &standard()).unwrap().read(..).unwrap().into_vec()
}

fn keys(storage: &Storage) -> Vec<String> {
    let listed = block_on(storage.list_all(&Prefix::root())).unwrap();
    listed.iter().map(|object| object.key.to_string()).collect()
}

#[test]
fn the_storage_of_a_transaction_keeps_the_contract_of_stores() {
    check(|| Transaction::over(&memory()).storage()).unwrap();
    check(|| Transaction::over(&Storage::from(MemoryStore::new().with_page(3))).storage()).unwrap();
    check(|| Transaction::over(&Transaction::over(&memory()).storage()).storage()).unwrap();
}

#[test]
fn changes_are_seen_inside_at_once_and_outside_after_the_commit() {
    let directory = tempfile::tempdir().unwrap();
    for storage in [memory(), Storage::from(FsStore::create(directory.path()).unwrap())] {
        hierarchy(&storage);
        let transaction = Transaction::over(&storage);
        let inside = transaction.storage();
        let root = Group::open(inside.clone(), "/", &standard()).unwrap();
        root.create_array("b/c", array(4)).unwrap().write(.., &[1, 2, 3, 4]).unwrap();
        Array::open(inside.clone(), "/a", &standard()).unwrap().write(2..6, &[20, 30, 40, 50]).unwrap();
        let before = keys(&storage);
        assert_eq!(values(&storage, "/a"), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(values(&inside, "/a"), [0, 1, 20, 30, 40, 50, 6, 7]);
        assert_eq!(values(&inside, "/b/c"), [1, 2, 3, 4]);
        let expected = keys(&inside);
        assert!(before.len() < expected.len() && transaction.len() == 6, "{transaction:?}");
        block_on(transaction.commit()).unwrap();
        assert!(transaction.is_empty());
        assert_eq!(keys(&storage), expected);
        assert_eq!(values(&storage, "/a"), [0, 1, 20, 30, 40, 50, 6, 7]);
        let root = Group::open(storage, "/", &standard()).unwrap();
        assert_eq!(root.check_consolidated().unwrap(), Some(vec![]));
    }
}

#[test]
fn a_commit_keeps_a_document_until_the_new_one_is_durable() {
    let storage = memory();
    hierarchy(&storage);
    let puts = Arc::new(Mutex::new(Vec::new()));
    let log = puts.clone();
    let (watched, _) = Faulty::over(&storage, move |_, call| {
        if let Op::Put(put) = call {
            log.lock().unwrap().push((put.key.to_string(), put.keeps_old));
        }
        None
    });
    let transaction = Transaction::over(&watched);
    let mut a = Array::open(transaction.storage(), "/a", &standard()).unwrap();
    a.write(0..4, &[9; 4]).unwrap();
    a.edit_attributes(|attributes| attributes.set("units", "K")).unwrap();
    block_on(transaction.commit()).unwrap();
    let put = |key: &str, keeps_old| (key.to_owned(), keeps_old);
    assert_eq!(
        *puts.lock().unwrap(),
        [put("a/c/0", false), put("a/zarr.json", true), put("zarr.json", true)]
    );
}

#[test]
fn nothing_is_written_when_another_writer_changed_an_object() {
    let storage = memory();
    let outside = hierarchy(&storage);
    let transaction = Transaction::over(&storage);
    let inside = Array::open(transaction.storage(), "/a", &standard()).unwrap();
    inside.write(.., &[9; 8]).unwrap(); // does not depend on the old values
    block_on(transaction.commit()).unwrap();
    inside.write(2..6, &[1; 4]).unwrap(); // does
    inside.write(7, &[5]).unwrap();
    outside.write(1..3, &[7, 7]).unwrap();
    let error = block_on(transaction.commit()).unwrap_err();
    assert_eq!((error.conflicts.clone(), error.written, error.left), (vec![key("a/c/0")], 0, 2));
    assert_eq!(format!("{error:#}"), "another writer changed \"a/c/0\"; 0 of 2 changes are written");
    assert_eq!(values(&storage, "/a"), [9, 7, 7, 9, 9, 9, 9, 9]);
    transaction.roll_back();
    assert_eq!(values(&transaction.storage(), "/a"), [9, 7, 7, 9, 9, 9, 9, 9]);
}

#[test]
fn a_node_that_another_writer_creates_is_a_conflict() {
    let storage = memory();
    hierarchy(&storage);
    let transaction = Transaction::over(&storage);
    for storage in [transaction.storage(), storage.clone()] {
        Group::open(storage, "/", &standard()).unwrap().create_array("b", array(4)).unwrap();
    }
    let conflicts = block_on(transaction.commit()).unwrap_err().conflicts;
    assert_eq!(conflicts, [key("b/zarr.json"), key("zarr.json")]);
}

#[test]
fn chunks_come_before_documents_and_deletions_last() {
    let order = Arc::new(Mutex::new(Vec::new()));
    let seen = order.clone();
    let trace = Trace::new(move |request| {
        if ["PUT", "DELETE", "SYNC"].contains(&&*request.method) {
            seen.lock().unwrap().push(format!("{} {}", request.method, request.target).trim_end().to_owned());
        }
    });
    let storage = Traced::over(&memory(), trace);
    hierarchy(&storage);
    let transaction = Transaction::over(&storage);
    let root = Group::open(transaction.storage(), "/", &standard()).unwrap();
    root.create_array("b/c", array(4)).unwrap().write(.., &[1, 2, 3, 4]).unwrap();
    root.erase("a").unwrap();
    order.lock().unwrap().clear();
    block_on(transaction.commit()).unwrap();
    assert_eq!(
        *order.lock().unwrap(),
        [
            "PUT b/c/c/0",
            "SYNC",
            "PUT b/c/zarr.json",
            "SYNC",
            "PUT b/zarr.json",
            "SYNC",
            "PUT zarr.json",
            "SYNC",
            "DELETE a/zarr.json",
            "SYNC",
            "DELETE a/c/0",
            "DELETE a/c/1",
            "SYNC"
        ]
    );
}

#[test]
fn a_commit_that_failed_goes_on_where_it_ended() {
    let stage = |storage: &Storage| {
        let transaction = Transaction::over(storage);
        let root = Group::open(transaction.storage(), "/", &standard()).unwrap();
        root.create_array("b", array(8)).unwrap().write(.., &[3; 8]).unwrap();
        transaction
    };
    let fresh = || {
        let storage = memory();
        hierarchy(&storage);
        storage
    };
    let (storage, calls) = Faulty::over(&fresh(), |_, _| None);
    let transaction = stage(&storage);
    let staged = calls.calls();
    block_on(transaction.commit()).unwrap();
    for n in staged + 1..=calls.calls() {
        let (storage, faulty) = Faulty::nth(&fresh(), n, Fault::ErrorBefore(StoreErrorKind::Io));
        let transaction = stage(&storage);
        let error = block_on(transaction.commit()).unwrap_err();
        assert_eq!(faulty.faults(), 1);
        assert!(error.store_error.is_some() && error.conflicts.is_empty(), "{error:#}");
        block_on(transaction.commit()).unwrap();
        assert_eq!(values(&storage, "/b"), [3; 8], "{n}");
    }
}

#[test]
fn a_listing_has_staged_objects_and_lacks_deleted_ones() {
    let storage = Storage::from(MemoryStore::new().with_page(2));
    for name in ["a/1", "a/2", "a/3", "a/4", "b/1", "c"] {
        block_on(storage.put(&key(name), name)).unwrap();
    }
    let transaction = Transaction::over(&storage);
    let inside = transaction.storage();
    block_on(inside.delete_prefix(&Prefix::new("a/").unwrap())).unwrap();
    block_on(inside.put(&key("a/25"), "new")).unwrap();
    block_on(inside.delete(&key("b/1"))).unwrap();
    block_on(inside.put(&key("d/x"), "new")).unwrap();
    assert_eq!(keys(&inside), ["a/25", "c", "d/x"]);
    let dir = block_on(inside.list_dir(&Prefix::root())).unwrap();
    assert_eq!(dir.prefixes, ["a/", "d/"].map(|prefix| Prefix::new(prefix).unwrap()));
    block_on(transaction.commit()).unwrap();
    assert_eq!(keys(&storage), ["a/25", "c", "d/x"]);
    assert_eq!(text(&storage, "a/25"), "new");
    assert_eq!(transaction.bytes(), 0);
}
