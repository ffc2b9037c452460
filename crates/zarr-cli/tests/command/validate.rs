//! The findings of `zarr validate`.

use serde_json::{Value, json};

use crate::args;
use crate::harness::{Done, Folder, base, with, zarr};

fn validate(folder: &Folder, path: &str) -> Done {
    zarr(args!["validate", folder.join(path)])
}

fn findings(folder: &Folder, path: &str, code: i32) -> Vec<(String, String, String)> {
    let json = zarr(args!["validate", "--json", folder.join(path)]).exits(code).json();
    assert_eq!(json["valid"], json!(code == 0));
    let text = |v: &Value| v.as_str().unwrap().to_owned();
    let nodes = json["nodes"].as_array().unwrap().iter();
    let all = nodes.flat_map(|node| node["findings"].as_array().unwrap());
    all.map(|f| (text(&f["severity"]), text(&f["code"]), text(&f["pointer"]))).collect()
}

fn found(severity: &str, code: &str, pointer: &str) -> (String, String, String) {
    (severity.to_owned(), code.to_owned(), pointer.to_owned())
}

#[test]
fn a_clean_hierarchy_is_valid() {
    let folder = Folder::new();
    folder.group("h.zarr");
    folder.base("h.zarr/a");
    assert_eq!(validate(&folder, "h.zarr").ok().text(), "2 nodes, 0 errors, 0 warnings\n");
}

#[test]
fn chunks_that_no_array_has_are_warnings() {
    let folder = Folder::new();
    folder.group("h.zarr");
    folder.base("h.zarr/a");
    // An array that was larger, one that was erased, and what other programs have.
    for key in
        ["a/c/2", "a/c/3", "a/c/7", "old/c/0/0", "old/c/0/1", "old2/0.0", "README", ".git/1", "OME/x.xml"]
    {
        folder.write(&format!("h.zarr/{key}"), "1234");
    }
    let done = validate(&folder, "h.zarr").ok();
    for part in [
        "/a (array)\n  warning stray-object at key \"a/c/2\": a chunk outside of the array, and 2 more\n",
        "/ (group)\n  warning stray-object at key \"old/c/0/0\": the name of a chunk, but no array has it, and 2 more\n",
        "2 nodes, 0 errors, 2 warnings\n",
    ] {
        assert!(done.text().contains(part), "{part:?} is missing in\n{}", done.text());
    }
    // With `--data` each one of an array has a line.
    let done = zarr(args!["validate", "--data", folder.join("h.zarr")]).ok();
    assert!(done.text().contains("2 nodes, 0 errors, 4 warnings\n"), "{}", done.text());
}

#[test]
fn a_tolerated_deviation_is_an_error_with_advice() {
    let folder = Folder::new();
    folder.group("h.zarr");
    folder.node("h.zarr/a", &with(base(), &json!({ "shape": [4.0], "fill_value": 7.0 })));
    // Other verbs accept it.
    zarr(args!["cat", "-f", "raw", folder.join("h.zarr/a")]).ok();
    let done = validate(&folder, "h.zarr").exits(1);
    let text = done.text();
    assert!(
        text.contains("/a (array)\n  error ZM012 at /shape/0: the integer 4 is written as 4.0\n"),
        "{text}"
    );
    assert!(text.contains("Write it without fraction and exponent."), "{text}");
    assert!(text.ends_with("2 nodes, 2 errors, 0 warnings\n"), "{text}");
    let wanted = [found("error", "ZM012", "/shape/0"), found("error", "ZM040", "/fill_value")];
    assert_eq!(findings(&folder, "h.zarr", 1), wanted);
}

#[test]
fn advice_is_not_an_error() {
    let folder = Folder::new();
    let changes =
        json!({ "codecs": [{ "name": "bytes", "configuration": { "endian": "little" } }, "crc32c"] });
    folder.node("a.zarr", &with(base(), &changes));
    assert!(validate(&folder, "a.zarr").ok().text().contains("warning ZM071 at /codecs/1: "));
    assert_eq!(findings(&folder, "a.zarr", 0), [found("warning", "ZM071", "/codecs/1")]);
}

#[test]
fn findings_are_left_out_by_their_code() {
    let folder = Folder::new();
    folder.node("a.zarr", &with(base(), &json!({ "shape": [4.0], "fill_value": 7.0 })));
    let run = |codes: &[&str]| {
        let options = codes.iter().flat_map(|code| ["--ignore", *code]).map(Into::into);
        zarr(args!["validate", folder.join("a.zarr")].into_iter().chain(options))
    };
    assert!(run(&["ZM040"]).exits(1).text().ends_with("1 node, 1 error, 0 warnings\n"));
    assert_eq!(run(&["zm012", "ZM040"]).ok().text(), "1 node, 0 errors, 0 warnings\n");
}

#[test]
fn one_broken_node_does_not_hide_another() {
    let folder = Folder::new();
    folder.group("h.zarr");
    folder.write("h.zarr/a/zarr.json", "{\"zarr_format\": 3,}");
    folder.node("h.zarr/b", &with(base(), &json!({ "shape": [-1] })));
    folder.node("h.zarr/c", &with(base(), &json!({ "codecs": [{ "name": "foo" }] })));
    folder.node("h.zarr/d", &with(base(), &json!({ "fill_value": 1.5 })));
    folder.base("h.zarr/__e");
    folder.write("h.zarr/stray/file", "");
    let done = validate(&folder, "h.zarr").exits(1);
    let text = done.text();
    for part in [
        "/a (invalid)\n  error syntax: zarr.json: line 1, column 19 (byte 18): trailing comma",
        "/b (invalid)\n  error invalid at /shape/0: zarr.json: expected an integer",
        "/c (array)\n  warning ZM092 at /codecs/0: the name \"foo\" of a codec is not registered\n",
        "  error unknown-extension at /codecs/0: cannot be understood: unknown codec \"foo\"\n",
        "/d (array)\n  error invalid at /fill_value: ",
        "/__e (array)\n  error ZM060: ",
        "/stray (not a node)\n  note: there is no metadata document",
        "6 nodes, 5 errors, 1 warning\n",
    ] {
        assert!(text.contains(part), "{part:?} is missing in\n{text}");
    }
    let json = zarr(args!["validate", "--json", folder.join("h.zarr")]).exits(1).json();
    assert_eq!(json["not_nodes"][0]["path"], "/stray");
}
