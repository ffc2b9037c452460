//! Reads a region of a weather store by its coordinates, and computes a mean over it with `ndarray`.

use std::ops::Range;

use anyhow::{Context as _, Result};
use ndarray::{Array3, Axis};
use zarr_array::{NdVec, standard};
use zarr_hierarchy::blocking::Group;
use zarr_store_fs::FsStore;

fn main() -> Result<()> {
    let store = std::env::args().nth(1).context("usage: region STORE")?;
    let root = Group::open(FsStore::open(store)?, "/", &standard())?;
    let (lat, lon) = (root.array("latitude")?.read(..)?, root.array("longitude")?.read(..)?);
    let (rows, columns) = (within(&lat, 35.0..60.0)?, within(&lon, 0.0..30.0)?);

    let temperature = root.array("t2m")?;
    let values: NdVec<f32> = temperature.read((.., rows, columns))?;
    let region: Array3<f32> = values.into_ndarray().into_dimensionality()?;
    let series = region.mean_axis(Axis(2)).and_then(|rows| rows.mean_axis(Axis(1))).context("no values")?;
    let units: String = temperature.attributes().get("units").context("no units")?.to_text()?.into();
    println!("{:?} {units}: {series:.2}", region.shape());
    Ok(())
}

/// Returns the positions whose coordinates are inside of `range`.
fn within(coordinates: &NdVec<f64>, range: Range<f64>) -> Result<Range<usize>> {
    let values = coordinates.as_slice();
    let first = values.iter().position(|value| range.contains(value)).context("nothing is in range")?;
    let last = values.iter().rposition(|value| range.contains(value)).context("nothing is in range")?;
    Ok(first..last + 1)
}
