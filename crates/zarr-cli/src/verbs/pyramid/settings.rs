//! The options, and the pyramid that they describe.

use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;
use zarr_copy::pyramid::{
    Downsample, Factors, LevelCount, MissingValues, MultiscaleMetadata, OmeVersion, Pyramid,
};
use zarr_copy::{Codecs, CopyError, Lengths, Shards, Size};

use crate::args::access::seconds;
use crate::args::memory::memory;
use crate::args::stores::shown;
use crate::args::target::{Target, registry};
use crate::exit::Failure;
use crate::verbs::copy::join::THREADS;

/// Make levels of lower resolution beside an array, for viewers of images and maps.
///
/// Level 0 is read once, and all levels are made on the way, in bounded memory. A level is as long as the one before divided
/// by the factor and rounded up, so no element is lost. NaN and missing values do not count. The group names the levels when
/// they are whole.
///
/// The levels lie beside level 0: those of `image.zarr/0` are `image.zarr/1`, `image.zarr/2`, …. They have its codecs and its
/// chunks, but no longer ones than the level.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Level 0, or a group: level 0 of its multiscales, its only array of two or more dimensions, or its only group with the
    /// number 0, in which all bands and coordinates get levels. Labels of an image get as many levels as it has. Of a plate or a
    /// well: all images without levels.
    #[arg(value_name = "SRC")]
    pub(super) source: PathBuf,
    /// The directory or URL of a new group: SRC is copied there first, an array as `0`, and the levels are made beside the
    /// copy. --chunks, --shards and --codecs change the copy as well. A name that ends in `.zip` is a new archive, which is packed at
    /// the end from a hidden directory beside it.
    #[arg(value_name = "DST")]
    pub(super) destination: Option<PathBuf>,
    /// How the elements of a box become one: `nearest`, `mean`, `median`, `mode`, `min` or `max`. By default the mode for
    /// labels, booleans and arrays with `flag_values`, nearest for `flag_masks`, and else the mean.
    #[arg(long, value_name = "METHOD")]
    pub(super) method: Option<Downsample>,
    /// By which factor dimensions become shorter from one level to the next: `y=2,x=2`, or a factor for each: `1,2,2`. By
    /// default 2 for the two dimensions of the image.
    #[arg(long, value_name = "NAME=N,…")]
    pub(super) factors: Option<Factors>,
    /// The number of levels to make.
    #[arg(long, value_name = "N", conflicts_with = "smallest")]
    pub(super) levels: Option<u32>,
    /// Make levels until no dimension that becomes shorter is longer than this.
    #[arg(long, value_name = "LENGTH", default_value = "256")]
    pub(super) smallest: u64,
    /// The values that do not count, beside NaN: numbers, or `none`. By default those that the array declares: `_FillValue`,
    /// `missing_value`, and in datasets of format 2 the fill value.
    #[arg(long, value_name = "V,…|none", allow_hyphen_values = true, hide_short_help = true)]
    pub(super) missing: Option<MissingValues>,
    /// The metadata of the group that name the levels. By default what the group has; else the `multiscales` convention, if
    /// there are attributes `spatial:` or `proj:`; else OME-Zarr, if the names of the dimensions fit.
    #[arg(long, value_enum, value_delimiter = ',')]
    pub(super) metadata: Vec<Metadata>,
    /// The version of OME-Zarr: 0.4, 0.5 or 0.6. By default that of the group, else 0.5 in format 3 and 0.4 in format 2.
    #[arg(long, value_name = "VERSION", hide_short_help = true)]
    pub(super) ome_version: Option<OmeVersion>,
    /// The shape of the chunks of the levels; of inner chunks, if they have shards.
    #[arg(long, value_name = "A,B,…")]
    pub(super) chunks: Option<Lengths>,
    /// The shape of the shards of the levels, or `none`.
    #[arg(long, value_name = "A,B,…|none")]
    pub(super) shards: Option<Shards>,
    /// The codecs of the levels, as in `zarr copy`.
    #[arg(long, value_name = "LIST|JSON")]
    pub(super) codecs: Option<Codecs>,
    /// The action if the group names levels already.
    #[arg(long, value_enum, default_value_t = IfExists::Fail, hide_short_help = true)]
    pub(super) if_exists: IfExists,
    /// Continue an interrupted run with the same options, or begin if there is none. Level 0 must not have changed.
    #[arg(long)]
    pub(super) resume: bool,
    /// Make the levels together with all processes that give the same name: the same command runs many times, on any machines. What
    /// a dead process had is taken over, and each process may be started again.
    #[arg(long, value_name = "JOB", conflicts_with_all = ["destination", "resume"], hide_short_help = true)]
    pub(super) join: Option<String>,
    /// With --join: how many seconds another process may give no sign of life before its part is taken over.
    #[arg(long, value_name = "SECONDS", requires = "join", default_value = "60", value_parser = seconds, hide_short_help = true)]
    pub(super) lease: Duration,
    /// Compare each level with the one before, before the group names it.
    #[arg(long)]
    pub(super) verify: bool,
    /// The memory for elements and chunks: `512MiB`, `2GB`. By default 512 MiB, or as much as one chunk or shard needs.
    #[arg(long, value_name = "SIZE", value_parser = memory, hide_short_help = true)]
    pub(super) max_memory: Option<Size>,
    /// Print the levels, and what making them costs. Nothing is written.
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Print the summary, or with --dry-run the plan, as JSON.
    #[arg(long)]
    pub(super) json: bool,
    /// Print no progress bar and no summary.
    #[arg(short, long, hide_short_help = true)]
    pub(super) quiet: bool,
}

const EXAMPLES: &str = "\
Examples:
  zarr pyramid image.zarr
  zarr pyramid image.zarr --dry-run
  zarr pyramid image.zarr/0 --levels 4 --factors z=2,y=2,x=2
  zarr pyramid labels.zarr --method mode
  zarr pyramid scan.zarr/raw s3://bucket/image.zarr --chunks 512,512
  zarr pyramid map.zarr --missing -9999 --metadata multiscales,ome
  zarr pyramid image.zarr --if-exists replace --codecs zstd:5 --max-memory 64MiB
  srun --ntasks 32 zarr pyramid /data/plate.zarr --join night-17";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Metadata {
    /// OME-Zarr.
    Ome,
    /// The convention of GeoZarr.
    Multiscales,
    /// None.
    None,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum IfExists {
    /// Fail.
    Fail,
    /// Remove these levels, and make others. The group names level 0 only meanwhile.
    Replace,
}

/// Says what an interrupted run leaves.
pub(super) fn left(args: &Args) -> String {
    let given = shown(args.destination.as_ref().unwrap_or(&args.source));
    if args.join.is_some() {
        return format!(
            "the other processes complete the levels of {given:?}; without any, the same command does"
        );
    }
    format!("the levels of {given:?} are not complete; `--resume` goes on with them")
}

pub(super) fn failed(e: &CopyError, place: &Target) -> Failure {
    place.fail(Failure::new(e.kind().into(), options(&format!("{e:#}"))))
}

/// Sets what the options change.
pub(super) fn settings(args: &Args, source: &Target, metadata: Option<&[MultiscaleMetadata]>) -> Pyramid {
    let levels = args.levels.map_or(LevelCount::Until(args.smallest), LevelCount::Further);
    let pyramid = Pyramid::new(source.storage.clone(), &source.path, &registry())
        .format(source.format)
        .method(args.method)
        .factors(args.factors.clone())
        .levels(levels)
        .missing(args.missing.clone().unwrap_or_default())
        .ome_version(args.ome_version)
        .chunks(args.chunks.clone())
        .shards(args.shards.clone())
        .codecs(args.codecs.clone())
        .replace(args.if_exists == IfExists::Replace || args.destination.is_some());
    let store = source.store.to_string_lossy();
    let name = store.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let pyramid = match name.strip_suffix(".zarr").unwrap_or(name) {
        "" | "." | ".." => pyramid,
        name => pyramid.root_name(name),
    };
    let pyramid = match metadata {
        Some(metadata) => pyramid.metadata(metadata.iter().copied()),
        None => pyramid,
    };
    // All processes cut the work into the same parts.
    let pyramid = if args.join.is_some() { pyramid.threads(THREADS) } else { pyramid };
    match args.max_memory {
        Some(memory) => pyramid.max_memory(memory.bytes()),
        None => pyramid,
    }
}

/// Returns the metadata that are asked for: a version of OME-Zarr alone asks for OME-Zarr.
pub(super) fn metadata(args: &Args) -> Result<Option<Vec<MultiscaleMetadata>>, Failure> {
    if args.metadata.is_empty() {
        return Ok(args.ome_version.map(|_| vec![MultiscaleMetadata::Ome]));
    }
    if args.metadata.contains(&Metadata::None) {
        return match args.metadata.len() {
            1 => Ok(Some(Vec::new())),
            _ => Err(Failure::usage("--metadata: none cannot be combined with others")),
        };
    }
    let known = |metadata: &Metadata| match metadata {
        Metadata::Multiscales => MultiscaleMetadata::Convention,
        _ => MultiscaleMetadata::Ome,
    };
    Ok(Some(args.metadata.iter().map(known).collect()))
}

/// Replaces the names of settings by those of options.
fn options(message: &str) -> String {
    let names = ["factors", "levels", "missing", "metadata", "chunks", "shards", "codecs", "resume", "join"];
    let message = names.iter().fold(message.to_owned(), |message, name| {
        message.replace(&format!("`{name}`"), &format!("`--{name}`"))
    });
    message
        .replace("`replace`", "`--if-exists replace`")
        .replace("`max_memory`", "`--max-memory`")
        .replace("`ome_version`", "`--ome-version`")
}
