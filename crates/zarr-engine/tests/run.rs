//! The scheduler runs cells of any kind: these count their steps, and use no array.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

use zarr_engine::gate;
use zarr_engine::run::{
    ATTEMPTS, Amount, Attempt, Cell, Cells, Place, Progress, Sizes, Spawn, Stop, clock, on_threads, run,
};
use zarr_traits::store::{Answer, Capabilities, Drive, Op, Store};
use zarr_traits::{BoxFuture, Scratch, Storage, StoreResult, block_on};

/// A store that nobody asks.
#[derive(Debug)]
struct Unused(Drive);

impl Store for Unused {
    fn capabilities(&self) -> Capabilities {
        match self.0 {
            Drive::Inline => Capabilities::inline(),
            _ => Capabilities::remote(2, 0),
        }
    }

    fn call<'a>(&'a self, op: Op<'a>) -> BoxFuture<'a, StoreResult<Answer>> {
        Box::pin(async move { op.unsupported() })
    }
}

/// A clock whose waits end at once.
struct Fast;

impl clock::Clock for Fast {
    fn now(&self) -> Duration {
        Duration::ZERO
    }

    fn wait(&self, _: Duration) -> BoxFuture<'static, ()> {
        zarr_traits::store::ready(())
    }

    fn random(&self) -> u64 {
        7
    }
}

/// Two threads and a queue.
#[derive(Debug)]
struct Pool(Arc<Queue>);

#[derive(Default)]
struct Queue {
    jobs: Mutex<VecDeque<Box<dyn FnOnce() + Send>>>,
    more: Condvar,
}

impl std::fmt::Debug for Queue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Queue")
    }
}

impl Pool {
    fn start() -> Arc<dyn Spawn> {
        let queue = Arc::new(Queue::default());
        for _ in 0..2 {
            let queue = queue.clone();
            thread::spawn(move || {
                loop {
                    let mut jobs = queue.jobs.lock().unwrap();
                    while jobs.is_empty() {
                        jobs = queue.more.wait(jobs).unwrap();
                    }
                    let job = jobs.pop_front();
                    drop(jobs);
                    job.into_iter().for_each(|job| job());
                }
            });
        }
        Arc::new(Self(queue))
    }
}

impl Spawn for Pool {
    fn spawn(&self, job: Box<dyn FnOnce() + Send>) {
        self.0.jobs.lock().unwrap().push_back(job);
        self.0.more.notify_one();
    }

    fn width(&self) -> usize {
        2
    }
}

/// What the steps of all cells did.
#[derive(Default)]
struct Steps {
    held: AtomicU64,
    opened: AtomicU64,
    fetched: AtomicU64,
    parts: AtomicU64,
    worked: AtomicU64,
    stored: AtomicU64,
    /// Fetches that were dropped before their end.
    dropped: AtomicU64,
}

/// How cells behave.
#[derive(Debug, Clone, Copy)]
struct Kind {
    cells: u64,
    blocks: u64,
    parts: u64,
    /// How many attempts at each cell are lost.
    lost: u64,
    /// The cell whose work panics, and the one whose fetch fails.
    panics: Option<u64>,
    fails: Option<u64>,
    expected: u64,
    /// Whether fetches never end.
    waits: bool,
}

const PLAIN: Kind =
    Kind { cells: 5, blocks: 1, parts: 0, lost: 0, panics: None, fails: None, expected: 1, waits: false };

struct Counted {
    kind: Kind,
    steps: Steps,
    attempts: Vec<AtomicU64>,
}

struct One {
    of: Arc<Counted>,
    number: u64,
    is_open: bool,
    is_held: bool,
    parts: Arc<AtomicU64>,
}

#[derive(Debug, PartialEq, Eq)]
enum Failure {
    Stop(Stop),
    Fetch,
    At(u64, Box<Failure>),
}

impl From<Stop> for Failure {
    fn from(stop: Stop) -> Self {
        Self::Stop(stop)
    }
}

/// Counts when it is dropped.
struct Dropped<'a>(&'a AtomicU64);

impl Drop for Dropped<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Relaxed);
    }
}

impl Cells for Counted {
    type Error = Failure;
    type Cell = One;

    fn sizes(&self) -> Sizes {
        let Kind { cells, expected, .. } = self.kind;
        Sizes::new(cells, 10 * cells).shares(true).expected(expected).stores(true)
    }

    fn cell(self: &Arc<Self>, number: u64) -> One {
        One { of: self.clone(), number, is_open: false, is_held: false, parts: Arc::default() }
    }

    fn locate(&self, number: u64, error: Failure) -> Failure {
        Failure::At(number, Box::new(error))
    }
}

impl Cell for One {
    type Error = Failure;

    fn bytes(&self) -> u64 {
        10
    }

    fn blocks(&self) -> u64 {
        self.of.kind.blocks
    }

    async fn open(&mut self) -> Result<(), Failure> {
        self.is_open = true;
        self.of.steps.opened.fetch_add(1, Relaxed);
        Ok(())
    }

    fn block(&self, _: u64) -> Self {
        assert!(self.is_open);
        Self { of: self.of.clone(), parts: Arc::default(), ..*self }
    }

    async fn hold(&mut self) -> Result<(), Failure> {
        self.is_held = true;
        self.of.steps.held.fetch_add(1, Relaxed);
        Ok(())
    }

    async fn fetch(&mut self, _: Option<&mut Scratch>) -> Result<u64, Failure> {
        assert!(self.is_held != self.is_open, "a cell is held, a block is open");
        self.of.steps.fetched.fetch_add(1, Relaxed);
        if self.of.kind.waits {
            let _dropped = Dropped(&self.of.steps.dropped);
            std::future::pending::<()>().await;
        }
        if self.of.kind.fails == Some(self.number) { Err(Failure::Fetch) } else { Ok(3) }
    }

    fn parts(&self) -> u64 {
        self.of.kind.parts
    }

    fn part(&self, _: u64, _: &mut Scratch) -> Result<(), Failure> {
        self.parts.fetch_add(1, Relaxed);
        self.of.steps.parts.fetch_add(1, Relaxed);
        Ok(())
    }

    fn work(&mut self, _: &mut Scratch) -> Result<u64, Failure> {
        assert_eq!(self.parts.load(Relaxed), self.of.kind.parts, "the work comes after all parts");
        assert!(self.of.kind.panics != Some(self.number), "the work of {}", self.number);
        self.of.steps.worked.fetch_add(1, Relaxed);
        Ok(4)
    }

    async fn store(&mut self, _: Option<&mut Scratch>) -> Result<Attempt, Failure> {
        assert!(!self.is_open, "blocks are not stored");
        let number = usize::try_from(self.number).unwrap();
        if self.of.attempts[number].fetch_add(1, Relaxed) < self.of.kind.lost {
            return Ok(Attempt::Again);
        }
        self.of.steps.stored.fetch_add(1, Relaxed);
        Ok(Attempt::Done)
    }
}

/// All places: local and remote, with and without threads, of blocking and other callers.
fn places() -> Vec<Place> {
    let pool = Pool::start();
    let drives = [Drive::Inline, Drive::remote(2, 0)];
    let pools = [None, Some(pool)];
    let place = |drive: Drive, pool: &Option<Arc<dyn Spawn>>, may_block| {
        let storage = Storage::from(Unused(drive));
        assert!(clock::set(&storage, Arc::new(Fast)));
        let gate = gate(&storage);
        let progress = Some(Progress::new());
        Place::new(storage, gate).pool(pool.clone()).progress(progress).may_block(may_block)
    };
    let all = drives.iter().flat_map(|drive| pools.iter().map(move |pool| (*drive, pool)));
    all.flat_map(|(drive, pool)| [true, false].map(|may_block| place(drive, pool, may_block))).collect()
}

/// Runs cells in a place, and returns the numbers of steps: held, opened, fetched, parts, worked, stored.
fn ran(kind: Kind, place: &Place) -> (Result<(), Failure>, [u64; 6]) {
    let attempts = (0..kind.cells).map(|_| AtomicU64::new(0)).collect();
    let cells = Arc::new(Counted { kind, steps: Steps::default(), attempts });
    let result = block_on(run(&cells, place));
    assert!(result.is_err() || Arc::strong_count(&cells) == 1, "no clone of the cells is left");
    let Steps { held, opened, fetched, parts, worked, stored, .. } = &cells.steps;
    (result, [held, opened, fetched, parts, worked, stored].map(|count| count.load(Relaxed)))
}

#[test]
fn each_cell_takes_its_steps_once_wherever_it_runs() {
    let large = u64::MAX;
    for (kind, steps) in [
        (PLAIN, [5, 0, 5, 0, 5, 5]),
        (Kind { parts: 3, ..PLAIN }, [5, 0, 5, 15, 5, 5]),
        (Kind { blocks: 4, parts: 2, ..PLAIN }, [0, 5, 20, 40, 20, 0]),
        (Kind { lost: 2, ..PLAIN }, [15, 0, 15, 0, 15, 5]),
        (Kind { parts: 3, expected: large, ..PLAIN }, [5, 0, 5, 15, 5, 5]),
        (Kind { blocks: 4, expected: large, ..PLAIN }, [0, 5, 20, 0, 20, 0]),
        (Kind { cells: 0, ..PLAIN }, [0; 6]),
    ] {
        for place in places() {
            assert_eq!(ran(kind, &place), (Ok(()), steps), "{kind:?} in {place:?}");
            let progress = place.progress.as_ref().unwrap();
            let all = Amount::new(kind.cells, 10 * kind.cells);
            assert_eq!((progress.done(), progress.expected()), (all, all), "{kind:?} in {place:?}");
        }
    }
}

#[test]
fn the_first_error_ends_the_run_and_names_its_cell() {
    let panicked = |number| {
        let message = format!("the work of {number}");
        Failure::At(number, Box::new(Failure::Stop(Stop::Panicked { who: "a codec", message })))
    };
    let lost = || Failure::At(0, Box::new(Failure::Stop(Stop::Lost { attempts: ATTEMPTS })));
    for place in places() {
        let fails = Kind { fails: Some(3), ..PLAIN };
        assert_eq!(ran(fails, &place).0, Err(Failure::At(3, Box::new(Failure::Fetch))), "{place:?}");
        let panics = Kind { panics: Some(2), ..PLAIN };
        let (result, _) = ran(panics, &place);
        assert_eq!(result, Err(panicked(2)), "{place:?}");
        let never = Kind { cells: 1, lost: u64::MAX, ..PLAIN };
        assert_eq!(ran(never, &place).0, Err(lost()), "{place:?}");
        place.progress.as_ref().unwrap().cancel();
        let (result, steps) = ran(PLAIN, &place);
        assert!(is_cancelled(&result), "{result:?}");
        assert_eq!(steps[2], 0, "nothing is fetched after a cancellation");
    }
}

#[test]
fn calls_are_shared_by_the_threads_and_the_caller() {
    let storage = Storage::from(Unused(Drive::Inline));
    for pool in [None, Some(Pool::start())] {
        let squares = block_on(on_threads(&storage, pool.clone(), 100, |number| number * number)).unwrap();
        assert_eq!(squares, (0..100).map(|number| number * number).collect::<Vec<_>>());
        let panics = block_on(on_threads(&storage, pool, 3, |number| assert_ne!(number, 1)));
        assert!(matches!(panics, Err(Stop::Panicked { who: "a store", .. })), "{panics:?}");
    }
}

/// Whether a run was cancelled: as a whole, or when a cell was about to begin.
fn is_cancelled(result: &Result<(), Failure>) -> bool {
    match result {
        Err(Failure::At(_, why)) => **why == Failure::Stop(Stop::Cancelled),
        result => *result == Err(Failure::Stop(Stop::Cancelled)),
    }
}

#[test]
fn a_cancellation_drops_requests_that_wait() {
    let is_remote = |place: &Place| place.storage.capabilities().drive != Drive::Inline;
    for place in places().into_iter().filter(is_remote) {
        for blocks in [1, 4] {
            let progress = Progress::new();
            let place = place.clone().progress(Some(progress.clone()));
            let kind = Kind { waits: true, blocks, ..PLAIN };
            let attempts = (0..kind.cells).map(|_| AtomicU64::new(0)).collect();
            let cells = Arc::new(Counted { kind, steps: Steps::default(), attempts });
            let inside = cells.clone();
            let call = thread::spawn(move || block_on(run(&inside, &place)));
            while cells.steps.fetched.load(Relaxed) == 0 {
                thread::yield_now();
            }
            progress.cancel();
            assert!(is_cancelled(&call.join().unwrap()));
            let Steps { fetched, dropped, .. } = &cells.steps;
            assert_eq!(fetched.load(Relaxed), dropped.load(Relaxed), "each request is dropped");
            assert_eq!(Arc::strong_count(&cells), 1, "no clone of the cells is left");
        }
    }
}

#[test]
fn a_wait_for_a_cancellation_ends_with_it_or_is_forgotten() {
    let progress = Progress::new();
    drop(progress.cancelled());
    let never = progress.unless_cancelled(async { Ok::<_, Stop>(7) });
    assert_eq!(block_on(never), Ok(7));
    let waits = progress.clone();
    let wait =
        thread::spawn(move || block_on(waits.unless_cancelled(std::future::pending::<Result<(), Stop>>())));
    progress.cancel();
    assert_eq!(wait.join().unwrap(), Err(Stop::Cancelled));
    assert_eq!(
        block_on(progress.unless_cancelled(std::future::pending::<Result<(), Stop>>())),
        Err(Stop::Cancelled)
    );
}
