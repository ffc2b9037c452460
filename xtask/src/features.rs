//! Libraries and the command without their default features. The one build has all features on.

use anyhow::Result;

use crate::command::{cargo, run as start};
use crate::workspace::Workspace;

/// Crates that need codecs to make sense, also without their default features.
const SELECTS_FEATURES: [&str; 2] = ["zarr-cli", "zarr-copy"];

/// Checks the libraries in one call, so that each package of others is compiled once. The two crates that turn features
/// of the others on come after them, in the form of README's first command.
pub(crate) fn minimal() -> Result<()> {
    let workspace = Workspace::load()?;
    let libraries =
        workspace.published().filter(|p| p.library && !SELECTS_FEATURES.contains(&p.name.as_str()));
    let mut check = cargo(["check", "--quiet", "--locked", "--no-default-features"]);
    start(check.args(libraries.flat_map(|package| ["-p", &package.name])))?;
    start(&mut cargo(["check", "--quiet", "--locked", "--no-default-features", "-p", "zarr-cli"]))
}

/// Checks each library alone, so that no other turns on a feature that it forgot.
pub(crate) fn each() -> Result<()> {
    for package in Workspace::load()?.published().filter(|p| p.library) {
        start(&mut cargo(["check", "--quiet", "--locked", "--no-default-features", "-p", &package.name]))?;
    }
    // The only test of a feature that is off.
    let reading = ["-p", "zarr-store-fs", "--test", "reading"];
    start(cargo(["test", "--quiet", "--locked", "--no-default-features"]).args(reading))
}
