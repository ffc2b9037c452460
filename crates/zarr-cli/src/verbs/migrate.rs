//! `zarr migrate`: converts nodes of formats 2 and 1 to format 3 by writing metadata only.

use std::fs;
use std::path::{Path, PathBuf};

use zarr_array::meta::Format;
use zarr_hierarchy::migrate::{MigrateOptions, blocking};

use crate::args::place::Place;
use crate::args::stores::{Stores, shown};
use crate::args::target::Target;
use crate::exit::{Failure, Outcome};
use crate::planned::How;
use crate::verbs::copy::check_name;
use crate::verbs::remove_metadata;

/// Convert a hierarchy to format 3 by writing new metadata; chunks stay unchanged.
///
/// Writes a zarr.json for every array and group. Metadata of format 2 or 1 stays unless --remove-v2-metadata is given.
/// If any node cannot be converted, nothing is written. The zarr.json of INPUT itself is written last, so an
/// interrupted run changes nothing for readers and can be repeated. Consolidated metadata is converted as well.
///
/// Dimension names move from the attributes to `dimension_names`. Arrays of xarray get the attribute that marks missing
/// values.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, override_usage = USAGE)]
pub(crate) struct Args {
    /// The node to convert, with everything below it, and a directory or URL for the new metadata, empty or left by an earlier
    /// run. Chunks are not copied. By default the metadata is written to INPUT. The format to convert to, v3, may come first.
    #[arg(value_name = "INPUT", required = true, num_args = 1..=3)]
    places: Vec<PathBuf>,
    /// Print what would be written and deleted; change nothing.
    #[arg(long)]
    dry_run: bool,
    /// Remove existing zarr.json files that differ before the migration starts.
    #[arg(long, group = "removing")]
    overwrite: bool,
    /// Convert nothing: remove the metadata of this format where there is metadata of the other one, too.
    #[arg(long, value_name = "v2|v3", value_parser = ["v2", "v3"], group = "removing")]
    #[arg(conflicts_with_all = ["remove_v2_metadata", "keep_going", "keep_array_dimensions"])]
    remove: Option<String>,
    /// With --overwrite or --remove: also remove it where there is no valid metadata of the other format.
    #[arg(long, requires = "removing")]
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

const USAGE: &str = "\
zarr migrate [OPTIONS] INPUT [OUTPUT]
       zarr migrate [OPTIONS] --remove v2|v3 INPUT";

const EXAMPLES: &str = "\
Examples:
  zarr migrate weather.zarr --dry-run
  zarr migrate weather.zarr
  zarr migrate weather.zarr --remove-v2-metadata
  zarr migrate weather.zarr new-metadata.zarr
  zarr migrate --remove v2 weather.zarr";

impl Args {
    /// Returns INPUT and OUTPUT.
    fn places(&self) -> Result<(&Path, Option<&Path>), Failure> {
        let (first, rest) =
            self.places.split_first().map_or((None, &[][..]), |(first, rest)| (Some(first), rest));
        let format =
            first.filter(|first| ["v1", "v2", "v3"].iter().any(|format| first.as_os_str() == *format));
        let places = match format {
            Some(format) if !format.exists() => {
                if format.as_os_str() != "v3" {
                    let input =
                        rest.first().map_or("INPUT".to_owned(), |input| shown(input).display().to_string());
                    let message = format!("the format to convert to can only be v3: `zarr migrate {input}`");
                    return Err(Failure::usage(message));
                }
                rest
            }
            _ => &self.places,
        };
        match places {
            [input] => Ok((input, None)),
            [input, output] => Ok((input, Some(output))),
            [] => Err(Failure::usage("INPUT is missing: `zarr migrate INPUT`")),
            _ => Err(Failure::usage(
                "one INPUT and at most one OUTPUT are needed: `zarr migrate INPUT OUTPUT`",
            )),
        }
    }
}

pub(crate) fn run(args: &Args, stores: &Stores) -> Outcome {
    let (input, output) = args.places()?;
    if let Some(format) = &args.remove {
        if output.is_some() {
            return Err(Failure::usage("--remove takes INPUT only"));
        }
        let how = How { dry_run: args.dry_run, json: args.json, quiet: args.quiet };
        return remove_metadata::remove(format, input, args.force, how, stores);
    }
    let source = match output {
        Some(_) => Target::find(input, stores)?,
        None => Target::to_change(input, stores)?,
    };
    let options = MigrateOptions::new()
        .format(source.format.unwrap_or(Format::V2))
        .overwrite(args.overwrite)
        .force(args.force)
        .remove_old(args.remove_v2_metadata)
        .keep_going(args.keep_going)
        .keep_dimensions(args.keep_array_dimensions);
    let how = How { dry_run: args.dry_run, json: args.json, quiet: args.quiet };
    let Some(output) = output else {
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
