//! Copies between formats, and copies of parts of hierarchies.

use std::fs;

use serde_json::{Value, json};

use crate::args;
use crate::harness::{Done, Folder, base, base2, le, with, zarr};

fn copy(folder: &Folder, source: &str, destination: &str, options: &[&str]) -> Done {
    let args = args!["copy", "-q", "--verify", folder.join(source), folder.join(destination)].into_iter();
    zarr(args.chain(options.iter().map(Into::into)))
}

fn cat(folder: &Folder, path: &str) -> String {
    zarr(args!["cat", "--format", "json", folder.join(path)]).ok().text().to_owned()
}

fn read(folder: &Folder, path: &str) -> Value {
    serde_json::from_slice(&fs::read(folder.join(path)).unwrap()).unwrap()
}

/// Makes a group of format 2 with a compressed big-endian array in order F, as xarray may write it, and an array of
/// strings.
fn old(folder: &Folder) {
    let text = |value: Value| value.to_string();
    folder.write("old/.zgroup", r#"{"zarr_format":2}"#);
    folder.write("old/.zattrs", r#"{"title":"old"}"#);
    let array = json!({
        "zarr_format": 2, "shape": [2, 3], "chunks": [2, 3], "dtype": ">i2", "compressor": null, "filters": null,
        "fill_value": 7, "order": "F", "mine": [1.50]
    });
    folder.write("old/a/.zarray", text(array));
    folder.write("old/a/.zattrs", r#"{"_ARRAY_DIMENSIONS":["y","x"],"units":"K"}"#);
    folder.write("old/a/0.0", [0, 1, 0, 4, 0, 2, 0, 5, 0, 3, 0, 6]);
    let strings = json!({
        "zarr_format": 2, "shape": [2], "chunks": [2], "dtype": "|O", "compressor": null,
        "filters": [{ "id": "vlen-utf8" }], "fill_value": "", "order": "C", "dimension_separator": "/"
    });
    folder.write("old/s/.zarray", text(strings));
    folder.write("old/s/0", b"\x02\0\0\0\x01\0\0\0a\x02\0\0\0\xc3\xa9");
}

const A: &str = "[[1,2,3],\n [4,5,6]]\n";

#[test]
fn format_2_becomes_3() {
    let folder = Folder::new();
    old(&folder);
    copy(&folder, "old", "new", &["--zarr-format", "3"]).ok();
    assert_eq!([cat(&folder, "new/a"), cat(&folder, "new/s")], [A, "[\"a\",\"é\"]\n"]);
    assert_eq!(folder.files("new"), ["a/c/0/0", "a/zarr.json", "s/c/0", "s/zarr.json", "zarr.json"]);
    assert_eq!(folder.document("new")["attributes"], json!({ "title": "old" }));
    let a = folder.document("new/a");
    let codecs = json!([
        { "name": "transpose", "configuration": { "order": [1, 0] } },
        { "name": "bytes", "configuration": { "endian": "big" } }
    ]);
    // Rules J2 and J3: dimension names are no longer an attribute.
    assert_eq!([&a["codecs"], &a["dimension_names"]], [&codecs, &json!(["y", "x"])]);
    assert_eq!(a["attributes"]["units"], "K");
    assert!(a["attributes"].get("_ARRAY_DIMENSIONS").is_none());
    let options = ["--zarr-format", "3", "--chunks", "1,3", "--shards", "2,3", "--codecs", "zstd"];
    copy(&folder, "old/a", "sharded", &options).ok();
    assert_eq!(cat(&folder, "sharded"), A);
}

#[test]
fn a_struct_becomes_a_type_that_older_readers_lack_with_a_note() {
    let folder = Folder::new();
    let dtype = json!([["a", "|i1"], ["b", "|u1"]]);
    folder.array2("old", &with(base2(), &json!({ "dtype": dtype, "chunks": [4], "fill_value": "AAA=" })));
    folder.write("old/0", [0; 8]);
    copy(&folder, "old", "new", &["--zarr-format", "3"])
        .ok_with_notes()
        .says(&["its data type becomes \"struct\", which zarr-python 3.1 does not read"]);
    copy(&folder, "old", "same", &[]).ok();
    copy(&folder, "new", "again", &[]).ok();
}

#[test]
fn format_2_stays_2_and_keeps_its_documents() {
    let folder = Folder::new();
    old(&folder);
    copy(&folder, "old", "same", &[]).ok();
    for document in [".zgroup", ".zattrs", "a/.zarray", "a/.zattrs", "a/0.0", "s/.zarray", "s/0"] {
        let bytes = |root: &str| fs::read(folder.join(root).join(document)).unwrap();
        assert_eq!(bytes("same"), bytes("old"), "{document}");
    }
    let zlib = r#"{"compressor":{"id":"zlib","level":1},"filters":[{"id":"shuffle","elementsize":2}]}"#;
    copy(&folder, "old/a", "a", &["--chunks", "1,2", "--codecs", zlib]).ok();
    assert_eq!(cat(&folder, "a"), A);
    let document = read(&folder, "a/.zarray");
    assert_eq!([&document["chunks"], &document["mine"]], [&json!([1, 2]), &json!([1.5])]);
    assert_eq!([&document["dtype"], &document["order"]], [">i2", "F"]);
    assert_eq!(document["compressor"]["id"], "zlib");
    // The codec that turns strings into bytes stays with any other codecs.
    copy(&folder, "old/s", "s", &["--codecs", r#"{"compressor":{"id":"gzip","level":1}}"#]).ok();
    assert_eq!(
        (cat(&folder, "s"), &read(&folder, "s/.zarray")["filters"]),
        ("[\"a\",\"é\"]\n".to_owned(), &json!([{ "id": "vlen-utf8" }]))
    );
}

/// A list of codecs means the same in both formats.
#[test]
fn a_list_of_codecs_changes_an_array_of_format_2() {
    let folder = Folder::new();
    old(&folder);
    let null = Value::Null;
    let blosc = json!({ "id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0 });
    for (codecs, compressor, filters, dtype, order) in [
        ("gzip:3", json!({ "id": "gzip", "level": 3 }), &null, ">i2", "F"),
        ("none", null.clone(), &null, ">i2", "F"),
        ("blosc:lz4:5:shuffle", blosc, &null, ">i2", "F"),
        ("bytes:little,zstd:1", json!({ "id": "zstd", "level": 1 }), &null, "<i2", "F"),
        ("transpose(0,1),gzip:1", json!({ "id": "gzip", "level": 1 }), &null, ">i2", "C"),
        ("crc32c", null.clone(), &json!([{ "id": "crc32c" }]), ">i2", "F"),
    ] {
        copy(&folder, "old/a", "a", &["--codecs", codecs, "--if-exists", "replace"]).ok();
        assert_eq!(cat(&folder, "a"), A, "{codecs}");
        let document = read(&folder, "a/.zarray");
        assert_eq!([&document["compressor"], &document["filters"]], [&compressor, filters], "{codecs}");
        assert_eq!([&document["dtype"], &document["order"]], [dtype, order], "{codecs}");
        assert_eq!(document["mine"], json!([1.5]), "{codecs}");
    }
    copy(&folder, "old/s", "s", &["--codecs", "gzip:1"]).ok();
    let document = read(&folder, "s/.zarray");
    assert_eq!(
        (cat(&folder, "s").as_str(), &document["compressor"]["id"]),
        ("[\"a\",\"é\"]\n", &json!("gzip"))
    );
    assert_eq!(document["filters"], json!([{ "id": "vlen-utf8" }]));
    copy(&folder, "old/a", "b", &["--codecs", "transpose(0,1),transpose(1,0)"])
        .fails(2, &["--codecs", "format 2 has no codec like \"transpose\" here"]);
}

#[test]
fn format_3_becomes_2_where_format_2_has_an_equivalent() {
    let folder = Folder::new();
    folder.group("h");
    folder.node("h/a", &with(base(), &json!({ "dimension_names": ["x"], "attributes": { "u": 1 } })));
    folder.write("h/a/c/0", le(&[1, 2]));
    copy(&folder, "h", "old", &["--zarr-format", "2"]).ok();
    // In format 2 xarray would mask the fill value. So the copy has none, and stores the elements that had it.
    assert_eq!(folder.files("old"), [".zgroup", "a/.zarray", "a/.zattrs", "a/0", "a/1"]);
    assert_eq!(read(&folder, "old/a/.zarray")["fill_value"], json!(null));
    assert_eq!(cat(&folder, "old/a"), "[1,2,7,7]\n");
    assert_eq!(read(&folder, "old/a/.zattrs"), json!({ "u": 1, "_ARRAY_DIMENSIONS": ["x"] }));
    // Elements that xarray masked stay masked, and missing chunks stay missing.
    let masked = json!({ "dimension_names": ["x"], "attributes": { "u": 1, "_FillValue": 9 } });
    folder.node("masked", &with(base(), &masked));
    copy(&folder, "masked", "masked2", &["--zarr-format", "2"]).ok();
    assert_eq!(cat(&folder, "masked2"), "[7,7,7,7]\n");
    assert_eq!(read(&folder, "masked2/.zarray")["fill_value"], json!(9));
    assert_eq!(read(&folder, "masked2/.zattrs"), json!({ "u": 1, "_ARRAY_DIMENSIONS": ["x"] }));
    // Rules J2 and J3: a scalar has an empty list of names, which xarray needs to open the dataset.
    let scalar =
        json!({ "shape": [], "chunk_grid": { "name": "regular", "configuration": { "chunk_shape": [] } } });
    folder.node("scalar", &with(base(), &scalar));
    copy(&folder, "scalar", "scalar2", &["--zarr-format", "2"]).ok();
    assert_eq!(read(&folder, "scalar2/.zattrs"), json!({ "_ARRAY_DIMENSIONS": [] }));
    // Inner chunks of shards become chunks.
    copy(&folder, "h/a", "sharded", &["--chunks", "1", "--shards", "4", "--codecs", "zstd:3"]).ok();
    copy(&folder, "sharded", "flat", &["--zarr-format", "2"]).ok();
    let flat = read(&folder, "flat/.zarray");
    assert_eq!((&flat["chunks"], &flat["compressor"]), (&json!([1]), &json!({ "id": "zstd", "level": 3 })));
    assert_eq!(cat(&folder, "flat"), "[1,2,7,7]\n");

    folder.node(
        "names",
        &with(
            base(),
            &json!({ "shape": [4, 4], "dimension_names": ["y", null],
        "chunk_grid": { "name": "regular", "configuration": { "chunk_shape": [2, 2] } } }),
        ),
    );
    copy(&folder, "names", "no", &["--zarr-format", "2"]).fails(6, &["names for all dimensions or for none"]);
    copy(&folder, "h/a", "no", &["--zarr-format", "2", "--shards", "4"])
        .fails(2, &["format 2 has no shards"]);
    let object = r#"{"compressor":null}"#;
    copy(&folder, "h/a", "no", &["--codecs", object]).fails(2, &["--codecs", "format 2"]);
    copy(&folder, "h/a", "no", &["--codecs", r#"{"compressors":[]}"#]).fails(2, &["\"compressors\""]);
    assert!(!folder.join("no").exists());
}

#[test]
fn a_copy_has_the_format_of_the_group_that_it_lies_in() {
    let folder = Folder::new();
    folder.group2("old");
    folder.base("new");
    copy(&folder, "new", "old/a/b", &[]).ok();
    assert_eq!(folder.files("old"), [".zgroup", "a/.zgroup", "a/b/.zarray", "a/b/0"]);
    copy(&folder, "new", "old/c", &["--zarr-format", "3"])
        .fails(2, &["--zarr-format 3", "group of format 2"]);
    assert!(!folder.join("old/c").exists());
}

#[test]
fn format_1_becomes_3() {
    let folder = Folder::new();
    let meta = json!({
        "zarr_format": 1, "shape": [2, 2], "chunks": [2, 2], "dtype": "<i2", "compression": "none",
        "compression_opts": null, "fill_value": 0, "order": "F"
    });
    folder.write("one/meta", meta.to_string());
    folder.write("one/attrs", r#"{"a":1}"#);
    folder.write("one/0.0", [1, 0, 2, 0, 3, 0, 4, 0]);
    copy(&folder, "one", "new", &[]).ok();
    // Rule I8: without blosc the order is C, whatever the document says.
    assert_eq!(cat(&folder, "new"), "[[1,2],\n [3,4]]\n");
    assert_eq!(folder.document("new")["attributes"], json!({ "a": 1 }));
    copy(&folder, "one", "old", &["--zarr-format", "2"]).ok();
    assert_eq!(
        (cat(&folder, "old"), &read(&folder, "old/.zarray")["order"]),
        (cat(&folder, "new"), &json!("C"))
    );
}

#[test]
fn parts_of_a_hierarchy_are_copied_with_the_groups_around_them() {
    let folder = Folder::new();
    for group in ["h", "h/day", "h/month", "h/month/raw", "h/empty"] {
        folder.group(group);
    }
    for array in ["h/day/t2m", "h/month/t2m", "h/month/raw/t2m", "h/month/u10"] {
        folder.base(array);
    }
    for (name, options, nodes) in [
        (
            "a",
            &["--include", "month"][..],
            &["month", "month/raw", "month/raw/t2m", "month/t2m", "month/u10"][..],
        ),
        ("b", &["--include", "**/t2m", "--exclude", "*/raw"], &["day", "day/t2m", "month", "month/t2m"]),
        ("c", &["--exclude", "{day,month}"], &["empty"]),
    ] {
        copy(&folder, "h", name, options).ok();
        let documents: Vec<String> =
            folder.files(name).into_iter().filter(|file| file.ends_with("zarr.json")).collect();
        let mut wanted: Vec<String> = nodes.iter().map(|node| format!("{node}/zarr.json")).collect();
        wanted.push("zarr.json".to_owned());
        wanted.sort();
        assert_eq!(documents, wanted, "{options:?}");
    }
    copy(&folder, "h", "e", &["--include", "a["]).fails(2, &["--include"]);
    // The pattern matches no node.
    copy(&folder, "h", "e", &["--include", "monht"]).fails(2, &["--include", "no node matches"]);
    assert!(!folder.join("e").exists());
}
