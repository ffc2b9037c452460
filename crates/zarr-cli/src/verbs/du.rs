//! `zarr du`: the stored and the uncompressed bytes of nodes.

use std::cmp::Reverse;
use std::path::PathBuf;

use clap::ValueEnum;
use zarr_array::meta::json::Object;

use crate::args::several::More;
use crate::args::stores::Stores;
use crate::args::target::Target;
use crate::exit::{Exit, Outcome};
use crate::listed::{Listed, list_with_note};
use crate::out::json;
use crate::out::stdout::print;
use crate::out::table::{Table, bytes, count, product};
use crate::usage::{Usage, measure, with_below};
use crate::visit::Source;

/// Show how many bytes a hierarchy takes, stored and uncompressed.
///
/// For each node: the stored bytes with everything below it, the bytes of all its elements uncompressed, the ratio of
/// both, and how many of its chunks or shards are stored. Chunks that are not stored hold the fill value; they count in
/// the uncompressed bytes and make the ratio larger. Objects that are neither chunks nor metadata documents are named
/// in the last column.
///
/// The store is listed once. No element is read. If the listing has no sizes, each object is asked for.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The node: a directory with a metadata document.
    #[arg(value_name = "STORE[/PATH]")]
    store: PathBuf,
    #[command(flatten)]
    more: More,
    /// Show only so many levels below the node. Deeper nodes count all the same.
    #[arg(short, long, visible_short_alias = 'L', value_name = "LEVELS", default_value_t = usize::MAX, hide_default_value = true)]
    depth: usize,
    /// The order of the rows.
    #[arg(long, value_enum, default_value_t = Order::Path)]
    sort: Order,
    /// Print exact numbers of bytes.
    #[arg(short, long)]
    bytes: bool,
    /// Print one JSON object: the nodes as a list.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    source: Source,
}

const EXAMPLES: &str = "\
Examples:
  zarr du weather.zarr
  zarr du -d 1 --sort stored s3://bucket/climate.zarr
  zarr du -d 0 --json weather.zarr | jq '.nodes[0].stored_bytes'";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Order {
    /// Parents before children.
    Path,
    /// The largest stored bytes first.
    Stored,
    /// The largest uncompressed bytes first.
    Uncompressed,
}

pub(crate) fn run(args: &Args, stores: &Stores) -> Outcome {
    let one = |store, more| one(&Args { store, more, ..args.clone() }, stores);
    args.more.each("du", &args.store, args.json, one)
}

fn one(args: &Args, stores: &Stores) -> Outcome {
    let target = Target::find(&args.store, stores)?;
    let nodes: Vec<Listed> = list_with_note(&target, args.source, usize::MAX)?.collect();
    let own = measure(&target, &nodes.iter().collect::<Vec<_>>())?;
    let mut rows = rows(&nodes, &own, &target.path);
    rows.retain(|row| row.depth <= args.depth);
    match args.sort {
        Order::Path => {}
        Order::Stored => rows.sort_by_key(|row| Reverse(row.usage.all().bytes)),
        Order::Uncompressed => rows.sort_by_key(|row| Reverse(row.elements.bytes)),
    }
    let text = match args.json {
        true => args.more.json(&json::document([("nodes", rows.iter().map(Row::to_json).collect())]).into()),
        false => table(&rows, args.bytes),
    };
    print(&text)?;
    Ok(Exit::Ok)
}

/// A node with everything below it.
struct Row<'a> {
    node: &'a Listed,
    depth: usize,
    usage: Usage,
    elements: Elements,
}

/// The elements of arrays.
#[derive(Debug, Clone, Copy, Default)]
struct Elements {
    /// Their uncompressed bytes.
    bytes: u128,
    /// The number of chunks that could be stored.
    chunks: u128,
    /// Whether there are arrays whose bytes are not known: their elements have no fixed size, or they cannot be read.
    has_unknown: bool,
}

impl Elements {
    fn of(node: &Listed) -> Self {
        let Some(array) = &node.array else {
            return Self { has_unknown: node.kind == "unreadable", ..Self::default() };
        };
        let chunks = array.grid.as_ref().and_then(|grid| product(&grid.counts));
        Self {
            bytes: array.uncompressed.unwrap_or(0),
            chunks: chunks.unwrap_or(0),
            has_unknown: array.uncompressed.is_none() || chunks.is_none(),
        }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            bytes: self.bytes.saturating_add(other.bytes),
            chunks: self.chunks.saturating_add(other.chunks),
            has_unknown: self.has_unknown || other.has_unknown,
        }
    }
}

fn rows<'a>(nodes: &'a [Listed], own: &[Usage], above: &str) -> Vec<Row<'a>> {
    let depths: Vec<usize> = nodes.iter().map(|node| node.depth(above)).collect();
    let elements: Vec<Elements> = nodes.iter().map(Elements::of).collect();
    let usage = with_below(own, &depths, Usage::plus);
    let elements = with_below(&elements, &depths, Elements::plus);
    let rows = nodes.iter().zip(depths).zip(usage.into_iter().zip(elements));
    rows.map(|((node, depth), (usage, elements))| Row { node, depth, usage, elements }).collect()
}

impl Row<'_> {
    /// Returns the uncompressed bytes for each stored byte, if both are known.
    fn ratio(&self) -> Option<f64> {
        let stored = self.usage.chunks.bytes;
        (stored > 0 && !self.elements.has_unknown).then(|| self.elements.bytes as f64 / stored as f64)
    }

    fn to_json(&self) -> Object {
        let (usage, elements) = (self.usage, self.elements);
        let mut object = json::object([
            ("path", (&self.node.path).into()),
            ("node_type", self.node.kind.into()),
            ("stored_bytes", usage.all().bytes.into()),
            ("stored_objects", usage.all().objects.into()),
            ("chunk_bytes", usage.chunks.bytes.into()),
            ("stored_chunks", usage.chunks.objects.into()),
            ("chunks", elements.chunks.into()),
            ("document_bytes", usage.documents.bytes.into()),
            ("documents", usage.documents.objects.into()),
            ("other_bytes", usage.other.bytes.into()),
            ("other_objects", usage.other.objects.into()),
            ("uncompressed_bytes", elements.bytes.into()),
            ("uncompressed_is_known", (!elements.has_unknown).into()),
        ]);
        if let Some(problem) = &self.node.problem {
            object.set("unreadable_because", problem);
        }
        object
    }
}

fn table(rows: &[Row<'_>], exact: bool) -> String {
    let size = |n: u128| if exact { n.to_string() } else { bytes(n) };
    let mut table = Table::default();
    table.row(["stored", "uncompressed", "ratio", "chunks stored", "path"]);
    for row in rows {
        let Row { node, usage, elements, .. } = row;
        let is_empty = elements.chunks == 0 && !elements.has_unknown;
        let elements_of = || match elements {
            Elements { has_unknown: true, bytes: 0, .. } => "-".to_owned(),
            Elements { has_unknown: true, .. } => format!("over {}", size(elements.bytes)),
            _ => size(elements.bytes),
        };
        let mut cells = match is_empty {
            true => vec![size(usage.all().bytes), "-".to_owned(), "-".to_owned(), "-".to_owned()],
            false => vec![
                size(usage.all().bytes),
                elements_of(),
                row.ratio().map_or("-".to_owned(), |ratio| format!("{ratio:.1}")),
                format!("{} of {}", usage.chunks.objects, elements.chunks),
            ],
        };
        cells.push(node.path.clone());
        if usage.other.objects > 0 {
            let other = count(usage.other.objects, "other object");
            cells.push(format!("{other} of {}", size(usage.other.bytes)));
        }
        table.push(cells);
    }
    table.to_text("")
}
