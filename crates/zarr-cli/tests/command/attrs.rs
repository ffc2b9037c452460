//! `zarr attrs` prints and changes attributes.

use std::fs;
use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::args;
use crate::harness::{Done, Folder, base, base2, command, with, zarr, zarr_in};

fn attrs(folder: &Folder, action: &str, path: &str, rest: &[&str]) -> Done {
    zarr_in(folder.path(), [&["attrs", action, path], rest].concat())
}

/// Makes an array and a group of each format.
fn nodes(folder: &Folder) -> [&'static str; 4] {
    folder.group("h.zarr");
    folder.base("h.zarr/a");
    folder.group2("i.zarr");
    folder.array2("i.zarr/a", &base2());
    ["h.zarr", "h.zarr/a", "i.zarr", "i.zarr/a"]
}

#[test]
fn equations_set_attributes_and_a_text_like_a_number_has_a_note() {
    let folder = Folder::new();
    folder.base("a.zarr");
    let run = |line: &str| crate::harness::zarr_in(folder.path(), line.split(' '));
    run("attrs set a.zarr units=K scale=0.5").ok();
    let document = folder.document("a.zarr");
    assert_eq!(document["attributes"], json!({ "units": "K", "scale": 0.5 }));
    run("attrs set a.zarr scale 1,5")
        .ok_with_notes()
        .says(&["\"scale\" is stored as a text", "1,5 is not JSON"]);
    assert_eq!(folder.document("a.zarr")["attributes"]["scale"], "1,5");
}

#[test]
fn attributes_are_set_merged_and_removed() {
    let folder = Folder::new();
    for path in nodes(&folder) {
        let get = || -> Value { attrs(&folder, "get", path, &[]).ok().json() };
        assert_eq!(get(), json!({}), "{path}");
        let pairs = ["units", "K", "scale", "-0.10", "range", "[200, 330]", "text", "\"1\"", "flag", "true"];
        assert!(attrs(&folder, "set", path, &pairs).ok().out.is_empty());
        let wanted = json!({ "units": "K", "scale": -0.10, "range": [200, 330], "text": "1", "flag": true });
        assert_eq!(get(), wanted, "{path}");
        // As the user wrote it.
        assert_eq!(attrs(&folder, "get", path, &["scale"]).ok().text(), "-0.10\n");
        attrs(&folder, "merge", path, &[r#"{"units": "°C", "new": {"a/b": [{"x": 1}]}}"#]).ok();
        assert_eq!(attrs(&folder, "get", path, &["units"]).ok().text(), "\"°C\"\n");
        assert_eq!(attrs(&folder, "get", path, &["/new/a~1b/0/x"]).ok().text(), "1\n");
        attrs(&folder, "rm", path, &["units", "new", "text"]).ok();
        assert_eq!(get(), json!({ "scale": -0.10, "range": [200, 330], "flag": true }), "{path}");
        // Changes all of them or none.
        attrs(&folder, "rm", path, &["scale", "nope"])
            .fails(3, &["no attribute \"nope\"; nothing was changed"]);
        for name in ["nope", "/range/2", "/range/x", "/flag/x"] {
            attrs(&folder, "get", path, &[name]).fails(3, &["no attribute", name]);
        }
        assert!(get()["scale"].is_number());
    }
    // Elements and the other members of the documents are unchanged.
    for (array, dtype) in [("h.zarr/a", "int32"), ("i.zarr/a", "int32")] {
        let info = zarr(args!["info", "--json", folder.join(array)]).ok().json();
        assert_eq!(info["data_type"], dtype);
        zarr(args!["cat", "-f", "raw", folder.join(array)]).ok();
    }
}

/// As `attrs get` reads: first as a name, then as a JSON pointer.
#[test]
fn parts_of_attributes_are_set_and_removed_by_pointer() {
    let folder = Folder::new();
    for path in nodes(&folder) {
        let get = || -> Value { attrs(&folder, "get", path, &[]).ok().json() };
        attrs(&folder, "set", path, &["a", "[1,{\"x\":2},3]", "o", "{\"k/\":1.50}", "s", "text"]).ok();
        attrs(
            &folder,
            "set",
            path,
            &["/a/0", "5", "/a/1/y", "new", "/a/-", "4", "/o/k~1", "2", "/n", "null"],
        )
        .ok();
        let wanted =
            json!({ "a": [5, { "x": 2, "y": "new" }, 3, 4], "o": { "k/": 2 }, "s": "text", "n": null });
        assert_eq!(get(), wanted, "{path}");
        attrs(&folder, "rm", path, &["/a/1/x", "/a/0", "/o/k~1", "n"]).ok();
        let wanted = json!({ "a": [{ "y": "new" }, 3, 4], "o": {}, "s": "text" });
        assert_eq!(get(), wanted, "{path}");
        // Changes all of them or none.
        for pointer in ["/a/3", "/a/x", "/s/x", "/no/x", "/a/-/x"] {
            attrs(&folder, "set", path, &["s", "1", pointer, "1"]).fails(3, &["no attribute", pointer]);
            attrs(&folder, "rm", path, &["s", pointer]).fails(3, &["no attribute", pointer]);
        }
        assert_eq!(get(), wanted, "{path}");
        // An attribute may have such a name.
        attrs(&folder, "merge", path, &[r#"{"/a/0": 1}"#]).ok();
        attrs(&folder, "set", path, &["/a/0", "2"]).ok();
        assert_eq!((&get()["/a/0"], &get()["a"][0]), (&json!(2), &json!({ "y": "new" })));
        attrs(&folder, "rm", path, &["/a/0"]).ok();
        assert_eq!(get(), wanted, "{path}");
    }
}

#[test]
fn attributes_come_from_a_file_or_from_standard_input() {
    let folder = Folder::new();
    folder.base("a.zarr");
    folder.write("attributes.json", "{\"a\": 1}\n");
    attrs(&folder, "merge", "a.zarr", &["@attributes.json"]).ok();
    let mut command = command();
    command.current_dir(folder.path()).args(["attrs", "merge", "a.zarr", "-"]).stdin(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"{\"b\": [2]}").unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(folder.document("a.zarr")["attributes"], json!({ "a": 1, "b": [2] }));
    attrs(&folder, "merge", "a.zarr", &["{"]).fails(2, &["the argument: line 1"]);
    attrs(&folder, "merge", "a.zarr", &["[1]"]).fails(2, &["attributes must be a JSON object"]);
    attrs(&folder, "merge", "a.zarr", &["@none.json"]).fails(3, &["none.json"]);
}

#[test]
fn unchanged_members_keep_their_bytes() {
    let folder = Folder::new();
    // An unknown codec, NaN as Python writes it, and a number with many digits.
    let text = with(base(), &json!({ "codecs": [{ "name": "foo" }] })).to_string();
    let text = text.replace("\"attributes\":{}", "\"attributes\" : {\"n\":NaN,  \"d\":1.50}");
    folder.write("a.zarr/zarr.json", &text);
    attrs(&folder, "set", "a.zarr", &["x", "1"]).ok();
    let changed = fs::read_to_string(folder.join("a.zarr/zarr.json")).unwrap();
    assert!(changed.contains("\"n\":NaN,  \"d\":1.50"), "{changed}");
    attrs(&folder, "rm", "a.zarr", &["x"]).ok();
    assert_eq!(fs::read_to_string(folder.join("a.zarr/zarr.json")).unwrap(), text);
}

#[test]
fn names_with_a_lone_surrogate_are_printed_as_they_are_spelled() {
    let folder = Folder::new();
    let text = base().to_string().replace("\"attributes\":{}", r#""attributes":{"\ud800":["\ud800"]}"#);
    folder.write("a.zarr/zarr.json", &text);
    let wanted = r#"{"\ud800": ["\ud800"]}"#;
    assert_eq!(attrs(&folder, "get", "a.zarr", &[]).ok().text(), format!("{wanted}\n"));
    let info = zarr(args!["info", "--json", folder.join("a.zarr")]).ok();
    assert!(info.text().contains(&format!("\"attributes\": {wanted}")), "{}", info.text());
}

#[test]
fn format_1_is_not_written() {
    let folder = Folder::new();
    let one = r#"{"zarr_format":1,"shape":[4],"chunks":[2],"dtype":">i4","compression":"none","compression_opts":null,"fill_value":7,"order":"C"}"#;
    folder.write("a.zarr/meta", one);
    folder.write("a.zarr/attrs", "{\"a\": 1}");
    assert_eq!(attrs(&folder, "get", "a.zarr", &["a"]).ok().text(), "1\n");
    attrs(&folder, "set", "a.zarr", &["a", "2"]).fails(6, &["format 1", "read-only"]);
    zarr(args!["rm", "-r", "--force", folder.join("a.zarr")]).fails(6, &["format 1"]);
    assert_eq!(folder.files("a.zarr"), ["attrs", "meta"]);
}

#[test]
fn attributes_that_cannot_be_read_are_not_overwritten() {
    let folder = Folder::new();
    folder.array2("a.zarr", &base2());
    folder.write("a.zarr/.zattrs", "{\"a\": ");
    attrs(&folder, "get", "a.zarr", &[]).fails(1, &["a.zarr", ".zattrs cannot be read"]);
    attrs(&folder, "set", "a.zarr", &["b", "1"]).fails(1, &["a.zarr", ".zattrs cannot be read"]);
    assert_eq!(fs::read_to_string(folder.join("a.zarr/.zattrs")).unwrap(), "{\"a\": ");
}

#[test]
fn changed_attributes_update_consolidated_metadata() {
    let folder = Folder::new();
    nodes(&folder);
    for store in ["h.zarr", "i.zarr"] {
        zarr(args!["consolidate", folder.join(store)]).ok();
        attrs(&folder, "set", &format!("{store}/a"), &["x", "1"]).ok();
        zarr(args!["consolidate", "--check", folder.join(store)]).ok();
    }
    attrs(&folder, "set", "h.zarr", &["x", "1"]).ok();
    zarr(args!["consolidate", "--check", folder.join("h.zarr")]).ok();
}
