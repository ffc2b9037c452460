//! Works chunk by chunk: from threads, with a stream, by lists and points, and with the encoded bytes.

use anyhow::{Context as _, Result};
use futures_util::TryStreamExt;
use rayon::prelude::*;
use zarr_array::{ArrayMeta, Axis, Cpu, DataType, NdVec, Selection, block_on, blocking::Array, standard};
use zarr_store::MemoryStore;

fn main() -> Result<()> {
    let meta = ArrayMeta::builder([25, 25], DataType::Int64).chunks([10, 10]).build()?;
    let array = Array::create(MemoryStore::new(), "/", meta, &standard())?.with_cpu(Cpu::rayon());
    array.write(.., &(0..625).collect::<Vec<i64>>())?;

    // One chunk, and all of them from threads.
    println!("chunk [2, 1]: {:?}", array.read::<i64>(array.chunk(&[2, 1])?)?.shape());
    let sums = array.chunks(..)?.par_bridge().map(|chunk| {
        let values: NdVec<i64> = array.read(&chunk)?;
        zarr_array::ArrayResult::Ok(values.into_iter().sum::<i64>())
    });
    println!("sum: {}", sums.try_reduce(|| 0, |a, b| Ok(a + b))?);

    // The same with a stream, two chunks ahead.
    let stream = array.clone().into_async().read_each::<i64, _, _>(array.chunks(..)?, 2);
    let sum = stream.try_fold(0, async |sum, values| Ok(sum + values.into_iter().sum::<i64>()));
    println!("sum: {}", block_on(sum)?);

    // Encoded bytes out and in, and what is stored.
    let encoded = array.read_encoded_chunk(&[0, 0])?.context("not stored")?;
    array.erase_chunk(&[0, 0])?;
    println!("{} of {} chunks stored", array.count_stored_chunks()?, array.chunks(..)?.len());
    array.write_encoded_chunk(&[0, 0], encoded)?;
    println!("{:?}", array.stored_chunks()?.iter().map(|stored| stored.key.as_str()).collect::<Vec<_>>());

    // Any elements: lists in each dimension, points, the last row backwards.
    println!("{:?}", array.read::<i64>(([20, 3, 3], 7..9))?.as_slice());
    println!("{:?}", array.read::<i64>(Selection::points([[0, 0], [-1, -1], [12, 12]]))?.as_slice());
    println!("{:?}", array.read::<i64>((-1, Axis::step(.., -8)))?.as_slice());
    Ok(())
}
