//! Writers at every kind of work for a long time. Some are killed, one of each kind lives on: its memory must not grow.

use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use std::{fs, thread};

use anyhow::{Context as _, Result, bail, ensure};
use zarr_store_fs::FsStore;

use crate::kill::kill_one;
use crate::random::Random;
use crate::report::Report;
use crate::victim;
use crate::work::Work;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// How long
    #[arg(long, default_value_t = 3600)]
    seconds: u64,
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// The growth of a writer after it is warm that is not taken for a leak, in KiB.
const GROWTH: u64 = 2048;

pub(crate) fn run(args: &Args) -> Result<bool> {
    let folder = tempfile::tempdir()?;
    let end = Instant::now() + Duration::from_secs(args.seconds);
    // `Append` has one step cost more than the one before; it is killed, but does not run for hours.
    let lasting: Vec<Work> = Work::all().iter().copied().filter(|work| *work != Work::Append).collect();
    let results = thread::scope(|scope| {
        let watched = lasting.iter().map(|work| {
            let path = folder.path().join(format!("{}-watched", work.name()));
            scope.spawn(move || watch(*work, &path, end))
        });
        let watched: Vec<_> = watched.collect();
        let killed = scope.spawn(|| kill_until(folder.path(), args.seed, end));
        let mut results: Vec<Result<bool>> = watched.into_iter().map(joined).collect();
        results.push(joined(killed));
        results
    });
    results.into_iter().try_fold(true, |all, one| Ok(all & one?))
}

fn joined(handle: thread::ScopedJoinHandle<'_, Result<bool>>) -> Result<bool> {
    handle.join().unwrap_or_else(|_| bail!("a thread panicked"))
}

/// Lets one writer work until `end`, and compares its memory with that of its first tenth.
fn watch(work: Work, path: &Path, end: Instant) -> Result<bool> {
    work.prepare(path)?;
    let begun = Instant::now();
    let warm = begun + (end - begun) / 10;
    let mut writer = Writer(victim::command(work, path, 1, None, false)?.stdout(Stdio::null()).spawn()?);
    let (mut first, mut last) = (0, 0);
    while Instant::now() < end {
        sleep(Duration::from_millis(200));
        ensure!(writer.0.try_wait()?.is_none(), "the writer of {} has ended", work.name());
        last = memory(writer.0.id())?;
        if Instant::now() < warm {
            first = first.max(last);
        }
    }
    let is_flat = last <= first + GROWTH;
    println!(
        "{:24} {first} KiB when warm, {last} KiB at the end{}",
        work.name(),
        if is_flat { "" } else { ": it grows" }
    );
    Ok(is_flat)
}

struct Writer(Child);

impl Drop for Writer {
    fn drop(&mut self) {
        // Both fail only if the process has ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The resident memory of a process, in KiB.
fn memory(process: u32) -> Result<u64> {
    let status = fs::read_to_string(PathBuf::from(format!("/proc/{process}/status")))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}

/// Kills writers of all kinds in turn until `end`. At the end no file is left over.
fn kill_until(folder: &Path, seed: u64, end: Instant) -> Result<bool> {
    let mut random = Random::new(seed);
    let mut stores = Vec::new();
    for work in Work::all() {
        let path = folder.join(work.name());
        work.prepare(&path)?;
        stores.push((*work, path, Report::new(format!("{}, killed", work.name())), 0));
    }
    while Instant::now() < end {
        for (work, path, report, version) in &mut stores {
            let promise = kill_one(*work, path, *version, &mut random)?;
            *version = report.judge(*work, path, promise).unwrap_or(*version);
        }
    }
    let mut is_good = true;
    for (_, path, report, _) in &stores {
        let swept = FsStore::open(path)?.sweep(Duration::ZERO)?;
        println!("{report}; {swept} files left over, erased by a sweep");
        is_good &= report.is_good() && FsStore::open(path)?.sweep(Duration::ZERO)? == 0;
    }
    Ok(is_good)
}
