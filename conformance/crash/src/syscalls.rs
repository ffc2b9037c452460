//! Lets each system call of a writer fail once, by strace.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::report::{Promise, Report};
use crate::victim;
use crate::work::Work;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only this kind of work
    #[arg(long)]
    work: Option<Work>,
    /// Only these system calls
    #[arg(long, value_delimiter = ',')]
    calls: Vec<String>,
    /// Only these faults: an error such as EIO, or KILL
    #[arg(long, value_delimiter = ',')]
    faults: Vec<String>,
}

/// The calls that a writer makes to change a directory. `?` allows those that a platform lacks.
const CALLS: [&str; 14] = [
    "openat",
    "write",
    "pwrite64",
    "pwritev",
    "ftruncate",
    "fsync",
    "fdatasync",
    "rename",
    "renameat",
    "renameat2",
    "linkat",
    "unlink",
    "unlinkat",
    "mkdir",
];
const FAULTS: [&str; 4] = ["EIO", "ENOSPC", "EINTR", "KILL"];

pub(crate) fn run(args: &Args) -> Result<bool> {
    if !Command::new("strace")
        .args(["-o", "/dev/null", "true"])
        .output()
        .is_ok_and(|done| done.status.success())
    {
        println!("syscalls: skipped, strace is missing or may not trace");
        return Ok(true);
    }
    let chosen = |given: &[String], all: &[&str]| match given {
        [] => all.iter().map(|name| (*name).to_owned()).collect(),
        given => given.to_vec(),
    };
    let (calls, faults) = (chosen(&args.calls, &CALLS), chosen(&args.faults, &FAULTS));
    let mut is_good = true;
    for work in Work::all().iter().filter(|work| args.work.is_none_or(|only| only == **work)) {
        for durable in [false, true] {
            let folder = tempfile::tempdir()?;
            let path = folder.path().join(work.name());
            work.prepare(&path)?;
            let mut report =
                Report::new(format!("{}{}", work.name(), if durable { ", durable" } else { "" }));
            let mut version = 0;
            for call in &calls {
                for fault in &faults {
                    version = each(*work, &path, durable, version, [call, fault], &mut report)?;
                }
            }
            println!("{report}");
            is_good &= report.is_good();
        }
    }
    Ok(is_good)
}

/// Lets the first such call fail, then the second, until a writer makes fewer calls. Returns the version of the store.
fn each(
    work: Work,
    path: &Path,
    durable: bool,
    mut version: u64,
    [call, fault]: [&str; 2],
    report: &mut Report,
) -> Result<u64> {
    let log = tempfile::NamedTempFile::new()?;
    for when in 1.. {
        let how = if fault == "KILL" { "signal=KILL".to_owned() } else { format!("error={fault}") };
        let mut strace = Command::new("strace");
        strace.args(["-f", "-qq", "-o"]).arg(log.path());
        strace.args(["-e", &format!("trace={call}"), "-e", &format!("inject={call}:{how}:when={when}")]);
        let done = strace
            .arg(std::env::current_exe()?)
            .args(victim::words(work, path, version + 1, Some(1), durable))
            .output()?;
        let output = String::from_utf8_lossy(&done.stdout);
        let acknowledged = victim::acknowledged(&output).unwrap_or(version);
        let traced = fs::read_to_string(log.path()).context("strace wrote no log")?;
        // strace ends by the signal that has ended the writer.
        if !traced.contains("(INJECTED)") && done.status.signal().is_none() {
            // No such call, or no more of them: the writer must have done its work.
            return Ok(acknowledged);
        }
        let promise = Promise { acknowledged, begun: version + 1, lasting: true };
        version = report.judge(work, path, promise).unwrap_or(version);
        // The next writer goes on.
        if let Err(error) = work.step(path, version + 1, false) {
            report.fail(format!("after {call} {when} with {fault}: {error:#}"));
            return Ok(version);
        }
        version += 1;
        remove_empty_folders(path)?;
    }
    Ok(version)
}

/// Removes the folders of groups that a writer with a fault has made or emptied. They do no harm, but each costs a listing
/// a call more, so that the number of calls would grow with each fault.
fn remove_empty_folders(path: &Path) -> Result<()> {
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            // A folder with an object is not empty, and stays.
            let _ = fs::remove_dir(entry.path());
        }
    }
    Ok(())
}
