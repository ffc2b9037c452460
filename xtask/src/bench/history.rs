//! What releases reached: `bench/history.json`, to which `cargo xtask bench --record` adds.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use serde::{Deserialize, Serialize};

use super::results::{Results, Sums};
use crate::command::{output, root};

/// The sums of one release, of all cells that its runs have.
#[derive(Debug, Deserialize, PartialEq, Serialize)]
pub(super) struct Milestone {
    pub(super) release: String,
    /// The day of the commit that was measured, such as `2026-11-23`.
    pub(super) date: String,
    pub(super) machine: String,
    /// The other implementations and their versions.
    pub(super) others: String,
    pub(super) cells: usize,
    /// The geometric mean of the speeds, each beside the fastest other implementation of its cell.
    pub(super) speed: f64,
    /// The geometric mean of the CPU times, each divided by that of a program that knows the layout.
    pub(super) cpu: f64,
    /// The cells in which another implementation is faster.
    pub(super) behind: usize,
    pub(super) slowest: String,
}

/// The file of all milestones.
pub(super) fn file() -> PathBuf {
    root().join("bench/history.json")
}

/// Reads milestones, the oldest first.
pub(super) fn read(file: &Path) -> Result<Vec<Milestone>> {
    let place = || file.display().to_string();
    serde_json::from_str(&fs::read_to_string(file).with_context(place)?).with_context(place)
}

/// Adds the sums of `results` to the file, in place of those of the same release.
pub(super) fn record(file: &Path, release: &str, results: &Results) -> Result<()> {
    let sums = Sums::of(&results.cells);
    let Some((name, least)) = sums.slowest else {
        bail!("no cell has another implementation beside ours");
    };
    let day = output(Command::new("git").args(["log", "-1", "--format=%cs"]).current_dir(root()))?;
    let mut all = read(file)?;
    all.retain(|milestone| milestone.release != release);
    all.push(Milestone {
        release: release.to_owned(),
        date: day.trim().to_owned(),
        machine: machine(),
        others: results.others().join(", "),
        cells: sums.beside,
        speed: rounded(sums.speed),
        cpu: rounded(sums.cpu),
        behind: sums.behind,
        slowest: format!("{name} {least:.2}"),
    });
    fs::write(file, serde_json::to_string_pretty(&all)? + "\n")
        .with_context(|| file.display().to_string())?;
    println!("wrote {}", file.display());
    Ok(())
}

fn rounded(number: f64) -> f64 {
    (number * 1000.0).round() / 1000.0
}

/// The number and the name of the processors.
fn machine() -> String {
    let count = std::thread::available_parallelism().map_or(1, usize::from);
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    format!("{count} × {}", name.map_or(std::env::consts::ARCH, |(_, name)| name.trim()))
}
