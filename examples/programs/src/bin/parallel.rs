//! Writes parts of an array from threads of rayon and from tasks of tokio. The parts do not follow the chunks, and no
//! update is lost.

use anyhow::Result;
use rayon::prelude::*;
use zarr_array::{Array, ArrayMeta, Cpu, DataType, NdVec, Storage, blocking, standard};
use zarr_store_fs::FsStore;

/// The rows that one task writes; a chunk has eight.
const ROWS: usize = 5;
const SHAPE: [u64; 3] = [64, 128, 128];

fn main() -> Result<()> {
    let storage = Storage::from(FsStore::create("parallel.zarr")?);
    let meta = ArrayMeta::builder(SHAPE, DataType::Float32).chunks([8, 64, 64]).build()?;

    let array = blocking::Array::create(storage.clone(), "/rayon", meta.clone(), &standard())?;
    let array = array.with_cpu(Cpu::rayon());
    slabs().into_par_iter().try_for_each(|(start, end)| array.write(start..end, &slab(start, end)?))?;
    println!("rayon: {}", is_right(&array.read(..)?));

    tokio::runtime::Runtime::new()?.block_on(async {
        let array = Array::create(storage, "/tokio", meta, &standard()).await?;
        let mut tasks = tokio::task::JoinSet::new();
        for (start, end) in slabs() {
            let array = array.clone();
            tasks.spawn(async move { array.write(start..end, slab(start, end)?).await });
        }
        while let Some(done) = tasks.join_next().await {
            done??;
        }
        println!("tokio: {}", is_right(&array.read(..).await?));
        Ok(())
    })
}

/// Returns the rows of each task.
fn slabs() -> Vec<(u64, u64)> {
    (0..SHAPE[0]).step_by(ROWS).map(|start| (start, (start + ROWS as u64).min(SHAPE[0]))).collect()
}

#[allow(clippy::cast_precision_loss, reason = "small numbers")]
fn slab(start: u64, end: u64) -> zarr_array::ArrayResult<NdVec<f32>> {
    let values = (start..end).flat_map(|row| vec![row as f32; 128 * 128]).collect();
    NdVec::new([end - start, SHAPE[1], SHAPE[2]], values)
}

#[allow(clippy::cast_precision_loss, reason = "small numbers")]
fn is_right(all: &NdVec<f32>) -> bool {
    (0..SHAPE[0]).all(|row| all[[row, 3, 127]] == row as f32)
}
