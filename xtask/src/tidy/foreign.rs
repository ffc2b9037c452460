//! Types of other crates in public signatures: each README has a table of them with their versions, and the crate passes
//! them on, so that a user finds the version that fits.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Result;

use super::Finding;
use crate::workspace::{Kind, Package, Workspace};

/// Crates whose types are in signatures of ours. Other dependencies are in no signature.
const FOREIGN: [&str; 13] = [
    "arrow-array",
    "arrow-schema",
    "bytemuck",
    "bytes",
    "chrono",
    "dlpk",
    "half",
    "jiff",
    "ndarray",
    "num-complex",
    "object_store",
    "serde_json",
    "tokio",
];

/// Crates of ours that use one of them inside only.
const INSIDE: [(&str, &str); 5] = [
    ("zarr-blosc", "bytemuck"),
    ("zarr-codecs-numcodecs", "half"),
    // `Bytes` of these is that of zarr-traits.
    ("zarr-engine", "bytes"),
    ("zarr-store-fetch", "bytes"),
    ("zarr-store-object", "bytes"),
];

/// A library for the package for Python only.
const COMMAND: &str = "zarr-cli";

/// The first line of the table.
const HEADER: &str = "| crate in signatures | version | feature | here as |";

/// A row of the table.
struct Row<'a> {
    name: &'a str,
    version: &'a str,
    path: &'a str,
}

pub(super) fn check(workspace: &Workspace) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for package in workspace.published().filter(|package| package.library && package.name != COMMAND) {
        let readme = std::fs::read_to_string(package.dir.join("README.md")).unwrap_or_default();
        let sources = passed_on(&package.dir.join("src"))?;
        let mut error = |message: String| {
            findings.push(Finding::error(format!("{}/README.md", package.name), "foreign", message));
        };
        let rows = rows(&readme);
        for row in &rows {
            let versions = versions(workspace, row.name);
            if !versions.contains(row.version) {
                let message = format!(
                    "`{}` has version {}, the table says {}",
                    row.name,
                    shown(&versions),
                    row.version
                );
                error(message);
            }
            let last = row.path.rsplit("::").next().unwrap_or_default();
            if !row.path.starts_with(&package.name.replace('-', "_")) || !sources.contains(last) {
                error(format!(
                    "`{}` is not passed on as `{}`, so users must guess its version",
                    row.name, row.path
                ));
            }
        }
        for (name, version) in foreign(package) {
            if !rows.iter().any(|row| row.name == name && row.version == version) {
                error(format!(
                    "the table \"{HEADER}\" lacks `{name}` {version}; if no signature has a type of it, name it in \
                     `INSIDE` of xtask/src/tidy/foreign.rs"
                ));
            }
        }
    }
    Ok(findings)
}

fn shown(versions: &BTreeSet<String>) -> String {
    versions.iter().map(String::as_str).collect::<Vec<_>>().join(" and ")
}

/// Returns the crates of [`FOREIGN`] that a package has, with their versions.
fn foreign(package: &Package) -> BTreeSet<(&str, String)> {
    let is_public = |name: &str| FOREIGN.contains(&name) && !INSIDE.contains(&(package.name.as_str(), name));
    let found = package.dependencies.iter().filter(|d| d.kind == Kind::Normal && is_public(&d.name));
    found.map(|d| (d.name.as_str(), compatible(&d.requirement))).collect()
}

/// Returns the versions of a dependency in the workspace: a feature may be that of another crate of ours.
fn versions(workspace: &Workspace, name: &str) -> BTreeSet<String> {
    let all = workspace.published().flat_map(|package| &package.dependencies);
    all.filter(|d| d.kind == Kind::Normal && d.name == name).map(|d| compatible(&d.requirement)).collect()
}

/// Returns the part of a requirement that says which versions are compatible: `1` of `^1.12`, `0.17` of `^0.17.2`.
fn compatible(requirement: &str) -> String {
    let numbers: Vec<&str> = requirement.trim_start_matches('^').split('.').collect();
    let significant = numbers.iter().position(|number| *number != "0").map_or(1, |first| first + 1);
    numbers[..significant.min(numbers.len())].join(".")
}

/// Returns the names after the last `::` of all `pub use`.
fn passed_on(folder: &Path) -> Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    let mut paths = Vec::new();
    super::walk(folder, &mut paths)?;
    for path in paths {
        for line in std::fs::read_to_string(path)?.lines() {
            let Some(used) = line.trim().strip_prefix("pub use ").and_then(|used| used.strip_suffix(';'))
            else {
                continue;
            };
            names.extend(used.rsplit([':', ' ']).next().map(str::to_owned));
        }
    }
    Ok(names)
}

/// Returns the rows of the table.
fn rows(readme: &str) -> Vec<Row<'_>> {
    let lines = readme.lines().skip_while(|line| *line != HEADER).skip(2);
    let row = |line| {
        let cells: Vec<&str> = str::split(line, '|').map(|cell| cell.trim().trim_matches('`')).collect();
        let [_, name, version, _, path, _] = cells[..] else { return None };
        Some(Row { name, version, path })
    };
    lines.map_while(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_cut_to_what_is_compatible() {
        for (requirement, expected) in
            [("^1.12", "1"), ("^0.17.2", "0.17"), ("^0.0.3", "0.0.3"), ("^59", "59"), ("^0", "0")]
        {
            assert_eq!(compatible(requirement), expected);
        }
    }

    #[test]
    fn reads_rows() {
        let readme = format!(
            "text\n\n{HEADER}\n| --- | --- | --- | --- |\n| `half` | 2 | `half` | `zarr_array::half` |\n\ntext"
        );
        let rows = rows(&readme);
        assert_eq!(rows.len(), 1);
        assert_eq!((rows[0].name, rows[0].version, rows[0].path), ("half", "2", "zarr_array::half"));
    }
}
