//! The members of `--json` have the same names in all verbs, and their documents a version.

use serde_json::json;

use crate::args;
use crate::harness::{Folder, base2, zarr};

/// Makes a consolidated group with an array and a group, and a folder that is not a node.
fn hierarchy() -> Folder {
    let folder = Folder::new();
    folder.group("h.zarr");
    folder.base("h.zarr/a");
    folder.group("h.zarr/g");
    zarr(args!["consolidate", folder.join("h.zarr")]).ok();
    folder.write("h.zarr/stray/file", "");
    folder.group2("old.zarr");
    folder.array2("old.zarr/a", &base2());
    folder
}

#[test]
fn each_document_has_a_version_and_each_node_a_path_and_a_type() {
    let folder = hierarchy();
    for (verb, path, nodes) in [
        (&["info"][..], "h.zarr", "children"),
        (&["info"], "h.zarr/a", ""),
        (&["tree"], "h.zarr", "nodes"),
        (&["validate"], "h.zarr", "nodes"),
        (&["explain"], "h.zarr/a", ""),
        (&["rm", "-r", "--dry-run"], "h.zarr", "nodes"),
        (&["consolidate", "--check"], "h.zarr", ""),
        (&["migrate", "v3", "--dry-run"], "old.zarr", "nodes"),
        (&["migrate", "v3"], "old.zarr", "nodes"),
        (&["remove-metadata", "v2", "--dry-run"], "old.zarr", "nodes"),
        (&["consolidate"], "h.zarr", ""),
        (&["sweep"], "h.zarr", ""),
    ] {
        let args = verb.iter().copied().map(Into::into).chain(args!["--json", folder.join(path)]);
        let told = zarr(args).ok().json();
        assert_eq!(told["schema_version"], json!(1), "{verb:?}");
        for node in told[nodes].as_array().into_iter().flatten() {
            assert!(node["path"].as_str().is_some_and(|path| path.starts_with('/')), "{verb:?}: {node}");
            assert!(node.get("kind").is_none(), "{verb:?}: {node}");
            assert!(verb[0] == "rm" || node.get("node_type").is_some(), "{verb:?}: {node}");
        }
        for other in told["not_nodes"].as_array().into_iter().flatten() {
            assert_eq!(other["path"], "/stray", "{verb:?}");
        }
    }
}

#[test]
fn the_members_of_listed_arrays_are_those_of_info() {
    let folder = hierarchy();
    let info = zarr(args!["info", "--json", folder.join("h.zarr/a")]).ok().json();
    let tree = zarr(args!["tree", "--json", folder.join("h.zarr")]).ok().json();
    let line = zarr(args!["ls", "--json", folder.join("h.zarr/a")]).ok().json();
    let child = zarr(args!["info", "--json", folder.join("h.zarr")]).ok().json()["children"][0].clone();
    for listed in [&tree["nodes"][1], &line, &child] {
        for (name, value) in listed.as_object().unwrap() {
            let wanted = if name == "name" { Some(json!("a")) } else { info.get(name).cloned() };
            assert_eq!(Some(value), wanted.as_ref(), "{name}");
        }
        for name in ["path", "node_type", "shape", "chunk_grid", "chunk_shape", "fill_value", "codecs"] {
            assert!(listed.get(name).is_some(), "{name}");
        }
    }
}
