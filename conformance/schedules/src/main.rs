//! Explores the orders in which writers of the same data take their steps: thousands of random ones, each with deaths at
//! random steps, and what must hold after each. README.md says what is explored.

#![allow(clippy::unwrap_used, reason = "a panic is how a schedule fails")]
#![allow(clippy::cast_possible_truncation, reason = "numbers of writers, rows and steps are small")]

mod array;
mod disk;
mod explore;
mod files;
mod join;
mod locks;
mod mirror;
mod world;

use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Result, ensure};
use clap::Parser;

use explore::{Exploration, explore, replay};

/// All explorations.
const ALL: [Exploration; 9] = [
    array::APPENDS,
    array::WRITES,
    array::RESIZES,
    mirror::MIRROR,
    join::JOIN,
    files::FILES,
    files::UPDATES,
    locks::KEYS,
    locks::GATE,
];

/// Explores the orders in which writers of the same data take their steps.
#[derive(Debug, Parser)]
struct Cli {
    /// Only these explorations
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// The number of schedules of each
    #[arg(long, default_value_t = 1000)]
    schedules: usize,
    /// The seed of the random choices
    #[arg(long, default_value_t = 13)]
    seed: u64,
    /// Repeats a schedule that a failure has printed; with the name of its exploration
    #[arg(long, value_name = "SCHEDULE")]
    replay: Option<String>,
}

fn main() -> Result<ExitCode> {
    let cli = Cli::parse();
    let names: Vec<_> = ALL.iter().map(|one| one.name).collect();
    for name in &cli.names {
        ensure!(names.contains(&&**name), "unknown exploration {name:?}; there are {}", names.join(", "));
    }
    let chosen =
        ALL.iter().filter(|one| cli.names.is_empty() || cli.names.iter().any(|name| name == one.name));
    let mut failed = false;
    for one in chosen {
        if let Some(schedule) = &cli.replay {
            replay(one, schedule);
            continue;
        }
        let begun = Instant::now();
        match explore(one, cli.schedules, cli.seed) {
            None => {
                let seconds = begun.elapsed().as_secs_f64();
                println!(
                    "{}: {} schedules in {seconds:.1} s, seed {}: {}",
                    one.name, cli.schedules, cli.seed, one.about
                );
            }
            Some(number) => {
                failed = true;
                println!("{} fails in schedule {number} of {}, seed {}", one.name, cli.schedules, cli.seed);
            }
        }
    }
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
