//! Elements that were cut or erased do not come back, and what replaces a document keeps it until it is durable.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use zarr_array::blocking::Array;
use zarr_array::{
    ArrayError, ArrayErrorKind, ArrayMeta, ArrayResult, CreateOptions, CutElements, DataType, NdVec, Storage,
    codecs, standard,
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
        assert_eq!(e.kind(), ArrayErrorKind::Exists, "{shape:?}: {e:#}");
        assert!(format!("{e:#}").contains("a/c/2/0"), "{e:#}");
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
    assert_eq!(e.kind(), ArrayErrorKind::Conflict, "{e:#}");
    assert!(format!("{e:#}").contains("[5, 4]"), "{e:#}");
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
    assert_eq!(e.kind(), ArrayErrorKind::Conflict, "{e:#}");
    assert!(chunks(&storage).is_empty());
}

/// Lets a writer work, and another process in the middle of it: before its first request, before its second, and so on. Calls
/// `check` after each run, with what the writer returned.
fn interleave(
    writer: impl Fn(&mut Array) -> Result<(), ArrayError>,
    other: impl Fn(&mut Array) -> Result<(), ArrayError> + Clone + Send + 'static,
    check: impl Fn(Array, Result<(), ArrayError>, &str),
) {
    for moment in 1.. {
        let memory = MemoryStore::new();
        // Each has locks of its own.
        let [shared, mine] = [(), ()].map(|()| Storage::from(memory.clone()));
        let _ = ones(&shared, [12, 4]);
        let open = |storage: &Storage| Array::open(storage.clone(), "/a", &standard()).unwrap();
        let begun = Arc::new(AtomicBool::new(false));
        let (is_begun, mut requests, mut theirs, other) = (begun.clone(), 0, open(&shared), other.clone());
        let (watched, _) = Faulty::over(&mine, move |_, _| {
            requests += u64::from(is_begun.load(Ordering::SeqCst));
            if requests == moment && is_begun.swap(false, Ordering::SeqCst) {
                other(&mut theirs).unwrap();
            }
            None
        });
        let mut ours = open(&watched);
        begun.store(true, Ordering::SeqCst);
        let done = writer(&mut ours);
        if begun.load(Ordering::SeqCst) {
            assert!(moment > 2, "the writer made {moment} requests");
            return;
        }
        check(open(&shared), done, &format!("before request {moment}"));
    }
}

/// Makes the array larger, and returns its rows.
fn grown(mut array: Array, cut: CutElements) -> Vec<[u8; 4]> {
    array.resize_with([20, 4], cut).unwrap();
    array.read::<u8>(..).unwrap().as_slice().as_chunks().0.to_vec()
}

#[test]
fn a_resize_keeps_what_is_appended_meanwhile_and_shows_nothing_that_it_cut() {
    // The appended rows end inside of a chunk, or at its edge.
    for (to, rows) in [([5, 4], 5), ([5, 4], 7), ([5, 3], 5)] {
        // An appender that lives, and one that dies when it has its place.
        for element in [2, 0] {
            let append = move |array: &mut Array| {
                array.edit_attributes(|_| ())?; // looks at the shape
                let shape = [rows, array.shape()[1]];
                let values = vec![element; usize::try_from(rows * shape[1]).unwrap()];
                match element {
                    0 => array.extend(0, rows).map(drop),
                    _ => array.append(0, NdVec::new(shape, values)?),
                }
            };
            interleave(
                |array| array.resize(to),
                append,
                |array, done, when| {
                    let when = format!("{to:?}, {rows} rows of {element}, {when}");
                    let lost = done.as_ref().err().map(ArrayError::kind);
                    assert!(matches!(lost, None | Some(ArrayErrorKind::Conflict)), "{when}: {done:?}");
                    let [old, columns] = if done.is_ok() { to } else { [12, 4] };
                    assert_eq!(array.shape(), [old + rows, columns], "{when}");
                    let expected = (0..20).map(|row| {
                        let element =
                            [1, element, 0][usize::from(row >= old) + usize::from(row >= old + rows)];
                        [0, 1, 2, 3].map(|column| if column < columns { element } else { 0 })
                    });
                    assert_eq!(grown(array, CutElements::Delete), expected.collect::<Vec<_>>(), "{when}");
                },
            );
        }
    }
}

#[test]
fn a_write_beside_a_resize_brings_back_nothing_that_was_cut() {
    // Whole chunks, a part of a chunk outside, and a part of the chunk that is cut.
    for rows in [8..12, 9..11, 6..8] {
        let shrink = |array: &mut Array| array.resize([5, 4]);
        let place = rows.clone();
        let write = move |array: &mut Array| {
            array.write(place.clone(), &vec![2_u8; 4 * usize::try_from(place.end - place.start).unwrap()])
        };
        let check = |mut array: Array, done: Result<(), ArrayError>, when: &str| {
            done.unwrap();
            let is_refused = array.resize([20, 4]).is_err();
            let found = grown(array, CutElements::Keep);
            let when = format!("{rows:?}, {when}: {found:?}");
            let is_written = |row: usize, element: u8| element == 2 && rows.contains(&(row as u64));
            for (row, element) in found.iter().enumerate().flat_map(|(row, all)| all.map(|one| (row, one))) {
                assert!(element == u8::from(row < 5) || is_written(row, element), "{when}");
            }
            // What was written into the chunk that is cut is not noticed.
            assert_eq!(is_refused, found[8..].as_flattened().contains(&2), "{when}");
        };
        interleave(shrink, write.clone(), check);
        interleave(write, shrink, check);
    }
}

#[test]
fn changes_of_the_shape_may_be_spawned() {
    fn spawned(change: impl Future<Output = ArrayResult<()>> + Send + 'static) {
        block_on(change).unwrap();
    }
    let storage = memory();
    let mut array = ones(&storage, [8, 4]).into_async();
    spawned(async move {
        array.append(0, NdVec::new([4, 4], vec![2_u8; 16])?).await?;
        array.resize([4, 4]).await
    });
    assert_eq!(Array::open(storage, "/a", &standard()).unwrap().shape(), [4, 4]);
}

#[test]
fn an_array_is_not_created_over_chunks_unless_they_are_taken() {
    let storage = memory();
    let _ = ones(&storage, [8, 4]);
    block_on(storage.delete(&Key::new("a/zarr.json").unwrap())).unwrap();
    let e = Array::create(storage.clone(), "/a", meta([8, 4]), &standard()).unwrap_err();
    assert_eq!(e.kind(), ArrayErrorKind::Exists);
    assert!(format!("{e:#}").contains("a/c/0/0"), "{e:#}");
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

#[test]
fn a_chunk_is_kept_until_one_that_changes_a_part_of_it_is_durable() {
    for inner in [None, Some([2, 2])] {
        let storage = memory();
        let puts = Arc::new(Mutex::new(BTreeMap::new()));
        let log = puts.clone();
        let (watched, _) = Faulty::over(&storage, move |_, call| {
            if let Op::Put(put) = call {
                *log.lock().unwrap().entry(put.key.to_string()).or_insert(false) |= put.keeps_old;
            }
            None
        });
        let meta = ArrayMeta::builder([6, 2], DataType::UInt8).codecs([codecs::zstd(1)]);
        let meta = match inner {
            Some(inner) => meta.chunks(inner).shards([4, 2]),
            None => meta.chunks([4, 2]),
        };
        let array = Array::create(watched, "/a", meta.build().unwrap(), &standard()).unwrap();
        let cases: [(_, &[(&str, bool)]); 6] = [
            (0..2, &[("a/c/0/0", false)]), // a new chunk
            (0..1, &[("a/c/0/0", true)]),
            (0..4, &[("a/c/0/0", false)]), // a whole chunk
            (0..6, &[("a/c/0/0", false), ("a/c/1/0", false)]),
            (0..6, &[("a/c/0/0", false), ("a/c/1/0", false)]), // all of a chunk that lies within the array
            (3..5, &[("a/c/0/0", true), ("a/c/1/0", true)]),
        ];
        for (number, (rows, wanted)) in cases.into_iter().enumerate() {
            puts.lock().unwrap().clear();
            let (count, value) = (2 * (rows.end - rows.start), u8::try_from(number).unwrap() + 1);
            let values = NdVec::new([rows.end - rows.start, 2], vec![value; usize::try_from(count).unwrap()]);
            array.write(rows.clone(), &values.unwrap()).unwrap();
            let found = puts.lock().unwrap();
            let found: Vec<_> = found.iter().map(|(key, keeps)| (key.as_str(), *keeps)).collect();
            assert_eq!(found, wanted, "{inner:?}, rows {rows:?}");
        }
    }
}
