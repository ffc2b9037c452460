//! Cuts the power of a disk some time after writes were acknowledged.

use std::thread::sleep;
use std::time::Duration;

use anyhow::{Result, bail};

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
}

/// How ext4 is mounted: as usual, and without its care for programs that do not synchronise.
const MOUNTS: [&str; 2] = ["loop", "loop,noauto_da_alloc"];

pub(crate) fn run(args: &Args) -> Result<bool> {
    if let Err(error) = Disk::ext4(MOUNTS[0]).and_then(|disk| disk.cut_power()) {
        println!("powercut: skipped, there is no disk to cut ({error})");
        return Ok(true);
    }
    let mut is_good = true;
    for work in Work::all().iter().filter(|work| args.work.is_none_or(|only| only == **work)) {
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
    Ok(is_good)
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
