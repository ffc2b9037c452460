//! The published crates with the oldest versions of their dependencies that their manifests allow.
//!
//! A requirement that is too low breaks programs whose lock files have old versions, and nobody else. The versions of the
//! dependencies themselves are those that Cargo chooses today, because their requirements are not ours.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

use crate::command::{cargo, root, run as start, target_dir};

/// Compiles the crates in a workspace of their own, without what only tests need.
pub(crate) fn check() -> Result<()> {
    let folder = target_dir().join("oldest");
    let crates = folder.join("crates");
    let _ = fs::remove_dir_all(&crates);
    fs::create_dir_all(&crates)?;
    fs::write(folder.join("Cargo.toml"), workspace(&read(&root().join("Cargo.toml"))?))?;
    for entry in fs::read_dir(root().join("crates"))? {
        let entry = entry?;
        let (of, to) = (entry.path(), crates.join(entry.file_name()));
        fs::create_dir_all(&to)?;
        fs::write(to.join("Cargo.toml"), package(&read(&of.join("Cargo.toml"))?))?;
        for name in ["src", "README.md"] {
            link(&of.join(name), &to.join(name))?;
        }
    }
    // Only the choice of versions needs a nightly feature.
    start(
        cargo(["-Z", "direct-minimal-versions", "generate-lockfile"])
            .env("RUSTC_BOOTSTRAP", "1")
            .current_dir(&folder),
    )
    .context("a dependency needs a newer version of another dependency than our requirement of that one")?;
    let mut check = cargo(["check", "--quiet", "--workspace", "--all-features", "--locked"]);
    start(check.current_dir(&folder).env("CARGO_TARGET_DIR", folder.join("target")))
        .context("a requirement allows a version that is too old")
}

#[cfg(unix)]
fn link(of: &Path, to: &Path) -> Result<()> {
    Ok(std::os::unix::fs::symlink(of, to)?)
}

#[cfg(not(unix))]
fn link(of: &Path, _: &Path) -> Result<()> {
    anyhow::bail!("needs a symbolic link to {}", of.display())
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| path.display().to_string())
}

/// Returns the manifest of a workspace of the crates alone.
fn workspace(manifest: &str) -> String {
    let is_of_others = |line: &&str| line.starts_with("members = ") || line.starts_with("default-members = ");
    let sections = sections(manifest).filter(|section| !section.starts_with("[profile"));
    let lines = sections.flat_map(str::lines).filter(|line| !is_of_others(line));
    lines
        .flat_map(
            |line| if line == "[workspace]" { vec![line, "members = [\"crates/*\"]"] } else { vec![line] },
        )
        .flat_map(|line| [line, "\n"])
        .collect()
}

/// Returns the manifest of a crate without dependencies and programs of tests.
fn package(manifest: &str) -> String {
    let is_of_tests = |section: &&str| {
        let head = section.lines().next().unwrap_or_default();
        head.contains("dev-dependencies") || ["[[test]]", "[[bench]]", "[[example]]"].contains(&head)
    };
    sections(manifest).filter(|section| !is_of_tests(section)).collect()
}

/// Returns the sections of a manifest, each with its head.
fn sections(manifest: &str) -> impl Iterator<Item = &str> {
    let heads = manifest.match_indices("\n[").map(|(at, _)| at + 1);
    let starts: Vec<usize> = std::iter::once(0).chain(heads).chain([manifest.len()]).collect();
    (1..starts.len()).map(move |i| &manifest[starts[i - 1]..starts[i]])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_left_out() {
        let manifest = "[package]\nname = \"x\"\n\n[dependencies]\na = \"1\"\n\n[target.'cfg(unix)'.dev-dependencies]\nb = \"1\"\n\n[[test]]\nname = \"all\"\n";
        assert_eq!(package(manifest), "[package]\nname = \"x\"\n\n[dependencies]\na = \"1\"\n\n");
        let root = "[workspace]\nresolver = \"3\"\nmembers = [\"x\"]\n\n[profile.dev]\ndebug = false\n";
        assert_eq!(workspace(root), "[workspace]\nmembers = [\"crates/*\"]\nresolver = \"3\"\n\n");
    }
}
