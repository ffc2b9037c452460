//! A writer: it makes one version after the other, and prints the number of each that is acknowledged.

use std::io::{Write as _, stdout};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::work::Work;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[arg(long)]
    work: Work,
    #[arg(long)]
    path: PathBuf,
    /// The version to begin with
    #[arg(long)]
    from: u64,
    /// How many versions to make
    #[arg(long, default_value_t = u64::MAX)]
    steps: u64,
    #[arg(long)]
    durable: bool,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    for version in (args.from..=u64::MAX).take(usize::try_from(args.steps).unwrap_or(usize::MAX)) {
        args.work.step(&args.path, version, args.durable)?;
        // One system call, so that a killed process leaves only complete lines.
        stdout().lock().write_all(format!("{version}\n").as_bytes())?;
    }
    Ok(())
}

/// Returns the words after the name of this program that start a writer.
pub(crate) fn words(work: Work, path: &Path, from: u64, steps: Option<u64>, durable: bool) -> Vec<String> {
    let mut words = ["victim", "--work", work.name(), "--path"].map(str::to_owned).to_vec();
    words.extend([path.display().to_string(), "--from".to_owned(), from.to_string()]);
    if let Some(steps) = steps {
        words.extend(["--steps".to_owned(), steps.to_string()]);
    }
    if durable {
        words.push("--durable".to_owned());
    }
    words
}

/// Returns a command that starts a writer.
pub(crate) fn command(
    work: Work,
    path: &Path,
    from: u64,
    steps: Option<u64>,
    durable: bool,
) -> Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(words(work, path, from, steps, durable));
    Ok(command)
}

/// Returns the last version that a writer acknowledged, of what it printed.
pub(crate) fn acknowledged(output: &str) -> Option<u64> {
    output.lines().filter_map(|line| line.parse().ok()).next_back()
}
