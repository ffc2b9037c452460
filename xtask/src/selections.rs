//! `cargo xtask selections`: random selections, compared with NumPy.

use std::fs;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result, bail};

use crate::build;
use crate::command::{answers, root, run as start, target_dir};
use crate::install::{once, python, required};

/// The peer whose Python environment has NumPy.
const PEER: &str = "zarr-python-3";

/// The number of cases and their seed.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The number of selections
    #[arg(long, default_value_t = 4000)]
    cases: u64,
    /// The seed of the random numbers
    #[arg(long, default_value_t = 7)]
    seed: u64,
}

/// Compares more selections than [`run`] does by default, each time others.
pub(crate) fn many() -> Result<()> {
    let seed = SystemTime::now().duration_since(UNIX_EPOCH).map_or(7, |since| since.as_secs());
    run(&Args { cases: 20_000, seed })
}

/// Compares reads and writes of random selections with NumPy, and some with zarr-python.
pub(crate) fn run(args: &Args) -> Result<()> {
    if !answers(Command::new("python3").arg("--version")) {
        if required() {
            bail!("selections: there is no python3");
        }
        println!("selections: skipped, there is no python3");
        return Ok(());
    }
    let (folder, requirements) = (target_dir().join("peers").join(PEER), peer_file("requirements.txt"));
    let pins = fs::read_to_string(&requirements)
        .with_context(|| format!("cannot read {}", requirements.display()))?;
    once(&folder, &pins, |folder| python("python3", folder, &requirements))?;
    let mut judge = Command::new(folder.join("bin/python"));
    judge.arg(root().join("conformance/selections/judge.py"));
    judge.arg(build::program("conformance-selections")?);
    start(judge.args([args.cases, args.seed].map(|number| number.to_string())))
}

fn peer_file(name: &str) -> std::path::PathBuf {
    root().join("conformance/peers").join(PEER).join(name)
}
