//! A process that reads an array while others append to it, and checks the rule for readers. It prints its figures as a line
//! of JSON.

use std::fs::File;
use std::io::Read as _;

use anyhow::{Context as _, Result};
use serde_json::json;
use zarr_array::blocking::Array;

use crate::appended::{Acknowledged, CHUNK, Reader, Sights, Window};
use crate::array::open;
use crate::place;
use crate::plan::Random;
use crate::readers::Given;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    given: Given,
    /// How many reads
    #[arg(long)]
    reads: u64,
    #[arg(long)]
    seed: u64,
}

/// The rows of a read, most of which are the last ones.
const ROWS: u64 = 16;
/// A handle is opened once in so many reads.
const HANDLE: u64 = 4;

pub(crate) fn run(args: &Args) -> Result<()> {
    let storage = place::open(&args.given.store, place::environment())?;
    let mut lines = Lines { file: File::open(&args.given.acknowledged)?, rest: String::new() };
    let (mut acknowledged, mut reader) = (Acknowledged::default(), Reader::default());
    let (mut random, mut array) = (Random(args.seed), None::<Array>);
    let (mut all, mut wrong) = (Sights::default(), Vec::new());
    for number in 0..args.reads {
        lines.read(&mut acknowledged)?;
        let before = acknowledged.count;
        let old = array.take().filter(|_| number % HANDLE != 0);
        let is_new = old.is_none();
        let current = match old {
            Some(old) => old,
            None => open(storage.clone())?,
        };
        let length = current.shape()[0];
        if is_new && length < acknowledged.length() {
            wrong.push(format!("the length is {length}, but {} was acknowledged", acknowledged.length()));
        }
        let last = length.saturating_sub(ROWS);
        let from = if random.below(8) == 0 { random.below(last + 1) } else { last } / CHUNK[0] * CHUNK[0];
        let to = length.min(from + ROWS + CHUNK[0]) / CHUNK[0] * CHUNK[0];
        let to = if to + CHUNK[0] > length { length } else { to };
        let values = current.read::<u64>(from..to)?.into_vec();
        lines.read(&mut acknowledged)?;
        match reader.check(
            Window { from, values: &values, length },
            before,
            &acknowledged,
            args.given.shape_last,
        ) {
            Ok(Sights { parts, wholes, empty }) => {
                (all.parts, all.wholes, all.empty) =
                    (all.parts + parts, all.wholes + wholes, all.empty + empty);
            }
            Err(why) => wrong.push(format!("read {number}: {why}")),
        }
        array = Some(current);
    }
    let Sights { parts, wholes, empty } = all;
    let first = wrong.first();
    println!(
        "{}",
        json!({"parts": parts, "wholes": wholes, "empty": empty, "wrong": wrong.len(), "first": first})
    );
    Ok(())
}

/// The file with the lines of the appenders.
struct Lines {
    file: File,
    /// The begin of a line whose end is not there yet.
    rest: String,
}

impl Lines {
    /// Adds what was written since the last call.
    fn read(&mut self, acknowledged: &mut Acknowledged) -> Result<()> {
        self.file.read_to_string(&mut self.rest)?;
        let end = self.rest.rfind('\n').map_or(0, |end| end + 1);
        for line in self.rest[..end].lines() {
            acknowledged.add(line).with_context(|| format!("{line:?} acknowledges no append"))?;
        }
        self.rest.drain(..end);
        Ok(())
    }
}
