//! `windows TASK STORE`: what `bench/windows/windows.py` asks of every contender.
#![allow(clippy::print_stdout, reason = "the harness reads it")]

use std::time::Instant;

use anyhow::{Result, bail};
use zarr_array::blocking::Array;
use zarr_array::{ChunkCache, NdVec, Selection, standard};
use zarr_store_fs::FsStore;

const CACHE: usize = 512 << 20;

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [task, store] = &args[..] else { bail!("TASK STORE") };
    let array = Array::open(FsStore::open(store)?, "", &standard())?;
    let array = match task.as_str() {
        "window cached" => array.with_chunk_cache(ChunkCache::new(CACHE)),
        "window cached unchecked" => array.with_chunk_cache(ChunkCache::new(CACHE).unchecked()),
        _ => array,
    };
    let boxes = if task.starts_with("window") { windows() } else { crops() };
    let selections = boxes.into_iter().map(|(at, size)| Selection::from(at.map(|at| at..at + size)));
    let start = Instant::now();
    let mut sum = 0;
    let mut add =
        |values: &NdVec<u16>| sum += values.as_slice().iter().map(|value| u64::from(*value)).sum::<u64>();
    if task == "crops batched" {
        array.read_many::<u16, _>(selections)?.iter().for_each(add);
    } else {
        for selection in selections {
            add(&array.read(selection)?);
        }
    }
    println!("{} {sum}", start.elapsed().as_secs_f64());
    Ok(())
}

/// 300 windows of 64 elements in each dimension, moved by 4 from one to the next, there and back.
fn windows() -> Vec<([u64; 3], u64)> {
    let at = |n: u64| 448 - (4 * n % 896).abs_diff(448);
    (0..300).map(|n| ([at(n), at(n / 2), at(n / 4)], 64)).collect()
}

/// 4,096 boxes of 32 elements in each dimension.
fn crops() -> Vec<([u64; 3], u64)> {
    let at = |n: u64| n.wrapping_mul(2_654_435_761) % 65_521 % 480;
    (0..4096).map(|n| ([at(3 * n), at(3 * n + 1), at(3 * n + 2)], 32)).collect()
}
