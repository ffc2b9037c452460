//! Hierarchies as zarr-python 3.1.6 writes and consolidates them, in both formats.

use crate::common::{cost, json, names, open, store, text};
use zarr_hierarchy::zarr_array::meta::json::Object;

const ARRAY: &str = r#"{"shape": [2], "data_type": "uint8", "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}}, "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}}, "fill_value": 0, "codecs": [{"name": "bytes"}], "attributes": {}, "zarr_format": 3, "node_type": "array", "storage_transformers": []}"#;
const ROOT: &str = r#"{"attributes": {"t": "\u00e9"}, "zarr_format": 3, "consolidated_metadata": {"kind": "inline", "must_understand": false, "metadata": {"a": {"attributes": {"n": 1}, "zarr_format": 3, "consolidated_metadata": {"kind": "inline", "must_understand": false, "metadata": {}}, "node_type": "group"}, "a/x": {"shape": [2], "data_type": "uint8", "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}}, "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}}, "fill_value": 0, "codecs": [{"name": "bytes"}], "attributes": {}, "zarr_format": 3, "node_type": "array", "storage_transformers": []}}}, "node_type": "group"}"#;
const ARRAY2: &str = r#"{"shape": [2], "chunks": [2], "dtype": "|u1", "fill_value": 0, "order": "C", "filters": null, "dimension_separator": ".", "compressor": null, "zarr_format": 2}"#;
const METADATA2: &str = r#"{"metadata": {".zgroup": {"zarr_format": 2}, ".zattrs": {"t": "\u00e9"}, "a/.zattrs": {"n": 1}, "a/.zgroup": {"zarr_format": 2, "consolidated_metadata": {"metadata": {}, "must_understand": false, "kind": "inline"}}, "a/x/.zattrs": {}, "a/x/.zarray": {"shape": [2], "chunks": [2], "dtype": "|u1", "fill_value": 0, "order": "C", "filters": null, "dimension_separator": ".", "compressor": null, "zarr_format": 2}}, "zarr_consolidated_format": 1}"#;

const V3: &[(&str, &str)] = &[
    ("a/x/zarr.json", ARRAY),
    ("a/zarr.json", r#"{"attributes": {"n": 1}, "zarr_format": 3, "node_type": "group"}"#),
    ("zarr.json", ROOT),
];
const V2: &[(&str, &str)] = &[
    (".zattrs", r#"{"t": "\u00e9"}"#),
    (".zgroup", r#"{"zarr_format": 2}"#),
    (".zmetadata", METADATA2),
    ("a/.zattrs", r#"{"n": 1}"#),
    ("a/.zgroup", r#"{"zarr_format": 2}"#),
    ("a/x/.zarray", ARRAY2),
    ("a/x/.zattrs", "{}"),
];

#[test]
fn consolidated_metadata_of_zarr_python_is_used_and_up_to_date() {
    for objects in [V3, V2] {
        let (storage, counting) = store(objects);
        let root = open(&storage);
        assert!(root.is_consolidated() && root.diagnostics().is_empty());
        let used = cost(&counting, || {
            assert_eq!(names(&root.children().unwrap()), ["a"]);
            assert_eq!(root.group("a").unwrap().attributes().get("n").unwrap().as_raw(), "1");
            assert_eq!(root.array("a/x").unwrap().shape(), [2]);
        });
        assert_eq!(used.requests(), 0);
        assert_eq!(root.check_consolidated().unwrap().unwrap(), []);
        assert_eq!(root.attributes().get("t").unwrap().to_text().unwrap(), "é");
    }
}

/// A change of one node keeps the bytes of the other nodes, as zarr-python wrote them.
#[test]
fn a_change_keeps_the_other_consolidated_entries() {
    let entry = |object: Object, path: &[&str]| {
        path.iter().fold(object.to_value(), |value, name| value.as_object().unwrap().get(name).unwrap())
    };
    for (objects, holder, map, array) in [
        (V3, "zarr.json", &["consolidated_metadata", "metadata"][..], "a/x"),
        (V2, ".zmetadata", &["metadata"], "a/x/.zarray"),
    ] {
        let (storage, _) = store(objects);
        let before = entry(json(&storage, holder).as_object().unwrap(), &[map, &[array]].concat());
        open(&storage).group("a").unwrap().edit_attributes(|a| a.set("n", 2)).unwrap();
        let after = entry(json(&storage, holder).as_object().unwrap(), &[map, &[array]].concat());
        assert_eq!(after, before);
        assert_eq!(open(&storage).group("a").unwrap().attributes().get("n").unwrap().as_raw(), "2");
        assert!(text(&storage, holder).contains(r"\u00e9"), "with its spelling");
    }
}
