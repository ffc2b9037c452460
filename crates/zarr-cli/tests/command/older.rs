//! Chunks of formats 1 and 2 as zarr-python and numcodecs wrote them (rules H20 to H23, and format 1).

use serde_json::{Value, json};

use crate::args;
use crate::harness::{Folder, base2, le, with, zarr};

fn hex(text: &str) -> Vec<u8> {
    let text = text.replace(' ', "");
    (0..text.len()).step_by(2).map(|i| u8::from_str_radix(&text[i..i + 2], 16).unwrap()).collect()
}

/// Returns the elements of the array `a.zarr`; there may be notes.
fn cat(folder: &Folder) -> Value {
    zarr(args!["cat", "--format", "json", folder.join("a.zarr")]).exits(0).json()
}

/// Makes an array of format 1 like the example of the specification.
fn meta(folder: &Folder, changes: &Value) {
    let document = json!({
        "zarr_format": 1, "shape": [20, 20], "chunks": [10, 10], "dtype": "<i4", "compression": "zlib",
        "compression_opts": 1, "fill_value": 42, "order": "C"
    });
    let mut document = with(document, changes);
    // Set missing members to null: `with` removes null members, and all members are required.
    for name in ["compression_opts", "fill_value"] {
        if document.get(name).is_none() {
            document[name] = Value::Null;
        }
    }
    folder.write("a.zarr/meta", document.to_string());
    folder.write("a.zarr/attrs", "{}");
}

#[test]
fn the_example_of_the_specification_of_format_1_is_read() {
    let folder = Folder::new();
    meta(&folder, &json!({}));
    for (key, chunk) in [
        ("0.0", "780163646060601cc583260c0050780065"),
        ("0.1", "780163626060601ac583260c009f6000c9"),
        ("1.0", "780163666060601ec583260c00ee48012d"),
    ] {
        folder.write(&format!("a.zarr/{key}"), hex(chunk));
    }
    let values = cat(&folder);
    for (i, j, value) in
        [(0, 0, 1), (9, 9, 1), (0, 10, 2), (9, 19, 2), (10, 0, 3), (19, 9, 3), (10, 10, 42), (19, 19, 42)]
    {
        assert_eq!(values[i][j], value, "{i} {j}");
    }
}

/// Every compression in both orders. All except blosc got data in C order, whatever the document says (rule I8).
#[test]
fn compressions_and_orders_of_format_1_are_read() {
    let raw_lzma =
        json!({ "format": 3, "check": -1, "preset": null, "filters": [{ "id": 33, "preset": 1 }] });
    let blosc = json!({ "cname": "lz4", "clevel": 5, "shuffle": 1 });
    let xz = "fd377a585a000000ff12d9410200210110000000a8708e8601000b0100020003000400050006000000011c0c5da447cf06729e7a010000000000595a";
    let bz2 = "425a683131415926535931792c0b00000340007f002000221a63508600e72866f8bb9229c284818bc96058";
    for (compression, options, c, f) in [
        ("none", json!(null), "010002000300040005000600", None),
        ("zlib", json!(1), "78016364606260666061606560630000007c0016", None),
        ("bz2", json!(1), bz2, None),
        ("lzma", json!(null), xz, None),
        ("lzma", raw_lzma, "01000b01000200030004000500060000", None),
        (
            "blosc",
            blosc,
            "020133020c0000000c0000001c000000010002000300040005000600",
            Some("020133020c0000000c0000001c000000010004000200050003000600"),
        ),
    ] {
        for (order, chunk) in [("C", c), ("F", f.unwrap_or(c))] {
            let folder = Folder::new();
            let changes = json!({
                "shape": [2, 3], "chunks": [2, 3], "dtype": "<i2", "compression": compression,
                "compression_opts": options, "order": order
            });
            meta(&folder, &changes);
            folder.write("a.zarr/0.0", hex(chunk));
            assert_eq!(cat(&folder), json!([[1, 2, 3], [4, 5, 6]]), "{compression} {options} {order}");
        }
    }
}

#[test]
fn missing_chunks_and_edge_chunks_of_format_1_are_read() {
    let folder = Folder::new();
    meta(
        &folder,
        &json!({ "shape": [5], "chunks": [2], "compression": "none", "compression_opts": null, "fill_value": null }),
    );
    folder.write("a.zarr/0", le(&[1, 2]));
    folder.write("a.zarr/2", le(&[5, -99]));
    assert_eq!(cat(&folder), json!([1, 2, 0, 0, 5]));
}

#[test]
fn filters_of_format_2_are_decoded() {
    let delta = |dtype: &str, astype: &str| json!([{ "id": "delta", "dtype": dtype, "astype": astype }]);
    let numbers = "010002000300040005000600";
    let deflated = "78016364606260666061606560630000007c0016";
    for (id, dtype, order, filters, compressor, chunk) in [
        ("H.5", "<i2", "C", json!(null), json!(null), numbers),
        ("H.5", "<i2", "F", json!(null), json!(null), "010004000200050003000600"),
        ("H20", "<i4", "C", delta("<i4", "<i2"), json!(null), "010001000100010001000100"),
        // The differences of the elements in chunk order: 1 4 2 5 3 6.
        ("H21", "<i2", "F", delta("<i2", "|i1"), json!(null), "01 03 fe 03 fe 03"),
        ("H20", ">i2", "C", delta("<i2", "<i2"), json!(null), "0001 0001 0001 0001 0001 0001"),
        ("H23", "<i2", "C", json!([{ "id": "zlib", "level": 1 }]), json!(null), deflated),
        (
            "H23",
            "<i2",
            "C",
            json!(null),
            json!({ "id": "shuffle", "elementsize": 2 }),
            "010203040506 000000000000",
        ),
        (
            "H23",
            "<i2",
            "C",
            json!([{ "id": "shuffle", "elementsize": 1 }]),
            json!({ "id": "zlib", "level": 1 }),
            deflated,
        ),
    ] {
        let folder = Folder::new();
        let mut document =
            with(base2(), &json!({ "shape": [2, 3], "chunks": [2, 3], "dtype": dtype, "order": order }));
        (document["filters"], document["compressor"]) = (filters, compressor);
        folder.write("a.zarr/.zarray", document.to_string());
        folder.write("a.zarr/0.0", hex(chunk));
        assert_eq!(cat(&folder), json!([[1, 2, 3], [4, 5, 6]]), "{id} {document}");
    }
}

#[test]
fn objects_are_read_in_the_order_of_the_chunk() {
    let texts = |texts: [&str; 4]| {
        let mut chunk = vec![4, 0, 0, 0];
        texts.iter().for_each(|text| {
            chunk.extend([&[u8::try_from(text.len()).unwrap(), 0, 0, 0], text.as_bytes()].concat())
        });
        chunk
    };
    let json2 = |items: &str| format!(r#"[{items},"|O",[2,2]]"#).into_bytes();
    for (id, order, chunk) in [
        ("vlen-utf8", "C", texts(["a", "bb", "", "é"])),
        ("vlen-utf8", "F", texts(["a", "", "bb", "é"])),
        ("json2", "C", json2(r#"["a","bb"],["","é"]"#)),
    ] {
        let folder = Folder::new();
        let mut document =
            with(base2(), &json!({ "shape": [2, 2], "chunks": [2, 2], "dtype": "|O", "order": order }));
        (document["filters"], document["fill_value"]) = (json!([{ "id": id }]), "".into());
        folder.write("a.zarr/.zarray", document.to_string());
        folder.write("a.zarr/0.0", chunk);
        assert_eq!(cat(&folder), json!([["a", "bb"], ["", "é"]]), "{id} {order}");
    }
}
