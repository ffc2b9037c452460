//! The output of `zarr ls`.

use serde_json::{Value, json};

use crate::args;
use crate::harness::{Folder, array, base, base2, with, zarr, zarr_in};

#[test]
fn children_are_listed_by_their_paths() {
    let folder = Folder::new();
    folder.group("h.zarr");
    folder.base("h.zarr/a");
    folder.group("h.zarr/g");
    folder.base("h.zarr/g/b");
    folder.write("h.zarr/notes/file", "");
    let ls = |args: &[&str]| zarr_in(folder.path(), [&["ls"], args].concat());
    let done = ls(&["h.zarr"]).ok_with_notes();
    assert_eq!(
        (done.text(), done.err.contains("\"notes\": there is no metadata document")),
        ("a\ng\n", true)
    );
    assert_eq!(ls(&["-R", "h.zarr"]).ok_with_notes().text(), "a\ng\ng/b\n");
    assert_eq!(ls(&["-R", "h.zarr/g"]).ok().text(), "b\n");
    for (depth, listed) in [("1", "a\ng\n"), ("2", "a\ng\ng/b\n")] {
        assert_eq!(ls(&["-d", depth, "h.zarr"]).ok_with_notes().text(), listed);
        assert_eq!(ls(&["-R", "-d", depth, "h.zarr"]).ok_with_notes().text(), listed);
    }
    ls(&["-d", "0", "h.zarr"]).exits(2);
    // An array is listed itself.
    assert_eq!(ls(&["h.zarr/a"]).ok().text(), "h.zarr/a\n");
    assert_eq!(ls(&["-l", "h.zarr/a"]).ok().text(), "array  3  h.zarr/a  int32  4  2  bytes\n");
}

#[test]
fn a_long_row_has_kind_type_shape_chunks_and_codecs() {
    let folder = Folder::new();
    folder.group2("h.zarr");
    let zlib = json!({ "id": "zlib", "level": 1 });
    folder.array2(
        "h.zarr/a",
        &with(base2(), &json!({ "compressor": zlib, "dtype": "<M8[s]", "fill_value": 0 })),
    );
    folder.group2("h.zarr/g");
    assert_eq!(
        zarr(args!["ls", "-l", folder.join("h.zarr")]).ok().text(),
        "array  2  a  numpy.datetime64(unit=s, scale_factor=1)  4  2  bytes > numcodecs.zlib\ngroup  2  g\n"
    );
    let index = json!([{ "name": "bytes", "configuration": { "endian": "little" } }, { "name": "crc32c" }]);
    let inside = json!({ "chunk_shape": [2, 3], "codecs": base()["codecs"], "index_codecs": index });
    let codecs = json!([{ "name": "sharding_indexed", "configuration": inside }]);
    folder.node("s.zarr", &array(&[8, 9], "uint8", &[4, 9], &json!(0), &codecs));
    let done = zarr_in(folder.path(), ["ls", "-l", "s.zarr"]).ok();
    assert_eq!(done.text(), "array  3  s.zarr  uint8  8 × 9  2 × 3 in 4 × 9  sharding_indexed(bytes)\n");
    let json: Value = zarr(args!["ls", "--json", folder.join("s.zarr")]).ok().json();
    assert_eq!((&json["inner_chunk_shape"], &json["chunk_shape"]), (&json!([2, 3]), &json!([4, 9])));
    assert_eq!(json["codecs"], codecs);
}

#[test]
fn the_stores_in_a_folder_are_listed() {
    let folder = Folder::new();
    folder.group("b.zarr");
    folder.base("b.zarr/x");
    folder.base("a.zarr");
    folder.group2("c.zarr");
    folder.write("notes/file", "");
    folder.write("broken.zarr/zarr.json", "{");
    let url = format!("file://{}", folder.path().display());
    for place in [".", folder.path().to_str().unwrap(), &url] {
        let ls = |args: &[&str]| zarr_in(folder.path(), [&["ls"], args, &[place]].concat());
        let done = ls(&[]).ok_with_notes();
        assert_eq!(done.text(), "a.zarr\nb.zarr\nc.zarr\n", "{place}");
        done.says(&["/broken.zarr"]);
        assert_eq!(ls(&["-R"]).ok_with_notes().text(), "a.zarr\nb.zarr\nb.zarr/x\nc.zarr\n", "{place}");
        assert_eq!(ls(&["-d", "1"]).ok_with_notes().text(), ls(&[]).ok_with_notes().text(), "{place}");
        let rows = ls(&["-l"]).ok_with_notes();
        assert!(
            rows.text().starts_with("array  3  a.zarr  int32  4  2  bytes\ngroup  3  b.zarr"),
            "{}",
            rows.text()
        );
        let first = ls(&["--json"]).ok_with_notes().text().lines().next().unwrap().to_owned();
        let first: Value = serde_json::from_str(&first).unwrap();
        assert_eq!((&first["path"], &first["node_type"]), (&json!("/a.zarr"), &json!("array")), "{place}");
    }
    let empty = Folder::new();
    zarr(args!["ls", empty.path()]).fails(3, &["there is no node"]);
}

#[test]
fn a_similar_name_is_suggested_for_a_missing_node() {
    let folder = Folder::new();
    folder.group("weather.zarr");
    folder.base("weather.zarr/temperature");
    let store = folder.join("weather.zarr");
    zarr(args!["info", store.join("temprature")])
        .fails(3, &["there is no node \"temprature\"; did you mean \"temperature\"?"]);
    zarr(args!["info", folder.join("wether.zarr")]).fails(3, &["did you mean \"weather.zarr\"?"]);
    let url = format!("file://{}|zarr:", store.display());
    zarr(args!["info", format!("{url}Temperature")])
        .fails(3, &["there is no node at \"/Temperature\"; did you mean \"temperature\"?"]);
    let other = zarr(args!["info", store.join("wind")]).exits(3);
    assert!(!other.err.contains("did you mean"), "{}", other.err);
}
