//! Copies level 0 into a new group, whose levels are made there.

use std::path::Path;

use zarr_array::meta::{GroupMeta, NodeMeta};
use zarr_array::traits::{Prefix, StoreError};
use zarr_array::{ArrayError, Limits, Storage, block_on, node};
use zarr_copy::pyramid::{MultiscaleMetadata, PyramidPlan, PyramidPlans};
use zarr_copy::{Copy, CopyPlan, DestinationState, Event, RunOptions, marker};
use zarr_hierarchy::{ChildState, GroupOptions, blocking::Group};
use zarr_store::{MemoryStore, Prefixed};

use super::report;
use super::settings::{Args, IfExists, failed, left, settings};
use crate::args::stores::Stores;
use crate::args::target::{Target, registry};
use crate::exit::{Failure, say};
use crate::interrupt;
use crate::out::progress::Progress;
use crate::out::stdout::print;
use crate::verbs::copy::{check_outside, shared};

/// The name of an array in the new group.
const LEVEL_0: &str = "0";

/// Copies the source, and returns the new node of which levels are to be made. In a dry run prints the plan instead.
pub(super) fn copied(
    args: &Args,
    metadata: Option<&[MultiscaleMetadata]>,
    source: &Target,
    destination: &Path,
    stores: &Stores,
) -> Result<Option<Target>, Failure> {
    if args.if_exists == IfExists::Replace {
        return Err(Failure::usage("--if-exists replace is for levels beside SRC: DST must be new"));
    }
    check_outside(source, [&args.source, &destination.to_owned()], stores)?;
    let there = shared(destination, stores)?;
    let group = there.path.clone();
    let is_array = matches!(source.look()?.found, ChildState::Node(NodeMeta::Array(_)));
    let plan = |leaving: &[String]| {
        let copy = Copy::new(source.storage.clone(), &source.path, &registry());
        let copy = copy.source_format(source.format).source_name(source.identity()).exclude(leaving);
        let copy = args.chunks.iter().cloned().fold(copy, Copy::chunks);
        let copy = args.shards.iter().cloned().fold(copy, Copy::shards);
        let copy = args.codecs.iter().cloned().fold(copy, Copy::codecs);
        let copy = args.max_memory.iter().fold(copy, |copy, memory| copy.max_memory(memory.bytes()));
        block_on(copy.plan()).map_err(|e| failed(&e, source))
    };
    // The levels are planned over the documents of the copy, before anything is written.
    let mut copy = plan(&[])?;
    let levels = levels(args, metadata, source, &copy, is_array)?;
    let named: Vec<String> = levels.plans().iter().flat_map(named).collect();
    if !named.is_empty() {
        copy = plan(&named)?;
    }
    if args.dry_run {
        levels.notes().for_each(|note| say(&format!("note: {note}")));
        print(&if args.json { report::plan_json(&levels) } else { report::plan(&levels) })?;
        return Ok(None);
    }
    let storage = there.create(stores)?;
    let level0 = if is_array { format!("{}/{LEVEL_0}", group.trim_end_matches('/')) } else { group.clone() };
    let place = Target::opened(there, stores)?.at_path(&level0);
    let is_there = |plan| has_same_level0(plan, &storage, &group).map_err(|e| place.fail(e));
    // With the marker of a copy the documents may be there, and what is written after them not.
    let is_copied = || {
        let marker = Prefix::of_node(&level0).map(|root| block_on(marker::unfinished(&storage, &root)));
        Ok::<_, StoreError>(marker??.is_none())
    };
    let mut are_there =
        args.resume && !levels.plans().is_empty() && is_copied().map_err(|e| place.fail(e))?;
    for plan in levels.plans() {
        are_there = are_there && is_there(plan)?;
    }
    if !are_there {
        copy_all(args, &copy, storage, &level0, source, &place)?;
    }
    Ok(Some(place))
}

/// Returns the paths below the source of the levels that a group names already.
fn named(plan: &PyramidPlan) -> impl Iterator<Item = String> {
    let group = format!("{}/", plan.group().trim_end_matches('/'));
    plan.named().iter().map(move |path| format!("{}{path}", &group[1..]))
}

fn copy_all(
    args: &Args,
    copy: &CopyPlan,
    storage: Storage,
    path: &str,
    source: &Target,
    place: &Target,
) -> Result<(), Failure> {
    let rounds = if args.verify { 2 } else { 1 };
    let progress = Progress::new(copy.bytes().saturating_mul(rounds), args.quiet);
    let told = |event: Event<'_>| match event {
        Event::Array(path) => progress.at(path),
        Event::Bytes(bytes) => progress.add(bytes),
        _ => {}
    };
    let _interruptible = interrupt::saying(left(args));
    let options = RunOptions::new().resume(args.resume).verify(args.verify);
    let done = block_on(copy.run(storage, path, options, &told));
    drop(progress);
    done.map(drop).map_err(|e| failed(&e, if e.is_of_source() { source } else { place }))
}

/// Plans the levels of a copy from its documents.
fn levels(
    args: &Args,
    metadata: Option<&[MultiscaleMetadata]>,
    source: &Target,
    copy: &CopyPlan,
    is_array: bool,
) -> Result<PyramidPlans, Failure> {
    let storage = Storage::from(MemoryStore::new());
    let mut path = "/".to_owned();
    let mut root = storage.clone();
    if is_array {
        let meta = GroupMeta::new(copy.format()).map_err(|e| source.fail(ArrayError::from(e)))?;
        let options = GroupOptions::new();
        let made = Group::create_with(storage.clone(), "/", meta, &registry(), &options);
        made.map_err(|e| source.fail(e))?;
        path.push_str(LEVEL_0);
        root = Prefixed::over(&storage, Prefix::of_node(&path).map_err(|e| source.fail(e))?);
    }
    let written = block_on(copy.write_documents(&root, DestinationState::Nothing));
    written.map_err(|e| failed(&e, source))?;
    let documents = source.in_storage(&path, storage);
    let pyramid = settings(args, &documents, metadata);
    block_on(pyramid.plan_all()).map_err(|e| failed(&e, source))
}

/// Whether level 0 is at the destination with the documents that the copy has.
fn has_same_level0(levels: &PyramidPlan, storage: &Storage, group: &str) -> Result<bool, Failure> {
    let path = format!("{}{}", group.trim_end_matches('/'), levels.level0());
    let there = block_on(node::read(storage, &Prefix::of_node(&path)?, None, &Limits::default(), false))?;
    let Some((NodeMeta::Array(there), _)) = there else { return Ok(false) };
    Ok(there.documents() == levels.level0_metadata().documents())
}
