//! `windows-with-zarrs TASK STORE`: what `bench/windows/windows.py` asks of every contender.

use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

use zarrs::array::chunk_cache::{ChunkCache, ChunkCacheDecodedLruSizeLimit};
use zarrs::array::{Array, ArraySubset};
use zarrs::filesystem::FilesystemStore;
use zarrs::storage::ReadableStorageTraits;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [task, store] = &args[..] else { return Err("TASK STORE".into()) };
    let store: Arc<dyn ReadableStorageTraits> = Arc::new(FilesystemStore::new(store)?);
    let array = Arc::new(Array::open(store, "/")?);
    let cache = ChunkCacheDecodedLruSizeLimit::new(array.clone(), 512 << 20);
    let boxes = if task.starts_with("window") { windows() } else { crops() };
    let start = Instant::now();
    let mut sum = 0_u64;
    for (at, size) in boxes {
        let subset = ArraySubset::new_with_ranges(&at.map(|at| at..at + size));
        let values: Vec<u16> = match task.as_str() {
            "window cached unchecked" => cache.retrieve_array_subset(&subset, &Default::default())?,
            "window" | "crops" => array.retrieve_array_subset(&subset)?,
            _ => return Ok(()),
        };
        sum += values.iter().map(|value| u64::from(*value)).sum::<u64>();
    }
    println!("{} {sum}", start.elapsed().as_secs_f64());
    Ok(())
}

fn windows() -> Vec<([u64; 3], u64)> {
    let at = |n: u64| 448 - (4 * n % 896).abs_diff(448);
    (0..300).map(|n| ([at(n), at(n / 2), at(n / 4)], 64)).collect()
}

fn crops() -> Vec<([u64; 3], u64)> {
    let at = |n: u64| n.wrapping_mul(2_654_435_761) % 65_521 % 480;
    (0..4096).map(|n| ([at(3 * n), at(3 * n + 1), at(3 * n + 2)], 32)).collect()
}
