//! Elements that were cut or erased do not come back, and what replaces a document keeps it until it is durable.

use std::sync::{Arc, Mutex};

use zarr_array::blocking::Array;
use zarr_array::{
    ArrayError, ArrayErrorKind, ArrayMeta, CreateOptions, CutElements, DataType, NdVec, Storage, standard,
};
use zarr_conformance::instruments::{Fault, Faulty};
use zarr_store::MemoryStore;
use zarr_traits::{Key, Prefix, StoreErrorKind, block_on, store::Op};

fn memory() -> Storage {
    MemoryStore::new().into()
}

fn meta(shape: [u64; 2]) -> ArrayMeta {
    ArrayMeta::builder(shape, DataType::UInt8).chunks([4, 2]).build().unwrap()
}

/// Makes an array of ones.
fn ones(storage: &Storage, shape: [u64; 2]) -> Array {
    let array = Array::create(storage.clone(), "/a", meta(shape), &standard()).unwrap();
    let count = usize::try_from(shape[0] * shape[1]).unwrap();
    array.write(.., &NdVec::new(shape, vec![1_u8; count]).unwrap()).unwrap();
    array
}

fn chunks(storage: &Storage) -> Vec<String> {
    let listed = block_on(storage.list_all(&Prefix::root())).unwrap();
    listed.into_iter().map(|object| object.key.to_string()).filter(|key| key.contains("/c/")).collect()
}

#[test]
fn chunks_that_a_dead_resize_left_do_not_come_back() {
    let storage = memory();
    let _ = ones(&storage, [20, 4]);
    // The resize dies before it deletes anything.
    let (dies, _) = Faulty::over(&storage, |_, call| {
        matches!(call, Op::Delete(_)).then_some(Fault::ErrorBefore(StoreErrorKind::Unavailable))
    });
    Array::open(dies, "/a", &standard()).unwrap().resize([6, 4]).unwrap_err();
    let mut array = Array::open(storage.clone(), "/a", &standard()).unwrap();
    assert_eq!((array.shape(), chunks(&storage).len()), (&[6, 4][..], 10));
    // Looked for one by one, and listed.
    for shape in [[20, 4], [9, 4], [4000, 400]] {
        let e = array.resize(shape).unwrap_err();
        assert_eq!(e.kind(), ArrayErrorKind::Exists, "{shape:?}: {e}");
        assert!(e.to_string().contains("a/c/2/0"), "{e}");
    }
    // Within the last chunk, and on demand.
    array.clone().resize_with([20, 4], CutElements::Keep).unwrap();
    array = Array::open(storage.clone(), "/a", &standard()).unwrap();
    array.resize_with([6, 4], CutElements::Keep).unwrap();
    array.resize([6, 4]).unwrap();
    assert_eq!(chunks(&storage), ["a/c/0/0", "a/c/0/1", "a/c/1/0", "a/c/1/1"]);
    array.resize([20, 4]).unwrap();
    let elements = array.read::<u8>(..).unwrap().into_vec();
    assert_eq!((&elements[..24], &elements[24..]), (&[1; 24][..], &[0; 56][..]));
}

/// Calls `other` once, before the first put of a chunk.
fn interrupted(storage: &Storage, other: impl FnOnce() + Send + 'static) -> Storage {
    let mut other = Some(other);
    let (storage, _) = Faulty::over(storage, move |_, call| {
        let is_chunk = call.target().contains("/c/");
        if is_chunk
            && matches!(call, Op::Put(_))
            && let Some(other) = other.take()
        {
            other();
        }
        None
    });
    storage
}

/// Appends to an array while another writer does something. Returns the error.
fn append_beside(storage: &Storage, other: impl FnOnce() + Send + 'static) -> ArrayError {
    let mut array = Array::open(interrupted(storage, other), "/a", &standard()).unwrap();
    array.append(0, NdVec::new([12, 4], vec![2_u8; 48]).unwrap()).unwrap_err()
}

#[test]
fn an_append_beside_a_shrinking_resize_leaves_nothing_outside() {
    let storage = memory();
    let _ = ones(&storage, [8, 4]);
    let shared = storage.clone();
    let e = append_beside(&storage, move || {
        Array::open(shared, "/a", &standard()).unwrap().resize([5, 4]).unwrap();
    });
    assert_eq!(e.kind(), ArrayErrorKind::Conflict, "{e}");
    assert!(e.to_string().contains("[5, 4]"), "{e}");
    assert_eq!(chunks(&storage), ["a/c/0/0", "a/c/0/1", "a/c/1/0", "a/c/1/1"]);
    let mut array = Array::open(storage.clone(), "/a", &standard()).unwrap();
    array.resize([16, 4]).unwrap();
    assert_eq!(array.read::<u8>(..).unwrap().into_vec()[32..], [0; 32]);
}

#[test]
fn an_append_to_an_array_that_is_erased_leaves_nothing() {
    let storage = memory();
    let _ = ones(&storage, [8, 4]);
    let shared = storage.clone();
    let e = append_beside(&storage, move || {
        block_on(shared.delete_prefix(&Prefix::new("a/").unwrap())).unwrap();
    });
    assert_eq!(e.kind(), ArrayErrorKind::Conflict, "{e}");
    assert!(chunks(&storage).is_empty());
}

#[test]
fn a_resize_deletes_nothing_that_is_appended_meanwhile() {
    let storage = memory();
    let _ = ones(&storage, [20, 4]);
    // Another writer appends just before the first deletion.
    let (shared, mut is_done) = (storage.clone(), false);
    let (between, _) = Faulty::over(&storage, move |_, call| {
        if matches!(call, Op::Delete(_)) && !std::mem::replace(&mut is_done, true) {
            let mut array = Array::open(shared.clone(), "/a", &standard()).unwrap();
            array.append(0, NdVec::new([12, 4], vec![2_u8; 48]).unwrap()).unwrap();
        }
        None
    });
    Array::open(between, "/a", &standard()).unwrap().resize([4, 4]).unwrap();
    let array = Array::open(storage.clone(), "/a", &standard()).unwrap();
    assert_eq!(array.shape(), [16, 4]);
    assert_eq!(array.read::<u8>(4..).unwrap().into_vec(), [2; 48]);
}

#[test]
fn an_array_is_not_created_over_chunks_unless_they_are_taken() {
    let storage = memory();
    let _ = ones(&storage, [8, 4]);
    block_on(storage.delete(&Key::new("a/zarr.json").unwrap())).unwrap();
    let e = Array::create(storage.clone(), "/a", meta([8, 4]), &standard()).unwrap_err();
    assert_eq!(e.kind(), ArrayErrorKind::Exists);
    assert!(e.to_string().contains("a/c/0/0"), "{e}");
    let options = CreateOptions::new().take_chunks(true);
    let array = Array::create_with(storage, "/a", meta([8, 4]), &standard(), &options).unwrap();
    assert_eq!(array.read::<u8>(..).unwrap().into_vec(), [1; 32]);
    // What no array would read is not in the way.
    let storage = memory();
    block_on(storage.put(&Key::new("a/readme.txt").unwrap(), "mine")).unwrap();
    Array::create(storage, "/a", meta([8, 4]), &standard()).unwrap();
}

#[test]
fn a_document_is_kept_until_the_one_that_replaces_it_is_durable() {
    let storage = memory();
    let log = Arc::new(Mutex::new(Vec::new()));
    let lines = log.clone();
    let (watched, _) = Faulty::over(&storage, move |_, call| {
        if let Op::Put(put) = call {
            lines.lock().unwrap().push((put.key.to_string(), put.keeps_old));
        }
        None
    });
    let mut array = Array::create(watched, "/a", meta([4, 2]), &standard()).unwrap();
    log.lock().unwrap().clear();
    array.edit_attributes(|attributes| attributes.set("units", "K")).unwrap();
    array.append(0, NdVec::new([4, 2], vec![1_u8; 8]).unwrap()).unwrap();
    let document = ("a/zarr.json".to_owned(), true);
    assert_eq!(*log.lock().unwrap(), [document.clone(), document, ("a/c/1/0".to_owned(), false)]);
}
