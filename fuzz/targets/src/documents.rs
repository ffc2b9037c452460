//! Metadata documents, and what they make of stored bytes. A document that is read is written back unchanged. An array
//! that opens answers reads with elements or an error, also if its chunk is hostile.

use std::collections::BTreeSet;

use bytes::Bytes;
use zarr_array::blocking::Array;
use zarr_array::{Cpu, OpenOptions, standard};
use zarr_hierarchy::GroupOptions;
use zarr_hierarchy::blocking::Group;
use zarr_meta::json::{Value, json};
use zarr_meta::{DocumentName, Documents, Format, Ignore, Limits, NodeMeta};
use zarr_store::MemoryStore;
use zarr_traits::{Key, Registry, Storage, block_on};

pub(crate) fn v3(input: &[u8]) {
    node(input, &[DocumentName::Node]);
}

pub(crate) fn v2(input: &[u8]) {
    node(input, &[DocumentName::Array2, DocumentName::Attributes2]);
    node(input, &[DocumentName::Group2, DocumentName::Attributes2]);
}

pub(crate) fn v1(input: &[u8]) {
    node(input, &[DocumentName::Array1, DocumentName::Attributes1]);
}

/// Limits that a target meets within the bound of its memory.
fn limits() -> Limits {
    let mut limits = Limits::default();
    (limits.chunk_bytes, limits.encoded_bytes, limits.result_bytes) = (1 << 18, 1 << 18, 1 << 18);
    (limits.metadata_bytes, limits.grid_runs) = (1 << 20, 1 << 12);
    limits
}

/// The parts of an input, which end with a zero byte: documents in the order of `names`, then a chunk.
fn node(input: &[u8], names: &[DocumentName]) {
    let mut parts = input.splitn(names.len() + 1, |byte| *byte == 0);
    let mut documents = Documents::new();
    for (name, part) in names.iter().zip(&mut parts) {
        if !part.is_empty() {
            documents.insert(*name, part.to_vec());
        }
    }
    let Ok(Some(meta)) = NodeMeta::parse(&documents, &limits(), &mut Ignore) else { return };
    meta.lint(&mut Ignore).expect("lint has only the errors of its sink");
    // Attributes that cannot be read are left out of what is written.
    if meta.attributes_error().is_none() {
        written_and_read(&meta);
    }
    if let NodeMeta::Array(array) = &meta {
        for other in [array.to_v3(true), array.to_v2()]
            .into_iter()
            .flatten()
            .filter(|a| a.attributes_error().is_none())
        {
            written_and_read(&NodeMeta::Array(other));
        }
        read(&documents, names, meta.format(), parts.next().unwrap_or_default());
    }
}

/// The documents of a node are those of the node that is read from them.
fn written_and_read(meta: &NodeMeta) {
    let texts = meta.documents();
    let documents = texts.iter().fold(Documents::new(), |documents, (name, text)| match text {
        Some(text) => documents.with(*name, text.clone()),
        None => documents,
    });
    let again = NodeMeta::parse(&documents, &Limits::default(), &mut Ignore);
    let again = again.unwrap_or_else(|e| panic!("{texts:?} was written and cannot be read: {e:#}"));
    assert_eq!(again.expect("documents make a node").documents(), texts);
}

fn read(documents: &Documents, names: &[DocumentName], format: Format, chunk: &[u8]) {
    let storage = Storage::from(MemoryStore::new());
    let put = |key: Key, bytes: Bytes| block_on(storage.put(&key, bytes)).expect("memory takes every value");
    for name in names {
        if let Some(bytes) = documents.get(*name) {
            put(Key::new(name.as_str()).expect("a key"), bytes.clone());
        }
    }
    let options = OpenOptions::new().limits(limits()).format(format);
    let Ok(array) = Array::open_with(storage.clone(), "/", &registry(), &options) else { return };
    let array = array.with_cpu(Cpu::inline());
    let first = vec![0; array.shape().len()];
    if array.shape().contains(&0) {
        return;
    }
    if let Ok(key) = array.chunk_key(&first) {
        put(key, Bytes::copy_from_slice(chunk));
    }
    let corner: Vec<_> = array.shape().iter().map(|length| 0..(*length).min(2)).collect();
    // 2^64 elements are too many for a fuzzer, whatever the limits.
    if corner.len() <= 12 {
        let _ = array.explain(corner.clone());
        if array.read_any(corner).is_ok() {
            let one: Vec<_> = first.iter().map(|index| *index..index + 1).collect();
            array.read_any(one).expect("a box can be read, so its first element can be");
        }
    }
}

fn registry() -> Registry {
    standard().overriding(zarr_codecs_numcodecs::CODECS)
}

/// Consolidated metadata of both formats, in a group without any other document.
pub(crate) fn consolidated(input: &[u8]) {
    let Some((format, document)) = input.split_first() else { return };
    let storage = Storage::from(MemoryStore::new());
    let put = |key: &str, bytes: &[u8]| {
        let stored = block_on(storage.put(&Key::new(key).expect("a key"), bytes.to_vec()));
        stored.expect("memory takes every value");
    };
    if format & 1 == 0 {
        put("zarr.json", document);
    } else {
        put(".zgroup", br#"{"zarr_format": 2}"#);
        put(".zmetadata", document);
    }
    let options = GroupOptions::new().limits(limits());
    let Ok(group) = Group::open_with(storage.clone(), "/", &registry(), &options) else { return };
    let mut paths = BTreeSet::new();
    for child in group.walk() {
        let path = child.path().to_owned();
        let segments = path.trim_start_matches('/').split('/');
        assert!(
            segments.clone().all(|s| !matches!(s, "" | "." | "..")),
            "the node {path:?} leaves the group"
        );
        assert!(paths.insert(path.clone()), "{path:?} is listed twice");
        let _ = group.exists(&path);
    }
    let _ = group.check_consolidated();
}

pub(crate) fn seeds_of_v3() -> Vec<Vec<u8>> {
    let array = |data_type: &str, fill, codecs| {
        json!({
            "zarr_format": 3, "node_type": "array", "shape": [4, 5], "data_type": data_type, "fill_value": fill,
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2, 3]}},
            "chunk_key_encoding": {"name": "v2", "configuration": {"separator": "."}}, "codecs": codecs,
            "dimension_names": ["y", null], "attributes": {"_FillValue": "AAAAAAAA+H8=", "units": "K"},
        })
    };
    let bytes = json!({"name": "bytes", "configuration": {"endian": "little"}});
    let rectilinear = json!({
        "zarr_format": 3, "node_type": "array", "shape": [7], "data_type": "uint8", "fill_value": 0,
        "chunk_grid": {"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [[[2, 3], 1]]}},
        "chunk_key_encoding": "default", "codecs": ["bytes"],
    });
    let documents = [
        array("float64", json!("NaN"), json!([bytes])),
        array(
            "int16",
            json!(-1),
            json!([{"name": "transpose", "configuration": {"order": [1, 0]}}, bytes, {"name": "crc32c"}]),
        ),
        array(
            "complex64",
            json!([1.5, "-Infinity"]),
            json!([bytes, {"name": "gzip", "configuration": {"level": 1}}]),
        ),
        array("r16", json!([1, 255]), json!([bytes])),
        array("string", json!("a"), json!([{"name": "vlen-utf8"}])),
        array(
            "uint8",
            json!(255),
            json!([{"name": "sharding_indexed", "configuration": {"chunk_shape": [1, 3],
            "codecs": [bytes], "index_codecs": [bytes, {"name": "crc32c"}]}}]),
        ),
        rectilinear,
        json!({"zarr_format": 3, "node_type": "group", "attributes": {"a": [1, 2.50, 1e308]}, "extra": {"must_understand": false}}),
    ];
    documents.iter().map(|document| [document.to_string().into_bytes(), vec![0; 33]].concat()).collect()
}

pub(crate) fn seeds_of_v2() -> Vec<Vec<u8>> {
    let array = |dtype, fill, filters, compressor| {
        json!({"zarr_format": 2, "shape": [4, 5], "chunks": [2, 3], "dtype": dtype, "fill_value": fill, "order": "F",
            "filters": filters, "compressor": compressor, "dimension_separator": "/"})
    };
    let documents = [
        array(
            json!("<f8"),
            json!("NaN"),
            json!([{"id": "delta", "dtype": "<f8"}]),
            json!({"id": "zlib", "level": 1}),
        ),
        array(
            json!("|S3"),
            json!("YQAA"),
            json!(null),
            json!({"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0}),
        ),
        array(json!([["a", "<i4"], ["b", "|u1", [2]]]), json!("AAAAAAAA"), json!(null), json!(null)),
        array(json!("|O"), json!(null), json!([{"id": "vlen-utf8"}]), json!(null)),
        array(json!("<M8[ns]"), json!(0), json!([]), json!({"id": "lz4", "acceleration": 1})),
        json!({"zarr_format": 2}),
    ];
    let with = |document: &Value| {
        [document.to_string().as_bytes(), b"\0{\"_ARRAY_DIMENSIONS\": [\"y\", \"x\"]}\0", &[7; 48]].concat()
    };
    documents.iter().map(with).collect()
}

pub(crate) fn seeds_of_v1() -> Vec<Vec<u8>> {
    let document = json!({"zarr_format": 1, "shape": [4, 5], "chunks": [2, 3], "dtype": "<i4", "compression": "blosc",
        "compression_opts": {"cname": "lz4", "clevel": 5, "shuffle": 1}, "fill_value": null, "order": "C"});
    vec![[document.to_string().as_bytes(), b"\0{}\0", &[2; 24]].concat()]
}

pub(crate) fn seeds_of_consolidated() -> Vec<Vec<u8>> {
    let group = json!({"zarr_format": 3, "node_type": "group", "attributes": {}});
    let nodes = json!({"a": group, "a/b": group, "../c": group, "d//e": group});
    let root = json!({"zarr_format": 3, "node_type": "group", "attributes": {},
        "consolidated_metadata": {"kind": "inline", "must_understand": false, "metadata": nodes}});
    let array = json!({"zarr_format": 2, "shape": [], "chunks": [], "dtype": "|b1", "fill_value": null, "order": "C",
        "filters": null, "compressor": null});
    let all = json!({"zarr_consolidated_format": 1, "metadata": {".zgroup": {"zarr_format": 2}, ".zattrs": {"a": 1},
        "x/.zarray": array, "x/.zattrs": {}, "g/.zgroup": {"zarr_format": 2}, "../y/.zgroup": {"zarr_format": 2}}});
    vec![[b"\0", root.to_string().as_bytes()].concat(), [b"\x01", all.to_string().as_bytes()].concat()]
}
