//! `cargo xtask images`: images that `zarr pyramid` makes, read by other programs.

use std::fs;
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::build;
use crate::command::{answers, root, run as start, target_dir};
use crate::install::{npm, once, python, required};

/// Makes images, and reads them with ome-zarr-py, ngff-zarr, ome-zarr.js and OpenLayers.
pub(crate) fn run() -> Result<()> {
    for program in ["python3", "node", "npm"] {
        if !answers(Command::new(program).arg("--version")) {
            if required() {
                bail!("images: there is no {program}");
            }
            println!("images: skipped, there is no {program}");
            return Ok(());
        }
    }
    let source = root().join("conformance/images");
    let read = |name: &str| {
        let path = source.join(name);
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
    };
    let (environment, scripts) =
        (target_dir().join("peers/images-python"), target_dir().join("peers/images"));
    let requirements = source.join("requirements.txt");
    once(&environment, &read("requirements.txt")?, |folder| python("python3", folder, &requirements))?;
    once(&scripts, &read("package-lock.json")?, |folder| npm(folder, &source))?;

    let stores = target_dir().join("images");
    if stores.exists() {
        fs::remove_dir_all(&stores).with_context(|| format!("cannot delete {}", stores.display()))?;
    }
    let mut judge = Command::new(environment.join("bin/python"));
    start(judge.arg(source.join("judge.py")).arg(build::program("zarr")?).arg(&stores))?;
    // Node looks for packages beside the script.
    let script = scripts.join("judge.mjs");
    fs::copy(source.join("judge.mjs"), &script).with_context(|| script.display().to_string())?;
    start(Command::new("node").arg(&script).arg(&stores))
}
