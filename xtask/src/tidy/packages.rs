//! Checks the files and metadata of every crate.

use std::path::Path;

use anyhow::Result;

use super::Finding;
use crate::suite::APART;
use crate::workspace::{Kind, Package, Workspace};

/// The sections of a front page that readers of a crate look for.
const FRONT_PAGE: [&str; 4] = ["## Install", "## Example", "## Features", "## Stability"];

/// The arguments of rustdoc on the documentation host, and the line of src/lib.rs, that label items with their features.
const DOCSRS: &str = "[\"--cfg\", \"docsrs\"]";
const LABELS: &str = "#![cfg_attr(docsrs, feature(doc_cfg))]";

/// All rules over the packages.
pub(crate) fn check(workspace: &Workspace, root: &Path) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for package in &workspace.packages {
        let place =
            package.dir.strip_prefix(root).unwrap_or(&package.dir).to_string_lossy().replace('\\', "/");
        let mut error = |message: &str| findings.push(Finding::error(&*place, "package", message));
        let read = |file: &str| std::fs::read_to_string(package.dir.join(file)).ok();

        // Examples of extensions are written as if they were elsewhere.
        let is_ours = !package.name.starts_with("example-");
        let lints = section(&read("Cargo.toml").unwrap_or_default(), "lints");
        if is_ours && !has_line(&lints, "workspace", "true") {
            error("Cargo.toml lacks `[lints] workspace = true`: all crates have the same lints");
        }
        let apart = |name: &str| APART.iter().any(|(of, test, _)| *of == package.name && *test == name);
        if package.tests.iter().filter(|name| !apart(name)).count() > 1 {
            let programs = package.tests.join(", ");
            error(&format!(
                "has several programs of tests ({programs}): make them modules of tests/all.rs, because each is \
                 compiled and linked with all that it needs; or name one in `APART` of xtask/src/suite.rs with its reason"
            ));
        }
        if !package.published {
            continue;
        }
        match read("README.md") {
            None => error("README.md is missing: it is the crate's front page and documentation"),
            Some(text) => {
                if text.lines().next() != Some(&format!("# {}", package.name)) {
                    error("README.md does not begin with the name of the crate as its title");
                }
                for heading in FRONT_PAGE.iter().filter(|h| !text.lines().any(|line| line == **h)) {
                    error(&format!(
                        "README.md lacks the section \"{heading}\": all front pages have one form"
                    ));
                }
                findings.extend(unnamed_dependencies(workspace, package, &place, &text));
            }
        }
        let mut error = |message: &str| findings.push(Finding::error(&*place, "package", message));
        if !read("CHANGELOG.md").is_some_and(|text| text.lines().any(|line| line == "## [Unreleased]")) {
            error("CHANGELOG.md or its section \"## [Unreleased]\" is missing");
        }
        let documented = if package.library { "src/lib.rs" } else { "src/main.rs" };
        let includes =
            |text: String| text.lines().any(|l| l.trim() == "#![doc = include_str!(\"../README.md\")]");
        if package.library && !read(documented).is_some_and(includes) {
            error("src/lib.rs does not include README.md as the documentation of the crate");
        }
        let manifest = read("Cargo.toml").unwrap_or_default();
        let is_labelled = has_line(&section(&manifest, "package.metadata.docs.rs"), "rustdoc-args", DOCSRS)
            && read(documented).is_some_and(|text| text.lines().any(|line| line == LABELS));
        if package.library && !section(&manifest, "features").is_empty() && !is_labelled {
            error(
                "its documentation shows no labels of features: Cargo.toml needs `rustdoc-args` for docs.rs, src/lib.rs \
                   `cfg_attr(docsrs, feature(doc_cfg))`",
            );
        }
        for (name, value) in [
            ("description", &package.description),
            ("license", &package.license),
            ("repository", &package.repository),
            ("readme", &package.readme),
        ] {
            if value.is_empty() {
                error(&format!("Cargo.toml lacks `{name}`, which is required to publish the crate"));
            }
        }
    }
    Ok(findings)
}

/// Finds dependencies that the README does not name. It must name each with its reason, because users get them, too.
fn unnamed_dependencies(workspace: &Workspace, package: &Package, place: &str, readme: &str) -> Vec<Finding> {
    let own = |name: &str| workspace.packages.iter().any(|p| p.name == name);
    let named = |name: &str| readme.contains(&format!("`{name}`")) || readme.contains(&format!("[{name}]"));
    let foreign =
        package.dependencies.iter().filter(|d| d.kind != Kind::Dev && !own(&d.name) && !named(&d.name));
    foreign
        .map(|d| {
            let message =
                format!("README.md does not name the dependency `{}` and why it is there (style 18)", d.name);
            Finding::warning(place, "dependencies", message)
        })
        .collect()
}

/// Returns the lines of a section of a Cargo.toml.
fn section(manifest: &str, name: &str) -> Vec<String> {
    let head = format!("[{name}]");
    let lines = manifest.lines().map(str::trim).skip_while(|l| *l != head).skip(1);
    lines.take_while(|l| !l.starts_with('[')).map(str::to_owned).collect()
}

fn has_line(section: &[String], key: &str, value: &str) -> bool {
    section.iter().any(|l| l.split_once('=').is_some_and(|(k, v)| k.trim() == key && v.trim() == value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_sections() {
        let manifest =
            "[package]\nname = \"x\"\n\n[lints]\nworkspace = true\n\n[dependencies]\nworkspace = false\n";
        assert!(has_line(&section(manifest, "lints"), "workspace", "true"));
        assert!(!has_line(&section(manifest, "dependencies"), "workspace", "true"));
        assert!(section(manifest, "features").is_empty());
    }
}
