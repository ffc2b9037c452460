//! `cargo xtask bench`: compares our contender with its rivals, in a benchmark harness beside the project; measures how
//! costs change with sizes; records what releases reached; and makes a page of the results.

mod history;
mod lines;
mod page;
mod results;
mod text;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::command::{cargo, output, root, run as start, target_dir};

/// The harness and its options.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The folder of the harness [default: ../shared/bench]
    #[arg(long, value_name = "DIR")]
    harness: Option<PathBuf>,
    /// The target directory of the rivals' release builds [default: target/rivals]
    #[arg(long, value_name = "DIR")]
    rivals: Option<PathBuf>,
    /// Measure how costs change with the number of chunks, inner chunks and nodes, without rivals; write JSON to FILE
    #[arg(long, value_name = "FILE", conflicts_with_all = ["harness", "rivals", "page", "record"])]
    scaling: Option<PathBuf>,
    /// Write a page of results to FILE; the other arguments are files of `--scaling FILE` and of `--json FILE`
    #[arg(long, value_name = "FILE", conflicts_with_all = ["harness", "rivals", "record"])]
    page: Option<PathBuf>,
    /// Add the sums of files of `--json FILE`, the other arguments, to bench/history.json, which each page shows
    #[arg(long, value_name = "RELEASE", conflicts_with_all = ["harness", "rivals"])]
    record: Option<String>,
    /// Options of bench.py, such as --quick, --cells read-all or --json FILE; with --scaling only --quick
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<OsString>,
}

/// Builds the contender and runs the harness, or lists everything that is missing.
pub(crate) fn run(args: &Args) -> Result<()> {
    if let Some(file) = &args.scaling {
        return scaling(file, &args.args);
    }
    let sources = || args.args.iter().map(PathBuf::from).collect::<Vec<_>>();
    if let Some(file) = &args.page {
        return page(file, &sources(), &history::file());
    }
    if let Some(release) = &args.record {
        return history::record(&history::file(), release, &read(&sources())?.0);
    }
    let harness = args.harness.clone().unwrap_or_else(|| root().join("../shared/bench"));
    let script = harness.join("bench.py");
    let rivals = args.rivals.clone().unwrap_or_else(|| target_dir().join("rivals"));

    let mut missing = Vec::new();
    if !script.is_file() {
        missing.push(format!("the harness: {} does not exist (--harness DIR)", script.display()));
    }
    if !rivals.join("release").join("sol").is_file() {
        missing.push(format!(
            "the rivals: CARGO_TARGET_DIR={} cargo build --release --manifest-path {}",
            rivals.display(),
            harness.join("rust/Cargo.toml").display()
        ));
    }
    let python = std::env::var_os("BENCH_PY");
    if python.is_none() {
        missing.push("BENCH_PY: a Python with the packages that the harness' README names".to_owned());
    }
    let data = std::env::var_os("BENCH_DATA").map(PathBuf::from);
    if data.is_none() {
        missing.push("BENCH_DATA: a folder for 3.5 GB of data, best on a tmpfs".to_owned());
    }
    if !missing.is_empty() {
        bail!("the benchmark cannot run here; missing:\n  {}", missing.join("\n  "));
    }

    let mut add = OsString::from("ours=");
    add.push(built("bench-contender")?);
    start(
        Command::new("python3")
            .arg(script)
            .arg("--add")
            .arg(add)
            .args(&args.args)
            .env("CARGO_TARGET_DIR", rivals)
            .current_dir(root()),
    )
}

/// Builds a program of the contender, and returns its path.
fn built(program: &str) -> Result<PathBuf> {
    start(&mut cargo(["build", "--release", "--locked", "-p", "bench-contender", "--bin", program]))?;
    Ok(target_dir().join("release").join(format!("{program}{}", std::env::consts::EXE_SUFFIX)))
}

/// Measures the curves.
fn scaling(file: &Path, options: &[OsString]) -> Result<()> {
    let measured = output(Command::new(built("scaling")?).args(options))?;
    write(file, &measured)
}

/// Makes the page of some files of results.
fn page(file: &Path, sources: &[PathBuf], releases: &Path) -> Result<()> {
    let (results, names) = read(sources)?;
    write(file, &page::page(&results, &history::read(releases)?, &names))
}

/// Reads files of results. Returns their names as well.
fn read(sources: &[PathBuf]) -> Result<(results::Results, Vec<String>)> {
    if sources.is_empty() {
        bail!("name files of results: cargo xtask bench --page FILE.html RESULTS.json ...");
    }
    let mut results = results::Results::default();
    let mut names = Vec::new();
    for source in sources {
        let place = || source.display().to_string();
        results.add(&fs::read_to_string(source).with_context(place)?).with_context(place)?;
        names.push(source.file_name().unwrap_or_default().to_string_lossy().into_owned());
    }
    Ok((results, names))
}

/// Makes the page of the recorded samples.
pub(crate) fn sample(file: &Path) -> Result<()> {
    let samples = root().join("xtask/testdata/bench");
    let sources = ["first.json", "second.json", "scaling.json"].map(|name| samples.join(name));
    page(file, &sources, &samples.join("history.json"))
}

fn write(file: &Path, text: &str) -> Result<()> {
    fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))?;
    println!("wrote {}", file.display());
    Ok(())
}
