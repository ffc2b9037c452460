//! Stores of strangers: links that lead out of them, files that are no documents, text for a terminal.
#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;

use crate::args;
use crate::harness::{Folder, with, zarr, zarr_in};

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
        zarr(args!["cat", "-f", "raw", of(node)]).ok();
        zarr(args!["--confined", "cat", "-f", "raw", of(node)])
            .fails(8, &["h.zarr", "a link leads out of the root"]);
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
        zarr(args!["--confined", "cat", "-f", "raw", of(node)]).ok();
        zarr(args!["--confined", "attrs", "set", of(node), "x", "1"]).ok();
    }
    let url = format!("file://{}", of("chunk").display());
    zarr(args!["--confined", "cat", "-f", "raw", url]).fails(8, &["leads out of the root"]);
}

/// A folder that is no node lies between the store and the node, so that the node is the root of a store of its own.
#[test]
fn a_path_does_not_leave_a_confined_store_through_a_link() {
    let folder = linked();
    folder.base("h.zarr/plain/a");
    symlink("../out", folder.join("h.zarr/folder")).unwrap();
    symlink("plain", folder.join("h.zarr/inner")).unwrap();
    symlink("../nowhere", folder.join("h.zarr/broken")).unwrap();
    symlink("h.zarr", folder.join("link.zarr")).unwrap();
    symlink("h.zarr/plain", folder.join("other")).unwrap();
    let before = folder.contents("out");
    let url = |path: &str| format!("file://{}", folder.join(path).display());
    let run = |verb: &[&str], path: &str, rest: &[&str]| {
        zarr_in(folder.path(), [&["--confined"], verb, &[path], rest].concat())
    };
    for path in ["h.zarr/folder/a", "h.zarr/folder/../out/a", "link.zarr/folder/a", &url("h.zarr/folder/a")] {
        zarr_in(folder.path(), ["cat", "-f", "raw", path]).ok();
        run(&["cat", "-f", "raw"], path, &[]).fails(8, &["a link leads out of the root"]);
        run(&["attrs", "set"], path, &["x", "1"]).fails(8, &["a link leads out of the root"]);
        run(&["copy", "-q", "h.zarr/a"], path, &["--if-exists", "replace"]).exits(8);
        run(&["rm", "--force"], path, &[]).exits(8);
    }
    for path in ["h.zarr/folder/new", "h.zarr/folder", "h.zarr/broken", "h.zarr/broken/new"] {
        run(&["create", "--group"], path, &[]).fails(8, &["a link leads out of the root"]);
        run(&["copy", "-q", "h.zarr/a"], path, &[]).fails(8, &["a link leads out of the root"]);
    }
    assert_eq!(folder.contents("out"), before);
    assert!(!folder.join("nowhere").exists());
    // The user chooses the store, and may leave it by `..`.
    let inside = [
        "h.zarr/plain/a",
        "h.zarr/inner/a",
        "link.zarr/a",
        "other/a",
        "h.zarr/../out/a",
        "h.zarr/a/../inside",
    ];
    for path in inside.map(str::to_owned).into_iter().chain([url("h.zarr/inner/a")]) {
        run(&["cat", "-f", "raw"], &path, &[]).ok();
    }
}

/// No node can have such a path, so each verb says that there is something in the document that it does not show.
#[test]
fn odd_paths_in_consolidated_metadata_are_noted() {
    let group = json!({ "zarr_format": 3, "node_type": "group", "attributes": {} });
    let folder = Folder::new();
    let nodes = json!({ "a": group, "../../../outside": group, "a//b": group });
    let inline = json!({ "kind": "inline", "must_understand": false, "metadata": nodes });
    folder.node("h.zarr", &with(group.clone(), &json!({ "consolidated_metadata": inline })));
    folder.group("h.zarr/a");
    let group2 = json!({ "zarr_format": 2 });
    let nodes =
        json!({ ".zgroup": group2, "/a/b/../.zgroup": group2, "a/.zgroup": group2, "a//b/.zgroup": group2 });
    folder.group2("i.zarr");
    folder.group2("i.zarr/a");
    let beside = json!({ "zarr_consolidated_format": 1, "metadata": nodes });
    folder.write("i.zarr/.zmetadata", beside.to_string());
    let places = [
        (
            "h.zarr",
            ["/consolidated_metadata/metadata/..~1..~1..~1outside", "/consolidated_metadata/metadata/a~1~1b"],
        ),
        ("i.zarr", ["/metadata/~1a~1b~1..~1.zgroup", "/metadata/a~1~1b~1.zgroup"]),
    ];
    for (store, pointers) in places {
        for verb in ["tree", "ls", "info", "du"] {
            let done = zarr(args![verb, folder.join(store)]).ok_with_notes();
            done.says(&[
                "consolidated metadata has odd paths: ZM018",
                pointers[0],
                "; 1 more: `zarr validate`",
            ]);
            assert_eq!(done.err.lines().count(), 1, "{verb}: {}", done.err);
            if verb != "du" {
                zarr(args![verb, "--no-consolidated", folder.join(store)]).exits(0);
            }
        }
        for (options, code) in [(&["--json"][..], 1), (&["--json", "--ignore", "ZM018"], 0)] {
            let done = zarr(
                [args!["validate", folder.join(store)].to_vec(), options.iter().map(Into::into).collect()]
                    .concat(),
            );
            let json = done.exits(code).json();
            let found = json["nodes"][0]["findings"].as_array().unwrap();
            let found: Vec<_> = found.iter().map(|found| (&found["code"], &found["pointer"])).collect();
            let wanted = pointers.map(|pointer| (json!("ZM018"), json!(pointer)));
            let wanted: Vec<_> =
                wanted.iter().filter(|_| code == 1).map(|(code, pointer)| (code, pointer)).collect();
            assert_eq!(found, wanted, "{store} {options:?}");
        }
    }
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

/// Characters that must not come from a store: of them JSON escapes only those below U+0020.
const HOSTILE: &str = "\u{1b}[2J\r\u{7}\u{7f}\u{9b}\u{202e}\u{2066}";

/// Makes a group with an array of strings and one of structs; names, attributes and elements are hostile.
fn hostile(folder: &Folder) {
    let strings = crate::harness::array(&[1], "string", &[1], &json!(""), &json!([{ "name": "vlen-utf8" }]));
    let attributes = json!({ HOSTILE: HOSTILE });
    let names = json!([format!("d{HOSTILE}")]);
    let changes = json!({ "dimension_names": names, "attributes": attributes });
    let length = |text: &str| u32::try_from(text.len()).unwrap().to_le_bytes();
    for name in ["s".to_owned(), format!("n{HOSTILE}")] {
        folder.node(&format!("h.zarr/{name}"), &with(strings.clone(), &changes));
        let chunk = [&1_u32.to_le_bytes()[..], &length(HOSTILE), HOSTILE.as_bytes()];
        folder.write(&format!("h.zarr/{name}/c/0"), chunk.concat());
    }
    let field = json!({ "name": "fixed_length_utf32", "configuration": { "length_bytes": 4 } });
    let fields = json!([{ "name": "f", "data_type": field }]);
    let structs = crate::harness::array(
        &[1],
        "string",
        &[1],
        &json!(""),
        &json!([{ "name": "bytes", "configuration": { "endian": "little" } }]),
    );
    let data_type = json!({ "name": "struct", "configuration": { "fields": fields } });
    let changes = json!({ "data_type": data_type, "fill_value": { "f": "" } });
    folder.node("h.zarr/t", &with(structs, &changes));
    folder.write("h.zarr/t/c/0", 0x202e_u32.to_le_bytes());
    folder.node("h.zarr", &json!({ "zarr_format": 3, "node_type": "group", "attributes": attributes }));
}

#[test]
fn no_format_controls_the_terminal() {
    let Ok(found) = std::process::Command::new("script").arg("--version").output() else { return };
    assert!(found.status.success());
    let folder = Folder::new();
    hostile(&folder);
    let name = format!("h.zarr/n{HOSTILE}");
    let verbs = [
        "cat -f csv h.zarr/s",
        "cat -f csv \"$NAME\"",
        "cat -f tsv \"$NAME\"",
        "cat -f csv \"$NAME\"",
        "cat -f text h.zarr/s",
        "cat -f json h.zarr/s",
        "cat -f text h.zarr/t",
        "cat -f json h.zarr/t",
        "cat -f raw h.zarr/t",
        "cat -f csv -o /dev/tty h.zarr/s",
        "attrs get h.zarr/s",
        "info --cdl h.zarr",
        "info --json h.zarr/s",
        "tree --json h.zarr",
        "ls --json h.zarr",
    ];
    for verb in verbs {
        let mut shell = std::process::Command::new("script");
        shell.args(["-qec", &format!("\"$ZARR\" {verb}"), "/dev/null"]).current_dir(folder.path());
        shell.env("ZARR", crate::program()).env("NAME", &name).stdin(std::process::Stdio::null());
        let done = shell.output().unwrap();
        let shown = String::from_utf8(done.stdout).unwrap().replace("\r\n", "\n");
        assert!(done.status.success() && !shown.is_empty(), "{verb}: {shown:?}");
        let bad = shown
            .chars()
            .find(|c| c.is_control() && !['\n', '\t'].contains(c) || ['\u{202e}', '\u{2066}'].contains(c));
        assert_eq!(bad, None, "{verb}: {shown:?}");
    }
    // What a program reads is what is stored.
    let csv = zarr(args!["cat", "-f", "csv", folder.join("h.zarr/s")]).ok();
    assert!(csv.text().contains(HOSTILE), "{:?}", csv.text());
}
