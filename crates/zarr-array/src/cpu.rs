//! The threads for decoding and encoding: a pool of the caller, or that of the process.

use std::collections::VecDeque;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock};
use std::thread;

use zarr_engine::run::{Scratches, Spawn, look};
use zarr_traits::Storage;
use zarr_traits::lock::unpoisoned;

use crate::error::ArrayResult;

/// The threads that decode and encode chunks. Cheap to clone.
///
/// By default all arrays of a process share one pool, with as many threads as the machine has cores for the process. Its
/// threads start when they are first needed, and stay.
/// [`use_for`](Self::use_for) sets the pool of a storage, [`Array::with_cpu`](crate::Array::with_cpu) that of one handle.
#[derive(Clone, Debug)]
#[doc(alias("parallel", "concurrency", "threads"))]
pub struct Cpu {
    pool: Option<Arc<dyn Spawn>>,
    /// The queue of the pool, if it is one of this crate.
    queue: Option<Arc<Queue>>,
    /// The memory of decoders and encoders that is not in use.
    scratches: Arc<Scratches>,
}

impl Cpu {
    /// Does all work on the calling thread, or on the awaiting task.
    pub fn inline() -> Self {
        Self { pool: None, queue: None, scratches: Arc::default() }
    }

    /// Creates a pool of `width` threads. They start when first needed and end with the last clone.
    pub fn threads(width: usize) -> Self {
        if width == 0 { Self::inline() } else { Pool::new(width).into() }
    }

    /// Uses a pool of the caller.
    pub fn with(pool: impl Spawn + 'static) -> Self {
        Self { pool: Some(Arc::new(pool)), queue: None, scratches: Arc::default() }
    }

    /// The number of threads; 0 if all work is done on the calling thread.
    pub fn width(&self) -> usize {
        self.pool.as_ref().map_or(0, |pool| pool.width())
    }

    /// Changes the number of threads of a pool that [`threads`](Self::threads) made, for all its users: for a program whose
    /// storages share one pool, and whose settings change. Jobs at work go on. Returns `false`, and changes nothing, for other
    /// pools and for 0.
    ///
    /// ```
    /// # use zarr_array::Cpu;
    /// let cpu = Cpu::threads(8);
    /// assert!(cpu.resize(2));
    /// assert_eq!(cpu.width(), 2);
    /// ```
    pub fn resize(&self, width: usize) -> bool {
        let Some(queue) = self.queue.as_ref().filter(|_| width > 0) else { return false };
        let state = unpoisoned(queue.state.lock());
        queue.width.store(width, Ordering::Relaxed);
        drop(state);
        // Some may wait because too many were at work.
        queue.work.notify_all();
        true
    }

    /// Uses the threads of rayon: the pool that runs the caller, or the global pool.
    ///
    /// ```
    /// # use zarr_array::{ArrayMeta, ArrayResult, Cpu, DataType, NdVec, blocking::Array, standard};
    /// use rayon::prelude::*;
    ///
    /// # let meta = ArrayMeta::builder([64, 64], DataType::Int32).chunks([8, 8]).build()?;
    /// # let array = Array::create(zarr_store::MemoryStore::new(), "/a", meta, &standard())?;
    /// let array = array.with_cpu(Cpu::rayon());
    /// array.chunks(..)?.par_bridge().try_for_each(|chunk| {
    ///     let mut values: NdVec<i32> = array.read(&chunk)?;
    ///     values.as_mut_slice().iter_mut().for_each(|value| *value += 1);
    ///     array.write(&chunk, &values)
    /// })?;
    /// # ArrayResult::Ok(())
    /// ```
    #[cfg(feature = "rayon")]
    pub fn rayon() -> Self {
        Self::with(Rayon)
    }

    /// Sets the pool of a storage: arrays that are opened from clones of it and from layers over it use this pool, also
    /// as members of a group or dataset. Storages with the same pool also share the memory of its decoders and encoders,
    /// such as contexts of zstd. Returns `false`, and changes nothing, if the storage already has a pool
    /// because an array was opened.
    ///
    /// ```
    /// # use zarr_array::{Cpu, Storage};
    /// let storage = Storage::from(zarr_store::MemoryStore::new());
    /// assert!(Cpu::threads(2).use_for(&storage));
    /// assert!(!Cpu::threads(4).use_for(&storage));
    /// ```
    pub fn use_for(self, storage: &Storage) -> bool {
        let scratches = self.scratches.clone();
        let is_set = storage.shared::<Chosen>().0.set(self).is_ok();
        if is_set {
            scratches.use_for(storage);
        }
        is_set
    }

    /// Returns the pool that all users of this storage share: the one that was set, or that of the process.
    pub(crate) fn of(storage: &Storage) -> Self {
        let chosen = storage.shared::<Chosen>();
        let of_process = || {
            let cpu = Self::of_process();
            cpu.scratches.use_for(storage);
            cpu
        };
        chosen.0.get_or_init(of_process).clone()
    }

    /// Returns the pool of the process, with a thread for each core. There are no threads in a browser.
    fn of_process() -> Self {
        if cfg!(target_family = "wasm") {
            return Self::inline();
        }
        let mut shared = unpoisoned(OF_PROCESS.lock());
        let process = std::process::id();
        match &*shared {
            Some((of, cpu)) if *of == process => cpu.clone(),
            // A forked process has the memory of the pool, and none of its threads.
            _ => shared.insert((process, Pool::default().into())).1.clone(),
        }
    }

    pub(crate) fn pool(&self) -> Option<&Arc<dyn Spawn>> {
        self.pool.as_ref()
    }
}

/// Returns the results of `work` for the numbers below `count`, in their order. The threads of the storage share the
/// calls, and the caller does those that no thread has started. For local stores, whose futures do their work while they
/// are polled: `work` may run them with [`block_on`](crate::block_on), and must not wait for another thread.
///
/// # Errors
/// Of kind [`Panic`](crate::ArrayErrorKind::Panic) if a call panics.
pub async fn on_threads<R: Send + Sync + 'static>(
    storage: &Storage,
    count: usize,
    work: impl Fn(usize) -> R + Send + Sync + 'static,
) -> ArrayResult<Vec<R>> {
    let pool = Cpu::of(storage).pool().cloned();
    Ok(zarr_engine::run::on_threads(storage, pool, count, work).await?)
}

/// The pool of this process, and the number of the process, once it is needed.
static OF_PROCESS: Mutex<Option<(u32, Cpu)>> = Mutex::new(None);

/// The pool of a storage, once one is set or needed.
#[derive(Default)]
struct Chosen(OnceLock<Cpu>);

#[cfg(feature = "rayon")]
#[derive(Debug)]
struct Rayon;

#[cfg(feature = "rayon")]
impl Spawn for Rayon {
    fn spawn(&self, job: Box<dyn FnOnce() + Send>) {
        rayon::spawn_fifo(job);
    }

    fn width(&self) -> usize {
        rayon::current_num_threads()
    }
}

/// The pool of this crate: one first-in first-out queue, so that a small read beside a large one waits for one chunk.
struct Pool(Arc<Queue>);

struct Queue {
    width: AtomicUsize,
    /// The number of jobs that wait, for workers that look for one without the lock.
    waiting: AtomicUsize,
    state: Mutex<State>,
    work: Condvar,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Box<dyn FnOnce() + Send>>,
    started: usize,
    /// The number of workers that look for a job.
    looking: usize,
    /// The number of workers that sleep.
    asleep: usize,
    /// The number of jobs at work.
    running: usize,
    closed: bool,
}

impl Pool {
    fn new(width: usize) -> Self {
        Self(Arc::new(Queue {
            width: AtomicUsize::new(width),
            waiting: AtomicUsize::new(0),
            state: Mutex::default(),
            work: Condvar::new(),
        }))
    }
}

impl Default for Pool {
    fn default() -> Self {
        Self::new(thread::available_parallelism().map_or(1, usize::from))
    }
}

impl From<Pool> for Cpu {
    fn from(pool: Pool) -> Self {
        let queue = Some(pool.0.clone());
        Self { pool: Some(Arc::new(pool)), queue, scratches: Arc::default() }
    }
}

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Queue({} threads)", self.width())
    }
}

impl Queue {
    fn width(&self) -> usize {
        self.width.load(Ordering::Relaxed)
    }

    fn work(&self) {
        let mut state = unpoisoned(self.state.lock());
        let mut has_looked = false;
        loop {
            if let Some(job) = self.next(&mut state) {
                state.running += 1;
                drop(state);
                // Jobs report their own panics; this keeps the worker alive.
                let _ = catch_unwind(AssertUnwindSafe(job));
                state = unpoisoned(self.state.lock());
                state.running -= 1;
                has_looked = false;
            } else if state.closed {
                return;
            } else if has_looked {
                state.asleep += 1;
                state = unpoisoned(self.work.wait(state));
                state.asleep -= 1;
            } else {
                state.looking += 1;
                drop(state);
                // Calls that follow each other find the worker awake.
                look(|| self.waiting.load(Ordering::Relaxed) > 0);
                state = unpoisoned(self.state.lock());
                state.looking -= 1;
                has_looked = true;
            }
        }
    }

    /// Takes the next job, unless there are more workers than the width because it was made smaller.
    fn next(&self, state: &mut State) -> Option<Box<dyn FnOnce() + Send>> {
        let job = if state.running < self.width() { state.jobs.pop_front() } else { None };
        self.waiting.store(state.jobs.len(), Ordering::Relaxed);
        job
    }
}

impl Spawn for Pool {
    fn spawn(&self, job: Box<dyn FnOnce() + Send>) {
        let mut state = unpoisoned(self.0.state.lock());
        state.jobs.push_back(job);
        let free = state.looking + state.asleep;
        if free < state.jobs.len() && state.started < self.0.width() {
            let queue = self.0.clone();
            let name = format!("zarr-{}", state.started);
            if thread::Builder::new().name(name).spawn(move || queue.work()).is_ok() {
                state.started += 1;
            } else if state.started == 0 {
                // No thread can be started: run the job here.
                let job = state.jobs.pop_back();
                drop(state);
                job.into_iter().for_each(|job| job());
                return;
            }
        }
        self.0.waiting.store(state.jobs.len(), Ordering::Relaxed);
        // A worker that looks for a job sees this one before it sleeps.
        let is_seen = state.jobs.len() <= state.looking;
        drop(state);
        if !is_seen {
            self.0.work.notify_one();
        }
    }

    fn width(&self) -> usize {
        self.0.width()
    }

    fn is_busy(&self) -> bool {
        self.0.waiting.load(Ordering::Relaxed) > 0
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        // A worker may drop the last clone, so close without joining.
        unpoisoned(self.0.state.lock()).closed = true;
        self.0.work.notify_all();
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pool({} threads)", self.0.width())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::{Duration, Instant};

    use zarr_engine::run::LOOK;

    use super::*;

    #[test]
    fn a_pool_that_was_made_smaller_does_fewer_jobs_at_once() {
        let cpu = Cpu::threads(4);
        let pool = cpu.pool().unwrap();
        let (send, receive) = mpsc::channel();
        let at_work = Arc::new(AtomicUsize::new(0));
        let run = |count: usize| {
            for _ in 0..count {
                let (send, at_work) = (send.clone(), at_work.clone());
                pool.spawn(Box::new(move || {
                    let now = at_work.fetch_add(1, Ordering::SeqCst) + 1;
                    thread::yield_now();
                    at_work.fetch_sub(1, Ordering::SeqCst);
                    send.send(now).unwrap();
                }));
            }
            receive.iter().take(count).max().unwrap()
        };
        assert!(run(100) <= 4);
        assert!(cpu.resize(1));
        assert_eq!((run(100), pool.width()), (1, 1));
        assert!(cpu.resize(3) && !cpu.resize(0) && !Cpu::inline().resize(1));
        assert!(run(100) <= 3);
    }

    #[test]
    fn storages_share_the_pool_of_the_process_unless_one_is_set() {
        let cpu = || Cpu::of(&Storage::from(zarr_store::MemoryStore::new()));
        let first = cpu();
        assert_eq!(first.width(), thread::available_parallelism().unwrap().get());
        assert!((0..40).all(|_| Arc::ptr_eq(cpu().pool().unwrap(), first.pool().unwrap())));
        let storage = Storage::from(zarr_store::MemoryStore::new());
        assert!(Cpu::threads(3).use_for(&storage));
        assert_eq!(Cpu::of(&storage).width(), 3);
    }

    #[test]
    fn storages_with_one_pool_share_its_scratch_memory() {
        let storage = || Storage::from(zarr_store::MemoryStore::new());
        let (cpu, storages) = (Cpu::threads(1), [storage(), storage(), storage(), storage()]);
        let of = |number: usize| Scratches::of(&storages[number]);
        assert!(cpu.clone().use_for(&storages[0]) && cpu.use_for(&storages[1]));
        Cpu::of(&storages[2]);
        Cpu::of(&storages[3]);
        assert!(Arc::ptr_eq(&of(0), &of(1)) && Arc::ptr_eq(&of(2), &of(3)));
        assert!(!Arc::ptr_eq(&of(0), &of(2)));
    }

    /// A worker looks for a job, falls asleep, or is between: a job that comes then must not be forgotten.
    #[test]
    fn a_job_is_done_whatever_the_workers_do_when_it_comes() {
        let cpu = Cpu::threads(2);
        let pool = cpu.pool().unwrap();
        let (send, receive) = mpsc::channel();
        for i in 0..400 {
            let since = Instant::now();
            while since.elapsed() < LOOK * (i % 20) / 10 {
                std::hint::spin_loop();
            }
            let send = send.clone();
            pool.spawn(Box::new(move || send.send(i).unwrap()));
            assert_eq!(receive.recv_timeout(Duration::from_secs(60)), Ok(i));
        }
    }

    #[test]
    fn a_panic_of_a_job_does_not_end_its_worker() {
        let cpu = Cpu::threads(2);
        let pool = cpu.pool().unwrap();
        pool.spawn(Box::new(|| panic!("this panic is part of the test")));
        let (send, receive) = mpsc::channel();
        for i in 0..100 {
            let send = send.clone();
            pool.spawn(Box::new(move || send.send(i).unwrap()));
        }
        drop(send);
        assert_eq!(receive.iter().sum::<i32>(), 4950);
    }
}
