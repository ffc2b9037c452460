//! `zarr migrate` and `zarr remove-metadata`.

use serde_json::{Value, json};

use crate::args;
use crate::harness::{Done, Folder, le, zarr};

/// Makes a consolidated group of format 2 with an array.
fn weather(folder: &Folder, path: &str) {
    let array = json!({
        "zarr_format": 2, "shape": [4], "chunks": [2], "dtype": "<i4", "compressor": null, "filters": null,
        "order": "C", "fill_value": 7
    });
    let group = json!({ "zarr_format": 2 });
    let all = json!({ ".zgroup": group, "t/.zarray": array });
    folder.write(&format!("{path}/.zgroup"), group.to_string());
    folder.write(&format!("{path}/t/.zarray"), array.to_string());
    folder.write(&format!("{path}/t/0"), le(&[1, 2]));
    folder.write(
        &format!("{path}/.zmetadata"),
        json!({ "zarr_consolidated_format": 1, "metadata": all }).to_string(),
    );
}

fn pickle(folder: &Folder, path: &str) {
    let array = json!({
        "zarr_format": 2, "shape": [4], "chunks": [2], "dtype": "|O", "compressor": null, "filters": [{ "id": "pickle" }],
        "order": "C", "fill_value": 0
    });
    folder.write(&format!("{path}/.zarray"), array.to_string());
}

fn migrate(folder: &Folder, path: &str, flags: &[&str]) -> Done {
    let mut args = args!["migrate", folder.join(path)].to_vec();
    args.extend(flags.iter().map(Into::into));
    zarr(args)
}

#[test]
fn a_dry_run_names_every_key_and_changes_nothing() {
    let folder = Folder::new();
    weather(&folder, "w.zarr");
    let before = folder.contents("w.zarr");
    let text = "write t/zarr.json\nwrite zarr.json\ndelete t/.zarray\ndelete .zgroup\ndelete .zmetadata\n";
    let flags = ["--dry-run", "--remove-v2-metadata"];
    assert_eq!(migrate(&folder, "w.zarr", &flags).ok().text(), text);
    let out = folder.join("new.zarr");
    zarr(args!["migrate", "v3", folder.join("w.zarr"), out.clone(), "--dry-run"]).ok();
    zarr(args!["migrate", folder.join("w.zarr"), out.clone(), "--dry-run"]).ok();
    assert_eq!((folder.contents("w.zarr"), out.exists()), (before, false));
}

#[test]
fn a_hierarchy_is_migrated_once_and_reads_the_same() {
    let folder = Folder::new();
    weather(&folder, "w.zarr");
    let report = migrate(&folder, "w.zarr", &["--json"]).ok().json();
    assert_eq!(report["changed"], true);
    assert_eq!(report["steps"][0], json!({ "action": "write", "key": "t/zarr.json" }));
    assert_eq!(report["nodes"][1]["path"], "/t");
    assert_eq!(
        migrate(&folder, "w.zarr", &[]).ok().text(),
        "0 nodes changed, 2 already up to date; 0 documents written, 0 deleted\n"
    );
    zarr(args!["remove-metadata", "v2", folder.join("w.zarr"), "--quiet"]).ok();
    assert_eq!(folder.files("w.zarr"), ["t/0", "t/zarr.json", "zarr.json"]);
    assert_eq!(
        zarr(args!["cat", folder.join("w.zarr/t"), "--format", "json"]).ok().json(),
        json!([1, 2, 7, 7])
    );
    let metadata = &folder.document("w.zarr")["consolidated_metadata"]["metadata"];
    assert_eq!(metadata["t"], folder.document("w.zarr/t"));
    zarr(args!["validate", folder.join("w.zarr")]).ok();
}

#[test]
fn new_metadata_can_go_elsewhere() {
    let folder = Folder::new();
    weather(&folder, "w.zarr");
    let before = folder.contents("w.zarr");
    let into = |to: &str| zarr(args!["migrate", "v3", folder.join("w.zarr"), folder.join(to), "--quiet"]);
    into("new.zarr").ok();
    into("new.zarr").ok();
    assert_eq!(folder.files("new.zarr"), ["t/zarr.json", "zarr.json"]);
    assert_eq!(folder.contents("w.zarr"), before);
    folder.write("full.zarr/file", "");
    into("full.zarr").fails(2, &["the destination is not empty: it holds \"file\""]);
}

#[test]
fn every_obstacle_is_named_and_nothing_is_changed() {
    let folder = Folder::new();
    weather(&folder, "w.zarr");
    pickle(&folder, "w.zarr/p");
    pickle(&folder, "w.zarr/q");
    let before = folder.contents("w.zarr");
    let done = migrate(&folder, "w.zarr", &[]).exits(6);
    done.says(&[
        "node \"/p\": ",
        "filter \"pickle\" of objects has no counterpart",
        "node \"/q\": ",
        "nothing was changed",
    ]);
    let report = migrate(&folder, "w.zarr", &["--json", "--dry-run"]).exits(6).json();
    assert_eq!((&report["changed"], &report["nodes"][1]["state"]), (&Value::Bool(false), &json!("blocked")));
    migrate(&folder, "w.zarr", &[]).exits(6);
    zarr(args!["migrate", "v3", folder.join("w.zarr"), folder.join("new.zarr")]).exits(6);
    assert_eq!(folder.contents("w.zarr"), before);
    assert!(!folder.join("new.zarr").exists());

    migrate(&folder, "w.zarr", &["--keep-going"]).exits(6);
    assert!(folder.join("w.zarr/t/zarr.json").exists() && !folder.join("w.zarr/p/zarr.json").exists());
    folder.write("w.zarr/t/zarr.json", "{}");
    migrate(&folder, "w.zarr/t", &[]).exits(2).says(&["there is a zarr.json already"]);
    migrate(&folder, "w.zarr/t", &["--overwrite"]).ok();
}

/// Rule I8: an array of format 1, whose documents have the names of ordinary files.
#[test]
fn an_array_of_format_1_is_migrated() {
    let folder = Folder::new();
    let meta = json!({
        "zarr_format": 1, "shape": [2, 2], "chunks": [2, 2], "dtype": "<i4", "compression": "none",
        "compression_opts": null, "fill_value": 0, "order": "F"
    });
    folder.write("old.zarr/meta", meta.to_string());
    folder.write("old.zarr/attrs", "{}");
    folder.write("old.zarr/0.0", le(&[1, 2, 3, 4]));
    let listed = || zarr(args!["chunks", "--json", folder.join("old.zarr")]).ok().text().to_owned();
    let before = listed();
    assert!(!before.contains("meta") && !before.contains("attrs"), "documents are no strays: {before}");
    migrate(&folder, "old.zarr", &["--remove-v2-metadata"]).ok_with_notes();
    assert_eq!(listed(), before);
    assert_eq!(folder.files("old.zarr"), ["0.0", "zarr.json"]);
    let values = zarr(args!["cat", folder.join("old.zarr"), "--format", "json"]).ok().json();
    assert_eq!(values, json!([[1, 2], [3, 4]]));
}

#[test]
fn the_last_metadata_is_removed_only_by_force() {
    let folder = Folder::new();
    weather(&folder, "w.zarr");
    let before = folder.contents("w.zarr");
    let remove = |flags: &[&str]| {
        let mut args = args!["remove-metadata", "v2", folder.join("w.zarr")].to_vec();
        args.extend(flags.iter().map(Into::into));
        zarr(args)
    };
    remove(&[]).exits(3).says(&[
        "node \"/\": there is no metadata of format 3",
        "node \"/t\"",
        "nothing was changed",
    ]);
    let keys = "delete t/.zarray\ndelete .zgroup\ndelete .zmetadata\n";
    assert_eq!(remove(&["--force", "--dry-run"]).ok().text(), keys);
    assert_eq!(folder.contents("w.zarr"), before);
    assert_eq!(
        zarr(args!["migrate", "--remove", "v2", "--force", "--dry-run", folder.join("w.zarr")]).ok().text(),
        keys
    );
    zarr(args!["migrate", "--force", folder.join("w.zarr")]).exits(2);
    remove(&["--force"]).ok();
    assert_eq!(folder.files("w.zarr"), ["t/0"]);
}

#[test]
fn a_dry_run_says_that_there_is_nothing_to_do() {
    let folder = Folder::new();
    weather(&folder, "w.zarr");
    migrate(&folder, "w.zarr", &["-q"]).ok();
    let done = migrate(&folder, "w.zarr", &["--dry-run"]).ok_with_notes();
    assert!(done.out.is_empty());
    done.says(&["nothing to change: 2 nodes are up to date"]);
    migrate(&folder, "w.zarr", &["--dry-run", "-q"]).ok();
}
