//! Stores of strangers: links that lead out of them, files that are no documents, text for a terminal.
#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;

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

#[test]
fn a_document_that_is_no_regular_file_is_named_with_its_kind() {
    let folder = Folder::new();
    folder.group("h.zarr");
    for (node, document) in [("a", "zarr.json"), ("b", ".zarray"), ("c", "meta")] {
        fs::create_dir_all(folder.join("h.zarr").join(node)).unwrap();
        let fifo = folder.join("h.zarr").join(node).join(document);
        assert!(std::process::Command::new("mkfifo").arg(fifo).status().unwrap().success());
    }
    for verb in ["info", "validate", "cat"] {
        for (node, document) in [("a", "zarr.json"), ("b", ".zarray")] {
            let done = zarr(args![verb, folder.join("h.zarr").join(node)]);
            let said = format!("{}{}", String::from_utf8_lossy(&done.out), done.err);
            assert!(said.contains(document) && said.contains("found a Fifo"), "{verb} {document}: {said}");
        }
        // A file named `meta` need not belong to an array.
        zarr(args![verb, folder.join("h.zarr/c")]).fails(3, &["there is no node"]);
    }
}

/// A sparse file takes no space. It is refused by its size, before any of it is read.
#[test]
fn a_huge_document_is_refused_by_its_size() {
    let folder = Folder::new();
    for (node, document) in [("a.zarr", "zarr.json"), ("b.zarr", ".zarray"), ("c.zarr", "meta")] {
        folder.write(&format!("{node}/{document}"), "{}");
        let file = fs::File::options().write(true).open(folder.join(node).join(document)).unwrap();
        file.set_len(1 << 40).unwrap();
        let done = zarr(args!["info", folder.join(node)]);
        match document {
            "meta" => done.fails(3, &["there is no node"]),
            _ => done.fails(11, &[document, "1099511627776 bytes"]),
        }
    }
}

#[test]
fn text_cannot_control_the_terminal() {
    let folder = Folder::new();
    let array = crate::harness::array(&[1], "string", &[1], &json!(""), &json!([{ "name": "vlen-utf8" }]));
    folder.node("a.zarr", &array);
    let text = "a\u{1b}[31mb\nc\u{202e}d\u{e9}";
    let chunk =
        [&1_u32.to_le_bytes()[..], &u32::try_from(text.len()).unwrap().to_le_bytes(), text.as_bytes()];
    folder.write("a.zarr/c/0", chunk.concat());
    let cat = |format: &str| zarr(args!["cat", "-f", format, folder.join("a.zarr")]).ok();
    assert_eq!(cat("text").text(), "a\\u{1b}[31mb\\nc\\u{202e}d\u{e9}\n");
    assert_eq!(cat("json").json(), json!([text]));
}
