//! A small dataset of weather: packed temperatures with missing elements, and coordinates of several kinds.

use std::path::PathBuf;

use serde_json::json;
use zarr_store_fs::FsStore;
use zarr_xarray::blocking::Dataset;
use zarr_xarray::zarr_array::NdVec;
use zarr_xarray::zarr_hierarchy::standard;
use zarr_xarray::{Calendar, Encoding, NewDataset, NewVariable, NumberType, TimeUnit, Times};

use crate::harness::Folder;

/// Seconds of 2020-01-01 since 1970.
const START: i64 = 1_577_836_800;

/// Makes `w.zarr`: hours of two days, three latitudes from north to south, two named stations.
pub(crate) fn weather(folder: &Folder) -> PathBuf {
    let hours = (0..48).map(|hour| START + hour * 3600).collect();
    let times = Times::new(Calendar::Standard, TimeUnit::Seconds, hours);
    let element = |i: u32| if i == 2 { f64::NAN } else { 280.0 + f64::from(i) / 8.0 };
    let values = NdVec::new([48, 3, 2], (0..288).map(element).collect::<Vec<f64>>()).unwrap();
    let packed = Encoding::new().data_type(NumberType::Int16).scale(0.125).offset(256.0).missing(-32767);
    let new = NewDataset::new()
        .attribute("Conventions", "CF-1.12")
        .attribute("title", "demo")
        .coordinate(
            "time",
            NewVariable::new(["time"], times)
                .attribute("standard_name", "time")
                .encoding(Encoding::new().data_type(NumberType::Int32).units("hours since 2020-01-01")),
        )
        .coordinate(
            "lat",
            NewVariable::new(["lat"], vec![60.0_f64, 50.5, 40.0]).attribute("units", "degrees_north"),
        )
        .coordinate("place", NewVariable::new(["station"], vec!["Oslo".to_owned(), "a, \"b\"".to_owned()]))
        .variable(
            "t2m",
            NewVariable::new(["time", "lat", "station"], values)
                .attribute("units", "K")
                .attribute("long_name", "2 metre temperature")
                .encoding(packed.chunks([24, 3, 2])),
        )
        .variable("flag", NewVariable::new(["lat"], vec![true, false, true]));
    let path = folder.join("w.zarr");
    std::fs::create_dir(&path).unwrap();
    Dataset::create(FsStore::open(&path).unwrap(), "/", new, &standard()).unwrap();
    path
}

/// Makes `model.zarr`: times of a calendar with 360 days, floats with infinity, and a variable whose units are broken.
pub(crate) fn model(folder: &Folder) -> PathBuf {
    let little = json!([{ "name": "bytes", "configuration": { "endian": "little" } }]);
    let array = |data_type: &str, attributes: serde_json::Value| {
        let document = crate::harness::array(&[2], data_type, &[2], &json!(0), &little);
        crate::harness::with(document, &json!({ "dimension_names": ["time"], "attributes": attributes }))
    };
    folder.group("model.zarr");
    let units = json!({ "units": "days since 2000-02-29", "calendar": "360_day" });
    folder.node("model.zarr/time", &array("int32", units));
    folder.write("model.zarr/time/c/0", crate::harness::le(&[0, 1]));
    folder.node("model.zarr/late", &array("int32", json!({ "units": "days since tomorrow" })));
    folder.node("model.zarr/p", &array("float32", json!({})));
    folder.write("model.zarr/p/c/0", [0.1_f32, f32::INFINITY].map(f32::to_le_bytes).concat());
    folder.join("model.zarr")
}

/// Makes `climate.zarr`, the dataset of the README: a year of days on a coarse grid, packed, with a land mask.
pub(crate) fn climate(folder: &Folder) -> PathBuf {
    let days = (0..366).map(|day| START + day * 86_400).collect();
    let times = Times::new(Calendar::Standard, TimeUnit::Seconds, days);
    let (lat, lon) = (vec![60.0_f64, 52.5, 45.0, 37.5], vec![0.0_f64, 7.5, 15.0, 22.5, 30.0]);
    // Warmer in summer and in the south; there is no land in the first column.
    let element = |i: u32| {
        let (day, row, column) = (i / 20, i / 5 % 4, i % 5);
        let season = 10.0 - f64::from(day.abs_diff(197)) / 8.0;
        if column == 0 && row == 0 {
            f64::NAN
        } else {
            280.0 + season.round() + f64::from(row * 2) + f64::from(column) / 4.0
        }
    };
    let values = NdVec::new([366, 4, 5], (0..366 * 20).map(element).collect::<Vec<f64>>()).unwrap();
    let packed = Encoding::new().data_type(NumberType::Int16).scale(0.25).offset(273.0).missing(-32767);
    let named = |variable: NewVariable, name: &str| variable.attribute("standard_name", name);
    let new = NewDataset::new()
        .attribute("Conventions", "CF-1.12")
        .attribute("title", "Daily temperature, made up")
        .coordinate(
            "time",
            named(NewVariable::new(["time"], times), "time")
                .encoding(Encoding::new().data_type(NumberType::Int32).units("days since 2020-01-01")),
        )
        .coordinate(
            "lat",
            named(NewVariable::new(["lat"], lat), "latitude").attribute("units", "degrees_north"),
        )
        .coordinate(
            "lon",
            named(NewVariable::new(["lon"], lon), "longitude").attribute("units", "degrees_east"),
        )
        .variable(
            "t2m",
            named(NewVariable::new(["time", "lat", "lon"], values), "air_temperature")
                .attribute("units", "K")
                .attribute("long_name", "2 metre temperature")
                .encoding(packed.chunks([61, 4, 5])),
        );
    let path = folder.join("climate.zarr");
    std::fs::create_dir(&path).unwrap();
    Dataset::create(FsStore::open(&path).unwrap(), "/", new, &standard()).unwrap();
    path
}
