//! Runs one test in many schedules. Half of them choose the next step with equal chances; the others let few writers be
//! overtaken, but for long.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use shuttle::rand::{Rng, thread_rng};
use shuttle::scheduler::{PctScheduler, RandomScheduler, ReplayScheduler, Scheduler};
use shuttle::{Config, MaxSteps, Runner};

/// A test that is run in many schedules.
pub(crate) struct Exploration {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    /// Makes what all schedules share, and returns the test.
    pub(crate) prepare: fn() -> Test,
}

pub(crate) type Test = Box<dyn Fn() + Send + Sync>;

/// The stack of a writer, in bytes.
const STACK: usize = 2 << 20;

/// More steps than a schedule needs: it does not end.
const ENDLESS: usize = 200_000;

/// How often the second half of the schedules lets another writer go first.
const OVERTAKEN: usize = 4;

/// Explores so many schedules. Returns the number of the one that fails, which is printed so that it can be replayed.
pub(crate) fn explore(one: &Exploration, schedules: usize, seed: u64) -> Option<usize> {
    let (test, done) = (Arc::new((one.prepare)()), Arc::new(AtomicUsize::new(0)));
    let counted = move |done: Arc<AtomicUsize>| {
        let test = test.clone();
        move || {
            done.fetch_add(1, Ordering::Relaxed);
            test();
        }
    };
    let half = schedules / 2;
    let is_ok = run(RandomScheduler::new_from_seed(seed, schedules - half), counted(done.clone()))
        && (half == 0 || run(PctScheduler::new_from_seed(seed, OVERTAKEN, half), counted(done.clone())));
    (!is_ok).then(|| done.load(Ordering::Relaxed))
}

/// Runs one schedule that [`explore`] has printed.
pub(crate) fn replay(one: &Exploration, schedule: &str) {
    let test = (one.prepare)();
    Runner::new(ReplayScheduler::new_from_encoded(schedule), config()).run(test);
}

/// Returns whether all schedules pass.
fn run(scheduler: impl Scheduler + 'static, test: impl Fn() + Send + Sync + 'static) -> bool {
    catch_unwind(AssertUnwindSafe(|| Runner::new(scheduler, config()).run(test))).is_ok()
}

fn config() -> Config {
    let mut config = Config::new();
    config.stack_size = STACK;
    config.max_steps = MaxSteps::FailAfter(ENDLESS);
    config.silence_warnings = true;
    config
}

/// Returns a number below `end`, which a replay returns again.
pub(crate) fn any(end: u64) -> u64 {
    thread_rng().gen_range(0..end)
}
