//! Cuts the power of a disk some time after writes were acknowledged.

use std::process::{Command, Stdio};
use std::thread::{self, sleep};
use std::time::Duration;

use anyhow::{Result, anyhow, bail};

use crate::disk::Disk;
use crate::report::{Promise, Report};
use crate::victim;
use crate::work::Work;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// How many cuts of each kind
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Seconds between the last write and the cut
    #[arg(long, value_delimiter = ',', default_values_t = [0, 6])]
    after: Vec<u64>,
    /// Only this kind of work
    #[arg(long)]
    work: Option<Work>,
    /// Only copies with the command
    #[arg(long, conflicts_with = "work")]
    copies: bool,
}

/// How ext4 is mounted: as usual, and without its care for programs that do not synchronise.
const MOUNTS: [&str; 2] = ["loop", "loop,noauto_da_alloc"];

pub(crate) fn run(args: &Args) -> Result<bool> {
    if let Err(error) = Disk::ext4(MOUNTS[0]).and_then(|disk| disk.cut_power()) {
        println!("powercut: skipped, there is no disk to cut ({error})");
        return Ok(true);
    }
    let mut is_good = true;
    let is_chosen = |work: &&Work| !args.copies && args.work.is_none_or(|only| only == **work);
    for work in Work::all().iter().filter(is_chosen) {
        for durable in [true, false] {
            for seconds in &args.after {
                let level = if durable { "durable" } else { "atomic" };
                let mut report = Report::new(format!("{} {level}, {seconds} s", work.name()));
                for mount in MOUNTS.iter().cycle().take(args.rounds) {
                    cut(*work, durable, *seconds, mount, &mut report)?;
                }
                println!("{report}");
                is_good &= report.is_good();
            }
        }
    }
    if args.work.is_none() {
        for moment in args.after.iter().map(|seconds| Some(*seconds)).chain([None]) {
            let moment_name = moment.map_or("under way".to_owned(), |seconds| format!("{seconds} s"));
            let mut report = Report::new(format!("copy, {moment_name}"));
            for (round, mount) in (0..).zip(MOUNTS.iter().cycle().take(args.rounds)) {
                cut_copy(moment, round, mount, &mut report)?;
            }
            println!("{report}");
            is_good &= report.is_good();
        }
    }
    Ok(is_good)
}

/// Replaces an array with `zarr copy --if-exists replace`. Some seconds after that the power is cut, or while the command
/// is at work: then the old array or the new one must be there.
fn cut_copy(after: Option<u64>, round: u64, mount: &'static str, report: &mut Report) -> Result<()> {
    let [before, copied] = [1, 2];
    let (disk, elsewhere) = (Disk::ext4(mount)?, tempfile::tempdir()?);
    let [old, new] = [disk.path().join("array"), elsewhere.path().join("array")];
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
    report.judge(Work::Chunk, &old, Promise { acknowledged, begun: copied, lasting: true });
    Ok(())
}

fn cut(work: Work, durable: bool, seconds: u64, mount: &'static str, report: &mut Report) -> Result<()> {
    const STEPS: u64 = 20;
    let disk = Disk::ext4(mount)?;
    let path = disk.path().join("store");
    work.prepare(&path)?;
    let done = victim::command(work, &path, 1, Some(STEPS), durable)?.output()?;
    if !done.status.success() {
        bail!("the writer failed: {}", String::from_utf8_lossy(&done.stderr));
    }
    sleep(Duration::from_secs(seconds));
    disk.cut_power()?;
    report.judge(work, &path, Promise { acknowledged: STEPS, begun: STEPS, lasting: durable });
    Ok(())
}
