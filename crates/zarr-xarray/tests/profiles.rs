//! The profile of xarray on stores whose answer of xarray is known.

use serde_json::Value;
use zarr_hierarchy::blocking::Group;
use zarr_hierarchy::{ChildState, standard};
use zarr_meta::{NodeMeta, Severity};
use zarr_xarray::{FindingCode, Hierarchy, Profile};

use crate::datasets::store;

/// Returns the errors of the profile of xarray in a store, or `None` if a node cannot be read.
fn errors(name: &str) -> Option<Vec<String>> {
    let group = Group::open(store::store(name), "/", &standard()).ok()?;
    let mut nodes = vec![("/".to_owned(), NodeMeta::Group(group.metadata().clone()))];
    for child in group.walk() {
        match child.found() {
            ChildState::Node(node) => nodes.push((child.prefix().node_path(), node.clone())),
            _ => return None,
        }
    }
    let found = Hierarchy::new(nodes, true).check(&[Profile::Xarray]);
    // xarray ignores names that are not there, with a warning.
    let is_error = |severity, code| severity == Severity::Error && code != FindingCode::ReferencedNames;
    Some(
        found
            .into_iter()
            .filter(|of| is_error(of.severity, of.finding.code))
            .map(|of| of.finding.to_string())
            .collect(),
    )
}

/// Stores that xarray does not open for a reason that is not in the attributes: elements out of range, a codec or a data
/// type that it does not know.
const BY_OTHERS: [&str; 4] =
    ["delta-too-long", "time-u8-too-large-v3", "unknown-codec-hides-nobody", "nczarr-real-char"];

#[test]
fn stores_that_xarray_opens_have_no_errors_and_others_have_some() {
    let mut wrong = Vec::new();
    for row in store::table()["rows"].as_array().unwrap() {
        let is_plain = row["kind"] == "decode" && row["options"].as_object().is_none_or(|all| all.is_empty());
        let (true, Some(name)) = (is_plain && row["group"].is_null(), row["store"].as_str()) else {
            continue;
        };
        if BY_OTHERS.contains(&name) {
            continue;
        }
        let Some(found) = errors(name) else { continue };
        let opens = row["error"].is_null() && row["result"] != Value::Null;
        if opens == found.is_empty() || (opens && !row["verdict"].is_null()) {
            continue;
        }
        wrong.push(format!("{} opens: {opens}, found: {found:?}", row["id"]));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
