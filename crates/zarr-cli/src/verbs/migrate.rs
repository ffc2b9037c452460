//! `zarr migrate`: converts nodes of formats 2 and 1 to format 3 by writing metadata only.

use std::fs;
use std::path::PathBuf;

use zarr_array::meta::Format;
use zarr_hierarchy::migrate::{MigrateOptions, blocking};

use crate::args::place::Place;
use crate::args::stores::{Stores, shown};
use crate::args::target::Target;
use crate::exit::{Failure, Outcome};
use crate::planned::How;
use crate::verbs::copy::check_name;

/// Convert a hierarchy to format 3 by writing new metadata; chunks stay unchanged.
///
/// Writes a zarr.json for every array and group. Metadata of format 2 or 1 stays unless --remove-v2-metadata is given.
/// If any node cannot be converted, nothing is written. The zarr.json of INPUT itself is written last, so an
/// interrupted run changes nothing for readers and can be repeated. Consolidated metadata is converted as well.
///
/// Dimension names move from the attributes to `dimension_names`. Arrays of xarray get the attribute that marks missing
/// values.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The format to convert to.
    #[arg(value_name = "v3", value_parser = version)]
    to: String,
    /// The node to convert, with everything below it.
    #[arg(value_name = "INPUT")]
    input: PathBuf,
    /// A directory or URL for the new metadata, empty or left by an earlier run. Chunks are not copied. By default the
    /// metadata is written to INPUT.
    #[arg(value_name = "OUTPUT")]
    output: Option<PathBuf>,
    /// Print what would be written and deleted; change nothing.
    #[arg(long)]
    dry_run: bool,
    /// Remove existing zarr.json files that differ before the migration starts.
    #[arg(long)]
    overwrite: bool,
    /// With --overwrite: also remove them where there is no metadata of format 2.
    #[arg(long, requires = "overwrite")]
    force: bool,
    /// Remove the metadata of format 2, if any, beside the new metadata once that is complete.
    #[arg(long)]
    remove_v2_metadata: bool,
    /// Convert what can be converted. Nodes that cannot be converted, and everything in such groups, stay as they are.
    #[arg(long)]
    keep_going: bool,
    /// Keep the attribute _ARRAY_DIMENSIONS beside the dimension names.
    #[arg(long)]
    keep_array_dimensions: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
    /// Print no progress bar, no notes and no summary.
    #[arg(short, long)]
    quiet: bool,
}

const EXAMPLES: &str = "\
Examples:
  zarr migrate v3 weather.zarr --dry-run
  zarr migrate v3 weather.zarr
  zarr migrate v3 weather.zarr --remove-v2-metadata
  zarr migrate v3 weather.zarr new-metadata.zarr";

/// Accepts the only format to convert to.
fn version(text: &str) -> Result<String, String> {
    match text {
        "v3" => Ok(text.to_owned()),
        _ => {
            Err(format!("the format to convert to comes first, and can only be v3: `zarr migrate v3 {text}`"))
        }
    }
}

pub(crate) fn run(args: &Args, stores: &Stores) -> Outcome {
    let source = match args.output {
        Some(_) => Target::find(&args.input, stores)?,
        None => Target::to_change(&args.input, stores)?,
    };
    let options = MigrateOptions::new()
        .format(source.format.unwrap_or(Format::V2))
        .overwrite(args.overwrite)
        .force(args.force)
        .remove_old(args.remove_v2_metadata)
        .keep_going(args.keep_going)
        .keep_dimensions(args.keep_array_dimensions);
    let how = How { dry_run: args.dry_run, json: args.json, quiet: args.quiet };
    let Some(output) = &args.output else {
        let plan = blocking::plan(source.storage.clone(), &source.path, &options);
        return how.carry_out(&plan.map_err(|e| source.fail(e))?, &source.store);
    };
    let is_new = stores.url(output).is_none() && !output.exists();
    check_name(output, stores)?;
    let to = Place::exact(output, stores);
    if to.format == Some(Format::V2) {
        return Err(Failure::usage(format!(
            "{:?} asks for format 2; migrate writes format 3",
            shown(output)
        )));
    }
    let storage = to.create_unless(args.dry_run, stores)?;
    let plan = blocking::plan_into(source.storage.clone(), &source.path, storage, &to.path, &options);
    let done = plan.map_err(|e| source.fail(e)).and_then(|plan| how.carry_out(&plan, &to.store));
    if is_new && done.is_err() {
        // Succeeds only if it is empty.
        let _ = fs::remove_dir(output);
    }
    done
}
