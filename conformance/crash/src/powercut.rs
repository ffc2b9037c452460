//! Cuts the power of a disk some time after writes were acknowledged.

use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, sleep};
use std::time::Duration;

use anyhow::{Result, anyhow, bail};

use crate::disk::{Disk, FileSystem};
use crate::documents::{self, Tally, Verb};
use crate::report::{Promise, Report};
use crate::victim;
use crate::work::Work;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// How many cuts of each kind, on the file systems in turn
    #[arg(long, default_value_t = 6)]
    rounds: usize,
    /// Seconds between the last write and the cut
    #[arg(long, value_delimiter = ',', default_values_t = [0, 6])]
    after: Vec<u64>,
    /// The file systems
    #[arg(long, value_enum, value_delimiter = ',', default_values = ["ext4", "ext4-noauto", "xfs"])]
    file_system: Vec<FileSystem>,
    /// Only this kind of work
    #[arg(long)]
    work: Option<Work>,
    /// Only copies with the command
    #[arg(long, conflicts_with = "work")]
    copies: bool,
    /// Only verbs that replace documents
    #[arg(long, conflicts_with_all = ["work", "copies"])]
    documents: bool,
    /// Replace documents with `Durability::Deferred`; then some must get lost
    #[arg(long, requires = "documents")]
    deferred: bool,
}

/// The number of disks at once: they mostly wait.
const AT_ONCE: usize = 8;

pub(crate) fn run(args: &Args) -> Result<bool> {
    let is_there = |system: &FileSystem| match Disk::new(*system).and_then(|disk| disk.cut_power()) {
        Ok(()) => true,
        Err(error) => {
            println!("powercut: {} is left out, there is no such disk to cut: {error:#}", system.name());
            false
        }
    };
    let systems: Vec<FileSystem> = args.file_system.iter().copied().filter(is_there).collect();
    if systems.is_empty() {
        return Ok(true);
    }
    let mut is_good = true;
    if !args.copies && !args.documents {
        is_good &= works(args, &systems)?;
    }
    if args.work.is_none() && !args.documents {
        is_good &= copies(args, &systems)?;
    }
    if args.work.is_none() && !args.copies {
        is_good &= replaced(args, &systems)?;
    }
    Ok(is_good)
}

/// Lets `cut` make some rounds on the file systems in turn, `at_once` at the same time.
fn in_turn(
    rounds: usize,
    systems: &[FileSystem],
    at_once: usize,
    cut: impl Fn(u64, FileSystem) -> Result<()> + Sync,
) -> Result<()> {
    let all: Vec<_> = (0..).zip(systems.iter().copied().cycle()).take(rounds).collect();
    for some in all.chunks(at_once) {
        thread::scope(|scope| {
            let begin = |(round, system): &(u64, FileSystem)| {
                let (round, system, cut) = (*round, *system, &cut);
                scope.spawn(move || cut(round, system))
            };
            let begun: Vec<_> = some.iter().map(begin).collect();
            let ended = begun.into_iter().map(|one| one.join().map_err(|_| anyhow!("a thread panicked"))?);
            ended.collect::<Vec<_>>().into_iter().collect::<Result<()>>()
        })?;
    }
    Ok(())
}

/// Ends a report that threads have written to, and returns whether it is good.
fn concluded(report: Mutex<Report>) -> bool {
    let report = report.into_inner().unwrap_or_else(PoisonError::into_inner);
    println!("{report}");
    report.is_good()
}

fn judge(report: &Mutex<Report>, work: Work, disk: &Disk, promise: Promise) {
    report.lock().unwrap_or_else(PoisonError::into_inner).judge(work, &disk.path().join("store"), promise);
}

/// The power is cut after writers of each kind have ended.
fn works(args: &Args, systems: &[FileSystem]) -> Result<bool> {
    let mut is_good = true;
    for work in Work::all().iter().filter(|work| args.work.is_none_or(|only| only == **work)) {
        for durable in [true, false] {
            for seconds in &args.after {
                let level = if durable { "durable" } else { "atomic" };
                let report = Mutex::new(Report::new(format!("{} {level}, {seconds} s", work.name())));
                in_turn(args.rounds, systems, AT_ONCE, |_, system| {
                    cut(*work, durable, *seconds, system, &report)
                })?;
                is_good &= concluded(report);
            }
        }
    }
    Ok(is_good)
}

fn cut(work: Work, durable: bool, seconds: u64, system: FileSystem, report: &Mutex<Report>) -> Result<()> {
    const STEPS: u64 = 20;
    let disk = Disk::new(system)?;
    let path = disk.path().join("store");
    work.prepare(&path)?;
    let done = victim::command(work, &path, 1, Some(STEPS), durable)?.output()?;
    if !done.status.success() {
        bail!("the writer failed: {}", String::from_utf8_lossy(&done.stderr));
    }
    sleep(Duration::from_secs(seconds));
    disk.cut_power()?;
    judge(report, work, &disk, Promise { acknowledged: STEPS, begun: STEPS, lasting: durable });
    Ok(())
}

/// The power is cut after copies of the command, and while they are at work.
fn copies(args: &Args, systems: &[FileSystem]) -> Result<bool> {
    let mut is_good = true;
    for moment in args.after.iter().map(|seconds| Some(*seconds)).chain([None]) {
        let moment_name = moment.map_or("under way".to_owned(), |seconds| format!("{seconds} s"));
        let report = Mutex::new(Report::new(format!("copy, {moment_name}")));
        // Copies at the same time would be slower, and cut at other moments.
        let at_once = if moment.is_some() { AT_ONCE } else { 1 };
        in_turn(args.rounds, systems, at_once, |round, system| cut_copy(moment, round, system, &report))?;
        is_good &= concluded(report);
    }
    Ok(is_good)
}

/// Replaces an array with `zarr copy --if-exists replace`. Some seconds after that the power is cut, or while the command
/// is at work: then the old array or the new one must be there.
fn cut_copy(after: Option<u64>, round: u64, system: FileSystem, report: &Mutex<Report>) -> Result<()> {
    let [before, copied] = [1, 2];
    let (disk, elsewhere) = (Disk::new(system)?, tempfile::tempdir()?);
    let [old, new] = [disk.path().join("store"), elsewhere.path().join("store")];
    for (path, version) in [(&old, before), (&new, copied)] {
        Work::Chunk.prepare(path)?;
        Work::Chunk.step(path, version, true)?;
    }
    let mut copy = Command::new(std::env::current_exe()?);
    copy.args(["command", "copy", "--quiet", "--if-exists", "replace"]).args([&new, &old]);
    copy.stdin(Stdio::null());
    let acknowledged = match after {
        Some(seconds) => {
            let done = copy.output()?;
            if !done.status.success() {
                bail!("the copy failed: {}", String::from_utf8_lossy(&done.stderr));
            }
            sleep(Duration::from_secs(seconds));
            disk.cut_power()?;
            copied
        }
        None => {
            // To stop the disk takes some time, in which the copy begins earlier or later.
            let late = thread::spawn(move || {
                sleep(Duration::from_millis(round * 29 % 400));
                copy.output()
            });
            disk.stop()?;
            late.join().map_err(|_| anyhow!("the copy panicked"))??;
            disk.start()?;
            before
        }
    };
    judge(report, Work::Chunk, &disk, Promise { acknowledged, begun: copied, lasting: true });
    Ok(())
}

/// The power is cut after verbs have replaced documents.
fn replaced(args: &Args, systems: &[FileSystem]) -> Result<bool> {
    let mut lost = 0;
    for seconds in &args.after {
        let tallies: Vec<_> = systems.iter().map(|system| (*system, Mutex::new(Tally::default()))).collect();
        in_turn(args.rounds, systems, AT_ONCE, |_, system| {
            let disk = Disk::new(system)?;
            let stores = Verb::ALL.map(|verb| (verb, disk.path().join(verb.name())));
            stores.iter().try_for_each(|(_, store)| documents::prepare(store))?;
            for (verb, store) in &stores {
                if args.deferred { verb.by_library(store)? } else { verb.by_command(store)? }
            }
            sleep(Duration::from_secs(*seconds));
            disk.cut_power()?;
            let tally = tallies.iter().find(|(of, _)| *of == system);
            if let Some((_, tally)) = tally {
                tally.lock().unwrap_or_else(PoisonError::into_inner).judge(&stores);
            }
            Ok(())
        })?;
        for (system, tally) in tallies {
            let tally = tally.into_inner().unwrap_or_else(PoisonError::into_inner);
            let level = if args.deferred { " deferred" } else { "" };
            println!("documents{level}, {seconds} s, {}: {tally}", system.name());
            lost += tally.lost();
        }
    }
    Ok(args.deferred == (lost > 0))
}
