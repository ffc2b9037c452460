//! A process that appends to an array, or makes it shorter once. It begins when it gets a line, and prints a line for each
//! change: when it began and ended, and for an append its number and its first row.

use std::io::stdin;
use std::thread::sleep;
use std::time::{Duration, SystemTime};

use anyhow::{Result, bail};
use zarr_array::{ArrayErrorKind, NdVec};

use crate::appended::{Append, COLUMNS};
use crate::array::open;
use crate::place;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[arg(long)]
    store: String,
    /// The number of the process
    #[arg(long)]
    process: u64,
    /// How many appends
    #[arg(long, default_value_t = 0)]
    appends: u64,
    /// Make the array as short as this
    #[arg(long, conflicts_with = "appends")]
    shorter: Option<u64>,
    /// A wait before that
    #[arg(long, default_value_t = 0)]
    microseconds: u64,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let storage = place::open(&args.store, place::environment())?;
    let mut array = open(storage.clone())?;
    println!("ready");
    stdin().read_line(&mut String::new())?;
    for number in 1..=args.appends {
        let append = Append { process: args.process, number };
        let (rows, values) = (append.rows(), append.values());
        let began = now()?;
        let appended = array.append(0, NdVec::new([rows, COLUMNS as u64], values)?);
        let kind = match &appended {
            Ok(()) => "append",
            // The array was made shorter meanwhile.
            Err(e) if e.kind() == ArrayErrorKind::Conflict => "refused",
            Err(_) => return Ok(appended?),
        };
        println!("{kind} {number} {} {began} {}", array.shape()[0].saturating_sub(rows), now()?);
        if appended.is_err() {
            array = open(storage.clone())?;
        }
    }
    let Some(length) = args.shorter else { return Ok(()) };
    sleep(Duration::from_micros(args.microseconds));
    for _ in 0..ATTEMPTS {
        let began = now()?;
        match open(storage.clone())?.resize([length, COLUMNS as u64]) {
            Ok(()) => {
                println!("shorter {began} {}", now()?);
                return Ok(());
            }
            // Another process has appended since the array was opened.
            Err(e) if e.kind() == ArrayErrorKind::Conflict => {}
            Err(e) => return Err(e.into()),
        }
    }
    bail!("others changed the shape again and again");
}

/// How often the array is opened to make it shorter.
const ATTEMPTS: usize = 10_000;

/// Returns the time in nanoseconds. All processes have the same clock.
fn now() -> Result<u128> {
    Ok(SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?.as_nanos())
}
