//! `zarr tree`: draws a hierarchy.

use std::mem;
use std::path::PathBuf;

use zarr_array::meta::json::{Object, Value};

use crate::args::stores::Stores;
use crate::args::target::Target;
use crate::exit::{Exit, Failure, Outcome};
use crate::listed::{Listed, list_with_note};
use crate::out::json;
use crate::out::stdout::{Stdout, print};
use crate::out::table::{Table, bytes, count};
use crate::stored::Size;
use crate::usage::{self, Usage};
use crate::visit::Source;

/// Draw a hierarchy.
///
/// Arrays have their data type, shape and dimension names. A node that cannot be read has the reason in its row, and a
/// folder that is not a node says so. Neither is an error; the last line counts them. `zarr validate` reports errors.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The node: a directory with a metadata document.
    #[arg(value_name = "STORE[/PATH]")]
    store: PathBuf,
    /// The number of levels to show; 1 shows the children only.
    #[arg(short, long, visible_short_alias = 'L', value_name = "LEVELS", default_value_t = usize::MAX, hide_default_value = true)]
    depth: usize,
    /// List the store, and show the stored bytes and objects of each array and group. Metadata documents are not
    /// counted.
    #[arg(long)]
    sizes: bool,
    /// Print one JSON object: the nodes as a list, parents before children.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    source: Source,
}

const EXAMPLES: &str = "\
Examples:
  zarr tree weather.zarr
  zarr tree -d 1 --sizes weather.zarr
  zarr tree --json weather.zarr | jq -r '.nodes[] | select(.unreadable_because).path'";

pub(crate) fn run(args: &Args, stores: &Stores) -> Outcome {
    let target = Target::find(&args.store, stores)?;
    // Nodes below the shown levels count in the sizes.
    let levels = if args.sizes { usize::MAX } else { args.depth };
    let nodes = list_with_note(&target, args.source, levels)?;
    if !args.sizes {
        return show(args, &target, nodes.map(|node| Entry { node, size: None }));
    }
    let nodes: Vec<Listed> = nodes.collect();
    let sizes = measure(&target, &nodes)?;
    let entries = nodes.into_iter().zip(sizes).map(|(node, size)| Entry { node, size: Some(size) });
    show(args, &target, entries.filter(|entry| entry.node.depth(&target.path) <= args.depth))
}

/// A node of the tree.
struct Entry {
    node: Listed,
    size: Option<Size>,
}

/// Returns what is stored of each node; for a group the sum of its nodes.
fn measure(target: &Target, nodes: &[Listed]) -> Result<Vec<Size>, Failure> {
    let own = usage::measure(target, &nodes.iter().collect::<Vec<_>>())?;
    let depths: Vec<usize> = nodes.iter().map(|node| node.depth(&target.path)).collect();
    let all = usage::with_below(&own, &depths, Usage::plus).into_iter();
    Ok(all.map(|usage| usage.chunks.plus(usage.other)).collect())
}

fn show(args: &Args, target: &Target, entries: impl Iterator<Item = Entry>) -> Outcome {
    if args.json {
        print(&json::pretty(&to_json(entries).into()))?;
        return Ok(Exit::Ok);
    }
    let (mut table, mut depths, mut counts) = (Table::default(), Vec::new(), Counts::default());
    for entry in entries {
        counts.add(&entry.node);
        depths.push(entry.node.depth(&target.path));
        table.push(cells(&entry, target));
    }
    table.put_before(branches(&depths));
    let mut out = Stdout::new();
    for row in table.lines("").chain([format!("{}\n", counts.to_text())]) {
        out.write(row.as_bytes())?;
    }
    out.flush()?;
    Ok(Exit::Ok)
}

fn cells(Entry { node, size }: &Entry, target: &Target) -> Vec<String> {
    let is_top = node.depth(&target.path) == 0;
    let name =
        if is_top { root(target) } else { node.path.rsplit('/').next().unwrap_or_default().to_owned() };
    let mut cells = vec![name, node.kind().to_owned()];
    if let Some(size) = size {
        cells.extend([bytes(size.bytes), count(size.objects, "object")]);
    }
    cells.extend(match &node.array {
        Some(array) => [array.data_type(), array.shape(), array.dimension_names()],
        None => Default::default(),
    });
    // In the last column, because it can be wide.
    cells.extend(node.problem.clone());
    cells
}

/// Returns the name of the topmost node, shortened to keep the columns narrow.
fn root(target: &Target) -> String {
    let name = target.store.file_name().unwrap_or(target.store.as_os_str());
    if target.path == "/" { name.to_string_lossy().into_owned() } else { target.path.clone() }
}

/// Returns the branch lines in front of each name. `depths` are the levels of the nodes, parents before children.
fn branches(depths: &[usize]) -> impl Iterator<Item = String> {
    // For each depth, whether another node follows. Goes backwards.
    let mut more: Vec<bool> = Vec::new();
    let mut follows: Vec<bool> = Vec::with_capacity(depths.len());
    for depth in depths.iter().rev() {
        more.resize(depth + 1, false);
        follows.push(mem::replace(&mut more[*depth], true));
    }
    // For each level above a node, whether its line goes on.
    let mut above: Vec<bool> = Vec::new();
    depths.iter().zip(follows.into_iter().rev()).map(move |(depth, follows)| {
        above.resize(*depth, false);
        let lines = above.iter().skip(1).map(|goes_on| if *goes_on { "│   " } else { "    " });
        let own = match (depth, follows) {
            (0, _) => "",
            (_, true) => "├── ",
            (_, false) => "└── ",
        };
        let text = lines.chain([own]).collect();
        above.push(follows);
        text
    })
}

/// The number of nodes, of those that are broken, and of folders that are no nodes.
#[derive(Debug, Default)]
struct Counts {
    nodes: usize,
    broken: usize,
    others: usize,
}

impl Counts {
    fn add(&mut self, node: &Listed) {
        self.broken += usize::from(node.is_broken());
        match node.kind {
            "none" => self.others += 1,
            _ => self.nodes += 1,
        }
    }

    fn to_text(&self) -> String {
        let mut text = count(self.nodes, "node");
        if self.broken > 0 {
            text.push_str(&format!(", {} of them broken", self.broken));
        }
        if self.others > 0 {
            text.push_str(&format!("; {} without a document", count(self.others, "folder")));
        }
        text
    }
}

fn to_json(entries: impl Iterator<Item = Entry>) -> Object {
    let mut counts = Counts::default();
    let entry = |Entry { node, size }: Entry| {
        counts.add(&node);
        let mut object = node.to_json();
        if let Some(size) = size {
            object.set("stored_bytes", size.bytes);
            object.set("stored_objects", size.objects);
        }
        object
    };
    let nodes: Value = entries.map(entry).collect();
    json::document([("nodes", nodes), ("broken", counts.broken.into())])
}
