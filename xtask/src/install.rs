//! Installs third-party programs below the target folder.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Instant;

use anyhow::{Context as _, Result, anyhow, bail};

use crate::command::{answers, output};

/// Installs all programs at the same time. If one fails, the others are still installed.
pub(crate) fn all<'a>(
    installers: impl IntoIterator<Item = (&'a str, Box<dyn FnOnce() -> Result<String> + Send + 'a>)>,
) -> Result<()> {
    let mut failed = Vec::new();
    thread::scope(|scope| {
        // Threads, because installing mostly waits for the network.
        let begun: Vec<_> = installers
            .into_iter()
            .map(|(name, install)| {
                let timed = move || {
                    let since = Instant::now();
                    (install(), since.elapsed().as_secs_f64())
                };
                (name, scope.spawn(timed))
            })
            .collect();
        for (name, thread) in begun {
            let (done, time) = thread.join().unwrap_or_else(|_| (Err(anyhow!("it panicked")), 0.0));
            let what = done.unwrap_or_else(|error| {
                failed.push(name);
                format!("failed: {error:#}")
            });
            println!("{name:<16}{time:>7.1} s  {what}");
        }
    });
    if failed.is_empty() { Ok(()) } else { bail!("not installed: {}", failed.join(", ")) }
}

/// Runs `install` with an empty folder, unless it has been completed there with the same `pins`.
pub(crate) fn once(folder: &Path, pins: &str, install: impl FnOnce(&Path) -> Result<()>) -> Result<String> {
    let mark = folder.join("installed");
    if fs::read_to_string(&mark).is_ok_and(|installed| installed == pins) {
        return Ok("is already installed".to_owned());
    }
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    install(folder)?;
    fs::write(&mark, pins)?;
    Ok("is installed".to_owned())
}

/// Returns a Python of this machine that is at least this version, such as `3.12`: `python3` if it is.
pub(crate) fn python_since(oldest: &str) -> Option<&'static str> {
    let check = format!("import sys; sys.exit(sys.version_info < ({}))", oldest.replace('.', ", "));
    let is_new = |name: &&str| answers(Command::new(name).args(["-c", &check]));
    ["python3", "python3.14", "python3.13", "python3.12"].into_iter().find(is_new)
}

/// Creates a Python environment in `folder` with the pinned packages of a requirements file.
pub(crate) fn python(python: &str, folder: &Path, requirements: &Path) -> Result<()> {
    output(Command::new(python).args(["-m", "venv"]).arg(folder))?;
    let mut pip = Command::new(folder.join("bin/python"));
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile"]);
    output(pip.arg("--requirement").arg(requirements)).map(drop)
}

/// Installs the packages of the `package.json` and lock file in `source` into `folder`. It runs no package scripts.
pub(crate) fn npm(folder: &Path, source: &Path) -> Result<()> {
    for name in ["package.json", "package-lock.json"] {
        fs::copy(source.join(name), folder.join(name)).with_context(|| source.display().to_string())?;
    }
    let mut npm = Command::new("npm");
    npm.args(["ci", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"]);
    output(npm.current_dir(folder)).map(drop)
}

/// Installs a package of Debian, which needs root.
pub(crate) fn debian(package: &str) -> Result<()> {
    let is_root = output(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0");
    if !is_root || !answers(Command::new("apt-get").arg("--version")) {
        bail!("{package} is missing: install the system package {package}");
    }
    output(Command::new("apt-get").args(["update", "-qq"]))?;
    let mut apt = Command::new("apt-get");
    apt.env("DEBIAN_FRONTEND", "noninteractive");
    output(apt.args(["install", "-y", "-qq", "--no-install-recommends", package])).map(drop)
}

/// Returns the browser for tests of pages: `$CHROMIUM`, or Chromium of the system. Where a missing program is an error,
/// it is installed.
pub(crate) fn chromium() -> Result<String> {
    let chromium = std::env::var("CHROMIUM").unwrap_or_else(|_| "/usr/bin/chromium".to_owned());
    if required() && !answers(Command::new(&chromium).arg("--version")) {
        debian("chromium")?;
    }
    Ok(chromium)
}

/// Whether a missing program on this machine is an error, as in CI, or is skipped.
pub(crate) fn required() -> bool {
    std::env::var_os("ZARR_PEERS").is_some_and(|value| value == "required")
}
