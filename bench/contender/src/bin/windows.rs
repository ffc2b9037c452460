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
    let selections =
        boxes()?.into_iter().map(|[z, y, x, size]| Selection::from([z, y, x].map(|at| at..at + size)));
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

/// The boxes on standard input: `Z Y X SIZE` in each line.
fn boxes() -> Result<Vec<[u64; 4]>> {
    let text = std::io::read_to_string(std::io::stdin())?;
    let numbers = text.split_whitespace().map(str::parse).collect::<Result<Vec<_>, _>>()?;
    Ok(numbers.as_chunks().0.to_vec())
}
