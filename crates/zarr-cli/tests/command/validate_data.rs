//! `zarr validate --data`.

use std::fs;

use serde_json::{Value, json};

use crate::args;
use crate::harness::{Folder, array, base, with, zarr};

fn findings(report: &Value) -> Vec<(&str, &str, &Value)> {
    let nodes = report["nodes"].as_array().unwrap().iter();
    let all = nodes.flat_map(|node| node["findings"].as_array().unwrap());
    all.map(|f| (f["severity"].as_str().unwrap(), f["code"].as_str().unwrap(), &f["key"])).collect()
}

fn validate(folder: &Folder, path: &str, options: &[&str], code: i32) -> Value {
    let options = options.iter().map(Into::into);
    let args = args!["validate", "--data", "--json", folder.join(path)].into_iter().chain(options);
    let report = zarr(args).exits(code).json();
    assert_eq!(report["valid"], json!(code == 0));
    report
}

#[test]
fn stored_chunks_are_counted_and_missing_ones_are_a_note() {
    let folder = Folder::new();
    folder.group("h.zarr");
    folder.base("h.zarr/a");
    let done = zarr(args!["validate", "--data", folder.join("h.zarr")]).ok();
    assert!(
        done.text().starts_with("/a (array)\n  info missing-chunks: 1 chunk not stored\n"),
        "{}",
        done.text()
    );
    assert!(
        done.text().ends_with("2 nodes, 0 errors, 0 warnings\n1 chunk read, 8 bytes\n"),
        "{}",
        done.text()
    );
    let report = validate(&folder, "h.zarr", &[], 0);
    let counts = ["checked_chunks", "checked_inner_chunks", "checked_bytes", "missing_chunks"];
    assert_eq!(counts.map(|name| report[name].as_u64()), [Some(1), Some(0), Some(8), Some(1)]);
    let options = [&["--severity", "warning"][..], &["--ignore", "missing-chunks"]];
    for options in options {
        assert_eq!(findings(&validate(&folder, "h.zarr", options, 0)), []);
    }
}

#[test]
fn all_damaged_chunks_are_listed_with_their_cause() {
    let folder = Folder::new();
    folder.group("h.zarr");
    let little = json!({ "name": "bytes", "configuration": { "endian": "little" } });
    let codecs = json!([little, { "name": "crc32c" }]);
    folder.node("h.zarr/a", &array(&[6], "int32", &[2], &json!(0), &codecs));
    folder.write("h.zarr/a/c/0", [0; 12]);
    folder.write("h.zarr/a/c/1", [0; 5]);
    folder.write("h.zarr/a/c/7", [0; 5]);
    folder.write("h.zarr/a/note", [0; 5]);
    folder.node(
        "h.zarr/b",
        &with(array(&[2], "bool", &[2], &json!(false), &json!([{ "name": "bytes" }])), &json!({})),
    );
    folder.write("h.zarr/b/c/0", [1, 2]);
    folder.node("h.zarr/c", &with(base(), &json!({ "codecs": [{ "name": "foo" }] })));
    let report = validate(
        &folder,
        "h.zarr",
        &["--ignore", "ZM092", "--ignore", "unknown-extension", "--ignore", "ZM071"],
        5,
    );
    let (none, key) = (json!(null), |key: &str| json!(key));
    let [stray1, stray2, c0, c1, b] = ["a/c/7", "a/note", "a/c/0", "a/c/1", "b/c/0"].map(key);
    let wanted = [
        ("warning", "stray-object", &stray1),
        ("warning", "stray-object", &stray2),
        ("error", "checksum", &c0),
        ("error", "corrupt-chunk", &c1),
        ("info", "missing-chunks", &none),
        ("error", "corrupt-chunk", &b),
        ("error", "unreadable-chunk", &none),
    ];
    let found = findings(&report);
    assert_eq!(found, wanted);
    assert_eq!(report["nodes"][1]["findings"][2]["index"], json!([0]));
    let text = zarr(args!["validate", "--data", "--severity", "error", folder.join("h.zarr")]).exits(5);
    assert!(
        text.text().contains("error checksum in chunk [0] (key \"a/c/0\"): codec \"crc32c\""),
        "{}",
        text.text()
    );
}

#[test]
fn a_damaged_inner_chunk_does_not_hide_the_others() {
    let folder = Folder::new();
    folder.node("raw.zarr", &array(&[2, 8], "uint8", &[2, 8], &json!(0), &json!([{ "name": "bytes" }])));
    folder.write("raw.zarr/c/0/0", [1; 16]);
    let codecs =
        json!([{ "name": "bytes" }, { "name": "zstd", "configuration": { "level": 1, "checksum": true } }]);
    let (from, to) = (folder.join("raw.zarr"), folder.join("a.zarr"));
    let codecs = codecs.to_string();
    zarr(args!["copy", "-q", from, to, "--shards", "2,8", "--chunks", "1,2", "--codecs", codecs]).ok();
    let key = "a.zarr/c/0/0";
    let mut object = fs::read(folder.join(key)).unwrap();
    let lines = zarr(args!["chunks", "--json", folder.join("a.zarr")]).ok().json();
    for inner in [1, 6] {
        let offset = lines["inner_chunks"][inner]["offset"].as_u64().unwrap();
        object[usize::try_from(offset).unwrap()] ^= 0xff;
    }
    folder.write(key, &object);
    let report = validate(&folder, "a.zarr", &[], 5);
    assert_eq!(report["checked_inner_chunks"], 8);
    let found = report["nodes"][0]["findings"].as_array().unwrap();
    let starts: Vec<&Value> = found.iter().map(|f| &f["inner_start"]).collect();
    assert_eq!(starts, [&json!([0, 2]), &json!([1, 4])]);
    // Without its index, the shard as a whole is corrupt.
    *object.last_mut().unwrap() ^= 1;
    folder.write(key, &object);
    let report = validate(&folder, "a.zarr", &[], 5);
    assert_eq!(report["nodes"][0]["findings"].as_array().unwrap().len(), 1);
    assert_eq!(report["nodes"][0]["findings"][0]["inner_start"], Value::Null);
}
