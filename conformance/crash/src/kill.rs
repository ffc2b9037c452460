//! Kills writers with SIGKILL at random times.

use std::fs::{self, File};
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use anyhow::Result;
use zarr_store_fs::FsStore;

use crate::random::Random;
use crate::report::{Promise, Report};
use crate::victim;
use crate::work::Work;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// How many writers to kill at each kind of work
    #[arg(long, default_value_t = 200)]
    rounds: u64,
    /// Only this kind of work
    #[arg(long)]
    work: Option<Work>,
    /// The seed of the random times
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

pub(crate) fn run(args: &Args) -> Result<bool> {
    let mut random = Random::new(args.seed);
    let folder = tempfile::tempdir()?;
    let mut is_good = true;
    for work in Work::all().iter().filter(|work| args.work.is_none_or(|only| only == **work)) {
        let path = folder.path().join(work.name());
        work.prepare(&path)?;
        let mut report = Report::new(work.name());
        let mut version = 0;
        for _ in 0..args.rounds {
            let promise = kill_one(*work, &path, version, &mut random)?;
            version = report.judge(*work, &path, promise).unwrap_or(version);
        }
        // The next writer goes on, whatever was left over.
        if let Err(error) = work.step(&path, version + 1, false) {
            report.fail(format!("the next writer: {error:#}"));
        }
        let left = FsStore::open(&path)?.sweep(Duration::ZERO)?;
        println!("{report}; {left} files left over, erased by a sweep");
        is_good &= report.is_good();
    }
    Ok(is_good)
}

/// Starts a writer, kills it, and returns what it has promised.
pub(crate) fn kill_one(work: Work, path: &Path, version: u64, random: &mut Random) -> Result<Promise> {
    let output = tempfile::NamedTempFile::new()?;
    let mut command = victim::command(work, path, version + 1, None, false)?;
    let mut writer = command.stdout(File::create(output.path())?).spawn()?;
    // The start of a process takes about 2 ms, a step takes less than one.
    sleep(Duration::from_micros(1000 + random.below(20_000)));
    writer.kill()?;
    writer.wait()?;
    let acknowledged = victim::acknowledged(&fs::read_to_string(output.path())?).unwrap_or(version);
    Ok(Promise { acknowledged, begun: acknowledged + 1, lasting: true })
}
