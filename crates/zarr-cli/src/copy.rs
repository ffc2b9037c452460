//! `zarr copy`: an array or a hierarchy, with other chunks and codecs if wanted.
//!
//! Everything is planned before anything is written: a node that cannot be copied is known by then. The copy grows in a
//! hidden directory beside the destination and takes its name when it is complete. Until then it has no documents: what a
//! killed process leaves is no node.

mod blocks;
mod change;
mod codecs;
mod directory;
mod document;
mod draft;
mod filter;
mod indices;
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

use std::path::PathBuf;

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
pub(crate) use marker::{key as marker_key, unfinished};
use place::{Place, Rules};
use plan::{Kind, Plan};
use work::Done;

/// Copy an array or a hierarchy.
///
/// The copy keeps shape, data type, fill value, dimension names and attributes, and what no option changes: chunks, shards
/// and codecs. Its metadata is written in the form that every implementation reads. Where the source has consolidated metadata
/// the copy has it too.
///
/// If neither chunks nor codecs of an array change its stored objects are copied byte for byte, and nothing is decoded. Else
/// its elements are encoded again; a note says so if that may lose something. Chunks that hold nothing but the fill value are
/// then not stored.
///
/// Chunks and codecs of an array with shards are those inside of the shards. A copy with other chunks or codecs has
/// shards only if --shards says which.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The node to copy, with all that is below it.
    #[arg(value_name = "SRC")]
    source: PathBuf,
    /// The directory of the copy.
    #[arg(value_name = "DST")]
    destination: PathBuf,
    /// The format of the copy; by default that of the group that DST lies in, else that of the source, and 3 for an array of
    /// format 1.
    #[arg(long, value_name = "3|2", value_parser = ["3", "2"])]
    zarr_format: Option<String>,
    /// The codecs of the chunks of all arrays: a list like `zstd:5`, `blosc:lz4:5:shuffle`,
    /// `transpose(1,0),bytes:big,gzip:6,crc32c`, or `none`; or the JSON of the member `codecs`; for format 2 also
    /// `{"compressor": …, "filters": …}`.
    #[arg(long, value_name = "LIST|JSON")]
    codecs: Option<String>,
    /// The shape of chunks; "" is that of a scalar. Chunks of different lengths are a list for a dimension:
    /// `[[31,28,31],100]`, or `[[31,[30,3]],100]` for thrice 30. In a hierarchy, arrays of another rank keep theirs.
    #[arg(long, value_name = "A,B,…|JSON", allow_hyphen_values = true)]
    chunks: Option<Lengths>,
    /// The shape of shards: objects that chunks are packed into, a multiple of theirs. They may differ, as chunks may.
    /// `none`: every chunk is an object.
    #[arg(long, value_name = "A,B,…|JSON|none", allow_hyphen_values = true)]
    shards: Option<Shards>,
    /// Copy only nodes whose path below SRC fits the pattern, and all that is in them: `*` stands for anything within a
    /// name, `**/` for any groups. May be given several times. Groups on the way to them are copied as well.
    #[arg(long, value_name = "PATTERN")]
    include: Vec<String>,
    /// Leave out nodes whose path below SRC fits the pattern, and all that is in them.
    #[arg(long, value_name = "PATTERN")]
    exclude: Vec<String>,
    /// What to do if there is something at DST. Only a Zarr node is ever replaced, once the copy is complete.
    #[arg(long, value_enum, default_value_t = IfExists::Fail)]
    if_exists: IfExists,
    /// Continue where an earlier run for the same copy ended that did not complete it, or begin if there is none. What that
    /// has copied is compared with the source and not written again. If the copy fails, what there is of it stays.
    #[arg(long)]
    resume: bool,
    /// Read source and copy once more, and compare them before the copy takes its name: objects byte for byte, and elements
    /// where they were encoded again. Those that lossy codecs have encoded are compared with what the codecs keep of the source.
    #[arg(long)]
    verify: bool,
    /// No progress bar and no summary.
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
    /// Stop.
    Fail,
    /// Put the copy in its place.
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
        return Err(Failure::usage(format!("--chunks is of rank {chunks}, --shards of rank {shards}")));
    }
    let filter = Filter::new(&args.include, &args.exclude)?;
    let source = Target::find(&args.source, stores)?;
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
                // All that is wrong is said, not only what is first.
                progress.say(e.message());
                worst = worst.or(Some(e.exit()));
            }
        }
    }
    drop(progress);
    if let Some(exit) = worst {
        let destination = shown(&args.destination);
        say(&match growing.is_kept() {
            true => format!("the copy to {destination:?} is not complete; `--resume` continues it"),
            false => format!("nothing was copied to {destination:?}"),
        });
        return Err(Failure::silent(exit));
    }
    growing.publish(&plan.nodes, stores)?;
    if !args.quiet {
        print(&summary(&plan, &sum, args.verify))?;
    }
    Ok(Exit::Ok)
}

/// Copies what is stored of one node to where the copy grows. Its document is to come.
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
    let mut done = match growing.is_resumed() {
        true => array.work.resume(&array.source, &copy, &told)?,
        false => array.work.copy(&array.source, &copy, &told)?,
    };
    if verify {
        done += array.work.compare(&array.source, &copy, &told)?;
    }
    Ok(done)
}

fn summary(plan: &Plan, done: &Done, verified: bool) -> String {
    let arrays = plan.nodes.iter().filter(|node| matches!(node.kind, Kind::Array(_))).count() as u64;
    let groups = plan.nodes.len() as u64 - arrays;
    let nodes = match groups {
        0 => count(arrays, "array"),
        groups => format!("{} and {}", count(groups, "group"), count(arrays, "array")),
    };
    let copied = format!("copied {nodes}, {} of elements", bytes(plan.elements()));
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
        if compared.is_empty() { "nothing, nothing is stored" } else { &compared }
    )
}

fn count(n: u64, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}
