//! `cargo xtask bench`: compares our contender with its rivals, in a benchmark harness beside the project.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Result, bail};

use crate::command::{cargo, root, run as start, target_dir};

/// The harness and its options.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The folder of the harness [default: ../shared/bench]
    #[arg(long, value_name = "DIR")]
    harness: Option<PathBuf>,
    /// The target directory of the rivals' release builds [default: target/rivals]
    #[arg(long, value_name = "DIR")]
    rivals: Option<PathBuf>,
    /// Options of bench.py, such as --quick, --cells read-all or --json FILE
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<OsString>,
}

/// Builds the contender and runs the harness, or lists everything that is missing.
pub(crate) fn run(args: &Args) -> Result<()> {
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

    start(&mut cargo(["build", "--release", "--locked", "-p", "bench-contender"]))?;
    let ours = target_dir().join("release").join(format!("bench-contender{}", std::env::consts::EXE_SUFFIX));
    let mut add = OsString::from("ours=");
    add.push(ours);
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
