//! `zarr checksum`.

use std::process::Command;

use serde_json::json;

use crate::args;
use crate::harness::{Done, Folder, array, base, le, with, zarr};

fn checksum(folder: &Folder, path: &str, options: &[&str]) -> Done {
    let options = options.iter().map(Into::into);
    zarr(args!["checksum", folder.join(path)].into_iter().chain(options))
}

fn copy(folder: &Folder, a: &str, b: &str, options: &[&str]) {
    let options = options.iter().map(Into::into);
    zarr(args!["copy", "-q", folder.join(a), folder.join(b)].into_iter().chain(options)).exits(0);
}

/// Makes an array of 300 × 500 numbers, which are several blocks.
fn numbers(folder: &Folder, path: &str, change: i32) {
    let codecs = json!([{ "name": "bytes", "configuration": { "endian": "little" } }]);
    let document = array(&[300, 500], "int32", &[300, 500], &json!(0), &codecs);
    let document = with(
        document,
        &json!({ "attributes": { "a": 1, "b": { "d": 2, "c": 3 } }, "dimension_names": ["y", "x"] }),
    );
    folder.node(path, &document);
    let mut numbers: Vec<i32> = (0..150_000).map(|i| i / 7).collect();
    numbers[149_000] += change;
    folder.write(&format!("{path}/c/0/0"), le(&numbers));
}

#[test]
fn the_digest_depends_on_data_and_not_on_how_it_is_stored() {
    let folder = Folder::new();
    numbers(&folder, "a.zarr", 0);
    let digests = |path: &str| {
        [&[][..], &["--attributes"]].map(|options| checksum(&folder, path, options).ok().text().to_owned())
    };
    let wanted = digests("a.zarr");
    assert!(wanted[0].starts_with("zarr-data-1:") && wanted[0].ends_with("  /\n"), "{wanted:?}");
    assert!(wanted[1].starts_with("zarr-data-attributes-1:"), "{wanted:?}");
    let variants = [
        &["--chunks", "300,7"][..],
        &["--chunks", "37,61"],
        &["--chunks", "11,500", "--codecs", "zstd:3"],
        &["--chunks", "100,100", "--codecs", "gzip:1"],
        &["--chunks", "64,64", "--codecs", "blosc:lz4:5"],
        &["--zarr-format", "2"],
        &["--zarr-format", "2", "--chunks", "13,500", "--codecs", "zstd:1"],
        &["--chunks", "50,50", "--shards", "100,250"],
        &["--chunks", "10,100", "--shards", "300,500", "--codecs", "zstd:1,crc32c"],
        &["--codecs", "transpose(1,0),bytes(big),zstd:1"],
    ];
    for (i, options) in variants.into_iter().enumerate() {
        let name = format!("{i}.zarr");
        copy(&folder, "a.zarr", &name, options);
        assert_eq!(digests(&name), wanted, "{options:?}");
    }
    copy(&folder, "a.zarr", "z.zip", &[]);
    assert_eq!(digests("z.zip"), wanted);
    // An element, the shape, the data type.
    numbers(&folder, "element.zarr", 1);
    numbers(&folder, "shape.zarr", 0);
    let document = folder.document("shape.zarr");
    let other = json!({ "shape": [500, 300], "chunk_grid": { "name": "regular", "configuration": { "chunk_shape": [500, 300] } } });
    folder.node("shape.zarr", &with(document.clone(), &other));
    numbers(&folder, "type.zarr", 0);
    folder.node("type.zarr", &with(document, &json!({ "data_type": "uint32" })));
    for other in ["element.zarr", "shape.zarr", "type.zarr"] {
        let found = digests(other);
        assert!(found[0] != wanted[0] && found[1] != wanted[1], "{other}");
    }
    zarr(args!["attrs", "set", folder.join("0.zarr"), "a", "2"]).ok();
    let found = digests("0.zarr");
    assert!(found[0] == wanted[0] && found[1] != wanted[1]);
}

#[test]
fn the_order_of_attributes_does_not_count() {
    let folder = Folder::new();
    let group = |path: &str, attributes: &str| {
        let group = format!(r#"{{"zarr_format": 3, "node_type": "group", "attributes": {attributes}}}"#);
        folder.write(&format!("{path}/zarr.json"), group);
        checksum(&folder, path, &["--attributes"]).ok().text().to_owned()
    };
    let wanted = group("a.zarr", r#"{"a": 1.5, "b": {"c": "\u00e9", "d": [1]}}"#);
    assert_eq!(group("b.zarr", r#"{"b": {"d": [ 1 ], "c": "é"}, "a": 1.50}"#), wanted);
    assert_ne!(group("c.zarr", r#"{"a": 1.5, "b": {"c": "é", "d": [1.0]}}"#), wanted);
}

#[test]
fn the_digest_is_defined_by_bytes() {
    let folder = Folder::new();
    let codecs = json!([{ "name": "vlen-utf8" }]);
    folder.node("s.zarr", &array(&[3], "string", &[2], &json!("é"), &codecs));
    // Of Python's hashlib: block = (bytes([2, 0, 0, 0, 0, 0, 0, 0]) + "é".encode()) * 3,
    // head = b'zarr-data-1\narray\n"string"\n[3]\n', sha256(head + sha256(block).digest()).
    let wanted = "zarr-data-1:247ade90068df9804a8ee54c2400a8996b9ee81ef1e1fceb0d9f6608bd8685e8  /\n";
    assert_eq!(checksum(&folder, "s.zarr", &[]).ok().text(), wanted);
}

/// Of Python's hashlib, by the definition in the README.
#[test]
fn chunks_that_are_not_stored_take_no_time() {
    let folder = Folder::new();
    let path = folder.base("some.zarr");
    // A thousand million chunks, one of which is stored.
    folder.node("some.zarr", &with(base(), &json!({ "shape": [2_000_000_000] })));
    let trace = folder.join("trace");
    let done = zarr(args!["checksum", &path, "--trace", &trace]).ok();
    let digest = "64bc439c98956e2b7948b663660d73d0eb97572cd12b6d476a08dd4a9dd59905";
    assert_eq!(done.text(), format!("zarr-data-1:{digest}  /\n"));
    assert!(std::fs::read_to_string(trace).unwrap().lines().count() < 10);
    // Digests are joined twice: 2^44, 2^28, 2^12.
    let bytes = json!([{ "name": "bytes" }]);
    folder.node("none.zarr", &array(&[1 << 60], "uint8", &[1], &json!(7), &bytes));
    let digest = "4a524ff7601c1a957dbf43820186315f7993709b7caa243be27afd95a8f16ae0";
    assert_eq!(checksum(&folder, "none.zarr", &[]).ok().text(), format!("zarr-data-1:{digest}  /\n"));
}

/// Many chunks are listed and few are read, so both ways have the same elements here.
#[test]
fn chunks_that_are_not_stored_have_the_elements_that_are_read() {
    let folder = Folder::new();
    let bytes = json!([{ "name": "bytes", "configuration": { "endian": "little" } }]);
    for (data_type, fill, codecs) in [
        ("bool", json!(true), &bytes),
        ("int16", json!(-5), &bytes),
        ("float64", json!("NaN"), &bytes),
        ("complex64", json!([1.5, "-Infinity"]), &bytes),
        ("r24", json!([1, 2, 3]), &bytes),
        ("string", json!("é"), &json!(["vlen-utf8"])),
        ("bytes", json!("AQI="), &json!(["vlen-bytes"])),
    ] {
        let digest = |chunk: [u64; 2]| {
            folder.node("a.zarr", &array(&[300, 500], data_type, &chunk, &fill, codecs));
            checksum(&folder, "a.zarr", &[]).ok().text().to_owned()
        };
        assert_eq!(digest([2, 7]), digest([300, 500]), "{data_type}");
    }
}

#[test]
fn hierarchies_are_verified_and_each_difference_is_listed() {
    let folder = Folder::new();
    folder.group("h.zarr");
    numbers(&folder, "h.zarr/a", 0);
    folder.base("h.zarr/b");
    folder.base("h.zarr/c");
    copy(&folder, "h.zarr", "copy.zarr", &["--zarr-format", "2"]);
    folder.write("sums", checksum(&folder, "h.zarr", &[]).ok().text());
    let sums = folder.join("sums");
    let verify = |path: &str| zarr(args!["checksum", "--verify", &sums, folder.join(path)]);
    assert_eq!(verify("copy.zarr").ok().text(), "4 nodes in the file, no difference\n");
    zarr(args!["write", folder.join("copy.zarr/b"), "-s", "1", "--value", "9"]).ok();
    zarr(args!["mv", folder.join("copy.zarr/c"), folder.join("copy.zarr/d")]).exits(0);
    let wanted = "changed  /b\nmissing  /c\nadded  /d\n4 nodes in the file, 3 differences\n";
    assert_eq!(verify("copy.zarr").exits(1).text(), wanted);
    let found =
        zarr(args!["checksum", "--json", "--verify", &sums, folder.join("copy.zarr")]).exits(1).json();
    assert_eq!(found["differences"][0], json!({ "path": "/b", "difference": "changed" }));
    let nodes = checksum(&folder, "h.zarr", &["--json"]).ok().json();
    assert_eq!((&nodes["nodes"][1]["path"], nodes["nodes"].as_array().unwrap().len()), (&json!("/a"), 4));
    folder.write("bad", "no digest\n");
    zarr(args!["checksum", "--verify", folder.join("bad"), folder.join("h.zarr")]).fails(2, &["line 1"]);
}

#[test]
fn stored_objects_have_lines_that_sha256sum_checks() {
    let folder = Folder::new();
    folder.group("h.zarr");
    folder.base("h.zarr/a");
    folder.write("h.zarr/a/odd\nname", "x");
    let lines = checksum(&folder, "h.zarr", &["--stored"]).ok().text().to_owned();
    let keys: Vec<&str> = lines.lines().map(|line| line.split_once("  ").unwrap().1).collect();
    assert_eq!(keys, ["a/c/0", "a/odd\\nname", "a/zarr.json", "zarr.json"]);
    folder.write("sums", &lines);
    let checked =
        Command::new("sha256sum").args(["-c", "../sums"]).current_dir(folder.join("h.zarr")).output();
    if let Ok(checked) = checked {
        assert!(checked.status.success(), "{checked:?}");
    }
    let verify = || zarr(args!["checksum", "--verify", folder.join("sums"), folder.join("h.zarr")]);
    assert_eq!(verify().ok().text(), "4 objects in the file, no difference\n");
    folder.write("h.zarr/a/c/0", "damaged");
    folder.write("h.zarr/a/c/1", "new");
    assert_eq!(
        verify().exits(1).text(),
        "changed  a/c/0\nadded  a/c/1\n4 objects in the file, 2 differences\n"
    );
}

#[test]
fn a_corrupt_chunk_hides_no_other_difference() {
    let folder = Folder::new();
    folder.group("h.zarr");
    for name in ["a", "b", "c"] {
        folder.base(&format!("h.zarr/{name}"));
    }
    folder.write("sums", checksum(&folder, "h.zarr", &[]).ok().text());
    folder.write("h.zarr/a/c/0", [1]);
    folder.write("h.zarr/b/c/0", [9, 0, 0, 0, 2, 0, 0, 0]);
    folder.write("h.zarr/c/c/0", [1]);
    let done = zarr(args!["checksum", "--verify", folder.join("sums"), folder.join("h.zarr")]).exits(5);
    assert_eq!(
        done.text(),
        "unreadable  /a\nchanged  /b\nunreadable  /c\n4 nodes in the file, 3 differences\n"
    );
    done.says(&["array \"/a\", chunk [0]", "array \"/c\", chunk [0]"]);
}
