//! Checks one row.

use serde_json::{Value, json};
use zarr_hierarchy::zarr_array::block_on;
use zarr_xarray::{DataTree, Dataset, Label, Labels, Method, Positions, XarrayResult};

use crate::datasets::options::{decoding, open};
use crate::datasets::shown::{attributes_of, compare, equal};
use crate::datasets::verdict;

pub(crate) fn check_dataset(row: &Value) -> Result<(), String> {
    block_on(async {
        let opened = async { Dataset::open_with(open(row).await?, &decoding(row)).await };
        let dataset = match (opened.await, row["scope"].as_str()) {
            (Err(_), Some("dataset")) => return Ok(()),
            (Ok(_), Some("dataset")) => return Err("it opens".to_owned()),
            (opened, _) => opened.map_err(|error| format!("{error:#}"))?,
        };
        match row.get("ours") {
            Some(_) => verdict::check(&dataset, row).await,
            None => same(&dataset, &row["result"]).await,
        }
    })
}

pub(crate) fn check_selection(row: &Value) -> Result<(), String> {
    let (query, is_refused) = (&row["query"], row.get("error").is_some());
    block_on(async {
        let selected = async {
            let dataset = Dataset::open_with(open(row).await?, &decoding(row)).await?;
            let dims = query["dims"].as_object().unwrap();
            match query["by"] == "position" {
                true => dataset.isel(dims.iter().map(|(name, value)| (name, positions(value)))),
                false => {
                    dataset
                        .sel(dims.iter().map(|(name, value)| (name, labels(value, &query["method"]))))
                        .await
                }
            }
        };
        match (selected.await, is_refused) {
            (Err(_), true) => Ok(()),
            (Ok(_), true) => Err("it is selected".to_owned()),
            (Ok(dataset), false) => same(&dataset, &row["result"]).await,
            (Err(error), false) => Err(format!("{error:#}")),
        }
    })
}

pub(crate) fn check_tree(row: &Value) -> Result<(), String> {
    block_on(async {
        let tree: XarrayResult<_> =
            async { DataTree::open_with(open(row).await?, &decoding(row)).await }.await;
        let tree = tree.map_err(|error| format!("{error:#}"))?;
        let aligned = tree.check_aligned().await;
        if row.get("error").is_some() {
            return if aligned.is_err() { Ok(()) } else { Err("it is aligned".to_owned()) };
        }
        aligned.map_err(|error| format!("{error:#}"))?;
        same_tree(&tree, &row["result"]).await
    })
}

/// Compares a tree with that of the table.
pub(crate) async fn same_tree(tree: &DataTree, wanted: &Value) -> Result<(), String> {
    let nodes = wanted.as_object().unwrap();
    equal("tree", "paths", &json!(tree.paths().collect::<Vec<_>>()), &sorted(nodes.keys()))?;
    for (path, wanted) in nodes {
        let dataset = tree.dataset(path).map_err(|error| format!("{error:#}"))?;
        equal(path, "inherited", &sorted(dataset.inherited()), &wanted["inherited_coords"])?;
        equal(path, "sizes", &json!(dataset.dimensions()), &wanted["sizes"])?;
        variables(&dataset, &wanted["own"]).await.map_err(|why| format!("{path}: {why}"))?;
    }
    Ok(())
}

/// Compares a dataset with that of the table.
pub(crate) async fn same(dataset: &Dataset, wanted: &Value) -> Result<(), String> {
    equal("dataset", "dimensions", &json!(dataset.dimensions()), &wanted["dims"])?;
    equal("dataset", "coordinates", &sorted(dataset.coordinates()), &keys(&wanted["coords"]))?;
    equal("dataset", "variables", &sorted(dataset.data_variables()), &keys(&wanted["data_vars"]))?;
    equal("dataset", "indexes", &sorted(dataset.indexes()), &wanted["indexes"])?;
    variables(dataset, wanted).await
}

async fn variables(dataset: &Dataset, wanted: &Value) -> Result<(), String> {
    equal("dataset", "attributes", &attributes_of(dataset.attributes()), &wanted["attrs"])?;
    for (name, wanted) in ["coords", "data_vars"].iter().flat_map(|kind| wanted[kind].as_object().unwrap()) {
        let variable = dataset.variable(name).map_err(|error| format!("{error:#}"))?;
        compare(&variable, wanted).await?;
    }
    Ok(())
}

fn keys(object: &Value) -> Value {
    sorted(object.as_object().unwrap().keys())
}

fn sorted(names: impl Iterator<Item = impl AsRef<str>>) -> Value {
    let mut names: Vec<String> = names.map(|name| name.as_ref().to_owned()).collect();
    names.sort_unstable();
    json!(names)
}

/// Positions of a query: a number, a list, or a slice.
fn positions(value: &Value) -> Positions {
    if let Some(list) = value["list"].as_array() {
        let mask: Option<Vec<bool>> = list.iter().map(Value::as_bool).collect();
        return match mask {
            Some(mask) => Positions::from(&mask[..]),
            None => {
                Positions::from(list.iter().map(|position| position.as_i64().unwrap()).collect::<Vec<_>>())
            }
        };
    }
    let Some(slice) = value["slice"].as_array() else { return Positions::from(value.as_i64().unwrap()) };
    let end = |at: usize| slice.get(at).and_then(Value::as_i64);
    let range = match (end(0), end(1)) {
        (Some(start), Some(end)) => Positions::from(start..end),
        (Some(start), None) => Positions::from(start..),
        (None, Some(end)) => Positions::from(..end),
        (None, None) => Positions::from(..),
    };
    Positions::step(range, end(2).unwrap_or(1))
}

fn labels(value: &Value, method: &Value) -> Labels {
    if let Some(list) = value["list"].as_array() {
        return Labels::list(list.iter().map(label));
    }
    if let Some(slice) = value["slice"].as_array() {
        let end = |at: usize| slice.get(at).filter(|end| !end.is_null()).map(label);
        return Labels::slice(end(0), end(1));
    }
    match method.as_str() {
        Some("nearest") => Labels::near(label(value), Method::Nearest),
        _ => Labels::from(label(value)),
    }
}

fn label(value: &Value) -> Label {
    match value {
        Value::String(text) => Label::from(text.as_str()),
        Value::Bool(truth) => Label::from(*truth),
        number => number.as_i64().map_or_else(|| Label::from(number.as_f64().unwrap()), Label::from),
    }
}
