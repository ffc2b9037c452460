//! Makes an array with elements. Its document is written last, so no reader sees an incomplete array.

use std::fs;

use zarr_array::blocking::Array;
use zarr_array::meta::{ArrayMeta, NodeMeta};
use zarr_array::traits::Prefix;
use zarr_array::{CreateOptions, Limits, OpenOptions, Storage, block_on, node};

use super::New;
use crate::args::from::Reader;
use crate::args::place::Place;
use crate::args::stores::Stores;
use crate::args::target::registry;
use crate::exit::{Failure, say};
use crate::out::progress::Progress;
use crate::pick::Pick;

/// Creates the array in an empty place. After a failure, nothing is left there.
pub(super) fn run(new: &New, stores: &Stores, meta: ArrayMeta, reader: &Reader) -> Result<(), Failure> {
    let (place, is_new) = (&new.place, !new.has_store());
    let storage = new.storage(stores)?;
    let prefix = place.prefix()?;
    check(new, &storage, &prefix).and_then(|()| {
        let made = make(place, &storage, &prefix, meta, reader);
        if made.is_err()
            && let Err(e) = block_on(storage.delete_prefix(&prefix))
        {
            say(&format!("note: chunks of {:?} are left, which no document names: {e:#}", place.path));
        }
        if made.is_err() && is_new {
            // The directory of a new store, unless another process has put something there.
            let _ = fs::remove_dir(&place.store);
        }
        made
    })
}

/// Checks that there is nothing in the place, so that everything there can be erased after a failure.
fn check(new: &New, storage: &Storage, prefix: &Prefix) -> Result<(), Failure> {
    let in_node = |e: Failure| e.within(format_args!("array {:?}", new.place.path));
    storage.check_writable()?;
    for above in node::above(prefix) {
        let found = block_on(node::read(storage, &above, None, &Limits::default(), false))?;
        if let Some((NodeMeta::Array(_), _)) = found {
            let message = format!("{:?} is an array, nothing can be created below it", above.node_path());
            return Err(in_node(Failure::usage(message)));
        }
    }
    if new.is_node()? {
        return Err(in_node(Failure::usage("there is a node already")));
    }
    let there = block_on(storage.list(prefix, None))?;
    match there.entries.first() {
        None => Ok(()),
        Some(object) => {
            let message =
                format!("{:?} exists but belongs to no node; the place must be empty", object.key.as_str());
            Err(in_node(Failure::usage(message)))
        }
    }
}

fn make(
    place: &Place,
    storage: &Storage,
    prefix: &Prefix,
    meta: ArrayMeta,
    reader: &Reader,
) -> Result<(), Failure> {
    let (options, registry) = (CreateOptions::new().take_chunks(true), registry());
    Array::check_new(storage, &place.path, &meta, &registry, &options)?;
    let growing = Array::from_metadata(
        storage.clone(),
        prefix.clone(),
        meta.clone(),
        Vec::new(),
        &registry,
        &OpenOptions::new(),
    )?;
    let picks: Vec<Pick> = growing.shape().iter().map(|length| Pick::range(0..*length)).collect();
    let progress = Progress::new(reader.bytes(), false);
    reader.write(&growing, &picks, |bytes| progress.add(bytes))?;
    block_on(storage.sync())?;
    let array = Array::create_with(storage.clone(), &place.path, meta, &registry, &options)?;
    drop(progress);
    array.diagnostics().iter().for_each(|note| say(&format!("note: {note}")));
    Ok(())
}
