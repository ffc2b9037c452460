//! `zarr diff`: compares two nodes and all nodes below them.

mod metadata;
mod report;
mod tolerance;
mod values;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use zarr_array::blocking::Array;
use zarr_array::meta::{ArrayMeta, NodeMeta};
use zarr_hierarchy::ChildState;

use crate::args::labels::Part;
use crate::args::level::Level;
use crate::args::stores::Stores;
use crate::args::target::Target;
use crate::exit::{Exit, Failure, Outcome};
use crate::out::json;
use crate::out::progress::Progress;
use crate::out::stdout::Stdout;
use crate::visit::Source;
use crate::walk::{reason, walk};
use report::{Difference, Node, Report};
use tolerance::Tolerance;

/// Compare two nodes and all nodes below them.
///
/// Lists nodes that only one side has, differences of shape, data type, fill value, dimension names and attributes, and
/// for the elements of each array how many differ, where the first one is, and the largest absolute and relative
/// difference. Formats, chunks and codecs may differ. Exits with 0 if both are equal, with 1 if they differ, and with
/// another code for an error.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The first node: a directory with a metadata document.
    #[arg(value_name = "A")]
    a: PathBuf,
    /// The second node.
    #[arg(value_name = "B")]
    b: PathBuf,
    #[command(flatten)]
    level: Level,
    #[command(flatten)]
    part: Part,
    #[command(flatten)]
    tolerance: Tolerance,
    /// Compare no elements.
    #[arg(long, conflicts_with = "select")]
    metadata_only: bool,
    /// Compare also how the elements are stored: format, chunks and codecs.
    #[arg(long)]
    encoding: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  zarr diff weather.zarr s3://bucket/weather.zarr
  zarr diff --rtol 1e-6 old.zarr/t2m new.zarr/t2m
  zarr diff --level 2 old.ome.zarr new.ome.zarr
  zarr diff -s 0:24,:,: old.zarr/t2m new.zarr/t2m
  zarr diff --metadata-only --encoding old.zarr new.zarr
  zarr diff --json old.zarr new.zarr | jq -r '.nodes[].path'";

pub(crate) fn run(args: &Args, stores: &Stores) -> Outcome {
    let sides = args.level.of_both([Target::find(&args.a, stores)?, Target::find(&args.b, stores)?])?;
    let [a, b] = [nodes(&sides[0])?, nodes(&sides[1])?];
    let is_array = |nodes: &Nodes| matches!(nodes.get(""), Some(Ok(NodeMeta::Array(_))));
    let is_possible = args.part.is_all() || (is_array(&a) && is_array(&b));
    if !is_possible {
        return Err(Failure::usage("a selection needs two arrays"));
    }
    let paths: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    let mut report = Report { compared: paths.len(), ..Report::default() };
    let (mut out, progress) = (Stdout::new(), Progress::objects());
    for path in paths {
        let mut node = Node::new(path);
        match (a.get(path), b.get(path)) {
            (Some(Ok(a)), Some(Ok(b))) => {
                node.found = metadata::compare(a, b, args.encoding);
                if let (NodeMeta::Array(a), NodeMeta::Array(b), false) = (a, b, args.metadata_only) {
                    progress.at(&node.path);
                    let arrays = [open(&sides[0], path, a)?, open(&sides[1], path, b)?];
                    let picks = match args.part.is_all() {
                        true => None,
                        false => Some(args.part.picks(&args.a, &sides[0], &arrays[0], stores)?),
                    };
                    match values::compare(&sides, &arrays, picks, &args.tolerance, &progress)? {
                        Ok(values) => node.values = Some(values),
                        Err(why) => node.not_compared = Some(why),
                    }
                }
            }
            (a, b) => node.found = alone(a, b),
        }
        if !node.is_equal() {
            if !args.json {
                out.write_coloured(&node.to_text())?;
                out.flush()?;
            }
            report.nodes.push(node);
        }
    }
    drop(progress);
    let end = if args.json { json::pretty(&report.to_json()) } else { report.end() };
    out.write(end.as_bytes())?;
    out.flush()?;
    Ok(if report.nodes.is_empty() { Exit::Ok } else { Exit::Invalid })
}

/// The nodes by their paths relative to the target; the reason for a node that cannot be read.
type Nodes = BTreeMap<String, Result<NodeMeta, String>>;

fn nodes(target: &Target) -> Result<Nodes, Failure> {
    let root = target.path.trim_end_matches('/');
    let mut nodes = Nodes::new();
    for visit in walk(target, Source::DOCUMENTS, usize::MAX)? {
        let path = visit.path();
        let below = path.strip_prefix(root).unwrap_or(&path).trim_start_matches('/').to_owned();
        match visit.found {
            ChildState::Node(node) => drop(nodes.insert(below, Ok(node))),
            ChildState::Broken(e) | ChildState::Unlisted(e) => {
                drop(nodes.insert(below, Err(reason(&e, &path))))
            }
            // A folder that is not a node.
            _ => {}
        }
    }
    Ok(nodes)
}

/// Opens the array at a path relative to the target.
fn open(side: &Target, below: &str, meta: &ArrayMeta) -> Result<Array, Failure> {
    let path = match below {
        "" => side.path.clone(),
        below => format!("{}/{below}", side.path.trim_end_matches('/')),
    };
    side.open_known(&path, meta.clone())
}

/// Returns the difference of a node that is on one side only, or that cannot be read.
fn alone(a: Option<&Result<NodeMeta, String>>, b: Option<&Result<NodeMeta, String>>) -> Vec<Difference> {
    let kind = |side: Option<&Result<NodeMeta, String>>| {
        side.map(|node| match node {
            Ok(NodeMeta::Array(_)) => "array".to_owned(),
            Ok(NodeMeta::Group(_)) => "group".to_owned(),
            Err(e) => format!("unreadable: {e:#}"),
        })
    };
    vec![Difference::new("node", kind(a), kind(b))]
}
