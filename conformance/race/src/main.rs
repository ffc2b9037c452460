//! Checks whether writers in several processes lose each other's updates, and what readers see of appends: see README.md.

mod appended;
mod appender;
mod args;
mod array;
mod kind;
mod ledger;
mod observer;
mod outcome;
mod place;
mod plan;
mod process;
mod race;
mod racer;
mod reader;
mod readers;
mod report;
mod resizer;
mod resizes;
mod writer;

use std::process::ExitCode;

use anyhow::Result;
use array::Layout;
use clap::{Parser, Subcommand, ValueEnum};
use place::{Place, Service, Store};

/// Lets several processes update parts of the same chunks of an array, and counts lost updates.
#[derive(Debug, Parser)]
#[command(args_conflicts_with_subcommands = true)]
struct Cli {
    #[command(subcommand)]
    role: Option<Role>,
    #[command(flatten)]
    race: args::Args,
    #[command(flatten)]
    arrays: Arrays,
    /// Print the figures as JSON, a line for each layout
    #[arg(long)]
    json: bool,
}

/// Where the arrays are, and how they are stored.
#[derive(Debug, clap::Args)]
struct Arrays {
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
}

#[derive(Debug, Subcommand)]
enum Role {
    /// Read an array while others append to it and are killed, and check the rule for readers
    Readers {
        #[command(flatten)]
        readers: readers::Args,
        #[command(flatten)]
        arrays: Arrays,
    },
    /// Let two processes append while a third one makes the array shorter, and check that nothing is lost or comes back
    Resizes {
        #[command(flatten)]
        resizes: resizes::Args,
        #[command(flatten)]
        arrays: Arrays,
    },
    /// A writer process, which this program starts
    #[command(hide = true)]
    Write(writer::Args),
    /// A process that appends, which this program starts
    #[command(hide = true)]
    Append(appender::Args),
    /// A process that reads what is appended, which this program starts
    #[command(hide = true)]
    Observe(observer::Args),
    /// A process that appends or makes the array shorter, which this program starts
    #[command(hide = true)]
    Resize(resizer::Args),
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
        Some(Role::Append(args)) => appender::run(args).map(|()| true),
        Some(Role::Observe(args)) => observer::run(args).map(|()| true),
        Some(Role::Resize(args)) => resizer::run(args).map(|()| true),
        Some(Role::Resizes { resizes, arrays }) => {
            arrays.each(|layout, store| resizes::run(resizes, layout, store))
        }
        Some(Role::Readers { readers, arrays }) => {
            arrays.each(|layout, store| readers::run(readers, layout, store))
        }
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
    cli.arrays.each(|layout, store| {
        let report = race::run(&cli.race, layout, store)?;
        if cli.json {
            println!("{}", report.json());
        } else {
            println!("{report}");
        }
        Ok(cli.race.is_good(&report))
    })
}

impl Arrays {
    /// Calls `run` with the store of an array of each layout. Returns whether all results are good, or the service is missing.
    fn each(&self, run: impl Fn(Layout, &Store<'_>) -> Result<bool>) -> Result<bool> {
        let temporary = tempfile::tempdir()?;
        let place = match (&self.store, self.service) {
            (Some(url), _) => Place::new(url),
            (None, None) => Place::new(temporary.path().to_string_lossy()),
            (None, Some(service)) => match Place::start(service)? {
                Some(place) => place,
                None => return Ok(true),
            },
        };
        self.layout.each().iter().try_fold(true, |is_good, layout| {
            let store = place.store(&format!("{}.zarr", layout.name()));
            Ok(run(*layout, &store)? && is_good)
        })
    }
}
