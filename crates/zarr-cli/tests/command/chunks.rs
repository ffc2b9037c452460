//! What `zarr chunks` lists.

use serde_json::{Value, json};

use crate::args;
use crate::harness::{Folder, array, base, with, zarr};

fn table(folder: &Folder, path: &str) -> String {
    zarr(args!["chunks", folder.join(path)]).ok().text().to_owned()
}

fn lines(folder: &Folder, path: &str) -> Vec<Value> {
    let done = zarr(args!["chunks", "--json", folder.join(path)]).ok();
    done.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn chunks_are_listed_with_key_index_and_size_and_what_is_none_is_told() {
    let folder = Folder::new();
    folder.group("h.zarr");
    let codecs = json!([{ "name": "bytes" }]);
    folder.node("h.zarr/a", &array(&[11, 3], "uint8", &[1, 2], &json!(0), &codecs));
    for (key, length) in [("c/2/1", 2), ("c/10/0", 1500), ("c/0/2", 7), ("c/0/0.bak", 2), ("notes\n", 0)] {
        folder.write(&format!("h.zarr/a/{key}"), vec![0; length]);
    }
    // Keys are those of the store, as in errors, and in its order. A name cannot break the table.
    let wanted = "\
key       index    size
a/c/0/0.bak  stray    2 bytes, not the key of a chunk
a/c/0/2   stray    7 bytes, a chunk outside of the array
a/c/10/0  [10, 0]  1.46 KiB
a/c/2/1   [2, 1]   2 bytes
a/notes\\n  stray    0 bytes, not the key of a chunk
2 of 22 chunks stored, 1.46 KiB; 3 stray
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

#[test]
fn shards_are_counted_as_such() {
    let folder = Folder::new();
    folder.base("a.zarr");
    zarr(args!["copy", "-q", folder.join("a.zarr"), folder.join("b.zarr"), "--shards", "4", "--chunks", "1"])
        .ok();
    // Two inner chunks of four bytes and an index of four entries with its checksum.
    assert_eq!(
        table(&folder, "b.zarr"),
        "key  index  size\nc/0  [0]    76 bytes\n1 of 1 shards stored, 76 bytes\n"
    );
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
fn what_is_no_array_has_no_chunks() {
    let folder = Folder::new();
    folder.group("h.zarr");
    zarr(args!["chunks", folder.join("h.zarr")]).fails(3, &["there is a group, not an array"]);
    folder.node("h.zarr/a", &with(base(), &json!({ "shape": [-1] })));
    zarr(args!["chunks", folder.join("h.zarr/a")]).fails(1, &["h.zarr", "\"/a\"", "/shape"]);
}
