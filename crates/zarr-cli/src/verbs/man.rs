//! `zarr man`: writes the manual pages.

use std::fs;
use std::path::PathBuf;

use clap_mangen::generate_to;

use crate::command;
use crate::exit::{Exit, Failure, Outcome};

/// Write the manual pages of this command and its verbs into a directory.
///
/// The pages are named zarr.1, zarr-info.1, and so on. Existing files with these names are replaced.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The directory. It is created if it does not exist.
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

const EXAMPLES: &str = "\
Examples:
  zarr man ~/.local/share/man/man1
  man zarr-copy";

pub(crate) fn run(args: &Args) -> Outcome {
    let written = fs::create_dir_all(&args.directory).and_then(|()| generate_to(command(), &args.directory));
    written
        .map_err(|e| Failure::io(&e, format_args!("cannot write manual pages to {:?}", args.directory)))?;
    Ok(Exit::Ok)
}
