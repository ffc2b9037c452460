//! The crates in `examples/` that extend the project: as short as examples/README.md says, and they build and pass
//! their tests outside of this workspace, like crates of third parties.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use crate::command::{cargo, root, run as start, target_dir};

/// The most lines of an example, in `src` and in `tests`.
const MOST_LINES: [(&str, usize); 2] = [("src", 60), ("tests", 25)];

/// Folders that hold programs, which are no extensions. The second one is large, and has a step of its own.
const PROGRAMS: [&str; 2] = ["programs", DATAFUSION];
const DATAFUSION: &str = "datafusion";

/// Counts the lines of each example.
pub(crate) fn check() -> Result<()> {
    for example in folders(&root())? {
        for (folder, most) in MOST_LINES {
            let lines = lines(&example.join(folder))?;
            if lines > most {
                bail!(
                    "{} has {lines} lines, examples/README.md promises at most {most}",
                    example.join(folder).display()
                );
            }
        }
    }
    Ok(())
}

/// Builds and tests each example outside of this workspace, all in one target folder.
pub(crate) fn outside() -> Result<()> {
    for example in folders(&root())? {
        // The members of this workspace are copied to where they are none. Their copy of the lock file has more than
        // they need.
        if is_member(&example) {
            test(&copy_outside(&example)?.join("Cargo.toml"), &[])?;
        } else {
            test(&example.join("Cargo.toml"), &["--locked"])?;
        }
    }
    Ok(())
}

/// Builds and tests the program with DataFusion, which is larger than all others together.
pub(crate) fn datafusion() -> Result<()> {
    test(&root().join("examples").join(DATAFUSION).join("Cargo.toml"), &["--locked"])
}

/// Tests a package outside of this workspace.
fn test(manifest: &Path, options: &[&str]) -> Result<()> {
    start(cargo(["fmt", "--check", "--manifest-path"]).arg(manifest))?;
    let target = target_dir().join("examples");
    let mut test = cargo(["test", "--quiet"]);
    test.args(options).arg("--manifest-path").arg(manifest).env("CARGO_TARGET_DIR", target);
    start(&mut test).with_context(|| {
        let update =
            "if the dependencies of the workspace have changed, run cargo update --workspace --manifest-path";
        format!("{update} {}", manifest.display())
    })
}

/// Whether an example is a member of this workspace: the others have lock files.
fn is_member(example: &Path) -> bool {
    !example.join("Cargo.lock").exists()
}

/// Copies an example out of this workspace, with the versions of its lock file. Returns the copy.
fn copy_outside(example: &Path) -> Result<PathBuf> {
    let copy = target_dir().join("outside").join(example.file_name().unwrap_or_default());
    let _ = fs::remove_dir_all(&copy);
    for folder in ["src", "tests"] {
        fs::create_dir_all(copy.join(folder))?;
        for entry in fs::read_dir(example.join(folder))? {
            let file = entry?;
            fs::copy(file.path(), copy.join(folder).join(file.file_name()))?;
        }
    }
    let manifest = fs::read_to_string(example.join("Cargo.toml"))?;
    let crates = root().join("crates");
    let manifest = manifest.replace("../../crates", &crates.to_string_lossy());
    fs::write(copy.join("Cargo.toml"), manifest + "\n[workspace]\n")?;
    fs::copy(root().join("Cargo.lock"), copy.join("Cargo.lock"))?;
    Ok(copy)
}

/// Returns the folders of the examples.
pub(crate) fn folders(root: &Path) -> Result<Vec<PathBuf>> {
    let mut folders = Vec::new();
    for entry in fs::read_dir(root.join("examples"))? {
        let entry = entry?;
        if entry.path().join("Cargo.toml").exists() && !PROGRAMS.iter().any(|name| entry.file_name() == *name)
        {
            folders.push(entry.path());
        }
    }
    folders.sort();
    Ok(folders)
}

/// Returns the number of lines of all files in `folder`.
fn lines(folder: &Path) -> Result<usize> {
    let mut lines = 0;
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        lines += fs::read_to_string(entry?.path())?.lines().count();
    }
    Ok(lines)
}
