//! `documents FOLDER` measures what it costs that a document, or a chunk of which a part changes, is on the disk before it
//! replaces another one: the same changes with the default durability of a directory and with `Durability::Deferred`, in turn.
//! `FOLDER` is made, and stays.
//!
//! It prints the microseconds of each change, the least and the median of five runs.
#![allow(clippy::print_stdout, reason = "the figures")]

use std::path::Path;

use anyhow::{Context as _, Result};
use zarr_array::blocking::Array;
use zarr_array::{ArrayMeta, ConsolidatedPolicy, DataType, Storage, block_on, standard};
use zarr_hierarchy::blocking::Group;
use zarr_store_fs::{Durability, FsStore};

#[path = "../clock.rs"]
mod clock;

/// The arrays of a group, and how often its consolidated document is replaced.
const ARRAYS: u64 = 5000;
const CONSOLIDATED: u64 = 200;
const REPLACED: u64 = 1000;
const RUNS: u64 = 5;

/// The chunks of an array.
const ROWS: u64 = 1000;

fn main() -> Result<()> {
    let folder = std::env::args().nth(1).context("documents FOLDER")?;
    let folder = Path::new(&folder);
    for name in ["one", "many", "few", "rows"] {
        std::fs::create_dir_all(folder.join(name)).with_context(|| format!("cannot create {name}"))?;
    }
    for (name, count) in [("one", 1), ("many", ARRAYS), ("few", 20)] {
        make(&open(&folder.join(name), Durability::Deferred)?, count)?;
    }
    let meta = ArrayMeta::builder([ROWS, 8192], DataType::UInt64).chunks([1, 8192]).build()?;
    let rows = Array::create(open(&folder.join("rows"), Durability::Deferred)?, "/", meta, &standard())?;
    for row in 0..ROWS {
        rows.write(row, &(0..8192).map(|number| (row + 1) * number * 40_503).collect::<Vec<u64>>())?;
    }
    block_on(rows.storage().sync())?;
    let rows = |durability| -> Result<Array> {
        Ok(Array::open(open(&folder.join("rows"), durability)?, "/", &standard())?)
    };
    report("a chunk of 64 KiB, one element of it", REPLACED, |run, durability| {
        let array = rows(durability)?;
        (0..REPLACED).try_for_each(|number| Ok(array.write((0, number), &[run])?))
    })?;
    report("1,000 chunks of 64 KiB, one element of each in one call", ROWS, |run, durability| {
        Ok(rows(durability)?.write((.., run), &vec![run; usize::try_from(ROWS)?])?)
    })?;
    report("one array, its attributes", REPLACED, |run, durability| {
        let storage = open(&folder.join("one"), durability)?;
        (0..REPLACED).try_for_each(|number| edit(&storage, 0, run * REPLACED + number))
    })?;
    report("5,000 arrays, their attributes", ARRAYS, |run, durability| {
        let storage = open(&folder.join("many"), durability)?;
        (0..ARRAYS).try_for_each(|array| edit(&storage, array, run))?;
        Ok(block_on(storage.sync())?)
    })?;
    report("20 arrays, their consolidated document", CONSOLIDATED, |run, durability| {
        let storage = open(&folder.join("few"), durability)?;
        for number in 0..CONSOLIDATED {
            // Without a change the document would not be put.
            edit(&storage, 0, run * CONSOLIDATED + number)?;
            Group::open(storage.clone(), "/", &standard())?.consolidate()?;
        }
        Ok(())
    })
}

fn open(folder: &Path, durability: Durability) -> Result<Storage> {
    Ok(FsStore::open(folder)?.with_durability(durability).into())
}

/// Makes a group of small arrays, on the disk.
fn make(storage: &Storage, count: u64) -> Result<()> {
    let group = Group::create(storage.clone(), "/", &standard())?;
    let meta = ArrayMeta::builder([8], DataType::UInt64).chunks([8]).build()?;
    for number in 0..count {
        let array = group.create_array(&number.to_string(), meta.clone());
        array.with_context(|| format!("array {number}"))?;
    }
    Ok(block_on(storage.sync())?)
}

/// Replaces the document of an array.
fn edit(storage: &Storage, number: u64, value: u64) -> Result<()> {
    let array = Array::open(storage.clone(), &format!("/{number}"), &standard())?;
    let mut array = array.with_consolidated(ConsolidatedPolicy::Keep);
    Ok(array.edit_attributes(|attributes| attributes.set("run", value))?)
}

/// Measures `work` with both durabilities in turn, and prints microseconds for each of `count` changes.
fn report(what: &str, count: u64, work: impl Fn(u64, Durability) -> Result<()>) -> Result<()> {
    let levels = [("on the disk", Durability::Atomic), ("deferred", Durability::Deferred)];
    let mut seconds = [Vec::new(), Vec::new()];
    for run in 0..RUNS {
        for ((number, (_, durability)), seconds) in (0..).zip(levels).zip(&mut seconds) {
            let (done, wall, _) = clock::timed(|| work(2 * run + number, durability));
            done?;
            seconds.push(wall);
        }
    }
    for ((level, _), mut seconds) in levels.into_iter().zip(seconds) {
        seconds.sort_by(f64::total_cmp);
        let micros = |seconds: Option<&f64>| seconds.map_or(f64::NAN, |all| all * 1e6 / count as f64);
        let (least, median) = (micros(seconds.first()), micros(seconds.get(seconds.len() / 2)));
        println!("{what}, {level}: {least:.0} µs at least, {median:.0} µs in the median");
    }
    Ok(())
}
