//! `zarr migrate --remove`, and its old name `zarr remove-metadata`: removes the metadata of one format.

use std::path::{Path, PathBuf};

use zarr_array::meta::Format;
use zarr_hierarchy::migrate::{RemoveOptions, blocking};

use crate::args::stores::Stores;
use crate::args::target::Target;
use crate::exit::Outcome;
use crate::planned::How;

/// Remove the metadata of one format where there is metadata of another format as well. The same as `zarr migrate --remove`.
///
/// For format 2 these are .zarray, .zgroup, .zattrs and .zmetadata; for format 3 zarr.json. Nothing is removed if a
/// node would lose all its metadata. Chunks stay.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The format whose metadata is removed.
    #[arg(value_name = "v2|v3", value_parser = ["v2", "v3"])]
    format: String,
    /// The node, with everything below it.
    #[arg(value_name = "INPUT")]
    input: PathBuf,
    /// Also remove metadata where there is no valid metadata of the other format.
    #[arg(long)]
    force: bool,
    /// Print what would be deleted; change nothing.
    #[arg(long)]
    dry_run: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
    /// Print no progress bar and no summary.
    #[arg(short, long)]
    quiet: bool,
}

const EXAMPLES: &str = "\
Examples:
  zarr remove-metadata v2 weather.zarr --dry-run
  zarr remove-metadata v2 weather.zarr";

pub(crate) fn run(args: &Args, stores: &Stores) -> Outcome {
    let how = How { dry_run: args.dry_run, json: args.json, quiet: args.quiet };
    remove(&args.format, &args.input, args.force, how, stores)
}

/// Removes the metadata of a format, `v2` or `v3`.
pub(super) fn remove(format: &str, input: &Path, force: bool, how: How, stores: &Stores) -> Outcome {
    let target = Target::to_change(input, stores)?;
    let format = if format == "v3" { Format::V3 } else { Format::V2 };
    let options = RemoveOptions::new().force(force);
    let plan = blocking::plan_removal(target.storage.clone(), &target.path, format, &options);
    how.carry_out(&plan.map_err(|e| target.fail(e))?, &target.store)
}
