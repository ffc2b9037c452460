//! Blocking calls from threads of the array's own pool end, no matter how busy the pool is.

use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use crate::common::{self, Odd, meta, numbers, sharded};
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use zarr_array::blocking::Array;
use zarr_array::{Cpu, Spawn, Storage, standard};
use zarr_store::MemoryStore;

/// The adapter that `Spawn` describes.
#[derive(Debug, Clone)]
struct Rayon(Arc<ThreadPool>);

impl Spawn for Rayon {
    fn spawn(&self, job: Box<dyn FnOnce() + Send>) {
        self.0.spawn_fifo(job);
    }

    fn width(&self) -> usize {
        self.0.current_num_threads()
    }
}

/// Asserts that `work` ends within a minute. Only a timeout can detect a deadlock.
fn ends(what: &str, work: impl FnOnce() + Send + 'static) {
    let (send, receive) = mpsc::channel();
    thread::spawn(move || {
        work();
        send.send(()).unwrap();
    });
    assert!(receive.recv_timeout(Duration::from_secs(60)).is_ok(), "{what}: it does not end");
}

/// Writes and reads slabs of 5 rows, which are not aligned to chunks.
fn slabs(array: &Array, count: u16) {
    (0..count).into_par_iter().for_each(|i| {
        let rows = u64::from(5 * i)..u64::from(5 * i + 5);
        array.write((rows.clone(), ..), &vec![i; 5 * 512]).unwrap();
        assert!(array.read::<u16>((rows, ..)).unwrap().as_slice().iter().all(|v| *v == i));
    });
    (0..count).into_par_iter().for_each(|_| {
        let all = array.read::<u16>(..).unwrap();
        assert_eq!(all.as_slice().last(), Some(&(count - 1)));
    });
}

#[test]
fn blocking_calls_from_workers_of_their_own_pool_end() {
    slabs_from_workers(16);
}

#[test]
#[ignore = "large: cargo xtask full"]
fn large_many_blocking_calls_from_workers_of_their_own_pool_end() {
    slabs_from_workers(64);
}

fn slabs_from_workers(count: u16) {
    let shape = [5 * u64::from(count), 512];
    for width in [1, 2] {
        for codecs in [common::chains()[4].clone(), sharded(&[4, 64], "end")] {
            for remote in [false, true] {
                let what = format!("{width} threads, {codecs:?}, remote: {remote}");
                let pool = Arc::new(ThreadPoolBuilder::new().num_threads(width).build().unwrap());
                let memory = Storage::from(MemoryStore::new());
                let meta = meta(&shape, &[8, 128], &codecs);
                Array::create(memory.clone(), "/", meta, &standard()).unwrap();
                let storage = if remote { Odd::slow(&memory, Duration::ZERO, 8) } else { memory };
                let array = Array::open(storage, "/", &standard()).unwrap();
                let array = array.with_cpu(Cpu::with(Rayon(pool.clone())));
                ends(&what, move || pool.install(|| slabs(&array, count)));
            }
        }
    }
}

/// A pool that runs nothing.
#[derive(Debug)]
struct Stuck;

impl Spawn for Stuck {
    fn spawn(&self, job: Box<dyn FnOnce() + Send>) {
        std::mem::forget(job);
    }

    fn width(&self) -> usize {
        4
    }
}

#[test]
fn a_blocking_call_needs_no_worker() {
    for codecs in [common::chains()[4].clone(), sharded(&[4, 64], "end")] {
        for remote in [false, true] {
            let memory = Storage::from(MemoryStore::new());
            let storage = if remote { Odd::slow(&memory, Duration::ZERO, 8) } else { memory };
            let meta = meta(&[320, 512], &[8, 128], &codecs);
            let array = Array::create(storage, "/", meta, &standard()).unwrap().with_cpu(Cpu::with(Stuck));
            ends(&format!("{codecs:?}, remote: {remote}"), move || {
                array.write(.., &numbers(&[320, 512])).unwrap();
                assert_eq!(array.read::<u16>(..).unwrap().into_vec(), numbers(&[320, 512]));
                let mut values = vec![0_u16; 320 * 512];
                array.read_into(.., &mut values).unwrap();
                assert_eq!(values, numbers(&[320, 512]));
            });
        }
    }
}
