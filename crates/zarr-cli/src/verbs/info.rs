//! `zarr info`: describes a node.

mod anndata;
mod array;
mod dataset;
mod fold;
mod group;
mod image;
mod repository;

use std::path::PathBuf;

use zarr_array::Diagnostic;
use zarr_array::meta::NodeMeta;
use zarr_array::meta::json::{Member, Object, Value};

use zarr_xarray::blocking::DataTree;

use crate::args::place::Place;
use crate::args::several::More;
use crate::args::stores::Stores;
use crate::args::target::Target;
use crate::exit::{Exit, Failure, Outcome, line};
use crate::out::json;
use crate::out::screen::{Screen, cut, fitted};
use crate::out::stdout::print;
use crate::verbs::chunks;
use crate::visit::Source;
use array::ArrayInfo;
use group::GroupInfo;
use repository::{Opened, RepositoryInfo};

/// Describe an array or a group. `zarr STORE` does the same.
///
/// A group is shown as what it is: a dataset, an image, a plate, AnnData, or a group with its children, of which long runs that are alike
/// take one line. Of a store that cannot list, the children are those that the documents name.
///
/// A node with an unknown codec or data type is described as well; only its elements cannot be read. Stored chunks are
/// counted as long as that is quick. For a group the first 2000 children are listed, from consolidated metadata if there is
/// any; a difference from the store is reported.
///
/// A group of arrays with named dimensions, and at most 2000 children, is shown as a dataset: dimensions, coordinates
/// with their first and last values, and variables, each with its stored type and the type that decoding makes of it.
///
/// A node in an Icechunk repository is followed by the branches and tags of the repository, the snapshot that is read, and
/// the places of virtual chunks.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The node: a directory with a metadata document.
    #[arg(value_name = "STORE[/PATH]")]
    store: PathBuf,
    #[command(flatten)]
    more: More,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
    /// List the stored chunks or shards of an array: key, index in the grid, bytes. With --json a line for each.
    #[arg(long, conflicts_with_all = ["count", "cdl", "attrs", "no_attrs", "no_values", "all", "no_consolidated"])]
    chunks: bool,
    /// With --chunks: list the stored inner chunks of each shard.
    #[arg(long, requires = "chunks")]
    inner: bool,
    /// Count all stored chunks or shards, even if there are many.
    #[arg(long)]
    count: bool,
    /// Print a group and the groups below it as CDL, as `ncdump -h` does.
    #[arg(long, conflicts_with = "json")]
    cdl: bool,
    /// Print the attributes in full, as JSON. By default they take one line.
    #[arg(long, conflicts_with_all = ["no_attrs", "json", "cdl"])]
    attrs: bool,
    /// Print all lines, also if they do not fit on the terminal.
    #[arg(short, long)]
    all: bool,
    /// Do not read the values of coordinates, categories, and the first and last element of an array, and do not list the
    /// chunks in a group.
    #[arg(long)]
    no_values: bool,
    /// Leave out the attributes.
    #[arg(long)]
    no_attrs: bool,
    #[command(flatten)]
    source: Source,
}

const EXAMPLES: &str = "\
Examples:
  zarr info weather.zarr
  zarr info weather.zarr/t2m
  zarr info --attrs weather.zarr/t2m
  zarr info --json weather.zarr/t2m | jq .shape
  zarr info --chunks weather.zarr/t2m
  zarr info --chunks --json weather.zarr/t2m | jq -r 'select(.stray).key'
  zarr info 's3://bucket/repo|icechunk:@tag.v1.0'
  zarr info --cdl weather.zarr > weather.cdl";

pub(crate) fn run(args: &Args, stores: &Stores) -> Outcome {
    if args.cdl {
        args.more.refuse("--cdl")?;
    }
    if args.chunks {
        args.more.refuse("--chunks")?;
        return chunks::run(&chunks::Args::of(&args.store, args.json, args.inner), stores);
    }
    let one = |store, more| one(&Args { store, more, ..args.clone() }, stores);
    args.more.each("info", &args.store, args.json, one)
}

fn one(args: &Args, stores: &Stores) -> Outcome {
    let stores = &stores.cached();
    let place = Place::of(&args.store, stores);
    // The file `repo` is read once, for the node and for what is said of the repository.
    let opened = if args.cdl { None } else { Opened::of(&args.store, stores)? };
    let target = match &opened {
        Some(opened) => Target::find_in(place.clone(), opened.storage.clone()),
        None => Target::find(&args.store, stores),
    };
    let found = target.and_then(|target| Ok((target.node()?, target)));
    let ((node, notes), target) = match (found, &opened) {
        (Err(e), Some(opened)) if e.exit() == Exit::NotFound => return empty(args, opened, &place, e),
        (found, _) => found?,
    };
    if args.cdl {
        return cdl(&target, args.source, &node);
    }
    let repository = opened.as_ref().map(|opened| &opened.repository);
    let print = |document: &dyn Fn() -> Object, page: &dyn Fn() -> String| match args.json {
        true => {
            let mut document = document();
            if let Some(repository) = repository {
                document.set("repository", repository.to_json());
            }
            print(&args.more.json(&document.into()))
        }
        false => {
            let page = page() + &repository.map(RepositoryInfo::page).unwrap_or_default();
            print(&fitted(page, Screen::of_stdout(), args.all))
        }
    };
    match node {
        NodeMeta::Array(meta) => {
            let info = ArrayInfo::new(&target, meta, notes, args.count);
            print(&|| info.to_json(&target), &|| info.page(&target, args))?;
        }
        NodeMeta::Group(meta) => {
            let info = GroupInfo::new(&target, args, meta, notes)?;
            print(&|| info.to_json(&target), &|| info.page(&target, args))?;
        }
    }
    Ok(Exit::Ok)
}

/// Prints a repository whose snapshot has no nodes. If the snapshot has some, the node that was not found is the error `e`.
fn empty(args: &Args, opened: &Opened, place: &Place, e: Failure) -> Outcome {
    if place.path != "/" || !opened.is_empty()? {
        return Err(e);
    }
    if args.json {
        let mut document = json::document([("path", (&place.path).into()), ("node_type", "none".into())]);
        document.set("repository", opened.repository.to_json());
        print(&args.more.json(&document.into()))?;
    } else {
        let kind = row("no node", &format!("{}: the snapshot has no nodes", named(place)));
        print(&(kind + &opened.repository.page()))?;
    }
    Ok(Exit::Ok)
}

impl Args {
    /// Returns the attributes: in one line, in full, or not at all.
    fn attributes(&self, attributes: &Object) -> String {
        if self.no_attrs || attributes.is_empty() {
            return String::new();
        }
        if !self.attrs {
            return cut(&row("attributes", &in_one_line(attributes)), Screen::of_stdout())
                .trim_end()
                .to_owned()
                + "\n";
        }
        let mut text = "attributes\n".to_owned();
        for row in json::pretty(&attributes.to_value()).lines() {
            text.extend(["  ", &line(row), "\n"]);
        }
        text
    }
}

/// Returns the store, and the path of the node in it.
fn named(place: &Place) -> String {
    let store = place.store.display().to_string();
    format!("{}{}", store.trim_end_matches('/'), place.path.trim_end_matches('/'))
}

/// Returns a line with a name in front.
fn row(name: &str, value: &str) -> String {
    format!("{name:<10}  {}\n", line(value))
}

/// Prints a group and the groups below it as CDL. The name is the last part of the store or of the path.
fn cdl(target: &Target, source: Source, node: &NodeMeta) -> Outcome {
    if let NodeMeta::Array(_) = node {
        return Err(target.fail(Failure::usage("--cdl describes a group, and this node is an array")));
    }
    let tree = DataTree::open(target.group(source)?).map_err(|e| target.fail(e))?;
    let place = if target.path == "/" { target.store.clone() } else { PathBuf::from(&target.path) };
    let name =
        place.file_stem().map_or_else(|| "zarr".to_owned(), |name| name.to_string_lossy().into_owned());
    print(&tree.to_cdl(&name))?;
    Ok(Exit::Ok)
}

/// Returns the attributes, texts without quotes, other values as JSON.
fn in_one_line(attributes: &Object) -> String {
    let member = |member: &Member| {
        let value = member.value();
        let shown = value.to_text().map_or_else(|_| value.to_compact(), |text| text.into_owned());
        format!("{}: {shown}", member.name_lossy())
    };
    attributes.members().map(member).collect::<Vec<_>>().join("; ")
}

/// Returns the tolerated deviations, one a line.
fn tolerated(notes: &[Diagnostic]) -> String {
    let rows: String = notes.iter().map(|note| format!("  {}\n", line(&note.to_string()))).collect();
    if rows.is_empty() { rows } else { format!("tolerated\n{rows}") }
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
