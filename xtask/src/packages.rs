//! `cargo xtask python`, `cargo xtask npm`: the packages for other languages, built and tested by their own scripts.

use std::process::Command;

use anyhow::{Result, bail};

use crate::build;
use crate::command::{answers, root, run as start};
use crate::guard::Guard;
use crate::install::{chromium, python_since, required};

/// The version of zarr-python that every change is tested with. Others are tested nightly.
const ZARR: &str = "zarr==3.1.6";

/// What decides how the tests of the package for JavaScript end. The crates below it have tests of their own; only their
/// manifests say which features it has.
const NPM: Guard = Guard {
    name: "npm",
    files: &[
        "npm",
        "crates/zarr-store-fetch",
        "crates/*/Cargo.toml",
        "conformance/wasm",
        "xtask/src/packages.rs",
    ],
};

/// When to test the package for JavaScript.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Args {
    /// Only if it has not passed with these sources, which .ci/passed remembers
    #[arg(long)]
    if_changed: bool,
}

/// Builds, installs and tests the package for Python.
pub(crate) fn python() -> Result<()> {
    if !has("python3")? {
        return Ok(());
    }
    start(Command::new(root().join("python/test.sh")).args(["python3", ZARR]))
}

/// Runs the tests of xarray and Dask with the package for Python.
pub(crate) fn python_suites() -> Result<()> {
    if !has("python3")? {
        return Ok(());
    }
    start(&mut Command::new(root().join("python/suites/run.sh")))
}

/// Runs zarr-python's own tests with the package for Python. Its version there needs a newer Python than `python3` may be.
pub(crate) fn zarr_python_suite() -> Result<()> {
    let Some(python) = newer_python()? else { return Ok(()) };
    start(Command::new(root().join("python/suites/zarr-python.sh")).arg(python))
}

/// Runs the public benchmark harness once, on a small array.
pub(crate) fn public_harness() -> Result<()> {
    let Some(python) = newer_python()? else { return Ok(()) };
    let program = build::program("public")?;
    start(Command::new(root().join("bench/public/check.sh")).arg(python).arg(program))
}

/// Returns a Python that is new enough for what is tested. In CI there must be one.
fn newer_python() -> Result<Option<&'static str>> {
    let python = python_since("3.12");
    if python.is_none() && required() {
        bail!("there is no Python 3.12 or newer");
    }
    if python.is_none() {
        println!("skipped, there is no Python 3.12 or newer");
    }
    Ok(python)
}

/// Builds and tests the package for JavaScript, in Node and in a browser.
pub(crate) fn npm(args: &Args) -> Result<()> {
    NPM.run(args.if_changed, || {
        let can = has("npm")?;
        if can {
            start(Command::new(root().join("npm/test.sh")).env("CHROMIUM", chromium()?))?;
        }
        Ok(can)
    })
}

/// Whether a program is there. In CI it must be.
fn has(program: &str) -> Result<bool> {
    let has = answers(Command::new(program).arg("--version"));
    if !has && required() {
        bail!("there is no {program}");
    }
    if !has {
        println!("skipped, there is no {program}");
    }
    Ok(has)
}
