//! `zarr validate --conventions`.

use serde_json::{Value, json};

use crate::args;
use crate::harness::{Folder, array, base, with, zarr};
use crate::weather::{model, weather};

fn codes(report: &Value) -> Vec<String> {
    let nodes = report["nodes"].as_array().unwrap();
    let of = |node: &Value| {
        let path = node["path"].as_str().unwrap().to_owned();
        let findings = node["findings"].as_array().unwrap().clone();
        findings.into_iter().map(move |f| {
            format!("{} {} {path}", f["severity"].as_str().unwrap(), f["code"].as_str().unwrap())
        })
    };
    let mut all: Vec<String> = nodes.iter().flat_map(of).collect();
    all.retain(|code| code.contains("XV"));
    all
}

#[test]
fn a_dataset_that_follows_its_conventions_has_no_findings() {
    let folder = Folder::new();
    let path = weather(&folder);
    for name in ["xarray", "cf"] {
        let report = zarr(args!["validate", "--json", "--conventions", name, &path]).ok().json();
        assert_eq!(codes(&report), [""; 0], "{name}");
    }
    let done = zarr(args!["validate", "--json", "--level", "data", "--conventions", "xarray,cf", &path]).ok();
    assert_eq!(codes(&done.json()), [""; 0]);
}

#[test]
fn errors_of_a_convention_exit_with_1() {
    let folder = Folder::new();
    let path = model(&folder);
    let done = zarr(args!["validate", "--conventions", "cf", "--conventions", "nz", &path]).exits(1);
    for part in ["error XV013: Conventions is absent", "error XV007: ", "time units that CF does not have."] {
        assert!(done.text().contains(part), "{}", done.text());
    }
    // Without conventions the same store is valid, and with --ignore as well.
    let format = zarr(args!["validate", "--conventions", "none", &path]).exits(0);
    assert!(!format.text().contains("checked:"), "{}", format.text());
    zarr(args!["validate", "--conventions", "cf", "--ignore", "xv013", "--ignore", "XV007", &path]).exits(0);
    let done = zarr(args!["validate", "--json", "--conventions", "ome", &path]).exits(1);
    assert_eq!(codes(&done.json()), ["error XV032 /"]);
    zarr(args!["validate", "--conventions", "cf", path.join("p")])
        .fails(2, &["--conventions checks a group"]);
    zarr(args!["validate", "--conventions", "dwim", &path]).exits(2);
}

#[test]
fn values_of_coordinates_are_read_with_level_data() {
    let folder = Folder::new();
    let group = json!({ "zarr_format": 3, "node_type": "group", "attributes": { "Conventions": "CF-1.12" } });
    folder.node("h.zarr", &json!({ "zarr_format": 3, "node_type": "group", "attributes": {} }));
    folder.node("h.zarr/g", &group);
    let document = array(&[3], "int32", &[3], &json!(0), &base()["codecs"]);
    folder.node("h.zarr/g/x", &with(document, &json!({ "dimension_names": ["x"] })));
    folder.write("h.zarr/g/x/c/0", crate::harness::le(&[1, 3, 2]));
    let path = folder.join("h.zarr/g");
    zarr(args!["validate", "--conventions", "cf", &path]).exits(0);
    let done = zarr(args!["validate", "--json", "--level", "data", "--conventions", "cf", &path]).exits(1);
    assert_eq!(codes(&done.json()), ["error XV011 /g/x"]);
}

#[test]
fn the_conventions_that_documents_follow_are_checked_and_named() {
    let folder = Folder::new();
    let path = weather(&folder);
    let done = zarr(args!["validate", &path]).ok();
    assert!(
        done.text().ends_with("6 nodes, 0 errors, 0 warnings\nchecked: format, xarray, cf\n"),
        "{}",
        done.text()
    );
    let report = zarr(args!["validate", "--json", "--level", "data", &path]).ok().json();
    assert_eq!(report["conventions"], json!(["xarray", "cf"]));
    // An append to one variable only: programs refuse the group.
    zarr(args!["resize", path.join("lat"), "4"]).exits(0);
    let done = zarr(args!["validate", &path]).exits(1);
    assert!(done.text().contains("error XV002") && done.text().contains("(xarray, cf)"), "{}", done.text());
    zarr(args!["validate", "--conventions", "none", &path]).exits(0);
    // An image, and arrays without names.
    let image = json!({ "ome": { "version": "0.5", "multiscales": [] } });
    folder.node("image.zarr", &json!({ "zarr_format": 3, "node_type": "group", "attributes": image }));
    let done = zarr(args!["validate", folder.join("image.zarr")]).exits(1);
    assert!(done.text().ends_with("checked: format, ome\n"), "{}", done.text());
    folder.group("plain.zarr");
    folder.base("plain.zarr/a");
    let done = zarr(args!["validate", folder.join("plain.zarr")]).ok();
    assert!(done.text().ends_with("2 nodes, 0 errors, 0 warnings\n"), "{}", done.text());
    zarr(args!["validate", folder.join("plain.zarr/a")]).ok();
}
