//! A writer process of ours: `writer.py` is the same with other implementations.
//!
//! It prints `ready`, reads lines with the first and the last number of the writes to do, and prints a line after each
//! write: `done MICROSECONDS CONFLICTS` or `failed WHY`.

use std::io::{BufRead, Write, stdin, stdout};
use std::time::Instant;

use anyhow::{Context as _, Result};
use zarr_array::PartialWrites;
use zarr_conformance::instruments::Counting;

use crate::array::open;
use crate::place;
use crate::plan::{Plan, value};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[arg(long)]
    store: String,
    #[arg(long)]
    seed: u16,
    #[arg(long)]
    writers: u64,
    #[arg(long)]
    writer: u64,
    #[arg(long)]
    unchecked: bool,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let plan = Plan { seed: args.seed, writers: args.writers };
    let (storage, counting) = Counting::over(&place::open(&args.store, place::environment())?);
    let how = if args.unchecked { PartialWrites::Unchecked } else { PartialWrites::Safe };
    let array = open(storage)?.with_partial_writes(how);
    // Every line is one system call, so that a killed process leaves only complete lines.
    let say = |line: String| stdout().lock().write_all(format!("{line}\n").as_bytes());
    say("ready".to_owned())?;
    for line in stdin().lock().lines() {
        let line = line?;
        let (first, last) = line.split_once(' ').context("expected two numbers")?;
        for number in first.parse()?..=last.parse()? {
            let part = plan.part(args.writer, number);
            let values = vec![value(args.writer, number); part.cells().count()];
            let (before, begun) = (counting.counts(), Instant::now());
            let written = array.write(part.selection(), &values);
            let took = begun.elapsed().as_micros();
            // A put that conflicts with another writer is repeated.
            let conflicts = (counting.counts() - before).puts.saturating_sub(part.chunks() as u64);
            say(match written {
                Ok(()) => format!("done {took} {conflicts}"),
                Err(e) => format!("failed {}", format!("{e:#}").replace('\n', " ")),
            })?;
        }
    }
    Ok(())
}
