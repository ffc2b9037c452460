//! `zarr set` changes attributes, names of dimensions and the fill value.

use serde_json::json;

use crate::args;
use crate::harness::{Done, Folder, base, base2, with, zarr, zarr_in};

fn set(folder: &Folder, path: &str, rest: &[&str]) -> Done {
    zarr_in(folder.path(), [&["set", path], rest].concat())
}

/// Makes an array of two dimensions in each format.
fn arrays(folder: &Folder) -> [&'static str; 2] {
    let three = with(
        base(),
        &json!({ "shape": [4, 6], "chunk_grid": { "name": "regular", "configuration": { "chunk_shape": [4, 3] } } }),
    );
    folder.group("h.zarr");
    folder.node("h.zarr/a", &three);
    folder.group2("i.zarr");
    folder.array2("i.zarr/a", &with(base2(), &json!({ "shape": [4, 6], "chunks": [4, 3] })));
    ["h.zarr/a", "i.zarr/a"]
}

#[test]
fn dimensions_get_names_and_new_ones() {
    let folder = Folder::new();
    for path in arrays(&folder) {
        let names =
            || zarr(args!["info", "--json", folder.join(path)]).ok().json()["dimension_names"].clone();
        let done = set(&folder, path, &["--dimension-names", "y,x", "units=K", "range=[1, 2]"]).ok();
        assert_eq!(done.text(), "set units = \"K\"; range = [1,2]; dimensions y, x\n");
        assert_eq!(names(), json!(["y", "x"]), "{path}");
        set(&folder, path, &["--dimension-names", "x=lon"]).ok();
        assert_eq!(names(), json!(["y", "lon"]), "{path}");
        let attribute = zarr(args!["attrs", folder.join(path), "range"]).ok();
        assert_eq!(attribute.json(), json!([1, 2]));
        set(&folder, path, &["--dimension-names", "x=lat"]).fails(2, &["no dimension \"x\"", "y, lon"]);
        set(&folder, path, &["--dimension-names", "y"])
            .fails(2, &["the array has 2 dimensions, 1 names are given"]);
        set(&folder, path, &["--dimension-names", "y,y,y", "units=m"]).exits(2);
        set(&folder, path, &["/range/5=1", "units=m"])
            .fails(3, &["no attribute \"/range/5\"", "nothing was changed"]);
        assert_eq!(zarr(args!["attrs", folder.join(path), "units"]).ok().text(), "\"K\"\n");
        set(&folder, path, &[]).exits(2);
        set(&folder, path, &["units"]).exits(2);
    }
    set(&folder, "h.zarr", &["title=a=b"]).ok();
    assert_eq!(zarr(args!["attrs", folder.join("h.zarr"), "title"]).ok().text(), "\"a=b\"\n");
    set(&folder, "h.zarr", &["--dimension-names", "x"]).fails(2, &["this is a group"]);
    set(&folder, "h.zarr", &["--fill", "1"]).fails(2, &["this is a group"]);
}

#[test]
fn a_fill_value_that_changes_elements_needs_force() {
    let folder = Folder::new();
    for path in arrays(&folder) {
        let fill = || zarr(args!["info", "--json", folder.join(path)]).ok().json()["fill_value"].clone();
        let before = fill();
        set(&folder, path, &["--fill", "7"]).fails(2, &["2 of 2 chunks are not stored", "--force"]);
        set(&folder, path, &["--fill", "1.5"]).fails(2, &["\"1.5\" is no fill value of data type int32"]);
        assert_eq!(fill(), before);
        zarr(args!["write", folder.join(path), "-s", ":,:3", "--value", "5"]).ok();
        set(&folder, path, &["--fill", "7"]).fails(2, &["1 of 2 chunks"]);
        let done = set(&folder, path, &["--fill", "7", "--force", "--json"]).ok().json();
        assert_eq!((&done["fill_value"], &done["attributes"]), (&json!(7), &json!({})));
        assert_eq!(fill(), json!(7));
        let row = zarr(args!["cat", "-f", "json", "-s", "0", folder.join(path)]).ok().json();
        assert_eq!(row, json!([5, 5, 5, 7, 7, 7]));
        zarr(args!["write", folder.join(path), "--value", "7"]).ok();
        zarr(args!["write", folder.join(path), "-s", ":,3", "--value", "8"]).ok();
    }
}

#[test]
fn members_of_the_metadata_are_no_attributes() {
    let folder = Folder::new();
    for path in arrays(&folder) {
        set(&folder, path, &["dimension_names=[\"y\",\"x\"]"])
            .fails(2, &["member of the metadata", "`zarr set --dimension-names`"]);
        let attrs = |rest: &[&str]| zarr_in(folder.path(), [&["attrs"], rest].concat());
        attrs(&["set", path, "shape", "[1]"]).fails(2, &["\"shape\"", "`zarr resize`", "\"/shape\""]);
        attrs(&["merge", path, r#"{"fill_value": 1}"#]).fails(2, &["`zarr set --fill`"]);
        attrs(&["set", path, "/shape", "[1]"]).ok();
        // It is one now.
        attrs(&["set", path, "shape", "[2]"]).ok();
        attrs(&["rm", path, "shape"]).ok();
    }
    zarr_in(folder.path(), ["attrs", "set", "h.zarr", "shape", "round"]).ok();
}
