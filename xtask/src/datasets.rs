//! `cargo xtask datasets`: datasets that zarr-xarray writes, read by xarray, and the other way round.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::build;
use crate::command::{answers, root, run as start, target_dir};
use crate::install::{once, python, required};

const PACKAGE: &str = "zarr-xarray";

/// Compares datasets of zarr-xarray with those of xarray, in both directions.
pub(crate) fn run() -> Result<()> {
    if !answers(Command::new("python3").arg("--version")) {
        if required() {
            bail!("datasets: there is no python3");
        }
        println!("datasets: skipped, there is no python3");
        return Ok(());
    }
    let conformance = root().join("conformance/xarray");
    let (environment, requirements) =
        (target_dir().join("peers").join("xarray"), conformance.join("requirements.txt"));
    let pins = fs::read_to_string(&requirements)
        .with_context(|| format!("cannot read {}", requirements.display()))?;
    once(&environment, &pins, |folder| python("python3", folder, &requirements))?;

    let stores = target_dir().join("datasets");
    if stores.exists() {
        fs::remove_dir_all(&stores).with_context(|| format!("cannot delete {}", stores.display()))?;
    }
    let tests = build::all()?.tests(PACKAGE, "all")?;
    test(&tests, "stores_are_written_for_xarray", &stores)?;
    let mut judge = Command::new(environment.join("bin/python"));
    judge.arg(conformance.join("judge.py"));
    judge.arg(root().join("crates").join(PACKAGE).join("tests/fixtures/datasets.json"));
    start(judge.arg(&stores))?;
    test(&tests, "stores_of_xarray_are_read_as_xarray_reads_them", &stores)
}

/// Runs an ignored test of the crate.
fn test(tests: &Path, name: &str, stores: &Path) -> Result<()> {
    let mut test = Command::new(tests);
    test.args(["--ignored", "--nocapture", "--exact", &format!("datasets::judged::{name}")]);
    start(test.current_dir(root().join("crates").join(PACKAGE)).env("ZARR_XARRAY_STORES", stores))
}
