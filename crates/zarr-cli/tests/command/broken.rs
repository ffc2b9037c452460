//! Hierarchies in which every third node is broken in another way. Every node is listed, the good ones are read, and
//! each broken one has its reason (rule F20).

use std::collections::BTreeMap;
use std::fs;

use serde_json::{Value, json};

use crate::args;
use crate::harness::{Folder, base, base2, with, zarr};

/// A broken node: its kind in lists, a part of the message, and its kind in `validate`, or `None` if it is not a node.
struct Broken {
    kind: &'static str,
    says: &'static str,
    judged: Option<&'static str>,
}

fn name(i: usize) -> String {
    format!("n{i:02}")
}

/// Makes a hierarchy of format 3; returns its broken nodes by name.
fn three(folder: &Folder) -> BTreeMap<String, Broken> {
    let array = |changes: Value| with(base(), &changes).to_string();
    let zarr_json = |text: String| vec![("zarr.json", text)];
    let ways = [
        ("array", "unknown codec \"foo\"", Some("array"), zarr_json(array(json!({ "codecs": ["foo"] })))),
        ("array", "\"int7\"", Some("array"), zarr_json(array(json!({ "data_type": "int7" })))),
        ("unreadable", "line 1, column 2", Some("invalid"), zarr_json("{".to_owned())),
        ("unreadable", "line 1, column 1", Some("invalid"), zarr_json(String::new())),
        ("unreadable", "\"/shape/0\"", Some("invalid"), zarr_json(array(json!({ "shape": [-1] })))),
        ("unreadable", "\"/fill_value\"", Some("invalid"), zarr_json(array(json!({ "fill_value": null })))),
        ("unreadable", "\"/extra\"", Some("invalid"), zarr_json(array(json!({ "extra": true })))),
        ("unreadable", "version 4", Some("invalid"), zarr_json(array(json!({ "zarr_format": 4 })))),
        ("array", "\"hexagonal\"", Some("array"), zarr_json(array(json!({ "chunk_grid": "hexagonal" })))),
        ("none", "there is no metadata document", None, vec![("c/0", String::new())]),
        // A directory of that name is not a document.
        ("none", "there is no metadata document", None, vec![("zarr.json/file", String::new())]),
    ];
    folder.group("h.zarr");
    fill(folder, ways, |folder, path, i| {
        let _ = if i % 2 == 0 { folder.base(path) } else { folder.group(path) };
    })
}

/// Makes the same in format 2.
fn two(folder: &Folder) -> BTreeMap<String, Broken> {
    let array = |changes: Value| vec![(".zarray", with(base2(), &changes).to_string())];
    let attributes =
        |document: &'static str, text: Value| vec![(document, text.to_string()), (".zattrs", "{".to_owned())];
    let ways = [
        (
            "array",
            "\"/compressor\": cannot be understood: unknown codec \"foo\"",
            Some("array"),
            array(json!({ "compressor": { "id": "foo" } })),
        ),
        (
            "array",
            "\"/filters/0\": cannot be understood: unknown codec \"foo\"",
            Some("array"),
            array(json!({ "filters": [{ "id": "foo" }] })),
        ),
        ("array", "\"<q9\"", Some("array"), array(json!({ "dtype": "<q9" }))),
        ("unreadable", "\"/chunks\"", Some("invalid"), array(json!({ "chunks": null }))),
        ("unreadable", "\"/order\"", Some("invalid"), array(json!({ "order": "X" }))),
        ("unreadable", "version 3", Some("invalid"), array(json!({ "zarr_format": 3 }))),
        ("array", ".zattrs cannot be read", Some("array"), attributes(".zarray", base2())),
        (
            "group",
            ".zattrs cannot be read",
            Some("group"),
            attributes(".zgroup", json!({ "zarr_format": 2 })),
        ),
        ("unreadable", "line 1, column 2", Some("invalid"), vec![(".zgroup", "{".to_owned())]),
        ("none", "there is no metadata document", None, vec![(".zattrs", "{}".to_owned())]),
        ("none", "there is no metadata document", None, vec![(".zarray/file", String::new())]),
    ];
    folder.group2("h.zarr");
    fill(folder, ways, |folder, path, i| {
        let _ = if i % 2 == 0 { folder.array2(path, &base2()) } else { folder.group2(path) };
    })
}

type Way = (&'static str, &'static str, Option<&'static str>, Vec<(&'static str, String)>);

fn fill<const N: usize>(
    folder: &Folder,
    ways: [Way; N],
    good: impl Fn(&Folder, &str, usize),
) -> BTreeMap<String, Broken> {
    let mut broken = BTreeMap::new();
    for (i, (kind, says, judged, files)) in ways.into_iter().enumerate() {
        for j in 0..2 {
            good(folder, &format!("h.zarr/{}", name(3 * i + j)), i + j);
        }
        let name = name(3 * i + 2);
        for (file, text) in files {
            folder.write(&format!("h.zarr/{name}/{file}"), text);
        }
        broken.insert(name, Broken { kind, says, judged });
    }
    broken
}

/// Such a directory is not an absent one: a script that creates what is absent must not go on.
#[cfg(unix)]
#[test]
fn a_node_that_cannot_be_reached_is_not_absent() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let folder = Folder::new();
    folder.base("a.zarr");
    std::fs::create_dir(folder.join("loop.zarr")).unwrap();
    symlink("zarr.json", folder.join("loop.zarr/zarr.json")).unwrap();
    for verb in ["info", "cat", "validate"] {
        zarr(args![verb, folder.join("loop.zarr")]).fails(4, &["loop.zarr/zarr.json", "symbolic links"]);
    }
    let mode =
        |mode| std::fs::set_permissions(folder.join("a.zarr"), PermissionsExt::from_mode(mode)).unwrap();
    mode(0o000);
    let is_refused = std::fs::read_dir(folder.join("a.zarr")).is_err();
    let done = zarr(args!["info", folder.join("a.zarr")]);
    mode(0o755);
    // The superuser may read everything.
    if is_refused {
        done.fails(8, &["a.zarr/zarr.json", "Permission denied"]);
    }
}

#[test]
fn every_node_is_listed_and_broken_ones_have_a_reason() {
    for (format, make) in [(3, three as fn(&Folder) -> _), (2, two)] {
        let folder = Folder::new();
        let broken = make(&folder);
        let all: Vec<String> = (0..3 * broken.len()).map(name).collect();
        let run = |args: &[&str]| zarr([args, &[folder.join("h.zarr").to_str().unwrap()]].concat());

        let tree = run(&["tree"]).ok().text().to_owned();
        let rows = run(&["ls", "-l"]).ok().text().to_owned();
        let listed = run(&["ls"]).ok_with_notes();
        let json: Vec<Value> =
            run(&["ls", "--json"]).ok().text().lines().map(|l| serde_json::from_str(l).unwrap()).collect();
        let judged = run(&["validate", "--json"]).exits(1).json();
        assert_eq!(json.len(), all.len(), "format {format}");
        let row = |text: &str, name: &str| -> String {
            text.lines().find(|line| line.contains(name)).unwrap_or_default().to_owned()
        };
        for (name, json) in all.iter().zip(&json) {
            let at = format!("/{name}");
            assert_eq!(json["path"], *at, "format {format}");
            let node = judged["nodes"].as_array().unwrap().iter().find(|node| node["path"] == *at);
            let Some(Broken { kind, says, judged: wanted }) = broken.get(name) else {
                assert!(json["unreadable_because"].is_null() && json["zarr_format"] == format, "{json}");
                assert_eq!(node.unwrap()["findings"], json!([]), "format {format}");
                assert!(listed.text().contains(&format!("{name}\n")) && !listed.err.contains(name));
                continue;
            };
            assert_eq!(json["node_type"], *kind, "{name} of format {format}: {json}");
            let shown = if *kind == "none" { "no node" } else { kind };
            let notes = row(&listed.err, name);
            for text in [row(&tree, name), row(&rows, name), format!("{kind} {notes}"), json.to_string()] {
                let text = text.replace("\\\"", "\"");
                assert!(
                    text.contains(says) && (text.contains(shown) || text.contains(kind)),
                    "{says:?} in {text}"
                );
            }
            assert_eq!(node.map(|node| node["node_type"].as_str().unwrap()), *wanted, "{name}");
            match node {
                Some(node) => {
                    let mut findings = node["findings"].as_array().unwrap().iter();
                    assert!(findings.any(|finding| finding["severity"] == "error"), "{node}");
                }
                None => assert!(judged["not_nodes"].as_array().unwrap().iter().any(|n| n["path"] == *at)),
            }
        }
        let (nodes, bad) = (all.len() - 2, broken.len() - 2);
        let summary = format!("\n{} nodes, {bad} of them broken; 2 folders without a document\n", nodes + 1);
        assert!(tree.ends_with(&summary), "{tree}");
        // The good nodes are read.
        zarr(args!["cat", "-f", "raw", folder.join("h.zarr/n00")]).ok();
    }
}

#[test]
fn a_broken_target_node_is_an_error() {
    let folder = Folder::new();
    folder.group("h.zarr");
    folder.write("h.zarr/a/zarr.json", "{");
    for verb in ["tree", "ls", "info"] {
        zarr(args![verb, folder.join("h.zarr/a")]).fails(1, &["h.zarr", "node \"/a\"", "line 1, column 2"]);
    }
    zarr(args!["validate", folder.join("h.zarr/a")]).exits(1);
}

#[cfg(unix)]
#[test]
fn a_group_that_cannot_be_listed_hides_no_other_node() {
    use std::os::unix::fs::PermissionsExt;

    let folder = Folder::new();
    folder.group("h.zarr");
    folder.group("h.zarr/g");
    folder.base("h.zarr/g/a");
    folder.base("h.zarr/h");
    // The group can be entered, but not listed.
    let mode = |mode| fs::set_permissions(folder.join("h.zarr/g"), fs::Permissions::from_mode(mode)).unwrap();
    mode(0o311);
    if fs::read_dir(folder.join("h.zarr/g")).is_ok() {
        // A user such as root ignores permissions, so the test proves nothing.
        return;
    }
    let tree = zarr(args!["tree", folder.join("h.zarr")]).ok().text().to_owned();
    assert!(tree.contains("g         group  ") && tree.contains("cannot list"), "{tree}");
    let done = zarr(args!["validate", folder.join("h.zarr")]).exits(1);
    assert!(done.text().contains("/g (group)\n  error unreadable: "), "{}", done.text());
    mode(0o755);
}
