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
