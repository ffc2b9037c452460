//! One race: an array, writer processes that update it in parts, a reader, and the check at the end.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow};
use zarr_array::DataType;

use crate::args::Args;
use crate::array::{Layout, Shapes, create};
use crate::kind::Kind;
use crate::ledger::Ledger;
use crate::place::Store;
use crate::plan::{CHUNK, INNER, Plan, SIDE};
use crate::racer::Racer;
use crate::report::Report;
use crate::{outcome, reader};

/// The number of writes in a round. All writers begin a round together, so that quick writers do not finish before slow
/// ones.
const ROUND: u64 = 20;

impl Args {
    /// Whether the result is as expected. With writers that are known to lose updates, every result is.
    pub(crate) fn is_good(&self, report: &Report) -> bool {
        if self.unchecked { report.lost() > 0 } else { report.is_clean() || !self.is_safe() }
    }

    /// Whether no update may get lost. TensorStore's writers are safe only if they are not killed.
    fn is_safe(&self) -> bool {
        let is_safe = |kind| match kind {
            Kind::Ours => true,
            Kind::Tensorstore => !self.kill_others || self.kill == 0,
            Kind::ZarrPython | Kind::Zarrs => false,
        };
        self.writers.iter().copied().all(is_safe)
    }
}

/// Runs a race in `store`, which is created.
pub(crate) fn run(args: &Args, layout: Layout, store: &Store<'_>) -> Result<Report> {
    if args.unchecked || store.directory().is_none() {
        args.check_ours()?;
    }
    let plan = Plan { seed: args.seed, writers: args.writers.len() as u64 };
    let shapes = Shapes { array: [SIDE, SIDE], chunk: [CHUNK, CHUNK], inner: [INNER, INNER] };
    let array = create(store.create()?, layout, DataType::UInt32, shapes)?;
    let ledger = Ledger::new(plan);
    let deadline = Instant::now() + Duration::from_secs(args.timeout);

    let started =
        (0..).zip(&args.writers).map(|(number, &kind)| Racer::start(plan, number, kind, store, args));
    let mut racers = started.collect::<Result<Vec<_>>>()?;
    racers.iter().try_for_each(|racer| racer.ready(deadline))?;

    let begun = Instant::now();
    let done = AtomicBool::new(false);
    let (reads, written) = thread::scope(|scope| {
        let reader = scope.spawn(|| reader::run(&array, &ledger, &done));
        let written = write(&mut racers, args.writes, &ledger, deadline);
        done.store(true, Ordering::SeqCst);
        (reader.join(), written)
    });
    written.with_context(|| {
        let writes: u64 = racers.iter().map(|racer| racer.figures.done + racer.figures.failed).sum();
        let all = args.writes * plan.writers;
        format!(
            "{layout}: {writes} of {all} writes were answered in {:.1} s",
            begun.elapsed().as_secs_f64(),
            layout = layout.name()
        )
    })?;
    let reads = reads.map_err(|_| anyhow!("the reader panicked"))?;
    let took = begun.elapsed();

    let cells = outcome::cells(&array, &ledger, plan, racers.len());
    let left_over = store.directory().map(outcome::left_over).transpose()?;
    let usable = outcome::use_it(store);
    let racers = racers.into_iter().map(|racer| (racer.kind, racer.figures)).zip(cells);
    Ok(Report::new(layout, args.writes, took, racers, reads, left_over, usable))
}

/// Lets all writers write, round by round.
fn write(racers: &mut [Racer], writes: u64, ledger: &Ledger, deadline: Instant) -> Result<()> {
    let mut next = 1;
    while next <= writes {
        let round = next..=writes.min(next + ROUND - 1);
        next = round.end() + 1;
        thread::scope(|scope| {
            let begin = |racer| {
                let round = round.clone();
                scope.spawn(move || Racer::write(racer, round, ledger, deadline))
            };
            let all: Vec<_> = racers.iter_mut().map(begin).collect();
            let ended = all.into_iter().map(|one| one.join().map_err(|_| anyhow!("a thread panicked"))?);
            ended.collect::<Vec<_>>().into_iter().collect::<Result<()>>()
        })?;
    }
    Ok(())
}
