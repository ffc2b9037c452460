//! Concurrent calls: no lost updates, no torn reads, and a dropped read leaves nothing behind.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Waker};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{self, Odd, chains, meta, numbers};
use zarr_array::blocking::Array;
use zarr_array::{Cpu, NdVec, Spawn, Storage, block_on, standard};
use zarr_store::MemoryStore;
use zarr_store_fs::FsStore;

#[test]
fn parts_of_one_chunk_written_by_many_threads_are_all_there() {
    let folder = tempfile::tempdir().unwrap();
    for storage in [Storage::from(MemoryStore::new()), Storage::from(FsStore::open(folder.path()).unwrap())] {
        let array =
            Array::create(storage.clone(), "/", meta(&[16, 8], &[16, 8], &chains()[4]), &standard()).unwrap();
        // Half of the writers share a handle and its locks; the others open their own and rely on conditional puts.
        let threads: Vec<_> = (0..8_u64)
            .map(|i| {
                let array = match i % 2 {
                    0 => array.clone(),
                    _ => Array::open(storage.clone(), "/", &standard()).unwrap(),
                };
                thread::spawn(move || {
                    for k in 0..16 {
                        array.write((k, i), &[u16::try_from(k * 8 + i).unwrap() + 100]).unwrap();
                    }
                })
            })
            .collect();
        threads.into_iter().for_each(|t| t.join().unwrap());
        let expected: Vec<u16> = numbers(&[16, 8]).into_iter().map(|v| v + 100).collect();
        assert_eq!(array.read::<u16>(..).unwrap().into_vec(), expected);
    }
}

#[test]
fn concurrent_appends_and_edits_are_all_there() {
    let folder = tempfile::tempdir().unwrap();
    let open = || Storage::from(FsStore::open(folder.path()).unwrap());
    let all = Storage::from(MemoryStore::new());
    let memory = || all.clone();
    let stores: [&(dyn Fn() -> Storage + Sync); 2] = [&memory, &open];
    for store in stores {
        let meta = meta(&[0, 3], &[8, 3], &chains()[4]);
        Array::create(store(), "/", meta, &standard()).unwrap();
        // values of two rows each, so that every chunk is shared
        thread::scope(|threads| {
            for i in 0..4_u16 {
                threads.spawn(move || {
                    let mut array = Array::open(store(), "/", &standard()).unwrap();
                    for k in 0..20 {
                        let values = NdVec::new([2, 3], vec![100 * i + k; 6]).unwrap();
                        array.append(0, values).unwrap();
                        let name = format!("{i}/{k}");
                        array.edit_attributes(|attributes| attributes.set(&name, 1)).unwrap();
                    }
                });
            }
        });
        let array = Array::open(store(), "/", &standard()).unwrap();
        assert_eq!(array.shape(), [160, 3]);
        assert_eq!(array.metadata().attributes().len(), 80, "no edit is lost");
        let values = array.read::<u16>(..).unwrap().into_vec();
        let mut found: Vec<u16> = values.chunks(6).map(|two| two[0]).collect();
        assert!(values.chunks(6).all(|two| two.iter().all(|value| *value == two[0])), "no row is torn");
        found.sort_unstable();
        let expected: Vec<u16> = (0..4).flat_map(|i| (0..20).map(move |k| 100 * i + k)).collect();
        assert_eq!(found, expected);
    }
}

#[test]
fn a_read_never_mixes_two_versions_of_a_chunk() {
    let folder = tempfile::tempdir().unwrap();
    let array = {
        let store = FsStore::open(folder.path()).unwrap();
        Array::create(store, "/", meta(&[64, 64], &[64, 64], &chains()[0]), &standard()).unwrap()
    };
    array.write(.., &[0_u16; 4096]).unwrap();
    let writer = array.clone();
    let writing = thread::spawn(move || {
        for k in 1..200_u16 {
            writer.write(.., &[k; 4096]).unwrap();
        }
    });
    while !writing.is_finished() {
        let part = array.read::<u16>([10..50, 10..50]).unwrap().into_vec();
        assert!(part.iter().all(|v| *v == part[0]), "elements of two versions in one read");
    }
    writing.join().unwrap();
}

#[test]
fn a_read_that_is_dropped_at_any_poll_leaves_nothing_running() {
    let memory = Storage::from(MemoryStore::new());
    let made =
        Array::create(memory.clone(), "/", meta(&[40, 40], &[4, 4], &chains()[4]), &standard()).unwrap();
    made.write(.., &numbers(&[40, 40])).unwrap();
    let slow = Odd::slow(&memory, Duration::from_micros(200), 8);
    for storage in [memory, slow] {
        let array =
            block_on(zarr_array::Array::open(storage, "/", &standard())).unwrap().with_cpu(Cpu::threads(2));
        for polls in 0..20 {
            let mut read = Box::pin(array.read::<u16>(..));
            for _ in 0..polls {
                if read.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready() {
                    break;
                }
                thread::sleep(Duration::from_micros(100));
            }
        }
        let all: NdVec<u16> = block_on(array.read(..)).unwrap();
        assert_eq!(all.as_slice(), numbers(&[40, 40]), "the next read is whole");
    }
}

#[test]
fn remote_requests_are_concurrent_within_their_bound() {
    let memory = Storage::from(MemoryStore::new());
    let made = Array::create(memory.clone(), "/", meta(&[64], &[1], &chains()[4][..0]), &standard()).unwrap();
    made.write(.., &numbers(&[64])).unwrap();
    let timed = |in_flight| {
        let storage = Odd::slow(&memory, Duration::from_millis(10), in_flight);
        let array = block_on(zarr_array::Array::open(storage, "/", &standard())).unwrap();
        let start = Instant::now();
        let all: NdVec<u16> = block_on(array.read(..)).unwrap();
        assert_eq!(all.into_vec(), numbers(&[64]));
        start.elapsed()
    };
    // 64 requests of 10 ms, eight at a time, take at least 80 ms. Whether they take much longer is left to the
    // benchmarks.
    assert!(timed(8) >= Duration::from_millis(80));
    timed(64);
}

#[test]
fn many_small_reads_share_one_pool() {
    let memory = Storage::from(MemoryStore::new());
    let array = Array::create(memory, "/", meta(&[64, 64], &[8, 8], &chains()[4]), &standard()).unwrap();
    array.write(.., &numbers(&[64, 64])).unwrap();
    let array = Arc::new(array.into_async().with_cpu(Cpu::threads(2)));
    let threads: Vec<_> = (0..8_u64)
        .map(|i| {
            let array = array.clone();
            thread::spawn(move || {
                for _ in 0..20 {
                    let rows: NdVec<u16> = block_on(array.read([i * 8..i * 8 + 8, 0..64])).unwrap();
                    assert_eq!(rows.as_slice()[0], u16::try_from(i * 512).unwrap());
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|t| t.join().unwrap());
}

#[test]
fn a_waiting_writer_that_is_dropped_lets_others_continue() {
    let memory = Storage::from(MemoryStore::new());
    let array = Array::create(memory, "/", meta(&[4, 1], &[4, 1], &chains()[0]), &standard()).unwrap();
    let storage = array.storage().clone();
    let guard = block_on(zarr_engine::lock(&storage, &array.chunk_key(&[0, 0]).unwrap()));
    {
        let handle = array.clone().into_async().with_cpu(Cpu::inline());
        let mut waiting = pin!(handle.write([0..1, 0..1], NdVec::new([1, 1], vec![1_u16]).unwrap()));
        assert!(waiting.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    }
    drop(guard);
    array.write([0..1, 0..1], &[2_u16]).unwrap();
    assert_eq!(array.read::<u16>((0, 0)).unwrap().as_slice(), [2]);
}

/// The limit in flight counts the bytes that are read, not the size of the shards.
#[test]
fn small_parts_of_many_large_shards_are_read_concurrently() {
    let memory = Storage::from(MemoryStore::new());
    let meta = meta(&[8 * 256, 256], &[256, 256], &common::sharded(&[16, 16], "end"));
    let made = Array::create(memory.clone(), "/", meta, &standard()).unwrap();
    made.write(.., &numbers(&[8 * 256, 256])).unwrap();
    let mut odd = Odd::new(&memory);
    (odd.in_flight, odd.delay) = (Some(8), Duration::from_millis(20));
    // room for one shard, decoded
    let array = Array::open(odd.storage(), "/", &standard()).unwrap().with_in_flight(8, 128 << 10);
    let mut fetching = array.fetching();
    (fetching.whole, fetching.gap) = (1, 0);
    array.with_fetching(fetching).read::<u16>((.., 3)).unwrap();
    let most = odd.most_reads.load(Ordering::SeqCst);
    assert!(most >= 6, "at most {most} of 8 requests were in flight at once");
}

/// Creates an array of one chunk, in a store where another writer is faster `times` times.
fn contested(mut odd: Odd, times: usize, change: impl FnOnce(&mut Odd)) -> zarr_array::Array {
    change(&mut odd);
    let storage = odd.storage();
    let array = Array::create(storage, "/", meta(&[4, 1], &[4, 1], &chains()[0]), &standard()).unwrap();
    array.write(.., &numbers(&[4, 1])).unwrap();
    let rival = Array::open(odd.inner.clone(), "/", &standard()).unwrap();
    lose(odd, rival, times);
    array.into_async()
}

fn lose(odd: Odd, rival: Array, times: usize) {
    if times > 0 {
        odd.clone().before_put("c/0/0", move || {
            rival.write((3, 0), &[u16::try_from(times).unwrap()]).unwrap();
            lose(odd, rival, times - 1);
        });
    }
}

/// A pool with a thread per job, which counts the jobs.
#[derive(Debug, Clone, Default)]
struct Counted(Arc<AtomicUsize>);

impl Spawn for Counted {
    fn spawn(&self, job: Box<dyn FnOnce() + Send>) {
        self.0.fetch_add(1, Ordering::SeqCst);
        thread::spawn(job);
    }

    fn width(&self) -> usize {
        1
    }

    fn is_busy(&self) -> bool {
        false
    }
}

#[test]
fn a_wait_after_a_lost_race_takes_no_worker() {
    let odd = Odd::new(&Storage::from(MemoryStore::new()));
    let pool = Counted::default();
    let array = contested(odd, 3, |odd| odd.in_flight = Some(4)).with_cpu(Cpu::with(pool.clone()));
    block_on(array.write([0..1, 0..1], NdVec::new([1, 1], vec![9_u16]).unwrap())).unwrap();
    let jobs = pool.0.load(Ordering::SeqCst);
    assert!(jobs <= 4, "{jobs} jobs for four attempts");
}

#[test]
fn a_wait_after_a_lost_race_does_not_block_the_executor() {
    let array = contested(Odd::new(&Storage::from(MemoryStore::new())), 10, |_| {}).with_cpu(Cpu::inline());
    let mut write = Box::pin(array.write([0..1, 0..1], NdVec::new([1, 1], vec![9_u16]).unwrap()));
    let mut pending = 0;
    while write.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending() {
        pending += 1;
        thread::yield_now();
    }
    assert!(pending > 0, "the write waited ten times within one poll");
    drop(write);
    let all: NdVec<u16> = block_on(array.read(..)).unwrap();
    assert_eq!(all.into_vec(), [9, 1, 2, 1]);
}

#[test]
fn shards_at_work_are_bounded_over_all_calls_of_a_handle() {
    let mut odd = Odd::new(&Storage::from(MemoryStore::new()));
    odd.delay = Duration::from_millis(2);
    let meta = meta(&[8 * 512, 512], &[512, 512], &common::sharded(&[64, 64], "end"));
    let array = Array::create(odd.storage(), "/", meta, &standard()).unwrap();
    // room for one shard
    let array = array.with_in_flight(usize::MAX, 512 << 10).with_cpu(Cpu::threads(4));
    thread::scope(|threads| {
        for half in [0..4 * 512, 4 * 512..8 * 512] {
            let array = &array;
            threads.spawn(move || array.write([half, 0..512], &numbers(&[4 * 512, 512])).unwrap());
        }
    });
    assert_eq!(odd.most_puts.load(Ordering::SeqCst), 1);
    assert_eq!(array.read::<u16>([4 * 512 + 1..4 * 512 + 2, 0..1]).unwrap().into_vec(), [512]);
}

#[test]
fn explain_and_resize_access_several_objects_at_once() {
    let mut odd = Odd::new(&Storage::from(MemoryStore::new()));
    (odd.in_flight, odd.delay) = (Some(8), Duration::from_millis(5));
    let meta = meta(&[16 * 64, 64], &[64, 64], &common::sharded(&[8, 8], "end"));
    let mut array = Array::create(odd.storage(), "/", meta, &standard()).unwrap();
    array.write(.., &numbers(&[16 * 64, 64])).unwrap();
    let mut fetching = array.fetching();
    fetching.whole = 1;
    odd.most_reads.store(0, Ordering::SeqCst);
    let told = array.clone().with_fetching(fetching).explain((.., 3)).unwrap();
    assert_eq!((told.chunks, told.chunks_stored), (16, 16));
    let reads = odd.most_reads.load(Ordering::SeqCst);
    assert!((2..=8).contains(&reads), "{reads} reads at once, eight are allowed");
    array.resize([64, 64]).unwrap();
    let deletes = odd.most_deletes.load(Ordering::SeqCst);
    assert!((2..=8).contains(&deletes), "{deletes} deletes at once, eight are allowed");
}
