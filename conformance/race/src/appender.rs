//! A process that appends to an array, and acknowledges each append with a line in a file.

use std::fs::File;
use std::io::Write as _;
use std::thread::sleep;
use std::time::Duration;

use anyhow::Result;
use zarr_array::NdVec;

use crate::appended::{Append, COLUMNS};
use crate::array::open;
use crate::place;
use crate::readers::Given;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    given: Given,
    /// The number of the process
    #[arg(long)]
    process: u64,
}

/// A wait between appends, so that the array stays small.
const WAIT: Duration = Duration::from_millis(2);

pub(crate) fn run(args: &Args) -> Result<()> {
    let mut array = open(place::open(&args.given.store, place::environment())?)?;
    let mut acknowledged = File::options().append(true).open(&args.given.acknowledged)?;
    for number in 1.. {
        let append = Append { process: args.process, number };
        let (rows, values) = (append.rows(), append.values());
        if args.given.shape_last {
            let old = array.shape().to_vec();
            let mut longer = array.with_shape([old[0] + rows, old[1]])?;
            longer.write(old[0]..old[0] + rows, &values)?;
            longer.store_shape(&old)?;
            array = longer;
        } else {
            array.append(0, NdVec::new([rows, COLUMNS as u64], values)?)?;
        }
        // One system call, so that a killed process leaves only complete lines.
        acknowledged.write_all(append.line(array.shape()[0] - rows).as_bytes())?;
        sleep(WAIT);
    }
    Ok(())
}
