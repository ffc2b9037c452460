//! Whether writers in several processes lose each other's updates of parts of the same chunks and shards.
//!
//! `plan` says what each writer writes, in a way that the writers of other implementations can repeat; `writer` does it;
//! `reader` looks for torn and stale values meanwhile; `driver` starts, kills and restarts them, and counts what is lost;
//! `report` prints it.

mod driver;
mod plan;
mod reader;
mod report;
mod store;
mod writer;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand, ValueEnum};

/// Races writers in several processes over the same chunks and shards of a directory, and counts what is lost.
#[derive(Debug, Parser)]
#[command(name = "race", args_conflicts_with_subcommands = true)]
struct Cli {
    #[command(flatten)]
    race: Race,
    #[command(subcommand)]
    verb: Option<Verb>,
}

/// A race.
#[derive(Debug, clap::Args)]
struct Race {
    /// Writes of each writer
    #[arg(long, default_value_t = 500)]
    writes: u64,
    /// The writers: ours, tensorstore, zarr-python or zarrs, in any mixture
    #[arg(long, value_delimiter = ',', default_value = "ours,ours,ours,ours")]
    writers: Vec<Kind>,
    /// What they write to
    #[arg(long, value_delimiter = ',', default_value = "chunk,shard")]
    layout: Vec<Layout>,
    /// How often each of our writers is killed and started again
    #[arg(long, default_value_t = 5)]
    kills: u64,
    /// Give up after so many seconds
    #[arg(long, default_value_t = 600)]
    patience: u64,
    /// The Python of the writers that need one
    #[arg(long, default_value = "python3")]
    python: PathBuf,
    /// Where the arrays are written [default: a folder that is removed at the end]
    #[arg(long)]
    dir: Option<PathBuf>,
    /// Print one JSON object for each race
    #[arg(long)]
    json: bool,
}

/// An implementation that writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    Ours,
    Tensorstore,
    ZarrPython,
    Zarrs,
}

/// How the array is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Layout {
    Chunk,
    Shard,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// One of our writers, as the race starts it
    #[command(hide = true)]
    Write(writer::Args),
}

fn main() -> Result<ExitCode> {
    let cli = Cli::parse();
    if let Some(Verb::Write(args)) = &cli.verb {
        writer::run(args)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut clean = true;
    for layout in &cli.race.layout {
        let result = driver::run(&cli.race, *layout)?;
        report::print(&cli.race, *layout, &result);
        clean &= result.is_clean();
    }
    Ok(if clean { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
