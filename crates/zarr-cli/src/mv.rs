//! `zarr mv`: gives a node another path in its store.

use std::fs;
use std::path::PathBuf;

use zarr_array::meta::Format;
use zarr_array::node::{self, Writing};
use zarr_array::traits::Prefix;
use zarr_array::{block_on, node::Consolidated};
use zarr_hierarchy::blocking::{copy, erase};
use zarr_hierarchy::{CopyOptions, EraseOptions};

use crate::create::Place;
use crate::exit::{Exit, Failure, Outcome};
use crate::json;
use crate::rm::check_links;
use crate::stdout::print;
use crate::stores::Stores;
use crate::table::count;
use crate::target::Target;
use crate::walk::{Source, walk};

/// Move or rename a node within its store, with everything below it.
///
/// In a directory the node is renamed in one step. In other stores its objects are copied, and erased when the copy is
/// durable. Missing groups above the new path are created, and consolidated metadata in groups above both paths is
/// updated.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The node: a directory with a metadata document.
    #[arg(value_name = "SRC")]
    source: PathBuf,
    /// Its new path, where nothing may be.
    #[arg(value_name = "DST")]
    destination: PathBuf,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  zarr mv weather.zarr/t2m weather.zarr/temperature
  zarr mv weather.zarr/t2m weather.zarr/surface/t2m
  zarr mv 's3://bucket/weather.zarr|zarr:t2m' 's3://bucket/weather.zarr|zarr:surface/t2m'

Between stores use `zarr copy`, then `zarr rm`.";

pub(crate) fn run(args: &Args, stores: &Stores) -> Outcome {
    let target = Target::to_change(&args.source, stores)?;
    target.check_writable()?;
    let place = Place::find(&args.destination, stores)?;
    let in_node = |e: Failure| target.fail(e.within(format_args!("node {:?}", target.path)));
    if !place.is_in_store_of(&target) {
        let message = format!(
            "{:?} is not in the same store; use `zarr copy`, then `zarr rm`",
            crate::stores::shown(&args.destination)
        );
        return Err(in_node(Failure::usage(message)));
    }
    check(&target, &place).map_err(in_node)?;
    let paths: Vec<String> =
        walk(&target, Source::DOCUMENTS, usize::MAX)?.map(|visit| visit.path()).collect();
    let moved = match renamed(&target, &place, &paths)? {
        true => Ok(()),
        false => copied(&target, &place),
    };
    moved.map_err(in_node)?;
    print(&match args.json {
        true => json::pretty(
            &json::document([
                ("path", (&place.path).into()),
                ("old_path", (&target.path).into()),
                (
                    "nodes",
                    nodes(&target, &place, &paths)
                        .map(|path| json::object([("path", path.into())]))
                        .collect(),
                ),
            ])
            .into(),
        ),
        false => format!("moved {}\n", count(paths.len(), "node")),
    })?;
    Ok(Exit::Ok)
}

fn check(target: &Target, place: &Place) -> Result<(), Failure> {
    check_links(target)?;
    let inside = |inner: &str, outer: &str| inner == outer || inner.starts_with(&format!("{outer}/"));
    if target.format == Some(Format::V1) {
        return Err(Failure::unsupported("arrays of format 1 can be read, but not moved"));
    }
    if target.path == "/" {
        return Err(Failure::usage("this is the root of a store, which has no other path in it"));
    }
    if place.path == "/" || inside(&place.path, &target.path) || inside(&target.path, &place.path) {
        return Err(Failure::usage(format!(
            "it cannot be moved to {:?}, one contains the other",
            place.path
        )));
    }
    if place.is_node()? {
        return Err(Failure::usage(format!("there is a node already at {:?}", place.path)));
    }
    Ok(())
}

/// Returns the new paths of nodes.
fn nodes<'a>(target: &'a Target, place: &'a Place, paths: &'a [String]) -> impl Iterator<Item = String> + 'a {
    paths.iter().map(|path| format!("{}{}", place.path, path.strip_prefix(&target.path).unwrap_or_default()))
}

/// Renames the directory of the node. Returns `false` if the store has no directory, or if there is something in the way.
fn renamed(target: &Target, place: &Place, paths: &[String]) -> Result<bool, Failure> {
    let new = target.at_path(&place.path);
    let (Some(from), Some(to)) = (target.directory(), new.directory()) else { return Ok(false) };
    check_links(&new)?;
    let (source, destination) = (target.prefix()?, new.prefix()?);
    let format = target.node()?.0.format();
    let (storage, how) = (&target.storage, Writing::default());
    let in_store = |e: zarr_array::ArrayError| target.fail(e);
    if to.symlink_metadata().is_ok() {
        return Ok(false);
    }
    let mut touched = block_on(node::create_above(storage, &destination, format, &how)).map_err(in_store)?;
    if fs::rename(&from, &to).is_err() {
        return Ok(false);
    }
    for path in nodes(target, place, paths) {
        touched.push(Prefix::of_node(&path).map_err(|e| target.fail(e))?);
    }
    touched.push(source);
    block_on(storage.sync()).map_err(|e| target.fail(e))?;
    block_on(node::refresh_all(storage, &touched, format, &how)).map_err(in_store)?;
    Ok(true)
}

/// Copies the objects, and erases the old ones once the copy is durable.
fn copied(target: &Target, place: &Place) -> Result<(), Failure> {
    let storage = &target.storage;
    let options = CopyOptions::new().consolidated(Consolidated::Update);
    copy(storage.clone(), &target.path, storage.clone(), &place.path, &options)?;
    block_on(storage.sync())?;
    erase(storage.clone(), &target.path, &EraseOptions::new())?;
    Ok(())
}
