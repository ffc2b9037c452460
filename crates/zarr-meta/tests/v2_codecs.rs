//! Filters and compressors of format 2, and the codecs that they become.

use zarr_meta::{ArrayMeta, Ignore, Limits};

/// Returns the codecs, without white space, and the number of obstacles to a document of format 3.
fn lower(dtype: &str, order: &str, filters: &str, compressor: &str) -> (String, usize) {
    let text = format!(
        r#"{{"zarr_format": 2, "shape": [4, 6], "chunks": [2, 3], "dtype": {dtype}, "compressor": {compressor},
            "fill_value": null, "order": "{order}", "filters": {filters}}}"#
    );
    let meta = ArrayMeta::parse_v2(text.as_bytes(), None, &Limits::default(), &mut Ignore).unwrap();
    let codecs: Vec<String> = meta.document().codecs().iter().map(|c| c.to_value().to_compact()).collect();
    let codecs = codecs.join(" ").replace(r#","configuration":{"#, ":{").replace(r#"{"name":"#, "{");
    (codecs, meta.v3_obstacles().len())
}

#[test]
fn codecs_of_bytes_become_codecs_of_format_3() {
    let blosc = |shuffle: &str, typesize: u32| {
        format!(
            r#"{{"blosc":{{"cname":"lz4","clevel":5,"shuffle":"{shuffle}","typesize":{typesize},"blocksize":0}}}}"#
        )
    };
    let cases = [
        ("null", String::new(), 0),
        (r#"{"id": "zstd"}"#, r#"{"zstd":{"level":0,"checksum":false}}"#.to_owned(), 0),
        (
            r#"{"id": "zstd", "level": 3, "checksum": true}"#,
            r#"{"zstd":{"level":3,"checksum":true}}"#.to_owned(),
            0,
        ),
        (r#"{"id": "zstd", "level": "7"}"#, r#"{"zstd":{"level":7,"checksum":false}}"#.to_owned(), 0), // rule D.09
        (r#"{"id": "zstd", "level": 100}"#, r#"{"zstd":{"level":22,"checksum":false}}"#.to_owned(), 0),
        (r#"{"id": "gzip", "level": -1}"#, r#"{"gzip":{"level":6}}"#.to_owned(), 0),
        (r#"{"id": "gzip"}"#, r#"{"gzip":{"level":1}}"#.to_owned(), 0),
        (r#"{"id": "zlib"}"#, r#"{"numcodecs.zlib":{"level":1}}"#.to_owned(), 0),
        (r#"{"id": "bz2", "level": 9}"#, r#"{"numcodecs.bz2":{"level":9}}"#.to_owned(), 0),
        (r#"{"id": "lz4", "acceleration": 1}"#, r#"{"numcodecs.lz4":{"acceleration":1}}"#.to_owned(), 0),
        (r#"{"id": "blosc"}"#, blosc("shuffle", 4), 0),
        (r#"{"id": "blosc", "shuffle": 0}"#, blosc("noshuffle", 4), 0),
        (r#"{"id": "blosc", "shuffle": 2, "typesize": 8}"#, blosc("bitshuffle", 8), 0),
        (r#"{"id": "blosc", "shuffle": -1}"#, blosc("shuffle", 4), 0),
        (r#"{"id": "crc32c"}"#, r#"{"crc32c"}"#.to_owned(), 0),
        (r#"{"id": "crc32c", "location": "end"}"#, r#"{"crc32c"}"#.to_owned(), 0),
        (
            r#"{"id": "crc32c", "location": "start"}"#,
            r#"{"numcodecs.crc32c":{"location":"start"}}"#.to_owned(),
            0,
        ),
        (r#"{"id": "fletcher32"}"#, r#"{"numcodecs.fletcher32":{}}"#.to_owned(), 0), // rule H23
        (r#"{"id": "foo", "x": 1}"#, r#"{"numcodecs.foo":{"x":1}}"#.to_owned(), 1),
        (r#"{"id": "base64"}"#, r#"{"numcodecs.base64":{}}"#.to_owned(), 1),
    ];
    for (given, expected, obstacles) in cases {
        let bytes = r#"{"bytes":{"endian":"little"}}"#;
        let expected = format!("{bytes} {expected}").trim_end().to_owned();
        assert_eq!(lower("\"<i4\"", "C", "null", given), (expected.clone(), obstacles), "rule H.7: {given}");
        if given != "null" && !given.contains("blosc") {
            let filters = format!("[{given}]");
            assert_eq!(lower("\"<i4\"", "C", &filters, "null"), (expected, obstacles), "rule H23: {given}");
        }
    }
}

#[test]
fn the_type_size_of_blosc_is_the_size_of_its_items() {
    for (dtype, filters, typesize, shuffle) in [
        ("\"|u1\"", "null", 1, "bitshuffle"),
        ("\"<c16\"", "null", 16, "shuffle"),
        ("\"|S300\"", "null", 300, "shuffle"),
        ("[[\"a\", \"<i4\"], [\"b\", \"|u1\"]]", "null", 5, "shuffle"),
        ("\"<f8\"", r#"[{"id": "astype", "decode_dtype": "<f8", "encode_dtype": "<f4"}]"#, 4, "shuffle"),
        ("\"<f8\"", r#"[{"id": "shuffle", "elementsize": 8}]"#, 1, "bitshuffle"),
        ("\"<i8\"", r#"[{"id": "delta", "dtype": "<i4"}]"#, 4, "shuffle"),
        ("\"|O\"", r#"[{"id": "vlen-utf8"}]"#, 1, "bitshuffle"),
    ] {
        let (codecs, _) = lower(dtype, "C", filters, r#"{"id": "blosc", "shuffle": -1}"#);
        let expected = format!(r#""shuffle":"{shuffle}","typesize":{typesize},"#);
        assert!(codecs.contains(&expected), "rule D4.6: {dtype} {filters}: {codecs}");
    }
}

#[test]
fn filters_of_numbers_become_codecs_of_format_3() {
    for (id, dtype, order, filters, expected, obstacles) in [
        (
            "H20",
            "<i4",
            "C",
            r#"[{"id": "delta", "dtype": "<i4", "astype": "<i2"}]"#,
            r#"{"numcodecs.delta":{"dtype":"<i4","astype":"<i2"}} {"bytes":{"endian":"little"}}"#,
            0,
        ),
        (
            "H21: along the first axis",
            "<i4",
            "F",
            r#"[{"id": "delta", "dtype": "<i4"}]"#,
            r#"{"transpose":{"order":[1,0]}} {"numcodecs.delta":{"dtype":"<i4"}} {"bytes":{"endian":"little"}}"#,
            0,
        ),
        (
            "H20: the byte order after the last filter",
            ">f8",
            "C",
            r#"[{"id": "fixedscaleoffset", "offset": 1000, "scale": 10, "dtype": ">f8", "astype": "<i2"}]"#,
            concat!(
                r#"{"numcodecs.fixedscaleoffset":{"offset":1000,"scale":10,"dtype":"<f8","astype":"<i2"}}"#,
                r#" {"bytes":{"endian":"little"}}"#
            ),
            0,
        ),
        (
            "H20: two stages, then bytes",
            "<f8",
            "C",
            concat!(
                r#"[{"id": "quantize", "digits": 2, "dtype": "<f8", "astype": ">f4"}, "#,
                r#"{"id": "astype", "decode_dtype": ">f4", "encode_dtype": ">f2"}, {"id": "shuffle", "elementsize": 2}]"#
            ),
            concat!(
                r#"{"numcodecs.quantize":{"digits":2,"dtype":"<f8","astype":"<f4"}} "#,
                r#"{"numcodecs.astype":{"decode_dtype":"<f4","encode_dtype":"<f2"}} "#,
                r#"{"bytes":{"endian":"big"}} {"numcodecs.shuffle":{"elementsize":2}}"#
            ),
            0,
        ),
        (
            "H20: bytes interpreted in another byte order",
            "<i4",
            "C",
            r#"[{"id": "delta", "dtype": ">i4"}]"#,
            r#"{"bytes":{"endian":"little"}} {"numcodecs:delta":{"dtype":">i4"}}"#,
            1,
        ),
        (
            "H20: times interpreted as integers",
            "<M8[s]",
            "C",
            r#"[{"id": "delta", "dtype": "<i8"}]"#,
            r#"{"bytes":{"endian":"little"}} {"numcodecs:delta":{"dtype":"<i8"}}"#,
            1,
        ),
        (
            "H.9: numbers after a filter of bytes",
            "<i4",
            "C",
            r#"[{"id": "crc32"}, {"id": "delta", "dtype": "|u1"}, {"id": "bitround", "keepbits": 3}]"#,
            concat!(
                r#"{"bytes":{"endian":"little"}} {"numcodecs.crc32":{}} {"numcodecs:delta":{"dtype":"|u1"}} "#,
                r#"{"numcodecs:bitround":{"keepbits":3}}"#
            ),
            2,
        ),
        (
            "H22: objects in the order of the chunk",
            "|O",
            "F",
            r#"[{"id": "vlen-utf8"}]"#,
            r#"{"transpose":{"order":[1,0]}} {"vlen-utf8"}"#,
            0,
        ),
        (
            "D.9b",
            "<f4",
            "C",
            r#"[{"id": "bitround", "keepbits": 3}]"#,
            r#"{"numcodecs.bitround":{"keepbits":3}} {"bytes":{"endian":"little"}}"#,
            0,
        ),
        (
            "D.9a: the order of bits",
            "|b1",
            "C",
            r#"[{"id": "packbits"}]"#,
            r#"{"bytes"} {"numcodecs:packbits":{}}"#,
            1,
        ),
        (
            "H.6: strings of a fixed length",
            "<U3",
            "C",
            r#"[{"id": "categorize", "labels": ["a"], "dtype": "<U3", "astype": "|u1"}]"#,
            concat!(
                r#"{"bytes":{"endian":"little"}} "#,
                r#"{"numcodecs:categorize_fixed":{"labels":["a"],"dtype":"<U3","astype":"|u1"}}"#
            ),
            1,
        ),
        (
            "H.6: numbers encoded as text",
            "<i4",
            "C",
            r#"[{"id": "msgpack2", "raw": false}, {"id": "zlib", "level": 1}]"#,
            r#"{"numcodecs:msgpack2":{"raw":false}} {"numcodecs.zlib":{"level":1}}"#,
            1,
        ),
    ] {
        let found = lower(&format!("\"{dtype}\""), order, filters, "null");
        assert_eq!(found, (expected.to_owned(), obstacles), "rule {id}");
    }
}

#[test]
fn order_f_matters_from_two_dimensions_on() {
    let text = r#"{"zarr_format": 2, "shape": SHAPE, "chunks": SHAPE, "dtype": "|u1", "compressor": null,
        "fill_value": 0, "order": "F", "filters": null}"#;
    for (shape, codecs) in [("[]", 1), ("[3]", 1), ("[3, 4]", 2)] {
        let text = text.replace("SHAPE", shape);
        let meta = ArrayMeta::parse_v2(text.as_bytes(), None, &Limits::default(), &mut Ignore).unwrap();
        assert_eq!(meta.document().codecs().len(), codecs, "rule H.5: {shape}");
    }
}
