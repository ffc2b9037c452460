//! `zarr sweep`: deletes the hidden files that dead writers have left.

use std::path::PathBuf;
use std::time::Duration;

use zarr_store_fs::FsStore;

use crate::args::place::Place;
use crate::args::stores::{Stores, shown};
use crate::exit::{Exit, Failure, Outcome};
use crate::out::json;
use crate::out::stdout::print;
use crate::out::table::count;

/// Delete the hidden files that killed writers have left: `*.__lock`. The same as `zarr rm --unfinished STORE`.
///
/// They do no harm, but may use much space. Files of running writers stay. Directories behind links are not swept.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A directory with everything below it.
    #[arg(value_name = "STORE")]
    store: PathBuf,
    /// Delete files that were last written at least this long ago. The age protects files of writers that take no locks.
    #[arg(long, value_name = "SECONDS", default_value_t = 86_400)]
    older_than: u64,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  zarr sweep weather.zarr
  zarr sweep --older-than 3600 weather.zarr";

pub(crate) fn run(args: &Args, stores: &Stores) -> Outcome {
    let given = shown(&args.store);
    let Some(directory) = Place::exact(&args.store, stores).directory() else {
        return Err(Failure::usage(format!(
            "{given:?} is not a directory; other stores leave no such files"
        )));
    };
    let swept = FsStore::open(directory).and_then(|store| store.sweep(Duration::from_secs(args.older_than)));
    let swept = swept.map_err(|e| Failure::from(e).within(format_args!("store {given:?}")))?;
    print(&match args.json {
        true => json::pretty(&json::document([("deleted", swept.into())]).into()),
        false => format!("deleted {}\n", count(usize::try_from(swept).unwrap_or(usize::MAX), "file")),
    })?;
    Ok(Exit::Ok)
}
