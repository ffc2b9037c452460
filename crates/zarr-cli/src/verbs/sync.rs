//! `zarr sync`: makes a node equal to another one, and writes only what differs.

use std::path::{Path, PathBuf};

use zarr_array::block_on;
use zarr_array::meta::Format;
use zarr_copy::{CopyError, Mirror, Mirrored, Moved};

use crate::args::place::Place;
use crate::args::stores::{Stores, shown};
use crate::args::target::Target;
use crate::exit::{Exit, Failure, Outcome};
use crate::interrupt;
use crate::out::json;
use crate::out::progress::Progress;
use crate::out::stdout::print;
use crate::out::table::{bytes, count};
use crate::verbs::copy::{self, check_outside};

/// Make a node equal to another one, writing only what differs.
///
/// Objects are compared byte for byte, and written where DST lacks them or has others. So a backup costs little when little
/// has changed, an interrupted run is continued by the next one, and a run without changes writes nothing. Chunks are written
/// first, then metadata, and objects are deleted last.
///
/// Chunks that SRC does not store are deleted in DST as well: they would be read instead of the fill value. Nodes and
/// other objects that only DST has stay, unless --delete is given. What cannot be seen in SRC, such as a link to a disk that
/// is not mounted, is an error and not deleted in DST; so is a link to a folder below DST. For other chunks, codecs or another
/// format use `copy`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The node to take over, with everything below it.
    #[arg(value_name = "SRC")]
    source: PathBuf,
    /// The directory or URL of the node to change, or of a new one.
    #[arg(value_name = "DST")]
    destination: PathBuf,
    /// Delete everything in DST that SRC lacks: nodes, and objects that belong to no node.
    #[arg(long)]
    delete: bool,
    /// Replace documents of DST that can be read also by documents of SRC that cannot, such as empty ones.
    #[arg(long)]
    force: bool,
    /// Take objects of the same size for equal, without reading them. Changed chunks without compression are not noticed.
    #[arg(long)]
    size_only: bool,
    /// Write and delete nothing; count what would be written and deleted.
    #[arg(long)]
    dry_run: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
    /// Print no progress and no summary.
    #[arg(short, long)]
    quiet: bool,
}

const EXAMPLES: &str = "\
Examples:
  zarr sync weather.zarr backup.zarr
  zarr sync weather.zarr s3://bucket/weather.zarr --delete --dry-run
  zarr sync weather.zarr/t2m s3://bucket/weather.zarr/t2m --size-only";

pub(crate) fn run(args: &Args, stores: &Stores) -> Outcome {
    let source = Target::find(&args.source, stores)?;
    if source.format == Some(Format::V1) {
        return Err(source.fail(Failure::unsupported("arrays of format 1 can be read, but not written")));
    }
    copy::check_name(&args.destination, stores)?;
    check_apart(&source, args, stores)?;
    let destination = copy::shared(&args.destination, stores)?;
    let storage = destination.create_unless(args.dry_run, stores)?;
    let fail = |e: CopyError| match e.is_of_source() {
        true => source.fail(e),
        false => Failure::from(e).within(format_args!("{:?}", shown(&args.destination))),
    };
    let mirror =
        Mirror::new(source.storage.clone(), &source.path, storage, &destination.path).map_err(fail)?;
    let mirror = mirror.delete(args.delete).by_size(args.size_only).dry_run(args.dry_run).force(args.force);
    let progress = if args.quiet { Progress::new(0, true) } else { Progress::objects() };
    let _interruptible = interrupt::saying("the same command goes on with what is left".to_owned());
    let done = block_on(mirror.run(&|key, _| {
        progress.at(key);
        progress.add(1);
    }));
    drop(progress);
    let done = done.map_err(fail)?;
    if args.json {
        print(&to_json(&done, args.dry_run))?;
    } else if !args.quiet {
        print(&to_text(&done, args.dry_run))?;
    }
    Ok(Exit::Ok)
}

/// Fails if one node is the other, or inside of it.
fn check_apart(source: &Target, args: &Args, stores: &Stores) -> Result<(), Failure> {
    check_outside(source, [&args.source, &args.destination], stores)?;
    let [from, to] = [source.identity(), Place::exact(&args.destination, stores).identity()];
    let [from, to] = [from, to].map(|name| name.replacen("|zarr:", "/", 1));
    if !Path::new(&from).starts_with(&to) {
        return Ok(());
    }
    let [from, to] = [&args.source, &args.destination].map(shown);
    Err(Failure::usage(format!("{from:?} is inside of {to:?}, or the same")))
}

fn to_text(done: &Mirrored, dry_run: bool) -> String {
    let objects = |of: Moved| count(usize::try_from(of.objects).unwrap_or(usize::MAX), "object");
    let written = |of: Moved, what: &str| {
        (of.objects > 0).then(|| format!("{} {what} ({})", objects(of), bytes(of.bytes.into())))
    };
    let parts =
        [written(done.new, "new"), written(done.changed, "changed"), written(done.deleted, "deleted")];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let changes = if parts.is_empty() { "nothing changed".to_owned() } else { parts.join(", ") };
    let left = match done.left.objects {
        0 => String::new(),
        _ => format!("; {} only in DST left, which --delete deletes", objects(done.left)),
    };
    let would = if dry_run { "would be: " } else { "" };
    format!("{would}{changes}; {} the same{left}\n", objects(done.unchanged))
}

fn to_json(done: &Mirrored, dry_run: bool) -> String {
    let moved = |of: Moved| json::object([("objects", of.objects.into()), ("bytes", of.bytes.into())]).into();
    let document = json::document([
        ("dry_run", dry_run.into()),
        ("new", moved(done.new)),
        ("changed", moved(done.changed)),
        ("unchanged", moved(done.unchanged)),
        ("deleted", moved(done.deleted)),
        ("left", moved(done.left)),
    ]);
    json::pretty(&document.into())
}
