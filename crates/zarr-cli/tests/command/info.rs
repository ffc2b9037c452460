//! The output of `zarr info`.

use std::ffi::OsString;
use std::fs;

use serde_json::{Value, json};

use crate::args;
use crate::harness::{Folder, base, with, zarr};

fn info(folder: &Folder, path: &str) -> String {
    zarr(args!["info", folder.join(path)]).ok().text().to_owned()
}

fn info_json(folder: &Folder, path: &str) -> Value {
    zarr(args!["info", "--json", folder.join(path)]).ok().json()
}

#[test]
fn a_page_names_everything_that_matters() {
    let folder = Folder::new();
    let changes = json!({
        "shape": [24, 721, 1440], "dimension_names": ["time", null, ""],
        "chunk_grid": { "name": "regular", "configuration": { "chunk_shape": [12, 361, 720] } },
        "codecs": [
            { "name": "bytes", "configuration": { "endian": "big" } },
            { "name": "zstd", "configuration": { "level": 5, "checksum": false } }
        ],
        "attributes": { "units": "K" }
    });
    let array = folder.node("a.zarr", &with(base(), &changes));
    // Members are shown in the order of the document.
    let document = array.join("zarr.json");
    let text = fs::read_to_string(&document).unwrap();
    let text = text.replace(r#""checksum":false,"level":5"#, r#""level":5,"checksum":false"#);
    fs::write(document, text).unwrap();
    let page = info(&folder, "a.zarr");
    for line in [
        "shape       24 × 721 × 1440 int32, dimensions time, -, \"\"",
        "chunks      12 × 361 × 720 (2 × 2 × 2 of them), 0 of 8 stored, 0 bytes of 95.1 MiB",
        "codecs      bytes(endian=big) > zstd(level=5, checksum=false)",
        "fill value  7",
        "attributes  units: K",
    ] {
        assert!(page.lines().any(|l| l == line), "{line:?} is missing in\n{page}");
    }
}

#[test]
fn json_has_the_members_of_the_document() {
    let folder = Folder::new();
    folder.base("a.zarr");
    let info = info_json(&folder, "a.zarr");
    for (name, value) in base().as_object().unwrap() {
        assert_eq!(&info[name], value, "{name}");
    }
    assert_eq!((&info["chunk_shape"], &info["chunk_counts"]), (&json!([2]), &json!([2])));
    assert_eq!((&info["uncompressed_bytes"], &info["readable"]), (&json!(16), &json!(true)));
    assert_eq!((&info["dimension_names"], &info["diagnostics"]), (&json!(null), &json!([])));
}

#[test]
fn chunks_behind_an_unknown_storage_transformer_are_not_counted() {
    let folder = Folder::new();
    folder.base("a.zarr");
    for (waived, stored) in [(false, json!(null)), (true, json!(1))] {
        let transformer = json!({ "name": "example.elsewhere", "must_understand": !waived });
        folder.node("a.zarr", &with(base(), &json!({ "storage_transformers": [transformer] })));
        let info = info_json(&folder, "a.zarr");
        assert_eq!((&info["stored_chunks"], &info["readable"]), (&stored, &json!(waived)));
    }
}

#[test]
fn a_node_with_an_unknown_codec_is_described() {
    let folder = Folder::new();
    let changes = json!({ "codecs": [{ "name": "foo", "configuration": { "a": [{ "name": "bar" }] } }], "attributes": { "n": 1 } });
    folder.node("a.zarr", &with(base(), &changes));
    let info_ = info_json(&folder, "a.zarr");
    assert_eq!(
        (&info_["readable"], &info_["shape"], &info_["chunk_counts"]),
        (&json!(false), &json!([4]), &json!([2]))
    );
    assert_eq!((&info_["attributes"], &info_["uncompressed_bytes"]), (&json!({ "n": 1 }), &json!(16)));
    let page = info(&folder, "a.zarr");
    assert!(page.contains("codecs      foo(a=[bar])"), "{page}");
    assert!(
        page.contains("unreadable  member \"/codecs/0\": cannot be understood: unknown codec \"foo\""),
        "{page}"
    );
    // The same for an unknown data type and an unknown grid.
    folder.node(
        "b.zarr",
        &with(
            base(),
            &json!({ "data_type": { "name": "t", "configuration": { "x": 1 } }, "fill_value": "f" }),
        ),
    );
    let info_ = info_json(&folder, "b.zarr");
    assert_eq!((&info_["data_type"]["name"], &info_["uncompressed_bytes"]), (&json!("t"), &json!(null)));
    folder.node("c.zarr", &with(base(), &json!({ "chunk_grid": { "name": "hexagonal" } })));
    assert!(info(&folder, "c.zarr").contains("chunk grid  hexagonal"));
}

#[test]
fn attributes_print_as_valid_json() {
    let folder = Folder::new();
    let text = base()
        .to_string()
        .replace("\"attributes\":{}", "\"attributes\":{\"a\":NaN,\"b\":[-Infinity,1e400],\"NaN\":\"NaN\"}");
    folder.write("a.zarr/zarr.json", text);
    let out = zarr(args!["info", "--json", folder.join("a.zarr")]).ok();
    assert!(
        out.text().contains("{\"a\": \"NaN\", \"b\": [\"-Infinity\", 1e400], \"NaN\": \"NaN\"}"),
        "{}",
        out.text()
    );
    for part in ["\"code\": \"ZM002\"", "\"pointer\": \"/attributes/a\""] {
        assert!(out.text().contains(part), "{}", out.text());
    }
}

#[test]
fn tolerated_deviations_are_listed() {
    let folder = Folder::new();
    folder.node("a.zarr", &with(base(), &json!({ "fill_value": 7.0, "dimension_names": [null] })));
    assert!(info(&folder, "a.zarr").contains("tolerated\n  ZM040 member \"/fill_value\": "));
    assert_eq!(info_json(&folder, "a.zarr")["diagnostics"][0]["code"], "ZM040");
}

#[test]
fn a_group_lists_its_children_also_when_one_is_broken() {
    let folder = Folder::new();
    let consolidated =
        json!({ "kind": "inline", "must_understand": false, "metadata": { "a": base(), "../x": base() } });
    let group = json!({ "zarr_format": 3, "node_type": "group", "attributes": { "t": "x" }, "consolidated_metadata": consolidated });
    folder.node("h.zarr", &group);
    folder.base("h.zarr/a");
    folder.group("h.zarr/g");
    folder.base("h.zarr/g/deeper");
    folder.base("h.zarr/__xarray_dataarray_variable__");
    folder.write("h.zarr/broken/zarr.json", "{");
    folder.write("h.zarr/stray/file", "");
    // A note names the odd path.
    let h = |options: &[&str]| {
        let place = folder.join("h.zarr").into_os_string();
        zarr(["info"].iter().chain(options).map(OsString::from).chain([place])).ok_with_notes()
    };
    let json = h(&["--json", "--no-consolidated"]).json();
    assert_eq!((&json["node_type"], &json["zarr_format"]), (&json!("group"), &json!(3)));
    assert_eq!((&json["attributes"], &json["consolidated_nodes"]), (&json!({ "t": "x" }), &json!(1)));
    let children: Vec<_> = json["children"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| (c["name"].as_str().unwrap(), c["node_type"].as_str().unwrap()))
        .collect();
    assert_eq!(
        children,
        [
            ("__xarray_dataarray_variable__", "array"),
            ("a", "array"),
            ("broken", "unreadable"),
            ("g", "group")
        ]
    );
    // A node that the consolidated metadata hides is reported.
    assert_eq!(json["consolidated_lacks"], json!(["__xarray_dataarray_variable__", "broken", "g"]));
    let page = h(&[]).text().to_owned();
    let says =
        "consolidated  metadata of 1 node, without 3 children such as \"__xarray_dataarray_variable__\"\n";
    assert!(page.contains(says) && page.contains("\n  a  int32  4\n"), "{page}");
    let page = h(&["--no-consolidated"]).text().to_owned();
    assert!(page.contains("\n  a                              int32       4\n"), "{page}");
    assert!(page.contains("\n  g                              group\n"), "{page}");
    assert!(
        info(&folder, "h.zarr/g")
            .starts_with(&format!("group       {}/g, Zarr 3: 1 array", folder.join("h.zarr").display()))
    );
    fs::remove_dir_all(folder.join("h.zarr/g/deeper")).unwrap();
    assert!(info(&folder, "h.zarr/g").contains("/g, Zarr 3, empty\n"));
}

#[test]
fn a_document_cannot_move_the_cursor() {
    let folder = Folder::new();
    let text = base()
        .to_string()
        .replace("\"attributes\":{}", "\"attributes\":{\"\u{9b}31m\":\"\\u001b[2J\u{7f}\"}");
    folder.write("a.zarr/zarr.json", text);
    let page = info(&folder, "a.zarr");
    assert!(!page.chars().any(|c| c.is_control() && c != '\n'), "{page:?}");
}

#[test]
fn a_broken_document_is_an_error() {
    for (text, code, parts) in [
        ("{", 1, "line 1, column 2"),
        ("[]", 1, "expected an object"),
        (r#"{"zarr_format":3,"node_type":"group","attributes":[]}"#, 1, "member \"/attributes\""),
        (r#"{"zarr_format":3,"node_type":"group","extra":true}"#, 6, "member \"/extra\""),
        (r#"{"zarr_format":2,"node_type":"group"}"#, 6, "version 2"),
    ] {
        let folder = Folder::new();
        folder.write("a.zarr/zarr.json", text);
        zarr(args!["info", folder.join("a.zarr")]).fails(code, &["a.zarr", "node \"/\"", parts]);
    }
}

#[test]
fn the_numbers_of_a_huge_array_are_exact_or_marked_as_more() {
    let folder = Folder::new();
    let document = |shape: &[u64], chunk: &[u64]| {
        let grid = json!({ "name": "regular", "configuration": { "chunk_shape": chunk } });
        with(base(), &json!({ "shape": shape, "chunk_grid": grid }))
    };
    folder.node("a.zarr", &document(&[1 << 62; 3], &[1; 3]));
    let page = info(&folder, "a.zarr");
    assert!(page.contains(", 0 of 2^128 or more stored, 0 bytes of 1024 EiB or more\n"), "{page}");
    assert_eq!(info_json(&folder, "a.zarr")["uncompressed_bytes"], json!(null));

    folder.node("b.zarr", &document(&[1 << 62; 2], &[1; 2]));
    let page = info(&folder, "b.zarr");
    assert!(
        page.contains(", 0 of 21267647932558653966460912964485513216 stored, 0 bytes of 1024 EiB or more\n"),
        "{page}"
    );

    folder.node("c.zarr", &document(&[1 << 62, 1 << 62, 1 << 62, 0], &[1; 4]));
    let page = info(&folder, "c.zarr");
    assert!(page.contains(", 0 of 0 stored, 0 bytes of 0 bytes\n"), "{page}");
}

/// Returns the codecs for shards of `chunk_shape`.
fn sharded(chunk_shape: &[u64], codecs: &Value) -> Value {
    let index = json!([{ "name": "bytes", "configuration": { "endian": "little" } }, { "name": "crc32c" }]);
    let configuration = json!({ "chunk_shape": chunk_shape, "codecs": codecs, "index_codecs": index });
    json!([{ "name": "sharding_indexed", "configuration": configuration }])
}

#[test]
fn shards_are_described_with_their_inner_chunks() {
    let folder = Folder::new();
    let plain = base()["codecs"].clone();
    let grid = json!({ "name": "regular", "configuration": { "chunk_shape": [8, 6] } });
    let transposed = {
        let mut codecs = sharded(&[3, 2], &plain);
        let order = json!({ "name": "transpose", "configuration": { "order": [1, 0] } });
        codecs.as_array_mut().unwrap().insert(0, order);
        codecs
    };
    let nested = sharded(&[4, 6], &sharded(&[2, 3], &plain));
    for (name, codecs, rows, inner, between) in [
        (
            "plain",
            plain,
            &["chunks      8 × 6 (2 × 2 of them), 2 of 4 stored, 0 bytes of 432 bytes"][..],
            json!(null),
            json!(null),
        ),
        (
            "sharded",
            transposed,
            &[
                "shards        8 × 6 (2 × 2 of them), 2 of 4 stored, 0 bytes of 432 bytes",
                "inner chunks  2 × 3, 4 × 2 = 8 in each shard",
            ],
            json!([2, 3]),
            json!(null),
        ),
        (
            "nested",
            nested,
            &["inner shards  4 × 6, 2 × 1 = 2 in each shard", "inner chunks  2 × 3, 2 × 2 = 4 in each shard"],
            json!([2, 3]),
            json!([[4, 6]]),
        ),
    ] {
        let document = with(base(), &json!({ "shape": [9, 12], "chunk_grid": grid, "codecs": codecs }));
        folder.node(name, &document);
        // Listing reads nothing; stray objects are not counted.
        for object in ["c/0/0", "c/1/1", "c/2/0", "c/0.bak", "notes"] {
            folder.write(&format!("{name}/{object}"), "");
        }
        let page = info(&folder, name);
        for row in rows {
            assert!(page.lines().any(|line| line == *row), "{row:?} is missing in\n{page}");
        }
        let json = info_json(&folder, name);
        let shard = if inner.is_null() { json!(null) } else { json!([8, 6]) };
        assert_eq!((&json["shard_shape"], &json["inner_chunk_shape"]), (&shard, &inner), "{name}");
        assert_eq!((&json["nested_shard_shapes"], &json["stored_chunks"]), (&between, &json!(2)), "{name}");
        assert_eq!(json["chunk_shape"], json!([8, 6]));
    }
}

#[test]
fn stored_chunks_are_counted_where_possible() {
    let folder = Folder::new();
    folder.base("a.zarr");
    assert!(info(&folder, "a.zarr").contains(", 1 of 2 stored, "));
    // The place of chunks does not depend on codecs, and may be written in the form of a draft.
    let changes = json!({ "codecs": ["foo"], "chunk_key_encoding": { "name": "default", "separator": "." } });
    folder.node("a.zarr", &with(base(), &changes));
    folder.write("a.zarr/c.1", "");
    assert_eq!(info_json(&folder, "a.zarr")["stored_chunks"], json!(1));
    zarr(args!["info", "--count", folder.join("a.zarr")]).ok();

    folder.node("b.zarr", &with(base(), &json!({ "chunk_key_encoding": { "name": "foo" } })));
    let json = info_json(&folder, "b.zarr");
    assert_eq!(json["stored_chunks"], json!(null));
    assert!(json["stored_chunks_unknown_because"].as_str().unwrap().contains("\"foo\""), "{json}");
}

#[cfg(unix)]
#[test]
fn a_link_to_a_parent_directory_is_not_a_chunk() {
    let folder = Folder::new();
    folder.base("a.zarr");
    std::os::unix::fs::symlink("..", folder.join("a.zarr/c/loop")).unwrap();
    let page = info(&folder, "a.zarr");
    assert!(page.contains(", 1 of 2 stored, "), "{page}");
}
