//! Rows in which this crate does better than xarray.

use serde_json::{Value, json};
use zarr_xarray::Dataset;

use crate::datasets::shown::{compare, equal};

/// Checks the part `ours` of a row: variables that are broken or readable, and what replaces the answer of xarray.
pub(crate) async fn check(dataset: &Dataset, row: &Value) -> Result<(), String> {
    let ours = &row["ours"];
    let names = |member: &str| -> Vec<&str> {
        ours[member].as_array().into_iter().flatten().map(|name| name.as_str().unwrap()).collect()
    };
    for name in names("broken") {
        let read = async { dataset.variable(name)?.read_any().await };
        let Err(error) = read.await else { return Err(format!("{name} is not broken")) };
        if error.variable() != Some(name) {
            return Err(format!("the error does not name {name}: {error:#}"));
        }
    }
    for name in names("readable") {
        let read = async { dataset.variable(name)?.read_any().await };
        read.await.map_err(|error| format!("{error:#}"))?;
    }
    for (what, kept) in [("attrs_kept", true), ("hidden", false)] {
        for (name, attributes) in ours[what].as_object().into_iter().flatten() {
            let variable = dataset.variable(name).map_err(|error| format!("{error:#}"))?;
            for attribute in attributes.as_array().unwrap() {
                let is_kept = variable.attributes().contains(attribute.as_str().unwrap());
                equal(name, "attribute", &json!(is_kept), &json!(kept))?;
            }
        }
    }
    for (name, dimensions) in ours["dims"].as_object().into_iter().flatten() {
        let variable = dataset.variable(name).map_err(|error| format!("{error:#}"))?;
        equal(name, "dims", &json!(variable.dimensions()), dimensions)?;
        variable.read_any().await.map_err(|error| format!("{error:#}"))?;
    }
    for (name, values) in ours["values"].as_object().into_iter().flatten() {
        replaced(dataset, row, name, values).await?;
    }
    Ok(())
}

/// Compares a variable whose elements differ from those of xarray.
async fn replaced(dataset: &Dataset, row: &Value, name: &str, values: &Value) -> Result<(), String> {
    let variable = dataset.variable(name).map_err(|error| format!("{error:#}"))?;
    let of = |kind: &str| row.pointer(&format!("/result/{kind}/{name}")).cloned();
    let mut wanted = match of("coords").or_else(|| of("data_vars")) {
        Some(wanted) => wanted,
        // xarray does not open the dataset: the elements are those of the row, the rest is ours.
        None => json!({ "dims": variable.dimensions(), "shape": variable.shape() }),
    };
    wanted["values"] = values.clone();
    let is_masked = values.as_array().unwrap().contains(&json!("NaN"));
    if let Some(dtype) = row.pointer(&format!("/ours/dtype/{name}")) {
        wanted["dtype"] = dtype.clone();
    } else if is_masked && wanted["dtype"].as_str().is_some_and(|dtype| dtype.starts_with("int")) {
        wanted["dtype"] = json!("float32");
    }
    compare(&variable, &wanted).await
}
