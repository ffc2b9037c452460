//! Races with other writers, and stores that lack capabilities: no acknowledged write is lost, and an operation that
//! cannot be done safely fails before it changes anything.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::common::{self, Odd, chains, meta, numbers};
use zarr_array::blocking::Array;
use zarr_array::traits::extension::{ChunkGridEntry, Entry};
use zarr_array::traits::{ChunkGrid, ChunkRun, Storage};
use zarr_array::{
    ArrayError, ArrayErrorKind, Cpu, CutElements, EmptyChunks, NdVec, PartialWrites, Spawn, block_on,
    standard,
};
use zarr_store::MemoryStore;

fn memory() -> Storage {
    Storage::from(MemoryStore::new())
}

fn create(storage: &Storage, path: &str, shape: u64, chunk: u64) -> Array {
    Array::create(storage.clone(), path, meta(&[shape], &[chunk], &chains()[0]), &standard()).unwrap()
}

fn open(storage: &Storage) -> Array {
    Array::open(storage.clone(), "/", &standard()).unwrap()
}

fn kind<T>(result: Result<T, ArrayError>) -> ArrayErrorKind {
    result.map(drop).unwrap_err().kind()
}

#[test]
fn two_appends_into_one_chunk_are_both_there() {
    let storage = memory();
    create(&storage, "/", 4, 4);
    let odd = Odd::new(&storage);
    let others = storage.clone();
    // The first append has stored its longer shape. Before its elements are put, the second one appends after them.
    odd.before_put("c/1", move || {
        open(&others).append(0, NdVec::new([2], vec![60_u16, 70]).unwrap()).unwrap();
    });
    open(&odd.storage()).append(0, NdVec::new([2], vec![40_u16, 50]).unwrap()).unwrap();
    assert_eq!(open(&storage).read::<u16>(4..).unwrap().into_vec(), [40, 50, 60, 70]);
}

#[test]
fn elements_beyond_the_stored_shape_are_seen_when_it_is_stored() {
    let storage = memory();
    let array = create(&storage, "/", 3, 4);
    array.write(.., &[1_u16, 2, 3]).unwrap();
    let mut longer = array.with_shape([6]).unwrap();
    longer.write(3.., &[4_u16, 5, 6]).unwrap();
    assert_eq!(open(&storage).read::<u16>(..).unwrap().into_vec(), [1, 2, 3]);
    // Another writer was faster: neither its shape nor its elements are lost.
    open(&storage).resize([4]).unwrap();
    assert_eq!(kind(longer.store_shape(&[3])), ArrayErrorKind::Conflict);
    assert_eq!(open(&storage).shape(), [4]);
    longer.store_shape(&[4]).unwrap();
    assert_eq!(open(&storage).read::<u16>(..).unwrap().into_vec(), [1, 2, 3, 4, 5, 6]);
    assert_eq!(open(&storage).extend(0, 2).unwrap(), 6..8);
    assert_eq!(kind(open(&storage).extend(1, 2)), ArrayErrorKind::InvalidArgument);
    assert!(array.with_shape([6, 1]).is_err());
}

#[test]
fn a_handle_with_an_old_shape_does_not_undo_an_append() {
    let array = create(&memory(), "/", 10, 8);
    array.write(.., &numbers(&[10])).unwrap();
    for old in [array.clone(), open(array.storage())] {
        let length = open(array.storage()).shape()[0];
        open(array.storage()).append(0, NdVec::new([2], vec![60_u16, 70]).unwrap()).unwrap();
        // this covers the last chunk as this handle knows it: with values, and with fill values, which could delete the
        // chunk
        for values in [[20_u16, 30], [7, 7]] {
            old.write(8..10, &values).unwrap();
            let now = open(array.storage()).read::<u16>(8..).unwrap().into_vec();
            assert_eq!(now[..2], values);
            assert_eq!(now[usize::try_from(length).unwrap() - 8..], [60, 70]);
        }
    }
}

#[test]
fn an_update_that_cannot_be_conditional_is_refused() {
    for (missing, stored) in [("versions", true), ("put_if", true), ("put_create", false)] {
        let storage = memory();
        let array = create(&storage, "/", 4, 4);
        if stored {
            array.write(.., &[1_u16; 4]).unwrap();
        }
        let mut odd = Odd::new(&storage);
        match missing {
            "versions" => odd.versions = false,
            "put_if" => odd.capabilities.put_if = false,
            _ => odd.capabilities.put_create = false,
        }
        let same = array.clone();
        odd.before_put("c/0", move || same.write(3..4, &[99_u16]).unwrap());
        let other = open(&odd.storage());
        assert_eq!(kind(other.write(0..1, &[50_u16])), ArrayErrorKind::Unsupported, "{missing}");
        other.clone().with_partial_writes(PartialWrites::Unchecked).write(0..1, &[50_u16]).unwrap();
        assert_eq!(other.read::<u16>(0).unwrap().into_vec(), [50]);
    }
}

#[test]
fn an_append_that_cannot_be_conditional_leaves_the_shape() {
    let storage = memory();
    create(&storage, "/", 4, 4);
    let mut odd = Odd::new(&storage);
    odd.capabilities.put_if = false;
    let values = || NdVec::new([2], vec![1_u16, 2]).unwrap();
    assert_eq!(kind(open(&odd.storage()).append(0, values())), ArrayErrorKind::Unsupported);
    assert_eq!(open(&storage).shape(), [4]);
    open(&odd.storage()).with_partial_writes(PartialWrites::Unchecked).append(0, values()).unwrap();
    assert_eq!(open(&storage).shape(), [6]);
}

#[test]
fn replacing_is_refused_before_anything_is_deleted() {
    let storage = memory();
    let array = create(&storage, "/a", 4, 2);
    array.write(.., &[1_u16, 2, 3, 4]).unwrap();
    let below = Array::replace(storage.clone(), "/a/c", meta(&[4], &[2], &chains()[0]), &standard());
    assert_eq!(kind(below), ArrayErrorKind::Exists);
    let text = array.metadata().to_text();
    let skipping =
        text.replacen("\"codecs\": [", "\"codecs\": [{\"name\": \"x\", \"must_understand\": false},", 1);
    let skipping =
        zarr_array::ArrayMeta::parse(skipping.as_bytes(), array.limits(), &mut zarr_array::meta::Ignore)
            .unwrap();
    let unwritable = Array::replace(storage.clone(), "/a", skipping, &standard());
    assert_eq!(kind(unwritable), ArrayErrorKind::UnknownExtension);
    assert_eq!(array.read::<u16>(..).unwrap().into_vec(), [1, 2, 3, 4]);
}

#[test]
fn elements_kept_beyond_an_edge_are_deleted_by_the_next_cut() {
    let mut array = create(&memory(), "/", 8, 8);
    array.write(.., &numbers(&[8])).unwrap();
    array.resize_with([6], CutElements::Keep).unwrap();
    array.resize_with([3], CutElements::Delete).unwrap();
    array.resize([8]).unwrap();
    assert_eq!(array.read::<u16>(..).unwrap().into_vec(), [0, 1, 2, 7, 7, 7, 7, 7]);
}

/// A grid that ends with its array.
#[derive(Debug)]
struct Finite(Vec<u64>, Vec<u64>);

impl ChunkGrid for Finite {
    fn rank(&self) -> usize {
        self.0.len()
    }
    fn count(&self, dim: usize, length: u64) -> u64 {
        length.div_ceil(self.0[dim])
    }
    fn span(&self, dim: usize, index: u64) -> Option<std::ops::Range<u64>> {
        (index < self.count(dim, self.1[dim])).then(|| index * self.0[dim]..(index + 1) * self.0[dim])
    }
    fn find(&self, dim: usize, position: u64) -> Option<u64> {
        Some(position / self.0[dim]).filter(|index| self.span(dim, *index).is_some())
    }
    fn runs(&self, dim: usize) -> Vec<ChunkRun> {
        vec![ChunkRun::new(self.0[dim], self.count(dim, self.1[dim]))]
    }
}

#[test]
fn a_smaller_shape_works_with_a_grid_that_ends_with_the_array() {
    let grid = Entry::ChunkGrid(ChunkGridEntry::new("regular", |c, shape, _| {
        Ok(Arc::new(Finite(c.lengths("chunk_shape")?.to_vec(), shape.to_vec())))
    }));
    let registry = standard().overriding(&[grid]);
    let mut array = Array::create(memory(), "/", meta(&[8, 4], &[4, 4], &chains()[0]), &registry).unwrap();
    array.write(.., &numbers(&[8, 4])).unwrap();
    array.resize([6, 8]).unwrap();
    array.resize([8, 8]).unwrap();
    assert_eq!(array.read::<u16>((6.., ..)).unwrap().into_vec(), [7; 16]);
}

#[test]
fn a_smaller_shape_leaves_no_chunks_in_a_store_that_cannot_list() {
    let storage = memory();
    let made = create(&storage, "/", 8, 2).with_empty_chunks(EmptyChunks::Store);
    made.write(.., &numbers(&[8])).unwrap();
    open(&Odd::unlisted(&storage)).with_empty_chunks(EmptyChunks::Store).resize([3]).unwrap();
    assert_eq!(common::keys(&storage), ["c/0", "c/1", "zarr.json"]);
}

#[test]
fn handles_with_different_settings_share_locks() {
    let storage = memory();
    let array = create(&storage, "/", 64, 64);
    let mut odd = Odd::new(&storage);
    (odd.capabilities.put_if, odd.in_flight, odd.delay) = (false, Some(4), Duration::from_micros(200));
    let one = open(&odd.storage()).with_partial_writes(PartialWrites::Unchecked);
    let two = one.clone().with_in_flight(2, 1 << 20);
    std::thread::scope(|threads| {
        for (handle, start) in [(&one, 0), (&two, 1)] {
            threads.spawn(move || (0..32).for_each(|i| handle.write(start + 2 * i, &[5_u16]).unwrap()));
        }
    });
    assert_eq!(array.read::<u16>(..).unwrap().into_vec(), [5; 64]);
}

#[test]
fn puts_are_bounded_like_gets() {
    let storage = memory();
    create(&storage, "/", 32, 1);
    let mut odd = Odd::new(&storage);
    (odd.in_flight, odd.delay) = (Some(2), Duration::from_millis(1));
    open(&odd.storage()).write(.., &numbers(&[32])).unwrap();
    assert!(odd.most_puts.load(Ordering::SeqCst) <= 2);
}

/// A pool that is shut down. It drops all jobs.
#[derive(Debug)]
struct Closed;

impl Spawn for Closed {
    fn spawn(&self, job: Box<dyn FnOnce() + Send>) {
        drop(job);
    }
    fn width(&self) -> usize {
        2
    }
}

#[test]
fn a_pool_that_drops_its_jobs_causes_an_error_and_no_hang() {
    let storage = memory();
    create(&storage, "/", 64, 4).write(.., &numbers(&[64])).unwrap();
    for storage in [storage.clone(), Odd::slow(&storage, Duration::ZERO, 4)] {
        let array = open(&storage).into_async().with_cpu(Cpu::with(Closed));
        assert_eq!(kind(block_on(array.read::<u16>(..))), ArrayErrorKind::Panic);
    }
}

/// A pool with a thread per job. `is_busy` panics.
#[derive(Debug)]
struct Nervous;

impl Spawn for Nervous {
    fn spawn(&self, job: Box<dyn FnOnce() + Send>) {
        std::thread::spawn(job);
    }
    fn width(&self) -> usize {
        2
    }
    fn is_busy(&self) -> bool {
        panic!("this panic is part of the test")
    }
}

#[test]
fn a_pool_that_panics_causes_an_error_and_no_hang() {
    let storage = memory();
    create(&storage, "/", 64, 4).write(.., &numbers(&[64])).unwrap();
    let array = open(&storage).into_async().with_cpu(Cpu::with(Nervous));
    assert_eq!(kind(block_on(array.read::<u16>(..))), ArrayErrorKind::Panic);
}

#[test]
fn a_conflict_that_does_not_end_names_the_chunk() {
    let storage = memory();
    let array = create(&storage, "/", 4, 4);
    array.write(.., &[1_u16; 4]).unwrap();
    // Another handle writes the object each time between read and put.
    let odd = Odd::new(&storage);
    fn again(odd: &Odd, array: &Array, rounds: u16) {
        let (next, same) = (odd.clone(), array.clone());
        odd.before_put("c/0", move || {
            same.write(.., &[rounds; 4]).unwrap();
            if rounds > 0 {
                again(&next, &same, rounds - 1);
            }
        });
    }
    again(&odd, &array, 100);
    let e = open(&odd.storage()).write(0..1, &[9_u16]).unwrap_err();
    assert_eq!((e.kind(), e.key()), (ArrayErrorKind::Conflict, Some("c/0")));
}

#[test]
fn a_handle_can_be_limited_to_writes_of_whole_chunks() {
    let storage = memory();
    let array = create(&storage, "/", 7, 4);
    array.write(.., &numbers(&[7])).unwrap();
    let aligned = array.clone().with_partial_writes(PartialWrites::RejectUnaligned);
    for (part, values) in [(0..3, 3), (2..6, 4), (4..6, 2)] {
        let e = aligned.write(part, &vec![9_u16; values]).unwrap_err();
        assert_eq!(e.kind(), ArrayErrorKind::InvalidArgument);
        assert!(format!("{e:#}").contains("covers part of the chunk"), "{e:#}");
    }
    assert_eq!(array.read::<u16>(..).unwrap().into_vec(), numbers(&[7]));
    aligned.write(4..7, &[9_u16; 3]).unwrap();
    assert_eq!(array.read::<u16>(3..).unwrap().into_vec(), [3, 9, 9, 9]);
    // chunks that the edge of the array cuts are allowed
    let mut growing = aligned.clone();
    growing.resize([8]).unwrap();
    growing.append(0, NdVec::new([3], vec![5_u16; 3]).unwrap()).unwrap();
    assert_eq!(growing.read::<u16>(3..).unwrap().into_vec(), [3, 9, 9, 9, 7, 5, 5, 5]);
    growing.resize([5]).unwrap();
    growing.resize([7]).unwrap();
    assert_eq!(growing.read::<u16>(3..).unwrap().into_vec(), [3, 9, 7, 7]);
}
