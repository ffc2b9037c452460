//! The program of the first chapter, which shows it without this line.

use zarr_array::blocking::Array;
use zarr_array::{ArrayMeta, DataType, NdVec, codecs, standard};
use zarr_store_fs::FsStore;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A year of daily maps: 365 × 180 × 360 numbers, stored in chunks of 30 × 90 × 90.
    let meta = ArrayMeta::builder([365, 180, 360], DataType::Float32)
        .chunks([30, 90, 90])
        .fill(f32::NAN)
        .codecs([codecs::zstd(3)])
        .dimension_names(["day", "lat", "lon"])
        .build()?;

    // The array is the root of a store, which is a directory.
    let store = FsStore::create("temperature.zarr")?;
    let mut array = Array::create(store, "/", meta, &standard())?;
    array.set_attribute("units", "K")?;

    // Write January: a value for each day and latitude, the same for all longitudes.
    let mut january = Vec::new();
    for day in 0..31_u8 {
        for lat in 0..180_u8 {
            let kelvin = 250.0 + f32::from(lat.min(179 - lat)) * 0.5 + f32::from(day) * 0.25;
            january.extend([kelvin; 360]);
        }
    }
    array.write(0..31, &NdVec::new([31, 180, 360], january)?)?;

    // Open it again, as another program would, and read parts of it.
    let array = Array::open(FsStore::open("temperature.zarr")?, "/", &standard())?;
    let tropics: NdVec<f32> = array.read((10, 75..105, 0..360))?; // an index drops its dimension
    println!("day 10: {:?}, at the equator {} K", tropics.shape(), tropics[[15, 0]]);

    let series: NdVec<f32> = array.read((.., 90, 180))?;
    let known = series.as_slice().iter().filter(|kelvin| !kelvin.is_nan()).count();
    println!("a series of {} days, {known} of them written", series.shape()[0]);
    Ok(())
}
