//! Several writes to one store, one after the other.

use serde_json::Value;
use zarr_hierarchy::zarr_array::{ExistingNode, Storage, block_on, standard, traits::Prefix};
use zarr_store::MemoryStore;
use zarr_xarray::{DataTree, Dataset, Group, XarrayResult};

use crate::datasets::rows::{same, same_tree};
use crate::datasets::written::{documents, elements, is_refused, new};

pub(crate) fn check_steps(row: &Value) -> Result<(), String> {
    let storage = Storage::from(MemoryStore::new());
    block_on(async {
        let (last, first) = row["steps"].as_array().unwrap().split_last().unwrap();
        for done in first {
            step(&storage, done, row).await.map_err(|error| format!("{error:#}"))?;
        }
        let before = content(&storage).await;
        let done = step(&storage, last, row).await;
        if is_refused(row) {
            return match done {
                Err(_) if content(&storage).await == before => Ok(()),
                Err(_) => Err("the store is not as it was".to_owned()),
                Ok(()) => Err("it is written".to_owned()),
            };
        }
        done.map_err(|error| format!("{error:#}"))?;
        documents(&storage, row).await?;
        if last["op"] == "tree" {
            let root =
                Group::open(storage.clone(), "/", &standard()).await.map_err(|error| format!("{error:#}"))?;
            let tree = DataTree::open(root).await.map_err(|error| format!("{error:#}"))?;
            return same_tree(&tree, &row["result"]).await;
        }
        let dataset = open(&storage, "/").await.map_err(|error| format!("{error:#}"))?;
        match row.get("result") {
            Some(result) => same(&dataset, result).await,
            None => Ok(()),
        }
    })
}

pub(crate) async fn step(storage: &Storage, step: &Value, row: &Value) -> XarrayResult<()> {
    let path = step["group"].as_str().unwrap_or("/");
    let create = async |new| Dataset::create(storage.clone(), path, new, &standard()).await.map(drop);
    let input = || new(&step["input"], row);
    match step["op"].as_str().unwrap() {
        "create" => create(input()).await,
        "replace" => create(input().existing(ExistingNode::Replace)).await,
        "add" => match open(storage, path).await {
            Ok(mut dataset) => dataset.add(input()).await,
            Err(_) => create(input()).await,
        },
        "auto" => open(storage, path).await?.write_region(input()).await,
        "region" => region(&open(storage, path).await?, step).await,
        "tree" => {
            let datasets = step["input"].as_object().unwrap();
            let datasets = datasets.iter().map(|(path, input)| (path, new(input, row)));
            DataTree::create(storage.clone(), path, datasets, &standard()).await.map(drop)
        }
        "append" => open(storage, path).await?.append(step["dim"].as_str().unwrap(), input()).await,
        other => panic!("unknown step {other}"),
    }
}

/// Writes all variables to a region. Indexes are left as they are.
async fn region(dataset: &Dataset, step: &Value) -> XarrayResult<()> {
    let mut parts = Vec::new();
    for kind in ["coords", "data_vars"] {
        for (name, input) in step["input"][kind].as_object().unwrap() {
            let (variable, mut bounds) = (dataset.variable(name)?, Vec::new());
            for (dimension, range) in step["region"].as_object().unwrap() {
                let end = |at: usize| range[at].as_i64().unwrap();
                bounds.push((dimension.as_str(), end(0)..end(1)));
            }
            if !dataset.indexes().any(|index| index == name) {
                parts.push((variable.isel(bounds)?, elements(input)));
            }
        }
    }
    for (variable, values) in parts {
        variable.write(values).await?;
    }
    Ok(())
}

async fn open(storage: &Storage, path: &str) -> XarrayResult<Dataset> {
    Dataset::open(Group::open(storage.clone(), path, &standard()).await?).await
}

/// All objects of a store.
async fn content(storage: &Storage) -> Vec<(String, Vec<u8>)> {
    let mut content = Vec::new();
    for entry in storage.list(&Prefix::root(), None).await.unwrap().entries {
        let value = storage.get(&entry.key, u64::MAX).await.unwrap().unwrap();
        content.push((entry.key.as_str().to_owned(), value.to_vec()));
    }
    content
}
