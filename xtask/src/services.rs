//! `cargo xtask services`: services for tests of network stores (docs/SERVICES.md).

use std::fs;
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::command::{answers, output, root};
use crate::install::{self, debian, once, python};

/// The task.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Install moto and Azurite below the target folder, and nginx as a system package if permitted
    Install,
}

/// This version runs with Node.js 10; later versions need 21.
const AZURITE: &str = "azurite@3.35.0";

const REQUIREMENTS: &str = "conformance/services/requirements.txt";

/// Runs the task.
pub(crate) fn run(args: &Args) -> Result<()> {
    match args.action {
        Action::Install => install(),
    }
}

/// Installs all services.
pub(crate) fn install() -> Result<()> {
    install::all([
        ("moto", Box::new(moto) as Box<dyn FnOnce() -> Result<String> + Send>),
        ("azurite", Box::new(azurite)),
        ("nginx", Box::new(nginx)),
    ])
}

/// Installs moto into its own Python environment.
fn moto() -> Result<String> {
    let requirements = root().join(REQUIREMENTS);
    let pins = fs::read_to_string(&requirements).with_context(|| format!("cannot read {REQUIREMENTS}"))?;
    once(&zarr_services::cache().join("moto"), &pins, |folder| python("python3", folder, &requirements))
}

/// Installs Azurite into its own folder. It runs no package scripts.
fn azurite() -> Result<String> {
    once(&zarr_services::cache().join("azurite"), AZURITE, |folder| {
        let mut npm = Command::new("npm");
        npm.args(["install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error", "--prefix"]);
        output(npm.arg(folder).arg(AZURITE)).map(drop)
    })
}

/// Installs nginx, if it is missing.
fn nginx() -> Result<String> {
    if ["nginx", "/usr/sbin/nginx"].iter().any(|program| answers(Command::new(program).arg("-v"))) {
        return Ok("is already installed".to_owned());
    }
    debian("nginx").map(|()| "is installed".to_owned())
}
