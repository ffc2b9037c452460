//! `zarr remove-metadata`: takes the documents of one format away.

use std::path::PathBuf;

use zarr_array::meta::Format;
use zarr_hierarchy::migrate::{RemoveOptions, blocking};

use crate::exit::Outcome;
use crate::planned::How;
use crate::stores::Stores;
use crate::target::Target;

/// Remove the metadata of one format from a hierarchy that has that of another as well.
///
/// That of format 2 are .zarray, .zgroup, .zattrs and .zmetadata, that of format 3 zarr.json. Nothing is removed if any
/// node would be none any more. Chunks stay.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The format whose metadata goes.
    #[arg(value_name = "v2|v3", value_parser = ["v2", "v3"])]
    format: String,
    /// The node, with all that is below it.
    #[arg(value_name = "INPUT")]
    input: PathBuf,
    /// Remove metadata also where there is no valid metadata of the other format.
    #[arg(long)]
    force: bool,
    /// Print what would be deleted, and change nothing.
    #[arg(long)]
    dry_run: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
    /// No progress bar and no summary.
    #[arg(short, long)]
    quiet: bool,
}

const EXAMPLES: &str = "\
Examples:
  zarr remove-metadata v2 weather.zarr --dry-run
  zarr remove-metadata v2 weather.zarr";

pub(crate) fn run(args: &Args, stores: &Stores) -> Outcome {
    let target = Target::find(&args.input, stores)?;
    let format = if args.format == "v3" { Format::V3 } else { Format::V2 };
    let options = RemoveOptions::new().force(args.force);
    let plan = blocking::plan_removal(target.storage.clone(), &target.path, format, &options);
    let how = How { dry_run: args.dry_run, json: args.json, quiet: args.quiet };
    how.carry_out(&plan.map_err(|e| target.fail(e))?, &target.store)
}
