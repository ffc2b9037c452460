//! The output of `zarr info --chunks`, whose old name is `zarr chunks`.

use serde_json::{Value, json};

use crate::args;
use crate::harness::{Folder, array, base, with, zarr};

fn table(folder: &Folder, path: &str) -> String {
    let page = zarr(args!["info", "--chunks", folder.join(path)]).ok().text().to_owned();
    assert_eq!(zarr(args!["chunks", folder.join(path)]).ok().text(), page);
    page
}

fn lines(folder: &Folder, path: &str) -> Vec<Value> {
    let done = zarr(args!["chunks", "--json", folder.join(path)]).ok();
    done.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn chunks_are_listed_and_stray_objects_are_marked() {
    let folder = Folder::new();
    folder.group("h.zarr");
    let codecs = json!([{ "name": "bytes" }]);
    folder.node("h.zarr/a", &array(&[11, 3], "uint8", &[1, 2], &json!(0), &codecs));
    for (key, length) in [("c/2/1", 2), ("c/10/0", 1500), ("c/0/2", 7), ("c/0/0.bak", 2), ("notes\n", 0)] {
        folder.write(&format!("h.zarr/a/{key}"), vec![0; length]);
    }
    // The keys and their order are those of the store, as in errors. A name cannot break the table.
    let wanted = "\
key       index    size
a/c/0/0.bak  stray    2 bytes, not the key of a chunk
a/c/0/2   stray    7 bytes, a chunk outside of the array
a/c/10/0  [10, 0]  1.46 KiB
a/c/2/1   [2, 1]   2 bytes
a/notes\\n  stray    0 bytes, not the key of a chunk
2 of 22 chunks stored, 1.47 KiB; 3 stray
";
    assert_eq!(table(&folder, "h.zarr/a"), wanted);
    let wanted = [
        json!({ "key": "a/c/0/0.bak", "stray": "not the key of a chunk", "bytes": 2 }),
        json!({ "key": "a/c/0/2", "stray": "a chunk outside of the array", "bytes": 7 }),
        json!({ "key": "a/c/10/0", "index": [10, 0], "bytes": 1500 }),
        json!({ "key": "a/c/2/1", "index": [2, 1], "bytes": 2 }),
        json!({ "key": "a/notes\n", "stray": "not the key of a chunk", "bytes": 0 }),
    ];
    assert_eq!(lines(&folder, "h.zarr/a"), wanted);
}

/// Makes an array of 2 × 8 numbers in two shards of 2 × 4 with inner chunks of 1 × 2; the first shard stores two of
/// them.
fn shards(folder: &Folder) {
    let codecs = json!([{ "name": "bytes" }]);
    folder.node("raw.zarr", &array(&[2, 8], "uint8", &[2, 8], &json!(0), &codecs));
    folder.write("raw.zarr/c/0/0", [0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 9, 10, 11, 12]);
    let (from, to) = (folder.join("raw.zarr"), folder.join("a.zarr"));
    zarr(args!["copy", "-q", from, to, "--shards", "2,4", "--chunks", "1,2"]).ok();
}

#[test]
fn a_shard_lists_its_stored_inner_chunks_with_their_places() {
    let folder = Folder::new();
    shards(&folder);
    // Inner chunks of two bytes, an index of four entries, and its checksum.
    let wanted = "\
key    index   size        inner chunks
c/0/0  [0, 0]  72 bytes    2 of 4
c/0/1  [0, 1]  76 bytes    4 of 4
2 of 2 shards stored, 148 bytes; 6 of 8 inner chunks in them
";
    assert_eq!(table(&folder, "a.zarr"), wanted);
    let wanted = "\
key    index   size        inner chunks
c/0/0  [0, 0]  72 bytes    2 of 4
    [0, 2]  2 bytes  at byte 0
    [1, 0]  2 bytes  at byte 2
c/0/1  [0, 1]  76 bytes    4 of 4
    [0, 0]  2 bytes  at byte 0
    [0, 2]  2 bytes  at byte 2
    [1, 0]  2 bytes  at byte 4
    [1, 2]  2 bytes  at byte 6
2 of 2 shards stored, 148 bytes; 6 of 8 inner chunks in them
";
    assert_eq!(zarr(args!["chunks", "--inner", folder.join("a.zarr")]).ok().text(), wanted);
    let inner =
        |start: [u64; 2], offset| json!({ "start": start, "shape": [1, 2], "offset": offset, "length": 2 });
    let first = json!({
        "key": "c/0/0", "index": [0, 0], "bytes": 72,
        "inner_chunks": [inner([0, 2], 0), inner([1, 0], 2)], "missing_inner_chunks": 2
    });
    assert_eq!(lines(&folder, "a.zarr")[0], first);
}

#[test]
fn a_shard_with_a_broken_index_does_not_hide_the_others() {
    let folder = Folder::new();
    shards(&folder);
    folder.write("a.zarr/c/0/0", [0; 72]);
    let done = zarr(args!["chunks", "--inner", folder.join("a.zarr")]).exits(5);
    done.says(&["zarr: store ", "array \"/\": the inner chunks of 1 shard cannot be read\n"]);
    let rows: Vec<&str> = done.text().lines().collect();
    assert!(rows[1].starts_with("c/0/0  [0, 0]  72 bytes    unreadable: codec "), "{}", rows[1]);
    assert!(rows[1].contains("in the index of the shard") && rows[1].contains("checksum"), "{}", rows[1]);
    assert_eq!(rows[2], "c/0/1  [0, 1]  76 bytes    4 of 4");
    assert_eq!(rows[7], "2 of 2 shards stored, 148 bytes; 4 of 4 inner chunks in them; 1 unreadable");

    let done = zarr(args!["chunks", "--json", folder.join("a.zarr")]).exits(5);
    let lines: Vec<Value> = done.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines[0]["error"].as_str().unwrap().contains("checksum"), "{}", lines[0]);
    assert_eq!((&lines[0]["bytes"], &lines[0]["inner_chunks"]), (&json!(72), &Value::Null));
    assert_eq!(lines[1]["inner_chunks"].as_array().unwrap().len(), 4);
}

#[test]
fn inner_chunks_below_another_codec_are_not_reported_as_missing() {
    let folder = Folder::new();
    shards(&folder);
    let mut document = folder.document("a.zarr");
    document["codecs"].as_array_mut().unwrap().push(json!({ "name": "crc32c" }));
    folder.node("b.zarr", &document);
    folder.write("b.zarr/c/0/0", [0; 76]);
    let wanted = "\
key    index   size        inner chunks
c/0/0  [0, 0]  76 bytes    hidden by a codec around the shard
1 of 2 shards stored, 76 bytes
";
    assert_eq!(table(&folder, "b.zarr"), wanted);
    let wanted = json!({ "key": "c/0/0", "index": [0, 0], "bytes": 76, "inner_chunks": null });
    assert_eq!(lines(&folder, "b.zarr"), [wanted]);
}

#[test]
fn scalars_empty_arrays_and_other_key_encodings_have_their_chunks() {
    let folder = Folder::new();
    let codecs = json!([{ "name": "bytes" }]);
    let v2 = json!({ "chunk_key_encoding": { "name": "v2", "configuration": { "separator": "." } } });
    for (name, shape, changes, stored, wanted) in [
        ("scalar", &[][..], &json!({}), "c", json!([{ "key": "c", "index": [], "bytes": 1 }])),
        ("scalar.v2", &[], &v2, "0", json!([{ "key": "0", "index": [], "bytes": 1 }])),
        ("dots", &[2, 2], &v2, "1.0", json!([{ "key": "1.0", "index": [1, 0], "bytes": 1 }])),
        (
            "empty",
            &[0, 2],
            &v2,
            "0.0",
            json!([{ "key": "0.0", "stray": "a chunk outside of the array", "bytes": 1 }]),
        ),
    ] {
        folder.node(name, &with(array(shape, "uint8", &vec![1; shape.len()], &json!(0), &codecs), changes));
        assert_eq!(lines(&folder, name), [] as [Value; 0], "{name}");
        folder.write(&format!("{name}/{stored}"), [9]);
        assert_eq!(json!(lines(&folder, name)), wanted, "{name}");
        assert!(table(&folder, name).starts_with("key "), "{name}");
    }
}

#[test]
fn a_group_has_no_chunks_to_list() {
    let folder = Folder::new();
    folder.group("h.zarr");
    zarr(args!["chunks", folder.join("h.zarr")]).fails(3, &["there is a group, not an array"]);
    folder.node("h.zarr/a", &with(base(), &json!({ "shape": [-1] })));
    zarr(args!["chunks", folder.join("h.zarr/a")]).fails(1, &["h.zarr", "\"/a\"", "/shape"]);
}
