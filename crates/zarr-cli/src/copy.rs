//! `zarr copy`: copies an array or a hierarchy, optionally with other chunks and codecs.
//!
//! Everything is planned before anything is written, so that nodes that cannot be copied are found first. The copy
//! grows in a hidden directory beside the destination and is renamed when it is complete. It has no metadata documents
//! until then, so a killed process leaves no node.

mod blocks;
mod change;
mod codecs;
mod directory;
mod document;
mod draft;
mod filter;
mod indices;
mod left;
mod marker;
mod notes;
mod objects;
mod place;
mod plan;
mod publish;
#[cfg(test)]
mod tests;
mod url;
mod work;

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use zarr_array::Cpu;
use zarr_array::meta::Format;
use zarr_hierarchy::objects::Moved;

use crate::exit::{Exit, Failure, Outcome, say};
use crate::lengths::Lengths;
use crate::progress::Progress;
use crate::stdout::print;
use crate::stores::{Stores, shown};
use crate::table::bytes;
use crate::target::Target;
use change::{Change, Shards};
pub(crate) use codecs::Codecs;
use filter::Filter;
pub(crate) use left::left;
pub(crate) use marker::{key as marker_key, unfinished};
use place::{Place, Rules};
use plan::{Kind, Plan};
use work::Done;

/// Copy an array or a hierarchy.
///
/// The copy keeps shape, data type, fill value, dimension names and attributes, and also chunks, shards and codecs
/// unless an option changes them. Its metadata is written in the form that every implementation reads. Consolidated
/// metadata is written if the source has it.
///
/// If the chunks and codecs of an array stay the same, its stored objects are copied byte for byte, without decoding.
/// Otherwise its elements are encoded again, and chunks that hold only the fill value are not stored. A note says if a
/// lossy codec is used.
///
/// For an array with shards, --chunks and --codecs mean the inner chunks. If one of them is given, the copy has shards
/// only with --shards.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The node to copy, with everything below it.
    #[arg(value_name = "SRC")]
    source: PathBuf,
    /// The directory or URL of the copy. A name that ends in `.zip` is a new archive.
    #[arg(value_name = "DST")]
    destination: PathBuf,
    /// The format of the copy. By default that of the group above DST, else that of the source, or 3 if the source has
    /// format 1.
    #[arg(long, value_name = "3|2", value_parser = ["3", "2"])]
    zarr_format: Option<String>,
    /// The codecs of all arrays: a list such as `zstd:5`, `blosc:lz4:5:shuffle` or
    /// `transpose(1,0),bytes:big,gzip:6,crc32c`; `none` for uncompressed elements; the JSON of the member `codecs`; or,
    /// for format 2, `{"compressor": …, "filters": …}`.
    #[arg(long, value_name = "LIST|JSON")]
    codecs: Option<String>,
    /// The shape of chunks; "" for a scalar. For chunks of different lengths give a list for the dimension:
    /// `[[31,28,31],100]`, or `[[31,[30,3]],100]` for 31 and three times 30. Arrays of another rank keep their chunks.
    #[arg(long, value_name = "A,B,…|JSON", allow_hyphen_values = true)]
    chunks: Option<Lengths>,
    /// The shape of shards, objects that hold several chunks; a multiple of the chunk shape. Lists of lengths as in
    /// --chunks. `none` stores every chunk as its own object.
    #[arg(long, value_name = "A,B,…|JSON|none", allow_hyphen_values = true)]
    shards: Option<Shards>,
    /// Copy only nodes whose path below SRC matches the pattern, and everything in them: `*` matches within a name,
    /// `**/` matches any groups. May be repeated. Groups above the matching nodes are copied as well.
    #[arg(long, value_name = "PATTERN")]
    include: Vec<String>,
    /// Leave out nodes whose path below SRC matches the pattern, and everything in them. May be repeated.
    #[arg(long, value_name = "PATTERN")]
    exclude: Vec<String>,
    /// What to do if DST exists. Only a Zarr node is ever replaced, after the copy is complete.
    #[arg(long, value_enum, default_value_t = IfExists::Fail)]
    if_exists: IfExists,
    /// Continue an interrupted run of the same copy, or begin if there is none. Copied parts are compared with the
    /// source, and equal ones are not written again. If the copy fails, its parts stay.
    #[arg(long)]
    resume: bool,
    /// Read source and copy again before the copy is renamed, and compare them: objects byte for byte, encoded elements
    /// bit for bit. Elements of lossy codecs are compared with the result of encoding the source.
    #[arg(long)]
    verify: bool,
    /// Print no progress bar and no summary.
    #[arg(short, long)]
    quiet: bool,
}

const EXAMPLES: &str = "\
Examples:
  zarr copy weather.zarr backup.zarr --verify
  zarr copy weather.zarr/t2m series.zarr --chunks 1000,10,10 --codecs zstd:5
  zarr copy many-files.zarr few-files.zarr --chunks 100,100 --shards 5000,5000
  zarr copy sharded.zarr plain.zarr --shards none
  zarr copy days.zarr months.zarr --chunks '[[31,28,31],721,1440]'
  zarr copy climate.zarr small.zarr --include 'monthly/**/t2m' --exclude '**/raw'
  zarr copy new.zarr old.zarr --zarr-format 2 --codecs '{\"compressor\": {\"id\": \"zlib\", \"level\": 5}}'
  zarr copy big-endian.zarr little.zarr --codecs 'bytes:little,blosc:zstd:5:bitshuffle'
  zarr copy a.zarr b.zarr --codecs '[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}},{\"name\":\"crc32c\"}]'
  zarr copy a.zarr a.zarr --chunks 100,100 --if-exists replace";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum IfExists {
    /// Fail.
    Fail,
    /// Replace it with the copy.
    Replace,
}

pub(crate) fn run(args: &Args, stores: &Stores) -> Outcome {
    let format = args.zarr_format.as_deref().and_then(|number| Format::of(number.parse().ok()?));
    let codecs = args.codecs.as_deref().map(str::parse::<Codecs>).transpose();
    let codecs = codecs.map_err(|e| Failure::usage(format!("--codecs: {e}")))?;
    if let (Some(chunks), Some(Shards::Of(shards))) = (&args.chunks, &args.shards)
        && chunks.rank() != shards.rank()
    {
        let [chunks, shards] = [chunks.rank(), shards.rank()];
        return Err(Failure::usage(format!("--chunks has rank {chunks}, but --shards has rank {shards}")));
    }
    let filter = Filter::new(&args.include, &args.exclude)?;
    let source = Target::find(&args.source, stores)?;
    check_outside(&source, args, stores)?;
    let rules = Rules { replace: args.if_exists == IfExists::Replace, resume: args.resume };
    let place = Place::find(&args.destination, rules, &source, stores)?;
    let format = match (format, place.format()) {
        (Some(given), Some((wanted, why))) if given != wanted => {
            let [given, wanted] = [given, wanted].map(Format::number);
            let message = format!("--zarr-format {given}: {:?} {why} {wanted}", shown(&args.destination));
            return Err(Failure::usage(message));
        }
        (given, wanted) => given.or(wanted.map(|(wanted, _)| wanted)),
    };
    let change = Change { format, codecs, chunks: args.chunks.clone(), shards: args.shards.clone() };
    let plan = Plan::new(&source, &change, &filter)?;
    plan.notes.lines().for_each(|note| say(&format!("note: {note}")));
    let rounds = if args.verify { 2 } else { 1 };
    let progress = Progress::new(plan.bytes().saturating_mul(rounds), args.quiet);
    let growing = place.begin(&source, &plan.nodes, rules, stores)?;
    let cpu = Cpu::threads(std::thread::available_parallelism().map_or(1, usize::from));
    let (mut worst, mut sum) = (None, Done::default());
    for node in &plan.nodes {
        match copy(node, &growing, args.verify, &cpu, &progress) {
            Ok(done) => sum += done,
            Err(e) => {
                // Report all errors, not only the first.
                progress.say(e.message());
                worst = worst.or(Some(e.exit()));
            }
        }
    }
    drop(progress);
    if let Some(exit) = worst {
        let destination = shown(&args.destination);
        say(&match growing.is_kept() {
            _ if growing.is_complete() => format!("the complete copy at {destination:?} differs"),
            true => format!("the copy to {destination:?} is not complete; `--resume` continues it"),
            false => format!("nothing was copied to {destination:?}"),
        });
        return Err(Failure::silent(exit));
    }
    let is_complete = growing.is_complete();
    if !is_complete {
        growing.publish(&plan.nodes, stores)?;
    }
    if !args.quiet {
        print(&summary(&plan, &sum, args.verify, is_complete))?;
    }
    Ok(Exit::Ok)
}

/// Fails if the destination is inside of the source: the copy would belong to its source.
fn check_outside(source: &Target, args: &Args, stores: &Stores) -> Result<(), Failure> {
    let from = source.identity().replacen("|zarr:", "/", 1);
    let to = place::identity(&args.destination, stores).replacen("|zarr:", "/", 1);
    if from == to || !Path::new(&to).starts_with(&from) {
        return Ok(());
    }
    let [from, to] = [&args.source, &args.destination].map(shown);
    Err(Failure::usage(format!("{to:?} is inside of {from:?}, which cannot hold a copy of itself")))
}

/// Copies the chunks of one node to the growing copy. The document is written later.
fn copy(
    node: &plan::Node,
    growing: &place::Growing,
    verify: bool,
    cpu: &Cpu,
    progress: &Progress,
) -> Result<Done, Failure> {
    let Kind::Array(array) = &node.kind else { return Ok(Done::default()) };
    progress.at(&node.path);
    let told = |bytes| progress.add(bytes);
    let copy = array.open(growing.storage(&node.below), cpu)?;
    let mut done = match (growing.is_complete(), growing.is_resumed()) {
        (true, _) => Done::default(),
        (_, true) => array.work.resume(&array.source, &copy, &told)?,
        _ => array.work.copy(&array.source, &copy, &told)?,
    };
    if verify {
        done += array.work.compare(&array.source, &copy, &told)?;
    }
    Ok(done)
}

fn summary(plan: &Plan, done: &Done, verified: bool, was_complete: bool) -> String {
    let arrays = plan.nodes.iter().filter(|node| matches!(node.kind, Kind::Array(_))).count() as u64;
    let groups = plan.nodes.len() as u64 - arrays;
    let nodes = match groups {
        0 => count(arrays, "array"),
        groups => format!("{} and {}", count(groups, "group"), count(arrays, "array")),
    };
    let copied = match was_complete {
        true => "the copy is complete already".to_owned(),
        false => format!("copied {nodes}, {} of elements", bytes(plan.elements())),
    };
    let objects = |of: Moved| {
        (of.objects > 0).then(|| format!("{} of {}", count(of.objects, "object"), bytes(of.bytes.into())))
    };
    if !verified {
        let moved = objects(done.moved).map(|moved| format!("; moved {moved} as stored"));
        return format!("{copied}{}\n", moved.unwrap_or_default());
    }
    let elements = |of: u128, with: &str| (of > 0).then(|| format!("{} of elements{with}", bytes(of)));
    let kept = elements(done.kept, " with what lossy codecs keep of them");
    let compared = [objects(done.objects), elements(done.elements, ""), kept];
    let compared = compared.into_iter().flatten().collect::<Vec<_>>().join(", ");
    format!(
        "{copied}; compared {}\n",
        if compared.is_empty() { "nothing, because nothing is stored" } else { &compared }
    )
}

fn count(n: u64, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}
