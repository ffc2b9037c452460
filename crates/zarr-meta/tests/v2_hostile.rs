//! Hostile documents of formats 1 and 2: reading them never panics and takes little memory and time.

use proptest::prelude::*;
use zarr_meta::{ArrayMeta, DATA_TYPES, DocumentName, Documents, Ignore, Limits, NodeMeta, Registry};

const ZARRAY: &str = r#"{"zarr_format": 2, "shape": [4, 6], "chunks": [2, 3],
    "dtype": [["a", ">i2", [2]], ["", "|V1"], ["t", "<M8[10s]"], ["p", [["s", "|S2"], ["u", "<U3"]]]],
    "compressor": {"id": "blosc", "shuffle": -1, "typesize": 4}, "fill_value": "AAEAAgAAAAA=", "order": "F",
    "filters": [{"id": "delta", "dtype": "<i4", "astype": "<i2"}, {"id": "crc32c", "location": "start"}],
    "dimension_separator": "/"}"#;
const META: &str = r#"{"zarr_format": 1, "shape": [4, 6], "chunks": [2, 3], "dtype": "<f8", "fill_value": 1e3,
    "compression": "lzma", "compression_opts": {"format": 3, "filters": [{"id": 33}]}, "order": "F"}"#;

/// Calls the methods of an array.
fn exercise(array: &ArrayMeta) {
    let registry = Registry::core().overriding(DATA_TYPES);
    let _ = array.resolve(&registry, &Limits::default(), &mut Ignore);
    let _ = array.lint(&mut Ignore);
    let documents = array.documents();
    assert!(documents[0].1.is_some());
    if let Ok(converted) = array.to_v3(false) {
        // A written document can be read.
        let text = converted.to_text();
        assert!(ArrayMeta::parse(text.as_bytes(), &Limits::default(), &mut Ignore).is_ok(), "{text}");
        let _ = converted.to_v2();
    }
}

fn read(name: DocumentName, bytes: &[u8]) {
    let documents = Documents::new().with(name, bytes.to_vec());
    if let Ok(Some(NodeMeta::Array(array))) = NodeMeta::parse(&documents, &Limits::default(), &mut Ignore) {
        exercise(&array);
    }
}

#[test]
fn truncated_documents_do_not_panic() {
    for (name, text) in [(DocumentName::Array2, ZARRAY), (DocumentName::Array1, META)] {
        for end in 0..=text.len() {
            read(name, &text.as_bytes()[..end]);
        }
    }
}

#[test]
fn huge_elements_take_no_memory() {
    for dtype in [
        "\"|V1000000000\"",
        "\"|S4294967295\"",
        "\"<U1073741823\"",
        "[[\"a\", \"<f8\", [1000000, 1000000, 1000000, 1000000]]]",
        "[[\"a\", [[\"b\", \"|V60000\", [60000]]], [60000]]]",
    ] {
        let text = format!(
            r#"{{"zarr_format": 2, "shape": [1], "chunks": [1], "dtype": {dtype}, "compressor": null,
                "fill_value": null, "order": "C", "filters": null}}"#
        );
        let array = ArrayMeta::parse_v2(text.as_bytes(), None, &Limits::default(), &mut Ignore).unwrap();
        let error = array.to_v3(false).unwrap_err();
        assert!(array.document().to_text().len() < 1000, "rule L100: {dtype}: {error:#}");
    }
}

#[test]
fn many_fields_take_no_time() {
    let fields: Vec<String> = (0..20_000).map(|i| format!("[\"f{i}\", \"|u1\"]")).collect();
    let text = format!(
        r#"{{"zarr_format": 2, "shape": [1], "chunks": [1], "dtype": [{}], "compressor": null,
            "fill_value": null, "order": "C", "filters": null}}"#,
        fields.join(",")
    );
    let array = ArrayMeta::parse_v2(text.as_bytes(), None, &Limits::default(), &mut Ignore).unwrap();
    assert!(array.v3_obstacles().is_empty());
}

proptest! {
    #[test]
    fn altered_documents_do_not_panic(at in any::<prop::sample::Index>(), with in any::<u8>(), length in 0..3usize, first in any::<bool>()) {
        let (name, text) = if first { (DocumentName::Array1, META) } else { (DocumentName::Array2, ZARRAY) };
        let mut bytes = text.as_bytes().to_vec();
        let at = at.index(bytes.len() - length);
        bytes.splice(at..at + length, [with]);
        read(name, &bytes);
    }

    #[test]
    fn no_dtype_or_fill_value_makes_the_reader_panic(kind in "[<>|=]?[biufcmMSUVO]?[0-9]{0,3}(\\[[0-9]{0,2}[a-zA-Z]{0,2}\\])?", fill in "-?[0-9]{1,20}(\\.[0-9])?|null|true|\"[A-Za-z0-9+/=]{0,12}\"|\\[1,\"NaN\"\\]") {
        let text = format!(
            r#"{{"zarr_format": 2, "shape": [1], "chunks": [1], "dtype": "{kind}", "compressor": null,
                "fill_value": {fill}, "order": "C", "filters": null}}"#
        );
        read(DocumentName::Array2, text.as_bytes());
    }
}
