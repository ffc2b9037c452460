//! What `zarr create` writes.

use std::fs;

use serde_json::{Value, json};

use crate::args;
use crate::harness::{Folder, zarr, zarr_in};

fn json_file(folder: &Folder, path: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(folder.join(path)).unwrap()).unwrap()
}

#[test]
fn an_array_is_created_with_the_groups_above_it() {
    let folder = Folder::new();
    let run = |args: &[&str]| zarr_in(folder.path(), [&["create"], args].concat());
    run(&["--group", "h.zarr", "--attrs", "{\"title\": \"t\"}"]).ok();
    let array =
        "h.zarr/g/a --shape 10,20 --dtype float32 --chunks 5,10 --shards 10,20 --codecs gzip:1 --fill NaN";
    let options = ["--dimension-names", "y,", "--attrs", "{\"units\": \"K\"}"];
    run(&[&array.split(' ').collect::<Vec<_>>()[..], &options].concat()).ok();
    assert_eq!(folder.files("h.zarr"), ["g/a/zarr.json", "g/zarr.json", "zarr.json"]);
    let made = folder.document("h.zarr/g/a");
    assert_eq!((&made["shape"], &made["data_type"]), (&json!([10, 20]), &json!("float32")));
    assert_eq!((&made["fill_value"], &made["dimension_names"]), (&json!("NaN"), &json!(["y", null])));
    assert_eq!(made["attributes"], json!({ "units": "K" }));
    assert_eq!(made["chunk_grid"]["configuration"]["chunk_shape"], json!([10, 20]));
    let inside = &made["codecs"][0]["configuration"];
    assert_eq!((&inside["chunk_shape"], &inside["codecs"][1]["name"]), (&json!([5, 10]), &json!("gzip")));
    assert_eq!(folder.document("h.zarr")["attributes"], json!({ "title": "t" }));
    // A scalar, with defaults for all options.
    run(&["s.zarr", "--shape", "", "--dtype", ">i2"]).ok();
    let codecs = folder.document("s.zarr")["codecs"].clone();
    assert_eq!(codecs[0]["configuration"]["endian"], "big");
    assert_eq!(zarr_in(folder.path(), ["cat", "s.zarr", "--format", "json"]).ok().text(), "0\n");
}

/// Each option replaces what it names, and nothing else.
#[test]
fn an_array_is_created_like_another_one() {
    let folder = Folder::new();
    let run = |args: &str| zarr_in(folder.path(), args.split(' '));
    run("create a.zarr --group").ok();
    let options = "--shape 10,20 --dtype int16 --chunks 5,10 --shards 10,20 --codecs gzip:1 --fill -1 --dimension-names y,x";
    run(&format!("create a.zarr/t {options} --attrs {{\"units\":\"K\",\"_FillValue\":-9}}")).ok();
    run("write a.zarr/t --value 7").ok();
    let like = folder.document("a.zarr/t");
    for (options, members) in [
        ("", json!({})),
        ("--dtype float32 --fill nan", json!({ "/data_type": "float32", "/fill_value": "NaN" })),
        ("--shape 40,20", json!({ "/shape": [40, 20] })),
        ("--dimension-names a,", json!({ "/dimension_names": ["a", null] })),
        ("--attrs {}", json!({ "/attributes": {} })),
        ("--chunks x=5", json!({ "/codecs/0/configuration/chunk_shape": [5, 5] })),
        ("--shards 20,20", json!({ "/chunk_grid/configuration/chunk_shape": [20, 20] })),
        (
            "--codecs none",
            json!({ "/codecs/0/configuration/codecs": [{ "name": "bytes", "configuration": { "endian": "little" } }] }),
        ),
    ] {
        let new = format!("create b.zarr --like a.zarr/t {options}");
        run(new.trim_end()).ok();
        let mut wanted = like.clone();
        for (pointer, value) in members.as_object().unwrap() {
            *wanted.pointer_mut(pointer).unwrap() = value.clone();
        }
        assert_eq!(folder.document("b.zarr"), wanted, "{options}");
        assert_eq!(folder.files("b.zarr"), ["zarr.json"], "{options}");
        run("rm b.zarr --force").ok();
    }
    // The format is that of the group around the new array; xarray has the missing value elsewhere in format 2.
    run("create old.zarr --group --zarr-format 2").ok();
    run("create old.zarr/t --like a.zarr/t").fails(6, &["format 2 has no codec like \"sharding_indexed\""]);
    run("create a.zarr/plain --shape 4 --dtype int16 --dimension-names x --attrs {\"units\":\"K\",\"_FillValue\":-9}").ok();
    run("create old.zarr/plain --like a.zarr/plain").ok();
    let made = json_file(&folder, "old.zarr/plain/.zarray");
    assert_eq!((&made["fill_value"], &made["dtype"]), (&json!(-9), &json!("<i2")));
    let attributes = json_file(&folder, "old.zarr/plain/.zattrs");
    assert_eq!(attributes, json!({ "units": "K", "_ARRAY_DIMENSIONS": ["x"] }));
    run("create a.zarr/back --like old.zarr/plain").ok();
    let back = folder.document("a.zarr/back");
    assert_eq!(back["attributes"], json!({ "units": "K", "_FillValue": -9 }));
    assert_eq!((&back["dimension_names"], &back["fill_value"]), (&json!(["x"]), &json!(-9)));
    // Elements from a file have the shape of the other array.
    folder.write("four.csv", "1\n2\n3\n4\n");
    run("create a.zarr/four --like a.zarr/plain --from four.csv").ok();
    assert_eq!(run("cat a.zarr/four --format json").ok().text(), "[1,2,3,4]\n");
    run("create a.zarr/five --like a.zarr/t --from four.csv").fails(2, &["200"]);
}

#[test]
fn an_array_of_format_2_is_created_in_a_group_of_format_2() {
    let folder = Folder::new();
    let run = |args: &[&str]| zarr_in(folder.path(), [&["create"], args].concat());
    run(&["--group", "h.zarr", "--zarr-format", "2"]).ok();
    let codecs = "{\"compressor\": {\"id\": \"zlib\", \"level\": 1}}";
    run(&["h.zarr/g/a", "--shape", "4", "--dtype", ">i4", "--codecs", codecs, "--fill", "-1"]).ok();
    assert_eq!(folder.files("h.zarr"), [".zgroup", "g/.zgroup", "g/a/.zarray"]);
    let made = json_file(&folder, "h.zarr/g/a/.zarray");
    assert_eq!((&made["dtype"], &made["fill_value"]), (&json!(">i4"), &json!(-1)));
    assert_eq!((&made["chunks"], &made["compressor"]["id"]), (&json!([4]), &json!("zlib")));
    run(&["h.zarr/b", "--shape", "4", "--dtype", "<f8", "--dimension-names", "x", "--codecs", "zstd:1"]).ok();
    assert_eq!(json_file(&folder, "h.zarr/b/.zarray")["compressor"]["id"], "zstd");
    assert_eq!(json_file(&folder, "h.zarr/b/.zattrs"), json!({ "_ARRAY_DIMENSIONS": ["x"] }));
    assert_eq!(
        zarr(args!["cat", folder.join("h.zarr/g/a"), "--format", "json"]).ok().text(),
        "[-1,-1,-1,-1]\n"
    );
    zarr(args!["validate", folder.join("h.zarr")]).ok();
    // Formats are not mixed.
    run(&["h.zarr/c", "--shape", "4", "--dtype", "int8", "--zarr-format", "3"]).fails(2, &["format 2"]);
    run(&["h.zarr/c", "--shape", "4", "--dtype", "int8", "--chunks", "2", "--shards", "4"])
        .fails(6, &["shard"]);
}

#[test]
fn an_existing_node_is_replaced_only_on_request() {
    let folder = Folder::new();
    folder.group("h.zarr");
    folder.base("h.zarr/a");
    folder.write("h.zarr/files/notes.txt", "");
    let run = |args: &[&str]| {
        let all = [&["create"], args, &["--shape", "3", "--dtype", "uint8"]].concat();
        zarr_in(folder.path(), all)
    };
    run(&["h.zarr/a"]).fails(2, &["h.zarr", "\"/a\"", "there is a node already"]);
    assert!(folder.join("h.zarr/a/c/0").exists());
    run(&["h.zarr/a", "--if-exists", "replace"]).ok();
    assert_eq!(folder.files("h.zarr/a"), ["zarr.json"]);
    run(&["h.zarr/files", "--if-exists", "replace"]).ok();
    assert_eq!(folder.files("h.zarr/files"), ["notes.txt", "zarr.json"]);
    run(&["h.zarr/a/b"]).fails(2, &["\"/a\" is an array"]);
}

#[test]
fn creating_an_array_that_some_readers_lack_gives_a_note() {
    let folder = Folder::new();
    let codecs = r#"[{"name": "numcodecs.zlib", "configuration": {"level": 1}}]"#;
    let done =
        zarr(args!["create", folder.join("a.zarr"), "--shape", "3", "--dtype", "int8", "--codecs", codecs]);
    done.ok_with_notes()
        .says(&["ZM092 member \"/codecs/1\": the name \"numcodecs.zlib\" of a codec is not registered"]);
    for dtype in ["bfloat16", "int4", "float8_e4m3"] {
        let done = zarr(args!["create", folder.join(dtype), "--shape", "3", "--dtype", dtype]);
        done.ok_with_notes().says(&["ZM076", &format!("zarr-python does not read {dtype}")]);
    }
}

#[test]
fn data_types_and_fill_values_have_the_names_of_numpy() {
    let folder = Folder::new();
    for (dtype, fill, data_type, value) in [
        ("f4", "nan", json!("float32"), json!("NaN")),
        ("float", "-inf", json!("float64"), json!("-Infinity")),
        ("int", "1.0", json!("int64"), json!(1)),
        ("str", "12", json!("string"), json!("12")),
        ("bool", "True", json!("bool"), json!(true)),
        (
            "datetime64[D]",
            "2020-01-01",
            json!({ "name": "numpy.datetime64", "configuration": { "unit": "D", "scale_factor": 1 } }),
            json!(18262),
        ),
    ] {
        zarr(args!["create", folder.join(dtype), "--shape", "3", "--dtype", dtype, "--fill", fill]).exits(0);
        let made = folder.document(dtype);
        assert_eq!([&made["data_type"], &made["fill_value"]], [&data_type, &value], "{dtype}");
    }
}

#[test]
fn a_failed_creation_leaves_nothing() {
    let folder = Folder::new();
    let run = |text: &str| zarr_in(folder.path(), [vec!["create"], text.split(' ').collect()].concat());
    run("a.zarr --shape 3 --dtype floaty").fails(2, &["--dtype", "floaty", "did you mean \"float\"?"]);
    run("a.zarr --shape 4 --dtype int8 --shards 2").fails(2, &["--shards", "--chunks"]);
    run("a.zarr --shape 3 --dtype int8 --fill 1.5").fails(2, &["/fill_value"]);
    run("a.zarr --shape 3 --dtype M8[D] --fill 2020-01-01T12").fails(2, &["--fill", "whole number"]);
    run("a.zarr --shape 3 --dtype |O").exits(6);
    run("a.zarr --shape 3 --dtype int8 --chunks 2,2").fails(2, &["1 dimensions", "chunk shape 2"]);
    run("a.zarr --shape 3 --dtype int8 --fill 300").fails(2, &["/fill_value"]);
    run("a.zarr --shape 3 --dtype int8 --codecs zip").fails(2, &["--codecs"]);
    run("a.zarr --shape 3 --dtype int8 --attrs []").fails(2, &["JSON object"]);
    run("a.zarr --shape 3 --dtype int8 --attrs @none").fails(3, &["cannot read", "none"]);
    // No store is created by accident.
    run("new.zarr/a --shape 3 --dtype int8").fails(3, &["new.zarr", "zarr create --group"]);
    run("../up/../a --group").exits(2);
    assert!(folder.files("").is_empty());
    run("h.zarr --group").ok();
    run("h.zarr/__x --group").fails(2, &["reserved"]);
}

#[test]
fn created_nodes_are_added_to_consolidated_metadata() {
    let folder = Folder::new();
    folder.group("h.zarr");
    zarr(args!["consolidate", folder.join("h.zarr")]).ok();
    zarr(args!["create", folder.join("h.zarr/g/a"), "--shape", "3", "--dtype", "int8"]).ok();
    zarr(args!["consolidate", "--check", folder.join("h.zarr")]).ok();
    assert_eq!(zarr(args!["ls", "-R", folder.join("h.zarr")]).ok().text(), "g\ng/a\n");
}

#[test]
fn chunks_are_given_by_the_names_of_dimensions() {
    let folder = Folder::new();
    let create = |name: &str, options: &str| {
        let line = format!("create {name} --shape 100,20,3 --dtype i2 {options}");
        zarr_in(folder.path(), line.split(' '))
    };
    create("a.zarr", "--dimension-names time,lat,lon --chunks time=24,lon=1").ok();
    let info = zarr(args!["info", "--json", folder.join("a.zarr")]).ok().json();
    assert_eq!(
        (&info["chunk_shape"], &info["dimension_names"]),
        (&json!([24, 20, 1]), &json!(["time", "lat", "lon"]))
    );
    create("b.zarr", "--dimension-names time,lat,lon --chunks tme=24")
        .fails(2, &["--chunks", "did you mean \"time\"?"]);
    create("b.zarr", "--chunks time=24").fails(2, &["--chunks", "have no names"]);
}
