//! `zarr mv`: gives a node another path in its store.

use std::fs;
use std::path::PathBuf;

use zarr_array::meta::Format;
use zarr_array::node::{self, Writing};
use zarr_array::traits::Prefix;
use zarr_array::{Limits, Storage, block_on};
use zarr_hierarchy::blocking::{copy, erase};
use zarr_hierarchy::{CopyOptions, EraseOptions};

use crate::args::place::Place;
use crate::args::stores::Stores;
use crate::args::target::Target;
use crate::exit::{Exit, Failure, Outcome};
use crate::out::json;
use crate::out::stdout::print;
use crate::out::table::count;
use crate::verbs::rm::check_links;
use crate::visit::Source;
use crate::walk::walk;

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
    let place = Place::new_node(&args.destination, stores)?;
    let in_node = |e: Failure| target.fail(e.within(format_args!("node {:?}", target.path)));
    if !place.is_in_store_of(&target) {
        let message = format!(
            "{:?} is not in the same store; use `zarr copy`, then `zarr rm`",
            crate::args::stores::shown(&args.destination)
        );
        return Err(in_node(Failure::usage(message)));
    }
    check(&target, &place).map_err(in_node)?;
    let paths: Vec<String> =
        walk(&target, Source::DOCUMENTS, usize::MAX)?.map(|visit| visit.path()).collect();
    let moved = match renamed(&target, &place, &paths)? {
        true => Ok(()),
        false => copied(&target.storage, &target.path, &place.path),
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
    let there = Prefix::of_node(&place.path).map_err(|e| target.fail(e))?;
    if block_on(node::documents(&target.storage, &there, None, &Limits::default()))?.make_node() {
        return Err(Failure::usage(format!("there is a node already at {:?}", place.path)));
    }
    // Chunks of an erased node would be among those of the moved one.
    let there = block_on(target.storage.list(&there, None)).map_err(|e| target.fail(e))?;
    if let Some(object) = there.entries.first() {
        let message =
            format!("{:?} exists but belongs to no node; the place must be empty", object.key.as_str());
        return Err(Failure::usage(message));
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
fn copied(storage: &Storage, from: &str, to: &str) -> Result<(), Failure> {
    copy(storage.clone(), from, storage.clone(), to, &CopyOptions::new())?;
    block_on(storage.sync())?;
    erase(storage.clone(), from, &EraseOptions::new())?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use zarr_array::blocking::Array;
    use zarr_array::meta::ArrayMeta;
    use zarr_array::traits::StoreErrorKind;
    use zarr_array::traits::store::Op;
    use zarr_array::{ArrayResult, DataType};
    use zarr_conformance::instruments::{Fault, Faulty};
    use zarr_hierarchy::blocking::Group;
    use zarr_store::MemoryStore;

    use super::*;
    use crate::args::target::registry;

    fn read(storage: &Storage, path: &str) -> ArrayResult<Vec<u8>> {
        Ok(Array::open(storage.clone(), path, &registry())?.read::<u8>(..)?.into_vec())
    }

    #[test]
    fn the_copy_is_durable_before_the_original_goes_and_one_of_them_is_always_complete() {
        let mut steps = 1;
        for last in 0.. {
            let memory = Storage::from(MemoryStore::new());
            Group::create(memory.clone(), "/", &registry()).unwrap();
            let meta = ArrayMeta::builder([4], DataType::UInt8).chunks([2]).build().unwrap();
            let array = Array::create(memory.clone(), "/a", meta, &registry()).unwrap();
            array.write(.., &[1_u8, 2, 3, 4]).unwrap();
            let log = Arc::new(Mutex::new(Vec::new()));
            let shared = log.clone();
            let (storage, _) = Faulty::over(&memory, move |_, call: &Op<'_>| {
                if !call.writes() {
                    return None;
                }
                let mut log = shared.lock().unwrap();
                if log.len() >= last {
                    return Some(Fault::ErrorBefore(StoreErrorKind::Io));
                }
                log.push(match call {
                    Op::Put(_) | Op::Copy(_) => "put",
                    Op::Sync => "sync",
                    _ => "delete",
                });
                None
            });
            let done = copied(&storage, "/a", "/g/b");
            let whole = |path| read(&memory, path).is_ok_and(|elements| elements == [1, 2, 3, 4]);
            assert!(whole("/a") || whole("/g/b"), "after {last} writes");
            let log = log.lock().unwrap();
            let first = |what| log.iter().position(|step| *step == what).unwrap_or(log.len());
            assert!(log.iter().rposition(|step| *step == "put").unwrap_or(0) <= first("sync"));
            assert!(first("sync") <= first("delete"), "{log:?}");
            if done.is_ok() {
                assert!(whole("/g/b") && !whole("/a"));
                break;
            }
            steps += 1;
        }
        assert!(steps > 5, "only {steps} steps");
    }
}
