//! The advice of `zarr doctor`.

use serde_json::{Value, json};

use crate::args;
use crate::harness::{Folder, array, with, zarr, zarr_in};

fn plain() -> Value {
    json!([{ "name": "bytes" }])
}

/// Makes a hierarchy with one array for each piece of advice.
fn hierarchy(folder: &Folder) {
    folder.group("d.zarr");
    let named = |document: Value, names: &[&str]| with(document, &json!({ "dimension_names": names }));
    folder
        .node("d.zarr/small", &named(array(&[1200, 2], "uint8", &[1, 2], &json!(0), &plain()), &["x", "y"]));
    for chunk in 0..1001 {
        folder.write(&format!("d.zarr/small/c/{chunk}/0"), [7; 2]);
    }
    folder.node("d.zarr/large", &named(array(&[1 << 30], "uint8", &[1 << 29], &json!(0), &plain()), &["x"]));
    folder.node("d.zarr/time", &named(array(&[4], "uint8", &[2], &json!(0), &plain()), &["time"]));
    folder.write("d.zarr/time/c/0", [0; 2]);
    folder.write("d.zarr/time/c/1", [0; 2]);
    folder.node("d.zarr/bare", &array(&[1 << 21], "uint8", &[1 << 21], &json!(0), &plain()));
    folder.write("d.zarr/bare/c/0", vec![1; 1 << 21]);
    folder.write("d.zarr/bare/c/9", [1; 3]);
}

#[test]
fn each_rule_has_its_figures_and_a_command() {
    let folder = Folder::new();
    hierarchy(&folder);
    let advice = zarr(args!["doctor", "--json", folder.join("d.zarr")]).ok().json()["advice"].clone();
    let found: Vec<[&str; 2]> = advice
        .as_array()
        .unwrap()
        .iter()
        .map(|one| [one["path"].as_str().unwrap(), one["code"].as_str().unwrap()])
        .collect();
    let wanted = [
        ["/bare", "uncompressed"],
        ["/bare", "no-dimension-names"],
        ["/bare", "stray-objects"],
        ["/large", "large-chunks"],
        ["/small", "small-objects"],
        ["/time", "split-coordinate"],
    ];
    assert_eq!(found, wanted);
    let command = |code: &str| {
        let one = advice.as_array().unwrap().iter().find(|one| one["code"] == code).unwrap();
        (one["message"].as_str().unwrap().to_owned(), one["command"].as_str().unwrap_or_default().to_owned())
    };
    let (message, mends) = command("small-objects");
    assert!(message.starts_with("1001 objects have 2 bytes on average"), "{message}");
    // The command works as it stands.
    let mends = mends.replace("STORE/PATH", "d.zarr/small").replace("COPY", "mended.zarr");
    zarr_in(folder.path(), mends.split_whitespace().skip(1).chain(["-q"])).ok();
    let advice = zarr(args!["doctor", "--json", folder.join("mended.zarr")]).ok().json();
    assert_eq!(advice["advice"], json!([]));
}

#[test]
fn consolidated_metadata_is_compared_and_codes_are_ignored() {
    let folder = Folder::new();
    folder.group("c.zarr");
    for name in 0..12 {
        folder.group(&format!("c.zarr/{name}"));
    }
    let text = |options: &[&str]| {
        zarr_in(folder.path(), [&["doctor", "c.zarr"], options].concat()).ok().text().to_owned()
    };
    assert!(text(&[]).contains("no-consolidated-metadata\n  there are 13 nodes"), "{}", text(&[]));
    assert_eq!(text(&["--ignore", "no-consolidated-metadata"]), "13 nodes, no advice\n");
    zarr_in(folder.path(), ["consolidate", "c.zarr"]).ok();
    assert_eq!(text(&[]), "13 nodes, no advice\n");
    // Consolidated metadata of format 2 is an object of its own.
    folder.group2("old.zarr");
    zarr_in(folder.path(), ["consolidate", "old.zarr"]).ok();
    assert_eq!(zarr_in(folder.path(), ["doctor", "old.zarr"]).ok().text(), "1 node, no advice\n");
    folder.group("c.zarr/new");
    assert!(text(&[]).contains("stale-consolidated-metadata"), "{}", text(&[]));
}
