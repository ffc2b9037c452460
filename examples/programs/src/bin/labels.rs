//! A labelled dataset that grows by a day, and of which a box is overwritten, both by labels.

use anyhow::Result;
use zarr_hierarchy::blocking::Group;
use zarr_store_fs::FsStore;
use zarr_xarray::blocking::Dataset;
use zarr_xarray::zarr_array::{NdVec, standard};
use zarr_xarray::{Calendar, Encoding, Labels, NewDataset, NewVariable, NumberType, TimeUnit, Times};

fn main() -> Result<()> {
    let store = FsStore::create("weather.zarr")?;
    Dataset::create(store.clone(), "/", day(0)?, &standard())?;
    let open = || Dataset::open(Group::open(store.clone(), "/", &standard())?);
    for n in 1..4 {
        open()?.append("time", day(n)?)?;
    }

    // A text is an interval of time. Latitudes may be in any order.
    let dataset = open()?;
    let north = [("time", Labels::from("2020-01-02")), ("lat", Labels::between(45, 65))];
    dataset.sel(north)?.variable("t2m")?.write(NdVec::new([24, 2], vec![300.0; 48])?)?;

    let noon = dataset.sel([("time", Labels::list(["2020-01-01T12:00", "2020-01-02T12:00"]))])?;
    println!("{:?} of {:?}", dataset.variable("t2m")?.dimensions(), dataset.variable("t2m")?.shape());
    for time in noon.variable("time")?.read_times()?.iter().flatten() {
        println!("{time}");
    }
    println!("{:?}", noon.variable("t2m")?.read::<f64>()?.as_slice());
    Ok(())
}

/// Returns a day of hours at three latitudes. The first one makes the dataset, the others are appended to it.
fn day(n: i16) -> Result<NewDataset> {
    let start = i64::from(18_262 + n) * 86_400; // 2020-01-01
    let hours = (0..24).map(|hour| start + hour * 3600).collect();
    let packed = Encoding::new().data_type(NumberType::Int16).scale(0.01).offset(273.15).missing(-32767);
    let t2m = NdVec::new([24, 3], vec![274.15 + f64::from(n); 72])?;
    let times = Times::new(Calendar::Standard, TimeUnit::Seconds, hours);
    Ok(NewDataset::new()
        .coordinate("time", NewVariable::new(["time"], times))
        .coordinate("lat", NewVariable::new(["lat"], vec![60.0_f32, 50.0, 40.0]))
        .variable("t2m", NewVariable::new(["time", "lat"], t2m).encoding(packed)))
}
