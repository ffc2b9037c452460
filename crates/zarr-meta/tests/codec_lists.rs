//! Lists of codecs: their full form, and whether two arrays have the same chunks.

use zarr_meta::codecs::{portable, written};
use zarr_meta::json::Value;
use zarr_meta::v3::Extension;
use zarr_meta::{ArrayMeta, DataType, Ignore, Limits};

use crate::common::{base, registry};

fn codecs(json: &str) -> Vec<Extension> {
    let list = Value::parse(&format!("[{json}]")).unwrap();
    list.elements().unwrap().map(|codec| Extension::parse(&codec, &mut Ignore).unwrap()).collect()
}

fn full(json: &str, data_type: &DataType) -> String {
    let written = written(&codecs(json), data_type, 2, &registry());
    written.iter().map(|codec| codec.to_value().to_compact()).collect::<Vec<_>>().join(",")
}

#[test]
fn codecs_are_written_in_their_full_form() {
    let float = DataType::Float32;
    for (json, expected) in [
        (r#""crc32c""#, r#"{"name":"crc32c"}"#),
        (
            r#"{"name":"endian","configuration":{"endian":"big","x":1}}"#,
            r#"{"name":"bytes","configuration":{"endian":"big"}}"#,
        ),
        (
            r#"{"name":"gzip","configuration":{"level":5.0},"must_understand":true}"#,
            r#"{"name":"gzip","configuration":{"level":5}}"#,
        ),
        (r#""zstd""#, r#"{"name":"zstd","configuration":{"level":0,"checksum":false}}"#),
        (
            r#"{"name":"transpose","configuration":{"order":"F"}}"#,
            r#"{"name":"transpose","configuration":{"order":[1,0]}}"#,
        ),
        (
            r#"{"name":"blosc","configuration":{"cname":"lz4","clevel":1,"shuffle":1}}"#,
            r#"{"name":"blosc","configuration":{"cname":"lz4","clevel":1,"shuffle":"shuffle","typesize":4,"blocksize":0}}"#,
        ),
        (
            r#"{"name":"blosc","configuration":{"cname":"lz4","clevel":1,"shuffle":"noshuffle","typesize":0,"blocksize":256,"x":1}}"#,
            r#"{"name":"blosc","configuration":{"cname":"lz4","clevel":1,"shuffle":"noshuffle","typesize":4,"blocksize":256}}"#,
        ),
        (r#""bytes""#, r#"{"name":"bytes","configuration":{"endian":"little"}}"#),
        (r#"{"name":"foo","must_understand":false}"#, ""),
        (
            r#"{"name":"sharding_indexed","configuration":{"chunk_shape":[1,1],"codecs":["bytes",{"name":"foo","must_understand":false},"zstd"],"index_codecs":[{"name":"endian","configuration":{"endian":"big"}}]}}"#,
            r#"{"name":"sharding_indexed","configuration":{"chunk_shape":[1,1],"codecs":[{"name":"bytes","configuration":{"endian":"little"}},{"name":"zstd","configuration":{"level":0,"checksum":false}}],"index_codecs":[{"name":"bytes","configuration":{"endian":"big"}}],"index_location":"end"}}"#,
        ),
        (r#"{"name":"foo","configuration":{"a":1}}"#, r#"{"name":"foo","configuration":{"a":1}}"#),
    ] {
        assert_eq!(full(json, &float), expected, "{json}");
    }
    let null = r#"{"name":"bytes","configuration":{"endian":null}}"#;
    assert_eq!(full(null, &DataType::UInt8), r#"{"name":"bytes"}"#);
}

/// The type size and the byte order are those of the elements that reach a codec.
#[test]
fn a_change_of_the_data_type_affects_later_codecs() {
    let big = r#"{"name":"bytes","configuration":{"endian":"big"}}"#;
    let blosc = r#"{"name":"blosc","configuration":{"cname":"lz4"}}"#;
    for (codec, size, order) in [
        (r#"{"name":"cast_value","configuration":{"data_type":"int16"}}"#, 2, true),
        (r#"{"name":"cast_value","configuration":{"data_type":"of-next-year"}}"#, 1, true),
        (
            r#"{"name":"numcodecs.astype","configuration":{"encode_dtype":"<f8","decode_dtype":"|u1"}}"#,
            8,
            true,
        ),
        (r#"{"name":"numcodecs.delta","configuration":{"dtype":"|u1"}}"#, 1, false),
        (r#"{"name":"numcodecs.delta","configuration":{"dtype":"|u1","astype":"<i4"}}"#, 4, true),
    ] {
        let found = full(&format!("{codec},{big},{blosc}"), &DataType::UInt8);
        assert_eq!(found.contains(big), order, "{found}");
        assert!(found.contains(&format!("\"typesize\":{size},")), "{found}");
    }
}

#[test]
fn portable_blosc_is_completed_like_any_other() {
    let blosc = codecs(r#"{"name":"numcodecs.blosc","configuration":{"shuffle":-1}}"#);
    for (data_type, shuffle, size) in [(DataType::UInt8, "bitshuffle", 1), (DataType::Int32, "shuffle", 4)] {
        let written = written(&portable(&blosc), &data_type, 1, &registry());
        assert_eq!(
            written[0].to_value().to_compact(),
            format!(
                r#"{{"name":"blosc","configuration":{{"cname":"lz4","clevel":5,"shuffle":"{shuffle}","typesize":{size},"blocksize":0}}}}"#
            )
        );
    }
}

fn v3(edits: &[(&str, &str)]) -> ArrayMeta {
    ArrayMeta::parse(base(edits).as_bytes(), &Limits::default(), &mut Ignore).unwrap()
}

#[test]
fn arrays_with_equal_bytes_in_every_chunk_have_the_same_chunks() {
    let v2 = |dtype: &str, order: &str| {
        let text = format!(
            r#"{{"zarr_format":2,"shape":[4],"chunks":[2],"dtype":"{dtype}","compressor":null,"fill_value":7,"order":"{order}","filters":null}}"#
        );
        ArrayMeta::parse_v2(text.as_bytes(), None, &Limits::default(), &mut Ignore).unwrap()
    };
    let same = |a: &ArrayMeta, b: &ArrayMeta| a.has_same_chunks(b, &registry(), &Limits::default()).unwrap();
    let reference = v3(&[]);
    for (other, expected) in [
        (v3(&[]), true),
        (v3(&[("attributes", "{\"a\":1}"), ("dimension_names", "[\"x\"]")]), true),
        (v3(&[("fill_value", "8")]), true),
        (v3(&[("chunk_key_encoding", "{\"name\":\"v2\"}")]), true),
        (v3(&[("chunk_grid", r#"{"name":"regular","configuration":{"chunk_shape":[2.0]}}"#)]), true),
        (v3(&[("codecs", r#"[{"name":"endian","configuration":{"endian":"little"}}]"#)]), true),
        (v3(&[("chunk_grid", r#"{"name":"regular","configuration":{"chunk_shape":[4]}}"#)]), false),
        (v3(&[("shape", "[5]")]), false),
        (v3(&[("data_type", "\"uint32\"")]), false),
        (v3(&[("codecs", r#"[{"name":"bytes","configuration":{"endian":"big"}}]"#)]), false),
        (v3(&[("codecs", r#"[{"name":"bytes","configuration":{"endian":"little"}},"crc32c"]"#)]), false),
        (
            v3(&[(
                "codecs",
                r#"[{"name":"bytes","configuration":{"endian":"little"}},{"name":"foo","must_understand":false}]"#,
            )]),
            false,
        ),
        (v3(&[("storage_transformers", r#"[{"name":"same"}]"#)]), false),
        (v2("<i4", "C"), true),
        (v2("<i4", "F"), true),
        (v2(">i4", "C"), false),
        (v2("<u4", "C"), false),
    ] {
        assert_eq!(same(&reference, &other), expected, "{}", other.to_text());
        assert_eq!(same(&other, &reference), expected, "{}", other.to_text());
    }
    let skipped =
        r#"[{"name":"bytes","configuration":{"endian":"little"}},{"name":"foo","must_understand":false}]"#;
    let skipped = v3(&[("codecs", skipped)]);
    assert!(!same(&skipped, &skipped));
}
