//! The output of `zarr du`.

use serde_json::{Value, json};

use crate::args;
use crate::harness::{Folder, array, zarr, zarr_in};

/// Makes a hierarchy with a sparse array, a stray object, texts and a broken node.
fn hierarchy(folder: &Folder) {
    folder.group("h.zarr");
    folder.base("h.zarr/full");
    folder.group("h.zarr/g");
    let little = json!([{ "name": "bytes", "configuration": { "endian": "little" } }]);
    folder.node("h.zarr/g/sparse", &array(&[100, 2], "int16", &[10, 2], &json!(0), &little));
    folder.write("h.zarr/g/sparse/c/3/0", [0; 40]);
    folder.write("h.zarr/g/sparse/c/99/0", [0; 7]);
    folder.write("h.zarr/g/notes.txt", [0; 5]);
    folder
        .node("h.zarr/g/texts", &array(&[4], "string", &[4], &json!(""), &json!([{ "name": "vlen-utf8" }])));
    folder.write("h.zarr/broken/zarr.json", "{");
}

fn nodes(folder: &Folder, options: &[&str]) -> Vec<Value> {
    let mut args = args!["du", "--json", folder.join("h.zarr")].to_vec();
    args.extend(options.iter().map(Into::into));
    zarr(args).ok().json()["nodes"].as_array().unwrap().clone()
}

#[test]
fn all_bytes_belong_to_a_node() {
    let folder = Folder::new();
    hierarchy(&folder);
    let all = nodes(&folder, &[]);
    let node = |path: &str| all.iter().find(|node| node["path"] == path).unwrap();
    let number = |path: &str, name: &str| node(path)[name].as_u64().unwrap();
    let sparse =
        ["chunk_bytes", "stored_chunks", "chunks", "uncompressed_bytes", "other_bytes", "other_objects"];
    assert_eq!(sparse.map(|name| number("/g/sparse", name)), [40, 1, 10, 400, 7, 1]);
    assert_eq!(["other_bytes", "other_objects"].map(|name| number("/g", name)), [12, 2]);
    assert_eq!([number("/broken", "document_bytes"), number("/broken", "documents")], [1, 1]);
    let known =
        ["/full", "/g/sparse", "/g/texts", "/broken", "/"].map(|path| &node(path)["uncompressed_is_known"]);
    assert_eq!(known, [true, true, false, false, false]);
    // Nothing is left out, and nothing counts twice.
    let files = folder.files("h.zarr");
    let bytes: u64 = folder.contents("h.zarr").iter().map(|(_, bytes)| bytes.len() as u64).sum();
    assert_eq!((number("/", "stored_objects"), number("/", "stored_bytes")), (files.len() as u64, bytes));
}

#[test]
fn rows_are_sorted_and_cut_by_depth() {
    let folder = Folder::new();
    hierarchy(&folder);
    let paths = |options: &[&str]| -> Vec<String> {
        nodes(&folder, options).iter().map(|node| node["path"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(paths(&["-d", "1"]), ["/", "/broken", "/full", "/g"]);
    assert_eq!(paths(&["--sort", "uncompressed"])[..3], ["/", "/g", "/g/sparse"]);
    assert_eq!(nodes(&folder, &["-d", "0"])[0]["stored_bytes"], nodes(&folder, &[])[0]["stored_bytes"]);
}

#[test]
fn a_table_is_for_people() {
    let folder = Folder::new();
    folder.group("t.zarr");
    let plain = json!([{ "name": "bytes" }]);
    folder.node("t.zarr/a", &array(&[4000], "uint8", &[1000], &json!(0), &plain));
    folder.write("t.zarr/a/c/0", [0; 500]);
    folder.write("t.zarr/a/c/1", [0; 500]);
    folder.write("t.zarr/a/x", [0; 3]);
    let text = zarr_in(folder.path(), ["du", "--bytes", "t.zarr"]).ok().text().to_owned();
    let row: Vec<&str> = text.lines().nth(2).unwrap().split_whitespace().collect();
    let stored = 1003 + std::fs::metadata(folder.join("t.zarr/a/zarr.json")).unwrap().len();
    let wanted = format!("{stored} 4000 4.0 2 of 4 /a 1 other object of 3");
    assert_eq!(row.join(" "), wanted, "{text}");
    // The bytes of texts are not known.
    folder.node("t.zarr/s", &array(&[4], "string", &[4], &json!(""), &json!([{ "name": "vlen-utf8" }])));
    let text = zarr_in(folder.path(), ["du", "t.zarr"]).ok().text().to_owned();
    let row = text.lines().find(|line| line.ends_with(" /s")).unwrap();
    let cells: Vec<&str> = row.split_whitespace().skip(2).collect();
    assert_eq!(cells.join(" "), "- - 0 of 1 /s", "{text}");
    assert!(text.contains("  over 3.91 KiB  -  "), "{text}");
    zarr_in(folder.path(), ["du", "none.zarr"]).fails(3, &["there is no directory"]);
}
