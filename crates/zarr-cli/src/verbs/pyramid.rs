//! `zarr pyramid`: makes levels of lower resolution beside an array.

mod archive;
mod into;
mod report;
mod settings;

use std::time::Instant;

use zarr_array::block_on;
use zarr_copy::{Event, RunOptions, SharedCopy};

use archive::Archive;

use crate::args::stores::Stores;
use crate::args::target::Target;
use crate::exit::{Exit, Failure, Outcome, say};
use crate::interrupt;
use crate::out::progress::Progress;
use crate::out::stdout::print;
pub(crate) use settings::Args;
use settings::{failed, left, metadata, settings};

pub(crate) fn run(args: &Args, stores: &Stores) -> Outcome {
    match args.destination.as_ref().and_then(|destination| Archive::of(destination, stores)) {
        Some(archive) => archive.fill(args, stores, |args| make(args, stores)),
        None => make(args, stores),
    }
}

fn make(args: &Args, stores: &Stores) -> Outcome {
    let metadata = metadata(args)?;
    let source = Target::to_change(&args.source, stores)?;
    let place = match &args.destination {
        None => source,
        Some(destination) => match into::copied(args, metadata.as_deref(), &source, destination, stores)? {
            Some(place) => place,
            None => return Ok(Exit::Ok),
        },
    };
    let pyramid = settings(args, &place, metadata.as_deref());
    let plans = block_on(pyramid.plan_all()).map_err(|e| failed(&e, &place))?;
    plans.notes().for_each(|note| say(&format!("note: {note}")));
    if args.dry_run {
        print(&if args.json { report::plan_json(&plans) } else { report::plan(&plans) })?;
        return Ok(Exit::Ok);
    }
    let rounds = if args.verify { 2 } else { 1 };
    let progress = Progress::new(plans.bytes().saturating_mul(rounds), args.quiet);
    let told = |event: Event<'_>| match event {
        Event::Array(path) => progress.at(path),
        Event::Bytes(bytes) => progress.add(bytes),
        _ => {}
    };
    let _interruptible = interrupt::saying(left(args));
    let since = Instant::now();
    if let Some(job) = &args.join {
        let job = SharedCopy::new(job)?.lease(args.lease).verify(args.verify);
        let share = block_on(plans.join(&job, &told));
        drop(progress);
        let share = share.map_err(|e| {
            let failure = failed(&e, &place);
            Failure::new(failure.exit(), format!("{}; {}", failure.message(), left(args)))
        })?;
        if args.json {
            print(&report::share_json(&plans, &share))?;
        } else if !args.quiet {
            print(&report::share(&plans, &share, since.elapsed()))?;
        }
        return Ok(Exit::Ok);
    }
    let options = RunOptions::new().resume(args.resume).verify(args.verify);
    let done = block_on(plans.run(options, &told));
    drop(progress);
    let done = done.map_err(|e| failed(&e, &place))?;
    if args.json {
        print(&report::summary_json(&plans, &done))?;
    } else if !args.quiet {
        print(&report::summary(&plans, &done, since.elapsed()))?;
    }
    Ok(Exit::Ok)
}
