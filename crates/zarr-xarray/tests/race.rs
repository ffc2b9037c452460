//! Four processes append to one dataset, and a reader of consolidated metadata never sees variables that disagree.
//!
//! `bench/xarray/race.py` has the same with xarray as the writer.

use std::path::Path;
use std::process::Command;

use zarr_hierarchy::blocking::Group;
use zarr_hierarchy::zarr_array::{NdVec, Storage, standard};
use zarr_store_fs::FsStore;
use zarr_xarray::blocking::Dataset;
use zarr_xarray::{Append, Encoding, NewDataset, NewVariable};

const WRITERS: usize = 4;

/// The variable that makes a test a writer: the directory.
const WRITER: &str = "ZARR_XARRAY_RACE_WRITER";

/// The object that ends the writers.
const STOP: &str = "stop";

/// Steps that all have the same number in each variable.
fn steps(numbers: &[i64]) -> NewDataset {
    let floats: Vec<f64> = numbers.iter().flat_map(|n| [*n as f64, *n as f64]).collect();
    let rows = NdVec::new([numbers.len() as u64, 2], floats).unwrap();
    NewDataset::new()
        .coordinate("step", NewVariable::new(["step"], numbers.to_vec()))
        .variable("a", NewVariable::new(["step", "x"], rows))
        .variable("b", NewVariable::new(["step"], numbers.to_vec()))
}

fn create(storage: &Storage) {
    let chunked = |lengths: &[u64]| Encoding::new().chunks(lengths);
    let of = |values: Vec<i64>| NewVariable::new(["step"], values).encoding(chunked(&[64]));
    let rows = NewVariable::new(["step", "x"], NdVec::new([1, 2], vec![0.0_f64; 2]).unwrap());
    let new = NewDataset::new()
        .coordinate("step", of(vec![0]))
        .variable("a", rows.encoding(chunked(&[16, 2])))
        .variable("b", of(vec![0]));
    Dataset::create(storage.clone(), "/", new, &standard()).unwrap();
}

fn open(storage: &Storage) -> Dataset {
    Dataset::open(Group::open(storage.clone(), "/", &standard()).unwrap()).unwrap()
}

/// Appends until the reader has seen enough.
fn write(directory: &str) {
    let storage = Storage::from(FsStore::open(directory).unwrap());
    let stop = Path::new(directory).join(STOP);
    for number in (i64::from(std::process::id()) << 20).. {
        if stop.exists() {
            return;
        }
        open(&storage).append_with("step", steps(&[number]), Append::Shared).unwrap();
    }
}

/// Reads the end of all variables. Returns the length, or `None` if the variables disagree.
fn look(storage: &Storage) -> Option<u64> {
    let dataset = open(storage);
    let length = dataset.dimensions()["step"];
    let end = [("step", -1)];
    let of = |name: &str| dataset.variable(name).unwrap();
    let agree = ["a", "b", "step"].iter().all(|name| of(name).shape()[0] == length);
    let a = of("a").isel(end).unwrap().read::<f64>().unwrap().into_vec();
    let b = of("b").isel(end).unwrap().read::<i64>().unwrap().into_vec();
    let step = of("step").isel(end).unwrap().read::<i64>().unwrap().into_vec();
    (agree && b == step && a == [b[0] as f64; 2]).then_some(length)
}

/// Reads while four processes append, and returns the number of reads, of those that disagree, and the last length.
fn race(test: &str, reads: u64) -> (u64, u64, u64) {
    let directory = tempfile::tempdir().unwrap();
    let storage = Storage::from(FsStore::create(directory.path()).unwrap());
    create(&storage);
    let writer = |_| {
        let mut writer = Command::new(std::env::current_exe().unwrap());
        writer.args(["--exact", &format!("race::{test}"), "--include-ignored"]);
        writer.env(WRITER, directory.path()).spawn().unwrap()
    };
    let writers: Vec<_> = (0..WRITERS).map(writer).collect();
    let (mut torn, mut read, mut last) = (0, 0, 1);
    // At least a few appends are seen, however slow they are.
    while read < reads || last < 9 {
        match look(&storage) {
            Some(length) => {
                assert!(length >= last, "the dataset becomes shorter");
                last = length;
            }
            None => torn += 1,
        }
        read += 1;
    }
    std::fs::write(directory.path().join(STOP), "").unwrap();
    for mut writer in writers {
        assert!(writer.wait().unwrap().success());
    }
    (read, torn, last)
}

#[test]
fn a_reader_never_sees_half_an_append() {
    if let Ok(directory) = std::env::var(WRITER) {
        return write(&directory);
    }
    let (reads, torn, last) = race("a_reader_never_sees_half_an_append", 300);
    println!("{reads} reads, {torn} of variables that disagree, {last} steps");
    assert_eq!(torn, 0);
}

#[test]
#[ignore = "large: cargo xtask full"]
fn large_ten_thousand_reads_never_see_half_an_append() {
    if let Ok(directory) = std::env::var(WRITER) {
        return write(&directory);
    }
    let (reads, torn, last) = race("large_ten_thousand_reads_never_see_half_an_append", 10_000);
    println!("{reads} reads, {torn} of variables that disagree, {last} steps");
    assert_eq!(torn, 0);
}
