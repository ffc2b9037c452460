//! The wall time and the requests of opening, selecting and writing over a store that answers after 20 ms. One line of
//! JSON for each operation; `bench/xarray/network.py` prints them beside those of xarray.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "this is a program for people")]

use std::time::Instant;

use zarr_conformance::instruments::{Counting, Network, Simulated};
use zarr_hierarchy::Format;
use zarr_hierarchy::blocking::Group;
use zarr_hierarchy::zarr_array::{NdVec, Storage, standard};
use zarr_meta::json;
use zarr_store::MemoryStore;
use zarr_xarray::blocking::Dataset;
use zarr_xarray::{Calendar, Encoding, Labels, NewDataset, NewVariable, NumberType, TimeUnit, Times};

const LEVELS: u64 = 2;
const LATS: u64 = 40;
const LONS: u64 = 60;

fn main() {
    for format in [Format::V3, Format::V2] {
        let storage = Storage::from(MemoryStore::new());
        measure("create", format, &storage, |storage| {
            Dataset::create(storage, "/", first().format(format), &standard()).unwrap();
        });
        measure("open", format, &storage, |storage| drop(open(storage)));
        measure("open, select, one chunk", format, &storage, |storage| {
            let labels = [
                ("time", Labels::from("2000-01-02")),
                ("lat", Labels::between(10.0, 20.0)),
                ("lon", Labels::nearest(21.3)),
            ];
            let part = open(storage).sel(labels).unwrap();
            part.variable("v07").unwrap().read::<f64>().unwrap();
        });
        measure("append one step", format, &storage, |storage| {
            open(storage).append("time", steps(4, 1)).unwrap();
        });
        measure("region of one step", format, &storage, |storage| {
            open(storage).write_region(steps(2, 1)).unwrap();
        });
    }
}

/// Runs `work` five times, the first four on copies, and prints the shortest time.
fn measure(name: &str, format: Format, storage: &Storage, work: impl Fn(Storage)) {
    let mut times = Vec::new();
    let mut requests = 0;
    for run in 0..5 {
        let target = if run == 4 { storage.clone() } else { copy(storage) };
        let (far, _) = Simulated::over(&target, Network::default());
        let (counted, counting) = Counting::over(&far);
        let start = Instant::now();
        work(counted);
        times.push(start.elapsed().as_secs_f64());
        requests = counting.counts().requests();
    }
    times.sort_by(f64::total_cmp);
    let format = if format == Format::V3 { 3 } else { 2 };
    println!("{}", json!({ "name": name, "format": format, "requests": requests, "seconds": times[0] }));
}

/// A copy of all objects.
fn copy(storage: &Storage) -> Storage {
    use zarr_hierarchy::zarr_array::{block_on, traits::Prefix};
    let made = Storage::from(MemoryStore::new());
    block_on(async {
        for entry in storage.list_all(&Prefix::root()).await.unwrap() {
            let value = storage.get(&entry.key, u64::MAX).await.unwrap().unwrap();
            made.put(&entry.key, value).await.unwrap();
        }
    });
    made
}

fn open(storage: Storage) -> Dataset {
    Dataset::open(Group::open(storage, "/", &standard()).unwrap()).unwrap()
}

/// `count` days of 26 variables.
fn steps(from: i64, count: i64) -> NewDataset {
    let days = (from..from + count).map(|day| (day + 10_957) * 86_400).collect();
    let times = Times::new(Calendar::ProlepticGregorian, TimeUnit::Seconds, days);
    let mut new = NewDataset::new().coordinate("time", NewVariable::new(["time"], times));
    let shape = [count.unsigned_abs(), LEVELS, LATS, LONS];
    for number in 0..26 {
        let values = vec![1.5; usize::try_from(shape.iter().product::<u64>()).unwrap()];
        let values = NdVec::new(shape, values).unwrap();
        new =
            new.variable(&format!("v{number:02}"), NewVariable::new(["time", "level", "lat", "lon"], values));
    }
    new
}

/// The first four days, with a chunk for each day, and the axes.
fn first() -> NewDataset {
    let mut new = steps(0, 4);
    for (name, length) in [("level", LEVELS), ("lat", LATS), ("lon", LONS)] {
        let labels: Vec<f64> = (0..length).map(|label| label as f64).collect();
        new = new.coordinate(name, NewVariable::new([name], labels));
    }
    let packed = Encoding::new().data_type(NumberType::Int16).scale(0.5).missing(-1);
    for number in 0..26 {
        let values = vec![1.5; usize::try_from(4 * LEVELS * LATS * LONS).unwrap()];
        let values = NdVec::new([4, LEVELS, LATS, LONS], values).unwrap();
        let variable = NewVariable::new(["time", "level", "lat", "lon"], values);
        let encoding = packed.clone().chunks([1, LEVELS, LATS, LONS]);
        new = new.variable(&format!("v{number:02}"), variable.encoding(encoding));
    }
    new
}
