//! `zarr info`: describes a node.

mod array;
mod group;

use std::path::PathBuf;

use zarr_array::Diagnostic;
use zarr_array::meta::json::{Object, Value};
use zarr_array::meta::{Format, NodeMeta};

use crate::exit::{Exit, Outcome, line};
use crate::json;
use crate::stdout::print;
use crate::stores::Stores;
use crate::table::Table;
use crate::target::Target;
use crate::walk::Source;
use array::ArrayInfo;
use group::GroupInfo;

/// Describe an array or a group.
///
/// A node with an unknown codec or data type is described as well; only its elements cannot be read. Stored chunks are
/// counted as long as that is quick. For a group the children are listed, from consolidated metadata if there is any; a
/// difference from the store is reported.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The node: a directory with a metadata document.
    #[arg(value_name = "STORE[/PATH]")]
    store: PathBuf,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
    /// Count all stored chunks or shards, even if there are many.
    #[arg(long)]
    count: bool,
    #[command(flatten)]
    source: Source,
}

const EXAMPLES: &str = "\
Examples:
  zarr info weather.zarr
  zarr info weather.zarr/t2m
  zarr info --json weather.zarr/t2m | jq .shape";

pub(crate) fn run(args: &Args, stores: &Stores) -> Outcome {
    let target = Target::find(&args.store, stores)?;
    let (node, notes) = target.node()?;
    let text = match node {
        NodeMeta::Array(meta) => ArrayInfo::new(&target, meta, notes, args.count).print(&target, args.json),
        NodeMeta::Group(meta) => GroupInfo::new(&target, args.source, meta, notes)?.print(&target, args.json),
    };
    print(&text)?;
    Ok(Exit::Ok)
}

fn head(target: &Target, kind: &str, format: Format) -> Table {
    let mut table = Table::default();
    table.row(["name", &target.path]);
    table.row(["store", &target.store.display().to_string()]);
    table.row(["kind", &format!("{kind}, Zarr format {format}")]);
    table
}

/// Returns the table, followed by the attributes and the tolerated deviations.
fn end(mut table: Table, attributes: &Object, notes: &[Diagnostic]) -> String {
    if attributes.is_empty() {
        table.row(["attributes", "none"]);
    }
    let mut text = table.to_text("");
    let mut block = |title: &str, rows: &mut dyn Iterator<Item = String>| {
        text.push_str(title);
        text.push('\n');
        for row in rows {
            text.extend(["  ", &line(&row), "\n"]);
        }
    };
    if !attributes.is_empty() {
        block("attributes", &mut json::pretty(&attributes.to_value()).lines().map(str::to_owned));
    }
    if !notes.is_empty() {
        block("tolerated", &mut notes.iter().map(ToString::to_string));
    }
    text
}

fn diagnostics(notes: &[Diagnostic]) -> Value {
    let one = |note: &Diagnostic| {
        json::object([
            ("code", note.code.id().into()),
            ("pointer", (&note.pointer).into()),
            ("message", (&note.message).into()),
        ])
    };
    notes.iter().map(one).collect()
}
