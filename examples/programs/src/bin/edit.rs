//! Updates part of a shard, changes shape and attributes, and keeps consolidated metadata true.

use anyhow::Result;
use zarr_array::meta::json;
use zarr_array::{ArrayMeta, CutElements, DataType, Storage, standard};
use zarr_hierarchy::blocking::Group;
use zarr_store_fs::FsStore;

fn main() -> Result<()> {
    let storage = Storage::from(FsStore::create("edited.zarr")?);
    let mut root = Group::create(storage.clone(), "/", &standard())?;
    let meta = ArrayMeta::builder([100, 100], DataType::Int32).chunks([10, 10]).shards([50, 50]).fill(-1);
    let mut array = root.create_array("group/values", meta.build()?)?;
    root.consolidate()?;

    array.write([5..8, 5..8], &[7; 9])?;
    let inner = array.inner_chunks(&[0, 0])?.unwrap_or_default();
    println!("{} of {} inner chunks", inner.iter().filter(|chunk| chunk.span.is_some()).count(), inner.len());
    let cost = array.explain([0..20, 0..20])?;
    println!("a box of 20 x 20 takes {} requests", cost.requests);

    array.resize([120, 80])?;
    array.resize_with([60, 60], CutElements::Keep)?;
    array.edit_attributes(|attributes| {
        attributes.set("units", "m");
        attributes.set("valid_range", json!([0, 10]));
    })?;
    root.merge_attributes(json!({ "history": "edited" }))?;

    let root = Group::open(storage, "/", &standard())?;
    let array = root.array("group/values")?;
    println!("{:?} {}", array.shape(), array.attributes().to_value().to_compact());
    println!("stale: {}", root.check_consolidated()?.is_none_or(|differences| !differences.is_empty()));
    Ok(())
}
