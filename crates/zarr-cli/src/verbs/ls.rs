//! `zarr ls`: lists the children of a group.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use crate::args::stores::{Stores, shown};
use crate::args::target::Target;
use crate::exit::{Exit, Outcome, line, say};
use crate::folder::Folder;
use crate::listed::{Listed, list_with_note};
use crate::out::json;
use crate::out::stdout::Stdout;
use crate::out::table::Table;
use crate::visit::Source;

/// List the children of a group, or the stores in a folder or bucket.
///
/// Prints one path a line, relative to the group. For an array it prints the array. For a folder that is not a node it
/// prints the stores directly in it. A node that cannot be read is
/// listed as well, with the reason in a note on stderr or in its row; so are folders that are not nodes. Neither is an
/// error. `zarr validate` reports errors.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The node: a directory with a metadata document.
    #[arg(value_name = "STORE[/PATH]")]
    store: PathBuf,
    /// Print a row for each node: kind, format, data type, shape, chunks and codecs.
    #[arg(short, long)]
    long: bool,
    /// List all nodes below the group, parents before children.
    #[arg(short = 'R', long)]
    recursive: bool,
    /// List so many levels below the group; 1 lists the children only.
    #[arg(short, long, visible_short_alias = 'L', value_name = "LEVELS")]
    depth: Option<NonZeroUsize>,
    /// Print one JSON object for each node, one a line.
    #[arg(long, conflicts_with = "long")]
    json: bool,
    #[command(flatten)]
    source: Source,
}

const EXAMPLES: &str = "\
Examples:
  zarr ls weather.zarr
  zarr ls -l weather.zarr
  zarr ls -d 2 weather.zarr
  zarr ls s3://bucket
  zarr ls -R --json weather.zarr | jq -r 'select(.node_type == \"array\").path'";

impl Args {
    /// Returns the number of levels to list, at least 1.
    fn levels(&self) -> usize {
        let usual = if self.recursive { usize::MAX } else { 1 };
        self.depth.map_or(usual, NonZeroUsize::get)
    }
}

pub(crate) fn run(args: &Args, stores: &Stores) -> Outcome {
    match Target::find(&args.store, stores) {
        Ok(target) => nodes(args, &target),
        Err(e) if e.exit() == Exit::NotFound => match Folder::read(&args.store, stores) {
            Some(folder) => stores_in(args, &folder),
            None => Err(e),
        },
        Err(e) => Err(e),
    }
}

/// Lists the children of a group, or an array.
fn nodes(args: &Args, target: &Target) -> Outcome {
    let levels = args.levels();
    let mut nodes = list_with_note(target, args.source, levels)?;
    let top = nodes.next();
    let is_group = top.as_ref().is_some_and(|node| node.kind == "group");
    let given = shown(&args.store).display().to_string();
    let nodes = top.filter(|_| !is_group).into_iter().chain(nodes);
    print(args, nodes, |node| if is_group { node.below(&target.path).to_owned() } else { given.clone() })
}

/// Lists the stores in a folder. A store that cannot be read gets a note.
fn stores_in(args: &Args, folder: &Folder) -> Outcome {
    // The stores themselves are the first level.
    let levels = args.levels() - 1;
    let list = |store| match list_with_note(store, args.source, levels) {
        Ok(nodes) => Some(nodes),
        Err(e) => {
            say(&format!("note: {}", e.message()));
            None
        }
    };
    let nodes = folder.stores.iter().filter_map(list).flatten();
    print(args, nodes, |node| node.below(&folder.path).to_owned())
}

fn print(args: &Args, nodes: impl Iterator<Item = Listed>, name: impl Fn(&Listed) -> String) -> Outcome {
    let (mut out, mut table) = (Stdout::new(), Table::default());
    for node in nodes {
        let name = name(&node);
        if args.long {
            add_row(&mut table, &node, &name);
            continue;
        }
        if args.json {
            out.write(json::line(&node.to_json().into()).as_bytes())?;
            continue;
        }
        if let Some(problem) = &node.problem {
            say(&format!("note: {name:?}: {problem}"));
        }
        if node.kind != "none" {
            out.write(format!("{}\n", line(&name)).as_bytes())?;
        }
    }
    for row in table.lines("") {
        out.write(row.as_bytes())?;
    }
    out.flush()?;
    Ok(Exit::Ok)
}

fn add_row(table: &mut Table, node: &Listed, name: &str) {
    let format = node.format.map(|format| format.to_string()).unwrap_or_default();
    let [data_type, shape, chunks, codecs] = match &node.array {
        Some(array) => [array.data_type(), array.shape(), array.chunks(), array.codecs()],
        None => Default::default(),
    };
    let problem = node.problem.as_deref().unwrap_or_default();
    table.row([node.kind(), &format, name, &data_type, &shape, &chunks, &codecs, problem]);
}
