//! `zarr rm --unfinished`: erases what unfinished copies have left.
//!
//! A copy to a path grows in a hidden directory beside it, unless processes share it. At a URL, a copy begins only in an
//! empty place, so what is there belongs to it, unless somebody has put other files there since: names that no copy writes
//! need --force. The marker is erased last: after an interruption the place still
//! counts as an unfinished copy.

use std::fs;
use std::path::Path;
use std::time::Duration;

use zarr_array::meta::is_document;
use zarr_array::meta::json::Object;
use zarr_array::traits::{Prefix, StoreResult, store::Dir};
use zarr_array::{Limits, Storage, block_on, node};
use zarr_copy::marker;
use zarr_hierarchy::{EraseOptions, blocking::erase};
use zarr_store_fs::FsStore;

use super::{Args, check_links};
use crate::args::place::Place;
use crate::args::stores::Stores;
use crate::args::target::Target;
use crate::doomed::{Doomed, check_others};
use crate::exit::{Exit, Failure, Outcome};
use crate::out::json;
use crate::out::stdout::print;
use crate::out::table::count;
use crate::stored::may_be_chunk;
use crate::verbs::copy;
use crate::{taken, torn};

/// What was erased, or would be: as JSON and as text.
type Told = (Object, String);

pub(super) fn run(args: &Args, stores: &Stores) -> Outcome {
    let swept = sweep(args, stores)?;
    let (mut document, mut text) = match undo(args, stores)? {
        Some(undone) => undone,
        None => match erased(args, stores) {
            // The hidden files were all that was left.
            Err(e) if e.exit() == Exit::NotFound && swept > 0 => {
                (Doomed::default().to_json(args.dry_run), String::new())
            }
            erased => erased?,
        },
    };
    if swept > 0 {
        document.set("hidden_files", swept);
        text += &format!("erased {}\n", count(swept, "hidden file"));
    }
    print(&if args.json { args.more.json(&document.into()) } else { text })?;
    Ok(Exit::Ok)
}

/// Erases the hidden files of killed writers in a directory, and returns their number.
fn sweep(args: &Args, stores: &Stores) -> Result<u64, Failure> {
    let Some(directory) = Place::exact(&args.store, stores).directory().filter(|_| !args.dry_run) else {
        return Ok(0);
    };
    if !directory.is_dir() {
        return Ok(0);
    }
    let swept = FsStore::open(directory).and_then(|store| store.sweep(Duration::from_secs(args.older_than)));
    swept.map_err(|e| Failure::from(e).within(format_args!("store {:?}", args.store)))
}

/// Erases unfinished copies.
fn erased(args: &Args, stores: &Stores) -> Result<Told, Failure> {
    // Processes that share a copy to a directory put the marker into it.
    let is_shared = args.store.join(marker::NAME).is_file();
    if stores.url(&args.store).is_none() && !is_shared {
        return beside(args);
    }
    let target = Target::opened(Place::behind_links(&args.store, stores)?, stores)?;
    check_links(&target)?;
    let prefix = target.prefix()?;
    let Some(source) = block_on(marker::unfinished(&target.storage, &prefix)).map_err(|e| target.fail(e))?
    else {
        let message = format!("there is no unfinished copy at {:?}", target.path);
        return Err(target.fail(Failure::new(Exit::NotFound, message)));
    };
    let found = list(&target, &prefix).map_err(|e| target.fail(e))?;
    if !args.dry_run {
        check_foreign(args, &target.storage, &prefix).map_err(|e| target.fail(e))?;
        let root = target.root.as_ref().filter(|_| prefix.is_root());
        if let Some(root) = root {
            // A writer that was killed may have left a hidden file.
            let _ = FsStore::open(root).and_then(|store| store.sweep(Duration::ZERO));
        }
        erase_all(&target, &prefix, &found).map_err(|e| target.fail(e))?;
        if let Some(root) = root {
            remove_empty(root);
        }
    }
    let objects = found.objects.iter().map(|listed| format!("/{}", listed.key));
    let others = objects.chain(found.prefixes.iter().map(Prefix::node_path)).collect();
    Ok(told(args, others, format!("erased an unfinished copy of {source:?}\n")))
}

/// Returns the places that are erased as JSON and, for a dry run, as text.
fn told(args: &Args, others: Vec<String>, done: String) -> Told {
    let doomed = Doomed { nodes: Vec::new(), others };
    (doomed.to_json(args.dry_run), if args.dry_run { doomed.to_text(true) } else { done })
}

/// Undoes an append that was interrupted in the group, if there is a group with one.
fn undo(args: &Args, stores: &Stores) -> Result<Option<Told>, Failure> {
    let Ok(target) = Target::to_change(&args.store, stores) else { return Ok(None) };
    if !taken::is_group(&target).unwrap_or(false) {
        return Ok(None);
    }
    let Some(undone) = torn::undo(&target, args.dry_run)? else { return Ok(None) };
    let text = match args.dry_run {
        true => format!("an interrupted append would be undone: {undone}\n"),
        false => format!("undid an interrupted append {undone}\n"),
    };
    Ok(Some((json::document([("undone_append", undone.into())]), text)))
}

/// Erases what interrupted copies to a path have left beside it.
fn beside(args: &Args) -> Result<Told, Failure> {
    let left = copy::left(&args.store)?;
    if left.is_empty() {
        let message = format!("there is no unfinished copy to {:?}", args.store);
        return Err(Failure::new(Exit::NotFound, message));
    }
    let mut done = String::new();
    for left in left.iter().filter(|_| !args.dry_run) {
        let storage = Storage::from(FsStore::open(&left.path)?);
        check_foreign(args, &storage, &Prefix::root())
            .map_err(|e| e.within(format_args!("{:?}", left.path)))?;
    }
    for left in left.iter().filter(|_| !args.dry_run) {
        fs::remove_dir_all(&left.path)
            .map_err(|e| Failure::io(&e, format_args!("cannot erase {:?}", left.path)))?;
        done += &format!("erased an unfinished copy of {:?}\n", left.source());
    }
    let others = left.iter().map(|left| left.path.display().to_string()).collect();
    Ok(told(args, others, done))
}

/// Fails if there are objects that no copy writes, unless they may be erased.
fn check_foreign(args: &Args, storage: &Storage, place: &Prefix) -> Result<(), Failure> {
    if args.force {
        return Ok(());
    }
    let all = block_on(storage.list_all(place))?;
    let foreign = all.iter().filter(|listed| !place.strip(&listed.key).is_some_and(is_of_copy));
    check_others(&foreign.map(|listed| format!("/{}", listed.key)).collect::<Vec<_>>(), "the copy")
}

/// Whether a copy may have written an object of this name, relative to its place: a document, a chunk, or what a copy keeps
/// about itself. The documents of an unfinished copy are not there yet, so chunks are known by their numbers.
fn is_of_copy(below: &str) -> bool {
    let is_own = |name: &str| name.starts_with(".zarr-copy.");
    let last = below.rsplit('/').next().unwrap_or(below);
    let is_hidden = below.split('/').any(|name| name.starts_with('.') && !is_document(name));
    below.split('/').any(is_own) || !is_hidden && (is_document(last) || may_be_chunk(last))
}

/// Lists what is directly in the place.
fn list(target: &Target, prefix: &Prefix) -> StoreResult<Dir> {
    block_on(target.storage.list_dir(prefix))
}

fn erase_all(target: &Target, prefix: &Prefix, found: &Dir) -> Result<(), Failure> {
    let marker = marker::key(prefix)?;
    if block_on(node::documents(&target.storage, prefix, target.format, &Limits::default()))?.make_node() {
        // The copy was complete except for the marker. Consolidated metadata above may contain it, so erase it as a
        // node.
        erase(target.storage.clone(), &target.path, &EraseOptions::new().root(true))?;
        return Ok(());
    }
    let storage = &target.storage;
    block_on(async {
        for listed in found.objects.iter().filter(|listed| listed.key != marker) {
            storage.delete(&listed.key).await?;
        }
        for below in &found.prefixes {
            storage.delete_prefix(below).await?;
        }
        storage.delete(&marker).await?;
        Ok(())
    })
}

/// Removes a directory and those below it, except for what holds a file: a writer that was killed may have left a
/// directory without a file.
fn remove_empty(directory: &Path) {
    for below in fs::read_dir(directory).into_iter().flatten().flatten() {
        if below.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove_empty(&below.path());
        }
    }
    let _ = fs::remove_dir(directory);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_known_by_the_names_that_it_writes() {
        for (name, is_of) in [
            (".zarr-copy.json", true),
            (".zarr-copy.jobs/night/1", true),
            ("a/.zarr-copy.intermediate/c/0", true),
            ("zarr.json", true),
            ("g/.zarray", true),
            ("a/c/0/12", true),
            ("a/c.0.12", true),
            ("a/0.12", true),
            ("scalar/c", true),
            ("thesis.tex", false),
            ("a/c/0.txt", false),
            ("a/0.", false),
            (".git/HEAD", false),
            (".git/objects/12/345", false),
        ] {
            assert_eq!(is_of_copy(name), is_of, "{name}");
        }
    }
}
