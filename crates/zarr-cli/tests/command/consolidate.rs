//! `zarr consolidate` writes, checks and removes consolidated metadata.

use std::fs;

use serde_json::json;

use crate::harness::{Done, Folder, base, base2, with, zarr_in};

fn consolidate(folder: &Folder, args: &[&str]) -> Done {
    zarr_in(folder.path(), [&["consolidate"], args].concat())
}

#[test]
fn consolidated_metadata_is_written_checked_and_removed() {
    let folder = Folder::new();
    folder.group("h.zarr");
    folder.base("h.zarr/a");
    folder.group2("i.zarr");
    folder.array2("i.zarr/a", &base2());
    for store in ["h.zarr", "i.zarr"] {
        let done = consolidate(&folder, &["--check", store]).exits(1);
        assert_eq!(done.text(), "there is no consolidated metadata\n");
        assert_eq!(consolidate(&folder, &[store]).ok().text(), "consolidated 1 node\n");
        consolidate(&folder, &["--check", store]).ok();
    }
    let inline = &folder.document("h.zarr")["consolidated_metadata"];
    assert_eq!((&inline["kind"], &inline["metadata"]["a"]), (&json!("inline"), &base()));
    let text = fs::read_to_string(folder.join("i.zarr/.zmetadata")).unwrap();
    let beside: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(beside["metadata"]["a/.zarray"], base2());

    // Another writer changes the store.
    for (store, document) in [("h.zarr", "zarr.json"), ("i.zarr", ".zarray")] {
        let path = folder.join(store).join("a").join(document);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replace("[4]", "[5]")).unwrap();
        fs::create_dir(folder.join(store).join("b")).unwrap();
        fs::write(folder.join(store).join("b").join(document), text).unwrap();
        let done = consolidate(&folder, &["--check", store]).exits(1);
        let wanted = "the node \"a\" differs in the consolidated metadata\n\
                      the node \"b\" is missing in the consolidated metadata\n";
        assert_eq!(done.text(), wanted);
        let json = consolidate(&folder, &["--check", "--json", store]).exits(1).json();
        let differences =
            json!([{ "path": "a", "difference": "changed" }, { "path": "b", "difference": "missing" }]);
        assert_eq!((&json["consolidated"], &json["differences"]), (&json!(true), &differences));
        consolidate(&folder, &[store]).ok();
        consolidate(&folder, &["--check", store]).ok();
        consolidate(&folder, &["--remove", store]).ok();
        consolidate(&folder, &["--remove", store]).ok();
        let json = consolidate(&folder, &["--check", "--json", store]).exits(1).json();
        assert_eq!((&json["consolidated"], &json["differences"]), (&json!(false), &json!([])));
    }
    assert_eq!(folder.files("h.zarr"), ["a/c/0", "a/zarr.json", "b/zarr.json", "zarr.json"]);
    assert!(!folder.join("i.zarr/.zmetadata").exists());
}

#[test]
fn broken_nodes_are_refused_left_out_or_included() {
    let folder = Folder::new();
    folder.group("h.zarr");
    folder.base("h.zarr/a");
    folder.node("h.zarr/b", &with(base(), &json!({ "codecs": [{ "name": "foo" }] })));
    folder.write("h.zarr/c/zarr.json", "{");
    consolidate(&folder, &["h.zarr"]).fails(6, &["h.zarr", "\"/b\"", "unknown codec \"foo\""]);
    assert!(folder.document("h.zarr").get("consolidated_metadata").is_none());
    let done = consolidate(&folder, &["--broken", "leave-out", "h.zarr"]).ok_with_notes();
    assert_eq!(done.text(), "consolidated 1 node\n");
    done.says(&["\"/b\" is left out: ", "unknown codec", "\"/c\" is left out: ", "line 1, column 2"]);
    let json = consolidate(&folder, &["--broken", "include", "--json", "h.zarr"]).ok().json();
    assert_eq!((&json["consolidated_nodes"], &json["left_out"][0]["path"]), (&json!(2), &json!("/c")));
}

#[test]
fn an_array_cannot_be_consolidated() {
    let folder = Folder::new();
    folder.base("a.zarr");
    consolidate(&folder, &["a.zarr"]).fails(3, &["a.zarr", "there is an array, not a group"]);
}

#[test]
fn broken_consolidated_metadata_is_written_again() {
    let folder = Folder::new();
    folder.group2("i.zarr");
    folder.array2("i.zarr/a", &base2());
    folder.write("i.zarr/.zmetadata", "{");
    consolidate(&folder, &["--check", "i.zarr"]).fails(1, &["i.zarr", "line 1, column 2"]);
    consolidate(&folder, &["i.zarr"]).ok();
    consolidate(&folder, &["--check", "i.zarr"]).ok();
}
