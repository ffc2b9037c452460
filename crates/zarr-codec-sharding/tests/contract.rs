//! The codec keeps the contract with any inner codecs.

use zarr_codec_sharding::ENTRY;
use zarr_codecs_core::CODECS;
use zarr_conformance::codec::{Subject, check};
use zarr_traits::json::{Value, json};
use zarr_traits::{DataType, Registry};

fn sharding(chunk: &[u64], codecs: &Value, location: &str) -> Subject {
    let shapes: &[&[u64]] =
        if chunk.is_empty() { &[&[]] } else { &[&[4, 6], &[2, 3], &[8, 3], &[0, 3], &[6, 9]] };
    let configuration = json!({
        "chunk_shape": chunk,
        "codecs": codecs,
        "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}],
        "index_location": location,
    });
    Subject::new("sharding_indexed", configuration).shapes(shapes)
}

#[test]
fn the_codec_keeps_the_contract() {
    let little = json!({"name": "bytes", "configuration": {"endian": "little"}});
    let zstd = json!({"name": "zstd", "configuration": {"level": 1, "checksum": true}});
    let transpose = json!({"name": "transpose", "configuration": {"order": [1, 0]}});
    let strings = sharding(&[2, 3], &json!([{"name": "vlen-utf8"}]), "end").types([DataType::String]);
    let subjects = [
        sharding(&[2, 3], &json!([little]), "end").refuses([DataType::String]),
        sharding(&[2, 3], &json!([transpose, little, zstd]), "end").checksum(),
        sharding(&[], &json!([little, "crc32c"]), "end").checksum(),
        strings,
    ];
    let registry = Registry::core().with(CODECS).unwrap().with(&[ENTRY]).unwrap();
    check(&registry, subjects).unwrap();
}
