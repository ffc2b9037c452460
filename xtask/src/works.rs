//! `cargo xtask works`: the instructions of small works of `bench/works`, counted by Callgrind, beside those that are
//! recorded. Unlike times they hardly differ between runs, so a loss of some percent is seen on any machine.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use anyhow::{Context as _, Result, bail};

use crate::command::{answers, cargo, output, root, run as start, target_dir};
use crate::install::{debian, required};

/// The recorded counts, relative to the root of the project.
const RECORDED: &str = "bench/works.txt";

/// How often a work is done in the two runs whose difference counts.
const COUNTS: [u64; 2] = [20, 120];

/// The part of a recorded count by which a count may differ: hash tables have other orders in each run.
const TOLERANCE: f64 = 0.05;

/// What to do with counts that differ.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Args {
    /// Write the counts into bench/works.txt
    #[arg(long)]
    update: bool,
}

/// Counts, and fails if a work has become more costly.
pub(crate) fn run(args: &Args) -> Result<()> {
    let has = || answers(Command::new("valgrind").arg("--version"));
    if !has() && required() {
        debian("valgrind")?;
    }
    if !has() {
        println!("works: skipped, there is no valgrind");
        return Ok(());
    }
    start(&mut cargo(["build", "--quiet", "--locked", "--release", "-p", "bench-works"]))?;
    let counted = count_all(&target_dir().join("release/bench-works"))?;
    let file = root().join(RECORDED);
    let recorded = parse(&fs::read_to_string(&file).unwrap_or_default())?;
    println!("{:<16}{:>12} {:>12} {:>8}", "work", "recorded", "now", "");
    let (mut lost, mut differing) = (Vec::new(), 0);
    for (name, now) in &counted {
        let Some(before) = recorded.get(name) else {
            println!("{name:<16}{:>12} {now:>12}", "-");
            differing += 1;
            continue;
        };
        let change = *now as f64 / *before as f64 - 1.0;
        println!("{name:<16}{before:>12} {now:>12} {:>+7.1} %", 100.0 * change);
        differing += usize::from(change.abs() > TOLERANCE);
        if change > TOLERANCE {
            lost.push(name.as_str());
        }
    }
    if args.update {
        return fs::write(&file, written(&counted)).with_context(|| file.display().to_string());
    }
    if !lost.is_empty() {
        bail!(
            "more instructions than in {RECORDED}: {}; if that is meant, run cargo xtask works --update",
            lost.join(", ")
        );
    }
    if differing > 0 {
        println!("{differing} works differ from {RECORDED}: run cargo xtask works --update");
    }
    Ok(())
}

/// Returns the instructions of each work, once done.
fn count_all(program: &Path) -> Result<BTreeMap<String, u64>> {
    let names = output(&mut Command::new(program))?;
    let names: Vec<&str> = names.lines().collect();
    let half = names.len().div_ceil(2);
    // Two at a time, on machines of two cores.
    let counted: Vec<Result<Vec<(String, u64)>>> = thread::scope(|scope| {
        let parts: Vec<_> =
            names.chunks(half.max(1)).map(|part| scope.spawn(move || count_some(program, part))).collect();
        parts.into_iter().map(|part| part.join().unwrap_or_else(|_| bail!("counting panicked"))).collect()
    });
    counted.into_iter().collect::<Result<Vec<_>>>().map(|parts| parts.into_iter().flatten().collect())
}

fn count_some(program: &Path, names: &[&str]) -> Result<Vec<(String, u64)>> {
    let one = |name: &str| -> Result<(String, u64)> {
        let [few, many] = COUNTS.map(|count| instructions(program, name, count));
        Ok((name.to_owned(), many?.saturating_sub(few?) / (COUNTS[1] - COUNTS[0])))
    };
    names.iter().map(|name| one(name)).collect()
}

/// Returns the instructions of a run.
fn instructions(program: &Path, name: &str, count: u64) -> Result<u64> {
    let mut command = Command::new("valgrind");
    command
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .args([name, &count.to_string()]);
    let done = command.stdout(Stdio::null()).output().context("valgrind")?;
    let report = String::from_utf8_lossy(&done.stderr);
    let total =
        report.lines().find_map(|line| line.split_once("Collected :")).map(|(_, number)| number.trim());
    match total.filter(|_| done.status.success()) {
        Some(number) => number.parse().with_context(|| format!("{name}: {number}")),
        None => bail!("{name}: {report}"),
    }
}

/// Reads the lines `name count`.
fn parse(text: &str) -> Result<BTreeMap<String, u64>> {
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    let line = |line: &str| {
        let (name, count) = line.split_once(' ').with_context(|| format!("{RECORDED}: {line}"))?;
        Ok((name.to_owned(), count.trim().parse().with_context(|| format!("{RECORDED}: {line}"))?))
    };
    lines.map(line).collect()
}

fn written(counts: &BTreeMap<String, u64>) -> String {
    let mut text =
        "# Instructions of each work of bench/works, by `cargo xtask works --update`.\n".to_owned();
    for (name, count) in counts {
        let _ = writeln!(text, "{name:<15} {count}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let counts = BTreeMap::from([("open".to_owned(), 88_000), ("read-element".to_owned(), 17_470)]);
        assert_eq!(parse(&written(&counts)).unwrap(), counts);
        assert!(parse("open many").is_err());
    }
}
