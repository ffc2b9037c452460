//! Checks that are run again only if the files that they guard have changed: `.ci/passed` has a digest of these files
//! from the last run that passed.
//!
//! Whoever changes such a file runs the check, and commits the new digest with the change; CI runs the check if the
//! digest is not that of the files. `cargo xtask full` runs the checks always.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result};
use sha2::{Digest as _, Sha256};

use crate::command::{output, root};

/// A check, and the files that it guards: paths from the root, as git matches them.
#[derive(Debug)]
pub(crate) struct Guard {
    pub(crate) name: &'static str,
    pub(crate) files: &'static [&'static str],
}

impl Guard {
    /// Runs the check, unless it may be left out because it passed with these files, and remembers that it passed.
    pub(crate) fn run(&self, if_changed: bool, check: impl FnOnce() -> Result<bool>) -> Result<()> {
        let digest = self.digest()?;
        if if_changed && self.passed()? == Some(digest.clone()) {
            println!("{}: left out, it passed with these files", self.name);
            return Ok(());
        }
        // A check that cannot run on this machine has not passed.
        if check()? {
            self.remember(&digest)?;
        }
        Ok(())
    }

    /// Returns the digest of the names and contents of the guarded files.
    fn digest(&self) -> Result<String> {
        let mut git = Command::new("git");
        git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--"]).args(self.files);
        let listed = output(git.current_dir(root()))?;
        let mut names: Vec<&str> = listed.split_terminator('\0').collect();
        names.sort_unstable();
        names.dedup();
        let mut all = Sha256::new();
        for name in names {
            // git lists a deleted file until the deletion is committed.
            let Ok(content) = fs::read(root().join(name)) else { continue };
            all.update(Sha256::digest(name.as_bytes()));
            all.update(Sha256::digest(content));
        }
        Ok(all.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// Returns the digest of the last run that passed.
    fn passed(&self) -> Result<Option<String>> {
        let lines = lines()?;
        let line = lines.iter().find_map(|line| line.strip_prefix(self.name)?.strip_prefix(' '));
        Ok(line.map(str::to_owned))
    }

    fn remember(&self, digest: &str) -> Result<()> {
        let mut lines = lines()?;
        lines.retain(|line| line.split(' ').next() != Some(self.name));
        lines.push(format!("{} {digest}", self.name));
        lines.sort_unstable();
        fs::write(record(), lines.join("\n") + "\n").with_context(|| record().display().to_string())
    }
}

fn record() -> PathBuf {
    root().join(".ci/passed")
}

fn lines() -> Result<Vec<String>> {
    let text = match fs::read_to_string(record()) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        text => text.with_context(|| record().display().to_string())?,
    };
    Ok(text.lines().map(str::to_owned).collect())
}
