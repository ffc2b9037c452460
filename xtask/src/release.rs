//! `cargo xtask release`: publishes the crates, or shows that they can be published.
//!
//! Cargo itself packs the crates, builds each from its package and those before it, and uploads them in order. This task
//! checks first what cargo does not know: the files of a package and the changelogs.

use anyhow::{Result, bail};

use crate::command::{cargo, output, root, run as start, target_dir};
use crate::workspace::{Package, Workspace};

/// Options of a release.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Do everything but upload the crates
    #[arg(long)]
    dry_run: bool,
    /// Only zarr-traits and what it needs, which have a version of their own. Without it: the others
    #[arg(long)]
    traits: bool,
}

/// Checks, packs and builds the crates of one version, then publishes them in order. A dry run of the others includes the
/// traits, because they may not be published yet.
pub(crate) fn run(args: &Args) -> Result<()> {
    let workspace = Workspace::load()?;
    packages()?;
    let traits: Vec<&str> = workspace.traits().iter().map(|p| p.name.as_str()).collect();
    let is_of = |package: &Package| traits.contains(&package.name.as_str()) == args.traits;
    println!("\norder of publishing:");
    for (number, package) in order(&workspace).into_iter().filter(|p| is_of(p)).enumerate() {
        println!("{:>4}. {} {}", number + 1, package.name, package.version);
    }
    if !args.dry_run {
        check_changelogs(workspace.published().filter(|p| is_of(p)))?;
    }
    // Cargo keeps the sources of a package by its version and the target directory. A new directory makes it take the
    // packages of this run.
    let target = target_dir().join(format!("release-{}", std::process::id()));
    let mut publish = cargo(["publish", "--locked"]);
    publish.env("CARGO_TARGET_DIR", &target);
    if args.traits {
        publish.args(traits.iter().flat_map(|name| ["-p", name]));
    } else {
        publish.arg("--workspace");
        let published = traits.iter().filter(|_| !args.dry_run);
        publish.args(published.flat_map(|name| ["--exclude", name]));
    }
    if args.dry_run {
        publish.args(["--dry-run", "--allow-dirty"]);
    }
    let published = start(&mut publish);
    std::fs::remove_dir_all(&target).or_else(|e| if target.exists() { Err(e) } else { Ok(()) })?;
    published
}

/// The most kB of a package beside its sources.
const LARGEST: u64 = 500;

/// Checks that the package of each published crate contains its documents, its licences and its source, and little else.
pub(crate) fn packages() -> Result<()> {
    for package in Workspace::load()?.published() {
        // Uncommitted changes, and a tree without a repository, are allowed: only the list of packed files matters.
        let list =
            output(&mut cargo(["package", "--list", "--allow-dirty", "--locked", "-p", &package.name]))?;
        let source = if package.library { "src/lib.rs" } else { "src/main.rs" };
        for needed in ["Cargo.toml", "README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT", source] {
            if !list.lines().any(|file| file.replace('\\', "/") == needed) {
                let dir = package.dir.strip_prefix(root()).unwrap_or(&package.dir);
                bail!("the package of {} does not contain {needed}", dir.display());
            }
        }
        let (sources, others): (Vec<&str>, Vec<&str>) = list.lines().partition(|file| file.ends_with(".rs"));
        let kb = |files: &[&str]| files.iter().map(|file| size(&package.dir.join(file))).sum::<u64>() / 1000;
        let (all, beside) = (list.lines().count(), kb(&others));
        if beside > LARGEST {
            bail!(
                "the package of {} has {beside} kB beside its sources, over {LARGEST}: leave out what its users do not \
                 need",
                package.name
            );
        }
        println!("{:<24}{all:>4} files {:>6} kB", package.name, kb(&sources) + beside);
    }
    Ok(())
}

/// Returns the bytes of a file, or 0 for a file that cargo makes.
fn size(file: &std::path::Path) -> u64 {
    std::fs::metadata(file).map_or(0, |file| file.len())
}

/// Returns the published crates, each after the crates that it needs. Tests of a package need its dev-dependencies.
fn order(workspace: &Workspace) -> Vec<&Package> {
    let mut waiting: Vec<&Package> = workspace.published().collect();
    let mut ordered: Vec<&Package> = Vec::new();
    while !waiting.is_empty() {
        let is_waiting = |name: &str| waiting.iter().any(|p| p.name == name);
        let is_ready = |p: &&&Package| !p.dependencies.iter().any(|d| is_waiting(&d.name));
        // Cargo refuses a cycle of dependencies. A cycle of dev-dependencies ends here in the order of names.
        let Some(next) = waiting.iter().find(is_ready).or(waiting.first()).copied() else { break };
        waiting.retain(|p| p.name != next.name);
        ordered.push(next);
    }
    ordered
}

/// Fails if a changelog has no section of the version that is published.
fn check_changelogs<'a>(packages: impl Iterator<Item = &'a Package>) -> Result<()> {
    for package in packages {
        let text = std::fs::read_to_string(package.dir.join("CHANGELOG.md"))?;
        if !has_section(&text, &package.version) {
            bail!(
                "the changelog of {} has no section \"## [{}] - date\": run cargo xtask version",
                package.name,
                package.version
            );
        }
    }
    Ok(())
}

/// Whether a changelog has a dated section of this version.
pub(crate) fn has_section(changelog: &str, version: &str) -> bool {
    let head = format!("## [{version}] - ");
    changelog.lines().any(|line| line.strip_prefix(&head).is_some_and(|date| !date.trim().is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::{Dependency, Kind};

    #[test]
    fn a_crate_comes_after_those_that_it_needs() {
        let package = |name: &str, needs: &[&str]| Package {
            name: name.to_owned(),
            published: true,
            dependencies: needs.iter().map(|name| Dependency::of(name, Kind::Dev)).collect(),
            ..Package::default()
        };
        let packages = vec![package("a", &["c", "serde"]), package("b", &["a"]), package("c", &[])];
        let workspace = Workspace { packages, ..Workspace::default() };
        let names: Vec<&str> = order(&workspace).iter().map(|p| p.name.as_str()).collect();
        assert_eq!(names, ["c", "a", "b"]);
    }

    #[test]
    fn a_release_has_a_dated_section() {
        let text = "# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2026-12-01\n";
        assert!(has_section(text, "0.2.0"));
        assert!(!has_section(text, "0.1.0") && !has_section("## [0.1.0] - \n", "0.1.0"));
    }
}
