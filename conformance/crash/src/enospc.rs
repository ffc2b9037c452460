//! Writes until the disk is full.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use anyhow::Result;
use zarr_array::traits::StoreError;

use crate::disk::Disk;
use crate::report::{Promise, Report};
use crate::work::Work;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// How many writes to try on the full disk, at each kind of work
    #[arg(long, default_value_t = 50)]
    rounds: u64,
}

pub(crate) fn run(args: &Args) -> Result<bool> {
    let disk = match Disk::in_memory(4 << 20) {
        Ok(disk) => disk,
        Err(error) => {
            println!("enospc: skipped, a disk in memory cannot be mounted ({error:#})");
            return Ok(true);
        }
    };
    let mut is_good = true;
    for work in Work::all() {
        let path = disk.path().join(work.name());
        work.prepare(&path)?;
        let mut report = Report::new(work.name());
        let mut version = 0;
        let filler = disk.path().join("filler");
        let (mut written, mut refused) = (0, 0);
        for round in 0..args.rounds {
            // Between no room at all and enough for a step or two.
            fill(&filler, round % 12 * 4096)?;
            let done = work.step(&path, version + 1, false);
            if let Err(error) = &done
                && !is_full(error)
            {
                report.fail(format!("refused for another reason than the full disk: {error:#}"));
            }
            let acknowledged = version + u64::from(done.is_ok());
            *if done.is_ok() { &mut written } else { &mut refused } += 1;
            let promise = Promise { acknowledged, begun: version + 1, lasting: true };
            version = report.judge(*work, &path, promise).unwrap_or(version);
            fs::remove_file(&filler)?;
        }
        if let Err(error) = work.step(&path, version + 1, false) {
            report.fail(format!("with room again: {error:#}"));
        }
        if refused == 0 {
            report.fail("the disk was never full".to_owned());
        }
        println!("{report}; {written} written, {refused} refused");
        is_good &= report.is_good();
        fs::remove_dir_all(&path)?;
    }
    Ok(is_good)
}

/// Whether the error says that the disk is full, by its number.
fn is_full(error: &anyhow::Error) -> bool {
    const ENOSPC: i32 = 28;
    let mut causes = error.chain();
    causes.any(|e| e.downcast_ref::<StoreError>().and_then(StoreError::raw_os_error) == Some(ENOSPC))
}

/// Fills the disk but for `room` bytes.
fn fill(filler: &Path, room: u64) -> Result<()> {
    let mut file = fs::File::create(filler)?;
    let mut length = 0;
    while file.write_all(&[1; 4096]).is_ok() {
        length += 4096;
    }
    file.set_len(u64::saturating_sub(length, room))?;
    Ok(())
}
