//! Writes and reads a multiscale image of OME-Zarr 0.5.

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;
use zarr_array::meta::json;
use zarr_array::{AnyArray, ArrayMeta, Axis, DataType, standard};
use zarr_hierarchy::{HierarchyResult, blocking::Group};
use zarr_store_fs::FsStore;

#[derive(Deserialize)]
struct Image {
    multiscales: Vec<Multiscale>,
}

#[derive(Deserialize)]
struct Multiscale {
    axes: Vec<Named>,
    datasets: Vec<Dataset>,
}

#[derive(Deserialize)]
struct Named {
    name: String,
}

#[derive(Deserialize)]
struct Dataset {
    path: String,
}

fn main() -> Result<()> {
    let root = Group::create(FsStore::create("image.zarr")?, "/", &standard())?;
    write(&root)?;

    let image: Image = root.group("image")?.attributes().get("ome").context("not an image")?.deserialize()?;
    let scale = image.multiscales.first().context("no multiscale image")?;
    println!("{}", scale.axes.iter().map(|axis| axis.name.as_str()).collect::<Vec<_>>().join(" "));
    for Dataset { path } in &scale.datasets {
        let level = root.array(&format!("image/{path}"))?;
        // The first 64 rows of the first plane.
        let rank = level.shape().len();
        let mut selection = vec![Axis::from(0); rank - 2];
        selection.push((0..level.shape()[rank - 2].min(64)).into());
        let AnyArray::UInt16(pixels) = level.read_any(zarr_array::Selection::new(selection))? else {
            bail!("unexpected data type {}", level.data_type())
        };
        let sum: u64 = pixels.as_slice().iter().copied().map(u64::from).sum();
        println!("{path}: {:?}, mean {}", level.shape(), sum / pixels.as_slice().len() as u64);
    }
    Ok(())
}

/// Writes three levels of an image.
fn write(root: &Group) -> Result<()> {
    let size = |level: u64| 512 >> level;
    let level = |n| ArrayMeta::builder([2, size(n), size(n)], DataType::UInt16).chunks([1, 128, 128]).build();
    let levels = (0..3).map(|n| Ok((format!("image/{n}"), level(n)?)));
    root.create_nodes(levels.collect::<HierarchyResult<Vec<_>>>()?)?;
    let axes = [("c", "channel"), ("y", "space"), ("x", "space")];
    let axes = axes.map(|(name, kind)| json!({ "name": name, "type": kind }));
    let scale = |n: u64| json!([{ "type": "scale", "scale": [1, 1 << n, 1 << n] }]);
    let datasets: Vec<_> =
        (0..3).map(|n| json!({ "path": n.to_string(), "coordinateTransformations": scale(n) })).collect();
    let ome = json!({ "version": "0.5", "multiscales": [{ "axes": axes, "datasets": datasets }] });
    root.group("image")?.merge_attributes(json!({ "ome": ome }))?;
    for n in 0..3 {
        let array = root.array(&format!("image/{n}"))?;
        let pixels = usize::try_from(array.shape().iter().product::<u64>())?;
        array.write(.., &vec![100_u16 << n; pixels])?;
    }
    Ok(())
}
