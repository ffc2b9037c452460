//! Builds and tests the crates in `examples/` like crates of third parties: they are not members of this workspace,
//! have their own lock files, and are as short as examples/README.md says.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use crate::command::{cargo, root, run as start, target_dir};

/// The most lines of an example, in `src` and in `tests`.
const MOST_LINES: [(&str, usize); 2] = [("src", 60), ("tests", 25)];

/// Counts the lines of each example, checks its format, builds and tests it, all in one target folder.
pub(crate) fn run() -> Result<()> {
    for example in folders(&root())? {
        let manifest = example.join("Cargo.toml");
        for (folder, most) in MOST_LINES {
            let lines = lines(&example.join(folder))?;
            if lines > most {
                bail!(
                    "{} has {lines} lines, examples/README.md promises at most {most}",
                    example.join(folder).display()
                );
            }
        }
        start(cargo(["fmt", "--check", "--manifest-path"]).arg(&manifest))?;
        let target = target_dir().join("examples");
        let mut test = cargo(["test", "--quiet", "--locked", "--manifest-path"]);
        start(test.arg(&manifest).env("CARGO_TARGET_DIR", target)).with_context(|| {
            let update =
                "if the dependencies of the workspace have changed, run cargo update --workspace --manifest-path";
            format!("{update} {}", manifest.display())
        })?;
    }
    Ok(())
}

/// Returns the folders of the examples.
pub(crate) fn folders(root: &Path) -> Result<Vec<PathBuf>> {
    let mut folders = Vec::new();
    for entry in std::fs::read_dir(root.join("examples"))? {
        let path = entry?.path();
        // Members of the workspace have no lock file of their own.
        if path.join("Cargo.lock").exists() {
            folders.push(path);
        }
    }
    folders.sort();
    Ok(folders)
}

/// Returns the number of lines of all files in `folder`.
fn lines(folder: &Path) -> Result<usize> {
    let mut lines = 0;
    for entry in std::fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        lines += std::fs::read_to_string(entry?.path())?.lines().count();
    }
    Ok(lines)
}
