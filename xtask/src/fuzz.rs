//! `cargo xtask fuzz`: the fuzz targets of `fuzz/`, each for some seconds.
//!
//! The programs are built for coverage by the toolchain of this program, so no nightly is needed, only a C++ compiler
//! for libFuzzer.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;
use std::{fs, thread};

use anyhow::{Context as _, Result, bail};

use crate::command::{answers, cargo, output, root, run as start, target_dir};

/// The instrumentation that libFuzzer needs: counters of edges, and the operands of comparisons.
const FLAGS: &str = "--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares";

/// How long to fuzz, and what.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Replay what once failed, then fuzz each target for 10 seconds; this is the default
    #[arg(long, conflicts_with = "long")]
    smoke: bool,
    /// Fuzz each target for 10 minutes
    #[arg(long)]
    long: bool,
    /// Fuzz each target for as many seconds
    #[arg(long, value_name = "N", conflicts_with_all = ["smoke", "long"])]
    seconds: Option<u64>,
    /// Only these targets
    #[arg(value_name = "TARGET")]
    targets: Vec<String>,
}

/// Replays what once failed, and fuzzes each target for ten seconds.
pub(crate) fn smoke() -> Result<()> {
    run(&Args { smoke: true, long: false, seconds: None, targets: Vec::new() })
}

/// Runs the fuzzers, as many at once as there are processors.
pub(crate) fn run(args: &Args) -> Result<()> {
    let host = output(cargo(["-vV"]).env_remove("RUSTFLAGS"))?;
    let host = host.lines().find_map(|l| l.strip_prefix("host: ")).unwrap_or_default().to_owned();
    if !answers(Command::new("c++").arg("--version")) || !host.contains("linux") {
        println!("fuzz: skipped, it runs on Linux with a C++ compiler");
        return Ok(());
    }
    let is_smoke = !args.long && args.seconds.is_none();
    let fuzzer = Fuzzer::build(&host, is_smoke)?;
    let targets = fuzzer.targets(&args.targets)?;
    fuzzer.replay(&targets)?;
    let seconds = args.seconds.unwrap_or(if args.long { 600 } else { 10 });
    let waiting = Mutex::new(VecDeque::from(targets));
    let failed = Mutex::new(Vec::new());
    println!("{:16} {:>12} {:>9} {:>8}", "target", "executions", "a second", "coverage");
    let workers = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(target) = next(&waiting) {
                    if let Err(error) = fuzzer.fuzz(&target, seconds, is_smoke) {
                        failed.lock().unwrap_or_else(PoisonError::into_inner).push(format!("{error:#}"));
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
    if !failed.is_empty() {
        bail!("{}", failed.join("\n"));
    }
    Ok(())
}

fn next(waiting: &Mutex<VecDeque<String>>) -> Option<String> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
}

/// The target that is a program of its own, and so runs many times as often.
const FRAMES: &str = "frames";

/// The built programs, and the folder of what they find.
struct Fuzzer {
    programs: PathBuf,
    work: PathBuf,
}

impl Fuzzer {
    /// Builds the programs. Ten seconds of fuzzing are not worth minutes of optimisation.
    fn build(host: &str, is_smoke: bool) -> Result<Self> {
        let work = target_dir().join("fuzz");
        let manifest = root().join("fuzz/Cargo.toml");
        // One after the other: built together, they would have the codecs of both.
        for package in ["zarr-fuzz", "zarr-fuzz-frames"] {
            let mut build = cargo(["build", "--quiet", "--locked", "--release", "--features", "libfuzzer"]);
            // `--target` keeps the instrumentation out of build scripts.
            build.args(["--package", package, "--target", host, "--manifest-path"]).arg(&manifest);
            if is_smoke {
                build.env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1");
            }
            start(build.env("RUSTFLAGS", FLAGS).env("CARGO_TARGET_DIR", &work))?;
        }
        Ok(Self { programs: work.join(host).join("release"), work })
    }

    /// Returns the program of a target, which it knows by the variable.
    fn program(&self, target: &str) -> Command {
        let mut program =
            Command::new(self.programs.join(if target == FRAMES { "fuzz-frames" } else { "fuzz" }));
        program.env("ZARR_FUZZ", target);
        program
    }

    /// Returns the chosen targets. All are where the seeds are: a folder for each.
    fn targets(&self, chosen: &[String]) -> Result<Vec<String>> {
        let corpus = self.work.join("corpus");
        start(self.program("").env("ZARR_FUZZ_SEEDS", &corpus))?;
        fs::create_dir_all(corpus.join(FRAMES))?;
        let names = fs::read_dir(&corpus)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
        let mut names: Vec<String> = names.collect::<Result<_>>()?;
        names.sort();
        if let Some(unknown) = chosen.iter().find(|name| !names.contains(name)) {
            bail!("there is no target {unknown:?}, the targets are: {}", names.join(", "));
        }
        names.retain(|name| chosen.is_empty() || chosen.contains(name));
        Ok(names)
    }

    /// Runs what once failed.
    fn replay(&self, targets: &[String]) -> Result<()> {
        for target in targets {
            let folder = root().join("fuzz/corpus").join(target);
            if folder.exists() {
                let files = fs::read_dir(folder)?.map(|entry| Ok(entry?.path()));
                let files = files.collect::<Result<Vec<_>>>()?;
                output(self.program(target).args(files))?;
            }
        }
        Ok(())
    }

    /// Fuzzes one target and prints a row of figures. The smoke test has the same random numbers each time, so that it does
    /// not fail for a change that has nothing to do with it.
    fn fuzz(&self, target: &str, seconds: u64, is_smoke: bool) -> Result<()> {
        let failures = self.work.join("failures");
        fs::create_dir_all(&failures)?;
        let begun = Instant::now();
        let mut fuzz = self.program(target);
        fuzz.stdin(Stdio::null());
        fuzz.args(["-timeout=20", "-rss_limit_mb=2048", "-print_final_stats=1", "-verbosity=1"]);
        fuzz.arg(format!("-max_total_time={seconds}"));
        if is_smoke {
            fuzz.arg("-seed=1");
        }
        fuzz.arg(format!("-artifact_prefix={}/{target}-", failures.display()));
        let done =
            fuzz.arg(self.work.join("corpus").join(target)).output().context("cannot start the fuzzer")?;
        let log = String::from_utf8_lossy(&done.stderr);
        if !done.status.success() {
            bail!(
                "{target} failed ({}):\n{}\n{}",
                done.status,
                last_lines(&log),
                self.advice(target, &failures)
            );
        }
        let runs = number_after(&log, "stat::number_of_executed_units:").unwrap_or(0);
        let rate = runs / begun.elapsed().as_secs().max(1);
        println!("{target:16} {runs:>12} {rate:>9} {:>8}", number_after(&log, "cov: ").unwrap_or(0));
        Ok(())
    }

    fn advice(&self, target: &str, failures: &Path) -> String {
        format!(
            "The input is in {}. To run it again: ZARR_FUZZ={target} {} INPUT. Once it is mended, the input belongs \
             into fuzz/corpus/{target}.",
            failures.display(),
            Path::new(self.program(target).get_program()).display()
        )
    }
}

/// Returns the number after the last `label` of a log.
fn number_after(log: &str, label: &str) -> Option<u64> {
    log.rsplit_once(label)?.1.split_whitespace().next()?.parse().ok()
}

fn last_lines(log: &str) -> String {
    let lines: Vec<&str> = log.lines().collect();
    lines[lines.len().saturating_sub(30)..].join("\n")
}
