//! One of our writers: does its writes one after the other, and says so of each that is done.

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::Result;
use zarr_array::{Axis, Selection};

use crate::plan::Plan;
use crate::store;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    store: PathBuf,
    /// How many writers there are
    writers: u64,
    /// Which of them this is
    writer: u64,
    /// The first write
    first: u64,
    /// Behind the last write
    end: u64,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let array = store::open(&args.store)?;
    let plan = Plan { writers: args.writers, writes: args.end };
    let mut out = std::io::stdout();
    for number in args.first..args.end {
        let write = plan.write(args.writer, number);
        let columns = Axis::step(write.columns.clone(), args.writers);
        let count = (write.rows.end - write.rows.start)
            * (write.columns.end - write.columns.start).div_ceil(args.writers);
        let values = vec![write.value; usize::try_from(count)?];
        array.write(Selection::new(vec![Axis::step(write.rows, 1), columns]), &values)?;
        writeln!(out, "{number}")?;
        out.flush()?;
    }
    Ok(())
}
