//! `cargo xtask full --only semver`: the public API of the traits against a stored baseline, by `cargo semver-checks`.
//!
//! The baseline is a revision of this repository, because the other form, rustdoc's JSON, is of one toolchain only and has
//! megabytes. It is the last release of the traits; before the first one, the last revision whose breaks were meant.

use std::fs;
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::command::{answers, cargo, output, root, run as start, target_dir};
use crate::install;
use crate::workspace::{Package, Workspace};

/// The version of `cargo semver-checks`, which must know the JSON of rustdoc in rust-toolchain.toml.
const VERSION: &str = "0.51.0";

/// The file that names the baseline.
pub(crate) const BASELINE: &str = "xtask/semver-baseline.txt";

/// Compares the public API of the traits and of what they need with that of the baseline.
pub(crate) fn check() -> Result<()> {
    let text = fs::read_to_string(root().join(BASELINE)).context(BASELINE)?;
    let revision = baseline(&text).with_context(|| format!("{BASELINE} names no revision"))?;
    if !answers(&mut git(&["cat-file", "-e", &format!("{revision}^{{commit}}")])) {
        bail!(
            "{BASELINE} names {revision}, which this clone does not have: run git fetch --unshallow --tags"
        );
    }
    let workspace = Workspace::load()?;
    let (old, new): (Vec<&Package>, Vec<&Package>) =
        workspace.traits().into_iter().partition(|package| is_at(revision, package));
    for package in new {
        println!("{}: skipped, the baseline {revision} does not have it", package.name);
    }
    let folder = target_dir().join("tools/semver-checks");
    println!(
        "cargo-semver-checks {VERSION} {}",
        install::once(&folder, VERSION, |folder| {
            // Without optimisation: it is built once and runs for seconds.
            let mut command =
                cargo(["install", "--locked", "--debug", "--version", VERSION, "cargo-semver-checks"]);
            command.arg("--root").arg(folder).env("CARGO_PROFILE_DEV_DEBUG", "false");
            start(&mut command)
        })?
    );
    let mut command = Command::new(folder.join("bin/cargo-semver-checks"));
    command.current_dir(root()).args(["semver-checks", "--baseline-rev", revision]);
    command.args(old.iter().flat_map(|package| ["-p", &package.name]));
    start(&mut command).with_context(|| {
        format!(
            "the public API of the traits has changed since {revision}. Undo the break; or, if it is meant, set the next \
             version by cargo xtask version --traits; before the first release, name the commit with the break in {BASELINE}"
        )
    })
}

/// Returns the revision in the file: its first line that is not a comment.
fn baseline(text: &str) -> Option<&str> {
    text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'))
}

/// Returns the text of the file with another revision.
pub(crate) fn with_baseline(text: &str, revision: &str) -> String {
    let comments = text.lines().filter(|line| line.starts_with('#')).flat_map(|line| [line, "\n"]);
    comments.collect::<String>() + revision + "\n"
}

/// Whether the baseline has a crate.
fn is_at(revision: &str, package: &Package) -> bool {
    let folder =
        package.dir.strip_prefix(root()).unwrap_or(&package.dir).to_string_lossy().replace('\\', "/");
    output(&mut git(&["ls-tree", revision, &format!("{folder}/Cargo.toml")]))
        .is_ok_and(|found| !found.is_empty())
}

fn git(args: &[&str]) -> Command {
    let mut git = Command::new("git");
    git.args(args).current_dir(root());
    git
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_baseline_is_the_first_line_that_is_no_comment() {
        assert_eq!(baseline("# The baseline.\n\ntraits-v0.1.0\n"), Some("traits-v0.1.0"));
        assert_eq!(baseline("# The baseline.\n"), None);
        assert_eq!(with_baseline("# The baseline.\n\nold\n", "new"), "# The baseline.\nnew\n");
    }
}
