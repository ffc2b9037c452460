//! `zarr diff`.

use serde_json::{Value, json};

use crate::args;
use crate::harness::{Done, Folder, array, base, le, with, zarr};

fn diff(folder: &Folder, a: &str, b: &str, options: &[&str]) -> Done {
    let options = options.iter().map(Into::into);
    zarr(args!["diff", folder.join(a), folder.join(b)].into_iter().chain(options))
}

fn copy(folder: &Folder, a: &str, b: &str, options: &[&str]) {
    let options = options.iter().map(Into::into);
    zarr(args!["copy", "-q", folder.join(a), folder.join(b)].into_iter().chain(options)).exits(0);
}

/// Makes a group with an array of 4 × 6 numbers, and returns the document of the array.
fn numbers(folder: &Folder) -> Value {
    folder.group("h.zarr");
    let codecs = json!([{ "name": "bytes", "configuration": { "endian": "little" } }]);
    let changes =
        json!({ "dimension_names": ["y", "x"], "attributes": { "units": "K", "n": { "a": 1, "b": [2] } } });
    let document = with(array(&[4, 6], "int32", &[2, 3], &json!(0), &codecs), &changes);
    folder.node("h.zarr/a", &document);
    for (i, key) in ["0/0", "0/1", "1/0"].into_iter().enumerate() {
        let first = i32::try_from(i).unwrap() * 10;
        folder.write(&format!("h.zarr/a/c/{key}"), le(&[first, 1, 2, 3, 4, 5]));
    }
    document
}

#[test]
fn formats_chunks_and_codecs_are_no_difference() {
    let folder = Folder::new();
    numbers(&folder);
    for (i, options) in [
        &[][..],
        &["--zarr-format", "2"],
        &["--chunks", "4,1", "--codecs", "zstd:3"],
        &["--chunks", "1,3", "--shards", "4,6"],
        &["--zarr-format", "2", "--chunks", "4,6", "--codecs", "gzip:1"],
    ]
    .into_iter()
    .enumerate()
    {
        let name = format!("{i}.zarr");
        copy(&folder, "h.zarr", &name, options);
        for (a, b) in [("h.zarr", &*name), (&*name, "h.zarr")] {
            assert_eq!(diff(&folder, a, b, &[]).ok().text(), "2 nodes, no difference\n", "{options:?}");
        }
        let code = i32::from(i > 0);
        diff(&folder, "h.zarr", &name, &["--encoding"]).exits(code);
    }
}

#[test]
fn elements_that_differ_are_counted_and_the_first_is_shown() {
    let folder = Folder::new();
    numbers(&folder);
    for (i, options) in [&[][..], &["--chunks", "4,2"]].into_iter().enumerate() {
        let name = format!("{i}.zarr");
        copy(&folder, "h.zarr", &name, options);
        let path = folder.join(&format!("{name}/a"));
        zarr(args!["write", &path, "-s", "1,4", "--value", "8"]).ok();
        zarr(args!["write", &path, "-s", "3,5", "--value", "-4"]).ok();
        let wanted = "/a\n  2 elements differ, first at [1, 4]: 4 in A, 8 in B; largest difference 4.0, relative 1.0\n\
                      1 of 2 nodes differ\n";
        assert_eq!(diff(&folder, "h.zarr", &name, &[]).exits(1).text(), wanted);
        let found = diff(&folder, "h.zarr", &name, &["--json"]).exits(1).json();
        let wanted = json!({ "different": 2, "first": { "index": [1, 4], "a": 4, "b": 8 },
            "largest_absolute": 4.0, "largest_relative": 1.0 });
        assert_eq!((&found["equal"], &found["compared_nodes"]), (&json!(false), &json!(2)));
        assert_eq!(found["nodes"], json!([{ "path": "/a", "differences": [], "elements": wanted }]));
        diff(&folder, "h.zarr", &name, &["--metadata-only"]).ok();
        diff(&folder, "h.zarr", &name, &["--atol", "4"]).ok();
        diff(&folder, "h.zarr", &name, &["--rtol", "0.9"]).exits(1);
        let a = format!("{name}/a");
        diff(&folder, "h.zarr/a", &a, &["-s", "0,:"]).ok();
        let done = diff(&folder, "h.zarr/a", &a, &["-s", "::-1,5"]).exits(1);
        assert!(
            done.text().starts_with("/\n  1 element differs, first at [3, 5]: 0 in A, -4 in B"),
            "{}",
            done.text()
        );
        diff(&folder, "h.zarr", &name, &["-s", "0,:"]).fails(2, &["a selection needs two arrays"]);
    }
}

#[test]
fn metadata_that_differs_is_named_with_both_values() {
    let folder = Folder::new();
    let document = numbers(&folder);
    copy(&folder, "h.zarr", "b.zarr", &[]);
    folder.group("b.zarr/more");
    let changes = json!({ "fill_value": 9, "dimension_names": ["y", "z"], "shape": [4, 5],
        "attributes": { "units": "degC", "n": { "b": [2], "a": 1 }, "new": null } });
    folder.node("b.zarr/a", &with(document, &changes));
    let wanted = "\
/a
  shape: [4,6] in A, [4,5] in B
  fill_value: 0 in A, 9 in B
  dimension_names: [\"y\",\"x\"] in A, [\"y\",\"z\"] in B
  attribute \"new\": none in A, null in B
  attribute \"units\": \"K\" in A, \"degC\" in B
  elements are not compared: the shapes differ
/more
  only in B: group
2 of 3 nodes differ
";
    assert_eq!(diff(&folder, "h.zarr", "b.zarr", &[]).exits(1).text(), wanted);
    let found = diff(&folder, "h.zarr", "b.zarr", &["--json"]).exits(1).json();
    assert_eq!(found["nodes"][0]["not_compared_because"], "the shapes differ");
    assert_eq!(
        found["nodes"][0]["differences"][3],
        json!({ "difference": "attribute", "name": "new", "b": null })
    );
    diff(&folder, "h.zarr", "none.zarr", &[]).fails(3, &["none.zarr"]);
}

#[test]
fn equal_objects_are_not_decoded_and_missing_ones_not_read() {
    let folder = Folder::new();
    let little = json!({ "name": "bytes", "configuration": { "endian": "little" } });
    let codecs = json!([little, { "name": "zstd", "configuration": { "level": 1, "checksum": false } }]);
    for name in ["a.zarr", "b.zarr"] {
        // Neither chunk can be decoded, and both are equal.
        folder.node(name, &with(base(), &json!({ "shape": [4_000_000_000_000_u64], "codecs": codecs })));
        folder.write(&format!("{name}/c/5"), [1]);
    }
    diff(&folder, "a.zarr", "b.zarr", &[]).ok();
    folder.write("b.zarr/c/5", [2]);
    diff(&folder, "a.zarr", "b.zarr", &[]).fails(5, &["a.zarr", "chunk [5] (key \"c/5\")"]);
}

#[test]
fn nan_equals_nan_unless_told_otherwise() {
    let folder = Folder::new();
    for name in ["a.zarr", "b.zarr"] {
        let codecs = json!([{ "name": "bytes", "configuration": { "endian": "little" } }]);
        folder.node(name, &array(&[2], "float32", &[2], &json!("NaN"), &codecs));
    }
    diff(&folder, "a.zarr", "b.zarr", &[]).ok();
    let done = diff(&folder, "a.zarr", "b.zarr", &["--nan-differs"]).exits(1);
    assert!(done.text().contains("2 elements differ, first at [0]: \"NaN\" in A"), "{}", done.text());
}
