//! What `zarr copy` writes, and what it leaves unchanged.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::args;
use crate::harness::{Done, Folder, array, base, command, le, with, zarr, zarr_in};

fn copy(folder: &Folder, source: &str, destination: &str, options: &[&str]) -> Done {
    let mut args = args!["copy", "-q", folder.join(source), folder.join(destination)].to_vec();
    args.extend(options.iter().map(Into::into));
    zarr(args)
}

fn cat(folder: &Folder, path: &str) -> Vec<u8> {
    zarr(args!["cat", "-f", "raw", folder.join(path)]).ok().out
}

/// The folder holds only these entries.
#[track_caller]
fn only(folder: &Folder, names: &[&str]) {
    let entries = fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
    let mut found: Vec<_> = entries.collect();
    found.sort();
    assert_eq!(found, names);
}

#[test]
fn a_copy_has_the_same_elements_and_metadata() {
    let folder = Folder::new();
    folder.base("a.zarr");
    let done = zarr(args!["copy", "--verify", folder.join("a.zarr"), folder.join("b.zarr")]).ok();
    assert_eq!(done.text(), "copied 1 array, 16 bytes of elements; compared 1 object of 8 bytes\n");
    assert_eq!(cat(&folder, "b.zarr"), le(&[1, 2, 7, 7]));
    assert_eq!(folder.document("b.zarr"), base());
    // The missing chunk is still missing.
    assert_eq!(folder.files("b.zarr"), ["c/0", "zarr.json"]);
    only(&folder, &["a.zarr", "b.zarr"]);
}

#[test]
fn metadata_is_written_in_the_form_that_every_reader_accepts() {
    let folder = Folder::new();
    folder.write(
        "a.zarr/zarr.json",
        r#"{"zarr_format": 3.0, "node_type": "array", "shape": [4.0, 2], "data_type": {"name": "float32"},
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2.0, 2]}, "x": 1},
            "chunk_key_encoding": {"name": "v2", "must_understand": true, "separator": "/"}, "fill_value": "0x7fc00001",
            "codecs": [{"name": "transpose", "configuration": {"order": "F"}}, {"name": "endian", "configuration": {"endian": "big"}},
                       {"name": "blosc", "configuration": {"cname": "lz4", "clevel": 5.0, "shuffle": 1}}, "crc32c",
                       {"name": "unheard-of", "must_understand": false}],
            "storage_transformers": [], "dimension_names": ["y", null], "future": {"must_understand": false, "a": [1.50]},
            "attributes": {"z": 1.50, "a": 12345678901234567890123, "e": "\u00e9"}, "nothing": null}"#,
    );
    copy(&folder, "a.zarr", "b.zarr", &["--verify"]).ok();
    let wanted = json!({
        "zarr_format": 3, "node_type": "array", "shape": [4, 2], "data_type": "float32",
        "chunk_grid": { "name": "regular", "configuration": { "chunk_shape": [2, 2] } },
        "chunk_key_encoding": { "name": "v2", "configuration": { "separator": "/" } },
        "fill_value": "0x7fc00001",
        "codecs": [
            { "name": "transpose", "configuration": { "order": [1, 0] } },
            { "name": "bytes", "configuration": { "endian": "big" } },
            { "name": "blosc", "configuration": { "cname": "lz4", "clevel": 5, "shuffle": "shuffle", "typesize": 4, "blocksize": 0 } },
            { "name": "crc32c" }
        ],
        "attributes": Value::Null, "dimension_names": ["y", null], "future": { "must_understand": false, "a": [1.50] }
    });
    let mut document = folder.document("b.zarr");
    document["attributes"].take();
    assert_eq!(document, wanted);
    // Members that are not ours keep their bytes.
    let text = fs::read_to_string(folder.join("b.zarr/zarr.json")).unwrap();
    for spelled in ["\"z\": 1.50,", "\"a\": 12345678901234567890123,", "\"e\": \"\\u00e9\"", "1.50\n"] {
        assert!(text.contains(spelled), "{spelled:?} is missing in\n{text}");
    }
    // A strict reader accepts it. Two warnings: a long integer and an unknown member.
    let json = zarr(args!["validate", "--json", folder.join("b.zarr")]).ok().json();
    assert_eq!((&json["errors"], &json["warnings"]), (&json!(0), &json!(2)));
    assert_eq!(cat(&folder, "b.zarr"), [1, 0, 0xc0, 0x7f].repeat(8));
}

#[test]
fn other_chunks_keep_the_codecs_and_other_codecs_the_chunks() {
    let folder = Folder::new();
    let codecs = json!([{ "name": "bytes", "configuration": { "endian": "big" } }, { "name": "gzip", "configuration": { "level": 1 } }]);
    folder.node(
        "z.zarr",
        &array(
            &[10, 10],
            "int32",
            &[10, 10],
            &json!(0),
            &json!([{ "name": "bytes", "configuration": { "endian": "little" } }]),
        ),
    );
    let numbers: Vec<i32> = (1..101).collect();
    folder.write("z.zarr/c/0/0", le(&numbers));
    copy(&folder, "z.zarr", "a.zarr", &["--chunks", "10,10", "--codecs", &codecs.to_string()]).ok();
    assert_eq!(folder.document("a.zarr")["codecs"], codecs);

    copy(&folder, "a.zarr", "b.zarr", &["--chunks", "3,4", "--verify"]).ok();
    let document = folder.document("b.zarr");
    assert_eq!(
        (&document["codecs"], &document["chunk_grid"]["configuration"]["chunk_shape"]),
        (&codecs, &json!([3, 4]))
    );
    assert_eq!(folder.files("b.zarr").len(), 1 + 4 * 3);
    assert_eq!(cat(&folder, "b.zarr"), le(&numbers));

    copy(
        &folder,
        "b.zarr",
        "c.zarr",
        &["--codecs", "transpose(1,0),blosc:zstd:3:bitshuffle,crc32c", "--verify"],
    )
    .ok();
    let document = folder.document("c.zarr");
    assert_eq!(document["chunk_grid"]["configuration"]["chunk_shape"], json!([3, 4]));
    assert_eq!(
        document["codecs"],
        json!([
            { "name": "transpose", "configuration": { "order": [1, 0] } },
            { "name": "bytes", "configuration": { "endian": "little" } },
            { "name": "blosc", "configuration": { "cname": "zstd", "clevel": 3, "shuffle": "bitshuffle", "typesize": 4, "blocksize": 0 } },
            { "name": "crc32c" }
        ])
    );
    assert_eq!(cat(&folder, "c.zarr"), le(&numbers));

    copy(&folder, "c.zarr", "d.zarr", &["--codecs", "none", "--chunks", "1,100"]).ok();
    assert_eq!(
        folder.document("d.zarr")["codecs"],
        json!([{ "name": "bytes", "configuration": { "endian": "little" } }])
    );
    assert_eq!(cat(&folder, "d.zarr"), le(&numbers));
    // A chunk at the edge is stored whole.
    assert_eq!(fs::metadata(folder.join("d.zarr/c/0/0")).unwrap().len(), 400);
}

#[test]
fn a_scalar_has_no_chunk_lengths() {
    let folder = Folder::new();
    folder.node("a.zarr", &array(&[], "uint8", &[], &json!(0), &json!([{ "name": "bytes" }])));
    folder.write("a.zarr/c", [9]);
    copy(&folder, "a.zarr", "b.zarr", &["--chunks", "", "--codecs", "zstd", "--verify"]).ok();
    assert_eq!(cat(&folder, "b.zarr"), [9]);
    copy(&folder, "a.zarr", "c.zarr", &["--chunks", "1"]).fails(2, &["rank 0", "rank 1"]);
}

#[test]
fn a_huge_array_with_few_stored_chunks_is_copied_quickly() {
    let folder = Folder::new();
    let mut document = base();
    document["shape"] = json!([1_u64 << 60]);
    document["chunk_grid"]["configuration"]["chunk_shape"] = json!([1000]);
    folder.node("a.zarr", &document);
    folder.write("a.zarr/c/5", le(&(0..1000).collect::<Vec<_>>()));
    folder.write("a.zarr/c/1152921504606846", le(&[1; 1000]));
    folder.write("a.zarr/c/1152921504606847", le(&[3; 1000]));
    folder.write("a.zarr/c/other", "");
    copy(&folder, "a.zarr", "b.zarr", &["--chunks", "700", "--verify"]).ok();
    // 2^60 = 700 × 1647030720866924 + 176. The part outside of the array is not copied.
    let wanted =
        ["c/1647030720866922", "c/1647030720866923", "c/1647030720866924", "c/7", "c/8", "zarr.json"];
    assert_eq!(folder.files("b.zarr"), wanted);
    let part = |path: &str| zarr(args!["cat", "-f", "raw", "-s", "-1000:", folder.join(path)]).ok().out;
    assert!(part("a.zarr") == part("b.zarr"));

    // One chunk that the copy would split into 2^60.
    document["chunk_grid"]["configuration"]["chunk_shape"] = json!([1_u64 << 60]);
    folder.node("c.zarr", &document);
    copy(&folder, "c.zarr", "d.zarr", &["--chunks", "1", "--verify"]).ok();
    assert_eq!(folder.files("d.zarr"), ["zarr.json"]);
    folder.write("c.zarr/c/0", "");
    copy(&folder, "c.zarr", "e.zarr", &["--chunks", "1"])
        .fails(11, &["c.zarr", "chunk [0] would be cut into more than 2^20 blocks"]);
}

#[test]
fn a_hierarchy_is_copied_with_groups_and_odd_names() {
    let folder = Folder::new();
    let consolidated = json!({ "kind": "inline", "must_understand": false, "metadata": { "a": base() } });
    folder.write(
        "h.zarr/zarr.json",
        format!(
            r#"{{"node_type": "group", "zarr_format": 3, "attributes": {{"v": 1.50}},
                "consolidated_metadata": {consolidated}, "future": {{"must_understand": false}}}}"#
        ),
    );
    folder.base("h.zarr/a");
    folder.group("h.zarr/g");
    folder.base("h.zarr/g/c");
    folder.base("h.zarr/__xarray_dataarray_variable__");
    folder.node("h.zarr/g/map", &with(base(), &json!({
        "shape": [2, 2], "chunk_grid": { "name": "regular", "configuration": { "chunk_shape": [2, 2] } }
    })));
    folder.write("h.zarr/stray/file", "");
    let done = copy(&folder, "h.zarr", "i.zarr", &["--chunks", "1,1", "--verify"]).ok_with_notes();
    done.says(&["\"/__xarray_dataarray_variable__\"", "ZM060"]);
    done.says(&["array \"/a\" has rank 1, not 2: it keeps its chunks"]);
    done.says(&["\"/stray\" is not copied: there is no metadata document"]);
    for array in ["a", "g/c", "__xarray_dataarray_variable__"] {
        assert_eq!(cat(&folder, &format!("i.zarr/{array}")), le(&[1, 2, 7, 7]), "{array}");
    }
    assert_eq!(folder.document("i.zarr/g/map")["chunk_grid"]["configuration"]["chunk_shape"], json!([1, 1]));
    let root = json!({ "zarr_format": 3, "node_type": "group", "attributes": { "v": 1.50 }, "future": { "must_understand": false } });
    let mut document = folder.document("i.zarr");
    // The copy is consolidated like the source, with the current nodes.
    let map = document.as_object_mut().unwrap().remove("consolidated_metadata").unwrap();
    let nodes: Vec<&String> = map["metadata"].as_object().unwrap().keys().collect();
    assert_eq!(nodes, ["__xarray_dataarray_variable__", "a", "g", "g/c", "g/map"]);
    assert_eq!(document, root);
    assert!(!folder.join("i.zarr/stray").exists());
    // A part of it, named by its path.
    copy(&folder, "h.zarr/g", "g.zarr", &[]).ok();
    assert_eq!(cat(&folder, "g.zarr/c"), le(&[1, 2, 7, 7]));
}

#[test]
fn a_copy_that_fails_leaves_nothing_and_names_all_that_failed() {
    let folder = Folder::new();
    folder.group("h.zarr");
    folder.base("h.zarr/a");
    folder.node("h.zarr/b", &with(base(), &json!({ "codecs": [{ "name": "foo" }] })));
    folder.write("h.zarr/c/zarr.json", "{");
    let done = copy(&folder, "h.zarr", "i.zarr", &[]).exits(6);
    done.says(&["array \"/b\"", "unknown codec \"foo\"", "\n", "node \"/c\"", "line 1"]);
    only(&folder, &["h.zarr"]);

    let folder = Folder::new();
    folder.group("h.zarr");
    folder.base("h.zarr/a");
    for broken in ["b", "c"] {
        folder.base(&format!("h.zarr/{broken}"));
        folder.write(&format!("h.zarr/{broken}/c/1"), [0]);
    }
    // Only decoded chunks are found to be broken.
    let done = copy(&folder, "h.zarr", "i.zarr", &["--codecs", "gzip"]).exits(5);
    done.says(&[
        "array \"/b\", chunk [1] (key \"b/c/1\")",
        "\n",
        "array \"/c\", chunk [1]",
        "nothing was copied to",
    ]);
    only(&folder, &["h.zarr"]);
}

#[test]
fn an_existing_destination_is_replaced_only_on_request() {
    let folder = Folder::new();
    folder.base("a.zarr");
    folder.group("b.zarr");
    folder.write("b.zarr/old", "old");
    copy(&folder, "a.zarr", "b.zarr", &[]).fails(2, &["b.zarr", "exists already", "--if-exists replace"]);
    folder.write("b.zarr/.git/HEAD", "");
    copy(&folder, "a.zarr", "b.zarr", &["--if-exists", "replace"])
        .fails(2, &["b.zarr", "\"/.git\", \"/old\" do not belong to a node", "--force"]);
    assert_eq!(folder.files("b.zarr"), [".git/HEAD", "old", "zarr.json"]);

    copy(&folder, "a.zarr", "b.zarr", &["--if-exists", "replace", "--force"]).ok();
    assert_eq!(folder.files("b.zarr"), ["c/0", "zarr.json"]);
    only(&folder, &["a.zarr", "b.zarr"]);

    // A failure keeps the old node.
    folder.write("a.zarr/c/1", [0]);
    copy(&folder, "a.zarr", "b.zarr", &["--if-exists", "replace", "--codecs", "gzip"]).exits(5);
    assert_eq!(cat(&folder, "b.zarr"), le(&[1, 2, 7, 7]));
    only(&folder, &["a.zarr", "b.zarr"]);
    fs::remove_file(folder.join("a.zarr/c/1")).unwrap();

    // A directory that is not a Zarr node is never replaced.
    folder.write("home/diary", "dear");
    copy(&folder, "a.zarr", "home", &["--if-exists", "replace"]).fails(2, &["home", "is not a Zarr node"]);
    folder.write("file", "");
    copy(&folder, "a.zarr", "file", &["--if-exists", "replace"]).fails(2, &["file", "not a directory"]);
    fs::create_dir(folder.join("empty")).unwrap();
    copy(&folder, "a.zarr", "empty", &[]).ok();
    assert_eq!(cat(&folder, "empty"), le(&[1, 2, 7, 7]));
}

#[test]
fn the_name_of_another_format_is_refused() {
    let folder = Folder::new();
    folder.base("a.zarr");
    for name in ["b.nc", "b.H5", "out.zip.tar", "b.tar.gz"] {
        copy(&folder, "a.zarr", name, &[]).fails(2, &[name, "writes Zarr only", &format!("{name}/\"")]);
        copy(&folder, "a.zarr", name, &["--join", "night"]).fails(2, &[name, "writes Zarr only"]);
    }
    only(&folder, &["a.zarr"]);
    copy(&folder, "a.zarr", "b.nc/", &[]).ok();
    copy(&folder, "a.zarr", "b.nc", &["--if-exists", "replace"]).ok();
}

#[test]
fn an_array_can_be_copied_over_itself_but_not_over_its_group() {
    let folder = Folder::new();
    folder.group("h.zarr");
    folder.base("h.zarr/a");
    copy(&folder, "h.zarr/a", "h.zarr", &["--if-exists", "replace"])
        .fails(2, &["is inside of", "would be erased"]);
    copy(&folder, "h.zarr/a", "h.zarr/a", &["--if-exists", "replace", "--chunks", "1", "--verify"]).ok();
    assert_eq!(folder.files("h.zarr"), ["a/c/0", "a/c/1", "a/zarr.json", "zarr.json"]);
    assert_eq!(cat(&folder, "h.zarr/a"), le(&[1, 2, 7, 7]));
}

#[test]
fn a_copy_into_a_hierarchy_is_a_node_of_it() {
    let folder = Folder::new();
    folder.base("a.zarr");
    folder.node(
        "h.zarr",
        &json!({
            "zarr_format": 3, "node_type": "group",
            "consolidated_metadata": { "kind": "inline", "must_understand": false, "metadata": {} }
        }),
    );
    copy(&folder, "a.zarr", "h.zarr/x/y", &[]).ok();
    // Groups are created above, so that the copy can be found.
    assert_eq!(folder.files("h.zarr"), ["x/y/c/0", "x/y/zarr.json", "x/zarr.json", "zarr.json"]);
    assert_eq!(folder.document("h.zarr/x")["node_type"], "group");
    copy(&folder, "a.zarr", "h.zarr/z", &[]).ok();
    // Rule F44: the consolidated metadata has all new nodes.
    assert_eq!(folder.consolidated("h.zarr"), ["x", "z", "x/y"]);
    // An array cannot contain nodes.
    copy(&folder, "a.zarr", "h.zarr/z/deeper", &[]).fails(2, &["is an array and cannot contain nodes"]);
    for deep in ["h.zarr/z/c/x", "h.zarr/z/new/er/x"] {
        copy(&folder, "a.zarr", deep, &[]).fails(2, &["h.zarr/z", "is an array and cannot contain nodes"]);
    }
    assert_eq!(folder.files("h.zarr/z"), ["c/0", "zarr.json"]);
    // The same for an unreadable array and for one of an older format.
    folder.node("bad.zarr", &with(base(), &json!({ "shape": [-1] })));
    folder.write("old.zarr/.zarray", "{}");
    for deep in ["bad.zarr/c/x", "old.zarr/0/x"] {
        copy(&folder, "a.zarr", deep, &[]).fails(2, &["is an array and cannot contain nodes"]);
    }
    // Outside of a hierarchy missing directories are created as plain directories.
    copy(&folder, "a.zarr", "some/where/b.zarr", &[]).ok();
    assert_eq!(folder.files("some"), ["where/b.zarr/c/0", "where/b.zarr/zarr.json"]);
}

#[test]
fn unsupported_copies_are_refused_with_a_message() {
    let folder = Folder::new();
    folder.base("a.zarr");
    zarr(args!["copy", folder.join("a.zarr"), "foo://bucket/b.zarr"]).fails(6, &["unknown scheme \"foo\""]);
    let unknown = r#"[{"name":"bytes","configuration":{"endian":"little"}},{"name":"foo"}]"#;
    copy(&folder, "a.zarr", "c.zarr", &["--codecs", unknown]).fails(6, &["unknown codec \"foo\""]);
    copy(&folder, "a.zarr", "c.zarr", &["--codecs", "transpose(1,0)"])
        .fails(2, &["copy of array \"/\"", "order"]);
    assert!(!folder.join("c.zarr").exists());
}

#[test]
fn booleans_other_than_0_and_1_are_not_encoded_again() {
    let folder = Folder::new();
    folder.node("a.zarr", &array(&[3], "bool", &[3], &json!(false), &json!([{ "name": "bytes" }])));
    folder.write("a.zarr/c/0", [0, 2, 1]);
    let done = copy(&folder, "a.zarr", "b.zarr", &["--chunks", "4"]).exits(5);
    done.says(&["a.zarr", "the element at [1] is stored as the byte 2"]);
    assert!(!folder.join("b.zarr").exists());
    // Stored objects are copied as they are.
    copy(&folder, "a.zarr", "b.zarr", &[]).ok();
    assert_eq!(fs::read(folder.join("b.zarr/c/0")).unwrap(), [0, 2, 1]);
}

#[test]
fn nothing_is_written_outside_of_the_destination() {
    let folder = Folder::new();
    let metadata =
        json!({ "../../out": base(), "/abs": base(), "a/../../b": base(), "": base(), "__zarr": base() });
    folder.node(
        "in/h.zarr",
        &json!({
            "zarr_format": 3, "node_type": "group",
            "consolidated_metadata": { "kind": "inline", "must_understand": false, "metadata": metadata }
        }),
    );
    folder.base("in/h.zarr/a");
    folder.base("in/h.zarr/__zarr_own");
    folder.base("in/h.zarr/...");
    folder.base("outside.zarr");
    #[cfg(unix)]
    std::os::unix::fs::symlink("../../outside.zarr", folder.join("in/h.zarr/link")).unwrap();
    let before: Vec<String> = folder.files("").into_iter().filter(|f| !f.starts_with("to/")).collect();
    copy(&folder, "in/h.zarr", "to/h.zarr", &[]).ok();
    let after: Vec<String> = folder.files("").into_iter().filter(|f| !f.starts_with("to/h.zarr/")).collect();
    assert_eq!(after, before);
    // Not names of nodes.
    assert!(!folder.join("to/h.zarr/__zarr_own").exists() && !folder.join("to/h.zarr/...").exists());
    // A link stands for its target.
    assert_eq!(cat(&folder, "to/h.zarr/link"), le(&[1, 2, 7, 7]));
    assert!(!folder.join("to/h.zarr/link").is_symlink());
}

#[test]
fn bare_nan_in_attributes_is_kept_with_a_note() {
    let folder = Folder::new();
    folder.write(
        "a.zarr/zarr.json",
        base().to_string().replace("\"attributes\":{}", "\"attributes\":{\"a\":NaN}"),
    );
    copy(&folder, "a.zarr", "b.zarr", &["--verify"]).ok_with_notes().says(&["ZM002", "/attributes/a"]);
    assert_eq!(
        fs::read(folder.join("a.zarr/zarr.json")).unwrap(),
        fs::read(folder.join("b.zarr/zarr.json")).unwrap()
    );
    copy(&folder, "a.zarr", "c.zarr", &["--chunks", "1"]).ok_with_notes();
    assert!(fs::read_to_string(folder.join("c.zarr/zarr.json")).unwrap().contains("\"a\": NaN"));
}

#[test]
fn relative_paths_of_a_copy_are_resolved() {
    let folder = Folder::new();
    folder.base("a.zarr");
    zarr_in(folder.path(), ["copy", "-q", "a.zarr", "b.zarr"]).ok();
    zarr_in(&folder.join("a.zarr"), ["copy", "-q", ".", "../c.zarr"]).ok();
    only(&folder, &["a.zarr", "b.zarr", "c.zarr"]);
    zarr_in(folder.path(), ["copy", "-q", "a.zarr", "new/../d.zarr"]).fails(2, &["has `..` after"]);
    zarr_in(folder.path(), ["copy", "-q", "a.zarr", ""]).exits(2);
    zarr_in(&folder.join("b.zarr"), ["copy", "-q", "../a.zarr", "."]).fails(2, &["exists already"]);
    #[cfg(unix)]
    std::os::unix::fs::symlink("nowhere", folder.join("link")).unwrap();
    zarr_in(folder.path(), ["copy", "-q", "a.zarr", "link"]).fails(3, &["link"]);
    // The target of a link is written, and the link stays.
    #[cfg(unix)]
    std::os::unix::fs::symlink("b.zarr", folder.join("other")).unwrap();
    zarr_in(folder.path(), ["copy", "-q", "a.zarr", "other", "--if-exists", "replace", "--chunks", "4"]).ok();
    assert!(folder.join("other").is_symlink());
    assert_eq!(folder.document("b.zarr")["chunk_grid"]["configuration"]["chunk_shape"], json!([4]));
}

#[cfg(unix)]
#[test]
fn a_killed_copy_leaves_nothing_that_looks_like_a_node() {
    let folder = Folder::new();
    folder.group("h.zarr");
    folder.base("h.zarr/a");
    let document = array(&[32 << 20], "uint8", &[1 << 18], &json!(0), &json!([{ "name": "bytes" }]));
    folder.node("h.zarr/b", &document);
    let mut state = 1_u32;
    for chunk in 0..128 {
        let number = |_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 28) as u8
        };
        folder.write(&format!("h.zarr/b/c/{chunk}"), (0..1 << 18).map(number).collect::<Vec<u8>>());
    }
    let mut child = command()
        .args(args!["copy", "-q", "--codecs", "zstd:19", folder.join("h.zarr"), folder.join("i.zarr")])
        .spawn()
        .unwrap();
    let hidden = format!(".i.zarr.{}.0.partial", child.id());
    // The first array is complete, the second takes seconds.
    let begun = Instant::now();
    while !folder.join(&hidden).join("b").exists() || folder.join(&hidden).join("b/zarr.json").exists() {
        assert!(begun.elapsed() < Duration::from_secs(60) && child.try_wait().unwrap().is_none());
        std::thread::sleep(Duration::from_millis(1));
    }
    std::thread::sleep(Duration::from_millis(100));
    child.kill().unwrap();
    assert!(!child.wait().unwrap().success());
    only(&folder, &[&hidden, "h.zarr"]);
    let left = folder.files(&hidden);
    assert!(left.iter().any(|file| file == "a/c/0"), "{left:?}");
    assert!(!left.iter().any(|file| file.ends_with("zarr.json")), "{left:?}");
}

#[test]
fn impossible_chunks_are_refused_before_anything_is_written() {
    let folder = Folder::new();
    folder.group("h.zarr");
    let codecs = json!([{ "name": "bytes", "configuration": { "endian": "little" } }]);
    folder.node("h.zarr/a", &array(&[2000; 3], "float32", &[100; 3], &json!(0), &codecs));
    let done = copy(&folder, "h.zarr", "i.zarr", &["--chunks", "1000,1000,1000"]).exits(11);
    done.says(&["copy of array \"/a\": chunks of 3.73 GiB exceed the limit of 1.00 GiB per chunk"]);
    assert_eq!(done.err.matches("array").count(), 1, "{}", done.err);
    copy(&folder, "h.zarr/a", "i.zarr", &["--chunks", "1000,1000,1000"]).fails(11, &["1.00 GiB per chunk"]);
    // The shape fits no array of the hierarchy.
    let done = copy(&folder, "h.zarr", "i.zarr", &["--chunks", "5,5,5,5"]);
    done.fails(2, &["h.zarr", "the chunk shape has rank 4, but no array has that rank"]);
    only(&folder, &["h.zarr"]);
}

#[test]
fn equal_errors_of_many_arrays_are_one_line() {
    let folder = Folder::new();
    folder.group("h.zarr");
    (0..20).for_each(|i| drop(folder.base(&format!("h.zarr/n{i:02}"))));
    copy(&folder, "h.zarr", "i.zarr", &["--codecs", "zstd:99"])
        .fails(2, &["copy of array \"/n00\"", "zstd", "19 more nodes have the same error"]);
    copy(&folder, "h.zarr/n00", "i.zarr", &["--codecs", "zstd:99"]).fails(2, &["copy of array \"/n00\""]);
}

#[test]
fn a_dry_run_says_what_is_read_and_written_and_writes_nothing() {
    let folder = Folder::new();
    folder.base("a.zarr");
    let run = |options: &[&str]| copy(&folder, "a.zarr", "b.zarr", &[&["--dry-run"], options].concat()).ok();
    assert_eq!(
        run(&[]).text(),
        "\"/\": at most 2 objects copied as stored\nwould copy 1 array, 16 bytes of elements\n"
    );
    let done = run(&["--chunks", "1"]);
    let text = done.text();
    assert!(text.starts_with("\"/\": 1 pass, 2 reads of 16 bytes, 4 writes of 16 bytes, "), "{text}");
    let json = run(&["--chunks", "1", "--max-memory", "1MiB", "--json"]).json();
    let array = &json["nodes"][0];
    assert_eq!(
        (&json["schema_version"], &array["path"], &array["reads"], &array["writes"]),
        (&json!(1), &json!("/"), &json!(2), &json!(4))
    );
    assert!(array["memory"].as_u64().unwrap() <= 1 << 20);
    only(&folder, &["a.zarr"]);
}

#[test]
fn two_passes_leave_nothing_between() {
    let folder = Folder::new();
    let bytes = json!([{ "name": "bytes", "configuration": { "endian": "little" } }]);
    folder.node("maps", &array(&[128, 16, 16], "int32", &[1, 16, 16], &json!(0), &bytes));
    let numbers: Vec<i32> = (1..=128 * 256).collect();
    for (time, map) in numbers.chunks(256).enumerate() {
        folder.write(&format!("maps/c/{time}/0/0"), le(map));
    }
    let options = ["--chunks", "128,1,1", "--max-memory", "30kB"];
    let plan =
        copy(&folder, "maps", "series", &[&options[..], &["--dry-run", "--json"]].concat()).ok().json();
    let work = &plan["nodes"][0];
    assert_eq!((&work["passes"], &work["intermediate_bytes"]), (&json!(2), &json!(128 * 256 * 4)));
    copy(&folder, "maps", "series", &[&options[..], &["--verify"]].concat()).ok();
    assert_eq!(cat(&folder, "series"), le(&numbers));
    assert!(folder.files("series").iter().all(|file| file == "zarr.json" || file.starts_with("c/")));
    only(&folder, &["maps", "series"]);
}

#[test]
fn the_summary_is_also_json() {
    let folder = Folder::new();
    folder.base("a.zarr");
    let json = copy(&folder, "a.zarr", "b.zarr", &["--json", "--verify"]).ok().json();
    assert_eq!(
        (&json["arrays"], &json["moved"]["objects"], &json["compared"]["bytes"]),
        (&json!(1), &json!(1), &json!(8))
    );
}

#[test]
fn a_chunk_that_needs_more_memory_than_allowed_is_refused() {
    let folder = Folder::new();
    folder.base("a.zarr");
    let options = ["--codecs", "gzip", "--max-memory"];
    let plain = json!([{ "name": "bytes", "configuration": { "endian": "little" } }]);
    folder.node("large.zarr", &array(&[64, 64], "float64", &[64, 64], &json!(0.0), &plain));
    copy(&folder, "large.zarr", "b.zarr", &[&options[..], &["1kB"]].concat())
        .fails(11, &["one chunk needs", "--max-memory"]);
    copy(&folder, "a.zarr", "b.zarr", &[&options[..], &["999B"]].concat()).exits(2);
    copy(&folder, "a.zarr", "b.zarr", &[&options[..], &["lots"]].concat()).exits(2);
    copy(&folder, "a.zarr", "b.zarr", &[&options[..], &["1kB"]].concat()).ok();
}

#[test]
fn variables_are_copied_with_what_belongs_to_them() {
    let folder = Folder::new();
    let path = crate::weather::weather(&folder);
    folder.base("w.zarr/odd[1]");
    for line in ["attrs set w.zarr/t2m grid_mapping crs", "attrs set w.zarr/time bounds time_bnds"] {
        zarr_in(folder.path(), line.split(' ')).ok();
    }
    for (name, shape, names) in [("crs", "", ""), ("time_bnds", "48,2", "time,nv"), ("other", "48", "time")] {
        let (shape, names) = (format!("--shape={shape}"), format!("--dimension-names={names}"));
        let mut options = vec!["--dtype", "i4", &shape];
        options.extend((name != "crs").then_some(names.as_str()));
        zarr_in(folder.path(), [&["create", &format!("w.zarr/{name}")], &options[..]].concat()).ok();
    }
    zarr_in(folder.path(), ["consolidate", "w.zarr"]).ok();
    let children = |name: &str| zarr(args!["ls", folder.join(name)]).ok().text().to_owned();
    copy(&folder, "w.zarr", "t.zarr", &["--variables", "t2m"]).ok();
    assert_eq!(children("t.zarr"), "crs\nlat\nplace\nt2m\ntime\ntime_bnds\n");
    copy(&folder, "w.zarr", "f.zarr", &["--variables", "flag,other"]).ok();
    assert_eq!(children("f.zarr"), "flag\nlat\nother\ntime\ntime_bnds\n");
    copy(&folder, "w.zarr", "x.zarr", &["--variables", "t2n"])
        .fails(2, &["no variable \"t2n\"", "did you mean \"t2m\"?"]);
    copy(&folder, "w.zarr/t2m", "x.zarr", &["--variables", "t2m"]).fails(2, &["this is an array"]);
    assert!(!folder.join("x.zarr").exists() && path.exists());
}

#[test]
fn no_verb_makes_a_store_with_the_name_of_a_file_of_another_format() {
    let folder = Folder::new();
    folder.group("a.zarr");
    folder.group2("old.zarr");
    for line in ["copy a.zarr x.nc", "sync a.zarr x.h5", "create x.tif --group", "migrate v3 old.zarr x.nc"] {
        zarr_in(folder.path(), line.split(' ')).fails(2, &["writes Zarr only"]);
    }
    // A node in a store may have any name.
    zarr_in(folder.path(), ["create", "a.zarr/x.nc", "--group"]).ok();
}
