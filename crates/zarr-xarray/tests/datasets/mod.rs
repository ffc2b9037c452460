//! Opens the stores of [the tables](../fixtures/README.md) and compares the datasets with those of xarray.

#![allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "these are tests")]

mod judged;
mod options;
mod rows;
mod shown;
mod steps;
pub(crate) mod store;
mod verdict;
mod written;

use std::collections::BTreeMap;

use serde_json::Value;

use rows::{check_dataset, check_selection, check_tree};
use steps::check_steps;
use written::check_written;

#[test]
fn datasets_are_those_of_xarray_or_better() {
    check("decode", 350, check_dataset);
}

#[test]
fn selections_are_those_of_xarray() {
    check("sel", 15, check_selection);
}

#[test]
fn trees_are_those_of_xarray() {
    check("tree", 7, check_tree);
}

#[test]
fn written_datasets_are_those_of_xarray_or_better() {
    check("write", 75, check_written);
}

#[test]
fn appended_datasets_are_those_of_xarray_or_better() {
    check("append", 30, check_steps);
}

/// Checks all rows of a kind, and fails with a list of the failing rows.
fn check(kind: &str, total: usize, check: impl Fn(&Value) -> Result<(), String>) {
    let document = store::table();
    let mut counts: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    let mut failures = Vec::new();
    let rows = document["rows"].as_array().unwrap().iter().filter(|row| row["kind"] == kind);
    for row in rows {
        let verdict = row.get("verdict").map_or("same", |verdict| verdict.as_str().unwrap());
        let (passed, total) = counts.entry(verdict.to_owned()).or_default();
        *total += 1;
        match check(row) {
            Ok(()) => *passed += 1,
            Err(why) => failures.push(format!("{}: {why}", row["id"])),
        }
    }
    println!("{kind}: {counts:?}");
    assert!(failures.is_empty(), "{kind}, {} rows fail:\n{}", failures.len(), failures.join("\n"));
    assert_eq!(counts.values().map(|(_, total)| total).sum::<usize>(), total, "{kind}");
}
