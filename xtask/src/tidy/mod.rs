//! `cargo xtask tidy`: checks of the design.
//!
//! - [`circles`]: files import downwards only
//! - [`exhaustive`]: a public type can grow, or is named as closed
//! - [`foreign`]: READMEs name the versions of other crates whose types are in signatures
//! - [`graph`]: forbidden dependencies, from `cargo metadata`
//! - [`names`]: a public type name belongs to one crate
//! - [`order`]: the order of the crates is shown as it is
//! - [`packages`]: the files and metadata of every crate
//! - [`profiles`]: a level of optimisation has the figures that justify it
//! - [`rules`]: forbidden code, over the tokens of [`source`]
//! - [`docs`]: documents name only files and crates that exist
//! - [`specification`]: cited rules of the formats exist and have tests
//! - [`versions`]: the traits have a version of their own, the other crates that of the workspace
//! - [`words`]: the search of the documentation finds the words of other implementations
//! - [`workflows`]: the hosted CI runs only what this repository names exactly
//!
//! Each finding has a place, a rule, and the reason of the rule. docs/ARCHITECTURE.md lists the invariants.

mod circles;
mod docs;
mod exhaustive;
mod foreign;
mod graph;
mod names;
mod order;
mod packages;
mod profiles;
mod rules;
mod source;
mod specification;
mod versions;
mod words;
mod workflows;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use crate::command::root;
use crate::workspace::Workspace;
use source::Source;

/// A finding of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    /// A file, a file with a line, or a crate.
    pub(crate) place: String,
    pub(crate) rule: &'static str,
    /// What is wrong, and the reason of the rule.
    pub(crate) message: String,
    /// Whether it is only a warning, which does not fail the run.
    pub(crate) warning: bool,
}

impl Finding {
    fn error(place: impl Into<String>, rule: &'static str, message: impl Into<String>) -> Self {
        Self { place: place.into(), rule, message: message.into(), warning: false }
    }

    fn warning(place: impl Into<String>, rule: &'static str, message: impl Into<String>) -> Self {
        Self { warning: true, ..Self::error(place, rule, message) }
    }
}

/// Runs all checks. Fails if there is an error.
pub(crate) fn run() -> Result<()> {
    let workspace = Workspace::load()?;
    let sources = sources(&root())?;

    let mut findings = graph::check(&workspace)?;
    findings.extend(packages::check(&workspace, &root())?);
    findings.extend(versions::check(&workspace, &root())?);
    findings.extend(foreign::check(&workspace)?);
    findings.extend(profiles::check(&root())?);
    findings.extend(circles::check(&root(), &sources)?);
    findings.extend(names::check(&workspace, &sources));
    findings.extend(words::check(&workspace, &sources));
    findings.extend(exhaustive::check(&workspace, &sources));
    findings.extend(sources.iter().flat_map(rules::check));
    findings.extend(docs::check(&workspace, &root(), &sources)?);
    findings.extend(order::check(&workspace, &root())?);
    findings.extend(specification::check(&root(), &sources)?);
    findings.extend(workflows::check(&root())?);
    findings.extend(crate::seeded::stale()?.into_iter().map(|(name, reason)| {
        Finding::error("conformance/seeded.toml", "seeded", format!("{name} cannot be made: {reason:#}"))
    }));

    for finding in &findings {
        let level = if finding.warning { "warning" } else { "error" };
        println!("{level}: {}: [{}] {}", finding.place, finding.rule, finding.message);
    }
    let errors = findings.iter().filter(|f| !f.warning).count();
    println!(
        "tidy: {} packages, {} source files, {errors} errors, {} warnings",
        workspace.packages.len(),
        sources.len(),
        findings.len() - errors
    );
    if errors > 0 {
        bail!("tidy found {errors} errors");
    }
    Ok(())
}

/// Reads and splits all Rust sources of the workspace.
fn sources(root: &Path) -> Result<Vec<Source>> {
    let mut paths = Vec::new();
    for folder in ["crates", "docs", "examples", "xtask", "bench", "conformance", "python"] {
        walk(&root.join(folder), &mut paths)?;
    }
    paths.sort();
    let mut sources = Vec::new();
    for path in paths {
        let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let relative = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().replace('\\', "/");
        sources.push(Source::new(relative, &text));
    }
    source::mark_test_files(&mut sources);
    Ok(sources)
}

fn walk(folder: &Path, out: &mut Vec<PathBuf>) -> Result<()> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Ok(()) };
    for entry in entries {
        let entry = entry?;
        let (path, kind) = (entry.path(), entry.file_type()?);
        if kind.is_dir() && entry.file_name() != "target" {
            walk(&path, out)?;
        } else if kind.is_file() && path.extension().is_some_and(|e| e == "rs") {
            out.push(path);
        }
    }
    Ok(())
}
