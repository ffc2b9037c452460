//! `cargo xtask book`: the guide as a book in `target/book`.

use anyhow::Result;

use crate::command::{cargo, root, run as start, target_dir};

/// The guide, in mdBook's format.
const GUIDE: &str = "docs/guide";

/// Builds the book. The program that builds it is not in the workspace, which
/// therefore does not have its dependencies.
pub(crate) fn run() -> Result<()> {
    let (guide, target) = (root().join(GUIDE), target_dir().join("book"));
    let manifest = guide.join("book/Cargo.toml");
    start(cargo(["fmt", "--check", "--manifest-path"]).arg(&manifest))?;
    let mut build = cargo(["run", "--quiet", "--locked", "--manifest-path"]);
    build.arg(&manifest).arg("--").arg(&guide).arg(&target);
    start(build.env("CARGO_TARGET_DIR", target_dir().join("book-build")))?;
    println!("{}", target.join("index.html").display());
    Ok(())
}
