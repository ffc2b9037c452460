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
    let numbers: Result<Vec<u64>, _> =
        std::io::read_to_string(std::io::stdin())?.split_whitespace().map(str::parse).collect();
    let start = Instant::now();
    let mut sum = 0_u64;
    for &[z, y, x, size] in numbers?.as_chunks().0 {
        let subset = ArraySubset::new_with_ranges(&[z, y, x].map(|at| at..at + size));
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
