//! The implementations of writers.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

/// The implementation of a writer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub(crate) enum Kind {
    Ours,
    Tensorstore,
    ZarrPython,
    Zarrs,
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ours => "ours",
            Self::Tensorstore => "tensorstore",
            Self::ZarrPython => "zarr-python",
            Self::Zarrs => "zarrs",
        }
    }

    /// Returns the command for a writer process.
    pub(crate) fn command(self, python: &Path) -> Result<Command> {
        if self == Self::Ours {
            let mut command = Command::new(std::env::current_exe()?);
            command.arg("write");
            return Ok(command);
        }
        let mut command = Command::new(python);
        command.arg(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("writer.py"));
        command.args(["--with", self.name()]);
        Ok(command)
    }
}
