//! Strings, times and structs as Rust types and as arrays of Arrow.

use anyhow::Result;
use chrono::{DateTime, TimeZone, Utc};
use zarr_array::blocking::Array;
use zarr_array::{ArrayMeta, DataType, NdVec, data_type_of, data_types, standard};
use zarr_arrow::arrow_60::{self, arrow_array::Array as _};
use zarr_store::MemoryStore;

#[derive(Debug, Clone, PartialEq)]
struct Station {
    number: i32,
    name: [u8; 8],
    lat: f32,
}
zarr_array::row!(Station { number, name, lat });

fn main() -> Result<()> {
    let store = MemoryStore::new();
    let names = ArrayMeta::builder([4], DataType::String).build()?;
    let names = Array::create(store.clone(), "/names", names, &standard())?;
    names.write(0..3, &["Oslo", "Quito", "München"])?;
    println!("{:?}", names.read::<String>(..)?.as_slice());
    println!("as Arrow: {}", arrow_60::array(&names.read_column(..)?.1)?.data_type());

    let times = ArrayMeta::builder([3], data_types::datetime64("ms")?).fill(i64::MIN).build()?;
    let times = Array::create(store.clone(), "/times", times, &standard())?;
    let known = [Utc.timestamp_nanos(0), Utc.timestamp_nanos(1_500_000_000)];
    times.write(0..2, &known)?;
    let read: NdVec<Option<DateTime<Utc>>> = times.read(..)?;
    println!("{:?}", read.as_slice());
    let arrow = arrow_60::array(&times.read_column(..)?.1)?;
    println!("as Arrow: {}, {} null", arrow.data_type(), arrow.null_count());

    let stations = ArrayMeta::builder([3], data_type_of::<Station>()?).build()?;
    let stations = Array::create(store, "/stations", stations, &standard())?;
    stations.write(1, &[Station { number: 7, name: *b"Bergen  ", lat: 60.5 }])?;
    let read: NdVec<Station> = stations.read(..)?;
    println!("{:?}", read[[1]]);
    println!("latitudes: {:?}", stations.read_rows(..)?.field::<f32>("lat")?.as_slice());
    Ok(())
}
