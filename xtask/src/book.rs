//! `cargo xtask book`: the guide as a book in `target/book`.

use anyhow::{Result, bail};

use crate::command::{cargo, root, run as start, target_dir};
use crate::tidy;

/// The guide, in mdBook's format.
const GUIDE: &str = "docs/guide";

/// Checks the links of all documents, and builds the book. The program that builds it is not in the workspace, which
/// therefore does not have its dependencies.
pub(crate) fn run() -> Result<()> {
    let dead = tidy::dead_links(&root())?;
    for finding in &dead {
        println!("error: {}: [{}] {}", finding.place, finding.rule, finding.message);
    }
    if !dead.is_empty() {
        bail!("{} links are dead", dead.len());
    }
    let (guide, target) = (root().join(GUIDE), target_dir().join("book"));
    let manifest = guide.join("book/Cargo.toml");
    start(cargo(["fmt", "--check", "--manifest-path"]).arg(&manifest))?;
    let mut build = cargo(["run", "--quiet", "--locked", "--manifest-path"]);
    build.arg(&manifest).arg("--").arg(&guide).arg(&target);
    start(build.env("CARGO_TARGET_DIR", target_dir().join("book-build")))?;
    println!("{}", target.join("index.html").display());
    Ok(())
}
