//! Runs the tests and the benchmarks of [the one build](crate::build), two programs at a time.
//!
//! Tests wait for clocks, locks and other processes, so one program at a time leaves a core idle. What tests count, such as
//! memory, is that of their own process.

use std::collections::VecDeque;
use std::process::{Command, Output, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use crate::build::{self, Kind, Program};

/// Programs of tests beside the one of their package, and why. [tidy](crate::tidy) refuses others: each is compiled and
/// linked with all that it needs.
pub(crate) const APART: [(&str, &str, &str); 9] = [
    ("zarr-array", "memory", "an allocator that counts"),
    ("zarr-codecs-core", "memory", "an allocator that counts, and the peak memory of the process"),
    ("zarr-conformance", "codec_flaws", "an allocator that counts"),
    ("zarr-copy", "memory", "an allocator that counts"),
    ("zarr-fuzz-targets", "replay", "an allocator that ends the process"),
    ("zarr-services", "hostile", "an allocator that counts"),
    ("zarr-store-fs", "reading", "the store without the feature `write`"),
    ("zarr-store-refs", "memory", "an allocator that counts"),
    ("zarr-xarray", "memory", "an allocator that counts"),
];

/// How many programs run at a time.
const AT_A_TIME: usize = 2;

/// Runs all tests and benchmarks.
pub(crate) fn run() -> Result<()> {
    run_programs(|program| program.kind != Kind::Program, &[])
}

/// Runs the large forms of tests, which take too long for every change: those that are ignored and begin with `large_`.
pub(crate) fn run_large() -> Result<()> {
    run_programs(|program| program.kind == Kind::Test, &["--ignored", "large_"])
}

/// Runs programs of the build with these arguments.
fn run_programs(chosen: impl Fn(&Program) -> bool, arguments: &[&str]) -> Result<()> {
    let mut programs = build::all()?.programs;
    programs.retain(chosen);
    // The tests of packages take the longest, so they begin.
    programs.sort_by_key(|program| program.kind != Kind::Test);
    let failed = Mutex::new(Vec::new());
    let run = |program: &Program| {
        let begun = Instant::now();
        let done = output(program, arguments);
        let is_ok = report(program, begun.elapsed(), &done);
        if !is_ok {
            failed.lock().unwrap_or_else(PoisonError::into_inner).push(title(program));
        }
    };
    let waiting = Mutex::new(VecDeque::from(programs));
    let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    thread::scope(|scope| {
        for _ in 0..AT_A_TIME {
            scope.spawn(|| std::iter::from_fn(next).for_each(|program| run(&program)));
        }
    });
    let failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
    if !failed.is_empty() {
        bail!("failed: {}", failed.join(", "));
    }
    Ok(())
}

/// Runs a program in the folder of its package, as cargo does.
fn output(program: &Program, arguments: &[&str]) -> Result<Output> {
    let mut command = Command::new(&program.file);
    command.args(arguments).current_dir(&program.folder).env("CARGO_MANIFEST_DIR", &program.folder);
    let output = command.stdin(Stdio::null()).output();
    output.with_context(|| format!("cannot start {}", program.file.display()))
}

/// Prints the result of a program, and whether it succeeded. The whole output is shown only if it failed.
fn report(program: &Program, time: Duration, done: &Result<Output>) -> bool {
    let head = format!("{:<44}{:>7.1} s", title(program), time.as_secs_f64());
    match done {
        Ok(output) if output.status.success() => {
            let said = String::from_utf8_lossy(&output.stdout);
            let last = said.lines().rev().find(|line| line.starts_with("test result:"));
            println!("{head}\n{}", last.unwrap_or("done"));
            true
        }
        Ok(output) => {
            let [said, errors] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
            println!("{head}  FAILED ({})\n{said}{errors}", output.status);
            false
        }
        Err(error) => {
            println!("{head}  FAILED\n{error:#}");
            false
        }
    }
}

/// Returns the name of a program for a person.
fn title(program: &Program) -> String {
    let kind = match program.kind {
        Kind::Program => "program",
        Kind::Unit => "unit tests",
        Kind::Test => "tests",
        Kind::Benchmark => "benchmark",
    };
    if program.kind == Kind::Unit {
        format!("{} {kind}", program.package)
    } else {
        format!("{} {kind} {}", program.package, program.name)
    }
}
