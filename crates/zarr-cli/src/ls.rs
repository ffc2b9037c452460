//! `zarr ls`: the children of a group.

use std::path::PathBuf;

use crate::exit::{Exit, Outcome, line, say};
use crate::json;
use crate::listed::{Listed, list};
use crate::stdout::Stdout;
use crate::stores::{Stores, shown};
use crate::table::Table;
use crate::target::Target;
use crate::walk::Source;

/// List the children of a group.
///
/// One path a line, relative to the group; an array is listed itself. A node that cannot be read is listed like the others,
/// and a note on stderr, or its row, says what is wrong; so are folders that are no nodes. That is no error: `zarr
/// validate` judges.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The node: a directory with the documents of one.
    #[arg(value_name = "STORE[/PATH]")]
    store: PathBuf,
    /// A row each, with kind, format, data type, shape, chunks and codecs.
    #[arg(short, long)]
    long: bool,
    /// All nodes below the group, parents before children.
    #[arg(short = 'R', long)]
    recursive: bool,
    /// Print one JSON object a line for each node.
    #[arg(long, conflicts_with = "long")]
    json: bool,
    #[command(flatten)]
    source: Source,
}

const EXAMPLES: &str = "\
Examples:
  zarr ls weather.zarr
  zarr ls -l weather.zarr
  zarr ls -R --json weather.zarr | jq -r 'select(.node_type == \"array\").path'";

pub(crate) fn run(args: &Args, stores: &Stores) -> Outcome {
    let target = Target::find(&args.store, stores)?;
    let levels = if args.recursive { usize::MAX } else { 1 };
    let mut all = list(&target, args.source, levels)?;
    let is_group = all.first().is_some_and(|node| node.kind == "group");
    if is_group {
        all.remove(0);
    }
    let given = shown(&args.store).display().to_string();
    let name = |node: &Listed| if is_group { node.below(&target.path).to_owned() } else { given.clone() };
    let mut out = Stdout::new();
    if args.long {
        out.write(rows(&all, name).as_bytes())?;
    }
    for node in all.iter().filter(|_| !args.long) {
        if args.json {
            out.write(json::line(&node.to_json().into()).as_bytes())?;
            continue;
        }
        if let Some(problem) = &node.problem {
            say(&format!("note: {:?}: {problem}", name(node)));
        }
        if node.kind != "none" {
            out.write(format!("{}\n", line(&name(node))).as_bytes())?;
        }
    }
    out.flush()?;
    Ok(Exit::Ok)
}

fn rows(all: &[Listed], name: impl Fn(&Listed) -> String) -> String {
    let mut table = Table::default();
    for node in all {
        let format = node.format.map(|format| format.to_string()).unwrap_or_default();
        let [data_type, shape, chunks, codecs] = match &node.array {
            Some(array) => [array.data_type(), array.shape(), array.chunks(), array.codecs()],
            None => Default::default(),
        };
        let problem = node.problem.as_deref().unwrap_or_default();
        table.row([node.kind(), &format, &name(node), &data_type, &shape, &chunks, &codecs, problem]);
    }
    table.to_text("")
}
