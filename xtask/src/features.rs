//! Libraries and the command without their default features. The one build has all features on.

use anyhow::Result;

use crate::build;
use crate::command::{cargo, run as start};
use crate::documentation;
use crate::workspace::Workspace;

/// Crates that need codecs to make sense, also without their default features.
const SELECTS_FEATURES: [&str; 2] = ["zarr-cli", "zarr-copy"];

/// Checks the libraries in one call, so that each package of others is compiled once. The two crates that turn features
/// of the others on come after them, in the form of README's first command.
pub(crate) fn minimal() -> Result<()> {
    let workspace = Workspace::load()?;
    let libraries =
        workspace.published().filter(|p| p.library && !SELECTS_FEATURES.contains(&p.name.as_str()));
    let minimal = ["--no-default-features"];
    let libraries: Vec<&str> = libraries.map(|library| library.name.as_str()).collect();
    build::check(minimal.into_iter().chain(libraries.iter().flat_map(|library| ["-p", *library])))?
        .without_warnings()?;
    documentation::minimal(libraries)?;
    build::check(minimal.into_iter().chain(["-p", "zarr-cli"]))?.without_warnings()
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
