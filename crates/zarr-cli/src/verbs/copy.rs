//! `zarr copy`: copies an array or a hierarchy, optionally with other chunks and codecs.
//!
//! The work is done by zarr-copy. Everything is planned before anything is written, so that nodes that cannot be copied
//! are found first. The copy grows in a hidden directory beside the destination and is renamed when it is complete. It
//! has no metadata documents until then, so a killed process leaves no node.

mod destination;
mod directory;
pub(crate) mod join;
mod left;
mod part;
mod path;
mod publish;
mod report;
#[cfg(test)]
mod tests;
mod url;

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::ValueEnum;
use zarr_array::block_on;
use zarr_array::meta::{Format, NodeMeta};
use zarr_copy::{ChunkChoice, Codecs, Copy, CopyError, CopyErrorKind, Event, Rule, Shards, Size};
use zarr_hierarchy::ChildState;

use crate::args::access::seconds;
use crate::args::foreign;
use crate::args::labels::Chosen;
use crate::args::memory::memory;
use crate::args::place::Place;
use crate::args::stores::{Stores, shown};
use crate::args::target::{Target, registry};
use crate::exit::{Exit, Failure, Outcome, say};
use crate::interrupt;
use crate::out::progress::Progress;
use crate::out::stdout::print;
use crate::visit::Source;
pub(crate) use destination::shared;
use destination::{Destination, Growing};
use directory::Rules;
pub(crate) use left::left;

/// Copy an array or a hierarchy.
///
/// The copy keeps shape, data type, fill value, dimension names and attributes, and also chunks, shards and codecs
/// unless an option changes them. Its metadata is written in the form that every implementation reads, and keeps its bytes if it has this form. Consolidated
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
    /// `[[31,28,31],100]`, or `[[31,[30,3]],100]` for 31 and three times 30. Or lengths by the names of dimensions:
    /// `time=24,lat=100`; other dimensions keep theirs. Arrays of another rank, or without these dimensions, keep their
    /// chunks; a name that no array has is an error.
    #[arg(long, value_name = "A,B,…|JSON|NAME=A,…", allow_hyphen_values = true)]
    chunks: Option<ChunkChoice>,
    /// The shape of shards, objects that hold several chunks; a multiple of the chunk shape. Lists of lengths as in
    /// --chunks. `none` stores every chunk as its own object.
    #[arg(long, value_name = "A,B,…|JSON|none", allow_hyphen_values = true)]
    shards: Option<Shards>,
    /// Copy only a part. Of an array as in NumPy: for each dimension an index, a slice such as `0:24` or `::-1`, a list of
    /// indices such as `[1,5]`, a mask, or `@PATH` for the list or mask in another array. Or by the labels of coordinates:
    /// `time=2020-01:2020-02,lat=~41.3,level@0`; of a group, this selects from all variables with these dimensions,
    /// coordinates and bounds included. All dimensions stay: an index selects one element.
    #[arg(short, long, value_name = "SELECTION", allow_hyphen_values = true)]
    select: Option<Chosen>,
    /// The size of chunks whose shape is not given: the longest dimension of an array is halved until a chunk has at
    /// most this size.
    #[arg(long, value_name = "SIZE", conflicts_with = "chunks", hide_short_help = true)]
    target_chunk_size: Option<Size>,
    /// Chunks, shards and codecs of the arrays whose path below SRC matches the pattern, each as in its option:
    /// `PATTERN:chunks=…,shards=…,codecs=…`. May be repeated; the first rule that matches counts, and what it does not
    /// give is as for all arrays.
    #[arg(long, value_name = "RULE", hide_short_help = true)]
    rule: Vec<Rule>,
    /// Copy only these variables of the dataset SRC, with the coordinates along their dimensions, bounds and grid mappings.
    #[arg(long, value_name = "A,B,…", value_delimiter = ',', conflicts_with = "include")]
    variables: Vec<String>,
    /// Copy only nodes whose path below SRC matches the pattern, and everything in them: `*` matches within a name,
    /// `**/` matches any groups. May be repeated. Groups above the matching nodes are copied as well.
    #[arg(long, value_name = "PATTERN")]
    include: Vec<String>,
    /// Leave out nodes whose path below SRC matches the pattern, and everything in them. May be repeated.
    #[arg(long, value_name = "PATTERN")]
    exclude: Vec<String>,
    /// The action if DST exists. Only a Zarr node is ever replaced, after the copy is complete.
    #[arg(long, value_enum, default_value_t = IfExists::Fail, hide_short_help = true)]
    if_exists: IfExists,
    /// With --if-exists replace: also erase objects in DST that belong to no node.
    #[arg(short = 'y', short_alias = 'f', long, hide_short_help = true)]
    force: bool,
    /// Continue an interrupted run of the same copy, or begin if there is none. Copied parts are compared with the
    /// source, and equal ones are not written again. If the copy fails, its parts stay.
    #[arg(long)]
    resume: bool,
    /// Share the copy with other processes that give the same JOB, on any machines that see SRC and DST under these names:
    /// run the same command in each, such as the tasks of a Slurm array. Each copies what no other has claimed, and what
    /// dead ones have left. All end when the copy is complete. A copy to a directory grows in its place then.
    #[arg(long, value_name = "JOB", conflicts_with_all = ["resume", "if_exists"], hide_short_help = true)]
    join: Option<String>,
    /// With --join: how many seconds another process may give no sign of life before its part is taken over.
    #[arg(
        long,
        value_name = "SECONDS",
        requires = "join",
        default_value = "60",
        value_parser = seconds,
        hide_short_help = true
    )]
    lease: Duration,
    /// Read source and copy again before the copy is renamed, and compare them: objects byte for byte, encoded elements
    /// bit for bit. Elements of lossy codecs are compared with the result of encoding the source.
    #[arg(long)]
    verify: bool,
    /// The memory for elements, chunks and objects: `512MiB`, `2GB`. A chunk or shard that needs more is an error. With
    /// more memory, chunks of the source are read less often. By default 512 MiB, or as much as one of them needs.
    #[arg(long, value_name = "SIZE", value_parser = memory, hide_short_help = true)]
    max_memory: Option<Size>,
    /// Print what would be copied, and how: reads, writes, memory. Nothing is written.
    #[arg(long)]
    dry_run: bool,
    /// Print the summary, or with --dry-run the plan, as JSON.
    #[arg(long)]
    json: bool,
    /// Print no progress bar and no summary.
    #[arg(short, long, hide_short_help = true)]
    quiet: bool,
}

const EXAMPLES: &str = "\
Examples:
  zarr copy weather.zarr backup.zarr --verify
  zarr copy weather.zarr/t2m series.zarr --chunks 1000,10,10 --codecs zstd:5
  zarr copy many-files.zarr few-files.zarr --chunks 100,100 --shards 5000,5000
  zarr copy sharded.zarr plain.zarr --shards none
  zarr copy days.zarr months.zarr --chunks '[[31,28,31],721,1440]'
  zarr copy climate.zarr small.zarr --variables t2m,pr
  zarr copy climate.zarr small.zarr --include 'monthly/**/t2m' --exclude '**/raw'
  zarr copy new.zarr old.zarr --zarr-format 2 --codecs '{\"compressor\": {\"id\": \"zlib\", \"level\": 5}}'
  zarr copy big-endian.zarr little.zarr --codecs 'bytes:little,blosc:zstd:5:bitshuffle'
  zarr copy a.zarr b.zarr --codecs '[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}},{\"name\":\"crc32c\"}]'
  zarr copy a.zarr a.zarr --chunks 100,100 --if-exists replace
  zarr copy climate.zarr series.zarr --chunks time=8760,lat=10,lon=10 --rule 'ocean/**:codecs=zstd:9'
  zarr copy climate.zarr march.zarr -s time=2020-03,lat=40:60
  zarr copy maps.zarr series.zarr --chunks 10000,10,10 --max-memory 4GiB --dry-run
  srun --ntasks 32 zarr copy /data/maps.zarr /data/series.zarr --chunks 10000,10,10 --join night-17";

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
    if let (Some(ChunkChoice::Lengths(chunks)), Some(Shards::Of(shards))) = (&args.chunks, &args.shards)
        && chunks.rank() != shards.rank()
    {
        let [chunks, shards] = [chunks.rank(), shards.rank()];
        return Err(Failure::usage(format!("--chunks has rank {chunks}, but --shards has rank {shards}")));
    }
    let source = Target::find(&args.source, stores)?;
    check_name(&args.destination, stores)?;
    check_outside(&source, [&args.source, &args.destination], stores)?;
    let replace = args.if_exists == IfExists::Replace;
    let rules = Rules { replace, force: args.force, resume: args.resume };
    let found = match &args.join {
        Some(_) => Destination::shared(shared(&args.destination, stores)?, stores)?,
        None => Destination::find(&args.destination, rules, &source, stores)?,
    };
    let format = match (format, found.format()) {
        (Some(given), Some((wanted, why))) if given != wanted => {
            let [given, wanted] = [given, wanted].map(Format::number);
            let message = format!("--zarr-format {given}: {:?} {why} {wanted}", shown(&args.destination));
            return Err(Failure::usage(message));
        }
        (given, wanted) => given.or(wanted.map(|(wanted, _)| wanted)),
    };
    let source = with_children(source)?;
    let copy = settings(args, Copy::new(source.storage.clone(), &source.path, &registry()), codecs)
        .source_format(source.format)
        .source_name(source.identity())
        .to_format(format);
    let copy = if args.join.is_some() { join::cut(copy) } else { copy };
    let copy =
        if args.variables.is_empty() { copy } else { part::variables(copy, &args.variables, &source)? };
    let copy = match &args.select {
        Some(chosen) => part::select(copy, chosen, &args.source, &source, stores)?,
        None => copy,
    };
    let plan = block_on(copy.plan()).map_err(|e| all(&e, &source))?;
    // The command has said where the nodes come from, if documents name them.
    let is_said = |note: &String| source.is_quiet() && note.starts_with("the store cannot list its objects");
    plan.notes().filter(|note| !is_said(note)).for_each(|note| say(&format!("note: {}", options(&note))));
    if args.dry_run {
        let planned = if args.json { report::plan_json(&plan) } else { report::plan(&plan) };
        print(&planned)?;
        return Ok(Exit::Ok);
    }
    let rounds = if args.verify { 2 } else { 1 };
    let progress = Progress::new(plan.bytes().saturating_mul(rounds), args.quiet);
    let told = |event: Event<'_>| match event {
        Event::Array(path) => progress.at(path),
        Event::Bytes(bytes) => progress.add(bytes),
        // Report all errors, not only the first.
        Event::Failed(e) => progress.say(in_source(e, &source).message()),
        _ => {}
    };
    let destination = shown(&args.destination);
    let _interruptible = interrupt::saying(match &args.join {
        Some(_) => {
            format!("the other processes complete {destination:?}; without any, the same command does")
        }
        None => format!(
            "the copy to {destination:?} is not complete; `--resume` continues it, and `zarr rm --unfinished` erases it"
        ),
    });
    if let Some(job) = &args.join {
        let job = join::job(args, job)?;
        let (storage, node) = found.storage(stores)?;
        let share = block_on(plan.join(storage, &node, &job, &told));
        drop(progress);
        if share.is_ok() {
            destination::sweep(&shared(&args.destination, stores)?)?;
        }
        return join::report(args, &plan, share.map_err(|e| in_source(&e, &source)));
    }
    let growing = found.begin(&plan, rules, stores)?;
    let done = block_on(plan.copy_chunks(growing.storage(), growing.found(), args.verify, &told));
    drop(progress);
    let done = match done {
        Ok(done) => done,
        Err(e) => return Err(incomplete(&growing, &args.destination, &e)),
    };
    if !done.was_complete {
        growing.publish(&plan, stores)?;
    }
    if args.json {
        print(&report::summary_json(&plan, &done, args.verify))?;
    } else if !args.quiet {
        print(&report::summary(&plan, &done, args.verify))?;
    }
    Ok(Exit::Ok)
}

/// Sets what the options change.
fn settings(args: &Args, mut copy: Copy, codecs: Option<Codecs>) -> Copy {
    if let Some(chunks) = &args.chunks {
        copy = copy.chunks(chunks.clone());
    }
    if let Some(shards) = &args.shards {
        copy = copy.shards(shards.clone());
    }
    if let Some(codecs) = codecs {
        copy = copy.codecs(codecs);
    }
    if let Some(size) = args.target_chunk_size {
        copy = copy.target_chunk_size(size);
    }
    let copy = args.rule.iter().cloned().fold(copy, Copy::rule);
    let copy = copy.include(&args.include).exclude(&args.exclude);
    match args.max_memory {
        Some(memory) => copy.max_memory(memory.bytes()),
        None => copy,
    }
}

/// Says what is left of a copy that failed. Its errors have been printed.
fn incomplete(growing: &Growing, destination: &Path, e: &CopyError) -> Failure {
    let destination = shown(destination);
    say(&match growing.is_kept() {
        _ if growing.is_complete() => format!("the complete copy at {destination:?} differs"),
        true => format!("the copy to {destination:?} is not complete; `--resume` continues it"),
        false => format!("nothing was copied to {destination:?}"),
    });
    Failure::silent(e.kind().into())
}

/// Fails if a new directory would have the name of a file of another format, which the user may expect there.
pub(crate) fn check_name(destination: &Path, stores: &Stores) -> Result<(), Failure> {
    let is_new = stores.destination_url(destination).is_none() && !destination.exists();
    if !is_new || !foreign::is_named_so(destination) {
        return Ok(());
    }
    let message = format!(
        "{destination:?}: this command writes Zarr only; a directory of this name is \"{}/\"",
        destination.display()
    );
    Err(Failure::usage(message))
}

/// Returns the source with its children known. If a store cannot list, they are those of consolidated metadata, or those
/// that the documents name.
///
/// # Errors
/// If the source is a group whose children are not known. The command has advice for that.
fn with_children(source: Target) -> Result<Target, Failure> {
    match source.lists() || !matches!(source.look()?.found, ChildState::Node(NodeMeta::Group(_))) {
        true => Ok(source),
        false => source.with_children(Source::default()),
    }
}

/// Fails if the destination is inside of the source: the copy would belong to its source.
pub(crate) fn check_outside(
    source: &Target,
    [from_given, to_given]: [&PathBuf; 2],
    stores: &Stores,
) -> Result<(), Failure> {
    let from = source.identity().replacen("|zarr:", "/", 1);
    let to = Place::exact(to_given, stores).identity().replacen("|zarr:", "/", 1);
    if from == to || !Path::new(&to).starts_with(&from) {
        return Ok(());
    }
    let [from, to] = [from_given, to_given].map(shown);
    Err(Failure::usage(format!("{to:?} is inside of {from:?}, which cannot hold a copy of itself")))
}

impl From<CopyErrorKind> for Exit {
    fn from(kind: CopyErrorKind) -> Self {
        match kind {
            CopyErrorKind::Settings | CopyErrorKind::Taken => Self::Usage,
            CopyErrorKind::Differs => Self::Invalid,
            CopyErrorKind::Node(kind) => kind.into(),
            _ => Self::Io,
        }
    }
}

impl From<CopyError> for Failure {
    fn from(e: CopyError) -> Self {
        Self::new(e.kind().into(), options(&format!("{e:#}")))
    }
}

/// Replaces the names of settings by those of options.
fn options(message: &str) -> String {
    let names = ["chunks", "shards", "codecs", "rule", "include", "exclude", "select", "join"];
    let message = names.iter().fold(message.to_owned(), |message, name| {
        message.replace(&format!("`{name}`"), &format!("--{name}"))
    });
    message.replace("`resume`", "`--resume`").replace("`max_memory`", "`--max-memory`")
}

/// Puts the store in front of an error of the source.
fn in_source(e: &CopyError, source: &Target) -> Failure {
    if e.is_of_source() { source.fail(e.clone()) } else { e.clone().into() }
}

/// Prints the errors of all nodes but the last, and returns that with the exit code of the first.
fn all(e: &CopyError, source: &Target) -> Failure {
    let Some((last, others)) = e.others().split_last() else { return in_source(e, source) };
    let first = in_source(e, source);
    say(first.message());
    others.iter().for_each(|e| say(in_source(e, source).message()));
    Failure::new(first.exit(), in_source(last, source).message())
}
