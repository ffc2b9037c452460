//! `zarr tree`: draws a hierarchy.

use std::path::PathBuf;

use zarr_array::meta::json::Object;

use crate::exit::{Exit, Failure, Outcome};
use crate::json;
use crate::listed::{Listed, list_with_note};
use crate::stdout::print;
use crate::stored::Size;
use crate::stores::Stores;
use crate::table::{Table, bytes, count};
use crate::target::Target;
use crate::usage::{self, Usage};
use crate::walk::Source;

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
    #[arg(short = 'L', long, value_name = "LEVELS", default_value_t = usize::MAX, hide_default_value = true)]
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
  zarr tree -L 1 --sizes weather.zarr
  zarr tree --json weather.zarr | jq -r '.nodes[] | select(.unreadable_because).path'";

pub(crate) fn run(args: &Args, stores: &Stores) -> Outcome {
    let target = Target::find(&args.store, stores)?;
    let mut tree = tree(&target, args)?;
    if args.sizes {
        measure(&target, &mut tree)?;
        tree.retain(|entry| entry.depth <= args.depth);
    }
    let text = if args.json {
        json::pretty(&to_json(&tree).into())
    } else {
        format!("{}{}\n", drawing(&tree, &root(&target)), summary(&tree))
    };
    print(&text)?;
    Ok(Exit::Ok)
}

/// Returns the name of the topmost node, shortened to keep the columns narrow.
fn root(target: &Target) -> String {
    let name = target.store.file_name().unwrap_or(target.store.as_os_str());
    if target.path == "/" { name.to_string_lossy().into_owned() } else { target.path.clone() }
}

/// A node of the tree.
struct Entry {
    node: Listed,
    /// Levels below the topmost node.
    depth: usize,
    size: Option<Size>,
}

fn tree(target: &Target, args: &Args) -> Result<Vec<Entry>, Failure> {
    // Nodes below the shown levels count in the sizes.
    let levels = if args.sizes { usize::MAX } else { args.depth };
    let all = list_with_note(target, args.source, levels)?;
    let entry = |node: Listed| Entry { depth: node.depth(&target.path), node, size: None };
    Ok(all.into_iter().map(entry).collect())
}

/// Adds what is stored of each node; for a group the sum of its nodes.
fn measure(target: &Target, tree: &mut [Entry]) -> Result<(), Failure> {
    let nodes: Vec<&Listed> = tree.iter().map(|entry| &entry.node).collect();
    let own = usage::measure(target, &nodes)?;
    let depths: Vec<usize> = tree.iter().map(|entry| entry.depth).collect();
    for (entry, usage) in tree.iter_mut().zip(usage::with_below(&own, &depths, Usage::plus)) {
        entry.size = Some(usage.chunks.plus(usage.other));
    }
    Ok(())
}

fn drawing(tree: &[Entry], root: &str) -> String {
    let mut table = Table::default();
    for (Entry { node, depth, size }, branch) in tree.iter().zip(branches(tree)) {
        let name = if *depth == 0 { root } else { node.path.rsplit('/').next().unwrap_or_default() };
        let mut cells = vec![format!("{branch}{name}"), node.kind().to_owned()];
        if let Some(size) = size {
            cells.extend([bytes(size.bytes), count(size.objects, "object")]);
        }
        cells.extend(match &node.array {
            Some(array) => [array.data_type(), array.shape(), array.dimension_names()],
            None => Default::default(),
        });
        // In the last column, because it can be wide.
        cells.extend(node.problem.clone());
        table.push(cells);
    }
    table.to_text("")
}

/// Returns the branch lines in front of each name.
fn branches(tree: &[Entry]) -> Vec<String> {
    // For each depth, whether another node follows. Goes backwards.
    let mut more: Vec<bool> = Vec::new();
    let mut lines: Vec<String> = Vec::new();
    for Entry { depth, .. } in tree.iter().rev() {
        more.resize(depth + 1, false);
        let above = more.iter().take(*depth).skip(1).map(|more| if *more { "│   " } else { "    " });
        let own = match (depth, more[*depth]) {
            (0, _) => "",
            (_, true) => "├── ",
            (_, false) => "└── ",
        };
        lines.push(above.chain([own]).collect());
        more[*depth] = true;
    }
    lines.reverse();
    lines
}

fn summary(tree: &[Entry]) -> String {
    let others = tree.iter().filter(|entry| entry.node.kind == "none").count();
    let mut text = count(tree.len() - others, "node");
    match broken(tree) {
        0 => {}
        broken => text.push_str(&format!(", {broken} of them broken")),
    }
    if others > 0 {
        text.push_str(&format!("; {} without a document", count(others, "folder")));
    }
    text
}

fn broken(tree: &[Entry]) -> usize {
    tree.iter().filter(|entry| entry.node.is_broken()).count()
}

fn to_json(tree: &[Entry]) -> Object {
    let entry = |Entry { node, size, .. }: &Entry| {
        let mut object = node.to_json();
        if let Some(size) = size {
            object.set("stored_bytes", size.bytes);
            object.set("stored_objects", size.objects);
        }
        object
    };
    json::document([("nodes", tree.iter().map(entry).collect()), ("broken", broken(tree).into())])
}
