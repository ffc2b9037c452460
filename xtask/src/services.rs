//! `cargo xtask services`: what stores in the network are tested against (docs/SERVICES.md).

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Instant;

use anyhow::{Context as _, Result, anyhow, bail};

use crate::command::{answers, output, root};

/// What there is to do.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Install moto and Azurite below the target folder, and nginx by the system's packages if that is allowed
    Install,
}

/// Needs no more than Node.js 10; later versions need 21.
const AZURITE: &str = "azurite@3.35.0";

const REQUIREMENTS: &str = "conformance/services/requirements.txt";

/// Does it.
pub(crate) fn run(args: &Args) -> Result<()> {
    match args.action {
        Action::Install => install(),
    }
}

/// All of them, also where one fails: the others are of use without it.
fn install() -> Result<()> {
    type Installer = fn() -> Result<String>;
    let services: [(&str, Installer); 3] = [("moto", moto), ("azurite", azurite), ("nginx", nginx)];
    let timed = |install: Installer| {
        let since = Instant::now();
        (install(), since.elapsed().as_secs_f64())
    };
    // They wait for the network most of the time.
    let begun = services.map(|(name, install)| (name, thread::spawn(move || timed(install))));
    let mut failed = Vec::new();
    for (name, thread) in begun {
        let (done, time) = thread.join().unwrap_or_else(|_| (Err(anyhow!("it panicked")), 0.0));
        let what = done.unwrap_or_else(|error| {
            failed.push(name);
            format!("failed: {error:#}")
        });
        println!("{name:<10}{time:>7.1} s  {what}");
    }
    if failed.is_empty() { Ok(()) } else { bail!("not installed: {}", failed.join(", ")) }
}

/// Into a Python environment of its own.
fn moto() -> Result<String> {
    let requirements = root().join(REQUIREMENTS);
    let pins = fs::read_to_string(&requirements).with_context(|| format!("cannot read {REQUIREMENTS}"))?;
    once("moto", &pins, |folder| {
        output(Command::new("python3").args(["-m", "venv"]).arg(folder))?;
        let mut pip = Command::new(folder.join("bin/python"));
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile"]);
        output(pip.arg("--requirement").arg(&requirements)).map(drop)
    })
}

/// Into a folder of its own. No script of a package is run.
fn azurite() -> Result<String> {
    once("azurite", AZURITE, |folder| {
        let mut npm = Command::new("npm");
        npm.args(["install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error", "--prefix"]);
        output(npm.arg(folder).arg(AZURITE)).map(drop)
    })
}

/// From Debian's packages, which only root can install.
fn nginx() -> Result<String> {
    if ["nginx", "/usr/sbin/nginx"].iter().any(|program| answers(Command::new(program).arg("-v"))) {
        return Ok("is there".to_owned());
    }
    let root = output(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0");
    if !root || !answers(Command::new("apt-get").arg("--version")) {
        bail!("the package nginx of this system is needed, and only you may install it");
    }
    output(Command::new("apt-get").args(["update", "-qq"]))?;
    let mut apt = Command::new("apt-get");
    apt.env("DEBIAN_FRONTEND", "noninteractive");
    output(apt.args(["install", "-y", "-qq", "--no-install-recommends", "nginx"]))?;
    Ok("is installed".to_owned())
}

/// Runs `install` with an empty folder, unless it has been completed there with the same `pins`.
fn once(name: &str, pins: &str, install: impl FnOnce(&Path) -> Result<()>) -> Result<String> {
    let folder = zarr_services::cache().join(name);
    let mark = folder.join("installed");
    if fs::read_to_string(&mark).is_ok_and(|installed| installed == pins) {
        return Ok("is there".to_owned());
    }
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    install(&folder)?;
    fs::write(&mark, pins)?;
    Ok("is installed".to_owned())
}
