//! What interrupted copies and killed writers leave, and the verbs that erase it.

use std::fs::File;

use serde_json::json;

use crate::args;
use crate::harness::{Folder, zarr};

const MARKER: &str = r#"{"copy_of": "/somewhere/h.zarr", "digest": "sha256:0"}"#;

/// Makes a store, and what interrupted copies to `i.zarr` have left beside it.
fn interrupted() -> Folder {
    let folder = Folder::new();
    folder.group("h.zarr");
    for left in [".i.zarr.17.0.partial", ".i.zarr.18.3.partial"] {
        folder.write(&format!("{left}/.zarr-copy.json"), MARKER);
        folder.write(&format!("{left}/a/c/0"), [1]);
    }
    // A copy to another place, the replaced directory of a copy, and other names.
    for other in
        [".j.zarr.17.0.partial", ".i.zarr.17.old.partial", ".i.zarr.x.0.partial", "i.zarr.1.0.partial"]
    {
        folder.write(&format!("{other}/.zarr-copy.json"), MARKER);
    }
    folder
}

#[test]
fn a_copy_names_what_interrupted_copies_have_left() {
    let folder = interrupted();
    let done = zarr(args!["copy", "-q", folder.join("h.zarr"), folder.join("i.zarr")]).ok_with_notes();
    assert_eq!(done.err.lines().count(), 2, "{}", done.err);
    for left in [".i.zarr.17.0.partial", ".i.zarr.18.3.partial"] {
        done.says(&["/somewhere/h.zarr", left, "`zarr rm --unfinished ", "i.zarr`"]);
    }
    zarr(args!["copy", "-q", folder.join("h.zarr"), folder.join("k.zarr")]).ok();
}

#[test]
fn unfinished_copies_to_a_path_are_erased() {
    let folder = interrupted();
    // A process works in the second one.
    let marker = File::open(folder.join(".i.zarr.18.3.partial/.zarr-copy.json")).unwrap();
    marker.lock().unwrap();
    let rm = |options: &[&str]| {
        zarr([&["rm", "--unfinished", folder.join("i.zarr").to_str().unwrap()], options].concat())
    };
    let left = folder.join(".i.zarr.17.0.partial").canonicalize().unwrap();
    let wanted =
        json!({ "schema_version": 1, "dry_run": true, "nodes": [], "not_nodes": [{ "path": left }] });
    assert_eq!(rm(&["--dry-run", "--json"]).ok().json(), wanted);
    assert!(left.exists());
    assert_eq!(rm(&[]).ok().text(), "erased an unfinished copy of \"/somewhere/h.zarr\"\n");
    assert!(!left.exists() && folder.join(".i.zarr.18.3.partial").exists());
    rm(&[]).fails(3, &["there is no unfinished copy to", "i.zarr"]);
    // A process that another test is starting may share the open file, so closing it here could keep the lock.
    marker.unlock().unwrap();
    rm(&[]).ok();
    for other in
        [".j.zarr.17.0.partial", ".i.zarr.17.old.partial", ".i.zarr.x.0.partial", "i.zarr.1.0.partial"]
    {
        assert!(folder.join(other).exists(), "{other}");
    }
}

#[test]
fn leftovers_of_killed_writers_are_swept() {
    let folder = Folder::new();
    folder.base("a.zarr");
    let kept = folder.files("a.zarr");
    for left in ["a.zarr/zarr.json_0123456789abcdef.__lock", "a.zarr/c/0.__lock"] {
        folder.write(left, [0; 100]);
    }
    // They are too young, or a writer has them locked.
    assert_eq!(zarr(args!["sweep", folder.join("a.zarr")]).ok().text(), "deleted 0 files\n");
    let done = zarr(args!["sweep", "--json", "--older-than", "0", folder.join("a.zarr")]).ok();
    assert_eq!(done.json(), json!({ "schema_version": 1, "deleted": 2 }));
    assert_eq!(folder.files("a.zarr"), kept);
    folder.write("a.zarr/c/0.__lock", [0; 100]);
    let rm = |options: &[&str]| {
        zarr([&["rm", "--unfinished", folder.join("a.zarr").to_str().unwrap()], options].concat())
    };
    rm(&[]).fails(3, &["there is no unfinished copy"]);
    rm(&["--older-than", "0", "--dry-run"]).fails(3, &["there is no unfinished copy"]);
    let done = rm(&["--older-than", "0", "--json"]).ok().json();
    assert_eq!(
        done,
        json!({ "schema_version": 1, "dry_run": false, "nodes": [], "not_nodes": [], "hidden_files": 1 })
    );
    folder.write("a.zarr/c/0.__lock", [0; 100]);
    assert_eq!(rm(&["--older-than", "0"]).ok().text(), "erased 1 hidden file\n");
    assert_eq!(folder.files("a.zarr"), kept);
    zarr(args!["rm", "--older-than", "0", folder.join("a.zarr")]).exits(2);
    zarr(args!["sweep", "memory://"]).exits(2);
    zarr(args!["sweep", folder.join("nowhere")]).exits(4);
}
