//! What `zarr rm` erases, and what it keeps.

use serde_json::json;

use crate::args;
use crate::harness::{Done, Folder, base2, zarr, zarr_in};

fn rm(folder: &Folder, args: &[&str]) -> Done {
    zarr_in(folder.path(), [&["rm"], args].concat())
}

/// Makes `h.zarr` of format 3 and `i.zarr` of format 2, each consolidated, with an array and a group that holds an
/// array.
fn stores(folder: &Folder) {
    folder.group("h.zarr");
    folder.base("h.zarr/a");
    folder.group("h.zarr/g");
    folder.base("h.zarr/g/b");
    folder.group2("i.zarr");
    folder.array2("i.zarr/a", &base2());
    folder.group2("i.zarr/g");
    folder.array2("i.zarr/g/b", &base2());
    for store in ["h.zarr", "i.zarr"] {
        zarr(args!["consolidate", folder.join(store)]).ok();
    }
}

#[test]
fn a_node_is_erased_and_consolidated_metadata_follows() {
    let folder = Folder::new();
    stores(&folder);
    for store in ["h.zarr", "i.zarr"] {
        assert_eq!(rm(&folder, &[&format!("{store}/a")]).ok().text(), "erased 1 node\n");
        zarr(args!["consolidate", "--check", folder.join(store)]).ok();
        let group = format!("{store}/g");
        rm(&folder, &[&group])
            .fails(2, &[store, "\"/g\"", "1 node below it would be erased as well; add -r"]);
        assert_eq!(rm(&folder, &["-r", "--dry-run", &group]).ok().text(), "/g\n/g/b\n");
        assert!(folder.join(&group).exists());
        assert_eq!(rm(&folder, &["-r", &group]).ok().text(), "erased 2 nodes\n");
        assert!(!folder.join(&group).exists());
        zarr(args!["consolidate", "--check", folder.join(store)]).ok();
        rm(&folder, &[&group]).fails(3, &["there is no node \"g\""]);
    }
}

#[cfg(unix)]
#[test]
fn the_target_of_a_link_is_not_erased() {
    use std::os::unix::fs::symlink;
    let folder = Folder::new();
    stores(&folder);
    symlink(folder.join("i.zarr"), folder.join("h.zarr/g/other")).unwrap();
    symlink(folder.join("i.zarr"), folder.join("link.zarr")).unwrap();
    for node in ["h.zarr/g/other", "h.zarr/g/other/a", "link.zarr", "link.zarr/"] {
        rm(&folder, &["-ry", node]).fails(2, &["is a link"]);
    }
    let all = [".zgroup", ".zmetadata", "a/.zarray", "a/0", "g/.zgroup", "g/b/.zarray", "g/b/0"];
    assert_eq!(folder.files("i.zarr"), all);
    // The link is erased with the group that holds it.
    rm(&folder, &["-ry", "h.zarr/g"]).ok();
    assert_eq!(folder.files("i.zarr"), all);
    rm(&folder, &["link.zarr/a"]).ok();
    assert!(!folder.join("i.zarr/a").exists());
}

#[test]
fn the_root_needs_force() {
    let folder = Folder::new();
    stores(&folder);
    for store in ["h.zarr", "i.zarr"] {
        rm(&folder, &["-r", store]).fails(2, &["root of a store", "--force"]);
        rm(&folder, &["--force", store]).fails(2, &["3 nodes below it would be erased as well"]);
        rm(&folder, &["-ry", store]).ok();
        assert!(!folder.join(store).exists());
    }
    folder.base("a.zarr");
    rm(&folder, &["a.zarr"]).fails(2, &["root of a store"]);
    rm(&folder, &["-f", "a.zarr"]).ok();
}

#[test]
fn foreign_files_are_erased_only_with_force() {
    let folder = Folder::new();
    folder.write("data/notes.txt", "");
    rm(&folder, &["-ry", "data"]).fails(3, &["there is no node"]);
    folder.group("h.zarr");
    folder.group("h.zarr/g");
    for stranger in ["g/notes.txt", "g/folder/file", "g/.git/config"] {
        folder.write(&format!("h.zarr/{stranger}"), "");
        rm(&folder, &["-r", "h.zarr/g"])
            .fails(2, &[stranger.split('/').nth(1).unwrap(), "belong to a node; --force"]);
        assert!(folder.join("h.zarr").join(stranger).exists());
    }
    let json = rm(&folder, &["-r", "--dry-run", "--json", "h.zarr/g"]).ok().json();
    let wanted = json!({
        "schema_version": 1, "dry_run": true, "nodes": [{ "path": "/g" }],
        "not_nodes": [{ "path": "/g/.git" }, { "path": "/g/folder" }, { "path": "/g/notes.txt" }]
    });
    assert_eq!(json, wanted);
    rm(&folder, &["-r", "-y", "h.zarr/g"]).ok();
    assert_eq!(folder.files("h.zarr"), ["zarr.json"]);
}

#[test]
fn foreign_files_in_an_unfinished_copy_are_erased_only_with_force() {
    let folder = Folder::new();
    let foreign = [".git/HEAD", "thesis.tex"];
    for place in ["shared.zarr", ".beside.zarr.17.0.partial"] {
        folder
            .write(&format!("{place}/.zarr-copy.json"), r#"{"copy_of": "/s/h.zarr", "digest": "sha256:0"}"#);
        folder.write(&format!("{place}/a/c/0"), [1]);
        for file in foreign {
            folder.write(&format!("{place}/{file}"), "");
        }
    }
    for (given, place) in [("shared.zarr", "shared.zarr"), ("beside.zarr", ".beside.zarr.17.0.partial")] {
        rm(&folder, &["--unfinished", given])
            .fails(2, &["\"/.git/HEAD\", \"/thesis.tex\" do not belong to the copy; --force erases them"]);
        assert_eq!(folder.files(place), [".git/HEAD", ".zarr-copy.json", "a/c/0", "thesis.tex"]);
        rm(&folder, &["--unfinished", "--dry-run", given]).ok();
        rm(&folder, &["--unfinished", "--force", given]).ok();
        assert!(!folder.join(place).exists(), "{place}");
    }
}

#[test]
fn a_broken_node_can_be_erased() {
    let folder = Folder::new();
    folder.group("h.zarr");
    folder.write("h.zarr/a/zarr.json", "{");
    folder.write("h.zarr/a/c/0", "");
    rm(&folder, &["h.zarr/a"]).ok();
    assert_eq!(folder.files("h.zarr"), ["zarr.json"]);
}
