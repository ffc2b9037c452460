//! Stores that xarray reads, and stores that it wrote: `cargo xtask datasets`.

use std::path::PathBuf;

use serde_json::Value;
use zarr_hierarchy::zarr_array::{Storage, block_on, standard};
use zarr_store_fs::FsStore;
use zarr_xarray::{DataTree, Dataset, Group};

use crate::datasets::rows::{same, same_tree};
use crate::datasets::steps::step;
use crate::datasets::store::table;
use crate::datasets::written::{is_refused, new};

/// The variable with the folder of the stores.
const STORES: &str = "ZARR_XARRAY_STORES";

fn folder(side: &str) -> PathBuf {
    PathBuf::from(std::env::var_os(STORES).expect("`cargo xtask datasets` sets the folder")).join(side)
}

/// The rows whose datasets are written.
fn rows() -> impl Iterator<Item = &'static Value> {
    let rows = table()["rows"].as_array().unwrap().iter();
    rows.filter(|row| ["write", "append"].contains(&row["kind"].as_str().unwrap()) && !is_refused(row))
}

#[test]
#[ignore = "needs xarray: cargo xtask datasets"]
fn stores_are_written_for_xarray() {
    for row in rows() {
        let folder = folder("ours").join(row["id"].as_str().unwrap());
        let storage = Storage::from(FsStore::create(folder).unwrap());
        block_on(async {
            match row["steps"].as_array() {
                Some(steps) => {
                    for done in steps {
                        step(&storage, done, row).await.unwrap();
                    }
                }
                None => {
                    Dataset::create(storage, "/", new(&row["input"], row), &standard()).await.unwrap();
                }
            }
        });
    }
}

#[test]
#[ignore = "needs xarray: cargo xtask datasets"]
fn stores_of_xarray_are_read_as_xarray_reads_them() {
    let (mut failures, mut count) = (Vec::new(), 0);
    for row in rows().filter(|row| !row["result"].is_null() && row.get("verdict").is_none()) {
        let name = row["id"].as_str().unwrap();
        let storage = Storage::from(FsStore::open(folder("theirs").join(name)).unwrap());
        let read = block_on(async {
            let group = Group::open(storage, "/", &standard()).await.map_err(|error| format!("{error:#}"))?;
            let is_tree =
                row["steps"].as_array().is_some_and(|steps| steps.iter().any(|step| step["op"] == "tree"));
            if is_tree {
                let tree = DataTree::open(group).await.map_err(|error| format!("{error:#}"))?;
                return same_tree(&tree, &row["result"]).await;
            }
            let dataset = Dataset::open(group).await.map_err(|error| format!("{error:#}"))?;
            same(&dataset, &row["result"]).await
        });
        count += 1;
        failures.extend(read.err().map(|why| format!("{name}: {why}")));
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    println!("zarr-xarray has read {count} datasets of xarray");
}
