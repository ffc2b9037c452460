//! Stores of strangers: links that lead out of them.
#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::symlink;

use crate::args;
use crate::harness::{Folder, zarr};

/// Makes a store with links to a node, to a document and to a chunk outside of it, and a link inside of it.
fn linked() -> Folder {
    let folder = Folder::new();
    folder.group("h.zarr");
    for store in ["h.zarr/a", "h.zarr/document", "h.zarr/chunk", "out/a"] {
        folder.base(store);
    }
    let link = |to: &str, name: &str| {
        let _ = fs::remove_file(folder.join(name));
        symlink(to, folder.join(name)).unwrap();
    };
    link("../out/a", "h.zarr/node");
    link("../../out/a/zarr.json", "h.zarr/document/zarr.json");
    link("../../../out/a/c/0", "h.zarr/chunk/c/0");
    link("a", "h.zarr/inside");
    folder
}

#[test]
fn a_confined_store_does_not_follow_links_out() {
    let folder = linked();
    let outside = |folder: &Folder| (folder.files("out"), fs::read(folder.join("out/a/zarr.json")).unwrap());
    let before = outside(&folder);
    let of = |node: &str| folder.join("h.zarr").join(node);
    for node in ["node", "document", "chunk"] {
        zarr(args!["cat", of(node)]).ok();
        zarr(args!["--confined", "cat", of(node)]).fails(8, &["h.zarr", "a link leads out of the root"]);
    }
    for node in ["node", "document"] {
        zarr(args!["--confined", "attrs", "set", of(node), "x", "1"]).fails(8, &["leads out of the root"]);
    }
    zarr(args!["--confined", "create", of("node/new"), "--group"]).exits(8);
    zarr(args!["--confined", "copy", "-q", of("chunk"), folder.join("copy.zarr")]).exits(8);
    assert!(!folder.join("copy.zarr").exists());
    assert_eq!(outside(&folder), before);
    // Links inside of the store, and everything else, work as before.
    for node in ["a", "inside"] {
        zarr(args!["--confined", "cat", of(node)]).ok();
        zarr(args!["--confined", "attrs", "set", of(node), "x", "1"]).ok();
    }
    let url = format!("file://{}", of("chunk").display());
    zarr(args!["--confined", "cat", url]).fails(8, &["leads out of the root"]);
}
