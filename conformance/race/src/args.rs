//! The arguments of a race.

use std::path::PathBuf;

use anyhow::{Result, ensure};

use crate::kind::Kind;
use crate::plan::MOST_WRITERS;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// How many writes each writer makes
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = clap::value_parser!(u64).range(1..1 << 24))]
    pub(crate) writes: u64,
    /// The writers, each a process
    #[arg(long, value_enum, value_delimiter = ',', default_value = "ours,ours,ours,ours")]
    pub(crate) writers: Vec<Kind>,
    /// Kill each of our writers about once in this many writes, at least 20; 0: never
    #[arg(long, value_name = "N", default_value_t = 25)]
    pub(crate) kill: u64,
    /// Also kill writers of other implementations
    #[arg(long)]
    pub(crate) kill_others: bool,
    /// The seed of the writes
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u16,
    /// Give up after this many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    pub(crate) timeout: u64,
    /// The Python that has the other implementations
    #[arg(long, default_value = "python3")]
    pub(crate) python: PathBuf,
    /// Let writers put a chunk even if it has changed since they read it; then updates must get lost
    #[arg(long)]
    pub(crate) unchecked: bool,
}

impl Args {
    /// Checks the arguments.
    pub(crate) fn check(&self) -> Result<()> {
        let most = MOST_WRITERS;
        ensure!((1..=most).contains(&self.writers.len()), "the number of writers must be 1 to {most}");
        Ok(())
    }

    /// Like [`check`](Self::check), for races where only our writers can take part.
    pub(crate) fn check_ours(&self) -> Result<()> {
        ensure!(
            self.writers.iter().all(|kind| *kind == Kind::Ours),
            "only our writers can take part in this race"
        );
        Ok(())
    }

    /// Returns how often a writer is killed: about once in this many writes.
    pub(crate) fn kills(&self, kind: Kind) -> u64 {
        if kind == Kind::Ours || self.kill_others { self.kill } else { 0 }
    }
}
