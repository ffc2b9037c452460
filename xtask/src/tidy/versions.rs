//! Checks the versions of the crates ([decision 0038](../../../docs/decisions/0038-versions.md)), and that changelogs have them.

use std::path::Path;

use anyhow::{Context as _, Result};

use super::Finding;
use crate::workspace::{Package, Workspace};

/// All rules over the versions.
pub(crate) fn check(workspace: &Workspace, root: &Path) -> Result<Vec<Finding>> {
    let manifest = std::fs::read_to_string(root.join("Cargo.toml")).context("Cargo.toml")?;
    let manifest: toml::Table = manifest.parse().context("Cargo.toml")?;
    let common = manifest["workspace"]["package"]["version"].as_str().unwrap_or_default();
    let mut findings = versions(workspace, common);
    for package in workspace.traits() {
        let own = std::fs::read_to_string(package.dir.join("Cargo.toml"))?;
        let own: toml::Table = own.parse().with_context(|| package.name.clone())?;
        if own["package"]["version"].as_str().is_none() {
            findings.push(error(
                package,
                "Cargo.toml takes the version of the workspace, but the traits have their own",
            ));
        }
    }
    for package in workspace.published() {
        let text = std::fs::read_to_string(package.dir.join("CHANGELOG.md")).unwrap_or_default();
        findings.extend(changelog(&text, &package.version).map(|message| error(package, message)));
    }
    Ok(findings)
}

fn error(package: &Package, message: impl Into<String>) -> Finding {
    Finding::error(&*package.name, "versions", message)
}

/// Checks the versions themselves, and which versions the crates require of each other.
fn versions(workspace: &Workspace, common: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let traits = workspace.traits();
    let of_traits = |name: &str| traits.iter().any(|p| p.name == name);
    let version = workspace.find("zarr-traits").map_or("", |p| &p.version);
    for package in workspace.published() {
        let of_traits_too = of_traits(&package.name);
        if of_traits_too && package.version != version {
            let message = format!(
                "has version {}, but zarr-traits has {version}: the traits and what they need are released together",
                package.version
            );
            findings.push(error(package, message));
        }
        if !of_traits_too && package.version != common {
            let message = format!(
                "has version {}, but the workspace has {common}: write `version.workspace = true`",
                package.version
            );
            findings.push(error(package, message));
        }
        let ours = package.dependencies.iter().filter_map(|d| Some((d, workspace.find(&d.name)?)));
        for (dependency, needed) in ours {
            if of_traits_too && !of_traits(&needed.name) {
                let message = format!(
                    "-> {}: the traits need no crate that changes with the workspace, not even for tests, or they \
                     cannot be published before it",
                    needed.name
                );
                findings.push(error(package, message));
            }
            if needed.published && dependency.requirement != format!("^{}", needed.version) {
                let message = format!(
                    "requires {} of {}, which has {}: `cargo xtask version` writes both",
                    dependency.requirement, needed.name, needed.version
                );
                findings.push(error(package, message));
            }
        }
    }
    findings
}

/// Returns the first fault of a changelog: its sections are `## [Unreleased]`, then the versions, from this one down, with
/// their dates. Before the first release it has no version.
fn changelog(text: &str, version: &str) -> Option<String> {
    let mut heads = text.lines().filter_map(|line| line.strip_prefix("## "));
    if heads.next() != Some("[Unreleased]") {
        return Some("the first section of CHANGELOG.md is not \"## [Unreleased]\"".to_owned());
    }
    let mut newer: Option<[u64; 3]> = None;
    for head in heads {
        let parsed = head.split_once("] - ").and_then(|(name, date)| {
            let numbers = numbers(name.strip_prefix('[')?, '.')?;
            let is_date = date.len() == "2026-01-31".len();
            numbers_of_date(date).filter(|_| is_date).map(|_| numbers)
        });
        let Some(found) = parsed else {
            return Some(format!(
                "CHANGELOG.md: \"## {head}\" is not of the form \"## [1.2.3] - 2026-01-31\""
            ));
        };
        match newer {
            None if numbers(version, '.') != Some(found) => {
                return Some(format!(
                    "CHANGELOG.md: the newest version is \"{head}\", but the crate has {version}"
                ));
            }
            Some(newer) if newer <= found => {
                return Some(format!("CHANGELOG.md: \"## {head}\" is below an older version"));
            }
            _ => newer = Some(found),
        }
    }
    None
}

fn numbers_of_date(date: &str) -> Option<[u64; 3]> {
    numbers(date, '-').filter(|[_, month, day]| (1..=12).contains(month) && (1..=31).contains(day))
}

/// Reads three numbers.
fn numbers(text: &str, between: char) -> Option<[u64; 3]> {
    let numbers: Vec<u64> = text.split(between).map(|n| n.parse().ok()).collect::<Option<_>>()?;
    numbers.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::{Dependency, Kind};

    fn package(name: &str, version: &str, needs: &[&str]) -> Package {
        Package {
            name: name.to_owned(),
            version: version.to_owned(),
            published: true,
            dependencies: needs.iter().map(|name| Dependency::of(name, Kind::Normal)).collect(),
            ..Package::default()
        }
    }

    #[test]
    fn the_traits_have_one_version_and_the_others_that_of_the_workspace() {
        let good = [
            package("zarr-array", "0.2.0", &["zarr-traits"]),
            package("zarr-number", "0.1.0", &[]),
            package("zarr-traits", "0.1.0", &["zarr-number", "bytes"]),
        ];
        for (what, change, errors) in [
            ("good", good[0].clone(), 0),
            ("another version than the workspace", package("zarr-array", "0.1.0", &[]), 1),
            ("another version than the traits", package("zarr-number", "0.2.0", &[]), 2),
            (
                "the traits need a crate, which joins them",
                package("zarr-traits", "0.1.0", &["zarr-array"]),
                3,
            ),
        ] {
            let mut packages = good.to_vec();
            packages.retain(|p| p.name != change.name);
            packages.push(change);
            let workspace = Workspace { packages, ..Workspace::default() };
            let found = versions(&workspace, "0.2.0");
            assert_eq!(found.len(), errors, "{what}: {found:?}");
        }
    }

    #[test]
    fn the_traits_need_no_other_crate_for_their_tests() {
        let mut traits = package("zarr-traits", "0.1.0", &[]);
        traits.dependencies.push(Dependency::of("zarr-suite", Kind::Dev));
        let packages = vec![package("zarr-suite", "0.1.0", &["zarr-traits"]), traits];
        let found = versions(&Workspace { packages, ..Workspace::default() }, "0.1.0");
        assert_eq!(found.len(), 1);
        assert!(found[0].message.starts_with("-> zarr-suite: "));
    }

    #[test]
    fn a_changelog_has_dated_versions_from_the_present_one_down() {
        for (sections, version, good) in [
            ("## [Unreleased]", "0.1.0", true),
            ("## [Unreleased]\n\n## [0.1.0] - 2026-12-01", "0.1.0", true),
            ("## [Unreleased]\n## [0.2.0] - 2027-02-01\n## [0.1.0] - 2026-12-01", "0.2.0", true),
            ("## [Unreleased]\n## [0.1.0] - 2026-12-01", "0.2.0", false),
            ("## [Unreleased]\n## [0.2.0] - 2027-02-01\n## [0.2.0] - 2026-12-01", "0.2.0", false),
            ("## [Unreleased]\n## [0.1.0] - soon", "0.1.0", false),
            ("## [Unreleased]\n## [0.1.0] - 2026-13-01", "0.1.0", false),
            ("## [Unreleased]\n## [0.1] - 2026-12-01", "0.1.0", false),
            ("## [0.1.0] - 2026-12-01", "0.1.0", false),
            ("", "0.1.0", false),
        ] {
            assert_eq!(changelog(sections, version).is_none(), good, "{sections:?}");
        }
    }
}
