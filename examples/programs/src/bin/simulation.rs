//! Writes the output of a simulation step by step: an array that grows, in shards, with a time axis beside it.

use anyhow::Result;
use zarr_array::meta::json;
use zarr_array::{ArrayMeta, DataType, NdVec, standard};
use zarr_hierarchy::blocking::Group;
use zarr_store_fs::FsStore;

const SIDE: u16 = 128;

fn main() -> Result<()> {
    let mut root = Group::create(FsStore::create("simulation.zarr")?, "/", &standard())?;
    root.set_attributes(json!({ "title": "waves", "Conventions": "CF-1.10" }))?;
    let side = u64::from(SIDE);
    let height = ArrayMeta::builder([0, side, side], DataType::Float32)
        .chunks([1, 64, 64])
        .shards([16, 128, 128])
        .dimension_names(["time", "y", "x"])
        .attributes(json!({ "units": "m" }))
        .fill(f32::NAN);
    let time = ArrayMeta::builder([0], DataType::Float64)
        .dimension_names(["time"])
        .attributes(json!({ "units": "seconds since 2026-01-01" }));
    root.create_nodes([("height", height.build()?), ("time", time.build()?)])?;

    // An appender writes whole rows of shards, so each shard is encoded once.
    let mut heights = root.array("height")?.appender();
    let mut times = root.array("time")?.appender();
    for step in 0..40_u16 {
        let phase = |i| f32::from(i) * 0.1 + f32::from(step) * 0.5;
        let field = (0..SIDE).flat_map(|y| (0..SIDE).map(move |x| phase(x).sin() * phase(y).cos())).collect();
        heights.push(NdVec::new([1, side, side], field)?)?;
        times.push(NdVec::new([1], vec![f64::from(step) * 0.5])?)?;
    }
    let steps = (heights.finish()?, times.finish()?);
    root.consolidate()?;
    let height = root.array("height")?;
    println!("{steps:?} steps in {} shards, {:?}", height.count_stored_chunks()?, height.shape());
    Ok(())
}
