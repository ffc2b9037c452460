//! Checks whether writers in several processes lose each other's updates: see README.md.

mod array;
mod ledger;
mod outcome;
mod place;
mod plan;
mod process;
mod race;
mod racer;
mod reader;
mod report;
mod writer;

use std::process::ExitCode;

use anyhow::Result;
use array::Layout;
use clap::{Parser, Subcommand, ValueEnum};
use place::{Place, Service};

/// Lets several processes update parts of the same chunks of an array, and counts lost updates.
#[derive(Debug, Parser)]
#[command(args_conflicts_with_subcommands = true)]
struct Cli {
    #[command(subcommand)]
    role: Option<Role>,
    #[command(flatten)]
    race: race::Args,
    /// How the array is stored
    #[arg(long, value_enum, default_value = "both")]
    layout: Layouts,
    /// A directory or URL where the arrays are created and kept, in place of a temporary directory; the environment has
    /// the credentials
    #[arg(long, value_name = "URL")]
    store: Option<String>,
    /// Start a service, and race there; skipped if it is not installed
    #[arg(long, value_enum, conflicts_with = "store")]
    service: Option<Service>,
    /// Print the figures as JSON, a line for each layout
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Role {
    /// A writer process, which this program starts
    #[command(hide = true)]
    Write(writer::Args),
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Layouts {
    Chunk,
    Shard,
    Both,
}

impl Layouts {
    fn each(self) -> &'static [Layout] {
        match self {
            Self::Chunk => &[Layout::Chunk],
            Self::Shard => &[Layout::Shard],
            Self::Both => &[Layout::Chunk, Layout::Shard],
        }
    }
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let done = match &cli.role {
        Some(Role::Write(args)) => writer::run(args).map(|()| true),
        None => race(&cli),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the races. Returns whether all results are as expected.
fn race(cli: &Cli) -> Result<bool> {
    cli.race.check()?;
    let temporary = tempfile::tempdir()?;
    let place = match (&cli.store, cli.service) {
        (Some(url), _) => Place::new(url),
        (None, None) => Place::new(temporary.path().to_string_lossy()),
        (None, Some(service)) => match Place::start(service)? {
            Some(place) => place,
            None => return Ok(true),
        },
    };
    let mut is_good = true;
    for layout in cli.layout.each() {
        let store = place.store(&format!("{}.zarr", layout.name()));
        let report = race::run(&cli.race, *layout, &store)?;
        if cli.json {
            println!("{}", report.json());
        } else {
            println!("{report}");
        }
        is_good &= cli.race.is_good(&report);
    }
    Ok(is_good)
}
