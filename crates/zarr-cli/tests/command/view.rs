//! `zarr view` writes one file that needs nothing else.

use std::fs;

use serde_json::{Value, json};

use crate::harness::{Folder, zarr_in};

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("numbers.raw", (0..120_u8).collect::<Vec<_>>());
    for arguments in [
        "create a.zarr --group",
        "create a.zarr/g --group",
        "create a.zarr/g/t --dtype uint8 --shape 20,2,3 --chunks 5,2,3 --from numbers.raw",
        "create a.zarr/one --dtype uint8 --shape 4",
        "attrs set a.zarr/g/t title \"</script><script>alert(1)</script>\"",
    ] {
        zarr_in(folder.path(), arguments.split(' ')).exits(0);
    }
    folder
}

/// Returns the answers in a written page.
fn answers(page: &str) -> Value {
    let start = "<script type=\"application/json\" id=\"answers\">";
    let text = &page[page.find(start).unwrap() + start.len()..];
    serde_json::from_str(&text[..text.find("</script>").unwrap()]).unwrap()
}

#[test]
fn the_file_holds_the_answers_and_loads_nothing() {
    let folder = folder();
    zarr_in(folder.path(), ["view", "a.zarr", "-o", "a.html", "--colormap", "viridis"]).ok();
    let page = fs::read_to_string(folder.join("a.html")).unwrap();
    assert!(page.contains("default-src 'none'; script-src 'sha256-"));
    assert!(!page.contains("src=\"page.js\"") && !page.contains("<script>alert"));
    let answers = answers(&page);
    assert_eq!(answers["node"]["/g/t"]["attributes"][0]["value"], "</script><script>alert(1)</script>");
    let planes = answers["planes"]["/g/t"]["planes"].as_array().unwrap();
    let at: Vec<&Value> = planes.iter().map(|plane| &plane["at"][0]).collect();
    assert_eq!(at, [0, 2, 5, 8, 10, 13, 16, 19]);
    assert_eq!(answers["chunks"]["/g/t"]["stored"], 4);
    assert!(answers["planes"]["/one"]["error"].as_str().unwrap().contains("two or more dimensions"));
}

#[test]
fn a_node_is_the_root_of_its_page_and_the_size_is_kept() {
    let folder = folder();
    let done = zarr_in(folder.path(), ["view", "a.zarr/g", "-o", "-", "--max-size", "0"]).ok();
    let answers = answers(&String::from_utf8(done.out).unwrap());
    let paths: Vec<&Value> =
        answers["tree"]["nodes"].as_array().unwrap().iter().map(|node| &node["path"]).collect();
    assert_eq!(paths, [&json!("/"), &json!("/t")]);
    assert!(answers["node"]["/t"]["documents"][0]["text"].as_str().unwrap().contains("\"shape\""));
    assert!(answers["planes"]["/t"]["error"].as_str().unwrap().contains("--max-size"));
    zarr_in(folder.path(), ["view", "missing.zarr", "-o", "b.html"]).exits(3);
    assert!(!folder.join("b.html").exists());
}
