//! `cargo xtask version`: sets a version wherever it is written, and dates the changelogs.
//!
//! There are two: that of zarr-traits with the crates that it needs, and that of the workspace, which all other crates have and
//! the packages for Python and JavaScript ([decision 0038](../../docs/decisions/0038-versions.md)).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::command::{cargo, output, root};
use crate::links::REPOSITORY;
use crate::workspace::{Package, Workspace};
use crate::{examples, release, semver};

/// The version to set.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The new version, such as 0.2.0; the present one only dates the changelogs
    version: String,
    /// Of zarr-traits and what it needs. Without it: of the other crates
    #[arg(long)]
    traits: bool,
}

/// Files beside the crates that have the version of the workspace, with the words before it.
const ELSEWHERE: [(&str, &str); 7] = [
    ("python/Cargo.toml", "version = \""),
    ("python/conda/recipe.yaml", "  version: \""),
    ("npm/Cargo.toml", "version = \""),
    ("npm/package.json", "\"version\": \""),
    ("npm/package-lock.json", "\"name\": \"zarr-rs\",\n  \"version\": \""),
    ("npm/package-lock.json", "\"name\": \"zarr-rs\",\n      \"version\": \""),
    ("conformance/peers/zarr/peer.toml", "version = \""),
];

/// Packages of Cargo beside the workspace, whose lock files name its crates.
const LOCKED: [&str; 5] = [".", "examples/store-opendal", "fuzz", "npm", "python"];

/// Writes the version into manifests, documents, changelogs and lock files.
pub(crate) fn run(args: &Args) -> Result<()> {
    let Args { version, traits } = args;
    if version.split('.').filter(|number| number.parse::<u64>().is_ok()).count() != 3
        || version.split('.').count() != 3
    {
        bail!("{version:?} is not a version of three numbers, such as 0.2.0");
    }
    let workspace = Workspace::load()?;
    let changed: Vec<&Package> =
        workspace.published().filter(|p| workspace.is_of_traits(&p.name) == *traits).collect();
    let root = root();

    let mut manifests = vec![root.join("Cargo.toml"), root.join("docs/IMPLEMENTING.md")];
    manifests.extend(examples::folders(&root)?.into_iter().map(|folder| folder.join("Cargo.toml")));
    for file in manifests {
        edit(&file, |text| {
            changed.iter().fold(text.to_owned(), |text, p| set_all(&text, &required(&p.name), version))
        })?;
    }
    if *traits {
        for package in &changed {
            edit(&package.dir.join("Cargo.toml"), |text| set(text, "\nversion = \"", version))?;
        }
        edit(&root.join(semver::BASELINE), |text| semver::with_baseline(text, &self::tag(version, true)))?;
    } else {
        edit(&root.join("Cargo.toml"), |text| set(text, "[workspace.package]\nversion = \"", version))?;
        for (file, before) in ELSEWHERE {
            edit(&root.join(file), |text| set(text, before, version))?;
        }
        edit(&root.join("conformance/results/zarr.txt"), |text| {
            set(text, "# zarr (this project) ", version)
        })?;
    }

    let date = output(Command::new("date").args(["-u", "+%F"]))?;
    let tag = tag(version, *traits);
    for package in &changed {
        let old = format!("{REPOSITORY}{}/", self::tag(&package.version, *traits));
        for file in documentation(package)? {
            edit(&file, |text| text.replace(&old, &format!("{REPOSITORY}{tag}/")))?;
        }
        let place = format!("{}/tree/{tag}/crates/{}", package.repository, package.name);
        edit(&package.dir.join("CHANGELOG.md"), |text| dated(text, version, date.trim(), &place))?;
    }
    for folder in LOCKED {
        output(cargo(["metadata", "--format-version=1"]).current_dir(root.join(folder)))?;
    }
    println!("{} crates have version {version}, to be tagged {tag}; see `git diff`", changed.len());
    Ok(())
}

/// Returns the name of the tag of a release.
pub(crate) fn tag(version: &str, traits: bool) -> String {
    if traits { format!("traits-v{version}") } else { format!("v{version}") }
}

/// Returns the files of a crate whose comments or text are its documentation.
fn documentation(package: &Package) -> Result<Vec<PathBuf>> {
    let mut files = vec![package.dir.join("README.md")];
    let mut folders = vec![package.dir.join("src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs" || e == "md") {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

/// Returns the words before the version in a requirement of a manifest.
fn required(name: &str) -> String {
    format!("\n{name} = {{ version = \"")
}

/// Changes a file.
fn edit(file: &Path, change: impl FnOnce(&str) -> String) -> Result<()> {
    let text = fs::read_to_string(file).with_context(|| file.display().to_string())?;
    let changed = change(&text);
    if changed != text {
        fs::write(file, changed)?;
        println!("{}", file.strip_prefix(root()).unwrap_or(file).display());
    }
    Ok(())
}

/// Replaces the version after the first place of `before`.
fn set(text: &str, before: &str, version: &str) -> String {
    let Some((head, rest)) = text.split_once(before) else { return text.to_owned() };
    format!("{head}{before}{version}{}", after_version(rest))
}

/// Replaces the versions after all places of `before`.
fn set_all(text: &str, before: &str, version: &str) -> String {
    let mut parts = text.split(before);
    let head = parts.next().unwrap_or_default().to_owned();
    parts.fold(head, |text, part| format!("{text}{before}{version}{}", after_version(part)))
}

fn after_version(text: &str) -> &str {
    text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.')
}

/// Gives what is unreleased this version and date, unless the changelog has this version already.
fn dated(changelog: &str, version: &str, date: &str, place: &str) -> String {
    if release::has_section(changelog, version) {
        return changelog.to_owned();
    }
    let head = "## [Unreleased]\n";
    let text = changelog.replacen(head, &format!("{head}\n## [{version}] - {date}\n"), 1);
    format!("{}\n[{version}]: {place}\n", text.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_replaced_where_they_are_required() {
        let text = "[x]\nzarr-a = { version = \"0.1.0\", path = \"a\" }\nzarr-ab = { version = \"0.1.0\" }\n";
        let changed = set_all(text, &required("zarr-a"), "0.12.0");
        assert_eq!(changed, text.replacen("0.1.0", "0.12.0", 1));
        assert_eq!(set(text, "no such words", "0.2.0"), text);
        assert_eq!(set("a 0.1.0\nb\n", "a ", "1.0.0"), "a 1.0.0\nb\n");
    }

    #[test]
    fn a_changelog_is_dated_once() {
        let text = "# Changelog\n\n## [Unreleased]\n\n- One.\n\n[Unreleased]: y\n";
        let once = dated(text, "0.1.0", "2026-12-01", "x");
        assert_eq!(
            once,
            "# Changelog\n\n## [Unreleased]\n\n## [0.1.0] - 2026-12-01\n\n- One.\n\n[Unreleased]: y\n[0.1.0]: x\n"
        );
        assert_eq!(dated(&once, "0.1.0", "2026-12-02", "x"), once);
    }
}
