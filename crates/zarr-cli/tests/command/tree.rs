//! The output of `zarr tree`.

use serde_json::json;

use crate::args;
use crate::harness::{Folder, base, base2, with, zarr, zarr_in};

fn hierarchy(folder: &Folder) {
    folder.group("h.zarr");
    folder.node("h.zarr/a", &with(base(), &json!({ "dimension_names": ["time"] })));
    folder.base("h.zarr/g/deep/b");
    folder.group("h.zarr/g");
    folder.group("h.zarr/g/deep");
    folder.write("h.zarr/g/deep/b/c/1", [0; 8]);
    folder.group("h.zarr/last");
}

#[test]
fn a_hierarchy_is_drawn() {
    let folder = Folder::new();
    hierarchy(&folder);
    let tree = |args: &[&str]| -> String {
        zarr_in(folder.path(), [&["tree"], args].concat()).ok().text().to_owned()
    };
    let wanted = "\
h.zarr         group
├── a          array  int32  4  time
├── g          group
│   └── deep   group
│       └── b  array  int32  4
└── last       group
6 nodes
";
    assert_eq!(tree(&["h.zarr"]), wanted);
    assert_eq!(tree(&["h.zarr/g", "-d", "1"]), "/g        group\n└── deep  group\n2 nodes\n");
    for depth in ["-d", "-L", "--depth"] {
        let names = ["tree", "ls", "du"].map(|verb| {
            let done = zarr_in(folder.path(), [verb, "h.zarr", depth, "1"]).ok();
            (done.text().contains('g'), done.text().contains("deep"))
        });
        assert_eq!(names, [(true, false); 3], "{depth}");
    }
    assert_eq!(tree(&["h.zarr/a"]), "/a  array  int32  4  time\n1 node\n");
}

#[test]
fn sizes_count_the_stored_objects() {
    let folder = Folder::new();
    hierarchy(&folder);
    folder.write("h.zarr/broken/zarr.json", "{");
    folder.write("h.zarr/broken/c/0", [0; 100]);
    folder.write("h.zarr/g/.zgroup", "{}"); // left by a migration
    for depth in [1, 9] {
        let depth = depth.to_string();
        let json = zarr(args!["tree", "--sizes", "--json", "-L", &depth, folder.join("h.zarr")]).ok().json();
        let size = |path: &str| {
            let node = json["nodes"].as_array().unwrap().iter().find(|node| node["path"] == path).unwrap();
            (node["stored_bytes"].as_u64().unwrap(), node["stored_objects"].as_u64().unwrap())
        };
        // `a` has no chunk. Objects of a broken node count as stored.
        assert_eq!(
            [size("/a"), size("/g"), size("/broken"), size("/last")],
            [(0, 0), (16, 2), (100, 1), (0, 0)]
        );
        assert_eq!((size("/"), json["broken"].as_u64()), ((116, 3), Some(1)));
    }
}

#[test]
fn formats_may_be_mixed() {
    let folder = Folder::new();
    folder.group("h.zarr");
    folder.array2("h.zarr/two", &base2());
    folder.group2("h.zarr/g");
    folder.base("h.zarr/g/three");
    let json = zarr(args!["tree", "--json", folder.join("h.zarr")]).ok().json();
    let nodes: Vec<_> =
        json["nodes"].as_array().unwrap().iter().map(|n| n["zarr_format"].as_u64().unwrap()).collect();
    assert_eq!(nodes, [3, 2, 3, 2]);
}

#[test]
fn consolidated_metadata_is_trusted_by_default() {
    let folder = Folder::new();
    let consolidated = json!({ "kind": "inline", "must_understand": false, "metadata": { "gone": base() } });
    folder.node(
        "h.zarr",
        &json!({ "zarr_format": 3, "node_type": "group", "consolidated_metadata": consolidated }),
    );
    folder.base("h.zarr/new");
    let two = json!({ "zarr_consolidated_format": 1, "metadata": { "gone/.zarray": base2() } });
    folder.group2("i.zarr");
    folder.array2("i.zarr/new", &base2());
    folder.write("i.zarr/.zmetadata", two.to_string());
    for store in ["h.zarr", "i.zarr"] {
        let names = |verb: &str, option: &str| -> String {
            let done = zarr(args![verb, option, folder.join(store)]);
            let done = if option == "--no-consolidated" { done.ok() } else { done.ok_with_notes() };
            done.text().to_owned()
        };
        assert!(
            names("tree", "-L9").contains("── gone") && !names("tree", "-L9").contains("── new"),
            "{store}"
        );
        assert!(!names("tree", "--no-consolidated").contains("── gone"), "{store}");
        assert_eq!([names("ls", "-R"), names("ls", "--no-consolidated")], ["gone\n", "new\n"], "{store}");
        // `validate` reads the documents, and reports the stale metadata.
        let done = zarr(args!["validate", folder.join(store)]).ok();
        for part in [
            "warning stale",
            "\"gone\" is in the consolidated metadata, and not in the store",
            "\"new\" is missing",
        ] {
            assert!(done.text().contains(part), "{part:?} is missing in {}", done.text());
        }
    }
    // Consolidated metadata that cannot be read is not used.
    folder.write("i.zarr/.zmetadata", "{");
    let done = zarr(args!["ls", folder.join("i.zarr")]).ok_with_notes();
    assert_eq!(done.text(), "new\n");
    done.says(&["the consolidated metadata cannot be", "line 1, column 2"]);
    zarr(args!["validate", folder.join("i.zarr")]).exits(1);
}

#[test]
fn stale_consolidated_metadata_is_noted() {
    let folder = Folder::new();
    hierarchy(&folder);
    zarr_in(folder.path(), ["consolidate", "h.zarr"]).ok();
    for name in ["a", "g"] {
        std::fs::remove_dir_all(folder.join("h.zarr").join(name)).unwrap();
    }
    for verb in [&["tree"][..], &["ls"], &["ls", "-R", "--json"], &["tree", "-L", "1"]] {
        let done = zarr_in(folder.path(), [verb, &["h.zarr"]].concat()).ok_with_notes();
        done.says(&["consolidated metadata", "\"a\" and 1 more child", "absent", "--no-consolidated"]);
        zarr_in(folder.path(), [verb, &["--no-consolidated", "h.zarr"]].concat()).ok();
    }
    zarr_in(folder.path(), ["consolidate", "h.zarr"]).ok();
    zarr_in(folder.path(), ["tree", "h.zarr"]).ok();
}
